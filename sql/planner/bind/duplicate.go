package bind

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// rowAlias is the row to be inserted under a name of its own: VALUES (…) AS
// new(a, b).
type rowAlias struct {
	name    string
	columns map[string]insertTarget // by lower-case name
}

// newRowAlias checks a row alias: 1066, 1060, 1353.
func newRowAlias(a *parser.RowAlias, is *insertScope) (*rowAlias, error) {
	if a == nil {
		return nil, nil
	}
	if strings.EqualFold(a.Name, is.alias) {
		return nil, sqlerr.NotUniqueTable(a.Name)
	}
	out := &rowAlias{name: a.Name, columns: map[string]insertTarget{}}
	if a.Columns != nil && len(a.Columns) != len(is.targets) {
		return nil, sqlerr.DerivedColumnList()
	}
	for j, to := range is.targets {
		name := to.attribute
		if name == "" {
			name = is.t.Columns[to.column].Name
		}
		if a.Columns != nil {
			name = a.Columns[j]
		}
		key := strings.ToLower(name)
		if _, ok := out.columns[key]; ok {
			return nil, sqlerr.DuplicateColumn(name)
		}
		out.columns[key] = to
	}
	return out, nil
}

// sourceColumn is a column of the tables that INSERT … SELECT reads, which ON
// DUPLICATE KEY UPDATE reads too. It follows the query's own columns.
type sourceColumn struct {
	db, table, name string // as written
	col             logical.Column
}

// sourceOrRow looks for a name in the row alias and in the tables of the source;
// nil if it is in neither. 1052 if the target has it as well.
func (s *insertScope) sourceOrRow(db, table, name string, inTarget bool) (expr.Expr, error) {
	var out expr.Expr
	if s.row != nil && db == "" && (table == "" || strings.EqualFold(table, s.row.name)) {
		if to, ok := s.row.columns[strings.ToLower(name)]; ok && (to.attribute == "" || table != "" || !strings.EqualFold(name, to.attribute)) {
			col := s.rowCol(to.column, len(s.t.Columns)+to.column)
			if out = col; to.attribute != "" {
				out = expr.NewAttribute(col, to.attribute)
			}
		}
	}
	for i, c := range s.source {
		if strings.EqualFold(c.name, name) && strings.EqualFold(c.table, table) && strings.EqualFold(c.db, db) {
			at := 2*len(s.t.Columns) + i
			out = &expr.Col{ID: expr.ColID(-1 - at), Index: at, T: c.col.T, Null: c.col.Null, Table: table, Name: name}
		}
	}
	if out != nil && inTarget {
		return nil, sqlerr.AmbiguousColumn(qualified(db, table, name), clauseField)
	}
	return out, nil
}

// insertSource binds the query of INSERT … SELECT. What ON DUPLICATE KEY UPDATE
// reads of its tables is added to the select list; that works for one SELECT
// without grouping, as in MySQL.
func (b *binder) insertSource(is *insertScope, n *ast.InsertStmt, out *logical.Insert, gather *gathering) error {
	query := n.Select
	sel, ok := query.(*ast.SelectStmt)
	if ok && len(n.OnDuplicate) > 0 && sel.From != nil && sel.GroupBy == nil {
		if err := b.findSourceColumns(is, n.OnDuplicate, sel); err != nil {
			return err
		}
		query = withFields(sel, is.source)
	}
	r, err := b.query(&scope{b: b, clause: clauseField}, query)
	if err != nil {
		return err
	}
	own := len(r.cols) - len(is.source)
	if own != len(is.targets) {
		return sqlerr.WrongValueCount(1)
	}
	if gather.attrs >= 0 || slices.ContainsFunc(r.cols, func(c logical.Column) bool { return c.T.Variant }) {
		r = b.gathered(is, r, own, gather)
		own = len(out.Columns)
	}
	for i := range is.source {
		is.source[i].col = r.cols[own+i]
	}
	out.Source = r.node
	if pr, ok := r.node.(*logical.Project); ok {
		// Values are stored unchanged, like those of VALUES.
		for i, pos := range out.Columns {
			if pos < 0 || i >= len(pr.Exprs) {
				continue
			}
			pr.Exprs[i] = expr.Operand(pr.Exprs[i], is.t.Columns[pos].Type)
			pr.Cols[i].T = pr.Exprs[i].Type()
		}
	}
	return nil
}

