package pebblekv

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
	"github.com/tidwall/btree"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
)

// groupLen is the length of the ids of table and index, with which keys begin.
const groupLen = 7

// group is the start of the keys of a group.
type group [groupLen]byte

// groupOfSpan is the group that contains a span; false when no single group does.
func groupOfSpan(span storage.Span) (g group, ok bool) {
	if len(span.Start) < groupLen || span.End == nil {
		return g, false
	}
	g = group(span.Start)
	return g, bytes.HasPrefix(span.End, g[:]) || bytes.Equal(span.End, keyenc.PrefixEnd(g[:]))
}

// images are the images of a store.
type images struct {
	limit int64 // of the sizes of those that are not packed; 0 for none at all
	most  int64 // of all sizes
	// eager makes an image at the first scan, packs packs each: for tests.
	eager, packs bool

	count atomic.Int32 // of by
	mu    sync.Mutex
	by    map[group]*image // also those being made
	heat  map[group]*heat
	used  int64 // of the ready ones, without changes
	flat  int64 // what those have of it that are not packed
	short int64 // what is not to be used of most at present
	busy  bool  // one is being made
	room  int64 // about the size of that one
	seeks atomic.Int64
}

// heat is what scans have read of a group without an image.
type heat struct {
	read int64
	// factor is how often the group must have been read whole before an image
	// pays: more when the last ones were dropped soon.
	factor int64
	size   int64 // of the last image that was not packed, or a guess
	packed int64 // of the last one that was, or a guess; 0 for neither
	failed bool  // packed is from one that was given up
	again  int64 // what must have been read before room is looked for again
}

// packedSize is what an image takes that is packed.
func (h *heat) packedSize() int64 {
	if h.packed > 0 {
		return h.packed
	}
	return max(h.size*packedShare/16, 1)
}

func (h *heat) sizeAs(packed bool) int64 {
	if packed {
		return h.packedSize()
	}
	return h.size
}

const (
	minImageScan   = 16 << 10 // bytes of a scan that counts with them
	seekHeat       = 8 << 10  // bytes that could be scanned in the time of a lookup, with a full write buffer 16 KiB
	seekSample     = 16       // of so many lookups one is counted
	ageEvery       = 60       // seconds
	minImageFactor = 2
	maxImageFactor = 256
	maxHeat        = 4096 // groups
	// An image is made again when the changes since take renewShare of its size,
	// and dropped when they take dropShare, each with something added for small
	// ones.
	// Packed ones have more pairs, and what they have of the memory leaves little.
	renewShare       = 16
	dropShare        = 4
	renewPackedShare = 32
	dropPackedShare  = 16
	// againShare is which part of a group has to be read before room is looked for again,
	// forgetShare how much of a failure is forgotten in a minute.
	againShare  = 8
	forgetShare = 32
	// packedShare is how many sixteenths packed pairs take, at a guess, which is low: one
	// that turns out too large is given up soon.
	packedShare = 3
	// An image without reads is dropped after so many changes.
	maxIdleChanges = 2048
	renewAllowed   = 64 << 10
	changeAllowed  = 1 << 20
)

// view is what a reader may read of a group instead of the store.
type view struct {
	im      *image
	changes *btree.BTreeG[change] // up to now; nil for none
	keys    *filter               // of their keys
	seq     uint64                // the reader's commit
	buf     []byte                // the value that get has returned
	// A view of one key has its change instead of changes.
	one     change
	changed bool
}

// find is the view of a group for a reader of a commit, which may have to be read;
// false without a usable image. With a key it is one of that key only, which costs
// writers less.
func (m *images) find(g group, key []byte, commit func() (uint64, bool)) (v view, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if im := m.by[g]; im == nil || !im.ready {
		return v, false
	}
	m.mu.Unlock()
	v.seq, ok = commit()
	m.mu.Lock()
	im := m.by[g]
	if !ok || im == nil || !im.ready || v.seq < im.tag {
		return v, false
	}
	v.im = im
	if key == nil {
		v.changes, v.keys = im.changes.frozen(), im.changes.keys
	} else {
		v.one, v.changed = im.changes.last(key, im.since, v.seq)
	}
	return v, true
}

