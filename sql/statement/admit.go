package statement

import (
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/bind"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// admission is what a connection may run, apart from its privileges.
type admission struct {
	// Sandbox: the password has expired, and only statements that change it run.
	Sandbox bool
	// limited is the account, if it has limits of statements in an hour, as they were at
	// the login.
	limited *catalog.Account
}

// Accept begins a client's connection with what its login was about: 1226 for one too many
// in an hour.
func (cn *Connection) Accept() error {
	login := &cn.Info.Account
	if login.Open {
		cn.ActAsServer()
		return nil
	}
	cn.Sandbox = login.Expired
	a := cn.Engine.Catalog.Snapshot().Account(login.User, login.Host)
	if a == nil { // dropped meanwhile
		return nil
	}
	if a.MaxQueries != 0 || a.MaxUpdates != 0 {
		cn.limited = a
	}
	return cn.Engine.Logins.Connected(a)
}

// isAdmitted reports that the connection may run any statement.
func (a *admission) isAdmitted() bool { return !a.Sandbox && a.limited == nil }

// admit refuses a statement of a connection with an expired password (1820), and one beyond
// the limits of its account (1226).
func (cn *Connection) admit(stmt *parser.Statement) error {
	if cn.isAdmitted() {
		return nil
	}
	t := bind.TraitsOf(stmt)
	if cn.Sandbox && !t.InSandbox {
		return sqlerr.MustChangePassword()
	}
	if cn.limited == nil || t.Executes { // the statement that it executes counts
		return nil
	}
	return cn.Engine.Logins.Runs(cn.limited, t.Changes)
}
