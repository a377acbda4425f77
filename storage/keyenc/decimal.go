package keyenc

import (
	"bytes"
	"math/big"
	"strconv"

	"github.com/sqlots/sqlots/value"
)

// A decimal that is not zero is ±0.PPPP… × 100^E with base-100 digits P, of
// which neither the first nor the last is 0. Its encoding is
//
//	one byte   B0+E for positive numbers
//	digits     P+2 each (02 to 65)
//	01         the end, below every digit
//
// with every byte complemented for negative numbers. Zero is the byte 80, which is
// between the first bytes of both signs. E is -15 to 33 for DECIMAL(65,30).
const (
	decZero  = 0x80
	decBias  = 0xB0
	decEnd   = 0x01
	decDigit = 0x02
	minExp   = decZero + 1 - decBias
	maxExp   = 0xFF - decBias
)

// AppendDecimal appends a decimal; its scale does not matter. Numbers beyond
// DECIMAL(65,30) are ordered too, up to 10^±90, but not all of them decode.
func AppendDecimal(dst []byte, d value.Decimal, desc bool) []byte {
	start := len(dst)
	neg := d.Sign() < 0
	if d.IsZero() {
		dst = append(dst, decZero)
	} else {
		var buf [96]byte
		digits, scale := decimalDigits(buf[:0], d)
		dst = appendPairs(dst, digits, len(digits)-scale)
	}
	if neg != desc {
		complement(dst[start:])
	}
	return dst
}

// decimalDigits is the digits of |d| without leading zeros, and the scale.
func decimalDigits(buf []byte, d value.Decimal) ([]byte, int) {
	if hi, lo, ok := d.Int128(); ok {
		if hi == 0 {
			return strconv.AppendUint(buf, lo, 10), d.Scale()
		}
		if hi == -1 && lo != 0 {
			return strconv.AppendUint(buf, -lo, 10), d.Scale()
		}
	}
	_, digits, scale := d.Coefficient()
	return digits, scale
}

// appendPairs appends the number 0.digits × 10^intg.
func appendPairs(dst, digits []byte, intg int) []byte {
	for digits[len(digits)-1] == '0' {
		digits = digits[:len(digits)-1]
	}
	exp := (intg + 1) >> 1 // rounds towards +∞ also below zero
	dst = append(dst, byte(decBias+min(max(exp, minExp), maxExp)))
	if intg&1 != 0 {
		dst = append(dst, digits[0]-'0'+decDigit)
		digits = digits[1:]
	}
	for len(digits) > 1 {
		dst = append(dst, (digits[0]-'0')*10+digits[1]-'0'+decDigit)
		digits = digits[2:]
	}
	if len(digits) == 1 {
		dst = append(dst, (digits[0]-'0')*10+decDigit)
	}
	return append(dst, decEnd)
}

// Decimal reads what AppendDecimal wrote. The scale of the result is the least
// even one that holds the number.
func Decimal(b []byte, desc bool) (d value.Decimal, rest []byte, err error) {
	n, err := decimalLen(b, desc)
	if err != nil {
		return d, nil, err
	}
	rest = b[n:]
	var flip byte
	if desc {
		flip = 0xFF
	}
	first := b[0] ^ flip
	if first == decZero {
		return d, rest, nil
	}
	neg := first < decZero
	if neg {
		flip ^= 0xFF
	}
	exp := int(b[0]^flip) - decBias
	d, ok := fromPairs(b[1:n-1], flip, exp, neg)
	if !ok {
		return d, nil, ErrMalformed
	}
	return d, rest, nil
}

// fromPairs is the number 0.pairs × 100^exp; false when a byte is no digit.
func fromPairs(pairs []byte, flip byte, exp int, neg bool) (value.Decimal, bool) {
	scale := max(2*(len(pairs)-exp), 0)
	zeros := max(exp-len(pairs), 0)
	if scale > value.MaxDecimalScale || len(pairs)+zeros > maxPairs {
		return value.Decimal{}, false
	}
	if len(pairs)+zeros <= 9 {
		var u int64
		for _, p := range pairs {
			p = p ^ flip - decDigit
			if p > 99 {
				return value.Decimal{}, false
			}
			u = u*100 + int64(p)
		}
		for range zeros {
			u *= 100
		}
		if neg {
			u = -u
		}
		return value.DecimalFromInt128(u>>63, uint64(u), scale), true
	}
	var buf [256]byte
	text := buf[:0]
	if neg {
		text = append(text, '-')
	}
	for _, p := range pairs {
		p = p ^ flip - decDigit
		if p > 99 {
			return value.Decimal{}, false
		}
		text = append(text, '0'+p/10, '0'+p%10)
	}
	for range zeros {
		text = append(text, '0', '0')
	}
	coef, ok := new(big.Int).SetString(string(text), 10)
	if !ok {
		return value.Decimal{}, false
	}
	return value.DecimalFromBig(coef, scale), true
}

// maxPairs bounds the pairs of digits of a decimal that is read; 33 are the
// most of a DECIMAL.
const maxPairs = 50

// decimalLen is the number of bytes of the decimal at the start of b.
func decimalLen(b []byte, desc bool) (int, error) {
	if len(b) == 0 {
		return 0, ErrMalformed
	}
	first := b[0]
	if desc {
		first = ^first
	}
	if first == decZero {
		return 1, nil
	}
	end := byte(decEnd)
	if (first < decZero) != desc {
		end = ^end
	}
	i := bytes.IndexByte(b[1:], end)
	if i < 1 || i > maxPairs {
		return 0, ErrMalformed
	}
	return i + 2, nil
}

// SkipDecimal skips what AppendDecimal wrote.
func SkipDecimal(b []byte, desc bool) (rest []byte, err error) {
	n, err := decimalLen(b, desc)
	if err != nil {
		return nil, err
	}
	return b[n:], nil
}
