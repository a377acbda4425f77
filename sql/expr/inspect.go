package expr

import "github.com/sqlots/sqlots/schema"

// CompareCollation is the collation by which a comparison, IN or LIKE compares
// its operands; false when f is none of them.
func CompareCollation(f *Func) (schema.CollationID, bool) {
	if t, ok := CmpTypeOf(f); ok {
		return t.Collation, true
	}
	if s, ok := f.Extra.(*likeSpec); ok {
		return s.coll, true
	}
	return schema.CollationNone, false
}

// AggInputs are all expressions that an aggregate reads of its input.
func AggInputs(a *Agg) []Expr {
	list := append([]Expr(nil), a.Args...)
	if g := a.GroupConcat(); g != nil {
		for _, o := range g.Order {
			list = append(list, o.Expr)
		}
	}
	return list
}

// MapAgg is a with each of its expressions replaced by what fn makes of it.
func MapAgg(a *Agg, fn func(Expr) (Expr, error)) (*Agg, error) {
	out := *a
	out.Args = make([]Expr, len(a.Args))
	for i, e := range a.Args {
		m, err := fn(e)
		if err != nil {
			return nil, err
		}
		out.Args[i] = m
	}
	if g := a.GroupConcat(); g != nil {
		c := *g
		c.Order = make([]AggOrder, len(g.Order))
		for i, o := range g.Order {
			m, err := fn(o.Expr)
			if err != nil {
				return nil, err
			}
			c.Order[i] = AggOrder{Expr: m, Desc: o.Desc}
		}
		out.Extra = &c
	}
	return &out, nil
}
