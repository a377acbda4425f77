package session

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// maxReplans bounds how often a statement is planned again because a schema
// change overtook it.
const maxReplans = 10

func (cn *Connection) typesEnv() types.Env {
	return types.Env{Mode: cn.vars.Mode, Loc: cn.vars.Location, Now: cn.now(), Warn: cn.diag.warn,
		MaxAttributes: cn.vars.MaxAttributes, MaxAttributeSize: cn.vars.MaxAttributeSize}
}

// exprCtx is the evaluation state of a statement.
func (cn *Connection) exprCtx(ctx context.Context, vals []value.Datum) *expr.Ctx {
	return &expr.Ctx{Env: cn.typesEnv(), Context: ctx, Params: vals, Session: cn.fn}
}

// plan makes the plan of a bound statement, with its result header.
func (cn *Connection) plan(ctx context.Context, stmt logical.Statement, vals []value.Datum, ptypes []schema.Type) (*cachedPlan, error) {
	opts := cn.planOptions(ctx, vals)
	p, err := planner.Plan(ctx, stmt, opts)
	if err != nil {
		return nil, err
	}
	p.ParamTypes = ptypes
	cn.addKeys(p)
	c := &cachedPlan{plan: p, made: time.Now()}
	switch x := stmt.(type) {
	case *logical.Query:
		c.header, c.limited = queryHeader(x), x.Limited
		if cn.engine.FastPaths {
			if c.point = cn.pointOf(p); c.point == nil {
				c.page = cn.pageOf(p)
			}
		}
	default:
		c.header = returningHeader(x)
	}
	if c.point != nil || c.page != nil {
		p.Guards = nil
	}
	if len(p.Guards) > 0 {
		c.sizes = string(cn.sizesOf(ctx, nil, c, vals))
		if ctx.Err() != nil { // they may be wrong
			return nil, context.Cause(ctx)
		}
	}
	return c, nil
}

func (cn *Connection) planOptions(ctx context.Context, vals []value.Datum) planner.Options {
	ec := cn.exprCtx(ctx, vals)
	ec.Warn = nil
	return planner.Options{
		Est: cn.engine.Stats, Ctx: ec, Bind: &expr.BindEnv{Collation: cn.vars.Collation, Mode: cn.vars.Mode},
		TableExprs:  cn.engine.Codecs.TableExprs,
		Parallelism: cn.vars.Parallelism, Disabled: cn.vars.Disabled, Invisible: cn.vars.Invisible, Check: cn.engine.CheckPlans,
	}
}

// queryHeader describes the result of a query to clients.
func queryHeader(q *logical.Query) *mysqlwire.Header {
	return headerOf(q.Root.Columns(), outputs(q.Root))
}

// returningHeader describes the rows of RETURNING; nil without.
func returningHeader(stmt logical.Statement) *mysqlwire.Header {
	var r *logical.Returning
	switch x := stmt.(type) {
	case *logical.Insert:
		r = x.Returning
	case *logical.Delete:
		r = x.Returning
	}
	if r == nil {
		return nil
	}
	return headerOf(r.Cols, r.Exprs)
}

func headerOf(cols []logical.Column, exprs []expr.Expr) *mysqlwire.Header {
	out := make([]mysqlwire.Column, len(cols))
	for i, c := range cols {
		out[i] = mysqlwire.Column{Database: c.DB, Table: c.Table, OrgTable: c.OrgTable, Name: c.Name, OrgName: c.OrgName, Type: c.T, NotNull: !c.Null, Role: c.Role}
	}
	for i, e := range exprs {
		if expr.IsDecimalVar(e) {
			out[i].Type.Scale = schema.UnspecifiedLength
		}
	}
	return mysqlwire.NewHeader(out)
}

// outputs are the expressions of a select list.
func outputs(n logical.Node) []expr.Expr {
	switch x := n.(type) {
	case *logical.Project:
		return x.Exprs
	case *logical.Limit:
		return outputs(x.Input)
	case *logical.Distinct:
		return outputs(x.Input)
	case *logical.Sort:
		return outputs(x.Input)
	}
	return nil
}

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

