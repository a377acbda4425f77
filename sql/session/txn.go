package session

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
)

// transaction is the state of an explicit transaction, or of one that
// autocommit=0 opened.
type transaction struct {
	txn        storage.Txn
	readOnly   bool
	savepoints []savepoint
	// schema is the catalog at the moment of the read view: a table that
	// changed since cannot be read through the view.
	schema *catalog.Snapshot
	locked map[lockKey]bool // metadata locks
}

type savepoint struct {
	name string
	at   storage.Savepoint
}

// begin opens a transaction that lasts until COMMIT or ROLLBACK.
func (s *Session) begin(readOnly bool) error {
	// The store's transaction may write, to temporary tables.
	txn, err := s.newTxn(false)
	if err != nil {
		return err
	}
	s.open = &transaction{txn: txn, readOnly: readOnly, locked: map[lockKey]bool{}}
	isolation := s.vars.isolation
	if s.nextIsolation != "" {
		isolation = s.nextIsolation
	}
	s.process.txn.Store(&processTxn{id: txn.ID(), started: time.Now(), readOnly: readOnly, isolation: isolation})
	return nil
}

func (s *Session) newTxn(readOnly bool) (storage.Txn, error) {
	txn, err := s.engine.store.Begin(storage.TxnOptions{
		ReadOnly: readOnly, LockTimeout: s.vars.lockTimeout, MaxSize: s.vars.txnLimit, Durability: s.vars.durability,
		Memory: s.engine.memory,
	})
	if err != nil {
		return nil, translate(err)
	}
	s.process.latest.Store(txn.ID())
	return txn, nil
}

// commit ends the open transaction, if there is one.
func (s *Session) commit(ctx context.Context) error {
	if s.open == nil {
		s.endCharacteristics()
		return nil
	}
	t := s.open
	s.open = nil
	s.process.txn.Store(nil)
	defer s.sweepTemporary(context.WithoutCancel(ctx))
	defer s.unlockTables(t)
	_, err := t.txn.Commit(context.WithoutCancel(ctx))
	s.endCharacteristics()
	if errors.Is(err, storage.ErrUndetermined) {
		s.lost = true
	}
	return translate(err)
}

// rollback ends the open transaction without its writes.
func (s *Session) rollback() {
	s.endCharacteristics()
	if s.open == nil {
		return
	}
	t := s.open
	s.open = nil
	s.process.txn.Store(nil)
	t.txn.Rollback()
	s.unlockTables(t)
	s.sweepTemporary(context.Background())
}

// endCharacteristics forgets what SET TRANSACTION said of the transaction that
// ended.
func (s *Session) endCharacteristics() { s.nextIsolation, s.nextReadOnly = "", nil }

// startsReadOnly reports whether a transaction that starts now may only read.
func (s *Session) startsReadOnly() bool {
	if s.nextReadOnly != nil {
		return *s.nextReadOnly
	}
	return s.vars.readOnly
}

// checkReadOnly is 1792 where a statement that changes tables, or locks their
// rows for a change, runs in a read-only transaction. Temporary tables are
// nobody else's.
func (s *Session) checkReadOnly(tables []*schema.Table) error {
	readOnly := s.open != nil && s.open.readOnly || s.open == nil && s.startsReadOnly()
	if readOnly && slices.ContainsFunc(tables, func(t *schema.Table) bool { return !s.isTemporary(t) }) {
		return sqlerr.ReadOnlyTransaction()
	}
	return nil
}

// lockKey is a metadata lock that a transaction holds.
type lockKey struct {
	table string
	mode  mdl.Mode
}

func (s *Session) unlockTables(t *transaction) {
	for k := range t.locked {
		s.engine.locks.Release(s.owner(), k.table, k.mode)
	}
}

func (s *Session) owner() mdl.Owner { return mdl.Owner(s.process.ID) }

// lockTables takes metadata locks on tables for the rest of the open
// transaction; writes are those that are going to be changed.
func (s *Session) lockTables(ctx context.Context, tables, writes []*schema.Table) error {
	if s.trace != nil {
		defer s.lockTimer()()
	}
	for _, t := range tables {
		if s.isTemporary(t) {
			continue
		}
		k := lockKey{table: mdl.Key(t.Database, t.Name)}
		if slices.Contains(writes, t) {
			k.mode = mdl.Write
		}
		if s.open.locked[k] {
			continue
		}
		if err := s.engine.locks.Acquire(ctx, s.owner(), k.table, k.mode, s.vars.mdlTimeout); err != nil {
			return translate(err)
		}
		s.open.locked[k] = true
	}
	return nil
}

// lockViews takes metadata locks on the views that a plan reads for the rest
// of the open transaction.
func (s *Session) lockViews(ctx context.Context, views []*schema.View) error {
	for _, v := range views {
		k := lockKey{table: mdl.Key(v.Database, v.Name)}
		if s.open.locked[k] {
			continue
		}
		if err := s.engine.locks.Acquire(ctx, s.owner(), k.table, k.mode, s.vars.mdlTimeout); err != nil {
			return translate(err)
		}
		s.open.locked[k] = true
	}
	return nil
}

