package rewrite

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// propagateEmpty replaces what cannot have rows by Values without rows: a
// filter with a condition that is never true, and what is built upon it. An
// aggregation without GROUP BY has a row even so; an outer join only needs its
// left rows.
func (r *Rewriter) propagateEmpty(n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		switch x := n.(type) {
		case *logical.Filter:
			if isEmpty(x.Input) || neverTrue(x.Conds) {
				return emptyOf(n)
			}
		case *logical.Project, *logical.Sort, *logical.Distinct, *logical.Limit, *logical.Window:
			if isEmpty(n.Inputs()[0]) {
				return emptyOf(n)
			}
		case *logical.Rollup:
			if isEmpty(x.Input) {
				return emptyOf(n) // not even the sum of all, as in MySQL
			}
		case *logical.Aggregate:
			if len(x.GroupBy) > 0 && isEmpty(x.Input) {
				return emptyOf(n)
			}
		case *logical.Join:
			return emptyJoin(x)
		case *logical.SetOperation:
			return emptySet(x)
		}
		return n
	})
}

func neverTrue(conds []expr.Expr) bool {
	for _, c := range conds {
		if truthOf(c) == isFalse {
			return !anyVolatile(conds)
		}
	}
	return false
}

func isEmpty(n logical.Node) bool {
	v, ok := n.(*logical.Values)
	return ok && len(v.Rows) == 0
}

func emptyOf(n logical.Node) logical.Node { return &logical.Values{Cols: n.Columns()} }

func emptyJoin(x *logical.Join) logical.Node {
	left, right := isEmpty(x.Left), isEmpty(x.Right)
	never := neverTrue(x.On)
	switch x.Kind {
	case logical.JoinInner, logical.JoinSemi:
		if left || right || never {
			return emptyOf(x)
		}
	case logical.JoinLeft:
		if left {
			return emptyOf(x)
		}
	case logical.JoinAnti:
		if left {
			return emptyOf(x)
		}
		if right || never {
			return x.Left
		}
	}
	return x
}

func emptySet(x *logical.SetOperation) logical.Node {
	left, right := isEmpty(x.Left), isEmpty(x.Right)
	switch {
	case left && (right || x.Op != logical.SetUnion), right && x.Op == logical.SetIntersect:
		return emptyOf(x)
	case left:
		return onlySide(x, x.Right)
	case right:
		return onlySide(x, x.Left)
	}
	return x
}

// onlySide is a set operation of which one side alone gives rows. Its texts have
// the collation of the set operation, not of the side.
func onlySide(x *logical.SetOperation, side logical.Node) logical.Node {
	p := &logical.Project{Input: side, Cols: x.Output, Exprs: make([]expr.Expr, len(x.Output))}
	for i, c := range side.Columns() {
		p.Exprs[i] = expr.WithCollation(column(c), x.Output[i].T.Collation)
	}
	if x.All {
		return p
	}
	return &logical.Distinct{Input: p}
}
