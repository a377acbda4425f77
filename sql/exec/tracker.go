package exec

import (
	"sync"
	"sync/atomic"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Tracker counts the bytes that a part of the server holds, below a limit. It
// may be used by many goroutines. A nil Tracker counts nothing.
type Tracker struct {
	name   string
	limit  int64
	parent *Tracker
	used   atomic.Int64
	peak   atomic.Int64

	mu       sync.Mutex
	pressure []func(need int64)
}

// NewTracker makes the root of a tree of trackers. A limit of 0 or less is
// none.
func NewTracker(name string, limit int64) *Tracker { return &Tracker{name: name, limit: limit} }

// Child makes a tracker whose bytes count for t too. It must be closed.
func (t *Tracker) Child(name string, limit int64) *Tracker {
	return &Tracker{name: name, limit: limit, parent: t}
}

// Used is the number of bytes that are held now, Peak the most so far.
func (t *Tracker) Used() int64 {
	if t == nil {
		return 0
	}
	return t.used.Load()
}

// Peak is the most bytes that were held at a time.
func (t *Tracker) Peak() int64 {
	if t == nil {
		return 0
	}
	return t.peak.Load()
}

// OnPressure registers a callback that is called, without locks, when a Grow
// would pass t's limit: it may give memory back with Shrink (by spilling).
func (t *Tracker) OnPressure(fn func(need int64)) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.pressure = append(t.pressure, fn)
}

// Grow takes n bytes for an operator, or fails with 3170 naming it and takes
// none.
func (t *Tracker) Grow(n int64, operator string) error {
	for p := t; p != nil; p = p.parent {
		if p.take(n) {
			continue
		}
		for q := t; q != p; q = q.parent {
			q.used.Add(-n)
		}
		return sqlerr.QueryMemoryExceeded(p.limit, operator)
	}
	return nil
}

func (t *Tracker) take(n int64) bool {
	used := t.used.Add(n)
	if t.limit > 0 && used > t.limit {
		t.relieve(used - t.limit)
		if used = t.used.Load(); used > t.limit {
			t.used.Add(-n)
			return false
		}
	}
	for {
		peak := t.peak.Load()
		if used <= peak || t.peak.CompareAndSwap(peak, used) {
			return true
		}
	}
}

func (t *Tracker) relieve(need int64) {
	t.mu.Lock()
	list := t.pressure
	t.mu.Unlock()
	for _, fn := range list {
		fn(need)
	}
}

// Shrink gives n bytes back.
func (t *Tracker) Shrink(n int64) {
	for p := t; p != nil; p = p.parent {
		p.used.Add(-n)
	}
}

// Close gives everything back that t still holds. It is idempotent.
func (t *Tracker) Close() {
	if t != nil {
		t.Shrink(t.used.Load())
	}
}

// accountStep is the size of the pieces in which an account takes memory from
// its tracker, so that small growth costs no atomics.
const accountStep = 32 << 10

// account is the memory of one operator.
type account struct {
	t        *Tracker
	operator string
	held     int64 // by the operator
	reserved int64 // from the tracker, >= held
	stat     *nodeStats
}

// to makes the operator hold n bytes.
func (a *account) to(n int64) error {
	if n > a.reserved {
		step := (n - a.reserved + accountStep - 1) / accountStep * accountStep
		if err := a.t.Grow(step, a.operator); err != nil {
			return err
		}
		a.reserved += step
	}
	a.held = n
	if a.stat != nil {
		a.stat.memory(n)
	}
	return nil
}

// close gives everything back.
func (a *account) close() {
	a.t.Shrink(a.reserved)
	a.held, a.reserved = 0, 0
}
