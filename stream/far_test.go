package stream_test

import (
	"context"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/errkv"
	"github.com/sqlots/sqlots/stream"
)

// TestTrimBehindCommits: what is removed of a change log is never ahead of a commit that
// is under way, so who has read all before the mark has missed nothing.
func TestTrimBehindCommits(t *testing.T) {
	testflag.Normal(t)
	store := errkv.NewFar(errkv.FarOptions{Delay: 2 * time.Millisecond})
	defer store.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer cancel()
	var wg sync.WaitGroup
	for w := range uint64(4) {
		wg.Go(func() {
			r := rand.New(rand.NewPCG(w, 1))
			for ctx.Err() == nil {
				x, err := store.Begin(t.Context(), storage.TxnOptions{})
				if err == nil {
					err = new(stream.Appender).Append(x, id, &stream.Record{Kind: stream.Insert, Version: 1, Key: []byte{1}, After: []byte{1}})
				}
				if err == nil {
					_, err = x.Commit(t.Context())
				}
				if err != nil {
					t.Error(err)
				}
				time.Sleep(time.Duration(r.IntN(500)) * time.Microsecond)
			}
		})
	}
	wg.Go(func() {
		for ctx.Err() == nil {
			if err := stream.Trim(t.Context(), store, id, store.Seq(), 1); err != nil {
				t.Error(err)
			}
		}
	})
	seen := uint64(0)
	for ctx.Err() == nil {
		mark, err := stream.Mark(t.Context(), store.Latest(), id)
		if err != nil {
			t.Fatal(err)
		}
		if seen = max(seen, mark); seen == 0 {
			continue
		}
		// All that appears from now on comes after the mark.
		settled, err := store.Settled(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if settled < mark {
			t.Fatalf("the mark is at %d, settled is %d", mark, settled)
		}
	}
	wg.Wait()
	if seen == 0 {
		t.Fatal("nothing was removed")
	}
}
