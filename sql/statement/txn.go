package statement

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/sysvar"
	"github.com/sqlots/sqlots/storage"
)

// transaction is the state of an explicit transaction, or of one that
// autocommit=0 opened.
type transaction struct {
	txn       storage.Txn
	isolation string
	readOnly  bool
	// savepoints are in the order of their making, which is that of at. named has them by
	// the keys of their names.
	savepoints []savepoint
	named      map[string]storage.Savepoint
	// schema is the catalog at the moment of the read view: a table that
	// changed since cannot be read through the view.
	schema *catalog.Snapshot
	locked map[lockKey]bool // metadata locks
}

type savepoint struct {
	name string // as savepointKey
	at   storage.Savepoint
}

// size is about what it takes in memory.
func (s savepoint) size() int64 { return int64(len(s.name)) + 192 }

// savepointKey is the same for names that strings.EqualFold says are the same.
func savepointKey(name string) string {
	return strings.Map(func(r rune) rune {
		least := r
		for f := unicode.SimpleFold(r); f != r; f = unicode.SimpleFold(f) {
			least = min(least, f)
		}
		return least
	}, name)
}

// endSavepoints gives up the savepoints from the one at index i on.
func (tx *Transactions) endSavepoints(t *transaction, i int) {
	for _, s := range t.savepoints[i:] {
		tx.engine.Writes.Shrink(s.size())
		delete(t.named, s.name)
	}
	clear(t.savepoints[i:])
	t.savepoints = t.savepoints[:i]
}

// Begin opens a transaction that lasts until COMMIT or ROLLBACK.
func (tx *Transactions) Begin(ctx context.Context, readOnly bool) error {
	// The store's transaction may write, to temporary tables.
	txn, err := tx.newTxn(ctx, false)
	if err != nil {
		return err
	}
	isolation := tx.isolation()
	tx.open = &transaction{txn: txn, isolation: isolation, readOnly: readOnly, locked: map[lockKey]bool{}}
	tx.process.Txn.Store(&engine.ProcessTxn{Id: txn.ID(), Started: time.Now(), ReadOnly: readOnly, Isolation: isolation})
	return nil
}

// The values of transaction_isolation that make a difference here. READ UNCOMMITTED is as
// READ COMMITTED.
const (
	repeatableRead = "REPEATABLE-READ"
	serializable   = "SERIALIZABLE"
)

// isolation is the level of the open transaction, or of one that starts now.
func (tx *Transactions) isolation() string {
	switch {
	case tx.open != nil:
		return tx.open.isolation
	case tx.nextIsolation != "":
		return tx.nextIsolation
	}
	return tx.vars.Isolation
}

// ranges are the reads of a statement that lock ranges of keys: at SERIALIZABLE all,
// at REPEATABLE READ those of queries with a locking clause.
func (tx *Transactions) ranges(change bool) decode.Ranges {
	switch level := tx.isolation(); {
	case level == serializable:
		return decode.AllRanges
	case level == repeatableRead && !change:
		return decode.LockingRanges
	}
	return decode.NoRanges
}

func (tx *Transactions) newTxn(ctx context.Context, readOnly bool) (storage.Txn, error) {
	txn, err := tx.engine.Store.Begin(ctx, storage.TxnOptions{
		ReadOnly: readOnly, LockTimeout: tx.vars.LockTimeout, MaxSize: tx.vars.TxnLimit, Durability: tx.vars.Durability,
		Memory: txnMemory{tx.engine.Writes, tx.engine.Values},
	})
	if err != nil {
		return nil, Translate(err)
	}
	tx.process.Latest.Store(txn.ID())
	return txn, nil
}

// txnMemory counts what transactions write, until their ends.
type txnMemory struct {
	*exec.Tracker
	values *exec.Values
}

// Collect implements storage.Collector.
func (m txnMemory) Collect() { m.values.Collect() }

// Grow implements storage.Memory.
func (m txnMemory) Grow(n int64) error { return m.Tracker.Grow(n, "writes of transactions") }

