package planner_test

import (
	"fmt"
	"maps"
	"math/rand"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/planner"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/planner/physical"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// generatedTable is a table and the parts of statements over it.
type generatedTable struct {
	ddl                         string
	rows                        float64
	distinct                    map[string]float64
	hints, conds, reads, orders []string
	groups, calls               []string
}

// generatedTables have indexes of all kinds, each of which is forced in turn.
var generatedTables = []generatedTable{{
	ddl: `CREATE TABLE w (id BIGINT, part INT, k VARCHAR(20), kb VARCHAR(20) COLLATE utf8mb4_bin, n INT, u BIGINT UNSIGNED, dc DECIMAL(10,2), f DOUBLE, at DATETIME, day DATE, e ENUM('x','y','z'), body TEXT, title VARCHAR(200), place POINT NOT NULL SRID 4326, doc JSON, tags JSON, free VARCHAR(100),
  PRIMARY KEY (id, part), KEY nk (n, k), KEY kp (k(3), dc), KEY atn (at DESC, n), UNIQUE KEY ub (u), KEY mv ((CAST(doc->'$.z' AS UNSIGNED ARRAY)), n), KEY emv (e, (CAST(doc->'$.y' AS CHAR(10) ARRAY)), f), KEY open (day) WHERE e = 'x', KEY fx ((n + 1)), SPATIAL KEY sp (place),
  SEARCH INDEX s (k, kb, n, u, dc, f, at, body TEXT, title TEXT ANALYZER 'english', place GEO_POINT, doc->'$.n' BIGINT, doc->'$.k' KEYWORD, (CAST(doc->'$.tags[*].name' AS CHAR(64) ARRAY)), (CAST(doc->'$.tags[*].score' AS DOUBLE ARRAY)), tags NESTED (name KEYWORD, score DOUBLE, day DATE, n BIGINT)),
  SEARCH INDEX counted (k, n, body TEXT), SEARCH INDEX rejects (n, doc->'$.n' BIGINT, doc->'$.k' KEYWORD))`,
	rows: 400_000, distinct: map[string]float64{"k": 40, "n": 3000, "f": 90_000, "id": 100_000, "at": 20_000, "e": 3, "kb": 700},
	hints: []string{"", "FORCE INDEX (PRIMARY)", "FORCE INDEX (nk)", "FORCE INDEX (kp)", "FORCE INDEX (atn)", "FORCE INDEX (ub)", "FORCE INDEX (mv)", "FORCE INDEX (emv)", "FORCE INDEX (open)", "FORCE INDEX (fx)", "FORCE INDEX (sp)", "FORCE INDEX (s)", "FORCE INDEX (s)", "FORCE INDEX (s)", "FORCE INDEX (counted)", "FORCE INDEX (rejects)", "USE INDEX (nk, kp, atn)", "IGNORE INDEX (s)"},
	conds: []string{"id = 7", "id > 5", "id BETWEEN 3 AND 900", "id IN (1, 5, 9)", "part = 2", "part IS NULL", "(id, part) > (4, 5)", "(id, part) IN ((1, 2), (3, 4))",
		"k = 'ab'", "k > 'm'", "k LIKE 'ab%'", "k LIKE '%b'", "k IN ('a', 'b', 'c')", "k IS NULL", "k IS NOT NULL", "k <> 'q'", "LOWER(k) = 'x'", "k REGEXP '^a'", "kb = 'Q'", "kb >= 'C'", "kb LIKE 'Q_x%'", "k = kb", "LENGTH(k) > 3",
		"n = 3", "n < 9", "n >= 9", "n BETWEEN 5 AND 8", "n IN (3, 4)", "n IS NULL", "n <=> NULL", "n % 7 = 1", "n + 1 = 8", "n + 1 > 80", "n > f", "n = 2.5", "n > '12'", "NOT n > 3", "u = 18446744073709551615", "u < 3", "dc = 1.25", "dc > 0.5 AND dc < 2", "f > 0.25", "f < 1e10", "f > RAND()",
		"at > '2024-01-01'", "at = '2024-02-29 10:11:12'", "YEAR(at) = 2024", "DATE(at) = '2024-02-29'", "day >= '2024-01-01'", "day IS NULL", "e = 'x'", "e IN ('x', 'y')", "free = 'x'", "free LIKE '%x%'",
		"MATCH (body) AGAINST ('tea')", "MATCH (body) AGAINST ('tea') > 0", "MATCH (body) AGAINST ('tea') > 0.5", "MATCH (body) AGAINST ('tea') >= 0", "0 < MATCH (body) AGAINST ('tea')", "MATCH (title) AGAINST ('cups')", "TEXT_MATCH(title, 'cake -tea')", "body LIKE '%green tea%'", "title LIKE 'cup%'",
		"ST_Distance_Sphere(place, ST_GeomFromText('POINT(1 2)', 4326)) < 500", "ST_Distance_Sphere(ST_GeomFromText('POINT(1 2)', 4326), place) <= 500", "MBRContains(ST_GeomFromText('POLYGON((0 0, 0 4, 4 4, 4 0, 0 0))', 4326), place)", "ST_Within(place, ST_GeomFromText('POLYGON((0 0, 0 4, 4 4, 0 0))', 4326))", "ST_X(place) > 3",
		"doc->'$.n' = 5", "doc->'$.n' > 5", "7 >= doc->'$.n'", "doc->'$.n' IN (1, 2, 3)", "doc->'$.n' IS NULL", "doc->'$.k' = 'a'", "doc->'$.k' = '5'", "doc->'$.k' IN ('a', 'b')", "doc->>'$.k' = 'a'", "'x' MEMBER OF (doc->'$.tags[*].name')", "JSON_CONTAINS(doc->'$.tags[*].score', '[1, 2]')", "JSON_OVERLAPS(doc->'$.tags[*].name', '[\"a\", \"b\"]')", "5 MEMBER OF (doc->'$.z')", "'q' MEMBER OF (doc->'$.y')", "JSON_OVERLAPS(doc->'$.y', '[\"q\", \"r\"]')", "JSON_CONTAINS(doc->'$.z', '[5, 6]')", "JSON_OVERLAPS(doc->'$.z', '[5]')", "doc->'$.q' = 1",
		"EXISTS (SELECT 1 FROM JSON_TABLE(w.doc, '$.tags[*]' COLUMNS (name VARCHAR(64) PATH '$.name', score DOUBLE PATH '$.score')) j WHERE j.name = 'a' AND j.score > 2)", "EXISTS (SELECT 1 FROM JSON_TABLE(w.doc, '$.tags[*]' COLUMNS (name VARCHAR(64) PATH '$.name')) j WHERE 'a' = j.name OR j.name IN ('b', 'c'))",
		"EXISTS (SELECT 1 FROM JSON_TABLE(w.tags, '$[*]' COLUMNS (name TEXT PATH '$.name', score DOUBLE PATH '$.score', n INT PATH '$.n')) j WHERE j.name = 'a' AND j.score > 2 AND j.n < 5)", "EXISTS (SELECT 1 FROM JSON_TABLE(w.tags, '$[*]' COLUMNS (name VARCHAR(9) PATH '$.name', n BIGINT PATH '$.n')) j WHERE j.name = 'a' OR j.n > 3)", "NOT EXISTS (SELECT 1 FROM JSON_TABLE(w.tags, '$[*]' COLUMNS (n INT PATH '$.n')) j WHERE j.n = 3 LIMIT 1)", "EXISTS (SELECT 1 FROM JSON_TABLE(w.tags, '$[*]' COLUMNS (day DATE PATH '$.day', o FOR ORDINALITY)) j WHERE j.day > '2024-01-01' AND j.o < 3)",
		"id IN (SELECT n FROM w v WHERE v.k = 'x')", "n > (SELECT AVG(n) FROM w v)", "TRUE", "FALSE", "NULL"},
	reads:  []string{"*", "id", "id, part, n, k", "k", "n, f", "COUNT(*)", "MATCH (body) AGAINST ('tea')", "id, free", "SCORE()", "n + 1", "doc->'$.n'", "body, n", "dc, at, u", "MAX(n)", "MIN(at), MAX(at)", "SUM(n), COUNT(DISTINCT k)"},
	orders: []string{"n", "n DESC, k", "id", "id DESC, part DESC", "id, part DESC", "at DESC", "at, n", "k", "f, id", "f DESC, n", "MATCH (body) AGAINST ('tea') DESC", "MATCH (body) AGAINST ('tea') DESC, n, id", "ST_Distance_Sphere(place, ST_GeomFromText('POINT(1 2)', 4326))", "ST_Distance_Sphere(place, ST_GeomFromText('POINT(1 2)', 4326)) DESC", "RAND()", "n, free", "kb, k", "u"},
	groups: []string{"k", "n", "n, k", "YEAR(at)", "id", "e", "LOWER(k)", "dc, f"},
	calls:  []string{"COUNT(*)", "SUM(n)", "MIN(n), MAX(n)", "AVG(dc), COUNT(k)", "COUNT(DISTINCT kb)", "MIN(k)", "SUM(n * 2)", "GROUP_CONCAT(k)"},
}, {
	ddl:      "CREATE TABLE q (a INT NOT NULL, b INT NOT NULL, c VARCHAR(10), d DATE, v INT, id INT NOT NULL, PRIMARY KEY (id, a), KEY abc (a, b, c), KEY cd (c, d DESC), KEY bv (b, v DESC) INVISIBLE, KEY loose (b, a)) PARTITION BY RANGE (a) (PARTITION p0 VALUES LESS THAN (10), PARTITION p1 VALUES LESS THAN (20), PARTITION p2 VALUES LESS THAN MAXVALUE)",
	rows:     200_000,
	distinct: map[string]float64{"a": 25, "b": 8, "c": 5000, "d": 900, "v": 4},
	hints:    []string{"", "", "", "FORCE INDEX (PRIMARY)", "FORCE INDEX (abc)", "FORCE INDEX (cd)", "FORCE INDEX (loose)", "IGNORE INDEX (abc)", "PARTITION (p1)", "USE INDEX ()"},
	conds:    []string{"a = 3", "a > 15", "a BETWEEN 9 AND 10", "a IN (3, 15, 40)", "b = 2", "b < 5", "b IN (1, 3)", "c = 'x'", "c > 'm'", "c LIKE 'a%'", "c IS NULL", "d = '2024-01-01'", "d > '2024-01-01'", "d BETWEEN '2024-01-01' AND '2024-02-01'", "v = 1", "v IS NOT NULL", "id = 9", "id > 100", "id IN (1, 2, 3)", "(a, b) > (3, 4)", "(a, b) IN ((1, 2), (3, 4))", "a + b > 3", "c = 'x' OR b = 2", "id < 5 OR c = 'y'", "v > 1 OR d IS NULL"},
	reads:    []string{"*", "a", "b, c", "id", "v", "c, d", "COUNT(*)", "MIN(b)", "MAX(c), MIN(c)", "a + v"},
	orders:   []string{"a", "b", "a, b", "b, c", "c", "c, d DESC", "c DESC, d", "id", "id DESC, a DESC", "d", "v", "a DESC, b DESC, c DESC", "b, a", "c, id"},
	groups:   []string{"a", "b", "a, b", "c", "b, a", "d", "v"},
	calls:    []string{"COUNT(*)", "MIN(b)", "MAX(c)", "MIN(a), MAX(a)", "SUM(v)", "COUNT(DISTINCT b)", "MIN(id)"},
}, {
	ddl:      "CREATE TABLE m (bucket TINYINT NOT NULL, ts BIGINT NOT NULL, host INT, s VARCHAR(20), v DOUBLE, ip VARCHAR(45), PRIMARY KEY (bucket, ts), KEY ht (host, ts), KEY hv (host, s, ts DESC), KEY pre (s(2), ts), SEARCH INDEX x (ip IP, size BIGINT, color KEYWORD, weight DOUBLE, s KEYWORD)) SECONDARY_ENGINE_ATTRIBUTE='{\"dynamic_columns\": true}'",
	rows:     5_000_000,
	distinct: map[string]float64{"bucket": 16, "host": 12, "ts": 1_000_000, "s": 30},
	hints:    []string{"", "", "FORCE INDEX (PRIMARY)", "FORCE INDEX (ht)", "FORCE INDEX (hv)", "FORCE INDEX (pre)", "FORCE INDEX (x)", "FORCE INDEX (x)"},
	conds:    []string{"bucket = 3", "bucket IN (1, 2, 3)", "bucket < 4", "ts > 1000", "ts = 5", "ts BETWEEN 10 AND 20", "host = 4", "host IN (1, 9)", "host IS NULL", "s = 'abc'", "s LIKE 'a%'", "s IN ('a', 'b')", "v > 0.5", "size = 3", "size > 10", "size IN (1, 2)", "size LIKE '3%'", "color = 'red'", "color > 'm'", "color LIKE 'r%d'", "color IS NULL", "color IN ('red', 'blue')", "weight < 2.5", "other = 1", "5 < size", "color = 'red' OR size = 3"},
	reads:    []string{"*", "ts", "host", "color", "size, weight", "COUNT(*)", "v", "ip"},
	orders:   []string{"ts", "ts DESC", "host, ts", "host DESC, ts DESC", "s, ts", "size", "color DESC", "bucket, ts", "s, ts DESC"},
	groups:   []string{"bucket", "host", "s", "host, s", "color", "size"},
	calls:    []string{"COUNT(*)", "MIN(ts)", "MAX(ts)", "SUM(v)", "MAX(size)", "COUNT(color)"},
}}

// generatedPlans of each table; ten statements have a line of digests together.
const generatedPlans = 800

// TestGenerated compares the plans of generated statements over one table with digests:
// each index is forced in turn, so that ways are seen that cost would not choose. Look at
// the plans of statements that it names, then write the digests with -update. -short
// takes each third line.
func TestGenerated(t *testing.T) {
	var got strings.Builder
	var about []string
	for _, g := range generatedTables {
		r := newRecorder()
		r.counts = true
		if text := r.statement(g.ddl); strings.HasPrefix(text, "ERROR") {
			t.Fatal(text)
		}
		name := strings.Fields(g.ddl)[2]
		r.rows[name] = g.rows
		for column, n := range g.distinct {
			r.distinct[name+"."+column] = n
		}
		for line := range generatedPlans / 10 {
			rnd := rand.New(rand.NewSource(int64(line)))
			if line%testflag.InShort(6, 1) != 0 {
				continue
			}
			fmt.Fprintf(&got, "## %s %d\n", name, line)
			about = append(about, "")
			var digests []string
			for i := range 10 {
				sql := g.statement(rnd, name)
				text := sql + "\n" + r.generated(t, sql, i)
				digests = append(digests, testutil.Digest(text))
				about = append(about, text)
			}
			got.WriteString(strings.Join(digests, "\n") + "\n")
		}
	}
	testflag.GoldenPart(t, "testdata/generated.txt", got.String(), func(line int, _ string) string {
		return about[min(line, len(about)-1)]
	})
}

// generated is the plan of a statement, with parameters for its question marks.
func (r *recorder) generated(t *testing.T, sql string, n int) string {
	t.Helper()
	st, err := r.parser.Parse(sql, r.env.Mode)
	if err != nil {
		t.Fatalf("%s: %v", sql, err)
	}
	r.env.ParamTypes = []schema.Type{types.BigInt, types.BigInt, types.BigInt, types.BigInt}
	bound, err := bind.Bind(r.env, st)
	if err != nil {
		return err.Error()
	}
	ctx := &expr.Ctx{Env: types.Env{Loc: time.UTC, Mode: types.DefaultSQLMode, Now: time.Date(2024, 2, 29, 13, 14, 15, 0, time.UTC)}}
	ctx.Params = []value.Datum{value.Int(5), value.Int(2), value.Int(1000), value.Null}
	plan, err := planner.Plan(t.Context(), bound, planner.Options{Est: r, Ctx: ctx, Bind: &expr.BindEnv{Collation: schema.CollationUTF8MB40900AICI, Mode: types.DefaultSQLMode},
		TableExprs: r.compiled, Parallelism: 1 + n%3, Invisible: n%7 == 0, Check: true})
	if err != nil {
		return err.Error()
	}
	p := physical.Printer{Ctx: ctx, Why: true}
	return p.Tree(plan) + testutil.Dump(plan, r.brief)
}

// statement is a random statement over a table.
func (g *generatedTable) statement(r *rand.Rand, name string) string {
	cond := g.cond(r, 2)
	from := name + " " + g.hints[r.Intn(len(g.hints))]
	switch r.Intn(24) {
	case 0:
		return "DELETE FROM " + name + " WHERE " + cond
	case 1:
		return "UPDATE " + name + " SET " + strings.Fields(g.distinctColumn(r))[0] + " = 3 WHERE " + cond + " LIMIT 7"
	}
	sql := "SELECT " + pick(r, g.reads) + " FROM " + from
	grouped := r.Intn(5) == 0
	if grouped {
		group := pick(r, g.groups)
		sql = "SELECT " + group + ", " + pick(r, g.calls) + " FROM " + from
		cond += " GROUP BY " + group
	}
	sql += " WHERE " + cond
	if !grouped && r.Intn(2) == 0 {
		sql += " ORDER BY " + pick(r, g.orders)
	}
	if r.Intn(2) == 0 {
		sql += " LIMIT " + pick(r, []string{"1", "5", "10 OFFSET 20", "1000", "0", "?"})
	}
	if r.Intn(12) == 0 {
		sql += pick(r, []string{" FOR UPDATE", " FOR SHARE SKIP LOCKED"})
	}
	return sql
}

// distinctColumn is one of the columns whose values are counted.
func (g *generatedTable) distinctColumn(r *rand.Rand) string {
	return pick(r, slices.Sorted(maps.Keys(g.distinct)))
}

// numberAtEnd is what a parameter may take the place of.
var numberAtEnd = regexp.MustCompile(` \d+$`)

func (g *generatedTable) cond(r *rand.Rand, depth int) string {
	if depth == 0 || r.Intn(3) == 0 {
		one := pick(r, g.conds)
		if r.Intn(4) == 0 {
			one = numberAtEnd.ReplaceAllString(one, " ?")
		}
		return "(" + one + ")"
	}
	a, b := g.cond(r, depth-1), g.cond(r, depth-1)
	switch r.Intn(12) {
	case 0, 1:
		return "(" + a + " OR " + b + ")"
	case 2:
		return "NOT " + a
	case 3:
		return "(" + a + " IS NOT TRUE)"
	case 4:
		return "(" + a + " XOR " + b + ")"
	case 5:
		return "(" + a + " IS NULL)"
	}
	return a + " AND " + b
}

func pick(r *rand.Rand, list []string) string { return list[r.Intn(len(list))] }
