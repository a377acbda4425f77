package expr

import (
	"errors"
	"fmt"
	"math"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// The columns of the random expressions, with their awkward values.
func twinColumns() ([]schema.Type, [][]value.Datum) {
	d := func(s string) value.Datum {
		v, err := value.ParseDecimal(s)
		if err != nil {
			panic(err)
		}
		return value.Dec(v.Rescale(2))
	}
	ts := func(y, mo, day, h, mi, s, us int) value.Datum {
		return value.TimeOf(value.MakeTime(y, mo, day, h, mi, s, us))
	}
	types := []schema.Type{
		intType(), intType(), uintType(), doubleType(), decimalType(20, 2), textType(20, schema.CollationUTF8MB40900AICI),
		textType(20, schema.CollationBinary), dateType(), datetimeType(6), timeType(0),
		{ID: schema.TypeEnum, Elems: []string{"x", "y", "10"}, Collation: schema.CollationUTF8MB40900AICI},
		{ID: schema.TypeInt, Len: 11, Collation: schema.CollationBinary},
		types.JSON, // attributes
	}
	values := [][]value.Datum{
		{value.Int(0), value.Int(1), value.Int(-1), value.Int(math.MaxInt64), value.Int(math.MinInt64), value.Int(5), value.Int(1 << 33)},
		{value.Int(0), value.Int(1), value.Int(2), value.Int(-3), value.Int(7), value.Int(20200229)},
		{value.Uint(0), value.Uint(1), value.Uint(math.MaxUint64), value.Uint(1 << 63), value.Uint(9)},
		{value.Float(0), value.Float(1.5), value.Float(-2.5), value.Float(1e308), value.Float(1e-5), value.Float(9007199254740993)},
		{d("0"), d("1.5"), d("-0.01"), d("999999999999999999.99"), d("10")},
		{value.String(""), value.String("a"), value.String("A"), value.String("10"), value.String(" 1.5x"), value.String("2020-02-29"), value.String("é日本"), value.String("10:11:12"), value.String("a,b,c")},
		{value.String(""), value.String("a"), value.String("\xff\x00"), value.String("12")},
		{ts(2020, 2, 29, 0, 0, 0, 0), ts(0, 0, 0, 0, 0, 0, 0), ts(9999, 12, 31, 0, 0, 0, 0), ts(2020, 0, 0, 0, 0, 0, 0)},
		{ts(2020, 2, 29, 23, 59, 59, 999999), ts(0, 0, 0, 0, 0, 0, 0), ts(1000, 1, 1, 0, 0, 0, 0)},
		{value.DurationOf(0), value.DurationOf(value.MaxDuration), value.DurationOf(-3600 * 1000000)},
		{value.Uint(1), value.Uint(2), value.Uint(3)},
		{value.Int(0), value.Int(1), value.Int(math.MaxInt32), value.Int(math.MinInt32)},
		twinAttributes(),
	}
	return types, values
}

// twinAttributes are objects whose member v is of any type.
func twinAttributes() (out []value.Datum) {
	for _, text := range []string{`{"v": 5}`, `{"v": -1}`, `{"v": 0}`, `{"v": 9223372036854775807}`, `{"v": 18446744073709551615}`, `{"v": 1.5}`, `{"v": 1e300}`, `{"v": "a"}`,
		`{"v": "A"}`, `{"v": "10"}`, `{"v": "2020-02-29"}`, `{"v": ""}`, `{"v": true}`, `{"v": false}`, `{"v": null}`, `{"v": [1, 2]}`, `{"v": {"w": 1}}`, `{}`, `{"V": 7}`, `{"u": 1, "v": "é日本", "w": 2}`} {
		doc, err := value.ParseJSON([]byte(text))
		if err != nil {
			panic(err)
		}
		out = append(out, value.JSONOf(doc))
	}
	for _, doc := range [][]byte{value.JSONDecimal(value.DecimalFromInt(5)), value.JSONOpaque(252, []byte("a"))} {
		out = append(out, value.JSONOf(value.AppendJSONObject(nil, [][]byte{[]byte("v")}, [][]byte{doc})))
	}
	return out
}

func twinBatch(r *rand.Rand, n int) *vec.Batch {
	ts, vals := twinColumns()
	kinds := make([]value.Kind, len(ts))
	for i, t := range ts {
		kinds[i] = types.KindOf(t)
	}
	b := vec.NewBatch(kinds)
	b.N = n
	for j := range ts {
		nulls := r.Intn(3) > 0
		for i := 0; i < n; i++ {
			if nulls && r.Intn(5) == 0 {
				b.Cols[j].SetDatum(i, value.Null)
				continue
			}
			b.Cols[j].SetDatum(i, vals[j][r.Intn(len(vals[j]))])
		}
	}
	if r.Intn(2) == 0 {
		var sel []uint16
		for i := 0; i < n; i++ {
			if r.Intn(3) > 0 {
				sel = append(sel, uint16(i))
			}
		}
		b.SetSel(sel)
	}
	return b
}

// skipped are functions that wait, are random, or have a binding of their own.
var twinSkipped = []string{"sleep", "get_lock", "release_lock", "is_free_lock", "is_used_lock", "release_all_locks", "snapshot_seq", "stream_wait", "benchmark", "rand", "uuid", "uuid_short", "random_bytes", "setvar", "getvar", "getvar_each", "row", "sysdate", "name_const", asShown, "element_of", "full_date", "full_datetime",
	"repeat", "space", "set_last_insert_id", "last_insert_id", "lpad", "rpad"}

type twinGen struct {
	r     *rand.Rand
	names []string
	ts    []schema.Type
	vals  [][]value.Datum
}

func newTwinGen(r *rand.Rand) *twinGen {
	g := &twinGen{r: r}
	g.ts, g.vals = twinColumns()
	for _, n := range FuncNames() {
		if !slices.Contains(twinSkipped, n) {
			g.names = append(g.names, n)
		}
	}
	slices.Sort(g.names)
	return g
}

var twinHot = []string{"+", "-", "*", "/", "div", "%", "=", "<", "<=", ">", ">=", "<>", "<=>", "and", "or", "not", "in", "case", "if", "coalesce", "ifnull",
	"nullif", "is_null", "like", "xor", "concat", "greatest", "least", "is_true", "is_false"}

func (g *twinGen) expr(depth int) Expr {
	if depth == 0 || g.r.Intn(6) == 0 {
		j := g.r.Intn(len(g.ts))
		switch g.r.Intn(8) {
		case 0:
			return lit(nil)
		case 1, 2:
			return NewConst(g.vals[j][g.r.Intn(len(g.vals[j]))], g.ts[j])
		}
		col := &Col{ID: ColID(j), Index: j, T: g.ts[j], Null: true, Name: fmt.Sprintf("c%d", j)}
		if g.ts[j].ID == schema.TypeJSON {
			return NewAttribute(col, "v")
		}
		return col
	}
	for tries := 0; tries < 20; tries++ {
		name := twinHot[g.r.Intn(len(twinHot))]
		if g.r.Intn(2) == 0 {
			name = g.names[g.r.Intn(len(g.names))]
		}
		if g.r.Intn(12) == 0 {
			ts := []schema.Type{intType(), uintType(), doubleType(), decimalType(10, 3), textType(5, testEnv.Collation), dateType(), datetimeType(0), timeType(2)}
			if e, err := NewCast(testEnv, g.expr(depth-1), ts[g.r.Intn(len(ts))], g.r.Intn(2) == 0); err == nil {
				return e
			}
		}
		if g.r.Intn(15) == 0 {
			if e, err := NewDateArith(testEnv, false, g.expr(depth-1), g.expr(depth-1), unitNames[g.r.Intn(len(unitNames))]); err == nil {
				return e
			}
		}
		args := make([]Expr, g.r.Intn(4)+1)
		for i := range args {
			args[i] = g.expr(depth - 1)
		}
		if e, err := NewFunc(testEnv, name, args...); err == nil {
			return e
		}
	}
	return lit(1)
}

func errNumber(err error) string {
	var se *sqlerr.Error
	if errors.As(err, &se) {
		return fmt.Sprint(se.Number)
	}
	return fmt.Sprint(err)
}

// distinct warnings: a part that is constant warns once a batch, not once a
// row.
func distinct(w warnings) string {
	slices.Sort(w)
	return strings.Join(slices.Compact(w), ",")
}

func twinCheck(t *testing.T, e Expr, in *vec.Batch) {
	t.Helper()
	var rowWarn, vecWarn warnings
	rc, vc := testCtx(&rowWarn), testCtx(&vecWarn)
	want := map[int]value.Datum{}
	var rowErr error
	row := make([]value.Datum, len(in.Cols))
	for r := 0; r < in.Live() && rowErr == nil; r++ {
		i := in.Row(r)
		for j, v := range in.Cols {
			row[j] = v.Datum(i)
		}
		want[i], rowErr = EvalRow(rc, e, row)
	}
	out, vecErr := Eval(vc, e, in)
	if (rowErr == nil) != (vecErr == nil) || rowErr != nil && errNumber(rowErr) != errNumber(vecErr) && !branches(e) && in.Live() == 1 {
		t.Fatalf("%s: row error %v, vector error %v", e, rowErr, vecErr)
	}
	if rowErr != nil {
		return
	}
	kind := kindOf(e)
	for i, w := range want {
		got := out.Datum(i)
		if !sameDatum(got, w) {
			t.Fatalf("%s row %d: vector %s, row %s", e, i, datumText(got), datumText(w))
		}
		if !w.IsNull() && w.Kind() != kind {
			t.Fatalf("%s: %s is not of kind %s", e, datumText(w), kind)
		}
		if w.IsNull() && !e.Nullable() {
			t.Fatalf("%s is NULL but not nullable", e)
		}
	}
	if a, b := distinct(rowWarn), distinct(vecWarn); a != b && !branches(e) {
		t.Fatalf("%s: warnings of rows %s, of vectors %s", e, a, b)
	}
	vc.Release(out)
	if len(vc.live) != 0 {
		t.Fatalf("%s: %d vectors were not released", e, len(vc.live))
	}
	filterCheck(t, e, in, want)
}

// branches reports expressions that leave parts out for some rows: a constant
// part of them may be evaluated, and warn, although no row needs it.
func branches(e Expr) bool {
	found := false
	Walk(e, func(x Expr) bool {
		f, ok := x.(*Func)
		found = found || ok && (f.B.lazy != nil || f.B.filter != nil)
		return true
	})
	return found
}

func filterCheck(t *testing.T, e Expr, in *vec.Batch, want map[int]value.Datum) {
	t.Helper()
	cond, err := NewFilter(testEnv, e)
	if err != nil {
		return
	}
	if k := kindOf(e); k == value.KindBytes || k == value.KindJSON {
		return
	}
	c := testCtx(nil)
	sub := &vec.Batch{N: in.N, Cols: in.Cols}
	if in.HasSel {
		sub.SetSel(slices.Clone(in.Sel))
	}
	var expect []uint16
	for r := 0; r < in.Live(); r++ {
		if tr, null := truth(want[in.Row(r)]); tr && !null {
			expect = append(expect, uint16(in.Row(r)))
		}
	}
	if err := EvalFilter(c, cond, sub); err != nil {
		t.Fatalf("filter %s: %v", e, err)
	}
	var got []uint16
	for r := 0; r < sub.Live(); r++ {
		got = append(got, uint16(sub.Row(r)))
	}
	if !slices.Equal(got, expect) {
		t.Fatalf("filter %s keeps %v, want %v", e, got, expect)
	}
	if len(c.live) != 0 {
		t.Fatalf("filter %s: %d vectors were not released", e, len(c.live))
	}
}

func sameDatum(a, b value.Datum) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case value.KindDecimal:
		x, y := a.Decimal(), b.Decimal()
		return x.Cmp(y) == 0 && x.Scale() == y.Scale()
	case value.KindBytes, value.KindJSON:
		return string(a.Bytes()) == string(b.Bytes())
	}
	return a.Bits() == b.Bits()
}

