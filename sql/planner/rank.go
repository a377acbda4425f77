package planner

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/access"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// computed is the id of order keys that are no columns.
const computed = expr.ColID(-1)

// isRanking reports what a search index may rank rows by.
func isRanking(e expr.Expr) bool { return len(expr.Scores(e)) > 0 || access.IsDistance(e) }

// through is an expression over a project's columns as one over those of its input.
func through(e expr.Expr, n *logical.Project) (expr.Expr, bool) {
	ok := true
	out := expr.Map(e, func(x expr.Expr) expr.Expr {
		c, isCol := x.(*expr.Col)
		if !isCol {
			return x
		}
		for i, have := range n.Cols {
			if have.ID == c.ID {
				_, plain := n.Exprs[i].(*expr.Col)
				ok = ok && plain
				return n.Exprs[i]
			}
		}
		ok = false
		return x
	})
	return out, ok
}
