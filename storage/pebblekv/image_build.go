package pebblekv

import (
	"bytes"
	"runtime"
	"slices"

	"github.com/cockroachdb/pebble/v2"
	"github.com/tidwall/btree"

	"github.com/sqlots/sqlots/storage/keyenc"
)

const (
	imageChunkBytes = 1 << 20
	// An image of so many chunks is made again in parts, each time the one with the most
	// changes: there need not be room for two. Where there is no room for an eighth of it
	// the parts are smaller.
	partChunks = 16
	imageParts = 8
	mostParts  = 64
	// In tests chunks are small, and images have parts when they have a few, and are made
	// again after few changes.
	eagerChunkBytes = 8 << 10
	eagerChunks     = 3
	eagerChanges    = 2 << 10
)

// makeImage copies a group, or a part of it; false when that did not work out.
func (s *Store) makeImage(g group, im *image) bool {
	// Holding the sequencer, no commit is between started and seq.
	sn := func() *sharedSnapshot {
		s.sequencer.Lock()
		defer s.sequencer.Unlock()
		return s.shareSnapshot()
	}()
	defer sn.release()
	im.tag, im.since = sn.tag, sn.tag
	if !sn.exact {
		return false
	}
	if im.made.parts > 0 {
		return s.copyPart(g, im, sn)
	}
	b := s.newImageBuilder(g, im)
	if !b.copy(sn, g[:], keyenc.PrefixEnd(g[:])) {
		return false
	}
	im.set(b.chunks, b.size)
	return true
}

func (im *image) set(chunks []imageChunk, size int64) {
	im.chunks, im.size = chunks, size
	if len(chunks) > 0 {
		im.heads = newHeads(len(chunks), im.first)
	}
}

// copyPart copies that part of a predecessor's pairs which has the most changes, and takes
// the other chunks, with the changes to them.
func (s *Store) copyPart(g group, im *image, sn *sharedSnapshot) bool {
	of := im.made.of
	from, to := of.busiest(im.made.before, im.made.parts)
	start, end := g[:], keyenc.PrefixEnd(g[:])
	if from > 0 {
		start = of.first(from)
	}
	if to < len(of.chunks) {
		end = of.first(to)
	}
	b := s.newImageBuilder(g, im)
	if !b.copy(sn, start, end) {
		return false
	}
	size := of.size + b.size
	for i := range of.chunks[from:to] {
		size -= of.chunks[from+i].size()
	}
	im.set(slices.Concat(of.chunks[:from], b.chunks, of.chunks[to:]), size)
	im.since = of.since
	var gone []change
	im.made.before.Ascend(changeAt(start, 0), func(c change) bool {
		if bytes.Compare(c.key(), end) >= 0 {
			return false
		}
		gone = append(gone, c)
		return true
	})
	for _, c := range gone {
		im.made.before.Delete(c)
		im.made.size -= c.memory()
	}
	im.made.keys = filterOf(im.made.before, of.mostChanges()/(2*changeOverhead))
	return true
}

// busiest is the range of chunks with the most of some changes, of equal ranges.
func (im *image) busiest(of *btree.BTreeG[change], parts int) (from, to int) {
	at := func(part int) int { return part * len(im.chunks) / parts }
	sizes := make([]int64, parts)
	part := 0
	of.Scan(func(c change) bool {
		for part+1 < parts && (at(part+1) == 0 || bytes.Compare(c.key(), im.first(at(part+1))) >= 0) {
			part++
		}
		sizes[part] += c.memory()
		return true
	})
	most := 0
	for i, size := range sizes {
		if size > sizes[most] {
			most = i
		}
	}
	return at(most), at(most + 1)
}

// imageBuilder makes the chunks of an image.
type imageBuilder struct {
	s      *Store
	g      group
	im     *image
	most   int // bytes of a chunk
	chunks []imageChunk
	size   int64
	c      imageChunk // the current one
}

