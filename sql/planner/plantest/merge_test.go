package plantest_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/sql/planner/plantest"
)

// mergeJoins are joins by a unique key of one side.
var mergeJoins = []string{
	"SELECT a.id, a2.y, a2.s FROM a JOIN a a2 ON a.id = a2.id WHERE a.y > %d",
	"SELECT a.id, a2.id, a2.y FROM a JOIN a a2 ON a.x = a2.id",
	"SELECT a.id, a2.id, a2.y FROM a LEFT JOIN a a2 ON a.x = a2.id AND a2.y > %d",
	"SELECT a.id FROM a WHERE a.x IN (SELECT id FROM a a2 WHERE a2.y <> %d)",
	"SELECT a.id FROM a WHERE NOT EXISTS (SELECT 1 FROM a a2 WHERE a2.id = a.x AND a2.y > %d)",
	"SELECT b.p, b.q, b2.f FROM b JOIN b b2 ON b.p = b2.p AND b.q = b2.q WHERE b.y > %d",
	"SELECT b.q, b2.q, b2.s FROM b LEFT JOIN b b2 ON b2.x = b.x AND b2.q = b.q AND b2.y < %d ORDER BY b.q, b2.q",
	"SELECT a.id, a2.id FROM a JOIN a a2 ON a.d = a2.d AND a.u = a2.u AND a.id >= a2.id - %d",
	"SELECT COUNT(*), SUM(a2.y) FROM a LEFT JOIN a a2 ON a2.id = a.x JOIN c ON c.x = a.y WHERE c.x > %d",
	"SELECT a.x, a2.s FROM a JOIN a a2 ON a.x = a2.id ORDER BY a.x LIMIT %d",
}

// TestMergeJoins compares merge joins with the other ways to join, with NULLs
// and rows of one key on the left.
func TestMergeJoins(t *testing.T) {
	w := newWorld(t, rand.New(rand.NewSource(firstSeed())))
	seen := 0
	for i := range 4 * statements() {
		at := firstSeed() + int64(i)
		r := rand.New(rand.NewSource(at))
		w.r = r
		sql := strings.ReplaceAll(mergeJoins[r.Intn(len(mergeJoins))], "SELECT ", "SELECT /*+ MERGE_JOIN(a2,b2) */ ")
		if strings.Contains(sql, "%d") {
			sql = fmt.Sprintf(sql, r.Intn(6))
		}
		ordered := strings.Contains(sql, "ORDER BY")
		plain := plantest.Off(append(planner.Rules(), planner.Operators()...)...)
		want, _, err := w.query(t, sql, plain.Disabled, nil, nil)
		if err != nil {
			t.Fatalf("seed %d: %s: %v", at, sql, err)
		}
		for _, set := range []plantest.Set{plantest.Off("HashJoin", "LookupJoin"), plantest.Off("LookupJoin"), plantest.Off(), plantest.Off("MergeJoin")} {
			got, tree, err := w.query(t, sql, set.Disabled, nil, nil)
			if err != nil {
				t.Fatalf("seed %d: %s\nwithout %s: %v\n%s", at, sql, set.Name, err, tree)
			}
			if strings.Contains(tree, "merge join") {
				seen++
			}
			if !ordered {
				slices.Sort(got)
				slices.Sort(want)
			}
			if strings.Contains(sql, "LIMIT") && len(got) == len(want) {
				continue // which of equal rows come is chance
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %s\nwithout %s gives %d rows\n%s\nwant %d\n%s\n%s", at, sql, set.Name,
					len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"), tree)
			}
		}
	}
	if seen == 0 {
		t.Error("no merge join")
	}
	t.Log(seen, "merge joins")
}
