package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
)

// grantStmt binds GRANT and REVOKE; (nil, nil) for others.
func grantStmt(st *parser.Statement, n ast.StmtNode) (logical.Statement, error) {
	switch n := n.(type) {
	case *ast.GrantStmt:
		users, err := userSpecs(n.Users)
		return &logical.Grant{Users: users, Text: st.Text}, err
	case *ast.RevokeStmt:
		users, err := userSpecs(n.Users)
		return &logical.Grant{Revoke: true, Users: users, Text: st.Text}, err
	}
	return nil, nil
}
