package access

import (
	"math"
	"slices"
	"sort"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
)

const (
	// maxMergeBranches bounds the branches of an OR that are looked at one by
	// one, maxIntersect the indexes of an intersection.
	maxMergeBranches = 128
	maxIntersect     = 3
	// worthMerging are the rows that are fetched as fast as another index is
	// read.
	worthMerging = 20
)

// mergePart is a part with its estimate.
type mergePart struct {
	physical.KeyRange
	entries, spans float64
}

// merges are the paths by several indexes: unions for the ORs among the
// conditions, and an intersection. All conditions are checked on the rows.
func (r *Request) merges(allowed *hints, single []*Path) []*Path {
	if len(r.Conds) == 0 {
		return nil
	}
	indexes := r.mergeable(allowed)
	if len(indexes) < 2 {
		return nil
	}
	var out []*Path
	if !r.off("IndexUnion") {
		for i, c := range r.Conds {
			if f, ok := c.(*expr.Func); ok && f.Op == expr.OpOr && len(f.Args) <= maxMergeBranches {
				if p := r.union(indexes, i); p != nil {
					out = append(out, p)
				}
			}
		}
	}
	if !r.off("IndexIntersection") {
		if p := r.intersection(indexes, single); p != nil {
			out = append(out, p)
		}
	}
	return out
}

// mergeable are the indexes whose entries in a span are all rows of it; nil
// stands for the primary key.
func (r *Request) mergeable(allowed *hints) []*schema.Index {
	var out []*schema.Index
	t, hint := r.Scan.Table, &r.Scan.Opt
	chosen := func(x *schema.Index) bool {
		return (hint.Merge == nil || wants(hint.Merge, x)) && !wants(hint.NoMerge, x)
	}
	if allowed.index("PRIMARY", false) && chosen(nil) {
		out = append(out, nil)
	}
	for i := range t.Indexes {
		x := &t.Indexes[i]
		if x.State == schema.IndexPublic && allowed.index(x.Name, x.Invisible && !r.Invisible) && t.HoldsAll(x) && chosen(x) {
			out = append(out, x)
		}
	}
	return out
}

// union is the path by an index for each branch of the OR among the
// conditions; nil when a branch has none, or one index serves them all.
func (r *Request) union(indexes []*schema.Index, at int) *Path {
	or := r.Conds[at].(*expr.Func)
	groups := map[*schema.Index][]expr.Expr{}
	var order []*schema.Index
	for _, b := range or.Args {
		conds := expr.SplitAnd(nil, b)
		var best *schema.Index
		least := math.Inf(1)
		for _, x := range indexes {
			if set := r.mergeSet(x, conds); set != nil {
				if n := r.guess(set.Conds); n < least {
					best, least = x, n
				}
			}
		}
		if math.IsInf(least, 1) {
			return nil
		}
		if groups[best] == nil {
			order = append(order, best)
		}
		groups[best] = append(groups[best], b)
	}
	if len(order) < 2 {
		return nil
	}
	rest := slices.Delete(slices.Clone(r.Conds), at, at+1)
	m := &physical.IndexMerge{}
	var parts []mergePart
	missed := 1.0
	total := math.Max(r.Est.TableRows(r.Context, r.Scan.Table), 1)
	for _, x := range order {
		cond := groups[x][0]
		if len(groups[x]) > 1 {
			var err error
			if cond, err = expr.NewFunc(&expr.BindEnv{}, "or", groups[x]...); err != nil {
				return nil
			}
		}
		// The other conditions may narrow the following columns.
		part, ok := r.mergePart(x, append(expr.SplitAnd(nil, cond), rest...))
		if !ok {
			return nil
		}
		m.Parts = append(m.Parts, part.KeyRange)
		parts = append(parts, part)
		missed *= 1 - math.Min(part.entries/total, 1)
	}
	if m.Sorts() && r.off("IndexSortUnion") {
		return nil
	}
	return r.mergePath(m, parts, total*(1-missed), total)
}

// mergePart is the part by index x under conditions; false when none restricts
// its first column.
func (r *Request) mergePart(x *schema.Index, conds []expr.Expr) (mergePart, bool) {
	set := r.mergeSet(x, conds)
	if set == nil {
		return mergePart{}, false
	}
	out := mergePart{KeyRange: physical.KeyRange{Index: x, Ranges: set}}
	total := math.Max(r.Est.TableRows(r.Context, r.Scan.Table), 1)
	out.entries, out.spans = r.setRows(out.KeyRange, false, total)
	return out, true
}

