package collate

// japanesePart is a part of a text. Its weights are those of its characters, of which a
// mark of length or iteration has those of the character before it; at the beginning of
// the part, that may be the last one (see firstBefore).
type japanesePart struct {
	c       *Collation
	s       []byte
	at, end int
	last    int  // where the last character begins
	rest    sums // of all characters but the first
	buf     []byte
}

// findJapanese is Find from a character on, for texts that are valid.
func (c *Collation) findJapanese(s, needle []byte, from int, work func(n int) error) (int, error) {
	want, err := c.sumsOf(needle, work)
	if err != nil {
		return 0, err
	}
	p := &japanesePart{c: c, s: s, at: from, end: from, rest: newSums()}
	for p.at+len(needle) <= len(s) {
		n := p.end
		for p.end < p.at+len(needle) {
			p.grow()
		}
		if err := work(p.end - n + 1); err != nil {
			return 0, err
		}
		if p.end == p.at+len(needle) && p.equals(&want) {
			if err := work(len(needle)); err != nil {
				return 0, err
			}
			if ok, err := c.equal(s[p.at:p.end], needle, true, work); ok || err != nil {
				return p.at, err
			}
		}
		p.shrink()
	}
	return -1, nil
}

// grow takes the next character in.
func (p *japanesePart) grow() {
	before := p.last
	p.last, p.end = p.end, p.end+p.c.charSize(p.s[p.end:])
	if p.last == p.at {
		return
	}
	w, from := p.weights(p.s[before:p.last], p.s[p.last:p.end])
	for level := range p.c.levels {
		p.rest[level].add(levelOf(w, level, p.c.levels)[from[level]:], p.c.pad)
	}
}

// shrink drops the first character.
func (p *japanesePart) shrink() {
	second := p.at + p.c.charSize(p.s[p.at:])
	if second < p.end {
		third := second + p.c.charSize(p.s[second:])
		w, from := p.weights(p.s[p.at:second], p.s[second:third])
		for level := range p.c.levels {
			p.rest[level].drop(levelOf(w, level, p.c.levels)[from[level]:])
		}
	}
	p.at = second
}

// weights are those of a character after another one: what follows from, on each level.
// They are valid until the next call.
func (p *japanesePart) weights(before, char []byte) (w []byte, from [len(sums{})]int) {
	if !p.c.looksBack(char) {
		p.buf = p.c.appendPartWeights(p.buf[:0], char)
		return p.buf, from
	}
	p.buf = p.c.appendPartWeights(p.buf[:0], before)
	for level := range p.c.levels {
		from[level] = len(levelOf(p.buf, level, p.c.levels))
	}
	n := len(p.buf)
	p.buf = append(append(p.buf, before...), char...)
	both := p.buf[n:]
	p.buf = p.c.appendPartWeights(p.buf, both)
	return p.buf[n+len(both):], from
}

// equals compares the hashes of the part.
func (p *japanesePart) equals(want *sums) bool {
	part := p.s[p.at:p.end]
	first := part[:p.c.charSize(part)]
	for level := range p.c.levels {
		w, from := p.weights(p.c.firstBefore(part, level), first)
		all := newSums()[level]
		all.add(levelOf(w, level, p.c.levels)[from[level]:], p.c.pad)
		if all = all.then(&p.rest[level]); !all.equals(&want[level]) {
			return false
		}
	}
	return true
}
