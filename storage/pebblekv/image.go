package pebblekv

import (
	"bytes"
	"sync/atomic"

	"github.com/tidwall/btree"
)

// An image is a copy in memory, flat or packed, of all pairs of a group of keys,
// those of a table's rows or of one of its indexes, which scans and lookups read
// instead of Pebble's blocks: stepping costs a tenth of that of an iterator. A
// group gets an image when it has been scanned over and over. What commits
// change in it afterwards is noted next to it, and scans merge the two; when
// there is much of that, the image is made again.
//
// An image made from the state of commit t, with the changes after it, holds
// for every snapshot of a commit u >= t. That is kept by an order of events:
//
//		commit:  started = seq; note the changes, or drop the image; apply; seq = started
//		builder: enter the image in the list; take a snapshot while no commit is
//		         between started and seq; copy
//		reader:  take a snapshot; look for the image in the list
//	 latest:  look for the image in the list; read the visible commit
//
// A commit either is in the builder's snapshot, or begins after the image was
// entered and so is noted; and what a reader's snapshot has was noted before it
// became visible. Its own commit is read from its state (readSeq), so that it
// leaves out what was noted later, a commit that may still fail among it.
//
// A reader of the latest state has no state of its own to take the commit from. The
// commit that it reads up to must not be older than what any snapshot has shown:
// between "apply" and "seq = started" it is read from the database (Store.visible).
//
// A successor of which only a part is copied keeps to the same order, and takes what was
// noted for the other parts before it was entered. All notes since the oldest part count:
// where a part is of a later state, the last change of a key that was noted since then is
// in it, or comes after it.
type image struct {
	chunks []imageChunk
	heads  heads // of the first keys of the chunks
	size   int64
	packed bool   // its chunks are, where they can be
	tag    uint64 // commit of the state; valid when ready
	// since is the commit of the oldest part of the state: the changes after it count.
	since  uint64
	made   making      // empty when it is ready
	ready  bool        // guarded by images.mu
	stale  atomic.Bool // no longer used: a builder may stop
	served atomic.Int64
	// recent is what was served lately, but for what came after counted;
	// guarded by images.mu.
	recent, counted int64
	// repaid is what was served when a part was last made again; again is how large the
	// changes must be after that failed. Both are guarded by images.mu.
	repaid, again int64
	// idle is the number of changes since something was served, which seen is
	// the count of; guarded by images.mu.
	idle int
	seen int64
	// changes are those since the state, and maybe some before; guarded by
	// images.mu.
	changes changes
	next    *image // being made to replace this one; guarded by images.mu
}

// making is what is known of an image that is being made.
type making struct {
	// looked is what it had when it was looked at last, guess what it would have in the
	// end by that.
	looked, guess int64
	// of is its predecessor, nil for none.
	of *image
	// parts, unless 0, says that only one of so many parts of that is copied again. Then
	// before are the changes of it until this one was entered, later without those to the
	// part; size and keys are theirs.
	parts  int
	before *btree.BTreeG[change]
	size   int64
	keys   *filter
}

// imageChunk holds pairs: ends has the end of each key and of its value. Or they are
// packed.
type imageChunk struct {
	first  []byte // key
	data   []byte
	ends   []uint32
	heads  heads
	packed *packed
}

// lookup is the value of the pair at p if that has the key, else nil. A packed one is put
// into buf, which grows.
func (im *image) lookup(p place, key []byte, buf *[]byte) []byte {
	if p.chunk >= len(im.chunks) {
		return nil
	}
	ch := &im.chunks[p.chunk]
	if ch.packed != nil {
		var k, value []byte
		if k, value, *buf = ch.packed.pair(p.row, *buf); !bytes.Equal(k, key) {
			return nil
		}
		return value
	}
	if !bytes.Equal(ch.key(p.row), key) {
		return nil
	}
	k, v := ch.ends[2*p.row], ch.ends[2*p.row+1]
	return ch.data[k:v:v]
}

func (c *imageChunk) rows() int {
	if c.packed != nil {
		return c.packed.n
	}
	return len(c.ends) / 2
}

// compare compares the key of a pair.
func (c *imageChunk) compare(i int, key []byte) int {
	if c.packed != nil {
		return c.packed.compare(i, key)
	}
	return bytes.Compare(c.key(i), key)
}

// key is that of a pair that is not packed.
func (c *imageChunk) key(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = c.ends[2*i-1]
	}
	return c.data[start:c.ends[2*i]]
}

// place is that of a pair in an image.
type place struct{ chunk, row int }

// seek is the place of the first pair >= key.
func (im *image) seek(key []byte) place {
	c, decided := im.heads.seek(key, im.first)
	// The chunk before holds it, unless the key is the first of this one.
	if c == 0 || !decided && c < len(im.chunks) && bytes.Equal(im.first(c), key) {
		return place{c, 0}
	}
	return im.seekIn(c-1, key)
}

// seekIn is seek for a key that is greater than the first one of chunk c, and not
// greater than the first one of the next.
func (im *image) seekIn(c int, key []byte) place {
	ch := &im.chunks[c]
	r := 0
	if ch.packed != nil {
		r = ch.packed.seek(key)
	} else {
		r, _ = ch.heads.seek(key, ch.key)
	}
	if r == ch.rows() {
		return place{c + 1, 0}
	}
	return place{c, r}
}

// first is the first key of chunk c.
func (im *image) first(c int) []byte { return im.chunks[c].first }
