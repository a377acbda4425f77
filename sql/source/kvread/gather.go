package kvread

import (
	"bytes"
	"context"
	"fmt"
	"slices"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/table"
)

// gatherer collects the keys of rows: from the entries of an index, or from
// the rows themselves. It filters by what it sees there.
type gatherer struct {
	walker walker
	sieve  decode.Sieve
	filter bool
	x      *table.Index // nil: rows
	// arena holds the keys of this round, ends where each ends; rows are those
	// that passed.
	arena []byte
	ends  []int
	rows  [][]byte
	max   int
	err   error
	// accesses are to rows, not to entries.
	accesses metrics.Accesses
	// passed counts the rows.
	passed int64
	// whole is set when nothing is read: the points are the rows' keys.
	whole bool
	// seen are the rows that were found before, where several entries may lead
	// to one; nil where they do not. The owner closes it.
	seen *exec.KeySet
}

// newSeen is gatherer.seen of a scan.
func (s *Reader) newSeen(n *physical.Scan, inOrder bool) *exec.KeySet {
	if !n.Distinct {
		return nil
	}
	return exec.NewKeySet(s.state.KeyEnv(), "rows found by a multi-valued index", inOrder)
}

// init sets g up; filters, over what n reads, use only what the entry (or row) has
// without cells.
func (g *gatherer) init(s *Reader, ec *expr.Ctx, k *decode.Table, n *physical.Scan, filters []expr.Expr) error {
	index := n.Key().Index
	if index != nil {
		g.x = k.Index(index.ID)
	} else {
		s.state.Watch(&g.accesses, n.Table)
	}
	g.filter = len(filters) > 0
	var want []bool
	if index == nil { // of rows only what the filters read
		want = make([]bool, len(n.Read))
		for _, f := range filters {
			expr.Walk(f, func(e expr.Expr) bool {
				if c, ok := e.(*expr.Col); ok && c.Index >= 0 && c.Index < len(want) {
					want[c.Index] = true
				}
				return true
			})
		}
	}
	p, err := k.Plan(index, n.Read, want, n.Attributes)
	if err != nil {
		return err
	}
	g.walker.opts.KeyOnly = !p.NeedValue && (g.x == nil || g.x.KeyHasRow())
	if g.filter {
		g.sieve.Init(ec, p, decode.NewZone(s.state.Loc), filters)
	}
	g.walker.reverse()
	g.walker.init(g.visit)
	return nil
}

func (g *gatherer) visit(key, val []byte) bool {
	if g.accesses.Next() {
		g.accesses.Note(key, false)
	}
	if g.filter {
		if g.err = g.sieve.Add(key, val); g.err != nil {
			return false
		}
	}
	if g.x == nil {
		g.arena = append(g.arena, key...)
	} else if g.walker.opts.KeyOnly {
		g.arena, g.err = g.x.AppendRowKey(g.arena, key, table.PlainValue())
	} else {
		g.arena, g.err = g.x.AppendRowKey(g.arena, key, val)
	}
	g.ends = append(g.ends, len(g.arena))
	return g.err == nil && len(g.ends) < g.max
}

func (g *gatherer) done() bool { return g.walker.done() }

// next collects up to max keys, in the order of the walk, at least one unless the
// walk is done. They are valid until the next call. Keys that seen has spilled
// come in the end, in no order, and in batches of any size.
func (g *gatherer) next(ctx context.Context, max int) ([][]byte, error) {
	for !g.done() {
		g.max = max
		g.arena, g.ends, g.rows = g.arena[:0], g.ends[:0], g.rows[:0]
		if g.whole {
			w := &g.walker
			n := min(len(w.keys)-w.next, max)
			w.next += n
			return w.keys[w.next-n : w.next], nil
		}
		if g.filter {
			g.sieve.Begin(max)
		}
		if err := g.walker.fill(ctx, max); err != nil {
			return nil, err
		}
		if g.err != nil {
			return nil, g.err
		}
		if err := g.pick(ctx); err != nil {
			return nil, err
		}
		if len(g.rows) > 0 {
			g.passed += int64(len(g.rows))
			return g.rows, nil
		}
	}
	if g.seen != nil {
		rest, err := g.seen.Rest(ctx)
		g.passed += int64(len(rest))
		return rest, err
	}
	return nil, nil
}

// pick makes rows of the keys that pass the filters.
func (g *gatherer) pick(ctx context.Context) error {
	key := func(i int) []byte {
		start := 0
		if i > 0 {
			start = g.ends[i-1]
		}
		return g.arena[start:g.ends[i]:g.ends[i]]
	}
	if !g.filter {
		for i := range g.ends {
			g.rows = append(g.rows, key(i))
		}
		return g.dropSeen()
	}
	b, err := g.sieve.Finish(ctx, g.walker.reader)
	if err != nil || b == nil {
		return err
	}
	for r := range b.Live() {
		g.rows = append(g.rows, key(b.Row(r)))
	}
	return g.dropSeen()
}

// dropSeen leaves out the rows that were there before.
func (g *gatherer) dropSeen() error {
	if g.seen == nil {
		return nil
	}
	out := g.rows[:0]
	for rest := g.rows; len(rest) > 0; {
		n := min(len(rest), vec.MaxRows)
		fresh, err := g.seen.Fresh(rest[:n])
		if err != nil {
			return err
		}
		out, rest = append(out, fresh...), rest[n:]
	}
	g.rows = out
	return nil
}

// counters are what the entries took.
func (g *gatherer) counters() (passed int64, c exec.Counters) {
	return g.passed, g.walker.count.Plus(g.sieve.Count)
}

// sorted gives the keys in ascending order with the places from which they
// come; nil places when they are in order already.
func sorted(keys [][]byte, into [][]byte, places []int) ([][]byte, []int) {
	if slices.IsSortedFunc(keys, bytes.Compare) {
		return keys, nil
	}
	places = places[:0]
	for i := range keys {
		places = append(places, i)
	}
	slices.SortFunc(places, func(a, b int) int { return bytes.Compare(keys[a], keys[b]) })
	into = into[:0]
	for _, i := range places {
		into = append(into, keys[i])
	}
	return into, places
}

// missingRow is the error of an entry whose row is not there.
func missingRow(x *table.Index, key []byte) error {
	t := x.Codec().Table
	return fmt.Errorf("%w: index %s of table %s.%s: no row at %x", storage.ErrCorruption, x.Desc.Name, t.Database, t.Name, key)
}
