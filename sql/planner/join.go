package planner

import (
	"math"
	"math/bits"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/access"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
)

// maxExhaustive is the number of tables up to which all left-deep orders of an
// inner join are compared.
const maxExhaustive = 9

func (p *planner) join(n *logical.Join, req request) (rel, error) {
	if n.Kind == logical.JoinInner {
		return p.innerJoin(n, req)
	}
	left := req
	left.cols = addReads(req.cols, n.On...)
	left.limit, left.limitExpr = 0, nil
	l, err := p.build(n.Left, left)
	if err != nil {
		return rel{}, err
	}
	item := joinItem{node: n.Right}
	out, err := p.joinPair(l, &item, n.Kind, n.On, addReads(req.cols, n.On...))
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
	node  logical.Node
	cols  map[expr.ColID]bool
	built *rel // without any order, on demand
}

// innerJoin flattens nested inner joins and orders them by cost.
func (p *planner) innerJoin(n *logical.Join, req request) (rel, error) {
	var items []*joinItem
	var conds []expr.Expr
	straight := false
	var flatten func(x logical.Node)
	flatten = func(x logical.Node) {
		if j, ok := x.(*logical.Join); ok && j.Kind == logical.JoinInner {
			straight = straight || j.Straight
			for _, c := range j.On {
				conds = expr.SplitAnd(conds, c)
			}
			flatten(j.Left)
			flatten(j.Right)
			return
		}
		items = append(items, &joinItem{node: x, cols: idSet(x.Columns())})
	}
	flatten(n)
	need := addReads(req.cols, conds...)
	var best rel
	var err error
	if straight || len(items) > maxExhaustive {
		best, err = p.greedyJoin(items, conds, need, straight)
	} else {
		best, err = p.exhaustiveJoin(items, conds, need)
	}
	if err != nil {
		return rel{}, err
	}
	best.ordered = len(req.order) == 0
	if ordered, ok, err := p.orderedJoin(n, items, conds, need, req, best); err != nil || ok {
		return ordered, err
	}
	return best, nil
}

// orderedJoin tries the join that starts with the table whose index delivers
// the wanted order and keeps it; ok when that is cheaper than best with a sort.
func (p *planner) orderedJoin(_ *logical.Join, items []*joinItem, conds []expr.Expr, need map[expr.ColID]bool, req request, best rel) (rel, bool, error) {
	if len(req.order) == 0 || req.limit == 0 {
		return rel{}, false, nil
	}
	for i, it := range items {
		if !it.cols[req.order[0].id] {
			continue
		}
		first, err := p.build(it.node, request{cols: need, order: req.order, limit: req.limit})
		if err != nil || !first.ordered || len(items) > maxExhaustive {
			return rel{}, false, err
		}
		first.rows = math.Max(first.rows, req.limit)
		// A scan that a join drives must not stop at the limit.
		if s, isScan := first.node.(*physical.Scan); isScan {
			c := *s
			c.Limit = nil
			first.node = &c
		}
		cur, used := first, uint64(1)<<i
		for len(items) > bits.OnesCount64(used) {
			next, ok, err := p.cheapestNext(cur, items, used, conds, need)
			if err != nil || !ok {
				return rel{}, false, err
			}
			if !keepsOrder(next.rel.node) {
				return rel{}, false, nil
			}
			cur, used = next.rel, used|1<<next.item
		}
		if cur.cost < best.cost+sortCost(best.rows, req.limit) {
			cur.ordered = true
			return cur, true, nil
		}
	}
	return rel{}, false, nil
}

type nextJoin struct {
	rel  rel
	item int
}

// condsFor are the conditions that can be checked once item joins the tables
// in have, and could not before.
func condsFor(conds []expr.Expr, items []*joinItem, have uint64, item int) []expr.Expr {
	before := map[expr.ColID]bool{}
	for i, it := range items {
		if have&(1<<i) != 0 {
			for id := range it.cols {
				before[id] = true
			}
		}
	}
	after := map[expr.ColID]bool{}
	for id := range before {
		after[id] = true
	}
	for id := range items[item].cols {
		after[id] = true
	}
	var out []expr.Expr
	for _, c := range conds {
		if readsWithin(c, after) && (!readsWithin(c, before) || bits.OnesCount64(have) == 1 && !readsAny(c, items[item].cols)) {
			out = append(out, c)
		}
	}
	return out
}

