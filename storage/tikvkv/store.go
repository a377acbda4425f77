package tikvkv

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/oracle"
	"github.com/tikv/client-go/v2/tikv"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/metrics"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/txn"
)

// Lease says how long this node is a member of its cluster. Its methods may be called
// concurrently.
type Lease interface {
	// Until is the timestamp at which the lease ends; it only grows.
	Until() uint64
	// Fresh reports that the lease holds now, by a clock of this machine that does not
	// go back, with enough of it left for a read.
	Fresh() bool
}

// Options shape a store. The zero value is usable.
type Options struct {
	// Prefix comes before all keys: several stores share a cluster.
	Prefix []byte
	// Lease, when set, bounds commits and reads.
	Lease Lease
	// MaxTxn is the limit of a transaction, in bytes; 0 for 256 MiB. Its memory is twice
	// that, as client-go has a copy while it commits.
	MaxTxn int64
	// Lost, when set, is called when another node has taken the store (Join).
	Lost func(error)
	// Log gets what client-go reports; nil for slog.Default. It is the log of the whole
	// process.
	Log *slog.Logger

	// calls has counted the calls of the client until now; nil for none.
	calls *calls
	// lease and renew are leaseTime and renewEvery, unless a test has others.
	lease, renew time.Duration
}

const defaultMaxTxn = 256 << 20

// Store implements storage.Store on a TiKV cluster.
type Store struct {
	*txn.Manager
	kv     *tikv.KVStore
	prefix []byte
	end    []byte // after the last key with the prefix; nil without
	lease  Lease
	member *member // nil without Join
	calls  *calls
	log    *slog.Logger

	// ctx ends with the store.
	ctx    context.Context
	cancel context.CancelFunc
	closed atomic.Bool
	// running are the calls of client-go that may outlast those of this package.
	running sync.WaitGroup

	seen atomic.Uint64 // the greatest timestamp that this store got
	// untimed: servers do not say when a value was committed, so the latest state of a key
	// is read at a timestamp. Else that read needs none.
	untimed atomic.Bool
	flight  flight
	marks   txn.Marks
	marked  sync.Mutex

	mu       sync.Mutex
	remotes  map[*remote]struct{} // with an open transaction of client-go
	deadlock atomic.Pointer[storage.Deadlock]

	commits, conflicts, unknown, deadlocks, waits atomic.Int64
}

var (
	_ storage.Store   = (*Store)(nil)
	_ txn.RemoteStore = (*Store)(nil)
)

// New makes a store of an open client, which it closes with itself, also when it fails.
func New(ctx context.Context, kv *tikv.KVStore, opts Options) (*Store, error) {
	return newStore(ctx, kv, opts, nil)
}

func newStore(ctx context.Context, kv *tikv.KVStore, opts Options, m *member) (*Store, error) {
	s := &Store{member: m, kv: kv, prefix: opts.Prefix, end: prefixEnd(opts.Prefix), lease: opts.Lease, log: opts.Log, calls: opts.calls, remotes: make(map[*remote]struct{})}
	if s.calls == nil {
		s.calls = newCalls()
	}
	kv.SetTiKVClient(countedClient{kv.GetTiKVClient(), s.calls})
	if s.log == nil {
		s.log = slog.Default()
	}
	logTo(s.log)
	s.ctx, s.cancel = context.WithCancel(context.Background())
	caps := storage.Caps{MaxTxn: opts.MaxTxn, Remote: true}
	if caps.MaxTxn <= 0 {
		caps.MaxTxn = defaultMaxTxn
	}
	s.Manager = txn.NewRemoteManager(s, caps)
	if _, err := s.now(ctx); err != nil {
		return nil, fmt.Errorf("the placement driver does not answer: %w (close: %v)", err, s.Close())
	}
	return s, nil
}

