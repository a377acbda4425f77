package planner

import (
	"slices"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/cost"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
)

// window builds a Window over its input in order: by an index or a window below
// where that is cheaper, else by a sort. Functions whose results are not read are
// left out.
func (p *planner) window(n *logical.Window, req request) (rel, error) {
	inner := request{cols: map[expr.ColID]bool{}}
	for id := range req.cols {
		inner.cols[id] = true
	}
	var funcs []*expr.Window
	var cols []logical.Column
	for i, c := range n.Cols {
		delete(inner.cols, c.ID)
		if req.cols[c.ID] {
			funcs, cols = append(funcs, n.Funcs[i]), append(cols, c)
		}
	}
	if len(funcs) == 0 {
		return p.build(n.Input, request{cols: inner.cols, order: req.order})
	}
	for _, f := range funcs {
		inner.cols = p.addReads(inner.cols, f.Inputs()...)
	}
	inner.cols = p.addReads(inner.cols, n.PartitionBy...)
	for _, k := range n.OrderBy {
		inner.cols = p.addReads(inner.cols, k.Expr)
	}
	order := windowOrder(n, req.order)
	in, err := p.windowInput(n, order, inner, req)
	if err != nil {
		return rel{}, err
	}
	out := in
	out.ordered = isPrefix(req.order, order) || len(order) == 0 && in.ordered
	out.cols = append(slices.Clone(in.cols), cols...)
	out.cost += in.rows * float64(len(funcs)) * cost.WindowRow
	w := &physical.Window{Base: base(out.cols, out.rows, out.cost), Input: in.node}
	if w.PartitionBy, err = placeAll(n.PartitionBy, in.ids()); err != nil {
		return rel{}, err
	}
	for _, k := range n.OrderBy {
		e, err := place(k.Expr, in.ids())
		if err != nil {
			return rel{}, err
		}
		w.OrderBy = append(w.OrderBy, physical.SortKey{Expr: e, Desc: k.Desc})
	}
	for _, f := range funcs {
		placed, err := expr.MapWindow(f, func(e expr.Expr) (expr.Expr, error) { return place(e, in.ids()) })
		if err != nil {
			return rel{}, err
		}
		w.Funcs = append(w.Funcs, placed)
	}
	out.node = w
	return out, nil
}

func (p *planner) windowInput(n *logical.Window, order []orderKey, inner, req request) (rel, error) {
	if len(order) == 0 {
		inner.order = inputOrder(n, req.order)
		in, err := p.build(n.Input, inner)
		in.ordered = in.ordered && len(inner.order) == len(req.order)
		return in, err
	}
	sort := &logical.Sort{Input: n.Input}
	for _, k := range order {
		c := logical.Column{ID: k.id}
		for _, have := range n.Input.Columns() {
			if have.ID == k.id {
				c = have
			}
		}
		sort.ByValue = sort.ByValue || p.hasTwoOrders(c.T)
		sort.Keys = append(sort.Keys, logical.SortKey{Expr: &expr.Col{ID: c.ID, Index: -1, T: c.T, Null: c.Null, Table: c.Table, Name: c.Name}, Desc: k.desc})
	}
	return p.sorted(sort, nil, nil, inner)
}

// windowOrder is the order that a window needs of its input: partitions in any
// order, then its keys. It follows the wanted order where it can, and continues
// with it after its own keys.
func windowOrder(n *logical.Window, want []orderKey) []orderKey {
	var parts []expr.ColID
	for _, e := range n.PartitionBy {
		if c, ok := e.(*expr.Col); ok && !slices.Contains(parts, c.ID) {
			parts = append(parts, c.ID)
		}
	}
	var order []orderKey
	has := func(id expr.ColID) bool {
		return slices.ContainsFunc(order, func(k orderKey) bool { return k.id == id })
	}
	for _, k := range want {
		if len(order) == len(parts) || !slices.Contains(parts, k.id) || has(k.id) {
			break
		}
		order = append(order, k)
	}
	for _, id := range parts {
		if !has(id) {
			order = append(order, orderKey{id: id})
		}
	}
	for _, k := range n.OrderBy {
		if c, ok := k.Expr.(*expr.Col); ok && !has(c.ID) {
			order = append(order, orderKey{id: c.ID, desc: k.Desc})
		}
	}
	if len(order) > 0 && isPrefix(order, want) {
		return append(order, inputOrder(n, want)[len(order):]...)
	}
	return order
}

// inputOrder is the beginning of an order that is on columns of the input.
func inputOrder(n *logical.Window, order []orderKey) []orderKey {
	have := idSet(n.Input.Columns())
	for i, k := range order {
		if !have[k.id] {
			return order[:i]
		}
	}
	return order
}

func isPrefix(a, b []orderKey) bool {
	return len(a) <= len(b) && slices.Equal(a, b[:len(a)])
}
