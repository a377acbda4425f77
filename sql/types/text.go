package types

import (
	"math"
	"strconv"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// AppendText appends the text-protocol form of d, a value of type t that is
// not NULL: ENUM and SET as names, BIT as bytes, DECIMAL and times with the
// digits of the type, ZEROFILL padded. Character strings keep the character
// set of t.
func AppendText(dst []byte, t schema.Type, d value.Datum) []byte {
	switch d.Kind() {
	case value.KindBytes:
		return append(dst, d.Bytes()...)
	case value.KindInt:
		return strconv.AppendInt(dst, d.Int(), 10)
	case value.KindUint:
		return appendUint(dst, t, d.Uint())
	case value.KindFloat:
		return appendFloat(dst, t, d.Float())
	case value.KindDecimal:
		return appendDecimal(dst, t, d.Decimal())
	case value.KindTime:
		return d.Time().AppendText(dst, fspOf(t), t.ID == schema.TypeDate)
	case value.KindDuration:
		return d.Duration().AppendText(dst, fspOf(t))
	case value.KindJSON:
		return value.AppendJSONText(dst, d.Bytes())
	}
	return dst
}

// fspOf is the digits of the second of a time type, 0 for other types.
func fspOf(t schema.Type) int {
	if t.IsTemporal() && t.ID != schema.TypeDate {
		return min(max(t.Scale, 0), 6)
	}
	return 0
}

func appendComma(dst []byte, id schema.CollationID) []byte {
	if c, ok := collate.Lookup(id); ok {
		return c.ASCII(dst, ",")
	}
	return append(dst, ',')
}

func appendUint(dst []byte, t schema.Type, v uint64) []byte {
	switch t.ID {
	case schema.TypeEnum:
		if v >= 1 && v <= uint64(len(t.Elems)) {
			dst = append(dst, t.Elems[v-1]...)
		}
		return dst
	case schema.TypeSet:
		first := true
		for i, e := range t.Elems {
			if v&(1<<i) == 0 {
				continue
			}
			if !first {
				dst = appendComma(dst, t.Collation)
			}
			dst = append(dst, e...)
			first = false
		}
		return dst
	case schema.TypeBit:
		for i := bitBytes(t) - 1; i >= 0; i-- {
			dst = append(dst, byte(v>>(8*i)))
		}
		return dst
	case schema.TypeYear:
		return appendPadded(dst, strconv.AppendUint(nil, v, 10), 4)
	}
	if t.Zerofill {
		var buf [20]byte
		return appendPadded(dst, strconv.AppendUint(buf[:0], v, 10), t.Len)
	}
	return strconv.AppendUint(dst, v, 10)
}

func appendPadded(dst, text []byte, width int) []byte {
	for n := width - len(text); n > 0; n-- {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}

// bitBytes is the number of bytes of BIT(n).
func bitBytes(t schema.Type) int { return min((max(t.Len, 1)+7)/8, 8) }

func appendFloat(dst []byte, t schema.Type, f float64) []byte {
	if !isFixedFloat(t) {
		if t.Zerofill {
			var buf [32]byte
			return appendPadded(dst, FormatFloat(buf[:0], f, t.ID == schema.TypeFloat), zerofillLen(t))
		}
		return FormatFloat(dst, f, t.ID == schema.TypeFloat)
	}
	var buf [64]byte
	text := strconv.AppendFloat(buf[:0], f, 'f', t.Scale, 64)
	if t.Zerofill {
		return appendPadded(dst, text, t.Len)
	}
	return append(dst, text...)
}

// isFixedFloat reports FLOAT(M,D) and DOUBLE(M,D).
func isFixedFloat(t schema.Type) bool {
	return t.IsFloat() && t.Len > 0 && t.Scale >= 0 && t.Scale <= 30
}

func appendDecimal(dst []byte, t schema.Type, d value.Decimal) []byte {
	if t.ID == schema.TypeDecimal && t.Scale >= 0 && t.Scale != d.Scale() {
		d = d.Rescale(t.Scale)
	}
	if t.ID == schema.TypeDecimal && t.Zerofill {
		width := t.Len
		if t.Scale > 0 {
			width++
		}
		return appendPadded(dst, d.AppendText(nil), width)
	}
	return d.AppendText(dst)
}

// FormatFloat appends f as MySQL prints it: the shortest text that reads back as
// f (for single, at most 6 digits), with an exponent when f has more than 15
// digits before the point or more than 14 zeros after it.
func FormatFloat(dst []byte, f float64, single bool) []byte {
	if f == 0 {
		if math.Signbit(f) {
			dst = append(dst, '-')
		}
		return append(dst, '0')
	}
	if f == math.Trunc(f) && math.Abs(f) < 1e6 {
		return strconv.AppendInt(dst, int64(f), 10)
	}
	prec := -1
	if single {
		prec = 5
	}
	var buf [32]byte
	e := strconv.AppendFloat(buf[:0], f, 'e', prec, 64)
	if e[0] == '-' {
		dst = append(dst, '-')
		e = e[1:]
	}
	if e[0] > '9' { // Inf, NaN: never stored
		return append(dst, e...)
	}
	digits, exp := splitExponent(e)
	if exp < -15 || exp >= 15 {
		dst = append(dst, digits[0])
		if len(digits) > 1 {
			dst = append(append(dst, '.'), digits[1:]...)
		}
		return strconv.AppendInt(append(dst, 'e'), int64(exp), 10)
	}
	if exp < 0 {
		dst = append(dst, '0', '.')
		for i := -1; i > exp; i-- {
			dst = append(dst, '0')
		}
		return append(dst, digits...)
	}
	for i := 0; i <= exp; i++ {
		if i < len(digits) {
			dst = append(dst, digits[i])
		} else {
			dst = append(dst, '0')
		}
	}
	if len(digits) > exp+1 {
		dst = append(append(dst, '.'), digits[exp+1:]...)
	}
	return dst
}

// splitExponent takes d.ddde±xx apart into digits without trailing zeros,
// moved together in place, and the exponent.
func splitExponent(e []byte) (digits []byte, exp int) {
	i := len(e) - 1
	for e[i] != 'e' {
		i--
	}
	for _, c := range e[i+2:] {
		exp = exp*10 + int(c-'0')
	}
	if e[i+1] == '-' {
		exp = -exp
	}
	digits = e[:i]
	if len(digits) > 1 {
		digits[1] = digits[0]
		digits = digits[1:]
	}
	for len(digits) > 1 && digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	return digits, exp
}
