package plantest_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/planner/plantest"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/source"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/spill"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// firstSeed is that of the random statements.
func firstSeed() int64 { return int64(testflag.Seed(1)) }

// statements is how many random statements a test makes.
func statements() int { return testflag.Rounds(6, 30, 90) }

const ddl = `
CREATE TABLE a (id INT PRIMARY KEY, x INT, y INT NOT NULL, s VARCHAR(10), d DECIMAL(6,2), u INT UNSIGNED, t DATE,
  KEY x (x), KEY xy (x DESC, y), KEY s (s(2), y), KEY sx (s, x), UNIQUE KEY du (d, u), KEY t (t DESC));
CREATE TABLE b (p VARCHAR(10), q BIGINT, x INT, y SMALLINT, s VARCHAR(10), f FLOAT, e ENUM('z','y','x'),
  PRIMARY KEY (p, q), KEY y (y, f) SECONDARY_ENGINE_ATTRIBUTE='{"include":["s"]}', KEY s (s DESC), KEY e (e), UNIQUE KEY x (x, q));
CREATE TABLE c (id BIGINT UNSIGNED, x INT, s VARCHAR(10) COLLATE utf8mb4_bin, t DATETIME(3), KEY x (x, id), KEY s (s), KEY t (t))`

// world is a catalog with filled tables. Estimates are chance, so that plans
// differ from one statement to the next.
type world struct {
	tables map[string]*schema.Table
	store  storage.Store
	codecs *decode.Codecs
	disk   *spill.Disk
	r      *rand.Rand
	// params are the types of the parameters of the statement.
	params []schema.Type
}

func (w *world) Database(name string) (*schema.Database, bool) {
	return &schema.Database{Name: "d", Collation: schema.CollationUTF8MB40900AICI}, name == "d"
}

func (w *world) Table(_, name string) (*schema.Table, bool) { t, ok := w.tables[name]; return t, ok }

func (w *world) chance() float64 { return float64(int(1) << w.r.Intn(22)) }

func (w *world) TableRows(context.Context, *schema.Table) float64 { return w.chance() }

func (w *world) SpanRows(context.Context, *schema.Table, *schema.Index, []ranges.Span) (float64, bool) {
	return w.chance(), w.r.Intn(4) > 0
}

func (w *world) Distinct(context.Context, *schema.Table, []schema.ColumnID) float64 {
	return w.chance()
}

func (w *world) bind(t *testing.T, sql string) logical.Statement {
	t.Helper()
	st, err := parser.New().Parse(sql, types.DefaultSQLMode)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	out, err := bind.Bind(&bind.Env{Catalog: w, ParamTypes: w.params, Database: "d", Mode: types.DefaultSQLMode &^ types.ModeOnlyFullGroupBy, Collation: schema.CollationUTF8MB40900AICI}, st)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	return out
}

