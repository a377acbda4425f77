package planner

import (
	"math"
	"slices"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/access"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/planner/rewrite"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// pair is a join of a built left side with an item.
type pair struct {
	kind        logical.JoinKind
	left, right rel
	item        *joinItem
	equi        []equiPair
	// rest are the other conditions, all all of them.
	rest, all []expr.Expr
	// elements: a condition of rest requires an element of an array that the item
	// has an index of.
	elements bool
	// keys are about the different values of the equalities together, were they independent.
	keys float64
	rows float64
	need map[expr.ColID]bool
	// ordered: the consumer wants an order.
	ordered bool
}

// equiPair is a condition left = right of a join.
type equiPair struct {
	left, right expr.Expr
	cond        expr.Expr
}

// joinPair joins left, made of the items in have, with item i in the cheapest
// way; ok is false when that is not below bound.
func (p *planner) joinPair(g *joinGraph, left rel, have uint64, i int, kind logical.JoinKind, on []*joinCond, bound float64) (out rel, ok bool, err error) {
	right, err := p.item(g.items[i], g.need)
	if err != nil {
		return rel{}, false, err
	}
	j := pair{kind: kind, left: left, right: right, item: g.items[i], need: g.need, keys: 1, rows: left.rows * right.rows, ordered: g.ordered}
	for _, c := range on {
		j.all = append(j.all, c.e)
		if !j.addEqui(p, g, c, have, i) {
			j.rest = append(j.rest, c.e)
			if share := p.elementSelectivity(&j, c.e); share > 0 {
				j.rows *= share
				j.elements = true
			} else {
				j.rows *= 0.4
			}
		}
	}
	j.rows /= p.differentKeys(&j)
	j.rows = j.kindRows()
	// The least of the ways is built only when it is wanted.
	var build func() (rel, error)
	if len(j.equi) > 0 && !p.off("HashJoin") {
		if c := p.hashCost(&j); c < bound {
			bound, build = c, func() (rel, error) { return p.hashJoin(&j, c) }
		}
	}
	looked := false
	if (len(j.equi) > 0 || j.elements) && !p.off("LookupJoin") {
		for x := range p.innerPaths(j.item, g.need) {
			l, usable := p.lookup(&j, &j.item.paths[x])
			looked = looked || usable && (len(j.equi) > 0 || forcesIndex(j.item.node))
			if usable && l.cost < bound {
				bound, build = l.cost, func() (rel, error) { return p.lookupJoin(&j, l) }
			}
		}
	}
	if m, ok, err := p.merge(g, &j, have); err != nil {
		return rel{}, false, err
	} else if ok && m.cost < bound {
		looked = true
		bound, build = m.cost, func() (rel, error) { return p.mergeJoin(&j, m) }
	}
	if hashed := len(j.equi) > 0 && !p.off("HashJoin"); !hashed && !looked {
		if c := j.nestedCost(); c < bound {
			build = func() (rel, error) { return p.nestedLoop(&j, c) }
		}
	}
	if build == nil {
		if math.IsInf(bound, 1) {
			return rel{}, false, sqlerr.Internal("no way to join %s", physical.Title(right.node))
		}
		return rel{}, false, nil
	}
	out, err = build()
	return out, err == nil, err
}

// addEqui takes c as an equality between the sides; false when it is none.
func (j *pair) addEqui(p *planner, g *joinGraph, c *joinCond, have uint64, i int) bool {
	if !c.equi {
		return false
	}
	one := uint64(1) << i
	isLeft := func(set uint64) bool { return set != 0 && set&^have == 0 }
	args := c.e.(*expr.Func).Args
	l, r := 0, 1
	switch {
	case isLeft(c.args[0]) && c.args[1] == one:
	case isLeft(c.args[1]) && c.args[0] == one:
		l, r = 1, 0
	default:
		return false
	}
	j.equi = append(j.equi, equiPair{args[l], args[r], c.e})
	values := math.Max(math.Min(p.distinctOf(g, c, l), j.left.rows), math.Min(p.distinctOf(g, c, r), j.right.rows))
	j.keys *= math.Max(values, 1)
	return true
}

// differentKeys is about the number of different keys that the equalities compare: where
// they are those of a unique key of several columns, as many as its table has rows, and else
// as many as columns that are independent have together.
func (p *planner) differentKeys(j *pair) float64 {
	keys := j.keys
	if len(j.equi) > 1 {
		keys = math.Min(keys, p.rowsOfKey(j.right, j.equi, func(e equiPair) expr.Expr { return e.right }))
		keys = math.Min(keys, p.rowsOfKey(j.left, j.equi, func(e equiPair) expr.Expr { return e.left }))
	}
	return math.Max(keys, 1)
}

// rowsOfKey are the rows of the table of in of which the operands are a unique key;
// infinite without such a table.
func (p *planner) rowsOfKey(in rel, equi []equiPair, operand func(equiPair) expr.Expr) float64 {
	var read *physical.TableRead
	var columns []int
	for _, e := range equi {
		c, ok := operand(e).(*expr.Col)
		if !ok {
			return math.Inf(1)
		}
		s := findScan(in.node, c.ID, in.cols)
		if s == nil || read != nil && read != s {
			return math.Inf(1)
		}
		read, columns = s, append(columns, s.Table.ColumnByName(c.Name))
	}
	slices.Sort(columns)
	for _, key := range uniqueKeys(read.Table) {
		if slices.Equal(slices.Sorted(slices.Values(key)), columns) {
			return p.opts.Est.TableRows(p.ctx, read.Table)
		}
	}
	return math.Inf(1)
}

// distinctOf is about the number of values of an operand in its own item.
func (p *planner) distinctOf(g *joinGraph, c *joinCond, arg int) float64 {
	if d := c.distinct[arg]; d > 0 {
		return d
	}
	d := math.Inf(1)
	for i, it := range g.items {
		if c.args[arg] == 1<<i && it.built != nil {
			d = p.distinctValues(c.e.(*expr.Func).Args[arg], *it.built)
		}
	}
	c.distinct[arg] = math.Max(d, 1)
	return c.distinct[arg]
}

// kindRows estimates the rows of the join from those of an inner one.
func (j *pair) kindRows() float64 {
	switch j.kind {
	case logical.JoinLeft:
		return math.Max(j.rows, j.left.rows)
	case logical.JoinSemi:
		return math.Max(math.Min(j.rows, j.left.rows)*0.8, 1)
	case logical.JoinAnti: // partners of all rows are not those of each
		return math.Max(j.left.rows-0.7*math.Min(j.rows, j.left.rows), 1)
	}
	return math.Max(j.rows, 0.1)
}

// hashKeys are the operands of an equality as keys of one type.
func (p *planner) hashKeys(e equiPair) (left, right expr.Expr, err error) {
	if !rewrite.MixedSign(e.left.Type(), e.right.Type()) {
		return e.left, e.right, nil
	}
	t := types.DecimalOf(20, 0)
	if left, err = expr.NewCast(p.opts.Bind, e.left, t, false); err != nil {
		return nil, nil, err
	}
	right, err = expr.NewCast(p.opts.Bind, e.right, t, false)
	return left, right, err
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

// distinctValues is about the number of different values of e among the rows
// of r.
func (p *planner) distinctValues(e expr.Expr, r rel) float64 {
	for {
		f, ok := e.(*expr.Func)
		if !ok || f.Op != expr.OpCast {
			break
		}
		e = f.Args[0]
	}
	c, ok := e.(*expr.Col)
	if !ok {
		return p.distinctResults(e, r)
	}
	if s := findScan(r.node, c.ID, r.cols); s != nil {
		if pos := s.Table.ColumnByName(c.Name); pos >= 0 {
			total := math.Max(p.opts.Est.TableRows(p.ctx, s.Table), 1)
			d := access.DistinctValues(p.ctx, s.Table, pos, p.opts.Est, total)
			return math.Max(math.Min(d, r.rows), 1)
		}
	}
	return math.Max(r.rows/10, 1)
}

// results bounds the different results of functions of any argument.
var results = map[string]float64{"hour": 24, "minute": 60, "second": 60, "month": 12, "quarter": 4, "dayofmonth": 31, "day": 31, "dayofweek": 7,
	"weekday": 7, "dayofyear": 366, "week": 54, "weekofyear": 53, "dayname": 7, "monthname": 12, "is_null": 2, "not": 2, "sign": 3}

// distinctResults estimates the number of different results of an expression: no more
// than its columns have values together.
func (p *planner) distinctResults(e expr.Expr, r rel) float64 {
	most := math.Max(r.rows/10, 1)
	if f, ok := e.(*expr.Func); ok {
		if n, bounded := results[f.Name]; bounded {
			most = math.Min(most, n)
		}
		if f.Op.IsComparison() {
			most = math.Min(most, 2)
		}
		if k, ok := modulus(f); ok {
			switch k.D.Kind() {
			case value.KindInt:
				most = math.Min(most, math.Max(math.Abs(float64(k.D.Int())), 1))
			case value.KindUint:
				most = math.Min(most, math.Max(float64(k.D.Uint()), 1))
			}
		}
	}
	return math.Max(math.Min(most, p.distinctColumns(e, r)), 1)
}

// modulus is the constant by which % divides.
func modulus(f *expr.Func) (*expr.Const, bool) {
	if f.Op != expr.OpMod {
		return nil, false
	}
	k, ok := f.Args[1].(*expr.Const)
	return k, ok
}

// distinctColumns is the product of the numbers of different values of the columns of
// an expression, at most r's rows.
func (p *planner) distinctColumns(e expr.Expr, r rel) float64 {
	n := 1.0
	var seen []expr.ColID
	expr.Walk(e, func(x expr.Expr) bool {
		switch x := x.(type) {
		case *expr.Col:
			if !slices.Contains(seen, x.ID) {
				seen = append(seen, x.ID)
				n *= p.distinctValues(x, r)
			}
		case *expr.Subquery:
			n = math.Inf(1)
		}
		return true
	})
	return math.Min(n, math.Max(r.rows, 1))
}

// findScan is the scan that yields a column, if it is found easily.
func findScan(n physical.Node, id expr.ColID, cols []logical.Column) *physical.TableRead {
	var column *logical.Column
	for i := range cols {
		if cols[i].ID == id {
			column = &cols[i]
		}
	}
	if column == nil {
		return nil
	}
	var found *physical.TableRead
	var walk func(n physical.Node)
	walk = func(n physical.Node) {
		if j, ok := n.(*physical.LookupJoin); ok {
			walk(j.Inner)
		}
		if s, ok := n.(physical.TableNode); ok && s.Reads().Alias == column.Table {
			found = s.Reads()
		}
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	walk(n)
	return found
}

// builtLeft reports whether a hash join builds its left input. A semi or anti join that
// does so is no pipeline, and does not keep the order of its left rows.
func (j *pair) builtLeft() bool {
	switch j.kind {
	case logical.JoinInner:
		return j.left.rows < j.right.rows
	case logical.JoinSemi, logical.JoinAnti:
		return !j.ordered && 2*j.left.rows < j.right.rows
	}
	return false
}

// marks reports a semi or anti join that builds its left input.
func (j *pair) marks() bool { return j.kind != logical.JoinInner && j.builtLeft() }

func (p *planner) hashCost(j *pair) float64 {
	build, probe := &j.right, &j.left
	if j.builtLeft() {
		build, probe = probe, build
	}
	row := float64(cost.ProbeRow)
	if k := types.KindOf(j.equi[0].left.Type()); len(j.equi) == 1 && k != value.KindNull && vec.ClassOf(k) == vec.ClassWord {
		row = cost.ProbeWord
	}
	share := 1.0
	if p.opts.Parallelism > 1 && probe.probed() > parallelRows && !j.marks() && isPipeline(probe.node) { // as a scan, see access
		share = 1.2 / math.Min(float64(p.opts.Parallelism), 4)
	}
	return j.left.cost + j.right.cost + build.rows*cost.BuildRow + probe.rows*row*share - j.picked(probe)*share + j.rows*cost.ProjectRow
}

// picked is what a scan of a columnar index spares that leaves out rows whose key is not
// stored: reading their other columns, and the probe.
func (j *pair) picked(probe *rel) float64 {
	s, ok := probe.node.(*physical.Scan)
	if !ok || len(j.equi) != 1 || len(s.Filter) > 0 || s.Search() == nil || !s.Search().Covering {
		return 0
	}
	if j.kind != logical.JoinInner && j.kind != logical.JoinSemi && !j.marks() {
		return 0
	}
	e := j.equi[0]
	for _, x := range []expr.Expr{e.left, e.right} {
		if _, ok := x.(*expr.Col); !ok || vec.ClassOf(types.KindOf(x.Type())) != vec.ClassWord {
			return 0
		}
	}
	row := cost.ProbeWord + float64(len(s.Read)-1)*cost.SearchWord - cost.SearchPick
	gone := 1 - math.Min(j.rows/math.Max(probe.rows, 1), 1)
	return probe.rows * gone * row
}

func (p *planner) hashJoin(j *pair, c float64) (rel, error) {
	left, right := j.left.ids(), j.right.ids()
	h := &physical.HashJoin{Kind: physical.JoinKind(j.kind), Left: j.left.node, Right: j.right.node, BuildLeft: j.builtLeft()}
	for _, e := range j.equi {
		lk, rk, err := p.hashKeys(e)
		if err != nil {
			return rel{}, err
		}
		if lk, err = place(lk, left); err != nil {
			return rel{}, err
		}
		if rk, err = place(rk, right); err != nil {
			return rel{}, err
		}
		h.LeftKeys, h.RightKeys = append(h.LeftKeys, lk), append(h.RightKeys, rk)
	}
	var err error
	if h.Filter, err = placeAll(cheapFirst(j.rest), append(left, right...)); err != nil {
		return rel{}, err
	}
	cols := joinColumns(j.left.cols, j.right.cols, j.kind)
	h.Base = base(cols, j.rows, c)
	out := rel{node: h, cols: cols, rows: j.rows, cost: c}
	switch {
	case j.marks():
	case h.BuildLeft:
		out.reads = j.right.probed()
	default:
		out.reads = j.left.probed()
	}
	return out, nil
}

// probed is about the number of rows that go through a pipeline.
func (r rel) probed() float64 { return math.Max(r.reads, r.rows) }

func (j *pair) nestedCost() float64 {
	return j.left.cost + j.right.cost + j.left.rows*math.Max(j.right.rows, 1)*cost.NestedPair
}

func (p *planner) nestedLoop(j *pair, c float64) (rel, error) {
	filter, err := placeAll(cheapFirst(j.all), append(j.left.ids(), j.right.ids()...))
	if err != nil {
		return rel{}, err
	}
	cols := joinColumns(j.left.cols, j.right.cols, j.kind)
	n := &physical.NestedLoop{Base: base(cols, j.rows, c), Kind: physical.JoinKind(j.kind), Left: j.left.node, Right: j.right.node, Filter: filter}
	return rel{node: n, cols: cols, rows: j.rows, cost: c, reads: j.left.probed()}, nil
}

// innerPath is a key of a base table by which a join can look rows up.
type innerPath struct {
	index *schema.Index // nil for the primary key
	key   []ranges.Column
	path  *access.Path
	// spread are the partitions of a key that begins with them, of what they are; nil
	// without any.
	spread *ranges.Set
	of     *expr.Partitioner
}

// innerPaths are the keys of an item that is a base table, if it may be looked
// up: not when it is the table that the statement changes. Lookups lock the
// rows that they find, where a scan would lock those of the whole table.
func (p *planner) innerPaths(it *joinItem, need map[expr.ColID]bool) []innerPath {
	if it.pathed {
		return it.paths
	}
	it.pathed = true
	s, conds := baseTable(it.node)
	if s == nil || p.change == s || p.off("IndexAccess") || isNever(conds) {
		return nil
	}
	ar := p.accessRequest(s, conds, request{cols: need})
	add := func(x *schema.Index) {
		if !hintAllows(&s.Hint, x) {
			return
		}
		path := &access.Path{Access: &physical.FullScan{KeyRange: physical.KeyRange{Index: x}}, Residual: ar.Conds}
		if x != nil {
			path.Lookup, path.EntryFilter, path.Residual = access.Coverage(ar, x)
		}
		in := innerPath{index: x, key: access.KeyColumns(s.Table, x), path: path}
		if x == nil {
			in.spread, in.of = access.Spread(ar), ar.Partitions
		}
		it.paths = append(it.paths, in)
	}
	add(nil)
	for i := range s.Table.Indexes {
		x := &s.Table.Indexes[i]
		if x.State == schema.IndexPublic && (s.Table.HoldsAll(x) || holdsElements(s.Table, x)) && (!x.Invisible || p.opts.Invisible || hintNames(&s.Hint, x)) {
			add(x)
		}
	}
	return it.paths
}

// forcesIndex reports a table that is read by the indexes of a hint where that is
// possible.
func forcesIndex(n logical.Node) bool {
	s, _ := baseTable(n)
	return s != nil && len(s.Hint.Force) > 0
}

func hintNames(h *logical.IndexHint, x *schema.Index) bool {
	return slices.Contains(h.Use, x.Name) || slices.Contains(h.Force, x.Name)
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

// lookupPlan is a join by a key.
type lookupPlan struct {
	inner  *innerPath
	keys   []expr.Expr
	filter []expr.Expr // what the keys do not check
	unique bool
	perKey float64
	cost   float64
	// spread: each partition is looked into, of which there are so many.
	spread     bool
	partitions float64
}

// lookup finds the leading columns of a key that the equalities fix.
func (p *planner) lookup(j *pair, in *innerPath) (lookupPlan, bool) {
	s, _ := baseTable(j.item.node)
	l := lookupPlan{inner: in}
	key := in.key
	if in.index != nil && in.index.Unique {
		key = key[:len(in.index.Parts)] // the rest adds nothing to a whole unique key
	}
	var used uint64
	array := false
	if in.spread != nil {
		if e := p.partitionOf(j, s, in.of); e != nil {
			l.keys = append(l.keys, e)
		} else {
			if l.spread, l.partitions = true, p.partitionsIn(in); l.partitions > maxSpread {
				return l, false
			}
		}
		key = key[1:]
	}
	first := len(l.keys)
	for _, kc := range key {
		if s.Table.Columns[kc.Table].Array != nil {
			k := j.elementKey(s, kc.Table)
			if k == nil {
				break
			}
			l.keys, array = append(l.keys, k), true
			continue
		}
		i := -1
		if kc.Prefix == 0 {
			i = pairFor(j.equi, s.Cols[kc.Table].ID, kc.Type)
		}
		if i < 0 {
			break
		}
		used |= 1 << i
		l.keys = append(l.keys, j.equi[i].left)
	}
	if len(l.keys) == first || !array && in.index != nil && s.Table.ArrayPart(in.index) >= 0 {
		return l, false
	}
	l.unique = len(l.keys)-first == len(key) && (in.index == nil || in.index.Unique)
	l.filter = append([]expr.Expr(nil), j.rest...)
	for i, e := range j.equi {
		if used&(1<<i) == 0 {
			l.filter = append(l.filter, e.cond)
		}
	}
	total := math.Max(p.opts.Est.TableRows(p.ctx, s.Table), 1)
	l.perKey = 1
	if !l.unique {
		distinct := 1.0
		for _, kc := range key[:len(l.keys)-first] {
			distinct *= access.DistinctValues(p.ctx, s.Table, kc.Table, p.opts.Est, total)
		}
		l.perKey = math.Max(total/math.Min(distinct, total), 1)
	}
	l.cost = j.lookupCost(&l, total)
	return l, true
}

func (j *pair) lookupCost(l *lookupPlan, total float64) float64 {
	matched := j.left.rows * l.perKey
	c := j.left.cost + j.rows*cost.ProjectRow
	switch {
	case l.spread && l.unique:
		c += cost.Lookup(j.left.rows*l.partitions, total*l.partitions)
	case l.spread:
		c += j.left.rows*l.partitions*cost.Seek + matched*cost.EntryRow
	case l.inner.index == nil && l.unique:
		c += cost.Lookup(j.left.rows, total)
	case l.unique:
		c += j.left.rows * cost.Get
	default:
		c += j.left.rows*cost.Seek + matched*(cost.EntryRow+float64(len(j.right.cols))*cost.ScanColumn)
	}
	if l.inner.path.Lookup {
		c += cost.Lookup(matched, total)
	}
	return c
}

func (p *planner) lookupJoin(j *pair, l lookupPlan) (rel, error) {
	s, _ := baseTable(j.item.node)
	inner, err := p.scanBy(s, l.inner.path, nil, request{cols: j.need}, false, s.Lock.Strength != logical.LockNone, true)
	if err != nil {
		return rel{}, err
	}
	left := j.left.ids()
	keys, err := placeAll(l.keys, left)
	if err != nil {
		return rel{}, err
	}
	filter, err := placeAll(cheapFirst(l.filter), append(left, inner.ids()...))
	if err != nil {
		return rel{}, err
	}
	cols := joinColumns(j.left.cols, inner.cols, j.kind)
	n := &physical.LookupJoin{Base: base(cols, j.rows, l.cost), Kind: physical.JoinKind(j.kind), Left: j.left.node,
		Inner: inner.node.(physical.TableNode), Keys: keys, Unique: l.unique, Filter: filter}
	if l.spread {
		n.Inner.Leaf().Spread = l.inner.spread
	}
	each := physical.Estimate{Rows: l.perKey}
	n.Inner.Leaf().Estimate = each
	if x, ok := n.Inner.(*physical.IndexJoin); ok {
		x.Estimate = each
	}
	return rel{node: n, cols: cols, rows: j.rows, cost: l.cost, reads: j.left.probed()}, nil
}

// maxSpread is in how many partitions a join looks for a row at most.
const maxSpread = 256

// partitionsIn is about the number of partitions that have to be looked into.
func (p *planner) partitionsIn(in *innerPath) float64 {
	if p.opts.Ctx != nil && expr.KnownBefore(in.spread.Conds) {
		if list, err := in.spread.Spans(p.opts.Ctx); err == nil {
			return math.Max(float64(len(list)), 1)
		}
	}
	return float64(len(in.of.Numbers))
}

// partitionOf is the number of the partition of the rows that a join looks for, if
// equalities fix all columns by which rows are spread; nil otherwise.
func (p *planner) partitionOf(j *pair, s *logical.Scan, of *expr.Partitioner) expr.Expr {
	var args []expr.Expr
	for i, pos := range of.Reads {
		at := pairFor(j.equi, s.Cols[pos].ID, of.Types[i])
		if at < 0 || p.hasTwoOrders(of.Types[i]) {
			return nil
		}
		args = append(args, j.equi[at].left)
	}
	return expr.NewComputed("partition", args, types.BigInt, func(c *expr.Ctx, args []value.Datum) (value.Datum, error) {
		vals := make([]value.Datum, len(args))
		for i, d := range args {
			if d.IsNull() {
				return value.Null, nil
			}
			var fits bool
			if vals[i], fits = keyDatum(d, types.KindOf(of.Types[i])); !fits {
				return value.Null, nil
			}
		}
		vals, err := of.Values(c, vals)
		if err != nil {
			return value.Null, err
		}
		if at := of.At(vals); at >= 0 {
			return value.Int(of.Numbers[at]), nil
		}
		return value.Null, nil
	})
}

// keyDatum is an integer in the kind of a key column; false when it has none that is
// equal.
func keyDatum(d value.Datum, kind value.Kind) (value.Datum, bool) {
	switch {
	case d.Kind() == value.KindInt && kind == value.KindUint:
		return value.Uint(uint64(d.Int())), d.Int() >= 0
	case d.Kind() == value.KindUint && kind == value.KindInt:
		return value.Int(int64(d.Uint())), int64(d.Uint()) >= 0
	}
	return d, true
}

// pairFor is the equality whose right side is the column itself, compared in
// the column's own values; -1 if none exists.
func pairFor(pairs []equiPair, id expr.ColID, t schema.Type) int {
	for i, e := range pairs {
		c, ok := e.right.(*expr.Col)
		if ok && c.ID == id && isKeyOf(e.left.Type(), t) {
			return i
		}
	}
	return -1
}

// isKeyOf reports whether values of type x can be looked up without conversion in
// a key column of type t.
func isKeyOf(x, t schema.Type) bool {
	// TIMESTAMP keys are in UTC.
	return types.KindOf(x) == types.KindOf(t) && types.KindOf(t) != value.KindJSON && t.ID != schema.TypeEnum && t.ID != schema.TypeSet &&
		(x.ID == schema.TypeTimestamp) == (t.ID == schema.TypeTimestamp)
}
