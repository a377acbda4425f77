package plantest_test

import (
	"fmt"
	"math/rand"
	"strings"
)

// generator makes random statements over the tables of a world.
type generator struct {
	r *rand.Rand
	w *world
	// prepare makes numbers parameters, of which it counts params.
	prepare bool
	params  int
	// subqueries counts the tables in correlated subqueries, for their names.
	subqueries int
}

// operand is a table in FROM.
type operand struct{ alias, table string }

func (g *generator) pick(list ...string) string { return list[g.r.Intn(len(list))] }

var ints = map[string][]string{"a": {"id", "x", "y", "u"}, "b": {"q", "x", "y"}, "c": {"id", "x"}}
var texts = map[string][]string{"a": {"s"}, "b": {"p", "s"}, "c": {"s"}}
var others = map[string][]string{"a": {"d", "t"}, "b": {"f", "e"}, "c": {"t"}}

func (g *generator) int(o operand) string  { return o.alias + "." + g.pick(ints[o.table]...) }
func (g *generator) text(o operand) string { return o.alias + "." + g.pick(texts[o.table]...) }

func (g *generator) column(o operand) string {
	all := append(append(append([]string(nil), ints[o.table]...), texts[o.table]...), others[o.table]...)
	return o.alias + "." + g.pick(all...)
}

func (g *generator) number() string {
	if g.prepare && g.r.Intn(2) == 0 {
		g.params++
		return "?"
	}
	return g.pick("0", "1", "2", "3", "5", "-1", "1.5", "NULL", "'2'", "1e0", "20", "9999999999")
}

// cond is a condition on one table.
func (g *generator) cond(o operand, depth int) string {
	if depth > 0 && g.r.Intn(3) == 0 {
		return fmt.Sprintf("(%s %s %s)", g.cond(o, depth-1), g.pick("AND", "OR", "OR"), g.cond(o, depth-1))
	}
	cmp := g.pick("=", "=", "<", "<=", ">", ">=", "<>", "<=>")
	switch g.r.Intn(16) {
	case 0:
		return fmt.Sprintf("%s IN (%s, %s, %s)", g.int(o), g.number(), g.number(), g.number())
	case 1:
		return fmt.Sprintf("%s IS %sNULL", g.column(o), g.pick("", "NOT "))
	case 2:
		return fmt.Sprintf("%s BETWEEN %s AND %s", g.int(o), g.number(), g.number())
	case 3:
		return fmt.Sprintf("%s %sLIKE '%s'", g.text(o), g.pick("", "", "NOT "), g.pick("a%", "ab%", "%b", "s%", "ss%", "_", "a\\\\%%", ""))
	case 4, 5:
		return fmt.Sprintf("%s %s %s", g.text(o), cmp, g.w.word())
	case 6:
		return fmt.Sprintf("%s IN (%s, %s)", g.text(o), g.w.word(), g.w.word())
	case 7:
		return fmt.Sprintf("NOT (%s)", g.cond(o, 0))
	case 8:
		if g.r.Intn(2) == 0 {
			return fmt.Sprintf("(%s, %s) IN ((%s, %s), (%s, %s))", g.int(o), g.int(o), g.number(), g.number(), g.number(), g.number())
		}
		return fmt.Sprintf("(%s, %s) %s (%s, %s)", g.int(o), g.int(o), g.pick("=", "<", ">=", "<=>"), g.number(), g.number())
	case 9:
		switch o.table {
		case "a":
			return fmt.Sprintf("%s.t %s '2024-01-0%d'", o.alias, cmp, 1+g.r.Intn(4))
		case "b":
			return fmt.Sprintf("%s.e %s '%s'", o.alias, g.pick("=", "<>", "<=>", "<"), g.pick("x", "y", "z"))
		}
		return fmt.Sprintf("%s.t %s '2024-01-0%d 00:00:00.%d'", o.alias, cmp, 1+g.r.Intn(3), g.r.Intn(2))
	case 10:
		if o.table == "a" {
			return fmt.Sprintf("%s.d %s %s", o.alias, cmp, g.pick("0", "1.1", "-2.2", "1", "0.001", "1e0"))
		}
		if o.table == "b" {
			return fmt.Sprintf("%s.f %s %s", o.alias, cmp, g.pick("0.5", "1", "1.5", "2.4999999999"))
		}
	case 11:
		return g.pick("1 = 1", "1 = 0", "NULL", fmt.Sprintf("%s + 1 > 2", g.int(o)))
	case 12:
		return fmt.Sprintf("%s %sIN (SELECT %s FROM %s)", g.int(o), g.pick("", "", "NOT "), g.pick("x", "x + 1"), g.subquery())
	case 13:
		return fmt.Sprintf("%s %s (SELECT %s(x) FROM %s)", g.int(o), cmp, g.pick("MIN", "MAX", "COUNT"), g.subquery())
	}
	return fmt.Sprintf("%s %s %s", g.int(o), cmp, g.number())
}

