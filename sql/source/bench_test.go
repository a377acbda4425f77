package source

import (
	"math/rand"
	"syscall"
	"testing"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/pebblekv"
	"github.com/sqlots/sqlots/value"
)

const benchRows = 200_000

func openBench(b *testing.B) (storage.Store, *schema.Table, *decode.Codecs) {
	b.Helper()
	store, err := pebblekv.Open(pebblekv.Options{Dir: b.TempDir()})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { store.Close() })
	tab, codecs := fillCalls(b, store, benchRows)
	return store, tab, codecs
}

func run(b *testing.B, s *Source, ec *expr.Ctx, n *testScan) (rows int, sum int64) {
	b.Helper()
	op, err := s.Scan(ctx, ec, n.node(), nil)
	if err != nil {
		b.Fatal(err)
	}
	defer op.Close()
	for {
		batch, err := op.Next(ctx)
		if err != nil {
			b.Fatal(err)
		}
		if batch == nil {
			return rows, sum
		}
		rows += batch.Live()
		for _, c := range batch.Cols {
			for _, v := range c.I64[:batch.N] {
				sum += v
			}
		}
	}
}

// cpu is the processor time that the process has used. On a busy machine it is
// more reliable than the clock.
func cpu() time.Duration {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

func perRow(b *testing.B, rows int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(rows), "ns/row")
}

func BenchmarkSource(b *testing.B) {
	store, tab, codecs := openBench(b)
	snap, err := store.Snapshot(ctx)
	if err != nil {
		b.Fatal(err)
	}
	defer snap.Close()
	s := New(Env{Store: store, View: snap, Codecs: codecs})
	ec := ectx(time.UTC)
	none := physical.Lock{None: true}
	full := func(name string, x *schema.Index, read ...int) {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			n := &testScan{TableRead: physical.TableRead{Table: tab, Read: read, Lock: none}, Index: x}
			rows := 0
			start := cpu()
			for b.Loop() {
				rows, _ = run(b, s, ec, n)
			}
			b.ReportMetric(float64(cpu()-start)/float64(b.N)/float64(rows), "cpu-ns/row")
			if rows != benchRows {
				b.Fatal(rows)
			}
			perRow(b, rows)
		})
	}
	full("scan 2 of 5 columns", nil, 3, 4)
	full("scan key and value", nil, 0, 3)
	full("scan all columns", nil, 0, 1, 2, 3, 4)
	full("count", nil)
	full("covering entries", &tab.Indexes[0], 3, 4)
	full("covering keys", &tab.Indexes[0], 4)
	point := func(conds []expr.Expr, x *schema.Index, read []int) *testScan {
		n := &testScan{TableRead: physical.TableRead{Table: tab, Read: read, Lock: none}, Index: x}
		n.Ranges, n.Filter = ranges.Build(keyColumns(tab, x), conds)
		if x == nil && n.Ranges.Point {
			n.Point = true
		}
		return n
	}
	eq := func(pos, param int) expr.Expr {
		e, err := expr.NewFunc(nil, "=", col(tab, pos), &expr.Param{Index: param, T: types.BigInt})
		if err != nil {
			b.Fatal(err)
		}
		return e
	}
	r := rand.New(rand.NewSource(1))
	b.Run("point get", func(b *testing.B) {
		b.ReportAllocs()
		n := point([]expr.Expr{eq(0, 0), eq(1, 1)}, nil, []int{2, 3, 4})
		ec.Params = make([]value.Datum, 2)
		for b.Loop() {
			i := r.Intn(benchRows)
			ec.Params[0], ec.Params[1] = value.Int(int64(i/2)), value.Int(int64(1_600_000_000+i))
			if rows, _ := run(b, s, ec, n); rows != 1 {
				b.Fatal(rows)
			}
		}
	})
	b.Run("index and look-up of 200", func(b *testing.B) {
		b.ReportAllocs()
		n := point([]expr.Expr{eq(4, 0)}, &tab.Indexes[0], []int{2, 3, 4})
		n.Lookup = true
		rows := 0
		for b.Loop() {
			ec.Params = []value.Datum{value.Int(int64(r.Intn(1000)))}
			rows, _ = run(b, s, ec, n)
		}
		perRow(b, rows)
	})
	b.Run("insert", func(b *testing.B) {
		b.ReportAllocs()
		txn, err := store.Begin(ctx, storage.TxnOptions{})
		if err != nil {
			b.Fatal(err)
		}
		defer txn.Rollback()
		w := New(Env{Store: store, View: txn, Txn: txn, Codecs: codecs})
		i := int64(0)
		for b.Loop() {
			i++
			row := []value.Datum{value.Int(1 << 40), value.Int(i), value.Int(i), value.Int(3), value.Int(i % 1000)}
			if err := w.Insert(ctx, tab, row, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}