func (w *world) txn(t *testing.T) (storage.Txn, *source.Source) {
	t.Helper()
	txn, err := w.store.Begin(t.Context(), storage.TxnOptions{LockTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	return txn, source.New(source.Env{Store: w.store, View: txn, Txn: txn, Loc: time.UTC, Codecs: w.codecs, Sequences: table.NewSequences(w.store)})
}

func (w *world) create(t *testing.T, sql string) {
	t.Helper()
	tab := w.bind(t, sql).(*logical.CreateTable).Table
	tab.ID = schema.TableID(len(w.tables) + 1)
	w.tables[tab.Name] = tab
}

func newWorld(t *testing.T, r *rand.Rand) *world {
	t.Helper()
	w := &world{tables: map[string]*schema.Table{}, store: memkv.New(memkv.Options{}), codecs: decode.NewCodecs(bind.NewBinder(parser.NewPool())), r: r}
	var err error
	if w.disk, err = spill.Open(spill.Options{Dir: t.TempDir()}); err != nil {
		t.Fatal(err)
	}
	for rest := ddl; ; {
		sql, tail, ok := parser.Next(rest, types.DefaultSQLMode)
		if !ok {
			break
		}
		w.create(t, sql)
		rest = tail
	}
	null := func(s string) string {
		if r.Intn(6) == 0 {
			return "NULL"
		}
		return s
	}
	num := func() string { return null(fmt.Sprint(r.Intn(7) - 1)) }
	word := func() string { return null(w.word()) }
	day := func() string { return null(fmt.Sprintf("'2024-01-0%d'", 1+r.Intn(4))) }
	var a, b, c []string
	for i := range 60 {
		a = append(a, fmt.Sprintf("(%d,%s,%d,%s,%s,%s,%s)", i-5, num(), r.Intn(5), word(), null(fmt.Sprintf("%d.%d", r.Intn(9)-4, r.Intn(3))), null(fmt.Sprint(i)), day()))
		b = append(b, fmt.Sprintf("(%s,%d,%s,%s,%s,%s,%s)", w.word(), i%9+20*i, num(), num(), word(), null(fmt.Sprintf("%d.5", r.Intn(4))), null([]string{"'x'", "'y'", "'z'"}[r.Intn(3)])))
		c = append(c, fmt.Sprintf("(%s,%s,%s,%s)", null(fmt.Sprint(r.Intn(9))), num(), word(), null(fmt.Sprintf("'2024-01-0%d 00:00:0%d'", 1+r.Intn(3), r.Intn(2)))))
	}
	for name, rows := range map[string][]string{"a": a, "b": b, "c": c} {
		w.change(t, "INSERT INTO "+name+" VALUES "+strings.Join(rows, ","))
	}
	return w
}

func (w *world) word() string {
	list := []string{"", "a", "A", "b", "ab", "Ab", "abc", "ß", "ss", "ssx", "ä", "zz", "a%"}
	return "'" + list[w.r.Intn(len(list))] + "'"
}

func (w *world) env(s *source.Source) *exec.Env {
	env := &exec.Env{Source: s, Sink: s, Ctx: &expr.Ctx{Env: types.Env{Loc: time.UTC, Mode: types.DefaultSQLMode}}, Parallelism: 2, BatchSize: []int{0, 1, 3}[w.r.Intn(3)]}
	if w.r.Intn(3) == 0 {
		env.Memory = exec.NewTracker("query", 0)
		env.Spill, env.SpillOver = w.disk, 500
	}
	return env
}

func (w *world) plan(st logical.Statement, off map[string]bool, params ...value.Datum) (*physical.Plan, error) {
	ctx := &expr.Ctx{Env: types.Env{Loc: time.UTC, Mode: types.DefaultSQLMode}, Params: params}
	return planner.Plan(context.Background(), st, planner.Options{Est: w, Ctx: ctx, Bind: &expr.BindEnv{Collation: schema.CollationUTF8MB40900AICI}, Parallelism: 1 + w.r.Intn(2), Disabled: off, Check: true})
}

func (w *world) change(t *testing.T, sql string) {
	t.Helper()
	plan, err := w.plan(w.bind(t, sql), nil)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	txn, s := w.txn(t)
	if _, err := exec.RunChange(context.Background(), w.env(s), plan); err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	if _, err := txn.Commit(context.Background()); err != nil {
		t.Fatal(err)
	}
}

// query runs sql and gives its rows as text. The plan is made when the
// parameters have the values planned, and run with others.
func (w *world) query(t *testing.T, sql string, off map[string]bool, planned, params []value.Datum) (rows []string, tree string, err error) {
	t.Helper()
	plan, err := w.plan(w.bind(t, sql), off, planned...)
	if err != nil {
		return nil, "", err
	}
	tree = (&physical.Printer{Ctx: &expr.Ctx{Env: types.Env{Loc: time.UTC}}}).Tree(plan)
	txn, s := w.txn(t)
	defer txn.Rollback()
	cols := plan.Root.Columns()
	env := w.env(s)
	env.Ctx.Params = params
	err = exec.RunQuery(context.Background(), env, plan, func(b *vec.Batch) error {
		for i := range b.Live() {
			rows = append(rows, rowText(cols, b, b.Row(i)))
		}
		return nil
	})
	return rows, tree, err
}

func rowText(cols []physical.Column, b *vec.Batch, row int) string {
	var text strings.Builder
	for c, v := range b.Cols {
		d := v.Datum(row)
		switch {
		case d.IsNull():
			text.WriteString("|NULL")
		case d.Kind() == value.KindBytes && strings.Contains(cols[c].Name, "any"):
			// which of the equal texts stands for a group is chance
			text.WriteString("|" + string(types.HashKey(nil, d, cols[c].T)))
		default:
			text.WriteString("|" + string(types.AppendText(nil, cols[c].T, d)))
		}
	}
	return text.String()
}

// TestDifferential runs random queries by many plans, over the executor and the
// source: all must give the rows of the plainest plan.
func TestDifferential(t *testing.T) {
	for i := range statements() {
		at := firstSeed() + int64(i)
		r := rand.New(rand.NewSource(at))
		w := newWorldCached(t, r)
		w.r = r
		g := &generator{r: r, w: w}
		sql, ordered := g.statement()
		plain := plantest.Off(append(planner.Rules(), planner.Operators()...)...)
		want, _, err := w.query(t, sql, plain.Disabled, nil, nil)
		if err != nil {
			t.Fatalf("seed %d: %s: %v", at, sql, err)
		}
		if !ordered {
			slices.Sort(want)
		}
		for _, set := range plantest.Sets(3, at) {
			got, tree, err := w.query(t, sql, set.Disabled, nil, nil)
			if err != nil {
				t.Fatalf("seed %d: %s\nwithout %s: %v\n%s", at, sql, set.Name, err, tree)
			}
			if !ordered {
				slices.Sort(got)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %s\nwithout %s gives %d rows\n%s\nwant %d\n%s\n%s", at, sql, set.Name,
					len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"), tree)
			}
		}
	}
}

// TestDifferentialParams plans statements for some values of their parameters
// and runs the plans with others, as the plan cache does.
func TestDifferentialParams(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewSource(firstSeed())))
	for i := range statements() {
		at := firstSeed() + int64(i)
		w.r = rand.New(rand.NewSource(at))
		g := &generator{r: w.r, w: w, prepare: true}
		sql, ordered := g.statement()
		values := func() []value.Datum {
			list := make([]value.Datum, g.params)
			for i := range list {
				if list[i] = value.Int(int64(w.r.Intn(8))); w.r.Intn(8) == 0 && !strings.Contains(sql, "LIMIT ?") {
					list[i] = value.Null
				}
			}
			return list
		}
		w.params = slices.Repeat([]schema.Type{types.BigInt}, g.params)
		params := values()
		plain := plantest.Off(append(planner.Rules(), planner.Operators()...)...)
		want, _, err := w.query(t, sql, plain.Disabled, values(), params)
		if err != nil {
			t.Fatalf("seed %d: %s: %v", at, sql, err)
		}
		if !ordered {
			slices.Sort(want)
		}
		for _, set := range []plantest.Set{plantest.Off(), plantest.Off("HashJoin"), plantest.Off("LookupJoin"), plantest.Off("PushFilters"), plantest.Off()} {
			got, tree, err := w.query(t, sql, set.Disabled, values(), params)
			if err != nil {
				t.Fatalf("seed %d: %s\nwithout %s: %v\n%s", at, sql, set.Name, err, tree)
			}
			if !ordered {
				slices.Sort(got)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %s with %v\nwithout %s gives\n%s\nwant\n%s\n%s", at, sql, params, set.Name, strings.Join(got, "\n"), strings.Join(want, "\n"), tree)
			}
		}
	}
	w.params = nil
}

// shared is one world for many statements; they do not change it.
func newWorldCached(t *testing.T, r *rand.Rand) *world {
	t.Helper()
	if r.Int63()%20 != 0 && lastWorld[t] != nil {
		return lastWorld[t]
	}
	w := newWorld(t, r)
	lastWorld[t] = w
	return w
}

var lastWorld = map[*testing.T]*world{}
