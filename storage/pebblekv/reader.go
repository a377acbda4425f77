package pebblekv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"sync"
	"time"

	"github.com/cockroachdb/pebble/v2"

	"github.com/sqlots/sqlots/internal/invariants"
	"github.com/sqlots/sqlots/internal/step"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/txn"
)

const (
	// checkEvery is the number of pairs between two looks at a context.
	checkEvery = 256
	// yieldEvery is the number of such looks between two yields, about half a
	// millisecond: short queries need not wait until the runtime preempts a
	// long scan, which takes it 10 ms and a signal to the thread.
	yieldEvery = 16
)

// latest reads the latest state.
type latest Store

// Latest implements storage.Store.
func (s *Store) Latest() storage.Reader { return (*latest)(s) }

// Get implements storage.Reader.
func (l *latest) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	s := (*Store)(l)
	if err := s.enter(); err != nil {
		return dst, err
	}
	defer s.exit()
	return s.get(ctx, l, s.db, key, dst)
}

// BatchGet implements storage.Reader.
func (l *latest) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	s := (*Store)(l)
	if err := s.enter(); err != nil {
		return err
	}
	defer s.exit()
	return s.batchGet(ctx, l, s.db, keys, fn)
}

// Scan implements storage.Reader.
func (l *latest) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	s := (*Store)(l)
	return s.scanViews(ctx, l, s.db, span, opts)
}

// snapshot implements storage.Snapshot.
type snapshot struct {
	store *Store
	h     handle

	mu   sync.RWMutex // end takes it for writing
	snap *sharedSnapshot

	seqOnce sync.Once
	seq     uint64
}

// Snapshot implements storage.Store.
func (s *Store) Snapshot(context.Context) (storage.Snapshot, error) {
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.exit()
	before := s.shown.before()
	sn := &snapshot{store: s, snap: s.shareSnapshot()}
	if invariants.Enabled {
		if seq, ok := sn.snap.commit(); ok {
			s.shown.note(seq, before)
		}
	}
	sn.h.end = sn.end
	s.handles.add(&sn.h)
	s.opts.Steps.At(step.ViewTaken)
	return sn, nil
}

// SnapshotAt implements storage.Store. Commits take their times under the
// sequencer: it is held, so that none with such a time is still to be applied.
func (s *Store) SnapshotAt(ctx context.Context, micros int64) (storage.Snapshot, error) {
	s.sequencer.Lock()
	defer s.sequencer.Unlock()
	s.clock.Pass(micros)
	return s.Snapshot(ctx)
}

// use begins a call that reads the snapshot, and returns what ends it.
func (sn *snapshot) use() error {
	if err := sn.store.enter(); err != nil {
		return err
	}
	sn.mu.RLock()
	if sn.snap == nil {
		sn.done()
		return storage.ErrClosed
	}
	return nil
}

func (sn *snapshot) done() {
	sn.mu.RUnlock()
	sn.store.exit()
}

// Get implements storage.Reader.
func (sn *snapshot) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	if err := sn.use(); err != nil {
		return dst, err
	}
	defer sn.done()
	return sn.store.get(ctx, sn, sn.snap, key, dst)
}

// BatchGet implements storage.Reader. The iterator outlives the snapshot, so
// that fn runs without its mutex.
func (sn *snapshot) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	if err := sn.store.enter(); err != nil {
		return err
	}
	defer sn.store.exit()
	if storage.IsReadingFresh(ctx) {
		return sn.eachGet(ctx, keys, fn)
	}
	return sn.store.batchGet(ctx, sn, sn, keys, fn)
}

// eachGet is BatchGet key by key. Get ends at the first level that has the key, an
// iterator seeks in all of them: 2 µs instead of 8 for a key in the write buffer.
func (sn *snapshot) eachGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	var buf []byte
	for i, key := range keys {
		value, err := sn.Get(ctx, key, buf[:0])
		switch {
		case err == nil:
			buf = value
		case errors.Is(err, storage.ErrNotFound):
			value = nil
		default:
			return err
		}
		if err := fn(i, value); err != nil {
			return err
		}
	}
	return nil
}

