package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// alterTarget is the table of ALTER TABLE and CREATE INDEX, on which need is needed.
func (b *binder) alterTarget(n *ast.TableName, need priv.Mask) (*schema.Table, logical.TableName, error) {
	right := b.needNamed(n, need)
	t, err := b.targetTable(n, "ALTER")
	if err != nil {
		return nil, logical.TableName{}, err
	}
	b.ofTemporary(right, t)
	return t, logical.TableName{DB: t.Database, Name: t.Name}, nil
}

func (b *binder) alterTable(n *ast.AlterTableStmt) (logical.Statement, error) {
	t, name, err := b.alterTarget(n.Table, priv.Alter)
	if err != nil {
		return nil, err
	}
	if m, err := b.maintainPartitions(t, name, n.Specs); m != nil || err != nil {
		return m, err
	}
	out := &logical.AlterTable{Table: name}
	for _, s := range n.Specs {
		switch s.Tp {
		case ast.AlterTableAlgorithm:
			out.Algorithm = s.Algorithm.String()
		case ast.AlterTableLock:
			out.Lock = s.LockType.String()
		}
		list, err := b.alterSpec(t, s)
		if err != nil {
			return nil, err
		}
		out.Specs = append(out.Specs, list...)
	}
	namedConstraints(n, out)
	return out, aloneIfPartitions(out.Specs)
}

func one(s logical.AlterSpec) []logical.AlterSpec { return []logical.AlterSpec{s} }

func (b *binder) alterSpec(t *schema.Table, s *ast.AlterTableSpec) ([]logical.AlterSpec, error) {
	switch s.Tp {
	case ast.AlterTableOption:
		return b.alterOptions(t, s)
	case ast.AlterTableAddColumns:
		return b.addColumns(t, s)
	case ast.AlterTableAddConstraint:
		if s.Constraint.Tp == ast.ConstraintCheck {
			return b.addCheck(t, s.Constraint)
		}
		return b.addConstraint(t, s.Constraint)
	case ast.AlterTableDropColumn:
		return one(logical.AlterSpec{Kind: logical.AlterDropColumn, Name: s.OldColumnName.Name.O, IfExists: s.IfExists}), nil
	case ast.AlterTableDropPrimaryKey:
		return one(logical.AlterSpec{Kind: logical.AlterDropPrimaryKey}), nil
	case ast.AlterTableDropIndex:
		if strings.EqualFold(s.Name, "PRIMARY") {
			return one(logical.AlterSpec{Kind: logical.AlterDropPrimaryKey}), nil
		}
		return one(logical.AlterSpec{Kind: logical.AlterDropIndex, Name: s.Name, IfExists: s.IfExists}), nil
	case ast.AlterTableModifyColumn, ast.AlterTableChangeColumn:
		return b.modifyColumn(t, s)
	case ast.AlterTableRenameColumn:
		if err := define.CheckColumnName(s.NewColumnName.Name.O); err != nil {
			return nil, err
		}
		return one(logical.AlterSpec{Kind: logical.AlterRenameColumn, Name: s.OldColumnName.Name.O, NewName: s.NewColumnName.Name.O}), nil
	case ast.AlterTableRenameTable:
		to, err := b.renameTarget(s.NewTable, t.Database)
		if err != nil {
			return nil, err
		}
		return one(logical.AlterSpec{Kind: logical.AlterRenameTable, Table: to}), nil
	case ast.AlterTableAlterColumn:
		return b.alterDefault(t, s)
	case ast.AlterTableRenameIndex:
		if err := define.CheckIndexName(s.ToKey.O); err != nil {
			return nil, err
		}
		return one(logical.AlterSpec{Kind: logical.AlterRenameIndex, Name: s.FromKey.O, NewName: s.ToKey.O}), nil
	case ast.AlterTableIndexInvisible:
		return one(logical.AlterSpec{Kind: logical.AlterIndexVisibility, Name: s.IndexName.O, Invisible: s.Visibility == ast.IndexVisibilityInvisible}), nil
	case ast.AlterTableDropCheck, ast.AlterTableAlterCheck:
		return changeCheck(s), nil
	case ast.AlterTableRemoveTTL:
		return one(logical.AlterSpec{Kind: logical.AlterTTL, TTL: &define.TTLChange{Remove: true}}), nil
	case ast.AlterTableDropForeignKey:
		return one(logical.AlterSpec{Kind: logical.AlterDropForeignKey, Name: s.Name, IfExists: s.IfExists}), nil
	case ast.AlterTableEnableKeys, ast.AlterTableDisableKeys:
		return one(logical.AlterSpec{Kind: logical.AlterKeysSwitch}), nil
	case ast.AlterTableOrderByColumns:
		var out []logical.AlterSpec
		for _, item := range s.OrderByList {
			out = append(out, logical.AlterSpec{Kind: logical.AlterOrder, Name: item.Column.Name.O})
		}
		return out, nil
	case ast.AlterTablePartition, ast.AlterTableRemovePartitioning, ast.AlterTableAddPartitions, ast.AlterTableDropPartition, ast.AlterTableTruncatePartition,
		ast.AlterTableCoalescePartitions, ast.AlterTableReorganizePartition, ast.AlterTableRebuildPartition:
		return b.alterPartitions(s)
	case ast.AlterTableWithValidation:
		return nil, sqlerr.NotSupported("WITH VALIDATION")
	case ast.AlterTableForce, ast.AlterTableLock, ast.AlterTableAlgorithm, ast.AlterTableWithoutValidation:
		return one(logical.AlterSpec{Kind: logical.AlterNoOp}), nil
	}
	return nil, unsupportedAlter(s)
}

