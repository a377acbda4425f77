package exec

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

var joinKinds = []physical.JoinKind{physical.JoinInner, physical.JoinLeft, physical.JoinSemi, physical.JoinAnti}

// hashJoinOn joins by equal columns; with less, also l.k < r.k.
func hashJoinOn(kind physical.JoinKind, l, r physical.Node, lkeys, rkeys []int, less bool) *physical.HashJoin {
	h := &physical.HashJoin{Base: joinCols(l, r), Kind: kind, Left: l, Right: r}
	if kind == physical.JoinSemi || kind == physical.JoinAnti {
		h.Base = physical.Base{Cols: l.Columns()}
	}
	for i := range lkeys {
		h.LeftKeys, h.RightKeys = append(h.LeftKeys, ref(l, lkeys[i])), append(h.RightKeys, ref(r, rkeys[i]))
	}
	if less {
		h.Filter = []expr.Expr{fn("<", at(0, types.BigInt), at(len(l.Columns()), types.BigInt))}
	}
	return h
}

// checkParallel expects of an aggregation over n, and of a sort, in parts what they give
// in one.
func checkParallel(t *testing.T, src *memSource, n physical.Node, by []int) {
	t.Helper()
	var aggs []*expr.Agg
	for _, a := range allAggs(n) {
		if !needsDistinct(a) {
			aggs = append(aggs, a)
		}
	}
	base, group := aggBase(n, by, aggs)
	h := &physical.HashAggregate{Base: base, Input: n, GroupBy: group, Aggs: aggs, Parallel: 3}
	s := &physical.Sort{Base: physical.Base{Cols: n.Columns()}, Input: n}
	for i := range n.Columns() {
		s.Keys = append(s.Keys, physical.SortKey{Expr: ref(n, i), Desc: i%2 == 0})
	}
	for _, root := range []physical.Node{h, s} {
		one := &memSource{tables: src.tables, size: src.size}
		want, err := collect(t.Context(), testEnv(one), &physical.Plan{Root: root})
		if err != nil {
			t.Fatal(err)
		}
		env := testEnv(&memSource{tables: src.tables, size: 10, parts: 3})
		env.Parallelism, env.Stats, env.Memory = 3, NewStats(), NewTracker("query", 64<<20)
		got, err := collect(t.Context(), env, &physical.Plan{Root: root})
		if err != nil || !slices.Equal(got, want) {
			t.Fatalf("%v: in parts\n%.300q, want\n%.300q", err, got, want)
		}
		env.checkReleased(t, &physical.Plan{Root: root})
		if pipelineScan(n) != nil {
			a, _ := env.Stats.Actual(n)
			if a.Loops != 3 {
				t.Fatalf("%d workers", a.Loops)
			}
		}
		src := &memSource{tables: src.tables, size: src.size, parts: 3}
		check(t, src, &physical.Plan{Root: root}, want, root == physical.Node(s))
	}
}

// costly lets an exchange run the pipeline of n.
func costly(n *physical.HashJoin) *physical.HashJoin {
	n.Estimate = physical.Estimate{Cost: 1e9, Rows: 1}
	return n
}

// TestSharedJoins: pipelines with joins give in parts what they give in one, for all
// kinds of joins, keys that are NULL, many rows of a key, and what spills.
func TestSharedJoins(t *testing.T) {
	left, right := data("l", 3, 120, 12), data("right", 4, 45, 15)
	for i := range left.rows {
		if i%9 == 0 {
			left.rows[i][1] = value.Int(1000)
		}
	}
	src := newSource(left, right)
	l, r := scanOf(left.t), scanOf(right.t)
	for i, keys := range testflag.InShort([][]int{{1, 2}}, [][]int{{1}, {2}, {1, 2}, {5}}) {
		for _, kind := range joinKinds {
			less := (i+int(kind))%2 == 0
			t.Run(fmt.Sprintf("%s on %v filter %v", kind, keys, less), func(t *testing.T) {
				checkParallel(t, src, costly(hashJoinOn(kind, l, r, keys, keys, less)), []int{1})
			})
		}
		h := costly(hashJoinOn(physical.JoinInner, r, l, keys, keys, i%2 == 1))
		h.BuildLeft = true
		t.Run(fmt.Sprintf("build left on %v", keys), func(t *testing.T) { checkParallel(t, src, h, nil) })
		// Unique keys take another path.
		for _, kind := range joinKinds {
			t.Run(fmt.Sprintf("%s by a unique key %d", kind, i), func(t *testing.T) {
				checkParallel(t, src, costly(hashJoinOn(kind, l, r, []int{1}, []int{0}, false)), []int{2})
			})
		}
	}
	nl := &physical.NestedLoop{Base: joinCols(l, r), Kind: physical.JoinLeft, Left: l, Right: r, Filter: []expr.Expr{fn(">", at(0, types.BigInt), at(len(dataCols)+1, types.BigInt))}}
	nl.Estimate.Cost = 1e9
	t.Run("nested loop", func(t *testing.T) { checkParallel(t, src, nl, []int{1}) })
	lj := lookupOf(physical.Base{}, physical.JoinLeft, l, right.t, []int{1}, true)
	lj.Estimate.Cost = 1e9
	t.Run("lookup", func(t *testing.T) { checkParallel(t, src, lj, []int{1}) })
}

