package planner

import (
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
)

// cheapFirst puts the conditions that run a subquery for each row after the
// others. The order of conditions with effects is not touched.
func cheapFirst(conds []expr.Expr) []expr.Expr {
	if len(conds) < 2 || !slices.ContainsFunc(conds, runsSubquery) || anyEffect(conds) {
		return conds
	}
	out := slices.Clone(conds)
	slices.SortStableFunc(out, func(a, b expr.Expr) int {
		switch x, y := runsSubquery(a), runsSubquery(b); {
		case x == y:
			return 0
		case y:
			return -1
		}
		return 1
	})
	return out
}

// runsSubquery reports whether e has a subquery that reads columns.
func runsSubquery(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if s, ok := x.(*expr.Subquery); ok && len(s.Outer) > 0 {
			found = true
		}
		return !found
	})
	return found
}
