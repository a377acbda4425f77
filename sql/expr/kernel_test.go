package expr

import (
	"fmt"
	"math"
	"math/rand"
	"slices"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// kernelColumns are the columns of kernelBatch.
func kernelColumns() []schema.Type {
	return []schema.Type{
		intType(), intType(), uintType(), uintType(), doubleType(), decimalType(18, 3), dateType(), datetimeType(0), datetimeType(6), timeType(0),
		{ID: schema.TypeTimestamp, Len: schema.UnspecifiedLength, Scale: 3, Collation: schema.CollationBinary}, textType(20, testEnv.Collation), textType(40, schema.CollationBinary), boolType(),
		timeType(6), {ID: schema.TypeTinyInt, Len: 4, Collation: schema.CollationBinary},
	}
}

const (
	colInt, colInt2, colUint, colUint2, colFloat, colDec, colDate, colDatetime, colDatetime6, colTime, colTimestamp, colText, colBytes, colBool, colTime6, colTiny = 0, 1, 2, 3, 4,
		5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15
)

func kernelCol(i int) *Col {
	return &Col{ID: ColID(i), Index: i, T: kernelColumns()[i], Null: true, Name: fmt.Sprintf("c%d", i)}
}

// oneOf is one of the edges, or a value that make gives. calm leaves edges out: most
// batches have none.
func oneOf[T any](r *rand.Rand, calm bool, edges []T, random func() T) T {
	if !calm && r.Intn(3) == 0 {
		return edges[r.Intn(len(edges))]
	}
	return random()
}

func randomTime(r *rand.Rand, calm bool, fsp int) value.Time {
	mk := value.MakeTime
	edges := []value.Time{0, mk(2020, 0, 0, 0, 0, 0, 0), mk(2020, 2, 0, 1, 2, 3, 0), mk(0, 0, 0, 10, 11, 12, 0), mk(0, 1, 1, 0, 0, 0, 0), mk(0, 12, 31, 1, 0, 0, 0), mk(1, 1, 1, 0, 0, 0, 0),
		mk(9999, 12, 31, 23, 59, 59, 999999), mk(1969, 12, 31, 23, 59, 59, 0), mk(1970, 1, 1, 0, 0, 0, 0), mk(2024, 2, 29, 12, 0, 0, 0), mk(2023, 2, 31, 0, 0, 0, 0),
		mk(2024, 3, 31, 2, 30, 0, 0), mk(2024, 10, 27, 2, 30, 0, 0), mk(2024, 3, 10, 2, 15, 0, 0), mk(2024, 11, 3, 1, 15, 0, 0), mk(2024, 4, 7, 1, 45, 0, 0), mk(3001, 1, 18, 23, 59, 59, 0),
		mk(3001, 1, 19, 0, 0, 0, 0), mk(2038, 1, 19, 3, 14, 7, 0), mk(1883, 11, 18, 12, 3, 57, 0), mk(2024, 12, 31, 23, 59, 59, 999999)}
	return oneOf(r, calm, edges, func() value.Time {
		if r.Intn(3) == 0 { // near a change of clocks of the zones
			change := []value.Time{mk(2024, 3, 31, 2, 0, 0, 0), mk(2024, 10, 27, 2, 0, 0, 0), mk(2024, 3, 10, 2, 0, 0, 0), mk(2024, 11, 3, 2, 0, 0, 0), mk(2024, 4, 7, 2, 0, 0, 0)}[r.Intn(5)]
			t, _ := change.AddMicros(r.Int63n(48*3600*1000000) - 24*3600*1000000)
			return t
		}
		y := 1990 + r.Intn(60)
		if !calm && r.Intn(4) == 0 {
			y = r.Intn(10000)
		}
		m := 1 + r.Intn(12)
		return mk(y, m, 1+r.Intn(value.DaysInMonth(y, m)), r.Intn(24), r.Intn(60), r.Intn(60), r.Intn(1000000))
	}).TruncateFSP(fsp)
}

func kernelValue(r *rand.Rand, calm bool, t schema.Type) value.Datum {
	switch t.ID {
	case schema.TypeDate:
		return value.TimeOf(randomTime(r, calm, 0).Date())
	case schema.TypeDatetime, schema.TypeTimestamp:
		return value.TimeOf(randomTime(r, calm, t.Scale))
	case schema.TypeTime:
		return value.DurationOf(oneOf(r, calm, []value.Duration{0, value.MaxDuration, -value.MaxDuration, -1000000, 3599 * 1000000}, func() value.Duration {
			return value.Duration(r.Int63n(int64(2*value.MaxDuration))) - value.MaxDuration
		}).TruncateFSP(t.Scale))
	case schema.TypeDouble:
		return value.Float(oneOf(r, calm, []float64{0, 1, -1, -1.5 * (1 << 63), 1.5 * (1 << 63), math.MaxFloat64, -math.MaxFloat64, 5e-324, 1 << 53, 1 << 63, -1 << 63, 1 << 64, 0.5, 1.5, -2.5, math.Copysign(0, -1)}, func() float64 { return r.NormFloat64() * 1000 }))
	case schema.TypeDecimal:
		n := oneOf(r, calm, []int64{0, 1, -1, 999999999999999999, -999999999999999999, 500, 1500, -2500}, func() int64 { return r.Int63n(2000000) - 1000000 })
		return value.Dec(value.DecimalFromInt128(n>>63, uint64(n), t.Scale))
	case schema.TypeVarchar, schema.TypeVarbinary:
		return value.String(oneOf(r, calm, []string{"", "a", "10", "2024-02-29", "é日本", "1.5x"}, func() string { return fmt.Sprint("text ", r.Intn(1000)) }))
	case schema.TypeInt:
		return value.Int(int64(r.Intn(2)))
	case schema.TypeTinyInt:
		return value.Int(int64(r.Intn(256) - 128))
	}
	if t.Unsigned {
		return value.Uint(oneOf(r, calm, []uint64{0, 1, 2, math.MaxUint64, math.MaxInt64, 1 << 63, 1<<63 + 1, 1 << 32, 1<<32 - 1, 20240229, 20240229101112}, func() uint64 { return r.Uint64() >> (40 * r.Intn(2)) }))
	}
	return value.Int(oneOf(r, calm, []int64{0, 1, -1, 2, -2, 9, 10, -10, 99, 100, 9999999999, 10000000000, math.MaxInt64, math.MinInt64, math.MinInt64 + 1, 1 << 32, -1 << 32, 1<<32 - 1, 20240229, 20240229101112}, func() int64 {
		return int64(r.Uint64()) >> (40 * r.Intn(2))
	}))
}

// kernelBatch has random values in the columns that e reads; those at NULLs and at
// unselected rows are random too.
func kernelBatch(r *rand.Rand, e Expr, n int) *vec.Batch {
	ts := kernelColumns()
	kinds := make([]value.Kind, len(ts))
	for i, t := range ts {
		kinds[i] = types.KindOf(t)
	}
	b := &vec.Batch{N: n}
	for _, k := range kinds {
		b.Cols = append(b.Cols, vec.NewSized(k, n))
	}
	used := map[int]bool{}
	Walk(e, func(x Expr) bool {
		if col, ok := x.(*Col); ok {
			used[col.Index] = true
		}
		return true
	})
	for j, t := range ts {
		if !used[j] {
			continue
		}
		calm, nulls := r.Intn(3) > 0, r.Intn(2) == 0
		for i := range n {
			b.Cols[j].SetDatum(i, kernelValue(r, calm, t))
			if nulls && r.Intn(5) == 0 {
				b.Cols[j].Nulls.Set(i)
			}
		}
	}
	if r.Intn(2) == 0 {
		keep := 1 + r.Intn(8)
		sel := b.SelBuf()
		for i := range n {
			if r.Intn(8) < keep {
				sel = append(sel, uint16(i))
			}
		}
		b.SetSel(sel)
	}
	return b
}

// withoutKernels is e evaluated row by row.
func withoutKernels(e Expr) Expr {
	return Map(e, func(x Expr) Expr {
		f, ok := x.(*Func)
		if !ok || f.B.vec == nil {
			return x
		}
		g, b := *f, *f.B
		b.vec, b.filter = nil, nil
		g.B = &b
		return &g
	})
}

var kernelModes = []types.Env{
	{Mode: types.DefaultSQLMode},
	{},
	{Mode: types.DefaultSQLMode &^ types.ModeErrorForDivisionByZero},
	{Mode: types.DefaultSQLMode, Write: true},
	{Mode: types.DefaultSQLMode, Write: true, Ignore: true},
	{Mode: types.DefaultSQLMode &^ types.ModeStrictTransTables, Write: true},
	{Mode: types.DefaultSQLMode&^(types.ModeNoZeroDate|types.ModeNoZeroInDate) | types.ModeTimeTruncateFractional},
	{Mode: types.DefaultSQLMode &^ types.ModeNoZeroDate},
	{Mode: types.DefaultSQLMode&^types.ModeNoZeroInDate | types.ModeAllowInvalidDates},
}

var kernelZones = []string{"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "+05:30"}

// kernelCheck compares Eval with and without kernels: values, errors, and warnings in
// their order.
func kernelCheck(t *testing.T, r *rand.Rand, e Expr, in *vec.Batch) {
	t.Helper()
	env := kernelModes[r.Intn(len(kernelModes))]
	zone := kernelZones[r.Intn(len(kernelZones))]
	run := func(e Expr) (*vec.Vec, []string, *Ctx, error) {
		c := testCtx(nil)
		c.Mode, c.Write, c.Ignore = env.Mode, env.Write, env.Ignore
		var err error
		if c.Loc, err = types.LoadLocation(zone); err != nil {
			t.Fatal(err)
		}
		var list []string
		c.Warn = func(w sqlerr.Warning) { list = append(list, fmt.Sprint(w.Level, w.Err)) }
		v, err := Eval(c, e, in)
		return v, list, c, err
	}
	want, wantWarn, _, wantErr := run(withoutKernels(e))
	got, gotWarn, c, gotErr := run(e)
	at := fmt.Sprintf("%s (mode %#x, write %v, ignore %v, %s)", e, env.Mode, env.Write, env.Ignore, zone)
	if branches(e) {
		// Rows are evaluated branch by branch.
		if (gotErr == nil) != (wantErr == nil) {
			t.Fatalf("%s: error %v, row by row %v", at, gotErr, wantErr)
		}
		slices.Sort(wantWarn)
		slices.Sort(gotWarn)
		wantWarn, gotWarn = slices.Compact(wantWarn), slices.Compact(gotWarn) // constants warn once
	} else if fmt.Sprint(gotErr) != fmt.Sprint(wantErr) {
		t.Fatalf("%s: error %v, row by row %v", at, gotErr, wantErr)
	}
	if wantErr != nil && branches(e) {
		return
	}
	if !slices.Equal(gotWarn, wantWarn) {
		t.Fatalf("%s: warnings %d %q, row by row %d %q", at, len(gotWarn), gotWarn[:min(5, len(gotWarn))], len(wantWarn), wantWarn[:min(5, len(wantWarn))])
	}
	if wantErr != nil {
		return
	}
	if got.Kind != want.Kind && got.Kind != kindOf(e) {
		t.Fatalf("%s: kind %s, row by row %s", at, got.Kind, want.Kind)
	}
	for l := range in.Live() {
		i := in.Row(l)
		if a, b := got.Datum(i), want.Datum(i); !sameDatum(a, b) {
			var args string
			Walk(e, func(x Expr) bool {
				if col, ok := x.(*Col); ok {
					args += fmt.Sprintf(" %s = %s", col, datumText(in.Cols[col.Index].Datum(i)))
				}
				return true
			})
			t.Fatalf("%s row %d: %s, row by row %s, with%s", at, i, datumText(a), datumText(b), args)
		}
	}
	c.Release(got)
	if len(c.live) != 0 {
		t.Fatalf("%s: %d vectors were not released", at, len(c.live))
	}
}

// arg is one of the columns, or sometimes a constant of its type.
func arg(r *rand.Rand, cols ...int) Expr {
	i := cols[r.Intn(len(cols))]
	switch r.Intn(12) {
	case 0, 1, 2:
		return NewConst(kernelValue(r, r.Intn(2) == 0, kernelColumns()[i]), kernelColumns()[i])
	case 3:
		return lit([]any{nil, 0, 1, -1, 2, 10, 1000, 1 << 20, uint64(1 << 63), 7}[r.Intn(10)])
	}
	return kernelCol(i)
}

// alternatives are arguments of CASE and the like: columns, constants, and calls that
// may fail or warn.
func alternatives(r *rand.Rand, n int) []Expr {
	family := [][]int{integers, {colInt, colInt2}, {colFloat, colInt}, {colDec, colInt, colUint}, {colText}, {colText, colBytes}, {colDate, colDatetime, colDatetime6}, {colTime, colTime6}}[r.Intn(8)]
	out := make([]Expr, n)
	for i := range out {
		out[i] = arg(r, family...)
		if i%2 == 0 && r.Intn(2) == 0 || r.Intn(10) == 0 {
			names := []string{"<", "=", "is_null", "<=>", ">"}
			name := names[r.Intn(len(names))]
			args := []Expr{arg(r, family...), arg(r, family...)}
			if name == "is_null" {
				args = args[:1]
			}
			if e, err := NewFunc(testEnv, name, args...); err == nil {
				out[i] = e
			}
		} else if r.Intn(4) == 0 {
			names := []string{"%", "div", "*", "concat", "nullif"}
			if e, err := NewFunc(testEnv, names[r.Intn(len(names))], arg(r, family...), arg(r, family...)); err == nil {
				out[i] = e
			}
		}
	}
	return out
}

func randomCast(r *rand.Rand) (Expr, error) {
	small := schema.Type{ID: schema.TypeTinyInt, Len: 4, Collation: schema.CollationBinary}
	char := textType(1+r.Intn(30), testEnv.Collation)
	char.ID = schema.TypeChar
	to := []schema.Type{
		intType(), uintType(), small, doubleType(), decimalType(20, 2), decimalType(10, 0), decimalType(4, 3), decimalType(30, 10), decimalType(65, 0), dateType(),
		datetimeType(0), datetimeType(3), datetimeType(6), timeType(0), timeType(6), timeType(2), char, textType(1+r.Intn(30), testEnv.Collation), types.Text(testEnv.Collation),
		textType(12, schema.CollationBinary), {ID: schema.TypeYear, Len: 4, Unsigned: true, Collation: schema.CollationBinary}, {ID: schema.TypeFloat, Len: -1, Scale: -1, Collation: schema.CollationBinary},
	}
	t := to[r.Intn(len(to))]
	a := arg(r, r.Intn(len(kernelColumns())))
	switch r.Intn(8) {
	case 0:
		return newDateCast(testEnv, a, datetimeType(6)), nil
	case 1:
		return newWholeDateCast(a, datetimeType(6)), nil
	case 2:
		return NewStored(testEnv, a, t, "c")
	}
	return NewCast(testEnv, a, t, r.Intn(2) == 0)
}

var dates = []int{colDate, colDatetime, colDatetime6, colTimestamp}

var integers = []int{colInt, colInt2, colUint, colUint2, colBool, colTiny}

// kernelGroups make calls that have a kernel, over columns and constants.
func kernelGroups() []func(r *rand.Rand) (Expr, error) {
	pick := func(r *rand.Rand, names ...string) string { return names[r.Intn(len(names))] }
	return []func(r *rand.Rand) (Expr, error){
		func(r *rand.Rand) (Expr, error) {
			return NewFunc(testEnv, pick(r, "%", "div"), arg(r, integers...), arg(r, integers...))
		},
		func(r *rand.Rand) (Expr, error) {
			return NewFunc(testEnv, pick(r, "%", "div"), arg(r, colFloat, colDec, colInt), arg(r, colFloat, colDec, colUint))
		},
		func(r *rand.Rand) (Expr, error) {
			return NewFunc(testEnv, pick(r, "case", "if", "coalesce"), alternatives(r, 3)...)
		},
		func(r *rand.Rand) (Expr, error) { return NewFunc(testEnv, "case", alternatives(r, 2+r.Intn(5))...) },
		func(r *rand.Rand) (Expr, error) {
			return NewFunc(testEnv, pick(r, "ifnull", "nullif", "coalesce"), alternatives(r, 2)...)
		},
		func(r *rand.Rand) (Expr, error) {
			names := []string{"year", "month", "day", "quarter", "dayofweek", "weekday", "dayofyear", "to_days", "to_seconds", "weekofyear", "date", "hour", "minute", "second", "microsecond", "unix_timestamp", "last_day", "time_to_sec", "timestamp", "week", "yearweek", "dayname", "monthname"}
			return NewFunc(testEnv, names[r.Intn(len(names))], arg(r, dates...))
		},
		func(r *rand.Rand) (Expr, error) { return NewFunc(testEnv, "unix_timestamp", arg(r, dates...)) },
		func(r *rand.Rand) (Expr, error) {
			return NewFunc(testEnv, pick(r, "hour", "minute", "second", "microsecond", "time_to_sec"), arg(r, colTime, colTime6, colDatetime6, colTimestamp))
		},
		func(r *rand.Rand) (Expr, error) {
			return NewFunc(testEnv, pick(r, "neg", "abs"), arg(r, colInt, colUint, colFloat, colDec, colTiny, colTime))
		},
		func(r *rand.Rand) (Expr, error) {
			cols := [][]int{{colUint, colUint2}, dates, {colInt, colUint}}[r.Intn(3)]
			return NewFunc(testEnv, pick(r, "=", "<", "<=", ">", ">=", "<>", "<=>"), arg(r, cols...), arg(r, cols...))
		},
		randomCast, randomCast, randomCast, randomCast,
		func(r *rand.Rand) (Expr, error) {
			to := []schema.Type{dateType(), datetimeType(0), datetimeType(3), datetimeType(6), timeType(0), timeType(6), intType(), uintType()}[r.Intn(8)]
			return NewCast(testEnv, kernelCol(dates[r.Intn(len(dates))]), to, true)
		},
		func(r *rand.Rand) (Expr, error) {
			to := []schema.Type{decimalType(4, 3), decimalType(2, 0), decimalType(10, 0), decimalType(20, 0), decimalType(19, 0), intType(), uintType()}[r.Intn(7)]
			return NewCast(testEnv, kernelCol([]int{colInt, colUint, colTiny, colFloat, colDec}[r.Intn(5)]), to, r.Intn(2) == 0)
		},
		func(r *rand.Rand) (Expr, error) {
			return NewFunc(testEnv, pick(r, "%", "div"), arg(r, colInt, colUint, colTiny), lit([]any{0, 1, -1, 2, -2, 3, 7, 10, uint64(1 << 63), math.MinInt64}[r.Intn(10)]))
		},
		func(r *rand.Rand) (Expr, error) {
			return NewFunc(testEnv, "datediff", arg(r, dates...), arg(r, dates...))
		},
		func(r *rand.Rand) (Expr, error) {
			return NewFunc(testEnv, "from_unixtime", arg(r, colInt, colInt2, colUint, colDec))
		},
		func(r *rand.Rand) (Expr, error) {
			return NewFunc(testEnv, "from_unixtime", call("%", call("abs", kernelCol(colInt)), 2000000000))
		},
		func(r *rand.Rand) (Expr, error) {
			return NewExtract(testEnv, unitNames[r.Intn(len(unitNames))], arg(r, append(slices.Clone(dates), colTime, colTime6)...))
		},
		func(r *rand.Rand) (Expr, error) {
			return NewTimestampDiff(testEnv, unitNames[r.Intn(9)], arg(r, dates...), arg(r, dates...))
		},
		func(r *rand.Rand) (Expr, error) {
			n := []Expr{lit(r.Intn(100) - 50), lit(r.Intn(4000000) - 2000000), arg(r, colTiny, colTiny, colInt, colDec, colText), lit(dec("1.5")), lit("1 2:3"), lit("1")}[r.Intn(6)]
			return NewDateArith(testEnv, r.Intn(2) == 0, arg(r, append(slices.Clone(dates), colTime)...), n, unitNames[r.Intn(len(unitNames))])
		},
		func(r *rand.Rand) (Expr, error) {
			return NewDateArith(testEnv, r.Intn(2) == 0, arg(r, dates...), lit(r.Intn(100)-50), unitNames[r.Intn(9)])
		},
		func(r *rand.Rand) (Expr, error) {
			return NewFunc(testEnv, pick(r, "week", "yearweek"), arg(r, dates...), []Expr{lit(r.Intn(9) - 1), lit(nil), kernelCol(colInt), lit(uint64(1 << 63))}[r.Intn(4)])
		},
		func(r *rand.Rand) (Expr, error) {
			formats := []any{"%Y-%m-%d", "%Y-%m", "%H:%i:%s.%f", "%W %D %M %y", "%a %b %e %c %j %p %h %I %l %k %r %T %w", "%U %u %V %v %X %x", "%%x%", "", nil, kernelCol(colText), "é%Y"}
			env := *testEnv
			env.Collation = []schema.CollationID{testEnv.Collation, schema.CollationBinary}[r.Intn(2)]
			return NewFunc(&env, "date_format", arg(r, dates...), lit(formats[r.Intn(len(formats))]))
		},
	}
}

func TestKernelsAgainstRows(t *testing.T) {
	rounds := testflag.Rounds(200, 1500, 12000)
	seed := int64(testflag.Seed(1))
	for g, makeExpr := range kernelGroups() {
		for i := range rounds {
			r := rand.New(rand.NewSource(seed + int64(i*100+g)))
			e, err := makeExpr(r)
			if err != nil {
				continue
			}
			kernelCheck(t, r, e, kernelBatch(r, e, []int{1, 5, 64, 100}[r.Intn(4)]))
		}
	}
}

// TestDivAtTheEnds: the least integer has a quotient by 1 and none by -1.
func TestDivAtTheEnds(t *testing.T) {
	quotient := func(x, y int64) (int64, error) {
		b := &vec.Batch{N: 1, Cols: []*vec.Vec{vec.NewSized(value.KindInt, 1), vec.NewSized(value.KindInt, 1)}}
		b.Cols[0].I64[0], b.Cols[1].I64[0] = x, y
		v, err := Eval(testCtx(nil), call("div", kernelCol(colInt), kernelCol(colInt2)), b)
		if err != nil {
			return 0, err
		}
		return v.I64[0], nil
	}
	for _, c := range [][3]int64{{math.MinInt64, 1, math.MinInt64}, {math.MinInt64, math.MinInt64, 1}, {math.MaxInt64, -1, -math.MaxInt64}, {math.MinInt64, 2, math.MinInt64 / 2}, {math.MinInt64, math.MaxInt64, -1}} {
		if got, err := quotient(c[0], c[1]); err != nil || got != c[2] {
			t.Errorf("%d DIV %d: %d, %v", c[0], c[1], got, err)
		}
	}
	if got, err := quotient(math.MinInt64, -1); errNumber(err) != "1690" {
		t.Errorf("out of range: %d, %v", got, err)
	}
}

// TestAddSpan compares with sums of days and microseconds.
func TestAddSpan(t *testing.T) {
	r := rand.New(rand.NewSource(int64(testflag.Seed(1))))
	for range testflag.Rounds(4000, 60000, 500000) {
		x := randomTime(r, false, 6)
		s := span{days: r.Int63n(61) - 30}
		if r.Intn(2) == 0 {
			s.micros = r.Int63n(3*microsPerDay) - microsPerDay
		}
		got, ok := addSpan(x, s)
		want, fits := value.ZeroTime, !x.HasZeroPart()
		if fits {
			us := microsOf(x) + s.days*microsPerDay + s.micros
			if want = x; s.days != 0 || s.micros != 0 {
				n := floorDiv(us, microsPerDay)
				fits = n >= 1 && n <= maxDayNumber
				want = withTime(value.FromDayNumber(int(n)), value.Duration(us-n*microsPerDay))
			}
		}
		if ok != fits || ok && got != want {
			t.Fatalf("%s plus %d days and %d microseconds is %s, %v, not %s, %v", x, s.days, s.micros, got, ok, want, fits)
		}
	}
}

// TestReciprocal compares division by reciprocals with the processor's.
func TestReciprocal(t *testing.T) {
	r := rand.New(rand.NewSource(int64(testflag.Seed(1))))
	word := func() uint64 {
		switch x := r.Uint64() >> r.Intn(64); r.Intn(4) {
		case 0:
			return 1 << r.Intn(64)
		case 1:
			return 1<<r.Intn(64) - 1
		case 2:
			return math.MaxUint64 - uint64(r.Intn(3))
		default:
			return x
		}
	}
	for range testflag.Rounds(8000, 300000, 3000000) {
		x, y := word(), word()
		if y == 0 {
			continue
		}
		if r.Intn(3) == 0 {
			x = x/y*y - uint64(r.Intn(2))
		}
		div := newReciprocal(y)
		if got := div.quo(x); got != x/y {
			t.Fatalf("%d / %d is %d, not %d", x, y, got, x/y)
		}
	}
}

func kernelBenches() map[string]Expr {
	col := func(i int) Expr { return kernelCol(i) }
	return map[string]Expr{
		"c % 100": call("%", col(colInt), 100), "c % 128": call("%", col(colInt), 128), "c div 1000": call("div", col(colInt), 1000), "u % 100": call("%", col(colUint), 100),
		"c % c2": call("%", col(colInt), col(colInt2)), "c div c2": call("div", col(colInt), col(colInt2)),
		"t % t2": call("%", col(colTiny), call("+", col(colBool), 3)), "d % 7": call("%", col(colDec), 7), "d div 7": call("div", col(colDec), 7), "f % 7": call("%", col(colFloat), 7.0),
		"if const": call("if", call("<", col(colInt), 5), 1, 0), "if cols": call("if", call("<", col(colInt), col(colInt2)), col(colInt), col(colInt2)),
		"case text":  call("case", call("<", col(colInt), -10), "low", call("<", col(colInt), 10), "middle", "high"),
		"case bytes": call("case", call("<", col(colInt), -10), col(colText), "high"), "ifnull": call("ifnull", col(colInt), 0),
		"coalesce": call("coalesce", call("nullif", col(colInt), col(colInt2)), col(colInt2)), "nullif": call("nullif", col(colInt), 0),
		"year": call("year", col(colDatetime)), "month": call("month", col(colDate)), "day": call("day", col(colDatetime)), "date": call("date", col(colDatetime6)),
		"hour": call("hour", col(colDatetime)), "hour of time": call("hour", col(colTime)), "minute": call("minute", col(colDatetime6)), "second": call("second", col(colTimestamp)),
		"dayofweek": call("dayofweek", col(colDate)), "to_days": call("to_days", col(colDate)), "unix_timestamp": call("unix_timestamp", col(colDatetime)),
		"from_unixtime": call("from_unixtime", call("%", call("abs", col(colInt)), 2000000000)), "datediff": call("datediff", col(colDate), col(colDatetime)),
		"date_add day": addInterval(col(colDatetime), 3, "day"), "date_add compared": call(">", addInterval(col(colDatetime), 1, "day"), "2024-01-01"), "date_add month": addInterval(col(colDatetime), 3, "month"), "date_sub hour": subInterval(col(colDatetime), 5, "hour"),
		"date_add column": addInterval(col(colDate), col(colTiny), "day"), "timestampdiff": must(NewTimestampDiff(testEnv, "hour", col(colDatetime), col(colDatetime6))),
		"extract hour": must(NewExtract(testEnv, "hour", col(colDatetime))), "format day": call("date_format", col(colDatetime), "%Y-%m-%d"), "format all": call("date_format", col(colDatetime), "%Y-%m-%d %H:%i:%s"),
		"format names": call("date_format", col(colDatetime), "%W %M"), "last_day": call("last_day", col(colDate)), "abs": call("abs", col(colInt)), "neg": call("neg", col(colInt)), "int to unsigned": cast(col(colInt), uintType()), "int to decimal": cast(col(colTiny), decimalType(10, 2)),
		"decimal to int": cast(col(colDec), intType()), "decimal to decimal": cast(col(colDec), decimalType(20, 1)), "double to int": cast(col(colFloat), intType()),
		"date to datetime": cast(col(colDate), datetimeType(0)), "datetime to date": cast(col(colDatetime), dateType()), "datetime to time": cast(col(colDatetime), timeType(0)),
		"datetime to int": cast(col(colDatetime), intType()), "int to text": cast(col(colInt), textType(20, testEnv.Collation)), "datetime to text": cast(col(colDatetime), textType(20, testEnv.Collation)),
		"week": call("week", col(colDate)), "time_to_sec": call("time_to_sec", col(colTime)), "dayname": call("dayname", col(colDate)),
	}
}

// BenchmarkKernels reports how many times as long the loop over rows takes.
func BenchmarkKernels(b *testing.B) {
	in := kernelBatch(rand.New(rand.NewSource(1)), lit(1), vec.MaxRows)
	in.HasSel = false
	r := rand.New(rand.NewSource(2))
	for j, t := range kernelColumns() {
		in.Cols[j].Nulls.Clear()
		for i := range in.N {
			in.Cols[j].SetDatum(i, kernelValue(r, true, t))
		}
	}
	list := kernelBenches()
	names := make([]string, 0, len(list))
	for name := range list {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			c := testCtx(nil)
			run := func(e Expr) {
				v, err := Eval(c, e, in)
				if err != nil {
					b.Fatal(err)
				}
				c.Release(v)
			}
			e, slow := list[name], withoutKernels(list[name])
			// The least time of a batch: others share the processor.
			fast, rows := time.Hour, time.Hour
			for b.Loop() {
				start := time.Now()
				run(e)
				mid := time.Now()
				run(slow)
				fast, rows = min(fast, mid.Sub(start)), min(rows, time.Since(mid))
			}
			b.ReportMetric(0, "ns/op")
			b.ReportMetric(float64(fast.Nanoseconds())/float64(in.N), "ns/row")
			b.ReportMetric(float64(rows.Nanoseconds())/float64(in.N), "rows-ns/row")
			b.ReportMetric(float64(rows)/float64(fast), "times")
		})
	}
}

