package diff

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// TestSearchParts compares aggregates, groups, pages and lists of a table of so many
// rows that its search index is read in parts, with those of scans: by one worker and
// by four, with all rows in the index, and with some that are changed meanwhile or by
// the transaction itself.
func TestSearchParts(t *testing.T) {
	testflag.Normal(t)
	s := servertest.Start(t, server.Config{InMemory: true, Memory: 512 << 20, DataDir: t.TempDir()})
	dsn := servertest.DSN(s)
	for round := range uint64(testflag.Rounds(1, 1, 2)) {
		seed := testflag.Seed(1) + round
		rnd := rand.New(rand.NewPCG(seed, 84))
		r := &run{t: t, ctx: t.Context(), seed: seed}
		conn := open(t, dsn, "SET sql_mode = ''", "SET time_zone = 'Europe/Berlin'", "SET max_execution_time = 20000",
			"CREATE DATABASE IF NOT EXISTS parts_of", "USE parts_of", "DROP TABLE IF EXISTS b, g")
		must := func(text string) {
			t.Helper()
			if a := do(r.ctx, conn, text); a.err != nil {
				t.Fatal(text, a.err)
			}
		}
		var cols []column
		for _, c := range columnKinds() {
			if !c.raw {
				cols = append(cols, c)
			}
		}
		rnd.Shuffle(len(cols), func(i, j int) { cols[i], cols[j] = cols[j], cols[i] })
		cols = cols[:4+rnd.IntN(5)]
		var defs, names []string
		for _, c := range cols {
			defs, names = append(defs, c.name+" "+c.typ+" NULL"), append(names, c.name)
		}
		list := strings.Join(names, ", ")
		must("CREATE TABLE b (id INT PRIMARY KEY, " + strings.Join(defs, ", ") + ")")
		must("CREATE TABLE g (id INT, " + strings.Join(defs, ", ") + ", wide BIGINT, text_ VARCHAR(20), PRIMARY KEY (id), SEARCH INDEX s (id, " + list + ", wide, text_))")
		const base, copies = 500, 160
		rows := make([]string, base)
		for i := range rows {
			vals := []string{fmt.Sprint(i)}
			for _, c := range cols {
				v := "NULL"
				if rnd.IntN(6) > 0 {
					v = pick(rnd, c.values)
				}
				vals = append(vals, v)
			}
			rows[i] = "(" + strings.Join(vals, ", ") + ")"
		}
		must("INSERT INTO b VALUES " + strings.Join(rows, ", "))
		must(fmt.Sprintf("INSERT INTO g SELECT b.id + %d * n.n, %s, IF(b.id %% 9 = 0, NULL, (b.id * 7919 + n.n) %% 20011 * 1000003), CONCAT('t', (b.id + n.n) %% 97) FROM (WITH RECURSIVE n AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM n WHERE n < %d) SELECT * FROM n) n, b", base, list, copies-1))
		must("ANALYZE TABLE g")
		cols = append(cols, column{name: "id", typ: "INT", kind: kindInt, values: []string{"7", "300", "71400", "50000"}},
			column{name: "wide", typ: "BIGINT", kind: kindInt, values: []string{"7000021", "0", "10000030000"}}, column{name: "text_", typ: "VARCHAR(20)", kind: kindText, values: []string{"'t5'", "'t77'"}})
		r.base = conn
		for range 5 { // 80,000 rows take a while
			r.caughtUp()
		}
		warnsOnce(r, conn, names[0])
		leavesOut(r, conn)
		queries := testflag.Pick(15, 60, 300)
		for i := range queries {
			switch i {
			case queries / 3:
				must("UPDATE g SET text_ = 'new', wide = id WHERE id % 101 = 5")
				must("DELETE FROM g WHERE id BETWEEN 20000 AND 20400")
			case queries / 2:
				must("BEGIN")
				must("DELETE FROM g WHERE id % 523 = 5")
				must(fmt.Sprintf("UPDATE g SET %s = NULL WHERE id %% 331 = 3", pick(rnd, names)))
				must("INSERT INTO g (id, wide) VALUES (500000, 1), (500001, NULL)")
			}
			text, ordered := searchQuestion(rnd, cols)
			if rnd.IntN(3) == 0 {
				text, ordered = joinQuestion(rnd), false
			} else if rnd.IntN(4) == 0 {
				text, ordered = fmt.Sprintf("SELECT wide %% %d AS m, COUNT(*), SUM(id), COUNT(DISTINCT text_), MIN(wide) FROM g @ GROUP BY m", 1+rnd.IntN(3000)), false
			}
			must("SET sqlots_parallelism = 1")
			want := runQuery(r.ctx, conn, strings.Replace(text, "@", "USE INDEX ()", 1), false)
			for _, workers := range []int{1, 4} {
				must(fmt.Sprintf("SET sqlots_parallelism = %d", workers))
				got := runQuery(r.ctx, conn, strings.Replace(text, "@", "FORCE INDEX (s)", 1), false)
				if what := difference(want, got, ordered, false); what != "" {
					r.report(fmt.Sprintf("search by %d: %s", workers, what), text, "\n  scan:", want.short(), "\n  search:", got.short())
				}
			}
		}
		must("ROLLBACK")
	}
}

