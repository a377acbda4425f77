package txn

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sqlots/sqlots/storage"
)

// Txn implements storage.Txn over an Engine.
type Txn struct {
	m      *Manager
	opts   storage.TxnOptions
	own    owner
	buf    Buffer
	latest latestReader
	remote Remote // nil: the locks are in this process
	// farLocks is the number of locks that remote took.
	farLocks int

	// writing is held while buf is changed, and while others look into it for
	// writes in their ranges.
	writing sync.Mutex
	// first and last are the keys between which the commit writes, from when the
	// engine has buf; nil before.
	first, last []byte
	ranges      *ownRanges // nil: none so far
	listed      bool       // among the writers
	prev, next  *Txn       // of the writers

	viewMu sync.Mutex
	view   atomic.Pointer[view]
	// shown are the pairs of Show, nil without any.
	shown  *Buffer
	raises []*storage.Watermark

	marks []mark
	// markBytes is what marks take, pruned what arena.held was after prune.
	markBytes, pruned int64
	lastSP            storage.Savepoint
	ordinal           uint32
	since             int64 // the bytes written since opts.Memory was updated
	lockAt            int   // the number of locks at which it is next
	noted             int64 // the bytes that it holds
	// overflow: something did not fit since the last savepoint. To go back to that gives
	// the locks back too.
	overflow bool
	doomed   error // ErrDeadlock or ErrLockTableFull, after which only Rollback may follow
	// released: the locks are given back, before the end of a commit.
	ended, released bool
}

// view is a read view; a struct so that it fits an atomic pointer.
type view struct{ storage.Snapshot }

// mark is one savepoint.
type mark struct {
	id    storage.Savepoint
	state *frozen
	shown *frozen // nil: nothing
	locks int     // that are held
	large int     // len of arena.large
	// bytes is about what the states take that no other savepoint has.
	bytes int64
}

var (
	_ storage.Txn         = (*Txn)(nil)
	_ storage.ManyScanner = (*Txn)(nil)
)

// ID implements storage.Txn.
func (t *Txn) ID() uint64 { return t.own.id }

// usable returns the error of a transaction that cannot go on.
func (t *Txn) usable() error {
	switch {
	case t.ended || t.m.closed.Load():
		return storage.ErrClosed
	case t.doomed != nil:
		return t.doomed
	}
	return nil
}

// snapshot returns the read view, and takes it at the first call. Readers of one
// transaction may run concurrently.
func (t *Txn) snapshot(ctx context.Context) (storage.Snapshot, error) {
	if v := t.view.Load(); v != nil {
		return v.Snapshot, nil
	}
	t.viewMu.Lock()
	defer t.viewMu.Unlock()
	if v := t.view.Load(); v != nil {
		return v.Snapshot, nil
	}
	if err := t.usable(); err != nil {
		return nil, err
	}
	s, err := t.m.engine.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	t.view.Store(&view{s})
	return s, nil
}

// Get implements storage.Reader.
func (t *Txn) Get(ctx context.Context, key, dst []byte) ([]byte, error) {
	if err := t.usable(); err != nil {
		return dst, err
	}
	s, err := t.snapshot(ctx)
	if err != nil {
		return dst, err
	}
	return getOver(ctx, &t.buf, over(t.shown, s), key, dst)
}

// BatchGet implements storage.Reader.
func (t *Txn) BatchGet(ctx context.Context, keys [][]byte, fn func(i int, value []byte) error) error {
	if err := t.usable(); err != nil {
		return err
	}
	s, err := t.snapshot(ctx)
	if err != nil {
		return err
	}
	return batchGetOver(ctx, &t.buf, over(t.shown, s), keys, fn)
}

// Scan implements storage.Reader. The scanner sees the writes made before it
// was opened, not those made later.
func (t *Txn) Scan(ctx context.Context, span storage.Span, opts storage.ScanOptions) (storage.Scanner, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	s, err := t.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return scanOver(ctx, &t.buf, over(t.shown, s), span, opts)
}

// ScanMany implements storage.ManyScanner.
func (t *Txn) ScanMany(ctx context.Context, spans []storage.Span, opts storage.ScanOptions) (storage.SpansScanner, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	s, err := t.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return manyOver(ctx, t, &t.buf, over(t.shown, s), spans, opts)
}

// Latest implements storage.Txn.
func (t *Txn) Latest() storage.Reader { return &t.latest }

// Committed implements storage.Txn.
func (t *Txn) Committed() storage.Reader { return t.m.engine.Latest() }

