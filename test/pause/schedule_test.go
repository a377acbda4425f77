package pause

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/step"
)

// schedule is one course of events.
type schedule struct {
	// first and then are the steps at which the commit stops; none for none.
	first, then step.Point
	// view is the step at which the reader stops, follow that of the index's
	// follower; none for none.
	view, follow step.Point
	// passes: a second commit is made while the first is at its first step.
	passes bool
	// flush is innodb_flush_log_at_trx_commit.
	flush  int
	reader reader
}

// none is no step.
const none = step.Point(255)

// reader is a connection that reads while a commit is under way.
type reader struct {
	// isolation is that of a transaction, LevelDefault for autocommit.
	isolation sql.IsolationLevel
	paths     []*path
	// owns: the transaction has written a row of its own.
	owns bool
}

// String describes the schedule.
func (s schedule) String() string {
	var b strings.Builder
	name := func(p step.Point) string {
		if p == none {
			return "-"
		}
		return p.String()
	}
	fmt.Fprintf(&b, "flush %d, commit stops at %s and %s, passed %v, reader stops at %s, follower at %s; reader: %s, own row %v",
		s.flush, name(s.first), name(s.then), s.passes, name(s.view), name(s.follow), s.reader.isolation, s.reader.owns)
	for _, p := range s.reader.paths {
		b.WriteString(", " + p.name)
	}
	return b.String()
}

// random draws a schedule.
func random(rnd *rand.Rand) schedule {
	some := func(list []step.Point) step.Point { return list[rnd.IntN(len(list))] }
	s := schedule{first: some(step.Commits), then: none, view: none, follow: none, flush: rnd.IntN(3)}
	if then := some(step.Commits); then > s.first {
		s.then = then
	}
	if rnd.IntN(4) > 0 {
		s.view = some(step.Views)
	}
	if rnd.IntN(4) == 0 {
		s.follow = some(step.Follows)
	}
	s.passes = s.first > step.CommitStored && rnd.IntN(3) == 0
	s.reader = randomReader(rnd)
	return s
}

func randomReader(rnd *rand.Rand) reader {
	r := reader{isolation: []sql.IsolationLevel{sql.LevelDefault, sql.LevelReadCommitted, sql.LevelRepeatableRead}[rnd.IntN(3)]}
	for n := 1 + rnd.IntN(3); len(r.paths) < n; {
		p := &paths[rnd.IntN(len(paths))]
		if rnd.IntN(2) == 0 { // half of them by the search index
			p = &paths[rnd.IntN(searchPaths)]
		}
		r.paths = append(r.paths, p)
	}
	r.owns = r.isolation != sql.LevelDefault && rnd.IntN(3) == 0
	return r
}

// course runs schedules.
type course struct {
	t     *testing.T
	db    *sql.DB
	gates gates
	h     history
	rnd   *rand.Rand
	flush int
	// blocked counts schedules in which a reader had to wait for a commit that was
	// stopped, missed those in which the reader did not come to its step.
	blocked, missed, run int
}

func (c *course) exec(query string, args ...any) {
	c.t.Helper()
	if _, err := c.db.Exec(query, args...); err != nil {
		c.t.Fatalf("%s: %v", query, err)
	}
}

// try runs a schedule; the error says what was wrong.
func (c *course) try(s schedule) error {
	c.run++
	if s.flush != c.flush {
		c.exec(fmt.Sprintf("SET GLOBAL innodb_flush_log_at_trx_commit = %d", s.flush))
		c.flush = s.flush
	}
	if c.rnd.IntN(2) == 0 {
		time.Sleep(time.Duration(c.rnd.IntN(12)) * time.Millisecond) // the follower catches up
	}
	parity := -1
	if s.passes {
		parity = 0
	}
	if s.follow != none {
		defer c.gates.arm(c.t, s.follow).release()
	}
	first := c.gates.arm(c.t, s.first)
	defer first.release()
	commit := c.begin(parity)
	if !first.wait(commit.done, hang) {
		return fmt.Errorf("the commit did not come to %s: %v", s.first, commit.err)
	}
	if s.passes {
		if err := c.begin(1).wait(); err != nil {
			return err
		}
	}
	if err := c.look(2); err != nil {
		return err
	}
	var view, then *gate
	if s.view != none {
		view = c.gates.arm(c.t, s.view)
		defer view.release()
	}
	read := c.read(s.reader)
	if view != nil && !view.wait(read.done, patience) {
		view.release()
		c.missed++
	}
	if s.then != none {
		then = c.gates.arm(c.t, s.then)
		defer then.release()
	}
	first.release()
	if then != nil && !then.wait(commit.done, hang) {
		return fmt.Errorf("the commit did not come to %s: %v", s.then, commit.err)
	}
	if err := c.look(2); err != nil {
		return err
	}
	view.release()
	select {
	case <-read.done:
	case <-time.After(patience):
		c.blocked++
	}
	then.release()
	if err := read.wait(); err != nil {
		return err
	}
	if err := c.look(1); err != nil {
		return err
	}
	return commit.wait()
}

