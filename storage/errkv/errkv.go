package errkv

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/sqlots/sqlots/storage"
)

// Op is a kind of call.
type Op uint8

// The kinds of calls. A call counts for one kind, whichever reader or
// transaction it is made on.
const (
	OpGet Op = iota
	OpBatchGet
	OpScan  // opening a scan
	OpVisit // one Visit of a scan
	OpSnapshot
	OpBegin
	OpRefresh
	OpLock // Lock, Reserve and Insert
	OpPut  // Put, PutStamped, Insert and Delete
	OpCommit
	OpBulkLoad // starting a bulk load
	OpBulkAdd
	OpBulkFinish
	OpDiscard
	OpCheckpoint
	numOps
)

// plan is an arranged failure.
type plan struct {
	n     int64 // calls until it, 1 for the next
	every bool  // all calls from then on
	after bool  // fail after the wrapped call was made
	err   error
	bug   any // what to panic with instead
	// open, of a call that waits, is closed by Reset.
	open chan struct{}
}

// Store implements storage.Store. Its own methods may be called concurrently.
type Store struct {
	storage.Store
	mu      sync.Mutex
	calls   [numOps]int64
	plans   [numOps][]*plan
	stalled atomic.Int64
}

var _ storage.Store = (*Store)(nil)

// Wrap returns a Store that passes everything on to s until Fail is called.
func Wrap(s storage.Store) *Store { return &Store{Store: s} }

// Fail makes the n-th call of op from now (1 is the next one) return err
// without effect.
func (s *Store) Fail(op Op, n int64, err error) { s.add(op, &plan{n: n, err: err}) }

// FailFrom is like Fail for the n-th and all later calls, until Reset.
func (s *Store) FailFrom(op Op, n int64, err error) { s.add(op, &plan{n: n, every: true, err: err}) }

// FailAfter is like Fail, but the wrapped call takes place and only its answer
// is lost. It serves OpCommit, OpBulkFinish, OpDiscard and OpLock.
func (s *Store) FailAfter(op Op, n int64, err error) { s.add(op, &plan{n: n, after: true, err: err}) }

// Panic makes the n-th call of op from now panic with bug.
func (s *Store) Panic(op Op, n int64, bug any) { s.add(op, &plan{n: n, bug: bug}) }

// Stall makes the n-th call of op from now and all later ones wait until Reset, or
// until their context ends: then they return its cause. It serves the reads: OpGet,
// OpBatchGet, OpScan and OpVisit.
func (s *Store) Stall(op Op, n int64) {
	s.add(op, &plan{n: n, every: true, open: make(chan struct{})})
}

// Stalled is the number of calls that wait now.
func (s *Store) Stalled() int64 { return s.stalled.Load() }

func (s *Store) add(op Op, p *plan) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.plans[op] = append(s.plans[op], p)
}

// Reset forgets all arranged failures and counts.
func (s *Store) Reset() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, list := range s.plans {
		for _, p := range list {
			if p.open != nil {
				close(p.open)
			}
		}
	}
	s.calls = [numOps]int64{}
	s.plans = [numOps][]*plan{}
}

// Calls is the number of calls of op since Wrap or Reset.
func (s *Store) Calls(op Op) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.calls[op]
}

// hit counts a call. before is its failure without effect, after the one that
// replaces its answer.
func (s *Store) hit(op Op) (before, after error) {
	_, before, after = s.arranged(op)
	return before, after
}

// arranged is hit with what a stalled call waits for; nil for others.
func (s *Store) arranged(op Op) (open <-chan struct{}, before, after error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls[op]++
	for _, p := range s.plans[op] {
		if p.n--; p.n == 0 || (p.every && p.n < 0) {
			switch {
			case p.bug != nil:
				panic(p.bug)
			case p.open != nil:
				open = p.open
			case p.after:
				after = p.err
			default:
				before = p.err
			}
		}
	}
	return open, before, after
}

