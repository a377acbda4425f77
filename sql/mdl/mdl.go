package mdl

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"
)

// ErrTimeout: the lock was not granted in time.
var ErrTimeout = errors.New("metadata lock wait timeout")

// Owner identifies who holds locks: a connection id.
type Owner uint64

// Locks are the metadata locks of a server. The zero value is ready to use.
type Locks struct {
	// Waits is called when an owner begins and ends to wait; nil for no calls.
	// Set it before the first lock.
	Waits func(o Owner, begins bool)

	mu     sync.Mutex
	tables map[string]*entry
	// immediate counts the locks that were granted at once.
	immediate int64
}

// Immediate is how many locks were granted at once.
func (l *Locks) Immediate() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.immediate
}

// Mode is how a table is locked.
type Mode uint8

const (
	// Read: the definition must not change.
	Read Mode = iota
	// Write: as Read, and rows are going to be changed.
	Write
	// Freeze: as Read, and no other owner may change rows.
	Freeze
	// Alone excludes all other owners.
	Alone
)

type entry struct {
	held      map[Owner]holds
	total     holds // of all owners
	exclusive Owner
	depth     int // of the exclusive owner
	// The owner who gets the lock when the exclusive one gives it back, if any, and its
	// depth.
	next      Owner
	nextDepth int
	queue     []*waiter
}

// holds counts the locks of one owner that are not exclusive, by mode.
type holds [Alone]int

type waiter struct {
	owner   Owner
	mode    Mode
	granted chan struct{}
	done    bool
}

// Key is the name under which a table is locked.
func Key(db, table string) string { return db + "\x00" + table }

// ChangeKey is the lock that allows one change of a table's schema at a time.
func ChangeKey(db, table string) string { return Key(db, table) + changeSuffix }

const changeSuffix = "\x00ddl"

// ChangesSchema reports a ChangeKey.
func ChangesSchema(key string) bool { return strings.HasSuffix(key, changeSuffix) }

// Parts takes a Key or ChangeKey apart.
func Parts(key string) (db, table string, changes bool) {
	db, table, _ = strings.Cut(strings.TrimSuffix(key, changeSuffix), "\x00")
	return db, table, ChangesSchema(key)
}

// Shared acquires the lock for reading. It is counted: each acquisition needs
// a release.
func (l *Locks) Shared(ctx context.Context, o Owner, key string, timeout time.Duration) error {
	return l.Acquire(ctx, o, key, Read, timeout)
}

// Exclusive acquires the lock alone; what o itself shares does not hinder it.
func (l *Locks) Exclusive(ctx context.Context, o Owner, key string, timeout time.Duration) error {
	return l.Acquire(ctx, o, key, Alone, timeout)
}

