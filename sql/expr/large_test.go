package expr

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// meter is a Memory with a limit. What is kept counts for good.
type meter struct {
	limit, used, kept, peak int64
}

func (m *meter) Reserve(n int64) error {
	if m.used+n > m.limit {
		return sqlerr.QueryMemoryExceeded(m.limit, "values")
	}
	m.used += n
	m.peak = max(m.peak, m.used)
	return nil
}

func (m *meter) Release(n int64) { m.used -= n }

func (m *meter) BatchRoom() int { return 1 << 20 }

func (m *meter) HoldBatch([]byte) {}

func (m *meter) Keep(b []byte) { m.kept += int64(len(b)) }

func (m *meter) KeepAs(_ []byte, n int64) { m.kept += n }

func (m *meter) Copy(b []byte) ([]byte, error) {
	err := m.Reserve(int64(len(b)))
	m.Keep(b)
	return append([]byte(nil), b...), err
}

func longArg(n int) Expr {
	return &Const{D: value.String(strings.Repeat("a", n)), T: textType(n, schema.CollationUTF8MB40900AICI)}
}

// TestLargeValues: what calls make and need is counted, and given back but for the
// values themselves.
func TestLargeValues(t *testing.T) {
	const n = 1 << 20
	for _, name := range []string{"hex", "quote", "json_quote", "to_base64", "weight_string", "upper", "reverse", "concat", "md5", "length"} {
		c := testCtx(nil)
		m := &meter{limit: 1 << 30}
		c.Memory = m
		d, err := EvalRow(c, must(NewFunc(nil, name, longArg(n))), nil)
		if err != nil {
			t.Fatal(name, err)
		}
		size := int64(d.Size())
		if size < largeValue {
			size = 0
		}
		if m.used != m.kept || m.kept != size {
			t.Errorf("%s: %d bytes are reserved and %d kept for %d", name, m.used, m.kept, size)
		}
		m.limit = m.used + n/2
		if m.peak <= m.limit {
			continue // it needs little
		}
		if _, err := EvalRow(c, must(NewFunc(nil, name, longArg(n))), nil); !sqlerr.IsQueryMemoryExceeded(err) {
			t.Errorf("%s without memory: %v", name, err)
		}
		if m.used != m.kept {
			t.Errorf("%s: %d bytes are reserved after an error, %d kept", name, m.used, m.kept)
		}
	}
}

// TestMaxAllowedPacket: a value is NULL, with a warning, if it is longer, whatever the
// function, and nothing stays reserved for it. One that fits is made.
func TestMaxAllowedPacket(t *testing.T) {
	for name, args := range map[string][]Expr{
		"hex": {longArg(49_999)}, "quote": {longArg(49_999)}, "json_quote": {longArg(49_999)}, "to_base64": {longArg(49_999)},
		"weight_string": {longArg(49_999)}, "json_array": {longArg(49_999)}, "concat": {longArg(30_000), longArg(20_001)},
		"concat_ws": {lit(","), longArg(25_000), longArg(25_000)}, "repeat": {lit("ab"), lit(25_001)}, "space": {lit(50_001)},
		"lpad": {lit("a"), lit(50_001), lit("b")}, "rpad": {lit("a"), lit(50_001), lit("b")}, "replace": {longArg(25_001), lit("a"), lit("bb")},
		"insert": {longArg(30_000), lit(1), lit(0), longArg(20_001)},
	} {
		for _, packet := range []int64{50_000, 200_000} {
			var w warnings
			c := testCtx(&w)
			m := &meter{limit: 1 << 30}
			c.Memory, c.maxPacket = m, packet
			d, err := EvalRow(c, must(NewFunc(nil, name, args...)), nil)
			if fits := packet > 50_000; err != nil || d.IsNull() == fits || fits != (len(w) == 0) || !fits && (len(w) != 1 || w[0] != "1301") {
				t.Errorf("%s: a value of %d bytes, at most %d, %v, warnings %v", name, d.Size(), packet, err, w)
			}
			if m.used != m.kept {
				t.Errorf("%s: %d bytes are reserved and %d kept for %d", name, m.used, m.kept, d.Size())
			}
		}
	}
}