// get is the value of a key, nil when it is not there, until the next call. from is where
// to look first, and is set to where it looked.
func (v *view) get(key []byte, from *place) (value []byte) {
	one, changed := v.one, v.changed
	if v.changes != nil && v.keys.mayHave(key) {
		one, changed = lastChange(v.changes, key, v.im.since, v.seq)
	}
	if changed {
		return one.value()
	}
	p := *from
	if p.chunk < len(v.im.chunks) && v.im.chunks[p.chunk].compare(p.row, key) <= 0 {
		p = v.im.seekFrom(p, place{len(v.im.chunks), 0}, key)
	} else {
		p = v.im.seek(key)
	}
	*from = p
	return v.im.lookup(p, key, &v.buf)
}

// touch notes what a batch changes in groups that have images; nil may change
// all. It is called after started was set and before the batch is applied.
func (m *images) touch(batch *pebble.Batch, seq uint64) {
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
		kind, key, value, more, err := r.Next()
		switch {
		case err == nil && !more:
			return
		case err == nil && kind == pebble.InternalKeyKindSet:
			m.note(key, value[:len(value):len(value)], seq)
		case err == nil && kind == pebble.InternalKeyKindDelete:
			m.note(key, nil, seq)
		case err == nil && kind == pebble.InternalKeyKindRangeDelete:
			m.dropSpan(key, value)
		default:
			m.dropAll()
		}
	}
}

