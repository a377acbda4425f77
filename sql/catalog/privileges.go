package catalog

import (
	"slices"

	"github.com/sqlots/sqlots/sql/priv"
)

// Name is the authorization id of the account.
func (a *Account) Name() priv.Name { return priv.Name{User: a.User, Host: a.Host} }

// Privileges are those of all accounts. Snapshots between which no account, grant or
// role has changed have the same.
func (s *Snapshot) Privileges() *priv.State { return s.privileges }

func grantsKey(n priv.Name) []byte {
	return append(append(append([]byte{system, keyGrants}, n.User...), 0), n.Host...)
}

// PutGrants replaces what an account was granted; g becomes part of the snapshot and must
// not change any more.
func (ch *Change) PutGrants(g *priv.Grants) {
	ch.setGrants(g.Name, g)
	ch.put(grantsKey(g.Name), g)
}

// Grants are those of an account with the changes made so far; nil if it does not exist.
func (ch *Change) Grants(n priv.Name) *priv.Grants {
	if g, ok := ch.grants[n]; ok {
		return g
	}
	return ch.Base.privileges.Grants(n)
}

// Privileges are those of all accounts with the changes made so far.
func (ch *Change) Privileges() *priv.State {
	if len(ch.grants) == 0 {
		return ch.Base.privileges
	}
	return ch.Base.privileges.Change(ch.grants)
}

// dropGrants removes what an account was granted, and it as a role of others.
func (ch *Change) dropGrants(n priv.Name) {
	ch.setGrants(n, nil)
	ch.puts[string(grantsKey(n))] = nil
	for _, g := range ch.Privileges().All() {
		if g.HasRole(n) != nil || slices.Contains(g.Default, n) {
			c := g.Clone()
			c.RemoveRole(n)
			ch.PutGrants(c)
		}
	}
}

// RenameAccount gives an account, and what it was granted, another name; where it is a
// role of others, it stays one.
func (ch *Change) RenameAccount(old *Account, to priv.Name) {
	from, a := old.Name(), *old
	a.User, a.Host = to.User, to.Host
	g := ch.Grants(from).Clone()
	g.Name = to
	holders := ch.Privileges().All()
	ch.removeAccount(from.User, from.Host)
	ch.puts[string(accountKey(from.User, from.Host))] = nil
	ch.setGrants(from, nil)
	ch.puts[string(grantsKey(from))] = nil
	ch.PutAccount(&a)
	ch.PutGrants(g)
	for _, h := range holders {
		c := h.Clone()
		if h.Name == from {
			c.Name = to
		}
		if c.RenameRole(from, to) {
			ch.PutGrants(c)
		}
	}
}

// setGrants notes the grants of an account; nil for one that is gone.
func (ch *Change) setGrants(n priv.Name, g *priv.Grants) {
	if ch.grants == nil {
		ch.grants = map[priv.Name]*priv.Grants{}
	}
	ch.grants[n] = g
}

// allPrivileges is every privilege, with the right to grant it.
func allPrivileges(n priv.Name) *priv.Grants {
	return &priv.Grants{Name: n, Global: priv.AllGlobal, Dynamic: priv.AllDynamic, Grantable: priv.AllDynamic}
}

// withEach are the grants with empty ones for accounts that have none: where accounts have
// privileges at all, a missing record is nothing granted.
func (s *Snapshot) withEach(grants []*priv.Grants) []*priv.Grants {
	if !s.marked {
		return grants
	}
	have := map[priv.Name]bool{}
	for _, g := range grants {
		have[g.Name] = true
	}
	for _, a := range s.accounts {
		if !have[a.Name()] {
			grants = append(grants, &priv.Grants{Name: a.Name()})
		}
	}
	return grants
}

// SetMandatoryRoles are the roles that every account has: the variable mandatory_roles.
func (c *Catalog) SetMandatoryRoles(roles []priv.Name) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.current.Load()
	if slices.Equal(s.privileges.Mandatory(), roles) {
		return
	}
	n := *s
	n.privileges = s.privileges.WithMandatory(roles)
	c.current.Store(&n)
}

// SetActivateAllRoles takes over the variable activate_all_roles_on_login.
func (c *Catalog) SetActivateAllRoles(all bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := c.current.Load()
	if s.privileges.ActivatesAll() == all {
		return
	}
	n := *s
	n.privileges = s.privileges.WithAllRoles(all)
	c.current.Store(&n)
}

// Upgraded are the accounts of a directory of a version without privileges, in which
// every account could do everything: they have all privileges now.
func (c *Catalog) Upgraded() []priv.Name { return c.upgraded }
