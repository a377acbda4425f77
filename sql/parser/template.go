package parser

import (
	"bytes"
	"math"
	"strconv"
	"unsafe"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Template is the text of a statement with ? for its literals, and the
// literals. It is reused: the slices are valid until the next call, and string
// values may share the bytes of the text.
type Template struct {
	Text  []byte
	Vals  []value.Datum
	Types []schema.Type
	buf   []byte // strings with escapes, resolved
}

// AppendKey appends what distinguishes plans of a template in addition to its
// text: the classes of the literals, and the digits of decimals, on which result
// types depend.
func (t *Template) AppendKey(dst []byte) []byte {
	for i := range t.Types {
		switch x := &t.Types[i]; x.ID {
		case schema.TypeBigInt:
			if x.Unsigned {
				dst = append(dst, 'u')
			} else {
				dst = append(dst, 'i')
			}
		case schema.TypeDouble:
			dst = append(dst, 'f')
		case schema.TypeDecimal:
			dst = append(dst, 'd', byte(x.Len), byte(x.Scale))
		default:
			dst = append(dst, 's')
		}
	}
	return dst
}

// templateString is the type of string literals in templates: plans do not depend
// on their length. Its collation is the connection's.
var templateString = schema.Type{ID: schema.TypeVarchar, Len: 16383}

// clause is where the scanner is inside a statement; it decides what becomes
// of literals.
type clause uint8

const (
	clauseStart  clause = iota // before anything that holds values: keep
	clauseFields               // select list: literals name columns
	clauseValues               // WHERE, ON, SET, VALUES: take out
	clauseLimit                // take out
	clauseKeep                 // GROUP BY, HAVING, ORDER BY, tables
)

// maxDepth is how deep parentheses may nest.
const maxDepth = 32

// templater is the state of one pass.
type templater struct {
	src  []byte
	pos  int
	from int // start of what is not yet copied
	dst  *Template
	ansi bool
	nobs bool

	depth  int
	clause [maxDepth + 1]clause
	call   [maxDepth + 1]bool // inside the parentheses of a function call
	named  [maxDepth + 1]bool // inside parentheses in a select list, whose text names a column
	score  [maxDepth + 1]bool // inside the parentheses of AGAINST or a function like it

	prev     prevToken // the token before
	keepNext bool      // the next literal decides the meaning
	between  int       // BETWEENs that wait for their AND
	constant bool      // the operand to the left is a literal that was kept
	scores   bool      // the word before gives a score
	insert   bool      // an INSERT whose VALUES, SET or SELECT has not come yet
}

// prevToken is the class of the token before the current one.
type prevToken uint8

const (
	prevOperator prevToken = iota // operator, comma, opening parenthesis, start
	prevOperand                   // identifier, literal, closing parenthesis
	prevCall                      // a word that is a function name if ( follows
	prevKeyword                   // a keyword that an expression may follow
	prevLogic                     // WHERE, AND, OR, ON: a condition follows
	prevString                    // a string literal: another one would join it
)

// outcome of one token.
type outcome uint8

const (
	goOn outcome = iota
	refuse
	finished
)

// TemplateOf takes the literals out of a SELECT, INSERT, REPLACE, UPDATE or
// DELETE. It reports false, with dst undefined, for all other statements and
// wherever it is not sure: several statements, hints and code comments, user
// variables, parameters, introducers, adjacent strings. It does not check
// syntax: where ParseTemplate fails the caller parses the text itself, whose
// error is the one to show.
func TemplateOf(sql []byte, mode types.SQLMode, dst *Template) bool {
	t := templater{src: sql, dst: dst, ansi: mode&types.ModeANSIQuotes != 0, nobs: mode&types.ModeNoBackslashEscapes != 0}
	dst.Text, dst.Vals, dst.Types, dst.buf = dst.Text[:0], dst.Vals[:0], dst.Types[:0], dst.buf[:0]
	if !t.start() {
		return false
	}
	for {
		switch t.step() {
		case refuse:
			return false
		case finished:
			return t.depth == 0
		}
	}
}

// start passes leading blanks and comments and looks at the first word.
func (t *templater) start() bool {
	for t.pos < len(t.src) {
		c := t.src[t.pos]
		switch {
		case isSpace(c):
			t.pos++
			continue
		case c == '#' || c == '-' || c == '/':
			if !t.comment() {
				return false
			}
			continue
		}
		break
	}
	t.from = t.pos
	w := t.peekWord()
	switch {
	case fold(w, "SELECT"):
	case fold(w, "INSERT"), fold(w, "REPLACE"):
		t.insert = true
	case fold(w, "UPDATE"), fold(w, "DELETE"):
	default:
		return false
	}
	return true
}

func (t *templater) peekWord() []byte {
	i := t.pos
	for i < len(t.src) && isWordByte(t.src[i]) {
		i++
	}
	return t.src[t.pos:i]
}

// fold compares with an upper-case word.
func fold(w []byte, upper string) bool {
	if len(w) != len(upper) {
		return false
	}
	for i, c := range w {
		if c >= 'a' && c <= 'z' {
			c -= 0x20
		}
		if c != upper[i] {
			return false
		}
	}
	return true
}

// comment passes a comment, false for code comments and hints and for what is
// no comment.
func (t *templater) comment() bool {
	rest := t.src[t.pos:]
	switch {
	case rest[0] == '#', len(rest) >= 2 && rest[0] == '-' && rest[1] == '-' && (len(rest) == 2 || rest[2] <= ' '):
		if i := bytes.IndexByte(rest, '\n'); i >= 0 {
			t.pos += i + 1
		} else {
			t.pos = len(t.src)
		}
		return true
	case len(rest) >= 4 && rest[0] == '/' && rest[1] == '*':
		if rest[2] == '!' || rest[2] == '+' || rest[2] == 'M' || rest[2] == 's' || rest[2] == 'T' {
			return false
		}
		i := bytes.Index(rest[2:], []byte("*/"))
		if i < 0 {
			return false
		}
		t.pos += i + 4
		return true
	}
	return false
}

func (t *templater) flush(to int) { t.dst.Text = append(t.dst.Text, t.src[t.from:to]...) }

func (t *templater) step() outcome {
	for t.pos < len(t.src) && isSpace(t.src[t.pos]) {
		t.pos++
	}
	if t.pos >= len(t.src) {
		t.flush(t.pos)
		t.dst.Text = bytes.TrimRight(t.dst.Text, " \t\r\n\v\f")
		return finished
	}
	c := t.src[t.pos]
	switch {
	case c == '\'' || c == '"' && !t.ansi:
		return t.str(c)
	case c == '`' || c == '"':
		return t.quotedName(c)
	case isDigit(c), c == '.' && t.prev != prevOperand && t.pos+1 < len(t.src) && isDigit(t.src[t.pos+1]):
		return t.number(t.pos)
	case isWordByte(c):
		return t.word()
	case c == '#', c == '/' && t.pos+1 < len(t.src) && t.src[t.pos+1] == '*',
		c == '-' && t.pos+1 < len(t.src) && t.src[t.pos+1] == '-' && (t.pos+2 == len(t.src) || t.src[t.pos+2] <= ' '):
		start := t.pos
		if !t.comment() {
			return refuse
		}
		if t.clause[t.depth] != clauseFields { // a column name may hold the comment
			t.flush(start)
			t.dst.Text = append(t.dst.Text, ' ')
			t.from = t.pos
		}
		return goOn
	case c == '?' || c == '@' || c == ':' || c == '\\' || c == '{' || c == '}' || c == 0:
		return refuse
	case c == ';':
		return t.semicolon()
	}
	return t.operator(c)
}

// semicolon may only end the text.
func (t *templater) semicolon() outcome {
	t.flush(t.pos)
	for t.pos++; t.pos < len(t.src); t.pos++ {
		if !isSpace(t.src[t.pos]) {
			return refuse
		}
	}
	t.dst.Text = bytes.TrimRight(t.dst.Text, " \t\r\n\v\f")
	return finished
}

func (t *templater) operator(c byte) outcome {
	switch c {
	case '(':
		if t.depth == maxDepth {
			return refuse
		}
		call := t.prev == prevCall || t.call[t.depth]
		cl := t.clause[t.depth]
		named := t.named[t.depth] || cl == clauseFields
		t.depth++
		t.clause[t.depth], t.call[t.depth], t.named[t.depth] = cl, call, named
		t.score[t.depth], t.scores = t.scores, false
		t.prev = prevOperator
		t.pos++
		return goOn
	case ')':
		if t.depth == 0 {
			return refuse
		}
		score := t.score[t.depth]
		t.depth--
		t.prev = prevOperand
		t.pos++
		if score && t.compares() { // the number decides what an index has to find
			t.keepNext = true
		}
		return goOn
	case '-':
		if t.pos+1 < len(t.src) && t.src[t.pos+1] == '>' { // a JSON path follows
			t.pos += 2
			if t.pos < len(t.src) && t.src[t.pos] == '>' {
				t.pos++
			}
			t.keepNext = true
			t.prev = prevOperator
			return goOn
		}
		if t.clause[t.depth] == clauseLimit {
			return refuse
		}
		unary := t.prev != prevOperand && t.prev != prevString && t.prev != prevCall
		if unary && t.pos+1 < len(t.src) && (isDigit(t.src[t.pos+1]) || t.src[t.pos+1] == '.' && t.pos+2 < len(t.src) && isDigit(t.src[t.pos+2])) {
			start := t.pos
			t.pos++
			return t.number(start)
		}
	case ',':
		t.constant = false
	}
	t.prev = prevOperator
	t.pos++
	return goOn
}

// compares reports whether a comparison follows.
func (t *templater) compares() bool {
	i := t.pos
	for i < len(t.src) && isSpace(t.src[i]) {
		i++
	}
	return i < len(t.src) && (t.src[i] == '>' || t.src[i] == '<' || t.src[i] == '=')
}

func (t *templater) quotedName(quote byte) outcome {
	for i := t.pos + 1; i < len(t.src); i++ {
		if t.src[i] != quote {
			continue
		}
		if i+1 < len(t.src) && t.src[i+1] == quote {
			i++
			continue
		}
		t.pos = i + 1
		t.prev = prevCall // `f`(1) may be a call
		return goOn
	}
	return refuse
}

// takes reports whether a literal at this place becomes a parameter.
func (t *templater) takes() bool {
	cl := t.clause[t.depth]
	if t.keepNext || t.call[t.depth] || t.named[t.depth] || cl != clauseValues && cl != clauseLimit {
		return false
	}
	// LIMIT 1 in a subquery says what it can be made into.
	if cl == clauseLimit && t.depth > 0 {
		return false
	}
	// WHERE 1 = 1 stays: the planner folds it. BETWEEN's AND is no condition.
	return t.prev != prevLogic && !t.constant
}

func (t *templater) kept() {
	t.constant = t.prev == prevLogic || t.constant && t.prev == prevOperator
	t.keepNext = false
}

func (t *templater) number(start int) outcome {
	i := t.pos
	for i < len(t.src) && isDigit(t.src[i]) {
		i++
	}
	integer, float := true, false
	if i < len(t.src) && t.src[i] == '.' {
		integer = false
		i++
		for i < len(t.src) && isDigit(t.src[i]) {
			i++
		}
	}
	if i < len(t.src) && t.src[i]|0x20 == 'e' {
		j := i + 1
		if j < len(t.src) && (t.src[j] == '+' || t.src[j] == '-') {
			j++
		}
		if j < len(t.src) && isDigit(t.src[j]) {
			for j < len(t.src) && isDigit(t.src[j]) {
				j++
			}
			i, integer, float = j, false, true
		}
	}
	if i < len(t.src) && (isWordByte(t.src[i]) || t.src[i] == '.') {
		return refuse // 0x1F, 1a, 1.2.3
	}
	if t.prev == prevOperand || t.prev == prevString || t.prev == prevCall {
		return refuse // an alias, a syntax error: not ours to judge
	}
	if !t.takes() {
		t.kept()
		t.pos, t.prev = i, prevOperand
		return goOn
	}
	d, typ, ok := numberDatum(t.src[start:i], integer, float)
	if !ok || !integer && t.clause[t.depth] == clauseLimit {
		return refuse
	}
	t.take(start, i, d, typ)
	t.prev = prevOperand
	return goOn
}

// take replaces src[start:end] by a parameter.
func (t *templater) take(start, end int, d value.Datum, typ schema.Type) {
	t.flush(start)
	t.dst.Text = append(t.dst.Text, '?')
	t.dst.Vals = append(t.dst.Vals, d)
	t.dst.Types = append(t.dst.Types, typ)
	t.from, t.pos = end, end
}

// numberDatum reads a number with an optional sign; false if it is beyond its
// type, which the parser judges.
func numberDatum(s []byte, integer, float bool) (value.Datum, schema.Type, bool) {
	switch {
	case integer:
		neg := s[0] == '-'
		digits := s
		if neg {
			digits = s[1:]
		}
		var n uint64
		for _, c := range digits {
			d := uint64(c - '0')
			if n > (math.MaxUint64-d)/10 {
				return value.Null, schema.Type{}, false
			}
			n = n*10 + d
		}
		switch {
		case neg && n > math.MaxInt64:
			return value.Null, schema.Type{}, false
		case neg:
			return value.Int(-int64(n)), types.BigInt, true
		case n > math.MaxInt64:
			return value.Uint(n), types.UBigInt, true
		}
		return value.Int(int64(n)), types.BigInt, true
	case float:
		f, err := strconv.ParseFloat(view(s), 64)
		if err != nil {
			return value.Null, schema.Type{}, false
		}
		return value.Float(f), types.Double, true
	}
	d, err := value.ParseDecimal(view(s))
	if err != nil || d.Scale() > value.MaxDecimalScale || d.Digits() > value.MaxDecimalDigits {
		return value.Null, schema.Type{}, false
	}
	return value.Dec(d), literalDecimal(writtenDigits(s, d), d.Scale()), true
}

// literalDecimal is the type of a decimal literal: all digits before the point
// count, whatever the number of those after it.
func literalDecimal(digits, scale int) schema.Type {
	intg := digits - scale
	return types.DecimalOf(intg+min(scale, value.MaxDecimalScale), scale)
}

// view is b as a string without a copy, for callees that keep nothing.
func view(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

func (t *templater) str(quote byte) outcome {
	if t.prev == prevString || t.prev == prevOperand || t.prev == prevCall {
		return refuse // adjacent strings, introducers, DATE '…', aliases
	}
	start := t.pos
	end, plain, ok := stringEnd(t.src, start, quote, t.nobs)
	if !ok {
		return refuse
	}
	if !t.takes() {
		t.kept()
		t.pos, t.prev = end, prevString
		return goOn
	}
	if t.clause[t.depth] == clauseLimit {
		return refuse
	}
	body := t.src[start+1 : end-1]
	if !plain {
		body = t.dst.unescape(body, quote, t.nobs)
	}
	t.take(start, end, value.Bytes(body), templateString)
	t.prev = prevString
	return goOn
}

// stringEnd finds the end of the string that starts at start. plain: its body
// needs no unescaping.
func stringEnd(src []byte, start int, quote byte, nobs bool) (end int, plain, ok bool) {
	plain = true
	for i := start + 1; i < len(src); i++ {
		switch c := src[i]; {
		case c == '\\' && !nobs:
			plain = false
			i++
		case c == quote && i+1 < len(src) && src[i+1] == quote:
			plain = false
			i++
		case c == quote:
			return i + 1, plain, true
		}
	}
	return 0, false, false
}

// unescape resolves escapes and doubled quotes into the template's buffer.
func (d *Template) unescape(body []byte, quote byte, nobs bool) []byte {
	from := len(d.buf)
	d.buf = appendUnescaped(d.buf, body, quote, nobs)
	return d.buf[from:len(d.buf):len(d.buf)]
}

// Unquote is the text of a string literal with its quotes; without escapes, a
// backslash stands for itself.
func Unquote(literal string, noEscapes bool) string {
	return string(appendUnescaped(nil, []byte(literal[1:len(literal)-1]), literal[0], noEscapes))
}

func appendUnescaped(out, body []byte, quote byte, nobs bool) []byte {
	for i := 0; i < len(body); i++ {
		c := body[i]
		switch {
		case c == quote:
			i++ // doubled
		case c == '\\' && !nobs && i+1 < len(body):
			i++
			c = body[i]
			switch c {
			case '0':
				c = 0
			case 'b':
				c = '\b'
			case 'n':
				c = '\n'
			case 'r':
				c = '\r'
			case 't':
				c = '\t'
			case 'Z':
				c = 26
			case '%', '_': // stay escaped, for LIKE
				out = append(out, '\\')
			}
		}
		out = append(out, c)
	}
	return out
}

// word deals with a keyword or identifier.
func (t *templater) word() outcome {
	w := t.peekWord()
	t.pos += len(w)
	t.scores = false
	if t.pos-len(w) > 0 && t.src[t.pos-len(w)-1] == '.' { // t.order
		t.prev = prevCall
		return goOn
	}
	if len(w) < 2 || len(w) > 9 {
		t.scores = len(w) > 9 && fold(w[:10], "TEXT_MATCH")
		t.prev = prevCall
		return goOn
	}
	d := t.depth
	next := prevKeyword
	switch w[0] | 0x20 {
	case 's':
		switch {
		case fold(w, "SELECT"):
			t.clause[d] = clauseFields
			t.insert = false
		case fold(w, "SET"):
			t.clause[d] = clauseValues
			t.insert = false
		case fold(w, "SOUNDS"), fold(w, "SEPARATOR"):
			return refuse
		default:
			t.scores = fold(w, "SCORE")
			next = prevCall
		}
	case 'f':
		switch {
		case fold(w, "FROM"):
			t.clause[d] = clauseKeep
		case fold(w, "FOR"), fold(w, "FETCH"):
			t.clause[d] = clauseKeep
		default:
			next = prevCall
		}
	case 'w':
		switch {
		case fold(w, "WHERE"):
			t.clause[d] = clauseValues
			next = prevLogic
		case fold(w, "WHEN"):
		case fold(w, "WINDOW"), fold(w, "WITH"):
			t.clause[d] = clauseKeep
		default:
			next = prevCall
		}
	case 'o':
		switch {
		case fold(w, "ON"):
			t.clause[d] = clauseValues
			next = prevLogic
		case fold(w, "OR"):
			next = prevLogic
		case fold(w, "ORDER"):
			t.clause[d] = clauseKeep
		case fold(w, "OUTER"):
		case fold(w, "OFFSET") && t.clause[d] == clauseLimit:
		case fold(w, "OVER"):
			return refuse
		default:
			next = prevCall
		}
	case 'a':
		switch {
		case fold(w, "AND"):
			next = prevLogic
			if t.between > 0 {
				t.between--
				next = prevKeyword
			}
		case fold(w, "ALL"):
		default:
			t.scores = fold(w, "AGAINST")
			next = prevCall // AS too: AS 'alias'
		}
	case 'b':
		switch {
		case fold(w, "BETWEEN"):
			t.between++
		case fold(w, "BY"):
		default:
			next = prevCall
		}
	case 'c':
		if fold(w, "COLLATE") || fold(w, "CROSS") {
			break
		}
		if !fold(w, "CASE") {
			next = prevCall
		}
	case 'd':
		if !fold(w, "DISTINCT") && !fold(w, "DIV") {
			next = prevCall
		}
	case 'e':
		switch {
		case fold(w, "ESCAPE"):
			t.keepNext = true
		case fold(w, "ELSE"), fold(w, "EXISTS"), fold(w, "EXCEPT"):
		default:
			next = prevCall
		}
	case 'g':
		if fold(w, "GROUP") {
			t.clause[d] = clauseKeep
		} else {
			next = prevCall
		}
	case 'h':
		if fold(w, "HAVING") {
			t.clause[d] = clauseKeep
		} else {
			next = prevCall
		}
	case 'i':
		switch {
		case fold(w, "INTERVAL"):
			t.keepNext = true
			return t.interval()
		case fold(w, "IN"), fold(w, "INNER"):
		case fold(w, "INTO"):
			t.clause[d] = clauseKeep
		default:
			next = prevCall
		}
	case 'j':
		if fold(w, "JOIN") {
			t.clause[d] = clauseKeep
		} else {
			next = prevCall
		}
	case 'l':
		switch {
		case fold(w, "LIMIT"):
			t.clause[d] = clauseLimit
		case fold(w, "LIKE"):
			t.keepNext = true
		case fold(w, "LOCK"):
			t.clause[d] = clauseKeep
		default:
			next = prevCall
		}
	case 'm':
		if fold(w, "MEMBER") {
			return refuse
		}
		next = prevCall
	case 'n':
		if !fold(w, "NOT") {
			next = prevCall
		}
	case 'p':
		if fold(w, "PROCEDURE") || fold(w, "PARTITION") {
			return refuse
		}
		next = prevCall
	case 'r':
		if fold(w, "REGEXP") || fold(w, "RLIKE") {
			t.keepNext = true
		} else if fold(w, "RETURNING") {
			t.clause[d] = clauseFields
		} else {
			next = prevCall
		}
	case 't':
		if !fold(w, "THEN") {
			next = prevCall
		}
	case 'u':
		switch {
		case fold(w, "UNION"), fold(w, "UPDATE"):
			if t.clause[d] != clauseStart && fold(w, "UPDATE") { // ON DUPLICATE KEY UPDATE
				t.clause[d] = clauseValues
			}
		default:
			next = prevCall
		}
	case 'v':
		// VALUE is also a good name for a column.
		if t.insert && d == 0 && (fold(w, "VALUES") || fold(w, "VALUE")) {
			t.insert = false
			t.clause[d] = clauseValues
			break
		}
		next = prevCall
	case 'x':
		if !fold(w, "XOR") {
			next = prevCall
		}
	default:
		next = prevCall
	}
	t.prev = next
	if next == prevLogic || next == prevCall {
		t.constant = false
	}
	return goOn
}

// interval passes INTERVAL literal; any other operand is refused, so is the
// function INTERVAL().
func (t *templater) interval() outcome {
	for t.pos < len(t.src) && isSpace(t.src[t.pos]) {
		t.pos++
	}
	if t.pos < len(t.src) && t.src[t.pos] == '-' {
		t.pos++
	}
	if t.pos >= len(t.src) {
		return refuse
	}
	t.prev = prevKeyword
	switch c := t.src[t.pos]; {
	case c == '\'' || c == '"' && !t.ansi:
		return t.str(c)
	case isDigit(c):
		return t.number(t.pos)
	}
	return refuse
}
