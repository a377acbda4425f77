package server_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/server"
)

// BenchmarkInsertLogged is what a change log and versions cost an INSERT of one
// row, and of many.
func BenchmarkInsertLogged(b *testing.B) {
	for _, kind := range []struct{ name, attr string }{{"plain", ""}, {"stream", `{"stream": true}`}, {"versions", `{"max_versions": 3}`}} {
		for _, rows := range []int{1, 100} {
			b.Run(fmt.Sprintf("%s/%d", kind.name, rows), func(b *testing.B) {
				dir := b.TempDir()
				_, dsn := startServer(b, func(c *server.Config) { c.InMemory, c.DataDir, c.Durability = false, dir, 0 })
				c := dial(b, dsn)
				c.exec("CREATE TABLE t (id BIGINT PRIMARY KEY, a BIGINT, name VARCHAR(60), note VARCHAR(200)) SECONDARY_ENGINE_ATTRIBUTE='" + kind.attr + "'")
				id := 0
				for b.Loop() {
					var q strings.Builder
					q.WriteString("INSERT INTO t VALUES ")
					for i := range rows {
						if i > 0 {
							q.WriteString(", ")
						}
						id++
						fmt.Fprintf(&q, "(%d, %d, 'name of row %d', 'a note that is a little longer than the name, as notes are')", id, id*7, id)
					}
					c.exec(q.String())
				}
			})
		}
	}
}
