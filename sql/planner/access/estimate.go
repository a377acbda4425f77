package access

import (
	"context"
	"math"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/value"
)

// estimate fills in rows and costs.
func (r *Request) estimate(p *Path) {
	t := r.Scan.Table
	total := math.Max(r.Est.TableRows(r.Context, t), 1)
	spans := 1.0
	p.Entries = total
	key := p.Key()
	if key.Ranges != nil {
		p.Entries, spans = r.setRows(key, p.Access.FewKeys(), total)
	} else if key.Index != nil && key.Index.Where != 0 {
		n, ok := r.Est.SpanRows(r.Context, t, key.Index, []ranges.Span{{}})
		if !ok {
			n = total * r.partialSelectivity(key.Index, total)
		}
		p.Entries = math.Max(n, 1)
	}
	given := key.Conds()
	fetched := p.Entries * r.selectivity(given, p.EntryFilter, total)
	rest := slices.Clip(p.EntryFilter)
	for _, c := range p.Residual {
		if key.Index == nil || t.ArrayPart(key.Index) < 0 || !searchesArray(c) { // not what the entries were chosen by
			rest = append(rest, c)
		}
	}
	p.Rows = math.Min(p.Entries*r.selectivity(given, rest, total), fetched)
	if p.Unique {
		p.Entries, fetched, p.Rows = math.Min(p.Entries, 1), math.Min(fetched, 1), math.Min(p.Rows, 1)
	}
	r.setCost(p, fetched, spans, total)
}

// setCost sets what p costs that fetches so many rows by its entries.
func (r *Request) setCost(p *Path, fetched, spans, total float64) {
	find, fetch := r.pathCost(p, p.Entries, fetched, spans, total)
	p.Fetched, p.FindCost, p.Cost = fetched, find, find+fetch
	p.LimitedCost = p.Cost
	if r.Limit > 0 && p.Ordered && p.Rows > r.Limit {
		part := r.Limit / p.Rows
		find, fetch = r.pathCost(p, p.Entries*part, fetched*part, math.Max(spans*part, 1), total)
		p.LimitedCost = find + fetch
	}
}

// wideOr is the number of branches from which an OR costs more than other
// conditions: most rows are compared with each of them.
const wideOr = 16

// matchFilters is how many other conditions a MATCH costs: it cuts the text into
// words.
const matchFilters = 700

func isMatch(e expr.Expr) bool {
	f, ok := e.(*expr.Func)
	return ok && f.Match() != nil
}

// filterCost is the cost of checking conditions on a row.
func filterCost(list []expr.Expr) float64 {
	n, texts := len(list), 0
	for _, c := range list {
		f, ok := c.(*expr.Func)
		if ok && (comparesText(f) || f.Op == expr.OpNot && comparesText(f.Args[0])) {
			texts++
		}
		switch {
		case ok && f.Op == expr.OpOr && len(f.Args) > wideOr:
			n += len(f.Args)
		case ok && (isMatch(f) || f.Op == expr.OpGT && isMatch(f.Args[0])):
			n += matchFilters
		}
	}
	return float64(n)*cost.FilterRow + float64(texts)*cost.FilterText
}

// comparesText reports conditions that look into a text.
func comparesText(e expr.Expr) bool {
	f, ok := e.(*expr.Func)
	return ok && (f.Op == expr.OpLike || f.Op == expr.OpRegexp)
}

// pathCost is the cost of reading entries, and of the rows that are fetched by
// them with Lookup.
func (r *Request) pathCost(p *Path, entries, fetched, spans, total float64) (find, fetch float64) {
	index := p.Key().Index
	columns := float64(len(r.Needed)) * cost.ScanColumn
	if p.Access.FewKeys() {
		if p.Lookup {
			fetch = fetched * cost.Get
		}
		return spans * cost.Get, fetch
	}
	row := float64(cost.ScanRow)
	if index != nil {
		row = cost.EntryRow
	}
	find = spans*cost.Seek + entries*(row+columns+(filterCost(p.EntryFilter)+filterCost(p.Residual)))
	if p.Lookup {
		fetch = cost.Lookup(fetched, total) + fetched*columns
	}
	if p.Access.ReadsAll() && r.Parallel > 1 && entries > 50000 && len(r.Order) == 0 {
		n := math.Min(float64(r.Parallel), 4)
		find, fetch = find/n*1.2+cost.ParallelStart, fetch/n*1.2
	}
	return find, fetch
}

