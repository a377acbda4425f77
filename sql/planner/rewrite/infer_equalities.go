package rewrite

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/types"
)

// inferEqualities adds comparisons with constants that follow from equalities
// of columns in inner joins, so that both sides can use an index:
//
//	a.x = b.x AND a.x = 5   gives also   b.x = 5
func (r *Rewriter) inferEqualities(n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		f, ok := n.(*logical.Filter)
		if !ok {
			j, isJoin := n.(*logical.Join)
			if !isJoin || j.Kind != logical.JoinInner {
				return n
			}
			added := r.inferred(j.On)
			if len(added) == 0 {
				return n
			}
			c := *j
			c.On = append(append([]expr.Expr(nil), j.On...), added...)
			return &c
		}
		conds := append([]expr.Expr(nil), f.Conds...)
		collectInnerConds(f.Input, &conds)
		added := r.inferred(conds)
		if len(added) == 0 {
			return n
		}
		c := *f
		c.Conds = append(append([]expr.Expr(nil), f.Conds...), added...)
		return &c
	})
}

// collectInnerConds adds the conditions of inner joins directly below, which
// hold for every row above them.
func collectInnerConds(n logical.Node, conds *[]expr.Expr) {
	switch x := n.(type) {
	case *logical.Join:
		if x.Kind == logical.JoinInner {
			*conds = append(*conds, x.On...)
			collectInnerConds(x.Left, conds)
			collectInnerConds(x.Right, conds)
		}
	case *logical.Filter:
		*conds = append(*conds, x.Conds...)
		collectInnerConds(x.Input, conds)
	}
}

// inferred are the new comparisons that follow from conds.
func (r *Rewriter) inferred(conds []expr.Expr) []expr.Expr {
	var list []expr.Expr
	for _, c := range conds {
		list = expr.SplitAnd(list, c)
	}
	known := map[string]bool{}
	for _, c := range list {
		known[c.String()] = true
	}
	var out []expr.Expr
	for i := 0; i < len(list) && len(list) < 200; i++ {
		eq, ok := list[i].(*expr.Func)
		if !ok || eq.Name != "=" {
			continue
		}
		a, okA := eq.Args[0].(*expr.Col)
		b, okB := eq.Args[1].(*expr.Col)
		if !okA || !okB || a.ID == b.ID || !sameValues(a.T, b.T) {
			continue
		}
		for _, c := range list {
			for _, pair := range [2][2]*expr.Col{{a, b}, {b, a}} {
				e := r.transfer(c, pair[0], pair[1])
				if e != nil && !known[e.String()] {
					known[e.String()] = true
					out = append(out, e)
					list = append(list, e)
				}
			}
		}
	}
	return out
}

// sameValues reports whether equality of columns of these types means that
// one may stand for the other in any comparison.
func sameValues(a, b schema.Type) bool {
	return types.KindOf(a) == types.KindOf(b) && a.ID == b.ID && a.Collation == b.Collation &&
		a.Unsigned == b.Unsigned && a.Scale == b.Scale && a.ID != schema.TypeJSON && a.ID != schema.TypeEnum && a.ID != schema.TypeSet
}

// transfer is the comparison c of column from with constants, said of column
// to; nil when c is nothing of the kind.
func (r *Rewriter) transfer(c expr.Expr, from, to *expr.Col) expr.Expr {
	f, ok := c.(*expr.Func)
	if !ok {
		return nil
	}
	switch f.Name {
	case "=", "<", "<=", ">", ">=", "in":
	default:
		return nil
	}
	found := false
	for _, a := range f.Args {
		if col, isCol := a.(*expr.Col); isCol && col.ID == from.ID {
			found = true
		} else if !expr.IsConst(a) {
			return nil
		}
	}
	if !found {
		return nil
	}
	return expr.Map(f, func(e expr.Expr) expr.Expr {
		if col, isCol := e.(*expr.Col); isCol && col.ID == from.ID {
			return to
		}
		return e
	})
}
