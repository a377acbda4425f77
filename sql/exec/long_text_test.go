package exec

import (
	"context"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// endsAfter is a context that ends when it has been looked at left times.
type endsAfter struct {
	context.Context
	left atomic.Int64
}

func (c *endsAfter) Err() error {
	if c.left.Add(-1) < 0 {
		return context.Canceled
	}
	return nil
}

// TestLongTextsEnd ends statements at each look at the context: also between the parts
// of a text that becomes a key or is compared. What is computed of half a text does not
// come out.
func TestLongTextsEnd(t *testing.T) {
	text := types.Text(schema.CollationUTF8MB40900AICI)
	tab := makeTable("t", col{"id", types.BigInt}, col{"a", text})
	long := func(s string) value.Datum { return value.String(strings.Repeat(s, 200_000)) }
	src := &memSource{tables: map[*schema.Table]*memTable{tab: {t: tab, rows: [][]value.Datum{
		{value.Int(1), long("ä")}, {value.Int(2), long("Ä")}, {value.Int(3), long("é")}, {value.Int(4), long("a")}, {value.Int(5), value.Null},
	}}}, size: 2}
	scan := scanOf(tab)
	id, a := ref(scan, 0), ref(scan, 1)
	grouped := func(e *expr.Agg, by ...expr.Expr) physical.Node {
		return &physical.HashAggregate{Base: outCols(append(exprTypes(by), e.T)...), Input: scan, GroupBy: by, Aggs: []*expr.Agg{e}}
	}
	ids := func(in physical.Node) physical.Node {
		return &physical.Project{Base: outCols(types.BigInt), Input: in, Exprs: []expr.Expr{id}}
	}
	for name, root := range map[string]physical.Node{
		"sort":           ids(&physical.Sort{Base: scan.Base, Input: scan, Keys: []physical.SortKey{{Expr: a}, {Expr: id}}}),
		"top":            ids(&physical.TopK{Base: scan.Base, Input: scan, Keys: []physical.SortKey{{Expr: a, Desc: true}, {Expr: id}}, Count: num(2)}),
		"group":          &physical.Project{Base: outCols(types.BigInt), Input: grouped(agg("count", false, id), a), Exprs: []expr.Expr{at(1, types.BigInt)}},
		"count distinct": grouped(agg("count", true, a)),
		"max":            &physical.Project{Base: outCols(types.BigInt), Input: grouped(agg("max", false, a)), Exprs: []expr.Expr{fn("length", at(0, text))}},
		"filter":         ids(&physical.Filter{Base: scan.Base, Input: scan, Conds: []expr.Expr{fn("=", a, expr.NewConst(long("A"), text))}}),
		"in":             ids(&physical.Filter{Base: scan.Base, Input: scan, Conds: []expr.Expr{fn("in", a, expr.NewConst(long("A"), text), expr.NewConst(long("E"), text))}}),
	} {
		run := func(looks int64) ([]string, int64, error) {
			ctx := &endsAfter{Context: context.Background()}
			ctx.left.Store(looks)
			rows, err := collect(ctx, testEnv(src), &physical.Plan{Root: root})
			slices.Sort(rows)
			return rows, looks - ctx.left.Load(), err
		}
		want, all, err := run(1 << 30)
		if err != nil {
			t.Fatal(name, err)
		}
		if all < 12 {
			t.Errorf("%s: the context is looked at %d times", name, all)
		}
		for looks := int64(0); looks < all; looks += testflag.InShort[int64](7, 1) {
			rows, _, err := run(looks)
			if wrong := slices.ContainsFunc(rows, func(r string) bool { return !slices.Contains(want, r) }); wrong || err == nil && len(rows) != len(want) {
				t.Errorf("%s: ended after %d of %d looks it gives %q, not %q (%v)", name, looks, all, rows, want, err)
			}
		}
	}
}
