package expr

import (
	"math"
	"math/bits"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

func operatorDefs() []entry {
	arith := func(names string, row rowFunc, k vecFunc) entry {
		return special(names, bindArith, def{b: Builtin{Row: row, impl: impl{strict: true, vec: k}}})
	}
	mod := arith("% mod", rowMod, vecDivMod)
	mod.d.rename = "%"
	defs := []entry{
		arith("+", rowAdd, vecArith), arith("-", rowSub, vecArith), arith("*", rowMul, vecArith),
		arith("/", rowDiv, vecDiv), arith("div", rowIntDiv, vecDivMod), mod,
		special("neg", bindNeg, def{b: Builtin{Row: rowNeg, impl: impl{strict: true, vec: vecNeg}}}),
	}
	defs = append(defs, bitDefs()...)
	return append(defs, compareDefs()...)
}

// bindArith types + - * / DIV and %.
func bindArith(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 2 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	class := numInt
	nums := make([]Expr, 2)
	for i, a := range args {
		n, err := toNumber(env, a)
		if err != nil {
			return nil, err
		}
		nums[i] = n
		class = max(class, numClassOf(n.Type()))
	}
	null := nums[0].Nullable() || nums[1].Nullable()
	if name == "/" || name == "div" || name == "%" {
		null = true
	}
	if name == "/" && class == numInt {
		class = numDecimal
	}
	if name == "div" {
		return bindIntDiv(d, env, class, nums)
	}
	for i := range nums {
		var err error
		switch class {
		case numFloat:
			nums[i], err = NewCast(env, nums[i], doubleType(), false)
		case numDecimal:
			nums[i], err = toDecimal(env, nums[i])
		}
		if err != nil {
			return nil, err
		}
	}
	t := arithType(env, name, class, nums)
	if class == numDecimal {
		for i := range nums {
			nums[i] = KeepQuotient(nums[i])
		}
	}
	var extra any
	if name == "/" && class == numDecimal {
		extra = quotientSpec{env.divIncrement()}
	}
	return d.call(name, nums, t, null, extra), nil
}

// hexNumber is the number that a hexadecimal or bit literal stands for, nil if
// e is none.
func hexNumber(e Expr) Expr {
	c, ok := e.(*Const)
	if !ok || !c.Hex {
		return nil
	}
	var v uint64
	for _, x := range c.D.Bytes() {
		v = v<<8 | uint64(x)
	}
	return &Const{D: value.Uint(v), T: uintType(), Text: c.Text}
}

// Operand is e as a value that is stored in, or computed to, type to: literals
// like 0x41 are numbers for numbers, and quotients keep the digits that they
// do not show.
func Operand(e Expr, to schema.Type) Expr {
	if !to.IsNumeric() {
		return e
	}
	if n := hexNumber(e); n != nil {
		return n
	}
	return KeepQuotient(e)
}

// bindIntDiv is DIV: MySQL divides what is no integer as decimals. The quotient is
// unsigned if an operand is, whatever the other one is.
func bindIntDiv(d *def, env *BindEnv, class numClass, nums []Expr) (Expr, error) {
	t := arithType(env, "div", class, nums)
	for i := range nums {
		var err error
		switch {
		case class == numDecimal:
			if nums[i], err = toDecimal(env, nums[i]); err == nil {
				nums[i] = KeepQuotient(nums[i])
			}
		case class == numFloat && kindOf(nums[i]) != value.KindDecimal:
			nums[i], err = NewCast(env, nums[i], decimalType(maxPrecision, maxScale), false)
		}
		if err != nil {
			return nil, err
		}
	}
	return d.call("div", nums, t, true, nil), nil
}

func arithType(env *BindEnv, name string, class numClass, a []Expr) schema.Type {
	ua, ub := isUnsigned(a[0].Type()), isUnsigned(a[1].Type())
	unsigned := ua || ub
	if name == "%" {
		unsigned = ua
	}
	if name == "-" && env.mode()&types.ModeNoUnsignedSubtraction != 0 {
		unsigned = false
	}
	if class == numInt || name == "div" {
		if unsigned {
			return uintType()
		}
		return intType()
	}
	if class == numFloat {
		return doubleType()
	}
	p1, s1 := precisionOf(a[0])
	p2, s2 := precisionOf(a[1])
	switch name {
	case "*":
		return decimalType(p1+p2, min(s1+s2, maxScale))
	case "/":
		inc := env.divIncrement()
		return decimalType(p1+s2+inc, min(s1+inc, maxScale))
	case "%":
		return decimalType(max(p1, p2), max(s1, s2))
	}
	s := max(s1, s2)
	return decimalType(max(p1-s1, p2-s2)+1+s, s)
}

func bindNeg(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 1 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	n, err := toNumber(env, args[0])
	if err != nil {
		return nil, err
	}
	t := n.Type()
	switch numClassOf(t) {
	case numInt:
		// A literal beyond 2^63 is negated as a decimal.
		if c, ok := n.(*Const); ok && (c.D.Kind() == value.KindUint && c.D.Uint() > 1<<63 || c.D.Kind() == value.KindInt && c.D.Int() == math.MinInt64) {
			if n, err = toDecimal(env, n); err != nil {
				return nil, err
			}
			t = n.Type()
			break
		}
		t = intType()
	case numFloat:
		t = doubleType()
	}
	return d.call(name, []Expr{n}, t, n.Nullable(), nil), nil
}

// outOfRange is 1690 for the call f.
func outOfRange(f *Func) error {
	kind := "DOUBLE"
	switch types.KindOf(f.T) {
	case value.KindInt:
		kind = "BIGINT"
	case value.KindUint:
		kind = "BIGINT UNSIGNED"
	case value.KindDecimal:
		kind = "DECIMAL"
	}
	return sqlerr.ValueOutOfRange(kind, f.String())
}

// divByZero is NULL with a warning, or an error while a table is written.
func divByZero(c *Ctx) (value.Datum, error) {
	if c.Mode&types.ModeErrorForDivisionByZero != 0 {
		if c.Write && c.Mode.Strict() && !c.Ignore {
			return value.Null, sqlerr.DivisionByZero()
		}
		c.Warning(sqlerr.DivisionByZero())
	}
	return value.Null, nil
}

// sint is an integer of 65 bits: sign and magnitude.
type sint struct {
	neg bool
	mag uint64
}

func sintOf(d value.Datum) sint {
	if d.Kind() == value.KindInt && d.Int() < 0 {
		return sint{true, -uint64(d.Int())}
	}
	return sint{false, d.Uint()}
}

// datum is s as a value of f's type, 1690 if it does not fit.
func (s sint) datum(f *Func) (value.Datum, error) {
	if types.KindOf(f.T) == value.KindUint {
		if s.neg && s.mag != 0 {
			return value.Null, outOfRange(f)
		}
		return value.Uint(s.mag), nil
	}
	if s.neg {
		if s.mag > 1<<63 {
			return value.Null, outOfRange(f)
		}
		return value.Int(int64(-s.mag)), nil
	}
	if s.mag > math.MaxInt64 {
		return value.Null, outOfRange(f)
	}
	return value.Int(int64(s.mag)), nil
}

func (s sint) add(o sint) (sint, bool) {
	if s.neg == o.neg {
		m, carry := bits.Add64(s.mag, o.mag, 0)
		return sint{s.neg, m}, carry == 0
	}
	if s.mag >= o.mag {
		return sint{s.neg, s.mag - o.mag}, true
	}
	return sint{o.neg, o.mag - s.mag}, true
}

func rowAdd(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	switch a[0].Kind() {
	case value.KindFloat:
		return floatResult(f, a[0].Float()+a[1].Float())
	case value.KindDecimal:
		x, y := a[0].Decimal(), a[1].Decimal()
		return decResult(f, x.Add(y))
	}
	s, ok := sintOf(a[0]).add(sintOf(a[1]))
	if !ok {
		return value.Null, outOfRange(f)
	}
	return s.datum(f)
}

func rowSub(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	switch a[0].Kind() {
	case value.KindFloat:
		return floatResult(f, a[0].Float()-a[1].Float())
	case value.KindDecimal:
		x, y := a[0].Decimal(), a[1].Decimal()
		return decResult(f, x.Sub(y))
	}
	y := sintOf(a[1])
	y.neg = !y.neg
	s, ok := sintOf(a[0]).add(y)
	if !ok {
		return value.Null, outOfRange(f)
	}
	return s.datum(f)
}

func rowMul(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	switch a[0].Kind() {
	case value.KindFloat:
		return floatResult(f, a[0].Float()*a[1].Float())
	case value.KindDecimal:
		x, y := a[0].Decimal(), a[1].Decimal()
		return decResult(f, x.Mul(y))
	}
	x, y := sintOf(a[0]), sintOf(a[1])
	hi, lo := bits.Mul64(x.mag, y.mag)
	if hi != 0 {
		return value.Null, outOfRange(f)
	}
	return sint{x.neg != y.neg, lo}.datum(f)
}

func rowDiv(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if a[0].Kind() == value.KindFloat {
		if a[1].Float() == 0 {
			return divByZero(c)
		}
		return floatResult(f, a[0].Float()/a[1].Float())
	}
	x, y := a[0].Decimal(), a[1].Decimal()
	q, ok := x.Div(y, f.divIncrement())
	if !ok {
		return divByZero(c)
	}
	return decResult(f, q)
}

func rowIntDiv(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if a[0].Kind() == value.KindDecimal {
		x, y := a[0].Decimal(), a[1].Decimal()
		q, ok := x.IntDiv(y)
		if !ok {
			return divByZero(c)
		}
		return intOfDecimal(f, q)
	}
	x, y := sintOf(a[0]), sintOf(a[1])
	if y.mag == 0 {
		return divByZero(c)
	}
	return sint{x.neg != y.neg, x.mag / y.mag}.datum(f)
}

// intOfDecimal is an integral decimal as a value of f's integer type.
func intOfDecimal(f *Func, d value.Decimal) (value.Datum, error) {
	if types.KindOf(f.T) == value.KindUint {
		if v, ok := d.Uint64(); ok {
			return value.Uint(v), nil
		}
		return value.Null, outOfRange(f)
	}
	if v, ok := d.Int64(); ok {
		return value.Int(v), nil
	}
	return value.Null, outOfRange(f)
}

func rowMod(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	switch a[0].Kind() {
	case value.KindFloat:
		if a[1].Float() == 0 {
			return divByZero(c)
		}
		return floatResult(f, math.Mod(a[0].Float(), a[1].Float()))
	case value.KindDecimal:
		x, y := a[0].Decimal(), a[1].Decimal()
		m, ok := x.Mod(y)
		if !ok {
			return divByZero(c)
		}
		return decResult(f, m.Rescale(f.T.Scale))
	}
	x, y := sintOf(a[0]), sintOf(a[1])
	if y.mag == 0 {
		return divByZero(c)
	}
	return sint{x.neg, x.mag % y.mag}.datum(f)
}

func rowNeg(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	switch a[0].Kind() {
	case value.KindFloat:
		return value.Float(-a[0].Float()), nil
	case value.KindDecimal:
		d := a[0].Decimal()
		return value.Dec(d.Neg()), nil
	}
	s := sintOf(a[0])
	s.neg = !s.neg
	return s.datum(f)
}

func floatResult(f *Func, v float64) (value.Datum, error) {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return value.Null, outOfRange(f)
	}
	if v == 0 {
		v = 0 // no negative zero from arithmetic
	}
	return value.Float(v), nil
}

// decResult checks the 65 digits of DECIMAL. It rounds away digits after the
// point that the type does not have.
func decResult(f *Func, d value.Decimal) (value.Datum, error) {
	d, ok := d.Result(f.T.Scale)
	if !ok {
		return value.Null, outOfRange(f)
	}
	return value.Dec(d), nil
}
