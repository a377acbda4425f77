package session

import (
	"context"
	"maps"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// runLockTables is LOCK TABLES: it ends the open transaction and gives up the
// locks of an earlier LOCK TABLES. The locks are taken in the order of their
// keys, so that two such statements do not wait for each other.
func (s *Session) runLockTables(ctx context.Context, x *logical.LockTables) error {
	if err := s.runUnlockTables(ctx); err != nil {
		return err
	}
	if err := s.commit(ctx); err != nil {
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
	s.tableLocks = map[string]mdl.Mode{}
	for _, key := range slices.Sorted(maps.Keys(want)) {
		mode := want[key]
		if mode == mdl.Alone {
			s.engine.lockedTables.Add(1)
		}
		if err := s.engine.locks.Acquire(ctx, s.owner(), key, mode, s.vars.mdlTimeout); err != nil {
			if mode == mdl.Alone {
				s.engine.lockedTables.Add(-1)
			}
			s.unlockSession()
			return translate(err)
		}
		s.tableLocks[key] = mode
	}
	return nil
}

// allTables is what FLUSH TABLES WITH READ LOCK locks.
func (s *Session) allTables() *logical.LockTables {
	out := &logical.LockTables{}
	snap := s.engine.catalog.Snapshot()
	for _, d := range snap.Databases() {
		for _, t := range snap.Tables(d.Name) {
			out.Tables = append(out.Tables, logical.TableName{DB: t.Database, Name: t.Name})
			out.Write = append(out.Write, false)
		}
	}
	return out
}

// runUnlockTables is UNLOCK TABLES: it commits only if there were locks.
func (s *Session) runUnlockTables(ctx context.Context) error {
	if s.tableLocks == nil {
		return nil
	}
	err := s.commit(ctx)
	s.unlockSession()
	return err
}

// unlockSession gives up what LOCK TABLES took.
func (s *Session) unlockSession() {
	for key, mode := range s.tableLocks {
		s.engine.locks.Release(s.owner(), key, mode)
		if mode == mdl.Alone {
			s.engine.lockedTables.Add(-1)
		}
	}
	s.tableLocks = nil
}

// checkLocked refuses what LOCK TABLES does not allow to its own session:
// tables that it did not name, and changes of those locked for reading.
func (s *Session) checkLocked(tables, writes []*schema.Table) error {
	if s.tableLocks == nil {
		return nil
	}
	for _, t := range tables {
		if s.isTemporary(t) {
			continue
		}
		mode, ok := s.tableLocks[mdl.Key(t.Database, t.Name)]
		switch {
		case !ok:
			return notLocked(t.Name)
		case mode == mdl.Freeze && slices.Contains(writes, t):
			return sqlerr.TableNotLockedForWrite(t.Name)
		}
	}
	return nil
}
