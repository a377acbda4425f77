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

// skipPath is the path by index x whose conditions are about columns after its
// first ones. It reads the spans of these for each combination of values of the
// leading columns, of which there must be few.
func (r *Request) skipPath(x *schema.Index) *Path {
	t := r.Scan.Table
	if r.off("SkipScan") || len(x.Parts) < 2 || len(r.Conds) == 0 || !t.HoldsAll(x) || t.ArrayPart(x) >= 0 {
		return nil
	}
	total := math.Max(r.Est.TableRows(r.Context, t), 1)
	cols := KeyColumns(t, x)
	own := cols[:len(x.Parts)]
	var best *Path
	for k := 1; k < len(own); k++ {
		if own[k-1].Prefix > 0 {
			break
		}
		following, left := ranges.Build(own[k:], r.Conds)
		if following == nil {
			continue
		}
		lead, rest := ranges.Build(own[:k], r.Conds)
		if lead != nil && lead.EqPrefix == k {
			continue // the plain range does as well
		}
		groups := r.Est.Distinct(r.Context, t, columnIDs(t, own[:k]))
		if groups <= 0 {
			break
		}
		residual := intersectConds(rest, left)
		scan := &physical.SkipScan{KeyRange: physical.KeyRange{Index: x, Ranges: lead}, Columns: k, Behind: following}
		p := &Path{Access: scan}
		p.Lookup = !r.covered(x, residual)
		p.Residual = residual
		if p.Lookup {
			p.EntryFilter, p.Residual = r.splitEntry(x, residual)
		}
		if len(r.Order) == 0 || r.mayOrder(x) {
			p.Ordered, p.Reverse = r.delivers(cols, nil)
		}
		sel := 1.0
		if lead != nil {
			rows, _ := r.setRows(scan.KeyRange, false, total)
			sel = math.Min(rows/total, 1)
			groups = math.Max(groups*sel, 1)
		}
		for _, c := range following.Conds {
			if lead == nil || !slices.Contains(lead.Conds, c) {
				sel *= r.guessOne(c, total)
			}
		}
		p.Entries = math.Max(total*sel, 1)
		r.finishSkip(p, groups, total)
		if best == nil || p.LimitedCost < best.LimitedCost {
			best = p
		}
	}
	return best
}

func (r *Request) finishSkip(p *Path, groups, total float64) {
	sel := 1.0
	for _, c := range p.EntryFilter {
		sel *= r.guessOne(c, total)
	}
	fetched := p.Entries * sel
	for _, c := range p.Residual {
		sel *= r.guessOne(c, total)
	}
	p.Rows = p.Entries * sel
	// Each group is a seek for its values and one for its spans.
	r.setCost(p, fetched, groups, total)
	p.Cost, p.FindCost, p.LimitedCost = p.Cost+groups*cost.Seek, p.FindCost+groups*cost.Seek, p.LimitedCost+groups*cost.Seek
}

// intersectConds are the conditions of both lists.
func intersectConds(a, b []expr.Expr) (out []expr.Expr) {
	for _, e := range a {
		if slices.Contains(b, e) {
			out = append(out, e)
		}
	}
	return out
}

func columnIDs(t *schema.Table, cols []ranges.Column) []schema.ColumnID {
	out := make([]schema.ColumnID, len(cols))
	for i, c := range cols {
		out[i] = t.Columns[c.Table].ID
	}
	return out
}
