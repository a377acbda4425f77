package infoschema

import (
	"slices"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/planner/logical"
	"github.com/sqlots/sqlots/sql/priv"
	"github.com/sqlots/sqlots/sql/sqlerr"
)

// What an account sees, as in MySQL: of databases and tables those on which it has some
// privilege, of columns those that it may read, write or reference. Tables list what
// the methods below give them.

// seesDatabase reports whether the database is listed.
func (q *query) seesDatabase(name string) bool {
	return q.all || name == infoDB || name == performanceDB || q.rights.SeesDatabase(name)
}

// databases are the stored databases that are listed.
func (q *query) databases() []*schema.Database {
	list := q.snap.Databases()
	if q.all {
		return list
	}
	return slices.DeleteFunc(list, func(d *schema.Database) bool { return !q.seesDatabase(d.Name) })
}

// databaseNames are the names of all databases in order, virtual ones
// included.
func (q *query) databaseNames() []string {
	var out []string
	for _, d := range q.databases() {
		if !q.provider.IsVirtual(d.Name) {
			out = append(out, d.Name)
		}
	}
	for n := range q.provider.dbs {
		if q.seesDatabase(n) {
			out = append(out, n)
		}
	}
	sortStrings(out)
	return out
}

// seesTable reports whether the table or view is listed.
func (q *query) seesTable(db, name string) bool {
	return q.all || db == infoDB || q.rights.SeesTable(db, name)
}

// visible are the tables of a database that are listed; it may change list.
func visible[T any](q *query, db string, list []T, name func(T) string) []T {
	if q.all || db == infoDB || q.rights.OnDatabase(db)&priv.OnTable != 0 {
		return list
	}
	return slices.DeleteFunc(list, func(t T) bool { return !q.rights.SeesTable(db, name(t)) })
}

// tables are the stored tables of a database.
func (q *query) tables(db string) []*schema.Table {
	return visible(q, db, q.snap.Tables(db), func(t *schema.Table) string { return t.Name })
}

// views are those of a database.
func (q *query) views(db string) []*schema.View {
	return visible(q, db, q.snap.Views(db), func(v *schema.View) string { return v.Name })
}

// virtualTables are the virtual tables of a database by name.
func (q *query) virtualTables(db string) []*table {
	db = strings.ToLower(db)
	return visible(q, db, sortedTables(q.provider.dbs[db]), func(t *table) string { return t.name })
}

// columnRights are the privileges on the columns of one table.
type columnRights struct {
	whole     priv.Mask // on all of them
	set       *priv.Set // nil: no others
	db, table string
}

func (q *query) columnRights(db, table string) columnRights {
	switch {
	case db == infoDB:
		return columnRights{whole: priv.Select}
	case q.rights.Global()&priv.AllColumn == priv.AllColumn:
		return columnRights{whole: priv.AllColumn}
	}
	return columnRights{whole: q.rights.OnTable(db, table) & priv.AllColumn, set: q.rights, db: db, table: table}
}

// of are the privileges on a column; one without is not listed.
func (r *columnRights) of(column string) priv.Mask {
	if r.set == nil || r.whole == priv.AllColumn {
		return r.whole
	}
	return r.set.OnColumn(r.db, r.table, column) & priv.AllColumn
}

// columnPrivileges is PRIVILEGES of a column.
func columnPrivileges(m priv.Mask) string {
	if m == priv.AllColumn {
		return "select,insert,update,references"
	}
	var list []string
	for p := range m.Each() {
		list = append(list, strings.ToLower(p.Name()))
	}
	return strings.Join(list, ",")
}

// showsDefinition reports whether the text of a view is shown: to its definer, and to
// who may read it and see views.
func (q *query) showsDefinition(v *schema.View) bool {
	user, host := q.sess.Account()
	const need = priv.Select | priv.ShowView
	return q.rights.OnTable(v.Database, v.Name)&need == need || v.DefinerUser == user && v.DefinerHost == host
}

// processes are the connections of the account, with PROCESS all of them.
func (q *query) processes() []Process {
	list := q.server.Processes()
	if q.seesAllProcesses() {
		return list
	}
	user, _ := q.sess.Account()
	var own []Process
	for i := range list {
		if list[i].User == user || list[i].ID == q.sess.ConnectionID() {
			own = append(own, list[i])
		}
	}
	return own
}

func (q *query) seesAllProcesses() bool { return q.rights.Has(priv.Process, 0) }

// threadFilter reports of a connection whether processes has it.
func (q *query) threadFilter() func(id uint64) bool {
	if q.seesAllProcesses() {
		return func(uint64) bool { return true }
	}
	list := q.processes()
	return func(id uint64) bool {
		return slices.ContainsFunc(list, func(p Process) bool { return p.ID == id })
	}
}

// readsGrants reports whether the grants of other accounts are shown.
func (q *query) readsGrants() bool { return q.rights.OnDatabase(mysqlDB)&priv.Select != 0 }

