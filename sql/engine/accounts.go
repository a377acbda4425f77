package engine

import (
	"net"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/mysqlwire"
)

// Account finds the account that serves a user from a host; see
// mysqlwire.Backend. An account without password may come from loopback only.
func (e *Engine) Account(user, host string) (mysqlwire.Account, bool) {
	for _, a := range e.Catalog.Snapshot().Accounts() {
		if a.User != user && a.User != "" || !matchHost(a.Host, host) {
			continue
		}
		return mysqlwire.Account{User: a.User, Host: a.Host, Plugin: a.Plugin, AuthString: a.AuthString, Locked: a.Locked,
			RequireTLS: a.RequireTLS, LoopbackOnly: a.AuthString == ""}, true
	}
	return mysqlwire.Account{}, false
}

// matchHost compares a client's host with the host part of an account.
func matchHost(pattern, host string) bool {
	if pattern == "%" || strings.EqualFold(pattern, host) {
		return true
	}
	loopback := host == "localhost"
	if ip := net.ParseIP(host); ip != nil {
		loopback = ip.IsLoopback()
		if _, network, err := net.ParseCIDR(pattern); err == nil {
			return network.Contains(ip)
		}
	}
	if loopback && (strings.EqualFold(pattern, "localhost") || pattern == "127.0.0.1" || pattern == "::1") {
		return true
	}
	if !strings.ContainsAny(pattern, "%_") {
		return false
	}
	c, _ := collate.ByName("utf8mb4_general_ci")
	l := c.NewLike([]byte(pattern), '\\')
	return l.Match([]byte(host))
}
