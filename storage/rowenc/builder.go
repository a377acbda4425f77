package rowenc

import (
	"encoding/binary"
	"math"

	"github.com/sqlots/sqlots/value"
)

// Layout of a row.
const (
	version1 = 1

	flagWide     = 1
	flagNulls    = 2
	flagExternal = 4
	knownFlags   = flagWide | flagNulls | flagExternal

	idsAt = 4
)

// MaxColumns is the most values of a row.
const MaxColumns = math.MaxUint16

// Builder collects the values of a row. The zero value is empty; Reset makes
// it empty again and keeps its memory. It belongs to one goroutine.
type Builder struct {
	ids      []uint16
	ends     []uint32
	data     []byte
	nulls    []byte
	external []byte
	hasNull  bool
	hasExt   bool
}

// Reset drops the values.
func (b *Builder) Reset() {
	b.ids, b.ends, b.data = b.ids[:0], b.ends[:0], b.data[:0]
	b.hasNull, b.hasExt = false, false
}

// Use gives an empty builder memory to begin with.
func (b *Builder) Use(ids []uint16, ends []uint32, data []byte) {
	b.ids, b.ends, b.data = ids[:0], ends[:0], data[:0]
}

// Len is the number of values, explicit NULLs included.
func (b *Builder) Len() int { return len(b.ids) }

// Datum adds the value of column id, which must be greater than the one before
// it. NULL is explicit; to leave a column absent it is not added.
func (b *Builder) Datum(id uint16, d value.Datum) {
	if d.IsNull() {
		setBit(&b.nulls, len(b.ids), !b.hasNull)
		b.hasNull = true
	} else {
		b.data = AppendDatum(b.data, d)
	}
	b.end(id)
}

// External adds the length of a value that is kept elsewhere.
func (b *Builder) External(id uint16, length int) {
	setBit(&b.external, len(b.ids), !b.hasExt)
	b.hasExt = true
	b.data = AppendUint(b.data, uint64(length))
	b.end(id)
}

func (b *Builder) end(id uint16) {
	b.ids = append(b.ids, id)
	b.ends = append(b.ends, uint32(len(b.data)))
}

// setBit sets bit i of a bitmap that grows as needed; first clears it.
func setBit(bits *[]byte, i int, first bool) {
	if first {
		*bits = (*bits)[:0]
	}
	for len(*bits) <= i/8 {
		*bits = append(*bits, 0)
	}
	(*bits)[i/8] |= 1 << (i % 8)
}

// Append appends the row.
func (b *Builder) Append(dst []byte) []byte {
	n := len(b.ids)
	flags := byte(0)
	if len(b.data) > math.MaxUint16 {
		flags |= flagWide
	}
	if b.hasNull {
		flags |= flagNulls
	}
	if b.hasExt {
		flags |= flagExternal
	}
	dst = append(dst, version1, flags)
	dst = binary.LittleEndian.AppendUint16(dst, uint16(n))
	for _, id := range b.ids {
		dst = binary.LittleEndian.AppendUint16(dst, id)
	}
	if b.hasNull {
		dst = appendBitmap(dst, b.nulls, n)
	}
	if b.hasExt {
		dst = appendBitmap(dst, b.external, n)
	}
	for _, end := range b.ends {
		if flags&flagWide != 0 {
			dst = binary.LittleEndian.AppendUint32(dst, end)
		} else {
			dst = binary.LittleEndian.AppendUint16(dst, uint16(end))
		}
	}
	return append(dst, b.data...)
}

func appendBitmap(dst, bits []byte, n int) []byte {
	dst = append(dst, bits...)
	for i := len(bits); i < (n+7)/8; i++ {
		dst = append(dst, 0)
	}
	return dst
}
