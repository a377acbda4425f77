package crash

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/internal/datacheck"
	"github.com/sqlots/sqlots/internal/testflag"
)

// buildRows is the size of the table whose indexes are built: some runs.
const buildRows = 120_000

// insertBuildRows inserts the rows of a range of numbers.
func insertBuildRows(from, to int) string {
	return fmt.Sprintf(`INSERT INTO crash.big (a, u, s, d) WITH RECURSIVE n AS (SELECT %d i UNION ALL SELECT i + 1 FROM n WHERE i < %d)
		SELECT i %% 1000, i, CONCAT('s', i), JSON_OBJECT('t', JSON_ARRAY(i, i %% 7)) FROM n`, from, to)
}

// TestKillDuringBuild kills the server while indexes are built under writers, at random
// moments, again and again: the next server goes on by itself, until the indexes are
// complete. A duplicate that a writer makes rolls the build back, also after a crash.
func TestKillDuringBuild(t *testing.T) {
	testflag.Long(t)
	seed := testflag.AnySeed(t)
	b := &builds{dir: t.TempDir(), seed: seed, rng: rand.New(rand.NewPCG(seed, 2)), gone: &atomic.Bool{}}
	b.start(t)
	b.exec(t, "CREATE DATABASE crash",
		"CREATE TABLE crash.big (id INT PRIMARY KEY AUTO_INCREMENT, a INT, u BIGINT NOT NULL, s VARCHAR(40), d JSON, KEY old_s (s))",
		"SET SESSION cte_max_recursion_depth = 1000000",
		insertBuildRows(1, buildRows/2), insertBuildRows(buildRows/2+1, buildRows),
		"SET PERSIST sqlots_index_build_rate = 150000")
	rounds := testflag.Rounds(1, 1, 5)
	resumed := 0
	for round := range rounds {
		duplicates := round%3 == 2
		resumed += b.cycle(t, duplicates)
		if t.Failed() {
			return
		}
	}
	b.child.Kill()
	if _, err := datacheck.Dir(context.Background(), b.dir, func(r datacheck.Result) {
		if r.Err != nil || !r.Report.OK() {
			t.Errorf("%s: %v %v", r.Table.Name, r.Err, r.Report.Problems)
		}
	}); err != nil {
		t.Fatal(err)
	}
	if resumed == 0 && rounds > 2 {
		t.Error("no build was resumed")
	}
	t.Logf("%d builds, resumed %d times, %d changes", rounds, resumed, b.changes.Load())
}

type builds struct {
	dir     string
	seed    uint64
	rng     *rand.Rand
	child   *childserver.Child
	db      *sql.DB
	gone    *atomic.Bool
	changes atomic.Int64
	next    atomic.Int64
}

func (b *builds) start(t *testing.T) {
	t.Helper()
	b.child = childserver.Start(t, b.dir)
	b.db = connect(t, b.child.Addr)
	b.gone.Store(false)
}

func (b *builds) kill() {
	b.gone.Store(true)
	b.child.Kill()
	b.db.Close()
}

func (b *builds) exec(t *testing.T, list ...string) {
	t.Helper()
	conn, err := b.db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	for _, q := range list {
		if _, err := conn.ExecContext(context.Background(), q); err != nil {
			t.Fatalf("%s: %v\n%s", q, err, b.child.Log)
		}
	}
}

func (b *builds) one(t *testing.T, query string) string {
	t.Helper()
	var got sql.NullString
	if err := b.db.QueryRow(query).Scan(&got); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return got.String
}

const buildStatement = "ALTER TABLE crash.big ADD UNIQUE KEY by_u (u), ADD KEY by_a (a DESC, s) INCLUDE (u), ADD KEY by_t ((CAST(d->'$.t' AS UNSIGNED ARRAY)))," +
	" ADD n INT NOT NULL DEFAULT 7, ADD KEY by_n (n, a), DROP KEY old_s, ALTER s SET DEFAULT 'y'"

// cycle builds the indexes through some kills, checks and drops them.
func (b *builds) cycle(t *testing.T, duplicates bool) (resumed int) {
	t.Helper()
	kills := 1 + b.rng.IntN(3)
	for i := range kills {
		after := time.Duration(20+b.rng.IntN(1500)) * time.Millisecond
		timer := time.AfterFunc(after, b.kill)
		var wg sync.WaitGroup
		if i == 0 {
			wg.Go(func() { _, _ = b.db.Exec(buildStatement) }) // the error is the kill's, or 1062
		}
		for g := range 3 {
			wg.Go(func() { b.write(t, b.db, uint64(g), duplicates) })
		}
		wg.Wait()
		timer.Stop()
		if t.Failed() {
			return
		}
		b.start(t)
		if b.one(t, "SELECT COUNT(*) FROM information_schema.sqlots_ddl_jobs WHERE ended_at IS NULL") != "0" {
			resumed++
		}
	}
	for deadline := time.Now().Add(time.Minute); b.one(t, "SELECT COUNT(*) FROM information_schema.sqlots_ddl_jobs WHERE ended_at IS NULL") != "0"; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("the build does not end: %s", b.one(t, "SELECT CONCAT(state, rows_done) FROM information_schema.sqlots_ddl_jobs"))
		}
	}
	b.check(t, duplicates)
	return resumed
}

