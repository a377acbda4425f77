package variants

import (
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
)

// Changer changes statements by their tokens, with pieces of those that it has seen. It
// belongs to one goroutine.
type Changer struct {
	rnd   *rand.Rand
	names []string   // of functions
	seen  [][]string // tokens of statements
}

// New makes a Changer that puts in calls of the functions of the given names.
func New(rnd *rand.Rand, names []string) *Changer { return &Changer{rnd: rnd, names: names} }

var token = regexp.MustCompile("(?s)\\s*(?:'(?:[^'\\\\]|\\\\.|'')*'|\"(?:[^\"\\\\]|\\\\.|\"\")*\"|`(?:[^`]|``)*`|[0-9]+(?:\\.[0-9]+)?(?:[eE][-+]?[0-9]+)?|@{0,2}[\\pL_$][\\pL0-9_$]*|<=>|<=|>=|<>|!=|:=|->>|->|\\|\\||&&|<<|>>|/\\*.*?\\*/|.)")

// extremes are literals at the edges of types.
var extremes = []string{
	"NULL", "DEFAULT", "0", "-1", "1", "2", "64", "65", "255", "1000", "65536", "2147483647", "2147483648", "-2147483649", "9223372036854775807", "9223372036854775808", "18446744073709551615", "-9223372036854775808", "1e308", "-1e308", "0.1", "123456789012345678901234567890.5", "99999999999999999999999999999999999999999999999999999999999999999",
	"''", "'a'", "'%'", "'\\\\'", "'ä'", "x''", "x'ff'", "b'1'", "_utf8mb4'😀'", "_latin1'x'", "'2024-02-30'", "'0000-00-00'", "'9999-12-31 23:59:59.999999'", "'-838:59:59'", "DATE'2024-02-29'", "TIME'00:00:00'", "TIMESTAMP'1970-01-01 00:00:01'", "TRUE", "'[]'", "'{}'", "JSON_ARRAY()", "'$'", "'$[last]'", "ST_GeomFromText('POINT(0 0)')", "?", "@a", "*",
	"(SELECT 1)", "(SELECT NULL)", "(SELECT 1 UNION SELECT 2)", "(SELECT 1, 2)", "(VALUES ROW(1))", "(1, 2)", "COUNT(*)", "SUM(1) OVER ()", "ROW_NUMBER() OVER ()", "GROUP_CONCAT(1)", "RAND()", "NOW()", "INTERVAL 1 DAY", "CURRENT_TIMESTAMP(6)",
}

var operators = []string{" AND ", " OR ", " XOR ", " = ", " <=> ", " < ", " >= ", " <> ", " + ", " - ", " * ", " / ", " DIV ", " % ", " | ", " & ", " ^ ", " << ", " >> ", " LIKE ", " NOT LIKE ", " REGEXP ", " IN ", " NOT IN ", " IS ", " BETWEEN ", ", ", " || ", " COLLATE ", " MEMBER OF ", " SOUNDS LIKE ", " = ANY ", " > ALL ", " IS NOT "}

// clauses are put in at any place.
var clauses = []string{
	" WHERE 1", " WHERE 0", " HAVING 1", " GROUP BY 1", " GROUP BY 1 WITH ROLLUP", " ORDER BY 1", " ORDER BY 1 DESC", " ORDER BY RAND()", " LIMIT 0", " LIMIT 1", " LIMIT 1, 1", " LIMIT 18446744073709551615", " FOR UPDATE", " FOR SHARE SKIP LOCKED", " FOR UPDATE NOWAIT", " DISTINCT", " STRAIGHT_JOIN ", " NATURAL JOIN ", " LEFT JOIN ", " CROSS JOIN ", " ON 1", " USING (id)", " UNION ALL ", " UNION ", " INTERSECT ", " EXCEPT ", " IGNORE ", " NOT NULL", " UNIQUE", " PRIMARY KEY", " DEFAULT 1", " AUTO_INCREMENT", " FIRST", " AFTER id", " CASCADE", " IF EXISTS", " IF NOT EXISTS", " TEMPORARY", " RECURSIVE ", " LATERAL ", " AS x", " WITH ROLLUP", " OVER ()", " OVER (ORDER BY 1)", " ESCAPE 'x'", " ALL", " RETURNING *", " ON DUPLICATE KEY UPDATE id = 1", " COLLATE utf8mb4_bin", " UNSIGNED", " ZEROFILL", " GENERATED ALWAYS AS (1) STORED", " CHECK (1)", " INVISIBLE", " SQL_CALC_FOUND_ROWS", " INTO @x", ";", " EXPLAIN ", " EXPLAIN ANALYZE ", " SELECT ", " VALUES ", " (", ")", " NOT ", " ~", " -", " !", " BINARY ", " EXISTS ",
}

