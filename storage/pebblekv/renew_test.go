package pebblekv

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// TestRenew: a scan whose iterator is replaced after every pair reads the same pairs, in
// both directions, while the store is written to and flushed; the old write buffers go.
func TestRenew(t *testing.T) {
	s := openEager(t)
	defer s.Close()
	const group, rows = 7, 300
	put := func(round int) {
		tx, err := s.Begin(bg, storage.TxnOptions{MaxSize: 1 << 30})
		if err != nil {
			t.Fatal(err)
		}
		for i := range uint64(rows) {
			if (i+uint64(round))%3 == 0 {
				err = tx.Delete(t.Context(), imageKey(group, i))
			} else {
				err = tx.Put(t.Context(), imageKey(group, i), fmt.Appendf(nil, "%d %0200d", i, round))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if _, err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	put(0)
	sn, err := s.Snapshot(bg)
	if err != nil {
		t.Fatal(err)
	}
	defer sn.Close()
	rnd := rand.New(rand.NewPCG(1, 2))
	for round := range 12 {
		opts := storage.ScanOptions{Reverse: round%2 == 1, KeyOnly: round%5 == 4}
		span := storage.Span{Start: imageKey(group, 0), End: imageKey(group, rows)}
		if round > 5 {
			lo := rnd.Uint64N(rows)
			span.Start, span.End = imageKey(group, lo), imageKey(group, lo+1+rnd.Uint64N(rows))
		}
		open := func() *scanner {
			sc, err := s.scan(t.Context(), sn.(*snapshot), span, opts)
			if err != nil {
				t.Fatal(err)
			}
			return sc.(*scanner)
		}
		want := collect(t, open(), 0)
		sc := open()
		var got []pair
		renewed := 0
		for done := false; !done; {
			before := sc.it
			if done, err = sc.Visit(t.Context(), func(k, v []byte) bool {
				got = append(got, pair{string(k), string(v)})
				return len(got)%3 == 0
			}); err != nil {
				t.Fatal(err)
			}
			if before != sc.it && !done {
				renewed++
			}
			sc.made = time.Now().Add(-renewAfter)
			if len(got)%50 == 0 {
				put(round + len(got))
				if err := s.db.Flush(); err != nil {
					t.Fatal(err)
				}
			}
		}
		if err := sc.Close(); err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("round %d, %+v: %d pairs, want %d", round, opts, len(got), len(want))
		}
		if len(want) > 10 && renewed == 0 {
			t.Errorf("round %d: the iterator was never replaced", round)
		}
	}
}

// TestRenewClosedSnapshot: the iterator of a snapshot that was closed goes on.
func TestRenewClosedSnapshot(t *testing.T) {
	s := openEager(t)
	defer s.Close()
	tx, err := s.Begin(bg, storage.TxnOptions{MaxSize: 1 << 30})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint64(10) {
		if err := tx.Put(t.Context(), imageKey(1, i), []byte("x")); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := tx.Commit(t.Context()); err != nil {
		t.Fatal(err)
	}
	sn, err := s.Snapshot(bg)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := s.scan(t.Context(), sn.(*snapshot), storage.Span{Start: imageKey(1, 0), End: imageKey(1, 10)}, storage.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	sc, n := raw.(*scanner), 0
	one := func([]byte, []byte) bool { n++; return false }
	if _, err := sc.Visit(t.Context(), one); err != nil {
		t.Fatal(err)
	}
	if err := sn.Close(); err != nil {
		t.Fatal(err)
	}
	sc.made = time.Now().Add(-renewAfter)
	if len(collect(t, sc, 1))+n != 10 {
		t.Error("pairs are missing")
	}
}

// TestShrinkCache: the block cache gives up its blocks, and takes them again.
func TestShrinkCache(t *testing.T) {
	s := openEager(t)
	defer s.Close()
	size, spared := s.cache.MaxSize(), s.claims.claimed()
	for _, bytes := range []int64{1 << 20, 16 << 20, 0, 1 << 30, 5 << 20, 0} {
		s.ShrinkCache(bytes)
		if got := s.claims.claimed() - spared; got < bytes || got > bytes+s.claims.unit {
			t.Errorf("%d bytes are taken for %d", got, bytes)
		}
	}
	if s.cache.MaxSize() != size {
		t.Error("the cache is not as before")
	}
}
