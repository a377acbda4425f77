package rewrite

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// foldConstants computes literal-only parts of expressions once. What would
// fail or warn is left for execution.
func (r *Rewriter) foldConstants(n logical.Node) logical.Node {
	if r.Ctx == nil {
		return n
	}
	fold := func(list []expr.Expr) []expr.Expr {
		var out []expr.Expr
		for i, e := range list {
			f := expr.Fold(r.Ctx, e)
			if out == nil && f != e {
				out = append(make([]expr.Expr, 0, len(list)), list[:i]...)
			}
			if out != nil {
				out = append(out, f)
			}
		}
		if out == nil {
			return list
		}
		return out
	}
	return bottomUp(n, func(n logical.Node) logical.Node {
		switch x := n.(type) {
		case *logical.Filter:
			if list := fold(x.Conds); !same(list, x.Conds) {
				return &logical.Filter{Input: x.Input, Conds: list}
			}
		case *logical.Project:
			if list := fold(x.Exprs); !same(list, x.Exprs) {
				return &logical.Project{Input: x.Input, Exprs: list, Cols: x.Cols}
			}
		case *logical.Join:
			c := *x
			c.On = fold(x.On)
			return &c
		case *logical.Apply:
			c := *x
			c.On = fold(x.On)
			return &c
		}
		return n
	})
}

func same(a, b []expr.Expr) bool { return len(a) == 0 || &a[0] == &b[0] }
