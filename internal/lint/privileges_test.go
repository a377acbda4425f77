package lint

import (
	"go/ast"
	"testing"
)

// TestStatementsHaveNeeds: for each kind of statement it is written down what it needs,
// so that a new one is not open to all by oversight.
func TestStatementsHaveNeeds(t *testing.T) {
	kinds, known := map[string]bool{}, map[string]bool{}
	eachFile(t, func(dir, name string, f *ast.File) {
		switch {
		case dir == "sql/planner/logical":
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil && fn.Name.Name == "statement" {
					kinds[receiver(fn)] = true
				}
			}
		case name == "sql/planner/bind/needs.go":
			ast.Inspect(f, func(n ast.Node) bool {
				c, ok := n.(*ast.CaseClause)
				if !ok {
					return true
				}
				for _, e := range c.List {
					if star, ok := e.(*ast.StarExpr); ok {
						if sel, ok := star.X.(*ast.SelectorExpr); ok {
							known[sel.Sel.Name] = true
						}
					}
				}
				return true
			})
		}
	})
	if len(kinds) < 40 {
		t.Fatalf("found only %d kinds of statements", len(kinds))
	}
	for k := range kinds {
		if !known[k] {
			t.Errorf("logical.%s has no case in sql/planner/bind/needs.go; see docs/privileges.md", k)
		}
	}
}
