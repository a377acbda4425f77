package ranges

import (
	"fmt"
	"math/rand"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

var bigint = schema.Type{ID: schema.TypeBigInt, Len: 20, Collation: schema.CollationBinary}

func col(pos int, null bool) *expr.Col {
	return &expr.Col{ID: expr.ColID(pos + 1), Index: pos, T: bigint, Null: null, Name: string(rune('a' + pos))}
}

func lit(v any) expr.Expr {
	switch v := v.(type) {
	case int:
		return expr.NewConst(value.Int(int64(v)), bigint)
	case string:
		d, err := value.ParseDecimal(v)
		if err != nil {
			panic(err)
		}
		return expr.NewConst(value.Dec(d), types.DecimalOf(5, d.Scale()))
	}
	return expr.NewConst(value.Null, types.Null)
}

func call(t testing.TB, name string, args ...expr.Expr) expr.Expr {
	t.Helper()
	e, err := expr.NewFunc(&expr.BindEnv{Collation: schema.CollationUTF8MB40900AICI}, name, args...)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return e
}

// randomCond makes a random condition over three columns.
func randomCond(t testing.TB, r *rand.Rand, depth int) expr.Expr {
	if depth > 0 && r.Intn(3) > 0 {
		name := []string{"and", "or", "or"}[r.Intn(3)]
		return call(t, name, randomCond(t, r, depth-1), randomCond(t, r, depth-1))
	}
	pos := r.Intn(3)
	c := col(pos, pos == 1)
	constant := func() expr.Expr {
		switch r.Intn(12) {
		case 0:
			return lit(nil)
		case 1:
			return lit(fmt.Sprintf("%d.5", r.Intn(4)))
		}
		return lit(r.Intn(5))
	}
	switch r.Intn(9) {
	case 0:
		return call(t, "in", c, constant(), constant(), lit(r.Intn(5)))
	case 1:
		return call(t, "is_null", c)
	case 2:
		return call(t, "not", call(t, "is_null", c))
	case 3:
		return call(t, "<=>", c, constant())
	case 4:
		return call(t, []string{"<", "<=", ">", ">=", "="}[r.Intn(5)], constant(), c)
	}
	return call(t, []string{"=", "=", "<", "<=", ">", ">=", "<>"}[r.Intn(7)], c, constant())
}

// rowAfter is (a, c) > (x, y), or <, of the first and the last of the columns.
func rowAfter(t testing.TB, r *rand.Rand) expr.Expr {
	op := []string{">", "<", ">=", "<="}[r.Intn(4)]
	first, x := col(0, false), lit(r.Intn(5))
	return call(t, "or", call(t, op[:1], first, x), call(t, "and", call(t, "=", first, x), call(t, op, col(2, false), lit(r.Intn(5)))))
}

func inSpan(s *Set, sp Span, key []value.Datum) bool {
	e := evaluator{set: s}
	k := edge{key, 0}
	low, high := e.compareEdges(sp.low(), k), e.compareEdges(k, sp.high())
	return low < 0 && high < 0
}

// TestSpansAgainstConditions compares spans with the conditions on all rows of
// a small universe.
func TestSpansAgainstConditions(t *testing.T) {
	const seed = 8
	r := rand.New(rand.NewSource(seed))
	columns := []Column{{Table: 0, Type: bigint}, {Table: 1, Type: bigint, Desc: true, Null: true}, {Table: 2, Type: bigint}}
	var rows [][]value.Datum
	for a := 0; a < 5; a++ {
		for b := -1; b < 5; b++ {
			for c := 0; c < 5; c++ {
				bd := value.Int(int64(b))
				if b < 0 {
					bd = value.Null
				}
				rows = append(rows, []value.Datum{value.Int(int64(a)), bd, value.Int(int64(c))})
			}
		}
	}
	built, exactOnes := 0, 0
	for i := 0; i < 4000; i++ {
		var conds []expr.Expr
		for n := 1 + r.Intn(3); n > 0; n-- {
			conds = expr.SplitAnd(conds, randomCond(t, r, r.Intn(3)))
		}
		if r.Intn(4) == 0 {
			conds = append(conds, rowAfter(t, r), call(t, "=", col(1, true), lit(r.Intn(5))))
		}
		set, residual := Build(columns, conds)
		if set == nil {
			continue
		}
		built++
		if len(residual) == 0 {
			exactOnes++
		}
		ctx := &expr.Ctx{}
		spans, err := set.Spans(ctx)
		if err != nil {
			t.Fatalf("case %d %v: %v", i, conds, err)
		}
		for j := 1; j < len(spans); j++ {
			e := evaluator{set: set}
			if e.compareEdges(spans[j-1].high(), spans[j].low()) > 0 {
				t.Fatalf("case %d %v: spans overlap or are out of order: %v", i, conds, spans)
			}
		}
		for _, row := range rows {
			want := isTrue(t, ctx, conds, row)
			n := 0
			for _, sp := range spans {
				if inSpan(set, sp, row) {
					n++
				}
			}
			if n > 1 {
				t.Fatalf("case %d %v: row %v is in %d spans", i, conds, row, n)
			}
			if want && n == 0 {
				t.Fatalf("case %d %v: row %v is true but in no span of %v", i, conds, row, spans)
			}
			if !want && n == 1 && isTrue(t, ctx, residual, row) {
				t.Fatalf("case %d %v: row %v is not true, passes the residual %v and is in a span", i, conds, row, residual)
			}
			if set.Point && n == 1 && (row[1].IsNull()) {
				t.Fatalf("case %d %v: a point span holds NULL", i, conds)
			}
		}
	}
	if built < 1000 || exactOnes < 300 {
		t.Fatalf("the generator is too weak: %d sets, %d exact", built, exactOnes)
	}
}

func isTrue(t *testing.T, ctx *expr.Ctx, conds []expr.Expr, row []value.Datum) bool {
	t.Helper()
	for _, c := range conds {
		d, err := expr.EvalRow(ctx, c, row)
		if err != nil {
			t.Fatalf("%s: %v", c, err)
		}
		if d.IsNull() || d.Bits() == 0 {
			return false
		}
	}
	return true
}

func TestLiteralPrefix(t *testing.T) {
	for _, c := range []struct {
		pattern string
		binary  bool
		want    string
	}{
		{"abc%", false, "abc"}, {"a_c%", false, "a"}, {`a\%b%`, false, "a%b"}, {"%a", false, ""}, {"ab  %", false, "ab"},
		{"ab %", true, "ab "}, {"aé%", false, "a"}, {"aé%", true, "aé"}, {`ab\`, false, `ab\`},
	} {
		got := literalPrefix([]byte(c.pattern), '\\', c.binary)
		if string(got) != c.want {
			t.Errorf("literalPrefix(%q, binary=%v) = %q, want %q", c.pattern, c.binary, got, c.want)
		}
	}
}
