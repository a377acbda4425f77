package ddl

import (
	"fmt"
	"testing"
)

// TestColumnarFollows: a columnar index of all columns has those that are added, and
// keeps its files where no document changes.
func TestColumnarFollows(t *testing.T) {
	s := newServer(t)
	files := &fakeSearch{wait: func() error { return nil }}
	s.r.Search = files
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b TEXT, COLUMNAR INDEX c (*), COLUMNAR INDEX l (a))")
	state := func() (name, fields string) {
		d := s.table("t")
		x := d.SearchByName("c")
		for _, f := range x.Fields {
			fields += fmt.Sprint(d.Column(f.Column).Name, f.ID)
			if f.Late {
				fields += "+"
			}
			if f.Missing != nil {
				fields += f.Missing.Literal
			}
			fields += " "
		}
		if x.Next != nil {
			fields += "next"
		}
		return files.Files(d, x), fields
	}
	for _, c := range []struct {
		stmt, fields string
		kept         bool
	}{
		{"ALTER TABLE t ADD COLUMN n INT DEFAULT 5, ADD COLUMN v VARCHAR(10) FIRST", "id1 a2 b3 v4+ n5+5 ", true},
		{"ALTER TABLE t RENAME COLUMN n TO m", "id1 a2 b3 v4+ m5+5 ", true},
		{"ALTER TABLE t ALTER COLUMN m SET DEFAULT 6", "id1 a2 b3 v4+ m5+5 ", true},
		{"ALTER TABLE t MODIFY v VARCHAR(20), ADD COLUMN e INT NOT NULL", "id1 a2 b3 v4+ m5+5 e6+0 ", true},
		{"ALTER TABLE t DROP COLUMN m, ADD COLUMN m INT DEFAULT 7", "id1 a2 b3 v4+ e6+0 m7+7 ", true},
		{"ALTER TABLE t DROP COLUMN e", "id1 a2 b3 v4+ m7+7 ", true},
		{"ALTER TABLE t ADD COLUMN g INT AS (a + 1) VIRTUAL", "id1 a2 b3 v4+ m7+7 g8 ", false},
		{"ALTER TABLE t ADD COLUMN ts TIMESTAMP NULL, ADD COLUMN z DATETIME AS (ts) VIRTUAL", "id1 a2 b3 v4+ m7+7 g8 ts9+ ", true},
		{"ALTER TABLE t MODIFY v TEXT", "id1 a2 b3 v10 m7+7 g8 ts9+ ", false},
		{"ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (a, id), ADD COLUMN x INT DEFAULT 1", "id1 a2 b3 v10 m7+7 g8 ts9+ x11 ", false}, // a copy
		{"TRUNCATE TABLE t", "id1 a2 b3 v10 m7+7 g8 ts9+ x11 ", false},
	} {
		was, _ := state()
		s.must(c.stmt)
		if name, fields := state(); (name == was) != c.kept || fields != c.fields {
			t.Errorf("%s: %q, was %q; %s", c.stmt, name, was, fields)
		}
	}
	if x := s.table("t").SearchByName("l"); len(x.Fields) != 1 {
		t.Errorf("a list of columns has become %v", x.Fields)
	}
}
