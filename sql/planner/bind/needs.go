package bind

import (
	"strings"

	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sysvar"
)

// needsOf adds what a statement needs besides the tables that were bound with it. Every
// kind of statement has a case here; docs/privileges.md has the same list. Statements
// whose needs depend on values, or on the accounts that they name, check them where they
// run: KILL, CALL, GRANT and REVOKE, and what they share with COM_INIT_DB, USE.
func (b *binder) needsOf(stmt logical.Statement) {
	switch x := stmt.(type) {
	case *logical.Query:
		if x.File != nil {
			b.needFile()
		}
	case *logical.LoadData:
		if !x.Local {
			b.needFile()
		}
	case *logical.Insert, *logical.Update, *logical.Delete, *logical.MultiUpdate, *logical.MultiDelete, *logical.Do, *logical.Explain,
		*logical.LockTables:
		// the tables and columns
	case *logical.Begin, *logical.Commit, *logical.Rollback, *logical.Savepoint, *logical.ReleaseSavepoint, *logical.UnlockTables,
		*logical.Prepare, *logical.ExecutePrepared, *logical.Deallocate:
		// nothing
	case *logical.Use, *logical.Kill, *logical.Call, *logical.ExplainConnection, *logical.Grant, *logical.GrantRole, *logical.SetRole:
		// where they run
	case *logical.Set:
		for i := range x.Items {
			b.needsOfSet(&x.Items[i])
		}
	case *logical.ResetPersist:
		b.need(priv.Super, priv.SystemVariablesAdmin)
		if sysvar.IsOfAudit(x.Name) { // of all variables: where it runs
			b.need(0, priv.AuditAdmin)
		}
	default:
		if !b.needsOfDDL(stmt) && !b.needsOfAccounts(stmt) {
			b.needsOfServer(stmt)
		}
	}
}

// need adds one of the privileges, ON *.*.
func (b *binder) need(m priv.Mask, d priv.Dynamics) {
	b.rights.global = append(b.rights.global, priv.GlobalNeed{Mask: m, Dynamic: d})
}

// needAccounts adds CREATE USER, or a privilege on the database mysql, where accounts are.
func (b *binder) needAccounts(onMysql priv.Mask) {
	b.rights.global = append(b.rights.global, priv.GlobalNeed{Mask: priv.CreateUser, Mysql: onMysql})
}

func (b *binder) needFile() {
	b.rights.global = append(b.rights.global, priv.GlobalNeed{Mask: priv.File, Denied: true})
}

func (b *binder) needDatabase(db string, m priv.Mask) {
	b.rights.databases = append(b.rights.databases, priv.DatabaseNeed{DB: db, Mask: m})
}

// seesDatabase adds any privilege on a database or in it.
func (b *binder) seesDatabase(db string) {
	if db != "" && !strings.EqualFold(db, "information_schema") {
		b.rights.databases = append(b.rights.databases, priv.DatabaseNeed{DB: db, Any: true})
	}
}

// seesTable adds any privilege on a table; command is how a refusal names it.
func (b *binder) seesTable(db, table, command string) {
	if strings.EqualFold(db, "information_schema") {
		return
	}
	t := b.mentions(db, table)
	t.need.AnyRight, t.need.Command = true, command
	if d, ok := b.env.Catalog.Table(db, table); ok {
		b.ofTemporary(t, d)
	}
}

// needEach adds privileges on tables, of which temporary ones need none.
func (b *binder) needEach(list []logical.TableName, m priv.Mask) {
	for _, n := range list {
		t := b.needTable(n, m)
		if d, ok := b.env.Catalog.Table(n.DB, n.Name); ok {
			b.ofTemporary(t, d)
		}
	}
}

// restrictedVariables are those of which also the session's value is for administrators.
var restrictedVariables = map[string]bool{"sql_log_bin": true, "sql_log_off": true, "gtid_next": true, "binlog_format": true, "binlog_row_image": true,
	"pseudo_thread_id": true, "pseudo_replica_mode": true, "pseudo_slave_mode": true}

