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

func (s *Session) typesEnv() types.Env {
	return types.Env{Mode: s.vars.mode, Loc: s.vars.loc, Now: s.now(), Warn: s.warn,
		MaxAttributes: s.vars.maxAttributes, MaxAttributeSize: s.vars.maxAttributeSize}
}

// exprCtx is the evaluation state of a statement.
func (s *Session) exprCtx(ctx context.Context, vals []value.Datum) *expr.Ctx {
	return &expr.Ctx{Env: s.typesEnv(), Context: ctx, Params: vals, Session: s}
}

// plan makes the plan of a bound statement, with its result header.
func (s *Session) plan(stmt logical.Statement, vals []value.Datum, ptypes []schema.Type) (*cachedPlan, error) {
	opts := s.planOptions(vals)
	p, err := planner.Plan(stmt, opts)
	if err != nil {
		return nil, err
	}
	p.ParamTypes = ptypes
	s.addKeys(p)
	c := &cachedPlan{plan: p, made: time.Now()}
	switch x := stmt.(type) {
	case *logical.Query:
		c.header, c.limited = queryHeader(x), x.Limited
		if s.engine.fastPaths {
			if c.point = s.pointOf(p); c.point == nil {
				c.page = s.pageOf(p)
			}
		}
	default:
		c.header = returningHeader(x)
	}
	if c.point != nil || c.page != nil {
		p.Guards = nil
	}
	if len(p.Guards) > 0 {
		c.sizes = string(s.sizesOf(nil, c, vals))
	}
	return c, nil
}

