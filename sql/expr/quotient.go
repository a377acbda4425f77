package expr

import (
	"github.com/sqlots/sqlots/schema"
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
	switch f.Name {
	case "/":
		scale = value.DivScale(f.Args[0].Type().Scale, f.Args[1].Type().Scale, f.divIncrement())
	case "+", "-", "%":
		scale = max(f.Args[0].Type().Scale, f.Args[1].Type().Scale)
	case "*":
		scale = f.Args[0].Type().Scale + f.Args[1].Type().Scale
	case "if", "case", "coalesce", "ifnull", "nullif", "greatest", "least":
		return keepBranches(f)
	case "neg", "abs":
		arg := KeepQuotient(f.Args[0])
		if arg == f.Args[0] {
			return e
		}
		c := *f
		c.Args, c.T = []Expr{arg}, arg.Type()
		return &c
	}
	scale = min(scale, maxScale)
	if scale <= f.T.Scale {
		return e
	}
	c := *f
	c.T = decimalType(f.T.Len+scale-f.T.Scale, scale)
	return &c
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
	c.T = decimalType(f.T.Len+scale-f.T.Scale, scale)
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
	c.Args = args
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
		switch f.Name {
		case "if", "case":
			if i%2 == 0 && i+1 < len(f.Args) {
				continue
			}
		case "nullif":
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
	if f, ok := e.(*Func); ok && f.Name == "cast" && !f.Extra.(*castSpec).explicit && f.Args[0].Type().ID == schema.TypeDecimal {
		return f.Args[0]
	}
	return e
}
