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
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/sql/planner/plantest"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
)

// changes are statements whose effect TestRecordedChanges compares.
var changes = []string{
	"INSERT INTO a VALUES (100, 1, 2, 'new', 1.5, 100, '2024-01-01'), (101, NULL, 3, NULL, NULL, NULL, NULL)",
	"INSERT INTO a (id, y) VALUES (102, 1), (103, 2), (1, 3)",
	"INSERT IGNORE INTO a (id, y) VALUES (102, 1), (1, 3), (103, 2), (2, 4)",
	"INSERT IGNORE INTO a (id, y, s, d, u, t) VALUES (104, NULL, 'much longer than ten', 123456.789, -1, '2024-13-01'), (105, 'x', 'a', 'b', 'c', 'd')",
	"INSERT INTO a (id, y) VALUES (106, 'x')",
	"INSERT INTO a (id, s) VALUES (106, 'x')",
	"INSERT INTO a (id, y, u) VALUES (106, 1, -1)",
	"INSERT INTO a (id, y) VALUES (1, 5), (2, 6), (107, 7) ON DUPLICATE KEY UPDATE y = y + VALUES(y), s = CONCAT('d', id)",
	"INSERT INTO a (id, y) VALUES (1, 5), (1, 6) ON DUPLICATE KEY UPDATE y = y",
	"INSERT INTO a (id, y, d, u) SELECT id + 200, y, d, u + 1000 FROM a WHERE x > 0",
	"INSERT INTO a (id, y, d, u) SELECT id + 1, y, d, u FROM a ON DUPLICATE KEY UPDATE x = a.x + 1, t = NULL",
	"INSERT INTO a (id, y) SELECT q, y FROM b WHERE y IS NOT NULL ON DUPLICATE KEY UPDATE a.s = b.s, a.x = b.q",
	"REPLACE INTO a (id, y, d, u) VALUES (1, 9, 9, 9), (300, 8, NULL, NULL), (301, 7, 9, 9)",
	"REPLACE INTO a SELECT id, x + 1, y, s, d, u, t FROM a WHERE id < 3",
	"REPLACE INTO c (id, x) VALUES (1, 1)",
	"INSERT INTO b (p, q, x) VALUES ('zz', 1, 1), ('ZZ', 1, 2)",
	"INSERT INTO b SET p = 'set', q = 1, x = q + 1, y = x * 2, s = DEFAULT, e = 'y'",
	"INSERT INTO b (p, q, f, e) VALUES ('e', 1, 1e39, 'w')",
	"INSERT IGNORE INTO b (p, q, f, e, y) VALUES ('e', 1, 1e39, 'w', 70000)",
	"UPDATE a SET x = x + 1, y = x WHERE id < 10",
	"UPDATE a SET id = id + 1 WHERE id > 50",
	"UPDATE a SET id = id + 1 ORDER BY id DESC",
	"UPDATE a SET id = id + 1 ORDER BY id",
	"UPDATE IGNORE a SET id = 1 WHERE id < 4",
	"UPDATE a SET y = NULL WHERE id = 1",
	"UPDATE IGNORE a SET y = NULL, s = 'much longer than ten', d = 99999 WHERE id < 3",
	"UPDATE a SET y = y WHERE id < 10",
	"UPDATE a SET s = 'x' ORDER BY x DESC, id LIMIT 4",
	"UPDATE a SET d = (SELECT COUNT(*) FROM b WHERE b.x = a.x) WHERE x IS NOT NULL AND u < 5",
	"UPDATE b SET q = q + 1000, s = p, e = 'z' WHERE y > 1",
	"UPDATE c SET id = NULL, s = 'none' WHERE x > 2",
	"UPDATE a, b SET a.x = b.q, b.s = a.s WHERE a.y = b.y AND a.id < 9",
	"UPDATE a JOIN b ON a.x = b.x SET a.y = a.y + 1, b.y = b.y + 1",
	"UPDATE a LEFT JOIN b ON a.id = b.q SET a.s = IFNULL(b.s, 'none'), b.f = 7",
	"UPDATE a JOIN a z ON a.id = z.id + 1 SET a.x = z.x, z.y = a.y",
	"UPDATE a JOIN b ON a.x = b.x SET a.id = a.id + 500, b.q = b.q + 500 WHERE a.y = 1",
	"UPDATE a JOIN b ON a.x = b.x SET a.u = 1",
	"UPDATE IGNORE a JOIN b ON a.x = b.x SET a.u = 1, a.d = 1",
	"UPDATE a, (SELECT x, MAX(y) AS m FROM b GROUP BY x) g SET a.y = g.m + 10 WHERE a.x = g.x AND g.m IS NOT NULL",
	"UPDATE c JOIN a ON c.x = a.x SET c.s = 'joined', c.id = a.id WHERE a.id > 0",
	"DELETE FROM a WHERE x > 1 OR y = 0",
	"DELETE FROM a ORDER BY d DESC, id LIMIT 5",
	"DELETE FROM a",
	"DELETE FROM b WHERE q IN (SELECT id FROM a WHERE y > 1)",
	"DELETE a FROM a JOIN b ON a.x = b.x WHERE b.y > 2",
	"DELETE a, b FROM a JOIN b ON a.id = b.q WHERE a.y < 4",
	"DELETE FROM a, c USING a LEFT JOIN c ON a.x = c.x WHERE c.x IS NULL OR c.x = 3",
	"DELETE z FROM a JOIN a z ON a.id = z.id + 2 WHERE a.x = 1",
	"DELETE a FROM a, (SELECT DISTINCT x FROM c) g WHERE a.x = g.x",
	"INSERT INTO c SELECT id, x, s, t FROM c WHERE x < 3",
	"INSERT INTO c (id, t) VALUES (1, '2024-02-30'), (2, '2024-01-01 10:00:00.12345')",
	"INSERT INTO c VALUES ROW(1, 2, 'row', NULL), ROW(3, 4, 'ROW', '2024-01-01')",
}

