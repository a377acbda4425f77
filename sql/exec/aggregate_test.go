package exec

import (
	"context"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// naiveAgg computes a call over the rows of one group with exact arithmetic
// and no cleverness.
func naiveAgg(a *expr.Agg, rows [][]value.Datum) string {
	var vals []value.Datum
	seen := map[string]bool{}
	var argT schema.Type
	for _, r := range rows {
		if len(a.Args) == 0 {
			vals = append(vals, value.Int(1))
			continue
		}
		c := a.Args[0].(*expr.Col)
		argT = c.T
		d := r[c.Index]
		if d.IsNull() && a.Op != expr.AggAnyValue {
			continue
		}
		k := string(types.HashKey(nil, d, c.T))
		if a.Distinct && seen[k] {
			continue
		}
		seen[k] = true
		vals = append(vals, d)
	}
	text := func(d value.Datum) string { return rowText([]physical.Column{{T: a.T}}, []value.Datum{d}) }
	if a.Op == expr.AggCount {
		return fmt.Sprint(len(vals))
	}
	if len(vals) == 0 {
		switch a.Op {
		case expr.AggBitAnd:
			return "18446744073709551615"
		case expr.AggBitOr, expr.AggBitXor:
			return "0"
		}
		return "NULL"
	}
	switch a.Op {
	case expr.AggSum, expr.AggAvg:
		if types.KindOf(argT) == value.KindFloat {
			s := 0.0
			for _, d := range vals {
				s += d.Float()
			}
			if a.Op == expr.AggAvg {
				s /= float64(len(vals))
			}
			return text(value.Float(s))
		}
		s := new(big.Rat)
		for _, d := range vals {
			dec, _ := types.ToDecimal(nil, d, argT)
			r, _ := new(big.Rat).SetString(dec.String())
			s.Add(s, r)
		}
		if a.Op == expr.AggAvg {
			// All digits that the division computes: they are cut off, not rounded.
			s.Quo(s, big.NewRat(int64(len(vals)), 1))
			digits := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(a.T.Scale)), nil)
			n := new(big.Int).Mul(s.Num(), digits)
			s.SetFrac(n.Quo(n, s.Denom()), digits)
		}
		dec, _ := value.ParseDecimal(s.FloatString(a.T.Scale))
		return text(value.Dec(dec))
	case expr.AggMin, expr.AggMax:
		best := vals[0]
		for _, d := range vals[1:] {
			c := types.Compare(d, best, argT)
			if c > 0 && a.Op == expr.AggMax || c < 0 && a.Op == expr.AggMin {
				best = d
			}
		}
		return text(best)
	case expr.AggAnyValue:
		return text(vals[0])
	case expr.AggBitAnd, expr.AggBitOr, expr.AggBitXor:
		x := vals[0].Uint()
		for _, d := range vals[1:] {
			switch a.Op {
			case expr.AggBitAnd:
				x &= d.Uint()
			case expr.AggBitOr:
				x |= d.Uint()
			default:
				x ^= d.Uint()
			}
		}
		return fmt.Sprint(x)
	case expr.AggGroupConcat:
		var parts []string
		for _, d := range vals {
			parts = append(parts, d.Str())
		}
		return strings.Join(parts, ",")
	}
	panic(a.Op.String())
}

func allAggs(n physical.Node) []*expr.Agg {
	u := ref(n, 5)
	list := []*expr.Agg{agg("count", false), agg("any_value", false, ref(n, 0))}
	for _, distinct := range []bool{false, true} {
		for c := range dataCols {
			list = append(list, agg("count", distinct, ref(n, c)), agg("min", distinct, ref(n, c)), agg("max", distinct, ref(n, c)))
			switch c {
			case 0, 1, 3, 4, 5:
				list = append(list, agg("sum", distinct, ref(n, c)), agg("avg", distinct, ref(n, c)))
			}
		}
	}
	for _, name := range []string{"bit_and", "bit_or", "bit_xor"} {
		a := agg(name, false, u)
		a.Args[0] = u
		list = append(list, a)
	}
	return list
}

func withConcat(list []*expr.Agg, n physical.Node) []*expr.Agg {
	for _, distinct := range []bool{false, true} {
		a := agg("group_concat", distinct, ref(n, 2))
		a.Args[0] = ref(n, 2)
		list = append(list, a)
	}
	return list
}

