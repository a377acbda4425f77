package catalog

import (
	"fmt"
	"testing"

	"github.com/sqlots/sqlots/storage/memkv"
)

// accounts is a catalog whose only accounts are these.
func accounts(t *testing.T, list ...*Account) *Snapshot {
	t.Helper()
	cat, err := Open(t.Context(), memkv.New(memkv.Options{}))
	if err != nil {
		t.Fatal(err)
	}
	err = cat.Change(t.Context(), func(ch *Change) error {
		ch.DropAccount("root", "%")
		for _, a := range list {
			ch.PutAccount(a)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return cat.Snapshot()
}

// TestAccountOrder: of the accounts that match, the most specific one serves.
func TestAccountOrder(t *testing.T) {
	for _, c := range []struct {
		user, host, want string
		hosts            []string // of the accounts app, most specific last
	}{
		{"app", "10.0.0.5", "10.0.0.5", []string{"%", "10.%", "10.0.0.0/8", "10.0.0.0/255.255.0.0", "10.0.0.0/24", "10.0.0.5"}},
		{"app", "10.0.0.6", "10.0.0.0/24", []string{"%", "10.0.0.0/8", "10.0.0.5", "10.0.0.0/24"}},
		{"app", "10.0.0.6", "10.0.0.0/24", []string{"10.0.0.0/255.255.255.0", "10.0.0.0/24"}},
		{"app", "10.0.0.6", "10.0.0.0/8", []string{"10.0.0.0/255.0.0.0", "10.0.0.0/8"}},
		{"app", "10.0.0.6", "10.0.0.0/255.255.255.0", []string{"%", "10.0.0.0/16", "10.0.0.0/255.255.255.0"}},
		{"app", "10.0.0.6", "10.0.0.0/8", []string{"10.0.0.%", "10.0.0.0/8"}},
		{"app", "10.0.0.6", "10.0.0.%", []string{"%", "10.%", "10.0.%", "10.0.0.%"}},
		{"app", "10.0.0.6", "10.0.0._", []string{"%", "10.0._._", "10.0.0._"}},
		{"app", "10.0.0.6", "1%.0.6", []string{"%", "%.6", "1%.6", "1%.0.6"}},
		{"app", "10.0.0.6", "%", []string{"", "%"}},
		{"app", "10.0.0.6", "", []string{""}},
		{"app", "10.0.0.44", "10.0.0.44/16", []string{"%", "10.0.0.44/16"}}, // host bits do not count in this form
		{"app", "10.0.0.44", "%", []string{"10.0.0.44/255.255.0.0", "%"}},   // and no address has them in this one
		{"app", "10.7.0.6", "10.0.0.6/255.0.255.255", []string{"%", "10.0.0.6/255.0.255.255"}},
		{"app", "10.0.0.6", "%", []string{"10.0.0.0/33", "10.0.0.0/255.0.0", "10.0.0.0/x", "%"}},
		{"app", "fd00::5", "fd00::5", []string{"%", "fd00::/8", "FD00::/64", "fd00::5"}},
		{"app", "fd00::6", "FD00::/64", []string{"%", "fd00::/8", "FD00::/64", "fd00::5"}},
		{"app", "fd00::6", "FD00:0::6", []string{"%", "FD00:0::6"}},
		{"app", "fd00::15", "fd00::%5", []string{"%", "fd00::%5"}},
		{"app", "localhost", "localhost", []string{"%", "127.0.0.0/8", "localhost"}},
		{"app", "localhost", "LocalHost", []string{"%", "LocalHost"}},
		{"app", "localhost", "127.0.0.1", []string{"%", "127.0.0.0/8", "127.0.0.1"}},
		{"app", "localhost", "::1", []string{"%", "::1"}},
		{"app", "localhost", "127.0.0.0/8", []string{"%", "127.0.0.%", "127.0.0.0/8"}},
		{"app", "localhost", "127.0.0.%", []string{"%", "127.%", "127.0.0.%"}},
		{"app", "10.0.0.6", "", nil},
		{"other", "10.0.0.6", "", []string{"%"}},
		{"app", "10.0.0.6", "", []string{"localhost", "127.0.0.1", "10.0.0.5", "11.0.0.0/8"}},
	} {
		list := make([]*Account, len(c.hosts))
		for i, h := range c.hosts {
			list[i] = &Account{User: "app", Host: h, Plugin: "caching_sha2_password"}
		}
		got := accounts(t, list...).AccountFor(c.user, c.host)
		if want := c.want != "" || len(c.hosts) == 1 && c.hosts[0] == ""; (got != nil) != want || want && got.Host != c.want {
			t.Errorf("%s@%s among %q: %+v; want %q", c.user, c.host, c.hosts, got, c.want)
		}
	}
}

// TestAnonymousAccounts: an account without a name serves every user, after those
// with a name at the same host, and before those at less specific hosts.
func TestAnonymousAccounts(t *testing.T) {
	s := accounts(t, &Account{Host: "10.0.0.%"}, &Account{User: "app", Host: "10.0.0.%"},
		&Account{User: "app", Host: "%"}, &Account{User: "old", Host: "%"})
	for who, want := range map[[2]string]string{
		{"app", "10.0.0.6"}: "app@10.0.0.%",
		{"old", "10.0.0.6"}: "@10.0.0.%",
		{"x", "10.0.0.6"}:   "@10.0.0.%",
		{"old", "10.1.0.6"}: "old@%",
	} {
		a := s.AccountFor(who[0], who[1])
		if got := fmt.Sprintf("%s@%s", a.User, a.Host); got != want {
			t.Errorf("%v: %s, want %s", who, got, want)
		}
	}
}