func datumText(d value.Datum) string {
	switch d.Kind() {
	case value.KindNull:
		return "NULL"
	case value.KindInt:
		return fmt.Sprint(d.Int())
	case value.KindUint:
		return fmt.Sprint(d.Uint(), "u")
	case value.KindFloat:
		return fmt.Sprint(d.Float(), "f")
	case value.KindDecimal:
		v := d.Decimal()
		return v.String()
	case value.KindBytes:
		return fmt.Sprintf("%q", d.Bytes())
	}
	return fmt.Sprintf("%s %x", d.Kind(), d.Bits())
}

// TestVectorAgainstRow holds the two paths of evaluation together.
func TestVectorAgainstRow(t *testing.T) {
	rounds := testflag.Rounds(400, 4000, 12000)
	shared := newTwinGen(nil)
	for seed := 0; seed < rounds; seed++ {
		r := rand.New(rand.NewSource(int64(seed)))
		g := *shared
		g.r = r
		n := []int{1, 3, 64, 130}[r.Intn(4)]
		e := g.expr(1 + r.Intn(3))
		b := twinBatch(r, n)
		func() {
			defer func() {
				if p := recover(); p != nil {
					t.Fatalf("seed %d: %s panics: %v", seed, e, p)
				}
			}()
			twinCheck(t, e, b)
		}()
	}
}

