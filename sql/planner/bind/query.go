package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// result is a bound query: cols are node's columns.
type result struct {
	node logical.Node
	cols []logical.Column
}

// field is an item of a select list.
type field struct {
	name  string // as the result shows it
	alias string // AS name, "" if none
	expr  expr.Expr
	col   *logical.Column // the column it is, for headers; nil for computed ones
}

// query binds a SELECT, VALUES, TABLE or set operation. sc carries the CTEs
// and the outer scope; it has no columns of its own.
func (b *binder) query(sc *scope, n ast.ResultSetNode) (*result, error) {
	done, err := b.nest()
	if err != nil {
		return nil, err
	}
	defer done()
	switch n := n.(type) {
	case *ast.SelectStmt:
		return b.selectStmt(sc, n)
	case *ast.SetOprStmt:
		return b.setOprStmt(sc, n)
	case *ast.SubqueryExpr:
		return b.query(sc, n.Query)
	}
	return nil, internalf("query %T", n)
}

// block is the state of one SELECT.
type block struct {
	b      *binder
	sc     *scope // FROM
	src    *source
	s      *ast.SelectStmt
	fields []field
	agg    aggScope
	win    winScope
	group  []expr.Expr
	where  []expr.Expr
	having []expr.Expr
	order  []orderKey
	g      *grouping
}

// orderKey is a key of ORDER BY; field is the position in the select list of
// the item that it is, -1 if none.
type orderKey struct {
	expr  expr.Expr
	desc  bool
	field int
}

func (b *binder) selectStmt(env *scope, s *ast.SelectStmt) (*result, error) {
	if err := checkSelect(s); err != nil {
		return nil, err
	}
	b.blocks++
	defer func() { b.blocks-- }()
	sc := b.scope(env.outer, append([]*cte(nil), env.ctes...), clauseField)
	if err := b.withClause(sc, s.With, s); err != nil {
		return nil, err
	}
	if s.Kind == ast.SelectStmtKindValues {
		return b.valuesStmt(sc, s)
	}
	defer b.hints(s.TableHints)()
	k := &block{b: b, s: s, sc: sc}
	k.win.k, k.agg.grouped = k, s.GroupBy != nil
	if err := k.bind(); err != nil {
		return nil, err
	}
	return k.build()
}

// checkSelect refuses what has no meaning yet.
func checkSelect(s *ast.SelectStmt) error {
	switch {
	case s.SelectIntoOpt != nil:
		return sqlerr.NotSupported("SELECT … INTO OUTFILE")
	}
	return nil
}

// bind binds all clauses, in MySQL's order.
func (k *block) bind() error {
	rights, before := k.b.rights, len(k.b.rights.later)
	defer func() { rights.flush(before) }()
	if err := k.from(); err != nil {
		return err
	}
	where := rights.used()
	if k.s.Where != nil {
		w := k.scope(clauseWhere)
		e, err := k.b.condition(w, k.s.Where)
		if err != nil {
			return err
		}
		k.where = expr.SplitAnd(nil, e)
	}
	if k.hasRollup() {
		// Above the groups every column may be NULL: id IS NULL is not always false.
		k.src.markNull(k.src.ids())
	}
	list := rights.used()
	if err := k.win.define(k.s.WindowSpecs); err != nil {
		return err
	}
	if err := k.selectList(); err != nil {
		return err
	}
	rights.earlier(list, where)
	rights.flush(before)
	if err := k.groupBy(); err != nil {
		return err
	}
	if err := k.havingClause(); err != nil {
		return err
	}
	if err := k.orderBy(k.s.OrderBy); err != nil {
		return err
	}
	return k.bindWindows()
}

func (k *block) scope(clause string) *scope {
	c := *k.sc
	c.clause, c.src, c.rollup, c.where = clause, k.src, k.hasRollup(), k.where
	return &c
}

func (k *block) from() error {
	if k.s.From == nil || k.s.From.TableRefs == nil {
		k.src = &source{node: &logical.Values{Rows: [][]expr.Expr{{}}}}
		return nil
	}
	src, err := k.b.from(k.sc, k.s.From.TableRefs)
	if err != nil {
		return err
	}
	k.src = src
	k.b.orderJoins(src)
	if k.s.SelectStmtOpts != nil && k.s.SelectStmtOpts.StraightJoin {
		straighten(src.node)
	}
	return k.b.lock(src, k.s.LockInfo)
}

