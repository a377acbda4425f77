package expr

import (
	"fmt"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

func benchBatch() *vec.Batch {
	b := vec.NewBatch([]value.Kind{value.KindInt, value.KindInt, value.KindFloat, value.KindDecimal, value.KindBytes})
	b.N = vec.MaxRows
	for i := 0; i < b.N; i++ {
		b.Cols[0].I64[i] = int64(i * 7919 % 1000)
		b.Cols[1].I64[i] = int64(i)
		b.Cols[2].F64[i] = float64(i) / 3
		b.Cols[3].Dec[i] = value.DecimalFromInt(int64(i)).Rescale(2)
		b.Cols[4].Bytes[i] = []byte(fmt.Sprintf("name-%04d", i*7919%1000))
	}
	return b
}

func benchCol(i int, t schema.Type) Expr { return &Col{Index: i, T: t, Name: fmt.Sprintf("c%d", i)} }

func benchExprs() map[string]Expr {
	a, b := benchCol(0, intType()), benchCol(1, intType())
	f, d, s := benchCol(2, doubleType()), benchCol(3, decimalType(12, 2)), benchCol(4, textType(20, schema.CollationUTF8MB40900AICI))
	return map[string]Expr{
		"a+b": call("+", a, b), "a*b": call("*", a, b), "f*f": call("*", f, f), "d+d": call("+", d, d),
		"a<500": call("<", a, 500), "a<b": call("<", a, b), "f<100": call("<", f, 100.0), "s='x'": call("=", s, "name-0500"),
		"a>10 and a<500": call("and", call(">", a, 10), call("<", a, 500)),
		"a in 3":         call("in", a, 1, 2, 3), "a in 20": call("in", a, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20),
		"s like 'x%'": call("like", s, "name-05%"), "case": call("case", call("<", a, 500), a, b), "upper": call("upper", s), "a/b": call("/", a, b),
	}
}

func BenchmarkEval(b *testing.B) {
	in := benchBatch()
	for name, e := range benchExprs() {
		b.Run(name, func(b *testing.B) {
			c := testCtx(nil)
			b.ReportAllocs()
			for b.Loop() {
				v, err := Eval(c, e, in)
				if err != nil {
					b.Fatal(err)
				}
				c.Release(v)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(in.N), "ns/row")
		})
	}
}

func BenchmarkFilter(b *testing.B) {
	in := benchBatch()
	for name, e := range benchExprs() {
		if kindOf(e) != value.KindInt || e.Type().Len != 1 {
			continue
		}
		b.Run(name, func(b *testing.B) {
			c := testCtx(nil)
			b.ReportAllocs()
			for b.Loop() {
				in.HasSel = false
				if err := EvalFilter(c, e, in); err != nil {
					b.Fatal(err)
				}
			}
			in.HasSel = false
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(in.N), "ns/row")
		})
	}
}

// TestHotKernelsDoNotAllocate guards the steady state of the kernels.
func TestHotKernelsDoNotAllocate(t *testing.T) {
	in := benchBatch()
	for _, name := range []string{"a+b", "a*b", "f*f", "a<500", "a<b", "f<100", "s='x'", "a>10 and a<500", "a in 3", "a in 20", "case"} {
		e := benchExprs()[name]
		c := testCtx(nil)
		run := func() {
			in.HasSel = false
			v, err := Eval(c, e, in)
			if err != nil {
				t.Fatal(err)
			}
			c.Release(v)
			if e.Type().Len == 1 {
				if err := EvalFilter(c, e, in); err != nil {
					t.Fatal(err)
				}
			}
		}
		run()
		if n := testing.AllocsPerRun(20, run); n > 0 {
			t.Errorf("%s: %v allocations a batch", name, n)
		}
	}
}