// Over implements storage.Txn.
func (t *Txn) Over(base storage.Reader) storage.Reader { return over(&t.buf, base) }

// LatestView implements storage.Txn.
func (t *Txn) LatestView(ctx context.Context) (storage.Snapshot, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	s, err := t.m.engine.Snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return latestView{over(&t.buf, s), s}, nil
}

// Refresh implements storage.Txn.
func (t *Txn) Refresh(ctx context.Context) error {
	if err := t.usable(); err != nil {
		return err
	}
	s, err := t.m.engine.Snapshot(ctx)
	if err != nil {
		return err
	}
	t.shown = nil
	for i := range t.marks {
		t.marks[i].shown = nil
	}
	if old := t.view.Swap(&view{s}); old != nil {
		return old.Close()
	}
	return nil
}

// View implements storage.Txn.
func (t *Txn) View() (storage.Reader, uint64) {
	v := t.view.Load()
	if v == nil {
		return nil, 0
	}
	return over(t.shown, v.Snapshot), v.Seq()
}

// BareView implements storage.Txn.
func (t *Txn) BareView(ctx context.Context) (storage.Snapshot, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	return t.snapshot(ctx)
}

// Show implements storage.Txn.
func (t *Txn) Show(key, value []byte) error {
	if t.shown == nil {
		t.shown = &Buffer{}
		t.shown.init()
	}
	grow := t.shown.grow(key, value)
	if size := t.bytes() + grow; grow > 0 && size > t.opts.MaxSize {
		return &storage.LimitError{Class: storage.ErrTxnTooLarge, Size: size, Limit: t.opts.MaxSize}
	}
	t.shown.set(key, value, grow)
	return nil
}

// bytes are what the limit of the transaction counts.
func (t *Txn) bytes() int64 {
	if t.shown == nil {
		return t.buf.Size()
	}
	return t.buf.Size() + t.shown.Size()
}

// Wrote implements storage.Txn.
func (t *Txn) Wrote(key []byte) bool {
	_, ok := t.buf.find(key)
	return ok
}

// Written implements storage.Txn.
func (t *Txn) Written(span storage.Span, fn func(key []byte) bool) {
	t.buf.Each(func(key, _ []byte) bool {
		if bytes.Compare(key, span.Start) < 0 {
			return true
		}
		return (span.End == nil || bytes.Compare(key, span.End) < 0) && fn(key)
	})
}

// Raise implements storage.Txn.
func (t *Txn) Raise(w *storage.Watermark) {
	if !slices.Contains(t.raises, w) {
		t.raises = append(t.raises, w)
	}
}

// ViewSeq implements storage.Txn.
func (t *Txn) ViewSeq(ctx context.Context) (uint64, error) {
	if err := t.usable(); err != nil {
		return 0, err
	}
	s, err := t.snapshot(ctx)
	if err != nil {
		return 0, err
	}
	return s.Seq(), nil
}

// SetLockTimeout implements storage.Txn.
func (t *Txn) SetLockTimeout(d time.Duration) {
	if t.opts.LockTimeout = d; d <= 0 {
		t.opts.LockTimeout = DefaultLockTimeout
	}
}

// Lock implements storage.Txn.
func (t *Txn) Lock(ctx context.Context, keys [][]byte, opts storage.LockOptions) ([]storage.Locked, error) {
	if err := t.usable(); err != nil {
		return nil, err
	}
	if t.remote != nil {
		return t.lockRemote(ctx, keys, opts)
	}
	out := make([]storage.Locked, len(keys))
	skipped := 0
	for i, key := range keys {
		err := t.lockKey(ctx, key, opts)
		if opts.Wait == storage.WaitSkip && errors.Is(err, storage.ErrNoWait) {
			out[i].Skipped = true
			skipped++
			continue
		}
		if err != nil {
			return nil, err
		}
	}
	// The values are read after all locks are held, in one batch.
	return out, t.lockedValues(ctx, keys, out, skipped)
}

func (t *Txn) lockedValues(ctx context.Context, keys [][]byte, out []storage.Locked, skipped int) error {
	if len(keys) == 1 && skipped == 0 {
		v, err := getOver(ctx, &t.buf, t.m.engine.Latest(), keys[0], nil)
		if errors.Is(err, storage.ErrNotFound) {
			return nil
		}
		out[0].Value = v
		return err
	}
	want, index := keys, []int(nil)
	if skipped > 0 {
		want, index = nil, make([]int, 0, len(keys)-skipped)
		for i, key := range keys {
			if !out[i].Skipped {
				want, index = append(want, key), append(index, i)
			}
		}
	}
	if len(want) == 0 {
		return nil
	}
	var mem arena
	return batchGetOver(ctx, &t.buf, t.m.engine.Latest(), want, func(i int, value []byte) error {
		if value == nil {
			return nil
		}
		if index != nil {
			i = index[i]
		}
		out[i].Value = mem.pair(value, nil)
		return nil
	})
}

