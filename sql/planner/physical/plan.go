package physical

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
)

// Plan is the plan of one statement: a query when Change is nil.
type Plan struct {
	// Root yields the rows of a query, or the rows that Change works on (nil
	// for INSERT … VALUES).
	Root Node
	// Subplans are the uncorrelated subqueries, by expr.Subquery.ID; nil for
	// those that became joins.
	Subplans []Node
	// Change is *Insert, *Update or *Delete; nil for a query.
	Change any
	// ParamTypes are the types that the plan assumes of its parameters.
	ParamTypes []schema.Type
	// Tables are the tables that the plan reads or writes, for plan-cache
	// invalidation and metadata locks.
	Tables []*schema.Table
	// NoCache: the plan depends on more than its parameters.
	NoCache bool
	// Locks: the query takes row locks (FOR UPDATE, FOR SHARE).
	Locks bool
	// CalcFoundRows is SQL_CALC_FOUND_ROWS.
	CalcFoundRows bool
}

// Assignment sets column Column of the table to Value.
type Assignment struct {
	Column  int
	Value   expr.Expr
	Default bool // "= DEFAULT": Value is the default expression
}

// Insert writes rows. Source rows come from Rows, or from the plan's Root.
type Insert struct {
	Table *schema.Table
	// Columns, Rows, Defaults and OnDuplicate as in logical.Insert.
	Columns     []int
	Rows        [][]expr.Expr
	Defaults    []expr.Expr
	Replace     bool
	Ignore      bool
	OnDuplicate []Assignment
}

// Update changes the rows of Root, whose first columns are all columns of
// Table in table order. Assignments see the row as changed so far (MySQL
// evaluates from left to right).
type Update struct {
	Table       *schema.Table
	Assignments []Assignment
	Ignore      bool
}

// Delete removes the rows of Root, laid out as for Update.
type Delete struct {
	Table  *schema.Table
	Ignore bool
}