func readsWithin(e expr.Expr, set map[expr.ColID]bool) bool {
	ok := true
	expr.Walk(e, func(x expr.Expr) bool {
		if c, isCol := x.(*expr.Col); isCol && !set[c.ID] {
			ok = false
		}
		return ok
	})
	return ok
}

func readsAny(e expr.Expr, set map[expr.ColID]bool) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if c, isCol := x.(*expr.Col); isCol && set[c.ID] {
			found = true
		}
		return !found
	})
	return found
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
func (p *planner) exhaustiveJoin(items []*joinItem, conds []expr.Expr, need map[expr.ColID]bool) (rel, error) {
	n := len(items)
	best := make(map[uint64]rel, 1<<n)
	for i, it := range items {
		r, err := p.item(it, need)
		if err != nil {
			return rel{}, err
		}
		best[1<<i] = r
	}
	for set := uint64(1); set < 1<<n; set++ {
		cur, ok := best[set]
		if !ok {
			continue
		}
		connected := false
		for pass := 0; pass < 2 && !connected; pass++ {
			for i := range items {
				if set&(1<<i) != 0 {
					continue
				}
				on := condsFor(conds, items, set, i)
				if pass == 0 && len(on) == 0 {
					continue
				}
				connected = connected || len(on) > 0
				r, err := p.joinPair(cur, items[i], logical.JoinInner, on, need)
				if err != nil {
					return rel{}, err
				}
				if old, ok := best[set|1<<i]; !ok || r.cost < old.cost {
					best[set|1<<i] = r
				}
			}
		}
	}
	return best[1<<n-1], nil
}

// greedyJoin starts with the smallest table (or the first, for straight joins)
// and adds the cheapest next one.
func (p *planner) greedyJoin(items []*joinItem, conds []expr.Expr, need map[expr.ColID]bool, straight bool) (rel, error) {
	start := 0
	var cur rel
	for i, it := range items {
		r, err := p.item(it, need)
		if err != nil {
			return rel{}, err
		}
		if i == 0 || !straight && r.rows < cur.rows {
			cur, start = r, i
		}
	}
	used := uint64(1) << start
	for bits.OnesCount64(used) < len(items) {
		if straight {
			i := bits.TrailingZeros64(^used)
			r, err := p.joinPair(cur, items[i], logical.JoinInner, condsFor(conds, items, used, i), need)
			if err != nil {
				return rel{}, err
			}
			cur, used = r, used|1<<i
			continue
		}
		next, _, err := p.cheapestNext(cur, items, used, conds, need)
		if err != nil {
			return rel{}, err
		}
		cur, used = next.rel, used|1<<next.item
	}
	return cur, nil
}

func (p *planner) cheapestNext(cur rel, items []*joinItem, used uint64, conds []expr.Expr, need map[expr.ColID]bool) (nextJoin, bool, error) {
	var best nextJoin
	found, bestConnected := false, false
	for i := range items {
		if used&(1<<i) != 0 {
			continue
		}
		on := condsFor(conds, items, used, i)
		if bestConnected && len(on) == 0 {
			continue
		}
		r, err := p.joinPair(cur, items[i], logical.JoinInner, on, need)
		if err != nil {
			return best, false, err
		}
		if !found || r.cost < best.rel.cost || len(on) > 0 && !bestConnected {
			best, found, bestConnected = nextJoin{r, i}, true, len(on) > 0
		}
	}
	return best, found, nil
}

// equiPair is a condition left = right of a join.
type equiPair struct {
	left, right expr.Expr
	cond        expr.Expr
}

// splitEqui separates equalities between the sides from other conditions.
func splitEqui(on []expr.Expr, left, right map[expr.ColID]bool) (pairs []equiPair, rest []expr.Expr) {
	for _, c := range on {
		f, ok := c.(*expr.Func)
		if ok && f.Name == "=" && len(f.Args) == 2 && isHashable(f.Args[0], f.Args[1]) {
			a, b := f.Args[0], f.Args[1]
			switch {
			case readsWithin(a, left) && readsWithin(b, right) && readsAny(a, left) && readsAny(b, right):
				pairs = append(pairs, equiPair{a, b, c})
				continue
			case readsWithin(b, left) && readsWithin(a, right) && readsAny(a, right) && readsAny(b, left):
				pairs = append(pairs, equiPair{b, a, c})
				continue
			}
		}
		rest = append(rest, c)
	}
	return pairs, rest
}