// fileVariables name files that the server writes.
var fileVariables = map[string]bool{"general_log_file": true, "slow_query_log_file": true}

func (b *binder) needsOfSet(x *logical.SetItem) {
	name := strings.ToLower(x.Name)
	switch x.Scope {
	case logical.SetGlobal, logical.SetPersist, logical.SetPersistOnly:
		b.need(priv.Super, priv.SystemVariablesAdmin)
		if x.Scope == logical.SetPersistOnly {
			b.need(0, priv.PersistRoVariablesAdmin)
		}
		if fileVariables[name] {
			b.need(priv.File, 0)
		}
		if sysvar.IsOfAudit(name) {
			b.need(0, priv.AuditAdmin)
		}
	case logical.SetSession:
		if restrictedVariables[name] {
			b.need(priv.Super, priv.SystemVariablesAdmin|priv.SessionVariablesAdmin)
		}
	}
}

// needsOfDDL is needsOf for statements that change the schema; false for others. The
// table of ALTER TABLE, CREATE INDEX and TRUNCATE is there already.
func (b *binder) needsOfDDL(stmt logical.Statement) bool {
	switch x := stmt.(type) {
	case *logical.CreateDatabase:
		b.needDatabase(x.Name, priv.Create)
	case *logical.AlterDatabase:
		b.needDatabase(x.Name, priv.Alter)
	case *logical.DropDatabase:
		b.needDatabase(x.Name, priv.Drop)
	case *logical.CreateTable:
		for i := range x.ForeignKeys {
			b.needReferences(&x.ForeignKeys[i])
		}
	case *logical.DropTable:
		if !x.Temporary {
			b.needEach(x.Tables, priv.Drop)
		}
	case *logical.TruncateTable, *logical.TruncateAll:
	case *logical.RenameTable:
		b.needEach(x.From, priv.Alter|priv.Drop)
		for i, n := range x.To {
			t := b.needTable(n, priv.Create|priv.Insert)
			if d, ok := b.env.Catalog.Table(x.From[i].DB, x.From[i].Name); ok {
				b.ofTemporary(t, d)
			}
		}
	case *logical.AlterTable:
		b.needsOfAlter(x)
	case *logical.CreateView:
		b.needsOfDefiner(x)
	case *logical.DropView:
		b.needEach(x.Views, priv.Drop)
	case *logical.AnalyzeTable:
		b.needEach(x.Tables, priv.Select|priv.Insert)
	case *logical.Maintain:
		m := priv.Select
		if x.Op == "optimize" || x.Op == "repair" {
			m |= priv.Insert
		}
		b.needEach(x.Tables, m)
	default:
		return false
	}
	return true
}

// needReferences adds REFERENCES on the parent of a foreign key, or on its columns.
func (b *binder) needReferences(k *logical.ForeignKeyDef) {
	t := b.mentions(k.Table.DB, k.Table.Name)
	t.sized(len(k.References))
	for i, c := range k.References {
		t.names[i] = c
		t.use(i, priv.References, true)
	}
}

// needsOfAlter adds what clauses of ALTER TABLE need in addition.
func (b *binder) needsOfAlter(x *logical.AlterTable) {
	var more priv.Mask
	for i := range x.Specs {
		s := &x.Specs[i]
		switch s.Kind {
		case logical.AlterRenameTable:
			more |= priv.Drop
			t := b.needTable(s.Table, priv.Create|priv.Insert)
			if d, ok := b.env.Catalog.Table(x.Table.DB, x.Table.Name); ok {
				b.ofTemporary(t, d)
			}
		case logical.AlterDropPartition, logical.AlterTruncatePartition:
			more |= priv.Drop
		case logical.AlterAddForeignKey:
			b.needReferences(&s.ForeignKey)
		}
	}
	if more != 0 {
		b.needEach([]logical.TableName{x.Table}, more)
	}
}

