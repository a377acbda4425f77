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
	"SELECT id, JSON_ARRAYAGG(n) OVER (PARTITION BY g ORDER BY id ROWS 3 PRECEDING), JSON_OBJECTAGG(s, n) OVER (PARTITION BY g % 5 ORDER BY id ROWS BETWEEN 1 PRECEDING AND 1 FOLLOWING) FROM l WHERE id < 900",
	"SELECT a.id, y.n, y.m FROM a, LATERAL (SELECT COUNT(*) AS n, MAX(b.q) AS m FROM b WHERE b.x <=> a.x AND b.q < 400) y",
	"SELECT a.id, a.x, y.s FROM a LEFT JOIN LATERAL (SELECT b.s FROM b WHERE b.y <=> a.x AND a.s IS NULL ORDER BY b.q LIMIT 2) y ON y.s IS NOT NULL",
	"SELECT a.id, (SELECT COUNT(*) FROM b WHERE b.x <=> a.x), (SELECT a.x IS NULL), a.x NOT IN (SELECT b.x FROM b WHERE b.y = a.y), a.s > ANY (SELECT c.s FROM c WHERE c.x <=> a.x) FROM a",
	"SELECT a.id FROM a WHERE EXISTS (SELECT 1 FROM c WHERE c.x <=> a.x AND c.id IS NULL) AND NOT EXISTS (SELECT 1 FROM b WHERE b.s <=> a.s AND b.y IS NULL)",
	"SELECT a.x, a.s, c.id FROM a LEFT JOIN c ON a.x <=> c.x AND a.s <=> c.s",
	"SELECT id, JSON_ARRAYAGG(REPEAT(s, 60)) OVER (ORDER BY id) FROM l WHERE id < 80",
	"SELECT id, COUNT(*) OVER (PARTITION BY id < 2500), NTH_VALUE(s, 2400) OVER (PARTITION BY id < 2500) FROM l",
	"SELECT id, JSON_ARRAYAGG(s) OVER (ORDER BY id ROWS 2 PRECEDING), LAST_VALUE(s) OVER (), LEAD(d, 7, 0) OVER (ORDER BY id) FROM l",
	"SELECT id, SUM(n) OVER (PARTITION BY g % 2 ORDER BY n RANGE BETWEEN 5 PRECEDING AND 5 FOLLOWING), BIT_XOR(n) OVER (PARTITION BY g % 2 ORDER BY n, id ROWS BETWEEN 2 FOLLOWING AND 9 FOLLOWING), STD(n) OVER (PARTITION BY g % 2) FROM l",
	"SELECT id, DENSE_RANK() OVER w, PERCENT_RANK() OVER w, MIN(s) OVER (PARTITION BY g ORDER BY t RANGE INTERVAL 2 DAY PRECEDING), MAX(d) OVER (ORDER BY d RANGE BETWEEN 0.5 PRECEDING AND UNBOUNDED FOLLOWING) FROM l WINDOW w AS (PARTITION BY g ORDER BY t)",
	"SELECT id FROM (SELECT id, ROW_NUMBER() OVER (PARTITION BY g ORDER BY n DESC, id) AS r FROM l) x WHERE r <= 2",
	"SELECT s, n, d FROM l ORDER BY s DESC, d, n, id LIMIT 700 OFFSET 900",
	"SELECT REPEAT(s, 40) AS r, id FROM l ORDER BY r, id",
	"SELECT DISTINCT REPEAT(s, 20), g FROM l",
	"(SELECT s FROM l WHERE g < 30) UNION ALL (SELECT s FROM l WHERE g > 50 ORDER BY id LIMIT 40) ORDER BY 1 LIMIT 200",
	"WITH RECURSIVE r (i, t) AS (SELECT id, s FROM l WHERE id < 40 UNION ALL SELECT r.i + 400, CONCAT(l.s, r.t) FROM r JOIN l ON l.id = r.i + 400) SELECT i, t FROM r",
	"SELECT j.a, j.b, j.o, j.m FROM l, JSON_TABLE(JSON_OBJECT('a', n, 'l', JSON_ARRAY(g, s, NULL)), '$' COLUMNS (a INT PATH '$.a', m INT PATH '$.m' DEFAULT '7' ON EMPTY, NESTED PATH '$.l[*]' COLUMNS (o FOR ORDINALITY, b VARCHAR(9) PATH '$' NULL ON ERROR), NESTED PATH '$.none[*]' COLUMNS (c INT PATH '$'))) j WHERE l.id < 200",
	"SELECT n, g FROM l WHERE n > 50 AND g IN (1, 2, 3) OR s LIKE 'k%' AND n < 20 ORDER BY n LIMIT 30",
	"SELECT MIN(n), MAX(n), MIN(s), MAX(s) FROM l",
	"SELECT g, MAX(id) FROM l WHERE n IN (5, 77, 300, 301) GROUP BY g",
}

