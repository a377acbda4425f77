package exec

import (
	"context"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// benchSource scans the same few batches again and again, at no cost: what is
// measured is the operator above.
type benchSource struct {
	memSource
	batches []*vec.Batch
	rows    int
}

func (s *benchSource) Scan(context.Context, *expr.Ctx, physical.TableNode, Partition) (Operator, error) {
	return &benchScan{s: s}, nil
}

type benchScan struct {
	s    *benchSource
	sent int
}

func (b *benchScan) Next(context.Context) (*vec.Batch, error) {
	if b.sent >= b.s.rows {
		return nil, nil
	}
	out := b.s.batches[b.sent/vec.MaxRows%len(b.s.batches)]
	b.sent += vec.MaxRows
	out.HasSel, out.N = false, vec.MaxRows
	return out, nil
}

func (b *benchScan) Close() error { return nil }

// newBench makes rows of (k = pseudo random, g = k mod groups, s = one of 100
// texts, d decimal).
func newBench(rows, groups int) (*benchSource, *physical.Scan) {
	text := types.VarcharOf(20, schema.CollationUTF8MB40900AICI)
	t := makeTable("t", col{"k", types.BigInt}, col{"g", types.BigInt}, col{"s", text}, col{"d", types.DecimalOf(10, 2)})
	for i := range t.Columns {
		t.Columns[i].Nullable = false
	}
	s := &benchSource{rows: rows}
	scan := scanOf(t)
	x := uint64(1)
	for range 64 {
		b := newOut(kindsOf(scan.Cols))
		b.N = vec.MaxRows
		for _, v := range b.Cols {
			v.Init(v.Kind, b.N)
		}
		for i := range b.N {
			x = x*6364136223846793005 + 1442695040888963407
			k := int64(x >> 33)
			b.Cols[0].I64[i], b.Cols[1].I64[i] = k, k%int64(groups)
			b.Cols[2].SetDatum(i, value.String("text number "+string(rune('a'+k%10))+string(rune('a'+k/10%10))))
			b.Cols[3].Dec[i] = value.DecimalFromInt128(0, uint64(k%100000), 2)
		}
		s.batches = append(s.batches, b)
	}
	return s, scan
}

func benchPlan(b *testing.B, src *benchSource, root physical.Node) {
	b.Helper()
	b.ReportAllocs()
	for b.Loop() {
		env := testEnv(src)
		if err := RunQuery(context.Background(), env, &physical.Plan{Root: root}, func(*vec.Batch) error { return nil }); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(src.rows), "ns/row")
}

const benchRows = 1 << 20

func benchAgg(b *testing.B, groups int, by []int, name string, arg int) {
	src, scan := newBench(benchRows, groups)
	plain := func(i int) expr.Expr { c := ref(scan, i); c.Null = false; return c }
	aggs := []*expr.Agg{agg(name, false, plain(arg))}
	base, group := aggBase(scan, by, aggs)
	benchPlan(b, src, &physical.HashAggregate{Base: base, Input: scan, GroupBy: group, Aggs: aggs})
}

func BenchmarkScan(b *testing.B) {
	src, scan := newBench(benchRows, 10)
	benchPlan(b, src, scan)
}

func BenchmarkSumInt(b *testing.B)            { benchAgg(b, 10, nil, "sum", 0) }
func BenchmarkSumDecimal(b *testing.B)        { benchAgg(b, 10, nil, "sum", 3) }
func BenchmarkMaxInt(b *testing.B)            { benchAgg(b, 10, nil, "max", 0) }
func BenchmarkGroupBy1000Ints(b *testing.B)   { benchAgg(b, 1000, []int{1}, "sum", 0) }
func BenchmarkGroupBy100Texts(b *testing.B)   { benchAgg(b, 1000, []int{2}, "sum", 0) }
func BenchmarkGroupByIntAndText(b *testing.B) { benchAgg(b, 100, []int{1, 2}, "sum", 0) }

func BenchmarkTop10(b *testing.B) {
	src, scan := newBench(benchRows, 10)
	key := ref(scan, 0)
	key.Null = false
	benchPlan(b, src, &physical.TopK{Base: scan.Base, Input: scan, Keys: []physical.SortKey{{Expr: key, Desc: true}}, Count: num(10)})
}

func BenchmarkSort(b *testing.B) {
	src, scan := newBench(1<<18, 10)
	benchPlan(b, src, &physical.Sort{Base: scan.Base, Input: scan, Keys: []physical.SortKey{{Expr: ref(scan, 0)}}})
}

func BenchmarkHashJoinProbe(b *testing.B) {
	src, scan := newBench(benchRows, 1000)
	values := &physical.Values{Base: outCols(types.BigInt, types.BigInt)}
	for i := range 1000 {
		values.Rows = append(values.Rows, []expr.Expr{num(int64(i)), num(int64(i * 10))})
	}
	benchPlan(b, src, &physical.HashJoin{Base: joinCols(scan, values), Left: scan, Right: values,
		LeftKeys: []expr.Expr{ref(scan, 1)}, RightKeys: []expr.Expr{ref(values, 0)}})
}

func BenchmarkPoint(b *testing.B) {
	src, scan := newBench(1, 10)
	p := &physical.Project{Base: outCols(types.BigInt), Input: scan, Exprs: []expr.Expr{ref(scan, 0)}}
	benchPlan(b, src, p)
}
