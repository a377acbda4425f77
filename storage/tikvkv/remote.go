package tikvkv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/kv"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/txnkv/transaction"

	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/txn"
)

// remote implements txn.Remote: a pessimistic transaction of client-go, which begins with
// the first lock.
type remote struct {
	s  *Store
	id uint64

	killed uint32 // atomic: client-go reads it
	// t and forUpdate belong to the call that goes on.
	t         *transaction.KVTxn
	forUpdate uint64        // the timestamp of the next call for locks; 0 for a fresh one
	start     atomic.Uint64 // of t
	undo      sync.Once     // End and Close may both roll back

	mu sync.Mutex // guards the rest
	// busy is closed when the call of client-go that goes on has ended; nil before the
	// first one.
	busy  chan struct{}
	known map[string][]byte
	bytes int64    // of keys and values in known
	asked [][]byte // keys of the call that goes on
	since time.Time
	ended bool
}

// running is busy.
func (r *remote) running() chan struct{} {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.busy
}

// Remote implements txn.RemoteStore.
func (s *Store) Remote(id uint64) txn.Remote { return &remote{s: s, id: id} }

// Lock implements txn.Remote.
func (r *remote) Lock(ctx context.Context, keys [][]byte, wait storage.WaitPolicy, timeout time.Duration) ([]storage.Locked, error) {
	if err := r.s.usable(ctx); err != nil {
		return nil, err
	}
	if err := r.await(ctx); err != nil {
		return nil, err
	}
	want := r.unknown(keys)
	var skipped map[string]bool
	var err error
	switch {
	case len(want) == 0:
	case wait == storage.WaitSkip:
		skipped, err = r.lockFree(ctx, want)
	case wait == storage.WaitError:
		err = r.lock(ctx, want, kv.LockNoWait)
	default:
		err = r.lock(ctx, want, max(timeout.Milliseconds(), 1))
	}
	if err != nil {
		return nil, err
	}
	out := make([]storage.Locked, len(keys))
	r.mu.Lock()
	defer r.mu.Unlock()
	for i, key := range keys {
		out[i].Value, out[i].Skipped = bytes.Clone(r.known[string(key)]), skipped[string(key)]
	}
	return out, nil
}

// unknown are the keys that are not locked yet, each once.
func (r *remote) unknown(keys [][]byte) (want [][]byte) {
	r.mu.Lock()
	defer r.mu.Unlock()
	asked := make(map[string]bool, len(keys))
	for _, key := range keys {
		if _, ok := r.known[string(key)]; !ok && !asked[string(key)] {
			asked[string(key)] = true
			want = append(want, bytes.Clone(key))
		}
	}
	return want
}

// lockFree locks the keys that no other transaction holds: all at once, or else one after
// the other.
func (r *remote) lockFree(ctx context.Context, keys [][]byte) (skipped map[string]bool, err error) {
	err = r.lock(ctx, keys, kv.LockNoWait)
	if len(keys) == 1 || !errors.Is(err, storage.ErrNoWait) {
		if errors.Is(err, storage.ErrNoWait) {
			return map[string]bool{string(keys[0]): true}, nil
		}
		return nil, err
	}
	skipped = make(map[string]bool)
	for _, key := range keys {
		err := r.lock(ctx, [][]byte{key}, kv.LockNoWait)
		if errors.Is(err, storage.ErrNoWait) {
			skipped[string(key)] = true
		} else if err != nil {
			return nil, err
		}
	}
	return skipped, nil
}

// await waits for the end of the call that goes on.
func (r *remote) await(ctx context.Context) error {
	busy := r.running()
	if busy == nil {
		return nil
	}
	select {
	case <-busy:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-r.s.ctx.Done():
		return storage.ErrClosed
	}
}

// lock locks keys that are not locked. The wait is in milliseconds, or kv.LockNoWait.
// client-go uses its context for work in the background as well, so it gets none that
// ends with the call: the call leaves client-go behind.
func (r *remote) lock(ctx context.Context, keys [][]byte, wait int64) error {
	done, busy := make(chan error, 1), make(chan struct{})
	atomic.StoreUint32(&r.killed, 0)
	r.ask(keys, busy)
	started := r.s.background("lock", func() {
		defer close(busy)
		err := guard.Run(func() error { return r.lockKeys(keys, wait) })
		guard.Log(r.s.log, "lock", err)
		r.ask(nil, busy)
		done <- err
	})
	if !started {
		close(busy)
		return storage.ErrClosed
	}
	select {
	case err := <-done:
		return r.s.lockError(ctx, err)
	case <-ctx.Done():
		atomic.StoreUint32(&r.killed, 1)
		return context.Cause(ctx)
	case <-r.s.ctx.Done():
		atomic.StoreUint32(&r.killed, 1)
		return storage.ErrClosed
	}
}

