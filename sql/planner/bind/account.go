package bind

import (
	"strings"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/auth"

	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// maxUserName and maxHostName are in characters and bytes.
const maxUserName, maxHostName = 32, 255

// accountName is the name of an account or role, with the host % where none is written:
// 1470.
func accountName(user, host string) (priv.Name, error) {
	if utf8.RuneCountInString(user) > maxUserName {
		return priv.Name{}, sqlerr.UserNameTooLong(user, maxUserName)
	}
	if len(host) > maxHostName {
		return priv.Name{}, sqlerr.HostNameTooLong(host, maxHostName)
	}
	if host == "" {
		host = "%"
	}
	return priv.Name{User: user, Host: strings.ToLower(host)}, nil
}

func userSpec(u *auth.UserIdentity) (logical.UserSpec, error) {
	if u == nil || u.CurrentUser {
		return logical.UserSpec{CurrentUser: true}, nil
	}
	name, err := accountName(u.Username, u.Hostname)
	return logical.UserSpec{User: name.User, Host: name.Host}, err
}

func userSpecs(list []*ast.UserSpec) ([]logical.UserSpec, error) {
	out := make([]logical.UserSpec, 0, len(list))
	for _, s := range list {
		u, err := userSpec(s.User)
		if err != nil {
			return nil, err
		}
		if a := s.AuthOpt; a != nil {
			u.HasAuth, u.Plugin = true, strings.ToLower(a.AuthPlugin)
			switch {
			case a.ByAuthString:
				u.Password = a.AuthString
			case a.ByHashString:
				u.IsHash, u.Hash = true, a.HashString
			default:
				u.PluginOnly = true
			}
		}
		out = append(out, u)
	}
	return out, nil
}

// addClauses gives the accounts of a statement the clauses that the parser keeps apart.
func addClauses(users []logical.UserSpec, a *parser.AccountClauses) {
	if a == nil {
		return
	}
	for i, c := range a.Users {
		u := &users[i]
		u.Replace, u.Retain, u.Discard = c.Replace, c.Retain, c.Discard
		if c.Random {
			u.HasAuth, u.Random, u.PluginOnly = true, true, false
		}
	}
}

// account binds the statements on accounts; (nil, nil) for others.
func (b *binder) account(st *parser.Statement, n ast.StmtNode) (logical.Statement, error) {
	switch n := n.(type) {
	case *ast.CreateUserStmt:
		return createUser(st, n)
	case *ast.AlterUserStmt:
		return alterUser(st, n)
	case *ast.SetPwdStmt:
		return setPassword(st, n)
	case *ast.DropUserStmt:
		out := &logical.DropUser{IfExists: n.IfExists, Role: n.IsDropRole}
		var err error
		out.Users, err = userNames(n.UserList)
		return out, err
	case *ast.RenameUserStmt:
		out := &logical.RenameUser{}
		for _, r := range n.UserToUsers {
			names, err := userNames([]*auth.UserIdentity{r.OldUser, r.NewUser})
			if err != nil {
				return nil, err
			}
			out.From, out.To = append(out.From, names[0]), append(out.To, names[1])
		}
		return out, nil
	}
	return b.grantStmt(st, n)
}

func createUser(st *parser.Statement, n *ast.CreateUserStmt) (logical.Statement, error) {
	if n.ResourceGroupNameOption != nil {
		return nil, sqlerr.NotSupported("CREATE USER … RESOURCE GROUP")
	}
	users, err := userSpecs(n.Specs)
	if err != nil {
		return nil, err
	}
	addClauses(users, st.Account)
	options, err := accountOptions(st.Account, n.AuthTokenOrTLSOptions, n.ResourceOptions, n.PasswordOrLockOptions, n.CommentOrAttributeOption)
	if err != nil {
		return nil, err
	}
	out := &logical.CreateUser{Users: users, IfNotExists: n.IfNotExists, Options: options, Role: n.IsCreateRole}
	if st.Account != nil && st.Account.DefaultRole != nil {
		out.DefaultRoles, err = roleNames(st.Account.DefaultRole.Roles)
	}
	return out, err
}

func alterUser(st *parser.Statement, n *ast.AlterUserStmt) (logical.Statement, error) {
	if n.ResourceGroupNameOption != nil {
		return nil, sqlerr.NotSupported("ALTER USER … RESOURCE GROUP")
	}
	specs := n.Specs
	if n.CurrentAuth != nil {
		specs = []*ast.UserSpec{{User: &auth.UserIdentity{CurrentUser: true}, AuthOpt: n.CurrentAuth}}
	}
	users, err := userSpecs(specs)
	if err != nil {
		return nil, err
	}
	addClauses(users, st.Account)
	options, err := accountOptions(st.Account, n.AuthTokenOrTLSOptions, n.ResourceOptions, n.PasswordOrLockOptions, n.CommentOrAttributeOption)
	if err != nil {
		return nil, err
	}
	out := &logical.AlterUser{Users: users, IfExists: n.IfExists, Options: options}
	if st.Account != nil && st.Account.DefaultRole != nil {
		r := st.Account.DefaultRole
		roles, err := roleNames(r.Roles)
		if err != nil {
			return nil, err
		}
		out.DefaultRole = &logical.SetDefaultRole{Choice: roleChoices[r.Kind], Roles: roles, Users: users}
	}
	return out, nil
}

func setPassword(st *parser.Statement, n *ast.SetPwdStmt) (logical.Statement, error) {
	u, err := userSpec(n.User)
	if err != nil {
		return nil, err
	}
	u.HasAuth, u.Password = true, n.Password
	users := []logical.UserSpec{u}
	addClauses(users, st.Account)
	return &logical.SetPassword{User: users[0]}, nil
}
