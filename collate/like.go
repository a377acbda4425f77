package collate

import (
	"bytes"
	"unicode/utf8"
)

// likeToken is one element of a LIKE pattern: a character, or one of the
// wildcards.
type likeToken struct {
	kind tokenKind
	ch   []byte // the character's bytes
	w    uint16 // its weight, for ASCII characters
}

type tokenKind uint8

const (
	tokenChar tokenKind = iota
	tokenOne            // _
	tokenMany           // %
)

// Like is a compiled LIKE pattern. It is safe for concurrent use.
type Like struct {
	c      *Collation
	simple func([]byte) bool // nil for most patterns
	parts  []likePart
}

// likePart is the characters of a pattern between two %.
type likePart struct {
	tokens []likeToken
	// fail is the table of Knuth, Morris and Pratt: for a prefix of the part, the
	// length of the longest shorter prefix that it ends with. nil for parts that
	// have a _, which equals characters that are not equal to one another.
	fail []int32
	// lead says of each byte whether a character that equals the first may begin with
	// it, and whether one that equals the second may; nil where the bytes of a character
	// cannot be told apart from others.
	lead *[256]leadBits
}

type leadBits uint8

const (
	leadFirst leadBits = 1 << iota
	leadSecond
)

// skip is how many of the first most bytes of s no match begins at.
func (p *likePart) skip(s []byte, most int) int {
	lead := p.lead
	for n, b := range s[:min(len(s), most)] {
		if lead[b]&leadFirst != 0 && (b >= 0x80 || n+1 == len(s) || lead[s[n+1]]&leadSecond != 0) {
			return n
		}
	}
	return min(len(s), most)
}

// NewLike compiles a LIKE pattern. Characters match when they are equal in the
// collation; the escape character (0 for none) takes the special meaning from
// the one after it.
func (c *Collation) NewLike(pattern []byte, escape rune) Like {
	tokens := c.likeTokens(pattern, escape)
	if m := c.simpleLike(tokens); m != nil {
		return Like{simple: m}
	}
	l := Like{c: c, parts: []likePart{{}}}
	for _, t := range tokens {
		if t.kind == tokenMany {
			l.parts = append(l.parts, likePart{})
			continue
		}
		last := &l.parts[len(l.parts)-1]
		last.tokens = append(last.tokens, t)
	}
	for i := 1; i < len(l.parts); i++ {
		l.parts[i].fail = c.failures(l.parts[i].tokens)
		l.parts[i].lead = c.leads(l.parts[i].tokens)
	}
	return l
}

// leads is likePart.lead.
func (c *Collation) leads(tokens []likeToken) *[256]leadBits {
	if !c.utf8 && c.cs.MaxWidth() > 1 || len(tokens) == 0 || tokens[0].kind != tokenChar {
		return nil
	}
	begins := func(t int, b byte) bool {
		return t >= len(tokens) || tokens[t].kind != tokenChar || b >= 0x80 && c.utf8 || c.equalChar(&tokens[t], []byte{b})
	}
	var out [256]leadBits
	for b := range out {
		if begins(0, byte(b)) {
			out[b] |= leadFirst
		}
		if begins(1, byte(b)) {
			out[b] |= leadSecond
		}
	}
	return &out
}

// failures is likePart.fail.
func (c *Collation) failures(tokens []likeToken) []int32 {
	fail := make([]int32, len(tokens)+1)
	k := int32(0)
	for i := range tokens {
		if tokens[i].kind == tokenOne {
			return nil
		}
		if i == 0 {
			continue
		}
		for k > 0 && !c.equalChar(&tokens[k], tokens[i].ch) {
			k = fail[k]
		}
		if c.equalChar(&tokens[k], tokens[i].ch) {
			k++
		}
		fail[i+1] = k
	}
	return fail
}

func (c *Collation) likeTokens(p []byte, escape rune) []likeToken {
	var tokens []likeToken
	for len(p) > 0 {
		r, n := c.decode(p)
		if r == escape && escape != 0 && len(p) > n {
			p = p[n:]
			_, n = c.decode(p)
			tokens = append(tokens, c.charToken(p[:n]))
			p = p[n:]
			continue
		}
		switch {
		case r == '_':
			tokens = append(tokens, likeToken{kind: tokenOne})
		case r == '%':
			if k := len(tokens); k == 0 || tokens[k-1].kind != tokenMany {
				tokens = append(tokens, likeToken{kind: tokenMany})
			}
		default:
			tokens = append(tokens, c.charToken(p[:n]))
		}
		p = p[n:]
	}
	return tokens
}

func (c *Collation) charToken(ch []byte) likeToken {
	t := likeToken{ch: append([]byte(nil), ch...)}
	if c.w16 != nil && ch[0] < 0x80 {
		t.w = c.w16[ch[0]]
	}
	return t
}

// decode is the first character of s and its length, at least 1.
func (c *Collation) decode(s []byte) (rune, int) {
	if s[0] < 0x80 && (c.utf8 || c.cs.MaxWidth() == 1) {
		return rune(s[0]), 1
	}
	if c.utf8 {
		return utf8.DecodeRune(s)
	}
	r, n := c.cs.DecodeRune(s)
	if r == 0 && s[0] != 0 && c.cs.MaxWidth() == 1 || r < 0 || r > utf8.MaxRune {
		r = utf8.RuneError // no character
	}
	return r, min(max(n, 1), len(s))
}

