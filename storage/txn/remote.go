package txn

import (
	"bytes"
	"context"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// RemoteStore is the counterpart of Engine for data on other machines, which have the
// locks of keys as well. All methods may be called concurrently.
type RemoteStore interface {
	// Latest reads the latest committed state.
	Latest() storage.Reader
	// Snapshot freezes the current state.
	Snapshot(ctx context.Context) (storage.Snapshot, error)
	// Seq is storage.Store.Seq.
	Seq() uint64
	// Remote is the far side of the transaction with an id. It does not wait.
	Remote(id uint64) Remote
	// Holders are the ids of the open transactions that hold keys, as far as they came
	// by Remote.
	Holders(keys [][]byte) []uint64
}

// Remote is the far side of one transaction: its locks of keys, and its commit. It
// belongs to one goroutine at a time.
type Remote interface {
	// Lock locks keys exclusively, and returns what is committed under them. A key that
	// it holds already has what was found the first time. The timeout is that of the
	// whole call. After storage.ErrDeadlock only End may follow.
	Lock(ctx context.Context, keys [][]byte, wait storage.WaitPolicy, timeout time.Duration) ([]storage.Locked, error)
	// Known is what is committed under a key, nil for nothing, where the lock of the key is
	// held: it stays until the end. The value is not to be changed.
	Known(key []byte) (value []byte, ok bool)
	// Held is the number of locks, and the bytes of their keys and of what was found.
	Held() (locks int, bytes int64)
	// Commit is Engine.Apply. The transaction has ended afterwards, with its locks.
	Commit(ctx context.Context, b *Buffer, visible func(seq uint64)) (seq uint64, err error)
	// End gives the locks back. It is idempotent, and a no-op after Commit.
	End()
}

// NewRemoteManager returns the manager of a store on other machines. Ranges are known
// to the transactions of this manager only: they do not keep out who writes through
// another one.
func NewRemoteManager(s RemoteStore, caps storage.Caps) *Manager {
	m := NewManagerOf(remoteEngine{s}, caps)
	m.far = s
	return m
}

// remoteEngine makes an Engine of a store whose transactions commit by themselves.
type remoteEngine struct{ RemoteStore }

// GetPresumedAbsent implements Engine.
func (e remoteEngine) GetPresumedAbsent(ctx context.Context, key, dst []byte) ([]byte, error) {
	return e.Latest().Get(ctx, key, dst)
}

// Apply implements Engine.
func (e remoteEngine) Apply(ctx context.Context, b *Buffer, _ storage.Durability, visible func(uint64)) (uint64, error) {
	r := e.Remote(0)
	defer r.End()
	return r.Commit(ctx, b, visible)
}

// lockRemote is Lock where the locks are on other machines.
func (t *Txn) lockRemote(ctx context.Context, keys [][]byte, opts storage.LockOptions) ([]storage.Locked, error) {
	for _, key := range keys {
		if len(key) > t.m.caps.MaxKey {
			return nil, CheckPair(t.m.caps, key, minKey[:])
		}
	}
	if opts.Timeout <= 0 {
		opts.Timeout = t.opts.LockTimeout
	}
	if len(keys) == 0 {
		return nil, nil
	}
	began := time.Now()
	out, err := t.lockFar(ctx, keys, opts)
	t.own.waited.Add(int64(time.Since(began)))
	t.noteDeadlock(err)
	if err != nil {
		return nil, err
	}
	before := t.farLocks
	t.farLocks, t.own.keyBytes = t.remote.Held()
	t.own.weight.Add(int64(t.farLocks - before))
	for i, key := range keys {
		if e, ok := t.buf.find(key); ok && !out[i].Skipped {
			out[i].Value = bytes.Clone(e.value())
		}
	}
	if t.lockCount() >= t.lockAt {
		return out, t.noteLocks()
	}
	return out, nil
}

// lockCount is the number of locks that are held.
func (t *Txn) lockCount() int { return len(t.own.held) + t.farLocks }
