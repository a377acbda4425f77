package server_test

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/errkv"
)

// A consumer that takes a snapshot and then reads the log from its sequence on
// gets the table, whatever is written meanwhile: no change is missing and none
// comes twice. Its checkpoint moves with what it writes, in one transaction.
func TestSnapshotAndLog(t *testing.T) {
	testflag.Normal(t)
	t.Run("memory", func(t *testing.T) { testSnapshotAndLog(t, applyOnce, func(*server.Config) {}) })
	t.Run("disk", func(t *testing.T) {
		dir := t.TempDir()
		testSnapshotAndLog(t, applyOnce, func(c *server.Config) { c.InMemory, c.DataDir, c.Durability = false, dir, 2 })
	})
	// Where commits overtake each other a snapshot may have some of those that follow its
	// sequence: a record says what the row is afterwards.
	t.Run("far", func(t *testing.T) {
		testSnapshotAndLog(t, applyAgain, func(c *server.Config) {
			c.MemoryStore = func() storage.Store { return errkv.NewFar(errkv.FarOptions{Delay: 2 * time.Millisecond}) }
		})
	})
}

func testSnapshotAndLog(t *testing.T, apply func(t *testing.T, c *client, r logged), change func(*server.Config)) {
	_, dsn := startServer(t, change)
	c := dial(t, dsn)
	c.exec(`CREATE TABLE t (id INT PRIMARY KEY, v INT NOT NULL, w INT NOT NULL, UNIQUE KEY (w)) SECONDARY_ENGINE_ATTRIBUTE='{"stream": true, "max_versions": 2}'`)
	c.exec("CREATE TABLE copy (id INT PRIMARY KEY, v INT NOT NULL)")
	const writers, rows = 4, 40
	var stop atomic.Bool
	var wg sync.WaitGroup
	defer func() {
		stop.Store(true)
		wg.Wait()
	}()
	for w := range writers {
		conn := dial(t, dsn)
		wg.Go(func() { writeRandomly(conn, rand.New(rand.NewPCG(7, uint64(w))), rows, &stop) })
	}
	rounds := testflag.Pick(0, 2, 3)
	for round := range rounds {
		c.exec("DELETE FROM copy")
		c.exec("START TRANSACTION WITH CONSISTENT SNAPSHOT")
		c.exec("INSERT INTO copy SELECT id, v FROM t")
		seq := number(t, c, "SELECT SNAPSHOT_SEQ()")
		c.exec("COMMIT")
		name := fmt.Sprintf("c%d", round)
		c.exec("CALL sqlots.stream_consumer(?, 't', ?)", name, seq)
		for range 30 {
			consume(t, c, name, 1+round*20, apply)
		}
	}
	last := fmt.Sprintf("c%d", rounds-1)
	for end := time.Now().Add(time.Minute); number(t, c, "SELECT COUNT(*) FROM stream('t')") < 100 && time.Now().Before(end); {
		consume(t, c, last, 20, apply)
	}
	stop.Store(true)
	wg.Wait()
	for consume(t, c, last, 1000, apply) > 0 {
	}
	c.rows("0", "SELECT COUNT(*) FROM t LEFT JOIN copy USING (id) WHERE NOT t.v <=> copy.v")
	c.rows("0", "SELECT COUNT(*) FROM copy LEFT JOIN t USING (id) WHERE t.id IS NULL")
	c.rows("0", `SELECT COUNT(*) FROM (SELECT before_image, LAG(after_image) OVER (PARTITION BY pk ORDER BY seq, ordinal) AS was
		FROM stream('t') WHERE kind IN ('insert', 'update', 'delete')) x WHERE NOT before_image <=> was`)
	c.rows("0", "SELECT COUNT(*) FROM (SELECT commit_time, LAG(commit_time) OVER (ORDER BY seq, ordinal) AS was FROM stream('t')) x WHERE commit_time < was")
	if n := number(t, c, "SELECT COUNT(*) FROM stream('t')"); n < 100 {
		t.Errorf("only %d records: that tests little", n)
	}
}

