package exec

import (
	"bytes"
	"context"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// windowOp computes window functions over rows that come in the order of their
// partitions. It keeps rows until a partition is complete; functions then run
// over one partition after the other, a column each, and the rows go out as
// they are kept. Rows of a partition that has not ended wait for the next
// block.
type windowOp struct {
	b    *builder
	node *physical.Window
	in   Operator
	acct account
	size int

	// extra are the expressions that functions read and that are no columns:
	// they are kept behind the input's columns.
	extra []expr.Expr
	nin   int
	parts []keyColumn
	order []keyColumn
	funcs []windowFunc

	store, spare rowStore
	// starts are, of the rows in store, those that begin a partition, and those
	// that begin a group of peers.
	starts, peers []int
	results       []*vec.Batch
	done          int // rows of complete partitions
	at            int // rows that went out
	ended         bool
	out, view     *vec.Batch
	rows          []uint32
	vecs          []*vec.Vec
}

// keyColumn compares a column of the store with itself.
type keyColumn struct {
	col  int
	part keyPart
}

func (b *builder) window(x *physical.Window) (Operator, error) {
	in, err := b.build(x.Input)
	if err != nil {
		return nil, err
	}
	w := &windowOp{b: b, node: x, in: in, acct: b.account(x, "window"), size: b.env.batchSize(), nin: len(x.Input.Columns())}
	for _, e := range x.PartitionBy {
		w.parts = append(w.parts, keyColumn{w.column(e), newKeyPart(e.Type())})
	}
	for _, k := range x.OrderBy {
		w.order = append(w.order, keyColumn{w.column(k.Expr), newKeyPart(k.Expr.Type())})
	}
	kinds := kindsOf(x.Columns())
	for _, f := range x.Funcs {
		fn, err := w.newFunc(f)
		if err != nil {
			in.Close()
			return nil, err
		}
		w.funcs = append(w.funcs, fn)
	}
	stored := append(slices.Clone(kinds[:w.nin]), exprKinds(w.extra)...)
	w.store, w.spare = newRowStore(stored), newRowStore(stored)
	w.out, w.view = newOut(kinds), &vec.Batch{}
	return w, nil
}

// column is the place of e's values in the store.
func (w *windowOp) column(e expr.Expr) int {
	if c, ok := e.(*expr.Col); ok && c.Index >= 0 && c.Index < w.nin {
		return c.Index
	}
	w.extra = append(w.extra, e)
	return w.nin + len(w.extra) - 1
}

func (w *windowOp) columns(list []expr.Expr) []int {
	out := make([]int, len(list))
	for i, e := range list {
		out[i] = w.column(e)
	}
	return out
}

func (w *windowOp) Next(ctx context.Context) (*vec.Batch, error) {
	for {
		if err := interrupted(ctx); err != nil {
			return nil, err
		}
		if w.at < w.done {
			return w.emit(), nil
		}
		if w.ended {
			return nil, nil
		}
		w.carry()
		if err := w.fill(ctx); err != nil {
			return nil, err
		}
		if err := w.compute(ctx); err != nil {
			return nil, err
		}
	}
}

// carry keeps only the rows of the partition that has not ended.
func (w *windowOp) carry() {
	if w.done == 0 {
		return
	}
	w.spare.reuse()
	for n := w.done; n < w.store.n; {
		c, i := n>>chunkBits, n&chunkMask
		chunk := w.store.chunks[c]
		w.spare.add(chunk.Cols, identity[i:chunk.N])
		n += chunk.N - i
	}
	w.store, w.spare = w.spare, w.store
	w.starts, w.peers = append(w.starts[:0], 0), rebase(w.peers, w.done)
	w.done, w.at = 0, 0
}

// rebase drops the numbers below by and counts the others from it.
func rebase(list []int, by int) []int {
	out := list[:0]
	for _, n := range list {
		if n >= by {
			out = append(out, n-by)
		}
	}
	return out
}

// fill reads until a partition is complete.
func (w *windowOp) fill(ctx context.Context) error {
	for len(w.starts) < 2 {
		b, err := w.in.Next(ctx)
		if err != nil {
			return err
		}
		if b == nil {
			w.ended, w.done = true, w.store.n
			return w.in.Close()
		}
		if err := w.add(b); err != nil {
			return err
		}
		if err := w.acct.to(w.held()); err != nil {
			return err
		}
	}
	w.done = w.starts[len(w.starts)-1]
	return nil
}

func (w *windowOp) held() int64 {
	n := w.store.size + w.spare.size + int64(cap(w.starts)+cap(w.peers))*8
	for _, f := range w.node.Funcs {
		n += vec.WidthOf(types.KindOf(f.T)) * int64(w.store.n)
	}
	return n
}

// add stores a batch and finds where partitions and groups of peers begin.
func (w *windowOp) add(b *vec.Batch) error {
	var err error
	if w.vecs, err = evalAll(w.b.ec, w.extra, b, append(w.vecs[:0], b.Cols...)); err != nil {
		return err
	}
	first := w.store.n
	w.store.add(w.vecs, liveRows(b))
	release(w.b.ec, w.vecs[len(b.Cols):])
	for n := first; n < w.store.n; n++ {
		switch {
		case n == 0 || w.differs(w.parts, n):
			w.starts, w.peers = append(w.starts, n), append(w.peers, n)
		case w.differs(w.order, n):
			w.peers = append(w.peers, n)
		}
	}
	return nil
}

// differs reports whether row n differs from the one before it.
func (w *windowOp) differs(keys []keyColumn, n int) bool {
	a, b := w.store.chunks[(n-1)>>chunkBits], w.store.chunks[n>>chunkBits]
	i, j := (n-1)&chunkMask, n&chunkMask
	for k := range keys {
		if !keys[k].part.equal(a.Cols[keys[k].col], i, b.Cols[keys[k].col], j) {
			return true
		}
	}
	return false
}

// equal compares two values of a key; NULL equals NULL.
func (p *keyPart) equal(a *vec.Vec, i int, b *vec.Vec, j int) bool {
	if x, y := a.Nulls.IsNull(i), b.Nulls.IsNull(j); x || y {
		return x && y
	}
	switch vec.ClassOf(p.kind) {
	case vec.ClassWord:
		return a.I64[i] == b.I64[j]
	case vec.ClassFloat:
		return a.F64[i] == b.F64[j]
	case vec.ClassDecimal:
		return a.Dec[i].Cmp(b.Dec[j]) == 0
	}
	switch x, y := a.Bytes[i], b.Bytes[j]; {
	case bytes.Equal(x, y):
		return true
	case p.kind == value.KindJSON:
		return value.JSONCompare(x, y) == 0
	case p.coll == nil:
		return false
	default:
		return p.coll.Compare(x, y) == 0
	}
}

// compute runs the functions over the complete partitions.
func (w *windowOp) compute(ctx context.Context) error {
	for len(w.results) < len(w.store.chunks) {
		w.results = append(w.results, newOut(kindsOf(w.node.Columns()[w.nin:])))
	}
	for c := range w.store.chunks {
		for _, v := range w.results[c].Cols {
			v.Init(v.Kind, vec.MaxRows)
		}
	}
	for f, fn := range w.funcs {
		peer := 0
		for i, start := range w.starts {
			p := partition{w: w, start: start, end: w.done, col: f}
			if i+1 < len(w.starts) {
				p.end = w.starts[i+1]
			}
			if start >= w.done {
				break
			}
			from := peer
			for peer < len(w.peers) && w.peers[peer] < p.end {
				peer++
			}
			p.peers = w.peers[from:peer]
			if err := fn.run(ctx, &p); err != nil {
				return err
			}
		}
	}
	return nil
}

// emit gives the next complete rows: whole chunks as they are, else copies.
func (w *windowOp) emit() *vec.Batch {
	n := min(w.done-w.at, w.size)
	if w.size == vec.MaxRows {
		c := w.at >> chunkBits                              // chunks are emitted whole
		w.view.N, w.view.HasSel, w.view.Sel = n, false, nil // a filter above has set them
		w.view.Cols = append(append(w.view.Cols[:0], w.store.chunks[c].Cols[:w.nin]...), w.results[c].Cols...)
		w.at += n
		return w.view
	}
	w.rows = w.rows[:0]
	for i := range n {
		w.rows = append(w.rows, uint32(w.at+i))
	}
	w.out.HasSel, w.out.Sel, w.out.N = false, nil, n
	for c, v := range w.out.Cols[:w.nin] {
		v.Init(v.Kind, n)
		w.store.gather(c, w.rows, v)
	}
	for f, v := range w.out.Cols[w.nin:] {
		v.Init(v.Kind, n)
		for i := range n {
			at := w.at + i
			v.CopyRow(i, w.results[at>>chunkBits].Cols[f], at&chunkMask)
		}
	}
	w.at += n
	return w.out
}

func (w *windowOp) Close() error {
	w.ended, w.done, w.at = true, 0, 0
	w.store, w.spare, w.results = rowStore{}, rowStore{}, nil
	w.acct.close()
	return w.in.Close()
}

// partition is what a function runs over.
type partition struct {
	w          *windowOp
	start, end int   // rows of the store
	peers      []int // the rows that begin a group of peers; the first is start
	col        int   // of the results
}

// result is the vector and the position of a row's result.
func (p *partition) result(n int) (*vec.Vec, int) {
	return p.w.results[n>>chunkBits].Cols[p.col], n & chunkMask
}

// peerEnd is the end of the group of peers number g.
func (p *partition) peerEnd(g int) int {
	if g+1 < len(p.peers) {
		return p.peers[g+1]
	}
	return p.end
}

// at is the vector and the position of a stored value.
func (p *partition) at(col, n int) (*vec.Vec, int) {
	return p.w.store.chunks[n>>chunkBits].Cols[col], n & chunkMask
}
