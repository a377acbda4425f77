package exec

import (
	"context"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// rollupOp groups adjacent equal rows on several levels at once: level n by
// the first n columns, level 0 all rows. A row is added to a group of each
// level. Where a column changes, the groups that end are due, the finest first.
type rollupOp struct {
	b    *builder
	node *physical.Rollup
	in   *stepOp
	acct account
	sp   *spiller

	levels []*rollupLevel
	keys   []keyPart
	args   [][]expr.Expr
	groups rowStore // the values of the finest groups
	due    []rolledRow
	at     int // rows of due that went out
	ended  bool
	// rest are the rows of a batch after a group whose distinct values are on
	// disk; the first of them differs in column restFrom.
	rest     *vec.Batch
	restRows []uint16
	restFrom int
	out      *vec.Batch
	cols     []*vec.Vec
	vecs     []*vec.Vec
	one      [1]uint16
}

// rollupLevel has the groups of one level; the last one is open.
type rollupLevel struct {
	*aggregation
	n   int
	ids []uint32 // the groups of the rows of a batch
}

// rolledRow is a complete group: its level, its number there, and a finest
// group with its values.
type rolledRow struct{ level, group, values int }

func (b *builder) rollup(x *physical.Rollup) (Operator, error) {
	in, err := b.build(x.Input)
	if err != nil {
		return nil, err
	}
	r := &rollupOp{b: b, node: x, acct: b.account(x, "rollup"), sp: b.spiller(x), restFrom: -1}
	r.in = stepped(slicedForGroups(b.ec, in, x.GroupBy, x.Aggs), &r.acct, r.size)
	r.sp.attach(&r.acct, r.relieve)
	kinds := exprKinds(x.GroupBy)
	r.groups = newRowStore(slices.Clone(kinds))
	kinds = append(kinds, value.KindInt)
	r.out = newOut(append(kinds, aggKinds(nil, x.Aggs)...))
	for _, e := range x.GroupBy {
		r.keys = append(r.keys, b.env.newKeyPart(e.Type()))
	}
	for _, a := range x.Aggs {
		r.args = append(r.args, aggArgs(a))
	}
	for range len(x.GroupBy) + 1 {
		l := &rollupLevel{}
		if l.aggregation, err = r.newAccs(); err != nil {
			in.Close()
			return nil, err
		}
		r.levels = append(r.levels, l)
	}
	return r, nil
}

// newAccs makes the accumulators of a level.
func (r *rollupOp) newAccs() (*aggregation, error) {
	a := &aggregation{accs: make([]accumulator, len(r.node.Aggs))}
	for i, c := range r.node.Aggs {
		acc, err := newAccumulator(r.b.env, r.b.ec, c, true)
		if err != nil {
			return nil, err
		}
		a.accs[i] = acc
	}
	a.account(r.b, r.node, &r.acct, r.sp, len(r.node.GroupBy)+1, r.size)
	return a, nil
}

func (r *rollupOp) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		if r.at < len(r.due) {
			return r.out, r.emit()
		}
		if r.ended {
			return nil, nil
		}
		if err := r.carry(); err != nil {
			return nil, err
		}
		// The open groups grow on while others are due, which must took memory for.
		r.acct.lower(r.size())
		if err := r.fit(); err != nil {
			return nil, err
		}
		b, rows := r.rest, r.restRows
		if r.rest = nil; b == nil {
			var err error
			if b, err = r.in.Next(ctx); err != nil {
				return nil, err
			}
			if b == nil {
				r.ended = true
				if r.groups.n > 0 {
					r.end(0)
				}
				if err := r.complete(ctx, 0); err != nil {
					return nil, err
				}
				continue
			}
			rows = liveRows(b)
		}
		r.in.begin()
		if err := r.consume(b, rows); err != nil {
			return nil, err
		}
		if r.rest == nil {
			r.in.took(len(rows))
		} else {
			if err := r.complete(ctx, r.restFrom+1); err != nil {
				return nil, err
			}
		}
		if err := r.fit(); err != nil {
			return nil, err
		}
	}
}

// complete adds what was spilled to the groups of the levels from level on.
func (r *rollupOp) complete(ctx context.Context, level int) error {
	for _, l := range r.levels[level:] {
		if err := l.finish(ctx); err != nil {
			return err
		}
	}
	return nil
}

// fit accounts for the groups; those that are due go out first.
func (r *rollupOp) fit() error {
	if len(r.due) > 0 {
		r.acct.must(r.size())
		return nil
	}
	return r.acct.fit(r.size, r.buffers)
}

// relieve is account.relief.
func (r *rollupOp) relieve() (bool, error) {
	if len(r.due) > 0 || r.ended || r.rest != nil {
		return false, nil
	}
	some := false
	for _, l := range r.levels {
		if l.distinctSize() == 0 {
			continue
		}
		some = true
		if err := l.spillDistinct(); err != nil {
			return false, err
		}
	}
	if some {
		r.acct.kept(r.size())
	}
	return some, nil
}

// mustStop reports whether a level from level on has values on disk.
func (r *rollupOp) mustStop(level int) bool {
	for _, l := range r.levels[level:] {
		if l.onDisk() {
			return true
		}
	}
	return false
}

