package rewrite

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// mergeProjects makes one project of two when the inner one only renames or
// is used once for each of its expressions.
func (r *Rewriter) mergeProjects(n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		outer, ok := n.(*logical.Project)
		if !ok {
			return n
		}
		inner, ok := outer.Input.(*logical.Project)
		if !ok || anyVolatile(inner.Exprs) {
			return n
		}
		uses := map[expr.ColID]int{}
		for _, e := range outer.Exprs {
			expr.Walk(e, func(x expr.Expr) bool {
				if c, isCol := x.(*expr.Col); isCol {
					uses[c.ID]++
				}
				return true
			})
		}
		with := map[expr.ColID]expr.Expr{}
		for i, c := range inner.Cols {
			if !isCheap(inner.Exprs[i]) && uses[c.ID] > 1 {
				return n
			}
			with[c.ID] = inner.Exprs[i]
		}
		exprs := make([]expr.Expr, len(outer.Exprs))
		for i, e := range outer.Exprs {
			exprs[i] = substitute(e, with)
		}
		return &logical.Project{Input: inner.Input, Exprs: exprs, Cols: outer.Cols}
	})
}

func isCheap(e expr.Expr) bool {
	switch x := e.(type) {
	case *expr.Func:
		return false
	case *expr.Subquery:
		return len(x.Outer) == 0
	}
	return true
}
