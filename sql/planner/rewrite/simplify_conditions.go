package rewrite

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/value"
)

// simplifyConditions takes literals out of conditions: of a condition it only
// matters whether it is true, so that NULL counts as false below AND and OR (but
// not below NOT).
func (r *Rewriter) simplifyConditions(n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		switch x := n.(type) {
		case *logical.Filter:
			conds, changed := simplifyList(x.Conds)
			switch {
			case !changed:
				return n
			case len(conds) == 0:
				return x.Input
			}
			return &logical.Filter{Input: x.Input, Conds: conds}
		case *logical.Join:
			conds, changed := simplifyList(x.On)
			if !changed {
				return n
			}
			c := *x
			c.On = conds
			return &c
		case *logical.Apply:
			conds, changed := simplifyList(x.On)
			if !changed {
				return n
			}
			c := *x
			c.On = conds
			return &c
		}
		return n
	})
}

// simplifyList simplifies conjuncts: none are left when all are true, the
// false one alone when there is one.
func simplifyList(list []expr.Expr) (out []expr.Expr, changed bool) {
	for i, e := range list {
		s := simplifyCondition(e)
		truth := truthOf(s)
		if truth == isFalse && !anyVolatile(list) {
			return []expr.Expr{s}, len(list) > 1 || s != e
		}
		if out == nil && (s != e || truth == isTrue) {
			out = append(make([]expr.Expr, 0, len(list)), list[:i]...)
			changed = true
		}
		if changed && truth != isTrue {
			out = append(out, s)
		}
	}
	if !changed {
		return list, false
	}
	return out, true
}

type truth uint8

const (
	unknownTruth truth = iota
	isTrue
	isFalse // or NULL
)

func truthOf(e expr.Expr) truth {
	c, ok := e.(*expr.Const)
	if !ok {
		return unknownTruth
	}
	switch c.D.Kind() {
	case value.KindNull:
		return isFalse
	case value.KindInt, value.KindUint:
		if c.D.Bits() == 0 {
			return isFalse
		}
		return isTrue
	}
	return unknownTruth
}

// simplifyCondition removes literals below AND and OR; e itself without any.
func simplifyCondition(e expr.Expr) expr.Expr {
	f, ok := e.(*expr.Func)
	if !ok || f.Op != expr.OpAnd && f.Op != expr.OpOr || isVolatile(f) {
		return e
	}
	// AND ends at the first false operand, OR at the first true one.
	neutral, final := isTrue, isFalse
	if f.Op == expr.OpOr {
		neutral, final = isFalse, isTrue
	}
	args := make([]expr.Expr, 0, len(f.Args))
	changed := false
	var last expr.Expr
	for _, a := range f.Args {
		s := simplifyCondition(a)
		changed = changed || s != a
		switch truthOf(s) {
		case final:
			return s
		case neutral:
			changed, last = true, s
			continue
		}
		args = append(args, s)
	}
	switch {
	case !changed:
		return e
	case len(args) == 0:
		return last
	case len(args) == 1:
		return args[0]
	}
	return f.With(args)
}
