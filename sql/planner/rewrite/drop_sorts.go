package rewrite

import (
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// dropSorts removes ORDER BY without LIMIT where the order is lost anyway:
// below joins, grouping, windows, set operations and other sorts. Aggregates that
// depend on the order of their rows keep it, and so do projects with effects
// (SELECT @n := @n + 1 FROM (SELECT … ORDER BY x) d).
func (r *Rewriter) dropSorts(n logical.Node) logical.Node {
	return bottomUp(n, func(n logical.Node) logical.Node {
		switch x := n.(type) {
		case *logical.Join, *logical.SetOperation, *logical.Sort:
		case *logical.Window:
			if len(x.PartitionBy)+len(x.OrderBy) == 0 {
				return n // ROW_NUMBER() OVER () counts rows as they come
			}
		case *logical.Aggregate:
			for _, a := range x.Aggs {
				if dependsOnOrder(a) {
					return n
				}
			}
		default:
			return n
		}
		in := n.Inputs()
		out := make([]logical.Node, len(in))
		for i := range in {
			out[i] = unsorted(in[i])
		}
		return withInputs(n, out)
	})
}

func dependsOnOrder(a *expr.Agg) bool {
	switch a.Op {
	case expr.AggGroupConcat, expr.AggJSONArrayAgg, expr.AggJSONObjectAgg, expr.AggSTCollect:
		return true
	}
	for _, e := range a.Args {
		if isVolatile(e) {
			return true
		}
	}
	return false
}

func unsorted(n logical.Node) logical.Node {
	switch x := n.(type) {
	case *logical.Sort:
		for _, k := range x.Keys {
			if isVolatile(k.Expr) {
				return n
			}
		}
		return unsorted(x.Input)
	case *logical.Project:
		if !anyVolatile(x.Exprs) {
			return withInputs(x, []logical.Node{unsorted(x.Input)})
		}
	case *logical.Filter:
		if !anyVolatile(x.Conds) {
			return withInputs(x, []logical.Node{unsorted(x.Input)})
		}
	}
	return n
}
