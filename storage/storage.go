package storage

import (
	"context"
	"sync/atomic"
	"time"
)

// Span is the half-open key interval [Start, End). A nil Start is the first
// key, a nil End is after the last.
type Span struct {
	Start, End []byte
}

// ScanOptions shapes a scan. The zero value scans forward with values.
type ScanOptions struct {
	// Reverse delivers the keys of the span in descending order.
	Reverse bool
	// KeyOnly lets the engine skip values; Visit then gets a nil value.
	KeyOnly bool
	// Limit is a hint of how many pairs the caller will take, 0 for unknown.
	// The scan delivers more if the caller continues.
	Limit int
	// Cold says that the scan is large and read once: the engine should not
	// let it push hot blocks out of its cache, nor prepare for more such scans.
	Cold bool
	// Reuse is a Scanner of the same store that has been closed and is no longer
	// in use: the engine may make the new one of it. It may be nil.
	Reuse Scanner
}

// Scanner is a stream of key-value pairs. It belongs to one goroutine.
type Scanner interface {
	// Visit calls fn for the next pairs in order until fn returns false or the
	// span is exhausted; done reports the latter. The pair for which fn
	// returned false is consumed. key and value belong to the engine and are
	// valid only during the call of fn. After an error or done only Close may
	// be called. Visit checks ctx at least every few hundred pairs and returns
	// its cause.
	Visit(ctx context.Context, fn func(key, value []byte) bool) (done bool, err error)
	// Close releases the stream. It is idempotent.
	Close() error
}

// LastingScanner is a Scanner that knows how long its pairs live.
type LastingScanner interface {
	Scanner
	// Lasting reports whether key and value stay unchanged for as long as
	// anything refers to them.
	Lasting() bool
}

// Reader reads one view of the store. A Reader that belongs to a Snapshot or
// a Store may be used by many goroutines at once, one that belongs to a Txn
// only while no goroutine writes to that Txn.
type Reader interface {
	// Get appends the value of key to dst and returns the result, or
	// ErrNotFound. The result belongs to the caller.
	Get(ctx context.Context, key, dst []byte) ([]byte, error)
	// BatchGet calls fn once for each key, in the order of keys, with the
	// value, or nil when the key is absent. Ascending keys are much cheaper.
	// value is valid only during the call. An error of fn ends the call.
	BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error
	// Scan opens a stream over span.
	Scan(ctx context.Context, span Span, opts ScanOptions) (Scanner, error)
}

// Snapshot is a frozen state of the store.
type Snapshot interface {
	Reader
	// Seq is a sequence number that is not lower than that of any commit which the
	// snapshot sees, and lower than that of any other.
	Seq() uint64
	// Settled is Store.Settled for this state, not higher than Seq: of the commits with
	// stamps up to it the snapshot has all that will ever be.
	Settled(ctx context.Context) (uint64, error)
	// Close releases the snapshot; Scanners opened on it must be closed before.
	// It is idempotent.
	Close() error
}

// Durability says when Commit returns.
type Durability uint8

// Durability levels; the MySQL names are innodb_flush_log_at_trx_commit = 1, 2
// and 0.
const (
	DurabilitySync  Durability = iota // when the commit is on disk
	DurabilityWrite                   // when the operating system has it
	DurabilityNone                    // when it is visible
)

// LockMode is the strength of a row lock.
type LockMode uint8

// Lock modes. Shared locks are compatible with each other.
const (
	LockExclusive LockMode = iota
	LockShared
)

// WaitPolicy says what Lock does about a key that another transaction holds.
type WaitPolicy uint8

// Wait policies.
const (
	WaitBlock WaitPolicy = iota // wait up to LockOptions.Timeout
	WaitError                   // fail at once with ErrNoWait
	WaitSkip                    // leave the key out (Locked.Skipped)
)

// LockOptions shapes a Lock call.
type LockOptions struct {
	Mode LockMode
	Wait WaitPolicy
	// Timeout bounds the wait for each key; 0 means the transaction's default.
	Timeout time.Duration
}

