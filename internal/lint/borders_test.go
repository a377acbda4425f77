package lint

import (
	"os/exec"
	"slices"
	"sort"
	"strings"
	"testing"
)

// under reports whether path is one of the roots or within one.
func under(path string, roots ...string) bool {
	return slices.ContainsFunc(roots, func(r string) bool {
		return path == r || strings.HasPrefix(path, r+"/")
	})
}

// leaves are packages that know nothing of ours but one another.
var leaves = []string{"value", "collate", "schema", "config", "metrics", "geo", "sql/sqlerr", "internal/step", "internal/invariants", "internal/guard", "internal/datadir", "internal/loglines", "internal/procs", "docs"}

// storageSide are the packages that know no SQL.
var storageSide = []string{"storage", "index", "search", "stream"}

// edge are the packages on top: nothing below imports them.
var edge = []string{"cmd", "server", "httpd", "console", "admin", "tool"}

// testOnly are packages that hold nothing but tests and helpers of tests.
var testOnly = []string{
	"internal/lint", "internal/longtests", "test", "examples", "internal/servertest", "internal/testflag", "internal/testutil", "internal/childserver", "internal/histcheck", "internal/variants",
}

// tools are packages that commands and tests share.
var tools = []string{"internal/datacheck", "internal/jsonlines"}

// runtime are the packages in which statements run, with what they share.
var runtime = []string{"sql/engine", "sql/introspect", "sql/statement", "sql/command", "sql/loaddata", "sql/ttl", "sql/session"}

// known are the folders whose packages the rules place.
var known = slices.Concat(leaves, storageSide, edge, testOnly, tools, []string{"sql", "mysqlwire"})

// border forbids imports between packages of ours.
type border struct {
	name string
	of   func(dir string) bool
	// bad reports whether a package of dir may not import the package path, also not by
	// way of others when deep is set.
	bad  func(path string) bool
	deep bool
}

