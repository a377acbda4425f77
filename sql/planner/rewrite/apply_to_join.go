package rewrite

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// applyToJoin makes a join of an Apply whose right side reads outer values in
// conditions alone, which become conditions of the join, or, of an inner one, in
// the expressions of its select list, which are computed above:
//
//	SELECT … FROM a JOIN LATERAL (SELECT b.v + a.y FROM b WHERE b.x = a.x) d
//
// A right side that aggregates is grouped, as a scalar subquery is.
func (r *Rewriter) applyToJoin(n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		a, ok := n.(*logical.Apply)
		if !ok || a.Kind != logical.JoinInner && a.Kind != logical.JoinLeft || hasEffects(a.Right) || anyVolatile(a.On) {
			return n
		}
		right := a.Right
		if s, ok := right.(*logical.Sort); ok {
			right = s.Input
		}
		p, isProject := right.(*logical.Project)
		if isProject && anySubquery(p.Exprs) {
			return n
		}
		if isProject && (a.Kind == logical.JoinInner || len(a.On) == 0) {
			if g, ok := firstRow(p.Input).(*logical.Aggregate); ok && len(g.GroupBy) == 0 {
				if out := r.applyGroups(a, p, g); out != nil {
					return out
				}
				return n
			}
		}
		if isProject && a.Kind == logical.JoinInner && anyOuter(p.Exprs) {
			inner, conds, ok := r.pull(p.Input, false)
			if !ok || !r.joinPays(a.Left, inner, a.Right, anyEqui(conds), nil) {
				return n
			}
			vals := withOuter(p.Exprs, a.Params)
			on := append(substituteAll(a.On, byColumn(p.Cols, vals)), withOuter(conds, a.Params)...)
			return above(&logical.Join{Left: a.Left, Right: inner, On: on}, a, p.Cols, vals)
		}
		inner, conds, ok := r.pull(right, false)
		if !ok || !r.joinPays(a.Left, inner, a.Right, anyEqui(conds), nil) {
			return n
		}
		j := &logical.Join{Kind: a.Kind, Left: a.Left, Right: inner, On: append(append([]expr.Expr(nil), a.On...), withOuter(conds, a.Params)...)}
		return restored(j, a.Columns())
	})
}

// applyGroups is for a right side of one row that aggregates; nil if it stays.
func (r *Rewriter) applyGroups(a *logical.Apply, p *logical.Project, g *logical.Aggregate) logical.Node {
	joined, vals, ok := r.groupJoin(a.Left, g, p.Exprs, a.Params, a.Right, nil)
	if !ok {
		return nil
	}
	out := above(joined, a, p.Cols, vals)
	return filter(out, a.On)
}

func byColumn(cols []logical.Column, vals []expr.Expr) map[expr.ColID]expr.Expr {
	with := map[expr.ColID]expr.Expr{}
	for i, c := range cols {
		with[c.ID] = vals[i]
	}
	return with
}

// above computes the right columns of a over a join with its left side.
func above(joined logical.Node, a *logical.Apply, cols []logical.Column, vals []expr.Expr) logical.Node {
	out := restored(joined, a.Left.Columns()).(*logical.Project)
	out.Cols = append(append([]logical.Column(nil), out.Cols...), cols...)
	out.Exprs = append(out.Exprs, vals...)
	return out
}

func anyOuter(list []expr.Expr) bool {
	for _, e := range list {
		if expr.ReadsOuter(e) {
			return true
		}
	}
	return false
}

func anySubquery(list []expr.Expr) bool {
	for _, e := range list {
		if readsSubquery(e) {
			return true
		}
	}
	return false
}