// Locked is what Lock found under one key.
type Locked struct {
	// Value is the latest value, committed by anyone or written by this
	// transaction; nil when the key is absent. It belongs to the caller.
	Value []byte
	// Skipped is set when WaitSkip left the key unlocked.
	Skipped bool
}

// TxnOptions shapes a transaction. The zero value is a writable transaction
// with the store's default limits.
type TxnOptions struct {
	ReadOnly bool
	// LockTimeout is the default wait for a lock; 0 means 50 seconds.
	LockTimeout time.Duration
	// MaxSize bounds the bytes of buffered keys and values; 0 means the
	// store's limit.
	MaxSize int64
	// Durability of the commit.
	Durability Durability
	// Label names the transaction in lists of locks and waits.
	Label string
	// Memory, when set, counts what writes and locks take in memory. Its error is that of
	// the write; a lock that does not fit is ErrLockTableFull.
	Memory Memory
}

// Memory counts bytes. It may be used by many goroutines.
type Memory interface {
	// Grow takes n bytes, or fails and takes none.
	Grow(n int64) error
	// Shrink gives n bytes back.
	Shrink(n int64)
}

// Collector is a Memory that can have the garbage collector free what is no longer used.
type Collector interface {
	Memory
	Collect()
}

// Stamp says where a stamped write takes what only its commit knows: a number, and a
// time. The number is taken when the transaction holds all its locks and before the
// commit can be seen. So it is higher than the sequence of each commit on which this one
// builds, and not higher than its own. With Caps.Sole it is its own; elsewhere commits
// may become visible in another order than that of their stamps, see Store.Settled.
type Stamp struct {
	// Key is where in the key 8 bytes become the stamp of the commit, big
	// endian; Descending writes its complement. -1 leaves the key unchanged.
	Key        int
	Descending bool
	// Time is where in the value 8 bytes become the time of the commit:
	// microseconds since 1970, big endian. -1 leaves the value unchanged.
	Time int
}

// Watermark is a sequence that only grows: not lower than that of the last commit
// that raised it. The zero value is ready to use.
type Watermark struct {
	seq  atomic.Uint64
	tell atomic.Pointer[chan<- struct{}]
}

// Raise lifts the watermark to seq, if it is lower.
func (w *Watermark) Raise(seq uint64) {
	for {
		old := w.seq.Load()
		if old >= seq {
			return
		}
		if w.seq.CompareAndSwap(old, seq) {
			break
		}
	}
	if c := w.tell.Load(); c != nil {
		select {
		case *c <- struct{}{}:
		default:
		}
	}
}

// Tell has a value sent to c whenever the watermark is raised, without waiting for a
// receiver; nil ends it.
func (w *Watermark) Tell(c chan<- struct{}) {
	if c == nil {
		w.tell.Store(nil)
		return
	}
	w.tell.Store(&c)
}

// Seq is the current watermark.
func (w *Watermark) Seq() uint64 { return w.seq.Load() }

// Savepoint marks a point in a transaction's writes.
type Savepoint int

