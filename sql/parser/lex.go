package parser

import (
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
)

// tokenKind is the class of a token.
type tokenKind uint8

const (
	tokEnd    tokenKind = iota
	tokWord             // keyword or plain identifier
	tokQuoted           // `quoted identifier`
	tokString           // 'text' or "text"
	tokNumber
	tokVar   // @name, @@name, @'name'
	tokParam // ?
	tokOp    // everything else, one byte (two or three for ->, ->>, :=, <=>)
	tokBad   // unterminated string, identifier or comment
)

// token is a piece of the text, src[start:end].
type token struct {
	kind       tokenKind
	start, end int
}

// scanner cuts SQL text into tokens. It knows strings, identifiers and comments
// exactly; other distinctions that it does not need it does not make.
type scanner struct {
	src       string
	pos       int
	ansi      bool // "x" is an identifier
	noBackslf bool // no backslash escapes
}

func newScanner(src string, mode types.SQLMode) scanner {
	return scanner{src: src, ansi: mode&types.ModeANSIQuotes != 0, noBackslf: mode&types.ModeNoBackslashEscapes != 0}
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }

func isDigit(c byte) bool { return c >= '0' && c <= '9' }

func isWordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || isDigit(c) || c == '_' || c == '$' || c >= 0x80
}

// skip passes blanks and comments. Comments that are code (/*! and /*+) are
// passed like the others. It reports false at an unterminated comment.
func (s *scanner) skip() bool {
	for s.pos < len(s.src) {
		c := s.src[s.pos]
		switch {
		case isSpace(c):
			s.pos++
		case c == '#', c == '-' && s.isDashComment():
			s.lineEnd()
		case c == '/' && strings.HasPrefix(s.src[s.pos:], "/*"):
			end := s.commentEnd()
			if !strings.HasSuffix(s.src[s.pos+2:end], "*/") {
				return false
			}
			s.pos = end
		default:
			return true
		}
	}
	return true
}

// lineEnd passes the rest of the line.
func (s *scanner) lineEnd() {
	if i := strings.IndexByte(s.src[s.pos:], '\n'); i >= 0 {
		s.pos += i + 1
	} else {
		s.pos = len(s.src)
	}
}

// commentEnd is where the comment at the position ends: after its */, or with
// the text.
func (s *scanner) commentEnd() int {
	if i := strings.Index(s.src[s.pos+2:], "*/"); i >= 0 {
		return s.pos + i + 4
	}
	return len(s.src)
}

// isDashComment: -- starts a comment only before a blank, a control character
// or the end.
func (s *scanner) isDashComment() bool {
	return strings.HasPrefix(s.src[s.pos:], "--") && (s.pos+2 == len(s.src) || s.src[s.pos+2] <= ' ')
}

func (s *scanner) next() token {
	if !s.skip() {
		return s.bad()
	}
	start := s.pos
	if start >= len(s.src) {
		return token{tokEnd, start, start}
	}
	c := s.src[start]
	switch {
	case c == '`' || c == '"' && s.ansi:
		return s.quoted(tokQuoted, c, false)
	case c == '\'' || c == '"':
		return s.quoted(tokString, c, !s.noBackslf)
	case c == '?':
		s.pos++
		return token{tokParam, start, s.pos}
	case c == '@':
		return s.variable()
	case isDigit(c), c == '.' && start+1 < len(s.src) && isDigit(s.src[start+1]) && (start == 0 || !isWordByte(s.src[start-1])):
		return s.number()
	case isWordByte(c):
		for s.pos < len(s.src) && isWordByte(s.src[s.pos]) {
			s.pos++
		}
		return token{tokWord, start, s.pos}
	}
	for _, op := range [...]string{"->>", "<=>", "->", ":=", "&&", "||"} {
		if strings.HasPrefix(s.src[start:], op) {
			s.pos += len(op)
			return token{tokOp, start, s.pos}
		}
	}
	s.pos++
	return token{tokOp, start, s.pos}
}

func (s *scanner) bad() token {
	start := s.pos
	s.pos = len(s.src)
	return token{tokBad, start, s.pos}
}

func (s *scanner) quoted(kind tokenKind, quote byte, backslash bool) token {
	start := s.pos
	for i := start + 1; i < len(s.src); i++ {
		switch c := s.src[i]; {
		case c == '\\' && backslash:
			i++
		case c == quote && i+1 < len(s.src) && s.src[i+1] == quote:
			i++
		case c == quote:
			s.pos = i + 1
			return token{kind, start, s.pos}
		}
	}
	return s.bad()
}

func (s *scanner) variable() token {
	start := s.pos
	s.pos++
	if s.pos < len(s.src) && s.src[s.pos] == '@' {
		s.pos++
	}
	if s.pos < len(s.src) {
		if c := s.src[s.pos]; c == '\'' || c == '"' || c == '`' {
			t := s.quoted(tokVar, c, c != '`' && !s.noBackslf)
			if t.kind == tokVar {
				t.start = start
			}
			return t
		}
	}
	for s.pos < len(s.src) && (isWordByte(s.src[s.pos]) || s.src[s.pos] == '.') {
		s.pos++
	}
	return token{tokVar, start, s.pos}
}

