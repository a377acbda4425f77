package session

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/loaddata"
	"github.com/sqlots/sqlots/value"
)

// TestLoadDataRoads: a file with duplicate keys gives the same by sorted runs,
// which give up, as row by row.
func TestLoadDataRoads(t *testing.T) {
	testflag.Normal(t)
	var file strings.Builder
	for i := 0; file.Len() < 2*loaddata.BulkFrom; i++ {
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
			s.mustCheck(t, "d.t")
		})
	}
}

// TestLoadDataTargets: fields go to columns and variables, SET assigns from
// left to right (MySQL manual, LOAD DATA Statement, Column List Specification).
// A long file takes the path of sorted runs.
func TestLoadDataTargets(t *testing.T) {
	s := testSession(t)
	s.mustQuery(t, "CREATE DATABASE d", &sink{})
	s.mustQuery(t, "USE d", &sink{})
	s.mustQuery(t, "CREATE TABLE t (id INT PRIMARY KEY, a VARCHAR(20), b INT, c INT DEFAULT 7, d VARCHAR(20) NOT NULL, KEY (b))", &sink{})
	for _, c := range []struct{ clause, file, want string }{
		{"FIELDS TERMINATED BY ',' (@x, a, @y) SET id = @x*10, b = @y+1, d = CONCAT(a, c)", "1,a,5\n2,b,\\N\n3,c\n4,d,7,9\n",
			"10 a 6 7 a7/20 b NULL 7 b7/30 c NULL 7 c7/40 d 8 7 d7"},
		{"FIELDS TERMINATED BY ';' OPTIONALLY ENCLOSED BY '\"' LINES STARTING BY 'xx' IGNORE 1 LINES (id, @a, @b) SET a = @a, d = IFNULL(@b, 'none'), c = DEFAULT, b = id + 1",
			"head\nxx1;\"q;1\";\\N\nyyxx2;\"z\"\"w\";5\njunk\nxx3;NULL;\"NULL\"\n", "1 q;1 2 7 none/2 z\"w 3 7 5/3 NULL 4 7 NULL"},
		{"CHARACTER SET latin1 FIELDS TERMINATED BY ',' (a, d) SET id = 5", "caf\xe9,\xfc\n", "5 café NULL 7 ü"},
		{"CHARACTER SET sjis FIELDS TERMINATED BY ',' (a, d) SET id = 5", "\x83\\x,y\n", "5 ソx NULL 7 y"},
		{"FIELDS TERMINATED BY ',' (id, d) SET b = (SELECT 40 + 2), c = b + 1, b = c", "1,x\n", "1 NULL 43 43 x"},
		{"FIELDS TERMINATED BY ',' LINES TERMINATED BY '' (id, d)", "1,x,2,y", "1 NULL NULL 7 x/2 NULL NULL 7 y"},
		// variables of the session, one of which takes fields, and one without a value
		{"FIELDS TERMINATED BY ',' (id, @D) SET a = @s, b = @n + 1, c = @none, d = CONCAT(@d, @s)", "1,x\n2,y\n", "1 sess 42 NULL xsess/2 sess 42 NULL ysess"},
		{"FIELDS TERMINATED BY ',' SET a = @s, d = @d", "1,x,5,6,z\n", "1 sess 5 6 before"},
	} {
		s.mustQuery(t, "SET @s = 'sess', @n = 41, @d = 'before'", &sink{})
		s.mustQuery(t, "TRUNCATE t", &sink{})
		s.mustQuery(t, "LOAD DATA LOCAL INFILE 'x' INTO TABLE t "+c.clause, &sink{file: []byte(c.file)})
		if got := s.rowsOf(t, "SELECT * FROM t"); got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.clause, got, c.want)
		}
	}
	var long strings.Builder
	for i := 0; long.Len() < 2*loaddata.BulkFrom; i++ {
		fmt.Fprintf(&long, "%d,%s\n", i, strings.Repeat("f", 90))
	}
	lines := strings.Count(long.String(), "\n")
	s.mustQuery(t, "TRUNCATE t", &sink{})
	s.mustQuery(t, "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ',' (@n, @f) SET id = @n + 1, b = id % 10, a = @s, d = LENGTH(@f)", &sink{file: []byte(long.String())})
	if got, want := s.rowsOf(t, "SELECT COUNT(*), MIN(id), MAX(id), MAX(b), MIN(c), MIN(d), MIN(a) FROM t"), fmt.Sprintf("%d 1 %d 9 7 90 sess", lines, lines); got != want {
		t.Errorf("long file: got %s, want %s", got, want)
	}
}

