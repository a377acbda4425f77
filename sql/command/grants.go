package command

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// grantEdit is GRANT or REVOKE of privileges.
type grantEdit struct {
	s   *commands
	ch  *catalog.Change
	x   *logical.Grant
	set *priv.Set // of the account that grants
	// mask and dynamic are the privileges; ALL is those of the level.
	mask    priv.Mask
	dynamic priv.Dynamics
}

// grant is GRANT and REVOKE of privileges, for all accounts or none.
func (s *commands) grant(ctx context.Context, x *logical.Grant) error {
	return s.changeAccounts(ctx, func(ch *catalog.Change) error {
		e := &grantEdit{s: s, ch: ch, x: x, set: s.Privileges(), mask: x.Mask, dynamic: x.Dynamic}
		if err := e.prepare(); err != nil {
			return err
		}
		for _, u := range x.Users {
			n := s.nameOf(u)
			g := ch.Grants(n)
			if g == nil {
				if err := e.unknown(n); err != nil {
					return err
				}
				continue
			}
			if err := s.mayChange(g); err != nil {
				return err
			}
			g = g.Clone()
			if err := e.apply(g); err != nil {
				return err
			}
			ch.PutGrants(g)
		}
		return nil
	})
}

func (s *commands) nameOf(u logical.UserSpec) priv.Name {
	user, host := s.userName(u)
	return priv.Name{User: user, Host: host}
}

// mayChange refuses to change an account that has SYSTEM_USER to one that has not: 1227.
func (s *commands) mayChange(g *priv.Grants) error {
	if g != nil && g.Dynamic&priv.SystemUser != 0 {
		return s.Require(0, priv.SystemUser)
	}
	return nil
}

// unknown is the error of an account that does not exist.
func (e *grantEdit) unknown(n priv.Name) error {
	switch {
	case !e.x.Revoke:
		return sqlerr.CannotCreateUserWithGrant()
	case e.x.IgnoreUnknown:
		e.s.note(sqlerr.LevelWarning, sqlerr.UserDoesNotExist(n.User, n.Host))
		return nil
	case e.x.Everything:
		return sqlerr.CannotRevokeAll()
	}
	return sqlerr.NoSuchGrant(n.User, n.Host)
}

func (s *commands) note(level sqlerr.Level, err *sqlerr.Error) {
	s.Diagnostics.Warn(sqlerr.Warning{Level: level, Err: err})
}

// prepare completes the privileges and checks that the account may grant them: 1044, 1045,
// 1142, 1143, 1227.
func (e *grantEdit) prepare() error {
	x := e.x
	switch l := x.Level; {
	case x.Everything:
		if e.set.Has(priv.CreateUser, 0) || e.set.OnDatabase("mysql")&priv.Update != 0 {
			return nil
		}
		return sqlerr.PrivilegeNeeded("CREATE USER")
	case l.Global:
		if x.All {
			e.mask, e.dynamic = priv.AllGlobal&^priv.GrantOption, priv.AllDynamic
		}
	case l.Table == "":
		if x.All {
			e.mask = priv.AllDatabase &^ priv.GrantOption
		}
	case x.All:
		e.mask = priv.AllTable &^ priv.GrantOption
	}
	if x.WithGrant && !e.onlyDynamic() { // each dynamic privilege has an option of its own
		e.mask |= priv.GrantOption
	}
	if err := e.permitted(); err != nil {
		return err
	}
	if x.As != nil {
		if err := e.checkAs(x.As); err != nil {
			return err
		}
	}
	if x.Level.Table != "" && !x.Revoke {
		return e.checkTable()
	}
	return nil
}

// checkAs checks the account and the roles of AS: 3836. There is nothing else to it, since
// no account has restrictions (partial_revokes).
func (e *grantEdit) checkAs(as *logical.GrantAs) error {
	st, n := e.ch.Privileges(), e.s.nameOf(as.User)
	if st.Grants(n) == nil {
		return sqlerr.GrantAsDenied()
	}
	for _, r := range as.Roles {
		if as.Choice == logical.RolesListed && !st.HasRole(n, r) {
			return sqlerr.GrantAsDenied()
		}
	}
	return nil
}

// onlyDynamic reports a list without static privileges.
func (e *grantEdit) onlyDynamic() bool { return e.x.Mask == 0 && !e.x.All && e.x.Dynamic != 0 }

