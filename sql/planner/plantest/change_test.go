package plantest_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/sql/planner/plantest"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
)

// TestDifferentialChanges runs random changes by many plans, each in a
// transaction that is rolled back, and compares the resulting rows.
func TestDifferentialChanges(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewSource(firstSeed())))
	for i := range statements() / 3 {
		at := firstSeed() + int64(i)
		w.r = rand.New(rand.NewSource(at))
		g := &generator{r: w.r, w: w}
		sql, table := g.change()
		want := w.after(t, sql, table, plantest.Off(append(planner.Rules(), planner.Operators()...)...))
		for _, set := range plantest.Sets(3, at) {
			if got := w.after(t, sql, table, set); !slices.Equal(got, want) {
				t.Fatalf("seed %d: %s\nwithout %s leaves\n%s\nwant\n%s", at, sql, set.Name, strings.Join(got, "\n"), strings.Join(want, "\n"))
			}
		}
	}
}

// change is an UPDATE or DELETE whose rows and their order are defined.
func (g *generator) change() (sql, table string) {
	table = g.pick("a", "b", "c")
	o := operand{table, table}
	where := " WHERE " + g.plainCond(o)
	if g.r.Intn(2) == 0 {
		where += " AND " + g.plainCond(o)
	}
	order := map[string]string{"a": "x DESC, id", "b": "s, p, q", "c": ""}[table]
	if order != "" && g.r.Intn(2) == 0 {
		where += fmt.Sprintf(" ORDER BY %s LIMIT %d", order, g.r.Intn(9))
	}
	if g.r.Intn(3) == 0 {
		return "DELETE FROM " + table + where, table
	}
	set := map[string][]string{"a": {"x = x + 1", "y = y + 1, x = y", "id = id + 1000", "s = CONCAT(s, 'x')", "t = NULL"},
		"b": {"y = y + 1", "s = p", "q = q + 10000", "e = 'x', f = f + 1"}, "c": {"x = x + 1", "s = 'new'", "t = '2024-01-02'"}}[table]
	return "UPDATE " + table + " SET " + g.pick(set...) + where, table
}

func (g *generator) plainCond(o operand) string {
	for {
		if c := g.cond(o, 2); !strings.Contains(c, "SELECT") {
			return c
		}
	}
}

// after runs sql and gives the rows that the table has then.
func (w *world) after(t *testing.T, sql, table string, set plantest.Set) (rows []string) {
	t.Helper()
	fail := func(err error) {
		if err != nil {
			t.Fatalf("%s\nwithout %s: %v", sql, set.Name, err)
		}
	}
	ctx := context.Background()
	plan, err := w.plan(w.bind(t, sql), set.Disabled)
	fail(err)
	txn, s := w.txn(t)
	defer txn.Rollback()
	res, err := exec.RunChange(ctx, w.env(s), plan)
	fail(err)
	rows = append(rows, fmt.Sprintf("%d rows changed", res.Affected))
	read, err := planner.Plan(t.Context(), w.bind(t, "SELECT * FROM "+table), planner.Options{Est: w, Ctx: &expr.Ctx{Env: types.Env{Mode: types.DefaultSQLMode}}, Parallelism: 1})
	fail(err)
	fail(exec.RunQuery(ctx, w.env(s), read, func(b *vec.Batch) error {
		for i := range b.Live() {
			rows = append(rows, rowText(read.Root.Columns(), b, b.Row(i)))
		}
		return nil
	}))
	slices.Sort(rows[1:])
	return rows
}
