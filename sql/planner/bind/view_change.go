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

// viewTarget is a view through which the rows of one table can be changed:
// each of its rows is a row of that table.
type viewTarget struct {
	view *schema.View
	// alias is the view's name in the statement.
	alias string
	scan  *logical.Scan
	cols  []viewColumn
	// conds hold for the rows of the view, check for those that may be written
	// through it (WITH CHECK OPTION). Both read the scan's columns.
	conds, check []expr.Expr
	// alive hides rows that have expired.
	alive  []expr.Expr
	levels viewLevels
}

// viewColumn is a column of an updatable view.
type viewColumn struct {
	name string
	// base is the column of the table that it is, -1 for a computed one; expr
	// reads the scan's columns.
	base int
	expr expr.Expr
}

// viewTarget finds out what changes through a view mean; nil when it is not
// updatable.
func (b *binder) viewTarget(v *schema.View) (*viewTarget, error) {
	for _, x := range b.viewStack {
		if x.Database == v.Database && x.Name == v.Name {
			return nil, sqlerr.ViewRecursive(v.Database, v.Name)
		}
	}
	b.viewStack = append(b.viewStack, v)
	defer func() { b.viewStack = b.viewStack[:len(b.viewStack)-1] }()
	n, err := b.viewQuery(v)
	if err != nil {
		return nil, err
	}
	s, ok := n.(*ast.SelectStmt)
	if !ok || v.Algorithm == "TEMPTABLE" || s.Kind != ast.SelectStmtKindSelect || s.Distinct || s.GroupBy != nil || s.Having != nil ||
		s.Limit != nil || s.With != nil || len(s.WindowSpecs) > 0 {
		return nil, nil
	}
	src, name := singleTable(s.From)
	if name == nil {
		return nil, nil
	}
	leave := b.enterView(v)
	defer leave()
	t, err := b.viewBlock(v, s, src, name)
	if err != nil {
		return nil, viewError(v, err)
	}
	if t != nil {
		b.useView(v)
	}
	return t, nil
}

// viewBlock binds the one block of an updatable view.
func (b *binder) viewBlock(v *schema.View, s *ast.SelectStmt, ts *ast.TableSource, name *ast.TableName) (*viewTarget, error) {
	out, from, with, err := b.viewBase(v, ts, name)
	if out == nil || err != nil {
		return nil, err
	}
	k := &block{b: b, s: s, sc: b.scope(nil, nil, clauseField), src: from}
	var own []expr.Expr
	if s.Where != nil {
		e, err := b.condition(k.scope(clauseWhere), s.Where)
		if err != nil {
			return nil, err
		}
		for _, c := range expr.SplitAnd(nil, e) {
			own = append(own, substituted(c, with))
		}
	}
	if len(s.WindowSpecs) > 0 {
		return nil, nil
	}
	k.win.k = k
	if err := k.selectList(); err != nil {
		return nil, err
	}
	if len(k.agg.calls) > 0 || len(k.win.calls) > 0 || b.subqueryScans(own, out.scan.Table) {
		return nil, nil
	}
	cols := make([]viewColumn, len(k.fields))
	for i := range k.fields {
		f := &k.fields[i]
		cols[i] = viewColumn{name: f.name, base: -1, expr: substituted(f.expr, with)}
		if i < len(v.ColumnNames) {
			cols[i].name = v.ColumnNames[i]
		}
		if c, ok := cols[i].expr.(*expr.Col); ok {
			cols[i].base = columnPosition(out.scan, c.ID)
		}
	}
	out.cols = cols
	switch v.Check {
	case "CASCADED":
		out.check = append(append([]expr.Expr(nil), out.conds...), own...)
	case "LOCAL":
		out.check = append(out.check, own...)
	}
	out.conds = append(out.conds, own...)
	return out, nil
}

