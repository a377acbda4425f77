package session

import (
	"fmt"
	"strings"
	"testing"
)

// BenchmarkManyPairs reads 10,000 rows by a list of whole keys; the text is
// new each time, so that the plan is made each time.
func BenchmarkManyPairs(b *testing.B) {
	s := benchSession(b)
	s.mustQuery(b, "CREATE DATABASE d", &sink{})
	s.mustQuery(b, "USE d", &sink{})
	s.mustQuery(b, "CREATE TABLE t (a INT, b INT, c INT, PRIMARY KEY (a, b), KEY (c))", &sink{})
	s.mustQuery(b, "INSERT INTO t VALUES (1,1,1),(5,5,5)", &sink{})
	var list strings.Builder
	for i := range 10_000 {
		if i > 0 {
			list.WriteByte(',')
		}
		fmt.Fprintf(&list, "(%d,%d)", i*7919%10_000, i)
	}
	b.ResetTimer()
	for i := range b.N {
		w := &sink{}
		s.mustQuery(b, fmt.Sprintf("SELECT c, %d FROM t WHERE (a, b) IN (%s)", i, list.String()), w)
	}
}
