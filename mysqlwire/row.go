package mysqlwire

import (
	"bytes"
	"encoding/binary"
	"math"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// nullCell represents NULL in text rows.
const nullCell = 0xfb

// textMode is how a column becomes text.
type textMode uint8

const (
	textOther textMode = iota // by types.AppendText
	textNull
	textInt
	textUint
	textBytes
	textFloat
	textDouble
	textDecimal
	textDate
	textDatetime
	textTime
	textConvert // bytes of another character set than UTF-8
)

// binaryMode is how a column becomes a binary value.
type binaryMode uint8

const (
	binaryText binaryMode = iota // its text, length-encoded
	binaryNull
	binary1
	binary2
	binary4
	binary8
	binaryFloat
	binaryDouble
	binaryDate
	binaryDatetime
	binaryTime
)

// cell is what the row writers know of a column.
type cell struct {
	text   textMode
	binary binaryMode
	kind   value.Kind
	scale  int // fractional seconds, decimals
	typ    *schema.Type
	from   *collate.Collation // of textConvert
	to     *collate.Collation // of text on the wire, when it is not UTF-8
}

// cellOf is how a column of type t is written as text of the character set of to; with
// nil, texts are not converted.
func cellOf(t *schema.Type, to *collate.Collation) cell {
	c := cell{typ: t, kind: types.KindOf(*t), scale: t.Scale}
	switch t.ID {
	case schema.TypeNull:
		c.text, c.binary = textNull, binaryNull
	case schema.TypeTinyInt:
		c.binary = binary1
	case schema.TypeSmallInt, schema.TypeYear:
		c.binary = binary2
	case schema.TypeMediumInt, schema.TypeInt:
		c.binary = binary4
	case schema.TypeBigInt:
		c.binary = binary8
	case schema.TypeFloat:
		c.binary = binaryFloat
	case schema.TypeDouble:
		c.binary = binaryDouble
	case schema.TypeDate:
		c.text, c.binary = textDate, binaryDate
	case schema.TypeDatetime, schema.TypeTimestamp:
		c.text, c.binary = textDatetime, binaryDatetime
	case schema.TypeTime:
		c.text, c.binary = textTime, binaryTime
	case schema.TypeDecimal:
		if !t.Zerofill && t.Scale >= 0 {
			c.text = textDecimal
		}
	}
	switch {
	case t.IsInteger() && !t.Zerofill && t.Unsigned:
		c.text = textUint
	case t.IsInteger() && !t.Zerofill:
		c.text = textInt
	case t.IsFloat() && (t.Zerofill || t.Len > 0 && t.Scale >= 0): // FLOAT(M,D)
	case t.ID == schema.TypeFloat:
		c.text = textFloat
	case t.ID == schema.TypeDouble:
		c.text = textDouble
	case c.kind == value.KindBytes:
		c.text = textBytes
		if from, ok := collate.Lookup(t.Collation); ok && t.IsCharacter() && to != nil && from.NeedsConversion([]byte{0x80}, to) {
			c.text, c.from, c.to = textConvert, from, to
		}
	case t.ID == schema.TypeJSON || t.ID == schema.TypeEnum || t.ID == schema.TypeSet:
		from := collate.Must(t.Collation)
		if to != nil && from.NeedsConversion([]byte{0x80}, to) {
			c.from, c.to = from, to
		}
	}
	return c
}

// convertTail converts the text in dst from position p on.
func (c *cell) convertTail(dst []byte, p int) []byte {
	if c.to == nil {
		return dst
	}
	text := bytes.Clone(dst[p:])
	dst, _ = c.from.Convert(dst[:p], text, c.to)
	return dst
}

// wireCollation is the character set of text on the wire.
func wireCollation() *collate.Collation { return collate.Must(schema.CollationUTF8MB40900AICI) }

func (c *cell) appendConverted(dst, text []byte) []byte {
	dst, _ = c.from.Convert(dst, text, c.to)
	return dst
}

// checkBatch reports whether the vectors are of the header's kinds: a mistake of a plan
// must not become a wrong row.
func (h *Header) checkBatch(b *vec.Batch) error {
	if len(b.Cols) != len(h.cells) {
		return sqlerr.Internal("result of %d columns has a batch of %d", len(h.cells), len(b.Cols))
	}
	for i := range h.cells {
		if v := b.Cols[i]; v.Kind != h.cells[i].kind && v.Kind != value.KindNull {
			return sqlerr.Internal("result column %d (%s) has a vector of %s", i+1, h.cols[i].Type.ID, v.Kind)
		}
	}
	return nil
}

// appendTextRow appends row i of a checked batch in the text protocol: each
// value as length-encoded text, fb for NULL.
func (h *Header) appendTextRow(dst []byte, b *vec.Batch, i int) []byte {
	for k := range h.cells {
		c := &h.cells[k]
		v := b.Cols[k]
		if v.Nulls.IsNull(i) || v.Kind == value.KindNull {
			dst = append(dst, nullCell)
			continue
		}
		switch c.text {
		case textInt:
			dst = appendTextInt(dst, v.I64[i])
		case textUint:
			dst = appendTextUint(dst, uint64(v.I64[i]), false)
		case textBytes:
			dst = appendLenEncBytes(dst, v.Bytes[i])
		default:
			dst = c.appendTextWord(dst, v, i)
		}
	}
	return dst
}

// appendTextWord is the less frequent part of appendTextRow.
func (c *cell) appendTextWord(dst []byte, v *vec.Vec, i int) []byte {
	p := len(dst)
	dst = append(dst, 0)
	switch c.text {
	case textDatetime:
		dst = appendDatetime(dst, value.Time(v.I64[i]), c.scale)
	case textDate:
		dst = appendDate(dst, value.Time(v.I64[i]))
	case textTime:
		dst = appendDuration(dst, value.Duration(v.I64[i]), c.scale)
	case textDouble:
		dst = types.FormatFloat(dst, v.F64[i], false)
	case textFloat:
		dst = types.FormatFloat(dst, v.F64[i], true)
	case textDecimal:
		dst = appendDecimal(dst, v.Dec[i], c.scale)
	case textConvert:
		dst = c.appendConverted(dst, v.Bytes[i])
	default:
		dst = c.convertTail(types.AppendText(dst, *c.typ, v.Datum(i)), p+1)
	}
	return closeLenEnc(dst, p)
}

func appendDecimal(dst []byte, d value.Decimal, scale int) []byte {
	if d.Scale() != scale {
		d = d.Rescale(scale)
	}
	return d.AppendText(dst)
}

// bitmapOffset is the place of the first column in the NULL bitmap of binary
// rows.
const bitmapOffset = 2

// appendBinaryRow appends row i of a checked batch in the binary protocol:
//
//	00, NULL bitmap of (columns+9)/8 bytes, the values that are not NULL
func (h *Header) appendBinaryRow(dst []byte, b *vec.Batch, i int) []byte {
	dst = append(dst, 0)
	bitmap := len(dst)
	for n := (len(h.cells) + 7 + bitmapOffset) / 8; n > 0; n-- {
		dst = append(dst, 0)
	}
	for k := range h.cells {
		c := &h.cells[k]
		v := b.Cols[k]
		if v.Nulls.IsNull(i) || v.Kind == value.KindNull {
			bit := k + bitmapOffset
			dst[bitmap+bit>>3] |= 1 << (bit & 7)
			continue
		}
		switch c.binary {
		case binary8:
			dst = binary.LittleEndian.AppendUint64(dst, uint64(v.I64[i]))
		case binary4:
			dst = appendUint32(dst, uint32(v.I64[i]))
		case binary2:
			dst = appendUint16(dst, uint16(v.I64[i]))
		case binary1:
			dst = append(dst, byte(v.I64[i]))
		case binaryDouble:
			dst = binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.F64[i]))
		case binaryFloat:
			dst = appendUint32(dst, math.Float32bits(float32(v.F64[i])))
		case binaryDatetime:
			dst = appendBinaryTime(dst, value.Time(v.I64[i]))
		case binaryDate:
			dst = appendBinaryTime(dst, value.Time(v.I64[i]).Date())
		case binaryTime:
			dst = appendBinaryDuration(dst, value.Duration(v.I64[i]))
		default:
			if c.text == textBytes {
				dst = appendLenEncBytes(dst, v.Bytes[i])
			} else {
				dst = c.appendTextWord(dst, v, i)
			}
		}
	}
	return dst
}

