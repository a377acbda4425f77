package abuse

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

// clause is a statement with a part that is repeated: %d in it is the number of the
// repetition.
type clause struct {
	name                     string
	before, part, sep, after string
	// legal: with one repetition it is a statement that runs.
	legal bool
}

// closing is the end of what each part opens: after is repeated too.
const closing = "\x00"

func clauses() []clause {
	return []clause{
		{"select list", "SELECT ", "id", ", ", " FROM t", true},
		{"aliases", "SELECT ", "id a%d", ", ", " FROM t", true},
		{"select list of subqueries", "SELECT ", "(SELECT 1)", ", ", "", true},
		{"FROM list", "SELECT 1 FROM ", "t a%d", ", ", " LIMIT 1", true},
		{"JOIN", "SELECT 1 FROM t", " JOIN t a%d ON a%[1]d.id = t.id", "", " LIMIT 1", true},
		{"LEFT JOIN", "SELECT 1 FROM t", " LEFT JOIN t a%d ON a%[1]d.id = t.id", "", " LIMIT 1", true},
		{"NATURAL JOIN", "SELECT 1 FROM t", " NATURAL JOIN (SELECT id FROM t LIMIT 2) a%d", "", "", true},
		{"USING", "SELECT 1 FROM t JOIN t u USING (", "id", ", ", ")", true},
		{"ON", "SELECT 1 FROM t JOIN t u ON ", "t.id = u.id", " AND ", " LIMIT 1", true},
		{"AND", "SELECT COUNT(*) FROM t WHERE ", "id <> %d", " AND ", "", true},
		{"OR", "SELECT COUNT(*) FROM t WHERE ", "k = %d", " OR ", "", true},
		{"XOR", "SELECT COUNT(*) FROM t WHERE ", "k = %d", " XOR ", "", true},
		{"IN", "SELECT COUNT(*) FROM t WHERE id IN (", "%d", ", ", ")", true},
		{"IN of expressions", "SELECT COUNT(*) FROM t WHERE id IN (", "k + %d", ", ", ")", true},
		{"IN of rows", "SELECT COUNT(*) FROM t WHERE (id, k) IN (", "(%d, 1)", ", ", ")", true},
		{"row", "SELECT COUNT(*) FROM t WHERE (id, ", "%d", ", ", ") = (1)", false},
		{"CASE WHEN", "SELECT CASE id ", "WHEN %d THEN 1", " ", " END FROM t LIMIT 1", true},
		{"CASE of conditions", "SELECT CASE ", "WHEN id = %d THEN 1", " ", " END FROM t LIMIT 1", true},
		{"BETWEEN", "SELECT COUNT(*) FROM t WHERE ", "id BETWEEN %d AND 5", " OR ", "", true},
		{"LIKE", "SELECT COUNT(*) FROM t WHERE ", "s LIKE '%%%d%%'", " OR ", "", true},
		{"a pattern of words", "SELECT COUNT(*) FROM t WHERE s LIKE '", "%%%d_abcdef", "", "'", true},
		{"a literal of words", "SELECT COUNT(*) FROM t WHERE s = '", "%d_abcdef", "", "'", true},
		{"SHOW WHERE of words", "SHOW TABLES WHERE Tables_in_abuse = '", "%d_abcdef", "", "'", true},
		{"REGEXP", "SELECT COUNT(*) FROM t WHERE ", "s REGEXP 'x%d'", " OR ", "", true},
		{"+", "SELECT ", "id", " + ", " FROM t LIMIT 1", true},
		{"||", "SELECT ", "'a'", " || ", "", true},
		{"DIV", "SELECT ", "id", " DIV ", " FROM t LIMIT 1", true},
		{"comparisons", "SELECT ", "id", " < ", " FROM t LIMIT 1", true},
		{"->", "SELECT j", "->'$[0]'", "", " FROM t LIMIT 1", true},
		{"COLLATE", "SELECT 'a'", " COLLATE utf8mb4_bin", "", "", true},
		{"IS NULL", "SELECT 1", " IS NULL", "", "", true},
		{"NOT", "SELECT ", "NOT ", "", "1", true},
		{"minus", "SELECT ", "- ", "", "1", true},
		{"~", "SELECT ", "~", "", "1", true},
		{"BINARY", "SELECT ", "BINARY ", "", "1", true},
		{"parentheses", "SELECT ", "(", "", "1" + closing + ")", true},
		{"INTERVAL", "SELECT NOW()", " + INTERVAL 1 DAY", "", "", true},
		{"GROUP BY", "SELECT 1 FROM t GROUP BY ", "id + %d", ", ", " LIMIT 1", false},
		{"GROUP BY column", "SELECT 1 FROM t GROUP BY ", "id", ", ", " LIMIT 1", true},
		{"ROLLUP", "SELECT COUNT(*) FROM t GROUP BY ", "k", ", ", " WITH ROLLUP LIMIT 1", true},
		{"HAVING", "SELECT COUNT(*) FROM t HAVING ", "COUNT(*) <> %d", " AND ", "", true},
		{"aggregates", "SELECT ", "SUM(id + %d)", ", ", " FROM t", true},
		{"ORDER BY", "SELECT id FROM t ORDER BY ", "id + %d", ", ", " LIMIT 1", true},
		{"windows", "SELECT ", "SUM(id) OVER (ORDER BY k + %d)", ", ", " FROM t LIMIT 1", true},
		{"WINDOW", "SELECT 1 FROM t WINDOW ", "w%d AS (ORDER BY id)", ", ", " LIMIT 1", true},
		{"PARTITION BY", "SELECT SUM(id) OVER (PARTITION BY ", "k", ", ", ") FROM t LIMIT 1", true},
		{"UNION", "SELECT 1", " UNION SELECT 2", "", "", true},
		{"UNION ALL", "SELECT 1", " UNION ALL SELECT %d", "", "", true},
		{"INTERSECT", "SELECT 1", " INTERSECT SELECT 1", "", "", true},
		{"EXCEPT", "SELECT 1", " EXCEPT SELECT 1", "", "", true},
		{"WITH", "WITH ", "c%d AS (SELECT 1)", ", ", " SELECT 1", true},
		{"WITH of one another", "WITH c AS (SELECT 1 a), ", "c%d AS (SELECT * FROM c)", ", ", " SELECT 1", true},
		{"CTE columns", "WITH c (", "a%d", ", ", ") AS (SELECT 1) SELECT 1 FROM c", false},
		{"subqueries", "SELECT ", "(SELECT ", "", "1" + closing + ")", true},
		{"derived tables", "SELECT * FROM ", "(SELECT * FROM ", "", "t" + closing + ") x", true},
		{"EXISTS", "SELECT 1 FROM t WHERE ", "EXISTS (SELECT 1 FROM t WHERE ", "", "1" + closing + ")", true},
		{"index hints", "SELECT 1 FROM t USE INDEX (", "k", ", ", ") LIMIT 1", true},
		{"hints", "SELECT /*+ ", "NO_INDEX(t k)", " ", " */ 1 FROM t LIMIT 1", true},
		{"comments", "SELECT ", "/* c */", " ", " 1", true},
		{"version comments", "SELECT ", "/*!50000 1 + */", " ", " 1", true},
		{"comment lines", "SELECT ", "-- c\n", "", " 1", true},
		{"literal pieces", "SELECT ", "'a'", " ", "", true},
		{"digits", "SELECT ", "9", "", "", true},
		{"digits behind the point", "SELECT 0.", "9", "", "", true},
		{"digits of an exponent", "SELECT 1e", "1", "", "", true},
		{"hex digits", "SELECT x'", "ab", "", "'", true},
		{"bits", "SELECT b'", "1", "", "'", true},
		{"identifier", "SELECT 1 AS `", "a", "", "`", true},
		{"qualified name", "SELECT ", "a.", "", "b", false},
		{"CONCAT", "SELECT LENGTH(CONCAT(", "'a'", ", ", "))", true},
		{"COALESCE", "SELECT COALESCE(", "NULL", ", ", ")", true},
		{"GREATEST", "SELECT GREATEST(0, ", "%d", ", ", ")", true},
		{"JSON_ARRAY", "SELECT JSON_LENGTH(JSON_ARRAY(", "%d", ", ", "))", true},
		{"JSON_OBJECT", "SELECT JSON_LENGTH(JSON_OBJECT(", "'k%d', 1", ", ", "))", true},
		{"JSON_SET", "SELECT JSON_LENGTH(JSON_SET('{}', ", "'$.k%d', 1", ", ", "))", true},
		{"JSON_EXTRACT", "SELECT JSON_LENGTH(JSON_EXTRACT('{}', ", "'$.k%d'", ", ", "))", true},
		{"ELT", "SELECT ELT(1, ", "'a'", ", ", ")", true},
		{"FIELD", "SELECT FIELD('b', ", "'a'", ", ", ")", true},
		{"MAKE_SET", "SELECT MAKE_SET(1, ", "'a'", ", ", ")", true},
		{"CHAR", "SELECT LENGTH(CHAR(", "65", ", ", "))", true},
		{"nested calls", "SELECT ", "ABS(", "", "1" + closing + ")", true},
		{"nested IF", "SELECT ", "IF(1, 1, ", "", "1" + closing + ")", true},
		{"MATCH", "SELECT MATCH (", "s", ", ", ") AGAINST ('x') FROM t", false},
		{"JSON_TABLE", "SELECT COUNT(*) FROM JSON_TABLE('[1]', '$[*]' COLUMNS (", "c%d INT PATH '$'", ", ", ")) j", true},
		{"nested JSON_TABLE", "SELECT COUNT(*) FROM JSON_TABLE('[1]', '$[*]' COLUMNS (", "NESTED PATH '$[*]' COLUMNS (", "", "c INT PATH '$'" + closing + ")", true},
		{"INTO", "SELECT 1 INTO ", "@v%d", ", ", "", true},
		{"VALUES", "VALUES ", "ROW(%d)", ", ", "", true},
		{"VALUES of columns", "VALUES ROW(", "%d", ", ", ")", true},
		{"INSERT rows", "INSERT IGNORE INTO other VALUES ", "(%d, 1)", ", ", "", true},
		{"INSERT columns", "INSERT INTO other (", "id", ", ", ") VALUES (1)", false},
		{"INSERT values", "INSERT INTO other VALUES (", "1", ", ", ")", false},
		{"ON DUPLICATE KEY UPDATE", "INSERT INTO other VALUES (1, 1) ON DUPLICATE KEY UPDATE ", "n = n + 0", ", ", "", true},
		{"INSERT SET", "INSERT IGNORE INTO t SET ", "id = 1", ", ", "", true},
		{"REPLACE", "REPLACE INTO u VALUES ", "(%d)", ", ", "", true},
		{"UPDATE", "UPDATE t SET ", "s = s", ", ", " WHERE id = 1", true},
		{"UPDATE tables", "UPDATE u, ", "t a%d", ", ", " SET u.id = u.id WHERE 0", true},
		{"UPDATE ORDER BY", "UPDATE t SET s = s ORDER BY ", "id", ", ", " LIMIT 1", true},
		{"DELETE tables", "DELETE ", "t", ", ", " FROM t WHERE 0", true},
		{"DELETE USING", "DELETE FROM u USING u, ", "t a%d", ", ", " WHERE 0", true},
		{"RETURNING", "DELETE FROM u WHERE 0 RETURNING ", "id", ", ", "", true},
		{"columns", "CREATE TEMPORARY TABLE x (", "c%d INT", ", ", ")", true},
		{"keys", "CREATE TEMPORARY TABLE x (a INT, ", "KEY k%d (a)", ", ", ")", true},
		{"key parts", "CREATE TEMPORARY TABLE x (a INT, KEY (", "a", ", ", "))", true},
		{"CHECK", "CREATE TEMPORARY TABLE x (a INT, ", "CHECK (a > %d)", ", ", ")", true},
		{"CHECK of terms", "CREATE TEMPORARY TABLE x (a INT, CHECK (", "a <> %d", " AND ", "))", true},
		{"ENUM", "CREATE TEMPORARY TABLE x (a ENUM(", "'m%d'", ", ", "))", true},
		{"SET", "CREATE TEMPORARY TABLE x (a SET(", "'m%d'", ", ", "))", true},
		{"generated columns", "CREATE TEMPORARY TABLE x (c INT, ", "c%d INT AS (c + 1)", ", ", ")", true},
		{"a generated column of terms", "CREATE TEMPORARY TABLE x (a INT, b BIGINT AS (", "a", " + ", "))", true},
		{"foreign keys", "CREATE TABLE x (a INT, ", "FOREIGN KEY f%d (a) REFERENCES other (id)", ", ", ")", true},
		{"table options", "CREATE TEMPORARY TABLE x (a INT) ", "COMMENT 'c'", " ", "", true},
		{"column options", "CREATE TEMPORARY TABLE x (a INT ", "NULL", " ", ")", true},
		{"a comment", "CREATE TEMPORARY TABLE x (a INT COMMENT '", "c", "", "')", true},
		{"a default", "CREATE TEMPORARY TABLE x (a VARCHAR(9) DEFAULT '", "c", "", "')", true},
		{"an expression as default", "CREATE TEMPORARY TABLE x (a INT DEFAULT (", "1", " + ", "))", true},
		{"search fields", "CREATE TABLE x (id INT PRIMARY KEY, s TEXT, SEARCH INDEX i (", "s", ", ", "))", true},
		{"ADD COLUMN", "ALTER TABLE u ", "ADD COLUMN c%d INT, DROP COLUMN c%[1]d", ", ", "", false},
		{"ADD COLUMN list", "ALTER TABLE u ADD COLUMN (", "c%d INT", ", ", "), ALGORITHM = COPY", false},
		{"ADD KEY", "ALTER TABLE u ", "ADD KEY y%d (id), DROP KEY y%[1]d", ", ", "", false},
		{"RENAME COLUMN", "ALTER TABLE u ", "RENAME COLUMN id TO id", ", ", "", true},
		{"ALTER options", "ALTER TABLE u ", "COMMENT 'c'", ", ", "", true},
		{"CREATE INDEX", "CREATE INDEX y ON u (", "id", ", ", ")", true},
		{"CREATE VIEW", "CREATE OR REPLACE VIEW v AS SELECT ", "id + %d", ", ", " FROM u", true},
		{"view columns", "CREATE OR REPLACE VIEW v (", "c%d", ", ", ") AS SELECT 1", true},
		{"DROP TABLE", "DROP TABLE IF EXISTS ", "none%d", ", ", "", true},
		{"RENAME TABLE", "RENAME TABLE ", "u TO w, w TO u", ", ", "", true},
		{"LOCK TABLES", "LOCK TABLES ", "t AS a%d READ", ", ", "", true},
		{"CHECK TABLE", "CHECK TABLE ", "u", ", ", "", true},
		{"ANALYZE TABLE", "ANALYZE TABLE ", "u", ", ", "", true},
		{"OPTIMIZE TABLE", "OPTIMIZE TABLE ", "u", ", ", "", true},
		{"CREATE USER", "CREATE USER IF NOT EXISTS ", "a", ", ", "", false},
		{"DROP USER", "DROP USER IF EXISTS ", "u%d", ", ", "", true},
		{"GRANT", "GRANT ", "SELECT", ", ", " ON *.* TO root", true},
		{"GRANT columns", "GRANT SELECT (", "id", ", ", ") ON abuse.t TO root", false},
		{"SET variables", "SET ", "@v%d = 1", ", ", "", true},
		{"SET", "SET ", "sql_mode = DEFAULT", ", ", "", true},
		{"PREPARE", "PREPARE p FROM 'SELECT ", "?", ", ", "'", true},
		{"EXECUTE", "EXECUTE nothing USING ", "@v%d", ", ", "", false},
		{"DO", "DO ", "%d", ", ", "", true},
		{"CALL", "CALL sqlots.stream_purge(", "%d", ", ", ")", false},
		{"SHOW", "SHOW TABLES WHERE ", "Tables_in_abuse <> 'x%d'", " AND ", "", true},
		{"SHOW LIKE", "SHOW TABLES LIKE '", "%%", "", "'", true},
		{"SHOW LIKE of words", "SHOW TABLES LIKE '", "%%%d_abcdef", "", "'", true},
		{"EXPLAIN", "", "EXPLAIN ", "", "SELECT 1", true},
		{"DESCRIBE", "DESCRIBE ", "t", " ", "", true},
		{"FLUSH", "FLUSH ", "STATUS", ", ", "", true},
		{"SAVEPOINT", "SAVEPOINT `", "a", "", "`", true},
		{"ROLLBACK", "ROLLBACK ", "WORK", " ", "", true},
		{"LOAD DATA", "LOAD DATA INFILE 'x' INTO TABLE t (", "@v%d", ", ", ")", false},
		{"LOAD DATA SET", "LOAD DATA INFILE 'x' INTO TABLE t SET ", "s = 1", ", ", "", false},
		{"KILL", "KILL ", "9", "", "", false},
		{"USE", "USE `", "a", "", "`", false},
		{"semicolons", "SELECT 1", ";", "", "", true},
		{"statements", "", "DO %d", ";", "", true},
		{"nested JSON", "SELECT JSON_DEPTH('", "[", "", "1" + closing + "]", false},
		{"a JSON path", "SELECT JSON_EXTRACT('{}', '$", ".a", "", "')", true},
		{"a JSON path of **", "SELECT JSON_EXTRACT('{}', '$", "**.a", "", "')", true},
		{"XML", "SELECT EXTRACTVALUE('", "<a>", "", "1" + closing + "</a>", false},
		{"WKT", "SELECT ST_AsText(ST_GeomFromText('LINESTRING(0 0, ", "1 %d", ", ", ")'))", true},
		{"nested WKT", "SELECT ST_AsText(ST_GeomFromText('", "GEOMETRYCOLLECTION(", "", "POINT(1 1)" + closing + ")", false},
		{"a format", "SELECT DATE_FORMAT(NOW(), '", "%%M", "", "')", true},
		{"a date", "SELECT DATE '2024-01-", "0", "", "1'", false},
		{"HANDLER", "HANDLER t READ ", "FIRST", " ", "", false},
		{"XA", "XA START '", "x", "", "'", false},
	}
}