// FuzzEvalRow looks for panics and values of a wrong kind.
func FuzzEvalRow(f *testing.F) {
	f.Add(int64(1), uint8(3), "2020-02-29", 1.5)
	f.Fuzz(func(t *testing.T, seed int64, depth uint8, text string, x float64) {
		r := rand.New(rand.NewSource(seed))
		g := newTwinGen(r)
		e := g.expr(int(depth%4) + 1)
		row := make([]value.Datum, len(g.ts))
		for j := range row {
			row[j] = g.vals[j][r.Intn(len(g.vals[j]))]
		}
		if collationValid(text) {
			row[5] = value.String(text)
		}
		row[6] = value.String(text)
		if !math.IsNaN(x) && !math.IsInf(x, 0) {
			row[3] = value.Float(x)
		}
		d, err := EvalRow(testCtx(nil), e, row)
		if err == nil && !d.IsNull() && d.Kind() != kindOf(e) {
			t.Fatalf("%s gave %s", e, d.Kind())
		}
	})
}

func collationValid(s string) bool { return strings.ToValidUTF8(s, "") == s }

// TestAttributesAgainstRow holds them together where values have types of their
// own.
func TestAttributesAgainstRow(t *testing.T) {
	ops := []string{"=", "<", "<=", ">", ">=", "<>", "<=>", "+", "in", "coalesce"}
	for seed := range testflag.InShort[int64](3, 20) {
		r := rand.New(rand.NewSource(seed * 7919))
		g := newTwinGen(r)
		j := len(g.ts) - 1
		for range 100 {
			args := []Expr{NewAttribute(&Col{ID: ColID(j), Index: j, T: g.ts[j], Null: true, Name: "c"}, "v"), g.expr(1)}
			if k := r.Intn(2 * len(g.ts)); k < len(g.ts) {
				args[1] = NewConst(g.vals[k][r.Intn(len(g.vals[k]))], g.ts[k])
			}
			if r.Intn(4) == 0 {
				slices.Reverse(args)
			}
			if e, err := NewFunc(testEnv, ops[r.Intn(len(ops))], args...); err == nil {
				twinCheck(t, e, twinBatch(r, 1+r.Intn(60)))
			}
		}
	}
}

