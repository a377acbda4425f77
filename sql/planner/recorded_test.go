package planner_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/planner/plantest"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/tool/slt"
)

// The statements that TestRecorded binds and plans: those of all scripts, and more of
// what scripts rarely have, one in a line or in several that are indented.
const (
	scripts    = "../../testdata/sqllogic"
	furtherSQL = "testdata/statements"
)

// TestRecorded binds and plans statements, and compares digests of what comes of it with
// recorded ones: of the bound statement, and of its plans. Whether
// a plan is right is for the tests that run it; this test finds changes, and is fast.
// Look at the plans of some statements it names, then write the digests with -update.
// -short takes each third file.
func TestRecorded(t *testing.T) {
	var got strings.Builder
	var about []string
	for i, path := range recordedFiles(t) {
		if i%testflag.InShort(6, 1) != 0 {
			continue
		}
		for _, mode := range []types.SQLMode{types.DefaultSQLMode, otherMode} {
			if mode == otherMode && filepath.Ext(path) != ".sql" {
				continue
			}
			got.WriteString("## " + filepath.Base(filepath.Dir(path)) + "/" + filepath.Base(path))
			if mode == otherMode {
				got.WriteString(" in another mode")
			}
			got.WriteByte('\n')
			about = append(about, "")
			r := newRecorder()
			r.env.Mode = mode
			r.file(t, path, func(line int, sql, text string) {
				got.WriteString(testutil.Digest(text) + "\n")
				about = append(about, fmt.Sprintf("%s:%d %s\n%s", path, line, sql, text))
			})
		}
	}
	testflag.GoldenPart(t, "testdata/recorded.txt", got.String(), func(line int, _ string) string {
		if line < len(about) {
			return about[line]
		}
		return ""
	})
}

// otherMode has what the default sql_mode has not.
const otherMode = types.ModeANSIQuotes | types.ModePipesAsConcat | types.ModeNoUnsignedSubtraction | types.ModeHighNotPrecedence | types.ModeRealAsFloat | types.ModeNoBackslashEscapes | types.ModeAllowInvalidDates

// recorder binds statements of one script after the other. Its catalog has the tables
// of CREATE TABLE; of what ALTER TABLE does it has new columns and keys only.
type recorder struct {
	*testCatalog
	env    *bind.Env
	parser *parser.Parser
	binder define.Binder
	exprs  map[*schema.Table]*derive.Exprs
	warns  []string
	sets   []plantest.Set
	// lastID is that of the newest table.
	lastID schema.TableID
}

func recordedFiles(t *testing.T) (list []string) {
	t.Helper()
	for _, pattern := range []string{furtherSQL + "/*.sql", scripts + "/*/*.test"} {
		files, err := filepath.Glob(pattern)
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		list = append(list, files...)
	}
	return list
}

func newRecorder() *recorder {
	r := &recorder{testCatalog: newTestCatalog(), parser: parser.New(), binder: bind.NewBinder(parser.NewPool()), exprs: map[*schema.Table]*derive.Exprs{}, sets: []plantest.Set{plantest.Off(), plantest.Off("HashJoin", "ParallelAggregate"), plantest.Off("LookupJoin", "StreamAggregate", "PushFilters")}}
	r.env = &bind.Env{Catalog: r, Virtual: scriptVirtual{}, Database: "d", Mode: types.DefaultSQLMode, Collation: schema.CollationUTF8MB40900AICI,
		ServerCollation: schema.CollationLatin1SwedishCI, Parser: parser.NewPool(), Warn: func(w sqlerr.Warning) { r.warns = append(r.warns, w.Err.Error()) }}
	r.env.UserVar = func(name string) schema.Type { return variableTypes[len(name)%len(variableTypes)] }
	r.env.SysVar = func(_, name string) (schema.Type, error) { return variableTypes[len(name)%len(variableTypes)], nil }
	return r
}

// variableTypes are those of variables, by the lengths of their names.
var variableTypes = []schema.Type{types.BigInt, types.UBigInt, types.Double, types.DecimalOf(10, 2), types.VarcharOf(20, schema.CollationUTF8MB40900AICI)}

// Database has the databases d, e and f, of different collations: those of f are the
// server's.
func (r *recorder) Database(name string) (*schema.Database, bool) {
	c, ok := map[string]schema.CollationID{"d": schema.CollationUTF8MB40900AICI, "e": schema.CollationUTF8MB4Bin, "f": schema.CollationNone}[name]
	return &schema.Database{Name: name, Collation: c}, ok
}

// Table finds the tables of e by e. and the name.
func (r *recorder) Table(db, name string) (*schema.Table, bool) {
	t, ok := r.tables[place(db, name)]
	return t, ok
}

func (r *recorder) View(db, name string) (*schema.View, bool) {
	v, ok := r.views[place(db, name)]
	return v, ok
}