// lockKey acquires one lock.
func (t *Txn) lockKey(ctx context.Context, key []byte, opts storage.LockOptions) error {
	if len(key) > t.m.caps.MaxKey {
		return CheckPair(t.m.caps, key, minKey[:])
	}
	timeout := opts.Timeout
	if timeout <= 0 {
		timeout = t.opts.LockTimeout
	}
	if !t.m.caps.SharedLocks {
		opts.Mode = storage.LockExclusive
	}
	err := t.m.locks.acquire(ctx, &t.own, key, lockRequest{mode: opts.Mode, wait: opts.Wait, timeout: timeout})
	t.noteDeadlock(err)
	if err == nil && t.lockCount() >= t.lockAt {
		err = t.noteLocks()
	}
	return err
}

// noteLocks counts the memory of the locks. Where it is locks that do not fit, and not
// writes, the transaction has to end: no savepoint gives them back.
func (t *Txn) noteLocks() error {
	err := t.note(0)
	if err != nil && t.lockCount() > 2*t.buf.Len()+aheadLocks {
		t.doomed = fmt.Errorf("%w: %v", storage.ErrLockTableFull, err)
		return t.doomed
	}
	if err == nil {
		t.lockAt = t.lockCount() + lockStep
	}
	return err
}

// noteDeadlock dooms the transaction where err says that it was the victim.
func (t *Txn) noteDeadlock(err error) {
	if errors.Is(err, storage.ErrDeadlock) {
		t.doomed = storage.ErrDeadlock
	}
}

// Reserve implements storage.Txn; in this process Insert has all at hand.
func (t *Txn) Reserve(ctx context.Context, keys [][]byte) error {
	if err := t.writable(); err != nil || t.remote == nil {
		return err
	}
	_, err := t.lockRemote(ctx, keys, storage.LockOptions{})
	return err
}

// Insert implements storage.Txn.
func (t *Txn) Insert(ctx context.Context, key, value []byte) error {
	if err := t.writable(); err != nil {
		return err
	}
	grow, err := t.check(key, value)
	if err != nil {
		return err
	}
	found, err := t.lockAbsent(ctx, key)
	if err != nil {
		return err
	}
	if found != nil {
		return &storage.KeyExistsError{Key: bytes.Clone(key), Value: found}
	}
	return t.write(ctx, key, value, grow)
}

// lockAbsent locks a key that is probably absent, and returns a copy of its latest value;
// nil when it is.
func (t *Txn) lockAbsent(ctx context.Context, key []byte) ([]byte, error) {
	if t.remote != nil {
		got, err := t.lockRemote(ctx, [][]byte{key}, storage.LockOptions{})
		if err != nil {
			return nil, err
		}
		return got[0].Value, nil
	}
	if err := t.lockKey(ctx, key, storage.LockOptions{}); err != nil {
		return nil, err
	}
	if e, ok := t.buf.find(key); ok {
		return bytes.Clone(e.value()), nil
	}
	v, err := t.m.engine.GetPresumedAbsent(ctx, key, nil)
	if errors.Is(err, storage.ErrNotFound) {
		return nil, nil
	}
	return v, err
}

// writable returns the error of a transaction that cannot write.
func (t *Txn) writable() error {
	if err := t.usable(); err != nil {
		return err
	}
	if t.opts.ReadOnly {
		return storage.ErrReadOnly
	}
	return nil
}

// check returns by how much a pair would grow the buffer, or the error of the
// limit that it breaks.
func (t *Txn) check(key, value []byte) (int64, error) {
	if err := CheckPair(t.m.caps, key, value); err != nil {
		return 0, err
	}
	return t.checkGrow(key, value)
}

func (t *Txn) checkGrow(key, value []byte) (int64, error) {
	grow := t.buf.grow(key, value)
	if size := t.bytes() + grow; grow > 0 && size > t.opts.MaxSize {
		return 0, &storage.LimitError{Class: storage.ErrTxnTooLarge, Size: size, Limit: t.opts.MaxSize}
	}
	return grow, nil
}