func number(t *testing.T, c *client, query string) uint64 {
	t.Helper()
	var n sql.NullInt64
	if err := c.c.QueryRowContext(t.Context(), query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return uint64(n.Int64)
}

// writeRandomly changes rows in transactions of several statements, some of
// which are rolled back or fail.
func writeRandomly(c *client, r *rand.Rand, rows int, stop *atomic.Bool) {
	for i := 0; !stop.Load(); i++ {
		_, _ = c.query("BEGIN")
		for range 1 + r.IntN(3) {
			id, v := r.IntN(rows), r.IntN(1000)
			var err error
			switch r.IntN(6) {
			case 0, 1:
				_, err = c.query(fmt.Sprintf("INSERT INTO t VALUES (%d, %d, %d) ON DUPLICATE KEY UPDATE v = %[2]d", id, v, id*1000))
			case 2, 3:
				_, err = c.query(fmt.Sprintf("UPDATE t SET v = v + 1 WHERE id BETWEEN %d AND %d", id, id+2))
			case 4:
				_, err = c.query(fmt.Sprintf("DELETE FROM t WHERE id = %d", id))
			case 5:
				_, err = c.query(fmt.Sprintf("INSERT INTO t VALUES (%d, 1, %d), (%d, 1, %d)", id, v, id+1, v))
			}
			if n := errorNumber(err); n == 1213 {
				break
			}
		}
		if r.IntN(4) == 0 {
			_, _ = c.query("ROLLBACK")
		} else {
			_, _ = c.query("COMMIT")
		}
	}
}

// logged is a record of the log of t.
type logged struct {
	seq, ordinal uint64
	kind         string
	id, v        sql.NullInt64
}

// applyOnce applies a record to a row that is as the log says.
func applyOnce(t *testing.T, c *client, r logged) {
	switch r.kind {
	case "insert":
		c.exec("INSERT INTO copy VALUES (?, ?)", r.id.Int64, r.v.Int64)
	case "update":
		c.exec("UPDATE copy SET v = ? WHERE id = ?", r.v.Int64, r.id.Int64)
	case "delete":
		if c.exec("DELETE FROM copy WHERE id = ?", r.id.Int64) != 1 {
			t.Fatalf("a row to be deleted is not there: %+v", r)
		}
	}
}

// applyAgain applies a record that the copy may have already.
func applyAgain(_ *testing.T, c *client, r logged) {
	switch r.kind {
	case "insert", "update":
		c.exec("REPLACE INTO copy VALUES (?, ?)", r.id.Int64, r.v.Int64)
	case "delete":
		c.exec("DELETE FROM copy WHERE id = ?", r.id.Int64)
	}
}

// consume applies the next records of a consumer, and returns their number.
func consume(t *testing.T, c *client, name string, most int, apply func(t *testing.T, c *client, r logged)) int {
	t.Helper()
	c.exec("BEGIN")
	rows, err := c.c.QueryContext(t.Context(), fmt.Sprintf("SELECT seq, ordinal, kind, pk->'$.id', after_image->'$.v' FROM stream('t', '%s') ORDER BY seq, ordinal LIMIT %d", name, most))
	if err != nil {
		t.Fatal(err)
	}
	var list []logged
	for rows.Next() {
		var r logged
		if err := rows.Scan(&r.seq, &r.ordinal, &r.kind, &r.id, &r.v); err != nil {
			t.Fatal(err)
		}
		list = append(list, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	rows.Close()
	for _, r := range list {
		apply(t, c, r)
	}
	if n := len(list); n > 0 {
		c.exec("CALL sqlots.stream_checkpoint(?, ?, ?)", name, list[n-1].seq, list[n-1].ordinal)
	}
	c.exec("COMMIT")
	return len(list)
}

// Positions and times may be parameters.
func TestDerivedTablesPrepared(t *testing.T) {
	_, dsn := startServer(t)
	c := dial(t, dsn)
	c.exec(`CREATE TABLE t (id INT PRIMARY KEY) SECONDARY_ENGINE_ATTRIBUTE='{"stream": true, "max_versions": 2}'`)
	c.exec("INSERT INTO t VALUES (1)")
	seq := number(t, c, "SELECT SNAPSHOT_SEQ()")
	at, err := c.query("SELECT NOW(6)")
	if err != nil {
		t.Fatal(err)
	}
	c.exec("INSERT INTO t VALUES (2)")
	for range 3 {
		c.rows("1", "SELECT COUNT(*) FROM stream('t', ?)", seq)
		c.rows("insert", "SELECT kind FROM stream('t', ?, ?) AS s WHERE s.seq > ?", seq, 0, seq)
		c.rows("1", "SELECT COUNT(*) FROM t AS OF TIMESTAMP ?", at)
		c.rows("1", "SELECT id FROM t AS OF TIMESTAMP ? WHERE id IN (?, ?)", at, 1, 2)
		c.fails(1210, "SELECT * FROM stream(?, 1)", "t")
	}
	for range 2 {
		c.exec("CREATE DATABASE d")
		c.exec(`CREATE TABLE d.t (id INT PRIMARY KEY) SECONDARY_ENGINE_ATTRIBUTE='{"stream": true}'`)
		c.rows("start", "SELECT kind FROM stream('d.t')")
		c.exec("DROP DATABASE d")
		c.rows("start|drop", "SELECT kind FROM stream('d.t') ORDER BY seq")
	}
}
