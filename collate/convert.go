package collate

import (
	"bytes"
	"slices"
	"unicode"
	"unicode/utf8"
)

// Decode is the first character of the non-empty string s and its length in
// bytes, at least 1; utf8.RuneError for a byte that belongs to no character.
func (c *Collation) Decode(s []byte) (rune, int) { return c.decode(s) }

// AppendRune appends r in the character set; false (and nothing appended) when
// the set does not have it.
func (c *Collation) AppendRune(dst []byte, r rune) ([]byte, bool) {
	if c.utf8 {
		if c.mb3 && r > 0xFFFF {
			return dst, false
		}
		return utf8.AppendRune(dst, r), true
	}
	if c.ascii && r >= 0x80 || c.Charset == "binary" && r > 0xFF {
		return dst, false
	}
	var b [8]byte
	n := c.cs.EncodeRune(b[:], r)
	if n <= 0 {
		return dst, false
	}
	return append(dst, b[:n]...), true
}

// Convert appends s, a string of c, in the character set of to. Characters
// that to does not have, and bytes that are none in c, become '?'; lost is the offset in
// s of the first of them, or -1. Conversion from and to binary copies.
func (c *Collation) Convert(dst, s []byte, to *Collation) (out []byte, lost int) {
	if !c.NeedsConversion(s, to) {
		return append(dst, s...), -1
	}
	lost = -1
	before, after, wide := to.wideASCII()
	wide = wide && c.utf8
	for at := 0; at < len(s); {
		if wide && s[at] < 0x80 {
			run := s[at:]
			if i := slices.IndexFunc(run, func(b byte) bool { return b >= 0x80 }); i >= 0 {
				run = run[:i]
			}
			dst = appendWide(dst, run, before, after)
			at += len(run)
			continue
		}
		r, n := c.decode(s[at:])
		known := r != utf8.RuneError || n > 1 && c.utf8
		if known {
			dst, known = to.AppendRune(dst, r)
		}
		if !known {
			dst, _ = to.AppendRune(dst, '?')
			if lost < 0 {
				lost = at
			}
		}
		at += n
	}
	return dst, lost
}

// appendWide appends characters below 128, each with zeros before and after it.
func appendWide(dst, s []byte, before, after int) []byte {
	width, at := before+1+after, len(dst)
	dst = slices.Grow(dst, width*len(s))[:at+width*len(s)]
	clear(dst[at:])
	for i, out := 0, dst[at+before:]; i < len(s); i++ {
		out[i*width] = s[i]
	}
	return dst
}

// ConvertSome is Convert of the first characters of s, which have about n bytes; rest are
// the others.
func (c *Collation) ConvertSome(dst, s []byte, to *Collation, n int) (out, rest []byte) {
	at := 0
	for at < len(s) && at < n {
		if s[at] < 0x80 && c.utf8 {
			at++
			continue
		}
		_, size := c.decode(s[at:])
		at += size
	}
	out, _ = c.Convert(dst, s[:at], to)
	return out, s[at:]
}

// wideASCII is how a character below 128 is written in a character set of 2 or 4 bytes
// for it: zeros before and after it. ok is false in other sets.
func (c *Collation) wideASCII() (before, after int, ok bool) {
	switch c.Charset {
	case "ucs2", "utf16":
		return 1, 0, true
	case "utf16le":
		return 0, 1, true
	case "utf32":
		return 3, 0, true
	}
	return 0, 0, false
}

// NeedsConversion reports whether s has other bytes in the character set of to.
func (c *Collation) NeedsConversion(s []byte, to *Collation) bool {
	if c.Charset == to.Charset || c.Charset == "binary" || to.Charset == "binary" || c.mb3 && to.utf8 {
		return false
	}
	return !(c.asciiCompatible() && to.asciiCompatible() && isASCII(s))
}

// asciiCompatible reports that bytes below 128 are ASCII characters.
func (c *Collation) asciiCompatible() bool {
	switch c.Charset {
	case "ucs2", "utf16", "utf16le", "utf32", "swe7":
		return false
	}
	return true
}