// needsOfDefiner: a view may be another account's only for those who may act for others.
func (b *binder) needsOfDefiner(x *logical.CreateView) {
	own := priv.Name{User: x.View.DefinerUser, Host: x.View.DefinerHost}
	if own != (priv.Name{}) && own != b.env.Account {
		b.need(priv.Super, priv.SetAnyDefiner)
	}
}

// needsOfAccounts is needsOf for statements about accounts; false for others.
func (b *binder) needsOfAccounts(stmt logical.Statement) bool {
	switch x := stmt.(type) {
	case *logical.CreateUser:
		if x.Role {
			b.need(priv.CreateUser|priv.CreateRole, 0)
		} else {
			b.needAccounts(priv.Insert)
		}
	case *logical.DropUser:
		if x.Role {
			b.need(priv.CreateUser|priv.DropRole, 0)
		} else {
			b.needAccounts(priv.Delete)
		}
	case *logical.RenameUser:
		b.needAccounts(priv.Update)
	case *logical.AlterUser:
		b.needsOfAlterUser(x)
	case *logical.SetPassword:
		b.needsOfPassword(&x.User)
	case *logical.SetDefaultRole:
		b.needsOfDefaultRole(x)
	default:
		return false
	}
	return true
}

// isSelf reports the account that runs the statement.
func (b *binder) isSelf(u *logical.UserSpec) bool {
	return u.CurrentUser || u.User == b.env.Account.User && u.Host == b.env.Account.Host
}

// needsOfAlterUser: everybody may change one's own password, and nothing else.
func (b *binder) needsOfAlterUser(x *logical.AlterUser) {
	if x.DefaultRole != nil {
		b.needsOfDefaultRole(x.DefaultRole)
		return
	}
	for i := range x.Users {
		if !x.Options.IsEmpty() || !x.Users[i].ChangesPassword() {
			b.needAccounts(priv.Update)
			return
		}
		b.needsOfPassword(&x.Users[i])
	}
}

// needsOfPassword: a second password of one's own is for those who may have one.
func (b *binder) needsOfPassword(u *logical.UserSpec) {
	switch {
	case !b.isSelf(u):
		b.needAccounts(priv.Update)
	case u.Retain || u.Discard:
		b.need(priv.CreateUser, priv.ApplicationPasswordAdmin)
	}
}

// needsOfDefaultRole: everybody may choose among one's own roles.
func (b *binder) needsOfDefaultRole(x *logical.SetDefaultRole) {
	for i := range x.Users {
		if !b.isSelf(&x.Users[i]) {
			b.rights.global = append(b.rights.global, priv.GlobalNeed{Mask: priv.CreateUser, Mysql: priv.Update, MysqlTable: "default_roles"})
			return
		}
	}
}

// flushNeeds are the dynamic privileges of which each allows one kind of FLUSH.
var flushNeeds = map[string]priv.Dynamics{"tables": priv.FlushTables, "tables with read lock": priv.FlushTables, "status": priv.FlushStatus,
	"privileges": priv.FlushPrivileges, "user_resources": priv.FlushUserResources, "optimizer_costs": priv.FlushOptimizerCosts}

// needsOfServer is needsOf for statements about the server.
func (b *binder) needsOfServer(stmt logical.Statement) {
	switch x := stmt.(type) {
	case *logical.Flush:
		for _, what := range x.What {
			b.need(priv.Reload, flushNeeds[what])
		}
	case *logical.Backup: // which has everything, also the hashes of passwords
		b.need(0, priv.BackupAdmin)
		b.need(priv.Reload, 0)
	case *logical.Shutdown:
		b.need(priv.Shutdown, 0)
	case *logical.ReloadTLS:
		b.need(0, priv.ConnectionAdmin)
	default: // a kind that this file does not know: only for those who may do everything
		b.need(priv.Super, 0)
	}
}
