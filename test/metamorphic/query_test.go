package metamorphic

import (
	"fmt"
	"slices"
	"strings"
)

// where is a condition, or none.
func (h *history) where(t *model, prefix string) string {
	if h.chance(15) {
		return ""
	}
	return " WHERE " + h.condition(t, prefix, 2)
}

func (h *history) condition(t *model, prefix string, depth int) string {
	if depth > 0 && h.chance(40) {
		return "(" + h.condition(t, prefix, depth-1) + pick(h.r, []string{" AND ", " OR "}) + h.condition(t, prefix, depth-1) + ")"
	}
	c := h.readable(t)
	for h.strict && h.changing && (c.attribute || c.mixed) {
		// What cannot be converted is an error only if the condition comes to it.
		c = h.readable(t)
	}
	name := prefix + c.name
	v := func() string {
		for {
			if s := h.valueOf(t, c); s != "NULL" {
				return s
			}
		}
	}
	switch h.r.IntN(8) {
	case 0:
		return name + " BETWEEN " + v() + " AND " + v()
	case 1:
		return name + pick(h.r, []string{" IN (", " NOT IN ("}) + v() + ", " + v() + ", " + v() + ")"
	case 2:
		return name + pick(h.r, []string{" IS NULL", " IS NOT NULL"})
	case 3:
		if strings.HasPrefix(c.kind, "VARCHAR") || c.kind == "TEXT" {
			return name + " LIKE " + pick(h.r, []string{"'a%'", "'k1%'", "'%b%'", "'x'"})
		}
	}
	return name + pick(h.r, []string{" = ", " = ", " < ", " <= ", " > ", " >= ", " <> ", " <=> "}) + v()
}

// readable is a column or an attribute.
func (h *history) readable(t *model) column {
	if t.dynamic && h.chance(25) {
		return column{name: pick(h.r, []string{"p", "q"}), kind: pick(h.r, []string{"INT", "VARCHAR(20)"}), attribute: true}
	}
	return pick(h.r, t.cols)
}

// grouped is something of which equal values look alike.
func (h *history) grouped(t *model) string {
	c := h.readable(t)
	if c.attribute {
		return "CAST(" + c.name + " AS CHAR(40))"
	}
	return c.name
}

// some columns, each once.
func (h *history) some(t *model, prefix string, n int) []string {
	var list []string
	for range n {
		c := prefix + h.readable(t).name
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

func (h *history) query() {
	if len(h.queries) > 0 && h.chance(15) {
		h.steps = append(h.steps, pick(h.r, h.queries)) // perhaps over changed tables
		return
	}
	t, o := pick(h.r, h.tables), pick(h.r, h.tables)
	s := step{kind: query}
	switch h.r.IntN(9) {
	case 0, 1:
		cols := h.some(t, "", 3)
		s.text = fmt.Sprintf("SELECT %s FROM %s%s%s", strings.Join(cols, ", "), t.name, marked(t), h.where(t, ""))
		if attributes := slices.ContainsFunc(cols, func(c string) bool { return c == "p" || c == "q" }); !attributes && h.chance(60) {
			s.ordered = true
			for i := range cols {
				if h.chance(30) {
					cols[i] += " DESC"
				}
			}
			s.text += " ORDER BY " + strings.Join(cols, ", ")
			if h.chance(60) {
				s.text += fmt.Sprintf(" LIMIT %d", 1+h.r.IntN(10))
			}
		}
	case 2:
		c, m := h.grouped(t), h.declared(t)
		s.text = fmt.Sprintf("SELECT %s, COUNT(*), COUNT(%s), MIN(%s), MAX(%s), SUM(a) FROM %s%s%s GROUP BY %s", c, m.name, m.name, m.name, t.name, marked(t), h.where(t, ""), c)
	case 3:
		c := pick(h.r, []string{"a", "b"})
		s.text = fmt.Sprintf("SELECT x.a, x.b, y.a, y.b FROM %s x%s %s %s y%s ON x.%s = y.%s%s", t.name, marked(t), pick(h.r, []string{"JOIN", "LEFT JOIN"}), o.name, marked(o), c, c, h.where(t, "x."))
	case 4:
		c := pick(h.r, []string{"a", "b"})
		s.text = fmt.Sprintf("SELECT a, b FROM %s%s WHERE %s %s (SELECT %s FROM %s%s%s)", t.name, marked(t), c, pick(h.r, []string{"IN", "NOT IN"}), c, o.name, marked(o), h.where(o, ""))
	case 5:
		s.text = fmt.Sprintf("SELECT DISTINCT %s FROM %s%s%s", h.grouped(t), t.name, marked(t), h.where(t, ""))
	case 6:
		s.text = fmt.Sprintf("SELECT a, b FROM %s%s%s UNION %sSELECT a, b FROM %s%s%s", t.name, marked(t), h.where(t, ""), pick(h.r, []string{"", "ALL "}), o.name, marked(o), h.where(o, ""))
	case 7:
		c := h.grouped(t)
		s.text = fmt.Sprintf("SELECT a, b, RANK() OVER (PARTITION BY %s ORDER BY a, b), COUNT(*) OVER (PARTITION BY %s) FROM %s%s%s", c, c, t.name, marked(t), h.where(t, ""))
	default:
		s.text = fmt.Sprintf("SELECT * FROM %s%s%s", t.name, marked(t), h.where(t, ""))
	}
	h.queries = append(h.queries, s)
	h.steps = append(h.steps, s)
}