func unsupportedAlter(s *ast.AlterTableSpec) error {
	switch s.Tp {
	case ast.AlterTableImportTablespace, ast.AlterTableDiscardTablespace:
		return sqlerr.NotSupported("TABLESPACE")
	case ast.AlterTableExchangePartition:
		return sqlerr.NotSupported("EXCHANGE PARTITION")
	case ast.AlterTableDiscardPartitionTablespace, ast.AlterTableImportPartitionTablespace:
		return sqlerr.NotSupported("PARTITION TABLESPACE")
	}
	return sqlerr.NotSupported("ALTER TABLE clause of this kind")
}

func (b *binder) renameTarget(n *ast.TableName, db string) (logical.TableName, error) {
	if err := define.CheckTableName(n.Name.O); err != nil {
		return logical.TableName{}, err
	}
	if n.Schema.O != "" {
		db = n.Schema.O
	}
	if b.isVirtual(db) {
		return logical.TableName{DB: db, Name: n.Name.O}, nil // which is refused when it runs
	}
	d, ok := b.env.Catalog.Database(db)
	if !ok {
		return logical.TableName{}, sqlerr.UnknownDatabase(db)
	}
	return logical.TableName{DB: d.Name, Name: n.Name.O}, nil
}

func (b *binder) addColumns(t *schema.Table, s *ast.AlterTableSpec) ([]logical.AlterSpec, error) {
	var out []logical.AlterSpec
	for _, c := range s.NewColumns {
		d, err := b.column(c, t.Collation)
		if err != nil {
			return nil, err
		}
		spec := logical.AlterSpec{Kind: logical.AlterAddColumn, Column: d.Column.Column, Name: d.Name, IfNotExists: s.IfNotExists,
			InlineKey: d.Primary, InlineUnique: d.Unique}
		spec.FromAttributes = d.fromAttributes
		position(&spec, s.Position)
		checks, err := b.checkSpecs(t, d.checks)
		if err != nil {
			return nil, err
		}
		out = append(append(out, spec), checks...)
	}
	for _, c := range s.NewConstraints {
		if c.Tp == ast.ConstraintCheck {
			list, err := b.addCheck(t, c)
			if err != nil {
				return nil, err
			}
			out = append(out, list...)
			continue
		}
		list, err := b.addConstraint(t, c)
		if err != nil {
			return nil, err
		}
		out = append(out, list...)
	}
	return out, nil
}

func position(spec *logical.AlterSpec, p *ast.ColumnPosition) {
	if p == nil {
		return
	}
	switch p.Tp {
	case ast.ColumnPositionFirst:
		spec.First = true
	case ast.ColumnPositionAfter:
		spec.After = p.RelativeColumn.Name.O
	}
}

