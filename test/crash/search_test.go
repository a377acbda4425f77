package crash

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/internal/datacheck"
	"github.com/sqlots/sqlots/internal/testflag"
)

const searchTable = `CREATE TABLE crash.docs (id INT PRIMARY KEY AUTO_INCREMENT, k VARCHAR(30), n INT, b BIGINT UNSIGNED, d DECIMAL(10,2),
	f DOUBLE, at DATETIME, t TEXT, o JSON, w VARCHAR(20), x INT, SEARCH INDEX s (k, n, b, d, f, at, w, x, ` + docObjects + `), FULLTEXT KEY ft (t), COLUMNAR INDEX cc (*))`

const docObjects = "o NESTED (name KEYWORD, name TEXT, v BIGINT, p NESTED (w DOUBLE))"

// randomDocObjects is an array of objects, now and then one that the index does not
// take.
func randomDocObjects(r *rand.Rand) string {
	var list []string
	for range r.IntN(5) {
		one := fmt.Sprintf(`{"name": "%s", "v": %d`, searchWords[r.IntN(len(searchWords))], r.IntN(100))
		for i := range r.IntN(3) {
			one += []string{`, "p": [`, ", "}[min(i, 1)] + fmt.Sprintf(`{"w": %d.5}`, r.IntN(50)) + "]"
			one = strings.Replace(one, "], {", ", {", 1)
		}
		list = append(list, one+"}")
	}
	if r.IntN(100) == 0 {
		list = append(list, "5")
	}
	return "'[" + strings.Join(list, ", ") + "]'"
}

var searchWords = strings.Fields("red green blue apple pear plum table chair lamp river stone cloud north south music paper")

// docValues are values of a row; some are NULL.
func docValues(r *rand.Rand) string {
	some := func(s string) string {
		if r.IntN(12) == 0 {
			return "NULL"
		}
		return s
	}
	var text []string
	for range 1 + r.IntN(8) {
		text = append(text, searchWords[r.IntN(len(searchWords))])
	}
	return strings.Join([]string{some(fmt.Sprintf("'Key %d'", r.IntN(300))), some(fmt.Sprint(r.IntN(2000) - 1000)), some(fmt.Sprint(r.Uint64())),
		some(fmt.Sprintf("%d.%02d", r.IntN(1000)-500, r.IntN(100))), some(fmt.Sprint(r.NormFloat64())),
		some(fmt.Sprintf("'2024-%02d-%02d %02d:00:00'", 1+r.IntN(12), 1+r.IntN(28), r.IntN(24))), some("'" + strings.Join(text, " ") + "'"), some(randomDocObjects(r))}, ", ")
}

const docColumns = "k, n, b, d, f, at, t, o"

// Errors that writers get next to others of their kind, and while columns have
// other names: a row may have been moved to a number that an INSERT has reserved,
// and the table changed at each of the times that a statement was planned.
var writerErrors = []uint16{1213, 1205, 1062, 1054, 1412}

