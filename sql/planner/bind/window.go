package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Names of the clauses of a window in messages.
const (
	clausePartition   = "window partition by"
	clauseWindowOrder = "window order by"
	unnamedWindow     = "<unnamed window>"
)

// winScope collects the window function calls of one block. A call is known
// above its Window node by its column.
type winScope struct {
	k     *block
	named []*namedWindow
	calls []winCall
	cols  []logical.Column
}

type winCall struct {
	f    *expr.Window
	spec *windowSpec
}

// windowSpec is a bound window: its rows and their order. Constants, which
// divide and order nothing, are left out of it.
type windowSpec struct {
	name      string
	partition []expr.Expr
	order     []logical.SortKey
	hasOrder  bool // ORDER BY is written, be it of constants
	frame     expr.Frame
}

// namedWindow is a definition of the WINDOW clause, bound at its first use.
type namedWindow struct {
	def  *ast.WindowSpec
	spec *windowSpec
	busy bool
}

// window binds a call with OVER: 3593 where none is allowed, 3595 inside of
// another window's definition.
func (b *binder) window(sc *scope, n *ast.WindowFuncExpr) (expr.Expr, error) {
	name, args := aggregateName(n.Name, n.Args)
	switch {
	case sc.win == nil && sc.inWindow != "":
		return nil, sqlerr.WindowNested(sc.inWindow)
	case sc.win == nil || sc.inAgg:
		return nil, sqlerr.WindowFunctionUse(name)
	case n.IgnoreNull:
		return nil, sqlerr.NotSupported("IGNORE NULLS")
	case n.FromLast:
		return nil, sqlerr.NotSupported("FROM LAST")
	case name == "group_concat":
		return nil, sqlerr.NotSupported("group_concat as window function")
	case n.Distinct && name != "min" && name != "max":
		return nil, sqlerr.NotSupported("<window function>(DISTINCT ..)")
	}
	inner := sc.insideWindow("")
	list, err := b.values(inner, aggregateArgs(name, args, false))
	if err != nil {
		return nil, err
	}
	spec, err := sc.win.over(sc, &n.Spec)
	if err != nil {
		return nil, err
	}
	var f *expr.Window
	if expr.IsWindowFunc(name) {
		f, err = expr.NewWindow(b.be, name, spec.frame, list...)
	} else {
		f, err = expr.NewWindowAgg(b.be, name, spec.frame, list...)
	}
	if err != nil {
		return nil, err
	}
	col := sc.win.add(b, winCall{f, spec})
	if f.Agg != nil {
		return expr.NewShown(col, f.Agg.Shown), nil
	}
	return col, nil
}

// insideWindow is the scope of a call's arguments, or of the definition of a
// window if name is given: names mean columns of FROM.
func (sc *scope) insideWindow(name string) *scope {
	inner := *sc
	inner.win, inner.inWindow = nil, name
	inner.alias, inner.aliasOnly = nil, false
	return &inner
}

// add gives the column of a call; equal calls share one.
func (w *winScope) add(b *binder, c winCall) *expr.Col {
	for i := range w.calls {
		if w.calls[i].equals(&c) {
			return colExpr(&w.cols[i])
		}
	}
	col := logical.Column{ID: b.newID(), Name: c.f.String(), T: c.f.T, Null: c.f.Null}
	w.calls, w.cols = append(w.calls, c), append(w.cols, col)
	return colExpr(&col)
}

func (c *winCall) equals(o *winCall) bool {
	if c.f.Op != o.f.Op || !c.spec.equals(o.spec) || (c.f.Agg == nil) != (o.f.Agg == nil) {
		return false
	}
	if c.f.Agg != nil && !aggEqual(c.f.Agg, o.f.Agg) {
		return false
	}
	a, b := &c.spec.frame, &o.spec.frame
	if a.Range != b.Range || a.Start.Kind != b.Start.Kind || a.End.Kind != b.End.Kind || a.Start.Unit != b.Start.Unit || a.End.Unit != b.End.Unit {
		return false
	}
	same := func(x, y expr.Expr) bool { return (x == nil) == (y == nil) && (x == nil || expr.Equal(x, y)) }
	return same(c.f.N, o.f.N) && same(a.Start.Offset, b.Start.Offset) && same(a.End.Offset, b.End.Offset) && slices.EqualFunc(c.f.Args, o.f.Args, expr.Equal)
}

