package source

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// A field over a part of a JSON column holds scalars as values of one type, so
// that their order there is never another than in JSON: what is equal has one
// key, and of two values the smaller never has the larger key. It finds
// candidates, which are compared as JSON on the row. Values that it cannot take
// are rejected; JSON's null is no value, but its text in a KEYWORD.

// Limits of what a field over a part of a JSON column takes.
const (
	maxElements     = 1024
	maxKeywordBytes = 4096
)

// putPath gives the value at a path of a row to the document that was begun, and
// appends the marks of what the field does not have exactly.
func (f *docField) putPath(b *seg.Batch, rows *vec.Batch, r int, marks []search.Mark) []search.Mark {
	mark := func(why search.Why) {
		if why == search.Rejected || f.marked {
			marks = append(marks, search.Mark{Field: f.id, Why: why})
		}
	}
	var vals []value.Datum
	if v := rows.Cols[f.at].Datum(r); !v.IsNull() {
		doc, ok := v.Bytes(), false
		if f.elem.HasDate() && !f.many {
			return f.putTime(b, doc, rows.Cols[f.value].Datum(r), marks)
		}
		if vals, ok = f.values(doc); !ok {
			mark(search.Rejected)
		} else {
			if !f.isLike(doc, vals) {
				mark(search.Unlike)
			}
			switch isArray := value.JSONType(doc) == "ARRAY"; {
			case f.many && !isArray:
				mark(search.Single)
			case !f.many && len(vals) == 0:
				mark(search.Blank)
			}
		}
		if ok && (f.many || len(vals) > 0) {
			f.putAll(b, vals)
		}
	}
	if f.value >= 0 && !f.isValue(vals, rows.Cols[f.value].Datum(r)) {
		mark(search.Differs)
	}
	return marks
}

// putTime gives the time d that a document tells to the document that was begun, or
// a mark: a text with an offset is another time in other time zones, a time alone
// on other days.
func (f *docField) putTime(b *seg.Batch, doc []byte, d value.Datum, marks []search.Mark) []search.Mark {
	kind := value.JSONType(doc)
	text := bytes.TrimRight(value.AppendJSONUnquoted(nil, doc), " ")
	at := len(text) - len("+00:00")
	switch {
	case kind == "NULL":
	case d.IsNull():
		marks = append(marks, search.Mark{Field: f.id})
	case kind == "TIME" || at > 0 && (text[at] == '+' || text[at] == '-') && text[at+3] == ':':
		marks = append(marks, search.Mark{Field: f.id, Why: search.Differs})
	default:
		b.Word(f.id, f.toWord(d))
	}
	return marks
}

// isLike reports whether the values of the field are equal, as JSON, to those that
// they were made of; nothing stands for null.
func (f *searchField) isLike(doc []byte, vals []value.Datum) bool {
	if f.elem.IsString() || f.elem.ID == schema.TypeTinyInt {
		return true // what they were is not told
	}
	list := [][]byte{doc}
	if value.JSONType(doc) == "ARRAY" {
		list = list[:0]
		for i := range value.JSONLen(doc) {
			list = append(list, value.JSONElem(doc, i))
		}
	}
	at := 0
	for _, e := range list {
		if value.JSONType(e) == "NULL" {
			continue
		}
		if f.elem.HasDate() && !searchfield.TellsTime(f.elem, e) || !f.elem.HasDate() && f.compare(vals[at], e) != 0 {
			return false
		}
		at++
	}
	return true
}

// compare orders a number of the field and one of a document as JSON does.
func (f *searchField) compare(d value.Datum, doc []byte) int {
	own, err := types.ToJSON(nil, d, *f.elem)
	if err != nil {
		return 1
	}
	return value.JSONCompare(own, doc)
}

// isValue reports whether the field has, in vals, the value of a column.
func (f *searchField) isValue(vals []value.Datum, d value.Datum) bool {
	switch {
	case len(vals) == 0 || d.IsNull():
		return len(vals) == 0 && d.IsNull()
	case f.word:
		return f.toWord(vals[0]) == f.toWord(d)
	case f.kind == value.KindDecimal:
		return bytes.Equal(f.part.Append(nil, vals[0]), f.part.Append(nil, d))
	}
	return bytes.Equal(vals[0].Bytes(), d.Bytes())
}

// putAll gives values to the document that was begun.
func (f *searchField) putAll(b *seg.Batch, vals []value.Datum) {
	if f.word {
		words := make([]int64, len(vals))
		for i, d := range vals {
			words[i] = f.toWord(d)
		}
		if f.many {
			b.Words(f.id, words)
		} else {
			b.Word(f.id, words[0])
		}
		return
	}
	keys, stored := make([][]byte, len(vals)), make([][]byte, len(vals))
	for i, d := range vals {
		keys[i] = f.part.Append(nil, d)
		stored[i] = f.stored(d, keys[i])
	}
	if f.many {
		b.Keys(f.id, keys, stored)
	} else {
		b.Key(f.id, keys[0], stored[0])
	}
}

