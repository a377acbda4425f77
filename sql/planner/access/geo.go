package access

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/value"
)

// meetsBox are the relations that are true only where the boxes of both arguments
// have a common point.
var meetsBox = map[string]bool{
	"st_contains": true, "st_within": true, "st_intersects": true, "st_touches": true, "st_equals": true, "st_crosses": true, "st_overlaps": true,
	"mbrcontains": true, "mbrwithin": true, "mbrintersects": true, "mbrtouches": true, "mbrequals": true, "mbroverlaps": true, "mbrcovers": true,
	"mbrcoveredby": true,
}

// geo is what the index can tell of a condition on a place: a superset, or nil.
func (s *searcher) geo(c expr.Expr) *physical.SearchNode {
	f, ok := c.(*expr.Func)
	if !ok {
		return nil
	}
	if meetsBox[f.Name] {
		return s.place(f, nil)
	}
	if len(f.Args) != 2 {
		return nil
	}
	left, right := f.Args[0], f.Args[1]
	switch f.Name {
	case "<", "<=":
	case ">", ">=":
		left, right = right, left
	case "=":
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
	case g.Name == "st_distance_sphere":
		n := s.place(g, right)
		if n != nil {
			n.Geo.Equal = f.Name == "<=" || f.Name == ">="
		}
		return n
	case f.Name == "=" && meetsBox[g.Name]:
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
