package txn

import (
	"bytes"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/tidwall/btree"
)

// smallMax is the number of entries up to which a sorted slice is used; a
// B-tree pays only beyond.
const smallMax = 32

// entry is one buffered write: b is the key followed by the value, so that an entry
// costs 32 bytes in addition to them. Without a value it is a deletion.
type entry struct {
	b    []byte
	klen int
}

func (e entry) key() []byte { return e.b[:e.klen:e.klen] }

// value is nil for a deletion.
func (e entry) value() []byte {
	if len(e.b) == e.klen {
		return nil
	}
	return e.b[e.klen:len(e.b):len(e.b)]
}

func lessEntry(a, b entry) bool {
	return bytes.Compare(a.b[:a.klen], b.b[:b.klen]) < 0
}

// frozen is an immutable state of a buffer.
type frozen struct {
	small []entry
	tree  *btree.BTreeG[entry] // nil while small is in use
	size  int64
	// stamped is the state of the stamped writes, nil without any.
	stamped *frozen
}

// Buffer is an ordered set of writes. Its readers may run concurrently, also
// with each other's freeze, but not with set and restore.
type Buffer struct {
	small  []entry
	inline [2]entry
	tree   *btree.BTreeG[entry]
	hint   btree.PathHint
	size   int64
	arena  arena
	// stamped are the writes with holes, whose values begin with a stampHead;
	// nil without any.
	stamped *Buffer

	mu     sync.Mutex
	frz    *frozen // the current state, when it has been frozen
	shared bool    // small belongs to a frozen state
}

func (b *Buffer) init() { b.small = b.inline[:0] }

// Len is the number of keys written or deleted, without the stamped ones.
func (b *Buffer) Len() int {
	if b.tree != nil {
		return b.tree.Len()
	}
	return len(b.small)
}

// Size is the number of bytes of the buffered keys and values.
func (b *Buffer) Size() int64 {
	if b.stamped != nil {
		return b.size + b.stamped.size
	}
	return b.size
}

// Each calls fn for the writes in key order until it returns false; value is
// nil for a deletion. The slices must not be changed.
func (b *Buffer) Each(fn func(key, value []byte) bool) {
	if b.tree != nil {
		b.tree.Scan(func(e entry) bool { return fn(e.key(), e.value()) })
		return
	}
	for _, e := range b.small {
		if !fn(e.key(), e.value()) {
			return
		}
	}
}

func searchSmall(s []entry, key []byte) (int, bool) {
	// Ascending writes are the common case.
	if n := len(s); n == 0 || bytes.Compare(s[n-1].key(), key) < 0 {
		return n, false
	}
	return slices.BinarySearchFunc(s, key, func(e entry, k []byte) int {
		return bytes.Compare(e.b[:e.klen], k)
	})
}

// find returns the entry of key.
func (b *Buffer) find(key []byte) (entry, bool) {
	if b.tree != nil {
		return b.tree.Get(entry{b: key, klen: len(key)})
	}
	if i, ok := searchSmall(b.small, key); ok {
		return b.small[i], true
	}
	return entry{}, false
}

// set writes a pair, or a deletion when value is empty. The caller has checked
// the limits; delta is what the write adds to the size (see grow).
func (b *Buffer) set(key, value []byte, delta int64) {
	b.frz = nil
	b.size += delta
	e := entry{b: b.arena.pair(key, value), klen: len(key)}
	if b.tree != nil {
		b.tree.SetHint(e, &b.hint)
		return
	}
	i, found := searchSmall(b.small, key)
	if !found && len(b.small) >= smallMax {
		b.toTree()
		b.tree.SetHint(e, &b.hint)
		return
	}
	if b.shared {
		b.small = append(make([]entry, 0, len(b.small)+4), b.small...)
		b.shared = false
	}
	if found {
		b.small[i] = e
		return
	}
	b.small = slices.Insert(b.small, i, e)
}

// grow is the number of bytes by which set would change the size.
func (b *Buffer) grow(key, value []byte) int64 {
	if e, ok := b.find(key); ok {
		return int64(len(key) + len(value) - len(e.b))
	}
	return int64(len(key) + len(value))
}

func (b *Buffer) toTree() {
	// Small nodes keep the copy of a path, after a savepoint, cheap.
	b.tree = btree.NewBTreeGOptions(lessEntry, btree.Options{NoLocks: true, Degree: 16})
	for _, e := range b.small {
		b.tree.Load(e)
	}
	b.small, b.shared = nil, false
}

// freeze returns the current state; freezing an unchanged buffer is free.
func (b *Buffer) freeze() *frozen {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.frz == nil {
		b.frz = &frozen{small: b.small, size: b.size}
		if b.tree != nil {
			b.frz.tree = b.tree.Copy()
		}
		if b.stamped != nil {
			b.frz.stamped = b.stamped.freeze()
		}
		b.shared = true
	}
	return b.frz
}