func (r *Request) mergeSet(x *schema.Index, conds []expr.Expr) *ranges.Set {
	cols := KeyColumns(r.Scan.Table, x)
	if x != nil {
		cols = cols[:len(x.Parts)]
	}
	set, _ := ranges.Build(cols, conds)
	return set
}

// guess is the selectivity of conditions, without counting.
func (r *Request) guess(conds []expr.Expr) float64 {
	total := math.Max(r.Est.TableRows(r.Context, r.Scan.Table), 1)
	sel := 1.0
	for _, c := range conds {
		sel *= r.guessOne(c, total)
	}
	return sel
}

// intersection is the path by the indexes that restrict different columns, the
// most selective first, as long as one more makes it cheaper.
func (r *Request) intersection(indexes []*schema.Index, single []*Path) *Path {
	var parts []mergePart
	t := r.Scan.Table
	total := math.Max(r.Est.TableRows(r.Context, t), 1)
	for _, p := range single {
		if !p.Access.Direct() || p.Unique || p.Distinct || !slices.Contains(indexes, p.Key().Index) {
			continue
		}
		parts = append(parts, mergePart{KeyRange: p.Key(), entries: p.Entries, spans: 1})
	}
	forced := r.Scan.Opt.Merge != nil
	if len(parts) < 2 || !forced && slices.ContainsFunc(parts, func(p mergePart) bool { return p.entries < worthMerging }) {
		return nil
	}
	sort.SliceStable(parts, func(i, j int) bool { return parts[i].entries < parts[j].entries })
	var best *Path
	var chosen []mergePart
	for _, part := range parts {
		if slices.ContainsFunc(chosen, func(c mergePart) bool { return overlap(c.Ranges.Conds, part.Ranges.Conds) }) {
			continue
		}
		try := append(slices.Clone(chosen), part)
		if len(chosen) == 0 {
			chosen = try
			continue
		}
		p := r.intersect(try, total)
		if best != nil && p.Cost >= best.Cost && !forced {
			break
		}
		best, chosen = p, try
		if len(chosen) == maxIntersect {
			break
		}
	}
	return best
}

// overlap reports whether two sets stand for a condition both.
func overlap(a, b []expr.Expr) bool {
	return slices.ContainsFunc(a, func(e expr.Expr) bool { return slices.Contains(b, e) })
}

func (r *Request) intersect(parts []mergePart, total float64) *Path {
	m := &physical.IndexMerge{Intersect: true}
	rows, weight := total, 1.0
	for _, p := range parts {
		m.Parts = append(m.Parts, p.KeyRange)
		// Columns are seldom independent: each further one counts less.
		rows *= math.Pow(math.Min(p.entries/total, 1), weight)
		weight /= 2
	}
	return r.mergePath(m, parts, rows, total)
}

// mergePath is the path of a merge that leads to about fetched rows.
func (r *Request) mergePath(m *physical.IndexMerge, parts []mergePart, fetched, total float64) *Path {
	p := &Path{Access: m, Residual: r.Conds}
	if len(r.Order) == 0 || r.mayOrder(nil) {
		p.Ordered, p.Reverse = r.delivers(KeyColumns(r.Scan.Table, nil), nil)
	}
	rows := total
	for _, c := range r.Conds {
		rows *= r.guessOne(c, total)
	}
	p.Rows = math.Min(rows, fetched)
	find, entries := 0.0, 0.0
	for _, part := range parts {
		find += part.spans*cost.Seek + part.entries*cost.EntryRow
		if n := math.Max(part.entries, 1); part.Ranges.EqPrefix < len(part.Ranges.Columns) || part.spans > 1 {
			find += n * math.Log2(n) * cost.MergeCompare
		}
		find += part.entries * cost.MergeKey
		entries += part.entries
	}
	p.Entries = entries
	fetch := func(n float64) float64 {
		return cost.Lookup(n, total) + n*float64(len(r.Needed)*cost.ScanColumn+len(r.Conds)*cost.FilterRow)
	}
	p.Cost = find + fetch(fetched)
	p.LimitedCost = p.Cost
	if r.Limit > 0 && p.Ordered && p.Rows > r.Limit {
		p.LimitedCost = find + fetch(fetched*r.Limit/p.Rows)
	}
	return p
}
