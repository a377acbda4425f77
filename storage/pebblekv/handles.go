package pebblekv

import (
	"sync"
	"sync/atomic"

	"github.com/cockroachdb/pebble/v2"
)

// sharedSnapshot is a snapshot of Pebble, shared by all who need one while nothing is
// committed: making and closing one costs more than a point read.
type sharedSnapshot struct {
	*pebble.Snapshot
	refs atomic.Int32
	tag  uint64
	// exact: it is the state after commit tag, no more and no less.
	exact bool

	seqOnce sync.Once
	seq     uint64
	seqErr  error
}

// commit is the last commit that the snapshot has; false when that cannot be
// read.
func (sn *sharedSnapshot) commit() (seq uint64, ok bool) {
	if sn.exact {
		return sn.tag, true
	}
	sn.seqOnce.Do(func() { sn.seq, sn.seqErr = readSeq(sn.Get) })
	return sn.seq, sn.seqErr == nil
}

// release gives one reference back; the last one closes.
func (sn *sharedSnapshot) release() {
	if sn.refs.Add(-1) == 0 {
		_ = sn.Snapshot.Close() // always nil
	}
}

// snapshotCache keeps the snapshot of the latest state, with one reference of
// its own.
type snapshotCache struct {
	mu  sync.Mutex
	cur *sharedSnapshot
}

// shareSnapshot returns a snapshot of the latest state, with one reference.
func (s *Store) shareSnapshot() *sharedSnapshot {
	c := &s.snapshots
	c.mu.Lock()
	defer c.mu.Unlock()
	started := s.started.Load()
	if c.cur != nil && c.cur.tag == started {
		c.cur.refs.Add(1)
		return c.cur
	}
	// Only a state on which no commit has begun is known to stay the latest
	// until started changes.
	quiet := s.seq.Load() == started
	sn := &sharedSnapshot{Snapshot: s.db.NewSnapshot(), tag: started}
	sn.refs.Store(1)
	sn.exact = quiet && s.started.Load() == started
	c.drop()
	if quiet {
		sn.refs.Add(1)
		c.cur = sn
	}
	return sn
}

func (c *snapshotCache) drop() {
	if c.cur != nil {
		c.cur.release()
		c.cur = nil
	}
}

// dropStale lets go of a snapshot that has become old, which would keep Pebble
// from removing what it sees.
func (s *Store) dropStale() {
	s.snapshots.mu.Lock()
	defer s.snapshots.mu.Unlock()
	if c := s.snapshots.cur; c != nil && c.tag != s.started.Load() {
		s.snapshots.drop()
	}
}

// handle is an open snapshot or scanner in the store's list, so that Close can
// end those that were left open.
type handle struct {
	prev, next *handle
	// end releases the resource; it is idempotent.
	end func()
}

type handleList struct {
	mu    sync.Mutex
	first *handle
}

func (l *handleList) add(h *handle) {
	l.mu.Lock()
	h.next = l.first
	if l.first != nil {
		l.first.prev = h
	}
	l.first = h
	l.mu.Unlock()
}

func (l *handleList) remove(h *handle) {
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case h.prev != nil:
		h.prev.next = h.next
	case l.first == h:
		l.first = h.next
	default:
		return
	}
	if h.next != nil {
		h.next.prev = h.prev
	}
	h.prev, h.next = nil, nil
}

func (l *handleList) closeAll() {
	for {
		l.mu.Lock()
		h := l.first
		l.mu.Unlock()
		if h == nil {
			return
		}
		h.end()
		l.remove(h)
	}
}
