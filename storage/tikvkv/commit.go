package tikvkv

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	tikverr "github.com/tikv/client-go/v2/error"
	"github.com/tikv/client-go/v2/tikv"
	"github.com/tikv/client-go/v2/tikvrpc"
	"github.com/tikv/client-go/v2/tikvrpc/interceptor"
	"github.com/tikv/client-go/v2/txnkv/transaction"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/txn"
)

// write writes the pairs of a commit; a nil value deletes.
type write func(put func(key, value []byte) error) error

// noFlight is the id of a commit without stamps.
const noFlight = 0

// commit commits a buffer by a transaction, which has ended afterwards. A call that has
// begun is not ended by ctx.
func (s *Store) commit(ctx context.Context, t *transaction.KVTxn, b *txn.Buffer, visible func(uint64)) (uint64, error) {
	id := noFlight
	if b.Stamped() > 0 {
		id = s.flight.begin(s.seen.Load())
	}
	seq, err := s.commitAs(ctx, t, id, func(put func(key, value []byte) error) error {
		if err := s.putStamped(ctx, id, b, put); err != nil {
			return err
		}
		return putAll(b, put)
	})
	if err != nil {
		return 0, err
	}
	visible(seq)
	return seq, nil
}

// putStamped takes the stamp of a commit and fills it into its stamped writes.
func (s *Store) putStamped(ctx context.Context, id int, b *txn.Buffer, put func(key, value []byte) error) error {
	if b.Stamped() == 0 {
		return nil
	}
	stamp, err := s.now(context.WithoutCancel(ctx))
	if err != nil {
		return err
	}
	micros := s.flight.took(id, stamp)
	raise := s.marks.Raise(stamp)
	b.EachStamped(func(key, value []byte, at storage.Stamp) bool {
		k, v := bytes.Clone(key), bytes.Clone(value)
		txn.Fill(k, v, at, stamp, micros)
		raise.Wrote(k, at)
		err = put(k, v)
		return err == nil
	})
	return err
}

func putAll(b *txn.Buffer, put func(key, value []byte) error) (err error) {
	b.Each(func(key, value []byte) bool {
		err = put(key, value)
		return err == nil
	})
	return err
}

// commitAs commits what fill writes, as the commit id in flight.
func (s *Store) commitAs(ctx context.Context, t *transaction.KVTxn, id int, fill write) (uint64, error) {
	err := fill(func(key, value []byte) error {
		if value == nil {
			return t.Delete(s.out(key))
		}
		return t.Set(s.out(key), value)
	})
	if err != nil {
		_ = t.Rollback() // nothing of it was sent but locks
		s.flight.end(id)
		return 0, class(err)
	}
	w := &watch{s: s}
	if storage.IsFreeingSpace(ctx) {
		t.SetDiskFullOpt(kvrpcpb.DiskFullOpt_AllowedOnAlmostFull)
	}
	if s.lease != nil {
		t.SetSchemaLeaseChecker(w)
	}
	t.SetRPCInterceptor(interceptor.NewRPCInterceptor("commit", w.wrap))
	err = t.Commit(s.ctx)
	return s.outcome(t, id, w, err)
}

// outcome says how a commit ended.
func (s *Store) outcome(t *transaction.KVTxn, id int, w *watch, err error) (uint64, error) {
	committed, lost, primary, refused := w.end()
	switch {
	case err == nil:
		committed = max(committed, t.CommitTS(), t.StartTS())
	case committed == 0 && (lost || tikverr.IsErrorUndetermined(err)):
		s.unknown.Add(1)
		s.resolve(t.StartTS(), primary, id)
		return 0, fmt.Errorf("%w: %v", storage.ErrUndetermined, err)
	case committed == 0:
		s.flight.end(id)
		if refused {
			return 0, errLease
		}
		if s.closed.Load() {
			return 0, storage.ErrClosed
		}
		if err = class(err); errors.Is(err, storage.ErrConflict) {
			s.conflicts.Add(1)
		}
		return 0, err
	}
	s.see(committed)
	s.flight.end(id)
	s.commits.Add(1)
	return committed, nil
}

