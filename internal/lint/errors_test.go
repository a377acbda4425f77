package lint

import (
	"go/ast"
	"go/token"
	"strings"
	"testing"
)

// TestErrorsComeFromTheirTable wants the product to make errors by the constructors of
// sql/sqlerr only, and to test for them by its predicates, not by numbers.
func TestErrorsComeFromTheirTable(t *testing.T) {
	importers := 0
	for dir, p := range loadModule(t) {
		if dir == "sql/sqlerr" || under(dir, testOnly...) {
			continue
		}
		if _, ok := p.imports["sql/sqlerr"]; !ok {
			continue
		}
		importers++
		for _, name := range p.files {
			if !strings.HasSuffix(name, "_test.go") {
				checkErrors(t, name)
			}
		}
	}
	if importers < 10 {
		t.Errorf("found only %d packages that import sql/sqlerr", importers)
	}
}

func checkErrors(t *testing.T, name string) {
	t.Helper()
	ast.Inspect(parse(t, name), func(n ast.Node) bool {
		if isMadeByHand(n) {
			t.Errorf("%s: an error without a constructor in sql/sqlerr", fset.Position(n.Pos()))
		}
		if comparesNumber(n) {
			t.Errorf("%s: a number is compared with a literal: give the condition a predicate in sql/sqlerr", fset.Position(n.Pos()))
		}
		return true
	})
}

// isMadeByHand reports whether n is sqlerr.Error{…}.
func isMadeByHand(n ast.Node) bool {
	lit, ok := n.(*ast.CompositeLit)
	if !ok {
		return false
	}
	typ, ok := lit.Type.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := typ.X.(*ast.Ident)
	return ok && x.Name == "sqlerr" && typ.Sel.Name == "Error"
}

// comparesNumber reports whether n compares a field Number with a literal of an error's
// size.
func comparesNumber(n ast.Node) bool {
	switch n := n.(type) {
	case *ast.BinaryExpr:
		return isNumber(n.X) && isErrorLiteral(n.Y) || isNumber(n.Y) && isErrorLiteral(n.X)
	case *ast.SwitchStmt:
		if n.Tag == nil || !isNumber(n.Tag) {
			return false
		}
		for _, s := range n.Body.List {
			for _, e := range s.(*ast.CaseClause).List {
				if isErrorLiteral(e) {
					return true
				}
			}
		}
	}
	return false
}

func isNumber(e ast.Expr) bool {
	s, ok := e.(*ast.SelectorExpr)
	return ok && s.Sel.Name == "Number"
}

func isErrorLiteral(e ast.Expr) bool {
	lit, ok := e.(*ast.BasicLit)
	return ok && lit.Kind == token.INT && len(lit.Value) >= 4
}
