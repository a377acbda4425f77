package crash

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/internal/histcheck"
	"github.com/sqlots/sqlots/internal/testflag"
)

var (
	isoTime  = flag.Duration("isolation.time", 0, "how long TestIsolation runs; 0 for as long as the run is")
	isoKill  = flag.Duration("isolation.kill", 4*time.Second, "how often TestIsolation kills the server, on average")
	isoConns = flag.Int("isolation.conns", 20, "connections of TestIsolation")
)

// level is an isolation level.
type level string

const (
	readCommitted  level = "READ COMMITTED"
	repeatableRead level = "REPEATABLE READ"
	serializable   level = "SERIALIZABLE"
)

// anyLevel is REPEATABLE READ in one half.
func anyLevel(rng *rand.Rand) level {
	return []level{repeatableRead, repeatableRead, readCommitted, serializable}[rng.IntN(4)]
}

// isoRun is the whole test; an epoch is the time from one start of the server to
// its end by SIGKILL.
type isoRun struct {
	seed  uint64
	t     *testing.T
	rng   *rand.Rand
	epoch int
	zero  time.Time
	last  atomic.Int64 // element, value or id that was used last
	// counts of what was done, for the report.
	ops, commits, aborts, unknowns, reads, kills, cancelled atomic.Int64
	schemaChanges                                           atomic.Int64
	killed                                                  atomic.Bool
	addr                                                    string
	ids                                                     sync.Map // connection id → true, to send KILL QUERY to
}

// now is the time since the start of the test.
func (r *isoRun) now() time.Duration { return time.Since(r.zero) }

func (r *isoRun) fresh() int64 { return r.last.Add(1) }

// workload is one of the kinds of load. Its methods are called in this order:
// once create, then for each epoch begin, work by several connections at once,
// and, with the server started again, end.
type workload interface {
	create(db *sql.DB)
	begin(db *sql.DB)
	// work is called again and again until it returns an error, which is not
	// one of a conflict.
	work(c *isoConn) error
	end(db *sql.DB)
	// share is the workload's part of the connections, in twentieths.
	share() int
}

// isoConn is a connection that loses nothing between statements.
type isoConn struct {
	*isoRun
	name string
	rng  *rand.Rand
	c    *sql.Conn
	// prepared: statements with arguments, which the driver prepares.
	prepared bool
}

// exec runs a statement; args are put into it unless they are to be prepared.
func (c *isoConn) exec(query string, args ...any) (sql.Result, error) {
	c.ops.Add(1)
	query, args = c.form(query, args)
	return c.c.ExecContext(context.Background(), query, args...)
}

// form puts the arguments into the text.
func (c *isoConn) form(query string, args []any) (string, []any) {
	if c.prepared {
		return query, args
	}
	for _, a := range args {
		text := fmt.Sprint(a)
		if s, ok := a.(string); ok {
			text = "'" + s + "'"
		}
		query = strings.Replace(query, "?", text, 1)
	}
	return query, nil
}

// query calls fn with each row.
func (c *isoConn) query(fn func(rows *sql.Rows) error, query string, args ...any) error {
	c.ops.Add(1)
	query, args = c.form(query, args)
	rows, err := c.c.QueryContext(context.Background(), query, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			return err
		}
	}
	return rows.Err()
}

// number reads one number.
func (c *isoConn) number(query string, args ...any) (n int64, found bool, err error) {
	err = c.query(func(rows *sql.Rows) error {
		found = true
		return rows.Scan(&n)
	}, query, args...)
	return n, found, err
}

// errRetry ends a transaction that has to be rolled back, and was.
var errRetry = errors.New("rolled back")

// conflict reports errors that concurrency, KILL QUERY and changes of the schema
// explain.
func conflict(err error) bool {
	var reply *mysql.MySQLError
	if !errors.As(err, &reply) {
		return false
	}
	switch reply.Number {
	case 1205, 1213, 1317, 1412, 3572:
		return true
	}
	return false
}

// gone reports that the connection is, so that the outcome of what ran is not
// known.
func gone(err error) bool {
	return errors.Is(err, driver.ErrBadConn) || errors.Is(err, mysql.ErrInvalidConn) || !errors.As(err, new(*mysql.MySQLError))
}

