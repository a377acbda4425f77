package metrics

import (
	"bytes"
	"math/rand/v2"
	"slices"
	"sort"
	"sync"
	"time"
)

const (
	// HeatEvery is how many accesses to rows there are for each that is noted.
	HeatEvery = 1024
	// HeatRanges and HeatMinutes are the most ranges of a table, and how many minutes
	// are kept.
	HeatRanges, HeatMinutes = 64, 60
	// heatTables bounds the tables that are kept, heatKeys the keys of a table whose
	// ranges are not known yet.
	heatTables, heatKeys = 256, 256
	// heatRenew is how often the ranges of a table are looked at again.
	heatRenew = time.Minute
)

// Sampler chooses one access in HeatEvery, at random: the distance to the next is
// exponential, so that it does not matter how accesses are divided among samplers. The
// zero value is ready. It belongs to one goroutine.
type Sampler struct{ left int64 }

// Next reports whether this access is chosen.
func (s *Sampler) Next() bool {
	if s.left > 1 {
		s.left--
		return false
	}
	return s.turn()
}

func (s *Sampler) turn() bool {
	if s.left == 0 { // it is new
		s.left = distance()
	}
	s.left--
	if s.left > 0 {
		return false
	}
	s.left = distance()
	return true
}

func distance() int64 { return 1 + int64(rand.ExpFloat64()*HeatEvery) }

// Accesses notes some of the accesses to the rows of a table. The zero value notes
// none. It belongs to one goroutine.
type Accesses struct {
	Sampler
	heat  *Heat
	table uint64
}

// Of makes a the accesses to a table; a nil Heat notes none.
func (a *Accesses) Of(h *Heat, table uint64) { a.heat, a.table = h, table }

// Note notes an access that Next has chosen.
func (a *Accesses) Note(key []byte, write bool) {
	if a.heat != nil {
		a.heat.Note(a.table, key, write)
	}
}

// Keys are accesses to rows by their keys.
func (a *Accesses) Keys(keys [][]byte, write bool) {
	if n := int64(len(keys)); a.left > n {
		a.left -= n
		return
	}
	for _, k := range keys {
		if a.Next() {
			a.Note(k, write)
		}
	}
}

// Heat says which ranges of the keys of tables were read and written in the last hour:
// of each table that was in use, counts by range and minute of a sample of the
// accesses. Ranges are given from outside; until they are, some keys are kept. It has at
// most 256 tables, of which the one that was used least recently is dropped: some 10 MB.
// Its methods may be called concurrently.
type Heat struct {
	mu     sync.Mutex
	off    bool
	now    func() time.Time // nil: time.Now
	tables map[uint64]*heatTable
}

// heatTable is the heat of one table.
type heatTable struct {
	cuts    [][]byte // range i ends before cuts[i]
	known   bool     // cuts are given
	chosen  time.Time
	noted   time.Time // the last access
	early   []heatKey // before the ranges were known
	minutes [HeatMinutes]heatMinute
}

type heatKey struct {
	key    []byte
	minute int64
	write  bool
}

// heatMinute counts the samples of a minute by range; counts is nil without any.
type heatMinute struct {
	minute int64
	counts *[2][HeatRanges]uint32
}

// HeatMinute is what was noted of a table in a minute: samples by range, one for
// HeatEvery accesses.
type HeatMinute struct {
	Start         time.Time
	Reads, Writes []uint32
}

func (h *Heat) time() time.Time {
	if h.now != nil {
		return h.now()
	}
	return time.Now()
}

// Note notes an access to a row.
func (h *Heat) Note(table uint64, key []byte, write bool) {
	if h.off {
		return
	}
	now := h.time()
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tables[table]
	if t == nil {
		t = h.add(table)
	}
	t.noted = now
	k := heatKey{key: key, minute: now.Unix() / 60, write: write}
	if t.known {
		t.count(k)
	} else if len(t.early) < heatKeys {
		k.key = bytes.Clone(key)
		t.early = append(t.early, k)
	}
}

// add begins the heat of a table, in the place of the one that was used least recently.
func (h *Heat) add(table uint64) *heatTable {
	if h.tables == nil {
		h.tables = map[uint64]*heatTable{}
	}
	if len(h.tables) >= heatTables {
		var oldest uint64
		var last *heatTable
		for id, t := range h.tables {
			if last == nil || t.noted.Before(last.noted) {
				oldest, last = id, t
			}
		}
		delete(h.tables, oldest)
	}
	t := &heatTable{}
	h.tables[table] = t
	return t
}

func (t *heatTable) count(k heatKey) {
	m := &t.minutes[k.minute%HeatMinutes]
	if m.minute > k.minute {
		return
	}
	if m.minute < k.minute || m.counts == nil {
		*m = heatMinute{k.minute, &[2][HeatRanges]uint32{}}
	}
	r := sort.Search(len(t.cuts), func(i int) bool { return bytes.Compare(t.cuts[i], k.key) > 0 })
	m.counts[kind(k.write)][r]++
}