func naiveGroups(tab *memTable, n physical.Node, by []int, aggs []*expr.Agg) []string {
	var order []string
	groups := map[string][][]value.Datum{}
	for _, r := range tab.rows {
		k := ""
		for _, c := range by {
			k += string(types.HashKey(nil, r[c], dataCols[c].t))
		}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], r)
	}
	if len(by) == 0 && len(order) == 0 {
		order = []string{""}
	}
	var want []string
	for _, k := range order {
		var parts []string
		for _, c := range by {
			parts = append(parts, rowText(n.Columns()[c:c+1], groups[k][0][c:c+1]))
		}
		for _, a := range aggs {
			parts = append(parts, naiveAgg(a, groups[k]))
		}
		want = append(want, strings.Join(parts, "|"))
	}
	return want
}

func aggBase(n physical.Node, by []int, aggs []*expr.Agg) (physical.Base, []expr.Expr) {
	var b physical.Base
	var exprs []expr.Expr
	for _, c := range by {
		exprs = append(exprs, ref(n, c))
		b.Cols = append(b.Cols, n.Columns()[c])
	}
	for _, a := range aggs {
		b.Cols = append(b.Cols, physical.Column{T: a.T})
	}
	return b, exprs
}

func TestAggregate(t *testing.T) {
	for _, rows := range []int{0, 1, testflag.InShort(130, 400)} {
		tab := data("t", 21, rows, 8)
		src := newSource(tab)
		scan := scanOf(tab.t)
		for _, by := range [][]int{nil, {1}, {2}, {1, 2}, {3}, {7, 4}} {
			aggs := withConcat(allAggs(scan), scan)
			base, group := aggBase(scan, by, aggs)
			want := naiveGroups(tab, scan, by, aggs)
			h := &physical.HashAggregate{Base: base, Input: scan, GroupBy: group, Aggs: aggs}
			check(t, src, &physical.Plan{Root: h}, want, true)
			var keys []physical.SortKey
			for _, g := range group {
				keys = append(keys, physical.SortKey{Expr: g})
			}
			sorted := &physical.Sort{Base: scan.Base, Input: scan, Keys: keys}
			s := &physical.StreamAggregate{Base: base, Input: sorted, GroupBy: group, Aggs: aggs}
			check(t, src, &physical.Plan{Root: s}, want, len(by) == 0)
		}
	}
	tab := data("t", 21, 400, 8)
	scan := scanOf(tab.t)
	aggs := []*expr.Agg{agg("count", true, ref(scan, 0))}
	base, group := aggBase(scan, []int{0}, aggs)
	checkMemory(t, newSource(tab), &physical.Plan{Root: &physical.HashAggregate{Base: base, Input: scan, GroupBy: group, Aggs: aggs}}, "hash aggregate")
}

// TestParallelAggregate: parallel and serial aggregation agree.
func TestParallelAggregate(t *testing.T) {
	testflag.Normal(t)
	tab := data("t", 22, 900, 40)
	src := newSource(tab)
	scan := scanOf(tab.t)
	filter := &physical.Filter{Base: scan.Base, Input: scan, Conds: []expr.Expr{fn("<>", ref(scan, 0), num(17))}}
	kept := &memTable{t: tab.t, rows: slices.DeleteFunc(slices.Clone(tab.rows), func(r []value.Datum) bool { return r[0].Int() == 17 })}
	for _, by := range [][]int{nil, {1}, {2, 1}} {
		aggs := allAggs(scan)
		base, group := aggBase(scan, by, aggs)
		want := naiveGroups(kept, scan, by, aggs)
		h := &physical.HashAggregate{Base: base, Input: filter, GroupBy: group, Aggs: aggs, Parallel: 4}
		for _, parts := range []int{1, 2, 4} {
			src.parts = parts
			check(t, src, &physical.Plan{Root: h}, want, true)
		}
		src.parts = 2
		checkMemory(t, src, &physical.Plan{Root: h}, "hash aggregate")
	}
}

