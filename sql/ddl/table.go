package ddl

import (
	"context"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// createTable makes a table, nil if there is one. The name of one with search
// indexes stays locked.
func (c *change) createTable(ctx context.Context, x *logical.CreateTable) (*schema.Table, error) {
	if c.r.temporary && x.Table != nil && x.Table.TTL != nil {
		return nil, sqlerr.TTLOfTemporary()
	}
	var locks []logical.TableName
	if len(x.ForeignKeys) > 0 {
		// No statement may go on that does not know the new foreign keys.
		locks = parents(c.snapshot(), x.Name, x.ForeignKeys)
	}
	if !c.r.temporary && c.searched(x) {
		locks = append(locks, x.Name)
	}
	if err := c.lockTables(ctx, locks...); err != nil {
		return nil, err
	}
	var made *schema.Table
	err := c.publish(ctx, func(ch *catalog.Change) error {
		if _, ok := ch.Base.Database(x.Name.DB); !ok {
			return sqlerr.UnknownDatabase(x.Name.DB)
		}
		var like *schema.Table
		if x.Like != nil {
			var err error
			if like, err = findTable(ch.Base, *x.Like); err != nil {
				return err
			}
		}
		if ch.Base.Taken(x.Name.DB, x.Name.Name) {
			if x.IfNotExists {
				c.note(sqlerr.TableExists(x.Name.Name))
				return nil
			}
			return sqlerr.TableExists(x.Name.Name)
		}
		t := x.Table
		if like != nil {
			t = likeTable(like, x.Name)
			if c.r.temporary && t.Partitioning != nil {
				return sqlerr.TemporaryPartitions()
			}
		} else {
			t = t.Clone()
			t.Database, t.Name = x.Name.DB, x.Name.Name
		}
		if x.PartitionBy != nil {
			if err := c.partitionNew(ctx, t, x); err != nil {
				return err
			}
		}
		for i := range x.ForeignKeys {
			err := c.addForeignKey(ch.Base, t, &x.ForeignKeys[i], func(x schema.Index) error {
				x.ID = t.NextIndexID
				t.NextIndexID++
				t.Indexes = append(t.Indexes, x)
				return nil
			})
			if err != nil {
				return err
			}
		}
		if err := c.checkIndexes(t, nil); err != nil {
			return err
		}
		if err := checkRowSize(t, like); err != nil {
			return err
		}
		if err := c.adoptChildren(ch.Base, t); err != nil {
			return err
		}
		t.ID, t.Version, t.CreatedUnix = ch.NextTableID(), 1, c.r.now().Unix()
		if err := c.newStream(ch, t); err != nil {
			return err
		}
		if err := checkNames(ch.Base, t, t.ID); err != nil {
			return err
		}
		ch.PutTable(t)
		made = t
		return nil
	})
	if err == nil && made != nil && x.Like == nil {
		c.warnDuplicates(made, func(*schema.Index) bool { return true })
	}
	if err == nil && made != nil && c.r.temporary {
		err = c.r.openJobs(ctx, job{table: made.ID})
	}
	return made, err
}

// searched reports whether the new table has search indexes.
func (c *change) searched(x *logical.CreateTable) bool {
	if x.Like == nil {
		return len(x.Table.Search) > 0
	}
	t, err := findTable(c.snapshot(), *x.Like)
	return err == nil && len(t.Search) > 0
}

// likeTable is an empty table of the same definition.
func likeTable(like *schema.Table, name logical.TableName) *schema.Table {
	t := like.Clone()
	if n := withoutUnfinished(t); n != nil {
		t = n
	}
	forgetNext(t)
	t.DropUnusedHidden()
	t.Database, t.Name, t.AutoIncrement, t.ForeignKeys = name.DB, name.Name, 0, nil
	if t.Partitioning != nil {
		t.Partitioning.Removed = nil
	}
	for i := range t.Columns {
		t.Columns[i].AddedDefault = nil // there are no older rows
	}
	for i := range t.Checks {
		t.Checks[i].Name = name.Name + "_chk_" + strconv.Itoa(i+1)
	}
	return t
}

// dropTables drops the tables that exist, and reports those that do not. Without
// IF EXISTS a missing one fails the statement before anything is dropped.
func (c *change) dropTables(ctx context.Context, x *logical.DropTable) error {
	if x.Temporary {
		return c.missing(x.Tables, x.IfExists) // the session knows its own
	}
	seen := map[logical.TableName]bool{}
	for _, n := range x.Tables {
		if seen[n] {
			return sqlerr.NotUniqueTable(n.Name)
		}
		seen[n] = true
		if isSystem(n.DB) {
			return c.denied(n.DB)
		}
	}
	if err := c.lockTables(ctx, x.Tables...); err != nil {
		return err
	}
	var found []*schema.Table
	var missing []logical.TableName
	snap := c.snapshot()
	for _, n := range x.Tables {
		if t, ok := snap.Table(n.DB, n.Name); ok {
			found = append(found, t)
		} else {
			missing = append(missing, n)
		}
	}
	if len(missing) > 0 {
		if err := c.missing(missing, x.IfExists); err != nil {
			return err
		}
	}
	if err := c.keepsChildren(snap, found); err != nil {
		return err
	}
	return c.drop(ctx, found)
}

func (c *change) missing(names []logical.TableName, ifExists bool) error {
	if ifExists {
		for _, n := range names {
			c.note(sqlerr.UnknownTable(n.DB + "." + n.Name))
		}
		return nil
	}
	list := make([]string, len(names))
	for i, n := range names {
		list[i] = n.DB + "." + n.Name
	}
	return sqlerr.UnknownTable(strings.Join(list, ","))
}

// drop drops locked tables, all at once.
func (c *change) drop(ctx context.Context, tables []*schema.Table) error {
	if len(tables) == 0 {
		return nil
	}
	jobs := make([]job, len(tables))
	for i, t := range tables {
		jobs[i] = job{table: t.ID}
	}
	if err := c.r.openJobs(ctx, jobs...); err != nil {
		return err
	}
	c.r.step("before publish")
	err := c.publish(ctx, func(ch *catalog.Change) error {
		for _, t := range tables {
			ch.DropTable(t)
		}
		return nil
	})
	if err != nil {
		return err
	}
	c.release()
	c.finish(ctx, jobs...)
	return nil
}

// truncate gives the table a new id, so that transactions which read an older
// view, and crashes, see the rows either all or not at all.
func (c *change) truncate(ctx context.Context, x *logical.TruncateTable) error {
	if err := c.lockTables(ctx, x.Table); err != nil {
		return err
	}
	old, err := findTable(c.snapshot(), x.Table)
	if err != nil {
		return err
	}
	if err := c.truncatesParent(c.snapshot(), old); err != nil {
		return err
	}
	t := old.Clone()
	forgetNext(t)
	t.Version, t.AutoIncrement = old.Version+1, 0
	if t.Partitioning != nil {
		t.Partitioning.Removed = nil
	}
	for i := range t.Columns {
		t.Columns[i].AddedDefault = nil
	}
	if err := c.r.openJobs(ctx, job{table: old.ID}); err != nil {
		return err
	}
	c.r.step("before publish")
	err = c.publish(ctx, func(ch *catalog.Change) error {
		t.ID = ch.NextTableID()
		ch.Replace(old, t, true)
		return nil
	})
	if err != nil {
		return err
	}
	c.release()
	if c.r.temporary {
		if err := c.r.openJobs(ctx, job{table: t.ID}); err != nil {
			return err
		}
	}
	c.finish(ctx, job{table: old.ID})
	return nil
}

// renameTables renames in the order of the list, as one change, so that names
// can be swapped through a third one.
func (c *change) renameTables(ctx context.Context, x *logical.RenameTable) error {
	names := append(append([]logical.TableName(nil), x.From...), x.To...)
	for _, n := range names {
		if isSystem(n.DB) {
			return c.denied(n.DB)
		}
	}
	for _, n := range x.From {
		names = append(names, children(c.snapshot(), n)...)
	}
	if err := c.lockTables(ctx, names...); err != nil {
		return err
	}
	return c.publish(ctx, func(ch *catalog.Change) error {
		for i, from := range x.From {
			if v, ok := ch.Current().View(from.DB, from.Name); ok {
				if err := renameView(ch, v, x.To[i]); err != nil {
					return err
				}
				continue
			}
			t, err := findTable(ch.Current(), from)
			if err != nil {
				return err
			}
			if err := checkTarget(ch.Current(), x.To[i]); err != nil {
				return err
			}
			n := t.Clone()
			n.Database, n.Name, n.Version = x.To[i].DB, x.To[i].Name, t.Version+1
			renameChecks(n, t.Name, n.Name)
			renameForeignKeys(n, from, x.To[i])
			if err := c.adoptChildren(ch.Current(), n); err != nil {
				return err
			}
			if err := checkNames(ch.Current(), n, t.ID); err != nil {
				return err
			}
			ch.PutTable(n)
			renameParent(ch, from, x.To[i])
		}
		return nil
	})
}

// checkTarget: a table can take the name. 1049, 1050.
func checkTarget(s *catalog.Snapshot, to logical.TableName) error {
	if _, ok := s.Database(to.DB); !ok {
		return sqlerr.UnknownDatabase(to.DB)
	}
	if s.Taken(to.DB, to.Name) {
		return sqlerr.TableExists(to.Name)
	}
	return nil
}
