package physical

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/ranges"
)

// Column is an output column of a node.
type Column struct {
	Name                string
	Table, DB, OrgTable string
	OrgName             string
	T                   schema.Type
	Null                bool
}

// Estimate is what the planner expects of a node, for EXPLAIN and for sizing.
type Estimate struct {
	Rows float64
	Cost float64 // nanoseconds of CPU
}

// Node is a physical operator.
type Node interface {
	Columns() []Column
	Inputs() []Node
	Est() Estimate
}

// Base carries what all nodes have.
type Base struct {
	Cols     []Column
	Estimate Estimate
}

// Columns implements Node.
func (b *Base) Columns() []Column { return b.Cols }

// Est implements Node.
func (b *Base) Est() Estimate { return b.Estimate }

// Lock is the locking clause of a read.
type Lock struct {
	// Exclusive or shared; None reads without locks.
	None, Exclusive    bool
	NoWait, SkipLocked bool
}

// TableRead is what a Scan or an IndexJoin reads of a table.
type TableRead struct {
	Table *schema.Table
	Alias string
	// Read are the positions in Table.Columns of the output columns: those
	// that the plan above needs and those that the filter needs.
	Read []int
	// Attributes are the names of the attributes that are read of a row with
	// dynamic columns; nil for all.
	Attributes []string
	// Filter are the conditions on the rows that Access does not decide; Cols
	// refer to positions in Read.
	Filter []expr.Expr
	// Limit is the number of rows after which the consumer stops (after the
	// filter), nil if unknown; constant or parameter. Rows that a DELETE finds
	// gone by its own cascades do not count.
	Limit expr.Expr
	Lock  Lock
	// Latest: the rows are read for a change: at their latest committed state,
	// under exclusive locks (UPDATE, DELETE, SELECT … FOR UPDATE).
	Latest bool
	// Unread marks columns of Read that are fetched only because a change needs
	// whole rows: virtual ones, which are NULL then and not computed.
	Unread []bool
	// Args are those of a derived table, see logical.Scan.
	Args []expr.Expr
	// Why says why the other paths lost, one line each (trace format).
	Why []string
}

// TableNode reads the rows of one table: a Scan, or an IndexJoin.
type TableNode interface {
	Node
	// Reads is what is read of the rows.
	Reads() *TableRead
	// Leaf is the scan that finds them: the node itself, or IndexJoin.Entries.
	Leaf() *Scan
	// WithoutLimit is a copy whose consumer does not stop.
	WithoutLimit() TableNode
}

// Scan reads a table by one access path: its rows, or the entries of an index
// that has all columns of Read.
type Scan struct {
	Base
	TableRead
	Access Access
	// Keys: the entries lead to rows, whose keys are given to an IndexJoin. Read is
	// what Filter needs of the entries.
	Keys bool
	// Distinct: several entries may lead to a row, which is read once.
	Distinct bool
	Reverse  bool
	// Ordered: rows must come in key order (reversed with Reverse). Otherwise
	// the source may deliver in any order and in parallel.
	Ordered bool
	Asked   bool // a hint requires the index that gives the order
	// Spread are, in a LookupJoin, the values of the key's first column: each is looked
	// up with the keys that the join has for the columns after it. nil for none.
	Spread *ranges.Set
}

// Key is the key by which the scan reads.
func (n *Scan) Key() KeyRange { return n.Access.Key() }

// Search is the search by which rows are found; nil where it is not one.
func (n *Scan) Search() *SearchScan {
	x, _ := n.Access.(*SearchScan)
	return x
}

// Reads implements TableNode.
func (n *Scan) Reads() *TableRead { return &n.TableRead }

// Leaf implements TableNode.
func (n *Scan) Leaf() *Scan { return n }

// WithoutLimit implements TableNode.
func (n *Scan) WithoutLimit() TableNode {
	out := *n
	out.Limit = nil
	return &out
}

// IndexJoin reads the rows to which the entries of a secondary index lead. Their
// order is that of Entries.
type IndexJoin struct {
	Base
	TableRead
	// Entries have Keys.
	Entries *Scan
	// Again are the conditions of Entries.Filter over Read; with Latest, which
	// checks them on the values under the locks.
	Again []expr.Expr
}

// Reads implements TableNode.
func (n *IndexJoin) Reads() *TableRead { return &n.TableRead }

// Leaf implements TableNode.
func (n *IndexJoin) Leaf() *Scan { return n.Entries }

// WithoutLimit implements TableNode.
func (n *IndexJoin) WithoutLimit() TableNode {
	out := *n
	out.Limit = nil
	return &out
}

// Virtual reads rows that the server makes.
type Virtual struct {
	Base
	Name string
	Key  any
	Read []int // positions of the virtual table's columns
	// Equal are conditions of the filter above that the provider may use to make
	// fewer rows. The filter stays.
	Equal []VirtualEqual
}

// VirtualEqual is column = Value, where Value reads no row.
type VirtualEqual struct {
	Pos   int // of the virtual table's column
	Value expr.Expr
}

// Values produces constant rows.
type Values struct {
	Base
	Rows [][]expr.Expr
}

// Filter keeps rows for which all conditions are true.
type Filter struct {
	Base
	Input Node
	Conds []expr.Expr
}

// Project computes columns.
type Project struct {
	Base
	Input Node
	Exprs []expr.Expr
}