// Txn is a transaction. Its own writes are seen by all its reads. It belongs
// to one goroutine at a time; its readers follow the rule of Reader.
//
// Writes are buffered and checked against the store's limits when they are
// made, so that an oversized key, value or transaction fails before anything
// is written. Put and Delete do not lock by themselves: the caller locks first
// (Insert does both). All three wait for the transactions that have locked a range
// with the key.
type Txn interface {
	// ID is unique among the transactions of this store since it was opened.
	ID() uint64
	// Reader reads the current read view plus own writes. The view is taken at
	// the first read, or by Refresh.
	Reader
	// Refresh moves the read view to the latest commit. Scanners that are open
	// keep the older view.
	Refresh(ctx context.Context) error
	// ViewSeq is Snapshot.Seq of the read view, which it takes if it is missing.
	ViewSeq(ctx context.Context) (uint64, error)
	// View is the read view without own writes, and its sequence; nil and 0 if
	// no view was taken.
	View() (Reader, uint64)
	// BareView is the read view without own writes and without what Show put into
	// it; it is taken if it is missing. It belongs to the transaction: Refresh and
	// the end of the transaction close it.
	BareView(ctx context.Context) (Snapshot, error)
	// Show has the view hold value under key, nil for nothing, in place of what
	// it holds; nothing is written. It is for keys that are derived from one which
	// was changed between the view and its lock: with a change of that one, the
	// view has to show the state that was changed. Refresh ends it and RollbackTo
	// undoes it.
	Show(key, value []byte) error
	// Wrote reports whether key is among the buffered writes.
	Wrote(key []byte) bool
	// Written calls fn with the buffered writes in a span, ascending, until it
	// returns false. The key is valid during the call.
	Written(span Span, fn func(key []byte) bool)
	// Raise has the commit raise w, to its sequence or higher, before the locks are
	// released.
	Raise(w *Watermark)
	// Latest reads the latest committed state of each call plus own writes,
	// for statements that look up under locks.
	Latest() Reader
	// Committed is Latest without own writes: for keys that this transaction has
	// not written.
	Committed() Reader
	// Over is base, which has committed pairs, plus own writes.
	Over(base Reader) Reader
	// LatestView is Latest with one state for several reads.
	LatestView(ctx context.Context) (Snapshot, error)
	// SetLockTimeout replaces TxnOptions.LockTimeout, for waits that begin later.
	SetLockTimeout(d time.Duration)
	// Lock acquires the locks of keys in the given order (callers sort them,
	// to avoid deadlocks) and returns the latest values. Locks stay until the
	// transaction ends, also when a savepoint is rolled back.
	Lock(ctx context.Context, keys [][]byte, opts LockOptions) ([]Locked, error)
	// LockRange keeps all other transactions from writing a key of span, present or
	// absent, until this one ends. It waits for those that have written one already.
	// It does not wait for locks of keys, nor they for it; ranges of several
	// transactions may overlap. WaitSkip is as WaitError. What is protected may be
	// more than was asked for, where there are many ranges.
	LockRange(ctx context.Context, span Span, wait WaitPolicy) error
	// Locking reads the latest committed state plus own writes, and locks what it
	// reads as LockRange does: absent keys too, and the whole span of a scan, or
	// with a Limit the part that was read. It belongs to one goroutine, and no other
	// reader of the transaction may be used at the same time.
	Locking(wait WaitPolicy) Reader
	// Watch is Locking for a caller that locks the keys it finds, and does so before
	// it holds the range around them: then two that want the same keys wait for each
	// other at the first key, and not each with a range in which the other writes.
	Watch(wait WaitPolicy) Watch
	// Reserve locks keys exclusively, as Lock does, and remembers what is there: Insert
	// of one of them needs no further call. It is for what is about to be written, all
	// at once where a call waits for another machine. A store that has all at hand may
	// do nothing, and leave both to Insert.
	Reserve(ctx context.Context, keys [][]byte) error
	// Insert locks key exclusively, fails with a *KeyExistsError when the
	// latest state has it, and puts it otherwise.
	Insert(ctx context.Context, key, value []byte) error
	// Put writes a pair. The value must not be empty.
	Put(ctx context.Context, key, value []byte) error
	// Delete removes a key; an absent key is fine.
	Delete(ctx context.Context, key []byte) error
	// PutStamped writes a pair whose holes the commit fills. The pair is not seen
	// by this transaction's own reads, and takes no lock: no other commit can write
	// the same key. Two stamped writes with the same bytes outside the holes are
	// one. Stamps of commits and their times ascend together, also after a restart;
	// with Caps.Sole times strictly, among the commits with stamped times.
	PutStamped(key, value []byte, at Stamp) error
	// Stamped reports whether PutStamped wrote the key, holes aside.
	Stamped(key []byte) bool
	// Ordinal counts from 0, one up with each call, whatever is rolled back.
	Ordinal() uint32
	// Savepoint marks the current state; RollbackTo undoes the writes made
	// after the mark (the mark stays usable); Release forgets the mark and all
	// later ones, keeping the writes; Forget forgets the mark alone.
	Savepoint() Savepoint
	RollbackTo(sp Savepoint) error
	Release(sp Savepoint)
	Forget(sp Savepoint)
	// Size is the number of bytes buffered.
	Size() int64
	// Dirty reports whether there are buffered writes.
	Dirty() bool
	// Commit makes the writes visible atomically and durable as requested, and
	// returns the sequence number of the commit (when nothing was written, one of a
	// state that it has seen). The transaction has ended afterwards, whatever the result.
	Commit(ctx context.Context) (seq uint64, err error)
	// Rollback drops the writes and releases the locks. It is idempotent and a
	// no-op after Commit.
	Rollback()
}

