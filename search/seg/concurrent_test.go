package seg

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

// numbered is a batch that gives every of n documents the number of the batch.
func numbered(ix *Index, at uint64, n int) *Batch {
	b := ix.NewBatch()
	for i := range n {
		b.Upsert(fmt.Appendf(nil, "id%d", i))
		b.Word(fInt, int64(at))
		b.Key(fKey, nil, strconv.AppendUint(nil, at, 10))
		b.Text(fText, []Token{{Term: strconv.AppendUint(nil, at, 10), Pos: 1}}, 1)
	}
	b.Checkpoint(at)
	return b
}

// TestSnapshotsUnderWrites reads while batches and merges go on: a snapshot has all
// documents of its checkpoint, and does not change.
func TestSnapshotsUnderWrites(t *testing.T) {
	testflag.Normal(t)
	const n = 40
	ix := openTest(t, t.TempDir())
	if err := ix.Apply(numbered(ix, 1, n)); err != nil {
		t.Fatal(err)
	}
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				s, err := ix.Snapshot()
				if err != nil {
					t.Error(err)
					return
				}
				for range 2 {
					if err := checkNumbered(s, n); err != nil {
						t.Error(err)
					}
				}
				_ = s.Close()
			}
		})
	}
	wg.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				if err := ix.Merge(context.Background()); err != nil {
					t.Error(err)
					return
				}
			}
		}
	})
	for at := uint64(2); at < 80; at++ {
		if err := ix.Apply(numbered(ix, at, n)); err != nil {
			t.Fatal(err)
		}
	}
	close(stop)
	wg.Wait()
}

func checkNumbered(s *Snapshot, n int) error {
	c := s.Checkpoint()
	found, term := 0, strconv.AppendUint(nil, c, 10)
	for _, g := range s.Segments() {
		live, _ := g.Live()
		count := func(set []uint64) int {
			k := 0
			for i := range set {
				k += countBits([]uint64{set[i] & live[i]})
			}
			return k
		}
		set := make([]uint64, BitWords(g.Docs()))
		must(g.Words(fInt)).RangeInto(int64(c), int64(c), set)
		k := count(set)
		clear(set)
		keys := must(g.Keys(fKey))
		if class, ok := keys.FindKey(term); ok {
			keys.Into(class, class+1, set)
		}
		k2 := count(set)
		clear(set)
		must(must(must(g.Text(fText)).Terms()).Postings(term, nil)).Into(set)
		if k3 := count(set); k != k2 || k != k3 {
			return fmt.Errorf("checkpoint %d: %d, %d and %d documents of a segment", c, k, k2, k3)
		}
		found += k
	}
	if found != n || s.Docs() != n {
		return fmt.Errorf("checkpoint %d: %d documents of %d, want %d", c, found, s.Docs(), n)
	}
	return nil
}

