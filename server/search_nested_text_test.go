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

// textMembers are the TEXT members of the objects of randomTexts.
var textMembers = []struct{ name, typ string }{
	{"en", "TEXT ANALYZER 'english'"},
	{"body", "TEXT"},
	{"part", "TEXT ANALYZER 'fuzzy' OPTIONS (min_chars = 2, case_sensitive = true)"},
	{"list", "TEXT ANALYZER 'split' OPTIONS (delimiter = ',')"},
}

var nestedWords = []string{"good", "food", "Good", "bad", "running", "runs", "late", "中", "国歌", "a", "the", "café", "cafe", "x,y", "y", "foods"}

func randomWords(r *rand.Rand, most int) string {
	var list []string
	for range r.IntN(most + 1) {
		list = append(list, nestedWords[r.IntN(len(nestedWords))])
	}
	return strings.Join(list, []string{" ", " ", ",", ", "}[r.IntN(4)])
}

// randomTexts is an array of objects with texts, inner ones in them.
func randomTexts(r *rand.Rand, inner bool) string {
	var list []string
	for range r.IntN(4) {
		var members []string
		for _, m := range textMembers {
			switch r.IntN(8) {
			case 0:
			case 1:
				members = append(members, `"`+m.name+`": null`)
			default:
				members = append(members, `"`+m.name+`": "`+randomWords(r, 6)+`"`)
			}
		}
		if r.IntN(60) == 0 {
			members = append(members, `"body": 5`)
		}
		members = append(members, fmt.Sprintf(`"n": %d`, r.IntN(5)))
		if inner && r.IntN(3) > 0 {
			members = append(members, `"in": `+randomTexts(r, false))
		}
		list = append(list, "{"+strings.Join(members, ", ")+"}")
	}
	return "[" + strings.Join(list, ", ") + "]"
}

// randomTextCond is a condition on the texts of one object, whose names begin with p.
func randomTextCond(r *rand.Rand, p string, depth int) string {
	few := func(list ...string) string { return list[r.IntN(len(list))] }
	if depth > 0 {
		switch r.IntN(5) {
		case 0:
			return "(" + randomTextCond(r, p, depth-1) + " OR " + randomTextCond(r, p, depth-1) + ")"
		case 1, 2:
			return randomTextCond(r, p, depth-1) + " AND " + randomTextCond(r, p, depth-1)
		case 3:
			return few("NOT (", "(") + randomTextCond(r, p, depth-1) + few(")", ")", ") IS TRUE")
		}
		if p == "c" && r.IntN(2) == 0 {
			return few("", "NOT ") + "NESTED_QUERY(" + randomTextCond(r, "c.in", depth-1) + ")"
		}
	}
	col := "`" + p + "." + textMembers[r.IntN(len(textMembers))].name + "`"
	switch r.IntN(12) {
	case 0, 1, 2:
		return "TEXT_MATCH(" + col + ", '" + randomWords(r, 3) + "'" + few("", "", ", 'and'", ", 'or', 2") + ")" + few("", "", "", " > 0", " > 0.4", " <= 0.7", " = 0", " IS NULL")
	case 3, 4:
		return "TEXT_MATCH_PHRASE(" + col + ", '" + randomWords(r, 2) + "')"
	case 5:
		return "TEXT_MATCH_FUZZY(" + col + ", '" + few("fod", "god", "lat", "runing", "food bat", "cafes") + "'" + few("", ", 1", ", 1, 'and'") + ")"
	case 6, 7:
		return "MATCH (" + col + ") AGAINST ('" + few("+good -bad", "good food", "+food +(late bad)", `"good food"`, "run*", "-bad", "~bad good", "+good >food") + "'" + few("", " IN BOOLEAN MODE", " IN BOOLEAN MODE") + ")"
	case 8:
		return col + few(" LIKE '%oo%'", " LIKE '%a%b%'", " LIKE '%国%'", " = 'good'", " IS NULL", " LIKE '%oOd%'")
	case 9:
		return "`" + p + ".body` " + few("= 'good food'", "LIKE 'g%'", "<> ''", "IN ('a', 'food')")
	}
	return "`" + p + ".n` " + few("=", "<", ">=", "<>") + fmt.Sprint(r.IntN(5))
}

