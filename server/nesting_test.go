package server_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// TestLongChains: a chain of operators is as long as a text may be, and takes
// time in proportion.
func TestLongChains(t *testing.T) {
	_, dsn := startServer(t, func(c *server.Config) { c.Memory = 1 << 30 })
	c := dial(t, dsn+"?sql_mode=PIPES_AS_CONCAT")
	c.exec("CREATE TABLE t (id INT PRIMARY KEY, a INT, d DOUBLE, s VARCHAR(20), KEY (a))")
	c.exec("INSERT INTO t VALUES (1, 1, 1, 'x'), (2, 2, 2, 'y'), (3, NULL, 3, NULL)")
	n := testflag.Pick(2_000, 10_000, 100_000)
	for _, q := range []struct{ before, again, after, want string }{
		{"SELECT 1", "+1", "", fmt.Sprint(n + 1)},
		{"SELECT a", "+1", " FROM t WHERE id = 1", fmt.Sprint(n + 1)},
		{"SELECT d", "*d", " FROM t WHERE id = 1", "1"},
		{"SELECT id FROM t WHERE a", "+1", " > 0 ORDER BY id LIMIT 1", "1"},
		{"SELECT id FROM t WHERE id = 2", " OR a = 7", "", "2"},
		{"SELECT id FROM t WHERE id = 2", " OR a = 7 AND id = 3", "", "2"},
		{"SELECT id FROM t WHERE id = 2", " AND a <> 7", "", "2"},
		{"SELECT id FROM t WHERE id = 2", " XOR a = 7", "", "2"},
		{"SELECT LENGTH('a'", " || 'b'", ")", fmt.Sprint(n + 1)},
		{"SELECT LENGTH(s", " || s", ") FROM t WHERE id = 1", fmt.Sprint(n + 1)},
		{"SELECT SUM(a", "+1", ") FROM t GROUP BY id ORDER BY id LIMIT 1", fmt.Sprint(n + 1)},
	} {
		sql := q.before + strings.Repeat(q.again, n) + q.after
		start := time.Now()
		var got string
		if err := c.c.QueryRowContext(context.Background(), sql).Scan(&got); err != nil || got != q.want {
			t.Errorf("%s%s…: got %s, %v", q.before, q.again, got, err)
		}
		if took := time.Since(start); took > time.Minute {
			t.Errorf("%s%s…: %v", q.before, q.again, took)
		}
		c.exec("EXPLAIN " + sql)
	}
}

// TestNestedStatements: what stands for too much is an error, in a short time.
func TestNestedStatements(t *testing.T) {
	testflag.Normal(t)
	_, dsn := startServer(t)
	c, ctx := dial(t, dsn), context.Background()
	c.exec("CREATE TABLE t (id INT PRIMARY KEY, a INT)")
	c.exec("CREATE VIEW v0 AS SELECT id FROM t")
	deep := strings.Repeat("!", 100_000) + "1"
	c.exec("SET @deep = CONCAT('SELECT ', REPEAT('!', 100000), '1')")
	doubled := func(first, from string, levels int) string {
		var b strings.Builder
		fmt.Fprintf(&b, "WITH a0 AS (%s)", first)
		for i := 1; i <= levels; i++ {
			fmt.Fprintf(&b, ", a%d AS (SELECT p.x FROM a%d p, a%d q)", i, i-1, i-1)
		}
		fmt.Fprintf(&b, " SELECT x FROM a%d%s", levels, from)
		return b.String()
	}
	for _, q := range []struct {
		sql    string
		number uint16
	}{
		{"SELECT " + deep, 1436},
		{"DO " + deep, 1436},
		{"SET @a = " + deep, 1436},
		{"EXPLAIN SELECT " + deep, 1436},
		{"PREPARE s FROM @deep", 1436},
		{"SELECT STATEMENT_DIGEST(@deep)", 3676},
		{"CREATE TABLE g (a INT, b INT AS (" + deep + "))", 1436},
		{"CREATE TABLE g (a INT DEFAULT (" + deep + "))", 1436},
		{"CREATE TABLE g (a INT CHECK (" + deep + "))", 1436},
		{"CREATE VIEW g AS SELECT " + deep, 1436},
		{"INSERT INTO t VALUES (1, " + deep + ")", 1436},
		{"UPDATE t SET a = " + deep, 1436},
		{"DELETE FROM t WHERE " + deep, 1436},
		{"SELECT 1" + strings.Repeat(" UNION SELECT 1", 20_000), 1436},
		{"EXPLAIN " + doubled("SELECT 1 AS x", "", 40), 0},
		{"EXPLAIN SELECT (" + doubled("SELECT t.a AS x", "", 40) + ") FROM t", 1473},
	} {
		start := time.Now()
		_, err := c.c.ExecContext(ctx, q.sql)
		if got := errorNumber(err); got != q.number {
			t.Errorf("%.60s…: got %v", q.sql, err)
		}
		if took := time.Since(start); took > 30*time.Second {
			t.Errorf("%.60s…: %v", q.sql, took)
		}
	}
	// Views that read each other twice double with each level, until one cannot
	// be made.
	var err error
	for i := 1; i <= 40 && err == nil; i++ {
		_, err = c.c.ExecContext(ctx, fmt.Sprintf("CREATE VIEW v%d AS SELECT p.id FROM v%d p UNION ALL SELECT q.id FROM v%d q", i, i-1, i-1))
	}
	if errorNumber(err) != 1473 {
		t.Errorf("views that double: %v", err)
	}
}
