package server_test

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

// waits starts a statement that has to wait for a lock.
func (c *client) waits(other *client, query string) *pending {
	c.t.Helper()
	p := c.start(other, query)
	eventually(c.t, func() bool {
		n, err := other.query("SELECT COUNT(*) FROM information_schema.innodb_trx WHERE trx_mysql_thread_id = ? AND trx_state = 'LOCK WAIT'", c.id)
		if err == nil && n == "0" && len(p.done) > 0 {
			c.t.Fatalf("%s did not wait: %s, %v", query, p.rows, <-p.done)
		}
		return err == nil && n == "1"
	})
	return p
}

// TestSerializable has the anomalies that the level forbids, by their names in Adya's
// thesis and in Hermitage, and what InnoDB does.
func TestSerializable(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	_, dsn := startServer(t)
	tests := map[string]func(a, b, c *client){
		"G0 write cycles": func(a, b, c *client) {
			a.exec("UPDATE acc SET v = 11 WHERE id = 1")
			p := b.waits(c, "UPDATE acc SET v = 12 WHERE id = 1")
			a.exec("UPDATE acc SET v = 21 WHERE id = 2")
			a.exec("COMMIT")
			p.ok()
			b.exec("UPDATE acc SET v = 22 WHERE id = 2")
			b.exec("COMMIT")
			c.rows("12|22", "SELECT v FROM acc ORDER BY id")
		},
		"G1a aborted reads": func(a, b, c *client) {
			a.exec("UPDATE acc SET v = 101 WHERE id = 1")
			p := b.waits(c, "SELECT v FROM acc ORDER BY id")
			a.exec("ROLLBACK")
			p.ok()
			if p.rows != "10|20" {
				t.Error(p.rows)
			}
		},
		"G1b intermediate reads": func(a, b, c *client) {
			a.exec("UPDATE acc SET v = 101 WHERE id = 1")
			p := b.waits(c, "SELECT v FROM acc WHERE id = 1")
			a.exec("UPDATE acc SET v = 11 WHERE id = 1")
			a.exec("COMMIT")
			p.ok()
			if p.rows != "11" {
				t.Error(p.rows)
			}
		},
		"G1c circular information flow": func(a, b, c *client) {
			a.exec("UPDATE acc SET v = 11 WHERE id = 1")
			b.exec("UPDATE acc SET v = 22 WHERE id = 2")
			p := a.waits(c, "SELECT v FROM acc WHERE id = 2")
			_, err := b.query("SELECT v FROM acc WHERE id = 1")
			if first := p.wait(); (errorNumber(first) == 1213) == (errorNumber(err) == 1213) {
				t.Errorf("%v, %v", first, err)
			}
		},
		"OTV observed transaction vanishes": func(a, b, c *client) {
			a.exec("UPDATE acc SET v = 11 WHERE id = 1")
			a.exec("UPDATE acc SET v = 19 WHERE id = 2")
			p := b.waits(c, "UPDATE acc SET v = 12 WHERE id = 1")
			a.exec("COMMIT")
			p.ok()
			c.exec("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE")
			c.exec("BEGIN")
			q := c.waits(a, "SELECT v FROM acc WHERE id = 1")
			b.exec("UPDATE acc SET v = 18 WHERE id = 2")
			b.exec("COMMIT")
			q.ok()
			c.rows("12|18", "SELECT v FROM acc ORDER BY id")
		},
		"PMP predicate many preceders": func(a, b, c *client) {
			a.rows("", "SELECT id FROM acc WHERE v = 30")
			p := b.waits(c, "INSERT INTO acc VALUES (3, 30)")
			a.rows("", "SELECT id FROM acc WHERE v % 3 = 0")
			a.exec("COMMIT")
			p.ok()
		},
		"PMP with a write": func(a, b, c *client) {
			a.exec("UPDATE acc SET v = v + 10")
			p := b.waits(c, "DELETE FROM acc WHERE v = 20")
			a.exec("COMMIT")
			p.ok()
			b.rows("2,30", "SELECT id, v FROM acc")
		},
		"P4 lost update": func(a, b, c *client) {
			a.rows("10", "SELECT v FROM acc WHERE id = 1")
			b.rows("10", "SELECT v FROM acc WHERE id = 1")
			p := a.waits(c, "UPDATE acc SET v = 11 WHERE id = 1")
			b.fails(1213, "UPDATE acc SET v = 11 WHERE id = 1")
			p.ok()
		},
		"G-single read skew": func(a, b, c *client) {
			a.rows("10", "SELECT v FROM acc WHERE id = 1")
			b.rows("10", "SELECT v FROM acc WHERE id = 1")
			b.rows("20", "SELECT v FROM acc WHERE id = 2")
			p := b.waits(c, "UPDATE acc SET v = 12 WHERE id = 1")
			a.rows("20", "SELECT v FROM acc WHERE id = 2")
			a.exec("COMMIT")
			p.ok()
		},
		"G2-item write skew": func(a, b, c *client) {
			a.rows("10|20", "SELECT v FROM acc WHERE id IN (1, 2)")
			b.rows("10|20", "SELECT v FROM acc WHERE id IN (1, 2)")
			p := a.waits(c, "UPDATE acc SET v = 11 WHERE id = 1")
			b.fails(1213, "UPDATE acc SET v = 21 WHERE id = 2")
			p.ok()
		},
		"G2 anti-dependency cycles": func(a, b, c *client) {
			a.rows("", "SELECT id FROM acc WHERE v % 3 = 0")
			b.rows("", "SELECT id FROM acc WHERE v % 3 = 0")
			p := a.waits(c, "INSERT INTO acc VALUES (3, 30)")
			b.fails(1213, "INSERT INTO acc VALUES (4, 42)")
			p.ok()
		},
		"a row that is absent": func(a, b, c *client) {
			a.rows("", "SELECT v FROM acc WHERE id = 7")
			b.exec("INSERT INTO acc VALUES (8, 1)")
			p := b.waits(c, "INSERT INTO acc VALUES (7, 1)")
			a.exec("COMMIT")
			p.ok()
		},
		"the largest": func(a, b, c *client) {
			a.rows("2", "SELECT MAX(id) FROM acc")
			p := b.waits(c, "INSERT INTO acc VALUES (9, 1)")
			a.exec("COMMIT")
			p.ok()
		},
		"what a change has looked for": func(a, b, c *client) {
			a.exec("UPDATE acc SET v = 0 WHERE id > 5")
			a.exec("DELETE FROM acc WHERE v = 77")
			p := b.waits(c, "INSERT INTO acc VALUES (9, 77)")
			a.exec("COMMIT")
			p.ok()
		},
		"autocommit reads do not wait": func(a, b, c *client) {
			a.exec("UPDATE acc SET v = 11 WHERE id = 1")
			c.exec("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE")
			c.rows("10|20", "SELECT v FROM acc ORDER BY id")
		},
		"kill and timeout": func(a, b, c *client) {
			a.rows("10|20", "SELECT v FROM acc")
			b.exec("SET innodb_lock_wait_timeout = 1")
			b.fails(1205, "INSERT INTO acc VALUES (9, 1)")
			b.rows("0", "SELECT COUNT(*) FROM acc WHERE id = 9")
			b.exec("SET innodb_lock_wait_timeout = 50")
			p := b.waits(c, "INSERT INTO acc VALUES (9, 1)")
			c.exec(fmt.Sprintf("KILL QUERY %d", b.id))
			p.fails(1317)
		},
		"read only": func(a, b, c *client) {
			a.exec("COMMIT")
			a.exec("SET TRANSACTION ISOLATION LEVEL SERIALIZABLE, READ ONLY")
			a.exec("BEGIN")
			a.rows("10|20", "SELECT v FROM acc")
			p := b.waits(c, "INSERT INTO acc VALUES (9, 1)")
			a.exec("COMMIT")
			p.ok()
		},
		"locks are shown": func(a, b, c *client) {
			a.rows("10", "SELECT v FROM acc WHERE id < 2")
			p := b.waits(c, "INSERT INTO acc VALUES (0, 1)")
			c.rows(fmt.Sprintf("SERIALIZABLE,%d,1", b.id), "SELECT w.trx_isolation_level, w.trx_mysql_thread_id, COUNT(*) FROM performance_schema.data_lock_waits l JOIN information_schema.innodb_trx w ON w.trx_id = l.requesting_engine_transaction_id GROUP BY 1, 2")
			c.rows("acc,PRIMARY,S,GRANTED,infimum pseudo-record to 2", "SELECT object_name, index_name, lock_mode, lock_status, lock_data FROM performance_schema.data_locks WHERE lock_status = 'GRANTED' AND lock_data LIKE '%to%'")
			c.rows("acc,PRIMARY,X,INSERT_INTENTION,WAITING,0", "SELECT object_name, index_name, lock_mode, lock_status, lock_data FROM performance_schema.data_locks WHERE lock_status = 'WAITING'")
			a.exec("COMMIT")
			p.ok()
		},
	}
	for _, name := range slices.Sorted(maps.Keys(tests)) {
		t.Run(name, func(t *testing.T) {
			a, b, c := dial(t, dsn), dial(t, dsn), dial(t, dsn)
			c.exec("DROP TABLE IF EXISTS acc")
			c.exec("CREATE TABLE acc (id INT PRIMARY KEY, v INT NOT NULL)")
			c.exec("INSERT INTO acc VALUES (1, 10), (2, 20)")
			for _, x := range []*client{a, b} {
				x.exec("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE")
				x.rows("SERIALIZABLE", "SELECT @@transaction_isolation")
				x.exec("BEGIN")
			}
			tests[name](a, b, c)
			a.close()
			b.close()
			c.close()
		})
	}
}

