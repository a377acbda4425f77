package mdl

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"
)

// ErrTimeout: the lock was not granted in time.
var ErrTimeout = errors.New("metadata lock wait timeout")

// Owner identifies who holds locks: a connection id.
type Owner uint64

// Locks are the metadata locks of a server. The zero value is ready to use.
type Locks struct {
	mu     sync.Mutex
	tables map[string]*entry
}

type entry struct {
	shared    map[Owner]int
	exclusive Owner
	depth     int // of the exclusive owner
	queue     []*waiter
}

type waiter struct {
	owner     Owner
	exclusive bool
	granted   chan struct{}
	done      bool
}

// Key is the name under which a table is locked.
func Key(db, table string) string { return db + "\x00" + table }

// Shared acquires a shared lock. It is counted: each acquisition needs a
// release.
func (l *Locks) Shared(ctx context.Context, o Owner, key string, timeout time.Duration) error {
	return l.acquire(ctx, o, key, false, timeout)
}

// Exclusive acquires the lock alone; what o itself shares does not hinder it.
func (l *Locks) Exclusive(ctx context.Context, o Owner, key string, timeout time.Duration) error {
	return l.acquire(ctx, o, key, true, timeout)
}

func (l *Locks) acquire(ctx context.Context, o Owner, key string, exclusive bool, timeout time.Duration) error {
	l.mu.Lock()
	if l.tables == nil {
		l.tables = map[string]*entry{}
	}
	e := l.tables[key]
	if e == nil {
		e = &entry{shared: map[Owner]int{}}
		l.tables[key] = e
	}
	if e.free(o, exclusive) && (len(e.queue) == 0 || e.shared[o] > 0 || e.exclusive == o) {
		e.grant(o, exclusive)
		l.mu.Unlock()
		return nil
	}
	w := &waiter{owner: o, exclusive: exclusive, granted: make(chan struct{})}
	e.queue = append(e.queue, w)
	l.mu.Unlock()

	timer := time.NewTimer(timeout)
	defer timer.Stop()
	var err error
	select {
	case <-w.granted:
		return nil
	case <-ctx.Done():
		err = context.Cause(ctx)
	case <-timer.C:
		err = ErrTimeout
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if w.done { // granted meanwhile
		return nil
	}
	e.queue = slices.DeleteFunc(e.queue, func(x *waiter) bool { return x == w })
	l.wake(key, e)
	return err
}

// free reports whether o could hold the lock beside the present holders.
func (e *entry) free(o Owner, exclusive bool) bool {
	if e.exclusive != 0 && e.exclusive != o {
		return false
	}
	if !exclusive {
		return true
	}
	for other := range e.shared {
		if other != o {
			return false
		}
	}
	return true
}

func (e *entry) grant(o Owner, exclusive bool) {
	if exclusive {
		e.exclusive = o
		e.depth++
		return
	}
	e.shared[o]++
}

// wake grants the requests at the head of the queue that can be granted.
func (l *Locks) wake(key string, e *entry) {
	for len(e.queue) > 0 && e.free(e.queue[0].owner, e.queue[0].exclusive) {
		w := e.queue[0]
		e.queue = e.queue[1:]
		e.grant(w.owner, w.exclusive)
		w.done = true
		close(w.granted)
	}
	if len(e.queue) == 0 && len(e.shared) == 0 && e.exclusive == 0 {
		delete(l.tables, key)
	}
}

// ReleaseShared gives one shared lock back.
func (l *Locks) ReleaseShared(o Owner, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.tables[key]
	if e == nil || e.shared[o] == 0 {
		return
	}
	if e.shared[o]--; e.shared[o] == 0 {
		delete(e.shared, o)
	}
	l.wake(key, e)
}

// ReleaseExclusive gives one exclusive lock back.
func (l *Locks) ReleaseExclusive(o Owner, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.tables[key]
	if e == nil || e.exclusive != o {
		return
	}
	if e.depth--; e.depth == 0 {
		e.exclusive = 0
	}
	l.wake(key, e)
}
