package rewrite

import (
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// A rule that takes a subquery into the plan around replaces the expression by a
// join with the subquery's plan. Conditions of that plan that read outer values
// become conditions of the join (pull). If anything else reads them, the subquery
// stays and runs for each combination of outer values.

// take gives the plan of a subquery for good, nil if it is gone or used in
// several places. The plan is rewritten by the same rule before it is looked
// at.
func (r *Rewriter) take(s *expr.Subquery, rule func(logical.Node) logical.Node) logical.Node {
	if s.ID >= len(r.Subqueries) || r.Subqueries[s.ID] == nil || r.uses[s.ID] != 1 {
		return nil
	}
	r.Subqueries[s.ID] = bottomUp(r.Subqueries[s.ID], rule)
	return r.Subqueries[s.ID]
}

// mayJoin reports whether a rule may make a semi join of a subquery. The hint
// SEMIJOIN allows it where the rule is off, too.
func (r *Rewriter) mayJoin(s *expr.Subquery, rule string) bool {
	if r.Disabled[rule] {
		return s.SemiJoin == expr.SemiJoinAlways
	}
	return s.SemiJoin != expr.SemiJoinNever
}

func (r *Rewriter) taken(s *expr.Subquery) { r.Subqueries[s.ID] = nil }

// countUses finds how often each subquery is used, and the greatest column id.
func (r *Rewriter) countUses(n logical.Node) {
	r.uses = map[int]int{}
	r.count(n)
	for _, s := range r.Subqueries {
		if s != nil {
			r.count(s)
		}
	}
}

func (r *Rewriter) count(n logical.Node) {
	for _, c := range n.Columns() {
		r.lastID = max(r.lastID, c.ID)
	}
	for _, e := range expressions(n) {
		expr.Walk(e, func(x expr.Expr) bool {
			if s, ok := x.(*expr.Subquery); ok {
				r.uses[s.ID]++
				r.semiJoins = r.semiJoins || s.SemiJoin == expr.SemiJoinAlways
			}
			return true
		})
	}
	for _, in := range n.Inputs() {
		r.count(in)
	}
}

func (r *Rewriter) newID() expr.ColID {
	r.lastID++
	return r.lastID
}

// liftSubqueries moves conditions with subqueries from the ON of an inner join
// to a filter above it.
func liftSubqueries(j *logical.Join, wanted func(expr.Expr) bool) *logical.Filter {
	if j.Kind != logical.JoinInner {
		return nil
	}
	var on, lifted []expr.Expr
	for _, c := range j.On {
		if wanted(c) {
			lifted = append(lifted, c)
		} else {
			on = append(on, c)
		}
	}
	if len(lifted) == 0 {
		return nil
	}
	c := *j
	c.On = on
	return &logical.Filter{Input: &c, Conds: lifted}
}

// conditionsWith calls try for each condition of a filter, or of an inner join,
// with the present input of the filter; try gives the node that the condition
// becomes part of, nil if it stays. n itself when all stay.
func conditionsWith(n logical.Node, wanted func(expr.Expr) bool, try func(below logical.Node, cond expr.Expr) logical.Node) logical.Node {
	f, ok := n.(*logical.Filter)
	if j, isJoin := n.(*logical.Join); isJoin {
		f = liftSubqueries(j, wanted)
		ok = f != nil
	}
	if !ok || anyVolatile(f.Conds) {
		return n
	}
	if _, isRow := f.Input.(*logical.Values); isRow {
		return n
	}
	below, changed := f.Input, false
	var stay []expr.Expr
	for _, c := range f.Conds {
		if wanted(c) {
			if out := try(below, c); out != nil {
				below, changed = out, true
				continue
			}
		}
		stay = append(stay, c)
	}
	if !changed {
		return n
	}
	return filter(below, stay)
}

// negation takes NOT off.
func negation(e expr.Expr) (inner expr.Expr, not bool) {
	if f, ok := e.(*expr.Func); ok && f.Op == expr.OpNot {
		return f.Args[0], true
	}
	return e, false
}

// isQuery reports (NOT) kind of subquery.
func isQuery(e expr.Expr, kind expr.SubqueryKind) (*expr.Subquery, bool) {
	e, not := negation(e)
	s, ok := e.(*expr.Subquery)
	if !ok || s.Kind != kind {
		return nil, false
	}
	return s, not
}

// pull takes the conditions that read outer values out of n: n has the rows of
// the result for which conds hold, in any order, with its own columns and those
// that conds read. ok is false when outer values are read elsewhere. With sets
// the result may have other numbers of equal rows.
func (r *Rewriter) pull(n logical.Node, sets bool) (out logical.Node, conds []expr.Expr, ok bool) {
	if !ReadsOuter(n) {
		return n, nil, true
	}
	switch x := n.(type) {
	case *logical.Filter:
		in, conds, ok := r.pull(x.Input, sets)
		if !ok {
			return nil, nil, false
		}
		var stay []expr.Expr
		for _, c := range x.Conds {
			for _, one := range expr.SplitAnd(nil, c) {
				switch {
				case !expr.ReadsOuter(one):
					stay = append(stay, one)
				case readsSubquery(one):
					return nil, nil, false
				default:
					conds = append(conds, one)
				}
			}
		}
		return filter(in, stay), conds, true
	case *logical.Project:
		for _, e := range x.Exprs {
			if expr.ReadsOuter(e) {
				return nil, nil, false
			}
		}
		in, conds, ok := r.pull(x.Input, sets)
		if !ok {
			return nil, nil, false
		}
		return exposed(in, x, conds), conds, true
	case *logical.Join:
		return r.pullJoin(x, sets)
	case *logical.Sort:
		for _, k := range x.Keys {
			if expr.ReadsOuter(k.Expr) {
				return nil, nil, false
			}
		}
		return r.pull(x.Input, sets)
	case *logical.Distinct:
		if sets {
			return r.pull(x.Input, sets)
		}
	case *logical.Aggregate:
		return r.pullGroups(x)
	}
	return nil, nil, false
}

// exposed is the project x over in, extended by the columns that conds read.
func exposed(in logical.Node, x *logical.Project, conds []expr.Expr) *logical.Project {
	p := &logical.Project{Input: in, Exprs: append([]expr.Expr(nil), x.Exprs...), Cols: append([]logical.Column(nil), x.Cols...)}
	have := columnsOf(x)
	read := colSet{}
	for _, e := range conds {
		expr.Walk(e, func(y expr.Expr) bool {
			if c, ok := y.(*expr.Col); ok {
				read[c.ID] = true
			}
			return true
		})
	}
	for _, c := range in.Columns() {
		if read[c.ID] && !have[c.ID] {
			p.Exprs, p.Cols = append(p.Exprs, column(c)), append(p.Cols, c)
		}
	}
	return p
}

// pullJoin pulls from those sides whose rows a join keeps or drops whole.
func (r *Rewriter) pullJoin(x *logical.Join, sets bool) (logical.Node, []expr.Expr, bool) {
	left, conds, ok := r.pull(x.Left, sets)
	if !ok {
		return nil, nil, false
	}
	c := *x
	c.Left, c.On = left, nil
	for _, e := range x.On {
		for _, one := range expr.SplitAnd(nil, e) {
			switch {
			case !expr.ReadsOuter(one):
				c.On = append(c.On, one)
			case x.Kind != logical.JoinInner || readsSubquery(one):
				return nil, nil, false
			default:
				conds = append(conds, one)
			}
		}
	}
	if x.Kind != logical.JoinInner {
		return &c, conds, !ReadsOuter(x.Right)
	}
	right, more, ok := r.pull(x.Right, sets)
	c.Right = right
	return &c, append(conds, more...), ok
}

// pullGroups pulls conditions on the columns by which a plan groups, which take
// whole groups out.
func (r *Rewriter) pullGroups(x *logical.Aggregate) (logical.Node, []expr.Expr, bool) {
	if len(x.GroupBy) == 0 {
		return nil, nil, false
	}
	for _, e := range expressions(x) {
		if expr.ReadsOuter(e) {
			return nil, nil, false
		}
	}
	in, conds, ok := r.pull(x.Input, false)
	if !ok {
		return nil, nil, false
	}
	groups := map[expr.ColID]expr.Expr{}
	keys := colSet{}
	for i, g := range x.GroupBy {
		if c, isCol := g.(*expr.Col); isCol {
			groups[c.ID], keys[c.ID] = column(x.GroupCols[i]), true
		}
	}
	for i, c := range conds {
		if !keys.within(c) || !sameForEquals(c) {
			return nil, nil, false
		}
		conds[i] = substitute(c, groups)
	}
	c := *x
	c.Input = in
	return &c, conds, true
}

func readsSubquery(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if _, ok := x.(*expr.Subquery); ok {
			found = true
		}
		return !found
	})
	return found
}

