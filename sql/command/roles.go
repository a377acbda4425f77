package command

import (
	"context"
	"slices"

	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// grantRole is GRANT and REVOKE of roles, for all accounts or none.
func (s *commands) grantRole(ctx context.Context, x *logical.GrantRole) error {
	return s.changeAccounts(ctx, func(ch *catalog.Change) error {
		if err := s.mayGrantRoles(x.Roles); err != nil {
			return err
		}
		for _, r := range x.Roles {
			if ch.Grants(r) == nil {
				if !x.IfExists {
					return sqlerr.UnknownAuthID(r.User, r.Host)
				}
				s.note(sqlerr.LevelWarning, sqlerr.UnknownAuthID(r.User, r.Host))
			}
			if x.Revoke && slices.Contains(ch.Base.Privileges().Mandatory(), r) {
				return sqlerr.MandatoryRole(r.String())
			}
		}
		for _, u := range x.Users {
			n := s.nameOf(u)
			g := ch.Grants(n)
			if g == nil {
				if !x.IgnoreUnknown {
					return sqlerr.UnknownAuthID(n.User, n.Host)
				}
				s.note(sqlerr.LevelWarning, sqlerr.UnknownAuthID(n.User, n.Host))
				continue
			}
			if err := s.mayChange(g); err != nil {
				return err
			}
			g = g.Clone()
			if err := s.changeRoles(ch, g, x); err != nil {
				return err
			}
			ch.PutGrants(g)
		}
		return nil
	})
}

// changeRoles grants or revokes the roles of one account: 3530, 4027.
func (s *commands) changeRoles(ch *catalog.Change, g *priv.Grants, x *logical.GrantRole) error {
	for _, r := range x.Roles {
		if x.Revoke {
			if !g.RemoveRole(r) {
				err := sqlerr.RoleNotGranted(r.String(), g.Name.String())
				if !x.IfExists {
					return err
				}
				s.note(sqlerr.LevelWarning, err)
			}
			continue
		}
		if err := s.mayChange(ch.Grants(r)); err != nil { // or who may grant roles had what it has
			return err
		}
		if ch.Privileges().Reaches(r, g.Name) {
			return sqlerr.RoleCircle(g.Name.String(), r.String())
		}
		g.AddRole(priv.Role{Name: r, Admin: x.Admin})
	}
	return nil
}

// mayGrantRoles: ROLE_ADMIN, or each of the roles WITH ADMIN OPTION. 1227.
func (s *commands) mayGrantRoles(roles []priv.Name) error {
	set := s.Privileges()
	if set.Has(priv.Super, priv.RoleAdmin) {
		return nil
	}
	for _, r := range roles {
		if !set.Administers(r) {
			return sqlerr.PrivilegeNeeded("WITH ADMIN, ROLE_ADMIN, SUPER")
		}
	}
	return nil
}

// grantableDefaults checks the default roles of CREATE USER, which it grants.
func (s *commands) grantableDefaults(base *catalog.Snapshot, roles []priv.Name) error {
	for _, r := range roles {
		if base.Privileges().Grants(r) == nil {
			return sqlerr.UnknownAuthID(r.User, r.Host)
		}
		if err := s.mayChange(base.Privileges().Grants(r)); err != nil {
			return err
		}
	}
	return s.mayGrantRoles(roles)
}

// mayAlter is mayChange for an account other than one's own.
func (s *commands) mayAlter(user, host string) error {
	if s.isSelf(user, host) {
		return nil
	}
	return s.mayChange(s.Engine.Catalog.Snapshot().Privileges().Grants(priv.Name{User: user, Host: host}))
}

// setRole is SET ROLE: 3530.
func (s *commands) setRole(x *logical.SetRole) error {
	st := s.Engine.Catalog.Snapshot().Privileges()
	account := s.AccountName()
	switch x.Choice {
	case logical.RolesDefault:
		return s.Activate(st.DefaultRoles(account))
	case logical.RolesNone:
		return s.Activate(nil)
	case logical.RolesAll:
		return s.Activate(st.AllRoles(account))
	case logical.RolesAllExcept:
		return s.Activate(slices.DeleteFunc(st.AllRoles(account), func(n priv.Name) bool { return slices.Contains(x.Roles, n) }))
	}
	return s.Activate(x.Roles)
}

// setDefaultRole is SET DEFAULT ROLE: 3523, 3530.
func (s *commands) setDefaultRole(ctx context.Context, x *logical.SetDefaultRole) error {
	return s.changeAccounts(ctx, func(ch *catalog.Change) error {
		for _, u := range x.Users {
			n := s.nameOf(u)
			g := ch.Grants(n)
			if g == nil {
				return sqlerr.UnknownAuthID(n.User, n.Host)
			}
			roles := x.Roles
			switch x.Choice {
			case logical.RolesNone:
				roles = nil
			case logical.RolesAll:
				roles = ch.Privileges().AllRoles(n)
			}
			for _, r := range roles {
				if !ch.Privileges().HasRole(n, r) {
					return sqlerr.RoleNotGranted(r.String(), n.String())
				}
			}
			g = g.Clone()
			g.SetDefault(roles)
			ch.PutGrants(g)
		}
		return nil
	})
}
