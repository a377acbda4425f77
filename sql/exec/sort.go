package exec

import (
	"container/heap"
	"context"
	"encoding/binary"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/vec"
)

// runRows is the length of a sorted run: runs are sorted as rows come, so that
// no step takes long, and merged in the end.
const runRows = 32 << 10

// sortEntry is a row under its key. Rows are numbered as they come, which
// makes the order stable.
type sortEntry struct {
	prefix uint64
	off    uint32 // of the key in the run's arena, behind its length
	row    uint32
}

// sortRun is a sorted run: entries and their keys.
type sortRun struct {
	entries []sortEntry
	arena   []byte
	at      int
}

func (r *sortRun) key(e sortEntry) []byte {
	n := binary.LittleEndian.Uint32(r.arena[e.off:])
	return r.arena[e.off+4:][:n]
}

// sortOp orders all rows.
type sortOp struct {
	ec   *expr.Ctx
	in   Operator
	keys []expr.Expr
	enc  sortEncoder
	acct account
	size int

	store  rowStore
	runs   []*sortRun
	merge  runHeap
	loaded bool
	out    *vec.Batch
	rows   []uint32
	vecs   []*vec.Vec
}

func newSortEncoder(keys []physical.SortKey) (e sortEncoder, exprs []expr.Expr) {
	for _, k := range keys {
		e.addPart(k.Expr, k.Desc)
		exprs = append(exprs, k.Expr)
	}
	return e, exprs
}

func (b *builder) sort(x *physical.Sort) (Operator, error) {
	in, err := b.input(x.Input)
	if err != nil {
		return nil, err
	}
	return b.newSort(in, x, x.Input, x.Keys), nil
}

func (b *builder) newSort(in Operator, node, input physical.Node, keys []physical.SortKey) *sortOp {
	s := &sortOp{ec: b.ec, in: in, acct: b.account(node, "sort"), size: b.env.batchSize()}
	s.enc, s.keys = newSortEncoder(keys)
	kinds := kindsOf(input.Columns())
	s.store, s.out = newRowStore(kinds), newOut(kinds)
	return s
}

func (s *sortOp) Next(ctx context.Context) (*vec.Batch, error) {
	if !s.loaded {
		s.loaded = true
		if err := s.load(ctx); err != nil {
			return nil, err
		}
	}
	if err := interrupted(ctx); err != nil {
		return nil, err
	}
	s.rows = s.rows[:0]
	if len(s.runs) == 1 {
		r := s.runs[0]
		n := min(s.size, len(r.entries)-r.at)
		for _, e := range r.entries[r.at : r.at+n] {
			s.rows = append(s.rows, e.row)
		}
		r.at += n
	} else {
		for len(s.rows) < s.size && len(s.merge.runs) > 0 {
			r := s.merge.runs[0]
			s.rows = append(s.rows, r.entries[r.at].row)
			if r.at++; r.at == len(r.entries) {
				heap.Pop(&s.merge)
			} else {
				heap.Fix(&s.merge, 0)
			}
		}
	}
	if len(s.rows) == 0 {
		return nil, nil
	}
	s.store.gatherAll(s.rows, s.out)
	return s.out, nil
}

func (s *sortOp) load(ctx context.Context) error {
	run := &sortRun{}
	var keyBytes int64
	err := drain(ctx, s.in, func(b *vec.Batch) error {
		var err error
		if s.vecs, err = evalAll(s.ec, s.keys, b, s.vecs[:0]); err != nil {
			return err
		}
		rows := liveRows(b)
		first := s.store.n
		s.store.add(b.Cols, rows)
		for r, i := range rows {
			s.addKey(run, uint32(first+r), int(i))
		}
		release(s.ec, s.vecs)
		if err := s.acct.to(s.store.size + keyBytes + int64(cap(run.arena)+cap(run.entries)*16)); err != nil {
			return err
		}
		if len(run.entries) >= runRows || len(run.arena) > 64<<20 {
			keyBytes += int64(cap(run.arena) + cap(run.entries)*16)
			s.finish(run)
			run = &sortRun{}
		}
		return nil
	})
	if err != nil {
		return err
	}
	if err := s.in.Close(); err != nil {
		return err
	}
	s.finish(run)
	s.merge = runHeap{enc: &s.enc}
	if len(s.runs) > 1 {
		s.merge.runs = slices.Clone(s.runs)
		heap.Init(&s.merge)
	}
	return nil
}

func (s *sortOp) addKey(run *sortRun, row uint32, i int) {
	off := len(run.arena)
	run.arena = append(run.arena, 0, 0, 0, 0)
	run.arena = s.enc.append(run.arena, s.vecs, i)
	key := run.arena[off+4:]
	binary.LittleEndian.PutUint32(run.arena[off:], uint32(len(key)))
	run.entries = append(run.entries, sortEntry{prefix: s.enc.prefix(key), off: uint32(off), row: row})
}

func (s *sortOp) finish(run *sortRun) {
	if len(run.entries) == 0 {
		return
	}
	slices.SortFunc(run.entries, func(a, b sortEntry) int {
		if a.prefix != b.prefix {
			if a.prefix < b.prefix {
				return -1
			}
			return 1
		}
		if c := s.enc.compare(run.key(a), run.key(b)); c != 0 {
			return c
		}
		return int(int64(a.row) - int64(b.row))
	})
	s.runs = append(s.runs, run)
}

func (s *sortOp) Close() error {
	s.loaded, s.runs, s.merge.runs = true, nil, nil
	s.store = rowStore{}
	s.acct.close()
	return s.in.Close()
}

// runHeap has the run with the least next row on top.
type runHeap struct {
	enc  *sortEncoder
	runs []*sortRun
}

// Len implements heap.Interface.
func (h *runHeap) Len() int { return len(h.runs) }

// Less implements heap.Interface.
func (h *runHeap) Less(i, j int) bool {
	a, b := h.runs[i], h.runs[j]
	x, y := a.entries[a.at], b.entries[b.at]
	if x.prefix != y.prefix {
		return x.prefix < y.prefix
	}
	if c := h.enc.compare(a.key(x), b.key(y)); c != 0 {
		return c < 0
	}
	return x.row < y.row
}

// Swap implements heap.Interface.
func (h *runHeap) Swap(i, j int) { h.runs[i], h.runs[j] = h.runs[j], h.runs[i] }

// Push implements heap.Interface.
func (h *runHeap) Push(x any) { h.runs = append(h.runs, x.(*sortRun)) }

// Pop implements heap.Interface.
func (h *runHeap) Pop() any {
	last := h.runs[len(h.runs)-1]
	h.runs = h.runs[:len(h.runs)-1]
	return last
}