// searchWriter changes rows until the server is gone.
func searchWriter(t *testing.T, db *sql.DB, r *rand.Rand, gone *atomic.Bool, commits *atomic.Int64) {
	exec := func(q string) bool {
		_, err := db.Exec(q)
		var reply *mysql.MySQLError
		if errors.As(err, &reply) && slices.Contains(writerErrors, reply.Number) {
			return true
		}
		if err != nil {
			if !gone.Load() {
				t.Errorf("%s: %v", q, err)
			}
			return false
		}
		commits.Add(1)
		return true
	}
	for {
		id, q := r.IntN(6000), ""
		switch r.IntN(9) {
		case 7: // columns that are altered
			q = fmt.Sprintf("UPDATE crash.docs SET %s = CONCAT('W ', id %% 40) WHERE id BETWEEN %d AND %d", []string{"w", "w2"}[r.IntN(2)], id, id+r.IntN(30))
		case 8:
			q = fmt.Sprintf("UPDATE crash.docs SET x = %d WHERE id BETWEEN %d AND %d", r.IntN(1000), id, id+r.IntN(30))
		case 6:
			q = fmt.Sprintf("UPDATE crash.docs SET o = %s WHERE id BETWEEN %d AND %d", []string{randomDocObjects(r), "JSON_REMOVE(o, '$[0]')", "JSON_ARRAY_APPEND(o, '$', JSON_OBJECT('name', 'red', 'v', id))"}[r.IntN(3)], id, id+r.IntN(30))
		case 0:
			q = fmt.Sprintf("DELETE FROM crash.docs WHERE id BETWEEN %d AND %d", id, id+r.IntN(12))
		case 1:
			q = fmt.Sprintf("UPDATE crash.docs SET n = n + 1, k = CONCAT('Key ', id %% 50) WHERE id BETWEEN %d AND %d", id, id+r.IntN(30))
		case 2:
			q = fmt.Sprintf("REPLACE INTO crash.docs (id, %s) VALUES (%d, %s)", docColumns, id+1, docValues(r))
		case 3: // the primary key changes
			q = fmt.Sprintf("UPDATE IGNORE crash.docs SET id = id + 7 WHERE id = %d", id+1)
		default:
			var rows []string
			for range 1 + r.IntN(20) {
				rows = append(rows, "("+docValues(r)+")")
			}
			q = fmt.Sprintf("INSERT INTO crash.docs (%s) VALUES %s", docColumns, strings.Join(rows, ", "))
		}
		if !exec(q) {
			return
		}
	}
}

// alterSearch changes the indexes and the table until the server is gone: the index
// that queries use keeps its fields, in some order, and gets others.
func alterSearch(db *sql.DB, r *rand.Rand, alters *atomic.Int64) {
	ok := true
	exec := func(q string) {
		_, err := db.Exec(q)
		var reply *mysql.MySQLError
		ok = ok && (err == nil || errors.As(err, &reply))
		if err == nil {
			alters.Add(1)
		}
	}
	for ok {
		switch fields := []string{"k", "n", "b", "d", "f", "at", "w", "x", docObjects}; r.IntN(10) {
		case 0:
			exec("ALTER TABLE crash.docs ALTER SEARCH INDEX s ADD (t TEXT)")
			exec("ALTER TABLE crash.docs ALTER SEARCH INDEX s DROP (t TEXT)")
		case 1:
			r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
			exec("ALTER TABLE crash.docs DROP INDEX s, ADD SEARCH INDEX s (" + strings.Join(fields, ", ") + ", (n * 2))")
		case 2:
			exec("ALTER TABLE crash.docs ADD COLUMN e INT, ALTER SEARCH INDEX s ADD (e)")
			exec("ALTER TABLE crash.docs DROP COLUMN e")
		case 3:
			exec("ALTER TABLE crash.docs DROP INDEX ft, ADD FULLTEXT KEY ft (t) COMMENT 'again'")
		case 4: // from here on the files of the indexes are kept, mostly
			exec("ALTER TABLE crash.docs ADD COLUMN y INT DEFAULT 5 AFTER k")
			exec("ALTER TABLE crash.docs RENAME COLUMN y TO y2")
			exec("ALTER TABLE crash.docs DROP COLUMN y2")
		case 5:
			exec("ALTER TABLE crash.docs RENAME COLUMN w TO w2")
			exec("ALTER TABLE crash.docs CHANGE w2 w VARCHAR(200)")
		case 6:
			exec(fmt.Sprintf("ALTER TABLE crash.docs MODIFY w VARCHAR(%d)", 20+r.IntN(80)))
		case 7:
			exec("ALTER TABLE crash.docs MODIFY x " + []string{"INT", "BIGINT", "INT UNSIGNED"}[r.IntN(3)])
		case 8: // copies
			exec("ALTER TABLE crash.docs ADD COLUMN z INT DEFAULT 7")
			exec("ALTER TABLE crash.docs MODIFY z VARCHAR(10) AFTER id")
			exec("ALTER TABLE crash.docs DROP COLUMN z")
		case 9:
			exec("ALTER TABLE crash.docs DROP COLUMN x")
			exec("ALTER TABLE crash.docs ADD COLUMN x INT, ALTER SEARCH INDEX s ADD (x)")
			exec("ALTER TABLE crash.docs ALTER SEARCH INDEX s DROP (w)")
			exec("ALTER TABLE crash.docs ALTER SEARCH INDEX s ADD (w)")
		}
	}
}

