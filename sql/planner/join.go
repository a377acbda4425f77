package planner

import (
	"math"
	"math/bits"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/planner/rewrite"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// maxExhaustive is the number of tables up to which all left-deep orders of an
// inner join are compared.
const maxExhaustive = 9

// maxTables is MySQL's limit of tables in a join; sets of them are kept in
// words.
const maxTables = 61

func (p *planner) join(n *logical.Join, req request) (rel, error) {
	if n.Kind == logical.JoinInner {
		return p.innerJoin(n, req)
	}
	if g := p.graphWithSemi(n, req); g != nil {
		return p.joinItems(g, false, req)
	}
	left := req
	left.cols = p.addReads(req.cols, n.On...)
	if n.Kind != logical.JoinLeft {
		left.limit, left.limitExpr = 0, nil
	} // each left row of an outer join gives a row at least
	l, err := p.build(n.Left, left)
	if err != nil {
		return rel{}, err
	}
	items := []*joinItem{{node: n.Left, cols: idSet(l.cols), built: &l}, {node: n.Right, cols: idSet(n.Right.Columns())}}
	g := newGraph(items, n.On, left.cols)
	g.ordered = len(req.order) > 0
	out, _, err := p.joinPair(g, l, 1, 1, n.Kind, g.conds, math.Inf(1))
	if err != nil {
		return rel{}, err
	}
	out.ordered = len(req.order) == 0 || l.ordered && keepsOrder(out.node)
	return out, nil
}

// keepsOrder reports whether a join yields its left rows in their order.
func keepsOrder(n physical.Node) bool {
	switch j := n.(type) {
	case *physical.HashJoin:
		return !j.BuildLeft
	case *physical.LookupJoin, *physical.NestedLoop:
		return true
	}
	return false
}

// joinItem is an input of a flattened inner join.
type joinItem struct {
	node logical.Node
	// kind is how the item is joined to those before it: inner, semi or anti.
	kind  logical.JoinKind
	cols  map[expr.ColID]bool
	built *rel // without any order, on demand
	// paths are the keys by which rows can be looked up, on demand.
	paths  []innerPath
	pathed bool
}

// joinGraph is what is joined, by which conditions. Sets of items are words
// with a bit for each.
type joinGraph struct {
	items []*joinItem
	conds []*joinCond
	// need are the columns that are read above the joins or by conditions.
	need map[expr.ColID]bool
	// ordered: the consumer wants an order, which a merge join would not keep.
	ordered bool
	// after are, by item, those that come before it by hints, or as conditions of a semi
	// join read them; nil for none.
	after []uint64
}

// joinCond is a condition with the items that it reads; of equalities that
// can be hashed also those of each operand.
type joinCond struct {
	e     expr.Expr
	reads uint64
	equi  bool
	args  [2]uint64
	// distinct are about the numbers of values of the operands, on demand.
	distinct [2]float64
}

func newGraph(items []*joinItem, conds []expr.Expr, need map[expr.ColID]bool) *joinGraph {
	g := &joinGraph{items: items, need: need, conds: make([]*joinCond, len(conds))}
	for i, e := range conds {
		c := &joinCond{e: e, reads: g.reads(e)}
		if f, ok := e.(*expr.Func); ok && f.Op == expr.OpEQ && len(f.Args) == 2 && rewrite.Hashable(f) {
			c.equi = true
			c.args = [2]uint64{g.reads(f.Args[0]), g.reads(f.Args[1])}
		}
		g.conds[i] = c
	}
	return g
}

// reads are the items whose columns e reads.
func (g *joinGraph) reads(e expr.Expr) (set uint64) {
	expr.Walk(e, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Col); ok {
			for i, it := range g.items {
				if it.cols[c.ID] {
					set |= 1 << i
				}
			}
		}
		return true
	})
	return set
}

// condsFor are the conditions that can be checked once item joins those in
// have, and could not before. Conditions on the first item alone, or on none,
// are checked with the second one.
func (g *joinGraph) condsFor(have uint64, item int) []*joinCond {
	var out []*joinCond
	one := uint64(1) << item
	first := bits.OnesCount64(have) == 1 && g.items[item].kind == logical.JoinInner
	for _, c := range g.conds {
		if c.reads&^(have|one) == 0 && (c.reads&one != 0 || first) {
			out = append(out, c)
		}
	}
	return out
}

// flatJoin is a tree of joins as a list of items, which are joined in any order.
type flatJoin struct {
	items []*joinItem
	conds []expr.Expr
	// straight: the items are joined in their order, as one STRAIGHT_JOIN requires.
	straight bool
	orders   []*logical.JoinOrder
}

