package spill

import (
	"slices"
	"sort"

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
	blocks []block
	n      int64
	size   int64
	// largest are the bytes of the largest block before compression.
	largest int64

	buf      *vec.Batch
	bufBytes int64
	body     []byte
	sealed   []byte
	done     bool
}

// block is the offset of a block and the number of its first row.
type block struct {
	at    int64
	first int64
	len   uint32
}

// largeBlock are the bytes of a block whose buffers are not kept for the next one.
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

// LargestBlock are the bytes of the largest block: a reader holds up to twice as many.
func (r *Rows) LargestBlock() int64 { return r.largest }

// Held is about the number of bytes that r holds in memory now.
func (r *Rows) Held() int64 {
	n := int64(cap(r.blocks))*24 + rowsOverhead
	if r.buf != nil {
		n += r.bufBytes + int64(len(r.kinds))*256 + int64(cap(r.body)) + int64(cap(r.sealed))
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
		n, bytes := r.piece(cols, rows)
		part := rows[:n]
		dense := vec.IsDense(part)
		for c, dst := range r.buf.Cols {
			dst.SetLen(r.buf.N + n)
			dst.CopyRows(r.buf.N, cols[c], part, true, dense)
		}
		r.buf.N += n
		r.bufBytes += bytes
		r.n += int64(n)
		r.size += bytes
		rows = rows[n:]
		if r.bufBytes >= r.target || r.buf.N == vec.MaxRows {
			if err := r.Flush(); err != nil {
				return err
			}
		}
	}
	return nil
}

// piece is how many of the rows still go to the buffer, and their bytes.
func (r *Rows) piece(cols []*vec.Vec, rows []uint16) (n int, bytes int64) {
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
	r.body = appendBatch(r.body[:0], b.Cols, b.N)
	r.largest = max(r.largest, int64(len(r.body)))
	r.sealed = seal(r.sealed, r.body)
	at, err := r.f.write(r.sealed)
	if err != nil {
		return err
	}
	r.blocks = append(r.blocks, block{at: at, first: r.n - int64(b.N), len: uint32(len(r.sealed))})
	b.N, r.bufBytes = 0, 0
	if cap(r.body) > largeBlock {
		r.buf, r.body, r.sealed = nil, nil, nil
		return nil
	}
	for _, v := range b.Cols {
		v.Init(v.Kind, 0)
	}
	return nil
}

// Finish ends the writing and frees the buffers. It is idempotent.
func (r *Rows) Finish() error {
	if r.done {
		return nil
	}
	r.done = true
	err := r.Flush()
	r.buf, r.body, r.sealed = nil, nil, nil
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
	r.f, r.buf, r.body, r.sealed, r.blocks = nil, nil, nil, nil, nil
	f.drop()
}

// Reader reads Rows forward, from the first row or from that of SeekRow on. Many
// may read the same Rows.
type Reader struct {
	r    *Rows
	next int // block
	skip int // rows of it to leave out
	at   int // block that is in batch, -1 for none
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
	rd.next = sort.Search(len(blocks), func(i int) bool { return blocks[i].first > row }) - 1
	rd.skip = int(row - blocks[rd.next].first)
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
		if err := rd.load(rd.r.blocks[rd.next]); err != nil {
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
	rd.next, rd.skip = rd.next+1, 0
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

func (rd *Reader) load(b block) error {
	rd.raw = vec.Resize(rd.raw[:0], int(b.len))
	if err := rd.r.f.read(rd.raw, b.at); err != nil {
		return err
	}
	var err error
	if rd.body, err = unseal(rd.body, rd.raw); err == nil {
		err = rd.dec.batch(rd.body, rd.out)
	}
	if err != nil {
		return rd.r.f.d.fail(err)
	}
	if cap(rd.raw) > largeBlock {
		rd.raw = nil
	}
	return nil
}
