package access

import (
	"math"
	"slices"
	"strconv"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// Path is one way to read the table.
type Path struct {
	Access physical.Access
	// Residual conditions, split by whether the index entry has their columns
	// (EntryFilter, only with Lookup).
	EntryFilter, Residual []expr.Expr
	// Lookup: the entries lead to rows, which are read too.
	Lookup           bool
	Ordered, Reverse bool
	// Entries are the keys read, Fetched the rows that are read for them with
	// Lookup, Rows those that pass all conditions.
	Entries, Fetched, Rows float64
	// Cost is of reading all, FindCost, with Lookup, the part of it for the entries;
	// LimitedCost is that of reading until Limit rows passed.
	Cost, FindCost, LimitedCost float64
	// Unique: at most one row.
	Unique bool
	// Distinct: entries may lead to the same row, which is read once.
	Distinct bool
	// All are all conditions, where Access is a search.
	All []expr.Expr
}

// Key is the key whose entries are read; see physical.Access.
func (p *Path) Key() physical.KeyRange { return p.Access.Key() }

// String is a line about the path for the trace.
func (p *Path) String() string {
	b := make([]byte, 0, 96)
	b = append(append(append(b, p.Access.Name()...), ' '), p.Access.String()...)
	if p.Distinct {
		b = append(b, " distinct"...)
	}
	if p.Lookup {
		b = append(b, " lookup"...)
	} else if p.Key().Index != nil {
		b = append(b, " covering"...)
	}
	if p.Ordered {
		b = append(b, " ordered"...)
	}
	b = strconv.AppendInt(append(b, " entries="...), whole(p.Entries), 10)
	b = strconv.AppendInt(append(b, " rows="...), whole(p.Rows), 10)
	b = strconv.AppendInt(append(b, " cost="...), whole(p.LimitedCost), 10)
	return string(b)
}

// Conditions are all conditions that the path's rows satisfy.
func (p *Path) Conditions() []expr.Expr {
	return slices.Concat(p.Access.Conds(), p.EntryFilter, p.Residual)
}

func whole(f float64) int64 { return int64(math.Min(math.Round(f), 1e18)) }

// prefer breaks ties: points before ranges before scans, the primary key
// before indexes.
func prefer(a, b *Path) bool { return a.Access.Rank() < b.Access.Rank() }
