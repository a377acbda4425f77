package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/format"
	"github.com/pingcap/tidb/pkg/parser/opcode"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// canonical writes down, in the AST of a view's query, what binding found out:
// the database of each table, the columns of *, the table of each column and
// the names of the select list. So the text that is kept means the same in any
// other surroundings, and after columns were added to its tables.
type canonical struct {
	tables []*ast.TableName
}

// table notes the database of a table.
func (c *canonical) table(n *ast.TableName, db string) {
	if c == nil {
		return
	}
	n.Schema = ast.NewCIStr(db)
	c.tables = append(c.tables, n)
}

// column notes the table of a column that was found in FROM.
func (c *canonical) column(sc *scope, n *ast.ColumnName, e expr.Expr) {
	if c == nil || n.Table.O != "" || sc.column != nil || sc.aliasOnly && !sc.inAgg {
		return
	}
	if x, _, ok := expr.AsAttribute(e); ok {
		if col, ok := x.(*expr.Col); ok {
			n.Table = ast.NewCIStr(col.Table)
		}
		return
	}
	var at *scope
	switch e.(type) {
	case *expr.Col:
		at = sc
	case *expr.Outer: // of the nearest block around that has it
		for at = sc.outer; at != nil && !at.has(n.Name.O); {
			at = at.outer
		}
	}
	if at == nil {
		return
	}
	found, err := at.src.find("", "", n.Name.O, at.clause)
	if err != nil || found == nil || found.Table == "" {
		return
	}
	if col, ok := e.(*expr.Col); ok && col.ID != found.ID {
		return
	}
	for s := sc; s != at; s = s.outer {
		if s.src.count(found.Table) > 0 {
			return // the name would mean another table
		}
	}
	n.Table = ast.NewCIStr(found.Table)
	if found.DB != "" && at.src.count(found.Table) > 1 {
		n.Schema = ast.NewCIStr(found.DB)
	}
}

func (sc *scope) has(name string) bool {
	c, err := sc.src.find("", "", name, sc.clause)
	return err == nil && c != nil
}

// count is the number of tables of FROM that have the alias.
func (s *source) count(alias string) int {
	n := 0
	if s == nil {
		return 0
	}
	for _, t := range s.tables {
		if strings.EqualFold(t.alias, alias) {
			n++
		}
	}
	return n
}

// fields puts the bound select list in the place of the written one: fields
// are what the items of list became, starts the first field of each.
func (c *canonical) fields(s *ast.SelectStmt, src *source, fields []field, starts []int) {
	if c == nil {
		return
	}
	var out []*ast.SelectField
	for i, f := range s.Fields.Fields {
		end := len(fields)
		if i+1 < len(starts) {
			end = starts[i+1]
		}
		if f.WildCard == nil {
			if alias := aliasOf(f); alias == "" || alias != f.AsName.O {
				f.AsName = ast.NewCIStr(fields[starts[i]].name)
			}
			out = append(out, f)
			continue
		}
		for _, x := range fields[starts[i]:end] {
			out = append(out, starField(src, x.col))
		}
	}
	s.Fields = &ast.FieldList{Fields: out}
	if s.Kind = ast.SelectStmtKindSelect; s.SelectStmtOpts == nil { // TABLE t
		s.SelectStmtOpts = &ast.SelectStmtOpts{SQLCache: true}
	}
}

func starField(src *source, col *logical.Column) *ast.SelectField {
	name := &ast.ColumnName{Name: ast.NewCIStr(col.Name), Table: ast.NewCIStr(col.Table)}
	if col.DB != "" && src.count(col.Table) > 1 {
		name.Schema = ast.NewCIStr(col.DB)
	}
	return &ast.SelectField{Expr: &ast.ColumnNameExpr{Name: name}, AsName: ast.NewCIStr(col.Name)}
}

// texts are the query with the databases of all tables, and without db.
func (c *canonical) texts(n ast.Node, db string, mode types.SQLMode) (full, local string, err error) {
	n.Accept(rewrittenCalls{mode})
	if full, err = restore(n); err != nil {
		return "", "", err
	}
	for _, t := range c.tables {
		if t.Schema.O == db {
			t.Schema = ast.CIStr{}
		}
	}
	local, err = restore(n)
	for _, t := range c.tables {
		if t.Schema.O == "" {
			t.Schema = ast.NewCIStr(db)
		}
	}
	return full, local, err
}

