package pebblekv

import (
	"bytes"
	"unsafe"

	"github.com/tidwall/btree"
)

// change is what a commit did to a key. It is small, as nodes of the set are
// copied when readers hold them.
type change struct {
	mem      *byte // the key, followed by the value
	keyLen   uint32
	valueLen int32 // negative: the key was deleted
	seq      uint64
}

// changeAt is a place in the order of changes.
func changeAt(key []byte, seq uint64) change {
	return change{mem: unsafe.SliceData(key), keyLen: uint32(len(key)), valueLen: -1, seq: seq}
}

func (c change) key() []byte { return unsafe.Slice(c.mem, c.keyLen) }

// value is nil when the key was deleted. Its capacity is its length.
func (c change) value() []byte {
	if c.valueLen < 0 {
		return nil
	}
	end := int(c.keyLen) + int(c.valueLen)
	return unsafe.Slice(c.mem, end)[c.keyLen:end:end]
}

// memory is what the change takes.
func (c change) memory() int64 { return int64(c.keyLen) + int64(max(c.valueLen, 0)) + changeOverhead }

const (
	// changeOverhead is the memory of a change in addition to key and value.
	changeOverhead = 48
	// changeDegree is half the length of the longest nodes.
	changeDegree = 4
)

func changeLess(a, b change) bool {
	if c := bytes.Compare(a.key(), b.key()); c != 0 {
		return c < 0
	}
	return a.seq < b.seq
}

// changes is an ordered set of changes. Its methods want a mutex; what frozen
// returns may be read without.
type changes struct {
	tree *btree.BTreeG[change]
	// shared is a copy of the present tree, nil until one is needed.
	shared *btree.BTreeG[change]
	size   int64
	// keys has the keys of the tree, and maybe others; nil while there are none. A search
	// in a large tree costs microseconds, and most keys have not changed.
	keys   *filter
	expect int64 // how many keys there may be
}

// add notes a change; key and value are copied.
func (c *changes) add(key, value []byte, seq uint64) {
	if c.tree == nil {
		c.tree = btree.NewBTreeGOptions(changeLess, btree.Options{NoLocks: true, Degree: changeDegree})
	}
	mem := make([]byte, 0, len(key)+len(value))
	mem = append(append(mem, key...), value...)
	ch := changeAt(mem[:len(key)], seq)
	if value != nil {
		ch.valueLen = int32(len(value))
	}
	c.set(ch)
}

func (c *changes) set(ch change) {
	if c.keys == nil || c.keys.room.Load() <= 0 {
		c.keys = filterOf(c.tree, c.expect)
	}
	c.keys.add(ch.key())
	c.shared = nil
	if _, replaced := c.tree.Set(ch); !replaced {
		c.size += ch.memory()
	}
}

// filterOf is a filter of the keys of a tree, with room for others up to expect.
func filterOf(tree *btree.BTreeG[change], expect int64) *filter {
	f := newFilter(max(expect, 2*int64(tree.Len()), minFilterKeys))
	tree.Scan(func(c change) bool {
		f.add(c.key())
		return true
	})
	return f
}

// last is lastChange in the present set.
func (c *changes) last(key []byte, after, upTo uint64) (last change, ok bool) {
	if c.keys == nil || !c.keys.mayHave(key) {
		return last, false
	}
	return lastChange(c.tree, key, after, upTo)
}

// frozen is the present set, nil when it is empty.
func (c *changes) frozen() *btree.BTreeG[change] {
	if c.shared == nil && c.tree != nil {
		c.shared = c.tree.Copy()
	}
	return c.shared
}

// lastChange is the last change of a key after one commit and up to another.
func lastChange(tree *btree.BTreeG[change], key []byte, after, upTo uint64) (last change, ok bool) {
	if tree == nil {
		return last, false
	}
	tree.Descend(changeAt(key, upTo), func(c change) bool {
		if ok = c.seq > after && bytes.Equal(c.key(), key); ok {
			last = c
		}
		return false
	})
	return last, ok
}

// changeWalk goes through the keys of a span that changed after one commit and
// up to another, in order, and gives the last change of each.
type changeWalk struct {
	it      btree.IterG[change]
	valid   bool // it has an item
	reverse bool
	after   uint64
	upTo    uint64
	end     []byte // ascending: exclusive; descending: the first key, inclusive
	cur     change // valid when has
	has     bool
}

func newChangeWalk(tree *btree.BTreeG[change], start, end []byte, after, upTo uint64, reverse bool) changeWalk {
	w := changeWalk{reverse: reverse, after: after, upTo: upTo, end: end}
	if tree == nil {
		return w
	}
	w.it = tree.Iter()
	if !reverse {
		w.valid = w.it.Seek(changeAt(start, 0))
	} else {
		w.end = start
		if w.it.Seek(changeAt(end, 0)) {
			w.valid = w.it.Prev()
		} else {
			w.valid = w.it.Last()
		}
	}
	w.next()
	return w
}

// next moves cur to the next key.
func (w *changeWalk) next() {
	w.has = false
	for w.valid && !w.has {
		first := w.it.Item()
		if c := bytes.Compare(first.key(), w.end); !w.reverse && c >= 0 || w.reverse && c < 0 {
			w.valid = false
			return
		}
		for w.valid {
			c := w.it.Item()
			if !bytes.Equal(c.key(), first.key()) {
				break
			}
			// Ascending, the last one that counts wins; descending, the first.
			if c.seq > w.after && c.seq <= w.upTo && !(w.reverse && w.has) {
				w.cur, w.has = c, true
			}
			if w.reverse {
				w.valid = w.it.Prev()
			} else {
				w.valid = w.it.Next()
			}
		}
	}
}
