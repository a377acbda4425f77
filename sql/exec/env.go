package exec

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
)

// DefaultGroupConcatMaxLen is MySQL's default of group_concat_max_len, bytes.
const DefaultGroupConcatMaxLen = 1024

// Env is what the execution of one statement needs. It belongs to that
// statement: RunQuery, RunChange and BindSubqueries complete Ctx.
type Env struct {
	Source Source
	Sink   Sink // for RunChange
	// Ctx is the evaluation state. Session must be safe for concurrent use
	// when Parallelism is above 1; calls of Warn are serialised by exec.
	Ctx *expr.Ctx
	// Memory is the query's tracker; nil counts and limits nothing.
	Memory *Tracker
	// Spill takes what operators spill when memory is short; without it
	// they end with 3170.
	Spill *spill.Disk
	// SpillOver, when set, makes operators spill as soon as they hold more
	// bytes than that, in small blocks and few partitions (tests).
	SpillOver int64
	// Usage counts what the operators do; may be nil.
	Usage *Usage
	// Remote: a read of the source waits for other machines, whatever its size.
	Remote bool
	// Parallelism is the most goroutines that work on one pipeline; 0 is 1.
	Parallelism int
	// BatchSize is the most rows of the batches that operators make, 1 to
	// vec.MaxRows; 0 is vec.MaxRows.
	BatchSize int
	// Stats collects what EXPLAIN ANALYZE shows; nil collects nothing.
	Stats *Stats
	// FoundRows is CLIENT_FOUND_ROWS: affected rows count matched ones.
	FoundRows bool
	// GroupConcatMaxLen is in bytes; 0 is the default.
	GroupConcatMaxLen int
	// AutoStep and AutoOffset are auto_increment_increment and _offset; 0 is 1.
	AutoStep, AutoOffset uint64
	// LastInsertID is the session's LAST_INSERT_ID(); may be nil.
	LastInsertID func() uint64
	// Cascaded are the tables whose rows a change may change or remove by
	// writing others: they are read again before they are written.
	Cascaded []*schema.Table
	// FoundRowsTotal is set by RunQuery for SQL_CALC_FOUND_ROWS: the rows that
	// there would be without the outermost LIMIT.
	FoundRowsTotal int64

	// Reject, when set, takes the errors of rows that an INSERT cannot store,
	// which then go on with the next row; records are counted from 1. An error
	// of it ends the statement.
	Reject func(record uint64, err *sqlerr.Error) error
	// MaxRecursion is cte_max_recursion_depth; nil is the default.
	MaxRecursion *uint64

	ctes map[*physical.CTE]*cteRun
	// subqueries are those of the plan; nil without any.
	subqueries *subqueries
	stopped    atomic.Pointer[error] // of stop
	warnings   atomic.Int64
	wrapped    bool
	// inline forbids goroutines that read while rows are written.
	inline bool
}

func (env *Env) batchSize() int {
	if env.BatchSize <= 0 || env.BatchSize > vec.MaxRows {
		return vec.MaxRows
	}
	return env.BatchSize
}

func (env *Env) parallelism() int { return max(env.Parallelism, 1) }

func (env *Env) groupConcatMaxLen() int {
	if env.GroupConcatMaxLen <= 0 {
		return DefaultGroupConcatMaxLen
	}
	return env.GroupConcatMaxLen
}

// begin completes Ctx: warnings are counted and serialised, because forked
// contexts warn from several goroutines, and subqueries can run.
func (env *Env) begin(ctx context.Context, plan *physical.Plan, extra []expr.Expr) {
	if !env.wrapped {
		env.wrapped = true
		if warn := env.Ctx.Warn; warn != nil {
			var mu sync.Mutex
			env.Ctx.Warn = func(w sqlerr.Warning) {
				mu.Lock()
				defer mu.Unlock()
				env.warnings.Add(1)
				warn(w)
			}
		}
	}
	if env.Ctx.Context == nil {
		env.Ctx.Context = ctx
	}
	if len(plan.CTEs) > 0 {
		env.ctes = newCTERuns(ctx, env, plan.CTEs)
	}
	if len(plan.Subplans) > 0 {
		env.subqueries = newSubqueries(ctx, env, plan, extra)
		env.Ctx.Subqueries = env.subqueries.rows
	}
}

// BindSubqueries lets expressions that are evaluated with env.Ctx, outside of
// RunQuery and RunChange, run the subqueries of plan. exprs are those
// expressions. What the subqueries hold is given back with env.Memory.
func BindSubqueries(ctx context.Context, env *Env, plan *physical.Plan, exprs ...expr.Expr) {
	env.begin(ctx, plan, exprs)
}

// Build makes the operators of a plan. They read nothing before Next.
func Build(env *Env, node physical.Node) (Operator, error) {
	b := newBuilder(env, env.Ctx)
	return b.build(node)
}

// RunQuery runs a query and calls emit with its batches, which are valid
// during the call. An error of emit ends the query and is returned.
func RunQuery(ctx context.Context, env *Env, plan *physical.Plan, emit func(*vec.Batch) error) (err error) {
	if plan.Change != nil || plan.Root == nil {
		return sqlerr.Internal("the plan is not a query")
	}
	env.begin(ctx, plan, nil)
	b := newBuilder(env, env.Ctx)
	var total *int64
	if plan.CalcFoundRows {
		total = new(int64)
		b.countTotal(plan.Root, total)
	}
	root, err := b.result(plan.Root)
	if err != nil {
		return err
	}
	defer func() {
		if cerr := root.Close(); err == nil {
			err = cerr
		}
	}()
	var sent int64
	err = env.drain(ctx, root, func(out *vec.Batch) error {
		sent += int64(out.Live())
		return emit(out)
	})
	if err != nil {
		return err
	}
	if plan.CalcFoundRows {
		env.FoundRowsTotal = sent
		if b.total != nil {
			env.FoundRowsTotal = *total
		}
	}
	return nil
}

// stop is collate.Stop: it fails once the statement has ended.
func (env *Env) stop(int) error {
	ctx := env.Ctx.Context
	if ctx == nil || ctx.Err() == nil {
		return nil
	}
	err := context.Cause(ctx)
	env.stopped.Store(&err)
	return err
}

// intact is the error of stop, if it was one: long texts were then not read to their
// end, and what operators have computed since is wrong.
func (env *Env) intact() error {
	if err := env.stopped.Load(); err != nil {
		return *err
	}
	return nil
}

// drain pulls op to its end, and gives fn what is computed of whole texts only.
func (env *Env) drain(ctx context.Context, op Operator, fn func(*vec.Batch) error) error {
	err := drain(ctx, op, func(b *vec.Batch) error {
		if err := env.intact(); err != nil {
			return err
		}
		return fn(b)
	})
	if err == nil {
		err = env.intact()
	}
	return err
}

// drain pulls op to its end.
func drain(ctx context.Context, op Operator, fn func(*vec.Batch) error) error {
	for {
		if err := interrupted(ctx); err != nil {
			return err
		}
		b, err := op.Next(ctx)
		if err != nil || b == nil {
			return err
		}
		if err := fn(b); err != nil {
			return err
		}
	}
}

// interrupted is the cause of a context that is done.
func interrupted(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	return nil
}