// TestFormattedDays: times of a day have the text of their day only where the format shows
// nothing else of them.
func TestFormattedDays(t *testing.T) {
	r := rand.New(rand.NewSource(9))
	v := vec.New(value.KindTime)
	for i := range vec.MaxRows {
		v.I64[i] = int64(value.MakeTime(2024+r.Intn(2), r.Intn(13), r.Intn(29), r.Intn(24), r.Intn(60), r.Intn(60), r.Intn(1000)))
		if i%17 == 0 {
			v.Nulls.Set(i)
		}
	}
	in := &vec.Batch{N: vec.MaxRows, Cols: []*vec.Vec{v}}
	for _, format := range []string{"%Y-%m-%d", "%y%j", "%M", "%H", "%Y %p", "%x%v", "%d%%H", "%q%T", "%", "%Y%", "%e %f", "%s", "%S %r"} {
		f := call("date_format", &Col{T: types.DatetimeOf(6), Null: true}, format).(*Func)
		out, err := Eval(testCtx(nil), f, in)
		if err != nil {
			t.Fatal(err)
		}
		for i := range vec.MaxRows {
			if v.Nulls.IsNull(i) {
				continue
			}
			want, err := rowDateFormat(testCtx(nil), f, []value.Datum{v.Datum(i), value.String(format)})
			if err != nil || want.IsNull() != out.Nulls.IsNull(i) || !want.IsNull() && want.Str() != string(out.Bytes[i]) {
				t.Fatalf("%s of %s is %q, want %q, %v", format, v.Datum(i).Time(), out.Bytes[i], want.Bytes(), err)
			}
		}
	}
}
