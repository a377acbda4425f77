package planner

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// Groups before joins. In
//
//	SELECT s.city, SUM(c.x), COUNT(*) FROM calls c JOIN stations s ON c.station = s.id GROUP BY s.city
//
// all calls of a station have the same partners, so that their sums and counts are formed
// first, by station, and these are joined: thousands of rows and not millions. A group
// that meets several partners counts for each of them, as its rows would.

// fewerGroups is how many rows there are, at least, for each group that is formed before
// a join.
const fewerGroups = 20

// firstPartial is above the ids of columns, and below those of marks.
const firstPartial expr.ColID = 1 << 29

// groupsFirst is n with the groups of one table formed before it is joined; nil where that
// may give something else, another error or warning, or saves little.
func (p *planner) groupsFirst(n *logical.Aggregate) (*logical.Aggregate, error) {
	if len(n.Aggs) == 0 || n.Aggs[0].Final || p.off("GroupsFirst") {
		return nil, nil
	}
	if alt, known := p.first[n]; known {
		return alt, nil
	}
	below, err := belowProject(n)
	if err != nil {
		return nil, err
	}
	j, ok := below.Input.(*logical.Join)
	if !ok {
		return nil, nil
	}
	alt, err := p.formGroupsFirst(below, j)
	if err != nil {
		return nil, err
	}
	if p.first == nil {
		p.first = map[*logical.Aggregate]*logical.Aggregate{}
	}
	p.first[n] = alt
	return alt, nil
}

// belowProject is n over the input of a projection that only leaves columns out or gives
// them other ids.
func belowProject(n *logical.Aggregate) (*logical.Aggregate, error) {
	x, ok := n.Input.(*logical.Project)
	if !ok {
		return n, nil
	}
	place := func(e expr.Expr) (expr.Expr, error) {
		return expr.Map(e, func(e expr.Expr) expr.Expr {
			if c, isCol := e.(*expr.Col); isCol {
				if i := slices.IndexFunc(x.Cols, func(have logical.Column) bool { return have.ID == c.ID }); i >= 0 {
					return x.Exprs[i]
				}
			}
			return e
		}), nil
	}
	out := *n
	out.Input, out.GroupBy, out.Aggs = x.Input, nil, nil
	for _, g := range n.GroupBy {
		e, _ := place(g)
		out.GroupBy = append(out.GroupBy, e)
	}
	for _, a := range n.Aggs {
		m, err := expr.MapAgg(a, place)
		if err != nil {
			return nil, err
		}
		out.Aggs = append(out.Aggs, m)
	}
	return &out, nil
}

func (p *planner) formGroupsFirst(n *logical.Aggregate, j *logical.Join) (*logical.Aggregate, error) {
	var args []expr.Expr
	for _, a := range n.Aggs {
		if !isExact(a) {
			return nil, nil
		}
		args = append(args, a.Args...)
	}
	var items []logical.Node
	conds, ok := joined(j, &items, nil)
	if !ok {
		return nil, nil
	}
	item := p.aggregated(items, args)
	s, _ := baseTable(item)
	if s == nil || s == p.change || s.Table.Derived != nil || s.Lock.Strength != logical.LockNone {
		return nil, nil
	}
	own := idSet(s.Cols[:len(s.Table.Columns)])
	keys, ok := groupKeys(own, conds, n.GroupBy)
	if !ok {
		return nil, nil
	}
	need := p.addReads(nil, append(slices.Clone(keys), args...)...)
	in, err := p.build(item, request{cols: need})
	if err != nil {
		return nil, err
	}
	groups := 1.0
	for _, k := range keys {
		groups *= p.distinctValues(k, in)
	}
	if in.rows < parallelRows || groups*fewerGroups > in.rows {
		return nil, nil
	}
	first := &logical.Aggregate{Input: item, GroupBy: keys}
	for _, k := range keys {
		for _, c := range s.Cols {
			if c.ID == k.(*expr.Col).ID {
				first.GroupCols = append(first.GroupCols, c)
			}
		}
	}
	out := *n
	out.Aggs = nil
	for _, a := range n.Aggs {
		last, err := p.partial(first, a)
		if err != nil {
			return nil, err
		}
		out.Aggs = append(out.Aggs, last)
	}
	out.Input = replaceItem(j, item, first)
	return &out, nil
}

// isExact reports a call over a column whose result is the same however its rows are put
// together, without errors on the way.
func isExact(a *expr.Agg) bool {
	if a.Distinct {
		return false
	}
	if a.Op == expr.AggCount {
		if len(a.Args) == 0 {
			return true
		}
		_, isConst := a.Args[0].(*expr.Const)
		_, isCol := a.Args[0].(*expr.Col)
		return len(a.Args) == 1 && (isConst || isCol)
	}
	if len(a.Args) != 1 {
		return false
	}
	c, ok := a.Args[0].(*expr.Col)
	if !ok {
		return false
	}
	word := isWord(c.T)
	decimal := types.KindOf(c.T) == value.KindDecimal && c.T.Len <= 40 // sums of fewer rows than 10^20
	switch a.Op {
	case expr.AggSum, expr.AggAvg:
		return c.T.IsInteger() || decimal
	case expr.AggMin, expr.AggMax:
		return word || decimal
	case expr.AggBitAnd, expr.AggBitOr, expr.AggBitXor:
		return word
	}
	return false
}

