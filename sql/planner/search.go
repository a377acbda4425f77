package planner

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// searchGroups lets a search index aggregate: in is the input of a HashAggregate,
// which it gives back where the index cannot, or where expressions make groups of so
// many different values that those of all rows cost less.
func (p *planner) searchGroups(in physical.Node, groupBy []expr.Expr, aggs []*expr.Agg, many func() bool) physical.Node {
	s, search := searchOf(in)
	if search == nil || !search.Covering || len(search.Scores) > 0 || s.Latest || !s.Lock.None || s.Limit != nil || p.off("SearchAggregate") || !foldable(groupBy, aggs) {
		return in
	}
	g := &physical.SearchGroup{Plain: true, Workers: p.opts.Parallelism}
	for _, e := range groupBy {
		_, plain := e.(*expr.Col)
		g.Plain = g.Plain && plain
		expr.Walk(e, func(x expr.Expr) bool {
			if c, ok := x.(*expr.Col); ok && !slices.Contains(g.By, c.Index) {
				g.By = append(g.By, c.Index)
			}
			return true
		})
	}
	if !g.Plain && many() {
		return in
	}
	isField := func(at int) bool {
		return search.Index.Values(s.Table.Columns[s.Read[at]].ID) != nil
	}
	for _, at := range g.By {
		if !isField(at) { // a column of the key
			return in
		}
	}
	for _, a := range aggs {
		call := searchCall(a)
		if call.Column >= 0 && !isField(call.Column) {
			if call.Op != expr.AggCount || call.Distinct {
				return in
			}
			call.Column = -1 // it is never NULL
		}
		g.Calls = append(g.Calls, call)
	}
	out, grouping := *s, *search
	grouping.Group = g
	out.Access = &grouping
	return &out
}

// searchOf is the scan n by a search index; nil if it is anything else.
func searchOf(n physical.Node) (*physical.Scan, *physical.SearchScan) {
	if s, ok := n.(*physical.Scan); ok && s.Search() != nil {
		return s, s.Search()
	}
	return nil, nil
}

// countKeys counts rows where different values of the whole primary key are counted,
// which a search gives once each.
func countKeys(in physical.Node, aggs []*expr.Agg) []*expr.Agg {
	s, _ := searchOf(in)
	if s == nil || s.Table.Derived != nil {
		return aggs
	}
	key := s.Table.DeclaredKey()
	if len(key) != 1 || key[0].Prefix > 0 {
		return aggs
	}
	out := slices.Clone(aggs)
	for i, a := range aggs {
		if a.Op != expr.AggCount || !a.Distinct || len(a.Args) != 1 {
			continue
		}
		if c, ok := a.Args[0].(*expr.Col); ok && c.Index < len(s.Read) && s.Table.Columns[s.Read[c.Index]].ID == key[0].Column {
			plain := *a
			plain.Distinct = false
			out[i] = &plain
		}
	}
	return out
}

// foldable reports whether a search index can aggregate: columns, and groups that
// are computed from few of their values.
func foldable(groupBy []expr.Expr, aggs []*expr.Agg) bool {
	for _, e := range groupBy {
		reads := false
		ok := true
		expr.Walk(e, func(x expr.Expr) bool {
			switch x := x.(type) {
			case *expr.Col:
				reads = true
			case *expr.Func:
				ok = ok && x.Match() == nil
			case *expr.Subquery:
				ok = false
			}
			return ok
		})
		if !ok || !reads || expr.IsVolatile(e) || isEffect(e) {
			return false
		}
	}
	for _, a := range aggs {
		if !foldableCall(a) {
			return false
		}
	}
	return true
}

func foldableCall(a *expr.Agg) bool {
	switch a.Op {
	case expr.AggCount:
		if len(a.Args) == 0 {
			return true
		}
		if c, ok := a.Args[0].(*expr.Const); ok && len(a.Args) == 1 && !a.Distinct {
			return !c.D.IsNull()
		}
	case expr.AggSum, expr.AggAvg, expr.AggMin, expr.AggMax, expr.AggAnyValue:
	default:
		return false
	}
	if len(a.Args) != 1 {
		return false
	}
	c, ok := a.Args[0].(*expr.Col)
	if !ok {
		return false
	}
	// They order by their text in aggregates.
	isList := c.T.ID == schema.TypeEnum || c.T.ID == schema.TypeSet
	return !isList || a.Op == expr.AggCount || a.Op == expr.AggAnyValue
}

func searchCall(a *expr.Agg) physical.SearchCall {
	call := physical.SearchCall{Op: a.Op, Column: -1}
	if len(a.Args) == 1 {
		if c, ok := a.Args[0].(*expr.Col); ok {
			call.Column = c.Index
			switch a.Op {
			case expr.AggCount, expr.AggSum, expr.AggAvg:
				call.Distinct = a.Distinct
			}
		}
	}
	return call
}
