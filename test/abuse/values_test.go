package abuse

import (
	"database/sql"
	"fmt"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestKillOfLongRows kills statements that work on one long value or row, at several
// moments: each has to look at its context while it does.
func TestKillOfLongRows(t *testing.T) {
	testflag.Normal(t)
	v := startWith(t, settings{Memory: 1 << 30})
	db, admin := v.connect("abuse"), v.connect("")
	const words = "CONCAT(REPEAT(CONCAT('word', 'é', ' some text of 40 characters in a row. '), 100000), 'x')"
	for _, text := range []string{
		"CREATE TABLE texts (id INT PRIMARY KEY, t LONGTEXT)",
		"CREATE TABLE found (id INT PRIMARY KEY, t LONGTEXT, SEARCH INDEX s (t TEXT))",
		"CREATE TABLE docs (id INT PRIMARY KEY, j JSON)",
		"CREATE TABLE places (id INT PRIMARY KEY, g GEOMETRY)",
		"CREATE TABLE kept (id INT PRIMARY KEY, t LONGTEXT, j JSON) SECONDARY_ENGINE_ATTRIBUTE='{\"stream\": {}, \"max_versions\": 2}'",
		"INSERT INTO texts VALUES (1, " + words + "), (2, " + words + ")",
		"INSERT INTO found VALUES (1, " + words + ")",
		"INSERT INTO docs VALUES (1, CONCAT('[', REPEAT('{\"a\": 1, \"b\": [true]},', 130000), '1]'))",
		"INSERT INTO places VALUES (1, ST_GeomFromText(CONCAT('LINESTRING(', REPEAT('1 1,2 2,', 190000), '3 3)')))",
		"INSERT INTO kept SELECT 1, t, '[]' FROM texts WHERE id = 1",
	} {
		v.exec(db, text)
	}
	texts := []string{
		"SELECT * FROM texts ORDER BY t",
		"SELECT t, COUNT(*) FROM texts GROUP BY t",
		"SELECT DISTINCT UPPER(t) FROM texts",
		"SELECT COUNT(*) FROM texts a JOIN texts b ON a.t = b.t",
		"SELECT COUNT(*) FROM texts a JOIN texts b ON a.t < b.t",
		"SELECT MAX(t) FROM texts",
		"INSERT INTO texts SELECT id + 10, t FROM texts WHERE id < 3",
		"INSERT INTO found SELECT id + 10, t FROM texts WHERE id < 3; SELECT COUNT(*) FROM found WHERE MATCH (t) AGAINST ('word')",
		"UPDATE found SET t = CONCAT(t, 'y'); SELECT COUNT(*) FROM found WHERE MATCH (t) AGAINST ('some text' IN BOOLEAN MODE)",
		"SELECT HIGHLIGHT(t, 'some') FROM found WHERE MATCH (t) AGAINST ('some')",
		"SELECT j FROM docs",
		"SELECT CAST(CONCAT('[', REPEAT('1,', 3000000), '1]') AS JSON)",
		"SELECT COUNT(*) FROM docs a JOIN docs b ON a.j = b.j",
		"SELECT j, COUNT(*) FROM docs GROUP BY j",
		"UPDATE docs SET j = JSON_SET(j, '$[0]', 2)",
		"SELECT COUNT(*) FROM docs, JSON_TABLE(j, '$[*]' COLUMNS (a INT PATH '$.a')) x",
		"SELECT JSON_PRETTY(j), JSON_SEARCH(j, 'all', 'x'), JSON_KEYS(j, '$[0]') FROM docs",
		"SELECT JSON_MERGE_PRESERVE(j, j), JSON_MERGE_PATCH(j, j) FROM docs",
		"SELECT JSON_CONTAINS(j, j), JSON_OVERLAPS(j, JSON_ARRAY(3)) FROM docs",
		"SELECT JSON_STORAGE_SIZE(j), JSON_DEPTH(j), JSON_TYPE(j) FROM docs",
		"SELECT ST_AsText(g), ST_AsGeoJSON(g), ST_Length(g) FROM places",
		"UPDATE kept SET t = CONCAT(t, 'x')",
		"SELECT * FROM kept FOR UPDATE",
		"CHECKSUM TABLE texts, docs",
		"CHECK TABLE texts, docs",
		"ALTER TABLE texts ADD KEY (t(100))",
		"ALTER TABLE docs ADD KEY ((CAST(j->'$[*].a' AS SIGNED ARRAY)))",
		"ALTER TABLE docs MODIFY j LONGTEXT",
		"ANALYZE TABLE texts, docs",
		"SET character_set_results = utf32; SELECT REPEAT('x', 20000000)", // a row is sent whole, which takes 60 ms for these 80 MB
		"SELECT REPEAT('é', 30000000)",
		"SELECT CONVERT(REPEAT('é', 30000000) USING utf16)",
		"INSERT INTO texts VALUES (99, '" + longText(6_000_000) + "')",
		"SELECT LENGTH('" + longText(30_000_000) + "')",
		"SELECT '" + longText(30_000_000) + "' LIKE '%y'",
		"SELECT " + list(4000, func(i int) string { return fmt.Sprintf("REPEAT('x', %d)", 10_000+i) }),
	}
	for _, text := range texts[:testflag.Pick(0, 5, len(texts))] {
		v.kills(t, admin, text)
		if v.c.Memory("VmRSS") == 0 {
			t.Fatalf("%.80s: the server has ended\n%s", text, tail(v.c.Log.String()))
		}
	}
}

func longText(n int) string {
	b := make([]byte, n)
	for i := range b {
		b[i] = "some words of a text that is long "[i%34]
	}
	return string(b)
}

// kills runs a statement to its end, and then again several times, in which it is killed at
// different moments. Its client is raw: a driver takes a second to read a row of 60 MB.
func (v *victim) kills(t *testing.T, admin *sql.DB, text string) {
	t.Helper()
	began := time.Now()
	_, err := v.raw(t, admin, text, 20*time.Second)
	natural := min(time.Since(began), 20*time.Second)
	worst, at := time.Duration(0), time.Duration(0)
	for i := range killMoments {
		after := natural * time.Duration(i+1) / (killMoments + 1)
		slow := time.Hour
		for tries := 0; tries < 2 && slow > mostKill(); tries++ { // what both have is not the machine's
			s, _ := v.raw(t, admin, text, after)
			slow = min(slow, s)
		}
		if slow > worst {
			worst, at = slow, after
		}
	}
	v.report()
	t.Logf("%-60.60s %7.1f ms; killed after %.1f it ended after %6.1f ms; %.50v", text, ms(natural), ms(at), ms(worst), err)
	if worst > mostKill() {
		t.Errorf("%.80s: it ended %v after KILL", text, worst)
	}
}

// raw runs a statement on a raw connection of its own and kills it after runs. slow is the
// time from the first KILL to the end.
func (v *victim) raw(t *testing.T, admin *sql.DB, text string, runs time.Duration) (slow time.Duration, err error) {
	t.Helper()
	c, err := v.dial(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer c.nc.Close()
	_, slow = killAfter(c.id, admin, runs, func() { err = c.drain(text) })
	return slow, err
}

// killMoments is at how many moments a statement is killed.
const killMoments = 6

func ms(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
