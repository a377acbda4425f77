package bind

import (
	"regexp"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/define"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/parser"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// admin binds the statements that the parser reads without an AST.
func (b *binder) admin(a *parser.Admin) (logical.Statement, error) {
	switch a.Op {
	case "begin":
		out := &logical.Begin{}
		for _, w := range a.Words {
			switch w {
			case "read only":
				out.ReadOnly = true
			case "read write":
				out.ReadWrite = true
			case "snapshot":
				out.ConsistentSnapshot = true
			}
		}
		if out.ReadOnly && out.ReadWrite {
			return nil, sqlerr.Parse("", "", 1)
		}
		return out, nil
	case "engine_status":
		src, err := b.showSource(showTable{name: "engine_status", args: a.Words})
		if err != nil {
			return nil, err
		}
		return &logical.Query{Root: src.node}, nil
	case "flush":
		return &logical.Flush{What: a.Words}, nil
	case "reset_persist":
		return &logical.ResetPersist{Name: a.Words[0], IfExists: len(a.Words) > 1}, nil
	case "show":
		return b.showRare(a.Words)
	}
	tables := make([]logical.TableName, len(a.Tables))
	for i, t := range a.Tables {
		db, err := b.database(t[0])
		if err != nil {
			return nil, err
		}
		tables[i] = logical.TableName{DB: db, Name: t[1]}
	}
	if a.Op == "drop_stored" {
		return b.dropStored(a.Words[0], tables[0]), nil
	}
	if a.Op == "analyze" {
		return &logical.AnalyzeTable{Tables: tables}, nil
	}
	return &logical.Maintain{Op: a.Op, Tables: tables, Quick: a.Op == "checksum" && len(a.Words) > 0}, nil
}

func (b *binder) tableNames(list []*ast.TableName) ([]logical.TableName, error) {
	out := make([]logical.TableName, len(list))
	for i, n := range list {
		db, err := b.database(n.Schema.O)
		if err != nil {
			return nil, err
		}
		out[i] = logical.TableName{DB: db, Name: n.Name.O}
	}
	return out, nil
}

// other binds the statements that are neither queries nor changes of rows,
// columns or indexes.
func (b *binder) other(st *parser.Statement, n ast.StmtNode) (logical.Statement, error) {
	switch n := n.(type) {
	case *ast.UseStmt:
		return &logical.Use{Database: n.DBName}, nil
	case *ast.BeginStmt:
		if n.Mode != "" || n.AsOf != nil || n.CausalConsistencyOnly {
			return nil, sqlerr.NotSupported("BEGIN of this form")
		}
		return &logical.Begin{ReadOnly: n.ReadOnly}, nil
	case *ast.CommitStmt:
		return &logical.Commit{Completion: completion(n.CompletionType, st.Text)}, nil
	case *ast.RollbackStmt:
		return &logical.Rollback{Savepoint: n.SavepointName, Completion: completion(n.CompletionType, st.Text)}, nil
	case *ast.SavepointStmt:
		return &logical.Savepoint{Name: n.Name}, nil
	case *ast.ReleaseSavepointStmt:
		return &logical.ReleaseSavepoint{Name: n.Name}, nil
	case *ast.SetStmt:
		return b.set(st.Text, n)
	case *ast.KillStmt:
		return b.kill(st, n)
	case *ast.CallStmt:
		if n.Procedure != nil && strings.EqualFold(n.Procedure.Schema.O, procedureDatabase) {
			return b.procedure(n)
		}
		if n.Procedure != nil && strings.EqualFold(n.Procedure.Schema.O, sysDatabase) {
			return b.sysProcedure(n)
		}
	case *ast.DropProcedureStmt:
		if n.IfExists {
			db, err := b.database(n.ProcedureName.Schema.O)
			return b.dropStored("PROCEDURE", logical.TableName{DB: db, Name: n.ProcedureName.Name.O}), err
		}
	case *ast.PrepareStmt:
		p := &logical.Prepare{Name: n.Name, Text: n.SQLText}
		if n.SQLVar != nil {
			p.FromVar = n.SQLVar.Name
		}
		return p, nil
	case *ast.ExecuteStmt:
		return b.execute(n)
	case *ast.DeallocateStmt:
		return &logical.Deallocate{Name: n.Name}, nil
	case *ast.DoStmt:
		list, err := b.values(&scope{b: b, clause: clauseField}, n.Exprs)
		if err != nil {
			return nil, err
		}
		return &logical.Do{Exprs: list, Reads: b.reads()}, nil
	case *ast.ExplainForStmt:
		if st.Explain != nil {
			return nil, sqlerr.NotSupported("EXPLAIN INTO FOR CONNECTION")
		}
		format, err := explainFormat(n.Format)
		return &logical.ExplainConnection{ID: n.ConnectionID, Format: format}, err
	case *ast.RestartStmt:
		b.need(priv.Shutdown, 0)
	case *ast.ShutdownStmt:
		return &logical.Shutdown{}, nil
	case *ast.AlterInstanceStmt:
		if n.ReloadTLS {
			return &logical.ReloadTLS{KeepTLS: !n.NoRollbackOnError}, nil
		}
	case *ast.FlushStmt:
		return flush(n)
	case *ast.BRIEStmt:
		return backup(n)
	case *ast.LockTablesStmt:
		return b.lockTables(n)
	case *ast.UnlockTablesStmt:
		return &logical.UnlockTables{}, nil
	case *ast.AnalyzeTableStmt:
		return b.analyze(n)
	case *ast.OptimizeTableStmt:
		tables, err := b.tableNames(n.Tables)
		return &logical.Maintain{Op: "optimize", Tables: tables}, err
	case *ast.AdminStmt:
		return b.adminStmt(n)
	}
	if out, err := b.account(st, n); out != nil || err != nil {
		return out, err
	}
	return b.ddl(n)
}

var (
	noChain   = regexp.MustCompile(`(?i)\bno\s+chain\b`)
	noRelease = regexp.MustCompile(`(?i)\bno\s+release\b`)
)

// completion reads AND [NO] CHAIN [NO] RELEASE. The grammar drops the NOs, so
// they are read from the text.
func completion(t ast.CompletionType, text string) logical.Completion {
	return logical.Completion{Chain: t == ast.CompletionTypeChain, Release: t == ast.CompletionTypeRelease,
		NoChain: noChain.MatchString(text), NoRelease: noRelease.MatchString(text)}
}

func (b *binder) kill(st *parser.Statement, n *ast.KillStmt) (logical.Statement, error) {
	if n.TiDBExtension {
		return nil, sqlerr.NotSupported("KILL TIDB")
	}
	k := &logical.Kill{Query: n.Query || st.KillQuery, ID: expr.NewConst(value.Uint(n.ConnectionID), types.UBigInt)}
	if n.Expr != nil {
		if hasSubquery(n.Expr) {
			return nil, sqlerr.NotSupported("Usage of subqueries or stored function calls as part of this statement")
		}
		e, err := b.value(&scope{b: b, clause: clauseField}, n.Expr)
		if err != nil {
			return nil, err
		}
		k.ID = e
	}
	return k, nil
}

func (b *binder) execute(n *ast.ExecuteStmt) (logical.Statement, error) {
	out := &logical.ExecutePrepared{Name: n.Name}
	for _, v := range n.UsingVars {
		x, ok := v.(*ast.VariableExpr)
		if !ok || x.IsSystem {
			return nil, sqlerr.WrongArguments("EXECUTE")
		}
		out.Vars = append(out.Vars, x.Name)
	}
	return out, nil
}

func flush(n *ast.FlushStmt) (logical.Statement, error) {
	switch n.Tp {
	case ast.FlushTables:
		switch {
		case n.ReadLock && len(n.Tables) > 0:
			return nil, sqlerr.NotSupported("FLUSH TABLES t WITH READ LOCK")
		case n.ReadLock:
			return &logical.Flush{What: []string{"tables with read lock"}}, nil
		}
		return &logical.Flush{What: []string{"tables"}}, nil
	case ast.FlushPrivileges:
		return &logical.Flush{What: []string{"privileges"}}, nil
	case ast.FlushStatus:
		return &logical.Flush{What: []string{"status"}}, nil
	case ast.FlushHosts:
		return &logical.Flush{What: []string{"hosts"}}, nil
	case ast.FlushLogs:
		switch n.LogType {
		case ast.LogTypeDefault:
			return &logical.Flush{What: []string{"logs"}}, nil
		case ast.LogTypeSlow:
			return &logical.Flush{What: []string{"slow logs"}}, nil
		case ast.LogTypeGeneral:
			return &logical.Flush{What: []string{"general logs"}}, nil
		}
		return &logical.Flush{What: []string{"other logs"}}, nil // no other logs exist
	}
	return nil, sqlerr.NotSupported("FLUSH of this kind")
}

func (b *binder) lockTables(n *ast.LockTablesStmt) (logical.Statement, error) {
	out := &logical.LockTables{}
	for _, l := range n.TableLocks {
		if db, err := b.database(l.Table.Schema.O); err != nil {
			return nil, err
		} else if b.isVirtual(db) {
			if strings.EqualFold(db, "mysql") || strings.EqualFold(db, "sys") {
				b.needNamed(l.Table, priv.Select|priv.LockTables)
			}
			continue // virtual tables never change
		}
		right := b.needNamed(l.Table, priv.Select|priv.LockTables)
		write := l.Type == ast.TableLockWrite || l.Type == ast.TableLockWriteLocal
		if v := b.viewNamed(l.Table); v != nil {
			if err := b.lockView(out, v, write); err != nil {
				return nil, err
			}
			continue
		}
		t, err := b.targetTable(l.Table, "LOCK TABLES")
		if err != nil {
			return nil, err
		}
		b.ofTemporary(right, t)
		out.Tables = append(out.Tables, logical.TableName{DB: t.Database, Name: t.Name})
		out.Write = append(out.Write, write)
	}
	return out, nil
}

func (b *binder) analyze(n *ast.AnalyzeTableStmt) (logical.Statement, error) {
	for _, name := range n.TableNames {
		if len(n.PartitionNames) > 0 {
			b.needNamed(name, priv.Select|priv.Insert)
		}
	}
	if len(n.PartitionNames) > 0 {
		t, err := b.targetTable(n.TableNames[0], "ANALYZE")
		if err != nil {
			return nil, err
		}
		if err := knownPartitions(t, n.PartitionNames); err != nil {
			return nil, err
		}
	}
	if n.IndexFlag || n.Incremental || n.ColumnChoice != ast.DefaultChoice && n.HistogramOperation == ast.HistogramOperationNop || len(n.AnalyzeOpts) > 0 && n.HistogramOperation == ast.HistogramOperationNop {
		return nil, sqlerr.NotSupported("ANALYZE TABLE of this form")
	}
	if n.HistogramOperation == ast.HistogramOperationDrop {
		return nil, sqlerr.NotSupported("ANALYZE TABLE … DROP HISTOGRAM")
	}
	tables, err := b.tableNames(n.TableNames)
	return &logical.AnalyzeTable{Tables: tables}, err
}

func (b *binder) adminStmt(n *ast.AdminStmt) (logical.Statement, error) {
	op := ""
	switch n.Tp {
	case ast.AdminCheckTable:
		op = "check"
	case ast.AdminChecksumTable:
		op = "checksum"
	default:
		return nil, sqlerr.NotSupported("ADMIN statement")
	}
	tables, err := b.tableNames(n.Tables)
	return &logical.Maintain{Op: op, Tables: tables}, err
}

// ddl binds the statements on databases and whole tables.
func (b *binder) ddl(n ast.StmtNode) (logical.Statement, error) {
	switch n := n.(type) {
	case *ast.CreateDatabaseStmt:
		if err := checkDatabaseName(n.Name.O); err != nil {
			return nil, err
		}
		coll, err := databaseCollation(n.Options)
		return &logical.CreateDatabase{Name: n.Name.O, IfNotExists: n.IfNotExists, Collation: coll}, err
	case *ast.AlterDatabaseStmt:
		db, err := b.database(n.Name.O)
		if err != nil {
			return nil, err
		}
		coll, err := databaseCollation(n.Options)
		return &logical.AlterDatabase{Name: db, Collation: coll}, err
	case *ast.DropDatabaseStmt:
		return &logical.DropDatabase{Name: n.Name.O, IfExists: n.IfExists}, nil
	case *ast.DropTableStmt:
		if n.IsView {
			return b.dropView(n)
		}
		tables, err := b.tableNames(n.Tables)
		return &logical.DropTable{Tables: tables, IfExists: n.IfExists, Temporary: n.TemporaryKeyword != ast.TemporaryNone}, err
	case *ast.TruncateTableStmt:
		if v := b.viewNamed(n.Table); v != nil {
			b.needNamed(n.Table, priv.Drop)
			return nil, sqlerr.NoSuchTable(v.Database, v.Name)
		}
		right := b.needNamed(n.Table, priv.Drop)
		if x, err := b.truncateVirtual(n.Table); x != nil || err != nil {
			return x, err
		}
		t, err := b.targetTable(n.Table, "TRUNCATE")
		if err != nil {
			return nil, err
		}
		b.ofTemporary(right, t)
		return &logical.TruncateTable{Table: logical.TableName{DB: t.Database, Name: t.Name}}, nil
	case *ast.RenameTableStmt:
		return b.renameTables(n)
	}
	return nil, sqlerr.NotSupported(stmtName(n))
}

// dropStored is DROP … IF EXISTS of an object that does not exist: it commits and
// leaves a note.
func (b *binder) dropStored(kind string, name logical.TableName) logical.Statement {
	var e *sqlerr.Error
	switch kind {
	case "TRIGGER":
		e = sqlerr.TriggerDoesNotExist()
	case "EVENT":
		e = sqlerr.ProgramDoesNotExist("Event", name.Name)
	default:
		e = sqlerr.ProgramDoesNotExist(kind, name.DB+"."+name.Name)
	}
	if b.env.Warn != nil {
		b.env.Warn(sqlerr.Warning{Level: sqlerr.LevelNote, Err: e})
	}
	return &logical.DropView{IfExists: true}
}

func (b *binder) renameTables(n *ast.RenameTableStmt) (logical.Statement, error) {
	out := &logical.RenameTable{}
	for _, r := range n.TableToTables {
		from, err := b.database(r.OldTable.Schema.O)
		if err != nil {
			return nil, err
		}
		db, err := b.database(r.NewTable.Schema.O)
		if err != nil {
			return nil, err
		}
		to, err := b.renameTarget(r.NewTable, db)
		if err != nil {
			return nil, err
		}
		out.From = append(out.From, logical.TableName{DB: from, Name: r.OldTable.Name.O})
		out.To = append(out.To, to)
	}
	return out, nil
}

// stmtName names a statement that there is not, from the type of its node.
func stmtName(n ast.StmtNode) string {
	switch n.(type) {
	case *ast.CreateViewStmt:
		return "CREATE VIEW"
	case *ast.CreateSequenceStmt, *ast.DropSequenceStmt, *ast.AlterSequenceStmt:
		return "SEQUENCE"
	case *ast.CallStmt:
		return "CALL"
	case *ast.ProcedureInfo:
		return "CREATE PROCEDURE"
	case *ast.DropProcedureStmt:
		return "DROP PROCEDURE"
	case *ast.BinlogStmt:
		return "BINLOG"
	case *ast.HelpStmt:
		return "HELP"
	case *ast.RestartStmt:
		return "RESTART"
	case *ast.TraceStmt:
		return "TRACE"
	case *ast.SetRoleStmt, *ast.SetDefaultRoleStmt, *ast.GrantRoleStmt, *ast.RevokeRoleStmt:
		return "roles"
	case *ast.AlterInstanceStmt:
		return "ALTER INSTANCE"
	case *ast.DropResourceGroupStmt, *ast.SetResourceGroupStmt, *ast.AlterResourceGroupStmt, *ast.CreateResourceGroupStmt:
		return "RESOURCE GROUP"
	case *ast.GrantProxyStmt:
		return "GRANT PROXY"
	}
	name := strings.TrimSuffix(strings.TrimPrefix(ast.GetStmtLabel(n), "*ast."), "Stmt")
	if name == "" || name == "other" {
		return "this statement"
	}
	return name
}

func checkDatabaseName(name string) error {
	if name == "" || strings.HasSuffix(name, " ") {
		return sqlerr.WrongDatabaseName(name)
	}
	return define.CheckName(name)
}

func databaseCollation(list []*ast.DatabaseOption) (schema.CollationID, error) {
	cs, coll := "", ""
	for _, o := range list {
		switch o.Tp {
		case ast.DatabaseOptionNone:
		case ast.DatabaseOptionCharset:
			cs = o.Value
		case ast.DatabaseOptionCollate:
			coll = o.Value
		case ast.DatabaseOptionEncryption:
			if !strings.EqualFold(o.Value, "N") {
				return 0, sqlerr.NotSupported("ENCRYPTION")
			}
		default:
			return 0, sqlerr.NotSupported("database option")
		}
	}
	return define.CharsetCollation(cs, coll)
}
