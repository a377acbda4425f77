package server_test

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// jsonTexts are values of all kinds, among them what fields over parts of JSON
// columns cannot take and what compares unlike its text.
var jsonTexts = []string{
	`"a"`, `"b"`, `"A"`, `"a "`, `"ab"`, `"é"`, `"e\u0301"`, `"表格"`, `""`, `"5"`, `"1.5"`, `"true"`, `"null"`, `"a longer text than the array takes"`,
	`0`, `1`, `-1`, `5`, `5.0`, `5.5`, `4.5`, `-0.0`, `0.1`, `0.10`, `1e3`, `1000`, `1.005`, `99.994`, `99.996`, `123456.78`, `9007199254740993`, `9007199254740992.0`,
	`9223372036854775807`, `9223372036854775808`, `18446744073709551615`, `-9223372036854775808`, `1e19`, `-1e19`, `1e300`, `true`, `false`, `null`, `{}`, `{"a": 1}`, `[]`, `["a"]`, `[5]`,
}

// timeTexts and placeTexts are values that some forms of fields take.
var (
	timeTexts  = []string{`"2024-01-05"`, `"2024-01-05 10:00:00"`, `"2024-01-05T10:00:00.5"`, `"2024-01-05 10:00:00+08:00"`, `"2024-02-30"`, `"0000-00-00"`, `20240106`, `"24-1-7"`, `"x"`, `null`, `"10:00:00"`, `1704448800`, `"1704448800"`, `["2024-01-05"]`}
	placeTexts = []string{`"48.1,11.5"`, `"48.1, 11.6"`, `"-90,180"`, `"91,0"`, `"x"`, `null`, `{"lat": 1, "lon": 2}`, `"48.100001,11.5"`, `48.1`}
)

