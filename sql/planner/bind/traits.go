package bind

import (
	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/parser"
)

// Traits are what matters of a statement before it is bound.
type Traits struct {
	// InSandbox: a connection whose password has expired may run it.
	InSandbox bool
	// Changes: it changes data, definitions or accounts, and counts for
	// MAX_UPDATES_PER_HOUR.
	Changes bool
	// Executes is EXECUTE, which runs another statement.
	Executes bool
}

// TraitsOf are those of a statement that was parsed.
func TraitsOf(st *parser.Statement) (t Traits) {
	if st.View != nil {
		t.Changes = true
		return t
	}
	switch n := st.Node.(type) {
	case *ast.AlterUserStmt, *ast.SetPwdStmt:
		t.InSandbox, t.Changes = true, true
	case *ast.SetStmt:
		t.InSandbox = !hasSubquery(n)
	case *ast.ExecuteStmt:
		t.Executes = true
	case *ast.InsertStmt, *ast.UpdateStmt, *ast.DeleteStmt, *ast.LoadDataStmt,
		*ast.CreateUserStmt, *ast.DropUserStmt, *ast.RenameUserStmt, *ast.GrantStmt, *ast.RevokeStmt, *ast.GrantRoleStmt, *ast.RevokeRoleStmt:
		t.Changes = true
	case ast.DDLNode:
		t.Changes = true
	}
	return t
}

// hasSubquery reports whether a statement contains a query.
func hasSubquery(n ast.Node) bool {
	v := &subqueryFinder{}
	n.Accept(v)
	return v.found
}

type subqueryFinder struct{ found bool }

// Enter implements ast.Visitor.
func (v *subqueryFinder) Enter(n ast.Node) (ast.Node, bool) {
	_, is := n.(*ast.SubqueryExpr)
	v.found = v.found || is
	return n, v.found
}

// Leave implements ast.Visitor.
func (v *subqueryFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }
