package diff

import (
	"fmt"
	"math/rand/v2"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// source is a table in a FROM clause under its alias.
type source struct {
	t     *table
	alias string
}

// gen makes statements. Structure is chosen by s, literals by l, so that the
// same s with another l gives the same statement with other literals.
type gen struct {
	s, l   *rand.Rand
	tables []*table
	from   []source // columns in scope
	depth  int      // of subqueries
	subs   int      // tables in subqueries, for their names
	target *table   // that is changed, which no subquery reads
	inAgg  bool
	loose  bool   // the statement may answer with one of several equal texts
	number int    // texts that are made here are taken for numbers
	apart  string // why it is not run on the oracle
}

func newGen(seed uint64, tables []*table, literals uint64) *gen {
	return &gen{s: rand.New(rand.NewPCG(seed, 1)), l: rand.New(rand.NewPCG(seed, 2+literals)), tables: tables}
}

func (g *gen) chance(percent int) bool { return g.s.IntN(100) < percent }

func pick[T any](r *rand.Rand, list []T) T { return list[r.IntN(len(list))] }

// of chooses one of several structures, without evaluating the others.
func (g *gen) of(list ...func() string) string { return list[g.s.IntN(len(list))]() }

// choose is a column in scope of a kind; found is false if no column is.
func (g *gen) choose(ok func(column) bool) (ref string, c column, found bool) {
	return g.chooseAny(func(c column) bool { return !c.raw && ok(c) })
}

func (g *gen) chooseAny(ok func(column) bool) (ref string, c column, found bool) {
	var refs []string
	var cols []column
	for _, f := range g.from {
		for _, c := range f.t.cols {
			if ok(c) {
				refs, cols = append(refs, f.alias+"."+c.name), append(cols, c)
			}
		}
	}
	if len(refs) == 0 {
		return "", column{}, false
	}
	i := g.s.IntN(len(refs))
	return refs[i], cols[i], true
}

// lit is a literal of a kind.
func (g *gen) lit(k kind) string {
	switch k {
	case kindInt:
		return strconv.Itoa(g.l.IntN(14) - 3)
	case kindDecimal:
		return pick(g.l, []string{"0.5", "1.5", "2.2", "9.9", "7.0", "0.1"})
	case kindFloat:
		return pick(g.l, []string{"5e-1", "1e0", "2e2", "3e1"})
	case kindText:
		return pick(g.l, textValues)
	case kindDate:
		return "DATE" + pick(g.l, dateValues[:6])
	case kindDatetime:
		return "TIMESTAMP" + pick(g.l, dtValues)
	}
	return "TIME" + pick(g.l, timeValues)
}

// text is a literal without its type, as clients write dates.
func (g *gen) bare(k kind) string {
	s := g.lit(k)
	for _, p := range []string{"DATE", "TIMESTAMP", "TIME"} {
		if rest, ok := strings.CutPrefix(s, p+"'"); ok {
			return "'" + rest
		}
	}
	return s
}

// col is a column of a kind that arithmetic may use, or a literal.
func (g *gen) col(k kind) string {
	ref, c, ok := g.choose(func(c column) bool { return c.kind == k && !c.big && c.name != "d0" })
	if !ok || g.chance(10) {
		return g.lit(k)
	}
	if g.zero(c.name) {
		g.apart = devZeroDate
	}
	return ref
}

// zero reports whether a column of that name has zero dates.
func (g *gen) zero(name string) bool {
	return slices.ContainsFunc(g.tables, func(t *table) bool { return t.zeroes[name] })
}

// asNumber is a text that is taken for a number.
func (g *gen) asNumber(d int) string {
	g.number++
	defer func() { g.number-- }()
	return g.expr(kindText, d)
}

// expr is an expression of a kind, at most d operators deep.
func (g *gen) expr(k kind, d int) string {
	if d <= 0 || g.chance(25) {
		if g.chance(15) {
			if g.chance(15) {
				return g.null(k)
			}
			return g.lit(k)
		}
		return g.col(k)
	}
	if g.chance(22) {
		return g.control(k, d-1)
	}
	switch k {
	case kindInt:
		return g.intExpr(d - 1)
	case kindDecimal:
		return g.decExpr(d - 1)
	case kindFloat:
		return g.floatExpr(d - 1)
	case kindText:
		return g.textExpr(d - 1)
	case kindDate:
		return g.dateExpr(d - 1)
	case kindDatetime:
		return g.datetimeExpr(d - 1)
	}
	return g.timeExpr(d - 1)
}

// null is NULL with a type.
func (g *gen) null(k kind) string {
	switch k {
	case kindInt:
		return "CAST(NULL AS SIGNED)"
	case kindDecimal:
		return "CAST(NULL AS DECIMAL(10,1))"
	case kindFloat:
		return "(NULL + 0e0)"
	}
	return "NULL"
}

// control is CASE, IF and their like.
func (g *gen) control(k kind, d int) string {
	e := func() string { return g.expr(k, d) }
	return g.of(
		func() string { return "IF(" + g.cond(d) + ", " + e() + ", " + e() + ")" },
		func() string { return "CASE WHEN " + g.cond(d) + " THEN " + e() + " ELSE " + e() + " END" },
		func() string {
			return "CASE WHEN " + g.cond(d) + " THEN " + e() + " WHEN " + g.cond(d) + " THEN " + e() + " END"
		},
		func() string {
			return "CASE " + g.expr(kindInt, d) + " WHEN " + g.lit(kindInt) + " THEN " + e() + " ELSE " + e() + " END"
		},
		func() string { return "COALESCE(" + e() + ", " + e() + ")" },
		func() string { return "IFNULL(" + e() + ", " + e() + ")" },
		func() string { return "NULLIF(" + e() + ", " + e() + ")" },
		func() string {
			if k == kindText && g.number > 0 {
				g.apart = devExtreme
			}
			return pick(g.s, []string{"LEAST(", "GREATEST("}) + e() + ", " + e() + ")"
		},
		func() string { return g.scalar(k) },
	)
}

func (g *gen) intExpr(d int) string {
	i := func() string { return g.expr(kindInt, d) }
	t := func() string { return g.expr(kindText, d) }
	dt := func() string { return g.expr(pick(g.s, []kind{kindDate, kindDatetime}), d) }
	f := func(name string, args ...string) string { return name + "(" + strings.Join(args, ", ") + ")" }
	return g.of(
		func() string { return "(" + i() + pick(g.s, []string{" + ", " - ", " * "}) + i() + ")" },
		func() string { return "(" + i() + pick(g.s, []string{" + ", " - ", " * "}) + g.lit(kindInt) + ")" },
		func() string { return "(" + i() + pick(g.s, []string{" DIV ", " % "}) + g.expr(kindInt, 0) + ")" },
		func() string { return "(" + i() + pick(g.s, []string{" & ", " | ", " ^ "}) + i() + ")" },
		func() string { return "(" + i() + " << " + strconv.Itoa(g.s.IntN(4)) + ")" },
		func() string { return f(pick(g.s, []string{"ABS", "SIGN", "-", "BIT_COUNT"}), i()) },
		func() string { return f(pick(g.s, []string{"FLOOR", "CEIL", "ROUND"}), g.expr(kindDecimal, d)) },
		func() string { return f("ROUND", i(), strconv.Itoa(-g.s.IntN(3))) },
		func() string {
			return f(pick(g.s, []string{"LENGTH", "CHAR_LENGTH", "ASCII", "CRC32", "BIT_LENGTH"}), t())
		},
		func() string { return f(pick(g.s, []string{"LOCATE", "INSTR", "STRCMP", "FIND_IN_SET"}), t(), t()) },
		func() string { return f("LOCATE", g.lit(kindInt), t(), strconv.Itoa(1+g.l.IntN(4))) },
		func() string { return f("FIELD", t(), t(), t()) },
		func() string { return f("INTERVAL", i(), g.lit(kindInt), "20", "30") },
		func() string {
			return f(pick(g.s, []string{"YEAR", "MONTH", "DAY", "DAYOFWEEK", "DAYOFYEAR", "WEEKDAY", "QUARTER", "TO_DAYS", "WEEKOFYEAR"}), dt())
		},
		func() string { return f("WEEK", dt(), strconv.Itoa(g.s.IntN(8))) },
		func() string { return f(pick(g.s, []string{"HOUR", "MINUTE", "SECOND"}), g.expr(kindTime, d)) },
		func() string {
			return f(pick(g.s, []string{"HOUR", "MINUTE", "SECOND", "MICROSECOND"}), g.expr(kindDatetime, d))
		},
		func() string { return f("DATEDIFF", dt(), dt()) },
		func() string {
			return "EXTRACT(" + pick(g.s, []string{"YEAR", "MONTH", "DAY", "YEAR_MONTH", "QUARTER", "DAY_HOUR", "HOUR_SECOND"}) + " FROM " + g.expr(kindDatetime, d) + ")"
		},
		func() string {
			return f("TIMESTAMPDIFF", pick(g.s, []string{"SECOND", "MINUTE", "HOUR", "DAY", "WEEK", "MONTH", "QUARTER", "YEAR"}), dt(), dt())
		},
		func() string { return "CAST(" + g.asNumber(d) + " AS SIGNED)" },
		func() string { return "CAST(" + g.expr(kindDecimal, d) + " AS SIGNED)" },
		func() string { return "(" + g.cond(d) + ")" },
	)
}

// slash divides; not in aggregates, whose sums MySQL rounds or not depending on
// the plan.
func (g *gen) slash() string {
	if g.inAgg {
		return " * "
	}
	return " / "
}

func (g *gen) decExpr(d int) string {
	e := func() string { return g.expr(pick(g.s, []kind{kindDecimal, kindDecimal, kindInt}), d) }
	x := func() string { return g.expr(kindDecimal, d) }
	return g.of(
		func() string { return "(" + x() + pick(g.s, []string{" + ", " - ", " * "}) + e() + ")" },
		func() string { return "(" + e() + g.slash() + g.expr(kindInt, 0) + ")" },
		func() string { return "(" + e() + g.slash() + g.expr(kindDecimal, 0) + ")" },
		func() string { return "(ABS(" + x() + ") % " + g.expr(kindDecimal, 0) + ")" },
		func() string { return pick(g.s, []string{"ABS(", "-("}) + x() + ")" },
		func() string {
			return pick(g.s, []string{"ROUND(", "TRUNCATE("}) + x() + ", " + strconv.Itoa(g.s.IntN(5)-1) + ")"
		},
		func() string {
			return "CAST(" + x() + " AS DECIMAL(" + pick(g.s, []string{"30,3", "40,10", "35,0"}) + "))"
		},
		func() string { return "CAST(" + g.expr(kindInt, d) + " AS DECIMAL(30,2))" },
		func() string { return "CAST(" + g.asNumber(d) + " AS DECIMAL(20,3))" },
		func() string { return "MOD(ABS(" + x() + "), " + g.expr(kindInt, 0) + ")" },
	)
}

func (g *gen) floatExpr(d int) string {
	e := func() string { return g.expr(pick(g.s, []kind{kindDecimal, kindFloat, kindFloat, kindInt}), d) }
	x := func() string { return g.expr(kindFloat, d) }
	return g.of(
		func() string { return "(" + x() + pick(g.s, []string{" + ", " - ", " * "}) + e() + ")" },
		func() string { return "(" + x() + " / " + g.expr(kindInt, 0) + ")" },
		func() string { return "SQRT(ABS(" + x() + "))" },
		func() string { return "(" + g.asNumber(d) + " + 0)" },
		func() string {
			return pick(g.s, []string{"ABS(", "-(", "RADIANS(", "ATAN("}) + x() + ")"
		},
		func() string { return "LN(" + g.expr(kindInt, d) + ")" },
		func() string { return "POW(" + g.lit(kindInt) + ", 2)" },
	)
}

func (g *gen) textExpr(d int) string {
	t := func() string { return g.expr(kindText, d) }
	n := func() string { return strconv.Itoa(g.l.IntN(7) - 1) }
	pos := func() string { return strconv.Itoa(g.l.IntN(6)) }
	return g.of(
		func() string { return "CONCAT(" + t() + ", " + t() + ")" },
		func() string { return "CONCAT(" + t() + ", " + g.expr(kindInt, d) + ")" },
		func() string { return "CONCAT(" + t() + ", " + g.expr(kindDecimal, 0) + ")" },
		func() string { return "CONCAT_WS('-', " + t() + ", " + t() + ")" },
		func() string {
			return pick(g.s, []string{"UPPER(", "LOWER(", "REVERSE(", "TRIM(", "LTRIM(", "HEX(", "QUOTE(", "TO_BASE64(", "MD5("}) + t() + ")"
		},
		func() string {
			return pick(g.s, []string{"LEFT(", "RIGHT(", "REPEAT(", "SUBSTRING("}) + t() + ", " + n() + ")"
		},
		func() string { return "SUBSTRING(" + t() + ", " + n() + ", " + n() + ")" },
		func() string {
			return pick(g.s, []string{"LPAD(", "RPAD("}) + t() + ", " + pos() + ", " + g.lit(kindInt) + ")"
		},
		func() string { return "REPLACE(" + t() + ", " + g.lit(kindText) + ", " + g.lit(kindText) + ")" },
		func() string { return "INSERT(" + t() + ", " + n() + ", " + n() + ", " + t() + ")" },
		func() string { return "SUBSTRING_INDEX(" + t() + ", 'o', " + n() + ")" },
		func() string { return "ELT(" + pos() + ", " + t() + ", " + t() + ")" },
		func() string { return "CAST(" + g.expr(kindInt, d) + " AS CHAR)" },
		func() string { return "CAST(" + g.expr(pick(g.s, []kind{kindDate, kindDatetime}), 0) + " AS CHAR)" },
		func() string { return pick(g.s, []string{"BIN(", "OCT(", "HEX("}) + g.expr(kindInt, d) + ")" },
		func() string { return "CONV(" + g.expr(kindInt, d) + ", 10, 16)" },
		func() string { return "FORMAT(" + g.expr(kindDecimal, 0) + ", " + strconv.Itoa(g.s.IntN(4)) + ")" },
		func() string {
			return "DATE_FORMAT(" + g.expr(kindDatetime, d) + ", '" + pick(g.s, []string{"%Y-%m-%d", "%W %M %e", "%H:%i:%s", "%y%j %a %b", "%U %u %V %v %X %x", "%r %T %p", "%D %c %k %l %%"}) + "')"
		},
		func() string { return pick(g.s, []string{"DAYNAME(", "MONTHNAME("}) + g.expr(kindDate, d) + ")" },
		func() string { return "MAKE_SET(" + pos() + ", 'a', " + t() + ", 'c')" },
		func() string {
			return "TRIM(" + pick(g.s, []string{"LEADING", "TRAILING", "BOTH"}) + " 'a' FROM " + t() + ")"
		},
	)
}

var units = []string{"DAY", "MONTH", "YEAR", "WEEK", "QUARTER"}

func (g *gen) dateExpr(d int) string {
	x := func() string { return g.expr(kindDate, d) }
	return g.of(
		func() string { return "DATE(" + g.expr(kindDatetime, d) + ")" },
		func() string {
			return "DATE_ADD(" + x() + ", INTERVAL " + g.lit(kindInt) + " " + pick(g.s, units) + ")"
		},
		func() string {
			return "(" + x() + " - INTERVAL " + g.expr(kindInt, 0) + " " + pick(g.s, units) + ")"
		},
		func() string { return "LAST_DAY(" + x() + ")" },
		func() string { return "MAKEDATE(2020, " + g.expr(kindInt, 0) + ")" },
		func() string { return "FROM_DAYS(730000 + " + g.lit(kindInt) + ")" },
		func() string { return "CAST(" + g.expr(kindDatetime, d) + " AS DATE)" },
		func() string { return "STR_TO_DATE(" + g.bare(kindDate) + ", '%Y-%m-%d')" },
	)
}

func (g *gen) datetimeExpr(d int) string {
	x := func() string { return g.expr(kindDatetime, d) }
	return g.of(
		func() string {
			return "DATE_ADD(" + x() + ", INTERVAL " + g.expr(kindInt, 0) + " " + pick(g.s, append([]string{"SECOND", "MINUTE", "HOUR"}, units...)) + ")"
		},
		func() string { return "(" + x() + " - INTERVAL '1 2' DAY_HOUR)" },
		func() string { return "(" + x() + " + INTERVAL '1:30' MINUTE_SECOND)" },
		func() string { return "CAST(" + g.expr(kindDate, d) + " AS DATETIME)" },
		func() string { return "TIMESTAMP(" + g.expr(kindDate, d) + ", '10:20:30')" },
		func() string { return "STR_TO_DATE(" + g.bare(kindDatetime) + ", '%Y-%m-%d %H:%i:%s')" },
		func() string { return "FROM_UNIXTIME(" + strconv.Itoa(g.l.IntN(1000000)) + ")" },
	)
}

func (g *gen) timeExpr(d int) string {
	return g.of(
		func() string { return "TIME(" + g.expr(kindDatetime, d) + ")" },
		func() string { return "SEC_TO_TIME(" + g.expr(kindInt, d) + ")" },
		func() string {
			return "MAKETIME(" + strconv.Itoa(g.l.IntN(30)) + ", " + strconv.Itoa(g.l.IntN(60)) + ", 5)"
		},
		func() string {
			a, b := g.col(kindTime), g.lit(kindTime)
			if strings.HasSuffix(a, ".t6") {
				g.apart = devTimeMax
			}
			return "TIMEDIFF(" + a + ", " + b + ")"
		},
		func() string {
			x := g.col(kindDatetime)
			if strings.HasSuffix(x, ".d3") || strings.HasSuffix(x, ".dm") {
				g.apart = devCastTime
			}
			return "CAST(" + x + " AS TIME)"
		},
	)
}

// compareOp is an operator between two values.
func (g *gen) compareOp() string {
	return pick(g.s, []string{"=", "=", "=", "<", "<=", ">", ">=", "<>", "<=>", "!="})
}

// fraction compares an integer with a number that need not be one.
func (g *gen) fraction(n, x string) string {
	if columnOnly.MatchString(n) && !columnIn.MatchString(x) {
		g.apart = devFraction
	}
	return g.compare(n, x)
}

// compare compares two expressions.
func (g *gen) compare(a, b string) string {
	g.compared(a, b)
	return a + " " + g.compareOp() + " " + b
}

// compared notes that the values of two expressions are compared.
func (g *gen) compared(a, b string) {
	if strings.Contains(a+b, " / ") || strings.Contains(a+b, "AVG(") {
		g.apart = devQuotient
	}
}

var (
	columnIn   = regexp.MustCompile(`\b[a-z][0-9]*\.[a-z]`)
	rowOrder   = regexp.MustCompile(`^\([a-z0-9.]+, [a-z0-9.]+\) (=|<|>=|IN)`)
	columnOnly = regexp.MustCompile(`^[a-z][0-9]*\.[a-z0-9]+$`)
)

// sargable is a condition on a column that an index may serve.
func (g *gen) sargable() string {
	if ref, c, ok := g.chooseAny(func(c column) bool { return c.raw }); ok && g.chance(25) {
		return g.rawCond(ref, c)
	}
	ref, c, ok := g.choose(func(c column) bool { return true })
	if !ok {
		return "1 = 1"
	}
	val := func() string {
		if len(c.values) == 0 {
			return param(strconv.Itoa(g.l.IntN(40)))
		}
		return param(pick(g.l, c.values))
	}
	return g.of(
		func() string { return ref + " = " + val() },
		func() string { return ref + " " + pick(g.s, []string{"<", "<=", ">", ">=", "<>", "<=>"}) + " " + val() },
		func() string { return val() + " " + pick(g.s, []string{"<", ">=", "="}) + " " + ref },
		func() string { return ref + pick(g.s, []string{"", " NOT"}) + " BETWEEN " + val() + " AND " + val() },
		func() string {
			list := val()
			for n := g.s.IntN(4); n > 0; n-- {
				list += ", " + val()
			}
			return ref + pick(g.s, []string{"", "", " NOT"}) + " IN (" + list + ")"
		},
		func() string { return ref + pick(g.s, []string{" IS NULL", " IS NOT NULL"}) },
		func() string {
			if c.kind != kindText {
				return ref + " > " + val()
			}
			return ref + pick(g.s, []string{" LIKE ", " NOT LIKE "}) + param(pick(g.l, []string{"'a%'", "'%b'", "'h_llo'", "'x\\%%'", "'%'", "''", "'A%'", "'foo%'", "'%e%'"}))
		},
		func() string { return "(" + ref + " = " + val() + " OR " + ref + " > " + val() + ")" },
		func() string {
			if c.kind != kindInt || c.big || c.name == "yr" {
				return ref + " = " + val()
			}
			return ref + " + 1 " + pick(g.s, []string{"=", ">", "<="}) + " " + val()
		},
		func() string { return "(" + ref + " >= " + val() + " AND " + ref + " < " + val() + ")" },
	)
}

// rawCond is a condition on a document or a point.
func (g *gen) rawCond(ref string, c column) string {
	if c.name == "pt" {
		return "ST_X(" + ref + ") " + pick(g.s, []string{"<", "=", ">"}) + " " + g.lit(kindInt)
	}
	if g.target != nil {
		return ref + pick(g.s, []string{" IS NULL", " IS NOT NULL"})
	}
	g.apart = devJSON
	n := strconv.Itoa(g.l.IntN(5))
	return g.of(
		func() string { return ref + "->'$.a' " + pick(g.s, []string{"=", ">", "<>"}) + " " + n },
		func() string { return n + " MEMBER OF (" + ref + "->'$.t')" },
		func() string { return "JSON_CONTAINS(" + ref + "->'$.t', '" + n + "')" },
		func() string { return "JSON_OVERLAPS(" + ref + "->'$.t', '[1, " + n + "]')" },
	)
}

// cond is a condition.
func (g *gen) cond(d int) string {
	if d <= 0 || g.chance(45) {
		return g.sargable()
	}
	d--
	kinds := []kind{kindInt, kindInt, kindDecimal, kindFloat, kindText, kindDate, kindDatetime, kindTime}
	k := pick(g.s, kinds)
	return g.of(
		func() string { return "(" + g.cond(d) + " AND " + g.cond(d) + ")" },
		func() string { return "(" + g.cond(d) + " OR " + g.cond(d) + ")" },
		func() string { return "(" + g.cond(d) + " AND " + g.cond(d) + " AND " + g.cond(d) + ")" },
		func() string { return "NOT (" + g.cond(d) + ")" },
		func() string { return "(" + g.cond(d) + " XOR " + g.cond(d) + ")" },
		func() string { return g.compare(g.expr(k, d), g.expr(k, d)) },
		func() string { return g.compare(g.expr(k, d), g.lit(k)) },
		func() string { return g.fraction(g.expr(kindInt, d), g.expr(kindDecimal, d)) },
		func() string { return g.fraction(g.expr(kindInt, d), g.expr(kindFloat, d)) },
		func() string { return g.asNumber(d) + " " + g.compareOp() + " " + g.lit(kindInt) },
		func() string { return g.expr(kindDate, d) + " " + g.compareOp() + " " + g.expr(kindDatetime, d) },
		func() string {
			c := g.cond(d)
			if rowOrder.MatchString(c) {
				g.apart = devRow
			}
			return "(" + c + ")" + pick(g.s, []string{" IS TRUE", " IS FALSE", " IS NOT TRUE", " IS UNKNOWN"})
		},
		func() string { return g.expr(k, d) + pick(g.s, []string{" IS NULL", " IS NOT NULL"}) },
		func() string { return g.expr(k, d) + " BETWEEN " + g.expr(k, 0) + " AND " + g.expr(k, 0) },
		func() string { return g.expr(k, d) + " IN (" + g.lit(k) + ", " + g.lit(k) + ", " + g.expr(k, 0) + ")" },
		func() string { return g.expr(kindText, d) + " LIKE CONCAT(" + g.expr(kindText, 0) + ", '%')" },
		func() string {
			return g.expr(kindText, d) + " REGEXP '" + pick(g.l, []string{"^a", "b$", "[a-c]+", "l{2}", "o|z"}) + "'"
		},
		g.rowCond, func() string { return g.subCond(d) }, func() string { return g.subCond(d) },
	)
}

// rowCond compares two columns with two values.
func (g *gen) rowCond() string {
	if len(g.from) > 1 {
		return g.sargable()
	}
	r1, c1, ok1 := g.choose(func(c column) bool { return len(c.values) > 0 && c.kind != kindOther })
	r2, c2, ok2 := g.choose(func(c column) bool { return len(c.values) > 0 && c.kind != kindOther })
	if !ok1 || !ok2 {
		return "1"
	}
	pair := func() string { return "(" + param(pick(g.l, c1.values)) + ", " + param(pick(g.l, c2.values)) + ")" }
	if g.chance(50) {
		return "(" + r1 + ", " + r2 + ") IN (" + pair() + ", " + pair() + ")"
	}
	return "(" + r1 + ", " + r2 + ") " + pick(g.s, []string{"=", "<", ">="}) + " " + pair()
}

// keyColumns are some columns of a key of a table in scope, in the order of the key.
func (g *gen) keyColumns() (f source, list []column) {
	f = pick(g.s, g.from)
	key := pick(g.s, f.t.keys)
	for range 2 { // mostly a long one
		if k := pick(g.s, f.t.keys); len(k) > len(key) {
			key = k
		}
	}
	for _, name := range key {
		for _, c := range f.t.cols {
			if c.name == name && c.kind != kindOther && !c.raw && g.chance(85) {
				list = append(list, c)
			}
		}
	}
	return f, list
}

// keyCond is what a search by a key has, such as a page after the last row of another one:
// values of some columns, and a comparison of others with a row.
func (g *gen) keyCond() string {
	f, cols := g.keyColumns()
	if len(cols) == 0 {
		return g.sargable()
	}
	val := func(c column) string {
		if len(c.values) == 0 {
			return param(strconv.Itoa(g.l.IntN(40)))
		}
		return param(g.often(c.values))
	}
	one := func(c column) string {
		ref := f.alias + "." + c.name
		return g.of(
			func() string { return ref + " = " + val(c) },
			func() string { return ref + " = " + val(c) },
			func() string { return ref + " IN (" + val(c) + ", " + val(c) + ")" },
			func() string { return ref + " " + pick(g.s, []string{"<", "<=", ">", ">=", "<=>"}) + " " + val(c) },
			func() string { return ref + " BETWEEN " + val(c) + " AND " + val(c) },
			func() string { return ref + " IS NULL" },
		)
	}
	row := func(list []column) string {
		refs := make([]string, len(list))
		for i, c := range list {
			refs[i] = f.alias + "." + c.name
		}
		vals := func() string {
			out := make([]string, len(list))
			for i, c := range list {
				out[i] = val(c)
			}
			return "(" + strings.Join(out, ", ") + ")"
		}
		left := "(" + strings.Join(refs, ", ") + ") "
		if g.chance(20) {
			return left + "IN (" + vals() + ", " + vals() + ")"
		}
		return left + pick(g.s, []string{"<", "<=", ">", ">=", "=", "<>"}) + " " + vals()
	}
	part := func() string {
		var conds []string
		var inRow []column
		for _, c := range cols {
			switch n := g.s.IntN(20); {
			case n < 9:
				inRow = append(inRow, c)
			case n < 13:
				conds = append(conds, f.alias+"."+c.name+" = "+val(c))
			case n < 15:
				conds = append(conds, one(c))
			}
		}
		if len(inRow) > 1 && len(g.from) == 1 {
			conds = append(conds, row(inRow))
		} else {
			for _, c := range inRow {
				conds = append(conds, one(c))
			}
		}
		if len(conds) == 0 {
			return one(cols[0])
		}
		return strings.Join(conds, " AND ")
	}
	out := part()
	if g.chance(25) {
		out = "(" + out + " OR " + part() + ")"
		if g.chance(50) {
			out += " AND " + one(pick(g.s, cols))
		}
	}
	return out
}

// subquery is FROM and WHERE of a subquery, and an expression over its columns.
// Most are correlated. ok is false where there may be none.
func (g *gen) subquery(k kind, d int) (inner, body string, ok bool) {
	var tables []*table
	for _, t := range g.tables {
		if t != g.target {
			tables = append(tables, t)
		}
	}
	if g.depth >= 2 || len(tables) == 0 {
		return "", "", false
	}
	outer := g.from
	g.depth++
	defer func() { g.from, g.depth = outer, g.depth-1 }()
	g.subs++
	s := source{pick(g.s, tables), fmt.Sprintf("s%d", g.subs)}
	g.from = []source{s}
	inner = g.expr(k, 1)
	body = " FROM " + s.t.name + " " + s.alias
	if g.chance(20) {
		g.subs++
		j := source{pick(g.s, tables), fmt.Sprintf("s%d", g.subs)}
		g.from = []source{s, j}
		body += pick(g.s, []string{" JOIN ", " LEFT JOIN "}) + j.t.name + " " + j.alias + " ON " + g.joinCond([]source{s}, j)
	}
	if len(outer) == 0 || g.chance(30) {
		if g.chance(60) {
			body += " WHERE " + g.cond(min(d, 1))
		}
		return inner, body, true
	}
	conds := []string{g.joinCond(outer, pick(g.s, g.from))}
	if g.chance(40) {
		conds = append(conds, g.cond(1))
	}
	both := append(append([]source(nil), outer...), g.from...)
	if g.chance(25) {
		g.from = both
		conds = append(conds, g.cond(1))
	}
	if g.chance(10) {
		g.from = both
		inner = g.expr(k, 1)
	}
	return inner, body + " WHERE " + strings.Join(conds, pick(g.s, []string{" AND ", " AND ", " AND ", " OR "})), true
}

// scalar is a subquery of one value, of a kind whose equal values are the same.
func (g *gen) scalar(k kind) string {
	switch k {
	case kindInt, kindDecimal, kindDate, kindDatetime:
	default:
		return g.col(k)
	}
	agg := pick(g.s, []string{"MAX", "MIN", "MAX", "MIN", "COUNT", "SUM"})
	if k != kindInt && agg == "COUNT" || k != kindDecimal && agg == "SUM" {
		agg = "MAX"
	}
	inner, body, ok := g.subquery(k, 1)
	if !ok {
		return g.col(k)
	}
	call := agg + "(" + inner + ")"
	if g.chance(15) {
		call = "COALESCE(" + call + ", " + g.lit(k) + ")"
	}
	return "(SELECT " + call + body + ")"
}

// subCond is a condition with a subquery.
func (g *gen) subCond(d int) string {
	k := pick(g.s, []kind{kindInt, kindText, kindDate, kindDecimal})
	outer := g.expr(k, min(d, 1))
	inner, body, ok := g.subquery(k, d)
	if !ok {
		return g.sargable()
	}
	return g.of(
		func() string {
			g.compared(outer, inner)
			return outer + pick(g.s, []string{" IN", " NOT IN"}) + " (SELECT " + inner + body + ")"
		},
		func() string { return pick(g.s, []string{"", "NOT "}) + "EXISTS (SELECT 1" + body + ")" },
		func() string {
			g.compared(outer, inner)
			return outer + " " + g.compareOp() + " (SELECT " + pick(g.s, []string{"MAX(", "MIN("}) + inner + ")" + body + ")"
		},
		func() string {
			if !columnIn.MatchString(inner) {
				g.apart = devConstant
			}
			g.compared(outer, inner)
			return outer + " " + pick(g.s, []string{"=", "<", ">", "<>", ">="}) + pick(g.s, []string{" ANY", " ALL"}) + " (SELECT " + inner + body + ")"
		},
		func() string { return g.lit(kindInt) + " " + g.compareOp() + " (SELECT COUNT(*)" + body + ")" },
	)
}
