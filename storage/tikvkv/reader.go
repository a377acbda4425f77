package tikvkv

import (
	"context"
	"math"
	"sync/atomic"

	"github.com/tikv/client-go/v2/kv"
	"github.com/tikv/client-go/v2/txnkv/txnsnapshot"

	"github.com/sqlots/sqlots/storage"
)

// reader reads at a timestamp; 0 for the latest state of each call. A snapshot of
// client-go keeps every value that it has read, so each call takes one of its own.
type reader struct {
	s      *Store
	ts     uint64
	closed *atomic.Bool // of the snapshot; nil without
}

// snapshot implements storage.Snapshot.
type snapshot struct {
	reader
	settled uint64
}

// Seq implements storage.Snapshot.
func (s *snapshot) Seq() uint64 { return s.ts }

// Settled implements storage.Snapshot.
func (s *snapshot) Settled(context.Context) (uint64, error) { return s.settled, nil }

// Close implements storage.Snapshot.
func (s *snapshot) Close() error {
	s.closed.Store(true)
	return nil
}

func (r reader) usable(ctx context.Context) error {
	if r.closed != nil && r.closed.Load() {
		return storage.ErrClosed
	}
	return r.s.usable(ctx)
}

// at is the view of one call.
func (r reader) at(ctx context.Context) (*txnsnapshot.KVSnapshot, error) {
	ts := r.ts
	if ts == 0 {
		var err error
		if ts, err = r.s.readTS(ctx); err != nil {
			return nil, err
		}
	}
	return r.s.kv.GetSnapshot(ts), nil
}

// Get implements storage.Reader.
func (r reader) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	if err := r.usable(ctx); err != nil {
		return dst, err
	}
	if r.ts == 0 && !r.s.untimed.Load() && (r.s.lease == nil || r.s.lease.Fresh()) {
		got, err := r.get(ctx, r.s.kv.GetSnapshot(math.MaxUint64), key, dst, kv.WithReturnCommitTS())
		if !isUntimed(err) {
			return got, err
		}
		r.s.untimed.Store(true)
		r.s.log.Info("the servers of the cluster do not say when a value was committed: a read of one row takes a timestamp first", "event", "cluster.reads")
	}
	snap, err := r.at(ctx)
	if err != nil {
		return dst, err
	}
	return r.get(ctx, snap, key, dst)
}

func (r reader) get(ctx context.Context, snap *txnsnapshot.KVSnapshot, key, dst []byte, opts ...kv.GetOption) ([]byte, error) {
	both, stop := r.s.until(ctx)
	defer stop()
	e, err := snap.Get(both, r.s.out(key), opts...)
	if err != nil {
		return dst, r.s.ended(ctx, err)
	}
	r.s.see(e.CommitTS)
	return append(dst, e.Value...), nil
}

// maxBatch is the number of keys of one call.
const maxBatch = 5000

// BatchGet implements storage.Reader.
func (r reader) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	if err := r.usable(ctx); err != nil || len(keys) == 0 {
		return err
	}
	if r.ts == 0 {
		var err error
		if r.ts, err = r.s.readTS(ctx); err != nil {
			return err
		}
	}
	for from := 0; from < len(keys); from += maxBatch {
		part := keys[from:min(from+maxBatch, len(keys))]
		if err := r.batch(ctx, part, func(i int, v []byte) error { return fn(from+i, v) }); err != nil {
			return err
		}
	}
	return nil
}

// batch reads keys at the timestamp of r in one call.
func (r reader) batch(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	out := make([][]byte, len(keys))
	for i, key := range keys {
		out[i] = r.s.out(key)
	}
	both, stop := r.s.until(ctx)
	defer stop()
	found, err := r.s.kv.GetSnapshot(r.ts).BatchGet(both, out)
	if err != nil {
		return r.s.ended(ctx, err)
	}
	for i, key := range out {
		var value []byte
		if e := found[string(key)]; len(e.Value) > 0 {
			value = e.Value
		}
		if err := fn(i, value); err != nil {
			return err
		}
	}
	return nil
}
