package txn

import (
	"context"
	"sync"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// The servers that have the locks of keys break the cycles of waits for those. They know
// nothing of waits for ranges, so a cycle of both is found here: a call for locks that
// lasts is entered as a wait for the transactions of this process that hold its keys.

// farFirst and farAgain are when a call for locks looks for deadlocks: who holds a key is
// known a moment after it has got it.
const (
	farFirst = 20 * time.Millisecond
	farAgain = 200 * time.Millisecond
)

// farWait is a call for locks on other machines.
type farWait struct {
	m      *Manager
	keys   [][]byte
	cancel context.CancelCauseFunc

	mu    sync.Mutex // that of the waiter
	w     *waiter    // nil before the first look
	timer *time.Timer
	ended bool
}

// lockFar is Remote.Lock, which ends as well when the transaction becomes the victim of a
// deadlock with ranges.
func (t *Txn) lockFar(ctx context.Context, keys [][]byte, opts storage.LockOptions) ([]storage.Locked, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	f := &farWait{m: t.m, keys: keys, cancel: cancel}
	f.mu.Lock()
	f.timer = time.AfterFunc(farFirst, func() { f.look(&t.own) })
	f.mu.Unlock()
	out, err := t.remote.Lock(ctx, keys, opts.Wait, opts.Timeout)
	if f.end() {
		return nil, storage.ErrDeadlock
	}
	return out, err
}

// look enters the wait and searches for a deadlock. Without ranges there can be none.
func (f *farWait) look(o *owner) {
	f.mu.Lock()
	if f.ended {
		f.mu.Unlock()
		return
	}
	f.timer.Reset(farAgain)
	if f.m.ranges.count.Load() == 0 {
		f.mu.Unlock()
		return
	}
	if f.w == nil {
		f.w = &waiter{o: o, mu: &f.mu, far: f, mode: storage.LockExclusive, queued: true, since: time.Now(), ch: make(chan error, 1)}
		o.waiting.Store(f.w)
	}
	f.mu.Unlock()
	f.m.locks.detect(o)
}

// end takes the wait back. It reports whether it was ended by a deadlock.
func (f *farWait) end() (aborted bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.timer.Stop()
	if f.w == nil {
		return false
	}
	if !f.w.queued {
		return true
	}
	f.w.queued = false
	f.w.o.waiting.Store(nil)
	return false
}

// leave ends the call, whose wait was aborted. The mutex is held.
func (f *farWait) leave() {
	f.w.queued = false
	f.w.o.waiting.Store(nil)
	f.cancel(storage.ErrDeadlock)
}

// holders are the other transactions of this process that hold keys of the call.
func (f *farWait) holders(o *owner) (out []*owner) {
	for _, id := range f.m.far.Holders(f.keys) {
		if h, ok := f.m.owners.Load(id); ok && h.(*owner) != o {
			out = append(out, h.(*owner))
		}
	}
	return out
}
