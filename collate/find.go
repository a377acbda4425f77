package collate

import (
	"bytes"
	"math/bits"
	"strings"
	"time"

	"vitess.io/vitess/go/mysql/collations/colldata"
)

// Find is where the first part of s begins that equals needle, which is not empty, and has as
// many bytes, -1 if none does; parts are of whole characters. work is called now and then with the number of
// bytes looked at; its error ends the search.
//
// With a long needle, parts are found by a rolling hash of their weights (Karp and Rabin,
// Efficient randomized pattern-matching algorithms, 1987), in time that grows with the sum
// of both lengths. Where characters have other weights next to others, that is done where
// comparing each part takes long. In texts that are not valid, each part is compared.
func (c *Collation) Find(s, needle []byte, work func(n int) error) (int, error) {
	if len(needle) > len(s) {
		return -1, nil
	}
	valid := c.Valid(s)
	if err := work(len(s)); err != nil {
		return 0, err
	}
	hashed := valid && len(needle) >= hashedNeedle && c.Valid(needle)
	if hashed && c.hasOwnWeights() {
		return c.findByHash(s, needle, work)
	}
	mayEnd := hashed && (c.class == classOther || c.class == class0900)
	at, slow, err := c.findInTurn(s, needle, valid, mayEnd, work)
	switch {
	case slow && c.japanese:
		return c.findJapanese(s, needle, at, work)
	case slow:
		return c.findByChains(s, needle, at, work)
	}
	return at, err
}

// hashedNeedle is the number of bytes from which parts are found by their hash.
const hashedNeedle = 64

// hasOwnWeights reports that the weights of a text are those of its characters, one after
// the other.
func (c *Collation) hasOwnWeights() bool {
	switch c.class {
	case class8Bit, classGeneral:
		return true
	case class0900: // others have contractions
		return strings.HasPrefix(c.Name, "utf8mb4_0900_")
	}
	_, legacy := c.v.(*colldata.Collation_uca_legacy)
	return legacy && c.utf8 && (strings.HasSuffix(c.Name, "_unicode_ci") || strings.HasSuffix(c.Name, "_unicode_520_ci"))
}

// findInTurn compares one part after the other. Where that mayEnd and takes long, slow says
// that the search has come to a character and is to go on in another way.
func (c *Collation) findInTurn(s, needle []byte, valid, mayEnd bool, work func(n int) error) (at int, slow bool, err error) {
	end := 0 // of a character, and the first that is not before that of a part
	compared, took := time.Duration(0), time.Duration(0)
	for at+len(needle) <= len(s) {
		if err := work(1); err != nil {
			return 0, false, err
		}
		for end < at+len(needle) {
			if err := work(1); err != nil {
				return 0, false, err
			}
			end += c.charSize(s[end:])
		}
		if end == at+len(needle) {
			if err := work(len(needle)); err != nil {
				return 0, false, err
			}
			var began time.Time
			if mayEnd {
				began = time.Now()
			}
			if ok, err := c.equal(s[at:end], needle, valid, work); ok || err != nil {
				return at, false, err
			}
			if mayEnd {
				compared++
				if took += time.Since(began); took > longComparisons && took > compared*longComparison {
					return at, true, nil
				}
			}
		}
		at += c.charSize(s[at:])
	}
	return -1, false, nil
}

// equal compares a part with the needle.
func (c *Collation) equal(part, needle []byte, valid bool, work func(n int) error) (bool, error) {
	if !valid && !c.Valid(part) {
		return false, nil
	}
	d, err := c.CompareUntil(part, needle, work)
	return d == 0 && err == nil, err
}

// findByHash compares only parts that have the needle's hash.
func (c *Collation) findByHash(s, needle []byte, work func(n int) error) (int, error) {
	want, part := c.newWindow(needle), c.newWindow(s)
	for want.end < len(needle) {
		if err := want.grow(work); err != nil {
			return 0, err
		}
	}
	for part.at+len(needle) <= len(s) {
		for part.end < part.at+len(needle) {
			if err := part.grow(work); err != nil {
				return 0, err
			}
		}
		if part.end == part.at+len(needle) && part.equals(want) {
			if ok, err := c.equal(s[part.at:part.end], needle, true, work); ok || err != nil {
				return part.at, err
			}
		}
		if err := part.shrink(work); err != nil {
			return 0, err
		}
	}
	return -1, nil
}

// window is a part of a text with the hashes of its weights, one for each level.
type window struct {
	c       *Collation
	s       []byte
	at, end int
	hashes  []rolling
	buf     []byte
}

// rolling is the sum of the bytes of weights times powers of a base, which go on with the
// text.
type rolling struct {
	all         uint64
	first, next uint64 // powers of the first byte and of the one after the last
	// kept is all without the weights of spaces at the end, where they do not count.
	kept uint64
	// Bytes that were taken in and dropped since the text began, and those before the
	// spaces at the end.
	in, out, last int
}

func (c *Collation) newWindow(s []byte) *window {
	w := &window{c: c, s: s, hashes: make([]rolling, c.levels)}
	for i := range w.hashes {
		w.hashes[i].first, w.hashes[i].next = 1, 1
	}
	return w
}

// grow takes the next character in.
func (w *window) grow(work func(n int) error) error {
	n := w.c.charSize(w.s[w.end:])
	weights := w.weights(w.s[w.end : w.end+n])
	w.end += n
	for i := range w.hashes {
		h, level := &w.hashes[i], levelOf(weights, i, w.c.levels)
		for len(level) > 0 {
			unit := level[:min(max(len(w.c.pad), 1), len(level))]
			level = level[len(unit):]
			for _, b := range unit {
				h.all = addMod(h.all, mulMod(uint64(b)+1, h.next))
				h.next = mulMod(h.next, hashBase)
			}
			if h.in += len(unit); !bytes.Equal(unit, w.c.pad) {
				h.kept, h.last = h.all, h.in
			}
		}
	}
	return work(n)
}

// shrink drops the first character.
func (w *window) shrink(work func(n int) error) error {
	n := w.c.charSize(w.s[w.at:])
	weights := w.weights(w.s[w.at : w.at+n])
	for i := range w.hashes {
		h := &w.hashes[i]
		for _, b := range levelOf(weights, i, w.c.levels) {
			x := mulMod(uint64(b)+1, h.first)
			h.all = addMod(h.all, hashPrime-x)
			if h.out < h.last {
				h.kept = addMod(h.kept, hashPrime-x)
			}
			h.first = mulMod(h.first, hashBase)
			h.out++
		}
	}
	w.at += n
	return work(n)
}

// weights are those of a character, valid until the next call.
func (w *window) weights(char []byte) []byte {
	w.buf = w.c.appendPartWeights(w.buf[:0], char)
	return w.buf
}

// equals compares the hashes with those of a window that begins with the first power.
func (w *window) equals(o *window) bool {
	for i := range w.hashes {
		if w.hashes[i].kept != mulMod(o.hashes[i].kept, w.hashes[i].first) {
			return false
		}
	}
	return true
}

// Hashes are numbers below a prime; the base is any large one.
const (
	hashPrime = 1<<61 - 1
	hashBase  = 1_234_567_890_123_456_789
)

func addMod(a, b uint64) uint64 {
	if a += b; a >= hashPrime {
		a -= hashPrime
	}
	return a
}

func mulMod(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	// 2^61 is 1
	x := lo&hashPrime + (lo>>61 | hi<<3)
	if x >= hashPrime {
		x -= hashPrime
	}
	return x
}