// check is hit for calls that only fail without effect.
func (s *Store) check(op Op) error {
	before, after := s.hit(op)
	if before == nil {
		return after
	}
	return before
}

// read is check for calls that can be stalled.
func (s *Store) read(ctx context.Context, op Op) error {
	open, before, after := s.arranged(op)
	if open != nil {
		s.stalled.Add(1)
		defer s.stalled.Add(-1)
		select {
		case <-open:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if before == nil {
		return after
	}
	return before
}

// Latest implements storage.Store.
func (s *Store) Latest() storage.Reader { return &reader{s, s.Store.Latest()} }

// Snapshot implements storage.Store.
func (s *Store) Snapshot(ctx context.Context) (storage.Snapshot, error) {
	if err := s.check(OpSnapshot); err != nil {
		return nil, err
	}
	sn, err := s.Store.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &snapshot{reader{s, sn}, sn}, nil
}

// SnapshotAt implements storage.Store.
func (s *Store) SnapshotAt(ctx context.Context, micros int64) (storage.Snapshot, error) {
	if err := s.check(OpSnapshot); err != nil {
		return nil, err
	}
	sn, err := s.Store.SnapshotAt(ctx, micros)
	if err != nil {
		return nil, err
	}
	return &snapshot{reader{s, sn}, sn}, nil
}

// Begin implements storage.Store.
func (s *Store) Begin(ctx context.Context, opts storage.TxnOptions) (storage.Txn, error) {
	if err := s.check(OpBegin); err != nil {
		return nil, err
	}
	x, err := s.Store.Begin(ctx, opts)
	if err != nil {
		return nil, err
	}
	return &txn{Txn: x, r: reader{s, x}}, nil
}

// BulkLoad implements storage.Store.
func (s *Store) BulkLoad(ctx context.Context) (storage.BulkLoader, error) {
	if err := s.check(OpBulkLoad); err != nil {
		return nil, err
	}
	b, err := s.Store.BulkLoad(ctx)
	if err != nil {
		return nil, err
	}
	return &bulkLoader{b, s}, nil
}

// Discard implements storage.Store.
func (s *Store) Discard(ctx context.Context, span storage.Span) error {
	before, after := s.hit(OpDiscard)
	if before != nil {
		return before
	}
	_, err := answer(0, s.Store.Discard(ctx, span), after)
	return err
}

// Checkpoint implements storage.Store.
func (s *Store) Checkpoint(dir string) error {
	if err := s.check(OpCheckpoint); err != nil {
		return err
	}
	return s.Store.Checkpoint(dir)
}

// answer loses the answer of a call when after is set.
func answer(seq uint64, err, after error) (uint64, error) {
	if after != nil {
		return 0, after
	}
	return seq, err
}

// reader implements storage.Reader.
type reader struct {
	s *Store
	r storage.Reader
}

// Get implements storage.Reader.
func (r *reader) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	if err := r.s.read(ctx, OpGet); err != nil {
		return dst, err
	}
	return r.r.Get(ctx, key, dst)
}

// BatchGet implements storage.Reader.
func (r *reader) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	if err := r.s.read(ctx, OpBatchGet); err != nil {
		return err
	}
	return r.r.BatchGet(ctx, keys, fn)
}

// Scan implements storage.Reader.
func (r *reader) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	if err := r.s.read(ctx, OpScan); err != nil {
		return nil, err
	}
	sc, err := r.r.Scan(ctx, span, opts)
	if err != nil {
		return nil, err
	}
	return &scanner{sc, r.s}, nil
}

// ScanMany implements storage.ManyScanner; it counts as one scan.
func (r *reader) ScanMany(ctx context.Context, spans []storage.Span, opts storage.ScanOptions) (storage.SpansScanner, error) {
	if err := r.s.read(ctx, OpScan); err != nil {
		return nil, err
	}
	sc, err := storage.ScanMany(ctx, r.r, spans, opts)
	if err != nil {
		return nil, err
	}
	return &spansScanner{sc, r.s}, nil
}

type spansScanner struct {
	storage.SpansScanner
	s *Store
}