func (t *Txn) put(key, value []byte, grow int64) {
	t.buf.set(key, value, grow)
	t.own.weight.Add(1)
}

const (
	// noteStep and lockStep are how often opts.Memory is updated, by bytes of writes and
	// by locks. A write takes entryBytes next to key and value, in the tree and in the
	// lock table, and once more its size in the batch of the commit. Another lock takes
	// lockBytes next to its key.
	noteStep   = 64 << 10
	pruneStep  = 1 << 20
	entryBytes = 200
	lockStep   = 512
	lockBytes  = 160
	// aheadLocks is more than the locks that a change has ahead of its writes.
	aheadLocks = 8192
	// A savepoint takes sameMark where nothing was written after the one before, and up to
	// markBytes with its copy of the nodes that have changed.
	sameMark  = 64
	markBytes = 4 << 10
)

// memory is what writes, savepoints and locks take, when the writes grow.
func (t *Txn) memory(grow int64) int64 {
	entries := int64(t.buf.Len())
	locks := max(int64(t.lockCount())-entries, 0)
	size := t.bytes() + grow
	return size + max(size, t.buf.arena.held) + entries*entryBytes + locks*lockBytes + t.own.keyBytes + t.markBytes
}

// note counts the memory of writes and locks, before a write that takes grow bytes.
func (t *Txn) note(grow int64) error {
	if t.buf.arena.held >= 2*(t.bytes()+t.pruned)+pruneStep {
		t.prune()
	}
	err := t.noteOnce(grow)
	if c, ok := t.opts.Memory.(storage.Collector); ok && err != nil && t.buf.arena.held >= t.bytes()+pruneStep {
		c.Collect()
		t.prune()
		err = t.noteOnce(grow)
	}
	t.overflow = t.overflow || err != nil
	return err
}

func (t *Txn) noteOnce(grow int64) error {
	held := t.memory(grow)
	if n := held - t.noted; n > 0 {
		if err := t.opts.Memory.Grow(n); err != nil {
			return err
		}
		t.noted = held
	}
	t.giveBack(held)
	t.since = 0
	return nil
}

// prune forgets chunks of memory that the garbage collector has freed.
func (t *Txn) prune() {
	a := &t.buf.arena
	kept := a.large[:0]
	marks := t.marks
	for i, c := range a.large {
		for ; len(marks) > 0 && marks[0].large <= i; marks = marks[1:] {
			marks[0].large = len(kept)
		}
		if c.gone.Load() {
			a.held -= c.n
			continue
		}
		kept = append(kept, c)
	}
	for i := range marks {
		marks[i].large = len(kept)
	}
	clear(a.large[len(kept):])
	a.large, t.pruned = kept, a.held
}

// giveBack gives back what is counted beyond held.
func (t *Txn) giveBack(held int64) {
	if t.noted > held {
		t.opts.Memory.Shrink(t.noted - held)
		t.noted = held
	}
}

// Put implements storage.Txn.
func (t *Txn) Put(ctx context.Context, key, value []byte) error {
	if err := t.writable(); err != nil {
		return err
	}
	grow, err := t.check(key, value)
	if err != nil {
		return err
	}
	return t.write(ctx, key, value, grow)
}

// Delete implements storage.Txn.
func (t *Txn) Delete(ctx context.Context, key []byte) error {
	if err := t.writable(); err != nil {
		return err
	}
	if err := CheckPair(t.m.caps, key, minKey[:]); err != nil {
		return err
	}
	grow, err := t.checkGrow(key, nil)
	if err != nil {
		return err
	}
	return t.write(ctx, key, nil, grow)
}

// Savepoint implements storage.Txn.
func (t *Txn) Savepoint() storage.Savepoint {
	t.lastSP++
	t.overflow = false
	m := mark{id: t.lastSP, state: t.buf.freeze(), locks: len(t.own.held), large: len(t.buf.arena.large), bytes: sameMark}
	if t.shown != nil {
		m.shown = t.shown.freeze()
	}
	if n := len(t.marks); n == 0 || t.marks[n-1].state != m.state {
		m.bytes = min(sameMark*int64(1+t.buf.Len()), markBytes)
	}
	t.marks = append(t.marks, m)
	t.markBytes += m.bytes
	t.since += m.bytes
	return t.lastSP
}

// dropMarks forgets the savepoints from i up to before j.
func (t *Txn) dropMarks(i, j int) {
	for _, m := range t.marks[i:j] {
		t.markBytes -= m.bytes
	}
	t.marks = slices.Delete(t.marks, i, j)
}

