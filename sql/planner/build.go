package planner

import (
	"maps"
	"math"
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// request is what a node's consumer wants of it.
type request struct {
	// cols are the columns that the consumer reads; others may be left out.
	cols map[expr.ColID]bool
	// order would spare the consumer a sort; it is a wish.
	order []orderKey
	// group: the order is for GROUP BY.
	group bool
	// limit is the number of rows after which the consumer stops, 0 for all.
	limit     float64
	limitExpr expr.Expr
	// counts: nothing but the number of rows is wanted.
	counts bool
}

// orderKey is a column or, where e is set, what a search index can rank rows by.
type orderKey struct {
	id   expr.ColID
	e    expr.Expr
	desc bool
}

// rel is a built node.
type rel struct {
	node physical.Node
	// cols are the output columns in order.
	cols []logical.Column
	// ordered: the rows come in the order of the request.
	ordered bool
	rows    float64
	cost    float64
	// reads are, of a pipeline, the rows that its scan reads before any filter, or
	// those that a join probes.
	reads float64
}

func (r rel) ids() []expr.ColID { return ids(r.cols) }

// built is the answer to a request of a node.
type built struct {
	req request
	rel rel
}

func (r *request) equals(o *request) bool {
	return len(r.cols) == len(o.cols) && r.limit == o.limit && r.limitExpr == o.limitExpr && slices.Equal(r.order, o.order) && maps.Equal(r.cols, o.cols)
}

// build builds n. Sorts, groupings and joins request their inputs in several
// ways; a repeated request is answered from memory, or nested queries would take
// exponential time.
func (p *planner) build(n logical.Node, req request) (rel, error) {
	if err := p.interrupted(); err != nil {
		return rel{}, err
	}
	switch n.(type) {
	case *logical.Join, *logical.Apply, *logical.Aggregate, *logical.Sort, *logical.Limit, *logical.Distinct, *logical.SetOperation, *logical.Window, *logical.Rollup:
	default:
		return p.buildNode(n, req)
	}
	req.counts = false
	for i := range p.memo[n] {
		if b := &p.memo[n][i]; b.req.equals(&req) {
			return b.rel, nil
		}
	}
	out, err := p.buildNode(n, req)
	if err != nil {
		return rel{}, err
	}
	if p.memo == nil {
		p.memo = map[logical.Node][]built{}
	}
	p.memo[n] = append(p.memo[n], built{req, out})
	return out, nil
}

func (p *planner) buildNode(n logical.Node, req request) (rel, error) {
	switch n := n.(type) {
	case *logical.Scan:
		return p.scan(n, nil, req)
	case *logical.Filter:
		return p.filter(n, req)
	case *logical.Project:
		return p.project(n, req)
	case *logical.Join:
		return p.join(n, req)
	case *logical.Apply:
		return p.apply(n, req)
	case *logical.Aggregate:
		return p.aggregate(n, req)
	case *logical.Rollup:
		return p.rollup(n, req)
	case *logical.Window:
		return p.window(n, req)
	case *logical.Sort:
		return p.sort(n, nil, nil, req)
	case *logical.Limit:
		return p.limit(n, req)
	case *logical.Distinct:
		return p.distinct(n, req)
	case *logical.SetOperation:
		return p.setOperation(n, req)
	case *logical.Values:
		return p.values(n, req)
	case *logical.Virtual:
		return p.virtual(n)
	case *logical.CTEScan:
		return p.cteScan(n, req)
	case *logical.JSONTable:
		return p.jsonTable(n, req), nil
	}
	return rel{}, sqlerr.Internal("cannot build %T", n)
}

func base(cols []logical.Column, rows, c float64) physical.Base {
	return physical.Base{Cols: physicalColumns(cols), Estimate: physical.Estimate{Rows: rows, Cost: c}}
}

// layout makes the output exactly cols, in their order.
func (p *planner) layout(r rel, cols []logical.Column) rel {
	same := len(cols) == len(r.cols)
	for i := 0; same && i < len(cols); i++ {
		same = cols[i].ID == r.cols[i].ID
	}
	if same {
		return r
	}
	exprs := make([]expr.Expr, len(cols))
	for i, c := range cols {
		for j, have := range r.cols {
			if have.ID == c.ID {
				exprs[i] = &expr.Col{ID: c.ID, Index: j, T: c.T, Null: have.Null, Table: c.Table, Name: c.Name}
				break
			}
		}
	}
	r.cost += r.rows * cost.ProjectRow
	r.node = &physical.Project{Base: base(cols, r.rows, r.cost), Input: r.node, Exprs: exprs}
	r.cols = cols
	return r
}

// addReads adds what expressions read. Of attributes that are read by name
// their marks are added, see attributes.go.
func (p *planner) addReads(set map[expr.ColID]bool, list ...expr.Expr) map[expr.ColID]bool {
	out := make(map[expr.ColID]bool, len(set)+4)
	for id := range set {
		out[id] = true
	}
	for _, e := range list {
		expr.Walk(e, func(x expr.Expr) bool {
			if c, name, ok := attributeOf(x); ok {
				out[c.ID], out[p.attributeMark(c.ID, name)] = true, true
				return false
			}
			if c, ok := x.(*expr.Col); ok {
				out[c.ID] = true
				markWhole(out, c.ID, c.T)
			}
			return true
		})
	}
	return out
}

func (p *planner) filter(n *logical.Filter, req request) (rel, error) {
	if s, ok := n.Input.(*logical.Scan); ok {
		return p.scan(s, n.Conds, req)
	}
	inner := req
	inner.cols = p.addReads(req.cols, n.Conds...)
	inner.limit, inner.limitExpr = 0, nil
	in, err := p.build(n.Input, inner)
	if err != nil {
		return rel{}, err
	}
	if v, ok := in.node.(*physical.Virtual); ok {
		v.Equal = virtualEqual(n.Conds, in.cols)
	}
	conds, err := placeAll(cheapFirst(n.Conds), in.ids())
	if err != nil {
		return rel{}, err
	}
	in.cost += in.rows * float64(len(conds)) * cost.FilterRow
	for range conds {
		in.rows *= 0.5
	}
	in.rows = math.Max(in.rows, 1)
	in.node = &physical.Filter{Base: base(in.cols, in.rows, in.cost), Input: in.node, Conds: conds}
	return in, nil
}

func (p *planner) project(n *logical.Project, req request) (rel, error) {
	var exprs []expr.Expr
	var cols []logical.Column
	for i, c := range n.Cols {
		if req.cols[c.ID] || isEffect(n.Exprs[i]) {
			exprs, cols = append(exprs, n.Exprs[i]), append(cols, c)
		}
	}
	inner := request{cols: p.addReads(nil, exprs...), order: p.orderThrough(req.order, n), group: req.group}
	if len(inner.order) == len(req.order) {
		inner.limit, inner.limitExpr = req.limit, req.limitExpr
	} else {
		inner.order = nil // half an order is no use
	}
	in, err := p.build(n.Input, inner)
	if err != nil {
		return rel{}, err
	}
	in.ordered = in.ordered && len(inner.order) == len(req.order)
	placed, err := placeAll(exprs, in.ids())
	if err != nil {
		return rel{}, err
	}
	if renamed, ok := renames(placed, in.cols, cols); ok {
		in.cols = renamed
		return in, nil
	}
	in.cost += in.rows * float64(len(placed)) * cost.ProjectRow
	in.node = &physical.Project{Base: base(cols, in.rows, in.cost), Input: in.node, Exprs: placed}
	in.cols = cols
	return in, nil
}

// isEffect reports whether an expression must be computed even when its value is
// not read.
func isEffect(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if f, ok := x.(*expr.Func); ok && f.B != nil && f.B.Volatile {
			found = true
		}
		return !found
	})
	return found
}

