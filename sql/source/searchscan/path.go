package searchscan

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/searchdoc"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// A field over a part of a JSON column holds scalars as values of one type, so
// that their order there is never another than in JSON: what is equal has one
// key, and of two values the smaller never has the larger key. It finds
// candidates, which are compared as JSON on the row. Values that it cannot take
// are rejected; JSON's null is no value, but its text in a KEYWORD.

// nearest are values lo and hi of the field between which all numbers less than 1
// away from a number are; inf != 0: the field does not have both.
func nearest(f *searchdoc.Field, doc []byte) (lo, hi value.Datum, inf int) {
	n, _ := value.JSONScalar(doc)
	d, ok := searchdoc.DecimalOf(n)
	if !ok {
		return lo, hi, 1
	}
	one := value.DecimalFromInt(1)
	lo, _, below := f.Around(value.JSONDecimal(d.Sub(one)))
	_, hi, above := f.Around(value.JSONDecimal(d.Add(one)))
	if below != 0 || above != 0 {
		return lo, hi, 1
	}
	return lo, hi, 0
}

// path is the query of a field over a part of a JSON column.
func (q *searchQuery) path(n *physical.SearchNode) (query.Node, error) {
	f, err := searchdoc.NewField(q.table, n.Field)
	if err != nil {
		return nil, err
	}
	a := n.Ask
	if a.Op == physical.AskNull {
		return spansOf(&f, []ranges.Span{{High: []value.Datum{value.Null}}}, q.z, q.workers), nil
	}
	var docs [][]byte
	for _, e := range a.Args {
		d, err := expr.EvalConst(q.consts, e)
		if err != nil {
			return nil, errRescan
		}
		switch {
		case d.IsNull():
		case a.Op == physical.AskPrefix && d.Kind() != value.KindBytes:
			return query.And{}, nil
		case a.Op == physical.AskPrefix:
			return spansOf(&f, []ranges.Span{{Prefix: true, Low: []value.Datum{d}, High: []value.Datum{d}}}, q.z, q.workers), nil
		case a.SQL && d.Kind() == value.KindBytes:
			docs = append(docs, value.JSONString(d.Bytes()))
		case a.SQL:
			doc, err := types.ToJSON(nil, d, e.Type())
			if err != nil {
				return nil, err
			}
			docs = append(docs, doc)
		case d.Kind() != value.KindJSON:
			return query.And{}, nil
		case (a.Op == physical.AskAny && a.Spread || a.Op == physical.AskAll) && value.JSONType(d.Bytes()) == "ARRAY":
			for i := range value.JSONLen(d.Bytes()) {
				docs = append(docs, value.JSONElem(d.Bytes(), i))
			}
		default:
			docs = append(docs, d.Bytes())
		}
		if d.IsNull() && a.Op != physical.AskAny { // never true
			return query.Or{}, nil
		}
	}
	if a.Exact && f.Elem.IsString() && a.Op == physical.AskAny {
		return sameTexts(&f, docs), nil
	}
	if a.Op == physical.AskAll {
		var all query.And
		for _, doc := range docs {
			if a.Exact && f.Elem.IsString() {
				all = append(all, sameTexts(&f, [][]byte{doc}))
			} else {
				all = append(all, askOf(&f, physical.AskAny, a, doc, q.z))
			}
		}
		return all, nil
	}
	var anyOf query.Or
	for _, doc := range docs {
		anyOf = append(anyOf, askOf(&f, a.Op, a, doc, q.z))
	}
	return anyOf, nil
}