// searchGenerations waits until no index has another form to come, and looks
// whether there are files of others.
func searchGenerations(t *testing.T, db *sql.DB, dir string) {
	t.Helper()
	const state = "SELECT SUM(state = 'ready' AND generation = 'current'), COUNT(*) FROM information_schema.SQLOTS_SEARCH_INDEXES"
	for end := time.Now().Add(time.Minute); ; time.Sleep(20 * time.Millisecond) {
		got, err := searchRows(db, state)
		if err != nil {
			t.Fatal(err)
		}
		list, err := filepath.Glob(filepath.Join(dir, "search", "*-*"))
		if err != nil {
			t.Fatal(err)
		}
		if n := len(list); got == fmt.Sprintf("%d|%d|\n", n, n) {
			return
		}
		if time.Now().After(end) {
			t.Fatalf("%s in %d directories", got, len(list))
		}
	}
}

// searchQuestions are queries with %s for the hint; columns are those of the table.
func searchQuestions(r *rand.Rand, columns string) (out []string) {
	conds := func() string {
		list := []string{
			fmt.Sprintf("k = 'key %d'", r.IntN(300)), fmt.Sprintf("k LIKE 'Key %d%%'", r.IntN(30)), fmt.Sprintf("k IN ('Key %d', 'Key %d')", r.IntN(60), r.IntN(300)),
			fmt.Sprintf("n BETWEEN %d AND %d", r.IntN(1000)-1000, r.IntN(1000)), fmt.Sprintf("n < %d", r.IntN(2000)-1000), "k IS NULL", "n IS NOT NULL",
			fmt.Sprintf("b > %d", r.Uint64()), fmt.Sprintf("d <= %d.5", r.IntN(1000)-500), "f >= 0.25", "f < -1",
			fmt.Sprintf("at >= '2024-%02d-11'", 1+r.IntN(12)), fmt.Sprintf("at < '2024-%02d-01'", 1+r.IntN(12)), "at IS NULL",
			fmt.Sprintf("NESTED_QUERY(`o.name` = '%s' AND `o.v` > %d)", searchWords[r.IntN(len(searchWords))], r.IntN(100)), fmt.Sprintf("NESTED_QUERY(`o.v` < %d AND `o.p.w` > 20)", r.IntN(100)),
			fmt.Sprintf("NESTED_QUERY(TEXT_MATCH(`o.name`, '%s') AND `o.v` > %d)", searchWords[r.IntN(len(searchWords))], r.IntN(100)),
		}
		for _, name := range []string{"w", "w2"} {
			if strings.Contains(columns, name+"|") {
				list = append(list, fmt.Sprintf("%s = 'w %d'", name, r.IntN(40)), name+" IS NULL", name+" LIKE 'W 1%'")
			}
		}
		if strings.Contains(columns, "x|") {
			list = append(list, fmt.Sprintf("x < %d", r.IntN(1000)), fmt.Sprintf("x IN (%d, %d)", r.IntN(1000), r.IntN(1000)))
		}
		a, b, c := list[r.IntN(len(list))], list[r.IntN(len(list))], list[r.IntN(len(list))]
		switch r.IntN(4) {
		case 0:
			return a
		case 1:
			return a + " AND " + b
		case 2:
			return "(" + a + " OR " + b + ") AND " + c
		}
		return a + " AND NOT (" + b + ")"
	}
	for range 12 {
		order := []string{"n", "k DESC", "d", "f DESC", "at", "b"}[r.IntN(6)]
		out = append(out,
			"SELECT COUNT(*), SUM(n), MIN(d), MAX(at), COUNT(DISTINCT k) FROM crash.docs %s WHERE "+conds(),
			"SELECT id, "+docColumns+" FROM crash.docs %s WHERE "+conds()+" ORDER BY id",
			"SELECT "+strings.Fields(order)[0]+" FROM crash.docs %s WHERE "+conds()+" ORDER BY "+order+" LIMIT 25",
			"SELECT n % 10 g, COUNT(*), SUM(d) FROM crash.docs %s WHERE "+conds()+" GROUP BY g ORDER BY g")
	}
	return out
}