func (b *builds) check(t *testing.T, duplicates bool) {
	t.Helper()
	if got := b.one(t, "SELECT COUNT(*) FROM (SELECT 1 FROM crash.big GROUP BY u HAVING COUNT(*) > 1) x"); got != "0" && !duplicates {
		t.Errorf("%s values are there twice", got)
	}
	rows, err := b.db.Query("ADMIN CHECK TABLE crash.big")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var table, op, kind, text string
		if err := rows.Scan(&table, &op, &kind, &text); err != nil || text != "OK" {
			t.Errorf("%s: %s %v", kind, text, err)
		}
	}
	indexes := b.one(t, "SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics WHERE table_schema = 'crash' AND index_name LIKE 'by%'")
	switch {
	case duplicates:
		// Gone, unless the build was through before the writers were.
		if indexes != "0" && indexes != "4" {
			t.Errorf("%s indexes", indexes)
		}
	case indexes == "0":
		// The kill came before the statement.
	case indexes != "4":
		t.Errorf("%s indexes", indexes)
	}
	// The other clauses come with the indexes, or not at all.
	want := map[string]string{"0": "0 1 NULL", "4": "1 0 y"}[indexes]
	if got := b.one(t, `SELECT CONCAT((SELECT COUNT(*) FROM information_schema.columns WHERE table_name = 'big' AND column_name = 'n'), ' ',
		(SELECT COUNT(*) FROM information_schema.statistics WHERE table_name = 'big' AND index_name = 'old_s'), ' ',
		(SELECT IFNULL(column_default, 'NULL') FROM information_schema.columns WHERE table_name = 'big' AND column_name = 's'))`); got != want {
		t.Errorf("%s indexes, the rest is %s, want %s", indexes, got, want)
	}
	if indexes == "4" {
		want := b.one(t, "SELECT CONCAT(COUNT(*), ' ', SUM(u)) FROM crash.big FORCE INDEX (PRIMARY)")
		if got := b.one(t, "SELECT COUNT(*) FROM crash.big WHERE n <> 7"); got != "0" {
			t.Errorf("%s rows have another value in the new column", got)
		}
		for _, index := range []string{"by_u", "by_a", "by_n"} {
			if got := b.one(t, "SELECT CONCAT(COUNT(*), ' ', SUM(u)) FROM crash.big FORCE INDEX ("+index+") WHERE a >= 0 AND u > -1 AND n = 7"); got != want {
				t.Errorf("by %s: %s, by the primary key: %s", index, got, want)
			}
		}
		b.exec(t, "ALTER TABLE crash.big DROP KEY by_u, DROP KEY by_a, DROP KEY by_t, DROP KEY by_n, DROP COLUMN n, ADD KEY old_s (s), ALTER s DROP DEFAULT")
	}
	b.exec(t, "DELETE x FROM crash.big x JOIN crash.big y ON x.u = y.u AND x.id > y.id")
}

// write changes rows until the server is gone; with duplicates, two rows get
// the same u now and then, which no writer may see as an error unless the index
// is there.
func (b *builds) write(t *testing.T, db *sql.DB, g uint64, duplicates bool) {
	rng := rand.New(rand.NewPCG(b.seed+g, uint64(b.changes.Load())))
	for {
		id, fresh := rng.IntN(buildRows), 1_000_000*b.next.Add(1)
		query := ""
		switch rng.IntN(5) {
		case 0:
			query = fmt.Sprintf("INSERT INTO crash.big (a, u, s, d) VALUES (%d, %d, 'new', '{\"t\": [%d]}')", rng.IntN(1000), fresh, rng.IntN(9))
		case 1:
			query = fmt.Sprintf("UPDATE crash.big SET a = a + 1, d = JSON_OBJECT('t', JSON_ARRAY(1, %d)) WHERE id = %d", rng.IntN(9), id)
		case 2:
			query = fmt.Sprintf("UPDATE crash.big SET u = %d WHERE id = %d", fresh, id)
		case 3:
			query = fmt.Sprintf("DELETE FROM crash.big WHERE id = %d AND a %% 5 = 0", id)
		case 4:
			query = fmt.Sprintf("UPDATE crash.big SET s = CONCAT('x', a), u = %d + id %% 1000 WHERE id BETWEEN %d AND %d", fresh, id, id+2)
			if duplicates && rng.IntN(10) == 0 {
				query = fmt.Sprintf("UPDATE crash.big SET u = 7 WHERE id BETWEEN %d AND %d", id, id+5)
			}
		}
		_, err := db.Exec(query)
		var reply *mysql.MySQLError
		if errors.As(err, &reply) && (reply.Number == 1213 || reply.Number == 1205 || reply.Number == 1062 && duplicates) {
			continue
		}
		if err != nil {
			if !b.gone.Load() {
				t.Errorf("%s: %v", query, err)
			}
			return
		}
		b.changes.Add(1)
	}
}
