package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// value is a value for a column that may be a parameter.
func (g *gen) value(c column) string { return param(g.bareValue(c)) }

// bareValue is a value for a column: mostly a good one.
func (g *gen) bareValue(c column) string {
	if c.name == "id" {
		return strconv.Itoa(1 + g.l.IntN(60))
	}
	switch n := g.s.IntN(100); {
	case n < 12 && c.null:
		return "NULL"
	case n < 13:
		return "NULL"
	case n < 16:
		return "DEFAULT"
	case n < 19 && c.kind <= kindFloat:
		return pick(g.l, []string{"99999999999999999999", "-1", "1.5", "'7'", "'x'", "1e3", "-0.5", "'  8  '", "0x41"})
	case n < 19 && c.kind == kindText:
		return pick(g.l, []string{"12", "1.50", "'a string that is far too long for this column, is it not'", "'ab   '", "x'4142'"})
	case n < 19 && (c.kind == kindDate || c.kind == kindDatetime):
		return pick(g.l, []string{"'2020-02-30'", "20200102", "'2020-1-2'", "'nope'", "'2020-01-02 03:04:05'", "'2020-00-00'", "20200102030405", "'0000-00-00'"})
	}
	return pick(g.l, c.values)
}

func (g *gen) row(cols []column) string {
	list := make([]string, len(cols))
	for i, c := range cols {
		list[i] = g.value(c)
	}
	return "(" + strings.Join(list, ", ") + ")"
}

// fill inserts rows whatever their values are.
func (g *gen) fill(t *table, rows int) []string {
	var out []string
	id := 0
	for rows > 0 {
		n := min(rows, 15)
		list := make([]string, n)
		for i := range list {
			id++
			vals := make([]string, len(t.given()))
			for j, c := range t.given() {
				switch {
				case c.name == "id":
					vals[j] = strconv.Itoa(id)
				case c.null && g.l.IntN(6) == 0:
					vals[j] = "NULL"
				default:
					vals[j] = g.often(c.values)
				}
			}
			list[i] = "(" + strings.Join(vals, ", ") + ")"
		}
		out = append(out, "INSERT IGNORE INTO "+t.name+" ("+names(t.given())+") VALUES "+strings.Join(list, ", "))
		rows -= n
	}
	return out
}

// often is a value, mostly one of the first ones, so that rows meet values of conditions.
func (g *gen) often(values []string) string {
	if g.l.IntN(5) < 3 {
		values = values[:min(3, len(values))]
	}
	return pick(g.l, values)
}

// given are the columns that are not generated.
func (t *table) given() (list []column) {
	for _, c := range t.cols {
		if c.as == "" {
			list = append(list, c)
		}
	}
	return list
}

func names(cols []column) string {
	list := make([]string, len(cols))
	for i, c := range cols {
		list[i] = c.name
	}
	return strings.Join(list, ", ")
}

// change is an INSERT, REPLACE, UPDATE or DELETE of table t. It goes to the
// oracle too, so it has none of the conditions that would change other rows
// there.
func (g *gen) change(t *table) string {
	for {
		g.apart = ""
		text := g.anyChange(t)
		if !slices.Contains([]string{devRow, devTimeMax, devQuotient, devZeroDate, devFraction}, g.apart) && !nullKey.MatchString(text) && !equalBounds(plain(text)) {
			return text
		}
	}
}

func (g *gen) anyChange(t *table) string {
	g.from, g.target = []source{{t, t.name}}, t
	cols := t.given()
	if g.chance(20) { // leave some out
		var some []column
		for _, c := range cols {
			if c.name == "id" || c.name == "k" || !c.null || g.chance(70) {
				some = append(some, c)
			}
		}
		cols = some
	}
	var rows []string
	for range 1 + g.s.IntN(3) {
		rows = append(rows, g.row(cols))
	}
	into := "INTO " + t.name + " (" + names(cols) + ") "
	values := into + "VALUES " + strings.Join(rows, ", ")
	return g.of(
		func() string { return "INSERT " + values },
		func() string { return "INSERT IGNORE " + values },
		func() string { return "REPLACE " + values },
		func() string { return "INSERT " + values + " ON DUPLICATE KEY UPDATE " + g.assignments(t, true) },
		func() string {
			return "INSERT IGNORE " + into + "SELECT " + strings.Replace(names(cols), "id", "id + "+strconv.Itoa(1+g.l.IntN(19)), 1) + " FROM " + t.name + " WHERE " + g.cond(1) + " ORDER BY " + strings.Join(t.pk, ", ")
		},
		func() string { return g.update(t) },
		func() string { return g.update(t) },
		func() string { return g.deleteFrom(t) },
	)
}

func (g *gen) assignments(t *table, dup bool) string {
	var list []string
	set := map[string]bool{}
	for range 1 + g.s.IntN(2) {
		c := pick(g.s, t.given())
		if dup && set[c.name] {
			continue
		}
		set[c.name] = true
		if c.name == "id" || c.name == "k" {
			if !g.chance(10) {
				continue
			}
		}
		v := g.value(c)
		switch {
		case !c.null && plain(v) == "DEFAULT":
			v = c.name
		case c.kind != kindOther && g.chance(40):
			v = g.expr(c.kind, 1)
		case dup && g.chance(40):
			v = "VALUES(" + c.name + ")"
		}
		list = append(list, c.name+" = "+v)
	}
	if len(list) == 0 {
		return "id = id"
	}
	return strings.Join(list, ", ")
}

func (g *gen) tail(t *table) string {
	where := " WHERE " + g.cond(2)
	if g.chance(50) {
		where = " WHERE " + g.of(g.sargable, g.keyCond)
	}
	s := where + " ORDER BY " + strings.Join(t.pk, ", ")
	if g.chance(40) {
		s += fmt.Sprintf(" LIMIT %s", param(strconv.Itoa(g.l.IntN(5))))
	}
	return s
}

func (g *gen) update(t *table) string {
	return "UPDATE " + pick(g.s, []string{"", "", "IGNORE "}) + t.name + " SET " + g.assignments(t, false) + g.tail(t)
}

func (g *gen) deleteFrom(t *table) string {
	return "DELETE FROM " + t.name + g.tail(t)
}
