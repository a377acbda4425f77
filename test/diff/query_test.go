package diff

import (
	"fmt"
	"strconv"
	"strings"
)

// hint marks the place of an index hint after a table; render fills it.
const hint = "\x00"

// query is a generated SELECT.
type query struct {
	text    string // with hints of alias's table between \x00
	ordered bool   // ORDER BY decides the order of all rows
	loose   bool   // texts are equal if they are so in a case-insensitive collation
	apart   string // why it is not run on the oracle
}

// render fills the hint of each table, and takes the marks off literals.
func render(text string, hintOf func(table string) string) string {
	return strings.ReplaceAll(hinted(text, hintOf), literal, "")
}

func hinted(text string, hintOf func(table string) string) string {
	parts := strings.Split(text, hint)
	for i := 1; i < len(parts); i += 2 {
		parts[i] = hintOf(parts[i])
	}
	return strings.Join(parts, "")
}

func noHint(string) string { return "" }

// plain is the statement without its marks.
func plain(text string) string { return render(text, noHint) }

func (g *gen) query() query {
	g.loose, g.apart = false, ""
	q := g.someQuery()
	q.apart = g.apart
	return q
}

func (g *gen) someQuery() query {
	switch {
	case g.chance(8):
		return g.union()
	case g.chance(12):
		return g.windowed()
	case g.chance(6):
		return g.rolledUp()
	case g.chance(30):
		return g.grouped()
	}
	return g.simple()
}

// fromClause puts one to three tables in scope.
func (g *gen) fromClause() string {
	n := 1
	if g.chance(35) {
		n = 2
		if g.chance(25) {
			n = 3
		}
	}
	var b strings.Builder
	g.from = nil
	for i := range n {
		t := pick(g.s, g.tables)
		s := source{t, fmt.Sprintf("%c", 'a'+i)}
		ref := t.name + " " + s.alias + hint + t.name + hint
		if i == 0 {
			b.WriteString(" FROM " + ref)
			g.from = append(g.from, s)
			continue
		}
		left := g.from
		g.from = append(g.from, s)
		switch {
		case g.chance(12):
			b.WriteString(", " + ref)
		case g.chance(60):
			b.WriteString(" JOIN " + ref + " ON " + g.joinCond(left, s))
		default:
			b.WriteString(" LEFT JOIN " + ref + " ON " + g.joinCond(left, s))
		}
	}
	return b.String()
}

// joinKey compares columns of a key of the right side, in its order, with columns of the
// same kinds of the left one, or with values; it may be empty.
func (g *gen) joinKey(left []source, right source) string {
	scope := g.from
	g.from = []source{right}
	_, key := g.keyColumns()
	g.from = left
	defer func() { g.from = scope }()
	var list []string
	for i, c := range key {
		other, _, ok := g.choose(func(d column) bool { return d.kind == c.kind })
		switch {
		case i > 0 && g.chance(25) && len(c.values) > 0:
			other = param(g.often(c.values))
		case !ok:
			continue
		}
		op := "="
		if i > 0 && g.chance(40) {
			op = pick(g.s, []string{"<", "<=", ">", ">="})
		}
		list = append(list, right.alias+"."+c.name+" "+op+" "+other)
	}
	return strings.Join(list, " AND ")
}

// joinCond compares columns of one kind of both sides.
func (g *gen) joinCond(left []source, right source) string {
	if g.chance(25) {
		if e := g.joinKey(left, right); e != "" {
			return e
		}
	}
	var pairs []string
	for _, l := range left {
		for _, c := range l.t.cols {
			for _, d := range right.t.cols {
				if c.kind == d.kind && c.kind != kindOther {
					pairs = append(pairs, l.alias+"."+c.name+" = "+right.alias+"."+d.name)
				}
			}
		}
	}
	e := left[0].alias + ".id = " + right.alias + ".id"
	if len(pairs) > 0 && g.chance(75) {
		e = pick(g.s, pairs)
	}
	if g.chance(30) {
		e += " AND " + g.cond(1)
	}
	return e
}

func (g *gen) whereClause() string {
	if g.chance(20) {
		return ""
	}
	n := 1 + g.s.IntN(2)
	list := make([]string, n)
	for i := range list {
		if i == 0 && g.chance(35) {
			list[i] = g.keyCond()
		} else {
			list[i] = g.cond(2)
		}
	}
	return " WHERE " + strings.Join(list, " AND ")
}

func (g *gen) anyKind() kind {
	return pick(g.s, []kind{kindInt, kindInt, kindDecimal, kindText, kindText, kindFloat, kindDate, kindDatetime, kindTime})
}

// projection is a select item; keys are the columns that order all rows.
func (g *gen) projection(d int) string {
	if g.chance(8) {
		return g.scalar(pick(g.s, []kind{kindInt, kindDecimal, kindDate, kindDatetime}))
	}
	if g.chance(50) {
		if ref, c, ok := g.chooseAny(func(column) bool { return true }); ok {
			return c.shown(ref)
		}
	}
	return g.expr(g.anyKind(), d)
}

func (g *gen) keys() []string {
	var out []string
	for _, s := range g.from {
		for _, k := range s.t.pk {
			out = append(out, s.alias+"."+k)
		}
	}
	return out
}

func (g *gen) limit() string {
	s := " LIMIT " + param(strconv.Itoa(g.l.IntN(8)))
	if g.chance(30) {
		s += " OFFSET " + param(strconv.Itoa(g.l.IntN(5)))
	}
	return s
}

