package value

import (
	"errors"
	"math"
	"math/big"
	"math/bits"
	"strconv"
)

// Limits of DECIMAL.
const (
	MaxDecimalDigits = 65
	MaxDecimalScale  = 30
)

// groups is how many groups of nine digits MySQL computes with: numbers that
// are read keep more digits than DECIMAL has until they are stored or cast.
const groups = 9

// DivPrecisionIncrement is the default of div_precision_increment.
const DivPrecisionIncrement = 4

// Decimal is an exact number: coefficient * 10^-scale. In columns it has up to
// 65 digits with up to 30 after the point, in expressions up to 81. The zero
// Decimal is 0. The coefficient is the 128-bit two's complement number hi:lo
// unless wide is set. Decimals are immutable; wide is never written to after
// it is shared.
//
// Results of arithmetic may have more digits than DECIMAL allows: callers check
// Fits and clamp with MaxDecimal or report. Wide is set exactly when the
// magnitude has more than 127 bits, so that a number has one form per scale.
type Decimal struct {
	hi    int64
	lo    uint64
	wide  *big.Int
	scale uint8
}

// Errors of ParseDecimal.
var (
	ErrSyntax = errors.New("not a decimal number")
	ErrRange  = errors.New("decimal out of range")
)

// narrow makes a decimal of a magnitude below 2^127.
func narrow(neg bool, m u128, scale int) Decimal {
	if neg {
		lo := -m.lo
		hi := ^m.hi
		if lo == 0 {
			hi++
		}
		return Decimal{hi: int64(hi), lo: lo, scale: uint8(scale)}
	}
	return Decimal{hi: int64(m.hi), lo: m.lo, scale: uint8(scale)}
}

// parts is sign and magnitude of a decimal that is not wide.
func (d Decimal) parts() (neg bool, m u128) {
	if d.hi >= 0 {
		return false, u128{uint64(d.hi), d.lo}
	}
	lo := -d.lo
	hi := ^uint64(d.hi)
	if lo == 0 {
		hi++
	}
	return true, u128{hi, lo}
}

// isSmall reports a coefficient of 64 bits.
func (d *Decimal) isSmall() bool { return d.hi == int64(d.lo)>>63 && d.wide == nil }

// mulSmall is the product of two coefficients of 64 bits. It has 127 bits at most,
// with its sign.
func mulSmall(a, b uint64) (hi int64, lo uint64) {
	h, lo := bits.Mul64(a, b)
	return int64(h) - int64(a)>>63&int64(b) - int64(b)>>63&int64(a), lo
}

func (m u128) fits() bool { return m.hi>>63 == 0 }

// fromBig makes the one form of b; b is not to be changed afterwards.
func fromBig(b *big.Int, scale int) Decimal {
	if b.BitLen() > 127 {
		return Decimal{wide: b, scale: uint8(scale)}
	}
	var m u128
	var buf [16]byte
	b.FillBytes(buf[:])
	for i := range 8 {
		m.hi = m.hi<<8 | uint64(buf[i])
		m.lo = m.lo<<8 | uint64(buf[8+i])
	}
	return narrow(b.Sign() < 0, m, scale)
}

// big is the coefficient as a number that must not be changed.
func (d Decimal) big() *big.Int {
	if d.wide != nil {
		return d.wide
	}
	neg, m := d.parts()
	b := new(big.Int).SetUint64(m.hi)
	b.Lsh(b, 64)
	b.Or(b, new(big.Int).SetUint64(m.lo))
	if neg {
		b.Neg(b)
	}
	return b
}

func bigPow10(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// DecimalFromInt is v with scale 0.
func DecimalFromInt(v int64) Decimal { return Decimal{hi: v >> 63, lo: uint64(v)} }

// DecimalFromUint is v with scale 0.
func DecimalFromUint(v uint64) Decimal { return Decimal{lo: v} }

// DecimalFromBig is coef * 10^-scale; it keeps coef, which must not change any
// more. The scale is 0 to 30.
func DecimalFromBig(coef *big.Int, scale int) Decimal { return fromBig(coef, scale) }

// DecimalFromInt128 is the two's complement number hi:lo times 10^-scale, the
// reverse of Int128.
func DecimalFromInt128(hi int64, lo uint64, scale int) Decimal {
	return Decimal{hi: hi, lo: lo, scale: uint8(scale)}
}

// DecimalFromFloat is the decimal with the digits of the shortest text of f,
// as MySQL converts. ErrRange when it has more than 65 digits before the point
// or f is no number.
func DecimalFromFloat(f float64) (Decimal, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Decimal{}, ErrRange
	}
	var buf [32]byte
	d, _, err := parsePrefix(strconv.AppendFloat(buf[:0], f, 'e', -1, 64))
	return d, err
}

