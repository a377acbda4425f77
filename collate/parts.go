package collate

import (
	"bytes"
	"slices"
	"unicode/utf8"
)

// Long texts are compared, and turned into keys, in parts, so that a statement that
// ends does not wait for them and no second text as long as the first is made.
//
// Weights of a text are those of its parts if no contraction, which is several
// characters with weights of their own, crosses the cut. No contraction of vitess has
// more than cutContext characters before a cut and after it.
const (
	// LongText is the number of bytes from which a text is read in parts.
	LongText = 256 << 10
	// partBytes is the least length of a part. Its weights take about a millisecond.
	partBytes = 32 << 10
	// cutContext is the number of characters on either side of a cut that are looked at.
	cutContext = 3
	// cutTries is the number of cuts that are looked at before the text is cut where the
	// weights up to there show that no contraction crosses.
	cutTries = 64
)

// Stop is called between the parts of a long text with the number of bytes read since
// the last call. Its error ends the work.
type Stop func(read int) error

// levelEnd stands between the levels of a weight string.
var levelEnd = []byte{0, 0}

// weightReader gives the weights of one level of a text in parts.
type weightReader struct {
	c     *Collation
	rest  []byte
	level int
	part  int // least length of a part
	stop  Stop
	buf   []byte
	// before is the character that comes before the first part; see firstBefore.
	before []byte
	text   []byte // of a part and the character before it
}

// reader reads the weights of s on one level.
func (c *Collation) reader(s []byte, level, part int, stop Stop) *weightReader {
	return &weightReader{c: c, rest: s, level: level, part: part, stop: stop, before: c.firstBefore(s, level)}
}

// plainBefore is a character whose weights, and those of what follows, do not depend on
// each other.
var plainBefore = []byte("a")

// firstBefore is the character of which a Japanese mark at the beginning of s has the
// weight. On all levels but the first, vitess goes on with the last one of the level
// before, which is that of s.
func (c *Collation) firstBefore(s []byte, level int) []byte {
	if level == 0 || !c.looksBack(s) {
		return plainBefore
	}
	_, n := utf8.DecodeLastRune(s)
	if last := s[len(s)-n:]; !c.looksBack(last) {
		return last
	}
	return plainBefore
}

// next is the weights of the next part, valid until the next call; nil at the end.
func (r *weightReader) next() ([]byte, error) {
	for len(r.rest) > 0 {
		n := r.c.cut(r.rest, r.part)
		if err := r.stop(n); err != nil {
			return nil, err
		}
		w := r.weights(r.rest[:n])
		r.rest, r.before = r.rest[n:], plainBefore
		if len(w) > 0 {
			return w, nil
		}
	}
	return nil, nil
}

// weights are those of a part.
func (r *weightReader) weights(part []byte) []byte {
	if !r.c.looksBack(part) {
		r.buf = r.c.appendPartWeights(r.buf[:0], part)
		return levelOf(r.buf, r.level, r.c.levels)
	}
	r.buf = r.c.appendPartWeights(r.buf[:0], r.before)
	before := len(levelOf(r.buf, r.level, r.c.levels))
	r.text = append(append(r.text[:0], r.before...), part...)
	r.buf = r.c.appendPartWeights(r.buf[:0], r.text)
	return levelOf(r.buf, r.level, r.c.levels)[before:]
}

// each calls fn with the weights of all parts.
func (r *weightReader) each(fn func(w []byte)) error {
	for {
		w, err := r.next()
		if err != nil || len(w) == 0 {
			return err
		}
		fn(w)
	}
}

// appendPartWeights appends all levels of the weights of s, without padding.
func (c *Collation) appendPartWeights(dst, s []byte) []byte {
	switch c.class {
	case classBytes, classPadByte:
		return append(dst, s...)
	case class8Bit:
		for _, b := range s {
			dst = append(dst, c.w8[b])
		}
		return dst
	case classGeneral:
		return c.appendGeneralWeights(dst, s)
	case class0900:
		return c.append0900(dst, s)
	}
	return c.appendWeights(dst, s)
}

// kanaLevel is the last level of utf8mb4_ja_0900_as_cs_ks.
const kanaLevel = 3

// levelOf is one level of a weight string, empty if it has fewer.
func levelOf(w []byte, level, levels int) []byte {
	for ; levels > 1; levels-- {
		end := levelLen(w)
		if level == 0 {
			return w[:end]
		}
		level, w = level-1, w[min(end+len(levelEnd), len(w)):]
	}
	return w
}

// levelLen is the length of the first level of w.
func levelLen(w []byte) int {
	for i := 0; i+2 <= len(w); i += 2 {
		if w[i] == 0 && w[i+1] == 0 {
			return i
		}
	}
	return len(w)
}

