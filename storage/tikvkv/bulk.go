package tikvkv

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/txn"
)

// bulkPairs and bulkBytes bound a commit of FinishUnordered, bulkAtOnce is how many of them
// are under way.
const (
	bulkPairs  = 2000
	bulkBytes  = 4 << 20
	bulkAtOnce = 4
)

// bulkLoader implements storage.BulkLoader. It has the pairs in memory.
type bulkLoader struct {
	s    *Store
	own  bulkRun
	done atomic.Bool

	mu   sync.Mutex
	runs []*bulkRun
}

// bulkRun implements storage.BulkRun.
type bulkRun struct {
	b     *bulkLoader
	pairs []pair
}

// BulkLoad implements storage.Store.
func (s *Store) BulkLoad(ctx context.Context) (storage.BulkLoader, error) {
	if err := s.usable(ctx); err != nil {
		return nil, err
	}
	b := &bulkLoader{s: s}
	b.own.b = b
	return b, nil
}

// Add implements storage.BulkLoader.
func (b *bulkLoader) Add(key, value []byte) error { return b.own.Add(key, value) }

// Run implements storage.BulkLoader.
func (b *bulkLoader) Run() (storage.BulkRun, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.done.Load() {
		return nil, storage.ErrClosed
	}
	r := &bulkRun{b: b}
	b.runs = append(b.runs, r)
	return r, nil
}

// Add implements storage.BulkRun.
func (r *bulkRun) Add(key, value []byte) error {
	if r.b.done.Load() {
		return storage.ErrClosed
	}
	if err := txn.CheckPair(r.b.s.Caps(), key, value); err != nil {
		return err
	}
	if n := len(r.pairs); n > 0 && bytes.Compare(r.pairs[n-1].key, key) >= 0 {
		return fmt.Errorf("key %x after %x: %w", key, r.pairs[n-1].key, storage.ErrKeyOrder)
	}
	r.pairs = append(r.pairs, pair{bytes.Clone(key), bytes.Clone(value)})
	return nil
}

// Close implements storage.BulkRun.
func (r *bulkRun) Close() error { return nil }

// all ends the loader and returns its pairs in order.
func (b *bulkLoader) all(ctx context.Context) ([]pair, error) {
	if b.done.Swap(true) {
		return nil, storage.ErrClosed
	}
	if err := b.s.usable(ctx); err != nil {
		return nil, err
	}
	var runs [][]pair
	for _, r := range append(b.runs, &b.own) {
		if len(r.pairs) > 0 {
			runs = append(runs, r.pairs)
		}
	}
	slices.SortFunc(runs, func(x, y []pair) int { return bytes.Compare(x[0].key, y[0].key) })
	for i := 1; i < len(runs); i++ {
		if last := runs[i-1][len(runs[i-1])-1].key; bytes.Compare(last, runs[i][0].key) >= 0 {
			return nil, fmt.Errorf("a run from %x and one to %x: %w", runs[i][0].key, last, storage.ErrKeyOrder)
		}
	}
	return slices.Concat(runs...), nil
}

// Finish implements storage.BulkLoader: one commit, of the size of a transaction at most.
func (b *bulkLoader) Finish(ctx context.Context) (uint64, error) {
	pairs, err := b.all(ctx)
	if err != nil || len(pairs) == 0 {
		return b.s.Seq(), err
	}
	var size int64
	for _, p := range pairs {
		size += int64(len(p.key) + len(p.value))
	}
	if limit := b.s.Caps().MaxTxn; size > limit {
		return 0, &storage.LimitError{Class: storage.ErrTxnTooLarge, Size: size, Limit: limit}
	}
	return b.s.putPairs(ctx, pairs)
}

// FinishUnordered implements storage.BulkLoader: commits of bounded size, several at once.
func (b *bulkLoader) FinishUnordered(ctx context.Context) error {
	pairs, err := b.all(ctx)
	if err != nil {
		return err
	}
	return b.s.inParallel(ctx, func(add func(task func() error)) {
		for len(pairs) > 0 {
			part := pairs[:pieceOf(pairs)]
			pairs = pairs[len(part):]
			add(func() error {
				_, err := b.s.putPairs(ctx, part)
				return err
			})
		}
	})
}

// pieceOf is the number of pairs of the next commit.
func pieceOf(pairs []pair) int {
	size := 0
	for i, p := range pairs {
		if size += len(p.key) + len(p.value); i == bulkPairs || size > bulkBytes && i > 0 {
			return i
		}
	}
	return len(pairs)
}

// putPairs commits pairs whatever was there before.
func (s *Store) putPairs(ctx context.Context, pairs []pair) (uint64, error) {
	if !s.begin() {
		return 0, storage.ErrClosed
	}
	defer s.running.Done()
	t, err := s.beginBlind(ctx)
	if err != nil {
		return 0, err
	}
	return s.commitAs(ctx, t, noFlight, func(put func(key, value []byte) error) error {
		for _, p := range pairs {
			if err := put(p.key, p.value); err != nil {
				return err
			}
		}
		return nil
	})
}

// inParallel runs the tasks that fill adds, until one fails.
func (s *Store) inParallel(ctx context.Context, fill func(add func(task func() error))) error {
	var (
		wg    sync.WaitGroup
		slots = make(chan struct{}, bulkAtOnce)
		mu    sync.Mutex
		first error
	)
	failed := func(err error) bool {
		mu.Lock()
		defer mu.Unlock()
		if first == nil {
			first = err
		}
		return first != nil
	}
	fill(func(task func() error) {
		slots <- struct{}{}
		if failed(s.usable(ctx)) {
			<-slots
			return
		}
		wg.Add(1)
		if !s.background("bulk load", func() {
			defer func() { <-slots; wg.Done() }()
			failed(task())
		}) {
			<-slots
			wg.Done()
			failed(storage.ErrClosed)
		}
	})
	wg.Wait()
	return first
}

// Abort implements storage.BulkLoader.
func (b *bulkLoader) Abort() error {
	b.done.Store(true)
	b.runs, b.own.pairs = nil, nil
	return nil
}