// MaxDecimal is the largest DECIMAL(prec, scale): all nines.
func MaxDecimal(prec, scale int) Decimal {
	if prec <= maxPow10 {
		return narrow(false, pow10[prec].sub(u128{0, 1}), scale)
	}
	b := bigPow10(prec)
	return fromBig(b.Sub(b, big.NewInt(1)), scale)
}

// Fits reports that the digits before the point fit DECIMAL(prec, scale).
func (d Decimal) Fits(prec, scale int) bool { return d.Digits()-int(d.scale) <= prec-scale }

// Overflows reports more digits before the point than MySQL computes with.
func (d Decimal) Overflows() bool { return d.Digits()-int(d.scale) > 9*groups }

// Scale is the number of digits after the point.
func (d Decimal) Scale() int { return int(d.scale) }

// Digits is the number of digits of the coefficient without leading zeros, 0
// for zero.
func (d Decimal) Digits() int {
	if d.wide != nil {
		n := d.wide.BitLen() * 1233 >> 12
		if d.wide.CmpAbs(bigPow10(n)) >= 0 {
			n++
		}
		return n
	}
	_, m := d.parts()
	return m.digits()
}

// Sign is -1, 0 or +1.
func (d Decimal) Sign() int {
	switch {
	case d.wide != nil:
		return d.wide.Sign()
	case d.hi < 0:
		return -1
	case d.hi == 0 && d.lo == 0:
		return 0
	}
	return 1
}

// IsZero reports 0 of any scale.
func (d Decimal) IsZero() bool { return d.Sign() == 0 }

// Int128 is the coefficient when it fits 128 bits.
func (d Decimal) Int128() (hi int64, lo uint64, ok bool) { return d.hi, d.lo, d.wide == nil }

// Big is the coefficient as a number that must not be changed.
func (d Decimal) Big() *big.Int { return d.big() }

// Coefficient is the number as sign, digits without leading zeros (none for 0)
// and scale.
func (d Decimal) Coefficient() (neg bool, digits []byte, scale int) {
	if d.wide != nil {
		digits = new(big.Int).Abs(d.wide).Append(nil, 10)
		return d.wide.Sign() < 0, digits, int(d.scale)
	}
	neg, m := d.parts()
	return neg, m.appendDigits(nil, 0), int(d.scale)
}

// Neg is -d.
func (d Decimal) Neg() Decimal {
	if d.wide != nil {
		return Decimal{wide: new(big.Int).Neg(d.wide), scale: d.scale}
	}
	if d.isSmall() && d.lo != 1<<63 {
		return Decimal{hi: int64(-d.lo) >> 63, lo: -d.lo, scale: d.scale}
	}
	neg, m := d.parts()
	return narrow(!neg, m, int(d.scale))
}

// Abs is |d|.
func (d Decimal) Abs() Decimal {
	if d.Sign() < 0 {
		return d.Neg()
	}
	return d
}

// scaleUp multiplies the coefficient by 10^by; false when it grows out of the
// fast path.
func (d Decimal) scaleUp(by int) (Decimal, bool) {
	if d.wide != nil || by > maxPow10 {
		return d, false
	}
	if by <= smallPow10 && d.isSmall() {
		hi, lo := mulSmall(d.lo, pow10[by].lo)
		return Decimal{hi: hi, lo: lo, scale: d.scale + uint8(by)}, true
	}
	neg, m := d.parts()
	m, ok := m.mul(pow10[by])
	if !ok || !m.fits() {
		return d, false
	}
	return narrow(neg, m, int(d.scale)+by), true
}