// replan binds and plans the statement of a stale plan again.
func (cn *Connection) replan(ctx context.Context, c *cachedPlan, vals []value.Datum) (*cachedPlan, error) {
	if c.rebind == nil {
		return nil, sqlerr.TableChanged()
	}
	bound, err := c.rebind(cn)
	if err != nil {
		return nil, err
	}
	n, err := cn.plan(ctx, bound, vals, c.plan.ParamTypes)
	if err == nil {
		n.rebind = c.rebind
	}
	return n, err
}

// current reports whether all tables of a plan are as they were.
func (cn *Connection) current(p *physical.Plan) bool {
	return cn.tx.currentTables(p.Tables) && cn.currentKeys(p) && cn.currentViews(p.Views)
}

func (cn *Connection) currentViews(views []*schema.View) bool {
	snap := cn.engine.Catalog.Snapshot()
	for _, v := range views {
		if snap.ViewByID(v.ID) != v {
			return false
		}
	}
	return true
}

func (tx *transactions) currentTables(tables []*schema.Table) bool {
	snap := tx.engine.Catalog.Snapshot()
	for _, t := range tables {
		if snap.TableByID(t.ID) != t && !tx.temps.isTemporary(t) {
			return false
		}
	}
	return true
}

// view is what a statement reads from and, when Txn is set, writes to.
type view struct {
	Reader storage.Reader
	Txn    storage.Txn
	// upTo: Reader has all commits up to this time, in microseconds since 1970; 0
	// where that is not known.
	upTo int64
}

// readView takes the view that a query reads: the transaction's, or a
// snapshot of its own in autocommit.
func (s *Statement) readView(ctx context.Context, p *physical.Plan) (view, func(), error) {
	if s.tx.open != nil {
		if err := s.tx.lockViews(ctx, p.Views); err != nil {
			return view{}, nil, err
		}
		if err := s.tx.lockTables(ctx, p.Tables, nil); err != nil {
			return view{}, nil, err
		}
		if err := s.tx.refreshView(p.Tables); err != nil {
			return view{}, nil, err
		}
		return view{Reader: s.tx.open.txn, Txn: s.tx.open.txn}, func() {}, nil
	}
	if p.Locks {
		release, err := s.tx.lockStatement(ctx, p.Tables, nil)
		if err != nil {
			return view{}, nil, err
		}
		txn, err := s.tx.newTxn(false)
		if err != nil {
			release()
			return view{}, nil, err
		}
		return view{Reader: txn, Txn: txn}, func() { txn.Rollback(); release() }, nil
	}
	if len(p.Tables) == 0 {
		return view{Reader: s.engine.Store.Latest()}, func() {}, nil
	}
	unlock := func() {}
	if s.engine.LockedTables.Load() > 0 { // LOCK TABLES … WRITE holds readers up
		var err error
		if unlock, err = s.tx.lockStatement(ctx, p.Tables, nil); err != nil {
			return view{}, nil, err
		}
	}
	v := view{}
	var snap storage.Snapshot
	var err error
	if p.AsOf {
		v.upTo = time.Now().UnixMicro()
		snap, err = s.engine.Store.SnapshotAt(v.upTo)
	} else {
		snap, err = s.engine.Store.Snapshot()
	}
	if err != nil {
		unlock()
		return view{}, nil, translate(err)
	}
	before := s.fn.snapshot
	s.fn.snapshot, v.Reader = snap, snap
	return v, func() { s.fn.snapshot = before; snap.Close(); unlock() }, nil
}

// refreshView fixes the read view of the open transaction, or moves it forward
// in READ COMMITTED, and checks that it shows the tables as they are described
// now.
func (tx *transactions) refreshView(tables []*schema.Table) error {
	isolation := tx.vars.Isolation
	if tx.nextIsolation != "" {
		isolation = tx.nextIsolation
	}
	if err := tx.takeView(isolation == "READ-COMMITTED" || isolation == "READ-UNCOMMITTED"); err != nil {
		return err
	}
	if !tx.currentTables(tables) {
		return nil // the plan is stale: it is made again
	}
	return tx.checkView(tables)
}

// execEnv is the executor's environment of one statement.
func (s *Statement) execEnv(ctx context.Context, v view, vals []value.Datum) *exec.Env {
	return s.envOver(ctx, s.sourceEnv(v), vals)
}

