package access

import (
	"math"
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/types"
)

// SearchIndexes is implemented by estimators that know search indexes.
type SearchIndexes interface {
	// SearchReady reports whether a search index serves queries.
	SearchReady(t *schema.Table, x *schema.SearchIndex) bool
	// SearchRows is about how many rows a query finds; ok is false when it cannot
	// tell.
	SearchRows(ec *expr.Ctx, t *schema.Table, x *schema.SearchIndex, n *physical.SearchNode) (rows float64, ok bool)
	// SearchRejected is about how many rows a search has to look at because a
	// field that it uses could not take their value; read are the columns that it
	// gives.
	SearchRejected(t *schema.Table, n *physical.SearchScan, read []int) float64
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
		if p := r.searchPath(x, allowed.asked(x.Name)); p != nil {
			out = append(out, p)
		}
	}
	return out
}

// searchPath is the way by x, nil when it makes no sense. asked: a hint names the
// index.
func (r *Request) searchPath(x *schema.SearchIndex, asked bool) *Path {
	t := r.Scan.Table
	s := &searcher{r: r, t: t, x: x}
	q, residual := s.query(r.Conds)
	p := &Path{Kind: physical.AccessSearch, Search: &physical.SearchScan{Index: x, Query: q}}
	p.Search.Covering = s.covers(residual) && r.Scan.Lock.Strength == logical.LockNone
	if q == nil && !p.Search.Covering && !asked {
		return nil
	}
	p.Residual, p.All = r.Conds, r.Conds
	if p.Search.Covering {
		p.Residual = residual
	}
	p.Lookup = !p.Search.Covering
	p.Ordered = len(r.Order) == 0
	if len(residual) == 0 && len(r.Order) > 0 && r.Limit > 0 && r.LimitKnown && !r.Grouping {
		p.Search.Order = s.order()
		p.Ordered = p.Search.Order != nil
	}
	total := math.Max(r.Est.TableRows(t), 1)
	var asks []expr.Expr
	for _, c := range r.Conds {
		if !slices.Contains(residual, c) || slices.Contains(s.near, c) {
			asks = append(asks, c)
		}
	}
	p.Entries = math.Max(total*r.share(nil, asks, total), 0)
	if q != nil && r.Ctx != nil && expr.KnownBefore(asks) {
		if n, ok := r.Est.(SearchIndexes).SearchRows(r.Ctx, t, x, q); ok {
			p.Entries = n
		}
	}
	p.Rows = p.Entries * r.share(asks, residual, total)
	fetched := p.Entries
	if p.Search.Order != nil {
		p.Rows = math.Min(p.Rows, r.Limit)
		fetched = p.Rows
	}
	columns := float64(len(r.Needed)) * cost.ScanColumn
	p.Cost = cost.SearchOpen + float64(s.nodes)*total*cost.SearchDoc + p.Entries*cost.SearchHit
	if p.Search.Covering {
		p.Cost += fetched * (columns + filterCost(p.Residual))
	} else {
		p.Cost += fetched*(columns+filterCost(p.Residual)+cost.MergeKey) + cost.Lookup(fetched, total)
	}
	if n := r.Est.(SearchIndexes).SearchRejected(t, p.Search, r.Needed); n > 0 {
		p.Entries, p.Rows = p.Entries+n, p.Rows+n*r.share(nil, r.Conds, total)
		p.Cost += n*(columns+filterCost(r.Conds)+cost.MergeKey) + cost.Lookup(n, total)
	}
	p.LimitedCost = p.Cost
	return p
}

// searcher makes queries of conditions.
type searcher struct {
	r     *Request
	t     *schema.Table
	x     *schema.SearchIndex
	nodes int
	// near are the conditions of which the index finds little more than what
	// satisfies them.
	near []expr.Expr
}

// query is what the index can tell of conditions, and those that it cannot tell
// for sure. nil: it can tell nothing.
func (s *searcher) query(conds []expr.Expr) (*physical.SearchNode, []expr.Expr) {
	var list []*physical.SearchNode
	rest := conds
	for i := range s.x.Fields {
		f := &s.x.Fields[i]
		if f.Kind != schema.SearchValue {
			continue
		}
		var n *physical.SearchNode
		if n, rest = s.ranges(f, rest); n != nil {
			list = append(list, n)
		}
	}
	var left []expr.Expr
	for _, c := range rest {
		if n := s.geo(c); n != nil {
			s.near = append(s.near, c)
			list, left = append(list, n), append(left, c)
			continue
		}
		n, exact := s.or(c)
		if n != nil {
			list = append(list, n)
		}
		if n == nil || !exact {
			left = append(left, c)
		}
		if n != nil && n.Op == physical.SearchLike {
			s.near = append(s.near, c)
		}
	}
	switch len(list) {
	case 0:
		return nil, left
	case 1:
		return list[0], left
	}
	return &physical.SearchNode{Op: physical.SearchAnd, Children: list}, left
}

