package planner

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// extremes answers MIN and MAX of columns, without groups, by one row from the
// end of an index each; ok is false when an aggregate is something else or no
// index has the order.
func (p *planner) extremes(n *logical.Aggregate, aggs []*expr.Agg, cols []logical.Column) (out rel, ok bool, err error) {
	if len(n.GroupBy) > 0 || len(aggs) == 0 || len(aggs) > 4 || p.off("IndexAccess") || p.off("MinMaxFromIndex") {
		return rel{}, false, nil
	}
	scan, _ := baseTable(n.Input)
	if scan == nil || scan.Lock.Strength != logical.LockNone {
		return rel{}, false, nil
	}
	for i, a := range aggs {
		one, ok, err := p.extreme(n.Input, a, cols[i])
		if err != nil || !ok {
			return rel{}, false, err
		}
		if i == 0 {
			out = one
			continue
		}
		j := &physical.NestedLoop{Kind: physical.JoinInner, Left: out.node, Right: one.node}
		out.cols = append(out.cols[:len(out.cols):len(out.cols)], one.cols...)
		out.cost += one.cost + cost.NestedPair
		j.Base = base(out.cols, 1, out.cost)
		out.node = j
	}
	return out, true, nil
}

// extreme aggregates the first row in the column's order. MIN leaves out NULL,
// which comes first; MAX meets it only when there is nothing else.
func (p *planner) extreme(input logical.Node, a *expr.Agg, out logical.Column) (rel, bool, error) {
	if a.Op != expr.AggMin && a.Op != expr.AggMax || len(a.Args) != 1 {
		return rel{}, false, nil
	}
	c, isCol := a.Args[0].(*expr.Col)
	if !isCol || c.T.ID == schema.TypeEnum || c.T.ID == schema.TypeSet || c.T.ID == schema.TypeJSON {
		return rel{}, false, nil // ENUM and SET compare as text here, but are ordered by number
	}
	if c.Null && a.Op == expr.AggMin {
		isNull, err := expr.NewFunc(p.opts.Bind, "is_null", c)
		if err != nil {
			return rel{}, false, err
		}
		notNull, err := expr.NewFunc(p.opts.Bind, "not", isNull)
		if err != nil {
			return rel{}, false, err
		}
		s, conds := baseTable(input)
		if s == nil {
			return rel{}, false, sqlerr.Internal("MIN over %T", input)
		}
		input = &logical.Filter{Input: s, Conds: append(append([]expr.Expr(nil), conds...), notNull)}
	}
	one := expr.NewConst(value.Uint(1), schema.Type{ID: schema.TypeBigInt, Unsigned: true, Len: 20, Collation: schema.CollationBinary})
	in, err := p.build(input, request{cols: p.addReads(nil, c), order: []orderKey{{id: c.ID, desc: a.Op == expr.AggMax}}, limit: 1, limitExpr: one})
	if err != nil || !in.ordered {
		return rel{}, false, err
	}
	in = p.limited(in, one, nil, 1)
	agg, err := expr.MapAgg(a, func(e expr.Expr) (expr.Expr, error) { return place(e, in.ids()) })
	if err != nil {
		return rel{}, false, err
	}
	cols := []logical.Column{out}
	return rel{cols: cols, rows: 1, cost: in.cost, node: &physical.HashAggregate{Base: base(cols, 1, in.cost), Input: in.node, Aggs: []*expr.Agg{agg}, Parallel: 1}}, true, nil
}