// Visit implements storage.SpansScanner.
func (sc *spansScanner) Visit(ctx context.Context, fn func(i int, key, value []byte) bool) (bool, error) {
	if err := sc.s.read(ctx, OpVisit); err != nil {
		return false, err
	}
	return sc.SpansScanner.Visit(ctx, fn)
}

type scanner struct {
	storage.Scanner
	s *Store
}

// Visit implements storage.Scanner.
func (sc *scanner) Visit(ctx context.Context, fn func(key, value []byte) bool) (bool, error) {
	if err := sc.s.read(ctx, OpVisit); err != nil {
		return false, err
	}
	return sc.Scanner.Visit(ctx, fn)
}

type snapshot struct {
	reader
	sn storage.Snapshot
}

// Seq implements storage.Snapshot.
func (s *snapshot) Seq() uint64 { return s.sn.Seq() }

// Settled implements storage.Snapshot.
func (s *snapshot) Settled(ctx context.Context) (uint64, error) { return s.sn.Settled(ctx) }

// Close implements storage.Snapshot.
func (s *snapshot) Close() error { return s.sn.Close() }

// txn implements storage.Txn.
type txn struct {
	storage.Txn
	r reader
}

// Get implements storage.Reader.
func (x *txn) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	return x.r.Get(ctx, key, dst)
}

// BatchGet implements storage.Reader.
func (x *txn) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	return x.r.BatchGet(ctx, keys, fn)
}

// Scan implements storage.Reader.
func (x *txn) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	return x.r.Scan(ctx, span, opts)
}

// ScanMany implements storage.ManyScanner.
func (x *txn) ScanMany(ctx context.Context, spans []storage.Span, opts storage.ScanOptions) (storage.SpansScanner, error) {
	return x.r.ScanMany(ctx, spans, opts)
}

// View implements storage.Txn.
func (x *txn) View() (storage.Reader, uint64) {
	r, seq := x.Txn.View()
	if r == nil {
		return nil, 0
	}
	return &reader{x.r.s, r}, seq
}

// BareView implements storage.Txn.
func (x *txn) BareView(ctx context.Context) (storage.Snapshot, error) {
	v, err := x.Txn.BareView(ctx)
	if err != nil {
		return nil, err
	}
	return &snapshot{reader{x.r.s, v}, v}, nil
}

// Latest implements storage.Txn.
func (x *txn) Latest() storage.Reader { return &reader{x.r.s, x.Txn.Latest()} }

// Committed implements storage.Txn.
func (x *txn) Committed() storage.Reader { return &reader{x.r.s, x.Txn.Committed()} }

// LatestView implements storage.Txn.
func (x *txn) LatestView(ctx context.Context) (storage.Snapshot, error) {
	if err := x.r.s.check(OpSnapshot); err != nil {
		return nil, err
	}
	v, err := x.Txn.LatestView(ctx)
	if err != nil {
		return nil, err
	}
	return &snapshot{reader{x.r.s, v}, v}, nil
}

// Refresh implements storage.Txn.
func (x *txn) Refresh(ctx context.Context) error {
	if err := x.r.s.check(OpRefresh); err != nil {
		return err
	}
	return x.Txn.Refresh(ctx)
}

// Lock implements storage.Txn.
func (x *txn) Lock(ctx context.Context, keys [][]byte, opts storage.LockOptions) ([]storage.Locked, error) {
	before, after := x.r.s.hit(OpLock)
	if before != nil {
		return nil, before
	}
	got, err := x.Txn.Lock(ctx, keys, opts)
	if after != nil {
		return nil, after
	}
	return got, err
}

// LockRange implements storage.Txn.
func (x *txn) LockRange(ctx context.Context, span storage.Span, wait storage.WaitPolicy) error {
	if err := x.r.s.check(OpLock); err != nil {
		return err
	}
	return x.Txn.LockRange(ctx, span, wait)
}

