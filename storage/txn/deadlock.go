package txn

import (
	"slices"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// detect ends every cycle of waits that goes through o, by choosing a victim in
// each. It is called after o has joined a queue, so of all requests of a cycle
// the last one sees the whole of it.
func (t *lockTable) detect(o *owner) {
	t.detecting.Lock()
	defer t.detecting.Unlock()
	for {
		moves := t.moves.Load()
		cycle := findCycle(o)
		if cycle == nil {
			// A search goes to the next of a queue and visits each owner once. It
			// missed what is behind one that left before it came there, or that
			// joined elsewhere after it was visited.
			if moves != t.moves.Load() {
				continue
			}
			return
		}
		// The graph is read one shard at a time, so a cycle may be put together
		// from waits that did not exist at the same time. A true one stays
		// until somebody breaks it: look again before choosing a victim. There may
		// also be a true one that this search did not come to.
		if !stillThere(cycle) {
			continue
		}
		victim := victimOf(cycle)
		found := describe(cycle, victim)
		if victim.abort(storage.ErrDeadlock) {
			t.deadlocks.Add(1)
			t.last.Store(found)
		}
		if victim.o == o {
			return
		}
	}
}

// describe makes the report of a deadlock. It is called before the victim leaves: the
// locks of a cycle stay as long as it does.
func describe(cycle []*waiter, victim *waiter) *storage.Deadlock {
	d := &storage.Deadlock{Time: time.Now(), Victim: victim.o.id}
	for _, w := range cycle {
		w.mu.Lock()
		if w.queued {
			d.Cycle = append(d.Cycle, storage.DeadlockWait{Txn: w.o.id, Key: w.key(), Range: w.gate != nil, Mode: w.mode})
		}
		w.mu.Unlock()
	}
	return d
}

// victimOf is the wait of a cycle whose owner has the least work. Of those with as little
// the one that closed the cycle ends, which runs and can try again, or else the youngest.
// The one that closed it began to wait last. It need not be the one that searches: another
// may have joined its queue before, and search only now.
func victimOf(cycle []*waiter) *waiter {
	last := slices.MaxFunc(cycle, func(a, b *waiter) int { return a.since.Compare(b.since) })
	victim := cycle[0]
	for _, w := range cycle[1:] {
		mine, its := w.o.weight.Load(), victim.o.weight.Load()
		if mine < its || mine == its && (w == last || victim != last && w.o.id > victim.o.id) {
			victim = w
		}
	}
	return victim
}

// findCycle returns the waits of a cycle through o, or nil.
func findCycle(o *owner) []*waiter {
	seen := make(map[*owner]bool)
	var path []*waiter
	var walk func(x *owner) bool
	walk = func(x *owner) bool {
		w := x.waiting.Load()
		if w == nil {
			return false
		}
		path = append(path, w)
		for _, y := range w.blockers() {
			if y == o {
				return true
			}
			if !seen[y] {
				seen[y] = true
				if walk(y) {
					return true
				}
			}
		}
		path = path[:len(path)-1]
		return false
	}
	if walk(o) {
		return path
	}
	return nil
}

// stillThere reports whether each wait of the cycle is for the next one's owner or for
// another that waits for it in the same queue.
func stillThere(cycle []*waiter) bool {
	for i, w := range cycle {
		next := cycle[(i+1)%len(cycle)].o
		found := false
		for _, y := range w.blockers() {
			found = found || y == next
		}
		if !found {
			return false
		}
	}
	return true
}

// blockers are the owners for which w waits: holders, and waiters before it. Of the
// latter it names the nearest up to one that itself waits for those before it, which
// keeps the graph of a long queue a chain.
func (w *waiter) blockers() []*owner {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.queued {
		return nil
	}
	switch {
	case w.far != nil:
		return w.far.holders(w.o)
	case w.gate != nil:
		return []*owner{w.of}
	}
	var out []*owner
	for p := w.prev; p != nil; p = p.prev {
		if w.mode == storage.LockShared && p.mode == storage.LockShared {
			continue
		}
		if p.o != w.o {
			out = append(out, p.o)
		}
		if p.mode == storage.LockExclusive {
			// p waits for all holders but itself.
			return out
		}
	}
	for _, h := range w.l.holders {
		if h != w.o && (w.mode == storage.LockExclusive || w.l.mode == storage.LockExclusive) {
			out = append(out, h)
		}
	}
	return out
}
