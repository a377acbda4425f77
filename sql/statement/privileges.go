package statement

import (
	"slices"
	"strings"

	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// rights are what a connection's account may do.
type rights struct {
	roles []priv.Name // active, as SET ROLE or the login made them
	// state is the one of which set was made. Both change where a statement begins: what
	// runs in its goroutines reads set.
	state *priv.State
	set   *priv.Set
	// server: what runs is the server's own work, which may do everything.
	server bool
}

// ActAsServer makes the connection one of the server's own work, which has all
// privileges.
func (cn *Connection) ActAsServer() { cn.rights = rights{server: true, set: priv.Everything} }

// AccountName is the account that the connection runs as.
func (cn *Connection) AccountName() priv.Name {
	return priv.Name{User: cn.Info.Account.User, Host: cn.Info.Account.Host}
}

// Privileges are what the account may do now, with its active roles. A change by GRANT
// counts from the next statement on.
func (cn *Connection) Privileges() *priv.Set {
	r := &cn.rights
	if r.server {
		return r.set
	}
	if st := cn.Engine.Catalog.Snapshot().Privileges(); st != r.state {
		cn.activate(st, r.roles)
	}
	return r.set
}

// activate makes the roles active of which the account still has each.
func (cn *Connection) activate(st *priv.State, roles []priv.Name) {
	account := cn.AccountName()
	kept := roles[:0:0]
	for _, n := range roles {
		if st.HasRole(account, n) && !slices.Contains(kept, n) {
			kept = append(kept, n)
		}
	}
	priv.SortNames(kept)
	cn.rights = rights{roles: kept, state: st, set: st.Set(account, kept)}
	cn.Process.System.Store(cn.rights.set.Has(0, priv.SystemUser))
}

// Activate is SET ROLE: 3530 if the account does not have one of the roles.
func (cn *Connection) Activate(roles []priv.Name) error {
	if cn.rights.server {
		return nil
	}
	st := cn.Engine.Catalog.Snapshot().Privileges()
	account := cn.AccountName()
	for _, n := range roles {
		if !st.HasRole(account, n) {
			return sqlerr.RoleNotGranted(n.String(), account.String())
		}
	}
	cn.activate(st, roles)
	return nil
}

// login activates the roles with which a connection begins.
func (cn *Connection) login() {
	if cn.rights.server {
		return
	}
	st := cn.Engine.Catalog.Snapshot().Privileges()
	cn.activate(st, st.LoginRoles(cn.AccountName()))
}

// require refuses a statement that needs more than the account may do: 1044, 1045,
// 1142, 1143, 1227, 1345, 1356, 1449.
func (cn *Connection) require(n *priv.Needs) error {
	d := cn.Privileges().Check(n)
	if d != nil && cn.Sandbox { // who has to change the password first
		return sqlerr.MustChangePassword()
	}
	return cn.Refusal(d)
}

// permit refuses a plan, which may be another session's, that needs more than the
// account may do.
func (cn *Connection) permit(c *Plan) error {
	set := cn.Privileges()
	if c.allowed.Load() == set {
		return nil
	}
	if err := cn.Refusal(set.Check(c.needs)); err != nil {
		return err
	}
	c.allowed.Store(set)
	return nil
}

// SeesTable refuses an account without any privilege on a table: 1142.
func (cn *Connection) SeesTable(db, table string) error {
	if cn.Temps.Find(db, table) != nil {
		return nil
	}
	return cn.require(&priv.Needs{Tables: []priv.TableNeed{{DB: db, Table: table, AnyRight: true, Command: "SELECT"}}})
}

// HidesColumn reports a column of a table or view on which the account has no privilege.
func (cn *Connection) HidesColumn(db, table, column string) bool {
	set := cn.Privileges()
	return !set.SeesAllTables() && cn.Temps.Find(db, table) == nil && set.OnColumn(db, table, column)&priv.AllColumn == 0
}

// HasVirtual reports a virtual table.
func (s *Statement) HasVirtual(db, table string) bool {
	_, ok, err := s.Shared.info.For((*introspected)(s.Connection)).Virtual(db, table)
	return ok && err == nil
}

// Require refuses what needs one of the privileges ON *.*: 1227.
func (cn *Connection) Require(m priv.Mask, d priv.Dynamics) error {
	return cn.require(&priv.Needs{Global: []priv.GlobalNeed{{Mask: m, Dynamic: d}}})
}

// Refusal is the error for what the account was denied; nil for nil.
func (cn *Connection) Refusal(d *priv.Denied) error {
	if d == nil {
		return nil
	}
	err := refusalOf(cn, d)
	cn.audit.denied, cn.audit.refusal = d, err
	return err
}

func refusalOf(cn *Connection, d *priv.Denied) error {
	account, host := cn.AccountName(), cn.ClientHost()
	switch {
	case d.NeedsOneOf != "":
		return sqlerr.PrivilegeNeeded(d.NeedsOneOf)
	case d.Global:
		return sqlerr.AccessDenied(account.User, account.Host, cn.Info.Account.AuthString != "")
	case d.Explain:
		return sqlerr.ViewNoExplain()
	case d.NoDefiner != nil:
		return sqlerr.NoSuchDefiner(d.NoDefiner.User, d.NoDefiner.Host)
	case d.View != "":
		return sqlerr.ViewReferencesInvalid(d.ViewDB, d.View)
	case d.Table == "":
		return sqlerr.DatabaseAccessDenied(account.User, account.Host, d.DB)
	case d.Column == "":
		return sqlerr.TableAccessDenied(d.Command, account.User, host, d.Table)
	}
	return sqlerr.ColumnAccessDenied(d.Command, account.User, host, d.Column, d.Table)
}

// RolesGraph implements expr.ServerInfo.
func (f *Functions) RolesGraph() string {
	set := f.rights.set
	if !set.Has(priv.Super, priv.RoleAdmin) {
		return `<?xml version="1.0" encoding="UTF-8"?><graphml />`
	}
	return set.State().GraphML()
}

// CurrentRole implements expr.ServerInfo.
func (f *Functions) CurrentRole() string {
	roles := f.rights.set.Roles
	if len(roles) == 0 {
		return "NONE"
	}
	list := make([]string, len(roles))
	for i, r := range roles {
		list[i] = r.String()
	}
	return strings.Join(list, ",")
}
