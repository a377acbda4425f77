package diff

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/server"
)

// templated are statements whose plan comes from the cache by their template. {i} {d}
// {f} {s} {t} are placeholders of literals: integers, decimals, doubles, texts and
// dates; each statement runs with several of each.
var templated = []string{
	"SELECT id FROM t WHERE a = {i}",
	"SELECT id FROM t WHERE a > {i} AND b < {i}",
	"SELECT id, a + {i} FROM t WHERE a + {i} > 2",
	"SELECT id FROM t WHERE a = {d}",
	"SELECT id FROM t WHERE a = {f}",
	"SELECT id FROM t WHERE a = {s}",
	"SELECT id FROM t WHERE s = {i}",
	"SELECT id FROM t WHERE s = {s}",
	"SELECT id FROM t WHERE s = {d}",
	"SELECT id FROM t WHERE s > {s} OR a = {i}",
	"SELECT id FROM t WHERE s LIKE {s}",
	"SELECT id FROM t WHERE s LIKE 'a%' AND a <> {i}",
	"SELECT id FROM t WHERE s BETWEEN {s} AND {s}",
	"SELECT id FROM t WHERE a BETWEEN {i} AND {d} AND b = {i}",
	"SELECT id FROM t WHERE a NOT BETWEEN {d} AND {i} OR b > {i}",
	"SELECT id FROM t WHERE a IN ({i}, {i}, {i})",
	"SELECT id FROM t WHERE a IN ({i}, {d})",
	"SELECT id FROM t WHERE s IN ({s}, {s})",
	"SELECT id FROM t WHERE (a, b) IN (({i}, {i}), ({i}, {i}))",
	"SELECT id FROM t WHERE (a, s) > ({i}, {s})",
	"SELECT id FROM t WHERE d = {d}",
	"SELECT id FROM t WHERE d * {d} > {i}",
	"SELECT id FROM t WHERE d / {i} > {d}",
	"SELECT id FROM t WHERE d / {d} * {i} = {i}",
	"SELECT id FROM t WHERE f = {f}",
	"SELECT id FROM t WHERE f > {d}",
	"SELECT id FROM t WHERE f < {i}",
	"SELECT id FROM t WHERE dt = {t}",
	"SELECT id FROM t WHERE dt > {t} AND dt <= {t}",
	"SELECT id FROM t WHERE da = {t}",
	"SELECT id FROM t WHERE da < {t}",
	"SELECT id FROM t WHERE da IN ({t}, {t})",
	"SELECT id FROM t WHERE da BETWEEN {t} AND {t}",
	"SELECT id FROM t WHERE tm > '10:00:00' AND a > {i}",
	"SELECT id FROM t WHERE en = {s}",
	"SELECT id FROM t WHERE yr = {i}",
	"SELECT id FROM t WHERE yr < {i}",
	"SELECT id FROM t WHERE yr >= {s}",
	"SELECT id FROM t WHERE yr IN ({i}, {i})",
	"SELECT id FROM t WHERE yr BETWEEN {i} AND {i}",
	"SELECT id FROM t WHERE en = 'x' AND a < {i}",
	"SELECT id FROM t WHERE bu > {i}",
	"SELECT id FROM t WHERE bu = {u}",
	"SELECT id FROM t WHERE bu IN ({u}, {i})",
	"SELECT id FROM t WHERE a < {u}",
	"SELECT id FROM t WHERE a -{i} > 0",
	"SELECT id FROM t WHERE a - {i} = b",
	"SELECT id FROM t WHERE a-1 = {i}",
	"SELECT id FROM t WHERE -a < {i}",
	"SELECT id FROM t WHERE a & {i} = {i}",
	"SELECT id FROM t WHERE a % {i} = 1",
	"SELECT id FROM t WHERE a DIV {i} = 1",
	"SELECT id FROM t WHERE NOT a = {i}",
	"SELECT id FROM t WHERE a <=> {i}",
	"SELECT id FROM t WHERE a IS NOT NULL AND {i}",
	"SELECT id FROM t WHERE {i} AND a > 1",
	"SELECT id FROM t WHERE a > 1 OR {i}",
	"SELECT id FROM t WHERE {s} = s",
	"SELECT id FROM t WHERE {i} = {i}",
	"SELECT id FROM t WHERE 1 = 1 AND a = {i}",
	"SELECT id FROM t WHERE CASE WHEN a > {i} THEN {i} ELSE b END > {i}",
	"SELECT id FROM t WHERE CASE a WHEN {i} THEN {s} ELSE s END = {s}",
	"SELECT id FROM t WHERE IF(a > {i}, {d}, {i}) > {d}",
	"SELECT id FROM t WHERE COALESCE(a, {i}) = {i}",
	"SELECT id FROM t WHERE CONCAT(s, {s}) > {s}",
	"SELECT id FROM t WHERE LEFT(s, {i}) = {s}",
	"SELECT id FROM t WHERE ROUND(d, {i}) = {d}",
	"SELECT id FROM t WHERE YEAR(da) = {i} OR MONTH(da) = {i}",
	"SELECT id FROM t WHERE dt + INTERVAL {i} DAY > {t}",
	"SELECT id FROM t WHERE dt > DATE_SUB({t}, INTERVAL {i} MONTH)",
	"SELECT id FROM t WHERE DATE_FORMAT(dt, '%Y') = {s}",
	"SELECT id FROM t WHERE dt > DATE'2020-01-01' AND a <> {i}",
	"SELECT id FROM t WHERE CAST(a AS CHAR) = {s}",
	"SELECT id FROM t WHERE CAST({s} AS SIGNED) = a",
	"SELECT id FROM t WHERE s COLLATE utf8mb4_bin = {s}",
	"SELECT id FROM t WHERE s = BINARY {s}",
	"SELECT id FROM t WHERE s REGEXP 'a' AND b = {i}",
	"SELECT id FROM t WHERE a = (SELECT MAX(a) FROM t WHERE b < {i})",
	"SELECT id FROM t WHERE a IN (SELECT b FROM t WHERE id > {i})",
	"SELECT id FROM t WHERE EXISTS (SELECT 1 FROM t WHERE a = {i})",
	"SELECT id FROM t WHERE a = {i} ORDER BY b DESC, id LIMIT {n}",
	"SELECT id FROM t ORDER BY id LIMIT {n}, {n}",
	"SELECT id FROM t ORDER BY id LIMIT {n} OFFSET {n}",
	"SELECT id FROM t ORDER BY a + {i}, id LIMIT 3",
	"SELECT id, a FROM t WHERE a > {i} ORDER BY 2, 1",
	"SELECT a, COUNT(*) FROM t WHERE b > {i} GROUP BY a HAVING COUNT(*) > {i}",
	"SELECT a + {i}, COUNT(*) FROM t GROUP BY a + {i}",
	"SELECT SUM(a * {i}), AVG(d + {d}) FROM t WHERE a <> {i}",
	"SELECT a, {i}, {s}, {d}, {f} FROM t WHERE id = {i}",
	"SELECT {i}+1, '{raw}', -{i}, {d}*{d} FROM t WHERE id = 2",
	"SELECT s, 'x' 'y' FROM t WHERE a = {i}",
	"SELECT COUNT(*) FROM t x JOIN t y ON x.a = y.b AND y.a > {i} WHERE x.b < {i}",
	"SELECT COUNT(*) FROM t x LEFT JOIN t y ON x.a = {i} AND x.id = y.id WHERE y.a IS NULL",
	"SELECT id FROM t WHERE a = {i} UNION SELECT b FROM t WHERE s = {s}",
	"SELECT x FROM (SELECT a AS x FROM t WHERE b > {i}) q WHERE x < {i}",
	"SELECT id /* {i} */ FROM t -- {i}\n WHERE a = {i}",
	"SELECT id FROM t WHERE a = {i} # '\n AND b = {i}",
	"SELECT id FROM t WHERE s = \"{raw}\"",
	"SELECT id FROM t WHERE s = 'it''s' OR s = 'a\\\\b' OR a = {i}",
	"SELECT id FROM t WHERE s = 0x61 OR a = {i}",
	"SELECT id FROM t WHERE a = 0x01 AND b > {i}",
	"SELECT id FROM t WHERE a = TRUE OR b = {i}",
	"SELECT id FROM t WHERE js->'$.a' = {i}",
	"SELECT id FROM t WHERE js->>'$.b' = {s}",
	"SELECT id FROM t WHERE JSON_EXTRACT(js, '$.a') > {i}",
	"INSERT INTO t (id, a, s) VALUES ({i}+50, {i}, {s})",
	"INSERT INTO t (id, a, d) VALUES (60, {d}, {i}), (61, {f}, {d})",
	"INSERT INTO t (id, d) VALUES (60, {d} / 3)",
	"INSERT INTO t (id, s, da) VALUES (60, {i}, {t})",
	"INSERT INTO t (id, a) VALUES (60, {u})",
	"INSERT INTO t (id, bu) VALUES (60, {u})",
	"INSERT INTO t (id, a) VALUES (60, {s})",
	"INSERT INTO t (id, a) VALUES (1, {i}) ON DUPLICATE KEY UPDATE a = VALUES(a) + {i}, s = {s}",
	"INSERT INTO t SET id = 60, a = {i}, s = {s}",
	"REPLACE INTO t (id, a, s) VALUES (2, {i}, {s})",
	"INSERT INTO t (id, a) SELECT id + 100, {i} FROM t WHERE a > {i}",
	"UPDATE t SET a = {i} WHERE id = {i}",
	"UPDATE t SET a = a + {i}, s = CONCAT(s, {s}) WHERE b > {i}",
	"UPDATE t SET d = {d} WHERE s = {s} ORDER BY id LIMIT {n}",
	"UPDATE t SET d = a / {i} WHERE id < {i}",
	"UPDATE t SET dt = {t}, da = {t} WHERE a = {i}",
	"UPDATE t SET s = {d} WHERE a = {s}",
	"UPDATE IGNORE t SET a = {s} WHERE id > {i}",
	"DELETE FROM t WHERE a = {i}",
	"DELETE FROM t WHERE s > {s} ORDER BY id LIMIT {n}",
}

