package ddl

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/mdl"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// fakeSearch are files of search indexes: wait is called in Wait.
type fakeSearch struct {
	wait  func() error
	asked []schema.IndexID
}

func (f *fakeSearch) Wait(_ context.Context, _ schema.TableID, ids []schema.IndexID, _ func(string)) error {
	f.asked = ids
	return f.wait()
}

func (f *fakeSearch) Files(t *schema.Table, x *schema.SearchIndex) string {
	if name := x.KeptFiles(t); name != "" {
		return name
	}
	text := fmt.Sprint(t.ID, "-", x.ID)
	for i := range x.Fields {
		c := t.Column(x.Fields[i].Column)
		text += fmt.Sprint("-", x.Fields[i].ID, c.Type.ID, c.Type.Collation)
	}
	return text
}

// TestSearchKeepsFiles: an index keeps its files where its documents stay what they
// are, whatever else happens to the table.
func TestSearchKeepsFiles(t *testing.T) {
	s := newServer(t)
	files := &fakeSearch{wait: func() error { return nil }}
	s.r.Search = files
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(10), d INT, e DECIMAL(8,2), f INT, SEARCH INDEX s (a, b, c, e, f))")
	name := func() string {
		d := s.table("t")
		return files.Files(d, d.SearchByName("s"))
	}
	for _, c := range []struct {
		stmt string
		kept bool
	}{
		{"ALTER TABLE t ADD COLUMN n INT DEFAULT 5", true},
		{"ALTER TABLE t RENAME COLUMN n TO m", true},
		{"ALTER TABLE t DROP COLUMN m", true},
		{"ALTER TABLE t DROP COLUMN b", true},
		{"ALTER TABLE t MODIFY d VARCHAR(20)", true}, // a copy
		{"ALTER TABLE t MODIFY c VARCHAR(30)", true},
		{"ALTER TABLE t MODIFY d INT, DROP COLUMN f", true},
		{"ALTER TABLE t MODIFY a INT NOT NULL", false}, // NULL may become 0
		{"ALTER TABLE t MODIFY d VARCHAR(20)", true},
		{"ALTER TABLE t MODIFY c VARCHAR(30) COLLATE utf8mb4_bin", false},
		{"ALTER TABLE t MODIFY e DOUBLE", false},
		{"ALTER TABLE t DROP PRIMARY KEY, ADD PRIMARY KEY (a, id)", false},
		{"ALTER TABLE t DROP COLUMN c", true},
		{"ALTER TABLE t ALTER SEARCH INDEX s ADD (d)", false},
		{"TRUNCATE TABLE t", false},
	} {
		was := name()
		s.must(c.stmt)
		if got := name(); (got == was) != c.kept {
			t.Errorf("%s: %q, was %q", c.stmt, got, was)
		}
	}
}

// searchText is the definition of the index s of table t, with its next form.
func (s *server) searchText() string {
	x := s.table("t").SearchByName("s")
	if x == nil {
		return "none"
	}
	text := ""
	for i, g := range x.Generations() {
		if i > 0 {
			text += " next "
		}
		for _, f := range g.Fields {
			text += s.table("t").Column(f.Column).Name + fmt.Sprint(f.ID) + " "
		}
	}
	return text
}

