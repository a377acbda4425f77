package access

import (
	"context"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/value"
)

// EXISTS (SELECT … FROM JSON_TABLE(doc, '$.tags[*]' COLUMNS (…)) WHERE …), as
// which NESTED_QUERY is bound too, becomes a query of the nested documents of a
// field over $.tags: conditions on columns are those on the members of one
// object, found by a searcher of their own. What is found is exact where all of
// them are, and the columns have the members' types.

// object is what a searcher of nested objects knows of them.
type object struct {
	field *schema.SearchField
	sub   *expr.Subquery
	// at are the places of columns in the table of the objects; inner the columns
	// that are arrays of objects.
	at    map[expr.ColID]int
	inner map[expr.ColID]*schema.SearchField
	// forms are the columns of texts that a member is read from in a form; table has
	// the members.
	forms map[expr.ColID]*schema.SearchField
	table *schema.Table
	// loose are the columns of another type than the member's: where they are not
	// NULL, they have its value.
	loose map[expr.ColID]bool
}

// objectRows is the guess for sizes of which nothing is known.
type objectRows struct{}

func (objectRows) TableRows(context.Context, *schema.Table) float64 { return 1000 }
func (objectRows) SpanRows(context.Context, *schema.Table, *schema.Index, []ranges.Span) (float64, bool) {
	return 0, false
}
func (objectRows) Distinct(context.Context, *schema.Table, []schema.ColumnID) float64 { return 0 }

// nested turns an EXISTS into a query of nested objects; nil if no field serves
// it.
func (s *searcher) nested(sub *expr.Subquery) (n *physical.SearchNode, exact bool) {
	if sub.Kind != expr.SubqueryExists || sub.ID >= len(s.r.Subqueries) || !s.hasNested() {
		return nil, false
	}
	var conds []expr.Expr
	for n := s.r.Subqueries[sub.ID]; n != nil; {
		switch x := n.(type) {
		case *logical.Project:
			n = x.Input
		case *logical.Limit:
			if k, ok := x.Count.(*expr.Const); x.Offset != nil || !ok || k.D.IsNull() || k.D.Bits() == 0 {
				return nil, false
			}
			n = x.Input
		case *logical.Filter:
			conds = append(conds, x.Conds...)
			n = x.Input
		case *logical.JSONTable:
			field := s.nestedField(sub, x)
			if field == nil {
				return nil, false
			}
			return s.objects(field, sub, x, conds)
		default:
			return nil, false
		}
	}
	return nil, false
}

func (s *searcher) hasNested() bool {
	if s.object != nil {
		return len(s.object.inner) > 0
	}
	for i := range s.x.Fields {
		if s.x.Fields[i].Kind == schema.SearchNested {
			return true
		}
	}
	return false
}

// nestedField is the field whose objects a JSON_TABLE makes rows of; nil: none.
func (s *searcher) nestedField(sub *expr.Subquery, t *logical.JSONTable) *schema.SearchField {
	e := elements{outer: sub.Outer}
	doc, path := e.part(t.Doc)
	if doc == nil {
		doc = e.text(t.Doc)
		path, _ = value.CompileJSONPath("$")
	}
	if doc == nil || path == nil {
		return nil
	}
	path = path.Join(t.Spec.Root.Path)
	if path.Whole() == path { // of no [*]
		return nil
	}
	path = path.Whole()
	if s.object != nil {
		if !path.IsRoot() {
			return nil
		}
		return s.object.inner[doc.ID]
	}
	for i := range s.x.Fields {
		f := &s.x.Fields[i]
		if f.Kind != schema.SearchNested || doc.Index < 0 || doc.Index >= len(s.t.Columns) || s.t.Columns[doc.Index].ID != f.Column {
			continue
		}
		if p := searchfield.NestedPath(f); p != nil && p.Same(path) {
			return f
		}
	}
	return nil
}

// text is the column that a document is made of which is a text, or of which only
// texts are taken that are JSON: IF(JSON_VALID(c), c, NULL). nil: it is another.
func (e *elements) text(x expr.Expr) *expr.Col {
	switch x := x.(type) {
	case *expr.Outer:
		if x.Slot < len(e.outer) {
			return e.text(e.outer[x.Slot])
		}
	case *expr.Col:
		if x.T.IsCharacter() {
			return x
		}
	case *expr.Func:
		if x.Op == expr.OpJSONDoc && len(x.Args) == 1 {
			return e.text(x.Args[0])
		}
		if x.Op != expr.OpIf || len(x.Args) != 3 {
			return nil
		}
		valid, ok := x.Args[0].(*expr.Func)
		other, isConst := x.Args[2].(*expr.Const)
		if !ok || valid.Op != expr.OpJSONValid || !isConst || !other.D.IsNull() {
			return nil
		}
		c, of := e.text(x.Args[1]), e.text(valid.Args[0])
		if c != nil && of != nil && c.ID == of.ID {
			return c
		}
	}
	return nil
}

