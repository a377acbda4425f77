package logical

import (
	"fmt"
	"strings"

	"github.com/sqlots/sqlots/sql/expr"
)

// Format prints a plan as an indented tree, for traces and golden tests.
func Format(n Node) string {
	var b strings.Builder
	format(&b, n, 0)
	return b.String()
}

func format(b *strings.Builder, n Node, depth int) {
	b.WriteString(strings.Repeat("  ", depth))
	switch n := n.(type) {
	case *Scan:
		fmt.Fprintf(b, "scan %s", n.Table.Name)
		if n.Alias != n.Table.Name {
			b.WriteString(" as " + n.Alias)
		}
	case *Virtual:
		b.WriteString("virtual " + n.Name)
	case *Values:
		fmt.Fprintf(b, "values %d rows", len(n.Rows))
	case *JSONTable:
		fmt.Fprintf(b, "json_table %s of %s", n.Spec.Name, n.Doc)
	case *CTEScan:
		b.WriteString("cte " + n.CTE.Name)
	case *Filter:
		b.WriteString("filter " + list(n.Conds, " and "))
	case *Project:
		b.WriteString("project " + list(n.Exprs, ", "))
	case *Join:
		b.WriteString(n.Kind.String() + " join")
		if len(n.On) > 0 {
			b.WriteString(" on " + list(n.On, " and "))
		}
	case *Apply:
		b.WriteString(n.Kind.String() + " apply for each " + list(n.Params, ", "))
		if len(n.On) > 0 {
			b.WriteString(" on " + list(n.On, " and "))
		}
	case *Aggregate:
		b.WriteString("aggregate")
		if len(n.GroupBy) > 0 {
			b.WriteString(" by " + list(n.GroupBy, ", "))
		}
		for _, a := range n.Aggs {
			b.WriteString(" " + a.String())
		}
	case *Rollup:
		b.WriteString("rollup by " + list(n.GroupBy, ", "))
		for _, a := range n.Aggs {
			b.WriteString(" " + a.String())
		}
	case *Window:
		b.WriteString(n.String())
	case *Distinct:
		b.WriteString("distinct")
	case *Sort:
		b.WriteString("sort")
		for _, k := range n.Keys {
			b.WriteString(" " + k.Expr.String())
			if k.Desc {
				b.WriteString(" desc")
			}
		}
	case *Limit:
		b.WriteString("limit")
		if n.Count != nil {
			b.WriteString(" " + n.Count.String())
		}
		if n.Offset != nil {
			b.WriteString(" offset " + n.Offset.String())
		}
	case *SetOperation:
		b.WriteString([...]string{"union", "intersect", "except"}[n.Op])
		if n.All {
			b.WriteString(" all")
		}
	default:
		fmt.Fprintf(b, "%T", n)
	}
	b.WriteByte('\n')
	for _, in := range n.Inputs() {
		format(b, in, depth+1)
	}
}

func list(exprs []expr.Expr, sep string) string {
	parts := make([]string, len(exprs))
	for i, e := range exprs {
		parts[i] = e.String()
	}
	return strings.Join(parts, sep)
}
