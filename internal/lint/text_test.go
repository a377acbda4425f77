package lint

import (
	"bytes"
	"go/ast"
	"go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

func TestEveryPackageHasADoc(t *testing.T) {
	for dir, p := range loadModule(t) {
		f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, dir, "doc.go"), nil, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Errorf("%s: %v", dir, err)
			continue
		}
		start := "Package " + f.Name.Name + " "
		if f.Name.Name == "main" {
			start = "Command "
		}
		if !strings.HasPrefix(f.Doc.Text(), start) {
			t.Errorf("%s/doc.go: the comment does not start with %q", dir, start)
		}
		for _, name := range p.files {
			if packageDoc(t, name) && !strings.HasSuffix(name, "/doc.go") {
				t.Errorf("%s has a package comment; it belongs into doc.go", name)
			}
		}
	}
}

func packageDoc(t *testing.T, name string) bool {
	t.Helper()
	f, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, name), nil, parser.ParseComments|parser.PackageClauseOnly)
	if err != nil {
		t.Errorf("%s: %v", name, err)
		return false
	}
	return f.Doc != nil
}

// TestExportedNamesAreDocumented looks at the declarations of the product.
// Constants and fields may share the comment of their group.
func TestExportedNamesAreDocumented(t *testing.T) {
	for dir, p := range loadModule(t) {
		if under(dir, testOnly...) {
			continue
		}
		for _, name := range p.files {
			if !strings.HasSuffix(name, "_test.go") {
				checkDocs(t, name)
			}
		}
	}
}

func checkDocs(t *testing.T, name string) {
	t.Helper()
	f := parse(t, name)
	if ast.IsGenerated(f) {
		return
	}
	missing := func(pos token.Pos, what string) {
		t.Errorf("%s:%d: %s has no comment", name, fset.Position(pos).Line, what)
	}
	for _, d := range f.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Name.IsExported() && d.Doc == nil && exportedReceiver(d) {
				missing(d.Pos(), d.Name.Name)
			}
		case *ast.GenDecl:
			for _, s := range d.Specs {
				switch s := s.(type) {
				case *ast.TypeSpec:
					if s.Name.IsExported() && d.Doc == nil && s.Doc == nil {
						missing(s.Pos(), s.Name.Name)
					}
				case *ast.ValueSpec:
					for _, n := range s.Names {
						if n.IsExported() && d.Doc == nil && s.Doc == nil && s.Comment == nil {
							missing(n.Pos(), n.Name)
						}
					}
				}
			}
		}
	}
}

// exportedReceiver tells whether a function can be called from outside.
func exportedReceiver(d *ast.FuncDecl) bool {
	if d.Recv == nil {
		return true
	}
	typ := d.Recv.List[0].Type
	for {
		switch x := typ.(type) {
		case *ast.StarExpr:
			typ = x.X
		case *ast.IndexExpr:
			typ = x.X
		case *ast.IndexListExpr:
			typ = x.X
		case *ast.Ident:
			return x.IsExported()
		default:
			return false
		}
	}
}

func TestGofmt(t *testing.T) {
	testflag.Normal(t)
	walkFiles(t, func(path string) {
		if !strings.HasSuffix(path, ".go") || strings.Contains(path, "testdata/") {
			return
		}
		src := []byte(readText(t, path))
		want, err := format.Source(src)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		} else if !bytes.Equal(src, want) {
			t.Errorf("%s is not gofmt-ed", path)
		}
	})
}

// forbidden are patterns that tell of a place or a way of working where the
// text was written, and say nothing to its reader.
func forbidden() []*regexp.Regexp {
	return []*regexp.Regexp{
		// Absolute paths of one machine. Fragments are joined so that this file
		// does not hold what it forbids.
		regexp.MustCompile(`(^|[\s"'` + "`" + `(=:])/(work|home|root|Users)` + `/[A-Za-z0-9_.]`),
		regexp.MustCompile(`(?i)\b(chat` + `gpt|clau` + `de|anth` + `ropic|open` + `ai|copi` + `lot|ll` + `m|ai-gener` + `ated|language mod` + `el)\b`),
		regexp.MustCompile(`(?i)\b(sub-?ag` + `ent|as an a` + `i)\b`),
		regexp.MustCompile(`(?m)^(<{7}|>{7}) `),
	}
}

// textFile tells by its name whether a file is text that people wrote.
func textFile(path string) bool {
	switch filepath.Ext(path) {
	case ".test": // also the name of compiled tests
		return under(path, "testdata") || strings.Contains(path, "/testdata/")
	case ".go", ".md", ".sql", ".sh", ".mod", ".txt", ".inc", ".yml", ".yaml":
		return true
	}
	base := filepath.Base(path)
	return base == "Makefile" || base == ".gitignore" || strings.HasPrefix(path, ".ci/")
}

func TestForbiddenText(t *testing.T) {
	testflag.Normal(t)
	patterns := forbidden()
	walkFiles(t, func(path string) {
		if !textFile(path) {
			return
		}
		for n, line := range strings.Split(readText(t, path), "\n") {
			for _, re := range patterns {
				if m := re.FindString(line); m != "" {
					t.Errorf("%s:%d: %q does not belong here", path, n+1, m)
				}
			}
		}
	})
}

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// TestLinkedPathsExist checks the relative links of all documents, and the
// headings that they name.
func TestLinkedPathsExist(t *testing.T) {
	links := 0
	walkFiles(t, func(path string) {
		if !strings.HasSuffix(path, ".md") {
			return
		}
		for _, m := range link.FindAllStringSubmatch(readText(t, path), -1) {
			target, heading, _ := strings.Cut(m[1], "#")
			if strings.Contains(target, "://") || strings.HasPrefix(target, "mailto:") {
				continue
			}
			links++
			to := path
			if target != "" {
				to = filepath.ToSlash(filepath.Join(filepath.Dir(path), filepath.FromSlash(target)))
			}
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(to))); err != nil {
				t.Errorf("%s links to %s, which does not exist", path, m[1])
				continue
			}
			if heading != "" && strings.HasSuffix(to, ".md") && !anchors(readText(t, to))[heading] {
				t.Errorf("%s links to %s, a heading that does not exist", path, m[1])
			}
		}
	})
	if links == 0 {
		t.Error("found no links: are the documents there?")
	}
}

var codePath = regexp.MustCompile("`((?:sql|storage|index|mysqlwire|server|cmd|value|collate|schema|tool|internal|docs|testdata|examples|test)(?:/[a-z0-9_.]+)+/?)`")

// TestNamedPathsExist checks paths that the two entry documents name without
// a link.
func TestNamedPathsExist(t *testing.T) {
	for _, path := range []string{"README.md", "ARCHITECTURE.md"} {
		for _, m := range codePath.FindAllStringSubmatch(readText(t, path), -1) {
			if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(m[1]))); err != nil {
				t.Errorf("%s names %s, which does not exist", path, m[1])
			}
		}
	}
}
