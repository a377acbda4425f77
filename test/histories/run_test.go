package histories

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/histcheck"
	"github.com/sqlots/sqlots/internal/testflag"
)

// plan says what a run does.
type plan struct {
	txns     int
	settings settings
	// expected: findings are counted, and fail nothing.
	expected bool
}

// workload is one of the kinds of load. begin and end are called while no
// connection works.
type workload interface {
	create()
	begin()
	// work runs one transaction. It returns errors that nothing explains.
	work(c *conn) error
	// end returns the check of what was done since begin.
	end() func() []histcheck.Finding
	paths() [][]path
}

// run is a server under load, and what is known of it.
type run struct {
	plan
	t     *testing.T
	seed  uint64
	db    *sql.DB
	rng   *rand.Rand
	zero  time.Time
	conns []*conn
	last  atomic.Int64 // element that was used last
	left  atomic.Int64 // transactions of this epoch
	epoch int
	shown time.Duration // when the progress was shown last
	// counts of what was done, for the report.
	done, statements, rollbacks, reads, killed, schemaChanges atomic.Int64

	broken atomic.Bool // something failed that is no finding

	mu       sync.Mutex
	findings int
}

// now is the time since the start of the run.
func (r *run) now() time.Duration { return time.Since(r.zero) }

// fresh reserves n elements and returns the first.
func (r *run) fresh(n int64) int64 { return r.last.Add(n) - n + 1 }

// play runs a server and a load on it, and returns what was found.
func play(t *testing.T, p plan) *run {
	seed := testflag.AnySeed(t)
	r := &run{plan: p, t: t, seed: seed, rng: rand.New(rand.NewPCG(seed, 1)), zero: time.Now()}
	child := p.settings.start(t)
	db, err := sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/", child.Addr))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	r.db = db
	r.must("CREATE DATABASE histories")
	db.Close()
	if r.db, err = sql.Open("mysql", fmt.Sprintf("root@tcp(%s)/histories", child.Addr)); err != nil {
		t.Fatal(err)
	}
	defer r.db.Close()
	loads := []workload{newRegisters(r), newLists(r)}
	for _, w := range loads {
		w.create()
	}
	r.checkPlans(loads)
	r.connect(loads)
	stop := r.disturb()
	r.epochs(loads)
	stop()
	r.summary()
	if t.Failed() {
		t.Logf("the server's log:\n%s", child.Log)
	}
	return r
}

// epochs runs the load, and checks each part of it while the next one runs.
func (r *run) epochs(loads []workload) {
	var checking sync.WaitGroup
	for r.done.Load() < int64(r.txns) && !r.over() {
		for _, w := range loads {
			w.begin()
		}
		r.left.Store(min(int64(*epochTxns), int64(r.txns)-r.done.Load()))
		r.work()
		var checks []func() []histcheck.Finding
		for _, w := range loads {
			checks = append(checks, w.end())
		}
		checking.Wait()
		checking.Go(func() {
			for _, check := range checks {
				r.report(check()...)
			}
		})
		r.progress()
		r.epoch++
	}
	checking.Wait()
}

// work runs the transactions of an epoch.
func (r *run) work() {
	var working sync.WaitGroup
	for _, c := range r.conns {
		working.Go(func() {
			for r.left.Add(-1) >= 0 && !r.over() {
				if err := c.work.work(c); err != nil {
					r.t.Errorf("%s: %v", c.name, err)
					r.broken.Store(true)
				}
				r.done.Add(1)
			}
		})
	}
	working.Wait()
}

// over reports that the run is to end.
func (r *run) over() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.findings >= *enough || r.broken.Load()
}

// connect opens the connections, three of four for the first load.
func (r *run) connect(loads []workload) {
	for i := range *connections {
		c := &conn{run: r, name: fmt.Sprintf("C%d", i), rng: rand.New(rand.NewPCG(r.seed, uint64(i)+2)), work: loads[min(i%4/3, len(loads)-1)]}
		c.prepared = i%5 == 4
		c.level = readCommitted
		switch {
		case *levels == "s" || *levels == "all" && i%12 == 7:
			c.level = serializable
		case *levels == "rr" || *levels == "all" && i%3 == 2:
			c.level = repeatableRead
		}
		var err error
		if c.c, err = r.db.Conn(context.Background()); err != nil {
			r.t.Fatal(err)
		}
		r.t.Cleanup(func() { _ = c.c.Close() })
		for _, q := range []string{"SET SESSION TRANSACTION ISOLATION LEVEL " + string(c.level), "SET innodb_lock_wait_timeout = 2"} {
			if _, err := c.c.ExecContext(context.Background(), q); err != nil {
				r.t.Fatal(err)
			}
		}
		if err := c.c.QueryRowContext(context.Background(), "SELECT CONNECTION_ID()").Scan(&c.id); err != nil {
			r.t.Fatal(err)
		}
		r.conns = append(r.conns, c)
	}
}

// retries is how often a statement outside of the load is tried when the schema
// changes meanwhile.
const retries = 20

// must runs a statement outside of the load.
func (r *run) must(query string) {
	r.t.Helper()
	var err error
	for range retries {
		if _, err = r.db.Exec(query); err == nil || !explained(err) {
			break
		}
	}
	if err != nil {
		r.t.Fatalf("%s: %v", query, err)
	}
}

// all reads the rows of a query outside of the load. begin is called first.
func (r *run) all(query string, begin func(), scan func(rows *sql.Rows) error) {
	r.t.Helper()
	var err error
	for range retries {
		begin()
		var rows *sql.Rows
		if rows, err = r.db.Query(query); err == nil {
			for err == nil && rows.Next() {
				err = scan(rows)
			}
			if err == nil {
				err = rows.Err()
			}
			_ = rows.Close()
		}
		if err == nil {
			return
		}
		if !explained(err) {
			break
		}
	}
	r.t.Fatalf("%s: %v", query, err)
}

// checkPlans looks whether statements take the paths that they are for.
func (r *run) checkPlans(loads []workload) {
	r.must("ANALYZE TABLE reg, txt, elem")
	v := values{"k": {3}, "ks": {3, 7}, "rests": {3, 7}, "lo": {2}, "hi": {9}, "g": {1}, "u": {103}, "us": {103, 107}, "w": {1}, "ws": {1, 2}}
	for _, w := range loads {
		for _, paths := range w.paths() {
			for _, p := range paths {
				r.checkPlan(p, v)
			}
		}
	}
}

// plansWithin is how long checkPlan waits for a plan: the estimated size of a table
// is that of its search index, which follows the rows.
const plansWithin = 10 * time.Second

func (r *run) checkPlan(p path, v values) {
	query := "EXPLAIN FORMAT=TREE " + v.fill(p.sql, false).sql
	for began := time.Now(); ; time.Sleep(time.Millisecond) {
		var plan strings.Builder
		r.all(query, plan.Reset, func(rows *sql.Rows) error {
			var line string
			err := rows.Scan(&line)
			plan.WriteString(line + "\n")
			return err
		})
		missing := slices.DeleteFunc(slices.Clone(p.plan), func(part string) bool { return strings.Contains(plan.String(), part) })
		if len(missing) == 0 {
			return
		}
		if time.Since(began) > plansWithin {
			r.broken.Store(true)
			r.t.Errorf("%s: %s is not by %q:\n%s", p.name, p.sql, missing, plan.String())
			return
		}
	}
}
