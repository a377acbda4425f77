package derive

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
)

// Exprs are the compiled expressions of one descriptor.
type Exprs struct {
	Table *schema.Table
	// Steps are the columns that are computed, in an order in which each reads
	// only what is there: generated columns, and defaults that read columns.
	Steps []Step
	// Checks are the constraints that are enforced, in the order of the table.
	Checks []Check
	// Partitions finds the partition of a row, nil for tables without.
	Partitions *expr.Partitioner
}

// Step computes a column.
type Step struct {
	// Pos is the column's position in the table.
	Pos  int
	Expr expr.Expr
	// Reads are the positions of the columns that it reads.
	Reads []int
	// Default: it is the default of the column, for rows that give no value.
	Default bool
	// Zoned: the value depends on the session's time zone.
	Zoned bool
	// ReadOnly: the value is not needed when a row is written, and no value of
	// the row is an error for it.
	ReadOnly bool
}

// Check is a CHECK constraint. A row violates it when Expr is false; NULL
// passes.
type Check struct {
	Name string
	Expr expr.Expr
	// Reads are the positions of the columns that it reads.
	Reads []int
}

// Affected are the generated columns that a change of some columns changes: by
// position, those of written among them.
func (x *Exprs) Affected(written []bool) []bool {
	out := append([]bool(nil), written...)
	for i := range x.Steps {
		s := &x.Steps[i]
		if s.Default {
			continue
		}
		for _, pos := range s.Reads {
			out[s.Pos] = out[s.Pos] || out[pos]
		}
	}
	return out
}
