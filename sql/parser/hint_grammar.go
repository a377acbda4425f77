package parser

import (
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// Hint is an optimizer hint.
type Hint struct {
	Name string // in capitals
	// Block is the query block of a leading @name, or that QB_NAME names; "" for
	// the block of the hint.
	Block   string
	Tables  []HintTable
	Indexes []string // of the one table
	// Words are the strategies of SEMIJOIN and SUBQUERY.
	Words []string
	// Variable and Value are of SET_VAR; MAX_EXECUTION_TIME has a value too.
	Variable string
	Value    HintValue
}

// HintTable is a table of a hint, with the query block of table@block.
type HintTable struct{ Name, Block string }

// HintValue is a value of SET_VAR: a number, or a text.
type HintValue struct {
	Text     string
	IsNumber bool
	Number   uint64
}

// hintForm is how the arguments of a hint are written.
type hintForm uint8

const (
	hintTables   hintForm = iota + 1 // (t, …), (@q), (@q t, …), ()
	hintOrder                        // (t, …), (@q t, …)
	hintIndexes                      // (t [i, …]), (@q t [i, …]), (t, …)
	hintBlocks                       // ([@q])
	hintWords                        // ([@q] [word, …])
	hintName                         // (name)
	hintVariable                     // (name = value)
	hintNumeral                      // (n)
)

var hintForms = map[string]hintForm{
	"BKA": hintTables, "BNL": hintTables, "HASH_JOIN": hintTables, "MERGE": hintTables, "DERIVED_CONDITION_PUSHDOWN": hintTables,
	"MERGE_JOIN":  hintTables, // our own
	"JOIN_PREFIX": hintOrder, "JOIN_SUFFIX": hintOrder, "JOIN_ORDER": hintOrder, "JOIN_FIXED_ORDER": hintBlocks,
	"INDEX": hintIndexes, "JOIN_INDEX": hintIndexes, "GROUP_INDEX": hintIndexes, "ORDER_INDEX": hintIndexes,
	"INDEX_MERGE": hintIndexes, "SKIP_SCAN": hintIndexes, "MRR": hintIndexes,
	"NO_ICP": hintIndexes, "NO_RANGE_OPTIMIZATION": hintIndexes,
	"SEMIJOIN": hintWords, "SUBQUERY": hintWords, "QB_NAME": hintName, "RESOURCE_GROUP": hintName,
	"SET_VAR": hintVariable, "MAX_EXECUTION_TIME": hintNumeral,
}

// formOf is the form of a hint's arguments, 0 for a name that is no hint.
func formOf(name string) hintForm {
	if f := hintForms[name]; f != 0 {
		return f
	}
	base, ok := strings.CutPrefix(name, "NO_")
	switch f := hintForms[base]; {
	case !ok, base == "SUBQUERY", strings.HasPrefix(base, "NO_"):
	case f == hintTables, f == hintIndexes, base == "SEMIJOIN":
		return f
	}
	return 0
}

var hintStrategies = map[string][]string{
	"SEMIJOIN": {"FIRSTMATCH", "LOOSESCAN", "MATERIALIZATION", "DUPSWEEDOUT"},
	"SUBQUERY": {"MATERIALIZATION", "INTOEXISTS"},
}

// hintLexer reads the tokens of a comment of hints.
type hintLexer struct {
	text     string
	pos, end int
	ansi     bool

	// The token: its kind is the character itself, or one of the constants.
	kind  byte
	start int
	val   string
}

const (
	hintEnd    = 0
	hintIdent  = 'i'
	hintAt     = '@' // @name; alone without one
	hintNumber = '0'
	hintString = 's'
	hintBad    = '?'
)

func (l *hintLexer) next() {
	for l.pos < l.end && strings.IndexByte(" \t\r\n", l.text[l.pos]) >= 0 {
		l.pos++
	}
	l.start, l.val = l.pos, ""
	if l.pos >= l.end {
		l.kind = hintEnd
		return
	}
	c := l.text[l.pos]
	switch {
	case c == '(' || c == ')' || c == ',' || c == '=':
		l.kind = c
		l.pos++
	case c == '@':
		l.pos++
		l.kind = hintAt
		switch {
		case l.pos < l.end && isNameByte(l.text[l.pos]):
			l.val = l.word()
		case l.pos < l.end && (l.text[l.pos] == '`' || l.ansi && l.text[l.pos] == '"'):
			if !l.quoted(l.text[l.pos]) {
				l.kind = hintBad
			}
		}
	case c == '`' || c == '"' || c == '\'':
		l.kind = hintIdent
		if c == '\'' || c == '"' && !l.ansi {
			l.kind = hintString
		}
		if !l.quoted(c) {
			l.kind = hintBad
		}
	case isNameByte(c):
		l.val = l.word()
		l.kind = hintIdent
		if isHintNumber(l.val) {
			l.kind = hintNumber
		}
	default:
		l.kind = hintBad
	}
}

func (l *hintLexer) word() string {
	from := l.pos
	for l.pos < l.end && isNameByte(l.text[l.pos]) {
		l.pos++
	}
	return l.text[from:l.pos]
}

// quoted reads a quoted name or text, with doubled quotes; false if it does not
// end.
func (l *hintLexer) quoted(q byte) bool {
	var b strings.Builder
	for l.pos++; l.pos < l.end; l.pos++ {
		c := l.text[l.pos]
		if c == q {
			if l.pos+1 >= l.end || l.text[l.pos+1] != q {
				l.pos++
				l.val = b.String()
				return true
			}
			l.pos++
		}
		b.WriteByte(c)
	}
	return false
}

// isHintNumber reports digits with perhaps a K, M or G.
func isHintNumber(s string) bool {
	digits := strings.TrimRight(s, "kKmMgG")
	return len(s)-len(digits) <= 1 && digits != "" && strings.Trim(digits, "0123456789") == ""
}

// readHints reads a comment of hints; a warning, and no hint, if it is not
// well-formed: 1064.
func readHints(text string, c hintComment, mode types.SQLMode) ([]Hint, *sqlerr.Error) {
	l := &hintLexer{text: text, pos: c.at, end: c.end, ansi: mode&types.ModeANSIQuotes != 0}
	var out []Hint
	l.next()
	for {
		h, ok := l.hint()
		if !ok {
			line := 1 + strings.Count(text[:l.start], "\n")
			return nil, sqlerr.HintSyntax(clip(text[l.start:]), line)
		}
		out = append(out, h)
		if l.kind == hintEnd {
			return out, nil
		}
	}
}

// take passes a token of a kind.
func (l *hintLexer) take(kind byte) (string, bool) {
	if l.kind != kind {
		return "", false
	}
	val := l.val
	l.next()
	return val, true
}

func (l *hintLexer) hint() (h Hint, ok bool) {
	if l.kind != hintIdent || l.text[l.start] == '`' {
		return h, false
	}
	h.Name = strings.ToUpper(l.val)
	form := formOf(h.Name)
	if form == 0 {
		return h, false
	}
	l.next()
	if _, ok := l.take('('); !ok {
		return h, false
	}
	if l.kind == hintAt && form <= hintWords {
		if h.Block = l.val; h.Block == "" {
			l.next()
			return h, false
		}
		l.next()
	}
	if !l.arguments(&h, form) {
		return h, false
	}
	_, ok = l.take(')')
	return h, ok
}

func (l *hintLexer) arguments(h *Hint, form hintForm) bool {
	switch form {
	case hintTables:
		return l.kind == ')' || l.tables(h)
	case hintOrder:
		return l.kind == ')' && h.Block != "" || l.tables(h)
	case hintIndexes:
		return l.kind == ')' && h.Block != "" || l.indexes(h)
	case hintBlocks:
		return true
	case hintWords:
		return l.kind == ')' || l.words(h)
	case hintName:
		var ok bool
		if h.Block, ok = l.take(hintIdent); !ok {
			h.Block, ok = l.take(hintNumber)
		}
		return ok
	case hintVariable:
		var ok bool
		if h.Variable, ok = l.take(hintIdent); !ok {
			return false
		}
		if _, ok = l.take('='); !ok {
			return false
		}
		return l.value(h)
	}
	return l.kind == hintNumber && l.value(h)
}

// table is name or name@block.
func (l *hintLexer) table(h *Hint) (t HintTable, ok bool) {
	if t.Name, ok = l.take(hintIdent); !ok {
		return t, false
	}
	if l.kind == hintAt && l.val != "" && h.Block == "" {
		t.Block = l.val
		l.next()
	}
	return t, true
}

func (l *hintLexer) tables(h *Hint) bool {
	for {
		t, ok := l.table(h)
		if !ok {
			return false
		}
		h.Tables = append(h.Tables, t)
		if _, more := l.take(','); !more {
			return true
		}
	}
}

// indexes is a table and its indexes, or several tables.
func (l *hintLexer) indexes(h *Hint) bool {
	t, ok := l.table(h)
	if !ok {
		return false
	}
	h.Tables = append(h.Tables, t)
	if _, more := l.take(','); more {
		return l.tables(h)
	}
	for l.kind == hintIdent {
		h.Indexes = append(h.Indexes, l.val)
		l.next()
		if _, more := l.take(','); !more {
			return true
		}
		if l.kind != hintIdent {
			return false
		}
	}
	return true
}

func (l *hintLexer) words(h *Hint) bool {
	allowed := hintStrategies[strings.TrimPrefix(h.Name, "NO_")]
	for {
		word := strings.ToUpper(l.val)
		known := false
		for _, w := range allowed {
			known = known || w == word
		}
		if l.kind != hintIdent || !known {
			return false
		}
		h.Words = append(h.Words, word)
		l.next()
		if _, more := l.take(','); !more || h.Name == "SUBQUERY" {
			return !more
		}
	}
}

func (l *hintLexer) value(h *Hint) bool {
	v := HintValue{Text: l.val}
	switch l.kind {
	case hintIdent, hintString:
	case hintNumber:
		digits := strings.TrimRight(l.val, "kKmMgG")
		shift := 0
		switch strings.ToLower(l.val[len(digits):]) {
		case "k":
			shift = 10
		case "m":
			shift = 20
		case "g":
			shift = 30
		}
		n, err := strconv.ParseUint(digits, 10, 64)
		if err != nil || n<<shift>>shift != n {
			return false
		}
		v.IsNumber, v.Number = true, n<<shift
	default:
		return false
	}
	h.Value = v
	l.next()
	return true
}

// String is the hint as MySQL's warning 3126 writes it.
func (h Hint) String() string {
	var b strings.Builder
	b.WriteString(h.Name + "(")
	name := func(t HintTable) string {
		if t.Block == "" {
			return "`" + t.Name + "`"
		}
		return "`" + t.Name + "`@`" + t.Block + "`"
	}
	switch form := formOf(h.Name); form {
	case hintVariable:
		if h.Value.IsNumber {
			return "SET_VAR(" + h.Variable + "=" + h.Value.Text + ") "
		}
		return "SET_VAR(" + h.Variable + "='" + h.Value.Text + "') "
	case hintNumeral:
		b.WriteString(h.Value.Text)
	case hintName:
		b.WriteString("`" + h.Block + "`")
	case hintTables, hintIndexes:
		for i, t := range h.Tables {
			if i > 0 {
				b.WriteByte(',')
			}
			if t.Block == "" {
				t.Block = h.Block
			}
			b.WriteString(name(t))
		}
		if len(h.Tables) == 0 && h.Block != "" {
			b.WriteString("@`" + h.Block + "`")
		}
		// Hints that take their indexes together are written in another way.
		together := form == hintIndexes && (strings.HasSuffix(h.Name, "INDEX") || strings.HasSuffix(h.Name, "INDEX_MERGE") || strings.HasSuffix(h.Name, "SKIP_SCAN"))
		for i, x := range h.Indexes {
			if i > 0 {
				b.WriteByte(',')
			}
			if i == 0 && together {
				b.WriteByte(' ')
			}
			b.WriteString(" `" + x + "`")
		}
		if !together {
			b.WriteByte(' ')
		}
	default:
		if h.Block != "" {
			b.WriteString("@`" + h.Block + "`")
		}
		b.WriteByte(' ')
		for i, t := range h.Tables {
			if i > 0 {
				b.WriteByte(',')
			}
			b.WriteString(name(t))
		}
		b.WriteString(strings.Join(h.Words, ", "))
	}
	return b.String() + ")"
}