// hasEffects reports whether a plan must run once for each call: it has effects
// or is not deterministic.
func hasEffects(n logical.Node) bool {
	if anyVolatile(expressions(n)) {
		return true
	}
	for _, in := range n.Inputs() {
		if hasEffects(in) {
			return true
		}
	}
	return false
}

// withOuter puts the outer expressions of a subquery into conditions.
func withOuter(conds, outer []expr.Expr) []expr.Expr {
	out := make([]expr.Expr, len(conds))
	for i, c := range conds {
		out[i] = expr.WithOuter(c, outer)
	}
	return out
}

// joinPays reports whether joining with all rows of inner costs less than
// running plan, which reads outer values, for each row of left, or for each
// combination of the values of once. Base tables always do if an equality
// joins them: their rows can be looked up. Without one all pairs are tried.
func (r *Rewriter) joinPays(left, inner, plan logical.Node, equi bool, once []expr.Expr) bool {
	if r.Cost == nil || equi && isTable(inner) {
		return true
	}
	rows, _, ok := r.Cost(left)
	if !ok {
		return true
	}
	found, all, ok := r.Cost(inner)
	if !ok {
		return true
	}
	if !equi {
		all += rows * found * pairCost
	}
	_, one, ok := r.Cost(plan)
	if !ok {
		return true
	}
	each := rows * (one + runCost)
	if all > each || once == nil {
		return all <= each
	}
	runs, ok := r.combinations(left, once)
	return !ok || all <= runs*(one+runCost)*misestimateFactor+rows*keptCost
}