func straighten(n logical.Node) {
	if j, ok := n.(*logical.Join); ok {
		j.Straight = true
		straighten(j.Left)
		straighten(j.Right)
	}
}

// selectList expands * and binds the fields.
func (k *block) selectList() error {
	sc := k.scope(clauseField)
	sc.agg, sc.win = &k.agg, &k.win
	sc.fallback = k.earlierItem
	return k.items(sc)
}

// items binds the fields in sc.
func (k *block) items(sc *scope) error {
	starts := make([]int, 0, len(k.s.Fields.Fields))
	for i, f := range k.s.Fields.Fields {
		starts = append(starts, len(k.fields))
		if f.WildCard != nil {
			if err := k.star(f.WildCard, i); err != nil {
				return err
			}
			continue
		}
		k.b.warnAlias(f)
		e, err := k.b.value(sc, f.Expr)
		if err != nil {
			return err
		}
		fd := field{name: k.b.fieldName(f), alias: aliasOf(f), expr: e}
		if c := plainColumn(e); c != nil {
			fd.col = k.column(c.ID)
		}
		k.fields = append(k.fields, fd)
	}
	k.b.canon.fields(k.s, k.src, k.fields, starts)
	return nil
}

// earlierItem is the alias of an item before, for subqueries in the select
// list; nil if none exists.
func (k *block) earlierItem(name string) (expr.Expr, error) {
	i := slices.IndexFunc(k.fields, func(f field) bool { return strings.EqualFold(f.alias, name) })
	if i < 0 {
		for _, f := range k.s.Fields.Fields {
			if strings.EqualFold(aliasOf(f), name) {
				return nil, sqlerr.IllegalReference(name, "forward reference in item list")
			}
		}
		return nil, nil
	}
	if e := k.fields[i].expr; !k.agg.uses(e) && !k.win.uses(e) {
		return e, nil
	}
	return nil, sqlerr.IllegalReference(name, "reference to group function")
}

// column finds a column of FROM by id.
func (k *block) column(id expr.ColID) *logical.Column {
	for _, t := range k.src.tables {
		for i := range t.cols {
			if t.cols[i].ID == id {
				return &t.cols[i]
			}
		}
	}
	return nil
}

func (k *block) star(w *ast.WildCardField, pos int) error {
	if k.s.From == nil {
		return sqlerr.NoTablesUsed()
	}
	if w.Table.O == "" {
		if pos > 0 {
			// MySQL takes * only as the first item; the grammar takes it anywhere.
			return sqlerr.Parse("", "*", 1)
		}
		k.b.rights.star = true
		for i := range k.src.star {
			if !k.src.star[i].Invisible {
				k.addColumn(&k.src.star[i])
			}
		}
		k.b.rights.star = false
		return nil
	}
	found := false
	k.b.rights.star = true
	defer func() { k.b.rights.star = false }()
	for _, t := range k.src.tables {
		if !strings.EqualFold(t.alias, w.Table.O) || w.Schema.O != "" && !strings.EqualFold(t.db, w.Schema.O) {
			continue
		}
		found = true
		for i := range t.cols {
			if !t.cols[i].Hidden && !t.cols[i].Invisible {
				k.addColumn(&t.cols[i])
			}
		}
	}
	if !found {
		return sqlerr.UnknownTable(qualified(w.Schema.O, w.Table.O))
	}
	return nil
}

func (k *block) addColumn(c *logical.Column) {
	k.fields = append(k.fields, field{name: c.Name, expr: k.b.padded(k.b.columnExpr(c)), col: c})
}

