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
