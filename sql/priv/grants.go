package priv

import (
	"cmp"
	"slices"
	"strings"
)

// Name is an authorization id: the name of an account or role.
type Name struct {
	User string `json:"user"`
	Host string `json:"host"`
}

// String is the name in backquotes: `u`@`h`.
func (n Name) String() string { return quote(n.User) + "@" + quote(n.Host) }

func quote(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

func compareNames(a, b Name) int {
	return cmp.Or(cmp.Compare(a.User, b.User), cmp.Compare(a.Host, b.Host))
}

// Grants is what one authorization id was granted. The zero value is nothing: USAGE.
type Grants struct {
	Name
	// Global are those ON *.*. Of the dynamic ones, Grantable were granted WITH GRANT
	// OPTION.
	Global    Mask     `json:"global,omitempty"`
	Dynamic   Dynamics `json:"dynamic,omitempty"`
	Grantable Dynamics `json:"grantable,omitempty"`
	// Databases come with the most specific pattern first, Tables by name.
	Databases []Database `json:"databases,omitempty"`
	Tables    []Table    `json:"tables,omitempty"`
	// Roles are those that it has, by name; Default those that are active after a login, by
	// name.
	Roles   []Role `json:"roles,omitempty"`
	Default []Name `json:"default,omitempty"`
}

// Database is a grant ON `pattern`.*. In the pattern _ and % are wildcards and \ takes
// them their meaning.
type Database struct {
	Pattern string `json:"db"`
	Mask    Mask   `json:"may"`
}

// Table is a grant ON db.table.
type Table struct {
	DB   string `json:"db"`
	Name string `json:"table"`
	Mask Mask   `json:"may,omitempty"`
	// Columns are by name, each with a mask.
	Columns []Column `json:"columns,omitempty"`
	// By is who granted last, as user@host; At when, in seconds since 1970.
	By string `json:"by,omitempty"`
	At int64  `json:"at,omitempty"`
}

// Column is a grant of some privileges on a column.
type Column struct {
	Name string `json:"column"` // as in the table at the time of the grant
	Mask Mask   `json:"may"`
}

// Role is a role that was granted; Admin: WITH ADMIN OPTION.
type Role struct {
	Name
	Admin bool `json:"admin,omitempty"`
}

// Clone is a copy that may be changed by the methods below.
func (g *Grants) Clone() *Grants {
	c := *g
	c.Databases, c.Tables = slices.Clone(g.Databases), slices.Clone(g.Tables)
	c.Roles, c.Default = slices.Clone(g.Roles), slices.Clone(g.Default)
	return &c
}

// IsEmpty reports that nothing was granted.
func (g *Grants) IsEmpty() bool {
	return g.Global == 0 && g.Dynamic == 0 && len(g.Databases)+len(g.Tables)+len(g.Roles)+len(g.Default) == 0
}

// AddDynamic grants dynamic privileges.
func (g *Grants) AddDynamic(d Dynamics, grantable bool) {
	g.Dynamic |= d
	if grantable {
		g.Grantable |= d
	}
}

// RemoveDynamic revokes dynamic privileges.
func (g *Grants) RemoveDynamic(d Dynamics) {
	g.Dynamic &^= d
	g.Grantable &^= d
}

// AddDatabase grants on a pattern of databases.
func (g *Grants) AddDatabase(pattern string, m Mask) {
	if i := g.database(pattern); i >= 0 {
		g.Databases[i].Mask |= m
		return
	}
	g.Databases = append(g.Databases, Database{Pattern: pattern, Mask: m})
	slices.SortFunc(g.Databases, comparePatterns)
}

// RemoveDatabase revokes on a pattern of databases; false if there is no such grant.
func (g *Grants) RemoveDatabase(pattern string, m Mask) bool {
	i := g.database(pattern)
	if i < 0 {
		return false
	}
	if g.Databases[i].Mask &^= m; g.Databases[i].Mask == 0 {
		g.Databases = slices.Delete(g.Databases, i, i+1)
	}
	return true
}

// OnPattern is the grant with exactly this pattern, 0 for none.
func (g *Grants) OnPattern(pattern string) Mask {
	if i := g.database(pattern); i >= 0 {
		return g.Databases[i].Mask
	}
	return 0
}

func (g *Grants) database(pattern string) int {
	return slices.IndexFunc(g.Databases, func(d Database) bool { return d.Pattern == pattern })
}

// OnDatabase is what the most specific pattern that a database matches gives.
func (g *Grants) OnDatabase(db string) Mask {
	for i := range g.Databases {
		if matches(g.Databases[i].Pattern, db) {
			return g.Databases[i].Mask
		}
	}
	return 0
}

// OnTable is the grant on a table; nil for none.
func (g *Grants) OnTable(db, table string) *Table {
	if i, ok := g.table(db, table); ok {
		return &g.Tables[i]
	}
	return nil
}

func (g *Grants) table(db, table string) (int, bool) {
	low, high := 0, len(g.Tables)
	for low < high {
		mid := (low + high) / 2
		t := &g.Tables[mid]
		if t.DB < db || t.DB == db && t.Name < table {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low, low < len(g.Tables) && g.Tables[low].DB == db && g.Tables[low].Name == table
}

// hasTables reports a grant on a table or column of the database.
func (g *Grants) hasTables(db string) bool {
	i, _ := g.table(db, "")
	return i < len(g.Tables) && g.Tables[i].DB == db
}

// AddTable grants on a table: m on the table itself, and on columns what cols says.
func (g *Grants) AddTable(t Table) {
	i, ok := g.table(t.DB, t.Name)
	if !ok {
		g.Tables = slices.Insert(g.Tables, i, Table{DB: t.DB, Name: t.Name})
	}
	x := &g.Tables[i]
	x.Mask |= t.Mask
	x.By, x.At = t.By, t.At
	x.Columns = slices.Clone(x.Columns)
	for _, c := range t.Columns {
		j, ok := x.column(c.Name)
		if !ok {
			x.Columns = slices.Insert(x.Columns, j, Column{Name: c.Name})
		}
		x.Columns[j].Mask |= c.Mask
	}
}

// RemoveTable revokes on a table and on columns; what is revoked on the table goes on
// its columns as well. false if there is no such grant.
func (g *Grants) RemoveTable(t Table) bool {
	i, ok := g.table(t.DB, t.Name)
	if !ok {
		return false
	}
	x := &g.Tables[i]
	x.Mask &^= t.Mask
	left := make([]Column, 0, len(x.Columns))
	for _, c := range x.Columns {
		c.Mask &^= t.Mask
		for _, r := range t.Columns {
			if strings.EqualFold(r.Name, c.Name) {
				c.Mask &^= r.Mask
			}
		}
		if c.Mask != 0 {
			left = append(left, c)
		}
	}
	x.Columns, x.By, x.At = left, t.By, t.At
	if x.Mask == 0 && len(left) == 0 {
		g.Tables = slices.Delete(g.Tables, i, i+1)
	}
	return true
}

func (t *Table) column(name string) (int, bool) {
	return slices.BinarySearchFunc(t.Columns, name, func(c Column, name string) int {
		return cmp.Compare(strings.ToLower(c.Name), strings.ToLower(name))
	})
}

// OnColumn is the grant on a column alone.
func (t *Table) OnColumn(name string) Mask {
	if len(t.Columns) == 0 {
		return 0
	}
	if i, ok := t.column(name); ok {
		return t.Columns[i].Mask
	}
	return 0
}

// OfColumns are the privileges that some column has.
func (t *Table) OfColumns() (m Mask) {
	for i := range t.Columns {
		m |= t.Columns[i].Mask
	}
	return m
}

// AddRole grants a role.
func (g *Grants) AddRole(r Role) {
	i, ok := g.role(r.Name)
	if !ok {
		g.Roles = slices.Insert(g.Roles, i, r)
	}
	g.Roles[i].Admin = g.Roles[i].Admin || r.Admin
}

// RemoveRole revokes a role, also as a default one; false if it was not granted.
func (g *Grants) RemoveRole(n Name) bool {
	i, ok := g.role(n)
	if ok {
		g.Roles = slices.Delete(g.Roles, i, i+1)
	}
	g.Default = slices.DeleteFunc(g.Default, func(x Name) bool { return x == n })
	return ok
}

// HasRole finds a granted role; nil if it was not granted directly.
func (g *Grants) HasRole(n Name) *Role {
	if i, ok := g.role(n); ok {
		return &g.Roles[i]
	}
	return nil
}

func (g *Grants) role(n Name) (int, bool) {
	return slices.BinarySearchFunc(g.Roles, n, func(r Role, n Name) int { return compareNames(r.Name, n) })
}

// SetDefault makes the roles those that are active after a login.
func (g *Grants) SetDefault(roles []Name) {
	g.Default = slices.Clone(roles)
	slices.SortFunc(g.Default, compareNames)
	g.Default = slices.Compact(g.Default)
}

// RemoveAll revokes all privileges; roles stay.
func (g *Grants) RemoveAll() {
	g.Global, g.Dynamic, g.Grantable, g.Databases, g.Tables = 0, 0, 0, nil, nil
}

// RenameRole gives a role that was granted, or is a default one because it is mandatory,
// another name; false if it is neither.
func (g *Grants) RenameRole(from, to Name) bool {
	r, isDefault := g.HasRole(from), slices.Contains(g.Default, from)
	if r != nil {
		admin := r.Admin
		g.RemoveRole(from)
		g.AddRole(Role{Name: to, Admin: admin})
	}
	if isDefault {
		g.SetDefault(append(slices.DeleteFunc(slices.Clone(g.Default), func(n Name) bool { return n == from }), to))
	}
	return r != nil || isDefault
}

// comparePatterns puts the more specific pattern first: one without wildcards, then the
// one with more before the first wildcard, as MySQL does.
func comparePatterns(a, b Database) int {
	return cmp.Or(cmp.Compare(literalPrefix(b.Pattern), literalPrefix(a.Pattern)), cmp.Compare(a.Pattern, b.Pattern))
}

// literalPrefix is the number of bytes before the first wildcard; without one it is more
// than any other.
func literalPrefix(pattern string) int {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '%', '_':
			return i
		}
	}
	return 1 << 16
}

// matches reports whether a name matches a pattern as a whole. _ is one character.
func matches(pattern, name string) bool {
	p, n, afterPercent, resume := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '%':
			p++
			afterPercent, resume = p, n
			continue
		case p < len(pattern) && pattern[p] == '_':
			p++
			n += characterLen(name[n:])
			continue
		case p < len(pattern):
			q := p
			if pattern[q] == '\\' && q+1 < len(pattern) {
				q++
			}
			if pattern[q] == name[n] {
				p, n = q+1, n+1
				continue
			}
		}
		if afterPercent < 0 {
			return false
		}
		resume++
		p, n = afterPercent, resume
	}
	for p < len(pattern) && pattern[p] == '%' {
		p++
	}
	return p == len(pattern)
}

// characterLen is the length of the first UTF-8 character of s.
func characterLen(s string) int {
	n := 1
	for n < len(s) && s[n]&0xc0 == 0x80 {
		n++
	}
	return n
}

// SortNames puts names in order, by user and then by host.
func SortNames(list []Name) { slices.SortFunc(list, compareNames) }
