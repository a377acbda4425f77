package exec

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// exchangeCost is the estimated cost, in nanoseconds, from which a pipeline
// is run in parallel.
const exchangeCost = 4e6

// pipelineScan is the scan at the bottom of filters, projections and the probe inputs
// of joins that can be read in partitions without regard to order; nil if n is
// anything else.
func pipelineScan(n physical.Node) physical.TableNode {
	for ; n != nil; n = pipelineInput(n) {
		x, ok := n.(physical.TableNode)
		if !ok {
			continue
		}
		r, s := x.Reads(), x.Leaf()
		if s.Ordered || r.Latest || r.Limit != nil || !r.Lock.None || s.Access.FewKeys() || anyVolatile(r.Filter, s.Filter) {
			return nil
		}
		return x
	}
	return nil
}

// exchangePays reports a pipeline that reads much. What joins make of it must not be so
// many rows that copying them costs as much.
func (b *builder) exchangePays(n physical.Node) bool {
	if pipelineScan(n) == nil {
		return false
	}
	est := n.Est()
	whole := max(est.Cost, b.env.work(n))
	return whole >= exchangeCost && (!hasJoin(n) || est.Rows*perRowCost <= whole)
}

// hasJoin reports joins in a pipeline.
func hasJoin(n physical.Node) bool {
	for ; n != nil; n = pipelineInput(n) {
		switch n.(type) {
		case *physical.HashJoin, *physical.NestedLoop, *physical.LookupJoin:
			return true
		}
	}
	return false
}

// workers runs functions in goroutines under a context of their own. The first
// error cancels the others.
type workers struct {
	cancel context.CancelCauseFunc
	ctx    context.Context
	wg     sync.WaitGroup
	mu     sync.Mutex
	err    error
}

func newWorkers(ctx context.Context) *workers {
	w := &workers{}
	w.ctx, w.cancel = context.WithCancelCause(ctx)
	return w
}

func (w *workers) run(fn func(ctx context.Context) error) {
	w.wg.Add(1)
	go func() {
		defer w.wg.Done()
		err := guard.Run(func() error { return fn(w.ctx) })
		var bug *guard.Panic
		if errors.As(err, &bug) {
			err = fmt.Errorf("%w: %w", sqlerr.Bug(), err)
		}
		if err != nil {
			w.fail(err)
		}
	}()
}

func (w *workers) fail(err error) {
	w.mu.Lock()
	if w.err == nil {
		w.err = err
	}
	w.mu.Unlock()
	w.cancel(err)
}

// wait waits for all and gives the first error.
func (w *workers) wait() error {
	w.wg.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.err
}

// stop ends all workers and waits for them.
func (w *workers) stop() {
	w.cancel(context.Canceled)
	w.wg.Wait()
}

// exchange runs a pipeline over the partitions of its scan and passes copies
// of the batches on, in any order.
type exchange struct {
	b     *builder
	node  physical.Node
	scan  physical.TableNode
	kinds []value.Kind
	picks []columnPick

	serial Operator // when the source does not cut the scan
	joins  *sharedJoins
	opened bool
	parts  []Partition
	w      *workers
	full   chan *vec.Batch
	free   chan *vec.Batch
	last   *vec.Batch
}

func newExchange(b *builder, n physical.Node) *exchange {
	return &exchange{b: b, node: n, scan: pipelineScan(n), kinds: kindsOf(n.Columns())}
}

func (e *exchange) Next(ctx context.Context) (*vec.Batch, error) {
	if !e.opened {
		e.opened = true
		if err := e.open(ctx); err != nil {
			return nil, err
		}
	}
	if e.serial != nil {
		return e.serial.Next(ctx)
	}
	if e.full == nil {
		return nil, nil
	}
	if e.last != nil {
		select {
		case e.free <- e.last:
		default:
		}
		e.last = nil
	}
	select {
	case b, ok := <-e.full:
		if !ok {
			return nil, e.w.wait()
		}
		e.last = b
		return b, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

func (e *exchange) open(ctx context.Context) error {
	parts, err := e.b.env.Source.Partitions(ctx, e.b.ec, e.scan, e.b.env.parallelism(), e.b.env.rowWork(e.node))
	if err != nil {
		return err
	}
	e.parts = parts
	if len(parts) == 0 {
		if e.serial, err = e.b.build(e.node); err == nil {
			pickAll(e.serial, e.picks)
		}
		return err
	}
	if e.joins, err = e.b.shareJoins(ctx, e.node); err != nil {
		return err
	}
	if !e.joins.parallel {
		if e.serial, err = e.joins.b.build(e.node); err == nil {
			pickAll(e.serial, e.picks)
		}
		return err
	}
	e.full = make(chan *vec.Batch, 2*len(parts))
	e.free = make(chan *vec.Batch, 3*len(parts))
	e.w = newWorkers(ctx)
	var running sync.WaitGroup
	for _, part := range parts {
		running.Add(1)
		sub := e.joins.b.fork(part)
		e.w.run(func(ctx context.Context) error {
			defer running.Done()
			return e.produce(ctx, sub)
		})
	}
	e.w.run(func(context.Context) error {
		running.Wait()
		close(e.full)
		return nil
	})
	return nil
}

// produce runs one copy of the pipeline.
func (e *exchange) produce(ctx context.Context, b *builder) error {
	op, err := b.build(e.node)
	if err != nil {
		return err
	}
	defer op.Close()
	pickAll(op, e.picks)
	return drain(ctx, op, func(in *vec.Batch) error {
		var out *vec.Batch
		select {
		case out = <-e.free:
		default:
			out = newOut(e.kinds)
		}
		compact(out, in)
		select {
		case e.full <- out:
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
}

// compact makes out a copy of in's live rows that owns its bytes.
func compact(out, in *vec.Batch) {
	rows := liveRows(in)
	out.N, out.HasSel, out.Sel = len(rows), false, nil
	for c, v := range out.Cols {
		v.Init(v.Kind, len(rows))
		copyRows(v, 0, in.Cols[c], rows, true)
	}
}

func (e *exchange) Close() error {
	e.opened = true
	if e.full != nil {
		e.w.cancel(context.Canceled)
		for range e.full { // until the workers are gone
		}
		e.w.wg.Wait()
		e.full = nil
	}
	err := e.joins.close()
	if e.serial != nil {
		err = errors.Join(err, e.serial.Close())
	}
	parts := e.parts
	e.parts = nil
	return errors.Join(err, closePartitions(parts))
}