// lockError counts an error of a call for locks and gives it its class.
func (s *Store) lockError(ctx context.Context, err error) error {
	if err == nil {
		return nil
	}
	var d *tikverr.ErrDeadlock
	if errors.As(err, &d) {
		s.noteDeadlock(d)
		return fmt.Errorf("%w: %v", storage.ErrDeadlock, err)
	}
	return s.ended(ctx, err)
}

// ask notes what a call asks for, nil when it has it, and what is closed when it ends.
func (r *remote) ask(keys [][]byte, busy chan struct{}) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.asked, r.busy, r.since = keys, busy, time.Now()
}

// lockKeys locks keys at the latest timestamp that may do, and at fresh ones after
// conflicts with commits behind it.
func (r *remote) lockKeys(keys [][]byte, wait int64) error {
	if err := r.begin(); err != nil {
		return err
	}
	out := make([][]byte, len(keys))
	for i, key := range keys {
		out[i] = r.s.out(key)
	}
	slices.SortFunc(out, bytes.Compare)
	began := time.Now()
	patience := time.Duration(max(wait, conflictPatience)) * time.Millisecond
	for waited := false; ; waited = true {
		l, err := r.lockCtx(len(keys), wait, began)
		if err != nil {
			return err
		}
		err = r.t.LockKeys(context.Background(), l, out...)
		if err == nil {
			r.learn(keys, l)
			return nil
		}
		r.forUpdate = 0
		if waited {
			r.s.waits.Add(1)
		}
		if !tikverr.IsErrWriteConflict(err) || atomic.LoadUint32(&r.killed) != 0 {
			return err
		}
		if time.Since(began) > patience {
			return fmt.Errorf("%w: %v", tikverr.ErrLockWaitTimeout, err)
		}
	}
}

// conflictPatience is how long, in milliseconds, a call for locks tries again after
// conflicts at least: they come from old timestamps, too.
const conflictPatience = 1000

// begin begins the transaction of client-go.
func (r *remote) begin() error {
	if r.t != nil {
		return nil
	}
	ts, err := r.s.now(context.Background())
	if err != nil {
		return err
	}
	t, err := r.s.kv.Begin(tikv.WithStartTS(ts))
	if err != nil {
		return err
	}
	t.SetPessimistic(true)
	t.SetVars(kv.NewVariables(&r.killed))
	r.t, r.forUpdate = t, ts
	r.start.Store(ts)
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	if r.s.closed.Load() {
		return storage.ErrClosed // Close knows the others
	}
	r.s.remotes[r] = struct{}{}
	return nil
}

// lockCtx makes the arguments of a call for locks.
func (r *remote) lockCtx(keys int, wait int64, began time.Time) (*kv.LockCtx, error) {
	if r.forUpdate == 0 {
		ts, err := r.s.now(context.Background())
		if err != nil {
			return nil, err
		}
		r.forUpdate = ts
	}
	l := kv.NewLockCtx(r.forUpdate, wait, began)
	l.Killed = &r.killed
	l.InitReturnValues(keys)
	return l, nil
}

// learn remembers what was found under keys: they are locked now, so it stays.
func (r *remote) learn(keys [][]byte, l *kv.LockCtx) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.known == nil {
		r.known = make(map[string][]byte, len(keys))
	}
	for _, key := range keys {
		var value []byte
		if v := l.Values[string(r.s.out(key))]; v.Exists && len(v.Value) > 0 {
			value = v.Value
		}
		r.known[string(key)] = value
		r.bytes += int64(len(key) + len(value))
	}
}

// Known implements txn.Remote.
func (r *remote) Known(key []byte) (value []byte, ok bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	value, ok = r.known[string(key)]
	return value, ok
}

// Held implements txn.Remote.
func (r *remote) Held() (locks int, bytes int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.known), r.bytes
}

// endPatience is how long End waits for the answer of the cluster.
const endPatience = time.Second

// finish marks the end of the transaction. It reports whether that is the first, and
// whether there were calls.
func (r *remote) finish() (first, called bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	first, r.ended = !r.ended, true
	return first, r.busy != nil
}

// End implements txn.Remote. Where a call goes on or the cluster does not answer, it goes
// on behind the caller.
func (r *remote) End() {
	if first, called := r.finish(); !first || !called {
		return
	}
	if !r.s.take(r) {
		return // Close does it
	}
	done := make(chan struct{})
	patience := endPatience
	select {
	case <-r.running():
	default:
		patience = 0
	}
	go guard.Do(r.s.log, "rollback", func() {
		defer r.s.running.Done()
		defer close(done)
		r.rollback()
	})
	select {
	case <-done:
	case <-time.After(patience):
	}
}

