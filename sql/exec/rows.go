package exec

import (
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

// isDense reports that rows, which ascend without repetition, are 0 to len-1.
func isDense(rows []uint16) bool { return len(rows) > 0 && int(rows[len(rows)-1]) == len(rows)-1 }

func kindsOf(cols []physical.Column) []value.Kind {
	kinds := make([]value.Kind, len(cols))
	for i := range cols {
		kinds[i] = types.KindOf(cols[i].T)
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

// setLen makes v hold n values; those that it had stay.
func setLen(v *vec.Vec, n int) {
	switch vec.ClassOf(v.Kind) {
	case vec.ClassWord:
		v.I64 = resize(v.I64, n)
	case vec.ClassFloat:
		v.F64 = resize(v.F64, n)
	case vec.ClassDecimal:
		v.Dec = resize(v.Dec, n)
	case vec.ClassBytes:
		v.Bytes = resize(v.Bytes, n)
	}
}

func resize[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	grown := make([]T, n, max(n, min(max(2*cap(s), 16), vec.MaxRows)))
	copy(grown, s)
	return grown
}

// copyRows copies the given rows of src, which ascend, to dst from position at
// on. own makes dst own the bytes; otherwise they are shared. It returns the
// bytes copied.
func copyRows(dst *vec.Vec, at int, src *vec.Vec, rows []uint16, own bool) (bytes int64) {
	return copyAny(dst, at, src, rows, own, isDense(rows))
}

// copyAny is copyRows of rows in any order; dense says that they are 0 to n-1.
func copyAny(dst *vec.Vec, at int, src *vec.Vec, rows []uint16, own, dense bool) (bytes int64) {
	class := vec.ClassOf(dst.Kind)
	if vec.ClassOf(src.Kind) != class { // a NULL of no type
		for r := range rows {
			dst.Nulls.Set(at + r)
		}
		return 0
	}
	if src.Nulls.Any() {
		for r, i := range rows {
			if src.Nulls.IsNull(int(i)) {
				dst.Nulls.Set(at + r)
			}
		}
	}
	switch class {
	case vec.ClassWord:
		copyValues(dst.I64[at:], src.I64, rows, dense)
	case vec.ClassFloat:
		copyValues(dst.F64[at:], src.F64, rows, dense)
	case vec.ClassDecimal:
		copyValues(dst.Dec[at:], src.Dec, rows, dense)
	case vec.ClassBytes:
		if !own {
			copyValues(dst.Bytes[at:], src.Bytes, rows, dense)
			return 0
		}
		for r, i := range rows {
			if !src.Nulls.IsNull(int(i)) {
				dst.Bytes[at+r] = dst.Own(src.Bytes[i])
				bytes += int64(len(src.Bytes[i]))
			}
		}
	}
	return bytes
}

func copyValues[T any](dst, src []T, rows []uint16, dense bool) {
	if dense {
		copy(dst, src[:len(rows)])
		return
	}
	for r, i := range rows {
		dst[r] = src[i]
	}
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
		s.width += classWidth(k)
	}
	return s
}

func classWidth(k value.Kind) int64 {
	switch vec.ClassOf(k) {
	case vec.ClassDecimal:
		return 32
	case vec.ClassBytes:
		return 24
	}
	return 8
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
			setLen(dst, chunk.N+len(part))
			s.size += copyRows(dst, chunk.N, cols[c], part, true)
		}
		chunk.N += len(part)
		s.n += len(part)
		s.size += s.width * int64(len(part))
		rows = rows[len(part):]
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