func searchRows(db *sql.DB, q string) (string, error) {
	rows, err := db.QueryContext(context.Background(), q)
	if err != nil {
		return "", fmt.Errorf("%s: %w", q, err)
	}
	defer rows.Close()
	cols, err := rows.Columns()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	vals, to := make([]sql.NullString, len(cols)), make([]any, len(cols))
	for i := range vals {
		to[i] = &vals[i]
	}
	for rows.Next() {
		if err := rows.Scan(to...); err != nil {
			return "", err
		}
		for _, v := range vals {
			if !v.Valid {
				v.String = "NULL"
			}
			b.WriteString(v.String + "|")
		}
		b.WriteByte('\n')
	}
	return b.String(), rows.Err()
}

// without are the lines of a that are none of b.
func without(a, b string) (out []string) {
	others := strings.Split(b, "\n")
	for line := range strings.SplitSeq(a, "\n") {
		if !slices.Contains(others, line) {
			out = append(out, line)
		}
	}
	return out
}

// compareSearch runs queries by the index and without it, in one snapshot.
func compareSearch(t *testing.T, db *sql.DB, r *rand.Rand, when string) (n int) {
	t.Helper()
	check := func(a, b string) {
		n++
		got, err := searchRows(db, a)
		if err != nil {
			t.Fatal(err)
		}
		want, err := searchRows(db, b)
		if err != nil {
			t.Fatal(err)
		}
		if got != want {
			state := func(q string) string {
				rows, err := searchRows(db, q)
				return fmt.Sprintf("%.2000s %v", rows, err)
			}
			states := state("SELECT * FROM information_schema.SQLOTS_SEARCH_INDEXES")
			again, _ := searchRows(db, a)
			t.Fatalf("%s: %s\nby the index alone: %s\nwithout alone: %s\nthe same when repeated: %v\n%s\n%s\n%s", when, a,
				strings.Join(without(got, want), " "), strings.Join(without(want, got), " "), again == got, states, state("EXPLAIN ANALYZE "+a), state("CHECK TABLE crash.docs"))
		}
	}
	columns, err := searchRows(db, "SELECT column_name FROM information_schema.columns WHERE table_schema = 'crash' AND table_name = 'docs'")
	if err != nil {
		t.Fatal(err)
	}
	for _, q := range searchQuestions(r, columns) {
		hint := func(h string) string { return strings.Replace(q, "%s", h, 1) }
		check(hint("FORCE INDEX (s)"), hint("USE INDEX ()"))
	}
	for range 6 {
		a, b := searchWords[r.IntN(len(searchWords))], searchWords[r.IntN(len(searchWords))]
		check(fmt.Sprintf("SELECT id FROM crash.docs WHERE MATCH(t) AGAINST('+%s -%s' IN BOOLEAN MODE) ORDER BY id", a, b),
			fmt.Sprintf(`SELECT id FROM crash.docs USE INDEX () WHERE t REGEXP '(^| )%s( |$)' AND NOT t REGEXP '(^| )%s( |$)' ORDER BY id`, a, b))
		check(fmt.Sprintf("SELECT COUNT(*) FROM crash.docs WHERE MATCH(t) AGAINST('%s')", a),
			fmt.Sprintf("SELECT COUNT(*) FROM crash.docs USE INDEX () WHERE t REGEXP '(^| )%s( |$)'", a))
	}
	return n
}

