package session

import (
	"context"
	"net"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

const defaultPlugin = "caching_sha2_password"

// Account finds the account that serves a user from a host; see
// mysqlwire.Backend. An account without password may come from loopback only.
func (e *Engine) Account(user, host string) (mysqlwire.Account, bool) {
	for _, a := range e.catalog.Snapshot().Accounts() {
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
	return c.NewLike([]byte(pattern), '\\')([]byte(host))
}

// account makes the stored form of what CREATE or ALTER USER says.
func authOf(u logical.UserSpec, old *catalog.Account) (plugin, auth string, err error) {
	plugin = u.Plugin
	if plugin == "" && old != nil {
		plugin = old.Plugin
	}
	if plugin == "" {
		plugin = defaultPlugin
	}
	if plugin != defaultPlugin && plugin != "mysql_native_password" {
		return "", "", sqlerr.PluginNotLoaded(plugin)
	}
	if u.IsHash {
		if !mysqlwire.ValidAuthString(plugin, u.Hash) {
			return "", "", sqlerr.PasswordFormat()
		}
		return plugin, u.Hash, nil
	}
	if u.Password == "" {
		return plugin, "", nil
	}
	hash, ok := mysqlwire.HashPassword(plugin, u.Password)
	if !ok {
		return "", "", sqlerr.Internal("cannot hash a password for %s", plugin)
	}
	return plugin, hash, nil
}

func (s *Session) userName(u logical.UserSpec) (user, host string) {
	if u.CurrentUser {
		return s.info.Account.User, s.info.Account.Host
	}
	if u.Host == "" {
		return u.User, "%"
	}
	return u.User, u.Host
}

func quoteUsers(names []string) string { return strings.Join(names, ",") }

func (s *Session) createUser(ctx context.Context, x *logical.CreateUser) error {
	return s.changeAccounts(ctx, func(ch *catalog.Change) error {
		var failed []string
		for _, u := range x.Users {
			user, host := s.userName(u)
			if ch.Current().Account(user, host) != nil {
				if x.IfNotExists {
					s.warn(sqlerr.Warning{Level: sqlerr.LevelNote, Err: sqlerr.UserAlreadyExists(user, host)})
					continue
				}
				failed = append(failed, "'"+user+"'@'"+host+"'")
				continue
			}
			plugin, auth, err := authOf(u, nil)
			if err != nil {
				return err
			}
			ch.PutAccount(&catalog.Account{User: user, Host: host, Plugin: plugin, AuthString: auth, Locked: x.Lock != nil && *x.Lock, RequireTLS: x.RequireTLS})
		}
		if len(failed) > 0 {
			return sqlerr.UserOperationFailed("CREATE USER", quoteUsers(failed))
		}
		return nil
	})
}

func (s *Session) alterUser(ctx context.Context, x *logical.AlterUser) error {
	return s.changeAccounts(ctx, func(ch *catalog.Change) error {
		var failed []string
		for _, u := range x.Users {
			user, host := s.userName(u)
			old := ch.Current().Account(user, host)
			if old == nil {
				if x.IfExists {
					s.warn(sqlerr.Warning{Level: sqlerr.LevelNote, Err: sqlerr.UserDoesNotExist(user, host)})
					continue
				}
				failed = append(failed, "'"+user+"'@'"+host+"'")
				continue
			}
			a := *old
			if u.HasAuth {
				var err error
				if a.Plugin, a.AuthString, err = authOf(u, old); err != nil {
					return err
				}
			}
			if x.Lock != nil {
				a.Locked = *x.Lock
			}
			if x.RequireTLS != nil {
				a.RequireTLS = *x.RequireTLS
			}
			ch.PutAccount(&a)
		}
		if len(failed) > 0 {
			return sqlerr.UserOperationFailed("ALTER USER", quoteUsers(failed))
		}
		return nil
	})
}

func (s *Session) dropUser(ctx context.Context, x *logical.DropUser) error {
	return s.changeAccounts(ctx, func(ch *catalog.Change) error {
		var failed []string
		for _, u := range x.Users {
			user, host := s.userName(u)
			if ch.Current().Account(user, host) == nil {
				if !x.IfExists {
					failed = append(failed, "'"+user+"'@'"+host+"'")
				}
				continue
			}
			ch.DropAccount(user, host)
		}
		if len(failed) > 0 {
			return sqlerr.UserOperationFailed("DROP USER", quoteUsers(failed))
		}
		return nil
	})
}

func (s *Session) setPassword(ctx context.Context, x *logical.SetPassword) error {
	return s.changeAccounts(ctx, func(ch *catalog.Change) error {
		user, host := s.userName(x.User)
		old := ch.Current().Account(user, host)
		if old == nil {
			return sqlerr.NoSuchUser()
		}
		a := *old
		var err error
		if a.Plugin, a.AuthString, err = authOf(x.User, old); err != nil {
			return err
		}
		ch.PutAccount(&a)
		return nil
	})
}

// accountChange is a change of the catalog that concerns accounts.
type accountChange = *catalog.Change

func (s *Session) changeAccounts(ctx context.Context, fn func(ch accountChange) error) error {
	if err := s.commit(ctx); err != nil {
		return err
	}
	return s.engine.catalog.Change(ctx, fn)
}

// grant: every account may do everything, so that GRANT has nothing to add and
// REVOKE cannot take anything away.
func (s *Session) grant(x *logical.Grant) error {
	if x.Revoke {
		return sqlerr.NotSupported("REVOKE")
	}
	snap := s.engine.catalog.Snapshot()
	for _, u := range x.Users {
		user, host := s.userName(u)
		if snap.Account(user, host) == nil {
			return sqlerr.CannotCreateUserWithGrant()
		}
	}
	s.warn(sqlerr.Warning{Level: sqlerr.LevelNote, Err: sqlerr.GrantHasNoEffect()})
	return nil
}