// hashedRuns are queries whose operators spill by the hashes of texts and of several
// columns, which differ from process to process: of what they spill, only rows are compared.
var hashedRuns = []string{
	"SELECT g % 7, n % 3, SUM(n), COUNT(DISTINCT s), GROUPING(n % 3) FROM l GROUP BY g % 7, n % 3 WITH ROLLUP",
	"SELECT g, s, COUNT(*), SUM(DISTINCT n), GROUP_CONCAT(DISTINCT t ORDER BY t DESC SEPARATOR '/') FROM l GROUP BY g, s WITH ROLLUP HAVING COUNT(*) > 1",
	"SELECT COUNT(DISTINCT REPEAT(s, 20), g), MAX(REPEAT(s, 30)), MIN(REPEAT(s, 30)) FROM l",
	"SELECT x.id, y.id, z.id FROM l x JOIN l y ON x.n = y.g JOIN l z ON z.id = y.n AND z.s <> x.s WHERE x.g < 20 AND y.id < 150 AND z.id < 150",
	"SELECT x.s, y.s FROM l x LEFT JOIN l y ON x.s = y.s AND x.n > y.n + 900 WHERE x.g < 9",
	"SELECT x.id FROM l x WHERE EXISTS (SELECT 1 FROM l y WHERE y.s = x.s AND y.n > x.n + 800) AND x.g < 9",
	"SELECT x.id FROM l x WHERE (x.g, x.n) IN (SELECT y.g + 1, y.n FROM l y) AND x.g > 50",
	"SELECT x.id, (SELECT COUNT(*) FROM l y WHERE y.s = x.s), (SELECT MIN(y.id) FROM l y WHERE y.n = x.g) FROM l x WHERE x.id < 200",
	"SELECT s, g FROM l UNION SELECT s, n FROM l UNION SELECT s, id FROM l",
	"SELECT s, g FROM l INTERSECT SELECT s, g FROM l WHERE n > 300 EXCEPT SELECT s, g FROM l WHERE n > 700",
	"SELECT GROUP_CONCAT(s ORDER BY s DESC, id), GROUP_CONCAT(DISTINCT n % 10), JSON_OBJECTAGG(id, g), APPROX_PERCENTILE(n, 99) FROM l",
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
	for i, sql := range slices.Concat(runs, hashedRuns) {
		if i%testflag.InShort(5, 1) != 0 {
			got.WriteString(testflag.LeftOut + "\n")
			about = append(about, "")
			continue
		}
		var all []string
		for _, mode := range modes {
			if i >= len(runs) && len(all) == 2 {
				break
			}
			w.r = rand.New(rand.NewSource(int64(i)))
			text := "without " + mode.set.Name + ": " + w.measured(t, sql, mode.set, mode.spillOver, i >= len(runs))
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

// measured is what the operators of a query have done, and a digest of its rows. hashed
// says that what they spill is not the same each time.
func (w *world) measured(t *testing.T, sql string, set plantest.Set, spillOver int64, hashed bool) string {
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
	m := measurements{stats: env.Stats, spills: spillOver > 0, varies: hashed && spillOver > 0, hashed: hashed}
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
	hashed bool
}

func (m *measurements) add(n physical.Node, depth int) {
	if n == nil {
		return
	}
	a, _ := m.stats.Actual(n)
	title := physical.Title(n)
	fmt.Fprintf(&m.out, "%*s%s rows=%d loops=%d", 2*depth, "", title, a.Rows, a.Loops)
	switch {
	case m.spills && (strings.HasPrefix(title, "hash aggregate") || strings.HasPrefix(title, "distinct")):
		m.varies = true
	case m.hashed && m.spills:
	default:
		fmt.Fprintf(&m.out, " batches=%d%s", a.Batches, a.String())
	}
	m.out.WriteByte('\n')
	for _, in := range n.Inputs() {
		m.add(in, depth+1)
	}
}