func randomJSON(r *rand.Rand) string {
	one := func() string { return jsonTexts[r.IntN(len(jsonTexts))] }
	few := func(list []string) string { return list[r.IntN(len(list))] }
	pick := func() string {
		switch r.IntN(4) {
		case 0: // one kind
			n := r.IntN(5)
			var list []string
			kind := [][]string{jsonTexts[:14], jsonTexts[14:39]}[r.IntN(2)]
			for range n {
				list = append(list, few(kind))
			}
			return "[" + strings.Join(list, ", ") + "]"
		case 1:
			var list []string
			for range r.IntN(4) {
				list = append(list, one())
			}
			return "[" + strings.Join(list, ", ") + "]"
		}
		return one()
	}
	var members []string
	for _, name := range []string{"t", "n", "k", "i", "u", "f", "d", "b"} {
		if r.IntN(6) > 0 {
			members = append(members, `"`+name+`": `+pick())
		}
	}
	if r.IntN(6) > 0 {
		members = append(members, `"a": `+timeTexts[r.IntN(len(timeTexts))], `"g": `+placeTexts[r.IntN(len(placeTexts))])
	}
	if r.IntN(6) > 0 {
		var list []string
		for range r.IntN(4) {
			list = append(list, randomObject(r))
		}
		members = append(members, `"o": `+[]string{"[" + strings.Join(list, ", ") + "]", randomObject(r)}[r.IntN(8)/7])
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// randomObject is an element of an array of objects.
func randomObject(r *rand.Rand) string {
	names, nums := jsonTexts[:14], jsonTexts[14:39]
	if r.IntN(12) == 0 {
		names, nums = jsonTexts, jsonTexts
	}
	one := func(list []string) string { return list[r.IntN(len(list))] }
	var members, in []string
	for range r.IntN(3) {
		in = append(in, `{"v": `+one(names)+`, "w": `+one(nums)+`}`)
	}
	for _, m := range []string{`"name": ` + one(names), `"score": ` + one(nums), `"k": ` + one([]string{"0", "1", "-1", "5", "4.5", one(nums)}), `"in": [` + strings.Join(in, ", ") + `]`} {
		if r.IntN(6) > 0 {
			members = append(members, m)
		}
	}
	return "{" + strings.Join(members, ", ") + "}"
}

// randomElementCond tests whether an array of objects has some element.
func randomElementCond(r *rand.Rand) string {
	few := func(list ...string) string { return list[r.IntN(len(list))] }
	cond := func() string {
		switch r.IntN(5) {
		case 0:
			return "jt.name " + few("=", "<", ">=") + " " + few("'a'", "'A'", "'a '", "'É'", "'表格'", "''", "'5'", "'true'", "'null'")
		case 1:
			return "jt.score " + few("=", "<", "<=", ">", ">=", "<>") + " " + few("5", "4.5", "0", "-1", "1e3", "0.1", "1.005", "1e300")
		case 2:
			return few("jt.k", "jt.d") + " " + few("=", "<", "<=", ">", ">=") + " " + few("5", "4", "0", "-1", "18446744073709551615", "9223372036854775807", "1.5")
		case 3:
			return few("jt.v = 'a'", "jt.v IN ('b', 'é')", "jt.w > 4", "jt.w = 5", "jt.v IS NULL")
		}
		return few("jt.name IN ('a', 'b')", "jt.score IN (5, 0.1)", "NOT jt.score > 3", "jt.name IS NULL", "jt.name LIKE 'a%'", "5 <= jt.score", "jt.score BETWEEN 0 AND 5", "jt.n = 1", "jt.name = p.x", "jt.score > p.x")
	}
	where := cond()
	for range r.IntN(3) {
		where += few(" AND ", " AND ", " OR ") + cond()
	}
	return "EXISTS (SELECT 1 FROM JSON_TABLE(" + few("p.doc, '$.o[*]'", "p.doc->'$.o', '$[*]'", "p.doc, '$.o[*]'", "p.doc, '$.o'") +
		" COLUMNS (n FOR ORDINALITY, name VARCHAR(12)" + few("", "", " COLLATE utf8mb4_bin", " COLLATE utf8mb4_0900_as_cs", " COLLATE utf8mb4_0900_bin", " COLLATE utf8mb4_general_ci") + " PATH '$.name', score DOUBLE PATH '$.score', k " + few("BIGINT", "INT", "BIGINT UNSIGNED") + " PATH '$.k', d DECIMAL(5,1) PATH '$.k', NESTED PATH '$.in[*]' COLUMNS (v VARCHAR(10) PATH '$.v', w DOUBLE PATH '$.w'))) jt WHERE " + where + ")"
}

// randomPathCond is a condition on a part of a document.
func randomPathCond(r *rand.Rand, depth int) string {
	few := func(list ...string) string { return list[r.IntN(len(list))] }
	doc := func() string { return "'" + strings.ReplaceAll(jsonTexts[r.IntN(len(jsonTexts))], `\`, `\\`) + "'" }
	scalar := func() string {
		return few("'a'", "'A'", "'a '", "'é'", "'表格'", "''", "'5'", "'null'", "'true'", "5", "5.0", "4.5", "5.5", "0", "-1", "1e3", "0.1", "1.005", "1.01", "99.995", "9007199254740993", "9223372036854775807", "18446744073709551615", "1e19", "-1e19", "TRUE", "FALSE", "NULL", "CAST('null' AS JSON)", "CAST('[5]' AS JSON)", "CAST(5.5 AS DECIMAL(5,2))", "CAST('{}' AS JSON)")
	}
	if depth > 0 {
		switch r.IntN(6) {
		case 0:
			return "(" + randomPathCond(r, depth-1) + " OR " + randomPathCond(r, depth-1) + ")"
		case 1:
			return "(" + randomPathCond(r, depth-1) + " AND " + randomPathCond(r, depth-1) + ")"
		case 2:
			return "NOT (" + randomPathCond(r, depth-1) + ")"
		}
	}
	if r.IntN(4) == 0 {
		return randomElementCond(r)
	}
	path := "doc->'$." + few("t", "n", "k", "i", "u", "f", "d", "b") + "'"
	switch r.IntN(9) {
	case 0:
		return scalar() + " MEMBER OF (" + path + ")"
	case 1:
		return "JSON_CONTAINS(" + path + ", " + few(doc(), "'[\"a\", \"b\"]'", "'[5, 1]'", "'[1, \"a\"]'", "'[]'", "'[[5]]'") + ")"
	case 2:
		return "JSON_OVERLAPS(" + path + ", " + few(doc(), "'[\"a\", \"b\"]'", "'[5, 1, \"é\"]'", "'[null, 4.5]'", "'[]'", "'[[5], {}]'") + ")"
	case 3:
		return path + " " + few("=", "<", "<=", ">", ">=", "<>", "<=>") + " " + scalar()
	case 4:
		return scalar() + " " + few("=", "<", "<=", ">", ">=") + " " + path
	case 5:
		return strings.Replace(path, "->", "->>", 1) + " " + few("=", "<", "<=", ">", ">=", "<>") + " " + few("'a'", "'A'", "'a '", "'é'", "'表格'", "''", "'5'", "'null'", "'['", "5", "4.5")
	case 6:
		return path + " IN (" + scalar() + ", " + scalar() + ")"
	case 7:
		return few(path, strings.Replace(path, "->", "->>", 1)) + few(" IS NULL", " IS NOT NULL", " LIKE 'a%'", " LIKE 'a'", " LIKE '%b'", " BETWEEN 'a' AND 'b'", " BETWEEN 0 AND 5", " IN ('a', 'b', '5')")
	}
	switch r.IntN(6) {
	case 0:
		v := few("JSON_VALUE(doc, '$.a' RETURNING DATETIME)", "JSON_VALUE(doc, '$.a' RETURNING DATE)", "PARSE_DATETIME(doc->>'$.a', 'yyyy-MM-dd', 'epoch_second')")
		return v + few(" = ", " < ", " <= ", " > ", " <> ") + few("'2024-01-05'", "'2024-01-05 10:00:00'", "CAST('2024-01-05' AS DATE)", "TIMESTAMP('2024-01-05 02:00:00')")
	case 1:
		return few("TEXT_MATCH(doc->>'$.t', 'a')", "TEXT_MATCH(doc->>'$.t', 'text array', 'and') > 0", "NOT TEXT_MATCH(doc->>'$.t', 'a longer')", "TEXT_MATCH_PHRASE(doc->>'$.t', 'a longer text')", "ST_Distance_Sphere(GEO_POINT(doc->>'$.g'), POINT(11.5, 48.1)) < 1000", "ST_Distance_Sphere(GEO_POINT(doc->>'$.g'), POINT(11.5, 48.1)) > 1000")
	case 2, 3:
		return randomPathValue(r) + few(" = ", " < ", " <= ", " > ", " >= ", " <> ", " <=> ") + scalar()
	}
	return few("JSON_EXTRACT(doc, '$.k')", "JSON_UNQUOTE(JSON_EXTRACT(doc, '$.k'))", "JSON_VALUE(doc, '$.i' RETURNING SIGNED)", "CAST(doc->'$.i' AS SIGNED)", "CAST(doc->'$.u' AS UNSIGNED)", "CAST(doc->'$.f' AS DOUBLE)") + " " + few("=", "<", ">=") + " " + scalar()
}

// randomPathValue is an expression whose values a field has.
func randomPathValue(r *rand.Rand) string {
	list := []string{"JSON_VALUE(doc, '$.i' RETURNING SIGNED)", "JSON_VALUE(doc, '$.u' RETURNING UNSIGNED)", "JSON_VALUE(doc, '$.d' RETURNING DECIMAL(5,2))", "JSON_VALUE(doc, '$.f' RETURNING DOUBLE)", "doc->>'$.k'", "JSON_VALUE(doc, '$.a' RETURNING DATETIME)", "JSON_VALUE(doc, '$.a' RETURNING DATE)", "PARSE_DATETIME(doc->>'$.a', 'yyyy-MM-dd', 'epoch_second')"}
	return list[r.IntN(len(list))]
}

// randomPathQuestion is a question with %s in the place of the table, whose
// answers have an order where ordered says so.
func randomPathQuestion(r *rand.Rand, cond string) (q string, ordered bool) {
	v := randomPathValue(r)
	// Which of equal texts is shown, and the last digits of sums of doubles, are
	// open.
	blurred := strings.Contains(v, "->>") || strings.Contains(v, "DOUBLE")
	switch r.IntN(11) {
	case 9, 10: // the elements themselves
		table, where, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(randomElementCond(r), "EXISTS (SELECT 1 FROM "), ")"), " jt WHERE ")
		q := []string{"%%s, %s jt WHERE %s", "%%s JOIN %s jt ON %s", "%%s LEFT JOIN %s jt ON %s", "%%s JOIN %s jt ON jt.score < 5 WHERE p.x < 5 AND (%s)", "%%s LEFT JOIN %s jt ON TRUE WHERE %s"}[r.IntN(5)]
		return "SELECT p.id, jt.n, HEX(jt.name), jt.k FROM " + fmt.Sprintf(q, table, where), false
	case 0, 1:
		return "SELECT id FROM %s WHERE " + cond, false
	case 2:
		return "SELECT x FROM %s WHERE " + cond, false
	case 3, 4:
		return "SELECT COUNT(*) FROM %s WHERE " + cond, false
	case 5:
		if blurred {
			return "SELECT COUNT(" + v + "), COUNT(DISTINCT " + v + ") FROM %s WHERE " + cond, false
		}
		return "SELECT COUNT(*), SUM(" + v + "), MIN(" + v + "), MAX(" + v + "), COUNT(DISTINCT " + v + "), AVG(" + v + ") FROM %s WHERE " + cond, false
	case 6:
		if blurred {
			return "SELECT COUNT(*), MAX(x) FROM %s WHERE " + cond + " GROUP BY " + v, false
		}
		return "SELECT " + v + " v, COUNT(*), MAX(x) FROM %s WHERE " + cond + " GROUP BY v", false
	case 7:
		return "SELECT " + v + ", x FROM %s WHERE " + cond, false
	}
	desc := []string{"", " DESC"}[r.IntN(2)]
	if r.IntN(2) == 0 {
		v = []string{"doc->'$.i'", "doc->'$.u'", "doc->'$.d'", "doc->'$.f'", "doc->'$.k'"}[r.IntN(5)]
	}
	return "SELECT id, x FROM %s WHERE " + cond + fmt.Sprintf(" ORDER BY %s%s, id LIMIT %d OFFSET %d", v, desc, r.IntN(12), r.IntN(4)*r.IntN(20)), true
}

// TestSearchPaths compares random questions about random documents by the index
// and by a scan, while rows are changed.
func TestSearchPaths(t *testing.T) {
	testflag.Normal(t)
	_, dsn := startServer(t)
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	ctx := context.Background()
	conn, err := db.Conn(ctx)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	exec := func(q string, args ...any) {
		t.Helper()
		if _, err := conn.ExecContext(ctx, q, args...); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	exec("SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci")
	exec("SET time_zone = '+03:00'")
	exec(`CREATE TABLE p (id INT PRIMARY KEY, doc JSON, x INT, SEARCH INDEX s ((CAST(doc->'$.t' AS CHAR(10) ARRAY)), (CAST(doc->'$.n' AS SIGNED ARRAY)), (CAST(doc->'$.d' AS DECIMAL(5,2) ARRAY)),
		doc->'$.a' DATETIME, doc->'$.a' DATE, doc->'$.a' DATE FORMAT ('yyyy-MM-dd', 'epoch_second'), doc->'$.g' GEO_POINT, doc->'$.t' TEXT, (CAST(doc->'$.u' AS UNSIGNED ARRAY)), doc->'$.k' KEYWORD, doc->'$.i' BIGINT, doc->'$.u' BIGINT UNSIGNED, doc->'$.f' DOUBLE, doc->'$.d' DECIMAL(5,2), doc->'$.b' BOOL, x,
		(CAST(doc->'$.o[*].name' AS CHAR(12) ARRAY)), (CAST(doc->'$.o[*].score' AS DOUBLE ARRAY)), (CAST(doc->'$.o[*].k' AS DECIMAL(25,5) ARRAY)), (CAST(doc->'$.o[*].in[*].v' AS CHAR(12) ARRAY)), (CAST(doc->'$.o[*].in[*].w' AS DOUBLE ARRAY))))`)
	r := rand.New(rand.NewPCG(7, 11))
	for i := range 300 {
		exec("INSERT INTO p VALUES (?, ?, ?)", i, randomJSON(r), i%7)
	}
	exec("INSERT INTO p VALUES (1000, NULL, 1), (1001, '[]', 2), (1002, '5', 3)")
	find := func(q string, ordered bool) (ids []string, failed error) {
		rows, err := conn.QueryContext(ctx, q)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		all, err := allStrings(rows)
		if err != nil {
			return nil, err
		}
		for _, vals := range all {
			row := ""
			for i := range vals {
				row += fmt.Sprintf("%t %s|", vals[i].Valid, vals[i].String)
			}
			ids = append(ids, row)
		}
		if !ordered {
			slices.Sort(ids)
		}
		return ids, rows.Err()
	}
	rounds := testflag.Rounds(40, 150, 2000)
	asked, alone := 0, 0
	for i := range rounds {
		switch i % 40 {
		case 10:
			exec("BEGIN")
			fallthrough
		case 0, 12, 15, 20:
			exec("REPLACE INTO p VALUES (?, ?, ?)", r.IntN(300), randomJSON(r), i%7)
			exec("DELETE FROM p WHERE id = ?", r.IntN(300))
		case 25:
			exec([]string{"COMMIT", "ROLLBACK"}[r.IntN(2)])
		}
		cond := randomPathCond(r, i%3)
		q, ordered := randomPathQuestion(r, cond)
		of := func(table string) string { return strings.Replace(q, "%s", table, 1) }
		want, err1 := find(of("p USE INDEX ()"), ordered)
		got, err2 := find(of("p FORCE INDEX (s)"), ordered)
		if err1 != nil || err2 != nil {
			if fmt.Sprint(err1) != fmt.Sprint(err2) {
				t.Fatalf("%s: scan %v, index %v", q, err1, err2)
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: the index finds %v, the scan %v", q, got, want)
		}
		plan, err := find("EXPLAIN "+of("p FORCE INDEX (s)"), true)
		if err == nil && strings.Contains(fmt.Sprint(plan), "Using index") {
			alone++
		}
		if err == nil && strings.Contains(fmt.Sprint(plan), "search:") && !strings.Contains(fmt.Sprint(plan), "search: all") {
			asked++
		}
	}
	if asked < rounds/4 || alone < rounds/10 {
		t.Errorf("of %d questions, only %d were asked of the index, %d of the index alone", rounds, asked, alone)
	}
}
