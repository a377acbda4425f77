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

// TestSearchGroups compares aggregates, groups and pages of a search index and of a
// columnar one with those of scans, over columns of all kinds: with all rows in the index, and with
// some that a transaction has changed.
func TestSearchGroups(t *testing.T) {
	s := servertest.Start(t, server.Config{InMemory: true, Memory: 256 << 20, DataDir: t.TempDir()})
	dsn := servertest.DSN(s)
	for round := range uint64(testflag.Rounds(1, 1, 2)) {
		seed := testflag.Seed(1) + round
		rnd := rand.New(rand.NewPCG(seed, 83))
		r := &run{t: t, ctx: t.Context(), seed: seed}
		r.base = open(t, dsn, "SET sql_mode = ''", fmt.Sprintf("SET sqlots_batch_size = %d", []int{1, 3, 1024}[rnd.IntN(3)]), "SET time_zone = 'Europe/Berlin'",
			"SET max_execution_time = 20000", "CREATE DATABASE IF NOT EXISTS groups_of", "USE groups_of", "DROP TABLE IF EXISTS g")
		var cols []column
		for _, c := range columnKinds() {
			if !c.raw {
				cols = append(cols, c)
			}
		}
		rnd.Shuffle(len(cols), func(i, j int) { cols[i], cols[j] = cols[j], cols[i] })
		cols = cols[:4+rnd.IntN(6)]
		var defs, names []string
		for _, c := range cols {
			defs, names = append(defs, c.name+" "+c.typ+" NULL"), append(names, c.name)
		}
		must := func(text string) {
			if a := do(r.ctx, r.base, text); a.err != nil {
				t.Fatal(text, a.err)
			}
		}
		// The key may be a field of the index, or known to it by its documents alone.
		fields := strings.Join(names, ", ")
		if rnd.IntN(2) == 0 {
			fields = "id, " + fields
		}
		key := pick(rnd, []string{"id", "id DESC", names[0] + "_, id", "text_, id"})
		must("CREATE TABLE g (id INT, " + strings.Join(defs, ", ") + ", " + names[0] + "_ VARBINARY(20) AS (CONCAT('x', id % 7)) STORED, text_ VARCHAR(20) COLLATE utf8mb4_0900_ai_ci AS (CONCAT('Y', id % 5)) STORED, PRIMARY KEY (" +
			key + "), SEARCH INDEX s (" + fields + "), COLUMNAR INDEX c (" + fields + "))")
		row := func(id int) string {
			return "(" + randomRow(rnd, id, cols) + ", DEFAULT, DEFAULT)"
		}
		for from := 0; from < 1500; from += 500 { // each may be a segment of its own
			rows := make([]string, 500)
			for i := range rows {
				rows[i] = row(from + i)
			}
			must("INSERT INTO g VALUES " + strings.Join(rows, ", "))
		}
		for i := range *queriesFlag {
			switch {
			case i == *queriesFlag/2:
				must("BEGIN")
				must("DELETE FROM g WHERE id % 23 = 5")
				must(fmt.Sprintf("UPDATE g SET %s = NULL WHERE id %% 31 = 3", pick(rnd, names)))
				must("REPLACE INTO g VALUES " + row(7) + ", " + row(5000) + ", " + row(5001))
			}
			text, ordered := searchQuestion(rnd, append(cols[:len(cols):len(cols)], column{name: "id", typ: "INT", kind: kindInt, values: []string{"7", "300", "1400", "5000"}}))
			base := runQuery(r.ctx, r.base, strings.Replace(text, "@", "USE INDEX ()", 1), false)
			for _, x := range []string{"s", "c"} {
				got := runQuery(r.ctx, r.base, strings.Replace(text, "@", "FORCE INDEX ("+x+")", 1), false)
				if what := difference(base, got, ordered, false); what != "" {
					r.report("search by "+x+": "+what, text, "\n  scan:", base.short(), "\n  search:", got.short())
				}
			}
		}
		must("ROLLBACK")
	}
}

// searchQuestion is a query of groups, of which equal values show alike, or of a
// page; ordered reports the latter.
func searchQuestion(r *rand.Rand, cols []column) (text string, ordered bool) {
	where := ""
	for n := r.IntN(3); n > 0; n-- {
		c := pick(r, cols)
		cond := c.name + pick(r, []string{" = ", " < ", " >= ", " <> "}) + pick(r, c.values)
		if r.IntN(4) == 0 {
			cond = c.name + pick(r, []string{" IS NULL", " IS NOT NULL"})
		}
		if where == "" {
			where = " WHERE " + cond
		} else {
			where += pick(r, []string{" AND ", " OR "}) + cond
		}
	}
	if r.IntN(4) == 0 {
		var keys []string
		for range r.IntN(4) {
			keys = append(keys, pick(r, cols).name+pick(r, []string{"", " DESC"}))
		}
		return fmt.Sprintf("SELECT id FROM g @%s ORDER BY %s LIMIT %d OFFSET %d", where, strings.Join(append(keys, pick(r, []string{"id", "id DESC", "text_, id"})), ", "), r.IntN(30), r.IntN(3)*r.IntN(400)), true
	}
	var list, groups []string
	for range r.IntN(3) {
		c := pick(r, cols)
		g := c.name
		switch {
		case c.kind == kindInt && r.IntN(2) == 0:
			g += " DIV 10"
		case (c.kind == kindDate || c.kind == kindDatetime) && r.IntN(2) == 0:
			g = "YEAR(" + g + ")"
		case c.kind == kindText && c.ci, c.typ == "FLOAT":
			g = "LENGTH(" + g + ")"
		}
		if groups = append(groups, g); c.show != "" && g == c.name {
			g = fmt.Sprintf(c.show, g)
		}
		list = append(list, g)
	}
	for range 1 + r.IntN(4) {
		c := pick(r, cols)
		calls := []string{"COUNT(*)", "COUNT(" + c.name + ")", "COUNT(DISTINCT " + c.name + ")"}
		switch {
		case c.kind == kindInt, c.kind == kindDecimal:
			calls = append(calls, "SUM("+c.name+")", "AVG("+c.name+")", "SUM(DISTINCT "+c.name+")", "MIN("+c.name+")", "MAX("+c.name+")")
		case c.kind == kindText && c.ci: // which of equal ones is open
			calls = append(calls, "MIN("+c.name+") = MIN("+c.name+")")
		case c.show == "":
			calls = append(calls, "MIN("+c.name+")", "MAX("+c.name+")")
		}
		list = append(list, pick(r, calls))
	}
	text = "SELECT " + strings.Join(list, ", ") + " FROM g @" + where
	if len(groups) > 0 {
		text += " GROUP BY " + strings.Join(groups, ", ")
	}
	return text, false
}
