package diff

import (
	"context"
	"database/sql"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

var (
	dsnFlag     = flag.String("diff.dsn", "", "server to test; one in this process if empty")
	oracleFlag  = flag.String("diff.oracle", "", "MariaDB to compare with; none if empty")
	queriesFlag = flag.Int("diff.queries", 40, "queries in a round")
	dbFlag      = flag.String("diff.database", "diff", "database for the tables, dropped first")
	maxFlag     = flag.Int("diff.max", 15, "differences after which to stop")
)

// mode is the sql_mode of both servers.
const mode = "ONLY_FULL_GROUP_BY,STRICT_TRANS_TABLES,NO_ZERO_IN_DATE,NO_ZERO_DATE,ERROR_FOR_DIVISION_BY_ZERO,NO_ENGINE_SUBSTITUTION"

// run is one run of the test.
type run struct {
	t       *testing.T
	ctx     context.Context
	base    *sql.Conn
	oracle  *sql.Conn
	paths   []path
	found   int
	queries int
	answers int
	tables  []*table
	seed    uint64
	rnd     *rand.Rand     // chooses paths
	taken   map[string]int // answers by path
	apart   map[string]int // queries that were not run on the oracle, by reason
	late    int            // answers that took too long
}

func TestDifferences(t *testing.T) {
	dsn := *dsnFlag
	if dsn == "" {
		s := servertest.Start(t, server.Config{Memory: 256 << 20, CheckPlans: true})
		dsn = servertest.DSN(s)
	}
	r := &run{t: t, ctx: t.Context(), taken: map[string]int{}, apart: map[string]int{}}
	r.connect(dsn, *oracleFlag)
	for i := range testflag.Rounds(1, 1, 2) {
		r.round(testflag.Seed(1) + uint64(i))
		if r.found >= *maxFlag {
			t.Fatalf("stopped after %d differences", r.found)
		}
	}
	t.Logf("%d statements, %d answers compared, %d too late, %d differences\npaths: %v\nnot run on the oracle: %v", r.queries, r.answers, r.late, r.found, r.taken, r.apart)
}

// open is a connection of its own with the session's settings.
func open(t *testing.T, dsn string, settings ...string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range append([]string{"SET NAMES utf8mb4 COLLATE utf8mb4_general_ci", "SET time_zone = '+00:00'"}, settings...) {
		if _, err := c.ExecContext(t.Context(), s); err != nil {
			t.Fatal(s, err)
		}
	}
	return c
}

func (r *run) report(what, text string, list ...any) {
	r.found++
	r.t.Errorf("seed %d: %s\n%s%s", r.seed, what, text, fmt.Sprintln(list...))
}

// all runs a statement on every connection of the list; false on an error.
func (r *run) setup(text, oracleText string) bool {
	if a := do(r.ctx, r.base, text); a.err != nil {
		r.report("setup", text, "\n", a.err)
		return false
	}
	if r.oracle != nil {
		if a := do(r.ctx, r.oracle, oracleText); a.err != nil {
			r.report("setup of the oracle", oracleText, "\n", a.err)
			return false
		}
	}
	return true
}

func (r *run) round(seed uint64) {
	r.seed = seed
	rnd := rand.New(rand.NewPCG(seed, 77))
	r.rnd = rand.New(rand.NewPCG(seed, 78))
	r.tables = nil
	drop, create := "DROP DATABASE IF EXISTS "+*dbFlag, "CREATE DATABASE "+*dbFlag
	if !r.setup(drop, drop) ||
		!r.setup(create, create+" CHARACTER SET utf8mb4 COLLATE utf8mb4_general_ci") {
		return
	}
	conns := map[*sql.Conn]bool{r.base: true}
	for i := range r.paths {
		conns[r.paths[i].conn] = true
	}
	if r.oracle != nil {
		conns[r.oracle] = true
	}
	for c := range conns {
		if a := do(r.ctx, c, "USE "+*dbFlag); a.err != nil {
			r.t.Fatal(a.err)
		}
	}
	for i := range 2 + rnd.IntN(3) {
		t := newTable(rnd, fmt.Sprintf("t%d", i))
		if !r.setup(t.ddl[0], t.ddl[1]) {
			return
		}
		r.tables = append(r.tables, t)
		g := newGen(rnd.Uint64(), r.tables, 0)
		for _, s := range g.fill(t, rnd.IntN(60)) {
			if !r.both(s, t) {
				return
			}
		}
	}
	for i := range *queriesFlag {
		if r.found >= *maxFlag {
			return
		}
		s := rnd.Uint64()
		if i%4 == 3 {
			t := pick(rnd, r.tables)
			if !r.both(newGen(s, r.tables, 0).change(t), t) {
				return
			}
			continue
		}
		for again := range uint64(2) {
			r.one(newGen(s, r.tables, again).query())
		}
	}
	for _, t := range r.tables {
		for _, row := range runQuery(r.ctx, r.base, "CHECK TABLE "+t.name, false).rows {
			if row[len(row)-1] != "OK" {
				r.report("CHECK TABLE", t.name, row)
			}
		}
	}
}

// both makes a change on both servers and compares the tables.
func (r *run) both(text string, t *table) bool {
	r.queries++
	r.changeRoads(text, t)
	text = plain(text)
	a := do(r.ctx, r.base, text)
	if r.oracle == nil {
		if a.err != nil && (a.errNumber() == 0 || a.errNumber() == 1815 || a.errNumber() == 1105) {
			r.report("change", text, "\n", a.err)
		}
		return true
	}
	b := do(r.ctx, r.oracle, text)
	if d := difference(a, b, true, false); d != "" {
		r.report("change: "+d, text, "\n  sqlots:", a.short(), "\n  oracle:", b.short(), "\n", t.ddl[0])
		return false
	}
	if (a.err == nil) != (b.err == nil) {
		return false // a difference that is tolerated, but the tables differ now
	}
	a, b = runQuery(r.ctx, r.base, t.selectAll(), false), runQuery(r.ctx, r.oracle, t.selectAll(), false)
	if d := difference(a, b, true, false); d != "" {
		r.report("table after change: "+d, text, "\n", t.ddl[0], "\n", diffRows(a.rows, b.rows))
		return false
	}
	t.zeroes = map[string]bool{}
	for _, row := range a.rows {
		for i, c := range t.cols {
			if strings.HasPrefix(row[i], "0000-00-00") {
				t.zeroes[c.name] = true
			}
		}
	}
	return true
}

// changeRoads makes a change along several paths and takes it back each time.
func (r *run) changeRoads(text string, t *table) {
	try := func(c *sql.Conn, s string, args ...any) (answer, answer) {
		do(r.ctx, c, "BEGIN")
		a := do(r.ctx, c, s, args...)
		after := runQuery(r.ctx, c, t.selectAll(), false)
		do(r.ctx, c, "ROLLBACK")
		return a, after
	}
	want, wantAfter := try(r.base, plain(text))
	for _, d := range r.choose(true) {
		d.start(r)
		s, args := d.change(text)
		got, gotAfter := try(d.conn, s, args...)
		if wantAfter.errNumber() == errTooLate || gotAfter.errNumber() == errTooLate {
			r.late++
			continue
		}
		if (got.err == nil) != (want.err == nil) && (tolerated(got.errNumber()) || tolerated(want.errNumber())) {
			continue
		}
		what := difference(want, got, true, false) + difference(wantAfter, gotAfter, true, false)
		if what != "" {
			r.report("change, "+d.name+": "+what, plain(text), "\n  base:", want.short(), "\n  "+d.name+":", got.short(), "\n", t.ddl[0], "\n", diffRows(wantAfter.rows, gotAfter.rows))
			return
		}
	}
}

func diffRows(a, b [][]string) string {
	var out strings.Builder
	for i := range max(len(a), len(b)) {
		var x, y string
		if i < len(a) {
			x = strings.Join(a[i], " | ")
		}
		if i < len(b) {
			y = strings.Join(b[i], " | ")
		}
		if x != y {
			fmt.Fprintf(&out, "  sqlots: %s\n  oracle: %s\n", x, y)
			break
		}
	}
	return out.String()
}

// maxRows bounds the results that are compared: rows that are not quite alike are
// looked for among all.
const maxRows = 50_000

func (r *run) one(q query) {
	r.queries++
	text := plain(q.text)
	base := runQuery(r.ctx, r.base, text, false)
	if len(base.rows) > maxRows {
		r.late++
		return
	}
	switch base.errNumber() {
	case 1815, 1105:
		r.report("internal error", text, "\n ", base.err)
		return
	}
	if base.errNumber() == errTooLate {
		r.late++
		return
	}
	if reason := deviation(&q); r.oracle != nil && reason != "" {
		r.apart[reason]++
	} else if r.oracle != nil {
		r.answers++
		o := runQuery(r.ctx, r.oracle, text, false)
		if o.errNumber() == errOracleLate {
			r.late++
		} else if d := difference(base, o, q.ordered, q.loose); d != "" && !onlyOracle(o.errNumber()) {
			r.report("oracle: "+d, text, "\n  sqlots:", base.short(), "\n  oracle:", o.short())
			return
		}
	}
	for _, d := range r.choose(false) {
		d.start(r)
		got, s := d.run(r, q, base)
		if got.errNumber() == errTooLate {
			r.late++
			continue
		}
		if d.params && (got.errNumber() == errNotGrouped || got.err != nil && tolerated(got.errNumber())) {
			continue // f(?) and f(?) in GROUP BY may be two values
		}
		what := difference(base, got, q.ordered && !d.reorders, q.loose)
		if d.params { // which may be NULL
			got.types = base.types
		}
		if what == "" && !d.retypes && base.err == nil && got.err == nil && base.types != got.types {
			what = "types " + base.types + "and " + got.types
		}
		if what != "" {
			if d.text != nil {
				s += "\n  of: " + text
			}
			r.report(d.name+": "+what, s, "\n  base:", base.short(), "\n  "+d.name+":", got.short())
			return
		}
	}
}