func place(db, name string) string {
	if db == "d" {
		return name
	}
	return db + "." + name
}

// scriptVirtual has all virtual tables that are named, with the same columns.
type scriptVirtual struct{}

func (scriptVirtual) IsVirtual(db string) bool {
	return slices.Contains([]string{"information_schema", "performance_schema", "mysql", "sys"}, strings.ToLower(db))
}

func (v scriptVirtual) Virtual(db, name string, args ...string) (logical.VirtualTable, bool, error) {
	if db != logical.ShowDatabase && !v.IsVirtual(db) {
		return logical.VirtualTable{}, false, nil
	}
	t := logical.VirtualTable{Name: name, Key: db + "." + name + fmt.Sprint(args)}
	for _, col := range []string{"Name", "Value", "TABLE_SCHEMA", "TABLE_NAME", "Field", "Key", "Table", "Variable_name"} {
		t.Cols = append(t.Cols, logical.Column{Name: col, T: types.VarcharOf(64, schema.CollationUTF8GeneralCI), Null: col == "Value"})
	}
	return t, true, nil
}

// file gives record each statement of a file with what becomes of it.
func (r *recorder) file(t *testing.T, path string, record func(line int, sql, text string)) {
	t.Helper()
	if filepath.Ext(path) == ".sql" {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		line := 1
		for _, sql := range strings.Split(strings.ReplaceAll(string(text), "\n ", "\x00 "), "\n") {
			if sql != "" && sql[0] != '#' {
				record(line, sql, r.statement(strings.ReplaceAll(sql, "\x00", "\n")))
			}
			line += 1 + strings.Count(sql, "\x00")
		}
		return
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	for p := slt.NewParser(path, f); ; {
		rec, err := p.Next()
		if errors.Is(err, io.EOF) || err == nil && rec.Kind == slt.KindHalt && len(rec.Conditions) == 0 {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		if rec.Kind != slt.KindStatement && rec.Kind != slt.KindQuery || len(rec.SQL) > 2000 || !runsHere(rec) {
			continue
		}
		record(rec.Line, rec.SQL, r.statement(rec.SQL))
	}
}

func runsHere(rec *slt.Record) bool {
	return !slices.ContainsFunc(rec.Conditions, func(c slt.Condition) bool {
		return c.Only != (slices.Contains(c.Names, "sqlots") || slices.Contains(c.Names, "mysql"))
	})
}

// statement is what becomes of one statement: an error, or what it means and how it
// would run.
func (r *recorder) statement(sql string) (text string) {
	r.warns = nil
	defer func() { text += strings.Join(r.warns, "\n") }()
	st, err := r.parser.Parse(sql, r.env.Mode)
	if err != nil {
		return err.Error()
	}
	bound, err := bind.Bind(r.env, st)
	if err != nil {
		return err.Error()
	}
	meaning := testutil.Dump(bound, r.brief)
	if err := r.apply(bound); err != nil {
		return meaning + err.Error()
	}
	for i, set := range r.sets {
		text += r.planOf(bound, i, set)
		if !strings.Contains(meaning, "Join{") && !strings.Contains(meaning, "Apply{") {
			break
		}
		// The planner may keep parts of what it was given.
		if st, err = r.parser.Parse(sql, r.env.Mode); err == nil {
			bound, err = bind.Bind(r.env, st)
		}
		if err != nil {
			return text + err.Error()
		}
	}
	return text + meaning + "\n"
}

// lastDigits are those of costs that depend on the processor.
var lastDigits = regexp.MustCompile(`(\.\d{3})\d+`)

// planOf is the plan of a query or change, "" for other statements.
func (r *recorder) planOf(st logical.Statement, n int, set plantest.Set) string {
	switch st.(type) {
	case *logical.Query, *logical.Insert, *logical.Update, *logical.Delete, *logical.MultiUpdate, *logical.MultiDelete:
	default:
		return ""
	}
	ctx := &expr.Ctx{Env: types.Env{Loc: time.UTC, Mode: types.DefaultSQLMode, Now: time.Date(2024, 2, 29, 13, 14, 15, 0, time.UTC)}}
	plan, err := planner.Plan(context.Background(), st, planner.Options{Est: r, Ctx: ctx, Bind: &expr.BindEnv{Collation: schema.CollationUTF8MB40900AICI, Mode: types.DefaultSQLMode},
		TableExprs: r.compiled, Parallelism: 1 + n%2, Disabled: set.Disabled, Check: true})
	if err != nil {
		return err.Error() + "\n"
	}
	p := physical.Printer{Ctx: ctx, Why: n == 0}
	text := p.Tree(plan) + testutil.Dump(plan, r.brief)
	if n == 0 {
		text += testutil.Dump(p.Rows(plan), r.brief) + lastDigits.ReplaceAllString(p.JSON(plan), "$1")
	}
	return text + "\n"
}

func (r *recorder) compiled(t *schema.Table) *derive.Exprs {
	if _, ok := r.exprs[t]; !ok {
		r.exprs[t] = compiled(t)
	}
	return r.exprs[t]
}

// brief leaves out of a dump what statements share, compiled patterns, the words of languages, and what is
// not ours.
func (r *recorder) brief(v reflect.Value) (string, bool) {
	switch v.Type() {
	case reflect.TypeFor[*schema.Table](), reflect.TypeFor[*schema.View]():
		if v.IsNil() {
			return "", false
		}
		name := place(v.Elem().FieldByName("Database").String(), v.Elem().FieldByName("Name").String())
		for _, known := range []any{r.tables[name], r.views[name]} {
			if reflect.ValueOf(known).Pointer() == v.Pointer() {
				return "of " + name, true
			}
		}
		return "", false
	case reflect.TypeFor[*collate.Collation]():
		if v.IsNil() {
			return "", false
		}
		return v.Elem().FieldByName("Name").String(), true
	case reflect.TypeFor[*expr.Builtin](), reflect.TypeFor[*schema.Database]():
		return "shared", true
	}
	of, ours := strings.CutPrefix(v.Type().PkgPath(), "github.com/sqlots/sqlots/")
	return v.Type().String(), v.Kind() == reflect.Struct && of != "" && (!ours || of == "collate" || of == "search/text/dict")
}

// apply changes the catalog as far as bound statements show how.
func (r *recorder) apply(st logical.Statement) error {
	switch st := st.(type) {
	case *logical.CreateView:
		r.views[place(st.View.Database, st.View.Name)] = st.View
	case *logical.CreateTable:
		if st.Table != nil && r.tables[place(st.Table.Database, st.Table.Name)] == nil {
			h := fnv.New32a()
			h.Write([]byte(st.Table.Name))
			r.rows[st.Table.Name] = []float64{7, 1000, 50_000, 3_000_000}[h.Sum32()%4]
			r.add(st.Table)
			if st.PartitionBy != nil {
				defer define.KeyPartitions(st.Table)
				return define.SetPartitions(r.binder, st.Table, st.PartitionBy, &expr.Ctx{Env: types.Env{Loc: time.UTC}})
			}
		}
	case *logical.DropTable:
		for _, name := range st.Tables {
			delete(r.tables, place(name.DB, name.Name))
		}
	case *logical.AlterTable:
		if old := r.tables[place(st.Table.DB, st.Table.Name)]; old != nil {
			t, err := r.altered(old, st.Specs)
			if err != nil {
				return err
			}
			r.add(t)
		}
	}
	return nil
}

func (r *recorder) add(t *schema.Table) {
	r.lastID++
	t.ID = r.lastID
	r.tables[place(t.Database, t.Name)] = t
}

// altered is a table with the columns and keys that clauses add.
func (r *recorder) altered(old *schema.Table, specs []logical.AlterSpec) (*schema.Table, error) {
	t := *old
	t.Columns, t.Indexes, t.Search = slices.Clone(t.Columns), slices.Clone(t.Indexes), slices.Clone(t.Search)
	for _, spec := range specs {
		switch {
		case spec.Kind == logical.AlterAddColumn && spec.Column.Generated == nil:
			c := spec.Column
			c.ID = schema.ColumnID(1000 + len(t.Columns))
			t.Columns = append(t.Columns, c)
		case spec.Kind == logical.AlterAddIndex:
			if err := r.addIndex(&t, spec); err != nil {
				return nil, err
			}
		}
	}
	return &t, nil
}

func (r *recorder) addIndex(t *schema.Table, spec logical.AlterSpec) (err error) {
	x, first := spec.Index, define.ColumnarName // of (*)
	if len(spec.IndexColumns) > 0 {
		first = cmp.Or(spec.IndexColumns[0].Name, define.FunctionalIndex)
	}
	x.Name = cmp.Or(x.Name, spec.Name, define.IndexName(t, first))
	x.ID = t.NextIndexID
	t.NextIndexID++
	if spec.Search != nil {
		s := *spec.Search
		s.ID, s.Name = x.ID, x.Name
		if err := define.ResolveSearch(r.binder, t, &s, spec.IndexColumns); err != nil {
			return err
		}
		t.Search = append(t.Search, s)
		return nil
	}
	cols, err := define.KeyExpressions(r.binder, t, x.Name, spec.IndexColumns)
	if err != nil {
		return err
	}
	if x.Parts, err = define.ResolveKey(t, cols); err != nil {
		return err
	}
	if x.Include, err = define.ResolveInclude(t, &x, spec.Include); err != nil {
		return err
	}
	x.State = schema.IndexPublic
	t.Indexes = append(t.Indexes, x)
	return define.ResolveWhere(r.binder, t, &t.Indexes[len(t.Indexes)-1], spec.Where)
}