// Writable returns the error that a write meets while the lease of this node is over, or
// will soon be.
func (s *Store) Writable() error {
	switch {
	case s.closed.Load():
		return storage.ErrClosed
	case s.lease != nil && !s.lease.Fresh():
		return errLease
	}
	return nil
}

// ID is a name that no other store has; "" without Join.
func (s *Store) ID() string {
	if s.member == nil {
		return ""
	}
	return s.member.store
}

// prefixEnd is the first key after those with a prefix; nil when there is none.
func prefixEnd(prefix []byte) []byte {
	for i := len(prefix) - 1; i >= 0; i-- {
		if prefix[i] != 0xFF {
			end := append([]byte(nil), prefix[:i+1]...)
			end[i]++
			return end
		}
	}
	return nil
}

// out makes the key of the cluster of a key of the store.
func (s *Store) out(key []byte) []byte {
	return append(append(make([]byte, 0, len(s.prefix)+len(key)), s.prefix...), key...)
}

// outSpan is out for a span.
func (s *Store) outSpan(span storage.Span) (start, end []byte) {
	start, end = s.out(span.Start), s.end
	if span.End != nil {
		end = s.out(span.End)
	}
	return start, end
}

// usable returns the error of a store or a call that has ended.
func (s *Store) usable(ctx context.Context) error {
	switch {
	case s.closed.Load():
		return storage.ErrClosed
	case ctx.Err() != nil:
		return context.Cause(ctx)
	}
	return nil
}

// ended replaces the error of a call whose context or store has ended meanwhile.
func (s *Store) ended(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	if tikverr.IsErrNotFound(err) {
		return storage.ErrNotFound
	}
	if end := s.usable(ctx); end != nil {
		return end
	}
	return class(err)
}

// until joins a context with the life of the store.
func (s *Store) until(ctx context.Context) (context.Context, func()) {
	both, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(s.ctx, cancel)
	return both, func() { stop(); cancel() }
}

// tsoPatience bounds the wait for a timestamp, in milliseconds.
const tsoPatience = 15_000

// now takes a timestamp: greater than that of each commit which has ended.
func (s *Store) now(ctx context.Context) (uint64, error) {
	if err := s.usable(ctx); err != nil {
		return 0, err
	}
	both, stop := s.until(ctx)
	defer stop()
	ts, err := s.kv.GetTimestampWithRetry(tikv.NewBackofferWithVars(both, tsoPatience, nil), oracle.GlobalTxnScope)
	if err != nil {
		return 0, s.ended(ctx, err)
	}
	s.see(ts)
	return ts, nil
}

// see notes a timestamp that was taken.
func (s *Store) see(ts uint64) {
	for {
		old := s.seen.Load()
		if old >= ts || s.seen.CompareAndSwap(old, ts) {
			return
		}
	}
}

// begin counts a call that Close waits for; false when the store has closed.
func (s *Store) begin() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return false
	}
	s.running.Add(1)
	return true
}

// take is begin for the end of a transaction. false when Close ends it.
func (s *Store) take(r *remote) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed.Load() {
		return false
	}
	delete(s.remotes, r)
	s.running.Add(1)
	return true
}

// background runs a task that Close waits for. It reports whether it was begun.
func (s *Store) background(name string, task func()) bool {
	if !s.begin() {
		return false
	}
	go guard.Do(s.log, name, func() {
		defer s.running.Done()
		task()
	})
	return true
}

// Latest implements storage.Store.
func (s *Store) Latest() storage.Reader { return reader{s: s} }

// Snapshot implements storage.Store.
func (s *Store) Snapshot(ctx context.Context) (storage.Snapshot, error) {
	settled := s.flight.settle(s.seen.Load()) // before the snapshot: what ends later it may miss
	ts, err := s.readTS(ctx)
	if err != nil {
		return nil, err
	}
	return &snapshot{reader: reader{s: s, ts: ts, closed: new(atomic.Bool)}, settled: settled}, nil
}

