package txn

import (
	"context"
	"fmt"
	"hash/maphash"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/storage"
)

const (
	lockShards = 64
	// lockPool bounds the row locks that a shard keeps for reuse.
	lockPool = 256
)

// owner is a transaction as the lock table knows it.
type owner struct {
	id   uint64
	held []*rowLock // changed only by the owner, or for it while it waits
	// keyBytes is the length of the keys in held.
	keyBytes int64
	// weight is the work that a rollback would lose: locks plus writes.
	weight  atomic.Int64
	waited  atomic.Int64 // nanoseconds
	waiting atomic.Pointer[waiter]
	gate    gate
}

// rowLock is the lock of one key. It exists while it is held or awaited.
type rowLock struct {
	key     string
	shard   *lockShard
	mode    storage.LockMode
	holders []*owner
	one     [1]*owner // memory of the usual single holder
	// The queue, in the order of service.
	first, last *waiter
}

// waiter is one request in the queue of a row lock or at a gate. Its fields belong
// to mu, that of the shard or gate.
type waiter struct {
	o          *owner
	mu         *sync.Mutex
	l          *rowLock     // nil at a gate and on other machines
	gate       *gate        // nil in the queue of a row lock
	of         *owner       // whose gate it is
	far        *farWait     // nil in this process
	span       storage.Span // what is requested at a gate; the End is nil for a key
	mode       storage.LockMode
	upgrade    bool // o holds the lock shared and wants it exclusively
	queued     bool
	since      time.Time
	prev, next *waiter
	ch         chan error // receives the outcome, once
}

type lockShard struct {
	mu   sync.Mutex
	m    map[string]*rowLock
	free []*rowLock
	_    [64]byte // keeps the mutexes of neighbours on different cache lines
}

// lockTable holds the row locks of a store.
type lockTable struct {
	seed   maphash.Seed
	shards [lockShards]lockShard
	// detecting serialises the searches for deadlocks, so that two of them do
	// not choose two victims for one cycle.
	detecting sync.Mutex
	// moves counts the requests that left a queue without the lock and those that
	// others were queued behind at once.
	moves     atomic.Uint64
	closed    atomic.Bool
	last      atomic.Pointer[storage.Deadlock]
	waits     atomic.Int64
	deadlocks atomic.Int64
	// waiting are the requests that wait now; waited and longest are in nanoseconds, of
	// those that have ended.
	waiting, waited, longest atomic.Int64
}

func newLockTable() *lockTable {
	t := &lockTable{seed: maphash.MakeSeed()}
	for i := range t.shards {
		t.shards[i].m = make(map[string]*rowLock)
	}
	return t
}

type lockRequest struct {
	mode    storage.LockMode
	wait    storage.WaitPolicy
	timeout time.Duration
}

// acquire locks key for o, waiting as the request says. A lock that o already
// holds in the same or a stronger mode is granted at once.
func (t *lockTable) acquire(ctx context.Context, o *owner, key []byte, req lockRequest) error {
	s := &t.shards[maphash.Bytes(t.seed, key)%lockShards]
	s.mu.Lock()
	if t.closed.Load() {
		s.mu.Unlock()
		return storage.ErrClosed
	}
	l := s.m[string(key)]
	if l == nil {
		l = s.newLock(key)
		l.grant(o, req.mode)
		s.mu.Unlock()
		return nil
	}
	ok, upgrade := l.tryGrant(o, req.mode)
	if ok {
		s.mu.Unlock()
		return nil
	}
	if req.wait != storage.WaitBlock {
		s.mu.Unlock()
		return fmt.Errorf("key %x: %w", key, storage.ErrNoWait)
	}
	w := &waiter{o: o, l: l, mu: &s.mu, mode: req.mode, upgrade: upgrade, since: time.Now(), ch: make(chan error, 1)}
	mayDeadlock := o.blocks()
	l.enqueue(w)
	if w.next != nil {
		t.moves.Add(1)
	}
	o.waiting.Store(w)
	s.mu.Unlock()
	t.waits.Add(1)
	if mayDeadlock {
		t.detect(o)
	}
	return t.await(ctx, w, key, req.timeout)
}

// blocks reports whether others may wait for o. They cannot for an owner that has
// nothing, since it is also the last of its queue: it closes no cycle. (Once it is
// queued, others may add to what it holds.)
func (o *owner) blocks() bool { return o.weight.Load() > 0 }

// await blocks until the request has an outcome.
func (t *lockTable) await(ctx context.Context, w *waiter, key []byte, timeout time.Duration) error {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	start := time.Now()
	t.waiting.Add(1)
	defer func() {
		took := int64(time.Since(start))
		w.o.waited.Add(took)
		t.waited.Add(took)
		t.waiting.Add(-1)
		for was := t.longest.Load(); took > was && !t.longest.CompareAndSwap(was, took); was = t.longest.Load() {
		}
	}()
	select {
	case err := <-w.ch:
		return err
	case <-timer.C:
		return t.cancel(w, fmt.Errorf("key %x: %w", key, storage.ErrLockTimeout))
	case <-ctx.Done():
		return t.cancel(w, context.Cause(ctx))
	}
}

// cancel leaves the queue with err, unless the request has got its outcome
// meanwhile, which then counts.
func (t *lockTable) cancel(w *waiter, err error) error {
	w.mu.Lock()
	if !w.queued {
		w.mu.Unlock()
		return <-w.ch
	}
	t.moves.Add(1)
	w.leave()
	w.mu.Unlock()
	return err
}

