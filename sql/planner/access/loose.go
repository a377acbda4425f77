package access

import (
	"math"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
)

// Groups is what a loose scan has to distinguish: the columns of the groups, by
// position in the table, and of one column of these, Value, the extremes. -1 is
// none.
type Groups struct {
	Columns  []int
	Value    int
	Min, Max bool
}

// Loose is the cheapest path that reads only the ends of each group in r's order,
// by an index whose first columns are those of the groups; nil when no index
// serves. Conditions may be about the columns of the groups alone.
func Loose(r *Request, g Groups) *Path {
	t := r.Scan.Table
	var best *Path
	allowed := newHints(&r.Scan.Hint)
	try := func(x *schema.Index) {
		if p := r.loose(x, g); p != nil && (best == nil || p.Cost < best.Cost) {
			best = p
		}
	}
	if allowed.index("PRIMARY", false) {
		try(nil)
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.State == schema.IndexPublic && allowed.index(x.Name, x.Invisible && !r.Invisible) && t.HoldsAll(x) && t.ArrayPart(x) < 0 {
			try(x)
		}
	}
	return best
}

func (r *Request) loose(x *schema.Index, g Groups) *Path {
	t := r.Scan.Table
	cols := KeyColumns(t, x)
	if x != nil {
		cols = cols[:len(x.Parts)]
	}
	k := len(g.Columns)
	if k >= len(cols) || !r.mayOrder(x) {
		return nil // each group is about a row
	}
	have := map[int]bool{}
	for _, c := range cols[:k] {
		if c.Prefix > 0 {
			return nil
		}
		have[c.Table] = true
	}
	for _, c := range g.Columns {
		if !have[c] {
			return nil
		}
	}
	if len(have) != k || g.Value >= 0 && (cols[k].Table != g.Value || cols[k].Prefix > 0) || x != nil && !r.covered(x, nil) {
		return nil
	}
	set, residual := ranges.Build(cols[:k], r.Conds)
	for _, c := range residual {
		if !readsOnly(c, have) || expr.IsVolatile(c) {
			return nil
		}
	}
	total := math.Max(r.Est.TableRows(r.Context, t), 1)
	groups := r.Est.Distinct(r.Context, t, columnIDs(t, cols[:k]))
	if groups <= 0 {
		return nil
	}
	scan := &physical.LooseScan{KeyRange: physical.KeyRange{Index: x, Ranges: set}, Columns: k}
	p := &Path{Access: scan, Residual: residual}
	if set != nil {
		rows, _ := r.setRows(scan.KeyRange, false, total)
		groups = math.Max(groups*math.Min(rows/total, 1), 1)
	}
	if p.Ordered, p.Reverse = r.delivers(cols, nil); !p.Ordered {
		return nil
	}
	each := 1.0
	if g.Value >= 0 {
		desc := cols[k].Desc != p.Reverse
		if g.Min && g.Max || g.Min == desc {
			scan.Last = true
			each++
		}
		if cols[k].Null && g.Min {
			scan.Value = true
			each++
		}
	}
	p.Entries = groups * each
	p.Rows = p.Entries * r.guess(residual)
	p.Cost = p.Entries*(cost.Seek+cost.EntryRow) + float64(len(residual))*p.Entries*cost.FilterRow
	p.LimitedCost = p.Cost
	return p
}