// Acquire waits for the lock until the timeout (ErrTimeout) or the end of ctx.
// Locks of all modes are counted.
func (l *Locks) Acquire(ctx context.Context, o Owner, key string, mode Mode, timeout time.Duration) error {
	l.mu.Lock()
	if l.tables == nil {
		l.tables = map[string]*entry{}
	}
	e := l.tables[key]
	if e == nil {
		e = &entry{held: map[Owner]holds{}}
		l.tables[key] = e
	}
	if e.free(o, mode) && (len(e.queue) == 0 || e.exclusive == o || e.holds(o)) {
		e.grant(o, mode)
		l.immediate++
		l.mu.Unlock()
		return nil
	}
	w := &waiter{owner: o, mode: mode, granted: make(chan struct{})}
	e.queue = append(e.queue, w)
	l.mu.Unlock()

	if l.Waits != nil {
		l.Waits(o, true)
		defer l.Waits(o, false)
	}
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

// free reports whether o could hold the lock next to the present holders.
func (e *entry) free(o Owner, mode Mode) bool {
	if e.exclusive != 0 && e.exclusive != o {
		return false
	}
	switch mode {
	case Write:
		return e.total[Freeze] == 0 || e.total[Freeze] == e.held[o][Freeze]
	case Freeze:
		return e.total[Write] == 0 || e.total[Write] == e.held[o][Write]
	case Alone:
		return len(e.held) == 0 || len(e.held) == 1 && e.holds(o)
	}
	return true
}

func (e *entry) holds(o Owner) bool {
	_, ok := e.held[o]
	return ok
}

func (e *entry) grant(o Owner, mode Mode) {
	if mode == Alone {
		e.exclusive = o
		e.depth++
		return
	}
	h := e.held[o]
	h[mode]++
	e.held[o] = h
	e.total[mode]++
}

// answer grants a request that has waited.
func (e *entry) answer(w *waiter) {
	e.grant(w.owner, w.mode)
	w.done = true
	close(w.granted)
}

// wake grants the requests at the head of the queue that can be granted, and before them
// those of the exclusive owner.
func (l *Locks) wake(key string, e *entry) {
	if e.exclusive != 0 {
		e.queue = slices.DeleteFunc(e.queue, func(w *waiter) bool {
			if w.owner != e.exclusive || !e.free(w.owner, w.mode) {
				return false
			}
			e.answer(w)
			return true
		})
	}
	for len(e.queue) > 0 && e.free(e.queue[0].owner, e.queue[0].mode) {
		w := e.queue[0]
		e.queue = e.queue[1:]
		e.answer(w)
	}
	if len(e.queue) == 0 && len(e.held) == 0 && e.exclusive == 0 {
		delete(l.tables, key)
	}
}

// Lock is a lock that an owner has, or waits for.
type Lock struct {
	Key   string
	Owner Owner
	Mode  Mode
	Waits bool
}

// List are the locks of all owners by key: first those that are held, then those that
// wait in their order.
func (l *Locks) List() []Lock {
	l.mu.Lock()
	defer l.mu.Unlock()
	var out []Lock
	for _, key := range slices.Sorted(maps.Keys(l.tables)) {
		e := l.tables[key]
		for _, o := range []Owner{e.exclusive, e.next} {
			if o != 0 {
				out = append(out, Lock{Key: key, Owner: o, Mode: Alone})
			}
		}
		for _, o := range slices.Sorted(maps.Keys(e.held)) {
			for mode, n := range e.held[o] {
				if n > 0 {
					out = append(out, Lock{Key: key, Owner: o, Mode: Mode(mode)})
				}
			}
		}
		for _, w := range e.queue {
			out = append(out, Lock{Key: key, Owner: w.owner, Mode: w.mode, Waits: true})
		}
	}
	return out
}

// ReleaseShared gives one lock for reading back.
func (l *Locks) ReleaseShared(o Owner, key string) { l.Release(o, key, Read) }

// Release gives one lock of a mode back. One that is not held is left alone.
func (l *Locks) Release(o Owner, key string, mode Mode) {
	if mode == Alone {
		l.ReleaseExclusive(o, key)
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.tables[key]
	if e == nil {
		return
	}
	h := e.held[o]
	if h[mode] == 0 {
		return
	}
	h[mode]--
	e.total[mode]--
	if h == (holds{}) {
		delete(e.held, o)
	} else {
		e.held[o] = h
	}
	l.wake(key, e)
}

// HandOver gives an exclusive lock of a key to another owner, which has none of it. Who has
// several gives the last one, and gets the key again when the other one gives it back; it
// waits for that like all others. An owner without an exclusive lock gives nothing.
func (l *Locks) HandOver(from, to Owner, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.tables[key]
	if e == nil || e.exclusive != from {
		return
	}
	if e.depth > 1 {
		e.next, e.nextDepth = from, e.depth-1
	}
	e.exclusive, e.depth = to, 1
}

// ReleaseExclusive gives one exclusive lock back.
func (l *Locks) ReleaseExclusive(o Owner, key string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.tables[key]
	switch {
	case e == nil:
		return
	case e.exclusive == o:
		if e.depth--; e.depth == 0 {
			e.exclusive, e.depth = e.next, e.nextDepth
			e.next, e.nextDepth = 0, 0
		}
	case e.next == o:
		if e.nextDepth--; e.nextDepth == 0 {
			e.next = 0
		}
	default:
		return
	}
	l.wake(key, e)
}
