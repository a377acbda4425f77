package planner_test

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/define/derive"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/sql/planner/access"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/types"
)

// testCatalog is a catalog and estimator that scripts fill.
type testCatalog struct {
	tables   map[string]*schema.Table
	views    map[string]*schema.View
	rows     map[string]float64
	distinct map[string]float64
	// invisible: the next plan may use invisible indexes.
	invisible bool
	// counts: the sizes of searches are known.
	counts bool
}

var (
	_ access.Estimator     = (*testCatalog)(nil)
	_ access.SearchIndexes = (*testCatalog)(nil)
)

func TestMain(m *testing.M) { testflag.Main(m) }

func newTestCatalog() *testCatalog {
	return &testCatalog{tables: map[string]*schema.Table{}, views: map[string]*schema.View{}, rows: map[string]float64{}, distinct: map[string]float64{}}
}

func (c *testCatalog) Database(name string) (*schema.Database, bool) {
	return &schema.Database{Name: "d", Collation: schema.CollationUTF8MB40900AICI}, name == "d"
}

func (c *testCatalog) Table(db, name string) (*schema.Table, bool) {
	t, ok := c.tables[name]
	return t, ok && db == "d"
}

func (c *testCatalog) View(db, name string) (*schema.View, bool) {
	v, ok := c.views[name]
	return v, ok && db == "d"
}

func (c *testCatalog) TableRows(_ context.Context, t *schema.Table) float64 {
	if n, ok := c.rows[t.Name]; ok {
		return n
	}
	return 1000
}

// SpanRows guesses by the number of fixed columns, so that plans do not need
// data: each bound column divides by its distinct values, a range takes a third.
func (c *testCatalog) SpanRows(ctx context.Context, t *schema.Table, x *schema.Index, spans []ranges.Span) (float64, bool) {
	parts := t.PrimaryKey
	if x != nil {
		parts = t.EntryParts(x)
	}
	total := 0.0
	for _, s := range spans {
		n := c.TableRows(ctx, t)
		for i := 0; i < len(s.Low) || i < len(s.High); i++ {
			equal := i < len(s.Low) && i < len(s.High) && types.CompareNull(s.Low[i], s.High[i], t.Column(parts[i].Column).Type) == 0
			if !equal {
				n /= 3
				break
			}
			d := c.Distinct(ctx, t, []schema.ColumnID{parts[i].Column})
			if d == 0 {
				d = 100
			}
			n /= d
		}
		total += n
	}
	return max(total, 1), true
}

func (c *testCatalog) Distinct(_ context.Context, t *schema.Table, cols []schema.ColumnID) float64 {
	return c.distinct[t.Name+"."+t.Column(cols[0]).Name]
}

// TestPlans runs testdata/plans, testdata/access (which access paths were weighed)
// and testdata/ranges (which spans conditions make): ddl, stats, plan and spans
// commands.
//
//	ddl                     CREATE TABLE statements
//	stats                   table rows=N [column=distinct …], one table a line
//	plan [disable=(a,b)] [parallel=n] [trace=true]
//	                        prints the physical plan of a statement; trace adds
//	                        the access paths that were considered
//	spans index=(i)         the spans of an index for each condition on table t,
//	                        one a line
func TestPlans(t *testing.T) {
	for _, dir := range []string{"plans", "access", "ranges"} {
		runPlans(t, "testdata/"+dir)
	}
}

func runPlans(t *testing.T, dir string) {
	datadriven.Walk(t, dir, func(t *testing.T, path string) {
		c := newTestCatalog()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "ddl":
				return c.ddl(d.Input)
			case "stats":
				return c.stats(d.Input)
			case "spans":
				index := "PRIMARY"
				d.MaybeScanArgs(t, "index", &index)
				return c.spans(index, d.Input)
			case "plan":
				var disabled []string
				d.MaybeScanArgs(t, "disable", &disabled)
				parallel := 1
				d.MaybeScanArgs(t, "parallel", &parallel)
				why := false
				d.MaybeScanArgs(t, "trace", &why)
				c.invisible = d.HasArg("invisible")
				return c.plan(d.Input, disabled, parallel, why)
			}
			return "unknown command " + d.Cmd
		})
	})
}