// joinQuestion joins a part of the small table with the large one, which leaves out rows
// whose key the former does not have.
func joinQuestion(rnd *rand.Rand) string {
	some := fmt.Sprintf("(SELECT id * %d AS k, id %% %d AS m FROM b WHERE id %% %d < %d)", pick(rnd, []int{1, 3, 97, 1000003}), 1+rnd.IntN(9), 1+rnd.IntN(40), 1+rnd.IntN(3))
	key := pick(rnd, []string{"g.id", "g.wide", "g.id - 1"})
	switch rnd.IntN(6) {
	case 0:
		return "SELECT COUNT(*), SUM(g.id), MIN(g.text_), MAX(g.wide) FROM " + some + " s JOIN g @ ON " + key + " = s.k"
	case 1:
		return "SELECT s.k, COUNT(g.id), MIN(g.text_) FROM " + some + " s LEFT JOIN g @ ON " + key + " = s.k GROUP BY s.k"
	case 2:
		return "SELECT COUNT(*), SUM(g.wide) FROM g @ WHERE " + key + " IN (SELECT k FROM " + some + " s)"
	case 3:
		return "SELECT s.k FROM " + some + " s WHERE " + pick(rnd, []string{"", "NOT "}) + "EXISTS (SELECT 1 FROM g @ WHERE " + key + " = s.k AND (g.text_ <> 't5' OR g.wide > s.m))"
	case 4:
		return "SELECT COUNT(*), SUM(g.id), SUM(t.m) FROM " + some + " s JOIN g @ ON " + key + " = s.k JOIN " + some + " t ON t.k = g.wide"
	}
	return "SELECT COUNT(*), SUM(g.id), MIN(g.text_) FROM g @ LEFT JOIN b ON b.id = g.id JOIN " + some + " s ON s.k = " + key + " WHERE g.text_ > 't2'"
}

// leavesOut looks at the rows of a scan below a join.
func leavesOut(r *run, conn *sql.Conn) {
	r.t.Helper()
	a := runQuery(r.ctx, conn, "EXPLAIN ANALYZE SELECT COUNT(*), MIN(g.text_) FROM b JOIN g FORCE INDEX (s) ON g.id = b.id WHERE b.id < 50", false)
	text := fmt.Sprint(a.err, a.rows)
	_, scan, _ := strings.Cut(text, "covering search on g@s")
	if line, _, _ := strings.Cut(scan, "\n"); !strings.Contains(line, "rows=50 loops") {
		r.report("rows without a partner are read", text)
	}
}

// warnsOnce groups by so many values that the index does not, and the rows are read in
// parts: a constant warns as often as with one worker.
func warnsOnce(r *run, conn *sql.Conn, column string) {
	r.t.Helper()
	var counts []string
	for _, workers := range []int{1, 4} {
		for _, one := range []string{fmt.Sprintf("SET sqlots_parallelism = %d", workers),
			"SELECT id, COUNT(" + column + ") FROM g FORCE INDEX (s) WHERE wide > '12abc' GROUP BY id LIMIT 1"} {
			if a := do(r.ctx, conn, one); a.err != nil {
				r.t.Fatal(one, a.err)
			}
		}
		counts = append(counts, runQuery(r.ctx, conn, "SHOW COUNT(*) WARNINGS", false).short())
	}
	if counts[0] != counts[1] {
		r.t.Errorf("warnings with one worker and with four: %s and %s", counts[0], counts[1])
	}
}
