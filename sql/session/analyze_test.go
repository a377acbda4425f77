package session

import (
	"context"
	"regexp"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/command"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/value"
)

// rowSink keeps the rows that come one by one, as EXPLAIN's.
type rowSink struct {
	textSink
}

func (s *rowSink) Row(row []value.Datum) error {
	for _, d := range row {
		s.lines = append(s.lines, string(d.Bytes()))
	}
	return nil
}

// TestAnalyzeCounters: EXPLAIN ANALYZE reports what each access has read.
func TestAnalyzeCounters(t *testing.T) {
	s := testSession(t)
	for _, sql := range []string{
		"CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, KEY a (a), KEY b (b))",
		"INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, i % 50, i % 40 FROM n",
		"CREATE TABLE m (b INT, ts INT, PRIMARY KEY (b, ts))", "SET cte_max_recursion_depth = 4000",
		"INSERT INTO m WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 4000) SELECT i % 16, i FROM n",
	} {
		s.mustQuery(t, sql, &sink{})
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT COUNT(b) FROM t IGNORE INDEX (b) WHERE id > 100", `range scan on t@PRIMARY .*rows=400 loops=1 keys=400 bytes=\d+ seeks=1\)`},
		{"SELECT * FROM t FORCE INDEX (a) WHERE a = 7", `index join on t .*rows=10 loops=1 keys=10 bytes=\d+ seeks=10\)\n *-> index scan on t@a .*\(actual rows=10 loops=1 keys=10 bytes=\d+ seeks=1\)`},
		{"SELECT STRAIGHT_JOIN y.id, y.b FROM t x JOIN t y FORCE INDEX (b) ON y.b = x.a AND y.a > 3 WHERE x.id < 4", `index join on t y .*rows=30 loops=1 keys=39 bytes=\d+ seeks=39\)\n.*\n *-> look-up on t y@b .*\(actual rows=39 loops=1 keys=39 bytes=\d+ seeks=3\)`},
		// With a limit no more is read, but for a filter.
		{"SELECT * FROM t FORCE INDEX (a) WHERE a >= 0 ORDER BY a LIMIT 3", `index join on t .*rows=3 loops=1 keys=3 bytes=\d+ seeks=3\)\n.*\n *-> index scan on t@a in order .*\(actual rows=3 loops=1 keys=3 bytes=\d+ seeks=1\)`},
		{"SELECT * FROM t FORCE INDEX (a) WHERE a >= 0 ORDER BY a DESC LIMIT 20", `index join on t .*rows=20 loops=1 keys=20 bytes=\d+ seeks=20\)\n.*\n *-> index scan on t@a reverse in order .*\(actual rows=20 loops=1 keys=20 bytes=\d+ seeks=1\)`},
		{"SELECT * FROM t FORCE INDEX (a) WHERE a >= 0 AND b >= 0 ORDER BY a LIMIT 3", `index join on t .*rows=3 loops=1 keys=16 bytes=\d+ seeks=16\)\n`},
		{"SELECT * FROM t FORCE INDEX (a) WHERE a = 7 FOR UPDATE", `index join on t for update .*rows=10 loops=1 keys=10 bytes=\d+ seeks=10\)\n *-> index scan on t@a .*\(actual rows=10 loops=1 keys=10 bytes=\d+ seeks=1\)`},
		{"SELECT /*+ INDEX_MERGE(t) */ id, b + 1 FROM t WHERE a = 7 OR b = 9", `index merge .*rows=\d+ loops=1 keys=\d+ bytes=\d+ seeks=\d+\)`},
		{"SELECT STRAIGHT_JOIN COUNT(y.b) FROM t x JOIN t y FORCE INDEX (PRIMARY) ON y.id = x.a WHERE x.id < 4", `look-up on t y@PRIMARY.*rows=3 loops=\d+ keys=3 bytes=\d+ seeks=\d+\)`},
		// Ten rows, and one that comes next in each of the other ranges.
		{"SELECT ts FROM m WHERE b IN (0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15) AND ts >= 1000 ORDER BY ts LIMIT 10", `merged range scan on m@PRIMARY .*rows=10 loops=1 keys=25 bytes=\d+ seeks=16\)`},
		{"SELECT ts FROM m ORDER BY ts DESC LIMIT 10", `merged range scan on m@PRIMARY .*rows=10 loops=1 keys=41 bytes=\d+ seeks=33\)`},
	} {
		s.mustAnalyze(t, c.sql, c.want)
	}
}

// mustAnalyze compares what EXPLAIN ANALYZE prints with a regular expression.
func (s *Session) mustAnalyze(t *testing.T, sql, want string) {
	t.Helper()
	w := &rowSink{}
	if err := s.Query(context.Background(), "EXPLAIN ANALYZE "+sql, w); err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(w.lines, "\n"); !regexp.MustCompile(want).MatchString(got) {
		t.Errorf("%s:\n%s\nwant %s", sql, got, want)
	}
}

// TestAnalyzeSearch: of equal rows a search reads those that it gives, and no values
// of places whose distance the index knows.
func TestAnalyzeSearch(t *testing.T) {
	e, err := engine.New(t.Context(), engine.Config{Store: memkv.New(memkv.Options{}), SearchDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = e.Close(context.Background()) })
	s, err := New(t.Context(), statement.NewShared(e, command.Runner{}), mysqlwire.ConnInfo{ID: 1, User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, Kill: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	for _, sql := range []string{
		"CREATE DATABASE d", "USE d", "CREATE TABLE t (id INT PRIMARY KEY, v INT, w INT)",
		"INSERT INTO t WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 500) SELECT i, i % 50 DIV 10, i FROM n",
		"CREATE TABLE g (id INT PRIMARY KEY, p POINT NOT NULL SRID 4326)",
		"INSERT INTO g SELECT id, ST_SRID(POINT(id % 50, id % 40), 4326) FROM t",
		"CREATE SEARCH INDEX s ON t (v)", "CREATE SPATIAL INDEX s ON g (p)",
	} {
		s.mustQuery(t, sql, &sink{})
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT * FROM t FORCE INDEX (s) ORDER BY v LIMIT 4", `search on t@s of the first .*rows=4 loops=1 segments=1 hits=500 waited_ns=\d+ keys=4 bytes=\d+ seeks=4\)`},
		{"SELECT * FROM t FORCE INDEX (s) WHERE v > 1 ORDER BY v DESC LIMIT 4", `search on t@s of the first .*rows=4 loops=1 segments=1 hits=300 waited_ns=\d+ keys=4 bytes=\d+ seeks=4\)`},
		{"SELECT id FROM g FORCE INDEX (s) WHERE ST_Distance_Sphere(p, ST_SRID(POINT(0, 0), 4326)) <= 200000", `covering search on g@s .*rows=5 loops=1 segments=1 hits=5 waited_ns=\d+\)`},
		{"SELECT id FROM g FORCE INDEX (s) WHERE ST_Distance_Sphere(p, ST_GeomFromText('MULTIPOINT(0 0, 1 1)', 4326)) <= 1000", `covering search on g@s .*rows=5 loops=1 segments=1 candidates=\d+ hits=5 waited_ns=\d+\)`},
	} {
		s.mustAnalyze(t, c.sql, c.want)
	}
}
