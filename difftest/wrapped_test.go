package difftest

import (
	"fmt"
	"strings"
)

// wrapped asks a query by way of constructs that must not change its answer:
// common table expressions that are put in and that are computed once, a view,
// a view on it, and set operations with itself.
func (r *run) wrapped(q query, base answer) {
	text := plain(q.text)
	n := len(base.double)
	if base.err != nil || n == 0 {
		return
	}
	cols := make([]string, n)
	for i := range cols {
		cols[i] = fmt.Sprintf("c%d", i)
	}
	list := strings.Join(cols, ", ")
	asks := []struct{ name, text string }{
		{"CTE", "WITH w (" + list + ") AS (" + text + ") SELECT * FROM w"},
		{"shared CTE", "WITH w (" + list + ") AS (" + text + "), n AS (SELECT COUNT(*) AS k FROM w) SELECT " + list + " FROM w, n"},
		{"derived table", "SELECT " + list + " FROM (" + text + ") AS w (" + list + ")"},
		{"INTERSECT ALL", "(" + text + ") INTERSECT ALL (" + text + ")"},
		{"EXCEPT ALL", "(" + text + ") EXCEPT ALL SELECT * FROM (" + text + ") AS w (" + list + ") WHERE 1 = 0"},
	}
	if r.view("wv", list, text) && r.view("wv2", list, "SELECT * FROM wv") {
		asks = append(asks, struct{ name, text string }{"view", "SELECT * FROM wv"}, struct{ name, text string }{"view on a view", "SELECT " + list + " FROM wv2"})
	}
	for _, a := range asks {
		r.answers++
		got := ask(r.ctx, r.base, a.text, false)
		if what := difference(base, got, false, q.loose); what != "" {
			r.report(a.name+": "+what, a.text, "\n  base:", base.short(), "\n  "+a.name+":", got.short())
			return
		}
	}
}

// view makes a view; false when that fails, which is a difference unless the
// query is of a kind that no view can have.
func (r *run) view(name, list, text string) bool {
	a := do(r.ctx, r.base, "CREATE OR REPLACE VIEW "+name+" ("+list+") AS "+text)
	if a.err == nil {
		return true
	}
	if n := a.errNumber(); n != 1235 && n != 1351 {
		r.report("CREATE VIEW", text, "\n ", a.err)
	}
	return false
}