func (b *binder) addConstraint(t *schema.Table, n *ast.Constraint) ([]logical.AlterSpec, error) {
	if n.Tp == ast.ConstraintForeignKey {
		k, err := b.foreignKey(n, t.Database)
		return one(logical.AlterSpec{Kind: logical.AlterAddForeignKey, Name: k.Name, ForeignKey: k}), err
	}
	if len(n.Keys) > 0 && searchAlter(n.Keys[0]) != "" {
		return b.alterSearch(n)
	}
	k, err := b.constraint(n)
	if err != nil {
		return nil, err
	}
	spec := logical.AlterSpec{Kind: logical.AlterAddIndex, Name: k.Index.Name, Index: k.Index, IndexColumns: k.Columns, Include: k.Include, Where: k.Where, Search: k.Search, IfNotExists: n.IfNotExists}
	if k.Primary {
		spec.Kind = logical.AlterAddPrimaryKey
		return one(spec), nil
	}
	if spec.Name != "" {
		if err := define.CheckIndexName(spec.Name); err != nil {
			return nil, err
		}
	}
	return one(spec), nil
}

func (b *binder) modifyColumn(t *schema.Table, s *ast.AlterTableSpec) ([]logical.AlterSpec, error) {
	d, err := b.column(s.NewColumns[0], t.Collation)
	if err != nil {
		return nil, err
	}
	if d.fromAttributes {
		return nil, sqlerr.NotSupported("FROM ATTRIBUTES of a column that exists")
	}
	name := d.Name
	if s.OldColumnName != nil {
		name = s.OldColumnName.Name.O
	}
	spec := logical.AlterSpec{Kind: logical.AlterModifyColumn, Column: d.Column.Column, Name: name, NewName: d.Name, IfExists: s.IfExists,
		InlineKey: d.Primary, InlineUnique: d.Unique}
	position(&spec, s.Position)
	checks, err := b.checkSpecs(t, d.checks)
	return append(one(spec), checks...), err
}

// alterDefault is ALTER COLUMN c SET DEFAULT … | DROP DEFAULT.
func (b *binder) alterDefault(t *schema.Table, s *ast.AlterTableSpec) ([]logical.AlterSpec, error) {
	n := s.NewColumns[0]
	name := n.Name.Name.O
	if len(n.Options) == 0 {
		return one(logical.AlterSpec{Kind: logical.AlterDropDefault, Name: name}), nil
	}
	i := t.ColumnByName(name)
	if i < 0 || t.Columns[i].Hidden {
		return nil, sqlerr.UnknownColumn(name, t.Name)
	}
	c := t.Columns[i]
	if f, ok := n.Options[0].Expr.(*ast.FuncCallExpr); ok && strings.HasPrefix(f.FnName.L, parser.SetVisibilityFunc) {
		return one(logical.AlterSpec{Kind: logical.AlterColumnVisibility, Name: name, Invisible: strings.HasSuffix(f.FnName.L, "_invisible")}), nil
	}
	if c.AutoIncrement {
		return nil, sqlerr.InvalidDefault(name)
	}
	d, err := b.bindDefault(&c, n.Options[0].Expr)
	if err != nil {
		return nil, err
	}
	if d == nil { // which CREATE TABLE leaves out with a warning
		return nil, sqlerr.BlobCantHaveDefault(name)
	}
	return one(logical.AlterSpec{Kind: logical.AlterSetDefault, Name: name, Default: d}), nil
}

