package engine

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/catalog"
)

// Account finds the account that serves a user from a host; see
// mysqlwire.Backend. An account without password may come from loopback only.
func (e *Engine) Account(user, host string) (mysqlwire.Account, bool) {
	s := e.Catalog.Snapshot()
	a := s.AccountFor(user, host)
	if a == nil {
		return mysqlwire.Account{Plugin: e.decoyPlugin(s, user)}, false
	}
	return mysqlwire.Account{User: a.User, Host: a.Host, Plugin: a.Plugin, AuthString: a.AuthString, Locked: a.Locked,
		RequireTLS: a.RequireTLS, LoopbackOnly: a.AuthString == "", Administrator: isAdministrator(a)}, true
}

// isAdministrator decides who may use the administrative address and the
// connection beyond max_connections.
func isAdministrator(a *catalog.Account) bool { return a.User == "root" }

// decoyPlugin is the plugin with which an unknown user is refused: one of those
// that accounts have, always the same for a name. It cannot be computed without the
// secret of the store, so that a plugin does not reveal that an account exists.
func (e *Engine) decoyPlugin(s *catalog.Snapshot, user string) string {
	var used []string
	for _, plugin := range []string{mysqlwire.PluginCachingSHA2, mysqlwire.PluginNative} {
		if slices.ContainsFunc(s.Accounts(), func(a *catalog.Account) bool { return a.Plugin == plugin }) {
			used = append(used, plugin)
		}
	}
	if len(used) == 0 {
		return mysqlwire.PluginCachingSHA2
	}
	h := hmac.New(sha256.New, e.secret)
	h.Write([]byte(user))
	return used[binary.BigEndian.Uint64(h.Sum(nil))%uint64(len(used))]
}
