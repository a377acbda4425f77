package statement

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/storage/memkv"
)

// TestPlansBySize queries ranges of different sizes by one statement: a small one
// is read from a key, a large one from the search index, and both plans are kept.
func TestPlansBySize(t *testing.T) {
	e, err := engine.New(context.Background(), engine.Config{Store: memkv.New(memkv.Options{}), SearchDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	s := Open(NewShared(e, schemaOnly{}), mysqlwire.ConnInfo{ID: 1, User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, Kill: func() {}})
	t.Cleanup(s.End)
	var rows strings.Builder
	for i := range 20_000 {
		if i > 0 {
			rows.WriteByte(',')
		}
		fmt.Fprintf(&rows, "(%d,%d)", i, i*7919%20_000)
	}
	for _, q := range []string{"CREATE DATABASE b", "USE b", "CREATE TABLE docs (id INT PRIMARY KEY, wide INT NOT NULL, KEY w (wide))",
		"INSERT INTO docs VALUES " + rows.String(), "CREATE SEARCH INDEX s ON docs (id, wide)"} {
		s.mustRun(t, q)
	}
	docs, _ := e.Catalog.Snapshot().Table("b", "docs")
	if err := e.Stats.Analyze(t.Context(), docs); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		below  int
		search bool
		misses uint64
	}{{50, false, 1}, {19_000, true, 1}, {60, false, 0}, {18_000, true, 0}} {
		before := e.Metrics.Global().Counter(metrics.PlanCacheMisses)
		s.mustRun(t, fmt.Sprintf("SELECT SUM(wide) FROM docs WHERE wide < %d", c.below))
		if misses := e.Metrics.Global().Counter(metrics.PlanCacheMisses) - before; misses != c.misses {
			t.Errorf("below %d: %d plans were made, not %d", c.below, misses, c.misses)
		}
		plan := s.Shared.Plans.get(s.key)
		if plan == nil {
			t.Fatalf("below %d: no plan is kept", c.below)
		}
		if tree := (&physical.Printer{}).Tree(plan.Plan); strings.Contains(tree, "search") != c.search {
			t.Errorf("below %d: the plan is %s", c.below, tree)
		}
	}
}
