package exec

import (
	"bytes"
	"hash/maphash"
	"math/bits"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/vec"
)

// none is no id.
const none = ^uint32(0)

// wordTable gives words dense ids in the order of their insertion: open
// addressing with linear probing, at most half full.
type wordTable struct {
	slots []wordSlot
	shift uint
	n     int
}

type wordSlot struct {
	key int64
	id  uint32 // id+1, 0 for an empty slot
}

func (t *wordTable) size() int64 { return int64(len(t.slots)) * 16 }

func hashWord(k int64) uint64 {
	// Two rounds, so that keys that differ in high bits only spread as well.
	h := uint64(k) * 0x9e3779b97f4a7c15
	return (h ^ h>>32) * 0xd6e8feb86659fd93
}

// find is the id of k, none if it is not there.
func (t *wordTable) find(k int64) uint32 {
	if t.n == 0 {
		return none
	}
	mask := len(t.slots) - 1
	for i := int(hashWord(k) >> t.shift); ; i++ {
		s := &t.slots[i&mask]
		if s.id == 0 {
			return none
		}
		if s.key == k {
			return s.id - 1
		}
	}
}

// insert is the id of k, which gets the given one if it is new.
func (t *wordTable) insert(k int64, id uint32) (uint32, bool) {
	if 2*t.n >= len(t.slots) {
		t.grow()
	}
	mask := len(t.slots) - 1
	for i := int(hashWord(k) >> t.shift); ; i++ {
		s := &t.slots[i&mask]
		if s.id == 0 {
			s.key, s.id = k, id+1
			t.n++
			return id, true
		}
		if s.key == k {
			return s.id - 1, false
		}
	}
}

func (t *wordTable) grow() {
	old := t.slots
	t.slots = make([]wordSlot, max(64, 2*len(old)))
	t.shift = uint(64 - bits.TrailingZeros(uint(len(t.slots))))
	mask := len(t.slots) - 1
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := int(hashWord(s.key) >> t.shift)
		for t.slots[i&mask].id != 0 {
			i++
		}
		t.slots[i&mask] = s
	}
}

// bytesTable gives byte keys dense ids in the order of their insertion. It
// copies the keys.
type bytesTable struct {
	seed  maphash.Seed
	slots []bytesSlot
	keys  [][]byte
	arena []byte
	held  int64
}

type bytesSlot struct {
	hash uint32
	id   uint32 // id+1, 0 for an empty slot
}

func (t *bytesTable) size() int64 {
	return int64(len(t.slots))*8 + int64(cap(t.keys))*24 + t.held
}

func (t *bytesTable) hash(k []byte) uint32 {
	h := maphash.Bytes(t.seed, k)
	return uint32(h ^ h>>32)
}

// find is the id of k, none if it is not there.
func (t *bytesTable) find(k []byte) uint32 {
	if len(t.keys) == 0 {
		return none
	}
	h := t.hash(k)
	mask := uint32(len(t.slots) - 1)
	for i := h; ; i++ {
		s := &t.slots[i&mask]
		if s.id == 0 {
			return none
		}
		if s.hash == h && bytes.Equal(t.keys[s.id-1], k) {
			return s.id - 1
		}
	}
}

// insert is the id of k, the next one if it is new.
func (t *bytesTable) insert(k []byte) (uint32, bool) { return t.insertBy(k, (*bytesTable).own) }

// insertBy is insert, where keep gives the bytes of a new key that stay.
func (t *bytesTable) insertBy(k []byte, keep func(*bytesTable, []byte) []byte) (uint32, bool) {
	if 2*len(t.keys) >= len(t.slots) {
		t.grow()
	}
	h := t.hash(k)
	mask := uint32(len(t.slots) - 1)
	for i := h; ; i++ {
		s := &t.slots[i&mask]
		if s.id == 0 {
			t.keys = append(t.keys, keep(t, k))
			s.hash, s.id = h, uint32(len(t.keys))
			return s.id - 1, true
		}
		if s.hash == h && bytes.Equal(t.keys[s.id-1], k) {
			return s.id - 1, false
		}
	}
}

func (t *bytesTable) own(k []byte) []byte {
	if len(t.arena)+len(k) > cap(t.arena) {
		// Chunks grow slowly: many tables that fill up together would double together.
		n := max(min(t.held/4, 1<<20), int64(len(k)), 1024)
		t.arena = make([]byte, 0, n)
		t.held += n
	}
	start := len(t.arena)
	t.arena = append(t.arena, k...)
	return t.arena[start:len(t.arena):len(t.arena)]
}

