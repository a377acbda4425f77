package session

import (
	"context"
	"fmt"
	"math/rand"
	"strings"
	"sync"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/mysqlwire"
)

// derivedColumns are generated columns of the table g in TestDerived, with what
// they are over the base columns, which table p has alone.
var derivedColumns = []struct{ name, def, plain string }{
	{"v", "BIGINT AS (a * 2 + id)", "(a * 2 + id)"},
	{"w", "VARCHAR(40) AS (CONCAT(UPPER(s), '-', a)) STORED", "CONCAT(UPPER(s), '-', a)"},
	{"x", "BIGINT AS (v + LENGTH(w))", "(a * 2 + id) + LENGTH(CONCAT(UPPER(s), '-', a))"},
	{"y", "VARCHAR(20) AS (j->>'$.k') STORED", "CAST(j->>'$.k' AS CHAR(20))"},
	{"z", "DECIMAL(12,3) AS (a / 8)", "CAST(a / 8 AS DECIMAL(12,3))"},
}

var derivedIndexes = []string{
	"KEY v (v)", "KEY w (w, a)", "KEY x (x DESC)", "KEY y (y(3))", "KEY z (z, s)", "KEY low ((LOWER(s)))", "KEY prod ((a * id), s)",
	"KEY js ((CAST(j->>'$.k' AS CHAR(10))))", "KEY md ((a % 7), (id % 3))", "UNIQUE KEY uq ((id * 1000 + 1))", "KEY inc (v) INCLUDE (x, w)",
}

// derivedConds are conditions over the columns; {v} is replaced by the column
// in g and by what it is in p.
var derivedConds = []string{
	"{v} = 20", "{v} BETWEEN 10 AND 60", "{w} LIKE 'A%'", "{w} = 'bc-7'", "{x} > 30", "{x} IN (12, 25, 31)", "{y} = 'one'", "{y} IS NULL",
	"{z} < 2.5", "{z} = 1.25 AND s > 'b'", "LOWER(s) = 'ab'", "LOWER(s) >= 'b' AND a > 3", "a * id > 100", "a * id = 24 AND s = 'AB'",
	"CAST(j->>'$.k' AS CHAR(10)) = 'two'", "a % 7 = 3 AND id % 3 = 1", "{v} > 30 OR {x} < 5", "id * 1000 + 1 = 7001", "{v} <=> NULL",
}

func derivedText(s string, plain bool) string {
	for _, c := range derivedColumns {
		to := c.name
		if plain {
			to = c.plain
		}
		s = strings.ReplaceAll(s, "{"+c.name+"}", to)
	}
	return s
}

func derivedChange(r *rand.Rand) string {
	val := func() string {
		a, s, j := fmt.Sprint(r.Intn(30)-3), fmt.Sprintf("'%s'", []string{"ab", "AB", "bc", "x", "", "é", "Zz"}[r.Intn(7)]),
			[]string{"NULL", `'{"k":"one"}'`, `'{"k":"two"}'`, `'{"k":3}'`, `'{}'`, `'{"k":"onerous"}'`}[r.Intn(6)]
		if r.Intn(8) == 0 {
			a = "NULL"
		}
		if r.Intn(8) == 0 {
			s = "NULL"
		}
		return a + ", " + s + ", " + j
	}
	id := func() int { return 1 + r.Intn(60) }
	cond := derivedConds[r.Intn(len(derivedConds))]
	switch r.Intn(9) {
	case 0, 1:
		return fmt.Sprintf("INSERT IGNORE INTO %%s (id, a, s, j) VALUES (%d, %s), (%d, %s)", id(), val(), id(), val())
	case 2:
		return fmt.Sprintf("REPLACE INTO %%s (id, a, s, j) VALUES (%d, %s), (%d, %s)", id(), val(), id(), val())
	case 3:
		return fmt.Sprintf("INSERT INTO %%s (id, a, s, j) VALUES (%d, %s) ON DUPLICATE KEY UPDATE a = VALUES(a) + 1, s = CONCAT(s, 'q')", id(), val())
	case 4:
		return fmt.Sprintf("DELETE FROM %%s WHERE %s ORDER BY id LIMIT 3", cond)
	case 5:
		return fmt.Sprintf("UPDATE %%s SET id = id + 61, s = 'moved' WHERE %s ORDER BY id DESC LIMIT 1", cond)
	case 6:
		return fmt.Sprintf("INSERT IGNORE INTO %%s (id, a, s, j) SELECT id + 100, a, s, j FROM %%s WHERE %s", cond)
	}
	return fmt.Sprintf("UPDATE %%s SET a = %d, s = IF(a > 5, s, 'AB') WHERE %s", r.Intn(20), cond)
}

