package command

import (
	"context"
	"strings"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

const defaultPlugin = "caching_sha2_password"

// authOf makes the stored form of what a statement says of the account
// user@host, which is old before; nil: it is new.
func authOf(operation string, u logical.UserSpec, user, host string, old *catalog.Account) (plugin, auth string, err error) {
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
		return "", "", sqlerr.UserOperationFailed(operation, quoteUser(user, host))
	}
	return plugin, hash, nil
}

func (s *commands) userName(u logical.UserSpec) (user, host string) {
	if u.CurrentUser {
		return s.Info.Account.User, s.Info.Account.Host
	}
	if u.Host == "" {
		return u.User, "%"
	}
	return u.User, u.Host
}

func quoteUser(user, host string) string { return "'" + user + "'@'" + host + "'" }

func quoteUsers(names []string) string { return strings.Join(names, ",") }

func (s *commands) createUser(ctx context.Context, x *logical.CreateUser) error {
	return s.changeAccounts(ctx, func(ch *catalog.Change) error {
		var failed []string
		for _, u := range x.Users {
			user, host := s.userName(u)
			if ch.Current().Account(user, host) != nil {
				if x.IfNotExists {
					s.Diagnostics.Warn(sqlerr.Warning{Level: sqlerr.LevelNote, Err: sqlerr.UserAlreadyExists(user, host)})
					continue
				}
				failed = append(failed, quoteUser(user, host))
				continue
			}
			plugin, auth, err := authOf("CREATE USER", u, user, host, nil)
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

func (s *commands) alterUser(ctx context.Context, x *logical.AlterUser) error {
	return s.changeAccounts(ctx, func(ch *catalog.Change) error {
		var failed []string
		for _, u := range x.Users {
			user, host := s.userName(u)
			old := ch.Current().Account(user, host)
			if old == nil {
				if x.IfExists {
					s.Diagnostics.Warn(sqlerr.Warning{Level: sqlerr.LevelNote, Err: sqlerr.UserDoesNotExist(user, host)})
					continue
				}
				failed = append(failed, quoteUser(user, host))
				continue
			}
			a := *old
			if u.HasAuth {
				var err error
				if a.Plugin, a.AuthString, err = authOf("ALTER USER", u, user, host, old); err != nil {
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

func (s *commands) dropUser(ctx context.Context, x *logical.DropUser) error {
	return s.changeAccounts(ctx, func(ch *catalog.Change) error {
		var failed []string
		for _, u := range x.Users {
			user, host := s.userName(u)
			if ch.Current().Account(user, host) == nil {
				if !x.IfExists {
					failed = append(failed, quoteUser(user, host))
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

func (s *commands) setPassword(ctx context.Context, x *logical.SetPassword) error {
	return s.changeAccounts(ctx, func(ch *catalog.Change) error {
		user, host := s.userName(x.User)
		old := ch.Current().Account(user, host)
		if old == nil {
			return sqlerr.NoSuchUser()
		}
		a := *old
		var err error
		if a.Plugin, a.AuthString, err = authOf("SET PASSWORD", x.User, user, host, old); err != nil {
			return err
		}
		ch.PutAccount(&a)
		return nil
	})
}

// accountChange is a change of the catalog that concerns accounts.
type accountChange = *catalog.Change

func (s *commands) changeAccounts(ctx context.Context, fn func(ch accountChange) error) error {
	if err := s.Tx.Commit(ctx); err != nil {
		return err
	}
	return s.Engine.Catalog.Change(ctx, fn)
}

// grant: every account may do everything, so that GRANT has nothing to add and
// REVOKE cannot take anything away.
func (s *commands) grant(x *logical.Grant) error {
	if x.Revoke {
		return sqlerr.NotSupported("REVOKE")
	}
	snap := s.Engine.Catalog.Snapshot()
	for _, u := range x.Users {
		user, host := s.userName(u)
		if snap.Account(user, host) == nil {
			return sqlerr.CannotCreateUserWithGrant()
		}
	}
	_ = x
	return nil
}

// renameUser is RENAME USER.
func (s *commands) renameUser(ctx context.Context, x *logical.RenameUser) error {
	return s.changeAccounts(ctx, func(ch accountChange) error {
		var failed []string
		for i := range x.From {
			user, host := s.userName(x.From[i])
			newUser, newHost := s.userName(x.To[i])
			old := ch.Current().Account(user, host)
			if old == nil || ch.Current().Account(newUser, newHost) != nil {
				failed = append(failed, quoteUser(user, host))
				continue
			}
			a := *old
			a.User, a.Host = newUser, newHost
			ch.DropAccount(user, host)
			ch.PutAccount(&a)
		}
		if len(failed) > 0 {
			return sqlerr.UserOperationFailed("RENAME USER", quoteUsers(failed))
		}
		return nil
	})
}