func (s *Store) newImageBuilder(g group, im *image) *imageBuilder {
	b := &imageBuilder{s: s, g: g, im: im, most: imageChunkBytes}
	if im.packed {
		b.most = packedFrom
	}
	if s.images.eager {
		b.most = eagerChunkBytes
	}
	return b
}

// copy reads the pairs from start up to end; false when that did not work out.
func (b *imageBuilder) copy(sn *sharedSnapshot, start, end []byte) bool {
	s := b.s
	it, err := sn.NewIter(&pebble.IterOptions{LowerBound: start, UpperBound: end})
	if err != nil {
		return false
	}
	ok := true
	for valid := it.First(); valid; valid = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			s.damaged.met(b.g, err)
			ok = false
			break
		}
		if b.isFull(len(it.Key()) + len(value)) {
			b.flush()
			if b.im.stale.Load() || s.closing.Load() || !b.mayGrow(it.Key()) {
				ok = false
				break
			}
			runtime.Gosched()
		}
		b.add(it.Key(), value)
	}
	b.flush()
	err = it.Close()
	s.damaged.met(b.g, err)
	return err == nil && ok
}

// growLooks is how often it is looked at what an image will be in the end, at most.
const growLooks = 64

// mayGrow reports that the copy may go on, at key.
func (b *imageBuilder) mayGrow(key []byte) bool {
	m, making := &b.s.images, &b.im.made
	if b.im.packed && making.parts == 0 && b.size >= making.looked+m.most/growLooks {
		making.looked = b.size
		making.guess = b.s.guess(b.g, key, b.size)
	}
	if !m.keepsRoom(b.im, b.size) {
		if making.parts == 0 {
			making.guess = max(making.guess, b.size)
		}
		return false
	}
	b.s.claimImages()
	return true
}

// guess is what an image will have in the end that has size at key, by the files; 0 when
// they do not say. Pairs in write buffers are not in them: what is left is at most as large
// as it is uncompressed.
func (s *Store) guess(g group, key []byte, size int64) int64 {
	before, err := s.db.EstimateDiskUsage(g[:], key)
	if err != nil || before == 0 {
		return 0
	}
	after, err := s.db.EstimateDiskUsage(key, keyenc.PrefixEnd(g[:]))
	if err != nil {
		return 0
	}
	left := float64(size) * float64(after) / float64(before)
	return size + int64(min(left, float64(2*after)))
}

// isFull reports that a pair of n bytes belongs in the next chunk.
func (b *imageBuilder) isFull(n int) bool {
	if b.im.packed && b.c.rows() == packedPairs {
		return true
	}
	return len(b.c.data) > 0 && len(b.c.data)+n > b.most
}

func (b *imageBuilder) add(key, value []byte) {
	c := &b.c
	if c.data == nil {
		c.data = make([]byte, 0, max(b.most, len(key)+len(value)))
	}
	c.data = append(c.data, key...)
	c.ends = append(c.ends, uint32(len(c.data)))
	c.data = append(c.data, value...)
	c.ends = append(c.ends, uint32(len(c.data)))
}

// flush ends the current chunk.
func (b *imageBuilder) flush() {
	c := b.c
	if c.rows() == 0 {
		return
	}
	if b.im.packed {
		if p := pack(&c); p != nil {
			b.end(imageChunk{first: bytes.Clone(c.key(0)), packed: p})
			b.c.data, b.c.ends = c.data[:0], c.ends[:0]
			return
		}
	}
	c.data, c.ends = slices.Clip(c.data), slices.Clip(c.ends)
	if b.im.packed { // the memory is as of a chunk that is packed
		c.data, c.ends = slices.Clone(c.data), slices.Clone(c.ends)
	}
	c.first, c.heads = c.key(0), newHeads(c.rows(), c.key)
	b.end(c)
	b.c = imageChunk{}
}

func (b *imageBuilder) end(c imageChunk) {
	b.chunks = append(b.chunks, c)
	b.size += c.size()
}

// size is the memory of a chunk.
func (c *imageChunk) size() int64 {
	if c.packed != nil {
		return c.packed.size()
	}
	return int64(cap(c.data) + 4*cap(c.ends) + 8*c.rows())
}
