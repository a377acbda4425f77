package exec

import (
	"math"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// subqueryStart is about what each operator of a subquery costs to begin with, in
// nanoseconds: 4,000 to 7,000 were measured.
const subqueryStart = 5000

// work is about what a pipeline costs, in nanoseconds, that is done for the rows of its
// scan, and can be divided like these. What joins build is not: it is done once. The
// planner's estimates leave out dependent subqueries, which it plans after what has them.
func (env *Env) work(n physical.Node) float64 {
	sum := physical.PipelineCost(n)
	for ; n != nil; n = pipelineInput(n) {
		switch x := n.(type) {
		case *physical.LookupJoin:
			left := x.Left.Est().Rows
			same, other := env.subqueryCosts(x.Filter, len(x.Left.Columns()))
			sum += left*same + left*math.Max(x.Inner.Est().Rows, 1)*other
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
func (env *Env) subqueryCost(list []expr.Expr) float64 {
	same, other := env.subqueryCosts(list, math.MaxInt)
	return same + other
}

// subqueryCosts is subqueryCost, apart for subqueries that read nothing but the first
// columns: their results are kept, and serve all rows that have these values.
func (env *Env) subqueryCosts(list []expr.Expr, first int) (same, other float64) {
	if env.subqueries == nil {
		return 0, 0
	}
	for _, e := range list {
		expr.Walk(e, func(x expr.Expr) bool {
			s, ok := x.(*expr.Subquery)
			if !ok || !env.subqueries.depends(s.ID) {
				return true
			}
			n := env.subqueries.plans[s.ID]
			if c := n.Est().Cost + operators(n)*subqueryStart; readsBelow(s.Outer, first) {
				same += c
			} else {
				other += c
			}
			return true
		})
	}
	return same, other
}

// readsBelow reports expressions that read nothing but the first columns.
func readsBelow(list []expr.Expr, first int) bool {
	ok := true
	for _, e := range list {
		expr.Walk(e, func(x expr.Expr) bool {
			c, is := x.(*expr.Col)
			ok = ok && (!is || c.Index < first)
			return ok
		})
	}
	return ok
}

// operators is the number of operators of a plan, lookups among them.
func operators(n physical.Node) float64 {
	sum := 1.0
	if _, ok := n.(*physical.LookupJoin); ok {
		sum++
	}
	for _, in := range n.Inputs() {
		sum += operators(in)
	}
	return sum
}
