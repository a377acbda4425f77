package query

import (
	"bytes"
	"math"

	"github.com/cespare/xxhash/v2"

	"github.com/sqlots/sqlots/search/seg"
)

// wordTable numbers words from 0 on, in the order in which they come.
type wordTable struct {
	slots []wordSlot
	words []int64
	shift uint8
}

// wordSlot has the number plus one, 0 when it is free.
type wordSlot struct {
	word int64
	num  uint32
}

func (t *wordTable) number(w int64) uint32 {
	if 2*len(t.words) >= len(t.slots) {
		t.resize()
	}
	mask := uint64(len(t.slots) - 1)
	for h := uint64(w) * 0x9E3779B97F4A7C15 >> t.shift; ; h = (h + 1) & mask {
		s := &t.slots[h&mask]
		if s.num == 0 {
			t.words = append(t.words, w)
			*s = wordSlot{w, uint32(len(t.words))}
			return s.num - 1
		}
		if s.word == w {
			return s.num - 1
		}
	}
}

func (t *wordTable) resize() {
	n := max(64, 2*len(t.slots))
	t.slots, t.shift = make([]wordSlot, n), 64
	for m := n; m > 1; m >>= 1 {
		t.shift--
	}
	mask := uint64(n - 1)
	for i, w := range t.words {
		h := uint64(w) * 0x9E3779B97F4A7C15 >> t.shift
		for t.slots[h].num != 0 {
			h = (h + 1) & mask
		}
		t.slots[h] = wordSlot{w, uint32(i + 1)}
	}
}

func (t *wordTable) bytes() int64 { return int64(len(t.slots))*16 + int64(cap(t.words))*8 }

// keyTable numbers strings from 0 on, in the order in which they come.
type keyTable struct {
	slots  []uint32 // numbers plus one, 0 when free
	keys   [][]byte
	hashes []uint64
}

func (t *keyTable) number(key []byte) uint32 {
	if 2*len(t.keys) >= len(t.slots) {
		t.resize()
	}
	hash, mask := xxhash.Sum64(key), uint64(len(t.slots)-1)
	for h := hash & mask; ; h = (h + 1) & mask {
		n := t.slots[h]
		if n == 0 {
			t.keys, t.hashes = append(t.keys, key), append(t.hashes, hash)
			t.slots[h] = uint32(len(t.keys))
			return uint32(len(t.keys)) - 1
		}
		if t.hashes[n-1] == hash && bytes.Equal(t.keys[n-1], key) {
			return n - 1
		}
	}
}

func (t *keyTable) resize() {
	t.slots = make([]uint32, max(64, 4*len(t.slots)))
	mask := uint64(len(t.slots) - 1)
	for i, h := range t.hashes {
		for h &= mask; t.slots[h] != 0; h = (h + 1) & mask {
		}
		t.slots[h] = uint32(i + 1)
	}
}

func (t *keyTable) bytes() int64 { return int64(len(t.slots))*4 + int64(cap(t.keys))*32 }

// coder gives the values of a field codes: equal values have one code in all
// segments. 0 is that of documents without a value.
type coder struct {
	field Field
	word  bool
	// Words of a small domain have the codes from lo on, others are numbered.
	dense int
	lo    int64
	table wordTable
	// byKey numbers sort keys, of which values has a value each. The bytes are
	// those of segments.
	byKey  keyTable
	values [][]byte

	// Of the segment that is read.
	col *column
	of  []uint32 // the codes of ordinals that were met, 0 for the others
}

// maxDense is the most words of a domain that have codes without a table.
const maxDense = 1 << 16

// newCoder makes the coder of a field of the hits.
func newCoder(f Field, hits []Hits) (*coder, error) {
	c := &coder{field: f}
	c.word = len(hits) > 0 && hits[0].Seg.FieldKind(f.ID) == seg.KindWord
	if !c.word || f.Zeros {
		return c, nil
	}
	lo, hi, ok, err := bounds(hits, f.ID)
	if err != nil {
		return nil, err
	}
	if ok && uint64(hi)-uint64(lo) < maxDense {
		c.lo, c.dense = lo, int(hi-lo)+1
	}
	return c, nil
}

// bounds are the least and the greatest word of a field in the segments of hits.
func bounds(hits []Hits, id seg.FieldID) (lo, hi int64, ok bool, err error) {
	lo, hi = math.MaxInt64, math.MinInt64
	for i := range hits {
		w, err := hits[i].Seg.Words(id)
		if err != nil {
			return 0, 0, false, err
		}
		if l, h, some := w.Bounds(); some {
			lo, hi, ok = min(lo, l), max(hi, h), true
		}
	}
	return lo, hi, ok, nil
}

// fork is a coder for another goroutine.
func (c *coder) fork() *coder {
	return &coder{field: c.field, word: c.word, dense: c.dense, lo: c.lo}
}

func (c *coder) open(s *seg.Segment) (err error) {
	c.col, err = open(s, c.field.ID)
	if err != nil || c.word || c.col.all {
		return err
	}
	n := c.col.keys.Ordinals()
	if cap(c.of) < n {
		c.of = make([]uint32, n)
	}
	c.of = c.of[:n]
	clear(c.of)
	return nil
}

