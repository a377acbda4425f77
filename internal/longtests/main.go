package main

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

func main() {
	byDir := map[string][]string{}
	err := filepath.WalkDir(".", func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() && path != "." && (d.Name() == "testdata" || strings.HasPrefix(d.Name(), ".") || isModule(path)) {
			return filepath.SkipDir
		}
		if strings.HasSuffix(path, "_test.go") {
			byDir[filepath.Dir(path)] = append(byDir[filepath.Dir(path)], path)
		}
		return nil
	})
	var names, packages []string
	for dir, files := range byDir {
		var tests []string
		if err == nil {
			tests, err = longTests(files)
		}
		if len(tests) > 0 {
			names = append(names, tests...)
			packages = append(packages, "./"+dir)
		}
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "longtests:", err)
		os.Exit(1)
	}
	slices.Sort(names)
	slices.Sort(packages)
	fmt.Printf("^(%s)$\n%s\n", strings.Join(slices.Compact(names), "|"), strings.Join(packages, " "))
}

// isModule reports a directory that is a module of its own.
func isModule(path string) bool {
	_, err := os.Stat(filepath.Join(path, "go.mod"))
	return err == nil
}

// longForms are the functions of testflag that a test with a long form calls.
var longForms = []string{"Pick", "PickRecorded", "Rounds", "Share", "Long"}

// longTests are the names of the tests in the files of a package that have a long form.
func longTests(files []string) ([]string, error) {
	calls := map[string]map[string]bool{} // by function, method or variable: what it mentions
	long := map[string]bool{}
	for _, path := range files {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		for _, d := range f.Decls {
			for name, body := range bodies(d) {
				if calls[name] == nil {
					calls[name] = map[string]bool{}
				}
				ast.Inspect(body, func(n ast.Node) bool {
					switch x := n.(type) {
					case *ast.SelectorExpr:
						if id, ok := x.X.(*ast.Ident); ok && id.Name == "testflag" {
							long[name] = long[name] || slices.Contains(longForms, x.Sel.Name)
						}
					case *ast.Ident:
						calls[name][x.Name] = true
					}
					return true
				})
			}
		}
	}
	for grown := true; grown; {
		grown = false
		for name, list := range calls {
			for callee := range list {
				if long[callee] && !long[name] {
					long[name], grown = true, true
				}
			}
		}
	}
	var tests []string
	for name := range calls {
		if long[name] && strings.HasPrefix(name, "Test") {
			tests = append(tests, name)
		}
	}
	return tests, nil
}

// bodies are the functions and variables of a declaration, with what they consist of.
func bodies(d ast.Decl) map[string]ast.Node {
	out := map[string]ast.Node{}
	switch x := d.(type) {
	case *ast.FuncDecl:
		if x.Body != nil {
			out[x.Name.Name] = x.Body
		}
	case *ast.GenDecl:
		for _, spec := range x.Specs {
			if v, ok := spec.(*ast.ValueSpec); ok {
				for _, name := range v.Names {
					out[name.Name] = v
				}
			}
		}
	}
	return out
}
