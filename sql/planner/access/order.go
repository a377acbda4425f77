package access

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/types"
)

// delivers reports whether reading the key forward or in reverse gives the
// wanted order. Columns that are fixed to one value may be left out.
func (r *Request) delivers(cols []ranges.Column, set *ranges.Set) (ordered, reverse bool) {
	if len(r.Order) == 0 {
		return true, false
	}
	t := r.Scan.Table
	twoOrders := func(c ranges.Column) bool { return r.Ctx != nil && types.HasTwoOrders(c.Type, r.Ctx.Loc) }
	if set != nil && set.SinglePoint && !slices.ContainsFunc(cols, twoOrders) {
		return true, false
	}
	fixed := r.fixedColumns()
	if set != nil && set.EqPrefix > 0 && t.IsPartitionColumn(t.Columns[cols[0].Table].ID) {
		if fixed == nil {
			fixed = map[int]bool{}
		}
		fixed[cols[0].Table] = true
	}
	k, first := 0, true
	for _, want := range r.Order {
		if fixed[want.Column] {
			continue
		}
		// A fixed column whose key has only the first characters may still have
		// several keys: 'ß' and 'ss' are equal, their first letters are not. A fixed
		// local time may be two instants.
		for k < len(cols) && cols[k].Table != want.Column && fixed[cols[k].Table] && cols[k].Prefix == 0 && !twoOrders(cols[k]) {
			k++
		}
		if k == len(cols) {
			return false, false
		}
		c := cols[k]
		if c.Table != want.Column || c.Prefix > 0 {
			return false, false
		}
		rev := c.Desc != want.Desc
		if first {
			reverse, first = rev, false
		} else if rev != reverse {
			return false, false
		}
		k++
		if r.isWholeKey(cols[:k]) && !slices.ContainsFunc(cols[:k], twoOrders) {
			break
		}
	}
	return true, reverse
}

// isWholeKey reports whether cols contain the primary key: later columns of an
// order cannot matter.
func (r *Request) isWholeKey(cols []ranges.Column) bool {
	t := r.Scan.Table
	for _, p := range t.DeclaredKey() {
		found := false
		for _, c := range cols {
			found = found || c.Table == t.ColumnIndex(p.Column)
		}
		if !found {
			return false
		}
	}
	return true
}

// fixedColumns are the columns that a condition fixes to one value.
func (r *Request) fixedColumns() map[int]bool {
	var fixed map[int]bool
	for _, c := range r.Conds {
		pos := fixes(c)
		if pos < 0 {
			continue
		}
		if fixed == nil {
			fixed = map[int]bool{}
		}
		fixed[pos] = true
	}
	return fixed
}

// fixes is the column that a condition fixes to one value, -1 if none. Strings
// that are equal in another collation than their column's are not one value
// of the column: name = 'x' COLLATE utf8mb4_general_ci.
func fixes(e expr.Expr) int {
	f, ok := e.(*expr.Func)
	if !ok {
		return -1
	}
	var col *expr.Col
	switch f.Op {
	case expr.OpIsNull:
		if col, ok = f.Args[0].(*expr.Col); ok {
			return col.Index
		}
		return -1
	case expr.OpEQ, expr.OpNullEQ:
		if col, ok = f.Args[0].(*expr.Col); !ok || !expr.IsConst(f.Args[1]) {
			if col, ok = f.Args[1].(*expr.Col); !ok || !expr.IsConst(f.Args[0]) {
				return -1
			}
		}
	default:
		return -1
	}
	if col.T.IsString() || isMember(col.T) && !slices.ContainsFunc(f.Args, func(e expr.Expr) bool { return e != expr.Expr(col) && e.Type().ID == col.T.ID }) {
		if coll, known := expr.CompareCollation(f); !known || coll != col.T.Collation {
			return -1
		}
	}
	return col.Index
}

func isMember(t schema.Type) bool { return t.ID == schema.TypeEnum || t.ID == schema.TypeSet }
