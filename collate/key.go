package collate

import (
	"bytes"
	"sync"
	"unicode/utf8"
)

// Keys of PAD SPACE collations. Strings compare as if both went on with
// spaces for ever, so 'a' > 'a\t' although it is shorter. A key is the
// weights of the string without its trailing spaces, and
//
//	after the first space of each run    a byte for what comes after the
//	                                     run: 1 a weight below that of a
//	                                     space, 3 one above it
//	at the end                           the weight of a space and 2
//
// The end represents an endless run of spaces that is followed by "neither". Where two
// keys are at the same place and one is in a run that the other one ends, or in a
// longer one, the byte decides as the endless comparison would.
const (
	padLess = 1 + iota
	padEnd
	padMore
)

// AppendKey appends the sort key of s: memcmp of keys is Compare of strings.
func (c *Collation) AppendKey(dst, s []byte) []byte {
	switch c.class {
	case classBytes:
		return append(dst, s...)
	case classPadByte:
		return c.appendPadBytes(dst, s)
	case class8Bit:
		return c.append8Bit(dst, s)
	case classGeneral:
		return c.appendGeneral(dst, s)
	case class0900:
		return c.append0900(dst, s)
	}
	var buf [256]byte
	return c.appendPadded(dst, c.appendWeights(buf[:0], s))
}

// appendWeights is the weight string of classOther.
func (c *Collation) appendWeights(dst, s []byte) []byte {
	if c.w16 == nil || !isASCII(s) {
		return c.v.WeightString(dst, s, 0)
	}
	for _, b := range s {
		if w := c.w16[b]; w != 0 {
			dst = append(dst, byte(w>>8), byte(w))
		}
	}
	return dst
}

// AppendHashKey appends bytes that are equal for equal strings only. They are
// cheaper than those of AppendKey and have no order.
func (c *Collation) AppendHashKey(dst, s []byte) []byte {
	switch c.class {
	case classPadByte:
		return append(dst, trimSpaces(s)...)
	case class8Bit:
		for _, b := range trimWeights8(s, c.w8, c.pad[0]) {
			dst = append(dst, c.w8[b])
		}
		return dst
	case classGeneral:
		n := len(dst)
		dst = c.appendGeneralWeights(dst, s)
		return trimTail(dst, n, c.pad)
	case classOther:
		n := len(dst)
		dst = c.appendWeights(dst, s)
		return trimTail(dst, n, c.pad)
	}
	return c.AppendKey(dst, s)
}

// AppendKeyPrefix appends bytes with which the keys of all strings begin that
// match LIKE 's%'. It reports false when the collation has none such
// (contractions, several levels): then there is no key range for LIKE.
func (c *Collation) AppendKeyPrefix(dst, s []byte) ([]byte, bool) {
	switch c.class {
	case classBytes:
		return append(dst, s...), true
	case classPadByte:
		return c.appendMarked(dst, trimSpaces(s)), true
	case class8Bit, classGeneral:
		end := len(c.pad) + 1
		dst = c.AppendKey(dst, s)
		return dst[:len(dst)-end], true
	case class0900:
		if c.w16 != nil {
			return c.append0900(dst, s), true
		}
	}
	return dst, false
}

// trimTail drops the weights of spaces from the end of b, down to length n.
func trimTail(b []byte, n int, pad []byte) []byte {
	for len(pad) > 0 && len(b)-n >= len(pad) && bytes.Equal(b[len(b)-len(pad):], pad) {
		b = b[:len(b)-len(pad)]
	}
	return b
}

func trimSpaces(s []byte) []byte {
	for len(s) > 0 && s[len(s)-1] == ' ' {
		s = s[:len(s)-1]
	}
	return s
}

// appendPadded makes a key from a weight string of fixed-width weights.
func (c *Collation) appendPadded(dst, w []byte) []byte {
	p := padder{pad: c.pad}
	return p.end(p.append(dst, w))
}

// padder makes a key from weights of the width of pad, which come in one or several
// parts.
type padder struct {
	pad   []byte
	inRun bool
	// run is where the run of spaces under way begins in the key, mark its byte for what
	// comes after it.
	run, mark int
}

func (p *padder) append(dst, w []byte) []byte {
	width := len(p.pad)
	for i := 0; i+width <= len(w); i += width {
		d := bytes.Compare(w[i:i+width], p.pad)
		switch {
		case d != 0 && p.inRun:
			dst[p.mark] = padMark(d)
			p.inRun = false
		case d == 0 && !p.inRun:
			p.inRun, p.run, p.mark = true, len(dst), len(dst)+width
			dst = append(append(dst, p.pad...), 0)
			continue
		}
		dst = append(dst, w[i:i+width]...)
	}
	return dst
}

