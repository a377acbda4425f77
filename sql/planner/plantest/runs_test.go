package plantest_test

import (
	"context"
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/planner/plantest"
	"github.com/sqlots/sqlots/sql/vec"
)

// runs are queries over a table of some thousand rows: each operator has to keep rows,
// groups or states.
var runs = []string{
	"SELECT g, COUNT(*), SUM(n), AVG(d), MIN(s), MAX(t) FROM l GROUP BY g",
	"SELECT s, COUNT(DISTINCT n), SUM(DISTINCT g), COUNT(DISTINCT s, g) FROM l GROUP BY s",
	"SELECT n % 50, GROUP_CONCAT(s ORDER BY id), GROUP_CONCAT(DISTINCT g ORDER BY g), JSON_ARRAYAGG(n), JSON_OBJECTAGG(s, n) FROM l GROUP BY n % 50",
	"SELECT g % 9, STD(n), VAR_SAMP(d), BIT_XOR(n), BIT_AND(g), BIT_OR(n), ANY_VALUE(g % 9) FROM l GROUP BY g % 9",
	"SELECT g % 7, n % 3, SUM(n), COUNT(DISTINCT s), GROUPING(n % 3) FROM l GROUP BY g % 7, n % 3 WITH ROLLUP",
	"SELECT COUNT(*), SUM(n), MAX(s), COUNT(DISTINCT n) FROM l",
	"SELECT id, s FROM l ORDER BY s, n DESC, id",
	"SELECT id, s, d FROM l ORDER BY d DESC, id LIMIT 20 OFFSET 30",
	"SELECT id FROM l ORDER BY t, id LIMIT 2000",
	"SELECT DISTINCT g, s FROM l",
	"SELECT DISTINCT n FROM l ORDER BY n LIMIT 10",
	"SELECT x.id, y.id FROM l x JOIN l y ON x.n = y.n AND x.s < y.s WHERE x.g < 40",
	"SELECT x.id, y.s FROM l x LEFT JOIN l y ON x.n = y.id + 100 AND y.g > 3",
	"SELECT x.id FROM l x WHERE x.n IN (SELECT g FROM l WHERE s > 'm')",
	"SELECT x.id FROM l x WHERE x.g NOT IN (SELECT n FROM l WHERE n < 700)",
	"SELECT x.id FROM l x WHERE NOT EXISTS (SELECT 1 FROM l y WHERE y.n = x.id AND y.g > 5)",
	"SELECT COUNT(*) FROM l x JOIN l y ON x.g < y.g AND x.n = 3",
	"SELECT x.id, (SELECT MAX(y.n) FROM l y WHERE y.g = x.g AND y.id < x.id) FROM l x WHERE x.id < 60",
	"SELECT n FROM l UNION SELECT g FROM l",
	"SELECT n FROM l INTERSECT SELECT g FROM l",
	"SELECT n FROM l EXCEPT SELECT g FROM l",
	"SELECT n FROM l INTERSECT ALL SELECT g FROM l",
	"SELECT n FROM l EXCEPT ALL SELECT g FROM l",
	"SELECT id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY n, id), SUM(n) OVER (PARTITION BY g ORDER BY n, id), LAG(s, 2) OVER (PARTITION BY g ORDER BY n, id) FROM l",
	"SELECT id, MAX(s) OVER (ORDER BY id ROWS BETWEEN 5 PRECEDING AND 3 FOLLOWING), AVG(d) OVER (ORDER BY id ROWS 20 PRECEDING), NTH_VALUE(n, 3) OVER (ORDER BY id RANGE BETWEEN 10 PRECEDING AND CURRENT ROW) FROM l",
	"SELECT id, RANK() OVER (ORDER BY g), NTILE(7) OVER (ORDER BY g, id), CUME_DIST() OVER (ORDER BY g), FIRST_VALUE(s) OVER (PARTITION BY n ORDER BY id), COUNT(*) OVER () FROM l",
	"WITH RECURSIVE r (i, v) AS (SELECT 1, 1 UNION ALL SELECT i + 1, (v * 7) % 1000 FROM r WHERE i < 900) SELECT COUNT(*), SUM(v) FROM r",
	"WITH RECURSIVE r (i) AS (SELECT 1 UNION SELECT (i * 3) % 1009 FROM r) SELECT COUNT(*), MAX(i) FROM r",
	"WITH x AS (SELECT g, SUM(n) AS sn FROM l GROUP BY g) SELECT p.g, q.sn FROM x p JOIN x q ON p.sn = q.sn + 1 OR p.g = q.g",
	"SELECT id FROM l WHERE n BETWEEN 100 AND 180 AND s > 'k'",
	"SELECT id, s FROM l WHERE n IN (5, 77, 300) OR g = 12",
	"SELECT g, MIN(n), MAX(n) FROM l GROUP BY g HAVING MIN(n) < 40 ORDER BY g DESC LIMIT 15",
	"SELECT s, n FROM l WHERE n > 400 ORDER BY n, s LIMIT 50",
	"SELECT l.id, b.q FROM l JOIN b ON l.n = b.x ORDER BY l.id, b.q",
	"WITH RECURSIVE r (i, s) AS (SELECT 1, 'a' UNION ALL SELECT 2, 'b' UNION ALL SELECT 3, 'c' UNION ALL SELECT i, IF(i = 3, 'long', s) FROM r) SELECT * FROM r",
	"WITH RECURSIVE r (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM r) SELECT COUNT(*) FROM r",
	"SELECT id FROM l WHERE n = (SELECT g FROM l y WHERE y.id < l.id % 3)",
	"SELECT SUM(id + 9223372036854775000) FROM l",
	"SELECT g, APPROX_PERCENTILE(n, 40), APPROX_PERCENTILE(d, 90), APPROX_PERCENTILE(s, 5) FROM l GROUP BY g",
	"SELECT l.id, j.k FROM l, JSON_TABLE(CONCAT('[', n, ',', g, ']'), '$[*]' COLUMNS (k INT PATH '$')) j WHERE l.id < 300 ORDER BY 1, 2",
	"SELECT x.g, y.m FROM (SELECT DISTINCT g FROM l) x, LATERAL (SELECT MAX(n) AS m FROM l WHERE l.g = x.g AND l.id > x.g * 3) y",
	"SELECT n % 20, COUNT(*) FROM (SELECT DISTINCT n, g FROM l WHERE d > 3) x GROUP BY n % 20 ORDER BY COUNT(*) DESC, 1",
}