// TestSharedChains: several joins in a pipeline, over and under filters and projections.
func TestSharedChains(t *testing.T) {
	left, right, third := data("l", 3, 90, 12), data("right", 4, 20, 10), data("third", 5, 30, 7)
	empty := &memTable{t: makeTable("emptytable", dataCols...)}
	src := newSource(left, right, third, empty)
	l, r, x := scanOf(left.t), scanOf(right.t), scanOf(third.t)
	n := len(dataCols)
	for _, a := range joinKinds {
		for _, b := range joinKinds {
			first := hashJoinOn(a, l, r, []int{1}, []int{0}, false)
			f := &physical.Filter{Base: first.Base, Input: first, Conds: []expr.Expr{fn("<>", ref(first, 0), num(5))}}
			second := costly(hashJoinOn(b, f, x, []int{1}, []int{1}, b == physical.JoinLeft))
			t.Run(fmt.Sprintf("%s %s", a, b), func(t *testing.T) { checkParallel(t, src, second, []int{1}) })
		}
	}
	inner := hashJoinOn(physical.JoinInner, r, l, []int{0}, []int{1}, false)
	inner.BuildLeft = true
	p := &physical.Project{Base: physical.Base{Cols: inner.Cols[:n]}, Input: inner}
	for i := range dataCols {
		p.Exprs = append(p.Exprs, ref(inner, n+i))
	}
	outer := costly(hashJoinOn(physical.JoinLeft, p, x, []int{2}, []int{2}, false))
	t.Run("projected", func(t *testing.T) { checkParallel(t, src, outer, []int{1}) })
	lj := lookupOf(physical.Base{}, physical.JoinInner, l, right.t, []int{1}, false)
	lj.Left = hashJoinOn(physical.JoinSemi, l, x, []int{1}, []int{1}, false)
	lj.Estimate.Cost = 1e9
	t.Run("lookup of a join", func(t *testing.T) { checkParallel(t, src, lj, []int{1}) })
	// An empty build input ends an inner join before anything else is read.
	e := scanOf(empty.t)
	aggs := []*expr.Agg{agg("count", false)}
	for _, kind := range joinKinds {
		h := hashJoinOn(physical.JoinInner, hashJoinOn(kind, l, r, []int{1}, []int{1}, false), e, []int{1}, []int{1}, false)
		base, _ := aggBase(h, nil, aggs)
		src.parts = 3
		check(t, src, &physical.Plan{Root: &physical.HashAggregate{Base: base, Input: h, Aggs: aggs, Parallel: 3}}, []string{"0"}, true)
	}
}

