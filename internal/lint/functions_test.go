package lint

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// probeCatalog has the one table that probes read: t(a INT, s VARCHAR(9), d
// DATETIME, ts TIMESTAMP, j JSON), with a search index of the text s.
type probeCatalog struct{ table *schema.Table }

func TestMain(m *testing.M) { testflag.Main(m) }

// Database implements bind.Catalog.
func (c probeCatalog) Database(string) (*schema.Database, bool) {
	return &schema.Database{Name: "test", Collation: schema.CollationUTF8MB40900AICI}, true
}

// Table implements bind.Catalog.
func (c probeCatalog) Table(_, name string) (*schema.Table, bool) { return c.table, name == "t" }

func probeTable() *schema.Table {
	t := &schema.Table{Name: "t", Database: "test", Collation: schema.CollationUTF8MB40900AICI}
	integer := types.BigInt
	integer.ID = schema.TypeInt
	stamp := types.DatetimeOf(0)
	stamp.ID = schema.TypeTimestamp
	for i, c := range []schema.Column{{Name: "a", Type: integer}, {Name: "s", Type: types.VarcharOf(9, schema.CollationUTF8MB40900AICI)},
		{Name: "d", Type: types.DatetimeOf(0)}, {Name: "ts", Type: stamp}, {Name: "j", Type: types.JSON}} {
		c.ID, c.Nullable = schema.ColumnID(i+1), true
		t.Columns = append(t.Columns, c)
	}
	t.Search = []schema.SearchIndex{{ID: 2, Name: "x", Fields: []schema.SearchField{{ID: 1, Column: 2, Kind: schema.SearchText},
		{ID: 2, Column: 2, Kind: schema.SearchNested, Sub: []schema.SearchField{{ID: 3, Name: "a", Kind: schema.SearchPath, Elem: types.BigInt}}}}}}
	return t
}

// probe binds SELECT call FROM t; "" means that it works, else it is the error.
func probe(call string) string {
	env := &bind.Env{Catalog: probeCatalog{probeTable()}, Database: "test", Mode: types.DefaultSQLMode &^ types.ModeOnlyFullGroupBy,
		Collation: schema.CollationUTF8MB40900AICI, ServerCollation: schema.CollationUTF8MB40900AICI}
	st, err := parser.New().Parse("SELECT "+call+" FROM t", env.Mode)
	if err == nil {
		_, err = bind.Bind(env, st)
	}
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return fmt.Sprint(e.Number)
	}
	if err != nil {
		return err.Error()
	}
	return ""
}

// probeName is the name of what a probe calls, and the call.
func probeName(p string) (name, call string) {
	plain := strings.ReplaceAll(p, `\|`, "\x00")
	if n, c, ok := strings.Cut(plain, "|"); ok {
		return strings.ReplaceAll(n, "\x00", `\|`), strings.ReplaceAll(c, "\x00", "|")
	}
	return p[:strings.IndexByte(p, '(')] + "()", p
}

// functionsDocument is the function reference of the MySQL 8.4 manual with the
// state of each name.
func functionsDocument() string {
	var b strings.Builder
	b.WriteString(`# Functions

<!-- Written by "go test ./internal/lint -update". -->

This is the function reference of the MySQL 8.4 manual (14.1), section by section. "yes": it does what MySQL's does. "no": it fails with the error that is shown. Names that are not in this list fail with error 1305.
`)
	for _, s := range reference {
		b.WriteString("\n## " + s.title + "\n\n")
		if s.excluded != "" {
			b.WriteString("Excluded: " + s.excluded + ".\n\n")
		}
		b.WriteString("| name | state |\n|---|---|\n")
		for _, p := range s.probes {
			name, call := probeName(p)
			state := "yes"
			if s.excluded != "" {
				state = "excluded"
			} else if number := probe(call); number != "" {
				state = "no: " + number
			}
			b.WriteString("| `" + name + "` | " + state + " |\n")
		}
	}
	return b.String()
}

// TestReferenceIsWhole holds that every function that can be called by name is
// in the reference, or is known to be missing.
func TestReferenceIsWhole(t *testing.T) {
	listed := map[string]bool{}
	for _, s := range reference {
		for _, p := range s.probes {
			name, _ := probeName(p)
			name = strings.ToLower(strings.TrimSuffix(name, "()"))
			if listed[name] {
				t.Errorf("%s is listed twice", name)
			}
			listed[name] = true
		}
	}
	for _, name := range []string{"json_append"} { // MySQL 5.7 had it
		listed[name] = true
	}
	for _, name := range expr.FuncNames() {
		if expr.IsFunc(name) && !listed[name] {
			t.Errorf("%s is not in the reference", name)
		}
	}
}

func TestFunctionsDocument(t *testing.T) {
	want := functionsDocument()
	path := filepath.Join(root, "docs", "functions.md")
	if testflag.Update() {
		if err := os.WriteFile(path, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if readText(t, "docs/functions.md") != want {
		t.Error(`docs/functions.md is out of date: run "go test ./internal/lint -update"`)
	}
}
