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
	// Subplans are the subqueries, by expr.Subquery.ID; nil for those that
	// became joins.
	Subplans []Node
	// Dependent marks the subplans that read values of the query around
	// (expr.Outer) and run for each combination of these.
	Dependent []bool
	// CTEs are the common table expressions that are computed once.
	CTEs []*CTE
	// Change is *Insert, *Update, *Delete, *MultiUpdate or *MultiDelete; nil for
	// a query.
	Change any
	// ValuesMatter: the plan is right only for the parameters with which it was
	// made.
	ValuesMatter bool
	// Guards are ranges by parameters of which other paths might be better if they
	// had other numbers of entries.
	Guards []Guard
	// ParamTypes are the types that the plan assumes of its parameters.
	ParamTypes []schema.Type
	// Tables are the tables that the plan reads or writes, for plan-cache
	// invalidation and metadata locks.
	Tables []*schema.Table
	// Writes are those of Tables that Change may write to.
	Writes []*schema.Table
	// Views are the views that the statement reads.
	Views []*schema.View
	// Keys are the foreign keys that the change keeps; nil for none. Their tables
	// are in Tables from position Named on, those that their actions write to
	// also in Writes.
	Keys  *schema.References
	Named int
	// NoCache: the plan depends on more than its parameters.
	NoCache bool
	// Locks: the query takes row locks (FOR UPDATE, FOR SHARE).
	Locks bool
	// LocksForUpdate: some of them exclusively.
	LocksForUpdate bool
	// AsOf: some tables are read as they were at a time.
	AsOf bool
	// CalcFoundRows is SQL_CALC_FOUND_ROWS.
	CalcFoundRows bool
}

// IsDependent reports whether a subplan reads values of the query around.
func (p *Plan) IsDependent(id int) bool { return id < len(p.Dependent) && p.Dependent[id] }

// Assignment sets column Column of the table to Value.
type Assignment struct {
	Column  int
	Value   expr.Expr
	Default bool // "= DEFAULT": Value is the default expression
}

// RowCheck is logical.RowCheck: what written rows must fulfil.
type RowCheck struct {
	DB, View string
	Conds    []expr.Expr
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
	// Vars and Set are of LOAD DATA: where Columns has -1, the value goes to
	// the user variable of that place in Vars; then Set is assigned from left
	// to right and sees the row as made so far.
	Vars []string
	// Attributes are names in the place of Vars: there the value becomes an
	// attribute; "" for none.
	Attributes []string
	Set        []Assignment
	Check      *RowCheck
	// Returning are expressions over each written row; nil without RETURNING.
	Returning []expr.Expr
}

// Update changes the rows of Root, whose first columns are all columns of
// Table in table order. Assignments see the row as changed so far (MySQL
// evaluates from left to right).
type Update struct {
	Table       *schema.Table
	Assignments []Assignment
	Ignore      bool
	Check       *RowCheck
}

// Delete removes the rows of Root, laid out as for Update.
type Delete struct {
	Table  *schema.Table
	Ignore bool
	// Limit is the number of rows to remove, of which those that a cascade of
	// the same statement removed are no part; nil for all of Root.
	Limit expr.Expr
	// Returning are expressions over each removed row of Root; nil without
	// RETURNING.
	Returning []expr.Expr
}

// MultiUpdate changes rows of several tables of a join, each row once, by the
// first joined row that it is part of. The assignments to a table see its
// earlier ones, and the other tables as they were.
type MultiUpdate struct {
	Targets []UpdateTarget
	Ignore  bool
}

// UpdateTarget is a table of MultiUpdate, whose columns, all of them in table
// order, are those of Root from position At on. They are NULL where an outer
// join found no row.
type UpdateTarget struct {
	Table       *schema.Table
	At          int
	Assignments []Assignment // over Root's columns
	Check       *RowCheck    // over Root's columns
}

// MultiDelete removes rows of several tables of a join, laid out as for
// MultiUpdate.
type MultiDelete struct {
	Targets []DeleteTarget
	Ignore  bool
}

// DeleteTarget is a table of MultiDelete.
type DeleteTarget struct {
	Table *schema.Table
	At    int
}

// Guard is a range of a key of a table.
type Guard struct {
	Table *schema.Table
	KeyRange
}