// Learn keeps a statement, whose pieces later changes may use.
func (c *Changer) Learn(text string) { c.seen = append(c.seen, token.FindAllString(text, -1)) }

// Change is the text of a statement with one to three changes.
func (c *Changer) Change(text string) string {
	toks := token.FindAllString(text, -1)
	for range 1 + c.rnd.IntN(3) {
		if len(toks) == 0 {
			return ""
		}
		toks = c.once(toks)
	}
	return strings.Join(toks, "")
}

// once makes one change.
func (c *Changer) once(toks []string) []string {
	at := c.rnd.IntN(len(toks))
	end := min(at+1+c.rnd.IntN(4), len(toks))
	with := func(in ...string) []string { return slices.Concat(toks[:at], in, toks[at+1:]) }
	switch c.rnd.IntN(11) {
	case 0: // leave out
		return slices.Concat(toks[:at], toks[end:])
	case 1: // twice
		return slices.Concat(toks[:end], toks[at:end], toks[end:])
	case 2: // another's
		if other := c.other(); len(other) > 0 {
			return with(" " + strings.TrimSpace(other[c.rnd.IntN(len(other))]))
		}
	case 3: // exchange
		other := c.rnd.IntN(len(toks))
		out := slices.Clone(toks)
		out[at], out[other] = " "+strings.TrimSpace(out[other]), " "+strings.TrimSpace(out[at])
		return out
	case 4:
		if at = c.literal(toks, at); at >= 0 {
			return with(" " + c.pick(extremes))
		}
	case 5: // one more operand
		return slices.Concat(toks[:end], []string{c.pick(operators), c.pick(extremes)}, toks[end:])
	case 6:
		return slices.Concat(toks[:end], []string{c.pick(clauses)}, toks[end:])
	case 7: // a call
		if at = c.literal(toks, at); at >= 0 {
			return with(" "+c.pick(c.names), "(", toks[at], c.pick([]string{")", ", " + c.pick(extremes) + ")"}))
		}
	case 8: // an operand of another statement
		if group := c.group(c.other()); len(group) > 0 {
			return slices.Concat(toks[:at], []string{" "}, group, toks[at+1:])
		}
	case 9: // the end of another statement
		if other := c.other(); len(other) > 0 {
			return slices.Concat(toks[:at], []string{" "}, other[c.rnd.IntN(len(other)):])
		}
	case 10: // an operand, nested
		if group := c.group(toks); len(group) > 0 {
			return with(slices.Concat([]string{" " + c.pick(c.names)}, group)...)
		}
	}
	return toks
}

func (c *Changer) pick(list []string) string { return list[c.rnd.IntN(len(list))] }

// other is one of the statements before, or nil.
func (c *Changer) other() []string {
	if len(c.seen) == 0 {
		return nil
	}
	return c.seen[c.rnd.IntN(len(c.seen))]
}

// literal is a place at or after at that has a name or a literal, or -1.
func (c *Changer) literal(toks []string, at int) int {
	for ; at < len(toks); at++ {
		if t := strings.TrimSpace(toks[at]); t != "" && strings.ContainsAny(t[:1], "'\"`0123456789abcdefghijklmnopqrstuvwxyz") {
			return at
		}
	}
	return -1
}

// group is a part in parentheses, or nil.
func (c *Changer) group(toks []string) []string {
	if len(toks) == 0 {
		return nil
	}
	for at := c.rnd.IntN(len(toks)); at < len(toks); at++ {
		if strings.TrimSpace(toks[at]) != "(" {
			continue
		}
		for depth, end := 0, at; end < len(toks); end++ {
			switch strings.TrimSpace(toks[end]) {
			case "(":
				depth++
			case ")":
				depth--
			}
			if depth == 0 {
				return toks[at : end+1]
			}
		}
	}
	return nil
}
