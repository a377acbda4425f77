package ddl

import (
	"context"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// systemDatabases are virtual: they can be neither made nor dropped.
var systemDatabases = []string{"information_schema", "performance_schema", "mysql", "sys"}

func isSystem(db string) bool { return slices.Contains(systemDatabases, strings.ToLower(db)) }

// denied is the error of a change in a system's database: 1044.
func (c *change) denied(db string) error {
	return sqlerr.DatabaseAccessDenied(c.env.Account.User, c.env.Account.Host, db)
}

func (c *change) createDatabase(ctx context.Context, x *logical.CreateDatabase) (uint64, error) {
	exists := isSystem(x.Name)
	if !exists {
		err := c.publish(ctx, func(ch *catalog.Change) error {
			if _, exists = ch.Base.Database(x.Name); exists {
				return nil
			}
			coll := x.Collation
			if coll == schema.CollationNone {
				coll = c.env.Collation
			}
			if coll == schema.CollationNone {
				coll = schema.CollationUTF8MB40900AICI
			}
			ch.PutDatabase(schema.Database{Name: x.Name, Collation: coll})
			return nil
		})
		if err != nil {
			return 0, err
		}
	}
	if exists {
		if !x.IfNotExists {
			return 0, sqlerr.DatabaseExists(x.Name)
		}
		c.note(sqlerr.DatabaseExists(x.Name))
	}
	return 1, nil
}

func (c *change) alterDatabase(ctx context.Context, x *logical.AlterDatabase) error {
	if isSystem(x.Name) {
		return c.denied(x.Name)
	}
	return c.publish(ctx, func(ch *catalog.Change) error {
		d, ok := ch.Base.Database(x.Name)
		if !ok {
			return sqlerr.UnknownDatabase(x.Name)
		}
		if x.Collation == schema.CollationNone || x.Collation == d.Collation {
			return nil
		}
		ch.PutDatabase(schema.Database{Name: d.Name, Collation: x.Collation})
		return nil
	})
}

// dropDatabase drops a database with its tables. Tables that appear while it
// waits for locks are locked in another round.
func (c *change) dropDatabase(ctx context.Context, x *logical.DropDatabase) (uint64, error) {
	if isSystem(x.Name) {
		return 0, c.denied(x.Name)
	}
	for {
		snap := c.snapshot()
		if _, ok := snap.Database(x.Name); !ok {
			if !x.IfExists {
				return 0, sqlerr.NoSuchDatabaseToDrop(x.Name)
			}
			c.note(sqlerr.NoSuchDatabaseToDrop(x.Name))
			return 0, nil
		}
		var names []logical.TableName
		for _, t := range snap.Tables(x.Name) {
			names = append(names, logical.TableName{DB: t.Database, Name: t.Name})
		}
		for _, v := range snap.Views(x.Name) {
			names = append(names, logical.TableName{DB: v.Database, Name: v.Name})
		}
		if err := c.lockTables(ctx, names...); err != nil {
			return 0, err
		}
		n, again, err := c.tryDropDatabase(ctx, x.Name, names)
		if err != nil || !again {
			return n, err
		}
		c.release()
	}
}

func (c *change) tryDropDatabase(ctx context.Context, db string, locked []logical.TableName) (n uint64, again bool, err error) {
	tables := c.snapshot().Tables(db)
	if err := c.keepsChildren(c.snapshot(), tables); err != nil {
		return 0, false, err
	}
	var jobs []job
	for _, t := range tables {
		if !slices.Contains(locked, logical.TableName{DB: t.Database, Name: t.Name}) {
			return 0, true, nil
		}
		jobs = append(jobs, job{table: t.ID})
	}
	views := c.snapshot().Views(db)
	for _, v := range views {
		if !slices.Contains(locked, logical.TableName{DB: v.Database, Name: v.Name}) {
			return 0, true, nil
		}
	}
	if err := c.r.openJobs(ctx, jobs...); err != nil {
		return 0, false, err
	}
	c.r.step("before publish")
	err = c.publish(ctx, func(ch *catalog.Change) error {
		if !slices.Equal(ch.Base.Tables(db), tables) || !slices.Equal(ch.Base.Views(db), views) {
			again = true
			return nil
		}
		ch.DropDatabase(db)
		return nil
	})
	if err != nil || again {
		return 0, again, err
	}
	c.release()
	c.finish(ctx, jobs...)
	return uint64(len(tables) + len(views)), false, nil
}
