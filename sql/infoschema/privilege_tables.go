package infoschema

import (
	"slices"

	"github.com/sqlots/sqlots/sql/priv"
)

// privilegeTables list who was granted what. Accounts that may not read mysql see their
// own grants.
func privilegeTables() []*table {
	return []*table{
		newTable(infoDB, "USER_PRIVILEGES", "GRANTEE s292, TABLE_CATALOG s512, PRIVILEGE_TYPE s64, IS_GRANTABLE s3", userPrivileges),
		newTable(infoDB, "SCHEMA_PRIVILEGES", "GRANTEE s292, TABLE_CATALOG s512, TABLE_SCHEMA n64, PRIVILEGE_TYPE s64, IS_GRANTABLE s3", schemaPrivileges),
		newTable(infoDB, "TABLE_PRIVILEGES", "GRANTEE s292, TABLE_CATALOG s512, TABLE_SCHEMA n64, TABLE_NAME n64, PRIVILEGE_TYPE s64, IS_GRANTABLE s3", tablePrivileges),
		newTable(infoDB, "COLUMN_PRIVILEGES", "GRANTEE s292, TABLE_CATALOG s512, TABLE_SCHEMA n64, TABLE_NAME n64, COLUMN_NAME s64, PRIVILEGE_TYPE s64, IS_GRANTABLE s3", columnPrivilegeRows),
		newTable(infoDB, "USER_ATTRIBUTES", "USER s32, HOST s255, ATTRIBUTE t?", userAttributes),
	}
}

// eachGrants calls fn with the grants of the accounts that the connection's may see, and
// the name of each as these tables have it.
func (q *query) eachGrants(fn func(g *priv.Grants, grantee string) error) error {
	all, self := q.readsGrants(), q.self()
	for _, g := range q.snap.Privileges().All() {
		if !all && g.Name != self {
			continue
		}
		if err := fn(g, "'"+g.User+"'@'"+g.Host+"'"); err != nil {
			return err
		}
	}
	return nil
}

// eachPrivilege calls fn with the names of the privileges, USAGE for none, and whether
// they may be granted.
func eachPrivilege(m priv.Mask, fn func(name, grantable string) error) error {
	grantable := yesNo(m&priv.GrantOption != 0)
	if m &^= priv.GrantOption; m == 0 {
		return fn("USAGE", grantable)
	}
	for p := range m.Each() {
		if err := fn(p.Name(), grantable); err != nil {
			return err
		}
	}
	return nil
}

func userPrivileges(q *query) error {
	return q.eachGrants(func(g *priv.Grants, grantee string) error {
		err := eachPrivilege(g.Global, func(name, grantable string) error { return q.emit(grantee, "def", name, grantable) })
		if err != nil {
			return err
		}
		for p := range g.Dynamic.Each() {
			if err := q.emit(grantee, "def", p.Name(), yesNo(g.Grantable&p != 0)); err != nil {
				return err
			}
		}
		return nil
	})
}

