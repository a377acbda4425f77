package txn

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// A transaction that locks a range first shows what it wants, then looks for others
// with writes in it. One that writes buffers under its mutex (Txn.writing), after it
// looked at the ranges of others. So of two at the same time at least one sees the
// other. While no transaction has a range, writers read one counter and nothing else.

// ownRanges are the ranges of one transaction, which alone changes them. They are
// changed under the mutex of the table.
type ownRanges struct {
	held rangeSet
	// wanted are granted when no other transaction has a write in them. They keep
	// those out that have none in any of them yet.
	wanted []storage.Span
	// watches are marked by the writes of others.
	watches []*watch
	listed  bool // in the table, until the transaction ends
}

// rangeTable holds the locked ranges of a store.
type rangeTable struct {
	// count is the number of transactions with ranges.
	count atomic.Int64
	mu    sync.RWMutex
	by    map[*owner]*ownRanges
}

// want shows the spans that o is going to hold.
func (r *rangeTable) want(o *owner, own *ownRanges, spans []storage.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.enter(o, own)
	own.wanted = spans
}

// enter adds o. The mutex is held.
func (r *rangeTable) enter(o *owner, own *ownRanges) {
	if own.listed {
		return
	}
	if r.by == nil {
		r.by = make(map[*owner]*ownRanges)
	}
	own.listed, r.by[o] = true, own
	r.count.Add(1)
	o.weight.Add(1) // from now on others may wait for it
}

// grant makes the wanted spans held ones.
func (r *rangeTable) grant(o *owner, own *ownRanges) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range own.wanted {
		own.held.add(s)
	}
	o.weight.Add(int64(len(own.wanted)))
	own.wanted = nil
	own.held.bound()
}

// giveUp forgets the wanted spans.
func (r *rangeTable) giveUp(own *ownRanges) {
	r.mu.Lock()
	defer r.mu.Unlock()
	own.wanted = nil
}

// release ends all ranges of o. It is idempotent.
func (r *rangeTable) release(o *owner) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.by[o] != nil {
		delete(r.by, o)
		r.count.Add(-1)
	}
}

// holder returns a transaction other than o that keeps key, and the turn of its gate.
// It marks the watches that have key. wrote reports whether o has a write in a span: what another wants waits for it.
func (r *rangeTable) holder(o *owner, key []byte, wrote func(storage.Span) bool) (of *owner, turn uint64) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for x, own := range r.by {
		if x == o {
			continue
		}
		for _, w := range own.watches {
			if !w.touched.Load() && w.read.holds(key) {
				w.touched.Store(true)
			}
		}
		if of != nil || !own.held.holds(key) && !own.keeps(key, wrote) {
			continue
		}
		// The ranges of x end after this, and open its gate then.
		of = x
		turn, _ = x.gate.state()
	}
	return of, turn
}

// list describes the ranges.
func (r *rangeTable) list() (out []storage.LockInfo) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for o, own := range r.by {
		for _, h := range own.held.list {
			out = append(out, storage.LockInfo{Range: true, Key: h.Start, End: h.End, Mode: storage.LockShared, Holders: []uint64{o.id}})
		}
	}
	return out
}

// owners are the transactions with ranges.
func (r *rangeTable) owners() (out []*owner) {
	r.mu.RLock()
	defer r.mu.RUnlock()
	for o := range r.by {
		out = append(out, o)
	}
	return out
}

// keeps reports whether key is in a wanted span, and its writer has no write in any of
// them yet: for one that has, r waits anyway.
func (r *ownRanges) keeps(key []byte, wrote func(storage.Span) bool) bool {
	return slices.ContainsFunc(r.wanted, func(s storage.Span) bool { return contains(s, key) }) && !slices.ContainsFunc(r.wanted, wrote)
}

// LockRange implements storage.Txn.
func (t *Txn) LockRange(ctx context.Context, span storage.Span, wait storage.WaitPolicy) error {
	span, some := ownSpan(span)
	if !some {
		return t.usable()
	}
	return t.lockRanges(ctx, []storage.Span{span}, wait)
}

// ownSpan copies a span; false where it is empty.
func ownSpan(span storage.Span) (storage.Span, bool) {
	span = UserSpan(span)
	return storage.Span{Start: bytes.Clone(span.Start), End: bytes.Clone(span.End)}, span.End == nil || bytes.Compare(span.Start, span.End) < 0
}

// lockRanges locks spans that are not empty and that it may keep.
func (t *Txn) lockRanges(ctx context.Context, spans []storage.Span, wait storage.WaitPolicy) error {
	if err := t.usable(); err != nil {
		return err
	}
	if t.ranges == nil {
		t.ranges = &ownRanges{}
	}
	spans = slices.DeleteFunc(spans, t.ranges.held.covers)
	if len(spans) == 0 {
		return nil
	}
	table := &t.m.ranges
	table.want(&t.own, t.ranges, spans)
	err := t.awaitRanges(ctx, spans, wait)
	if err != nil {
		table.giveUp(t.ranges)
		t.own.gate.open(false, nil)
		return err
	}
	table.grant(&t.own, t.ranges)
	return nil
}

// awaitRanges waits until no other transaction has writes in spans. It waits for one
// that commits whatever wait says: that is soon over.
func (t *Txn) awaitRanges(ctx context.Context, spans []storage.Span, wait storage.WaitPolicy) error {
	deadline := time.Now().Add(t.opts.LockTimeout)
	for {
		w := t.m.writerIn(t, spans)
		if w.of == nil {
			return nil
		}
		if wait != storage.WaitBlock && !w.commits {
			return fmt.Errorf("range from %x: %w", w.in.Start, storage.ErrNoWait)
		}
		if err := t.waitAt(ctx, w.of, w.turn, w.in, storage.LockShared, deadline); err != nil {
			return err
		}
	}
}

// waitAt waits for another transaction.
func (t *Txn) waitAt(ctx context.Context, of *owner, turn uint64, span storage.Span, mode storage.LockMode, deadline time.Time) error {
	err := t.m.locks.waitAt(ctx, &t.own, of, turn, span, mode, time.Until(deadline))
	t.noteDeadlock(err)
	return err
}

// gates are those at which others may wait.
func (m *Manager) gates() []*gate {
	var out []*gate
	for _, o := range m.ranges.owners() {
		out = append(out, &o.gate)
	}
	for i := range m.writers {
		for _, t := range m.writers[i].list() {
			out = append(out, &t.own.gate)
		}
	}
	return out
}

// listWaits describes the requests that wait at gates, each with the transaction that
// is in its way.
func (m *Manager) listWaits() (out []storage.LockInfo) {
	seen := make(map[*gate]bool)
	for _, g := range m.gates() {
		if seen[g] {
			continue
		}
		seen[g] = true
		g.mu.Lock()
		for w := g.first; w != nil; w = w.next {
			held := storage.LockShared
			if w.mode == storage.LockShared {
				held = storage.LockExclusive
			}
			out = append(out, storage.LockInfo{Range: true, Key: w.span.Start, End: w.span.End, Mode: held, Holders: []uint64{w.of.id},
				Waiters: []uint64{w.o.id}, Waits: []storage.LockWait{{Txn: w.o.id, Mode: w.mode, Since: w.since}}})
		}
		g.mu.Unlock()
	}
	return out
}

func compareLocks(a, b storage.LockInfo) int {
	return cmp.Or(bytes.Compare(a.Key, b.Key), compareEnds(a.End, b.End))
}