// txn runs fn in a transaction of a level and returns how it ended. An error is one
// that nothing explains, or that of a connection that is gone.
func (c *isoConn) txn(l level, fn func() error) (o histcheck.Outcome, ending time.Duration, err error) {
	if _, err := c.exec("SET TRANSACTION ISOLATION LEVEL " + string(l)); err != nil {
		return histcheck.Aborted, 0, err
	}
	if _, err = c.exec("START TRANSACTION"); err == nil {
		err = fn()
	}
	if conflict(err) || errors.Is(err, errRetry) || err == nil && c.rng.IntN(20) == 0 {
		c.aborts.Add(1)
		_, err = c.exec("ROLLBACK")
		if conflict(err) {
			_, err = c.exec("ROLLBACK")
		}
		return histcheck.Aborted, 0, err
	}
	if err != nil {
		return histcheck.Aborted, 0, err
	}
	ending = c.now()
	_, err = c.exec("COMMIT")
	switch {
	case err == nil:
		c.commits.Add(1)
		return histcheck.Committed, ending, nil
	case conflict(err): // killed
		_, rerr := c.exec("ROLLBACK")
		return histcheck.Unknown, ending, rerr
	case gone(err):
		c.unknowns.Add(1)
		return histcheck.Unknown, ending, err
	}
	return histcheck.Unknown, ending, err
}

// TestIsolation looks for anomalies that the isolation levels forbid, in the
// manner of Jepsen's tests, while the server is killed again and again.
func TestIsolation(t *testing.T) {
	testflag.Normal(t)
	length := *isoTime
	if length == 0 {
		length = testflag.Pick(time.Second, time.Second, 20*time.Second)
	}
	seed := testflag.AnySeed(t)
	r := &isoRun{t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 2)), zero: time.Now()}
	loads := []workload{newListLoad(r), newBankLoad(r), newRegisterLoad(r), newSetLoad(r)}
	dir := t.TempDir()
	defer r.report()
	first := true
	for r.now() < length && !t.Failed() {
		c := childserver.Start(t, dir)
		db := connect(t, c.Addr)
		if first {
			r.must(db, "CREATE DATABASE iso")
			for _, w := range loads {
				w.create(db)
			}
			first = false
		} else {
			r.verify(db, loads)
		}
		if t.Failed() {
			break
		}
		for _, w := range loads {
			w.begin(db)
		}
		r.runEpoch(c, loads)
		db.Close()
		r.epoch++
	}
	if !t.Failed() {
		c := childserver.Start(t, dir)
		db := connect(t, c.Addr)
		r.verify(db, loads)
		db.Close()
		c.Kill()
	}
	if r.commits.Load() < 100 {
		t.Error("hardly anything was done: that tests nothing")
	}
}

// report says what was done.
func (r *isoRun) report() {
	r.t.Logf("%v: %d kills, %d statements, %d transactions committed, %d rolled back, %d unanswered, %d reads checked, %d statements killed, %d changes of the schema",
		r.now().Round(time.Second), r.kills.Load(), r.ops.Load(), r.commits.Load(), r.aborts.Load(), r.unknowns.Load(), r.reads.Load(), r.cancelled.Load(), r.schemaChanges.Load())
}

// verify looks at what a crash left.
func (r *isoRun) verify(db *sql.DB, loads []workload) {
	for _, w := range loads {
		w.end(db)
	}
	r.checkTables(db)
}

// must runs a statement outside of the load.
func (r *isoRun) must(db *sql.DB, query string, args ...any) {
	r.t.Helper()
	if _, err := db.Exec(query, args...); err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
}

// all reads the rows of a query outside of the load.
func (r *isoRun) all(db *sql.DB, fn func(rows *sql.Rows) error, query string, args ...any) {
	r.t.Helper()
	rows, err := db.Query(query, args...)
	if err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := fn(rows); err != nil {
			r.t.Fatalf("%s: %v", query, err)
		}
	}
	if err := rows.Err(); err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
}

