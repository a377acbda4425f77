package exec

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sort"
	"sync"
	"testing"
	"time"

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

// TestTightMemory: a pipeline of operators that all need more than there is
// gives the answer that it gives with all memory, also together with others that share
// a server's limit.
func TestTightMemory(t *testing.T) {
	tab := wideTable(30000)
	scan := scanOf(tab.t)
	join := &physical.HashJoin{Base: joinCols(scan, scan), Kind: physical.JoinLeft, Left: scan, Right: scan, LeftKeys: []expr.Expr{ref(scan, 2)}, RightKeys: []expr.Expr{ref(scan, 2)}}
	aggs := []*expr.Agg{agg("count", false), agg("sum", false, at(3, types.BigInt)), agg("count", true, at(1, types.BigInt))}
	base, group := aggBase(join, []int{2, 0}, aggs)
	grouped := &physical.HashAggregate{Base: base, Input: join, GroupBy: group, Aggs: aggs, Parallel: 2}
	sorted := &physical.Sort{Base: base, Input: grouped, Keys: []physical.SortKey{{Expr: ref(grouped, 0), Desc: true}, {Expr: ref(grouped, 1)}}}
	wide, wgroup := aggBase(scan, []int{2}, aggs[:1])
	parallel := &physical.HashAggregate{Base: wide, Input: scan, GroupBy: wgroup, Aggs: aggs[:1], Parallel: 4}
	run := func(plan physical.Node, memory *Tracker, disk *spill.Disk) ([]string, error) {
		src := newSource(tab)
		src.size, src.parts = 1000, 4
		env := testEnv(src)
		env.Memory, env.Spill, env.Parallelism = memory, disk, 4
		defer memory.Close()
		out, err := collect(context.Background(), env, &physical.Plan{Root: plan})
		if plan == physical.Node(parallel) {
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
	for _, plan := range []physical.Node{sorted, parallel} {
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