// end ends the key, which does not have the last run of spaces.
func (p *padder) end(dst []byte) []byte {
	if p.inRun {
		dst = dst[:p.run]
	}
	return append(append(dst, p.pad...), padEnd)
}

func padMark(cmp int) byte {
	if cmp < 0 {
		return padLess
	}
	return padMore
}

func (c *Collation) appendPadBytes(dst, s []byte) []byte {
	return append(c.appendMarked(dst, trimSpaces(s)), ' ', padEnd)
}

// appendMarked copies s, which does not end in a space, with the marks of its
// runs of spaces.
func (c *Collation) appendMarked(dst, s []byte) []byte {
	for {
		i := bytes.IndexByte(s, ' ')
		if i < 0 {
			return append(dst, s...)
		}
		j := i + 1
		for s[j] == ' ' {
			j++
		}
		dst = append(dst, s[:i+1]...)
		dst = append(dst, padMark(int(s[j])-' '))
		dst = append(dst, s[i+1:j]...)
		s = s[j:]
	}
}

func trimWeights8(s []byte, w *[256]byte, pad byte) []byte {
	for len(s) > 0 && w[s[len(s)-1]] == pad {
		s = s[:len(s)-1]
	}
	return s
}

func (c *Collation) append8Bit(dst, s []byte) []byte {
	pad := c.pad[0]
	s = trimWeights8(s, c.w8, pad)
	prev := false
	for i, b := range s {
		w := c.w8[b]
		dst = append(dst, w)
		if w != pad {
			prev = false
			continue
		}
		if !prev {
			j := i + 1
			for c.w8[s[j]] == pad {
				j++
			}
			dst = append(dst, padMark(int(c.w8[s[j]])-int(pad)))
		}
		prev = true
	}
	return append(dst, pad, padEnd)
}

// generalTables are the weights of the BMP, by collation name. They are built
// on the first use of a character beyond ASCII.
var generalTables sync.Map // string → *[65536]uint16

func (c *Collation) generalTable() *[65536]uint16 {
	if t, ok := generalTables.Load(c.Name); ok {
		return t.(*[65536]uint16)
	}
	t := new([65536]uint16)
	var b, w []byte
	for r := range t {
		b = utf8.AppendRune(b[:0], rune(r))
		w = c.v.WeightString(w[:0], b, 0)
		t[r] = uint16(r)
		if len(w) == 2 {
			t[r] = uint16(w[0])<<8 | uint16(w[1])
		}
	}
	got, _ := generalTables.LoadOrStore(c.Name, t)
	return got.(*[65536]uint16)
}

// generalWeight is the weight of the first character of s and its length. All
// supplementary characters have one weight; a bad byte has that of itself in
// the private use area.
func generalWeight(t *[65536]uint16, s []byte) (uint16, int) {
	r, n := utf8.DecodeRune(s)
	switch {
	case r == utf8.RuneError && n <= 1:
		return 0xF800 | uint16(s[0]), 1
	case r > 0xFFFF:
		return 0xFFFD, n
	}
	return t[r], n
}

func (c *Collation) appendGeneralWeights(dst, s []byte) []byte {
	i := 0
	for ; i < len(s) && s[i] < 0x80; i++ {
		w := c.w16[s[i]]
		dst = append(dst, byte(w>>8), byte(w))
	}
	if i == len(s) {
		return dst
	}
	t := c.generalTable()
	for i < len(s) {
		w, n := generalWeight(t, s[i:])
		dst = append(dst, byte(w>>8), byte(w))
		i += n
	}
	return dst
}

func (c *Collation) appendGeneral(dst, s []byte) []byte {
	s = trimSpaces(s)
	if !isASCII(s) {
		var buf [256]byte
		return c.appendPadded(dst, c.appendGeneralWeights(buf[:0], s))
	}
	for i, b := range s {
		w := c.w16[b]
		dst = append(dst, byte(w>>8), byte(w))
		if b == ' ' && (i == 0 || s[i-1] != ' ') {
			j := i + 1
			for s[j] == ' ' {
				j++
			}
			dst = append(dst, padMark(int(c.w16[s[j]])-' '))
		}
	}
	return append(append(dst, c.pad...), padEnd)
}

func (c *Collation) append0900(dst, s []byte) []byte {
	if c.w16 != nil {
		i := 0
		for ; i < len(s) && s[i] < 0x80; i++ {
			if w := c.w16[s[i]]; w != 0 {
				dst = append(dst, byte(w>>8), byte(w))
			}
		}
		if i == len(s) {
			return dst
		}
		s = s[i:]
	}
	return c.v.WeightString(dst, s, 0)
}

