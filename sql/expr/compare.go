package expr

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// cmpOp is a comparison operator as the signs of Compare for which it holds:
// bit 0 less, bit 1 equal, bit 2 greater.
type cmpOp uint8

const (
	cmpLT cmpOp = 1
	cmpEQ cmpOp = 2
	cmpGT cmpOp = 4
	cmpLE cmpOp = cmpLT | cmpEQ
	cmpGE cmpOp = cmpGT | cmpEQ
	cmpNE cmpOp = cmpLT | cmpGT
)

func (op cmpOp) holds(sign int) bool {
	switch {
	case sign < 0:
		return op&cmpLT != 0
	case sign > 0:
		return op&cmpGT != 0
	}
	return op&cmpEQ != 0
}

// swapped is the operator with its operands exchanged.
func (op cmpOp) swapped() cmpOp { return op&cmpEQ | op&cmpLT<<2 | op&cmpGT>>2 }

// signs are those for which a comparison holds; false for other operators.
func (op Op) signs() (cmpOp, bool) {
	switch op {
	case OpEQ, OpNullEQ:
		return cmpEQ, true
	case OpLT:
		return cmpLT, true
	case OpLE:
		return cmpLE, true
	case OpGT:
		return cmpGT, true
	case OpGE:
		return cmpGE, true
	case OpNE:
		return cmpNE, true
	}
	return 0, false
}

// comparison is the Extra of a comparison and of IN: the type in which the
// operands, converted to it, are compared.
type comparison struct {
	op cmpOp
	t  schema.Type
}

// CmpTypeOf is the type in which a call of a comparison or IN compares its
// operands.
func CmpTypeOf(f *Func) (schema.Type, bool) {
	x, ok := f.Extra.(*comparison)
	if !ok {
		return schema.Type{}, false
	}
	return x.t, true
}

func compareDefs() []entry {
	cmp := def{b: Builtin{Row: rowCompare, impl: impl{strict: true, vec: vecCompare, filter: filterCompare}}}
	var list []entry
	for _, name := range []string{"=", "<", "<=", ">", ">=", "<>"} {
		list = append(list, special(name, bindCompare, cmp))
	}
	list[5].names = "<> !="
	list[5].d.rename = "<>"
	return append(list,
		special("<=>", bindCompare, def{b: Builtin{Row: rowNullSafe, impl: impl{}}}),
		special("row", bindRow, def{b: Builtin{Row: rowOfRow}}),
		special("in", bindIn, def{b: Builtin{impl: impl{lazy: lazyIn, vec: vecIn, filter: filterIn}}}),
		special("interval", bindInterval, def{b: Builtin{Row: rowInterval}}),
		fn("strcmp", "ss", retStrcmp, rowStrcmp, 0),
		fn("as_bits", "x", retUint, rowAsBits, 0),
		fn("full_year", "x", retUint, rowFullYear, 0),
		fn("full_date", "x", retUint, rowFullDate, 0),
		fn("full_datetime", "x", retUint, rowFullDatetime, 0),
	)
}

func bindRow(d *def, _ *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) < 2 {
		return nil, wrongCount(name)
	}
	return d.call("row", args, nullType(), false, nil), nil
}

func rowOfRow(*Ctx, *Func, []value.Datum) (value.Datum, error) {
	return value.Null, sqlerr.OperandColumns(1)
}

func bindCompare(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 2 {
		return nil, wrongCount(name)
	}
	a, aRow := isRow(args[0])
	b, bRow := isRow(args[1])
	switch {
	case aRow && bRow:
		if len(a.Args) != len(b.Args) {
			return nil, sqlerr.OperandColumns(len(a.Args))
		}
		return compareRows(env, name, a.Args, b.Args)
	case aRow:
		return nil, sqlerr.OperandColumns(len(a.Args))
	case bRow:
		return nil, sqlerr.OperandColumns(1)
	}
	x, y, t, err := comparePair(env, name, args[0], args[1])
	if err != nil {
		return nil, err
	}
	op, _ := OpOf(name).signs()
	null := x.Nullable() || y.Nullable()
	if name == "<=>" {
		null = false
	}
	return d.call(name, []Expr{x, y}, boolType(), null, &comparison{op, t}), nil
}

