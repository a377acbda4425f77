package pebblekv

import (
	"bytes"
	"context"
	"hash/maphash"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
)

// filters are for groups whose keys are looked up although most do not exist, as by
// unique checks. They show that a key is in no write buffer and no level: one cache
// line is read instead of all of these.
//
// A filter has every key that a commit ever set in its group: those before it
// was begun are read from the store, later ones are added by the commits
// themselves, before they are applied. makeFilter enters it and takes its
// snapshot while it holds the sequencer, so that no commit falls between.
// Deleted keys stay in it, which costs a search and never an answer.
type filters struct {
	limit int64 // of their sizes; 0 for none
	// eager makes a filter at the first lookup, for tests.
	eager bool

	by      atomic.Pointer[map[group]*filter] // replaced as a whole under mu
	mu      sync.Mutex
	lookups map[group]int64 // lookups in groups without a filter
	used    int64
	busy    bool // one is being made
}

const (
	filterBitsPerKey = 12
	filterProbes     = 6
	filterWords      = 8 // of a block, which is a cache line
	minFilterKeys    = 1 << 10
	// A filter is made once the lookups in a group number this fraction of its keys:
	// building it costs about as much as they have cost.
	filterLookupFraction = 64
	maxLookupGroups      = 4096 // groups
	// filterSpare is for keys that are yet to come, and for compression, which
	// the sample of pairs does not show.
	filterSpare = 4
)

// filter is a blocked Bloom filter (Putze, Sanders, Singler: Cache-, Hash- and
// Space-Efficient Bloom Filters, 2007).
type filter struct {
	seed   maphash.Seed
	blocks []atomic.Uint64 // filterWords each
	ready  atomic.Bool
	room   atomic.Int64 // keys that it takes yet; negative when it is too full
}

func newFilter(keys int64) *filter {
	f := &filter{seed: maphash.MakeSeed(), blocks: make([]atomic.Uint64, filterBytes(keys)/8)}
	f.room.Store(keys)
	return f
}

// filterBytes is the size of a filter of so many keys.
func filterBytes(keys int64) int64 {
	return (keys*filterBitsPerKey/(64*filterWords) + 1) * 8 * filterWords
}

func (f *filter) size() int64 { return int64(8 * len(f.blocks)) }

// block is where the bits of a key are; rest of its hash selects them.
func (f *filter) block(key []byte) (words []atomic.Uint64, rest uint64) {
	h := maphash.Bytes(f.seed, key)
	b, low := bits.Mul64(h, uint64(len(f.blocks)/filterWords))
	return f.blocks[b*filterWords:][:filterWords], low * 0x9e3779b97f4a7c15
}

func (f *filter) add(key []byte) {
	words, rest := f.block(key)
	fresh := false
	for range filterProbes {
		bit := uint64(1) << (rest >> 55 & 63)
		fresh = words[rest>>61].Or(bit)&bit == 0 || fresh
		rest <<= 9
	}
	if fresh {
		f.room.Add(-1)
	}
}

// mayHave is false when no commit has set the key.
func (f *filter) mayHave(key []byte) bool {
	words, rest := f.block(key)
	for range filterProbes {
		if words[rest>>61].Load()&(1<<(rest>>55&63)) == 0 {
			return false
		}
		rest <<= 9
	}
	return true
}

// find is the filter of a group, or nil.
func (m *filters) find(g group) *filter {
	if by := m.by.Load(); by != nil {
		return (*by)[g]
	}
	return nil
}

// set replaces the filter of a group, nil for none; mu is held.
func (m *filters) set(g group, f *filter) {
	by := map[group]*filter{}
	if old := m.by.Load(); old != nil {
		for k, v := range *old {
			by[k] = v
		}
	}
	if old := by[g]; old != nil {
		m.used -= old.size()
	}
	delete(by, g)
	if f != nil {
		by[g] = f
		m.used += f.size()
	}
	if len(by) == 0 {
		m.by.Store(nil)
		return
	}
	m.by.Store(&by)
}

// usage is the number of filters and their size.
func (m *filters) usage() (n, size int64) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if by := m.by.Load(); by != nil {
		n = int64(len(*by))
	}
	return n, m.used
}

// touch adds what a batch sets; nil may set anything. The sequencer is held,
// and the batch has not been applied.
func (m *filters) touch(batch *pebble.Batch) {
	by := m.by.Load()
	if by == nil {
		return
	}
	if batch == nil {
		m.dropAll()
		return
	}
	r := batch.Reader()
	for {
		kind, key, _, more, err := r.Next()
		switch {
		case err == nil && !more:
			return
		case err == nil && kind == pebble.InternalKeyKindSet:
			if len(key) >= groupLen {
				if f := (*by)[group(key)]; f != nil {
					f.add(key)
				}
			}
		case err == nil && (kind == pebble.InternalKeyKindDelete || kind == pebble.InternalKeyKindRangeDelete):
		default:
			m.dropAll()
			return
		}
	}
}