// NewIterWithContext implements source.
func (sn *snapshot) NewIterWithContext(ctx context.Context, o *pebble.IterOptions) (*pebble.Iterator, error) {
	sn.mu.RLock()
	defer sn.mu.RUnlock()
	if sn.snap == nil {
		return nil, storage.ErrClosed
	}
	return sn.snap.NewIterWithContext(ctx, o)
}

// Scan implements storage.Reader.
func (sn *snapshot) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	return sn.store.scanViews(ctx, sn, sn, span, opts)
}

// scanViews scans an image of the span, or else src.
func (s *Store) scanViews(ctx context.Context, vs viewer, src iterSource, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	g, grouped := groupOfSpan(span)
	if grouped && ctx.Err() == nil && bytes.Compare(span.Start, span.End) < 0 {
		if v, ok := vs.view(g, nil); ok {
			return newImageScanner(s, g, v, span, opts), nil
		}
	}
	sc, err := s.scan(ctx, src, span, opts)
	if sc, ok := sc.(*scanner); ok {
		sc.group, sc.counted = g, grouped && !opts.Cold
	}
	return sc, err
}

// view implements viewer.
func (sn *snapshot) view(g group, key []byte) (v view, ok bool) {
	if sn.store.images.count.Load() == 0 || sn.use() != nil {
		return v, false
	}
	defer sn.done()
	return sn.store.images.find(g, key, sn.snap.commit)
}

// view implements viewer.
func (l *latest) view(g group, key []byte) (v view, ok bool) {
	s := (*Store)(l)
	if s.images.count.Load() == 0 {
		return v, false
	}
	return s.images.find(g, key, func() (uint64, bool) {
		seq, ok := s.visible()
		s.opts.Steps.At(step.LatestBound)
		return seq, ok
	})
}

// Seq implements storage.Snapshot. It is read from the state itself at the first call;
// 0 when that cannot be read.
func (sn *snapshot) Seq() uint64 {
	sn.seqOnce.Do(func() {
		if sn.use() != nil {
			return
		}
		defer sn.done()
		seq, ok := sn.snap.commit()
		if !ok {
			sn.store.opts.Logger.Error("snapshot: its sequence cannot be read")
		}
		sn.seq = seq
	})
	return sn.seq
}

// Settled implements storage.Snapshot.
func (sn *snapshot) Settled(context.Context) (uint64, error) { return sn.Seq(), nil }

// Close implements storage.Snapshot.
func (sn *snapshot) Close() error {
	// Close of the store must not pass while this one closes.
	if sn.store.enter() != nil {
		return nil
	}
	defer sn.store.exit()
	sn.store.handles.remove(&sn.h)
	sn.end()
	return nil
}

func (sn *snapshot) end() {
	sn.mu.Lock()
	defer sn.mu.Unlock()
	if sn.snap != nil {
		sn.snap.release()
		sn.snap = nil
	}
}

// getter is the part of source that get needs.
type getter interface {
	Get(key []byte) ([]byte, io.Closer, error)
}

// viewer finds views.
type viewer interface {
	// view is that of a group, or of one key of it, which may be nil.
	view(g group, key []byte) (view, bool)
}

func (s *Store) get(ctx context.Context, vs viewer, src getter, key, dst []byte) ([]byte, error) {
	if ctx.Err() != nil {
		return dst, context.Cause(ctx)
	}
	if txn.CheckKey(key) != nil {
		return dst, storage.ErrNotFound
	}
	if len(key) >= groupLen {
		g := group(key)
		if v, ok := vs.view(g, key); ok {
			var from place
			value := v.get(key, &from)
			s.served(g, v.im, 1)
			if value == nil {
				return dst, storage.ErrNotFound
			}
			return append(dst, value...), nil
		}
		s.noteSeeks(ctx, g, 1)
	}
	v, closer, err := src.Get(key)
	if err != nil {
		if err == pebble.ErrNotFound {
			return dst, storage.ErrNotFound
		}
		return dst, fmt.Errorf("get %x: %w", key, mapError(err))
	}
	dst = append(dst, v...)
	if err := closer.Close(); err != nil {
		return dst, fmt.Errorf("get %x: %w", key, mapError(err))
	}
	return dst, nil
}