func kind(write bool) int {
	if write {
		return 1
	}
	return 0
}

// Due are tables whose ranges should be chosen: those without, those that were used
// since their ranges were looked at a minute ago or more, and those with a single range
// that were used within a minute: their rows may have been uncommitted.
func (h *Heat) Due() (out []uint64) {
	now := h.time()
	h.mu.Lock()
	defer h.mu.Unlock()
	for id, t := range h.tables {
		single := len(t.cuts) == 0 && now.Sub(t.noted) < heatRenew
		if !t.known || single || now.Sub(t.chosen) >= heatRenew && t.noted.After(t.chosen) {
			out = append(out, id)
		}
	}
	slices.Sort(out)
	return out
}

// Cuts are the keys at which the ranges of a table end; ok is false where they are not
// known.
func (h *Heat) Cuts(table uint64) (cuts [][]byte, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if t := h.tables[table]; t != nil && t.known {
		return t.cuts, true
	}
	return nil, false
}

// Choose gives a table ranges of about equal size, which end before cuts, ascending and
// at most HeatRanges - 1. They replace those that it has if the table has grown: a range
// has become several, or the ranges are now twice as many. What was counted is divided
// among the ranges that have taken the place of one. Cuts are kept.
func (h *Heat) Choose(table uint64, cuts [][]byte) {
	cuts = cuts[:min(len(cuts), HeatRanges-1)]
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tables[table]
	if t == nil {
		return
	}
	t.chosen = h.time()
	switch {
	case !t.known:
		t.cuts, t.known = cuts, true
		for _, k := range t.early {
			t.count(k)
		}
		t.early = nil
	case t.outgrown(cuts):
		t.replace(cuts)
	}
}

// heatSplit is how many new cuts a range has inside when it has become too large.
const heatSplit = 4

func (t *heatTable) outgrown(cuts [][]byte) bool {
	if len(cuts)+1 >= 2*(len(t.cuts)+1) {
		return true
	}
	before := 0
	for i := range len(t.cuts) + 1 {
		n := len(cuts)
		if i < len(t.cuts) {
			n, _ = slices.BinarySearchFunc(cuts, t.cuts[i], bytes.Compare)
		}
		if n-before >= heatSplit {
			return true
		}
		before = n
	}
	return false
}

// replace makes cuts those of the table.
func (t *heatTable) replace(cuts [][]byte) {
	// Range i of the old ones goes to the new ones first[i] to last[i].
	var first, last [HeatRanges]int
	for i := range len(t.cuts) + 1 {
		last[i] = len(cuts)
		if i > 0 { // the first key of the range belongs to the range after the cuts up to it
			at, found := slices.BinarySearchFunc(cuts, t.cuts[i-1], bytes.Compare)
			if found {
				at++
			}
			first[i] = at
		}
		if i < len(t.cuts) { // the last one is before the next cut
			last[i], _ = slices.BinarySearchFunc(cuts, t.cuts[i], bytes.Compare)
		}
	}
	for m := range t.minutes {
		old := t.minutes[m].counts
		if old == nil {
			continue
		}
		next := &[2][HeatRanges]uint32{}
		for k := range old {
			for i := range len(t.cuts) + 1 {
				spread(next[k][first[i]:last[i]+1], old[k][i])
			}
		}
		t.minutes[m].counts = next
	}
	t.cuts = cuts
}

// spread adds n to some counts, as evenly as it goes.
func spread(to []uint32, n uint32) {
	for i := range to {
		part := n / uint32(len(to)-i)
		to[i] += part
		n -= part
	}
}

// Last are the minutes of the last hour in which accesses to a table were noted, oldest
// first, and the cuts between its ranges.
func (h *Heat) Last(table uint64) (cuts [][]byte, out []HeatMinute) {
	since := h.time().Unix()/60 - HeatMinutes
	h.mu.Lock()
	defer h.mu.Unlock()
	t := h.tables[table]
	if t == nil || !t.known {
		return nil, nil
	}
	n := len(t.cuts) + 1
	for i := range t.minutes {
		if m := &t.minutes[i]; m.counts != nil && m.minute > since {
			out = append(out, HeatMinute{Start: time.Unix(m.minute*60, 0), Reads: slices.Clone(m.counts[0][:n]), Writes: slices.Clone(m.counts[1][:n])})
		}
	}
	slices.SortFunc(out, func(a, b HeatMinute) int { return a.Start.Compare(b.Start) })
	return t.cuts, out
}

// Keep forgets the tables for which keep is false.
func (h *Heat) Keep(keep func(table uint64) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for id := range h.tables {
		if !keep(id) {
			delete(h.tables, id)
		}
	}
}