// TestRecordedRuns runs queries and compares what their operators have done with
// recorded digests: rows, what was read, memory, and what was spilled when memory is
// short; -update writes them again.
func TestRecordedRuns(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewSource(1)))
	w.fill(t)
	modes := []struct {
		set       plantest.Set
		spillOver int64
	}{{plantest.Off(), 0}, {plantest.Off(), 20_000}, {plantest.Off("HashJoin", "IndexAccess"), 0}, {plantest.Off("LookupJoin", "MergeJoin", "StreamAggregate"), 50_000}}
	var got strings.Builder
	var about []string
	for i, sql := range runs {
		var all []string
		for _, mode := range modes {
			w.r = rand.New(rand.NewSource(int64(i)))
			text := "without " + mode.set.Name + ": " + w.measured(t, sql, mode.set, mode.spillOver)
			all = append(all, text)
			got.WriteString(testutil.Digest(text) + " ")
		}
		got.WriteByte('\n')
		about = append(about, sql+"\n"+strings.Join(all, ""))
	}
	testflag.GoldenOf(t, "testdata/runs.txt", got.String(), func(line int, _ string) string { return about[min(line, len(about)-1)] })
}

// fill makes the table l.
func (w *world) fill(t *testing.T) {
	t.Helper()
	w.create(t, "CREATE TABLE l (id INT PRIMARY KEY, g INT, n INT, s VARCHAR(40), d DECIMAL(8,2), t DATETIME, KEY n (n, g), KEY s (s))")
	var rows []string
	for i := range 3000 {
		x := (i * 7919) % 3001
		rows = append(rows, fmt.Sprintf("(%d,%d,%d,'%c%s%d',%d.%02d,'2024-01-%02d %02d:00:00')", i, x%61, (x*31)%997, 'a'+rune(x%26), strings.Repeat("z", x%17), x%211, x%13, x%100, 1+x%28, x%24))
	}
	w.change(t, "INSERT INTO l VALUES "+strings.Join(rows, ","))
}

// measured is what the operators of a query have done, and a digest of its rows.
func (w *world) measured(t *testing.T, sql string, set plantest.Set, spillOver int64) string {
	t.Helper()
	plan, err := w.plan(w.bind(t, sql), set.Disabled)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	txn, s := w.txn(t)
	defer txn.Rollback()
	env := w.env(s)
	env.Parallelism, env.BatchSize, env.Stats = 1, 0, exec.NewStats()
	env.Memory, env.Spill, env.SpillOver = exec.NewTracker("query", 0), w.disk, spillOver
	var rows []string
	cols := plan.Root.Columns()
	err = exec.RunQuery(context.Background(), env, plan, func(b *vec.Batch) error {
		for i := range b.Live() {
			rows = append(rows, rowText(cols, b, b.Row(i)))
		}
		return nil
	})
	if err != nil {
		return err.Error() + "\n"
	}
	if !strings.Contains(sql, "ORDER BY") {
		slices.Sort(rows)
	}
	m := measurements{stats: env.Stats, spills: spillOver > 0}
	for _, n := range append([]physical.Node{plan.Root}, plan.Subplans...) {
		m.add(n, 1)
	}
	if m.spills && strings.Contains(sql, "JSON_ARRAYAGG") {
		rows = rows[:0] // elements in any order
	}
	text := fmt.Sprintf("%d rows %s", len(rows), testutil.Digest(strings.Join(rows, "\n")))
	if !m.varies {
		text += fmt.Sprintf(", peak %d", env.Memory.Peak())
	}
	return text + "\n" + m.out.String()
}

type measurements struct {
	out    strings.Builder
	stats  *exec.Stats
	spills bool
	// varies: an operator spills by the hashes of keys, which differ from process to
	// process.
	varies bool
}

func (m *measurements) add(n physical.Node, depth int) {
	if n == nil {
		return
	}
	a, _ := m.stats.Actual(n)
	title := physical.Title(n)
	fmt.Fprintf(&m.out, "%*s%s rows=%d loops=%d", 2*depth, "", title, a.Rows, a.Loops)
	if m.spills && (strings.HasPrefix(title, "hash aggregate") || strings.HasPrefix(title, "distinct")) {
		m.varies = true
	} else {
		fmt.Fprintf(&m.out, " batches=%d%s", a.Batches, a.String())
	}
	m.out.WriteByte('\n')
	for _, in := range n.Inputs() {
		m.add(in, depth+1)
	}
}
