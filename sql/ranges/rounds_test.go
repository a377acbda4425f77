package ranges

import (
	"math"
	"testing"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// TestRounds: a BIGINT that is compared as a double is in the spans whenever the
// comparison is true, and the condition stays to be checked.
func TestRounds(t *testing.T) {
	doubles := []float64{0, -0.5, 1, 2.5, -3, 1e18, -1e18, 1e300, -1e300, math.Inf(1), 1 << 63, -(1 << 63), 1 << 62}
	for _, near := range []float64{1 << 53, -(1 << 53), 1 << 54, 1 << 60} {
		doubles = append(doubles, near, math.Nextafter(near, 0), math.Nextafter(near, 2*near), near+1, near-1)
	}
	var numbers []int64
	for _, n := range []int64{0, 1 << 53, -(1 << 53), 1 << 54, 1 << 60, 1 << 62, math.MaxInt64 - 3, math.MinInt64 + 3} {
		for d := int64(-3); d <= 3; d++ {
			numbers = append(numbers, n+d)
		}
	}
	ctx := &expr.Ctx{}
	for _, unsigned := range []bool{false, true} {
		typ := bigint
		typ.Unsigned = unsigned
		c := &expr.Col{ID: 1, Index: 0, T: typ, Name: "a"}
		cast, err := expr.NewCast(&expr.BindEnv{}, c, types.Double, false)
		if err != nil {
			t.Fatal(err)
		}
		for _, op := range []string{"=", "<=>", "<", "<=", ">", ">=", "in"} {
			for _, f := range doubles {
				cond := call(t, op, cast, expr.NewConst(value.Float(f), types.Double))
				set, residual := Build([]Column{{Type: typ}}, []expr.Expr{cond})
				if set == nil || len(residual) != 1 {
					t.Fatalf("%s: set %v, residual %v", cond, set, residual)
				}
				spans, err := set.Spans(ctx)
				if err != nil {
					t.Fatal(err)
				}
				for _, n := range numbers {
					d := value.Int(n)
					if unsigned {
						d = value.Uint(uint64(n))
					}
					got, err := expr.EvalRow(ctx, cond, []value.Datum{d})
					if err != nil {
						t.Fatal(err)
					}
					if got.IsNull() || got.Bits() == 0 {
						continue
					}
					found := false
					for _, sp := range spans {
						found = found || inSpan(set, sp, []value.Datum{d})
					}
					if !found {
						t.Errorf("%s is true for %v, which is not in %v", cond, d, spans)
					}
				}
			}
		}
	}
}
