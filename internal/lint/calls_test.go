package lint

import (
	"go/ast"
	"strings"
	"testing"
)

// TestBuiltinsRunInOnePlace: only Ctx.call and what it consists of run builtins, so that
// all their values are counted and bounded.
func TestBuiltinsRunInOnePlace(t *testing.T) {
	found := 0
	eachFile(t, func(dir, name string, f *ast.File) {
		if dir != "sql/expr" || strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			call, ok := n.(*ast.CallExpr)
			if !ok {
				return true
			}
			sel, ok := call.Fun.(*ast.SelectorExpr)
			if !ok || sel.Sel.Name != "Row" || len(call.Args) != 3 {
				return true
			}
			found++
			if !strings.HasSuffix(name, "large.go") {
				t.Errorf("%s: a builtin is run outside of large.go", fset.Position(call.Pos()))
			}
			return true
		})
	})
	if found < 2 {
		t.Errorf("found only %d calls: has Row been renamed?", found)
	}
}
