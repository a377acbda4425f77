package expr

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// quotientSpec is the Extra of a division of exact numbers.
type quotientSpec struct{ increment int }

// divIncrement is div_precision_increment as it was when f was bound.
func (f *Func) divIncrement() int {
	if q, ok := f.Extra.(quotientSpec); ok {
		return q.increment
	}
	return defaultDivIncrement
}

// KeepQuotient is e with all digits that its divisions compute, for an operand
// of further arithmetic: 1/3*3 is 1.0000, although 1/3 shows as 0.3333.
func KeepQuotient(e Expr) Expr {
	f, ok := e.(*Func)
	if !ok || kindOf(e) != value.KindDecimal {
		return e
	}
	scale := f.T.Scale
	switch f.Op {
	case OpShown:
		return f.Args[0]
	case OpDivide:
		scale = value.DivScale(f.Args[0].Type().Scale, f.Args[1].Type().Scale, f.divIncrement())
	case OpPlus, OpMinus, OpMod:
		scale = max(f.Args[0].Type().Scale, f.Args[1].Type().Scale)
	case OpTimes:
		scale = f.Args[0].Type().Scale + f.Args[1].Type().Scale
	case OpIf, OpCase, OpCoalesce, OpIfNull, OpNullIf, OpGreatest, OpLeast:
		return keepBranches(f)
	case OpNeg, OpAbs, OpAnyValue:
		arg := KeepQuotient(f.Args[0])
		if arg == f.Args[0] {
			return e
		}
		c := *f
		c.Args, c.T = []Expr{arg}, arg.Type()
		return &c
	}
	scale = min(scale, maxHidden)
	if scale <= f.T.Scale {
		return e
	}
	c := *f
	c.T = hiddenType(f.T, scale)
	return &c
}

// maxHidden is how many digits after the point MySQL's arithmetic can have next
// to one group before it.
const maxHidden = 72

// hiddenType is t with more digits after the point, also more than a column can
// have.
func hiddenType(t schema.Type, scale int) schema.Type {
	t.Len, t.Scale = t.Len+scale-t.Scale, scale
	return t
}

// asShown names the call that rounds a column or a subquery of more digits to
// those that it shows.
const asShown = "as_shown"

// NewShown is e, which holds all digits that its divisions compute, as a value
// of type t, which shows some of them. KeepQuotient has them all again.
func NewShown(e Expr, t schema.Type) Expr {
	if kindOf(e) != value.KindDecimal || e.Type().Scale <= t.Scale {
		return e
	}
	return mustLookup(asShown).call(asShown, []Expr{e}, t, e.Nullable(), nil)
}

// Shown is the operand of e if NewShown made e, else nil.
func Shown(e Expr) Expr {
	if f, ok := e.(*Func); ok && f.Op == OpShown {
		return f.Args[0]
	}
	return nil
}

func rowShown(_ *Ctx, f *Func, args []value.Datum) (value.Datum, error) {
	return value.Dec(args[0].Decimal().Rescale(f.T.Scale)), nil
}

func vecShown(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	a, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	out := c.getVec(value.KindDecimal, in.N)
	out.Nulls.CopyFrom(&a.Nulls)
	eachRow(in, &a.Nulls, func(i int) { out.Dec[i] = a.Dec[i].Rescale(f.T.Scale) })
	c.Release(a)
	return out, nil
}

// keepBranches is KeepQuotient of a call that chooses one of its arguments:
// COALESCE(1/3, 1)*3 is 1.0000.
func keepBranches(f *Func) Expr {
	args := append([]Expr(nil), f.Args...)
	scale := f.T.Scale
	branches := f.branches()
	for _, i := range branches {
		if args[i].Type().ID != schema.TypeDecimal {
			return f
		}
		args[i] = KeepQuotient(uncast(args[i]))
		scale = max(scale, args[i].Type().Scale)
	}
	if scale <= f.T.Scale {
		return f
	}
	c := *f
	c.T = hiddenType(f.T, scale)
	for _, i := range branches {
		if args[i].Type().Scale == scale {
			continue
		}
		x, err := NewCast(nil, args[i], c.T, false)
		if err != nil {
			return f
		}
		args[i] = x
	}
	c = *c.With(args)
	if x, ok := c.Extra.(*extreme); ok {
		c.Extra = &extreme{c.T, x.want}
	}
	return &c
}

// branches are the positions of the arguments that may be the value of a call
// of control flow.
func (f *Func) branches() []int {
	var at []int
	for i := range f.Args {
		switch f.Op {
		case OpIf, OpCase:
			if i%2 == 0 && i+1 < len(f.Args) {
				continue
			}
		case OpNullIf:
			if i == 0 {
				continue
			}
		}
		at = append(at, i)
	}
	return at
}

// uncast takes an implicit conversion between decimals off.
func uncast(e Expr) Expr {
	if f, ok := e.(*Func); ok && f.Op == OpCast && !f.cast().explicit && f.Args[0].Type().ID == schema.TypeDecimal {
		return f.Args[0]
	}
	return e
}
