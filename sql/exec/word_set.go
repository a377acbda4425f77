package exec

import (
	"encoding/binary"
	"math"
	"math/bits"
	"slices"
	"unsafe"

	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// wordSet is a set of words: a bitmap for those that are close together, and a table for
// the others. Groups have one each, so it is small.
type wordSet struct {
	// Bit n of the bitmap is word base + n<<shift. The base is a multiple of 64<<shift.
	base   int64
	bitmap []uint64
	count  int // in the bitmap
	table  farWords
	shift  uint8
	touch  bool // for reach
}

const (
	// bitsPerWord is how many bits a bitmap may have for each word of the set: no more
	// than half of the memory of a table.
	bitsPerWord = 64
	// Sets of fewer than fewWords have no bitmap.
	fewWords = 512
)

func (s *wordSet) size() int64 { return s.table.size() + int64(len(s.bitmap))*8 }

func (s *wordSet) len() int { return s.count + s.table.n }

// bit is the number of k's bit, beyond the bitmap for words that have none.
func (s *wordSet) bit(k int64) uint64 {
	// Words between two bits become numbers with a high bit.
	return bits.RotateLeft64(uint64(k)-uint64(s.base), -int(s.shift))
}

// insert reports whether k is new.
func (s *wordSet) insert(k int64) bool {
	at := s.bit(k)
	if at>>6 >= uint64(len(s.bitmap)) {
		return s.insertFar(k)
	}
	w, bit := &s.bitmap[at>>6], uint64(1)<<(at&63)
	if *w&bit != 0 {
		return false
	}
	*w |= bit
	s.count++
	return true
}

// insertRows inserts words of the given rows and appends the rows of new ones to fresh.
func (s *wordSet) insertRows(words []int64, rows, fresh []uint16) []uint16 {
	if s.table.n > bigTable {
		s.reach(words, rows)
	}
	for _, i := range rows {
		if s.insert(words[i]) {
			fresh = append(fresh, i)
		}
	}
	return fresh
}

// bigTable is the number of words of a table that is not in the processor's cache.
const bigTable = 1 << 13

// reach reads where the words are in the table, so that the processor waits for its
// memory once and not word after word.
func (s *wordSet) reach(words []int64, rows []uint16) {
	const sample = 64
	far := 0
	for l := 0; l < len(rows); l += sample {
		if s.bit(words[rows[l]])>>6 >= uint64(len(s.bitmap)) {
			far++
		}
	}
	if 4*far*sample < len(rows) {
		return
	}
	mask, sum := len(s.table.slots)-1, int64(0)
	for _, i := range rows {
		sum += s.table.slots[int(hashWord(words[i])>>s.table.shift)&mask]
	}
	s.touch = sum != 0
}

// unite takes the words of o, which is empty then, and returns how many are new.
func (s *wordSet) unite(o *wordSet) int {
	before := s.len()
	if o.len() > before {
		*s, *o = *o, *s
	}
	if len(o.bitmap) > 0 && s.shift == o.shift {
		if at := s.bit(o.base) >> 6; at < uint64(len(s.bitmap)) && at+uint64(len(o.bitmap)) <= uint64(len(s.bitmap)) {
			for i, w := range o.bitmap {
				to := &s.bitmap[at+uint64(i)]
				s.count += bits.OnesCount64(w &^ *to)
				*to |= w
			}
			o.bitmap, o.count = nil, 0
		}
	}
	_ = o.each(func(k int64) error {
		s.insert(k)
		return nil
	})
	*o = wordSet{}
	return s.len() - before
}

// insertFar is insert of a word out of the bitmap's range.
func (s *wordSet) insertFar(k int64) bool {
	if 2*s.table.n >= len(s.table.slots) && s.widen() {
		return s.insert(k)
	}
	return s.table.insert(k)
}

// widen lets the bitmap take words of the table, which is full. It reports false where
// they are too few, or too far from each other: a few that are far from the others stay
// in the table.
func (s *wordSet) widen() bool {
	n := s.len()
	if n < fewWords || s.table.n < s.count/8 {
		return false
	}
	low, high, shift := s.table.middle()
	up, down := true, true
	if len(s.bitmap) > 0 {
		last := s.base + int64(len(s.bitmap)*64-1)<<s.shift
		down, up = low < s.base, high > last
		low, high, shift = min(low, s.base), max(high, last), min(shift, int(s.shift))
	}
	low, high = low>>shift, high>>shift // numbers of bits
	span, limit := uint64(high)-uint64(low), uint64(n)*bitsPerWord-64
	if span >= limit {
		return false
	}
	// Room for words to come, on the sides to which the bitmap grows.
	room := min(span, limit-span)
	if up && down {
		room /= 2
	}
	if down {
		low -= int64(min(room, uint64(low)-uint64(int64(math.MinInt64)>>shift)))
	}
	if up {
		high += int64(min(room, uint64(int64(math.MaxInt64)>>shift)-uint64(high)))
	}
	s.move(low&^63, high, shift)
	return true
}

// move makes a bitmap from one bit to another, which has all words of the one before.
func (s *wordSet) move(low, high int64, shift int) {
	old := *s
	s.table, s.count, s.base, s.shift = farWords{}, 0, low<<shift, uint8(shift)
	s.bitmap = make([]uint64, (uint64(high)-uint64(low))/64+1)
	if len(old.bitmap) > 0 && old.shift == s.shift {
		copy(s.bitmap[s.bit(old.base)/64:], old.bitmap)
		s.count, old.bitmap = old.count, nil
	}
	_ = old.each(func(k int64) error {
		if at := s.bit(k); at>>6 < uint64(len(s.bitmap)) {
			s.bitmap[at>>6] |= 1 << (at & 63)
			s.count++
		} else {
			s.table.insert(k)
		}
		return nil
	})
}

// middle are the words between which nine of ten of a sample are, and the number of low
// bits that all of the sample have as zeros.
func (t *farWords) middle() (low, high int64, zeros int) {
	const most = 1024
	step := len(t.slots)/most + 1
	sample := make([]int64, 0, most)
	var union int64
	for i := 0; i < len(t.slots); i += step {
		if k := t.slots[i]; k != 0 {
			sample = append(sample, k)
			union |= k
		}
	}
	if len(sample) == 0 {
		return math.MinInt64, math.MaxInt64, 0
	}
	slices.Sort(sample)
	cut := len(sample) / 20
	return sample[cut], sample[len(sample)-1-cut], min(bits.TrailingZeros64(uint64(union)), 48)
}

// each calls fn with all words.
func (s *wordSet) each(fn func(k int64) error) error {
	for w, set := range s.bitmap {
		for ; set != 0; set &= set - 1 {
			if err := fn(s.base + int64(w*64+bits.TrailingZeros64(set))<<s.shift); err != nil {
				return err
			}
		}
	}
	if s.table.zero {
		if err := fn(0); err != nil {
			return err
		}
	}
	for _, k := range s.table.slots {
		if k == 0 {
			continue
		}
		if err := fn(k); err != nil {
			return err
		}
	}
	return nil
}

// farWords is a set of words by hash: open addressing with linear probing, at most half
// full. An empty slot is 0, so that 0 is apart.
type farWords struct {
	slots []int64
	n     int
	shift uint8
	zero  bool
}

func (t *farWords) size() int64 { return int64(len(t.slots)) * 8 }

func (t *farWords) insert(k int64) bool {
	if k == 0 {
		if t.zero {
			return false
		}
		t.zero = true
		t.n++
		return true
	}
	if 2*t.n >= len(t.slots) {
		t.grow()
	}
	mask := len(t.slots) - 1
	for i := int(hashWord(k) >> t.shift); ; i++ {
		switch s := &t.slots[i&mask]; *s {
		case k:
			return false
		case 0:
			*s = k
			t.n++
			return true
		}
	}
}

func (t *farWords) grow() {
	old := t.slots
	t.slots = make([]int64, max(2, 2*len(old)))
	t.shift = uint8(64 - bits.TrailingZeros(uint(len(t.slots))))
	mask := len(t.slots) - 1
	for _, k := range old {
		if k == 0 {
			continue
		}
		i := int(hashWord(k) >> t.shift)
		for t.slots[i&mask] != 0 {
			i++
		}
		t.slots[i&mask] = k
	}
}

// groupedWords are sets of words by group. The keys that they stand for are those of a
// keyEncoder for a group's number and a word.
type groupedWords struct {
	sets []wordSet
	held int64 // bytes
}

const wordSetBytes = int64(unsafe.Sizeof(wordSet{}))

// insert reports whether k is new in group g.
func (s *groupedWords) insert(g int, k int64) bool {
	s.reserve(g)
	set := &s.sets[g]
	before := set.size()
	isNew := set.insert(k)
	s.held += set.size() - before
	return isNew
}

// unite takes the words of o for group g and returns how many are new.
func (s *groupedWords) unite(g int, o *wordSet) int {
	s.reserve(g)
	set := &s.sets[g]
	before := set.size()
	n := set.unite(o)
	s.held += set.size() - before
	return n
}

// reserve makes room for group g.
func (s *groupedWords) reserve(g int) {
	if g >= len(s.sets) {
		before := cap(s.sets)
		s.sets = growTo(s.sets, g+1)
		s.held += int64(cap(s.sets)-before) * wordSetBytes
	}
}

// groupKeyBytes is the length of a key.
const groupKeyBytes = groupPrefix + 9

func appendGroupKey(dst []byte, g int, k int64) []byte {
	dst = binary.LittleEndian.AppendUint64(append(dst, 1), uint64(g))
	return binary.LittleEndian.AppendUint64(append(dst, 1), uint64(k))
}

func (s *groupedWords) insertKey(key []byte) bool {
	return s.insert(int(binary.LittleEndian.Uint64(key[1:])), int64(binary.LittleEndian.Uint64(key[groupPrefix+1:])))
}

// items is the list of group g's words, as distinctAcc saves it.
func (s *groupedWords) items(g int) (list []byte) {
	if g >= len(s.sets) {
		return nil
	}
	var room [groupKeyBytes]byte
	_ = s.sets[g].each(func(k int64) error {
		list = appendItem(list, appendGroupKey(room[:0], g, k)[groupPrefix:])
		return nil
	})
	return list
}

// keys calls fn with all keys.
func (s *groupedWords) keys(fn func(col *vec.Vec, n int) error) error {
	col, n := vec.New(value.KindBytes), 0
	var room [groupKeyBytes]byte
	for g := range s.sets {
		err := s.sets[g].each(func(k int64) error {
			col.Bytes[n] = col.Own(appendGroupKey(room[:0], g, k))
			if n++; n < vec.MaxRows {
				return nil
			}
			err := fn(col, n)
			n = 0
			col.Init(col.Kind, vec.MaxRows)
			return err
		})
		if err != nil {
			return err
		}
	}
	if n == 0 {
		return nil
	}
	return fn(col, n)
}
