package logical

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/priv"
)

// Statement is what bind makes of one SQL statement. The types below and
// those in admin.go implement it.
type Statement interface{ statement() }

// Deps is what a statement depends on in addition to the tables of its plan.
type Deps struct {
	// Views are the views that it names, directly or by another one.
	Views []*schema.View
	// Needs are the privileges without which it does not run.
	Needs *priv.Needs
}

// Dependencies is d.
func (d *Deps) Dependencies() *Deps { return d }

// Query is a SELECT (or SHOW, DESCRIBE, VALUES, TABLE).
type Query struct {
	Deps
	Root Node
	// Subqueries are the subqueries in expressions, by expr.Subquery.ID; nil
	// where one became a join.
	Subqueries []Node
	// Locks is set when a table is read with a locking clause.
	Locks bool
	// LocksForUpdate: FOR UPDATE is among them.
	LocksForUpdate bool
	// Into are the user variables of SELECT … INTO @a, @b.
	Into []string
	// File is INTO OUTFILE or INTO DUMPFILE; nil without.
	File *OutFile
	// CalcFoundRows is SQL_CALC_FOUND_ROWS.
	CalcFoundRows bool
	// Limited: the query as a whole has a LIMIT, which goes before
	// sql_select_limit.
	Limited bool
}

// Reads are the subqueries in expressions of a statement that is no query.
type Reads struct {
	Deps
	// Subqueries, Locks and LocksForUpdate are as in Query.
	Subqueries            []Node
	Locks, LocksForUpdate bool
}

// Query is a query of one row without columns that has the subqueries.
func (r *Reads) Query() *Query {
	return &Query{Deps: r.Deps, Root: &Values{Rows: [][]expr.Expr{{}}}, Subqueries: r.Subqueries, Locks: r.Locks, LocksForUpdate: r.LocksForUpdate}
}

// OutFile is the file that a query writes.
type OutFile struct {
	Path string
	// Dump writes one row without formatting.
	Dump bool
	// Charset of the text, "" for each column's own.
	Charset                          string
	FieldsTerminated, FieldsEnclosed string
	FieldsEscaped                    string
	OptionallyEnclosed               bool
	LinesStarting, LinesTerminated   string
}

// Assignment sets column Column (position in the table) to Value. Value is an
// expression over the statement's row; it is not yet converted to the
// column's type. Default is set for "= DEFAULT"; Value is nil if the column
// has no default, which is 1364 for each row.
type Assignment struct {
	Column  int
	Value   expr.Expr
	Default bool
}

// Insert is INSERT, REPLACE and the plan of LOAD DATA.
type Insert struct {
	Deps
	Table *schema.Table
	// Columns are the target positions in Table.Columns, in the order of the
	// source's columns.
	Columns []int
	// Rows are the VALUES; a nil expression is DEFAULT. An expression may read
	// columns of the row to its left (MySQL's INSERT (a,b) VALUES (1,a+1)) as
	// expr.Col with Index = table position. Source is the SELECT instead.
	Rows   [][]expr.Expr
	Source Node
	// Defaults give each table column its default expression (constant or
	// function), nil when the column has none and is not nullable.
	Defaults []expr.Expr
	Replace  bool
	Ignore   bool
	// OnDuplicate are the assignments of ON DUPLICATE KEY UPDATE. Their
	// expressions see a row of 2n columns: Index 0..n-1 the existing row in
	// table order, n..2n-1 the row to be inserted (VALUES(c)), from 2n on the
	// columns of Source that follow those of Columns.
	OnDuplicate []Assignment
	Subqueries  []Node
	// Check is nil when all rows may be written.
	Check *RowCheck
	// Returning is nil without RETURNING.
	Returning *Returning
}

// Returning are the rows with which a change answers: expressions over the row
// as it was written, or as it was before it was deleted.
type Returning struct {
	// Input are the columns of the row: those of the table in its order, then
	// what a view computes.
	Input []Column
	Exprs []expr.Expr
	Cols  []Column
}

// LoadData is LOAD DATA [LOCAL] INFILE.
type LoadData struct {
	Insert Insert // target, Columns, Defaults, Replace, Ignore; no rows
	Local  bool
	Path   string
	// Charset of the file, "" for the database's.
	Charset                          string
	FieldsTerminated, FieldsEnclosed string
	FieldsEscaped                    string
	OptionallyEnclosed               bool
	LinesStarting, LinesTerminated   string
	IgnoreLines                      int
	// Fields says where each field of a line goes: a target of
	// Insert.Columns (index >= 0) or a user variable (Var != "").
	Fields []LoadField
	// Set are the SET assignments; expressions see the table row.
	Set []Assignment
}

// Dependencies are those of its INSERT.
func (l *LoadData) Dependencies() *Deps { return &l.Insert.Deps }

// LoadField is the target of one field of a line.
type LoadField struct {
	Column int // position in the table, -1 for a variable or an attribute
	Var    string
	// Attribute is the name of an attribute of the row, "" for none.
	Attribute string
}

// Update is UPDATE of one table. Input yields the table's columns in table
// order (all of them, also hidden ones) for the rows to change, locked and
// read at their latest state.
type Update struct {
	Deps
	Table       *schema.Table
	Input       Node
	Scan        *Scan        // the occurrence of Table inside Input
	Assignments []Assignment // expressions over Input's columns by id
	Ignore      bool
	Subqueries  []Node
	// Check is nil when all rows may be written.
	Check *RowCheck
}

// Delete is DELETE from one table; Input as in Update.
type Delete struct {
	Deps
	Table      *schema.Table
	Input      Node
	Scan       *Scan
	Ignore     bool
	Subqueries []Node
	// Limit is the number of rows to remove where cascades may remove other
	// rows of Input, which do not count; nil for all. Otherwise Input has the
	// limit.
	Limit expr.Expr
	// Returning is nil without RETURNING.
	Returning *Returning
}

// MultiUpdate is UPDATE of tables of a join. Input yields at least all columns
// of the targets and those that the assignments read; a target's columns are
// NULL where an outer join found no row of it.
type MultiUpdate struct {
	Deps
	Input      Node
	Targets    []UpdateTarget
	Ignore     bool
	Subqueries []Node
}

// UpdateTarget is a table of MultiUpdate, as it occurs in Input.
type UpdateTarget struct {
	Scan        *Scan
	Assignments []Assignment // expressions over Input's columns by id
	// Check is over Input's columns, those of the target as assigned; nil when
	// all rows may be written.
	Check *RowCheck
}

// MultiDelete is DELETE from tables of a join; Input as in MultiUpdate.
type MultiDelete struct {
	Deps
	Input      Node
	Targets    []*Scan
	Ignore     bool
	Subqueries []Node
}

// Explain is EXPLAIN of a Query, Insert, Update or Delete.
type Explain struct {
	Stmt    Statement
	Analyze bool
	// Format is traditional, tree, json or trace.
	Format string
	// Into is the user variable that gets the text, "" for the client.
	Into string
}

func (*Query) statement()       {}
func (*Insert) statement()      {}
func (*LoadData) statement()    {}
func (*Update) statement()      {}
func (*Delete) statement()      {}
func (*MultiUpdate) statement() {}
func (*MultiDelete) statement() {}
func (*Explain) statement()     {}
