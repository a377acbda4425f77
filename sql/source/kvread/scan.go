package kvread

import (
	"context"
	"errors"
	"slices"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
)

// partition is the exec.Partition of this package.
type partition struct {
	spans   []storage.Span
	widened bool
}

// Close implements exec.Partition.
func (*partition) Close() error { return nil }

// OpenRanges makes the operator of a scan of a key, all of it or ranges of it, of
// what reader shows.
func (s *Reader) OpenRanges(ctx context.Context, ec *expr.Ctx, k *decode.Table, n physical.TableNode, part exec.Partition, limit int64, reader storage.Reader) (exec.Operator, error) {
	if wait, ok := s.locksRanges(n); ok {
		return s.watch(wait, func(ctx context.Context, reader storage.Reader) (exec.Operator, error) {
			return s.openRanges(ctx, ec, k, n, nil, limit, walker{reader: reader, watched: true})
		}), nil
	}
	return s.openRanges(ctx, ec, k, n, part, limit, walker{reader: reader})
}

func (s *Reader) openRanges(ctx context.Context, ec *expr.Ctx, k *decode.Table, n physical.TableNode, part exec.Partition, limit int64, w walker) (exec.Operator, error) {
	leaf := n.Leaf()
	if columns, _, _ := leaf.Access.Skip(); columns > 0 && leaf.Latest && s.state.Txn != nil && !w.watched {
		var err error
		if w.view, err = s.state.Txn.LatestView(ctx); err != nil {
			return nil, err
		}
		w.reader = w.view
	}
	widened, err := s.target(ctx, ec, k, leaf, part, &w)
	if err != nil {
		return nil, errors.Join(err, w.closeView())
	}
	if !widened && w.view == nil {
		return s.open(ctx, ec, k, n, w, limit)
	}
	// A skip scan knows earlier values of the columns that it skips: only the
	// conditions decide whether a row belongs.
	wide, err := recheck(n)
	if err != nil {
		return nil, errors.Join(err, w.closeView())
	}
	op, err := s.open(ctx, ec, k, wide, w, limit)
	return &narrowOp{PassOp: PassOp{op}, cols: len(n.Columns())}, err
}

// OpenKeys makes the operator of n over rows by their keys, or, with nil, over all
// rows, in what the statement reads.
func (s *Reader) OpenKeys(ctx context.Context, ec *expr.Ctx, k *decode.Table, n physical.TableNode, keys [][]byte, limit int64) (exec.Operator, error) {
	w := walker{reader: s.state.Reader, keys: keys}
	if keys == nil {
		space, err := newKeySpace(k.Codec, nil)
		if err != nil {
			return nil, err
		}
		w.spans = []storage.Span{space.whole()}
	}
	return s.open(ctx, ec, k, n, w, limit)
}

// open makes the operator of n over what w walks.
func (s *Reader) open(ctx context.Context, ec *expr.Ctx, k *decode.Table, n physical.TableNode, w walker, limit int64) (exec.Operator, error) {
	leaf := n.Leaf()
	join, _ := n.(*physical.IndexJoin)
	filters := len(leaf.Filter)
	if join != nil {
		filters += len(join.Filter)
	}
	w.opts.Reverse = leaf.Reverse
	if limit > 0 && (filters == 0 || w.watched || s.state.Ranges == decode.AllRanges) { // of which no more is locked than is read
		w.opts.Limit = int(min(limit, 1<<20))
	}
	w.many = len(w.spans) > 1 && w.opts.Limit == 0 && s.state.Store.Caps().Remote
	switch {
	case leaf.Latest:
		return s.newLocked(ctx, ec, k, n, w, limit)
	case join != nil:
		return s.newFetch(ec, k, join, w, limit)
	}
	p, err := k.Plan(leaf.Key().Index, leaf.Read, nil, leaf.Attributes)
	if err != nil {
		return nil, err
	}
	w.opts.KeyOnly = !p.NeedValue
	op := getScan(p)
	op.sieve.SetUp(ec, decode.NewZone(s.state.Loc), leaf.Filter)
	op.pace = decode.NewPace(s.state.BatchSize, limit, filters > 0)
	op.walker.reader, op.walker.spans, op.walker.keys, op.walker.merge, op.walker.opts = w.reader, w.spans, w.keys, w.merge, w.opts
	op.walker.count, op.walker.many = w.count, w.many
	if leaf.Key().Index == nil {
		s.state.Watch(&op.rows, leaf.Table)
	}
	op.walker.reverse()
	return &scanHandle{op}, nil
}

