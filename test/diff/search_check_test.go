package diff

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// TestSearchChecks compares conditions that a large search index computes of values,
// several segments at a time, with scans: answers, errors and warnings.
func TestSearchChecks(t *testing.T) {
	testflag.Normal(t)
	s := servertest.Start(t, server.Config{InMemory: true, Memory: 256 << 20, DataDir: t.TempDir()})
	r := &run{t: t, ctx: t.Context()}
	r.base = open(t, servertest.DSN(s), "CREATE DATABASE checks", "USE checks", "SET sqlots_parallelism = 4", "SET cte_max_recursion_depth = 100000",
		"CREATE TABLE c (id INT PRIMARY KEY, s VARCHAR(40), n INT, SEARCH INDEX x (s, n))")
	for part := range 6 {
		text := fmt.Sprintf("INSERT INTO c WITH RECURSIVE q (i) AS (SELECT %d UNION ALL SELECT i + 1 FROM q WHERE i < %d) SELECT i, IF(i %% 50 = 7, NULL, CONCAT('v', MD5(i))), i %% 1000 FROM q",
			part*5000, part*5000+4999)
		if a := do(r.ctx, r.base, text); a.err != nil {
			t.Fatal(a.err)
		}
		time.Sleep(50 * time.Millisecond) // a segment of its own
	}
	for _, where := range []string{
		"s LIKE '%ab%'", "s LIKE '%ab%' AND n > 900", "NOT s LIKE '%ab%'", "s LIKE '%abc%' OR n DIV 7 = 3", "LENGTH(s) = 33 AND n % 3 = 0", "s REGEXP 'a.b.c'", "n / (n - 5) > 2",
		"s LIKE '%ab%' AND CAST(s AS SIGNED) = 0", "n + 9223372036854775000 > 5", "(SELECT MAX(id) FROM c USE INDEX ()) > n * 100", "s <> '' XOR n % 2 = 1",
	} {
		for _, list := range []string{"COUNT(*)", "n, COUNT(*)", "COUNT(*), SUM(n), MIN(s)"} {
			text := "SELECT " + list + " FROM c @ WHERE " + where
			if strings.HasPrefix(list, "n,") {
				text += " GROUP BY n"
			}
			base := runQuery(r.ctx, r.base, strings.Replace(text, "@", "USE INDEX ()", 1), false)
			got := runQuery(r.ctx, r.base, strings.Replace(text, "@", "FORCE INDEX (x)", 1), false)
			if what := difference(base, got, false, false); what != "" {
				r.report("search: "+what, text, "\n  scan:", base.short(), "\n  search:", got.short())
			}
		}
	}
}
