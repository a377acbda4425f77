package access

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
)

// KeyColumns are the columns of the key that index x (nil: the primary key)
// keeps its entries by.
func KeyColumns(t *schema.Table, x *schema.Index) []ranges.Column {
	parts := t.PrimaryKey
	if x != nil {
		parts = t.EntryParts(x)
	}
	cols := make([]ranges.Column, len(parts))
	for i, p := range parts {
		pos := t.ColumnIndex(p.Column)
		c := t.Columns[pos]
		cols[i] = ranges.Column{Table: pos, Type: c.KeyType(), Desc: p.Desc, Null: c.Nullable, Prefix: p.Prefix}
	}
	return cols
}

// path is the path by one key, nil when it makes no sense: neither ranges nor
// order nor covering.
func (r *Request) path(x *schema.Index) *Path {
	if x != nil && x.Sparse && !r.excludesNull(x) {
		return nil
	}
	if x != nil {
		if part := r.Scan.Table.ArrayPart(x); part >= 0 {
			return r.arrayPath(x, part)
		}
		if x.Where != 0 {
			return r.partialPath(x, r.Conds)
		}
	}
	return r.byKey(x, r.Conds)
}

// byKey is the path by one key under conditions. The probes among them are
// only for the key: the rows are found to satisfy them by what they stand for.
func (r *Request) byKey(x *schema.Index, conds []expr.Expr, probes ...expr.Expr) *Path {
	cols := KeyColumns(r.Scan.Table, x)
	unique := x == nil || x.Unique
	if x == nil {
		var own []expr.Expr
		conds, own = r.byPartitions(cols, conds)
		probes = append(slices.Clip(probes), own...)
	}
	set, residual := ranges.Build(cols, conds)
	if x != nil && unique {
		// A point of a unique index is made of its own columns alone.
		if own, rest := ranges.Build(cols[:len(x.Parts)], conds); own != nil && (own.Point || len(probes) > 0) {
			set, residual = own, rest
		}
	}
	residual = slices.DeleteFunc(residual, func(e expr.Expr) bool { return slices.Contains(probes, e) })
	partial := x != nil && x.Where != 0
	if partial {
		residual = r.withoutImplied(x, residual)
	}
	key := physical.KeyRange{Index: x, Ranges: set}
	p := &Path{Access: &physical.RangeScan{KeyRange: key}}
	p.Lookup = x != nil && (len(probes) > 0 || !r.covered(x, residual))
	if part := r.arrayPart(x); part >= 0 {
		p.Distinct = !pinsArray(set, part)
	}
	p.Residual = residual
	if p.Lookup {
		p.EntryFilter, p.Residual = r.splitEntry(x, residual)
	}
	p.Ordered, p.Reverse = r.delivers(cols, set)
	if len(r.Order) > 0 && p.Ordered && !r.mayOrder(x) {
		p.Ordered, p.Reverse = false, false
	}
	if set == nil {
		if x == nil {
			if !p.Ordered || len(r.Order) == 0 {
				return nil // that is the full scan
			}
		} else if (!p.Ordered || len(r.Order) == 0) && p.Lookup && !partial {
			return nil
		}
		p.Access = &physical.FullScan{KeyRange: key}
	} else if unique && set.Point {
		p.Access = &physical.PointGet{KeyRange: key}
		p.Unique = set.SinglePoint || set.EqPrefix == len(set.Columns)
	}
	r.estimate(p)
	return p
}

func (r *Request) arrayPart(x *schema.Index) int {
	if x == nil {
		return -1
	}
	return r.Scan.Table.ArrayPart(x)
}

// entryColumns are the table positions that an entry of x holds whole.
func entryColumns(t *schema.Table, x *schema.Index) map[int]bool {
	m := map[int]bool{}
	array := t.ArrayPart(x)
	for i, p := range t.EntryParts(x) {
		if p.Prefix == 0 && i != array {
			m[t.ColumnIndex(p.Column)] = true
		}
	}
	for _, id := range x.Include {
		m[t.ColumnIndex(id)] = true
	}
	return m
}

func (r *Request) covered(x *schema.Index, residual []expr.Expr) bool {
	have := entryColumns(r.Scan.Table, x)
	for _, pos := range r.Needed {
		if !have[pos] {
			return false
		}
	}
	for _, c := range residual {
		if !readsOnly(c, have) {
			return false
		}
	}
	return true
}

func readsOnly(e expr.Expr, have map[int]bool) bool {
	ok := true
	expr.Walk(e, func(x expr.Expr) bool {
		if c, isCol := x.(*expr.Col); isCol && !have[c.Index] {
			ok = false
		}
		return ok
	})
	return ok
}

func (r *Request) splitEntry(x *schema.Index, residual []expr.Expr) (entry, rest []expr.Expr) {
	have := entryColumns(r.Scan.Table, x)
	for _, c := range residual {
		if readsOnly(c, have) {
			entry = append(entry, c)
		} else {
			rest = append(rest, c)
		}
	}
	return entry, rest
}

// Coverage says whether reading by entries of x needs a lookup, and splits
// the request's conditions into those on the entry and the others.
func Coverage(r *Request, x *schema.Index) (lookup bool, entry, rest []expr.Expr) {
	if r.covered(x, r.Conds) {
		return false, nil, r.Conds
	}
	entry, rest = r.splitEntry(x, r.Conds)
	return true, entry, rest
}

// excludesNull reports whether the conditions exclude NULL in every column of
// a sparse index, so that it holds all rows that can match.
func (r *Request) excludesNull(x *schema.Index) bool {
	t := r.Scan.Table
	for _, part := range x.Parts {
		pos := t.ColumnIndex(part.Column)
		if !t.Columns[pos].Nullable {
			continue
		}
		found := false
		for _, c := range r.Conds {
			found = found || rejectsNull(c, pos)
		}
		if !found {
			return false
		}
	}
	return true
}

func rejectsNull(e expr.Expr, pos int) bool {
	f, ok := e.(*expr.Func)
	if !ok {
		return false
	}
	isCol := func(e expr.Expr) bool {
		c, ok := e.(*expr.Col)
		return ok && c.Index == pos
	}
	switch f.Op {
	case expr.OpEQ, expr.OpLT, expr.OpLE, expr.OpGT, expr.OpGE, expr.OpNE:
		return isCol(f.Args[0]) || isCol(f.Args[1])
	case expr.OpIn, expr.OpLike:
		return isCol(f.Args[0])
	case expr.OpNot:
		g, ok := f.Args[0].(*expr.Func)
		return ok && g.Op == expr.OpIsNull && isCol(g.Args[0])
	}
	return false
}
