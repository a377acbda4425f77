package ddl

import (
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// setDynamic gives the table dynamic columns, or takes them away with the
// attributes of all rows.
func (a *alteration) setDynamic(on bool) error {
	i := a.t.AttributesColumn()
	switch {
	case on && i < 0:
		c := define.AttributesDefinition()
		if a.t.NextColumnID > schema.MaxDeclaredColumnID {
			return sqlerr.TooManyColumns()
		}
		c.ID = a.t.NextColumnID
		a.t.NextColumnID++
		a.fresh[c.ID] = true
		a.t.Columns = append(a.t.Columns, c)
	case !on && i >= 0:
		return a.dropColumnAt(i)
	}
	return nil
}

// keepsAttributes is 1235 for a clause that would change the column of
// attributes itself.
func (a *alteration) keepsAttributes(s *logical.AlterSpec) error {
	if i := a.findColumn(s.Name); i < 0 || !a.t.Columns[i].Attributes {
		return nil
	}
	switch s.Kind {
	case logical.AlterDropColumn, logical.AlterRenameColumn, logical.AlterModifyColumn, logical.AlterSetDefault, logical.AlterDropDefault:
		return sqlerr.NotSupported("changing the column " + schema.AttributesName + " of a table with dynamic columns")
	}
	return nil
}

// checkAttributeNames is 3108 for a column with a new name which a rule of the
// table reads as an attribute: it would mean the column from now on.
func (a *alteration) checkAttributeNames() error {
	if a.old.AttributesColumn() < 0 || !a.old.HasExprs() {
		return nil
	}
	exprs, err := define.Compile(a.c.r.Binder, a.old)
	if err != nil {
		return err
	}
	read := define.AttributesRead(exprs)
	for i := range a.t.Columns {
		name := a.t.Columns[i].Name
		if a.old.ColumnByName(name) < 0 && read[string(value.FoldName([]byte(name)))] {
			return sqlerr.DependentByGenerated(name)
		}
	}
	return nil
}

// promotion takes values for new columns out of the attributes.
type promotion struct {
	attrs, to int // positions of the attributes and their new place, -1: they go
	cols      []int
}

// newPromotion is nil when no column comes from attributes.
func (a *alteration) newPromotion() *promotion {
	p := &promotion{attrs: a.old.AttributesColumn(), to: a.t.AttributesColumn()}
	for i := range a.t.Columns {
		if a.promoted[a.t.Columns[i].ID] {
			p.cols = append(p.cols, i)
		}
	}
	if len(p.cols) == 0 {
		return nil
	}
	return p
}

// promote moves attributes of an old row into columns of the new one. A column
// whose attribute is not there keeps its default.
func (k *copier) promote(old []value.Datum) error {
	p := k.promotion
	doc := old[p.attrs].Bytes()
	for _, i := range p.cols {
		c := &k.a.t.Columns[i]
		rest, d, t, ok := expr.TakeAttribute(doc, c.Name)
		if !ok {
			continue
		}
		doc = rest
		v, err := types.Store(&k.env, d, t, c, int(k.rows))
		if err != nil {
			return err
		}
		k.out[i] = k.a.c.toStored(v.Clone(), c.Type)
	}
	if p.to >= 0 {
		k.out[p.to] = value.JSONOf(doc)
	}
	return nil
}

// addPromoted notes a column of ADD COLUMN … FROM ATTRIBUTES.
func (a *alteration) addPromoted(c *schema.Column, s *logical.AlterSpec) error {
	if !s.FromAttributes {
		return nil
	}
	if a.old.AttributesColumn() < 0 {
		return sqlerr.NotSupported("FROM ATTRIBUTES in a table without dynamic columns")
	}
	if c.Generated != nil || strings.EqualFold(c.Name, schema.AttributesName) {
		return sqlerr.WrongUsage("FROM ATTRIBUTES", "generated column")
	}
	a.promoted[c.ID], a.rebuild = true, true
	return nil
}
