package access

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// A multi-valued index has an entry for each element of an array: none for an
// empty one, several for others. It serves conditions that say that a certain
// element is there:
//
//	1 MEMBER OF (doc->'$.a')             the entries of 1
//	JSON_CONTAINS(doc->'$.a', '[1, 2]')  those of 1; that 2 is there too is
//	                                     checked on the row
//	JSON_OVERLAPS(doc->'$.a', '[1, 2]')  those of 1 and 2, of which one row may
//	                                     have both
//
// The condition itself always stays: equal keys do not make equal JSON values.

// maxProbes bounds the elements that one scan of an index searches for.
const maxProbes = 1 << 12

// arrayPath is the path by a multi-valued index; nil when no condition requires
// an element.
func (r *Request) arrayPath(x *schema.Index, part int) *Path {
	t := r.Scan.Table
	pos := t.ColumnIndex(x.Parts[part].Column)
	array := r.arrayAt(pos)
	if array == nil || r.Ctx == nil {
		return nil
	}
	var probes []value.Datum
	found := false
	for _, c := range r.Conds {
		// Two conditions may be about two elements: only one can be the span.
		if list, ok := r.probes(array, c); ok && len(list) <= maxProbes && (!found || len(list) < len(probes)) {
			probes, found = list, true
		}
	}
	if !found {
		return nil
	}
	elem := array.Cast.Elem
	in := []expr.Expr{&expr.Col{ID: r.Scan.Cols[pos].ID, Index: pos, T: elem, Null: true, Name: t.Columns[pos].Generated.Expr}}
	for _, d := range probes {
		in = append(in, expr.NewConst(d, elem))
	}
	if len(in) == 1 {
		in = append(in, &expr.Const{T: types.Null})
	}
	probe, err := expr.NewFunc(&expr.BindEnv{}, "in", in...)
	if err != nil {
		return nil
	}
	conds := append([]expr.Expr{probe}, r.Conds...)
	if x.Where != 0 {
		return r.partialPath(x, conds, probe)
	}
	return r.byKey(x, conds, probe)
}

// arrayAt is the array whose elements a column has.
func (r *Request) arrayAt(pos int) *logical.Array {
	for i := range r.Scan.Arrays {
		if a := &r.Scan.Arrays[i]; a.Pos == pos {
			return a
		}
	}
	return nil
}

// probes are elements of which one at least is in the array of every row that
// a condition accepts; false when it does not say so.
func (r *Request) probes(array *logical.Array, cond expr.Expr) ([]value.Datum, bool) {
	f, ok := cond.(*expr.Func)
	if !ok {
		return nil, false
	}
	switch f.Op {
	case expr.OpOr:
		var out []value.Datum
		for _, a := range f.Args {
			list, ok := r.probes(array, a)
			if !ok {
				return nil, false
			}
			out = append(out, list...)
		}
		return out, true
	case expr.OpAnd:
		for _, a := range f.Args {
			if list, ok := r.probes(array, a); ok {
				return list, true
			}
		}
		return nil, false
	case expr.OpMemberOf:
		if expr.Same(f.Args[1], array.Expr) {
			return r.anyOf(array, f.Args[0], false)
		}
	case expr.OpJSONContains:
		if len(f.Args) == 2 && expr.Same(f.Args[0], array.Expr) {
			return r.allOf(array, f.Args[1])
		}
	case expr.OpJSONOverlaps:
		for i := range 2 {
			if expr.Same(f.Args[i], array.Expr) {
				return r.anyOf(array, f.Args[1-i], true)
			}
		}
	}
	return nil, false
}

// searchesArray reports a condition on the elements of an array.
func searchesArray(e expr.Expr) bool {
	f, ok := e.(*expr.Func)
	return ok && (f.Op == expr.OpMemberOf || f.Op == expr.OpJSONContains || f.Op == expr.OpJSONOverlaps)
}

// constant is a JSON document that is known before the statement runs.
func (r *Request) constant(e expr.Expr) (doc value.Datum, ok bool) {
	if !expr.IsConst(e) || !expr.KnownBefore([]expr.Expr{e}) || isVolatile(e) {
		return value.Null, false
	}
	r.ValuesMatter = r.ValuesMatter || hasParam(e)
	doc, err := expr.EvalConst(r.Ctx, e)
	return doc, err == nil && (doc.IsNull() || doc.Kind() == value.KindJSON)
}

// isVolatile reports an expression that may have another value each time.
func isVolatile(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		f, ok := x.(*expr.Func)
		found = found || ok && f.B.Volatile
		return !found
	})
	return found
}

// anyOf are the elements of a document, or the scalar that it is.
func (r *Request) anyOf(array *logical.Array, e expr.Expr, spread bool) ([]value.Datum, bool) {
	doc, ok := r.constant(e)
	if !ok || doc.IsNull() {
		return nil, ok
	}
	list := [][]byte{doc.Bytes()}
	if spread && value.JSONType(doc.Bytes()) == "ARRAY" {
		list = elementsOf(doc.Bytes())
	}
	var out []value.Datum
	for _, d := range list {
		p, ok := array.Cast.Probe(d)
		if !ok {
			return nil, false
		}
		if !p.IsNull() {
			out = append(out, p)
		}
	}
	return out, true
}

// allOf is one of the elements of a document all of which must be in the array.
// An empty document requires none: arrays without an entry satisfy it.
func (r *Request) allOf(array *logical.Array, e expr.Expr) ([]value.Datum, bool) {
	doc, ok := r.constant(e)
	if !ok || doc.IsNull() {
		return nil, ok
	}
	list := [][]byte{doc.Bytes()}
	if value.JSONType(doc.Bytes()) == "ARRAY" {
		list = elementsOf(doc.Bytes())
	}
	for _, d := range list {
		if p, ok := array.Cast.Probe(d); ok {
			if p.IsNull() {
				return nil, true
			}
			return []value.Datum{p}, true
		}
	}
	return nil, false
}

func elementsOf(doc []byte) [][]byte {
	out := make([][]byte, value.JSONLen(doc))
	for i := range out {
		out[i] = value.JSONElem(doc, i)
	}
	return out
}

// pinsArray reports whether all spans of a set have the same element, so that
// no row is met twice.
func pinsArray(set *ranges.Set, part int) bool { return set != nil && set.EqPrefix > part }