// compareRows writes a comparison of rows out. The order of two rows is that
// of the first operands that differ; NULL makes it unknown from there on.
func compareRows(env *BindEnv, name string, a, b []Expr) (Expr, error) {
	switch name {
	case "=", "<=>", "<>", "!=":
		joint := "and"
		if name == "<>" || name == "!=" {
			joint = "or"
		}
		parts := make([]Expr, len(a))
		for i := range a {
			p, err := NewFunc(env, name, a[i], b[i])
			if err != nil {
				return nil, err
			}
			parts[i] = p
		}
		return NewFunc(env, joint, parts...)
	}
	if len(a) == 1 {
		return NewFunc(env, name, a[0], b[0])
	}
	strict := name[:1]
	rest, err := compareRows(env, name, a[1:], b[1:])
	if err != nil {
		return nil, err
	}
	less, err := NewFunc(env, strict, a[0], b[0])
	if err != nil {
		return nil, err
	}
	same, err := NewFunc(env, "=", a[0], b[0])
	if err != nil {
		return nil, err
	}
	tail, err := NewFunc(env, "and", same, rest)
	if err != nil {
		return nil, err
	}
	return NewFunc(env, "or", less, tail)
}

// comparePair converts two operands to the type in which they are compared.
func comparePair(env *BindEnv, name string, a, b Expr) (Expr, Expr, schema.Type, error) {
	a, b, err := constantsToColumn(env, name, a, b)
	if err != nil {
		return nil, nil, schema.Type{}, err
	}
	t, err := cmpTypeFor(env, name, a, b)
	if err != nil {
		return nil, nil, t, err
	}
	ta, tb := a.Type(), b.Type()
	if a, err = castForCompare(env, a, t); err != nil {
		return nil, nil, t, err
	}
	if b, err = castForCompare(env, b, t); err != nil {
		return nil, nil, t, err
	}
	return asLiteral(a, tb), asLiteral(b, ta), t, nil
}

// cmpTypeFor is types.CmpType with the collation that the operands' firmness
// decides.
func cmpTypeFor(env *BindEnv, name string, a, b Expr) (schema.Type, error) {
	ta, tb := a.Type(), b.Type()
	if ta.ID == schema.TypeNull && tb.ID == schema.TypeNull {
		return textType(0, schema.CollationBinary), nil
	}
	if ta.ID == schema.TypeNull {
		ta = tb
	}
	if tb.ID == schema.TypeNull {
		tb = ta
	}
	if ta.ID == tb.ID && (ta.ID == schema.TypeYear || ta.ID == schema.TypeEnum && slices.Equal(ta.Elems, tb.Elems) && (isConstOf(a) || isConstOf(b))) {
		return ta, nil
	}
	if ta.IsInteger() && tb.IsInteger() && ta.Unsigned != tb.Unsigned {
		return mixedSign(a, b), nil
	}
	var t schema.Type
	if ea, eb := ta.ID == schema.TypeEnum || ta.ID == schema.TypeSet, tb.ID == schema.TypeEnum || tb.ID == schema.TypeSet; (ea || eb) &&
		(ea || ta.IsString()) && (eb || tb.IsString()) {
		t = textType(longText, schema.CollationBinary) // enums compare with text as text
		t.ID = schema.TypeLongText
	} else {
		t = types.CmpType(ta, tb, constOperand(a), constOperand(b))
	}
	if t.IsString() {
		coll, err := agreeOn(env, name, []Expr{a, b})
		if err != nil {
			return t, err
		}
		t = textType(longText, coll)
		t.Len = schema.UnspecifiedLength
	}
	return t, nil
}

func isConstOf(e Expr) bool {
	_, ok := e.(*Const)
	return ok
}

