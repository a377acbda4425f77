package ddl

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/infoschema"
)

// TestRecorded runs the statements of testdata/statements.sql and compares what becomes
// of tables with testdata/recorded.txt. A statement after a blank line begins with new
// tables: those of the statements before the first blank line. Look at what has changed,
// then write it with -update.
func TestRecorded(t *testing.T) {
	text, err := os.ReadFile("testdata/statements.sql")
	if err != nil {
		t.Fatal(err)
	}
	parts := strings.Split(strings.TrimSpace(string(text)), "\n\n")
	var got strings.Builder
	for i, part := range parts[1:] {
		s := newServer(t)
		for _, sql := range strings.Split(parts[0], "\n") {
			s.record(sql, true)
		}
		s.record("CREATE DATABASE e", true)
		if i%2 == 1 { // with rows, and without
			for _, t := range s.cat.Snapshot().Tables("d") {
				s.insert(t.Name, recordedRows[t.Name]...)
			}
		}
		before := s.described()
		got.WriteString("\n")
		for _, sql := range strings.Split(part, "\n") {
			got.WriteString(s.record(sql, i%4 < 2))
		}
		after := s.described()
		for _, line := range strings.Split(before, "\n") {
			if !strings.Contains("\n"+after+"\n", "\n"+line+"\n") {
				got.WriteString("  - " + line + "\n")
			}
		}
		for _, line := range strings.Split(after, "\n") {
			if !strings.Contains("\n"+before+"\n", "\n"+line+"\n") {
				got.WriteString("  + " + line + "\n")
			}
		}
		s.wantClean()
		s.r.Close()
	}
	testflag.Golden(t, "testdata/recorded.txt", got.String())
}

// recordedRows are the rows of the tables of the statements.
var recordedRows = map[string][]string{
	"t": {"1,a,5,1.50,2024-01-01 10:00:00,x,first", "2,NULL,NULL,NULL,NULL,y,NULL", "3,C,-7,20.00,2030-12-31 23:59:59,x,third"},
	"p": {"1,1", "2,11", "3,19", "4,25"},
	"k": {"1,1", "2,2"},
}

// record runs a statement, and says what it did; "rows" and a table inserts rows. checks
// is foreign_key_checks.
func (s *server) record(sql string, checks bool) string {
	s.t.Helper()
	if rows, ok := strings.CutPrefix(sql, "rows "); ok {
		name, list, _ := strings.Cut(rows, " ")
		s.insert(name, strings.Split(list, "; ")...)
		return ""
	}
	s.warns = nil
	env := s.env()
	env.ForeignKeyChecks = checks
	n, err := s.execIn(env, sql)
	var out strings.Builder
	fmt.Fprintf(&out, "%s\n", sql)
	switch {
	case err != nil:
		fmt.Fprintf(&out, "  %v\n", err)
	case n != 0:
		fmt.Fprintf(&out, "  %d rows\n", n)
	}
	for _, w := range s.warns {
		fmt.Fprintf(&out, "  %v %v\n", w.Level, w.Err)
	}
	return out.String()
}

// described is what there is: tables with the numbers that say whether they were copied,
// and their rows.
func (s *server) described() string {
	s.t.Helper()
	s.r.background.Wait()
	var out strings.Builder
	for _, d := range s.cat.Snapshot().Databases() {
		fmt.Fprintf(&out, "%s %v\n", d.Name, d.Collation)
		for _, v := range s.cat.Snapshot().Views(d.Name) {
			fmt.Fprintf(&out, "%s.%s: %s\n", d.Name, v.Name, v.Query)
		}
		for _, t := range s.cat.Snapshot().Tables(d.Name) {
			name := d.Name + "." + t.Name
			fmt.Fprintf(&out, "%s: table %d version %d next column %d index %d auto %d\n", name, t.ID, t.Version, t.NextColumnID, t.NextIndexID, t.AutoIncrement)
			for _, line := range strings.Split(infoschema.CreateTable(t), "\n") {
				fmt.Fprintf(&out, "%s: %s\n", name, strings.TrimSuffix(strings.TrimSpace(line), ","))
			}
			for _, row := range strings.Split(s.rowsOf(t), ";") {
				fmt.Fprintf(&out, "%s: row %s\n", name, row)
			}
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}
