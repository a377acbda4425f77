package planner

import (
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/access"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// looseGroups reads only the ends of each group from an index, where the
// aggregates need no more: MIN and MAX of the column after those of the groups,
// and aggregates of distinct values, whose columns count as groups.
func (p *planner) looseGroups(n *logical.Aggregate, aggs []*expr.Agg, need map[expr.ColID]bool, order []orderKey) (rel, bool, error) {
	var groups []*expr.Col
	for _, g := range n.GroupBy {
		c, ok := g.(*expr.Col)
		if !ok {
			return rel{}, false, nil
		}
		groups = append(groups, c)
	}
	var extremes []*expr.Agg
	for _, a := range aggs {
		switch {
		case a.Op == expr.AggMin || a.Op == expr.AggMax:
			extremes = append(extremes, a)
		case a.Distinct && a.Extra == nil && a.Op != expr.AggJSONArrayAgg && a.Op != expr.AggJSONObjectAgg:
			for _, e := range a.Args {
				c, ok := e.(*expr.Col)
				if !ok {
					return rel{}, false, nil
				}
				groups = append(groups, c)
			}
		default:
			return rel{}, false, nil
		}
	}
	return p.loose(n.Input, groups, extremes, need, order)
}

// looseDistinct is looseGroups for DISTINCT of columns.
func (p *planner) looseDistinct(n *logical.Distinct, order []orderKey) (rel, bool, error) {
	input, outer := n.Input, n.Columns()
	cols := make([]*expr.Col, len(outer))
	for i, c := range outer {
		cols[i] = &expr.Col{ID: c.ID, T: c.T}
	}
	if pr, ok := input.(*logical.Project); ok {
		for i, e := range pr.Exprs {
			if cols[i], ok = e.(*expr.Col); !ok {
				return rel{}, false, nil
			}
		}
		input = pr.Input
	}
	inner := map[expr.ColID]expr.ColID{}
	need := map[expr.ColID]bool{}
	for i, c := range outer {
		inner[c.ID] = cols[i].ID
		need[cols[i].ID] = true
	}
	if len(need) < len(cols) {
		return rel{}, false, nil // a column twice
	}
	wanted := make([]orderKey, len(order))
	for i, k := range order {
		wanted[i] = orderKey{id: inner[k.id], desc: k.desc}
	}
	out, ok, err := p.loose(input, cols, nil, need, wanted)
	for i, c := range out.cols {
		for j := range cols {
			if cols[j].ID == c.ID {
				out.cols[i] = outer[j]
			}
		}
	}
	return out, ok, err
}

func (p *planner) loose(input logical.Node, groups []*expr.Col, extremes []*expr.Agg, need map[expr.ColID]bool, order []orderKey) (rel, bool, error) {
	s, conds := baseTable(input)
	if s == nil || len(groups) == 0 || s.Lock.Strength != logical.LockNone || p.change == s || p.off("IndexAccess") || p.off("LooseIndexScan") || isNever(conds) {
		return rel{}, false, nil
	}
	req := request{cols: need, order: order, group: true}
	ar := p.accessRequest(s, conds, req)
	if len(ar.Order) != len(order) {
		return rel{}, false, nil
	}
	at := map[expr.ColID]int{}
	for i, c := range s.Cols {
		at[c.ID] = i
	}
	g := access.Groups{Value: -1}
	seen := map[int]bool{}
	for _, c := range groups {
		pos, ok := at[c.ID]
		if !ok {
			return rel{}, false, nil
		}
		if !seen[pos] {
			seen[pos] = true
			g.Columns = append(g.Columns, pos)
		}
	}
	for _, a := range extremes {
		c, ok := a.Args[0].(*expr.Col)
		if !ok {
			return rel{}, false, nil
		}
		pos, ok := at[c.ID]
		switch {
		case !ok:
			return rel{}, false, nil
		case seen[pos]:
			continue
		case g.Value >= 0 && g.Value != pos, c.T.ID == schema.TypeEnum, c.T.ID == schema.TypeSet, c.T.ID == schema.TypeJSON:
			return rel{}, false, nil // ENUM and SET compare as text here, but are ordered by number
		}
		g.Value = pos
		g.Min, g.Max = g.Min || a.Op == expr.AggMin, g.Max || a.Op == expr.AggMax
	}
	path := access.Loose(ar, g)
	if path == nil {
		return rel{}, false, nil
	}
	p.addTable(s.Table)
	out, err := p.scanBy(s, path, []*access.Path{path}, req, false, false, true)
	return out, err == nil, err
}

// cheaperInOrder reports whether reading all entries in order is cheaper than
// the loose scan.
func (p *planner) cheaperInOrder(n *logical.Aggregate, need map[expr.ColID]bool, order []orderKey, loose rel) bool {
	if len(order) == 0 {
		return false
	}
	in, err := p.build(n.Input, request{cols: need, order: order, group: true})
	return err == nil && in.ordered && in.cost < loose.cost
}
