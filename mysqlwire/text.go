package mysqlwire

import (
	"strconv"

	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// For writers of results in other forms: values as the text protocol has them, without
// their lengths, and in UTF-8 but for binary strings.

// Check reports whether the vectors of a batch are those that the header declares.
func (h *Header) Check(b *vec.Batch) error { return h.checkBatch(b) }

// CheckRow does for datums what Check does for vectors.
func (h *Header) CheckRow(row []value.Datum) error { return h.checkRow(row) }

// AppendText appends the text of row i of v, which is column k of a checked batch and not
// NULL there.
func (h *Header) AppendText(dst []byte, k int, v *vec.Vec, i int) []byte {
	c := &h.cells[k]
	switch c.text {
	case textInt:
		return strconv.AppendInt(dst, v.I64[i], 10)
	case textUint:
		return strconv.AppendUint(dst, uint64(v.I64[i]), 10)
	case textBytes:
		return append(dst, v.Bytes[i]...)
	case textDatetime:
		return appendDatetime(dst, value.Time(v.I64[i]), c.scale)
	case textDate:
		return appendDate(dst, value.Time(v.I64[i]))
	case textTime:
		return appendDuration(dst, value.Duration(v.I64[i]), c.scale)
	case textDouble:
		return types.FormatFloat(dst, v.F64[i], false)
	case textFloat:
		return types.FormatFloat(dst, v.F64[i], true)
	case textDecimal:
		return appendDecimal(dst, v.Dec[i], c.scale)
	case textConvert:
		return c.appendConverted(dst, v.Bytes[i])
	}
	return c.convertTail(types.AppendText(dst, *c.typ, v.Datum(i)), len(dst))
}

// AppendDatum does for a value of a checked row what AppendText does for one of a batch.
func (h *Header) AppendDatum(dst []byte, k int, d value.Datum) []byte {
	c := &h.cells[k]
	switch c.text {
	case textDatetime:
		return appendDatetime(dst, d.Time(), c.scale)
	case textDate:
		return appendDate(dst, d.Time())
	case textTime:
		return appendDuration(dst, d.Duration(), c.scale)
	case textDouble, textFloat:
		return types.FormatFloat(dst, d.Float(), c.text == textFloat)
	case textDecimal:
		return appendDecimal(dst, d.Decimal(), c.scale)
	case textConvert:
		return c.appendConverted(dst, d.Bytes())
	}
	if isInteger(c.kind) && d.Kind() != c.kind {
		d = sameBits(c.kind, d)
	}
	return c.convertTail(types.AppendText(dst, *c.typ, d), len(dst))
}
