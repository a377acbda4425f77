package exec

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// windowOp computes window functions over rows that come in the order of their
// partitions. It keeps rows until a partition is complete; functions then run
// over one partition after the other, a column each, and the rows go out with
// their results. Rows of a partition that has not ended wait for the next block.
// A partition that is too large for memory goes to disk (bigPartition).
type windowOp struct {
	b    *builder
	node *physical.Window
	in   Operator
	acct account
	sp   *spiller
	size int

	// extra are the expressions that functions read and that are no columns: they
	// follow the input's columns.
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
	big           *bigPartition // goes out before the rows in store
	done          int           // rows of complete partitions
	at            int           // rows that went out
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
	w := &windowOp{b: b, node: x, in: in, acct: b.account(x, "window"), sp: b.spiller(x), size: b.env.batchSize(), nin: len(x.Input.Columns())}
	// Between two calls of Next, functions may be in the middle of the rows.
	w.sp.attach(&w.acct, func() (bool, error) { return false, nil })
	for _, e := range x.PartitionBy {
		w.parts = append(w.parts, keyColumn{w.column(e), b.env.newKeyPart(e.Type())})
	}
	for _, k := range x.OrderBy {
		w.order = append(w.order, keyColumn{w.column(k.Expr), b.env.newKeyPart(k.Expr.Type())})
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
	w.in = sliced(b.ec, in, w.extra)
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
		if w.big != nil {
			out, err := w.big.next()
			if err != nil || out != nil {
				return out, err
			}
			w.big.close()
			w.big = nil
			w.acct.kept(w.held())
		}
		if w.at < w.done {
			return w.emit(), nil
		}
		if w.ended && w.done == w.store.n {
			return nil, nil
		}
		w.carry()
		if err := w.fill(ctx); err != nil {
			return nil, err
		}
		if w.big == nil {
			switch err := w.compute(ctx); {
			case errors.Is(err, errResults):
				if err := w.spillFirst(); err != nil {
					return nil, err
				}
			case err != nil:
				return nil, err
			default:
				continue
			}
		}
		if err := w.big.compute(ctx); err != nil {
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
	w.starts, w.peers = rebase(w.starts, w.done), rebase(w.peers, w.done)
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

// fill reads until a partition is complete, in store or in big.
func (w *windowOp) fill(ctx context.Context) error {
	if w.ended { // a partition before those that are left was spilled
		w.done = w.store.n
		return nil
	}
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
		ok, err := w.acct.room(w.held())
		switch {
		case err != nil:
			return err
		case !ok && len(w.starts) < 2:
			return w.spill(ctx)
		case !ok: // a batch more: its partitions go out next
			w.acct.kept(w.held())
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
	if w.big != nil {
		n += w.big.held()
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
		return p.compare(x, y) == 0
	}
}

// compute runs the functions over the complete partitions. The error is errResults where
// the results need more memory than there is.
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

// emit gives the next complete rows: whole chunks without a copy, else copies.
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
	if w.big != nil {
		w.big.close()
		w.big = nil
	}
	w.acct.close()
	return w.in.Close()
}

// partition is what a function runs over, from its first row to its last.
type partition struct {
	w          *windowOp
	start, end int   // rows of the store
	peers      []int // the rows that begin a group of peers; the first is start
	col        int   // of the results
	// big, when set, has the rows and the results instead: functions write the
	// results in the order of the rows, and look back at the last one only.
	big *bigPartition
}

// result is the vector and the position of a row's result.
func (p *partition) result(n int) (*vec.Vec, int) {
	if p.big != nil {
		return p.big.result(n)
	}
	return p.w.results[n>>chunkBits].Cols[p.col], n & chunkMask
}

// groups calls fn for each group of peers with its number and its rows.
func (p *partition) groups(fn func(g, from, to int) error) error {
	for g, from := 0, p.start; from < p.end; g++ {
		to := p.end
		switch {
		case p.big != nil:
			to = p.big.peers.next(from+1, p.end)
		case g+1 < len(p.peers):
			to = p.peers[g+1]
		}
		if err := fn(g, from, to); err != nil {
			return err
		}
		from = to
	}
	return p.err()
}

// at is the vector and the position of a stored value. They are valid until the
// next call for another row.
func (p *partition) at(col, n int) (*vec.Vec, int) {
	if p.big != nil {
		pg := p.big.page(n)
		return pg.rows.Cols[col], n - pg.first
	}
	return p.w.store.chunks[n>>chunkBits].Cols[col], n & chunkMask
}

// stretch is how many rows from n on are consecutive in the vectors of at.
func (p *partition) stretch(n int) int {
	if p.big != nil {
		pg := p.big.page(n)
		return pg.first + pg.rows.N - n
	}
	return vec.MaxRows - n&chunkMask
}

// set makes the stored value of row from the i-th value of dst. Bytes are
// shared with the store where that lives as long as the results.
func (p *partition) set(dst *vec.Vec, i, col, from int) {
	src, j := p.at(col, from)
	dst.CopyRows(i, src, []uint16{uint16(j)}, p.big != nil, false)
}

// err is the first error of reading and writing a partition on disk.
func (p *partition) err() error {
	if p.big != nil {
		return p.big.err
	}
	return nil
}
