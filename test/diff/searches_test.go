package diff

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/sql/planner"
)

// searched is a table of which a search index has fields of all kinds.
type searched struct {
	plain    *table // its ordinary columns
	features []feature
	ddl      string
	cols     []string // to write to
	own      []string // what the reading transaction has written
}

func newSearched(r *rand.Rand) *searched {
	s := &searched{plain: &table{name: "g", pk: []string{"id"}}, features: features(r)}
	var defs, fields []string
	all := columnKinds()
	r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, c := range all[:2+r.IntN(5)] {
		if c.raw {
			continue
		}
		c.null = true
		s.plain.cols = append(s.plain.cols, c)
		s.cols, defs = append(s.cols, c.name), append(defs, c.name+" "+c.typ+" NULL")
		if r.IntN(5) > 0 {
			fields = append(fields, c.name)
		}
		if c.kind == kindInt && !c.big && c.name != "yr" && r.IntN(2) == 0 {
			fields = append(fields, "(("+c.name+" + 1))")
		}
	}
	s.plain.cols = append(s.plain.cols, column{name: "id", kind: kindInt, typ: "INT"})
	options := ""
	for _, f := range s.features {
		s.cols, defs, fields = append(s.cols, f.cols...), append(defs, f.defs...), append(fields, f.fields...)
		if len(f.defs) == 0 {
			options = ` SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true}'`
		}
	}
	if r.IntN(3) > 0 {
		fields = append(fields, "id")
	}
	if len(fields) == 0 {
		fields = []string{"id"}
	}
	r.Shuffle(len(fields), func(i, j int) { fields[i], fields[j] = fields[j], fields[i] })
	key := "id INT PRIMARY KEY"
	if r.IntN(3) == 0 {
		key = "id INT, tenant VARCHAR(10) DEFAULT 'T', PRIMARY KEY (tenant, id)"
	}
	defs = append([]string{key}, defs...)
	defs = append(defs, "SEARCH INDEX s ("+strings.Join(fields, ", ")+")")
	s.ddl = "CREATE TABLE g (" + strings.Join(defs, ", ") + ") DEFAULT CHARSET=utf8mb4 COLLATE=utf8mb4_general_ci" + options
	return s
}

// value is one for a column.
func (s *searched) value(r *rand.Rand, col string) string {
	if r.IntN(7) == 0 {
		return "NULL"
	}
	for _, c := range s.plain.cols {
		if c.name == col {
			return pick(r, c.values)
		}
	}
	for _, f := range s.features {
		for _, name := range f.cols {
			if name == col {
				return f.value(r, col)
			}
		}
	}
	return "NULL"
}

const (
	errSyntax = 1064 // also that of the boolean mode
	errNoJSON = 3141
)

// ids are the numbers that rows have.
const ids = 150

func (s *searched) rows(r *rand.Rand, from, n int) string {
	rows := make([]string, n)
	for i := range rows {
		vals := []string{fmt.Sprint(from + i)}
		for _, c := range s.cols {
			vals = append(vals, s.value(r, c))
		}
		rows[i] = "(" + strings.Join(vals, ", ") + ")"
	}
	return "INTO g (id, " + strings.Join(s.cols, ", ") + ") VALUES " + strings.Join(rows, ", ")
}

// write is a change of some rows.
func (s *searched) write(r *rand.Rand) string {
	id := r.IntN(ids)
	switch r.IntN(6) {
	case 0:
		return fmt.Sprintf("DELETE FROM g WHERE id = %d", id)
	case 1:
		return fmt.Sprintf("DELETE FROM g WHERE id BETWEEN %d AND %d", id, id+3)
	case 2:
		return "INSERT IGNORE " + s.rows(r, id, 1+r.IntN(4))
	case 3, 4:
		if len(s.cols) > 0 {
			col := pick(r, s.cols)
			return fmt.Sprintf("UPDATE IGNORE g SET %s = %s WHERE id BETWEEN %d AND %d", col, s.value(r, col), id, id+r.IntN(3))
		}
	}
	return "REPLACE " + s.rows(r, id, 1+r.IntN(4))
}

