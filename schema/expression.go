package schema

import (
	"slices"
	"strings"
)

// Check is a CHECK constraint. Its expression is SQL text over the columns of
// the table, in the form in which MySQL prints it: names in back-ticks, each
// operation in parentheses, strings with their character set.
type Check struct {
	Name string `json:"name"`
	Expr string `json:"expr"`
	// Reads are the columns that the expression reads.
	Reads []ColumnID `json:"reads,omitempty"`
	// NotEnforced constraints are kept and never tested.
	NotEnforced bool `json:"not_enforced,omitempty"`
}

// CheckByName finds the position of a CHECK constraint, ignoring case; -1 if
// it does not exist.
func (t *Table) CheckByName(name string) int {
	for i := range t.Checks {
		if strings.EqualFold(t.Checks[i].Name, name) {
			return i
		}
	}
	return -1
}

// Generated says how a column is computed.
type Generated struct {
	// Expr is SQL text as in Check.
	Expr string `json:"expr"`
	// Reads are the columns that the expression reads.
	Reads []ColumnID `json:"reads,omitempty"`
	// Stored columns are computed when a row is written and are part of it;
	// the others are computed whenever a row is read, and only indexes hold
	// their values.
	Stored bool `json:"stored,omitempty"`
}

// IsVirtual reports a generated column that rows do not hold.
func (c *Column) IsVirtual() bool { return c.Generated != nil && !c.Generated.Stored }

// DropUnusedHidden removes the hidden columns that only indexes need which are
// gone.
func (t *Table) DropUnusedHidden() {
	used := map[ColumnID]bool{}
	for i := range t.Indexes {
		for _, p := range t.Indexes[i].Parts {
			used[p.Column] = true
		}
		for _, id := range t.Indexes[i].Include {
			used[id] = true
		}
		used[t.Indexes[i].Where] = true
	}
	for i := range t.Search {
		for _, x := range t.Search[i].Generations() {
			for _, f := range x.Fields {
				used[f.Column], used[f.Source], used[f.Value] = true, true, true
			}
		}
	}
	t.Columns = slices.DeleteFunc(t.Columns, func(c Column) bool {
		return c.Hidden && c.Name != HiddenKeyColumn && !t.IsPartitionColumn(c.ID) && !used[c.ID]
	})
}

// KeyedColumns reports, by position, of which columns the entries of indexes are
// made, and from which these are computed.
func (t *Table) KeyedColumns() []bool {
	out := make([]bool, len(t.Columns))
	var mark func(id ColumnID)
	mark = func(id ColumnID) {
		i := t.ColumnIndex(id)
		if i < 0 || out[i] {
			return
		}
		out[i] = true
		if g := t.Columns[i].Generated; g != nil {
			for _, read := range g.Reads {
				mark(read)
			}
		}
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		for _, p := range t.EntryParts(x) {
			mark(p.Column)
		}
		for _, id := range x.Include {
			mark(id)
		}
		mark(x.Where)
	}
	return out
}

// HasVirtual reports whether the table has columns that rows do not hold.
func (t *Table) HasVirtual() bool {
	for i := range t.Columns {
		if t.Columns[i].IsVirtual() {
			return true
		}
	}
	return false
}

// HasExprs reports whether rows of the table need more than storing: enforced
// checks are tested, or columns are computed from others.
func (t *Table) HasExprs() bool {
	for i := range t.Checks {
		if !t.Checks[i].NotEnforced {
			return true
		}
	}
	for i := range t.Columns {
		c := &t.Columns[i]
		if c.Generated != nil || c.Default != nil && len(c.Default.Reads) > 0 {
			return true
		}
	}
	return false
}
