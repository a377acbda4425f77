package pebblekv

import (
	"bytes"
	"context"
	"runtime"
	"slices"
	"sort"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
)

// An image is a flat copy in memory of all pairs of a group of keys, those of
// a table's rows or of one of its indexes, which scans of snapshots read
// instead of Pebble's blocks: stepping costs a tenth of that of an iterator. A
// group gets an image when it has been scanned over and over, and loses it
// with the first write to it.
//
// An image made from the state of commit t holds for a snapshot of commit u
// when u >= t and no commit after t touches the group before the snapshot is
// asked for it. That is kept by an order of events:
//
//	commit:  started = seq; drop the images it touches; apply; seq = started
//	builder: enter the image in the list; take a snapshot; copy
//	reader:  take a snapshot; look for the image in the list
//
// Builders and readers use only snapshots that were taken while seq = started
// before and after (sharedSnapshot.exact), so a commit either is in such a
// snapshot, and has dropped what it touches before, or begins later, and then
// the image is dropped or the snapshot is older than the commit.
type image struct {
	chunks []imageChunk
	size   int64
	tag    uint64      // commit of the state; valid when ready
	ready  bool        // guarded by images.mu
	stale  atomic.Bool // a commit has touched the group
	served atomic.Int64
}

// imageChunk holds pairs: ends has the end of each key and of its value.
type imageChunk struct {
	data []byte
	ends []uint32
}

func (c *imageChunk) rows() int { return len(c.ends) / 2 }

func (c *imageChunk) key(i int) []byte {
	start := uint32(0)
	if i > 0 {
		start = c.ends[2*i-1]
	}
	return c.data[start:c.ends[2*i]]
}

// groupLen is the length of the ids of table and index, with which keys begin.
const groupLen = 7

// group is the start of the keys of a group.
type group [groupLen]byte

// groupOfSpan is the group in which a span lies; false when there is none.
func groupOfSpan(span storage.Span) (g group, ok bool) {
	if len(span.Start) < groupLen || span.End == nil {
		return g, false
	}
	g = group(span.Start)
	return g, bytes.HasPrefix(span.End, g[:]) || bytes.Equal(span.End, keyenc.PrefixEnd(g[:]))
}

// images are the images of a store.
type images struct {
	limit int64 // of their sizes; 0 for none
	// eager makes an image at the first scan, for tests.
	eager bool

	count atomic.Int32 // of by
	mu    sync.Mutex
	by    map[group]*image // also those being made
	heat  map[group]*heat
	used  int64
	busy  bool // one is being made
}

// heat is what scans have read of a group without an image.
type heat struct {
	read int64
	// factor is how often the group must have been read whole before an image
	// pays: more when the last ones were dropped soon.
	factor int64
	size   int64 // of the last image
}

const (
	imageChunkBytes = 1 << 20
	minImageScan    = 16 << 10 // bytes of a scan that counts
	minImageFactor  = 2
	maxImageFactor  = 256
	maxHeat         = 4096 // groups
)