func both(t *testing.T, s *Session, change string) {
	t.Helper()
	text := func(table string, plain bool) string {
		return derivedText(strings.ReplaceAll(change, "%s", table), plain)
	}
	g, p := s.errorOf(text("g", false)), s.errorOf(text("p", true))
	if g != p {
		t.Fatalf("%s: error %d, with plain columns %d", change, g, p)
	}
}

// TestDerived changes a table with generated columns and indexes on
// expressions, and one without, in the same way: they must look the same
// through every index, and rows and entries must agree.
func TestDerived(t *testing.T) {
	testflag.Normal(t)
	for seed := range int64(2) {
		r := rand.New(rand.NewSource(seed))
		s := testSession(t)
		s.mustQuery(t, "CREATE DATABASE d", &sink{})
		s.mustQuery(t, "USE d", &sink{})
		s.mustQuery(t, "CREATE TABLE p (id INT PRIMARY KEY, a INT, s VARCHAR(30), j JSON)", &sink{})
		def := "CREATE TABLE g (id INT PRIMARY KEY, a INT, s VARCHAR(30), j JSON"
		for _, c := range derivedColumns {
			def += ", " + c.name + " " + c.def
		}
		var indexes []string
		for _, x := range derivedIndexes {
			if r.Intn(3) > 0 {
				indexes = append(indexes, x)
				def += ", " + x
			}
		}
		s.mustQuery(t, def+")", &sink{})
		for i := range 150 {
			both(t, s, derivedChange(r))
			if i%50 == 20 {
				alterDerived(t, s, r, &indexes)
			}
			if i%10 == 0 {
				compareDerived(t, s, indexes)
			}
		}
	}
}

// alterDerived changes the indexes of g, or copies it.
func alterDerived(t *testing.T, s *Session, r *rand.Rand, indexes *[]string) {
	t.Helper()
	if len(*indexes) > 0 && r.Intn(2) == 0 {
		i := r.Intn(len(*indexes))
		s.mustQuery(t, "ALTER TABLE g DROP INDEX "+indexName((*indexes)[i]), &sink{})
		*indexes = append((*indexes)[:i:i], (*indexes)[i+1:]...)
	}
	for _, x := range derivedIndexes {
		if r.Intn(4) == 0 && !strings.Contains(strings.Join(*indexes, "/"), x) {
			s.mustQuery(t, "ALTER TABLE g ADD "+x, &sink{})
			*indexes = append(*indexes, x)
		}
	}
	if r.Intn(2) == 0 {
		s.mustQuery(t, "ALTER TABLE g MODIFY a BIGINT, ADD COLUMN extra VARCHAR(20) AS (CONCAT(a, s)) STORED FIRST", &sink{})
		s.mustQuery(t, "ALTER TABLE g DROP COLUMN extra, MODIFY a INT", &sink{})
	}
}

func indexName(def string) string {
	f := strings.Fields(def)
	if f[0] == "UNIQUE" {
		return f[2]
	}
	return f[1]
}