// ranges are the ranges of a field to which conditions restrict it, and the
// conditions that these do not stand for.
func (s *searcher) ranges(f *schema.SearchField, conds []expr.Expr) (*physical.SearchNode, []expr.Expr) {
	pos := s.t.ColumnIndex(f.Column)
	c := &s.t.Columns[pos]
	set, rest := ranges.Build([]ranges.Column{{Table: pos, Type: c.KeyType(), Null: c.Nullable}}, conds)
	if set == nil {
		return nil, conds
	}
	s.nodes++
	return &physical.SearchNode{Op: physical.SearchRange, Field: f, Column: pos, Set: set}, rest
}

// or is what the index can tell of a condition over several fields: an OR whose
// branches it all knows.
func (s *searcher) or(c expr.Expr) (n *physical.SearchNode, exact bool) {
	f, ok := c.(*expr.Func)
	if !ok {
		return nil, false
	}
	if m, exact := s.match(f); m != nil {
		s.nodes++
		return &physical.SearchNode{Op: physical.SearchMatch, Match: m}, exact
	}
	if f.Name == "like" {
		return s.like(f), false
	}
	if f.Name != "or" {
		return nil, false
	}
	n = &physical.SearchNode{Op: physical.SearchOr}
	exact = true
	for _, branch := range f.Args {
		child, left := s.query(expr.SplitAnd(nil, branch))
		if child == nil {
			return nil, false
		}
		exact = exact && len(left) == 0
		n.Children = append(n.Children, child)
	}
	return n, exact
}

// match is the MATCH that a condition asks of this index: alone, or as a score
// above a number, which is exact for 0.
func (s *searcher) match(f *expr.Func) (m *expr.Func, exact bool) {
	switch x, isMatch := f.Extra.(*expr.Match); {
	case isMatch:
		if x.Table == s.t.ID && x.Index == s.x.ID {
			return f, true
		}
	case f.Name == ">", f.Name == ">=":
		c, isConst := f.Args[1].(*expr.Const)
		g, isFunc := f.Args[0].(*expr.Func)
		if !isConst || !isFunc || c.D.IsNull() {
			return nil, false
		}
		if _, isMatch = g.Extra.(*expr.Match); !isMatch {
			return nil, false
		}
		least, err := types.ToFloat(&types.Env{}, c.D, c.T)
		if err != nil || least < 0 || least == 0 && f.Name == ">=" {
			return nil, false
		}
		m, _ = s.match(g)
		return m, least == 0
	}
	return nil, false
}

// like asks for the texts that may be LIKE a constant pattern: nil where the
// words of the column tell nothing about it.
func (s *searcher) like(f *expr.Func) *physical.SearchNode {
	c, ok := f.Args[0].(*expr.Col)
	if !ok || !expr.IsConst(f.Args[1]) {
		return nil
	}
	pos := c.Index
	field := s.x.Field(s.t.Columns[pos].ID, schema.SearchText)
	if field == nil {
		return nil
	}
	a, err := bind.Analyzer(s.x, field, &s.t.Columns[pos])
	if err != nil {
		return nil
	}
	asks := f.Args[1:]
	if s.r.Ctx != nil && expr.KnownBefore(asks) {
		if slices.ContainsFunc(asks, hasParam) {
			s.r.ValuesMatter = true
		}
		if _, ok, err := expr.LikeCandidates(s.r.Ctx, f, a); err != nil || !ok {
			return nil
		}
	}
	s.nodes++
	return &physical.SearchNode{Op: physical.SearchLike, Field: field, Column: pos, Match: f, Analyzer: a}
}

// covers reports whether the index has all columns that are needed.
func (s *searcher) covers(residual []expr.Expr) bool {
	have := map[int]bool{}
	for i := range s.x.Fields {
		if f := &s.x.Fields[i]; f.Kind == schema.SearchValue {
			have[s.t.ColumnIndex(f.Column)] = true
		}
	}
	for _, pos := range s.r.Needed {
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

// order is the order of the request in terms of fields, nil when one of its
// columns is none.
func (s *searcher) order() []physical.SearchOrder {
	out := make([]physical.SearchOrder, 0, len(s.r.Order))
	for _, o := range s.r.Order {
		f := s.x.Field(s.t.Columns[o.Column].ID, schema.SearchValue)
		if f == nil {
			return nil
		}
		out = append(out, physical.SearchOrder{Column: o.Column, Field: f, Desc: o.Desc})
	}
	return out
}

// asked reports whether a hint names an index.
func (h *hints) asked(name string) bool {
	for _, list := range []map[string]bool{h.force, h.use} {
		for n := range list {
			if strings.EqualFold(n, name) {
				return true
			}
		}
	}
	return false
}
