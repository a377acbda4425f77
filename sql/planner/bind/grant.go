package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/auth"
	"github.com/pingcap/tidb/pkg/parser/mysql"

	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// grantStmt binds GRANT, REVOKE and what is about roles; (nil, nil) for others.
func (b *binder) grantStmt(st *parser.Statement, n ast.StmtNode) (logical.Statement, error) {
	clauses := st.Account
	if clauses == nil {
		clauses = &parser.AccountClauses{}
	}
	switch n := n.(type) {
	case *ast.GrantStmt:
		if len(n.AuthTokenOrTLSOptions) > 0 || hasAuth(n.Users) {
			return nil, sqlerr.Parse("", nearWord(parser.HideSecrets(st.Text, b.env.Mode), "IDENTIFIED", "REQUIRE"), 1)
		}
		out := &logical.Grant{WithGrant: n.WithGrant}
		if clauses.As != nil {
			if n.Level.Level != ast.GrantLevelGlobal {
				return nil, sqlerr.GrantAsLevel()
			}
			var err error
			if out.As, err = grantAs(clauses); err != nil {
				return nil, err
			}
		}
		return out, b.grantOf(out, n.Privs, n.ObjectType, n.Level, n.Users)
	case *ast.RevokeStmt:
		if hasAuth(n.Users) {
			return nil, sqlerr.Parse("", nearWord(parser.HideSecrets(st.Text, b.env.Mode), "IDENTIFIED"), 1)
		}
		out := &logical.Grant{Revoke: true, IfExists: clauses.IfExists, IgnoreUnknown: clauses.IgnoreUnknown}
		out.Everything = len(n.Privs) == 2 && n.Privs[0].Priv == mysql.AllPriv && n.Privs[1].Priv == mysql.GrantPriv
		return out, b.grantOf(out, n.Privs, n.ObjectType, n.Level, n.Users)
	}
	return roleStmt(n, clauses)
}

// roleStmt binds the statements on roles; (nil, nil) for others.
func roleStmt(n ast.StmtNode, clauses *parser.AccountClauses) (logical.Statement, error) {
	var err error
	roles := func(list []*auth.RoleIdentity) (out []priv.Name) {
		if err == nil {
			out, err = roleNames(list)
		}
		return out
	}
	users := func(list []*auth.UserIdentity) (out []logical.UserSpec) {
		if err == nil {
			out, err = userNames(list)
		}
		return out
	}
	var out logical.Statement
	switch n := n.(type) {
	case *ast.GrantRoleStmt:
		out = &logical.GrantRole{Roles: roles(n.Roles), Users: users(n.Users), Admin: clauses.WithAdmin}
	case *ast.RevokeRoleStmt:
		out = &logical.GrantRole{Revoke: true, Roles: roles(n.Roles), Users: users(n.Users), IfExists: clauses.IfExists, IgnoreUnknown: clauses.IgnoreUnknown}
	case *ast.SetRoleStmt:
		out = &logical.SetRole{Choice: roleChoices[n.SetRoleOpt], Roles: roles(n.RoleList)}
	case *ast.SetDefaultRoleStmt:
		out = &logical.SetDefaultRole{Choice: roleChoices[n.SetRoleOpt], Roles: roles(n.RoleList), Users: users(n.UserList)}
	}
	return out, err
}

// grantAs is AS of GRANT; without WITH ROLE it is without roles.
func grantAs(c *parser.AccountClauses) (*logical.GrantAs, error) {
	u, err := userSpec(c.As)
	out := &logical.GrantAs{User: u, Choice: logical.RolesNone}
	if r := c.AsRoles; r != nil && err == nil {
		out.Choice = roleChoices[r.Kind]
		out.Roles, err = roleNames(r.Roles)
	}
	return out, err
}

var roleChoices = map[ast.SetRoleStmtType]logical.RoleChoice{ast.SetRoleDefault: logical.RolesDefault, ast.SetRoleNone: logical.RolesNone,
	ast.SetRoleAll: logical.RolesAll, ast.SetRoleAllExcept: logical.RolesAllExcept, ast.SetRoleRegular: logical.RolesListed}

func hasAuth(list []*ast.UserSpec) bool {
	for _, u := range list {
		if u.AuthOpt != nil {
			return true
		}
	}
	return false
}