// readTS takes a timestamp to read at.
func (s *Store) readTS(ctx context.Context) (uint64, error) {
	ts, err := s.now(ctx)
	if err == nil && s.lease != nil && ts >= s.lease.Until() {
		return 0, errLease
	}
	return ts, err
}

// tick is how often SnapshotAt looks whether the commits under way have ended.
const tick = 2 * time.Millisecond

// SnapshotAt implements storage.Store. Times are those of the clock of this machine.
func (s *Store) SnapshotAt(ctx context.Context, micros int64) (storage.Snapshot, error) {
	ids := s.flight.pass(micros)
	for {
		if err := s.usable(ctx); err != nil {
			return nil, err
		}
		if ids = s.flight.waiting(ids, micros); len(ids) == 0 {
			return s.Snapshot(ctx)
		}
		select {
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-s.ctx.Done():
			return nil, storage.ErrClosed
		case <-time.After(tick):
		}
	}
}

// Seq implements storage.Store.
func (s *Store) Seq() uint64 { return s.seen.Load() }

// Commits implements storage.Store.
func (s *Store) Commits() uint64 { return uint64(s.commits.Load()) }

// Sync implements storage.Store: a commit that was acknowledged is durable.
func (s *Store) Sync(context.Context, uint64) error { return nil }

// Mark implements storage.Store, for the commits of this Store.
func (s *Store) Mark(prefix []byte) *storage.Watermark {
	s.marked.Lock()
	defer s.marked.Unlock()
	return s.marks.Mark(prefix, s.seen.Load())
}

// Metrics implements storage.Store.
func (s *Store) Metrics() map[string]int64 {
	out := map[string]int64{
		"seq": int64(s.Seq()), "commits": s.commits.Load(), "conflicts": s.conflicts.Load(),
		"undetermined": s.unknown.Load(), "in_flight": int64(s.flight.count()),
	}
	s.LockMetrics(out)
	out["deadlocks"] += s.deadlocks.Load()
	out["lock_waits"] += s.waits.Load()
	return out
}

// Cluster is what is known of the cluster.
func (s *Store) Cluster() metrics.Cluster {
	out := metrics.Cluster{Calls: s.calls.list(), Unknown: s.unknown.Load()}
	if s.member != nil {
		out.Lease = s.member.left()
	}
	return out
}

// Checkpoint implements storage.Store; it always fails with storage.ErrNoFiles.
func (s *Store) Checkpoint(string) error { return storage.ErrNoFiles }

// closePatience bounds the wait for calls that go on when the store is closed, and that for
// client-go, which waits for its own.
const closePatience = 2 * time.Second

// within runs a task, and waits for its end for as long as d. It reports whether it ended.
func (s *Store) within(d time.Duration, name string, task func()) bool {
	done := make(chan struct{})
	go guard.Do(s.log, name, func() {
		defer close(done)
		task()
	})
	select {
	case <-done:
		return true
	case <-time.After(d):
		return false
	}
}

// Close implements storage.Store. It is idempotent.
func (s *Store) Close() error {
	s.mu.Lock()
	if s.closed.Swap(true) {
		s.mu.Unlock()
		return nil
	}
	var open []*remote
	for r := range s.remotes {
		open = append(open, r)
	}
	s.mu.Unlock()
	s.cancel()
	s.Manager.Close()
	if !s.within(closePatience, "rollback", func() {
		var all sync.WaitGroup
		for _, r := range open {
			all.Go(func() { guard.Do(s.log, "rollback", r.rollback) })
		}
		all.Wait()
		s.running.Wait()
	}) {
		s.log.Warn("the cluster does not answer: locks of open transactions stay until their time is over")
	}
	if s.member != nil {
		s.within(closePatience, "leave", s.member.leave)
		defer s.member.release()
	}
	var err error
	if !s.within(closePatience, "close", func() { err = class(s.kv.Close()) }) {
		return fmt.Errorf("%w: the client of the cluster does not close", storage.ErrUnreachable)
	}
	return err
}
