package exec

import (
	"slices"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/value"
)

// TestSpilledAgain: operators give the same rows in memory, and where their partitions on
// disk do not fit in memory either and are spilled again.
func TestSpilledAgain(t *testing.T) {
	testflag.Normal(t)
	l, r := data("l", 41, 2500, 900), data("right", 42, 2000, 900)
	for i := range l.rows { // as many keys as rows, most of them on both sides
		l.rows[i][0] = value.Int(int64(i * 7))
	}
	for i := range r.rows {
		r.rows[i][0] = value.Int(int64(i * 14))
	}
	tables := newSource(l, r)
	project := func(tab *memTable, cols ...int) *physical.Project {
		scan := scanOf(tab.t)
		p := &physical.Project{Input: scan}
		for _, c := range cols {
			p.Exprs, p.Cols = append(p.Exprs, ref(scan, c)), append(p.Cols, scan.Cols[c])
		}
		return p
	}
	var roots []physical.Node
	for _, cols := range [][]int{{0}, {1, 2}} {
		a, b := project(l, cols...), project(r, cols...)
		base := physical.Base{Cols: a.Cols}
		for _, op := range []physical.SetOp{physical.SetUnion, physical.SetIntersect, physical.SetExcept} {
			for _, all := range []bool{false, true} {
				if op != physical.SetUnion || !all {
					roots = append(roots, &physical.SetOperation{Base: base, Op: op, All: all, Left: a, Right: b})
				}
			}
		}
		roots = append(roots, &physical.Distinct{Base: base, Input: a})
	}
	scan, other := scanOf(l.t), scanOf(r.t)
	for _, aggs := range [][]*expr.Agg{{agg("count", false), agg("sum", false, ref(scan, 3)), agg("max", false, ref(scan, 1))}, {agg("count", true, ref(scan, 1), ref(scan, 0)), agg("sum", true, ref(scan, 0))}} {
		base, group := aggBase(scan, []int{0}, aggs)
		roots = append(roots, &physical.HashAggregate{Base: base, Input: scan, GroupBy: group, Aggs: aggs})
	}
	for _, kind := range []physical.JoinKind{physical.JoinInner, physical.JoinLeft, physical.JoinSemi, physical.JoinAnti} {
		base := joinCols(scan, other)
		if kind == physical.JoinSemi || kind == physical.JoinAnti {
			base = scan.Base
		}
		roots = append(roots, &physical.HashJoin{Base: base, Kind: kind, Left: scan, Right: other, LeftKeys: []expr.Expr{ref(scan, 0)}, RightKeys: []expr.Expr{ref(other, 0)}})
	}
	for i, root := range roots {
		run := func(over int) []string {
			src := &memSource{tables: tables.tables, size: 300}
			env := testEnv(src)
			env.BatchSize, env.Parallelism = 1024, 1
			if over > 0 {
				env.spillAlways(t, over)
			}
			got, err := collect(t.Context(), env, &physical.Plan{Root: root})
			if err != nil {
				t.Fatal(err)
			}
			env.checkReleased(t, &physical.Plan{Root: root})
			slices.Sort(got)
			return got
		}
		want := run(0)
		for _, over := range []int{10_000} {
			if got := run(over); !slices.Equal(got, want) {
				t.Errorf("%d %s over %d: %d rows, want %d", i, physical.Title(root), over, len(got), len(want))
			}
		}
	}
}
