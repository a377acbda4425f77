package exec

import (
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// rowBuffer keeps rows in their order, in memory or, where that is short, on
// disk. Rows may be added while others are read, by one goroutine.
type rowBuffer struct {
	acct  *account
	sp    *spiller
	kinds []value.Kind
	store rowStore
	disk  *spill.Rows
	n     int
}

func (b *builder) newRowBuffer(node physical.Node, kinds []value.Kind, acct *account) *rowBuffer {
	r := &rowBuffer{acct: acct, sp: b.spiller(node), kinds: kinds, store: newRowStore(kinds)}
	// Readers may be in the middle of the rows in memory.
	r.sp.attach(acct, func() (bool, error) { return false, nil })
	return r
}

// add appends rows of cols, whose values are copied.
func (r *rowBuffer) add(cols []*vec.Vec, rows []uint16) error {
	r.n += len(rows)
	if r.disk != nil {
		if err := r.disk.Append(cols, rows); err != nil {
			return err
		}
		r.acct.must(r.disk.Held())
		return nil
	}
	r.store.add(cols, rows)
	ok, err := r.acct.room(r.store.size)
	if err != nil || ok {
		return err
	}
	return r.spill()
}

// spill writes the rows to disk; readers go on there.
func (r *rowBuffer) spill() error {
	f, err := r.sp.begin()
	if err != nil {
		return err
	}
	r.disk = f.NewRows(r.kinds, r.sp.block)
	for _, chunk := range r.store.chunks {
		if err := r.disk.Append(chunk.Cols, liveRows(chunk)); err != nil {
			return err
		}
	}
	if err := r.disk.Flush(); err != nil {
		return err
	}
	r.store = newRowStore(r.kinds)
	r.acct.kept(r.disk.Held())
	return nil
}

// flush makes all rows that were added readable.
func (r *rowBuffer) flush() error {
	if r.disk == nil {
		return nil
	}
	defer r.sp.count()
	return r.disk.Flush()
}

// finish is flush when no rows follow.
func (r *rowBuffer) finish() error {
	defer r.acct.fixed()
	if r.disk == nil {
		return nil
	}
	defer r.sp.count()
	if err := r.disk.Finish(); err != nil {
		return err
	}
	r.acct.kept(r.disk.Held())
	return nil
}

// close gives the rows up; the account is the owner's.
func (r *rowBuffer) close() {
	if r == nil {
		return
	}
	r.disk.Close()
	r.store = rowStore{}
}

// bufferReader reads rows of a rowBuffer forward.
type bufferReader struct {
	r       *rowBuffer
	at, end int
	rd      *spill.Reader
	rows    []uint32
	sel     []uint16
	out     *vec.Batch
}

// read reads rows from to to; those before to were flushed.
func (r *rowBuffer) read(from, to int) *bufferReader {
	return &bufferReader{r: r, at: from, end: to, out: newOut(r.kinds)}
}

// next is a batch of rows, at most size of those in memory; nil at the end. It
// shares bytes with the buffer and is valid until the next call.
func (b *bufferReader) next(size int) (*vec.Batch, error) {
	if b.at >= b.end {
		return nil, nil
	}
	if b.r.disk == nil {
		n := min(size, b.end-b.at)
		b.rows = b.rows[:0]
		for i := range n {
			b.rows = append(b.rows, uint32(b.at+i))
		}
		b.at += n
		b.r.store.gatherAll(b.rows, b.out)
		return b.out, nil
	}
	if b.rd == nil {
		b.rd = b.r.disk.NewReader()
		b.rd.SeekRow(int64(b.at))
	}
	out, err := b.rd.Next()
	if err != nil || out == nil {
		return nil, err
	}
	if out.Live() > b.end-b.at { // the block has rows that were added later
		b.sel = append(b.sel[:0], liveRows(out)[:b.end-b.at]...)
		out.SetSel(b.sel)
	}
	b.at += out.Live()
	return out, nil
}
