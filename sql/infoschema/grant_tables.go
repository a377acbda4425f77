package infoschema

import (
	"strings"
	"time"

	"github.com/sqlots/sqlots/sql/catalog"
	"github.com/sqlots/sqlots/sql/priv"
)

const userColumns = "Host s255, User n32, Select_priv E:N|Y, Insert_priv E:N|Y, Update_priv E:N|Y, Delete_priv E:N|Y, Create_priv E:N|Y, Drop_priv E:N|Y, Reload_priv E:N|Y, Shutdown_priv E:N|Y, Process_priv E:N|Y, File_priv E:N|Y, Grant_priv E:N|Y, References_priv E:N|Y, Index_priv E:N|Y, Alter_priv E:N|Y, Show_db_priv E:N|Y, Super_priv E:N|Y, Create_tmp_table_priv E:N|Y, Lock_tables_priv E:N|Y, Execute_priv E:N|Y, Repl_slave_priv E:N|Y, Repl_client_priv E:N|Y, Create_view_priv E:N|Y, Show_view_priv E:N|Y, Create_routine_priv E:N|Y, Alter_routine_priv E:N|Y, Create_user_priv E:N|Y, Event_priv E:N|Y, Trigger_priv E:N|Y, Create_tablespace_priv E:N|Y, ssl_type E:|ANY|X509|SPECIFIED, ssl_cipher t, x509_issuer t, x509_subject t, max_questions u, max_updates u, max_connections u, max_user_connections u, plugin s64, authentication_string t?, password_expired E:N|Y, password_last_changed d?, password_lifetime u?, account_locked E:N|Y, Create_role_priv E:N|Y, Drop_role_priv E:N|Y, Password_reuse_history u?, Password_reuse_time u?, Password_require_current E:N|Y?, User_attributes t?"

// grantTables are the tables of mysql that have accounts and what they were granted.
func grantTables() []*table {
	return []*table{
		newTable(mysqlDB, "user", userColumns, users),
		newTable(mysqlDB, "db", "Host s255, Db n64, User n32, Select_priv E:N|Y, Insert_priv E:N|Y, Update_priv E:N|Y, Delete_priv E:N|Y, Create_priv E:N|Y, Drop_priv E:N|Y, Grant_priv E:N|Y, References_priv E:N|Y, Index_priv E:N|Y, Alter_priv E:N|Y, Create_tmp_table_priv E:N|Y, Lock_tables_priv E:N|Y, Create_view_priv E:N|Y, Show_view_priv E:N|Y, Create_routine_priv E:N|Y, Alter_routine_priv E:N|Y, Execute_priv E:N|Y, Event_priv E:N|Y, Trigger_priv E:N|Y", databaseGrants),
		newTable(mysqlDB, "tables_priv", "Host s255, Db n64, User n32, Table_name n64, Grantor s288, Timestamp d, Table_priv S:Select|Insert|Update|Delete|Create|Drop|Grant|References|Index|Alter|Create View|Show view|Trigger, Column_priv S:Select|Insert|Update|References", tableGrants),
		newTable(mysqlDB, "columns_priv", "Host s255, Db n64, User n32, Table_name n64, Column_name s64, Timestamp d, Column_priv S:Select|Insert|Update|References", columnGrants),
		newTable(mysqlDB, "procs_priv", "Host s255, Db n64, User n32, Routine_name s64, Routine_type E:FUNCTION|PROCEDURE, Grantor s288, Proc_priv S:Execute|Alter Routine|Grant, Timestamp d", nil),
		newTable(mysqlDB, "proxies_priv", "Host s255, User n32, Proxied_host s255, Proxied_user s32, With_grant i, Grantor s288, Timestamp d", proxyGrants),
		newTable(mysqlDB, "role_edges", "FROM_HOST s255, FROM_USER n32, TO_HOST s255, TO_USER n32, WITH_ADMIN_OPTION E:N|Y", grantedRoles),
		newTable(mysqlDB, "default_roles", "HOST s255, USER n32, DEFAULT_ROLE_HOST s255, DEFAULT_ROLE_USER n32", defaultRoles),
		newTable(mysqlDB, "global_grants", "USER n32, HOST s255, PRIV s32, WITH_GRANT_OPTION E:N|Y", dynamicGrants),
		newTable(mysqlDB, "password_history", "Host s255, User n32, Password_timestamp d, Password t?", oldPasswords),
	}
}

// The privileges in the order of the columns of mysql.user, of which two are apart, and
// of mysql.db.
const lateOfUser = priv.CreateRole | priv.DropRole

var ofDatabase = []priv.Mask{priv.Select, priv.Insert, priv.Update, priv.Delete, priv.Create, priv.Drop, priv.GrantOption, priv.References,
	priv.Index, priv.Alter, priv.CreateTemporaryTables, priv.LockTables, priv.CreateView, priv.ShowView, priv.CreateRoutine, priv.AlterRoutine,
	priv.Execute, priv.Event, priv.Trigger}

// flag is Y or N.
func flag(b bool) string {
	if b {
		return "Y"
	}
	return "N"
}

func users(q *query) error {
	for _, a := range q.snap.Accounts() {
		if err := q.emit(userRow(a, q.snap.Privileges().Grants(a.Name()))...); err != nil {
			return err
		}
	}
	return nil
}