// literals are the choices for each placeholder.
var literals = map[string][]string{
	"{i}": {"1", "0", "5", "-3", "2147483648", "2020"},
	"{u}": {"18446744073709551615", "9223372036854775808", "7", "18446744073709551616"},
	"{n}": {"2", "0", "3", "100"},
	"{d}": {"1.5", "0.25", "-2.50", "10.0", "3.333333333", ".5"},
	"{f}": {"1.5e0", "1e1", "-2E-1", "1e300"},
	"{s}": {"'a'", "''", "'12'", "'it''s'", "'a%'", `'x\'y'`, "'é'", "'1abc'", `'a\\b'`, "'2020'"},
	"{t}": {"'2020-01-01'", "'2020-02-29 12:34:56'", "'1999-12-31'", "20200101", "'2020-02-30'", "'nope'", "'2020-1-2'", "'0000-00-00'"},
}

// instance fills the placeholders of s, the n-th way.
func instance(s string, n int) string {
	s = strings.ReplaceAll(s, "{raw}", []string{"a", "it", "12", ""}[n%4])
	for k := n; ; k++ {
		i := strings.IndexByte(s, '{')
		if i < 0 {
			return s
		}
		list := literals[s[i:i+3]]
		s = s[:i] + list[k%len(list)] + s[i+3:]
	}
}

