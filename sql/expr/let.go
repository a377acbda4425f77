package expr

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// A let evaluates an expression once for a row and gives its value to another
// one that mentions it several times: RAND() BETWEEN 0.2 AND 0.4, CASE RAND()
// WHEN …. Expressions that are deterministic are simply repeated.

func letDefs() []entry {
	return []entry{
		special("let", unboundUnit, def{flags: volatile, b: Builtin{impl: impl{lazy: lazyLet}}}),
		special("pad_char", unboundUnit, def{b: Builtin{Row: rowPadChar, impl: impl{strict: true}}}),
		special("let_value", unboundUnit, def{flags: volatile, b: Builtin{Row: rowLetValue, impl: impl{shares: true}}}),
	}
}

// NewPadChar is the value of a CHAR column under PAD_CHAR_TO_FULL_LENGTH: with
// spaces up to its length. Other columns do not change.
func NewPadChar(col Expr) Expr {
	if t := col.Type(); t.ID != schema.TypeChar || t.Len <= 0 {
		return col
	}
	return mustLookup("pad_char").call("pad_char", []Expr{col}, col.Type(), col.Nullable(), nil)
}

func rowPadChar(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	coll, s := argColl(f, 0), a[0].Bytes()
	missing := f.T.Len - coll.CharLen(s)
	if missing <= 0 {
		return a[0], nil
	}
	out := append(c.scratch(len(s)+4*missing), s...)
	for ; missing > 0; missing-- {
		out, _ = coll.AppendRune(out, ' ')
	}
	return value.Bytes(out), nil
}

// letSlot names the value of one let: the Extra of the let and of its
// mentions.
type letSlot struct{ operand Expr }

// WithValue is what body makes of e, with e evaluated once although body may
// use it several times.
func WithValue(e Expr, body func(Expr) (Expr, error)) (Expr, error) {
	if !IsVolatile(e) {
		return body(e)
	}
	slot := &letSlot{e}
	x, err := body(mustLookup("let_value").call("let_value", nil, e.Type(), e.Nullable(), slot))
	if err != nil {
		return nil, err
	}
	return mustLookup("let").call("let", []Expr{e, x}, x.Type(), x.Nullable(), slot), nil
}

// IsVolatile reports whether two evaluations of e for one row may differ.
func IsVolatile(e Expr) bool {
	found := false
	Walk(e, func(x Expr) bool {
		f, ok := x.(*Func)
		found = found || ok && f.B.Volatile
		return !found
	})
	return found
}

func lazyLet(c *Ctx, f *Func, row []value.Datum) (value.Datum, error) {
	d, err := EvalRow(c, f.Args[0], row)
	if err != nil {
		return value.Null, err
	}
	slot := f.let()
	n := c.extras()
	if n.lets == nil {
		n.lets = map[*letSlot]value.Datum{}
	}
	n.lets[slot] = d
	return EvalRow(c, f.Args[1], row)
}

func rowLetValue(c *Ctx, f *Func, _ []value.Datum) (value.Datum, error) {
	return c.extras().lets[f.let()], nil
}

// NewBetween is a BETWEEN low AND high. The three compare in one type, as in
// MySQL: with a date among them all are dates, with a number and a text all
// are DOUBLE. Where that is what the two comparisons do by themselves, it is
// these.
func NewBetween(env *BindEnv, a, low, high Expr) (Expr, error) {
	if err := rejectRows([]Expr{a, low, high}); err != nil {
		return nil, err
	}
	if hasVariant([]Expr{a, low, high}) {
		return WithValue(a, func(a Expr) (Expr, error) {
			lo, err := NewFunc(env, ">=", a, low)
			if err != nil {
				return nil, err
			}
			hi, err := NewFunc(env, "<=", a, high)
			if err != nil {
				return nil, err
			}
			return NewFunc(env, "and", lo, hi)
		})
	}
	given := [2]Expr{low, high}
	for _, bound := range []*Expr{&low, &high} {
		var err error
		// Next to a YEAR column that is no first operand, 1 is no 2001.
		if (*bound).Type().ID == schema.TypeYear && a.Type().IsNumeric() && a.Type().ID != schema.TypeYear {
			if *bound, err = NewCast(env, *bound, intType(), false); err != nil {
				return nil, err
			}
		}
		if _, *bound, err = constantsToColumn(env, "between", a, *bound); err != nil {
			return nil, err
		}
	}
	// Both bounds are dates, or both are numbers.
	if isTimeNumber(low.Type()) || isTimeNumber(high.Type()) {
		low, high = numberAgain(a, low, given[0]), numberAgain(a, high, given[1])
	}
	return WithValue(a, func(a Expr) (Expr, error) {
		if t, ok, err := betweenType(env, a, low, high); err != nil {
			return nil, err
		} else if ok {
			list, err := castAll(env, []Expr{a, low, high}, t)
			if err != nil {
				return nil, err
			}
			a, low, high = list[0], list[1], list[2]
		}
		coll, err := textListCollation(env, "between", []Expr{a, low, high})
		if err != nil {
			return nil, err
		}
		lo, err := compareIn(env, ">=", a, low, coll)
		if err != nil {
			return nil, err
		}
		hi, err := compareIn(env, "<=", a, high, coll)
		if err != nil {
			return nil, err
		}
		return NewFunc(env, "and", lo, hi)
	})
}

// compareIn compares two texts in a collation; other operands, for which it is
// CollationNone, in a type of their own.
func compareIn(env *BindEnv, name string, a, b Expr, coll schema.CollationID) (Expr, error) {
	e, err := NewFunc(env, name, a, b)
	f, ok := e.(*Func)
	if err != nil || !ok || coll == schema.CollationNone {
		return e, err
	}
	c, ok := f.Extra.(*comparison)
	if !ok || !c.t.IsString() || c.t.Collation == coll {
		return e, nil
	}
	t := c.t
	t.Collation = coll
	x, err := toCharset(env, a, coll)
	if err != nil {
		return nil, err
	}
	y, err := toCharset(env, b, coll)
	if err != nil {
		return nil, err
	}
	return mustLookup(name).call(name, []Expr{x, y}, boolType(), x.Nullable() || y.Nullable(), &comparison{c.op, t}), nil
}

// betweenType is the type of all three operands; ok is false when each
// comparison may take its own.
func betweenType(env *BindEnv, a, low, high Expr) (t schema.Type, ok bool, err error) {
	for _, e := range []Expr{a, low, high} {
		if id := e.Type().ID; id == schema.TypeNull || id == schema.TypeJSON {
			return t, false, nil
		}
	}
	t1, err := cmpTypeFor(env, "between", a, low)
	if err != nil {
		return t, false, err
	}
	t2, err := cmpTypeFor(env, "between", a, high)
	if err != nil {
		return t, false, err
	}
	k1, k2 := types.KindOf(t1), types.KindOf(t2)
	switch {
	case k1 == k2:
		return t, false, nil
	case k1 == value.KindTime || k2 == value.KindTime:
		return datetimeType(6), true, nil
	case k1 == value.KindFloat || k2 == value.KindFloat:
		return doubleType(), true, nil
	}
	return t, false, nil
}
