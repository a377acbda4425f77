package access

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
)

// IsDistance reports ST_Distance_Sphere of a column and a value that is known before
// the search begins.
func IsDistance(e expr.Expr) bool {
	_, _, ok := distanceOf(e)
	return ok
}

// distanceOf is the column of a distance, and the place that it is from.
func distanceOf(e expr.Expr) (c *expr.Col, from expr.Expr, ok bool) {
	f, ok := e.(*expr.Func)
	if !ok || f.Op != expr.OpSTDistanceSphere {
		return nil, nil, false
	}
	from = f.Args[1]
	if c, ok = f.Args[0].(*expr.Col); !ok {
		from = f.Args[0]
		if c, ok = f.Args[1].(*expr.Col); !ok {
			return nil, nil, false
		}
	}
	if !constant(from) || len(f.Args) > 2 && !constant(f.Args[2]) {
		return nil, nil, false
	}
	return c, from, true
}

// ranksAll reports a request for the first of all documents, which the index can
// rank.
func (s *searcher) ranksAll() bool {
	return s.r.Limit > 0 && s.r.LimitKnown && len(s.r.Order) > 0 && s.r.Order[0].Expr != nil && s.order() != nil
}

// ranks reports whether the index can rank documents by e, and the field that a
// distance is of.
func (s *searcher) ranks(e expr.Expr) (*schema.SearchField, bool) {
	if c, _, ok := distanceOf(e); ok {
		f := s.x.Field(s.t.Columns[c.Index].ID, schema.SearchGeo)
		return f, f != nil
	}
	list := expr.Scores(e)
	for _, f := range list {
		if m := f.Match(); m.Table != s.t.ID || m.Index != s.x.ID {
			return nil, false
		}
	}
	return nil, len(list) > 0
}