// equals reports whether two windows have the same partitions and order.
func (s *windowSpec) equals(o *windowSpec) bool {
	return s == o || slices.EqualFunc(s.partition, o.partition, expr.Equal) &&
		slices.EqualFunc(s.order, o.order, func(a, b logical.SortKey) bool { return a.Desc == b.Desc && expr.Equal(a.Expr, b.Expr) })
}

func (w *winScope) has(id expr.ColID) bool {
	return slices.ContainsFunc(w.cols, func(c logical.Column) bool { return c.ID == id })
}

// uses reports whether e reads a window function.
func (w *winScope) uses(e expr.Expr) bool {
	found := false
	expr.Walk(e, func(x expr.Expr) bool {
		c, ok := x.(*expr.Col)
		found = found || ok && w.has(c.ID)
		return !found
	})
	return found
}

// define takes the WINDOW clause: 3591 for a name that comes twice.
func (w *winScope) define(list []ast.WindowSpec) error {
	for i := range list {
		if w.find(list[i].Name.O) != nil {
			return sqlerr.WindowDuplicate(list[i].Name.O)
		}
		w.named = append(w.named, &namedWindow{def: &list[i]})
	}
	return nil
}

func (w *winScope) find(name string) *namedWindow {
	for _, n := range w.named {
		if strings.EqualFold(n.def.Name.O, name) {
			return n
		}
	}
	return nil
}

// over binds the window of OVER.
func (w *winScope) over(sc *scope, def *ast.WindowSpec) (*windowSpec, error) {
	if def.OnlyAlias {
		return w.byName(sc, def.Name.O)
	}
	return w.bind(sc, def, unnamedWindow)
}

// byName is a window of the WINDOW clause: 3579 if it has none of that name, 3580
// for one that is built on itself.
func (w *winScope) byName(sc *scope, name string) (*windowSpec, error) {
	n := w.find(name)
	if n == nil {
		return nil, sqlerr.WindowUndefined(name)
	}
	if n.busy {
		return nil, sqlerr.WindowCircularity()
	}
	if n.spec == nil {
		n.busy = true
		var err error
		if n.spec, err = w.bind(sc, n.def, n.def.Name.O); err != nil {
			return nil, err
		}
		n.busy = false
	}
	return n.spec, nil
}

// bind binds a definition, which may begin with another window's name.
func (w *winScope) bind(sc *scope, def *ast.WindowSpec, name string) (*windowSpec, error) {
	s := &windowSpec{name: name}
	if def.Ref.O != "" {
		parent, err := w.byName(sc, def.Ref.O)
		if err != nil {
			return nil, err
		}
		switch {
		case def.PartitionBy != nil:
			return nil, sqlerr.WindowChildPartition()
		case parent.frame.Explicit:
			return nil, sqlerr.WindowInheritFrame(parent.name)
		case def.OrderBy != nil && parent.hasOrder:
			return nil, sqlerr.WindowRedefineOrder(name, parent.name)
		}
		s.partition, s.order, s.hasOrder = parent.partition, parent.order, parent.hasOrder
	}
	inner := sc.insideWindow(name)
	if def.PartitionBy != nil {
		inner.clause = clausePartition
		for _, item := range def.PartitionBy.Items {
			if err := noDirection(item); err != nil {
				return nil, err
			}
			e, err := windowKey(inner, item)
			if err != nil {
				return nil, err
			}
			if !expr.IsConst(e) {
				s.partition = append(s.partition, e)
			}
		}
	}
	if def.OrderBy != nil {
		inner.clause = clauseWindowOrder
		s.hasOrder = true
		for _, item := range def.OrderBy.Items {
			e, err := windowKey(inner, item)
			if err != nil {
				return nil, err
			}
			if !expr.IsConst(e) {
				s.order = append(s.order, logical.SortKey{Expr: e, Desc: item.Desc})
			}
		}
	}
	return s, w.bindFrame(inner, s, def)
}

func windowKey(sc *scope, item *ast.ByItem) (expr.Expr, error) {
	if p, ok := listItem(item.Expr).(*ast.PositionExpr); ok && p.P == nil {
		return nil, sqlerr.WindowPosition(sc.inWindow)
	}
	e, err := sc.b.value(sc, item.Expr)
	if err == nil && e.Type().ID == schema.TypeGeometry {
		err = sqlerr.NotSupported("geometry in a window")
	}
	return e, err
}

