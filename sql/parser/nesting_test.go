package parser

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

func errorNumber(err error) uint16 {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// nested repeats open and shut around 1.
func nested(open, shut string, n int) string {
	return "SELECT " + strings.Repeat(open, n) + "1" + strings.Repeat(shut, n)
}

// TestDeepTexts: a text that nests without bound is refused before it is
// parsed.
func TestDeepTexts(t *testing.T) {
	testflag.Normal(t)
	const n = 600_000
	for _, c := range []struct {
		sql  string
		mode types.SQLMode
	}{
		{nested("(", ")", n), 0},
		{nested("!", "", n), 0},
		{nested("- ", "", n), 0},
		{nested("+", "", n), 0},
		{nested("~", "", n), 0},
		{nested("- + ! ~", "", n), 0},
		{nested("NOT ", "", n), 0},
		{nested("NOT ", "", n), types.ModeHighNotPrecedence},
		{nested("BINARY ", "", n), 0},
		{nested("f(", ")", n), 0},
		{nested("{fn f(", ")}", n), 0},
		{nested("{d ", "}", n), 0},
		{nested("(SELECT ", ")", n), 0},
		{nested("EXISTS(SELECT ", ")", n), 0},
		{nested("CASE WHEN 1 THEN ", " END", n), 0},
		{nested("CASE ", " WHEN 1 THEN 1 END", n), 0},
		{nested("CASE WHEN end THEN ", " END", n), 0},
		{nested("1 + INTERVAL ", " DAY", n), 0},
		{nested("INTERVAL ", " DAY + 1", n), 0},
		{nested("1 BETWEEN 1 AND ", "", n), 0},
		{nested("@a := ", "", n), 0},
		{nested("", " IS NULL", n), 0},
		{nested("", " COLLATE utf8mb4_bin", n), 0},
		{nested("", " + 1", n), 0},
		{nested("", " OR 1", n), 0},
		{nested("", " || 1", n), types.ModePipesAsConcat},
		{nested("", "->'$.a'", n), 0},
		{nested("/*! ! */", "", n), 0},
		{nested("/*!80000 ! */", "", n), 0},
		{nested("# '\n/*! !", "", n), 0},
		{nested("-- '\n/*! !", "", n), 0},
		{nested("/*!", "", n), 0},
		{nested("/*! */", "", n), 0},
		{`SELECT "\"" + ` + strings.Repeat("!", n) + `"`, types.ModeANSIQuotes},
		{"SELECT 1 FROM " + strings.Repeat("(", n) + "t" + strings.Repeat(")", n), 0},
		{"SELECT 1 FROM t" + strings.Repeat(", t", n), 0},
		{"SELECT 1 FROM t" + strings.Repeat(" JOIN t", n), 0},
		{"SELECT 1 FROM t" + strings.Repeat(" LEFT JOIN t", n) + strings.Repeat(" ON 1", n), 0},
		{"SELECT 1 FROM (t" + strings.Repeat(", t", n) + ")", 0},
		{"UPDATE t" + strings.Repeat(", t", n) + " SET a = 1", 0},
		{strings.Repeat("(", n) + "SELECT 1" + strings.Repeat(")", n), 0},
		{"CREATE PROCEDURE p() " + strings.Repeat("BEGIN ", n), 0},
		{"SELECT * FROM " + strings.Repeat("JSON_TABLE(", n), 0},
	} {
		_, err := New().Parse(c.sql, c.mode)
		want := 1436
		if strings.Contains(c.sql, " JOIN t") {
			want = 1116
		}
		if int(errorNumber(err)) != want {
			t.Errorf("%.60s…: got %v", c.sql, err)
		}
	}
}

// TestLongTexts: lists, and chains of operators that take the left side first,
// may be long.
func TestLongTexts(t *testing.T) {
	testflag.Normal(t)
	n := testflag.Pick(20_000, 20_000, 100_000)
	for _, sql := range []string{
		nested("", " + 1", n),
		nested("", " OR a = 1", n),
		nested("", " AND a NOT BETWEEN -1 AND -2", n-1),
		nested("", ", (-1)", n),
		nested("", " # it's\n", 40*n),
		nested("", "-- it's\n", 40*n),
		nested("/* it's */", "", 40*n),
		nested("", "/*+ BKA(t) */", 10*n),
		nested("", " UNION SELECT 1", n/10),
		"SELECT 1 FROM t WHERE a IN (-1" + strings.Repeat(", -1", n) + ")",
		"INSERT INTO t VALUES (- 1, a <= 1)" + strings.Repeat(", (- 1, a <= 1)", n),
	} {
		if _, err := New().Parse(sql, types.DefaultSQLMode); err != nil {
			t.Errorf("%.60s…: %v", sql, err)
		}
	}
}

// TestParseIsLinear: twice the text takes about twice the time.
func TestParseIsLinear(t *testing.T) {
	testflag.Normal(t) // measures times
	take := testflag.Share(t, 1, 4, 1)
	for i, c := range []struct{ before, again, after string }{
		{"SELECT ", "/*!", ""},
		{"SELECT 1 ", "/*!", "*/"},
		{"SELECT 1 ", "/*!99999 ", "*/"},
		{"SELECT 1 ", "/*M! ", ""},
		{"SELECT 1 ", "/*+ ", ""},
		{"SELECT ", "/*+ BKA(t) */", "1"},
		{"SELECT /*+ ", "BKA(t) ", "*/ 1"},
		{"SELECT ", "MATCH(", ""},
		{"SELECT ", "MATCH a, ", ""},
		{"SELECT ", "MATCH(a) AGAINST('x'), ", "1"},
		{"SELECT 1 FROM ", "(SELECT 1) a (b), ", ""},
		{"SELECT 1 FROM ", "(SELECT 1) a (b ", ""},
		{"SELECT 1 FROM ", "(SELECT 1) a (b), ", "t"},
		{"SELECT ", "SELECT ", ""},
		{"SELECT 1 ", "UNION SELECT 1 HAVING 1 ", ""},
		{"SELECT * FROM ", "JSON_TABLE('', '$' COLUMNS (a INT PATH '$')) a, ", ""},
		{"SELECT * FROM JSON_TABLE('', '$' COLUMNS (", "a INT PATH '$', ", "b INT PATH '$')) a"},
		{"SELECT ", "JSON_VALUE(", ""},
		{"SELECT ", "JSON_VALUE(a, '$' RETURNING INT), ", "1"},
		{"SELECT ", "a SOUNDS LIKE b, ", "1"},
		{"SELECT ", "CAST(a AT TIME ZONE '+00:00' AS DATETIME), ", "1"},
		{"SELECT CAST(", "a AT TIME ZONE '+00:00' AS ", ")"},
		{"SELECT ", "_gbk'a', ", "1"},
		{"ALTER TABLE t ", "ADD a POINT ", ""},
		{"ALTER TABLE t ", "ADD a POINT, ", ""},
		{"ALTER TABLE t ADD a POINT ", "SRID 1 ", ""},
		{"ALTER TABLE t ADD a POINT ", "(1) SRID 1 ", ""},
		{"CREATE TABLE t (a INT", ", SEARCH INDEX s (a)", ")"},
		{"CREATE TABLE t (a INT", ", SEARCH INDEX ", "(a)"},
		{"ALTER TABLE t ALTER SEARCH INDEX s ", "ADD (a) ", ""},
		{"CREATE TABLE t (a INT", ", b INT DEFAULT (1) INVISIBLE", ")"},
		{"CREATE TABLE t (a INT", ", KEY (a) INCLUDE (a)", ")"},
		{"CREATE TABLE t (", "a (INCLUDE ", ""},
		{"LOAD DATA INFILE 'x' INTO TABLE t ", "PARTITION (", ""},
		{"SELECT 1 ", "INTO @x ", ""},
		{"SELECT 1 ", "(INTO @x ", ""},
		{"SELECT 1 ", "INTO OUTFILE 'x' ", ""},
		{"SELECT 1 ", "(INTO OUTFILE 'x' ", ""},
		{"INSERT INTO t VALUES (1) AS n (", "a, ", "b) ON DUPLICATE KEY UPDATE a = 1 RETURNING a"},
		{"SELECT ", "a ", ""},
		{"SELECT ", "'a' ", ""},
		{"SELECT ", "-- x\n", "1"},
		{"SELECT ", "? , ", "1"},
		{"SELECT ", "a.b.c, ", "1"},
		{"SELECT 1 FROM t", " JOIN t", ""},
		{"SELECT 1", " UNION SELECT 1 FROM t" + strings.Repeat(" JOIN t", 100), ""},
		{"SELECT 1 ", "UNION ALL SELECT 1 ", ""},
		{"SELECT 1 ", "INTERSECT SELECT 1 UNION SELECT 1 ", ""},
		{"WITH ", "a AS (SELECT 1), ", "b AS (SELECT 1) SELECT 1"},
		{"SELECT 1 ORDER BY ", "1, ", "1"},
		{"SELECT 1 GROUP BY ", "1, ", "1"},
		{"SELECT 1 FROM t ", "USE INDEX (a) ", ""},
		{"SELECT 1 WINDOW w AS ()", ", w AS ()", ""},
		{"UPDATE t SET ", "a = 1, ", "a = 1"},
		{"DELETE FROM ", "t, ", "t USING t"},
		{"INSERT INTO t VALUES ", "(1, 'a', 2.5), ", "(1, 'a', f(2.5))"},
		{"SET ", "@a = 1, ", "@a = 1"},
		{"SET ", "PERSIST a = 1, ", "PERSIST a = 1"},
		{"LOCK TABLES ", "t AS a READ, ", "t READ"},
		{"DROP TABLE ", "t, ", "t"},
		{"RENAME TABLE ", "a TO b, ", "a TO b"},
		{"CREATE TABLE t (", "a INT, ", "a INT)"},
		{"CREATE TABLE t (a INT) ", "COMMENT 'a' ", ""},
		{"CREATE TABLE t (a INT) PARTITION BY RANGE (a) (", "PARTITION p VALUES LESS THAN (1), ", "PARTITION p VALUES LESS THAN (1))"},
		{"CREATE TABLE t (a ENUM (", "'a', ", "'a'))"},
		{"CREATE USER ", "a, ", "a"},
		{"GRANT SELECT ON *.* TO ", "a, ", "a"},
		{"FLUSH ", "LOGS, ", "LOGS"},
		{"SHOW WARNINGS LIMIT ", "1, ", "1"},
		{"", ";", ""},
		{"", "/* */;", ""},
		{"", "( ", ""},
		{"SELECT 1", ")", ""},
	} {
		if !take(i) {
			continue
		}
		measure := func(n int) time.Duration {
			sql := c.before + strings.Repeat(c.again, n) + c.after
			start := cpuTime(t)
			_, _ = New().Parse(sql, types.DefaultSQLMode)
			return cpuTime(t) - start
		}
		n := 1000
		for ; n < 1<<19 && measure(n) < 10*time.Millisecond; n *= 2 {
		}
		// One measurement may meet a garbage collection or the first touch of new
		// memory; the best of several does not. Time that grows with the square shows
		// in each, and at every length.
		best := func(n, times int) time.Duration {
			least := measure(n)
			for range times - 1 {
				least = min(least, measure(n))
			}
			return least
		}
		var grew []string
		for try := range 4 {
			once, four := measure(n), best(4*n, 1+2*try)
			if four <= 10*once || four < 100*time.Millisecond {
				grew = nil
				break
			}
			grew = append(grew, fmt.Sprintf("%d times %v, %d times %v", n, once, 4*n, four))
			n += n / 2
		}
		if grew != nil {
			t.Errorf("%s%s…: %s", c.before, c.again, strings.Join(grew, "; "))
		}
	}
}

// cpuTime is the time that the process has computed, without what the kernel did for
// it: pages of new memory may take longer than all else.
func cpuTime(t *testing.T) time.Duration {
	var r syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &r); err != nil {
		t.Fatal(err)
	}
	return time.Duration(r.Utime.Nano())
}

