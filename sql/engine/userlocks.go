package engine

import (
	"context"
	"sync"
	"time"

	"github.com/sqlots/sqlots/sql/sqlerr"
)

// userLocks are the locks of GET_LOCK: names that the sessions of a server
// take from each other. The zero value is ready to use.
type userLocks struct {
	mu    sync.Mutex
	locks map[string]*userLock
	waits map[uint64]string // the lock that a connection waits for
}

type userLock struct {
	owner uint64
	depth int           // how often the owner took it
	freed chan struct{} // closed when the owner gives it up
}

// Acquire waits for a lock until the timeout; false when that passes. It fails
// with 3058 when the wait would never end because of the locks of owner.
func (u *userLocks) Acquire(ctx context.Context, owner uint64, name string, timeout time.Duration) (bool, error) {
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	for {
		freed, err := u.try(owner, name)
		if err != nil || freed == nil {
			return freed == nil && err == nil, err
		}
		select {
		case <-freed:
		case <-timer.C:
			u.stopWaiting(owner)
			return false, nil
		case <-ctx.Done():
			u.stopWaiting(owner)
			return false, context.Cause(ctx)
		}
	}
}

// try takes the lock, or notes that owner waits for it and returns the channel
// that signals that it is free.
func (u *userLocks) try(owner uint64, name string) (<-chan struct{}, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.locks == nil {
		u.locks, u.waits = map[string]*userLock{}, map[uint64]string{}
	}
	l := u.locks[name]
	switch {
	case l == nil:
		u.locks[name] = &userLock{owner: owner, depth: 1, freed: make(chan struct{})}
	case l.owner == owner:
		l.depth++
	default:
		if u.leadsTo(l.owner, owner) {
			return nil, sqlerr.UserLockDeadlock()
		}
		u.waits[owner] = name
		return l.freed, nil
	}
	delete(u.waits, owner)
	return nil, nil
}

// leadsTo reports whether from waits, over others, for a lock of to.
func (u *userLocks) leadsTo(from, to uint64) bool {
	for range len(u.waits) + 1 {
		if from == to {
			return true
		}
		name, waiting := u.waits[from]
		l := u.locks[name]
		if !waiting || l == nil {
			return false
		}
		from = l.owner
	}
	return false
}

func (u *userLocks) stopWaiting(owner uint64) {
	u.mu.Lock()
	defer u.mu.Unlock()
	delete(u.waits, owner)
}

// Release gives one acquisition back.
func (u *userLocks) Release(owner uint64, name string) (held, exists bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	l := u.locks[name]
	if l == nil || l.owner != owner {
		return false, l != nil
	}
	if l.depth--; l.depth == 0 {
		delete(u.locks, name)
		close(l.freed)
	}
	return true, true
}

// Owner is the connection that holds a lock.
func (u *userLocks) Owner(name string) (uint64, bool) {
	u.mu.Lock()
	defer u.mu.Unlock()
	l := u.locks[name]
	if l == nil {
		return 0, false
	}
	return l.owner, true
}

// ReleaseAll gives up what a connection holds and counts the acquisitions.
func (u *userLocks) ReleaseAll(owner uint64) int {
	u.mu.Lock()
	defer u.mu.Unlock()
	n := 0
	for name, l := range u.locks {
		if l.owner == owner {
			n += l.depth
			delete(u.locks, name)
			close(l.freed)
		}
	}
	return n
}

// The methods below implement expr.UserLocks. Names ignore case.