func TestVariance(t *testing.T) {
	tab := data("t", 23, 500, 3)
	src := newSource(tab)
	scan := scanOf(tab.t)
	n, sum := 0.0, 0.0
	for _, r := range tab.rows {
		if !r[4].IsNull() {
			n++
			sum += r[4].Float()
		}
	}
	m2 := 0.0
	for _, r := range tab.rows {
		if !r[4].IsNull() {
			m2 += (r[4].Float() - sum/n) * (r[4].Float() - sum/n)
		}
	}
	want := []float64{m2 / n, m2 / (n - 1), math.Sqrt(m2 / n), math.Sqrt(m2 / (n - 1))}
	var aggs []*expr.Agg
	for _, name := range []string{"var_pop", "var_samp", "stddev", "stddev_samp"} {
		aggs = append(aggs, agg(name, false, ref(scan, 4)))
	}
	base, _ := aggBase(scan, nil, aggs)
	for _, parts := range []int{1, 3} {
		src.parts = parts
		env := testEnv(src)
		env.Parallelism = parts
		got, err := collect(context.Background(), env, &physical.Plan{Root: &physical.HashAggregate{Base: base, Input: scan, Aggs: aggs, Parallel: parts}})
		if err != nil {
			t.Fatal(err)
		}
		for i, f := range strings.Split(got[0], "|") {
			var x float64
			fmt.Sscan(f, &x)
			if math.Abs(x-want[i]) > 1e-9 {
				t.Fatalf("%s = %v, want %v", aggs[i], x, want[i])
			}
		}
	}
}

func TestSumExtremes(t *testing.T) {
	tab := &memTable{t: makeTable("t", dataCols...)}
	var sum big.Int
	for i := range 100 {
		u := uint64(math.MaxUint64 - uint64(i))
		sum.Add(&sum, new(big.Int).SetUint64(u))
		row := make([]value.Datum, len(dataCols))
		row[0], row[1], row[5] = value.Int(int64(i)), value.Int(math.MinInt64), value.Uint(u)
		tab.rows = append(tab.rows, row)
	}
	scan := scanOf(tab.t)
	aggs := []*expr.Agg{agg("sum", false, ref(scan, 5)), agg("sum", false, ref(scan, 1))}
	base, _ := aggBase(scan, nil, aggs)
	neg := new(big.Int).Mul(big.NewInt(math.MinInt64), big.NewInt(100))
	check(t, newSource(tab), &physical.Plan{Root: &physical.HashAggregate{Base: base, Input: scan, Aggs: aggs}},
		[]string{sum.String() + "|" + neg.String()}, true)
}

func TestGroupConcat(t *testing.T) {
	tab := data("t", 24, 60, 3)
	src := newSource(tab)
	scan := scanOf(tab.t)
	a, err := expr.NewGroupConcat(nil, false, []expr.Expr{ref(scan, 2)}, []expr.AggOrder{{Expr: ref(scan, 0), Desc: true}}, "--")
	if err != nil {
		t.Fatal(err)
	}
	base, _ := aggBase(scan, nil, []*expr.Agg{a})
	plan := &physical.Plan{Root: &physical.HashAggregate{Base: base, Input: scan, Aggs: []*expr.Agg{a}}}
	var parts []string
	for i := len(tab.rows) - 1; i >= 0; i-- {
		if !tab.rows[i][2].IsNull() {
			parts = append(parts, tab.rows[i][2].Str())
		}
	}
	full := strings.Join(parts, "--")
	env := testEnv(src)
	var warned []sqlerr.Warning
	var mu sync.Mutex
	env.Ctx.Warn = func(w sqlerr.Warning) { mu.Lock(); warned = append(warned, w); mu.Unlock() }
	got, err := collect(context.Background(), env, plan)
	if err != nil || got[0] != full || len(warned) != 0 {
		t.Fatalf("%v %v\n%v\n%v", err, warned, got, full)
	}
	for limit := 1; limit < 40; limit++ {
		env.GroupConcatMaxLen, warned = limit, nil
		got, err := collect(context.Background(), env, plan)
		if err != nil || len(got[0]) > limit || len(got[0]) < limit-1 || !strings.HasPrefix(full, got[0]) {
			t.Fatalf("limit %d: %v %q", limit, err, got)
		}
		if len(warned) != 1 || warned[0].Err.Number != 1260 {
			t.Fatalf("limit %d: %v", limit, warned)
		}
	}
}

