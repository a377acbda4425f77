package statement

import (
	"context"
	"slices"

	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// CheckLockedChange refuses what LOCK TABLES does not allow its own session to
// change of the schema: tables that are not locked (1100) or locked for reading
// (1099), new tables (1100), and databases (1192).
func (tx *Transactions) CheckLockedChange(stmt logical.Statement) error {
	if tx.tableLocks == nil {
		return nil
	}
	switch x := stmt.(type) {
	case *logical.AlterTable:
		return tx.checkWriteLocked(x.Table)
	case *logical.TruncateTable:
		return tx.checkWriteLocked(x.Table)
	case *logical.DropTable:
		return tx.checkWriteLocked(x.Tables...)
	case *logical.RenameTable:
		for i, from := range x.From {
			if !slices.Contains(x.To[:i], from) { // a name that this statement gave
				if err := tx.checkWriteLocked(from); err != nil {
					return err
				}
			}
		}
	case *logical.CreateTable:
		return notLocked(x.Name.Name)
	case *logical.CreateDatabase, *logical.AlterDatabase, *logical.DropDatabase:
		return sqlerr.LockOrActiveTransaction()
	}
	return nil
}

func notLocked(table string) error {
	return sqlerr.TableNotLocked(table)
}

func (tx *Transactions) checkWriteLocked(tables ...logical.TableName) error {
	for _, t := range tables {
		switch mode, ok := tx.tableLocks[mdl.Key(t.DB, t.Name)]; {
		case !ok:
			return notLocked(t.Name)
		case mode == mdl.Freeze:
			return sqlerr.TableNotLockedForWrite(t.Name)
		}
	}
	return nil
}

// Relock lets the locks of LOCK TABLES follow a change: those of tables that are
// gone go, those of tables with a new name take it.
func (tx *Transactions) Relock(ctx context.Context, stmt logical.Statement) error {
	if tx.tableLocks == nil {
		return nil
	}
	switch x := stmt.(type) {
	case *logical.DropTable:
		for _, t := range x.Tables {
			tx.unlockTable(mdl.Key(t.DB, t.Name))
		}
	case *logical.RenameTable:
		for i := range x.From {
			if err := tx.moveLock(ctx, x.From[i], x.To[i]); err != nil {
				return err
			}
		}
	case *logical.AlterTable:
		for _, spec := range x.Specs {
			if spec.Kind == logical.AlterRenameTable {
				return tx.moveLock(ctx, x.Table, spec.Table)
			}
		}
	}
	return nil
}

func (tx *Transactions) unlockTable(key string) {
	mode, ok := tx.tableLocks[key]
	if !ok {
		return
	}
	delete(tx.tableLocks, key)
	tx.engine.Locks.Release(tx.owner(), key, mode)
	if mode == mdl.Alone {
		tx.engine.LockedTables.Add(-1)
	}
}

func (tx *Transactions) moveLock(ctx context.Context, from, to logical.TableName) error {
	tx.unlockTable(mdl.Key(from.DB, from.Name))
	key := mdl.Key(to.DB, to.Name)
	if _, ok := tx.tableLocks[key]; ok {
		return nil
	}
	tx.engine.LockedTables.Add(1)
	if err := tx.engine.Locks.Acquire(ctx, tx.owner(), key, mdl.Alone, tx.vars.MdlTimeout); err != nil {
		tx.engine.LockedTables.Add(-1)
		return err
	}
	tx.tableLocks[key] = mdl.Alone
	return nil
}