// fieldName is the name that MySQL gives a select-list item: the alias, the
// name of a column as written, the content of a string, else the text.
func (b *binder) fieldName(f *ast.SelectField) string {
	if f.AsName.O != "" || emptyAlias(f) {
		return aliasOf(f)
	}
	inner := f.Expr
	for {
		p, ok := inner.(*ast.ParenthesesExpr)
		if !ok {
			break
		}
		inner = p.Expr
	}
	switch x := inner.(type) {
	case *ast.ColumnNameExpr:
		return x.Name.Name.O
	case *parser.Literal:
		if x.Kind == parser.LiteralString {
			return strings.TrimLeft(x.FirstString(), " \t\r\n")
		}
		if x.Kind == parser.LiteralNull {
			return "NULL"
		}
	case *ast.FuncCallExpr:
		if x.FnName.L == "name_const" && len(x.Args) == 2 {
			if name, ok := constName(x.Args[0]); ok {
				return name
			}
		}
	}
	text := f.OriginalText()
	if b.written != nil {
		text = b.written.AsWritten(text, f.Offset)
	}
	return strings.TrimSpace(text)
}

// aliasOf is the alias of a field, which begins with no blank.
func aliasOf(f *ast.SelectField) string { return strings.TrimLeftFunc(f.AsName.O, isBlank) }

// isBlank reports the characters that names do not begin with.
func isBlank(r rune) bool { return r <= ' ' || r == 0x7f }

// warnAlias is for the leading blanks of an alias: warnings 1466, 1474.
func (b *binder) warnAlias(f *ast.SelectField) {
	switch name := aliasOf(f); {
	case name == f.AsName.O:
	case name == "":
		b.warn(sqlerr.NameBecomesEmpty(f.AsName.O))
	default:
		b.warn(sqlerr.RemovedSpaces(f.AsName.O))
	}
}

// emptyAlias reports whether a field has an alias without a character. The tree has none
// then.
func emptyAlias(f *ast.SelectField) bool {
	text := strings.TrimSpace(f.OriginalText())
	if f.AsName.O != "" || len(text) < 3 {
		return false
	}
	rest, quotes := text[:len(text)-2], text[len(text)-2:]
	switch quotes {
	case "``":
		return true
	case "''", `""`:
		// Without AS a string may be part of the expression.
		words := strings.Fields(rest)
		return len(words) > 1 && strings.EqualFold(words[len(words)-1], "AS")
	}
	return false
}

// constName is the name that NAME_CONST(arg, …) gives.
func constName(arg ast.ExprNode) (string, bool) {
	if f, ok := arg.(*ast.FuncCallExpr); ok && len(f.Args) == 1 && strings.HasSuffix(f.FnName.L, "literal") {
		arg = f.Args[0]
	}
	l, ok := arg.(*parser.Literal)
	if !ok {
		return "", false
	}
	if l.Datum.Kind() == value.KindBytes {
		return l.GetString(), true
	}
	var b strings.Builder
	l.Format(&b)
	return b.String(), true
}

// fieldByName finds the select-list item that a name means: an alias, or a
// column without alias. -1 if none, 1052 if there are several different
// columns; of computed items the first is meant.
func (k *block) fieldByName(table, name, clause string) (int, error) {
	found := -1
	for i := range k.fields {
		f := &k.fields[i]
		match := f.alias != "" && table == "" && strings.EqualFold(f.alias, name)
		if !match && f.col != nil && (f.alias == "" || table != "") {
			match = strings.EqualFold(f.col.Name, name) && (table == "" || strings.EqualFold(f.col.Table, table))
		}
		if !match && f.alias == "" && f.col == nil && table == "" {
			match = strings.EqualFold(f.name, name)
		}
		if !match {
			continue
		}
		if f.col == nil {
			return i, nil
		}
		if found >= 0 && !expr.Equal(k.fields[found].expr, f.expr) {
			return -1, sqlerr.AmbiguousColumn(name, clause)
		}
		if found < 0 {
			found = i
		}
	}
	return found, nil
}

// groupBy: names mean columns of FROM first, then aliases.
func (k *block) groupBy() error {
	if k.s.GroupBy == nil {
		return nil
	}
	for _, item := range k.s.GroupBy.Items {
		if err := noDirection(item); err != nil {
			return err
		}
		e, err := k.groupItem(item.Expr)
		if err != nil {
			return err
		}
		k.group = append(k.group, e)
	}
	return nil
}

