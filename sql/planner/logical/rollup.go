package logical

import (
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
)

// Rollup is GROUP BY … WITH ROLLUP: the groups of all its columns, of all but
// the last, and so on to the one of all rows. Columns that a row sums over are
// NULL in it, and Rolled is their number. The columns are the groups, Rolled,
// the aggregates. GroupBy are columns of the input.
type Rollup struct {
	Input     Node
	GroupBy   []expr.Expr
	GroupCols []Column
	Rolled    Column
	Aggs      []*expr.Agg
	AggCols   []Column
}

// Columns implements Node.
func (n *Rollup) Columns() []Column {
	return append(append(slices.Clone(n.GroupCols), n.Rolled), n.AggCols...)
}

// Inputs implements Node.
func (n *Rollup) Inputs() []Node { return []Node{n.Input} }
