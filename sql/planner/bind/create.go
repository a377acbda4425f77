package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// deniedDatabase is the error of a write to a virtual database: 1044.
func (b *binder) deniedDatabase(db string) error {
	return sqlerr.DatabaseAccessDenied(b.env.Account.User, b.env.Account.Host, db)
}

// newTable is the place of a table that does not exist yet: its database must.
func (b *binder) newTable(n *ast.TableName) (*schema.Database, error) {
	if err := define.CheckTableName(n.Name.O); err != nil {
		return nil, err
	}
	db, err := b.database(n.Schema.O)
	if err != nil {
		return nil, err
	}
	d, ok := b.env.Catalog.Database(db)
	if !ok {
		if b.isVirtual(db) {
			return nil, b.deniedDatabase(db)
		}
		return nil, sqlerr.UnknownDatabase(db)
	}
	return d, nil
}

func (b *binder) createTable(n *ast.CreateTableStmt) (logical.Statement, error) {
	switch {
	case n.TemporaryKeyword == ast.TemporaryGlobal:
		return nil, sqlerr.NotSupported("GLOBAL TEMPORARY table")
	case len(n.SplitIndex) > 0:
		return nil, sqlerr.NotSupported("SPLIT")
	}
	b.needsOfNewTable(n)
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
		if b.isVirtual(src) {
			if _, ok, err := b.env.Virtual.Virtual(src, n.ReferTable.Name.O); err != nil {
				return nil, err
			} else if !ok {
				return nil, noVirtualTable(src, n.ReferTable.Name.O)
			}
			return nil, sqlerr.ViewInvalid(src, n.ReferTable.Name.O, "BASE TABLE")
		}
		b.needEach([]logical.TableName{{DB: src, Name: n.ReferTable.Name.O}}, priv.Select)
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
		if err := define.SetTTL(b.stored(), t, ttl); err != nil {
			return nil, err
		}
	}
	if n.Partition != nil {
		if out.PartitionBy, err = b.partitionBy(n.Partition); err != nil {
			return nil, err
		}
	}
	out.Table = t
	if rows != nil {
		out.Source, err = b.insertSelected(t, n, rows)
	}
	return out, err
}

// needsOfNewTable adds what CREATE TABLE needs of its table.
func (b *binder) needsOfNewTable(n *ast.CreateTableStmt) {
	db := n.Table.Schema.O
	if db == "" {
		db = b.env.Database
	}
	switch {
	case db == "": // 1046
	case n.TemporaryKeyword != ast.TemporaryNone:
		b.needDatabase(db, priv.CreateTemporaryTables)
	case n.Select != nil:
		b.needNamed(n.Table, priv.Create|priv.Insert)
	default:
		b.needNamed(n.Table, priv.Create)
	}
}

func (b *binder) serverCollation() schema.CollationID {
	if b.env.ServerCollation != schema.CollationNone {
		return b.env.ServerCollation
	}
	return schema.CollationUTF8MB40900AICI
}

// tableColumns binds columns and keys.
// rows is the SELECT, whose columns are added, nil if none exists.
func (b *binder) tableColumns(out *logical.CreateTable, t *schema.Table, n *ast.CreateTableStmt, rows *result) error {
	if len(n.Cols) == 0 && rows == nil {
		return sqlerr.TableMustHaveColumns()
	}
	if len(n.Cols) > define.MaxColumns {
		return sqlerr.TooManyColumns()
	}
	var keys []*define.Key
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
		if t.ColumnByName(d.Name) >= 0 {
			return sqlerr.DuplicateColumn(d.Name)
		}
		t.Columns = append(t.Columns, d.Column.Column)
		defs = append(defs, d)
		checks = append(checks, d.checks...)
		one := []define.IndexColumn{{Name: d.Name}}
		if d.Primary {
			keys = append(keys, &define.Key{Primary: true, Columns: one})
		}
		if d.Unique {
			keys = append(keys, &define.Key{Index: schema.Index{Unique: true}, Columns: one})
		}
	}
	if rows != nil {
		var err error
		if defs, err = b.selectedColumns(t, defs, rows); err != nil {
			return err
		}
	}
	if define.HasDynamicColumns(t.Attributes) {
		if err := define.AddDynamicColumns(t); err != nil {
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
	null := func(i int) bool { return i < len(defs) && defs[i].Null }
	var cut func(*sqlerr.Error)
	if !b.env.Mode.Strict() {
		cut = b.warn
	}
	if err := define.SetKeys(b.stored(), t, keys, null, cut); err != nil {
		return err
	}
	if err := define.ResolveColumns(b.stored(), t); err != nil {
		return err
	}
	if err := b.tableChecks(t, checks); err != nil {
		return err
	}
	return define.CheckTable(t)
}

// tableOptions binds the options of CREATE TABLE.
func (b *binder) tableOptions(t *schema.Table, list []*ast.TableOption) error {
	cs, coll := "", ""
	for _, o := range list {
		switch o.Tp {
		case ast.TableOptionNone:
		case ast.TableOptionEngine:
			if err := define.CheckEngine(o.StrValue); err != nil {
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
			if err := define.CheckTableComment(t.Name, o.StrValue); err != nil {
				return err
			}
			t.Comment = o.StrValue
		case ast.TableOptionSecondaryEngineAttribute, ast.TableOptionEngineAttribute:
			if err := define.SetAttributes(t, o.StrValue); err != nil {
				return err
			}
		default:
			if err := ignoredTableOption(o); err != nil {
				return err
			}
		}
	}
	c, err := define.CharsetCollation(cs, coll)
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
