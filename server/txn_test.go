package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

func TestTransactions(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	_, dsn := startServer(t)
	tests := map[string]func(t *testing.T, a, b, c *client){
		"autocommit off": func(t *testing.T, a, b, _ *client) {
			a.exec("SET autocommit=0")
			a.exec("INSERT INTO acc VALUES (10,1)")
			b.rows("", "SELECT v FROM acc WHERE id=10")
			a.exec("COMMIT")
			b.rows("1", "SELECT v FROM acc WHERE id=10")
			a.exec("UPDATE acc SET v=2 WHERE id=10")
			a.exec("ROLLBACK")
			a.rows("1", "SELECT v FROM acc WHERE id=10")
			a.exec("UPDATE acc SET v=3 WHERE id=10")
			a.exec("SET autocommit=1") // commits
			b.rows("3", "SELECT v FROM acc WHERE id=10")
		},
		"begin inside begin commits": func(t *testing.T, a, b, _ *client) {
			a.exec("BEGIN")
			a.exec("INSERT INTO acc VALUES (10,1)")
			a.exec("START TRANSACTION")
			b.rows("1", "SELECT v FROM acc WHERE id=10")
			a.exec("ROLLBACK")
		},
		"chain": func(t *testing.T, a, b, _ *client) {
			a.exec("BEGIN")
			a.exec("INSERT INTO acc VALUES (10,1)")
			a.exec("COMMIT AND CHAIN")
			a.exec("INSERT INTO acc VALUES (11,1)")
			b.rows("10", "SELECT id FROM acc WHERE id>=10")
			a.exec("ROLLBACK AND CHAIN")
			a.exec("INSERT INTO acc VALUES (12,1)")
			a.exec("ROLLBACK")
			b.rows("10", "SELECT id FROM acc WHERE id>=10")
		},
		"savepoints": func(t *testing.T, a, b, _ *client) {
			a.exec("BEGIN")
			a.exec("INSERT INTO acc VALUES (10,1)")
			a.exec("SAVEPOINT s1")
			a.exec("INSERT INTO acc VALUES (11,1)")
			a.exec("SAVEPOINT s2")
			a.exec("UPDATE acc SET v=9 WHERE id=1")
			a.exec("ROLLBACK TO s2")
			a.rows("1,100|10,1|11,1", "SELECT id,v FROM acc WHERE id IN (1,10,11)")
			a.exec("ROLLBACK TO SAVEPOINT s1")
			a.fails(1305, "ROLLBACK TO s2")
			a.rows("10", "SELECT id FROM acc WHERE id>=10")
			a.exec("RELEASE SAVEPOINT s1")
			a.fails(1305, "RELEASE SAVEPOINT s1")
			a.exec("COMMIT")
			b.rows("10", "SELECT id FROM acc WHERE id>=10")
			a.exec("SAVEPOINT outside") // a transaction of its own
			a.fails(1305, "ROLLBACK TO outside")
		},
		"a failed statement leaves nothing": func(t *testing.T, a, b, _ *client) {
			a.exec("BEGIN")
			a.exec("INSERT INTO acc VALUES (10,1)")
			a.fails(1062, "INSERT INTO acc VALUES (11,1),(12,1),(1,1),(13,1)")
			a.fails(1264, "UPDATE acc SET v=IF(id=3,99999999999,v+1)")
			a.fails(1690, "UPDATE acc SET v=IF(id=3,v*9223372036854775807,v+1)")
			a.rows("1,100|2,200|3,300|10,1", "SELECT id,v FROM acc")
			a.exec("COMMIT")
			b.rows("1,100|2,200|3,300|10,1", "SELECT id,v FROM acc")
			b.fails(1062, "INSERT INTO acc VALUES (11,1),(12,1),(1,1)")
			b.rows("4", "SELECT COUNT(*) FROM acc")
		},
		"repeatable read": func(t *testing.T, a, b, _ *client) {
			a.exec("BEGIN")
			a.rows("100", "SELECT v FROM acc WHERE id=1")
			b.exec("UPDATE acc SET v=101 WHERE id=1")
			b.exec("INSERT INTO acc VALUES (10,1)")
			a.rows("100", "SELECT v FROM acc WHERE id=1")
			a.rows("3", "SELECT COUNT(*) FROM acc")
			a.rows("101", "SELECT v FROM acc WHERE id=1 FOR UPDATE") // latest, as InnoDB
			a.exec("UPDATE acc SET v=v+1 WHERE id=1")
			a.rows("102", "SELECT v FROM acc WHERE id=1")
			a.exec("COMMIT")
			a.rows("102", "SELECT v FROM acc WHERE id=1")
		},
		"view starts with the first read": func(t *testing.T, a, b, _ *client) {
			a.exec("BEGIN")
			b.exec("UPDATE acc SET v=101 WHERE id=1")
			a.rows("101", "SELECT v FROM acc WHERE id=1")
			a.exec("COMMIT")
			a.exec("START TRANSACTION WITH CONSISTENT SNAPSHOT")
			b.exec("UPDATE acc SET v=102 WHERE id=1")
			a.rows("101", "SELECT v FROM acc WHERE id=1")
			a.exec("COMMIT")
		},
		"read committed": func(t *testing.T, a, b, _ *client) {
			a.exec("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
			a.rows("READ-COMMITTED", "SELECT @@transaction_isolation")
			a.exec("BEGIN")
			a.rows("100", "SELECT v FROM acc WHERE id=1")
			b.exec("BEGIN")
			b.exec("UPDATE acc SET v=101 WHERE id=1")
			a.rows("100", "SELECT v FROM acc WHERE id=1")
			b.exec("COMMIT")
			a.rows("101", "SELECT v FROM acc WHERE id=1")
			a.exec("COMMIT")
		},
		"isolation is that of the start": func(t *testing.T, a, b, _ *client) {
			a.exec("BEGIN")
			a.rows("100", "SELECT v FROM acc WHERE id=1")
			a.exec("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
			b.exec("UPDATE acc SET v=101 WHERE id=1")
			a.rows("100", "SELECT v FROM acc WHERE id=1")
			a.exec("COMMIT")
			a.exec("BEGIN")
			a.rows("101", "SELECT v FROM acc WHERE id=1")
			b.exec("UPDATE acc SET v=102 WHERE id=1")
			a.rows("102", "SELECT v FROM acc WHERE id=1")
			a.exec("COMMIT")
		},
		"isolation of the next transaction only": func(t *testing.T, a, b, _ *client) {
			a.exec("SET TRANSACTION ISOLATION LEVEL READ COMMITTED")
			a.exec("BEGIN")
			a.fails(1568, "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ")
			a.rows("100", "SELECT v FROM acc WHERE id=1")
			b.exec("UPDATE acc SET v=101 WHERE id=1")
			a.rows("101", "SELECT v FROM acc WHERE id=1")
			a.exec("COMMIT")
			a.exec("BEGIN")
			a.rows("101", "SELECT v FROM acc WHERE id=1")
			b.exec("UPDATE acc SET v=102 WHERE id=1")
			a.rows("101", "SELECT v FROM acc WHERE id=1")
			a.exec("COMMIT")
		},
		"locking reads": func(t *testing.T, a, b, _ *client) {
			a.exec("BEGIN")
			a.rows("100", "SELECT v FROM acc WHERE id=1 FOR UPDATE")
			b.rows("100", "SELECT v FROM acc WHERE id=1")
			b.fails(3572, "SELECT v FROM acc WHERE id=1 FOR UPDATE NOWAIT")
			b.rows("2|3", "SELECT id FROM acc FOR UPDATE SKIP LOCKED")
			b.exec("SET innodb_lock_wait_timeout=1")
			b.fails(1205, "UPDATE acc SET v=0 WHERE id=1")
			b.fails(1205, "SELECT v FROM acc WHERE id=1 LOCK IN SHARE MODE")
			a.exec("COMMIT")
			b.rows("100", "SELECT v FROM acc WHERE id=1 FOR UPDATE NOWAIT")
		},
		"shared locks": func(t *testing.T, a, b, _ *client) {
			a.exec("BEGIN")
			a.rows("100", "SELECT v FROM acc WHERE id=1 FOR SHARE")
			b.exec("BEGIN")
			b.rows("100", "SELECT v FROM acc WHERE id=1 FOR SHARE NOWAIT")
			b.fails(3572, "SELECT v FROM acc WHERE id=1 FOR UPDATE NOWAIT")
			a.exec("COMMIT")
			b.rows("100", "SELECT v FROM acc WHERE id=1 FOR UPDATE NOWAIT")
			b.exec("COMMIT")
		},
		"a lock wait timeout keeps the transaction": func(t *testing.T, a, b, _ *client) {
			a.exec("BEGIN")
			a.exec("UPDATE acc SET v=1 WHERE id=1")
			b.exec("SET innodb_lock_wait_timeout=1")
			b.exec("BEGIN")
			b.exec("UPDATE acc SET v=2 WHERE id=2")
			b.fails(1205, "UPDATE acc SET v=2 WHERE id=1")
			a.exec("COMMIT")
			b.exec("COMMIT")
			a.rows("1,1|2,2|3,300", "SELECT id,v FROM acc")
		},
		"waiting writer goes on": func(t *testing.T, a, b, c *client) {
			a.exec("BEGIN")
			a.exec("UPDATE acc SET v=v+1 WHERE id=1")
			p := b.start(c, "UPDATE acc SET v=v+10 WHERE id=1")
			a.exec("COMMIT")
			p.ok()
			c.rows("111", "SELECT v FROM acc WHERE id=1")
		},
		"deadlock": func(t *testing.T, a, b, c *client) {
			a.exec("BEGIN")
			b.exec("BEGIN")
			a.exec("UPDATE acc SET v=v+1 WHERE id=1")
			b.exec("UPDATE acc SET v=v+1 WHERE id=2")
			b.exec("UPDATE acc SET v=v+1 WHERE id=3")
			pa := a.start(c, "UPDATE acc SET v=v+1 WHERE id=2")
			_, errB := b.query("UPDATE acc SET v=v+1 WHERE id=1")
			if n := errorNumber(errB); n == 1213 { // b is the victim and lost its transaction
				pa.ok()
				b.exec("COMMIT")
				a.exec("COMMIT")
				c.rows("1,101|2,201|3,300", "SELECT id,v FROM acc")
				return
			}
			pa.fails(1213)
			a.exec("COMMIT")
			b.exec("COMMIT")
			c.rows("1,101|2,201|3,301", "SELECT id,v FROM acc")
		},
		"deadlock of locking reads": func(t *testing.T, a, b, c *client) {
			for _, x := range []*client{a, b} {
				x.exec("BEGIN")
				x.exec("INSERT INTO acc VALUES (?, 1)", x.id+1000)
			}
			a.rows("100", "SELECT v FROM acc WHERE id=1 FOR UPDATE")
			b.rows("200", "SELECT v FROM acc WHERE id=2 FOR SHARE")
			pa := a.start(c, "SELECT v FROM acc WHERE id=2 FOR UPDATE")
			_, err := b.query("SELECT v FROM acc WHERE id=1 LOCK IN SHARE MODE")
			victim, other := b, a
			if errorNumber(err) == 1213 {
				pa.ok()
			} else {
				pa.fails(1213)
				victim, other = a, b
			}
			// The victim's transaction is rolled back; the next statement is outside of it.
			victim.rows("1", "SELECT COUNT(*) FROM acc WHERE id>1000 AND id<>?+1000 OR id=3", other.id)
			victim.exec("INSERT INTO acc VALUES (20,1)")
			c.rows("20", "SELECT id FROM acc WHERE id=20")
			other.exec("COMMIT")
			c.rows("1", "SELECT COUNT(*) FROM acc WHERE id>1000")
		},
		"DDL commits": func(t *testing.T, a, b, _ *client) {
			a.exec("BEGIN")
			a.exec("INSERT INTO acc VALUES (10,1)")
			a.exec("CREATE TABLE other (x INT PRIMARY KEY)")
			b.rows("1", "SELECT v FROM acc WHERE id=10")
			a.exec("ROLLBACK")
			b.rows("1", "SELECT v FROM acc WHERE id=10")
			a.exec("DROP TABLE other")
		},
		"DDL waits for transactions": func(t *testing.T, a, b, c *client) {
			a.exec("BEGIN")
			a.rows("3", "SELECT COUNT(*) FROM acc")
			b.exec("SET lock_wait_timeout=1")
			b.fails(1205, "ALTER TABLE acc ADD COLUMN w INT DEFAULT 7")
			b.fails(1205, "DROP TABLE acc")
			b.exec("SET lock_wait_timeout=100")
			p := b.start(c, "ALTER TABLE acc ADD COLUMN w INT DEFAULT 7")
			a.rows("100", "SELECT v FROM acc WHERE id=1")
			a.exec("COMMIT")
			p.ok()
			a.rows("1,100,7", "SELECT * FROM acc WHERE id=1")
			a.exec("ALTER TABLE acc DROP COLUMN w")
		},
		"a view from before DDL": func(t *testing.T, a, b, _ *client) {
			b.exec("CREATE TABLE late (x INT PRIMARY KEY)")
			a.exec("START TRANSACTION WITH CONSISTENT SNAPSHOT")
			b.exec("ALTER TABLE late ADD COLUMN y INT")
			a.fails(1412, "SELECT * FROM late")
			a.exec("COMMIT")
			a.rows("", "SELECT * FROM late")
			b.exec("DROP TABLE late")
		},
		"read only": func(t *testing.T, a, b, _ *client) {
			a.exec("START TRANSACTION READ ONLY")
			a.fails(1792, "INSERT INTO acc VALUES (10,1)")
			a.fails(1792, "UPDATE acc SET v=1")
			a.fails(1792, "DELETE FROM acc")
			a.fails(1792, "CREATE TABLE ro (x INT)")
			a.rows("3", "SELECT COUNT(*) FROM acc")
			a.exec("COMMIT")
			a.exec("SET SESSION TRANSACTION READ ONLY")
			a.fails(1792, "INSERT INTO acc VALUES (10,1)")
			a.fails(1792, "CREATE TABLE ro (x INT PRIMARY KEY)")
			a.exec("START TRANSACTION READ WRITE")
			a.exec("INSERT INTO acc VALUES (10,1)")
			a.exec("ROLLBACK")
			a.exec("SET SESSION TRANSACTION READ WRITE")
			a.exec("SET TRANSACTION READ ONLY")
			a.rows("READ-ONLY", "SELECT IF(@@transaction_read_only, '', 'READ-ONLY')") // the session's; no transaction
			a.fails(1792, "UPDATE acc SET v=1")
			a.fails(1792, "UPDATE acc SET v=1")       // what was refused was no transaction either
			a.rows("3", "SELECT COUNT(*) FROM acc")   // this one is
			a.exec("UPDATE acc SET v=100 WHERE id=1") // for one transaction only
		},
		"a closed connection rolls back": func(t *testing.T, a, b, c *client) {
			a.exec("BEGIN")
			a.exec("UPDATE acc SET v=1 WHERE id=1")
			a.close()
			b.exec("UPDATE acc SET v=v+5 WHERE id=1")
			b.rows("105", "SELECT v FROM acc WHERE id=1")
		},
		"foreign writes and own": func(t *testing.T, a, b, _ *client) {
			a.exec("BEGIN")
			a.rows("3", "SELECT COUNT(*) FROM acc")
			b.exec("INSERT INTO acc VALUES (10,1)")
			a.fails(1062, "INSERT INTO acc VALUES (10,2)") // it is there, though not in the view
			if n := a.exec("DELETE FROM acc WHERE id>=10"); n != 1 {
				t.Errorf("deleted %d rows, want 1", n)
			}
			a.exec("INSERT INTO acc VALUES (10,3)")
			a.rows("10,3", "SELECT * FROM acc WHERE id=10")
			a.exec("COMMIT")
			b.rows("10,3", "SELECT * FROM acc WHERE id=10")
		},
		"lock tables for reading": func(t *testing.T, a, b, c *client) {
			a.exec("CREATE TABLE other (x INT PRIMARY KEY)")
			a.exec("LOCK TABLES acc READ LOCAL")
			b.exec("LOCK TABLES acc READ")
			a.fails(1099, "UPDATE acc SET v=1")
			a.fails(1100, "SELECT * FROM other")
			a.rows("3", "SELECT COUNT(*) FROM acc")
			a.rows("1", "SELECT COUNT(*) FROM information_schema.tables WHERE table_name='acc'")
			b.exec("UNLOCK TABLES")
			b.rows("3", "SELECT COUNT(*) FROM acc")
			p := b.start(c, "UPDATE acc SET v=v+1 WHERE id=1")
			a.rows("100", "SELECT v FROM acc WHERE id=1")
			a.exec("UNLOCK TABLES")
			p.ok()
			a.rows("101", "SELECT v FROM acc WHERE id=1")
			a.exec("DROP TABLE other")
		},
		"flush tables with read lock": func(t *testing.T, a, b, c *client) {
			a.exec("FLUSH TABLES WITH READ LOCK")
			p := b.start(c, "INSERT INTO acc VALUES (10,1)")
			a.rows("3", "SELECT COUNT(*) FROM acc")
			c.rows("3", "SELECT COUNT(*) FROM acc")
			a.fails(1099, "DELETE FROM acc")
			a.exec("UNLOCK TABLES")
			p.ok()
			a.rows("4", "SELECT COUNT(*) FROM acc")
		},
		"lock tables for writing": func(t *testing.T, a, b, c *client) {
			a.exec("BEGIN")
			a.exec("UPDATE acc SET v=v+1 WHERE id=1")
			a.exec("LOCK TABLES acc WRITE") // commits
			p := b.start(c, "SELECT v FROM acc WHERE id=1")
			a.exec("UPDATE acc SET v=v+1 WHERE id=1")
			a.exec("ALTER TABLE acc DISABLE KEYS")
			a.exec("UPDATE acc SET v=v+1 WHERE id=1")
			a.exec("UNLOCK TABLES")
			p.ok()
			if p.rows != "103" {
				t.Errorf("a reader saw %s behind the lock", p.rows)
			}
			a.exec("LOCK TABLES acc WRITE")
			b.exec("SET lock_wait_timeout=1")
			b.fails(1205, "SELECT COUNT(*) FROM acc")
			a.exec("START TRANSACTION") // gives the locks up
			b.rows("3", "SELECT COUNT(*) FROM acc")
			a.exec("ROLLBACK")
			a.exec("LOCK TABLES acc WRITE")
			a.close()
			b.exec("SET lock_wait_timeout=100")
			b.exec("UPDATE acc SET v=0 WHERE id=1")
		},
		"safe updates": func(t *testing.T, a, _, _ *client) {
			a.exec("SET sql_safe_updates=1")
			a.fails(1175, "DELETE FROM acc")
			a.fails(1175, "UPDATE acc SET v=1 WHERE v=100")
			a.exec("UPDATE acc SET v=1 WHERE id=1")
			a.exec("DELETE FROM acc LIMIT 1")
			a.exec("SET sql_safe_updates=0")
			a.exec("DELETE FROM acc")
		},
		"user locks": func(t *testing.T, a, b, c *client) {
			a.rows("1,1,1", "SELECT GET_LOCK('x', 10), GET_LOCK('X', 0), GET_LOCK('y', -1)")
			b.rows("0,0,1", "SELECT GET_LOCK('x', 0), IS_FREE_LOCK('x'), IS_FREE_LOCK('z')")
			b.rows("1", "SELECT IS_USED_LOCK('x')=?", a.id)
			b.rows("0,NULL", "SELECT RELEASE_LOCK('x'), RELEASE_LOCK('none')")
			p := b.start(c, "SELECT GET_LOCK('x', 100)")
			a.rows("1", "SELECT RELEASE_LOCK('x')")
			a.rows("1", "SELECT RELEASE_LOCK('x')")
			p.ok()
			b.rows("1", "SELECT GET_LOCK('w', 0)")
			p = b.start(c, "SELECT GET_LOCK('y', 100)")
			eventually(t, func() bool {
				got, _ := c.query("SELECT state FROM information_schema.processlist WHERE id=?", b.id)
				return got == "User lock"
			})
			_, err := a.query("SELECT GET_LOCK('w', 100)")
			if n := errorNumber(err); n != 3058 && n != 0 {
				t.Errorf("error %v", err)
			}
			a.rows("1", "SELECT RELEASE_ALL_LOCKS()")
			p.ok()
			a.fails(3057, "SELECT GET_LOCK('', 1)")
			b.close() // gives all up
			a.rows("1", "SELECT GET_LOCK('y', 100)")
		},
		"counters": func(t *testing.T, a, _, _ *client) {
			a.exec("CREATE TABLE seq (id INT AUTO_INCREMENT PRIMARY KEY, u INT UNIQUE)")
			a.exec("INSERT INTO seq (u) VALUES (1),(2),(3)")
			a.rows("1,3", "SELECT LAST_INSERT_ID(), ROW_COUNT()")
			a.rows("-1", "SELECT ROW_COUNT()")
			a.exec("INSERT INTO seq VALUES (50,50)")
			a.rows("1", "SELECT LAST_INSERT_ID()") // an explicit value does not count
			a.exec("INSERT INTO seq (u) VALUES (60)")
			a.rows("51", "SELECT LAST_INSERT_ID()")
			a.fails(1062, "INSERT INTO seq (u) VALUES (1)")
			a.rows("-1", "SELECT ROW_COUNT()")
			a.rows("51", "SELECT LAST_INSERT_ID()")
			a.exec("UPDATE seq SET id=LAST_INSERT_ID(id+100) WHERE u=60")
			a.rows("151", "SELECT LAST_INSERT_ID()")
			a.rows("7,7", "SELECT LAST_INSERT_ID(7), LAST_INSERT_ID()")
			a.fails(1690, "SELECT LAST_INSERT_ID(8), 9223372036854775807+id FROM acc")
			a.rows("8", "SELECT LAST_INSERT_ID()")
			r, err := a.c.ExecContext(t.Context(), "UPDATE seq SET u=LAST_INSERT_ID(u+1) WHERE id=151")
			if err != nil {
				t.Fatal(err)
			}
			if id, _ := r.LastInsertId(); id != 61 {
				t.Errorf("the OK packet says %d, want 61", id)
			}
			a.exec("INSERT INTO seq (u) VALUES (GET_LOCK('l',0)+1000)")
			a.rows("1", "SELECT RELEASE_LOCK('l')")
			a.exec("DELETE FROM seq WHERE u<3")
			a.rows("2", "SELECT ROW_COUNT()")
			a.exec("SET @x=1")
			a.rows("0", "SELECT ROW_COUNT()")
			a.rows("3", "SELECT SQL_CALC_FOUND_ROWS COUNT(*) FROM acc")
			a.rows("1", "SELECT SQL_CALC_FOUND_ROWS id FROM acc LIMIT 1")
			a.rows("3", "SELECT FOUND_ROWS()")
			a.rows("1|2", "SELECT id FROM acc LIMIT 2")
			a.rows("2", "SELECT FOUND_ROWS()")
			a.exec("DROP TABLE seq")
		},
	}
	for name, fn := range tests {
		t.Run(name, func(t *testing.T) {
			a, b, c := dial(t, dsn), dial(t, dsn), dial(t, dsn)
			c.exec("DROP TABLE IF EXISTS acc")
			c.exec("CREATE TABLE acc (id INT PRIMARY KEY, v INT NOT NULL)")
			c.exec("INSERT INTO acc VALUES (1,100),(2,200),(3,300)")
			fn(t, a, b, c)
			a.close()
			b.close()
		})
	}
}

// TestLockingReadsFindMovingRows moves a row within the ranges of locking reads:
// each has to find it once.
func TestLockingReadsFindMovingRows(t *testing.T) {
	testflag.Normal(t)
	_, dsn := startServer(t)
	a, b := dial(t, dsn), dial(t, dsn)
	a.exec("CREATE TABLE m (id INT PRIMARY KEY, x INT, y INT, z INT, KEY kx (x), KEY ky (y), KEY kyz (y, z))")
	a.exec("INSERT INTO m VALUES (1, 1, 0, 5)")
	for i := range 300 {
		a.exec("INSERT INTO m VALUES (?, ?, ?, ?)", i+100, i+100, i%2+100, i+100)
	}
	queries := []string{
		"SELECT id FROM m FORCE INDEX (kx) WHERE x IN (1, 50) FOR UPDATE",
		"SELECT id FROM m FORCE INDEX (kx) WHERE x BETWEEN 1 AND 2 OR x BETWEEN 49 AND 60 LIMIT 7 FOR SHARE",
		"SELECT /*+ INDEX_MERGE(m kx, ky) */ id FROM m WHERE x = 1 OR y = 1 FOR UPDATE",
		"SELECT /*+ SKIP_SCAN(m kyz) */ id FROM m FORCE INDEX (kyz) WHERE z = 5 FOR UPDATE",
	}
	stop, done := make(chan struct{}), make(chan error, 1)
	go func() {
		for i := 0; ; i++ {
			select {
			case <-stop:
				done <- nil
				return
			default:
			}
			query := "UPDATE m SET x = 50, y = 1 WHERE id = 1"
			if i%2 == 1 {
				query = "UPDATE m SET x = 1, y = 0 WHERE id = 1"
			}
			if _, err := b.query(query); err != nil {
				done <- err
				return
			}
		}
	}()
	for range 400 {
		for _, q := range queries {
			if got, err := a.query(q); err != nil || got != "1" {
				t.Fatalf("%s: %q, %v", q, got, err)
			}
		}
	}
	close(stop)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"kx", "kx", "merge", "skip"} {
		if got, err := a.query("EXPLAIN FORMAT=TREE " + queries[i]); err != nil || !strings.Contains(strings.ToLower(got), want) {
			t.Errorf("%s: %s, %v", queries[i], got, err)
		}
	}
}

// TestLockingMergeOverPartialIndex: a row that a locking read has waited for may
// belong to the index no longer, whose condition the read left to it.
func TestLockingMergeOverPartialIndex(t *testing.T) {
	_, dsn := startServer(t)
	a, b := dial(t, dsn), dial(t, dsn)
	a.exec("CREATE TABLE jobs (id INT PRIMARY KEY, b TINYINT NOT NULL, due INT NOT NULL, state VARCHAR(8), KEY open (b, due) WHERE state = 'open')")
	a.exec("INSERT INTO jobs VALUES (1,0,1,'open'), (2,1,2,'open'), (3,2,3,'open'), (4,3,4,'open'), (5,0,5,'done')")
	const next = "SELECT id FROM jobs FORCE INDEX (open) WHERE state = 'open' AND b IN (0,1,2,3) ORDER BY due LIMIT 1 FOR UPDATE"
	plan, err := a.query("EXPLAIN " + next)
	if err != nil || !strings.Contains(plan, "merge over") {
		t.Fatalf("%v, %s", err, plan)
	}
	a.exec("BEGIN")
	a.rows("1", next)
	p := make(chan string)
	b.exec("BEGIN")
	go func() {
		got, err := b.query(next)
		p <- fmt.Sprint(got, err)
	}()
	eventually(t, func() bool {
		got, err := a.query("SELECT COUNT(*) FROM performance_schema.data_lock_waits")
		return err == nil && got == "1"
	})
	a.exec("UPDATE jobs SET state = 'done' WHERE id = 1")
	a.exec("COMMIT")
	if got := <-p; got != "2<nil>" {
		t.Errorf("the next job is %s", got)
	}
}

// TestDeleteLimitLocks: DELETE with LIMIT locks no more rows than it removes,
// also where cascades lead back to its table and rows that went so do not count.
func TestDeleteLimitLocks(t *testing.T) {
	_, dsn := startServer(t)
	a, b := dial(t, dsn), dial(t, dsn)
	a.exec(`CREATE TABLE tree (id INT PRIMARY KEY, p INT, k INT, pad VARCHAR(50), b INT AS (id % 4) STORED NOT NULL, KEY by_k (k), KEY spread (b, k),
		FOREIGN KEY (p) REFERENCES tree (id) ON DELETE CASCADE)`)
	a.exec("SET SESSION cte_max_recursion_depth = 10000")
	a.exec("INSERT INTO tree (id, p, k, pad) WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r WHERE i < 1000) SELECT i, IF(i BETWEEN 402 AND 410, 401, NULL), -i, 'x' FROM r")
	a.exec("ANALYZE TABLE tree")
	a.exec("SET SESSION innodb_lock_wait_timeout = 1")
	b.exec("SET SESSION innodb_lock_wait_timeout = 1")
	for _, c := range []struct {
		query      string
		rows, gone int64
		locks      string
	}{
		{"DELETE FROM tree ORDER BY id LIMIT 1", 1, 1, "1"},
		{"DELETE FROM tree LIMIT 3", 3, 3, "3"},
		{"DELETE FROM tree LIMIT 0", 0, 0, "0"},
		{"DELETE FROM tree ORDER BY pad LIMIT 0", 0, 0, "0"},
		{"DELETE FROM tree ORDER BY id DESC LIMIT 300", 300, 300, "300"},
		{"DELETE FROM tree ORDER BY k LIMIT 2", 2, 2, "2"},
		{"DELETE FROM tree FORCE INDEX (spread) ORDER BY k LIMIT 2", 2, 2, "2"},
		{"DELETE FROM tree WHERE id IN (5, 6, 7, 8) ORDER BY id LIMIT 2", 2, 2, "2"},
		{"DELETE FROM tree WHERE id >= 30 ORDER BY id LIMIT 2", 2, 2, "2"},
		{"DELETE FROM tree WHERE pad = 'x' AND id > 0 LIMIT 2", 2, 2, "2"},
		// The cascade removes nine of the first rows: nine others follow.
		{"DELETE FROM tree WHERE id >= 400 ORDER BY id LIMIT 12", 12, 21, "21"},
		{"DELETE FROM tree WHERE id >= 401 ORDER BY id LIMIT 1", 1, 10, "10"},
		{"DELETE FROM tree WHERE id IN (SELECT 401 UNION SELECT 402) ORDER BY id LIMIT 1", 1, 10, ""},
	} {
		a.exec("BEGIN")
		if n := a.exec(c.query); n != c.rows {
			t.Errorf("%s: %d rows", c.query, n)
		}
		a.rows(fmt.Sprint(1000-c.gone), "SELECT COUNT(*) FROM tree")
		if got, err := a.query("SELECT COUNT(*) FROM performance_schema.data_locks WHERE thread_id=? AND object_name='tree' AND index_name='PRIMARY'", a.id); err != nil || c.locks != "" && got != c.locks {
			t.Errorf("%s: %s rows are locked, %v", c.query, got, err)
		}
		if c.locks != "" {
			if _, err := b.query("UPDATE tree SET pad = 'x' WHERE id = 100"); err != nil {
				t.Errorf("%s: %v", c.query, err)
			}
		}
		a.exec("ROLLBACK")
	}
}

// TestIdleTransaction: a connection that is idle in a transaction is ended, one
// that is idle outside of one, or busy, is not.
func TestIdleTransaction(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	_, dsn := startServer(t)
	a, b, c := dial(t, dsn), dial(t, dsn), dial(t, dsn)
	c.exec("CREATE TABLE acc (id INT PRIMARY KEY, v INT)")
	c.exec("INSERT INTO acc VALUES (1,1)")
	for _, x := range []*client{a, b} {
		x.exec("SET sqlots_idle_transaction_timeout=1")
		x.exec("BEGIN")
	}
	a.exec("UPDATE acc SET v=2 WHERE id=1")
	b.exec("COMMIT")
	a.rows("0", "SELECT SLEEP(1.5)")
	a.rows("2", "SELECT v FROM acc")
	c.exec("UPDATE acc SET v=v+10 WHERE id=1") // waits until the lock is given up
	c.rows("11", "SELECT v FROM acc")
	if _, err := a.query("SELECT 1"); err == nil {
		t.Error("the idle transaction's connection is there")
	}
	b.rows("11", "SELECT v FROM acc")
}

// TestLockViews shows who waits for whom, and the latest deadlock.
func TestLockViews(t *testing.T) {
	_, dsn := startServer(t)
	a, b, c := dial(t, dsn), dial(t, dsn), dial(t, dsn)
	c.exec("CREATE TABLE acc (id INT, s VARCHAR(10), v INT, PRIMARY KEY (id), UNIQUE KEY by_v (v))")
	c.exec("INSERT INTO acc VALUES (1,'a',10),(2,'b',20),(3,'c',30)")
	a.exec("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
	a.exec("BEGIN")
	a.exec("UPDATE acc SET v=v+1 WHERE id IN (1,2)")
	a.rows("c", "SELECT s FROM acc WHERE id=3 FOR SHARE")
	p := b.start(c, "UPDATE acc SET s='x' WHERE id=2") // in autocommit
	eventually(t, func() bool {
		n, err := c.query("SELECT COUNT(*) FROM performance_schema.data_lock_waits")
		return err == nil && n == "1"
	})
	c.rows("by_v,X,REC_NOT_GAP,GRANTED,11|by_v,X,REC_NOT_GAP,GRANTED,21|PRIMARY,X,REC_NOT_GAP,GRANTED,1|PRIMARY,X,REC_NOT_GAP,GRANTED,2|PRIMARY,S,REC_NOT_GAP,GRANTED,3",
		"SELECT index_name, lock_mode, lock_status, lock_data FROM performance_schema.data_locks WHERE thread_id=? AND object_name='acc' AND object_schema='t' ORDER BY index_name, lock_data", a.id)
	c.rows("PRIMARY,X,REC_NOT_GAP,WAITING,2", "SELECT index_name, lock_mode, lock_status, lock_data FROM performance_schema.data_locks WHERE thread_id=?", b.id)
	c.rows("RUNNING,NULL,1,5,3,2,READ COMMITTED|LOCK WAIT,starting index read,0,0,0,0,REPEATABLE READ",
		"SELECT trx_state, trx_operation_state, trx_tables_locked, trx_lock_structs, trx_rows_locked, trx_rows_modified, trx_isolation_level FROM information_schema.INNODB_TRX ORDER BY trx_id")
	c.rows("1", `SELECT COUNT(*) FROM performance_schema.data_lock_waits w JOIN information_schema.INNODB_TRX r ON r.trx_id = w.requesting_engine_transaction_id AND r.trx_requested_lock_id = w.requesting_engine_lock_id
		JOIN information_schema.INNODB_TRX b ON b.trx_id = w.blocking_engine_transaction_id JOIN performance_schema.data_locks l ON l.engine_lock_id = w.blocking_engine_lock_id AND l.lock_status = 'GRANTED'
		WHERE r.trx_mysql_thread_id = ? AND b.trx_mysql_thread_id = ? AND r.trx_wait_started <= NOW()`, b.id, a.id)
	c.rows("`t`.`acc`,PRIMARY,UPDATE acc SET s='x' WHERE id=2,X,REC_NOT_GAP,NULL,2", "SELECT locked_table, locked_index, waiting_query, waiting_lock_mode, blocking_query, blocking_trx_rows_modified FROM sys.innodb_lock_waits WHERE waiting_pid=? AND blocking_pid=?", b.id, a.id)
	kill, err := c.query("SELECT sql_kill_blocking_connection FROM sys.innodb_lock_waits")
	if err != nil {
		t.Fatal(err)
	}
	c.exec(fmt.Sprintf("KILL QUERY %d", b.id))
	p.fails(1317)
	p = b.start(c, "UPDATE acc SET s='x' WHERE id=2")
	c.exec(kill)
	p.ok()
	c.rows("1,10|2,20|3,30", "SELECT id, v FROM acc")

	a = dial(t, dsn)
	a.exec("BEGIN")
	b.exec("BEGIN")
	a.exec("UPDATE acc SET v=v+1 WHERE id=1")
	b.exec("UPDATE acc SET v=v+1 WHERE id=2")
	p = a.start(c, "UPDATE acc SET v=v+5 WHERE id=2")
	_, err = b.query("UPDATE acc SET v=v+5 WHERE id=1")
	if perr := p.wait(); errorNumber(err) != 1213 && errorNumber(perr) != 1213 {
		t.Fatalf("no deadlock: %v, %v", err, perr)
	}
	status, err := c.query("SHOW ENGINE INNODB STATUS")
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{"LATEST DETECTED DEADLOCK", "index PRIMARY of table `t`.`acc` lock_mode X,REC_NOT_GAP key 1", "key 2", "WE ROLL BACK TRANSACTION", "1 open transactions", "ACTIVE 0 sec"} {
		if !strings.Contains(status, want) {
			t.Errorf("the status lacks %q:\n%s", want, status)
		}
	}
}