// TestRecordedChanges runs statements that change rows, each in a transaction that is
// rolled back, and compares counts, warnings and all rows with recorded digests; -update
// writes them again. Each runs by two plans, and with another sql_mode.
func TestRecordedChanges(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewSource(1)))
	var got strings.Builder
	var about []string
	for i, sql := range changes {
		var all []string
		for _, mode := range []struct {
			set plantest.Set
			sql types.SQLMode
		}{{plantest.Off(), types.DefaultSQLMode}, {plantest.Off("HashJoin", "IndexAccess"), types.DefaultSQLMode}, {plantest.Off(), 0}} {
			w.r = rand.New(rand.NewSource(int64(i)))
			text := w.changed(t, sql, mode.set, mode.sql)
			all = append(all, text)
			got.WriteString(testutil.Digest(text) + " ")
		}
		got.WriteByte('\n')
		about = append(about, sql+"\n"+strings.Join(all, "\n"))
	}
	testflag.GoldenOf(t, "testdata/changes.txt", got.String(), func(line int, _ string) string { return about[min(line, len(about)-1)] })
}

// changed is what a statement says and leaves.
func (w *world) changed(t *testing.T, sql string, set plantest.Set, mode types.SQLMode) string {
	t.Helper()
	plan, err := w.plan(w.bind(t, sql), set.Disabled)
	if err != nil {
		return err.Error()
	}
	txn, s := w.txn(t)
	defer txn.Rollback()
	env := w.env(s)
	env.Parallelism, env.Ctx.Mode = 1, mode
	var warns []string
	env.Ctx.Warn = func(x sqlerr.Warning) { warns = append(warns, fmt.Sprint(x.Level, x.Err)) }
	res, err := exec.RunChange(context.Background(), env, plan)
	text := fmt.Sprintf("%+v %v %q\n", res, err, warns)
	if err != nil {
		return text
	}
	for _, table := range []string{"a", "b", "c"} {
		read, err := planner.Plan(t.Context(), w.bind(t, "SELECT * FROM "+table), planner.Options{Est: w, Ctx: &expr.Ctx{Env: types.Env{Mode: types.DefaultSQLMode}}, Parallelism: 1, Disabled: map[string]bool{"IndexAccess": true}})
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		if err := exec.RunQuery(context.Background(), w.env(s), read, func(b *vec.Batch) error {
			for i := range b.Live() {
				rows = append(rows, rowText(read.Root.Columns(), b, b.Row(i)))
			}
			return nil
		}); err != nil {
			t.Fatal(err)
		}
		slices.Sort(rows)
		text += fmt.Sprintf("%s: %d rows %s\n", table, len(rows), testutil.Digest(strings.Join(rows, "\n")))
	}
	return text
}
