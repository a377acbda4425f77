package session

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/sql/planner/logical"
)

// TestFieldReader checks the text format of LOAD DATA (MySQL manual, LOAD DATA
// Statement, Field and Line Handling).
func TestFieldReader(t *testing.T) {
	tsv := logical.LoadData{FieldsTerminated: "\t", FieldsEscaped: `\`, LinesTerminated: "\n"}
	csv := logical.LoadData{FieldsTerminated: ",", FieldsEnclosed: `"`, OptionallyEnclosed: true, FieldsEscaped: `\`, LinesTerminated: "\n"}
	crlf := csv
	crlf.LinesTerminated = "\r\n"
	prefix := csv
	prefix.LinesStarting = "xxx"
	noEscape := csv
	noEscape.FieldsEscaped = ""
	long := logical.LoadData{FieldsTerminated: "||", FieldsEscaped: `\`, LinesTerminated: "--\n"}
	for _, c := range []struct {
		name   string
		format logical.LoadData
		in     string
		want   string // fields joined by |, lines by /; NULL is <null>
	}{
		{"plain", tsv, "a\tb\nc\td\n", "a|b/c|d"},
		{"no newline at the end", tsv, "a\tb\nc\td", "a|b/c|d"},
		{"empty fields", tsv, "\t\n\n", "|/"},
		{"null", tsv, "\\N\tN\t\\NN\n", "<null>|N|NN"},
		{"escapes", tsv, "a\\tb\\\\c\\n\\0\\Z\\x\n", "a\tb\\c\n\x00\x1ax"},
		{"escaped separator", tsv, "a\\\tb\tc\\\nd\n", "a\tb|c\nd"},
		{"quoted", csv, `"a,b","c""d",e` + "\n", `a,b|c"d|e`},
		{"quoted with newline", csv, "\"a\nb\",c\n", "a\nb|c"},
		{"unquoted NULL word", csv, "NULL,\"NULL\"\n", "<null>|NULL"},
		{"quote inside", csv, `a"b,"c"d",e` + "\n", `a"b|c"d|e`},
		{"crlf", crlf, "a,b\r\n\"c\",d\r\n", "a,b/c|d"},
		{"starting by", prefix, "xxxa,b\njunk\nyyxxxc,d\n", "a|b/c|d"},
		{"no escape", noEscape, `a\,b` + "\n", `a\|b`},
		{"long separators", long, "a||b--\nc|d||e--\n", "a|b/c|d|e"},
		{"last field closed by the end", csv, `"a","b"`, "a|b"},
		{"nothing", csv, "", ""},
	} {
		if c.name == "crlf" {
			c.want = "a|b/c|d"
		}
		r := newFieldReader(strings.NewReader(c.in), &c.format)
		var lines []string
		for {
			n, err := r.next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatalf("%s: %v", c.name, err)
			}
			fields := make([]string, n)
			for i := range fields {
				fields[i] = "<null>"
				if f := r.field(i); f != nil {
					fields[i] = string(f)
				}
			}
			lines = append(lines, strings.Join(fields, "|"))
		}
		if got := strings.Join(lines, "/"); got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// TestLoadDataRoads: a file with duplicate keys gives the same by sorted runs,
// which give up, as row by row.
func TestLoadDataRoads(t *testing.T) {
	var file strings.Builder
	for i := 0; file.Len() < 2*bulkFrom; i++ {
		fmt.Fprintf(&file, "%d,%d,name %d of some length to fill the file\n", i, i%1000, i)
	}
	clean := file.String()
	lines := strings.Count(clean, "\n")
	for name, c := range map[string]struct {
		text string
		rows int
	}{
		"clean":      {clean, lines},
		"duplicates": {clean + "5,1,again\n6,1,again\n", lines},
		"short line": {clean + fmt.Sprintf("%d\n", lines), lines + 1},
	} {
		t.Run(name, func(t *testing.T) {
			s := testSession(t)
			s.mustQuery(t, "CREATE DATABASE d", &sink{})
			s.mustQuery(t, "USE d", &sink{})
			s.mustQuery(t, "CREATE TABLE t (id INT PRIMARY KEY, n INT, name VARCHAR(100), KEY (n))", &sink{})
			s.mustQuery(t, "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ','", &sink{file: []byte(c.text)})
			for _, q := range []string{"SELECT id FROM t", "SELECT id FROM t FORCE INDEX (n) WHERE n >= 0 OR n IS NULL"} {
				w := &sink{}
				s.mustQuery(t, q, w)
				if w.rows != c.rows {
					t.Errorf("%s: %d rows, want %d", q, w.rows, c.rows)
				}
			}
			tab, _ := s.engine.catalog.Snapshot().Table("d", "t")
			lines, err := s.checkTable(t.Context(), tab)
			if err != nil || lines[len(lines)-1][1] != "OK" {
				t.Errorf("check: %v %v", lines, err)
			}
		})
	}
}
