package rewrite

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// simplifyOuterJoin makes a left join an inner join where a condition above it
// is never true for the rows that the join fills with NULL:
//
//	SELECT … FROM a LEFT JOIN b ON a.x = b.x WHERE b.y > 5
func (r *Rewriter) simplifyOuterJoin(n logical.Node) logical.Node {
	return simplifyOuter(n, nil)
}

// simplifyOuter rewrites n; conds hold for every row that survives above it.
func simplifyOuter(n logical.Node, conds []expr.Expr) logical.Node {
	switch x := n.(type) {
	case *logical.Filter:
		return withInputs(x, []logical.Node{simplifyOuter(x.Input, append(append([]expr.Expr(nil), conds...), x.Conds...))})
	case *logical.Join:
		c := *x
		if c.Kind == logical.JoinLeft && rejectsNull(conds, columnsOf(c.Right)) {
			c.Kind = logical.JoinInner
		}
		left, right := conds, []expr.Expr(nil)
		switch c.Kind {
		case logical.JoinInner:
			left = append(append([]expr.Expr(nil), conds...), c.On...)
			right = left
		case logical.JoinSemi:
			left = append(append([]expr.Expr(nil), conds...), c.On...)
			right = c.On
		case logical.JoinLeft:
			right = c.On
		}
		c.Left, c.Right = simplifyOuter(c.Left, left), simplifyOuter(c.Right, right)
		return &c
	case *logical.Apply:
		c := *x
		left := conds
		if c.Kind == logical.JoinLeft && rejectsNull(conds, columnsOf(c.Right)) {
			c.Kind = logical.JoinInner
		}
		if c.Kind == logical.JoinInner {
			left = append(append([]expr.Expr(nil), conds...), c.On...)
		}
		c.Left, c.Right = simplifyOuter(c.Left, left), simplifyOuter(c.Right, nil)
		return &c
	case *logical.Project:
		if anyVolatile(x.Exprs) {
			conds = nil
		}
		return withInputs(x, []logical.Node{simplifyOuter(x.Input, substituteAll(conds, projected(x)))})
	case *logical.Sort, *logical.Distinct:
		return withInputs(n, []logical.Node{simplifyOuter(n.Inputs()[0], conds)})
	}
	in := n.Inputs()
	out := make([]logical.Node, len(in))
	for i := range in {
		out[i] = simplifyOuter(in[i], nil)
	}
	return withInputs(n, out)
}

// rejectsNull reports whether one of the conditions is not true when all
// columns of s are NULL.
func rejectsNull(conds []expr.Expr, s colSet) bool {
	for _, c := range conds {
		if nullRejecting(c, s) {
			return true
		}
	}
	return false
}

func nullRejecting(e expr.Expr, s colSet) bool {
	f, ok := e.(*expr.Func)
	if !ok {
		return isColOf(e, s)
	}
	switch f.Op {
	case expr.OpEQ, expr.OpLT, expr.OpLE, expr.OpGT, expr.OpGE, expr.OpNE:
		return strictIn(f.Args[0], s) || strictIn(f.Args[1], s)
	case expr.OpLike, expr.OpIn:
		return strictIn(f.Args[0], s)
	case expr.OpAnd:
		for _, a := range f.Args {
			if nullRejecting(a, s) {
				return true
			}
		}
	case expr.OpOr:
		for _, a := range f.Args {
			if !nullRejecting(a, s) {
				return false
			}
		}
		return len(f.Args) > 0
	case expr.OpNot:
		if g, ok := f.Args[0].(*expr.Func); ok {
			switch g.Op {
			case expr.OpIsNull:
				return strictIn(g.Args[0], s)
			case expr.OpEQ, expr.OpLT, expr.OpLE, expr.OpGT, expr.OpGE, expr.OpNE, expr.OpLike, expr.OpIn:
				return nullRejecting(g, s) // NOT NULL is NULL
			}
		}
	}
	return false
}

// strictIn reports whether e is NULL when the columns of s are.
func strictIn(e expr.Expr, s colSet) bool {
	if isColOf(e, s) {
		return true
	}
	f, ok := e.(*expr.Func)
	if !ok {
		return false
	}
	switch f.Op {
	case expr.OpPlus, expr.OpMinus, expr.OpTimes, expr.OpDivide, expr.OpMod, expr.OpIntDiv, expr.OpNeg, expr.OpCast:
		for _, a := range f.Args {
			if strictIn(a, s) {
				return true
			}
		}
	}
	return false
}

func isColOf(e expr.Expr, s colSet) bool {
	c, ok := e.(*expr.Col)
	return ok && s[c.ID]
}
