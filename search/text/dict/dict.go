package dict

import (
	"bufio"
	"bytes"
	"compress/gzip"
	_ "embed"
	"fmt"
	"io"
	"sort"
	"sync"
	"unicode/utf8"
)

//go:embed words.gz
var packed []byte

// MaxLen is the length of the longest words, in characters.
const MaxLen = 16

// Words is a sorted list of words of at least two characters. It is immutable.
type Words struct {
	text []byte
	off  []uint32 // word i is text[off[i]:off[i+1]]
	// first[r-firstRune] is the first word that begins with r or a later character.
	first []uint32
	// pairs has the bits of the two characters that each word begins with, by their
	// hash. Most places of a text begin no word; the bits rule them out.
	pairs []uint64
}

// pairBits is the binary logarithm of the number of bits of Words.pairs.
const pairBits = 21

func pairBit(a, b rune) (word int, bit uint64) {
	h := (uint32(a)*0x9E3779B1 ^ uint32(b)*0x85EBCA6B) * 0xC2B2AE35 >> (32 - pairBits)
	return int(h >> 6), 1 << (h & 63)
}

// The characters that have a place in Words.first; others are searched for.
const (
	firstRune = 0x4E00
	lastRune  = 0x9FFF
)

// Load gives the list, unpacking it at the first call.
var Load = sync.OnceValues(func() (*Words, error) {
	w, err := unpack(packed)
	if err != nil {
		return nil, fmt.Errorf("dictionary of Chinese words: %w", err)
	}
	return w, nil
})

// unpack reads words that are each a byte for what they share with the one
// before, a byte for the length of the rest, and the rest.
func unpack(packed []byte) (*Words, error) {
	z, err := gzip.NewReader(bytes.NewReader(packed))
	if err != nil {
		return nil, err
	}
	in := bufio.NewReaderSize(z, 1<<16)
	w := &Words{text: make([]byte, 0, 6<<20), off: make([]uint32, 0, 600_000)}
	last := 0
	for {
		shared, err := in.ReadByte()
		if err == io.EOF {
			break
		}
		if err != nil {
			return nil, err
		}
		rest, err := in.ReadByte()
		if err != nil {
			return nil, io.ErrUnexpectedEOF
		}
		start := len(w.text)
		if last+int(shared) > start {
			return nil, io.ErrUnexpectedEOF
		}
		w.off = append(w.off, uint32(start))
		w.text = append(w.text, w.text[last:last+int(shared)]...)
		end := len(w.text) + int(rest)
		w.text = append(w.text, make([]byte, rest)...)
		if _, err := io.ReadFull(in, w.text[end-int(rest):end]); err != nil {
			return nil, err
		}
		last = start
	}
	w.off = append(w.off, uint32(len(w.text)))
	w.index()
	return w, nil
}

func (w *Words) index() {
	w.pairs = make([]uint64, 1<<(pairBits-6))
	for i := range w.Len() {
		a, size := utf8.DecodeRune(w.text[w.off[i]:])
		b, _ := utf8.DecodeRune(w.text[int(w.off[i])+size:])
		word, bit := pairBit(a, b)
		w.pairs[word] |= bit
	}
	w.first = make([]uint32, lastRune-firstRune+2)
	i := 0
	for r := range w.first {
		for i < w.Len() && w.rune(i) < rune(firstRune+r) {
			i++
		}
		w.first[r] = uint32(i)
	}
}

// rune gives the first character of word i.
func (w *Words) rune(i int) rune {
	r, _ := utf8.DecodeRune(w.text[w.off[i]:w.off[i+1]])
	return r
}

// Len is the number of words.
func (w *Words) Len() int { return len(w.off) - 1 }

// Bytes is the memory that the list takes.
func (w *Words) Bytes() int { return cap(w.text) + 4*cap(w.off) + 4*cap(w.first) + 8*cap(w.pairs) }

// Has reports whether s is a word of the list.
func (w *Words) Has(s string) bool {
	i := sort.Search(w.Len(), func(i int) bool { return string(w.text[w.off[i]:w.off[i+1]]) >= s })
	return i < w.Len() && string(w.text[w.off[i]:w.off[i+1]]) == s
}

// Prefixes appends the lengths, in bytes and ascending, of the words that s
// begins with.
func (w *Words) Prefixes(dst []int, s string) []int {
	r, depth := utf8.DecodeRuneInString(s)
	second, _ := utf8.DecodeRuneInString(s[depth:])
	if word, bit := pairBit(r, second); w.pairs[word]&bit == 0 {
		return dst
	}
	if r < firstRune || lastRune < r {
		for n := depth; n < len(s); {
			_, size := utf8.DecodeRuneInString(s[n:])
			if n += size; w.Has(s[:n]) {
				dst = append(dst, n)
			}
			if n > MaxLen*utf8.UTFMax {
				break
			}
		}
		return dst
	}
	low, high := w.first[r-firstRune], w.first[r-firstRune+1]
	for low < high && depth < len(s) {
		_, size := utf8.DecodeRuneInString(s[depth:])
		low, high = w.narrow(low, high, depth, s[depth:depth+size])
		depth += size
		// A word that is a prefix of others precedes them.
		if low < high && int(w.off[low+1]-w.off[low]) == depth {
			dst = append(dst, depth)
		}
	}
	return dst
}

// narrow gives those words from low to high, which share their first depth
// bytes, that go on with next.
func (w *Words) narrow(low, high uint32, depth int, next string) (uint32, uint32) {
	end := high
	for low < high {
		mid := (low + high) / 2
		if w.cmp(mid, depth, next) < 0 {
			low = mid + 1
		} else {
			high = mid
		}
	}
	high = low
	for step := uint32(1); high < end; step *= 2 {
		probe := min(high+step, end) - 1
		if w.cmp(probe, depth, next) > 0 {
			// the border is in [high, probe]
			for high < probe {
				mid := (high + probe) / 2
				if w.cmp(mid, depth, next) > 0 {
					probe = mid
				} else {
					high = mid + 1
				}
			}
			break
		}
		high = probe + 1
	}
	return low, high
}

// cmp compares the bytes of word i after depth with next, as far as next goes.
func (w *Words) cmp(i uint32, depth int, next string) int {
	rest := w.text[int(w.off[i])+depth : w.off[i+1]]
	for k := 0; k < len(next); k++ {
		if k >= len(rest) {
			return -1
		}
		if rest[k] != next[k] {
			if rest[k] < next[k] {
				return -1
			}
			return 1
		}
	}
	return 0
}