// take is own of bytes that are not changed by others.
func (t *bytesTable) take(k []byte) []byte {
	t.held += int64(cap(k))
	return k
}

func (t *bytesTable) grow() {
	if t.slots == nil {
		t.seed = maphash.MakeSeed()
	}
	old := t.slots
	t.slots = make([]bytesSlot, max(64, 2*len(old)))
	mask := uint32(len(t.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := s.hash
		for t.slots[i&mask].id != 0 {
			i++
		}
		t.slots[i&mask] = s
	}
}

// keyTable gives keys of one or more columns dense ids; it chooses words or
// encoded bytes by the types.
type keyTable struct {
	enc   keyEncoder
	words wordTable
	bytes bytesTable
	word  bool
	null  uint32 // id of the NULL word, none before
	n     uint32
	buf   []byte
	// raw finds the ids of recent strings by their own bytes, which is much
	// cheaper than by their weights. Equal bytes are equal strings.
	raw    bytesTable
	rawIDs []uint32
	// rawEnc encodes keys of several columns, one of them a text, by their own bytes, for
	// raw; nil for other keys. rawBuf is such a key, rawHits are those that raw had.
	rawEnc  keyEncoder
	rawBuf  []byte
	rawHits int
	// small has the ids, plus 1, of words below smallWords that were met: group
	// numbers and the like are found without hashing.
	small   []uint32
	lookups int
	// fixed: see fix.
	fixed bool
}

// rawLimit bounds the number of strings that keyTable.raw remembers, rawMixed that of keys
// of several columns, and rawLongest their bytes; smallWords are the words that keyTable.small does, and smallAfter is the
// number of lookups from which that pays. A key of longKey bytes is not copied.
const (
	rawLimit   = 4096
	rawMixed   = 1024
	rawLongest = 4 << 10
	longKey    = 256 << 10
	smallWords = 1 << 16
	smallAfter = 2 * vec.MaxRows
)

func (env *Env) newKeyTable(ts []schema.Type) keyTable {
	t := keyTable{enc: env.newKeyEncoder(ts), null: none}
	t.word, t.rawEnc = t.enc.isWord(), t.enc.raw()
	return t
}

// reset makes t a new table of the same keys.
func (t *keyTable) reset() {
	*t = keyTable{enc: t.enc, word: t.word, rawEnc: t.enc.raw(), null: none}
}

func (t *keyTable) size() int64 {
	return t.words.size() + t.bytes.size() + t.raw.size() + int64(len(t.small))*4 + int64(cap(t.buf)+cap(t.rawBuf))
}

// insert appends the ids of the rows to ids and calls fresh for each new one.
// NULL is a key like others.
func (t *keyTable) insert(cols []*vec.Vec, rows []uint16, ids []uint32, fresh func(i uint16)) []uint32 {
	switch {
	case t.word:
		return t.insertWords(cols[0], rows, ids, fresh)
	case len(t.enc) == 1 && t.enc[0].coll != nil:
		return t.insertText(cols, rows, ids, fresh)
	case t.rawEnc != nil:
		return t.insertMixed(cols, rows, ids, fresh)
	}
	for _, i := range rows {
		t.buf = t.enc.append(t.buf[:0], cols, int(i))
		id, isNew := t.insertKey()
		if isNew {
			t.n++
			fresh(i)
		}
		ids = append(ids, id)
	}
	return ids
}

// insertKey inserts the key in buf.
func (t *keyTable) insertKey() (uint32, bool) {
	if len(t.buf) < longKey {
		return t.bytes.insert(t.buf)
	}
	id, isNew := t.bytes.insertBy(t.buf, (*bytesTable).take)
	if isNew {
		t.buf = nil
	}
	return id, isNew
}

func (t *keyTable) insertWords(v *vec.Vec, rows []uint16, ids []uint32, fresh func(i uint16)) []uint32 {
	anyNull := v.Nulls.Any()
	t.count(len(rows))
	for _, i := range rows {
		if k := uint64(v.I64[i]); !anyNull && k < uint64(len(t.small)) && t.small[k] != 0 {
			ids = append(ids, t.small[k]-1)
			continue
		}
		if anyNull && v.Nulls.IsNull(int(i)) {
			if t.null == none {
				t.null = t.n
				t.n++
				fresh(i)
			}
			ids = append(ids, t.null)
			continue
		}
		id, isNew := t.words.insert(v.I64[i], t.n)
		if isNew {
			t.n++
			fresh(i)
		}
		if k := uint64(v.I64[i]); k < uint64(len(t.small)) {
			t.small[k] = id + 1
		}
		ids = append(ids, id)
	}
	return ids
}

// count makes small once enough words were looked up.
func (t *keyTable) count(rows int) {
	if t.fixed {
		return
	}
	if t.lookups += rows; t.small == nil && t.lookups > smallAfter {
		t.small = make([]uint32, smallWords)
	}
}

func (t *keyTable) insertText(cols []*vec.Vec, rows []uint16, ids []uint32, fresh func(i uint16)) []uint32 {
	v := cols[0]
	for _, i := range rows {
		null := v.Nulls.IsNull(int(i))
		if !null && len(v.Bytes[i]) <= rawLongest {
			if at := t.raw.find(v.Bytes[i]); at != none {
				ids = append(ids, t.rawIDs[at])
				continue
			}
		}
		t.buf = t.enc.append(t.buf[:0], cols, int(i))
		id, isNew := t.insertKey()
		if isNew {
			t.n++
			fresh(i)
		}
		if !null && len(t.rawIDs) < rawLimit && len(v.Bytes[i]) <= rawLongest {
			t.raw.insert(v.Bytes[i])
			t.rawIDs = append(t.rawIDs, id)
		}
		ids = append(ids, id)
	}
	return ids
}

// insertMixed inserts keys of several columns that have a text.
func (t *keyTable) insertMixed(cols []*vec.Vec, rows []uint16, ids []uint32, fresh func(i uint16)) []uint32 {
	for r, i := range rows {
		t.rawBuf = t.rawEnc.append(t.rawBuf[:0], cols, int(i))
		short := len(t.rawBuf) <= rawLongest
		if short {
			if at := t.raw.find(t.rawBuf); at != none {
				t.rawHits++
				ids = append(ids, t.rawIDs[at])
				continue
			}
		}
		t.buf = t.enc.append(t.buf[:0], cols, int(i))
		id, isNew := t.insertKey()
		if isNew {
			t.n++
			fresh(i)
		}
		ids = append(ids, id)
		if !short || len(t.rawIDs) == rawMixed {
			continue
		}
		t.raw.insert(t.rawBuf)
		if t.rawIDs = append(t.rawIDs, id); len(t.rawIDs) == rawMixed && t.rawHits < rawMixed { // most keys differ
			t.rawEnc, t.rawBuf, t.raw, t.rawIDs = nil, nil, bytesTable{}, nil
			return t.insert(cols, rows[r+1:], ids, fresh)
		}
	}
	return ids
}

// fix ends the insertion of keys: small has all words below smallWords, and readers do
// not change what they share.
func (t *keyTable) fix() {
	t.fixed = true
	if t.small == nil {
		for _, s := range t.words.slots {
			if s.id != 0 && uint64(s.key) < smallWords {
				t.small = make([]uint32, smallWords)
				break
			}
		}
	}
	for _, s := range t.words.slots {
		if s.id != 0 && uint64(s.key) < uint64(len(t.small)) {
			t.small[s.key] = s.id
		}
	}
}

// loosen takes fix back.
func (t *keyTable) loosen() { t.fixed, t.small = false, nil }

// reader is a table that finds the keys of t, which is fixed, in another goroutine.
func (t *keyTable) reader() keyTable {
	r := *t
	r.buf, r.rawBuf = nil, nil
	return r
}

// find appends the ids of the rows to ids: none for those with a NULL and
// those that are not there.
func (t *keyTable) find(cols []*vec.Vec, rows []uint16, ids []uint32) []uint32 {
	if t.word {
		return t.findWords(cols[0], rows, ids)
	}
	for _, i := range rows {
		if hasNull(cols, int(i)) {
			ids = append(ids, none)
			continue
		}
		t.buf = t.enc.append(t.buf[:0], cols, int(i))
		ids = append(ids, t.bytes.find(t.buf))
	}
	return ids
}

func (t *keyTable) findWords(v *vec.Vec, rows []uint16, ids []uint32) []uint32 {
	anyNull := v.Nulls.Any()
	t.count(len(rows))
	for _, i := range rows {
		k := uint64(v.I64[i])
		switch {
		case anyNull && v.Nulls.IsNull(int(i)):
			ids = append(ids, none)
		case k < uint64(len(t.small)):
			id := t.small[k]
			if id == 0 && !t.fixed {
				if found := t.words.find(v.I64[i]); found != none {
					id = found + 1
					t.small[k] = id
				}
			}
			ids = append(ids, id-1) // 0 becomes none
		default:
			ids = append(ids, t.words.find(v.I64[i]))
		}
	}
	return ids
}
