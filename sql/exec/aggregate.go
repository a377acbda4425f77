package exec

import (
	"context"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// aggregation is the state of one grouping: the groups with their keys and the
// accumulators.
type aggregation struct {
	env       *Env
	ec        *expr.Ctx
	groupBy   []expr.Expr
	calls     []*expr.Agg
	args      [][]expr.Expr
	mergeable bool

	accs []accumulator
	keys keyTable
	vals rowStore // the groups' values
	n    int

	cols []*vec.Vec
	vecs []*vec.Vec
	ids  []uint32
	one  [1]uint16
}

func newAggregation(env *Env, ec *expr.Ctx, groupBy []expr.Expr, calls []*expr.Agg, mergeable bool) (*aggregation, error) {
	a := &aggregation{env: env, ec: ec, groupBy: groupBy, calls: calls, mergeable: mergeable}
	for _, c := range calls {
		a.args = append(a.args, aggArgs(c))
	}
	return a, a.reset()
}

// reset forgets all groups. Without GROUP BY there is always one.
func (a *aggregation) reset() error {
	a.accs = make([]accumulator, len(a.calls))
	for i, c := range a.calls {
		acc, err := newAccumulator(a.env, a.ec, c, a.mergeable)
		if err != nil {
			return err
		}
		a.accs[i] = acc
	}
	a.n = 0
	if len(a.groupBy) > 0 {
		a.keys = newKeyTable(exprTypes(a.groupBy))
		a.vals = newRowStore(exprKinds(a.groupBy))
	} else {
		a.grow(1)
	}
	return nil
}

func (a *aggregation) grow(n int) {
	a.n = n
	for _, acc := range a.accs {
		acc.grow(n)
	}
}

func (a *aggregation) size() int64 {
	n := a.vals.size + a.keys.size()
	for _, acc := range a.accs {
		n += acc.size()
	}
	return n
}

// consume groups the rows of a batch by hashing.
func (a *aggregation) consume(b *vec.Batch) error {
	rows := liveRows(b)
	var ids []uint32
	if len(a.groupBy) > 0 {
		var err error
		if a.cols, err = evalAll(a.ec, a.groupBy, b, a.cols[:0]); err != nil {
			return err
		}
		a.ids = a.assign(a.cols, rows, a.ids[:0])
		ids = a.ids
		release(a.ec, a.cols)
	}
	return a.fold(b, rows, ids)
}

// assign finds or makes the groups of rows.
func (a *aggregation) assign(cols []*vec.Vec, rows []uint16, ids []uint32) []uint32 {
	ids = a.keys.insert(cols, rows, ids, func(i uint16) {
		a.one[0] = i
		a.vals.add(cols, a.one[:])
	})
	a.grow(int(a.keys.n))
	return ids
}

// fold evaluates the arguments and adds rows to their groups.
func (a *aggregation) fold(b *vec.Batch, rows []uint16, ids []uint32) error {
	for i, acc := range a.accs {
		var err error
		if a.vecs, err = evalAll(a.ec, a.args[i], b, a.vecs[:0]); err != nil {
			return err
		}
		if err := acc.add(a.vecs, rows, ids); err != nil {
			return err
		}
		release(a.ec, a.vecs)
	}
	return nil
}

// merge takes the groups of o over.
func (a *aggregation) merge(o *aggregation) error {
	to := []uint32{0}
	if len(a.groupBy) > 0 {
		to = to[:0]
		for _, chunk := range o.vals.chunks {
			to = a.assign(chunk.Cols, liveRows(chunk), to)
		}
	}
	for i, acc := range a.accs {
		if err := acc.merge(o.accs[i], to); err != nil {
			return err
		}
	}
	return nil
}

// emit writes groups from to from+n to out.
func (a *aggregation) emit(from, n int, out *vec.Batch) error {
	out.N, out.HasSel, out.Sel = n, false, nil
	nkeys := len(a.groupBy)
	if nkeys > 0 {
		rows := make([]uint32, n)
		for i := range rows {
			rows[i] = uint32(from + i)
		}
		for c, v := range out.Cols[:nkeys] {
			v.Init(v.Kind, n)
			a.vals.gather(c, rows, v)
		}
	}
	for c, v := range out.Cols[nkeys:] {
		v.Init(v.Kind, n)
		for i := range n {
			if err := a.accs[c].result(from+i, v, i); err != nil {
				return err
			}
		}
	}
	return nil
}

func aggKinds(groupBy []expr.Expr, calls []*expr.Agg) []value.Kind {
	kinds := exprKinds(groupBy)
	for _, c := range calls {
		kinds = append(kinds, types.KindOf(c.T))
	}
	return kinds
}

// hashAggregateOp reads all input before its first group.
type hashAggregateOp struct {
	b    *builder
	node *physical.HashAggregate
	in   Operator // nil when partitions are read instead
	acct account
	agg  *aggregation
	at   int
	out  *vec.Batch
	done bool
}

func (b *builder) hashAggregate(x *physical.HashAggregate) (Operator, error) {
	op := &hashAggregateOp{b: b, node: x, acct: b.account(x, "hash aggregate"), out: newOut(aggKinds(x.GroupBy, x.Aggs))}
	if x.Parallel > 1 && b.part == nil && b.env.parallelism() > 1 && pipelineScan(x.Input) != nil && canMerge(x.Aggs) {
		return op, nil
	}
	in, err := b.build(x.Input)
	op.in = in
	return op, err
}

// canMerge reports that partial results do not depend on the order of rows.
func canMerge(calls []*expr.Agg) bool {
	for _, c := range calls {
		switch c.Name {
		case "group_concat", "json_arrayagg", "json_objectagg":
			return false
		}
	}
	return true
}

func (h *hashAggregateOp) Next(ctx context.Context) (*vec.Batch, error) {
	if h.done {
		return nil, nil
	}
	if h.agg == nil {
		if err := h.load(ctx); err != nil {
			return nil, err
		}
	}
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	n := min(h.agg.n-h.at, h.b.env.batchSize())
	if n <= 0 {
		return nil, nil
	}
	if err := h.agg.emit(h.at, n, h.out); err != nil {
		return nil, err
	}
	h.at += n
	return h.out, nil
}

func (h *hashAggregateOp) load(ctx context.Context) error {
	var parts []Partition
	if h.in == nil {
		var err error
		n := min(h.node.Parallel, h.b.env.parallelism())
		parts, err = h.b.env.Source.Partitions(ctx, h.b.ec, pipelineScan(h.node.Input), n)
		if err != nil {
			return err
		}
		if len(parts) < 2 {
			if h.in, err = h.b.build(h.node.Input); err != nil {
				return err
			}
		}
	}
	var err error
	if h.agg, err = newAggregation(h.b.env, h.b.ec, h.node.GroupBy, h.node.Aggs, false); err != nil {
		return err
	}
	if h.in == nil {
		return h.loadParallel(ctx, parts)
	}
	if err := consumeAll(ctx, h.in, h.agg, &h.acct); err != nil {
		return err
	}
	return h.in.Close()
}

func consumeAll(ctx context.Context, in Operator, agg *aggregation, acct *account) error {
	return drain(ctx, in, func(b *vec.Batch) error {
		if err := agg.consume(b); err != nil {
			return err
		}
		return acct.to(agg.size())
	})
}

// loadParallel aggregates each partition in a goroutine and merges the groups
// in the order of the partitions, so that the result does not depend on time.
func (h *hashAggregateOp) loadParallel(ctx context.Context, parts []Partition) error {
	w := newWorkers(ctx)
	defer w.stop()
	partial := make([]*aggregation, len(parts))
	accts := make([]account, len(parts))
	defer func() {
		for i := range accts {
			accts[i].close()
		}
	}()
	for i, part := range parts {
		sub := *h.b
		sub.part, sub.ec = part, h.b.ec.Fork()
		accts[i] = h.b.account(h.node, "hash aggregate")
		w.run(func(ctx context.Context) (err error) {
			in, err := sub.build(h.node.Input)
			if err != nil {
				return err
			}
			defer func() {
				if cerr := in.Close(); err == nil {
					err = cerr
				}
			}()
			if partial[i], err = newAggregation(sub.env, sub.ec, h.node.GroupBy, h.node.Aggs, true); err != nil {
				return err
			}
			return consumeAll(ctx, in, partial[i], &accts[i])
		})
	}
	if err := w.wait(); err != nil {
		return err
	}
	for i, p := range partial {
		if err := interrupted(ctx); err != nil {
			return err
		}
		if err := h.agg.merge(p); err != nil {
			return err
		}
		if err := h.acct.to(h.agg.size()); err != nil {
			return err
		}
		partial[i] = nil
		accts[i].close()
	}
	return nil
}

func (h *hashAggregateOp) Close() error {
	h.done, h.agg = true, nil
	h.acct.close()
	if h.in == nil {
		return nil
	}
	return h.in.Close()
}

// streamAggregateOp groups adjacent equal rows. It holds the groups of one
// batch; the last one stays open for the next batch.
type streamAggregateOp struct {
	b    *builder
	node *physical.StreamAggregate
	in   Operator
	acct account
	enc  keyEncoder

	cur       *aggregation
	last, buf []byte // encoded key of the open group
	full      int    // complete groups of cur that are not emitted
	at        int
	ended     bool
	out       *vec.Batch
}

func (b *builder) streamAggregate(x *physical.StreamAggregate) (Operator, error) {
	in, err := b.build(x.Input)
	if err != nil {
		return nil, err
	}
	return &streamAggregateOp{b: b, node: x, in: in, acct: b.account(x, "stream aggregate"), enc: newKeyEncoder(exprTypes(x.GroupBy)),
		out: newOut(aggKinds(x.GroupBy, x.Aggs))}, nil
}

func (s *streamAggregateOp) Next(ctx context.Context) (_ *vec.Batch, err error) {
	if s.cur == nil {
		if s.cur, err = newAggregation(s.b.env, s.b.ec, s.node.GroupBy, s.node.Aggs, true); err != nil {
			return nil, err
		}
	}
	for {
		if s.at < s.full {
			n := min(s.full-s.at, s.b.env.batchSize())
			if err := s.cur.emit(s.at, n, s.out); err != nil {
				return nil, err
			}
			s.at += n
			return s.out, nil
		}
		if s.ended {
			return nil, nil
		}
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		if err := s.carry(); err != nil {
			return nil, err
		}
		b, err := s.in.Next(ctx)
		if err != nil {
			return nil, err
		}
		if b == nil {
			s.ended, s.full = true, s.cur.n
			continue
		}
		if err := s.consume(b); err != nil {
			return nil, err
		}
		if err := s.acct.to(s.cur.size()); err != nil {
			return nil, err
		}
	}
}

// carry drops the emitted groups and keeps the open one.
func (s *streamAggregateOp) carry() (err error) {
	if s.at == 0 || len(s.node.GroupBy) == 0 {
		return nil
	}
	next, err := newAggregation(s.b.env, s.b.ec, s.node.GroupBy, s.node.Aggs, true)
	if err != nil {
		return err
	}
	to := make([]uint32, s.cur.n)
	for i := range to {
		to[i] = none
	}
	to[s.cur.n-1] = 0
	n := s.cur.n - 1
	next.vals.add(s.cur.vals.chunks[n>>chunkBits].Cols, []uint16{uint16(n & chunkMask)})
	next.grow(1)
	for i, acc := range next.accs {
		if err := acc.merge(s.cur.accs[i], to); err != nil {
			return err
		}
	}
	s.cur, s.at, s.full = next, 0, 0
	return nil
}

func (s *streamAggregateOp) consume(b *vec.Batch) error {
	rows := liveRows(b)
	if len(s.node.GroupBy) == 0 {
		return s.cur.fold(b, rows, nil)
	}
	c := s.cur
	var err error
	if c.cols, err = evalAll(c.ec, c.groupBy, b, c.cols[:0]); err != nil {
		return err
	}
	c.ids = c.ids[:0]
	n := c.n
	for _, i := range rows {
		s.buf = s.enc.append(s.buf[:0], c.cols, int(i))
		if n == 0 || string(s.buf) != string(s.last) {
			s.last, s.buf = s.buf, s.last
			c.one[0] = i
			c.vals.add(c.cols, c.one[:])
			n++
		}
		c.ids = append(c.ids, uint32(n-1))
	}
	release(c.ec, c.cols)
	c.grow(n)
	s.full = n - 1
	return c.fold(b, rows, c.ids)
}

func (s *streamAggregateOp) Close() error {
	s.ended, s.full, s.at = true, 0, 0
	s.acct.close()
	return s.in.Close()
}
