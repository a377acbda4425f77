package metamorphic

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// value is a literal of the kind, out of few, so that rows meet.
func (h *history) value(kind string) string {
	if h.chance(10) {
		return "NULL"
	}
	switch kind {
	case "INT", "BIGINT":
		return lit(strconv.Itoa(h.r.IntN(20)))
	case "DECIMAL(10,2)":
		return fmt.Sprintf("%d.%02d", h.r.IntN(10), h.r.IntN(4)*25)
	case "DATETIME":
		return lit(pick(h.r, []string{"'1999-01-02 03:04:05'", "'2000-02-03'", "'2100-01-01'", "'2101-02-03 04:05:06'"}))
	case "TEXT":
		if h.chance(15) { // long enough to lie apart from its row
			return lit("'" + strings.Repeat(pick(h.r, []string{"x", "yz"}), 1000+h.r.IntN(1500)) + "'")
		}
	}
	return lit("'" + pick(h.r, []string{"x", "y", "z", "abc", "abd", "12", "3", ""}) + "'")
}

// keyValue is a value of a column of the primary key.
func (h *history) keyValue(kind string) string {
	if kind == "INT" {
		return lit(strconv.Itoa(h.r.IntN(60)))
	}
	return lit(fmt.Sprintf("'k%d'", h.r.IntN(15)))
}

func (h *history) valueOf(t *model, c column) string {
	if c.name == "a" || c.name == "b" {
		return h.keyValue(c.kind)
	}
	return h.value(c.kind)
}

// columnsOf are columns to write: those of the key, and others.
func (h *history) columnsOf(t *model) []column {
	list := []column{t.cols[0], t.cols[1]}
	for _, c := range t.cols[2:] {
		if !c.attribute && h.chance(75) {
			list = append(list, c)
		}
	}
	if t.dynamic {
		for _, name := range []string{"p", "q"} {
			if h.chance(60) {
				list = append(list, column{name: name, kind: pick(h.r, []string{"INT", "VARCHAR(20)", "DECIMAL(10,2)"}), attribute: true})
			}
		}
	}
	return list
}

func names(cols []column) string {
	var list []string
	for _, c := range cols {
		list = append(list, c.name)
	}
	return strings.Join(list, ", ")
}

func (h *history) row(t *model, cols []column) []string {
	var list []string
	for _, c := range cols {
		list = append(list, h.valueOf(t, c))
	}
	return list
}

// loaded are rows for a file. Attributes of a file are text, and so left out.
func (h *history) loaded(t *model) ([][]string, string) {
	cols := slices.DeleteFunc(h.columnsOf(t), func(c column) bool { return c.attribute })
	var rows [][]string
	for range 1 + h.r.IntN(30) {
		rows = append(rows, h.row(t, cols))
	}
	return rows, names(cols)
}

// order makes the rows that a change meets come in one order.
func (t *model) order() string {
	if len(t.key) == 0 {
		return ""
	}
	return " ORDER BY " + strings.Join(t.key, ", ")
}

func (h *history) change(t *model) {
	h.changing = true
	defer func() { h.changing = false }()
	switch n := h.r.IntN(20); {
	case n < 9:
		cols := h.columnsOf(t)
		var rows []string
		for range 1 + h.r.IntN(pick(h.r, []int{1, 4, 12})) {
			rows = append(rows, "("+strings.Join(h.row(t, cols), ", ")+")")
		}
		verb, rest := pick(h.r, []string{"INSERT INTO", "INSERT INTO", "INSERT IGNORE INTO", "REPLACE INTO"}), ""
		if verb == "INSERT INTO" && h.chance(40) {
			c := pick(h.r, t.cols[2:])
			rest = " ON DUPLICATE KEY UPDATE " + c.name + " = " + pick(h.r, []string{"VALUES(" + c.name + ")", h.value(c.kind)})
			if c.attribute {
				rest = " ON DUPLICATE KEY UPDATE " + c.name + " = " + h.value(c.kind)
			}
		}
		h.add(change, "%s %s (%s) VALUES %s%s", verb, t.name, names(cols), strings.Join(rows, ", "), rest)
	case n < 11:
		from := pick(h.r, h.tables)
		if len(from.key) == 0 {
			return
		}
		h.add(change, "%s INTO %s (a, b) SELECT a + %d, b FROM %s%s%s%s", pick(h.r, []string{"INSERT IGNORE", "REPLACE", "INSERT"}),
			t.name, h.r.IntN(30), from.name, marked(from), h.where(from, ""), from.order())
	case n < 16:
		var set []string
		for range 1 + h.r.IntN(2) {
			c := pick(h.r, t.cols)
			if strings.Contains(strings.Join(set, ","), c.name+" =") {
				continue
			}
			v := h.valueOf(t, c)
			if (c.kind == "INT" || c.kind == "BIGINT") && len(t.key) > 0 && h.chance(40) {
				v = c.name + " + " + pick(h.r, []string{"1", "30"})
			}
			set = append(set, c.name+" = "+v)
		}
		if t.dynamic && h.chance(50) {
			set = append(set, pick(h.r, []string{"p", "q"})+" = "+h.value(pick(h.r, kinds[:3])))
		}
		limit := ""
		if len(t.key) > 0 && h.chance(30) {
			limit = fmt.Sprintf(" LIMIT %d", 1+h.r.IntN(5))
		}
		ignore := ""
		if len(t.key) > 0 && h.chance(30) { // without a key, who comes first is open
			ignore = "IGNORE "
		}
		h.add(change, "UPDATE %s%s SET %s%s%s%s", ignore, t.name, strings.Join(set, ", "), h.where(t, ""), t.order(), limit)
	case n < 18:
		limit := ""
		if len(t.key) > 0 && h.chance(70) {
			limit = fmt.Sprintf("%s LIMIT %d", t.order(), 1+h.r.IntN(5))
		}
		h.add(change, "DELETE FROM %s%s%s", t.name, h.where(t, ""), limit)
	default:
		o := pick(h.r, h.tables)
		if o == t {
			return
		}
		if h.chance(40) {
			h.add(change, "DELETE x FROM %s x%s JOIN %s y%s ON x.a = y.a%s", t.name, marked(t), o.name, marked(o), h.where(t, "x."))
			return
		}
		c := pick(h.r, t.cols[2:])
		h.add(change, "UPDATE %s x%s JOIN %s y%s ON x.b = y.b SET x.%s = %s%s", t.name, marked(t), o.name, marked(o), c.name, h.value(c.kind), h.where(t, "x."))
	}
}

// marked is a table and the place of a hint after it.
func marked(t *model) string { return hint + t.name + hint }
