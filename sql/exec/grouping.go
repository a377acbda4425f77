package exec

import (
	"context"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// grouping is an aggregation that gives way when memory is short: it spills the
// states of its groups, in partitions by the hash of the group, and then all
// later rows without aggregating them. Read again, a partition has its states
// first, each group once, and then its rows in their order: the results are
// those, to the last digit, of an aggregation in memory. Where one group has too
// many DISTINCT values these are spilled alone.
type grouping struct {
	b     *builder
	node  *physical.HashAggregate
	acct  account
	sp    *spiller
	depth int
	agg   *aggregation
	// parallel: others read other parts of the rows, and what was spilled has to be in
	// the same partitions.
	parallel bool
	// merges: the states that are read may be of groups that there are.
	merges bool

	hasher       keyHasher
	states, rows []*spill.Rows // by partition, once they are aside
	cols         []*vec.Vec
}

func newGrouping(b *builder, x *physical.HashAggregate) (*grouping, error) {
	g := &grouping{b: b, node: x, acct: b.account(x, "hash aggregate"), sp: b.spiller(x), hasher: b.env.newKeyHasher(exprTypes(x.GroupBy))}
	var err error
	if g.agg, err = newAggregation(b.env, b.ec, x.GroupBy, x.Aggs); err != nil {
		return nil, err
	}
	g.sp.attach(&g.acct, g.relieve)
	g.agg.account(b, x, &g.acct, g.sp, 1, g.held)
	return g, nil
}

func (g *grouping) held() int64 { return g.agg.size() + heldRows(g.states, g.rows) }

func (g *grouping) isAside() bool { return g.rows != nil }

func (g *grouping) consumeAll(ctx context.Context, in Operator) error {
	steps := stepped(in, &g.acct, g.held)
	return drain(ctx, steps, func(b *vec.Batch) error { return g.consume(b, steps) })
}

// consume adds the rows of b, a step of steps unless that is nil.
func (g *grouping) consume(b *vec.Batch, steps *stepOp) error {
	if g.isAside() {
		err := g.add(b)
		g.acct.must(g.held())
		return err
	}
	if steps != nil {
		steps.begin()
	}
	if err := g.agg.consume(b); err != nil {
		return err
	}
	if steps != nil {
		steps.took(b.Live())
	}
	return g.fit()
}

// fit accounts for the groups, or spills them.
func (g *grouping) fit() error { return g.acct.fit(g.held, g.agg.buffers) }

// copied are about the bytes of states that are copied at a time.
const copied = 4 << 20

// fewGroups is a number of groups that partitions do not make smaller.
const fewGroups = 64

// relieve is account.relief.
func (g *grouping) relieve() (bool, error) {
	if g.isAside() || g.agg == nil || g.agg.finished {
		return false, nil
	}
	canCut := len(g.node.GroupBy) > 0 && (g.agg.n > 1 || g.parallel && g.agg.n > 0) && g.depth < maxSpillDepth && !g.agg.onDisk()
	if d := g.agg.distinctSize(); d > 0 && (!canCut || !g.parallel && g.agg.n < fewGroups && 2*d > g.agg.size()) {
		if err := g.agg.spillDistinct(); err != nil {
			return false, err
		}
		g.acct.kept(g.held())
		return true, nil
	}
	if !canCut {
		return false, nil
	}
	return true, g.putAside()
}

// putAside writes the states of all groups and begins with the rows.
func (g *grouping) putAside() error {
	f, err := g.sp.begin()
	if err != nil {
		return err
	}
	kinds := exprKinds(g.node.GroupBy)
	g.rows = g.sp.partitionIn(f, append(kinds[:len(kinds):len(kinds)], g.agg.argKinds()...))
	kinds = append(kinds, g.agg.stateKinds()...)
	g.states = make([]*spill.Rows, len(g.rows))
	for i := range g.states {
		g.states[i] = f.NewRows(kinds, g.sp.block)
	}
	out := newOut(kinds)
	// The states are copied, those of large groups a few at a time.
	most := int(max(min(copied*int64(g.agg.n)/max(g.agg.size(), 1), vec.MaxRows), 1))
	for at := 0; at < g.agg.n; at += out.N {
		g.agg.saveStates(at, min(g.agg.n-at, most), out)
		if err := g.addStates(out); err != nil {
			return err
		}
	}
	if err := g.agg.reset(); err != nil {
		return err
	}
	g.acct.kept(g.held())
	return nil
}

// addStates spills states; their first columns are the groups.
func (g *grouping) addStates(b *vec.Batch) error {
	rows := liveRows(b)
	return g.sp.scatter(g.states, g.depth, b.Cols, rows, g.hasher.hash(b.Cols[:len(g.node.GroupBy)], rows))
}

// add spills rows: the groups and the arguments of the aggregates.
func (g *grouping) add(b *vec.Batch) error {
	var err error
	if g.cols, err = evalAll(g.b.ec, g.agg.groupBy, b, g.cols[:0]); err != nil {
		return err
	}
	for _, args := range g.agg.args {
		if g.cols, err = evalAll(g.b.ec, args, b, g.cols); err != nil {
			return err
		}
	}
	rows := liveRows(b)
	err = g.sp.scatter(g.rows, g.depth, g.cols, rows, g.hasher.hash(g.cols[:len(g.node.GroupBy)], rows))
	release(g.b.ec, g.cols)
	return err
}

// endAside ends the writing.
func (g *grouping) endAside() error {
	if err := g.sp.finishRows(g.states); err != nil {
		return err
	}
	if err := g.sp.finishRows(g.rows); err != nil {
		return err
	}
	g.states, g.rows = nil, nil // they belong to the partitions now
	g.close()
	return nil
}

// readAside aggregates what another grouping has spilled.
func (g *grouping) readAside(ctx context.Context, states, rows *spill.Rows, depth int) error {
	g.depth = depth
	g.agg.readRaw()
	err := eachAside(ctx, states, func(b *vec.Batch) error {
		if g.isAside() {
			return g.addStates(b)
		}
		load := g.agg.loadStates
		if g.merges {
			load = g.agg.mergeStates
		}
		if err := load(b); err != nil {
			return err
		}
		return g.fit()
	})
	if err != nil {
		return err
	}
	return eachAside(ctx, rows, func(b *vec.Batch) error { return g.consume(b, nil) })
}

// eachAside calls fn with the batches of rows, which may be nil.
func eachAside(ctx context.Context, rows *spill.Rows, fn func(*vec.Batch) error) error {
	if rows == nil || rows.Len() == 0 {
		return nil
	}
	rd := rows.NewReader()
	for {
		if err := interrupted(ctx); err != nil {
			return err
		}
		b, err := rd.Next()
		if err != nil || b == nil {
			return err
		}
		if err := fn(b); err != nil {
			return err
		}
	}
}

func (g *grouping) close() {
	closeRows(g.states, g.rows)
	g.states, g.rows = nil, nil
	if g.agg != nil {
		g.agg.close()
	}
	g.acct.close()
}

// account lets the distinct values of a, which is one of so many, be spilled: total are the
// bytes of the account.
func (a *aggregation) account(b *builder, n physical.Node, acct *account, sp *spiller, many int, total func() int64) {
	all := 0
	a.distincts(func(*distinctAcc) { all += many })
	a.set = func(d *distinctAcc) {
		d.dedup.acct, d.dedup.sp, d.dedup.total = acct, sp.among(all), total
		d.order = func(kinds []value.Kind) (*sorter, *account) {
			acct := &account{}
			return b.newOrder(n, kinds, acct), acct
		}
	}
	a.distincts(a.set)
}

func (a *aggregation) distincts(fn func(*distinctAcc)) {
	for _, acc := range a.accs {
		if d, ok := acc.(*distinctAcc); ok {
			fn(d)
		}
	}
}

// distinctSize are the bytes of distinct values that can be spilled.
func (a *aggregation) distinctSize() (n int64) {
	a.distincts(func(d *distinctAcc) {
		if !d.dedup.onDisk() && !d.dedup.isEmpty() {
			n += d.dedup.bytes()
		}
	})
	return n
}

// buffers are the bytes by which distinct values are spilled and read again.
func (a *aggregation) buffers() (n int64) {
	a.distincts(func(d *distinctAcc) { n += d.dedup.buffers() })
	return n
}

// onDisk reports that distinct values were spilled.
func (a *aggregation) onDisk() (yes bool) {
	a.distincts(func(d *distinctAcc) { yes = yes || d.dedup.onDisk() })
	return yes
}

// spillDistinct spills all distinct values.
func (a *aggregation) spillDistinct() (err error) {
	a.distincts(func(d *distinctAcc) {
		if err == nil && !d.dedup.onDisk() && !d.dedup.isEmpty() {
			err = d.dedup.spill()
		}
	})
	return err
}

// finish adds what was spilled to the results. No rows may be added then.
func (a *aggregation) finish(ctx context.Context) (err error) {
	a.finished = true
	a.distincts(func(d *distinctAcc) {
		if err == nil {
			err = d.finish(ctx)
		}
	})
	return err
}

// close gives the files up.
func (a *aggregation) close() {
	a.distincts(func(d *distinctAcc) { d.dedup.close() })
}

// readRaw makes a take rows in the form in which they are spilled: the groups,
// then the arguments.
func (a *aggregation) readRaw() {
	at := 0
	next := func(list []expr.Expr) []expr.Expr {
		out := make([]expr.Expr, len(list))
		for i, e := range list {
			out[i] = &expr.Col{Index: at, T: e.Type(), Null: e.Nullable()}
			at++
		}
		return out
	}
	a.groupBy = next(a.groupBy)
	for i, args := range a.args {
		a.args[i] = next(args)
	}
}

func (a *aggregation) argKinds() (kinds []value.Kind) {
	for _, args := range a.args {
		kinds = append(kinds, exprKinds(args)...)
	}
	return kinds
}

func (a *aggregation) stateKinds() (kinds []value.Kind) {
	for _, acc := range a.accs {
		kinds = append(kinds, acc.stateKinds()...)
	}
	return kinds
}

// saveStates writes groups from to from+n to out: their values, then states.
func (a *aggregation) saveStates(from, n int, out *vec.Batch) {
	out.N, out.HasSel, out.Sel = n, false, nil
	for _, v := range out.Cols {
		v.Init(v.Kind, n)
	}
	a.gatherGroups(from, n, out.Cols)
	at := len(a.groupBy)
	for _, acc := range a.accs {
		cols := out.Cols[at : at+len(acc.stateKinds())]
		for i := range n {
			acc.save(from+i, cols, i)
		}
		at += len(cols)
	}
}

// loadStates makes groups of what saveStates wrote.
func (a *aggregation) loadStates(b *vec.Batch) error {
	a.ids = a.assign(b.Cols[:len(a.groupBy)], liveRows(b), a.ids[:0])
	at := len(a.groupBy)
	rows := liveRows(b)
	for _, acc := range a.accs {
		cols := b.Cols[at : at+len(acc.stateKinds())]
		for i, g := range a.ids {
			if err := acc.load(int(g), cols, int(rows[i])); err != nil {
				return err
			}
		}
		at += len(cols)
	}
	return nil
}

// mergeStates adds what saveStates wrote to groups that there may be.
func (a *aggregation) mergeStates(b *vec.Batch) error {
	rows := liveRows(b)
	for len(rows) > 0 {
		part, err := newAggregation(a.env, a.ec, a.groupBy, a.calls)
		if err != nil {
			return err
		}
		n := 0 // rows of different groups
		for n < len(rows) && part.keys.n == uint32(n) {
			part.ids = part.assign(b.Cols[:len(a.groupBy)], rows[n:n+1], part.ids[:0])
			n++
		}
		if part.keys.n < uint32(n) {
			n--
		}
		one := *b
		one.SetSel(slices.Clone(rows[:n]))
		if err := part.loadStates(&one); err != nil {
			return err
		}
		if err := a.merge(part); err != nil {
			return err
		}
		rows = rows[n:]
	}
	return nil
}
