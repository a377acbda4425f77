package exec

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// distinctCalls are calls with DISTINCT that parts can be put together of, and others.
func distinctCalls(n physical.Node) []*expr.Agg {
	list := []*expr.Agg{agg("count", false), agg("sum", false, ref(n, 3)), agg("max", false, ref(n, 2)), agg("count", true, ref(n, 1), ref(n, 2)),
		agg("bit_xor", true, ref(n, 5)), agg("sum", true, ref(n, 3)), agg("avg", true, ref(n, 1))}
	for c := range dataCols {
		list = append(list, agg("count", true, ref(n, c)))
	}
	for _, c := range []int{0, 1, 5} {
		list = append(list, agg("sum", true, ref(n, c)), agg("avg", true, ref(n, c)))
	}
	return list
}

// TestDistinctInParts: DISTINCT values that workers have met are counted once, wherever
// they are kept.
func TestDistinctInParts(t *testing.T) {
	testflag.Normal(t)
	tab := data("t", 31, 700, 150)
	src := newSource(tab)
	scan := scanOf(tab.t)
	all := distinctCalls(scan)
	for _, by := range testflag.Pick(nil, [][]int{nil, {2}}, [][]int{nil, {1}, {2}, {1, 2}}) {
		for k, aggs := range append([][]*expr.Agg{all, all[4:5], all[5:6]}, slices.Collect(slices.Chunk(all[7:7+len(dataCols)], 1))...) {
			base, group := aggBase(scan, by, aggs)
			h := &physical.HashAggregate{Base: base, Input: scan, GroupBy: group, Aggs: aggs, Parallel: 4}
			if !canMerge(aggs) {
				t.Fatal("they cannot be merged")
			}
			src.parts = 0
			want, err := collect(t.Context(), testEnv(src), &physical.Plan{Root: h})
			if err != nil {
				t.Fatal(err)
			}
			for _, parts := range []int{2, 4} {
				if k > 0 && parts == 4 {
					break
				}
				src.parts = parts
				t.Run(fmt.Sprintf("by %v %d in %d", by, k, parts), func(t *testing.T) { check(t, src, &physical.Plan{Root: h}, want, true) })
			}
		}
	}
	for _, a := range []*expr.Agg{agg("sum", true, ref(scan, 4)), agg("avg", true, ref(scan, 3)), agg("group_concat", true, ref(scan, 2)), agg("stddev", true, ref(scan, 4))} {
		if canMerge([]*expr.Agg{a}) {
			t.Errorf("%s is merged", a)
		}
	}
	float := agg("sum", false, ref(scan, 4))
	if !canMerge([]*expr.Agg{float}) || canMerge([]*expr.Agg{float, agg("count", true, ref(scan, 1))}) {
		t.Error("sums of doubles depend on what is spilled")
	}
}

// TestDistinctMemory: sets of workers that are larger than the memory give the same.
func TestDistinctMemory(t *testing.T) {
	testflag.Normal(t)
	rng := rand.New(rand.NewPCG(5, 5))
	tab := &memTable{t: makeTable("t", dataCols[:6]...)}
	for i := range 40000 {
		k := rng.Int64N(25000)
		tab.rows = append(tab.rows, []value.Datum{value.Int(int64(i)), value.Int(k * 1_000_003), value.String(fmt.Sprintf("text %d", k)),
			value.Dec(value.DecimalFromInt128(0, uint64(k), 2)), value.Float(float64(k)), value.Uint(uint64(rng.IntN(3)))})
	}
	scan := scanOf(tab.t)
	for i, aggs := range [][]*expr.Agg{
		{agg("count", true, ref(scan, 1))}, {agg("sum", true, ref(scan, 1))}, {agg("count", true, ref(scan, 2)), agg("sum", true, ref(scan, 3))},
	} {
		for _, by := range [][]int{nil, {5}, {1}} {
			base, group := aggBase(scan, by, aggs)
			h := &physical.HashAggregate{Base: base, Input: scan, GroupBy: group, Aggs: aggs, Parallel: 3}
			run := func(parts int, limit int64) []string {
				src := newSource(tab)
				src.size, src.parts = 1000, parts
				env := testEnv(src)
				disk, err := spill.Open(spill.Options{Dir: ".", FS: &memFS{}, Files: 10000})
				if err != nil {
					t.Fatal(err)
				}
				env.Memory, env.Spill, env.Parallelism = NewTracker("server", 0).Child("query", limit), disk, max(parts, 1)
				got, err := collect(t.Context(), env, &physical.Plan{Root: h})
				if err != nil {
					t.Fatal(err)
				}
				buffers := int64(3 * len(aggs) * 64 * 6 << 10) // each spills keys and rows in 32 parts
				if peak := env.Memory.Peak(); limit > 0 && peak > limit+limit/8+buffers {
					t.Errorf("%d by %v: %d bytes of %d", i, by, peak, limit)
				}
				env.checkReleased(t, &physical.Plan{Root: h})
				slices.Sort(got)
				return got
			}
			want := run(0, 0)
			for _, limit := range []int64{0, 8 << 20, 1200 << 10, 600 << 10, 300 << 10} {
				if got := run(3, limit); !slices.Equal(got, want) {
					t.Errorf("%d by %v, limit %d: %.200q, want %.200q", i, by, limit, got, want)
				}
			}
		}
	}
}

