package session

import (
	"context"
	"regexp"
	"strings"
	"testing"

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
		{"SELECT * FROM t FORCE INDEX (a) WHERE a = 7 FOR UPDATE", `index join on t for update .*rows=10 loops=1 keys=10 bytes=\d+ seeks=10\)\n *-> index scan on t@a .*\(actual rows=10 loops=1 keys=10 bytes=\d+ seeks=1\)`},
		{"SELECT /*+ INDEX_MERGE(t) */ id, b + 1 FROM t WHERE a = 7 OR b = 9", `index merge .*rows=\d+ loops=1 keys=\d+ bytes=\d+ seeks=\d+\)`},
		{"SELECT STRAIGHT_JOIN COUNT(y.b) FROM t x JOIN t y FORCE INDEX (PRIMARY) ON y.id = x.a WHERE x.id < 4", `look-up on t y@PRIMARY.*rows=3 loops=\d+ keys=3 bytes=\d+ seeks=\d+\)`},
		// Ten rows, and one that comes next in each of the other ranges.
		{"SELECT ts FROM m WHERE b IN (0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15) AND ts >= 1000 ORDER BY ts LIMIT 10", `merged range scan on m@PRIMARY .*rows=10 loops=1 keys=25 bytes=\d+ seeks=16\)`},
		{"SELECT ts FROM m ORDER BY ts DESC LIMIT 10", `merged range scan on m@PRIMARY .*rows=10 loops=1 keys=41 bytes=\d+ seeks=33\)`},
	} {
		w := &rowSink{}
		if err := s.Query(context.Background(), "EXPLAIN ANALYZE "+c.sql, w); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(w.lines, "\n"); !regexp.MustCompile(c.want).MatchString(got) {
			t.Errorf("%s:\n%s\nwant %s", c.sql, got, c.want)
		}
	}
}