// alterOptions are table options in ALTER TABLE.
func (b *binder) alterOptions(t *schema.Table, s *ast.AlterTableSpec) ([]logical.AlterSpec, error) {
	var out []logical.AlterSpec
	cs, coll, convert, given := "", "", false, false
	for _, o := range s.Options {
		switch o.Tp {
		case ast.TableOptionEngine:
			if err := define.CheckEngine(o.StrValue); err != nil {
				return nil, err
			}
			out = append(out, logical.AlterSpec{Kind: logical.AlterEngine, Text: o.StrValue})
		case ast.TableOptionCharset:
			given = true
			if o.Default {
				cs = ""
			} else {
				cs = o.StrValue
			}
			convert = convert || o.UintValue == ast.TableOptionCharsetWithConvertTo
		case ast.TableOptionCollate:
			given = true
			coll = o.StrValue
		case ast.TableOptionAutoIncrement:
			out = append(out, logical.AlterSpec{Kind: logical.AlterAutoIncrement, Number: o.UintValue})
		case ast.TableOptionComment:
			if err := define.CheckTableComment(t.Name, o.StrValue); err != nil {
				return nil, err
			}
			out = append(out, logical.AlterSpec{Kind: logical.AlterComment, Text: o.StrValue})
		case ast.TableOptionSecondaryEngineAttribute, ast.TableOptionEngineAttribute:
			if err := define.SetAttributes(&schema.Table{}, o.StrValue); err != nil {
				return nil, err
			}
			out = append(out, logical.AlterSpec{Kind: logical.AlterAttributes, Text: o.StrValue})
		default:
			if err := ignoredTableOption(o); err != nil {
				return nil, err
			}
			out = append(out, logical.AlterSpec{Kind: logical.AlterNoOp})
		}
	}
	if ttl, err := ttlChange(s.Options); err != nil {
		return nil, err
	} else if ttl != nil {
		out = append(out, logical.AlterSpec{Kind: logical.AlterTTL, TTL: ttl})
	}
	if given {
		c, err := define.CharsetCollation(cs, coll)
		if err != nil {
			return nil, err
		}
		if c == schema.CollationNone {
			c = b.serverCollation()
			if d, ok := b.env.Catalog.Database(t.Database); ok && d.Collation != schema.CollationNone {
				c = d.Collation
			}
		}
		kind := logical.AlterDefaultCharset
		if convert {
			kind = logical.AlterConvertCharset
		}
		out = append(out, logical.AlterSpec{Kind: kind, Collation: c})
	}
	return out, nil
}

// createIndex is CREATE INDEX as ALTER TABLE … ADD INDEX.
func (b *binder) createIndex(n *ast.CreateIndexStmt) (logical.Statement, error) {
	_, name, err := b.alterTarget(n.Table, priv.Index)
	if err != nil {
		return nil, err
	}
	k := &define.Key{Index: schema.Index{Name: n.IndexName}}
	switch n.KeyType {
	case ast.IndexKeyTypeNone:
	case ast.IndexKeyTypeUnique:
		k.Index.Unique = true
	case ast.IndexKeyTypeFulltext:
		k.Search = &schema.SearchIndex{Form: schema.FormFulltext}
	case ast.IndexKeyTypeSpatial:
		k.Search = &schema.SearchIndex{Form: schema.FormSpatial}
	case ast.IndexKeyTypeColumnar:
		k.Search = &schema.SearchIndex{Form: schema.FormColumnar}
	default:
		return nil, sqlerr.NotSupported("VECTOR index")
	}
	if err := define.CheckIndexName(n.IndexName); err != nil {
		return nil, err
	}
	if err := b.parts(k, n.IndexName, n.IndexPartSpecifications, n.IndexOption); err != nil {
		return nil, err
	}
	if err := b.keyOptions(k, n.IndexOption); err != nil {
		return nil, err
	}
	out := &logical.AlterTable{Table: name, Specs: one(logical.AlterSpec{Kind: logical.AlterAddIndex, Name: n.IndexName, Index: k.Index,
		IndexColumns: k.Columns, Include: k.Include, Where: k.Where, Search: k.Search, IfNotExists: n.IfNotExists})}
	setPromises(out, n.LockAlg)
	return out, nil
}

// setPromises is ALGORITHM and LOCK of CREATE and DROP INDEX; n may be nil.
func setPromises(x *logical.AlterTable, n *ast.IndexLockAndAlgorithm) {
	if n != nil {
		x.Algorithm, x.Lock = n.AlgorithmTp.String(), n.LockTp.String()
	}
}

func (b *binder) dropIndex(n *ast.DropIndexStmt) (logical.Statement, error) {
	if n.IsHypo {
		return nil, sqlerr.NotSupported("hypothetical index")
	}
	_, name, err := b.alterTarget(n.Table, priv.Index)
	if err != nil {
		return nil, err
	}
	spec := logical.AlterSpec{Kind: logical.AlterDropIndex, Name: n.IndexName, IfExists: n.IfExists}
	if strings.EqualFold(n.IndexName, "PRIMARY") {
		spec = logical.AlterSpec{Kind: logical.AlterDropPrimaryKey}
	}
	out := &logical.AlterTable{Table: name, Specs: one(spec)}
	setPromises(out, n.LockAlg)
	return out, nil
}
