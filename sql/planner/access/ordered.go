package access

import (
	"math"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
)

// orderedMerge is the path by a key (nil: the primary one) whose columns after
// the first ones have the wanted order: it reads the range of each combination
// of values of these, of which there must be few, and merges them.
//
//	PRIMARY KEY (bucket, ts)
//	… WHERE ts >= ? ORDER BY ts LIMIT 10
//	… WHERE bucket IN (1, 2, 3) ORDER BY ts DESC LIMIT 10
func (r *Request) orderedMerge(x *schema.Index) *Path {
	t := r.Scan.Table
	if len(r.Order) == 0 || r.off("OrderedMerge") || t.Derived != nil || !r.mayOrder(x) {
		return nil
	}
	cols := KeyColumns(t, x)
	own := cols
	if x != nil {
		if t.ArrayPart(x) >= 0 || x.Sparse && !r.excludesNull(x) || x.Where != 0 && !r.servesPartial(x) {
			return nil
		}
		if x.Unique { // keys end after these
			own = cols[:len(x.Parts)]
		}
	}
	conds := r.Conds
	partition := r.partition(conds)
	if x == nil && partition != nil {
		conds = append(slices.Clip(conds), partition)
	}
	for k := 1; k < len(own) && own[k-1].Prefix == 0; k++ {
		lead, rest := ranges.Build(own[:k], conds)
		if partition != nil {
			rest = slices.DeleteFunc(slices.Clone(rest), func(e expr.Expr) bool { return e == partition })
		}
		if lead != nil && lead.EqPrefix == k {
			continue // one range, or fewer columns before those of the order
		}
		// Rows that are equal in the columns after the first ones come in the
		// order of the first ones.
		order := own[k:]
		if x == nil || !x.Unique || !slices.ContainsFunc(own, func(c ranges.Column) bool { return c.Null }) {
			// Entries of a unique index with a NULL have the primary key before them.
			order = append(append(make([]ranges.Column, 0, len(own)), own[k:]...), own[:k]...)
		}
		if ordered, reverse := r.delivers(order, nil); ordered {
			return r.rangesPath(x, own, k, lead, rest, reverse)
		}
	}
	return nil
}

// rangesPath merges by own[k:]; nil when the number of ranges is not known.
func (r *Request) rangesPath(x *schema.Index, own []ranges.Column, k int, lead *ranges.Set, rest []expr.Expr, reverse bool) *Path {
	t := r.Scan.Table
	total := math.Max(r.Est.TableRows(r.Context, t), 1)
	entries := total
	if x != nil && x.Where != 0 {
		entries *= r.partialSelectivity(x, total)
	}
	groups := r.Est.Distinct(r.Context, t, columnIDs(t, own[:k]))
	seeks := 2.0 // one finds the value, one its range
	var given []expr.Expr
	if lead != nil {
		given = lead.Conds
		rows, spans := r.setRows(physical.KeyRange{Index: x, Ranges: lead}, false, total)
		if lead.Point && expr.KnownBefore(lead.Conds) && r.Ctx != nil {
			groups, seeks = spans, 1
		} else {
			groups *= math.Min(rows/total, 1)
		}
		entries = math.Min(rows, entries)
	}
	if groups <= 0 {
		return nil
	}
	groups = math.Max(groups, 1)
	following, left := ranges.Build(own[k:], r.Conds)
	residual := intersectConds(rest, left)
	if following != nil {
		entries = math.Max(entries*r.selectivity(given, following.Conds, total), 1)
		given = append(given[:len(given):len(given)], following.Conds...)
	}
	// Also what a partial index implies: a locking read checks the values under
	// the locks by these alone.
	p := &Path{Entries: entries, Ordered: true, Reverse: reverse,
		Access: &physical.OrderedMerge{KeyRange: physical.KeyRange{Index: x, Ranges: lead}, Columns: k, By: len(own) - k, Behind: following, Values: groups}}
	p.Lookup = x != nil && !r.covered(x, residual)
	p.Residual = residual
	if p.Lookup {
		p.EntryFilter, p.Residual = r.splitEntry(x, residual)
	}
	fetched := entries * r.selectivity(given, p.EntryFilter, total)
	p.Rows = math.Min(entries*r.selectivity(given, residual, total), fetched)
	mergeCost := func(part float64) (find, fetch float64) {
		read := math.Min(entries*part+groups, entries)
		find, fetch = r.pathCost(p, read, fetched*part, groups*seeks, total)
		find += read * (cost.MergeKey + math.Log2(groups+1)*cost.MergeCompare)
		if groups > cost.MergeOpen {
			find += read * cost.Seek
		}
		return find, fetch
	}
	find, fetch := mergeCost(1)
	p.Fetched, p.FindCost, p.Cost = fetched, find, find+fetch
	p.LimitedCost = p.Cost
	if r.Limit > 0 && p.Rows > r.Limit {
		find, fetch = mergeCost(r.Limit / p.Rows)
		p.LimitedCost = find + fetch
	}
	return p
}
