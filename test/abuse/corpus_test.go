package abuse

import (
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

// nest is f(f(… inner …)).
func nest(f, inner string, n int) string {
	return strings.Repeat(f+"(", n) + inner + strings.Repeat(")", n)
}

// list is n items of which the i-th is item(i).
func list(n int, item func(i int) string) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString(item(i))
	}
	return b.String()
}

func corpus() []attack {
	zigzag := func(n int, x string) string {
		at := strconv.Itoa(n)
		return "ST_GeomFromText(CONCAT('LINESTRING(', REPEAT('" + x + "1 1," + x + "2 5," + x + "7 3,', " + at + "), '" + x + "1 1)'))"
	}
	many := "(SELECT a.id * 1000000 + b.id * 1000 + c.id k FROM t a, t b, t c LIMIT 5000000) m"
	jsonDeep := "CONCAT(REPEAT('{\"a\":', 90), '1', REPEAT('}', 90))"
	columns := func(n, times int) string {
		return list(n, func(i int) string { return "REPEAT(s, " + strconv.Itoa(times) + ") c" + strconv.Itoa(i) })
	}
	pairs := " FROM t a, t b WHERE b.id < 60"
	calls := func(call, over string) string {
		return list(60, func(i int) string {
			return "LENGTH(" + fmt.Sprintf(call, "REPEAT(CONCAT(a.id, '-', b.id), "+strconv.Itoa(100+i)+")") + over + ")"
		})
	}
	wide := "(SELECT id, k, " + columns(1000, 2800) + " FROM t) x"
	members := "SET group_concat_max_len = 6000000; SET @a = (SELECT CONCAT('{', GROUP_CONCAT(CONCAT('\"m', a.id * 30 + b.id, '\":1')), '}') FROM t a, t b WHERE b.id < 30)"
	return []attack{
		{name: "wide rows that are sorted", runs: 5e9, text: "SELECT * FROM " + wide + " ORDER BY k, id"},
		{name: "wide rows of which some are first", runs: 5e9, text: "SELECT * FROM " + wide + " ORDER BY k DESC, id LIMIT 700"},
		{name: "wide rows that are grouped", runs: 5e9, text: "SELECT k, " + list(1000, func(i int) string { return "MAX(c" + strconv.Itoa(i) + ")" }) + " FROM " + wide + " GROUP BY k"},
		{name: "wide rows in a window", runs: 5e9, text: "SELECT ROW_NUMBER() OVER (ORDER BY k), x.* FROM " + wide},
		{name: "wide rows of a CTE", runs: 5e9, text: "WITH x AS (SELECT id, " + columns(1000, 2800) + " FROM t) SELECT a.*, b.* FROM x a JOIN x b ON a.id = b.id + 1"},
		{name: "wide rows that are joined", runs: 5e9, text: "SELECT * FROM t JOIN (SELECT id, " + columns(1000, 2800) + " FROM t LIMIT 800) x ON x.id + 0 = t.id + 0"},
		{name: "wide rows of a UNION", runs: 5e9, text: "SELECT " + columns(1000, 2800) + " FROM t UNION SELECT " + columns(1000, 2800) + " FROM t"},
		{name: "wide rows of long values", runs: 5e9, text: "SELECT * FROM (SELECT k, " + columns(4000, 20000) + " FROM t) x ORDER BY k"},
		{name: "nested HEX", text: "SELECT " + nest("HEX", "'\\\\'", 45)},
		{name: "nested HEX of a long text", conns: 8, text: "SELECT LENGTH(" + nest("HEX", "REPEAT('a', 60000000)", 7) + ")"},
		{name: "nested QUOTE", conns: 4, text: "SELECT LENGTH(" + nest("QUOTE", "REPEAT('\\\\', 4000000)", 30) + ")"},
		{name: "nested JSON_QUOTE", conns: 4, text: "SELECT LENGTH(" + nest("JSON_QUOTE", "REPEAT('\"', 4000000)", 30) + ")"},
		{name: "nested WEIGHT_STRING", conns: 4, text: "SELECT LENGTH(" + nest("WEIGHT_STRING", "REPEAT('a', 8000000)", 8) + ")"},
		{name: "variables that grow", conns: 20, before: []string{"SET @a = REPEAT('x', 1000000)"}, text: strings.Repeat("SET @a = CONCAT(@a, @a);", 12)},
		{name: "large variables", conns: 60, text: "SET @a = REPEAT('x', 60000000)"},
		{name: "many variables", conns: 10, text: "SET " + list(100_000, func(i int) string { return "@v" + strconv.Itoa(i) + "='x'" })},
		{name: "large values", conns: 40, text: "SELECT LENGTH(CONCAT(REPEAT('x', 60000000), 1))"},
		{name: "large results", conns: 40, text: "SELECT REPEAT('x', 60000000)"},
		{name: "a large value in each row", conns: 4, text: "SELECT REPEAT(s, 1000000) FROM t"},
		{name: "a large argument in each row", conns: 4, text: "SELECT LENGTH(REPEAT(s, 1000000)) FROM t"},
		{name: "a large value in a condition", conns: 4, text: "SELECT id FROM t WHERE REPEAT(s, 1000000) LIKE '%z'"},
		{name: "large values that are sorted", conns: 4, text: "SELECT REPEAT(s, 1000000) r FROM t ORDER BY r"},
		{name: "large groups", conns: 4, text: "SELECT REPEAT(s, 1000000) r, COUNT(*) FROM t GROUP BY r"},
		{name: "large GROUP_CONCAT", conns: 4, before: []string{"SET group_concat_max_len = 60000000"}, text: "SELECT LENGTH(GROUP_CONCAT(REPEAT(s, 10000))) FROM t"},
		{name: "JSON that doubles", conns: 4, text: "WITH RECURSIVE c (n, d) AS (SELECT 0, CAST('[1]' AS JSON) UNION ALL SELECT n + 1, JSON_MERGE_PRESERVE(d, d) FROM c WHERE n < 40) SELECT MAX(n) FROM c"},
		{name: "a packet of 60 MB", conns: 20, text: "SELECT LENGTH('" + strings.Repeat("x", 60_000_000) + "')"},
		{name: "a list of 300,000", conns: 4, text: "SELECT COUNT(*) FROM t WHERE k IN (" + list(300_000, strconv.Itoa) + ")"},
		{name: "3,000,000 literals", conns: 4, text: "SELECT COUNT(*) FROM t WHERE k IN (" + list(3_000_000, strconv.Itoa) + ")"},
		{name: "an INSERT of 1,000,000 rows", conns: 4, text: "INSERT INTO t (id) VALUES " + list(1_000_000, func(i int) string { return "(" + strconv.Itoa(i+1_000_000) + ")" })},
		{name: "large transactions", conns: 4, runs: 20e9, text: "INSERT INTO t (id, s) SELECT CONNECTION_ID() * 10000000 + k, REPEAT('x', 100) FROM " + many},
		{name: "a large UPDATE", conns: 4, runs: 20e9, before: []string{"CREATE TABLE IF NOT EXISTS wide (id INT PRIMARY KEY, s TEXT)"}, text: list2(60, func(i int) string {
			return "INSERT IGNORE INTO wide SELECT " + strconv.Itoa(i*10000) + " + k % 10000, REPEAT('x', 1000) FROM (SELECT a.id * 1000 + b.id k FROM t a, t b LIMIT 10000) m"
		}) + "UPDATE wide SET s = CONCAT(s, 'y')"},
		{name: "REGEXP_REPLACE that multiplies", conns: 4, text: "SELECT LENGTH(REGEXP_REPLACE(REPEAT('a', 100000), 'a', REPEAT('b', 100000)))"},
		{name: "REGEXP of a long text", conns: 8, text: "SELECT REPEAT('ab', 20000000) REGEXP '(a|b)*c'"},
		{name: "REGEXP that backtracks", conns: 4, text: "SELECT REPEAT('a', 40) REGEXP '^(a+)+$b'"},
		{name: "REGEXP_INSTR of many matches", conns: 4, text: "SELECT REGEXP_INSTR(REPEAT('a', 1000000), 'a', 1, 999999)"},
		{name: "a JSON schema that doubles", text: `SELECT JSON_SCHEMA_VALID('{"allOf":[{"$ref":"#"},{"$ref":"#"}]}', '1')`},
		{name: "a JSON schema of unique items", text: "SELECT JSON_SCHEMA_VALID('{\"uniqueItems\":true}', CONCAT('[', REPEAT('{\"a\":1},', 200000), '1]'))"},
		{name: "a JSON path of many **", text: "SELECT JSON_EXTRACT(" + jsonDeep + ", '$" + strings.Repeat("**.a", 40) + "')"},
		{name: "LIKE of a long pattern", text: "SELECT REPEAT('a', 60000000) LIKE CONCAT('%', REPEAT('a', 50000), 'b%')"},
		{name: "LIKE of many wildcards", text: "SELECT REPEAT('a', 100000) LIKE CONCAT(REPEAT('%a', 5000), 'b')"},
		{name: "LIKE with a collation", text: "SELECT REPEAT('ä', 10000000) LIKE CONCAT('%', REPEAT('a', 50000), 'b%')"},
		{name: "LOCATE of a long text", text: "SELECT LOCATE(CONCAT(REPEAT('a', 50000), 'b'), REPEAT('a', 60000000))"},
		{name: "INSTR with a collation", text: "SELECT INSTR(REPEAT('ä', 10000000), CONCAT(REPEAT('a', 50000), 'b'))"},
		{name: "LOCATE with contractions", text: "SELECT LOCATE(CONCAT(REPEAT('a', 50000), 'b') COLLATE utf8mb4_danish_ci, REPEAT('a', 20000000)), INSTR(REPEAT('chc', 5000000) COLLATE utf8mb4_ja_0900_as_cs, CONCAT(REPEAT('chc', 50000), 'b'))"},
		{name: "LOCATE with Japanese marks", text: "SELECT LOCATE(CONCAT(REPEAT('ー', 50000), 'ん') COLLATE utf8mb4_ja_0900_as_cs, REPEAT('ー', 20000000)), INSTR(REPEAT('かー', 5000000) COLLATE utf8mb4_ja_0900_as_cs, CONCAT(REPEAT('かー', 50000), 'ゝん'))"},
		{name: "Japanese marks of length", runs: 3e8, text: "SELECT CONCAT('ー', REPEAT('か', 5000000)) COLLATE utf8mb4_ja_0900_as_cs_ks < CONCAT('ー', REPEAT('か', 5000000), 'b')"},
		{name: "nothing but Japanese marks", runs: 3e8, text: "SELECT REPEAT('ー', 6000000) COLLATE utf8mb4_ja_0900_as_cs IN (REPEAT('ー', 5999999), CONCAT(REPEAT('ー', 6000000), 'a'))"},
		{name: "WEIGHT_STRING of many spaces", runs: 3e8, text: "SELECT LENGTH(WEIGHT_STRING('a' AS CHAR(60000000))), LENGTH(WEIGHT_STRING(CONVERT('a' USING utf32) AS CHAR(30000000)))"},
		{name: "WEIGHT_STRING of a long text", runs: 3e8, text: "SELECT LENGTH(WEIGHT_STRING(REPEAT('dž', 3000000) COLLATE utf8mb4_croatian_ci AS CHAR(7000000)))"},
		{name: "REPLACE", text: "SELECT LENGTH(REPLACE(REPEAT('a', 60000000), CONCAT(REPEAT('a', 50000), 'b'), 'x'))"},
		{name: "FIND_IN_SET", text: "SELECT FIND_IN_SET(REPEAT('a', 60000), REPEAT(CONCAT(REPEAT('a', 59999), ','), 500))"},
		{name: "SUBSTRING_INDEX", text: "SELECT LENGTH(SUBSTRING_INDEX(REPEAT('a', 60000000), CONCAT(REPEAT('a', 50000), 'b'), 5))"},
		{name: "TRIM", text: "SELECT LENGTH(TRIM(TRAILING 'ab' FROM REPEAT('ab', 20000000)))"},
		{name: "BENCHMARK of SHA2", text: "SELECT BENCHMARK(1000, SHA2(REPEAT('a', 60000000), 512))"},
		{name: "SHA2 in each row", text: "SELECT SHA2(REPEAT(s, 5000000), 512) FROM t"},
		{name: "MD5, SHA1, CRC32", text: "SELECT BENCHMARK(1000, CONCAT(MD5(REPEAT('a', 60000000)), SHA1(REPEAT('a', 60000000)), CRC32(REPEAT('a', 60000000))))"},
		{name: "COMPRESS", text: "SELECT BENCHMARK(100, LENGTH(COMPRESS(REPEAT('abcdefgh', 7000000))))"},
		{name: "UNCOMPRESS", conns: 8, text: "SELECT BENCHMARK(100, LENGTH(UNCOMPRESS(COMPRESS(REPEAT('a', 60000000)))))"},
		{name: "AES_ENCRYPT", text: "SELECT BENCHMARK(100, AES_ENCRYPT(REPEAT('a', 30000000), 'key'))"},
		{name: "UPPER of long texts", conns: 4, text: "SELECT BENCHMARK(100, UPPER(REPEAT('ä', 20000000)))"},
		{name: "SOUNDEX", text: "SELECT LENGTH(SOUNDEX(REPEAT('abcd', 15000000)))"},
		{name: "TO_BASE64", conns: 4, text: "SELECT LENGTH(" + nest("TO_BASE64", "REPEAT('a', 30000000)", 10) + ")"},
		{name: "CONVERT", conns: 4, text: "SELECT LENGTH(CONVERT(REPEAT('a', 60000000) USING utf32))"},
		{name: "CHAR padded", conns: 8, text: "SELECT LENGTH(LPAD('', 60000000, 'ab')), LENGTH(RPAD('', 60000000, 'ab')), LENGTH(SPACE(60000000))"},
		{name: "numbers of long texts", text: "SELECT REPEAT('1', 60000000) + 0, CAST(REPEAT('1', 60000000) AS DECIMAL(65,30)), CAST(REPEAT('1', 60000000) AS UNSIGNED)"},
		{name: "dates of long texts", text: "SELECT STR_TO_DATE(REPEAT('1', 60000000), REPEAT('%d', 30000000)), DATE_FORMAT(NOW(), REPEAT('%M', 30000000))"},
		{name: "EXTRACTVALUE", text: "SELECT EXTRACTVALUE(CONCAT('<a>', REPEAT('<b>x</b>', 2000000), '</a>'), '//b//c//d')"},
		{name: "an XPath of many operators", text: "SELECT EXTRACTVALUE('<a/>', CONCAT('1', REPEAT('+1', 1700000)))"},
		{name: "an XPath that compares each with each", text: "SELECT EXTRACTVALUE(CONCAT('<a>', REPEAT('<b>1</b>', 300000), '</a>'), '//b[//b=2]')"},
		{name: "the sum of an XPath", text: "SELECT EXTRACTVALUE(CONCAT('<a>', REPEAT('<b>1</b>', 300000), '</a>'), 'sum(//b)')"},
		{name: "a REGEXP of many parentheses", text: "SELECT 'a' REGEXP CONCAT(REPEAT('(', 250000), 'a', REPEAT(')', 250000))"},
		{name: "a long JSON document to text", text: "SELECT BENCHMARK(100, LENGTH(CONCAT(CAST(CONCAT('[', REPEAT('1,', 700000), '1]') AS JSON))))"},
		{name: "a geometry of many points to text", text: "SELECT BENCHMARK(100, LENGTH(ST_AsText(ST_ConvexHull(ST_GeomFromText(CONCAT('LINESTRING(', REPEAT('1 1,2 2,', 90000), '3 3)'))))))"},
		{name: "geometries", conns: 4, text: "SELECT ST_Area(ST_ConvexHull(ST_GeomFromText(CONCAT('MULTIPOINT(', REPEAT('(1 2),', 3000000), '(3 4))'))))"},
		{name: "ST_Buffer", text: "SELECT ST_AsText(ST_Buffer(ST_GeomFromText(CONCAT('LINESTRING(', REPEAT('0 0, 1 1,', 50000), '2 2)')), 1))"},
		{name: "ST_Intersects", text: "SELECT ST_Intersects(ST_GeomFromText(CONCAT('LINESTRING(', REPEAT('0 0, 1 1,', 30000), '2 2)')), ST_GeomFromText(CONCAT('LINESTRING(', REPEAT('0 5, 1 6,', 30000), '2 7)')))"},
		{name: "a cross join that counts", text: "SELECT COUNT(*) FROM t a, t b, t c, t d WHERE a.k + b.k + c.k + d.k = -1"},
		{name: "an expression of 100,000 terms", text: "SELECT COUNT(*) FROM t WHERE " + strings.Repeat("k = 1 OR ", 99_999) + "k = 2"},
		{name: "a sum of 100,000 terms", text: "SELECT 1" + strings.Repeat("+1", 99_999)},
		{name: "a prepared statement of 60 MB", conns: 8, text: "PREPARE s FROM 'SELECT LENGTH(\"" + strings.Repeat("x", 60_000_000) + "\")'"},
		{name: "many prepared statements", conns: 4, text: list2(2_000, func(i int) string {
			return "PREPARE s" + strconv.Itoa(i) + " FROM 'SELECT " + strings.Repeat("1+", 2_000) + "1'"
		}), runs: 3e9},
		{name: "many user locks", conns: 4, text: list2(5_000, func(i int) string { return "DO GET_LOCK('lock" + strconv.Itoa(i) + "', 0)" })},
		{name: "JSON_TABLE of a long text", conns: 4, text: "SELECT COUNT(*) FROM JSON_TABLE(CONCAT('[', REPEAT('1,', 4000000), '1]'), '$[*]' COLUMNS (a INT PATH '$')) j"},
		{name: "JSON_ARRAYAGG", conns: 4, text: "SELECT LENGTH(JSON_ARRAYAGG(REPEAT(s, 100000))) FROM t"},
		{name: "a long JSON array", conns: 4, text: "SELECT JSON_LENGTH(CAST(CONCAT('[', REPEAT('1,', 6000000), '1]') AS JSON)), JSON_VALID(CONCAT('[', REPEAT('[],', 8000000), '1]'))"},
		{name: "a long JSON object", conns: 4, text: "SELECT JSON_LENGTH(CONCAT('{', REPEAT('\"b\":1,\"a\":2,', 400000), '\"b\":1}'))"},
		{name: "JSON_OVERLAPS", text: "SELECT JSON_OVERLAPS(CONCAT('[', REPEAT('1,', 300000), '2]'), CONCAT('[', REPEAT('3,', 300000), '4]'))"},
		{name: "JSON_CONTAINS", text: "SELECT JSON_CONTAINS(CONCAT('[', REPEAT('{\"b\":1},', 100000), '{\"a\":1,\"b\":1}]'), CONCAT('[', REPEAT('{\"a\":1},', 100000), '{\"a\":1}]'))"},
		{name: "JSON_REMOVE of many", before: []string{members}, text: "SELECT LENGTH(JSON_REMOVE(@a" + manyOf(20_000, func(i int) string { return ",'$.m" + strconv.Itoa(i) + "'" }) + "))"},
		{name: "JSON_SET of many", before: []string{members}, text: "SELECT LENGTH(JSON_SET(@a" + manyOf(20_000, func(i int) string { return ",'$.n" + strconv.Itoa(i) + "',1" }) + "))"},
		{name: "JSON_MERGE_PATCH of objects", before: []string{members}, text: "SELECT LENGTH(JSON_MERGE_PATCH(@a, JSON_MERGE_PATCH(REPLACE(@a, 'm', 'n'), @a)))"},
		{name: "JSON_MERGE_PATCH of many", text: "SELECT LENGTH(JSON_MERGE_PATCH('{}'" + manyOf(100_000, func(i int) string { return ",'{\"a" + strconv.Itoa(i) + "\":1}'" }) + "))"},
		{name: "JSON_MERGE_PRESERVE of many", text: "SELECT LENGTH(JSON_MERGE_PRESERVE('[1]'" + strings.Repeat(",'[1]'", 100_000) + "))"},
		{name: "JSON_ARRAYAGG of many", conns: 4, text: "SELECT JSON_LENGTH(JSON_ARRAYAGG(k)) FROM " + many},
		{name: "JSON_OBJECTAGG of many", conns: 4, text: "SELECT JSON_LENGTH(JSON_OBJECTAGG(k, 1)) FROM " + many},
		{name: "ST_Collect of many", conns: 4, text: "SELECT LENGTH(ST_Collect(POINT(1, k))) FROM " + many},
		{name: "ST_Simplify", text: "SELECT LENGTH(ST_Simplify(" + zigzag(100_000, "") + ", 1))"},
		{name: "ST_Distance", text: "SELECT ST_Distance(" + zigzag(30_000, "") + ", " + zigzag(30_000, "1") + ")"},
		{name: "ST_FrechetDistance", text: "SELECT ST_FrechetDistance(" + zigzag(30_000, "") + ", " + zigzag(30_000, "1") + ")"},
		{name: "ST_HausdorffDistance", text: "SELECT ST_HausdorffDistance(" + zigzag(30_000, "") + ", " + zigzag(30_000, "1") + ")"},
		{name: "ST_IsSimple", text: "SELECT ST_IsSimple(" + zigzag(100_000, "") + ")"},
		{name: "ST_Union", text: "SELECT LENGTH(ST_Union(" + zigzag(30_000, "") + ", " + zigzag(30_000, "") + "))"},
		{name: "ST_Touches", text: "SELECT ST_Touches(" + zigzag(30_000, "") + ", " + zigzag(30_000, "") + ")"},
		{name: "SAVEPOINT storms", conns: 4, runs: 3e9, before: []string{"BEGIN"}, text: list2(20_000, func(i int) string { return "SAVEPOINT s" + strconv.Itoa(i) })},
		{name: "savepoints with one name", conns: 4, runs: 8e9, before: []string{"BEGIN", "INSERT INTO t (id) VALUES (CONNECTION_ID() + 1000000)"}, text: list2(3_000, func(i int) string {
			return "SAVEPOINT s; UPDATE t SET b = REPEAT('x', 400000 + " + strconv.Itoa(i) + ") WHERE id = CONNECTION_ID() + 1000000"
		})},
		{name: "savepoints that keep values", conns: 4, runs: 8e9, before: []string{"BEGIN", "INSERT INTO t (id) VALUES (CONNECTION_ID() + 1000000)"}, text: list2(3_000, func(i int) string {
			return "SAVEPOINT s" + strconv.Itoa(i) + "; UPDATE t SET b = REPEAT('x', 40000 + " + strconv.Itoa(i) + ") WHERE id = CONNECTION_ID() + 1000000"
		})},
		{name: "INSERT of rows below the size that is counted", conns: 4, runs: 8e9, text: "INSERT INTO t (id, b) VALUES " + list(5_000, func(i int) string { return "(" + strconv.Itoa(i+2_000_000) + ", REPEAT('a', 31000))" })},
		{name: "VALUES of rows below the size that is counted", conns: 4, runs: 8e9, text: "VALUES " + list(5_000, func(i int) string { return "ROW(" + strconv.Itoa(i) + ", REPEAT('a', 31000))" })},
		{name: "IN of values below the size that is counted", conns: 4, runs: 8e9, text: "SELECT COUNT(*) FROM t WHERE s IN (" + list(5_000, func(i int) string { return "REPEAT('" + strconv.Itoa(i) + "', 7000)" }) + ")"},
		{name: "calls below the size that is counted", conns: 4, runs: 8e9, text: "SELECT " + list(4_000, func(i int) string { return "REPEAT('" + strconv.Itoa(i%10) + "', 31000) c" + strconv.Itoa(i) })},
		{name: "INSERT of wide rows from a SELECT", conns: 4, runs: 8e9, before: []string{"CREATE TABLE IF NOT EXISTS wides (id INT PRIMARY KEY, a LONGTEXT, b LONGTEXT, c LONGTEXT, d LONGTEXT)"}, text: "INSERT IGNORE INTO wides SELECT id, REPEAT(s, 2800), REPEAT(s, 2800), REPEAT(s, 2800), REPEAT(s, 2800) FROM t"},
		{name: "a recursive CTE of long values", conns: 4, runs: 8e9, text: "WITH RECURSIVE c (n, s) AS (SELECT 0, CAST(REPEAT('x', 31000) AS CHAR(40000)) UNION ALL SELECT n + 1, CONCAT(n, s) FROM c WHERE n < 900) SELECT COUNT(*), MAX(s) FROM c"},
		{name: "a recursive CTE of distinct long values", conns: 4, runs: 8e9, text: "WITH RECURSIVE c (n, s) AS (SELECT 0, CAST(REPEAT('x', 31000) AS CHAR(40000)) UNION SELECT n + 1, CONCAT(n, LEFT(s, 31000)) FROM c WHERE n < 900) SELECT COUNT(*), MAX(s) FROM c"},
		{name: "a recursive CTE that doubles its rows", conns: 4, runs: 8e9, text: "WITH RECURSIVE c (n, s) AS (SELECT 0, CAST(REPEAT('x', 1000) AS CHAR(4000)) UNION ALL SELECT n + 1, CONCAT(s, 'y') FROM c, (SELECT 1 UNION ALL SELECT 2) d WHERE n < 30) SELECT COUNT(*), MAX(s) FROM c"},
		{name: "NOT IN of long values", conns: 4, runs: 8e9, text: "SELECT COUNT(*) FROM t WHERE CONCAT(s, k) NOT IN (SELECT REPEAT(a.s, 2500) FROM t a)"},
		{name: "NOT IN of long values of a correlated subquery", conns: 4, runs: 8e9, text: "SELECT COUNT(*) FROM t WHERE CONCAT(s, k) NOT IN (SELECT REPEAT(CONCAT(a.s, t.s), 1250) FROM t a WHERE a.id > t.k)"},
		{name: "= ALL of long values", conns: 4, runs: 8e9, text: "SELECT COUNT(*) FROM t WHERE CONCAT(s, k) > ALL (SELECT REPEAT(a.s, 2500) FROM t a, t b)"},
		{name: "a quantified row of long values", conns: 4, runs: 8e9, text: "SELECT COUNT(*) FROM t WHERE (s, k) NOT IN (SELECT REPEAT(CONCAT(a.s, b.id), 2000), b.k FROM t a, t b)"},
		{name: "JSON_ARRAYAGG of long values", conns: 4, runs: 8e9, text: "SELECT k, LENGTH(JSON_ARRAYAGG(REPEAT(s, 2500))) FROM t GROUP BY k"},
		{name: "JSON_ARRAYAGG of many groups", conns: 4, runs: 8e9, text: "SELECT k, LENGTH(JSON_ARRAYAGG(REPEAT('x', 20000))) FROM (SELECT a.id k FROM t a, t b) m GROUP BY k"},
		{name: "JSON_OBJECTAGG of long values", conns: 4, runs: 8e9, text: "SELECT LENGTH(JSON_OBJECTAGG(id, REPEAT(s, 2500))) FROM t"},
		{name: "JSON_OBJECTAGG of long names", conns: 4, runs: 8e9, text: "SELECT LENGTH(JSON_OBJECTAGG(REPEAT(s, 2500), id)) FROM t"},
		{name: "JSON_OBJECTAGG of many groups", conns: 4, runs: 8e9, text: "SELECT k, LENGTH(JSON_OBJECTAGG(j, REPEAT('x', 20000))) FROM (SELECT a.id k, b.id j FROM t a, t b) m GROUP BY k"},
		{name: "GROUP_CONCAT of many groups", conns: 4, runs: 8e9, before: []string{"SET group_concat_max_len = 60000000"}, text: "SELECT k, LENGTH(GROUP_CONCAT(REPEAT('x', 20000))) FROM (SELECT a.id k FROM t a, t b) m GROUP BY k"},
		{name: "GROUP_CONCAT DISTINCT and sorted", conns: 4, runs: 8e9, before: []string{"SET group_concat_max_len = 60000000"}, text: "SELECT LENGTH(GROUP_CONCAT(DISTINCT REPEAT(CONCAT(a.s, b.id), 2000) ORDER BY b.id DESC)) FROM t a, t b WHERE b.id < 20"},
		{name: "60 lists of one group", conns: 2, runs: 8e9, text: "SELECT " + calls("JSON_ARRAYAGG(%s)", "") + pairs},
		{name: "60 lists in order", conns: 2, runs: 8e9, before: []string{"SET group_concat_max_len = 60000000"}, text: "SELECT " + calls("GROUP_CONCAT(%s ORDER BY b.id)", "") + pairs},
		{name: "60 lists of a ROLLUP", conns: 2, runs: 8e9, text: "SELECT a.id, " + calls("JSON_OBJECTAGG(%s, 1)", "") + pairs + " GROUP BY a.id WITH ROLLUP"},
		{name: "60 lists of distinct values", conns: 2, runs: 8e9, before: []string{"SET group_concat_max_len = 60000000"}, text: "SELECT " + calls("GROUP_CONCAT(DISTINCT %s)", "") + pairs},
		{name: "60 sets of few groups", conns: 2, runs: 8e9, text: "SELECT a.k, " + calls("COUNT(DISTINCT %s)", "") + pairs + " GROUP BY a.k"},
		{name: "60 sets of a ROLLUP", conns: 2, runs: 8e9, text: "SELECT a.id, " + calls("COUNT(DISTINCT %s)", "") + pairs + " GROUP BY a.id WITH ROLLUP"},
		{name: "60 lists of a window", conns: 2, runs: 8e9, text: "SELECT " + calls("JSON_ARRAYAGG(%s)", " OVER ()") + pairs},
		{name: "60 collections of a window", conns: 2, runs: 4e9, text: "SELECT " + calls("ST_Collect(POINT(a.id, LENGTH(%s) + b.id))", " OVER ()") + pairs},
		{name: "aggregates of long values in a window", conns: 4, runs: 8e9, text: "SELECT LENGTH(JSON_ARRAYAGG(REPEAT(s, 2500)) OVER (ORDER BY id)) FROM t"},
		{name: "MAX of long values in a frame", conns: 4, runs: 8e9, text: "SELECT LENGTH(MAX(REPEAT(s, 2500)) OVER (ORDER BY id ROWS BETWEEN 500 PRECEDING AND CURRENT ROW)), LENGTH(LAG(REPEAT(s, 2500), 800) OVER (ORDER BY id)) FROM t"},
		{name: "a result that is converted", conns: 4, runs: 3e9, before: []string{"SET character_set_results = utf32"}, text: "SELECT REPEAT(s, 2800), REPEAT(s, 100000), REPEAT(s, 2800) FROM t"},
		{name: "one large result that is converted", conns: 20, runs: 8e9, before: []string{"SET character_set_results = utf32"}, text: "SELECT REPEAT('x', 60000000)"},
		{name: "a ROLLUP of long values", conns: 4, runs: 8e9, text: "SELECT k, id, LENGTH(JSON_ARRAYAGG(REPEAT(s, 2500))), MAX(REPEAT('y', 30000)) FROM t GROUP BY k, id WITH ROLLUP"},
		{name: "a UNION of one long value", conns: 4, runs: 8e9, text: "WITH x AS (SELECT REPEAT('x', 60000) s) SELECT CONCAT(x.s, t.id), x.s FROM x, t UNION SELECT x.s, CONCAT(x.s, t.id) FROM x, t"},
		{name: "JSON_ARRAYAGG of one long value", conns: 4, runs: 8e9, text: "SELECT k, LENGTH(JSON_ARRAYAGG(s)) FROM (SELECT b.k, x.s FROM (SELECT REPEAT('x', 1000000) s FROM t LIMIT 1) x, t b) m GROUP BY k"},
		{name: "a sort of one long value", conns: 4, runs: 8e9, text: "SELECT * FROM (SELECT b.k, b.id, x.s FROM (SELECT REPEAT('x', 1000000) s FROM t LIMIT 1) x, t b) m ORDER BY k, id"},
		{name: "a row of one value many times", conns: 4, runs: 8e9, text: "SELECT " + list(300, func(int) string { return "x.s" }) + " FROM (SELECT REPEAT('x', 200000) s FROM t LIMIT 1) x"},
		{name: "a long JSON document as text", conns: 8, runs: 8e9, text: "SELECT CAST(CONCAT('[', REPEAT('1,', 1000000), '1]') AS JSON) FROM t"},
		{name: "a chain of joins", text: "SELECT 1 FROM t" + strings.Repeat(" JOIN t", 300_000)},
		{name: "the digest of a long text", conns: 4, text: "SELECT STATEMENT_DIGEST(CONCAT('SELECT ', REPEAT('1+', 2000000), '1'))"},
	}
}

// manyOf is n items one after the other.
func manyOf(n int, item func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(item(i))
	}
	return b.String()
}

// list2 is n statements.
func list2(n int, item func(i int) string) string {
	var b strings.Builder
	for i := range n {
		b.WriteString(item(i))
		b.WriteByte(';')
	}
	return b.String()
}

// TestAttacks runs known attacks: all with -long and -strict, half of them with -long, else
// a few, from one that the seed chooses; and those that are named.
func TestAttacks(t *testing.T) {
	testflag.Normal(t)
	v := start(t)
	take := testflag.Share(t, 8, 64, inCI[uint64](1, 2))
	for i, a := range corpus() {
		if strings.Contains(a.name, *named) && (*named != "" || take(i)) {
			v.check(t, a)
		}
	}
	// All that was counted has been given back.
	if o := v.attack(attack{text: "SELECT LENGTH(REPEAT('x', 60000000))", runs: time.Minute}); len(o.errs) > 0 {
		t.Errorf("a large value after all attacks: %v", o.errs)
	}
}
