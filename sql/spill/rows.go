package spill

import (
	"slices"
	"sort"
	"sync"

	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// DefaultBlock is the size in bytes, before compression, of the blocks of Rows if
// NewRows is given none.
const DefaultBlock = 64 << 10

// Rows is a sequence of rows in a file: rows are appended, and read by Readers
// after Flush or Finish. Rows belongs to one goroutine while it is written.
type Rows struct {
	f     *File
	kinds []value.Kind
	// target are the bytes of a block.
	target int64
	width  int64
	blocks []piece
	n      int64
	size   int64
	// largest are the bytes of the largest block before compression.
	largest int64

	buf      *vec.Batch
	bufBytes int64
	done     bool
}

// writer has what it takes to write a block. One serves many Rows, of which most hold a
// part of a block for long.
type writer struct {
	encoder
	r      *Rows
	sealed []byte
}

var writers = sync.Pool{New: func() any {
	w := &writer{}
	w.encoder.put = w.put
	return w
}}

// piece is a part of a block in the file: where it starts, the number of the block's
// first row, which all of its pieces have, and the bytes in the file and in the body.
type piece struct {
	at    int64
	first int64
	len   uint32
	body  uint32
}

// largeBlock are the bytes of a block whose memory a reader does not keep for small ones.
const largeBlock = 1 << 20

// rowsOverhead are the bytes in memory of Rows that hold no buffer.
const rowsOverhead = 256

// NewRows begins a sequence of rows in f, with blocks of about the given size
// in bytes (0 for DefaultBlock). The file stays until Close.
func (f *File) NewRows(kinds []value.Kind, blockBytes int) *Rows {
	if blockBytes <= 0 {
		blockBytes = DefaultBlock
	}
	f.refs.Add(1)
	r := &Rows{f: f, kinds: kinds, target: int64(blockBytes)}
	for _, k := range kinds {
		r.width += vec.WidthOf(k)
	}
	return r
}

// Kinds are the kinds of the columns.
func (r *Rows) Kinds() []value.Kind { return r.kinds }

// Len is the number of rows.
func (r *Rows) Len() int64 { return r.n }

// Size is about the number of bytes that the rows take in memory, as columns.
func (r *Rows) Size() int64 { return r.size }

// LargestBlock are the bytes of the largest block: a reader holds that many, and a piece.
func (r *Rows) LargestBlock() int64 { return r.largest }

// Held is about the number of bytes that r holds in memory now.
func (r *Rows) Held() int64 {
	n := int64(cap(r.blocks))*24 + rowsOverhead
	if r.buf != nil {
		n += r.bufBytes + int64(len(r.kinds))*256
	}
	return n
}

// Append adds rows of cols, which have the kinds of r; values are copied. Errors are those
// of the disk.
func (r *Rows) Append(cols []*vec.Vec, rows []uint16) error {
	for len(rows) > 0 {
		if r.buf == nil {
			r.buf = newBatch(r.kinds)
		}
		n, bytes := r.fitting(cols, rows)
		part := rows[:n]
		dense := vec.IsDense(part)
		full := r.bufBytes+bytes >= r.target || r.buf.N+n == vec.MaxRows
		for c, dst := range r.buf.Cols {
			dst.SetLen(r.buf.N + n)
			dst.CopyRows(r.buf.N, cols[c], part, !full, dense) // a full block is written at once
		}
		r.buf.N += n
		r.bufBytes += bytes
		r.n += int64(n)
		r.size += bytes
		rows = rows[n:]
		if full {
			if err := r.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// fitting is how many of the rows still go to the buffer, and their bytes.
func (r *Rows) fitting(cols []*vec.Vec, rows []uint16) (n int, bytes int64) {
	most := min(len(rows), vec.MaxRows-r.buf.N)
	fixed := true
	for _, k := range r.kinds {
		fixed = fixed && vec.ClassOf(k) != vec.ClassBytes
	}
	if fixed {
		room := (r.target - r.bufBytes + r.width - 1) / max(r.width, 1)
		n = int(max(min(int64(most), room), 1))
		return n, int64(n) * r.width
	}
	for n < most && (n == 0 || r.bufBytes+bytes < r.target) {
		bytes += r.width
		for c, k := range r.kinds {
			if v := cols[c]; vec.ClassOf(k) == vec.ClassBytes && vec.ClassOf(v.Kind) == vec.ClassBytes && !v.Nulls.IsNull(int(rows[n])) {
				bytes += int64(len(v.Bytes[rows[n]]))
			}
		}
		n++
	}
	return n, bytes
}

func newBatch(kinds []value.Kind) *vec.Batch {
	b := &vec.Batch{Cols: make([]*vec.Vec, len(kinds))}
	vecs := make([]vec.Vec, len(kinds))
	for i, k := range kinds {
		vecs[i].Kind = k
		b.Cols[i] = &vecs[i]
	}
	return b
}

// Flush writes what is buffered: readers then see all rows that were appended.
// More may follow.
func (r *Rows) Flush() error {
	b := r.buf
	if b == nil || b.N == 0 {
		return nil
	}
	from := len(r.blocks)
	w := writers.Get().(*writer)
	w.r = r
	err := w.batch(b.Cols, b.N)
	w.r = nil
	writers.Put(w)
	if err != nil {
		r.buf, r.bufBytes = nil, 0 // the rows are given up
		return err
	}
	body := int64(0)
	for _, p := range r.blocks[from:] {
		body += int64(p.body)
	}
	r.largest = max(r.largest, body)
	b.N, r.bufBytes = 0, 0
	for _, v := range b.Cols {
		clear(v.Bytes) // they may belong to who appended them
		v.Init(v.Kind, 0)
	}
	return nil
}

// put writes what the encoder holds as a piece of the block whose rows are buffered.
func (w *writer) put() error {
	r := w.r
	w.sealed = seal(w.sealed, w.body)
	at, err := r.f.write(w.sealed)
	if err != nil {
		return err
	}
	r.blocks = append(r.blocks, piece{at: at, first: r.n - int64(r.buf.N), len: uint32(len(w.sealed)), body: uint32(len(w.body))})
	return nil
}

// Finish ends the writing and frees the buffers. It is idempotent.
func (r *Rows) Finish() error {
	if r.done {
		return nil
	}
	r.done = true
	err := r.Flush()
	r.buf = nil
	r.blocks = slices.Clip(r.blocks)
	return err
}

// Close gives the rows up; readers must not be used any more. It is idempotent
// and may be called at any time.
func (r *Rows) Close() {
	if r == nil || r.f == nil {
		return
	}
	f := r.f
	r.f, r.buf, r.blocks = nil, nil, nil
	f.drop()
}

// Reader reads Rows forward, from the first row or from that of SeekRow on. Many
// may read the same Rows.
type Reader struct {
	r    *Rows
	next int // piece that begins a block
	skip int // rows of it to leave out
	at   int // that of the block in out, -1 for none
	end  int // after the pieces of that block
	rows int // most rows of a block so far
	raw  []byte
	body []byte
	dec  decoder
	out  *vec.Batch
	sel  []uint16
}

// NewReader begins to read the rows that were written at the first.
func (r *Rows) NewReader() *Reader { return &Reader{r: r, at: -1, out: newBatch(r.kinds)} }

// Held is about the number of bytes that the reader holds.
func (rd *Reader) Held() int64 {
	return int64(cap(rd.raw)+cap(rd.body)) + int64(rd.rows)*rd.r.width + int64(len(rd.r.kinds))*256
}

// SeekRow makes row the next that is read; at Len or after it that is the end.
func (rd *Reader) SeekRow(row int64) {
	blocks := rd.r.blocks
	if row >= rd.r.n {
		rd.next = len(blocks)
		return
	}
	last := sort.Search(len(blocks), func(i int) bool { return blocks[i].first > row }) - 1
	first := blocks[last].first
	for rd.next = last; rd.next > 0 && blocks[rd.next-1].first == first; rd.next-- {
	}
	rd.skip = int(row - first)
}

// Next is the next batch, nil at the end. The batch and its bytes are valid
// until the next call of Next. Errors are those of the disk, and 1030 for a
// damaged block.
func (rd *Reader) Next() (*vec.Batch, error) {
	if rd.next >= len(rd.r.blocks) {
		return nil, nil
	}
	if rd.at != rd.next {
		rd.at = -1
		if err := rd.load(rd.next); err != nil {
			return nil, err
		}
		rd.at = rd.next
		rd.rows = max(rd.rows, rd.out.N)
	}
	rd.out.HasSel, rd.out.Sel = false, nil
	if rd.skip > 0 {
		rd.sel = rd.sel[:0]
		for i := rd.skip; i < rd.out.N; i++ {
			rd.sel = append(rd.sel, uint16(i))
		}
		rd.out.SetSel(rd.sel)
	}
	rd.next, rd.skip = rd.end, 0
	return rd.out, nil
}

// Page reads the block that has a row, which must be below Len. It gives the
// block's rows and the number of the first of them; they are valid until the
// next call of Page or Next.
func (rd *Reader) Page(row int64) (b *vec.Batch, first int64, err error) {
	rd.SeekRow(row)
	rd.skip = 0
	first = rd.r.blocks[rd.next].first
	b, err = rd.Next()
	return b, first, err
}

// load reads the block that begins with a piece.
func (rd *Reader) load(from int) error {
	all := rd.r.blocks[from:]
	n, size := 0, 0
	for n < len(all) && all[n].first == all[0].first {
		size += int(all[n].body)
		n++
	}
	f := rd.r.f
	if cap(rd.body) > largeBlock && size < cap(rd.body)/4 {
		rd.body = nil
	}
	rd.body = vec.Resize(rd.body[:0], size)
	for at, p := range all[:n] {
		if f.Stop != nil && at > 0 {
			if err := f.Stop(); err != nil {
				return err
			}
		}
		rd.raw = vec.Resize(rd.raw[:0], int(p.len))
		if err := f.read(rd.raw, p.at); err != nil {
			return err
		}
		if err := unseal(rd.body[len(rd.body)-size:][:p.body], rd.raw); err != nil {
			return f.d.fail(err)
		}
		size -= int(p.body)
	}
	rd.end = from + n
	if err := rd.dec.batch(rd.body, rd.out); err != nil {
		return f.d.fail(err)
	}
	return nil
}
