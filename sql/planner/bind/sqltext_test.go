package bind

import (
	"strings"
	"testing"

	"github.com/sqlots/sqlots/sql/planner/logical"
)

// TestTextsAgain: the text that a table keeps of an expression is read as the same
// expression, which has the same text.
func TestTextsAgain(t *testing.T) {
	for _, e := range []string{
		"CASE WHEN a > 1 THEN 2 WHEN a IS NULL THEN 3 ELSE a END", "CASE a WHEN 1 THEN 2 END", "s LIKE 'a\\%' ESCAPE '|'", "s NOT LIKE '%b_'", "TRIM(LEADING 'x' FROM s)", "TRIM(s)", "TRIM(BOTH FROM s)", "TRIM(TRAILING 'y' FROM s)",
		"CONVERT(s USING latin1)", "DATE_FORMAT(d, GET_FORMAT(DATE, 'EUR'))", "EXTRACT(YEAR_MONTH FROM d)", "d + INTERVAL 1 DAY", "d - INTERVAL a HOUR", "DATE_SUB(d, INTERVAL '1:2' HOUR_MINUTE)", "TIMESTAMPDIFF(MINUTE, d, '2024-01-01')", "TIMESTAMPADD(WEEK, 2, d)",
		"a BETWEEN 1 AND 5", "a NOT BETWEEN 1 AND 5", "a IN (1, 2, NULL)", "a NOT IN (1, 2)", "s REGEXP '^a'", "s NOT REGEXP 'b'", "a IS NOT NULL AND NOT a <=> 3 XOR a OR !a", "-a + ~a - (a * 2 DIV 3) % 7 | 5 & 6 ^ 7 << 1 >> 2", "- -a", "-(-5)", "a - (a - 1)", "(a - a) - 1",
		"CHAR(a, 66 USING utf8mb4)", "j->'$.a'", "j->>'$.b'", "POSITION('x' IN s)", "SUBSTRING(s FROM 2 FOR 3)", "_utf8mb4'ä' COLLATE utf8mb4_bin", "s COLLATE utf8mb4_bin = 'x'", "X'4142'", "b'101'", "IF(a, TRUE, FALSE)", "DATE '2024-01-01'", "TIMESTAMP '2024-01-01 10:00:00'", "s SOUNDS LIKE 'x'",
		"WEIGHT_STRING(s AS CHAR(3))", "WEIGHT_STRING(s AS BINARY(2))", "WEIGHT_STRING(s)", "a IS NOT TRUE", "a IS UNKNOWN", "a MEMBER OF ('[1,2]')", "JSON_VALUE(j, '$.a' RETURNING SIGNED DEFAULT 3 ON EMPTY NULL ON ERROR)", "JSON_VALUE(j, '$.a')",
		"CAST(a AS DECIMAL)", "CAST(a AS DECIMAL(7,3))", "CAST(a AS CHAR(3) CHARACTER SET latin1)", "CAST(a AS BINARY(2))", "CAST(s AS DATETIME(2))", "CAST(s AS TIME)", "CAST(a AS YEAR)", "CAST(a AS FLOAT)", "CAST(a AS UNSIGNED)", "CAST(j AS JSON)", "BINARY s", "a = 1.50", "a = 1e3", "s = 'it''s \\\\ \"x\" \n'",
		"INTERVAL(a, 1, 2)", "GREATEST(a, 2) <> LEAST(a, 3)", "ROW(a, 2) > (1, 2)", "(a, 1) IN ((1, 2), (3, 4))", "`a` + 1", "(a, 1) <=> (2, 3)", "MOD(a, 2)", "a MOD 2", "LEFT(s, 2)", "INSERT(s, 1, 2, 'x')", "REPLACE(s, 'a', 'b')", "YEAR(d) = 2024 AND DATE(d) > '2023-01-01'", "ST_X(p) > 1", "POINT(1, 2) = p", "REGEXP_LIKE(s, 'x', 'c')",
	} {
		create := func(text string) (string, error) {
			st, err := bindText(testEnv(newTestCatalog()), "CREATE TABLE t (a INT, s VARCHAR(20), d DATETIME, j JSON, p POINT, g VARCHAR(100) AS ("+text+"))")
			if err != nil {
				return "", err
			}
			return st.(*logical.CreateTable).Table.Columns[5].Generated.Expr, nil
		}
		first, err := create(e)
		if err != nil {
			t.Errorf("%s: %v", e, err)
			continue
		}
		second, err := create(strings.TrimSpace(first))
		if err != nil || first != second {
			t.Errorf("%s is kept as %s, which is kept as %s, %v", e, first, second, err)
		}
	}
}