// TestDiskTrouble takes the directory away: batches stay visible and are
// bounded, waiting for the disk fails, and all is well when it is back.
func TestDiskTrouble(t *testing.T) {
	testflag.Normal(t)
	dir := t.TempDir() + "/index"
	ix, err := Open(dir, testSchema(), Options{PersistEvery: time.Millisecond, MaxUnpersisted: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	defer ix.Close()
	// other documents in each batch, so that all of them stay
	add := func(at uint64) error {
		b := ix.NewBatch()
		for i := range 50 {
			b.Upsert(fmt.Appendf(nil, "%d of %d", i, at))
			b.Word(fInt, int64(at))
		}
		b.Checkpoint(at)
		return ix.Apply(b)
	}
	whole := func(at uint64) {
		t.Helper()
		s := must(ix.Snapshot())
		defer s.Close()
		if s.Checkpoint() != at || s.Docs() != int(50*at) {
			t.Errorf("%d documents of checkpoint %d, want %d", s.Docs(), s.Checkpoint(), at)
		}
		if err := s.checkState(); err != nil {
			t.Error(err)
		}
	}
	ctx := context.Background()
	if err := errors.Join(add(1), ix.Persist(ctx)); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(dir, dir+".away"); err != nil {
		t.Fatal(err)
	}
	at := uint64(1)
	for err == nil && at < 1000 {
		at++
		err = add(at)
	}
	if err == nil {
		t.Fatal("a thousand batches without a disk")
	}
	at--
	if ix.Durable() != 1 || ix.Err() == nil {
		t.Errorf("durable %d, error %v", ix.Durable(), ix.Err())
	}
	if err := ix.Persist(ctx); err == nil {
		t.Error("persisted without a disk")
	}
	whole(at)
	if err := os.Rename(dir+".away", dir); err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(20 * time.Second); ix.Durable() != at; {
		if time.Now().After(deadline) {
			t.Fatalf("durable %d, want %d: %v", ix.Durable(), at, ix.Err())
		}
		_ = ix.Persist(ctx)
		time.Sleep(10 * time.Millisecond)
	}
	if err := errors.Join(add(at+1), ix.Persist(ctx), ix.Err(), ix.Verify(ctx), ix.Close()); err != nil {
		t.Fatal(err)
	}
	ix = openTest(t, dir)
	whole(at + 1)
}

// TestSnapshotOutlivesIndex reads a snapshot after merges and Close.
func TestSnapshotOutlivesIndex(t *testing.T) {
	ix := openTest(t, t.TempDir())
	ctx := context.Background()
	for at := range uint64(5) {
		if err := errors.Join(ix.Apply(numbered(ix, at+1, 30)), ix.Persist(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	s := must(ix.Snapshot())
	if err := errors.Join(ix.Apply(numbered(ix, 6, 30)), ix.Merge(ctx), ix.Close()); err != nil {
		t.Fatal(err)
	}
	if err := checkNumbered(s, 30); err != nil || s.Checkpoint() != 5 {
		t.Fatalf("checkpoint %d: %v", s.Checkpoint(), err)
	}
	s.Close()
	if _, err := ix.Snapshot(); !errors.Is(err, ErrClosed) {
		t.Errorf("snapshot of a closed index: %v", err)
	}
	if err := ix.Apply(numbered(ix, 9, 1)); !errors.Is(err, ErrClosed) {
		t.Errorf("batch on a closed index: %v", err)
	}
}

// TestMergeIsDurable: an index that is closed right after a merge has one segment when it
// is opened again, also if what is in memory is seldom written.
func TestMergeIsDurable(t *testing.T) {
	dir, ctx := t.TempDir(), context.Background()
	open := func() *Index { return must(Open(dir, testSchema(), Options{PersistEvery: 200 * time.Millisecond})) }
	ix := open()
	for at := range uint64(2) {
		b := numbered(ix, at+1, 30+10*int(at))
		b.Upsert(fmt.Appendf(nil, "own %d", at))
		if err := errors.Join(ix.Apply(b), ix.Persist(ctx)); err != nil {
			t.Fatal(err)
		}
	}
	if s := must(ix.Scattered()); s.Segments < 2 {
		t.Fatalf("nothing to merge: %+v", s)
	}
	if err := errors.Join(ix.Merge(ctx), ix.Close()); err != nil {
		t.Fatal(err)
	}
	ix = open()
	defer ix.Close()
	if s := must(ix.Scattered()); s.Segments != 1 {
		t.Errorf("after a restart: %+v", s)
	}
}

// TestBatchErrors refuses what does not fit, and leaves the index alone.
func TestBatchErrors(t *testing.T) {
	ix := openTest(t, t.TempDir())
	r := rand.New(rand.NewPCG(1, 1))
	for name, spoil := range map[string]func(b *Batch){
		"no id":            func(b *Batch) { b.Upsert(nil) },
		"no document":      func(b *Batch) { b.Word(fInt, 1) },
		"no field":         func(b *Batch) { b.Upsert([]byte("a")); b.Word(999, 1) },
		"other kind":       func(b *Batch) { b.Upsert([]byte("a")); b.Key(fInt, nil, nil) },
		"array":            func(b *Batch) { b.Upsert([]byte("a")); b.Words(fInt, nil) },
		"no array":         func(b *Batch) { b.Upsert([]byte("a")); b.Word(fInts, 1) },
		"two values":       func(b *Batch) { b.Upsert([]byte("a")); b.Word(fInt, 1); b.Word(fInt, 1) },
		"keys and values":  func(b *Batch) { b.Upsert([]byte("a")); b.Keys(fKeys, nil, [][]byte{{1}}) },
		"child of nothing": func(b *Batch) { b.Child(7) },
		"no parent":        func(b *Batch) { b.Upsert([]byte("a")); b.Child(9) },
		"other parent":     func(b *Batch) { b.Upsert([]byte("a")); b.Child(7); b.Upsert([]byte("b")); b.Child(9) },
		"no path":          func(b *Batch) { b.Upsert([]byte("a")); b.Child(8) },
	} {
		b := ix.NewBatch()
		d := randomDoc(r, 0)
		if name != "no document" && name != "child of nothing" {
			b.Upsert([]byte("good"))
			d.put(b)
		}
		spoil(b)
		if err := ix.Apply(b); err == nil {
			t.Errorf("%s: applied", name)
		}
	}
	s := must(ix.Snapshot())
	defer s.Close()
	if s.Docs() != 0 {
		t.Errorf("%d documents", s.Docs())
	}
}