// jsonTableText prints JSON_TABLE.
type jsonTableText struct {
	ast.ResultSetNode
	call *ast.FuncCallExpr
}

// Restore implements ast.Node.
func (j *jsonTableText) Restore(c *format.RestoreCtx) error {
	c.WriteKeyWord("json_table(")
	if err := j.call.Args[1].Restore(c); err != nil {
		return err
	}
	c.WritePlain(",")
	if err := j.table(c, tableOfCall(j.call)); err != nil {
		return err
	}
	c.WritePlain(")")
	return nil
}

func (j *jsonTableText) text(c *format.RestoreCtx, i int) error { return j.call.Args[2+i].Restore(c) }

func (j *jsonTableText) table(c *format.RestoreCtx, t *parser.JSONTable) error {
	if err := j.text(c, t.Path); err != nil {
		return err
	}
	c.WriteKeyWord(" columns (")
	for i := range t.Columns {
		if i > 0 {
			c.WritePlain(",")
		}
		if err := j.column(c, &t.Columns[i]); err != nil {
			return err
		}
	}
	c.WritePlain(")")
	return nil
}

func (j *jsonTableText) column(c *format.RestoreCtx, col *parser.JSONColumn) error {
	if col.Nested != nil {
		c.WriteKeyWord("nested path ")
		return j.table(c, col.Nested)
	}
	c.WriteName(col.Def.Name.Name.O)
	if col.Ordinality {
		c.WriteKeyWord(" for ordinality")
		return nil
	}
	c.WritePlain(" ")
	if err := col.Def.Tp.Restore(c); err != nil {
		return err
	}
	for _, o := range col.Def.Options {
		c.WritePlain(" ")
		if err := o.Restore(c); err != nil {
			return err
		}
	}
	if col.Exists {
		c.WriteKeyWord(" exists")
	}
	c.WriteKeyWord(" path ")
	if err := j.text(c, col.Path); err != nil {
		return err
	}
	if err := j.clause(c, &col.OnEmpty, " on empty"); err != nil {
		return err
	}
	return j.clause(c, &col.OnError, " on error")
}

func (j *jsonTableText) clause(c *format.RestoreCtx, x *parser.JSONClause, when string) error {
	switch x.Kind {
	case "error":
		c.WriteKeyWord(" error")
	case "default":
		c.WriteKeyWord(" default ")
		if err := j.text(c, x.Default); err != nil {
			return err
		}
	default:
		return nil // NULL is what it is anyway
	}
	c.WriteKeyWord(when)
	return nil
}

// rewrittenCalls replaces the calls of which the parser's printer makes
// something else: MOD(a, b), its operands and its like get parentheses, as the
// parser makes the operator % of it, which prints without any; an ODBC form
// that is no literal becomes its argument.
type rewrittenCalls struct{ mode types.SQLMode }

// Enter implements ast.Visitor.
func (rewrittenCalls) Enter(n ast.Node) (ast.Node, bool) { return n, false }

// Leave implements ast.Visitor.
func (r rewrittenCalls) Leave(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.FuncCallExpr:
		if !isTimeLiteral(x.FnName.L) {
			break
		}
		if e, err := readTimeLiteral(r.mode, x); e == nil && err == nil {
			return tight(x.Args[0]), true
		}
	case *ast.BinaryOperationExpr:
		if x.Op == opcode.Mod {
			x.L, x.R = tight(x.L), tight(x.R)
			return &ast.ParenthesesExpr{Expr: x}, true
		}
	}
	return n, true
}

// tight puts parentheses around what another operator could tear apart.
func tight(n ast.ExprNode) ast.ExprNode {
	switch n.(type) {
	case *ast.ColumnNameExpr, ast.ValueExpr, *ast.FuncCallExpr, *ast.FuncCastExpr, *ast.AggregateFuncExpr, *ast.ParenthesesExpr:
		return n
	}
	return &ast.ParenthesesExpr{Expr: n}
}

// printable finds what the parser's nodes do not print as it was written, and
// puts printable nodes in its place: calls of CHAR, which have an internal name
// and no USING, and JSON_TABLE, which is a derived table. put undoes it. All is
// one pass, as visiting a printable node again would unwrap it.
type printable struct {
	calls   []*ast.FuncCallExpr
	were    []ast.FuncCallExpr
	sources []*ast.TableSource
	queries []ast.ResultSetNode
}