func borders() []border {
	is := func(roots ...string) func(string) bool {
		return func(path string) bool { return under(path, roots...) }
	}
	sql := func(path string) bool { return under(path, "sql") && path != "sql/sqlerr" }
	return []border{
		{"leaves know nothing above them", is(leaves...), func(p string) bool {
			return under(p, known...) && !under(p, leaves...)
		}, true},
		{"the storage side knows no SQL", is(storageSide...), func(p string) bool {
			return under(p, "sql", "mysqlwire") || under(p, edge...)
		}, true},
		{"the planner knows no executor", is("sql/planner"), is(slices.Concat(runtime, []string{"sql/exec", "sql/source", "sql/ddl"})...), true},
		{"the executor knows of the planner only physical", is("sql/exec"), func(p string) bool {
			return under(p, "sql/planner") && p != "sql/planner/physical" || under(p, runtime...) || under(p, "sql/source", "sql/ddl", "storage/pebblekv")
		}, false},
		{"the executor reads and writes through interfaces of its own", is("sql/exec"), is("storage/table", "index", "search"), false},
		{"commands open stores in a cluster", is("server"), is("storage/tikvkv"), true},
		{"temporary files know rows only", is("sql/spill"), func(p string) bool {
			return under(p, "sql") && !under(p, "sql/spill", "sql/vec", "sql/types", "sql/sqlerr") || under(p, "storage")
		}, true},
		{"expressions know no plan", is("sql/types", "sql/vec", "sql/expr"), is("sql/planner", "sql/exec", "sql/catalog", "storage"), true},
		{"what a descriptor means needs no statement", is("sql/define", "sql/source", "sql/ddl", "sql/stats", "sql/planner/access", "sql/infoschema"),
			is("sql/planner/bind", "sql/parser"), true},
		{"definitions know no plan and no store", is("sql/define"), func(p string) bool {
			return under(p, runtime...) || under(p, "sql/planner", "sql/exec", "sql/catalog", "sql/source", "sql/ddl", "storage", "index", "stream")
		}, true},
		{"the executor knows of definitions only what rows are computed by", is("sql/exec"), func(p string) bool {
			return under(p, "sql/define") && p != "sql/define/derive"
		}, false},
		{"documents know no reading", is("sql/searchdoc"), func(p string) bool {
			return under(p, runtime...) || under(p, "sql/planner/access", "sql/planner/bind") || under(p, "sql/source") && p != "sql/source/decode"
		}, true},
		{"rows are decoded by what knows no way of reading", is("sql/source/decode"), is("sql/source/kvread", "sql/source/searchscan", "sql/source/changelog", "sql/source/write", "sql/searchdoc"), true},
		{"the ordered store is read without search indexes", is("sql/source/kvread"), is("sql/source/searchscan", "sql/source/changelog", "sql/source/write", "sql/searchdoc", "search"), false},
		{"writes open no scans", is("sql/source/write"), is("sql/source/kvread", "sql/source/searchscan", "sql/source/changelog", "sql/searchdoc", "search"), false},
		{"an engine knows no statement", is("sql/engine", "sql/introspect"), is("sql/statement", "sql/command", "sql/loaddata", "sql/ttl", "sql/session"), true},
		{"statements know no connection of a client, and commands only as an interface", is("sql/statement"), is("sql/command", "sql/loaddata", "sql/ttl", "sql/session"), true},
		{"a session runs statements and knows nothing of how", is("sql/session"), func(p string) bool {
			return under(p, "sql/planner", "sql/exec", "sql/source", "sql/catalog", "sql/ddl", "sql/command", "sql/loaddata", "sql/ttl", "storage", "index", "search", "stream")
		}, false},
		{"commands and jobs know no session", is("sql/command", "sql/loaddata", "sql/ttl"), is("sql/session"), true},
		{"jobs know nothing that they run", is("sql/engine/job"), func(p string) bool {
			return under(p, known...) && !under(p, "sql/engine/job") && !under(p, leaves...)
		}, true},
		{"the wire knows no engine", is("mysqlwire"), func(p string) bool {
			return under(p, runtime...) || under(p, "sql/planner", "sql/exec", "sql/source", "sql/catalog", "sql/ddl", "sql/infoschema", "sql/parser", "sql/stats") ||
				under(p, storageSide...) || under(p, edge...)
		}, true},
		{"SQL knows no edge", sql, is(edge...), true},
		{"HTTP knows no engine", is("httpd"), func(p string) bool {
			return under(p, runtime...) || under(p, "sql/planner", "sql/exec", "sql/source", "sql/catalog", "sql/ddl", "sql/infoschema", "sql/parser", "sql/stats") ||
				under(p, storageSide...) || under(p, edge...)
		}, true},
		{"segments know values only", is("search/seg"), func(p string) bool { return under(p, known...) && !under(p, "search/seg", "value", "internal/guard") }, true},
		{"engines are chosen in server only", func(dir string) bool {
			return !under(dir, "server", "cmd", "storage") && !under(dir, testOnly...) && !under(dir, tools...)
		}, is("storage/pebblekv", "storage/memkv"), false},
		{"fault injection and suites are for tests", func(dir string) bool { return !under(dir, "storage") }, is("storage/errkv", "storage/storagetest"), false},
	}
}

func TestBorders(t *testing.T) {
	pkgs := loadModule(t)
	for _, b := range borders() {
		t.Run(b.name, func(t *testing.T) {
			checked := 0
			for dir := range pkgs {
				if !b.of(dir) {
					continue
				}
				checked++
				for path, way := range reach(pkgs, dir, b.deep) {
					if b.bad(path) {
						t.Errorf("%s imports %s (%s)", dir, path, strings.Join(way, " → "))
					}
				}
			}
			if checked == 0 {
				t.Error("the rule applies to no package: has a folder been renamed?")
			}
		})
	}
}

// reach gives the imports of a package, also indirect ones when deep is set,
// each with the way to it.
func reach(pkgs map[string]*pkg, dir string, deep bool) map[string][]string {
	found := map[string][]string{}
	queue := []string{dir}
	for len(queue) > 0 {
		from := queue[0]
		queue = queue[1:]
		p := pkgs[from]
		if p == nil {
			continue // not of ours
		}
		for path, file := range p.imports {
			if _, seen := found[path]; seen || path == dir {
				continue
			}
			found[path] = append(slices.Clone(found[from]), file)
			if deep {
				queue = append(queue, path)
			}
		}
	}
	return found
}

