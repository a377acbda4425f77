package access

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/value"
)

// geo is a query that finds all rows of a condition on a place, and perhaps more;
// nil if the index does not serve it.
func (s *searcher) geo(c expr.Expr) *physical.SearchNode {
	f, ok := c.(*expr.Func)
	if !ok {
		return nil
	}
	if f.Op.MeetsBoxes() {
		return s.place(f, nil)
	}
	if len(f.Args) != 2 {
		return nil
	}
	left, right := f.Args[0], f.Args[1]
	switch f.Op {
	case expr.OpLT, expr.OpLE:
	case expr.OpGT, expr.OpGE:
		left, right = right, left
	case expr.OpEQ:
		if _, isFunc := left.(*expr.Func); !isFunc || constant(left) {
			left, right = right, left
		}
	default:
		return nil
	}
	g, ok := left.(*expr.Func)
	if !ok || !constant(right) {
		return nil
	}
	switch {
	case g.Op == expr.OpSTDistanceSphere:
		n := s.place(g, right)
		if n != nil {
			n.Geo.Equal = f.Op == expr.OpLE || f.Op == expr.OpGE
		}
		return n
	case f.Op == expr.OpEQ && g.Op.MeetsBoxes():
		if one, ok := right.(*expr.Const); ok && one.D.Kind() == value.KindInt && one.D.Int() == 1 {
			return s.place(g, nil)
		}
	}
	return nil
}

// place makes a node of a function of a field's column and a constant.
func (s *searcher) place(f *expr.Func, distance expr.Expr) *physical.SearchNode {
	col, ok := f.Args[0].(*expr.Col)
	shape := f.Args[1]
	if !ok {
		if col, ok = shape.(*expr.Col); !ok {
			return nil
		}
		shape = f.Args[0]
	}
	field := s.x.Field(s.t.Columns[col.Index].ID, schema.SearchGeo)
	if field == nil || !constant(shape) {
		return nil
	}
	g := &physical.SearchPlace{Shape: shape, Distance: distance}
	if len(f.Args) > 2 {
		if g.Radius = f.Args[2]; !constant(g.Radius) {
			return nil
		}
	}
	s.nodes++
	return &physical.SearchNode{Op: physical.SearchGeo, Field: field, Column: col.Index, Geo: g}
}

// constant reports a value that is known before the search begins.
func constant(e expr.Expr) bool { return expr.IsConst(e) && expr.KnownBefore([]expr.Expr{e}) }