// Commit ends the open transaction, if there is one.
func (tx *Transactions) Commit(ctx context.Context) error {
	if tx.open == nil {
		tx.endCharacteristics()
		return nil
	}
	t := tx.open
	tx.open = nil
	tx.process.Txn.Store(nil)
	defer tx.temps.Sweep(context.WithoutCancel(ctx))
	defer tx.unlockTables(t)
	tx.endSavepoints(t, 0)
	tx.Metrics.Add(metrics.HandlerCommit, 1)
	_, err := t.txn.Commit(context.WithoutCancel(ctx))
	tx.endCharacteristics()
	if errors.Is(err, storage.ErrUndetermined) {
		tx.Lost = true
	}
	return Translate(err)
}

// Rollback ends the open transaction without its writes.
func (tx *Transactions) Rollback() {
	tx.endCharacteristics()
	if tx.open == nil {
		return
	}
	t := tx.open
	tx.open = nil
	tx.process.Txn.Store(nil)
	tx.endSavepoints(t, 0)
	tx.Metrics.Add(metrics.HandlerRollback, 1)
	t.txn.Rollback()
	tx.unlockTables(t)
	tx.temps.Sweep(context.Background())
}

// endCharacteristics forgets what SET TRANSACTION said of the transaction that
// ended.
func (tx *Transactions) endCharacteristics() { tx.nextIsolation, tx.nextReadOnly = "", nil }

// startsReadOnly reports whether a transaction that starts now may only read.
func (tx *Transactions) startsReadOnly() bool {
	if tx.nextReadOnly != nil {
		return *tx.nextReadOnly
	}
	return tx.vars.ReadOnly
}

// checkReadOnly is 1792 where a statement that changes tables, or locks their
// rows for a change, runs in a read-only transaction. Temporary tables do not
// count: no other session sees them.
func (tx *Transactions) checkReadOnly(tables []*schema.Table) error {
	if tx.RefusesChanges() && slices.ContainsFunc(tables, func(t *schema.Table) bool { return !tx.temps.isTemporary(t) }) {
		return sqlerr.ReadOnlyTransaction()
	}
	return nil
}

// lockKey is a metadata lock that a transaction holds.
type lockKey struct {
	table string
	mode  mdl.Mode
}

func (tx *Transactions) unlockTables(t *transaction) {
	for k := range t.locked {
		tx.engine.Locks.Release(tx.owner(), k.table, k.mode)
	}
}

func (tx *Transactions) owner() mdl.Owner { return mdl.Owner(tx.process.ID) }

// lockTables takes metadata locks on tables for the rest of the open
// transaction; writes are those that are going to be changed.
func (tx *Transactions) lockTables(ctx context.Context, tables, writes []*schema.Table) error {
	for _, t := range tables {
		if tx.temps.isTemporary(t) {
			continue
		}
		k := lockKey{table: mdl.Key(t.Database, t.Name)}
		if slices.Contains(writes, t) {
			k.mode = mdl.Write
		}
		if tx.open.locked[k] {
			continue
		}
		if err := tx.engine.Locks.Acquire(ctx, tx.owner(), k.table, k.mode, tx.vars.MdlTimeout); err != nil {
			return Translate(err)
		}
		tx.open.locked[k] = true
	}
	return nil
}

// lockViews takes metadata locks on the views that a plan reads for the rest
// of the open transaction.
func (tx *Transactions) lockViews(ctx context.Context, views []*schema.View) error {
	for _, v := range views {
		k := lockKey{table: mdl.Key(v.Database, v.Name)}
		if tx.open.locked[k] {
			continue
		}
		if err := tx.engine.Locks.Acquire(ctx, tx.owner(), k.table, k.mode, tx.vars.MdlTimeout); err != nil {
			return Translate(err)
		}
		tx.open.locked[k] = true
	}
	return nil
}

// takeView fixes the read view of the open transaction, with the catalog that
// describes it, if it has none yet; again takes a new one (READ COMMITTED).
func (tx *Transactions) takeView(ctx context.Context, again bool) error {
	t := tx.open
	if t.schema != nil && !again {
		return nil
	}
	for {
		before := tx.engine.Catalog.Snapshot()
		if t.schema != nil || again {
			if err := t.txn.Refresh(ctx); err != nil {
				return Translate(err)
			}
		}
		if _, err := t.txn.ViewSeq(ctx); err != nil {
			return Translate(err)
		}
		t.schema = tx.engine.Catalog.Snapshot()
		if t.schema == before {
			return nil
		}
	}
}