// TestGapLocks: what a locking read at REPEATABLE READ has found or not found stays,
// by each way to find it.
func TestGapLocks(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	_, dsn := startServer(t)
	a, b, c := dial(t, dsn), dial(t, dsn), dial(t, dsn)
	a.exec("CREATE TABLE g (id INT PRIMARY KEY, k INT, u INT UNIQUE, w INT, KEY kk (k), KEY kw (w, k))")
	for i := range 200 {
		a.exec("INSERT INTO g VALUES (?, ?, ?, ?)", 10*i, 10*(i%50), 10*i, i%4)
	}
	b.exec("SET innodb_lock_wait_timeout = 1")
	tests := []struct{ query, blocked, free string }{
		{"SELECT id FROM g WHERE id = 5 FOR UPDATE", "INSERT INTO g VALUES (5, 0, 5, 0)", "INSERT INTO g VALUES (6, 0, 6, 0)"},
		{"SELECT id FROM g WHERE id BETWEEN 1 AND 9 FOR UPDATE", "INSERT INTO g VALUES (5, 0, 5, 0)", "INSERT INTO g VALUES (11, 0, 11, 0)"},
		{"SELECT id FROM g WHERE k BETWEEN 1 AND 9 FOR SHARE", "INSERT INTO g VALUES (1, 5, 1, 0)", "INSERT INTO g VALUES (1, 11, 1, 0)"},
		{"SELECT id FROM g WHERE k = 5 FOR UPDATE", "UPDATE g SET k = 5 WHERE id = 1990", "UPDATE g SET k = 6 WHERE id = 1990"},
		{"SELECT id FROM g WHERE u = 5 FOR UPDATE", "INSERT INTO g VALUES (1, 0, 5, 0)", "INSERT INTO g VALUES (2, 0, 6, 0)"},
		{"SELECT id FROM g WHERE u IN (5, 7) FOR UPDATE", "INSERT INTO g VALUES (1, 0, 7, 0)", "INSERT INTO g VALUES (2, 0, 6, 0)"},
		{"SELECT id FROM g WHERE k IN (5, 7) FOR UPDATE", "INSERT INTO g VALUES (1, 7, 5, 0)", "INSERT INTO g VALUES (2, 6, 6, 0)"},
		{"SELECT /*+ INDEX_MERGE(g kk, u) */ id FROM g WHERE k = 5 OR u = 5 FOR UPDATE", "INSERT INTO g VALUES (1, 0, 5, 0)", "INSERT INTO g VALUES (2, 6, 6, 0)"},
		{"SELECT /*+ SKIP_SCAN(g kw) */ id FROM g FORCE INDEX (kw) WHERE k = 5 FOR UPDATE", "INSERT INTO g VALUES (1, 5, 5, 2)", "INSERT INTO g VALUES (1, 115, 6, 1)"},
		{"SELECT id FROM g IGNORE INDEX (kk, kw) WHERE k = 5 FOR UPDATE", "INSERT INTO g VALUES (1, 0, 7, 0)", "SELECT 1"},
		{"SELECT x.id FROM g x JOIN g y ON y.k = x.id + 5 WHERE x.id = 0 FOR UPDATE", "INSERT INTO g VALUES (1, 5, 7, 0)", "INSERT INTO g VALUES (1, 4, 6, 0)"},
		// With a LIMIT only what was read.
		{"SELECT id FROM g WHERE id > 100 ORDER BY id LIMIT 1 FOR UPDATE", "INSERT INTO g VALUES (105, 0, 1, 0)", "INSERT INTO g VALUES (111, 0, 1, 0)"},
		{"SELECT id FROM g WHERE id > 100 ORDER BY id DESC LIMIT 1 FOR UPDATE", "INSERT INTO g VALUES (1999, 0, 1, 0)", "INSERT INTO g VALUES (1981, 0, 1, 0)"},
		{"SELECT id FROM g WHERE k > 100 ORDER BY k LIMIT 1 FOR UPDATE", "INSERT INTO g VALUES (1, 105, 1, 0)", "INSERT INTO g VALUES (1, 115, 1, 0)"},
		{"SELECT id FROM g WHERE w IN (1, 2) ORDER BY k LIMIT 1 FOR UPDATE", "INSERT INTO g VALUES (1, -1, 1, 2)", "INSERT INTO g VALUES (1, 300, 1, 1)"},
	}
	for _, level := range []string{"REPEATABLE READ", "SERIALIZABLE"} {
		a.exec("SET SESSION TRANSACTION ISOLATION LEVEL " + level)
		for _, x := range tests {
			for _, ok := range []bool{false, true} {
				a.exec("BEGIN")
				if _, err := a.query(x.query); err != nil {
					t.Fatalf("%s: %v", x.query, err)
				}
				b.exec("BEGIN")
				if ok {
					if _, err := b.query(x.free); err != nil {
						t.Errorf("%s: %s: %s: %v", level, x.query, x.free, err)
					}
				} else {
					p := b.start(c, x.blocked)
					select {
					case err := <-p.done:
						if errorNumber(err) != 1205 {
							t.Errorf("%s: %s: %s: %v", level, x.query, x.blocked, err)
						}
					case <-time.After(50 * time.Millisecond):
						c.exec(fmt.Sprintf("KILL QUERY %d", b.id))
						p.fails(1317)
					}
				}
				b.exec("ROLLBACK")
				a.exec("ROLLBACK")
			}
		}
	}
	// Not at READ COMMITTED, and not with SKIP LOCKED.
	for _, x := range tests[1:] {
		a.exec("SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED")
		a.exec("BEGIN")
		if _, err := a.query(x.query); err != nil {
			t.Fatal(err)
		}
		b.exec("BEGIN")
		if _, err := b.query(x.blocked); err != nil {
			t.Errorf("%s: %s: %v", x.query, x.blocked, err)
		}
		b.exec("ROLLBACK")
		a.exec("ROLLBACK")
	}
	a.exec("SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ")
	a.exec("BEGIN")
	a.rows("", "SELECT id FROM g WHERE k = 5 FOR UPDATE SKIP LOCKED")
	b.exec("INSERT INTO g VALUES (1, 5, 1, 1)")
	a.rows("1", "SELECT id FROM g WHERE k = 5 FOR UPDATE SKIP LOCKED")
	a.exec("COMMIT")
	b.exec("BEGIN")
	b.exec("INSERT INTO g VALUES (2, 5, 2, 1)")
	a.exec("BEGIN")
	a.fails(3572, "SELECT id FROM g WHERE k BETWEEN 2 AND 7 FOR UPDATE NOWAIT")
	b.exec("ROLLBACK")
	a.rows("1", "SELECT id FROM g WHERE k BETWEEN 2 AND 7 FOR UPDATE NOWAIT")
	a.exec("COMMIT")
}

