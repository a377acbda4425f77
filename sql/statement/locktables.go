package statement

import (
	"context"
	"maps"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// RunLockTables is LOCK TABLES: it ends the open transaction and gives up the
// locks of an earlier LOCK TABLES. The locks are taken in the order of their
// keys, so that two such statements do not wait for each other.
func (tx *Transactions) RunLockTables(ctx context.Context, x *logical.LockTables) error {
	if err := tx.runUnlockTables(ctx); err != nil {
		return err
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	want := map[string]mdl.Mode{}
	for i, t := range x.Tables {
		key := mdl.Key(t.DB, t.Name)
		mode := mdl.Freeze
		if x.Write[i] {
			mode = mdl.Alone
		}
		want[key] = max(want[key], mode)
	}
	tx.tableLocks = map[string]mdl.Mode{}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		mode := want[key]
		if mode == mdl.Alone {
			tx.engine.LockedTables.Add(1)
		}
		if err := tx.engine.Locks.Acquire(ctx, tx.owner(), key, mode, tx.vars.MdlTimeout); err != nil {
			if mode == mdl.Alone {
				tx.engine.LockedTables.Add(-1)
			}
			tx.unlockSession()
			return Translate(err)
		}
		tx.tableLocks[key] = mode
	}
	return nil
}

// AllTables is what FLUSH TABLES WITH READ LOCK locks.
func (tx *Transactions) AllTables() *logical.LockTables {
	out := &logical.LockTables{}
	snap := tx.engine.Catalog.Snapshot()
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			out.Tables = append(out.Tables, logical.TableName{DB: t.Database, Name: t.Name})
			out.Write = append(out.Write, false)
		}
	}
	return out
}

// runUnlockTables is UNLOCK TABLES: it commits only if there were locks.
func (tx *Transactions) runUnlockTables(ctx context.Context) error {
	if tx.tableLocks == nil {
		return nil
	}
	err := tx.Commit(ctx)
	tx.unlockSession()
	return err
}

// unlockSession gives up what LOCK TABLES took.
func (tx *Transactions) unlockSession() {
	for key, mode := range tx.tableLocks {
		tx.engine.Locks.Release(tx.owner(), key, mode)
		if mode == mdl.Alone {
			tx.engine.LockedTables.Add(-1)
		}
	}
	tx.tableLocks = nil
}

// checkLocked refuses what LOCK TABLES does not allow to its own session:
// tables that it did not name, and changes of those locked for reading.
func (tx *Transactions) checkLocked(tables, writes []*schema.Table) error {
	if tx.tableLocks == nil {
		return nil
	}
	for _, t := range tables {
		if tx.temps.isTemporary(t) {
			continue
		}
		mode, ok := tx.tableLocks[mdl.Key(t.Database, t.Name)]
		switch {
		case !ok:
			return notLocked(t.Name)
		case mode == mdl.Freeze && slices.Contains(writes, t):
			return sqlerr.TableNotLockedForWrite(t.Name)
		}
	}
	return nil
}
