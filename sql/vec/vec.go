package vec

import (
	"math"
	"math/bits"

	"github.com/sqlots/sqlots/value"
)

// MaxRows is the most rows of a batch.
const MaxRows = 1024

// Nulls is a null bitmap over MaxRows rows. The zero value has no null.
type Nulls struct {
	any  bool
	bits [MaxRows / 64]uint64
}

// Any reports whether a null may be present (it may be true without one).
func (n *Nulls) Any() bool { return n.any }

// IsNull reports whether row i is null.
func (n *Nulls) IsNull(i int) bool { return n.any && n.bits[i>>6]&(1<<(i&63)) != 0 }

// Set makes row i null.
func (n *Nulls) Set(i int) {
	n.any = true
	n.bits[i>>6] |= 1 << (i & 63)
}

// Unset makes row i not null.
func (n *Nulls) Unset(i int) { n.bits[i>>6] &^= 1 << (i & 63) }

// Clear makes all rows not null.
func (n *Nulls) Clear() {
	if n.any {
		*n = Nulls{}
	}
}

// SetAll makes the first rows null.
func (n *Nulls) SetAll(rows int) {
	n.any = true
	for i := range n.bits {
		n.bits[i] = math.MaxUint64
	}
	_ = rows
}

// CopyBits makes rows null whose bits are set, from bit from on; nil has none. Of
// rows that are not null before.
func (n *Nulls) CopyBits(set []uint64, from, rows int) {
	if set == nil {
		return
	}
	shift := from & 63
	for i := range (rows + 63) >> 6 {
		at := from>>6 + i
		w := set[at] >> shift
		if shift != 0 && at+1 < len(set) {
			w |= set[at+1] << (64 - shift)
		}
		if left := rows - i<<6; left < 64 {
			w &= 1<<left - 1
		}
		n.bits[i] = w
		n.any = n.any || w != 0
	}
}

// CopyFrom makes n equal to o.
func (n *Nulls) CopyFrom(o *Nulls) {
	if n.any || o.any {
		*n = *o
	}
}

// Or adds the nulls of o.
func (n *Nulls) Or(o *Nulls) {
	if !o.any {
		return
	}
	n.any = true
	for i := range n.bits {
		n.bits[i] |= o.bits[i]
	}
}

// Count is the number of nulls among the first rows.
func (n *Nulls) Count(rows int) int {
	if !n.any {
		return 0
	}
	c := 0
	for i := 0; i < rows>>6; i++ {
		c += bits.OnesCount64(n.bits[i])
	}
	if r := rows & 63; r != 0 {
		c += bits.OnesCount64(n.bits[rows>>6] & (1<<r - 1))
	}
	return c
}

// Class is the storage class of a kind: which slice of a Vec holds it.
type Class uint8

// Storage classes.
const (
	ClassWord    Class = iota // Vec.I64: int, uint, time, duration (and null)
	ClassFloat                // Vec.F64
	ClassDecimal              // Vec.Dec
	ClassBytes                // Vec.Bytes: bytes and json
)

// ClassOf is the storage class of a kind.
func ClassOf(k value.Kind) Class {
	switch k {
	case value.KindFloat:
		return ClassFloat
	case value.KindDecimal:
		return ClassDecimal
	case value.KindBytes, value.KindJSON:
		return ClassBytes
	}
	return ClassWord
}

// Vec is a column of up to MaxRows values of one kind. Words of KindUint,
// KindTime and KindDuration are stored in I64 as their bit patterns.
type Vec struct {
	Kind  value.Kind
	Nulls Nulls
	I64   []int64
	F64   []float64
	Dec   []value.Decimal
	Bytes [][]byte
	// arena holds bytes that the vector owns. A chunk is never moved, so
	// slices into it stay valid until Reset.
	arena []byte
}

// New makes a vector of the kind with room for MaxRows rows.
func New(k value.Kind) *Vec { return NewSized(k, MaxRows) }

// NewSized makes a vector with room for n rows.
func NewSized(k value.Kind, n int) *Vec {
	v := &Vec{}
	v.Init(k, n)
	return v
}

// Init makes v an empty vector of kind k with length n, reusing its memory.
// The values are undefined, none is null.
func (v *Vec) Init(k value.Kind, n int) {
	v.Kind = k
	v.Nulls.Clear()
	v.arena = v.arena[:0]
	switch ClassOf(k) {
	case ClassWord:
		v.I64 = grow(v.I64, n)
	case ClassFloat:
		v.F64 = grow(v.F64, n)
	case ClassDecimal:
		v.Dec = grow(v.Dec, n)
	case ClassBytes:
		v.Bytes = grow(v.Bytes, n)
	}
}

func grow[T any](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	return make([]T, n)
}

// Reset drops the values but keeps the memory for the next batch.
func (v *Vec) Reset() {
	v.Nulls.Clear()
	v.arena = v.arena[:0]
}

// ArenaCap is how many bytes the arena's current chunk has.
func (v *Vec) ArenaCap() int { return cap(v.arena) }

// Arena is all of the arena's current chunk. Only its address and size mean something.
func (v *Vec) Arena() []byte { return v.arena[:cap(v.arena)] }

// firstArena is the size of an arena's first chunk: many results are short. Chunks
// double. Values of largeBytes for which there is no room are apart from them: a
// chunk would have twice their size, and stay for the next batch.
const (
	firstArena = 1 << 10
	largeBytes = 1 << 20
)