// touchSpan is touch for a run of keys from first to last.
func (m *filters) touchSpan(first, last []byte) {
	by := m.by.Load()
	if by == nil {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	for g := range *by {
		if bytes.Compare(g[:], last) <= 0 && (bytes.HasPrefix(first, g[:]) || bytes.Compare(first, g[:]) < 0) {
			m.set(g, nil)
		}
	}
}

func (m *filters) dropAll() {
	m.mu.Lock()
	defer m.mu.Unlock()
	if by := m.by.Load(); by != nil {
		for g := range *by {
			m.set(g, nil)
		}
	}
}

// absent reports that the store has no such key. The answer holds for all commits that
// had returned before the call.
func (s *Store) absent(key []byte) bool {
	m := &s.filters
	if m.limit <= 0 || len(key) < groupLen {
		return false
	}
	g := group(key)
	f := m.find(g)
	if f != nil && f.ready.Load() {
		if f.room.Load() < 0 {
			s.renewFilter(g, f)
		}
		return !f.mayHave(key)
	}
	if f == nil {
		s.countLookup(g)
	}
	return false
}

// countLookup counts a lookup in a group without a filter, and may have one made.
func (s *Store) countLookup(g group) {
	m := &s.filters
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.lookups) >= maxLookupGroups {
		clear(m.lookups)
	}
	m.lookups[g]++
	if m.busy || m.find(g) != nil || !m.eager && m.lookups[g]%minFilterKeys != 0 || s.damaged.sparesGroup(g) {
		return
	}
	span := storage.Span{Start: g[:], End: keyenc.PrefixEnd(g[:])}
	onDisk, err := s.db.EstimateDiskUsage(span.Start, span.End)
	if err != nil {
		return
	}
	sample, all, err := s.sample(span)
	if err != nil {
		return
	}
	keys := int64(samplePairs)
	if !all {
		keys = max(keys, int64(onDisk)*samplePairs/max(sample, 1))
	}
	if m.eager || m.lookups[g] >= keys/filterLookupFraction {
		s.startFilter(g, filterSpare*keys)
	}
}

// renewFilter has a larger one made in place of a full filter.
func (s *Store) renewFilter(g group, f *filter) {
	m := &s.filters
	m.mu.Lock()
	defer m.mu.Unlock()
	// The largest one stays, and has more and more keys that are not there.
	if keys := filterSpare * f.size() * 8 / filterBitsPerKey; !m.busy && m.find(g) == f && filterBytes(keys) <= m.limit {
		m.set(g, nil)
		s.startFilter(g, keys)
	}
}

// startFilter makes a filter for so many keys in the background; mu is held.
func (s *Store) startFilter(g group, keys int64) {
	m := &s.filters
	delete(m.lookups, g)
	if !m.makeRoom(filterBytes(keys)) || s.enter() != nil {
		return
	}
	m.busy = true
	f := newFilter(keys)
	go func() {
		defer s.exit()
		ok := false
		guard.Do(s.opts.Logger, "making a filter", func() { ok = s.makeFilter(g, f) })
		m.mu.Lock()
		defer m.mu.Unlock()
		m.busy = false
		if !ok && m.find(g) == f {
			m.set(g, nil)
		}
	}()
}

// makeRoom drops filters until there is room for one of that size; mu is held.
func (m *filters) makeRoom(size int64) bool {
	if size > m.limit {
		return false
	}
	for by := m.by.Load(); by != nil && m.used+size > m.limit; by = m.by.Load() {
		for g := range *by {
			m.set(g, nil)
			break
		}
	}
	return true
}

// enterFilter enters a filter and opens an iterator of the state that it begins
// with.
func (s *Store) enterFilter(g group, f *filter) (*pebble.Iterator, error) {
	s.sequencer.Lock()
	defer s.sequencer.Unlock()
	s.filters.mu.Lock()
	s.filters.set(g, f)
	s.filters.mu.Unlock()
	return s.db.NewIterWithContext(context.Background(), &pebble.IterOptions{LowerBound: g[:], UpperBound: keyenc.PrefixEnd(g[:])})
}

// makeFilter enters a filter and adds the keys that are there.
func (s *Store) makeFilter(g group, f *filter) bool {
	it, err := s.enterFilter(g, f)
	if err != nil {
		return false
	}
	n := 0
	for valid := it.First(); valid; valid = it.Next() {
		f.add(it.Key())
		if n++; n%4096 == 0 && (s.closing.Load() || s.filters.find(g) != f) {
			_ = it.Close()
			return false
		}
	}
	if err := it.Close(); err != nil {
		s.damaged.met(g, err)
		return false
	}
	f.ready.Store(true)
	return true
}