// text is the statement with n repetitions.
func (c clause) text(n int) string {
	var b strings.Builder
	b.WriteString(c.before)
	numbered := strings.Contains(c.part, "%d") || strings.Contains(c.part, "%[1]d")
	part := strings.ReplaceAll(c.part, "%%", "%")
	for i := range n {
		if i > 0 {
			b.WriteString(c.sep)
		}
		if numbered {
			fmt.Fprintf(&b, c.part, i)
		} else {
			b.WriteString(part)
		}
	}
	inner, end, nested := strings.Cut(c.after, closing)
	b.WriteString(inner)
	if nested {
		b.WriteString(strings.Repeat(end, n))
		if strings.Count(c.before, "(") > strings.Count(c.before, ")") || strings.Contains(c.before, "'") {
			b.WriteString(map[string]string{"nested JSON": "')", "XML": "', 'a')", "nested WKT": "'))", "nested JSON_TABLE": ")) j"}[c.name])
		}
	}
	return b.String()
}

// most is the largest text of a statement, below max_allowed_packet.
const most = 60 << 20

// TestClauses repeats each part of each statement, a million times at most.
func TestClauses(t *testing.T) {
	testflag.Normal(t)
	v := start(t)
	v.exec(v.connect("abuse"), "CREATE TABLE u (id INT PRIMARY KEY)")
	take := testflag.Share(t, 1, 3, 1)
	for i, c := range clauses() {
		if *named == "" && !take(i) || !strings.Contains(c.name, *named) {
			continue
		}
		for _, n := range testflag.Pick(nil, []int{1000}, []int{1, 1000, 1_000_000}) {
			text := c.text(n)
			if len(text) > most {
				text = c.text(most / (len(text)/n + 1))
			}
			v.report()
			began := time.Now()
			o := v.attack(attack{name: c.name, text: text, runs: 2 * time.Second})
			took := time.Since(began)
			peak, p99, wrong := v.report()
			t.Logf("%-28s %7d peak %4d MiB, others %6.1f ms, took %6.2f s, killed %d, after %6.1f ms, %v", c.name, n, peak>>20, float64(p99.Microseconds())/1000, took.Seconds(), o.killed, float64(o.slow.Microseconds())/1000, o.errs)
			switch {
			case wrong != nil:
				t.Errorf("%s, %d: %v", c.name, n, wrong)
			case peak > mostResident():
				t.Errorf("%s, %d: %d MiB are resident", c.name, n, peak>>20)
			case o.slow > mostKill():
				t.Errorf("%s, %d: it ended %v after KILL", c.name, n, o.slow)
			case p99 > mostOther():
				t.Errorf("%s, %d: others took %v", c.name, n, p99)
			case n == 1 && c.legal && len(o.errs) > 0:
				t.Errorf("%s: %v", c.name, o.errs)
			}
			for e := range o.errs {
				if isFault(e) {
					t.Errorf("%s, %d: %s", c.name, n, e)
				}
			}
			if v.c.Memory("VmRSS") == 0 {
				t.Fatalf("%s, %d: the server has ended\n%s", c.name, n, tail(v.c.Log.String()))
			}
			v.attack(attack{text: "UNLOCK TABLES; DROP TABLE IF EXISTS x; DROP TEMPORARY TABLE IF EXISTS x"})
		}
	}
}