// viewBase is what an updatable view is made of: a table, or another such
// view. with are the expressions of from's columns over the scan.
func (b *binder) viewBase(v *schema.View, ts *ast.TableSource, name *ast.TableName) (out *viewTarget, from *source, with map[expr.ColID]expr.Expr, err error) {
	alias := ts.AsName.O
	if alias == "" {
		alias = name.Name.O
	}
	if inner := b.viewNamed(name); inner != nil {
		right := b.mentions(inner.Database, inner.Name)
		if out, err = b.viewTarget(inner); out == nil || err != nil {
			return nil, nil, nil, err
		}
		out.shownAs(right)
		with = map[expr.ColID]expr.Expr{}
		cols := make([]logical.Column, len(out.cols))
		for i, c := range out.cols {
			cols[i] = logical.Column{ID: b.newID(), Name: c.name, T: c.expr.Type(), Null: c.expr.Nullable()}
			with[cols[i].ID] = c.expr
		}
		from = derivedSource(out.scan, cols, alias)
		from.tables[0].with = with
		from.tables[0].db = inner.Database
		b.attach(right, from)
		out.view = v
		return out, from, with, nil
	}
	db, err := b.database(name.Schema.O)
	if err != nil || b.isVirtual(db) {
		return nil, nil, nil, err
	}
	right := b.mentions(db, name.Name.O)
	t, err := b.table(name.Schema.O, name.Name.O)
	if err != nil {
		return nil, nil, nil, err
	}
	if from, err = b.scan(t, alias, name); err != nil {
		return nil, nil, nil, err
	}
	b.attach(right, from)
	out = &viewTarget{view: v, scan: from.tables[0].scan}
	out.levels = viewLevels{{right: right, ids: columnIDs(out.scan.Cols)}}
	if f, ok := from.node.(*logical.Filter); ok {
		out.alive = f.Conds
	}
	return out, from, nil, nil
}

func substituted(e expr.Expr, with map[expr.ColID]expr.Expr) expr.Expr {
	if len(with) == 0 {
		return e
	}
	return expr.Map(e, func(x expr.Expr) expr.Expr {
		if c, ok := x.(*expr.Col); ok {
			if by := with[c.ID]; by != nil {
				return by
			}
		}
		return x
	})
}

func columnPosition(s *logical.Scan, id expr.ColID) int {
	for i := range s.Cols {
		if s.Cols[i].ID == id {
			return i
		}
	}
	return -1
}

// insertable reports whether rows can be inserted: each column is another one
// of the table.
func (t *viewTarget) insertable() bool {
	seen := map[int]bool{}
	for _, c := range t.cols {
		if c.base < 0 || seen[c.base] {
			return false
		}
		seen[c.base] = true
	}
	return true
}

// find is the number of the column of that name, -1 if it has none.
func (t *viewTarget) find(db, table, name string) int {
	if table != "" && !strings.EqualFold(table, t.alias) || db != "" && !strings.EqualFold(db, t.view.Database) {
		return -1
	}
	for i := range t.cols {
		if strings.EqualFold(t.cols[i].name, name) {
			return i
		}
	}
	return -1
}

// base is the table's column that a name of the view means: 1054, 1348.
func (t *viewTarget) base(c *ast.ColumnName) (int, error) {
	i := t.find(c.Schema.O, c.Table.O, c.Name.O)
	if i < 0 {
		return -1, sqlerr.UnknownColumn(qualified(c.Schema.O, c.Table.O, c.Name.O), clauseField)
	}
	if t.cols[i].base < 0 {
		return -1, sqlerr.NonUpdatableColumn(t.cols[i].name)
	}
	return t.cols[i].base, nil
}

// changeThrough is the view that the one table of a change names, ready to be
// changed; nil for a table. 1288.
func (b *binder) changeThrough(n *ast.TableName, alias, operation string) (*viewTarget, error) {
	v := b.viewNamed(n)
	if v == nil {
		return nil, nil
	}
	if alias == "" {
		alias = n.Name.O
	}
	right := b.mentions(v.Database, v.Name)
	right.changingRows(changeRights[operation])
	t, err := b.viewTarget(v)
	if err != nil {
		return nil, err
	}
	if t == nil {
		return nil, sqlerr.NonUpdatableTable(alias, operation)
	}
	t.alias = alias
	t.shownAs(right)
	t.levels.changingRows(changeRights[operation])
	return t, nil
}

// input are the rows of the view as UPDATE and DELETE want them: the columns
// of the table, then what is computed.
func (t *viewTarget) input(b *binder) *changeInput {
	t.scan.Lock = logical.Lock{Strength: logical.LockForUpdate}
	in := &changeInput{node: t.scan, scan: t.scan, through: t}
	if conds := append(slices.Clip(t.alive), t.conds...); len(conds) > 0 {
		in.node = &logical.Filter{Input: t.scan, Conds: conds}
	}
	ids := t.scan.Cols
	p := &logical.Project{Input: in.node}
	for _, c := range t.cols {
		if c.base < 0 {
			p.Exprs = append(p.Exprs, c.expr)
			p.Cols = append(p.Cols, logical.Column{ID: b.newID(), Name: c.name, T: c.expr.Type(), Null: c.expr.Nullable()})
		}
	}
	if len(p.Cols) > 0 {
		computed, exprs := p.Cols, p.Exprs
		p.Cols, p.Exprs = nil, nil
		for i := range t.scan.Cols {
			c := t.scan.Cols[i]
			p.Exprs = append(p.Exprs, colExpr(&t.scan.Cols[i]))
			c.ID = b.newID()
			p.Cols = append(p.Cols, c)
		}
		ids = p.Cols
		p.Cols, p.Exprs = append(append([]logical.Column(nil), p.Cols...), computed...), append(p.Exprs, exprs...)
		in.node = p
	}
	var cols []logical.Column
	next := len(t.scan.Cols)
	for _, c := range t.cols {
		var col logical.Column
		if c.base >= 0 {
			col = ids[c.base]
		} else {
			col = p.Cols[next]
			next++
		}
		col.Name, col.Hidden, col.Invisible = c.name, false, false
		cols = append(cols, col)
	}
	src := derivedSource(in.node, cols, t.alias)
	src.tables[0].db = t.view.Database
	b.attach(t.levels[len(t.levels)-1].right, src)
	in.sc = b.scope(nil, nil, clauseField)
	in.sc.src = src
	return in
}

