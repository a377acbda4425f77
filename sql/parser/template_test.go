package parser

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// datumText shows a value with its kind.
func datumText(d value.Datum) string {
	switch d.Kind() {
	case value.KindNull:
		return "null"
	case value.KindInt:
		return fmt.Sprintf("i%d", d.Int())
	case value.KindUint:
		return fmt.Sprintf("u%d", d.Uint())
	case value.KindFloat:
		return fmt.Sprintf("f%g", d.Float())
	case value.KindDecimal:
		return "d" + d.Decimal().String()
	}
	return fmt.Sprintf("%q", d.Bytes())
}

func datumsText(list []value.Datum) string {
	s := make([]string, len(list))
	for i, d := range list {
		s[i] = datumText(d)
	}
	return strings.Join(s, " ")
}

const refused = "refused"

func TestTemplate(t *testing.T) {
	for _, c := range []struct{ sql, want string }{
		{"SELECT c FROM t WHERE id = 123", "SELECT c FROM t WHERE id = ? | i123"},
		{"select c from t where id=-5 and a>1.50 and b<1e3;", "select c from t where id=? and a>? and b<? | i-5 d1.50 f1000"},
		{"SELECT a, 1, 'x' FROM t WHERE b = 'it''s' AND c = \"q\\n\"", `SELECT a, 1, 'x' FROM t WHERE b = ? AND c = ? | "it's" "q\n"`},
		{"SELECT a FROM t WHERE a IN (1, 2, 3) LIMIT 10 OFFSET 5", "SELECT a FROM t WHERE a IN (?, ?, ?) LIMIT ? OFFSET ? | i1 i2 i3 i10 i5"},
		{"SELECT a FROM t GROUP BY 1 ORDER BY 2, a+3 LIMIT 4", "SELECT a FROM t GROUP BY 1 ORDER BY 2, a+3 LIMIT ? | i4"},
		{"SELECT a FROM t GROUP BY a HAVING a > 3", "SELECT a FROM t GROUP BY a HAVING a > 3 | "},
		{"SELECT a FROM t WHERE d > NOW() - INTERVAL 1 DAY AND x = 2", "SELECT a FROM t WHERE d > NOW() - INTERVAL 1 DAY AND x = ? | i2"},
		{"SELECT a FROM t WHERE b LIKE 'x%' AND c = 'y'", "SELECT a FROM t WHERE b LIKE 'x%' AND c = ? | \"y\""},
		{"SELECT a FROM t WHERE b LIKE c ESCAPE '|' AND c = 'y'", "SELECT a FROM t WHERE b LIKE c ESCAPE '|' AND c = ? | \"y\""},
		{"SELECT a FROM t WHERE ROUND(x, 2) = 3", "SELECT a FROM t WHERE ROUND(x, 2) = ? | i3"},
		{"SELECT MATCH (a) AGAINST ('x') FROM t WHERE MATCH (a, b) AGAINST ('+x -y' IN BOOLEAN MODE) AND b = 2 LIMIT 3", "SELECT MATCH (a) AGAINST ('x') FROM t WHERE MATCH (a, b) AGAINST ('+x -y' IN BOOLEAN MODE) AND b = ? LIMIT ? | i2 i3"},
		{"SELECT a FROM t WHERE MATCH (a) AGAINST ('x' WITH QUERY EXPANSION) > 0.5 AND b > 2", "SELECT a FROM t WHERE MATCH (a) AGAINST ('x' WITH QUERY EXPANSION) > 0.5 AND b > ? | i2"},
		{"SELECT a FROM t WHERE TEXT_MATCH(a, 'x', 'and') >= 1 AND score >= 3 HAVING SCORE() > 5", "SELECT a FROM t WHERE TEXT_MATCH(a, 'x', 'and') >= 1 AND score >= ? HAVING SCORE() > 5 | i3"},
		{"SELECT a FROM t WHERE j->'$.a' = 3", "SELECT a FROM t WHERE j->'$.a' = ? | i3"},
		{"SELECT a FROM t WHERE 1 = 1 AND x = 5", "SELECT a FROM t WHERE 1 = 1 AND x = ? | i5"},
		{"SELECT a FROM t WHERE x BETWEEN 1 AND 5 AND y = 3", "SELECT a FROM t WHERE x BETWEEN ? AND ? AND y = ? | i1 i5 i3"},
		{"SELECT a-5 FROM t WHERE a -5 = b AND a-5 = 2", "SELECT a-5 FROM t WHERE a -? = b AND a-? = ? | i5 i5 i2"},
		{"SELECT a FROM (SELECT 1 x FROM u WHERE y = 2) q WHERE x = 3", "SELECT a FROM (SELECT 1 x FROM u WHERE y = ?) q WHERE x = ? | i2 i3"},
		{"SELECT (SELECT a FROM u WHERE y = 2 LIMIT 1) FROM t WHERE x = 3", "SELECT (SELECT a FROM u WHERE y = 2 LIMIT 1) FROM t WHERE x = ? | i3"},
		{"SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE y = 2 LIMIT 1) LIMIT 9", "SELECT a FROM t WHERE EXISTS (SELECT 1 FROM u WHERE y = ? LIMIT 1) LIMIT ? | i2 i9"},
		{"INSERT INTO t (a, b) VALUES (1, 'x'), (-2, NULL)", "INSERT INTO t (a, b) VALUES (?, ?), (?, NULL) | i1 \"x\" i-2"},
		{"INSERT INTO t VALUES (1) ON DUPLICATE KEY UPDATE a = a + 2", "INSERT INTO t VALUES (?) ON DUPLICATE KEY UPDATE a = a + ? | i1 i2"},
		{"INSERT INTO t SET a = 1, b = 'z'", "INSERT INTO t SET a = ?, b = ? | i1 \"z\""},
		{"UPDATE t SET a = a + 1 WHERE id = 7 LIMIT 1", "UPDATE t SET a = a + ? WHERE id = ? LIMIT ? | i1 i7 i1"},
		{"DELETE FROM t WHERE id = 18446744073709551615", "DELETE FROM t WHERE id = ? | u18446744073709551615"},
		{"SELECT value FROM t ORDER BY value, 2", "SELECT value FROM t ORDER BY value, 2 | "},
		{"/* c */ SELECT a FROM t /* d */ WHERE x = 1 -- e", "SELECT a FROM t   WHERE x = ? | i1"},
		{"SELECT `a` FROM `t` WHERE `x` = 1", "SELECT `a` FROM `t` WHERE `x` = ? | i1"},
		{"SELECT a FROM t WHERE x = CASE WHEN y = 1 THEN 2 ELSE 3 END", "SELECT a FROM t WHERE x = CASE WHEN y = ? THEN ? ELSE ? END | i1 i2 i3"},
		{"SELECT a FROM t JOIN u ON t.id = u.id AND u.x = 4", "SELECT a FROM t JOIN u ON t.id = u.id AND u.x = ? | i4"},
		{"SELECT a FROM t WHERE x = 1; SELECT 2", refused},
		{"SELECT /*+ X() */ a FROM t WHERE x = 1", refused},
		{"SELECT a FROM t /*!40000 */ WHERE x = 1", refused},
		{"SELECT @a := 1", refused},
		{"SELECT a FROM t WHERE x = ?", refused},
		{"SELECT a FROM t WHERE x = 'a' 'b'", refused},
		{"SELECT a FROM t WHERE x = _utf8'a'", refused},
		{"SELECT a FROM t WHERE x = x'41'", refused},
		{"SELECT a FROM t WHERE x = 0x41", refused},
		{"SELECT a FROM t WHERE x = DATE '2020-01-01'", refused},
		{"SELECT a FROM t LIMIT -1", refused},
		{"SELECT a FROM t WHERE x = 'a", refused},
		{"SELECT a FROM t WHERE (x = 1", refused},
		{"SHOW TABLES", refused},
		{"SET x = 1", refused},
		{"SELECT a FROM t WHERE x = 99999999999999999999", refused},
	} {
		var tm Template
		got := refused
		if TemplateOf([]byte(c.sql), types.DefaultSQLMode, &tm) {
			got = string(tm.Text) + " | " + datumsText(tm.Vals)
		}
		if got != c.want {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got, c.want)
		}
		if got == refused {
			continue
		}
		st, err := New().ParseTemplate(&tm, types.DefaultSQLMode)
		if err != nil {
			t.Errorf("%s: parsing the template: %v", c.sql, err)
			continue
		}
		if len(st.Params) != len(tm.Vals) {
			t.Errorf("%s: %d parameters for %d literals", c.sql, len(st.Params), len(tm.Vals))
		}
	}
}

