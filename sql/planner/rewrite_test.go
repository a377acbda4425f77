package planner_test

import (
	"fmt"
	"slices"
	"strings"
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
//	rules expect=(A) expect-not=(B)
//	                         the rules that change the plan, of which A must be
//	                         one and B must not
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
				return c.rewrite(d.Input, only, disabled, nil, nil)
			case "rules":
				var expect, not []string
				d.MaybeScanArgs(t, "expect", &expect)
				d.MaybeScanArgs(t, "expect-not", &not)
				fired := c.fired(d.Input)
				for _, rule := range expect {
					if !slices.Contains(fired, rule) {
						t.Errorf("%s: %s does not change it", d.Input, rule)
					}
				}
				for _, rule := range not {
					if slices.Contains(fired, rule) {
						t.Errorf("%s: %s changes it", d.Input, rule)
					}
				}
				return strings.Join(fired, "\n") + "\n"
			}
			return "unknown command " + d.Cmd
		})
	})
}

// fired are the rules that change the plan of a statement, in their order.
func (c *testCatalog) fired(sql string) []string {
	before := ""
	c.rewrite(sql, nil, ruleNames(), nil, func(n logical.Node) { before = shape(n) })
	var out []string
	c.rewrite(sql, nil, nil, func(rule string, n logical.Node) {
		after := shape(n)
		if after != before {
			out = append(out, rule)
		}
		before = after
	}, nil)
	if len(out) == 0 {
		return []string{"none"}
	}
	return out
}

// shape is a plan with what Format leaves out.
func shape(n logical.Node) string {
	out := logical.Format(n)
	var visit func(n logical.Node)
	visit = func(n logical.Node) {
		if s, ok := n.(*logical.Scan); ok {
			out += fmt.Sprintf("%d elements, %d scores\n", len(s.Elements), len(s.Scores))
		}
		for _, in := range n.Inputs() {
			visit(in)
		}
	}
	visit(n)
	return out
}

func ruleNames() []string {
	var out []string
	for _, rule := range rewrite.Rules() {
		out = append(out, rule.Name)
	}
	return out
}

// TestEveryRuleIsExpected: the files have a statement that each rule changes, and
// one that it must leave alone.
func TestEveryRuleIsExpected(t *testing.T) {
	yes, no := map[string]bool{}, map[string]bool{}
	datadriven.Walk(t, "testdata/rewrite", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var expect, not []string
			d.MaybeScanArgs(t, "expect", &expect)
			d.MaybeScanArgs(t, "expect-not", &not)
			for _, rule := range expect {
				yes[rule] = true
			}
			for _, rule := range not {
				no[rule] = true
			}
			return d.Expected
		})
	})
	for _, rule := range ruleNames() {
		if !yes[rule] {
			t.Errorf("no statement expects %s", rule)
		}
		if !no[rule] {
			t.Errorf("no statement expects that %s leaves it alone", rule)
		}
	}
}

func (c *testCatalog) rewrite(sql string, only, disabled []string, trace func(rule string, n logical.Node), bound func(n logical.Node)) string {
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
	r := rewrite.Rewriter{Ctx: &expr.Ctx{}, Bind: &expr.BindEnv{Collation: schema.CollationUTF8MB40900AICI, Mode: types.DefaultSQLMode}, TableExprs: compiled, Disabled: off, Check: true, Trace: trace}
	var root logical.Node
	switch s := st.(type) {
	case *logical.Query:
		root, r.Subqueries = s.Root, s.Subqueries
	case *logical.Update:
		root = s.Input
	case *logical.Delete:
		root = s.Input
	}
	if bound != nil {
		bound(root)
	}
	_, isQuery := st.(*logical.Query)
	r.Scores = isQuery && trace != nil
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
