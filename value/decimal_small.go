package value

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