// TestSearchGenerations: the old form of an index stays until the new one is
// built, and for ever when the statement does not end.
func TestSearchGenerations(t *testing.T) {
	s := newServer(t)
	files := &fakeSearch{wait: func() error { return nil }}
	s.r.Search = files
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, c VARCHAR(10), SEARCH INDEX s (a, b))")
	id := s.table("t").Search[0].ID
	check := func(want string) {
		t.Helper()
		if got := s.searchText(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
	check("a1 b2 ")
	for _, c := range []struct {
		stmt, during, after string
		alone               bool // the statement changes nothing else
	}{
		{"ALTER TABLE t ALTER SEARCH INDEX s ADD (c)", "a1 b2  next a1 b2 c3 ", "a1 b2 c3 ", true},
		{"ALTER TABLE t DROP INDEX s, ADD SEARCH INDEX s (c, b)", "a1 b2 c3  next c3 b2 ", "c3 b2 ", true},
		{"ALTER TABLE t ADD SEARCH INDEX S (a, (b * 2)), DROP INDEX s", "c3 b2  next a4 !hidden!S!0!05 ", "a4 !hidden!S!0!05 ", true},
		{"ALTER TABLE t ALTER SEARCH INDEX s DROP ((b * 2)) ADD (b)", "a4 !hidden!S!0!05  next a4 b6 ", "a4 b6 ", true},
		{"ALTER TABLE t ALTER SEARCH INDEX s ADD (c), DROP COLUMN b", "a4  next a4 c7 ", "a4 c7 ", false},
		{"ALTER TABLE t ADD COLUMN b INT, ALTER SEARCH INDEX s ADD (b), ADD INDEX x (a)", "a4 c7  next a4 c7 b8 ", "a4 c7 b8 ", false},
		{"ALTER TABLE t MODIFY c INT, ALTER SEARCH INDEX s DROP (a)", "c7 b8 ", "c7 b8 ", false}, // a new table
	} {
		before, columns := s.searchText(), len(s.table("t").Columns)
		var during string
		if c.alone {
			failure := sqlerr.QueryInterrupted()
			files.wait = func() error { return failure }
			if _, err := s.exec(c.stmt); !errors.Is(err, failure) {
				t.Errorf("%s: %v", c.stmt, err)
			}
			check(before)
			if n := len(s.table("t").Columns); n != columns {
				t.Errorf("%s: %d columns, %d before", c.stmt, n, columns)
			}
		}
		files.wait = func() error {
			during = s.searchText()
			return nil
		}
		s.must(c.stmt)
		check(c.after)
		if during != c.during {
			t.Errorf("%s: %q meanwhile, want %q", c.stmt, during, c.during)
		}
		if len(files.asked) != 1 || files.asked[0] != id {
			t.Errorf("%s: waited for %v", c.stmt, files.asked)
		}
	}
	files.asked = nil
	s.must("ALTER TABLE t ADD COLUMN e INT")
	s.must("ALTER TABLE t DROP INDEX s, ADD SEARCH INDEX s (c, b)")
	if files.asked != nil {
		t.Error("waited for an index that stays as it is")
	}
	s.must("DROP TABLE t")
	files.wait = func() error { return errors.New("the disk is full") }
	if _, err := s.exec("CREATE TABLE t (id INT PRIMARY KEY, SEARCH INDEX s (id))"); err == nil {
		t.Error("no error")
	}
	if _, ok := s.cat.Snapshot().Table("d", "t"); ok {
		t.Error("a table that was not made is there")
	}
}

// TestSearchResumed: the server ends while the next form of an index is built.
func TestSearchResumed(t *testing.T) {
	s := newServer(t)
	s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, SEARCH INDEX s (a))")
	s.r.Search = &fakeSearch{wait: func() error { return sqlerr.ServerShutdown() }}
	if _, err := s.exec("ALTER TABLE t ALTER SEARCH INDEX s ADD (b, (a + b))"); err == nil {
		t.Fatal("no error")
	}
	const left = "a1  next a1 b2 !hidden!s!0!03 "
	if got := s.searchText(); got != left {
		t.Fatal(got)
	}
	for _, end := range []struct {
		err  error
		want string
	}{{sqlerr.ServerShutdown(), left}, {nil, "a1 b2 !hidden!s!0!03 "}} {
		s.open()
		if err := s.r.Resume(t.Context()); err != nil {
			t.Fatal(err)
		}
		s.r.Search = &fakeSearch{wait: func() error { return end.err }}
		list := s.r.Unfinished()
		if len(list) != 1 || list[0].Database() != "d" || list[0].Statement() != "ALTER TABLE `t` ALTER SEARCH INDEX `s`" {
			t.Fatal(list)
		}
		if err := s.locks.Exclusive(t.Context(), 5, mdl.ChangeKey("d", "t"), time.Millisecond); !errors.Is(err, mdl.ErrTimeout) {
			t.Errorf("other changes of the table are allowed: %v", err)
		}
		if err := list[0].Continue(t.Context(), s.env()); !errors.Is(err, end.err) {
			t.Fatal(err)
		}
		if got := s.searchText(); got != end.want {
			t.Errorf("%q, want %q", got, end.want)
		}
	}
	s.must("ALTER TABLE t ADD COLUMN c INT")
}

// TestSearchCrashes stops ALTER of a search index at each step.
func TestSearchCrashes(t *testing.T) {
	const old, now = "a1 ", "b2 "
	for n := 0; ; n++ {
		s := newServer(t)
		s.must("CREATE TABLE t (id INT PRIMARY KEY, a INT, b INT, SEARCH INDEX s (a))")
		crashed := s.runUntil("ALTER TABLE t DROP INDEX s, ADD SEARCH INDEX s (b), ADD INDEX x (a)", n)
		s.resume(noCrash)
		if got := s.searchText(); got != old && got != now || (got == now) != (s.table("t").IndexByName("x") != nil) {
			t.Errorf("step %d: %q", n, got)
		}
		s.must("ALTER TABLE t ALTER SEARCH INDEX s ADD (id)")
		if !crashed {
			break
		}
	}
}