// objects is a query for rows of which an object satisfies conditions.
func (s *searcher) objects(field *schema.SearchField, sub *expr.Subquery, t *logical.JSONTable, conds []expr.Expr) (*physical.SearchNode, bool) {
	o := &object{field: field, sub: sub, at: map[expr.ColID]int{}, inner: map[expr.ColID]*schema.SearchField{}, forms: map[expr.ColID]*schema.SearchField{}, loose: map[expr.ColID]bool{}}
	table := searchfield.NestedTable(field)
	o.table = table
	r := *s.r
	r.Est, r.Shares, r.ValuesMatter = objectRows{}, nil, false
	in := &searcher{r: &r, t: table, x: searchfield.NestedIndex(field), have: map[int]bool{}, object: o}
	table.ID, in.x.ID = s.t.ID, s.x.ID
	o.columns(t, table)
	r.Scan = &logical.Scan{Table: table}
	for pos := range table.Columns {
		in.have[pos] = in.x.Values(table.Columns[pos].ID) != nil
	}
	var list []expr.Expr
	exact := true
	for _, c := range conds {
		for _, one := range expr.SplitAnd(nil, c) {
			if placed := o.placed(one); placed != nil {
				list = append(list, placed)
				exact = exact && !o.isLoose(placed)
			} else {
				exact = false
			}
		}
	}
	n, left := in.query(list)
	exact = exact && len(left) == 0
	s.r.ValuesMatter = s.r.ValuesMatter || r.ValuesMatter
	s.nodes += in.nodes + 1
	if n == nil && !exact {
		return nil, false
	}
	out := &physical.SearchNode{Op: physical.SearchNested, Field: field, Table: table}
	if n != nil {
		out.Children = []*physical.SearchNode{n}
	}
	if s.object == nil {
		out.Column = s.t.ColumnIndex(field.Column)
	}
	return out, exact
}

// withoutObjects are the conditions without those that objectsKnown covers.
func (s *searcher) withoutObjects(conds []expr.Expr) []expr.Expr {
	if !s.hasNested() {
		return conds
	}
	return slices.DeleteFunc(slices.Clone(conds), func(c expr.Expr) bool {
		if f, ok := c.(*expr.Func); ok && f.Op == expr.OpNot {
			c = f.Args[0]
		}
		sub, ok := c.(*expr.Subquery)
		if !ok {
			return false
		}
		n, _ := s.nested(sub)
		return n != nil
	})
}

// objectsKnown reports whether the query of nested objects can be computed before
// the statement runs.
func objectsKnown(q *physical.SearchNode) bool {
	known := true
	q.Each(func(n *physical.SearchNode) {
		if n.Op != physical.SearchNested {
			return
		}
		n.Each(func(n *physical.SearchNode) {
			switch {
			case n.Set != nil:
				known = known && expr.KnownBefore(n.Set.Conds)
			case n.Cond != nil:
				known = known && expr.KnownBefore([]expr.Expr{n.Cond})
			case n.Match != nil:
				known = known && expr.KnownBefore(n.Match.Args[1:])
			}
		})
	})
	return known
}

// columns finds the members that columns of JSON_TABLE have. Those that are not
// just the member's value get a place of their own in the table.
func (o *object) columns(t *logical.JSONTable, table *schema.Table) {
	for i := range t.Spec.Root.Columns {
		c := &t.Spec.Root.Columns[i]
		if c.Ordinality || c.Exists || c.Path == nil || c.OnError.Kind != "null" || c.OnEmpty.Kind != "null" {
			continue
		}
		keys, ok := c.Path.Members()
		if !ok || len(keys) != 1 {
			continue
		}
		id := t.Cols[c.At].ID
		for j := range o.field.Sub {
			f := &o.field.Sub[j]
			switch {
			case f.Name != keys[0]:
			case f.Kind == schema.SearchNested:
				if c.Column.Type.ID == schema.TypeJSON {
					o.inner[id] = f
				}
			case f.As != "":
				if same, near := memberIs(&f.Elem, &c.Column.Type); near && isUTF8(c.Column.Type.Collation) {
					o.forms[id], o.loose[id] = f, !same
				}
			default:
				same, near := memberIs(&f.Elem, &c.Column.Type)
				pos := table.ColumnIndex(searchfield.NestedColumn(o.field, f))
				if near && !same {
					o.loose[id] = true
					column := table.Columns[pos]
					table.Columns, pos = append(table.Columns, column), len(table.Columns)
				}
				if near {
					o.at[id] = pos
				}
			}
		}
	}
}

