package errkv

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/memkv"
	engine "github.com/sqlots/sqlots/storage/txn"
)

// FarOptions shape a Far. The zero value is usable.
type FarOptions struct {
	// MaxTxn is that of storage.Caps; 0 for the default.
	MaxTxn int64
	// Delay is how long a commit takes at most between its stamp and its visibility.
	Delay time.Duration
	// Lag is how old Settled is at most.
	Lag time.Duration
}

// Far is a store in memory that does what a store on other machines does: sequences with
// gaps, commits that become visible in another order than that of their stamps, ranges
// that go long after they were discarded, no shared locks. It serves the layers above,
// which have to do with that.
type Far struct {
	*engine.Manager
	mem  *memkv.Store
	opts FarOptions

	commits atomic.Uint64

	mu     sync.Mutex
	last   uint64           // stamp
	flying map[uint64]int64 // stamps of commits under way, with their times
	clock  engine.Clock
	marks  engine.Marks
	// settled is what Settled says since.
	settled   uint64
	since     time.Time
	discarded []discard
	closed    bool
}

// discard is a range that goes some time after it was given up.
type discard struct {
	span storage.Span
	at   time.Time
	gone bool
}

// leisure is how long a discarded range stays.
const leisure = 5 * time.Millisecond

// gap is the distance of the sequences of two commits, and step that as an exponent. The
// stamps that are taken between two commits fit into it.
const (
	step = 16
	gap  = 1<<step - 1
)

var (
	_ storage.Store = (*Far)(nil)
	_ engine.Engine = (*Far)(nil)
)

// NewFar returns an empty store.
func NewFar(opts FarOptions) *Far {
	f := &Far{mem: memkv.New(memkv.Options{}), opts: opts, flying: map[uint64]int64{}}
	caps := storage.Caps{MaxTxn: opts.MaxTxn, Remote: true}
	f.Manager = engine.NewManagerOf(f, caps)
	return f
}

// farReader is a Reader that reads spans together.
type farReader struct{ storage.Reader }

// ScanMany implements storage.ManyScanner.
func (r farReader) ScanMany(ctx context.Context, spans []storage.Span, opts storage.ScanOptions) (storage.SpansScanner, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	return storage.ScanEach(r.Reader, spans, opts), nil
}

// farSnapshot implements storage.Snapshot.
type farSnapshot struct {
	farReader
	of      storage.Snapshot
	settled uint64
}

// Seq implements storage.Snapshot.
func (s *farSnapshot) Seq() uint64 { return s.of.Seq()<<step | gap }

// Settled implements storage.Snapshot.
func (s *farSnapshot) Settled(ctx context.Context) (uint64, error) {
	return s.settled, context.Cause(ctx)
}

// Close implements storage.Snapshot.
func (s *farSnapshot) Close() error { return s.of.Close() }

// Latest implements storage.Store.
func (f *Far) Latest() storage.Reader { return farReader{f.mem.Latest()} }

// Snapshot implements storage.Store.
func (f *Far) Snapshot(ctx context.Context) (storage.Snapshot, error) {
	// What is settled before it is taken, the snapshot has.
	settled, err := f.Settled(ctx)
	if err != nil {
		return nil, err
	}
	of, err := f.mem.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return &farSnapshot{farReader{of}, of, settled}, nil
}

// SnapshotAt implements storage.Store.
func (f *Far) SnapshotAt(ctx context.Context, micros int64) (storage.Snapshot, error) {
	f.mu.Lock()
	f.clock.Pass(micros)
	f.mu.Unlock()
	for f.fliesBefore(micros) {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		time.Sleep(100 * time.Microsecond)
	}
	return f.Snapshot(ctx)
}

func (f *Far) fliesBefore(micros int64) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, at := range f.flying {
		if at <= micros {
			return true
		}
	}
	return false
}

// Begin implements storage.Store.
func (f *Far) Begin(ctx context.Context, opts storage.TxnOptions) (storage.Txn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	if err := f.destroy(ctx); err != nil {
		return nil, err
	}
	return f.Manager.Begin(ctx, opts)
}

// Seq implements storage.Store.
func (f *Far) Seq() uint64 { return f.mem.Seq()<<step | gap }

// Commits implements storage.Store.
func (f *Far) Commits() uint64 { return f.commits.Load() }

// Settled implements storage.Store.
func (f *Far) Settled(ctx context.Context) (uint64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.opts.Lag > 0 && time.Since(f.since) < f.opts.Lag {
		return f.settled, nil
	}
	f.since, f.settled = time.Now(), max(f.last, f.mem.Seq()<<step)
	for stamp := range f.flying {
		f.settled = min(f.settled, stamp-1)
	}
	return f.settled, nil
}

// Sync implements storage.Store.
func (f *Far) Sync(context.Context, uint64) error { return nil }

// Mark implements storage.Store.
func (f *Far) Mark(prefix []byte) *storage.Watermark {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.marks.Mark(prefix, f.Seq())
}

// GetPresumedAbsent implements txn.Engine.
func (f *Far) GetPresumedAbsent(ctx context.Context, key, dst []byte) ([]byte, error) {
	return f.mem.Latest().Get(ctx, key, dst)
}

