package session

import (
	"testing"

	"github.com/sqlots/sqlots/sql/ttl"
)

// BenchmarkExpiry removes 10,000 expired rows with an index.
func BenchmarkExpiry(b *testing.B) {
	for b.Loop() {
		b.StopTimer()
		s := testSession(b)
		s.mustQuery(b, "CREATE DATABASE d", &sink{})
		s.mustQuery(b, "USE d", &sink{})
		s.mustQuery(b, "CREATE TABLE t (id INT PRIMARY KEY, at DATETIME, v VARCHAR(20), KEY (v)) TTL = at + INTERVAL 1 HOUR", &sink{})
		s.mustQuery(b, "SET cte_max_recursion_depth = 20000", &sink{})
		s.mustQuery(b, "INSERT INTO t WITH RECURSIVE n AS (SELECT 0 i UNION ALL SELECT i + 1 FROM n WHERE i < 19999) SELECT i, UTC_TIMESTAMP() - INTERVAL i % 2 * 2 HOUR, 'some text' FROM n", &sink{})
		tab, _ := s.Engine.Catalog.Snapshot().Table("d", "t")
		b.StartTimer()
		ttl.Remove(b.Context(), s.Shared, tab)
		b.StopTimer()
		s.mustQuery(b, "SET sqlots_show_expired = ON", &sink{})
		if got := s.rowsOf(b, "SELECT COUNT(*) FROM t"); got != "10000" {
			b.Fatalf("%s rows are left", got)
		}
		b.StartTimer()
	}
}
