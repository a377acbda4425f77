package expr

import (
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Agg is a call of an aggregate function, as data: its accumulators belong to
// the executor. Every argument already has the kind that the function takes:
//
//	count                  any arguments, none for COUNT(*)
//	sum, avg               DECIMAL or DOUBLE, as T says; integers for sum and
//	                       avg stay integers, their sum is exact
//	min, max, any_value    the argument's own type
//	bit_and, bit_or, bit_xor   BIGINT UNSIGNED, or binary strings of one length
//	std…, var…             DOUBLE
//	group_concat           text; Extra is *GroupConcat
//	json_arrayagg, json_objectagg   JSON; of the latter a text key first
//	st_collect             a geometry
//	approx_percentile      a number or time; Extra is *Percentile
type Agg struct {
	Op       AggOp
	Distinct bool
	Args     []Expr
	T        schema.Type
	// Shown is the type that the result shows where T has more digits, those
	// of divisions, else T: readers get NewShown of the result.
	Shown schema.Type
	// Null: the result may be NULL.
	Null  bool
	Extra any
	// Increment is div_precision_increment as it was when avg was bound.
	Increment int
	// Final: the rows are groups of those that are aggregated, and Args what partial
	// calls gave: of count the counts, of avg the sums and the counts.
	Final bool
}

// GroupConcat is the Extra of group_concat.
type GroupConcat struct {
	// Order holds the ORDER BY expressions, which the aggregate's input must
	// provide after the arguments.
	Order     []AggOrder
	Separator string
}

// AggOrder is one ORDER BY item inside of an aggregate.
type AggOrder struct {
	Expr Expr
	Desc bool
}

// Percentile is the Extra of approx_percentile.
type Percentile struct {
	// Percent is a constant DECIMAL, above 0 and at most 100.
	Percent Expr
}

// String is the call as SQL.
func (a *Agg) String() string {
	args := joinExprs(a.Args)
	if a.Op == AggCount && len(a.Args) == 0 {
		args = "*"
	}
	if a.Distinct {
		args = "distinct " + args
	}
	if g := a.GroupConcat(); g != nil {
		if len(g.Order) > 0 {
			list := make([]string, len(g.Order))
			for i, o := range g.Order {
				list[i] = o.Expr.String()
				if o.Desc {
					list[i] += " desc"
				}
			}
			args += " order by " + strings.Join(list, ",")
		}
		args += " separator " + quoteSQL(g.Separator)
	}
	if p := a.Percentile(); p != nil {
		args += "," + p.Percent.String()
	}
	if a.Final && a.Op == AggCount {
		return AggSum.String() + "(" + args + ")"
	}
	return a.Op.String() + "(" + args + ")"
}

// maxBitAggregate is the most bytes of a binary string that BIT_AND and the
// like take.
const maxBitAggregate = 511

// IsAgg reports whether name, in lower case, is an aggregate function.
func IsAgg(name string) bool { return aggOps[name] != AggNone }

// NewAgg makes a call of an aggregate function by its lower-case name, with
// MySQL's result type. GROUP_CONCAT gets the separator ","; NewGroupConcat
// takes another and an order. Errors: 1305, 1582 (1064 in MySQL), 1241.
func NewAgg(env *BindEnv, name string, distinct bool, args ...Expr) (*Agg, error) {
	return newAgg(env, name, distinct, distinct, args)
}

// NewGroupedAgg is NewAgg in a query with GROUP BY.
func NewGroupedAgg(env *BindEnv, name string, distinct bool, args ...Expr) (*Agg, error) {
	return newAgg(env, name, distinct, true, args)
}

// newAgg makes a call. stored: the values pass through a table of the type that
// they show, that of DISTINCT, GROUP BY or a window, and have no more digits
// than that.
func newAgg(env *BindEnv, name string, distinct, stored bool, args []Expr) (*Agg, error) {
	op := aggOps[name]
	if op == AggNone {
		return nil, sqlerr.FunctionDoesNotExist(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	distinct = distinct || name == approxCountDistinct
	name = op.String()
	if err := rejectGeometry(name, args); err != nil {
		return nil, err
	}
	if op.IsBits() || op == AggSTCollect {
		args = convertVariants(args, VariantText)
	}
	a := &Agg{Op: op, Distinct: distinct, Args: append([]Expr(nil), args...), Null: true}
	want := 1
	switch op {
	case AggCount:
		a.T, a.Shown, a.Null = intType(), intType(), false
		if distinct && len(args) == 0 || !distinct && len(args) > 1 {
			return nil, wrongCount(name)
		}
		return a, nil
	case AggGroupConcat:
		return NewGroupConcat(env, distinct, args, nil, ",")
	case AggJSONObjectAgg, AggApproxPercentile:
		want = 2
	}
	if len(args) != want {
		return nil, wrongCount(name)
	}
	err := a.bindOne(env, stored)
	a.showDigits(stored)
	return a, err
}

// showDigits gives the result all digits that are computed of it.
func (a *Agg) showDigits(stored bool) {
	a.Shown = a.T
	if a.T.ID != schema.TypeDecimal {
		return
	}
	scale := a.T.Scale
	switch {
	case a.Op == AggAnyValue, !stored && (a.Op == AggMin || a.Op == AggMax):
		a.Args[0] = KeepQuotient(a.Args[0])
		scale = a.Args[0].Type().Scale
	case a.Op == AggSum:
		scale = max(scale, a.Args[0].Type().Scale)
	case a.Op == AggAvg:
		scale = value.DivScale(max(a.Args[0].Type().Scale, 0), 0, a.Increment)
	}
	if scale = min(scale, maxScale); scale > a.T.Scale {
		a.T = decimalType(a.T.Len+scale-a.T.Scale, scale)
	}
}

func (a *Agg) bindOne(env *BindEnv, stored bool) error {
	var err error
	arg := a.Args[0]
	switch a.Op {
	case AggSum, AggAvg:
		if a.Args[0], err = toNumber(env, arg); err != nil {
			return err
		}
		a.T, a.Increment = sumType(env, a.Op, a.Args[0]), env.divIncrement()
		if !stored {
			a.Args[0] = KeepQuotient(a.Args[0])
		}
	case AggMin, AggMax, AggAnyValue:
		a.T = arg.Type()
		if a.T.ID == schema.TypeBit && a.Op != AggAnyValue {
			a.T = uintType()
		}
		// Enums and sets keep their type but order by text.
		a.Null = true
	case AggBitAnd, AggBitOr, AggBitXor:
		if isBitString(arg) {
			n := binaryLen(arg)
			if n < 0 || n > maxBitAggregate {
				return sqlerr.BitAggregateSize(maxBitAggregate)
			}
			a.T, a.Null = types.VarbinaryOf(n), false
			return nil
		}
		a.Args[0], err = toBits(env, arg)
		a.T, a.Null = uintType(), false
	case AggStddevPop, AggStddevSamp, AggVarPop, AggVarSamp:
		a.Args[0], err = NewCast(env, arg, doubleType(), false)
		a.T = doubleType()
	case AggJSONArrayAgg:
		a.Args[0], err = convertArg(env, 'v', arg)
		a.T = jsonType()
	case AggSTCollect:
		a.Args[0], err = convertArg(env, 'g', arg)
		a.T = types.Geometry
	case AggApproxPercentile:
		return a.bindPercentile(env)
	case AggJSONObjectAgg:
		if a.Args[0], err = convertArg(env, 's', arg); err == nil {
			a.Args[1], err = convertArg(env, 'v', a.Args[1])
		}
		a.T = jsonType()
	}
	return err
}

// bindPercentile is APPROX_PERCENTILE(x, percent) of TiDB, which also takes
// percents that are not whole.
func (a *Agg) bindPercentile(env *BindEnv) error {
	arg, percent := a.Args[0], a.Args[1]
	if !IsConst(percent) || arg.Type().ID == schema.TypeGeometry {
		return sqlerr.WrongArguments(a.Op.String())
	}
	percent, err := NewCast(env, percent, decimalType(13, 10), false)
	if err != nil {
		return err
	}
	if a.T = arg.Type(); !a.T.IsTemporal() {
		if arg, err = toNumber(env, arg); err != nil {
			return err
		}
		a.T = arg.Type()
	}
	a.Args, a.Extra = []Expr{arg}, &Percentile{Percent: percent}
	return nil
}

// binaryLen is the most bytes of a binary string, -1 if that is unknown or the
// string is a long BLOB.
func binaryLen(e Expr) int {
	t := e.Type()
	switch {
	case t.ID == schema.TypeTinyBlob:
		return 255
	case t.IsBlobOrText():
		return -1
	case t.Len >= 0:
		return t.Len
	}
	if f, ok := e.(*Func); ok && f.Op == OpCast { // CAST(s AS BINARY)
		in := f.Args[0].Type()
		n := textLen(f.Args[0])
		if in.IsCharacter() && n > 0 {
			n *= collate.Must(in.Collation).MaxLen()
		}
		return n
	}
	return -1
}

// sumType is MySQL's: DECIMAL with 22 more digits for SUM, four more places
// for AVG; DOUBLE for what is not exact.
func sumType(env *BindEnv, op AggOp, arg Expr) schema.Type {
	if kindOf(arg) == value.KindFloat {
		return doubleType()
	}
	p, s := typePrecision(arg.Type())
	if op == AggSum {
		return decimalType(p+22, s)
	}
	inc := env.divIncrement()
	return decimalType(p+inc, s+inc)
}

// typePrecision is precisionOf by the type alone: a literal's own digits do
// not count.
func typePrecision(t schema.Type) (int, int) { return precisionOf(&Param{T: t}) }

// NewGroupConcat is GROUP_CONCAT([DISTINCT] args ORDER BY order SEPARATOR s).
// Several arguments are concatenated for each row; rows with a NULL are left
// out.
func NewGroupConcat(env *BindEnv, distinct bool, args []Expr, order []AggOrder, separator string) (*Agg, error) {
	if len(args) == 0 {
		return nil, wrongCount("group_concat")
	}
	for _, o := range order {
		if err := rejectRows([]Expr{o.Expr}); err != nil {
			return nil, err
		}
	}
	joined, err := NewFunc(env, "concat", args...)
	if err != nil {
		return nil, err
	}
	if len(args) == 1 {
		if joined, err = convertArg(env, 's', args[0]); err != nil {
			return nil, err
		}
	}
	coll := joined.Type().Collation
	return &Agg{Op: AggGroupConcat, Distinct: distinct, Args: []Expr{joined}, T: types.Text(coll), Shown: types.Text(coll), Null: true,
		Extra: &GroupConcat{Order: order, Separator: separator}}, nil
}
