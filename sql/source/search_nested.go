package source

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/value"
)

// The objects of an array are nested documents behind that of the row, with their
// members as fields. They have what JSON_TABLE gives for columns of the members'
// types over the path $[*]: a row with anything of which that could be doubted, as
// an element that is no object or a text for a number, is rejected as a whole.

// maxObjects is the most nested documents of a field in a row; an array has at
// most maxElements.
const maxObjects = 16384

// nestedFields appends what the files keep of a field of nested objects.
func nestedFields(d *schema.SearchField, parent uint16, out *seg.Schema) error {
	out.Paths = append(out.Paths, seg.Path{ID: d.ID, Parent: parent})
	t := physical.NestedTable(d)
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
		f, err := newSearchField(t, physical.NestedMember(d, &d.Sub[i]))
		if err != nil {
			return err
		}
		out.Fields = append(out.Fields, f.field())
	}
	return nil
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

// objectField is a member: a value or, with inner, objects.
type objectField struct {
	key   []byte
	value docField
	inner *objects
	// as is the form in which texts are read, "" for none.
	as      schema.SearchAs
	formats []string
}

func newObjects(d *schema.SearchField) (*objects, error) {
	o := &objects{id: d.ID}
	t := physical.NestedTable(d)
	for i := range d.Sub {
		s := &d.Sub[i]
		f := objectField{key: []byte(s.Name)}
		var err error
		switch s.Kind {
		case schema.SearchNested:
			f.inner, err = newObjects(s)
		case schema.SearchText:
			f.value.id, f.value.collation = seg.FieldID(s.ID), s.Elem.Collation
			f.value.analyzer, err = searchfield.Analyzer(&schema.SearchIndex{}, s, &schema.Column{Name: s.Name})
		default:
			f.value.searchField, err = newSearchField(t, physical.NestedMember(d, s))
			f.value.elem, f.value.texts = &s.Elem, true
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
		return f.value.scalar(m)
	}
	text, ok := value.JSONText(m)
	return value.Bytes(text), ok
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

// nested asks for rows of which an object satisfies a condition.
func (q *searchQuery) nested(n *physical.SearchNode) (query.Node, error) {
	in := *q
	in.table, in.objects = n.Table, n.Field.ID
	of := query.Node(query.And{})
	if len(n.Children) > 0 {
		var err error
		if of, err = in.node(n.Children[0]); err != nil {
			return nil, err
		}
	}
	return &query.Nested{Path: n.Field.ID, Of: of}, nil
}