// Apply implements txn.Engine.
func (f *Far) Apply(ctx context.Context, b *engine.Buffer, d storage.Durability, visible func(uint64)) (uint64, error) {
	if b.Stamped() > 0 {
		stamp, now := f.takeOff()
		defer f.land(stamp, b)
		b = b.Filled(stamp, now)
	}
	if err := f.writesDiscarded(b); err != nil {
		return 0, err
	}
	f.pause()
	seq, err := f.mem.Apply(ctx, b, d, func(n uint64) { visible(n << step) })
	if err == nil {
		f.commits.Add(1)
	}
	return seq << step, err
}

// pause lets others commit first.
func (f *Far) pause() {
	runtime.Gosched()
	if f.opts.Delay > 0 {
		time.Sleep(rand.N(f.opts.Delay))
	}
}

// takeOff gives a commit its stamp and time; it is under way until it lands.
func (f *Far) takeOff() (stamp uint64, micros int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.last = max(f.last, f.mem.Seq()<<step) + 1
	micros = f.clock.Next()
	f.flying[f.last] = micros
	return f.last, micros
}

func (f *Far) land(stamp uint64, b *engine.Buffer) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.flying, stamp)
	raise := f.marks.Raise(f.Seq())
	b.EachStamped(func(key, _ []byte, at storage.Stamp) bool {
		raise.Wrote(key, at)
		return true
	})
}

// Discard implements storage.Store.
func (f *Far) Discard(ctx context.Context, span storage.Span) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	span = storage.Span{Start: bytes.Clone(span.Start), End: bytes.Clone(span.End)}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return storage.ErrClosed
	}
	f.discarded = append(f.discarded, discard{span: span, at: time.Now()})
	return nil
}

// destroy removes what was discarded long enough ago.
func (f *Far) destroy(ctx context.Context) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.discarded {
		d := &f.discarded[i]
		if d.gone || time.Since(d.at) < leisure {
			continue
		}
		if err := f.mem.Discard(ctx, d.span); err != nil {
			return err
		}
		d.gone = true
	}
	return nil
}

func (d *discard) has(key []byte) bool {
	return bytes.Compare(key, d.span.Start) >= 0 && (d.span.End == nil || bytes.Compare(key, d.span.End) < 0)
}

// writesDiscarded is an error where a buffer writes into a discarded range: on other
// machines that write could go with the range.
func (f *Far) writesDiscarded(b *engine.Buffer) (err error) {
	f.mu.Lock()
	gone := slices.Clone(f.discarded)
	f.mu.Unlock()
	b.Each(func(key, value []byte) bool {
		if value != nil {
			err = isDiscarded(gone, key)
		}
		return err == nil
	})
	return err
}

func isDiscarded(gone []discard, key []byte) error {
	for i := range gone {
		if gone[i].has(key) {
			return fmt.Errorf("key %x is written in a range that was discarded", key)
		}
	}
	return nil
}

// BulkLoad implements storage.Store.
func (f *Far) BulkLoad(ctx context.Context) (storage.BulkLoader, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	of, err := f.mem.BulkLoad(ctx)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return &farLoader{BulkLoader: of, f: f, gone: slices.Clone(f.discarded)}, nil
}

// farLoader implements storage.BulkLoader.
type farLoader struct {
	storage.BulkLoader
	f    *Far
	gone []discard
	size atomic.Int64
}

// farRun implements storage.BulkRun.
type farRun struct {
	storage.BulkRun
	b *farLoader
}

func (b *farLoader) note(key, value []byte) error {
	b.size.Add(int64(len(key) + len(value)))
	return isDiscarded(b.gone, key)
}

// Add implements storage.BulkLoader.
func (b *farLoader) Add(key, value []byte) error {
	if err := b.note(key, value); err != nil {
		return err
	}
	return b.BulkLoader.Add(key, value)
}

// Run implements storage.BulkLoader.
func (b *farLoader) Run() (storage.BulkRun, error) {
	of, err := b.BulkLoader.Run()
	if err != nil {
		return nil, err
	}
	return &farRun{of, b}, nil
}

// Add implements storage.BulkRun.
func (r *farRun) Add(key, value []byte) error {
	if err := r.b.note(key, value); err != nil {
		return err
	}
	return r.BulkRun.Add(key, value)
}

// Finish implements storage.BulkLoader.
func (b *farLoader) Finish(ctx context.Context) (uint64, error) {
	if limit := b.f.Caps().MaxTxn; b.size.Load() > limit {
		return 0, &storage.LimitError{Class: storage.ErrTxnTooLarge, Size: b.size.Load(), Limit: limit}
	}
	seq, err := b.BulkLoader.Finish(ctx)
	return seq << step, err
}

// Partitions implements storage.Store.
func (f *Far) Partitions(ctx context.Context, span storage.Span, n int) []storage.Span {
	return f.mem.Partitions(ctx, span, n)
}

// EstimateSize implements storage.Store.
func (f *Far) EstimateSize(ctx context.Context, span storage.Span) (int64, error) {
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return f.mem.EstimateSize(ctx, span)
}

// Metrics implements storage.Store.
func (f *Far) Metrics() map[string]int64 {
	out := f.mem.Metrics()
	out["seq"], out["commits"] = int64(f.Seq()), int64(f.Commits())
	f.LockMetrics(out)
	return out
}

// Checkpoint implements storage.Store; it always fails with storage.ErrNoFiles.
func (f *Far) Checkpoint(string) error { return storage.ErrNoFiles }

// Close implements storage.Store.
func (f *Far) Close() error {
	f.Manager.Close()
	f.mu.Lock()
	f.closed = true
	f.mu.Unlock()
	return f.mem.Close()
}