// restore goes back to a frozen state.
func (b *Buffer) restore(f *frozen) {
	b.frz = f
	b.size = f.size
	b.small, b.tree, b.shared = f.small, nil, true
	if f.tree != nil {
		b.tree = f.tree.Copy()
	}
	switch {
	case f.stamped != nil:
		b.stamped.restore(f.stamped)
	case b.stamped != nil:
		b.stamped = nil
	}
}

// arena hands out memory in growing chunks. What entries no longer use is freed
// with its chunk by the garbage collector.
type arena struct {
	chunk []byte
	next  int
	// large are the chunks from arenaCounted bytes on, in the order of their making, and
	// held their bytes. Those that the garbage collector has freed are among them until
	// prune.
	large []*largeChunk
	held  int64
}

// largeChunk is a chunk of which the garbage collector says when it is gone.
type largeChunk struct {
	n    int64
	gone atomic.Bool
}

func (c *largeChunk) free() { c.gone.Store(true) }

const (
	arenaFirst   = 256
	arenaMax     = 256 << 10
	arenaCounted = 32 << 10
)

// room makes a chunk.
func (a *arena) room(n int) []byte {
	b := make([]byte, 0, n)
	if n >= arenaCounted {
		c := &largeChunk{n: int64(n)}
		a.large, a.held = append(a.large, c), a.held+c.n
		runtime.AddCleanup(unsafe.SliceData(b), (*largeChunk).free, c)
	}
	return b
}

// cut forgets the chunks after the first n. The next ones begin small: a savepoint for each
// row would else make a large one for each row that is refused.
func (a *arena) cut(n int) {
	if n >= len(a.large) {
		return
	}
	for i, c := range a.large[n:] {
		a.held -= c.n
		a.large[n+i] = nil
	}
	a.large, a.chunk, a.next = a.large[:n], nil, 0
}

// pair copies key and value, one after the other.
func (a *arena) pair(key, value []byte) []byte {
	n := len(key) + len(value)
	if cap(a.chunk)-len(a.chunk) < n {
		if n > arenaMax/4 {
			return append(append(a.room(n), key...), value...)
		}
		a.next = min(max(2*a.next, arenaFirst), arenaMax)
		a.chunk = a.room(max(a.next, n))
	}
	off := len(a.chunk)
	a.chunk = append(append(a.chunk, key...), value...)
	return a.chunk[off:len(a.chunk):len(a.chunk)]
}

// cursor walks the entries of a frozen state inside a span, in either
// direction.
type cursor struct {
	small      []entry
	pos        int
	it         btree.IterG[entry]
	isTree     bool
	reverse    bool
	start, end []byte
	cur        entry
	valid      bool
}

// newCursor positions on the first entry of [start, end), from the end when
// reverse.
func newCursor(f *frozen, start, end []byte, reverse bool) *cursor {
	c := &cursor{reverse: reverse, start: start, end: end}
	if f.tree != nil {
		c.isTree = true
		c.it = f.tree.Iter()
		c.seekTree()
	} else {
		c.seekSmall(f.small)
	}
	return c
}

func (c *cursor) seekTree() {
	var ok bool
	switch {
	case !c.reverse:
		ok = c.it.Seek(entry{b: c.start, klen: len(c.start)})
	case c.end == nil:
		ok = c.it.Last()
	case c.it.Seek(entry{b: c.end, klen: len(c.end)}):
		ok = c.it.Prev()
	default:
		ok = c.it.Last()
	}
	c.load(ok)
}

func (c *cursor) seekSmall(s []entry) {
	lo, _ := searchSmall(s, c.start)
	hi := len(s)
	if c.end != nil {
		hi, _ = searchSmall(s, c.end)
	}
	if lo < hi {
		c.small = s[lo:hi]
	}
	if c.reverse {
		c.pos = len(c.small) - 1
	}
	c.loadSmall()
}

func (c *cursor) loadSmall() {
	if c.valid = c.pos >= 0 && c.pos < len(c.small); c.valid {
		c.cur = c.small[c.pos]
	}
}

func (c *cursor) load(ok bool) {
	if c.valid = ok; !ok {
		return
	}
	c.cur = c.it.Item()
	if c.reverse {
		c.valid = bytes.Compare(c.cur.key(), c.start) >= 0
	} else if c.end != nil {
		c.valid = bytes.Compare(c.cur.key(), c.end) < 0
	}
}

func (c *cursor) next() {
	switch {
	case c.isTree && c.reverse:
		c.load(c.it.Prev())
	case c.isTree:
		c.load(c.it.Next())
	case c.reverse:
		c.pos--
		c.loadSmall()
	default:
		c.pos++
		c.loadSmall()
	}
}

// Drop releases the memory. Frozen states stay valid, also where they are in
// inline.
func (b *Buffer) Drop() {
	b.small, b.tree, b.frz, b.size, b.stamped = nil, nil, nil, 0, nil
	b.arena = arena{}
}