// bindFrame gives s its frame. Without one it reaches from the first row to
// the peers of the current one, which without an order is the whole partition.
func (w *winScope) bindFrame(sc *scope, s *windowSpec, def *ast.WindowSpec) error {
	s.frame = expr.Frame{Window: s.name, Range: true, End: expr.Bound{Kind: expr.CurrentRow}}
	f := def.Frame
	if f == nil {
		return nil
	}
	if f.Type == ast.Groups {
		return sqlerr.NotSupported("GROUPS")
	}
	fr := &s.frame
	fr.Explicit, fr.Range = true, f.Type == ast.Ranges
	bound := func(n *ast.FrameBound) (expr.Bound, error) {
		return w.bound(sc, s, n)
	}
	var err error
	switch {
	case f.Extent.Start.Type == ast.Following && f.Extent.Start.UnBounded:
		return sqlerr.WindowFrameStart(s.name)
	case f.Extent.End.Type == ast.Preceding && f.Extent.End.UnBounded:
		return sqlerr.WindowFrameEnd(s.name)
	}
	if fr.Start, err = bound(&f.Extent.Start); err != nil {
		return err
	}
	if fr.End, err = bound(&f.Extent.End); err != nil {
		return err
	}
	if fr.Start.Kind > fr.End.Kind {
		return sqlerr.WindowFrameIllegal(s.name)
	}
	return w.rangeBounds(s, def)
}

// bound binds an end of a frame: 3590, 3596.
func (w *winScope) bound(sc *scope, s *windowSpec, n *ast.FrameBound) (expr.Bound, error) {
	b := expr.Bound{Kind: boundKind(n)}
	if n.Expr == nil {
		return b, nil
	}
	e, err := sc.b.value(sc, n.Expr)
	if err != nil {
		return b, err
	}
	b.Offset = e
	if n.Unit != ast.TimeUnitInvalid {
		b.Unit = strings.ToLower(n.Unit.String())
		if !s.frame.Range {
			return b, sqlerr.WindowRowsInterval(s.name)
		}
	}
	if !expr.IsFixed(e) {
		return b, sqlerr.WindowBoundNotConstant(s.name)
	}
	return b, nil
}

func boundKind(n *ast.FrameBound) expr.BoundKind {
	switch {
	case n.Type == ast.CurrentRow:
		return expr.CurrentRow
	case n.Type == ast.Preceding && n.UnBounded:
		return expr.UnboundedPreceding
	case n.Type == ast.Preceding:
		return expr.Preceding
	case n.UnBounded:
		return expr.UnboundedFollowing
	}
	return expr.Following
}

// rangeBounds completes bounds with offsets: 3587 unless there is one key.
func (w *winScope) rangeBounds(s *windowSpec, def *ast.WindowSpec) error {
	fr := &s.frame
	for _, b := range []*expr.Bound{&fr.Start, &fr.End} {
		if b.Offset == nil {
			continue
		}
		if fr.Range {
			if len(s.order) != 1 {
				return sqlerr.WindowRangeOrderType(s.name)
			}
			fr.Desc = s.order[0].Desc
			if err := fr.KeyBound(w.k.b.be, s.order[0].Expr, b); err != nil {
				return err
			}
		}
		if _, literal := b.Offset.(*expr.Const); literal {
			if err := b.Check(&expr.Ctx{}, fr); err != nil {
				return err
			}
		}
	}
	return nil
}

// bindWindows checks the named windows that nothing uses.
func (k *block) bindWindows() error {
	sc := k.scope(clauseField)
	sc.agg = &k.agg
	for _, n := range k.win.named {
		if _, err := k.win.byName(sc, n.def.Name.O); err != nil {
			return err
		}
	}
	return nil
}

// keepUsed drops the calls that the select list does not read: those of an
// ORDER BY that has no meaning.
func (k *block) keepUsed() {
	var calls []winCall
	var cols []logical.Column
	for i, c := range k.win.cols {
		one := winScope{cols: k.win.cols[i : i+1]}
		if slices.ContainsFunc(k.fields, func(f field) bool { return one.uses(f.expr) }) {
			calls, cols = append(calls, k.win.calls[i]), append(cols, c)
		}
	}
	k.win.calls, k.win.cols = calls, cols
}

