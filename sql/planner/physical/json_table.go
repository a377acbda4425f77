package physical

import "github.com/sqlots/sqlots/sql/expr"

// JSONTable is JSON_TABLE; the fields are those of logical.JSONTable.
type JSONTable struct {
	Base
	Doc  expr.Expr
	Spec *expr.JSONTable
}

// Inputs implements Node.
func (n *JSONTable) Inputs() []Node { return nil }
