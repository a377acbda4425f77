package bind

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// determined is the closure of the columns that the grouped columns determine:
// through equalities that hold in every row, and through keys of base tables
// that are not NULL. With ROLLUP a group may be all rows, where grouped columns
// determine nothing.
func (k *block) determined() map[expr.ColID]bool {
	det := map[expr.ColID]bool{}
	for _, e := range k.group {
		if c, ok := e.(*expr.Col); ok {
			det[c.ID] = true
		}
	}
	if k.hasRollup() {
		return det
	}
	inner := append(append([]expr.Expr(nil), k.where...), k.src.inner...)
	for changed := true; changed; {
		changed = false
		add := func(id expr.ColID) {
			if !det[id] {
				det[id], changed = true, true
			}
		}
		for _, e := range inner {
			equalColumns(e, det, nil, add)
		}
		for _, o := range k.src.outer {
			if onDetermined(o, det) {
				for _, e := range o.on {
					equalColumns(e, det, o.right, add)
				}
			}
		}
		for _, t := range k.src.tables {
			switch {
			case t.scan != nil:
				determineIn(t.scan, det, add)
			case t.derived != nil && k.keepsFacts(t, det):
				determineIn(t.derived, det, add)
			}
		}
	}
	return det
}

// keepsFacts reports whether what holds in the rows of a derived table holds in
// those of FROM: an outer join may add rows of NULLs, which a determined column
// that is never NULL in the table distinguishes from the others.
func (k *block) keepsFacts(t *tableRef, det map[expr.ColID]bool) bool {
	cols := t.derived.Columns()
	outer := false
	for _, o := range k.src.outer {
		outer = outer || len(cols) > 0 && o.right[cols[0].ID]
	}
	for _, c := range cols {
		if !outer || !c.Null && det[c.ID] {
			return true
		}
	}
	return false
}

// equalColumns adds the columns that the equality e determines; only those of
// side if it is given.
func equalColumns(e expr.Expr, det, side map[expr.ColID]bool, add func(expr.ColID)) {
	f, ok := e.(*expr.Func)
	if !ok || f.Op != expr.OpEQ || len(f.Args) != 2 {
		return
	}
	for i := range f.Args {
		c, ok := f.Args[i].(*expr.Col)
		if !ok || side != nil && !side[c.ID] {
			continue
		}
		// 'a' = 'A' holds in collations that ignore case: an equality fixes only
		// columns whose equal values are the same value.
		if c.T.IsCharacter() && c.T.Collation != schema.CollationBinary && c.T.Collation != schema.CollationUTF8MB4Bin {
			if _, other := f.Args[1-i].(*expr.Col); other {
				continue
			}
		}
		o := f.Args[1-i]
		if x, ok := o.(*expr.Col); ok && det[x.ID] || expr.IsConst(o) {
			add(c.ID)
		}
	}
}

// onDetermined: all left columns of an outer join's ON are determined.
func onDetermined(o outerCond, det map[expr.ColID]bool) bool {
	all := true
	for _, e := range o.on {
		expr.Walk(e, func(x expr.Expr) bool {
			if c, ok := x.(*expr.Col); ok && !o.right[c.ID] && !det[c.ID] {
				all = false
			}
			return all
		})
	}
	return all
}

func keyDetermined(s *logical.Scan, det map[expr.ColID]bool) bool {
	t := s.Table
	has := func(parts []schema.KeyPart, unique bool) bool {
		if !unique || len(parts) == 0 {
			return false
		}
		for _, p := range parts {
			i := t.ColumnIndex(p.Column)
			if i < 0 || p.Prefix > 0 || t.Columns[i].Nullable || !det[s.Cols[i].ID] {
				return false
			}
		}
		return true
	}
	if has(t.DeclaredKey(), true) {
		return true
	}
	for i := range t.Indexes {
		if x := &t.Indexes[i]; has(x.Parts, x.Unique && x.State == schema.IndexPublic && t.HoldsAll(x)) {
			return true
		}
	}
	return false
}

// determineIn adds what the determined columns determine inside of a table of
// FROM, be it a derived one, and reports whether they leave at most one of its
// rows.
func determineIn(n logical.Node, det map[expr.ColID]bool, add func(expr.ColID)) (oneRow bool) {
	switch x := n.(type) {
	case *logical.Scan:
		oneRow = keyDetermined(x, det)
	case *logical.Values:
		oneRow = len(x.Rows) <= 1
	case *logical.Filter:
		oneRow = determineIn(x.Input, det, add)
		for _, e := range x.Conds {
			equalColumns(e, det, nil, add)
		}
	case *logical.Project:
		for i, c := range x.Cols {
			if in, ok := x.Exprs[i].(*expr.Col); ok && det[c.ID] {
				add(in.ID)
			}
		}
		oneRow = determineIn(x.Input, det, add)
		for i, c := range x.Cols {
			if readsOnly(x.Exprs[i], det) && !volatile(x.Exprs[i]) {
				add(c.ID)
			}
		}
	case *logical.Join:
		left := determineIn(x.Left, det, add)
		if x.Kind == logical.JoinSemi || x.Kind == logical.JoinAnti {
			oneRow = left
			break
		}
		right := determineIn(x.Right, det, add)
		if x.Kind == logical.JoinInner {
			for _, e := range x.On {
				equalColumns(e, det, nil, add)
			}
		}
		oneRow = left && right
	case *logical.Aggregate:
		oneRow = true
		for _, c := range x.GroupCols {
			oneRow = oneRow && det[c.ID]
		}
	case *logical.Distinct:
		oneRow = true
		for _, c := range x.Columns() {
			oneRow = oneRow && det[c.ID]
		}
		oneRow = determineIn(x.Input, det, add) || oneRow
	case *logical.Sort, *logical.Limit, *logical.Window:
		oneRow = determineIn(n.Inputs()[0], det, add)
	case *logical.CTEScan:
		if x.CTE.Recursive == nil {
			oneRow = determineInCTE(x, det, add)
		}
	}
	if oneRow {
		for _, c := range n.Columns() {
			add(c.ID)
		}
	}
	return oneRow
}

// determineInCTE is determineIn for the rows of a CTE, whose columns have other
// names there.
func determineInCTE(x *logical.CTEScan, det map[expr.ColID]bool, add func(expr.ColID)) (oneRow bool) {
	seed := x.CTE.Seed.Columns()
	inner := map[expr.ColID]bool{}
	for i, c := range x.Cols {
		if det[c.ID] {
			inner[seed[i].ID] = true
		}
	}
	for n := -1; n != len(inner); {
		n = len(inner)
		oneRow = determineIn(x.CTE.Seed, inner, func(id expr.ColID) { inner[id] = true })
	}
	for i, c := range x.Cols {
		if inner[seed[i].ID] {
			add(c.ID)
		}
	}
	return oneRow
}

func readsOnly(e expr.Expr, det map[expr.ColID]bool) bool {
	all := true
	expr.Walk(e, func(x expr.Expr) bool {
		c, ok := x.(*expr.Col)
		all = all && (!ok || det[c.ID])
		return all
	})
	return all
}
