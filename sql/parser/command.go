package parser

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Command is the kind of a statement as the status variable that counts it names it
// (Server Status Variables, MySQL manual 7.1.10): "select" for Com_select; "" where
// MySQL has none.
func (s Statement) Command() string {
	if s.Admin != nil {
		return s.Admin.command()
	}
	switch n := s.Node.(type) {
	case *ast.SelectStmt, *ast.SetOprStmt, *ast.ExplainStmt:
		if x, ok := n.(*ast.ExplainStmt); ok {
			if show, ok := x.Stmt.(*ast.ShowStmt); ok {
				return showCommands[show.Tp]
			}
		}
		return "select"
	case *ast.InsertStmt:
		switch {
		case n.IsReplace && n.Select != nil:
			return "replace_select"
		case n.IsReplace:
			return "replace"
		case n.Select != nil:
			return "insert_select"
		}
		return "insert"
	case *ast.UpdateStmt:
		if n.MultipleTable {
			return "update_multi"
		}
		return "update"
	case *ast.DeleteStmt:
		if n.IsMultiTable {
			return "delete_multi"
		}
		return "delete"
	case *ast.ShowStmt:
		return showCommands[n.Tp]
	}
	if c := ddlCommand(s.Node); c != "" {
		return c
	}
	if c := accountCommand(s.Node); c != "" {
		return c
	}
	return otherCommand(s.Node)
}

// command is Statement.Command.
func (a *Admin) command() string {
	switch a.Op {
	case "engine_status":
		return "show_engine_" + a.Words[1]
	case "reset_persist":
		return "reset"
	case "drop_stored":
		return "drop_" + strings.ToLower(a.Words[0])
	case "show":
		switch op := a.Words[0]; op {
		case "create_program":
			kind := strings.ToLower(a.Words[1])
			if short, ok := map[string]string{"function": "func", "procedure": "proc"}[kind]; ok {
				kind = short
			}
			return "show_create_" + kind
		case "binary_logs":
			return "show_binlogs"
		default:
			return "show_" + op
		}
	}
	return a.Op // check, checksum, repair, optimize, analyze, begin
}

var showCommands = map[ast.ShowStmtType]string{
	ast.ShowEngines: "show_storage_engines", ast.ShowDatabases: "show_databases", ast.ShowTables: "show_tables",
	ast.ShowTableStatus: "show_table_status", ast.ShowColumns: "show_fields", ast.ShowWarnings: "show_warnings",
	ast.ShowErrors: "show_errors", ast.ShowCharset: "show_charsets", ast.ShowVariables: "show_variables",
	ast.ShowStatus: "show_status", ast.ShowCollation: "show_collations", ast.ShowCreateTable: "show_create_table",
	ast.ShowCreateView: "show_create_table", ast.ShowCreateUser: "show_create_user", ast.ShowGrants: "show_grants",
	ast.ShowTriggers: "show_triggers", ast.ShowProcedureStatus: "show_procedure_status",
	ast.ShowFunctionStatus: "show_function_status", ast.ShowIndex: "show_keys", ast.ShowProcessList: "show_processlist",
	ast.ShowCreateDatabase: "show_create_db", ast.ShowEvents: "show_events", ast.ShowPlugins: "show_plugins",
	ast.ShowProfile: "show_profile", ast.ShowProfiles: "show_profiles", ast.ShowPrivileges: "show_privileges",
	ast.ShowOpenTables: "show_open_tables", ast.ShowMasterStatus: "show_binary_log_status",
	ast.ShowBinlogStatus: "show_binary_log_status", ast.ShowReplicaStatus: "show_replica_status",
}

func ddlCommand(n ast.StmtNode) string {
	switch n := n.(type) {
	case *ast.CreateDatabaseStmt:
		return "create_db"
	case *ast.AlterDatabaseStmt:
		return "alter_db"
	case *ast.DropDatabaseStmt:
		return "drop_db"
	case *ast.CreateTableStmt:
		return "create_table"
	case *ast.AlterTableStmt:
		return "alter_table"
	case *ast.DropTableStmt:
		if n.IsView {
			return "drop_view"
		}
		return "drop_table"
	case *ast.RenameTableStmt:
		return "rename_table"
	case *ast.TruncateTableStmt:
		return "truncate"
	case *ast.CreateViewStmt:
		return "create_view"
	case *ast.CreateIndexStmt:
		return "create_index"
	case *ast.DropIndexStmt:
		return "drop_index"
	case *ast.DropProcedureStmt:
		return "drop_procedure"
	case *ast.AnalyzeTableStmt:
		return "analyze"
	case *ast.OptimizeTableStmt:
		return "optimize"
	case *ast.RepairTableStmt:
		return "repair"
	}
	return ""
}

func accountCommand(n ast.StmtNode) string {
	switch n := n.(type) {
	case *ast.CreateUserStmt:
		if n.IsCreateRole {
			return "create_role"
		}
		return "create_user"
	case *ast.AlterUserStmt:
		return "alter_user"
	case *ast.DropUserStmt:
		if n.IsDropRole {
			return "drop_role"
		}
		return "drop_user"
	case *ast.RenameUserStmt:
		return "rename_user"
	case *ast.SetPwdStmt:
		return "set_password"
	case *ast.SetRoleStmt:
		return "set_role"
	case *ast.SetDefaultRoleStmt:
		return "alter_user_default_role"
	case *ast.GrantStmt, *ast.GrantProxyStmt:
		return "grant"
	case *ast.GrantRoleStmt:
		return "grant_roles"
	case *ast.RevokeStmt:
		return "revoke"
	case *ast.RevokeRoleStmt:
		return "revoke_roles"
	}
	return ""
}

func otherCommand(n ast.StmtNode) string {
	switch n := n.(type) {
	case *ast.UseStmt:
		return "change_db"
	case *ast.BeginStmt:
		return "begin"
	case *ast.CommitStmt:
		return "commit"
	case *ast.RollbackStmt:
		if n.SavepointName != "" {
			return "rollback_to_savepoint"
		}
		return "rollback"
	case *ast.SavepointStmt:
		return "savepoint"
	case *ast.ReleaseSavepointStmt:
		return "release_savepoint"
	case *ast.SetStmt:
		return "set_option"
	case *ast.DoStmt:
		return "do"
	case *ast.LoadDataStmt:
		return "load"
	case *ast.CallStmt:
		return "call_procedure"
	case *ast.PrepareStmt:
		return "prepare_sql"
	case *ast.ExecuteStmt:
		return "execute_sql"
	case *ast.DeallocateStmt:
		return "dealloc_sql"
	case *ast.ExplainForStmt:
		return "explain_other"
	case *ast.LockTablesStmt:
		return "lock_tables"
	case *ast.UnlockTablesStmt:
		return "unlock_tables"
	case *ast.FlushStmt:
		return "flush"
	case *ast.KillStmt:
		return "kill"
	case *ast.ShutdownStmt:
		return "shutdown"
	case *ast.RestartStmt:
		return "restart"
	case *ast.AlterInstanceStmt:
		return "alter_instance"
	case *ast.HelpStmt:
		return "help"
	case *ast.BinlogStmt:
		return "binlog"
	}
	return ""
}
