package tikvtest

import (
	"bytes"
	"context"
	"time"

	"github.com/pingcap/kvproto/pkg/deadlock"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/tikvrpc"
)

// maxWait is how long a call waits for a lock before the client has to call again.
const maxWait = time.Second

// pessimisticLock locks keys, all of a call or none. It waits for the first that
// another transaction holds, once.
func (c *Cluster) pessimisticLock(ctx context.Context, addr string, req *tikvrpc.Request) (*tikvrpc.Response, error) {
	r := req.PessimisticLock()
	c.mu.Lock()
	defer c.mu.Unlock()
	if _, re := c.region(addr, &req.Context); re != nil {
		return tikvrpc.GenRegionErrorResp(req, re)
	}
	resp := &kvrpcpb.PessimisticLockResponse{}
	held, ke := c.tryLock(r, resp)
	if held != nil {
		var err error
		if ke, err = c.awaitLock(ctx, r, held); err != nil {
			return nil, err
		}
	}
	if ke != nil {
		resp = &kvrpcpb.PessimisticLockResponse{Errors: []*kvrpcpb.KeyError{ke}}
	}
	return &tikvrpc.Response{Resp: resp}, nil
}

// tryLock locks the keys of a call, or returns the entry that another one holds, or the
// error of a key.
func (c *Cluster) tryLock(r *kvrpcpb.PessimisticLockRequest, resp *kvrpcpb.PessimisticLockResponse) (held *entry, ke *kvrpcpb.KeyError) {
	for _, m := range r.Mutations {
		e := c.find(m.Key)
		if e.lock != nil && !e.holds(r.StartVersion) {
			return e, nil
		}
		if ke := e.mayLock(r); ke != nil {
			return nil, ke
		}
	}
	for _, m := range r.Mutations {
		e := c.find(m.Key)
		w := e.at(maxTS)
		if r.ReturnValues {
			var value []byte
			if w != nil {
				value = w.value
			}
			resp.Values = append(resp.Values, value)
		}
		if r.ReturnValues || r.CheckExistence {
			resp.NotFounds = append(resp.NotFounds, w == nil)
		}
		if w != nil || !r.LockOnlyIfExists {
			e.lockFor(r)
		}
	}
	return nil, nil
}

// mayLock is the error of a key that is free and cannot be locked.
func (e *entry) mayLock(r *kvrpcpb.PessimisticLockRequest) *kvrpcpb.KeyError {
	if e.lock != nil && e.lock.op != kvrpcpb.Op_PessimisticLock {
		return &kvrpcpb.KeyError{Abort: "the key is prewritten"}
	}
	if done := e.of(r.StartVersion); done != nil {
		return &kvrpcpb.KeyError{Abort: "the transaction has ended"}
	}
	if w := e.newest(); w != nil && w.commit > r.ForUpdateTs {
		return e.conflict(r.StartVersion, w, r.PrimaryLock, kvrpcpb.WriteConflict_PessimisticRetry)
	}
	return nil
}

func (e *entry) lockFor(r *kvrpcpb.PessimisticLockRequest) {
	if e.lock == nil {
		e.lock = &lock{start: r.StartVersion, op: kvrpcpb.Op_PessimisticLock, since: time.Now(), freed: make(chan struct{})}
	}
	l := e.lock
	l.primary = bytes.Clone(r.PrimaryLock)
	l.ttl, l.forUpdate, l.minCommit = max(l.ttl, r.LockTtl), max(l.forUpdate, r.ForUpdateTs), max(l.minCommit, r.MinCommitTs)
}

// awaitLock waits for the end of a lock. The mutex is held, and given up meanwhile.
func (c *Cluster) awaitLock(ctx context.Context, r *kvrpcpb.PessimisticLockRequest, e *entry) (*kvrpcpb.KeyError, error) {
	l := e.lock
	if r.WaitTimeout < 0 {
		return e.locked(), nil
	}
	if ke := c.cycle(r.StartVersion, e); ke != nil {
		return ke, nil
	}
	wait := maxWait
	if d := time.Duration(r.WaitTimeout) * time.Millisecond; d > 0 {
		wait = min(wait, d)
	}
	held := e.locked()
	c.waits[r.StartVersion] = waiting{of: l.start, key: e.key}
	c.mu.Unlock()
	err := l.await(ctx, c.gone, wait)
	c.mu.Lock()
	delete(c.waits, r.StartVersion)
	switch err {
	case nil:
		w := &write{start: l.start, commit: l.start}
		if newest := e.newest(); newest != nil {
			w = newest
		}
		return e.conflict(r.StartVersion, w, r.PrimaryLock, kvrpcpb.WriteConflict_PessimisticRetry), nil
	case errWaited:
		if e.holds(l.start) {
			held = e.locked()
		}
		return held, nil
	}
	return nil, err
}

type waitError string

func (e waitError) Error() string { return string(e) }

const errWaited = waitError("the wait is over")

// await returns nil when the lock has ended, and errWaited when the time is over.
func (l *lock) await(ctx context.Context, gone <-chan struct{}, wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-l.freed:
		return nil
	case <-timer.C:
		return errWaited
	case <-gone:
		return errWaited
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// cycle is the deadlock that a wait of the transaction at start for e would close.
func (c *Cluster) cycle(start uint64, e *entry) *kvrpcpb.KeyError {
	chain := []*deadlock.WaitForEntry{{Txn: start, WaitForTxn: e.lock.start, Key: e.key}}
	for at := e.lock.start; at != start; {
		w, ok := c.waits[at]
		if !ok {
			return nil
		}
		chain = append(chain, &deadlock.WaitForEntry{Txn: at, WaitForTxn: w.of, Key: w.key})
		at = w.of
	}
	last := chain[len(chain)-1]
	return &kvrpcpb.KeyError{Deadlock: &kvrpcpb.Deadlock{LockTs: e.lock.start, LockKey: e.key, DeadlockKey: last.Key, WaitChain: chain}}
}

// pessimisticRollback takes back locks: of the keys, or without any those of the region.
func (c *Cluster) pessimisticRollback(in bounds, r *kvrpcpb.PessimisticRollbackRequest) *kvrpcpb.PessimisticRollbackResponse {
	end := func(e *entry) bool {
		if e != nil && e.holds(r.StartVersion) && e.lock.op == kvrpcpb.Op_PessimisticLock && e.lock.forUpdate <= r.ForUpdateTs {
			e.unlock()
		}
		return true
	}
	if len(r.Keys) == 0 {
		c.each(in.start, in.end, end)
	}
	for _, key := range r.Keys {
		end(c.peek(key))
	}
	return &kvrpcpb.PessimisticRollbackResponse{}
}

func (c *Cluster) lockWaits() *kvrpcpb.GetLockWaitInfoResponse {
	resp := &kvrpcpb.GetLockWaitInfoResponse{}
	for start, w := range c.waits {
		resp.Entries = append(resp.Entries, &deadlock.WaitForEntry{Txn: start, WaitForTxn: w.of, Key: w.key})
	}
	return resp
}