// comparePadBytes is memcmp with the shorter string padded by spaces.
func comparePadBytes(a, b []byte) int {
	n := min(len(a), len(b))
	if d := bytes.Compare(a[:n], b[:n]); d != 0 {
		return d
	}
	for _, x := range a[n:] {
		if x != ' ' {
			return sign(int(x) - ' ')
		}
	}
	for _, x := range b[n:] {
		if x != ' ' {
			return sign(' ' - int(x))
		}
	}
	return 0
}

func (c *Collation) compare8Bit(a, b []byte) int {
	n := min(len(a), len(b))
	for i := range n {
		if x, y := c.w8[a[i]], c.w8[b[i]]; x != y {
			return sign(int(x) - int(y))
		}
	}
	pad := c.pad[0]
	for _, x := range a[n:] {
		if w := c.w8[x]; w != pad {
			return sign(int(w) - int(pad))
		}
	}
	for _, x := range b[n:] {
		if w := c.w8[x]; w != pad {
			return sign(int(pad) - int(w))
		}
	}
	return 0
}

func (c *Collation) compareGeneral(a, b []byte) int {
	i := 0
	for i < len(a) && i < len(b) && a[i]|b[i] < 0x80 {
		if x, y := c.w16[a[i]], c.w16[b[i]]; x != y {
			return sign(int(x) - int(y))
		}
		i++
	}
	a, b = a[i:], b[i:]
	if len(a) == 0 && len(b) == 0 {
		return 0
	}
	t := c.generalTable()
	for len(a) > 0 || len(b) > 0 {
		x, y := uint16(' '), uint16(' ')
		var n int
		if len(a) > 0 {
			x, n = generalWeight(t, a)
			a = a[n:]
		}
		if len(b) > 0 {
			y, n = generalWeight(t, b)
			b = b[n:]
		}
		if x != y {
			return sign(int(x) - int(y))
		}
	}
	return 0
}

// compare0900 compares on the primary level. ASCII prefixes are walked here;
// at the first other character vitess takes over, which is exact because the
// root collation has no contraction that begins with an ASCII character.
func (c *Collation) compare0900(a, b []byte) int {
	i, j := 0, 0
	for i < len(a) && j < len(b) {
		x, y := a[i], b[j]
		if x|y >= 0x80 {
			return sign(c.v.Collate(a[i:], b[j:], false))
		}
		if x == y {
			i, j = i+1, j+1
			continue
		}
		wx, wy := c.w16[x], c.w16[y]
		switch {
		case wx == 0:
			i++
		case wy == 0:
			j++
		case wx != wy:
			return sign(int(wx) - int(wy))
		default:
			i, j = i+1, j+1
		}
	}
	for ; i < len(a); i++ {
		if a[i] >= 0x80 {
			return sign(c.v.Collate(a[i:], b[j:], false))
		}
		if c.w16[a[i]] != 0 {
			return 1
		}
	}
	for ; j < len(b); j++ {
		if b[j] >= 0x80 {
			return sign(c.v.Collate(a[i:], b[j:], false))
		}
		if c.w16[b[j]] != 0 {
			return -1
		}
	}
	return 0
}

// compareKeys compares weight strings with the shorter one padded.
func (c *Collation) compareKeys(a, b []byte) int {
	if bytes.Equal(a, b) {
		return 0
	}
	if c.w16 != nil && isASCII(a) && isASCII(b) {
		return c.compareASCII(a, b)
	}
	var bufA, bufB [256]byte
	x, y := c.appendWeights(bufA[:0], a), c.appendWeights(bufB[:0], b)
	n := min(len(x), len(y))
	if d := bytes.Compare(x[:n], y[:n]); d != 0 {
		return d
	}
	width := len(c.pad)
	for i := n; i+width <= len(x); i += width {
		if d := bytes.Compare(x[i:i+width], c.pad); d != 0 {
			return d
		}
	}
	for i := n; i+width <= len(y); i += width {
		if d := bytes.Compare(c.pad, y[i:i+width]); d != 0 {
			return d
		}
	}
	return 0
}

// compareASCII compares the weights of ASCII strings with the shorter one
// padded.
func (c *Collation) compareASCII(a, b []byte) int {
	pad := c.w16[' ']
	for len(a) > 0 || len(b) > 0 {
		x, y := uint16(0), uint16(0)
		for x == 0 && len(a) > 0 {
			x, a = c.w16[a[0]], a[1:]
		}
		for y == 0 && len(b) > 0 {
			y, b = c.w16[b[0]], b[1:]
		}
		if x == 0 {
			x = pad
		}
		if y == 0 {
			y = pad
		}
		if x != y {
			return sign(int(x) - int(y))
		}
	}
	return 0
}
