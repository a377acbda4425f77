package planner_test

import (
	"testing"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// TestVerify: a plan that hangs together passes, and one with a fault does not.
func TestVerify(t *testing.T) {
	col := func(i int) expr.Expr {
		return &expr.Col{ID: expr.ColID(i + 1), Index: i, T: types.BigInt, Null: true, Name: "c"}
	}
	base := func(n int) (b physical.Base) {
		for range n {
			b.Cols = append(b.Cols, physical.Column{Name: "c", T: types.BigInt, Null: true})
		}
		return b
	}
	one := expr.NewConst(value.Int(1), types.BigInt)
	in := &physical.Values{Base: base(2), Rows: [][]expr.Expr{{one, one}}}
	text := &expr.Col{ID: 9, Index: 0, T: types.VarcharOf(5, 255), Name: "s"}
	outer := func(slot int) []expr.Expr { return []expr.Expr{&expr.Outer{Slot: slot, T: types.BigInt}} }
	apply := func(right physical.Node) physical.Node {
		return &physical.Apply{Base: base(4), Left: in, Right: right, Params: []expr.Expr{col(0)}}
	}
	for _, c := range []struct {
		name string
		root physical.Node
		ok   bool
	}{
		{"values", in, true}, {"a short row", &physical.Values{Base: base(2), Rows: [][]expr.Expr{{one, one}, {one}}}, false},
		{"filter", &physical.Filter{Base: base(2), Input: in, Conds: []expr.Expr{col(1)}}, true}, {"a column too far", &physical.Filter{Base: base(2), Input: in, Conds: []expr.Expr{col(2)}}, false},
		{"a column of another kind", &physical.Filter{Base: base(2), Input: in, Conds: []expr.Expr{text}}, false}, {"columns that a filter adds", &physical.Filter{Base: base(3), Input: in}, false},
		{"project", &physical.Project{Base: base(1), Input: in, Exprs: []expr.Expr{col(1)}}, true}, {"an expression less", &physical.Project{Base: base(2), Input: in, Exprs: []expr.Expr{col(1)}}, false}, {"no input", &physical.Project{Base: base(1), Exprs: []expr.Expr{one}}, false},
		{"join", &physical.HashJoin{Base: base(4), Left: in, Right: in, LeftKeys: []expr.Expr{col(0)}, RightKeys: []expr.Expr{col(1)}}, true}, {"a key less", &physical.HashJoin{Base: base(4), Left: in, Right: in, LeftKeys: []expr.Expr{col(0)}}, false},
		{"keys of two kinds", &physical.HashJoin{Base: base(4), Left: in, Right: in, LeftKeys: []expr.Expr{col(0)}, RightKeys: []expr.Expr{text}}, false}, {"a join of too few columns", &physical.HashJoin{Base: base(3), Left: in, Right: in, LeftKeys: []expr.Expr{col(0)}, RightKeys: []expr.Expr{col(1)}}, false},
		{"semi join", &physical.HashJoin{Base: base(2), Kind: physical.JoinSemi, Left: in, Right: in, LeftKeys: []expr.Expr{col(0)}, RightKeys: []expr.Expr{col(1)}}, true}, {"the filter of a join", &physical.NestedLoop{Base: base(4), Left: in, Right: in, Filter: []expr.Expr{col(3)}}, true}, {"a filter too far", &physical.NestedLoop{Base: base(4), Left: in, Right: in, Filter: []expr.Expr{col(4)}}, false},
		{"sort", &physical.Sort{Base: base(2), Input: in, Keys: []physical.SortKey{{Expr: col(1)}}}, true}, {"a key too far", &physical.Sort{Base: base(2), Input: in, Keys: []physical.SortKey{{Expr: col(2)}}}, false},
		{"outer value in a filter", apply(&physical.Filter{Base: base(2), Input: in, Conds: outer(0)}), true}, {"too far in a filter", apply(&physical.Filter{Base: base(2), Input: in, Conds: outer(1)}), false},
		{"outer value in a project", apply(&physical.Project{Base: base(2), Input: in, Exprs: append(outer(0), one)}), true}, {"too far in a project", apply(&physical.Project{Base: base(2), Input: in, Exprs: append(outer(1), one)}), false},
		{"too far below", apply(&physical.Limit{Base: base(2), Count: one, Input: &physical.Filter{Base: base(2), Input: in, Conds: outer(3)}}), false},
		{"outer value of an apply inside", apply(&physical.Apply{Base: base(2), Kind: physical.JoinSemi, Left: in, Right: in, Params: outer(0)}), true}, {"too far in its parameters", apply(&physical.Apply{Base: base(2), Kind: physical.JoinSemi, Left: in, Right: in, Params: outer(1)}), false},
		{"too far in its filter", apply(&physical.Apply{Base: base(2), Kind: physical.JoinSemi, Left: in, Right: in, Filter: outer(1)}), false}, {"too far on its left", apply(&physical.Apply{Base: base(2), Kind: physical.JoinSemi, Left: &physical.Filter{Base: base(2), Input: in, Conds: outer(1)}, Right: in}), false},
		{"too far in a parameter's filter", apply(&physical.Apply{Base: base(2), Kind: physical.JoinSemi, Left: in, Right: &physical.Filter{Base: base(2), Input: in, Conds: outer(2)}, Params: append(outer(0), one)}), false},
	} {
		if err := physical.Verify(&physical.Plan{Root: c.root}); (err == nil) != c.ok {
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