// Own copies b into the vector's arena and returns the copy.
func (v *Vec) Own(b []byte) []byte {
	if len(b) == 0 {
		return []byte{}
	}
	out := v.Alloc(len(b))
	copy(out, b)
	return out
}

// Reserve makes room for n bytes that Own is going to copy, with little to
// spare: what is kept for long should not hold twice its size. It returns the
// bytes that this takes.
func (v *Vec) Reserve(n int) int64 {
	const spare = 64 << 10
	if n == 0 || len(v.arena)+n <= cap(v.arena) {
		return 0
	}
	size := max(n, min(2*cap(v.arena), spare), firstArena)
	v.arena = make([]byte, 0, size)
	return int64(size)
}

// Alloc reserves n bytes in the arena for the caller to fill.
func (v *Vec) Alloc(n int) []byte {
	if len(v.arena)+n > cap(v.arena) {
		if n >= largeBytes {
			return make([]byte, n)
		}
		// A new chunk: slices into the old one keep it alive.
		v.arena = make([]byte, 0, max(2*cap(v.arena), n, firstArena))
	}
	start := len(v.arena)
	v.arena = v.arena[:start+n]
	return v.arena[start : start+n : start+n]
}

// Datum is row i as a Datum that shares the vector's bytes.
func (v *Vec) Datum(i int) value.Datum {
	if v.Nulls.IsNull(i) {
		return value.Null
	}
	switch v.Kind {
	case value.KindInt:
		return value.Int(v.I64[i])
	case value.KindUint:
		return value.Uint(uint64(v.I64[i]))
	case value.KindFloat:
		return value.Float(v.F64[i])
	case value.KindDecimal:
		return value.Dec(v.Dec[i])
	case value.KindBytes:
		return value.Bytes(v.Bytes[i])
	case value.KindTime:
		return value.TimeOf(value.Time(v.I64[i]))
	case value.KindDuration:
		return value.DurationOf(value.Duration(v.I64[i]))
	case value.KindJSON:
		return value.JSONOf(v.Bytes[i])
	}
	return value.Null
}

// SetDatum stores d, which must be NULL or of the vector's kind, at row i.
// Bytes are copied into the arena.
func (v *Vec) SetDatum(i int, d value.Datum) {
	if d.IsNull() {
		v.Nulls.Set(i)
		return
	}
	if v.Nulls.any {
		v.Nulls.Unset(i)
	}
	switch v.Kind {
	case value.KindFloat:
		v.F64[i] = d.Float()
	case value.KindDecimal:
		v.Dec[i] = d.Decimal()
	case value.KindBytes, value.KindJSON:
		v.Bytes[i] = v.Own(d.Bytes())
	default:
		v.I64[i] = int64(d.Bits())
	}
}

// SetShared stores bytes that the caller does not change any more at row i.
func (v *Vec) SetShared(i int, b []byte) {
	if v.Nulls.any {
		v.Nulls.Unset(i)
	}
	v.Bytes[i] = b
}

// CopyRow copies row j of src, a vector of the same kind, to row i; bytes are
// copied into v's arena.
func (v *Vec) CopyRow(i int, src *Vec, j int) {
	if src.Nulls.IsNull(j) {
		v.Nulls.Set(i)
		return
	}
	if v.Nulls.any {
		v.Nulls.Unset(i)
	}
	switch ClassOf(v.Kind) {
	case ClassWord:
		v.I64[i] = src.I64[j]
	case ClassFloat:
		v.F64[i] = src.F64[j]
	case ClassDecimal:
		v.Dec[i] = src.Dec[j]
	case ClassBytes:
		v.Bytes[i] = v.Own(src.Bytes[j])
	}
}

// Batch is a set of rows in columns.
type Batch struct {
	// N is the length of the column vectors that is in use.
	N int
	// Sel holds the ascending positions of the live rows when HasSel is set;
	// otherwise rows 0 to N-1 are live.
	Sel    []uint16
	HasSel bool
	Cols   []*Vec
	selBuf []uint16
}

// NewBatch makes an empty batch with a vector for each kind.
func NewBatch(kinds []value.Kind) *Batch {
	b := &Batch{Cols: make([]*Vec, len(kinds))}
	for i, k := range kinds {
		b.Cols[i] = New(k)
	}
	return b
}

// Reset empties the batch, keeping its memory and its kinds.
func (b *Batch) Reset() {
	b.N, b.HasSel, b.Sel = 0, false, nil
	for _, c := range b.Cols {
		c.Reset()
	}
}

// Live is the number of live rows.
func (b *Batch) Live() int {
	if b.HasSel {
		return len(b.Sel)
	}
	return b.N
}

// Row is the position of the i-th live row.
func (b *Batch) Row(i int) int {
	if b.HasSel {
		return int(b.Sel[i])
	}
	return i
}

// SelBuf is a buffer of length 0 and capacity MaxRows that the batch owns, to
// build the next selection in. It may be the one that Sel points into: a filter
// never writes past its reading position.
func (b *Batch) SelBuf() []uint16 {
	if cap(b.selBuf) < MaxRows {
		b.selBuf = make([]uint16, 0, MaxRows)
	}
	return b.selBuf[:0]
}

// SetSel makes sel the selection.
func (b *Batch) SetSel(sel []uint16) { b.Sel, b.HasSel = sel, true }

// Truncate keeps the first n live rows.
func (b *Batch) Truncate(n int) {
	if n >= b.Live() {
		return
	}
	if b.HasSel {
		b.Sel = b.Sel[:n]
		return
	}
	b.N = n
}
