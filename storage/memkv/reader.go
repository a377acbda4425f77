package memkv

import (
	"bytes"
	"context"
	"sync/atomic"

	"github.com/tidwall/btree"

	"github.com/sqlots/sqlots/storage"
)

// latest reads the committed state of each call.
type latest Store

// Get implements storage.Reader.
func (l *latest) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	st, err := (*Store)(l).current()
	if err != nil {
		return dst, err
	}
	return get(ctx, st, key, dst)
}

// BatchGet implements storage.Reader.
func (l *latest) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	st, err := (*Store)(l).current()
	if err != nil {
		return err
	}
	return batchGet(ctx, st, keys, fn)
}

// Scan implements storage.Reader.
func (l *latest) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	st, err := (*Store)(l).current()
	if err != nil {
		return nil, err
	}
	return newScanner(ctx, (*Store)(l), st, span, opts)
}

// snapshot implements storage.Snapshot.
type snapshot struct {
	store  *Store
	st     *state
	closed atomic.Bool
}

func (s *snapshot) usable() error {
	if s.closed.Load() || s.store.closed.Load() {
		return storage.ErrClosed
	}
	return nil
}

// Get implements storage.Reader.
func (s *snapshot) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	if err := s.usable(); err != nil {
		return dst, err
	}
	return get(ctx, s.st, key, dst)
}

// BatchGet implements storage.Reader.
func (s *snapshot) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	if err := s.usable(); err != nil {
		return err
	}
	return batchGet(ctx, s.st, keys, fn)
}

// Scan implements storage.Reader.
func (s *snapshot) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	if err := s.usable(); err != nil {
		return nil, err
	}
	return newScanner(ctx, s.store, s.st, span, opts)
}

// Seq implements storage.Snapshot.
func (s *snapshot) Seq() uint64 { return s.st.seq }

// Settled implements storage.Snapshot.
func (s *snapshot) Settled(context.Context) (uint64, error) { return s.st.seq, nil }

// Close implements storage.Snapshot.
func (s *snapshot) Close() error {
	s.closed.Store(true)
	return nil
}

func get(ctx context.Context, st *state, key, dst []byte) ([]byte, error) {
	if ctx.Err() != nil {
		return dst, context.Cause(ctx)
	}
	p, ok := st.tree.Get(pair{key: key})
	if !ok {
		return dst, storage.ErrNotFound
	}
	return append(dst, p.value...), nil
}

func batchGet(ctx context.Context, st *state, keys [][]byte, fn func(i int, value []byte) error) error {
	for i, key := range keys {
		if i%256 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		p, _ := st.tree.Get(pair{key: key})
		if err := fn(i, p.value); err != nil {
			return err
		}
	}
	return nil
}

// scanner implements storage.Scanner.
type scanner struct {
	store   *Store
	it      btree.IterG[pair]
	span    storage.Span
	opts    storage.ScanOptions
	started bool
	closed  bool
	steps   int
}

func newScanner(ctx context.Context, s *Store, st *state, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	opts.Reuse = nil
	return &scanner{store: s, it: st.tree.Iter(), span: span, opts: opts}, nil
}

// step moves to the next pair of the span.
func (s *scanner) step() bool {
	ok := false
	switch {
	case s.started && s.opts.Reverse:
		ok = s.it.Prev()
	case s.started:
		ok = s.it.Next()
	case !s.opts.Reverse:
		ok = s.it.Seek(pair{key: s.span.Start})
	case s.span.End != nil && s.it.Seek(pair{key: s.span.End}):
		ok = s.it.Prev()
	default:
		ok = s.it.Last()
	}
	s.started = true
	if !ok {
		return false
	}
	key := s.it.Item().key
	if s.opts.Reverse {
		return bytes.Compare(key, s.span.Start) >= 0
	}
	return s.span.End == nil || bytes.Compare(key, s.span.End) < 0
}

// Visit implements storage.Scanner.
func (s *scanner) Visit(ctx context.Context, fn func(key, value []byte) bool) (bool, error) {
	if s.closed || s.store.closed.Load() {
		return false, storage.ErrClosed
	}
	for {
		if s.steps%256 == 0 && ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		s.steps++
		if !s.step() {
			return true, nil
		}
		p := s.it.Item()
		if s.opts.KeyOnly {
			p.value = nil
		}
		if !fn(p.key, p.value) {
			return false, nil
		}
	}
}

// Lasting implements storage.LastingScanner: pairs are replaced, not written to.
func (s *scanner) Lasting() bool { return true }

// Close implements storage.Scanner.
func (s *scanner) Close() error {
	s.closed = true
	return nil
}