// checkTables compares rows and index entries.
func (r *isoRun) checkTables(db *sql.DB) {
	var names []string
	r.all(db, func(rows *sql.Rows) error {
		var n string
		err := rows.Scan(&n)
		names = append(names, "iso."+n)
		return err
	}, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'iso'")
	if len(names) < 7 {
		r.t.Errorf("tables are missing: %v", names)
	}
	r.all(db, func(rows *sql.Rows) error {
		var table, op, kind, text string
		err := rows.Scan(&table, &op, &kind, &text)
		if kind == "error" || kind == "status" && text != "OK" {
			r.t.Errorf("%s: %s", table, text)
		}
		return err
	}, "CHECK TABLE "+strings.Join(names, ", ")+" EXTENDED")
}

// runEpoch runs all loads until the server is killed.
func (r *isoRun) runEpoch(c *childserver.Child, loads []workload) {
	r.killed.Store(false)
	r.addr = c.Addr
	length := *isoKill/2 + time.Duration(r.rng.Int64N(int64(*isoKill)))
	timer := time.AfterFunc(length, func() {
		r.killed.Store(true)
		c.Signal()
	})
	defer timer.Stop()
	db := connect(r.t, c.Addr)
	defer db.Close()
	var wg sync.WaitGroup
	n := 0
	for _, w := range loads {
		for range max(1, w.share()**isoConns/20) {
			n++
			name, rng := fmt.Sprintf("e%d-c%d", r.epoch, n), rand.New(rand.NewPCG(r.seed, uint64(r.epoch)<<16+uint64(n)))
			wg.Go(func() { r.connection(db, w, name, rng) })
		}
	}
	chaos := rand.New(rand.NewPCG(r.seed, uint64(r.epoch)<<16))
	wg.Go(func() { r.killQueries(db, chaos) })
	if r.epoch%3 == 1 {
		wg.Go(func() { r.changeSchema(db) })
	}
	wg.Wait()
	c.Kill()
	r.kills.Add(1)
	r.ids.Clear()
	if r.t.Failed() {
		r.t.Logf("the server's log:\n%s", c.Log)
	}
}

func (r *isoRun) connection(db *sql.DB, w workload, name string, rng *rand.Rand) {
	conn, err := db.Conn(context.Background())
	if err != nil {
		r.explain(name, err)
		return
	}
	defer conn.Close()
	c := &isoConn{isoRun: r, name: name, rng: rng, c: conn, prepared: rng.IntN(2) == 0}
	id, _, err := c.number("SELECT CONNECTION_ID()")
	if err == nil {
		r.ids.Store(id, true)
		_, err = c.exec("SET innodb_lock_wait_timeout = 2")
	}
	for err == nil || conflict(err) {
		err = w.work(c)
	}
	r.explain(name, err)
}

// explain fails the test for an error that the kill does not explain.
func (r *isoRun) explain(name string, err error) {
	if !r.killed.Load() {
		r.t.Errorf("%s: %v", name, err)
		r.killed.Store(true)
	}
}

// killQueries interrupts statements now and then.
func (r *isoRun) killQueries(db *sql.DB, rng *rand.Rand) {
	for !r.killed.Load() {
		time.Sleep(time.Duration(5+rng.IntN(100)) * time.Millisecond)
		var ids []int64
		r.ids.Range(func(id, _ any) bool {
			ids = append(ids, id.(int64))
			return true
		})
		if len(ids) == 0 {
			continue
		}
		if _, err := db.Exec(fmt.Sprintf("KILL QUERY %d", ids[rng.IntN(len(ids))])); err == nil {
			r.cancelled.Add(1)
		}
	}
}

// changeSchema makes and drops indexes of the tables under load. Its errors are
// not looked at.
func (r *isoRun) changeSchema(db *sql.DB) {
	conn, err := db.Conn(context.Background())
	if err != nil {
		return
	}
	defer conn.Close()
	_, _ = conn.ExecContext(context.Background(), "SET lock_wait_timeout = 1")
	for !r.killed.Load() {
		for _, q := range []string{"CREATE INDEX extra ON iso.acct (balance, id)", "DROP INDEX extra ON iso.acct",
			"CREATE UNIQUE INDEX extra ON iso.elem (val, n)", "DROP INDEX extra ON iso.elem",
			"ALTER TABLE iso.txt ADD COLUMN more INT DEFAULT 5", "ALTER TABLE iso.txt DROP COLUMN more"} {
			if _, err := conn.ExecContext(context.Background(), q); err == nil {
				r.schemaChanges.Add(1)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
}