// mixedSign is the type in which a signed and an unsigned integer compare:
// that of the column when the other is a literal that fits. Otherwise both
// stay what they are, and compareDatums takes care of the signs: a conversion
// would keep an index from being used.
func mixedSign(a, b Expr) schema.Type {
	for _, e := range []Expr{a, b} {
		if c, ok := e.(*Const); ok && c.D.Kind() == value.KindInt && c.D.Int() >= 0 {
			return uintType()
		}
		if c, ok := e.(*Const); ok && c.D.Kind() == value.KindUint && c.D.Uint() <= math.MaxInt64 {
			return intType()
		}
	}
	return intType()
}

// compareDatums is types.Compare of two values that are not NULL, also of a
// signed with an unsigned integer.
func compareDatums(a, b value.Datum, t schema.Type) int {
	ka, kb := a.Kind(), b.Kind()
	switch {
	case ka == kb:
	case ka == value.KindInt && kb == value.KindUint:
		if a.Int() < 0 {
			return -1
		}
		return cmp.Compare(uint64(a.Int()), b.Uint())
	case ka == value.KindUint && kb == value.KindInt:
		if b.Int() < 0 {
			return 1
		}
		return cmp.Compare(a.Uint(), uint64(b.Int()))
	}
	if ka == value.KindUint && kb == value.KindUint {
		return cmp.Compare(a.Uint(), b.Uint())
	}
	return types.Compare(a, b, t)
}

// castForCompare converts an operand; decimals of any scale compare without a
// cast.
func castForCompare(env *BindEnv, e Expr, t schema.Type) (Expr, error) {
	from := e.Type()
	if from.ID == schema.TypeNull {
		return e, nil
	}
	if t.ID == schema.TypeJSON {
		if from.ID == schema.TypeJSON {
			return e, nil
		}
		// A text compares as a JSON string; it is not parsed.
		return mustLookup("json_scalar").call("json_scalar", []Expr{e}, jsonType(), e.Nullable(), jsonBool(e)), nil
	}
	if t.ID == schema.TypeDecimal {
		if from.ID == schema.TypeDecimal {
			return KeepQuotient(e), nil
		}
		if p, s := precisionOf(e); numClassOf(from) != numFloat {
			return NewCast(env, e, decimalType(p, s), false)
		}
	}
	if t.IsString() && from.IsString() {
		return toCharset(env, e, t.Collation)
	}
	if from.ID == schema.TypeGeometry && t.IsBinary() {
		return e, nil // its bytes
	}
	if t.IsInteger() && from.IsInteger() {
		c, literal := e.(*Const)
		if !literal || from.Unsigned == t.Unsigned || c.D.Bits() > math.MaxInt64 {
			return e, nil
		}
	}
	if from.ID == schema.TypeFloat && t.IsFloat() || from.HasDate() && t.HasDate() || from.ID == schema.TypeTime && t.ID == schema.TypeTime {
		return e, nil // one kind, one order
	}
	if t.IsString() {
		t = textType(textLen(e), t.Collation)
		if !from.IsNumeric() && !from.IsTemporal() {
			t = types.Text(t.Collation)
		}
	}
	return NewCast(env, e, t, false)
}

// constantsToColumn converts a literal that is compared with an integer or
// time column to the column's type, when that loses nothing: the comparison
// then is one of integers, and an index serves it.
func constantsToColumn(env *BindEnv, name string, a, b Expr) (Expr, Expr, error) {
	if c, ok := b.(*Const); ok {
		x, err := constantToColumn(env, name, a, c)
		if k, both := a.(*Const); err == nil && both && b.Type().HasDate() {
			a, err = constantToColumn(env, name, b, k)
		}
		return a, x, err
	}
	if c, ok := a.(*Const); ok {
		x, err := constantToColumn(env, name, b, c)
		return x, b, err
	}
	return timeOperand(b, YearOperand(b, a)), timeOperand(a, YearOperand(a, b)), nil
}