// leave ends a request that still waits.
func (w *waiter) leave() {
	switch {
	case w.far != nil:
		w.far.leave()
		return
	case w.gate != nil:
		w.gate.dequeue(w)
		return
	}
	l := w.l
	l.dequeue(w)
	l.serve()
}

// abort ends a request with err if it still waits.
func (w *waiter) abort(err error) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.queued {
		return false
	}
	w.ch <- err
	w.leave()
	return true
}

// releaseAll ends all locks of keys of o. It is idempotent.
func (t *lockTable) releaseAll(o *owner) { t.release(o, 0) }

// release ends the locks of keys of o but for the first ones.
func (t *lockTable) release(o *owner, first int) {
	for _, l := range o.held[first:] {
		s := l.shard
		s.mu.Lock()
		o.keyBytes -= int64(len(l.key))
		l.removeHolder(o)
		l.serve()
		if len(l.holders) == 0 && l.first == nil {
			s.drop(l)
		}
		s.mu.Unlock()
	}
	o.weight.Add(int64(first - len(o.held)))
	if first == 0 {
		o.held = nil
		return
	}
	clear(o.held[first:])
	o.held = o.held[:first]
}

func (s *lockShard) newLock(key []byte) *rowLock {
	var l *rowLock
	if n := len(s.free); n > 0 {
		l = s.free[n-1]
		s.free = s.free[:n-1]
	} else {
		l = &rowLock{shard: s}
	}
	l.key = string(key)
	l.holders = l.one[:0]
	s.m[l.key] = l
	return l
}

func (s *lockShard) drop(l *rowLock) {
	delete(s.m, l.key)
	if len(s.free) < lockPool {
		*l = rowLock{shard: s}
		s.free = append(s.free, l)
	}
}

func (l *rowLock) heldBy(o *owner) bool {
	for _, h := range l.holders {
		if h == o {
			return true
		}
	}
	return false
}

// grant adds a holder.
func (l *rowLock) grant(o *owner, mode storage.LockMode) {
	l.mode = mode
	l.holders = append(l.holders, o)
	o.held = append(o.held, l)
	o.keyBytes += int64(len(l.key))
	o.weight.Add(1)
}

// tryGrant grants without waiting where that is right. upgrade says that o
// holds the lock already, more weakly.
func (l *rowLock) tryGrant(o *owner, mode storage.LockMode) (ok, upgrade bool) {
	if l.heldBy(o) {
		if l.mode == storage.LockExclusive || mode == storage.LockShared {
			return true, false
		}
		if len(l.holders) == 1 {
			l.mode = storage.LockExclusive
			return true, false
		}
		return false, true
	}
	// A request never overtakes the queue, or a stream of readers would starve a
	// writer.
	if l.first == nil && (len(l.holders) == 0 || (l.mode == storage.LockShared && mode == storage.LockShared)) {
		l.grant(o, mode)
		return true, false
	}
	return false, false
}

// enqueue puts w at the end, an upgrade after the other upgrades at the front.
func (l *rowLock) enqueue(w *waiter) {
	w.queued = true
	after := l.last
	if w.upgrade {
		after = nil
		for x := l.first; x != nil && x.upgrade; x = x.next {
			after = x
		}
	}
	w.prev = after
	if after != nil {
		w.next = after.next
		after.next = w
	} else {
		w.next = l.first
		l.first = w
	}
	if w.next != nil {
		w.next.prev = w
	} else {
		l.last = w
	}
}

func (l *rowLock) dequeue(w *waiter) {
	if w.prev != nil {
		w.prev.next = w.next
	} else {
		l.first = w.next
	}
	if w.next != nil {
		w.next.prev = w.prev
	} else {
		l.last = w.prev
	}
	w.prev, w.next, w.queued = nil, nil, false
	w.o.waiting.Store(nil)
}

func (l *rowLock) removeHolder(o *owner) {
	for i, h := range l.holders {
		if h == o {
			n := len(l.holders) - 1
			l.holders[i] = l.holders[n]
			l.holders[n] = nil
			l.holders = l.holders[:n]
			return
		}
	}
}

// serve grants the lock to the front of the queue as far as it goes.
func (l *rowLock) serve() {
	for w := l.first; w != nil; w = l.first {
		switch {
		case w.upgrade:
			if len(l.holders) != 1 {
				return
			}
			l.mode = storage.LockExclusive
			l.dequeue(w)
		case len(l.holders) == 0 || (l.mode == storage.LockShared && w.mode == storage.LockShared):
			l.dequeue(w)
			l.grant(w.o, w.mode)
		default:
			return
		}
		w.ch <- nil
	}
}

// close ends all waits with storage.ErrClosed.
func (t *lockTable) close() {
	t.closed.Store(true)
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		for _, l := range s.m {
			for w := l.first; w != nil; w = l.first {
				l.dequeue(w)
				w.ch <- storage.ErrClosed
			}
		}
		s.mu.Unlock()
	}
}

// list describes all locks of keys.
func (t *lockTable) list() []storage.LockInfo {
	var out []storage.LockInfo
	for i := range t.shards {
		s := &t.shards[i]
		s.mu.Lock()
		for _, l := range s.m {
			info := storage.LockInfo{Key: []byte(l.key), Mode: l.mode}
			for _, h := range l.holders {
				info.Holders = append(info.Holders, h.id)
			}
			for w := l.first; w != nil; w = w.next {
				info.Waiters = append(info.Waiters, w.o.id)
				info.Waits = append(info.Waits, storage.LockWait{Txn: w.o.id, Mode: w.mode, Since: w.since})
			}
			out = append(out, info)
		}
		s.mu.Unlock()
	}
	return out
}