func TestTemplateDoesNotAllocate(t *testing.T) {
	sql := []byte("SELECT c, d FROM sbtest1 WHERE id = 123456 AND name = 'abc' AND k IN (1, 2, 3) LIMIT 5")
	var tm Template
	if n := testing.AllocsPerRun(100, func() { TemplateOf(sql, types.DefaultSQLMode, &tm) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestTemplateModes(t *testing.T) {
	var tm Template
	if !TemplateOf([]byte(`SELECT "a" FROM t WHERE "b" = 'x\'`), types.ModeANSIQuotes|types.ModeNoBackslashEscapes, &tm) {
		t.Fatal("refused")
	}
	if got := string(tm.Text) + datumsText(tm.Vals); got != `SELECT "a" FROM t WHERE "b" = ?"x\\"` {
		t.Errorf("got %s", got)
	}
}

func BenchmarkTemplate(b *testing.B) {
	sql := []byte("SELECT c FROM t WHERE id = 123456")
	var tm Template
	b.ReportAllocs()
	for b.Loop() {
		TemplateOf(sql, types.DefaultSQLMode, &tm)
	}
}

func BenchmarkParse(b *testing.B) {
	p := New()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Parse("SELECT c FROM t WHERE id = 123456", types.DefaultSQLMode); err != nil {
			b.Fatal(err)
		}
	}
}
