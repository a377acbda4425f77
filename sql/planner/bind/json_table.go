package bind

import (
	"errors"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// jsonTableCall is the call of parser.JSONTableFunc that a derived table
// consists of; nil if it is another one.
func jsonTableCall(n ast.ResultSetNode) *ast.FuncCallExpr {
	s, ok := n.(*ast.SelectStmt)
	if !ok || s.Fields == nil || len(s.Fields.Fields) != 1 {
		return nil
	}
	f, ok := s.Fields.Fields[0].Expr.(*ast.FuncCallExpr)
	if !ok || f.FnName.L != parser.JSONTableFunc {
		return nil
	}
	return f
}

func tableOfCall(call *ast.FuncCallExpr) *parser.JSONTable {
	if l, ok := call.Args[0].(*parser.Literal); ok {
		return l.JSONTable
	}
	return nil
}

// maxNestedPaths is MySQL's bound of NESTED PATHs in a JSON_TABLE.
const maxNestedPaths = 16

// jsonTable binds JSON_TABLE: 3143, 3667, 3670.
func (b *binder) jsonTable(sc *scope, call *ast.FuncCallExpr, alias string) (*source, error) {
	if alias == "" {
		return nil, sqlerr.TableFunctionMustHaveAlias()
	}
	table := tableOfCall(call)
	if table == nil {
		return nil, internalf("JSON_TABLE without its columns")
	}
	doc, err := b.value(sc, call.Args[1])
	if err != nil {
		return nil, err
	}
	if doc, err = expr.NewJSONDocument(b.be, doc); err != nil {
		return nil, err
	}
	t := &jsonTableBinder{b: b, args: call.Args[2:], spec: &expr.JSONTable{Name: alias}}
	if err := t.rows(table, &t.spec.Root); err != nil {
		return nil, err
	}
	t.spec.Width = len(t.cols)
	b.enterNested(t.cols)
	node := &logical.JSONTable{Doc: doc, Spec: t.spec, Cols: append([]logical.Column(nil), t.cols...)}
	cols, err := renamed(t.cols, nil)
	if err != nil {
		return nil, err
	}
	return derivedSource(node, cols, alias), nil
}

type jsonTableBinder struct {
	b      *binder
	args   []ast.ExprNode
	spec   *expr.JSONTable
	cols   []logical.Column
	nested int
}

func (t *jsonTableBinder) text(i int) string {
	if l, ok := t.args[i].(*parser.Literal); ok {
		return l.GetString()
	}
	return ""
}

func (t *jsonTableBinder) path(i int) (*value.JSONPath, error) {
	p, err := value.CompileJSONPath(t.text(i))
	if err != nil {
		var bad *value.JSONPathError
		pos := 1
		if errors.As(err, &bad) {
			pos = bad.Pos
		}
		return nil, sqlerr.InvalidJSONPath(pos)
	}
	return p, nil
}

func (t *jsonTableBinder) rows(n *parser.JSONTable, out *expr.JSONTableRows) (err error) {
	if out.Path, err = t.path(n.Path); err != nil {
		return err
	}
	for i := range n.Columns {
		c := &n.Columns[i]
		if c.Nested != nil {
			if t.nested++; t.nested > maxNestedPaths {
				return sqlerr.TooManyNestedPaths(maxNestedPaths, t.spec.Name)
			}
			var inner expr.JSONTableRows
			if err := t.rows(c.Nested, &inner); err != nil {
				return err
			}
			out.Nested = append(out.Nested, inner)
			continue
		}
		col, err := t.column(c)
		if err != nil {
			return err
		}
		out.Columns = append(out.Columns, col)
	}
	return nil
}

func (t *jsonTableBinder) column(c *parser.JSONColumn) (out expr.JSONTableColumn, err error) {
	d, err := t.b.column(c.Def, t.b.collation())
	if err != nil {
		return out, err
	}
	out = expr.JSONTableColumn{At: len(t.cols), Ordinality: c.Ordinality, Exists: c.Exists,
		Column: schema.Column{Name: d.Column.Column.Name, Type: d.Column.Column.Type, Nullable: true}}
	if !c.Ordinality {
		if out.Path, err = t.path(c.Path); err != nil {
			return out, err
		}
	}
	if out.OnEmpty, err = t.clause(c.OnEmpty); err != nil {
		return out, err
	}
	if out.OnError, err = t.clause(c.OnError); err != nil {
		return out, err
	}
	t.cols = append(t.cols, logical.Column{ID: t.b.newID(), Name: d.Column.Column.Name, T: d.Column.Column.Type, Null: true})
	return out, nil
}

func (t *jsonTableBinder) clause(c parser.JSONClause) (expr.JSONTableClause, error) {
	out := expr.JSONTableClause{Kind: c.Kind}
	if c.Kind != "default" {
		return out, nil
	}
	doc, err := value.ParseJSON([]byte(t.text(c.Default)))
	if err != nil {
		var bad *value.JSONSyntaxError
		msg, pos := "Invalid value.", 0
		if errors.As(err, &bad) {
			msg, pos = bad.Msg, bad.Pos
		}
		return out, sqlerr.InvalidJSONArgument(1, "json_table", msg, pos)
	}
	out.Default = doc
	return out, nil
}
