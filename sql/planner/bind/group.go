package bind

import (
	"strconv"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

func itoa(n int) string { return strconv.Itoa(n) }

// aggScope collects the aggregate calls of one block. A call is known above
// the Aggregate node by its column.
type aggScope struct {
	grouped bool // the block has GROUP BY
	calls   []*expr.Agg
	cols    []logical.Column
}

// value is what a call shows.
func (a *aggScope) value(b *binder, call *expr.Agg, text string) expr.Expr {
	return expr.NewShown(a.add(b, call, text), call.Shown)
}

// add gives the column of a call; equal calls share one.
func (a *aggScope) add(b *binder, call *expr.Agg, text string) *expr.Col {
	for i, have := range a.calls {
		if aggEqual(have, call) {
			return colExpr(&a.cols[i])
		}
	}
	c := logical.Column{ID: b.newID(), Name: text, T: call.T, Null: call.Null}
	a.calls = append(a.calls, call)
	a.cols = append(a.cols, c)
	return colExpr(&c)
}

// uses reports whether e reads an aggregate.
func (a *aggScope) uses(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Col); ok && a.has(c.ID) {
			found = true
		}
		return !found
	})
	return found
}

func (a *aggScope) has(id expr.ColID) bool {
	for i := range a.cols {
		if a.cols[i].ID == id {
			return true
		}
	}
	return false
}

func (k *block) groupItem(n ast.ExprNode) (expr.Expr, error) {
	n = listItem(n)
	if p, ok := n.(*ast.PositionExpr); ok {
		if p.P != nil {
			return nil, sqlerr.NotSupported("parameter as position in GROUP BY")
		}
		if p.N < 1 || p.N > len(k.fields) {
			return nil, sqlerr.UnknownColumn(itoa(p.N), clauseGroup)
		}
		return k.groupedField(p.N - 1)
	}
	sc := k.scope(clauseGroup)
	sc.alias = func(table, name string) (expr.Expr, bool, error) {
		i, err := k.fieldByName(table, name, clauseGroup)
		if err != nil || i < 0 {
			return nil, false, err
		}
		e, err := k.groupedField(i)
		return e, err == nil, err
	}
	return k.b.value(sc, n)
}

// groupedField is an item of the select list that GROUP BY names: 1056 for one whose value
// comes from the groups.
func (k *block) groupedField(i int) (expr.Expr, error) {
	f := &k.fields[i]
	grouping := false
	expr.Walk(f.expr, func(e expr.Expr) bool {
		f, ok := e.(*expr.Func)
		grouping = grouping || ok && f.Op == expr.OpGrouping
		return !grouping
	})
	if grouping || k.agg.uses(f.expr) || k.win.uses(f.expr) {
		return nil, sqlerr.CannotGroupOn(f.name)
	}
	return f.expr, nil
}

// grouping rewrites expressions over FROM into expressions over the groups.
type grouping struct {
	k    *block
	cols []logical.Column
	det  map[expr.ColID]bool
	// pass are the columns that are carried along: value of any row.
	pass map[expr.ColID]*expr.Col
	full bool // only_full_group_by
	// rolled is, with ROLLUP, the column that counts the rolled-up groups.
	rolled logical.Column
}

// aggregate puts the Aggregate node over the input and rewrites the select
// list, HAVING and ORDER BY.
func (k *block) aggregate(node logical.Node) (logical.Node, error) {
	g := &grouping{k: k, pass: map[expr.ColID]*expr.Col{}, full: k.b.env.Mode&types.ModeOnlyFullGroupBy != 0}
	k.g = g
	if len(k.group) == 0 {
		k.order = nil // one row: MySQL drops ORDER BY before it checks it
		k.keepUsed()
	}
	for _, e := range k.group {
		c := logical.Column{ID: k.b.newID(), Name: e.String(), T: e.Type(), Null: e.Nullable()}
		if x, ok := e.(*expr.Col); ok {
			if col := k.column(x.ID); col != nil {
				id := c.ID
				c = *col
				c.ID, c.Hidden, c.Invisible = id, false, false
				c.Null = x.Null
			}
		}
		g.cols = append(g.cols, c)
	}
	if k.hasRollup() {
		g.beginRollup()
	}
	g.det = k.determined()
	for i := range k.fields {
		e, err := g.rewrite(k.fields[i].expr, i+1, "SELECT list")
		if err != nil {
			return nil, err
		}
		k.fields[i].expr = e
	}
	for i := range k.having {
		e, err := g.rewrite(k.having[i], i+1, "HAVING")
		if err != nil {
			return nil, err
		}
		k.having[i] = e
	}
	if err := g.groupWindows(); err != nil {
		return nil, err
	}
	for i := range k.order {
		e, err := g.rewrite(k.order[i].expr, i+1, "ORDER BY")
		if err != nil {
			return nil, err
		}
		k.order[i].expr = e
	}
	if k.hasRollup() {
		return g.rollup(node), nil
	}
	return &logical.Aggregate{Input: node, GroupBy: k.group, GroupCols: g.cols, Aggs: k.agg.calls, AggCols: k.agg.cols}, nil
}