// findMark is the position of a savepoint, or -1.
func (t *Txn) findMark(sp storage.Savepoint) int {
	if n := len(t.marks); n > 0 && t.marks[n-1].id == sp {
		return n - 1
	}
	if i, ok := slices.BinarySearchFunc(t.marks, sp, func(m mark, id storage.Savepoint) int { return cmp.Compare(m.id, id) }); ok {
		return i
	}
	return -1
}

// RollbackTo implements storage.Txn. Savepoints that are later than sp are
// forgotten.
func (t *Txn) RollbackTo(sp storage.Savepoint) error {
	if err := t.usable(); err != nil {
		return err
	}
	i := t.findMark(sp)
	if i < 0 {
		return fmt.Errorf("savepoint %d does not exist", sp)
	}
	t.dropMarks(i+1, len(t.marks))
	t.buf.arena.cut(t.marks[i].large)
	if t.buf.frz != t.marks[i].state {
		t.writing.Lock()
		t.buf.restore(t.marks[i].state)
		t.writing.Unlock()
	}
	switch shown := t.marks[i].shown; {
	case shown != nil:
		t.shown.restore(shown)
	default:
		t.shown = nil
	}
	if t.overflow {
		t.m.locks.release(&t.own, t.marks[i].locks)
		t.overflow, t.lockAt = false, min(t.lockAt, t.lockCount()+lockStep)
	}
	if t.noted > 0 {
		t.giveBack(t.memory(0))
	}
	return nil
}

// Release implements storage.Txn; an unknown savepoint is ignored.
func (t *Txn) Release(sp storage.Savepoint) {
	if i := t.findMark(sp); i >= 0 {
		t.dropMarks(i, len(t.marks))
	}
}

// Forget implements storage.Txn; an unknown savepoint is ignored.
func (t *Txn) Forget(sp storage.Savepoint) {
	if i := t.findMark(sp); i >= 0 {
		t.dropMarks(i, i+1)
	}
}

// Size implements storage.Txn.
func (t *Txn) Size() int64 { return t.buf.Size() }

// Dirty implements storage.Txn.
func (t *Txn) Dirty() bool { return t.buf.Len() > 0 || t.buf.stamped != nil }

// Commit implements storage.Txn. It fails without effect when ctx is already
// done; later cancellation does not stop it.
func (t *Txn) Commit(ctx context.Context) (uint64, error) {
	if err := t.usable(); err != nil {
		t.Rollback()
		return 0, err
	}
	if ctx.Err() != nil {
		t.Rollback()
		return 0, context.Cause(ctx)
	}
	defer t.Rollback()
	if !t.Dirty() {
		if v := t.view.Load(); v != nil {
			return v.Seq(), nil
		}
		return t.m.engine.Seq(), nil
	}
	t.noteHull()
	if t.remote != nil {
		return t.remote.Commit(ctx, &t.buf, t.visible)
	}
	return t.m.engine.Apply(ctx, &t.buf, t.opts.Durability, t.visible)
}

// visible is called when the writes can be seen.
func (t *Txn) visible(seq uint64) {
	for _, w := range t.raises {
		w.Raise(seq)
	}
	t.release()
}

// release ends the locks. It is idempotent.
func (t *Txn) release() {
	if t.released {
		return
	}
	t.released = true
	t.m.locks.releaseAll(&t.own)
	if t.ranges != nil {
		t.m.ranges.release(&t.own)
	}
	if t.ranges != nil || t.listed {
		t.own.gate.open(true, nil)
	}
}

// Rollback implements storage.Txn.
func (t *Txn) Rollback() {
	if t.ended {
		return
	}
	t.ended = true
	t.raises = nil
	if t.remote != nil {
		t.remote.End()
		t.m.owners.Delete(t.own.id)
	}
	t.release()
	if v := t.view.Swap(nil); v != nil {
		_ = v.Close() // a snapshot has nothing to lose
	}
	t.dropWrites()
	t.marks, t.shown = nil, nil
	t.giveBack(0)
}

func (t *Txn) dropWrites() {
	if !t.listed {
		t.buf.Drop()
		return
	}
	t.m.writersOf(t).remove(t)
	t.writing.Lock()
	defer t.writing.Unlock()
	t.buf.Drop()
	t.first, t.last = nil, nil
}

// LockWait is how long the transaction has waited for locks.
func (t *Txn) LockWait() time.Duration { return time.Duration(t.own.waited.Load()) }
