package expr

import (
	"math"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Window is a call of a function over a window, as data: the executor computes
// it. Which rows are a partition, and their order, belong to the plan's node.
type Window struct {
	Op WindowOp
	// Agg is the aggregate that is computed over the frame; nil for the
	// functions below.
	//
	//	row_number, rank, dense_rank, percent_rank, cume_dist   nothing
	//	ntile                      N
	//	lag, lead                  Args: the value, the default; N
	//	first_value, last_value    Args: the value
	//	nth_value                  Args: the value; N
	Agg  *Agg
	Args []Expr
	// N is constant for an execution; nil for LAG(x) and LEAD(x).
	N     Expr
	Frame Frame
	T     schema.Type
	// Null: the result may be NULL.
	Null bool
}

// BoundKind is the kind of a bound of a frame.
type BoundKind uint8

// Kinds of bounds, in the order of the rows that they mean.
const (
	UnboundedPreceding BoundKind = iota
	Preceding
	CurrentRow
	Following
	UnboundedFollowing
)

// Bound is an end of a frame.
type Bound struct {
	Kind BoundKind
	// Offset of Preceding and Following, constant for an execution; Unit makes
	// it an INTERVAL.
	Offset Expr
	Unit   string
	// Value, with RANGE, is for a row the key at which its frame ends, in the
	// kind of Frame.Key. Span is Offset as the INTERVAL reads it.
	Value, Span Expr
}

// Frame is the part of the partition that a function sees from a row.
type Frame struct {
	// Window is the name of the window in messages.
	Window string
	// Range: bounds are values of the order's key, else numbers of rows.
	Range bool
	// Explicit: written, not MySQL's default.
	Explicit   bool
	Start, End Bound
	// Key is the order's only key, for bounds with Value; Desc its direction.
	Key  Expr
	Desc bool
}

// IsWindowFunc reports whether name, in lower case, is a function that needs a
// window.
func IsWindowFunc(name string) bool { return windowOps[name] != WinAggregate }

// IsFixed reports whether e is made of literals, parameters and user variables
// only: its value is known when an execution starts, also inside of a correlated
// subquery.
func IsFixed(e Expr) bool {
	fixed := IsConst(e)
	Walk(e, func(x Expr) bool {
		switch x.(type) {
		case *Outer, *Subquery:
			fixed = false
		}
		return fixed
	})
	return fixed
}

// NewWindow makes a call of a window function that is no aggregate, by its
// lower-case name. Errors: 1210 for an N that is NULL, negative or not an
// integer (of a constant; for a parameter see Check), 1241, 1582.
// Source: MySQL 8.4 manual, Window Function Descriptions.
func NewWindow(env *BindEnv, name string, frame Frame, args ...Expr) (*Window, error) {
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	op := windowOps[name]
	w := &Window{Op: op, Frame: frame, Null: true}
	least, most := 0, 0
	switch op {
	case WinRowNumber, WinRank, WinDenseRank:
		w.T, w.Null = uintType(), false
	case WinPercentRank, WinCumeDist:
		w.T, w.Null = doubleType(), false
	case WinNTile:
		w.T, least, most = uintType(), 1, 1
	case WinLag, WinLead:
		least, most = 1, 3
	case WinFirstValue, WinLastValue:
		least, most = 1, 1
	case WinNthValue:
		least, most = 2, 2
	default:
		return nil, sqlerr.FunctionDoesNotExist(name)
	}
	if len(args) < least || len(args) > most {
		return nil, wrongCount(name)
	}
	switch {
	case op == WinNTile:
		w.N = args[0]
	case len(args) > 1:
		w.N = args[1]
	}
	if w.N != nil && !IsFixed(w.N) {
		return nil, sqlerr.WrongArguments(name)
	}
	if most > 1 || op == WinFirstValue || op == WinLastValue {
		w.Args, w.T = args[:1:1], args[0].Type()
	}
	if len(args) == 3 {
		if err := w.withDefault(env, args[2]); err != nil {
			return nil, err
		}
	}
	if _, isConst := w.N.(*Const); isConst {
		if _, err := w.Count(&Ctx{}); err != nil {
			return nil, err
		}
	}
	return w, nil
}

// withDefault gives LAG and LEAD their default: both have the common type.
func (w *Window) withDefault(env *BindEnv, def Expr) error {
	both := []Expr{w.Args[0], def}
	w.T = types.Unify(both[0].Type(), both[1].Type())
	if w.T.IsCharacter() {
		// COALESCE mixes collations in the same way.
		f, err := NewFunc(env, "coalesce", both...)
		if err != nil {
			return err
		}
		w.T = f.Type()
	}
	for i, e := range both {
		x, err := NewCast(env, e, w.T, false)
		if err != nil {
			return err
		}
		both[i] = x
	}
	w.Args = both
	return nil
}

// Count is N in one execution, 1 if it is not given: 1210 unless it is an
// integer of at least 0, of NTILE and NTH_VALUE at least 1.
func (w *Window) Count(c *Ctx) (uint64, error) {
	if w.N == nil {
		return 1, nil
	}
	n, ok, err := wholeNumber(c, w.N)
	if err != nil {
		return 0, err
	}
	if !ok || n == 0 && w.Op != WinLag && w.Op != WinLead || n > math.MaxInt64 {
		return 0, sqlerr.WrongArguments(w.Op.String())
	}
	return n, nil
}

// wholeNumber is the value of a constant that is an integer of at least 0. A
// text, which is what an untyped parameter or variable may be, counts when it
// reads as one.
func wholeNumber(c *Ctx, e Expr) (uint64, bool, error) {
	d, err := EvalConst(c, e)
	if err != nil {
		return 0, false, err
	}
	switch d.Kind() {
	case value.KindInt:
		return uint64(d.Int()), d.Int() >= 0, nil
	case value.KindUint:
		return d.Uint(), true, nil
	case value.KindBytes:
		if _, isParam := e.(*Param); isParam {
			x, err := value.ParseDecimal(string(d.Bytes()))
			if err != nil {
				return 0, false, nil
			}
			n, ok := x.Int64()
			return uint64(n), ok && n >= 0 && x.Scale() == 0, nil
		}
	}
	return 0, false, nil
}

// NewWindowAgg makes a call of an aggregate over a window. Errors are those of
// NewAgg.
func NewWindowAgg(env *BindEnv, name string, frame Frame, args ...Expr) (*Window, error) {
	// Constants do not pass through the window's table.
	a, err := newAgg(env, name, false, !slices.ContainsFunc(args, IsConst), args)
	if err != nil {
		return nil, err
	}
	return &Window{Agg: a, Frame: frame, T: a.T, Null: a.Null}, nil
}

// KeyBound completes a RANGE bound with an offset: it makes the frame's Key and
// the bound's Value. Keys are compared as decimals, doubles or times. Errors: 3587 for a key of another
// type than numeric or temporal, 3588, 3589, and those of Check for constants.
func (f *Frame) KeyBound(env *BindEnv, key Expr, b *Bound) error {
	t := key.Type()
	temporal := t.HasDate() || t.ID == schema.TypeTime
	switch {
	case temporal && b.Unit == "":
		return sqlerr.WindowRangeTemporal(f.Window)
	case temporal:
		return f.temporalBound(env, key, b)
	case !t.IsNumeric():
		return sqlerr.WindowRangeOrderType(f.Window)
	case b.Unit != "":
		return sqlerr.WindowRangeNumeric(f.Window)
	}
	to := decimalType(20, 0)
	switch {
	case t.IsFloat():
		to = doubleType()
	case t.IsInteger(), t.ID == schema.TypeDecimal:
		to = decimalType(typePrecision(t))
	}
	var err error
	if f.Key, err = NewCast(env, key, to, false); err != nil {
		return err
	}
	off, err := NewCast(env, b.Offset, doubleType(), false)
	if !t.IsFloat() {
		off, err = offsetDecimal(env, b.Offset)
	}
	if err != nil {
		return err
	}
	b.Value, err = NewFunc(env, f.direction(b), f.Key, off)
	return err
}

// offsetDecimal is the offset of an exact key, exact as well: that of 1e0 too.
func offsetDecimal(env *BindEnv, off Expr) (Expr, error) {
	t := off.Type()
	if t.IsInteger() || t.ID == schema.TypeDecimal {
		p, s := typePrecision(t)
		return NewCast(env, off, decimalType(p, s), false)
	}
	return NewCast(env, off, decimalType(maxPrecision, 30), false)
}

// direction is the operator by which a bound moves the key.
func (f *Frame) direction(b *Bound) string {
	if (b.Kind == Preceding) != f.Desc {
		return "-"
	}
	return "+"
}

func (f *Frame) temporalBound(env *BindEnv, key Expr, b *Bound) error {
	moved, err := NewDateArith(env, f.direction(b) == "-", key, b.Offset, b.Unit)
	if err != nil {
		return err
	}
	to := datetimeType(6)
	if key.Type().ID == schema.TypeTime && moved.Type().ID == schema.TypeTime {
		to = timeType(6)
	}
	if f.Key, err = NewCast(env, key, to, false); err != nil {
		return err
	}
	b.Span = moved.(*Func).Args[1]
	b.Value, err = NewCast(env, moved, to, false)
	return err
}

// Check is 3586 for an offset that is negative, NULL or, with ROWS, no
// integer. The offsets of a call are checked when it is bound, if they are
// literals, and at the start of each execution.
func (b *Bound) Check(c *Ctx, f *Frame) error {
	if b.Offset == nil {
		return nil
	}
	if !f.Range {
		_, err := b.Rows(c, f)
		return err
	}
	off := b.Offset
	if b.Span != nil {
		off = b.Span
	}
	d, err := EvalConst(c, off)
	if err != nil {
		return err
	}
	negative := d.IsNull()
	switch {
	case negative:
	case b.Span != nil:
		u, err := parseUnit(b.Unit)
		if err != nil {
			return err
		}
		s, _ := spanOf(u, d)
		negative = s.months < 0 || s.days < 0 || s.micros < 0
	default:
		x, err := types.ToFloat(&c.Env, d, off.Type())
		if err != nil {
			return err
		}
		negative = x < 0
	}
	if negative {
		return sqlerr.WindowFrameIllegal(f.Window)
	}
	return nil
}

// Rows is the offset of a bound of a ROWS frame: 3586 if it is none.
func (b *Bound) Rows(c *Ctx, f *Frame) (uint64, error) {
	n, ok, err := wholeNumber(c, b.Offset)
	if err == nil && !ok {
		err = sqlerr.WindowFrameIllegal(f.Window)
	}
	return n, err
}

// Inputs are all expressions that the call reads of its input.
func (w *Window) Inputs() []Expr {
	list := append([]Expr(nil), w.Args...)
	if w.Agg != nil {
		list = append(list, AggInputs(w.Agg)...)
	}
	for _, e := range []Expr{w.N, w.Frame.Key, w.Frame.Start.Value, w.Frame.End.Value} {
		if e != nil {
			list = append(list, e)
		}
	}
	return list
}

// MapWindow is w with each of its expressions replaced by what fn makes of it.
func MapWindow(w *Window, fn func(Expr) (Expr, error)) (*Window, error) {
	out := *w
	out.Args = append([]Expr(nil), w.Args...)
	list := []*Expr{&out.N, &out.Frame.Key}
	for i := range out.Args {
		list = append(list, &out.Args[i])
	}
	for _, b := range []*Bound{&out.Frame.Start, &out.Frame.End} {
		list = append(list, &b.Offset, &b.Value, &b.Span)
	}
	for _, e := range list {
		if *e == nil {
			continue
		}
		m, err := fn(*e)
		if err != nil {
			return nil, err
		}
		*e = m
	}
	if w.Agg != nil {
		a, err := MapAgg(w.Agg, fn)
		if err != nil {
			return nil, err
		}
		out.Agg = a
	}
	return &out, nil
}

// String is the call as SQL, with its frame where that is not the default.
func (w *Window) String() string {
	s := ""
	if w.Agg != nil {
		s = w.Agg.String()
	} else {
		list := append([]Expr(nil), w.Args...)
		if w.N != nil {
			list = append(list[:min(1, len(list))], append([]Expr{w.N}, list[min(1, len(list)):]...)...)
		}
		s = w.Op.String() + "(" + joinExprs(list) + ")"
	}
	if f := w.Frame.String(); f != "" && w.UsesFrame() {
		s += " " + f
	}
	return s
}

// UsesFrame reports whether the function sees the frame, not the partition.
func (w *Window) UsesFrame() bool {
	switch w.Op {
	case WinFirstValue, WinLastValue, WinNthValue:
		return true
	}
	return w.Agg != nil
}

// String is the frame as SQL, "" for a default one.
func (f *Frame) String() string {
	if !f.Explicit {
		return ""
	}
	unit := "rows"
	if f.Range {
		unit = "range"
	}
	return unit + " between " + f.Start.String() + " and " + f.End.String()
}

// String is the bound as SQL.
func (b *Bound) String() string {
	text := [...]string{"unbounded preceding", "preceding", "current row", "following", "unbounded following"}[b.Kind]
	if b.Offset == nil {
		return text
	}
	off := b.Offset.String()
	if b.Unit != "" {
		off = "interval " + off + " " + strings.ToLower(b.Unit)
	}
	return off + " " + text
}
