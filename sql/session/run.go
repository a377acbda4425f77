package session

import (
	"context"
	"errors"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// errStale ends the try of a plan of which a table or view changed before it
// could run. Nothing was done.
var errStale = errors.New("the plan is stale")

// runPlan executes a plan and writes its result. The plan is made again when
// the schema changed between planning and reading.
func (s *Statement) runPlan(ctx context.Context, c *cachedPlan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) (err error) {
	if s.tx.tableLocks != nil { // of admit, what concerns the fast paths
		if err := s.tx.checkLocked(c.plan.Tables[:c.plan.Named], c.plan.Writes); err != nil {
			return err
		}
	}
	if (c.point != nil || c.page != nil) && s.tx.open == nil && s.tx.nextIsolation == "" && s.tx.nextReadOnly == nil && s.vars.Autocommit && s.engine.LockedTables.Load() == 0 && s.vars.SelectLimit > 0 {
		fast := s.runPoint
		if c.page != nil {
			fast = s.runPage
		}
		if done, err := fast(ctx, c, vals, more, w); done {
			return err
		}
	}
	return s.whileCurrent(ctx, c, vals, func(c *cachedPlan) error {
		if c.plan.Change != nil {
			return s.sendChange(ctx, c, vals, more, w)
		}
		return s.read(ctx, c, vals, func(env *exec.Env) error {
			s.engine.Counters.Selects.Add(1)
			return s.sendRows(ctx, env, c, more, w)
		})
	})
}

// whileCurrent calls run with a plan, and with a new one each time that run
// returns errStale.
func (s *Statement) whileCurrent(ctx context.Context, c *cachedPlan, vals []value.Datum, run func(c *cachedPlan) error) error {
	for try := 0; ; try++ {
		err := run(c)
		if !errors.Is(err, errStale) {
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

// admit does what comes before the run of every plan: the checks of LOCK TABLES,
// safe updates and read-only transactions, and the start of the transaction
// where autocommit is off.
func (s *Statement) admit(p *physical.Plan) error {
	if s.tx.tableLocks != nil {
		if err := s.tx.checkLocked(p.Tables[:p.Named], p.Writes); err != nil {
			return err
		}
	}
	switch {
	case p.Change != nil:
		if err := s.checkSafe(p); err != nil {
			return err
		}
		if err := s.tx.checkReadOnly(p.Writes); err != nil {
			return err
		}
	case p.LocksForUpdate:
		if err := s.tx.checkReadOnly(p.Tables); err != nil {
			return err
		}
	}
	if s.tx.open == nil && !s.vars.Autocommit && len(p.Tables) > 0 {
		return s.tx.begin(s.tx.startsReadOnly())
	}
	return nil
}

// endAutocommit ends what SET TRANSACTION said of the next transaction, after a
// statement that was one. A refused or stale one was none.
func (s *Statement) endAutocommit(p *physical.Plan, err error) {
	if s.tx.open == nil && len(p.Tables) > 0 && !errors.Is(err, sqlerr.ReadOnlyTransaction()) && !errors.Is(err, errStale) {
		s.tx.endCharacteristics()
	}
}

// read runs a query: run pulls the rows of c's plan. errStale: it was not called.
func (s *Statement) read(ctx context.Context, c *cachedPlan, vals []value.Datum, run func(env *exec.Env) error) (err error) {
	if s.tx.nextReadOnly != nil || s.tx.nextIsolation != "" {
		defer func() { s.endAutocommit(c.plan, err) }()
	}
	if err := s.admit(c.plan); err != nil {
		return err
	}
	view, release, err := s.readView(ctx, c.plan)
	if err != nil {
		return err
	}
	defer release()
	if !s.current(c.plan) {
		return errStale
	}
	s.process.Plan.Store(c.plan)
	env := s.execEnv(ctx, view, vals)
	defer env.Memory.Close()
	waited := lockWait(view.Txn)
	err = run(env)
	if s.trace != nil {
		s.trace.locked += lockWait(view.Txn) - waited
	}
	if c.plan.Locks && s.tx.open == nil && err == nil {
		_, err = view.Txn.Commit(ctx)
	}
	return err
}

// change runs a change atomically: in autocommit as a transaction of its own,
// else after a savepoint. errStale: nothing was done.
func (s *Statement) change(ctx context.Context, c *cachedPlan, vals []value.Datum) (r exec.Result, err error) {
	if s.tx.nextReadOnly != nil || s.tx.nextIsolation != "" {
		defer func() { s.endAutocommit(c.plan, err) }()
	}
	if err := s.admit(c.plan); err != nil {
		return r, err
	}
	if s.tx.open == nil {
		release, err := s.tx.lockStatement(ctx, c.plan.Tables, c.plan.Writes)
		if err != nil {
			return r, err
		}
		defer release()
		if !s.current(c.plan) {
			return r, errStale
		}
		return s.changeAndCommit(ctx, c, vals)
	}
	if err := s.tx.lockViews(ctx, c.plan.Views); err != nil {
		return r, err
	}
	if err := s.tx.lockTables(ctx, c.plan.Tables, c.plan.Writes); err != nil {
		return r, err
	}
	if !s.current(c.plan) {
		return r, errStale
	}
	if err := s.tx.refreshView(c.plan.Tables); err != nil {
		return r, err
	}
	return s.changeBehindSavepoint(ctx, c, vals)
}

// changeAndCommit runs a change as a transaction of its own.
func (s *Statement) changeAndCommit(ctx context.Context, c *cachedPlan, vals []value.Datum) (exec.Result, error) {
	txn, err := s.tx.newTxn(false)
	if err != nil {
		return exec.Result{}, err
	}
	defer txn.Rollback()
	r, err := s.runChange(ctx, c, txn, vals)
	if err != nil {
		return exec.Result{}, err
	}
	if _, err := txn.Commit(context.WithoutCancel(ctx)); err != nil {
		r.Returned.Close()
		return exec.Result{}, s.tx.commitFailed(err)
	}
	s.changed(c, r)
	return r, nil
}

// changeBehindSavepoint runs a change in the open transaction; a failure takes
// back what it did.
func (s *Statement) changeBehindSavepoint(ctx context.Context, c *cachedPlan, vals []value.Datum) (exec.Result, error) {
	sp := s.tx.open.txn.Savepoint()
	r, err := s.runChange(ctx, c, s.tx.open.txn, vals)
	if err != nil {
		if rerr := s.tx.open.txn.RollbackTo(sp); rerr != nil {
			s.tx.rollback() // a deadlock: nothing is left to go back to
		} else {
			s.tx.open.txn.Release(sp)
		}
		return exec.Result{}, err
	}
	s.tx.open.txn.Release(sp)
	s.changed(c, r)
	return r, nil
}

func (tx *transactions) commitFailed(err error) error {
	out := translate(err)
	if sqlerr.IsCommitOutcomeUnknown(out) {
		tx.lost = true
	}
	return out
}

func (s *Statement) runChange(ctx context.Context, c *cachedPlan, txn storage.Txn, vals []value.Datum) (exec.Result, error) {
	env := s.changeEnv(ctx, c.plan, txn, vals)
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
	s.process.Plan.Store(c.plan)
	var err error
	env.Reject = c.reject
	waited := lockWait(txn)
	r, err = exec.RunChange(ctx, env, c.plan)
	if s.trace != nil {
		s.trace.locked += lockWait(txn) - waited
	}
	if err == nil && c.also != nil {
		err = c.also(ctx, txn)
	}
	return r, err
}

// changed takes over what a change did to the session's state.
func (s *Statement) changed(c *cachedPlan, r exec.Result) {
	s.fn.rowCount = int64(r.Affected)
	if s.tx.open != nil {
		if t := s.process.Txn.Load(); t != nil {
			t.Rows.Add(s.fn.rowCount)
		}
	}
	if r.GeneratedID != 0 {
		s.fn.mu.Lock()
		s.fn.lastInsertID = r.GeneratedID
		s.fn.mu.Unlock()
	}
	s.fn.applyInsertID()
	switch c.plan.Change.(type) {
	case *physical.Insert:
		s.engine.Counters.Inserts.Add(1)
	case *physical.Update, *physical.MultiUpdate:
		s.engine.Counters.Updates.Add(1)
	case *physical.Delete, *physical.MultiDelete:
		s.engine.Counters.Deletes.Add(1)
	}
	for _, t := range c.plan.Writes {
		s.engine.Stats.Changed(t, int64(r.Affected))
	}
}