func (g *generator) subquery() string {
	table := g.pick("a", "b", "c")
	if g.r.Intn(2) == 0 {
		return table
	}
	return table + " WHERE " + g.simple(operand{table, table})
}

// simple is a condition without a subquery.
func (g *generator) simple(o operand) string {
	for {
		if c := g.cond(o, 0); !strings.Contains(c, "SELECT") && !strings.HasPrefix(c, "NOT") {
			return c
		}
	}
}

// joinCond is a condition between two tables.
func (g *generator) joinCond(l, r operand) string {
	switch g.r.Intn(8) {
	case 0:
		return fmt.Sprintf("%s %s %s", g.int(l), g.pick("<", ">=", "<=>", "<>"), g.int(r))
	case 1:
		if l.table != "c" && r.table != "c" {
			return fmt.Sprintf("%s = %s", g.text(l), g.text(r))
		}
	case 2:
		return fmt.Sprintf("%s = %s AND %s = %s", g.int(l), g.int(r), g.int(l), g.int(r))
	case 3:
		return fmt.Sprintf("%s = %s AND %s", g.int(l), g.int(r), g.cond(r, 1))
	case 4:
		return fmt.Sprintf("%s = %s AND %s", g.int(l), g.int(r), g.cond(l, 1))
	}
	return fmt.Sprintf("%s = %s", g.int(l), g.int(r))
}

// derived is a table or a subquery over it with the same columns.
func (g *generator) derived(o operand) string {
	switch g.r.Intn(8) {
	case 0:
		return fmt.Sprintf("(SELECT * FROM %s WHERE %s) %s", o.table, g.simple(operand{o.table, o.table}), o.alias)
	case 1:
		return fmt.Sprintf("(SELECT DISTINCT * FROM %s ORDER BY 1) %s", o.table, o.alias)
	case 2:
		return fmt.Sprintf("(SELECT * FROM %s UNION ALL SELECT * FROM %s WHERE %s) %s", o.table, o.table, g.simple(operand{o.table, o.table}), o.alias)
	}
	return o.table + " " + o.alias
}

func (g *generator) from() (string, []operand) {
	n := []int{1, 1, 2, 2, 3}[g.r.Intn(5)]
	var ops []operand
	var text strings.Builder
	for i := range n {
		o := operand{fmt.Sprintf("t%d", i), g.pick("a", "b", "c")}
		if i > 0 && g.r.Intn(8) == 0 {
			text.WriteString(g.pick(" JOIN ", " LEFT JOIN ") + g.lateral(ops[g.r.Intn(len(ops))], o))
			text.WriteString(" ON " + g.pick("TRUE", g.joinCond(ops[g.r.Intn(len(ops))], o)))
			ops = append(ops, o)
			continue
		}
		if i > 0 {
			text.WriteString(g.pick(" JOIN ", " JOIN ", " LEFT JOIN ", " LEFT JOIN ", " RIGHT JOIN ", " STRAIGHT_JOIN "))
		}
		text.WriteString(g.derived(o))
		if i > 0 {
			text.WriteString(" ON " + g.joinCond(ops[g.r.Intn(len(ops))], o))
		}
		ops = append(ops, o)
	}
	return text.String(), ops
}

