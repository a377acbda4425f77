package infoschema

import (
	"fmt"
	"strings"

	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// account is the account of SHOW GRANTS and SHOW CREATE USER.
func (q *query) account() priv.Name {
	switch {
	case q.arg(0) == "" && q.arg(1) == "":
		return q.self()
	case q.arg(1) == "":
		return priv.Name{User: q.arg(0), Host: "%"}
	}
	return priv.Name{User: q.arg(0), Host: q.arg(1)}
}

// using are the roles of SHOW GRANTS … USING.
func (q *query) using() []priv.Name {
	var list []priv.Name
	for i := 2; i+1 < len(q.args); i += 2 {
		list = append(list, priv.Name{User: q.args[i], Host: q.args[i+1]})
	}
	return list
}

// accountHeader is the account in the title of a column.
func (q *query) accountHeader() string {
	n := q.account()
	return strings.NewReplacer(",", "_", "'", "").Replace(n.User + "@" + n.Host)
}

// checkGrants: SHOW GRANTS needs SELECT on mysql.user for other accounts. 1141, 1142,
// 3530.
func checkGrants(q *query) error {
	n := q.account()
	if n != q.self() && q.rights.OnTable(mysqlDB, "user")&priv.Select == 0 {
		return q.tableDenied("SELECT", "user")
	}
	st := q.snap.Privileges()
	if st.Grants(n) == nil {
		return sqlerr.NoSuchGrant(n.User, n.Host)
	}
	for _, r := range q.using() {
		if !st.HasRole(n, r) {
			return sqlerr.RoleNotGranted(r.String(), n.String())
		}
	}
	return nil
}

// showGrants lists what the account was granted, with the roles of USING what it may do
// when they are active. The account of the connection shows its active roles, and the
// mandatory ones as well, unless the statement names it.
func showGrants(q *query) error {
	n, st, roles := q.account(), q.snap.Privileges(), q.using()
	g := st.Grants(n)
	if g == nil {
		return checkGrants(q)
	}
	list := g.Roles
	if q.arg(0) == "" && q.arg(1) == "" {
		if list = st.RolesOf(n); roles == nil {
			roles = q.rights.Roles
		}
	}
	if len(roles) > 0 {
		g = st.Set(n, roles).Merged()
	}
	for _, line := range g.Statements(list) {
		if err := q.emit(line); err != nil {
			return err
		}
	}
	return nil
}

// checkCreateUser: SHOW CREATE USER needs SELECT on mysql for other accounts. 1044,
// 1396.
func checkCreateUser(q *query) error {
	n := q.account()
	if n != q.self() && !q.readsGrants() {
		return q.databaseDenied(mysqlDB)
	}
	if q.snap.Account(n.User, n.Host) == nil {
		return sqlerr.UserOperationFailed("SHOW CREATE USER", fmt.Sprintf("'%s'@'%s'", n.User, n.Host))
	}
	return nil
}

// showCreateUser hides the password from who may not read mysql.user.
func showCreateUser(q *query) error {
	n := q.account()
	a := q.snap.Account(n.User, n.Host)
	if a == nil {
		return checkCreateUser(q)
	}
	text := "CREATE USER " + n.String() + " IDENTIFIED WITH " + quote(a.Plugin)
	switch {
	case a.AuthString == "":
	case q.rights.OnTable(mysqlDB, "user")&priv.Select == 0:
		text += " AS '<secret>'"
	default:
		text += " AS " + authText(a.AuthString)
	}
	var roles []string
	for _, r := range q.snap.Privileges().DefaultRoles(n) {
		roles = append(roles, r.String())
	}
	if roles != nil {
		text += " DEFAULT ROLE " + strings.Join(roles, ",")
	}
	return q.emit(text + " " + a.Clauses())
}

// authText is an authentication string as a literal: in hexadecimal when it
// has bytes that do not print.
func authText(s string) string {
	for i := 0; i < len(s); i++ {
		if s[i] < ' ' || s[i] > '~' {
			return fmt.Sprintf("0x%X", s)
		}
	}
	return quote(s)
}

// staticPrivileges are the lines of SHOW PRIVILEGES for those that MySQL has built in.
var staticPrivileges = [][3]string{
	{"Alter", "Tables", "To alter the table"},
	{"Alter routine", "Functions,Procedures", "To alter or drop stored functions/procedures"},
	{"Create", "Databases,Tables,Indexes", "To create new databases and tables"},
	{"Create routine", "Databases", "To use CREATE FUNCTION/PROCEDURE"},
	{"Create role", "Server Admin", "To create new roles"},
	{"Create temporary tables", "Databases", "To use CREATE TEMPORARY TABLE"},
	{"Create view", "Tables", "To create new views"},
	{"Create user", "Server Admin", "To create new users"},
	{"Delete", "Tables", "To delete existing rows"},
	{"Drop", "Databases,Tables", "To drop databases, tables, and views"},
	{"Drop role", "Server Admin", "To drop roles"},
	{"Event", "Server Admin", "To create, alter, drop and execute events"},
	{"Execute", "Functions,Procedures", "To execute stored routines"},
	{"File", "File access on server", "To read and write files on the server"},
	{"Grant option", "Databases,Tables,Functions,Procedures", "To give to other users those privileges you possess"},
	{"Index", "Tables", "To create or drop indexes"},
	{"Insert", "Tables", "To insert data into tables"},
	{"Lock tables", "Databases", "To use LOCK TABLES (together with SELECT privilege)"},
	{"Process", "Server Admin", "To view the plain text of currently executing queries"},
	{"Proxy", "Server Admin", "To make proxy user possible"},
	{"References", "Databases,Tables", "To have references on tables"},
	{"Reload", "Server Admin", "To reload or refresh tables, logs and privileges"},
	{"Replication client", "Server Admin", "To ask where the slave or master servers are"},
	{"Replication slave", "Server Admin", "To read binary log events from the master"},
	{"Select", "Tables", "To retrieve rows from table"},
	{"Show databases", "Server Admin", "To see all databases with SHOW DATABASES"},
	{"Show view", "Tables", "To see views with SHOW CREATE VIEW"},
	{"Shutdown", "Server Admin", "To shut down the server"},
	{"Super", "Server Admin", "To use KILL thread, SET GLOBAL, CHANGE MASTER, etc."},
	{"Trigger", "Tables", "To use triggers"},
	{"Create tablespace", "Server Admin", "To create/alter/drop tablespaces"},
	{"Update", "Tables", "To update existing rows"},
	{"Usage", "Server Admin", "No privileges - allow connect only"},
}

func privileges(q *query) error {
	for _, p := range staticPrivileges {
		if err := q.emit(p[0], p[1], p[2]); err != nil {
			return err
		}
	}
	for p := range priv.AllDynamic.Each() {
		if err := q.emit(p.Name(), "Server Admin", ""); err != nil {
			return err
		}
	}
	return nil
}
