package txn

import (
	"maps"
	"sync"
	"sync/atomic"

	"github.com/sqlots/sqlots/storage"
)

// Marks are the watermarks of storage.Store.Mark. The zero value is ready.
type Marks struct {
	mu sync.Mutex
	by atomic.Pointer[map[uint64]*storage.Watermark]
}

const maxMarked = 7

// marked is a prefix as a number.
func marked(prefix []byte) uint64 {
	n := uint64(len(prefix)) << (8 * maxMarked)
	for i, b := range prefix {
		n |= uint64(b) << (8 * i)
	}
	return n
}

// Mark is the watermark of a prefix; a new one begins at seq. No commit is
// between Raise and its end.
func (m *Marks) Mark(prefix []byte, seq uint64) *storage.Watermark {
	m.mu.Lock()
	defer m.mu.Unlock()
	old := map[uint64]*storage.Watermark{}
	if p := m.by.Load(); p != nil {
		old = *p
	}
	if w := old[marked(prefix)]; w != nil {
		return w
	}
	w := &storage.Watermark{}
	w.Raise(seq)
	all := maps.Clone(old)
	all[marked(prefix)] = w
	m.by.Store(&all)
	return w
}

// Raising raises the marks of one commit.
type Raising struct {
	by   map[uint64]*storage.Watermark
	seq  uint64
	last uint64
}

// Raise begins a commit.
func (m *Marks) Raise(seq uint64) Raising {
	if p := m.by.Load(); p != nil {
		return Raising{by: *p, seq: seq}
	}
	return Raising{}
}

// Wrote is called with each stamped write, its holes open or filled.
func (r *Raising) Wrote(key []byte, at storage.Stamp) {
	if r.by == nil || at.Key <= 0 || at.Key > maxMarked || at.Descending {
		return
	}
	if n := marked(key[:at.Key]); n != r.last {
		r.last = n
		if w := r.by[n]; w != nil {
			w.Raise(r.seq)
		}
	}
}
