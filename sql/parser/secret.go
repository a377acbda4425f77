package parser

import (
	"encoding/hex"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// hidden is what logs, lists and messages show for a secret.
const hidden = "<secret>"

// HideSecrets is a text of statements as others may see it, without passwords and
// hashes of passwords. It finds them by tokens, so that a text need not be correct,
// nor complete, nor a single statement. What might be a secret in a statement about
// accounts is hidden, even if it is none; so are literals that are such statements.
//
// A text without secrets is returned unchanged. That is quick where no word of such
// statements occurs in it.
func HideSecrets(sql string, mode types.SQLMode) string {
	list := secrets(sql, mode)
	if len(list) == 0 {
		return sql
	}
	return cutOut(sql, 0, list)
}

// near is the part of a text from an offset on that an error message shows.
func near(sql string, at int, mode types.SQLMode) string {
	return clip(cutOut(sql, at, secrets(sql, mode)))
}

// syntaxError is 1064 at an offset of a text.
func syntaxError(sql string, at int, mode types.SQLMode) error {
	return sqlerr.Parse("", near(sql, at, mode), 1+strings.Count(sql[:at], "\n"))
}

// span is sql[start:end].
type span struct{ start, end int }

// cutOut is sql[from:] with a sign for each of the spans, which are in order.
func cutOut(sql string, from int, list []span) string {
	var b strings.Builder
	for _, x := range list {
		if x.end <= from {
			continue
		}
		b.WriteString(sql[from:max(x.start, from)])
		b.WriteString(hidden)
		from = x.end
	}
	b.WriteString(sql[from:])
	return b.String()
}

func secrets(sql string, mode types.SQLMode) []span {
	if !maySecret(sql) {
		return nil
	}
	f := secretFinder{mode: mode}
	f.text(sql, 0, secretState{})
	return f.found
}

const blank = " \t\r\n\v\f"

// maySecret reports whether a text has a word of the statements with secrets, or is
// a SET, whose literals may be such a statement in hexadecimal.
func maySecret(sql string) bool {
	if first := strings.TrimLeft(sql, blank); len(first) > 3 && strings.EqualFold(first[:3], "SET") {
		return true
	}
	for i := 1; i < len(sql); i++ {
		word := ""
		switch uint16(sql[i-1]|0x20)<<8 | uint16(sql[i]|0x20) {
		case 'i'<<8 | 'd':
			word = "identified"
		case 'p'<<8 | 'a':
			word = "password"
		case 'u'<<8 | 's':
			word = "user"
		case 'g'<<8 | 'r':
			word = "grant"
		default:
			continue
		}
		if rest := sql[i-1:]; len(rest) >= len(word) && strings.EqualFold(rest[:len(word)], word) {
			return true
		}
	}
	return false
}

// secretFinder collects the secrets of a text.
type secretFinder struct {
	mode  types.SQLMode
	depth int // of literals in literals
	found []span
}

// maxSecretDepth is how deep statements in literals of statements are looked at;
// deeper ones are hidden unseen.
const maxSecretDepth = 3

// secretState is what the tokens of a statement so far say of those to come.
type secretState struct {
	first string // the first word
	prev  string // the token before: a word or an operator, "" for others
	words int
	// hides: literals are secrets unless they are in the place of a name.
	hides bool
	// all: even there.
	all bool
	// expects: the next token is a secret, whatever it is.
	expects bool
	// accounts, grant, password are the kinds of statements: CREATE and ALTER USER,
	// GRANT, SET PASSWORD.
	accounts, grant, password bool
	// identified: IDENTIFIED was followed by what follows it.
	identified bool
	// comment: the text is one, in which no other begins.
	comment bool
	// tokens counts them; hidden is the number of the last secret, and end its end.
	tokens, hidden, end int
}

// follows reports whether a token is the next one after a secret: 'a' 'b' is 'ab'.
func (st *secretState) follows() bool { return st.hidden > 0 && st.tokens == st.hidden+1 }

// touches reports whether a token has not even a blank before it.
func (st *secretState) touches(t token) bool { return st.follows() && st.end == t.start }

// text finds the secrets of sql, which begins at an offset of the whole text. It
// reports whether sql ends where a secret would follow.
func (f *secretFinder) text(sql string, base int, st secretState) (open bool) {
	s := newScanner(sql, f.mode)
	for {
		if !f.blanks(&s, base, &st) {
			return st.expects
		}
		t := s.next()
		st.tokens++
		switch t.kind {
		case tokEnd:
			return st.expects || st.prev == "IDENTIFIED" || st.prev == "PASSWORD" && st.password
		case tokBad:
			return f.unfinished(sql, base, t, &st)
		case tokOp:
			f.operator(&s, base, t, &st)
		case tokString, tokQuoted:
			f.literal(sql, base, t, &st)
		case tokVar:
			f.variable(&s, base, t, &st)
		case tokNumber, tokParam:
			if st.expects && t.kind == tokNumber {
				f.bare(&s, base, t, &st)
			}
			st.expects, st.prev = false, ""
		case tokWord:
			f.word(&s, base, t, &st)
		}
	}
}

// blanks passes blanks and comments, and enters comments that are code. The other
// comments are texts of their own. It reports false at the end of an open one.
func (f *secretFinder) blanks(s *scanner, base int, st *secretState) bool {
	for s.pos < len(s.src) {
		rest := s.src[s.pos:]
		switch {
		case isSpace(rest[0]):
			s.pos++
		case st.comment && startsComment(rest):
			s.pos++
		case strings.HasPrefix(rest, "*/"): // of a comment that is code
			s.pos += 2
		case strings.HasPrefix(rest, "/*"):
			body := rest[2:]
			if code, ok := codeBody(body); ok {
				s.pos += 2 + len(body) - len(code)
				continue
			}
			end, closed := strings.Index(body, "*/"), true
			if end < 0 {
				end, closed = len(body), false
			}
			f.text(body[:end], base+s.pos+2, st.inComment())
			s.pos = min(s.pos+end+4, len(s.src))
			if !closed {
				return false
			}
		case rest[0] == '#', rest[0] == '-' && s.isDashComment():
			end := strings.IndexByte(rest, '\n')
			if end < 0 {
				end = len(rest)
			}
			f.text(rest[1:end], base+s.pos+1, st.inComment())
			s.pos += end
		default:
			return true
		}
	}
	return true
}

// startsComment is wider than the grammar: what is left out is no secret.
func startsComment(s string) bool {
	return s[0] == '#' || strings.HasPrefix(s, "--") || strings.HasPrefix(s, "/*")
}

// inComment is the state at the start of a comment: in a statement about accounts its
// literals are secrets, too.
func (st *secretState) inComment() secretState {
	return secretState{hides: st.hides, all: st.hides, comment: true}
}

// codeBody is what follows the sign of code, and its version, at the start of a
// comment.
func codeBody(body string) (string, bool) {
	for _, sign := range [...]string{schema.OwnCode, "!", "M!", oldOwnCode, "+"} {
		if code, ok := strings.CutPrefix(body, sign); ok {
			return strings.TrimLeft(code, "0123456789"), true
		}
	}
	return body, false
}

func (f *secretFinder) hide(base, start, end int, st *secretState) {
	if n := len(f.found); n > 0 && f.found[n-1].end == base+start { // 'a''b', 'a'b
		f.found[n-1].end = base + end
	} else {
		f.found = append(f.found, span{base + start, base + end})
	}
	st.hidden, st.end, st.expects, st.prev = st.tokens, end, false, ""
}

// bare hides a secret without quotes, up to the next blank.
func (f *secretFinder) bare(s *scanner, base int, t token, st *secretState) {
	end := t.start
	for end < len(s.src) && !isSpace(s.src[end]) {
		end++
	}
	end = t.start + len(strings.TrimRight(s.src[t.start:end], ",;)"))
	s.pos = max(end, t.start+1)
	f.hide(base, t.start, s.pos, st)
}

// unfinished is a literal or name that does not end, or a comment.
func (f *secretFinder) unfinished(sql string, base int, t token, st *secretState) bool {
	text := sql[t.start:]
	body := ""
	if text != "" {
		body = string(appendUnescaped(nil, []byte(text[1:]), text[0], f.mode&types.ModeNoBackslashEscapes != 0))
	}
	secret, _ := f.nested(body)
	if st.hides || st.expects || secret {
		f.hide(base, t.start, len(sql), st)
		return true
	}
	return false
}

func (f *secretFinder) operator(s *scanner, base int, t token, st *secretState) {
	op := s.src[t.start:t.end]
	switch {
	case op == ";":
		*st = secretState{comment: st.comment}
		return
	case (op == "=" || op == ":=") && (st.password || st.givesPassword()):
		st.expects = true
	case st.expects && op == "(":
	case st.expects && op != "," && op != ")":
		f.bare(s, base, t, st)
		return
	default:
		st.expects = false
	}
	st.prev = op
}

// givesPassword reports a word before a password: PASSWORD, SOURCE_PASSWORD and
// @@x.admin_password, in statements that have no conditions on columns.
func (st *secretState) givesPassword() bool {
	switch st.first {
	case "SET", "CREATE", "ALTER", "CHANGE", "START", "CLONE":
		return strings.HasSuffix(st.prev, "PASSWORD")
	}
	return false
}

func (f *secretFinder) literal(sql string, base int, t token, st *secretState) {
	text := sql[t.start:t.end]
	if st.expects || st.follows() || st.givesPassword() || st.hides && text[0] != '`' && !st.isName(sql[t.end:]) {
		f.hide(base, t.start, t.end, st)
		return
	}
	body := text[1 : len(text)-1]
	if strings.ContainsAny(body, "\\"+text[:1]) {
		body = Unquote(text, f.mode&types.ModeNoBackslashEscapes != 0)
	}
	if st.prev == "X" && st.first == "SET" {
		body = fromHex(body)
	}
	secret, open := f.nested(body)
	if secret {
		f.hide(base, t.start, t.end, st)
	}
	if open && st.assembles() {
		st.hides, st.all = true, true
	}
	st.prev = ""
}

// assembles reports a statement that may make another one of several literals.
func (st *secretState) assembles() bool {
	switch st.first {
	case "SET", "SELECT", "PREPARE", "DO", "CALL", "WITH", "EXECUTE":
		return true
	}
	return false
}

// nested looks for secrets in the body of a literal.
func (f *secretFinder) nested(body string) (secret, open bool) {
	if !maySecret(body) {
		return false, false
	}
	if f.depth == maxSecretDepth {
		return true, true
	}
	in := secretFinder{mode: f.mode, depth: f.depth + 1}
	open = in.text(body, 0, secretState{})
	return len(in.found) > 0, open
}

// isName reports whether a literal is in the place of the name of an account or
// role; rest is what follows it.
func (st *secretState) isName(rest string) bool {
	if st.all {
		return false
	}
	if strings.HasPrefix(strings.TrimLeft(rest, blank), "@") {
		return true
	}
	switch st.prev {
	case "USER", "EXISTS", "FOR", "@":
		return true
	case ",":
		return !st.password
	case "TO", "GRANT", "ON", ".":
		return st.grant
	case "ROLE", "EXCEPT":
		return st.grant || st.accounts
	}
	return false
}

func (f *secretFinder) variable(s *scanner, base int, t token, st *secretState) {
	text := s.src[t.start:t.end]
	switch {
	case st.expects:
		f.bare(s, base, t, st)
	case st.touches(t):
		f.hide(base, t.start, t.end, st)
	case text == "@":
		st.prev = text
	default:
		st.prev = strings.ToUpper(text)
	}
}

func (f *secretFinder) word(s *scanner, base int, t token, st *secretState) {
	w := strings.ToUpper(s.src[t.start:t.end])
	if st.expects && !st.continues(w, s.src[t.end:]) {
		f.bare(s, base, t, st)
		return
	}
	if st.touches(t) {
		f.hide(base, t.start, t.end, st)
		return
	}
	if strings.HasPrefix(w, "0X") {
		secret, _ := f.nested(fromHex(w[2:]))
		if st.hides || st.first == "SET" && secret {
			f.hide(base, t.start, t.end, st)
			return
		}
	}
	if st.words++; st.words == 1 {
		st.first = w
	}
	prev := st.prev
	st.prev = w
	if prev == "IDENTIFIED" && (w == "BY" || w == "AS" || w == "WITH" || w == "VIA") {
		st.hides, st.identified = true, true
	}
	switch w {
	case "USER":
		if prev == "CREATE" || prev == "ALTER" || prev == "REPLACE" && st.first == "CREATE" && st.words == 4 {
			st.hides, st.accounts = true, true
		}
	case "GRANT":
		if st.words == 1 {
			st.hides, st.grant = true, true
		}
	case "PASSWORD":
		if prev == "SET" && st.first != "UPDATE" && st.first != "INSERT" && st.first != "REPLACE" && st.first != "WITH" {
			st.hides, st.password = true, true
		}
	case "BY", "AS", "USING", "REPLACE":
		st.expects = st.identified || st.accounts || w == "REPLACE" && st.password
	case "TO":
		st.expects = st.password
	case "RANDOM":
		st.expects = false
	}
}

// continues reports a word between the sign of a secret and the secret.
func (st *secretState) continues(w, rest string) bool {
	switch {
	case w == "RANDOM", w == "PASSWORD", w == "OLD_PASSWORD":
		return true
	case w[0] == '_', w == "N", w == "X", w == "B":
		rest = strings.TrimLeft(rest, blank)
		return rest != "" && (rest[0] == '\'' || rest[0] == '"')
	}
	return false
}

// fromHex is the text of a literal in hexadecimal, "" for what is none.
func fromHex(digits string) string {
	b, err := hex.DecodeString(digits)
	if err != nil {
		return ""
	}
	return string(b)
}