// searchFailures logs what a server says of indexes that cannot go on, and counts
// those that were finished: one whose first file was being made when the server
// was killed may have to begin again.
func searchFailures(t *testing.T, c *childserver.Child) (n int) {
	for line := range strings.SplitSeq(c.Log.String(), "\n") {
		if strings.Contains(line, `msg="search index"`) {
			t.Log(line)
			if !strings.Contains(line, "index=extra") && !strings.Contains(line, "it was built up to") {
				n++
			}
		}
	}
	return n
}

// TestKillSearch kills a server whose search indexes follow writers, again and
// again: they answer as the table does, at once and when they have caught up.
func TestKillSearch(t *testing.T) {
	seed := testflag.AnySeed(t)
	r := rand.New(rand.NewPCG(seed, 3))
	testflag.Normal(t)
	rounds := testflag.Rounds(1, 1, 7)
	dir := t.TempDir()
	var commits, alters atomic.Int64
	compared, failures := 0, 0
	for round := range rounds {
		c := childserver.Start(t, dir)
		db := connect(t, c.Addr)
		if round == 0 {
			for _, q := range []string{"CREATE DATABASE crash", searchTable} {
				if _, err := db.Exec(q); err != nil {
					t.Fatal(err)
				}
			}
		} else {
			compared += compareSearch(t, db, r, fmt.Sprintf("round %d, at once", round))
		}
		var gone atomic.Bool
		timer := time.AfterFunc(time.Duration(100+r.IntN(1200))*time.Millisecond, func() {
			gone.Store(true)
			c.Signal()
		})
		var wg sync.WaitGroup
		for range 4 {
			w := rand.New(rand.NewPCG(r.Uint64(), 0))
			wg.Go(func() { searchWriter(t, db, w, &gone, &commits) })
		}
		if round%3 == 1 { // indexes that are not finished are killed too
			wg.Go(func() {
				_, _ = db.Exec("DROP INDEX extra ON crash.docs")
				_, _ = db.Exec("CREATE SEARCH INDEX extra ON crash.docs (n, at)")
			})
		}
		if round%3 != 1 { // and those of which another form is built
			alter := rand.New(rand.NewPCG(r.Uint64(), 0))
			wg.Go(func() { alterSearch(db, alter, &alters) })
		}
		wg.Wait()
		timer.Stop()
		c.Kill()
		db.Close()
		failures += searchFailures(t, c)
		if t.Failed() {
			t.Fatalf("round %d\n%s", round, c.Log)
		}
		c = childserver.Start(t, dir)
		db = connect(t, c.Addr)
		compared += compareSearch(t, db, r, fmt.Sprintf("round %d, after the kill", round))
		time.Sleep(150 * time.Millisecond)
		compared += compareSearch(t, db, r, fmt.Sprintf("round %d, later", round))
		searchGenerations(t, db, dir)
		if got, err := searchRows(db, "CHECK TABLE crash.docs"); err != nil || got != "crash.docs|check|status|OK|\n" {
			t.Errorf("round %d: %.2000s %v", round, got, err)
		}
		c.Kill()
		db.Close()
		failures += searchFailures(t, c)
	}
	t.Logf("%d kills, %d commits, %d changes of the schema, %d questions, %d failures of indexes", 2*rounds, commits.Load(), alters.Load(), compared, failures)
	if commits.Load() < int64(rounds)*10 {
		t.Error("that tests nothing")
	}
	if failures > 0 {
		t.Errorf("%d times an index could not go on", failures)
	}
}

// haveFiles reports whether every search index has files on the disk.
func haveFiles(t *testing.T, dir string) bool {
	t.Helper()
	indexes, err := filepath.Glob(filepath.Join(dir, "search", "*"))
	if err != nil {
		t.Fatal(err)
	}
	return !slices.ContainsFunc(indexes, func(x string) bool {
		files, err := filepath.Glob(filepath.Join(x, "*.zap"))
		return err != nil || len(files) == 0
	})
}

