package exec

import (
	"math"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// subqueryStart is about what a run of a subquery costs besides its plan, in nanoseconds.
const subqueryStart = 3000

// work is about what a pipeline costs, in nanoseconds, that is done for the rows of its
// scan, and can be divided like these. What joins build is not: it is done once. The
// planner's estimates leave out dependent subqueries, which it plans after what has them.
func (env *Env) work(n physical.Node) float64 {
	sum := n.Est().Cost
	for ; n != nil; n = pipelineInput(n) {
		switch x := n.(type) {
		case *physical.HashJoin:
			_, build := sides(x)
			sum -= build.Est().Cost
		case *physical.NestedLoop:
			sum -= x.Right.Est().Cost
		case *physical.LookupJoin:
			sum += x.Left.Est().Rows * math.Max(x.Inner.Est().Rows, 1) * env.subqueryCost(x.Filter)
		case *physical.Filter:
			sum += x.Input.Est().Rows * env.subqueryCost(x.Conds)
		case *physical.Project:
			sum += x.Input.Est().Rows * env.subqueryCost(x.Exprs)
		}
	}
	return sum
}

// rowWork is work for each row of the pipeline's scan.
func (env *Env) rowWork(n physical.Node) float64 {
	return env.work(n) / math.Max(pipelineScan(n).Est().Rows, 1)
}

// subqueryCost is that of running the dependent subqueries in list once.
func (env *Env) subqueryCost(list []expr.Expr) (sum float64) {
	if env.subqueries == nil {
		return 0
	}
	for _, e := range list {
		expr.Walk(e, func(x expr.Expr) bool {
			if s, ok := x.(*expr.Subquery); ok && env.subqueries.depends(s.ID) {
				sum += env.subqueries.plans[s.ID].Est().Cost + subqueryStart
			}
			return true
		})
	}
	return sum
}
