package expr

import (
	"fmt"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// castSpec is the Extra of a cast.
type castSpec struct {
	explicit bool
	// fuzzy: zero dates and zero parts in dates pass whatever sql_mode says,
	// as arguments of date functions do.
	fuzzy bool
	// whole: neither pass, as in functions that count days.
	whole bool
	// boolean: the value is JSON's true or false.
	boolean bool
	// stored, if set, is the column that keeps the value, see NewStored.
	stored string
	// literal, if set, is what the value has to be; otherwise it is 1525.
	literal string
}

func castDef() *def { return mustLookup("cast") }

// internalDefs are the builtins that only constructors of this package use.
func internalDefs() []entry {
	unbound := func(_ *def, _ *BindEnv, name string, _ []Expr) (Expr, error) {
		return nil, sqlerr.FunctionDoesNotExist(name)
	}
	return []entry{
		special("cast", unbound, def{b: Builtin{Row: rowCast, impl: impl{strict: true, vec: vecCast}}}),
		special(asShown, unbound, def{b: Builtin{Row: rowShown, impl: impl{strict: true, vec: vecShown}}}),
		special("convert_using", unbound, def{b: Builtin{Row: rowCast, impl: impl{strict: true}}}),
		special("collate", unbound, def{b: Builtin{Row: rowFirst, impl: impl{vec: vecCollate}}}),
	}
}

// NewCast converts arg to another type: CAST and CONVERT when explicit, and
// the conversions that operators insert. An implicit cast that would change
// nothing is arg itself; a constant is converted here if that raises no
// warning.
func NewCast(env *BindEnv, arg Expr, to schema.Type, explicit bool) (Expr, error) {
	if _, ok := isRow(arg); ok {
		return nil, sqlerr.OperandColumns(1)
	}
	if (to.IsCharacter()) && to.Collation == schema.CollationNone {
		to.Collation = env.collation()
	}
	if explicit && to.ID == schema.TypeGeometry {
		return nil, sqlerr.NotSupported("CAST AS geometry")
	}
	switch {
	case to.Variant:
		return NewVariant(arg), nil
	case IsVariant(arg):
		return variantAs(arg, to, explicit), nil
	}
	if !explicit && sameForm(arg.Type(), to) {
		return arg, nil
	}
	arg = Operand(arg, to)
	if to.IsString() && IsDecimalVar(arg) {
		arg = arg.(*Func).asText(to)
	}
	from := arg.Type()
	if from.ID == schema.TypeJSON && to.ID == schema.TypeJSON {
		return arg, nil
	}
	nullable := castNullable(arg, to) || explicit && from.HasDate() && to.HasDate() // zero dates
	return foldCast(castDef().call("cast", []Expr{arg}, to, nullable, &castSpec{explicit: explicit, boolean: to.ID == schema.TypeJSON && jsonBool(arg)})), nil
}

// NewStored is e as a set operation keeps it in a column of type to: an implicit
// cast. A computed decimal may have more digits than any type, and its own type
// does not show it. It becomes the nearest that fits; only statements that write
// report that.
func NewStored(env *BindEnv, e Expr, to schema.Type, column string) (Expr, error) {
	from := e.Type()
	if to.ID != schema.TypeDecimal || to.Len < maxPrecision || from.ID != schema.TypeDecimal {
		return NewCast(env, e, to, false)
	}
	if _, computed := e.(*Func); sameForm(from, to) && (!computed || from.Len < maxPrecision) {
		return e, nil
	}
	return foldCast(castDef().call("cast", []Expr{Operand(e, to)}, to, e.Nullable(), &castSpec{stored: column})), nil
}

func rowStored(c *Ctx, f *Func, d value.Datum) (value.Datum, error) {
	dec := d.Decimal().Rescale(f.T.Scale)
	if !dec.Fits(f.T.Len, f.T.Scale) {
		neg := dec.Sign() < 0
		if dec = value.MaxDecimal(f.T.Len, f.T.Scale); neg {
			dec = dec.Neg()
		}
		if e := sqlerr.OutOfRange(f.cast().stored, 1); c.Write && c.Mode.Strict() && !c.Ignore {
			return value.Null, e
		} else if c.Write {
			c.Warning(e)
		}
	}
	return value.Dec(dec), nil
}

// WithCollation is e, as text of another collation of the same bytes.
func WithCollation(e Expr, coll schema.CollationID) Expr {
	t := e.Type()
	if !t.IsString() || t.Collation == coll || !sameBytes(t.Collation, coll) {
		return e
	}
	t.Collation = coll
	return mustLookup("collate").call("collate", []Expr{e}, t, e.Nullable(), nil)
}

// IsExplicitCast reports a CAST that the statement has.
func IsExplicitCast(e Expr) bool {
	f, ok := e.(*Func)
	if !ok || f.Op != OpCast {
		return false
	}
	spec, ok := f.Extra.(*castSpec)
	return ok && spec.explicit
}

// newDateCast is the cast of an argument of a date function.
func newDateCast(_ *BindEnv, arg Expr, to schema.Type) Expr {
	return foldCast(castDef().call("cast", []Expr{arg}, to, true, &castSpec{fuzzy: true}))
}

// newWholeDateCast is newDateCast for functions that need all of a date.
func newWholeDateCast(arg Expr, to schema.Type) Expr {
	return foldCast(castDef().call("cast", []Expr{arg}, to, true, &castSpec{whole: true}))
}

// NewConvertUsing is CONVERT(arg USING charset), with the character set given
// by its default collation.
func NewConvertUsing(env *BindEnv, arg Expr, coll schema.CollationID) (Expr, error) {
	return convertUsing(env, arg, coll, true)
}

// NewCharUsing is CHAR(… USING charset) of arg, which is CHAR(…): its collation is
// no firmer than that of a literal.
func NewCharUsing(env *BindEnv, arg Expr, coll schema.CollationID) (Expr, error) {
	return convertUsing(env, arg, coll, false)
}

func convertUsing(env *BindEnv, arg Expr, coll schema.CollationID, explicit bool) (Expr, error) {
	s, err := convertArg(env, 's', arg)
	if err != nil {
		return nil, err
	}
	to := textType(textLen(s), coll)
	return mustLookup("convert_using").call("convert_using", []Expr{s}, to, castNullable(s, to), &castSpec{explicit: explicit}), nil
}

// NewCollate is arg COLLATE coll. Errors: 1253 if the collation is of another
// character set.
func NewCollate(env *BindEnv, arg Expr, coll schema.CollationID) (Expr, error) {
	if err := rejectRows([]Expr{arg}); err != nil {
		return nil, err
	}
	s, err := convertArg(env, 's', arg)
	if err != nil {
		return nil, err
	}
	t := s.Type()
	have := t.Collation
	if have != coll && (have == schema.CollationBinary || coll == schema.CollationBinary || charsetName(have) != charsetName(coll)) {
		return nil, sqlerr.CollationCharsetMismatch(collationName(coll), charsetName(have))
	}
	t.Collation = coll
	return mustLookup("collate").call("collate", []Expr{s}, t, s.Nullable(), nil), nil
}

// sameForm reports whether a value of one type is unchanged a value of the other,
// for implicit casts.
func sameForm(from, to schema.Type) bool {
	if types.KindOf(from) != types.KindOf(to) {
		return false
	}
	switch {
	case from.ID == schema.TypeEnum || from.ID == schema.TypeSet || to.ID == schema.TypeEnum || to.ID == schema.TypeSet:
		return from.ID == to.ID
	case to.IsString():
		return from.IsString() && sameBytes(from.Collation, to.Collation)
	case to.ID == schema.TypeDecimal:
		return from.Scale == to.Scale
	case to.HasDate():
		return (to.ID != schema.TypeDate || from.ID == schema.TypeDate) && from.Scale <= to.Scale
	case to.ID == schema.TypeTime:
		return from.Scale <= to.Scale
	case to.ID == schema.TypeFloat:
		return from.ID == schema.TypeFloat
	}
	return true
}

// castNullable: conversions to times may fail, as do those from JSON.
func castNullable(arg Expr, to schema.Type) bool {
	from := arg.Type()
	if arg.Nullable() {
		return true
	}
	if to.IsTemporal() || to.ID == schema.TypeYear {
		return !(from.HasDate() && to.IsTemporal() || from.ID == schema.TypeTime && to.ID == schema.TypeTime)
	}
	// Bytes may be no text of the character set.
	return to.IsCharacter() && (from.IsString() || from.ID == schema.TypeGeometry || from.ID == schema.TypeBit) && from.Collation != to.Collation && !(isUTF8(charsetName(from.Collation)) && charsetName(to.Collation) == "utf8mb4")
}

// foldCast evaluates the cast of a constant, if it raises nothing and depends
// on no session.
func foldCast(f *Func) Expr {
	k, ok := f.Args[0].(*Const)
	if !ok || isEnvCast(k.T, f.T) {
		return f
	}
	if k.D.Kind() == value.KindTime && (k.D.Time().IsZero() || k.D.Time().HasZeroPart()) {
		return f // sql_mode decides
	}
	c := quietCtx()
	d, err := rowCast(c.ctx, f, []value.Datum{k.D})
	if k.D.IsNull() {
		d, err = value.Null, nil
	}
	if err != nil || c.warned {
		return f
	}
	if f.T.ID == schema.TypeTime && !d.IsNull() { // sql_mode rounds or cuts the fraction
		c.ctx.Mode |= types.ModeTimeTruncateFractional
		if cut, err := rowCast(c.ctx, f, []value.Datum{k.D}); err != nil || cut.IsNull() || cut.Bits() != d.Bits() {
			return f
		}
	}
	text := k.Text
	if f.cast().explicit {
		if f.T.IsString() {
			return f // a literal would hold its collation less firmly
		}
		text = ""
	}
	return &Const{D: d.Clone(), T: f.T, Text: text}
}

// isEnvCast reports casts whose result depends on the statement's time, time
// zone or sql_mode.
func isEnvCast(from, to schema.Type) bool {
	if to.HasDate() {
		return !from.HasDate() && from.ID != schema.TypeNull
	}
	return from.ID == schema.TypeTimestamp
}

// quiet is a Ctx that notes whether something warned.
type quiet struct {
	ctx    *Ctx
	warned bool
}

func quietCtx() *quiet {
	q := &quiet{ctx: &Ctx{}}
	q.ctx.Mode = types.DefaultSQLMode
	q.ctx.Warn = func(sqlerr.Warning) { q.warned = true }
	return q
}

func rowFirst(_ *Ctx, _ *Func, args []value.Datum) (value.Datum, error) { return args[0], nil }

func vecCollate(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) { return Eval(c, f.Args[0], in) }

func rowCast(c *Ctx, f *Func, args []value.Datum) (value.Datum, error) {
	spec := f.cast()
	env := &c.Env
	if spec.boolean && args[0].Kind() == value.KindInt {
		return value.JSONOf(value.JSONBool(args[0].Int() != 0)), nil
	}
	if spec.stored != "" && args[0].Kind() == value.KindDecimal {
		return rowStored(c, f, args[0])
	}
	if spec.whole {
		e := c.Env
		e.Mode |= types.ModeNoZeroDate | types.ModeNoZeroInDate
		env = &e
	}
	if spec.fuzzy {
		e := c.Env
		e.Mode &^= types.ModeNoZeroDate | types.ModeNoZeroInDate
		if spec.literal != "" {
			e.Warn = nil // it is an error
		}
		env = &e
	}
	to := f.T
	if !spec.explicit && to.IsCharacter() {
		to = types.Text(to.Collation) // the length is an estimate and cuts nothing
	}
	if to.ID == schema.TypeJSON && args[0].Kind() == value.KindBytes {
		var err error
		if env, err = c.readEnv(args[0], to); err != nil {
			return value.Null, err
		}
	}
	d, err := types.Cast(env, args[0], f.Args[0].Type(), to)
	if err != nil {
		return value.Null, fmt.Errorf("converting to %s: %w", f.T.ID, err)
	}
	if spec.literal != "" && d.IsNull() && !args[0].IsNull() {
		return value.Null, sqlerr.WrongValue(spec.literal, args[0].Str())
	}
	if spec.explicit && d.Kind() == value.KindTime && args[0].Kind() == value.KindTime && types.ZeroRefused(env, d.Time()) {
		return value.Null, nil
	}
	if d.Kind() == value.KindDecimal {
		if v := d.Decimal(); v.Scale() != f.T.Scale {
			return value.Dec(v.Rescale(f.T.Scale)), nil
		}
	}
	return d, nil
}

// vecCast has kernels for the conversions between numbers, between times, and of both
// to text.
func vecCast(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	from, to := f.Args[0].Type(), f.T
	fk, tk := types.KindOf(from), types.KindOf(to)
	plain := from.ID != schema.TypeEnum && from.ID != schema.TypeSet && from.ID != schema.TypeBit
	if plain && !castKernel(fk, tk, to) {
		if kind := pickCast(f.cast(), fk, tk, to); kind != nil {
			return castWords(c, f, in, kind)
		}
		plain = false
	}
	if !plain {
		return evalGeneric(c, f, in)
	}
	a, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(tk, in.N)
	out.Nulls.CopyFrom(&a.Nulls)
	switch {
	case tk == value.KindFloat && fk == value.KindInt:
		for i, v := range a.I64[:in.N] {
			out.F64[i] = float64(v)
		}
	case tk == value.KindFloat && fk == value.KindUint:
		for i, v := range a.I64[:in.N] {
			out.F64[i] = float64(uint64(v))
		}
	case tk == value.KindFloat && fk == value.KindDecimal:
		eachRow(in, &a.Nulls, func(i int) { out.F64[i] = a.Dec[i].Float64() })
	case tk == value.KindDecimal && fk == value.KindInt:
		eachRow(in, &a.Nulls, func(i int) { out.Dec[i] = value.DecimalFromInt(a.I64[i]).Rescale(to.Scale) })
	case tk == value.KindDecimal && fk == value.KindUint:
		eachRow(in, &a.Nulls, func(i int) { out.Dec[i] = value.DecimalFromUint(uint64(a.I64[i])).Rescale(to.Scale) })
	}
	c.Release(a)
	return out, nil
}

// castKernel reports the conversions that vecCast does itself: those that
// cannot fail.
func castKernel(from, to value.Kind, t schema.Type) bool {
	switch to {
	case value.KindFloat:
		return t.ID == schema.TypeDouble && t.Scale < 0 && (from == value.KindInt || from == value.KindUint || from == value.KindDecimal)
	case value.KindDecimal:
		return (from == value.KindInt || from == value.KindUint) && t.Len-t.Scale >= 20
	}
	return false
}

// eachRow calls do for the live rows that are not null.
func eachRow(in *vec.Batch, nulls *vec.Nulls, do func(i int)) {
	if in.HasSel {
		for _, i := range in.Sel {
			if !nulls.IsNull(int(i)) {
				do(int(i))
			}
		}
		return
	}
	if !nulls.Any() {
		for i := 0; i < in.N; i++ {
			do(i)
		}
		return
	}
	for i := 0; i < in.N; i++ {
		if !nulls.IsNull(i) {
			do(i)
		}
	}
}