// number reads digits, a point and an exponent. Digits that run into letters
// (1a, 0x1F) are one word: identifiers may start with a digit.
func (s *scanner) number() token {
	start := s.pos
	i := start
	for i < len(s.src) && isDigit(s.src[i]) {
		i++
	}
	if i < len(s.src) && s.src[i] == '.' {
		i++
		for i < len(s.src) && isDigit(s.src[i]) {
			i++
		}
	}
	if i < len(s.src) && (s.src[i] == 'e' || s.src[i] == 'E') {
		j := i + 1
		if j < len(s.src) && (s.src[j] == '+' || s.src[j] == '-') {
			j++
		}
		if j < len(s.src) && isDigit(s.src[j]) {
			for j < len(s.src) && isDigit(s.src[j]) {
				j++
			}
			i = j
		}
	}
	if i < len(s.src) && isWordByte(s.src[i]) {
		for i < len(s.src) && isWordByte(s.src[i]) {
			i++
		}
		s.pos = i
		return token{tokWord, start, i}
	}
	s.pos = i
	return token{tokNumber, start, i}
}

// Next cuts the first statement off a text of several. stmt is without its
// semicolon and the blanks around it; rest is what follows. It skips empty
// statements; ok is false at the end of the text. A statement that does not
// end (an open string or comment) reaches to the end of the text.
func Next(sql string, mode types.SQLMode) (stmt, rest string, ok bool) {
	s := newScanner(sql, mode)
	start := -1
	for {
		t := s.next()
		switch {
		case t.kind == tokBad && start < 0:
			return sql[t.start:], "", true
		case t.kind == tokEnd, t.kind == tokBad:
			if start < 0 {
				start = codeComment(sql)
				if start < 0 {
					return "", "", false
				}
			}
			return strings.TrimSpace(sql[start:]), "", true
		case t.kind == tokOp && sql[t.start] == ';':
			if start < 0 {
				if start = codeComment(sql[:t.start]); start < 0 {
					sql = sql[t.end:]
					s = newScanner(sql, mode)
					continue
				}
			}
			return strings.TrimSpace(sql[start:t.start]), sql[t.end:], true
		case start < 0:
			start = t.start
			if i := codeComment(sql[:t.start]); i >= 0 {
				start = i
			}
		}
	}
}

// codeComment is the position of the first comment in sql that is code, -1
// without: a text of nothing but /*!40101 SET … */ is a statement.
func codeComment(sql string) int {
	for i := 0; i+2 < len(sql); i++ {
		if sql[i] == '/' && sql[i+1] == '*' && (sql[i+2] == '!' || strings.HasPrefix(sql[i+2:], oldOwnCode)) {
			return i
		}
		if sql[i] == '\'' || sql[i] == '"' || sql[i] == '`' {
			return -1 // not reached for blanks and comments
		}
	}
	return -1
}

// oldOwnCode is schema.OwnCode of earlier releases. Clients drop such comments.
const oldOwnCode = "sqlots!"

// serverVersion decides which /*!NNNNN … */ comments are code.
const serverVersion = 80403

// versionComments makes code of what is code for this server: /*!99999 sqlots … */,
// and /*sqlots! … */ of earlier releases, become /*! … */ of the same length, and
// comments for newer servers, for MariaDB and for TiDB become blanks; comments of
// hints are numbered. Positions do not change.
func versionComments(src string, mode types.SQLMode) (string, []hintComment) {
	if !strings.Contains(src, "/*") {
		return src, nil
	}
	var hints []hintComment
	var out []byte
	s := newScanner(src, mode)
	end := 0 // after the first */ from s.pos on
	for s.pos < len(src) {
		switch c := src[s.pos]; {
		case c == '\'' || c == '"' || c == '`':
			s.quoted(tokString, c, c != '`' && !s.noBackslf && !(c == '"' && s.ansi))
		case c == '#', c == '-' && s.isDashComment():
			s.lineEnd()
		case c == '/' && strings.HasPrefix(src[s.pos:], "/*"):
			start := s.pos
			if end < start+4 {
				end = s.commentEnd()
			}
			body := src[start+2 : end]
			s.pos = end
			switch {
			case strings.HasPrefix(body, schema.OwnCode), strings.HasPrefix(body, oldOwnCode):
				if out == nil {
					out = []byte(src)
				}
				sign := schema.OwnCode
				if body[0] != '!' {
					sign = oldOwnCode
				}
				copy(out[start+2:], "!"+strings.Repeat(" ", len(sign)-1))
				s.pos = start + 3
			case strings.HasPrefix(body, "M!"), strings.HasPrefix(body, "T!"), strings.HasPrefix(body, "!") && commentVersion(body[1:]) > serverVersion:
				out = blankComment(out, src, start, end)
			case strings.HasPrefix(body, "!"):
				s.pos = start + 3 // its body is code, with strings of its own
			case strings.HasPrefix(body, "+") && len(body) >= 3 && strings.HasSuffix(body, "*/"):
				out = carryHints(out, src, start, end, len(hints))
				hints = append(hints, hintComment{start + 3, end - 2})
			}
		default:
			s.pos++
		}
	}
	if out == nil {
		return src, hints
	}
	return string(out), hints
}

// blankComment makes blanks of the comment src[start:end]; out is the changed
// text, nil as long as nothing changed.
func blankComment(out []byte, src string, start, end int) []byte {
	if out == nil {
		out = []byte(src)
	}
	for j := start; j < end; j++ {
		if out[j] != '\n' {
			out[j] = ' '
		}
	}
	return out
}

// commentVersion is the number of five or six digits that a code comment
// starts with, 0 without.
func commentVersion(s string) int {
	n := 0
	for i := 0; i < len(s) && i < 6 && isDigit(s[i]); i++ {
		n = n*10 + int(s[i]-'0')
	}
	return n
}