// literalStart reports a literal with a point.
func (g *gen) literalStart(s string) bool {
	return strings.ContainsAny(s[:1], "-0123456789'")
}

func (g *gen) simple() query {
	from := g.fromClause()
	n := 1 + g.s.IntN(4)
	list := make([]string, n)
	for i := range list {
		list[i] = g.projection(2)
	}
	var b strings.Builder
	distinct := g.chance(12)
	b.WriteString("SELECT ")
	if distinct {
		b.WriteString("DISTINCT ")
	}
	b.WriteString(strings.Join(list, ", ") + from + g.whereClause())
	q := query{loose: distinct}
	switch {
	case distinct:
	case g.chance(40):
		var keys []string
		if g.chance(30) {
			f, cols := g.keyColumns()
			dir := pick(g.s, []string{"", " DESC"})
			for _, c := range cols {
				keys = append(keys, f.alias+"."+c.name+dir)
			}
		}
		for range g.s.IntN(3) {
			ref, _, ok := g.choose(func(column) bool { return true })
			if !ok || g.chance(15) {
				if ref = g.expr(g.anyKind(), 1); !strings.Contains(ref, ".") || g.literalStart(ref) {
					continue // the position of a column, or no column at all
				}
			}
			keys = append(keys, ref+pick(g.s, []string{"", " DESC", " ASC"}))
		}
		dir := pick(g.s, []string{"", "", " DESC"})
		for _, k := range g.keys() {
			keys = append(keys, k+dir)
		}
		b.WriteString(" ORDER BY " + strings.Join(keys, ", "))
		q.ordered = true
		if g.chance(60) {
			b.WriteString(g.limit())
		}
	}
	q.text = b.String()
	return q
}

// aggregate is a call of an aggregate function.
func (g *gen) aggregate() string {
	g.inAgg = true
	defer func() { g.inAgg = false }()
	num := func() string { return g.expr(pick(g.s, []kind{kindInt, kindDecimal, kindDecimal}), 1) }
	dist := pick(g.s, []string{"", "", "DISTINCT "})
	return g.of(
		func() string { return "COUNT(*)" },
		func() string { return "COUNT(" + dist + g.expr(g.anyKind(), 1) + ")" },
		func() string { return "SUM(" + dist + num() + ")" },
		func() string { return "AVG(" + dist + num() + ")" },
		// Doubles of both signs have as many sums as orders.
		func() string { return "SUM(ABS(" + g.expr(kindFloat, 1) + "))" },
		func() string { return pick(g.s, []string{"MIN(", "MAX("}) + g.expr(g.anyKind(), 1) + ")" },
		func() string {
			ref, c, ok := g.choose(func(c column) bool { return c.kind != kindOther })
			if !ok {
				return "COUNT(*)"
			}
			return pick(g.s, []string{"MIN(", "MAX("}) + c.shown(ref) + ")"
		},
		func() string {
			return pick(g.s, []string{"BIT_AND(", "BIT_OR(", "BIT_XOR("}) + g.expr(kindInt, 0) + ")"
		},
		func() string { return "GROUP_CONCAT(a.id ORDER BY a.id, a." + g.from[0].t.pk[0] + ")" },
	)
}

func (g *gen) grouped() query {
	from := g.fromClause()
	var keys []string
	g.depth = 2 // subqueries are equal to no others
	for range g.s.IntN(3) {
		if ref, c, ok := g.choose(func(column) bool { return true }); ok && g.chance(75) {
			keys = append(keys, c.shown(ref))
		} else {
			e := g.expr(pick(g.s, []kind{kindInt, kindText, kindDate, kindDecimal}), 1)
			if !strings.Contains(e, ".") || g.literalStart(e) {
				continue
			}
			keys = append(keys, e)
		}
	}
	g.depth = 0
	var list []string
	for _, k := range keys {
		if g.chance(70) {
			list = append(list, k)
		}
	}
	for range 1 + g.s.IntN(3) {
		list = append(list, g.aggregate())
	}
	var b strings.Builder
	b.WriteString("SELECT " + strings.Join(list, ", ") + from + g.whereClause())
	if len(keys) > 0 {
		b.WriteString(" GROUP BY " + strings.Join(keys, ", "))
	}
	if g.chance(30) {
		b.WriteString(" HAVING " + g.of(
			func() string { return "COUNT(*) > " + g.lit(kindInt) },
			func() string { return g.aggregate() + " IS NOT NULL" },
			func() string { return "SUM(" + g.expr(kindInt, 0) + ") " + g.compareOp() + " " + g.lit(kindInt) },
		))
	}
	if g.chance(30) {
		b.WriteString(" ORDER BY COUNT(*)" + pick(g.s, []string{"", " DESC"}))
	}
	return query{text: b.String(), loose: true}
}

func (g *gen) union() query {
	kinds := make([]kind, 1+g.s.IntN(3))
	for i := range kinds {
		kinds[i] = g.anyKind()
	}
	var b strings.Builder
	for i := range 2 + g.s.IntN(2) {
		if i > 0 {
			b.WriteString(pick(g.s, []string{" UNION ", " UNION ALL "}))
		}
		t := pick(g.s, g.tables)
		g.from = []source{{t, "a"}}
		list := make([]string, len(kinds))
		for j, k := range kinds {
			list[j] = g.expr(k, 1)
		}
		b.WriteString("SELECT " + strings.Join(list, ", ") + " FROM " + t.name + " a" + hint + t.name + hint + g.whereClause())
	}
	return query{text: b.String(), loose: true}
}