// Rescale gives d the scale, rounding half away from zero when it is smaller. A
// larger one is given as far as there are digits for it, see InGroups.
func (d Decimal) Rescale(scale int) Decimal {
	switch by := scale - int(d.scale); {
	case by == 0:
		return d
	case by < 0:
		return d.cut(-by, roundHalf)
	default:
		if r, ok := d.scaleUp(by); ok {
			return r
		}
		b := bigPow10(by)
		return fromBig(b.Mul(b, d.big()), scale).InGroups()
	}
}

type rounding uint8

const (
	roundHalf  rounding = iota // half away from zero
	roundDown                  // towards zero
	roundFloor                 // towards minus infinity
	roundCeil                  // towards plus infinity
)

// cut divides the coefficient by 10^by and takes by from the scale.
func (d Decimal) cut(by int, mode rounding) Decimal {
	scale := int(d.scale) - by
	if d.wide == nil {
		neg, m := d.parts()
		if by > maxPow10 {
			return narrow(neg, roundUp(u128{}, cmpHalf(m, u128{^uint64(0), ^uint64(0)}), m.isZero(), neg, mode), scale)
		}
		p := pow10[by]
		q, r := m.divMod(p)
		return narrow(neg, roundUp(q, cmpHalf(r, p), r.isZero(), neg, mode), scale)
	}
	p := bigPow10(by)
	q, r := new(big.Int).QuoRem(d.wide, p, new(big.Int))
	neg := d.wide.Sign() < 0
	half := r.CmpAbs(p.Rsh(p, 1)) // p is even
	inc := roundUp(u128{}, half, r.Sign() == 0, neg, mode)
	if !inc.isZero() {
		one := int64(1)
		if neg {
			one = -1
		}
		q.Add(q, big.NewInt(one))
	}
	return fromBig(q, scale)
}

// cmpHalf compares the remainder r of a division by p with p/2.
func cmpHalf(r, p u128) int {
	rest := p.sub(r)
	return r.cmp(rest)
}

// roundUp is q or q+1, depending on the mode.
func roundUp(q u128, half int, exact, neg bool, mode rounding) u128 {
	up := false
	switch mode {
	case roundHalf:
		up = half >= 0
	case roundFloor:
		up = neg && !exact
	case roundCeil:
		up = !neg && !exact
	}
	if up {
		return q.add(u128{0, 1})
	}
	return q
}

// Round rounds half away from zero to scale digits after the point; a
// negative scale rounds before the point and gives scale 0. A scale above that
// of d leaves d unchanged.
func (d Decimal) Round(scale int) Decimal { return d.toScale(scale, roundHalf) }

// Truncate is Round towards zero.
func (d Decimal) Truncate(scale int) Decimal { return d.toScale(scale, roundDown) }

// Ceil is the smallest integer >= d.
func (d Decimal) Ceil() Decimal { return d.toScale(0, roundCeil) }

// Floor is the largest integer <= d.
func (d Decimal) Floor() Decimal { return d.toScale(0, roundFloor) }

func (d Decimal) toScale(scale int, mode rounding) Decimal {
	if scale >= int(d.scale) {
		return d
	}
	if scale >= 0 {
		return d.cut(int(d.scale)-scale, mode)
	}
	if scale < -2*MaxDecimalDigits {
		return Decimal{}
	}
	r := d.cut(int(d.scale)-scale, mode)
	b := bigPow10(-scale)
	r.scale = 0
	return fromBig(b.Mul(b, r.big()), 0)
}

// align gives both numbers the larger of their scales; false when that leaves
// the fast path.
func align(a, b Decimal) (Decimal, Decimal, bool) {
	if a.wide != nil || b.wide != nil {
		return a, b, false
	}
	ok := true
	switch {
	case a.scale < b.scale:
		a, ok = a.scaleUp(int(b.scale - a.scale))
	case a.scale > b.scale:
		b, ok = b.scaleUp(int(a.scale - b.scale))
	}
	return a, b, ok
}

// alignBig is align in the slow path.
func alignBig(a, b Decimal) (x, y *big.Int, scale int) {
	scale = int(max(a.scale, b.scale))
	return a.bigAt(scale), b.bigAt(scale), scale
}

