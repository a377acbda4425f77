package logical

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
)

// Column is an output column of a node.
type Column struct {
	ID   expr.ColID
	Name string // as SQL sees it: alias or column name
	// Table is the alias in FROM, "" for computed columns; DB, OrgTable and
	// OrgName describe the base column for result headers.
	Table, DB, OrgTable, OrgName string
	// Role is that of the base column, 0 for computed columns.
	Role schema.Role
	T    schema.Type
	Null bool
	// Hidden columns are not part of * and have no name; Invisible ones are not
	// part of *.
	Hidden, Invisible bool
}

// Node is a logical operator.
type Node interface {
	// Columns are the output columns, in order.
	Columns() []Column
	// Inputs are the child nodes.
	Inputs() []Node
}

// Scan reads a base table. Cols stand for all columns of the table, in table
// order, with ids of this occurrence.
type Scan struct {
	Table *schema.Table
	Alias string
	Cols  []Column
	Hint  IndexHint
	Opt   OptHints
	Lock  Lock
	// Arrays are the arrays of multi-valued indexes of the table.
	Arrays []Array
	// Paths are the JSON values of which fields of search indexes are, over Cols, by
	// their columns.
	Paths map[schema.ColumnID]expr.Expr
	// Elements are what is joined with the rows: those for which it gives nothing
	// need not be read.
	Elements []Elements
	// Only are the conditions of PARTITION (…), over Cols, whose Index is the position
	// in the table.
	Only []expr.Expr
	// Partial are the conditions of partial indexes, over Cols.
	Partial map[schema.IndexID][]expr.Expr
	// Scores are calls of "match", over Cols. Their values are the columns after
	// those of the table.
	Scores []*expr.Func
	// Args are, of a derived table, the time (AS OF) or the position after which
	// a change log is read: its consumer, or sequence and ordinal.
	Args []expr.Expr
}

// Elements are rows of JSON_TABLE over a document, Params in the place of its
// expr.Outer, of which only those for which Conds are true matter.
type Elements struct {
	Table  *JSONTable
	Params []expr.Expr
	Conds  []expr.Expr
}

// Array is what a hidden column of a multi-valued index is made of.
type Array struct {
	Pos  int       // of the column in the table
	Expr expr.Expr // the JSON value, over Cols
	Cast expr.ArrayCast
}

// IndexHint is USE, FORCE and IGNORE INDEX of one table occurrence. PRIMARY
// names the primary key.
type IndexHint struct {
	Use    []string // allowed ones only (a full scan stays allowed)
	UseSet bool     // USE INDEX was given; with no names it allows no index
	Force  []string // a full scan only when none of these can be used
	Ignore []string
}

// OptHints are the optimizer hints about one table occurrence.
type OptHints struct {
	// The indexes that merges and skip scans must use, or must not; with no names
	// any. nil is no hint.
	Merge, NoMerge, Skip, NoSkip *[]string
	// The indexes that give ORDER BY and GROUP BY their order, whatever it costs,
	// or must not.
	Order, NoOrder, Group, NoGroup *[]string
	// A merge join is chosen whatever it costs, or never.
	MergeJoin, NoMergeJoin bool
}

// LockStrength of a locking read.
type LockStrength uint8

// Lock strengths.
const (
	LockNone LockStrength = iota
	LockForShare
	LockForUpdate
)

// Lock is the locking clause of a table occurrence.
type Lock struct {
	Strength           LockStrength
	NoWait, SkipLocked bool
}

// Virtual reads rows that the server makes: information_schema tables and SHOW
// statements. Key is the provider's handle.
type Virtual struct {
	Name string
	Cols []Column
	Key  any
}

// Values produces rows of constant expressions. SELECT without FROM is one
// row without columns.
type Values struct {
	Rows [][]expr.Expr
	Cols []Column
}

// Filter keeps the rows for which all conditions are true.
type Filter struct {
	Input Node
	Conds []expr.Expr
}

// Project computes columns.
type Project struct {
	Input Node
	Exprs []expr.Expr
	Cols  []Column
}

// JoinKind is the kind of a join.
type JoinKind uint8

// Join kinds. Right joins are bound as left joins with a Project on top. Semi
// and anti joins output the left columns only.
const (
	JoinInner JoinKind = iota
	JoinLeft
	JoinSemi
	JoinAnti
)

// String is the kind's name in plans.
func (k JoinKind) String() string { return [...]string{"inner", "left", "semi", "anti"}[k] }

