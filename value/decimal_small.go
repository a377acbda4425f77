package value

import "math/bits"

// What kernels use for coefficients of 64 bits, without copies of decimals.

// SetProduct makes d the product of x and y, if both have coefficients of 64 bits and
// their scales together are at most MaxDecimalScale. It is the same as Mul.
func (d *Decimal) SetProduct(x, y *Decimal) bool {
	scale := x.scale + y.scale
	if !x.isSmall() || !y.isSmall() || scale > MaxDecimalScale {
		return false
	}
	hi, lo := mulSmall(x.lo, y.lo)
	d.hi, d.lo, d.scale = hi, lo, scale
	if d.wide != nil {
		d.wide = nil
	}
	return true
}

// SetSum makes d the sum of x and y, or with minus their difference, if both have
// coefficients of 64 bits and their scales differ little. It is the same as Add and Sub.
func (d *Decimal) SetSum(x, y *Decimal, minus bool) bool {
	if !x.isSmall() || !y.isSmall() {
		return false
	}
	xh, xl, yh, yl, scale := x.hi, x.lo, y.hi, y.lo, x.scale
	switch {
	case x.scale < y.scale:
		by := y.scale - x.scale
		if by > smallPow10 {
			return false
		}
		xh, xl = mulSmall(xl, pow10[by].lo)
		scale = y.scale
	case x.scale > y.scale:
		by := x.scale - y.scale
		if by > smallPow10 {
			return false
		}
		yh, yl = mulSmall(yl, pow10[by].lo)
	}
	// Both are below 2^123.
	if minus {
		lo := xl - yl
		d.hi, d.lo = xh-yh, lo
		if lo > xl {
			d.hi--
		}
	} else {
		lo := xl + yl
		d.hi, d.lo = xh+yh, lo
		if lo < xl {
			d.hi++
		}
	}
	d.scale = scale
	if d.wide != nil {
		d.wide = nil
	}
	return true
}

// Products sets out to the products of x and y as long as SetProduct makes them and they
// have the scale; it returns how many it has set.
func Products(out, x, y []Decimal, scale int) int {
	x, y = x[:len(out)], y[:len(out)]
	for i := range out {
		a, b := &x[i], &y[i]
		if !a.isSmall() || !b.isSmall() || int(a.scale)+int(b.scale) != scale || scale > MaxDecimalScale {
			return i
		}
		d := &out[i]
		d.hi, d.lo = mulSmall(a.lo, b.lo)
		d.scale = uint8(scale)
		if d.wide != nil {
			d.wide = nil
		}
	}
	return len(out)
}

// Sums is Products for sums, with minus for differences. One of x and y has the scale.
func Sums(out, x, y []Decimal, minus bool, scale int) int {
	x, y = x[:len(out)], y[:len(out)]
	for i := range out {
		a, b := &x[i], &y[i]
		ah, al, okA := a.smallAt(scale)
		bh, bl, okB := b.smallAt(scale)
		if !okA || !okB || int(a.scale) != scale && int(b.scale) != scale {
			return i
		}
		if minus {
			bh, bl = -bh, -bl
			if bl != 0 {
				bh--
			}
		}
		lo, carry := bits.Add64(al, bl, 0)
		d := &out[i]
		d.hi, d.lo, d.scale = ah+bh+int64(carry), lo, uint8(scale)
		if d.wide != nil {
			d.wide = nil
		}
	}
	return len(out)
}

// smallAt is the coefficient of d at a scale that is not below its own: ok is false where
// it has not 64 bits, or the scales differ much.
func (d *Decimal) smallAt(scale int) (hi int64, lo uint64, ok bool) {
	by := uint(scale - int(d.scale))
	if by > smallPow10 || !d.isSmall() {
		return 0, 0, false
	}
	if by == 0 {
		return d.hi, d.lo, true
	}
	hi, lo = mulSmall(d.lo, pow10[by].lo)
	return hi, lo, true
}