// memberIs reports whether a column of JSON_TABLE has the value of a member of type
// elem for all values that the field takes; near: or is NULL.
func memberIs(elem, t *schema.Type) (same, near bool) {
	switch {
	case elem.IsString():
		near = t.IsCharacter() && t.ID != schema.TypeEnum && t.ID != schema.TypeSet && t.ID != schema.TypeChar
		long := t.ID == schema.TypeText || t.ID == schema.TypeMediumText || t.ID == schema.TypeLongText
		return near && long && t.Collation == elem.Collation, near
	case elem.IsInteger():
		near = t.IsInteger() && t.Unsigned == elem.Unsigned
		return near && t.ID == elem.ID, near
	case elem.ID == schema.TypeDecimal:
		near = t.ID == schema.TypeDecimal && t.Scale == elem.Scale
		return near && t.Len == elem.Len && t.Unsigned == elem.Unsigned, near
	}
	same = t.ID == elem.ID && t.Scale == elem.Scale && t.Unsigned == elem.Unsigned
	return same, same
}

// isUTF8 reports a collation of texts that have the bytes of those in documents.
func isUTF8(id schema.CollationID) bool {
	c, ok := collate.Lookup(id)
	return ok && strings.HasPrefix(c.Charset, "utf8")
}

// form is the column of what a function reads in the text of a member; nil: it is
// another function.
func (o *object) form(f *expr.Func) *expr.Col {
	as, formats, ok := expr.FormOf(f)
	if !ok {
		return nil
	}
	text, ok := f.Args[0].(*expr.Col)
	if !ok {
		return nil
	}
	member := o.forms[text.ID]
	if member == nil || member.As != as || !slices.Equal(member.Formats, formats) {
		return nil
	}
	return &expr.Col{ID: text.ID, Index: o.table.ColumnIndex(schema.ColumnID(member.ID)), T: f.Type(), Null: true, Name: f.String()}
}

// placed is a condition over the table of the objects; nil where it reads anything
// else.
func (o *object) placed(c expr.Expr) expr.Expr {
	ok, texts := true, 0
	out := expr.Map(c, func(x expr.Expr) expr.Expr {
		switch x := x.(type) {
		case *expr.Func:
			if c := o.form(x); c != nil {
				texts--
				return c
			}
		case *expr.Outer:
			ok = false
		case *expr.Subquery:
			ok = ok && x.Kind == expr.SubqueryExists && len(x.Outer) > 0
		case *expr.Col:
			placed := *x
			if pos, is := o.at[x.ID]; is {
				placed.Index = pos
				return &placed
			}
			placed.Index = -1
			if o.forms[x.ID] != nil { // is read by a function
				texts++
			} else if o.inner[x.ID] == nil {
				ok = false
			}
			return &placed
		}
		return x
	})
	if !ok || texts != 0 || o.isLoose(out) && !isStrict(out) {
		return nil
	}
	return out
}

// isLoose reports a condition on columns that may be NULL where the member is not.
func (o *object) isLoose(c expr.Expr) bool {
	found := false
	expr.Walk(c, func(x expr.Expr) bool {
		col, ok := x.(*expr.Col)
		found = found || ok && o.loose[col.ID]
		return !found
	})
	return found
}

// isStrict reports a condition that is true for no NULL of its columns, and what
// it is for others.
func isStrict(c expr.Expr) bool {
	f, ok := c.(*expr.Func)
	if !ok {
		return false
	}
	switch f.Op {
	case expr.OpAnd, expr.OpOr:
		return !slices.ContainsFunc(f.Args, func(a expr.Expr) bool { return !isStrict(a) })
	case expr.OpEQ, expr.OpNE, expr.OpLT, expr.OpLE, expr.OpGT, expr.OpGE, expr.OpIn, expr.OpLike:
	default:
		if !f.Op.MeetsBoxes() {
			return false
		}
	}
	for _, a := range f.Args {
		if g, is := a.(*expr.Func); is && g.Op == expr.OpSTDistanceSphere && !slices.ContainsFunc(g.Args, func(a expr.Expr) bool { return !isOperand(a) }) {
			continue
		}
		if !isOperand(a) {
			return false
		}
	}
	return true
}

func isOperand(e expr.Expr) bool {
	_, isCol := e.(*expr.Col)
	return isCol || expr.IsConst(e)
}
