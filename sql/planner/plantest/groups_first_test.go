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
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/planner/plantest"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
)

// bigTables says that tables have many rows of few values, so that groups are formed
// before joins wherever that is possible.
type bigTables struct{ *world }

func (bigTables) TableRows(context.Context, *schema.Table) float64 { return 1e6 }

func (bigTables) Distinct(context.Context, *schema.Table, []schema.ColumnID) float64 { return 3 }

// grouped runs sql; first says that groups were formed before a join.
func (b bigTables) grouped(t *testing.T, sql string, off map[string]bool) (rows []string, tree string, first bool) {
	t.Helper()
	ctx := &expr.Ctx{Env: types.Env{Loc: time.UTC, Mode: types.DefaultSQLMode}}
	plan, err := planner.Plan(t.Context(), b.bind(t, sql), planner.Options{Est: b, Ctx: ctx, Bind: &expr.BindEnv{Collation: schema.CollationUTF8MB40900AICI}, Parallelism: 2, Disabled: off, Check: true})
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	var walk func(n physical.Node)
	walk = func(n physical.Node) {
		var aggs []*expr.Agg
		switch x := n.(type) {
		case *physical.HashAggregate:
			aggs = x.Aggs
		case *physical.StreamAggregate:
			aggs = x.Aggs
		}
		for _, a := range aggs {
			first = first || a.Final
		}
		for _, in := range n.Inputs() {
			walk(in)
		}
	}
	walk(plan.Root)
	tree = (&physical.Printer{Ctx: ctx}).Tree(plan)
	txn, s := b.txn(t)
	defer txn.Rollback()
	cols := plan.Root.Columns()
	err = exec.RunQuery(t.Context(), b.env(s), plan, func(out *vec.Batch) error {
		for i := range out.Live() {
			rows = append(rows, rowText(cols, out, out.Row(i)))
		}
		return nil
	})
	if err != nil {
		t.Fatalf("%s: %v\n%s", sql, err, tree)
	}
	slices.Sort(rows)
	return rows, tree, first
}

// groupedQuery is a random aggregation over a join.
func groupedQuery(r *rand.Rand) string {
	pick := func(list ...string) string { return list[r.Intn(len(list))] }
	words := map[string][]string{"a": {"id", "x", "y", "u", "t"}, "b": {"q", "x", "y", "e"}, "c": {"id", "x", "t"}}
	numbers := map[string][]string{"a": {"id", "x", "y", "u", "d"}, "b": {"q", "x", "y"}, "c": {"id", "x"}}
	keys := map[string][]string{"a": {"id", "x", "y"}, "b": {"q", "x", "y"}, "c": {"x", "x"}}
	main := pick("a", "b", "c")
	from := main + " m"
	others := []string{}
	for i := range 1 + r.Intn(2) {
		o, alias := pick("a", "b", "c"), fmt.Sprintf("o%d", i)
		on := fmt.Sprintf("m.%s = %s.%s", pick(keys[main]...), alias, pick(keys[o]...))
		if i > 0 && r.Intn(2) == 0 {
			on += fmt.Sprintf(" AND %s = o0.x", alias+"."+pick(keys[o]...))
		}
		if r.Intn(4) == 0 {
			on += fmt.Sprintf(" AND %s.%s > %d", alias, pick(keys[o]...), r.Intn(4))
		}
		from += pick(" JOIN ", " JOIN ", " LEFT JOIN ") + o + " " + alias + " ON " + on
		others = append(others, alias+"."+pick(words[o]...))
	}
	where := pick("", "", " WHERE m."+pick(keys[main]...)+" > 1", " WHERE "+others[0]+" IS NOT NULL", " WHERE m."+pick(keys[main]...)+" IN (SELECT x FROM b WHERE q > 5)",
		" WHERE NOT EXISTS (SELECT * FROM c WHERE c.x = m."+pick(keys[main]...)+" AND c.id > 4)")
	var by []string
	for range r.Intn(3) {
		by = append(by, pick(append([]string{"m." + pick(words[main]...)}, others...)...))
	}
	list := slices.Clone(by)
	for range 1 + r.Intn(4) {
		n, w := pick(numbers[main]...), pick(words[main]...)
		list = append(list, pick("COUNT(*)", "COUNT(1)", "COUNT(m."+w+")", "SUM(m."+n+")", "AVG(m."+n+")", "MIN(m."+w+")", "MAX(m."+n+")", "BIT_XOR(m.x)", "BIT_AND(m."+pick(keys[main]...)+")", "BIT_OR(m.x)"))
	}
	sql := "SELECT " + strings.Join(list, ", ") + " FROM " + from + where
	if len(by) > 0 {
		sql += " GROUP BY " + strings.Join(by, ", ")
		if r.Intn(5) == 0 {
			sql += " HAVING COUNT(*) > 2"
		}
	}
	return sql
}

// TestGroupsFirst: aggregations over joins give what they give where all rows are joined.
func TestGroupsFirst(t *testing.T) {
	times, tried := 0, testflag.Rounds(20, 200, 800)
	for i := range tried {
		at := firstSeed() + int64(i)
		r := rand.New(rand.NewSource(at))
		w := newWorldCached(t, r)
		w.r = r
		b := bigTables{w}
		sql := groupedQuery(r)
		want, _, _ := b.grouped(t, sql, plantest.Off(append(planner.Rules(), planner.Operators()...)...).Disabled)
		for _, off := range []plantest.Set{plantest.Off(), plantest.Off("HashJoin", "StreamAggregate")} {
			got, tree, first := b.grouped(t, sql, off.Disabled)
			if first {
				times++
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %s gives\n%s\nwant\n%s\n%s", at, sql, strings.Join(got, "\n"), strings.Join(want, "\n"), tree)
			}
		}
	}
	t.Logf("%d of %d plans form groups first", times, 2*tried)
	if times < tried/4 {
		t.Errorf("only %d of %d plans form groups first", times, 2*tried)
	}
}
