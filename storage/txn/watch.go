package txn

import (
	"context"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// Watch implements storage.Txn.
func (t *Txn) Watch(wait storage.WaitPolicy) storage.Watch {
	w := &watch{}
	w.lockingReader = lockingReader{latestReader: latestReader{t}, wait: wait, watch: w}
	return w
}

// watch is the part of the ranges that a transaction has read and does not hold.
type watch struct {
	lockingReader
	read    rangeSet // changed under the mutex of the table
	touched atomic.Bool
}

// note begins to watch spans. It comes before they are read.
func (w *watch) note(ctx context.Context, spans []storage.Span) error {
	t := w.t
	if err := t.usable(); err != nil {
		return err
	}
	if t.ranges == nil {
		t.ranges = &ownRanges{}
	}
	spans = slices.DeleteFunc(spans, func(s storage.Span) bool { return t.ranges.held.covers(s) || w.read.covers(s) })
	if len(spans) == 0 {
		return nil
	}
	t.m.ranges.note(&t.own, t.ranges, w, spans)
	// What others wrote before and commit after this is read does not pass by the watch.
	x, err := t.writerBut(ctx, spans)
	if x.of != nil {
		w.touched.Store(true)
	}
	return err
}

// writerBut is writerIn for those that do not commit: it waits for the end of those that
// do, of which not every span that they meet has a write.
func (t *Txn) writerBut(ctx context.Context, spans []storage.Span) (inTheWay, error) {
	deadline := time.Now().Add(t.opts.LockTimeout)
	for {
		x := t.m.writerIn(t, spans)
		if x.of == nil || !x.commits {
			return x, nil
		}
		if err := t.waitAt(ctx, x.of, x.turn, x.in, storage.LockShared, deadline); err != nil {
			return inTheWay{}, err
		}
	}
}

// note adds spans to a watch.
func (r *rangeTable) note(o *owner, own *ownRanges, w *watch, spans []storage.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.enter(o, own)
	if !slices.Contains(own.watches, w) {
		own.watches = append(own.watches, w)
	}
	for _, s := range spans {
		w.read.add(s)
	}
	w.read.bound()
}

// Stop implements storage.Watch.
func (w *watch) Stop() {
	if w.watch == nil {
		return
	}
	w.watch = nil
	if w.t.ranges == nil {
		return
	}
	r := &w.t.m.ranges
	r.mu.Lock()
	defer r.mu.Unlock()
	w.t.ranges.watches = slices.DeleteFunc(w.t.ranges.watches, func(x *watch) bool { return x == w })
}

// Lock implements storage.Watch.
func (w *watch) Lock(ctx context.Context) (ok bool, err error) {
	t := w.t
	if err := t.usable(); err != nil {
		return false, err
	}
	defer w.Stop()
	if len(w.read.list) == 0 {
		return true, nil
	}
	spans := make([]storage.Span, len(w.read.list))
	for i, r := range w.read.list {
		spans[i] = r.Span
	}
	table := &t.m.ranges
	table.want(&t.own, t.ranges, spans)
	x, err := t.writerBut(ctx, spans)
	if err == nil && x.of == nil && !w.touched.Load() {
		table.grant(&t.own, t.ranges)
		return true, nil
	}
	table.giveUp(t.ranges)
	t.own.gate.open(false, nil)
	switch {
	case err != nil || x.of == nil:
		return false, err
	case w.wait != storage.WaitBlock:
		return false, fmt.Errorf("range from %x: %w", x.in.Start, storage.ErrNoWait)
	}
	return false, t.waitAt(ctx, x.of, x.turn, x.in, storage.LockShared, time.Now().Add(t.opts.LockTimeout))
}