// TestUniteWords: sets of all shapes unite to what has all words.
func TestUniteWords(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for trial := range testflag.InShort(80, 400) {
		var sets [2]wordSet
		words := map[int64]bool{}
		both := rng.Int64N(1 << 40)
		for s := range sets {
			from, span, step := both+rng.Int64N(3000)*int64(trial%2), 1+rng.Int64N(20000), int64(1)<<rng.IntN(4)
			for range rng.IntN(6000) {
				k := from + rng.Int64N(span)*step
				if rng.IntN(50) == 0 {
					k = rng.Int64() - 1<<62
				}
				if rng.IntN(500) == 0 {
					k = 0
				}
				sets[s].insert(k)
				words[k] = true
			}
		}
		before := sets[0].len()
		if n := sets[0].unite(&sets[1]); n != len(words)-before || sets[0].len() != len(words) || sets[1].len() != 0 {
			t.Fatalf("trial %d: %d are new, %d words, want %d after %d", trial, n, sets[0].len(), len(words), before)
		}
		got := map[int64]bool{}
		_ = sets[0].each(func(k int64) error { got[k] = true; return nil })
		if len(got) != len(words) {
			t.Fatalf("trial %d: %d words, want %d", trial, len(got), len(words))
		}
		for k := range words {
			if !got[k] || sets[0].insert(k) {
				t.Fatalf("trial %d: %d is missing", trial, k)
			}
		}
	}
}

// TestMergeStates: states of groups that there are, also several in a batch.
func TestMergeStates(t *testing.T) {
	tab := data("t", 33, 300, 10)
	scan := scanOf(tab.t)
	calls := distinctCalls(scan)
	group := []expr.Expr{ref(scan, 1)}
	env := testEnv(nil)
	make1 := func() *aggregation {
		a, err := newAggregation(env, env.Ctx.Fork(), group, calls)
		if err != nil {
			t.Fatal(err)
		}
		return a
	}
	whole, merged := make1(), make1()
	states := newOut(append(exprKinds(group), whole.stateKinds()...))
	for from := 0; from < len(tab.rows); from += 20 {
		b := batchOf(scan.Cols, tab.rows[from:from+20], scan.Read, true, rand.New(rand.NewPCG(1, 1)))
		part := make1()
		for _, a := range []*aggregation{whole, part} {
			if err := a.consume(b); err != nil {
				t.Fatal(err)
			}
		}
		part.saveStates(0, part.n, states)
		// Each state twice: DISTINCT values count once all the same.
		twice := newOut(append(exprKinds(group), whole.stateKinds()...))
		for c, v := range twice.Cols {
			v.Init(v.Kind, 2*states.N)
			for i := range 2 * states.N {
				v.CopyRow(i, states.Cols[c], i%states.N)
			}
		}
		twice.N = 2 * states.N
		if err := merged.mergeStates(twice); err != nil {
			t.Fatal(err)
		}
	}
	if merged.n != whole.n {
		t.Fatalf("%d groups, want %d", merged.n, whole.n)
	}
	text := func(a *aggregation) (out []string) {
		b := newOut(aggKinds(group, a.calls))
		if err := a.emit(0, a.n, b); err != nil {
			t.Fatal(err)
		}
		for r := range b.N {
			s := rowText([]physical.Column{{T: types.BigInt}}, []value.Datum{b.Cols[0].Datum(r)})
			for c, call := range a.calls {
				if call.Distinct {
					s += " " + rowText([]physical.Column{{T: call.T}}, []value.Datum{b.Cols[1+c].Datum(r)})
				}
			}
			out = append(out, s)
		}
		slices.Sort(out)
		return out
	}
	if got, want := text(merged), text(whole); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}
