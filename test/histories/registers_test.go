package histories

import (
	"database/sql"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sqlots/sqlots/internal/histcheck"
)

const (
	registerCount = 20
	groups        = 4
)

// registers reads and writes rows that count their versions.
type registers struct {
	r      *run
	mu     sync.Mutex
	h      *histcheck.Registers
	newest [64]atomic.Int64 // some of the last writes, to look for
	// floor is the greatest sum of all versions that a statement has answered: every
	// later query gets it at least.
	floor atomic.Int64
}

func newRegisters(r *run) *registers { return &registers{r: r} }

func (g *registers) paths() [][]path {
	return [][]path{registerPaths, searchPaths, doublePaths, sumPaths}
}

func (g *registers) create() {
	g.r.must(registerTable)
	for k := range registerCount {
		by := g.r.fresh(1)
		g.r.must(fmt.Sprintf("INSERT INTO reg VALUES (%d, 0, %d, %d, %d, 0, 'k%d n0 w%d every')", k, by, k%groups, 100+k, k, by))
	}
}

func (g *registers) begin() {
	g.h = &histcheck.Registers{Before: g.state(registerPaths[3].sql)}
}

// state are the registers as a statement reads them.
func (g *registers) state(query string) (out map[int]histcheck.Version) {
	g.r.all(query, func() { out = map[int]histcheck.Version{} }, func(rows *sql.Rows) error {
		row, err := scanRegister(rows)
		for _, v := range row {
			out[v.Key] = v
		}
		return err
	})
	return out
}

// end also compares all paths, while nothing changes.
func (g *registers) end() func() []histcheck.Finding {
	h := g.h
	h.After = g.state(registerPaths[3].sql)
	for _, p := range slices.Concat(registerPaths, searchPaths) {
		if p.reads != "all" {
			continue
		}
		if got := g.state(p.sql); fmt.Sprint(got) != fmt.Sprint(h.After) {
			g.r.report(histcheck.Finding{Text: fmt.Sprintf("while nothing changes, by %s: %v, want %v", p.name, got, h.After)})
		}
	}
	return h.Check
}

func (g *registers) work(c *conn) error {
	w := &registerWork{registers: g, c: c, own: map[int]int{}, floor: g.floor.Load()}
	err := c.begin(c.chance(2))
	if err == nil && c.explicit {
		err = w.steps()
	} else if err == nil {
		err = w.one()
	}
	err = c.end(err)
	g.mu.Lock()
	g.h.Txns = append(g.h.Txns, c.x)
	g.mu.Unlock()
	for _, write := range c.x.Writes {
		g.newest[c.rng.IntN(len(g.newest))].Store(int64(write.By))
	}
	return err
}

// registerWork is one transaction being made.
type registerWork struct {
	*registers
	c     *conn
	own   map[int]int // the number of the last write to a register
	floor int64       // when the transaction began
}

// one is a transaction of one statement.
func (w *registerWork) one() error {
	switch n := w.c.rng.IntN(20); {
	case n < 15:
		return w.read()
	case n < 18:
		return w.single(w.c.rng.IntN(registerCount), 0)
	default:
		return w.several()
	}
}

// steps is a transaction of several statements.
func (w *registerWork) steps() error {
	reading := w.c.chance(2)
	for range 1 + w.c.rng.IntN(4) {
		step := w.read
		if n := w.c.rng.IntN(20); !reading {
			step = []func() error{w.read, w.read, w.transfer, w.transfer, w.several, w.rewrite, w.lock, w.takenBack}[n*8/20]
		}
		if err := step(); err != nil {
			return err
		}
	}
	if len(w.own) > 0 && !w.c.chance(4) {
		return w.readOwn()
	}
	return nil
}

// takenBack writes and goes back to a savepoint.
func (w *registerWork) takenBack() error {
	if err := w.c.do("SAVEPOINT sp"); err != nil {
		return err
	}
	was, first := map[int]int{}, len(w.c.x.Writes)
	for k, i := range w.own {
		was[k] = i
	}
	if err := w.transfer(); err != nil {
		return err
	}
	if w.c.chance(2) {
		if err := w.readOwn(); err != nil {
			return err
		}
	}
	w.own = was
	for i := range w.c.x.Writes[first:] {
		w.c.x.Writes[first+i].Undone = true
	}
	return w.c.do("ROLLBACK TO sp")
}
