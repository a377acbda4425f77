package value

import (
	"bytes"
	"strconv"
	"unsafe"
)

const (
	// longFloat is the length of a text from which on ParseFloat shortens it.
	longFloat = 2000
	// floatDigits are more than decide how any number is rounded.
	floatDigits = 800
)

// ParseFloat is strconv.ParseFloat for decimal texts of any length: digits, with a sign, a
// point and an exponent or without. Its time is that of reading the text once.
func ParseFloat(text []byte) (float64, error) {
	if len(text) >= longFloat {
		text = shortFloat(text)
	}
	return strconv.ParseFloat(unsafe.String(unsafe.SliceData(text), len(text)), 64)
}

// shortFloat is the same number with few digits: of those after floatDigits it only
// matters whether they are zero.
func shortFloat(text []byte) []byte {
	mantissa, tail := text, []byte(nil)
	if i := bytes.IndexAny(text, "eE"); i >= 0 {
		mantissa, tail = text[:i], text[i+1:]
	}
	out := make([]byte, 0, 2*floatDigits)
	if mantissa[0] == '-' || mantissa[0] == '+' {
		out, mantissa = append(out, mantissa[0]), mantissa[1:]
	}
	whole, fraction, _ := bytes.Cut(mantissa, []byte{'.'})
	exp := 0
	whole = bytes.TrimLeft(whole, "0")
	if len(whole) == 0 {
		n := len(fraction)
		fraction = bytes.TrimLeft(fraction, "0")
		exp = len(fraction) - n
	}
	digits := append(append(make([]byte, 0, 2*floatDigits), whole[:min(len(whole), floatDigits)]...), fraction[:min(len(fraction), max(floatDigits-len(whole), 0))]...)
	exp += len(whole) - len(digits)
	if len(digits) < len(whole)+len(fraction) && !onlyZeros(whole[min(len(whole), floatDigits):], fraction[min(len(fraction), max(floatDigits-len(whole), 0)):]) {
		digits, exp = append(digits, '1'), exp-1
	}
	if len(digits) == 0 {
		return append(out, '0')
	}
	return strconv.AppendInt(append(append(out, digits...), 'e'), int64(exp)+clampedExponent(tail), 10)
}

func onlyZeros(parts ...[]byte) bool {
	for _, p := range parts {
		if len(bytes.Trim(p, "0")) > 0 {
			return false
		}
	}
	return true
}

// clampedExponent is the exponent of a text, or one that is larger than any text is long.
func clampedExponent(text []byte) int64 {
	negative := len(text) > 0 && text[0] == '-'
	digits := bytes.TrimLeft(bytes.TrimLeft(text, "+-"), "0")
	n := int64(1) << 40
	if len(digits) < 12 {
		n, _ = strconv.ParseInt("0"+string(digits), 10, 64)
	}
	if negative {
		return -n
	}
	return n
}
