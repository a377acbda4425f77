package ranges

import (
	"bytes"
	"fmt"
	"math/rand"
	"testing"
	"time"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// kit is a column type with stored values and with constants to compare with.
type kit struct {
	name   string
	col    Column
	values []value.Datum
	consts []expr.Expr
	like   []string
}

func konst(d value.Datum, t schema.Type) expr.Expr { return expr.NewConst(d, t) }

func dec(t testing.TB, s string) value.Decimal {
	t.Helper()
	d, err := value.ParseDecimal(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func text(s string, c schema.CollationID) expr.Expr {
	return konst(value.String(s), types.VarcharOf(len(s), c))
}

func instant(t testing.TB, s string, typ schema.Type) value.Datum {
	t.Helper()
	v, ok, err := types.ParseTime(&types.Env{Loc: time.UTC}, []byte(s), typ)
	if err != nil || !ok {
		t.Fatalf("%s: %v", s, err)
	}
	return value.TimeOf(v)
}

func numberConsts(t testing.TB) []expr.Expr {
	var out []expr.Expr
	for _, v := range []int64{-9223372036854775808, -129, -128, -2, -1, 0, 1, 2, 3, 127, 128, 255, 256, 9223372036854775807} {
		out = append(out, konst(value.Int(v), types.BigInt))
	}
	for _, v := range []uint64{0, 2, 255, 9223372036854775808, 18446744073709551615} {
		out = append(out, konst(value.Uint(v), types.UBigInt))
	}
	for _, s := range []string{"-1.5", "-0.5", "0.5", "1.25", "1.250", "1.5", "2.0", "99999999999999999999.5", "-99999999999999999999"} {
		d := dec(t, s)
		out = append(out, konst(value.Dec(d), types.DecimalOf(30, d.Scale())))
	}
	for _, f := range []float64{-1e300, -1.5, -0.1, 0, 0.1, 0.1000000014901161, 1.5, 2, 2.5, 1e39, 1e300} {
		out = append(out, konst(value.Float(f), types.Double))
	}
	return append(out, konst(value.Null, types.Null))
}

func kits(t testing.TB) []kit {
	ints := func(list ...int64) (out []value.Datum) {
		for _, v := range list {
			out = append(out, value.Int(v))
		}
		return out
	}
	uints := func(list ...uint64) (out []value.Datum) {
		for _, v := range list {
			out = append(out, value.Uint(v))
		}
		return out
	}
	floats := func(list ...float64) (out []value.Datum) {
		for _, v := range list {
			out = append(out, value.Float(v))
		}
		return out
	}
	var singles, decs []value.Datum
	for _, f := range []float64{-2, -0.1, 0, 0.1, 1.5, 2, 3e38} {
		singles = append(singles, value.Float(float64(float32(f))))
	}
	for _, s := range []string{"-2.00", "-0.50", "0.00", "0.10", "1.25", "1.50", "2.00", "999.99"} {
		decs = append(decs, value.Dec(dec(t, s)))
	}
	num := numberConsts(t)
	tiny, utiny := types.BigInt, types.BigInt
	tiny.ID, utiny.ID, utiny.Unsigned = schema.TypeTinyInt, schema.TypeTinyInt, true
	single := types.Double
	single.ID = schema.TypeFloat
	dateT, dt0, dt3 := types.Date, types.DatetimeOf(0), types.DatetimeOf(3)
	stamp := dt3
	stamp.ID = schema.TypeTimestamp
	var dates, times0, times3, timeConsts []value.Datum
	for _, s := range []string{"2024-01-01", "2024-01-02", "2024-02-29", "1999-12-31"} {
		dates = append(dates, instant(t, s, dateT))
	}
	for _, s := range []string{"2024-01-01 00:00:00", "2024-01-01 00:00:01", "2024-01-02 12:00:00"} {
		times0 = append(times0, instant(t, s, dt0))
	}
	times3 = append(times3, times0...)
	for _, s := range []string{"2024-01-01 00:00:00.500", "2024-01-01 00:00:00.501", "2024-01-01 23:59:59.999"} {
		times3 = append(times3, instant(t, s, dt3))
	}
	timeConsts = append(append([]value.Datum(nil), times3...), instant(t, "2024-01-01 00:00:00.500001", types.DatetimeOf(6)))
	var when []expr.Expr
	for _, d := range timeConsts {
		when = append(when, konst(d, types.DatetimeOf(6)))
	}
	for _, d := range dates {
		when = append(when, konst(d, dateT))
	}
	when = append(when, konst(value.Null, types.Null))
	out := []kit{
		{name: "tinyint", col: Column{Type: tiny}, values: ints(-128, -2, -1, 0, 1, 2, 127), consts: num},
		{name: "tinyint unsigned", col: Column{Type: utiny}, values: uints(0, 1, 2, 127, 128, 255), consts: num},
		{name: "bigint", col: Column{Type: types.BigInt}, values: ints(-9223372036854775808, -1, 0, 1, 2, 9223372036854775807), consts: num},
		{name: "bigint unsigned", col: Column{Type: types.UBigInt}, values: uints(0, 1, 2, 9223372036854775808, 18446744073709551615), consts: num},
		{name: "decimal", col: Column{Type: types.DecimalOf(5, 2)}, values: decs, consts: num},
		{name: "float", col: Column{Type: single}, values: singles, consts: num},
		{name: "double", col: Column{Type: types.Double}, values: floats(-1e300, -1.5, 0, 0.1, 1.5, 2, 1e300), consts: num},
		{name: "date", col: Column{Type: dateT}, values: dates, consts: when},
		{name: "datetime", col: Column{Type: dt0}, values: times0, consts: when},
		{name: "datetime(3)", col: Column{Type: dt3}, values: times3, consts: when},
		{name: "timestamp(3)", col: Column{Type: stamp}, values: times3, consts: when},
	}
	words := []string{"", "a", "A", "ab", "abc", "aBcd", "abd", "ab ", "ab  c", "b", "ss", "ß", "s", "sst", "ä", "a\u0301b", "á", "ab\tc", "a\x01b", "%a", "a%b", `a\b`, "zz", "ﬃx", "ffix"}
	for _, c := range []schema.CollationID{schema.CollationUTF8MB40900AICI, schema.CollationUTF8MB4Bin, schema.CollationUTF8MB4GeneralCI,
		schema.CollationUTF8MB4UnicodeCI, schema.CollationBinary, 278 /* 0900_as_cs */, 309 /* 0900_bin */} {
		coll, ok := collate.Lookup(c)
		if !ok {
			t.Fatalf("collation %d", c)
		}
		typ := types.VarcharOf(20, c)
		if c == schema.CollationBinary {
			typ.ID = schema.TypeVarbinary
		}
		for _, prefix := range []int{0, 1, 2, 3} {
			k := kit{name: fmt.Sprintf("%s(%d)", coll.Name, prefix), col: Column{Type: typ, Prefix: prefix},
				like: []string{"a%", "ab%", "ab %", "%b", "a_c", "", "%", "ss%", "ß%", `a\%%`, `a\\%`, "a\x01%", "abc", "ab", "s%"}}
			for _, w := range words {
				k.values = append(k.values, value.String(w))
				k.consts = append(k.consts, text(w, c))
			}
			k.consts = append(k.consts, konst(value.Null, types.Null))
			out = append(out, k)
		}
	}
	return out
}

// keyed are the values as a key has them: cut to a part's prefix.
func keyed(set *Set, row []value.Datum) []value.Datum {
	out := make([]value.Datum, len(set.Columns))
	for i, c := range set.Columns {
		d := row[c.Table]
		if c.Prefix > 0 && !d.IsNull() {
			s := d.Bytes()
			n := min(len(s), c.Prefix)
			if c.Type.IsCharacter() {
				n = collate.Must(c.Type.Collation).PrefixLen(s, c.Prefix)
			}
			d = value.Bytes(s[:n])
		}
		out[i] = d
	}
	return out
}

// inAny counts the spans that hold a key.
func inAny(set *Set, spans []Span, key []value.Datum) int {
	n := 0
	for _, sp := range spans {
		if !sp.Prefix {
			if inSpan(set, sp, key) {
				n++
			}
			continue
		}
		last := len(sp.Low) - 1
		e := evaluator{set: set}
		same := !key[last].IsNull()
		for i := 0; i < last; i++ {
			same = same && e.cmp(sp.Low[i], key[i], i) == 0
		}
		if same && startsWith(set.Columns[last].Type, key[last].Bytes(), sp.Low[last].Bytes()) {
			n++
		}
	}
	return n
}

func startsWith(t schema.Type, s, prefix []byte) bool {
	coll := collate.Must(t.Collation)
	p, ok := coll.AppendKeyPrefix(nil, prefix)
	return !ok || bytes.HasPrefix(coll.AppendKey(nil, s), p)
}

// condOf is a random condition on a column.
func condOf(t testing.TB, r *rand.Rand, k *kit, c *expr.Col) expr.Expr {
	any := func() expr.Expr { return k.consts[r.Intn(len(k.consts))] }
	if len(k.like) > 0 && r.Intn(4) == 0 {
		return call(t, "like", c, text(k.like[r.Intn(len(k.like))], k.col.Type.Collation))
	}
	switch r.Intn(12) {
	case 0:
		return call(t, "in", c, any(), any(), any())
	case 1:
		return call(t, "is_null", c)
	case 2:
		return call(t, "not", call(t, "is_null", c))
	case 3:
		return call(t, "<=>", c, any())
	case 4:
		return call(t, []string{"<", "<=", ">", ">=", "="}[r.Intn(5)], any(), c)
	case 5:
		return call(t, "or", condOf(t, r, k, c), condOf(t, r, k, c))
	case 6:
		return call(t, "and", condOf(t, r, k, c), condOf(t, r, k, c))
	}
	return call(t, []string{"=", "=", "<", "<=", ">", ">=", "<>"}[r.Intn(7)], c, any())
}

// TestSpansOfTypes compares spans with conditions for keys of two columns of
// all types, ascending and descending, whole and prefix.
func TestSpansOfTypes(t *testing.T) {
	all := kits(t)
	second := kit{col: Column{Table: 1, Type: bigint}, values: []value.Datum{value.Int(0), value.Int(1), value.Int(2)},
		consts: []expr.Expr{lit(0), lit(1), lit(2), lit("1.5"), lit(nil)}}
	for i := range all {
		k := &all[i]
		t.Run(k.name, func(t *testing.T) {
			r := rand.New(rand.NewSource(int64(i) + 1))
			values := append([]value.Datum{value.Null}, k.values...)
			built := 0
			for n := 0; n < testflag.InShort(150, 400); n++ {
				first := k.col
				first.Desc, first.Null = r.Intn(2) == 0, r.Intn(2) == 0
				other := second.col
				other.Desc = r.Intn(2) == 0
				a := &expr.Col{ID: 1, T: first.Type, Null: first.Null, Name: "a"}
				b := &expr.Col{ID: 2, Index: 1, T: bigint, Name: "b"}
				conds := expr.SplitAnd(nil, condOf(t, r, k, a))
				for r.Intn(2) == 0 {
					conds = expr.SplitAnd(conds, condOf(t, r, k, a))
				}
				if r.Intn(2) == 0 {
					conds = expr.SplitAnd(conds, condOf(t, r, &second, b))
				}
				if r.Intn(4) == 0 {
					conds = append(conds, call(t, "or", condOf(t, r, k, a), condOf(t, r, &second, b)))
				}
				if checkSpans(t, []Column{first, other}, conds, values, second.values) {
					built++
				}
			}
			if _, single := collate.Must(all[i].col.Type.Collation).AppendKeyPrefix(nil, []byte("a")); built < 100 && (k.col.Prefix == 0 || single) {
				t.Fatalf("only %d sets", built)
			}
		})
	}
}

func checkSpans(t *testing.T, columns []Column, conds []expr.Expr, as, bs []value.Datum) bool {
	t.Helper()
	set, residual := Build(columns, conds)
	if set == nil {
		return false
	}
	ctx := &expr.Ctx{}
	spans, err := set.Spans(ctx)
	if err != nil {
		t.Fatalf("%v: %v", conds, err)
	}
	for _, sp := range spans {
		for _, end := range [][]value.Datum{sp.Low, sp.High} {
			for i, d := range end {
				if d.IsNull() && !columns[i].Null || !d.IsNull() && d.Kind() != types.KindOf(columns[i].Type) {
					t.Fatalf("%v: bound %v of column %d", conds, d, i)
				}
			}
		}
		if set.Point && (len(sp.Low) != len(columns) || inAny(set, []Span{sp}, sp.Low) != 1 || sp.LowOpen || sp.HighOpen) {
			t.Fatalf("%v: %v is no point", conds, sp)
		}
	}
	for _, a := range as {
		if a.IsNull() && !columns[0].Null {
			continue
		}
		for _, b := range bs {
			row := []value.Datum{a, b}
			want := isTrue(t, ctx, conds, row)
			n := inAny(set, spans, keyed(set, row))
			switch {
			case n > 1:
				t.Fatalf("%v: row %v is in %d spans of %v", conds, row, n, spans)
			case want && n == 0:
				t.Fatalf("%v: row %v is true but in no span of %+v (columns %+v)", conds, row, spans, columns)
			case !want && n == 1 && isTrue(t, ctx, residual, row):
				t.Fatalf("%v: row %v is not true, passes the residual %v and is in a span of %+v", conds, row, residual, spans)
			}
		}
	}
	return true
}
