package tikvtest

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"

	"github.com/pingcap/kvproto/pkg/errorpb"
	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tikv/client-go/v2/tikvrpc"
)

// call serves one call. An error means that the call is not known.
func (c *Cluster) call(ctx context.Context, addr string, req *tikvrpc.Request) (*tikvrpc.Response, error) {
	if req.Type == tikvrpc.CmdPessimisticLock {
		return c.pessimisticLock(ctx, addr, req)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if resp := c.storeCall(req); resp != nil {
		return &tikvrpc.Response{Resp: resp}, nil
	}
	in, re := c.region(addr, &req.Context)
	if re != nil {
		return tikvrpc.GenRegionErrorResp(req, re)
	}
	resp := c.regionCall(in, req)
	if resp == nil {
		return nil, fmt.Errorf("tikvtest: %v is not served", req.Type)
	}
	return &tikvrpc.Response{Resp: resp}, nil
}

// storeCall serves the calls that belong to no region; nil for the others.
func (c *Cluster) storeCall(req *tikvrpc.Request) any {
	switch r := req.Req.(type) {
	case *kvrpcpb.UnsafeDestroyRangeRequest:
		var all []*entry
		c.each(r.StartKey, r.EndKey, func(e *entry) bool {
			all = append(all, e)
			return true
		})
		for _, e := range all {
			e.unlock()
			c.data.Delete(e)
		}
		return &kvrpcpb.UnsafeDestroyRangeResponse{}
	case *kvrpcpb.GetLockWaitInfoRequest:
		return c.lockWaits()
	case *kvrpcpb.StoreSafeTSRequest:
		return &kvrpcpb.StoreSafeTSResponse{}
	case *kvrpcpb.BroadcastTxnStatusRequest:
		return &kvrpcpb.BroadcastTxnStatusResponse{}
	case *kvrpcpb.GetHealthFeedbackRequest:
		return &kvrpcpb.GetHealthFeedbackResponse{}
	}
	return nil
}

// regionCall serves the calls to a region; nil for those that are not known.
func (c *Cluster) regionCall(in bounds, req *tikvrpc.Request) any {
	switch r := req.Req.(type) {
	case *kvrpcpb.GetRequest:
		return c.get(r, &req.Context)
	case *kvrpcpb.BatchGetRequest:
		return c.batchGet(r, &req.Context)
	case *kvrpcpb.ScanRequest:
		return c.scan(in, r, &req.Context)
	case *kvrpcpb.PessimisticRollbackRequest:
		return c.pessimisticRollback(in, r)
	case *kvrpcpb.PrewriteRequest:
		return c.prewrite(r)
	case *kvrpcpb.CommitRequest:
		return c.commit(r)
	case *kvrpcpb.BatchRollbackRequest:
		return &kvrpcpb.BatchRollbackResponse{Error: c.rollbackAll(r.Keys, r.StartVersion)}
	case *kvrpcpb.CleanupRequest:
		return c.cleanup(r)
	case *kvrpcpb.TxnHeartBeatRequest:
		return c.heartBeat(r)
	case *kvrpcpb.CheckTxnStatusRequest:
		return c.checkStatus(r)
	case *kvrpcpb.CheckSecondaryLocksRequest:
		return c.checkSecondaries(r)
	case *kvrpcpb.ResolveLockRequest:
		return c.resolve(in, r)
	case *kvrpcpb.ScanLockRequest:
		return c.scanLocks(in, r)
	case *kvrpcpb.GCRequest:
		return c.gc(in, r)
	case *kvrpcpb.SplitRegionRequest:
		return &kvrpcpb.SplitRegionResponse{RegionError: &errorpb.Error{Message: "split by Cluster.Split"}}
	}
	return nil
}

func (c *Cluster) get(r *kvrpcpb.GetRequest, ctx *kvrpcpb.Context) *kvrpcpb.GetResponse {
	e := c.peek(r.Key)
	if e == nil {
		return &kvrpcpb.GetResponse{NotFound: true}
	}
	w, ke := e.read(r.Version, ctx)
	switch {
	case ke != nil:
		return &kvrpcpb.GetResponse{Error: ke}
	case w == nil:
		return &kvrpcpb.GetResponse{NotFound: true}
	}
	resp := &kvrpcpb.GetResponse{Value: w.value}
	if r.NeedCommitTs {
		resp.CommitTs = w.commit
	}
	return resp
}

func (c *Cluster) batchGet(r *kvrpcpb.BatchGetRequest, ctx *kvrpcpb.Context) *kvrpcpb.BatchGetResponse {
	resp := &kvrpcpb.BatchGetResponse{}
	for _, key := range r.Keys {
		if e := c.peek(key); e != nil {
			resp.Pairs = appendPair(resp.Pairs, e, r.Version, ctx, false)
		}
	}
	return resp
}

// appendPair adds what a reader at ts sees of an entry: its value, its lock or nothing.
func appendPair(to []*kvrpcpb.KvPair, e *entry, ts uint64, ctx *kvrpcpb.Context, keyOnly bool) []*kvrpcpb.KvPair {
	w, ke := e.read(ts, ctx)
	switch {
	case ke != nil:
		return append(to, &kvrpcpb.KvPair{Key: e.key, Error: ke})
	case w == nil:
		return to
	case keyOnly:
		return append(to, &kvrpcpb.KvPair{Key: e.key})
	}
	return append(to, &kvrpcpb.KvPair{Key: e.key, Value: w.value})
}

func (c *Cluster) scan(in bounds, r *kvrpcpb.ScanRequest, ctx *kvrpcpb.Context) *kvrpcpb.ScanResponse {
	resp := &kvrpcpb.ScanResponse{}
	visit := func(e *entry) bool {
		resp.Pairs = appendPair(resp.Pairs, e, r.Version, ctx, r.KeyOnly)
		return len(resp.Pairs) < int(r.Limit)
	}
	start, end, each := r.StartKey, r.EndKey, c.each
	if r.Reverse { // from before StartKey down to EndKey
		start, end, each = r.EndKey, r.StartKey, c.eachDown
	}
	if bytes.Compare(start, in.start) < 0 {
		start = in.start
	}
	if len(end) == 0 || in.end != nil && bytes.Compare(end, in.end) > 0 {
		end = in.end
	}
	each(start, end, visit)
	return resp
}

func (c *Cluster) prewrite(r *kvrpcpb.PrewriteRequest) *kvrpcpb.PrewriteResponse {
	resp := &kvrpcpb.PrewriteResponse{}
	for i, m := range r.Mutations {
		action := kvrpcpb.PrewriteRequest_DO_CONSTRAINT_CHECK
		if r.ForUpdateTs > 0 { // a pessimistic transaction
			action = r.PessimisticActions[i]
		}
		if ke := c.find(m.Key).mayPrewrite(r, m, action); ke != nil {
			resp.Errors = append(resp.Errors, ke)
		}
	}
	if len(resp.Errors) > 0 {
		return resp
	}
	for _, m := range r.Mutations {
		if m.Op != kvrpcpb.Op_CheckNotExists {
			c.find(m.Key).prewrite(r, m)
		}
	}
	return resp
}

// mayPrewrite is the error of a key that cannot be prewritten.
func (e *entry) mayPrewrite(r *kvrpcpb.PrewriteRequest, m *kvrpcpb.Mutation, action kvrpcpb.PrewriteRequest_PessimisticAction) *kvrpcpb.KeyError {
	if e.lock != nil && !e.holds(r.StartVersion) {
		return e.locked()
	}
	done := e.of(r.StartVersion)
	switch {
	case done != nil && done.op == kvrpcpb.Op_Rollback:
		return e.conflict(r.StartVersion, done, r.PrimaryLock, kvrpcpb.WriteConflict_SelfRolledBack)
	case done != nil || e.lock != nil: // a second time
		return nil
	case action == kvrpcpb.PrewriteRequest_DO_PESSIMISTIC_CHECK:
		return &kvrpcpb.KeyError{Abort: fmt.Sprintf("pessimistic lock of %x not found", e.key)}
	}
	if w := e.newest(); action == kvrpcpb.PrewriteRequest_DO_CONSTRAINT_CHECK && w != nil && w.commit > r.StartVersion {
		return e.conflict(r.StartVersion, w, r.PrimaryLock, kvrpcpb.WriteConflict_Optimistic)
	}
	if (m.Op == kvrpcpb.Op_Insert || m.Op == kvrpcpb.Op_CheckNotExists) && e.at(maxTS) != nil {
		return &kvrpcpb.KeyError{AlreadyExist: &kvrpcpb.AlreadyExist{Key: e.key}}
	}
	return nil
}

func (e *entry) conflict(start uint64, w *write, primary []byte, why kvrpcpb.WriteConflict_Reason) *kvrpcpb.KeyError {
	return &kvrpcpb.KeyError{Conflict: &kvrpcpb.WriteConflict{StartTs: start, ConflictTs: w.start, ConflictCommitTs: w.commit, Key: e.key, Primary: primary, Reason: why}}
}

// prewrite locks the key with its new value. A call that was repeated has no effect.
func (e *entry) prewrite(r *kvrpcpb.PrewriteRequest, m *kvrpcpb.Mutation) {
	if e.of(r.StartVersion) != nil || e.lock != nil && e.lock.op != kvrpcpb.Op_PessimisticLock {
		return
	}
	if e.lock == nil {
		e.lock = &lock{start: r.StartVersion, freed: make(chan struct{})}
	}
	l := e.lock
	l.primary, l.op, l.value = bytes.Clone(r.PrimaryLock), m.Op, bytes.Clone(m.Value)
	if m.Op == kvrpcpb.Op_Insert {
		l.op = kvrpcpb.Op_Put
	}
	l.ttl, l.forUpdate = max(l.ttl, r.LockTtl), max(l.forUpdate, r.ForUpdateTs)
	l.minCommit = max(l.minCommit, r.MinCommitTs, r.StartVersion+1)
}

func (c *Cluster) commit(r *kvrpcpb.CommitRequest) *kvrpcpb.CommitResponse {
	for _, key := range r.Keys {
		e := c.find(key)
		if e.holds(r.StartVersion) {
			if min := e.lock.minCommit; r.CommitVersion < min {
				return &kvrpcpb.CommitResponse{Error: &kvrpcpb.KeyError{CommitTsExpired: &kvrpcpb.CommitTsExpired{
					StartTs: r.StartVersion, AttemptedCommitTs: r.CommitVersion, Key: e.key, MinCommitTs: min}}}
			}
		} else if w := e.of(r.StartVersion); w == nil || w.op == kvrpcpb.Op_Rollback {
			return &kvrpcpb.CommitResponse{Error: &kvrpcpb.KeyError{Retryable: fmt.Sprintf("lock of %x by %d not found", key, r.StartVersion),
				TxnLockNotFound: &kvrpcpb.TxnLockNotFound{Key: e.key}}}
		}
	}
	for _, key := range r.Keys {
		if e := c.find(key); e.holds(r.StartVersion) {
			e.commit(r.CommitVersion)
		}
	}
	return &kvrpcpb.CommitResponse{CommitVersion: r.CommitVersion}
}

// rollbackAll takes back the locks of a transaction; the error of a key that it has
// committed.
func (c *Cluster) rollbackAll(keys [][]byte, start uint64) *kvrpcpb.KeyError {
	for _, key := range keys {
		if ke := c.find(key).committed(start); ke != nil {
			return ke
		}
	}
	for _, key := range keys {
		c.find(key).rollback(start)
	}
	return nil
}

// committed is the error of who rolls back what is committed.
func (e *entry) committed(start uint64) *kvrpcpb.KeyError {
	if w := e.of(start); w != nil && w.op != kvrpcpb.Op_Rollback {
		return &kvrpcpb.KeyError{Abort: fmt.Sprintf("%x is committed at %d", e.key, w.commit)}
	}
	return nil
}

func (c *Cluster) cleanup(r *kvrpcpb.CleanupRequest) *kvrpcpb.CleanupResponse {
	e := c.find(r.Key)
	if w := e.of(r.StartVersion); w != nil && w.op != kvrpcpb.Op_Rollback {
		return &kvrpcpb.CleanupResponse{CommitVersion: w.commit}
	}
	if e.holds(r.StartVersion) && r.CurrentTs != 0 && !e.lock.expired(r.CurrentTs) {
		return &kvrpcpb.CleanupResponse{Error: e.locked()}
	}
	e.rollback(r.StartVersion)
	return &kvrpcpb.CleanupResponse{}
}

func (c *Cluster) heartBeat(r *kvrpcpb.TxnHeartBeatRequest) *kvrpcpb.TxnHeartBeatResponse {
	e := c.peek(r.PrimaryLock)
	if e == nil || !e.holds(r.StartVersion) {
		return &kvrpcpb.TxnHeartBeatResponse{Error: &kvrpcpb.KeyError{TxnNotFound: &kvrpcpb.TxnNotFound{StartTs: r.StartVersion, PrimaryKey: r.PrimaryLock}}}
	}
	e.lock.ttl = max(e.lock.ttl, r.AdviseLockTtl)
	return &kvrpcpb.TxnHeartBeatResponse{LockTtl: e.lock.ttl}
}

// checkStatus says how a transaction stands, by its primary key, and ends one whose
// time is over.
func (c *Cluster) checkStatus(r *kvrpcpb.CheckTxnStatusRequest) *kvrpcpb.CheckTxnStatusResponse {
	e := c.find(r.PrimaryKey)
	if !e.holds(r.LockTs) {
		return e.statusWithoutLock(r)
	}
	l := e.lock
	switch {
	case r.VerifyIsPrimary && !bytes.Equal(l.primary, e.key):
		return &kvrpcpb.CheckTxnStatusResponse{Error: &kvrpcpb.KeyError{PrimaryMismatch: &kvrpcpb.PrimaryMismatch{LockInfo: e.info()}}}
	case l.expired(r.CurrentTs) && r.ResolvingPessimisticLock && l.op == kvrpcpb.Op_PessimisticLock:
		e.unlock()
		return &kvrpcpb.CheckTxnStatusResponse{Action: kvrpcpb.Action_TTLExpirePessimisticRollback}
	case l.expired(r.CurrentTs):
		e.rollback(r.LockTs)
		return &kvrpcpb.CheckTxnStatusResponse{Action: kvrpcpb.Action_TTLExpireRollback}
	}
	resp := &kvrpcpb.CheckTxnStatusResponse{LockTtl: l.ttl}
	if r.CallerStartTs != maxTS && l.minCommit > 0 && r.CallerStartTs >= l.minCommit {
		l.minCommit = max(r.CallerStartTs+1, r.CurrentTs)
	}
	if r.CallerStartTs == maxTS || r.CallerStartTs > 0 && l.minCommit > r.CallerStartTs {
		resp.Action = kvrpcpb.Action_MinCommitTSPushed
	}
	resp.LockInfo = e.info()
	return resp
}

func (e *entry) statusWithoutLock(r *kvrpcpb.CheckTxnStatusRequest) *kvrpcpb.CheckTxnStatusResponse {
	w := e.of(r.LockTs)
	switch {
	case w != nil && w.op != kvrpcpb.Op_Rollback:
		return &kvrpcpb.CheckTxnStatusResponse{CommitVersion: w.commit}
	case w != nil:
		return &kvrpcpb.CheckTxnStatusResponse{}
	case !r.RollbackIfNotExist:
		return &kvrpcpb.CheckTxnStatusResponse{Error: &kvrpcpb.KeyError{TxnNotFound: &kvrpcpb.TxnNotFound{StartTs: r.LockTs, PrimaryKey: e.key}}}
	case r.ResolvingPessimisticLock:
		return &kvrpcpb.CheckTxnStatusResponse{Action: kvrpcpb.Action_LockNotExistDoNothing}
	}
	e.rollback(r.LockTs)
	return &kvrpcpb.CheckTxnStatusResponse{Action: kvrpcpb.Action_LockNotExistRollback}
}

func (c *Cluster) checkSecondaries(r *kvrpcpb.CheckSecondaryLocksRequest) *kvrpcpb.CheckSecondaryLocksResponse {
	resp := &kvrpcpb.CheckSecondaryLocksResponse{}
	for _, key := range r.Keys {
		e := c.find(key)
		if e.holds(r.StartVersion) && e.lock.op != kvrpcpb.Op_PessimisticLock {
			resp.Locks = append(resp.Locks, e.info())
			continue
		}
		if w := e.of(r.StartVersion); w != nil && w.op != kvrpcpb.Op_Rollback {
			return &kvrpcpb.CheckSecondaryLocksResponse{CommitTs: w.commit}
		}
		e.rollback(r.StartVersion)
		return &kvrpcpb.CheckSecondaryLocksResponse{}
	}
	return resp
}

// resolve commits or takes back what transactions with a known end have left.
func (c *Cluster) resolve(in bounds, r *kvrpcpb.ResolveLockRequest) *kvrpcpb.ResolveLockResponse {
	ends := map[uint64]uint64{}
	for _, t := range r.TxnInfos {
		ends[t.Txn] = t.Status
	}
	if len(r.TxnInfos) == 0 {
		ends[r.StartVersion] = r.CommitVersion
	}
	end := func(e *entry) bool {
		if e.lock == nil {
			return true
		}
		commit, ok := ends[e.lock.start]
		switch {
		case !ok:
		case commit > 0 && e.lock.op != kvrpcpb.Op_PessimisticLock:
			e.commit(commit)
		case commit > 0:
			e.unlock()
		default:
			e.rollback(e.lock.start)
		}
		return true
	}
	if len(r.Keys) == 0 {
		c.each(in.start, in.end, end)
	}
	for _, key := range r.Keys {
		end(c.find(key))
	}
	return &kvrpcpb.ResolveLockResponse{}
}

func (c *Cluster) scanLocks(in bounds, r *kvrpcpb.ScanLockRequest) *kvrpcpb.ScanLockResponse {
	resp := &kvrpcpb.ScanLockResponse{}
	start, end := r.StartKey, r.EndKey
	if bytes.Compare(start, in.start) < 0 {
		start = in.start
	}
	if len(end) == 0 || in.end != nil && bytes.Compare(end, in.end) > 0 {
		end = in.end
	}
	c.each(start, end, func(e *entry) bool {
		if e.lock != nil && e.lock.start <= r.MaxVersion {
			resp.Locks = append(resp.Locks, e.info())
		}
		return r.Limit == 0 || len(resp.Locks) < int(r.Limit)
	})
	return resp
}

func (c *Cluster) gc(in bounds, r *kvrpcpb.GCRequest) *kvrpcpb.GCResponse {
	var empty []*entry
	c.each(in.start, in.end, func(e *entry) bool {
		if e.prune(r.SafePoint) {
			empty = append(empty, e)
		}
		return true
	})
	for _, e := range empty {
		c.data.Delete(e)
	}
	return &kvrpcpb.GCResponse{}
}

// one reports whether an event of probability p happens.
func one(p float64) bool { return p > 0 && rand.Float64() < p }
