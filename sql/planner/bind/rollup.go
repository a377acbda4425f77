package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// hasRollup reports GROUP BY … WITH ROLLUP.
func (k *block) hasRollup() bool { return k.s.GroupBy != nil && k.s.GroupBy.Rollup }

// groupingFunc binds GROUPING(…): 1111 outside of the clauses of a ROLLUP that
// see groups. What its arguments are is known when the groups are (rewrite).
func (b *binder) groupingFunc(sc *scope, n *ast.FuncCallExpr) (expr.Expr, error) {
	if sc.agg == nil || sc.inAgg || !sc.rollup {
		return nil, sqlerr.InvalidGroupFunctionUse()
	}
	args, err := b.values(sc, n.Args)
	if err != nil {
		return nil, err
	}
	return expr.NewGrouping(b.be, args...)
}

// grouping rewrites GROUPING: 3602 for what is not grouped.
func (g *grouping) grouping(f *expr.Func) (expr.Expr, error) {
	from := make([]int, len(f.Args))
	for i, a := range f.Args {
		at := -1
		for j, x := range g.k.group {
			if at < 0 && expr.Equal(x, a) {
				at = j
			}
		}
		if at < 0 {
			return nil, sqlerr.GroupingNotInGroupBy(i + 1)
		}
		from[i] = len(g.k.group) - at
	}
	return expr.GroupingOver(f, colExpr(&g.rolled), from), nil
}

// beginRollup makes the column of the rolled-up groups, and all groups
// nullable.
func (g *grouping) beginRollup() {
	g.rolled = logical.Column{ID: g.k.b.newID(), Name: "rolled", T: types.BigInt, Hidden: true}
	for i := range g.cols {
		g.cols[i].Null = true
	}
}

// rollup is the node of the groups.
func (g *grouping) rollup(input logical.Node) logical.Node {
	k := g.k
	keys := newKeyProject(k.b, input)
	n := &logical.Rollup{GroupCols: g.cols, Rolled: g.rolled, Aggs: k.agg.calls, AggCols: k.agg.cols}
	for _, e := range k.group {
		n.GroupBy = append(n.GroupBy, keys.column(e))
	}
	n.Input = keys.node()
	return n
}
