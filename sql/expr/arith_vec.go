package expr

import (
	"math"
	"math/bits"
	"slices"

	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// vecArith has kernels for + - * over vectors of one kind. They run over all
// positions, also null and unselected ones, whose values are undefined: an
// overflow seen there counts only when the slow recheck finds it in a live
// row.
func vecArith(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	k := types.KindOf(f.T)
	ka, kb := kindOf(f.Args[0]), kindOf(f.Args[1])
	if ka != k || kb != k || in.Live() == 0 {
		return evalGeneric(c, f, in)
	}
	a, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	b, err := Eval(c, f.Args[1], in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(k, in.N)
	out.Nulls.CopyFrom(&a.Nulls)
	out.Nulls.Or(&b.Nulls)
	n := in.N
	ok := true
	switch k {
	case value.KindInt:
		ok = intKernel(f.Op, out.I64[:n], a.I64[:n], b.I64[:n])
	case value.KindUint:
		ok = uintKernel(f.Op, out.I64[:n], a.I64[:n], b.I64[:n])
	case value.KindFloat:
		ok = floatKernel(f.Op, out.F64[:n], a.F64[:n], b.F64[:n])
	case value.KindDecimal:
		if err := decimalKernel(f, in, out, a, b); err != nil {
			return nil, err
		}
	}
	if !ok {
		err = recheck(c, f, in, out, a, b)
	}
	c.Release(a)
	c.Release(b)
	return out, err
}

// recheck repeats the rows one by one, to find the error of a live row if
// there is one.
func recheck(c *Ctx, f *Func, in *vec.Batch, out, a, b *vec.Vec) error {
	var args [2]value.Datum
	var first error
	eachRow(in, &out.Nulls, func(i int) {
		if first != nil {
			return
		}
		args[0], args[1] = a.Datum(i), b.Datum(i)
		d, err := c.call(f, args[:])
		if err != nil {
			first = err
			return
		}
		out.SetDatum(i, d)
	})
	return first
}

func intKernel(op Op, out, a, b []int64) bool {
	a, b = a[:len(out)], b[:len(out)]
	var over int64
	switch op {
	case OpPlus:
		for i, x := range a {
			s := x + b[i]
			over |= (s ^ x) & (s ^ b[i])
			out[i] = s
		}
	case OpMinus:
		for i, x := range a {
			s := x - b[i]
			over |= (x ^ b[i]) & (s ^ x)
			out[i] = s
		}
	case OpTimes:
		var wide uint64
		for i, x := range a {
			y := b[i]
			out[i] = x * y
			wide |= uint64(x+1<<31) | uint64(y+1<<31)
		}
		if wide>>32 == 0 {
			return true // the product of two numbers of 32 bits fits
		}
		for i, x := range a {
			if mulOverflows(x, b[i]) {
				return false
			}
		}
	}
	return over >= 0
}

func mulOverflows(x, y int64) bool {
	hi, lo := bits.Mul64(uint64(x), uint64(y))
	// As numbers with signs, the upper half is less by y where x is negative, and by x
	// where y is.
	hi -= uint64(x>>63&y) + uint64(y>>63&x)
	return int64(hi) != int64(lo)>>63
}

func uintKernel(op Op, out, a, b []int64) bool {
	a, b = a[:len(out)], b[:len(out)]
	var over uint64
	switch op {
	case OpPlus:
		for i, x := range a {
			s, carry := bits.Add64(uint64(x), uint64(b[i]), 0)
			over |= carry
			out[i] = int64(s)
		}
	case OpMinus:
		for i, x := range a {
			s, borrow := bits.Sub64(uint64(x), uint64(b[i]), 0)
			over |= borrow
			out[i] = int64(s)
		}
	case OpTimes:
		for i, x := range a {
			hi, lo := bits.Mul64(uint64(x), uint64(b[i]))
			over |= hi
			out[i] = int64(lo)
		}
	}
	return over == 0
}

func floatKernel(op Op, out, a, b []float64) bool {
	a, b = a[:len(out)], b[:len(out)]
	// The + 0 makes negative zeros positive. Adding zero times the result gives NaN as soon as one is not finite.
	bad := 0.0
	switch op {
	case OpPlus:
		for i, x := range a {
			s := x + b[i] + 0
			bad += s * 0
			out[i] = s
		}
	case OpMinus:
		for i, x := range a {
			s := x - b[i] + 0
			bad += s * 0
			out[i] = s
		}
	case OpTimes:
		for i, x := range a {
			s := x*b[i] + 0
			bad += s * 0
			out[i] = s
		}
	}
	return bad == 0
}

func decimalKernel(f *Func, in *vec.Batch, out, a, b *vec.Vec) error {
	op, from := f.Op, 0
	if !in.HasSel && !out.Nulls.Any() {
		x, y := a.Dec[:in.N], b.Dec[:in.N]
		if op == OpTimes {
			from = value.Products(out.Dec[:in.N], x, y, f.T.Scale)
		} else {
			from = value.Sums(out.Dec[:in.N], x, y, op == OpMinus, f.T.Scale)
		}
		if from == in.N {
			return nil
		}
	}
	var first error
	eachRow(in, &out.Nulls, func(i int) {
		if i < from {
			return
		}
		small := false
		if op == OpTimes {
			small = out.Dec[i].SetProduct(&a.Dec[i], &b.Dec[i])
		} else {
			small = out.Dec[i].SetSum(&a.Dec[i], &b.Dec[i], op == OpMinus)
		}
		if small && out.Dec[i].Scale() == f.T.Scale {
			return
		}
		var d value.Decimal
		switch op {
		case OpPlus:
			d = a.Dec[i].Add(b.Dec[i])
		case OpMinus:
			d = a.Dec[i].Sub(b.Dec[i])
		case OpTimes:
			d = a.Dec[i].Mul(b.Dec[i])
		}
		d, ok := d.Result(f.T.Scale)
		if !ok && first == nil {
			first = outOfRange(f)
		}
		out.Dec[i] = d
	})
	return first
}

// vecDiv divides decimals and floats row by row, without datums.
func vecDiv(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	k := types.KindOf(f.T)
	if kindOf(f.Args[0]) != k || kindOf(f.Args[1]) != k || k != value.KindDecimal && k != value.KindFloat || in.Live() == 0 {
		return evalGeneric(c, f, in)
	}
	a, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	b, err := Eval(c, f.Args[1], in)
	if err != nil {
		return nil, err
	}
	increment := f.divIncrement()
	out := c.getVec(k, in.N)
	out.Nulls.CopyFrom(&a.Nulls)
	out.Nulls.Or(&b.Nulls)
	for r, n := 0, in.Live(); r < n; r++ {
		i := in.Row(r)
		if out.Nulls.IsNull(i) {
			continue
		}
		ok := true
		if k == value.KindFloat {
			if ok = b.F64[i] != 0; ok {
				q := a.F64[i]/b.F64[i] + 0
				if math.IsInf(q, 0) || math.IsNaN(q) {
					return nil, outOfRange(f)
				}
				out.F64[i] = q
			}
		} else {
			var q value.Decimal
			if q, ok = a.Dec[i].Div(b.Dec[i], increment); ok {
				if q, ok = q.Result(f.T.Scale); !ok {
					return nil, outOfRange(f)
				}
				out.Dec[i] = q
			}
		}
		if !ok {
			if _, err := divByZero(c); err != nil {
				return nil, err
			}
			out.Nulls.Set(i)
		}
	}
	c.Release(a)
	c.Release(b)
	return out, nil
}

// vecNeg has kernels for values whose negative is of the same kind.
func vecNeg(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	return vecSign(c, f, in, wordLoop(func(dst, src []int64) {
		for i, x := range src[:len(dst)] {
			dst[i] = -x
		}
	}), func(x float64) float64 { return -x }, value.Decimal.Neg)
}

func vecAbs(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	return vecSign(c, f, in, wordLoop(func(dst, src []int64) {
		for i, x := range src[:len(dst)] {
			mag, _ := magnitude(x)
			dst[i] = int64(mag)
		}
	}), math.Abs, value.Decimal.Abs)
}

// vecSign changes signs.
func vecSign(c *Ctx, f *Func, in *vec.Batch, ints wordLoop, float func(float64) float64, dec func(value.Decimal) value.Decimal) (*vec.Vec, error) {
	k := types.KindOf(f.T)
	if kindOf(f.Args[0]) != k || k == value.KindUint || in.Live() == 0 {
		return evalGeneric(c, f, in)
	}
	a, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(k, in.N)
	out.Nulls.CopyFrom(&a.Nulls)
	switch k {
	case value.KindInt:
		ints(out.I64[:in.N], a.I64[:in.N])
		// Only the least integer has no opposite.
		if slices.Contains(a.I64[:in.N], math.MinInt64) {
			err = c.loopRows(f, in, []value.Datum{value.Null}, []*vec.Vec{a}, out)
		}
	case value.KindFloat:
		eachRow(in, &out.Nulls, func(i int) { out.F64[i] = float(a.F64[i]) })
	case value.KindDecimal:
		eachRow(in, &out.Nulls, func(i int) { out.Dec[i] = dec(a.Dec[i]) })
	}
	c.Release(a)
	return out, err
}
