package rowenc

import (
	"encoding/binary"
	"math"
	"math/big"

	"github.com/sqlots/sqlots/value"
)

// AppendInt appends a signed integer or a duration.
func AppendInt(dst []byte, v int64) []byte {
	switch {
	case v == int64(int8(v)):
		return append(dst, byte(v))
	case v == int64(int16(v)):
		return binary.LittleEndian.AppendUint16(dst, uint16(v))
	case v == int64(int32(v)):
		return binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(v))
}

// Int reads what AppendInt wrote; false when b is none.
func Int(b []byte) (int64, bool) {
	switch len(b) {
	case 1:
		return int64(int8(b[0])), true
	case 2:
		return int64(int16(binary.LittleEndian.Uint16(b))), true
	case 4:
		return int64(int32(binary.LittleEndian.Uint32(b))), true
	case 8:
		return int64(binary.LittleEndian.Uint64(b)), true
	}
	return 0, false
}

// AppendUint appends an unsigned integer.
func AppendUint(dst []byte, v uint64) []byte {
	switch {
	case v <= math.MaxUint8:
		return append(dst, byte(v))
	case v <= math.MaxUint16:
		return binary.LittleEndian.AppendUint16(dst, uint16(v))
	case v <= math.MaxUint32:
		return binary.LittleEndian.AppendUint32(dst, uint32(v))
	}
	return binary.LittleEndian.AppendUint64(dst, v)
}

// Uint reads what AppendUint wrote; false when b is none.
func Uint(b []byte) (uint64, bool) {
	switch len(b) {
	case 1:
		return uint64(b[0]), true
	case 2:
		return uint64(binary.LittleEndian.Uint16(b)), true
	case 4:
		return uint64(binary.LittleEndian.Uint32(b)), true
	case 8:
		return binary.LittleEndian.Uint64(b), true
	}
	return 0, false
}

// AppendFloat appends a float.
func AppendFloat(dst []byte, f float64) []byte {
	if s := float32(f); float64(s) == f {
		return binary.LittleEndian.AppendUint32(dst, math.Float32bits(s))
	}
	return binary.LittleEndian.AppendUint64(dst, math.Float64bits(f))
}

// Float reads what AppendFloat wrote; false when b is none.
func Float(b []byte) (float64, bool) {
	switch len(b) {
	case 4:
		return float64(math.Float32frombits(binary.LittleEndian.Uint32(b))), true
	case 8:
		return math.Float64frombits(binary.LittleEndian.Uint64(b)), true
	}
	return 0, false
}

// Bits of value.Time below the date and below the second.
const (
	dateShift   = 41
	secondShift = 24
	dateBytes   = 3
	secondBytes = 5
)

// AppendTime appends a date or time.
func AppendTime(dst []byte, t value.Time) []byte {
	var buf [8]byte
	switch {
	case t&(1<<dateShift-1) == 0:
		binary.LittleEndian.PutUint64(buf[:], uint64(t)>>dateShift)
		return append(dst, buf[:dateBytes]...)
	case t&(1<<secondShift-1) == 0:
		binary.LittleEndian.PutUint64(buf[:], uint64(t)>>secondShift)
		return append(dst, buf[:secondBytes]...)
	}
	return binary.LittleEndian.AppendUint64(dst, uint64(t))
}

// Time reads what AppendTime wrote; false when b is none.
func Time(b []byte) (value.Time, bool) {
	switch len(b) {
	case dateBytes:
		return value.Time(uint64(b[0])|uint64(b[1])<<8|uint64(b[2])<<16) << dateShift, true
	case secondBytes:
		return value.Time(uint64(binary.LittleEndian.Uint32(b))|uint64(b[4])<<32) << secondShift, true
	case 8:
		return value.Time(binary.LittleEndian.Uint64(b)), true
	}
	return 0, false
}

const wideDecimal = 0x80

// AppendDecimal appends a decimal with its scale.
func AppendDecimal(dst []byte, d value.Decimal) []byte {
	hi, lo, ok := d.Int128()
	if !ok {
		neg, digits, scale := d.Coefficient()
		coef, _ := new(big.Int).SetString(string(digits), 10)
		sign := byte(0)
		if neg {
			sign = 1
		}
		return append(append(dst, wideDecimal|byte(scale), sign), coef.Bytes()...)
	}
	var buf [16]byte
	binary.LittleEndian.PutUint64(buf[:], lo)
	binary.LittleEndian.PutUint64(buf[8:], uint64(hi))
	n := 16
	for n > 1 && (buf[n-1] == 0 && buf[n-2] < 0x80 || buf[n-1] == 0xFF && buf[n-2] >= 0x80) {
		n--
	}
	return append(append(dst, byte(d.Scale())), buf[:n]...)
}

// Decimal reads what AppendDecimal wrote; false when b is none.
func Decimal(b []byte) (value.Decimal, bool) {
	if len(b) < 2 || b[0]&^wideDecimal > value.MaxDecimalScale {
		return value.Decimal{}, false
	}
	scale := int(b[0] &^ wideDecimal)
	if b[0]&wideDecimal != 0 {
		if b[1] > 1 || len(b) > 64 {
			return value.Decimal{}, false
		}
		coef := new(big.Int).SetBytes(b[2:])
		if b[1] == 1 {
			coef.Neg(coef)
		}
		return value.DecimalFromBig(coef, scale), true
	}
	b = b[1:]
	if len(b) > 16 {
		return value.Decimal{}, false
	}
	sign := uint64(int64(int8(b[len(b)-1])) >> 63)
	lo, hi := sign, sign
	for i := len(b) - 1; i >= 0; i-- {
		hi = hi<<8 | lo>>56
		lo = lo<<8 | uint64(b[i])
	}
	return value.DecimalFromInt128(int64(hi), lo, scale), true
}

// AppendDatum appends a value that is not NULL.
func AppendDatum(dst []byte, d value.Datum) []byte {
	switch d.Kind() {
	case value.KindInt, value.KindDuration:
		return AppendInt(dst, int64(d.Bits()))
	case value.KindUint:
		return AppendUint(dst, d.Uint())
	case value.KindFloat:
		return AppendFloat(dst, d.Float())
	case value.KindTime:
		return AppendTime(dst, d.Time())
	case value.KindDecimal:
		return AppendDecimal(dst, d.Decimal())
	}
	return append(dst, d.Bytes()...)
}

// Datum reads a value of kind k; false when b is none. Byte values share b.
func Datum(b []byte, k value.Kind) (value.Datum, bool) {
	switch k {
	case value.KindInt:
		v, ok := Int(b)
		return value.Int(v), ok
	case value.KindDuration:
		v, ok := Int(b)
		return value.DurationOf(value.Duration(v)), ok
	case value.KindUint:
		v, ok := Uint(b)
		return value.Uint(v), ok
	case value.KindFloat:
		v, ok := Float(b)
		return value.Float(v), ok
	case value.KindTime:
		v, ok := Time(b)
		return value.TimeOf(v), ok
	case value.KindDecimal:
		v, ok := Decimal(b)
		return value.Dec(v), ok
	case value.KindBytes:
		return value.Bytes(b), true
	case value.KindJSON:
		return value.JSONOf(b), true
	}
	return value.Null, false
}