// groupWindows rewrites the calls over the groups.
func (g *grouping) groupWindows() error {
	over := func(e expr.Expr) (expr.Expr, error) { return g.rewrite(e, 1, "SELECT list") }
	specs := map[*windowSpec]*windowSpec{}
	for i := range g.k.win.calls {
		c := &g.k.win.calls[i]
		f, err := expr.MapWindow(c.f, over)
		if err != nil {
			return err
		}
		if specs[c.spec] == nil {
			s := *c.spec
			s.partition, s.order = slices.Clone(s.partition), slices.Clone(s.order)
			for j := range s.partition {
				if s.partition[j], err = over(s.partition[j]); err != nil {
					return err
				}
			}
			for j := range s.order {
				if s.order[j].Expr, err = over(s.order[j].Expr); err != nil {
					return err
				}
			}
			specs[c.spec] = &s
		}
		c.f, c.spec = f, specs[c.spec]
	}
	return nil
}

// windows puts the Window nodes over node, one for each pair of partitions and
// order. The one with the most keys comes first and those whose keys begin its
// order follow, so that they need no sort of their own.
func (k *block) windows(node logical.Node) logical.Node {
	var list []*logical.Window
	var keys []*windowSpec
	for i, c := range k.win.calls {
		at := slices.IndexFunc(keys, c.spec.equals)
		if at < 0 {
			at = len(list)
			list, keys = append(list, &logical.Window{PartitionBy: slices.Clone(c.spec.partition), OrderBy: slices.Clone(c.spec.order)}), append(keys, c.spec)
		}
		list[at].Funcs, list[at].Cols = append(list[at].Funcs, c.f), append(list[at].Cols, k.win.cols[i])
	}
	if len(list) == 0 {
		return node
	}
	node = k.windowKeys(node, list)
	slices.SortStableFunc(list, func(a, b *logical.Window) int {
		return len(b.PartitionBy) + len(b.OrderBy) - len(a.PartitionBy) - len(a.OrderBy)
	})
	for len(list) > 0 {
		first := list[0]
		var rest []*logical.Window
		node = stack(first, node)
		for _, w := range list[1:] {
			if w.Follows(first) {
				node = stack(w, node)
			} else {
				rest = append(rest, w)
			}
		}
		list = rest
	}
	return node
}

func stack(w *logical.Window, input logical.Node) logical.Node {
	w.Input = input
	return w
}

// windowKeys computes the keys that are no columns below the windows and makes
// them columns there.
func (k *block) windowKeys(node logical.Node, list []*logical.Window) logical.Node {
	keys := newKeyProject(k.b, node)
	for _, w := range list {
		for i, e := range w.PartitionBy {
			w.PartitionBy[i] = keys.column(e)
		}
		for i := range w.OrderBy {
			w.OrderBy[i].Expr = keys.column(w.OrderBy[i].Expr)
		}
	}
	return keys.node()
}

// keyProject passes the columns of its input on and adds expressions by which
// rows are ordered or grouped, so that these are computed once.
type keyProject struct {
	b *binder
	p logical.Project
	n int // columns of the input
}

func newKeyProject(b *binder, input logical.Node) *keyProject {
	k := &keyProject{b: b, p: logical.Project{Input: input}}
	for _, c := range input.Columns() {
		k.p.Exprs, k.p.Cols = append(k.p.Exprs, colExpr(&c)), append(k.p.Cols, c)
	}
	k.n = len(k.p.Cols)
	return k
}

// column is e as a column.
func (k *keyProject) column(e expr.Expr) expr.Expr {
	if _, ok := e.(*expr.Col); ok {
		return e
	}
	for i := k.n; i < len(k.p.Exprs); i++ {
		if expr.Equal(k.p.Exprs[i], e) {
			return colExpr(&k.p.Cols[i])
		}
	}
	c := logical.Column{ID: k.b.newID(), Name: e.String(), T: e.Type(), Null: e.Nullable(), Hidden: true}
	k.p.Exprs, k.p.Cols = append(k.p.Exprs, e), append(k.p.Cols, c)
	return colExpr(&c)
}

// node is the input, below a project if there is something to compute.
func (k *keyProject) node() logical.Node {
	if len(k.p.Cols) == k.n {
		return k.p.Input
	}
	return &k.p
}
