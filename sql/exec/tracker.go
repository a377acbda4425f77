package exec

import (
	"sync"
	"sync/atomic"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Tracker counts the bytes that a part of the server holds, below a limit. It
// may be used by many goroutines. A nil Tracker counts nothing.
//
// When a limit is reached, the account that can spill and holds most gives
// memory back; see account.room.
type Tracker struct {
	name   string
	limit  int64
	parent *Tracker
	values *Values // that are counted in it, or nil
	used   atomic.Int64
	peak   atomic.Int64

	mu sync.Mutex
	// atClose are called by Close.
	atClose []func()
	// spillers are the accounts at or below t that can spill and hold enough
	// for that to be worth while.
	spillers map[*account]struct{}
	// promised are the bytes of accounts that have been requested to spill and
	// have not done so yet: they may be held beyond the limit for that long.
	promised int64
}

// QueryTracker is the name of the tracker of a statement, whose limit is
// sqlots_query_memory_limit.
const QueryTracker = "query"

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

// Limit is the least limit of t and the trackers above it; 0 for none.
func (t *Tracker) Limit() int64 {
	least := int64(0)
	for p := t; p != nil; p = p.parent {
		if p.limit > 0 && (least == 0 || p.limit < least) {
			least = p.limit
		}
	}
	return least
}

// Grow takes n bytes for what cannot spill, or fails with 3170 naming it and
// takes none. Others spill for it.
func (t *Tracker) Grow(n int64, operator string) error {
	a := account{t: t, operator: operator}
	return a.takeFixed(n)
}

// tryGrow takes n bytes; else it gives the tracker whose limit forbids it.
func (t *Tracker) tryGrow(n int64) (full *Tracker) {
	for p := t; p != nil; p = p.parent {
		used := p.used.Add(n)
		if p.limit > 0 && used > p.limit {
			for q := t; ; q = q.parent {
				q.used.Add(-n)
				if q == p {
					return p
				}
			}
		}
		p.notePeak(used)
	}
	return nil
}

// force takes n bytes, whatever the limit is, and reports whether that is beyond one.
func (t *Tracker) force(n int64) (beyond bool) {
	for p := t; p != nil; p = p.parent {
		used := p.used.Add(n)
		p.notePeak(used)
		beyond = beyond || p.limit > 0 && used > p.limit
	}
	return beyond
}

func (t *Tracker) notePeak(used int64) {
	for {
		peak := t.peak.Load()
		if used <= peak || t.peak.CompareAndSwap(peak, used) {
			return
		}
	}
}

// Shrink gives n bytes back.
func (t *Tracker) Shrink(n int64) {
	for p := t; p != nil; p = p.parent {
		p.used.Add(-n)
	}
}

// Hold takes n bytes whatever the limit is, or gives -n back: memory that is
// needed in any case and makes others spill.
func (t *Tracker) Hold(n int64) {
	if n < 0 {
		t.Shrink(-n)
		return
	}
	t.force(n)
}

// Budget is the memory of work outside of the executor that can spill what it
// holds. It belongs to one goroutine.
type Budget struct{ a account }

// NewBudget makes a Budget of t for what is called name.
func NewBudget(t *Tracker, name string) *Budget {
	b := &Budget{a: account{t: t, operator: name}}
	b.a.relief = func() (bool, error) { return false, nil } // it looks by itself
	return b
}

// Room takes n bytes in all; false says that they have to be spilled.
func (b *Budget) Room(n int64) bool {
	ok, err := b.a.room(n)
	return ok && err == nil
}

// Hold takes n bytes in all, whatever the limit is. After Hold(0) there is
// nothing to give back.
func (b *Budget) Hold(n int64) {
	if n == 0 {
		b.a.close()
		return
	}
	b.a.kept(n)
}

// onClose makes Close call fn.
func (t *Tracker) onClose(fn func()) {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.atClose = append(t.atClose, fn)
}

// Close gives everything back that t still holds, memory and files. It is
// idempotent.
func (t *Tracker) Close() {
	if t == nil {
		return
	}
	t.mu.Lock()
	list := t.atClose
	t.atClose = nil
	t.mu.Unlock()
	for _, fn := range list {
		fn()
	}
	t.Shrink(t.used.Load())
}

// biggest is the account with most memory that can spill and has no request yet, a
// cache if there is one, and what others have promised.
func (t *Tracker) biggest(but *account) (*account, int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var top *account
	for a := range t.spillers {
		if a == but || a.requested.Load() || top != nil && top.cache && !a.cache {
			continue
		}
		if top == nil || a.cache && !top.cache || a.reserved.Load() > top.reserved.Load() {
			top = a
		}
	}
	return top, t.promised
}

// over reports that n more bytes are covered by promises to spill.
func (t *Tracker) over(n int64) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.promised > 0 && t.used.Load()+n <= t.limit+t.promised
}

// beyond reports that n more bytes are so far beyond the limit that an account
// that holds mine must not rely on the promises of others.
func (t *Tracker) beyond(n, mine int64) bool {
	return mine > t.limit/64 && t.used.Load()+n > t.limit+t.limit/8
}

func (t *Tracker) overLimit(operator string) error {
	if t.name != QueryTracker {
		return sqlerr.ServerMemoryExceeded(t.limit, operator)
	}
	return sqlerr.QueryMemoryExceeded(t.limit, operator)
}