// isWord reports types whose equal values are the same.
func isWord(t schema.Type) bool {
	k := types.KindOf(t)
	return k != value.KindNull && vec.ClassOf(k) == vec.ClassWord
}

// joined collects the items of a join whose rows are kept or dropped as a whole, of which
// one may be replaced by its groups, and all conditions. What is not kept (the right side
// of outer and semi joins) is no item. It is false for joins in an order that hints give.
func joined(n logical.Node, items *[]logical.Node, conds []expr.Expr) ([]expr.Expr, bool) {
	j, ok := n.(*logical.Join)
	if !ok {
		*items = append(*items, n)
		return conds, true
	}
	if j.Straight || len(j.Orders) > 0 {
		return nil, false
	}
	for _, c := range j.On {
		conds = expr.SplitAnd(conds, c)
	}
	if conds, ok = joined(j.Left, items, conds); !ok {
		return nil, false
	}
	var right []logical.Node
	if conds, ok = joined(j.Right, &right, conds); ok && j.Kind == logical.JoinInner {
		*items = append(*items, right...)
	}
	return conds, ok
}

// aggregated is the item whose columns the calls read: the largest table where they read
// none.
func (p *planner) aggregated(items []logical.Node, args []expr.Expr) logical.Node {
	read := p.addReads(nil, args...)
	var best logical.Node
	rows := 0.0
	for _, it := range items {
		cols := idSet(it.Columns())
		n := 0
		for id := range read {
			if cols[id] {
				n++
			}
		}
		if len(read) > 0 && n == len(read) {
			return it
		}
		if s, _ := baseTable(it); len(read) == 0 && s != nil {
			if r := p.opts.Est.TableRows(p.ctx, s.Table); best == nil || r > rows {
				best, rows = it, r
			}
		}
	}
	return best
}

// groupKeys are the columns by which the rows of a table with the given columns have the
// same partners and are in the same group.
func groupKeys(own map[expr.ColID]bool, conds, groupBy []expr.Expr) (keys []expr.Expr, ok bool) {
	add := func(e expr.Expr) bool {
		c, isCol := e.(*expr.Col)
		if !isCol || own[c.ID] && !isWord(c.T) {
			return false
		}
		if own[c.ID] && !slices.ContainsFunc(keys, func(k expr.Expr) bool { return k.(*expr.Col).ID == c.ID }) {
			keys = append(keys, c)
		}
		return true
	}
	for _, e := range conds {
		reads := false
		expr.Walk(e, func(x expr.Expr) bool {
			c, isCol := x.(*expr.Col)
			reads = reads || isCol && own[c.ID]
			return !reads
		})
		if !reads {
			continue
		}
		f, isFunc := e.(*expr.Func)
		if !isFunc || f.Op != expr.OpEQ || len(f.Args) != 2 || !add(f.Args[0]) || !add(f.Args[1]) {
			return nil, false
		}
	}
	for _, e := range groupBy {
		if !add(e) {
			return nil, false
		}
	}
	return keys, len(keys) > 0
}

// partial adds to the groups of first what call a needs of them, and returns the call that
// puts it together.
func (p *planner) partial(first *logical.Aggregate, a *expr.Agg) (*expr.Agg, error) {
	column := func(a *expr.Agg) expr.Expr {
		at := slices.IndexFunc(first.Aggs, func(have *expr.Agg) bool { return have.String() == a.String() })
		if at < 0 {
			at = len(first.Aggs)
			first.Aggs = append(first.Aggs, a)
			first.AggCols = append(first.AggCols, logical.Column{ID: firstPartial + p.partials, Name: a.String(), T: a.T, Null: a.Null})
			p.partials++
		}
		c := first.AggCols[at]
		return &expr.Col{ID: c.ID, T: c.T, Null: c.Null, Name: c.Name}
	}
	last := *a
	last.Final = true
	if a.Op != expr.AggAvg {
		last.Args = []expr.Expr{column(a)}
		return &last, nil
	}
	last.Args = nil
	for _, name := range []string{"sum", "count"} {
		x, err := expr.NewAgg(p.opts.Bind, name, false, a.Args...)
		if err != nil {
			return nil, err
		}
		last.Args = append(last.Args, column(x))
	}
	return &last, nil
}

// replaceItem is a join with another node in the place of one of its items.
func replaceItem(n, item, by logical.Node) logical.Node {
	if n == item {
		return by
	}
	j, ok := n.(*logical.Join)
	if !ok {
		return n
	}
	out := *j
	out.Left, out.Right = replaceItem(j.Left, item, by), replaceItem(j.Right, item, by)
	return &out
}
