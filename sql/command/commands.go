package command

import (
	"context"
	"fmt"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/loaddata"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// Runner implements Commands.
type Runner struct{}

// commands runs one of them.
type commands struct{ *statement.Statement }

// IntoFile implements Commands.
func (Runner) IntoFile(ctx context.Context, st *statement.Statement, q *logical.Query, c *statement.Plan, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error {
	return loaddata.IntoFile(ctx, st, q, c, vals, more, w)
}

// Run implements Commands.
func (Runner) Run(ctx context.Context, st *statement.Statement, stmt logical.Statement, vals []value.Datum, more bool, w mysqlwire.ResultWriter) error {
	s := &commands{st}
	switch x := stmt.(type) {
	case *logical.LoadData:
		return loaddata.Run(ctx, st, x, more, w)
	case *logical.AnalyzeTable, *logical.Maintain:
		if m, ok := stmt.(*logical.Maintain); !ok || m.Op != "checksum" {
			if err := s.Tx.Commit(ctx); err != nil {
				return err
			}
		}
		return s.maintain(ctx, stmt, more, w)
	case *logical.TruncateAll:
		return s.truncateAll(ctx, more, w)
	case *logical.Backup:
		return s.backup(ctx, x, more, w)
	case *logical.CreateUser, *logical.AlterUser, *logical.SetPassword:
		return s.accounts(ctx, stmt, more, w)
	}
	affected, err := s.command(ctx, stmt, vals)
	if err != nil {
		return err
	}
	s.Functions.Rows = int64(affected)
	ok := mysqlwire.OK{AffectedRows: affected}
	if _, alters := stmt.(*logical.AlterTable); alters {
		ok.Info = fmt.Sprintf("Records: %d  Duplicates: 0  Warnings: %d", affected, s.Diagnostics.WarningCount)
	}
	return s.OK(w, ok, more)
}

// command runs the statements that answer with OK and nothing else.
func (s *commands) command(ctx context.Context, stmt logical.Statement, vals []value.Datum) (uint64, error) {
	switch x := stmt.(type) {
	case *logical.Kill:
		return 0, s.runKill(ctx, x, vals)
	case *logical.Call:
		return 0, s.runCall(ctx, x, vals)
	case *logical.Flush:
		return 0, s.flush(ctx, x)
	case *logical.ReloadTLS:
		return 0, s.reloadTLS(ctx, x)
	case *logical.DropUser:
		return 0, s.dropUser(ctx, x)
	case *logical.RenameUser:
		return 0, s.renameUser(ctx, x)
	case *logical.Grant:
		return 0, s.grant(ctx, x)
	case *logical.GrantRole:
		return 0, s.grantRole(ctx, x)
	case *logical.SetRole:
		return 0, s.setRole(x)
	case *logical.SetDefaultRole:
		return 0, s.setDefaultRole(ctx, x)
	case *logical.Shutdown:
		return 0, sqlerr.NotSupported("SHUTDOWN")
	}
	return s.schemaChange(ctx, stmt)
}

// schemaChange runs DDL: it ends the open transaction before, as MySQL does.
func (s *commands) schemaChange(ctx context.Context, stmt logical.Statement) (uint64, error) {
	if x, ok := stmt.(*logical.TruncateTable); ok && s.Shared.TruncatesVirtual(x.Table) {
		if err := s.Tx.Commit(ctx); err != nil {
			return 0, err
		}
		s.Shared.TruncateVirtual(x.Table)
		return 0, nil
	}
	n, stmt, err := s.temporaryChange(ctx, stmt)
	if stmt == nil || err != nil {
		return n, err
	}
	if s.Tx.RefusesChanges() {
		return 0, sqlerr.ReadOnlyTransaction()
	}
	if err := s.Tx.CheckLockedChange(stmt); err != nil {
		return 0, err
	}
	if err := s.Tx.Commit(ctx); err != nil {
		return 0, err
	}
	if v, ok := stmt.(*logical.CreateView); ok && v.View.DefinerUser == "" && v.View.DefinerHost == "" {
		owned := *v.View
		owned.DefinerUser, owned.DefinerHost = s.Info.Account.User, s.Info.Account.Host
		stmt = &logical.CreateView{View: &owned, Replace: v.Replace, Alter: v.Alter}
	} else if ok {
		if err := s.checkDefiner(priv.Name{User: v.View.DefinerUser, Host: v.View.DefinerHost}); err != nil {
			return 0, err
		}
	}
	n, err = s.Engine.DDL.Run(freeing(ctx, stmt), stmt, s.DDLEnv())
	if err == nil {
		err = s.Tx.Relock(ctx, stmt)
	}
	if d, ok := stmt.(*logical.DropDatabase); ok && err == nil && d.Name == s.DB {
		s.DB = ""
		s.Process.SetDB("")
	}
	return n, err
}

// checkDefiner: a view may be of an account that does not exist for those who may do
// that. 1449.
func (s *commands) checkDefiner(n priv.Name) error {
	if s.Engine.Catalog.Snapshot().Account(n.User, n.Host) != nil {
		return s.mayAlter(n.User, n.Host)
	}
	err := sqlerr.NoSuchDefiner(n.User, n.Host)
	if !s.Privileges().Has(priv.Super, priv.AllowNonexistentDefiner) {
		return err
	}
	s.note(sqlerr.LevelNote, err)
	return nil
}

// freeing is the context of a statement that may use the reserve of the disk if
// it makes room.
func freeing(ctx context.Context, stmt logical.Statement) context.Context {
	switch stmt.(type) {
	case *logical.DropTable, *logical.DropView, *logical.DropDatabase, *logical.TruncateTable:
		return storage.FreeingSpace(ctx)
	}
	return ctx
}

// runKill is KILL.
func (s *commands) runKill(ctx context.Context, k *logical.Kill, vals []value.Datum) error {
	d, err := s.EvalOne(ctx, k.ID, vals)
	if err != nil {
		return err
	}
	env := s.TypesEnv()
	id, err := types.ToUint(&env, d, k.ID.Type())
	if err != nil {
		return err
	}
	return s.Kill(id, k.Query)
}

// reloadTLS is ALTER INSTANCE RELOAD TLS.
func (s *commands) reloadTLS(ctx context.Context, x *logical.ReloadTLS) error {
	if err := s.Tx.Commit(ctx); err != nil {
		return err
	}
	err := s.Engine.ReloadTLS(x.KeepTLS)
	switch {
	case err == nil:
	case x.KeepTLS:
		return sqlerr.TLSSetup(err)
	default:
		s.Diagnostics.Warn(sqlerr.Warning{Level: sqlerr.LevelWarning, Err: sqlerr.TLSSetup(err)})
	}
	return nil
}

// flush is FLUSH. There is nothing to do about hosts, optimizer costs and tables.
func (s *commands) flush(ctx context.Context, x *logical.Flush) error {
	s.Engine.Metrics.FlushCommands.Add(1)
	for _, what := range x.What {
		switch what {
		case "tables with read lock":
			return s.Tx.RunLockTables(ctx, s.Tx.AllTables())
		case "privileges":
			s.Engine.Logins.UnblockAll()
			s.Engine.Logins.ResetAllUsage()
		case "status":
			s.Engine.Metrics.FlushStatus()
		case "user_resources":
			s.Engine.Logins.ResetAllUsage()
		case "logs":
			s.Engine.ReopenLogs()
		case "slow logs":
			s.Engine.Logs.Reopen(true, false)
		case "general logs":
			s.Engine.Logs.Reopen(false, true)
		}
	}
	return s.Tx.Commit(ctx)
}