// values are those that the field takes of a document; false if it cannot.
func (f *searchField) values(doc []byte) ([]value.Datum, bool) {
	list := [][]byte{doc}
	switch value.JSONType(doc) {
	case "OBJECT":
		return nil, false
	case "ARRAY":
		if n := value.JSONLen(doc); !f.many || n > maxElements {
			return nil, false
		}
		list = list[:0]
		for i := range value.JSONLen(doc) {
			list = append(list, value.JSONElem(doc, i))
		}
	}
	vals := make([]value.Datum, 0, len(list))
	for _, e := range list {
		if value.JSONType(e) == "NULL" && !f.elem.IsString() {
			continue
		}
		d, ok := f.scalar(e)
		if !ok {
			return nil, false
		}
		vals = append(vals, d)
	}
	return vals, true
}

// scalar is a scalar of a document as a value of the field; false if it does not
// fit.
func (f *searchField) scalar(doc []byte) (value.Datum, bool) {
	kind := value.JSONType(doc)
	switch {
	case f.elem.IsString():
		if kind == "ARRAY" || kind == "OBJECT" || f.texts && kind != "STRING" {
			return value.Null, false
		}
		s := value.AppendJSONUnquoted(nil, doc)
		return value.Bytes(s), len(s) <= maxKeywordBytes && (!f.many || utf8.RuneCount(s) <= f.elem.Len)
	case f.elem.ID == schema.TypeTinyInt:
		return value.Bool(bytes.Equal(doc, value.JSONBool(true))), kind == "BOOLEAN"
	case f.elem.HasDate():
		return f.time(doc)
	case !value.JSONIsNumber(doc):
		return value.Null, false
	}
	lo, _, inf := f.around(doc)
	if inf != 0 {
		return value.Null, false
	}
	if f.elem.IsInteger() { // halves have no place
		_, hi, _ := f.around(doc)
		return lo, lo.Bits() == hi.Bits()
	}
	return lo, true
}

// time is the time that a string tells, or that a scalar is; false for one that it
// tells in some SQL mode or time zone alone, or with more digits than the field has.
func (f *searchField) time(doc []byte) (value.Datum, bool) {
	t, ok := searchfield.ElementTime(f.elem, doc)
	return value.TimeOf(t), ok
}

// around are the values of the field between which a number of a document lies.
// inf is its sign if it lies beyond all.
func (f *searchField) around(doc []byte) (lo, hi value.Datum, inf int) {
	n, _ := value.JSONScalar(doc)
	switch {
	case f.elem.ID == schema.TypeDouble:
		d := value.Float(floatOf(n))
		return d, d, 0
	case f.elem.ID == schema.TypeDecimal:
		d, ok := decimalOf(n)
		if ok {
			if d = d.Round(f.elem.Scale).Rescale(f.elem.Scale); d.Digits() <= f.elem.Len {
				return value.Dec(d), value.Dec(d), 0
			}
		}
		return lo, hi, sign(floatOf(n))
	}
	d, ok := decimalOf(n)
	if !ok {
		return lo, hi, sign(floatOf(n))
	}
	floor, ceil := d.Floor(), d.Ceil()
	if f.elem.Unsigned {
		a, okA := floor.Uint64()
		b, okB := ceil.Uint64()
		if !okA || !okB {
			return lo, hi, sign(floatOf(n))
		}
		return value.Uint(a), value.Uint(b), 0
	}
	a, okA := floor.Int64()
	b, okB := ceil.Int64()
	if !okA || !okB {
		return lo, hi, sign(floatOf(n))
	}
	return value.Int(a), value.Int(b), 0
}

// near are the values of the field between which what is less than 1 away from a
// number lies; inf says that this cannot be told.
func (f *searchField) near(doc []byte) (lo, hi value.Datum, inf int) {
	n, _ := value.JSONScalar(doc)
	d, ok := decimalOf(n)
	if !ok {
		return lo, hi, 1
	}
	one := value.DecimalFromInt(1)
	lo, _, below := f.around(value.JSONDecimal(d.Sub(one)))
	_, hi, above := f.around(value.JSONDecimal(d.Add(one)))
	if below != 0 || above != 0 {
		return lo, hi, 1
	}
	return lo, hi, 0
}

func floatOf(n value.Datum) float64 {
	switch n.Kind() {
	case value.KindInt:
		return float64(n.Int())
	case value.KindUint:
		return float64(n.Uint())
	case value.KindDecimal:
		return n.Decimal().Float64()
	}
	return n.Float()
}

func decimalOf(n value.Datum) (value.Decimal, bool) {
	switch n.Kind() {
	case value.KindInt:
		return value.DecimalFromInt(n.Int()), true
	case value.KindUint:
		return value.DecimalFromUint(n.Uint()), true
	case value.KindDecimal:
		return n.Decimal(), true
	}
	d, err := value.DecimalFromFloat(n.Float())
	return d, err == nil
}

