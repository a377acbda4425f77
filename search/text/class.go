package text

import (
	"unicode"
	"unicode/utf8"
)

// class is what a character is to a tokenizer.
type class uint8

const (
	separator class = iota // white space, punctuation, symbols, control, bad bytes
	letter
	digit
	cjk        // Han, kana, Hangul: written without spaces, or worth finding inside words
	mark       // belongs to the character before it
	underscore // punctuation to most, a letter to MySQL's FULLTEXT
)

var asciiClass = func() (t [utf8.RuneSelf]class) {
	for c := range t {
		switch {
		case 'a' <= c|0x20 && c|0x20 <= 'z':
			t[c] = letter
		case '0' <= c && c <= '9':
			t[c] = digit
		case c == '_':
			t[c] = underscore
		}
	}
	return t
}()

// classify reads the character at the start of s, which is not empty.
func classify(s string) (class, int) {
	if s[0] < utf8.RuneSelf {
		return asciiClass[s[0]], 1
	}
	r, size := utf8.DecodeRuneInString(s)
	if r == utf8.RuneError {
		return separator, size
	}
	return classOf(r), size
}

func classOf(r rune) class {
	switch {
	case r < utf8.RuneSelf:
		return asciiClass[r]
	case 0x4E00 <= r && r <= 0x9FFF:
		return cjk
	case unicode.IsLetter(r):
		if isCJK(r) {
			return cjk
		}
		return letter
	case unicode.IsNumber(r):
		if r == '〇' {
			return cjk
		}
		return digit
	case unicode.IsMark(r):
		return mark
	}
	return separator
}

// isCJK reports whether r is a letter of Han, kana or Hangul.
func isCJK(r rune) bool {
	switch {
	case r < 0x1100:
		return false
	case r <= 0x11FF, // Hangul Jamo
		r == '々', r == '〆',
		0x3040 <= r && r <= 0x318F, // kana, bopomofo, Hangul compatibility Jamo
		0x31A0 <= r && r <= 0x31BF, 0x31F0 <= r && r <= 0x31FF,
		0x3400 <= r && r <= 0x4DBF, 0x4E00 <= r && r <= 0x9FFF,
		0xA960 <= r && r <= 0xA97F, 0xAC00 <= r && r <= 0xD7FF,
		0xF900 <= r && r <= 0xFAFF,
		0xFF66 <= r && r <= 0xFFDC, // half-width kana and Hangul
		0x1AFF0 <= r && r <= 0x1B16F,
		0x20000 <= r && r <= 0x3FFFF:
		return true
	}
	return false
}

// isHan reports whether r is a character of the dictionary's words.
func isHan(r rune) bool {
	return 0x4E00 <= r && r <= 0x9FFF || r >= 0x2E80 && unicode.Is(unicode.Han, r)
}