// add adds what x joins: inner joins, and with semi those semi and anti joins of which each
// condition reads what they look for.
func (f *flatJoin) add(x logical.Node, semi bool) {
	j, ok := x.(*logical.Join)
	switch {
	case ok && j.Kind == logical.JoinInner:
		f.straight = f.straight || j.Straight
		for _, o := range j.Orders {
			if !slices.Contains(f.orders, o) {
				f.orders = append(f.orders, o)
			}
		}
		f.conds = splitAll(f.conds, j.On)
		f.add(j.Left, semi)
		f.add(j.Right, semi)
	case ok && semi && isFreeSemi(j):
		f.add(j.Left, semi)
		f.conds = splitAll(f.conds, j.On)
		f.items = append(f.items, &joinItem{node: j.Right, kind: j.Kind, cols: idSet(j.Right.Columns())})
	default:
		f.items = append(f.items, &joinItem{node: x, cols: idSet(x.Columns())})
	}
}

// isFreeSemi reports a semi or anti join all of whose conditions read columns of both sides.
func isFreeSemi(j *logical.Join) bool {
	if j.Kind != logical.JoinSemi && j.Kind != logical.JoinAnti || len(j.On) == 0 || len(j.Orders) > 0 {
		return false
	}
	left, right := idSet(j.Left.Columns()), idSet(j.Right.Columns())
	for _, c := range splitAll(nil, j.On) {
		if !readsAny(c, left) || !readsAny(c, right) {
			return false
		}
	}
	return true
}

// splitAll appends the parts of conditions that are joined by AND.
func splitAll(out, conds []expr.Expr) []expr.Expr {
	for _, c := range conds {
		out = expr.SplitAnd(out, c)
	}
	return out
}

func readsAny(e expr.Expr, cols map[expr.ColID]bool) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Col); ok {
			found = found || cols[c.ID]
		}
		return !found
	})
	return found
}

// graphWithSemi is the graph of inner joins with semi and anti joins above or among them,
// each of which is joined once what its conditions read is there: it may reduce one table
// before the others are joined. It is nil where this does not apply, or where the order of
// joins is given.
func (p *planner) graphWithSemi(n *logical.Join, req request) *joinGraph {
	if p.off("SemiJoinOrder") {
		return nil
	}
	f := &flatJoin{}
	f.add(n, true)
	if len(f.items) > maxExhaustive || f.straight || len(f.orders) > 0 {
		return nil
	}
	var semi uint64
	for i, it := range f.items {
		if it.kind != logical.JoinInner {
			semi |= 1 << i
		}
	}
	if inner := len(f.items) - bits.OnesCount64(semi); semi == 0 || inner < 2 {
		return nil
	}
	g := newGraph(f.items, f.conds, nil)
	g.after = make([]uint64, len(g.items))
	for _, c := range g.conds {
		of := c.reads & semi
		if bits.OnesCount64(of) > 1 || of == 0 && bits.OnesCount64(c.reads) < 2 {
			return nil // it could be checked with an item that it is no condition of
		}
		if of != 0 {
			g.after[bits.TrailingZeros64(of)] |= c.reads &^ of
		}
	}
	g.need = p.addReads(req.cols, f.conds...)
	return g
}

// innerJoin flattens nested inner joins and orders them by cost.
func (p *planner) innerJoin(n *logical.Join, req request) (rel, error) {
	if g := p.graphWithSemi(n, req); g != nil {
		return p.joinItems(g, false, req)
	}
	f := &flatJoin{}
	f.add(n, false)
	if len(f.items) > maxTables {
		return rel{}, sqlerr.TooManyTables(maxTables)
	}
	g := newGraph(f.items, f.conds, p.addReads(req.cols, f.conds...))
	if !f.straight {
		g.order(f.orders)
	}
	return p.joinItems(g, f.straight, req)
}

// joinItems joins all items in the order of the least cost, or straight in their own.
func (p *planner) joinItems(g *joinGraph, straight bool, req request) (best rel, err error) {
	if straight || len(g.items) > maxExhaustive {
		best, err = p.greedyJoin(g, straight)
	} else {
		best, err = p.exhaustiveJoin(g)
	}
	if err != nil {
		return rel{}, err
	}
	best.ordered = len(req.order) == 0
	if straight {
		return best, nil
	}
	if ordered, ok, err := p.orderedJoin(g, req, best); err != nil || ok {
		return ordered, err
	}
	return best, nil
}