// isHashable reports whether equality of the operands is equality of their
// hash keys: same kind, same collation.
func isHashable(a, b expr.Expr) bool {
	x, y := a.Type(), b.Type()
	if types.KindOf(x) != types.KindOf(y) {
		return false
	}
	if x.IsString() || y.IsString() {
		return x.Collation == y.Collation
	}
	if x.ID == schema.TypeEnum || x.ID == schema.TypeSet || y.ID == schema.TypeEnum || y.ID == schema.TypeSet {
		return false
	}
	if (x.ID == schema.TypeFloat) != (y.ID == schema.TypeFloat) {
		return false
	}
	return true
}

// joinPair joins left with an item in the cheapest way.
func (p *planner) joinPair(left rel, it *joinItem, kind logical.JoinKind, on []expr.Expr, need map[expr.ColID]bool) (rel, error) {
	right, err := p.item(it, need)
	if err != nil {
		return rel{}, err
	}
	pairs, rest := splitEqui(on, idSet(left.cols), idSet(right.cols))
	rows := p.joinRows(left, right, pairs, rest, kind, it.node)
	var best rel
	found := false
	consider := func(r rel, err error) error {
		if err == nil && (!found || r.cost < best.cost) {
			best, found = r, true
		}
		return err
	}
	if len(pairs) > 0 && !p.off("HashJoin") {
		if err := consider(p.hashJoin(left, right, kind, pairs, rest, rows)); err != nil {
			return rel{}, err
		}
	}
	if len(pairs) > 0 && !p.off("LookupJoin") {
		r, ok, err := p.lookupJoin(left, it, kind, pairs, rest, rows, need)
		if err != nil {
			return rel{}, err
		}
		if ok {
			_ = consider(r, nil)
		}
	}
	if !found {
		if err := consider(p.nestedLoop(left, right, kind, on, rows)); err != nil {
			return rel{}, err
		}
	}
	return best, nil
}

func joinColumns(left, right []logical.Column, kind logical.JoinKind) []logical.Column {
	out := append([]logical.Column(nil), left...)
	if kind == logical.JoinSemi || kind == logical.JoinAnti {
		return out
	}
	for _, c := range right {
		c.Null = c.Null || kind == logical.JoinLeft
		out = append(out, c)
	}
	return out
}

// joinRows estimates the rows of a join.
func (p *planner) joinRows(left, right rel, pairs []equiPair, rest []expr.Expr, kind logical.JoinKind, inner logical.Node) float64 {
	rows := left.rows * right.rows
	for _, e := range pairs {
		rows /= math.Max(p.distinctValues(e.left, left), p.distinctValues(e.right, right))
	}
	for range rest {
		rows *= 0.4
	}
	switch kind {
	case logical.JoinLeft:
		return math.Max(rows, left.rows)
	case logical.JoinSemi:
		return math.Max(math.Min(rows, left.rows)*0.8, 1)
	case logical.JoinAnti:
		return math.Max(left.rows*0.3, 1)
	}
	return math.Max(rows, 0.1)
}

// distinctValues is about the number of values of e among the rows of r.
func (p *planner) distinctValues(e expr.Expr, r rel) float64 {
	for {
		f, ok := e.(*expr.Func)
		if !ok || f.Name != "cast" {
			break
		}
		e = f.Args[0]
	}
	c, ok := e.(*expr.Col)
	if !ok {
		return math.Max(r.rows/10, 1)
	}
	if s := findScan(r.node, c.ID, r.cols); s != nil {
		if pos := s.Table.ColumnByName(c.Name); pos >= 0 {
			total := math.Max(p.opts.Est.TableRows(s.Table), 1)
			d := access.DistinctValues(s.Table, pos, p.opts.Est, total)
			return math.Max(math.Min(d, r.rows), 1)
		}
	}
	return math.Max(r.rows/10, 1)
}