// noDirection refuses ASC and DESC, which the parser reads in lists that have no
// order: 1064, as in MySQL from 8.0.13 on.
func noDirection(item *ast.ByItem) error {
	switch {
	case item.Desc:
		return sqlerr.Parse("", "DESC", 1)
	case !item.NullOrder:
		return sqlerr.Parse("", "ASC", 1)
	}
	return nil
}

// listItem is an item of ORDER BY or GROUP BY without what MySQL's parser passes
// over: parentheses, and the plus signs of a number, which then is a position.
func listItem(n ast.ExprNode) ast.ExprNode {
	for {
		switch x := n.(type) {
		case *ast.ParenthesesExpr:
			n = x.Expr
			continue
		case *ast.UnaryOperationExpr:
			if p, ok := listItem(x.V).(*ast.PositionExpr); ok && x.Op == opcode.Plus {
				return p
			}
		case *parser.Literal:
			if i, ok := x.GetValue().(int64); ok {
				return &ast.PositionExpr{N: int(i)}
			}
		}
		return n
	}
}

// havingClause: names mean grouped columns, then items of the select list;
// columns of FROM only inside aggregates.
func (k *block) havingClause() error {
	if k.s.Having == nil {
		return nil
	}
	sc := k.scope(clauseHave)
	sc.agg = &k.agg
	sc.aliasOnly = true
	sc.isGrouped = func(e expr.Expr) bool {
		return slices.ContainsFunc(k.group, func(g expr.Expr) bool { return expr.Equal(g, e) }) ||
			slices.ContainsFunc(k.fields, func(f field) bool { return expr.Equal(f.expr, e) })
	}
	sc.alias = func(table, name string) (expr.Expr, bool, error) {
		for _, g := range k.group {
			if c := plainColumn(g); c != nil && strings.EqualFold(c.Name, name) && (table == "" || strings.EqualFold(c.Table, table)) {
				return g, true, nil
			}
		}
		i, err := k.fieldByName(table, name, clauseHave)
		if err != nil {
			return nil, false, err
		}
		if i >= 0 {
			if k.win.uses(k.fields[i].expr) {
				return nil, false, sqlerr.WindowAliasUse(name)
			}
			return k.fields[i].expr, true, nil
		}
		// A column that the grouped ones determine is allowed too.
		if len(k.group) > 0 {
			c, err := k.src.find("", table, name, clauseHave)
			if err != nil {
				return nil, false, err
			}
			if c != nil && k.determined()[c.ID] {
				return k.b.columnExpr(c), true, nil
			}
		}
		return nil, false, nil
	}
	e, err := k.b.condition(sc, k.s.Having.Expr)
	if err != nil {
		return err
	}
	if volatile(e) {
		// It would be computed once for HAVING and once more for the result.
		return sqlerr.NotSupported("HAVING with an expression that is not deterministic")
	}
	k.having = expr.SplitAnd(nil, e)
	return nil
}

// orderBy: a name that is the whole key means an item of the select list
// first; inside of an expression it means a column of FROM first.
func (k *block) orderBy(o *ast.OrderByClause) error {
	if o == nil {
		return nil
	}
	plain := len(k.group) == 0 && len(k.agg.calls) == 0 && k.b.env.Mode&types.ModeOnlyFullGroupBy != 0
	for i, item := range o.Items {
		key, err := k.orderItem(item)
		if err != nil {
			return err
		}
		if plain && len(k.agg.calls) > 0 && k.agg.uses(key.expr) {
			return sqlerr.AggregateOrderNotGrouped(i + 1)
		}
		if key.field < 0 && expr.IsConst(key.expr) {
			continue // ORDER BY NULL
		}
		k.order = append(k.order, key)
	}
	return nil
}

