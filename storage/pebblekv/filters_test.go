package pebblekv

import (
	"errors"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
)

// TestFilters has writers look up keys as unique checks do while filters are made,
// filled, made again and dropped by bulk loads: a key whose commit has returned is
// always found, and one that was never set never.
func TestFilters(t *testing.T) {
	s := openEager(t)
	defer closeStore(t, s)
	var wg sync.WaitGroup
	const writers, rounds = 4, 3000
	for w := range uint64(writers) {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(1, w))
			have := map[uint64]bool{}
			g := byte(w % 2)
			ask := func(i uint64) {
				_, err := s.GetPresumedAbsent(bg, imageKey(g, i), nil)
				if found := err == nil; found != have[i] || err != nil && !errors.Is(err, storage.ErrNotFound) {
					t.Errorf("key %d of %d: found %v, want %v, %v", i, g, found, have[i], err)
				}
			}
			for n := range uint64(rounds) {
				i := (rng.Uint64N(4*rounds))*writers + w
				ask(i)
				tx, err := s.Begin(bg, storage.TxnOptions{Durability: storage.DurabilityNone})
				if err != nil {
					t.Error(err)
					return
				}
				if have[i] && rng.IntN(3) == 0 {
					err = tx.Delete(bg, imageKey(g, i))
					delete(have, i)
				} else {
					err = tx.Put(bg, imageKey(g, i), []byte("v"))
					have[i] = true
				}
				if _, cerr := tx.Commit(bg); errors.Join(err, cerr) != nil {
					t.Error(err, cerr)
				}
				ask(i)
				for range 3 {
					ask((rng.Uint64N(4*rounds))*writers + w)
				}
				if w == 0 && n%1000 == 999 {
					bulkPut(t, s, imageKey(g, 1<<40+n))
					if _, err := s.GetPresumedAbsent(bg, imageKey(g, 1<<40+n), nil); err != nil {
						t.Error(err)
					}
				}
			}
		}()
	}
	wg.Wait()
	for g := range byte(2) {
		gr := group(imageKey(g, 0))
		var f *filter
		for end := time.Now().Add(20 * time.Second); f == nil || !f.ready.Load(); f = s.filters.find(gr) {
			if time.Now().After(end) {
				t.Fatalf("no filter of group %d", g)
			}
			_, _ = s.GetPresumedAbsent(bg, imageKey(g, 1<<50), nil)
			time.Sleep(time.Millisecond)
		}
		wrong := 0
		for i := range uint64(10000) {
			if f.mayHave(imageKey(g, 1<<50+i)) {
				wrong++
			}
		}
		if wrong > 500 {
			t.Errorf("%d of 10000 absent keys pass the filter", wrong)
		}
		sc, err := s.Latest().Scan(bg, storage.Span{Start: gr[:], End: keyenc.PrefixEnd(gr[:])}, storage.ScanOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range collect(t, sc, 0) {
			if !f.mayHave([]byte(p.key)) {
				t.Fatalf("key %x does not pass its filter", p.key)
			}
		}
	}
	if n, size := s.filters.usage(); n != 2 || size == 0 || size > s.filters.limit {
		t.Errorf("%d filters of %d bytes", n, size)
	}
}

func bulkPut(t *testing.T, s *Store, key []byte) {
	bl, err := s.BulkLoad(bg)
	if err == nil {
		err = bl.Add(key, []byte("v"))
	}
	if err == nil {
		_, err = bl.Finish(bg)
	}
	if err != nil {
		t.Error(err)
	}
}

func BenchmarkFilter(b *testing.B) {
	f := newFilter(1 << 20)
	for i := range uint64(1 << 20) {
		f.add(imageKey(0, i))
	}
	key := imageKey(0, 0)
	for i := 0; b.Loop(); i++ {
		key[10] = byte(i)
		f.mayHave(key)
	}
}
