package bind

import (
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// Limits of tables.
const (
	maxColumns      = 4096
	maxTableComment = 2048
)

func checkTableName(name string) error {
	if name == "" || strings.HasSuffix(name, " ") {
		return sqlerr.WrongTableName(name)
	}
	return checkName(name)
}

// newTable is the place of a table that does not exist yet: its database must.
func (b *binder) newTable(n *ast.TableName) (*schema.Database, error) {
	if err := checkTableName(n.Name.O); err != nil {
		return nil, err
	}
	db, err := b.database(n.Schema.O)
	if err != nil {
		return nil, err
	}
	d, ok := b.env.Catalog.Database(db)
	if !ok {
		if b.isVirtual(db) {
			return nil, sqlerr.AccessDeniedForSchema(db)
		}
		return nil, sqlerr.UnknownDatabase(db)
	}
	return d, nil
}

func (b *binder) createTable(n *ast.CreateTableStmt) (logical.Statement, error) {
	switch {
	case n.TemporaryKeyword == ast.TemporaryGlobal:
		return nil, sqlerr.NotSupported("GLOBAL TEMPORARY table")
	case n.Partition != nil:
		return nil, sqlerr.NotSupported("PARTITION BY")
	case len(n.SplitIndex) > 0:
		return nil, sqlerr.NotSupported("SPLIT")
	}
	db, err := b.newTable(n.Table)
	if err != nil {
		return nil, err
	}
	out := &logical.CreateTable{IfNotExists: n.IfNotExists, Temporary: n.TemporaryKeyword == ast.TemporaryLocal,
		Name: logical.TableName{DB: db.Name, Name: n.Table.Name.O}}
	if n.ReferTable != nil {
		src, err := b.database(n.ReferTable.Schema.O)
		if err != nil {
			return nil, err
		}
		out.Like = &logical.TableName{DB: src, Name: n.ReferTable.Name.O}
		return out, nil
	}
	t := &schema.Table{Database: db.Name, Name: n.Table.Name.O, Collation: db.Collation}
	if t.Collation == schema.CollationNone {
		t.Collation = b.serverCollation()
	}
	if err := b.tableOptions(t, n.Options); err != nil {
		return nil, err
	}
	var rows *result
	if n.Select != nil {
		if rows, err = b.query(b.scope(nil, nil, clauseField), n.Select); err != nil {
			return nil, err
		}
		rows = b.shown(rows)
	}
	if err := b.tableColumns(out, t, n, rows); err != nil {
		return nil, err
	}
	if ttl, err := ttlChange(n.Options); err != nil {
		return nil, err
	} else if ttl != nil {
		if err := SetTTL(t, ttl); err != nil {
			return nil, err
		}
	}
	out.Table = t
	if rows != nil {
		out.Source, err = b.insertSelected(t, n, rows)
	}
	return out, err
}

func (b *binder) serverCollation() schema.CollationID {
	if b.env.ServerCollation != schema.CollationNone {
		return b.env.ServerCollation
	}
	return schema.CollationUTF8MB40900AICI
}

// tableColumns binds columns and keys.
// rows is the SELECT, whose columns are added, nil if there is none.
func (b *binder) tableColumns(out *logical.CreateTable, t *schema.Table, n *ast.CreateTableStmt, rows *result) error {
	if len(n.Cols) == 0 && rows == nil {
		return sqlerr.TableMustHaveColumns()
	}
	if len(n.Cols) > maxColumns {
		return sqlerr.TooManyColumns()
	}
	var keys []*keyDef
	var defs []*columnDef
	var checks []checkDef
	for _, c := range n.Cols {
		d, err := b.column(c, t.Collation)
		if err != nil {
			return err
		}
		if d.fromAttributes {
			return sqlerr.NotSupported("FROM ATTRIBUTES in CREATE TABLE")
		}
		if t.ColumnByName(d.col.Name) >= 0 {
			return sqlerr.DuplicateColumn(d.col.Name)
		}
		t.Columns = append(t.Columns, d.col)
		defs = append(defs, d)
		checks = append(checks, d.checks...)
		one := []logical.IndexColumn{{Name: d.col.Name}}
		if d.primary {
			keys = append(keys, &keyDef{primary: true, cols: one})
		}
		if d.unique {
			keys = append(keys, &keyDef{index: schema.Index{Unique: true}, cols: one})
		}
	}
	if rows != nil {
		var err error
		if defs, err = b.selectedColumns(t, defs, rows); err != nil {
			return err
		}
	}
	if HasDynamicColumns(t.Attributes) {
		var err error
		if defs, err = dynamicColumns(t, defs); err != nil {
			return err
		}
	}
	for i := range t.Columns {
		t.Columns[i].ID = schema.ColumnID(i + 1)
	}
	for _, c := range n.Constraints {
		if c.Tp == ast.ConstraintCheck {
			check, err := newCheck(c.Name, c.Expr, c.Enforced)
			if err != nil {
				return err
			}
			checks = append(checks, check)
			continue
		}
		if c.Tp == ast.ConstraintForeignKey {
			fk, err := b.foreignKey(c, t.Database)
			if err != nil {
				return err
			}
			out.ForeignKeys = append(out.ForeignKeys, fk)
			continue
		}
		k, err := b.constraint(c)
		if err != nil {
			return err
		}
		keys = append(keys, k)
	}
	t.NextColumnID = schema.ColumnID(len(t.Columns) + 1)
	if err := primaryKey(t, defs, keys); err != nil {
		return err
	}
	if err := b.indexes(t, keys); err != nil {
		return err
	}
	if err := ResolveColumns(b.parser(), t); err != nil {
		return err
	}
	if err := b.tableChecks(t, checks); err != nil {
		return err
	}
	return CheckTable(t)
}

// CheckTable is what must hold of a table as a whole after CREATE and ALTER:
// 1069, 1075, 1113, 1117. Single keys are checked by ResolveKey.
func CheckTable(t *schema.Table) error {
	n := 0
	for i := range t.Columns {
		if !t.Columns[i].Hidden {
			n++
		}
	}
	if n == 0 {
		return sqlerr.TableMustHaveColumns()
	}
	if n > maxColumns {
		return sqlerr.TooManyColumns()
	}
	if err := CheckVisible(t); err != nil {
		return err
	}
	if n := len(t.Indexes) + len(t.Search); n >= maxKeys && !t.HasHiddenKey() || n > maxKeys {
		return sqlerr.TooManyKeys(maxKeys)
	}
	return checkAutoIncrement(t)
}

// CheckVisible is 4028 when all columns are invisible.
func CheckVisible(t *schema.Table) error {
	if len(visiblePositions(t)) == 0 {
		return sqlerr.TableMustHaveVisibleColumn()
	}
	return nil
}

// primaryKey sets t.PrimaryKey: of the definition, or the hidden column.
func primaryKey(t *schema.Table, defs []*columnDef, keys []*keyDef) error {
	var pk *keyDef
	for _, k := range keys {
		if !k.primary {
			continue
		}
		if pk != nil {
			return sqlerr.MultiplePrimaryKeys()
		}
		pk = k
	}
	if pk == nil {
		t.Columns = append(t.Columns, schema.Column{ID: t.NextColumnID, Name: schema.HiddenKeyColumn, Type: types.BigInt, Hidden: true})
		t.PrimaryKey = []schema.KeyPart{{Column: t.NextColumnID}}
		t.NextColumnID++
		return nil
	}
	parts, err := ResolveKey(t, pk.cols)
	if err != nil {
		return err
	}
	for _, p := range parts {
		i := t.ColumnIndex(p.Column)
		if defs[i].null {
			return sqlerr.PrimaryCantHaveNull()
		}
		if d := t.Columns[i].Default; d != nil && d.Null {
			return sqlerr.InvalidDefault(t.Columns[i].Name)
		}
		t.Columns[i].Nullable = false
	}
	t.PrimaryKey = parts
	return nil
}

func (b *binder) indexes(t *schema.Table, keys []*keyDef) error {
	t.NextIndexID = schema.PrimaryIndexID + 1
	// Given names come first: a generated one must not take them.
	for _, k := range keys {
		if k.primary || k.index.Name == "" {
			continue
		}
		if err := checkIndexName(k.index.Name); err != nil {
			return err
		}
		for _, o := range keys {
			if o != k && strings.EqualFold(o.index.Name, k.index.Name) {
				return sqlerr.DuplicateKeyName(k.index.Name)
			}
		}
	}
	taken := func(name string) bool {
		for _, k := range keys {
			if strings.EqualFold(k.index.Name, name) {
				return true
			}
		}
		return strings.EqualFold(name, "PRIMARY")
	}
	for _, k := range keys {
		if k.primary {
			continue
		}
		if k.index.Name == "" && k.cols[0].Expr != "" {
			k.index.Name = freeName(functionalIndex, taken)
		}
		if k.search != nil {
			if err := b.searchIndex(t, k, taken); err != nil {
				return err
			}
			continue
		}
		cols, err := KeyExpressions(b.parser(), t, k.index.Name, k.cols)
		if err != nil {
			return err
		}
		parts, err := ResolveKey(t, cols)
		if err != nil {
			return err
		}
		x := k.index
		x.ID, x.Parts = t.NextIndexID, parts
		t.NextIndexID++
		if x.Name == "" {
			x.Name = freeName(t.Column(parts[0].Column).Name, taken)
			k.index.Name = x.Name
		}
		if x.Include, err = ResolveInclude(t, &x, k.include); err != nil {
			return err
		}
		if err := ResolveWhere(b.parser(), t, &x, k.where); err != nil {
			return err
		}
		t.Indexes = append(t.Indexes, x)
	}
	return nil
}

func (b *binder) searchIndex(t *schema.Table, k *keyDef, taken func(string) bool) error {
	if k.index.Name == "" {
		k.index.Name = freeName(k.cols[0].Name, taken)
	}
	x := k.search
	x.Name, x.ID, x.Invisible, x.Comment = k.index.Name, t.NextIndexID, k.index.Invisible, k.index.Comment
	t.NextIndexID++
	if err := ResolveSearch(b.parser(), t, x, k.cols); err != nil {
		return err
	}
	t.Search = append(t.Search, *x)
	return nil
}

// freeName is name, with _2, _3, … if it is taken.
func freeName(name string, taken func(string) bool) string {
	out := name
	for i := 2; taken(out); i++ {
		out = name + "_" + itoa(i)
	}
	return out
}

// checkAutoIncrement: one column at most, the first of a key or anywhere in
// the primary key, where it counts within the columns before it.
func checkAutoIncrement(t *schema.Table) error {
	found := false
	for i := range t.Columns {
		c := &t.Columns[i]
		if !c.AutoIncrement {
			continue
		}
		keyed := t.IsPrimaryKeyPart(c.ID)
		for j := range t.Indexes {
			keyed = keyed || t.Indexes[j].Parts[0].Column == c.ID
		}
		if found || !keyed {
			return sqlerr.WrongAutoKey()
		}
		found = true
	}
	return nil
}

// engines are the names that ENGINE takes; all of them mean sqlots.
var engines = map[string]bool{
	"sqlots": true, "innodb": true, "myisam": true, "memory": true, "heap": true, "aria": true, "rocksdb": true,
	"tokudb": true, "tablestore": true,
}

func checkEngine(name string) error {
	if !engines[strings.ToLower(name)] {
		return sqlerr.UnknownStorageEngine(name)
	}
	return nil
}

// tableOptions binds the options of CREATE TABLE.
func (b *binder) tableOptions(t *schema.Table, list []*ast.TableOption) error {
	cs, coll := "", ""
	for _, o := range list {
		switch o.Tp {
		case ast.TableOptionNone:
		case ast.TableOptionEngine:
			if err := checkEngine(o.StrValue); err != nil {
				return err
			}
			t.Engine = o.StrValue
		case ast.TableOptionCharset:
			if !o.Default {
				cs = o.StrValue
			}
		case ast.TableOptionCollate:
			coll = o.StrValue
		case ast.TableOptionAutoIncrement:
			t.AutoIncrement = o.UintValue
		case ast.TableOptionComment:
			if utf8.RuneCountInString(o.StrValue) > maxTableComment {
				return sqlerr.CommentTooLong(1628, "table", t.Name, maxTableComment)
			}
			t.Comment = o.StrValue
		case ast.TableOptionSecondaryEngineAttribute, ast.TableOptionEngineAttribute:
			if err := SetAttributes(t, o.StrValue); err != nil {
				return err
			}
		default:
			if err := ignoredTableOption(o); err != nil {
				return err
			}
		}
	}
	c, err := charsetCollation(cs, coll)
	if err != nil {
		return err
	}
	if c != schema.CollationNone {
		t.Collation = c
	}
	return nil
}

// ignoredTableOption passes the options that InnoDB takes as advice on
// storage, and refuses the rest by name.
func ignoredTableOption(o *ast.TableOption) error {
	switch o.Tp {
	case ast.TableOptionAvgRowLength, ast.TableOptionCheckSum, ast.TableOptionTableCheckSum, ast.TableOptionKeyBlockSize,
		ast.TableOptionMaxRows, ast.TableOptionMinRows, ast.TableOptionDelayKeyWrite, ast.TableOptionRowFormat,
		ast.TableOptionStatsPersistent, ast.TableOptionStatsAutoRecalc, ast.TableOptionStatsSamplePages, ast.TableOptionPackKeys,
		ast.TableOptionCompression, ast.TableOptionAutoextendSize, ast.TableOptionPageChecksum, ast.TableOptionTransactional:
		return nil
	case ast.TableOptionEncryption:
		if strings.EqualFold(o.StrValue, "N") {
			return nil
		}
		return sqlerr.NotSupported("ENCRYPTION")
	case ast.TableOptionTTL, ast.TableOptionTTLEnable, ast.TableOptionTTLJobInterval:
		return nil // see ttlChange
	case ast.TableOptionTablespace:
		return sqlerr.NotSupported("TABLESPACE")
	case ast.TableOptionDataDirectory, ast.TableOptionIndexDirectory:
		return sqlerr.NotSupported("DATA DIRECTORY")
	case ast.TableOptionUnion, ast.TableOptionInsertMethod:
		return sqlerr.NotSupported("UNION")
	case ast.TableOptionConnection:
		return sqlerr.NotSupported("CONNECTION")
	case ast.TableOptionSecondaryEngine, ast.TableOptionSecondaryEngineNull:
		return sqlerr.NotSupported("SECONDARY_ENGINE")
	}
	return sqlerr.NotSupported("table option")
}