// blindTries is how often a commit without locks is begun, until none of its keys is
// committed by another one meanwhile.
const blindTries = 20

// commitBlind commits a buffer of a transaction without locks: its writes hold whatever
// was there before.
func (s *Store) commitBlind(ctx context.Context, b *txn.Buffer, visible func(uint64)) (uint64, error) {
	for try := 1; ; try++ {
		t, err := s.beginBlind(ctx)
		if err != nil {
			return 0, err
		}
		seq, err := s.commit(ctx, t, b, visible)
		if try == blindTries || !errors.Is(err, storage.ErrConflict) {
			return seq, err
		}
	}
}

func (s *Store) beginBlind(ctx context.Context) (*transaction.KVTxn, error) {
	ts, err := s.now(ctx)
	if err != nil {
		return nil, err
	}
	t, err := s.kv.Begin(tikv.WithStartTS(ts))
	return t, class(err)
}

// watch sees the calls of one commit: it knows whether the one that decides was sent and
// answered, and refuses those behind the lease.
type watch struct {
	s *Store

	mu        sync.Mutex
	committed uint64 // the timestamp
	lost      bool   // a call that decides may have taken effect
	refused   bool   // the lease is over
	primary   []byte
}

func (w *watch) end() (committed uint64, lost bool, primary []byte, refused bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.committed, w.lost, w.primary, w.refused
}

// over reports whether a timestamp is behind the lease, and notes it.
func (w *watch) over(ts uint64) bool {
	if w.s.lease == nil || ts < w.s.lease.Until() {
		return false
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refused = true
	return true
}

// CheckBySchemaVer implements transaction.SchemaLeaseChecker. client-go calls it with the
// first timestamp of a commit.
func (w *watch) CheckBySchemaVer(ts uint64, _ transaction.SchemaVer) (*transaction.RelatedSchemaChange, error) {
	if w.over(ts) {
		return nil, errLease
	}
	return nil, nil
}

// wrap sees the calls. One behind the lease gets an answer as the server would give it:
// with an error of its own client-go could not know the outcome.
func (w *watch) wrap(next interceptor.RPCInterceptorFunc) interceptor.RPCInterceptorFunc {
	return func(target string, req *tikvrpc.Request) (*tikvrpc.Response, error) {
		if req.Type != tikvrpc.CmdCommit || req.Commit().CommitRole == kvrpcpb.CommitRole_Secondary {
			return next(target, req)
		}
		r := req.Commit()
		if w.over(r.CommitVersion) {
			return &tikvrpc.Response{Resp: &kvrpcpb.CommitResponse{Error: &kvrpcpb.KeyError{Abort: errLease.Error()}}}, nil
		}
		w.sent(r.PrimaryKey)
		resp, err := next(target, req)
		if err == nil {
			w.answered(r.CommitVersion, resp)
		}
		return resp, err
	}
}

func (w *watch) sent(primary []byte) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.lost, w.primary = true, primary
}

// answered notes the answer of the region. An error of the region says nothing of calls
// before, an answer about the key does.
func (w *watch) answered(ts uint64, resp *tikvrpc.Response) {
	w.mu.Lock()
	defer w.mu.Unlock()
	r, ok := resp.Resp.(*kvrpcpb.CommitResponse)
	switch {
	case !ok:
	case r.RegionError == nil && r.Error == nil:
		w.lost, w.committed = false, ts
	case r.RegionError == nil:
		w.lost = false
	}
}

// resolvePause is how long resolve waits until it looks again.
const resolvePause = 200 * time.Millisecond

// resolve has TiKV say, in the background, how a commit ended, and ends its flight then. A
// commit without stamps keeps no reader waiting.
func (s *Store) resolve(start uint64, primary []byte, id int) {
	if id == noFlight {
		return
	}
	s.background("resolve", func() {
		for s.ctx.Err() == nil {
			st, err := s.kv.GetLockResolver().GetTxnStatus(start, 0, primary)
			if err == nil && st.IsStatusDetermined() {
				s.see(st.CommitTS())
				s.flight.end(id)
				return
			}
			select {
			case <-s.ctx.Done():
			case <-time.After(resolvePause):
			}
		}
	})
}