// setRows estimates the entries in the spans of a key, and their number. points: each
// span is one of them.
func (r *Request) setRows(k physical.KeyRange, points bool, total float64) (rows, spans float64) {
	if r.Ctx != nil && expr.KnownBefore(k.Ranges.Conds) {
		if list, err := k.Ranges.Spans(r.Ctx); err == nil {
			n := float64(len(list))
			if n == 0 {
				return 0, 0
			}
			if points {
				return n, n
			}
			if rows, ok := r.Est.SpanRows(r.Context, r.Scan.Table, k.Index, list); ok {
				return rows, n
			}
		}
	}
	sel := r.selectivity(nil, k.Ranges.Conds, total)
	if k.Index != nil && k.Index.Where != 0 {
		sel *= r.partialSelectivity(k.Index, total)
	}
	return math.Max(total*sel, 1), 1
}

// guessOne is the fraction of the table's rows that satisfy a condition, by its form and
// the number of different values of its columns.
func (r *Request) guessOne(e expr.Expr, total float64) float64 {
	f, ok := e.(*expr.Func)
	if !ok {
		return 0.5
	}
	switch f.Op {
	case expr.OpEQ, expr.OpNullEQ:
		return r.guessEqual(f, total)
	case expr.OpIsNull:
		return 0.05
	case expr.OpLT, expr.OpLE, expr.OpGT, expr.OpGE:
		return 0.33
	case expr.OpNE:
		return 0.9
	case expr.OpIn:
		return math.Min(0.5, float64(len(f.Args)-1)*r.guessEqual(f, total))
	case expr.OpLike:
		return guessLike(f)
	case expr.OpRegexp:
		return 0.1
	case expr.OpMatch, expr.OpTextMatch, expr.OpTextMatchPhrase, expr.OpTextMatchFuzzy:
		return 0.02
	case expr.OpMemberOf, expr.OpJSONContains, expr.OpJSONOverlaps:
		return 0.05
	case expr.OpAnd:
		s := 1.0
		for _, a := range f.Args {
			s *= r.guessOne(a, total)
		}
		return s
	case expr.OpOr:
		// The branches of a long list are alike.
		s, looked := 0.0, f.Args[:min(len(f.Args), 64)]
		for _, a := range looked {
			s += r.guessOne(a, total)
		}
		return math.Min(s*float64(len(f.Args))/float64(len(looked)), 1)
	case expr.OpNot:
		return math.Max(0.05, 1-r.guessOne(f.Args[0], total))
	}
	return 0.5
}

// guessLike is a guess from the pattern: each character that must be at
// the beginning makes the rows fewer, and so do those that must be anywhere.
func guessLike(f *expr.Func) float64 {
	c, ok := f.Args[1].(*expr.Const)
	if !ok || c.D.Kind() != value.KindBytes {
		return 0.1
	}
	pattern := c.D.Bytes()
	prefix, letters := 0, 0
	for i, ch := range pattern {
		switch {
		case ch == '%' || ch == '_':
		case ch >= 0x80 && ch < 0xC0: // not the first byte of a character
		default:
			letters++
			if prefix == i {
				prefix++
			}
		}
	}
	switch {
	case letters == 0:
		return 1
	case prefix > 0:
		return math.Max(0.2*math.Pow(0.5, float64(prefix)), 0.002)
	}
	return math.Max(0.2*math.Pow(0.8, float64(letters)), 0.02)
}

func (r *Request) guessEqual(f *expr.Func, total float64) float64 {
	t := r.Scan.Table
	for _, a := range f.Args[:min(len(f.Args), 2)] { // lists are constants
		c, ok := a.(*expr.Col)
		if !ok || c.Index < 0 || c.Index >= len(t.Columns) {
			continue
		}
		return 1 / DistinctValues(r.Context, t, c.Index, r.Est, total)
	}
	return 0.1
}

// DistinctValues is about the number of different values of a column.
func DistinctValues(ctx context.Context, t *schema.Table, pos int, est Estimator, total float64) float64 {
	id := t.Columns[pos].ID
	if key := t.DeclaredKey(); len(key) == 1 && key[0].Column == id {
		return math.Max(total, 1)
	}
	for _, x := range t.Indexes {
		if x.Unique && t.HoldsAll(&x) && len(x.Parts) == 1 && x.Parts[0].Column == id {
			return math.Max(total, 1)
		}
	}
	if d := est.Distinct(ctx, t, []schema.ColumnID{id}); d > 0 {
		return d
	}
	return math.Max(math.Min(total/10, 1000), math.Min(total, 10))
}
