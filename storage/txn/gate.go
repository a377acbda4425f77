package txn

import (
	"bytes"
	"context"
	"sync"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// gate is where others wait for a transaction to end, or to give up a range.
type gate struct {
	mu sync.Mutex
	// turn counts how often it was opened. Who finds a reason to wait reads turn
	// before, and does not wait where it has changed.
	turn  uint64
	ended bool    // the transaction has: there is no reason to wait
	first *waiter // of those who wait, linked by next
}

// open lets those who wait look again.
func (g *gate) open(ended bool, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.turn++
	g.ended = g.ended || ended
	for w := g.first; w != nil; {
		next := w.next
		w.next, w.queued = nil, false
		w.o.waiting.Store(nil)
		w.ch <- err
		w = next
	}
	g.first = nil
}

// state is what waitAt needs, and whether there is a reason to wait.
func (g *gate) state() (turn uint64, ended bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.turn, g.ended
}

func (g *gate) dequeue(w *waiter) {
	at := &g.first
	for *at != w {
		at = &(*at).next
	}
	*at = w.next
	w.next, w.queued = nil, false
	w.o.waiting.Store(nil)
}

// key is what w waits for.
func (w *waiter) key() []byte {
	switch {
	case w.far != nil:
		return w.far.keys[0]
	case w.l != nil:
		return []byte(w.l.key)
	}
	return w.span.Start
}

// waitAt waits at the gate of another transaction until it is opened the next time
// after turn. span is what o asks for.
func (t *lockTable) waitAt(ctx context.Context, o, of *owner, turn uint64, span storage.Span, mode storage.LockMode, timeout time.Duration) error {
	g := &of.gate
	g.mu.Lock()
	if t.closed.Load() {
		g.mu.Unlock()
		return storage.ErrClosed
	}
	if g.turn != turn {
		g.mu.Unlock()
		return nil
	}
	w := &waiter{o: o, gate: g, of: of, mu: &g.mu, mode: mode, queued: true, since: time.Now(), ch: make(chan error, 1)}
	w.span = storage.Span{Start: bytes.Clone(span.Start), End: bytes.Clone(span.End)}
	w.next, g.first = g.first, w
	o.waiting.Store(w)
	g.mu.Unlock()
	t.waits.Add(1)
	if o.blocks() {
		t.detect(o)
	}
	return t.await(ctx, w, span.Start, timeout)
}