// Join joins its inputs. No condition makes a cross join.
type Join struct {
	Kind        JoinKind
	Left, Right Node
	On          []expr.Expr
	// Straight keeps the written order (STRAIGHT_JOIN).
	Straight bool
	// Orders are the hints about the order of the joins of the query block.
	Orders []*JoinOrder
}

// OrderKind is what a JoinOrder says of its tables.
type OrderKind uint8

// They are joined in their order; before all others; after all others.
const (
	OrderOf OrderKind = iota
	OrderPrefix
	OrderSuffix
)

// JoinOrder is a hint JOIN_ORDER, JOIN_PREFIX or JOIN_SUFFIX: tables, identified
// by the columns that they may have in the plan.
type JoinOrder struct {
	Kind   OrderKind
	Tables []map[expr.ColID]bool
}

// Apply joins each left row with the rows that Right gives for it. Right reads
// Params, expressions over the left columns, as expr.Outer by its slot. Kind
// and On are those of a join.
type Apply struct {
	Kind        JoinKind
	Left, Right Node
	Params      []expr.Expr
	On          []expr.Expr
}

// Aggregate groups by GroupBy and computes Aggs; its columns are GroupCols
// then AggCols. Without GroupBy it yields exactly one row.
type Aggregate struct {
	Input     Node
	GroupBy   []expr.Expr
	GroupCols []Column
	Aggs      []*expr.Agg
	AggCols   []Column
}

// Distinct removes duplicate rows (compared by collation).
type Distinct struct{ Input Node }

// SortKey is one key of ORDER BY; NULL sorts first ascending.
type SortKey struct {
	Expr expr.Expr
	Desc bool
}

// Sort orders rows.
type Sort struct {
	Input Node
	Keys  []SortKey
	// ByValue: the order of an index will not do.
	ByValue bool
}

// Limit skips Offset rows and yields Count. Both are constant in one
// execution (Const or Param); a nil Count is no limit, a nil Offset is 0.
type Limit struct {
	Input         Node
	Count, Offset expr.Expr
}

// SetOp is the operator of a SetOperation.
type SetOp uint8

// Set operators.
const (
	SetUnion SetOp = iota
	SetIntersect
	SetExcept
)

// SetOperation combines inputs of equal width; Cols are the result's. The
// inputs are projected to the common types. Without All duplicates go.
type SetOperation struct {
	Op     SetOp
	All    bool
	Left   Node
	Right  Node
	Output []Column
}

// Columns implements Node.
func (n *Scan) Columns() []Column { return n.Cols }

// Columns implements Node.
func (n *Virtual) Columns() []Column { return n.Cols }

// Columns implements Node.
func (n *Values) Columns() []Column { return n.Cols }

// Columns implements Node.
func (n *Filter) Columns() []Column { return n.Input.Columns() }

// Columns implements Node.
func (n *Project) Columns() []Column { return n.Cols }

// Columns implements Node.
func (n *Join) Columns() []Column { return joinColumns(n.Kind, n.Left, n.Right) }

// Columns implements Node.
func (n *Apply) Columns() []Column { return joinColumns(n.Kind, n.Left, n.Right) }

func joinColumns(kind JoinKind, l, r Node) []Column {
	if kind == JoinSemi || kind == JoinAnti {
		return l.Columns()
	}
	left, right := l.Columns(), r.Columns()
	out := append(make([]Column, 0, len(left)+len(right)), left...)
	for _, c := range right {
		c.Null = c.Null || kind == JoinLeft
		out = append(out, c)
	}
	return out
}

// Columns implements Node.
func (n *Aggregate) Columns() []Column {
	return append(append(make([]Column, 0, len(n.GroupCols)+len(n.AggCols)), n.GroupCols...), n.AggCols...)
}

// Columns implements Node.
func (n *Distinct) Columns() []Column { return n.Input.Columns() }

// Columns implements Node.
func (n *Sort) Columns() []Column { return n.Input.Columns() }

// Columns implements Node.
func (n *Limit) Columns() []Column { return n.Input.Columns() }

// Columns implements Node.
func (n *SetOperation) Columns() []Column { return n.Output }

// Inputs implements Node.
func (n *Scan) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Virtual) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Values) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Filter) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Project) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Join) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs implements Node.
func (n *Apply) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs implements Node.
func (n *Aggregate) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Distinct) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Sort) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Limit) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *SetOperation) Inputs() []Node { return []Node{n.Left, n.Right} }
