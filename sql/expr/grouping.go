package expr

import (
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// maxGroupingArgs is the number of bits of GROUPING's result.
const maxGroupingArgs = 64

// NewGrouping is GROUPING(args…) before the binder knows the groups that the
// arguments are: see GroupingOver. Errors: 3601, 1582.
// Source: MySQL 8.4 manual, Miscellaneous Functions.
func NewGrouping(env *BindEnv, args ...Expr) (Expr, error) {
	if len(args) > maxGroupingArgs {
		return nil, sqlerr.TooManyArguments("GROUPING", len(args), maxGroupingArgs)
	}
	return NewFunc(env, "grouping", args...)
}

// GroupingOver makes a call of GROUPING read the number of groups that a row
// of a ROLLUP sums over: each argument is rolled up when that is at least its
// number in from. The first argument gives the highest bit.
func GroupingOver(f *Func, rolled Expr, from []int) *Func {
	c := *f
	c.Args, c.Extra = []Expr{rolled}, from
	return &c
}

func rowGrouping(_ *Ctx, f *Func, args []value.Datum) (value.Datum, error) {
	from, ok := f.Extra.([]int)
	if !ok {
		return value.Null, sqlerr.Internal("GROUPING outside of a ROLLUP")
	}
	var mask uint64
	for _, n := range from {
		mask <<= 1
		if args[0].Int() >= int64(n) {
			mask |= 1
		}
	}
	return value.Int(int64(mask)), nil
}