func (k *block) orderItem(item *ast.ByItem) (orderKey, error) {
	key := orderKey{desc: item.Desc, field: -1}
	n := listItem(item.Expr)
	if p, ok := n.(*ast.PositionExpr); ok {
		if p.P != nil {
			return key, sqlerr.NotSupported("parameter as position in ORDER BY")
		}
		if p.N < 1 || p.N > len(k.fields) {
			return key, sqlerr.UnknownColumn(itoa(p.N), clauseOrder)
		}
		key.field = p.N - 1
		key.expr = k.fields[key.field].expr
		return key, nil
	}
	if c, ok := n.(*ast.ColumnNameExpr); ok && c.Name.Schema.O == "" {
		i, err := k.fieldByName(c.Name.Table.O, c.Name.Name.O, clauseOrder)
		if err != nil {
			return key, err
		}
		if i >= 0 {
			key.field, key.expr = i, k.fields[i].expr
			return key, nil
		}
	}
	sc := k.scope(clauseOrder)
	sc.agg, sc.win = &k.agg, &k.win
	sc.alias = func(table, name string) (expr.Expr, bool, error) {
		i, err := k.fieldByName(table, name, clauseOrder)
		if err != nil || i < 0 {
			return nil, false, err
		}
		return k.fields[i].expr, true, nil
	}
	e, err := k.b.value(sc, n)
	if err != nil {
		return key, err
	}
	key.expr = e
	for i := range k.fields {
		if expr.Equal(k.fields[i].expr, e) && !volatile(e) {
			key.field = i
			break
		}
	}
	return key, nil
}

// build makes the plan of the bound block.
func (k *block) build() (*result, error) {
	node := k.src.node
	var err error
	if len(k.where) > 0 {
		node = &logical.Filter{Input: node, Conds: k.where}
	}
	if len(k.group) > 0 || len(k.agg.calls) > 0 {
		if node, err = k.aggregate(node); err != nil {
			return nil, err
		}
	}
	if len(k.having) > 0 {
		node = &logical.Filter{Input: node, Conds: k.having}
	}
	node = k.windows(node)
	count, offset, err := k.b.limit(k.sc, k.s.Limit)
	if err != nil {
		return nil, err
	}
	switch {
	case !k.s.Distinct || k.isOneRow():
	case k.isConst():
		node = &logical.Limit{Input: node, Count: expr.NewConst(value.Int(1), types.BigInt)}
	default:
		return k.buildDistinct(node, count, offset)
	}
	for _, key := range k.order {
		if volatile(key.expr) {
			return k.buildProjectFirst(node, count, offset)
		}
	}
	if len(k.order) > 0 {
		node = &logical.Sort{Input: node, Keys: sortKeys(k.order)}
	}
	node = withLimit(node, count, offset)
	return k.project(node), nil
}

func sortKeys(order []orderKey) []logical.SortKey {
	keys := make([]logical.SortKey, len(order))
	for i, o := range order {
		keys[i] = logical.SortKey{Expr: o.expr, Desc: o.desc}
	}
	return keys
}

func withLimit(n logical.Node, count, offset expr.Expr) logical.Node {
	if count == nil && offset == nil {
		return n
	}
	return &logical.Limit{Input: n, Count: count, Offset: offset}
}

// project computes the select list.
func (k *block) project(node logical.Node) *result {
	p := &logical.Project{Input: node, Exprs: make([]expr.Expr, len(k.fields)), Cols: make([]logical.Column, len(k.fields))}
	for i := range k.fields {
		f := &k.fields[i]
		p.Exprs[i] = f.expr
		p.Cols[i] = k.b.outputColumn(f)
	}
	return &result{node: p, cols: p.Cols}
}

func (b *binder) outputColumn(f *field) logical.Column {
	c := logical.Column{ID: b.newID(), Name: f.name, T: f.expr.Type(), Null: f.expr.Nullable()}
	if f.col != nil {
		c.Table, c.DB, c.OrgTable, c.OrgName = f.col.Table, f.col.DB, f.col.OrgTable, f.col.OrgName
		c.Role = f.col.Role
	}
	return c
}

// isOneRow reports a query of at most one row: without FROM, or all rows in one
// group. As in MySQL, DISTINCT makes no temporary table of it.
func (k *block) isOneRow() bool {
	return len(k.order) == 0 && len(k.group) == 0 && (k.s.From == nil || len(k.agg.calls) > 0)
}

// isConst reports that all rows are alike.
func (k *block) isConst() bool {
	if len(k.order) > 0 || k.s.SelectStmtOpts != nil && k.s.SelectStmtOpts.CalcFoundRows {
		return false
	}
	for i := range k.fields {
		if !expr.IsConst(k.fields[i].expr) || volatile(k.fields[i].expr) {
			return false
		}
	}
	return true
}