// ran is a statement of a transaction with its answer.
type ran struct{ query, answer string }

// TestSerialOrder runs random SERIALIZABLE transactions side by side, and then one
// after the other in the order in which they were about to commit: each statement has
// to give the same answer.
func TestSerialOrder(t *testing.T) {
	testflag.Normal(t)
	_, dsn := startServer(t)
	const workers = 6
	rounds := testflag.Rounds(30, 100, 2000)
	setUp := func(c *client) {
		c.exec("DROP TABLE IF EXISTS s, r")
		c.exec(`CREATE TABLE s (id INT PRIMARY KEY, a INT, b INT, u INT, w VARCHAR(20), UNIQUE KEY uu (u), KEY ka (a), KEY kb (b, a), SEARCH INDEX f (w TEXT, b))`)
		c.exec("CREATE TABLE r (id INT PRIMARY KEY AUTO_INCREMENT, n BIGINT)")
		for i := range 30 {
			c.exec("INSERT INTO s VALUES (?, ?, ?, ?, ?)", 2*i, i%7, i%4, i, []string{"red", "green", "blue"}[i%3])
		}
	}
	c := dial(t, dsn)
	setUp(c)
	var ticket atomic.Int64
	var mu sync.Mutex
	type done struct {
		at   int64
		list []ran
	}
	var all []done
	var deadlocks atomic.Int64
	var wg sync.WaitGroup
	for w := range workers {
		x := dial(t, dsn)
		x.exec("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE")
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(w), testflag.Seed(5)))
			for n := 0; n < rounds; {
				list, err := randomStatements(x, rng, w)
				if errorNumber(err) == 1213 {
					deadlocks.Add(1)
					continue
				}
				if err != nil {
					t.Error(err)
					return
				}
				at := ticket.Add(1)
				if _, err := x.c.ExecContext(context.Background(), "COMMIT"); err != nil {
					t.Error(err)
					return
				}
				n++
				mu.Lock()
				all = append(all, done{at, list})
				mu.Unlock()
			}
		}()
	}
	wg.Wait()
	t.Logf("%d transactions, %d deadlocks", len(all), deadlocks.Load())
	sort.Slice(all, func(i, j int) bool { return all[i].at < all[j].at })
	setUp(c)
	for _, d := range all {
		c.exec("BEGIN")
		for _, x := range d.list {
			got, err := c.query(x.query)
			if got = answerOf(got, err); got != x.answer {
				t.Fatalf("transaction %d: %s:\n was %s\n is  %s\n%v", d.at, x.query, x.answer, got, d.list)
			}
		}
		c.exec("COMMIT")
	}
}

