package session

import (
	"context"
	"slices"

	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// checkLockedChange refuses what LOCK TABLES does not allow its own session to
// change of the schema: tables that are not locked (1100) or locked for reading
// (1099), new tables (1100), and databases (1192).
func (s *Session) checkLockedChange(stmt logical.Statement) error {
	if s.tableLocks == nil {
		return nil
	}
	switch x := stmt.(type) {
	case *logical.AlterTable:
		return s.checkWriteLocked(x.Table)
	case *logical.TruncateTable:
		return s.checkWriteLocked(x.Table)
	case *logical.DropTable:
		return s.checkWriteLocked(x.Tables...)
	case *logical.RenameTable:
		for i, from := range x.From {
			if !slices.Contains(x.To[:i], from) { // a name that this statement gave
				if err := s.checkWriteLocked(from); err != nil {
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

func (s *Session) checkWriteLocked(tables ...logical.TableName) error {
	for _, t := range tables {
		switch mode, ok := s.tableLocks[mdl.Key(t.DB, t.Name)]; {
		case !ok:
			return notLocked(t.Name)
		case mode == mdl.Freeze:
			return sqlerr.TableNotLockedForWrite(t.Name)
		}
	}
	return nil
}

// relock lets the locks of LOCK TABLES follow a change: those of tables that are
// gone go, those of tables with a new name take it.
func (s *Session) relock(ctx context.Context, stmt logical.Statement) error {
	if s.tableLocks == nil {
		return nil
	}
	switch x := stmt.(type) {
	case *logical.DropTable:
		for _, t := range x.Tables {
			s.unlockTable(mdl.Key(t.DB, t.Name))
		}
	case *logical.RenameTable:
		for i := range x.From {
			if err := s.moveLock(ctx, x.From[i], x.To[i]); err != nil {
				return err
			}
		}
	case *logical.AlterTable:
		for _, spec := range x.Specs {
			if spec.Kind == logical.AlterRenameTable {
				return s.moveLock(ctx, x.Table, spec.Table)
			}
		}
	}
	return nil
}

func (s *Session) unlockTable(key string) {
	mode, ok := s.tableLocks[key]
	if !ok {
		return
	}
	delete(s.tableLocks, key)
	s.engine.locks.Release(s.owner(), key, mode)
	if mode == mdl.Alone {
		s.engine.lockedTables.Add(-1)
	}
}

func (s *Session) moveLock(ctx context.Context, from, to logical.TableName) error {
	s.unlockTable(mdl.Key(from.DB, from.Name))
	key := mdl.Key(to.DB, to.Name)
	if _, ok := s.tableLocks[key]; ok {
		return nil
	}
	s.engine.lockedTables.Add(1)
	if err := s.engine.locks.Acquire(ctx, s.owner(), key, mdl.Alone, s.vars.mdlTimeout); err != nil {
		s.engine.lockedTables.Add(-1)
		return err
	}
	s.tableLocks[key] = mdl.Alone
	return nil
}
