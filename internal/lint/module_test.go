package lint

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

const modulePath = "github.com/sqlots/sqlots"

// root is the module's directory, relative to this package.
const root = "../.."

// pkg is one package of the module with what its files import.
type pkg struct {
	dir string // relative to the module, with slashes; "." for the module itself
	// imports are those of files that go into the product, testImports those of tests.
	// Paths of the module itself are without its prefix.
	imports, testImports map[string]string // path → a file that has it
	files                []string
}

// module is what loadModule has read.
var module map[string]*pkg

// loadModule reads the imports of all packages, once. Modules within the module
// (tools) and testdata are left out.
func loadModule(t *testing.T) map[string]*pkg {
	t.Helper()
	if module != nil {
		return module
	}
	pkgs := map[string]*pkg{}
	walkFiles(t, func(path string) {
		if strings.HasSuffix(path, ".go") {
			addFile(t, pkgs, path)
		}
	})
	if len(pkgs) < 10 {
		t.Fatalf("found only %d packages: wrong directory?", len(pkgs))
	}
	module = pkgs
	return pkgs
}

// fset has the positions of what parse gives, and parsed the files.
var (
	fset   = token.NewFileSet()
	parsed = map[string]*ast.File{}
)

// parse is a file of the module with its comments. It is parsed once.
func parse(t *testing.T, name string) *ast.File {
	t.Helper()
	if f := parsed[name]; f != nil {
		return f
	}
	f, err := parser.ParseFile(fset, filepath.Join(root, name), nil, parser.ParseComments|parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	parsed[name] = f
	return f
}

// walkFiles visits the files of the module, by paths relative to it.
func walkFiles(t *testing.T, visit func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		rel = filepath.ToSlash(rel)
		if d.IsDir() {
			if rel == "." {
				return nil
			}
			if name := d.Name(); name == ".git" || name == "node_modules" {
				return fs.SkipDir
			}
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return fs.SkipDir
			}
			return nil
		}
		if d.Type().IsRegular() {
			visit(rel)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

func addFile(t *testing.T, pkgs map[string]*pkg, path string) {
	t.Helper()
	if strings.Contains(path, "testdata/") {
		return
	}
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.ImportsOnly)
	if err != nil {
		t.Errorf("%s: %v", path, err)
		return
	}
	dir := "."
	if i := strings.LastIndexByte(path, '/'); i >= 0 {
		dir = path[:i]
	}
	p := pkgs[dir]
	if p == nil {
		p = &pkg{dir: dir, imports: map[string]string{}, testImports: map[string]string{}}
		pkgs[dir] = p
	}
	p.files = append(p.files, path)
	for _, spec := range f.Imports {
		name, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		name = strings.TrimPrefix(name, modulePath+"/")
		if strings.HasSuffix(path, "_test.go") {
			p.testImports[name] = path
		} else {
			p.imports[name] = path
		}
	}
}

// readText reads a file of the module.
func readText(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(path)))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
