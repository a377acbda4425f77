package logical

import "github.com/sqlots/sqlots/sql/expr"

// JSONTable is JSON_TABLE: rows that come out of the document Doc, which has
// one value in a run of the plan.
type JSONTable struct {
	Doc  expr.Expr
	Spec *expr.JSONTable
	Cols []Column
}

// Columns implements Node.
func (n *JSONTable) Columns() []Column { return n.Cols }

// Inputs implements Node.
func (n *JSONTable) Inputs() []Node { return nil }