// awaitFiles waits until every search index is ready and its files stay the same for a
// while: then they are those of its documents, and a check reads them.
func awaitFiles(t *testing.T, db *sql.DB, dir string) {
	t.Helper()
	const stable = 600 * time.Millisecond
	before, since := "", time.Now()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		ready, err := searchRows(db, "SELECT COUNT(*) = SUM(state = 'ready') FROM information_schema.SQLOTS_SEARCH_INDEXES")
		if err != nil {
			t.Fatal(err)
		}
		files, err := filepath.Glob(filepath.Join(dir, "search", "*", "*.zap"))
		if err != nil {
			t.Fatal(err)
		}
		now := strings.Join(files, " ")
		if ready != "1|\n" || !haveFiles(t, dir) || now != before {
			before, since = now, time.Now()
		}
		if time.Since(since) > stable {
			return
		}
	}
	t.Fatal("the search indexes have no files")
}

// TestSearchDamage: queries are answered while the files of their indexes are
// found to be damaged, and the indexes come back.
func TestSearchDamage(t *testing.T) {
	testflag.Normal(t)
	dir := t.TempDir()
	r := rand.New(rand.NewPCG(1, 1))
	c := childserver.Start(t, dir)
	db := connect(t, c.Addr)
	var rows []string
	for range 2000 {
		rows = append(rows, "("+docValues(r)+")")
	}
	for _, q := range []string{"CREATE DATABASE crash", searchTable, "INSERT INTO crash.docs (" + docColumns + ") VALUES " + strings.Join(rows, ", ")} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	for round := range testflag.Rounds(1, 1, 6) {
		awaitFiles(t, db, dir)
		c.Kill()
		db.Close()
		files, err := filepath.Glob(filepath.Join(dir, "search", "*", "*.zap"))
		if err != nil || len(files) == 0 {
			t.Fatalf("no files: %v", err)
		}
		for _, path := range files {
			b, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			for at := round * 8; at < len(b)-300; at += 64 << (round % 3) { // not of the directory: that is seen first
				b[at] ^= 0x10
			}
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		found := ""
		ok, err := datacheck.Dir(t.Context(), dir, func(r datacheck.Result) {
			for _, p := range r.Report.Problems {
				found += p.String() + "\n"
			}
		})
		if err != nil || ok || !strings.Contains(found, "index s: ") || !strings.Contains(found, "index ft: ") || !strings.Contains(found, "index cc: ") {
			t.Errorf("round %d: a check finds %q, %v", round, found, err)
		}
		c = childserver.Start(t, dir)
		db = connect(t, c.Addr)
		compareSearch(t, db, r, fmt.Sprintf("round %d", round))
		if t.Failed() {
			return
		}
		seen := func() bool { return strings.Contains(c.Log.String(), "search index damaged") }
		for end := time.Now().Add(5 * time.Second); !seen() && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		}
		if !seen() {
			t.Errorf("round %d: no damage was found", round)
		}
		const ready = "SELECT SUM(state = 'ready'), SUM(last_error LIKE '%damaged%') > 0 FROM information_schema.SQLOTS_SEARCH_INDEXES"
		got := ""
		for end := time.Now().Add(20 * time.Second); got != "3|1|\n" && time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
			if got, err = searchRows(db, ready); err != nil {
				t.Fatal(err)
			}
		}
		if got != "3|1|\n" {
			t.Fatalf("round %d: the indexes do not come back: %s", round, got)
		}
		compareSearch(t, db, r, fmt.Sprintf("round %d, built anew", round))
	}
	if !slices.ContainsFunc(strings.Split(c.Log.String(), "\n"), func(l string) bool { return strings.Contains(l, "crash.docs") }) {
		t.Error("the log names no table")
	}
}