func TestEnumMinMax(t *testing.T) {
	enum := schema.Type{ID: schema.TypeEnum, Elems: []string{"z", "m", "a"}, Collation: schema.CollationUTF8MB40900AICI}
	tab := &memTable{t: makeTable("t", col{"k", types.BigInt}, col{"e", enum})}
	for i := range 3 {
		tab.rows = append(tab.rows, []value.Datum{value.Int(int64(i)), value.Uint(uint64(i + 1))})
	}
	scan := scanOf(tab.t)
	aggs := []*expr.Agg{agg("min", false, ref(scan, 1)), agg("max", false, ref(scan, 1))}
	base, _ := aggBase(scan, nil, aggs)
	check(t, newSource(tab), &physical.Plan{Root: &physical.HashAggregate{Base: base, Input: scan, Aggs: aggs}}, []string{"a|z"}, true)
	sorted := &physical.Sort{Base: scan.Base, Input: scan, Keys: []physical.SortKey{{Expr: ref(scan, 1)}}}
	check(t, newSource(tab), &physical.Plan{Root: sorted}, []string{"0|z", "1|m", "2|a"}, true)
}

func TestSubqueries(t *testing.T) {
	tab := data("t", 31, 200, 8)
	src := newSource(tab)
	scan := scanOf(tab.t)
	sub := func(vals ...value.Datum) physical.Node {
		v := &physical.Values{Base: outCols(types.BigInt)}
		for _, d := range vals {
			v.Rows = append(v.Rows, []expr.Expr{expr.NewConst(d, types.BigInt)})
		}
		return v
	}
	in := func(e expr.Expr) expr.Expr {
		return &expr.Subquery{Kind: expr.SubqueryIn, Left: []expr.Expr{e}, CmpTypes: []schema.Type{types.BigInt}, T: types.Bool}
	}
	run := func(sub physical.Node, cond expr.Expr) ([]string, error) {
		env := testEnv(src)
		env.Parallelism = 2
		f := &physical.Filter{Base: scan.Base, Input: scan, Conds: []expr.Expr{cond}}
		return collect(context.Background(), env, &physical.Plan{Root: f, Subplans: []physical.Node{sub}})
	}
	filter := func(keep func(g value.Datum) bool) []string {
		var rows [][]value.Datum
		for _, r := range tab.rows {
			if keep(r[1]) {
				rows = append(rows, r)
			}
		}
		return texts(scan.Cols, rows)
	}
	isIn := func(g value.Datum) bool { return !g.IsNull() && (g.Int() == 1 || g.Int() == 3) }
	notIn := fn("not", in(ref(scan, 1)))
	for _, c := range []struct {
		sub  physical.Node
		cond expr.Expr
		want []string
	}{
		{sub(value.Int(1), value.Int(3), value.Null), in(ref(scan, 1)), filter(isIn)},
		{sub(value.Int(1), value.Int(3)), notIn, filter(func(g value.Datum) bool { return !g.IsNull() && !isIn(g) })},
		{sub(value.Int(1), value.Null), notIn, nil},
		{sub(), notIn, filter(func(value.Datum) bool { return true })},
		{sub(value.Int(1)), &expr.Subquery{Kind: expr.SubqueryExists, T: types.Bool}, filter(func(value.Datum) bool { return true })},
		{sub(), &expr.Subquery{Kind: expr.SubqueryExists, T: types.Bool}, nil},
		{sub(value.Int(2)), fn("=", ref(scan, 1), &expr.Subquery{T: types.BigInt}), filter(func(g value.Datum) bool { return !g.IsNull() && g.Int() == 2 })},
	} {
		got, err := run(c.sub, c.cond)
		if err != nil || !slices.Equal(got, c.want) {
			t.Fatalf("%s: %v, %d rows, want %d", c.cond, err, len(got), len(c.want))
		}
	}
	_, err := run(sub(value.Int(1), value.Int(2)), fn("=", ref(scan, 1), &expr.Subquery{T: types.BigInt}))
	if !isNumber(err, 1242) {
		t.Fatalf("two rows: %v", err)
	}
}

// TestRowSubquery: (a, b) IN rows with NULLs is NULL where it may be true.
func TestRowSubquery(t *testing.T) {
	i, n := func(x int64) value.Datum { return value.Int(x) }, value.Null
	s := &subqueryRows{rowBuffer: &rowBuffer{}, ec: &expr.Ctx{}, ts: []schema.Type{types.BigInt, types.BigInt}}
	s.store = newRowStore([]value.Kind{value.KindInt, value.KindInt})
	for _, r := range [][]value.Datum{{i(1), i(2)}, {i(3), n}, {i(1), i(2)}} {
		b := batchOf(outCols(types.BigInt, types.BigInt).Cols, [][]value.Datum{r}, []int{0, 1}, false, nil)
		s.store.add(b.Cols, liveRows(b))
		s.n = s.store.n
	}
	for _, c := range []struct{ a, b, want value.Datum }{
		{i(1), i(2), i(1)}, {i(1), i(3), i(0)}, {i(3), i(9), n}, {i(4), i(9), i(0)}, {i(1), n, n}, {n, i(2), n}, {i(7), n, i(0)}, {n, n, n},
	} {
		got, err := s.Contains([]value.Datum{c.a, c.b})
		if err != nil || got.Kind() != c.want.Kind() || got.Bits() != c.want.Bits() {
			t.Fatalf("(%v,%v): %v %v, want %v", c.a, c.b, got, err, c.want)
		}
	}
}

