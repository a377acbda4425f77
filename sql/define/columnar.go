package define

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define/searchfield"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// ColumnarName is the name of a columnar index of all columns that was given none.
const ColumnarName = "columnar"

// resolveColumnar gives a columnar index its fields: 1072, 1060, 1070.
func resolveColumnar(b Binder, t *schema.Table, x *schema.SearchIndex, cols []IndexColumn) error {
	if x.All {
		return FollowColumns(b, t, x)
	}
	for _, c := range cols {
		i := t.ColumnByName(c.Name)
		if i < 0 || t.Columns[i].Hidden {
			return sqlerr.KeyColumnMissing(c.Name)
		}
		if err := addColumnarField(x, &t.Columns[i]); err != nil {
			return err
		}
	}
	return nil
}

// FollowColumns gives a columnar index of all columns those that it lacks: 1070. A
// virtual column whose values depend on the session's time zone has no field.
func FollowColumns(b Binder, t *schema.Table, x *schema.SearchIndex) error {
	zoned := zonedColumns(b, t)
	x.Fields = slices.DeleteFunc(slices.Clone(x.Fields), func(f schema.SearchField) bool { return slices.Contains(zoned, f.Column) })
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Hidden || x.Values(c.ID) != nil || slices.Contains(zoned, c.ID) {
			continue
		}
		if err := addColumnarField(x, c); err != nil {
			return err
		}
	}
	return nil
}

// zonedColumns are the virtual columns whose values depend on the session's time zone.
// What is wrong with expressions is reported where they are resolved.
func zonedColumns(b Binder, t *schema.Table) (out []schema.ColumnID) {
	if !slices.ContainsFunc(t.Columns, func(c schema.Column) bool { return c.IsVirtual() && !c.Hidden }) {
		return nil
	}
	steps, err := compileSteps(b, t)
	if err != nil {
		return nil
	}
	for _, s := range steps {
		if c := &t.Columns[s.Pos]; s.Zoned && c.IsVirtual() {
			out = append(out, c.ID)
		}
	}
	return out
}

// addColumnarField adds the field of a column.
func addColumnarField(x *schema.SearchIndex, c *schema.Column) error {
	switch {
	case x.Values(c.ID) != nil:
		return sqlerr.DuplicateColumn(c.Name)
	case len(x.Fields) == searchfield.MaxColumns:
		return sqlerr.TooManySearchFields(searchfield.MaxColumns)
	}
	f := searchfield.Columnar(c)
	x.NextField = max(x.NextField, 1) // 0 is no field
	if int(x.NextField) > searchfield.MaxFieldID {
		return sqlerr.NotSupported("more than 65534 fields in the life of a search index")
	}
	f.Number(&x.NextField)
	x.Fields = append(x.Fields, f)
	return nil
}

// RetypeColumns gives the fields of a columnar index the kinds that the types of their
// columns have now. A field that changes is another one.
func RetypeColumns(t *schema.Table, x *schema.SearchIndex) error {
	for i := range x.Fields {
		c := t.Column(x.Fields[i].Column)
		if c == nil {
			return sqlerr.Internal("field %d of search index %s has no column", x.Fields[i].ID, x.Name)
		}
		f := searchfield.Columnar(c)
		if f.Kind == x.Fields[i].Kind {
			continue
		}
		if int(x.NextField) > searchfield.MaxFieldID {
			return sqlerr.NotSupported("more than 65534 fields in the life of a search index")
		}
		x.Fields = slices.Clone(x.Fields)
		f.Number(&x.NextField)
		x.Fields[i] = f
	}
	return nil
}
