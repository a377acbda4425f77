package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/auth"

	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

func userSpec(u *auth.UserIdentity) logical.UserSpec {
	if u == nil || u.CurrentUser {
		return logical.UserSpec{CurrentUser: true}
	}
	host := u.Hostname
	if host == "" {
		host = "%"
	}
	return logical.UserSpec{User: u.Username, Host: strings.ToLower(host)}
}

// roleHost is the host of a role: % where none is written.
func roleHost(host string) string {
	if host == "" {
		return "%"
	}
	return strings.ToLower(host)
}

func userSpecs(list []*ast.UserSpec) ([]logical.UserSpec, error) {
	out := make([]logical.UserSpec, 0, len(list))
	for _, s := range list {
		u := userSpec(s.User)
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
		return setPassword(st, n), nil
	case *ast.DropUserStmt:
		out := &logical.DropUser{IfExists: n.IfExists, Role: n.IsDropRole}
		for _, u := range n.UserList {
			out.Users = append(out.Users, userSpec(u))
		}
		return out, nil
	case *ast.RenameUserStmt:
		out := &logical.RenameUser{}
		for _, r := range n.UserToUsers {
			out.From = append(out.From, userSpec(r.OldUser))
			out.To = append(out.To, userSpec(r.NewUser))
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
		out.DefaultRoles = roleNames(st.Account.DefaultRole.Roles)
	}
	return out, nil
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
		out.DefaultRole = &logical.SetDefaultRole{Choice: roleChoices[r.Kind], Roles: roleNames(r.Roles), Users: users}
	}
	return out, nil
}

func setPassword(st *parser.Statement, n *ast.SetPwdStmt) logical.Statement {
	u := userSpec(n.User)
	u.HasAuth, u.Password = true, n.Password
	users := []logical.UserSpec{u}
	addClauses(users, st.Account)
	return &logical.SetPassword{User: users[0]}
}