func (s *Session) planOptions(vals []value.Datum) planner.Options {
	ec := s.exprCtx(context.Background(), vals)
	ec.Warn = nil
	return planner.Options{
		Est: s.engine.stats, Ctx: ec, Bind: &expr.BindEnv{Collation: s.vars.collation, Mode: s.vars.mode},
		TableExprs:  s.engine.codecs.TableExprs,
		Parallelism: s.vars.parallelism, Disabled: s.vars.disabled, Invisible: s.vars.invisible, Check: s.engine.checkPlans,
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
func (s *Session) runPlan(ctx context.Context, c *cachedPlan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) (err error) {
	if s.tableLocks != nil { // of admit, what concerns the fast paths
		if err := s.checkLocked(c.plan.Tables[:c.plan.Named], c.plan.Writes); err != nil {
			return err
		}
	}
	if (c.point != nil || c.page != nil) && s.open == nil && s.nextIsolation == "" && s.nextReadOnly == nil && s.vars.autocommit && s.engine.lockedTables.Load() == 0 && s.vars.selectLimit > 0 {
		fast := s.runPoint
		if c.page != nil {
			fast = s.runPage
		}
		if done, err := fast(ctx, c, vals, more, w); done {
			return err
		}
	}
	return s.whileCurrent(c, vals, func(c *cachedPlan) error {
		if c.plan.Change != nil {
			return s.sendChange(ctx, c, vals, more, w)
		}
		return s.read(ctx, c, vals, func(env *exec.Env) error {
			s.engine.counters.selects.Add(1)
			return s.sendRows(ctx, env, c, more, w)
		})
	})
}

// whileCurrent calls run with a plan, and with a new one each time that run
// returns errStale.
func (s *Session) whileCurrent(c *cachedPlan, vals []value.Datum, run func(c *cachedPlan) error) error {
	for try := 0; ; try++ {
		err := run(c)
		if !errors.Is(err, errStale) {
			return err
		}
		if try == maxReplans {
			return sqlerr.TableChanged()
		}
		if c, err = s.replan(c, vals); err != nil {
			return err
		}
	}
}

// admit does what comes before the run of every plan: the checks of LOCK TABLES,
// safe updates and read-only transactions, and the start of the transaction
// where autocommit is off.
func (s *Session) admit(p *physical.Plan) error {
	if s.tableLocks != nil {
		if err := s.checkLocked(p.Tables[:p.Named], p.Writes); err != nil {
			return err
		}
	}
	switch {
	case p.Change != nil:
		if err := s.checkSafe(p); err != nil {
			return err
		}
		if err := s.checkReadOnly(p.Writes); err != nil {
			return err
		}
	case p.LocksForUpdate:
		if err := s.checkReadOnly(p.Tables); err != nil {
			return err
		}
	}
	if s.open == nil && !s.vars.autocommit && len(p.Tables) > 0 {
		return s.begin(s.startsReadOnly())
	}
	return nil
}

// endAutocommit ends what SET TRANSACTION said of the next transaction, after a
// statement that was one. A refused or stale one was none.
func (s *Session) endAutocommit(p *physical.Plan, err error) {
	if s.open == nil && len(p.Tables) > 0 && !errors.Is(err, sqlerr.ReadOnlyTransaction()) && !errors.Is(err, errStale) {
		s.endCharacteristics()
	}
}

// read runs a query: run pulls the rows of c's plan. errStale: it was not called.
func (s *Session) read(ctx context.Context, c *cachedPlan, vals []value.Datum, run func(env *exec.Env) error) (err error) {
	if s.nextReadOnly != nil || s.nextIsolation != "" {
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
	s.process.plan.Store(c.plan)
	env := s.execEnv(ctx, view, vals)
	defer env.Memory.Close()
	waited := lockWait(view.Txn)
	err = run(env)
	if s.trace != nil {
		s.trace.locked += lockWait(view.Txn) - waited
	}
	if c.plan.Locks && s.open == nil && err == nil {
		_, err = view.Txn.Commit(ctx)
	}
	return err
}

// replan binds and plans the statement of a stale plan again.
func (s *Session) replan(c *cachedPlan, vals []value.Datum) (*cachedPlan, error) {
	if c.rebind == nil {
		return nil, sqlerr.TableChanged()
	}
	bound, err := c.rebind(s)
	if err != nil {
		return nil, err
	}
	n, err := s.plan(bound, vals, c.plan.ParamTypes)
	if err == nil {
		n.rebind = c.rebind
	}
	return n, err
}

// current reports whether all tables of a plan are as they were.
func (s *Session) current(p *physical.Plan) bool {
	return s.currentTables(p.Tables) && s.currentKeys(p) && s.currentViews(p.Views)
}

func (s *Session) currentViews(views []*schema.View) bool {
	snap := s.engine.catalog.Snapshot()
	for _, v := range views {
		if snap.ViewByID(v.ID) != v {
			return false
		}
	}
	return true
}

func (s *Session) currentTables(tables []*schema.Table) bool {
	snap := s.engine.catalog.Snapshot()
	for _, t := range tables {
		if snap.TableByID(t.ID) != t && !s.isTemporary(t) {
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
func (s *Session) readView(ctx context.Context, p *physical.Plan) (view, func(), error) {
	if s.open != nil {
		if err := s.lockViews(ctx, p.Views); err != nil {
			return view{}, nil, err
		}
		if err := s.lockTables(ctx, p.Tables, nil); err != nil {
			return view{}, nil, err
		}
		if err := s.refreshView(p.Tables); err != nil {
			return view{}, nil, err
		}
		return view{Reader: s.open.txn, Txn: s.open.txn}, func() {}, nil
	}
	if p.Locks {
		release, err := s.lockStatement(ctx, p.Tables, nil)
		if err != nil {
			return view{}, nil, err
		}
		txn, err := s.newTxn(false)
		if err != nil {
			release()
			return view{}, nil, err
		}
		return view{Reader: txn, Txn: txn}, func() { txn.Rollback(); release() }, nil
	}
	if len(p.Tables) == 0 {
		return view{Reader: s.engine.store.Latest()}, func() {}, nil
	}
	unlock := func() {}
	if s.engine.lockedTables.Load() > 0 { // LOCK TABLES … WRITE holds readers up
		var err error
		if unlock, err = s.lockStatement(ctx, p.Tables, nil); err != nil {
			return view{}, nil, err
		}
	}
	v := view{}
	var snap storage.Snapshot
	var err error
	if p.AsOf {
		v.upTo = time.Now().UnixMicro()
		snap, err = s.engine.store.SnapshotAt(v.upTo)
	} else {
		snap, err = s.engine.store.Snapshot()
	}
	if err != nil {
		unlock()
		return view{}, nil, translate(err)
	}
	before := s.snapshot
	s.snapshot, v.Reader = snap, snap
	return v, func() { s.snapshot = before; snap.Close(); unlock() }, nil
}

// refreshView fixes the read view of the open transaction, or moves it forward
// in READ COMMITTED, and checks that it shows the tables as they are described
// now.
func (s *Session) refreshView(tables []*schema.Table) error {
	isolation := s.vars.isolation
	if s.nextIsolation != "" {
		isolation = s.nextIsolation
	}
	if err := s.takeView(isolation == "READ-COMMITTED" || isolation == "READ-UNCOMMITTED"); err != nil {
		return err
	}
	if !s.currentTables(tables) {
		return nil // the plan is stale: it is made again
	}
	return s.checkView(tables)
}

// execEnv is the executor's environment of one statement.
func (s *Session) execEnv(ctx context.Context, v view, vals []value.Datum) *exec.Env {
	return s.envOver(ctx, s.sourceEnv(v), vals)
}

func (s *Session) sourceEnv(v view) source.Env {
	return source.Env{
		Store: s.engine.store, Reader: v.Reader, UpTo: v.upTo, Txn: v.Txn, Loc: s.vars.loc, Codecs: s.engine.codecs,
		Sequences: s.engine.sequences, Virtual: s.virtual, FindStream: s.engine.findStream, Search: s.engine.search, Eventual: s.vars.eventual, BatchSize: s.vars.batchSize,
		Memory: s.engine.memory.Child("query", s.vars.memoryLimit),
		Spill:  s.engine.spill, SpillOver: s.vars.spillOver, Spilled: &s.engine.spilled,
		Limits: s.vars.limits,
	}
}

func (s *Session) envOver(ctx context.Context, env source.Env, vals []value.Datum) *exec.Env {
	ec := s.exprCtx(ctx, vals)
	env.Expr, env.ShowExpired = ec, s.vars.showExpired
	src := source.New(env)
	var stats *exec.Stats
	if s.trace != nil {
		stats = s.trace.stats
	}
	return &exec.Env{
		Stats:        stats,
		MaxRecursion: &s.vars.maxRecursion,
		Source:       src, Sink: src, Ctx: ec, Memory: env.Memory,
		Spill: env.Spill, SpillOver: env.SpillOver, Spilled: env.Spilled,
		Parallelism: s.vars.parallelism, BatchSize: s.vars.batchSize, FoundRows: s.info.FoundRows,
		GroupConcatMaxLen: s.vars.groupConcatMax,
		LastInsertID:      s.LastInsertID,
	}
}

// sendRows runs a query and writes its rows.
func (s *Session) sendRows(ctx context.Context, env *exec.Env, c *cachedPlan, more bool, w mysqlwire.ResultWriter) error {
	var sent int64
	started := false
	limit := s.vars.selectLimit
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
	s.foundRows, s.rowCount = sent, -1
	if env.FoundRowsTotal > 0 {
		s.foundRows = env.FoundRowsTotal
	}
	s.applyInsertID()
	s.sent(sent)
	return w.End(mysqlwire.End{Warnings: s.warningCount - s.shownCount, More: more})
}

// applyInsertID takes over what LAST_INSERT_ID(expr) set.
func (s *Session) applyInsertID() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.newInsertID != nil {
		s.lastInsertID, s.newInsertID = *s.newInsertID, nil
	}
}

// sendChange runs INSERT, UPDATE and DELETE and writes the result.
func (s *Session) sendChange(ctx context.Context, c *cachedPlan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error {
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
func (s *Session) sendReturned(ctx context.Context, c *cachedPlan, r *exec.Returned, more bool, w mysqlwire.ResultWriter) error {
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
	s.rowCount = -1
	s.sent(sent)
	return w.End(mysqlwire.End{Warnings: s.warningCount, More: more})
}

// change runs a change atomically: in autocommit as a transaction of its own,
// else after a savepoint. errStale: nothing was done.
func (s *Session) change(ctx context.Context, c *cachedPlan, vals []value.Datum) (r exec.Result, err error) {
	if s.nextReadOnly != nil || s.nextIsolation != "" {
		defer func() { s.endAutocommit(c.plan, err) }()
	}
	if err := s.admit(c.plan); err != nil {
		return r, err
	}
	if s.open == nil {
		release, err := s.lockStatement(ctx, c.plan.Tables, c.plan.Writes)
		if err != nil {
			return r, err
		}
		defer release()
		if !s.current(c.plan) {
			return r, errStale
		}
		return s.changeAndCommit(ctx, c, vals)
	}
	if err := s.lockViews(ctx, c.plan.Views); err != nil {
		return r, err
	}
	if err := s.lockTables(ctx, c.plan.Tables, c.plan.Writes); err != nil {
		return r, err
	}
	if !s.current(c.plan) {
		return r, errStale
	}
	if err := s.refreshView(c.plan.Tables); err != nil {
		return r, err
	}
	return s.changeBehindSavepoint(ctx, c, vals)
}

// changeAndCommit runs a change as a transaction of its own.
func (s *Session) changeAndCommit(ctx context.Context, c *cachedPlan, vals []value.Datum) (exec.Result, error) {
	txn, err := s.newTxn(false)
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
		return exec.Result{}, s.commitFailed(err)
	}
	s.changed(c, r)
	return r, nil
}

// changeBehindSavepoint runs a change in the open transaction; a failure takes
// back what it did.
func (s *Session) changeBehindSavepoint(ctx context.Context, c *cachedPlan, vals []value.Datum) (exec.Result, error) {
	sp := s.open.txn.Savepoint()
	r, err := s.runChange(ctx, c, s.open.txn, vals)
	if err != nil {
		if rerr := s.open.txn.RollbackTo(sp); rerr != nil {
			s.rollback() // a deadlock: nothing is left to go back to
		} else {
			s.open.txn.Release(sp)
		}
		return exec.Result{}, err
	}
	s.open.txn.Release(sp)
	s.changed(c, r)
	return r, nil
}

func (s *Session) commitFailed(err error) error {
	out := translate(err)
	if sqlerr.IsCommitOutcomeUnknown(out) {
		s.lost = true
	}
	return out
}

func (s *Session) runChange(ctx context.Context, c *cachedPlan, txn storage.Txn, vals []value.Datum) (exec.Result, error) {
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
	s.process.plan.Store(c.plan)
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
func (s *Session) changed(c *cachedPlan, r exec.Result) {
	s.rowCount = int64(r.Affected)
	if s.open != nil {
		if t := s.process.txn.Load(); t != nil {
			t.rows.Add(s.rowCount)
		}
	}
	if r.GeneratedID != 0 {
		s.mu.Lock()
		s.lastInsertID = r.GeneratedID
		s.mu.Unlock()
	}
	s.applyInsertID()
	switch c.plan.Change.(type) {
	case *physical.Insert:
		s.engine.counters.inserts.Add(1)
	case *physical.Update, *physical.MultiUpdate:
		s.engine.counters.updates.Add(1)
	case *physical.Delete, *physical.MultiDelete:
		s.engine.counters.deletes.Add(1)
	}
	for _, t := range c.plan.Writes {
		s.engine.stats.Changed(t, int64(r.Affected))
	}
}
