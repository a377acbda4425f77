package expr

import (
	"math"
	"math/big"
	"math/bits"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

func numberDefs() []entry {
	float := func(name string, g func(float64) float64) entry {
		return fn(name, "f", retDouble, func(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
			return floatResult(f, g(a[0].Float()))
		}, 0)
	}
	// domain: outside of it the result is NULL.
	partial := func(name string, in func(float64) bool, g func(float64) float64) entry {
		return fn(name, "f", retDouble, func(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
			if !in(a[0].Float()) {
				return value.Null, nil
			}
			return floatResult(f, g(a[0].Float()))
		}, nullable)
	}
	logarithm := func(name string, g func(float64) float64) entry {
		return fn(name, "f", retDouble, func(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
			return logOf(c, f, a[0].Float(), g)
		}, nullable)
	}
	unit := func(x float64) bool { return x >= -1 && x <= 1 }
	return []entry{
		fn("abs", "n", retAbs, rowAbs, 0).vec(vecAbs),
		fn("sign", "n", exactly(retInt(2)), rowSign, 0),
		fn("ceil ceiling", "n", exactly(retWhole), rowCeil, 0),
		fn("floor", "n", exactly(retWhole), rowFloor, 0),
		fn("round", "n?i", exactly(retRound), rowRound, 0),
		fn("truncate", "ni", exactly(retRound), rowTruncate, 0),
		fn("pow power", "ff", retDouble, func(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
			return floatResult(f, pow(a[0].Float(), a[1].Float()))
		}, 0),
		partial("sqrt", func(x float64) bool { return x >= 0 }, math.Sqrt),
		float("exp", math.Exp), logarithm("ln", math.Log), logarithm("log2", math.Log2), logarithm("log10", log10),
		fn("log", "f?f", retDouble, rowLog, nullable),
		float("sin", math.Sin), float("cos", math.Cos), float("tan", math.Tan),
		partial("asin", unit, math.Asin), partial("acos", unit, math.Acos),
		fn("atan atan2", "f?f", retDouble, rowAtan, 0),
		float("cot", func(x float64) float64 { return 1 / math.Tan(x) }),
		float("degrees", func(x float64) float64 { return x * (180 / math.Pi) }),
		float("radians", func(x float64) float64 { return x * (math.Pi / 180) }),
		fn("pi", "", retDouble, func(*Ctx, *Func, []value.Datum) (value.Datum, error) { return value.Float(math.Pi), nil }, 0),
		fn("rand", "?i", retDouble, rowRand, volatile|loose|notNull),
		special("greatest", bindExtreme, def{b: Builtin{Row: rowExtreme, impl: impl{strict: true}}}),
		special("least", bindExtreme, def{b: Builtin{Row: rowExtreme, impl: impl{strict: true}}}),
		fn("bit_count", "x", retInt(2), rowBitCount, 0),
	}
}

func retAbs(b *binding) (schema.Type, error) {
	t := b.args[0].Type()
	switch numClassOf(t) {
	case numInt:
		if isUnsigned(t) {
			return uintType(), nil
		}
		return intType(), nil
	case numFloat:
		return doubleType(), nil
	}
	return t, nil
}

func rowAbs(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	switch a[0].Kind() {
	case value.KindInt:
		if a[0].Int() == math.MinInt64 {
			return value.Null, outOfRange(f)
		}
		return value.Int(abs64(a[0].Int())), nil
	case value.KindFloat:
		return value.Float(math.Abs(a[0].Float())), nil
	case value.KindDecimal:
		d := a[0].Decimal()
		return value.Dec(d.Abs()), nil
	}
	return a[0], nil
}

func rowSign(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	s := 0
	switch a[0].Kind() {
	case value.KindInt:
		s = b2i(a[0].Int() > 0) - b2i(a[0].Int() < 0)
	case value.KindUint:
		s = b2i(a[0].Uint() > 0)
	case value.KindFloat:
		s = b2i(a[0].Float() > 0) - b2i(a[0].Float() < 0)
	case value.KindDecimal:
		d := a[0].Decimal()
		s = d.Sign()
	}
	return value.Int(int64(s)), nil
}

// retWhole types CEIL and FLOOR: BIGINT of integers and of decimals whose
// whole part surely fits, DECIMAL of longer ones, DOUBLE of DOUBLE.
func retWhole(b *binding) (schema.Type, error) {
	t := b.args[0].Type()
	switch numClassOf(t) {
	case numInt:
		return retAbs(b)
	case numFloat:
		return doubleType(), nil
	}
	p, s := precisionOf(b.args[0])
	if p-s <= 18 {
		return intType(), nil
	}
	return decimalType(p-s+1, 0), nil
}

func rowCeil(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return whole(f, a[0], math.Ceil, value.Decimal.Ceil)
}

func rowFloor(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return whole(f, a[0], math.Floor, value.Decimal.Floor)
}

func whole(f *Func, d value.Datum, float func(float64) float64, dec func(value.Decimal) value.Decimal) (value.Datum, error) {
	switch d.Kind() {
	case value.KindFloat:
		return value.Float(float(d.Float()) + 0), nil
	case value.KindDecimal:
		r := dec(d.Decimal())
		if types.KindOf(f.T) == value.KindInt {
			return intOfDecimal(f, r)
		}
		return value.Dec(r), nil
	}
	return d, nil
}

// exactly is for functions of one number that see all digits of a quotient,
// and whose type depends on those that it shows: ROUND(1/3, 8), FLOOR(0.99999/1).
func exactly(ret typeFunc) typeFunc {
	return func(b *binding) (schema.Type, error) {
		t, err := ret(b)
		b.args[0] = KeepQuotient(b.args[0])
		return t, err
	}
}

// retRound types ROUND and TRUNCATE; a literal number of places decides the
// scale of a decimal.
func retRound(b *binding) (schema.Type, error) {
	t := b.args[0].Type()
	places, known := int64(0), true
	if len(b.args) > 1 {
		places, known = constPlaces(b.args[1])
	}
	switch numClassOf(t) {
	case numInt:
		return retAbs(b)
	case numFloat:
		// MySQL shows as many places as a literal requests.
		ft := doubleType()
		if known && places < maxScale {
			ft.Scale = int(max(places, 0))
			ft.Len = 17 + ft.Scale
		}
		return ft, nil
	}
	p, s := precisionOf(b.args[0])
	if !known {
		return decimalType(p+1, s), nil
	}
	scale := int(min(max(places, 0), maxScale))
	return decimalType(p-s+1+scale, scale), nil
}

// constPlaces is the value of a literal as an integer: '2.7' is 2.
func constPlaces(e Expr) (int64, bool) {
	if f, ok := e.(*Func); ok && f.Op == OpCast && !f.cast().explicit {
		e = f.Args[0]
	}
	c, ok := e.(*Const)
	if !ok || c.D.IsNull() || c.D.Kind() == value.KindUint { // a cast would make it negative
		return constInt(e)
	}
	d, err := types.Cast(&types.Env{}, c.D, c.T, intType())
	if err != nil || d.IsNull() {
		return 0, false
	}
	return asInt(d), true
}

func rowRound(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return roundTo(f, a, true)
}

func rowTruncate(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return roundTo(f, a, false)
}

func roundTo(f *Func, a []value.Datum, round bool) (value.Datum, error) {
	places := int64(0)
	if len(a) > 1 {
		places = asInt(a[1])
	}
	switch a[0].Kind() {
	case value.KindInt, value.KindUint:
		if places >= 0 {
			return a[0], nil
		}
		return roundInt(f, a[0], places, round)
	case value.KindFloat:
		if round {
			return floatResult(f, roundFloat(a[0].Float(), places))
		}
		return floatResult(f, truncateFloat(a[0].Float(), places))
	}
	d := a[0].Decimal()
	places = min(max(places, -100), int64(f.T.Scale))
	if places < 0 {
		return decResult(f, roundWhole(d, int(-places), round).Rescale(f.T.Scale))
	}
	if round {
		d = d.Round(int(places))
	} else {
		d = d.Truncate(int(places))
	}
	return decResult(f, d.Rescale(f.T.Scale))
}

// roundWhole rounds or cuts d at the n-th digit before the point.
func roundWhole(d value.Decimal, n int, round bool) value.Decimal {
	if d = d.Truncate(0); n > d.Digits() {
		return value.DecimalFromInt(0)
	}
	if round {
		return d.Round(-n)
	}
	return d.Truncate(-n)
}

func roundInt(f *Func, d value.Datum, places int64, round bool) (value.Datum, error) {
	s := sintOf(d)
	if places < -19 {
		return sint{}.datum(f)
	}
	unit := uint64(1)
	for ; places < 0; places++ {
		unit *= 10
	}
	rest := s.mag % unit
	base := s.mag - rest
	if round && rest >= unit-rest {
		if base > math.MaxUint64-unit {
			return value.Null, outOfRange(f)
		}
		base += unit
	}
	return sint{s.neg, base}.datum(f)
}

// roundFloat rounds half to even at 0 places, as MySQL's rint does, and by
// scaling elsewhere.
func roundFloat(v float64, places int64) float64 {
	if places > 300 || v == 0 || math.IsInf(v, 0) {
		return v
	}
	if places < -308 {
		return 0
	}
	p := math.Pow(10, math.Abs(float64(places)))
	if places < 0 {
		return math.RoundToEven(v/p) * p
	}
	scaled := v * p
	if math.IsInf(scaled, 0) {
		return v
	}
	return math.RoundToEven(scaled) / p
}

func truncateFloat(v float64, places int64) float64 {
	if places > 300 || v == 0 {
		return v
	}
	if places < -308 {
		return 0
	}
	p := math.Pow(10, math.Abs(float64(places)))
	if places < 0 {
		return math.Trunc(v/p) * p
	}
	scaled := v * p
	if math.IsInf(scaled, 0) {
		return v
	}
	return math.Trunc(scaled) / p
}

func logOf(c *Ctx, f *Func, x float64, g func(float64) float64) (value.Datum, error) {
	if x <= 0 {
		if c.Mode&types.ModeErrorForDivisionByZero != 0 && c.Write && c.Mode.Strict() && !c.Ignore {
			return value.Null, sqlerr.LogarithmArgument()
		}
		c.Warning(sqlerr.LogarithmArgument())
		return value.Null, nil
	}
	return floatResult(f, g(x))
}

// pow is math.Pow, but correctly rounded for moderate whole exponents:
// repeated squaring in 64 bits loses the last digits.
func pow(x, y float64) float64 {
	if y != math.Trunc(y) || math.Abs(y) > 1024 || math.Abs(y) < 2 || x == 0 || math.IsInf(x, 0) {
		return math.Pow(x, y)
	}
	const precision = 160
	acc, base := big.NewFloat(1).SetPrec(precision), big.NewFloat(x).SetPrec(precision)
	for n := uint(math.Abs(y)); n > 0; n >>= 1 {
		if n&1 != 0 {
			acc.Mul(acc, base)
		}
		base.Mul(base, base)
	}
	if y < 0 {
		acc.Quo(big.NewFloat(1).SetPrec(precision), acc)
	}
	r, _ := acc.Float64()
	return r
}

// log10 is exact for the powers of ten, which math.Log10 is not.
func log10(x float64) float64 {
	y := math.Log10(x)
	if n := math.Round(y); math.Abs(n) < 23 && math.Abs(y-n) < 1e-9 && math.Pow(10, n) == x {
		return n
	}
	return y
}

func rowLog(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if len(a) == 1 {
		return logOf(c, f, a[0].Float(), math.Log)
	}
	b := a[0].Float()
	if b <= 0 || b == 1 {
		return logOf(c, f, 0, math.Log)
	}
	return logOf(c, f, a[1].Float(), func(x float64) float64 { return math.Log(x) / math.Log(b) })
}

func rowAtan(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if len(a) == 2 {
		return value.Float(math.Atan2(a[0].Float(), a[1].Float())), nil
	}
	return value.Float(math.Atan(a[0].Float())), nil
}

// randState is MySQL's generator: two linear congruences.
type randState struct{ a, b uint64 }

const randMax = 0x3FFFFFFF

func seedRand(seed uint32) *randState {
	return &randState{uint64(seed*0x10001+55555555) % randMax, uint64(seed*0x10000001) % randMax}
}

func (r *randState) next() float64 {
	r.a = (r.a*3 + r.b) % randMax
	r.b = (r.a + r.b + 33) % randMax
	return float64(r.a) / randMax
}

// rowRand is RAND([seed]): a literal seed starts one sequence for the
// statement, another seeds again for each row.
func rowRand(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	n := c.extras()
	if n.rands == nil {
		n.rands = map[*Func]*randState{}
	}
	r := n.rands[f]
	if r == nil || len(a) == 1 && !IsConst(f.Args[0]) {
		if len(a) == 0 {
			r = seedRand(freshSeed())
		} else {
			seed := uint32(0)
			if !a[0].IsNull() {
				seed = uint32(a[0].Bits())
			}
			r = seedRand(seed)
		}
		n.rands[f] = r
	}
	return value.Float(r.next()), nil
}

// extreme is the Extra of GREATEST and LEAST.
type extreme struct {
	t    schema.Type
	want int
}

// bindExtreme types GREATEST and LEAST: the arguments compare in their common
// type.
func bindExtreme(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) < 2 {
		return nil, wrongCount(name)
	}
	out, t, err := unify(env, name, args)
	if err != nil {
		return nil, err
	}
	null := false
	for _, a := range out { // a conversion may be NULL where its argument is not
		null = null || a.Nullable()
	}
	want := 1
	if name == "least" {
		want = -1
	}
	return d.call(name, out, t, null, &extreme{t, want}), nil
}

func rowExtreme(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	x := f.extreme()
	best := a[0]
	for _, d := range a[1:] {
		if c.compare(d, best, x.t)*x.want > 0 {
			best = d
		}
	}
	return best, nil
}

func rowBitCount(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if t := f.Args[0].Type(); t.IsBinary() {
		n := 0
		for _, b := range a[0].Bytes() {
			n += bits.OnesCount8(b)
		}
		return value.Int(int64(n)), nil
	}
	d, err := rowAsBits(c, f, a)
	if err != nil {
		return value.Null, err
	}
	return value.Int(int64(bits.OnesCount64(d.Uint()))), nil
}
