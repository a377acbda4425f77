package expr

import (
	"math"
	"math/bits"

	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// reciprocal divides words by one divisor with a product instead of a division.
// (Granlund and Montgomery, Division by Invariant Integers using Multiplication.)
type reciprocal struct {
	factor, divisor uint64
	half, shift     uint8 // the quotient's shifts; together log2 of the divisor, rounded up
}

// newReciprocal is for a divisor that is not 0.
func newReciprocal(d uint64) reciprocal {
	log := bits.Len64(d - 1)
	// 2^64 * (2^log - d) / d + 1; for log 64 the power wraps to 0, as it should.
	factor, _ := bits.Div64(1<<log-d, 0, d)
	r := reciprocal{factor: factor + 1, divisor: d}
	if log > 0 {
		r.half, r.shift = 1, uint8(log-1)
	}
	return r
}

func (r *reciprocal) quo(x uint64) uint64 {
	t, _ := bits.Mul64(r.factor, x)
	return (t + (x-t)>>(r.half&63)) >> (r.shift & 63)
}

func (r *reciprocal) rem(x uint64) uint64 { return x - r.quo(x)*r.divisor }

// selOf is the selection of in, nil where it is cheaper to compute all positions.
func selOf(in *vec.Batch) []uint16 {
	if in.HasSel && 2*len(in.Sel) < in.N {
		return in.Sel
	}
	return nil
}

// vecDivMod has kernels for DIV and %.
func vecDivMod(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	ka, kb := kindOf(f.Args[0]), kindOf(f.Args[1])
	words := isInteger(ka) && isInteger(kb)
	if in.Live() == 0 || !words && (ka != kb || ka != value.KindFloat && ka != value.KindDecimal) {
		return evalGeneric(c, f, in)
	}
	a, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	d, b, err := evalOperand(c, f.Args[1], in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(types.KindOf(f.T), in.N)
	if b == nil && words && sintOf(d).mag != 0 {
		out.Nulls.CopyFrom(&a.Nulls)
		if divModConst(f, in, out, a, sintOf(d)) {
			c.Release(a)
			return out, nil
		}
	}
	if b == nil {
		b = c.broadcast(d, kb, in.N)
	}
	out.Nulls.CopyFrom(&a.Nulls)
	out.Nulls.Or(&b.Nulls)
	switch {
	case words:
		err = divModWords(c, f, in, out, a, b)
	case ka == value.KindFloat:
		err = modFloats(c, in, out, a, b)
	default:
		err = divModDecimals(c, f, in, out, a, b)
	}
	c.Release(a)
	c.Release(b)
	return out, err
}

func isInteger(k value.Kind) bool { return k == value.KindInt || k == value.KindUint }

// magnitude is the absolute value of x and its sign: 0, or all ones.
func magnitude(x int64) (mag, sign uint64) {
	sign = uint64(x >> 63)
	return (uint64(x) ^ sign) - sign, sign
}

// divModConst divides by y, which is not 0. It reports false when a quotient may be out
// of range.
func divModConst(f *Func, in *vec.Batch, out, a *vec.Vec, y sint) bool {
	r := newReciprocal(y.mag)
	dst, src := out.I64[:in.N], a.I64[:in.N]
	if f.Op == OpMod {
		r.remainders(dst, src, selOf(in), a.Kind == value.KindUint)
		return true
	}
	var sign uint64
	if y.neg {
		sign = math.MaxUint64
	}
	return r.quotients(dst, src, selOf(in), a.Kind == value.KindUint, types.KindOf(f.T) == value.KindUint, sign)
}

func (r *reciprocal) remainders(out, a []int64, sel []uint16, unsigned bool) {
	switch {
	case unsigned && sel == nil:
		for i, x := range a {
			out[i] = int64(r.rem(uint64(x)))
		}
	case unsigned:
		for _, i := range sel {
			out[i] = int64(r.rem(uint64(a[i])))
		}
	case sel == nil:
		for i, x := range a {
			mag, sign := magnitude(x)
			out[i] = int64(r.rem(mag) ^ sign - sign)
		}
	default:
		for _, i := range sel {
			mag, sign := magnitude(a[i])
			out[i] = int64(r.rem(mag) ^ sign - sign)
		}
	}
}

// quotients divides by the divisor with sign ysign. It reports false when a quotient
// may be out of range: negative where the result is unsigned, or with a magnitude
// beyond 2^63-1 where it is signed.
func (r *reciprocal) quotients(out, a []int64, sel []uint16, ua, unsigned bool, ysign uint64) bool {
	var bad uint64
	one := func(i int) {
		mag, sign := uint64(a[i]), uint64(0)
		if !ua {
			mag, sign = magnitude(a[i])
		}
		q := r.quo(mag)
		sign ^= ysign
		if unsigned {
			bad |= q & sign
		} else {
			bad |= q & (1 << 63)
		}
		out[i] = int64(q ^ sign - sign)
	}
	if sel == nil {
		for i := range a {
			one(i)
		}
	} else {
		for _, i := range sel {
			one(int(i))
		}
	}
	return bad == 0
}

// divModWords divides words by words.
func divModWords(c *Ctx, f *Func, in *vec.Batch, out, a, b *vec.Vec) error {
	mod, unsigned := f.Op == OpMod, types.KindOf(f.T) == value.KindUint
	ua, ub := a.Kind == value.KindUint, b.Kind == value.KindUint
	for l, n := 0, in.Live(); l < n; l++ {
		i := in.Row(l)
		if out.Nulls.IsNull(i) {
			continue
		}
		x, y := uint64(a.I64[i]), uint64(b.I64[i])
		var sign, ysign uint64
		if !ua {
			x, sign = magnitude(int64(x))
		}
		if !ub {
			y, ysign = magnitude(int64(y))
		}
		if y == 0 {
			if _, err := divByZero(c); err != nil {
				return err
			}
			out.Nulls.Set(i)
			continue
		}
		var q, rest uint64
		if (x|y)>>32 == 0 { // the short division takes a fraction of the long one's time
			q, rest = uint64(uint32(x)/uint32(y)), uint64(uint32(x)%uint32(y))
		} else {
			q, rest = x/y, x%y
		}
		if mod {
			out.I64[i] = int64(rest ^ sign - sign)
			continue
		}
		sign ^= ysign
		// A negative one is out of range of the unsigned; of the signed, 2^63 without a sign.
		if unsigned && q&sign != 0 || !unsigned && q>>63 != 0 && (sign == 0 || q != 1<<63) {
			return outOfRange(f)
		}
		out.I64[i] = int64(q ^ sign - sign)
	}
	return nil
}

func modFloats(c *Ctx, in *vec.Batch, out, a, b *vec.Vec) error {
	for l, n := 0, in.Live(); l < n; l++ {
		i := in.Row(l)
		if out.Nulls.IsNull(i) {
			continue
		}
		if b.F64[i] == 0 {
			if _, err := divByZero(c); err != nil {
				return err
			}
			out.Nulls.Set(i)
			continue
		}
		out.F64[i] = math.Mod(a.F64[i], b.F64[i]) + 0
	}
	return nil
}

func divModDecimals(c *Ctx, f *Func, in *vec.Batch, out, a, b *vec.Vec) error {
	for l, n := 0, in.Live(); l < n; l++ {
		i := in.Row(l)
		if out.Nulls.IsNull(i) {
			continue
		}
		var d value.Datum
		var err error
		var r value.Decimal
		var ok bool
		if f.Op == OpMod {
			r, ok = a.Dec[i].Mod(b.Dec[i])
		} else {
			r, ok = a.Dec[i].IntDiv(b.Dec[i])
		}
		switch {
		case !ok:
			d, err = divByZero(c)
		case f.Op == OpMod:
			d, err = decResult(f, r.Rescale(f.T.Scale))
		default:
			d, err = intOfDecimal(f, r)
		}
		if err != nil {
			return err
		}
		out.SetDatum(i, d)
	}
	return nil
}
