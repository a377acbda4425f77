package planner_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner"
)

const benchDDL = `CREATE TABLE calls (cell BIGINT, start BIGINT, called BIGINT, duration BIGINT, station BIGINT, note VARCHAR(100),
  PRIMARY KEY (cell, start), KEY by_called (called), KEY by_station (station, start) SECONDARY_ENGINE_ATTRIBUTE='{"include":["duration"]}')`

// BenchmarkPlan measures planning alone: the statements are bound before.
func BenchmarkPlan(b *testing.B) {
	c := newTestCatalog()
	if msg := c.ddl(benchDDL); msg != "" {
		b.Fatal(msg)
	}
	c.rows["calls"] = 2e6
	var ids, pairs []string
	for i := 0; i < 10000; i++ {
		ids = append(ids, fmt.Sprint(i*7))
		pairs = append(pairs, fmt.Sprintf("(%d,%d)", i*7, i))
	}
	for _, q := range []struct{ name, sql string }{
		{"point", "SELECT * FROM calls WHERE cell = 1 AND start = 2"},
		{"range", "SELECT * FROM calls WHERE cell = 1 AND start BETWEEN 2 AND 9 ORDER BY start DESC LIMIT 10"},
		{"lookup", "SELECT note FROM calls WHERE station = 5 AND start > 100 AND duration < 3"},
		{"group", "SELECT station, COUNT(*), SUM(duration) FROM calls GROUP BY station ORDER BY station"},
		{"update", "UPDATE calls SET note = 'x' WHERE cell = 1 AND start = 2"},
		{"in10000", "SELECT * FROM calls WHERE cell IN (" + strings.Join(ids, ",") + ")"},
		{"pairs10000", "SELECT * FROM calls WHERE (cell, start) IN (" + strings.Join(pairs, ",") + ")"},
	} {
		b.Run(q.name, func(b *testing.B) { benchPlan(b, c, q.sql) })
	}
}

// BenchmarkPlanJoin plans joins of many tables: a chain, where each table is
// joined with the one before, and a star, where all are joined with the first.
func BenchmarkPlanJoin(b *testing.B) {
	c := newTestCatalog()
	for i := 0; i < 16; i++ {
		if msg := c.ddl(fmt.Sprintf("CREATE TABLE t%d (id INT PRIMARY KEY, a INT, b INT, v VARCHAR(20), KEY a (a), KEY b (b, a))", i)); msg != "" {
			b.Fatal(msg)
		}
		c.rows[fmt.Sprintf("t%d", i)] = float64(1000 * (i + 1) * (i%3 + 1))
	}
	for _, n := range []int{3, 6, 9, 12, 16} {
		chain, star := "SELECT * FROM t0", "SELECT * FROM t0"
		for i := 1; i < n; i++ {
			chain += fmt.Sprintf(" JOIN t%d ON t%d.a = t%d.id", i, i-1, i)
			star += fmt.Sprintf(" JOIN t%d ON t0.a = t%d.id AND t%d.b > %d", i, i, i, i)
		}
		b.Run(fmt.Sprintf("chain%d", n), func(b *testing.B) { benchPlan(b, c, chain+" WHERE t0.b = 5 ORDER BY t0.id LIMIT 10") })
		b.Run(fmt.Sprintf("star%d", n), func(b *testing.B) { benchPlan(b, c, star+" WHERE t0.b = 5") })
	}
}

// BenchmarkPlanNested plans grouped and sorted queries inside of each other.
func BenchmarkPlanNested(b *testing.B) {
	c := newTestCatalog()
	if msg := c.ddl(benchDDL); msg != "" {
		b.Fatal(msg)
	}
	sql := "SELECT cell, start, station FROM calls"
	for i := range 10 {
		sql = fmt.Sprintf("SELECT cell, start, MAX(station) AS station FROM (%s) d%d GROUP BY cell, start ORDER BY start, cell LIMIT 100", sql, i)
	}
	benchPlan(b, c, sql)
}

func benchPlan(b *testing.B, c *testCatalog, sql string) {
	b.Helper()
	st, err := c.bind(sql)
	if err != nil {
		b.Fatal(err)
	}
	ctx := &expr.Ctx{}
	be := &expr.BindEnv{Collation: schema.CollationUTF8MB40900AICI}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := planner.Plan(b.Context(), st, planner.Options{Est: c, Ctx: ctx, Bind: be, Parallelism: 2}); err != nil {
			b.Fatal(err)
		}
	}
}