// TestLoadDataAttributes: in a table with dynamic columns, fields whose names are
// no columns, the first included, become attributes.
func TestLoadDataAttributes(t *testing.T) {
	s := testSession(t)
	s.mustQuery(t, "CREATE DATABASE d", &sink{})
	s.mustQuery(t, "USE d", &sink{})
	s.mustQuery(t, `CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20)) SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true}'`, &sink{})
	for fields, want := range map[string]string{
		"(id, name, color)":    "1 a red/2 b blue",
		"(id, color, name)":    "1 red a/2 blue b",
		"(ID, @skipped, Name)": "1 red NULL/2 blue NULL",
		"(id, other, @name)":   "1 NULL NULL/2 NULL NULL",
	} {
		s.mustQuery(t, "TRUNCATE t", &sink{})
		s.mustQuery(t, "LOAD DATA LOCAL INFILE 'x' INTO TABLE t FIELDS TERMINATED BY ',' "+fields, &sink{file: []byte("1,a,red\n2,b,blue\n")})
		if got := s.rowsOf(t, "SELECT id, name, color FROM t"); got != want {
			t.Errorf("%s: got %s, want %s", fields, got, want)
		}
	}
	for fields, want := range map[string]int{"(id, id)": 1110, "(id, color, COLOR)": 1110, "(id, name, Name)": 1110} {
		if got := s.errorOf("LOAD DATA LOCAL INFILE 'x' INTO TABLE t " + fields); got != want {
			t.Errorf("%s: %d, want %d", fields, got, want)
		}
	}
	s.mustQuery(t, "CREATE TABLE u (id INT PRIMARY KEY, n INT)", &sink{})
	if got := s.errorOf("LOAD DATA LOCAL INFILE 'x' INTO TABLE u (id, color)"); got != 1054 {
		t.Errorf("an unknown column: %d", got)
	}
}

// TestServerFiles: the server reads files within secure_file_priv alone.
func TestServerFiles(t *testing.T) {
	s := testSession(t)
	outside, dir := t.TempDir(), t.TempDir()
	write := func(path string) {
		if err := os.WriteFile(path, []byte("1\n2,9\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(filepath.Join(outside, "f"))
	write(filepath.Join(dir, "f"))
	if err := os.Symlink(filepath.Join(outside, "f"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	s.mustQuery(t, "CREATE DATABASE d", &sink{})
	s.mustQuery(t, "CREATE TABLE d.t (id INT PRIMARY KEY, b INT)", &sink{})
	load := func(path, clause string) int {
		return s.errorOf("LOAD DATA INFILE '" + path + "' " + clause + " INTO TABLE d.t FIELDS TERMINATED BY ','")
	}
	if got := load(filepath.Join(dir, "f"), ""); got != 1290 {
		t.Errorf("without secure_file_priv: %d", got)
	}
	s.Engine.Globals.Set("secure_file_priv", value.String(dir))
	for path, want := range map[string]int{
		filepath.Join(outside, "f"): 1290, filepath.Join(dir, "link"): 1290, filepath.Join(dir, "..", filepath.Base(outside), "f"): 1290,
		"f": 1290, dir: 1290, filepath.Join(dir, "none"): 13, filepath.Join(dir, "none", "f"): 13,
		filepath.Join(dir, "f"): 1261, // strict mode: the first line is short
	} {
		if got := load(path, ""); got != want {
			t.Errorf("%s: %d, want %d", path, got, want)
		}
	}
	if got := load(filepath.Join(dir, "f"), "IGNORE"); got != 0 {
		t.Errorf("IGNORE: %d", got)
	}
	if got := s.rowsOf(t, "SELECT * FROM d.t"); got != "1 0/2 9" {
		t.Errorf("rows: %s", got)
	}
}
