package catalog

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/storage/memkv"
)

func ref[T any](v T) *T { return &v }

// TestClauses: the words and their order are those of MySQL 8.4's SHOW CREATE USER.
func TestClauses(t *testing.T) {
	const rest = " PASSWORD HISTORY DEFAULT PASSWORD REUSE INTERVAL DEFAULT PASSWORD REQUIRE CURRENT DEFAULT"
	for want, a := range map[string]Account{
		"REQUIRE NONE PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK" + rest:            {},
		"REQUIRE SSL PASSWORD EXPIRE NEVER ACCOUNT LOCK" + rest:                 {RequireTLS: true, Lifetime: ref(0), Locked: true},
		"REQUIRE X509 PASSWORD EXPIRE INTERVAL 90 DAY ACCOUNT UNLOCK" + rest:    {RequireTLS: true, RequireX509: true, Lifetime: ref(90)},
		"REQUIRE NONE PASSWORD EXPIRE ACCOUNT UNLOCK" + rest:                    {Expired: true, Lifetime: ref(90)},
		"REQUIRE ISSUER '/CN=a' PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK" + rest:  {RequireTLS: true, TLSIssuer: "/CN=a"},
		"REQUIRE CIPHER 'it\\'s' PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK" + rest: {RequireTLS: true, TLSCipher: "it's"},
		"REQUIRE SUBJECT '/CN=b' PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK" + rest: {RequireTLS: true, RequireX509: true, TLSSubject: "/CN=b"},
		"REQUIRE SUBJECT '/CN=b' ISSUER '/CN=a' CIPHER 'c' WITH MAX_QUERIES_PER_HOUR 1 MAX_UPDATES_PER_HOUR 2 MAX_CONNECTIONS_PER_HOUR 3 MAX_USER_CONNECTIONS 4 PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY 5 PASSWORD REUSE INTERVAL 6 DAY PASSWORD REQUIRE CURRENT FAILED_LOGIN_ATTEMPTS 7 PASSWORD_LOCK_TIME 8 ATTRIBUTE '{\"comment\": \"it\\'s \\\\n\"}'": {
			RequireTLS: true, TLSSubject: "/CN=b", TLSIssuer: "/CN=a", TLSCipher: "c", MaxQueries: 1, MaxUpdates: 2, MaxConnections: 3, MaxUserConnections: 4,
			History: ref(5), ReuseDays: ref(6), RequireCurrent: ref(true), FailedAttempts: 7, LockDays: 8, Attributes: `{"comment": "it's \n"}`},
		"REQUIRE NONE WITH MAX_USER_CONNECTIONS 4 PASSWORD EXPIRE DEFAULT ACCOUNT UNLOCK PASSWORD HISTORY 0 PASSWORD REUSE INTERVAL 0 DAY PASSWORD REQUIRE CURRENT OPTIONAL PASSWORD_LOCK_TIME UNBOUNDED": {
			MaxUserConnections: 4, History: ref(0), ReuseDays: ref(0), RequireCurrent: ref(false), LockDays: -1},
	} {
		if got := a.Clauses(); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}

func TestUserAttributes(t *testing.T) {
	for want, a := range map[string]Account{
		"": {},
		`{"metadata": {"comment": "x"}, "Password_locking": {"failed_login_attempts": 2, "password_lock_time_days": -1}, "additional_password": "*00"}`: {
			Attributes: `{"comment": "x"}`, FailedAttempts: 2, LockDays: -1, SecondAuth: "*00"},
		`{"additional_password": "$A$005$\u0001\"x"}`: {SecondAuth: "$A$005$\x01\"x"},
	} {
		got := a.UserAttributes()
		if got != want || got != "" && !json.Valid([]byte(got)) {
			t.Errorf("got %s, want %s", got, want)
		}
	}
}

func TestHasExpired(t *testing.T) {
	now := time.Unix(1_000_000_000, 0)
	ago := func(d time.Duration) int64 { return now.Add(-d).Unix() }
	for _, c := range []struct {
		a        Account
		lifetime int
		want     bool
	}{
		{Account{}, 0, false},
		{Account{Expired: true}, 0, true},
		{Account{PasswordChanged: ago(day)}, 1, true},
		{Account{PasswordChanged: ago(day - time.Second)}, 1, false},
		{Account{PasswordChanged: ago(day), Lifetime: ref(0)}, 1, false},
		{Account{PasswordChanged: ago(day), Lifetime: ref(2)}, 1, false},
		{Account{PasswordChanged: ago(2 * day), Lifetime: ref(2)}, 0, true},
		{Account{}, 1, false}, // of a version that did not keep the time
	} {
		if got := c.a.HasExpired(now, c.lifetime); got != c.want {
			t.Errorf("%+v with %d days: %v", c.a, c.lifetime, got)
		}
	}
}

// TestOldAccount: an account without the newer fields is read, and written without them.
func TestOldAccount(t *testing.T) {
	const old = `{"user":"u","host":"%","plugin":"mysql_native_password","auth":"*00","locked":true,"require_tls":true}`
	var a Account
	if err := json.Unmarshal([]byte(old), &a); err != nil {
		t.Fatal(err)
	}
	if b, err := json.Marshal(a); err != nil || string(b) != old {
		t.Errorf("%s, %v", b, err)
	}
}

func TestCreateRoot(t *testing.T) {
	store := memkv.New(memkv.Options{})
	for i, want := range []bool{true, false} {
		created, err := CreateRoot(t.Context(), store, func() (string, error) { return []string{"first", "second"}[i], nil })
		if err != nil || created != want {
			t.Fatal(created, err)
		}
	}
	c, err := Open(t.Context(), store)
	if err != nil {
		t.Fatal(err)
	}
	root := c.Snapshot().Account("root", "%")
	if root == nil || root.AuthString != "first" || root.PasswordChanged == 0 {
		t.Fatalf("%+v", root)
	}
	g := c.Snapshot().Privileges().Grants(root.Name())
	if g == nil || g.Global != priv.AllGlobal || len(c.Upgraded()) > 0 {
		t.Errorf("%+v, upgraded %v", g, c.Upgraded())
	}
}