// findScan is the scan that yields a column, as far as it is easily seen.
func findScan(n physical.Node, id expr.ColID, cols []logical.Column) *physical.Scan {
	var column *logical.Column
	for i := range cols {
		if cols[i].ID == id {
			column = &cols[i]
		}
	}
	if column == nil {
		return nil
	}
	var found *physical.Scan
	var walk func(n physical.Node)
	walk = func(n physical.Node) {
		if s, ok := n.(*physical.Scan); ok && s.Alias == column.Table {
			found = s
		}
		if j, ok := n.(*physical.LookupJoin); ok && j.Inner.Alias == column.Table {
			found = j.Inner
		}
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	walk(n)
	return found
}

func (p *planner) hashJoin(left, right rel, kind logical.JoinKind, pairs []equiPair, rest []expr.Expr, rows float64) (rel, error) {
	cols := joinColumns(left.cols, right.cols, kind)
	all := append(left.ids(), right.ids()...)
	j := &physical.HashJoin{Kind: physical.JoinKind(kind), Left: left.node, Right: right.node}
	for _, e := range pairs {
		l, err := place(e.left, left.ids())
		if err != nil {
			return rel{}, err
		}
		r, err := place(e.right, right.ids())
		if err != nil {
			return rel{}, err
		}
		j.LeftKeys, j.RightKeys = append(j.LeftKeys, l), append(j.RightKeys, r)
	}
	filter, err := placeAll(rest, all)
	if err != nil {
		return rel{}, err
	}
	j.Filter = filter
	build, probe := right.rows, left.rows
	if kind == logical.JoinInner && left.rows < right.rows {
		j.BuildLeft = true
		build, probe = probe, build
	}
	c := left.cost + right.cost + build*cost.BuildRow + probe*cost.ProbeRow + rows*cost.ProjectRow
	j.Base = base(cols, rows, c)
	return rel{node: j, cols: cols, rows: rows, cost: c}, nil
}

func (p *planner) nestedLoop(left, right rel, kind logical.JoinKind, on []expr.Expr, rows float64) (rel, error) {
	cols := joinColumns(left.cols, right.cols, kind)
	filter, err := placeAll(on, append(left.ids(), right.ids()...))
	if err != nil {
		return rel{}, err
	}
	c := left.cost + right.cost + left.rows*math.Max(right.rows, 1)*cost.NestedPair
	j := &physical.NestedLoop{Base: base(cols, rows, c), Kind: physical.JoinKind(kind), Left: left.node, Right: right.node, Filter: filter}
	return rel{node: j, cols: cols, rows: rows, cost: c}, nil
}

// lookupJoin finds the rows of a base table by a prefix of one of its keys.
func (p *planner) lookupJoin(left rel, it *joinItem, kind logical.JoinKind, pairs []equiPair, rest []expr.Expr, rows float64, need map[expr.ColID]bool) (rel, bool, error) {
	scan, conds := baseTable(it.node)
	if scan == nil || scan.Lock.Strength != logical.LockNone || p.change == scan || p.off("IndexAccess") {
		return rel{}, false, nil
	}
	if isNever(conds) {
		return rel{}, false, nil
	}
	var best rel
	found := false
	indexes := []*schema.Index{nil}
	for i := range scan.Table.Indexes {
		x := &scan.Table.Indexes[i]
		if x.State == schema.IndexPublic && !x.Invisible && !x.Sparse {
			indexes = append(indexes, x)
		}
	}
	for _, x := range indexes {
		if !hintAllows(&scan.Hint, x) {
			continue
		}
		r, ok, err := p.lookupBy(left, scan, conds, x, kind, pairs, rest, rows, need)
		if err != nil {
			return rel{}, false, err
		}
		if ok && (!found || r.cost < best.cost) {
			best, found = r, true
		}
	}
	return best, found, nil
}

func hintAllows(h *logical.IndexHint, x *schema.Index) bool {
	name := "PRIMARY"
	if x != nil {
		name = x.Name
	}
	return access.HintAllows(h, name)
}

// baseTable is the scan under n with its conditions, nil if n is something
// else.
func baseTable(n logical.Node) (*logical.Scan, []expr.Expr) {
	switch x := n.(type) {
	case *logical.Scan:
		return x, nil
	case *logical.Filter:
		if s, ok := x.Input.(*logical.Scan); ok {
			return s, x.Conds
		}
	}
	return nil, nil
}

func (p *planner) lookupBy(left rel, s *logical.Scan, conds []expr.Expr, x *schema.Index, kind logical.JoinKind, pairs []equiPair, rest []expr.Expr, rows float64, need map[expr.ColID]bool) (rel, bool, error) {
	t := s.Table
	keyCols := access.KeyColumns(t, x)
	var keys []expr.Expr
	used := map[int]bool{}
	for _, kc := range keyCols {
		if kc.Prefix > 0 {
			break
		}
		i := pairFor(pairs, s.Cols[kc.Table].ID, kc.Type)
		if i < 0 {
			break
		}
		used[i] = true
		keys = append(keys, pairs[i].left)
	}
	if len(keys) == 0 {
		return rel{}, false, nil
	}
	unique := x == nil && len(keys) == len(keyCols) || x != nil && x.Unique && len(keys) >= len(x.Parts)
	if x != nil && x.Unique && len(keys) > len(x.Parts) {
		keys = keys[:len(x.Parts)]
		used = map[int]bool{}
		for _, kc := range keyCols[:len(x.Parts)] {
			used[pairFor(pairs, s.Cols[kc.Table].ID, kc.Type)] = true
		}
	}
	// What the keys do not cover is checked on the joined rows.
	filter := append([]expr.Expr(nil), rest...)
	for i, e := range pairs {
		if !used[i] {
			filter = append(filter, e.cond)
		}
	}
	// Plan the inner side as a scan of the index without ranges.
	innerNeed := addReads(need, filter...)
	ar := p.accessRequest(s, conds, request{cols: innerNeed})
	inner := &access.Path{Kind: physical.AccessRange, Index: x, Residual: ar.Conds}
	total := math.Max(p.opts.Est.TableRows(t), 1)
	if x != nil {
		inner.Lookup, inner.EntryFilter, inner.Residual = access.Coverage(ar, x)
	}
	innerRel, err := p.scanBy(s, inner, nil, request{cols: innerNeed}, false, false)
	if err != nil {
		return rel{}, false, err
	}
	perKey := 1.0
	if !unique {
		distinct := 1.0
		for _, kc := range keyCols[:len(keys)] {
			distinct *= access.DistinctValues(t, kc.Table, p.opts.Est, total)
		}
		perKey = math.Max(total/math.Min(distinct, total), 1)
	}
	cols := joinColumns(left.cols, innerRel.cols, kind)
	placedKeys, err := placeAll(keys, left.ids())
	if err != nil {
		return rel{}, false, err
	}
	placedFilter, err := placeAll(filter, append(left.ids(), innerRel.ids()...))
	if err != nil {
		return rel{}, false, err
	}
	matched := left.rows * perKey
	c := left.cost + rows*cost.ProjectRow
	switch {
	case x == nil && unique:
		c += cost.Lookup(left.rows, total)
	case unique:
		c += left.rows * cost.Get
	default:
		c += left.rows*cost.Seek + matched*cost.EntryRow
	}
	if inner.Lookup {
		c += cost.Lookup(matched, total)
	}
	j := &physical.LookupJoin{Base: base(cols, rows, c), Kind: physical.JoinKind(kind), Left: left.node,
		Inner: innerRel.node.(*physical.Scan), Keys: placedKeys, Unique: unique, Filter: placedFilter}
	j.Inner.Estimate = physical.Estimate{Rows: perKey, Cost: 0}
	p.addTable(t)
	return rel{node: j, cols: cols, rows: rows, cost: c}, true, nil
}

// pairFor is the equality whose right side is the column itself, compared in
// the column's own values; -1 if there is none.
func pairFor(pairs []equiPair, id expr.ColID, t schema.Type) int {
	for i, e := range pairs {
		c, ok := e.right.(*expr.Col)
		if ok && c.ID == id && types.KindOf(e.left.Type()) == types.KindOf(t) && t.ID != schema.TypeEnum && t.ID != schema.TypeSet {
			return i
		}
	}
	return -1
}
