package spill

import (
	"encoding/binary"
	"errors"
	"hash/crc32"
	"math"
	"math/big"
	"slices"

	"github.com/klauspost/compress/s2"

	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

const headerSize = 12

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

var errDamaged = errors.New("damaged block")

// seal makes a piece of a part of a body; dst is used again.
func seal(dst, body []byte) []byte {
	dst = vec.Resize(dst[:0], headerSize+s2.MaxEncodedLen(len(body)))
	packed := s2.Encode(dst[headerSize:], body)
	if len(packed) >= len(body) {
		packed = body
		copy(dst[headerSize:], body)
	}
	dst = dst[:headerSize+len(packed)]
	binary.LittleEndian.PutUint32(dst, uint32(len(packed)))
	binary.LittleEndian.PutUint32(dst[4:], uint32(len(body)))
	binary.LittleEndian.PutUint32(dst[8:], checksum(dst))
	return dst
}

func checksum(block []byte) uint32 {
	return crc32.Update(crc32.Checksum(block[:8], castagnoli), castagnoli, block[headerSize:])
}

// unseal writes the part of the body that a piece holds to dst, which is as long.
func unseal(dst, piece []byte) error {
	if len(piece) < headerSize || int(binary.LittleEndian.Uint32(piece)) != len(piece)-headerSize ||
		binary.LittleEndian.Uint32(piece[8:]) != checksum(piece) ||
		int(binary.LittleEndian.Uint32(piece[4:])) != len(dst) {
		return errDamaged
	}
	if len(dst) == len(piece)-headerSize {
		copy(dst, piece[headerSize:])
		return nil
	}
	if n, err := s2.DecodedLen(piece[headerSize:]); err != nil || n != len(dst) {
		return errDamaged
	}
	_, err := s2.Decode(dst, piece[headerSize:])
	return err
}

// pieceBytes are the most bytes of a body that are stored together: the buffers stay small
// and a statement can be ended between two pieces, however large the rows are.
const pieceBytes = 256 << 10

// encoder writes the body of a block in pieces.
type encoder struct {
	body []byte
	// put stores what body holds; the next bytes follow at the start of body.
	put func() error
}

// batch writes the first n rows of cols, with the last piece.
func (e *encoder) batch(cols []*vec.Vec, n int) error {
	e.body = binary.LittleEndian.AppendUint32(e.body[:0], uint32(n))
	for _, v := range cols {
		if err := e.column(v, n); err != nil {
			return err
		}
	}
	return e.put()
}

// column writes the first n values of v.
func (e *encoder) column(v *vec.Vec, n int) error {
	dst := e.body
	nulls := v.Nulls.Count(n) > 0
	if !nulls {
		dst = append(dst, 0)
	} else {
		dst = appendNulls(append(dst, 1), &v.Nulls, n)
	}
	switch vec.ClassOf(v.Kind) {
	case vec.ClassWord:
		dst = appendWords(dst, v.I64[:n], &v.Nulls)
	case vec.ClassFloat:
		for _, f := range v.F64[:n] {
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
		}
	case vec.ClassDecimal:
		dst = appendDecimals(dst, v.Dec[:n], &v.Nulls)
	case vec.ClassBytes:
		e.body = appendLengths(dst, v.Bytes[:n], &v.Nulls)
		return e.bytes(v.Bytes[:n], &v.Nulls)
	}
	e.body = dst
	return e.spare()
}

// bytes writes values one after the other.
func (e *encoder) bytes(x [][]byte, nulls *vec.Nulls) error {
	for i, b := range x {
		if nulls.IsNull(i) {
			continue
		}
		for len(b) > 0 {
			n := min(len(b), max(pieceBytes-len(e.body), 1))
			e.body, b = append(e.body, b[:n]...), b[n:]
			if err := e.spare(); err != nil {
				return err
			}
		}
	}
	return e.spare()
}

// spare stores a full piece.
func (e *encoder) spare() error {
	if len(e.body) < pieceBytes {
		return nil
	}
	err := e.put()
	e.body = e.body[:0]
	return err
}

func appendNulls(dst []byte, nulls *vec.Nulls, n int) []byte {
	for at := 0; at < n; at += 8 {
		b := byte(0)
		for i := at; i < min(at+8, n); i++ {
			if nulls.IsNull(i) {
				b |= 1 << (i - at)
			}
		}
		dst = append(dst, b)
	}
	return dst
}

// appendWords writes words as distances from the least one; NULLs are written as
// 0.
func appendWords(dst []byte, x []int64, nulls *vec.Nulls) []byte {
	least, most, any := int64(0), int64(0), nulls.Any()
	begun := false
	for i, w := range x {
		if any && nulls.IsNull(i) {
			continue
		}
		if !begun {
			least, most, begun = w, w, true
		}
		least, most = min(least, w), max(most, w)
	}
	width := 0
	for span := uint64(most) - uint64(least); span > 0; span >>= 8 {
		width++
	}
	dst = binary.LittleEndian.AppendUint64(dst, uint64(least))
	dst = append(dst, byte(width))
	start := len(dst)
	dst = slices.Grow(dst, width*len(x)+8)[:start+width*len(x)+8]
	for i, w := range x {
		d := uint64(w) - uint64(least)
		if any && nulls.IsNull(i) {
			d = 0
		}
		// The bytes above width are overwritten by the next value.
		binary.LittleEndian.PutUint64(dst[start+i*width:], d)
	}
	return dst[:start+width*len(x)]
}

func appendDecimals(dst []byte, x []value.Decimal, nulls *vec.Nulls) []byte {
	scale, plain := -1, true
	for i := range x {
		if nulls.IsNull(i) {
			continue
		}
		hi, lo, ok := x[i].Int128()
		if scale < 0 {
			scale = x[i].Scale()
		}
		if !ok || hi != int64(lo)>>63 || x[i].Scale() != scale {
			plain = false
			break
		}
	}
	if plain {
		words := make([]int64, len(x))
		for i := range x {
			_, lo, _ := x[i].Int128()
			words[i] = int64(lo)
		}
		return appendWords(append(dst, 1, byte(max(scale, 0))), words, nulls)
	}
	dst = append(dst, 0)
	for i := range x {
		if nulls.IsNull(i) {
			continue
		}
		hi, lo, ok := x[i].Int128()
		if ok {
			dst = append(dst, byte(x[i].Scale()))
			dst = binary.LittleEndian.AppendUint64(dst, uint64(hi))
			dst = binary.LittleEndian.AppendUint64(dst, lo)
			continue
		}
		b := x[i].Big()
		dst = append(dst, byte(x[i].Scale())|128, byte(b.Sign()+1))
		mag := b.Bytes()
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(mag)))
		dst = append(dst, mag...)
	}
	return dst
}

