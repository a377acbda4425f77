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

// NewLike compiles a LIKE pattern. Characters match when they are equal in the
// collation; the escape character (0 for none) takes the special meaning from
// the one after it. The matcher is safe for concurrent use.
func (c *Collation) NewLike(pattern []byte, escape rune) func(s []byte) bool {
	tokens := c.likeTokens(pattern, escape)
	if m := c.simpleLike(tokens); m != nil {
		return m
	}
	return func(s []byte) bool { return c.matchLike(tokens, s) }
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
	if r == 0 && s[0] != 0 && c.cs.MaxWidth() == 1 {
		r = utf8.RuneError // a byte without a character
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

// matchLike walks pattern and string at once and, on a mismatch, goes back to
// the last % with one more character given to it.
func (c *Collation) matchLike(tokens []likeToken, s []byte) bool {
	i, ti := 0, 0
	starT, starI := -1, 0
	for i < len(s) {
		if ti < len(tokens) {
			t := &tokens[ti]
			if t.kind == tokenMany {
				starT, starI = ti, i
				ti++
				continue
			}
			_, n := c.decode(s[i:])
			if t.kind == tokenOne || c.equalChar(t, s[i:i+n]) {
				i += n
				ti++
				continue
			}
		}
		if starT < 0 {
			return false
		}
		_, n := c.decode(s[starI:])
		starI += n
		i, ti = starI, starT+1
	}
	for ti < len(tokens) && tokens[ti].kind == tokenMany {
		ti++
	}
	return ti == len(tokens)
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