// nearWord is the text from the first of the words on.
func nearWord(text string, words ...string) string {
	upper := strings.ToUpper(text)
	for _, w := range words {
		if i := strings.Index(upper, w); i >= 0 {
			return text[i:]
		}
	}
	return ""
}

func roleNames(list []*auth.RoleIdentity) (out []priv.Name, err error) {
	out = make([]priv.Name, len(list))
	for i, r := range list {
		if out[i], err = accountName(r.Username, r.Hostname); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func userNames(list []*auth.UserIdentity) (out []logical.UserSpec, err error) {
	out = make([]logical.UserSpec, len(list))
	for i, u := range list {
		if out[i], err = userSpec(u); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// grantOf binds what GRANT and REVOKE share: 1046, 1144, 1221, 1305, 3619, 3929.
func (b *binder) grantOf(out *logical.Grant, list []*ast.PrivElem, object ast.ObjectTypeType, level *ast.GrantLevel, users []*ast.UserSpec) (err error) {
	if out.Users, err = userSpecs(users); err != nil || out.Everything {
		return err
	}
	if out.Level, err = b.grantLevel(level); err != nil {
		return err
	}
	if object == ast.ObjectTypeFunction || object == ast.ObjectTypeProcedure {
		kind := map[ast.ObjectTypeType]string{ast.ObjectTypeFunction: "FUNCTION", ast.ObjectTypeProcedure: "PROCEDURE"}[object]
		return sqlerr.NoSuchProgram(kind, out.Level.Table)
	}
	for _, p := range list {
		if err := grantElement(out, p); err != nil {
			return err
		}
	}
	return checkLevel(out)
}

func (b *binder) grantLevel(l *ast.GrantLevel) (out logical.GrantLevel, err error) {
	if l.Level == ast.GrantLevelGlobal {
		return logical.GrantLevel{Global: true}, nil
	}
	if out.DB, err = b.database(l.DBName); err != nil {
		return out, err
	}
	if l.Level == ast.GrantLevelTable {
		out.Table = l.TableName
	} else if l.DBName == "" {
		out.DB = strings.NewReplacer(`\`, `\\`, "_", `\_`, "%", `\%`).Replace(out.DB) // a name, and no pattern
	}
	return out, nil
}

func grantElement(out *logical.Grant, p *ast.PrivElem) error {
	switch p.Priv {
	case mysql.AllPriv:
		out.All = true
		return nil
	case mysql.UsagePriv:
		return nil
	case mysql.ExtendedPriv:
		d := priv.ParseDynamic(p.Name)
		if d == 0 {
			if m := priv.Parse(p.Name); m != 0 {
				out.Mask |= m
				return nil
			}
			return sqlerr.UnknownDynamicPrivilege(strings.ToUpper(p.Name))
		}
		out.Dynamic |= d
		return nil
	}
	m := priv.Parse(mysql.Priv2Str[p.Priv])
	if m == 0 {
		return sqlerr.NotSupported("this privilege")
	}
	if len(p.Cols) == 0 {
		out.Mask |= m
		return nil
	}
	if m&priv.AllColumn == 0 {
		return sqlerr.WrongUsage("COLUMN GRANT", "NON-COLUMN PRIVILEGES")
	}
	for _, c := range p.Cols {
		out.Columns = append(out.Columns, logical.GrantColumns{Column: c.Name.O, Mask: m})
	}
	return nil
}

// checkLevel refuses privileges that the level does not have.
func checkLevel(g *logical.Grant) error {
	switch {
	case g.Dynamic != 0 && !g.Level.Global:
		for d := range g.Dynamic.Each() {
			return sqlerr.IllegalPrivilegeLevel(d.Name())
		}
	case len(g.Columns) > 0 && g.Level.Table == "":
		return sqlerr.IllegalGrant()
	case g.Level.Global:
	case g.Level.Table == "":
		if g.Mask&^priv.AllDatabase != 0 {
			return sqlerr.WrongUsage("DB GRANT", "GLOBAL PRIVILEGES")
		}
	case g.Mask&^priv.AllTable != 0:
		return sqlerr.IllegalGrant()
	}
	return nil
}