func (s *Statement) sourceEnv(v view) source.Env {
	return source.Env{
		Store: s.engine.Store, Reader: v.Reader, UpTo: v.upTo, Txn: v.Txn, Loc: s.vars.Location, Codecs: s.engine.Codecs,
		Sequences: s.engine.Sequences, Virtual: s.virtual, FindStream: s.engine.FindStream, Search: s.engine.Search, Eventual: s.vars.Eventual, BatchSize: s.vars.BatchSize,
		Memory: s.engine.Memory.Child("query", s.vars.MemoryLimit),
		Spill:  s.engine.Spill, SpillOver: s.vars.SpillOver, Spilled: &s.engine.Spilled,
		Limits: s.vars.Limits,
	}
}

func (s *Statement) envOver(ctx context.Context, env source.Env, vals []value.Datum) *exec.Env {
	ec := s.exprCtx(ctx, vals)
	env.Expr, env.ShowExpired = ec, s.vars.ShowExpired
	src := source.New(env)
	var stats *exec.Stats
	if s.trace != nil {
		stats = s.trace.stats
	}
	return &exec.Env{
		Stats:        stats,
		MaxRecursion: &s.vars.MaxRecursion,
		Source:       src, Sink: src, Ctx: ec, Memory: env.Memory,
		Spill: env.Spill, SpillOver: env.SpillOver, Spilled: env.Spilled,
		Parallelism: s.vars.Parallelism, BatchSize: s.vars.BatchSize, FoundRows: s.info.FoundRows,
		GroupConcatMaxLen: s.vars.GroupConcatMax,
		LastInsertID:      s.fn.LastInsertID,
	}
}

// sendRows runs a query and writes its rows.
func (s *Statement) sendRows(ctx context.Context, env *exec.Env, c *cachedPlan, more bool, w mysqlwire.ResultWriter) error {
	var sent int64
	started := false
	limit := s.vars.SelectLimit
	if c.limited {
		limit = math.MaxUint64
	}
	err := exec.RunQuery(ctx, env, c.plan, func(b *vec.Batch) error {
		if !started {
			started = true
			if err := w.Header(c.header); err != nil {
				return err
			}
		}
		if uint64(sent)+uint64(b.Live()) > limit {
			b.Truncate(int(limit - uint64(sent)))
		}
		sent += int64(b.Live())
		return w.Batch(b)
	})
	if err != nil {
		return err
	}
	if !started {
		if err := w.Header(c.header); err != nil {
			return err
		}
	}
	s.fn.foundRows, s.fn.rowCount = sent, -1
	if env.FoundRowsTotal > 0 {
		s.fn.foundRows = env.FoundRowsTotal
	}
	s.fn.applyInsertID()
	s.sent(sent)
	return w.End(mysqlwire.End{Warnings: s.diag.warningCount - s.diag.shownCount, More: more})
}

// applyInsertID takes over what LAST_INSERT_ID(expr) set.
func (f *functions) applyInsertID() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.newInsertID != nil {
		f.lastInsertID, f.newInsertID = *f.newInsertID, nil
	}
}

// sendChange runs INSERT, UPDATE and DELETE and writes the result.
func (s *Statement) sendChange(ctx context.Context, c *cachedPlan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error {
	result, err := s.change(ctx, c, vals)
	if err != nil {
		return err
	}
	if result.Returned != nil {
		return s.sendReturned(ctx, c, result.Returned, more, w)
	}
	return s.ok(w, mysqlwire.OK{AffectedRows: result.Affected, LastInsertID: result.InsertID, Info: result.Info}, more)
}

// sendReturned writes the rows of RETURNING.
func (s *Statement) sendReturned(ctx context.Context, c *cachedPlan, r *exec.Returned, more bool, w mysqlwire.ResultWriter) error {
	defer r.Close()
	if err := w.Header(c.header); err != nil {
		return err
	}
	var sent int64
	err := r.Send(ctx, func(b *vec.Batch) error {
		sent += int64(b.Live())
		return w.Batch(b)
	})
	if err != nil {
		return err
	}
	s.fn.rowCount = -1
	s.sent(sent)
	return w.End(mysqlwire.End{Warnings: s.diag.warningCount, More: more})
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