var zeros [16]byte

// isPlain reports whether appendPlainRow can write a checked batch: BIGINT and
// bytes, without NULL.
func (h *Header) isPlain(b *vec.Batch) bool {
	if 1+(len(h.cells)+7+bitmapOffset)/8 > len(zeros) {
		return false
	}
	for k := range h.cells {
		c, v := &h.cells[k], b.Cols[k]
		if v.Nulls.Any() || v.Kind == value.KindNull || c.binary != binary8 && (c.binary != binaryText || c.text != textBytes) {
			return false
		}
	}
	return true
}

// appendPlainRow is appendBinaryRow for such a batch.
func (h *Header) appendPlainRow(dst []byte, b *vec.Batch, i int) []byte {
	dst = append(dst, zeros[:1+(len(h.cells)+7+bitmapOffset)/8]...)
	cols := b.Cols[:len(h.cells)]
	for k := range h.cells {
		if h.cells[k].binary == binary8 {
			dst = binary.LittleEndian.AppendUint64(dst, uint64(cols[k].I64[i]))
			continue
		}
		s := cols[k].Bytes[i]
		if len(s) < 251 {
			dst = append(dst, byte(len(s)))
		} else {
			dst = appendLenEnc(dst, uint64(len(s)))
		}
		dst = append(dst, s...)
	}
	return dst
}