// JoinKind is the kind of a join; the values are those of logical.JoinKind.
type JoinKind uint8

// Join kinds.
const (
	JoinInner JoinKind = iota
	JoinLeft
	JoinSemi
	JoinAnti
)

// String is the kind's name.
func (k JoinKind) String() string { return [...]string{"inner", "left", "semi", "anti"}[k] }

// HashJoin builds a table of the right input by RightKeys and probes it with
// the left. Key pairs have equal types; NULL keys never match. Filter sees
// left then right columns and is part of the join condition.
type HashJoin struct {
	Base
	Kind                JoinKind
	Left, Right         Node
	LeftKeys, RightKeys []expr.Expr
	Filter              []expr.Expr
	// BuildLeft builds the left input instead, of all kinds but the left join. A semi or
	// anti join then gives its rows once it has read all right ones.
	BuildLeft bool
}

// MergeJoin joins two inputs that come in ascending order of their keys, which
// are columns of one type in pairs; no two right rows have the same key. NULL
// matches nothing. The order of the left rows is kept.
type MergeJoin struct {
	Base
	Kind                JoinKind
	Left, Right         Node
	LeftKeys, RightKeys []expr.Expr
	Filter              []expr.Expr
}

// LookupJoin finds for each left row the rows of a table by a prefix of its
// primary key or an index (batched and sorted). Output are the left columns,
// then those of Inner.Read.
type LookupJoin struct {
	Base
	Kind JoinKind
	Left Node
	// Inner describes the table, the index and the columns to read. It reads a
	// whole key; its filters apply to inner rows alone. With Latest the rows that
	// are found are locked.
	Inner TableNode
	// Keys are expressions over the left columns, of the types of the first
	// len(Keys) columns of the key; NULL never matches.
	Keys []expr.Expr
	// Unique: at most one inner row for each left row.
	Unique bool
	// Filter sees left then inner columns and is part of the join condition.
	Filter []expr.Expr
}

// NestedLoop joins by trying all pairs: the right input is materialised.
type NestedLoop struct {
	Base
	Kind        JoinKind
	Left, Right Node
	Filter      []expr.Expr
}

// Apply joins each left row with the rows that the right plan gives for it: the
// right plan reads Params, expressions over the left columns, as expr.Outer. It
// runs once for each left row, or for each different value of Params in a row.
type Apply struct {
	Base
	Kind        JoinKind
	Left, Right Node
	Params      []expr.Expr
	// Filter sees left then right columns and is part of the join condition.
	Filter []expr.Expr
}

// HashAggregate groups by hashing. Output are the groups, then the aggregates.
// Without GroupBy it yields one row. Parallel > 1 requests that many partial
// aggregations over partitions of the Scan below, perhaps with Filter and Project
// between.
type HashAggregate struct {
	Base
	Input    Node
	GroupBy  []expr.Expr
	Aggs     []*expr.Agg
	Parallel int
}

// StreamAggregate groups an input that is sorted by the groups (equal ones are
// adjacent).
type StreamAggregate struct {
	Base
	Input   Node
	GroupBy []expr.Expr
	Aggs    []*expr.Agg
}

// Rollup groups an input that is sorted by the groups, and sums the groups up
// from the last column to the first: see logical.Rollup. Output are the groups,
// the number of columns that are summed over, the aggregates.
type Rollup struct {
	Base
	Input   Node
	GroupBy []expr.Expr
	Aggs    []*expr.Agg
}

// Distinct removes duplicates. Sorted: equal rows are adjacent.
type Distinct struct {
	Base
	Input  Node
	Sorted bool
}

// SortKey is a key of Sort and TopK.
type SortKey struct {
	Expr expr.Expr
	Desc bool
}

// Sort orders all rows.
type Sort struct {
	Base
	Input Node
	Keys  []SortKey
}

// TopK yields rows Offset to Offset+Count of the order.
type TopK struct {
	Base
	Input         Node
	Keys          []SortKey
	Count, Offset expr.Expr
}

// Limit passes rows Offset to Offset+Count.
type Limit struct {
	Base
	Input         Node
	Count, Offset expr.Expr
}

// SetOp is the operator of a SetOperation; the values are logical.SetOp's.
type SetOp uint8

// Set operators.
const (
	SetUnion SetOp = iota
	SetIntersect
	SetExcept
)

// SetOperation combines two inputs of the same types.
type SetOperation struct {
	Base
	Op          SetOp
	All         bool
	Left, Right Node
}

// Inputs implements Node.
func (n *Scan) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *IndexJoin) Inputs() []Node { return []Node{n.Entries} }

// Inputs implements Node.
func (n *Virtual) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Values) Inputs() []Node { return nil }

// Inputs implements Node.
func (n *Filter) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Project) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *HashJoin) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs implements Node.
func (n *MergeJoin) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs implements Node.
func (n *LookupJoin) Inputs() []Node { return []Node{n.Left} }

// Inputs implements Node.
func (n *NestedLoop) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs implements Node.
func (n *Apply) Inputs() []Node { return []Node{n.Left, n.Right} }

// Inputs implements Node.
func (n *HashAggregate) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *StreamAggregate) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Rollup) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Distinct) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Sort) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *TopK) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *Limit) Inputs() []Node { return []Node{n.Input} }

// Inputs implements Node.
func (n *SetOperation) Inputs() []Node { return []Node{n.Left, n.Right} }