// askOf finds the values that may compare to a document as op says.
func askOf(f *searchdoc.Field, op physical.AskOp, a *physical.SearchAsk, doc []byte, z *decode.Zone) query.Node {
	all := query.And{}
	kind := value.JSONType(doc)
	var lo, hi value.Datum
	inf := 0
	switch {
	case kind == "NULL":
		return all
	case kind == "ARRAY", kind == "OBJECT": // equal to nothing that the field takes
		if op == physical.AskAny {
			return query.Or{}
		}
		return all
	case f.Elem.HasDate():
		d, ok := f.Time(doc)
		if op != physical.AskAny {
			return all
		}
		if !ok { // what is equal was not taken
			return query.Or{}
		}
		lo, hi = d, d
	case f.Elem.IsString():
		if kind != "STRING" && kind != "BOOLEAN" {
			return all
		}
		lo = value.Bytes(value.AppendJSONUnquoted(nil, doc))
		hi = lo
	case f.Elem.ID == schema.TypeTinyInt && kind == "BOOLEAN":
		lo, _ = f.Scalar(doc)
		hi = lo
	case f.Elem.ID != schema.TypeTinyInt && value.JSONIsNumber(doc):
		if a.Rounded {
			if lo, hi, inf = nearest(f, doc); inf != 0 {
				return all
			}
			break
		}
		if lo, hi, inf = f.Around(doc); inf != 0 && op == physical.AskAny {
			return query.Or{}
		}
	case op == physical.AskAny: // of another kind
		return query.Or{}
	default:
		return all
	}
	var s ranges.Span
	if f.Elem.IsString() || a.SQL || a.Exact {
		s = ranges.Span{Low: []value.Datum{value.Null}, LowOpen: true}
	}
	side := 0 // how the value compares to the document
	if a.Exact && inf == 0 && f.Elem.ID != schema.TypeTinyInt && !f.Elem.HasDate() {
		side, hi = f.Compare(lo, doc), lo
	}
	switch op {
	case physical.AskAny:
		if side != 0 {
			return query.Or{}
		}
		s = ranges.Span{Low: []value.Datum{lo}, High: []value.Datum{hi}}
	case physical.AskAbove:
		switch {
		case inf == 0 && a.Exact:
			s.Low, s.LowOpen = []value.Datum{lo}, side < 0 || side == 0 && a.Strict
		case inf == 0:
			s.Low, s.LowOpen = []value.Datum{lo}, false
		case inf > 0:
			return query.Or{}
		case !a.Exact:
			return all
		}
	case physical.AskBelow: // null is below all
		switch {
		case inf == 0 && a.Exact:
			s.High, s.HighOpen = []value.Datum{lo}, side > 0 || side == 0 && a.Strict
		case inf == 0:
			s.High = []value.Datum{hi}
		case inf > 0 && a.Exact:
		case inf > 0:
			return all
		case a.Exact:
			return query.Or{}
		default:
			s.High = []value.Datum{value.Null}
		}
	}
	return spansOf(f, []ranges.Span{s}, z, 1)
}

// sameTexts finds the strings that are equal to one of some documents, byte by
// byte: what is no string is equal to none.
func sameTexts(f *searchdoc.Field, docs [][]byte) query.Node {
	out := &query.Values{Field: f.ID}
	for _, doc := range docs {
		if value.JSONType(doc) == "STRING" {
			text := value.AppendJSONUnquoted(nil, doc)
			out.List = append(out.List, query.KeyValue{Key: f.Part.Append(nil, value.Bytes(text)), Value: text})
		}
	}
	return out
}

// spansOf is a condition on the values of the field, which up to workers goroutines read.
func spansOf(f *searchdoc.Field, list []ranges.Span, z *decode.Zone, workers int) query.Node {
	if f.Stamp && !z.IsFixed() {
		return zonedSpans(f, list, z, workers)
	}
	if f.Word {
		out := &query.Words{Field: f.ID, Workers: workers}
		for _, sp := range list {
			null, r, ok := wordRange(f, sp, z)
			out.Null = out.Null || null
			if ok {
				out.Ranges = append(out.Ranges, r)
			}
		}
		return out
	}
	out := &query.Keys{Field: f.ID}
	for _, sp := range list {
		null, r, ok := keyRange(f, sp)
		out.Null = out.Null || null
		if ok {
			out.Ranges = append(out.Ranges, r)
		}
	}
	return out
}
