package search

import (
	"fmt"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/storage/memkv"
)

// startQuiet starts with a time after which files without changes are merged.
func (w *world) startQuiet(after time.Duration) {
	w.m = New(Config{Store: w.store, Dir: w.dir, Rows: w.rows, Knobs: Knobs{MergeAfter: after}})
	w.m.Update([]*schema.Table{w.table})
}

// scatter makes a segment of so many rows from a number on.
func (w *world) scatter(from, rows uint64) {
	w.Helper()
	list := map[uint64]uint64{}
	for i := range rows {
		list[from+i] = i + 1
	}
	w.change(list)
	w.caughtUp()
	if err := w.opened().Persist(w.Context()); err != nil {
		w.Fatal(err)
	}
}

// scatterOver2 makes segments until two are left of the merges that scorch does.
func (w *world) scatterOver2() {
	w.Helper()
	for i := range uint64(50) {
		w.scatter(100*i, 90)
		if s := w.scattering(); s.Segments > 1 && isWorthMerging(s, false) {
			return
		}
	}
	w.Fatalf("it has %+v", w.scattering())
}

func (w *world) opened() *seg.Index {
	x := w.index()
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.seg
}

func (w *world) scattering() seg.Scattering {
	w.Helper()
	s, err := w.opened().Scattered()
	if err != nil {
		w.Fatal(err)
	}
	return s
}

// TestQuietMerge: the segments of files that are not changed are merged, and the index is
// exact before, meanwhile and afterwards, also after a restart and under new changes.
func TestQuietMerge(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	eachStore(t, func(w *world) {
		w.startQuiet(time.Hour)
		defer func() { w.m.Close() }()
		w.scatterOver2()
		w.m.Close()
		w.startQuiet(10 * time.Millisecond)
		w.exact()
		one := func() {
			w.Helper()
			w.eventually("one segment", func() error {
				if s := w.scattering(); s.Segments != 1 {
					return fmt.Errorf("%+v", s)
				}
				return nil
			})
		}
		one()
		w.exact()
		for i := range uint64(20) { // some of them while a merge runs
			w.change(map[uint64]uint64{i * 20: 0, i*20 + 1: 7, 1000 + i: i + 1})
			w.exact()
			time.Sleep(time.Duration(i) * time.Millisecond)
		}
		one()
		w.restart()
		w.exact()
		if s := w.scattering(); s.Segments != 1 {
			t.Errorf("after a restart: %+v", s)
		}
	})
}

// TestWorthMerging: few changed rows do not have a large index written again at once.
func TestWorthMerging(t *testing.T) {
	for _, x := range []struct {
		s           seg.Scattering
		early, late bool
	}{
		{seg.Scattering{}, false, false},
		{seg.Scattering{Segments: 1, Docs: 100}, false, false},
		{seg.Scattering{Segments: 2, Docs: 1003, Small: 3}, false, true},
		{seg.Scattering{Segments: 2, Docs: 800, Small: 100}, true, true},
		{seg.Scattering{Segments: 9, Docs: 801, Small: 100}, false, true},
		{seg.Scattering{Segments: 1, Docs: 3_000_000, Small: 0}, false, false}, // and a full one
	} {
		if early, late := isWorthMerging(x.s, false), isWorthMerging(x.s, true); early != x.early || late != x.late {
			t.Errorf("%+v: %v, late %v", x.s, early, late)
		}
	}
}

// TestQuietEnds: an index that ends, or sleeps, does not wait for its merge.
func TestQuietEnds(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	store := memkv.New(memkv.Options{})
	defer store.Close()
	w := newWorld(t, store)
	w.startQuiet(time.Hour)
	w.scatterOver2()
	w.m.Close()
	w.startQuiet(time.Millisecond)
	w.m.merging <- struct{}{} // another index merges, and goes on
	w.exact()
	w.caughtUp()
	time.Sleep(20 * time.Millisecond)
	done := make(chan struct{})
	go func() { defer close(done); w.m.Close() }()
	select {
	case <-done:
	case <-time.After(time.Minute):
		t.Fatal("it waits")
	}
}

// TestQuietCountsFromChanges: looking for changes does not put a merge off.
func TestQuietCountsFromChanges(t *testing.T) {
	t.Parallel()
	x := &Index{m: &Manager{mergeAfter: 200 * time.Millisecond}}
	q := x.newQuiet(nil)
	defer q.end()
	for _, change := range []int{0, 1} {
		x.batches += change
		deadline := time.After(time.Minute)
		for fired := false; !fired; time.Sleep(2 * time.Millisecond) {
			q.begins()
			select {
			case <-q.timer.C:
				fired = true
			case <-deadline:
				t.Fatalf("no merge, changes: %d", change)
			default:
			}
		}
	}
}
