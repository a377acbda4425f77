package session

import (
	"context"
	"strings"
	"time"
)

// GetLock implements expr.UserLocks.
func (f *functions) GetLock(ctx context.Context, name string, timeout time.Duration) (bool, error) {
	f.process.SetState("User lock")
	defer f.process.SetState("executing")
	got, err := f.engine.UserLocks.Acquire(ctx, f.process.ID, strings.ToLower(name), timeout)
	return got, translate(err)
}

// ReleaseLock implements expr.UserLocks.
func (f *functions) ReleaseLock(name string) (held, exists bool) {
	return f.engine.UserLocks.Release(f.process.ID, strings.ToLower(name))
}

// LockOwner implements expr.UserLocks.
func (f *functions) LockOwner(name string) (uint64, bool) {
	return f.engine.UserLocks.Owner(strings.ToLower(name))
}

// ReleaseAllLocks implements expr.UserLocks.
func (f *functions) ReleaseAllLocks() int { return f.engine.UserLocks.ReleaseAll(f.process.ID) }
