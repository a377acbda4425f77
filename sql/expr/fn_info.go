package expr

import (
	"context"
	"errors"
	"math"
	"strings"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

func infoDefs() []entry {
	session := func(names string, ret typeFunc, fl flags, get func(s Session) value.Datum) entry {
		return fn(names, "", ret, func(c *Ctx, f *Func, _ []value.Datum) (value.Datum, error) {
			if c.Session == nil {
				return value.Null, sqlerr.Internal("%s() without a session", f.Name)
			}
			return get(c.Session), nil
		}, fl|ofSession)
	}
	constant := func(names string, ret typeFunc, get func(f *Func) value.Datum) entry {
		return fn(names, "x", ret, func(_ *Ctx, f *Func, _ []value.Datum) (value.Datum, error) { return get(f), nil }, loose|notNull)
	}
	return []entry{
		session("database schema", retUTF8(64), nullable, func(s Session) value.Datum {
			if db := s.Database(); db != "" {
				return value.String(db)
			}
			return value.Null
		}),
		session("user session_user system_user", retUTF8(288), notNull, func(s Session) value.Datum { return value.String(s.User()) }),
		session("current_user", retUTF8(288), notNull, func(s Session) value.Datum { return value.String(s.CurrentUser()) }),
		fn("current_role", "", retUTF8(288), rowCurrentRole, notNull|ofSession),
		session("connection_id", retUint, notNull, func(s Session) value.Datum { return value.Uint(s.ConnectionID()) }),
		session("row_count", retInt(21), notNull, func(s Session) value.Datum { return value.Int(s.RowCount()) }),
		session("found_rows", retUint, notNull, func(s Session) value.Datum { return value.Uint(uint64(s.FoundRows())) }),
		fn("version", "", retUTF8(len(ServerVersion)), func(*Ctx, *Func, []value.Datum) (value.Datum, error) { return value.String(ServerVersion), nil }, notNull),
		lastInsertID(),
		constant("charset", retUTF8(64), func(f *Func) value.Datum { return value.String(charsetName(textualCollation(f.Args[0]))) }),
		constant("collation", retUTF8(64), func(f *Func) value.Datum { return value.String(collationName(textualCollation(f.Args[0]))) }),
		constant("coercibility", retInt(1), func(f *Func) value.Datum { return value.Int(int64(coercibilityOf(f.Args[0]))) }),
		special("benchmark", bindBenchmark, def{flags: volatile, b: Builtin{impl: impl{lazy: lazyBenchmark}}}),
		fn("sleep", "f", retInt(21), rowSleep, volatile|loose),
		special("getvar", bindGetVar, def{flags: ofSession, b: Builtin{Row: rowGetVar, impl: impl{shares: true}}}),
		special("getvar_each", unboundUnit, def{flags: volatile | ofSession, b: Builtin{Row: rowGetVar, impl: impl{shares: true}}}),
		special("setvar", bindSetVar, def{flags: volatile | ofSession, b: Builtin{impl: impl{lazy: lazySetVar}}}),
		special("sysvar", unboundUnit, def{flags: ofSession, b: Builtin{Row: rowSysVar}}),
	}
}

func textualCollation(e Expr) schema.CollationID {
	t := e.Type()
	if t.IsString() || t.ID == schema.TypeEnum || t.ID == schema.TypeSet {
		return t.Collation
	}
	if t.ID == schema.TypeJSON {
		return schema.CollationUTF8MB4Bin
	}
	return schema.CollationBinary
}

// lastInsertID is volatile with an argument, which it stores in the session.
func lastInsertID() entry {
	plain := fn("last_insert_id", "?i", retUint, rowLastInsertID, loose|ofSession)
	plain.d.custom = func(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
		if len(args) > 1 {
			return nil, wrongCount(name)
		}
		if len(args) == 0 {
			return d.call(name, nil, uintType(), false, nil), nil
		}
		if err := rejectRows(args); err != nil {
			return nil, err
		}
		a, err := convertArg(env, 'i', args[0])
		if err != nil {
			return nil, err
		}
		set := mustLookup("set_last_insert_id")
		return set.call("last_insert_id", []Expr{a}, uintType(), a.Nullable(), nil), nil
	}
	return plain
}

func rowLastInsertID(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if c.Session == nil {
		return value.Null, sqlerr.Internal("last_insert_id() without a session")
	}
	if len(a) == 1 {
		if a[0].IsNull() {
			c.Session.SetLastInsertID(0)
			return value.Null, nil
		}
		c.Session.SetLastInsertID(a[0].Bits())
		return value.Uint(a[0].Bits()), nil
	}
	return value.Uint(c.Session.LastInsertID()), nil
}

// bindBenchmark types BENCHMARK(n, e): e is evaluated n times for the effort.
func bindBenchmark(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 2 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	n, err := convertArg(env, 'i', args[0])
	if err != nil {
		return nil, err
	}
	return d.call(name, []Expr{n, args[1]}, intType(), true, nil), nil
}

func lazyBenchmark(c *Ctx, f *Func, row []value.Datum) (value.Datum, error) {
	n, err := EvalRow(c, f.Args[0], row)
	if err != nil || n.IsNull() || asInt(n) < 0 {
		return value.Null, err
	}
	for i := int64(0); i < asInt(n); i++ {
		if err := c.Work(workOfCall); err != nil {
			return value.Null, err
		}
		if _, err := EvalRow(c, f.Args[1], row); err != nil {
			return value.Null, err
		}
	}
	return value.Int(0), nil
}

// contextError says why a context has ended.
func contextError(ctx context.Context) error {
	var e *sqlerr.Error
	switch cause := context.Cause(ctx); {
	case errors.As(cause, &e):
		return e
	case errors.Is(cause, context.DeadlineExceeded):
		return sqlerr.QueryTimeout()
	}
	return sqlerr.QueryInterrupted()
}

// rowSleep waits; what ends the statement is its error.
func rowSleep(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() || a[0].Float() < 0 {
		return value.Null, sqlerr.WrongArguments("sleep.")
	}
	d := time.Duration(math.MaxInt64)
	if s := a[0].Float(); s < 9e9 {
		d = time.Duration(s * float64(time.Second))
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	var done <-chan struct{}
	if c.Context != nil {
		done = c.Context.Done()
	}
	select {
	case <-timer.C:
		return value.Int(0), nil
	case <-done:
		return value.Null, contextError(c.Context)
	}
}

// NewGetVar is @name with the type that the variable has now. It is constant
// for the statement, so that indexes serve it, unless an assignment was bound
// before with the same BindEnv.
func NewGetVar(env *BindEnv, name string, t schema.Type) Expr {
	arg := &Const{D: value.String(strings.ToLower(name)), T: textType(64, schema.CollationUTF8MB4Bin), Text: name}
	switch types.KindOf(t) {
	case value.KindInt:
		t = intType()
	case value.KindUint:
		t = uintType()
	case value.KindFloat:
		t = doubleType()
	case value.KindDecimal:
		t = decimalType(maxPrecision, maxScale)
	default:
		coll := t.Collation
		if !t.IsString() {
			coll = env.collation()
		}
		t = textType(longText, coll)
	}
	builtin := "getvar"
	if env != nil && env.assignsVars {
		builtin = "getvar_each"
	}
	return mustLookup(builtin).call("getvar", []Expr{arg}, t, true, nil)
}

// IsDecimalVar reports whether e is @name with a decimal in it. As a text it has
// the scale of its value, whereas it counts as DECIMAL(65,30) in expressions.
func IsDecimalVar(e Expr) bool {
	f, ok := e.(*Func)
	return ok && f.Op == OpGetVar && f.T.ID == schema.TypeDecimal
}

// asText is a variable read as a text.
func (f *Func) asText(to schema.Type) Expr {
	c := *f
	c.T = textType(longText, to.Collation)
	return &c
}

// bindGetVar is getvar('name'): a text of the connection's collation, for
// variables whose type is not known.
func bindGetVar(_ *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 1 {
		return nil, wrongCount(name)
	}
	c, ok := args[0].(*Const)
	if !ok {
		return nil, sqlerr.WrongArguments(name)
	}
	return NewGetVar(env, c.D.Str(), types.Text(env.collation())), nil
}

// NewSetVar is @name := e. It gives the value of e.
func NewSetVar(env *BindEnv, name string, e Expr) (Expr, error) {
	return NewFunc(env, "setvar", &Const{D: value.String(strings.ToLower(name)), T: textType(64, schema.CollationUTF8MB4Bin), Text: name}, e)
}

// bindSetVar converts the value to a type that a variable can have: integer,
// decimal, double or text.
func bindSetVar(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 2 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	if env != nil {
		env.assignsVars = true
	}
	each := mustLookup("getvar_each")
	if _, ok := args[0].(*Const); !ok {
		return nil, sqlerr.WrongArguments(name)
	}
	e := Map(KeepQuotient(args[1]), func(x Expr) Expr {
		if f, ok := x.(*Func); ok && f.Op == OpGetVar {
			return each.call("getvar", f.Args, f.T, true, nil)
		}
		return x
	})
	t := e.Type()
	var err error
	switch {
	case t.IsInteger(), t.ID == schema.TypeDecimal, t.IsFloat(), t.ID == schema.TypeNull:
	case t.IsNumeric():
		e, err = NewCast(env, e, uintType(), false)
	default:
		e, err = convertArg(env, 's', e)
	}
	if err != nil {
		return nil, err
	}
	return d.call(name, []Expr{args[0], e}, e.Type(), e.Nullable(), nil), nil
}

// rowGetVar converts what the variable holds now to the type of the call.
func rowGetVar(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if c.Session == nil {
		return value.Null, sqlerr.Internal("user variables without a session")
	}
	d, t := c.Session.UserVar(a[0].Str())
	if d.IsNull() || d.Kind() == kindOf(f) {
		return d, nil
	}
	env, err := c.readEnv(d, f.T)
	if err != nil {
		return value.Null, err
	}
	return types.Cast(env, d, t, f.T)
}

// lazySetVar goes row by row, so that @n := @n + 1 counts.
func lazySetVar(c *Ctx, f *Func, row []value.Datum) (value.Datum, error) {
	if c.Session == nil {
		return value.Null, sqlerr.Internal("user variables without a session")
	}
	d, err := EvalRow(c, f.Args[1], row)
	if err != nil {
		return value.Null, err
	}
	return d, c.Session.SetUserVar(f.Args[0].(*Const).D.Str(), d, f.Args[1].Type())
}

// sysVar is the Extra of a system variable.
type sysVar struct{ scope, name string }

// NewSysVar is @@scope.name, of type t; scope is "", "session" or "global".
func NewSysVar(scope, name string, t schema.Type) Expr {
	return mustLookup("sysvar").call("sysvar", nil, t, true, &sysVar{scope, strings.ToLower(name)})
}

func rowSysVar(c *Ctx, f *Func, _ []value.Datum) (value.Datum, error) {
	if c.Session == nil {
		return value.Null, sqlerr.Internal("system variables without a session")
	}
	v := f.sysVar()
	d, t, err := c.Session.SysVar(v.scope, v.name)
	if err != nil || d.IsNull() || d.Kind() == kindOf(f) {
		return d, err
	}
	return types.Cast(&c.Env, d, t, f.T)
}
