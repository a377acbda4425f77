package ranges

import (
	"math/rand"
	"testing"

	"github.com/sqlots/sqlots/sql/expr"
)

// TestTuples: a list of tuples has the spans that the OR of their equalities
// has, whatever is next to it.
func TestTuples(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	columns := []Column{{Table: 0, Type: bigint}, {Table: 1, Type: bigint, Desc: true, Null: true}, {Table: 2, Type: bigint}}
	constant := func() expr.Expr {
		switch r.Intn(20) {
		case 0:
			return lit(nil)
		case 1:
			return lit("2.5")
		}
		return lit(r.Intn(6))
	}
	listed := 0
	for i := range 300 {
		width := 1 + r.Intn(3)
		var branches []expr.Expr
		for range minTuples + r.Intn(20) {
			branch := call(t, "=", col(0, false), constant())
			for c := 1; c < width; c++ {
				branch = call(t, "and", branch, call(t, "=", constant(), col(c, c == 1)))
			}
			branches = append(branches, branch)
		}
		or := call(t, "or", branches...)
		conds := []expr.Expr{or}
		if r.Intn(2) == 0 {
			conds = append(conds, call(t, "<>", col(2, false), lit(3)))
		}
		set, residual := Build(columns, conds)
		if set == nil {
			t.Fatalf("case %d: no set", i)
		}
		if _, ok := set.conj[0].(*tuples); ok {
			listed++
			if len(residual) != len(conds)-1 || set.Point != (width == len(columns)) {
				t.Errorf("case %d: residual %v, point %v", i, residual, set.Point)
			}
		}
		plain := &Set{Columns: columns, conj: []node{(&builder{columns: columns}).node(or)}}
		got, err := set.Spans(&expr.Ctx{})
		if err != nil {
			t.Fatal(err)
		}
		want, err := plain.Spans(&expr.Ctx{})
		if err != nil {
			t.Fatal(err)
		}
		e := evaluator{set: set}
		if len(got) != len(want) {
			t.Fatalf("case %d: %d spans, want %d", i, len(got), len(want))
		}
		for j := range got {
			if e.compareLow(got[j], want[j]) != 0 || e.compareHigh(got[j], want[j]) != 0 {
				t.Fatalf("case %d: span %d is %v, want %v", i, j, got[j], want[j])
			}
		}
	}
	if listed < 100 {
		t.Errorf("only %d lists were recognised", listed)
	}
}