// TestShortPacket: the bound is that of the whole value, with what is put between its
// parts, also for values that are not counted.
func TestShortPacket(t *testing.T) {
	for _, c := range []struct {
		name     string
		args     []Expr
		most     int64
		isTooBig bool
	}{
		{"to_base64", []Expr{longArg(1000)}, 1345, true}, // 1336 characters, 17 ends of lines
		{"to_base64", []Expr{longArg(1000)}, 1360, false},
		{"insert", []Expr{longArg(600), lit(1), lit(0), longArg(600)}, 1199, true},
		{"insert", []Expr{longArg(600), lit(1), lit(0), longArg(600)}, 1200, false},
		{"insert", []Expr{longArg(600), lit(1), lit(1), longArg(600)}, 1199, false},
		{"insert", []Expr{longArg(600), lit(601), lit(0), longArg(600)}, 1199, false}, // beyond the end: unchanged
		{"repeat", []Expr{lit("ab"), lit(600)}, 1199, true},
		{"repeat", []Expr{lit("ab"), lit(600)}, 1200, false},
		{"space", []Expr{lit(1200)}, 1199, true},
		{"space", []Expr{lit(1200)}, 1200, false},
		{"space", []Expr{lit(-1)}, 1024, false},
	} {
		var w warnings
		x := testCtx(&w)
		x.maxPacket = c.most
		d, err := EvalRow(x, must(NewFunc(nil, c.name, c.args...)), nil)
		if err != nil || d.IsNull() != c.isTooBig || (len(w) == 1) != c.isTooBig || c.isTooBig && w[0] != "1301" {
			t.Errorf("%s with at most %d bytes: %d, %v, warnings %v", c.name, c.most, d.Size(), err, w)
		}
	}
}

// TestLongDateFormat: formats are kept for all statements, and therefore short.
func TestLongDateFormat(t *testing.T) {
	if _, err := NewFunc(nil, "parse_datetime", longArg(10), longArg(1<<20)); err == nil {
		t.Error("a format of a megabyte is read")
	}
}

// TestInterrupted: loops over long values end with their statement.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	like := must(NewFunc(nil, "like", longArg(1<<20), longArg(10)))
	for name, e := range map[string]Expr{
		"sha2": must(NewFunc(nil, "sha2", longArg(2<<20), lit(256))), "compress": must(NewFunc(nil, "compress", longArg(2<<20))), "like": like,
		"regexp_like": must(NewFunc(nil, "regexp_like", longArg(40), &Const{D: value.String("^(a+)+$b"), T: textType(20, schema.CollationUTF8MB40900AICI)})),
	} {
		c := testCtx(nil)
		c.Context = ctx
		c.work = workStep - 1
		if _, err := EvalRow(c, e, nil); !sqlerr.IsQueryInterrupted(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestAsideEnds: what cannot be interrupted goes on without its statement.
func TestAsideEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := testCtx(nil)
	c.Context = ctx
	began, letGo, ended := make(chan struct{}), make(chan struct{}), make(chan struct{})
	go func() { <-began; cancel() }()
	err := c.aside(func() error {
		defer close(ended)
		close(began)
		<-letGo
		return nil
	})
	if !sqlerr.IsQueryInterrupted(err) {
		t.Error(err)
	}
	close(letGo)
	<-ended
	c.Context = t.Context()
	if err := c.aside(func() error { return sqlerr.RegexpTooBig() }); err == nil {
		t.Error("the error of a task is lost")
	}
	if err := c.aside(func() error { panic("x") }); err == nil {
		t.Error("a panic of a task is lost")
	}
}

// TestLongPatterns: patterns are compiled aside, or refused.
func TestLongPatterns(t *testing.T) {
	text := func(s string) Expr {
		return &Const{D: value.String(s), T: textType(len(s), schema.CollationUTF8MB40900AICI)}
	}
	for pattern, want := range map[string]string{
		strings.Repeat("(", longPattern) + "a" + strings.Repeat(")", longPattern): "1", strings.Repeat("a?", longPattern): "1", strings.Repeat("(", longPattern): "3691", strings.Repeat("a", maxPattern+1): "3700",
	} {
		d, err := EvalRow(testCtx(nil), must(NewFunc(nil, "regexp_like", text("a"), text(pattern))), nil)
		got := fmt.Sprint(d.IsNull())
		if e, ok := errors.AsType[*sqlerr.Error](err); ok {
			got = fmt.Sprint(e.Number)
		} else if err == nil {
			got = fmt.Sprint(d.Int())
		}
		if got != want {
			t.Errorf("%.10s of %d: %s, %v; want %s", pattern, len(pattern), got, err, want)
		}
	}
}

// TestSteps: a batch whose values are large is evaluated in parts, with the values of
// the whole, and without more memory than a part needs.
func TestSteps(t *testing.T) {
	const rows, size = 300, 64 << 10
	col := &Col{Name: "s", T: textType(20, schema.CollationUTF8MB40900AICI)}
	in := &vec.Batch{N: rows, Cols: []*vec.Vec{vec.NewSized(value.KindBytes, rows)}}
	for i := range rows {
		in.Cols[0].SetDatum(i, value.String(string(rune('a'+i%26))))
	}
	long := must(NewFunc(nil, "repeat", col, lit(size)))
	c := testCtx(nil)
	v, err := Eval(c, must(NewFunc(nil, "length", long)), in)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if v.I64[i] != size {
			t.Fatalf("row %d: %d", i, v.I64[i])
		}
	}
	if c.StepRows() >= rows {
		t.Errorf("a step has %d rows of %d bytes", c.StepRows(), size)
	}
	c.ReleaseAll()
	first := must(NewFunc(nil, "left", long, lit(1)))
	is := must(NewFunc(nil, "=", first, &Const{D: value.String("c"), T: types.Text(schema.CollationUTF8MB40900AICI)}))
	if err := EvalFilter(c, must(NewFilter(nil, is)), in); err != nil {
		t.Fatal(err)
	}
	if want := (rows + 23) / 26; in.Live() != want || in.Row(0) != 2 {
		t.Errorf("%d rows, the first is %d; want %d, from 2 on", in.Live(), in.Row(0), want)
	}
}