// answerOf is an answer without the order of its rows.
func answerOf(rows string, err error) string {
	if err != nil {
		return fmt.Sprint("error ", errorNumber(err))
	}
	list := strings.Split(rows, "|")
	slices.Sort(list)
	return strings.Join(list, "|")
}

// randomStatements runs a transaction up to its commit.
func randomStatements(c *client, rng *rand.Rand, w int) (list []ran, err error) {
	if _, err := c.query("BEGIN"); err != nil {
		return nil, err
	}
	for range 1 + rng.IntN(4) {
		q := randomStatement(rng, w)
		got, err := c.query(q)
		if n := errorNumber(err); err != nil && n != 1062 {
			_, _ = c.query("ROLLBACK")
			return nil, fmt.Errorf("%s: %w", q, err)
		}
		list = append(list, ran{q, answerOf(got, err)})
	}
	return list, nil
}

func randomStatement(rng *rand.Rand, w int) string {
	n := func(most int) int { return rng.IntN(most) }
	color := []string{"red", "green", "blue", "pink"}[n(4)]
	reads := []string{
		fmt.Sprintf("SELECT * FROM s WHERE id = %d", n(70)),
		fmt.Sprintf("SELECT id, a FROM s WHERE id BETWEEN %d AND %d", n(30), 30+n(30)),
		fmt.Sprintf("SELECT COUNT(*), SUM(b) FROM s WHERE a = %d", n(8)),
		fmt.Sprintf("SELECT a, COUNT(*) FROM s WHERE b = %d GROUP BY a", n(5)),
		fmt.Sprintf("SELECT b, MAX(a) FROM s WHERE b < %d GROUP BY b", n(6)),
		"SELECT MAX(id) FROM s", "SELECT MIN(a) FROM s", "SELECT COUNT(*) FROM s",
		fmt.Sprintf("SELECT id FROM s WHERE u = %d", n(40)),
		fmt.Sprintf("SELECT id FROM s WHERE u IN (%d, %d)", n(40), n(40)),
		fmt.Sprintf("SELECT id, u FROM s WHERE a IN (%d, %d) ORDER BY id", n(8), n(8)),
		fmt.Sprintf("SELECT id FROM s WHERE a > %d ORDER BY a, id LIMIT %d", n(7), 1+n(3)),
		fmt.Sprintf("SELECT id FROM s WHERE id < %d ORDER BY id DESC LIMIT 2", n(60)),
		fmt.Sprintf("SELECT x.id, y.id FROM s x JOIN s y ON y.a = x.b WHERE x.id < %d ORDER BY 1, 2", n(8)),
		fmt.Sprintf("SELECT id FROM s WHERE EXISTS (SELECT 1 FROM s y WHERE y.u = s.id) AND b = %d ORDER BY id", n(4)),
		fmt.Sprintf("SELECT /*+ INDEX_MERGE(s ka, uu) */ id FROM s WHERE a = %d OR u = %d ORDER BY id", n(8), n(40)),
		fmt.Sprintf("SELECT /*+ SKIP_SCAN(s kb) */ id FROM s FORCE INDEX (kb) WHERE a = %d ORDER BY id", n(8)),
		fmt.Sprintf("SELECT id FROM s WHERE MATCH (w) AGAINST ('%s') ORDER BY id", color),
		fmt.Sprintf("SELECT COUNT(*) FROM s FORCE INDEX (f) WHERE b = %d", n(4)),
		fmt.Sprintf("SELECT id FROM s WHERE a = %d ORDER BY id FOR UPDATE", n(8)),
		fmt.Sprintf("SELECT id FROM s WHERE b = %d ORDER BY a, id LIMIT 1 FOR SHARE", n(5)),
		"SELECT COUNT(*), MAX(n) FROM r",
	}
	writes := []string{
		fmt.Sprintf("INSERT INTO s VALUES (%d, %d, %d, %d, '%s')", n(70), n(8), n(5), n(60), color),
		fmt.Sprintf("INSERT IGNORE INTO s VALUES (%d, %d, %d, NULL, '%s')", n(70), n(8), n(5), color),
		fmt.Sprintf("REPLACE INTO s VALUES (%d, %d, %d, %d, '%s')", n(70), n(8), n(5), n(60), color),
		fmt.Sprintf("UPDATE s SET a = %d, w = '%s' WHERE id = %d", n(8), color, n(70)),
		fmt.Sprintf("UPDATE s SET b = b + 1 WHERE a = %d", n(8)),
		fmt.Sprintf("UPDATE s SET a = (a + 1) %% 8 WHERE a = %d ORDER BY id LIMIT 1", n(8)),
		fmt.Sprintf("UPDATE s SET b = (SELECT COUNT(*) FROM r) %% 5 WHERE u = %d", n(40)),
		fmt.Sprintf("DELETE FROM s WHERE id = %d", n(70)),
		fmt.Sprintf("DELETE FROM s WHERE b = %d ORDER BY id LIMIT 1", n(5)),
		fmt.Sprintf("INSERT INTO r (id, n) SELECT %d * 1000000 + %d, COUNT(*) FROM s WHERE a = %d", w+1, n(900000), n(8)),
		fmt.Sprintf("UPDATE s x JOIN s y ON y.id = x.b SET x.a = y.a WHERE x.id = %d", n(70)),
	}
	if rng.IntN(3) == 0 {
		return writes[n(len(writes))]
	}
	return reads[n(len(reads))]
}
