package text

import "fmt"

// SyntaxError says what is wrong with a boolean query, in InnoDB's words; a
// client sees it as error 1064.
type SyntaxError struct{ Message string }

// Error is the message for a user.
func (e *SyntaxError) Error() string { return e.Message }

// TooComplexError reports that a query has too many terms or nested parentheses.
type TooComplexError struct{ What string }

// Error is the message for a user.
func (e *TooComplexError) Error() string { return e.What }

// MaxLeaves is how many terms and phrases a query may have, MaxDepth how deep
// its parentheses may be nested.
const (
	MaxLeaves = 4096
	MaxDepth  = 250
)

// Weights of the operators >, < and ~. InnoDB adds and subtracts 1 instead,
// which means nothing compared with a BM25.
const (
	raisedWeight  = 2
	loweredWeight = 0.5
	negatedWeight = -1
)

// Boolean reads a text IN BOOLEAN MODE. Grammar and errors are InnoDB's:
//
//	list  = { [ "+" | "-" | "~" | "<" | ">" ] ( term [ "*" ] | text [ "@" number ] | "(" list ")" ) }
//	term  = { "*" } word
//
// A list matches what has all of its + members; without any, what has one of
// its others; and none of its - members. Members with ~ change the score only.
func (a *Analyzer) Boolean(text string) (Query, error) {
	p := booleanParser{a: a, lex: booleanLexer{text: text}}
	p.advance()
	q, err := p.list(0)
	if err != nil {
		return nil, err
	}
	return checked(q)
}

// checked refuses queries that are too large and makes no query None.
func checked(q Query) (Query, error) {
	if q == nil {
		return None{}, nil
	}
	if n := leaves(q); n > MaxLeaves {
		return nil, &TooComplexError{fmt.Sprintf("the text to search for has %d terms; at most %d are possible", n, MaxLeaves)}
	}
	return q, nil
}

func leaves(q Query) int {
	n := 0
	switch q := q.(type) {
	case Phrase:
		return len(q.Terms)
	case And:
		for _, m := range q.Of {
			n += leaves(m)
		}
	case Or:
		for _, m := range q.Of {
			n += leaves(m)
		}
	case Near:
		for _, m := range q.Of {
			n += leaves(m)
		}
	case Not:
		return leaves(q.Of)
	case Boost:
		return leaves(q.Of)
	case Should:
		n = leaves(q.Of)
		for _, m := range q.Optional {
			n += leaves(m)
		}
	default:
		return 1
	}
	return n
}

// lexeme is a token of boolean mode: its kind is the operator's character or
// one of those below.
type lexeme struct {
	kind byte
	text string
}

const (
	lexEnd  = 0
	lexTerm = 'T'
	lexNumb = 'N'
	lexText = 'Q'
)

// name is what InnoDB's parser calls the token in errors.
func (l lexeme) name() string {
	switch l.kind {
	case lexEnd:
		return "$end"
	case lexTerm:
		return "FTS_TERM"
	case lexNumb:
		return "FTS_NUMB"
	case lexText:
		return "FTS_TEXT"
	}
	return "'" + string(l.kind) + "'"
}

// booleanLexer follows InnoDB's lexer: the longest match wins. A tab is white
// space only before a blank or another tab: it can begin a word. A quote that
// is not closed, and %, are left out.
type booleanLexer struct {
	text string
	at   int
}

func isBlank(c byte) bool    { return c == ' ' || c == '\t' }
func isOperator(c byte) bool { return c != 0 && indexByte("*()+-<>~@", c) }
func isTermByte(c byte) bool {
	return !isOperator(c) && c != '"' && c != ' ' && c != '\n' && c != '%'
}

func indexByte(s string, c byte) bool {
	for i := 0; i < len(s); i++ {
		if s[i] == c {
			return true
		}
	}
	return false
}

func (l *booleanLexer) run(is func(byte) bool) string {
	end := l.at
	for end < len(l.text) && is(l.text[end]) {
		end++
	}
	return l.text[l.at:end]
}

func (l *booleanLexer) next() lexeme {
	for l.at < len(l.text) {
		c := l.text[l.at]
		if isOperator(c) {
			l.at++
			return lexeme{kind: c}
		}
		blanks, term := l.run(isBlank), l.run(isTermByte)
		switch {
		case blanks != "" && len(blanks) >= len(term):
			l.at += len(blanks)
		case term != "":
			l.at += len(term)
			kind := byte(lexNumb)
			for i := 0; i < len(term); i++ {
				if term[i] < '0' || '9' < term[i] {
					kind = lexTerm
				}
			}
			return lexeme{kind, term}
		case c == '"':
			l.at++
			quoted := l.run(func(c byte) bool { return c != '"' && c != '\n' })
			if end := l.at + len(quoted); end < len(l.text) && l.text[end] == '"' {
				l.at = end + 1
				return lexeme{lexText, quoted}
			}
		default:
			l.at++
		}
	}
	return lexeme{kind: lexEnd}
}

