package tikvkv_test

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
	"github.com/tikv/client-go/v2/config"
	"github.com/tikv/client-go/v2/tikvrpc"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/tikvkv"
)

// roundCounter counts the calls of a node, and its rounds: times in which at least one
// call was under way.
type roundCounter struct {
	mu                     sync.Mutex
	running, calls, rounds int
}

// callTime makes calls that are made together overlap.
const callTime = 500 * time.Microsecond

func (c *roundCounter) call() (end func()) {
	c.mu.Lock()
	if c.calls++; c.running == 0 {
		c.rounds++
	}
	c.running++
	c.mu.Unlock()
	time.Sleep(callTime)
	return func() {
		c.mu.Lock()
		c.running--
		c.mu.Unlock()
	}
}

// reset forgets the counts, and returns them.
func (c *roundCounter) reset() (calls, rounds int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	calls, rounds = c.calls, c.rounds
	c.calls, c.rounds = 0, 0
	return calls, rounds
}

// TestRounds runs statements on a server whose store is in a cluster, and holds the rounds
// of each against a ceiling. They are counted, not timed; -v prints them.
func TestRounds(t *testing.T) {
	testflag.Long(t) // large tables
	if config.GetGlobalConfig().CommitterConcurrency == 1 {
		t.Skip("a client that calls one region after another, as under the race detector, has more rounds")
	}
	n := cluster(t).Node()
	kv, err := n.Connect()
	must(t, err)
	store, err := tikvkv.Join(bg, kv, "rounds", tikvkv.Node{}, tikvkv.Options{}.WithLease(3*time.Hour, time.Hour)) // no renewals meanwhile
	must(t, err)
	s := servertest.Open(t, server.Config{InMemory: true, Listen: "127.0.0.1:0", Memory: 256 << 20, MemoryStore: func() storage.Store { return store }})
	t.Cleanup(func() { must(t, s.Stop(5*time.Second)) })
	db, err := sql.Open("mysql", "root@tcp("+s.Addr()+")/?multiStatements=true")
	must(t, err)
	defer db.Close()
	db.SetMaxOpenConns(1)
	exec(t, db, `SET GLOBAL sqlots_ttl_job_enable = OFF;
		CREATE DATABASE d; USE d;
		CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(20), UNIQUE u (a), KEY k (b));
		CREATE TABLE o (id INT PRIMARY KEY, t INT);
		CREATE TABLE auto (id INT AUTO_INCREMENT PRIMARY KEY, a INT);
		CREATE TABLE child (id INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES t (id));
		SET cte_max_recursion_depth = 100000;
		INSERT INTO t WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i, i, i DIV 100, 'text' FROM n;
		INSERT INTO o SELECT id, id * 7 % 20000 + 1 FROM t WHERE id <= 1000;
		CREATE TABLE big (id INT PRIMARY KEY, a INT, c VARCHAR(20), KEY k (a));
		INSERT INTO big WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 60000) SELECT i, i, 'text' FROM n;
		CREATE TABLE many (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(20), UNIQUE u (a), KEY k (b));
		INSERT INTO many WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 20000) SELECT i, i, i DIV 1000, 'text' FROM n;
		CREATE TABLE parent (id INT PRIMARY KEY, u INT, UNIQUE u (u));
		INSERT INTO parent SELECT id, id FROM many;
		CREATE TABLE by_unique (id INT PRIMARY KEY, u INT, FOREIGN KEY (u) REFERENCES parent (u) ON DELETE SET NULL ON UPDATE CASCADE);
		CREATE TABLE restricts (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id));
		CREATE TABLE cascades (id INT PRIMARY KEY, p INT, FOREIGN KEY (p) REFERENCES parent (id) ON DELETE CASCADE);
		CREATE TABLE grandchild (id INT PRIMARY KEY, c INT, FOREIGN KEY (c) REFERENCES cascades (id) ON DELETE CASCADE);
		INSERT INTO by_unique SELECT id, id FROM many WHERE id > 15000;
		INSERT INTO cascades SELECT id, id FROM many;
		INSERT INTO grandchild SELECT id, id FROM many;
		CREATE TABLE versioned (id INT PRIMARY KEY, a INT) SECONDARY_ENGINE_ATTRIBUTE='{"max_versions": 3}';
		INSERT INTO versioned SELECT id, id FROM many WHERE id <= 10000;
		UPDATE versioned SET a = a + 1;
		CREATE TABLE expires (id INT PRIMARY KEY, at DATETIME, KEY (at)) TTL = at + INTERVAL 1 HOUR;
		INSERT INTO expires SELECT id, UTC_TIMESTAMP() - INTERVAL id % 2 DAY FROM many WHERE id <= 2000;
		ANALYZE TABLE t, o, big, many, parent, cascades, by_unique, grandchild, restricts, versioned, expires`)
	next := 100_000
	values := func(rows int, row func(i int) string) string {
		list := make([]string, rows)
		for i := range list {
			next++
			list[i] = row(next)
		}
		return strings.Join(list, ", ")
	}
	batch := 0
	thousand := func() string { batch++; return fmt.Sprintf("BETWEEN %d AND %d", batch%10*1000+1, batch%10*1000+1000) }
	row := func(i int) string { return fmt.Sprintf("(%d, %d, %d, 'x')", i, i, i) }
	count := new(roundCounter)
	hook := func(_ *tikvrpc.Request, serve func() (*tikvrpc.Response, error)) (*tikvrpc.Response, error) {
		defer count.call()()
		return serve()
	}
	n.Intercept(hook)
	n.InterceptTSO(func(take func() (int64, int64, error)) (int64, int64, error) {
		defer count.call()()
		return take()
	})
	defer n.Intercept(nil)
	defer n.InterceptTSO(nil)
	for _, x := range []struct {
		name    string
		ceiling int
		sql     func() string
	}{
		{"point read", 1, always("SELECT * FROM t WHERE id = 77")},
		{"100 rows by an index", 3, always("SELECT * FROM t WHERE b = 7")},
		{"covering range", 3, always("SELECT b FROM t WHERE b BETWEEN 7 AND 9")},
		{"20 values of a unique key", 3, always("SELECT * FROM t WHERE a IN (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20)")},
		{"20 values of an index", 3, always("SELECT b FROM t FORCE INDEX (k) WHERE b IN (1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20)")},
		{"join of 1,000 rows by an index", 8, always("SELECT /*+ SET_VAR(sqlots_disabled_rules = 'HashJoin') */ COUNT(big.c) FROM o JOIN big ON big.a = o.t")},
		{"INSERT of a row", 5, func() string { return "INSERT INTO t VALUES " + values(1, row) }},
		{"INSERT of 1,000 rows", 12, func() string { return "INSERT INTO t VALUES " + values(1000, row) }},
		{"INSERT of 1,000 rows that are counted", 14, func() string {
			return "INSERT INTO auto (a) VALUES " + values(1000, func(i int) string { return fmt.Sprintf("(%d)", i) })
		}},
		{"INSERT of a row with a foreign key", 8, func() string {
			return "INSERT INTO child VALUES " + values(1, func(i int) string { return fmt.Sprintf("(%d, 5)", i) })
		}},
		{"UPDATE by primary key", 6, always("UPDATE t SET c = UUID_SHORT() % 1000 WHERE id = 77")},
		{"UPDATE of 100 rows by an index", 9, always("UPDATE t SET c = UUID_SHORT() % 1000 WHERE b = 8")},
		{"INSERT of 1,000 rows with a foreign key", 8, func() string {
			return "INSERT INTO child VALUES " + values(1000, func(i int) string { return fmt.Sprintf("(%d, %d)", i, i%1000+1) })
		}},
		{"INSERT of 1,000 rows with a foreign key to a unique key", 12, func() string {
			return "INSERT INTO by_unique VALUES " + values(1000, func(i int) string { return fmt.Sprintf("(%d, %d)", i, i%1000+1) })
		}},
		{"INSERT IGNORE of 1,000 rows", 12, func() string { return "INSERT IGNORE INTO t VALUES " + values(1000, row) }},
		{"REPLACE of 1,000 rows", 12, func() string { next = 110_000; return "REPLACE INTO t VALUES " + values(1000, row) }},
		{"REPLACE of 1,000 rows that exist", 12, func() string {
			defer func() { next = 111_000 }()
			next = 2000
			return "REPLACE INTO t VALUES " + values(1000, row)
		}},
		{"INSERT of 1,000 rows ON DUPLICATE KEY UPDATE", 12, func() string {
			next = 110_000
			return "INSERT INTO t VALUES " + values(1000, row) + " ON DUPLICATE KEY UPDATE c = UUID_SHORT() % 1000"
		}},
		{"LOAD DATA of 1,000 rows", 12, func() string {
			text := strings.ReplaceAll(strings.Trim(values(1000, func(i int) string { return fmt.Sprintf("%d\t%d\t%d\tx\n", i, i, i) }), ", "), ", ", "")
			mysql.RegisterReaderHandler("rows", func() io.Reader { return strings.NewReader(text) })
			return "LOAD DATA LOCAL INFILE 'Reader::rows' INTO TABLE t"
		}},
		{"INSERT of 1,000 rows with versions", 14, func() string {
			return "INSERT INTO versioned VALUES " + values(1000, func(i int) string { return fmt.Sprintf("(%d, %d)", 1_000_000-i*7, i) })
		}},
		{"UPDATE of 1,000 rows with versions", 14, func() string { return "UPDATE versioned SET a = a + 1 WHERE id " + thousand() }},
		{"DELETE of 1,000 rows with versions", 20, func() string { return "DELETE FROM versioned WHERE id " + thousand() }},
		{"UPDATE of 1,000 rows by a range", 9, func() string { return "UPDATE many SET c = UUID_SHORT() % 1000 WHERE id " + thousand() }},
		{"UPDATE of 1,000 rows by an index", 9, func() string { return "UPDATE many SET c = UUID_SHORT() % 1000 WHERE b = 3" }},
		{"UPDATE of a unique key in 1,000 rows", 9, func() string { return "UPDATE many SET a = a + 100000 WHERE id " + thousand() }},
		{"UPDATE of the key of 1,000 parents", 16, func() string { return "UPDATE parent SET u = u + 100000 WHERE id BETWEEN 15000 AND 15999" }},
		{"DELETE of 1,000 parents", 40, func() string { return "DELETE FROM parent WHERE id " + thousand() }},
		{"UPDATE of 1,000 rows in a transaction with a view", 10, func() string {
			return "START TRANSACTION WITH CONSISTENT SNAPSHOT; SELECT COUNT(*) FROM many WHERE id = 0; UPDATE many SET c = UUID_SHORT() % 1000 WHERE id " + thousand() + "; COMMIT"
		}},
		{"INSERT of 1,000 rows in a transaction with a view", 10, func() string {
			next = max(next, 2_000_000)
			return "START TRANSACTION WITH CONSISTENT SNAPSHOT; SELECT COUNT(*) FROM many WHERE id = 0; INSERT INTO t VALUES " + values(1000, row) + "; COMMIT"
		}},
		{"DELETE of 1,000 rows by a range", 9, func() string { return "DELETE FROM many WHERE id " + thousand() }},
		{"DELETE of 1,000 rows by an index", 9, func() string { batch++; return fmt.Sprintf("DELETE FROM many WHERE b = %d", batch%5+11) }},
		{"planning", 0, always("EXPLAIN SELECT * FROM t JOIN o ON t.a = o.t WHERE b IN (1, 2) ORDER BY c")},
	} {
		least, calls := 1<<30, 0
		var names map[string]int
		for range 5 {
			q := x.sql()
			count.reset()
			n.Reset()
			exec(t, db, q)
			if c, r := count.reset(); r < least {
				least, calls, names = r, c, n.Calls()
			}
			if least <= x.ceiling && !testing.Verbose() {
				break // -v prints the least of five
			}
		}
		t.Logf("%-40s %4d rounds of at most %2d, %5d calls %v", x.name, least, x.ceiling, calls, names)
		if least > x.ceiling {
			t.Errorf("%s: %d rounds, more than %d", x.name, least, x.ceiling)
		}
	}
	removeExpired(t, db, count)
}

