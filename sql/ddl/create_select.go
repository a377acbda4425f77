package ddl

import (
	"context"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// NewTable is a table whose rows are written before anybody can see it: the
// target of CREATE TABLE … SELECT. Its name is locked until Publish or Abort.
type NewTable struct {
	Table *schema.Table
	// wants is what the table logs when it is published: the rows that it comes
	// with are no changes of it.
	wants schema.Table
	c     *change
}

// PrepareTable reserves the name and an id. It is nil when the table exists
// and the statement says IF NOT EXISTS. Errors: 1049, 1050.
func (r *Runner) PrepareTable(ctx context.Context, x *logical.CreateTable, env Env) (*NewTable, error) {
	c := r.change(&env)
	n, err := c.prepareTable(ctx, x)
	if n == nil || err != nil {
		c.release()
		return nil, err
	}
	return n, nil
}

func (c *change) prepareTable(ctx context.Context, x *logical.CreateTable) (*NewTable, error) {
	if len(x.ForeignKeys) > 0 {
		return nil, sqlerr.NotSupported("CREATE TABLE … SELECT with a foreign key")
	}
	if err := c.checkIndexes(x.Table, nil); err != nil {
		return nil, err
	}
	if err := c.lockTables(ctx, x.Name); err != nil {
		return nil, err
	}
	t := x.Table.Clone()
	if x.PartitionBy != nil {
		if err := c.partitionNew(ctx, t, x); err != nil {
			return nil, err
		}
	}
	wants := *t
	t.Stream, t.MaxVersions = nil, 0
	exists := false
	err := c.publish(ctx, func(ch *catalog.Change) error {
		if _, ok := ch.Base.Database(x.Name.DB); !ok {
			return sqlerr.UnknownDatabase(x.Name.DB)
		}
		if exists = ch.Base.Taken(x.Name.DB, x.Name.Name); exists {
			return nil
		}
		t.Database, t.Name = x.Name.DB, x.Name.Name
		t.ID, t.Version, t.CreatedUnix = ch.NextTableID(), 1, c.r.now().Unix()
		if err := checkRowSize(t, nil); err != nil {
			return err
		}
		if err := c.adoptChildren(ch.Base, t); err != nil {
			return err
		}
		return checkNames(ch.Base, t, t.ID)
	})
	switch {
	case err != nil:
		return nil, err
	case exists && x.IfNotExists:
		c.note(sqlerr.TableExists(x.Name.Name))
		return nil, nil
	case exists:
		return nil, sqlerr.TableExists(x.Name.Name)
	}
	if err := c.r.openJobs(ctx, job{table: t.ID}); err != nil {
		return nil, err
	}
	c.r.step("before rows")
	return &NewTable{Table: t, wants: wants, c: c}, nil
}

// Publish makes the table visible, with the rows that were committed.
func (n *NewTable) Publish(ctx context.Context) error {
	defer n.c.release()
	n.c.r.step("before publish")
	err := n.c.publish(ctx, func(ch *catalog.Change) error {
		if _, ok := ch.Base.Database(n.Table.Database); !ok {
			return sqlerr.UnknownDatabase(n.Table.Database)
		}
		if !n.wants.IsLogged() && len(n.Table.Search) == 0 {
			ch.PutTable(n.Table)
			return nil
		}
		t := n.Table.Clone()
		t.Stream, t.MaxVersions = n.wants.Stream, n.wants.MaxVersions
		if err := n.c.newStream(ch, t); err != nil {
			return err
		}
		ch.Replace(nil, t, false)
		return nil
	})
	if err != nil {
		n.Abort(ctx)
		return err
	}
	n.c.r.step("after publish")
	if err := n.c.awaitNew(ctx, n.c.snapshot().TableByID(n.Table.ID)); err != nil {
		return err
	}
	n.c.r.closeJobs(ctx, job{table: n.Table.ID})
	return nil
}

// Abort removes what was written.
func (n *NewTable) Abort(ctx context.Context) {
	n.c.release()
	n.c.finish(ctx, job{table: n.Table.ID})
}
