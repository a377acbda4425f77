package expr

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// Outer is a value of the query around, as a correlated subquery or the right
// side of an Apply reads it: the Slot-th value that the plan around hands in
// (Subquery.Outer, Apply.Params). It is the same for all rows of one run of the
// inner plan, so that it can be the bound of a range, but it has the type of the
// outer expression, not that of a literal.
type Outer struct {
	Slot int
	T    schema.Type
	Null bool
	// Text is what it stands for, for EXPLAIN.
	Text string
}

// Type implements Expr.
func (e *Outer) Type() schema.Type { return e.T }

// Nullable implements Expr.
func (e *Outer) Nullable() bool { return e.Null }

// String implements Expr.
func (e *Outer) String() string { return "outer(" + e.Text + ")" }

func evalOuter(c *Ctx, e *Outer) (value.Datum, error) {
	if e.Slot >= len(c.Outer) {
		return value.Null, sqlerr.Internal("%s is not known here", e)
	}
	return c.Outer[e.Slot], nil
}

// ReadsOuter reports whether e has a value of the query around in it.
func ReadsOuter(e Expr) bool {
	found := false
	Walk(e, func(x Expr) bool {
		if _, ok := x.(*Outer); ok {
			found = true
		}
		return !found
	})
	return found
}

// KnownBefore reports whether the constants among list can be computed before
// the statement runs: they read no subquery and nothing of a query around.
func KnownBefore(list []Expr) bool {
	known := true
	for _, e := range list {
		Walk(e, func(x Expr) bool {
			switch x.(type) {
			case *Outer, *Subquery:
				known = false
			}
			return known
		})
	}
	return known
}

// isColumn reports a column, of this query or of the one around.
func isColumn(e Expr) bool {
	switch e.(type) {
	case *Col, *Outer:
		return true
	}
	return false
}

// constOperand is IsConst as far as it decides the type of a comparison: a
// column of the query around is a column.
func constOperand(e Expr) bool { return IsConst(e) && !ReadsOuter(e) }

// WithOuter replaces the values that e takes from the plan around by by, in the
// order of the slots.
func WithOuter(e Expr, by []Expr) Expr {
	return Map(e, func(x Expr) Expr {
		if o, ok := x.(*Outer); ok {
			return by[o.Slot]
		}
		return x
	})
}

// children of a subquery: its operands, then its outer values.
func (e *Subquery) children() []Expr {
	if len(e.Outer) == 0 {
		return e.Left
	}
	return append(slices.Clone(e.Left), e.Outer...)
}

// WithChildren is e with other operands and outer values, in the order of
// Children.
func (e *Subquery) WithChildren(list []Expr) *Subquery {
	c := *e
	n := len(e.Left)
	c.Left = list[:n:n]
	if len(e.Outer) > 0 {
		c.Outer = list[n:]
	}
	return &c
}