type booleanParser struct {
	a   *Analyzer
	lex booleanLexer
	tok lexeme
}

func (p *booleanParser) advance() { p.tok = p.lex.next() }

func (p *booleanParser) unexpected(expecting string) error {
	m := "syntax error, unexpected " + p.tok.name()
	if expecting != "" {
		m += ", expecting " + expecting
	}
	return &SyntaxError{m}
}

// list parses members up to the end or, inside parentheses, the closing one. It is nil
// for an empty list.
func (p *booleanParser) list(depth int) (Query, error) {
	if depth > MaxDepth {
		return nil, &TooComplexError{fmt.Sprintf("parentheses in the text to search for are nested more than %d deep", MaxDepth)}
	}
	var m members
	for {
		switch c := p.tok.kind; c {
		case lexEnd:
			if depth > 0 {
				return nil, p.unexpected("")
			}
			return m.query(), nil
		case ')':
			if depth == 0 {
				return nil, p.unexpected("$end")
			}
			p.advance()
			return m.query(), nil
		case '+', '-', '~', '<', '>':
			p.advance()
			of, err := p.member(depth, "")
			if err != nil {
				return nil, err
			}
			m.add(c, of)
		default:
			expecting := "$end"
			if depth > 0 {
				expecting = ""
			}
			of, err := p.member(depth, expecting)
			if err != nil {
				return nil, err
			}
			m.add(0, of)
		}
	}
}

// member parses what may follow an operator.
func (p *booleanParser) member(depth int, expecting string) ([]Query, error) {
	switch p.tok.kind {
	case '(':
		p.advance()
		q, err := p.list(depth + 1)
		return oneOrNone(q), err
	case '*', lexTerm, lexNumb:
		for p.tok.kind == '*' {
			if p.advance(); p.tok.kind != '*' && p.tok.kind != lexTerm && p.tok.kind != lexNumb {
				return nil, p.unexpected("FTS_TERM or FTS_NUMB or '*'")
			}
		}
		word := p.tok.text
		if p.advance(); p.tok.kind == '*' {
			p.advance()
			return p.a.prefix(word), nil
		}
		return p.a.word(word), nil
	case lexText:
		text := p.tok.text
		if p.advance(); p.tok.kind != '@' {
			return oneOrNone(p.a.phrase(text)), nil
		}
		if p.advance(); p.tok.kind != lexNumb {
			return nil, p.unexpected("FTS_NUMB")
		}
		window := number(p.tok.text)
		p.advance()
		if window == 0 {
			return oneOrNone(p.a.phrase(text)), nil
		}
		switch of := p.a.near(text); len(of) {
		case 0:
			return nil, nil
		case 1:
			return of, nil
		default:
			return []Query{Near{of, window}}, nil
		}
	}
	return nil, p.unexpected(expecting)
}

// number reads digits; what is larger than any text is as good as that.
func number(digits string) int {
	n := 0
	for i := 0; i < len(digits) && n < 1<<30; i++ {
		n = n*10 + int(digits[i]-'0')
	}
	return min(n, 1<<30)
}

// members are the members of one list by what their operators do.
type members struct {
	must, any, not, score []Query
	some                  bool // there are members, be it such that match nothing
}

func (m *members) add(operator byte, of []Query) {
	m.some = m.some || len(of) > 0
	for _, q := range of {
		if _, none := q.(None); none && operator != '+' {
			continue
		}
		switch operator {
		case '+':
			m.must = append(m.must, q)
		case '-':
			m.not = append(m.not, Not{q})
		case '~':
			m.score = append(m.score, Boost{q, negatedWeight})
		case '<':
			m.any = append(m.any, Boost{q, loweredWeight})
		case '>':
			m.any = append(m.any, Boost{q, raisedWeight})
		default:
			m.any = append(m.any, q)
		}
	}
}

// query is nil for a list without members.
func (m *members) query() Query {
	if !m.some {
		return nil
	}
	base, optional := []Query{anyOf(m.any)}, m.score
	if len(m.must) > 0 {
		base, optional = m.must, append(m.any, m.score...)
	}
	q := allOf(append(base, m.not...))
	if _, none := q.(None); none || len(optional) == 0 {
		return q
	}
	return Should{q, optional}
}
