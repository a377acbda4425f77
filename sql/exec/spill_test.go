package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// spillingAccount makes an account whose relief gives all back.
func spillingAccount(t *Tracker, th *thread, spills *int) *account {
	a := &account{t: t, operator: "test", thread: th}
	a.relief = func() (bool, error) {
		*spills++
		a.kept(0)
		return true, nil
	}
	return a
}

// TestBiggestSpills: who holds most gives way, not who requests memory.
func TestBiggestSpills(t *testing.T) {
	server := NewTracker("server", 0)
	query := server.Child("query", 10<<20)
	th := &thread{}
	var big, small, far int
	a, b := spillingAccount(query, th, &big), spillingAccount(query, th, &small)
	if ok, err := a.room(8 << 20); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := b.room(1 << 20); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := b.room(4 << 20); !ok || err != nil || big != 1 || small != 0 {
		t.Fatal(ok, err, big, small)
	}
	if ok, err := b.room(12 << 20); ok || err != nil {
		t.Fatal("the one that holds most got more", ok, err)
	}
	b.kept(0)
	// On another goroutine it only promises; that covers the request.
	c := spillingAccount(query, &thread{}, &far)
	if ok, err := c.room(9 << 20); !ok || err != nil {
		t.Fatal(ok, err)
	}
	if ok, err := b.room(3 << 20); !ok || err != nil || far != 0 || !c.wanted() {
		t.Fatal(ok, err, far, c.wanted())
	}
	if ok, err := c.room(9 << 20); ok || err != nil {
		t.Fatal("the promise was not kept", ok, err)
	}
	c.kept(0)
	if query.promised != 0 || server.promised != 0 || c.wanted() {
		t.Fatalf("%d and %d bytes are still promised", query.promised, server.promised)
	}
	if err := query.Grow(20<<20, "rigid"); err == nil {
		t.Fatal("more than there is")
	}
	for _, x := range []*account{a, b, c} {
		x.close()
	}
	if query.Used() != 0 || server.Used() != 0 || len(query.spillers) != 0 || len(server.spillers) != 0 {
		t.Fatal("something is held")
	}
}

// wideTable has n rows with keys that are spread, and texts.
func wideTable(n int) *memTable {
	tab := &memTable{t: makeTable("t", dataCols[:3]...)}
	for i := range n {
		tab.rows = append(tab.rows, []value.Datum{value.Int(int64(i * 7919 % n)), value.Int(int64(i % 17)), value.String(fmt.Sprintf("text %d", i*31%n))})
	}
	return tab
}

// TestNothingToSpill: an account that has nothing to spill is refused what goes beyond the
// limit, and is not requested to spill; buffers are held beyond it, up to a bound, and what
// was held beyond it is not room for more.
func TestNothingToSpill(t *testing.T) {
	const limit = 10 << 20
	query := NewTracker("server", 0).Child("query", limit)
	a := &account{t: query, operator: "list", thread: &thread{}}
	a.relief = func() (bool, error) { return false, nil }
	held, buffers := int64(0), int64(0)
	fit := func(n, b int64) error {
		held, buffers = n, b
		return a.fit(func() int64 { return held }, func() int64 { return buffers })
	}
	if err := errors.Join(fit(limit/2, 0), fit(limit, 0)); err != nil {
		t.Fatal(err)
	}
	var refused *sqlerr.Error
	if err := fit(limit+1, 0); !errors.As(err, &refused) || refused.Number != 3170 {
		t.Fatalf("more than the limit: %v", err)
	}
	if top, _ := query.biggest(nil); top != nil || query.promised != 0 {
		t.Errorf("it is requested to spill, %d bytes are promised", query.promised)
	}
	if err := fit(limit+limit/2, limit/2); err != nil {
		t.Errorf("with buffers: %v", err)
	}
	if err := fit(limit+limit, limit+1); !errors.As(err, &refused) {
		t.Errorf("with large buffers: %v", err)
	}
	a.close()
	var spills int
	b := spillingAccount(query, &thread{}, &spills)
	b.must(limit + limit/2) // a batch that was larger
	if ok, err := b.room(limit + limit/4); ok || err != nil {
		t.Errorf("room for what must took: %v, %v", ok, err)
	}
	b.lower(limit / 2)
	if ok, err := b.room(limit / 2); !ok || err != nil {
		t.Errorf("no room for what is below the limit: %v, %v", ok, err)
	}
	b.close()
	if query.Used() != 0 {
		t.Errorf("%d bytes are held", query.Used())
	}
}