// TestSearchNestedText compares random questions about the words of nested objects
// by the index and by a scan, while rows are changed.
func TestSearchNestedText(t *testing.T) {
	testflag.Normal(t)
	_, dsn := startServer(t)
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	conn, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	exec := func(q string, args ...any) {
		t.Helper()
		if _, err := conn.ExecContext(context.Background(), q, args...); err != nil {
			t.Fatalf("%s: %v", q, err)
		}
	}
	exec("SET NAMES utf8mb4 COLLATE utf8mb4_0900_ai_ci")
	var list []string
	for _, m := range textMembers {
		list = append(list, m.name+" "+m.typ)
	}
	members := strings.Join(append(list, "n BIGINT", "body KEYWORD"), ", ")
	exec("CREATE TABLE t (id INT PRIMARY KEY, c JSON, x INT, SEARCH INDEX s (x, c NESTED (" + members + ", `in` NESTED (" + members + "))))")
	r := rand.New(rand.NewPCG(7, 11))
	for i := range 300 {
		exec("INSERT INTO t VALUES (?, ?, ?)", i, randomTexts(r, true), r.IntN(7))
	}
	find := func(q string) (vals []string, failed error) {
		rows, err := conn.QueryContext(context.Background(), q)
		if err != nil {
			return nil, err
		}
		defer rows.Close()
		all, err := allStrings(rows)
		for _, row := range all {
			vals = append(vals, row[len(row)-1].String)
		}
		slices.Sort(vals)
		return vals, err
	}
	rounds := testflag.Rounds(20, 60, 500)
	asked, some := 0, 0
	for i := range rounds {
		switch i % 40 {
		case 10:
			exec("BEGIN")
			fallthrough
		case 0, 12, 15, 20:
			exec("REPLACE INTO t VALUES (?, ?, ?)", r.IntN(300), randomTexts(r, true), r.IntN(7))
			exec("DELETE FROM t WHERE id = ?", r.IntN(300))
		case 25:
			exec([]string{"COMMIT", "ROLLBACK"}[r.IntN(2)])
		}
		var cond string
		switch p := []string{"c", "c", "c.in"}[r.IntN(3)]; r.IntN(8) {
		case 0:
			cond = randomTextCond(r, p, 0) + " AND " + randomTextCond(r, p, 0)
		case 1:
			cond = "NOT NESTED_QUERY(" + randomTextCond(r, p, 2) + ") OR x = 3"
		default:
			cond = "NESTED_QUERY(" + randomTextCond(r, p, 2) + ")"
		}
		what := []string{"id", "id", "x", "COUNT(*)"}[r.IntN(4)]
		// One statement, as scores are of the files at its time.
		q := "SELECT CONCAT('scan ', v) FROM (SELECT " + what + " v FROM t USE INDEX () WHERE " + cond + ") a UNION ALL SELECT CONCAT('index ', v) FROM (SELECT " + what + " v FROM t FORCE INDEX (s) WHERE " + cond + ") b"
		both, err := find(q)
		if err != nil {
			t.Fatalf("%s: %v", cond, err)
		}
		var want, got []string
		for _, v := range both {
			if id, ok := strings.CutPrefix(v, "scan "); ok {
				want = append(want, id)
			} else {
				got = append(got, strings.TrimPrefix(v, "index "))
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: the index finds %v, the scan %v", cond, got, want)
		}
		if len(want) > 0 {
			some++
		}
		if i%10 == 0 {
			if plan, err := find("EXPLAIN SELECT id FROM t FORCE INDEX (s) WHERE " + cond); err == nil && strings.Contains(fmt.Sprint(plan), "nested ") {
				asked++
			}
		}
	}
	t.Logf("%d questions, %d find rows, %d of %d asked of the index", rounds, some, asked, rounds/10)
	if some < rounds/3 || asked < rounds/20 {
		t.Errorf("of %d questions %d find rows, and %d of %d were asked of the index", rounds, some, asked, rounds/10)
	}
	for _, q := range []string{"COMMIT", "CHECK TABLE t"} {
		if report, err := find(q); err != nil || q != "COMMIT" && !slices.Equal(report, []string{"OK"}) {
			t.Errorf("%s: %v %v", q, report, err)
		}
	}
}