// condition is a random condition.
func (s *searched) condition(r *rand.Rand, depth int) string {
	if depth > 0 {
		switch r.IntN(7) {
		case 0, 1:
			return "(" + s.condition(r, depth-1) + " AND " + s.condition(r, depth-1) + ")"
		case 2:
			return "(" + s.condition(r, depth-1) + " OR " + s.condition(r, depth-1) + ")"
		case 3:
			return "NOT (" + s.condition(r, depth-1) + ")"
		case 4:
			return "(" + s.condition(r, depth-1) + choose(r, " XOR "+s.condition(r, depth-1)+")", ") IS TRUE", ") IS NOT TRUE", ") IS UNKNOWN")
		}
	}
	if len(s.features) > 0 && r.IntN(4) > 0 {
		return pick(r, s.features).cond(r)
	}
	g := newGen(r.Uint64(), nil, 0)
	g.from, g.depth = []source{{s.plain, "a"}}, 2
	return strings.ReplaceAll(g.cond(r.IntN(3)), literal, "")
}

func (s *searched) where(r *rand.Rand) string {
	if r.IntN(10) == 0 {
		return ""
	}
	return " WHERE " + s.condition(r, r.IntN(4))
}

// order is what rows may be ordered by.
func (s *searched) order(r *rand.Rand, scores bool) string {
	if len(s.features) > 0 && r.IntN(2) == 0 {
		if f := pick(r, s.features); scores || !f.scores {
			return f.orders(r)
		}
	}
	return "a." + pick(r, s.plain.cols).name
}

// question is a query with @ for the hint after table g; ordered says that it orders
// all rows. Scores are in it where they do not change meanwhile.
func (s *searched) question(r *rand.Rand, scores bool) (text string, ordered bool) {
	where := s.where(r)
	switch r.IntN(14) {
	case 11, 12, 13:
		return s.around(r, where, scores)
	case 10:
		if text := s.join(r); text != "" {
			return text, false
		}
	case 0, 1:
		return "SELECT a.id FROM g a @" + where, false
	case 2:
		return "SELECT COUNT(*) FROM g a @" + where, false
	case 3, 4, 5: // a page, by one expression or two
		o := s.order(r, scores)
		show := o
		for _, c := range s.plain.cols {
			if "a."+c.name == o {
				show = c.shown(o)
			}
		}
		by := o + choose(r, "", " DESC")
		if r.IntN(3) == 0 {
			by += ", " + s.order(r, scores) + choose(r, "", " DESC")
		}
		return fmt.Sprintf("SELECT a.id, %s FROM g a @%s ORDER BY %s, a.id%s LIMIT %d OFFSET %d", choose(r, show, "1"), where, by, choose(r, "", " DESC"), r.IntN(20), r.IntN(2)*r.IntN(30)), true
	case 6: // groups
		if len(s.features) > 0 && r.IntN(2) == 0 {
			return s.featureGroups(r, where), false
		}
		c := pick(r, s.plain.cols)
		key, agg := c.shown("a."+c.name), pick(r, s.plain.cols)
		if c.ci || c.kind == kindFloat {
			key = "LENGTH(a." + c.name + ")"
		}
		calls := []string{"COUNT(*)", "COUNT(a." + agg.name + ")", "COUNT(DISTINCT a." + agg.name + ")", "MIN(a.id)"}
		if agg.kind <= kindDecimal {
			calls = append(calls, "SUM(a."+agg.name+")", "AVG(a."+agg.name+")")
		}
		return "SELECT " + key + ", " + pick(r, calls) + ", " + pick(r, calls) + " FROM g a @" + where + " GROUP BY " + key + choose(r, "", " HAVING COUNT(*) > 1"), false
	case 7:
		return "SELECT h.id, a.id FROM h " + choose(r, "JOIN", "LEFT JOIN") + " g a @ ON " + choose(r, "h.x = a.id", "h.id = a.id", "h.x > a.id AND h.id < 5") + " AND " + s.condition(r, 1) + choose(r, "", " WHERE h.id < 10"), false
	case 8:
		return "SELECT h.id FROM h WHERE h.x " + choose(r, "IN", "NOT IN", "<", "=") + " (SELECT " + choose(r, "MAX(a.id)", "COUNT(*)") + " FROM g a @" + where + ")", false
	}
	return "SELECT h.id FROM h WHERE " + choose(r, "", "NOT ") + "EXISTS (SELECT 1 FROM g a @ WHERE " + s.condition(r, 1) + choose(r, "", " AND a.id = h.x", " AND a.id > h.x") + ")", false
}

