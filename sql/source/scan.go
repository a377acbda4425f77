package source

import (
	"context"
	"errors"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
)

// partition is the exec.Partition of this package.
type partition struct {
	spans   []storage.Span
	widened bool
}

// Scan implements exec.Source.
func (s *Source) Scan(ctx context.Context, ec *expr.Ctx, n *physical.Scan, part exec.Partition) (exec.Operator, error) {
	if n.Kind == physical.AccessNone {
		return emptyOp{}, nil
	}
	limit, err := limitOf(ec, n.Limit)
	if err != nil {
		return nil, err
	}
	if limit == 0 {
		return emptyOp{}, nil
	}
	k, err := s.env.Codecs.get(n.Table)
	if err != nil {
		return nil, err
	}
	if n.Table.Derived == nil {
		return s.scan(ctx, ec, k, n, part, limit, s.env.Reader)
	}
	d, err := s.openDerived(ctx, ec, k, n)
	if err != nil {
		return nil, err
	}
	op, err := s.scan(ctx, ec, k, n, part, limit, d)
	if err != nil {
		return nil, errors.Join(err, d.close())
	}
	return &derivedOp{op, d}, nil
}

// scan is Scan of what reader shows.
func (s *Source) scan(ctx context.Context, ec *expr.Ctx, k *tableCodec, n *physical.Scan, part exec.Partition, limit int64, reader storage.Reader) (exec.Operator, error) {
	if n.Merge != nil {
		return s.openMerge(ctx, ec, k, n, limit)
	}
	if n.Search != nil {
		return s.openSearch(ctx, ec, k, n, limit, reader)
	}
	w := walker{reader: reader}
	if n.Latest && n.Skip != nil && s.env.Txn != nil {
		var err error
		if w.view, err = s.env.Txn.LatestView(); err != nil {
			return nil, err
		}
		w.reader = w.view
	}
	widened, err := s.target(ctx, ec, k, n, part, &w)
	if err != nil {
		return nil, errors.Join(err, w.closeView())
	}
	if n.Loose != nil {
		if widened {
			return nil, internal("a loose scan over more than its spans")
		}
		space, err := newKeySpace(k.Codec, n.Index)
		if err != nil {
			return nil, err
		}
		return s.newLoose(ec, k, n, w, &space)
	}
	if widened || w.view != nil {
		// A skip scan knows the values that it skips as they were: whether a row
		// belongs is told by the conditions alone.
		if n, err = recheck(n); err != nil {
			return nil, errors.Join(err, w.closeView())
		}
		op, err := s.open(ec, k, n, w, limit)
		return &narrowOp{Operator: op, cols: len(n.Cols)}, err
	}
	return s.open(ec, k, n, w, limit)
}

// open makes the operator of n over what w walks.
func (s *Source) open(ec *expr.Ctx, k *tableCodec, n *physical.Scan, w walker, limit int64) (exec.Operator, error) {
	w.opts.Reverse = n.Reverse
	if limit > 0 && len(n.Filter)+len(n.IndexFilter) == 0 {
		w.opts.Limit = int(min(limit, 1<<20))
	}
	switch {
	case n.Latest:
		return s.newLocked(ec, k, n, w, limit)
	case n.Index != nil && n.Lookup:
		return s.newFetch(ec, k, n, w, limit)
	}
	p, err := k.plan(n.Index, n.Read, nil, n.Attributes)
	if err != nil {
		return nil, err
	}
	w.opts.KeyOnly = !p.needValue
	op := p.getScan()
	op.sieve.setUp(ec, newZone(s.env.Loc), n.IndexFilter, n.Filter)
	op.pace = newPace(s.env.BatchSize, limit, len(n.IndexFilter)+len(n.Filter) > 0)
	op.walker.reader, op.walker.spans, op.walker.keys, op.walker.merge, op.walker.opts = w.reader, w.spans, w.keys, w.merge, w.opts
	op.walker.count = w.count
	op.walker.reverse()
	return &scanHandle{op}, nil
}

// scanHandle is one use of a pooled scanOp.
type scanHandle struct{ op *scanOp }

var _ Counted = (*scanHandle)(nil)

// Next implements exec.Operator.
func (h *scanHandle) Next(ctx context.Context) (*vec.Batch, error) {
	if h.op == nil {
		return nil, nil
	}
	return h.op.next(ctx)
}