// TestStepHolds: the values of a step that are too small to be counted one by one are
// counted together, until it ends: rows of many columns have many of them.
func TestStepHolds(t *testing.T) {
	c := testCtx(nil)
	m := &meter{limit: 1 << 20}
	c.Memory = m
	row := vec.NewBatch([]value.Kind{value.KindBytes})
	row.N = 1
	row.Cols[0].Init(value.KindBytes, 1)
	row.Cols[0].SetDatum(0, value.String(strings.Repeat("a", 10_000)))
	e := must(NewFunc(nil, "upper", &Col{Index: 0, T: textType(10_000, schema.CollationUTF8MB40900AICI)}))
	mark := c.BeginStep()
	n := 0
	var err error
	for ; err == nil && n < 1000; n++ {
		_, err = Eval(c, e, row)
	}
	if !sqlerr.IsQueryMemoryExceeded(err) || n < 75 || n > 110 {
		t.Errorf("%d values of 10,000 bytes in 1 MiB: %v", n, err)
	}
	inner := c.BeginStep()
	c.EndStep(inner)
	if m.used < m.limit/2 {
		t.Errorf("%d bytes are held after a step within the step", m.used)
	}
	c.EndStep(mark)
	if m.used != 0 {
		t.Errorf("%d bytes are held after the step", m.used)
	}
}

// TestManyCallsAreLarge: calls with short values are large together.
func TestManyCallsAreLarge(t *testing.T) {
	call := must(NewFunc(nil, "upper", &Col{Index: 0, T: textType(100, schema.CollationUTF8MB40900AICI)}))
	list := []Expr{call}
	c := testCtx(nil)
	if c.AreLarge(list) {
		t.Error("a value of 100 characters is large")
	}
	for range 99 {
		list = append(list, call)
	}
	if !c.AreLarge(list) {
		t.Error("100 values of 100 characters are not large")
	}
	c.Params = []value.Datum{value.String(strings.Repeat("a", largeValue))}
	if !c.AreLarge([]Expr{&Param{T: textType(10, schema.CollationUTF8MB40900AICI)}}) || !c.AreLarge([]Expr{longArg(largeValue)}) {
		t.Error("a long parameter or constant is not large")
	}
	if f := must(NewFunc(nil, "greatest", list...)).(*Func); !f.large {
		t.Error("a call with 100 such arguments is not large")
	}
}

// TestFoldedValues: a plan holds some long values instead of calls, not any number.
func TestFoldedValues(t *testing.T) {
	c := testCtx(nil)
	call := must(NewFunc(nil, "repeat", lit("x"), lit(20_000)))
	kept := 0
	for range 1000 {
		if _, ok := Fold(c, call).(*Const); ok {
			kept++
		}
	}
	if kept != maxFolded/20_000 {
		t.Errorf("%d values of 20,000 bytes are kept", kept)
	}
	short := must(NewFunc(nil, "repeat", lit("x"), lit(20)))
	if _, ok := Fold(c, short).(*Const); !ok {
		t.Error("a short value is not kept after them")
	}
}

// TestSmallValues: many values that are too small to be counted one by one count together.
func TestSmallValues(t *testing.T) {
	const n, each = 1000, 20_000
	for _, name := range []string{"repeat", "hex", "json_quote", "lower"} {
		c := testCtx(nil)
		m := &meter{limit: 1 << 40}
		c.Memory = m
		args := map[string][]Expr{"repeat": {longArg(1), &Const{D: value.Int(each), T: intType()}}}[name]
		if args == nil {
			args = []Expr{longArg(each / 2)}
		}
		arg := must(NewFunc(nil, name, args...))
		for range n {
			if _, err := EvalRow(c, arg, nil); err != nil {
				t.Fatal(name, err)
			}
		}
		if m.kept < n*each/2*9/10 || m.kept > 2*n*each || m.used != m.kept {
			t.Errorf("%s: %d bytes are counted, and %d kept", name, m.used, m.kept)
		}
		m.limit = m.used
		var err error
		for range n {
			if _, err = EvalRow(c, arg, nil); err != nil {
				break
			}
		}
		if !sqlerr.IsQueryMemoryExceeded(err) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