// bigAt is the coefficient of d at a scale that is not below its own. Not to
// be changed.
func (d Decimal) bigAt(scale int) *big.Int {
	if scale == int(d.scale) {
		return d.big()
	}
	p := bigPow10(scale - int(d.scale))
	return p.Mul(p, d.big())
}

// Add is d + o; the scale is the larger of the two.
func (d Decimal) Add(o Decimal) Decimal {
	if a, b, ok := align(d, o); ok {
		lo := a.lo + b.lo
		var c int64
		if lo < a.lo {
			c = 1
		}
		hi := a.hi + b.hi + c
		// Overflow of the sign, or the one number that has no magnitude.
		if (a.hi^hi)&(b.hi^hi) >= 0 && (hi != math.MinInt64 || lo != 0) {
			return Decimal{hi: hi, lo: lo, scale: a.scale}
		}
	}
	x, y, scale := alignBig(d, o)
	return fromBig(new(big.Int).Add(x, y), scale)
}

// Sub is d - o; the scale is the larger of the two.
func (d Decimal) Sub(o Decimal) Decimal { return d.Add(o.Neg()) }

// Mul is d * o; the scale is the sum of the two as far as MySQL computes it.
func (d Decimal) Mul(o Decimal) Decimal {
	var r Decimal
	if r.SetProduct(&d, &o) {
		return r
	}
	scale := int(d.scale) + int(o.scale)
	done := false
	if d.wide == nil && o.wide == nil {
		n1, m1 := d.parts()
		n2, m2 := o.parts()
		if m, ok := m1.mul(m2); ok && m.fits() {
			r, done = narrow(n1 != n2, m, scale), true
		}
	}
	if !done {
		r = fromBig(new(big.Int).Mul(d.big(), o.big()), scale)
	}
	if scale <= MaxDecimalScale {
		return r
	}
	return r.InGroups()
}

// InGroups cuts off the digits after the point that MySQL has no room for:
// groups of nine begin at the point, and it computes with nine of them. A
// number that does not Overflow has at most 81 digits then.
func (d Decimal) InGroups() Decimal {
	if d.wide == nil && d.scale <= MaxDecimalScale {
		return d // at most 39 digits
	}
	if room := max(9*groups-words(max(d.Digits()-int(d.scale), 0)), 0); int(d.scale) > room {
		return d.cut(int(d.scale)-room, roundDown)
	}
	return d
}

// Result is d in the scale of the expression whose value it is, as far as there
// are digits for it; ok is false beyond what MySQL computes with, which is more
// than a column holds.
func (d Decimal) Result(scale int) (_ Decimal, ok bool) {
	if int(d.scale) != scale {
		d = d.Rescale(scale)
	}
	// What 128 bits hold has at most 39 digits.
	if d.wide == nil {
		return d, true
	}
	return d.InGroups(), !d.Overflows()
}

// words is the number of digits in whole groups of nine that hold n digits.
func words(n int) int { return (n + 8) / 9 * 9 }

// DivScale is the scale of MySQL's quotient. MySQL computes with groups of
// nine digits and keeps all that it computed: the SQL type of a/b has scale
// s1+fracIncr, to which values are rounded when they are shown or stored, but
// 1/3*3 sees 0.333333333 and shows 1.0000.
func DivScale(s1, s2, fracIncr int) int {
	incr := max(0, fracIncr-(words(s1)-s1+words(s2)-s2))
	return words(words(s1) + words(s2) + incr)
}

// Div is d / o, false when o is 0. The quotient has at least
// Scale()+fracIncr digits after the point (as far as there is room), cut off as MySQL does:
// round it to that scale with Rescale where it leaves an expression.
func (d Decimal) Div(o Decimal, fracIncr int) (Decimal, bool) {
	if o.IsZero() {
		return Decimal{}, false
	}
	scale := DivScale(int(d.scale), int(o.scale), fracIncr)
	by := scale + int(o.scale) - int(d.scale) // >= 0
	if d.wide == nil && o.wide == nil && by <= maxPow10 {
		n1, m1 := d.parts()
		n2, m2 := o.parts()
		if m, ok := m1.mul(pow10[by]); ok {
			if q, _ := m.divMod(m2); q.fits() {
				return narrow(n1 != n2, q, scale).InGroups(), true
			}
		}
	}
	p := bigPow10(by)
	p.Mul(p, d.big())
	return fromBig(p.Quo(p, o.big()), scale).InGroups(), true
}

