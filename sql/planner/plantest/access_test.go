package plantest_test

import (
	"fmt"
	"math/rand"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/sql/planner/plantest"
)

// pathConds are conditions on the tables of the world that restrict keys.
var pathConds = map[string][]string{
	"a": {"a.id > %d", "a.x = %d", "a.x < %d", "a.y = %d", "a.y >= %d", "a.s = 'ab'", "a.s LIKE 'a%%'", "a.d = %d.1", "a.u = %d", "a.u IS NULL", "a.x IS NULL", "a.t = '2024-01-02'", "a.y IN (%d, 2)"},
	"b": {"b.p = 'a'", "b.q > %d", "b.x = %d", "b.x IS NULL", "b.y = %d", "b.y <= %d", "b.s = 'A'", "b.e = 'y'", "b.f > %d", "b.q = %d"},
	"c": {"c.id = %d", "c.id < %d", "c.x = %d", "c.s = 'ab'", "c.t > '2024-01-01 00:00:01'", "c.x IN (%d, 4)"},
}

// looseQueries are about groups of the leading columns of an index.
var looseQueries = []string{
	"SELECT DISTINCT x FROM %s WHERE %s", "SELECT x FROM %s WHERE %s GROUP BY x", "SELECT x, MIN(y), MAX(y) FROM a WHERE x > %[3]d GROUP BY x",
	"SELECT x, MIN(y) FROM a GROUP BY x ORDER BY x DESC LIMIT 3", "SELECT COUNT(DISTINCT x) FROM a WHERE x < %[3]d", "SELECT y, MIN(f), MAX(f) FROM b GROUP BY y",
	"SELECT d, MAX(u) FROM a GROUP BY d", "SELECT d, MIN(u), COUNT(DISTINCT d) FROM a WHERE d > %[3]d GROUP BY d", "SELECT x, MIN(q) FROM b GROUP BY x", "SELECT HEX(WEIGHT_STRING(MAX(p))), SUM(DISTINCT x) FROM b WHERE %[2]s",
	"SELECT HEX(WEIGHT_STRING(p)), MAX(q) FROM b GROUP BY p ORDER BY p", "SELECT HEX(WEIGHT_STRING(s)) FROM (SELECT DISTINCT s FROM b WHERE s > 'a') q ORDER BY s DESC", "SELECT HEX(WEIGHT_STRING(s)), MIN(x) FROM a GROUP BY s", "SELECT COUNT(DISTINCT x, id), MIN(id) FROM c",
}

// afterFirst are orders of the columns after the first ones of a key, which leave
// no two rows equal.
var afterFirst = map[string][]string{
	"a": {"y, id", "id", "u, id", "x, id", "s, y, id"},
	"b": {"q, p", "y, p, q", "p, q", "f, p, q", "x, q, p"},
	"c": {"x, s, id, t", "id, x, s, t", "t, id, x, s"},
}

func pathStatement(r *rand.Rand) (sql string, ordered bool) {
	name := string("abc"[r.Intn(3)])
	one := func() string {
		list := pathConds[name]
		c := list[r.Intn(len(list))]
		if strings.Contains(c, "%d") || strings.Contains(c, "%%") {
			args := []any{r.Intn(7) - 1}
			if !strings.Contains(c, "%d") {
				args = nil
			}
			c = fmt.Sprintf(c, args...)
		}
		return c
	}
	branch := func() string {
		if r.Intn(3) == 0 {
			return "(" + one() + " AND " + one() + ")"
		}
		return one()
	}
	conds := []string{one()}
	for range r.Intn(3) {
		conds = append(conds, one())
	}
	for range r.Intn(2) {
		or := []string{branch(), branch()}
		for range r.Intn(3) {
			or = append(or, branch())
		}
		conds = append(conds[:r.Intn(2)], "("+strings.Join(or, " OR ")+")")
	}
	where := strings.Join(conds, " AND ")
	if r.Intn(3) == 0 {
		q := looseQueries[r.Intn(len(looseQueries))]
		sql = fmt.Sprintf(q, name, where, r.Intn(5)-1)
		if i := strings.Index(sql, "%!(EXTRA"); i >= 0 {
			sql = sql[:i]
		}
		if strings.Contains(q, "FROM b WHERE %[2]s") {
			name = "b"
			sql = fmt.Sprintf(q, name, one(), 0)
		}
		return sql, strings.Contains(q, "ORDER BY")
	}
	key := map[string]string{"a": "id", "b": "p, q", "c": "s, id, x, t"}[name]
	sql = fmt.Sprintf("SELECT * FROM %s WHERE %s", name, where)
	switch r.Intn(7) {
	case 3, 4:
		behind := afterFirst[name][r.Intn(len(afterFirst[name]))]
		if r.Intn(2) == 0 {
			behind = strings.ReplaceAll(behind, ",", " DESC,") + " DESC"
		}
		return sql + " ORDER BY " + behind + []string{"", " LIMIT 5", " LIMIT 3 OFFSET 2", " LIMIT 5 FOR UPDATE"}[r.Intn(4)], true
	case 0:
		return sql + " ORDER BY " + key, name != "c"
	case 1:
		return sql + " ORDER BY " + strings.ReplaceAll(key, ",", " DESC,") + " DESC LIMIT 5", name != "c"
	case 2:
		return sql + " FOR UPDATE", false
	}
	return sql, false
}

// TestPaths queries rows by several indexes, by columns after the first one, and
// groups, with these access paths and without them.
func TestPaths(t *testing.T) {
	testflag.Normal(t)
	w := newWorld(t, rand.New(rand.NewSource(firstSeed())))
	seen := map[string]int{"union(": 0, "intersect(": 0, "skip scan": 0, "loose": 0, "merge over": 0}
	for i := range 8 * statements() {
		at := firstSeed() + int64(i)
		r := rand.New(rand.NewSource(at))
		w.r = r
		sql, ordered := pathStatement(r)
		plain := plantest.Off(append(planner.Rules(), planner.Operators()...)...)
		want, _, err := w.query(t, sql, plain.Disabled, nil, nil)
		if err != nil {
			t.Fatalf("seed %d: %s: %v", at, sql, err)
		}
		for _, set := range append(plantest.Sets(1, at), plantest.Off(), plantest.Off(), plantest.Off("LooseIndexScan"), plantest.Off("SkipScan", "IndexUnion")) {
			got, tree, err := w.query(t, sql, set.Disabled, nil, nil)
			if err != nil {
				t.Fatalf("seed %d: %s\nwithout %s: %v\n%s", at, sql, set.Name, err, tree)
			}
			for kind := range seen {
				if strings.Contains(tree, kind) {
					seen[kind]++
				}
			}
			if !ordered {
				slices.Sort(got)
				slices.Sort(want)
			}
			if strings.Contains(sql, "LIMIT") && !ordered {
				continue
			}
			if !slices.Equal(got, want) {
				t.Fatalf("seed %d: %s\nwithout %s gives %d rows\n%s\nwant %d\n%s\n%s", at, sql, set.Name,
					len(got), strings.Join(got, "\n"), len(want), strings.Join(want, "\n"), tree)
			}
		}
	}
	for kind, n := range seen {
		if n == 0 {
			t.Errorf("no plan with %s", kind)
		}
	}
	t.Log(seen)
}
