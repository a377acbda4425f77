package session

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/sqlots/sqlots/value"
)

// TestOutFile: what INTO OUTFILE writes LOAD DATA reads, and only new files
// within secure_file_priv are written.
func TestOutFile(t *testing.T) {
	s := testSession(t)
	dir := t.TempDir()
	s.mustQuery(t, "CREATE DATABASE d", &sink{})
	s.mustQuery(t, "CREATE TABLE d.t (id INT PRIMARY KEY, s VARCHAR(20), n DECIMAL(5,2), b VARBINARY(10))", &sink{})
	s.mustQuery(t, `INSERT INTO d.t VALUES (1,'tab\there',1.5,'a\0b'),(2,'line\nbreak, "q" \\',NULL,'x"y'),(3,NULL,0,''),(4,'ünï',-2,NULL)`, &sink{})
	if got := s.errorOf("SELECT * FROM d.t INTO OUTFILE '" + filepath.Join(dir, "none") + "'"); got != 1290 {
		t.Errorf("without secure_file_priv: %d", got)
	}
	s.Engine.Globals.Set("secure_file_priv", value.String(dir))
	for i, format := range []string{"", `FIELDS TERMINATED BY ',' OPTIONALLY ENCLOSED BY '"' LINES TERMINATED BY '\r\n'`, `COLUMNS TERMINATED BY '||' ENCLOSED BY '"' ESCAPED BY '#' LINES STARTING BY '>>'`} {
		path := filepath.Join(dir, string(rune('a'+i)))
		s.mustQuery(t, "SELECT * INTO OUTFILE '"+path+"' "+format+" FROM d.t WHERE id > 0", &sink{})
		s.mustQuery(t, "CREATE TABLE d.back LIKE d.t", &sink{})
		s.mustQuery(t, "LOAD DATA INFILE '"+path+"' INTO TABLE d.back "+format, &sink{})
		same := s.rowsOf(t, "SELECT COUNT(*) FROM d.t JOIN d.back b USING (id) WHERE t.s <=> b.s AND t.n <=> b.n AND t.b <=> b.b")
		if same != "4" {
			t.Errorf("%q: %s rows came back", format, same)
		}
		s.mustQuery(t, "DROP TABLE d.back", &sink{})
		if got := s.errorOf("SELECT 1 INTO OUTFILE '" + path + "'"); got != 1086 {
			t.Errorf("over an existing file: %d", got)
		}
	}
	contents := func(name string) string {
		b, err := os.ReadFile(filepath.Join(dir, name))
		if err != nil {
			return err.Error()
		}
		return string(b)
	}
	s.mustQuery(t, "SELECT s FROM d.t WHERE id = 4 INTO OUTFILE '"+filepath.Join(dir, "latin")+"' CHARACTER SET latin1", &sink{})
	if got := contents("latin"); got != "\xfcn\xef\n" {
		t.Errorf("latin1: %q", got)
	}
	s.mustQuery(t, "SELECT b, id FROM d.t WHERE id = 1 INTO DUMPFILE '"+filepath.Join(dir, "dump")+"'", &sink{})
	if got := contents("dump"); got != "a\x00b1" {
		t.Errorf("dump: %q", got)
	}
	for format, want := range map[string]int{
		"FIELDS ENCLOSED BY 'ab'": 1083, "FIELDS ESCAPED BY 'ab'": 1083, "FIELDS ENCLOSED BY 'ab' ESCAPED BY 'cd'": 1083,
		"FIELDS OPTIONALLY ENCLOSED BY '--'": 1083, "CHARACTER SET none": 1115, "FIELDS TERMINATED BY '' ENCLOSED BY ''": 1235,
	} {
		path := filepath.Join(dir, "refused")
		if got := s.errorOf("SELECT 1 INTO OUTFILE '" + path + "' " + format); got != want {
			t.Errorf("%s: %d, want %d", format, got, want)
		}
		if got := s.errorOf("LOAD DATA LOCAL INFILE 'x' INTO TABLE d.t " + format); got != want {
			t.Errorf("LOAD DATA %s: %d, want %d", format, got, want)
		}
		if _, err := os.Stat(path); err == nil {
			t.Errorf("%s left a file", format)
		}
	}
	for _, sql := range []string{"SELECT s FROM d.t INTO DUMPFILE", "SELECT 1 FROM d.t WHERE (SELECT id FROM d.t) INTO OUTFILE"} {
		if got := s.errorOf(sql + " '" + filepath.Join(dir, "failed") + "'"); got != 1172 && got != 1242 {
			t.Errorf("%s: %d", sql, got)
		}
		if _, err := os.Stat(filepath.Join(dir, "failed")); err == nil {
			t.Errorf("%s left a file", sql)
		}
	}
}