// removeExpired holds the removal of 1,000 expired rows against a ceiling.
func removeExpired(t *testing.T, db *sql.DB, count *roundCounter) {
	t.Helper()
	const ceiling = 250 // of which 130 sample the table, which has not been planned for before
	count.reset()
	exec(t, db, "SET GLOBAL sqlots_ttl_job_enable = ON")
	rows := 0
	for end := time.Now().Add(time.Minute); rows < 1000 && time.Now().Before(end); time.Sleep(100 * time.Millisecond) {
		must(t, db.QueryRow("SELECT COALESCE(SUM(ROWS_REMOVED), 0) FROM information_schema.SQLOTS_TTL_JOBS WHERE ENDED_AT IS NOT NULL").Scan(&rows))
	}
	calls, rounds := count.reset()
	t.Logf("%-40s %4d rounds of at most %2d, %5d calls", "removal of 1,000 expired rows", rounds, ceiling, calls)
	if rows != 1000 || rounds > ceiling {
		t.Errorf("%d rows went in %d rounds", rows, rounds)
	}
}

func always(q string) func() string { return func() string { return q } }

// exec runs a statement and reads what it gives.
func exec(t *testing.T, db *sql.DB, q string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(bg, time.Minute)
	defer cancel()
	rows, err := db.QueryContext(ctx, q)
	if err != nil {
		t.Fatalf("%.100s: %v", q, err)
	}
	for rows.Next() || rows.NextResultSet() {
	}
	if err := rows.Err(); err != nil {
		t.Fatalf("%.100s: %v", q, err)
	}
	must(t, rows.Close())
}
