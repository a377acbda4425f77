package exec

import (
	"context"
	"errors"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// hashAggregateOp reads all input before its first group. Where memory is short
// the groups and all later rows are spilled, see grouping.
type hashAggregateOp struct {
	b    *builder
	node *physical.HashAggregate
	in   Operator // nil when partitions are read instead
	// parallel: the plan and the input allow for partitions.
	parallel bool
	cut      []Partition
	joins    *sharedJoins

	list []*grouping  // that read the input or a partition of it
	agg  *aggregation // whose groups are emitted
	todo []aggPart
	part aggPart
	at   int
	out  *vec.Batch
	done bool
}

func (b *builder) hashAggregate(x *physical.HashAggregate) (Operator, error) {
	op := &hashAggregateOp{b: b, node: x, out: newOut(aggKinds(x.GroupBy, x.Aggs))}
	op.parallel = x.Parallel > 1 && b.part == nil && b.parallelism() > 1 && pipelineScan(x.Input) != nil
	if op.parallel && canMerge(x.Aggs) || isGrouped(x.Input) {
		return op, nil
	}
	return op, op.openInput()
}

// isGrouped reports a scan that may aggregate itself.
func isGrouped(n physical.Node) bool {
	s, ok := n.(*physical.Scan)
	return ok && s.Search() != nil && s.Search().Group != nil
}

// openInput builds the input for one goroutine.
func (h *hashAggregateOp) openInput() error {
	x, build := h.node, h.b.build
	if h.parallel && anyOrder(x.Aggs) {
		build = h.b.input
	}
	in, err := build(x.Input)
	if err != nil {
		return err
	}
	h.in = slicedForGroups(h.b.ec, in, x.GroupBy, x.Aggs)
	return nil
}

// canMerge reports that partial results can be merged and do not depend on the
// order of rows.
func canMerge(calls []*expr.Agg) bool {
	distinct := slices.ContainsFunc(calls, needsDistinct)
	for _, c := range calls {
		switch c.Op {
		case expr.AggGroupConcat, expr.AggJSONArrayAgg, expr.AggJSONObjectAgg, expr.AggSTCollect:
			return false
		case expr.AggCount, expr.AggMin, expr.AggMax, expr.AggAnyValue, expr.AggBitAnd, expr.AggBitOr, expr.AggBitXor:
		default:
			// What is spilled with DISTINCT values is put together in another order
			// than in memory, which is seen in the last digit of sums of doubles.
			if distinct && !anyOrder([]*expr.Agg{c}) {
				return false
			}
		}
		if needsDistinct(c) && !mergesDistinct(c) {
			return false
		}
	}
	return true
}

// anyOrder reports that results are the same in all orders of the rows, to the
// last digit.
func anyOrder(calls []*expr.Agg) bool {
	for _, c := range calls {
		switch c.Op {
		case expr.AggCount, expr.AggBitAnd, expr.AggBitOr, expr.AggBitXor:
		case expr.AggSum, expr.AggAvg, expr.AggMin, expr.AggMax:
			// Doubles are rounded, and strings may be equal without being the same.
			switch k := exprKinds(c.Args)[0]; k {
			case value.KindFloat, value.KindBytes, value.KindJSON:
				return false
			}
		default:
			return false
		}
	}
	return true
}

func (h *hashAggregateOp) Next(ctx context.Context) (*vec.Batch, error) {
	if h.done {
		return nil, nil
	}
	if len(h.list) == 0 {
		if err := h.load(ctx); err != nil {
			return nil, err
		}
	}
	for {
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		if h.agg != nil {
			if n := min(h.agg.n-h.at, h.b.env.batchSize()); n > 0 {
				h.at += n
				return h.out, h.agg.emit(h.at-n, n, h.out)
			}
		}
		if len(h.todo) == 0 {
			return nil, nil
		}
		if err := h.open(ctx); err != nil {
			return nil, err
		}
	}
}

func (h *hashAggregateOp) load(ctx context.Context) error {
	ec := h.b.ec
	if isGrouped(h.node.Input) {
		all, err := h.loadGroups(ctx)
		if err != nil {
			return err
		}
		if all || !h.parallel {
			return h.loadSerial(ctx)
		}
		in := h.in
		h.forget()
		if err := in.Close(); err != nil {
			return err
		}
		ec = ec.Fork()
		ec.Warn = nil // it has warned
		if !canMerge(h.node.Aggs) {
			if err := h.openInput(); err != nil {
				return err
			}
		}
	}
	if h.in != nil {
		return h.loadSerial(ctx)
	}
	n := min(h.node.Parallel, h.b.env.parallelism())
	var err error
	if h.cut, err = h.b.env.Source.Partitions(ctx, ec, pipelineScan(h.node.Input), n, h.b.env.rowWork(h.node.Input)); err != nil {
		return err
	}
	b := h.b
	if len(h.cut) > 0 {
		if h.joins, err = b.shareJoins(ctx, h.node.Input); err != nil {
			return err
		}
		if h.joins.parallel {
			if err := h.loadParallel(ctx); err != nil {
				return err
			}
			if err := h.joins.close(); err != nil {
				return err
			}
			return h.settle(ctx, 0)
		}
		b = h.joins.b
	}
	in, err := b.build(h.node.Input)
	if err != nil {
		return err
	}
	h.in = slicedForGroups(b.ec, in, h.node.GroupBy, h.node.Aggs)
	return h.loadSerial(ctx)
}

// loadGroups takes what the source has aggregated; all is false where it has
// aggregated nothing, and all rows are still to come.
func (h *hashAggregateOp) loadGroups(ctx context.Context) (all bool, err error) {
	if h.in, err = h.b.build(h.node.Input); err != nil {
		return false, err
	}
	g, err := newGrouping(h.b, h.node)
	if err != nil {
		return false, err
	}
	h.list = append(h.list, g)
	if err := g.agg.takeParts(ctx, h.in); errors.Is(err, ErrUngrouped) {
		return false, nil
	} else if err != nil {
		return false, err
	}
	return true, g.fit()
}

// loadSerial aggregates the input in this goroutine.
func (h *hashAggregateOp) loadSerial(ctx context.Context) error {
	if len(h.list) == 0 {
		g, err := newGrouping(h.b, h.node)
		if err != nil {
			return err
		}
		h.list = append(h.list, g)
	}
	if err := h.list[0].consumeAll(ctx, h.in); err != nil {
		return err
	}
	if err := h.in.Close(); err != nil {
		return err
	}
	return h.settle(ctx, 0)
}

// forget drops the input and what was made of it.
func (h *hashAggregateOp) forget() {
	for _, g := range h.list {
		g.close()
	}
	h.list, h.in = nil, nil
}

// loadParallel aggregates each partition in a goroutine.
func (h *hashAggregateOp) loadParallel(ctx context.Context) error {
	w := newWorkers(ctx)
	defer w.stop()
	for _, part := range h.cut {
		sub := h.joins.b.fork(part)
		g, err := newGrouping(sub, h.node)
		if err != nil {
			return err
		}
		g.parallel = true
		h.list = append(h.list, g)
		w.run(func(ctx context.Context) (err error) {
			in, err := sub.build(h.node.Input)
			if err != nil {
				return err
			}
			defer func() {
				if cerr := in.Close(); err == nil {
					err = cerr
				}
			}()
			return g.consumeAll(ctx, in)
		})
	}
	return w.wait()
}

// settle merges what the list has read, in its order, so that the result does
// not depend on time. If a part of it was spilled, the rest follows.
func (h *hashAggregateOp) settle(ctx context.Context, depth int) error {
	list := h.list
	aside := false
	for _, g := range list {
		aside = aside || g.isAside()
		g.parallel = false
	}
	first := list[0]
	for n := 1; n < len(list) && !aside; n++ {
		if err := interrupted(ctx); err != nil {
			return err
		}
		if err := first.agg.merge(list[n].agg); err != nil {
			return err
		}
		list[n].close()
		list = append(list[:1:1], list[n+1:]...)
		n--
		if err := first.fit(); err != nil {
			return err
		}
		aside = first.isAside()
	}
	if !aside {
		h.agg, h.at = first.agg, 0
		err := h.agg.finish(ctx)
		first.acct.fixed()
		return err
	}
	h.agg = nil
	from := len(h.todo)
	for i := range first.sp.parts {
		h.todo = append(h.todo, aggPart{depth: depth + 1})
		for _, g := range list {
			if i == 0 && !g.isAside() {
				if err := g.putAside(); err != nil {
					return err
				}
			}
			p := &h.todo[from+i]
			p.states, p.rows = append(p.states, g.states[i]), append(p.rows, g.rows[i])
		}
	}
	for _, g := range list {
		if err := g.endAside(); err != nil {
			return err
		}
	}
	return nil
}

// open aggregates the next partition.
func (h *hashAggregateOp) open(ctx context.Context) error {
	for _, g := range h.list {
		g.close()
	}
	n := len(h.todo)
	p := h.todo[n-1]
	h.part, h.todo, h.list, h.agg = p, h.todo[:n-1], nil, nil
	defer p.close()
	// Sets of DISTINCT values are put together while they are read: they then need the
	// memory of one, and can be spilled. After a grouping that has spilled its groups
	// another one goes on, or its later rows would come after states of others.
	together := slices.ContainsFunc(h.node.Aggs, needsDistinct) && h.joins != nil
	for i := range p.rows {
		if i == 0 || !together || h.list[len(h.list)-1].isAside() {
			g, err := newGrouping(h.b, h.node)
			if err != nil {
				return err
			}
			g.merges = together
			if together && i > 0 {
				g.parallel = true
				g.agg.distincts(func(d *distinctAcc) { d.dedup.whole = true })
			}
			h.list = append(h.list, g)
		}
		g := h.list[len(h.list)-1]
		if err := g.readAside(ctx, p.states[i], p.rows[i], p.depth); err != nil {
			return err
		}
	}
	return h.settle(ctx, p.depth)
}

func (h *hashAggregateOp) Close() error {
	for _, g := range h.list {
		g.close()
	}
	for _, p := range h.todo {
		p.close()
	}
	h.part.close()
	h.done, h.agg, h.todo = true, nil, nil
	err := h.joins.close()
	if h.in != nil {
		err = errors.Join(err, h.in.Close())
	}
	cut := h.cut
	h.cut = nil
	return errors.Join(err, closePartitions(cut))
}

// aggPart is a partition of the groups: for each grouping that has read a part
// of the input, the states of its groups, then rows to add to them.
type aggPart struct {
	states, rows []*spill.Rows
	depth        int
}

func (p aggPart) close() { closeRows(p.states, p.rows) }
