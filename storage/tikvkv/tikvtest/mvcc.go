package tikvtest

import (
	"bytes"
	"slices"
	"time"

	"github.com/pingcap/kvproto/pkg/kvrpcpb"
	"github.com/tidwall/btree"
	"github.com/tikv/client-go/v2/oracle"
)

// write is one committed version of a key, or the trace of a rollback.
type write struct {
	start, commit uint64
	op            kvrpcpb.Op // Put, Del, Lock or Rollback
	value         []byte
}

// lock is what an open transaction holds under a key.
type lock struct {
	start     uint64
	primary   []byte
	op        kvrpcpb.Op // PessimisticLock before the prewrite
	value     []byte
	ttl       uint64 // milliseconds from the physical part of start
	forUpdate uint64
	minCommit uint64
	since     time.Time
	freed     chan struct{} // closed when the lock ends
}

// entry is all that is known of a key.
type entry struct {
	key    []byte
	lock   *lock
	writes []write // newest first; rollbacks stay at their start
}

type data = btree.BTreeG[*entry]

func newData() *data {
	return btree.NewBTreeGOptions(func(a, b *entry) bool { return bytes.Compare(a.key, b.key) < 0 }, btree.Options{NoLocks: true})
}

// info describes the lock to a client.
func (e *entry) info() *kvrpcpb.LockInfo {
	l := e.lock
	return &kvrpcpb.LockInfo{PrimaryLock: l.primary, LockVersion: l.start, Key: e.key, LockTtl: l.ttl, LockType: l.op,
		LockForUpdateTs: l.forUpdate, MinCommitTs: l.minCommit, DurationToLastUpdateMs: uint64(time.Since(l.since).Milliseconds())}
}

// locked is the error of a key that another transaction holds.
func (e *entry) locked() *kvrpcpb.KeyError { return &kvrpcpb.KeyError{Locked: e.info()} }

// unlock ends the lock and wakes those that wait for it.
func (e *entry) unlock() {
	if e.lock != nil {
		close(e.lock.freed)
		e.lock = nil
	}
}

// holds reports whether the transaction that began at start has the lock.
func (e *entry) holds(start uint64) bool { return e.lock != nil && e.lock.start == start }

// newest is the latest commit, which may have been a lock only; nil without any.
func (e *entry) newest() *write {
	for i := range e.writes {
		if e.writes[i].op != kvrpcpb.Op_Rollback {
			return &e.writes[i]
		}
	}
	return nil
}

// of is what the transaction that began at start left.
func (e *entry) of(start uint64) *write {
	for i := range e.writes {
		if e.writes[i].start == start {
			return &e.writes[i]
		}
	}
	return nil
}

// at is the version that a reader at ts sees; nil when the key is absent.
func (e *entry) at(ts uint64) *write {
	for i := range e.writes {
		w := &e.writes[i]
		if w.commit > ts || w.op == kvrpcpb.Op_Rollback || w.op == kvrpcpb.Op_Lock {
			continue
		}
		if w.op == kvrpcpb.Op_Del {
			return nil
		}
		return w
	}
	return nil
}

// add inserts a version in its place.
func (e *entry) add(w write) {
	i, _ := slices.BinarySearchFunc(e.writes, w.commit, func(x write, ts uint64) int {
		switch {
		case x.commit > ts:
			return -1
		case x.commit < ts:
			return 1
		}
		return 0
	})
	e.writes = slices.Insert(e.writes, i, w)
}

// rollback ends the lock of a transaction and sees to it that it cannot lock the key
// again.
func (e *entry) rollback(start uint64) {
	if e.holds(start) {
		e.unlock()
	}
	if e.of(start) == nil {
		e.add(write{start: start, commit: start, op: kvrpcpb.Op_Rollback})
	}
}

// commit turns the lock of a transaction into a version.
func (e *entry) commit(commit uint64) {
	l := e.lock
	w := write{start: l.start, commit: commit, op: l.op, value: l.value}
	if l.op == kvrpcpb.Op_PessimisticLock {
		w.op = kvrpcpb.Op_Lock
	}
	e.unlock()
	e.add(w)
}

// read is the value at ts. A lock that a commit up to ts may come from is in the way,
// except of those that the reader has dealt with.
func (e *entry) read(ts uint64, ctx *kvrpcpb.Context) (*write, *kvrpcpb.KeyError) {
	l := e.lock
	if l == nil || l.start > ts || l.op == kvrpcpb.Op_Lock || l.op == kvrpcpb.Op_PessimisticLock || l.minCommit > ts {
		return e.at(ts), nil
	}
	latestOfPrimary := ts == maxTS && bytes.Equal(l.primary, e.key)
	switch {
	case latestOfPrimary || slices.Contains(ctx.GetResolvedLocks(), l.start):
		return e.at(ts), nil
	case slices.Contains(ctx.GetCommittedLocks(), l.start):
		if l.op == kvrpcpb.Op_Del {
			return nil, nil
		}
		return &write{start: l.start, commit: l.minCommit, op: l.op, value: l.value}, nil
	}
	return nil, e.locked()
}

// prune drops the versions that no reader at safe or later sees. It reports whether
// nothing is left of the key.
func (e *entry) prune(safe uint64) bool {
	seen := false
	e.writes = slices.DeleteFunc(e.writes, func(w write) bool {
		if w.commit > safe {
			return false
		}
		if w.op == kvrpcpb.Op_Rollback || w.op == kvrpcpb.Op_Lock || seen {
			return true
		}
		seen = true
		return w.op == kvrpcpb.Op_Del
	})
	return e.lock == nil && len(e.writes) == 0
}

// expired reports whether the time of a lock is over at now.
func (l *lock) expired(now uint64) bool {
	return uint64(oracle.ExtractPhysical(l.start))+l.ttl < uint64(oracle.ExtractPhysical(now))
}