// touchSpan is touch for a run of keys from first to last that may all change.
func (m *images) touchSpan(first, last []byte) {
	if m.count.Load() == 0 {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.dropSpan(first, append(bytes.Clone(last), 0))
}

// note adds a change to the image of its group; mu is held.
func (m *images) note(key, value []byte, seq uint64) {
	if len(key) < groupLen {
		return // in no group
	}
	g := group(key)
	im := m.by[g]
	if im == nil {
		return
	}
	if served := im.served.Load(); served != im.seen {
		im.seen, im.idle = served, 0
	}
	im.idle++
	im.changes.add(key, value, seq)
	limit := m.limit / dropShare
	if im.ready {
		limit = im.mostChanges()
	}
	if im.changes.size > limit || im.ready && im.idle > maxIdleChanges {
		m.drop(g)
		return
	}
	if im.next != nil {
		im.next.changes.add(key, value, seq)
	}
}

func (m *images) dropAll() {
	for g := range m.by {
		m.drop(g)
	}
}

// dropSpan drops the images of the groups that overlap with [start, end).
func (m *images) dropSpan(start, end []byte) {
	for g := range m.by {
		if bytes.Compare(g[:], end) < 0 && (bytes.HasPrefix(start, g[:]) || bytes.Compare(start, g[:]) < 0) {
			m.drop(g)
		}
	}
}

// drop forgets an image; mu is held.
func (m *images) drop(g group) {
	im := m.by[g]
	if im == nil {
		return
	}
	im.stale.Store(true)
	if im.next != nil {
		im.next.stale.Store(true)
	}
	delete(m.by, g)
	m.count.Add(-1)
	h := m.heatOf(g)
	h.read = 0
	switch served, size := im.served.Load(), h.sizeAs(im.packed); {
	case !im.ready || served < size:
		h.factor = min(2*h.factor, maxImageFactor)
	case served >= 4*size:
		h.factor = minImageFactor
	}
	if im.ready {
		m.use(im, -1)
	}
}

// use counts the size of an image, times 1 or -1; mu is held.
func (m *images) use(im *image, sign int64) {
	m.used += sign * im.size
	if !im.packed {
		m.flat += sign * im.size
	}
}

// mostChanges is the memory of changes with which the image is dropped.
func (im *image) mostChanges() int64 {
	return im.size/im.share(dropShare, dropPackedShare) + changeAllowed
}

// share is a share of the image's memory.
func (im *image) share(flat, packed int64) int64 {
	if im.packed {
		return packed
	}
	return flat
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

// wanted counts what was read of a group, and enters an image in the list when
// it is time to make one.
func (m *images) wanted(g group, read int64, size func() int64) *image {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by[g] != nil {
		return nil
	}
	h := m.heatOf(g)
	h.read += read
	if m.busy {
		return nil
	}
	if h.size == 0 {
		h.size = size()
	}
	if !m.eager && (h.size == 0 || h.read < max(h.factor*h.size, h.again)) {
		return nil
	}
	packed := m.packs
	if !m.eager && !m.makeRoom(h, false) {
		if !m.makeRoom(h, true) {
			h.again = h.read + h.size/againShare
			return nil
		}
		packed = true
	}
	h.read, h.again = 0, 0
	im := &image{packed: packed}
	m.by[g], m.busy, m.room = im, true, h.sizeAs(packed)
	m.count.Add(1)
	return im
}

// fits reports that an image of a size may be made, or stay, when others of size gone of
// its form are dropped first, and one of size replaced when it is ready; mu is held.
func (m *images) fits(size, gone, replaced int64, packed bool) bool {
	if size-gone+m.used > max(m.most-m.short, m.limit) {
		return false
	}
	return packed || size-gone-replaced+m.flat <= m.limit
}

// makeRoom drops images that are of less use than one for h would be, when it
// would not fit otherwise; mu is held.
func (m *images) makeRoom(h *heat, packed bool) bool {
	size := h.sizeAs(packed)
	if m.fits(size, 0, 0, packed) {
		return true
	}
	least := float64(h.read) / float64(size) / 2
	var drop []group
	gone := int64(0)
	for _, g := range m.byUse() {
		im := m.by[g]
		if im.use() >= least || m.fits(size, gone, 0, packed) {
			break
		}
		if packed || !im.packed {
			drop = append(drop, g)
			gone += im.size
		}
	}
	if !m.fits(size, gone, 0, packed) {
		return false
	}
	for _, g := range drop {
		m.drop(g)
	}
	return true
}

// byUse are the groups with an image that is ready, the least used first; mu is held.
func (m *images) byUse() []group {
	var out []group
	for g, im := range m.by {
		if im.ready {
			out = append(out, g)
		}
	}
	slices.SortFunc(out, func(a, b group) int { return cmp.Compare(m.by[a].use(), m.by[b].use()) })
	return out
}

// use is what was read of the image lately, for its size.
func (im *image) use() float64 {
	return float64(im.recent+im.served.Load()-im.counted) / float64(im.size+1)
}

// shrink has images use less memory than they may, except what is theirs alone: the least
// used are dropped.
func (m *images) shrink(bytes int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.short = bytes; m.fits(0, 0, 0, true) {
		return
	}
	for _, g := range m.byUse() {
		if m.drop(g); m.fits(0, 0, 0, true) {
			return
		}
	}
}

// keepsRoom reports that an image that is being made fits, by its size so far and by what
// it will be in the end, for which it keeps room.
func (m *images) keepsRoom(im *image, size int64) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.eager {
		return size <= max(m.most, m.limit)
	}
	need, replaced := max(size, im.made.guess), int64(0)
	switch {
	case im.made.parts > 0 && size <= 2*im.made.of.size/int64(im.made.parts)+renewAllowed:
		m.room = max(m.room, size)
		return true
	case im.made.parts > 0:
		replaced = size
	case im.made.of != nil:
		replaced = im.made.of.size
	}
	if !m.fits(need, 0, replaced, im.packed) {
		return false
	}
	m.room = max(m.room, size)
	if im.made.guess > 0 {
		m.room = need
	}
	return true
}

// age halves what was read before, so that images go to what is read now.
func (m *images) age() {
	m.mu.Lock()
	defer m.mu.Unlock()
	for _, im := range m.by {
		served := im.served.Load()
		im.recent, im.counted = (im.recent+served-im.counted)/2, served
	}
	for _, h := range m.heat {
		h.read, h.again = h.read/2, h.again/2
		if h.failed { // it may have been wrong, or be so by now
			h.packed -= h.packed / forgetShare
		}
	}
}

// renewed enters the successor of an image, when there are many changes since
// it was made and it has been of use.
func (m *images) renewed(g group, im *image) *image {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.busy || m.by[g] != im || im.next != nil {
		return nil
	}
	made, room := making{of: im}, im.size
	chunks, few := partChunks, im.size/im.share(renewShare, renewPackedShare)+renewAllowed
	if m.eager {
		chunks, few = eagerChunks, eagerChanges
	}
	if im.changes.size < max(few, im.again) {
		return nil
	}
	fits := m.eager || m.fits(room, 0, room, im.packed)
	if len(im.chunks) >= chunks {
		made.parts, room, fits = imageParts, im.size/imageParts, true
		for made.parts < mostParts && !m.fits(room, 0, room, im.packed) {
			made.parts *= 2
			room = im.size / int64(made.parts)
		}
	}
	if !fits || !m.eager && im.served.Load()-im.repaid < minImageFactor*room {
		return nil
	}
	if made.parts > 0 {
		made.before, made.size = im.changes.tree.Copy(), im.changes.size
	}
	im.next, m.busy, m.room = &image{packed: im.packed, made: made}, true, room
	return im.next
}

// held is the size of the images, that of the one that is being made included.
func (m *images) held() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.used + m.room
}