// buildDistinct: Project, Distinct, Sort over the output, Limit.
func (k *block) buildDistinct(node logical.Node, count, offset expr.Expr) (*result, error) {
	r := k.project(node)
	out := logical.Node(&logical.Distinct{Input: r.node})
	keys := make([]logical.SortKey, len(k.order))
	for i, o := range k.order {
		if o.field >= 0 {
			keys[i] = logical.SortKey{Expr: colExpr(&r.cols[o.field]), Desc: o.desc}
			continue
		}
		e := k.overOutput(o.expr, r.cols)
		if c := foreignColumn(e, r.cols); c != nil {
			if k.b.env.Mode&types.ModeOnlyFullGroupBy == 0 {
				return k.buildGrouped(r, count, offset)
			}
			return nil, sqlerr.OrderNotInSelect(i+1, k.columnText(c))
		}
		keys[i] = logical.SortKey{Expr: e, Desc: o.desc}
	}
	if len(keys) > 0 {
		out = &logical.Sort{Input: out, Keys: keys}
	}
	return &result{node: withLimit(out, count, offset), cols: r.cols}, nil
}

// buildGrouped is buildDistinct where ORDER BY has what is not selected, which takes
// the value of any of the rows that are the same: Project with the keys, Aggregate,
// Sort, Limit, and a Project without the keys.
func (k *block) buildGrouped(r *result, count, offset expr.Expr) (*result, error) {
	rows := r.node.(*logical.Project)
	g := &logical.Aggregate{Input: rows}
	var agg aggScope
	for i := range r.cols {
		g.GroupBy = append(g.GroupBy, colExpr(&r.cols[i]))
		c := r.cols[i]
		c.ID = k.b.newID()
		g.GroupCols = append(g.GroupCols, c)
	}
	keys := make([]logical.SortKey, len(k.order))
	for i, o := range k.order {
		keys[i].Desc = o.desc
		if o.field >= 0 {
			keys[i].Expr = colExpr(&g.GroupCols[o.field])
			continue
		}
		c := logical.Column{ID: k.b.newID(), T: o.expr.Type(), Null: o.expr.Nullable()}
		rows.Exprs, rows.Cols = append(rows.Exprs, o.expr), append(rows.Cols, c)
		call, err := newAnyValue(k.b.be, colExpr(&c))
		if err != nil {
			return nil, err
		}
		keys[i].Expr = agg.add(k.b, call, "")
	}
	g.Aggs, g.AggCols = agg.calls, agg.cols
	out := &logical.Project{Input: withLimit(&logical.Sort{Input: g, Keys: keys}, count, offset), Cols: make([]logical.Column, len(r.cols))}
	for i := range out.Cols {
		out.Exprs = append(out.Exprs, colExpr(&g.GroupCols[i]))
		out.Cols[i] = g.GroupCols[i]
		out.Cols[i].ID = k.b.newID()
	}
	return &result{node: out, cols: out.Cols}, nil
}

// overOutput replaces the select-list items inside e by output columns.
func (k *block) overOutput(e expr.Expr, cols []logical.Column) expr.Expr {
	for i := range k.fields {
		if expr.Equal(k.fields[i].expr, e) {
			return colExpr(&cols[i])
		}
	}
	return rebuild(e, func(x expr.Expr) expr.Expr { return k.overOutput(x, cols) })
}

func foreignColumn(e expr.Expr, cols []logical.Column) *expr.Col {
	var found *expr.Col
	expr.Walk(e, func(x expr.Expr) bool {
		if c, ok := x.(*expr.Col); ok {
			for i := range cols {
				if cols[i].ID == c.ID {
					return true
				}
			}
			found = c
		}
		return found == nil
	})
	return found
}

func (k *block) columnText(c *expr.Col) string {
	if col := k.column(c.ID); col != nil {
		return qualified(col.DB, col.Table, col.Name)
	}
	return c.Name
}

