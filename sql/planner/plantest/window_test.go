package plantest_test

import (
	"fmt"
	"slices"
	"strings"
)

// windowed is a query with window functions whose rows are defined as a set:
// the selected columns are the keys of the order, so that rows that tie are
// equal in all that is shown and summed.
func (g *generator) windowed(tail string, ops []operand) string {
	var cols []string
	for range 2 + g.r.Intn(2) {
		if c := g.int(ops[g.r.Intn(len(ops))]); !slices.Contains(cols, c) {
			cols = append(cols, c)
		}
	}
	list := make([]string, len(cols))
	for i, c := range cols {
		list[i] = fmt.Sprintf("%s AS c%d", c, i)
	}
	n := 1 + g.r.Intn(3)
	for i := range n {
		list = append(list, fmt.Sprintf("%s AS f%d", g.window(cols), i))
	}
	sql := "SELECT " + strings.Join(list, ", ") + " FROM " + tail
	switch g.r.Intn(5) {
	case 0: // a filter that may go below, if c0 is the partition of all
		return fmt.Sprintf("SELECT * FROM (%s) w WHERE c0 %s %s", sql, g.pick("=", "<", ">=", "IS NOT NULL AND 1 ="), g.pick("0", "1", "2"))
	case 1:
		return fmt.Sprintf("SELECT * FROM (%s) w WHERE f%d <= 3", sql, g.r.Intn(n))
	case 2:
		return fmt.Sprintf("SELECT f0, COUNT(*), MAX(c0) FROM (%s) w GROUP BY f0", sql)
	}
	return sql
}

// window is a call with its window.
func (g *generator) window(cols []string) string {
	col := func() string { return cols[g.r.Intn(len(cols))] }
	part := ""
	switch g.r.Intn(4) {
	case 0:
	case 1:
		part = "PARTITION BY " + col() + ", " + col() + " "
	default:
		part = "PARTITION BY " + cols[0] + " "
	}
	desc := func() string { return g.pick("", "", " DESC") }
	agg := g.pick("SUM", "COUNT", "MIN", "MAX", "AVG", "BIT_XOR", "BIT_AND", "BIT_OR") + "(" + col() + ")"
	if g.r.Intn(3) == 0 { // one key: peers, and RANGE with offsets
		call := g.pick("RANK()", "DENSE_RANK()", "CUME_DIST()", "PERCENT_RANK()", agg, agg)
		frame := ""
		if call == agg {
			frame = g.pick("", "", " RANGE BETWEEN "+g.bounds())
		}
		return call + " OVER (" + part + "ORDER BY " + col() + desc() + frame + ")"
	}
	keys := make([]string, len(cols))
	for i, c := range cols {
		keys[i] = c + desc()
	}
	if g.r.Intn(2) == 0 {
		slices.Reverse(keys)
	}
	call := g.pick(agg, agg, agg, "ROW_NUMBER()", "NTILE(3)", "LAG("+col()+")", "LEAD("+col()+", 2, "+col()+")", "FIRST_VALUE("+col()+")", "LAST_VALUE("+col()+")", "NTH_VALUE("+col()+", 2)")
	frame := g.pick("", " ROWS BETWEEN "+g.bounds(), " ROWS BETWEEN "+g.bounds())
	return call + " OVER (" + part + "ORDER BY " + strings.Join(keys, ", ") + frame + ")"
}

// bounds are two bounds that may follow each other.
func (g *generator) bounds() string {
	all := []string{"UNBOUNDED PRECEDING", "3 PRECEDING", "1 PRECEDING", "CURRENT ROW", "1 FOLLOWING", "2 FOLLOWING", "UNBOUNDED FOLLOWING"}
	i := g.r.Intn(len(all) - 1)
	j := max(i, 1) + g.r.Intn(len(all)-max(i, 1))
	return all[i] + " AND " + all[j]
}

// rollup is a query with ROLLUP.
func (g *generator) rollup(tail string, ops []operand, aggs string) string {
	var by, shown []string
	for range 1 + g.r.Intn(3) {
		c := g.int(ops[g.r.Intn(len(ops))])
		if len(by) > 0 && g.r.Intn(4) == 0 {
			c += " % 3"
		}
		if !slices.Contains(by, c) {
			by = append(by, c)
		}
	}
	for i, c := range by {
		shown = append(shown, c, fmt.Sprintf("GROUPING(%s) g%d", c, i))
	}
	having := g.pick("", "", " HAVING COUNT(*) > 1", " HAVING "+by[0]+" IS NULL", " HAVING GROUPING("+by[0]+") = 0 AND "+by[0]+" > 0")
	return "SELECT " + strings.Join(shown, ", ") + ", " + aggs + " FROM " + tail + " GROUP BY " + strings.Join(by, ", ") + " WITH ROLLUP" + having
}
