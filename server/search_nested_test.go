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

// randomObjects is an array of objects as a field of nested objects takes it, for
// the most part.
func randomObjects(r *rand.Rand) string {
	few := func(list ...string) string { return list[r.IntN(len(list))] }
	odd := r.IntN(6) == 0
	one := func(list ...string) string {
		if odd && r.IntN(6) == 0 {
			return jsonTexts[r.IntN(len(jsonTexts))]
		}
		if r.IntN(12) == 0 {
			return "null"
		}
		return few(list...)
	}
	names := []string{`"a"`, `"b"`, `"A"`, `"a "`, `"ab"`, `"é"`, `"e\u0301"`, `"表格"`, `""`, `"5"`, `"a longer text"`}
	scores := []string{`0`, `1`, `-1`, `5`, `5.0`, `4.5`, `-0.0`, `0.1`, `1e3`, `9007199254740993`, `18446744073709551615`, `-1e19`, `1e300`, `0.30000000000000004`}
	object := func(in bool) string {
		var members []string
		add := func(name, v string) {
			if r.IntN(6) > 0 {
				members = append(members, `"`+name+`": `+v)
			}
		}
		add("name", one(names...))
		add("score", one(scores...))
		add("k", one("0", "1", "-1", "5", "9223372036854775807", "-9223372036854775808"))
		add("u", one("0", "1", "5", "18446744073709551615"))
		add("d", one("0", "1", "1.5", "-1.25", "1.005", "99.99", "5"))
		add("b", one("true", "false"))
		if in {
			var list []string
			for range r.IntN(3) {
				list = append(list, `{"v": `+one(names...)+`, "w": `+one(scores...)+`}`)
			}
			add("in", one("["+strings.Join(list, ", ")+"]"))
		}
		add("other", few(jsonTexts...))
		return "{" + strings.Join(members, ", ") + "}"
	}
	var list []string
	for range r.IntN(4) {
		list = append(list, one(object(true)))
	}
	if odd && r.IntN(4) == 0 {
		return object(true)
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// randomMemberCond is a condition on the members of one object.
func randomMemberCond(r *rand.Rand, p string, depth int) string {
	few := func(list ...string) string { return list[r.IntN(len(list))] }
	col := func(name string) string { return "`" + p + "." + name + "`" }
	text := func() string { return few("'a'", "'A'", "'a '", "'é'", "'表格'", "''", "'5'", "'ab'") }
	num := func() string {
		return few("5", "4.5", "0", "-1", "1e3", "0.1", "1", "18446744073709551615", "9223372036854775807", "1.5")
	}
	if depth > 0 {
		switch r.IntN(5) {
		case 0:
			return "(" + randomMemberCond(r, p, depth-1) + " OR " + randomMemberCond(r, p, depth-1) + ")"
		case 1, 2:
			return randomMemberCond(r, p, depth-1) + " AND " + randomMemberCond(r, p, depth-1)
		case 3:
			return few("NOT (", "(", "(") + randomMemberCond(r, p, depth-1) + few(")", ")", ") IS TRUE", ") IS NOT TRUE")
		}
	}
	if !strings.HasSuffix(p, ".in") && r.IntN(5) == 0 {
		return few("", "NOT ") + few("NESTED_QUERY(", "(") + randomMemberCond(r, p+".in", depth-1) + ")"
	}
	name, score := "name", "score"
	if strings.HasSuffix(p, ".in") {
		name, score = "v", "w"
	}
	switch r.IntN(10) {
	case 0, 1:
		return col(name) + " " + few("=", "=", "<>", "<", ">=", "<=>") + " " + text()
	case 2, 3:
		return col(score) + " " + few("=", "<", "<=", ">", ">=", "<>") + " " + num()
	case 4:
		return few(col(name)+" IN ("+text()+", "+text()+")", col(score)+" IN ("+num()+", "+num()+")", col(name)+" NOT IN ("+text()+", "+text()+")")
	case 5:
		return few(col(name), col(score)) + few(" IS NULL", " IS NOT NULL")
	case 6:
		return few(col(name)+" LIKE 'a%'", col(name)+" LIKE '%b'", col(score)+" BETWEEN 0 AND 5", col(name)+" BETWEEN 'a' AND 'b'", "LENGTH("+col(name)+") > 1", num()+" < "+col(score), col(name)+" REGEXP 'a'", col(name)+" COLLATE utf8mb4_0900_ai_ci = 'A'")
	}
	if name == "v" {
		return col("w") + " > " + few("x", "t.x", "0")
	}
	switch r.IntN(6) {
	case 0:
		return few(col("k"), col("u"), col("d")) + " " + few("=", "<", "<=", ">", ">=", "<>") + " " + num()
	case 1:
		return col("b") + few(" = 1", " = TRUE", " IS TRUE", " = 0", " IS NULL")
	case 2:
		return col("k") + few(" = ", " < ") + few(col("u"), col("d"), col(score))
	case 3:
		return col(score) + few(" > ", " = ") + few("x", "t.x", "x + 1")
	}
	return col("d") + " " + few("=", "<", ">=") + " " + few("1.5", "1.01", "1", "'1.5'", "5")
}

// randomObjectsCond is a condition on arrays of objects.
func randomObjectsCond(r *rand.Rand, depth int) string {
	few := func(list ...string) string { return list[r.IntN(len(list))] }
	if depth > 0 {
		switch r.IntN(6) {
		case 0:
			return "(" + randomObjectsCond(r, depth-1) + " OR " + randomObjectsCond(r, depth-1) + ")"
		case 1:
			return "(" + randomObjectsCond(r, depth-1) + " AND " + randomObjectsCond(r, depth-1) + ")"
		case 2:
			return "NOT (" + randomObjectsCond(r, depth-1) + ")"
		}
	}
	p := few("tags", "tags", "tags", "doc.o", "txt")
	switch r.IntN(8) {
	case 0:
		return "x = " + few("1", "2", "3")
	case 1, 2:
		return randomMemberCond(r, p, 0)
	case 3:
		cond := randomMemberCond(r, "jt", 1)
		for _, c := range []string{"name", "score", "k", "u", "d", "b"} {
			cond = strings.ReplaceAll(cond, "`jt."+c+"`", "jt."+c)
		}
		if strings.Contains(cond, "`") {
			break
		}
		return few("", "NOT ") + "EXISTS (SELECT 1 FROM JSON_TABLE(" + few("tags, '$[*]'", "doc, '$.o[*]'", "doc->'$.o', '$[*]'", "txt, '$[*]'") + " COLUMNS (name " +
			few("VARCHAR(2)", "VARCHAR(20)", "VARCHAR(20) COLLATE utf8mb4_bin", "TEXT COLLATE utf8mb4_bin", "LONGTEXT") + " PATH '$.name', score " + few("DOUBLE", "DOUBLE", "FLOAT", "INT") + " PATH '$.score', k " +
			few("BIGINT", "INT", "BIGINT UNSIGNED") + " PATH '$.k', u " + few("BIGINT UNSIGNED", "BIGINT", "DOUBLE") + " PATH '$.u', d " + few("DECIMAL(5,2)", "DECIMAL(4,2)", "DECIMAL(6,1)") + " PATH '$.d', b " + few("TINYINT", "BOOL", "INT") + " PATH '$.b'" + few("", " NULL ON EMPTY", " DEFAULT '1' ON EMPTY") + ")) jt WHERE " + cond + ")"
	}
	return "NESTED_QUERY(" + randomMemberCond(r, p, 2) + ")"
}

// TestSearchNested compares random questions about arrays of objects by the index
// and by a scan, while rows are changed.
func TestSearchNested(t *testing.T) {
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
	members := "NESTED (name KEYWORD, score DOUBLE, k BIGINT, u BIGINT UNSIGNED, d DECIMAL(5,2), b BOOL, `in` NESTED (v KEYWORD, w DOUBLE))"
	exec("CREATE TABLE t (id INT PRIMARY KEY, tags JSON, doc JSON, txt TEXT, x INT, SEARCH INDEX s (x, tags " + members + ", doc->'$.o' " + members + ", txt " + members + "))")
	r := rand.New(rand.NewPCG(3, 5))
	row := func(id int) []any {
		list := []any{id, randomObjects(r), `{"o": ` + randomObjects(r) + `}`, randomObjects(r), r.IntN(7)}
		for i := 1; i < 4; i++ {
			if r.IntN(12) == 0 {
				list[i] = []any{nil, `[]`, `null`, `{}`}[r.IntN(4)]
			}
		}
		return list
	}
	for i := range 300 {
		exec("INSERT INTO t VALUES (?, ?, ?, ?, ?)", row(i)...)
	}
	find := func(q string) (ids []string, failed error) {
		rows, err := conn.QueryContext(ctx, q)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		all, err := allStrings(rows)
		for _, row := range all {
			ids = append(ids, row[len(row)-1].String)
		}
		slices.Sort(ids)
		return ids, err
	}
	rounds := testflag.Rounds(25, 80, 800)
	asked, failed := 0, 0
	for i := range rounds {
		switch i % 40 {
		case 10:
			exec("BEGIN")
			fallthrough
		case 0, 12, 15, 20:
			exec("REPLACE INTO t VALUES (?, ?, ?, ?, ?)", row(r.IntN(300))...)
			exec("DELETE FROM t WHERE id = ?", r.IntN(300))
		case 25:
			exec([]string{"COMMIT", "ROLLBACK"}[r.IntN(2)])
		}
		cond := randomObjectsCond(r, 2)
		what := []string{"id", "id", "x", "COUNT(*)"}[r.IntN(4)]
		want, err1 := find("SELECT " + what + " FROM t USE INDEX () WHERE " + cond)
		got, err2 := find("SELECT " + what + " FROM t FORCE INDEX (s) WHERE " + cond)
		if err1 != nil || err2 != nil {
			if failed++; fmt.Sprint(err1) != fmt.Sprint(err2) {
				t.Fatalf("%s: scan %v, index %v", cond, err1, err2)
			}
			continue
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: the index finds %v, the scan %v", cond, got, want)
		}
		if plan, err := find("EXPLAIN SELECT id FROM t FORCE INDEX (s) WHERE " + cond); err == nil && strings.Contains(fmt.Sprint(plan), "nested ") {
			asked++
		}
	}
	t.Logf("%d questions, %d asked of the index, %d failed", rounds, asked, failed)
	if asked < rounds/3 || failed > rounds/10 {
		t.Errorf("of %d questions, only %d were asked of the index, and %d failed", rounds, asked, failed)
	}
	for _, q := range []string{"COMMIT", "CHECK TABLE t", "ALTER TABLE t ALTER SEARCH INDEX s DROP (doc->'$.o' NESTED)", "CHECK TABLE t"} {
		if report, err := find(q); err != nil || q[0:2] == "CH" && !slices.Equal(report, []string{"OK"}) {
			t.Errorf("%s: %v %v", q, report, err)
		}
	}
}

// allStrings reads the rows of a result.
func allStrings(rows *sql.Rows) (out [][]sql.NullString, err error) {
	names, err := rows.Columns()
	if err != nil {
		return nil, err
	}
	for rows.Next() {
		vals := make([]sql.NullString, len(names))
		to := make([]any, len(names))
		for i := range vals {
			to[i] = &vals[i]
		}
		if err := rows.Scan(to...); err != nil {
			return nil, err
		}
		out = append(out, vals)
	}
	return out, rows.Err()
}
