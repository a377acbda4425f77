package rewrite

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// pushFilters moves each condition as far down as it goes: through projects
// (with their expressions put in), into the sides of joins, below grouping when
// it reads only groups, into both sides of set operations, until it stands on
// the table that it is about. ON conditions of inner joins move with them.
func (r *Rewriter) pushFilters(n logical.Node) logical.Node { return push(n, nil) }

// push rewrites n so that conds, which read n's columns, hold for its rows.
func push(n logical.Node, conds []expr.Expr) logical.Node {
	switch x := n.(type) {
	case *logical.Filter:
		if anyVolatile(x.Conds) {
			return filter(&logical.Filter{Input: push(x.Input, nil), Conds: x.Conds}, conds)
		}
		var all []expr.Expr
		for _, c := range x.Conds {
			all = expr.SplitAnd(all, c)
		}
		return push(x.Input, append(all, conds...))
	case *logical.Project:
		return pushProject(x, conds)
	case *logical.Join:
		return pushJoin(x, conds)
	case *logical.Aggregate:
		return pushAggregate(x, conds)
	case *logical.Sort, *logical.Distinct:
		return withInputs(n, []logical.Node{push(n.Inputs()[0], conds)})
	case *logical.SetOperation:
		return pushSetOperation(x, conds)
	case *logical.Limit:
		return filter(withInputs(x, []logical.Node{push(x.Input, nil)}), conds)
	}
	return filter(n, conds)
}

func filter(n logical.Node, conds []expr.Expr) logical.Node {
	if len(conds) == 0 {
		return n
	}
	return &logical.Filter{Input: n, Conds: conds}
}

// substitute replaces columns by expressions.
func substitute(e expr.Expr, with map[expr.ColID]expr.Expr) expr.Expr {
	return expr.Map(e, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Col); ok {
			if by := with[c.ID]; by != nil {
				return by
			}
		}
		return x
	})
}

func pushProject(x *logical.Project, conds []expr.Expr) logical.Node {
	with := map[expr.ColID]expr.Expr{}
	for i, c := range x.Cols {
		with[c.ID] = x.Exprs[i]
	}
	volatile := anyVolatile(x.Exprs)
	var below, stay []expr.Expr
	for _, c := range conds {
		if volatile || isVolatile(c) {
			stay = append(stay, c)
			continue
		}
		below = append(below, substitute(c, with))
	}
	c := *x
	c.Input = push(x.Input, below)
	return filter(&c, stay)
}

func pushJoin(x *logical.Join, conds []expr.Expr) logical.Node {
	left, right := columnsOf(x.Left), columnsOf(x.Right)
	var toLeft, toRight, on, stay []expr.Expr
	var own []expr.Expr
	for _, c := range x.On {
		own = expr.SplitAnd(own, c)
	}
	for _, c := range conds {
		switch {
		case isVolatile(c):
			stay = append(stay, c)
		case left.within(c):
			toLeft = append(toLeft, c)
		case x.Kind == logical.JoinInner && right.within(c):
			toRight = append(toRight, c)
		case x.Kind == logical.JoinInner:
			on = append(on, c)
		default:
			stay = append(stay, c)
		}
	}
	for _, c := range own {
		switch {
		case isVolatile(c):
			on = append(on, c)
		case right.within(c) && x.Kind != logical.JoinAnti || right.within(c) && right.reads(c):
			toRight = append(toRight, c)
		case left.within(c) && (x.Kind == logical.JoinInner || x.Kind == logical.JoinSemi):
			toLeft = append(toLeft, c)
		default:
			on = append(on, c)
		}
	}
	c := *x
	c.Left, c.Right, c.On = push(x.Left, toLeft), push(x.Right, toRight), on
	return filter(&c, stay)
}

func pushAggregate(x *logical.Aggregate, conds []expr.Expr) logical.Node {
	with := map[expr.ColID]expr.Expr{}
	groups := colSet{}
	for i, c := range x.GroupCols {
		with[c.ID] = x.GroupBy[i]
		groups[c.ID] = true
	}
	var below, stay []expr.Expr
	for _, c := range conds {
		if len(x.GroupBy) > 0 && groups.within(c) && groups.reads(c) && !isVolatile(c) {
			below = append(below, substitute(c, with))
		} else {
			stay = append(stay, c)
		}
	}
	c := *x
	c.Input = push(x.Input, below)
	return filter(&c, stay)
}

func pushSetOperation(x *logical.SetOperation, conds []expr.Expr) logical.Node {
	var toLeft, toRight, stay []expr.Expr
	leftWith, rightWith := map[expr.ColID]expr.Expr{}, map[expr.ColID]expr.Expr{}
	left, right := x.Left.Columns(), x.Right.Columns()
	for i, c := range x.Output {
		leftWith[c.ID], rightWith[c.ID] = column(left[i]), column(right[i])
	}
	for _, c := range conds {
		if isVolatile(c) {
			stay = append(stay, c)
			continue
		}
		toLeft = append(toLeft, substitute(c, leftWith))
		toRight = append(toRight, substitute(c, rightWith))
	}
	out := *x
	out.Left, out.Right = push(x.Left, toLeft), push(x.Right, toRight)
	return filter(&out, stay)
}

func column(c logical.Column) *expr.Col {
	return &expr.Col{ID: c.ID, Index: -1, T: c.T, Null: c.Null, Table: c.Table, Name: c.Name}
}