// spans are those that conditions on t make for an index, with what is left to be
// checked on its rows.
func (c *testCatalog) spans(index, input string) string {
	var out strings.Builder
	for _, cond := range strings.Split(strings.TrimSpace(input), "\n") {
		tree := c.plan("SELECT * FROM t FORCE INDEX ("+index+") WHERE "+cond, nil, 1, false)
		var parts []string
		for _, line := range strings.Split(tree, "\n") {
			line = strings.TrimSpace(line)
			if strings.HasPrefix(line, "spans:") || strings.HasPrefix(line, "filter:") || strings.HasPrefix(line, "-> filter") || strings.HasPrefix(line, "-> empty") || strings.HasPrefix(line, "ERROR") {
				line, _, _ = strings.Cut(line, "  (cost")
				parts = append(parts, line)
			}
		}
		if len(parts) == 0 {
			parts = []string{strings.TrimSpace(strings.Split(tree, "  (cost")[0])}
		}
		fmt.Fprintf(&out, "%s\n    %s\n", cond, strings.Join(parts, "\n    "))
	}
	return out.String()
}

func (c *testCatalog) bind(sql string) (logical.Statement, error) {
	st, err := parser.New().Parse(sql, types.DefaultSQLMode)
	if err != nil {
		return nil, err
	}
	return bind.Bind(&bind.Env{Catalog: c, Database: "d", Mode: types.DefaultSQLMode, Collation: schema.CollationUTF8MB40900AICI}, st)
}

func (c *testCatalog) ddl(input string) string {
	for rest := input; ; {
		sql, tail, ok := parser.Next(rest, types.DefaultSQLMode)
		if !ok {
			return ""
		}
		st, err := c.bind(sql)
		if err != nil {
			return err.Error() + "\n"
		}
		if v, ok := st.(*logical.CreateView); ok {
			c.views[v.View.Name] = v.View
			rest = tail
			continue
		}
		t := st.(*logical.CreateTable).Table
		t.ID = schema.TableID(len(c.tables) + 1)
		c.tables[t.Name] = t
		rest = tail
	}
}

func (c *testCatalog) stats(input string) string {
	for _, line := range strings.Split(strings.TrimSpace(input), "\n") {
		f := strings.Fields(line)
		for _, kv := range f[1:] {
			k, v, _ := strings.Cut(kv, "=")
			n, err := strconv.ParseFloat(v, 64)
			if err != nil {
				return err.Error()
			}
			if k == "rows" {
				c.rows[f[0]] = n
			} else {
				c.distinct[f[0]+"."+k] = n
			}
		}
	}
	return ""
}

// compiled are the computed columns of a table.
func compiled(t *schema.Table) *derive.Exprs {
	r, err := define.Compile(bind.NewBinder(parser.NewPool()), t)
	if err != nil {
		panic(err)
	}
	return r
}

func (c *testCatalog) plan(sql string, disabled []string, parallel int, why bool) string {
	st, err := c.bind(sql)
	if err != nil {
		return err.Error() + "\n"
	}
	off := map[string]bool{}
	for _, n := range disabled {
		off[n] = true
	}
	plan, err := planner.Plan(context.Background(), st, planner.Options{Est: c, Ctx: &expr.Ctx{}, Bind: &expr.BindEnv{Collation: schema.CollationUTF8MB40900AICI, Mode: types.DefaultSQLMode},
		TableExprs: compiled, Invisible: c.invisible, Parallelism: parallel, Disabled: off, Check: true})
	if err != nil {
		return fmt.Sprintf("%v\n", err)
	}
	p := physical.Printer{Ctx: &expr.Ctx{}, Why: why}
	return p.Tree(plan)
}

// SearchReady: an index whose name begins with building does not serve queries yet.
func (c *testCatalog) SearchReady(_ *schema.Table, x *schema.SearchIndex) bool {
	return !strings.HasPrefix(x.Name, "building")
}

// SearchRows guesses by the nodes of a query, where sizes are known.
func (c *testCatalog) SearchRows(ctx context.Context, _ *expr.Ctx, t *schema.Table, _ *schema.SearchIndex, n *physical.SearchNode) (float64, bool) {
	rows := c.TableRows(ctx, t)
	n.Each(func(n *physical.SearchNode) { rows /= float64(2 + n.Op) })
	return rows, c.counts
}

// SearchRejected: an index whose name begins with rejects has values that it does not take.
func (c *testCatalog) SearchRejected(_ context.Context, _ *schema.Table, n *physical.SearchScan, read []int) float64 {
	if !strings.HasPrefix(n.Index.Name, "rejects") {
		return 0
	}
	return float64(100 + len(read))
}