// timeOperand is e, made the number that a date or time of day has, if it is a
// constant number in a shorter form and other is such a column: what
// numberToTime does with a literal. "If one of the arguments is a TIMESTAMP or
// DATETIME column and the other argument is a constant, the constant is converted"
// (Reference Manual, Type Conversion in Expression Evaluation).
func timeOperand(other, e Expr) Expr {
	t := e.Type()
	if !isColumn(other) || !other.Type().HasDate() || !IsConst(e) || !KnownBefore([]Expr{e}) || !isTimeNumber(t) {
		return e
	}
	if t.ID == schema.TypeDecimal {
		t = decimalType(20, 6)
	}
	name := "full_datetime"
	if other.Type().ID == schema.TypeDate {
		name = "full_date"
	}
	return mustLookup(name).call(name, []Expr{e}, t, e.Nullable(), nil)
}

func isTimeNumber(t schema.Type) bool {
	return t.IsNumeric() && t.ID != schema.TypeBit && t.ID != schema.TypeYear
}

func rowFullDate(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return fullTimeNumber(f.T, a[0], true), nil
}

func rowFullDatetime(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return fullTimeNumber(f.T, a[0], false), nil
}

// fullTimeNumber is d, of type t, in the form YYYYMMDD of a DATE or
// YYYYMMDDHHMMSS. d is unchanged if it is no date, or has a time of day that a
// DATE has not.
func fullTimeNumber(t schema.Type, d value.Datum, date bool) value.Datum {
	v, _, ok := types.NumberAsTime(d)
	if !ok || date && v != v.Date() {
		return d
	}
	n := types.FullTimeNumber(v, date)
	switch d.Kind() {
	case value.KindInt:
		return value.Int(n)
	case value.KindUint:
		return value.Uint(uint64(n))
	case value.KindDecimal:
		return value.Dec(value.DecimalFromInt(n).Add(value.DecimalFromInt128(0, uint64(v.Micro()), 6)))
	}
	return value.Float(float64(n) + float64(v.Micro())/1e6)
}

// YearOperand is e, completed to a year of four digits if it is a constant and
// other is a YEAR column: what constantToYear does with a literal. Columns of
// the query around and subqueries are no constants in this sense.
func YearOperand(other, e Expr) Expr {
	t := e.Type()
	if _, isCol := other.(*Col); !isCol || other.Type().ID != schema.TypeYear || !IsConst(e) || !KnownBefore([]Expr{e}) || !t.IsNumeric() && !t.IsCharacter() || t.ID == schema.TypeBit {
		return e
	}
	if !t.IsInteger() {
		t = doubleType()
	}
	return mustLookup("full_year").call("full_year", []Expr{e}, t, e.Nullable(), nil)
}

// rowFullYear completes years of two digits. A text that is no year is the
// number that it begins with.
func rowFullYear(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	year, ok := yearOf(a[0])
	if types.KindOf(f.T) == value.KindFloat {
		if ok {
			return value.Float(float64(year)), nil
		}
		v, err := types.ToFloat(&c.Env, a[0], f.Args[0].Type())
		return value.Float(v), err
	}
	n := a[0].Bits()
	if ok {
		n = uint64(year)
	}
	if types.KindOf(f.T) == value.KindUint {
		return value.Uint(n), nil
	}
	return value.Int(int64(n)), nil
}

// yearOf is the year that a YEAR column would store for d; ok is false if it
// would store none.
func yearOf(d value.Datum) (year int64, ok bool) {
	n := int64(-1)
	switch d.Kind() {
	case value.KindInt:
		n = d.Int()
	case value.KindUint:
		n = int64(min(d.Uint(), 1<<62))
	case value.KindDecimal:
		if n, ok = d.Decimal().Round(0).Int64(); !ok {
			return 0, false
		}
	case value.KindFloat:
		if f := d.Float(); f >= 0 && f < 2155 {
			n = int64(f)
		}
	case value.KindBytes:
		text := d.Str()
		v, err := strconv.ParseUint(text, 10, 16)
		if err != nil || len(text) > 4 || len(text) == 3 {
			return 0, false
		}
		if n = int64(v); n == 0 && len(text) < 4 {
			return 2000, true
		}
	}
	if n < 0 || n > 2155 || n > 99 && n < 1901 {
		return 0, false
	}
	if n >= 1 && n <= 99 {
		n = fullYear(n)
	}
	return n, true
}

