package session

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/schema"
)

// headerSink keeps what a result header says of the columns' roles.
type headerSink struct {
	sink
	roles []string
}

func (s *headerSink) Header(h *mysqlwire.Header) error {
	names := []string{"primary", "unique", "multiple", "part", "auto", "no-default", "on-update"}
	for _, c := range h.Columns() {
		var set []string
		for i, n := range names {
			if c.Role&(schema.Role(1)<<i) != 0 {
				set = append(set, n)
			}
		}
		s.roles = append(s.roles, fmt.Sprintf("%s:%s", c.Name, strings.Join(set, ",")))
	}
	return nil
}

// Drivers find keys and AUTO_INCREMENT columns by the flags of the header.
func TestColumnRoles(t *testing.T) {
	s := testSession(t)
	for _, sql := range []string{
		"CREATE DATABASE d", "USE d",
		`CREATE TABLE a (id INT AUTO_INCREMENT PRIMARY KEY, u INT UNIQUE, n INT NOT NULL UNIQUE, k1 INT, k2 INT, u1 INT, u2 INT,
			ts TIMESTAMP NULL DEFAULT NULL ON UPDATE CURRENT_TIMESTAMP, nd INT NOT NULL, t TEXT, UNIQUE (u1, u2), KEY (k1, k2), KEY (t(5)))`,
		"CREATE TABLE b (x INT, y INT, PRIMARY KEY (x, y))",
		"CREATE VIEW v AS SELECT id AS i FROM a",
	} {
		s.rowsOf(t, sql)
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT * FROM a", "id:primary,part,auto u:unique,part n:unique,part,no-default k1:multiple,part k2:part u1:multiple,part u2:part ts:on-update nd:no-default t:multiple,part"},
		{"SELECT id AS i, (id), id + 0 FROM a WHERE id = 1", "i:primary,part,auto id:primary,part,auto id + 0:"},
		{"SELECT x, b.y FROM b LEFT JOIN a ON id = x ORDER BY y LIMIT 0", "x:primary,part,no-default y:primary,part,no-default"},
		{"SELECT q.u FROM (SELECT * FROM a) AS q GROUP BY q.u", "u:unique,part"},
		{"SELECT * FROM v", "i:primary,part,auto"},
		{"SELECT MAX(id) FROM a", "MAX(id):"},
		{"SELECT id FROM a UNION SELECT x FROM b", "id:"},
	} {
		w := &headerSink{}
		if err := s.Query(t.Context(), c.sql, w); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(w.roles, " "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// originSink keeps what a result header says of where columns come from.
type originSink struct {
	sink
	origins, never []string // never: the columns that are never NULL
}

func (s *originSink) Header(h *mysqlwire.Header) error {
	for _, c := range h.Columns() {
		s.origins = append(s.origins, fmt.Sprintf("%s.%s(%s).%s(%s)", c.Database, c.Table, c.OrgTable, c.Name, c.OrgName))
		if c.NotNull {
			s.never = append(s.never, c.Name)
		}
	}
	return nil
}

// A column names its table and the column there under its own names too, where it
// is that column: not in expressions, and not in what a recursive query adds to.
func TestColumnOrigins(t *testing.T) {
	s := testSession(t)
	for _, sql := range []string{"CREATE DATABASE d", "USE d", "CREATE TABLE a (id INT PRIMARY KEY, u INT)"} {
		s.rowsOf(t, sql)
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT id, u AS w, u + 1 AS x FROM a", "d.a(a).id(id) d.a(a).w(u) .().x()"},
		{"SELECT q.u AS w FROM a AS q", "d.q(a).w(u)"},
		{"SELECT l.id, r.u FROM a AS l LEFT JOIN a AS r ON r.id = l.u", "d.l(a).id(id) d.r(a).u(u)"},
		{"WITH RECURSIVE c AS (SELECT id, u FROM a UNION ALL SELECT id + 1, u FROM c WHERE id < 3) SELECT id, u + 0 AS v FROM c AS q", ".q().id() .().v()"},
		{"WITH RECURSIVE c (n) AS (SELECT id FROM a UNION SELECT 1 FROM c) SELECT c.n FROM c", ".c().n()"},
		{"SELECT id FROM a UNION SELECT u FROM a", ".().id()"},
	} {
		w := &originSink{}
		if err := s.Query(t.Context(), c.sql, w); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(w.origins, " "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.sql, got, c.want)
		}
	}
}

// A column of the side of a join that may have no row may be NULL, whatever the
// column is in its table.
func TestColumnsNotNull(t *testing.T) {
	s := testSession(t)
	for _, sql := range []string{"CREATE DATABASE d", "USE d", "CREATE TABLE a (id INT PRIMARY KEY, u INT, n INT NOT NULL, KEY (n))", "INSERT INTO a VALUES (1, 1, 1), (2, NULL, 2)"} {
		s.rowsOf(t, sql)
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT id, u, n FROM a", "id n"},
		{"SELECT l.id AS x, r.id AS y, r.n AS z FROM a AS l LEFT JOIN a AS r ON r.id = l.u", "x"},
		{"SELECT l.id AS x, r.id AS y, r.n AS z FROM a AS l LEFT JOIN a AS r ON r.n > l.u", "x"},
		{"SELECT * FROM a AS l LEFT JOIN a AS r ON r.id = l.u", "id n"},
		{"SELECT l.id, l.u, r.id, r.n FROM a AS l LEFT JOIN a AS r ON r.id = l.u ORDER BY r.id", "id"},
		{"SELECT DISTINCT r.id, r.n FROM a AS l LEFT JOIN a AS r ON r.id = l.u", ""},
		{"SELECT r.n, COUNT(*) AS c FROM a AS l LEFT JOIN a AS r ON r.id = l.u GROUP BY r.n", "c"},
		{"SELECT l.id AS x, r.id AS y FROM a AS l RIGHT JOIN a AS r ON r.id = l.u", "y"},
		{"SELECT l.id AS x, r.id AS y FROM a AS l JOIN a AS r ON r.id = l.u", "x y"},
		{"SELECT l.id AS x, d.n AS y FROM a AS l LEFT JOIN LATERAL (SELECT n FROM a WHERE a.id > l.id LIMIT 1) AS d ON TRUE", "x"},
		{"SELECT id AS x FROM a WHERE EXISTS (SELECT 1 FROM a AS r WHERE r.n = a.u)", "x"},
	} {
		w := &originSink{}
		if err := s.Query(t.Context(), c.sql, w); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(w.never, " "); got != c.want {
			t.Errorf("%s: never NULL are %q, want %q", c.sql, got, c.want)
		}
	}
}
