package statement

import (
	"context"
	"errors"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// ErrStale ends the try of a plan of which a table or view changed before it
// could run. Nothing was done.
var ErrStale = errors.New("the plan is stale")

// runPlan executes a plan and writes its result. The plan is made again when
// the schema changed between planning and reading.
func (s *Statement) runPlan(ctx context.Context, c *Plan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) (err error) {
	s.event.Work, s.event.NoIndex = c.work, c.readsAll
	s.planned()
	if err := s.permit(c); err != nil {
		return err
	}
	if s.Tx.tableLocks != nil { // of admit, what concerns the fast paths
		if err := s.Tx.checkLocked(c.Plan.Tables[:c.Plan.Named], c.Plan.Writes); err != nil {
			return err
		}
	}
	if (c.point != nil || c.page != nil) && s.Tx.open == nil && s.Tx.nextIsolation == "" && s.Tx.nextReadOnly == nil && s.Vars.Autocommit && s.Engine.LockedTables.Load() == 0 && s.Vars.SelectLimit > 0 {
		fast := s.runPoint
		if c.page != nil {
			fast = s.runPage
		}
		if done, err := fast(ctx, c, vals, more, w); done {
			return err
		}
	}
	return s.whileCurrent(ctx, c, vals, func(c *Plan) error {
		if c.Plan.Change != nil {
			return s.sendChange(ctx, c, vals, more, w)
		}
		return s.read(ctx, c, vals, func(env *exec.Env) error {
			return s.sendRows(ctx, env, c, more, w)
		})
	})
}

// whileCurrent calls run with a plan, and with a new one each time that run
// returns ErrStale.
func (s *Statement) whileCurrent(ctx context.Context, c *Plan, vals []value.Datum, run func(c *Plan) error) error {
	for try := 0; ; try++ {
		err := run(c)
		if !errors.Is(err, ErrStale) {
			return err
		}
		if try == maxReplans {
			return sqlerr.TableChanged()
		}
		if c, err = s.replan(ctx, c, vals); err != nil {
			return err
		}
	}
}

// Admit does what comes before the run of every plan: the checks of LOCK TABLES,
// safe updates and read-only transactions, and the start of the transaction
// where autocommit is off.
func (s *Statement) Admit(ctx context.Context, p *physical.Plan) error {
	if s.Tx.tableLocks != nil {
		if err := s.Tx.checkLocked(p.Tables[:p.Named], p.Writes); err != nil {
			return err
		}
	}
	switch {
	case p.Change != nil:
		if err := s.checkSafe(p); err != nil {
			return err
		}
		if err := s.Tx.checkReadOnly(p.Writes); err != nil {
			return err
		}
	case p.LocksForUpdate:
		if err := s.Tx.checkReadOnly(p.Tables); err != nil {
			return err
		}
	}
	if s.Tx.open == nil && !s.Vars.Autocommit && len(p.Tables) > 0 {
		return s.Tx.Begin(ctx, s.Tx.startsReadOnly())
	}
	return nil
}

// endAutocommit ends what SET TRANSACTION said of the next transaction, after a
// statement that was one. A refused or stale one was none.
func (s *Statement) endAutocommit(p *physical.Plan, err error) {
	if s.Tx.open == nil && len(p.Tables) > 0 && !errors.Is(err, sqlerr.ReadOnlyTransaction()) && !errors.Is(err, ErrStale) {
		s.Tx.endCharacteristics()
	}
}

// read runs a query: run pulls the rows of c's plan. ErrStale: it was not called.
func (s *Statement) read(ctx context.Context, c *Plan, vals []value.Datum, run func(env *exec.Env) error) (err error) {
	if s.Tx.nextReadOnly != nil || s.Tx.nextIsolation != "" {
		defer func() { s.endAutocommit(c.Plan, err) }()
	}
	if err := s.Admit(ctx, c.Plan); err != nil {
		return err
	}
	view, release, err := s.readView(ctx, c.Plan)
	if err != nil {
		return err
	}
	defer release()
	if !s.current(c.Plan) {
		return ErrStale
	}
	s.Process.Plan.Store(c.Plan)
	env := s.execEnv(ctx, view, vals)
	defer env.Memory.Close()
	waited := lockWait(view.Txn)
	err = run(env)
	s.event.Lock += lockWait(view.Txn) - waited
	if c.Plan.Locks && s.Tx.open == nil && err == nil {
		_, err = view.Txn.Commit(ctx)
	}
	return err
}

// Change runs a change atomically: in autocommit as a transaction of its own,
// else after a savepoint. ErrStale: nothing was done.
func (s *Statement) Change(ctx context.Context, c *Plan, vals []value.Datum) (r exec.Result, err error) {
	if s.Tx.nextReadOnly != nil || s.Tx.nextIsolation != "" {
		defer func() { s.endAutocommit(c.Plan, err) }()
	}
	if err := s.Admit(ctx, c.Plan); err != nil {
		return r, err
	}
	if s.Tx.open == nil {
		release, err := s.Tx.lockStatement(ctx, c.Plan.Tables, c.Plan.Writes)
		if err != nil {
			return r, err
		}
		defer release()
		if !s.current(c.Plan) {
			return r, ErrStale
		}
		return s.changeAndCommit(ctx, c, vals)
	}
	if err := s.Tx.lockViews(ctx, c.Plan.Views); err != nil {
		return r, err
	}
	if err := s.Tx.lockTables(ctx, c.Plan.Tables, c.Plan.Writes); err != nil {
		return r, err
	}
	if !s.current(c.Plan) {
		return r, ErrStale
	}
	if err := s.Tx.refreshView(ctx, c.Plan.Tables); err != nil {
		return r, err
	}
	return s.changeWithSavepoint(ctx, c, vals)
}

// changeAndCommit runs a change as a transaction of its own.
func (s *Statement) changeAndCommit(ctx context.Context, c *Plan, vals []value.Datum) (exec.Result, error) {
	txn, err := s.Tx.newTxn(ctx, false)
	if err != nil {
		return exec.Result{}, err
	}
	defer txn.Rollback()
	r, err := s.runChange(ctx, c, txn, vals)
	if err != nil {
		return exec.Result{}, err
	}
	s.Metrics.Add(metrics.HandlerCommit, 1)
	if _, err := txn.Commit(context.WithoutCancel(ctx)); err != nil {
		r.Returned.Close()
		return exec.Result{}, s.Tx.commitFailed(err)
	}
	s.changed(c, r)
	return r, nil
}

// changeWithSavepoint runs a change in the open transaction; a failure takes
// back what it did.
func (s *Statement) changeWithSavepoint(ctx context.Context, c *Plan, vals []value.Datum) (exec.Result, error) {
	var r exec.Result
	err := s.Tx.atomically(func() (err error) {
		r, err = s.runChange(ctx, c, s.Tx.open.txn, vals)
		return err
	})
	if err != nil {
		return exec.Result{}, err
	}
	s.changed(c, r)
	return r, nil
}

func (tx *Transactions) commitFailed(err error) error {
	out := Translate(err)
	if sqlerr.IsCommitOutcomeUnknown(out) {
		tx.Lost = true
	}
	return out
}

func (s *Statement) runChange(ctx context.Context, c *Plan, txn storage.Txn, vals []value.Datum) (exec.Result, error) {
	env := s.changeEnv(ctx, c.Plan, txn, vals)
	if c.stats != nil {
		env.Stats = c.stats
	}
	var r exec.Result
	defer func() {
		if r.Returned != nil {
			r.Returned.OnClose(env.Memory.Close)
			return
		}
		env.Memory.Close()
	}()
	s.Process.Plan.Store(c.Plan)
	var err error
	env.Reject = c.Reject
	waited := lockWait(txn)
	r, err = exec.RunChange(ctx, env, c.Plan)
	s.event.Lock += lockWait(txn) - waited
	s.wrote(env.Sink)
	if err == nil && c.Also != nil {
		err = c.Also(ctx, txn)
	}
	return r, err
}

// changed takes over what a change did to the session's state.
func (s *Statement) changed(c *Plan, r exec.Result) {
	s.Functions.Rows = int64(r.Affected)
	if s.Tx.open != nil {
		if t := s.Process.Txn.Load(); t != nil {
			t.Rows.Add(s.Functions.Rows)
		}
	}
	if r.GeneratedID != 0 {
		s.Functions.mu.Lock()
		s.Functions.lastInsertID = r.GeneratedID
		s.Functions.mu.Unlock()
	}
	s.Functions.applyInsertID()
	for _, t := range c.Plan.Writes {
		s.Engine.Stats.Changed(t, int64(r.Affected))
	}
}
