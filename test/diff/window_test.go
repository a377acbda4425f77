package diff

import (
	"fmt"
	"strings"
)

// windowed is a query with window functions. The keys of all tables end every
// order whose ties would show, so that all rows are defined.
func (g *gen) windowed() query {
	from := g.fromClause()
	list := g.keys()
	w := g.window()
	for i := range 1 + g.s.IntN(3) {
		if i > 0 && g.chance(20) {
			w = g.window()
		}
		list = append(list, g.overWindow(w))
	}
	text := "SELECT " + strings.Join(list, ", ") + from + g.whereClause()
	switch {
	case g.chance(15):
		var cols []string
		for i := range list {
			cols = append(cols, fmt.Sprintf("w.c%d", i))
			list[i] += fmt.Sprintf(" AS c%d", i)
		}
		text = "SELECT " + strings.Join(cols, ", ") + " FROM (SELECT " + strings.Join(list, ", ") + from + ") w WHERE " + pick(g.s, cols) + " " + g.compareOp() + " " + g.lit(kindInt)
	case g.chance(15):
		text = "SELECT DISTINCT " + list[len(list)-1] + from + g.whereClause()
	}
	return query{text: text, loose: true}
}

// windowKey is a column to divide or order by.
func (g *gen) windowKey() string {
	ref, _, ok := g.choose(func(c column) bool { return c.kind != kindOther })
	if !ok {
		return "a.id"
	}
	return ref
}

// window is what follows OVER.
type window struct {
	part, order string
	peers       bool // rows may be equal in the order
	number      bool // the order is by one number
}

func (g *gen) window() (w window) {
	dir := func() string { return pick(g.s, []string{"", "", " DESC"}) }
	if g.chance(60) {
		w.part = "PARTITION BY " + g.windowKey() + " "
	}
	switch n := g.s.IntN(100); {
	case n < 8:
		w.peers = true
	case n < 23:
		w.peers, w.order = true, "ORDER BY "+g.windowKey()+dir()
	case n < 35:
		ref, _, ok := g.choose(func(c column) bool { return (c.kind == kindInt || c.kind == kindDecimal) && !c.big && c.typ != "YEAR" })
		if !ok {
			ref = "a.id"
		}
		w.peers, w.number, w.order = true, true, "ORDER BY "+ref+dir()
	default:
		w.order = "ORDER BY " + g.windowKey() + dir()
		for _, k := range g.keys() {
			w.order += ", " + k + dir()
		}
	}
	return w
}

// overWindow is a call whose value every row's place in the window decides.
func (g *gen) overWindow(w window) string {
	over := func(frame string) string { return " OVER (" + w.part + w.order + frame + ")" }
	rank := func() string { return pick(g.s, []string{"RANK()", "DENSE_RANK()"}) + over("") }
	share := func() string { // MariaDB shows ten digits
		return "ROUND(" + pick(g.s, []string{"PERCENT_RANK()", "CUME_DIST()"}) + over("") + ", 8)"
	}
	switch {
	case w.order == "":
		return g.summed() + over("")
	case w.number && g.chance(75):
		return g.summed() + over(" RANGE BETWEEN "+g.frame())
	case w.peers:
		return g.of(rank, share, func() string { return g.summed() + over("") })
	}
	frame := func() string {
		if g.chance(30) {
			return ""
		}
		return " ROWS BETWEEN " + g.frame()
	}
	return g.of(rank, share,
		func() string { return "ROW_NUMBER()" + over("") },
		func() string { return fmt.Sprintf("NTILE(%d)", 1+g.l.IntN(5)) + over("") },
		func() string {
			return pick(g.s, []string{"LAG(", "LEAD("}) + g.expr(g.anyKind(), 1) + fmt.Sprintf(", %d)", 1+g.l.IntN(3)) + over("")
		},
		func() string {
			return pick(g.s, []string{"FIRST_VALUE(", "LAST_VALUE("}) + g.expr(g.anyKind(), 1) + ")" + over(frame())
		},
		func() string {
			return "NTH_VALUE(" + g.expr(g.anyKind(), 1) + fmt.Sprintf(", %d)", 1+g.l.IntN(3)) + over(frame())
		},
		func() string { return g.summed() + over(frame()) },
		func() string { return g.summed() + over(frame()) },
	)
}

// summed is an aggregate over a window.
func (g *gen) summed() string {
	num := func() string { return g.expr(pick(g.s, []kind{kindInt, kindDecimal}), 1) }
	return g.of(
		func() string { return "COUNT(*)" },
		func() string { return "COUNT(" + g.expr(g.anyKind(), 1) + ")" },
		func() string { return "SUM(" + num() + ")" },
		func() string { return "AVG(" + num() + ")" },
		func() string { return pick(g.s, []string{"MIN(", "MAX("}) + g.windowKey() + ")" },
	)
}

// frame are two bounds that may follow each other.
func (g *gen) frame() string {
	bounds := []string{"UNBOUNDED PRECEDING", "2 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "3 FOLLOWING", "UNBOUNDED FOLLOWING"}
	i := g.s.IntN(len(bounds) - 1)
	j := max(i, 1) + g.s.IntN(len(bounds)-max(i, 1))
	return bounds[i] + " AND " + bounds[j]
}

// rolledUp is a query with ROLLUP.
func (g *gen) rolledUp() query {
	from := g.fromClause()
	var keys []string
	for range 1 + g.s.IntN(3) {
		k := g.windowKey()
		if !strings.Contains(strings.Join(keys, ","), k) {
			keys = append(keys, k)
		}
	}
	list := append([]string(nil), keys...)
	for range 1 + g.s.IntN(3) {
		list = append(list, strings.ReplaceAll(g.aggregate(), "DISTINCT ", ""))
	}
	text := "SELECT " + strings.Join(list, ", ") + from + g.whereClause() + " GROUP BY " + strings.Join(keys, ", ") + " WITH ROLLUP"
	if g.chance(25) {
		text += " HAVING COUNT(*) > " + fmt.Sprint(g.l.IntN(4))
	}
	return query{text: text, loose: true}
}