// checkView is 1412 when a table was changed after the read view was taken.
func (tx *Transactions) checkView(tables []*schema.Table) error {
	for _, t := range tables {
		if tx.open.schema.TableByID(t.ID) != t && !tx.temps.isTemporary(t) {
			return sqlerr.TableChanged()
		}
	}
	return nil
}

// lockStatement takes metadata locks for one autocommit statement and returns
// the function that gives them back; target is as in lockTables.
func (tx *Transactions) lockStatement(ctx context.Context, tables, writes []*schema.Table) (func(), error) {
	var taken []lockKey
	release := func() {
		for _, k := range taken {
			tx.engine.Locks.Release(tx.owner(), k.table, k.mode)
		}
	}
	for _, t := range tables {
		if tx.temps.isTemporary(t) {
			continue
		}
		k := lockKey{table: mdl.Key(t.Database, t.Name)}
		if slices.Contains(writes, t) {
			k.mode = mdl.Write
		}
		if err := tx.engine.Locks.Acquire(ctx, tx.owner(), k.table, k.mode, tx.vars.MdlTimeout); err != nil {
			release()
			return nil, Translate(err)
		}
		taken = append(taken, k)
	}
	return release, nil
}

func (tx *Transactions) runBegin(ctx context.Context, b *logical.Begin) error {
	// What SET TRANSACTION said is of the new transaction when none is open.
	readOnly, isolation := tx.startsReadOnly(), tx.nextIsolation
	if tx.open != nil {
		readOnly, isolation = tx.vars.ReadOnly, ""
	}
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	tx.unlockSession()
	tx.nextIsolation = isolation
	if b.ReadOnly {
		readOnly = true
	}
	if b.ReadWrite {
		readOnly = false
	}
	if err := tx.Begin(ctx, readOnly); err != nil {
		return err
	}
	if b.ConsistentSnapshot {
		return tx.takeView(ctx, false)
	}
	return nil
}

func (tx *Transactions) runCommit(ctx context.Context, c *logical.Commit) error {
	ended := tx.characteristics()
	if err := tx.Commit(ctx); err != nil {
		return err
	}
	return tx.afterEnd(ctx, c.Completion, ended)
}

func (tx *Transactions) runRollback(ctx context.Context, r *logical.Rollback) error {
	if r.Savepoint != "" {
		i := tx.savepoint(r.Savepoint)
		if i < 0 {
			return sqlerr.SavepointDoesNotExist(r.Savepoint)
		}
		tx.endSavepoints(tx.open, i+1)
		tx.Metrics.Add(metrics.HandlerSavepointRollback, 1)
		return Translate(tx.open.txn.RollbackTo(tx.open.savepoints[i].at))
	}
	ended := tx.characteristics()
	tx.Rollback()
	return tx.afterEnd(ctx, r.Completion, ended)
}

// characteristics are those of the open transaction, which a chained one takes
// over.
type characteristics struct {
	isolation string // "" for the session's
	readOnly  bool
}

func (tx *Transactions) characteristics() characteristics {
	if tx.open == nil {
		return characteristics{readOnly: tx.vars.ReadOnly}
	}
	return characteristics{isolation: tx.nextIsolation, readOnly: tx.open.readOnly}
}

// afterEnd does what a COMMIT or ROLLBACK, or completion_type where it leaves
// that open, says of the time after.
func (tx *Transactions) afterEnd(ctx context.Context, c logical.Completion, ended characteristics) error {
	if c.Release || tx.vars.Completion == completionRelease && !c.NoRelease && !c.Chain {
		tx.Lost = true
		return nil
	}
	if c.Chain || tx.vars.Completion == completionChain && !c.NoChain {
		tx.nextIsolation = ended.isolation
		return tx.Begin(ctx, ended.readOnly)
	}
	return nil
}

// The values of completion_type.
const (
	completionChain   = "CHAIN"
	completionRelease = "RELEASE"
)

func (tx *Transactions) savepoint(name string) int {
	if tx.open == nil {
		return -1
	}
	at, ok := tx.open.named[savepointKey(name)]
	if !ok {
		return -1
	}
	i, _ := slices.BinarySearchFunc(tx.open.savepoints, at, func(s savepoint, at storage.Savepoint) int { return cmp.Compare(s.at, at) })
	return i
}