// cut is the length of the first part of s: at least n bytes, if s has them.
func (c *Collation) cut(s []byte, n int) int {
	switch {
	case len(s) < 2*n:
		return len(s)
	case c.class == class8Bit || c.class == classPadByte:
		return n
	}
	p := c.placeFrom(s, n)
	if c.class == classGeneral {
		return p.at
	}
	n = p.at
	for tries := 0; p.at < len(s) && tries < cutTries; tries++ {
		if c.cutsAt(s, p) {
			return p.at
		}
		p.step(c.charSize(s[p.at:]))
	}
	for ; n < len(s); n += c.charSize(s[n:]) {
		if next := c.skip(s, n, cutContext); !c.looksBack(s[n:]) && !c.looksBack(s) && c.concatenate(s[:n], s[n:next]) {
			return n
		}
	}
	return len(s)
}

// place is the start of a character, with the starts of those before it, the nearest
// first.
type place struct {
	at     int
	before [cutContext]int
	n      int // of before
}

// step goes on by a character of size bytes.
func (p *place) step(size int) {
	copy(p.before[1:], p.before[:])
	p.before[0] = p.at
	p.n = min(p.n+1, cutContext)
	p.at += size
}

// placeFrom is the first place from n on. In character sets whose characters cannot be
// found backwards it walks from the beginning of s, which starts a character.
func (c *Collation) placeFrom(s []byte, n int) place {
	start := 0
	switch {
	case c.utf8:
		start = n
		for back := 0; back < cutContext+1 && start > 0; back++ {
			_, size := utf8.DecodeLastRune(s[:start])
			start -= size
		}
	case c.MinLen() == c.MaxLen():
		start = max(0, n/c.MaxLen()-cutContext) * c.MaxLen()
	}
	p := place{at: start}
	for p.at < n {
		p.step(c.charSize(s[p.at:]))
	}
	return p
}

// charSize is the length of the first character of s, which is not empty.
func (c *Collation) charSize(s []byte) int {
	_, n := c.decode(s)
	return max(n, 1)
}

// skip is the end of the n characters of s from at on, or of s.
func (c *Collation) skip(s []byte, at, n int) int {
	for ; n > 0 && at < len(s); n-- {
		at += c.charSize(s[at:])
	}
	return at
}

// cutsAt reports that no contraction crosses a cut at p, whatever comes before and
// after: none of the texts of one to cutContext characters on either side has other
// weights than its halves.
func (c *Collation) cutsAt(s []byte, p place) bool {
	if c.looksBack(s[p.at:]) {
		return p.n > 0 && c.looksBack(s[p.before[0]:p.at]) // a mark has the weight of no mark
	}
	for n, end := 0, p.at; n < cutContext && end < len(s); n++ {
		end += c.charSize(s[end:])
		for _, start := range p.before[:p.n] {
			if c.looksBack(s[start:]) {
				continue // its weight is not its own
			}
			if !c.concatenate(s[start:p.at], s[p.at:end]) {
				return false
			}
		}
	}
	return true
}

// looksBack reports a text that begins with a Japanese mark of length or iteration. Its
// weight is that of the character before it, which vitess takes from the end of the
// text if it comes first.
func (c *Collation) looksBack(s []byte) bool {
	if !c.japanese || len(s) < 3 || s[0] != 0xE3 {
		return false
	}
	r, _ := utf8.DecodeRune(s)
	return r >= 0x309D && r <= 0x309E || r >= 0x30FC && r <= 0x30FE
}

// concatenate reports that the weights of a and b, one after the other, are those of
// the text that they make, which they are neighbours in.
func (c *Collation) concatenate(a, b []byte) bool {
	both := c.v.WeightString(nil, a[:len(a)+len(b)], 0)
	x, y := c.v.WeightString(nil, a, 0), c.v.WeightString(nil, b, 0)
	for level := range c.levels {
		p, q, w := levelOf(x, level, c.levels), levelOf(y, level, c.levels), levelOf(both, level, c.levels)
		if len(p)+len(q) != len(w) || !bytes.Equal(p, w[:len(p)]) || !bytes.Equal(q, w[len(p):]) {
			return false
		}
	}
	return true
}

// inParts reports whether s is read in parts. Vitess's weights of a text that is not
// valid end at the place.
func (c *Collation) inParts(s []byte) bool {
	switch c.class {
	case classBytes:
		return false
	case class8Bit, classPadByte, classGeneral:
		return true
	}
	return c.Valid(s)
}

// CompareUntil is Compare that ends with the error of stop.
func (c *Collation) CompareUntil(a, b []byte, stop Stop) (int, error) {
	if len(a) < LongText && len(b) < LongText || c.class == classBytes {
		return c.Compare(a, b), nil
	}
	if bytes.Equal(a, b) {
		return 0, nil
	}
	if !c.inParts(a) || !c.inParts(b) {
		return c.Compare(a, b), nil
	}
	return c.compareParts(a, b, partBytes, stop)
}

func (c *Collation) compareParts(a, b []byte, part int, stop Stop) (int, error) {
	for level := range c.levels {
		d, err := comparePadded(c.reader(a, level, part, stop), c.reader(b, level, part, stop), c.pad)
		if d != 0 || err != nil {
			return d, err
		}
	}
	return 0, nil
}