// statement is a query; ordered says that the order of its rows is defined
// (then the rows are compared in it).
func (g *generator) statement() (sql string, ordered bool) {
	from, ops := g.from()
	var where []string
	for range g.r.Intn(3) {
		where = append(where, g.cond(ops[g.r.Intn(len(ops))], 2))
	}
	if g.r.Intn(3) == 0 {
		where = append(where, g.correlated(ops[g.r.Intn(len(ops))], 1))
	}
	if g.r.Intn(12) == 0 {
		where = append(where, "("+g.cond(ops[0], 0)+" OR "+g.correlated(ops[g.r.Intn(len(ops))], 1)+")")
	}
	tail := from
	if len(where) > 0 {
		tail += " WHERE " + strings.Join(where, " AND ")
	}
	o := ops[g.r.Intn(len(ops))]
	switch g.r.Intn(6) {
	case 0, 1:
		return g.grouped(tail, o), false
	case 2:
		return g.windowed(tail, ops), false
	}
	// All columns of all tables order the rows up to equal ones.
	var keys []string
	for i := range ops {
		p := ops[(i+g.r.Intn(2))%len(ops)]
		keys = append(keys, g.column(p))
	}
	cols := []string{g.column(o)}
	for _, p := range ops {
		cols = append(cols, p.alias+"."+g.pick(ints[p.table]...), g.column(p))
	}
	switch g.r.Intn(3) {
	case 0:
		if g.r.Intn(3) == 0 {
			cols = append(cols, g.value(o))
		}
		return "SELECT " + strings.Join(cols, ", ") + " FROM " + tail + g.pick("", "", " FOR UPDATE", " FOR SHARE"), false
	case 1:
		cols = cols[:1+g.r.Intn(2)]
		all := strings.Join(cols, ", ")
		sql = "SELECT DISTINCT " + all + " FROM " + tail
		if strings.ContainsAny(all, "sp") {
			// Which of the equal texts stays is chance.
			return "SELECT COUNT(*) FROM (" + rename(sql, cols) + ") d", false
		}
		dirs := []string{g.pick("", " DESC"), g.pick("", " DESC")}
		for i, c := range cols {
			cols[i] = c + dirs[i]
		}
		return sql + " ORDER BY " + strings.Join(cols, ", ") + g.limit(), true
	}
	// The selected columns are the keys: rows that are equal in them are equal.
	for i, k := range keys {
		cols = append(cols[:i], k)
		keys[i] = k + g.pick("", "", " DESC")
	}
	cols = cols[:len(keys)]
	for i, c := range cols {
		if strings.HasSuffix(c, ".s") || strings.HasSuffix(c, ".p") {
			cols[i] = "WEIGHT_STRING(" + c + ")"
		}
	}
	return "SELECT " + strings.Join(cols, ", ") + " FROM " + tail + " ORDER BY " + strings.Join(keys, ", ") + g.limit(), true
}

func rename(sql string, cols []string) string {
	for i, c := range cols {
		sql = strings.Replace(sql, c, fmt.Sprintf("%s AS c%d", c, i), 1)
	}
	return sql
}

func (g *generator) limit() string {
	if g.prepare && g.r.Intn(2) == 0 {
		g.params += 2
		return " LIMIT ? OFFSET ?"
	}
	switch g.r.Intn(4) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" LIMIT %d OFFSET %d", g.r.Intn(9), g.r.Intn(6))
	}
	return fmt.Sprintf(" LIMIT %d", g.r.Intn(12))
}

func (g *generator) grouped(tail string, o operand) string {
	aggs := []string{"COUNT(*)", "MIN(" + g.int(o) + ")", "MAX(" + g.int(o) + ")", "SUM(" + g.int(o) + ")", "COUNT(DISTINCT " + g.column(o) + ")", "SUM(" + g.value(o) + ")"}
	list := g.pick(aggs...) + ", " + g.pick(aggs...)
	switch g.r.Intn(4) {
	case 0, 1:
		return "SELECT " + list + " FROM " + tail
	case 2:
		return g.rollup(tail, []operand{o}, list)
	}
	if g.r.Intn(3) == 0 {
		return "SELECT " + aggs[1+g.r.Intn(2)] + " FROM " + tail
	}
	by := g.int(o)
	if g.r.Intn(3) == 0 {
		by = g.column(o)
		return "SELECT " + list + " FROM " + tail + " GROUP BY " + by
	}
	return "SELECT " + by + ", " + list + " FROM " + tail + " GROUP BY " + by + g.pick("", " HAVING COUNT(*) > 1", " HAVING "+by+" > 1 AND COUNT(*) < 9")
}