// takeView fixes the read view of the open transaction, with the catalog that
// describes it, if it has none yet; again takes a new one (READ COMMITTED).
func (s *Session) takeView(again bool) error {
	t := s.open
	if t.schema != nil && !again {
		return nil
	}
	for {
		before := s.engine.catalog.Snapshot()
		if t.schema != nil || again {
			if err := t.txn.Refresh(); err != nil {
				return translate(err)
			}
		}
		if _, err := t.txn.ViewSeq(); err != nil {
			return translate(err)
		}
		t.schema = s.engine.catalog.Snapshot()
		if t.schema == before {
			return nil
		}
	}
}

// checkView is 1412 when a table was changed after the read view was taken.
func (s *Session) checkView(tables []*schema.Table) error {
	for _, t := range tables {
		if s.open.schema.TableByID(t.ID) != t && !s.isTemporary(t) {
			return sqlerr.TableChanged()
		}
	}
	return nil
}

// lockStatement takes metadata locks for one autocommit statement and returns
// the function that gives them back; target is as in lockTables.
func (s *Session) lockStatement(ctx context.Context, tables, writes []*schema.Table) (func(), error) {
	var taken []lockKey
	release := func() {
		for _, k := range taken {
			s.engine.locks.Release(s.owner(), k.table, k.mode)
		}
	}
	if s.trace != nil {
		defer s.lockTimer()()
	}
	for _, t := range tables {
		if s.isTemporary(t) {
			continue
		}
		k := lockKey{table: mdl.Key(t.Database, t.Name)}
		if slices.Contains(writes, t) {
			k.mode = mdl.Write
		}
		if err := s.engine.locks.Acquire(ctx, s.owner(), k.table, k.mode, s.vars.mdlTimeout); err != nil {
			release()
			return nil, translate(err)
		}
		taken = append(taken, k)
	}
	return release, nil
}

func (s *Session) runBegin(ctx context.Context, b *logical.Begin) error {
	// What SET TRANSACTION said is of the new transaction when none is open.
	readOnly, isolation := s.startsReadOnly(), s.nextIsolation
	if s.open != nil {
		readOnly, isolation = s.vars.readOnly, ""
	}
	if err := s.commit(ctx); err != nil {
		return err
	}
	s.unlockSession()
	s.nextIsolation = isolation
	if b.ReadOnly {
		readOnly = true
	}
	if b.ReadWrite {
		readOnly = false
	}
	if err := s.begin(readOnly); err != nil {
		return err
	}
	if b.ConsistentSnapshot {
		return s.takeView(false)
	}
	return nil
}

func (s *Session) runCommit(ctx context.Context, c *logical.Commit) error {
	ended := s.characteristics()
	if err := s.commit(ctx); err != nil {
		return err
	}
	return s.afterEnd(c.Completion, ended)
}

func (s *Session) runRollback(r *logical.Rollback) error {
	if r.Savepoint != "" {
		i := s.savepoint(r.Savepoint)
		if i < 0 {
			return sqlerr.SavepointDoesNotExist(r.Savepoint)
		}
		s.open.savepoints = s.open.savepoints[:i+1]
		return translate(s.open.txn.RollbackTo(s.open.savepoints[i].at))
	}
	ended := s.characteristics()
	s.rollback()
	return s.afterEnd(r.Completion, ended)
}

// characteristics are those of the open transaction, which a chained one takes
// over.
type characteristics struct {
	isolation string // "" for the session's
	readOnly  bool
}

func (s *Session) characteristics() characteristics {
	if s.open == nil {
		return characteristics{readOnly: s.vars.readOnly}
	}
	return characteristics{isolation: s.nextIsolation, readOnly: s.open.readOnly}
}

// afterEnd does what a COMMIT or ROLLBACK, or completion_type where it leaves
// that open, says of the time after.
func (s *Session) afterEnd(c logical.Completion, ended characteristics) error {
	if c.Release || s.vars.completion == completionRelease && !c.NoRelease && !c.Chain {
		s.lost = true
		return nil
	}
	if c.Chain || s.vars.completion == completionChain && !c.NoChain {
		s.nextIsolation = ended.isolation
		return s.begin(ended.readOnly)
	}
	return nil
}

// The values of completion_type.
const (
	completionChain   = "CHAIN"
	completionRelease = "RELEASE"
)

func (s *Session) savepoint(name string) int {
	if s.open == nil {
		return -1
	}
	for i := len(s.open.savepoints) - 1; i >= 0; i-- {
		if strings.EqualFold(s.open.savepoints[i].name, name) {
			return i
		}
	}
	return -1
}

func (s *Session) runSavepoint(name string) error {
	if s.open == nil {
		if s.vars.autocommit {
			return nil // a transaction of its own that ends at once
		}
		if err := s.begin(s.startsReadOnly()); err != nil {
			return err
		}
	}
	if i := s.savepoint(name); i >= 0 {
		s.open.savepoints = append(s.open.savepoints[:i], s.open.savepoints[i+1:]...)
	}
	s.open.savepoints = append(s.open.savepoints, savepoint{name: name, at: s.open.txn.Savepoint()})
	return nil
}

func (s *Session) releaseSavepoint(name string) error {
	i := s.savepoint(name)
	if i < 0 {
		return sqlerr.SavepointDoesNotExist(name)
	}
	s.open.txn.Release(s.open.savepoints[i].at)
	s.open.savepoints = s.open.savepoints[:i]
	return nil
}
