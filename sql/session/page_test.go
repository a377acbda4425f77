package session

import (
	"strings"
	"testing"
)

// Pages of rows that have one part of the key give all columns of the row, whatever
// the key is made of: texts and numbers, NULL, parts in descending order.
func TestPages(t *testing.T) {
	s := testSession(t)
	for _, sql := range []string{
		"CREATE DATABASE d", "USE d",
		"CREATE TABLE words (k VARCHAR(10), id INT, v INT NOT NULL, w VARCHAR(10), PRIMARY KEY (k, id))",
		"INSERT INTO words VALUES ('a', 1, 10, 'x'), ('a', 2, 20, ''), ('b', 1, 30, 'z'), ('abc', 7, 40, NULL), ('', 3, 50, 'e')",
		"CREATE TABLE numbers (a INT, b BIGINT UNSIGNED, v INT, w VARCHAR(10), PRIMARY KEY (a, b DESC), KEY n (v, w))",
		"INSERT INTO numbers VALUES (1, 1, 10, 'x'), (1, 18446744073709551615, NULL, NULL), (-2, 5, 30, 'z')",
		"CREATE TABLE exact (a INT, d DECIMAL(8,2), f DOUBLE, v INT, PRIMARY KEY (a, d))",
		"INSERT INTO exact VALUES (1, -1.5, 0.25, 1), (1, 2.25, -0.5, NULL), (2, 0, 0, 0)",
	} {
		s.rowsOf(t, sql)
	}
	for _, c := range []struct{ sql, want string }{
		{"SELECT k, id, v, w FROM words WHERE k = 'a' ORDER BY id LIMIT 10", "a 1 10 x/a 2 20 "},
		{"SELECT v, k FROM words WHERE k = 'a' ORDER BY id DESC LIMIT 10", "20 a/10 a"},
		{"SELECT v, k FROM words WHERE k = 'a' AND id > 1 ORDER BY id LIMIT 10", "20 a"},
		{"SELECT id, w FROM words WHERE k = 'abc' ORDER BY id LIMIT 10", "7 NULL"},
		{"SELECT k, w FROM words WHERE k = '' ORDER BY id LIMIT 10", " e"},
		{"SELECT w, v FROM words WHERE k = 'b' ORDER BY id LIMIT 10", "z 30"},
		{"SELECT a, b, v, w FROM numbers WHERE a = 1 ORDER BY b DESC LIMIT 10", "1 18446744073709551615 NULL NULL/1 1 10 x"},
		{"SELECT b, w FROM numbers WHERE a = -2 ORDER BY b DESC LIMIT 1", "5 z"},
		{"SELECT a, b, v, w FROM numbers WHERE v = 10 ORDER BY w LIMIT 3", "1 1 10 x"},
		{"SELECT w, v, b FROM numbers WHERE v IS NULL ORDER BY w LIMIT 3", "NULL NULL 18446744073709551615"},
		{"SELECT a, d, f, v FROM exact WHERE a = 1 ORDER BY d LIMIT 10", "1 -1.50 0.25 1/1 2.25 -0.5 NULL"},
		{"SELECT v, d FROM exact WHERE a = 1 ORDER BY d DESC LIMIT 1", "NULL 2.25"},
	} {
		for range 3 { // the plan is kept after the first times
			if got := s.rowsOf(t, c.sql); got != c.want {
				t.Errorf("%s:\n got %s\nwant %s", c.sql, got, c.want)
			}
		}
		if strings.Contains(c.sql, "LIMIT 10") {
			if got := s.rowsOf(t, strings.Replace(c.sql, "LIMIT 10", "LIMIT 0", 1)); got != "" {
				t.Errorf("%s of none: %s", c.sql, got)
			}
		}
	}
}