func sign(f float64) int {
	if math.Signbit(f) {
		return -1
	}
	return 1
}

// path asks a field over a part of a JSON column.
func (q *searchQuery) path(n *physical.SearchNode) (query.Node, error) {
	f, err := newSearchField(q.table, n.Field)
	if err != nil {
		return nil, err
	}
	a := n.Ask
	if a.Op == physical.AskNull {
		return f.spans([]ranges.Span{{High: []value.Datum{value.Null}}}, q.z), nil
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
			return f.spans([]ranges.Span{{Prefix: true, Low: []value.Datum{d}, High: []value.Datum{d}}}, q.z), nil
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
	if a.Exact && f.elem.IsString() && a.Op == physical.AskAny {
		return f.sameTexts(docs), nil
	}
	if a.Op == physical.AskAll {
		var all query.And
		for _, doc := range docs {
			if a.Exact && f.elem.IsString() {
				all = append(all, f.sameTexts([][]byte{doc}))
			} else {
				all = append(all, f.ask(physical.AskAny, a, doc, q.z))
			}
		}
		return all, nil
	}
	var anyOf query.Or
	for _, doc := range docs {
		anyOf = append(anyOf, f.ask(a.Op, a, doc, q.z))
	}
	return anyOf, nil
}

// ask finds what may stand to a document as op says.
func (f *searchField) ask(op physical.AskOp, a *physical.SearchAsk, doc []byte, z *zone) query.Node {
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
	case f.elem.HasDate():
		d, ok := f.time(doc)
		if op != physical.AskAny {
			return all
		}
		if !ok { // what is equal was not taken
			return query.Or{}
		}
		lo, hi = d, d
	case f.elem.IsString():
		if kind != "STRING" && kind != "BOOLEAN" {
			return all
		}
		lo = value.Bytes(value.AppendJSONUnquoted(nil, doc))
		hi = lo
	case f.elem.ID == schema.TypeTinyInt && kind == "BOOLEAN":
		lo, _ = f.scalar(doc)
		hi = lo
	case f.elem.ID != schema.TypeTinyInt && value.JSONIsNumber(doc):
		if a.Rounded {
			if lo, hi, inf = f.near(doc); inf != 0 {
				return all
			}
			break
		}
		if lo, hi, inf = f.around(doc); inf != 0 && op == physical.AskAny {
			return query.Or{}
		}
	case op == physical.AskAny: // of another kind
		return query.Or{}
	default:
		return all
	}
	var s ranges.Span
	if f.elem.IsString() || a.SQL || a.Exact {
		s = ranges.Span{Low: []value.Datum{value.Null}, LowOpen: true}
	}
	beside := 0 // where the value stands to the document
	if a.Exact && inf == 0 && f.elem.ID != schema.TypeTinyInt && !f.elem.HasDate() {
		beside, hi = f.compare(lo, doc), lo
	}
	switch op {
	case physical.AskAny:
		if beside != 0 {
			return query.Or{}
		}
		s = ranges.Span{Low: []value.Datum{lo}, High: []value.Datum{hi}}
	case physical.AskAbove:
		switch {
		case inf == 0 && a.Exact:
			s.Low, s.LowOpen = []value.Datum{lo}, beside < 0 || beside == 0 && a.Strict
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
			s.High, s.HighOpen = []value.Datum{lo}, beside > 0 || beside == 0 && a.Strict
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
	return f.spans([]ranges.Span{s}, z)
}

// sameTexts finds the strings that are equal to one of some documents, byte by
// byte: what is no string is equal to none.
func (f *searchField) sameTexts(docs [][]byte) query.Node {
	out := &query.Values{Field: f.id}
	for _, doc := range docs {
		if value.JSONType(doc) == "STRING" {
			text := value.AppendJSONUnquoted(nil, doc)
			out.List = append(out.List, query.KeyValue{Key: f.part.Append(nil, value.Bytes(text)), Value: text})
		}
	}
	return out
}

// spans is a condition on the values of the field.
func (f *searchField) spans(list []ranges.Span, z *zone) query.Node {
	if f.stamp && !z.isFixed() {
		return f.zonedSpans(list, z)
	}
	if f.word {
		out := &query.Words{Field: f.id}
		for _, sp := range list {
			null, r, ok := f.wordRange(sp, z)
			out.Null = out.Null || null
			if ok {
				out.Ranges = append(out.Ranges, r)
			}
		}
		return out
	}
	out := &query.Keys{Field: f.id}
	for _, sp := range list {
		null, r, ok := f.keyRange(sp)
		out.Null = out.Null || null
		if ok {
			out.Ranges = append(out.Ranges, r)
		}
	}
	return out
}