// renames reports whether a project only gives other ids to all columns of its
// input in their order, so that it needs no operator. The physical columns
// keep the input's names; the root's header is made from the logical plan.
func renames(exprs []expr.Expr, in, out []logical.Column) ([]logical.Column, bool) {
	if len(exprs) != len(in) {
		return nil, false
	}
	for i, e := range exprs {
		c, ok := e.(*expr.Col)
		if !ok || c.Index != i {
			return nil, false
		}
	}
	return out, true
}

// orderThrough translates an order on a project's columns to its input; keys
// that are computed end it.
func (p *planner) orderThrough(order []orderKey, n *logical.Project) []orderKey {
	var out []orderKey
	for _, k := range order {
		if k.e != nil {
			e, ok := through(k.e, n)
			if !ok {
				return out
			}
			out = append(out, orderKey{id: computed, e: e, desc: k.desc})
			continue
		}
		found := false
		for i, c := range n.Cols {
			if c.ID != k.id {
				continue
			}
			if col, ok := n.Exprs[i].(*expr.Col); ok {
				out = append(out, orderKey{id: col.ID, desc: k.desc})
				found = true
			} else if p.isRanking(n.Exprs[i]) {
				out = append(out, orderKey{id: computed, e: n.Exprs[i], desc: k.desc})
				found = true
			}
		}
		if !found {
			return out
		}
	}
	return out
}

func (p *planner) values(n *logical.Values, req request) (rel, error) {
	rows := float64(len(n.Rows))
	return rel{node: &physical.Values{Base: base(n.Cols, rows, rows), Rows: n.Rows}, cols: n.Cols, rows: rows, cost: rows, ordered: len(req.order) == 0 || rows <= 1}, nil
}

