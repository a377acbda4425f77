package rewrite

import (
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// scalarToJoin makes a left join of a correlated subquery that gives one value,
// in a select list or a condition. One that aggregates is grouped by the
// columns that are compared with outer values:
//
//	SELECT a.id, (SELECT SUM(b.v) FROM b WHERE b.x = a.x) FROM a
//
// joins a with SELECT x, SUM(v) FROM b GROUP BY x. Where no group matches, COUNT
// is 0 and not NULL. One that finds at most one row by a unique key is joined
// unchanged. What costs less when it runs for each row of a stays.
func (r *Rewriter) scalarToJoin(n logical.Node) logical.Node {
	var rule func(n logical.Node) logical.Node
	rule = func(n logical.Node) logical.Node {
		switch x := n.(type) {
		case *logical.Filter:
			// The other conditions choose the rows for which a subquery would run.
			in, list := x.Input, x.Conds
			if plain, rest := split(x.Conds, readsSubquery); len(rest) > 0 && len(plain) > 0 && !anyVolatile(x.Conds) {
				in, list = &logical.Filter{Input: in, Conds: plain}, rest
			}
			if below, conds, ok := r.joinScalars(in, list, rule); ok {
				return restored(&logical.Filter{Input: below, Conds: conds}, n.Columns())
			}
		case *logical.Project:
			if below, exprs, ok := r.joinScalars(x.Input, x.Exprs, rule); ok {
				return &logical.Project{Input: below, Exprs: exprs, Cols: x.Cols}
			}
		}
		return n
	}
	return bottomUp(n, rule)
}

// split are the conditions that are not so, and those that are.
func split(list []expr.Expr, so func(expr.Expr) bool) (not, are []expr.Expr) {
	for _, e := range list {
		if so(e) {
			are = append(are, e)
		} else {
			not = append(not, e)
		}
	}
	return not, are
}

// restored is n with these of its columns alone.
func restored(n logical.Node, cols []logical.Column) logical.Node {
	p := &logical.Project{Input: n, Cols: cols, Exprs: make([]expr.Expr, len(cols))}
	for i, c := range cols {
		p.Exprs[i] = column(c)
	}
	return p
}

// joinScalars joins below with the subqueries of list that can be joined.
func (r *Rewriter) joinScalars(below logical.Node, list []expr.Expr, rule func(logical.Node) logical.Node) (logical.Node, []expr.Expr, bool) {
	if anyVolatile(list) {
		return nil, nil, false
	}
	switch x := below.(type) {
	case *logical.Values:
		return nil, nil, false
	case *logical.Limit:
		return nil, nil, false // few rows are left, in their order
	case *logical.Sort:
		// The join gives one row for each: it may be below the sort, whose order
		// it would lose.
		joined, out, ok := r.joinScalars(x.Input, list, rule)
		return withInput(x, joined), out, ok
	}
	changed := false
	out := append([]expr.Expr(nil), list...)
	for i := range out {
		for _, s := range scalarsOf(out[i]) {
			joined, by, ok := r.scalarJoin(below, s, rule)
			if !ok {
				continue
			}
			r.taken(s)
			below, changed = joined, true
			out[i] = expr.Map(out[i], func(x expr.Expr) expr.Expr {
				if x == expr.Expr(s) {
					return by
				}
				return x
			})
		}
	}
	return below, out, changed
}

func withInput(s *logical.Sort, in logical.Node) logical.Node {
	return &logical.Sort{Input: in, Keys: s.Keys}
}

// scalarsOf are the correlated scalar subqueries in e.
func scalarsOf(e expr.Expr) (list []*expr.Subquery) {
	expr.Walk(e, func(x expr.Expr) bool {
		s, ok := x.(*expr.Subquery)
		if ok && s.Kind == expr.SubqueryScalar && len(s.Outer) > 0 {
			list = append(list, s)
		}
		return !ok
	})
	return list
}

func (r *Rewriter) scalarJoin(below logical.Node, s *expr.Subquery, rule func(logical.Node) logical.Node) (logical.Node, expr.Expr, bool) {
	plan := r.take(s, rule)
	if plan == nil || hasEffects(plan) {
		return nil, nil, false
	}
	p, ok := firstRow(plan).(*logical.Project)
	if !ok {
		return nil, nil, false
	}
	val := p.Exprs[s.Column]
	if readsSubquery(val) {
		return nil, nil, false
	}
	in := firstRow(p.Input)
	if a, ok := in.(*logical.Aggregate); ok && len(a.GroupBy) == 0 {
		joined, by, ok := r.groupJoin(below, a, []expr.Expr{val}, s.Outer, plan, s.Outer)
		if !ok {
			return nil, nil, false
		}
		return joined, by[0], true
	}
	return r.keyJoin(below, in, val, s.Outer, plan)
}

// firstRow takes off sorts and limits that matter only when there are several
// rows.
func firstRow(n logical.Node) logical.Node {
	for {
		switch x := n.(type) {
		case *logical.Sort:
			n = x.Input
		case *logical.Limit:
			if !isPositive(x.Count) || x.Offset != nil {
				return n
			}
			n = x.Input
		default:
			return n
		}
	}
}

// groupJoin joins left with an aggregation that reads outer values, which plan
// computes for one row; vals are expressions over its columns, returned in the
// form that they have above the join. A run for the same values of once is not
// made twice.
func (r *Rewriter) groupJoin(left logical.Node, a *logical.Aggregate, vals, outer []expr.Expr, plan logical.Node, once []expr.Expr) (logical.Node, []expr.Expr, bool) {
	for _, e := range expressions(a) {
		if expr.ReadsOuter(e) {
			return nil, nil, false
		}
	}
	inner, conds, ok := r.pull(a.Input, false)
	if !ok || len(conds) == 0 {
		return nil, nil, false
	}
	grouped := &logical.Aggregate{Input: inner, Aggs: a.Aggs, AggCols: a.AggCols}
	var on []expr.Expr
	for _, c := range conds {
		f, key := outerEquality(c)
		if f == nil {
			return nil, nil, false
		}
		in := f.Args[key]
		col := logical.Column{ID: r.newID(), Name: in.String(), T: in.Type(), Null: in.Nullable()}
		grouped.GroupBy, grouped.GroupCols = append(grouped.GroupBy, in), append(grouped.GroupCols, col)
		sides := slices.Clone(f.Args)
		sides[key] = column(col)
		on = append(on, expr.WithOuter(f.With(sides), outer))
	}
	with, ok := r.valuesOfNone(a)
	if !ok || !r.joinPays(left, grouped, plan, true, once) {
		return nil, nil, false
	}
	out := make([]expr.Expr, len(vals))
	for i, v := range vals {
		out[i] = expr.WithOuter(substitute(v, with), outer)
	}
	return &logical.Join{Kind: logical.JoinLeft, Left: left, Right: grouped, On: on}, out, true
}

// outerEquality takes a condition as one between rows of the plan and outer
// values, by which the rows can be grouped: f.Args[key] is of the rows. nil if
// it is something else.
func outerEquality(c expr.Expr) (f *expr.Func, key int) {
	f, ok := c.(*expr.Func)
	if !ok || f.Op != expr.OpEQ || len(f.Args) != 2 || !Hashable(f) {
		return nil, 0
	}
	for key := range f.Args {
		if in, out := f.Args[key], f.Args[1-key]; !expr.ReadsOuter(in) && !expr.IsConst(in) && expr.IsConst(out) {
			return f, key
		}
	}
	return nil, 0
}

// valuesOfNone are the aggregates of a left join with groups, by their columns:
// their values over no rows where no group matches.
func (r *Rewriter) valuesOfNone(a *logical.Aggregate) (map[expr.ColID]expr.Expr, bool) {
	with := map[expr.ColID]expr.Expr{}
	for i, call := range a.Aggs {
		c := column(a.AggCols[i])
		c.Null = true
		switch call.Op {
		case expr.AggCount:
			e, err := expr.NewFunc(r.Bind, "ifnull", c, expr.NewConst(value.Int(0), types.BigInt))
			if err != nil || types.KindOf(e.Type()) != types.KindOf(c.T) {
				return nil, false
			}
			with[c.ID] = e
		case expr.AggSum, expr.AggAvg, expr.AggMin, expr.AggMax, expr.AggGroupConcat, expr.AggStddevPop, expr.AggStddevSamp, expr.AggVarPop, expr.AggVarSamp,
			expr.AggJSONArrayAgg, expr.AggJSONObjectAgg, expr.AggSTCollect, expr.AggApproxPercentile:
			with[c.ID] = c
		default:
			return nil, false
		}
	}
	return with, true
}

// keyJoin joins left with a plan that gives at most one row for outer values.
func (r *Rewriter) keyJoin(left, in logical.Node, val expr.Expr, outer []expr.Expr, plan logical.Node) (logical.Node, expr.Expr, bool) {
	if expr.ReadsOuter(val) {
		return nil, nil, false
	}
	inner, conds, ok := r.pull(in, false)
	if !ok || len(conds) == 0 || !findsOne(inner, conds) {
		return nil, nil, false
	}
	c, isCol := val.(*expr.Col)
	if !isCol {
		// It must be NULL where there is no row.
		col := logical.Column{ID: r.newID(), Name: val.String(), T: val.Type(), Null: val.Nullable()}
		inner = exposed(inner, &logical.Project{Exprs: []expr.Expr{val}, Cols: []logical.Column{col}}, conds)
		c = column(col)
	}
	if !r.joinPays(left, inner, plan, true, outer) {
		return nil, nil, false
	}
	by := *c
	by.Null = true
	return &logical.Join{Kind: logical.JoinLeft, Left: left, Right: inner, On: withOuter(conds, outer)}, &by, true
}

// findsOne reports whether conditions with outer values and constants fix a
// unique key of the table that n reads.
func findsOne(n logical.Node, conds []expr.Expr) bool {
	if f, ok := n.(*logical.Filter); ok {
		n = f.Input
		conds = append(append([]expr.Expr(nil), conds...), f.Conds...)
	}
	s, ok := n.(*logical.Scan)
	if !ok {
		return false
	}
	fixed := colSet{}
	for _, e := range conds {
		if f, key := outerEquality(e); f != nil {
			if c, isCol := f.Args[key].(*expr.Col); isCol {
				fixed[c.ID] = true
			}
		}
	}
	isFixed := func(parts []schema.KeyPart) bool {
		for _, p := range parts {
			i := s.Table.ColumnIndex(p.Column)
			if p.Prefix > 0 || i < 0 || !fixed[s.Cols[i].ID] {
				return false
			}
		}
		return len(parts) > 0
	}
	if isFixed(s.Table.DeclaredKey()) {
		return true
	}
	for i := range s.Table.Indexes {
		if x := &s.Table.Indexes[i]; x.Unique && x.State == schema.IndexPublic && s.Table.HoldsAll(x) && isFixed(x.Parts) {
			return true
		}
	}
	return false
}