// FuzzNesting: what the parser takes is no deeper than the bounds say.
func FuzzNesting(f *testing.F) {
	pieces := []string{"1 ", "a ", "'x' ", "(", ")", "! ", "- ", "NOT ", "+ ", "AND ", "OR ", "CASE ", "WHEN ", "THEN ", "ELSE ", "END ", "BETWEEN ", "IN ",
		"INTERVAL ", "DAY ", "IS ", "NULL ", ":= ", "@a ", ", ", "SELECT ", "FROM ", "JOIN ", "LEFT ", "ON ", "UNION ", "LIKE ", "|| ", "BINARY ", "COLLATE ",
		"utf8mb4_bin ", "{fn ", "}", "f(", "/*! ", "*/ ", "# '\n", "/* ", `"\""`, "= ", "->'$' ", "EXISTS ", "WITH ", "AS ", "USING ", "BEGIN ", "`", "'", "\""}
	f.Add([]byte{5, 0}, uint32(0))
	f.Add([]byte{11, 12, 0, 13, 0, 15}, uint32(0))
	p := New()
	f.Fuzz(func(t *testing.T, unit []byte, mode uint32) {
		var b strings.Builder
		for b.Len() < 100_000 && len(unit) > 0 {
			for _, c := range unit {
				b.WriteString(pieces[int(c)%len(pieces)])
			}
		}
		sql := "SELECT " + b.String() + "1"
		st, err := p.Parse(sql, types.SQLMode(mode))
		if err != nil {
			return
		}
		d := depthVisitor{}
		if st.Node != nil {
			st.Node.Accept(&d)
		}
		src, _ := versionComments(sql, types.SQLMode(mode))
		if got := depthOf(src, types.SQLMode(mode)); d.most > 2*got+100 {
			t.Fatalf("depth %d, counted %d: %.200s", d.most, got, sql)
		}
	})
}