// around is a query in which that of table g is a part of a larger one, or its rows
// are counted in ways that the index leaves to others.
func (s *searched) around(r *rand.Rand, where string, scores bool) (text string, ordered bool) {
	c := pick(r, s.plain.cols)
	ref := "a." + c.name
	switch r.IntN(9) {
	case 0:
		return "SELECT a.id FROM g a @" + where + choose(r, " UNION ", " UNION ALL ", " INTERSECT ", " EXCEPT ") + "SELECT a.id FROM g a" + s.where(r), false
	case 1: // the first rows of each value
		return "SELECT x.id, x.n FROM (SELECT a.id, " + choose(r, "ROW_NUMBER", "RANK", "DENSE_RANK") + "() OVER (PARTITION BY " + ref + " ORDER BY " + s.order(r, scores) + choose(r, "", " DESC") + ", a.id) AS n FROM g a @" + where + ") x WHERE x.n <= " + choose(r, "1", "2", "5"), false
	case 2:
		return "SELECT a.id FROM g a @ WHERE " + s.condition(r, 1) + choose(r, " AND ", " OR ") + choose(r, "", "NOT ") + "EXISTS (SELECT 1 FROM g b WHERE b." + c.name + " = " + ref + " AND b.id " + choose(r, "<>", ">") + " a.id)", false
	case 3:
		return "SELECT h.id, (SELECT " + choose(r, "COUNT(*)", "MAX(a.id)", "SUM(a.id)") + " FROM g a @ WHERE a.id " + choose(r, "=", ">") + " h.x AND " + s.condition(r, 1) + ") FROM h", false
	case 4:
		if c.ci || c.kind == kindFloat {
			ref = "LENGTH(" + ref + ")"
		}
		return "SELECT " + choose(r, "COUNT(*)", "GROUP_CONCAT(a.id ORDER BY a.id)", "GROUP_CONCAT(DISTINCT a.id % 5 ORDER BY a.id % 5 DESC)") + ", MIN(a.id) FROM g a @" + where + " GROUP BY " + ref + choose(r, "", " WITH ROLLUP"), false
	case 5:
		return fmt.Sprintf("SELECT COUNT(*), SUM(x.id) FROM (SELECT a.id FROM g a @%s ORDER BY a.id LIMIT %d OFFSET %d) x", where, r.IntN(60), r.IntN(2)*r.IntN(30)), false
	case 6:
		if scores { // no other connection writes
			return "SELECT a.id FROM g a @" + where + " ORDER BY a.id FOR " + choose(r, "UPDATE", "SHARE"), true
		}
		return "SELECT a.id, a.id % 7 AS v FROM g a @" + where + " HAVING v > 2 ORDER BY a.id", true
	case 7:
		return "SELECT a.id, b.id FROM g a @ " + choose(r, "JOIN", "LEFT JOIN") + " g b ON b." + c.name + " = " + ref + " AND b.id < 20" + where, false
	}
	return "WITH w AS (SELECT a.id FROM g a @" + where + ") SELECT COUNT(*), COUNT(v.id) FROM w LEFT JOIN w v ON v.id = w.id + 1", false
}

// join is a query for rows of JSON_TABLE next to those of g; "" if no feature has any.
func (s *searched) join(r *rand.Rand) string {
	for _, f := range s.features {
		if f.joins == nil || r.IntN(3) == 0 {
			continue
		}
		call, cond := f.joins(r)
		if r.IntN(3) == 0 {
			cond += " AND " + s.condition(r, 1)
		}
		show, end := "a.id, jt.*", ""
		switch r.IntN(4) {
		case 0:
			show = "COUNT(*), MIN(a.id)"
		case 1:
			show, end = "a.id, COUNT(*)", " GROUP BY a.id"
		}
		return "SELECT " + show + " FROM g a @" + choose(r, ", "+call+" WHERE ", ", "+call+" WHERE ", " JOIN "+call+" ON ", " LEFT JOIN "+call+" ON ") + cond + end
	}
	return ""
}

