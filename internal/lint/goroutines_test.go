package lint

import (
	"go/ast"
	"strings"
	"testing"
)

// ownProcess are the packages whose goroutines run in the processes of clients and
// tests: a panic there harms no server.
var ownProcess = []string{"cmd", "tool", "storage/storagetest", "storage/tikvkv/tikvtest"}

// TestGoroutinesAreGuarded wants every goroutine of the server to keep its
// panics: what a go statement or a group's Go calls is guard.Run or guard.Do, or
// a function of the same package that recovers, or whose first call is one of
// these, but for deferred calls and those of contexts, timers and locks.
func TestGoroutinesAreGuarded(t *testing.T) {
	begun := 0
	for dir, p := range loadModule(t) {
		if under(dir, ownProcess...) || under(dir, testOnly...) {
			continue
		}
		g := goroutines{funcs: map[string][]*ast.FuncDecl{}}
		var files []*ast.File
		for _, name := range p.files {
			if strings.HasSuffix(name, "_test.go") {
				continue
			}
			f := parse(t, name)
			files = append(files, f)
			for _, d := range f.Decls {
				if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
					g.funcs[fn.Name.Name] = append(g.funcs[fn.Name.Name], fn)
				}
			}
		}
		for _, f := range files {
			ast.Inspect(f, func(n ast.Node) bool {
				if call := g.begins(n); call != nil {
					begun++
					if !g.guarded(call) {
						t.Errorf("%s: a panic in this goroutine ends the server: run its task by guard.Run or guard.Do", fset.Position(n.Pos()))
					}
				}
				return true
			})
		}
	}
	if begun < 15 {
		t.Errorf("found only %d goroutines", begun)
	}
}

// goroutines looks at those of a package.
type goroutines struct {
	funcs map[string][]*ast.FuncDecl
}

// begins is the function that n runs in a goroutine, nil when n is something else.
func (g *goroutines) begins(n ast.Node) ast.Expr {
	switch n := n.(type) {
	case *ast.GoStmt:
		return n.Call.Fun
	case *ast.CallExpr:
		// That of sync.WaitGroup; times have a method Go, too.
		if s, ok := n.Fun.(*ast.SelectorExpr); ok && s.Sel.Name == "Go" && len(n.Args) == 1 {
			if _, ok := n.Args[0].(*ast.FuncLit); ok || len(g.declared(n.Args[0])) > 0 {
				return n.Args[0]
			}
		}
	}
	return nil
}

// declared are the functions and methods of the package with the name of fn.
func (g *goroutines) declared(fn ast.Expr) []*ast.FuncDecl {
	switch fn := fn.(type) {
	case *ast.Ident:
		return g.funcs[fn.Name]
	case *ast.SelectorExpr:
		return g.funcs[fn.Sel.Name]
	}
	return nil
}

func (g *goroutines) guarded(fn ast.Expr) bool {
	if isGuard(fn) {
		return true
	}
	if lit, ok := fn.(*ast.FuncLit); ok {
		return guardedBody(lit.Body)
	}
	list := g.declared(fn)
	for _, d := range list {
		if !guardedBody(d.Body) {
			return false
		}
	}
	return len(list) > 0
}

// isGuard reports whether fn is of package guard.
func isGuard(fn ast.Expr) bool {
	s, ok := fn.(*ast.SelectorExpr)
	if !ok {
		return false
	}
	x, ok := s.X.(*ast.Ident)
	return ok && x.Name == "guard"
}

// guardedBody reports whether a body does its work under a guard, or does nothing.
func guardedBody(body *ast.BlockStmt) bool {
	for _, s := range body.List {
		if d, ok := s.(*ast.DeferStmt); ok && recovers(d) {
			return true
		}
	}
	ok, found := true, false
	ast.Inspect(body, func(n ast.Node) bool {
		switch n := n.(type) {
		case *ast.DeferStmt:
			return false
		case *ast.CallExpr:
			found = found || isGuard(n.Fun)
			ok = ok && (found || harmless(n))
		}
		return ok && !found
	})
	return ok
}

// recovers reports whether a deferred function is a literal that recovers.
func recovers(d *ast.DeferStmt) bool {
	found := false
	if lit, ok := d.Call.Fun.(*ast.FuncLit); ok {
		ast.Inspect(lit, func(n ast.Node) bool {
			if c, ok := n.(*ast.CallExpr); ok {
				if x, ok := c.Fun.(*ast.Ident); ok && x.Name == "recover" {
					found = true
				}
			}
			return !found
		})
	}
	return found
}

// harmless reports whether a call is of a context, a timer, a counter or a lock.
func harmless(c *ast.CallExpr) bool {
	name := ""
	switch fn := c.Fun.(type) {
	case *ast.Ident:
		name = fn.Name
	case *ast.SelectorExpr:
		name = fn.Sel.Name
	}
	switch name {
	case "len", "int", "int64", "Done", "Err", "Load", "Add", "NewTicker", "After", "Lock", "Unlock", "cancel":
		return true
	}
	return false
}
