package stats

import (
	"context"
	"fmt"
	"math"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/value"
)

func TestMain(m *testing.M) { testflag.Main(m) }

// newTable is (id BIGINT PRIMARY KEY, g INT, v INT, KEY (g, v)).
func newTable() *schema.Table {
	col := func(id int, name string, t schema.Type) schema.Column {
		return schema.Column{ID: schema.ColumnID(id), Name: name, Type: t, Nullable: id > 1}
	}
	return &schema.Table{ID: 7, Database: "d", Name: "t", Columns: []schema.Column{col(1, "id", types.BigInt), col(2, "g", types.BigInt), col(3, "v", types.BigInt)},
		PrimaryKey: []schema.KeyPart{{Column: 1}}, NextColumnID: 4, NextIndexID: 2,
		Indexes: []schema.Index{{ID: 1, Name: "gv", Parts: []schema.KeyPart{{Column: 2}, {Column: 3}}}}}
}

// fill writes the rows from..to-1: g has groups values, v two.
func fill(t testing.TB, store storage.Store, tab *schema.Table, from, to, groups int) {
	t.Helper()
	codec, err := decode.NewCodecs(nil).Get(tab)
	if err != nil {
		t.Fatal(err)
	}
	txn, err := store.Begin(t.Context(), storage.TxnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer txn.Rollback()
	w := codec.NewWriter(txn, store.Caps())
	for i := from; i < to; i++ {
		row := []value.Datum{value.Int(int64(i)), value.Int(int64(i % groups)), value.Int(int64(i % 2))}
		if _, err := w.Insert(context.Background(), row); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := txn.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func within(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if math.Abs(got-want) > tolerance*want {
		t.Errorf("%s: %.0f, want about %.0f", what, got, want)
	}
}

func TestTableRows(t *testing.T) {
	store := memkv.New(memkv.Options{})
	e := New(store, decode.NewCodecs(nil))
	now := time.Unix(1000, 0)
	e.now = func() time.Time { return now }
	tab := newTable()
	within(t, "empty", e.TableRows(t.Context(), tab), 0, 0)
	fill(t, store, tab, 0, 1500, 10)
	within(t, "not told", e.TableRows(t.Context(), tab), 0, 0)
	e.Changed(tab, 1500)
	within(t, "small", e.TableRows(t.Context(), tab), 1500, 0)
	fill(t, store, tab, 1500, 60000, 10)
	e.Changed(tab, 58500)
	within(t, "large", e.TableRows(t.Context(), tab), 60000, 0.02)
	fill(t, store, tab, 60000, 90000, 10)
	now = now.Add(time.Hour)
	within(t, "old", e.TableRows(t.Context(), tab), 90000, 0.02)
	e.Forget(tab.ID)
	within(t, "forgotten", e.TableRows(t.Context(), tab), 90000, 0.02)
}

func TestSpanRows(t *testing.T) {
	store := memkv.New(memkv.Options{})
	e := New(store, decode.NewCodecs(nil))
	tab := newTable()
	fill(t, store, tab, 0, 60000, 100)
	i := func(v ...int64) (out []value.Datum) {
		for _, x := range v {
			out = append(out, value.Int(x))
		}
		return out
	}
	for _, c := range []struct {
		name      string
		index     *schema.Index
		spans     []ranges.Span
		want, tol float64
	}{
		{"none", nil, nil, 0, 0},
		{"point", nil, []ranges.Span{{Low: i(5), High: i(5)}}, 1, 0},
		{"short range", nil, []ranges.Span{{Low: i(5), LowOpen: true, High: i(105)}}, 100, 0},
		{"long range", nil, []ranges.Span{{Low: i(30000)}}, 30000, 0.1},
		{"two ranges", nil, []ranges.Span{{High: i(20000), HighOpen: true}, {Low: i(30000)}}, 50000, 0.1},
		{"group", &tab.Indexes[0], []ranges.Span{{Low: i(3), High: i(3)}}, 600, 0},
		{"group and value", &tab.Indexes[0], []ranges.Span{{Low: i(3, 1), High: i(3, 1)}}, 600, 0},
		{"absent", &tab.Indexes[0], []ranges.Span{{Low: i(3, 0), High: i(3, 0)}}, 0, 0},
	} {
		got, ok := e.SpanRows(t.Context(), tab, c.index, c.spans)
		if !ok {
			t.Errorf("%s: unknown", c.name)
		}
		within(t, c.name, got, c.want, c.tol)
	}
	var many []ranges.Span
	for k := range int64(1000) {
		many = append(many, ranges.Span{Low: i(k * 10), High: i(k * 10)})
	}
	got, _ := e.SpanRows(t.Context(), tab, nil, many)
	within(t, "many points", got, 1000, 0)
	if _, ok := e.SpanRows(t.Context(), tab, &schema.Index{ID: 99}, many); ok {
		t.Error("an index that does not exist has an estimate")
	}
}

func TestDistinct(t *testing.T) {
	testflag.Normal(t)
	store := memkv.New(memkv.Options{})
	e := New(store, decode.NewCodecs(nil))
	few, many := newTable(), newTable()
	many.ID = 8
	fill(t, store, few, 0, 20000, 100)
	fill(t, store, many, 0, 20000, 5000)
	within(t, "key", e.Distinct(t.Context(), few, []schema.ColumnID{1}), 20000, 0)
	within(t, "few", e.Distinct(t.Context(), few, []schema.ColumnID{2}), 100, 0)
	within(t, "few pairs", e.Distinct(t.Context(), few, []schema.ColumnID{3, 2}), 100, 0)
	within(t, "many", e.Distinct(t.Context(), many, []schema.ColumnID{2}), 5000, 0.3)
	long := newTable()
	long.ID = 9
	fill(t, store, long, 0, 200000, 400) // runs of 500 keys
	within(t, "long runs", e.Distinct(t.Context(), long, []schema.ColumnID{2}), 400, 0.15)
	within(t, "unknown", e.Distinct(t.Context(), few, []schema.ColumnID{3}), 0, 0)
	if err := e.Analyze(context.Background(), many); err != nil {
		t.Fatal(err)
	}
	e = New(store, decode.NewCodecs(nil)) // ANALYZE lasts
	within(t, "analyzed", e.Distinct(t.Context(), many, []schema.ColumnID{3}), 2, 0)
	within(t, "analyzed key and value", e.Distinct(t.Context(), many, []schema.ColumnID{3, 1}), 20000, 0)
	if err := Remove(context.Background(), store, many.ID); err != nil {
		t.Fatal(err)
	}
	e = New(store, decode.NewCodecs(nil))
	within(t, "removed", e.Distinct(t.Context(), many, []schema.ColumnID{3}), 0, 0)
}

func TestSketch(t *testing.T) {
	for _, n := range []int{0, 1, 10, 1000, 100000} {
		var s sketch
		h := uint64(1)
		for i := range n {
			h = (uint64(i) + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9
			h ^= h >> 27
			h *= 0x94d049bb133111eb
			h ^= h >> 31
			s.add(h)
		}
		within(t, fmt.Sprint(n), float64(s.count()), float64(n), 0.1)
	}
	// All in one register.
	for _, n := range []int{1, 10, fewHashes} {
		var s sketch
		for i := range 3 * n {
			s.add(uint64(i%n)<<10 | 7)
		}
		within(t, fmt.Sprint(n, " of one register"), float64(s.count()), float64(n), 0)
	}
}

func TestConcurrent(t *testing.T) {
	store := memkv.New(memkv.Options{})
	e := New(store, decode.NewCodecs(nil))
	tab := newTable()
	fill(t, store, tab, 0, 3000, 30)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range 50 {
				e.Changed(tab, 100)
				e.TableRows(t.Context(), tab)
				e.Distinct(t.Context(), tab, []schema.ColumnID{2})
				e.SpanRows(t.Context(), tab, &tab.Indexes[0], []ranges.Span{{Low: []value.Datum{value.Int(3)}, High: []value.Datum{value.Int(3)}}})
			}
		})
	}
	wg.Wait()
	within(t, "rows", e.TableRows(t.Context(), tab), 3000, 0)
}

func BenchmarkSpanRows(b *testing.B) {
	store := memkv.New(memkv.Options{})
	e := New(store, decode.NewCodecs(nil))
	tab := newTable()
	fill(b, store, tab, 0, 60000, 500)
	spans := []ranges.Span{{Low: []value.Datum{value.Int(3)}, High: []value.Datum{value.Int(3)}}}
	e.TableRows(b.Context(), tab)
	b.ReportAllocs()
	for b.Loop() {
		e.SpanRows(b.Context(), tab, &tab.Indexes[0], spans)
	}
}

// TestSample: rows from all over the table, read again when it has changed.
func TestSample(t *testing.T) {
	store := memkv.New(memkv.Options{})
	e := New(store, decode.NewCodecs(nil))
	tab := newTable()
	fill(t, store, tab, 0, 900, 10)
	if e.Sample(t.Context(), tab) != nil {
		t.Error("a small table needs no sample")
	}
	fill(t, store, tab, 900, 20000, 10)
	e.Changed(tab, 19100)
	x := e.Sample(t.Context(), tab)
	if x == nil || len(x.Rows) < sampleRows*3/4 || len(x.Rows) > sampleRows*5/4 {
		t.Fatalf("no sample, or one of another size: %v", x)
	}
	var tenths [10]int
	last := int64(-1)
	for _, row := range x.Rows {
		id := row[0].Int()
		if id <= last {
			t.Fatalf("row %d behind %d", id, last)
		}
		last = id
		tenths[id/2000]++
	}
	for i, n := range tenths {
		if n < sampleRows/20 {
			t.Errorf("%d rows from tenth %d", n, i)
		}
	}
	e.Changed(tab, 100)
	if e.Sample(t.Context(), tab) != x {
		t.Error("a little changed, and the sample is another")
	}
	e.Changed(tab, 10000)
	if e.Sample(t.Context(), tab) == x {
		t.Error("much changed, and the sample is the same")
	}
}