// permitted: who grants has what is granted, with the grant option.
func (e *grantEdit) permitted() error {
	l := e.x.Level
	need := e.mask | priv.GrantOption
	switch {
	case e.onlyDynamic():
		return e.permittedDynamic()
	case l.Global:
		if need&^e.set.Global() != 0 {
			return e.s.Refusal(&priv.Denied{Global: true})
		}
		if e.x.All { // those that it has
			e.dynamic &= e.set.Grantable()
		}
		return e.permittedDynamic()
	case strings.EqualFold(l.DB, "information_schema"):
		return e.s.Refusal(&priv.Denied{DB: l.DB})
	case l.Table == "":
		if need&^e.set.OnPattern(l.DB) != 0 {
			return e.s.Refusal(&priv.Denied{DB: l.DB})
		}
		return nil
	}
	have := e.set.OnTable(l.DB, l.Table)
	if missing := need &^ have; missing != 0 {
		return e.s.Refusal(&priv.Denied{DB: l.DB, Table: l.Table, Command: missing.Command()})
	}
	for _, c := range e.x.Columns {
		if missing := c.Mask &^ e.set.OnColumn(l.DB, l.Table, c.Column); missing != 0 {
			return e.s.Refusal(&priv.Denied{DB: l.DB, Table: l.Table, Column: c.Column, Command: missing.Command()})
		}
	}
	return nil
}

func (e *grantEdit) permittedDynamic() error {
	if e.dynamic&^e.set.Grantable() != 0 {
		return sqlerr.PrivilegeNeeded("GRANT OPTION")
	}
	return nil
}

// checkTable finds the table and the columns, which GRANT with CREATE does not need: 1146,
// 1054.
func (e *grantEdit) checkTable() error {
	l := e.x.Level
	snap := e.ch.Base
	if t, ok := snap.Table(l.DB, l.Table); ok {
		for _, c := range e.x.Columns {
			if i := t.ColumnByName(c.Column); i < 0 || t.Columns[i].Hidden {
				return sqlerr.UnknownColumn(c.Column, l.Table)
			}
		}
		return nil
	}
	if v, ok := snap.View(l.DB, l.Table); ok {
		return e.checkView(v)
	}
	if e.mask&priv.Create != 0 || e.s.HasVirtual(l.DB, l.Table) {
		return nil
	}
	return sqlerr.NoSuchTable(l.DB, l.Table)
}

// checkView finds the columns of a view: 1054.
func (e *grantEdit) checkView(v *schema.View) error {
	if len(e.x.Columns) == 0 {
		return nil
	}
	cols, _, err := e.s.DescribeView(v)
	if err != nil {
		return err
	}
	for _, c := range e.x.Columns {
		if !slices.ContainsFunc(cols, func(x schema.Column) bool { return strings.EqualFold(x.Name, c.Column) }) {
			return sqlerr.UnknownColumn(c.Column, v.Name)
		}
	}
	return nil
}

// apply changes the grants of one account.
func (e *grantEdit) apply(g *priv.Grants) error {
	x := e.x
	if x.Everything {
		g.RemoveAll()
		return nil
	}
	switch l := x.Level; {
	case l.Global && x.Revoke:
		g.Global &^= e.mask
		g.RemoveDynamic(e.dynamic)
		if e.mask&priv.GrantOption != 0 {
			g.Grantable = 0
		}
	case l.Global:
		g.Global |= e.mask
		g.AddDynamic(e.dynamic, x.WithGrant)
	case l.Table == "" && x.Revoke:
		if !g.RemoveDatabase(l.DB, e.mask) {
			return e.missing(sqlerr.NoSuchGrant(g.User, g.Host))
		}
	case l.Table == "":
		if e.mask != 0 { // an empty grant would hide those of wider patterns
			g.AddDatabase(l.DB, e.mask)
		}
	default:
		return e.applyTable(g)
	}
	return nil
}

func (e *grantEdit) applyTable(g *priv.Grants) error {
	l := e.x.Level
	by := e.s.AccountName()
	t := priv.Table{DB: l.DB, Name: l.Table, Mask: e.mask, By: by.User + "@" + by.Host, At: time.Now().Unix()}
	for _, c := range e.x.Columns {
		t.Columns = append(t.Columns, priv.Column{Name: c.Column, Mask: c.Mask})
	}
	if !e.x.Revoke {
		if t.Mask != 0 || t.Columns != nil {
			g.AddTable(t)
		}
		return nil
	}
	have := g.OnTable(l.DB, l.Table)
	found := have != nil
	for _, c := range t.Columns {
		found = found && have.OnColumn(c.Name) != 0
	}
	if !found {
		return e.missing(sqlerr.NoSuchTableGrant(g.User, g.Host, l.Table))
	}
	g.RemoveTable(t)
	return nil
}

// missing is the error of a revoked grant that there is not, or a warning of it.
func (e *grantEdit) missing(err *sqlerr.Error) error {
	if e.x.IfExists {
		e.s.note(sqlerr.LevelWarning, err)
		return nil
	}
	return err
}
