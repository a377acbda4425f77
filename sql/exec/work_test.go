package exec

import (
	"testing"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
)

// TestWork: what joins build is not shared by workers; a dependent subquery is run for each
// row, or for each left row of a lookup join if it reads nothing else.
func TestWork(t *testing.T) {
	scan := func(rows, cost float64) *physical.Scan {
		s := &physical.Scan{Access: &physical.FullScan{}}
		s.Cols, s.Estimate = outCols(types.BigInt).Cols, physical.Estimate{Rows: rows, Cost: cost}
		s.Lock.None = true
		return s
	}
	env := testEnv(nil)
	sub := scan(1, 1000)
	env.subqueries = &subqueries{plans: []physical.Node{sub}, dependent: []bool{true}}
	outer := func(col int) []expr.Expr {
		return []expr.Expr{&expr.Subquery{Outer: []expr.Expr{&expr.Col{Index: col, T: types.BigInt}}}}
	}
	build := scan(10, 500)
	hash := &physical.HashJoin{Left: scan(100, 2000), Right: build}
	hash.Estimate = physical.Estimate{Rows: 100, Cost: 4000}
	filter := &physical.Filter{Input: hash, Conds: outer(0)}
	filter.Estimate = physical.Estimate{Rows: 50, Cost: 5000}
	lookup := func(col int) *physical.LookupJoin {
		j := &physical.LookupJoin{Left: scan(100, 2000), Inner: scan(4, 0), Filter: outer(col)}
		j.Estimate = physical.Estimate{Rows: 400, Cost: 9000}
		return j
	}
	const run = 1000 + subqueryStart
	for i, c := range []struct {
		n    physical.Node
		want float64
	}{
		{hash, 4000 - 500}, {filter, 5000 - 500 + 100*run}, {lookup(0), 9000 + 100*run}, {lookup(1), 9000 + 400*run},
	} {
		if got := env.work(c.n); got != c.want {
			t.Errorf("%d: %v, want %v", i, got, c.want)
		}
		if got := env.rowWork(c.n); got != c.want/100 {
			t.Errorf("%d: %v for a row, want %v", i, got, c.want/100)
		}
	}
}
