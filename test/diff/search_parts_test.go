package diff

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// TestSearchParts compares aggregates, groups, pages and lists of a table of so many
// rows that its search index is read in parts, with those of scans: by one worker and
// by four, with all rows in the index, and with some that are changed meanwhile or by
// the transaction itself. In each second round the index is a columnar one, over columns
// of more types; in each fourth one another connection writes without a pause.
func TestSearchParts(t *testing.T) {
	testflag.Normal(t)
	s := servertest.Start(t, server.Config{InMemory: true, Memory: 512 << 20, DataDir: t.TempDir()})
	dsn := servertest.DSN(s)
	compared := 0
	for round := range uint64(testflag.Rounds(1, 1, 4)) {
		r := &run{t: t, ctx: t.Context(), seed: testflag.Seed(1) + round}
		r.base = open(t, dsn, "SET sql_mode = ''", "SET time_zone = 'Europe/Berlin'", "SET max_execution_time = 20000",
			"CREATE DATABASE IF NOT EXISTS parts_of", "USE parts_of", "DROP TABLE IF EXISTS b, g")
		r.parts(open(t, dsn, "SET sql_mode = ''", "USE parts_of"))
		compared += r.queries
	}
	t.Logf("%d statements compared", compared)
}

func (r *run) parts(writer *sql.Conn) {
	rnd := rand.New(rand.NewPCG(r.seed, 84))
	must := func(text string) {
		r.t.Helper()
		if a := do(r.ctx, r.base, text); a.err != nil {
			r.t.Fatal(text, a.err)
		}
	}
	columnarIndex, busy := r.seed%2 == 1, r.seed%4 == 3
	var cols, unnamed []column // unnamed ones are in the index, and in no question
	kinds := columnKinds()
	if columnarIndex {
		kinds = append(kinds, otherKinds()...)
	}
	for _, c := range kinds {
		switch {
		case !c.raw && c.name != "lt" && c.name != "lc":
			cols = append(cols, c)
		case columnarIndex && c.name != "lt" && rnd.IntN(2) == 0:
			unnamed = append(unnamed, c)
		}
	}
	rnd.Shuffle(len(cols), func(i, j int) { cols[i], cols[j] = cols[j], cols[i] })
	cols = cols[:4+rnd.IntN(5)]
	stored := slices.Concat(cols, unnamed)
	var defs, names []string
	for _, c := range stored {
		defs, names = append(defs, c.name+" "+c.typ+" NULL"), append(names, c.name)
	}
	list := strings.Join(names, ", ")
	must("CREATE TABLE b (id INT PRIMARY KEY, " + strings.Join(defs, ", ") + ")")
	index := "SEARCH INDEX s (id, " + list + ", wide, text_)"
	if columnarIndex {
		index = "COLUMNAR INDEX s (*)"
	}
	must("CREATE TABLE g (id INT, " + strings.Join(defs, ", ") + ", wide BIGINT, text_ VARCHAR(20), PRIMARY KEY (id), " + index + ")")
	const base, copies = 500, 160
	rows := make([]string, base)
	for i := range rows {
		rows[i] = "(" + randomRow(rnd, i, stored) + ")"
	}
	must("INSERT INTO b VALUES " + strings.Join(rows, ", "))
	must(fmt.Sprintf("INSERT INTO g SELECT b.id + %d * n.n, %s, IF(b.id %% 9 = 0, NULL, (b.id * 7919 + n.n) %% 20011 * 1000003), CONCAT('t', (b.id + n.n) %% 97) FROM (WITH RECURSIVE n AS (SELECT 0 AS n UNION ALL SELECT n + 1 FROM n WHERE n < %d) SELECT * FROM n) n, b", base, list, copies-1))
	must("ANALYZE TABLE g")
	for range 5 { // 80,000 rows take a while
		r.caughtUp()
	}
	warnsOnce(r, r.base, names[0])
	leavesOut(r, r.base)
	whole := "SELECT id, wide, text_"
	for _, c := range stored {
		if c.show == "" {
			c.show = "%s"
		}
		whole += ", " + fmt.Sprintf(c.show, c.name)
	}
	// change writes some rows; rnd of its caller.
	change := func(rnd *rand.Rand) string {
		id := rnd.IntN(base * copies)
		switch rnd.IntN(4) {
		case 0:
			return fmt.Sprintf("DELETE FROM g WHERE id BETWEEN %d AND %d", id, id+rnd.IntN(20))
		case 1:
			return fmt.Sprintf("REPLACE INTO g SELECT id + %d, %s, id * 1000003, 'new' FROM b WHERE id %% 50 = %d", id, list, rnd.IntN(50))
		}
		c := pick(rnd, stored)
		return fmt.Sprintf("UPDATE IGNORE g SET %s = %s, wide = wide + 1 WHERE id BETWEEN %d AND %d", c.name, pick(rnd, c.values), id, id+rnd.IntN(50))
	}
	if busy {
		own := rand.New(rand.NewPCG(r.seed, 85))
		defer r.meanwhile(writer, func() string { return change(own) }, 1205, 1213)()
	}
	cols = append(cols, column{name: "id", typ: "INT", kind: kindInt, values: []string{"7", "300", "71400", "50000"}},
		column{name: "wide", typ: "BIGINT", kind: kindInt, values: []string{"7000021", "0", "10000030000"}}, column{name: "text_", typ: "VARCHAR(20)", kind: kindText, values: []string{"'t5'", "'t77'"}})
	queries := testflag.Pick(15, 60, 300)
	for i := range queries {
		switch {
		case busy && i%10 == 0:
			must("COMMIT")
			must("START TRANSACTION WITH CONSISTENT SNAPSHOT")
		case busy && i%10 == 5:
			for range 1 + rnd.IntN(5) {
				text := change(rnd)
				switch a := do(r.ctx, r.base, text); {
				case a.err == nil:
				case a.errNumber() == 1205, a.errNumber() == 1213: // the other one wrote these rows
					must("START TRANSACTION WITH CONSISTENT SNAPSHOT")
				default:
					r.t.Fatalf("seed %d: %s\n%v", r.seed, text, a.err)
				}
			}
		case busy:
		case i == queries/3:
			must("UPDATE g SET text_ = 'new', wide = id WHERE id % 101 = 5")
			must("DELETE FROM g WHERE id BETWEEN 20000 AND 20400")
		case i == queries/2:
			must("BEGIN")
			must("DELETE FROM g WHERE id % 523 = 5")
			must(fmt.Sprintf("UPDATE g SET %s = NULL WHERE id %% 331 = 3", pick(rnd, names)))
			must("INSERT INTO g (id, wide) VALUES (500000, 1), (500001, NULL)")
		}
		text, ordered := searchQuestion(rnd, cols)
		switch n := rnd.IntN(12); {
		case n < 4:
			text, ordered = joinQuestion(rnd), false
		case n < 6:
			text, ordered = fmt.Sprintf("SELECT wide %% %d AS m, COUNT(*), SUM(id), COUNT(DISTINCT text_), MIN(wide) FROM g @ GROUP BY m", 1+rnd.IntN(3000)), false
		case n == 6 && columnarIndex:
			text, ordered = fmt.Sprintf("%s FROM g @ WHERE id %% %d = 0 ORDER BY id", whole, 100+rnd.IntN(900)), true
		}
		r.queries++
		must("SET sqlots_parallelism = 1")
		scan := strings.Replace(text, "@", "USE INDEX ()", 1)
		want := runQuery(r.ctx, r.base, scan, false)
		for _, workers := range []int{1, 4} {
			must(fmt.Sprintf("SET sqlots_parallelism = %d", workers))
			got := runQuery(r.ctx, r.base, strings.Replace(text, "@", "FORCE INDEX (s)", 1), false)
			if what := difference(want, got, ordered, false); what != "" {
				r.report(fmt.Sprintf("search by %d: %s", workers, what), text, "\n  scan:", want.short(), "\n  search:", got.short())
			}
		}
		if i%5 == 0 {
			got := runQuery(r.ctx, r.base, scan, false)
			if what := difference(want, got, ordered, false); what != "" {
				r.report("scan by 4: "+what, text, "\n  by 1:", want.short(), "\n  by 4:", got.short())
			}
		}
	}
	must("ROLLBACK")
}

// randomRow lists the values of a row; some are NULL.
func randomRow(rnd *rand.Rand, id int, cols []column) string {
	vals := []string{fmt.Sprint(id)}
	for _, c := range cols {
		v := "NULL"
		if rnd.IntN(6) > 0 {
			v = pick(rnd, c.values)
		}
		vals = append(vals, v)
	}
	return strings.Join(vals, ", ")
}

// meanwhile has a connection make changes until stop is called; errors with some numbers are
// expected.
func (r *run) meanwhile(conn *sql.Conn, change func() string, expected ...uint16) (stop func()) {
	end := make(chan struct{})
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			select {
			case <-end:
				return
			case <-time.After(time.Millisecond):
			}
			text := change()
			if a := do(r.ctx, conn, text); a.err != nil && !slices.Contains(expected, a.errNumber()) {
				r.t.Errorf("seed %d: the writer: %s\n%v", r.seed, text, a.err)
			}
		}
	})
	return func() {
		close(end)
		wg.Wait()
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