// TestSharedMemory: joins that hold much of the memory go on alone, so that they can
// spill; those in parts count what is stored once.
func TestSharedMemory(t *testing.T) {
	left, right := wideTable(3000), &memTable{t: makeTable("right", dataCols[:3]...), rows: wideTable(2000).rows}
	src := newSource(left, right)
	src.size, src.parts = 300, 3
	l, r := scanOf(left.t), scanOf(right.t)
	h := hashJoinOn(physical.JoinInner, l, r, []int{0}, []int{0}, false)
	aggs := []*expr.Agg{agg("count", false), agg("max", false, at(5, dataCols[2].t))}
	base, group := aggBase(h, []int{1}, aggs)
	root := &physical.HashAggregate{Base: base, Input: h, GroupBy: group, Aggs: aggs, Parallel: 3}
	want, err := collect(t.Context(), testEnv(&memSource{tables: src.tables, size: 300}), &physical.Plan{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		limit   int64
		workers int64
	}{{0, 3}, {8 << 20, 3}, {512 << 10, 1}, {200 << 10, 1}} {
		env := testEnv(src)
		env.spillTo(t, &memFS{}, 0)
		env.Memory, env.Parallelism, env.Stats = NewTracker("server", 0).Child("query", c.limit), 3, NewStats()
		got, err := collect(t.Context(), env, &physical.Plan{Root: root})
		if slices.Sort(got); err != nil || !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Fatalf("limit %d: %v, %d groups", c.limit, err, len(got))
		}
		a, _ := env.Stats.Actual(h)
		built, _ := env.Stats.Actual(r)
		if a.Loops != c.workers || built.Loops != 1 || built.Rows != 2000 || a.Rows != 2000 {
			t.Fatalf("limit %d: %d workers, %d rows; %d loops and %d rows stored", c.limit, a.Loops, a.Rows, built.Loops, built.Rows)
		}
		if peak := env.Memory.Peak(); c.limit > 0 && peak > c.limit+c.limit/4 || c.limit == 0 && peak > 2<<20 {
			t.Fatalf("limit %d: %d bytes", c.limit, peak)
		}
		env.checkReleased(t, &physical.Plan{Root: root})
	}
}

// TestSharedEnds: the end of the statement and errors end what reads the build input
// and all workers.
func TestSharedEnds(t *testing.T) {
	left, right := data("l", 3, 300, 12), data("right", 4, 300, 15)
	l, r := scanOf(left.t), scanOf(right.t)
	h := costly(hashJoinOn(physical.JoinLeft, l, r, []int{1}, []int{1}, false))
	aggs := []*expr.Agg{agg("count", false)}
	base, _ := aggBase(h, nil, aggs)
	for _, root := range []physical.Node{
		&physical.HashAggregate{Base: base, Input: h, Aggs: aggs, Parallel: 3},
		&physical.Sort{Base: h.Base, Input: h, Keys: []physical.SortKey{{Expr: ref(h, 0)}}},
	} {
		for _, side := range []*physical.Scan{l, r} {
			src := newSource(left, right)
			src.size, src.parts = 10, 3
			env := testEnv(src)
			env.Parallelism = 3
			ctx, cancel := context.WithCancelCause(t.Context())
			src.hook = func(n *physical.Scan) {
				if n == side {
					cancel(sqlerr.QueryInterrupted())
				}
			}
			_, err := collect(ctx, env, &physical.Plan{Root: root})
			if !errors.Is(err, sqlerr.QueryInterrupted()) || src.open != src.closed || env.Memory.Used() != 0 {
				t.Fatalf("%v: %d opened, %d closed, %d bytes", err, src.open, src.closed, env.Memory.Used())
			}
			src.hook = func(n *physical.Scan) {
				if n == side {
					panic("boom")
				}
			}
			if side == r {
				continue // outside of workers panics go up
			}
			if _, err := collect(t.Context(), env, &physical.Plan{Root: root}); !isNumber(err, 1105) || src.open != src.closed || env.Memory.Used() != 0 {
				t.Fatalf("%v: %d opened, %d closed, %d bytes", err, src.open, src.closed, env.Memory.Used())
			}
		}
	}
}

// TestVolatilePipelines: what has effects sees the rows one after the other.
func TestVolatilePipelines(t *testing.T) {
	tab := data("t", 1, 10, 3)
	scan := scanOf(tab.t)
	rand := fn(">", fn("rand"), num(0))
	join := func(change func(*physical.HashJoin)) physical.Node {
		h := hashJoinOn(physical.JoinInner, scan, scanOf(tab.t), []int{1}, []int{1}, false)
		change(h)
		return h
	}
	filtered, ordered, locked := *scan, *scan, *scan
	filtered.Filter = []expr.Expr{rand}
	ordered.Ordered = true
	locked.Lock.None = false
	looked := lookupOf(physical.Base{}, physical.JoinLeft, scan, tab.t, []int{1}, false)
	looked.Inner.(*physical.Scan).Lock.None = false
	for i, n := range []physical.Node{
		&physical.Filter{Base: scan.Base, Input: scan, Conds: []expr.Expr{rand}},
		&physical.Project{Base: scan.Base, Input: scan, Exprs: []expr.Expr{rand}},
		&filtered, &ordered, &locked, looked,
		join(func(h *physical.HashJoin) { h.Filter = []expr.Expr{rand} }),
		join(func(h *physical.HashJoin) { h.LeftKeys = []expr.Expr{rand} }),
		join(func(h *physical.HashJoin) { h.RightKeys = []expr.Expr{rand} }),
		join(func(h *physical.HashJoin) { h.Left = &ordered }),
		&physical.Limit{Base: scan.Base, Input: scan, Count: num(1)},
	} {
		if pipelineScan(n) != nil {
			t.Errorf("%d: %T can run in parts", i, n)
		}
	}
	if pipelineScan(join(func(h *physical.HashJoin) { h.Right = &filtered })) != physical.TableNode(scan) {
		t.Error("a build input with effects is read once")
	}
}

