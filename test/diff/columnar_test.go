package diff

import (
	"database/sql"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// columnar is a table with COLUMNAR INDEX c (*), and perhaps another one.
type columnar struct {
	r     *rand.Rand
	cols  []column
	free  []column // that may be added
	names int      // columns that were added
}

// otherKinds are columns that only columnar indexes and rows have.
func otherKinds() []column {
	long := func(n int) string { return fmt.Sprintf("REPEAT('long %d ', %d)", n, n) }
	return []column{
		{name: "lt", kind: kindOther, typ: "LONGTEXT", show: "CONCAT(LENGTH(%s), MD5(%[1]s))", values: []string{"''", "'x'", long(30), long(3000), long(20000)}},
		{name: "tt", kind: kindText, typ: "TINYTEXT COLLATE utf8mb4_0900_ai_ci", ci: true, values: textValues},
		{name: "js2", kind: kindOther, typ: "JSON", raw: true, values: []string{"'{}'", "'[]'", "'1'", "'-0.0'", "'1.50'", "'1e300'", "'true'", `'"é"'`, "CAST('2020-01-01' AS DATE)", "CAST('10:00:00' AS TIME)", "CAST(CAST(18446744073709551615 AS UNSIGNED) AS JSON)", "CAST(1.23456789012345678901 AS JSON)", `'{"a": {"b": [null, "x"]}}'`}},
		{name: "ge", kind: kindOther, typ: "GEOMETRY", raw: true, show: "HEX(%s)", values: []string{"POINT(1, 2)", "ST_GeomFromText('LINESTRING(0 0,1 1)', 4326)", "ST_GeomFromText('GEOMETRYCOLLECTION EMPTY')", "ST_GeomFromText('POLYGON((0 0,1 0,1 1,0 0))')"}},
		{name: "d65", kind: kindDecimal, typ: "DECIMAL(65,30)", values: []string{"0", "-0.000000000000000000000000000001", "99999999999999999999999999999999999", "1.5", "-1.5"}},
		{name: "lc", kind: kindText, typ: "VARCHAR(20) CHARACTER SET latin1 COLLATE latin1_german1_ci", ci: true, values: []string{"''", "'a'", "'A '", "'é'", "'b'"}},
	}
}

// define is a column as CREATE and ALTER TABLE have it; late: rows may be there.
func (c *columnar) define(col *column, late bool) string {
	def := col.name + " " + col.typ + " NULL"
	col.null = true
	plain := !strings.HasPrefix(col.typ, "TEXT") && !strings.Contains(col.typ, "BLOB") && !strings.Contains(col.typ, "TINYTEXT") && !strings.Contains(col.typ, "LONGTEXT") && !col.raw
	switch n := c.r.IntN(6); {
	case !late || col.typ == "TIMESTAMP":
	case n < 3 && plain:
		def += " DEFAULT " + pick(c.r, col.values)
	case n == 3 && !col.raw && !strings.Contains(col.typ, "DATE"):
		def, col.null = col.name+" "+col.typ+" NOT NULL", false
	}
	return def
}

func (c *columnar) row(id int) string {
	vals := []string{fmt.Sprint(id)}
	for i := range c.cols {
		v := "NULL"
		if !c.cols[i].null || c.r.IntN(6) > 0 {
			v = pick(c.r, c.cols[i].values)
		}
		vals = append(vals, v)
	}
	return "(" + strings.Join(vals, ", ") + ")"
}

// change is a statement that writes.
func (c *columnar) change() string {
	id := c.r.IntN(400)
	switch c.r.IntN(5) {
	case 0:
		return fmt.Sprintf("DELETE FROM g WHERE id BETWEEN %d AND %d", id, id+c.r.IntN(10))
	case 1, 2:
		col := &c.cols[c.r.IntN(len(c.cols))]
		return fmt.Sprintf("UPDATE IGNORE g SET %s = %s WHERE id BETWEEN %d AND %d", col.name, pick(c.r, col.values), id, id+c.r.IntN(30))
	}
	names := []string{"id"}
	for i := range c.cols {
		names = append(names, c.cols[i].name)
	}
	rows := make([]string, 1+c.r.IntN(40))
	for i := range rows {
		rows[i] = c.row(id + i)
	}
	return "REPLACE INTO g (" + strings.Join(names, ", ") + ") VALUES " + strings.Join(rows, ", ")
}

// alter is a change of the columns.
func (c *columnar) alter() string {
	i := c.r.IntN(len(c.cols))
	switch n := c.r.IntN(6); {
	case n < 3 && len(c.free) > 0:
		col := c.free[0]
		c.free = c.free[1:]
		c.names++
		col.name = fmt.Sprint(col.name, "_", c.names)
		c.cols = append(c.cols, col)
		where := ""
		if c.r.IntN(4) == 0 {
			where = pick(c.r, []string{" FIRST", " AFTER id"})
		}
		return "ADD COLUMN " + c.define(&c.cols[len(c.cols)-1], true) + where
	case n == 3 && len(c.cols) > 3:
		name := c.cols[i].name
		c.free = append(c.free, c.cols[i])
		c.cols = slices.Delete(c.cols, i, i+1)
		return "DROP COLUMN " + name
	case n == 4:
		c.names++
		was := c.cols[i].name
		c.cols[i].name = fmt.Sprint(was, "_", c.names)
		return "RENAME COLUMN " + was + " TO " + c.cols[i].name
	}
	col := &c.cols[i]
	switch {
	case strings.HasPrefix(col.typ, "TINYINT"), strings.HasPrefix(col.typ, "INT"):
		col.typ = "BIGINT"
	case strings.HasPrefix(col.typ, "VARCHAR(30)"):
		col.typ = pick(c.r, []string{"VARCHAR(60)", "TEXT", "CHAR(60)"})
	case col.typ == "DECIMAL(10,2)":
		col.typ = "DECIMAL(40,2)"
	case col.typ == "BLOB":
		col.typ = "LONGBLOB"
	}
	col.null = true
	return "MODIFY " + col.name + " " + col.typ + " NULL"
}

// whole selects all columns of all rows.
func (c *columnar) whole() string {
	list := []string{"id"}
	for i := range c.cols {
		if show := c.cols[i].show; show != "" {
			list = append(list, fmt.Sprintf(show, c.cols[i].name))
		} else {
			list = append(list, c.cols[i].name)
		}
	}
	return "SELECT " + strings.Join(list, ", ") + " FROM g @ ORDER BY id"
}

// TestColumnar compares answers of columnar indexes with those of scans, over columns
// of all types: while rows change, also those of the reading transaction and in the
// background, and while columns are added, dropped, renamed and changed.
func TestColumnar(t *testing.T) {
	testflag.Normal(t)
	s := servertest.Start(t, server.Config{InMemory: true, Memory: 256 << 20, DataDir: t.TempDir(), CheckPlans: true})
	dsn := servertest.DSN(s)
	for round := range uint64(testflag.Rounds(1, 1, 4)) {
		r := &run{t: t, ctx: t.Context(), seed: testflag.Seed(1) + round}
		r.base = open(t, dsn, "SET sql_mode = ''", "SET max_execution_time = 20000", "CREATE DATABASE IF NOT EXISTS columns_of", "USE columns_of")
		writer := open(t, dsn, "SET sql_mode = ''", "USE columns_of")
		r.columns(writer, r.seed%2 == 1)
	}
}

func (r *run) columns(writer *sql.Conn, busy bool) {
	c := &columnar{r: rand.New(rand.NewPCG(r.seed, 91)), free: append(columnKinds(), otherKinds()...)}
	rnd := c.r
	must := func(text string) {
		r.t.Helper()
		if a := do(r.ctx, r.base, text); a.err != nil {
			r.t.Fatalf("seed %d: %s\n%v", r.seed, text, a.err)
		}
	}
	rnd.Shuffle(len(c.free), func(i, j int) { c.free[i], c.free[j] = c.free[j], c.free[i] })
	n := 4 + rnd.IntN(8)
	c.cols, c.free = slices.Clone(c.free[:n]), c.free[n:]
	defs := []string{"id INT"}
	for i := range c.cols {
		defs = append(defs, c.define(&c.cols[i], false))
	}
	if rnd.IntN(4) > 0 {
		defs = append(defs, "PRIMARY KEY (id)")
	} else {
		defs = append(defs, "UNIQUE (id)")
	}
	must("DROP TABLE IF EXISTS g")
	if index := "COLUMNAR INDEX c (*)"; rnd.IntN(2) == 0 {
		must("CREATE TABLE g (" + strings.Join(append(defs, index), ", ") + ")")
		must(c.change())
	} else {
		must("CREATE TABLE g (" + strings.Join(defs, ", ") + ")")
		must(c.change())
		must("ALTER TABLE g ADD " + index)
	}
	var mu sync.Mutex // of c and its columns
	stop := func() {}
	if busy {
		stop = r.meanwhile(writer, func() string {
			mu.Lock()
			defer mu.Unlock()
			return c.change()
		}, 1054, 1136, 1205, 1213)
	}
	compare := func(text string, ordered bool) {
		base := runQuery(r.ctx, r.base, strings.Replace(text, "@", "USE INDEX ()", 1), false)
		got := runQuery(r.ctx, r.base, strings.Replace(text, "@", "FORCE INDEX (c)", 1), false)
		if what := difference(base, got, ordered, false); what != "" {
			r.report("columnar: "+what, text, "\n  scan:", base.short(), "\n  index:", got.short(), "\n", diffRows(base.rows, got.rows))
		}
	}
	for range *queriesFlag {
		if r.found > 0 {
			break
		}
		mu.Lock()
		for range rnd.IntN(4) {
			must(c.change())
		}
		if rnd.IntN(3) == 0 {
			must("ALTER TABLE g " + c.alter())
		}
		var plain []column
		for _, col := range c.cols {
			if !col.raw && col.name[:2] != "lt" {
				plain = append(plain, col)
			}
		}
		plain = append(plain, column{name: "id", typ: "INT", kind: kindInt, values: []string{"7", "30", "140", "300"}})
		whole, own := c.whole(), ""
		if rnd.IntN(2) == 0 {
			own = c.change()
		}
		type question struct {
			text    string
			ordered bool
		}
		questions := []question{{whole, true}}
		for range 3 {
			text, ordered := searchQuestion(rnd, plain)
			questions = append(questions, question{strings.ReplaceAll(strings.ReplaceAll(text, "text_, ", ""), ", text_", ""), ordered})
		}
		mu.Unlock()
		must("START TRANSACTION WITH CONSISTENT SNAPSHOT")
		for _, q := range questions {
			compare(q.text, q.ordered)
		}
		if own != "" {
			if a := do(r.ctx, r.base, own); a.errNumber() == 1213 {
				must("START TRANSACTION WITH CONSISTENT SNAPSHOT")
			}
			for _, q := range questions {
				compare(q.text, q.ordered)
			}
		}
		mu.Lock()
		end := pick(rnd, []string{"COMMIT", "ROLLBACK"})
		mu.Unlock()
		must(end)
	}
	stop()
	r.caughtUp()
	for _, row := range runQuery(r.ctx, r.base, "CHECK TABLE g", false).rows {
		if row[len(row)-1] != "OK" {
			r.report("CHECK TABLE", "g", row)
		}
	}
}