// Counters implements Counted; zero after Close.
func (h *scanHandle) Counters() Counters {
	if h.op == nil {
		return Counters{}
	}
	return h.op.walker.count.Plus(h.op.sieve.count)
}

// Close implements exec.Operator.
func (h *scanHandle) Close() error {
	op := h.op
	if op == nil {
		return nil
	}
	h.op = nil
	err := op.walker.close()
	op.sieve.dec.plan.putScan(op)
	return err
}

// getScan takes an operator that reads by the plan; it was measured to save a
// point read half of its allocations.
func (p *readPlan) getScan() *scanOp {
	if op, ok := p.scans.Get().(*scanOp); ok {
		return op
	}
	op := &scanOp{}
	op.sieve.prepare(p)
	op.walker.visit = op.visit
	return op
}

// putScan gives an operator back, without what belonged to its statement.
// Large batches are left to the garbage collector, as is all memory of byte
// values.
func (p *readPlan) putScan(op *scanOp) {
	if op.sieve.batch.N > 64 || op.walker.count.Pairs > 64 {
		return
	}
	op.sieve.drop()
	w := &op.walker
	w.reader, w.spans, w.keys, w.merge, w.scan, w.next, w.opts, w.count = nil, nil, nil, nil, nil, 0, storage.ScanOptions{}, Counters{}
	op.err = nil
	p.scans.Put(op)
}

// target sets the spans or points that n reads. widened: rows in them need not
// satisfy the conditions of n.Ranges.
func (s *Source) target(ctx context.Context, ec *expr.Ctx, k *tableCodec, n *physical.Scan, part exec.Partition, w *walker) (widened bool, err error) {
	if part != nil {
		p, ok := part.(*partition)
		if !ok {
			return false, internal("partition of another source: %T", part)
		}
		w.spans = p.spans
		w.opts.Cold = n.Kind == physical.AccessFull
		return p.widened, nil
	}
	space, err := newKeySpace(k.Codec, n.Index)
	if err != nil {
		return false, err
	}
	z := newZone(s.env.Loc)
	if n.Ranges == nil {
		w.spans = []storage.Span{space.whole()}
		w.opts.Cold = n.Index == nil && n.Limit == nil && n.Loose == nil
		if n.Skip != nil {
			widened, err = s.skip(ctx, ec, &space, n, w, &z)
		}
		return widened, err
	}
	list, err := n.Ranges.Spans(ec)
	if err != nil {
		return false, err
	}
	if n.Kind == physical.AccessPoint && space.unique {
		if keys, ok := space.points(list, &z); ok {
			w.keys = keys
			return false, nil
		}
	}
	w.spans, widened = space.spans(list, &z)
	if n.Skip != nil {
		var wide bool
		wide, err = s.skip(ctx, ec, &space, n, w, &z)
		widened = widened || wide
	}
	return widened, err
}

// recheck is n with the conditions of its ranges as filters, for which it may
// read more columns behind those of n.
func recheck(n *physical.Scan) (*physical.Scan, error) {
	c := *n
	c.Read = slices.Clone(n.Read)
	c.Cols = n.Cols[:len(n.Read):len(n.Read)]
	place := func(pos int) int {
		if i := slices.Index(c.Read, pos); i >= 0 {
			return i
		}
		c.Read = append(c.Read, pos)
		return len(c.Read) - 1
	}
	c.Filter = slices.Clone(n.Filter)
	var conds []expr.Expr
	if n.Ranges != nil {
		conds = append(conds, n.Ranges.Conds...)
	}
	if n.Skip != nil {
		conds = append(conds, n.Skip.Conds()...)
	}
	for _, cond := range conds {
		c.Filter = append(c.Filter, expr.Map(cond, func(e expr.Expr) expr.Expr {
			if col, ok := e.(*expr.Col); ok {
				placed := *col
				placed.Index = place(col.Index)
				return &placed
			}
			return e
		}))
	}
	if c.Index == nil || c.Lookup {
		return &c, nil
	}
	for _, pos := range c.Read[len(n.Read):] {
		if !holds(n.Table, n.Index, pos) {
			c.Lookup = true
			c.IndexFilter, c.Filter = nil, append(c.Filter, c.IndexFilter...)
		}
	}
	return &c, nil
}

