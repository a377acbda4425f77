package text

import (
	"strings"
	"sync"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/norm"
)

// folding is the set of differences between characters that terms ignore. The zero
// value changes no bytes.
type folding struct {
	lower   bool // letter case and width
	accents bool // accents, points and letters with a stroke
}

// MaxTerm is how many bytes of a word count: longer ones are cut, in texts and
// in queries.
const MaxTerm = 1024

// shortened gives the first MaxTerm bytes of a word, in whole characters.
func shortened(s string) string {
	if len(s) <= MaxTerm {
		return s
	}
	n := MaxTerm
	for n > MaxTerm-utf8.UTFMax && !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}

// term folds the text of one token.
func (f folding) term(s string) string {
	s = shortened(s)
	if f == (folding{}) {
		return s
	}
	upper := false
	for i := 0; i < len(s); i++ {
		c := s[i]
		if c >= utf8.RuneSelf {
			if inert(s[i:]) {
				if !upper {
					return s
				}
				break
			}
			if folded, ok := f.latin(s); ok {
				return folded
			}
			return f.full(s)
		}
		upper = upper || 'A' <= c && c <= 'Z'
	}
	if upper && f.lower {
		return strings.ToLower(s)
	}
	return s
}

// latinEnd ends the letters that [folding.latin] knows.
const latinEnd = 0x250

// latinTables are the folded characters below latinEnd, by folding.
var latinTables = sync.OnceValue(func() map[folding]*[latinEnd]string {
	tables := map[folding]*[latinEnd]string{}
	for _, f := range []folding{{true, true}, {true, false}, {false, true}} {
		var t [latinEnd]string
		for r := range t {
			t[r] = f.full(string(rune(r)))
		}
		tables[f] = &t
	}
	return tables
})

// latin folds a text of no other than Latin letters; without marks, each folds
// independently.
func (f folding) latin(s string) (string, bool) {
	table := latinTables()[f]
	buf := make([]byte, 0, len(s)+2)
	for _, r := range s {
		if r >= latinEnd {
			return "", false
		}
		buf = append(buf, table[r]...)
	}
	return string(buf), true
}

// inert reports whether folding leaves s unchanged: Han characters only, by far the
// most common case apart from ASCII.
func inert(s string) bool {
	for _, r := range s {
		if r < 0x4E00 || r > 0x9FFF {
			return false
		}
	}
	return true
}

// full folds by normalisation. Without accents the text is taken apart
// (compatibility forms, so that full-width letters become plain ones), loses
// its marks and is put together again, which restores Hangul and voiced kana.
func (f folding) full(s string) string {
	var b strings.Builder
	b.Grow(len(s))
	form := norm.NFC
	switch {
	case f.accents:
		form = norm.NFKD
	case f.lower:
		form = norm.NFKC
	}
	for _, r := range form.String(strings.ToValidUTF8(s, "\uFFFD")) {
		if f.accents && isAccent(r) {
			continue
		}
		if f.lower {
			r = unicode.ToLower(r)
			switch r {
			case 'ß':
				b.WriteString("ss")
				continue
			case 'ς':
				r = 'σ'
			}
		}
		if f.accents {
			if plain := stroked(r); plain != "" {
				b.WriteString(plain)
				continue
			}
		}
		b.WriteRune(r)
	}
	return norm.NFC.String(b.String())
}

// isAccent reports the marks that collations compare on their second level. Vowel signs
// of Indic scripts and the sound marks of kana are marks too, but make other letters,
// so they stay.
func isAccent(r rune) bool {
	switch {
	case r < 0x300:
		return false
	case r <= 0x36F, // combining diacritical marks
		0x483 <= r && r <= 0x487,                                                             // Cyrillic
		0x591 <= r && r <= 0x5BD, r == 0x5BF, r == 0x5C1, r == 0x5C2, r == 0x5C4, r == 0x5C5, // Hebrew points
		0x64B <= r && r <= 0x65F, r == 0x670, // Arabic vowels
		0x1AB0 <= r && r <= 0x1AFF, 0x1DC0 <= r && r <= 0x1DFF, // more diacritical marks
		0x20D0 <= r && r <= 0x20FF, // marks for symbols
		0xFE00 <= r && r <= 0xFE0F, // variation selectors
		0xFE20 <= r && r <= 0xFE2F: // half marks
		return true
	}
	return false
}

// stroked gives the plain letters of those that Unicode does not take apart
// but collations compare as letters with an accent.
func stroked(r rune) string {
	switch r {
	case 'æ':
		return "ae"
	case 'Æ':
		return "AE"
	case 'œ':
		return "oe"
	case 'Œ':
		return "OE"
	case 'ø':
		return "o"
	case 'Ø':
		return "O"
	case 'đ', 'ð':
		return "d"
	case 'Đ', 'Ð':
		return "D"
	case 'ħ':
		return "h"
	case 'Ħ':
		return "H"
	case 'ł':
		return "l"
	case 'Ł':
		return "L"
	}
	return ""
}

// folded is a text folded character by character, for analyzers whose terms are cut
// from the folded text. Character i of it is chars[off[i]:off[i+1]] and comes from the
// bytes at[i] to end[i] of the original.
type folded struct {
	buf     []byte
	off     []int
	at, end []int
	chars   string
	changed bool
}

func (d *folded) add(r rune, at, end int) {
	d.off = append(d.off, len(d.buf))
	d.buf = utf8.AppendRune(d.buf, r)
	d.at, d.end = append(d.at, at), append(d.end, end)
}

// read folds text[start:end] in place of what was read before. Text that folding does
// not change is not copied.
func (d *folded) read(f folding, text string, start, end int) {
	d.buf, d.off, d.at, d.end, d.changed = d.buf[:0], d.off[:0], d.at[:0], d.end[:0], false
	d.addText(f, text, start, end)
	d.off = append(d.off, len(d.buf))
	if d.chars = text[start:end]; d.changed {
		d.chars = string(d.buf)
	}
}

// len is the number of characters.
func (d *folded) len() int { return len(d.at) }

// gram gives characters i to j as a token; the first character is at pos.
func (d *folded) gram(i, j, pos int) Token {
	return Token{d.chars[d.off[i]:d.off[j]], pos + i, d.at[i], d.end[j-1]}
}

// addText folds text[start:end] into d.
func (d *folded) addText(f folding, text string, start, end int) {
	for i := start; i < end; {
		r, size := utf8.DecodeRuneInString(text[i:end])
		next := i + size
		if r < utf8.RuneSelf || 0x4E00 <= r && r <= 0x9FFF {
			// A mark may follow; then the slow way takes both.
			if next >= end || text[next] < utf8.RuneSelf || !isMarkAt(text[next:end]) {
				if f.lower && 'A' <= r && r <= 'Z' {
					r += 'a' - 'A'
					d.changed = true
				}
				d.add(r, i, next)
				i = next
				continue
			}
		}
		if n := norm.NFC.NextBoundaryInString(text[i:end], true); n > size {
			next = i + n
		}
		piece := text[i:next]
		if f != (folding{}) {
			piece = f.full(piece)
			d.changed = d.changed || piece != text[i:next]
		}
		for _, r := range piece {
			d.add(r, i, next)
		}
		i = next
	}
}

func isMarkAt(s string) bool {
	r, _ := utf8.DecodeRuneInString(s)
	return r >= 0x300 && unicode.IsMark(r)
}
