package access

import (
	"slices"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/value"
)

// EXISTS (SELECT … FROM JSON_TABLE(doc, '$.tags[*]' COLUMNS (name VARCHAR(64) PATH
// '$.name', …)) WHERE name = 'x' AND …) is true only of documents of which some
// element of $.tags[*].name is 'x': fields over such paths find candidates. That one
// element satisfies all conditions is seen on the row.

// exists turns an EXISTS over the rows of a document into a query that finds its
// rows, and perhaps more; nil if no field serves it.
func (s *searcher) exists(sub *expr.Subquery) *physical.SearchNode {
	if sub.Kind != expr.SubqueryExists || sub.ID >= len(s.r.Subqueries) || len(s.r.Scan.Paths) == 0 {
		return nil
	}
	var conds []expr.Expr
	for n := s.r.Subqueries[sub.ID]; n != nil; {
		switch x := n.(type) {
		case *logical.Project:
			n = x.Input
		case *logical.Limit:
			n = x.Input
		case *logical.Filter:
			conds = append(conds, x.Conds...)
			n = x.Input
		case *logical.JSONTable:
			return s.elements(x, sub.Outer, conds)
		default:
			return nil
		}
	}
	return nil
}

// elements is a query for documents of which some row satisfies conditions, and
// perhaps others. outer are what the document reads of the rows around. nil if no
// field serves.
func (s *searcher) elements(t *logical.JSONTable, outer, conds []expr.Expr) *physical.SearchNode {
	e := elements{s: s, outer: outer, cols: map[expr.ColID]elementColumn{}}
	if e.doc, e.path = e.part(t.Doc); e.doc == nil || mayFail(&t.Spec.Root) {
		return nil
	}
	e.columns(t, &t.Spec.Root, e.path)
	return e.all(conds)
}

// mayFail reports columns for which a document can be an error: all are read then.
func mayFail(rows *expr.JSONTableRows) bool {
	return slices.ContainsFunc(rows.Columns, func(c expr.JSONTableColumn) bool { return c.OnEmpty.Kind == "error" || c.OnError.Kind == "error" }) ||
		slices.ContainsFunc(rows.Nested, func(n expr.JSONTableRows) bool { return mayFail(&n) })
}

// elements are the rows that JSON_TABLE makes of the part at path of a column.
type elements struct {
	s     *searcher
	outer []expr.Expr
	doc   *expr.Col
	path  *value.JSONPath
	cols  map[expr.ColID]elementColumn
}

// elementColumn is a column with its path from the document of the table's column
// on.
type elementColumn struct {
	path *value.JSONPath
	t    schema.Type
}

// part takes an expression apart into a column and a path; nil if it is not that.
func (e *elements) part(x expr.Expr) (*expr.Col, *value.JSONPath) {
	switch x := x.(type) {
	case *expr.Outer:
		if x.Slot < len(e.outer) {
			return e.part(e.outer[x.Slot])
		}
	case *expr.Col:
		root, err := value.CompileJSONPath("$")
		if x.T.ID == schema.TypeJSON && err == nil {
			return x, root
		}
	case *expr.Func:
		if x.Op != expr.OpJSONExtract || len(x.Args) != 2 {
			return nil, nil
		}
		c, isConst := x.Args[1].(*expr.Const)
		doc, root := e.part(x.Args[0])
		if !isConst || doc == nil || !root.IsRoot() || c.D.IsNull() {
			return nil, nil
		}
		if p, err := value.CompileJSONPath(c.D.Str()); err == nil {
			return doc, p
		}
	}
	return nil, nil
}

// columns notes the columns of rows whose values are those at their paths.
func (e *elements) columns(t *logical.JSONTable, rows *expr.JSONTableRows, from *value.JSONPath) {
	from = from.Join(rows.Path)
	for i := range rows.Columns {
		c := &rows.Columns[i]
		if c.Ordinality || c.Exists || c.Path == nil || c.OnEmpty.Kind == "default" || c.OnError.Kind == "default" {
			continue
		}
		e.cols[t.Cols[c.At].ID] = elementColumn{from.Join(c.Path), c.Column.Type}
	}
	for i := range rows.Nested {
		e.columns(t, &rows.Nested[i], from)
	}
}

