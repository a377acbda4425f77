package rewrite

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// pushFilters moves each condition as far down as it goes: through projects
// (with their expressions put in), into the sides of joins, below grouping when
// it reads only groups, below windows when it reads only partitions, into both
// sides of set operations, down to the table that it is about. ON conditions of inner joins move with them.
// Conditions with effects (RAND, user variables) stay, and see only the rows
// that the others leave; so do those that run a subquery for each row, above
// semi and anti joins.
func (r *Rewriter) pushFilters(n logical.Node) logical.Node { return push(n, nil) }

// push rewrites n so that conds, which read n's columns, hold for its rows.
func push(n logical.Node, conds []expr.Expr) logical.Node {
	switch x := n.(type) {
	case *logical.Filter:
		var all, stay []expr.Expr
		for _, c := range x.Conds {
			all = expr.SplitAnd(all, c)
		}
		all, stay = splitVolatile(append(all, conds...))
		return filter(push(x.Input, all), stay)
	case *logical.Project:
		return pushProject(x, conds)
	case *logical.Join:
		return pushJoin(x, conds)
	case *logical.Apply:
		return pushApply(x, conds)
	case *logical.Aggregate:
		return pushAggregate(x, conds)
	case *logical.Window:
		return pushWindow(x, conds)
	case *logical.Sort:
		return withInputs(n, []logical.Node{push(x.Input, conds)})
	case *logical.Distinct:
		below, stay := splitByEquals(conds)
		return filter(withInputs(n, []logical.Node{push(x.Input, below)}), stay)
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

func splitVolatile(conds []expr.Expr) (plain, volatile []expr.Expr) {
	for _, c := range conds {
		if isVolatile(c) {
			volatile = append(volatile, c)
		} else {
			plain = append(plain, c)
		}
	}
	return plain, volatile
}

// splitByEquals separates the conditions that have one answer for all values that
// are equal from those that distinguish 'a' from 'A': the latter must see the row
// that stands for its duplicates or its group, not take some of them out before.
//
//	SELECT * FROM (SELECT name, COUNT(*) FROM t GROUP BY name) d WHERE BINARY name = 'a'
func splitByEquals(conds []expr.Expr) (same, differ []expr.Expr) {
	for _, c := range conds {
		if !isVolatile(c) && sameForEquals(c) {
			same = append(same, c)
		} else {
			differ = append(differ, c)
		}
	}
	return same, differ
}

func sameForEquals(e expr.Expr) bool {
	switch x := e.(type) {
	case *expr.Col:
		return equalIsSame(x.T)
	case *expr.Subquery:
		for _, l := range expr.Children(x) {
			if !sameForEquals(l) {
				return false
			}
		}
	case *expr.Func:
		for _, a := range x.Args {
			if c, ok := a.(*expr.Col); ok && respects(x, c.T) {
				continue
			}
			if !sameForEquals(a) {
				return false
			}
		}
	}
	return true
}

// equalIsSame reports types whose equal values are the same value.
func equalIsSame(t schema.Type) bool {
	switch {
	case t.IsString():
		return t.IsBinary()
	case t.IsFloat(), t.ID == schema.TypeJSON:
		return false // 0 and -0, 1 and 1.0
	}
	return true
}

// respects reports whether f gives equal values of type t the same answer.
func respects(f *expr.Func, t schema.Type) bool {
	switch f.Op {
	case expr.OpIsNull:
		return true
	case expr.OpEQ, expr.OpLT, expr.OpLE, expr.OpGT, expr.OpGE, expr.OpNE, expr.OpNullEQ, expr.OpIn:
		if !t.IsString() {
			return t.IsFloat()
		}
		c, ok := expr.CompareCollation(f)
		return ok && c == t.Collation
	}
	return false
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

func substituteAll(list []expr.Expr, with map[expr.ColID]expr.Expr) []expr.Expr {
	out := make([]expr.Expr, len(list))
	for i, e := range list {
		out[i] = substitute(e, with)
	}
	return out
}

// projected are the expressions of a project by their columns.
func projected(x *logical.Project) map[expr.ColID]expr.Expr {
	with := make(map[expr.ColID]expr.Expr, len(x.Cols))
	for i, c := range x.Cols {
		with[c.ID] = x.Exprs[i]
	}
	return with
}

func pushProject(x *logical.Project, conds []expr.Expr) logical.Node {
	if len(conds) == 0 {
		return withInputs(x, []logical.Node{push(x.Input, nil)})
	}
	with := projected(x)
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
		case isVolatile(c), x.Kind >= logical.JoinSemi && runsSubquery(c):
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

// runsSubquery reports whether c has a subquery that reads columns.
func runsSubquery(c expr.Expr) bool {
	found := false
	expr.Walk(c, func(x expr.Expr) bool {
		s, ok := x.(*expr.Subquery)
		found = found || ok && len(s.Outer) > 0
		return !found
	})
	return found
}

// pushApply moves conditions on left columns to the left. Those on right ones
// stay: the right plan is made of other columns.
func pushApply(x *logical.Apply, conds []expr.Expr) logical.Node {
	left := columnsOf(x.Left)
	var toLeft, stay []expr.Expr
	for _, c := range conds {
		if !isVolatile(c) && left.within(c) {
			toLeft = append(toLeft, c)
		} else {
			stay = append(stay, c)
		}
	}
	c := *x
	c.Left, c.Right = push(x.Left, toLeft), push(x.Right, nil)
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
		if len(x.GroupBy) > 0 && groups.within(c) && groups.reads(c) && !isVolatile(c) && sameForEquals(c) {
			below = append(below, substitute(c, with))
		} else {
			stay = append(stay, c)
		}
	}
	c := *x
	c.Input = push(x.Input, below)
	return filter(&c, stay)
}

// pushWindow lets conditions on the columns of PARTITION BY through: they take
// whole partitions out, which no other partition sees. All others must not
// change what functions see:
//
//	SELECT * FROM (SELECT id, COUNT(*) OVER () n FROM t) d WHERE id = 1
func pushWindow(x *logical.Window, conds []expr.Expr) logical.Node {
	keys := colSet{}
	for _, e := range x.PartitionBy {
		if c, ok := e.(*expr.Col); ok {
			keys[c.ID] = true
		}
	}
	var below, stay []expr.Expr
	for _, c := range conds {
		if keys.within(c) && keys.reads(c) && !isVolatile(c) && sameForEquals(c) {
			below = append(below, c)
		} else {
			stay = append(stay, c)
		}
	}
	return filter(withInputs(x, []logical.Node{push(x.Input, below)}), stay)
}

func pushSetOperation(x *logical.SetOperation, conds []expr.Expr) logical.Node {
	var toLeft, toRight, stay []expr.Expr
	leftWith, rightWith := map[expr.ColID]expr.Expr{}, map[expr.ColID]expr.Expr{}
	left, right := x.Left.Columns(), x.Right.Columns()
	for i, c := range x.Output {
		leftWith[c.ID], rightWith[c.ID] = column(left[i]), column(right[i])
	}
	for _, c := range conds {
		if isVolatile(c) || !(x.All && x.Op == logical.SetUnion) && !sameForEquals(c) {
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
