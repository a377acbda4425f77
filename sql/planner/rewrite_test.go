package planner_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/planner/rewrite"
	"github.com/sqlots/sqlots/sql/types"
)

// TestRewrite runs testdata/rewrite, one file a rule.
//
//	ddl                      CREATE TABLE statements
//	rewrite only=(A,B)       the logical plan after these rules
//	rewrite disable=(A)      the logical plan after all rules but these
func TestRewrite(t *testing.T) {
	datadriven.Walk(t, "testdata/rewrite", func(t *testing.T, path string) {
		c := newTestCatalog()
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			switch d.Cmd {
			case "ddl":
				return c.ddl(d.Input)
			case "rewrite":
				var only, disabled []string
				d.MaybeScanArgs(t, "only", &only)
				d.MaybeScanArgs(t, "disable", &disabled)
				return c.rewrite(d.Input, only, disabled)
			}
			return "unknown command " + d.Cmd
		})
	})
}

func (c *testCatalog) rewrite(sql string, only, disabled []string) string {
	st, err := c.bind(sql)
	if err != nil {
		return err.Error() + "\n"
	}
	off := map[string]bool{}
	for _, rule := range rewrite.Rules() {
		if len(only) > 0 && !slices.Contains(only, rule.Name) || slices.Contains(disabled, rule.Name) {
			off[rule.Name] = true
		}
	}
	for _, name := range append(append([]string(nil), only...), disabled...) {
		if !slices.ContainsFunc(rewrite.Rules(), func(r rewrite.Rule) bool { return r.Name == name }) {
			return fmt.Sprintf("there is no rule %s\n", name)
		}
	}
	r := rewrite.Rewriter{Ctx: &expr.Ctx{}, Bind: &expr.BindEnv{Collation: schema.CollationUTF8MB40900AICI, Mode: types.DefaultSQLMode}, TableExprs: compiled, Disabled: off, Check: true}
	var root logical.Node
	switch s := st.(type) {
	case *logical.Query:
		root, r.Subqueries = s.Root, s.Subqueries
	case *logical.Update:
		root = s.Input
	case *logical.Delete:
		root = s.Input
	}
	n, err := r.Rewrite(root)
	if err != nil {
		return err.Error() + "\n"
	}
	out := logical.Format(n)
	for i, s := range r.Subqueries {
		if s != nil {
			out += fmt.Sprintf("subquery#%d\n%s", i+1, logical.Format(s))
		}
	}
	return out
}
