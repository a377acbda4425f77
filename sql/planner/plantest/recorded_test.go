package plantest_test

import (
	"fmt"
	"math/rand"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/planner/plantest"
)

// TestRecordedPlans compares digests of the plans of random queries and changes, under
// random estimates, with recorded ones. It finds changes of the planner that cost time
// and not rows, which no other test here sees; -update writes them again.
func TestRecordedPlans(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewSource(1)))
	sets := []plantest.Set{plantest.Off(), plantest.Off("HashJoin"), plantest.Off("LookupJoin", "StreamAggregate"), plantest.Off("IndexUnion", "IndexIntersection", "MergeJoin")}
	var got strings.Builder
	var about []string
	for seed := range int64(250) {
		if seed%testflag.InShort[int64](4, 1) != 0 {
			got.WriteString(testflag.LeftOut + "\n")
			about = append(about, "")
			continue
		}
		w.r = rand.New(rand.NewSource(seed))
		g := &generator{r: w.r, w: w}
		sql, _ := g.statement()
		if seed%5 == 0 {
			sql, _ = g.change()
		}
		var trees []string
		for _, set := range sets {
			w.r = rand.New(rand.NewSource(seed))
			plan, err := w.plan(w.bind(t, sql), set.Disabled)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			tree := (&physical.Printer{Ctx: &expr.Ctx{}}).Tree(plan)
			got.WriteString(testutil.Digest(tree+testutil.Dump(plan, w.brief)) + " ")
			trees = append(trees, "without "+set.Name+":\n"+tree)
		}
		got.WriteByte('\n')
		about = append(about, sql+"\n"+strings.Join(slices.Compact(trees), ""))
	}
	testflag.GoldenOf(t, "testdata/plans.txt", got.String(), func(line int, _ string) string {
		return fmt.Sprint(about[min(line, len(about)-1)])
	})
}

// brief leaves out of a dump what all plans share, and compiled patterns.
func (w *world) brief(v reflect.Value) (string, bool) {
	switch v.Type() {
	case reflect.TypeFor[*collate.Collation]():
		if v.IsNil() {
			return "", false
		}
		return v.Elem().FieldByName("Name").String(), true
	case reflect.TypeFor[*schema.Table](), reflect.TypeFor[*expr.Builtin]():
		return "shared", true
	}
	of, ours := strings.CutPrefix(v.Type().PkgPath(), "github.com/sqlots/sqlots/")
	return v.Type().String(), v.Kind() == reflect.Struct && of != "" && (!ours || of == "collate")
}
