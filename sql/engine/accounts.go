package engine

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/binary"
	"slices"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/priv"
)

// Account finds the account that serves a user from a host; see
// mysqlwire.Backend. An account without password may come from loopback only.
func (e *Engine) Account(user, host string) (mysqlwire.Account, bool) {
	s := e.Catalog.Snapshot()
	a := s.AccountFor(user, host)
	if a == nil {
		return mysqlwire.Account{Plugin: e.decoyPlugin(s, user)}, false
	}
	return mysqlwire.Account{
		User: a.User, Host: a.Host, Plugin: a.Plugin, AuthString: a.AuthString, SecondAuth: a.SecondAuth, Locked: a.Locked,
		Require:      mysqlwire.Requirements{TLS: a.RequireTLS, Certificate: a.RequireX509, Cipher: a.TLSCipher, Issuer: a.TLSIssuer, Subject: a.TLSSubject},
		Expired:      a.HasExpired(time.Now(), int(e.Globals.Value("default_password_lifetime").Bits())),
		LoopbackOnly: a.AuthString == "", Administrator: isAdministrator(s, a), MaxConnections: a.MaxUserConnections,
	}, true
}

// LoginTried counts a login as an account, whether its password was right or not; see
// mysqlwire.Backend. 3955 for an account that is blocked.
func (e *Engine) LoginTried(account *mysqlwire.Account, host string, right bool) error {
	a := e.Catalog.Snapshot().Account(account.User, account.Host)
	if a == nil || !a.BlocksLogins() {
		return nil
	}
	return e.Logins.tried(a, host, right, time.Now())
}

// isAdministrator decides who may use the administrative address and the
// connection beyond max_connections.
func isAdministrator(s *catalog.Snapshot, a *catalog.Account) bool {
	set := s.Privileges().Set(a.Name(), s.Privileges().LoginRoles(a.Name()))
	return set.Has(priv.Super, priv.ConnectionAdmin|priv.ServiceConnectionAdmin)
}

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

// activateAllRoles takes over activate_all_roles_on_login.
func (e *Engine) activateAllRoles() {
	e.Catalog.SetActivateAllRoles(e.Globals.Value("activate_all_roles_on_login").Bits() != 0)
}

// mandatoryRoles takes over the variable of that name.
func (e *Engine) mandatoryRoles() {
	roles, err := priv.ParseNames(e.Globals.Value("mandatory_roles").Str())
	if err != nil {
		e.Log.Warn("mandatory_roles is no list of roles", "event", "variable.ignored", "error", err)
		return
	}
	e.Catalog.SetMandatoryRoles(roles)
}
