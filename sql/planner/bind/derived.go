package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// tableFunction is the call of STREAM or VERSIONS that a derived table consists
// of, with what binds it; nil if it is another one.
func tableFunction(n ast.ResultSetNode) (*ast.FuncCallExpr, func(*binder, *ast.FuncCallExpr, string) (*source, error)) {
	s, ok := n.(*ast.SelectStmt)
	if !ok || s.Fields == nil || len(s.Fields.Fields) != 1 {
		return nil, nil
	}
	f, ok := s.Fields.Fields[0].Expr.(*ast.FuncCallExpr)
	if !ok {
		return nil, nil
	}
	switch f.FnName.L {
	case parser.StreamFunc:
		return f, (*binder).stream
	case parser.VersionsFunc:
		return f, (*binder).versions
	}
	return nil, nil
}

// tableArgument is the first argument of a table function: 'table' or
// 'database.table'.
func (b *binder) tableArgument(name string, call *ast.FuncCallExpr) (db, table string, err error) {
	if b.canon != nil {
		return "", "", sqlerr.NotSupported(name + " in a view")
	}
	l, ok := call.Args[0].(*parser.Literal)
	if !ok || l.Datum.Kind() != value.KindBytes {
		return "", "", sqlerr.WrongArguments(name)
	}
	table = l.GetString()
	if before, after, ok := strings.Cut(table, "."); ok {
		db, table = before, after
	}
	db, err = b.database(db)
	return db, table, err
}

// StreamTable is the table that stream('db.table') is.
func StreamTable(db, table string) *schema.Table {
	text := func(n int) schema.Type { return types.VarcharOf(n, schema.CollationUTF8MB4Bin) }
	col := func(name string, t schema.Type, null bool) schema.Column {
		return schema.Column{Name: name, Type: t, Nullable: null}
	}
	small := types.UBigInt
	small.ID, small.Len = schema.TypeInt, 10
	t := &schema.Table{Database: db, Name: "stream", Collation: schema.CollationUTF8MB4Bin,
		Columns: []schema.Column{
			col("seq", types.UBigInt, false), col("ordinal", small, false), col("commit_time", timestamp6(), false),
			col("kind", text(16), false), col("pk", types.JSON, true), col("before_image", types.JSON, true), col("after_image", types.JSON, true),
			col("schema_version", small, false),
		},
		Derived: &schema.Derived{Kind: schema.DerivedStream, Database: db, Table: table},
	}
	for i := range t.Columns {
		t.Columns[i].ID = schema.ColumnID(i + 1)
	}
	t.NextColumnID = schema.ColumnID(len(t.Columns) + 1)
	t.PrimaryKey = []schema.KeyPart{{Column: 1}, {Column: 2}}
	return t
}

// stream binds stream('table' [, after]): after is a consumer's name, or a
// sequence and perhaps an ordinal.
func (b *binder) stream(call *ast.FuncCallExpr, alias string) (*source, error) {
	db, table, err := b.tableArgument("stream", call)
	if err != nil {
		return nil, err
	}
	if len(call.Args) > 3 {
		return nil, sqlerr.WrongArguments("stream")
	}
	b.needTable(logical.TableName{DB: db, Name: table}, priv.Select)
	var args []expr.Expr
	for _, a := range call.Args[1:] {
		e, err := b.constant(a)
		if err != nil {
			return nil, err
		}
		args = append(args, e)
	}
	return b.derivedTable(StreamTable(db, table), alias, args), nil
}

// VersionColumns are the columns that versions('table') has in addition to those of the
// table.
const (
	VersionFrom  = "_from"
	VersionUntil = "_until"
	versionKey   = "_version"
)

// VersionsTable is the table that versions('table') is: the rows of t at the
// times of each of their versions.
func VersionsTable(t *schema.Table) *schema.Table {
	v := derivedOf(t, schema.DerivedVersions)
	at := timestamp6()
	id := schema.MaxDeclaredColumnID
	v.Columns = append(v.Columns,
		schema.Column{ID: id - 2, Name: versionKey, Type: types.UBigInt, Hidden: true},
		schema.Column{ID: id - 1, Name: VersionFrom, Type: at, Nullable: true},
		schema.Column{ID: id, Name: VersionUntil, Type: at, Nullable: true})
	v.PrimaryKey = append(v.PrimaryKey, schema.KeyPart{Column: id - 2})
	return v
}