// GetPresumedAbsent implements txn.Engine: a prefix seek may use the filters of
// the last level, which Get leaves out, and spares most misses a block.
func (s *Store) GetPresumedAbsent(ctx context.Context, key, dst []byte) ([]byte, error) {
	if err := s.enter(); err != nil {
		return dst, err
	}
	defer s.exit()
	if ctx.Err() != nil {
		return dst, context.Cause(ctx)
	}
	if s.absent(key) {
		return dst, storage.ErrNotFound
	}
	if len(key) >= groupLen {
		if v, ok := (*latest)(s).view(group(key), key); ok {
			var from place
			if value := v.get(key, &from); value != nil {
				return append(dst, value...), nil
			}
			return dst, storage.ErrNotFound
		}
	}
	it, err := s.db.NewIterWithContext(ctx, &pebble.IterOptions{UseL6Filters: true})
	if err != nil {
		return dst, mapError(err)
	}
	found := it.SeekPrefixGE(key)
	if found {
		var v []byte
		v, err = it.ValueAndErr()
		dst = append(dst, v...)
	}
	if err = errors.Join(err, it.Error(), it.Close()); err != nil {
		return dst, fmt.Errorf("get %x: %w", key, mapError(err))
	}
	if !found {
		return dst, storage.ErrNotFound
	}
	return dst, nil
}

// iterSource opens iterators.
type iterSource interface {
	NewIterWithContext(ctx context.Context, o *pebble.IterOptions) (*pebble.Iterator, error)
}

// batchGet reads keys from a view or through one iterator.
func (s *Store) batchGet(ctx context.Context, vs viewer, src iterSource, keys [][]byte, fn func(i int, value []byte) error) (err error) {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if len(keys) == 0 {
		return nil
	}
	if g, ok := groupOfKeys(keys); ok {
		if v, ok := vs.view(g, nil); ok {
			s.served(g, v.im, len(keys))
			return v.batchGet(ctx, keys, fn)
		}
		s.noteSeeks(ctx, g, int64(len(keys)))
	}
	it, err := src.NewIterWithContext(ctx, &pebble.IterOptions{})
	if err != nil {
		return mapError(err)
	}
	defer func() {
		if cerr := it.Close(); err == nil && cerr != nil {
			err = fmt.Errorf("batch get: %w", mapError(cerr))
		}
	}()
	w := keyWalk{it: it, step: len(keys) >= stepAgain}
	for i, key := range keys {
		if i%checkEvery == checkEvery-1 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		var value []byte
		// Reserved keys are never there for users.
		if txn.CheckKey(key) == nil && w.find(key) {
			if value, err = it.ValueAndErr(); err != nil {
				return fmt.Errorf("get %x: %w", key, mapError(err))
			}
		}
		if value == nil && it.Error() != nil {
			return fmt.Errorf("get %x: %w", key, mapError(it.Error()))
		}
		if err := fn(i, value); err != nil {
			return err
		}
	}
	return nil
}

// groupOfKeys is the group that all keys are of; false when they are of several.
func groupOfKeys(keys [][]byte) (g group, ok bool) {
	if len(keys[0]) < groupLen {
		return g, false
	}
	g = group(keys[0])
	for _, key := range keys[1:] {
		if !bytes.HasPrefix(key, g[:]) {
			return g, false
		}
	}
	return g, true
}

// batchGet implements storage.Reader.
func (v *view) batchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	var from place
	for i, key := range keys {
		if i%checkEvery == checkEvery-1 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := fn(i, v.get(key, &from)); err != nil {
			return err
		}
	}
	return nil
}

