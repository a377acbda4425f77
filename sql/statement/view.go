package statement

import (
	"context"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// view is what a statement reads from and, when Txn is set, writes to.
type view struct {
	Reader storage.Reader
	Txn    storage.Txn
	// ranges are the reads that lock ranges of keys.
	ranges decode.Ranges
	// upTo: Reader has all commits up to this time, in microseconds since 1970; 0
	// where that is not known.
	upTo int64
}

// readView takes the view that a query reads: the transaction's, or a
// snapshot of its own in autocommit.
func (s *Statement) readView(ctx context.Context, p *physical.Plan) (view, func(), error) {
	if s.Tx.open != nil {
		if err := s.Tx.lockViews(ctx, p.Views); err != nil {
			return view{}, nil, err
		}
		if err := s.Tx.lockTables(ctx, p.Tables, nil); err != nil {
			return view{}, nil, err
		}
		if err := s.Tx.refreshView(ctx, p.Tables); err != nil {
			return view{}, nil, err
		}
		return view{Reader: s.Tx.open.txn, Txn: s.Tx.open.txn, ranges: s.Tx.ranges(false)}, func() {}, nil
	}
	if p.Locks {
		release, err := s.Tx.lockStatement(ctx, p.Tables, nil)
		if err != nil {
			return view{}, nil, err
		}
		txn, err := s.Tx.newTxn(ctx, false)
		if err != nil {
			release()
			return view{}, nil, err
		}
		return view{Reader: txn, Txn: txn, ranges: s.Tx.ranges(false)}, func() { txn.Rollback(); release() }, nil
	}
	if len(p.Tables) == 0 {
		return view{Reader: s.Engine.Store.Latest()}, func() {}, nil
	}
	unlock := func() {}
	if s.Engine.LockedTables.Load() > 0 { // LOCK TABLES … WRITE holds readers up
		var err error
		if unlock, err = s.Tx.lockStatement(ctx, p.Tables, nil); err != nil {
			return view{}, nil, err
		}
	}
	v := view{}
	var snap storage.Snapshot
	var err error
	if p.AsOf {
		v.upTo = time.Now().UnixMicro()
		snap, err = s.Engine.Store.SnapshotAt(ctx, v.upTo)
	} else {
		snap, err = s.Engine.Store.Snapshot(ctx)
	}
	if err != nil {
		unlock()
		return view{}, nil, Translate(err)
	}
	before := s.Functions.snapshot
	s.Functions.snapshot, v.Reader = snap, snap
	return v, func() { s.Functions.snapshot = before; snap.Close(); unlock() }, nil
}

// refreshView fixes the read view of the open transaction, or moves it forward in
// READ COMMITTED, and checks that it fits the present descriptors of the tables.
func (tx *Transactions) refreshView(ctx context.Context, tables []*schema.Table) error {
	tx.open.txn.SetLockTimeout(tx.vars.LockTimeout) // which may have been set since
	if err := tx.takeView(ctx, tx.isolation() != repeatableRead); err != nil {
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
	memory := s.Engine.Memory.Child(exec.QueryTracker, s.Vars.MemoryLimit)
	s.event.remember(memory)
	return source.Env{
		Store: s.Engine.Store, View: v.Reader, Ranges: v.ranges, UpTo: v.upTo, Txn: v.Txn, Loc: s.Vars.Location, Codecs: s.Engine.Codecs,
		Sequences: s.Engine.Sequences, Virtual: s.virtual, FindStream: s.Engine.FindStream, Search: s.Engine.Search, Eventual: s.Vars.Eventual, BatchSize: s.Vars.BatchSize,
		Memory: memory, Spill: s.Engine.Spill, SpillOver: s.Vars.SpillOver, Usage: &s.event.usage,
		Limits: s.Vars.Limits, Heat: &s.Engine.Metrics.Heat,
	}
}

func (s *Statement) envOver(ctx context.Context, env source.Env, vals []value.Datum) *exec.Env {
	ec := s.exprCtx(ctx, vals)
	env.Expr, env.ShowExpired = ec, s.Vars.ShowExpired
	src := source.New(env)
	parallelism := s.Vars.Parallelism
	if env.Ranges == decode.AllRanges {
		parallelism = 1 // what locks belongs to one goroutine
	}
	return &exec.Env{
		MaxRecursion: &s.Vars.MaxRecursion,
		Source:       src, Sink: src, Ctx: ec, Memory: env.Memory, Remote: s.Engine.Store.Caps().Remote,
		Spill: env.Spill, SpillOver: env.SpillOver, Usage: env.Usage,
		Parallelism: parallelism, BatchSize: s.Vars.BatchSize, FoundRows: s.Info.FoundRows,
		GroupConcatMaxLen: s.Vars.GroupConcatMax,
		LastInsertID:      s.Functions.LastInsertID,
		AutoStep:          s.Vars.Number("auto_increment_increment"),
		AutoOffset:        s.Vars.Number("auto_increment_offset"),
	}
}

// changeEnv is execEnv for a change.
func (s *Statement) changeEnv(ctx context.Context, p *physical.Plan, txn storage.Txn, vals []value.Datum) *exec.Env {
	src := s.sourceEnv(view{Reader: txn, Txn: txn, ranges: s.Tx.ranges(true)})
	src.Sees = s.rights.set.SeesTable
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
