package search

import (
	"context"
	"errors"
	"os"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
)

// TestIdle: an index without use closes its files, is opened by queries and by changes,
// and is exact all the time.
func TestIdle(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	eachStore(t, func(w *world) {
		w.fill(300)
		w.start()
		defer func() { w.m.Close() }()
		w.exact()
		w.restartIdle(time.Millisecond)
		asleep := func() {
			w.Helper()
			w.eventually("it sleeps", func() error { return w.index().awake() })
		}
		for i := range 5 {
			asleep()
			if info := w.index().Info(); info.State != Ready || info.Docs != 300 || info.Lag != 0 || info.Bytes == 0 || info.Segments == 0 {
				t.Fatalf("asleep: %+v", info)
			}
			n := len(w.rows.asked())
			if w.m.Index(w.table, 2) == nil {
				t.Fatal("it does not serve")
			}
			w.exact()
			if len(w.rows.asked()) != n {
				t.Fatal("rows were read anew")
			}
			asleep()
			w.change(map[uint64]uint64{uint64(i): 9})
			w.eventually("the change is read", func() error {
				if len(w.rows.asked()) == n {
					return errors.New("not yet")
				}
				return nil
			})
			w.exact()
		}
		asleep()
		v, err := w.index().Newest(context.Background())
		if err != nil || v.Docs() != 300 {
			t.Fatal(v, err)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
		// Damage that comes while the index is closed.
		asleep()
		for _, path := range w.files(".zap") {
			if err := os.Truncate(path, 100); err != nil && !os.IsNotExist(err) { // Close may still remove some
				w.Fatal(err)
			}
		}
		n := len(w.rows.asked())
		w.exact()
		if got := len(w.rows.asked()) - n; got < 300 {
			t.Errorf("%d rows were read: not built anew", got)
		}
		asleep()
		w.m.Update(nil)
	})
}

// TestEndAsleep: a query of an index that was removed while closed gets an error, and
// does not wait for its files.
func TestEndAsleep(t *testing.T) {
	t.Parallel()
	store := memkv.New(memkv.Options{})
	defer store.Close()
	w := newWorld(t, store)
	w.fill(10)
	w.start()
	defer func() { w.m.Close() }()
	w.exact()
	w.restartIdle(time.Millisecond)
	w.eventually("it sleeps", func() error { return w.index().awake() })
	x := w.index()
	w.m.Update(nil)
	ctx, stop := context.WithTimeout(t.Context(), 5*time.Second)
	defer stop()
	if err := x.Read(ctx, func(*seg.Snapshot) error { return nil }); !errors.Is(err, ErrUnavailable) {
		t.Errorf("it was removed: %v", err)
	}
}

// TestSleepOn: changes of other tables do not wake an index.
func TestSleepOn(t *testing.T) {
	t.Parallel()
	store := memkv.New(memkv.Options{})
	defer store.Close()
	w := newWorld(t, store)
	w.fill(10)
	w.start()
	defer func() { w.m.Close() }()
	w.exact()
	w.restartIdle(time.Millisecond)
	w.eventually("it sleeps", func() error { return w.index().awake() })
	news := w.index().news()
	w.m.Update([]*schema.Table{w.table})
	select {
	case <-news:
		t.Error("it was woken")
	case <-time.After(50 * time.Millisecond):
	}
}

// awake is an error when the index has files open.
func (x *Index) awake() error {
	x.mu.Lock()
	defer x.mu.Unlock()
	if !x.asleep || x.seg != nil {
		return errors.New("awake")
	}
	return nil
}

// restartIdle is restart with another time after which indexes sleep.
func (w *world) restartIdle(after time.Duration) {
	w.m.Close()
	w.m = New(Config{Store: w.store, Dir: w.dir, Rows: w.rows})
	w.m.idle = after
	w.m.Update([]*schema.Table{w.table})
}

// TestOtherTables: what is written to other tables does not wake an index, and
// views do not look for it in the change log.
func TestOtherTables(t *testing.T) {
	t.Parallel()
	store := memkv.New(memkv.Options{})
	defer store.Close()
	w := newWorld(t, store)
	w.fill(10)
	w.start()
	defer func() { w.m.Close() }()
	w.exact()
	w.caughtUp()
	other := wordsTable(9)
	x := w.index()
	x.mu.Lock()
	covers := x.covers
	x.mu.Unlock()
	for i := range 20 {
		put(t, store, other, i, i+1)
		time.Sleep(time.Millisecond)
		v, err := x.View(t.Context(), settledAt(store.Seq()), nil)
		if err != nil || len(v.Changed) > 0 {
			t.Fatal(err, v.Changed)
		}
		if err := v.Close(); err != nil {
			t.Fatal(err)
		}
	}
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.covers != covers {
		t.Errorf("it has looked: %v, was %v", x.covers, covers)
	}
}

// TestLargeCommit: the changes of a large commit come in several batches; in between
// the index answers for the state before and after.
func TestLargeCommit(t *testing.T) {
	t.Parallel()
	testflag.Long(t)
	eachStore(t, func(w *world) {
		w.fill(100)
		w.start()
		defer func() { w.m.Close() }()
		w.exact()
		w.caughtUp()
		before := w.snapshot()
		defer before.Close()
		asked, largest, looked := 0, 0, 0
		w.rows.mu.Lock()
		w.rows.before = func(*schema.SearchIndex) {
			n := len(w.rows.asked())
			largest = max(largest, n-asked)
			asked = n
			now := w.snapshot()
			defer now.Close()
			for _, at := range []storage.Snapshot{before, now} {
				if err := w.compare(w.index(), at); err != nil {
					w.Error(err)
				}
			}
			looked++
		}
		w.rows.mu.Unlock()
		asked = len(w.rows.asked())
		w.fill(5*tailRecords + 7)
		w.caughtUp()
		w.exact()
		if looked < 3 || largest > 2*tailRecords {
			w.Errorf("%d batches, the largest of %d rows", looked, largest)
		}
	})
}