// Mod is the remainder of d / o with the sign of d; false when o is 0.
func (d Decimal) Mod(o Decimal) (Decimal, bool) {
	if o.IsZero() {
		return Decimal{}, false
	}
	if a, b, ok := align(d, o); ok {
		neg, m := a.parts()
		_, n := b.parts()
		_, r := m.divMod(n)
		return narrow(neg, r, int(a.scale)), true
	}
	x, y, scale := alignBig(d, o)
	return fromBig(new(big.Int).Rem(x, y), scale), true
}

// IntDiv is d / o cut to an integer (MySQL's DIV); false when o is 0.
func (d Decimal) IntDiv(o Decimal) (Decimal, bool) {
	if o.IsZero() {
		return Decimal{}, false
	}
	if a, b, ok := align(d, o); ok {
		n1, m := a.parts()
		n2, n := b.parts()
		q, _ := m.divMod(n)
		return narrow(n1 != n2, q, 0), true
	}
	x, y, _ := alignBig(d, o)
	return fromBig(new(big.Int).Quo(x, y), 0), true
}

// Cmp orders d and o by value: -1, 0 or +1.
func (d Decimal) Cmp(o Decimal) int {
	if a, b, ok := align(d, o); ok {
		switch {
		case a.hi < b.hi || a.hi == b.hi && a.lo < b.lo:
			return -1
		case a.hi == b.hi && a.lo == b.lo:
			return 0
		}
		return 1
	}
	if s, t := d.Sign(), o.Sign(); s != t {
		return cmpInt(s, t)
	}
	x, y, _ := alignBig(d, o)
	return x.Cmp(y)
}

func cmpInt(a, b int) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// Int64 is d rounded half away from zero; out of range it is the nearest
// int64 and false.
func (d Decimal) Int64() (int64, bool) {
	r := d.Round(0)
	if r.wide == nil && r.hi == int64(r.lo)>>63 {
		return int64(r.lo), true
	}
	if r.Sign() < 0 {
		return math.MinInt64, false
	}
	return math.MaxInt64, false
}

// Uint64 is d rounded half away from zero; out of range it is the nearest
// uint64 and false.
func (d Decimal) Uint64() (uint64, bool) {
	r := d.Round(0)
	if r.wide == nil && r.hi == 0 {
		return r.lo, true
	}
	if r.Sign() < 0 {
		return 0, false
	}
	return math.MaxUint64, false
}

// Float64 is the nearest float64.
func (d Decimal) Float64() float64 {
	if d.wide == nil && d.scale <= 22 {
		// Both numbers are exact, so that the quotient is rounded once.
		neg, m := d.parts()
		if m.hi == 0 && m.lo < 1<<53 {
			f := float64(m.lo) / floatPow10[d.scale]
			if neg {
				return -f
			}
			return f
		}
	}
	f, _ := strconv.ParseFloat(d.String(), 64)
	return f
}

var floatPow10 = [23]float64{1e0, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11,
	1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22}

// String is the text with all digits of the scale.
func (d Decimal) String() string { return string(d.AppendText(nil)) }

// AppendText appends String.
func (d Decimal) AppendText(dst []byte) []byte {
	var buf [100]byte
	digits := buf[:0]
	neg := false
	if d.wide == nil {
		if d.scale == 0 && d.hi == int64(d.lo)>>63 {
			return strconv.AppendInt(dst, int64(d.lo), 10)
		}
		var m u128
		neg, m = d.parts()
		digits = m.appendDigits(digits, int(d.scale)+1)
	} else {
		neg = d.wide.Sign() < 0
		digits = new(big.Int).Abs(d.wide).Append(digits, 10)
		if n := int(d.scale) + 1 - len(digits); n > 0 {
			digits = append(make([]byte, n, n+len(digits)), digits...)
			for i := range n {
				digits[i] = '0'
			}
		}
	}
	if neg {
		dst = append(dst, '-')
	}
	point := len(digits) - int(d.scale)
	dst = append(dst, digits[:point]...)
	if d.scale == 0 {
		return dst
	}
	dst = append(dst, '.')
	return append(dst, digits[point:]...)
}
