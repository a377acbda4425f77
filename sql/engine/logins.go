package engine

import (
	"strconv"
	"sync"
	"time"

	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// Logins count what accounts do: failed logins one after the other, for
// FAILED_LOGIN_ATTEMPTS, and what they use of their limits in an hour. A start of the server
// begins at zero. The methods may be called concurrently.
type Logins struct {
	mu       sync.Mutex
	failures map[priv.Name]*loginFailures
	usage    map[priv.Name]*usage
}

type loginFailures struct {
	n       int
	blocked time.Time // since when; zero while the account is not
}

const day = 24 * time.Hour

// tried counts a login as the account, from a host.
func (l *Logins) tried(a *catalog.Account, host string, right bool, now time.Time) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	f := l.failures[a.Name()]
	if f == nil {
		if right {
			return nil
		}
		if l.failures == nil {
			l.failures = map[priv.Name]*loginFailures{}
		}
		f = &loginFailures{}
		l.failures[a.Name()] = f
	}
	end := f.blocked.Add(time.Duration(a.LockDays) * day)
	if !f.blocked.IsZero() && a.LockDays > 0 && !now.Before(end) {
		*f = loginFailures{}
	}
	switch {
	case !f.blocked.IsZero():
		return blocked(a, host, end.Sub(now))
	case right:
		delete(l.failures, a.Name())
		return nil
	}
	if f.n++; f.n < a.FailedAttempts {
		return nil
	}
	f.blocked = now
	return blocked(a, host, time.Duration(a.LockDays)*day)
}

func blocked(a *catalog.Account, host string, left time.Duration) error {
	days, remaining := "unlimited", "unlimited"
	if a.LockDays > 0 {
		days, remaining = strconv.Itoa(a.LockDays), strconv.Itoa(int((left+day-1)/day))
	}
	return sqlerr.AccountBlocked(a.User, host, days, remaining, a.FailedAttempts)
}

// Unblock forgets the failed logins of an account.
func (l *Logins) Unblock(n priv.Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.failures, n)
}

// UnblockAll forgets all failed logins.
func (l *Logins) UnblockAll() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = nil
}

// usage is what an account has used since an hour began with its first connection.
type usage struct {
	began                         time.Time
	queries, updates, connections int
}

// used is the usage of an account in the present hour; l.mu is held.
func (l *Logins) used(n priv.Name, now time.Time) *usage {
	u := l.usage[n]
	if u == nil {
		if l.usage == nil {
			l.usage = map[priv.Name]*usage{}
		}
		u = &usage{}
		l.usage[n] = u
	}
	if now.Sub(u.began) >= time.Hour || now.Before(u.began) {
		*u = usage{began: now}
	}
	return u
}

// take counts one more, unless there are as many as the limit allows, which is 0 for none.
func take(used *int, limit int, user, resource string) error {
	if limit == 0 {
		return nil
	}
	if *used >= limit {
		return sqlerr.UserLimitReached(user, resource, limit)
	}
	*used++
	return nil
}

// Connected counts a connection of an account: 1226 if it is one too many.
func (l *Logins) Connected(a *catalog.Account) error {
	if a.MaxConnections == 0 {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return take(&l.used(a.Name(), time.Now()).connections, a.MaxConnections, a.User, "max_connections_per_hour")
}

// Runs counts a statement of an account, update if it changes something: 1226 if it is one
// too many.
func (l *Logins) Runs(a *catalog.Account, update bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	u := l.used(a.Name(), time.Now())
	if err := take(&u.queries, a.MaxQueries, a.User, "max_questions"); err != nil || !update {
		return err
	}
	return take(&u.updates, a.MaxUpdates, a.User, "max_updates")
}

// ResetUsage forgets what an account has used.
func (l *Logins) ResetUsage(n priv.Name) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.usage, n)
}

// ResetAllUsage forgets what all accounts have used: FLUSH USER_RESOURCES.
func (l *Logins) ResetAllUsage() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.usage = nil
}
