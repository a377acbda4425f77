package planner

import (
	"math"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/access"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// A multi-valued index finds the rows of a join whose array has an element:
//
//	t1 JOIN t2 ON t1.x MEMBER OF (t2.doc->'$.a')
//
// An element has at most one entry of a row. The condition stays a filter: equal
// keys do not make equal JSON values.

// holdsElements reports a multi-valued index that has all elements of all rows.
func holdsElements(t *schema.Table, x *schema.Index) bool {
	return t.ArrayPart(x) >= 0 && !x.Sparse && x.Where == 0
}

// memberOf returns the parts of a condition that requires an element of an array
// of s.
func memberOf(s *logical.Scan, e expr.Expr) (doc expr.Expr, a *logical.Array) {
	f, ok := e.(*expr.Func)
	if !ok || s == nil || f.Op != expr.OpMemberOf {
		return nil, nil
	}
	for i := range s.Arrays {
		if a := &s.Arrays[i]; expr.Same(f.Args[1], a.Expr) {
			return f.Args[0], a
		}
	}
	return nil, nil
}

// elementKey is the key, made of columns of the left side, by which an index
// finds the elements in the array of a column; nil if no condition has one.
func (j *pair) elementKey(s *logical.Scan, pos int) expr.Expr {
	left := idSet(j.left.cols)
	for _, e := range j.rest {
		doc, a := memberOf(s, e)
		if a == nil || a.Pos != pos {
			continue
		}
		key, ok := expr.NewElementOf(doc, a.Cast)
		expr.Walk(doc, func(x expr.Expr) bool {
			if c, isCol := x.(*expr.Col); isCol {
				ok = ok && left[c.ID]
			}
			return ok
		})
		if ok {
			return key
		}
	}
	return nil
}

// elementSelectivity estimates the fraction of pairs of rows that satisfy a condition
// on an element of an array, 0 for other conditions.
func (p *planner) elementSelectivity(j *pair, e expr.Expr) float64 {
	s, _ := baseTable(j.item.node)
	doc, a := memberOf(s, e)
	if a == nil {
		return 0
	}
	if _, ok := expr.NewElementOf(doc, a.Cast); !ok {
		return 0
	}
	total := math.Max(p.opts.Est.TableRows(p.ctx, s.Table), 1)
	return 1 / math.Max(access.DistinctValues(p.ctx, s.Table, a.Pos, p.opts.Est, total), 1)
}