// rowCheck is what a written row must fulfil, over the row in table order; nil
// for nothing.
func (t *viewTarget) rowCheck(b *binder) *logical.RowCheck {
	if t == nil || len(t.check) == 0 {
		return nil
	}
	out := &logical.RowCheck{DB: t.view.Database, View: t.view.Name}
	for _, c := range t.check {
		out.Conds = append(out.Conds, expr.Map(b.ownSubqueries(c), func(x expr.Expr) expr.Expr {
			if col, ok := x.(*expr.Col); ok {
				placed := *col
				placed.Index = columnPosition(t.scan, col.ID)
				return &placed
			}
			return x
		}))
	}
	return out
}

// ownSubqueries gives the check of a condition subqueries of its own: those of
// the condition on the rows that are read may become joins.
func (b *binder) ownSubqueries(c expr.Expr) expr.Expr {
	return expr.Map(c, func(x expr.Expr) expr.Expr {
		s, ok := x.(*expr.Subquery)
		if !ok {
			return x
		}
		own := *s
		own.ID = len(b.subqueries)
		b.subqueries = append(b.subqueries, b.subqueries[s.ID])
		return &own
	})
}

// subqueryScans reports whether a subquery of a condition reads the table; such
// a view is not updatable.
func (b *binder) subqueryScans(conds []expr.Expr, table *schema.Table) bool {
	found := false
	var scans func(n logical.Node)
	scans = func(n logical.Node) {
		switch x := n.(type) {
		case nil:
		case *logical.Scan:
			found = found || x.Table == table
		case *logical.CTEScan:
			found = true // rare, and it may read anything
		default:
			for _, in := range n.Inputs() {
				scans(in)
			}
		}
	}
	for _, c := range conds {
		expr.Walk(c, func(x expr.Expr) bool {
			if s, ok := x.(*expr.Subquery); ok {
				scans(b.subqueries[s.ID])
			}
			return true
		})
	}
	return found
}

// insertInto is the target of an INSERT through a view: 1288, 1471.
func (b *binder) insertInto(n *ast.TableName, columns []*ast.ColumnName) (*viewTarget, error) {
	if v, err := b.joinView(n, "INSERT"); err != nil {
		return nil, err
	} else if v != nil {
		return b.insertIntoJoin(v, n, columns)
	}
	t, err := b.changeThrough(n, "", "INSERT")
	if err != nil {
		if sqlerr.IsNonUpdatableTable(err) {
			return nil, sqlerr.NonInsertableTable(n.Name.O, "INSERT")
		}
		return nil, err
	}
	if t != nil && !t.insertable() {
		return nil, sqlerr.NonInsertableTable(n.Name.O, "INSERT")
	}
	return t, nil
}

// insertColumns are the positions of the columns of an INSERT through a view.
func (t *viewTarget) insertColumns(cols []*ast.ColumnName, lists [][]ast.ExprNode) ([]int, error) {
	out := []int{}
	if len(cols) == 0 {
		if len(lists) > 0 && len(lists[0]) == 0 {
			return out, nil
		}
		for _, c := range t.cols {
			out = append(out, c.base)
		}
		return out, nil
	}
	seen := map[int]bool{}
	for _, c := range cols {
		i, err := t.base(c)
		if err != nil {
			return nil, err
		}
		if seen[i] {
			return nil, sqlerr.FieldSpecifiedTwice(c.Name.O)
		}
		seen[i] = true
		out = append(out, i)
	}
	return out, nil
}

// checkableView is 1368 for a check option on a view that is not updatable.
func (b *binder) checkableView(v *schema.View) error {
	t, err := newBinder(b.env).viewTarget(v)
	if err != nil {
		return err
	}
	tables, err := newBinder(b.env).openable(v)
	if err != nil {
		return err
	}
	if t == nil && tables < 2 {
		return sqlerr.ViewNonUpdatableCheck(v.Database, v.Name)
	}
	return nil
}
