package main

import (
	"reflect"
	"strings"
	"testing"
)

func TestSplitter(t *testing.T) {
	tests := []struct {
		in   string
		want []statement
	}{
		{"SELECT 1;", []statement{{"SELECT 1", false, 1}}},
		{"SELECT 1; SELECT 2\\G SELECT 3\\g", []statement{{"SELECT 1", false, 1}, {"SELECT 2", true, 1}, {"SELECT 3", false, 1}}},
		{"\n\nSELECT\n1;\nSELECT 2", []statement{{"SELECT\n1", false, 3}, {"SELECT 2", false, 5}}},
		{"SELECT ';', \"a;b\", `c;d`;", []statement{{"SELECT ';', \"a;b\", `c;d`", false, 1}}},
		{`SELECT 'it''s; \'; \\';`, []statement{{`SELECT 'it''s; \'; \\'`, false, 1}}},
		{"-- no; statement\nSELECT 1; # neither;\n", []statement{{"-- no; statement\nSELECT 1", false, 2}}},
		{"/* a; b */;", nil},
		{"/* 'a */ SELECT 1;", []statement{{"/* 'a */ SELECT 1", false, 1}}},
		{"/*!40101 SET NAMES utf8mb4 */;", []statement{{"/*!40101 SET NAMES utf8mb4 */", false, 1}}},
		{"SELECT 1--1;", []statement{{"SELECT 1--1", false, 1}}},
		{"SELECT 'a\n;\nb';", []statement{{"SELECT 'a\n;\nb'", false, 1}}},
		{";;;", nil},
		{"SELECT 1 \\c SELECT 2;", []statement{{"SELECT 2", false, 1}}},
		{"--", nil},
	}
	for _, test := range tests {
		s := &splitter{}
		var got []statement
		for line := range strings.SplitAfterSeq(test.in, "\n") {
			got = append(got, s.add(line)...)
		}
		got = append(got, s.rest()...)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%q: got %+v, want %+v", test.in, got, test.want)
		}
	}
}

func TestPromptFollowsWhatIsOpen(t *testing.T) {
	for in, want := range map[string]string{
		"": "sqlots> ", "SELECT 1": "     -> ", "SELECT 'a": "     '> ", "SELECT `a": "     `> ", "/* a": "    /*> ", "SELECT 1;": "sqlots> ",
	} {
		s := &splitter{}
		s.add(in + "\n")
		if got := prompt(s); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestReturnsRows(t *testing.T) {
	for query, want := range map[string]bool{
		"SELECT 1": true, "  select 1": true, "ADMIN CHECK TABLE t": true, "DELETE FROM t RETURNING a": true, "(SELECT 1) UNION (SELECT 2)": true, "/* x */ SHOW TABLES": true, "-- c\nEXPLAIN SELECT 1": true,
		"# c\nINSERT INTO t VALUES (1)": false, "update t set a=1": false, "WITH c AS (SELECT 1) SELECT * FROM c": true, "SET @a=1": false,
		"/*!40101 SET NAMES utf8 */": true, // not known: expects rows and gets none
	} {
		if got := returnsRows(query); got != want {
			t.Errorf("%q: got %v", query, got)
		}
	}
}

func TestLocalFile(t *testing.T) {
	for query, want := range map[string]string{
		"LOAD DATA LOCAL INFILE '/a/b.csv' INTO TABLE t":                 "/a/b.csv",
		"load data  concurrent local infile \"x y\" into table t":        "x y",
		`LOAD DATA LOCAL INFILE 'it''s \'quoted\' \\ .csv' INTO TABLE t`: `it's 'quoted' \ .csv`,
		"LOAD DATA INFILE '/a/b.csv' INTO TABLE t":                       "",
		"SELECT 'LOAD DATA LOCAL INFILE'":                                "",
	} {
		got, ok := localFile(query)
		if got != want || ok != (want != "") {
			t.Errorf("%q: got %q, %v", query, got, ok)
		}
	}
}