// rollback gives the locks back, after the call that goes on. The second caller waits for
// the first.
func (r *remote) rollback() { r.undo.Do(r.giveBack) }

func (r *remote) giveBack() {
	atomic.StoreUint32(&r.killed, 1)
	if busy := r.running(); busy != nil {
		<-busy
	}
	if r.t != nil && r.t.Valid() {
		atomic.StoreUint32(&r.killed, 0)
		_ = r.t.Rollback() // what is left ends with its time
	}
	r.s.mu.Lock()
	defer r.s.mu.Unlock()
	delete(r.s.remotes, r) // the call may have entered it
}

// Commit implements txn.Remote.
func (r *remote) Commit(ctx context.Context, b *txn.Buffer, visible func(uint64)) (uint64, error) {
	if err := r.await(ctx); err != nil {
		return 0, err
	}
	if first, _ := r.finish(); !first {
		return 0, storage.ErrClosed
	}
	if !r.s.take(r) {
		return 0, storage.ErrClosed
	}
	defer r.s.running.Done()
	if r.t == nil {
		return r.s.commitBlind(ctx, b, visible)
	}
	return r.s.commit(ctx, r.t, b, visible)
}

// Locks implements storage.Store: the locks of this Store's transactions. Those of other
// nodes do not show, only that one waits for them.
func (s *Store) Locks() []storage.LockInfo {
	open := s.open()
	by := make(map[string]*storage.LockInfo)
	for _, r := range open {
		r.listHeld(by)
	}
	for _, r := range open {
		r.listWait(by)
	}
	out := s.Manager.Locks()
	for _, info := range by {
		out = append(out, *info)
	}
	slices.SortStableFunc(out, func(a, b storage.LockInfo) int { return bytes.Compare(a.Key, b.Key) })
	return out
}

// Holders implements txn.RemoteStore.
func (s *Store) Holders(keys [][]byte) (ids []uint64) {
	for _, r := range s.open() {
		if r.holdsAny(keys) {
			ids = append(ids, r.id)
		}
	}
	return ids
}

func (r *remote) holdsAny(keys [][]byte) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.ContainsFunc(keys, func(key []byte) bool {
		_, ok := r.known[string(key)]
		return ok
	})
}

// open are the transactions that may have locks.
func (s *Store) open() []*remote {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Collect(maps.Keys(s.remotes))
}

func (r *remote) listHeld(by map[string]*storage.LockInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.known {
		by[key] = &storage.LockInfo{Key: []byte(key), Mode: storage.LockExclusive, Holders: []uint64{r.id}}
	}
}

// listWait lists the first key of the call under way that another one holds.
func (r *remote) listWait(by map[string]*storage.LockInfo) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range r.asked {
		if info := by[string(key)]; info != nil && !slices.Contains(info.Holders, r.id) {
			info.Waiters = append(info.Waiters, r.id)
			info.Waits = append(info.Waits, storage.LockWait{Txn: r.id, Mode: storage.LockExclusive, Since: r.since})
			return
		}
	}
}

// noteDeadlock remembers a cycle of waits. Transactions of this Store have their ids in
// it, others the timestamps at which they began.
func (s *Store) noteDeadlock(d *tikverr.ErrDeadlock) {
	s.deadlocks.Add(1)
	ids := make(map[uint64]uint64)
	s.mu.Lock()
	for r := range s.remotes {
		ids[r.start.Load()] = r.id
	}
	s.mu.Unlock()
	id := func(start uint64) uint64 {
		if n, ok := ids[start]; ok {
			return n
		}
		return start
	}
	out := &storage.Deadlock{Time: time.Now()}
	for _, w := range d.WaitChain {
		key := bytes.TrimPrefix(w.Key, s.prefix)
		out.Cycle = append(out.Cycle, storage.DeadlockWait{Txn: id(w.Txn), Key: key, Mode: storage.LockExclusive})
	}
	if len(out.Cycle) > 0 {
		out.Victim = out.Cycle[0].Txn
	}
	s.deadlock.Store(out)
}

// LastDeadlock implements storage.Store.
func (s *Store) LastDeadlock() *storage.Deadlock {
	far, near := s.deadlock.Load(), s.Manager.LastDeadlock()
	if far == nil || near != nil && near.Time.After(far.Time) {
		return near
	}
	return far
}
