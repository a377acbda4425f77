package exec

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// identity are the positions of a batch without selection.
var identity = makeIdentity()

func makeIdentity() (t [vec.MaxRows]uint16) {
	for i := range t {
		t[i] = uint16(i)
	}
	return t
}

// liveRows are the positions of b's live rows; not to be written to.
func liveRows(b *vec.Batch) []uint16 {
	if b.HasSel {
		return b.Sel
	}
	return identity[:b.N]
}

func kindsOf(cols []physical.Column) []value.Kind {
	kinds := make([]value.Kind, len(cols))
	for i := range cols {
		kinds[i] = types.KindOf(cols[i].T)
	}
	return kinds
}

func kindsOfTypes(ts []schema.Type) []value.Kind {
	kinds := make([]value.Kind, len(ts))
	for i, t := range ts {
		kinds[i] = types.KindOf(t)
	}
	return kinds
}

func exprKinds(list []expr.Expr) []value.Kind {
	kinds := make([]value.Kind, len(list))
	for i, e := range list {
		kinds[i] = types.KindOf(e.Type())
	}
	return kinds
}

// evalAll appends the values of list over in to dst. The caller releases them.
func evalAll(ec *expr.Ctx, list []expr.Expr, in *vec.Batch, dst []*vec.Vec) ([]*vec.Vec, error) {
	for _, e := range list {
		v, err := expr.Eval(ec, e, in)
		if err != nil {
			return dst, err
		}
		dst = append(dst, v)
	}
	return dst, nil
}

func release(ec *expr.Ctx, vecs []*vec.Vec) {
	for _, v := range vecs {
		ec.Release(v)
	}
}

// copyRows copies the given rows of src, which ascend, to dst from position at
// on. own makes dst own the bytes; otherwise they are shared. It returns the
// bytes copied.
func copyRows(dst *vec.Vec, at int, src *vec.Vec, rows []uint16, own bool) (bytes int64) {
	return dst.CopyRows(at, src, rows, own, vec.IsDense(rows))
}

// rowStore keeps rows in dense chunks of vec.MaxRows rows. Row n is row
// n%MaxRows of chunk n/MaxRows.
type rowStore struct {
	kinds  []value.Kind
	chunks []*vec.Batch
	n      int
	// size is an estimate of the bytes that the store holds.
	size  int64
	width int64
}

const (
	chunkBits = 10
	chunkMask = vec.MaxRows - 1
)

func newRowStore(kinds []value.Kind) rowStore {
	s := rowStore{kinds: kinds}
	for _, k := range kinds {
		s.width += vec.WidthOf(k)
	}
	return s
}

// room is the last chunk with space and the space.
func (s *rowStore) room() (*vec.Batch, int) {
	if len(s.chunks) > 0 {
		if last := s.chunks[len(s.chunks)-1]; last.N < vec.MaxRows {
			return last, vec.MaxRows - last.N
		}
	}
	b := &vec.Batch{Cols: make([]*vec.Vec, len(s.kinds))}
	vecs := make([]vec.Vec, len(s.kinds))
	for i, k := range s.kinds {
		vecs[i].Kind = k
		b.Cols[i] = &vecs[i]
	}
	s.size += int64(len(s.kinds))*256 + 64
	s.chunks = append(s.chunks, b)
	return b, vec.MaxRows
}

// add appends rows of cols, copying their bytes.
func (s *rowStore) add(cols []*vec.Vec, rows []uint16) {
	for len(rows) > 0 {
		chunk, free := s.room()
		part := rows[:min(free, len(rows))]
		for c, dst := range chunk.Cols {
			dst.SetLen(chunk.N + len(part))
			if vec.ClassOf(dst.Kind) == vec.ClassBytes {
				s.size += dst.Reserve(cols[c].BytesOf(part))
			}
			copyRows(dst, chunk.N, cols[c], part, true)
		}
		chunk.N += len(part)
		s.n += len(part)
		s.size += s.width * int64(len(part))
		rows = rows[len(part):]
	}
}

// reuse empties the store; of its memory one chunk stays for the next rows.
func (s *rowStore) reuse() {
	s.chunks = s.chunks[:min(1, len(s.chunks))]
	s.n, s.size = 0, 0
	for _, b := range s.chunks {
		b.N = 0
		for _, v := range b.Cols {
			v.Reset()
		}
		s.size = (s.width + 8) * vec.MaxRows
	}
}

// gather writes the given rows of column col to dst from position 0 on. Bytes
// are shared with the store.
func (s *rowStore) gather(col int, rows []uint32, dst *vec.Vec) {
	s.gatherAt(col, rows, dst, identity[:len(rows)])
}

// gatherAt is gather to the given positions.
func (s *rowStore) gatherAt(col int, rows []uint32, dst *vec.Vec, at []uint16) {
	switch vec.ClassOf(dst.Kind) {
	case vec.ClassWord:
		gatherValues(s, col, rows, dst, at, dst.I64, func(v *vec.Vec) []int64 { return v.I64 })
	case vec.ClassFloat:
		gatherValues(s, col, rows, dst, at, dst.F64, func(v *vec.Vec) []float64 { return v.F64 })
	case vec.ClassDecimal:
		gatherValues(s, col, rows, dst, at, dst.Dec, func(v *vec.Vec) []value.Decimal { return v.Dec })
	case vec.ClassBytes:
		gatherValues(s, col, rows, dst, at, dst.Bytes, func(v *vec.Vec) [][]byte { return v.Bytes })
	}
}

func gatherValues[T any](s *rowStore, col int, rows []uint32, dst *vec.Vec, at []uint16, out []T, values func(*vec.Vec) []T) {
	chunk := none
	var from []T
	var v *vec.Vec
	for r, n := range rows {
		if c := n >> chunkBits; c != chunk {
			chunk, v = c, s.chunks[c].Cols[col]
			from = values(v)
		}
		out[at[r]] = from[n&chunkMask]
		if v.Nulls.Any() && v.Nulls.IsNull(int(n&chunkMask)) {
			dst.Nulls.Set(int(at[r]))
		}
	}
}

// gatherAll writes whole rows into out.
func (s *rowStore) gatherAll(rows []uint32, out *vec.Batch) {
	out.HasSel, out.Sel, out.N = false, nil, len(rows)
	for c, v := range out.Cols {
		v.Init(s.kinds[c], len(rows))
		s.gather(c, rows, v)
	}
}

// row reads row n as datums that share the store's bytes.
func (s *rowStore) row(n int, dst []value.Datum) []value.Datum {
	chunk := s.chunks[n>>chunkBits]
	for _, v := range chunk.Cols {
		dst = append(dst, v.Datum(n&chunkMask))
	}
	return dst
}

// newOut makes the batch that an operator fills.
func newOut(kinds []value.Kind) *vec.Batch {
	b := &vec.Batch{Cols: make([]*vec.Vec, len(kinds))}
	vecs := make([]vec.Vec, len(kinds))
	for i, k := range kinds {
		vecs[i].Kind = k
		b.Cols[i] = &vecs[i]
	}
	return b
}