// scanHandle is one use of a pooled scanOp.
type scanHandle struct{ op *scanOp }

var _ exec.Counted = (*scanHandle)(nil)

// Next implements exec.Operator.
func (h *scanHandle) Next(ctx context.Context) (*vec.Batch, error) {
	if h.op == nil {
		return nil, nil
	}
	return h.op.next(ctx)
}

// Counters implements exec.Counted; zero after Close.
func (h *scanHandle) Counters() exec.Counters {
	if h.op == nil {
		return exec.Counters{}
	}
	return h.op.walker.count.Plus(h.op.sieve.Count)
}

// Close implements exec.Operator.
func (h *scanHandle) Close() error {
	op := h.op
	if op == nil {
		return nil
	}
	h.op = nil
	err := op.walker.close()
	putScan(op.sieve.Dec.Plan, op)
	return err
}

// getScan takes an operator that reads by the plan; it was measured to save a
// point read half of its allocations.
func getScan(p *decode.Plan) *scanOp {
	if op, ok := p.Scans.Get().(*scanOp); ok {
		return op
	}
	op := &scanOp{}
	op.sieve.Prepare(p)
	op.walker.visit = op.visit
	return op
}

// putScan gives an operator back, without what belonged to its statement.
// Large batches are left to the garbage collector, as is all memory of byte
// values.
func putScan(p *decode.Plan, op *scanOp) {
	if op.sieve.Batch.N > 64 || op.walker.count.Pairs > 64 {
		return
	}
	op.sieve.Drop()
	w := &op.walker
	w.reader, w.spans, w.keys, w.merge, w.scan, w.next, w.opts, w.many, w.count = nil, nil, nil, nil, nil, 0, storage.ScanOptions{}, false, exec.Counters{}
	op.rows.Of(nil, 0)
	op.err = nil
	p.Scans.Put(op)
}

// target sets the spans or points that n reads. widened: rows in them need not
// satisfy the conditions of its access.
func (s *Reader) target(ctx context.Context, ec *expr.Ctx, k *decode.Table, n *physical.Scan, part exec.Partition, w *walker) (widened bool, err error) {
	if part != nil {
		p, ok := part.(*partition)
		if !ok {
			return false, sqlerr.Internal("partition of another source: %T", part)
		}
		w.spans = p.spans
		w.opts.Cold = n.Access.ReadsAll()
		return p.widened, nil
	}
	key := n.Key()
	space, err := newKeySpace(k.Codec, key.Index)
	if err != nil {
		return false, err
	}
	z := decode.NewZone(s.state.Loc)
	if key.Ranges == nil {
		w.spans = []storage.Span{space.whole()}
		w.opts.Cold = key.Index == nil && n.Limit == nil
	} else {
		list, err := key.Ranges.Spans(ec)
		if err != nil {
			return false, err
		}
		if n.Access.FewKeys() && space.unique {
			if keys, ok := space.points(list, &z); ok {
				w.keys = keys
				return false, nil
			}
		}
		w.spans, widened = space.spans(list, &z)
	}
	columns, following, merge := n.Access.Skip()
	if columns == 0 {
		return widened, nil
	}
	if merge {
		w.merge = &mergeWalk{mem: s.state.Memory}
	}
	wide, err := s.skip(ctx, ec, &space, columns, following, w, &z)
	return widened || wide, err
}

// recheck is n with the conditions of its access as filters, for which it may
// read more columns after those of n.
func recheck(n physical.TableNode) (physical.TableNode, error) {
	leaf, conds := n.Leaf(), n.Leaf().Access.Conds()
	if join, ok := n.(*physical.IndexJoin); ok {
		c := *join
		widen(&c.TableRead, conds)
		return &c, nil
	}
	c := *leaf
	c.Cols = leaf.Cols[:len(leaf.Read):len(leaf.Read)]
	widen(&c.TableRead, conds)
	index := leaf.Key().Index
	if index == nil {
		return &c, nil
	}
	for _, pos := range c.Read[len(leaf.Read):] {
		if !holds(leaf.Table, index, pos) {
			entries := *leaf
			entries.Keys, entries.Read, entries.Filter, entries.Limit = true, nil, nil, nil
			return &physical.IndexJoin{Base: c.Base, TableRead: c.TableRead, Entries: &entries}, nil
		}
	}
	return &c, nil
}