func constantToColumn(env *BindEnv, name string, e Expr, c *Const) (Expr, error) {
	t := e.Type()
	if c.D.IsNull() {
		return c, nil
	}
	isCol := isColumn(e)
	switch {
	case t.ID == schema.TypeEnum && isCol && c.T.IsCharacter():
		switch name {
		case "=", "<=>", "<>", "!=", "in":
			return constantToEnum(t, c), nil
		}
		return c, nil
	case t.ID == schema.TypeYear && isCol:
		return constantToYear(t, c), nil
	case t.HasDate() && isCol && isTimeNumber(c.T):
		return numberToTime(e, c), nil
	case t.HasDate() || t.ID == schema.TypeTime:
		return constantToTime(env, t, c)
	case t.IsInteger() && isCol:
		return constantToInt(c), nil
	}
	return c, nil
}

// constantToEnum is the member that a text names, so that equality compares
// numbers.
func constantToEnum(t schema.Type, c *Const) Expr {
	if !sameBytes(t.Collation, c.T.Collation) {
		return c
	}
	coll := collate.Must(t.Collation)
	for i, m := range t.Elems {
		if coll.Compare([]byte(m), c.D.Bytes()) == 0 {
			return &Const{D: value.Uint(uint64(i + 1)), T: t, Text: c.Text}
		}
	}
	return c
}

// constantToYear makes the year of a literal that is one, as the column would
// store it.
func constantToYear(t schema.Type, c *Const) Expr {
	if c.T.IsBinary() {
		return c
	}
	v, ok := yearOf(c.D)
	if !ok {
		return c
	}
	return &Const{D: value.Uint(uint64(v)), T: t, Text: c.Text}
}

// constantToTime refuses a text literal that is no date (1525).
func constantToTime(env *BindEnv, t schema.Type, c *Const) (Expr, error) {
	if c.D.Kind() != value.KindBytes || t.ID == schema.TypeTime {
		return c, nil
	}
	q := quietCtx()
	q.ctx.Mode = env.mode() & types.ModeAllowInvalidDates
	to := datetimeType(6)
	if t.ID == schema.TypeDate && len(c.D.Bytes()) <= 10 {
		to = dateType()
	}
	v, ok, err := types.ParseTime(&q.ctx.Env, c.D.Bytes(), to)
	if err != nil || !ok {
		return nil, sqlerr.WrongValue(dateKind(t.ID), c.D.Str())
	}
	if q.warned {
		return c, nil
	}
	if t.ID == schema.TypeDate && v == v.Date() {
		to = dateType()
	}
	if to.ID == schema.TypeDatetime {
		to.Scale = textFsp(c.D.Bytes())
	}
	return &Const{D: value.TimeOf(v), T: to, Text: c.Text}, nil
}

// numberAgain is a constant that was given as a number, and made a date for a
// column, as a number.
func numberAgain(col, e, given Expr) Expr {
	if c, ok := e.(*Const); ok && c.T.HasDate() && isTimeNumber(given.Type()) {
		return timeOperand(col, given)
	}
	return e
}

// numberToTime makes a date of a number that is compared with a column of dates, as
// the column would store it. One that no calendar has stays a number.
func numberToTime(col Expr, c *Const) Expr {
	v, valid, ok := types.NumberAsTime(c.D)
	switch {
	case !ok:
		return c
	case !valid:
		return timeOperand(col, c)
	case v == v.Date() && col.Type().ID == schema.TypeDate:
		return &Const{D: value.TimeOf(v), T: dateType(), Text: c.Text}
	case col.Type().ID == schema.TypeDate:
		return c
	}
	t := datetimeType(0)
	if v.Micro() != 0 {
		t = datetimeType(6)
	}
	return &Const{D: value.TimeOf(v), T: t, Text: c.Text}
}