// keyWalk finds keys with one iterator. Scattered keys are sought as prefixes, so that
// the filters spare the levels that do not hold them. If each key is the neighbour of
// the one before, stepping is cheaper (45 ns against 90 and more). But a prefix seek
// ends at its prefix, so the choice comes before the seek: stepping is tried at the
// start of long batches and again now and then, and kept while it works.
type keyWalk struct {
	it     *pebble.Iterator
	prev   []byte // the last key sought
	placed bool   // it is at the first pair >= prev, or at the end
	step   bool   // find keys by stepping
	since  int    // keys since stepping was given up
}

const stepAgain = 64

func (w *keyWalk) find(key []byte) bool {
	if !w.step {
		if w.since++; w.since < stepAgain {
			return w.it.SeekPrefixGE(key)
		}
		w.since, w.step, w.placed = 0, true, false
	}
	ascending := w.placed && bytes.Compare(w.prev, key) <= 0
	w.prev = key
	if !ascending {
		w.placed = true
		return w.it.SeekGE(key) && bytes.Equal(w.it.Key(), key)
	}
	if !w.it.Valid() {
		return false // nothing after prev
	}
	// The iterator's pair may still be ahead of key, or be it.
	if c := bytes.Compare(w.it.Key(), key); c >= 0 {
		return c == 0
	}
	if !w.it.Next() {
		return false
	}
	c := bytes.Compare(w.it.Key(), key)
	if c >= 0 {
		return c == 0
	}
	w.step = false
	return w.it.SeekPrefixGE(key)
}

// scanner implements storage.Scanner straight on an iterator.
type scanner struct {
	store   *Store
	h       handle
	mu      sync.Mutex // held by Visit, against Close of the store
	it      *pebble.Iterator
	reverse bool
	keyOnly bool
	started bool
	runs    uint
	// The snapshot that is read, nil for the latest state, and the bounds, for renew.
	src    *snapshot
	bounds [96]byte
	lower  uint8 // length of the lower bound in bounds
	upper  uint8
	made   time.Time // of it; zero in the first Visit
	// counted scans are of a group, for which an image may be made.
	group   group
	counted bool
	read    int64
}

func (s *Store) scan(ctx context.Context, src iterSource, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := s.enter(); err != nil {
		return nil, err
	}
	defer s.exit()
	span = txn.UserSpan(span)
	if span.End != nil && bytes.Compare(span.Start, span.End) >= 0 {
		return emptyScanner{}, nil
	}
	// The context of the iterator must not end with that of the caller, which
	// may be another for each Visit.
	it, err := src.NewIterWithContext(context.WithoutCancel(ctx), &pebble.IterOptions{LowerBound: span.Start, UpperBound: span.End})
	if err != nil {
		return nil, mapError(err)
	}
	sc := &scanner{store: s, it: it, reverse: opts.Reverse, keyOnly: opts.KeyOnly}
	if sn, ok := src.(*snapshot); ok && span.End != nil && len(span.Start)+len(span.End) <= len(sc.bounds) {
		sc.src, sc.lower, sc.upper = sn, uint8(len(span.Start)), uint8(len(span.End))
		copy(sc.bounds[copy(sc.bounds[:], span.Start):], span.End)
	}
	sc.h.end = sc.end
	s.handles.add(&sc.h)
	return sc, nil
}

// step moves to the next pair.
func (sc *scanner) step() bool {
	if !sc.started {
		sc.started = true
		if sc.reverse {
			return sc.it.Last()
		}
		return sc.it.First()
	}
	if sc.reverse {
		return sc.it.Prev()
	}
	return sc.it.Next()
}

