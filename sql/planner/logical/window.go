package logical

import (
	"slices"
	"strings"

	"github.com/sqlots/sqlots/sql/expr"
)

// Window adds columns with window functions to its input. All of its functions
// have the same partitions and order, whose keys are columns of the input.
type Window struct {
	Input       Node
	PartitionBy []expr.Expr
	OrderBy     []SortKey
	Funcs       []*expr.Window
	Cols        []Column // of Funcs
}

// Columns implements Node.
func (n *Window) Columns() []Column { return append(slices.Clone(n.Input.Columns()), n.Cols...) }

// Inputs implements Node.
func (n *Window) Inputs() []Node { return []Node{n.Input} }

// Follows reports whether rows in the order of o are in that of n too.
func (n *Window) Follows(o *Window) bool {
	rest := slices.Clone(o.PartitionBy)
	keys := slices.Clone(o.OrderBy)
	for _, e := range n.PartitionBy {
		at := slices.IndexFunc(rest, func(x expr.Expr) bool { return sameColumn(x, e) })
		switch {
		case at >= 0:
			rest = slices.Delete(rest, at, at+1)
		case len(rest) == 0 && len(keys) > 0 && sameColumn(keys[0].Expr, e):
			keys = keys[1:]
		default:
			return false
		}
	}
	for _, k := range n.OrderBy {
		switch at := slices.IndexFunc(rest, func(x expr.Expr) bool { return sameColumn(x, k.Expr) }); {
		case at >= 0:
			rest = slices.Delete(rest, at, at+1)
		case len(rest) == 0 && len(keys) > 0 && keys[0].Desc == k.Desc && sameColumn(keys[0].Expr, k.Expr):
			keys = keys[1:]
		default:
			return false
		}
	}
	return true
}

func sameColumn(a, b expr.Expr) bool {
	x, ok1 := a.(*expr.Col)
	y, ok2 := b.(*expr.Col)
	return ok1 && ok2 && x.ID == y.ID
}

// String is the node as a line of text.
func (n *Window) String() string {
	s := "window"
	if len(n.PartitionBy) > 0 {
		s += " partition by " + list(n.PartitionBy, ", ")
	}
	for i, k := range n.OrderBy {
		s += [2]string{" order by ", ", "}[min(i, 1)] + k.Expr.String()
		if k.Desc {
			s += " desc"
		}
	}
	funcs := make([]string, len(n.Funcs))
	for i, f := range n.Funcs {
		funcs[i] = f.String()
	}
	return s + ": " + strings.Join(funcs, ", ")
}
