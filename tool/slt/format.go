package slt

import (
	"database/sql/driver"
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode"
	"unicode/utf8"
)

// typeUTF8 is T in files of UTF-8.
const typeUTF8 = 'U'

// appendValue appends v as the dialect prints a column of type I, R, T or
// typeUTF8.
func appendValue(dst []byte, typ byte, v driver.Value) []byte {
	if v == nil {
		return append(dst, "NULL"...)
	}
	switch typ {
	case 'I':
		return appendInteger(dst, v)
	case 'R':
		return strconv.AppendFloat(dst, toFloat(v), 'f', 3, 64)
	}
	return appendText(dst, v, typ == typeUTF8)
}

// appendInteger cuts fractions off, as SQLite's runner does: 52.5 gives 52.
// Integers of any size, such as a BIGINT UNSIGNED in text, keep their digits.
func appendInteger(dst []byte, v driver.Value) []byte {
	switch v := v.(type) {
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case uint64:
		return strconv.AppendUint(dst, v, 10)
	case bool:
		if v {
			return append(dst, '1')
		}
		return append(dst, '0')
	case float32:
		return appendTruncated(dst, float64(v))
	case float64:
		return appendTruncated(dst, v)
	case []byte:
		return appendIntegerPrefix(dst, string(v))
	case string:
		return appendIntegerPrefix(dst, v)
	}
	return appendIntegerPrefix(dst, fmt.Sprint(v))
}

func appendTruncated(dst []byte, f float64) []byte {
	f = math.Trunc(f)
	if f == 0 || math.IsNaN(f) {
		return append(dst, '0')
	}
	return strconv.AppendFloat(dst, f, 'f', -1, 64)
}

// appendIntegerPrefix appends the leading integer of s, or 0 without one.
func appendIntegerPrefix(dst []byte, s string) []byte {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	neg := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	for i < len(s) && s[i] == '0' {
		i++
	}
	start := i
	for i < len(s) && s[i] >= '0' && s[i] <= '9' {
		i++
	}
	if i == start {
		return append(dst, '0')
	}
	if neg {
		dst = append(dst, '-')
	}
	return append(dst, s[start:i]...)
}

func toFloat(v driver.Value) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	case float32:
		return float64(v)
	case float64:
		return v
	case []byte:
		return floatPrefix(string(v))
	case string:
		return floatPrefix(v)
	}
	return floatPrefix(fmt.Sprint(v))
}

// floatPrefix is C's atof: the longest leading number, or 0.
func floatPrefix(s string) float64 {
	if f, err := strconv.ParseFloat(s, 64); err == nil {
		return f
	}
	for end := len(s) - 1; end > 0; end-- {
		if f, err := strconv.ParseFloat(s[:end], 64); err == nil {
			return f
		}
	}
	return 0
}

func appendText(dst []byte, v driver.Value, wide bool) []byte {
	switch v := v.(type) {
	case []byte:
		return appendPrintable(dst, string(v), wide)
	case string:
		return appendPrintable(dst, v, wide)
	case int64:
		return strconv.AppendInt(dst, v, 10)
	case uint64:
		return strconv.AppendUint(dst, v, 10)
	case float32:
		return appendFloat(dst, float64(v), 6, 32)
	case float64:
		return appendFloat(dst, v, -1, 64)
	case time.Time:
		return v.AppendFormat(dst, "2006-01-02 15:04:05.999999")
	}
	return appendPrintable(dst, fmt.Sprint(v), wide)
}

// appendPrintable puts '@' in the place of each byte that is not printable
// ASCII or, where wide, no part of a printable character.
func appendPrintable(dst []byte, s string, wide bool) []byte {
	if s == "" {
		return append(dst, "(empty)"...)
	}
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf && wide {
			if r, n := utf8.DecodeRuneInString(s[i:]); n > 1 && unicode.IsPrint(r) {
				dst = append(dst, s[i:i+n]...)
				i += n - 1
				continue
			}
		}
		if c < ' ' || c > '~' {
			c = '@'
		}
		dst = append(dst, c)
	}
	return dst
}

// appendFloat prints as a MySQL server does in the text protocol: shortest
// digits (FLOAT: at most 6), in exponent form when the decimal point would be
// more than 14 places left or 15 right of the first digit. The driver hands
// floats over as numbers, so both protocols need this.
func appendFloat(dst []byte, f float64, digits, bits int) []byte {
	if f == 0 {
		if math.Signbit(f) {
			return append(dst, "-0"...)
		}
		return append(dst, '0')
	}
	prec := -1
	if digits > 0 {
		prec = digits - 1
	}
	var buf [32]byte
	mant := strconv.AppendFloat(buf[:0], f, 'e', prec, bits)
	e := len(mant) - 1
	for mant[e] != 'e' {
		e--
	}
	exp, _ := strconv.Atoi(string(mant[e+1:]))
	m := mant[:e]
	if digits > 0 {
		for len(m) > 0 && m[len(m)-1] == '0' {
			m = m[:len(m)-1]
		}
		if m[len(m)-1] == '.' {
			m = m[:len(m)-1]
		}
	}
	if exp >= 15 || exp < -15 {
		dst = append(dst, m...)
		dst = append(dst, 'e')
		return strconv.AppendInt(dst, int64(exp), 10)
	}
	short, err := strconv.ParseFloat(string(m)+string(mant[e:]), 64)
	if err != nil {
		short = f
	}
	return strconv.AppendFloat(dst, short, 'f', -1, 64)
}
