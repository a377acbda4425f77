package parser

import (
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// The bounds of a text, see checkNesting.
const (
	// MaxNesting is how deep a statement may nest.
	MaxNesting = 1000
	// MaxChain is how many operators of a chain such as 1+1+… a statement may
	// have.
	MaxChain = 100_000
	// maxOperators bounds the operators and keywords of a chain: a term has up to
	// six of them, as in AND a NOT BETWEEN -1 AND -2.
	maxOperators = 6 * MaxChain
	// maxJoins is how many times one FROM may say JOIN. TiDB's parser goes over all
	// that precede, for each.
	maxJoins = 1000
	// maxAdjacent is how many string literals or comments in a row TiDB's parser
	// gets: it joins each literal with all those before.
	maxAdjacent = 100
)

// checkNesting refuses a text whose tree may be so deep that a recursion over
// it takes too much stack: 1436. The parser itself does not recurse, but all
// that reads its tree does, beginning with the parser's own SetFlag.
//
// A level of a tree takes an operator, a keyword or a parenthesis. Parentheses
// and operators in a row are nesting. All others since the last comma are
// counted: most of them are chains, which later phases walk in a loop.
//
// out is the text with blanks for most comments of a long row: TiDB's lexer
// recurses from one to the next. adjacent reports more than maxAdjacent string
// literals in a row.
func checkNesting(src string, mode types.SQLMode) (out string, adjacent bool, err error) {
	if len(src) <= 2*maxAdjacent {
		return src, false, nil
	}
	c := nestingCounter{scanner: newScanner(src, mode)}
	err = c.run()
	if c.out != nil {
		src = string(c.out)
	}
	return src, c.adjacent > maxAdjacent, err
}

// nestingCounter is the state of checkNesting. It reads tokens as TiDB's lexer
// does, where scanner reads MySQL's: what is a string for one of them only
// could hide operators from the count.
type nestingCounter struct {
	scanner
	code   bool           // inside of /*! … */
	dot    bool           // after a point: the next word is a name
	levels []nestingLevel // of the open parentheses
	top    nestingLevel
	ops    int // of all levels
	row    int // operators and keywords since the last operand
	most   int // of ops, with row and parentheses

	strings  int // in a row
	adjacent int // the most of them
	comments int // in a row
	out      []byte
}

// nestingLevel is what is between two parentheses.
type nestingLevel struct {
	ops    int  // since the last comma
	tables bool // after FROM or UPDATE, where commas are a chain of joins
	table  bool // a table may begin here
	joins  int  // since SELECT
}

func (c *nestingCounter) run() error {
	for c.pos < len(c.src) {
		c.step()
		deep := len(c.levels) + c.row
		switch {
		case deep > MaxNesting:
			return sqlerr.StackOverrun(MaxNesting)
		case c.ops > maxOperators:
			return sqlerr.ChainTooLong(MaxChain)
		case c.top.joins > maxJoins:
			return sqlerr.TooManyTables(maxJoins)
		}
		c.most = max(c.most, deep+c.ops)
	}
	return nil
}

func (c *nestingCounter) step() {
	start := c.pos
	b := c.src[start]
	switch {
	case isSpace(b), b == 0x85, b == 0xA0:
		c.pos++
	case b == '\'', b == '"':
		n := c.strings + 1
		c.quoted(tokString, b, !c.noBackslf)
		c.operand()
		c.strings, c.adjacent = n, max(c.adjacent, n)
	case b == '`':
		c.quoted(tokQuoted, b, false)
		c.operand()
	case b == '#', b == '-' && c.isDashComment():
		c.lineEnd()
		c.passed(start)
	case b == '/' && strings.HasPrefix(c.src[start:], "/*"):
		c.comment()
	case b == '*' && c.code && strings.HasPrefix(c.src[start:], "*/"):
		c.pos, c.code = start+2, false
		c.row++ // a comment for the lexer
	case b == '(', b == '[', b == '{':
		c.pos++
		c.levels = append(c.levels, c.top)
		c.top = nestingLevel{tables: c.top.table, table: c.top.table}
	case b == ')', b == ']', b == '}':
		c.pos++
		c.ops -= c.top.ops
		if n := len(c.levels); n > 0 {
			c.top, c.levels = c.levels[n-1], c.levels[:n-1]
		}
		c.operand()
	case b == ',':
		c.pos++
		if c.operand(); c.top.tables {
			c.ops, c.top.ops, c.top.table = c.ops+1, c.top.ops+1, true
		} else {
			c.ops, c.top.ops = c.ops-c.top.ops, 0
		}
	case b == '.' && !(start+1 < len(c.src) && isDigit(c.src[start+1])):
		c.pos, c.dot = start+1, true
	case b == '@', b == ';', b == '?':
		c.pos++
		if c.operand(); b == ';' {
			c.top.joins = 0
		}
	case isDigit(b), b == '.':
		c.number()
		c.operand()
	case isWordByte(b):
		for c.pos < len(c.src) && isWordByte(c.src[c.pos]) {
			c.pos++
		}
		c.word(c.src[start:c.pos])
	default:
		c.pos++
		// Of <=, ||, -> and the like the first character is counted.
		if start > 0 && strings.IndexByte("=<>|&", b) >= 0 && strings.IndexByte("=<>|&!:-", c.src[start-1]) >= 0 {
			return
		}
		c.operator()
	}
}

// comment passes a comment, or the beginning of one that is code.
func (c *nestingCounter) comment() {
	if strings.HasPrefix(c.src[c.pos:], "/*!") {
		c.pos, c.code = c.pos+3, true
		c.row++
		return
	}
	start := c.pos
	if c.pos = c.commentEnd(); strings.HasSuffix(c.src[start+2:c.pos], "*/") {
		c.passed(start)
	}
}

// passed makes blanks of the comment from start on if many precede it.
func (c *nestingCounter) passed(start int) {
	if c.comments++; c.comments > maxAdjacent {
		c.out = blankComment(c.out, c.src, start, c.pos)
	}
}

// operand ends a row of operators.
func (c *nestingCounter) operand() {
	c.row, c.strings, c.comments, c.dot, c.top.table = 0, 0, 0, false, false
}

func (c *nestingCounter) operator() {
	c.row++
	c.ops++
	c.top.ops++
	c.strings, c.comments, c.dot, c.top.table = 0, 0, false, false
}

// word counts a keyword; BEGIN is one that is not reserved.
func (c *nestingCounter) word(w string) {
	var buf [32]byte
	if c.dot || len(w) > len(buf) {
		c.operand()
		return
	}
	upper := buf[:len(w)]
	for i := range upper {
		upper[i] = w[i]
		if w[i] >= 'a' && w[i] <= 'z' {
			upper[i] -= 0x20
		}
	}
	switch string(upper) {
	case "NULL", "TRUE", "FALSE", "DEFAULT":
		c.operand()
	case "SELECT":
		c.operator()
		c.top.tables, c.top.joins = false, 0
	case "FROM", "UPDATE":
		c.operator()
		c.top.tables, c.top.table = true, true
	case "JOIN", "STRAIGHT_JOIN":
		c.operator()
		c.top.table = c.top.tables
		c.top.joins++
	case "BEGIN":
		c.operator()
	default:
		if reserved()[string(upper)] {
			c.operator()
		} else {
			c.operand()
		}
	}
}

// joinStrings makes one literal of all but the first of many adjacent ones: the
// first may name a column.
func (h *shim) joinStrings() {
	for i := 0; i < len(h.toks); i++ {
		from := i
		for i < len(h.toks) && h.toks[i].kind == tokString {
			i++
		}
		if i-from <= maxAdjacent {
			continue
		}
		var b strings.Builder
		b.WriteByte('\'')
		for j := from + 1; j < i; j++ {
			h.singleQuoted(&b, h.text(j))
		}
		b.WriteByte('\'')
		h.replace(from+1, i-1, b.String())
	}
}

// singleQuoted writes the inside of a string literal, with its escapes, between single
// quotes.
func (h *shim) singleQuoted(b *strings.Builder, text string) {
	quote, body := text[0], text[1:len(text)-1]
	if quote == '\'' {
		b.WriteString(body)
		return
	}
	for i := 0; i < len(body); i++ {
		switch c := body[i]; {
		case c == '\\' && h.mode&types.ModeNoBackslashEscapes == 0:
			b.WriteString(body[i : i+2])
			i++
		case c == quote:
			b.WriteByte(c)
			i++
		case c == '\'':
			b.WriteString("''")
		default:
			b.WriteByte(c)
		}
	}
}