// Locking implements storage.Txn.
func (x *txn) Locking(wait storage.WaitPolicy) storage.Reader {
	return &reader{x.r.s, x.Txn.Locking(wait)}
}

// Watch implements storage.Txn.
func (x *txn) Watch(wait storage.WaitPolicy) storage.Watch {
	w := x.Txn.Watch(wait)
	return &watch{reader{x.r.s, w}, w}
}

// watch implements storage.Watch.
type watch struct {
	reader
	w storage.Watch
}

// Lock implements storage.Watch.
func (w *watch) Lock(ctx context.Context) (bool, error) {
	if err := w.s.check(OpLock); err != nil {
		return false, err
	}
	return w.w.Lock(ctx)
}

// Stop implements storage.Watch.
func (w *watch) Stop() { w.w.Stop() }

// Reserve implements storage.Txn.
func (x *txn) Reserve(ctx context.Context, keys [][]byte) error {
	if err := x.r.s.check(OpLock); err != nil {
		return err
	}
	return x.Txn.Reserve(ctx, keys)
}

// Insert implements storage.Txn.
func (x *txn) Insert(ctx context.Context, key, value []byte) error {
	if err := x.r.s.check(OpLock); err != nil {
		return err
	}
	if err := x.r.s.check(OpPut); err != nil {
		return err
	}
	return x.Txn.Insert(ctx, key, value)
}

// Put implements storage.Txn.
func (x *txn) Put(ctx context.Context, key, value []byte) error {
	if err := x.r.s.check(OpPut); err != nil {
		return err
	}
	return x.Txn.Put(ctx, key, value)
}

// Delete implements storage.Txn.
func (x *txn) Delete(ctx context.Context, key []byte) error {
	if err := x.r.s.check(OpPut); err != nil {
		return err
	}
	return x.Txn.Delete(ctx, key)
}

// PutStamped implements storage.Txn.
func (x *txn) PutStamped(key, value []byte, at storage.Stamp) error {
	if err := x.r.s.check(OpPut); err != nil {
		return err
	}
	return x.Txn.PutStamped(key, value, at)
}

// Commit implements storage.Txn. A failed commit ends the transaction, as the
// contract says.
func (x *txn) Commit(ctx context.Context) (uint64, error) {
	before, after := x.r.s.hit(OpCommit)
	if before != nil {
		x.Rollback()
		return 0, before
	}
	seq, err := x.Txn.Commit(ctx)
	return answer(seq, err, after)
}

// bulkLoader implements storage.BulkLoader.
type bulkLoader struct {
	storage.BulkLoader
	s *Store
}

// Add implements storage.BulkLoader.
func (b *bulkLoader) Add(key, value []byte) error {
	if err := b.s.check(OpBulkAdd); err != nil {
		return err
	}
	return b.BulkLoader.Add(key, value)
}

// Run implements storage.BulkLoader.
func (b *bulkLoader) Run() (storage.BulkRun, error) {
	r, err := b.BulkLoader.Run()
	if err != nil {
		return nil, err
	}
	return &bulkRun{r, b.s}, nil
}

// bulkRun implements storage.BulkRun.
type bulkRun struct {
	storage.BulkRun
	s *Store
}

// Add implements storage.BulkRun.
func (r *bulkRun) Add(key, value []byte) error {
	if err := r.s.check(OpBulkAdd); err != nil {
		return err
	}
	return r.BulkRun.Add(key, value)
}

// Finish implements storage.BulkLoader.
func (b *bulkLoader) Finish(ctx context.Context) (uint64, error) {
	before, after := b.s.hit(OpBulkFinish)
	if before != nil {
		return 0, before
	}
	seq, err := b.BulkLoader.Finish(ctx)
	return answer(seq, err, after)
}

// FinishUnordered implements storage.BulkLoader.
func (b *bulkLoader) FinishUnordered(ctx context.Context) error {
	before, after := b.s.hit(OpBulkFinish)
	if before != nil {
		return before
	}
	_, err := answer(0, b.BulkLoader.FinishUnordered(ctx), after)
	return err
}
