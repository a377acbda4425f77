package rewrite

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/value"
)

// existsToSemiJoin makes a semi join of a correlated EXISTS in a condition, an
// anti join of NOT EXISTS:
//
//	SELECT … FROM a WHERE EXISTS (SELECT 1 FROM b WHERE b.x = a.x)
//
// One that is not correlated stays: it runs once.
func (r *Rewriter) existsToSemiJoin(n logical.Node) logical.Node {
	wanted := func(e expr.Expr) bool {
		s, _ := isQuery(e, expr.SubqueryExists)
		return s != nil && len(s.Outer) > 0 && r.mayJoin(s, "ExistsToSemiJoin")
	}
	var rule func(n logical.Node) logical.Node
	rule = func(n logical.Node) logical.Node {
		return conditionsWith(n, wanted, func(below logical.Node, cond expr.Expr) logical.Node {
			s, not := isQuery(cond, expr.SubqueryExists)
			plan := r.take(s, rule)
			if plan == nil || hasEffects(plan) {
				return nil
			}
			rows, ok := anyRow(plan)
			if !ok {
				return nil
			}
			inner, conds, ok := r.pull(rows, true)
			if !ok || len(conds) == 0 || s.SemiJoin != expr.SemiJoinAlways && !r.joinPays(below, inner, plan, anyEqui(conds), nil) {
				return nil
			}
			r.taken(s)
			j := &logical.Join{Kind: logical.JoinSemi, Left: below, Right: inner, On: withOuter(conds, s.Outer)}
			if not {
				j.Kind = logical.JoinAnti
			}
			return j
		})
	}
	return bottomUp(n, rule)
}

// anyRow takes off what does not decide whether a plan has a row; ok is false
// when it has one, or none, in any case.
func anyRow(n logical.Node) (logical.Node, bool) {
	for {
		switch x := n.(type) {
		case *logical.Project:
			n = x.Input
		case *logical.Sort:
			n = x.Input
		case *logical.Distinct:
			n = x.Input
		case *logical.Limit:
			if !isPositive(x.Count) || x.Offset != nil {
				return n, false
			}
			n = x.Input
		case *logical.Aggregate:
			if len(x.GroupBy) == 0 {
				return n, false
			}
			n = x.Input
		default:
			return n, true
		}
	}
}

func isPositive(e expr.Expr) bool {
	c, ok := e.(*expr.Const)
	return ok && c.D.Kind() == value.KindUint && c.D.Uint() > 0
}