func (tx *Transactions) runSavepoint(ctx context.Context, name string) error {
	if tx.open == nil {
		if tx.vars.Autocommit {
			return nil // a transaction of its own that ends at once
		}
		if err := tx.Begin(ctx, tx.startsReadOnly()); err != nil {
			return err
		}
	}
	s := savepoint{name: savepointKey(name)}
	if i := tx.savepoint(name); i >= 0 {
		tx.open.txn.Forget(tx.open.savepoints[i].at)
		tx.open.savepoints = slices.Delete(tx.open.savepoints, i, i+1)
	} else if err := tx.engine.Writes.Grow(s.size(), "savepoints"); err != nil {
		return err
	}
	tx.Metrics.Add(metrics.HandlerSavepoint, 1)
	s.at = tx.open.txn.Savepoint()
	tx.open.savepoints = append(tx.open.savepoints, s)
	if tx.open.named == nil {
		tx.open.named = map[string]storage.Savepoint{}
	}
	tx.open.named[s.name] = s.at
	return nil
}

func (tx *Transactions) releaseSavepoint(name string) error {
	i := tx.savepoint(name)
	if i < 0 {
		return sqlerr.SavepointDoesNotExist(name)
	}
	tx.open.txn.Release(tx.open.savepoints[i].at)
	tx.endSavepoints(tx.open, i)
	return nil
}

// Transactions is the transaction of a connection with what comes before and
// next to it: characteristics, metadata locks, LOCK TABLES.
type Transactions struct {
	engine  *engine.Engine
	vars    *sysvar.Values
	process *engine.Process
	temps   *TemporaryTables

	open          *transaction
	nextIsolation string // SET TRANSACTION for the next transaction
	nextReadOnly  *bool
	tableLocks    map[string]mdl.Mode // of LOCK TABLES, by mdl.Key
	Lost          bool                // the connection has to end after this command
	// Metrics are the connection's.
	Metrics *metrics.Session
}

// IsOpen reports whether a transaction is open that lasts until COMMIT.
func (tx *Transactions) IsOpen() bool { return tx.open != nil }

// Status reports whether a transaction is open, and whether it may only read.
func (tx *Transactions) Status() (open, readOnly bool) {
	return tx.open != nil, tx.open != nil && tx.open.readOnly
}

// RefusesChanges: a change would be one of a read-only transaction (1792).
func (tx *Transactions) RefusesChanges() bool {
	if tx.open != nil {
		return tx.open.readOnly
	}
	return tx.startsReadOnly()
}

// InTxn runs a change of the session's own as a statement: in the open
// transaction, or in one of its own.
func (tx *Transactions) InTxn(ctx context.Context, fn func(txn storage.Txn) error) error {
	if tx.open == nil && !tx.vars.Autocommit {
		if err := tx.Begin(ctx, tx.startsReadOnly()); err != nil {
			return err
		}
	}
	if tx.open == nil {
		if tx.startsReadOnly() {
			return sqlerr.ReadOnlyTransaction()
		}
		txn, err := tx.newTxn(ctx, false)
		if err != nil {
			return err
		}
		defer txn.Rollback()
		if err := fn(txn); err != nil {
			return Translate(err)
		}
		if _, err := txn.Commit(context.WithoutCancel(ctx)); err != nil {
			return tx.commitFailed(err)
		}
		return nil
	}
	if tx.open.readOnly {
		return sqlerr.ReadOnlyTransaction()
	}
	return Translate(tx.atomically(func() error { return fn(tx.open.txn) }))
}

// atomically runs a part of the open transaction; a failure takes back what it did.
func (tx *Transactions) atomically(fn func() error) error {
	txn := tx.open.txn
	sp := txn.Savepoint()
	err := fn()
	if err != nil && txn.RollbackTo(sp) != nil {
		tx.Rollback() // a deadlock: nothing is left to go back to
		return err
	}
	txn.Release(sp)
	return err
}

func (tx *Transactions) currentTables(tables []*schema.Table) bool {
	snap := tx.engine.Catalog.Snapshot()
	for _, t := range tables {
		if snap.TableByID(t.ID) != t && !tx.temps.isTemporary(t) {
			return false
		}
	}
	return true
}