// Watch reads the latest committed state plus own writes and notes what it reads, as
// Txn.Locking would lock it. It belongs to one goroutine.
type Watch interface {
	Reader
	// Lock locks all that was read; from then on the Watch locks what it reads. With
	// ok false another transaction has written there since, and has ended where it
	// had not: what was read may be out of date, and is to be read again by a new
	// Watch. This one has ended.
	Lock(ctx context.Context) (ok bool, err error)
	// Stop ends the watch without a lock. It is idempotent, and of no effect after
	// Lock.
	Stop()
}

// BulkLoader builds sorted runs outside of the store and adds them in one atomic
// step. It is meant for large sets of new keys.
type BulkLoader interface {
	// Add appends a pair to a run of the loader's own.
	Add(key, value []byte) error
	// Run starts a further run. Runs may be filled concurrently; no key of one
	// may be between those of another (ErrKeyOrder at Finish).
	Run() (BulkRun, error)
	// Finish makes all pairs visible and durable at once. The span between the
	// first and last key of each run must hold no key that a concurrent
	// transaction writes: the caller excludes writers. Further runs have been
	// closed.
	Finish(ctx context.Context) (seq uint64, err error)
	// FinishUnordered is Finish outside of the order of commits: the pairs have no
	// sequence, snapshots may have them or not, and commits hardly wait. It is for
	// keys that no reader reads until a later commit says so.
	FinishUnordered(ctx context.Context) error
	// Abort removes what was built. It is idempotent and a no-op after Finish.
	// No run is being filled.
	Abort() error
}

// BulkRun is one sorted run of a BulkLoader. It belongs to one goroutine.
type BulkRun interface {
	// Add appends a pair; keys must ascend strictly (ErrKeyOrder). The run
	// copies both.
	Add(key, value []byte) error
	// Close completes the run.
	Close() error
}

// Caps are what a store can take, in bytes, and what it can do. Code above the store
// reads them where it depends on one of them, and knows no engine by its name.
type Caps struct {
	MaxKey   int
	MaxValue int
	MaxTxn   int64

	// Sole: this process is the only one that writes to the store. Then marks and
	// watermarks know of all commits, and a mutex may take the place of a lock.
	Sole bool
	// Remote: calls wait for other machines, so what counts is how many follow on each
	// other.
	Remote bool
	// SharedLocks: LockShared admits others. A store without them takes an exclusive
	// lock instead.
	SharedLocks bool
	// FairLocks: who waits for a lock gets it in turn, and of a cycle of waits the
	// transaction with the least work is the victim. Without it neither is promised.
	FairLocks bool
	// AtomicBulk: a bulk load of any size becomes visible at once. Without it Finish
	// takes no more than a transaction, and fails with ErrTxnTooLarge.
	AtomicBulk bool
}

// DefaultCaps are those of a store that this process has to itself: keys to 4 KiB,
// values to 6 MiB, transactions to 1 GiB.
var DefaultCaps = Caps{
	MaxKey: 4 << 10, MaxValue: 6 << 20, MaxTxn: 1 << 30,
	Sole: true, SharedLocks: true, FairLocks: true, AtomicBulk: true,
}