// equalChar reports that the token's character equals ch.
func (c *Collation) equalChar(t *likeToken, ch []byte) bool {
	if len(ch) == 1 && len(t.ch) == 1 {
		switch {
		case t.ch[0] == ch[0]:
			return true
		case c.class == classBytes || c.class == classPadByte:
			return false
		case c.w8 != nil:
			return c.w8[t.ch[0]] == c.w8[ch[0]]
		case c.w16 != nil && ch[0]|t.ch[0] < 0x80:
			return t.w == c.w16[ch[0]]
		}
	}
	if bytes.Equal(t.ch, ch) {
		return true
	}
	switch c.class {
	case classBytes, classPadByte:
		return false
	case classGeneral:
		table := c.generalTable()
		x, _ := generalWeight(table, t.ch)
		y, _ := generalWeight(table, ch)
		return x == y
	}
	return c.Compare(t.ch, ch) == 0
}

// Match reports whether s matches.
func (l *Like) Match(s []byte) bool {
	ok, _ := l.MatchUntil(s, nil)
	return ok
}

// likeStep is the number of characters between two calls of stop.
const likeStep = 1 << 14

// MatchUntil is Match that ends with the error of stop. It calls stop, unless it is nil,
// now and then with the number of characters that it has compared since the last call.
func (l *Like) MatchUntil(s []byte, stop func(compared int) error) (bool, error) {
	if l.simple != nil {
		return l.simple(s), nil
	}
	m := likeMatch{c: l.c, stop: stop}
	first := l.parts[0].tokens
	n, ok := m.prefix(first, s)
	if !ok {
		return false, m.err
	}
	s = s[n:]
	if len(l.parts) == 1 {
		return len(s) == 0, m.err
	}
	for i := 1; i < len(l.parts) && m.err == nil; i++ {
		part := &l.parts[i]
		atEnd := i == len(l.parts)-1
		if atEnd && len(part.tokens) == 0 {
			return true, nil
		}
		if s, ok = m.find(part, s, atEnd); !ok {
			return false, m.err
		}
	}
	return m.err == nil, m.err
}

// likeMatch is the match of one text.
type likeMatch struct {
	c        *Collation
	stop     func(compared int) error
	compared int
	err      error
}

// step counts a comparison, and reports false when the match has to end.
func (m *likeMatch) step() bool {
	if m.compared++; m.compared == likeStep && m.stop != nil {
		m.err = m.stop(m.compared)
		m.compared = 0
	}
	return m.err == nil
}

// prefix is the length of the beginning of s that tokens match.
func (m *likeMatch) prefix(tokens []likeToken, s []byte) (n int, ok bool) {
	for i := range tokens {
		if n == len(s) || !m.step() {
			return 0, false
		}
		_, size := m.c.decode(s[n:])
		if t := &tokens[i]; t.kind != tokenOne && !m.c.equalChar(t, s[n:n+size]) {
			return 0, false
		}
		n += size
	}
	return n, true
}

// find is what follows the first place in s that a part matches; atEnd: the place must
// be the end of s.
func (m *likeMatch) find(part *likePart, s []byte, atEnd bool) (rest []byte, ok bool) {
	if len(part.tokens) == 0 {
		return s, true
	}
	if part.fail == nil {
		return m.findAny(part.tokens, s, atEnd)
	}
	k := int32(0)
	for len(s) > 0 && m.step() {
		if k == 0 && part.lead != nil {
			n := part.skip(s, likeStep/2)
			if s = s[n:]; n > 0 {
				m.compared += n
				if m.compared >= likeStep {
					m.compared = likeStep - 1 // the next step calls stop
				}
				continue
			}
		}
		_, size := m.c.decode(s)
		ch := s[:size]
		s = s[size:]
		if int(k) == len(part.tokens) { // a match that was not at the end
			k = part.fail[k]
		}
		for k > 0 && !m.c.equalChar(&part.tokens[k], ch) {
			k = part.fail[k]
		}
		if m.c.equalChar(&part.tokens[k], ch) {
			k++
		}
		if int(k) == len(part.tokens) && (!atEnd || len(s) == 0) {
			return s, true
		}
	}
	return nil, false
}

// findAny is find for a part with a _.
func (m *likeMatch) findAny(tokens []likeToken, s []byte, atEnd bool) (rest []byte, ok bool) {
	for m.err == nil {
		if n, ok := m.prefix(tokens, s); ok && (!atEnd || n == len(s)) {
			return s[n:], true
		}
		if len(s) == 0 {
			break
		}
		_, size := m.c.decode(s)
		s = s[size:]
	}
	return nil, false
}

// simpleLike is a matcher for 'x', 'x%', '%x' and '%x%' in collations whose
// characters are equal only when their bytes are; nil for other patterns.
func (c *Collation) simpleLike(tokens []likeToken) func([]byte) bool {
	if c.class != classBytes && c.class != classPadByte || c.cs.MaxWidth() > 1 && !c.utf8 {
		return nil
	}
	var lit []byte
	head, tail := false, false
	for i, t := range tokens {
		switch {
		case t.kind == tokenChar:
			lit = append(lit, t.ch...)
		case t.kind == tokenMany && i == 0:
			head = true
		case t.kind == tokenMany && i == len(tokens)-1:
			tail = true
		default:
			return nil
		}
	}
	switch {
	case head && len(tokens) == 1:
		return func([]byte) bool { return true }
	case head && tail:
		return func(s []byte) bool { return bytes.Contains(s, lit) }
	case head:
		return func(s []byte) bool { return bytes.HasSuffix(s, lit) }
	case tail:
		return func(s []byte) bool { return bytes.HasPrefix(s, lit) }
	}
	return func(s []byte) bool { return bytes.Equal(s, lit) }
}
