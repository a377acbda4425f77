package exec

import (
	"cmp"
	"container/heap"
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// maxHeap is the number of rows up to which TopK keeps a heap; more rows are
// sorted.
const maxHeap = 16 << 10

// topKOp keeps the first offset+count rows of the order in a heap whose top is
// the last one of them. When they are too large for memory, they and the rest
// of the input are sorted.
type topKOp struct {
	b    *builder
	node *physical.TopK
	in   Operator
	acct account
	enc  sortEncoder
	keys []expr.Expr
	size int
	// total, when set, receives the number of input rows.
	total *int64

	limited Operator // sort and limit, when offset+count is large
	loaded  bool
	rows    []*topRow
	seq     uint64
	at, end int
	held    int64
	out     *vec.Batch
	vecs    []*vec.Vec
	buf     []byte
}

// topRow is a kept row. Its buffers are used again when it is replaced.
type topRow struct {
	key  []byte
	seq  uint64
	vals []value.Datum
}

func (b *builder) topK(x *physical.TopK) (Operator, error) {
	inner := *b
	t := &topKOp{b: b, node: x, acct: b.account(x, "top-k"), size: b.env.batchSize()}
	b.spiller(x).attach(&t.acct, func() (bool, error) { return false, nil })
	if b.limit == x {
		t.total, inner.unlimited = b.total, true
	}
	in, err := inner.input(x.Input)
	if err != nil {
		return nil, err
	}
	t.enc, t.keys = b.env.newSortEncoder(x.Keys)
	t.in = sliced(b.ec, in, t.keys)
	t.out = newOut(kindsOf(x.Input.Columns()))
	return t, nil
}

func (t *topKOp) Next(ctx context.Context) (*vec.Batch, error) {
	if !t.loaded {
		t.loaded = true
		if err := t.load(ctx); err != nil {
			return nil, err
		}
	}
	if t.limited != nil {
		return t.limited.Next(ctx)
	}
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	return t.kept(t.size), nil
}

// Skip implements skipper: a search that gives the first rows of this order.
func (t *topKOp) Skip(ctx context.Context, n uint64) (uint64, error) {
	below := t.node.Input
	if x, ok := below.(*physical.Project); ok { // scores
		below = x.Input
	}
	if _, isScan := below.(*physical.Scan); !isScan {
		return 0, nil
	}
	if in, ok := t.in.(skipper); ok && t.node.Offset == nil && t.total == nil && !t.loaded {
		return in.Skip(ctx, n)
	}
	return 0, nil
}

// errNoRoom is for operators that find on the way that memory is short.
var errNoRoom = errors.New("no room in memory")

// topKRest is the rows of the heap, then the rest of the input.
type topKRest struct {
	*topKOp
	passed int // rows of the heap that were given up
}

// Next implements Operator. Memory is short: it gives few rows at a time, and gives them
// up with the next call.
func (r *topKRest) Next(ctx context.Context) (*vec.Batch, error) {
	for ; r.passed < r.at; r.passed++ {
		r.held -= r.rows[r.passed].size()
		r.rows[r.passed] = nil
	}
	r.acct.must(r.held)
	if b := r.kept(r.fewRows()); b != nil {
		return b, nil
	}
	r.rows = nil
	r.acct.close()
	return r.in.Next(ctx)
}

// fewRows is how many of the next rows have about MinBatch bytes.
func (r *topKRest) fewRows() int {
	n := 0
	for size := int64(0); n < r.size && r.at+n < r.end && size < MinBatch; n++ {
		size += r.rows[r.at+n].size()
	}
	return n
}

// Close implements Operator.
func (r *topKRest) Close() error { return r.in.Close() }

// kept is the next batch of at most size kept rows.
func (t *topKOp) kept(size int) *vec.Batch {
	n := min(size, t.end-t.at)
	if n <= 0 {
		return nil
	}
	t.out.N, t.out.HasSel, t.out.Sel = n, false, nil
	for c, v := range t.out.Cols {
		v.Init(v.Kind, n)
		for i, r := range t.rows[t.at : t.at+n] {
			v.SetDatum(i, r.vals[c])
		}
	}
	t.at += n
	return t.out
}

func (t *topKOp) load(ctx context.Context) error {
	count, err := limitValue(t.b.ec, t.node.Count, noLimit)
	if err != nil {
		return err
	}
	offset, err := limitValue(t.b.ec, t.node.Offset, 0)
	if err != nil {
		return err
	}
	sortAll := func(in Operator) {
		s := t.b.newSort(in, t.node, t.node.Input, t.node.Keys)
		t.limited = &limitOp{ec: t.b.ec, in: s, opened: true, skip: offset, left: count, total: t.total}
	}
	k := offset + count
	if k < count || k > maxHeap {
		sortAll(t.in)
		return nil
	}
	if count == 0 && t.total == nil {
		return nil
	}
	h := (*topHeap)(t)
	err = drain(ctx, t.in, func(b *vec.Batch) error {
		if t.total != nil {
			*t.total += int64(b.Live())
		}
		if k == 0 {
			return nil
		}
		if t.vecs, err = evalAll(t.b.ec, t.keys, b, t.vecs[:0]); err != nil {
			return err
		}
		full := uint64(len(t.rows)) == k
		for _, i := range liveRows(b) {
			if full && t.isAfter(int(i)) {
				t.seq++
				continue
			}
			t.buf = t.enc.append(t.buf[:0], t.vecs, int(i))
			t.seq++
			switch {
			case uint64(len(t.rows)) < k:
				r := &topRow{vals: make([]value.Datum, len(b.Cols))}
				t.set(r, b, int(i))
				heap.Push(h, r)
				full = uint64(len(t.rows)) == k
			case t.enc.compare(t.buf, t.rows[0].key) < 0: // equal ones came first
				t.set(t.rows[0], b, int(i))
				heap.Fix(h, 0)
			}
		}
		release(t.b.ec, t.vecs)
		ok, err := t.acct.room(t.held)
		if err == nil && !ok {
			err = errNoRoom
		}
		return err
	})
	if errors.Is(err, errNoRoom) {
		slices.SortFunc(t.rows, func(a, b *topRow) int { return cmp.Compare(a.seq, b.seq) })
		if t.total != nil {
			*t.total -= int64(len(t.rows)) // they come again
		}
		t.acct.fixed()
		t.acct.must(t.held)
		t.end = len(t.rows)
		sortAll(&topKRest{topKOp: t})
		return nil
	}
	if err != nil {
		return err
	}
	if err := t.in.Close(); err != nil {
		return err
	}
	t.b.env.sorted(len(t.rows))
	slices.SortFunc(t.rows, func(a, b *topRow) int {
		if c := t.enc.compare(a.key, b.key); c != 0 {
			return c
		}
		if a.seq < b.seq {
			return -1
		}
		return 1
	})
	t.at, t.end = int(min(offset, uint64(len(t.rows)))), len(t.rows)
	return nil
}

// isAfter reports that row i comes after all kept rows by its first key, if that
// is a word: nearly all rows of a large input are sorted out here.
func (t *topKOp) isAfter(i int) bool {
	p, v := &t.enc.parts[0], t.vecs[0]
	if vec.ClassOf(p.kind) != vec.ClassWord || t.enc.hasJSON || p.kind == value.KindNull || v.Nulls.IsNull(i) {
		return false
	}
	word, worst, tag := uint64(v.I64[i]), t.rows[0].key, byte(1)
	if p.kind == value.KindInt || p.kind == value.KindDuration {
		word ^= 1 << 63
	}
	if p.desc {
		word, tag = ^word, ^tag
	}
	if !t.enc.notNull[0] {
		if worst[0] != tag {
			return worst[0] < tag
		}
		worst = worst[1:]
	}
	return word > binary.BigEndian.Uint64(worst)
}

// set makes r row i of b, under the key in t.buf.
func (t *topKOp) set(r *topRow, b *vec.Batch, i int) {
	before := int64(0)
	if r.key != nil {
		before = r.size()
	}
	r.key = append(r.key[:0], t.buf...)
	r.seq = t.seq
	for c, v := range b.Cols {
		r.vals[c] = v.Datum(i).Clone()
	}
	t.held += r.size() - before
}

func (r *topRow) size() int64 {
	n := int64(cap(r.key)) + 64 + int64(len(r.vals))*56
	for _, d := range r.vals {
		if k := d.Kind(); k == value.KindBytes || k == value.KindJSON {
			n += int64(len(d.Bytes()))
		}
	}
	return n
}

func (t *topKOp) Close() error {
	t.loaded, t.rows, t.at, t.end = true, nil, 0, 0
	t.acct.close()
	if t.limited != nil {
		return t.limited.Close()
	}
	return t.in.Close()
}

// topHeap has the last of the kept rows on top.
type topHeap topKOp

// Len implements heap.Interface.
func (h *topHeap) Len() int { return len(h.rows) }

// Less implements heap.Interface.
func (h *topHeap) Less(i, j int) bool {
	a, b := h.rows[i], h.rows[j]
	if c := h.enc.compare(a.key, b.key); c != 0 {
		return c > 0
	}
	return a.seq > b.seq
}

// Swap implements heap.Interface.
func (h *topHeap) Swap(i, j int) { h.rows[i], h.rows[j] = h.rows[j], h.rows[i] }

// Push implements heap.Interface.
func (h *topHeap) Push(x any) { h.rows = append(h.rows, x.(*topRow)) }

// Pop implements heap.Interface.
func (h *topHeap) Pop() any {
	last := h.rows[len(h.rows)-1]
	h.rows = h.rows[:len(h.rows)-1]
	return last
}
