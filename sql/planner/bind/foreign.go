package bind

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// cascadesToItself reports that removing a row of t may remove others of t.
func (b *binder) cascadesToItself(t *schema.Table) bool {
	seen := []*schema.Table{t}
	for i := 0; i < len(seen); i++ {
		for j := range seen[i].ForeignKeys {
			k := &seen[i].ForeignKeys[j]
			if k.OnDelete != schema.ActionCascade {
				continue
			}
			parent, ok := b.env.Catalog.Table(k.Database, k.Table)
			if ok && parent == t {
				return true
			}
			if ok && !slices.Contains(seen, parent) {
				seen = append(seen, parent)
			}
		}
	}
	return false
}

// foreignKey binds FOREIGN KEY … REFERENCES. Whether the tables fit is found out
// when the statement runs: 1215, 1239.
func (b *binder) foreignKey(n *ast.Constraint, db string) (logical.ForeignKeyDef, error) {
	out := logical.ForeignKeyDef{Name: n.Name}
	name := n.Name
	if name == "" {
		name = "foreign key without name"
	} else if err := define.CheckName(name); err != nil {
		return out, err
	}
	ref := n.Refer
	if ref == nil || ref.Table == nil {
		return out, internalf("FOREIGN KEY without REFERENCES")
	}
	switch ref.Match {
	case ast.MatchFull:
		return out, sqlerr.NotSupported("MATCH FULL")
	case ast.MatchPartial:
		return out, sqlerr.NotSupported("MATCH PARTIAL")
	}
	if len(n.Keys) != len(ref.IndexPartSpecifications) {
		return out, sqlerr.ForeignKeyDefinition(name, "Key reference and table reference don't match")
	}
	for i, k := range n.Keys {
		o := ref.IndexPartSpecifications[i]
		if k.Column == nil || o.Column == nil || k.Length > 0 || o.Length > 0 {
			return out, sqlerr.CannotAddForeignKey()
		}
		out.Columns, out.References = append(out.Columns, k.Column.Name.O), append(out.References, o.Column.Name.O)
	}
	out.Table = logical.TableName{DB: ref.Table.Schema.O, Name: ref.Table.Name.O}
	if out.Table.DB == "" {
		out.Table.DB = db
	}
	var err error
	if ref.OnDelete != nil {
		if out.OnDelete, err = referenceAction(ref.OnDelete.ReferOpt); err != nil {
			return out, err
		}
	}
	if ref.OnUpdate != nil {
		out.OnUpdate, err = referenceAction(ref.OnUpdate.ReferOpt)
	}
	return out, err
}

func referenceAction(o ast.ReferOptionType) (schema.Action, error) {
	switch o {
	case ast.ReferOptionRestrict:
		return schema.ActionRestrict, nil
	case ast.ReferOptionCascade:
		return schema.ActionCascade, nil
	case ast.ReferOptionSetNull:
		return schema.ActionSetNull, nil
	case ast.ReferOptionSetDefault:
		return 0, sqlerr.CannotAddForeignKey() // InnoDB does not have it either
	}
	return schema.ActionNoAction, nil
}
