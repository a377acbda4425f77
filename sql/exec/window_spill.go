package exec

import (
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// windowPages is how many blocks of a partition on disk are at hand: functions
// read at a few places that move on, the ends of the frame among them.
const windowPages = 8

// bigPartition is a partition on disk: its rows, and for each function its
// results. Of the groups of peers only a bit a row is in memory.
type bigPartition struct {
	w     *windowOp
	file  *spill.File
	rows  *spill.Rows
	n     int
	peers bitSet

	// pages are blocks of rows; hot is the one that was used last.
	pages []*windowPage
	hot   *windowPage
	tick  int
	err   error // the first; functions look at it now and then

	// The results of the function under way from row base on; those before
	// fresh were written. Then the other vector follows.
	results    []*spill.Rows
	buf, other *vec.Vec
	base       int
	fresh      int
	last       int
	bytes      int

	out    *vec.Batch
	reader *spill.Reader
	parts  []*columnReader
}

// windowPage is a block of rows.
type windowPage struct {
	rd    *spill.Reader
	rows  *vec.Batch
	first int
	used  int
}

// spill spills the partition in store and reads it to its end.
func (w *windowOp) spill(ctx context.Context) error {
	f, err := w.sp.begin()
	if err != nil {
		return err
	}
	b := &bigPartition{w: w, file: f, rows: f.NewRows(w.store.kinds, w.sp.block)}
	w.big = b
	if err := b.take(0, w.store.n); err != nil {
		return err
	}
	for len(w.starts) == 0 {
		if err := interrupted(ctx); err != nil {
			return err
		}
		w.acct.kept(w.held())
		in, err := w.in.Next(ctx)
		if err != nil {
			return err
		}
		if in == nil {
			w.ended = true
			if err := w.in.Close(); err != nil {
				return err
			}
			break
		}
		if err := w.add(in); err != nil {
			return err
		}
		end := w.store.n
		if len(w.starts) > 0 {
			end = w.starts[0]
		}
		if err := b.take(1, end); err != nil {
			return err
		}
	}
	if err := b.rows.Finish(); err != nil {
		return err
	}
	w.sp.count()
	if w.ended {
		w.store.reuse()
	}
	w.acct.kept(w.held())
	return nil
}

// errResults says that the results of partitions in memory do not fit there.
var errResults = errors.New("the results of a window need more memory")

// spillFirst spills the first of the complete partitions.
func (w *windowOp) spillFirst() error {
	f, err := w.sp.begin()
	if err != nil {
		return err
	}
	w.results = nil
	w.big = &bigPartition{w: w, file: f, rows: f.NewRows(w.store.kinds, w.sp.block)}
	end := w.done
	if len(w.starts) > 1 {
		end = w.starts[1]
	}
	all := end == w.store.n // and the input has ended
	if err := w.big.take(0, end); err != nil {
		return err
	}
	if all {
		w.store.reuse()
		w.done, w.at = 0, 0
	}
	if err := w.big.rows.Finish(); err != nil {
		return err
	}
	w.sp.count()
	w.acct.kept(w.held())
	return nil
}

// take moves rows of the store to disk. The last of them stays as the store's
// first row, for comparison, unless rows of other partitions follow.
func (b *bigPartition) take(from, to int) error {
	w := b.w
	base := b.n - from // of the store's rows
	for _, p := range w.peers {
		if p >= from && p < to {
			b.peers.set(base + p)
		}
	}
	for n := from; n < to; {
		chunk, i := w.store.chunks[n>>chunkBits], n&chunkMask
		rows := identity[i:min(chunk.N, i+to-n)]
		if err := b.rows.Append(chunk.Cols, rows); err != nil {
			return err
		}
		n += len(rows)
	}
	b.n = base + to
	if to < w.store.n {
		w.done = to
		w.carry()
		return nil
	}
	w.spare.reuse()
	w.spare.add(w.store.chunks[(to-1)>>chunkBits].Cols, []uint16{uint16((to - 1) & chunkMask)})
	w.store, w.spare = w.spare, w.store
	w.spare.chunks, w.spare.size = nil, 0
	w.starts, w.peers = w.starts[:0], w.peers[:0]
	return nil
}

func (b *bigPartition) held() int64 {
	n := b.rows.Held() + int64(cap(b.peers))*8 + heldRows(b.results)
	for _, p := range b.pages {
		n += p.rd.Held()
	}
	for _, v := range []*vec.Vec{b.buf, b.other} {
		if v != nil {
			n += vec.WidthOf(v.Kind) * vec.MaxRows
		}
	}
	return n + int64(b.bytes)
}

// compute runs the functions, a column each.
func (b *bigPartition) compute(ctx context.Context) error {
	w := b.w
	for f, fn := range w.funcs {
		kind := w.out.Cols[w.nin+f].Kind
		b.results = append(b.results, b.file.NewRows([]value.Kind{kind}, w.sp.block))
		b.buf, b.other = vec.New(kind), vec.New(kind)
		b.base, b.fresh, b.last, b.bytes = 0, 0, 0, 0
		w.acct.must(w.held())
		if err := fn.run(ctx, &partition{w: w, end: b.n, col: f, big: b}); err != nil {
			return err
		}
		if b.flush(b.n); b.err != nil {
			return b.err
		}
		if err := b.results[f].Finish(); err != nil {
			return err
		}
		w.sp.count()
	}
	b.buf, b.other, b.pages, b.hot = nil, nil, nil, nil
	w.acct.kept(w.held())
	return nil
}

// page is the block that has row n.
func (b *bigPartition) page(n int) *windowPage {
	if p := b.hot; p != nil && n >= p.first && n < p.first+p.rows.N {
		return p
	}
	if b.tick++; b.hot != nil {
		b.hot.used = b.tick // its vectors may still be at work
	}
	var oldest *windowPage
	for _, p := range b.pages {
		if n >= p.first && n < p.first+p.rows.N {
			b.hot, p.used = p, b.tick
			return p
		}
		if oldest == nil || p.used < oldest.used {
			oldest = p
		}
	}
	if len(b.pages) < windowPages {
		oldest = &windowPage{rd: b.rows.NewReader()}
		b.pages = append(b.pages, oldest)
		defer func() { b.w.acct.must(b.w.held()) }()
	}
	rows, first, err := oldest.rd.Page(int64(n))
	if err != nil {
		b.fail(err)
		return b.nothing(n)
	}
	oldest.rows, oldest.first, oldest.used = rows, int(first), b.tick
	b.hot = oldest
	return oldest
}

// nothing is a page that goes on for a page that cannot be read, until the
// function looks at the error.
func (b *bigPartition) nothing(n int) *windowPage {
	p := &windowPage{rd: b.rows.NewReader(), rows: newOut(b.w.store.kinds), first: n}
	p.rows.N = 1
	for _, v := range p.rows.Cols {
		v.Init(v.Kind, 1)
		v.Nulls.Set(0)
	}
	b.pages, b.hot = []*windowPage{p}, p
	return p
}

func (b *bigPartition) fail(err error) {
	if b.err == nil {
		b.err = err
	}
}

// result is the place for the result of row n. n is the last row of the calls so
// far, the row before it, or a later one.
func (b *bigPartition) result(n int) (*vec.Vec, int) {
	if n > b.last {
		b.last = n
		if i := n - 1 - b.base; i >= b.fresh && i < len(b.buf.Bytes) && !b.buf.Nulls.IsNull(i) {
			b.bytes += len(b.buf.Bytes[i])
		}
		if n-b.base >= vec.MaxRows || b.bytes > spill.DefaultBlock {
			b.flush(n)
		}
	}
	return b.buf, n - b.base
}

// flush writes the results of the rows before n; the last stays at hand.
func (b *bigPartition) flush(n int) {
	rows := identity[b.fresh : n-b.base]
	b.other.Init(b.buf.Kind, vec.MaxRows)
	if b.err == nil { // else the function goes on until it looks at the error
		if err := b.results[len(b.results)-1].Append([]*vec.Vec{b.buf}, rows); err != nil {
			b.fail(err)
		}
		b.other.CopyRows(0, b.buf, []uint16{uint16(n - 1 - b.base)}, true, false)
	}
	b.buf, b.other = b.other, b.buf
	b.base, b.fresh, b.bytes = n-1, 1, 0
}

// next is the next batch of rows with their results; nil at the end.
func (b *bigPartition) next() (*vec.Batch, error) {
	if b.reader == nil {
		b.reader = b.rows.NewReader()
		for _, r := range b.results {
			b.parts = append(b.parts, &columnReader{rd: r.NewReader()})
		}
		b.out = &vec.Batch{}
	}
	in, err := b.reader.Next()
	if err != nil || in == nil {
		return nil, err
	}
	nin := b.w.nin
	if b.out.Cols == nil {
		b.out.Cols = append(slices.Clone(in.Cols[:nin]), b.w.out.Cols[nin:]...)
	}
	copy(b.out.Cols, in.Cols[:nin])
	b.out.N, b.out.HasSel, b.out.Sel = in.N, false, nil
	for f, r := range b.parts {
		if err := r.read(b.out.Cols[nin+f], in.N); err != nil {
			return nil, err
		}
	}
	held := b.held() + b.reader.Held()
	for _, r := range b.parts {
		held += r.rd.Held()
	}
	b.w.acct.must(held)
	return b.out, nil
}

func (b *bigPartition) close() {
	b.rows.Close()
	closeRows(b.results)
}

// columnReader reads a column of one vector in pieces of any size.
type columnReader struct {
	rd *spill.Reader
	in *vec.Batch
	at int
}

func (c *columnReader) read(dst *vec.Vec, n int) (err error) {
	dst.Init(dst.Kind, n)
	for done := 0; done < n; {
		if c.in == nil || c.at == c.in.N {
			if c.in, err = c.rd.Next(); err != nil {
				return err
			}
			c.at = 0
		}
		k := min(n-done, c.in.N-c.at)
		copyRows(dst, done, c.in.Cols[0], identity[c.at:c.at+k], true)
		done, c.at = done+k, c.at+k
	}
	return nil
}

// bitSet is a growing set of numbers.
type bitSet []uint64

func (s *bitSet) set(n int) {
	for n>>6 >= len(*s) {
		*s = append(*s, 0)
	}
	(*s)[n>>6] |= 1 << (n & 63)
}

// next is the least number from n on that is in the set and below end, else
// end.
func (s bitSet) next(n, end int) int {
	for w := n >> 6; w < len(s); w++ {
		word := s[w]
		if w == n>>6 {
			word &^= 1<<(n&63) - 1
		}
		if word != 0 {
			return min(w<<6+bits.TrailingZeros64(word), end)
		}
	}
	return end
}