// checkRow does for datums what checkBatch does for vectors. Signedness may
// differ: virtual tables fill in Int where the column is unsigned.
func (h *Header) checkRow(row []value.Datum) error {
	if len(row) != len(h.cells) {
		return sqlerr.Internal("result of %d columns has a row of %d", len(h.cells), len(row))
	}
	for i := range row {
		k, want := row[i].Kind(), h.cells[i].kind
		if k == want || k == value.KindNull || isInteger(k) && isInteger(want) {
			continue
		}
		return sqlerr.Internal("result column %d (%s) has a value of %s", i+1, h.cols[i].Type.ID, k)
	}
	return nil
}

func isInteger(k value.Kind) bool { return k == value.KindInt || k == value.KindUint }

// appendTextDatum appends a checked datum to a text row.
func (c *cell) appendTextDatum(dst []byte, d value.Datum) []byte {
	if d.IsNull() {
		return append(dst, nullCell)
	}
	switch c.text {
	case textInt, textUint:
		if d.Kind() == value.KindInt {
			return appendTextInt(dst, d.Int())
		}
		return appendTextUint(dst, d.Uint(), false)
	case textBytes:
		return appendLenEncBytes(dst, d.Bytes())
	}
	p := len(dst)
	dst = append(dst, 0)
	switch c.text {
	case textDatetime:
		dst = appendDatetime(dst, d.Time(), c.scale)
	case textDate:
		dst = appendDate(dst, d.Time())
	case textTime:
		dst = appendDuration(dst, d.Duration(), c.scale)
	case textDouble, textFloat:
		dst = types.FormatFloat(dst, d.Float(), c.text == textFloat)
	case textDecimal:
		dst = appendDecimal(dst, d.Decimal(), c.scale)
	case textConvert:
		dst = c.appendConverted(dst, d.Bytes())
	default:
		if isInteger(c.kind) && d.Kind() != c.kind {
			d = sameBits(c.kind, d)
		}
		dst = c.convertTail(types.AppendText(dst, *c.typ, d), p+1)
	}
	return closeLenEnc(dst, p)
}

func sameBits(k value.Kind, d value.Datum) value.Datum {
	if k == value.KindInt {
		return value.Int(int64(d.Bits()))
	}
	return value.Uint(d.Bits())
}

func (h *Header) appendTextDatums(dst []byte, row []value.Datum) []byte {
	for i := range row {
		dst = h.cells[i].appendTextDatum(dst, row[i])
	}
	return dst
}

func (h *Header) appendBinaryDatums(dst []byte, row []value.Datum) []byte {
	dst = append(dst, 0)
	bitmap := len(dst)
	for n := (len(h.cells) + 7 + bitmapOffset) / 8; n > 0; n-- {
		dst = append(dst, 0)
	}
	for k := range row {
		if row[k].IsNull() {
			bit := k + bitmapOffset
			dst[bitmap+bit>>3] |= 1 << (bit & 7)
			continue
		}
		dst = h.cells[k].appendBinaryDatum(dst, row[k])
	}
	return dst
}

func (c *cell) appendBinaryDatum(dst []byte, d value.Datum) []byte {
	switch c.binary {
	case binary8:
		return binary.LittleEndian.AppendUint64(dst, d.Bits())
	case binary4:
		return appendUint32(dst, uint32(d.Bits()))
	case binary2:
		return appendUint16(dst, uint16(d.Bits()))
	case binary1:
		return append(dst, byte(d.Bits()))
	case binaryDouble:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(d.Float()))
	case binaryFloat:
		return appendUint32(dst, math.Float32bits(float32(d.Float())))
	case binaryDatetime:
		return appendBinaryTime(dst, d.Time())
	case binaryDate:
		return appendBinaryTime(dst, d.Time().Date())
	case binaryTime:
		return appendBinaryDuration(dst, d.Duration())
	}
	return c.appendTextDatum(dst, d)
}
