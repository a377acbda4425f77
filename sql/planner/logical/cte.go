package logical

import "github.com/sqlots/sqlots/sql/expr"

// CTE is a common table expression that is computed once in a statement and
// read by its CTEScans. It is known by its pointer.
type CTE struct {
	Name string
	// Seed yields the rows, of a recursive one the first.
	Seed Node
	// Recursive are the members that read the rows of the iteration before
	// (CTEScan.Work). Their columns are stored as Cols.
	Recursive []Node
	// Distinct keeps only rows that are new (UNION DISTINCT).
	Distinct bool
	// Count and Offset are LIMIT of a recursive one: it stops when there are
	// that many rows.
	Count, Offset expr.Expr
	// Dependent: it reads values of the query around its only scan, and is
	// computed again by each run of that.
	Dependent bool
	// Cols are the columns, with their names and types.
	Cols []Column
}

// CTEScan reads a CTE. It stands for another set of columns at each place.
type CTEScan struct {
	CTE   *CTE
	Alias string
	Cols  []Column
	// Work reads only the rows that the last iteration added; it occurs in
	// CTE.Recursive.
	Work bool
}

// Columns implements Node.
func (n *CTEScan) Columns() []Column { return n.Cols }

// Inputs implements Node. The CTE's own nodes are none: they belong to all its
// scans.
func (n *CTEScan) Inputs() []Node { return nil }