// comparePadded compares two streams of weights. The shorter one goes on with pad, or
// is less when there is no pad.
func comparePadded(a, b *weightReader, pad []byte) (int, error) {
	var x, y []byte
	var err error
	for {
		if x, err = a.fill(x); err != nil {
			return 0, err
		}
		if y, err = b.fill(y); err != nil {
			return 0, err
		}
		n := min(len(x), len(y))
		switch {
		case len(x) == 0 && len(y) == 0:
			return 0, nil
		case n == 0 && len(pad) == 0:
			return sign(len(x) - len(y)), nil
		case n == 0:
			n = len(pad)
		}
		if d := bytes.Compare(orPad(x, n, pad), orPad(y, n, pad)); d != 0 {
			return d, nil
		}
		x, y = x[min(n, len(x)):], y[min(n, len(y)):]
	}
}

// fill is w, or the next weights if it is empty.
func (r *weightReader) fill(w []byte) ([]byte, error) {
	if len(w) > 0 {
		return w, nil
	}
	return r.next()
}

// orPad is the first n bytes of w, or pad when w is at its end.
func orPad(w []byte, n int, pad []byte) []byte {
	if len(w) == 0 {
		return pad
	}
	return w[:n]
}

// AppendKeyUntil is AppendKey that ends with the error of stop.
func (c *Collation) AppendKeyUntil(dst, s []byte, stop Stop) ([]byte, error) {
	if len(s) < LongText || !c.inParts(s) {
		return c.AppendKey(dst, s), nil
	}
	return c.appendKeyParts(dst, s, partBytes, stop)
}

func (c *Collation) appendKeyParts(dst, s []byte, part int, stop Stop) ([]byte, error) {
	if len(c.pad) == 0 {
		return c.appendParts(dst, s, part, stop)
	}
	dst = slices.Grow(dst, len(s))
	p := padder{pad: c.pad}
	if err := c.reader(s, 0, part, stop).each(func(w []byte) { dst = p.append(dst, w) }); err != nil {
		return dst, err
	}
	return p.end(dst), nil
}

// AppendHashKeyUntil is AppendHashKey that ends with the error of stop.
func (c *Collation) AppendHashKeyUntil(dst, s []byte, stop Stop) ([]byte, error) {
	if len(s) < LongText || !c.inParts(s) {
		return c.AppendHashKey(dst, s), nil
	}
	start := len(dst)
	dst, err := c.appendParts(dst, s, partBytes, stop)
	return trimTail(dst, start, c.pad), err
}

// WeightStringUntil is WeightString, without characters to fill, that ends with the
// error of stop.
func (c *Collation) WeightStringUntil(s []byte, stop Stop) ([]byte, error) {
	switch {
	case len(s) < LongText:
		return c.WeightString(s, 0), nil
	case c.class == classPadByte:
		return c.appendCharParts(nil, s, partBytes, stop)
	case !c.inParts(s):
		return c.WeightString(s, 0), nil
	}
	return c.appendParts(nil, s, partBytes, stop)
}

// appendCharParts appends the weights of s, each of which is that of a character.
func (c *Collation) appendCharParts(dst, s []byte, part int, stop Stop) ([]byte, error) {
	for len(s) > 0 {
		n := len(s)
		if n > part {
			n = c.placeFrom(s, part).at
		}
		if err := stop(n); err != nil {
			return dst, err
		}
		dst = c.v.WeightString(dst, s[:n], 0)
		s = s[n:]
	}
	return dst, nil
}

// FillUntil is what WEIGHT_STRING appends to the weights of s to fill it as if it had so
// many characters: weights, n times over. It ends with the error of stop.
func (c *Collation) FillUntil(s []byte, chars int, stop Stop) (weights []byte, n int, err error) {
	if !c.PadSpace() {
		return nil, 0, nil
	}
	n = chars - c.CharLen(s)
	for len(s) > 0 && c.class == classOther { // vitess counts contractions its own way
		size := c.cut(s, partBytes)
		if err := stop(3 * size); err != nil {
			return nil, 0, err
		}
		part := s[:size]
		filled := len(c.v.WeightString(nil, part, c.CharLen(part)+size)) - len(c.v.WeightString(nil, part, 0))
		n += filled/len(c.pad) - size
		s = s[size:]
	}
	return c.v.WeightString(nil, nil, 1), max(n, 0), nil
}

// appendParts appends the weights of s, without padding.
func (c *Collation) appendParts(dst, s []byte, part int, stop Stop) ([]byte, error) {
	dst = slices.Grow(dst, len(s))
	for level := range c.levels {
		end := len(dst)
		if level > 0 {
			dst = append(dst, levelEnd...)
		}
		if err := c.reader(s, level, part, stop).each(func(w []byte) { dst = append(dst, w...) }); err != nil {
			return dst, err
		}
		if level == kanaLevel && len(dst) == end+len(levelEnd) {
			dst = dst[:end] // no level for a text without kana
		}
	}
	return dst, nil
}
