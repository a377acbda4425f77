package planner

import (
	"math"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// rollup builds a Rollup over its input in the order of the groups. Rows come out
// group by group, each sum after what it sums up, which is no order that a
// consumer could request.
func (p *planner) rollup(n *logical.Rollup, req request) (rel, error) {
	need := p.addReads(nil, n.GroupBy...)
	var aggs []*expr.Agg
	cols := append(append([]logical.Column(nil), n.GroupCols...), n.Rolled)
	for i, a := range n.Aggs {
		if req.cols[n.AggCols[i].ID] {
			aggs, cols = append(aggs, a), append(cols, n.AggCols[i])
			need = p.addReads(need, expr.AggInputs(a)...)
		}
	}
	sort := &logical.Sort{Input: n.Input}
	for _, e := range n.GroupBy {
		if _, ok := e.(*expr.Col); !ok {
			return rel{}, sqlerr.Internal("rollup by %s", e)
		}
		sort.Keys = append(sort.Keys, logical.SortKey{Expr: e})
	}
	in, err := p.sorted(sort, nil, nil, request{cols: need})
	if err != nil {
		return rel{}, err
	}
	groups := 1.0
	for _, g := range n.GroupBy {
		groups *= p.distinctValues(g, in)
	}
	groups = math.Max(1, math.Min(groups, in.rows))
	out := rel{cols: cols, rows: groups + math.Sqrt(groups), ordered: len(req.order) == 0}
	out.cost = in.cost + in.rows*cost.StreamGroupRow*float64(len(n.GroupBy)+1)
	node := &physical.Rollup{Base: base(cols, out.rows, out.cost), Input: in.node}
	if node.GroupBy, err = placeAll(n.GroupBy, in.ids()); err != nil {
		return rel{}, err
	}
	for _, a := range aggs {
		placed, err := expr.MapAgg(a, func(e expr.Expr) (expr.Expr, error) { return place(e, in.ids()) })
		if err != nil {
			return rel{}, err
		}
		node.Aggs = append(node.Aggs, placed)
	}
	out.node = node
	return out, nil
}
