package value

import "math/big"

// ParseDecimal reads a decimal number with optional sign, point and exponent;
// spaces around it are allowed. As MySQL does it keeps nine groups of nine
// digits, which begin at the point, and cuts off what follows them.
// ErrSyntax when s is something else, ErrRange (with the nearest number of 65
// digits) when the digits before the point need more groups.
func ParseDecimal(s string) (Decimal, error) {
	d, n, err := parsePrefix(s)
	if err == ErrSyntax {
		return d, err
	}
	for ; n < len(s); n++ {
		if !isSpace(s[n]) {
			return Decimal{}, ErrSyntax
		}
	}
	return d, err
}

// ParseDecimalPrefix reads the longest prefix of s that is a number and returns
// its length; ErrSyntax (and 0) if no prefix is one, ErrRange as ParseDecimal.
func ParseDecimalPrefix(s []byte) (d Decimal, n int, err error) { return parsePrefix(s) }

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c-'0' < 10 }

// parsePrefix is ParseDecimalPrefix for both kinds of text.
func parsePrefix[T string | []byte](s T) (Decimal, int, error) {
	i := 0
	for i < len(s) && isSpace(s[i]) {
		i++
	}
	neg := false
	if i < len(s) && (s[i] == '-' || s[i] == '+') {
		neg = s[i] == '-'
		i++
	}
	start := i
	for i < len(s) && isDigit(s[i]) {
		i++
	}
	intEnd, fracStart, fracEnd := i, i, i
	if i < len(s) && s[i] == '.' {
		i++
		fracStart = i
		for i < len(s) && isDigit(s[i]) {
			i++
		}
		fracEnd = i
	}
	if intEnd == start && fracEnd == fracStart {
		return Decimal{}, 0, ErrSyntax
	}
	exp, i := parseExponent(s, i)
	d, err := fromDigits(neg, s[start:intEnd], s[fracStart:fracEnd], exp)
	return d, i, err
}

// parseExponent reads an exponent at i, if there is a whole one.
func parseExponent[T string | []byte](s T, i int) (exp, end int) {
	if i >= len(s) || s[i]|0x20 != 'e' {
		return 0, i
	}
	j := i + 1
	neg := false
	if j < len(s) && (s[j] == '-' || s[j] == '+') {
		neg = s[j] == '-'
		j++
	}
	if j >= len(s) || !isDigit(s[j]) {
		return 0, i
	}
	for ; j < len(s) && isDigit(s[j]); j++ {
		exp = min(exp*10+int(s[j]-'0'), 1<<20)
	}
	if neg {
		exp = -exp
	}
	return exp, j
}

func fromDigits[T string | []byte](neg bool, intg, frac T, exp int) (Decimal, error) {
	if n := len(intg) + len(frac); n <= 38 && exp == 0 && len(frac) <= MaxDecimalScale {
		var m u128
		var lo uint64
		if n <= 19 {
			for i := range len(intg) {
				lo = lo*10 + uint64(intg[i]-'0')
			}
			for i := range len(frac) {
				lo = lo*10 + uint64(frac[i]-'0')
			}
			return narrow(neg, u128{0, lo}, len(frac)), nil
		}
		for i := range len(intg) {
			m, _ = m.mul64(10)
			m = m.add(u128{0, uint64(intg[i] - '0')})
		}
		for i := range len(frac) {
			m, _ = m.mul64(10)
			m = m.add(u128{0, uint64(frac[i] - '0')})
		}
		if m.fits() {
			return narrow(neg, m, len(frac)), nil
		}
	}
	return fromDigitsSlow(neg, string(intg)+string(frac), len(frac)-exp)
}

// fromDigitsSlow is digits * 10^-scale with any scale.
func fromDigitsSlow(neg bool, digits string, scale int) (Decimal, error) {
	for len(digits) > 0 && digits[0] == '0' {
		digits = digits[1:]
	}
	intg := len(digits) - scale
	if len(digits) > 0 && intg > 9*groups {
		d := MaxDecimal(MaxDecimalDigits, 0)
		if neg {
			d = d.Neg()
		}
		return d, ErrRange
	}
	if room := 9*groups - words(max(intg, 0)); scale > room {
		digits, scale = digits[:max(len(digits)-(scale-room), 0)], room
	}
	b := new(big.Int)
	if digits != "" {
		b.SetString(digits, 10)
	}
	if scale < 0 {
		b.Mul(b, bigPow10(min(-scale, 9*groups)))
		scale = 0
	}
	if neg {
		b.Neg(b)
	}
	return fromBig(b, scale), nil
}