// Store is an open store. All methods may be called concurrently. A method with a context
// may wait, for another machine too, and ends with the cause of the context when that
// ends. A store that has all at hand may leave the context unread.
type Store interface {
	// Latest reads the latest committed state. Each Get, BatchGet and Scan sees the
	// state of its own start, so several of them see several states; a Snapshot has
	// one.
	Latest() Reader
	// Snapshot freezes the current state.
	Snapshot(ctx context.Context) (Snapshot, error)
	// SnapshotAt is a Snapshot that has all stamped commits up to a time, also
	// those that were under way: later ones get later times. The time, in
	// microseconds since 1970, is not in the future.
	SnapshotAt(ctx context.Context, micros int64) (Snapshot, error)
	// Begin starts a transaction, which outlives the context of the call.
	Begin(ctx context.Context, opts TxnOptions) (Txn, error)
	// Seq is not lower than the sequence number of any commit that a reader of this
	// Store was shown, or that was made through it.
	Seq() uint64
	// Commits counts the commits that were made through this Store; the number only
	// says how many there were between two calls.
	Commits() uint64
	// Sync returns when the commits up to a sequence that Seq has returned are on
	// disk, whatever their own durability. Call it before data that is derived from
	// these commits is made durable elsewhere, which must not outlive them.
	Sync(ctx context.Context, seq uint64) error
	// Settled is a stamp up to which no stamped commit can appear any more: what is read
	// after the call has all that there will be. It does not fall, and is not higher
	// than Seq. Who follows stamped writes goes up to it and no further. With Caps.Sole
	// it is what can be seen now, elsewhere it may be a moment behind.
	Settled(ctx context.Context) (uint64, error)
	// Mark is a watermark of the stamped writes whose keys have prefix directly
	// followed by their commit's stamp: it is raised before such a commit can be
	// seen. It begins at the store's current sequence, and is the same at each
	// call. A prefix has at most 7 bytes. Without Caps.Sole it knows only the commits
	// of this process, and serves to wake followers.
	Mark(prefix []byte) *Watermark
	// Partitions cuts span into at most n pieces of roughly equal size, in key
	// order and without gaps. It is a hint for parallel scans.
	Partitions(ctx context.Context, span Span, n int) []Span
	// EstimateSize is roughly the number of bytes that span occupies.
	EstimateSize(ctx context.Context, span Span) (int64, error)
	// BulkLoad starts a bulk load.
	BulkLoad(ctx context.Context) (BulkLoader, error)
	// Discard gives up a span that nothing reads or writes from now on. Where calls are
	// Remote its keys go at the store's leisure, and older snapshots may miss them
	// too; what is written there later may go with them. Elsewhere the keys are gone
	// when it returns, in one commit. It is durable, and cheap where it is repeated.
	// Clear is for spans that will be used again.
	Discard(ctx context.Context, span Span) error
	// Locks lists the locks of keys and ranges that are held or awaited.
	Locks() []LockInfo
	// LastDeadlock is the latest one; nil when there was none.
	LastDeadlock() *Deadlock
	// Caps are the store's limits.
	Caps() Caps
	// Metrics describes the engine for humans, by name.
	Metrics() map[string]int64
	// Checkpoint writes a consistent copy of the store, with all commits that
	// were acknowledged before the call, into a new directory. It does not hold
	// up writers, and shares files that do not change with the store where the
	// file system can. ErrNoFiles when the store has none.
	Checkpoint(dir string) error
	// Close flushes and closes the store. Open transactions are rolled back.
	Close() error
}

// LockInfo describes the lock of a key, or of a range.
type LockInfo struct {
	Key []byte
	// Range: it is a lock of the keys from Key to before End, where a nil End is after
	// the last key. A request that waits for a range, or one for a range, is listed with
	// what it asks for, after the transaction that is in its way.
	Range   bool
	End     []byte
	Mode    LockMode
	Holders []uint64 // transaction ids
	Waiters []uint64
	Waits   []LockWait // of the waiters
}

// LockWait is one request that waits for a lock.
type LockWait struct {
	Txn   uint64
	Mode  LockMode
	Since time.Time
}

// Deadlock is a cycle of waits that was broken.
type Deadlock struct {
	Time   time.Time
	Cycle  []DeadlockWait // each waits for the next one, the last for the first
	Victim uint64
}

// DeadlockWait is a transaction of a cycle.
type DeadlockWait struct {
	Txn   uint64
	Key   []byte // that it waits for, or the start of a range
	Range bool   // a range, or a key in a range of the next one
	Mode  LockMode
}