// look reads by some paths in autocommit.
func (c *course) look(n int) error {
	for range n {
		if err := c.check(c.db, &paths[c.rnd.IntN(len(paths))], nil); err != nil {
			return err
		}
	}
	return nil
}

// check reads by a path and checks the answer. of is the state of a transaction, nil in
// autocommit.
func (c *course) check(q querier, p *path, of *transaction) error {
	since := c.h.since()
	a, err := p.read(context.Background(), q, c.rnd)
	if err != nil {
		return err
	}
	if of != nil && of.owns && !p.committed {
		if err := a.withoutOwn(); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	repeats := of != nil && of.repeats
	if repeats {
		since = of.since
	}
	shown, err := c.h.find(a, since)
	if err != nil {
		return fmt.Errorf("%s %w", p.name, err)
	}
	if repeats {
		if of.shown != nil {
			shown = both(of.shown, shown)
		}
		if len(shown) == 0 {
			return fmt.Errorf("%s shows the rows after another commit than the statement before it, which showed %v: %s", p.name, of.shown, a)
		}
		of.shown = shown
	}
	c.h.show(shown[0])
	return nil
}

// transaction is the state of a reader's transaction.
type transaction struct {
	owns    bool  // it has written a row
	repeats bool  // it is at REPEATABLE READ
	since   int   // the oldest commit that it may show, which repeats
	shown   []int // the commits that it may have shown, which repeats
}

// both are the members of two ascending lists.
func both(a, b []int) (out []int) {
	for _, x := range a {
		for _, y := range b {
			if x == y {
				out = append(out, x)
			}
		}
	}
	return out
}

// job is work in the background.
type job struct {
	done chan struct{}
	err  error
}

func start(fn func() error) *job {
	j := &job{done: make(chan struct{})}
	go func() {
		defer close(j.done)
		j.err = fn()
	}()
	return j
}

func (j *job) wait() error {
	select {
	case <-j.done:
		return j.err
	case <-time.After(time.Minute):
		return fmt.Errorf("hangs")
	}
}

// begin makes a commit.
func (c *course) begin(parity int) *job {
	commit, stmts := c.h.next(c.rnd, parity)
	return start(func() error {
		tx, err := c.db.Begin()
		if err != nil {
			return err
		}
		defer tx.Rollback()
		for _, s := range stmts {
			if _, err := tx.Exec(s); err != nil {
				return fmt.Errorf("commit %d: %s: %w", commit, s, err)
			}
		}
		if err := tx.Commit(); err != nil {
			return fmt.Errorf("commit %d: %w", commit, err)
		}
		c.h.show(commit)
		return nil
	})
}

// read has the reader read.
func (c *course) read(r reader) *job {
	return start(func() error {
		if r.isolation == sql.LevelDefault {
			return c.statements(c.db, r.paths, nil)
		}
		of := &transaction{owns: r.owns, repeats: r.isolation == sql.LevelRepeatableRead, since: c.h.since()}
		tx, err := c.db.BeginTx(context.Background(), &sql.TxOptions{Isolation: r.isolation})
		if err != nil {
			return err
		}
		defer tx.Rollback()
		if r.owns {
			if _, err := tx.Exec(fmt.Sprintf("INSERT INTO t VALUES (%d, 0, 1, 1000000000, 'all of none', 'x')", ownID)); err != nil {
				return err
			}
		}
		return c.statements(tx, r.paths, of)
	})
}

func (c *course) statements(q querier, list []*path, of *transaction) error {
	for _, p := range list {
		if err := c.check(q, p, of); err != nil {
			return err
		}
	}
	return nil
}
