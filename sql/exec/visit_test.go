package exec

import (
	"fmt"
	"reflect"
	"slices"
	"testing"

	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
)

// TestVisitExprs: the expressions of all fields of all nodes are visited, but for those
// that cannot have a subquery.
func TestVisitExprs(t *testing.T) {
	without := []string{"Limit", "Args", "Count", "Offset", "Partition", "Order"} // constants, or columns of the input
	for _, n := range []physical.Node{
		&physical.Scan{}, &physical.IndexJoin{Entries: &physical.Scan{}}, &physical.JSONTable{}, &physical.Values{}, &physical.Filter{}, &physical.Project{}, &physical.HashJoin{}, &physical.MergeJoin{},
		&physical.LookupJoin{Inner: &physical.Scan{}}, &physical.NestedLoop{}, &physical.Apply{}, &physical.HashAggregate{}, &physical.StreamAggregate{}, &physical.Rollup{}, &physical.Sort{}, &physical.TopK{},
		&physical.Limit{}, &physical.Distinct{}, &physical.SetOperation{},
	} {
		next, want := 0, map[string]bool{}
		fill(reflect.ValueOf(n).Elem(), without, func() expr.Expr {
			next++
			c := &expr.Col{Index: next, T: types.BigInt, Name: fmt.Sprint("e", next)}
			want[c.Name] = true
			return c
		})
		visitExprs(n, func(e expr.Expr) { delete(want, e.(*expr.Col).Name) })
		if len(want) > 0 {
			t.Errorf("%d of %d expressions of %T are not visited", len(want), next, n)
		}
	}
}

// fill sets the fields that have expressions.
func fill(v reflect.Value, without []string, next func() expr.Expr) {
	for i := range v.NumField() {
		f, name := v.Field(i), v.Type().Field(i).Name
		if slices.Contains(without, name) || !f.CanSet() {
			continue
		}
		switch p := f.Addr().Interface().(type) {
		case *expr.Expr:
			*p = next()
		case *[]expr.Expr:
			*p = []expr.Expr{next(), next()}
		case *[][]expr.Expr:
			*p = [][]expr.Expr{{next()}, {next(), next()}}
		case *[]physical.SortKey:
			*p = []physical.SortKey{{Expr: next()}, {Expr: next()}}
		case *[]*expr.Agg:
			*p = []*expr.Agg{agg("sum", false, next()), agg("max", false, next())}
		case *physical.Node:
			*p = &physical.Values{Rows: [][]expr.Expr{{next()}}}
		case *physical.TableRead:
			fill(f, without, next)
		}
	}
}