func compareDerived(t *testing.T, s *Session, indexes []string) {
	t.Helper()
	const all = "SELECT id, a, s, j, {v}, {w}, {x}, {y}, {z} FROM %s ORDER BY id"
	want := s.rowsOf(t, derivedText(fmt.Sprintf(all, "p"), true))
	if got := s.rowsOf(t, derivedText(fmt.Sprintf(all, "g"), false)); got != want {
		t.Fatalf("got %s\nwant %s", got, want)
	}
	for _, cond := range derivedConds {
		const q = "SELECT id, {x}, {w} FROM %s %s WHERE %s ORDER BY id"
		want := s.rowsOf(t, derivedText(fmt.Sprintf(q, "p", "", cond), true))
		for _, x := range append([]string{"KEY PRIMARY"}, indexes...) {
			text := derivedText(fmt.Sprintf(q, "g", "FORCE INDEX ("+indexName(x)+")", cond), false)
			if got := s.rowsOf(t, text); got != want {
				t.Fatalf("%s: got %s, want %s", text, got, want)
			}
		}
		const o = "SELECT COUNT(*), SUM({v}), LOWER(s) FROM %s WHERE %s GROUP BY LOWER(s) ORDER BY LOWER(s)"
		want = s.rowsOf(t, derivedText(fmt.Sprintf(o, "p", cond), true))
		if got := s.rowsOf(t, derivedText(fmt.Sprintf(o, "g", cond), false)); got != want {
			t.Fatalf("%s: got %s, want %s", cond, got, want)
		}
	}
	checkDerived(t, s)
}

// TestDerivedOnline builds indexes on virtual columns and expressions while the
// table is written to.
func TestDerivedOnline(t *testing.T) {
	testflag.Normal(t)
	s := testSession(t)
	s.mustQuery(t, "CREATE DATABASE d", &sink{})
	s.mustQuery(t, "USE d", &sink{})
	s.mustQuery(t, "CREATE TABLE g (id INT PRIMARY KEY, a INT, s VARCHAR(30), v BIGINT AS (a * 2))", &sink{})
	var rows []string
	for i := range 3000 {
		rows = append(rows, fmt.Sprintf("(%d, %d, 'Ab%d')", i, i%50, i%7))
	}
	s.mustQuery(t, "INSERT INTO g (id, a, s) VALUES "+strings.Join(rows, ", "), &sink{})
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for n := range 2 {
		w, err := New(context.Background(), s.Shared, mysqlwire.ConnInfo{ID: uint64(2 + n), User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, Kill: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		w.mustQuery(t, "USE d", &sink{})
		wg.Add(1)
		go func() {
			defer wg.Done()
			defer w.Close()
			r := rand.New(rand.NewSource(int64(n)))
			for {
				select {
				case <-stop:
					return
				default:
				}
				id := r.Intn(3000)
				switch r.Intn(3) {
				case 0:
					w.errorOf(fmt.Sprintf("REPLACE INTO g (id, a, s) VALUES (%d, %d, 'n%d')", id, id%50, id%7))
				case 1:
					w.errorOf(fmt.Sprintf("DELETE FROM g WHERE id = %d", id))
				default:
					w.errorOf(fmt.Sprintf("UPDATE g SET a = a + 1, s = UPPER(s) WHERE id BETWEEN %d AND %d", id, id+5))
				}
			}
		}()
	}
	for range testflag.Rounds(1, 1, 3) {
		s.mustQuery(t, "ALTER TABLE g ADD KEY v (v), ADD KEY low ((LOWER(s)), id)", &sink{})
		s.mustQuery(t, "CREATE INDEX m ON g ((a % 10), s)", &sink{})
		s.mustQuery(t, "ALTER TABLE g DROP INDEX v, DROP INDEX m", &sink{})
		s.mustQuery(t, "ALTER TABLE g DROP INDEX low", &sink{})
	}
	s.mustQuery(t, "ALTER TABLE g ADD KEY v (v), ADD KEY low ((LOWER(s)), id), ADD UNIQUE uq ((id * 2))", &sink{})
	close(stop)
	wg.Wait()
	checkDerived(t, s)
}

// checkDerived proves rows and entries of g against each other.
func checkDerived(t *testing.T, s *Session) {
	t.Helper()
	s.mustCheck(t, "d.g")
}