func TestJSONAggregates(t *testing.T) {
	tab := &memTable{t: makeTable("t", col{"k", types.BigInt}, col{"s", types.VarcharOf(5, 255)}, col{"j", types.JSON})}
	doc := func(s string) value.Datum {
		d, err := value.ParseJSON([]byte(s))
		if err != nil {
			t.Fatal(err)
		}
		return value.JSONOf(d)
	}
	tab.rows = [][]value.Datum{
		{value.Int(1), value.String("b"), doc(`[2]`)}, {value.Int(2), value.String("a"), doc(`3`)},
		{value.Int(3), value.String("b"), doc(`"x"`)}, {value.Int(4), value.String("c"), value.Null}, {value.Int(5), value.String("d"), doc(`10`)},
	}
	src := newSource(tab)
	scan := scanOf(tab.t)
	aggs := []*expr.Agg{agg("json_arrayagg", false, ref(scan, 2)), agg("json_objectagg", false, ref(scan, 1), ref(scan, 2)), agg("max", false, ref(scan, 2)), agg("count", true, ref(scan, 2))}
	base, _ := aggBase(scan, nil, aggs)
	want := `[[2], 3, "x", null, 10]|{"a": 3, "b": "x", "c": null, "d": 10}|[2]|4`
	check(t, src, &physical.Plan{Root: &physical.HashAggregate{Base: base, Input: scan, Aggs: aggs}}, []string{want}, true)
	for _, desc := range []bool{false, true} {
		keys := []physical.SortKey{{Expr: ref(scan, 2), Desc: desc}, {Expr: ref(scan, 0)}}
		want := []string{`4|c|NULL`, `2|a|3`, `5|d|10`, `3|b|"x"`, `1|b|[2]`}
		if desc {
			slices.Reverse(want)
		}
		check(t, src, &physical.Plan{Root: &physical.Sort{Base: scan.Base, Input: scan, Keys: keys}}, want, true)
		check(t, src, &physical.Plan{Root: &physical.TopK{Base: scan.Base, Input: scan, Keys: keys, Count: num(3)}}, want[:3], true)
	}
}

// TestConcatPrune: GROUP_CONCAT with ORDER BY keeps only what its text needs.
func TestConcatPrune(t *testing.T) {
	tab := wideTable(30000)
	src := newSource(tab)
	src.size = 1000
	scan := scanOf(tab.t)
	call := agg("group_concat", false, ref(scan, 2))
	call.Extra = &expr.GroupConcat{Separator: ",", Order: []expr.AggOrder{{Expr: ref(scan, 0), Desc: true}}}
	base, _ := aggBase(scan, nil, []*expr.Agg{call})
	env := testEnv(src)
	env.GroupConcatMaxLen = 100
	var warned sqlerr.Warning
	env.Ctx.Warn = func(w sqlerr.Warning) { warned = w }
	got, err := collect(t.Context(), env, &physical.Plan{Root: &physical.HashAggregate{Base: base, Input: scan, Aggs: []*expr.Agg{call}}})
	if err != nil {
		t.Fatal(err)
	}
	var want strings.Builder
	rows := slices.Clone(tab.rows)
	slices.SortFunc(rows, func(a, b []value.Datum) int { return int(b[0].Int() - a[0].Int()) })
	for _, r := range rows[:20] {
		want.WriteString(string(r[2].Bytes()) + ",")
	}
	if got[0] != want.String()[:100] || warned.Err == nil {
		t.Fatalf("got %s, want %s, warning %v", got[0], want.String()[:100], warned)
	}
	if peak := env.Memory.Peak(); peak > 1<<20 {
		t.Fatalf("%d bytes were held", peak)
	}
}

