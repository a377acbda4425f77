package ddl

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// createView is CREATE [OR REPLACE] VIEW and ALTER VIEW: 1050, 1146, 1347.
func (c *change) createView(ctx context.Context, x *logical.CreateView) error {
	name := logical.TableName{DB: x.View.Database, Name: x.View.Name}
	if isSystem(name.DB) {
		return c.denied(name.DB)
	}
	if err := c.lockTables(ctx, name); err != nil {
		return err
	}
	return c.publish(ctx, func(ch *catalog.Change) error {
		if _, ok := ch.Base.Database(name.DB); !ok {
			return sqlerr.UnknownDatabase(name.DB)
		}
		v := *x.View
		v.CreatedUnix = c.r.now().Unix()
		_, isTable := ch.Base.Table(name.DB, name.Name)
		old, isView := ch.Base.View(name.DB, name.Name)
		switch {
		case x.Alter && !isTable && !isView:
			return sqlerr.NoSuchTable(name.DB, name.Name)
		case isTable && (x.Alter || x.Replace):
			return sqlerr.ViewInvalid(name.DB, name.Name, "VIEW")
		case isTable || isView && !x.Alter && !x.Replace:
			return sqlerr.TableExists(name.Name)
		case isView:
			v.ID = old.ID
		default:
			v.ID = ch.NextTableID()
		}
		ch.PutView(&v)
		return nil
	})
}

// dropViews drops the views that exist, and reports those that do not: 1051, 1347
// for tables. A missing one fails the statement before anything is dropped.
func (c *change) dropViews(ctx context.Context, x *logical.DropView) error {
	for _, n := range x.Views {
		if isSystem(n.DB) {
			return c.denied(n.DB)
		}
	}
	if err := c.lockTables(ctx, x.Views...); err != nil {
		return err
	}
	return c.publish(ctx, func(ch *catalog.Change) error {
		var missing []logical.TableName
		var found []*schema.View
		for _, n := range x.Views {
			if _, ok := ch.Base.Table(n.DB, n.Name); ok {
				return sqlerr.ViewInvalid(n.DB, n.Name, "VIEW")
			}
			if v, ok := ch.Base.View(n.DB, n.Name); ok {
				found = append(found, v)
			} else {
				missing = append(missing, n)
			}
		}
		if len(missing) > 0 {
			if err := c.missing(missing, x.IfExists); err != nil {
				return err
			}
		}
		for _, v := range found {
			ch.DropView(v)
		}
		return nil
	})
}

// renameView gives a view another name in its database.
func renameView(ch *catalog.Change, v *schema.View, to logical.TableName) error {
	if to.DB != v.Database {
		return sqlerr.ForbidSchemaChange(v.Database, to.DB)
	}
	if err := checkTarget(ch.Current(), to); err != nil {
		return err
	}
	n := *v
	n.Name = to.Name
	ch.PutView(&n)
	return nil
}