func dateKind(id schema.TypeID) string {
	switch id {
	case schema.TypeDate:
		return "DATE"
	case schema.TypeTimestamp:
		return "TIMESTAMP"
	}
	return "DATETIME"
}

// asLiteral makes the cast of a text parameter that is compared with a column
// of type t refuse what is no date, as constantToTime does with a literal.
func asLiteral(e Expr, t schema.Type) Expr {
	f, ok := e.(*Func)
	if !ok || f.Op != OpCast || !t.HasDate() {
		return e
	}
	if p, ok := f.Args[0].(*Param); !ok || !p.T.IsString() {
		return e
	}
	c := *f
	c.Extra = &castSpec{fuzzy: true, literal: dateKind(t.ID)}
	return &c
}

func constantToInt(c *Const) Expr {
	var dec value.Decimal
	switch c.D.Kind() {
	case value.KindBytes:
		if c.T.IsBinary() {
			return c
		}
		d, err := value.ParseDecimal(c.D.Str())
		if err != nil {
			return c
		}
		dec = d
	case value.KindDecimal:
		dec = c.D.Decimal()
	case value.KindFloat:
		v := c.D.Float()
		if v != math.Trunc(v) || math.Abs(v) > 1<<53 {
			return c
		}
		return &Const{D: value.Int(int64(v)), T: intType(), Text: c.Text}
	default:
		return c
	}
	if dec.Cmp(dec.Truncate(0)) != 0 {
		return c
	}
	if v, ok := dec.Int64(); ok {
		return &Const{D: value.Int(v), T: intType(), Text: c.Text}
	}
	if v, ok := dec.Uint64(); ok {
		return &Const{D: value.Uint(v), T: uintType(), Text: c.Text}
	}
	return c
}

func rowCompare(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	x := f.comparison()
	return value.Bool(x.op.holds(c.compare(a[0], a[1], x.t))), nil
}

func rowNullSafe(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() || a[1].IsNull() {
		return value.Bool(a[0].IsNull() && a[1].IsNull()), nil
	}
	return value.Bool(c.compare(a[0], a[1], f.comparison().t) == 0), nil
}

func retStrcmp(b *binding) (schema.Type, error) {
	_, err := b.agree([]int{0, 1})
	t := boolType()
	t.Len = 2
	t.ID = schema.TypeBigInt
	return t, err
}

func rowStrcmp(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	coll := stringCollation(f.Args)
	return value.Int(int64(c.compare(a[0], a[1], types.Text(coll)))), nil
}

// stringCollation is the collation that string arguments, which were found to
// agree at bind time, are compared in.
func stringCollation(args []Expr) schema.CollationID {
	coll, err := agreeOn(nil, "", args)
	if err != nil {
		return schema.CollationBinary
	}
	return coll
}

// bindInterval types INTERVAL(n, n1, n2, …): all integers, or all DOUBLE.
func bindInterval(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) < 2 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	ints := true
	for _, a := range args {
		ints = ints && numClassOf(a.Type()) == numInt && !isUnsigned(a.Type())
	}
	out := make([]Expr, len(args))
	for i, a := range args {
		to := doubleType()
		if ints {
			to = intType()
		}
		var err error
		if out[i], err = NewCast(env, a, to, false); err != nil {
			return nil, err
		}
	}
	return d.call(name, out, intType(), false, nil), nil
}

// rowInterval is the number of leading bounds that are not above a[0].
func rowInterval(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() {
		return value.Int(-1), nil
	}
	for i, b := range a[1:] {
		if b.IsNull() {
			continue
		}
		above := false
		if b.Kind() == value.KindInt {
			above = b.Int() > a[0].Int()
		} else {
			above = b.Float() > a[0].Float()
		}
		if above {
			return value.Int(int64(i)), nil
		}
	}
	return value.Int(int64(len(a) - 1)), nil
}
