package server

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/session"
	"github.com/sqlots/sqlots/sql/statement"
)

// backend implements mysqlwire.Backend.
type backend struct {
	engine *engine.Engine
	shared *statement.Shared
	// passwords: accounts without one may use the socket only.
	passwords bool
	// open lets everybody in as root.
	open bool
}

// Account implements mysqlwire.Backend.
func (b backend) Account(user, host string) (mysqlwire.Account, bool) {
	if b.open {
		return b.openAccount(user, host), true
	}
	a, ok := b.engine.Account(user, host)
	a.SocketOnly = b.passwords && a.AuthString == ""
	return a, ok
}

// openAccount is root, for a login with --skip-grant-tables.
func (b backend) openAccount(user, host string) mysqlwire.Account {
	out := mysqlwire.Account{User: "root", Host: "%", Plugin: mysqlwire.PluginCachingSHA2, Administrator: true, Open: true}
	if root := b.engine.Catalog.Snapshot().AccountFor(out.User, host); root != nil && root.User == out.User {
		out.Host = root.Host
	}
	b.engine.Log.Warn("--skip-grant-tables: a client is let in without a password and may do everything", "event", "login.unchecked", "user", user, "host", host)
	return out
}

// LoginTried implements mysqlwire.Backend.
func (b backend) LoginTried(a *mysqlwire.Account, host string, right bool) error {
	return b.engine.LoginTried(a, host, right)
}

// Connect implements mysqlwire.Backend.
func (b backend) Connect(ctx context.Context, info mysqlwire.ConnInfo) (mysqlwire.Session, error) {
	return session.New(ctx, b.shared, info)
}

// checkOpen refuses --skip-grant-tables where others than this machine may connect.
func checkOpen(cfg Config) error {
	if !cfg.SkipGrantTables {
		return nil
	}
	for _, address := range []string{cfg.Listen, cfg.AdminListen, cfg.HTTP.Listen} {
		if address != "" && !isLoopback(address) {
			return fmt.Errorf("--skip-grant-tables: everyone who reaches %s could do everything; listen on a loopback address, such as 127.0.0.1:4000", address)
		}
	}
	return nil
}

func isLoopback(address string) bool {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return false
	}
	ip, err := netip.ParseAddr(host)
	return host == "localhost" || err == nil && ip.IsLoopback()
}

// createRoot gives root of a new directory its initial password. It precedes the first
// opening of the catalog, so that there is no moment without.
func (s *Server) createRoot(ctx context.Context) error {
	if s.cfg.InitialRootPassword == nil {
		return nil
	}
	created, err := catalog.CreateRoot(ctx, s.store, func() (string, error) {
		password, err := s.cfg.InitialRootPassword()
		if err != nil {
			return "", err
		}
		auth, ok := mysqlwire.HashPassword(mysqlwire.PluginCachingSHA2, password)
		if auth == "" || !ok {
			return "", errors.New("it has to have 1 to 256 bytes")
		}
		return auth, nil
	})
	if err != nil {
		return fmt.Errorf("initial password of root: %w", err)
	}
	if created {
		s.cfg.Log.Info("root has its initial password", "event", "root.password_set")
	} else {
		s.cfg.Log.Info("the data directory is not new: the initial password of root is ignored", "event", "root.password_ignored")
	}
	return nil
}

// checkRoot says once in the log that root has no password. It refuses that where a
// password is required and there is no socket by which to set one.
func (s *Server) checkRoot() error {
	if s.cfg.SkipGrantTables {
		s.cfg.Log.Error("--skip-grant-tables: everyone on this machine may do everything, without a password; set one with ALTER USER root IDENTIFIED BY '…', and start without it", "event", "login.unchecked")
		return nil
	}
	for _, a := range s.engine.Catalog.Snapshot().Accounts() {
		if a.User != "root" || a.AuthString != "" {
			continue
		}
		account, from := a.User+"@"+a.Host, "from this machine"
		if s.cfg.RequireRootPassword {
			if s.socket == nil {
				return fmt.Errorf("--require-root-password: %s has no password; start with --socket PATH, and set one over the socket with ALTER USER", account)
			}
			from = "over the socket"
		}
		s.cfg.Log.Warn("root has no password: it may connect "+from+" only; set one with ALTER USER root IDENTIFIED BY '…'", "event", "root.password_missing", "account", account)
	}
	return nil
}
