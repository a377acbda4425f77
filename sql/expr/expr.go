package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// Expr is a bound expression. The implementations are *Const, *Param, *Col,
// *Outer, *Func and *Subquery.
type Expr interface {
	// Type of the result.
	Type() schema.Type
	// Nullable reports whether the result may be NULL.
	Nullable() bool
	// String is SQL-like text for EXPLAIN, errors and column names.
	String() string
}

// Const is a literal.
type Const struct {
	D value.Datum
	T schema.Type
	// Text is the literal as written, when it matters for column names.
	Text string
	// Hex: written as x'41', 0x41 or b'1', which is a number where one is
	// wanted, and bytes otherwise.
	Hex bool
}

// Param is a value that is known when execution starts: the n-th parameter of
// a prepared statement, or a literal that the plan cache took out of the text.
type Param struct {
	Index int
	T     schema.Type
}

// ColID identifies a column within one statement. Each occurrence of a table
// in FROM and each computed column gets ids of its own.
type ColID int32

// Col is a column of the input. Logical plans know it by ID; in physical plans
// Index is its position in the input batch.
type Col struct {
	ID    ColID
	Index int // position in the input, -1 until the physical plan fixes it
	T     schema.Type
	Null  bool // may be NULL
	// Table (alias), Name and DB are for messages and EXPLAIN.
	Table, Name string
}

// Func is a call of a builtin: operators, functions, casts and control flow
// are all calls.
type Func struct {
	// Name is the name by which the call was made, for messages and EXPLAIN. Op
	// identifies the function.
	Name string
	B    *Builtin
	Args []Expr
	T    schema.Type
	Null bool
	Op   Op
	// Extra is what the builtin prepared at bind time (a unit, a compiled
	// pattern, …); immutable.
	Extra any
	// varies: IsConst is false. large: a call below may make large values. They are
	// kept, since a walk at each level of a deep tree takes time with the square of the
	// depth.
	varies, large bool
}

// With is the call with other arguments.
func (e *Func) With(args []Expr) *Func {
	c := *e
	c.Args = args
	c.varies = e.B.Volatile || slices.ContainsFunc(args, func(a Expr) bool { return !IsConst(a) })
	c.large = slices.ContainsFunc(args, isOrHasLarge) || areWide(args)
	return &c
}

// SubqueryKind says what a subquery yields.
type SubqueryKind uint8

// Kinds of subqueries.
const (
	SubqueryScalar SubqueryKind = iota // one value, NULL when there is no row
	SubqueryExists                     // 1 or 0
	SubqueryIn                         // Left IN (subquery), three-valued
	SubqueryAny                        // Left Op ANY (subquery)
	SubqueryAll                        // Left Op ALL (subquery)
)

// Subquery is a subquery. It runs through Ctx.Subqueries: once, before its
// first use, or, if it has outer values, for each combination of these that it
// meets. Negation of IN and EXISTS is a NOT around it.
type Subquery struct {
	Kind SubqueryKind
	// ID indexes the plan's list of subplans.
	ID int
	// Outer are the values of the query around that its plan reads as
	// expr.Outer; none if it is not correlated.
	Outer []Expr
	Left  []Expr // operands of IN, ANY, ALL, converted to the common types
	Op    Op     // comparison operator of ANY and ALL
	// Column is the column whose value a scalar subquery gives: one of several
	// in (a, b) = (SELECT x, y …), where each is an expression of its own.
	Column int
	// CmpTypes are the types in which Left and the rows are compared.
	CmpTypes []schema.Type
	T        schema.Type
	Text     string
	// SemiJoin is what hints say of making it a semi join.
	SemiJoin SemiJoinHint
}

// SemiJoinHint is what hints say of a subquery.
type SemiJoinHint uint8

// The planner is free to make a semi join of it; always, where it is possible;
// never.
const (
	SemiJoinFree SemiJoinHint = iota
	SemiJoinAlways
	SemiJoinNever
)

// Type implements Expr.
func (e *Const) Type() schema.Type { return e.T }

// Type implements Expr.
func (e *Param) Type() schema.Type { return e.T }

// Type implements Expr.
func (e *Col) Type() schema.Type { return e.T }

// Type implements Expr.
func (e *Func) Type() schema.Type { return e.T }

// Type implements Expr.
func (e *Subquery) Type() schema.Type { return e.T }

// Nullable implements Expr.
func (e *Const) Nullable() bool { return e.D.IsNull() }