// TestMergeConcat: the groups of another accumulator go to those that have nothing.
func TestMergeConcat(t *testing.T) {
	text := types.VarcharOf(10, schema.CollationUTF8MB40900AICI)
	plain, err := expr.NewGroupConcat(nil, false, []expr.Expr{at(0, text)}, nil, "-")
	if err != nil {
		t.Fatal(err)
	}
	ordered, err := expr.NewGroupConcat(nil, false, []expr.Expr{at(0, text)}, []expr.AggOrder{{Expr: at(0, text)}}, "-")
	if err != nil {
		t.Fatal(err)
	}
	env := testEnv(newSource())
	in := batchOf(outCols(text).Cols, [][]value.Datum{{value.String("b")}, {value.String("x")}, {value.String("a")}, {value.Null}, {value.String("y")}}, []int{0}, false, nil)
	for _, c := range []struct {
		call *expr.Agg
		want string
	}{{plain, "b-a"}, {ordered, "a-b"}} {
		args := []*vec.Vec{in.Cols[0]}
		if c.call == ordered {
			args = append(args, in.Cols[0])
		}
		fresh := func(groups ...uint32) accumulator {
			acc, err := newAccumulator(env, env.Ctx, c.call, true)
			if err != nil {
				t.Fatal(err)
			}
			acc.grow(3)
			if groups != nil {
				if err := acc.add(args, liveRows(in), groups); err != nil {
					t.Fatal(err)
				}
			}
			return acc
		}
		from, to := fresh(0, 1, 0, 2, 1), fresh()
		empty := to.size()
		// Group 1 is left out; group 2 has no values.
		if err := to.merge(from, []uint32{2, none, 0}); err != nil {
			t.Fatal(err)
		}
		if to.size() <= empty {
			t.Errorf("%s: %d bytes with values, %d without", c.call, to.size(), empty)
		}
		out := vec.NewSized(value.KindBytes, 3)
		for g := range 3 {
			if err := to.result(g, out, g); err != nil {
				t.Fatal(err)
			}
		}
		if !out.Nulls.IsNull(0) || !out.Nulls.IsNull(1) || out.Datum(2).Str() != c.want {
			t.Errorf("%s: %v, %v, %v; want NULL, NULL, %s", c.call, out.Datum(0), out.Datum(1), out.Datum(2), c.want)
		}
		if err := fresh(0, 0, 0, 0, 0).merge(fresh(0, 1, 0, 2, 1), []uint32{0, none, none}); err == nil {
			t.Errorf("%s: two groups with values became one", c.call)
		}
	}
}

// TestDamagedPercentile: a saved state that ends too early is an error.
func TestDamagedPercentile(t *testing.T) {
	for _, kind := range []value.Kind{value.KindInt, value.KindFloat, value.KindDecimal, value.KindUint} {
		fresh := func() accumulator {
			acc, err := newPercentile(&expr.Ctx{}, kind, &expr.Percentile{Percent: expr.NewConst(value.Dec(value.DecimalFromInt(50)), types.DecimalOf(2, 0))})
			if err != nil {
				t.Fatal(kind, err)
			}
			acc.grow(1)
			return acc
		}
		in := vec.NewSized(kind, 2)
		for i := range 2 {
			switch kind {
			case value.KindFloat:
				in.SetDatum(i, value.Float(7))
			case value.KindDecimal:
				in.SetDatum(i, value.Dec(value.DecimalFromInt(7)))
			case value.KindUint:
				in.SetDatum(i, value.Uint(7))
			default:
				in.SetDatum(i, value.Int(7))
			}
		}
		acc := fresh()
		if err := acc.add([]*vec.Vec{in}, []uint16{0, 1}, nil); err != nil {
			t.Fatal(kind, err)
		}
		saved := []*vec.Vec{vec.NewSized(value.KindBytes, 1)}
		acc.save(0, saved, 0)
		all := saved[0].Bytes[0]
		for n := range len(all) + 1 {
			saved[0].Bytes[0] = all[:n]
			again := fresh()
			err := again.load(0, saved, 0)
			if whole := n == 0 || n == len(all); whole != (err == nil) {
				t.Errorf("%v: %d of %d bytes: %v", kind, n, len(all), err)
			}
			if n < len(all) {
				continue
			}
			out := vec.NewSized(kind, 1)
			if err := again.result(0, out, 0); err != nil || out.Nulls.IsNull(0) || !SameDatum(out.Datum(0), in.Datum(0)) {
				t.Errorf("%v: %v, %v", kind, err, out.Datum(0))
			}
		}
	}
}
