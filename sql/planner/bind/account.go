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
		if s.IsRole {
			return nil, sqlerr.NotSupported("roles")
		}
		u := userSpec(s.User)
		if a := s.AuthOpt; a != nil {
			u.HasAuth, u.Plugin = true, strings.ToLower(a.AuthPlugin)
			switch {
			case a.ByAuthString:
				u.Password = a.AuthString
			case a.ByHashString:
				u.IsHash, u.Hash = true, a.HashString
			}
		}
		out = append(out, u)
	}
	return out, nil
}

// accountOptions reads REQUIRE and ACCOUNT LOCK; tls and lock are nil where
// nothing is said.
func accountOptions(tlsOpts []*ast.AuthTokenOrTLSOption, resources []*ast.ResourceOption, list []*ast.PasswordOrLockOption) (tls, lock *bool, err error) {
	yes, no := true, false
	for _, o := range tlsOpts {
		switch o.Type {
		case ast.TlsNone:
			tls = &no
		case ast.Ssl:
			tls = &yes
		default:
			return nil, nil, sqlerr.NotSupported("REQUIRE " + o.Type.String())
		}
	}
	for _, r := range resources {
		if r.Count != 0 {
			return nil, nil, sqlerr.NotSupported("account resource limits")
		}
	}
	for _, o := range list {
		switch o.Type {
		case ast.Lock:
			lock = &yes
		case ast.Unlock:
			lock = &no
		case ast.PasswordExpireDefault, ast.PasswordExpireNever: // passwords do not expire
		default:
			return nil, nil, sqlerr.NotSupported("password options")
		}
	}
	return tls, lock, nil
}

// account binds the statements on accounts; (nil, nil) for others.
func (b *binder) account(st *parser.Statement, n ast.StmtNode) (logical.Statement, error) {
	switch n := n.(type) {
	case *ast.CreateUserStmt:
		return createUser(n)
	case *ast.AlterUserStmt:
		return alterUser(n)
	case *ast.DropUserStmt:
		if n.IsDropRole {
			return nil, sqlerr.NotSupported("roles")
		}
		out := &logical.DropUser{IfExists: n.IfExists}
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
	return grantStmt(st, n)
}

func createUser(n *ast.CreateUserStmt) (logical.Statement, error) {
	if n.IsCreateRole {
		return nil, sqlerr.NotSupported("roles")
	}
	if n.CommentOrAttributeOption != nil || n.ResourceGroupNameOption != nil {
		return nil, sqlerr.NotSupported("CREATE USER … ATTRIBUTE")
	}
	users, err := userSpecs(n.Specs)
	if err != nil {
		return nil, err
	}
	tls, lock, err := accountOptions(n.AuthTokenOrTLSOptions, n.ResourceOptions, n.PasswordOrLockOptions)
	if err != nil {
		return nil, err
	}
	return &logical.CreateUser{Users: users, IfNotExists: n.IfNotExists, Lock: lock, RequireTLS: tls != nil && *tls}, nil
}

func alterUser(n *ast.AlterUserStmt) (logical.Statement, error) {
	if n.CommentOrAttributeOption != nil || n.ResourceGroupNameOption != nil {
		return nil, sqlerr.NotSupported("ALTER USER … ATTRIBUTE")
	}
	specs := n.Specs
	if n.CurrentAuth != nil {
		specs = []*ast.UserSpec{{User: &auth.UserIdentity{CurrentUser: true}, AuthOpt: n.CurrentAuth}}
	}
	users, err := userSpecs(specs)
	if err != nil {
		return nil, err
	}
	tls, lock, err := accountOptions(n.AuthTokenOrTLSOptions, n.ResourceOptions, n.PasswordOrLockOptions)
	if err != nil {
		return nil, err
	}
	return &logical.AlterUser{Users: users, IfExists: n.IfExists, Lock: lock, RequireTLS: tls}, nil
}