// Nullable implements Expr.
func (e *Param) Nullable() bool { return true }

// Nullable implements Expr.
func (e *Col) Nullable() bool { return e.Null }

// Nullable implements Expr.
func (e *Func) Nullable() bool { return e.Null }

// Nullable implements Expr.
func (e *Subquery) Nullable() bool { return e.Kind != SubqueryExists }

// String implements Expr.
func (e *Param) String() string { return "?" + strconv.Itoa(e.Index+1) }

// String implements Expr.
func (e *Col) String() string {
	if e.Table != "" {
		return e.Table + "." + e.Name
	}
	return e.Name
}

// String implements Expr.
func (e *Subquery) String() string {
	text := "(subquery#" + strconv.Itoa(e.ID+1) + ")"
	if e.Column > 0 {
		text = "(subquery#" + strconv.Itoa(e.ID+1) + "." + strconv.Itoa(e.Column+1) + ")"
	}
	switch e.Kind {
	case SubqueryExists:
		return "exists " + text
	case SubqueryIn, SubqueryAny, SubqueryAll:
		left := make([]string, len(e.Left))
		for i, l := range e.Left {
			left[i] = l.String()
		}
		s := strings.Join(left, ", ")
		if len(left) > 1 {
			s = "(" + s + ")"
		}
		switch e.Kind {
		case SubqueryAny:
			return s + " " + e.Op.String() + " any " + text
		case SubqueryAll:
			return s + " " + e.Op.String() + " all " + text
		}
		return s + " in " + text
	}
	return text
}

// Children of an expression, nil for leaves. The slice is not to be changed.
func Children(e Expr) []Expr {
	switch e := e.(type) {
	case *Func:
		return e.Args
	case *Subquery:
		return e.children()
	}
	return nil
}

// Walk calls fn for e and its descendants, parents first, and skips the
// children of an expression for which fn returns false.
func Walk(e Expr, fn func(Expr) bool) {
	if e == nil || !fn(e) {
		return
	}
	for _, c := range Children(e) {
		Walk(c, fn)
	}
}

// Map rebuilds e bottom-up: fn gets each expression after its children and
// returns it or its replacement. Unchanged parts are shared.
func Map(e Expr, fn func(Expr) Expr) Expr {
	switch x := e.(type) {
	case *Func:
		if args, changed := mapAll(x.Args, fn); changed {
			return fn(x.With(args))
		}
	case *Subquery:
		if list, changed := mapAll(x.children(), fn); changed {
			return fn(x.WithChildren(list))
		}
	}
	return fn(e)
}

func mapAll(list []Expr, fn func(Expr) Expr) ([]Expr, bool) {
	var out []Expr
	for i, a := range list {
		m := Map(a, fn)
		if out == nil && m != a {
			out = append(make([]Expr, 0, len(list)), list[:i]...)
		}
		if out != nil {
			out = append(out, m)
		}
	}
	if out == nil {
		return list, false
	}
	return out, true
}

// IsConst reports whether e has the same value for all rows of one execution:
// it reads no column and is deterministic. Parameters, session values, NOW(),
// uncorrelated subqueries and, inside a correlated one, the values of the query
// around are constant in this sense.
func IsConst(e Expr) bool {
	switch e := e.(type) {
	case *Col:
		return false
	case *Func:
		return !e.varies
	case *Subquery:
		varies := func(a Expr) bool { return !IsConst(a) }
		return !slices.ContainsFunc(e.Left, varies) && !slices.ContainsFunc(e.Outer, varies)
	}
	return true
}

// MapConsts rebuilds e with the largest calls in it that are constant and computed
// whatever the rows are, which fn gets.
func MapConsts(e Expr, fn func(*Func) Expr) Expr {
	f, ok := e.(*Func)
	switch {
	case !ok:
		return e
	case IsConst(f):
		return fn(f)
	case f.B.lazy != nil && f.Op != OpIn:
		return e
	}
	var args []Expr
	for i, a := range f.Args {
		if m := MapConsts(a, fn); m != a {
			if args == nil {
				args = slices.Clone(f.Args)
			}
			args[i] = m
		}
	}
	if args == nil {
		return e
	}
	return f.With(args)
}

// SplitAnd appends the conjuncts of e to dst.
func SplitAnd(dst []Expr, e Expr) []Expr {
	if f, ok := e.(*Func); ok && f.Op == OpAnd {
		for _, a := range f.Args {
			dst = SplitAnd(dst, a)
		}
		return dst
	}
	return append(dst, e)
}