// Visit implements storage.Scanner.
func (sc *scanner) Visit(ctx context.Context, fn func(key, value []byte) bool) (bool, error) {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	if sc.it == nil {
		return false, storage.ErrClosed
	}
	if sc.started {
		sc.renewOld()
	}
	for {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		if sc.store.closing.Load() {
			return false, storage.ErrClosed
		}
		if sc.runs++; sc.runs%yieldEvery == 0 {
			runtime.Gosched()
			sc.renewOld()
		}
		if more, done, err := sc.run(fn); !more {
			if done && err == nil { // the consumer may keep the scanner for long
				sc.closeIter()
			}
			return done, err
		}
	}
}

// renewAfter is the age from which an iterator is replaced. It holds the write buffers
// and files that there were when it was made, whatever has become of them.
const renewAfter = 100 * time.Millisecond

// renewOld replaces an iterator that is old.
func (sc *scanner) renewOld() {
	switch {
	case sc.src == nil:
	case sc.made.IsZero():
		sc.made = time.Now()
	case time.Since(sc.made) >= renewAfter:
		sc.made = time.Now()
		sc.renew()
	}
}

// renew replaces the iterator by one at the same pair of the same snapshot. Where that is
// not possible the old one stays: of a snapshot that was closed, or after an error.
func (sc *scanner) renew() {
	if !sc.it.Valid() {
		return
	}
	lower, upper := sc.bounds[:sc.lower], sc.bounds[sc.lower:sc.lower+sc.upper]
	it, err := sc.src.NewIterWithContext(context.Background(), &pebble.IterOptions{LowerBound: lower, UpperBound: upper})
	if err != nil {
		return
	}
	old := it
	if it.SeekGE(sc.it.Key()) && bytes.Equal(it.Key(), sc.it.Key()) {
		old, sc.it = sc.it, it
	}
	if err := old.Close(); err != nil {
		sc.store.opts.Logger.Debug("closing an iterator", "err", err)
	}
}

// run delivers up to checkEvery pairs. more says that fn and the span want it
// to be called again.
func (sc *scanner) run(fn func(key, value []byte) bool) (more, done bool, err error) {
	it := sc.it
	forward := sc.started && !sc.reverse
	for range checkEvery {
		if forward {
			if !it.Next() {
				return false, it.Error() == nil, sc.failed()
			}
		} else if forward = !sc.reverse; !sc.step() {
			return false, it.Error() == nil, sc.failed()
		}
		var value []byte
		if !sc.keyOnly {
			if value, err = it.ValueAndErr(); err != nil {
				return false, false, fmt.Errorf("scan at %x: %w", it.Key(), mapError(err))
			}
		}
		sc.read += int64(len(it.Key()) + len(value))
		if !fn(it.Key(), value) {
			return false, false, nil
		}
	}
	return true, false, nil
}

// failed is the error that ended the iterator, nil at the end of the span.
func (sc *scanner) failed() error {
	if err := sc.it.Error(); err != nil {
		return fmt.Errorf("scan: %w", mapError(err))
	}
	return nil
}

// Close implements storage.Scanner.
func (sc *scanner) Close() error {
	if sc.store.enter() != nil {
		return nil // the store closes it
	}
	defer sc.store.exit()
	sc.store.handles.remove(&sc.h)
	sc.end()
	if sc.counted {
		sc.counted = false
		sc.store.noteScan(sc.group, sc.read)
	}
	return nil
}

func (sc *scanner) end() {
	sc.mu.Lock()
	defer sc.mu.Unlock()
	sc.closeIter()
}

func (sc *scanner) closeIter() {
	if sc.it != nil {
		if err := sc.it.Close(); err != nil {
			// Visit has reported it, or was never called.
			sc.store.opts.Logger.Debug("closing an iterator", "err", err)
		}
		sc.it = nil
	}
}

// emptyScanner is the scan of an empty span.
type emptyScanner struct{}

// Visit implements storage.Scanner.
func (emptyScanner) Visit(context.Context, func(key, value []byte) bool) (bool, error) {
	return true, nil
}

// Close implements storage.Scanner.
func (emptyScanner) Close() error { return nil }
