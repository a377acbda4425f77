package planner_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/sql/planner/plantest"
)

// TestSets plans the statements of all golden files under all sets of
// switches: each plan must hang together, and digests of all are compared with recorded
// ones, which -update writes. -short takes each third file.
func TestSets(t *testing.T) {
	var got strings.Builder
	var about [][]string
	for _, dir := range []string{"plans", "rewrite"} {
		files, err := filepath.Glob("testdata/" + dir + "/*")
		if err != nil || len(files) == 0 {
			t.Fatalf("no files: %v", err)
		}
		for i, file := range files {
			if i%testflag.InShort(6, 1) != 0 {
				continue
			}
			got.WriteString("## " + filepath.ToSlash(file) + "\n")
			about = append(about, nil)
			planUnderSets(t, file, func(plans []string) {
				got.WriteString(testutil.Digests(plans) + "\n")
				about = append(about, plans)
			})
		}
	}
	testflag.GoldenPart(t, "testdata/sets.txt", got.String(), func(line int, want string) string {
		if line >= len(about) {
			return ""
		}
		return testutil.Differing(want, about[line])
	})
}

func planUnderSets(t *testing.T, file string, record func(plans []string)) {
	t.Helper()
	ddl, stats, queries := statements(t, file)
	c := newTestCatalog()
	if msg := c.ddl(ddl); msg != "" {
		t.Fatal(msg)
	}
	if stats != "" {
		c.stats(stats)
	}
	be := &expr.BindEnv{Collation: schema.CollationUTF8MB40900AICI}
	r := &recorder{testCatalog: c}
	for _, sql := range queries {
		var plans []string
		for i, set := range plantest.Sets(8, int64(len(sql))) {
			st, err := c.bind(sql)
			if err != nil {
				t.Fatalf("%s: %v", sql, err)
			}
			// The plan must not depend on values that are known.
			ctx := &expr.Ctx{}
			if i%2 == 1 {
				ctx = nil
			}
			opts := planner.Options{Est: c, Ctx: ctx, Bind: be, Parallelism: 1 + i%3, Disabled: set.Disabled, Check: true}
			plan, err := planner.Plan(t.Context(), st, opts)
			if err != nil {
				t.Errorf("%s\nwithout %s: %v", sql, set.Name, err)
				continue
			}
			plans = append(plans, sql+" without "+set.Name+": "+testutil.Dump(plan, r.brief))
		}
		record(plans)
	}
}

// statements reads the DDL, the statistics and the queries of a golden file.
func statements(t *testing.T, file string) (ddl, stats string, queries []string) {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var body []string
	kind := ""
	for s := bufio.NewScanner(f); s.Scan(); {
		line := s.Text()
		switch word, _, _ := strings.Cut(line, " "); {
		case kind == "" && (word == "ddl" || word == "stats" || word == "plan" || word == "rewrite"):
			kind, body = word, nil
		case line == "----":
			text := strings.Join(body, "\n")
			switch kind {
			case "ddl":
				ddl = text
			case "stats":
				stats = text
			case "plan", "rewrite":
				queries = append(queries, text)
			}
			kind = ""
		case kind != "":
			body = append(body, line)
		}
	}
	return ddl, stats, queries
}