// orderedJoin tries, for a consumer that stops after some rows, the joins that
// start with a table that gives its first rows at once (in the wanted order,
// if there is one) and keep that order; ok when one is cheaper than best with
// a sort.
func (p *planner) orderedJoin(g *joinGraph, req request, best rel) (out rel, ok bool, err error) {
	if req.limit == 0 || len(g.items) > maxExhaustive {
		return rel{}, false, nil
	}
	least := best.cost
	if len(req.order) > 0 {
		least += sortCost(best.rows, req.limit)
	}
	for i, it := range g.items {
		if len(req.order) > 0 && !it.cols[req.order[0].id] || !g.mayFollow(0, i) {
			continue
		}
		// The scan must not stop at the limit: not each of its rows is joined.
		first, err := p.build(it.node, request{cols: g.need, order: req.order, limit: req.limit})
		if err != nil {
			return rel{}, false, err
		}
		if !first.ordered {
			continue
		}
		first.rows = math.Max(first.rows, req.limit)
		cur, complete, err := p.extend(g, first, i)
		if err != nil {
			return rel{}, false, err
		}
		if !complete {
			continue
		}
		// More first rows are read when the joins leave few.
		if cur.cost *= math.Max(1, req.limit/math.Max(cur.rows, 0.1)); cur.cost < least {
			out, ok, least = cur, true, cur.cost
			out.ordered = true
		}
	}
	return out, ok, nil
}

// extend joins the other items to first in the cheapest order that keeps
// first's.
func (p *planner) extend(g *joinGraph, first rel, at int) (rel, bool, error) {
	cur, used := first, uint64(1)<<at
	for len(g.items) > bits.OnesCount64(used) {
		next, ok, err := p.cheapestNext(g, cur, used)
		if err != nil || !ok || !keepsOrder(next.rel.node) {
			return rel{}, false, err
		}
		cur, used = next.rel, used|1<<next.item
	}
	return cur, true, nil
}

func (p *planner) item(it *joinItem, need map[expr.ColID]bool) (rel, error) {
	if it.built == nil {
		r, err := p.build(it.node, request{cols: need})
		if err != nil {
			return rel{}, err
		}
		it.built = &r
	}
	return *it.built, nil
}

// exhaustiveJoin finds the cheapest left-deep order by dynamic programming
// over sets of tables. Cross products are considered only for sets that no
// condition connects.
func (p *planner) exhaustiveJoin(g *joinGraph) (rel, error) {
	n := len(g.items)
	best := make([]rel, 1<<n)
	for i, it := range g.items {
		r, err := p.item(it, g.need)
		if err != nil {
			return rel{}, err
		}
		if g.mayFollow(0, i) {
			best[1<<i] = r
		}
	}
	for set := uint64(1); set < 1<<n; set++ {
		if best[set].node == nil {
			continue
		}
		connected := false
		for pass := 0; pass < 2 && !connected; pass++ {
			for i := range g.items {
				if set&(1<<i) != 0 || !g.mayFollow(set, i) {
					continue
				}
				on := g.condsFor(set, i)
				if pass == 0 && len(on) == 0 {
					continue
				}
				connected = connected || len(on) > 0
				bound := math.Inf(1)
				if old := &best[set|1<<i]; old.node != nil {
					bound = old.cost
				}
				r, ok, err := p.joinPair(g, best[set], set, i, g.items[i].kind, on, bound)
				if err != nil {
					return rel{}, err
				}
				if ok {
					best[set|1<<i] = r
				}
			}
		}
	}
	return best[1<<n-1], nil
}

// greedyJoin starts with the smallest table (or the first, for straight joins)
// and adds the cheapest next one.
func (p *planner) greedyJoin(g *joinGraph, straight bool) (rel, error) {
	start := -1
	var cur rel
	for i, it := range g.items {
		r, err := p.item(it, g.need)
		if err != nil {
			return rel{}, err
		}
		if g.mayFollow(0, i) && (start < 0 || !straight && r.rows < cur.rows) {
			cur, start = r, i
		}
	}
	used := uint64(1) << start
	for bits.OnesCount64(used) < len(g.items) {
		if straight {
			i := bits.TrailingZeros64(^used)
			r, _, err := p.joinPair(g, cur, used, i, logical.JoinInner, g.condsFor(used, i), math.Inf(1))
			if err != nil {
				return rel{}, err
			}
			cur, used = r, used|1<<i
			continue
		}
		next, _, err := p.cheapestNext(g, cur, used)
		if err != nil {
			return rel{}, err
		}
		cur, used = next.rel, used|1<<next.item
	}
	return cur, nil
}

type nextJoin struct {
	rel  rel
	item int
}

// cheapestNext joins the item that is cheapest to join with cur, one that a
// condition connects if there is any.
func (p *planner) cheapestNext(g *joinGraph, cur rel, used uint64) (nextJoin, bool, error) {
	var best nextJoin
	found, bestConnected := false, false
	for i := range g.items {
		if used&(1<<i) != 0 || !g.mayFollow(used, i) {
			continue
		}
		on := g.condsFor(used, i)
		if bestConnected && len(on) == 0 {
			continue
		}
		bound := math.Inf(1)
		if found && bestConnected == (len(on) > 0) {
			bound = best.rel.cost
		}
		r, ok, err := p.joinPair(g, cur, used, i, g.items[i].kind, on, bound)
		if err != nil {
			return best, false, err
		}
		if ok {
			best, found, bestConnected = nextJoin{r, i}, true, len(on) > 0
		}
	}
	return best, found, nil
}
