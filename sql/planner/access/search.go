package access

import (
	"context"
	"math"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// SearchIndexes is implemented by estimators that know search indexes, under the
// contract of Estimator.
type SearchIndexes interface {
	// SearchReady reports whether a search index serves queries.
	SearchReady(t *schema.Table, x *schema.SearchIndex) bool
	// SearchRows estimates how many rows a query finds; ok is false when it has
	// no estimate.
	SearchRows(ctx context.Context, ec *expr.Ctx, t *schema.Table, x *schema.SearchIndex, n *physical.SearchNode) (rows float64, ok bool)
	// SearchRejected is about how many rows a search has to look at because a
	// field that it uses could not take their value; read are the columns that it
	// gives.
	SearchRejected(ctx context.Context, t *schema.Table, n *physical.SearchScan, read []int) float64
}

// searchPaths are the ways by search indexes.
func (r *Request) searchPaths(allowed *hints) []*Path {
	t := r.Scan.Table
	if len(t.Search) == 0 || t.Derived != nil || r.off("SearchIndex") {
		return nil
	}
	known, ok := r.Est.(SearchIndexes)
	if !ok {
		return nil
	}
	var out []*Path
	for i := range t.Search {
		x := &t.Search[i]
		if !allowed.index(x.Name, x.Invisible && !r.Invisible) {
			continue
		}
		if !known.SearchReady(t, x) {
			r.ValuesMatter = true // it may be ready soon
			continue
		}
		p, rejects := r.searchPath(x, allowed.named(x.Name), false)
		if p == nil {
			continue
		}
		out = append(out, p)
		if rejects {
			if p, _ = r.searchPath(x, true, true); p != nil {
				out = append(out, p)
			}
		}
	}
	return out
}

// Guards are the parameterised ranges whose size decides between a range scan and
// a search index. Equality ranges are assumed to be of similar size.
func (r *Request) Guards(paths []*Path) (out []physical.Guard) {
	if r.Limit > 0 || !slices.ContainsFunc(paths, func(p *Path) bool { _, ok := p.Access.(*physical.SearchScan); return ok }) {
		return nil
	}
	for _, p := range paths {
		key := p.Key()
		if !p.Access.Direct() {
			continue
		}
		isRange := slices.ContainsFunc(key.Ranges.Conds, func(c expr.Expr) bool {
			f, ok := c.(*expr.Func)
			return ok && hasParam(f) && f.Op != expr.OpEQ && f.Op != expr.OpNullEQ && f.Op != expr.OpIn
		})
		if isRange && expr.KnownBefore(key.Ranges.Conds) {
			out = append(out, physical.Guard{Table: r.Scan.Table, KeyRange: key})
		}
	}
	return out
}

// searchPath is the path by x, nil when it makes no sense. named: a hint names
// the index. inexact is that of searcher. rejects: rows have to be looked at
// because a field could not take their value, and an inexact path may spare that.
func (r *Request) searchPath(x *schema.SearchIndex, named, inexact bool) (p *Path, rejects bool) {
	t := r.Scan.Table
	// For a fraction of the rows in any order, a check of all documents would be
	// too much.
	s := newSearcher(r, x, len(r.Order) == 0 && r.Limit > 0, inexact)
	q, residual := s.query(r.Conds)
	covering := s.covers(residual) && r.Scan.Lock.Strength == logical.LockNone
	if s.lazy && !covering {
		s = newSearcher(r, x, false, inexact)
		q, residual = s.query(r.Conds)
	}
	scan := &physical.SearchScan{Index: x, Query: q, Covering: covering}
	p = &Path{Access: scan}
	if q == nil && !scan.Covering && !named && (len(residual) > 0 || !s.ranksAll()) {
		return nil, false
	}
	p.Residual, p.All = r.Conds, r.Conds
	if scan.Covering {
		p.Residual = residual
	}
	p.Ordered = len(r.Order) == 0
	if s.mayCut(residual) {
		scan.Order = s.order()
		p.Ordered = scan.Order != nil
	}
	total := math.Max(r.Est.TableRows(r.Context, t), 1)
	var indexed []expr.Expr
	for _, c := range r.Conds {
		if !slices.Contains(residual, c) || slices.Contains(s.near, c) {
			indexed = append(indexed, c)
		}
	}
	counted := false
	if q != nil && r.Ctx != nil && expr.KnownBefore(s.withoutObjects(indexed)) && objectsKnown(q) {
		p.Entries, counted = r.Est.(SearchIndexes).SearchRows(r.Context, r.Ctx, t, x, q)
	}
	if !counted {
		p.Entries = math.Max(total*r.selectivity(nil, indexed, total), 0)
	}
	// most candidates of what is near are true
	beyond := slices.DeleteFunc(slices.Clone(residual), func(c expr.Expr) bool { return slices.Contains(s.near, c) })
	p.Rows = p.Entries * r.selectivity(indexed, beyond, total)
	fetched := p.Entries
	if scan.Order != nil {
		p.Rows = math.Min(p.Rows, r.Limit)
		fetched = p.Rows
	}
	columns := float64(len(r.Needed)) * cost.ScanColumn
	p.Cost = cost.SearchOpen + float64(s.nodes)*total*cost.SearchDoc + p.Entries*cost.SearchHit + s.checkCost(q, p.Entries, total)
	if scan.Covering {
		p.Cost += r.shared(fetched*(s.valuesCost()+filterCost(p.Residual)+float64(len(r.Scores))*cost.SearchRank), fetched, sharedReads)
	} else {
		p.Cost += fetched*(columns+filterCost(p.Residual)+cost.MergeKey) + cost.Lookup(fetched, total)
	}
	n := r.Est.(SearchIndexes).SearchRejected(r.Context, t, scan, r.Needed)
	if n > 0 {
		p.Entries, p.Rows = p.Entries+n, p.Rows+n*r.selectivity(nil, r.Conds, total)
		p.Cost += n*(columns+filterCost(r.Conds)+cost.MergeKey) + cost.Lookup(n, total)
	}
	if r.Counting && covering && len(residual) == 0 && (q == nil || q.Op == physical.SearchRange && !q.Field.Plain) {
		p.Cost = cost.SearchCount
	}
	for _, o := range scan.Order {
		switch {
		case o.Expr == nil:
		case o.Field != nil && !o.Desc:
			p.Cost += p.Entries * cost.SearchNear
		default:
			p.Cost += p.Entries * cost.SearchRank
		}
	}
	p.LimitedCost = p.Cost
	return p, s.marks && n > 0
}

// valuesCost is the cost of reading what is needed of a document.
func (s *searcher) valuesCost() (sum float64) {
	for _, pos := range s.r.Needed {
		switch types.KindOf(s.t.Columns[pos].Type) {
		case value.KindBytes:
			if s.manyTexts(pos) {
				sum += cost.SearchText
				continue
			}
			sum += cost.ScanColumn
		case value.KindJSON:
			sum += cost.ScanColumn
		default:
			if s.x.Field(s.t.Columns[pos].ID, schema.SearchValue) == nil { // a column of the key
				sum += cost.ScanColumn
				continue
			}
			sum += cost.SearchWord
		}
	}
	return sum
}

// manyTexts reports a column of texts so many of which differ that each is read from
// another place of its dictionary.
func (s *searcher) manyTexts(pos int) bool {
	f := s.x.Values(s.t.Columns[pos].ID)
	return f != nil && f.Kind == schema.SearchValue &&
		s.r.Est.Distinct(s.r.Context, s.t, []schema.ColumnID{s.t.Columns[pos].ID}) > cost.SearchTexts
}

// shared is a cost of so many documents of which several goroutines have a part each.
func (r *Request) shared(of, docs, least float64) float64 {
	if r.Parallel < 2 || docs < least || r.Limit > 0 {
		return of
	}
	return of/math.Min(float64(r.Parallel), 4)*1.2 + cost.ParallelStart
}

// Documents from which checks are computed, or values read, on several goroutines.
const (
	sharedChecks = 20_000
	sharedReads  = 50_000
)

// query turns conditions into a query of the index, and returns the conditions
// that still have to be checked on its rows. A nil query: the index serves none
// of them.
func (s *searcher) query(conds []expr.Expr) (*physical.SearchNode, []expr.Expr) {
	var list []*physical.SearchNode
	rest := conds
	for i := range s.x.Fields {
		f := &s.x.Fields[i]
		if f.ValueColumn() == 0 {
			continue
		}
		var n *physical.SearchNode
		if n, rest = s.ranges(f, rest); n != nil {
			list = append(list, n)
		}
	}
	for _, e := range s.r.Scan.Elements {
		if n := s.elements(e.Table, e.Params, e.Conds); n != nil && len(s.r.Scan.Paths) > 0 {
			list = append(list, n)
		}
	}
	var left []expr.Expr
	var checks []*physical.SearchNode
	for _, c := range rest {
		n, exact := s.truth(c, false)
		switch {
		case n == nil:
			left = append(left, c)
			continue
		case s.lazy && onlyChecks(n):
			left = append(left, c)
			continue
		case onlyChecks(n):
			checks = append(checks, n)
		case n.Op == physical.SearchAnd && isPlace(n.Children[0]): // and its check
			list, checks = append(list, n.Children[0]), append(checks, n.Children[1:]...)
		default:
			list = append(list, n)
		}
		if !exact {
			left = append(left, c)
		}
		if n.Op == physical.SearchLike || n.Op == physical.SearchGeo || n.Op == physical.SearchPath && !exact || n.Op == physical.SearchNested && !exact {
			s.near = append(s.near, c)
		}
	}
	return combine(physical.SearchAnd, append(list, checks...)), left
}

func isPlace(n *physical.SearchNode) bool { return n.Op == physical.SearchGeo && n.Geo.Cond != nil }

// ranges are the ranges of a field to which conditions restrict it, and the
// conditions that these do not stand for.
func (s *searcher) ranges(f *schema.SearchField, conds []expr.Expr) (*physical.SearchNode, []expr.Expr) {
	pos := s.t.ColumnIndex(f.ValueColumn())
	c := &s.t.Columns[pos]
	set, rest := ranges.Build([]ranges.Column{{Table: pos, Type: c.KeyType(), Null: c.Nullable}}, conds)
	if set == nil || s.isAny(set) {
		return nil, conds
	}
	s.nodes++
	return &physical.SearchNode{Op: physical.SearchRange, Field: f, Column: pos, Set: set}, rest
}

// isAny reports that patterns which begin with a wildcard are all that a set
// stands for.
func (s *searcher) isAny(set *ranges.Set) bool {
	for _, c := range set.Conds {
		f, ok := c.(*expr.Func)
		if !ok || f.Op != expr.OpLike || s.r.Ctx == nil || !expr.KnownBefore(f.Args[1:]) {
			return false
		}
		s.r.ValuesMatter = s.r.ValuesMatter || hasParam(f)
	}
	list, err := set.Spans(s.r.Ctx)
	if err != nil || len(list) != 1 {
		return false
	}
	one := list[0]
	return !one.Prefix && len(one.High) == 0 && (len(one.Low) == 0 || one.Low[0].IsNull())
}

// mayCut reports whether the index may leave out what is not among the first rows.
func (s *searcher) mayCut(residual []expr.Expr) bool {
	return len(residual) == 0 && len(s.r.Order) > 0 && s.r.Limit > 0 && s.r.LimitKnown && !s.r.Grouping
}

// covers reports whether the index has all columns that are needed.
func (s *searcher) covers(residual []expr.Expr) bool {
	scored := true
	for _, f := range s.r.Scores {
		_, ok := s.ranks(f)
		scored = scored && ok
	}
	if s.mayCut(residual) { // of equal scores, the rows with the smallest keys are the first
		scored = scored && !slices.ContainsFunc(s.r.Order, func(o OrderColumn) bool { return o.Expr != nil })
	}
	for _, pos := range s.r.Needed {
		if !s.gives[pos] && !(scored && s.r.ForScores[pos]) {
			return false
		}
	}
	for _, c := range residual {
		if !readsOnly(c, s.gives) {
			return false
		}
	}
	return true
}

// matchSelectivity is the fraction of the rows for which a MATCH is true, as its index
// counts them; ok is false for other conditions, and where it cannot.
func (r *Request) matchSelectivity(c expr.Expr, total float64) (share float64, ok bool) {
	f, isFunc := c.(*expr.Func)
	if !isFunc {
		return 0, false
	}
	m := f.Match()
	known, counts := r.Est.(SearchIndexes)
	if m == nil || !counts || r.Ctx == nil || r.Scan.Table.ID != m.Table || !expr.KnownBefore(f.Args[len(m.Fields):]) {
		return 0, false
	}
	key := conditionKey{m.Table, c.String()}
	if share, ok = r.Shares.matches[key]; ok {
		return share, true
	}
	t := r.Scan.Table
	for i := range t.Search {
		x := &t.Search[i]
		if x.ID != m.Index || !known.SearchReady(t, x) {
			continue
		}
		n, ok := known.SearchRows(r.Context, r.Ctx, t, x, &physical.SearchNode{Op: physical.SearchMatch, Match: f})
		if !ok {
			return 0, false
		}
		if r.Shares.matches == nil {
			r.Shares.matches = map[conditionKey]float64{}
		}
		share = math.Min(n/total, 1)
		r.Shares.matches[key] = share
		return share, true
	}
	return 0, false
}

// order is the order of the request in terms of fields, nil when one of its
// columns is none.
func (s *searcher) order() []physical.SearchOrder {
	out := make([]physical.SearchOrder, 0, len(s.r.Order))
	for i, o := range s.r.Order {
		if o.Expr != nil {
			f, ok := s.ranks(o.Expr)
			if !ok {
				return nil
			}
			out = append(out, physical.SearchOrder{Column: -1, Field: f, Expr: o.Expr, Desc: o.Desc})
			continue
		}
		f := s.x.Field(s.t.Columns[o.Column].ID, schema.SearchValue)
		if f == nil && s.isKeyOrder(s.r.Order[i:]) {
			for _, o := range s.r.Order[i:] {
				out = append(out, physical.SearchOrder{Column: o.Column, Desc: o.Desc})
			}
			return out
		}
		if f == nil {
			return nil
		}
		out = append(out, physical.SearchOrder{Column: o.Column, Field: f, Desc: o.Desc})
	}
	return out
}

// isKeyOrder reports the order of the primary key, or its reverse.
func (s *searcher) isKeyOrder(order []OrderColumn) bool {
	key := s.t.PrimaryKey
	if len(order) > len(key) {
		return false
	}
	for i, o := range order {
		if o.Expr != nil || s.t.ColumnIndex(key[i].Column) != o.Column || key[i].Prefix > 0 || (o.Desc != key[i].Desc) != (order[0].Desc != key[0].Desc) {
			return false
		}
	}
	return true
}
