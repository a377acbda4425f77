package exec

import (
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// accTypes are the columns of the table of TestAccumulators.
var accTypes = []schema.Type{types.BigInt, types.UBigInt, types.Double, types.DecimalOf(30, 4), types.VarcharOf(20, schema.CollationUTF8MB40900AICI), types.DatetimeOf(6),
	types.VarbinaryOf(4), types.TimeOf(0), types.DecimalOf(60, 0)}

// accRows are rows whose sums are exact, with few values and NULLs.
func accRows(n int, rng *rand.Rand) [][]value.Datum {
	rows := make([][]value.Datum, n)
	for i := range rows {
		k := int64(rng.IntN(9)) - 3
		big, _ := value.ParseDecimal(fmt.Sprintf("%d99999999999999999999999999999999999999999", k))
		row := []value.Datum{value.Int(k * math.MaxInt64 / 8), value.Uint(uint64(k+3) << 60), value.Float(float64(k) / 4), value.Dec(value.DecimalFromInt(k).Rescale(4)),
			value.String(string(rune('c' + k))), value.TimeOf(value.MakeTime(2020+int(k), 1, 1, 0, 0, 0, 1)), value.Bytes([]byte{byte(k), 1, 2, byte(i)}),
			value.DurationOf(value.Duration(k * 3600e6)), value.Dec(big)}
		for c := range row {
			if rng.IntN(4) == 0 {
				row[c] = value.Null
			}
		}
		rows[i] = row
	}
	return rows
}

// accCalls are the aggregate functions, each of the types that it takes. The order of
// their rows makes no difference.
func accCalls(t *testing.T) (list []*expr.Agg) {
	t.Helper()
	add := func(name string, distinct bool, args ...expr.Expr) {
		a, err := expr.NewAgg(nil, name, distinct, args...)
		if err != nil {
			t.Fatal(name, err)
		}
		list = append(list, a)
	}
	for c, typ := range accTypes {
		col := at(c, typ)
		for _, distinct := range []bool{false, true} {
			for _, name := range []string{"count", "sum", "avg"} {
				add(name, distinct, col)
			}
		}
		for _, name := range []string{"min", "max", "stddev_pop", "stddev_samp", "var_pop", "var_samp", "bit_and", "bit_or", "bit_xor"} {
			add(name, false, col)
		}
		if c != 4 && c != 6 {
			add("approx_percentile", false, col, num(40))
		}
		ordered, err := expr.NewGroupConcat(nil, c%2 == 0, []expr.Expr{col}, []expr.AggOrder{{Expr: col, Desc: c%2 == 1}}, "-")
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, ordered)
	}
	add("json_objectagg", false, at(4, accTypes[4]), at(4, accTypes[4]))
	return list
}

// TestAccumulators: rows that several accumulators took, which are then merged or saved
// and loaded, give what one gives that takes all.
func TestAccumulators(t *testing.T) {
	const groups = 5
	rng := rand.New(rand.NewPCG(1, 2))
	env := testEnv(newSource())
	calls := accCalls(t)
	for round := range 22 {
		rows := accRows(1+rng.IntN(60), rng)
		many := round >= 20 // of what is counted when there are many values
		if many {
			rows = accRows(6000, rng)
		}
		ids := make([]uint32, len(rows))
		for i := range ids {
			ids[i] = uint32(rng.IntN(groups - 1)) // the last group gets no row
			if many {
				ids[i] /= 2
			}
		}
		for _, call := range calls {
			if many && call.Op != expr.AggApproxPercentile {
				continue
			}
			if call.Op == expr.AggJSONObjectAgg {
				rows = notNull(rows, 4)
				ids = ids[:len(rows)]
			}
			fresh := func(rows [][]value.Datum, ids []uint32) accumulator {
				acc, err := newAccumulator(env, env.Ctx, call, true)
				if err != nil {
					t.Fatal(call, err)
				}
				acc.grow(groups)
				for n := 0; n < len(rows) || n == 0; n += vec.MaxRows {
					some := rows[n:min(n+vec.MaxRows, len(rows))]
					in := batchOf(outCols(accTypes...).Cols, some, []int{0, 1, 2, 3, 4, 5, 6, 7, 8}, false, nil)
					args, err := evalAll(env.Ctx, aggArgs(call), in, nil)
					if err == nil {
						err = acc.add(args, liveRows(in), ids[n:n+len(some)])
					}
					if err != nil {
						t.Fatal(call, err)
					}
				}
				return acc
			}
			want := accText(t, call, fresh(rows, ids), groups)
			half := len(rows) / 2
			check := func(what string, acc accumulator) {
				if got := accText(t, call, acc, groups); !sameTexts(call, got, want) {
					t.Errorf("round %d: %s of type %s, %s: %v, want %v", round, call, call.Args[0].Type(), what, got, want)
				}
			}
			// The second half counts its groups from the end, and has one that is left out.
			other, to := make([]uint32, len(rows)-half), make([]uint32, groups+1)
			for g := range groups {
				to[g] = uint32(groups - 1 - g)
			}
			to[groups] = none
			for i, g := range ids[half:] {
				other[i] = groups - 1 - g
			}
			if !needsDistinct(call) {
				if call.Op != expr.AggGroupConcat { // of which see TestMergeConcat
					first, second := fresh(rows[:half], ids[:half]), fresh(rows[half:], other)
					second.grow(groups + 1)
					if err := first.merge(second, to); err != nil {
						t.Fatal(call, err)
					}
					check("merged", first)
				}
				empty := fresh(nil, nil)
				if err := empty.merge(fresh(rows, ids), []uint32{0, 1, 2, 3, 4}); err != nil {
					t.Fatal(call, err)
				}
				check("merged into an empty one", empty)
			}
			if kinds := fresh(nil, nil).stateKinds(); kinds != nil {
				saved := make([]*vec.Vec, len(kinds))
				for i, k := range kinds {
					saved[i] = vec.NewSized(k, groups)
				}
				acc := fresh(rows, ids)
				for g := range groups {
					acc.save(g, saved, g)
				}
				loaded := fresh(nil, nil)
				for g := range groups {
					if err := loaded.load(g, saved, g); err != nil {
						t.Fatal(call, err)
					}
				}
				check("saved and loaded", loaded)
			}
		}
	}
}

// notNull are the rows that have a value in a column.
func notNull(rows [][]value.Datum, c int) (out [][]value.Datum) {
	for _, r := range rows {
		if !r[c].IsNull() {
			out = append(out, r)
		}
	}
	return out
}

func accText(t *testing.T, call *expr.Agg, acc accumulator, groups int) []string {
	t.Helper()
	out := vec.NewSized(types.KindOf(call.T), groups)
	texts := make([]string, groups)
	for g := range groups {
		if err := acc.result(g, out, g); err != nil {
			texts[g] = err.Error()
			continue
		}
		texts[g] = rowText([]physical.Column{{T: call.T}}, []value.Datum{out.Datum(g)})
	}
	return texts
}

// sameTexts compares results; those of variances may differ in the last digits.
func sameTexts(call *expr.Agg, got, want []string) bool {
	for i := range got {
		if got[i] == want[i] {
			continue
		}
		var x, y float64
		isFloat := call.T.IsFloat() && !strings.Contains(got[i]+want[i], "NULL")
		if _, err := fmt.Sscan(got[i]+" "+want[i], &x, &y); !isFloat || err != nil || math.Abs(x-y) > 1e-9*math.Abs(y) {
			return false
		}
	}
	return true
}
