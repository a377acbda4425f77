package engine

import (
	"errors"
	"testing"
	"time"

	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

func message(err error) string {
	var e *sqlerr.Error
	if errors.As(err, &e) {
		return e.Message
	}
	return ""
}

func TestFailedLogins(t *testing.T) {
	const denied = "Access denied for user 'u'@'localhost'. Account is blocked for "
	var l Logins
	a := &catalog.Account{User: "u", Host: "%", FailedAttempts: 2, LockDays: 3}
	other := &catalog.Account{User: "u", Host: "localhost", FailedAttempts: 2, LockDays: 3}
	now := time.Now()
	try := func(a *catalog.Account, right bool, after time.Duration, want string) {
		t.Helper()
		now = now.Add(after)
		if want != "" {
			want = denied + want + " due to 2 consecutive failed logins."
		}
		if got := message(l.tried(a, "localhost", right, now)); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	try(a, false, 0, "")
	try(a, true, 0, "") // ends the count
	try(a, false, 0, "")
	try(other, false, 0, "")
	try(a, false, 0, "3 day(s) (3 day(s) remaining)")
	try(a, true, 0, "3 day(s) (3 day(s) remaining)")
	try(a, true, day+time.Second, "3 day(s) (2 day(s) remaining)")
	try(a, true, day, "3 day(s) (1 day(s) remaining)")
	try(a, false, day-2*time.Second, "3 day(s) (1 day(s) remaining)")
	try(a, false, time.Second, "") // the first one again
	try(a, false, 0, "3 day(s) (3 day(s) remaining)")
	l.Unblock(a.Name())
	try(a, true, 0, "")
	try(other, true, 0, "")
	a.LockDays = -1
	try(a, false, 0, "")
	try(a, false, 0, "unlimited day(s) (unlimited day(s) remaining)")
	try(a, true, 1000*day, "unlimited day(s) (unlimited day(s) remaining)")
	l.UnblockAll()
	try(a, true, 0, "")
	if len(l.failures) > 0 {
		t.Errorf("%d accounts are remembered", len(l.failures))
	}
}

func TestUsage(t *testing.T) {
	var l Logins
	a := &catalog.Account{User: "u", Host: "%", MaxQueries: 3, MaxUpdates: 1, MaxConnections: 2}
	ok := func(err error, want string) {
		t.Helper()
		if want != "" {
			want = "User 'u' has exceeded the '" + want + "' resource (current value: " + map[string]string{"max_questions": "3", "max_updates": "1", "max_connections_per_hour": "2"}[want] + ")"
		}
		if got := message(err); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	for range 2 { // hours
		ok(l.Connected(a), "")
		ok(l.Connected(a), "")
		ok(l.Connected(a), "max_connections_per_hour")
		ok(l.Runs(a, true), "")
		ok(l.Runs(a, true), "max_updates")
		ok(l.Runs(a, false), "")
		ok(l.Runs(a, false), "max_questions")
		ok(l.Runs(&catalog.Account{User: "other"}, true), "")
		l.usage[a.Name()].began = time.Now().Add(-time.Hour)
	}
	ok(l.Runs(a, true), "")
	l.ResetUsage(a.Name())
	ok(l.Runs(a, true), "")
	l.ResetAllUsage()
	ok(l.Runs(a, true), "")
}