// all is a query for documents that may have one row for which all conditions
// hold.
func (e *elements) all(conds []expr.Expr) *physical.SearchNode {
	var list []*physical.SearchNode
	for _, c := range conds {
		for _, one := range expr.SplitAnd(nil, c) {
			if n := e.cond(one); n != nil {
				list = append(list, n)
			}
		}
	}
	return combine(physical.SearchAnd, list)
}

func (e *elements) cond(c expr.Expr) *physical.SearchNode {
	f, ok := c.(*expr.Func)
	if !ok || len(f.Args) == 0 {
		return nil
	}
	if f.Op == expr.OpOr {
		var list []*physical.SearchNode
		for _, a := range f.Args {
			n := e.all([]expr.Expr{a})
			if n == nil {
				return nil
			}
			list = append(list, n)
		}
		return combine(physical.SearchOr, list)
	}
	if f.Op == expr.OpAnd {
		return e.all(f.Args)
	}
	op, args := f.Op, f.Args
	if _, isCol := args[0].(*expr.Col); !isCol && len(args) == 2 {
		op, _ = op.Swapped()
		args = []expr.Expr{args[1], args[0]}
	}
	col, ok := args[0].(*expr.Col)
	if !ok {
		return nil
	}
	at, ok := e.cols[col.ID]
	if !ok {
		return nil
	}
	ask := physical.SearchAsk{SQL: true, Args: args[1:], Rounded: at.t.IsInteger() || at.t.ID == schema.TypeDecimal}
	switch op {
	case expr.OpEQ, expr.OpIn:
		ask.Op = physical.AskAny
	case expr.OpLT, expr.OpLE:
		ask.Op = physical.AskBelow
	case expr.OpGT, expr.OpGE:
		ask.Op = physical.AskAbove
	default:
		return nil
	}
	cmp, ok := expr.CmpTypeOf(f)
	if !ok || !expr.KnownBefore(ask.Args) {
		return nil
	}
	for _, a := range ask.Args {
		if !expr.IsConst(a) || expr.IsVolatile(a) {
			return nil
		}
		if cmp.IsString() != a.Type().IsString() && a.Type().ID != schema.TypeNull || !cmp.IsString() && !a.Type().IsNumeric() {
			return nil
		}
	}
	return e.field(f, at, cmp, &ask)
}

// keysDecide reports a collation whose equal texts have equal keys in a field. For
// comparisons other than equality the keys must also have its order.
func keysDecide(id schema.CollationID, op physical.AskOp) bool {
	if id == schema.CollationUTF8MB40900AICI {
		return true
	}
	c, ok := collate.Lookup(id)
	if !ok || op != physical.AskAny {
		return false
	}
	switch c.Name {
	case "utf8mb4_0900_as_ci", "utf8mb4_0900_as_cs", "utf8mb4_0900_bin":
		return true
	}
	return false
}

// field queries a field that has the values of a column.
func (e *elements) field(f *expr.Func, at elementColumn, cmp schema.Type, ask *physical.SearchAsk) *physical.SearchNode {
	for i := range e.s.x.Fields {
		field := &e.s.x.Fields[i]
		whole := e.s.r.Scan.Paths[field.Column]
		if field.Kind != schema.SearchPath || whole == nil || field.Elem.HasDate() {
			continue
		}
		doc, p := e.part(whole)
		if doc == nil || doc.ID != e.doc.ID || !p.Same(at.path) && !(field.Many && p.Same(at.path.Elements())) {
			continue
		}
		// What a path with wildcards finds is an array around it.
		if e.path.HasWildcard() && !at.path.Elements().Same(e.path) {
			continue
		}
		switch {
		case field.Elem.IsString():
			if !field.Many || !cmp.IsString() || !keysDecide(cmp.Collation, ask.Op) || at.t.ID != schema.TypeVarchar && at.t.ID != schema.TypeText && at.t.ID != schema.TypeLongText {
				continue
			}
		case at.t.ID == schema.TypeDouble && field.Elem.ID != schema.TypeDouble: // values beyond 2^53 are equal as DOUBLEs
			continue
		case field.Elem.ID == schema.TypeTinyInt, !at.t.IsInteger() && at.t.ID != schema.TypeDouble && at.t.ID != schema.TypeDecimal, !cmp.IsNumeric():
			continue
		}
		if anyParam(ask.Args) {
			e.s.r.ValuesMatter = true
		}
		e.s.nodes++
		return &physical.SearchNode{Op: physical.SearchPath, Field: field, Column: e.s.t.ColumnIndex(field.Column), Match: f, Ask: ask}
	}
	return nil
}