// featureGroups aggregates values of features, or groups by them.
func (s *searched) featureGroups(r *rand.Rand, where string) string {
	f := pick(r, s.features)
	if f.scores {
		return "SELECT COUNT(*), MIN(a.id), MAX(a.id) FROM g a @" + where
	}
	e := f.orders(r)
	calls := []string{"COUNT(*)", "COUNT(" + e + ")", "COUNT(DISTINCT " + e + ")", "MIN(a.id)"}
	if r.IntN(2) == 0 {
		return "SELECT " + e + ", " + pick(r, calls) + " FROM g a @" + where + " GROUP BY " + e
	}
	if f.cols[0] != "an" && !strings.HasPrefix(e, "a.doc->'") {
		calls = append(calls, "MIN("+e+")", "MAX("+e+")")
	}
	return "SELECT " + pick(r, calls) + ", " + pick(r, calls) + " FROM g a @" + where
}

// asParameter are literals that a prepared statement may have as parameters.
var asParameter = regexp.MustCompile(`(AGAINST \(|TEXT_MATCH\(a\.\w+, |TEXT_MATCH_PHRASE\(a\.\w+, |a\.\w+ (?:=|<|>|<=|>=|<>) |LIMIT |OFFSET )('(?:[^']|'')*'|-?[0-9]+)([ ),]|$)`)

// withParameters takes literals out of a question.
func withParameters(text string) (string, []any) {
	var args []any
	text = asParameter.ReplaceAllStringFunc(text, func(found string) string {
		m := asParameter.FindStringSubmatch(found)
		v, ok := argument(m[2])
		if !ok {
			return found
		}
		args = append(args, v)
		return m[1] + "?" + m[3]
	})
	return text, args
}

// searchPath is a way to run a query on one connection, so that all see what its
// transaction does.
type searchPath struct {
	name, hint string
	binary     bool
	params     bool
	set, unset string
}

// The first is always taken, and two of the others.
var searchPaths = []searchPath{
	{name: "forced", hint: "FORCE INDEX (s)"},
	{name: "forced, prepared", hint: "FORCE INDEX (s)", binary: true},
	{name: "free"},
	{name: "forced, parameters", hint: "FORCE INDEX (s)", params: true},
	{name: "free, in batches of 1", set: "SET sqlots_batch_size = 1", unset: "SET sqlots_batch_size = 1024"},
	{name: "forced, in batches of 3", hint: "FORCE INDEX (s)", set: "SET sqlots_batch_size = 3, sqlots_parallelism = 4", unset: "SET sqlots_batch_size = 1024, sqlots_parallelism = 1"},
	{name: "scan without rules", hint: "USE INDEX ()", set: "SET sqlots_disabled_rules = '" + strings.Join(planner.Rules(), ",") + "'", unset: "SET sqlots_disabled_rules = ''"},
	{name: "forced, spilling", hint: "FORCE INDEX (s)", set: "SET sqlots_spill_over = 200", unset: "SET sqlots_spill_over = 0"},
}

// TestSearches compares answers of search indexes over fields of all kinds with those
// of scans. In every second round others write meanwhile: transactions read along all
// paths what they see, with changes of their own.
func TestSearches(t *testing.T) {
	dsn := *dsnFlag
	if dsn == "" {
		s := servertest.Start(t, server.Config{InMemory: true, Memory: 256 << 20, DataDir: t.TempDir()})
		dsn = servertest.DSN(s)
	}
	settings := []string{"SET sql_mode = '" + mode + "'", "SET innodb_lock_wait_timeout = 1", "CREATE DATABASE IF NOT EXISTS " + *dbFlag + "_s", "USE " + *dbFlag + "_s"}
	r := &run{t: t, ctx: t.Context(), taken: map[string]int{}}
	r.base = open(t, dsn, append(settings, "SET sqlots_parallelism = 1", "SET max_execution_time = 20000")...)
	writers := []*sql.Conn{open(t, dsn, settings...), open(t, dsn, settings...)}
	for round := range uint64(testflag.Rounds(1, 1, 2)) {
		r.seed = testflag.Seed(1) + round
		r.searches(writers[:r.seed%2*2])
		if r.found >= *maxFlag {
			t.Fatalf("stopped after %d differences", r.found)
		}
	}
	t.Logf("%d questions, %d answers compared, %d too late, %d differences\npaths: %v", r.queries, r.answers, r.late, r.found, r.taken)
}

