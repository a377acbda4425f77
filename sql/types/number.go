package types

import (
	"math"
	"unsafe"

	"github.com/sqlots/sqlots/value"
)

func isDigit(c byte) bool { return c-'0' < 10 }

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func skipSpaces(s []byte) []byte {
	for len(s) > 0 && isSpace(s[0]) {
		s = s[1:]
	}
	return s
}

func onlySpaces(s []byte) bool { return len(skipSpaces(s)) == 0 }

// text shares b as a string for the time of one call.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// intPrefix is the integer at the start of a string.
type intPrefix struct {
	neg      bool
	mag      uint64
	found    bool // there was a digit
	overflow bool // more than 64 bits
	clean    bool // nothing but spaces follows
}

// parseIntPrefix reads sign and digits after leading spaces.
func parseIntPrefix(s []byte) (p intPrefix) {
	s = skipSpaces(s)
	i := 0
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		p.neg = s[i] == '-'
		i++
	}
	for ; i < len(s) && isDigit(s[i]); i++ {
		p.found = true
		c := uint64(s[i] - '0')
		if p.mag > math.MaxUint64/10 || p.mag*10 > math.MaxUint64-c {
			p.overflow = true
			p.mag = math.MaxUint64
			continue
		}
		if !p.overflow {
			p.mag = p.mag*10 + c
		}
	}
	p.clean = p.found && onlySpaces(s[i:])
	return p
}

// floatPrefix is the number at the start of a string, its end and whether it
// was out of the range of DOUBLE; n is 0 if it starts with none.
func floatPrefix(s []byte) (f float64, n int, overflow bool) {
	i := len(s) - len(skipSpaces(s))
	start := i
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		i++
	}
	digits := 0
	small := true
	mag := int64(0)
	for ; i < len(s) && isDigit(s[i]); i++ {
		digits++
		mag = mag*10 + int64(s[i]-'0')
	}
	if digits > 15 {
		small = false
	}
	if i < len(s) && s[i] == '.' {
		j := i + 1
		for j < len(s) && isDigit(s[j]) {
			j++
		}
		if j > i+1 || digits > 0 {
			small = small && j == i+1
			digits += j - i - 1
			i = j
		}
	}
	if digits == 0 {
		return 0, 0, false
	}
	if i < len(s) && s[i]|0x20 == 'e' {
		j := i + 1
		if j < len(s) && (s[j] == '-' || s[j] == '+') {
			j++
		}
		if j < len(s) && isDigit(s[j]) {
			for j < len(s) && isDigit(s[j]) {
				j++
			}
			i, small = j, false
		}
	}
	if small {
		if s[start] == '-' {
			return -float64(mag), i, false
		}
		return float64(mag), i, false
	}
	f, err := value.ParseFloat(s[start:i])
	if err != nil && math.IsInf(f, 0) {
		return math.Copysign(math.MaxFloat64, f), i, true
	}
	return f, i, false
}

// decimalPrefix is the decimal at the start of a string; n is 0 if it starts with
// none. Out of range it is the nearest number of 65 digits.
func decimalPrefix(s []byte) (d value.Decimal, n int, overflow bool) {
	d, n, err := value.ParseDecimalPrefix(s)
	return d, n, err == value.ErrRange
}

// roundFloat rounds half to even to scale digits, as MySQL rounds the
// values of FLOAT(M,D).
func roundFloat(f float64, scale int) float64 {
	p := math.Pow10(scale)
	r := f * p
	if math.IsInf(r, 0) {
		return f
	}
	return math.RoundToEven(r) / p
}

// floatToInt is f rounded half to even; out of range the nearest, and false.
func floatToInt(f float64) (int64, bool) {
	f = math.RoundToEven(f)
	switch {
	case f >= 1<<63:
		return math.MaxInt64, false
	case f < -1<<63:
		return math.MinInt64, false
	}
	return int64(f), true
}

// floatToUint is f rounded half to even; out of range the nearest, and false.
func floatToUint(f float64) (uint64, bool) {
	f = math.RoundToEven(f)
	switch {
	case f >= 1<<64:
		return math.MaxUint64, false
	case f < 0:
		return 0, false
	}
	return uint64(f), true
}