// TestLongOrs holds them together for an OR of many equalities, whose values are looked up.
func TestLongOrs(t *testing.T) {
	for seed := range int64(testflag.Rounds(50, 400, 2000)) {
		r := rand.New(rand.NewSource(seed))
		g := newTwinGen(r)
		cols := r.Perm(len(g.ts) - 1)[:1+r.Intn(3)]
		var branches []Expr
		for range minOrList - 1 + r.Intn(30) {
			var parts []Expr
			for _, j := range cols {
				of := j
				if r.Intn(40) == 0 {
					of = r.Intn(len(g.ts) - 1)
				}
				args := []Expr{&Col{ID: ColID(j), Index: j, T: g.ts[j], Null: true, Name: fmt.Sprintf("c%d", j)}, NewConst(g.vals[of][r.Intn(len(g.vals[of]))], g.ts[of])}
				if r.Intn(30) == 0 {
					args[1] = lit(nil)
				}
				if r.Intn(4) == 0 {
					slices.Reverse(args)
				}
				if e, err := NewFunc(testEnv, "=", args...); err == nil {
					parts = append(parts, e)
				}
			}
			if len(parts) == 0 {
				continue
			}
			branch := parts[0]
			if len(parts) > 1 {
				branch = call("and", anyOf(parts)...)
			}
			branches = append(branches, branch)
		}
		if len(branches) < 2 {
			continue
		}
		e := call("or", anyOf(branches)...)
		if r.Intn(4) == 0 {
			e = Not(e)
		}
		twinCheck(t, e, twinBatch(r, 1+r.Intn(100)))
	}
}

func anyOf(list []Expr) []any {
	out := make([]any, len(list))
	for i, e := range list {
		out[i] = e
	}
	return out
}