// usage is the number of images, how many of them are packed, and their size.
func (m *images) usage() (n, packed, size int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	size = m.used
	for _, im := range m.by {
		size += im.changes.size
		if im.packed {
			packed++
		}
	}
	return int64(len(m.by)), packed, size
}

// noteScan counts a scan and may have an image made.
func (s *Store) noteScan(g group, read int64) {
	if read < minImageScan && !s.images.eager {
		s.noteSample(g, 1)
		return
	}
	s.noteRead(g, read)
}

// noteSeeks counts lookups.
func (s *Store) noteSeeks(ctx context.Context, g group, n int64) {
	if !storage.IsReadingOnce(ctx) {
		s.noteSample(g, n)
	}
}

// noteSample counts lookups and short scans, a sample of them.
func (s *Store) noteSample(g group, n int64) {
	m := &s.images
	if m.limit > 0 && m.seeks.Add(n)%seekSample < n {
		s.noteRead(g, seekHeat*max(n, seekSample))
	}
}

// noteRead counts what was read of a group and may have an image made.
func (s *Store) noteRead(g group, read int64) {
	m := &s.images
	if m.limit <= 0 {
		return
	}
	im := m.wanted(g, read, func() int64 {
		n, err := s.db.EstimateDiskUsage(g[:], keyenc.PrefixEnd(g[:]))
		if err != nil {
			return 0
		}
		if n == 0 { // all is in write buffers, or there is nothing
			return int64(s.db.Metrics().MemTable.Size)
		}
		return int64(2 * n) // what compression saves
	})
	if im != nil {
		s.startImage(g, im)
	}
}

// served counts n lookups in an image, a sample of which may have it made again.
func (s *Store) served(g group, im *image, n int) {
	im.served.Add(seekHeat * int64(n))
	if s.images.seeks.Add(int64(n))%seekSample < int64(n) {
		s.renewImage(g, im)
	}
}

// renewImage may have an image made again.
func (s *Store) renewImage(g group, im *image) {
	if next := s.images.renewed(g, im); next != nil {
		s.startImage(g, next)
	}
}

// startImage makes an image, which has been entered, in the background.
func (s *Store) startImage(g group, im *image) {
	if s.damaged.sparesGroup(g) || s.enter() != nil {
		s.images.finish(g, im, false)
		return
	}
	work := func() {
		defer s.exit()
		s.claimImages() // before it is made
		defer s.claimImages()
		ok := false
		defer func() { s.images.finish(g, im, ok) }()
		ok = s.makeImage(g, im)
	}
	// A commit that a test has stopped would hold up the build of the image.
	if s.images.eager && s.opts.Steps == nil {
		guard.Do(s.opts.Logger, "making an image", work)
		return
	}
	go guard.Do(s.opts.Logger, "making an image", work)
}

// claimImages has the block cache make room for the images, or take what they have left.
func (s *Store) claimImages() { s.claims.setImages(s.images.held()) }

// finish makes an image known, or forgets it.
func (m *images) finish(g group, im *image, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.busy, m.room = false, 0
	old := m.by[g]
	if old == nil || im != old && im != old.next {
		return // dropped
	}
	made := im.made
	im.made = making{}
	switch h := m.heatOf(g); {
	case im.packed && ok:
		h.packed, h.failed = im.size, false
	case im.packed && made.guess > 0:
		h.packed, h.failed = made.guess, true
	case !im.packed && ok:
		h.size = im.size
	case !im.packed:
		h.size = max(h.size, made.guess)
	}
	if im == old.next {
		old.next = nil
		if !ok { // not again at once
			old.again = 2 * old.changes.size
			return
		}
		if made.parts > 0 {
			im.follow(old, made)
		}
		old.stale.Store(true)
		m.use(old, -1)
		m.by[g] = im
	}
	if !ok || !m.fits(im.size, 0, 0, im.packed) {
		m.drop(g)
		return
	}
	im.ready = true
	im.changes.expect = im.mostChanges() / (2 * changeOverhead)
	m.use(im, 1)
}

// follow takes over the changes of a predecessor to what both share, and its use; mu is
// held.
func (im *image) follow(old *image, made making) {
	later := im.changes.tree
	im.changes = changes{tree: made.before, size: made.size, keys: made.keys}
	if later != nil {
		later.Scan(func(c change) bool {
			im.changes.set(c)
			return true
		})
	}
	im.served.Store(old.served.Load())
	im.repaid = im.served.Load()
	im.recent, im.counted, im.idle, im.seen = old.recent, old.counted, old.idle, old.seen
}
