package diff

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// TestLarge runs queries over a table that is large enough for parallel scans and
// aggregates, with one worker and with several, and with little memory.
func TestLarge(t *testing.T) {
	testflag.Normal(t) // a table of 70,000 rows
	s := servertest.Start(t, server.Config{Memory: 512 << 20})
	dsn := servertest.DSN(s)
	sm := "SET sql_mode = '" + mode + "'"
	r := &run{t: t, ctx: t.Context(), seed: testflag.Seed(1)}
	r.base = open(t, dsn, sm, "SET sqlots_parallelism = 1", "CREATE DATABASE large", "USE large", "SET max_execution_time = 20000")
	rnd := rand.New(rand.NewPCG(testflag.Seed(1), 79))
	var tab *table
	for tab == nil || len(tab.pk) > 1 || tab.unique {
		tab = newTable(rnd, "t0")
	}
	cols := names(tab.given())
	steps := append([]string{tab.ddl[0]}, newGen(rnd.Uint64(), []*table{tab}, 0).fill(tab, 60)...)
	for n := 64; n < 70000; n *= 2 {
		steps = append(steps, fmt.Sprintf("INSERT IGNORE INTO t0 (%s) SELECT %s FROM t0", cols, strings.Replace(cols, "id", fmt.Sprintf("id + %d", n), 1)))
	}
	for _, text := range append(steps, "ANALYZE TABLE t0") {
		if a := do(r.ctx, r.base, text); a.err != nil {
			t.Fatal(text, a.err)
		}
	}
	for _, d := range []struct{ name, set string }{{"parallel", "SET sqlots_parallelism = 4"}, {"parallel, spilling", "SET sqlots_parallelism = 3, sqlots_spill_over = 100000"}, {"little memory", "SET sqlots_query_memory_limit = 3000000"}} {
		r.paths = append(r.paths, path{name: d.name, conn: open(t, dsn, sm, "USE large", "SET max_execution_time = 20000", d.set)})
	}
	parallel := 0
	for range *queriesFlag / 4 {
		g := newGen(rnd.Uint64(), []*table{tab}, 0)
		g.depth = 2 // no subqueries
		q := g.large()
		text := plain(q.text)
		base := runQuery(r.ctx, r.base, text, false)
		if n := base.errNumber(); n == errTooLate {
			continue
		}
		for i := range r.paths {
			d := &r.paths[i]
			got := runQuery(r.ctx, d.conn, text, false)
			if n := got.errNumber(); n == errTooLate || n == errMemory {
				continue // results of subqueries stay in memory
			}
			if what := difference(base, got, q.ordered, q.loose); what != "" {
				r.report(d.name+": "+what, text, "\n  base:", base.short(), "\n  "+d.name+":", got.short())
			}
		}
		for _, row := range runQuery(r.ctx, r.paths[0].conn, "EXPLAIN FORMAT=TREE "+text, false).rows {
			if strings.Contains(row[0], "partial") {
				parallel++
			}
		}
	}
	t.Logf("%d queries, %d with a parallel aggregate, %d differences", *queriesFlag/4, parallel, r.found)
}

// large is a query of one table.
func (g *gen) large() query {
	for {
		g.loose, g.apart = false, ""
		var q query
		switch {
		case g.chance(50):
			q = g.grouped()
		case g.chance(20):
			q = g.windowed()
		default:
			q = g.simple()
		}
		if len(g.from) == 1 {
			return q
		}
	}
}
