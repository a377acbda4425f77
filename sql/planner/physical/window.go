package physical

import (
	"fmt"
	"strings"

	"github.com/sqlots/sqlots/sql/expr"
)

// Window adds columns with window functions to its input, which is ordered by
// the partitions and then by OrderBy. It keeps that order.
type Window struct {
	Base
	Input       Node
	PartitionBy []expr.Expr
	OrderBy     []SortKey
	Funcs       []*expr.Window
}

// Inputs implements Node.
func (n *Window) Inputs() []Node { return []Node{n.Input} }

func windowDetails(n *Window) []string {
	var keys []string
	if len(n.PartitionBy) > 0 {
		keys = append(keys, "partition by: "+join(n.PartitionBy, ", "))
	}
	if len(n.OrderBy) > 0 {
		keys = append(keys, "order by: "+keyText(n.OrderBy))
	}
	out := []string{}
	if len(keys) > 0 {
		out = append(out, strings.Join(keys, " "))
	}
	funcs := make([]string, len(n.Funcs))
	for i, f := range n.Funcs {
		funcs[i] = f.String()
	}
	return append(out, "functions: "+strings.Join(funcs, ", "))
}

func verifyWindow(n *Window) error {
	in := n.Input.Columns()
	if len(n.Cols) != len(in)+len(n.Funcs) {
		return fmt.Errorf("%d columns for %d of the input and %d functions", len(n.Cols), len(in), len(n.Funcs))
	}
	for _, f := range n.Funcs {
		if err := placed(f.Inputs(), in); err != nil {
			return err
		}
	}
	return firstError(sameWidth(n.Cols[:len(in)], in), placed(n.PartitionBy, in), placedKeys(n.OrderBy, in))
}