// buildProjectFirst is for keys whose value must be that of the output
// (ORDER BY an alias of RAND()): the keys are columns of the projection.
func (k *block) buildProjectFirst(node logical.Node, count, offset expr.Expr) (*result, error) {
	r := k.project(node)
	p := r.node.(*logical.Project)
	n := len(p.Cols)
	keys := make([]logical.SortKey, len(k.order))
	for i, o := range k.order {
		at := o.field
		if at < 0 {
			at = len(p.Cols)
			p.Exprs = append(p.Exprs, o.expr)
			p.Cols = append(p.Cols, logical.Column{ID: k.b.newID(), Name: "order", T: o.expr.Type(), Null: o.expr.Nullable(), Hidden: true})
		}
		keys[i] = logical.SortKey{Expr: colExpr(&p.Cols[at]), Desc: o.desc}
	}
	out := withLimit(&logical.Sort{Input: p, Keys: keys}, count, offset)
	if len(p.Cols) > n {
		top := &logical.Project{Input: out, Cols: make([]logical.Column, n)}
		for i := 0; i < n; i++ {
			top.Exprs = append(top.Exprs, colExpr(&p.Cols[i]))
			top.Cols[i] = p.Cols[i]
			top.Cols[i].ID = k.b.newID()
		}
		return &result{node: top, cols: top.Cols}, nil
	}
	return &result{node: out, cols: p.Cols}, nil
}

// limit binds LIMIT.
func (b *binder) limit(_ *scope, l *ast.Limit) (count, offset expr.Expr, err error) {
	if l == nil {
		return nil, nil, nil
	}
	if count, err = b.limitValue(l.Count); err != nil {
		return nil, nil, err
	}
	if l.Offset != nil {
		if offset, err = b.limitValue(l.Offset); err != nil {
			return nil, nil, err
		}
	}
	return count, offset, nil
}

func (b *binder) limitValue(n ast.ExprNode) (expr.Expr, error) {
	switch x := n.(type) {
	case *parser.Param:
		t := types.UBigInt
		if x.Index < len(b.params) && b.params[x.Index].IsInteger() {
			t = b.params[x.Index]
		}
		return &expr.Param{Index: x.Index, T: t}, nil
	case *parser.Literal:
		switch x.Datum.Kind() {
		case value.KindInt:
			return expr.NewConst(value.Uint(uint64(x.Datum.Int())), types.UBigInt), nil
		case value.KindUint:
			return expr.NewConst(x.Datum, types.UBigInt), nil
		}
	}
	return nil, sqlerr.WrongArguments("LIMIT")
}

// valuesStmt is VALUES ROW(…), … .
func (b *binder) valuesStmt(sc *scope, s *ast.SelectStmt) (*result, error) {
	v := &logical.Values{}
	if slices.ContainsFunc(s.Lists, func(row *ast.RowExpr) bool { return len(row.Values) == 0 }) {
		return nil, sqlerr.ValuesWithoutColumns()
	}
	width := len(s.Lists[0].Values)
	sc.clause = clauseField
	colTypes := make([][]schema.Type, width)
	null := make([]bool, width)
	for r, row := range s.Lists {
		if len(row.Values) != width {
			return nil, sqlerr.WrongValueCount(r + 1)
		}
		list := make([]expr.Expr, width)
		for i, n := range row.Values {
			if d, ok := n.(*ast.DefaultExpr); ok && d.Name == nil {
				return nil, sqlerr.ValuesWithDefault()
			}
			e, err := b.value(sc, n)
			if err != nil {
				return nil, err
			}
			list[i] = e
			colTypes[i] = append(colTypes[i], e.Type())
			null[i] = null[i] || e.Nullable()
		}
		v.Rows = append(v.Rows, list)
	}
	for i := range colTypes {
		t := types.Unify(colTypes[i]...)
		for _, row := range v.Rows {
			e, err := expr.NewCast(b.be, row[i], t, false)
			if err != nil {
				return nil, err
			}
			row[i] = e
		}
		v.Cols = append(v.Cols, logical.Column{ID: b.newID(), Name: "column_" + itoa(i), T: t, Null: null[i]})
	}
	return b.orderOutput(sc, &result{node: v, cols: v.Cols}, s.OrderBy, s.Limit)
}
