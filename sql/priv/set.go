package priv

import (
	"slices"
	"strings"
	"sync"
)

// State has the grants of all authorization ids at one moment.
type State struct {
	ids       map[Name]*Grants
	mandatory []Name
	allRoles  bool     // see WithAllRoles
	sets      sync.Map // string to *Set; see Set
}

// NewState makes a State. Ids without grants need not be in the list, but must be to be
// known.
func NewState(list []*Grants, mandatory []Name) *State {
	st := &State{ids: make(map[Name]*Grants, len(list)), mandatory: mandatory}
	for _, g := range list {
		st.ids[g.Name] = g
	}
	return st
}

// Change is a copy of st with other grants: nil removes an id.
func (st *State) Change(changes map[Name]*Grants) *State {
	n := &State{ids: make(map[Name]*Grants, len(st.ids)+len(changes)), mandatory: st.mandatory, allRoles: st.allRoles}
	for k, v := range st.ids {
		n.ids[k] = v
	}
	for k, v := range changes {
		if v == nil {
			delete(n.ids, k)
		} else {
			n.ids[k] = v
		}
	}
	return n
}

// WithMandatory is a copy of st with other mandatory roles.
func (st *State) WithMandatory(roles []Name) *State {
	return &State{ids: st.ids, mandatory: roles, allRoles: st.allRoles}
}

// WithAllRoles is a copy of st in which a login makes all roles active, or only the
// default ones: activate_all_roles_on_login.
func (st *State) WithAllRoles(all bool) *State {
	return &State{ids: st.ids, mandatory: st.mandatory, allRoles: all}
}

// ActivatesAll reports what WithAllRoles has set.
func (st *State) ActivatesAll() bool { return st.allRoles }

// LoginRoles are the roles that are active after a login, and in views that run as the
// account.
func (st *State) LoginRoles(n Name) []Name {
	if st.allRoles {
		return st.AllRoles(n)
	}
	return st.DefaultRoles(n)
}

// Mandatory are the roles that every account has.
func (st *State) Mandatory() []Name { return st.mandatory }

// Grants are those of an id; nil if there is no such id.
func (st *State) Grants(n Name) *Grants { return st.ids[n] }

// IsSystem reports an account with SYSTEM_USER, which accounts without it may not touch.
func (st *State) IsSystem(n Name) bool {
	g := st.ids[n]
	return g != nil && g.Dynamic&SystemUser != 0
}

// All are the grants of all ids, by name.
func (st *State) All() []*Grants {
	out := make([]*Grants, 0, len(st.ids))
	for _, g := range st.ids {
		out = append(out, g)
	}
	slices.SortFunc(out, func(a, b *Grants) int { return compareNames(a.Name, b.Name) })
	return out
}

// RolesOf are the roles of an account that it may make active, the mandatory ones that
// exist included, by name.
func (st *State) RolesOf(n Name) []Role {
	g := st.ids[n]
	if g == nil {
		return nil
	}
	list := slices.Clone(g.Roles)
	for _, m := range st.mandatory {
		if st.ids[m] != nil && m != n && g.HasRole(m) == nil {
			list = append(list, Role{Name: m})
		}
	}
	slices.SortFunc(list, func(a, b Role) int { return compareNames(a.Name, b.Name) })
	return slices.CompactFunc(list, func(a, b Role) bool { return a.Name == b.Name })
}

// DefaultRoles are the default ones that the account has.
func (st *State) DefaultRoles(n Name) []Name {
	g := st.ids[n]
	if g == nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(g.Default), func(r Name) bool { return !st.HasRole(n, r) })
}

// AllRoles are the names of RolesOf.
func (st *State) AllRoles(n Name) []Name {
	var list []Name
	for _, r := range st.RolesOf(n) {
		list = append(list, r.Name)
	}
	return list
}

// HasRole reports that the role exists and was granted to the account directly, or is
// mandatory.
func (st *State) HasRole(account, role Name) bool {
	g := st.ids[account]
	return g != nil && st.ids[role] != nil && (g.HasRole(role) != nil || slices.Contains(st.mandatory, role))
}

// Reaches reports that from has the role to, directly or by other roles.
func (st *State) Reaches(from, to Name) bool {
	return from == to || st.anyOf(from, func(g *Grants) bool { return g.HasRole(to) != nil })
}

// MakesSystem reports that an id has SYSTEM_USER, itself or by its roles.
func (st *State) MakesSystem(n Name) bool {
	return st.anyOf(n, func(g *Grants) bool { return g.Dynamic&SystemUser != 0 })
}

// anyOf reports that an id, or one of its roles and their roles, has grants that fit.
func (st *State) anyOf(n Name, fits func(g *Grants) bool) bool {
	seen := map[Name]bool{}
	var walk func(n Name) bool
	walk = func(n Name) bool {
		g := st.ids[n]
		if g == nil || seen[n] {
			return false
		}
		seen[n] = true
		return fits(g) || slices.ContainsFunc(g.Roles, func(r Role) bool { return walk(r.Name) })
	}
	return walk(n)
}

// Set is what an account may do with its active roles.
type Set struct {
	// Account is the account, Roles the active roles by name.
	Account Name
	Roles   []Name

	state     *State
	all       bool // no account: what the server itself runs
	ids       []*Grants
	global    Mask
	dynamic   Dynamics
	grantable Dynamics
}

// Everything is the Set of what the server runs by itself.
var Everything = &Set{all: true, state: NewState(nil, nil), global: AllGlobal, dynamic: AllDynamic | SetUserID, grantable: AllDynamic | SetUserID}