// derivedOf is t without what only its stored rows have.
func derivedOf(t *schema.Table, kind schema.DerivedKind) *schema.Table {
	d := t.Clone()
	d.Indexes, d.ForeignKeys, d.Checks = nil, nil, nil
	d.Stream, d.MaxVersions = nil, 0
	d.Derived = &schema.Derived{Kind: kind, Of: t}
	return d
}

func (b *binder) versions(call *ast.FuncCallExpr, alias string) (*source, error) {
	db, name, err := b.tableArgument("versions", call)
	if err != nil {
		return nil, err
	}
	if len(call.Args) != 1 {
		return nil, sqlerr.WrongArguments("versions")
	}
	b.needTable(logical.TableName{DB: db, Name: name}, priv.Select)
	t, err := b.table(db, name)
	if err != nil {
		return nil, err
	}
	if !t.KeepsVersions() {
		return nil, sqlerr.NoVersions(t.Name)
	}
	for _, c := range []string{versionKey, VersionFrom, VersionUntil} {
		if t.ColumnByName(c) >= 0 {
			return nil, sqlerr.DuplicateColumn(c)
		}
	}
	return b.derivedTable(VersionsTable(t), alias, nil), nil
}

// asOf binds t AS OF TIMESTAMP expr.
func (b *binder) asOf(t *schema.Table, alias string, n *ast.TableName) (*source, error) {
	if b.canon != nil {
		return nil, sqlerr.NotSupported("AS OF TIMESTAMP in a view")
	}
	if !t.KeepsVersions() {
		return nil, sqlerr.NoVersions(t.Name)
	}
	e, err := b.constant(n.AsOf.TsExpr)
	if err != nil {
		return nil, err
	}
	if e, err = expr.NewCast(b.be, e, types.DatetimeOf(6), false); err != nil {
		return nil, err
	}
	return b.derivedTable(derivedOf(t, schema.DerivedAsOf), alias, []expr.Expr{e}), nil
}

// constant binds an expression that reads no columns and no tables.
func (b *binder) constant(n ast.ExprNode) (expr.Expr, error) {
	e, err := b.value(b.scope(nil, nil, clauseField), n)
	if err != nil {
		return nil, err
	}
	bad := false
	expr.Walk(e, func(e expr.Expr) bool {
		switch e.(type) {
		case *expr.Const, *expr.Param, *expr.Func:
		default:
			bad = true
		}
		return !bad
	})
	if bad {
		return nil, sqlerr.NotSupported("a subquery or column as argument of a table function")
	}
	return e, nil
}

// derivedTable makes the source of a derived table.
func (b *binder) derivedTable(t *schema.Table, alias string, args []expr.Expr) *source {
	s := &logical.Scan{Table: t, Alias: alias, Cols: make([]logical.Column, len(t.Columns)), Args: args}
	roles := t.Roles()
	for i := range t.Columns {
		c := &t.Columns[i]
		s.Cols[i] = logical.Column{ID: b.newID(), Name: c.Name, Table: alias, DB: t.Database, OrgTable: t.Name, OrgName: c.Name, Role: roles[i],
			T: c.Type, Null: c.Nullable, Hidden: c.Hidden, Invisible: c.Invisible}
	}
	b.tableHints(s)
	ref := &tableRef{alias: alias, db: t.Database, cols: append([]logical.Column(nil), s.Cols...), derived: s}
	return &source{node: s, tables: []*tableRef{ref}, star: visible(s.Cols)}
}

func timestamp6() schema.Type {
	t := types.DatetimeOf(6)
	t.ID = schema.TypeTimestamp
	return t
}

// stored is the scan of a table of FROM, or of what is derived from one; nil
// for other sources.
func (t *tableRef) stored() *logical.Scan {
	if s, ok := t.derived.(*logical.Scan); ok && s.Table.Derived != nil {
		return s
	}
	return t.scan
}
