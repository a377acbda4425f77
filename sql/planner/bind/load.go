package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// loadData binds LOAD DATA.
func (b *binder) loadData(n *ast.LoadDataStmt) (*logical.LoadData, error) {
	if n.Format != nil || len(n.Options) > 0 {
		return nil, sqlerr.NotSupported("LOAD DATA … FORMAT and WITH")
	}
	right := b.writesTarget(n.Table, "LOAD")
	t, err := b.targetTable(n.Table, "LOAD")
	if err != nil {
		return nil, err
	}
	b.ofTemporary(right, t)
	right.ofTable(t)
	out := &logical.LoadData{Local: n.FileLocRef == ast.FileLocClient, Path: n.Path,
		FieldsTerminated: "\t", FieldsEscaped: `\`, LinesTerminated: "\n"}
	out.Insert = logical.Insert{Table: t, Replace: n.OnDuplicate == ast.OnDuplicateKeyHandlingReplace, Ignore: n.OnDuplicate == ast.OnDuplicateKeyHandlingIgnore}
	if n.Charset != nil {
		if _, err := define.CharsetCollation(*n.Charset, ""); err != nil {
			return nil, err
		}
		out.Charset = *n.Charset
	}
	if err := loadFormat(n, out); err != nil {
		return nil, err
	}
	if err := loadFields(n, t, out); err != nil {
		return nil, err
	}
	if out.Insert.Defaults, err = b.defaults(t); err != nil {
		return nil, err
	}
	if out.Set, err = b.loadSet(n, t, right, out.Fields); err != nil {
		return nil, err
	}
	out.Insert.Subqueries = b.subqueries
	for _, at := range out.Insert.Columns {
		right.changing(at, priv.Insert)
	}
	right.assigning(out.Set, priv.Insert)
	if out.Insert.Replace {
		right.need.Mask |= priv.Delete
	}
	return out, nil
}

// loadSet binds SET: expressions see the row and the variables that take
// fields, which are text.
func (b *binder) loadSet(n *ast.LoadDataStmt, t *schema.Table, right *tableRight, fields []logical.LoadField) ([]logical.Assignment, error) {
	vars := map[string]bool{}
	for _, f := range fields {
		vars[strings.ToLower(f.Var)] = f.Column < 0
	}
	before := b.env
	env := *before
	env.UserVar = func(name string) schema.Type {
		if vars[strings.ToLower(name)] || before.UserVar == nil {
			return types.Text(b.collation())
		}
		return before.UserVar(name)
	}
	b.env, b.targets = &env, []*schema.Table{t}
	defer func() { b.env, b.targets = before, nil }()
	is := &insertScope{t: t, alias: n.Table.Name.O, right: right, loads: true}
	return b.assignments(&scope{b: b, clause: clauseField, column: is.column, insert: is}, t, is.alias, nil, n.ColumnAssignments)
}

func loadFormat(n *ast.LoadDataStmt, out *logical.LoadData) error {
	if f := n.FieldsInfo; f != nil {
		if f.DefinedNullBy != nil {
			return sqlerr.NotSupported("DEFINED NULL BY")
		}
		set(&out.FieldsTerminated, f.Terminated)
		set(&out.FieldsEnclosed, f.Enclosed)
		set(&out.FieldsEscaped, f.Escaped)
		out.OptionallyEnclosed = f.OptEnclosed
	}
	if len(out.FieldsEnclosed) > 1 || len(out.FieldsEscaped) > 1 {
		return sqlerr.WrongFieldTerminators()
	}
	if out.FieldsTerminated == "" && out.FieldsEnclosed == "" {
		return sqlerr.NotSupported("LOAD DATA of fields with fixed width")
	}
	if l := n.LinesInfo; l != nil {
		set(&out.LinesStarting, l.Starting)
		set(&out.LinesTerminated, l.Terminated)
	}
	if n.IgnoreLines != nil {
		out.IgnoreLines = int(min(*n.IgnoreLines, 1<<40))
	}
	return nil
}

func set(dst *string, src *string) {
	if src != nil {
		*dst = *src
	}
}

func loadFields(n *ast.LoadDataStmt, t *schema.Table, out *logical.LoadData) error {
	if len(n.ColumnsAndUserVars) == 0 {
		for _, i := range visiblePositions(t) {
			out.Fields = append(out.Fields, logical.LoadField{Column: i})
			out.Insert.Columns = append(out.Insert.Columns, i)
		}
		return nil
	}
	seen, named := map[int]bool{}, map[string]bool{}
	for _, c := range n.ColumnsAndUserVars {
		if c.UserVar != nil {
			if c.UserVar.IsSystem {
				return sqlerr.NotSupported("LOAD DATA into a system variable")
			}
			out.Fields = append(out.Fields, logical.LoadField{Column: -1, Var: c.UserVar.Name})
			continue
		}
		i := t.ColumnByName(c.ColumnName.Name.O)
		if name := c.ColumnName.Name.O; i < 0 && t.AttributesColumn() >= 0 && define.CheckColumnName(name) == nil {
			fold := string(value.FoldName([]byte(name)))
			if named[fold] {
				return sqlerr.FieldSpecifiedTwice(name)
			}
			named[fold] = true
			out.Fields = append(out.Fields, logical.LoadField{Column: -1, Attribute: name})
			continue
		}
		if i < 0 || t.Columns[i].Hidden {
			return sqlerr.UnknownColumn(c.ColumnName.Name.O, clauseField)
		}
		if seen[i] {
			return sqlerr.FieldSpecifiedTwice(c.ColumnName.Name.O)
		}
		seen[i] = true
		out.Fields = append(out.Fields, logical.LoadField{Column: i})
		out.Insert.Columns = append(out.Insert.Columns, i)
	}
	return nil
}
