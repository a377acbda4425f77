package diff

import (
	"database/sql"
	"fmt"
	"strings"
)

// wrapped are queries wrapped in constructs that must not change an answer:
// common table expressions that are put in and that are computed once, a view,
// a view on it, a stored copy, and set operations with itself.
func wrapped(conn *sql.Conn) []path {
	as := func(form string) func(*run, string, int) string {
		return func(_ *run, text string, n int) string { return fill(form, text, n) }
	}
	view := func(last string) func(*run, string, int) string {
		return func(r *run, text string, n int) string {
			if r.made(fill("CREATE OR REPLACE VIEW wv (#) AS @", text, n)) && r.made(fill("CREATE OR REPLACE VIEW wv2 (#) AS SELECT * FROM wv", text, n)) {
				return fill(last, text, n)
			}
			return ""
		}
	}
	copied := func(r *run, text string, n int) string {
		do(r.ctx, conn, "DROP TEMPORARY TABLE IF EXISTS copied")
		if r.made(fill("CREATE TEMPORARY TABLE copied AS SELECT * FROM (@) AS w (#)", text, n)) {
			return "SELECT * FROM copied"
		}
		return ""
	}
	list := []path{
		{name: "CTE", text: as("WITH w (#) AS (@) SELECT * FROM w")},
		{name: "shared CTE", text: as("WITH w (#) AS (@), n AS (SELECT COUNT(*) AS k FROM w) SELECT # FROM w, n")},
		{name: "derived table", text: as("SELECT # FROM (@) AS w (#)")},
		{name: "INTERSECT ALL", text: as("(@) INTERSECT ALL (@)")},
		{name: "EXCEPT ALL", text: as("(@) EXCEPT ALL SELECT * FROM (@) AS w (#) WHERE 1 = 0")},
		{name: "view", text: view("SELECT * FROM wv")},
		{name: "view on a view", text: view("SELECT # FROM wv2")},
		{name: "stored copy", text: copied},
	}
	for i := range list {
		list[i].conn, list[i].reorders, list[i].retypes = conn, true, true
	}
	return list
}

// fill puts a query for @ and names for its n columns for # into a form; "" if
// the query has failed and has no columns.
func fill(form, text string, n int) string {
	if n == 0 {
		return ""
	}
	cols := make([]string, n)
	for i := range cols {
		cols[i] = fmt.Sprintf("c%d", i)
	}
	return strings.NewReplacer("@", text, "#", strings.Join(cols, ", ")).Replace(form)
}

// made makes a view or a copy; false when that fails, which is a difference
// unless the query is of a kind that none can have.
func (r *run) made(text string) bool {
	if text == "" {
		return false
	}
	a := do(r.ctx, r.base, text)
	if n := a.errNumber(); a.err != nil && n != 1235 && n != 1351 && n != errTooLate && !tolerated(n) {
		r.report("setup", text, "\n ", a.err)
	}
	return a.err == nil
}