// TestFixedTable: a table that is read by several finds what it found before.
func TestFixedTable(t *testing.T) {
	env := testEnv(nil)
	for _, spread := range []int64{1, 1 << 20} {
		table := env.newKeyTable(typesOf(outCols(types.BigInt).Cols))
		v := vec.New(value.KindInt)
		for round := range 8 {
			for i := range 100 {
				v.I64[i] = (int64(round*100+i) - 300) * spread
			}
			table.insert([]*vec.Vec{v}, identity[:100], nil, func(uint16) {})
		}
		find := func(table *keyTable) (ids []uint32) {
			for round := range 30 {
				for i := range 100 {
					v.I64[i] = (int64(round*100+i) - 1000) * spread / 2
				}
				v.Nulls.Set(7)
				ids = table.find([]*vec.Vec{v}, identity[:100], ids)
				v.Init(v.Kind, 100)
			}
			return ids
		}
		want := find(&table)
		table.fix()
		r := table.reader()
		if got := find(&r); !slices.Equal(got, want) {
			t.Errorf("spread %d: the keys have other ids", spread)
		}
		table.loosen()
		if got := find(&table); !slices.Equal(got, want) {
			t.Errorf("spread %d: the keys have other ids in the end", spread)
		}
	}
}

// TestSharedOnce: a pipeline that cannot run in parts after all goes on with everything
// that was read, also where its probe input runs in parts by itself.
func TestSharedOnce(t *testing.T) {
	left, right := data("l", 3, 300, 12), data("right", 4, 20, 10)
	third := &memTable{t: makeTable("third", dataCols...), rows: data("third", 5, 400, 7).rows}
	src := newSource(left, right, third)
	src.parts = 3
	l, r, x := scanOf(left.t), scanOf(right.t), scanOf(third.t)
	h := costly(hashJoinOn(physical.JoinInner, x, costly(hashJoinOn(physical.JoinLeft, l, r, []int{1}, []int{0}, false)), []int{0}, []int{0}, false))
	h.BuildLeft = true
	aggs := []*expr.Agg{agg("count", false), agg("sum", false, at(0, types.BigInt))}
	base, group := aggBase(h, []int{1}, aggs)
	root := &physical.HashAggregate{Base: base, Input: h, GroupBy: group, Aggs: aggs, Parallel: 3}
	want, err := collect(t.Context(), testEnv(&memSource{tables: src.tables, size: 100}), &physical.Plan{Root: root})
	if err != nil {
		t.Fatal(err)
	}
	for _, over := range []int{0, 30000} {
		env := testEnv(src)
		env.spillTo(t, &memFS{}, over)
		env.Parallelism, env.Stats = 3, NewStats()
		got, err := collect(t.Context(), env, &physical.Plan{Root: root})
		slices.Sort(got)
		if err != nil || !slices.Equal(got, slices.Sorted(slices.Values(want))) {
			t.Fatalf("%v: %d groups, want %d", err, len(got), len(want))
		}
		outer, _ := env.Stats.Actual(h)
		if (outer.Loops == 1) != (over > 0) || (outer.Spilled > 0) != (over > 0) {
			t.Errorf("over %d: %d workers, %d bytes spilled", over, outer.Loops, outer.Spilled)
		}
		for _, n := range []physical.Node{r, x} {
			if a, _ := env.Stats.Actual(n); a.Loops != 1 {
				t.Errorf("over %d: read %d times", over, a.Loops)
			}
		}
		env.checkReleased(t, &physical.Plan{Root: root})
	}
}