// userRow is the row of mysql.user; g may be nil.
func userRow(a *catalog.Account, g *priv.Grants) []any {
	var have priv.Mask
	if g != nil {
		have = g.Global
	}
	row := []any{a.Host, a.User}
	for p := range (priv.AllGlobal &^ lateOfUser).Each() {
		row = append(row, flag(have&p != 0))
	}
	row = append(row, a.TLSType(), a.TLSCipher, a.TLSIssuer, a.TLSSubject, uint64(a.MaxQueries), uint64(a.MaxUpdates), uint64(a.MaxConnections), uint64(a.MaxUserConnections),
		a.Plugin, a.AuthString, flag(a.Expired), sinceEpoch(a.PasswordChanged), orUnset(a.Lifetime), flag(a.Locked))
	for p := range lateOfUser.Each() {
		row = append(row, flag(have&p != 0))
	}
	var current any
	if a.RequireCurrent != nil {
		current = flag(*a.RequireCurrent)
	}
	return append(row, orUnset(a.History), orUnset(a.ReuseDays), current, orNull(a.UserAttributes()))
}

// orUnset is a number, or NULL.
func orUnset(n *int) any {
	if n == nil {
		return nil
	}
	return uint64(*n)
}

// sinceEpoch is a time in seconds since 1970, or NULL for 0.
func sinceEpoch(n int64) any {
	if n == 0 {
		return nil
	}
	return time.Unix(n, 0)
}

// oldPasswords are the hashes that may not be used again, the latest first.
func oldPasswords(q *query) error {
	for _, a := range q.snap.Accounts() {
		for _, h := range a.OldHashes {
			if err := q.emit(a.Host, a.User, time.Unix(h.At, 0), h.Auth); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachGranted calls fn with the grants of all accounts.
func (q *query) eachGranted(fn func(g *priv.Grants) error) error {
	for _, g := range q.snap.Privileges().All() {
		if err := fn(g); err != nil {
			return err
		}
	}
	return nil
}

func databaseGrants(q *query) error {
	return q.eachGranted(func(g *priv.Grants) error {
		for _, d := range g.Databases {
			row := []any{g.Host, d.Pattern, g.User}
			for _, p := range ofDatabase {
				row = append(row, flag(d.Mask&p != 0))
			}
			if err := q.emit(row...); err != nil {
				return err
			}
		}
		return nil
	})
}

func tableGrants(q *query) error {
	return q.eachGranted(func(g *priv.Grants) error {
		for i := range g.Tables {
			t := &g.Tables[i]
			if err := q.emit(g.Host, t.DB, g.User, t.Name, t.By, q.grantedAt(t), setOf(t.Mask), setOf(t.OfColumns())); err != nil {
				return err
			}
		}
		return nil
	})
}

func columnGrants(q *query) error {
	return q.eachGranted(func(g *priv.Grants) error {
		return eachColumnGrant(g, func(t *priv.Table, c *priv.Column) error {
			return q.emit(g.Host, t.DB, g.User, t.Name, c.Name, q.grantedAt(t), setOf(c.Mask))
		})
	})
}

// grantedAt is when a grant was made, or, where that is not known, the start of the
// server.
func (q *query) grantedAt(t *priv.Table) time.Time {
	if t.At == 0 {
		return q.server.Started()
	}
	return time.Unix(t.At, 0)
}

// grantor is who granted on a table, in its parts.
func grantor(t *priv.Table) (user, host string) {
	if i := strings.LastIndexByte(t.By, '@'); i >= 0 {
		return t.By[:i], t.By[i+1:]
	}
	return t.By, ""
}

// setOf is a set of privileges as SET columns of mysql have it: Select,Create View.
func setOf(m priv.Mask) string {
	var list []string
	for p := range m.Each() {
		switch p {
		case priv.GrantOption:
			list = append(list, "Grant")
		case priv.CreateView:
			list = append(list, "Create View")
		default:
			name := p.Name()
			list = append(list, name[:1]+strings.ToLower(name[1:]))
		}
	}
	return strings.Join(list, ",")
}

// proxyGrants has what MySQL gives root: it may grant to be any other account.
func proxyGrants(q *query) error {
	return q.eachGranted(func(g *priv.Grants) error {
		if g.User != "root" || g.Global != priv.AllGlobal {
			return nil
		}
		return q.emit(g.Host, g.User, "", "", 1, "", q.server.Started())
	})
}

func grantedRoles(q *query) error {
	return q.eachGranted(func(g *priv.Grants) error {
		for _, r := range g.Roles {
			if err := q.emit(r.Host, r.User, g.Host, g.User, flag(r.Admin)); err != nil {
				return err
			}
		}
		return nil
	})
}

func defaultRoles(q *query) error {
	return q.eachGranted(func(g *priv.Grants) error {
		for _, r := range q.snap.Privileges().DefaultRoles(g.Name) {
			if err := q.emit(g.Host, g.User, r.Host, r.User); err != nil {
				return err
			}
		}
		return nil
	})
}

func dynamicGrants(q *query) error {
	return q.eachGranted(func(g *priv.Grants) error {
		for p := range g.Dynamic.Each() {
			if err := q.emit(g.User, g.Host, p.Name(), flag(g.Grantable&p != 0)); err != nil {
				return err
			}
		}
		return nil
	})
}
