package lint

import (
	"go/ast"
	"slices"
	"strings"
	"testing"
)

// runners are the functions of the executor that run plans.
var runners = []string{"RunQuery", "RunChange", "BindSubqueries"}

// TestPlansRunInOnePlace: statements have one way to the executor, so that none
// gets around its checks.
func TestPlansRunInOnePlace(t *testing.T) {
	found := 0
	eachFile(t, func(dir, name string, f *ast.File) {
		if under(dir, "sql/exec") || strings.HasSuffix(name, "_test.go") {
			return
		}
		ast.Inspect(f, func(n ast.Node) bool {
			sel, ok := n.(*ast.SelectorExpr)
			if !ok || !slices.Contains(runners, sel.Sel.Name) {
				return true
			}
			if id, ok := sel.X.(*ast.Ident); !ok || id.Name != "exec" {
				return true
			}
			found++
			if dir != "sql/statement" {
				t.Errorf("%s: exec.%s is called outside of sql/statement", fset.Position(sel.Pos()), sel.Sel.Name)
			}
			return true
		})
	})
	if found < 4 {
		t.Errorf("found only %d calls: has a function been renamed?", found)
	}
}

// The most that one connection may be made of.
const (
	maxMethods = 60
	maxImports = 20
)

// TestSessionIsSmall bounds the methods of a connection's types, and what the
// package of Session imports of ours.
func TestSessionIsSmall(t *testing.T) {
	methods := map[string]int{}
	imports := map[string]bool{}
	eachFile(t, func(dir, name string, f *ast.File) {
		if !under(dir, "sql/session", "sql/statement") || strings.HasSuffix(name, "_test.go") {
			return
		}
		for _, d := range f.Decls {
			if fn, ok := d.(*ast.FuncDecl); ok && fn.Recv != nil {
				methods[dir+" "+receiver(fn)]++
			}
		}
		if dir == "sql/session" {
			for _, i := range f.Imports {
				if strings.HasPrefix(i.Path.Value, `"github.com/sqlots/sqlots/`) {
					imports[i.Path.Value] = true
				}
			}
		}
	})
	for _, typ := range []string{"sql/session Session", "sql/statement Connection"} {
		if n := methods[typ]; n == 0 {
			t.Errorf("%s has no methods: has it been renamed?", typ)
		} else if n > maxMethods {
			t.Errorf("%s has %d methods, more than %d", typ, n, maxMethods)
		}
	}
	if len(imports) > maxImports {
		t.Errorf("sql/session imports %d packages of ours, more than %d", len(imports), maxImports)
	}
}

// receiver is the name of the type that a method belongs to.
func receiver(fn *ast.FuncDecl) string {
	typ := fn.Recv.List[0].Type
	if star, ok := typ.(*ast.StarExpr); ok {
		typ = star.X
	}
	if id, ok := typ.(*ast.Ident); ok {
		return id.Name
	}
	return ""
}

// eachFile parses the files of all packages.
func eachFile(t *testing.T, fn func(dir, name string, f *ast.File)) {
	t.Helper()
	for dir, p := range loadModule(t) {
		for _, name := range p.files {
			fn(dir, name, parse(t, name))
		}
	}
}
