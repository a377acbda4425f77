package pause

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
)

// path is a way to read the table.
type path struct {
	name  string
	query string
	// plan is in the plan of the query, which the test makes sure of.
	plan string
	// sums: the answer is a number and a sum of rows.
	sums bool
	// point: the query takes an id.
	point bool
	// committed: it leaves out what the reader's own transaction has written.
	committed bool
}

// searchPaths is how many of paths go by the search index.
const searchPaths = 11

// paths are the access paths; those of the search index first.
var paths = []path{
	{name: "search", plan: "search:", query: "SELECT id, v, pad FROM t FORCE INDEX (s) WHERE g >= 0"},
	{name: "search by value", plan: "search:", query: "SELECT id, v, pad FROM t FORCE INDEX (s) WHERE v >= 0"},
	{name: "search covering", plan: "search:", query: "SELECT id, v FROM t FORCE INDEX (s) WHERE g >= 0"},
	{name: "search in order", plan: "search:", query: "SELECT id, v FROM t FORCE INDEX (s) WHERE g >= 0 ORDER BY v DESC LIMIT 100"},
	{name: "search in order with rows", plan: "search:", query: "SELECT id, v, pad FROM t FORCE INDEX (s) WHERE g >= 0 ORDER BY v LIMIT 100"},
	{name: "search of words", plan: "search:", query: "SELECT id, v, pad FROM t FORCE INDEX (s) WHERE MATCH (txt) AGAINST ('all')"},
	{name: "search with aggregates", plan: "search:", query: "SELECT COUNT(*), COALESCE(SUM(v), 0) FROM t FORCE INDEX (s) WHERE g >= 0", sums: true},
	{name: "search joined with rows", plan: "search:", query: "SELECT a.id, b.v FROM t a FORCE INDEX (s) JOIN t b FORCE INDEX (PRIMARY) ON b.id = a.id AND b.v = a.v WHERE a.g >= 0"},
	{name: "search joined with entries", plan: "search:", query: "SELECT /*+ HASH_JOIN(a, b) */ a.id, b.v FROM t a FORCE INDEX (s) JOIN t b FORCE INDEX (by_g) ON b.id = a.id AND b.v = a.v WHERE a.g >= 0 AND b.g >= 0"},
	{name: "search united with entries", plan: "search:", query: "SELECT id, v FROM t FORCE INDEX (s) WHERE g >= 0 UNION SELECT id, v FROM t FORCE INDEX (by_g) WHERE g >= 0"},
	{name: "search in a subquery", plan: "search:", query: "SELECT id, v FROM t WHERE (id, v) IN (SELECT id, v FROM t FORCE INDEX (s) WHERE g >= 0)"},
	{name: "scan", query: "SELECT id, v FROM t IGNORE INDEX (s, by_v, by_g, by_u)"},
	{name: "page", query: "SELECT id, v FROM t WHERE id >= 0 ORDER BY id LIMIT 100"},
	{name: "page descending", query: "SELECT id, v FROM t WHERE id < 1000 ORDER BY id DESC LIMIT 100"},
	{name: "page of entries", plan: "by_g", query: "SELECT id, v FROM t FORCE INDEX (by_g) WHERE g = 1 ORDER BY id LIMIT 100"},
	{name: "points", query: "SELECT id, v FROM t WHERE id IN (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10)"},
	{name: "point", query: "SELECT id, v FROM t WHERE id = ?", point: true},
	{name: "entries with rows", plan: "by_v", query: "SELECT id, v, pad FROM t FORCE INDEX (by_v) WHERE v >= 0"},
	{name: "entries of one value with rows", plan: "by_g", query: "SELECT id, v, pad FROM t FORCE INDEX (by_g) WHERE g = 1"},
	{name: "covering entries", plan: "by_g", query: "SELECT id, v FROM t FORCE INDEX (by_g) WHERE g >= 0"},
	{name: "unique entries", plan: "by_u", query: "SELECT id, v, pad FROM t FORCE INDEX (by_u) WHERE u >= 0"},
	{name: "aggregates", query: "SELECT COUNT(*), COALESCE(SUM(v), 0) FROM t IGNORE INDEX (s)", sums: true},
	{name: "versions", committed: true, query: "SELECT id, v FROM versions('t') WHERE _until IS NULL"},
	{name: "index merge", plan: "by_u", query: "SELECT /*+ INDEX_MERGE(t by_g, by_u) */ id, v, pad FROM t WHERE g = 1 OR u = -1"},
	{name: "groups", plan: "by_g", query: "SELECT id, MAX(v) FROM t FORCE INDEX (by_g) WHERE g >= 0 GROUP BY id"},
	{name: "common table", query: "WITH a AS (SELECT id, v FROM t WHERE id >= 0), b AS (SELECT id, v FROM t FORCE INDEX (by_v) WHERE v >= 0) SELECT a.id, b.v FROM a JOIN b ON b.id = a.id AND b.v = a.v"},
	{name: "lookup join", query: "SELECT a.id, b.v FROM t a FORCE INDEX (by_v) JOIN t b FORCE INDEX (PRIMARY) ON b.id = a.id WHERE a.v >= 0 AND a.v = b.v"},
}

// logPath reads the last change of each row from the change log. It takes longer
// with each commit.
var logPath = path{name: "change log", committed: true, query: `SELECT CAST(id AS SIGNED), CAST(v AS SIGNED) FROM (
	SELECT pk->>'$.id' id, after_image->>'$.v' v, ROW_NUMBER() OVER (PARTITION BY pk->>'$.id' ORDER BY seq DESC, ordinal DESC) r FROM STREAM('t') WHERE kind IN ('insert', 'update', 'delete')) x WHERE r = 1 AND v IS NOT NULL`}

// querier is a connection or a transaction.
type querier interface {
	QueryContext(ctx context.Context, query string, args ...any) (*sql.Rows, error)
}

// read runs the query.
func (p *path) read(ctx context.Context, c querier, rnd *rand.Rand) (*answer, error) {
	a := &answer{}
	var args []any
	if p.point {
		a.only = []int{rnd.IntN(rowIDs)}
		args = append(args, a.only[0])
	}
	list, err := c.QueryContext(ctx, p.query, args...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	defer list.Close()
	if !p.sums {
		a.rows = rows{}
	}
	cols, err := list.Columns()
	if err != nil {
		return nil, err
	}
	for list.Next() {
		var x, y int
		to := []any{&x, &y}
		for len(to) < len(cols) {
			to = append(to, new(sql.RawBytes))
		}
		if err := list.Scan(to...); err != nil {
			return nil, err
		}
		if p.sums {
			a.count, a.sum = x, y
			continue
		}
		_, a.twice = a.rows[x]
		if a.rows[x] = y; a.twice {
			break
		}
	}
	if err := list.Err(); err != nil {
		return nil, fmt.Errorf("%s: %w", p.name, err)
	}
	return a, nil
}
