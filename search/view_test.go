package search

import (
	"context"
	"errors"
	"testing"

	"github.com/sqlots/sqlots/storage/memkv"
)

// TestNewestAndTail: the newest view is the files alone; one that would have too many
// changed rows next to it is not given.
func TestNewestAndTail(t *testing.T) {
	store := memkv.New(memkv.Options{})
	defer store.Close()
	w := newWorld(t, store)
	w.fill(100)
	w.start()
	defer func() { w.m.Close() }()
	w.exact()
	w.caughtUp()
	before := w.snapshot()
	defer before.Close()
	gate := make(chan struct{})
	w.rows.mu.Lock()
	w.rows.fail = func() error { <-gate; return nil }
	w.rows.mu.Unlock()
	w.change(map[uint64]uint64{1: 0, 200: 1, 201: 2})
	x := w.index()
	v, err := x.Newest(context.Background())
	if err != nil || v.Docs() != 100 || v.Changed != nil {
		t.Fatalf("%d documents, %d changed, %v", v.Docs(), len(v.Changed), err)
	}
	v.Close()
	after := w.snapshot()
	defer after.Close()
	if v, err = x.View(t.Context(), settledAt(after.Seq()), nil); err != nil || len(v.Changed) != 3 {
		t.Fatal(v, err)
	}
	v.Close()
	close(gate)
	if err := x.CatchUp(t.Context(), settledAt(after.Seq())); err != nil {
		t.Fatal(err)
	}
	if v, err = x.Newest(t.Context()); err != nil || v.Docs() != 101 {
		t.Fatal(v, err)
	}
	v.Close()
	for i := range uint64(20) { // one commit each
		w.change(map[uint64]uint64{i: 7})
	}
	w.caughtUp()
	if err := w.compare(x, before); err != nil {
		t.Error(err)
	}
	was := maxOverlay
	maxOverlay = 10
	defer func() { maxOverlay = was }()
	if _, err := x.View(t.Context(), settledAt(before.Seq()), nil); !errors.Is(err, ErrUnavailable) {
		t.Errorf("a view of an old state with a long tail: %v", err)
	}
	last := w.snapshot()
	defer last.Close()
	if err := w.compare(x, last); err != nil {
		t.Error(err)
	}
}

// settledAt is the state of an embedded store at a sequence.
func settledAt(seq uint64) Moment { return Moment{Seq: seq, Settled: seq} }