type depthVisitor struct{ depth, most int }

// Enter implements ast.Visitor.
func (d *depthVisitor) Enter(n ast.Node) (ast.Node, bool) {
	d.depth++
	d.most = max(d.most, d.depth)
	return n, false
}

// Leave implements ast.Visitor.
func (d *depthVisitor) Leave(n ast.Node) (ast.Node, bool) { d.depth--; return n, true }

// depthOf is how deep the tree of a text may be.
func depthOf(src string, mode types.SQLMode) int {
	c := nestingCounter{scanner: newScanner(src, mode)}
	_ = c.run()
	return c.most
}

// TestAdjacentStrings: many literals in a row are one string.
func TestAdjacentStrings(t *testing.T) {
	st, err := New().Parse(`SELECT 'a' `+strings.Repeat(`'\'b' "c""d\'e'" `, 200)+`, 'x' 'y', ?`, types.DefaultSQLMode)
	if err != nil {
		t.Fatal(err)
	}
	l := st.Node.(*ast.SelectStmt).Fields.Fields[0].Expr.(*Literal)
	if want := "a" + strings.Repeat(`'bc"d'e'`, 200); l.GetString() != want || l.FirstString() != "a" {
		t.Errorf("got %s, first %s", l.GetString(), l.FirstString())
	}
	if l := st.Node.(*ast.SelectStmt).Fields.Fields[1].Expr.(*Literal); l.GetString() != "xy" {
		t.Errorf("got %s", l.GetString())
	}
}

// TestParseEnds: the parse of a large text ends with its statement.
func TestParseEnds(t *testing.T) {
	testflag.Normal(t)
	p := NewPool()
	text := nested("", ", a + (1)", 500_000)
	for range 2 * cap(p.large) { // those that go on have a bound, too
		ctx, cancel := context.WithTimeoutCause(context.Background(), 50*time.Millisecond, sqlerr.QueryTimeout())
		start := time.Now()
		_, err := p.ParseContext(ctx, text, types.DefaultSQLMode)
		cancel()
		if took := time.Since(start); took > time.Second || errorNumber(err) != errorNumber(sqlerr.QueryTimeout()) {
			t.Errorf("%v after %v", err, took)
		}
	}
	if _, err := p.ParseContext(context.Background(), nested("", ", a", largeText), types.DefaultSQLMode); err != nil {
		t.Error(err)
	}
}
