package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/sql/expr"
)

// TestCallsAreKnownByOp wants calls to be distinguished by expr.Op, AggOp and WindowOp:
// no code compares a field Name with the name of a function or an operator, switches
// over it, looks it up in a table, or takes it apart.
func TestCallsAreKnownByOp(t *testing.T) {
	checked := 0
	for dir, p := range loadModule(t) {
		if !under(dir, "sql") || under(dir, "sql/parser", "sql/xpath", "sql/infoschema", "sql/sysvar") {
			continue
		}
		for _, name := range p.files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			checked++
			for _, pos := range namedCalls(parse(t, name)) {
				t.Errorf("%s: the name of a call decides: use its Op", fset.Position(pos))
			}
		}
	}
	if checked < 300 {
		t.Errorf("found only %d files", checked)
	}
}

// TestNamedCalls holds what the rule finds, and what it lets through.
func TestNamedCalls(t *testing.T) {
	const source = `package p
func f() {
	_ = f.Name == "and"
	_ = "sum" != a.Name
	switch f.Name {
	case "x", "+":
	}
	_ = f.Name[0] == '<'
	_ = map[string]bool{"=": true}[f.Name]
	_ = slices.Contains([]string{"in"}, f.Name)
	_ = t.Name == "orders" || t.Name != o.Name || h.Name == "QB_NAME"
	switch t.Name {
	case "orders":
	}
	_ = names[t.Name]
}`
	f, err := parser.ParseFile(token.NewFileSet(), "p.go", source, 0)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(namedCalls(f)); got != 6 {
		t.Errorf("found %d of 6", got)
	}
}

// namedCalls are the places of a file where the name of a call decides.
func namedCalls(f *ast.File) []token.Pos {
	var out []token.Pos
	ast.Inspect(f, func(n ast.Node) bool {
		bad := false
		switch x := n.(type) {
		case *ast.BinaryExpr:
			comparison := x.Op == token.EQL || x.Op == token.NEQ
			bad = comparison && (isNameField(x.X) && isFuncName(x.Y) || isNameField(x.Y) && isFuncName(x.X))
		case *ast.SwitchStmt:
			bad = x.Tag != nil && isNameField(x.Tag) && slices.ContainsFunc(x.Body.List, func(s ast.Stmt) bool {
				return slices.ContainsFunc(s.(*ast.CaseClause).List, isFuncName)
			})
		case *ast.IndexExpr:
			number, isLiteral := x.Index.(*ast.BasicLit)
			bad = isNameField(x.X) && isLiteral && number.Kind == token.INT || isNameField(x.Index) && listsFuncs(x.X)
		case *ast.CallExpr:
			bad = slices.ContainsFunc(x.Args, isNameField) && slices.ContainsFunc(x.Args, listsFuncs)
		}
		if bad {
			out = append(out, n.Pos())
		}
		return true
	})
	return out
}

// isNameField reports x.Name.
func isNameField(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Name"
}

// isFuncName reports the text of a function or operator.
func isFuncName(e ast.Expr) bool {
	l, ok := e.(*ast.BasicLit)
	if !ok || l.Kind != token.STRING {
		return false
	}
	name, err := strconv.Unquote(l.Value)
	return err == nil && (slices.Contains(expr.FuncNames(), name) || expr.IsAgg(name) || expr.IsWindowFunc(name))
}

// listsFuncs reports a literal list or map of names of functions.
func listsFuncs(e ast.Expr) bool {
	c, ok := e.(*ast.CompositeLit)
	return ok && slices.ContainsFunc(c.Elts, func(e ast.Expr) bool {
		if kv, ok := e.(*ast.KeyValueExpr); ok {
			e = kv.Key
		}
		return isFuncName(e)
	})
}
