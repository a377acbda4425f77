package value

import "math/bits"

// u128 is an unsigned 128-bit number, the magnitude of most decimals.
type u128 struct{ hi, lo uint64 }

// pow10 are the powers of ten below 2^128.
var pow10 = makePow10()

// The greatest exponents of them, and of those below 2^63.
const (
	maxPow10   = 38
	smallPow10 = 18
)

func makePow10() (t [maxPow10 + 1]u128) {
	t[0] = u128{0, 1}
	for i := 1; i < len(t); i++ {
		t[i], _ = t[i-1].mul64(10)
	}
	return t
}

func (a u128) isZero() bool { return a.hi|a.lo == 0 }

func (a u128) cmp(b u128) int {
	switch {
	case a.hi < b.hi || a.hi == b.hi && a.lo < b.lo:
		return -1
	case a == b:
		return 0
	}
	return 1
}

// add and sub wrap; callers know that they do not.
func (a u128) add(b u128) u128 {
	lo, c := bits.Add64(a.lo, b.lo, 0)
	hi, _ := bits.Add64(a.hi, b.hi, c)
	return u128{hi, lo}
}

func (a u128) sub(b u128) u128 {
	lo, c := bits.Sub64(a.lo, b.lo, 0)
	hi, _ := bits.Sub64(a.hi, b.hi, c)
	return u128{hi, lo}
}

func (a u128) mul64(m uint64) (u128, bool) {
	h1, lo := bits.Mul64(a.lo, m)
	h2, l2 := bits.Mul64(a.hi, m)
	hi, c := bits.Add64(h1, l2, 0)
	return u128{hi, lo}, h2 == 0 && c == 0
}

func (a u128) mul(b u128) (u128, bool) {
	switch {
	case b.hi == 0:
		return a.mul64(b.lo)
	case a.hi == 0:
		return b.mul64(a.lo)
	}
	return u128{}, false
}

func (a u128) divMod64(d uint64) (q u128, r uint64) {
	q.hi, r = a.hi/d, a.hi%d
	q.lo, r = bits.Div64(r, a.lo, d)
	return q, r
}

// divMod divides by b, which is not 0.
func (a u128) divMod(b u128) (q, r u128) {
	if b.hi == 0 {
		q, r.lo = a.divMod64(b.lo)
		return q, r
	}
	// b >= 2^64, so the quotient fits 64 bits. Divide by b's top 64 bits; with
	// b normalised (Hacker's Delight, divlu) the guess is at most one too
	// large, so one less is never too large.
	n := uint(bits.LeadingZeros64(b.hi))
	top := b.hi<<n | b.lo>>1>>(63-n)
	g, _ := bits.Div64(a.hi>>1, a.hi<<63|a.lo>>1, top)
	g >>= 63 - n
	if g > 0 {
		g--
	}
	p, _ := b.mul64(g)
	r = a.sub(p)
	for r.cmp(b) >= 0 {
		r = r.sub(b)
		g++
	}
	return u128{0, g}, r
}

// digits is the number of decimal digits, 0 for 0.
func (a u128) digits() int {
	n := 128 - bits.LeadingZeros64(a.hi)
	if a.hi == 0 {
		n = 64 - bits.LeadingZeros64(a.lo)
	}
	if n == 0 {
		return 0
	}
	d := n * 1233 >> 12 // log10(2); exact or one too small
	if d <= maxPow10 && a.cmp(pow10[d]) >= 0 {
		d++
	}
	return d
}

// appendDigits appends a in decimal, at least width digits.
func (a u128) appendDigits(dst []byte, width int) []byte {
	var buf [40]byte
	i := len(buf)
	for a.hi != 0 {
		var r uint64
		a, r = a.divMod64(1e19)
		for k := 0; k < 19; k++ {
			i--
			buf[i] = byte('0' + r%10)
			r /= 10
		}
	}
	for x := a.lo; x != 0; x /= 10 {
		i--
		buf[i] = byte('0' + x%10)
	}
	for n := len(buf) - i; n < width; n++ {
		dst = append(dst, '0')
	}
	return append(dst, buf[i:]...)
}
