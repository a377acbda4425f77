package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// selectedColumns adds the columns of CREATE TABLE … SELECT: those that the
// statement defines and the SELECT lacks come first, then those of the SELECT
// in its order. One that is in both has the statement's definition.
// https://dev.mysql.com/doc/refman/8.4/en/create-table-select.html
func (b *binder) selectedColumns(t *schema.Table, own []*columnDef, rows *result) ([]*columnDef, error) {
	cols, err := renamed(rows.cols, nil)
	if err != nil {
		return nil, err
	}
	defined := map[string]*columnDef{}
	for _, d := range own {
		defined[strings.ToLower(d.Name)] = d
	}
	var later []*columnDef
	for _, c := range cols {
		name := strings.ToLower(c.Name)
		d := defined[name]
		if d == nil {
			if err := define.CheckColumnName(c.Name); err != nil {
				return nil, err
			}
			d = &columnDef{Column: define.Column{Column: b.selectedColumn(c)}}
		}
		delete(defined, name)
		later = append(later, d)
	}
	var defs []*columnDef
	for _, d := range own {
		if defined[strings.ToLower(d.Name)] != nil {
			defs = append(defs, d)
		}
	}
	defs = append(defs, later...)
	if len(defs) > define.MaxColumns {
		return nil, sqlerr.TooManyColumns()
	}
	t.Columns = t.Columns[:0]
	for _, d := range defs {
		t.Columns = append(t.Columns, d.Column.Column)
	}
	return defs, nil
}

// maxVarcharBytes is the longest VARCHAR or VARBINARY; longer results become
// TEXT and BLOB.
const maxVarcharBytes = 65535

// selectedColumn is a column of a table for a column of a query. One that shows
// a column of a table keeps its default and comment.
func (b *binder) selectedColumn(c logical.Column) schema.Column {
	out := schema.Column{Name: c.Name, Type: c.T, Nullable: c.Null}
	switch t := &out.Type; {
	case t.ID == schema.TypeNull:
		*t, out.Nullable = schema.Type{ID: schema.TypeBinary, Collation: schema.CollationBinary}, true
	case t.ID == schema.TypeVarchar || t.ID == schema.TypeVarbinary:
		if t.Len*characterBytes(*t) > maxVarcharBytes {
			*t = types.Text(t.Collation)
		}
	}
	base := b.baseColumn(c)
	switch {
	case base != nil:
		out.Comment = base.Comment
		if base.AutoIncrement && !c.Null {
			out.Default = &schema.Default{Literal: "0"}
		} else if !base.AutoIncrement && base.Default != nil && (c.Null || !base.Default.Null) {
			out.Default = base.Default
		}
	case out.Nullable:
	case out.Type.ID == schema.TypeDecimal && out.Type.Scale > 0:
		out.Default = &schema.Default{Literal: "0." + strings.Repeat("0", out.Type.Scale)}
	case out.Type.IsNumeric():
		out.Default = &schema.Default{Literal: "0"}
	case out.Type.IsString() && !out.Type.IsBlobOrText() && out.Type.ID != schema.TypeEnum && out.Type.ID != schema.TypeSet:
		out.Default = &schema.Default{}
	}
	return out
}

func characterBytes(t schema.Type) int {
	if c, ok := collate.Lookup(t.Collation); ok && t.IsCharacter() {
		return c.MaxLen()
	}
	return 1
}

// insertSelected is the INSERT of CREATE TABLE … SELECT.
func (b *binder) insertSelected(t *schema.Table, n *ast.CreateTableStmt, rows *result) (*logical.Insert, error) {
	out := &logical.Insert{Source: rows.node, Subqueries: b.subqueries,
		Replace: n.OnDuplicate == ast.OnDuplicateKeyHandlingReplace, Ignore: n.OnDuplicate == ast.OnDuplicateKeyHandlingIgnore}
	for _, c := range rows.cols {
		out.Columns = append(out.Columns, t.ColumnByName(c.Name))
	}
	var err error
	if out.Defaults, err = b.defaults(t); err != nil {
		return nil, err
	}
	out.Views = b.views
	return out, nil
}
