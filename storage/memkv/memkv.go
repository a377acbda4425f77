package memkv

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/tidwall/btree"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/txn"
)

// Options shape a store. The zero value is usable.
type Options struct {
	// Caps are the limits; zero fields take storage.DefaultCaps.
	Caps storage.Caps
}

type pair struct{ key, value []byte }

type tree = btree.BTreeG[pair]

func newTree() *tree {
	return btree.NewBTreeGOptions(func(a, b pair) bool { return bytes.Compare(a.key, b.key) < 0 },
		btree.Options{NoLocks: true})
}

// state is one committed state; it is immutable.
type state struct {
	tree *tree
	seq  uint64
}

// Store implements storage.Store in memory.
type Store struct {
	*txn.Manager
	mu     sync.Mutex // guards tree, and seq against it
	tree   *tree
	frozen *state // the current state, once a reader needs it
	seq    atomic.Uint64
	clock  txn.Clock // under mu
	marks  txn.Marks
	closed atomic.Bool
}

var (
	_ storage.Store = (*Store)(nil)
	_ txn.Engine    = (*Store)(nil)
)

// New returns an empty store.
func New(opts Options) *Store {
	s := &Store{tree: newTree()}
	s.Manager = txn.NewManager(s, opts.Caps)
	return s
}

// current freezes the committed state.
func (s *Store) current() (*state, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return nil, storage.ErrClosed
	}
	if s.frozen == nil {
		s.frozen = &state{tree: s.tree.Copy(), seq: s.seq.Load()}
	}
	return s.frozen, nil
}

// commit applies change to the tree as one commit.
func (s *Store) commit(change func(t *tree)) (uint64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return 0, storage.ErrClosed
	}
	s.frozen = nil
	change(s.tree)
	return s.seq.Add(1), nil
}

// Latest implements storage.Store.
func (s *Store) Latest() storage.Reader { return (*latest)(s) }

// Snapshot implements storage.Store.
func (s *Store) Snapshot(context.Context) (storage.Snapshot, error) {
	st, err := s.current()
	if err != nil {
		return nil, err
	}
	return &snapshot{store: s, st: st}, nil
}

// SnapshotAt implements storage.Store.
func (s *Store) SnapshotAt(ctx context.Context, micros int64) (storage.Snapshot, error) {
	s.mu.Lock()
	s.clock.Pass(micros)
	s.mu.Unlock()
	return s.Snapshot(ctx)
}

// Seq implements storage.Store.
func (s *Store) Seq() uint64 { return s.seq.Load() }

// Settled implements storage.Store.
func (s *Store) Settled(context.Context) (uint64, error) { return s.seq.Load(), nil }

// Commits implements storage.Store.
func (s *Store) Commits() uint64 { return s.seq.Load() }

// Mark implements storage.Store.
func (s *Store) Mark(prefix []byte) *storage.Watermark {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.marks.Mark(prefix, s.seq.Load())
}

// Sync implements storage.Store.
func (s *Store) Sync(context.Context, uint64) error { return nil }

// GetPresumedAbsent implements txn.Engine.
func (s *Store) GetPresumedAbsent(ctx context.Context, key, dst []byte) ([]byte, error) {
	return s.Latest().Get(ctx, key, dst)
}

// Apply implements txn.Engine.
func (s *Store) Apply(_ context.Context, b *txn.Buffer, _ storage.Durability, visible func(uint64)) (uint64, error) {
	seq, err := s.commit(func(t *tree) {
		if b.Stamped() > 0 {
			s.putStamped(t, b)
		}
		b.Each(func(key, value []byte) bool {
			if value == nil {
				t.Delete(pair{key: key})
				return true
			}
			// The transaction's memory is shared with other entries of it, so
			// the tree takes copies.
			t.Set(newPair(key, value))
			return true
		})
	})
	if err == nil {
		visible(seq)
	}
	return seq, err
}

// putStamped adds the stamped writes of the commit that is being made.
func (s *Store) putStamped(t *tree, b *txn.Buffer) {
	seq, now := s.seq.Load()+1, s.clock.Next()
	raise := s.marks.Raise(seq)
	b.EachStamped(func(key, value []byte, at storage.Stamp) bool {
		p := newPair(key, value)
		txn.Fill(p.key, p.value, at, seq, now)
		raise.Wrote(p.key, at)
		t.Set(p)
		return true
	})
}

func newPair(key, value []byte) pair {
	b := append(append(make([]byte, 0, len(key)+len(value)), key...), value...)
	return pair{key: b[:len(key):len(key)], value: b[len(key):]}
}