// appendLengths writes the lengths of values; that of a NULL is 0.
func appendLengths(dst []byte, x [][]byte, nulls *vec.Nulls) []byte {
	lens := make([]int64, len(x))
	for i, b := range x {
		if !nulls.IsNull(i) {
			lens[i] = int64(len(b))
		}
	}
	return appendWords(dst, lens, &vec.Nulls{})
}

// decoder reads a body.
type decoder struct {
	b    []byte
	lens vec.Vec
}

// batch decodes a body into out, whose columns have their kinds. Byte values
// share the body.
func (d *decoder) batch(body []byte, out *vec.Batch) (err error) {
	defer func() {
		// A body has the checksum that it was written with: this is a defect of
		// the encoder, not to be answered with wrong rows.
		if recover() != nil {
			err = errDamaged
		}
	}()
	d.b = body
	n := int(binary.LittleEndian.Uint32(d.take(4)))
	if n > vec.MaxRows {
		return errDamaged
	}
	out.N, out.HasSel, out.Sel = n, false, nil
	for _, v := range out.Cols {
		v.Init(v.Kind, n)
		if d.take(1)[0] == 1 {
			d.nulls(&v.Nulls, n)
		}
		switch vec.ClassOf(v.Kind) {
		case vec.ClassWord:
			d.words(v.I64)
		case vec.ClassFloat:
			raw := d.take(8 * n)
			for i := range v.F64 {
				v.F64[i] = math.Float64frombits(binary.LittleEndian.Uint64(raw[8*i:]))
			}
		case vec.ClassDecimal:
			d.decimals(v, n)
		case vec.ClassBytes:
			d.bytes(v, n)
		}
	}
	if len(d.b) != 0 {
		return errDamaged
	}
	return nil
}

func (d *decoder) take(n int) []byte {
	p := d.b[:n:n]
	d.b = d.b[n:]
	return p
}

func (d *decoder) nulls(nulls *vec.Nulls, n int) {
	for at, b := range d.take((n + 7) / 8) {
		for ; b != 0; b &= b - 1 {
			i := 0
			for b>>i&1 == 0 {
				i++
			}
			nulls.Set(8*at + i)
		}
	}
}

func (d *decoder) words(x []int64) {
	least := binary.LittleEndian.Uint64(d.take(8))
	width := int(d.take(1)[0])
	raw := d.take(width * len(x))
	switch width {
	case 0:
		for i := range x {
			x[i] = int64(least)
		}
	case 8:
		for i := range x {
			x[i] = int64(binary.LittleEndian.Uint64(raw[8*i:]) + least)
		}
	default:
		mask := uint64(1)<<(8*width) - 1
		i := 0
		for ; (i*width)+8 <= len(raw); i++ {
			x[i] = int64(binary.LittleEndian.Uint64(raw[i*width:])&mask + least)
		}
		for ; i < len(x); i++ {
			var tail [8]byte
			copy(tail[:], raw[i*width:])
			x[i] = int64(binary.LittleEndian.Uint64(tail[:])&mask + least)
		}
	}
}

func (d *decoder) decimals(v *vec.Vec, n int) {
	if d.take(1)[0] == 1 {
		scale := int(d.take(1)[0])
		words := make([]int64, n)
		d.words(words)
		for i, w := range words {
			v.Dec[i] = value.DecimalFromInt128(w>>63, uint64(w), scale)
		}
		return
	}
	for i := range n {
		if v.Nulls.IsNull(i) {
			continue
		}
		scale := d.take(1)[0]
		if scale < 128 {
			raw := d.take(16)
			v.Dec[i] = value.DecimalFromInt128(int64(binary.LittleEndian.Uint64(raw)), binary.LittleEndian.Uint64(raw[8:]), int(scale))
			continue
		}
		neg := d.take(1)[0] == 0
		b := new(big.Int).SetBytes(d.take(int(binary.LittleEndian.Uint32(d.take(4)))))
		if neg {
			b.Neg(b)
		}
		v.Dec[i] = value.DecimalFromBig(b, int(scale&127))
	}
}

func (d *decoder) bytes(v *vec.Vec, n int) {
	d.lens.Init(value.KindInt, n)
	d.words(d.lens.I64)
	for i, l := range d.lens.I64 {
		v.Bytes[i] = d.take(int(l))
	}
}
