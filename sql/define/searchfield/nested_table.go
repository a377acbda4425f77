package searchfield

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
)

// NestedTable are the objects of a SearchNested as a table, whose columns are the
// members that have a value, or words alone. Conditions on them become queries of
// its fields.
func NestedTable(f *schema.SearchField) *schema.Table {
	t := &schema.Table{Name: f.Name}
	for i := range f.Sub {
		if s := &f.Sub[i]; s.Kind != schema.SearchNested && NestedColumn(f, s) == schema.ColumnID(s.ID) {
			t.Columns = append(t.Columns, schema.Column{ID: schema.ColumnID(s.ID), Name: s.Name, Type: nestedType(s), Nullable: true})
		}
	}
	return t
}

func nestedType(s *schema.SearchField) schema.Type {
	if s.As != "" {
		return expr.FormType(s.As)
	}
	return s.Elem
}

// NestedColumn is the column of a member s of f in NestedTable: that of the strings
// whose words it has, if there is one.
func NestedColumn(f, s *schema.SearchField) schema.ColumnID {
	if s.Kind == schema.SearchText {
		for i := range f.Sub {
			if o := &f.Sub[i]; o.Kind == schema.SearchPath && o.As == "" && o.Name == s.Name {
				return schema.ColumnID(o.ID)
			}
		}
	}
	return schema.ColumnID(s.ID)
}

// NestedMember is the field of a member s of f, over one of the columns of
// NestedTable.
func NestedMember(f, s *schema.SearchField) *schema.SearchField {
	out := &schema.SearchField{ID: s.ID, Column: NestedColumn(f, s)}
	if s.As == schema.AsGeoPoint {
		out.Kind = schema.SearchGeo
	}
	if s.Kind == schema.SearchText {
		out.Kind, out.Analyzer, out.Options = s.Kind, s.Analyzer, s.Options
	}
	return out
}

// NestedIndex are the fields over NestedTable.
func NestedIndex(f *schema.SearchField) *schema.SearchIndex {
	x := &schema.SearchIndex{}
	for i := range f.Sub {
		if s := &f.Sub[i]; s.Kind != schema.SearchNested {
			x.Fields = append(x.Fields, *NestedMember(f, s))
		}
	}
	return x
}
