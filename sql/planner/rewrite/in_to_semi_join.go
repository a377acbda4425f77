package rewrite

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// inToSemiJoin makes a semi join of IN (subquery) in a condition, an anti join
// of NOT IN. Where neither side can be NULL an anti join is NOT IN; otherwise
// rows whose comparison is NULL must match too, which is no equality:
//
//	a.x NOT IN (SELECT b.x FROM b WHERE b.k = a.k)
//
// joins on b.k = a.k AND (a.x = b.x) IS NOT FALSE. Without such a further
// equality it stays: its rows are kept as a set, which knows about NULL.
func (r *Rewriter) inToSemiJoin(n logical.Node) logical.Node {
	wanted := func(e expr.Expr) bool {
		s, _ := isQuery(e, expr.SubqueryIn)
		return s != nil && r.mayJoin(s, "InToSemiJoin") && (len(s.Outer) > 0 || !allConst(s.Left))
	}
	var rule func(n logical.Node) logical.Node
	rule = func(n logical.Node) logical.Node {
		return conditionsWith(n, wanted, func(below logical.Node, cond expr.Expr) logical.Node {
			s, not := isQuery(cond, expr.SubqueryIn)
			plan := r.take(s, rule)
			if plan == nil || hasEffects(plan) {
				return nil
			}
			cols := plan.Columns()
			inner, conds, ok := r.pull(plan, true)
			if !ok {
				return nil
			}
			conds = withOuter(conds, s.Outer)
			kind := logical.JoinSemi
			if not {
				kind = logical.JoinAnti
			}
			on, ok := r.membership(s, cols, not, conds)
			if !ok || len(s.Outer) > 0 && s.SemiJoin != expr.SemiJoinAlways && !r.joinPays(below, inner, plan, anyEqui(on) || anyEqui(conds), nil) {
				return nil
			}
			r.taken(s)
			return &logical.Join{Kind: kind, Left: below, Right: inner, On: append(on, conds...)}
		})
	}
	return bottomUp(n, rule)
}

// membership are the conditions under which a row of the subquery decides IN,
// or NOT IN. ok is false when they would be no equalities and conds has none.
func (r *Rewriter) membership(s *expr.Subquery, cols []logical.Column, not bool, conds []expr.Expr) (on []expr.Expr, ok bool) {
	nullable := false
	on = make([]expr.Expr, len(s.Left))
	for i, l := range s.Left {
		eq, err := expr.NewFunc(r.Bind, "=", l, column(cols[i]))
		if err != nil {
			return nil, false
		}
		on[i] = eq
		nullable = nullable || l.Nullable() || cols[i].Null
	}
	if !not || !nullable {
		return on, true
	}
	if !anyEqui(conds) {
		return nil, false
	}
	all := on[0]
	if len(on) > 1 {
		var err error
		if all, err = expr.NewFunc(r.Bind, "and", on...); err != nil {
			return nil, false
		}
	}
	isFalse, err := expr.NewFunc(r.Bind, "is_false", all)
	if err != nil {
		return nil, false
	}
	e, err := expr.NewFunc(r.Bind, "not", isFalse)
	return []expr.Expr{e}, err == nil
}

func allConst(list []expr.Expr) bool {
	for _, e := range list {
		if !expr.IsConst(e) {
			return false
		}
	}
	return true
}