// misestimateFactor allows correlated runs to cost this many times the estimate: a wrong
// number of rows makes a join a little slower, but runs by its factor.
const misestimateFactor = 4

// keptCost is the cost of finding the result of an earlier run, in nanoseconds.
const keptCost = 300

// combinations estimates how many different values list has in the rows of n:
// those that the tables have which it reads, by their own conditions.
func (r *Rewriter) combinations(n logical.Node, list []expr.Expr) (float64, bool) {
	want := map[expr.ColID]bool{}
	for _, e := range list {
		expr.Walk(e, func(x expr.Expr) bool {
			if c, ok := x.(*expr.Col); ok {
				want[c.ID] = true
			}
			return true
		})
	}
	scans, conds := leaves(n, nil, nil)
	product := 1.0
	for _, s := range scans {
		g := &logical.Aggregate{Input: s}
		own := map[expr.ColID]bool{}
		for _, c := range s.Cols {
			if own[c.ID] = true; want[c.ID] {
				g.GroupBy, g.GroupCols = append(g.GroupBy, column(c)), append(g.GroupCols, logical.Column{ID: r.newID(), Name: c.Name, T: c.T, Null: c.Null})
				delete(want, c.ID)
			}
		}
		if len(g.GroupBy) == 0 {
			continue
		}
		if mine := slices.DeleteFunc(slices.Clone(conds), func(e expr.Expr) bool { return readsSubquery(e) || !reads(own, e) }); len(mine) > 0 {
			g.Input = &logical.Filter{Input: s, Conds: mine}
		}
		rows, _, ok := r.Cost(g)
		if !ok {
			return 0, false
		}
		product *= max(rows, 1)
	}
	return product, len(want) == 0
}

// leaves are the base tables whose rows n combines, and conditions that all of
// its rows meet.
func leaves(n logical.Node, scans []*logical.Scan, conds []expr.Expr) ([]*logical.Scan, []expr.Expr) {
	switch x := n.(type) {
	case *logical.Scan:
		return append(scans, x), conds
	case *logical.Filter:
		return leaves(x.Input, scans, append(conds, x.Conds...))
	case *logical.Join:
		if x.Kind == logical.JoinInner {
			conds = append(conds, x.On...)
		}
		scans, conds = leaves(x.Left, scans, conds)
		if x.Kind == logical.JoinInner {
			scans, conds = leaves(x.Right, scans, conds)
		}
		return scans, conds
	}
	return scans, conds
}

// reads reports whether e reads no columns but these.
func reads(cols map[expr.ColID]bool, e expr.Expr) bool {
	only := true
	expr.Walk(e, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Col); ok && !cols[c.ID] {
			only = false
		}
		return only
	})
	return only
}

// anyEqui reports an equality that a join can hash or look up.
func anyEqui(conds []expr.Expr) bool {
	for _, c := range conds {
		if f, ok := c.(*expr.Func); ok && f.Op == expr.OpEQ && len(f.Args) == 2 && Hashable(f) {
			return true
		}
	}
	return false
}

// runCost is what a run of a plan costs in addition to the work of its operators,
// in nanoseconds.
const runCost = 6000

// pairCost is the cost of trying a pair of rows.
const pairCost = cost.NestedPair

func isTable(n logical.Node) bool {
	if f, ok := n.(*logical.Filter); ok {
		n = f.Input
	}
	if p, ok := n.(*logical.Project); ok && onlyChooses(p, true) {
		return isTable(p.Input)
	}
	_, ok := n.(*logical.Scan)
	return ok
}
