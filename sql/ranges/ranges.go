package ranges

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/value"
)

// Span is an interval of key values in the order of the key. Low and High are
// prefixes of the key's columns; an empty one is unbounded. Open excludes all
// keys that start with the bound. Values have the kind of their column's
// type, or are NULL (of nullable columns only).
type Span struct {
	Low, High         []value.Datum
	LowOpen, HighOpen bool
	// Prefix: Low and High are equal and their last value, a string, stands for
	// all strings that start with it (compared by key bytes); the open flags
	// are unset.
	Prefix bool
}

// Column is a key column.
type Column struct {
	Table int // position in schema.Table.Columns
	Type  schema.Type
	Desc  bool
	Null  bool
	// Prefix is the key part's prefix length, 0 for whole values.
	Prefix int
}

// Set is the restriction of a key.
type Set struct {
	// Columns are the key's columns, leading ones first.
	Columns []Column
	// Conds are the conjuncts that the set stands for. Their expr.Col have
	// Index = position in schema.Table.Columns.
	Conds []expr.Expr
	// EqPrefix is the number of leading columns that are fixed to one value.
	EqPrefix int
	// Point: every span is one whole key without NULL, so at most one row when
	// the key is unique.
	Point bool
	// SinglePoint: there is at most one span, and it is a point; the values are
	// those of Keys.
	SinglePoint bool
	// Keys are the values of the columns when SinglePoint holds; their types
	// may still have to be converted (Spans does).
	Keys []expr.Expr

	conj []node
	// chain, when the conditions are no more than that, are the equalities with
	// the leading columns and one comparison of the next, in the key's order.
	chain []*atom
}
