package physical

import "github.com/sqlots/sqlots/schema"

// NestedTable are the objects of a SearchNested as a table, whose columns are the
// members that have a value. Conditions on them are asked of its fields.
func NestedTable(f *schema.SearchField) *schema.Table {
	t := &schema.Table{Name: f.Name}
	for i := range f.Sub {
		if s := &f.Sub[i]; s.Kind == schema.SearchPath {
			t.Columns = append(t.Columns, schema.Column{ID: schema.ColumnID(s.ID), Name: s.Name, Type: s.Elem, Nullable: true})
		}
	}
	return t
}

// NestedMember is the field of a member, as one of the columns of NestedTable.
func NestedMember(s *schema.SearchField) *schema.SearchField {
	return &schema.SearchField{ID: s.ID, Column: schema.ColumnID(s.ID)}
}

// NestedIndex are the fields over NestedTable.
func NestedIndex(f *schema.SearchField) *schema.SearchIndex {
	x := &schema.SearchIndex{}
	for i := range f.Sub {
		if s := &f.Sub[i]; s.Kind == schema.SearchPath {
			x.Fields = append(x.Fields, *NestedMember(s))
		}
	}
	return x
}