// self is the account of the connection.
func (q *query) self() priv.Name {
	user, host := q.sess.Account()
	return priv.Name{User: user, Host: host}
}

// needs refuses accounts that have none of the privileges ON *.*: 1227.
func needs(m priv.Mask) func(q *query) error {
	return func(q *query) error {
		if q.rights.Has(m, 0) {
			return nil
		}
		return sqlerr.PrivilegeNeeded(m.String())
	}
}

// ofServer makes a table one for accounts with PROCESS.
func ofServer(t *table) *table {
	check, rows := needs(priv.Process), t.rows
	t.rows = func(q *query) error {
		if err := check(q); err != nil {
			return err
		}
		return rows(q)
	}
	return t
}

func (q *query) tableDenied(command, table string) error {
	user, _ := q.sess.Account()
	return sqlerr.TableAccessDenied(command, user, q.sess.ClientHost(), table)
}

func (q *query) databaseDenied(db string) error {
	user, host := q.sess.Account()
	return sqlerr.DatabaseAccessDenied(user, host, db)
}

// checkDatabase: SHOW of what a database has needs some privilege on it or in it.
func checkDatabase(q *query) error {
	if db := q.arg(0); db != infoDB && !q.rights.UsesDatabase(db) {
		return q.databaseDenied(db)
	}
	return nil
}

// checkEvents: SHOW EVENTS needs EVENT.
func checkEvents(q *query) error {
	if db := q.arg(0); db != infoDB && db != performanceDB && q.rights.OnDatabase(db)&priv.Event == 0 {
		return q.databaseDenied(db)
	}
	return checkDatabase(q)
}

// checkTable: SHOW COLUMNS and SHOW INDEX need some privilege on the table or on a
// column.
func checkTable(q *query) error {
	if db, name := q.arg(0), q.arg(1); q.temporary(db, name) == nil && !q.seesTable(db, name) {
		return q.tableDenied("SELECT", name)
	}
	return nil
}

// checkCreateTable: SHOW CREATE TABLE needs some privilege on the table as a whole.
func checkCreateTable(q *query) error {
	db, name := q.arg(0), q.arg(1)
	if db == infoDB || q.temporary(db, name) != nil || q.rights.OnTable(db, name)&priv.OnTable != 0 {
		return nil
	}
	return q.tableDenied("SHOW", name)
}

// checkCreateView: SHOW CREATE VIEW needs SELECT and SHOW VIEW.
func checkCreateView(q *query) error {
	db, name := q.arg(0), q.arg(1)
	read := priv.Needs{Tables: []priv.TableNeed{{DB: db, Table: name, AnyColumn: priv.Select}}}
	if q.rights.Check(&read) != nil {
		return q.tableDenied("SHOW", name)
	}
	if q.rights.OnTable(db, name)&priv.ShowView == 0 {
		return q.tableDenied("SHOW VIEW", name)
	}
	return nil
}

// eachTable calls fn for the stored tables of all databases that the query needs.
func (q *query) eachTable(fn func(t *schema.Table) error) error {
	for _, d := range q.databases() {
		if !q.wants(d.Name, schemaColumns...) {
			continue
		}
		for _, t := range q.tables(d.Name) {
			if !q.wants(t.Name, tableColumns...) {
				continue
			}
			if err := fn(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachView calls fn for the views of all databases that the query needs.
func (q *query) eachView(fn func(v *schema.View) error) error {
	for _, d := range q.databases() {
		if !q.wants(d.Name, schemaColumns...) {
			continue
		}
		for _, v := range q.views(d.Name) {
			if !q.wants(v.Name, tableColumns...) {
				continue
			}
			if err := fn(v); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachVirtual calls fn for the virtual tables of all databases that the query
// needs.
func (q *query) eachVirtual(fn func(t *table) error) error {
	for _, db := range q.databaseNames() {
		if !q.wants(db, schemaColumns...) {
			continue
		}
		for _, t := range q.virtualTables(db) {
			if !q.wants(t.name, tableColumns...) {
				continue
			}
			if err := fn(t); err != nil {
				return err
			}
		}
	}
	return nil
}

// eachColumn calls fn for the columns of the stored tables that the query needs, with
// the privileges on them.
func (q *query) eachColumn(fn func(t *schema.Table, c *schema.Column, pos int, may priv.Mask) error) error {
	return q.eachTable(func(t *schema.Table) error {
		rights := q.columnRights(t.Database, t.Name)
		return shownColumns(t, func(c *schema.Column, pos int) error {
			if may := rights.of(c.Name); may != 0 {
				return fn(t, c, pos, may)
			}
			return nil
		})
	})
}

// virtualColumn describes a column of a virtual table as a stored one.
func virtualColumn(c *logical.Column) schema.Column {
	out := schema.Column{Name: c.Name, Type: c.T, Nullable: c.Null}
	if !c.Null && c.T.IsCharacter() && !c.T.IsBlobOrText() {
		out.Default = &schema.Default{}
	}
	return out
}