// TestTightMemory: a pipeline of operators that all need more than there is
// gives the answer that it gives with all memory, also together with others that share
// a server's limit.
func TestTightMemory(t *testing.T) {
	tab := wideTable(testflag.InShort(10_000, 30_000))
	scan := scanOf(tab.t)
	join := &physical.HashJoin{Base: joinCols(scan, scan), Kind: physical.JoinLeft, Left: scan, Right: scan, LeftKeys: []expr.Expr{ref(scan, 2)}, RightKeys: []expr.Expr{ref(scan, 2)}}
	aggs := []*expr.Agg{agg("count", false), agg("sum", false, at(3, types.BigInt)), agg("count", true, at(1, types.BigInt))}
	base, group := aggBase(join, []int{2, 0}, aggs)
	grouped := &physical.HashAggregate{Base: base, Input: join, GroupBy: group, Aggs: aggs, Parallel: 2}
	sorted := &physical.Sort{Base: base, Input: grouped, Keys: []physical.SortKey{{Expr: ref(grouped, 0), Desc: true}, {Expr: ref(grouped, 1)}}}
	wide, wgroup := aggBase(scan, []int{2}, aggs[:1])
	parallel := &physical.HashAggregate{Base: wide, Input: scan, GroupBy: wgroup, Aggs: aggs[:1], Parallel: 4}
	// The left rows are in memory when the sort of the right ones begins, which takes it.
	few := wideTable(3000)
	fewScan := scanOf(few.t)
	right := &physical.Sort{Base: scan.Base, Input: scan, Keys: []physical.SortKey{{Expr: ref(scan, 0)}}}
	marked := &physical.HashJoin{Base: fewScan.Base, Kind: physical.JoinAnti, Left: fewScan, Right: right, BuildLeft: true,
		LeftKeys: []expr.Expr{ref(fewScan, 2)}, RightKeys: []expr.Expr{ref(right, 2)}, Filter: []expr.Expr{fn(">", at(0, types.BigInt), at(len(fewScan.Cols), types.BigInt))}}
	run := func(plan physical.Node, memory *Tracker, disk *spill.Disk) ([]string, error) {
		src := newSource(tab, few)
		src.size, src.parts = 1000, 4
		env := testEnv(src)
		env.Memory, env.Spill, env.Parallelism = memory, disk, 4
		defer memory.Close()
		out, err := collect(context.Background(), env, &physical.Plan{Root: plan})
		if plan != physical.Node(sorted) {
			sort.Strings(out)
		}
		return out, err
	}
	server := NewTracker("server", 3<<20)
	disk, err := spill.Open(spill.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for _, plan := range []physical.Node{sorted, parallel, marked} {
		want, err := run(plan, NewTracker("query", 0), nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 3 {
			wg.Go(func() {
				got, err := run(plan, server.Child("query", 1<<20), disk)
				if err != nil || !slices.Equal(got, want) {
					t.Errorf("%v: %d rows, want %d", err, len(got), len(want))
				}
			})
		}
	}
	wg.Wait()
	if server.Used() != 0 || server.promised != 0 || len(server.spillers) != 0 {
		t.Fatalf("%d bytes held, %d promised, %d accounts", server.Used(), server.promised, len(server.spillers))
	}
	disk.Wait()
	if bytes, files := disk.Used(); bytes != 0 || files != 0 {
		t.Fatalf("%d bytes in %d files are left", bytes, files)
	}
	if _, bytes := disk.Total(); bytes == 0 {
		t.Fatal("nothing was put aside")
	}
	_, err = run(sorted, NewTracker("query", 1<<20), nil)
	var e *sqlerr.Error
	if !errors.As(err, &e) || e.Number != 3170 {
		t.Fatalf("without a disk: %v", err)
	}
}

// TestBudget: what a Budget holds is the tracker's, up to its limit, and nothing of it
// is left in the end.
func TestBudget(t *testing.T) {
	server := NewTracker("server", 2<<20)
	query := server.Child("query", 0)
	b := NewBudget(query, "work")
	if !b.Room(1<<20) || query.Used() != 1<<20 || len(server.spillers) != 1 {
		t.Fatalf("%d bytes of a megabyte, %d accounts", query.Used(), len(server.spillers))
	}
	if b.Room(3<<20) || query.Used() != 1<<20 {
		t.Fatalf("more than there is, %d bytes", query.Used())
	}
	if b.Hold(3 << 20); server.Used() != 3<<20 {
		t.Fatalf("%d bytes of three megabytes that are needed in any case", server.Used())
	}
	if b.Hold(1); query.Used() != accountStep {
		t.Fatalf("%d bytes of one", query.Used())
	}
	for range 2 {
		if b.Hold(0); server.Used() != 0 || query.Used() != 0 || len(server.spillers) != 0 || len(query.spillers) != 0 {
			t.Fatalf("%d bytes of none, %d accounts", server.Used(), len(server.spillers))
		}
		if !b.Room(1<<20) || len(server.spillers) != 1 || query.Used() != 1<<20 {
			t.Fatalf("%d bytes after others, %d accounts", query.Used(), len(server.spillers))
		}
	}
}

// TestSortedInputs: operators over a sorted input need memory for what belongs
// together, and count it.
func TestSortedInputs(t *testing.T) {
	tab := wideTable(20000)
	sort.SliceStable(tab.rows, func(i, j int) bool { return tab.rows[i][0].Int() < tab.rows[j][0].Int() })
	one := &memTable{t: makeTable("one", dataCols[:3]...)}
	long := &memTable{t: makeTable("long", dataCols[:3]...)}
	for i, r := range tab.rows {
		one.rows = append(one.rows, []value.Datum{r[0], value.Int(1), r[2]})
		if i < 2000 {
			long.rows = append(long.rows, []value.Datum{r[0], r[1], value.String(strings.Repeat("x", 4000))})
		}
	}
	distinct := func(sorted bool) physical.Node {
		scan := scanOf(tab.t)
		return &physical.Distinct{Base: scan.Base, Input: scan, Sorted: sorted}
	}
	group := func(tab *memTable, by int, a *expr.Agg) physical.Node {
		scan := scanOf(tab.t)
		base, exprs := aggBase(scan, []int{by}, []*expr.Agg{a})
		return &physical.StreamAggregate{Base: base, Input: scan, GroupBy: exprs, Aggs: []*expr.Agg{a}}
	}
	for _, c := range []struct {
		name        string
		node        physical.Node
		rows        int
		least, most int64 // bytes
		spills      bool
	}{
		{"distinct", distinct(true), 20000, 0, 128 << 10, false},
		{"distinct of no order", distinct(false), 20000, 512 << 10, 1<<20 + 256<<10, true},
		{"small groups", group(tab, 0, agg("max", false, at(2, dataCols[2].t))), 20000, 0, 512 << 10, false},
		{"long values", group(long, 0, agg("max", false, at(2, dataCols[2].t))), 2000, 128 << 10, 2 << 20, false},
		{"distinct values of one group", group(one, 1, agg("count", true, at(2, dataCols[2].t))), 1, 512 << 10, 1<<20 + 256<<10, true},
		{"distinct values of small groups", group(tab, 0, agg("count", true, at(2, dataCols[2].t))), 20000, 0, 1 << 20, false},
	} {
		src := newSource(tab, one, long)
		src.size = 300
		env := testEnv(src)
		disk, err := spill.Open(spill.Options{Dir: t.TempDir()})
		if err != nil {
			t.Fatal(err)
		}
		env.Memory, env.Spill = NewTracker("query", 1<<20), disk
		got, err := collect(t.Context(), env, &physical.Plan{Root: c.node})
		_, spilled := disk.Total()
		peak := env.Memory.Peak()
		if err != nil || len(got) != c.rows || peak < c.least || peak > c.most || c.spills != (spilled > 0) {
			t.Errorf("%s: %v, %d rows, want %d, at most %d bytes, %d spilled", c.name, err, len(got), c.rows, peak, spilled)
		}
		if c.rows == 1 && (len(got) != 1 || got[0] != "1|20000") {
			t.Errorf("%s: %v", c.name, got)
		}
		env.Memory.Close()
	}
}

// TestWindowReaders: what reads a large partition and its results from disk counts.
func TestWindowReaders(t *testing.T) {
	tab := &memTable{t: makeTable("t", dataCols[:3]...)}
	for i := range 4000 {
		tab.rows = append(tab.rows, []value.Datum{value.Int(int64(i)), value.Int(1), value.String(strings.Repeat("x", 1000))})
	}
	scan := scanOf(tab.t)
	const limit, funcs = 1 << 20, 100
	w := &physical.Window{Base: physical.Base{Cols: slices.Clone(scan.Cols)}, Input: scan}
	for range funcs {
		w.Funcs = append(w.Funcs, &expr.Window{Op: expr.WinRowNumber, T: types.BigInt})
		w.Cols = append(w.Cols, physical.Column{T: types.BigInt})
	}
	src := newSource(tab)
	src.size = 500
	env := testEnv(src)
	disk, err := spill.Open(spill.Options{Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	env.Memory, env.Spill = NewTracker("query", limit), disk
	n, least := int64(0), int64(limit)
	err = RunQuery(t.Context(), env, &physical.Plan{Root: w}, func(b *vec.Batch) error {
		least = min(least, env.Memory.Used())
		for r := range b.Live() {
			n++
			for f := range funcs {
				if x := b.Cols[3+f].I64[b.Row(r)]; x != n {
					return fmt.Errorf("row %d has number %d", n, x)
				}
			}
		}
		return nil
	})
	if _, spilled := disk.Total(); err != nil || n != 4000 || spilled == 0 || least < funcs*2<<10 {
		t.Errorf("%v: %d rows, %d bytes spilled, at least %d held", err, n, spilled, least)
	}
	env.Memory.Close()
}

// TestRowsOnDisk: a row of a subquery stays what it is when others are read, and
// when the rows are closed.
func TestRowsOnDisk(t *testing.T) {
	tab := wideTable(3000)
	scan := scanOf(tab.t)
	env := testEnv(newSource(tab))
	env.spillAlways(t, 500)
	b := newBuilder(env, env.Ctx.Fork())
	rows := &subqueryRows{ec: b.ec, ts: typesOf(scan.Cols), acct: b.account(scan, "subquery")}
	rows.rowBuffer = b.newRowBuffer(scan, kindsOf(scan.Cols), &rows.acct)
	for at := 0; at < len(tab.rows); at += 100 {
		in := batchOf(scan.Cols, tab.rows[at:at+100], scan.Read, false, nil)
		if err := rows.add(in.Cols, liveRows(in)); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.finish(); err != nil || rows.disk == nil || rows.Len() != len(tab.rows) {
		t.Fatal(err, rows.disk, rows.Len())
	}
	order := []int{0, 2999, 1500, 1, 1501, 2998, 0, 0, 750}
	var got []string
	var kept [][]value.Datum
	for _, i := range order {
		row, err := rows.Row(i)
		if err != nil {
			t.Fatal(err)
		}
		kept = append(kept, row)
	}
	rows.once = true
	rows.Release()
	want := []string{}
	for k, i := range order {
		got, want = append(got, rowText(scan.Cols, kept[k])), append(want, rowText(scan.Cols, tab.rows[i]))
	}
	if !slices.Equal(got, want) {
		t.Errorf("rows are %q, want %q", got, want)
	}
	rows.acct.close()
	if _, files := env.Spill.Used(); files != 0 || env.Memory.Used() != 0 {
		t.Errorf("%d files and %d bytes are left", files, env.Memory.Used())
	}
}

// BenchmarkSpill compares operators in memory with the same at a sixteenth of
// the memory that they take.
func BenchmarkSpill(b *testing.B) {
	const rows = 1 << 20
	src, scan := newBench(rows, rows)
	aggs := []*expr.Agg{agg("count", false), agg("max", false, ref(scan, 2))}
	base, group := aggBase(scan, []int{0}, aggs)
	distinct := []*expr.Agg{agg("count", true, ref(scan, 0))}
	dbase, _ := aggBase(scan, nil, distinct)
	for _, c := range []struct {
		name string
		node physical.Node
	}{
		{"sort", &physical.Sort{Base: scan.Base, Input: scan, Keys: []physical.SortKey{{Expr: ref(scan, 0)}}}},
		{"group", &physical.HashAggregate{Base: base, Input: scan, GroupBy: group, Aggs: aggs}},
		{"distinct", &physical.Distinct{Base: scan.Base, Input: scan}},
		{"count distinct", &physical.HashAggregate{Base: dbase, Input: scan, Aggs: distinct}},
		{"join", &physical.HashJoin{Base: joinCols(scan, scan), Kind: physical.JoinSemi, Left: scan, Right: scan, LeftKeys: []expr.Expr{ref(scan, 0)}, RightKeys: []expr.Expr{ref(scan, 0)}}},
	} {
		if s, ok := c.node.(*physical.HashJoin); ok {
			s.Base = scan.Base
		}
		var peak int64
		for _, where := range []string{"memory", "disk"} {
			b.Run(c.name+"/"+where, func(b *testing.B) {
				disk, err := spill.Open(spill.Options{Dir: b.TempDir()})
				if err != nil {
					b.Fatal(err)
				}
				for b.Loop() {
					env := testEnv(src)
					env.Memory, env.Spill = NewTracker("query", 0), disk
					if where == "disk" {
						env.Memory = NewTracker("query", max(peak/16, 1<<20))
					}
					runtime.GC()
					start := time.Now()
					if err := RunQuery(context.Background(), env, &physical.Plan{Root: c.node}, func(*vec.Batch) error { return nil }); err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(time.Since(start).Milliseconds()), "ms")
					if where == "memory" {
						peak = env.Memory.Peak()
					}
					b.ReportMetric(float64(env.Memory.Peak())/(1<<20), "MiB")
				}
			})
		}
	}
}