// MinLen is the least number of bytes of a character, of which all others are
// multiples.
func (c *Collation) MinLen() int {
	switch c.Charset {
	case "ucs2", "utf16", "utf16le":
		return 2
	case "utf32":
		return 4
	}
	return 1
}

// FillLeft is s with zero bytes before it, so that its length is a multiple of that of
// the shortest character. Bytes that become a text get them.
func (c *Collation) FillLeft(s []byte) []byte {
	n := c.MinLen()
	if len(s)%n == 0 {
		return s
	}
	return append(make([]byte, n-len(s)%n, len(s)+n), s...)
}

// ASCII appends a string of ASCII characters in the character set of c.
func (c *Collation) ASCII(dst []byte, s string) []byte {
	if c.asciiCompatible() {
		return append(dst, s...)
	}
	for _, r := range s {
		dst, _ = c.AppendRune(dst, r)
	}
	return dst
}

// EndsWith reports whether s ends with the characters of end.
func (c *Collation) EndsWith(s, end []byte) bool {
	at := len(s) - len(end)
	switch {
	case !bytes.HasSuffix(s, end):
		return false
	case c.utf8 || c.MaxLen() == 1 || at == 0:
		return true
	case c.MinLen() > 1:
		return at%c.MinLen() == 0
	}
	i := 0
	for i < at {
		_, n := c.decode(s[i:])
		i += n
	}
	return i == at
}

// ValidPrefix is the length of the longest prefix of s that is valid.
func (c *Collation) ValidPrefix(s []byte) int {
	if c.Valid(s) {
		return len(s)
	}
	i := 0
	for i < len(s) {
		r, n := c.decode(s[i:])
		if r == utf8.RuneError && (n <= 1 || !c.utf8) || c.mb3 && n > 3 || c.ascii && s[i] >= 0x80 {
			break
		}
		i += n
	}
	return i
}

// PrefixLen is the number of bytes of the first n characters of s, len(s) when
// it has fewer.
func (c *Collation) PrefixLen(s []byte, n int) int {
	if c.cs.MaxWidth() == 1 {
		return min(n, len(s))
	}
	i := 0
	for ; n > 0 && i < len(s); n-- {
		_, w := c.decode(s[i:])
		i += w
	}
	return i
}

// ToUpper appends s in capitals; binary strings stay unchanged.
func (c *Collation) ToUpper(dst, s []byte) []byte { return c.mapCase(dst, s, unicode.ToUpper) }

// ToLower appends s in small letters; binary strings stay unchanged.
func (c *Collation) ToLower(dst, s []byte) []byte { return c.mapCase(dst, s, unicode.ToLower) }

func (c *Collation) mapCase(dst, s []byte, fn func(rune) rune) []byte {
	if c.Charset == "binary" {
		return append(dst, s...)
	}
	for len(s) > 0 {
		r, n := c.decode(s)
		m := r
		if r != utf8.RuneError {
			m = fn(r)
		}
		var ok bool
		if m != r {
			dst, ok = c.AppendRune(dst, m)
		}
		if !ok {
			dst = append(dst, s[:n]...)
		}
		s = s[n:]
	}
	return dst
}

// describe is the description of a character set in SHOW CHARACTER SET.
func describe(name string) string {
	switch name {
	case "utf8mb4":
		return "UTF-8 Unicode"
	case "utf8mb3":
		return "UTF-8 Unicode"
	case "latin1":
		return "cp1252 West European"
	case "ascii":
		return "US ASCII"
	case "binary":
		return "Binary pseudo charset"
	case "utf16":
		return "UTF-16 Unicode"
	case "utf16le":
		return "UTF-16LE Unicode"
	case "utf32":
		return "UTF-32 Unicode"
	case "ucs2":
		return "UCS-2 Unicode"
	case "gbk":
		return "GBK Simplified Chinese"
	case "big5":
		return "Big5 Traditional Chinese"
	case "gb18030":
		return "China National Standard GB18030"
	case "gb2312":
		return "GB2312 Simplified Chinese"
	}
	return name
}