func (p *planner) virtual(n *logical.Virtual) (rel, error) {
	read := make([]int, len(n.Cols))
	for i := range read {
		read[i] = i
	}
	return rel{node: &physical.Virtual{Base: base(n.Cols, 100, 10000), Name: n.Name, Key: n.Key, Read: read}, cols: n.Cols, rows: 100, cost: 10000}, nil
}

// virtualEqual finds the conditions column = value in a filter over a virtual
// table, for values that are there before the statement runs.
func virtualEqual(conds []expr.Expr, cols []logical.Column) []physical.VirtualEqual {
	var out []physical.VirtualEqual
	for _, e := range conds {
		f, ok := e.(*expr.Func)
		if !ok || f.Op != expr.OpEQ || len(f.Args) != 2 {
			continue
		}
		for i := range f.Args {
			c, ok := f.Args[i].(*expr.Col)
			if !ok || !isGiven(f.Args[1-i]) {
				continue
			}
			for pos := range cols {
				if cols[pos].ID == c.ID {
					out = append(out, physical.VirtualEqual{Pos: pos, Value: f.Args[1-i]})
				}
			}
		}
	}
	return out
}

// isGiven reports literals, parameters and DATABASE().
func isGiven(e expr.Expr) bool {
	switch e := e.(type) {
	case *expr.Const, *expr.Param:
		return true
	case *expr.Func:
		return e.Op == expr.OpDatabase && len(e.Args) == 0
	}
	return false
}

// distinct removes duplicates: by hashing, or as they come when the input has
// an order by all columns, which takes no memory and stops early.
func (p *planner) distinct(n *logical.Distinct, req request) (rel, error) {
	cols := n.Columns()
	hash, err := p.build(n.Input, request{cols: idSet(cols), order: req.order})
	if err != nil {
		return rel{}, err
	}
	finish := func(in rel, sorted bool, perRow float64) rel {
		in = p.layout(in, cols)
		in.cost += in.rows * perRow
		in.rows = math.Max(in.rows/2, 1)
		in.node = &physical.Distinct{Base: base(in.cols, in.rows, in.cost), Input: in.node, Sorted: sorted}
		return in
	}
	out := finish(hash, false, cost.HashGroupRow)
	order, ok := distinctOrder(cols, req.order)
	if !ok || p.off("SortedDistinct") || slices.ContainsFunc(cols, func(c logical.Column) bool { return p.hasTwoOrders(c.T) }) {
		return out, nil
	}
	in, err := p.build(n.Input, request{cols: idSet(cols), order: order})
	if err != nil {
		return out, err
	}
	if loose, ok, err := p.looseDistinct(n, order); err != nil {
		return out, err
	} else if ok && (!in.ordered || loose.cost < in.cost) {
		in = loose
	}
	if !in.ordered {
		return out, nil
	}
	sorted := finish(in, true, cost.StreamGroupRow)
	if req.limit > 0 && req.limit < sorted.rows {
		sorted.cost *= req.limit / sorted.rows
	}
	extra := 0.0
	if !out.ordered {
		extra = sortCost(out.rows, req.limit)
	}
	if sorted.cost < out.cost+extra {
		return sorted, nil
	}
	return out, nil
}

// distinctOrder is an order by all columns that begins with the wanted one.
func distinctOrder(cols []logical.Column, order []orderKey) ([]orderKey, bool) {
	out := append([]orderKey(nil), order...)
	used := map[expr.ColID]bool{}
	for _, k := range order {
		used[k.id] = true
	}
	seen := 0
	for _, c := range cols {
		if used[c.ID] {
			seen++
			continue
		}
		out = append(out, orderKey{id: c.ID})
	}
	return out, len(cols) > 0 && seen == len(used)
}

func (p *planner) setOperation(n *logical.SetOperation, req request) (rel, error) {
	side := func(x logical.Node) (rel, error) {
		cols := x.Columns()
		r, err := p.build(x, request{cols: idSet(cols)})
		if err != nil {
			return rel{}, err
		}
		return p.layout(r, cols), nil
	}
	left, err := side(n.Left)
	if err != nil {
		return rel{}, err
	}
	right, err := side(n.Right)
	if err != nil {
		return rel{}, err
	}
	out := rel{cols: n.Output, rows: left.rows + right.rows, cost: left.cost + right.cost, ordered: len(req.order) == 0}
	if !n.All || n.Op != logical.SetUnion {
		out.cost += out.rows * cost.HashGroupRow
	}
	out.node = &physical.SetOperation{Base: base(n.Output, out.rows, out.cost), Op: physical.SetOp(n.Op), All: n.All, Left: left.node, Right: right.node}
	return out, nil
}
