package bind

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/sql/parser"
)

// Subject is what a statement is about, for the audit log.
type Subject uint8

// Subjects.
const (
	OfRows     Subject = iota // and all that changes nothing for others
	OfAccounts                // and roles and privileges
	OfSchema
	OfSettings // of the server
	OfServer   // its administration, and its files
)

// SubjectOf is the subject of a statement that was parsed, and its kind in words: CREATE
// USER. The kind is "" for OfRows.
func SubjectOf(st *parser.Statement) (Subject, string) {
	if st.View != nil {
		if st.View.Alter {
			return OfSchema, "ALTER VIEW"
		}
		return OfSchema, "CREATE VIEW"
	}
	if st.Admin != nil {
		return subjectOfAdmin(st.Admin.Op)
	}
	if st.File != nil {
		return OfServer, "SELECT INTO FILE"
	}
	if kind := accountKind(st.Node); kind != "" {
		return OfAccounts, kind
	}
	switch n := st.Node.(type) {
	case *ast.SetStmt:
		if setsGlobal(n) {
			return OfSettings, "SET"
		}
	case *ast.FlushStmt:
		return OfServer, "FLUSH"
	case *ast.KillStmt:
		return OfServer, "KILL"
	case *ast.BRIEStmt:
		return OfServer, "BACKUP"
	case *ast.ShutdownStmt:
		return OfServer, "SHUTDOWN"
	case *ast.AlterInstanceStmt:
		return OfServer, "ALTER INSTANCE"
	case *ast.CallStmt:
		return OfServer, "CALL"
	case *ast.AnalyzeTableStmt:
		return OfServer, "ANALYZE TABLE"
	case *ast.OptimizeTableStmt:
		return OfServer, "OPTIMIZE TABLE"
	case *ast.RepairTableStmt:
		return OfServer, "REPAIR TABLE"
	case *ast.AdminStmt:
		return OfServer, "ADMIN"
	case *ast.LoadDataStmt:
		if n.FileLocRef != ast.FileLocClient {
			return OfServer, "LOAD DATA"
		}
	case *ast.LockTablesStmt, *ast.UnlockTablesStmt: // TiDB counts them as schema changes
	default:
		if kind := schemaKind(st.Node); kind != "" {
			return OfSchema, kind
		}
	}
	return OfRows, ""
}

// subjectOfAdmin is SubjectOf for what the parser reads without a tree.
func subjectOfAdmin(op string) (Subject, string) {
	switch op {
	case "begin", "engine_status", "show", "drop_stored":
		return OfRows, ""
	case "reset_persist":
		return OfSettings, "RESET PERSIST"
	case "flush":
		return OfServer, "FLUSH"
	}
	return OfServer, strings.ToUpper(op) + " TABLE"
}

// accountKind is the kind of a statement about accounts, "" for others.
func accountKind(n ast.StmtNode) string {
	role := func(verb string, is bool) string {
		if is {
			return verb + " ROLE"
		}
		return verb + " USER"
	}
	switch n := n.(type) {
	case *ast.CreateUserStmt:
		return role("CREATE", n.IsCreateRole)
	case *ast.AlterUserStmt:
		return "ALTER USER"
	case *ast.DropUserStmt:
		return role("DROP", n.IsDropRole)
	case *ast.RenameUserStmt:
		return "RENAME USER"
	case *ast.SetPwdStmt:
		return "SET PASSWORD"
	case *ast.GrantStmt, *ast.GrantRoleStmt, *ast.GrantProxyStmt:
		return "GRANT"
	case *ast.RevokeStmt, *ast.RevokeRoleStmt:
		return "REVOKE"
	case *ast.SetRoleStmt:
		return "SET ROLE"
	case *ast.SetDefaultRoleStmt:
		return "SET DEFAULT ROLE"
	}
	return ""
}

// schemaKind is the kind of a schema change, "" for others. Temporary tables are the
// connection's own.
func schemaKind(n ast.StmtNode) string {
	switch n := n.(type) {
	case *ast.CreateDatabaseStmt:
		return "CREATE DATABASE"
	case *ast.AlterDatabaseStmt:
		return "ALTER DATABASE"
	case *ast.DropDatabaseStmt:
		return "DROP DATABASE"
	case *ast.CreateTableStmt:
		if n.TemporaryKeyword != ast.TemporaryNone {
			return ""
		}
		return "CREATE TABLE"
	case *ast.DropTableStmt:
		switch {
		case n.IsView:
			return "DROP VIEW"
		case n.TemporaryKeyword != ast.TemporaryNone:
			return ""
		}
		return "DROP TABLE"
	case *ast.AlterTableStmt:
		return "ALTER TABLE"
	case *ast.CreateIndexStmt:
		return "CREATE INDEX"
	case *ast.DropIndexStmt:
		return "DROP INDEX"
	case *ast.TruncateTableStmt:
		return "TRUNCATE TABLE"
	case *ast.RenameTableStmt:
		return "RENAME TABLE"
	case ast.DDLNode:
		return "DDL"
	}
	return ""
}

// setsGlobal reports a SET of variables of the server.
func setsGlobal(n *ast.SetStmt) bool {
	for _, v := range n.Variables {
		if v.IsSystem && (v.IsGlobal || strings.HasPrefix(strings.ToLower(v.Name), "persist.") || strings.HasPrefix(strings.ToLower(v.Name), "persist_only.")) {
			return true
		}
	}
	return false
}