// Discard implements storage.Store.
func (s *Store) Discard(ctx context.Context, span storage.Span) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	_, err := s.commit(func(t *tree) {
		var keys [][]byte
		t.Ascend(pair{key: span.Start}, func(p pair) bool {
			if span.End != nil && bytes.Compare(p.key, span.End) >= 0 {
				return false
			}
			keys = append(keys, p.key)
			return true
		})
		for _, key := range keys {
			t.Delete(pair{key: key})
		}
	})
	return err
}

// minPart is the number of pairs below which a piece is not worth a scan.
const minPart = 64

// Partitions implements storage.Store.
func (s *Store) Partitions(_ context.Context, span storage.Span, n int) []storage.Span {
	st, err := s.current()
	if err != nil || n <= 1 {
		return []storage.Span{span}
	}
	var keys [][]byte
	walk(st.tree, span, func(p pair) { keys = append(keys, p.key) })
	n = min(n, len(keys)/minPart)
	if n <= 1 {
		return []storage.Span{span}
	}
	parts := make([]storage.Span, 0, n)
	start := span.Start
	for i := 1; i < n; i++ {
		cut := keys[i*len(keys)/n]
		parts = append(parts, storage.Span{Start: start, End: cut})
		start = cut
	}
	return append(parts, storage.Span{Start: start, End: span.End})
}

// EstimateSize implements storage.Store; here it is exact.
func (s *Store) EstimateSize(_ context.Context, span storage.Span) (int64, error) {
	st, err := s.current()
	if err != nil {
		return 0, err
	}
	var n int64
	walk(st.tree, span, func(p pair) { n += int64(len(p.key) + len(p.value)) })
	return n, nil
}

func walk(t *tree, span storage.Span, fn func(p pair)) {
	t.Ascend(pair{key: span.Start}, func(p pair) bool {
		if span.End != nil && bytes.Compare(p.key, span.End) >= 0 {
			return false
		}
		fn(p)
		return true
	})
}

// BulkLoad implements storage.Store.
func (s *Store) BulkLoad(ctx context.Context) (storage.BulkLoader, error) {
	if s.closed.Load() {
		return nil, storage.ErrClosed
	}
	b := &bulkLoader{s: s}
	b.own.b = b
	return b, nil
}

// Metrics implements storage.Store.
func (s *Store) Metrics() map[string]int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	out := map[string]int64{
		"keys":    int64(s.tree.Len()),
		"seq":     int64(s.seq.Load()),
		"commits": int64(s.seq.Load()),
	}
	s.LockMetrics(out)
	return out
}

// Checkpoint implements storage.Store; it always fails with storage.ErrNoFiles.
func (s *Store) Checkpoint(string) error { return storage.ErrNoFiles }

// Close implements storage.Store. It is idempotent.
func (s *Store) Close() error {
	s.Manager.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.closed.Store(true)
	s.tree, s.frozen = newTree(), nil
	return nil
}

// bulkLoader implements storage.BulkLoader.
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
	r.pairs = append(r.pairs, newPair(key, value))
	return nil
}

// Close implements storage.BulkRun.
func (r *bulkRun) Close() error { return nil }

// Finish implements storage.BulkLoader.
func (b *bulkLoader) Finish(ctx context.Context) (uint64, error) {
	if b.done.Swap(true) {
		return 0, storage.ErrClosed
	}
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	var runs [][]pair
	for _, r := range append(b.runs, &b.own) {
		if len(r.pairs) > 0 {
			runs = append(runs, r.pairs)
		}
	}
	if len(runs) == 0 {
		return b.s.Seq(), nil
	}
	slices.SortFunc(runs, func(x, y []pair) int { return bytes.Compare(x[0].key, y[0].key) })
	for i := 1; i < len(runs); i++ {
		if last := runs[i-1][len(runs[i-1])-1].key; bytes.Compare(last, runs[i][0].key) >= 0 {
			return 0, fmt.Errorf("a run from %x and one to %x: %w", runs[i][0].key, last, storage.ErrKeyOrder)
		}
	}
	return b.s.commit(func(t *tree) {
		for _, pairs := range runs {
			for _, p := range pairs {
				t.Set(p)
			}
		}
	})
}

// FinishUnordered implements storage.BulkLoader.
func (b *bulkLoader) FinishUnordered(ctx context.Context) error {
	_, err := b.Finish(ctx)
	return err
}

// Abort implements storage.BulkLoader.
func (b *bulkLoader) Abort() error {
	b.done.Store(true)
	b.runs, b.own.pairs = nil, nil
	return nil
}
