package session

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

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

// changeEnv is execEnv for a change.
func (s *Statement) changeEnv(ctx context.Context, p *physical.Plan, txn storage.Txn, vals []value.Datum) *exec.Env {
	src := s.sourceEnv(view{Reader: txn, Txn: txn})
	if s.foreignKeyChecks() {
		src.Keys, src.Undo = p.Keys, ignores(p)
	}
	env := s.envOver(ctx, src, vals)
	env.Ctx.Write = true
	env.Ctx.Restoring = s.restoring()
	if src.Keys != nil {
		env.Cascaded = src.Keys.Cascaded
	}
	return env
}
