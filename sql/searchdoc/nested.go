package searchdoc

import (
	"bytes"
	"math"
	"unicode/utf8"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// putPath gives the value at a path of a row to the document that was begun, and
// appends the marks of what the field does not have exactly.
func (f *docField) putPath(b *seg.Batch, rows *vec.Batch, r int, marks []search.Mark) []search.Mark {
	mark := func(why search.Why) {
		if why == search.Rejected || f.marked {
			marks = append(marks, search.Mark{Field: f.ID, Why: why})
		}
	}
	var vals []value.Datum
	if v := rows.Cols[f.at].Datum(r); !v.IsNull() {
		doc, ok := v.Bytes(), false
		if f.Elem.HasDate() && !f.many {
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

// nestedFields appends what the files keep of a field of nested objects.
func nestedFields(d *schema.SearchField, parent uint16, out *seg.Schema) error {
	out.Paths = append(out.Paths, seg.Path{ID: d.ID, Parent: parent})
	t := searchfield.NestedTable(d)
	for i := range d.Sub {
		if d.Sub[i].Kind == schema.SearchNested {
			if err := nestedFields(&d.Sub[i], d.ID, out); err != nil {
				return err
			}
			continue
		}
		if d.Sub[i].Kind == schema.SearchText {
			out.Fields = append(out.Fields, seg.Field{ID: seg.FieldID(d.Sub[i].ID), Kind: seg.KindText})
			continue
		}
		f, err := NewField(t, searchfield.NestedMember(d, &d.Sub[i]))
		if err != nil {
			return err
		}
		out.Fields = append(out.Fields, f.field())
	}
	return nil
}

func newObjects(d *schema.SearchField) (*objects, error) {
	o := &objects{id: d.ID}
	t := searchfield.NestedTable(d)
	for i := range d.Sub {
		s := &d.Sub[i]
		f := objectField{key: []byte(s.Name)}
		var err error
		switch s.Kind {
		case schema.SearchNested:
			f.inner, err = newObjects(s)
		case schema.SearchText:
			f.value.ID, f.value.collation = seg.FieldID(s.ID), s.Elem.Collation
			f.value.analyzer, err = searchfield.Analyzer(&schema.SearchIndex{}, s, &schema.Column{Name: s.Name})
		default:
			f.value.Field, err = NewField(t, searchfield.NestedMember(d, s))
			f.value.Elem, f.value.texts = &s.Elem, true
			f.as, f.formats = s.As, s.Formats
		}
		if err != nil {
			return nil, err
		}
		o.fields = append(o.fields, f)
	}
	return o, nil
}

// read finds the objects in the value of the column; false where they cannot be
// nested documents, or there can be none.
func (o *objects) read(d value.Datum) bool {
	if o.found = nil; d.IsNull() {
		return true
	}
	doc := d.Bytes()
	if !o.json {
		var err error
		if doc, err = value.ParseJSON(doc); err != nil {
			return false
		}
	}
	array, ok := o.path.Lookup(doc)
	if !ok {
		return true
	}
	n := 0
	if !o.check(array, &n) || n > maxObjects {
		return false
	}
	o.found = array
	return true
}

// check reports whether the objects of an array can be nested documents; n counts
// them.
func (o *objects) check(array []byte, n *int) bool {
	switch {
	case value.JSONType(array) == "NULL":
		return true
	case value.JSONType(array) != "ARRAY" || value.JSONLen(array) > maxElements:
		return false
	}
	*n += value.JSONLen(array)
	for i := range value.JSONLen(array) {
		e := value.JSONElem(array, i)
		if value.JSONType(e) != "OBJECT" {
			return false
		}
		for j := range o.fields {
			f := &o.fields[j]
			m, ok := value.JSONMember(e, f.key)
			if !ok {
				continue
			}
			if f.inner != nil {
				if !f.inner.check(m, n) {
					return false
				}
			} else if value.JSONType(m) != "NULL" {
				if _, ok := f.read(m); !ok {
					return false
				}
			}
		}
	}
	return true
}

// put adds the objects of an array that passed check to the document that was begun.
func (o *objects) put(b *seg.Batch, array []byte) {
	if array == nil || value.JSONType(array) == "NULL" {
		return
	}
	for i := range value.JSONLen(array) {
		e := value.JSONElem(array, i)
		b.Child(o.id)
		for j := range o.fields {
			f := &o.fields[j]
			if m, ok := value.JSONMember(e, f.key); ok && f.inner == nil && value.JSONType(m) != "NULL" {
				d, _ := f.read(m)
				f.value.put(b, d)
			}
		}
		for j := range o.fields {
			if f := &o.fields[j]; f.inner != nil {
				if m, ok := value.JSONMember(e, f.key); ok {
					f.inner.put(b, m)
				}
			}
		}
	}
}

// objects are a field of nested objects.
type objects struct {
	id     uint16
	path   *value.JSONPath
	json   bool // the column is JSON, no text
	fields []objectField
	// found are the objects of the row that was read last, nil for none.
	found []byte
}

// values are those that the field takes of a document; false if it cannot.
func (f *Field) values(doc []byte) ([]value.Datum, bool) {
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
		if value.JSONType(e) == "NULL" && !f.Elem.IsString() {
			continue
		}
		d, ok := f.Scalar(e)
		if !ok {
			return nil, false
		}
		vals = append(vals, d)
	}
	return vals, true
}

// putTime gives the time d of a value in a document to the document that was
// begun, or a mark: a text with an offset is another time in other time zones, a
// time alone on other days.
func (f *docField) putTime(b *seg.Batch, doc []byte, d value.Datum, marks []search.Mark) []search.Mark {
	kind := value.JSONType(doc)
	text := bytes.TrimRight(value.AppendJSONUnquoted(nil, doc), " ")
	at := len(text) - len("+00:00")
	switch {
	case kind == "NULL":
	case d.IsNull():
		marks = append(marks, search.Mark{Field: f.ID})
	case kind == "TIME" || at > 0 && (text[at] == '+' || text[at] == '-') && text[at+3] == ':':
		marks = append(marks, search.Mark{Field: f.ID, Why: search.Differs})
	default:
		b.Word(f.ID, f.ToWord(d))
	}
	return marks
}

// objectField is a member: a value or, with inner, objects.
type objectField struct {
	key   []byte
	value docField
	inner *objects
	// as is the form in which texts are read, "" for none.
	as      schema.SearchAs
	formats []string
}

// read is what the field has of a member that is not null; false if it cannot take
// that.
func (f *objectField) read(m []byte) (value.Datum, bool) {
	if f.as != "" {
		kind := value.JSONType(m)
		text := value.AppendJSONUnquoted(nil, m)
		if kind != "STRING" && (kind != "INTEGER" || f.as != schema.AsDate) || len(text) > maxKeywordBytes {
			return value.Null, false
		}
		d := expr.ReadForm(f.as, f.formats, string(text))
		return d, !d.IsNull()
	}
	if f.value.analyzer == nil {
		return f.value.Scalar(m)
	}
	text, ok := value.JSONText(m)
	return value.Bytes(text), ok
}

// isLike reports whether the values of the field are equal, as JSON, to those that
// they were made of; nothing stands for null.
func (f *Field) isLike(doc []byte, vals []value.Datum) bool {
	if f.Elem.IsString() || f.Elem.ID == schema.TypeTinyInt {
		return true // such fields have no mark Unlike
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
		if f.Elem.HasDate() && !searchfield.TellsTime(f.Elem, e) || !f.Elem.HasDate() && f.Compare(vals[at], e) != 0 {
			return false
		}
		at++
	}
	return true
}

// isValue reports whether the field has, in vals, the value of a column.
func (f *Field) isValue(vals []value.Datum, d value.Datum) bool {
	switch {
	case len(vals) == 0 || d.IsNull():
		return len(vals) == 0 && d.IsNull()
	case f.Word:
		return f.ToWord(vals[0]) == f.ToWord(d)
	case f.Kind == value.KindDecimal:
		return bytes.Equal(f.Part.Append(nil, vals[0]), f.Part.Append(nil, d))
	}
	return bytes.Equal(vals[0].Bytes(), d.Bytes())
}

// putAll gives values to the document that was begun.
func (f *Field) putAll(b *seg.Batch, vals []value.Datum) {
	if f.Word {
		words := make([]int64, len(vals))
		for i, d := range vals {
			words[i] = f.ToWord(d)
		}
		if f.many {
			b.Words(f.ID, words)
		} else {
			b.Word(f.ID, words[0])
		}
		return
	}
	keys, stored := make([][]byte, len(vals)), make([][]byte, len(vals))
	for i, d := range vals {
		keys[i] = f.Part.Append(nil, d)
		stored[i] = f.stored(d, keys[i])
	}
	if f.many {
		b.Keys(f.ID, keys, stored)
	} else {
		b.Key(f.ID, keys[0], stored[0])
	}
}

// Scalar is a scalar of a document as a value of the field; false if it does not
// fit.
func (f *Field) Scalar(doc []byte) (value.Datum, bool) {
	kind := value.JSONType(doc)
	switch {
	case f.Elem.IsString():
		if kind == "ARRAY" || kind == "OBJECT" || f.texts && kind != "STRING" {
			return value.Null, false
		}
		s := value.AppendJSONUnquoted(nil, doc)
		return value.Bytes(s), len(s) <= maxKeywordBytes && (!f.many || utf8.RuneCount(s) <= f.Elem.Len)
	case f.Elem.ID == schema.TypeTinyInt:
		return value.Bool(bytes.Equal(doc, value.JSONBool(true))), kind == "BOOLEAN"
	case f.Elem.HasDate():
		return f.Time(doc)
	case !value.JSONIsNumber(doc):
		return value.Null, false
	}
	lo, _, inf := f.Around(doc)
	if inf != 0 {
		return value.Null, false
	}
	if f.Elem.IsInteger() { // halves have no place
		_, hi, _ := f.Around(doc)
		return lo, lo.Bits() == hi.Bits()
	}
	return lo, true
}

// Limits of what a field over a part of a JSON column takes.
const (
	maxElements     = 1024
	maxKeywordBytes = 4096
)

// maxObjects is the most nested documents of a field in a row; an array has at
// most maxElements.
const maxObjects = 16384

// Compare orders a number of the field and one of a document as JSON does.
func (f *Field) Compare(d value.Datum, doc []byte) int {
	own, err := types.ToJSON(nil, d, *f.Elem)
	if err != nil {
		return 1
	}
	return value.JSONCompare(own, doc)
}

// Time is the time that a string denotes, or that a scalar is; false for a string
// whose time depends on the SQL mode or time zone, or with more digits than the
// field has.
func (f *Field) Time(doc []byte) (value.Datum, bool) {
	t, ok := searchfield.ElementTime(f.Elem, doc)
	return value.TimeOf(t), ok
}

// DecimalOf is a JSON number as a decimal; false for one that has none.
func DecimalOf(n value.Datum) (value.Decimal, bool) {
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

func sign(f float64) int {
	if math.Signbit(f) {
		return -1
	}
	return 1
}