// gathered is the source of an INSERT whose first columns, own of them, become
// those of the table.
func (b *binder) gathered(is *insertScope, r *result, own int, gather *gathering) *result {
	vals := make([]expr.Expr, own)
	for i := range vals {
		if vals[i] = colExpr(&r.cols[i]); is.targets[i].attribute == "" {
			vals[i] = stored(vals[i], &is.t.Columns[is.targets[i].column])
		}
	}
	exprs := gather.row(vals)
	names := make([]logical.Column, len(exprs), len(exprs)+len(r.cols)-own)
	for i, pos := range gather.columns {
		names[i].Name = is.t.Columns[pos].Name
	}
	for i := own; i < len(r.cols); i++ {
		exprs, names = append(exprs, colExpr(&r.cols[i])), append(names, r.cols[i])
	}
	p := b.projectTo(r.node, names, exprs)
	return &result{node: p, cols: p.Columns()}
}

// withFields is a copy of a SELECT with more columns at the end.
func withFields(sel *ast.SelectStmt, more []sourceColumn) *ast.SelectStmt {
	if len(more) == 0 {
		return sel
	}
	out, fields := *sel, *sel.Fields
	fields.Fields = append([]*ast.SelectField(nil), fields.Fields...)
	for _, c := range more {
		name := &ast.ColumnName{Schema: ast.NewCIStr(c.db), Table: ast.NewCIStr(c.table), Name: ast.NewCIStr(c.name)}
		fields.Fields = append(fields.Fields, &ast.SelectField{Expr: &ast.ColumnNameExpr{Name: name}})
	}
	out.Fields = &fields
	return &out
}

// findSourceColumns notes the names of ON DUPLICATE KEY UPDATE that are columns
// of the tables of sel. FROM is bound for that by a binder of its own.
func (b *binder) findSourceColumns(is *insertScope, list []*ast.Assignment, sel *ast.SelectStmt) error {
	v := &columnVisitor{}
	for _, a := range list {
		a.Expr.Accept(v)
	}
	if len(v.names) == 0 {
		return nil
	}
	env := *b.env
	env.Warn = nil
	probe := newBinder(&env)
	sc := &scope{b: probe, clause: clauseField}
	if err := probe.withClause(sc, sel.With, sel); err != nil {
		return err
	}
	src, err := probe.from(sc, sel.From.TableRefs)
	if err != nil {
		return err
	}
	seen := map[string]bool{}
	for _, c := range v.names {
		db, table, name := c.Schema.O, c.Table.O, c.Name.O
		key := strings.ToLower(db + "." + table + "." + name)
		if seen[key] || table != "" && is.find(db, table, name) >= 0 {
			continue
		}
		seen[key] = true
		found, err := src.find(db, table, name, clauseField)
		if err != nil {
			return err
		}
		if found == nil {
			continue
		}
		if sel.Distinct {
			return sqlerr.NotSupported("ON DUPLICATE KEY UPDATE that reads the tables of SELECT DISTINCT")
		}
		is.source = append(is.source, sourceColumn{db: db, table: table, name: name})
	}
	return nil
}

// columnVisitor collects column names outside of subqueries and VALUES().
type columnVisitor struct{ names []*ast.ColumnName }

// Enter implements ast.Visitor.
func (v *columnVisitor) Enter(n ast.Node) (ast.Node, bool) {
	switch x := n.(type) {
	case *ast.ColumnNameExpr:
		v.names = append(v.names, x.Name)
	case *ast.SubqueryExpr, *ast.ValuesExpr, *ast.DefaultExpr:
		return n, true
	}
	return n, false
}

// Leave implements ast.Visitor.
func (v *columnVisitor) Leave(n ast.Node) (ast.Node, bool) { return n, true }