// Set makes what an account may do with the roles, of which it has all. Calls with the
// same arguments give the same Set.
func (st *State) Set(account Name, roles []Name) *Set {
	key := account.User + "\x00" + account.Host
	for _, r := range roles {
		key += "\x00" + r.User + "\x00" + r.Host
	}
	if s, ok := st.sets.Load(key); ok {
		return s.(*Set)
	}
	s, _ := st.sets.LoadOrStore(key, st.makeSet(account, roles))
	return s.(*Set)
}

func (st *State) makeSet(account Name, roles []Name) *Set {
	s := &Set{Account: account, Roles: slices.Clone(roles), state: st}
	seen := map[Name]bool{}
	add := func(n Name) *Grants {
		g := st.ids[n]
		if g == nil || seen[n] {
			return nil
		}
		seen[n] = true
		s.ids = append(s.ids, g)
		s.global |= g.Global
		s.dynamic |= g.Dynamic
		s.grantable |= g.Grantable
		return g
	}
	var closure func(n Name)
	closure = func(n Name) {
		if g := add(n); g != nil {
			for _, r := range g.Roles {
				closure(r.Name)
			}
		}
	}
	add(account)
	for _, r := range roles {
		closure(r)
	}
	if s.global&Super != 0 {
		s.dynamic |= OfSuper
	}
	if s.dynamic&SetUserID != 0 {
		s.dynamic |= SetAnyDefiner | AllowNonexistentDefiner
	}
	return s
}

// Administers reports that the account has the role WITH ADMIN OPTION, directly or by an
// active role.
func (s *Set) Administers(role Name) bool {
	return s.all || slices.ContainsFunc(s.ids, func(g *Grants) bool {
		r := g.HasRole(role)
		return r != nil && r.Admin
	})
}

// State is the one of which s was made.
func (s *Set) State() *State { return s.state }

// Exists reports that the account is still there.
func (s *Set) Exists() bool { return s.all || s.state.ids[s.Account] != nil }

// Global are the static privileges ON *.*.
func (s *Set) Global() Mask { return s.global }

// Dynamic are the dynamic privileges.
func (s *Set) Dynamic() Dynamics { return s.dynamic }

// Grantable are the dynamic privileges that the account may grant.
func (s *Set) Grantable() Dynamics { return s.grantable }

// Has reports one of the privileges, ON *.*.
func (s *Set) Has(m Mask, d Dynamics) bool { return s.global&m != 0 || s.dynamic&d != 0 }

// OnDatabase are the privileges on a database as a whole.
func (s *Set) OnDatabase(db string) Mask {
	m := s.global
	for _, g := range s.ids {
		m |= g.OnDatabase(db)
	}
	return m
}

// OnPattern are the privileges to grant on a pattern of databases: those of the same
// pattern, or, of a pattern without wildcards, of the database.
func (s *Set) OnPattern(pattern string) Mask {
	m := s.global
	for _, g := range s.ids {
		m |= g.OnPattern(pattern)
	}
	if name, ok := literalName(pattern); ok {
		m |= s.OnDatabase(name)
	}
	return m
}

// literalName is the one name that a pattern matches.
func literalName(pattern string) (string, bool) {
	var b strings.Builder
	for i := 0; i < len(pattern); i++ {
		switch c := pattern[i]; {
		case c == '\\' && i+1 < len(pattern):
			i++
			b.WriteByte(pattern[i])
		case c == '%' || c == '_':
			return "", false
		default:
			b.WriteByte(c)
		}
	}
	return b.String(), true
}

// OnTable are the privileges on a table as a whole.
func (s *Set) OnTable(db, table string) Mask {
	m := s.OnDatabase(db)
	for _, g := range s.ids {
		if t := g.OnTable(db, table); t != nil {
			m |= t.Mask
		}
	}
	return m
}

// OnColumn are the privileges on a column.
func (s *Set) OnColumn(db, table, column string) Mask {
	return s.OnTable(db, table) | s.ofColumn(db, table, column)
}

func (s *Set) ofColumn(db, table, column string) (m Mask) {
	for _, g := range s.ids {
		if t := g.OnTable(db, table); t != nil {
			m |= t.OnColumn(column)
		}
	}
	return m
}

// ofColumns are the privileges that some column of the table has.
func (s *Set) ofColumns(db, table string) (m Mask) {
	for _, g := range s.ids {
		if t := g.OnTable(db, table); t != nil {
			m |= t.OfColumns()
		}
	}
	return m
}

// SeesDatabase reports any privilege on the database or in it.
func (s *Set) SeesDatabase(db string) bool {
	if s.global&ShowDatabases != 0 || s.OnDatabase(db)&OnDatabase != 0 {
		return true
	}
	return slices.ContainsFunc(s.ids, func(g *Grants) bool { return g.hasTables(db) })
}

// UsesDatabase is SeesDatabase for USE, for which SHOW DATABASES does not suffice.
func (s *Set) UsesDatabase(db string) bool {
	if s.global&ShowDatabases != 0 && s.OnDatabase(db)&OnDatabase == 0 {
		return slices.ContainsFunc(s.ids, func(g *Grants) bool { return g.hasTables(db) })
	}
	return s.SeesDatabase(db)
}

// SeesTable reports any privilege on the table or on a column of it.
func (s *Set) SeesTable(db, table string) bool {
	return (s.OnTable(db, table)|s.ofColumns(db, table))&OnTable != 0
}

// SeesAllTables reports that no table is hidden from the account.
func (s *Set) SeesAllTables() bool { return s.global&OnTable != 0 }

// SeesColumn reports a privilege on the column.
func (s *Set) SeesColumn(db, table, column string) bool {
	m := s.OnTable(db, table)
	return m&AllColumn != 0 || s.ofColumn(db, table, column) != 0 || m&OnTable != 0 && s.ofColumns(db, table) == 0
}
