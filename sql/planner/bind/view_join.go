package bind

import (
	"maps"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// openedView is a view in FROM of a change of several tables that is replaced by
// its own tables: its columns are theirs, or computed from them.
type openedView struct {
	view  *schema.View
	scans []*logical.Scan
	// node are its rows; conds hold for them, and check for those that may be
	// written through it.
	node         logical.Node
	conds, check []expr.Expr
	cols         []logical.Column
	// levels has for each table the views that show it, see viewLevels.
	levels map[*logical.Scan]viewLevels
	// changed is the table to which assignments go; nil until there is one.
	changed *logical.Scan
}

// base is the scan, and the position in it, of a column; nil for a computed one.
func (o *openedView) base(id expr.ColID) (*logical.Scan, int) {
	for _, s := range o.scans {
		if i := columnPosition(s, id); i >= 0 {
			return s, i
		}
	}
	return nil, -1
}

// openable reports a view that is an inner join of tables and such views, or
// reads one of them, without anything that makes rows of its own. tables is how
// many it has.
func (b *binder) openable(v *schema.View) (tables int, err error) {
	for _, x := range b.viewStack {
		if x.Database == v.Database && x.Name == v.Name {
			return 0, sqlerr.ViewRecursive(v.Database, v.Name)
		}
	}
	b.viewStack = append(b.viewStack, v)
	defer func() { b.viewStack = b.viewStack[:len(b.viewStack)-1] }()
	n, err := b.viewQuery(v)
	if err != nil {
		return 0, err
	}
	s, ok := n.(*ast.SelectStmt)
	if !ok || v.Algorithm == "TEMPTABLE" || s.Kind != ast.SelectStmtKindSelect || s.Distinct || s.GroupBy != nil || s.Having != nil ||
		s.Limit != nil || s.With != nil || len(s.WindowSpecs) > 0 || s.From == nil {
		return 0, nil
	}
	defer b.enterView(v)()
	return b.openableFrom(s.From.TableRefs)
}

func (b *binder) openableFrom(n ast.ResultSetNode) (int, error) {
	switch x := n.(type) {
	case *ast.Join:
		left, err := b.openableFrom(x.Left)
		if err != nil || left == 0 || x.Right == nil {
			return left, err
		}
		right, err := b.openableFrom(x.Right)
		if err != nil || right == 0 || x.Tp == ast.LeftJoin || x.Tp == ast.RightJoin {
			return 0, err
		}
		return left + right, nil
	case *ast.TableSource:
		if _, isQuery := x.Source.(*ast.SelectStmt); isQuery {
			return 0, nil
		}
		return b.openableFrom(x.Source)
	case *ast.TableName:
		if v := b.viewNamed(x); v != nil {
			return b.openable(v)
		}
		if db, err := b.database(x.Schema.O); err != nil || b.isVirtual(db) {
			return 0, err
		}
		return 1, nil
	}
	return 0, nil
}

// joinView is the view of several tables that a change names; nil if it is
// none that can be changed.
func (b *binder) joinView(n *ast.TableName, operation string) (*schema.View, error) {
	v := b.viewNamed(n)
	if v == nil {
		return nil, nil
	}
	b.writes(v.Database, v.Name, changeRights[operation]) // or the errors below said that it is such a view
	if tables, err := b.openable(v); err != nil || tables < 2 {
		return nil, err
	}
	return v, nil
}

// openView binds a view as its tables with its condition; nil when it has to
// be a derived table.
func (b *binder) openView(v *schema.View, alias string) (*source, error) {
	if tables, err := b.openable(v); err != nil || tables == 0 {
		return nil, err
	}
	b.viewStack = append(b.viewStack, v)
	defer func() { b.viewStack = b.viewStack[:len(b.viewStack)-1] }()
	n, err := b.viewQuery(v)
	if err != nil {
		return nil, err
	}
	leave := b.enterView(v)
	src, err := b.openBlock(v, n.(*ast.SelectStmt), alias)
	leave()
	if err != nil {
		return nil, viewError(v, err)
	}
	if src != nil {
		b.useView(v)
	}
	return src, nil
}

func (b *binder) openBlock(v *schema.View, s *ast.SelectStmt, alias string) (*source, error) {
	k := &block{b: b, s: s, sc: b.scope(nil, nil, clauseField)}
	outer := b.opening
	b.opening = k.sc
	from, err := b.from(k.sc, s.From.TableRefs)
	b.opening = outer
	if err != nil {
		return nil, err
	}
	k.src, k.sc.src, k.win.k = from, from, k
	o := &openedView{view: v, levels: map[*logical.Scan]viewLevels{}}
	below := map[logical.Node]bool{}
	for _, t := range from.tables {
		switch {
		case t.scan != nil:
			o.scans = append(o.scans, t.scan)
			o.levels[t.scan] = viewLevels{{right: t.right, ids: columnIDs(t.scan.Cols)}}
		case t.opened != nil:
			o.scans = append(o.scans, t.opened.scans...)
			o.conds = append(o.conds, t.opened.conds...)
			o.check = append(o.check, t.opened.check...)
			below[t.opened.node] = true
			maps.Copy(o.levels, t.opened.levels)
		default:
			return nil, nil
		}
	}
	own := joinConditions(nil, from.node, below)
	node := from.node
	if s.Where != nil {
		e, err := b.condition(k.scope(clauseWhere), s.Where)
		if err != nil {
			return nil, err
		}
		conds := expr.SplitAnd(nil, e)
		for _, scan := range o.scans {
			if b.subqueryScans(conds, scan.Table) {
				return nil, nil
			}
		}
		node = &logical.Filter{Input: node, Conds: conds}
		own = append(own, conds...)
	}
	switch v.Check {
	case "CASCADED":
		o.check = append(append([]expr.Expr(nil), o.conds...), own...)
	case "LOCAL":
		o.check = append(o.check, own...)
	}
	o.node, o.conds = node, append(o.conds, own...)
	if err := k.selectList(); err != nil {
		return nil, err
	}
	if len(k.agg.calls) > 0 || len(k.win.calls) > 0 {
		return nil, nil
	}
	cols := make([]logical.Column, len(k.fields))
	for i := range k.fields {
		f := &k.fields[i]
		cols[i] = logical.Column{Name: f.name, T: f.expr.Type(), Null: f.expr.Nullable()}
		if i < len(v.ColumnNames) {
			cols[i].Name = v.ColumnNames[i]
		}
		if c, ok := f.expr.(*expr.Col); ok {
			cols[i].ID = c.ID
			continue
		}
		cols[i].ID = b.newID()
		if b.computed == nil {
			b.computed = map[expr.ColID]expr.Expr{}
		}
		b.computed[cols[i].ID] = f.expr
	}
	src := derivedSource(node, cols, alias)
	t := src.tables[0]
	t.db, t.derived, t.opened = v.Database, nil, o
	o.cols = cols
	return src, nil
}

// joinConditions appends the conditions of the joins of n, down to the nodes of
// below.
func joinConditions(list []expr.Expr, n logical.Node, below map[logical.Node]bool) []expr.Expr {
	if below[n] {
		return list
	}
	if j, ok := n.(*logical.Join); ok {
		list = append(list, j.On...)
	}
	for _, in := range n.Inputs() {
		list = joinConditions(list, in, below)
	}
	return list
}

// rowCheck is what rows must fulfil that are written through the view, over its
// columns; nil for nothing.
func (o *openedView) rowCheck(b *binder) *logical.RowCheck {
	if len(o.check) == 0 {
		return nil
	}
	out := &logical.RowCheck{DB: o.view.Database, View: o.view.Name}
	for _, c := range o.check {
		out.Conds = append(out.Conds, b.ownSubqueries(c))
	}
	return out
}

// columnExpr is a column of a source, or its replacement in an opened view.
func (b *binder) columnExpr(c *logical.Column) expr.Expr {
	b.reading(c)
	if e := b.computed[c.ID]; e != nil {
		return e
	}
	if t, ok := b.digits[c.ID]; ok {
		x := colExpr(c)
		x.T = t
		return expr.NewShown(x, c.T)
	}
	return colExpr(c)
}

// assignTo is the table and the column of it that an assignment through a table
// of a join changes: 1288, 1348, 1393.
func (b *binder) assignTo(src *source, ref *tableRef, name *ast.ColumnName) (*logical.Scan, ast.CIStr, error) {
	if ref.opened == nil {
		if ref.scan == nil {
			return nil, name.Name, sqlerr.NonUpdatableTable(ref.alias, "UPDATE")
		}
		return ref.scan, name.Name, nil
	}
	o := ref.opened
	c, err := src.find(name.Schema.O, name.Table.O, name.Name.O, clauseField)
	if err != nil {
		return nil, name.Name, err
	}
	scan, at := o.base(c.ID)
	switch {
	case scan == nil:
		return nil, name.Name, sqlerr.NonUpdatableColumn(c.Name)
	case o.changed != nil && o.changed != scan:
		return nil, name.Name, sqlerr.ViewMultiUpdate(o.view.Database, o.view.Name)
	}
	o.changed = scan
	return scan, ast.NewCIStr(scan.Table.Columns[at].Name), nil
}

// deleteFrom is the table of which a DELETE through a table of a join removes
// rows: 1288, 1395.
func deleteFrom(ref *tableRef) (*logical.Scan, error) {
	switch {
	case ref.opened != nil && len(ref.opened.scans) == 1:
		return ref.opened.scans[0], nil
	case ref.opened != nil:
		return nil, sqlerr.ViewDeleteMerged(ref.opened.view.Database, ref.opened.view.Name)
	case ref.scan == nil:
		return nil, sqlerr.NonUpdatableTable(ref.alias, "DELETE")
	}
	return ref.scan, nil
}

// insertIntoJoin is the target of an INSERT through a view of several tables:
// the one table that all the columns belong to. 1393, 1394.
func (b *binder) insertIntoJoin(v *schema.View, n *ast.TableName, columns []*ast.ColumnName) (*viewTarget, error) {
	right := b.writes(v.Database, v.Name, priv.Insert)
	if len(columns) == 0 {
		return nil, sqlerr.ViewNoInsertFieldList(v.Database, v.Name)
	}
	src, err := b.openView(v, n.Name.O)
	if err != nil {
		return nil, err
	}
	if src == nil {
		return nil, sqlerr.NonInsertableTable(n.Name.O, "INSERT")
	}
	b.attach(right, src)
	ref := src.tables[0]
	o := ref.opened
	seen := map[expr.ColID]bool{}
	for i := range ref.cols {
		if scan, _ := o.base(ref.cols[i].ID); scan == nil || seen[ref.cols[i].ID] {
			return nil, sqlerr.NonInsertableTable(n.Name.O, "INSERT")
		}
		seen[ref.cols[i].ID] = true
	}
	for _, name := range columns {
		c, err := src.find(name.Schema.O, name.Table.O, name.Name.O, clauseField)
		if err != nil {
			return nil, err
		}
		if c == nil {
			return nil, sqlerr.UnknownColumn(qualified(name.Schema.O, name.Table.O, name.Name.O), clauseField)
		}
		scan, _ := o.base(c.ID)
		if o.changed != nil && o.changed != scan {
			return nil, sqlerr.ViewMultiUpdate(v.Database, v.Name)
		}
		o.changed = scan
	}
	t := &viewTarget{view: v, alias: n.Name.O, scan: o.changed, check: o.check, levels: o.levels[o.changed]}
	for i, c := range t.check {
		t.check[i] = withoutOthers(c, t.scan)
	}
	for i := range ref.cols {
		c := viewColumn{name: ref.cols[i].Name, expr: colExpr(&ref.cols[i])}
		c.base = columnPosition(o.changed, ref.cols[i].ID)
		t.cols = append(t.cols, c)
	}
	return t, nil
}

// withoutOthers is a condition where there are no rows of other tables than s:
// their columns are NULL.
func withoutOthers(c expr.Expr, s *logical.Scan) expr.Expr {
	return expr.Map(c, func(x expr.Expr) expr.Expr {
		if col, ok := x.(*expr.Col); ok && columnPosition(s, col.ID) < 0 {
			return &expr.Const{T: col.T, Text: "NULL"}
		}
		return x
	})
}

// isNamed reports whether a view in a change of several tables is meant by a
// name and a database.
func (o *openedView) isNamed(alias, db, current string) bool {
	if !strings.EqualFold(alias, o.view.Name) {
		return db == ""
	}
	if db == "" {
		db = current
	}
	return strings.EqualFold(db, o.view.Database)
}