func (r *rollupOp) size() int64 {
	n := r.groups.size + int64(cap(r.due))*24
	for _, l := range r.levels {
		for _, acc := range l.accs {
			n += acc.size()
		}
	}
	return n
}

// buffers are the bytes by which distinct values are spilled and read again.
func (r *rollupOp) buffers() (n int64) {
	for _, l := range r.levels {
		n += l.buffers()
	}
	return n
}

// consume adds rows, up to the end of a group that must be complete first.
func (r *rollupOp) consume(b *vec.Batch, rows []uint16) error {
	var err error
	if r.cols, err = evalAll(r.b.ec, r.node.GroupBy, b, r.cols[:0]); err != nil {
		return err
	}
	for _, l := range r.levels {
		l.ids = l.ids[:0]
	}
	for n, i := range rows {
		if first := r.changed(int(i)); first < len(r.keys) {
			switch {
			case r.restFrom >= 0: // the groups before have ended
				r.open(first, i)
			case first >= 0 && r.mustStop(first+1):
				r.end(first + 1)
				r.rest, r.restRows, r.restFrom = b, rows[n:], first
				rows = rows[:n]
			default:
				r.begin(first, i)
			}
			if r.rest != nil {
				break
			}
			r.restFrom = -1
		}
		for _, l := range r.levels {
			l.ids = append(l.ids, uint32(l.n-1))
		}
	}
	release(r.b.ec, r.cols)
	for _, l := range r.levels {
		for _, acc := range l.accs {
			acc.grow(l.n)
		}
	}
	for a, args := range r.args {
		if r.vecs, err = evalAll(r.b.ec, args, b, r.vecs[:0]); err != nil {
			return err
		}
		for _, l := range r.levels {
			if err := l.accs[a].add(r.vecs, rows, l.ids); err != nil {
				return err
			}
		}
		release(r.b.ec, r.vecs)
	}
	return nil
}

// changed is the first column in which row i differs from the last group; -1
// if there was no group yet.
func (r *rollupOp) changed(i int) int {
	n := r.groups.n - 1
	if n < 0 {
		return -1
	}
	last := r.groups.chunks[n>>chunkBits].Cols
	for c := range r.keys {
		if !r.keys[c].equal(last[c], n&chunkMask, r.cols[c], i) {
			return c
		}
	}
	return len(r.keys)
}

// begin ends the groups that column first divides and opens those of row i.
func (r *rollupOp) begin(first int, i uint16) {
	if first >= 0 {
		r.end(first + 1)
	}
	r.open(first, i)
}

// open opens the groups of row i on the levels after first.
func (r *rollupOp) open(first int, i uint16) {
	for _, l := range r.levels[first+1:] {
		l.n++
	}
	r.one[0] = i
	r.groups.add(r.cols, r.one[:])
}

// end makes the open groups down to a level due.
func (r *rollupOp) end(level int) {
	for l := len(r.levels) - 1; l >= level; l-- {
		r.due = append(r.due, rolledRow{l, r.levels[l].n - 1, r.groups.n - 1})
	}
}

// carry drops the groups that went out and keeps the open ones.
func (r *rollupOp) carry() error {
	if len(r.due) == 0 {
		return nil
	}
	r.due, r.at = r.due[:0], 0
	n := r.groups.n - 1
	open := newRowStore(r.groups.kinds)
	open.add(r.groups.chunks[n>>chunkBits].Cols, []uint16{uint16(n & chunkMask)})
	r.groups = open
	for i, l := range r.levels {
		ended := r.restFrom >= 0 && i > r.restFrom
		if l.n == 1 && !ended {
			continue // no group has ended: copying it each time would be expensive
		}
		accs, err := r.newAccs()
		if err != nil {
			return err
		}
		n := 0
		if !ended {
			n = 1
			for i, acc := range accs.accs {
				acc.grow(1)
				if err := moveGroup(acc, l.accs[i], l.n-1); err != nil {
					return err
				}
			}
		}
		l.close()
		l.aggregation, l.n = accs, n
	}
	return nil
}

// emit writes the next groups that are due.
func (r *rollupOp) emit() error {
	n := min(len(r.due)-r.at, r.b.env.batchSize())
	list := r.due[r.at : r.at+n]
	r.at += n
	rows := make([]uint32, n)
	for i, d := range list {
		rows[i] = uint32(d.values)
	}
	out, keys := r.out, len(r.keys)
	out.HasSel, out.Sel, out.N = false, nil, n
	for c, v := range out.Cols[:keys] {
		v.Init(v.Kind, n)
		r.groups.gather(c, rows, v)
		for i, d := range list {
			if c >= d.level {
				v.Nulls.Set(i)
			}
		}
	}
	out.Cols[keys].Init(value.KindInt, n)
	for i, d := range list {
		out.Cols[keys].I64[i] = int64(keys - d.level)
	}
	for c, v := range out.Cols[keys+1:] {
		v.Init(v.Kind, n)
		for i, d := range list {
			if err := r.levels[d.level].accs[c].result(d.group, v, i); err != nil {
				return err
			}
		}
	}
	return nil
}

func (r *rollupOp) Close() error {
	r.ended, r.due, r.at = true, nil, 0
	for _, l := range r.levels {
		l.close()
	}
	r.acct.close()
	return r.in.Close()
}