// TestTemplates compares each statement by its template with the same
// statement by its text, and prepared: result, types of the columns, errors
// and the table after a change.
func TestTemplates(t *testing.T) {
	s := servertest.Start(t, server.Config{Memory: 128 << 20, CheckPlans: true})
	c := open(t, servertest.DSN(s), "CREATE DATABASE d", "USE d",
		`CREATE TABLE t (id INT PRIMARY KEY, a INT, b BIGINT, bu BIGINT UNSIGNED, d DECIMAL(12,4), f DOUBLE, s VARCHAR(20), da DATE, dt DATETIME,
			tm TIME, yr YEAR, en ENUM('x','y','a'), js JSON, KEY (a, b), KEY (s), KEY (d), KEY (dt DESC), KEY (da), KEY (bu))`,
		`INSERT INTO t VALUES (1,1,1,1,1.5,1.5,'a','2020-01-01','2020-01-01','10:00:00',2020,'x','{"a":1,"b":"a"}'),
			(2,5,0,18446744073709551615,0.25,10,'it''s','2020-02-29','2020-02-29 12:34:56','11:00:00',2001,'y','{"a":5}'),
			(3,NULL,5,7,-2.5,-0.2,'12','1999-12-31','1999-12-31','23:00:00',1999,NULL,NULL),
			(4,0,-3,9223372036854775808,3.3333,1e300,'','2020-01-02',NULL,NULL,1905,'a','{"a":0,"b":"12"}'),
			(5,-3,2020,NULL,10,0,'abc',NULL,'2021-01-01','00:00:01',2005,'x','{}'),
			(6,2020,2147483648,0,0.5,NULL,NULL,'2020-03-01','2020-03-01','12:00:00',NULL,'y','{"b":"it"}'),
			(7,1,2,3,NULL,1,'é','2020-01-01','2020-01-01 00:00:01',NULL,2000,'a',NULL)`)
	ctx := t.Context()
	run := func(stmt string, binary bool) (answer, answer) {
		if strings.HasPrefix(strings.TrimPrefix(stmt, "/*+ */ "), "SELECT") {
			return runQuery(ctx, c, stmt, binary), answer{}
		}
		do(ctx, c, "BEGIN")
		a := do(ctx, c, stmt)
		after := runQuery(ctx, c, "SELECT * FROM t ORDER BY id", false)
		do(ctx, c, "ROLLBACK")
		return a, after
	}
	n := 0
	for _, pattern := range templated {
		seen := map[string]bool{}
		for i := range 9 {
			stmt := instance(pattern, i)
			if seen[stmt] {
				continue
			}
			seen[stmt] = true
			n++
			want, wantAfter := run("/*+ */ "+stmt, false)
			for _, binary := range []bool{false, false, true} {
				got, gotAfter := run(stmt, binary)
				if what := mismatch(want, got) + mismatch(wantAfter, gotAfter); what != "" {
					t.Errorf("%s\nprepared %t: %s\nas text: %s%s\nby template: %s%s", stmt, binary, what, want.short(), wantAfter.short(), got.short(), gotAfter.short())
				}
			}
		}
	}
	t.Logf("%d statements", n)
}

// mismatch is difference with equal errors and types.
func mismatch(a, b answer) string {
	if a.errNumber() != b.errNumber() {
		return fmt.Sprintf("errors %d and %d", a.errNumber(), b.errNumber())
	}
	if d := difference(a, b, false, false); d != "" {
		return d
	}
	if a.err == nil && a.types != b.types {
		return "types " + a.types + "and " + b.types
	}
	return ""
}
