package planner

import (
	"math"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// parallelRows is the estimated number of rows that are read, also of those that a filter
// leaves out, from which a parallel aggregation pays.
const parallelRows = 50000

// parallelCost is the cost from which it pays where much is done with few rows, as
// joins that look others up do.
const parallelCost = 4e6

// aggregate builds n, also with the groups of one table formed before its rows are joined
// where that is possible and costs less.
func (p *planner) aggregate(n *logical.Aggregate, req request) (rel, error) {
	out, err := p.aggregateRows(n, req)
	if err != nil {
		return rel{}, err
	}
	alt, err := p.groupsFirst(n)
	if err != nil || alt == nil {
		return out, err
	}
	other, err := p.build(alt, req)
	if err != nil {
		return rel{}, err
	}
	whole := func(r rel) float64 {
		if len(req.order) > 0 && !r.ordered {
			return r.cost + sortCost(r.rows, req.limit)
		}
		return r.cost
	}
	if whole(other) < whole(out) {
		return other, nil
	}
	return out, nil
}

// aggregateRows builds n over the rows of its input.
func (p *planner) aggregateRows(n *logical.Aggregate, req request) (rel, error) {
	var reads []expr.Expr
	reads = append(reads, n.GroupBy...)
	var aggs []*expr.Agg
	var aggCols []logical.Column
	for i, a := range n.Aggs {
		if !req.cols[n.AggCols[i].ID] {
			continue
		}
		aggs, aggCols = append(aggs, a), append(aggCols, n.AggCols[i])
		reads = append(reads, expr.AggInputs(a)...)
	}
	need := p.addReads(nil, reads...)
	counts := len(n.GroupBy) == 0 && len(aggs) > 0 && !p.off("SearchAggregate") &&
		!slices.ContainsFunc(aggs, func(a *expr.Agg) bool { return a.Op != expr.AggCount || len(a.Args) > 0 && !expr.IsConst(a.Args[0]) })
	hash, err := p.build(n.Input, request{cols: need, counts: counts})
	if err != nil {
		return rel{}, err
	}
	if least, ok, err := p.extremes(n, aggs, aggCols); err != nil {
		return rel{}, err
	} else if ok && least.cost < hash.cost+hash.rows*cost.StreamGroupRow {
		least.ordered = true
		return least, nil
	}
	groups := 1.0
	for _, g := range n.GroupBy {
		groups *= p.distinctValues(g, hash)
	}
	groups = math.Max(1, math.Min(groups, hash.rows))
	workers := 1
	if p.opts.Parallelism > 1 && (hash.probed() > parallelRows || physical.PipelineCost(hash.node) > parallelCost) && isPipeline(hash.node) && canMerge(aggs) && !anyEffect(reads) && !p.off("ParallelAggregate") {
		workers = p.opts.Parallelism
	}
	rowCost := float64(cost.HashGroupRow)
	if len(n.GroupBy) == 0 {
		rowCost = cost.StreamGroupRow
	}
	hashCost := hash.cost + hash.rows*rowCost/float64(workers) + groups*cost.NewGroup*float64(workers)

	cols := append(append([]logical.Column(nil), n.GroupCols...), aggCols...)
	finish := func(in rel, stream bool, c float64) (rel, error) {
		group, err := placeAll(n.GroupBy, in.ids())
		if err != nil {
			return rel{}, err
		}
		placed := make([]*expr.Agg, len(aggs))
		for i, a := range aggs {
			if placed[i], err = expr.MapAgg(a, func(e expr.Expr) (expr.Expr, error) { return place(e, in.ids()) }); err != nil {
				return rel{}, err
			}
		}
		out := rel{cols: cols, rows: groups, cost: c}
		if stream {
			out.node = &physical.StreamAggregate{Base: base(cols, groups, c), Input: in.node, GroupBy: group, Aggs: placed}
		} else {
			placed = countKeys(in.node, placed)
			out.node = &physical.HashAggregate{Base: base(cols, groups, c), Input: p.searchGroups(in.node, group, placed, func() bool { return p.manyValues(n.GroupBy, in) }), GroupBy: group, Aggs: placed, Parallel: workers}
		}
		return out, nil
	}

	order, byOrder := groupOrder(n, req)
	if p.off("StreamAggregate") || slices.ContainsFunc(n.GroupBy, func(e expr.Expr) bool { return p.hasTwoOrders(e.Type()) }) {
		byOrder = false
	}
	if byOrder || len(n.GroupBy) == 0 {
		loose, ok, err := p.looseGroups(n, aggs, need, order)
		if err != nil {
			return rel{}, err
		}
		if ok && loose.cost+loose.rows*cost.StreamGroupRow < hashCost && !p.cheaperInOrder(n, need, order, loose) {
			workers = 1
			out, err := finish(loose, byOrder, loose.cost+loose.rows*cost.StreamGroupRow)
			out.ordered = true
			return out, err
		}
	}
	if byOrder {
		sorted, err := p.build(n.Input, request{cols: need, order: order, group: true})
		if err != nil {
			return rel{}, err
		}
		streamCost := sorted.cost + sorted.rows*cost.StreamGroupRow
		extra := 0.0
		if len(req.order) > 0 {
			extra = sortCost(groups, req.limit)
		}
		if req.limit > 0 && req.limit < groups {
			// The groups come one after the other: the input is read as far as
			// the limit needs.
			streamCost *= req.limit / groups
		}
		if sorted.ordered && (streamCost < hashCost+extra || hinted(sorted.node)) {
			out, err := finish(sorted, true, streamCost)
			out.ordered = true
			return out, err
		}
	}
	out, err := finish(hash, false, hashCost)
	out.ordered = len(req.order) == 0 || len(n.GroupBy) == 0
	return out, err
}

// rowsPerValue are the rows of a value from which computing with each value costs less
// than with each row.
const rowsPerValue = 8

// manyValues reports that the columns of groups have nearly as many values as there
// are rows.
func (p *planner) manyValues(groupBy []expr.Expr, in rel) bool {
	n := 1.0
	for _, g := range groupBy {
		n *= p.distinctColumns(g, in)
	}
	return n*rowsPerValue > in.rows
}

// groupOrder is the order of the input that makes equal groups adjacent and,
// if possible, yields the order that the consumer wants. ok is false when a
// group is not a plain column, or the wanted order is not one of groups.
func groupOrder(n *logical.Aggregate, req request) ([]orderKey, bool) {
	if len(n.GroupBy) == 0 {
		return nil, false
	}
	input := map[expr.ColID]expr.ColID{}
	var rest []expr.ColID
	for i, g := range n.GroupBy {
		c, ok := g.(*expr.Col)
		if !ok {
			return nil, false
		}
		input[n.GroupCols[i].ID] = c.ID
		rest = append(rest, c.ID)
	}
	var order []orderKey
	used := map[expr.ColID]bool{}
	for _, k := range req.order {
		id, ok := input[k.id]
		if !ok {
			return nil, false
		}
		if !used[id] {
			used[id] = true
			order = append(order, orderKey{id: id, desc: k.desc})
		}
	}
	for _, id := range rest {
		if !used[id] {
			used[id] = true
			order = append(order, orderKey{id: id})
		}
	}
	return order, true
}

// isPipeline reports whether n is a scan under filters, projects and joins that it
// probes, which can be run in partitions: not what sets variables or counts calls.
func isPipeline(n physical.Node) bool {
	switch x := n.(type) {
	case physical.TableNode:
		t, s := x.Reads(), x.Leaf()
		return t.Limit == nil && !t.Latest && !s.Access.FewKeys() && !anyEffect(t.Filter) && !anyEffect(s.Filter)
	case *physical.Filter:
		return isPipeline(x.Input) && !anyEffect(x.Conds)
	case *physical.Project:
		return isPipeline(x.Input) && !anyEffect(x.Exprs)
	case *physical.HashJoin:
		probe := x.Left
		if x.BuildLeft {
			if x.Kind != physical.JoinInner {
				return false // it gives nothing before it has read all
			}
			probe = x.Right
		}
		return isPipeline(probe) && !anyEffect(x.LeftKeys) && !anyEffect(x.RightKeys) && !anyEffect(x.Filter)
	case *physical.NestedLoop:
		return isPipeline(x.Left) && !anyEffect(x.Filter)
	case *physical.LookupJoin:
		r := x.Inner.Reads()
		return isPipeline(x.Left) && !r.Latest && !anyEffect(x.Keys) && !anyEffect(x.Filter) && !anyEffect(r.Filter) && !anyEffect(x.Inner.Leaf().Filter)
	}
	return false
}

func anyEffect(list []expr.Expr) bool {
	for _, e := range list {
		if isEffect(e) {
			return true
		}
	}
	return false
}

// canMerge reports whether partial results of all aggregates can be merged
// without regard to order.
func canMerge(aggs []*expr.Agg) bool {
	for _, a := range aggs {
		switch a.Op {
		case expr.AggGroupConcat, expr.AggJSONArrayAgg, expr.AggJSONObjectAgg, expr.AggSTCollect:
			return false
		}
	}
	return true
}