// rewrite replaces grouped expressions by group columns, from the top. pos and
// clause are for the message: 1055 with GROUP BY, 1140 without.
func (g *grouping) rewrite(e expr.Expr, pos int, clause string) (expr.Expr, error) {
	for i, x := range g.k.group {
		wide := e.Type().ID == schema.TypeDecimal && e.Type().Scale > g.cols[i].T.Scale
		switch {
		case !expr.Equal(x, e) && !(wide && expr.Equal(expr.KeepQuotient(x), e)):
		case wide && !g.k.hasRollup():
			// All digits are those of any row: the group has what it shows.
			call, err := newAnyValue(g.k.b.be, e)
			if err != nil {
				return nil, err
			}
			return g.k.agg.add(g.k.b, call, e.String()), nil
		default:
			return colExpr(&g.cols[i]), nil
		}
	}
	var failed error
	if f, ok := e.(*expr.Func); ok && f.Op == expr.OpGrouping {
		return g.grouping(f)
	}
	if f, ok := e.(*expr.Func); ok && f.Op == expr.OpAnyValue && len(f.Args) == 1 {
		return g.anyValue(f, pos, clause)
	}
	if c, ok := e.(*expr.Col); ok {
		return g.col(c, pos, clause)
	}
	out := rebuild(e, func(x expr.Expr) expr.Expr {
		if failed != nil {
			return x
		}
		y, err := g.rewrite(x, pos, clause)
		if err != nil {
			failed = err
			return x
		}
		return y
	})
	return out, failed
}

// anyValue is an aggregate, unless it is over aggregates or windows: then columns in it may
// be those of any row.
func (g *grouping) anyValue(f *expr.Func, pos int, clause string) (expr.Expr, error) {
	if g.k.agg.uses(f) || g.k.win.uses(f) {
		full := g.full
		g.full = false
		defer func() { g.full = full }()
		e, err := g.rewrite(f.Args[0], pos, clause)
		if err != nil {
			return nil, err
		}
		return f.With([]expr.Expr{e}), nil
	}
	call, err := newAnyValue(g.k.b.be, f.Args[0])
	if err != nil {
		return nil, err
	}
	return g.k.agg.value(g.k.b, call, f.String()), nil
}

func (g *grouping) col(c *expr.Col, pos int, clause string) (expr.Expr, error) {
	if g.k.agg.has(c.ID) || g.k.win.has(c.ID) {
		return c, nil
	}
	if p := g.pass[c.ID]; p != nil && !(g.full && !g.det[c.ID]) {
		return p, nil
	}
	if g.full && !g.det[c.ID] {
		name := g.k.columnText(c)
		if len(g.k.group) == 0 {
			return nil, sqlerr.MixOfGroupFuncs(pos, clause, name)
		}
		return nil, sqlerr.NotInGroupBy(pos, clause, name)
	}
	call, err := newAnyValue(g.k.b.be, c)
	if err != nil {
		return nil, err
	}
	p := g.k.agg.add(g.k.b, call, c.String())
	if col := g.k.column(c.ID); col != nil {
		p.Table, p.Name = col.Table, col.Name
	}
	g.pass[c.ID] = p
	return p, nil
}

// rebuild applies fn to the children of e.
func rebuild(e expr.Expr, fn func(expr.Expr) expr.Expr) expr.Expr {
	list := expr.Children(e)
	if len(list) == 0 {
		return e
	}
	out := make([]expr.Expr, len(list))
	changed := false
	for i, a := range list {
		out[i] = fn(a)
		changed = changed || out[i] != a
	}
	if !changed {
		return e
	}
	switch x := e.(type) {
	case *expr.Func:
		return x.With(out)
	case *expr.Subquery:
		return x.WithChildren(out)
	}
	return e
}

// volatile reports whether e gives other values when it is computed again.
func volatile(e expr.Expr) bool {
	v := false
	expr.Walk(e, func(x expr.Expr) bool {
		if f, ok := x.(*expr.Func); ok && f.B != nil && f.B.Volatile {
			v = true
		}
		return !v
	})
	return v
}
