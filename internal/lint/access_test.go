package lint

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// accessKinds are the types of physical.Access.
var accessKinds = []string{"FullScan", "RangeScan", "PointGet", "SkipScan", "OrderedMerge", "LooseScan", "IndexMerge", "SearchScan"}

// TestKindsOfAccess: the types of access are distinguished where they are made and
// where they are opened. What others want to know of them is a method of
// physical.Access, so that a new type is not forgotten anywhere.
func TestKindsOfAccess(t *testing.T) {
	found := 0
	eachFile(t, func(dir, name string, f *ast.File) {
		if under(dir, "sql/planner/physical", "sql/planner/access") || strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.TypeSwitchStmt); ok && switchesAccess(s) {
				found++
				if dir != "sql/source" {
					t.Errorf("%s: a switch over kinds of access", fset.Position(s.Pos()))
				}
			}
			return true
		})
	})
	if found == 0 {
		t.Error("no switch over kinds of access: has a type been renamed?")
	}
}

func switchesAccess(s *ast.TypeSwitchStmt) bool {
	for _, c := range s.Body.List {
		for _, e := range c.(*ast.CaseClause).List {
			star, ok := e.(*ast.StarExpr)
			if !ok {
				continue
			}
			sel, ok := star.X.(*ast.SelectorExpr)
			if ok && slices.Contains(accessKinds, sel.Sel.Name) {
				if x, ok := sel.X.(*ast.Ident); ok && x.Name == "physical" {
					return true
				}
			}
		}
	}
	return false
}