// holds reports whether entries of x have the column at pos whole.
func holds(t *schema.Table, x *schema.Index, pos int) bool {
	id := t.Columns[pos].ID
	for _, p := range t.EntryParts(x) {
		if p.Column == id && p.Prefix == 0 {
			return true
		}
	}
	return slices.Contains(x.Include, id)
}

// narrowOp passes the first columns of its input on.
type narrowOp struct {
	exec.Operator
	cols int
	out  vec.Batch
}

// Uncount implements exec.Limited.
func (o *narrowOp) Uncount(n int) {
	if in, ok := o.Operator.(exec.Limited); ok {
		in.Uncount(n)
	}
}

// Counters implements Counted.
func (o *narrowOp) Counters() Counters {
	if in, ok := o.Operator.(Counted); ok {
		return in.Counters()
	}
	return Counters{}
}

// Next implements exec.Operator.
func (o *narrowOp) Next(ctx context.Context) (*vec.Batch, error) {
	b, err := o.Operator.Next(ctx)
	if b == nil || err != nil {
		return nil, err
	}
	o.out.N, o.out.HasSel, o.out.Sel, o.out.Cols = b.N, b.HasSel, b.Sel, b.Cols[:o.cols]
	return &o.out, nil
}

// scanOp reads rows, or entries that cover the query.
type scanOp struct {
	walker walker
	sieve  sieve
	pace   pace
	err    error
}

// visit takes a pair from the walker: sieve.add and the counting of
// walker.init in one call, as it is made for every row of a scan.
func (o *scanOp) visit(key, val []byte) bool {
	c, s := &o.walker.count, &o.sieve
	c.Pairs++
	c.Bytes += int64(len(key) + len(val))
	if err := s.dec.pair(key, val, s.batch.N); err != nil {
		o.err = err
		return false
	}
	s.batch.N++
	s.bytes += len(val)
	return !s.full()
}

// next is exec.Operator.Next.
func (o *scanOp) next(ctx context.Context) (*vec.Batch, error) {
	for o.pace.left != 0 && !o.walker.done() {
		size := o.pace.size()
		if o.walker.keys != nil {
			size = min(size, len(o.walker.keys)-o.walker.next)
		}
		o.sieve.begin(size)
		if err := o.walker.fill(ctx, size); err != nil {
			return nil, err
		}
		if o.err != nil {
			return nil, o.err
		}
		b, err := o.sieve.finish(ctx, o.walker.reader)
		if err != nil {
			return nil, err
		}
		if b != nil {
			o.pace.took(b)
			return b, nil
		}
	}
	return nil, nil
}

// minPartitionBytes is the size from which a scan is worth a split.
const minPartitionBytes = 1 << 20

// Partitions implements exec.Source.
func (s *Source) Partitions(ctx context.Context, ec *expr.Ctx, n *physical.Scan, parts int) ([]exec.Partition, error) {
	if parts < 2 || n.Latest || n.Table.Derived != nil || n.Ordered || n.Distinct || n.Kind == physical.AccessPoint || n.Kind == physical.AccessNone || n.Merge != nil || n.Search != nil || n.Loose != nil {
		return nil, nil
	}
	k, err := s.env.Codecs.get(n.Table)
	if err != nil {
		return nil, err
	}
	w := walker{reader: s.env.Reader}
	widened, err := s.target(ctx, ec, k, n, nil, &w)
	if err != nil {
		return nil, err
	}
	if len(w.spans) == 0 {
		return nil, nil
	}
	// The hull is large enough when its spans are.
	hull := storage.Span{Start: w.spans[0].Start, End: w.spans[len(w.spans)-1].End}
	size, err := s.env.Store.EstimateSize(hull)
	if err != nil || size < minPartitionBytes {
		return nil, err
	}
	var cut []storage.Span
	if len(w.spans) == 1 {
		cut = s.env.Store.Partitions(w.spans[0], parts)
		if len(cut) < 2 {
			return nil, nil
		}
		out := make([]exec.Partition, len(cut))
		for i := range cut {
			out[i] = &partition{spans: cut[i : i+1], widened: widened}
		}
		return out, nil
	}
	parts = min(parts, len(w.spans))
	out := make([]exec.Partition, 0, parts)
	for i := range parts {
		out = append(out, &partition{spans: w.spans[i*len(w.spans)/parts : (i+1)*len(w.spans)/parts], widened: widened})
	}
	return out, nil
}