// TestPackagesArePlaced wants a new top folder to be put into the lists above.
func TestPackagesArePlaced(t *testing.T) {
	for dir := range loadModule(t) {
		if !under(dir, known...) {
			t.Errorf("package %s is in none of the groups of borders_test.go", dir)
		}
	}
}

// engine names the packages that may import a module of others; all other
// packages see only types of ours.
var engines = []struct {
	name string
	is   func(path string) bool
	only []string
	// tests may use it everywhere
	tests bool
}{
	{"TiDB's parser", func(p string) bool { return strings.HasPrefix(p, "github.com/pingcap/tidb") }, []string{"sql/parser", "sql/planner/bind"}, false},
	{"Pebble", func(p string) bool { return strings.HasPrefix(p, "github.com/cockroachdb/pebble") }, []string{"storage/pebblekv"}, false},
	{"client-go", func(p string) bool {
		return strings.HasPrefix(p, "github.com/tikv/") || strings.HasPrefix(p, "github.com/pingcap/kvproto")
	}, []string{"storage/tikvkv"}, false},
	{"Bleve", func(p string) bool { return strings.HasPrefix(p, "github.com/blevesearch/") }, []string{"search/seg", "search/text"}, false},
	{"Bleve's storage", func(p string) bool {
		return strings.HasPrefix(p, "github.com/blevesearch/") && !strings.HasPrefix(p, "github.com/blevesearch/bleve/v2/analysis") && !strings.HasPrefix(p, "github.com/blevesearch/bleve/v2/registry")
	}, []string{"search/seg"}, false},
	{"bbolt", func(p string) bool { return strings.HasPrefix(p, "go.etcd.io/bbolt") }, []string{"search/seg"}, false},
	{"go-mysql-server", func(p string) bool { return strings.HasPrefix(p, "github.com/dolthub/go-mysql-server") }, []string{"sql/sysvar"}, false},
	{"dolthub/vitess", func(p string) bool { return strings.HasPrefix(p, "github.com/dolthub/vitess") }, []string{"mysqlwire"}, false},
	{"Vitess", func(p string) bool { return strings.HasPrefix(p, "vitess.io/vitess") }, []string{"collate"}, true},
	{"simplefeatures", func(p string) bool { return strings.HasPrefix(p, "github.com/peterstace/simplefeatures") }, []string{"geo"}, false},
	{"Prometheus's client", func(p string) bool { return strings.HasPrefix(p, "github.com/prometheus/") }, []string{"server/prom"}, false},
	{"systemd's protocol", func(p string) bool { return strings.HasPrefix(p, "github.com/coreos/go-systemd") }, []string{"cmd"}, false},
	{"the MySQL driver", func(p string) bool { return strings.HasPrefix(p, "github.com/go-sql-driver/") }, []string{"tool", "cmd", "examples", "test/apps"}, true},
}

func TestEnginesStayBehindOnePackage(t *testing.T) {
	for dir, p := range loadModule(t) {
		for _, e := range engines {
			if under(dir, e.only...) {
				continue
			}
			for path, file := range p.imports {
				if e.is(path) {
					t.Errorf("%s imports %s: %s may be seen in %v only", file, path, e.name, e.only)
				}
			}
			if e.tests {
				continue
			}
			for path, file := range p.testImports {
				if e.is(path) {
					t.Errorf("%s imports %s: %s may be seen in %v only", file, path, e.name, e.only)
				}
			}
		}
	}
}

// TestProductNeedsNoC wants the program to build for a user who has nothing
// but Go: these packages pull ICU through cgo, or a build tag.
func TestProductNeedsNoC(t *testing.T) {
	cmd := exec.Command("go", "list", "-deps", "./cmd/sqlots")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	deps := strings.Fields(string(out))
	sort.Strings(deps)
	for _, bad := range []string{
		"github.com/dolthub/go-icu-regex",
		"github.com/dolthub/go-mysql-server/server",
		"github.com/dolthub/go-mysql-server/sql/expression/function",
		"github.com/dolthub/go-mysql-server/sql/information_schema",
	} {
		for _, d := range deps {
			if under(d, bad) {
				t.Errorf("cmd/sqlots depends on %s", d)
			}
		}
	}
}
