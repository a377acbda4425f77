package planner

import (
	"math"

	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// apply runs the right side for each left row, in their order.
func (p *planner) apply(n *logical.Apply, req request) (rel, error) {
	left := req
	left.cols = p.addReads(p.addReads(req.cols, n.On...), n.Params...)
	if n.Kind != logical.JoinLeft {
		left.limit, left.limitExpr = 0, nil
	}
	l, err := p.build(n.Left, left)
	if err != nil {
		return rel{}, err
	}
	workers := p.opts.Parallelism
	p.opts.Parallelism = 1
	r, err := p.build(n.Right, request{cols: p.addReads(req.cols, n.On...)})
	p.opts.Parallelism = workers
	if err != nil {
		return rel{}, err
	}
	params, err := placeAll(n.Params, l.ids())
	if err != nil {
		return rel{}, err
	}
	filter, err := placeAll(cheapFirst(n.On), append(l.ids(), r.ids()...))
	if err != nil {
		return rel{}, err
	}
	j := pair{kind: n.Kind, left: l, right: r, rows: l.rows * r.rows * math.Pow(0.4, float64(len(n.On)))}
	out := rel{cols: joinColumns(l.cols, r.cols, n.Kind), rows: j.kindRows(), cost: l.cost + l.rows*(r.cost+cost.ApplyRun)}
	out.ordered = len(req.order) == 0 || l.ordered
	out.node = &physical.Apply{Base: base(out.cols, out.rows, out.cost), Kind: physical.JoinKind(n.Kind), Left: l.node, Right: r.node,
		Params: params, Filter: filter}
	return out, nil
}