// codes gives the codes of the documents of a block.
func (c *coder) codes(b *block, out []uint32) {
	switch {
	case c.col.all:
		clear(out)
		return
	case !c.word:
		for i, o := range b.ordinals(c.col) {
			if out[i] = c.of[o]; out[i] == 0 {
				out[i] = c.codeOfOrdinal(uint32(o))
			}
		}
	case c.dense > 0:
		for i, w := range b.words(c.col) {
			out[i] = uint32(w-c.lo) + 1
		}
	default:
		last, code := int64(0), uint32(0)
		for i, w := range b.words(c.col) {
			if w != last || code == 0 {
				last, code = w, c.codeOfWord(w)
			}
			out[i] = code
		}
	}
	if c.col.nulls != nil {
		for i := range out {
			if d := b.doc(i); c.col.nulls[d>>6]>>(d&63)&1 != 0 {
				out[i] = 0
			}
		}
	}
}

func (c *coder) codeOfWord(w int64) uint32 {
	if c.dense > 0 {
		return uint32(w-c.lo) + 1
	}
	if c.field.Zeros && w == -1 {
		w = 0
	}
	return c.table.number(w) + 1
}

func (c *coder) codeOfOrdinal(o uint32) uint32 {
	k := c.col.keys
	val := k.Value(o)
	key := val
	if !c.field.Exact {
		key = k.Key(k.ClassOf(o))
	}
	code := c.codeOfKey(key, val)
	c.of[o] = code
	return code
}

func (c *coder) codeOfKey(key, value []byte) uint32 {
	n := c.byKey.number(key)
	if int(n) == len(c.values) {
		c.values = append(c.values, value)
	}
	return n + 1
}

// size is a bound of the codes.
func (c *coder) size() int {
	switch {
	case !c.word:
		return len(c.values) + 1
	case c.dense > 0:
		return c.dense + 1
	}
	return len(c.table.words) + 1
}

func (c *coder) wordOf(code uint32) int64 {
	if c.dense > 0 {
		return c.lo + int64(code) - 1
	}
	return c.table.words[code-1]
}

func (c *coder) bytes() int64 {
	return c.table.bytes() + int64(cap(c.values))*24 + c.byKey.bytes() + int64(cap(c.of))*4
}

// translation gives for each code of o that of c.
func (c *coder) translation(o *coder) []uint32 {
	out := make([]uint32, o.size())
	switch {
	case !c.word:
		for i, key := range o.byKey.keys {
			out[i+1] = c.codeOfKey(key, o.values[i])
		}
	case c.dense > 0:
		for i := range out {
			out[i] = uint32(i)
		}
	default:
		for i, w := range o.table.words {
			out[i+1] = c.codeOfWord(w)
		}
	}
	return out
}

// block are some documents of a segment, ascending: all of a run, or a list.
type block struct {
	from uint32
	docs []uint32 // nil: n documents from from on
	n    int
	vals [blockDocs]int64
	read *column  // whose words vals has
	some []uint32 // room for docs
}

const blockDocs = 1024

func (b *block) doc(i int) uint32 {
	if b.docs == nil {
		return b.from + uint32(i)
	}
	return b.docs[i]
}

// words are the words of a column, undefined where it has no value.
func (b *block) words(c *column) []int64 {
	if b.read != c {
		b.read = c
		if b.docs == nil {
			for at := 0; at < b.n; {
				at += c.words.Block(int(b.from)+at, b.vals[at:b.n])
			}
		} else {
			c.words.Gather(b.docs, b.vals[:b.n])
		}
	}
	return b.vals[:b.n]
}

// ordinals are those of a column of keys, undefined where it has no value.
func (b *block) ordinals(c *column) []int64 {
	if b.read != c {
		b.read = c
		if b.docs == nil {
			for at := 0; at < b.n; {
				at += c.keys.Block(int(b.from)+at, b.vals[at:b.n])
			}
		} else {
			c.keys.GatherOrdinals(b.docs, b.vals[:b.n])
		}
	}
	return b.vals[:b.n]
}

// each calls fn with the hits, block by block.
func (h *Hits) each(b *block, fn func() error) error { return eachBlock(h.Set, 0, b, fn) }

// eachBlock calls fn with the documents of a set, which begins with document from, a
// multiple of blockDocs.
func eachBlock(set []uint64, from int, b *block, fn func() error) error {
	docs := make([]uint32, 0, blockDocs)
	flush := func() error {
		if len(docs) == 0 {
			return nil
		}
		b.docs, b.n, b.read = docs, len(docs), nil
		err := fn()
		docs = docs[:0]
		return err
	}
	const words = blockDocs / 64
	for i := 0; i < len(set); i++ {
		if i%words == 0 && i+words <= len(set) && isFull(set[i:i+words]) {
			if err := flush(); err != nil {
				return err
			}
			b.docs, b.from, b.n, b.read = nil, uint32(from+i<<6), blockDocs, nil
			if err := fn(); err != nil {
				return err
			}
			i += words - 1
			continue
		}
		docs = appendDocs(docs, from>>6+i, set[i])
		if len(docs) > blockDocs-64 {
			if err := flush(); err != nil {
				return err
			}
		}
	}
	return flush()
}

func isFull(set []uint64) bool {
	all := ^uint64(0)
	for _, w := range set {
		all &= w
	}
	return all == ^uint64(0)
}