// Enter implements ast.Visitor.
func (v *printable) Enter(n ast.Node) (ast.Node, bool) { return n, false }

// Leave implements ast.Visitor.
func (v *printable) Leave(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.FuncCallExpr:
		if x.FnName.L == "char_func" && len(x.Args) > 1 {
			v.calls, v.were = append(v.calls, x), append(v.were, *x)
			x.FnName = ast.NewCIStr("char")
			x.Args = []ast.ExprNode{&usingArgs{ExprNode: x.Args[0], args: x.Args[:len(x.Args)-1], charset: x.Args[len(x.Args)-1]}}
		}
	case *ast.TableSource:
		if call := jsonTableCall(x.Source); call != nil && tableOfCall(call) != nil {
			v.sources, v.queries = append(v.sources, x), append(v.queries, x.Source)
			x.Source, x.Lateral = &jsonTableText{ResultSetNode: x.Source, call: call}, false
		}
	}
	return n, true
}

func (v *printable) put() {
	for i, f := range v.calls {
		*f = v.were[i]
	}
	for i, t := range v.sources {
		t.Source, t.Lateral = v.queries[i], true
	}
}

// usingArgs prints the arguments of CHAR(… USING charset).
type usingArgs struct {
	ast.ExprNode
	args    []ast.ExprNode
	charset ast.ExprNode
}

// Restore implements ast.Node.
func (u *usingArgs) Restore(c *format.RestoreCtx) error {
	for i, a := range u.args {
		if i > 0 {
			c.WritePlain(", ")
		}
		if err := a.Restore(c); err != nil {
			return err
		}
	}
	if name, ok := u.charset.(ast.ValueExpr); ok && name.GetValue() != nil {
		c.WriteKeyWord(" using ")
		c.WritePlain(name.GetString())
	}
	return nil
}

// restore prints a statement as MySQL prints the queries of views.
func restore(n ast.Node) (string, error) {
	var b strings.Builder
	var v printable
	n.Accept(&v)
	defer v.put()
	flags := format.RestoreStringSingleQuotes | format.RestoreKeyWordLowercase | format.RestoreNameBackQuotes | format.RestoreSpacesAroundBinaryOperation
	if err := n.Restore(format.NewRestoreCtx(flags, &b)); err != nil {
		return "", sqlerr.NotSupported("this SELECT in a view")
	}
	return aliasText(collectText(b.String())), nil
}

// aliasText writes AS before an alias as MySQL does, which writes all other keywords in
// lower case.
func aliasText(s string) string {
	const as = " as `"
	var b strings.Builder
	quote, from := byte(0), 0
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote == '\'' && c == '\\':
			i++
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case strings.HasPrefix(s[i:], as):
			b.WriteString(s[from:i])
			b.WriteString(" AS `")
			i += len(as) - 1
			from, quote = i+1, '`'
		case c == '\'' || c == '`':
			quote = c
		}
	}
	b.WriteString(s[from:])
	return b.String()
}

// collectText writes ST_COLLECT as it was before the parser's shim, see
// parser.CollectFunc.
func collectText(s string) string {
	const mark = parser.CollectFunc + "("
	for {
		at := strings.Index(s, mark)
		if at < 0 {
			return s
		}
		start, word := at-len("sum("), ""
		if strings.HasSuffix(s[:at], "sum(distinct ") {
			start, word = at-len("sum(distinct "), "distinct "
		}
		// The parenthesis that closes the mark; those in quoted text do not
		// count.
		depth, end := 1, at+len(mark)
		for quote := byte(0); end < len(s) && depth > 0; end++ {
			switch c := s[end]; {
			case quote != 0:
				if c == quote {
					quote = 0
				} else if c == '\\' && quote == '\'' {
					end++
				}
			case c == '\'' || c == '`':
				quote = c
			case c == '(':
				depth++
			case c == ')':
				depth--
			}
		}
		if start < 0 || depth > 0 || end >= len(s) {
			return s
		}
		s = s[:start] + "st_collect(" + word + s[at+len(mark):end-1] + s[end:]
	}
}