// find is the image that holds span in the state of a snapshot, nil if there
// is none.
func (m *images) find(span storage.Span, sn *sharedSnapshot) *image {
	if m.count.Load() == 0 || !sn.exact {
		return nil
	}
	g, ok := groupOfSpan(span)
	if !ok {
		return nil
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if im := m.by[g]; im != nil && im.ready && sn.tag >= im.tag {
		return im
	}
	return nil
}

// touch drops the images of the groups that a batch changes; nil may change
// all. It is called after started was set and before the batch is applied.
func (m *images) touch(batch *pebble.Batch) {
	if m.count.Load() == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if batch == nil {
		m.dropAll()
		return
	}
	r := batch.Reader()
	for len(m.by) > 0 {
		kind, key, _, more, err := r.Next()
		switch {
		case err == nil && !more:
			return
		case err != nil || kind != pebble.InternalKeyKindSet && kind != pebble.InternalKeyKindDelete:
			m.dropAll()
		case len(key) >= groupLen: // shorter ones are in no group
			m.drop(group(key))
		}
	}
}

func (m *images) dropAll() {
	for g := range m.by {
		m.drop(g)
	}
}

// drop forgets an image; mu is held.
func (m *images) drop(g group) {
	im := m.by[g]
	if im == nil {
		return
	}
	im.stale.Store(true)
	delete(m.by, g)
	m.count.Add(-1)
	h := m.heatOf(g)
	h.read = 0
	if im.served.Load() < 4*h.size || !im.ready {
		h.factor = min(2*h.factor, maxImageFactor)
	} else {
		h.factor = minImageFactor
	}
	if im.ready {
		m.used -= im.size
	}
}

func (m *images) heatOf(g group) *heat {
	h := m.heat[g]
	if h == nil {
		if len(m.heat) >= maxHeat {
			clear(m.heat)
		}
		h = &heat{factor: minImageFactor}
		m.heat[g] = h
	}
	return h
}

// wanted counts a scan that read so many bytes, and enters an image in the list
// when it is time to make one.
func (m *images) wanted(g group, read int64, size func() int64) *image {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy || m.by[g] != nil {
		return nil
	}
	h := m.heatOf(g)
	h.read += read
	if h.size == 0 {
		h.size = size()
	}
	if !m.eager && (h.size == 0 || h.read < h.factor*h.size || m.used+h.size > m.limit) {
		return nil
	}
	h.read = 0
	im := &image{}
	m.by[g], m.busy = im, true
	m.count.Add(1)
	return im
}

// usage is the number of images and their size.
func (m *images) usage() (n, size int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return int64(len(m.by)), m.used
}

// noteScan counts a scan of a snapshot and may have an image made.
func (s *Store) noteScan(g group, read int64) {
	m := &s.images
	if m.limit <= 0 || !m.eager && read < minImageScan {
		return
	}
	im := m.wanted(g, read, func() int64 {
		n, err := s.db.EstimateDiskUsage(g[:], keyenc.PrefixEnd(g[:]))
		if err != nil {
			return 0
		}
		return int64(2 * n) // what compression saves; 0 while all is in write buffers
	})
	if im == nil {
		return
	}
	if m.eager {
		s.makeImage(g, im)
		return
	}
	if s.enter() != nil {
		m.finish(g, im, false)
		return
	}
	go func() {
		defer s.exit()
		s.makeImage(g, im)
	}()
}

// makeImage copies a group.
func (s *Store) makeImage(g group, im *image) {
	sn := s.shareSnapshot()
	defer sn.release()
	ok := sn.exact
	if ok {
		im.tag = sn.tag
		ok = s.copyGroup(g, im, sn)
	}
	s.images.finish(g, im, ok)
}

// finish makes an image known, or forgets it.
func (m *images) finish(g group, im *image, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy = false
	if m.by[g] != im {
		return // dropped
	}
	h := m.heatOf(g)
	if im.size > 0 {
		h.size = im.size
	}
	if !ok || m.used+im.size > m.limit {
		m.drop(g)
		return
	}
	im.ready = true
	m.used += im.size
}

// copyGroup reads the group into im; false when that did not work out.
func (s *Store) copyGroup(g group, im *image, sn *sharedSnapshot) bool {
	it, err := sn.NewIter(&pebble.IterOptions{LowerBound: g[:], UpperBound: keyenc.PrefixEnd(g[:])})
	if err != nil {
		return false
	}
	var c imageChunk
	flush := func() {
		if c.rows() > 0 {
			im.chunks = append(im.chunks, imageChunk{slices.Clip(c.data), slices.Clip(c.ends)})
			im.size += int64(cap(c.data) + 4*cap(c.ends))
		}
		c = imageChunk{}
	}
	ok := true
	for valid := it.First(); valid; valid = it.Next() {
		value, err := it.ValueAndErr()
		if err != nil {
			ok = false
			break
		}
		if len(c.data) > 0 && len(c.data)+len(it.Key())+len(value) > imageChunkBytes {
			flush()
			if im.stale.Load() || s.closing.Load() || im.size > s.images.limit {
				ok = false
				break
			}
			runtime.Gosched()
		}
		if c.data == nil {
			c.data = make([]byte, 0, max(imageChunkBytes, len(it.Key())+len(value)))
		}
		c.data = append(c.data, it.Key()...)
		c.ends = append(c.ends, uint32(len(c.data)))
		c.data = append(c.data, value...)
		c.ends = append(c.ends, uint32(len(c.data)))
	}
	flush()
	ok = ok && it.Error() == nil
	return it.Close() == nil && ok
}

// place is that of a pair in an image.
type place struct{ chunk, row int }

// seek is the place of the first pair >= key.
func (im *image) seek(key []byte) place {
	c := sort.Search(len(im.chunks), func(i int) bool { return bytes.Compare(im.chunks[i].key(0), key) > 0 }) - 1
	if c < 0 {
		return place{}
	}
	ch := &im.chunks[c]
	r := sort.Search(ch.rows(), func(i int) bool { return bytes.Compare(ch.key(i), key) >= 0 })
	if r == ch.rows() {
		return place{c + 1, 0}
	}
	return place{c, r}
}

// imageScanner implements storage.Scanner on an image.
type imageScanner struct {
	store    *Store
	im       *image
	from, to place // what is left
	reverse  bool
	keyOnly  bool
	runs     uint
	read     int64
}

func newImageScanner(s *Store, im *image, span storage.Span, opts storage.ScanOptions) *imageScanner {
	return &imageScanner{store: s, im: im, from: im.seek(span.Start), to: im.seek(span.End), reverse: opts.Reverse, keyOnly: opts.KeyOnly}
}

// Visit implements storage.Scanner.
func (sc *imageScanner) Visit(ctx context.Context, fn func(key, value []byte) bool) (bool, error) {
	for sc.from != sc.to {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if sc.im == nil || sc.store.closing.Load() {
			return false, storage.ErrClosed
		}
		if sc.runs++; sc.runs%yieldEvery == 0 {
			runtime.Gosched()
		}
		more := false
		if sc.reverse {
			more = sc.backward(fn)
		} else {
			more = sc.forward(fn)
		}
		if !more {
			return false, nil
		}
	}
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	return true, nil
}

// forward delivers up to checkEvery pairs of a chunk; false when fn has enough.
func (sc *imageScanner) forward(fn func(key, value []byte) bool) bool {
	ch := &sc.im.chunks[sc.from.chunk]
	end := ch.rows()
	if sc.from.chunk == sc.to.chunk {
		end = sc.to.row
	}
	row := sc.from.row
	end = min(end, row+checkEvery)
	start := uint32(0)
	if row > 0 {
		start = ch.ends[2*row-1]
	}
	first := start
	ends, data := ch.ends[2*row:2*end], ch.data
	more := true
	for ; more && len(ends) >= 2; ends = ends[2:] {
		k, v := ends[0], ends[1]
		key, value := data[start:k:k], data[k:v:v]
		start = v
		if sc.keyOnly {
			value = nil
		}
		more = fn(key, value)
		row++
	}
	sc.read += int64(start - first)
	if sc.from.row = row; row == ch.rows() {
		sc.from = place{sc.from.chunk + 1, 0}
	}
	return more
}

// backward is forward from the other end.
func (sc *imageScanner) backward(fn func(key, value []byte) bool) bool {
	if sc.to.row == 0 {
		sc.to.chunk--
		sc.to.row = sc.im.chunks[sc.to.chunk].rows()
	}
	ch := &sc.im.chunks[sc.to.chunk]
	start := 0
	if sc.from.chunk == sc.to.chunk {
		start = sc.from.row
	}
	start = max(start, sc.to.row-checkEvery)
	for sc.to.row > start {
		sc.to.row--
		i := sc.to.row
		k, v := ch.ends[2*i], ch.ends[2*i+1]
		key, value := ch.key(i), ch.data[k:v:v]
		sc.read += int64(len(key) + len(value))
		if sc.keyOnly {
			value = nil
		}
		if !fn(key[:len(key):len(key)], value) {
			return false
		}
	}
	return true
}

// Close implements storage.Scanner.
func (sc *imageScanner) Close() error {
	if sc.im != nil {
		sc.im.served.Add(sc.read)
		sc.im = nil
	}
	return nil
}
