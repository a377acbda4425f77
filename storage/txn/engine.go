package txn

import (
	"context"
	"fmt"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// Engine is what an embedded engine provides. All methods may be called
// concurrently.
type Engine interface {
	// Latest reads the latest committed state.
	Latest() storage.Reader
	// Snapshot freezes the current state.
	Snapshot(ctx context.Context) (storage.Snapshot, error)
	// GetPresumedAbsent is Latest().Get for keys that are probably absent.
	GetPresumedAbsent(ctx context.Context, key, dst []byte) ([]byte, error)
	// Apply commits the buffer (which is not empty, and which it may drop), its stamped writes with
	// their holes filled, and returns when it is as durable as requested. It
	// calls visible exactly once, with the commit's sequence, if and when the
	// writes can be seen by all new readers, which may be before they are
	// durable. Some readers may see them earlier.
	Apply(ctx context.Context, b *Buffer, d storage.Durability, visible func(seq uint64)) (seq uint64, err error)
	// Seq is storage.Store.Seq.
	Seq() uint64
}

// DefaultLockTimeout is the wait for a lock when the options leave it open.
const DefaultLockTimeout = 50 * time.Second

// MinKey is the first key that users may write: the empty key and the key 00
// belong to the engines.
var minKey = [2]byte{0, 0}

// CheckKey returns storage.ErrReservedKey for the keys that belong to the
// engines: the empty key and the single byte 00.
func CheckKey(key []byte) error {
	if len(key) > 1 || (len(key) == 1 && key[0] != 0) {
		return nil
	}
	return fmt.Errorf("key %x: %w", key, storage.ErrReservedKey)
}

// CheckPair returns the error of a pair that breaks a limit of caps, or nil.
func CheckPair(caps storage.Caps, key, value []byte) error {
	if err := CheckKey(key); err != nil {
		return err
	}
	if len(key) > caps.MaxKey {
		return &storage.LimitError{Class: storage.ErrKeyTooLarge, Size: int64(len(key)), Limit: int64(caps.MaxKey)}
	}
	if len(value) == 0 {
		return storage.ErrEmptyValue
	}
	if len(value) > caps.MaxValue {
		return &storage.LimitError{Class: storage.ErrValueTooLarge, Size: int64(len(value)), Limit: int64(caps.MaxValue)}
	}
	return nil
}

// UserSpan cuts the engines' own keys off span, so that Start is never nil.
func UserSpan(span storage.Span) storage.Span {
	if len(span.Start) == 0 || (len(span.Start) == 1 && span.Start[0] == 0) {
		span.Start = minKey[:]
	}
	return span
}

// Manager makes transactions over one engine and owns their locks. All methods
// may be called concurrently.
type Manager struct {
	engine Engine
	far    RemoteStore // nil: the locks are in this process
	caps   storage.Caps
	locks  *lockTable
	ranges rangeTable
	// writers are the transactions with writes, by their ids.
	writers [writerShards]writers
	// owners are the transactions of a far store, by their ids.
	owners sync.Map
	lastID atomic.Uint64
	closed atomic.Bool
}

// NewManager returns the manager of engine; zero limits of caps take their
// defaults, and what it can do is what an engine in this process can.
func NewManager(engine Engine, caps storage.Caps) *Manager {
	return NewManagerOf(engine, FillCaps(caps))
}

// NewManagerOf is NewManager of an engine that can do what caps says and no more.
func NewManagerOf(engine Engine, caps storage.Caps) *Manager {
	limits := FillCaps(caps)
	caps.MaxKey, caps.MaxValue, caps.MaxTxn = limits.MaxKey, limits.MaxValue, limits.MaxTxn
	return &Manager{engine: engine, caps: caps, locks: newLockTable()}
}

// FillCaps replaces the zero limits of caps by their defaults, and says of the rest what
// is true of an engine in this process.
func FillCaps(caps storage.Caps) storage.Caps {
	if caps.MaxKey == 0 {
		caps.MaxKey = storage.DefaultCaps.MaxKey
	}
	if caps.MaxValue == 0 {
		caps.MaxValue = storage.DefaultCaps.MaxValue
	}
	if caps.MaxTxn == 0 {
		caps.MaxTxn = storage.DefaultCaps.MaxTxn
	}
	all := storage.DefaultCaps
	all.MaxKey, all.MaxValue, all.MaxTxn = caps.MaxKey, caps.MaxValue, caps.MaxTxn
	return all
}

// Begin starts a transaction.
func (m *Manager) Begin(_ context.Context, opts storage.TxnOptions) (storage.Txn, error) {
	if m.closed.Load() {
		return nil, storage.ErrClosed
	}
	if opts.LockTimeout <= 0 {
		opts.LockTimeout = DefaultLockTimeout
	}
	if opts.MaxSize <= 0 || opts.MaxSize > m.caps.MaxTxn {
		opts.MaxSize = m.caps.MaxTxn
	}
	t := &Txn{m: m, opts: opts}
	t.own.id = m.lastID.Add(1)
	t.latest.t = t
	t.buf.init()
	if m.far != nil {
		t.remote = m.far.Remote(t.own.id)
		m.owners.Store(t.own.id, &t.own)
	}
	if t.lockAt = lockStep; opts.Memory == nil {
		t.since, t.lockAt = math.MinInt64, math.MaxInt
	}
	return t, nil
}

// Caps are the limits.
func (m *Manager) Caps() storage.Caps { return m.caps }

// Locks lists the locks that are held or awaited, by their keys.
func (m *Manager) Locks() []storage.LockInfo {
	out := slices.Concat(m.locks.list(), m.ranges.list(), m.listWaits())
	slices.SortStableFunc(out, compareLocks)
	return out
}

// LastDeadlock is the latest cycle of waits that was broken.
func (m *Manager) LastDeadlock() *storage.Deadlock { return m.locks.last.Load() }

// LockMetrics adds what a store's Metrics have of locks.
func (m *Manager) LockMetrics(to map[string]int64) {
	l := m.locks
	to["lock_waits"], to["deadlocks"] = l.waits.Load(), l.deadlocks.Load()
	to["lock_waiting"], to["lock_wait_usecs"], to["lock_wait_max_usecs"] = l.waiting.Load(), l.waited.Load()/1000, l.longest.Load()/1000
}

// Close makes every open transaction fail with storage.ErrClosed from now on and ends
// the waits for locks. It is idempotent.
func (m *Manager) Close() {
	m.closed.Store(true)
	m.locks.close()
	for _, g := range m.gates() {
		g.open(false, storage.ErrClosed)
	}
}
