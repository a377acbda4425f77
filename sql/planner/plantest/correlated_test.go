package plantest_test

import (
	"fmt"
	"strings"
)

// inner is a FROM of a subquery with a condition that reads columns of o, and
// its tables.
func (g *generator) inner(o operand, depth int) (from string, ops []operand) {
	for range 1 + g.r.Intn(4)/3 {
		g.subqueries++
		ops = append(ops, operand{fmt.Sprintf("s%d", g.subqueries), g.pick("a", "b", "c")})
	}
	s := ops[0]
	from = g.derived(s)
	if len(ops) > 1 {
		from += g.pick(" JOIN ", " LEFT JOIN ") + ops[1].table + " " + ops[1].alias + " ON " + g.joinCond(s, ops[1])
	}
	conds := []string{g.joinCond(o, ops[g.r.Intn(len(ops))])}
	if g.r.Intn(3) == 0 {
		conds = append(conds, g.cond(s, 1))
	}
	if depth > 0 && g.r.Intn(2) == 0 {
		conds = append(conds, g.correlated([]operand{o, s}[g.r.Intn(2)], depth-1))
	}
	if g.r.Intn(12) == 0 {
		conds[0] = g.cond(o, 0)
	}
	return from + " WHERE " + strings.Join(conds, g.pick(" AND ", " AND ", " AND ", " OR ")), ops
}

// signed is a column whose sums with others stay in range.
func (g *generator) signed(o operand) string { return o.alias + ".x" }

// list is a subquery of one or two columns of numbers.
func (g *generator) list(o operand, width, depth int) string {
	from, ops := g.inner(o, depth)
	s := ops[g.r.Intn(len(ops))]
	cols := g.int(s)
	if width == 2 {
		cols += ", " + g.int(ops[0])
	}
	switch g.r.Intn(8) {
	case 0:
		return "SELECT DISTINCT " + cols + " FROM " + from
	case 1:
		return "SELECT " + cols + " FROM " + from + " GROUP BY " + cols + g.pick("", " HAVING COUNT(*) > 1", " HAVING MAX("+g.int(s)+") > 1")
	case 2:
		if width == 1 {
			return "SELECT " + g.signed(s) + " + " + g.signed(o) + " FROM " + from
		}
	case 3:
		other, _ := g.inner(o, 0)
		return "SELECT " + cols + " FROM " + from + g.pick(" UNION ", " UNION ALL ") + "SELECT 1" + strings.Repeat(", 2", width-1) + " FROM " + other
	}
	return "SELECT " + cols + " FROM " + from
}

// scalar is a subquery of one value.
func (g *generator) scalar(o operand, depth int) string {
	from, ops := g.inner(o, depth)
	s := ops[0]
	switch g.r.Intn(10) {
	case 0:
		c := g.int(s)
		return "SELECT " + c + " FROM " + from + " ORDER BY " + c + g.pick("", " DESC") + " LIMIT 1"
	case 1:
		g.subqueries++
		return fmt.Sprintf("SELECT %s FROM a k%d WHERE k%d.id = %s", g.pick("y", "x", "COALESCE(x, -9)", "u"), g.subqueries, g.subqueries, g.int(o))
	case 2:
		return "SELECT SUM(" + g.signed(o) + " + " + g.signed(s) + ") FROM " + from
	case 3:
		return "SELECT COUNT(*) FROM " + from + " HAVING COUNT(*) > 1"
	case 4:
		return "SELECT COALESCE(" + g.pick("MIN", "SUM") + "(" + g.int(s) + "), -3) + COUNT(" + g.column(s) + ") FROM " + from
	}
	return "SELECT " + g.pick("COUNT(", "SUM(", "MIN(", "MAX(", "AVG(", "BIT_OR(", "COUNT(DISTINCT ") + g.int(s) + ") FROM " + from
}

func closed(sql string) string { return "(" + sql + ")" }

// correlated is a condition with a subquery that reads columns of o.
func (g *generator) correlated(o operand, depth int) string {
	cmp := g.pick("=", "=", "<", "<=", ">", ">=", "<>")
	switch g.r.Intn(9) {
	case 0, 1:
		return g.pick("", "NOT ") + "EXISTS " + closed(g.list(o, 1, depth))
	case 2, 3:
		return g.int(o) + g.pick(" IN ", " NOT IN ") + closed(g.list(o, 1, depth))
	case 4:
		return fmt.Sprintf("(%s, %s)%s%s", g.int(o), g.int(o), g.pick(" IN ", " NOT IN "), closed(g.list(o, 2, depth)))
	case 5:
		return g.int(o) + " " + cmp + g.pick(" ANY ", " ALL ") + closed(g.list(o, 1, depth))
	case 6:
		from, ops := g.inner(o, depth)
		return fmt.Sprintf("(%s, %s) %s (SELECT MIN(%s), COUNT(*) FROM %s)", g.int(o), g.int(o), g.pick("=", "<>", "<", "<=>"), g.int(ops[0]), from)
	}
	return g.int(o) + " " + g.pick(cmp, "<=>") + " " + closed(g.scalar(o, depth))
}

// value is an expression with a correlated subquery.
func (g *generator) value(o operand) string {
	if g.r.Intn(3) == 0 {
		return g.correlated(o, 1)
	}
	v := closed(g.scalar(o, 1))
	if g.r.Intn(4) == 0 {
		return "COALESCE(" + v + ", " + g.int(o) + ")"
	}
	return v
}

// lateral is a table with the columns of o's, of which rows are chosen by
// columns of left.
func (g *generator) lateral(left, o operand) string {
	g.subqueries++
	s := operand{fmt.Sprintf("l%d", g.subqueries), o.table}
	sql := fmt.Sprintf("SELECT %s.* FROM %s %s WHERE %s", s.alias, s.table, s.alias, g.joinCond(left, s))
	if g.r.Intn(3) == 0 {
		sql += " AND " + g.correlated(left, 0)
	}
	if s.table == "a" && g.r.Intn(3) == 0 {
		sql += " ORDER BY " + s.alias + ".id LIMIT 2"
	}
	return "LATERAL (" + sql + ") " + o.alias
}