func schemaPrivileges(q *query) error {
	return q.eachGrants(func(g *priv.Grants, grantee string) error {
		for _, d := range g.Databases {
			err := eachPrivilege(d.Mask, func(name, grantable string) error { return q.emit(grantee, "def", d.Pattern, name, grantable) })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func tablePrivileges(q *query) error {
	return q.eachGrants(func(g *priv.Grants, grantee string) error {
		for i := range g.Tables {
			t := &g.Tables[i]
			if t.Mask == 0 {
				continue // columns alone
			}
			err := eachPrivilege(t.Mask, func(name, grantable string) error { return q.emit(grantee, "def", t.DB, t.Name, name, grantable) })
			if err != nil {
				return err
			}
		}
		return nil
	})
}

func columnPrivilegeRows(q *query) error {
	return q.eachGrants(func(g *priv.Grants, grantee string) error {
		return eachColumnGrant(g, func(t *priv.Table, c *priv.Column) error {
			return eachPrivilege(c.Mask|t.Mask&priv.GrantOption, func(name, grantable string) error {
				return q.emit(grantee, "def", t.DB, t.Name, c.Name, name, grantable)
			})
		})
	})
}

// eachColumnGrant calls fn with the grants on single columns.
func eachColumnGrant(g *priv.Grants, fn func(t *priv.Table, c *priv.Column) error) error {
	for i := range g.Tables {
		t := &g.Tables[i]
		for j := range t.Columns {
			if err := fn(t, &t.Columns[j]); err != nil {
				return err
			}
		}
	}
	return nil
}

// userAttributes lists accounts to those that may see or change them.
func userAttributes(q *query) error {
	all := q.readsGrants() || q.rights.OnDatabase(mysqlDB)&priv.Update != 0
	creates := q.rights.Has(priv.CreateUser, 0)
	for _, g := range q.snap.Privileges().All() {
		sees := all || g.Name == q.self() || creates && (g.Dynamic&priv.SystemUser == 0 || q.rights.Has(0, priv.SystemUser))
		if !sees {
			continue
		}
		var attributes any
		if a := q.snap.Account(g.User, g.Host); a != nil {
			attributes = orNull(a.Attributes)
		}
		if err := q.emit(g.User, g.Host, attributes); err != nil {
			return err
		}
	}
	return nil
}

// roleTables list the roles of the connection's account, and what they were granted.
func roleTables() []*table {
	applicable := "USER s97?, HOST s256?, GRANTEE s97?, GRANTEE_HOST s256?, ROLE_NAME s255?, ROLE_HOST s256?, IS_GRANTABLE s3, IS_DEFAULT s3?, IS_MANDATORY s3"
	return []*table{
		newTable(infoDB, "APPLICABLE_ROLES", applicable, func(q *query) error { return applicableRoles(q, false) }),
		newTable(infoDB, "ADMINISTRABLE_ROLE_AUTHORIZATIONS", applicable, func(q *query) error { return applicableRoles(q, true) }),
		newTable(infoDB, "ENABLED_ROLES", "ROLE_NAME s255?, ROLE_HOST s255?, IS_DEFAULT s3?, IS_MANDATORY s3", enabledRoles),
		newTable(infoDB, "ROLE_TABLE_GRANTS", "GRANTOR s97?, GRANTOR_HOST s256?, GRANTEE s32, GRANTEE_HOST s255, TABLE_CATALOG s3, TABLE_SCHEMA n64, TABLE_NAME n64, PRIVILEGE_TYPE s98, IS_GRANTABLE s3", roleTableGrants),
		newTable(infoDB, "ROLE_COLUMN_GRANTS", "GRANTOR s97?, GRANTOR_HOST s256?, GRANTEE s32, GRANTEE_HOST s255, TABLE_CATALOG s3, TABLE_SCHEMA n64, TABLE_NAME n64, COLUMN_NAME s64, PRIVILEGE_TYPE s31, IS_GRANTABLE s3", roleColumnGrants),
		newTable(infoDB, "ROLE_ROUTINE_GRANTS", "GRANTOR s97?, GRANTOR_HOST s256?, GRANTEE s32, GRANTEE_HOST s255, SPECIFIC_CATALOG s3, SPECIFIC_SCHEMA n64, SPECIFIC_NAME s64, ROUTINE_CATALOG s3, ROUTINE_SCHEMA n64, ROUTINE_NAME s64, PRIVILEGE_TYPE s27, IS_GRANTABLE s3", nil),
	}
}

// roleOf is a role and who has it: the account, or a role that it has.
type roleOf struct {
	role    priv.Role
	grantee priv.Name
	enabled bool // active, or a role of one that is
}

// roles are those that the account has, directly or by other roles.
func (q *query) roles() []roleOf {
	type visit struct {
		priv.Name
		enabled bool
	}
	var out []roleOf
	st, seen := q.snap.Privileges(), map[visit]bool{}
	var walk func(n priv.Name, roles []priv.Role, enabled bool)
	walk = func(n priv.Name, roles []priv.Role, enabled bool) {
		if seen[visit{n, enabled}] {
			return
		}
		seen[visit{n, enabled}] = true
		for _, r := range roles {
			g := st.Grants(r.Name)
			if g == nil {
				continue
			}
			x := roleOf{role: r, grantee: n, enabled: enabled || slices.Contains(q.rights.Roles, r.Name)}
			if i := slices.IndexFunc(out, func(o roleOf) bool { return o.role == r && o.grantee == n }); i >= 0 {
				out[i].enabled = out[i].enabled || x.enabled
			} else {
				out = append(out, x)
			}
			walk(r.Name, g.Roles, x.enabled)
		}
	}
	walk(q.self(), st.RolesOf(q.self()), false)
	return out
}

func applicableRoles(q *query, admin bool) error {
	self := q.self()
	for _, r := range q.roles() {
		if admin && !r.role.Admin {
			continue
		}
		isDefault, mandatory := q.kindOfRole(r.role.Name)
		if err := q.emit(self.User, self.Host, r.grantee.User, r.grantee.Host, r.role.User, r.role.Host, yesNo(r.role.Admin), isDefault, mandatory); err != nil {
			return err
		}
	}
	return nil
}

// kindOfRole are IS_DEFAULT and IS_MANDATORY.
func (q *query) kindOfRole(n priv.Name) (isDefault, mandatory string) {
	st := q.snap.Privileges()
	return yesNo(slices.Contains(st.DefaultRoles(q.self()), n)), yesNo(slices.Contains(st.Mandatory(), n))
}

func enabledRoles(q *query) error {
	for _, n := range q.rights.Roles {
		isDefault, mandatory := q.kindOfRole(n)
		if err := q.emit(n.User, n.Host, isDefault, mandatory); err != nil {
			return err
		}
	}
	return nil
}

// enabledGrants are the grants of the roles that are enabled.
func (q *query) enabledGrants() []*priv.Grants {
	var out []*priv.Grants
	for _, r := range q.roles() {
		if g := q.snap.Privileges().Grants(r.role.Name); r.enabled && !slices.Contains(out, g) {
			out = append(out, g)
		}
	}
	return out
}

func roleTableGrants(q *query) error {
	for _, g := range q.enabledGrants() {
		for i := range g.Tables {
			t := &g.Tables[i]
			if t.Mask == 0 {
				continue
			}
			user, host := grantor(t)
			err := q.emit(user, host, g.User, g.Host, "def", t.DB, t.Name, setOf(t.Mask), yesNo(t.Mask&priv.GrantOption != 0))
			if err != nil {
				return err
			}
		}
	}
	return nil
}

func roleColumnGrants(q *query) error {
	for _, g := range q.enabledGrants() {
		err := eachColumnGrant(g, func(t *priv.Table, c *priv.Column) error {
			user, host := grantor(t)
			return q.emit(user, host, g.User, g.Host, "def", t.DB, t.Name, c.Name, setOf(c.Mask), yesNo(t.Mask&priv.GrantOption != 0))
		})
		if err != nil {
			return err
		}
	}
	return nil
}