func (r *run) searches(writers []*sql.Conn) {
	rnd := rand.New(rand.NewPCG(r.seed, 84))
	s := newSearched(rnd)
	must := func(text string) {
		r.t.Helper()
		if a := do(r.ctx, r.base, text); a.err != nil {
			r.t.Fatal("seed ", r.seed, ": ", text, "\n", a.err)
		}
	}
	must("DROP TABLE IF EXISTS g, h")
	must("CREATE TABLE h (id INT PRIMARY KEY, x INT)")
	must("INSERT INTO h SELECT n, n * 7 % 40 FROM JSON_TABLE('[1,2,3,4,5,6,7,8,9,10,11,12,13,14,15]', '$[*]' COLUMNS (n INT PATH '$')) j")
	fill := func() {
		for from := 0; from < ids; from += 30 {
			must("REPLACE " + s.rows(rnd, from, 20+rnd.IntN(10)))
		}
	}
	if first := rnd.IntN(2) == 0; first { // the rows, or the index
		def, index, _ := strings.Cut(s.ddl, ", SEARCH INDEX ")
		at := strings.LastIndex(index, ") DEFAULT")
		must(def + index[at:])
		fill()
		must("ALTER TABLE g ADD SEARCH INDEX " + index[:at])
	} else {
		must(s.ddl)
		fill()
	}
	if len(writers) == 0 {
		r.caughtUp()
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for i, w := range writers {
		wg.Go(func() {
			rnd := rand.New(rand.NewPCG(r.seed, uint64(90+i)))
			for {
				select {
				case <-stop:
					do(r.ctx, w, "ROLLBACK")
					return
				case <-time.After(time.Duration(rnd.IntN(4)) * time.Millisecond):
				}
				switch a := do(r.ctx, w, s.write(rnd)); {
				case a.err != nil && a.errNumber() != 1205 && a.errNumber() != 1213 && !tolerated(a.errNumber()):
					r.t.Errorf("seed %d: a writer: %v", r.seed, a.err)
				case rnd.IntN(8) == 0:
					do(r.ctx, w, choose(rnd, "BEGIN", "COMMIT", "COMMIT", "ROLLBACK"))
				}
			}
		})
	}
	for i := range *queriesFlag {
		if r.found >= *maxFlag {
			break
		}
		if i%8 == 0 {
			do(r.ctx, r.base, choose(rnd, "COMMIT", "ROLLBACK"))
			s.own = nil
			if len(writers) > 0 || rnd.IntN(2) == 0 {
				must("START TRANSACTION WITH CONSISTENT SNAPSHOT")
			}
			if len(writers) == 0 {
				r.caughtUp()
			}
		}
		if i%8 == 3 && rnd.IntN(2) == 0 {
			s.own = append(s.own, s.write(rnd))
			if do(r.ctx, r.base, s.own[len(s.own)-1]).errNumber() == 1213 { // which ends the transaction
				s.own = nil
				must("START TRANSACTION WITH CONSISTENT SNAPSHOT")
			}
			if len(writers) == 0 {
				r.caughtUp()
			}
		}
		text, ordered := s.question(rnd, len(writers) == 0)
		r.compareSearch(s, text, ordered, rnd)
	}
	close(stop)
	wg.Wait()
	do(r.ctx, r.base, "ROLLBACK")
	for _, row := range runQuery(r.ctx, r.base, "CHECK TABLE g", false).rows {
		if row[len(row)-1] != "OK" {
			r.report("CHECK TABLE", s.ddl, row)
		}
	}
}

// caughtUp waits for the index, so that its figures stay.
func (r *run) caughtUp() {
	for range 500 {
		a := runQuery(r.ctx, r.base, "SELECT COUNT(*) FROM information_schema.SQLOTS_SEARCH_INDEXES WHERE TABLE_SCHEMA = DATABASE() AND (LAG_COMMITS > 0 OR STATE <> 'ready')", false)
		if a.err == nil && a.rows[0][0] == "0" {
			return
		}
		time.Sleep(2 * time.Millisecond)
	}
}

// compareSearch runs a query along some paths.
func (r *run) compareSearch(s *searched, text string, ordered bool, rnd *rand.Rand) {
	r.queries++
	scan := strings.Replace(text, "@", "USE INDEX ()", 1)
	base := runQuery(r.ctx, r.base, scan, false)
	if base.errNumber() == errTooLate {
		r.late++
		return
	}
	if base.err != nil {
		r.taken[fmt.Sprint("error ", base.errNumber())]++
	}
	others := rnd.Perm(len(searchPaths) - 1)
	for _, d := range []searchPath{searchPaths[0], searchPaths[1+others[0]], searchPaths[1+others[1]]} {
		if d.set != "" {
			do(r.ctx, r.base, d.set)
		}
		got := r.searchBy(d, strings.Replace(text, "@", d.hint, 1))
		if d.params { // which may be NULL
			got.types = base.types
		}
		if d.unset != "" {
			do(r.ctx, r.base, d.unset)
		}
		r.answers++
		r.taken[d.name]++
		if got.errNumber() == errTooLate {
			r.late++
			continue
		}
		if a, b := base.errNumber(), got.errNumber(); a != b && (d.params && (a == errSyntax || b == errSyntax) || a == errNoJSON || b == errNoJSON) {
			continue // of a part that need not be evaluated, or of a row that need not be read
		}
		what := difference(base, got, ordered, false)
		if what == "" && (base.errNumber() == 1815 || base.errNumber() == 1105) {
			what = "internal error"
		}
		if what == "" && base.err == nil && got.err == nil && base.types != got.types {
			what = "types " + base.types + "and " + got.types
		}
		if what != "" && ordered && difference(base, runQuery(r.ctx, r.base, scan, false), ordered, false) != "" {
			return // a merge of segments has changed scores
		}
		if what != "" {
			r.t.Log(s.gap(r, base, got, text))
			r.report("search, "+d.name+": "+what, strings.Replace(text, "@", d.hint, 1), "\n  scan:", base.short(), "\n  search:", got.short(), "\n", s.ddl, "\n  after", len(s.own), "changes of the transaction:", strings.Join(s.own, "; "))
			return
		}
	}
}

// searchBy runs a query along a path.
func (r *run) searchBy(d searchPath, text string) answer {
	if d.params {
		text, args := withParameters(text)
		return runPrepared(r.ctx, r.base, text, args)
	}
	return runQuery(r.ctx, r.base, text, d.binary)
}

// gap describes the first rows that one of two answers alone has, where these are
// lists of ids.
func (s *searched) gap(r *run, base, got answer, text string) string {
	if !strings.HasPrefix(text, "SELECT a.id FROM g") || base.err != nil || got.err != nil {
		return ""
	}
	count := map[string]int{}
	for _, row := range base.rows {
		count[row[0]]++
	}
	for _, row := range got.rows {
		count[row[0]]--
	}
	out := ""
	for id, n := range count {
		if n != 0 && len(out) < 2000 {
			out += fmt.Sprintf("%s: scan %+d, now %s", id, n, runQuery(r.ctx, r.base, "SELECT "+strings.Join(s.cols, ", ")+" FROM g USE INDEX () WHERE id = "+id, false).short())
		}
	}
	for _, hint := range []string{"USE INDEX ()", "FORCE INDEX (s)"} {
		out += fmt.Sprintf("\n%s again: %d rows", hint, len(runQuery(r.ctx, r.base, strings.Replace(text, "@", hint, 1), false).rows))
	}
	return out
}
