package expr

import (
	"context"
	"math"
	"time"

	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// UserLocks is what GET_LOCK and its family need of a session that has such
// locks; a Session may implement it.
type UserLocks interface {
	// GetLock waits until the timeout for the lock; false when that passes.
	GetLock(ctx context.Context, name string, timeout time.Duration) (bool, error)
	// ReleaseLock gives one acquisition back. held: the session held the lock;
	// exists: anybody did.
	ReleaseLock(name string) (held, exists bool)
	// LockOwner is the connection that holds the lock.
	LockOwner(name string) (id uint64, ok bool)
	// ReleaseAllLocks gives all back and counts them.
	ReleaseAllLocks() int
}

// maxLockName is the most characters of a lock's name.
const maxLockName = 64

func lockDefs() []entry {
	return []entry{
		fn("get_lock", "sf", retInt(1), rowGetLock, volatile|loose|ofSession),
		fn("release_lock", "s", retInt(1), namedLock(func(l UserLocks, name string) value.Datum {
			held, exists := l.ReleaseLock(name)
			if !exists {
				return value.Null
			}
			return value.Bool(held)
		}), volatile|loose|nullable|ofSession),
		fn("is_free_lock", "s", retInt(1), namedLock(func(l UserLocks, name string) value.Datum {
			_, used := l.LockOwner(name)
			return value.Bool(!used)
		}), volatile|loose|ofSession),
		fn("is_used_lock", "s", retUint, namedLock(func(l UserLocks, name string) value.Datum {
			if id, used := l.LockOwner(name); used {
				return value.Uint(id)
			}
			return value.Null
		}), volatile|loose|nullable|ofSession),
		fn("release_all_locks", "", retUint, func(c *Ctx, f *Func, _ []value.Datum) (value.Datum, error) {
			l, err := userLocks(c, f)
			if err != nil {
				return value.Null, err
			}
			return value.Uint(uint64(l.ReleaseAllLocks())), nil
		}, volatile|notNull|ofSession),
	}
}

func userLocks(c *Ctx, f *Func) (UserLocks, error) {
	if l, ok := ability[UserLocks](c); ok {
		return l, nil
	}
	return nil, sqlerr.Internal("%s() without a session", f.Name)
}

// lockName checks the name of a lock: 3057.
func lockName(d value.Datum) (string, error) {
	if d.IsNull() {
		return "", sqlerr.UserLockWrongName("NULL")
	}
	name := d.Str()
	if n := len([]rune(name)); n == 0 || n > maxLockName {
		return "", sqlerr.UserLockWrongName(name)
	}
	return name, nil
}

func namedLock(do func(l UserLocks, name string) value.Datum) rowFunc {
	return func(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
		l, err := userLocks(c, f)
		if err != nil {
			return value.Null, err
		}
		name, err := lockName(a[0])
		if err != nil {
			return value.Null, err
		}
		return do(l, name), nil
	}
}

// rowGetLock: a negative timeout waits for ever, NULL not at all.
func rowGetLock(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	l, err := userLocks(c, f)
	if err != nil {
		return value.Null, err
	}
	name, err := lockName(a[0])
	if err != nil {
		return value.Null, err
	}
	var wait time.Duration
	if !a[1].IsNull() {
		wait = math.MaxInt64
		if s := a[1].Float(); s >= 0 && s < 9e9 {
			wait = time.Duration(s * float64(time.Second))
		}
	}
	got, err := l.GetLock(c.context(), name, wait)
	if err != nil {
		return value.Null, err
	}
	return value.Bool(got), nil
}