// widen adds conditions over columns of the table to the filter.
func widen(r *physical.TableRead, conds []expr.Expr) {
	r.Read, r.Filter = slices.Clone(r.Read), slices.Clone(r.Filter)
	place := func(pos int) int {
		if i := slices.Index(r.Read, pos); i >= 0 {
			return i
		}
		r.Read = append(r.Read, pos)
		return len(r.Read) - 1
	}
	for _, cond := range conds {
		r.Filter = append(r.Filter, expr.Map(cond, func(e expr.Expr) expr.Expr {
			if col, ok := e.(*expr.Col); ok {
				placed := *col
				placed.Index = place(col.Index)
				return &placed
			}
			return e
		}))
	}
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

// PassOp passes on what an operator below counts.
type PassOp struct{ exec.Operator }

// Uncount implements exec.Limited.
func (o PassOp) Uncount(n int) {
	if in, ok := o.Operator.(exec.Limited); ok {
		in.Uncount(n)
	}
}

// Counters implements exec.Counted.
func (o PassOp) Counters() exec.Counters {
	if in, ok := o.Operator.(exec.Counted); ok {
		return in.Counters()
	}
	return exec.Counters{}
}

// EntryCounters implements exec.EntryCounted.
func (o PassOp) EntryCounters() (int64, exec.Counters) {
	if in, ok := o.Operator.(exec.EntryCounted); ok {
		return in.EntryCounters()
	}
	return 0, exec.Counters{}
}

// narrowOp passes the first columns of its input on.
type narrowOp struct {
	PassOp
	cols int
	out  vec.Batch
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
	sieve  decode.Sieve
	pace   decode.Pace
	rows   metrics.Accesses // what it reads of rows, not of entries
	err    error
}

// visit takes a pair from the walker: sieve.add and the counting of walker.init
// in one call, because every row of a scan makes it.
func (o *scanOp) visit(key, val []byte) bool {
	c, s := &o.walker.count, &o.sieve
	c.Pairs++
	c.Bytes += int64(len(key) + len(val))
	if o.rows.Next() {
		o.rows.Note(key, false)
	}
	if err := s.Dec.Pair(key, val, s.Batch.N); err != nil {
		o.err = err
		return false
	}
	s.Batch.N++
	s.Bytes += len(val)
	return !s.Full()
}

// next is exec.Operator.Next.
func (o *scanOp) next(ctx context.Context) (*vec.Batch, error) {
	for o.pace.Left != 0 && !o.walker.done() {
		size := o.pace.Size()
		if o.walker.keys != nil {
			size = min(size, len(o.walker.keys)-o.walker.next)
		}
		o.sieve.Begin(size)
		if err := o.walker.fill(ctx, size); err != nil {
			return nil, err
		}
		if o.err != nil {
			return nil, o.err
		}
		b, err := o.sieve.Finish(ctx, o.walker.reader)
		if err != nil {
			return nil, err
		}
		if b != nil {
			o.pace.Took(b)
			return b, nil
		}
	}
	return nil, nil
}

// minPartitionBytes is the size from which a scan is worth a split.
const minPartitionBytes = 1 << 20

// Partitions cuts a scan into parts; see exec.Source.
func (s *Reader) Partitions(ctx context.Context, ec *expr.Ctx, t physical.TableNode, parts int) ([]exec.Partition, error) {
	n := t.Leaf()
	if parts < 2 || n.Latest || s.state.Ranges == decode.AllRanges || n.Table.Derived != nil || n.Ordered || n.Distinct || !n.Access.Splits() {
		return nil, nil
	}
	k, err := s.state.Codecs.Table(n.Table)
	if err != nil {
		return nil, err
	}
	w := walker{reader: s.state.Reader}
	widened, err := s.target(ctx, ec, k, n, nil, &w)
	if err != nil {
		return nil, err
	}
	if len(w.spans) == 0 {
		return nil, nil
	}
	// The hull is large enough when its spans are.
	hull := storage.Span{Start: w.spans[0].Start, End: w.spans[len(w.spans)-1].End}
	size, err := s.state.Store.EstimateSize(ctx, hull)
	if err != nil || size < minPartitionBytes {
		return nil, err
	}
	var cut []storage.Span
	if len(w.spans) == 1 {
		cut = s.state.Store.Partitions(ctx, w.spans[0], parts)
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
