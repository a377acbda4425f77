package privileges

import (
	"fmt"
	"slices"
	"sort"
	"strings"
)

// id is the name of an account or role.
type id struct{ user, host string }

func (n id) String() string { return "`" + n.user + "`@`" + n.host + "`" }

// fact is one privilege that an id was granted. No database: everywhere; no table: on
// the databases of the pattern; no column: on the table.
type fact struct {
	of                id
	db, table, column string
	privilege         string
	option            bool // of dynamic privileges: WITH GRANT OPTION
}

// edge is a role that was granted.
type edge struct {
	of, role id
	admin    bool
}

// model is what the test knows: lists that are walked.
type model struct {
	ids       []id
	facts     []fact
	edges     []edge
	defaults  []edge
	mandatory []id
	// activateAll is activate_all_roles_on_login.
	activateAll bool
}

func (m *model) exists(n id) bool { return slices.Contains(m.ids, n) }

// drop forgets an id, also as a role of others.
func (m *model) drop(n id) {
	m.ids = slices.DeleteFunc(m.ids, func(x id) bool { return x == n })
	m.facts = slices.DeleteFunc(m.facts, func(f fact) bool { return f.of == n })
	gone := func(e edge) bool { return e.of == n || e.role == n }
	m.edges, m.defaults = slices.DeleteFunc(m.edges, gone), slices.DeleteFunc(m.defaults, gone)
}

// rename gives an id another name wherever it is.
func (m *model) rename(from, to id) {
	change := func(n *id) {
		if *n == from {
			*n = to
		}
	}
	for i := range m.ids {
		change(&m.ids[i])
	}
	for i := range m.facts {
		change(&m.facts[i].of)
	}
	for _, list := range [][]edge{m.edges, m.defaults} {
		for i := range list {
			change(&list[i].of)
			change(&list[i].role)
		}
	}
}

func (m *model) add(f fact) {
	for i := range m.facts {
		g := m.facts[i]
		g.option = f.option
		if g == f {
			m.facts[i].option = m.facts[i].option || f.option
			return
		}
	}
	m.facts = append(m.facts, f)
}

func (m *model) remove(gone func(f fact) bool) { m.facts = slices.DeleteFunc(m.facts, gone) }

func (m *model) any(is func(f fact) bool) bool { return slices.ContainsFunc(m.facts, is) }

// granted reports a role that an account may make active.
func (m *model) granted(account, role id) bool {
	return m.exists(account) && m.exists(role) &&
		(slices.Contains(m.mandatory, role) || slices.ContainsFunc(m.edges, func(e edge) bool { return e.of == account && e.role == role }))
}

// roles are those that an account may make active.
func (m *model) roles(account id) (out []id) {
	for _, r := range m.ids {
		if r != account && m.granted(account, r) {
			out = append(out, r)
		}
	}
	return out
}

// atLogin are the roles that are active after a login, and in views of the account.
func (m *model) atLogin(account id) (out []id) {
	if m.activateAll {
		return m.roles(account)
	}
	for _, e := range m.defaults {
		if e.of == account && m.granted(account, e.role) {
			out = append(out, e.role)
		}
	}
	return out
}

// reaches reports that from has the role to, directly or by others.
func (m *model) reaches(from, to id) bool {
	return slices.Contains(m.with(nil, from), to)
}

// with adds an id and the roles that it has to a list.
func (m *model) with(list []id, n id) []id {
	if slices.Contains(list, n) || !m.exists(n) {
		return list
	}
	list = append(list, n)
	for _, e := range m.edges {
		if e.of == n {
			list = m.with(list, e.role)
		}
	}
	return list
}

// actor is an account with the roles that are active.
type actor struct {
	m       *model
	account id
	active  []id
	ids     []id // all whose grants count
}

func (m *model) actor(account id, active []id) *actor {
	a := &actor{m: m, account: account, active: active}
	if m.exists(account) {
		a.ids = append(a.ids, account)
	}
	for _, r := range active {
		a.ids = m.with(a.ids, r)
	}
	return a
}

// like compares a name with a pattern of databases.
func like(pattern, name string) bool {
	switch {
	case pattern == "":
		return name == ""
	case pattern[0] == '%':
		return like(pattern[1:], name) || name != "" && like(pattern, name[1:])
	case name == "":
		return false
	case pattern[0] == '_':
		return like(pattern[1:], name[1:])
	case pattern[0] == '\\' && len(pattern) > 1:
		return pattern[1] == name[0] && like(pattern[2:], name[1:])
	}
	return pattern[0] == name[0] && like(pattern[1:], name[1:])
}

// fixed is the length of a pattern up to its first wildcard: the more, the more specific.
func fixed(pattern string) int {
	for i := 0; i < len(pattern); i++ {
		switch pattern[i] {
		case '\\':
			i++
		case '%', '_':
			return i
		}
	}
	return 1000
}

// pattern is the most specific one that an id was granted for a database; "" for none.
func (m *model) pattern(n id, db string) (best string) {
	for _, f := range m.facts {
		if f.of == n && f.db != "" && f.table == "" && like(f.db, db) && (best == "" || fixed(f.db) > fixed(best)) {
			best = f.db
		}
	}
	return best
}

// global reports a privilege ON *.*. SUPER has those that MySQL took from it.
func (a *actor) global(privileges ...string) bool {
	return a.m.any(func(f fact) bool {
		return f.db == "" && slices.Contains(a.ids, f.of) &&
			(slices.Contains(privileges, f.privilege) || f.privilege == "SUPER" && slices.ContainsFunc(privileges, func(p string) bool { return slices.Contains(ofSuper, p) }))
	})
}

var ofSuper = []string{"SYSTEM_VARIABLES_ADMIN", "CONNECTION_ADMIN", "ROLE_ADMIN", "SET_ANY_DEFINER", "SESSION_VARIABLES_ADMIN"}

// onDatabase reports a privilege on a database or on everything.
func (a *actor) onDatabase(db string, privileges ...string) bool {
	if a.global(privileges...) {
		return true
	}
	for _, n := range a.ids {
		p := a.m.pattern(n, db)
		if p != "" && a.m.any(func(f fact) bool {
			return f.of == n && f.db == p && f.table == "" && slices.Contains(privileges, f.privilege)
		}) {
			return true
		}
	}
	return false
}

// onTable reports one of the privileges on a table or at a wider level.
func (a *actor) onTable(db, table string, privileges ...string) bool {
	return a.onDatabase(db, privileges...) || a.m.any(func(f fact) bool {
		return slices.Contains(a.ids, f.of) && f.db == db && f.table == table && f.column == "" && slices.Contains(privileges, f.privilege)
	})
}

// onColumn reports one of the privileges on a column, for "*" on any column, or at a wider
// level.
func (a *actor) onColumn(db, table, column string, privileges ...string) bool {
	return a.onTable(db, table, privileges...) || a.m.any(func(f fact) bool {
		return slices.Contains(a.ids, f.of) && f.db == db && f.table == table && f.column != "" && (column == "*" || strings.EqualFold(f.column, column)) &&
			slices.Contains(privileges, f.privilege)
	})
}

// seesTable reports any privilege other than GRANT OPTION.
func (a *actor) seesTable(db, table string) bool { return a.onColumn(db, table, "*", ofTables...) }

// inDatabase reports a grant on something in the database.
func (a *actor) inDatabase(db string) bool {
	return a.m.any(func(f fact) bool { return slices.Contains(a.ids, f.of) && f.db == db && f.table != "" })
}

// usesDatabase reports any privilege on the database or in it. GRANT OPTION alone is none.
func (a *actor) usesDatabase(db string) bool {
	return a.onDatabase(db, ofDatabases...) || a.inDatabase(db)
}

func (a *actor) seesDatabase(db string) bool {
	return a.global("SHOW DATABASES") || a.usesDatabase(db)
}

// The privileges of tables and databases without GRANT OPTION, in MySQL's order.
var (
	ofTables    = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "REFERENCES", "INDEX", "ALTER", "CREATE VIEW", "SHOW VIEW", "TRIGGER"}
	ofDatabases = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "REFERENCES", "INDEX", "ALTER", "CREATE TEMPORARY TABLES",
		"LOCK TABLES", "EXECUTE", "CREATE VIEW", "SHOW VIEW", "CREATE ROUTINE", "ALTER ROUTINE", "EVENT", "TRIGGER"}
	ofColumns = []string{"SELECT", "INSERT", "UPDATE", "REFERENCES"}
)

// need is one thing that a statement requires.
type need struct {
	kind       string // see refusal
	db, table  string
	column     string
	privileges []string
	body       *view
	star       bool
	of         id // whose connection it is
}

// view is a view of the test: what it reads as whom.
type view struct {
	db, name string
	definer  id
	invoker  bool
	needs    []need
	columns  []string
	base     string // the table of the same database that it shows
	filter   string // a column of base that only WHERE has
}

// refusal is the error that an actor gets, "" for none. First comes what is missing of the
// server and of databases, then of tables and views, of bodies of views, and of columns.
func (a *actor) refusal(needs []need) string {
	for _, phase := range []string{"server", "database", "table", "explain", "view", "column"} {
		for _, n := range needs {
			if text := a.refused(n, phase); text != "" {
				return text
			}
		}
	}
	return ""
}

func (a *actor) refused(n need, phase string) string {
	command := strings.Join(n.privileges, ", ")
	denied := func(command string) string {
		return fmt.Sprintf("1142 %s command denied to user '%s'@'localhost' for table '%s'", command, a.account.user, n.table)
	}
	switch phase + " " + n.kind {
	case "server global":
		// UPDATE on the database mysql is a right on accounts as well.
		onAccounts := slices.Contains(n.privileges, "CREATE USER") && a.onDatabase("mysql", "UPDATE")
		if !a.global(n.privileges...) && !onAccounts {
			list := n.privileges
			if k := len(list); k > 1 {
				list = append(slices.Clone(list[:k-2]), list[k-2]+" or "+list[k-1])
			}
			return "1227 Access denied; you need (at least one of) the " + strings.Join(list, ", ") + " privilege(s) for this operation"
		}
	case "server owner":
		if a.account != n.of && !a.global("CONNECTION_ADMIN") {
			return "1095 You are not owner of thread " + n.table
		}
	case "database database":
		for _, p := range n.privileges {
			if !a.onDatabase(n.db, p) {
				return a.noDatabase(n.db)
			}
		}
	case "database uses":
		if !a.usesDatabase(n.db) {
			return a.noDatabase(n.db)
		}
	case "table whole", "table some":
		// The privileges that are missing are named, and of "some" those that no column has.
		var missing []string
		for _, p := range n.privileges {
			if !a.onTable(n.db, n.table, p) && (n.kind == "whole" || !slices.Contains(ofColumns, p) || !a.onColumn(n.db, n.table, "*", p)) {
				missing = append(missing, p)
			}
		}
		if missing != nil {
			return denied(strings.Join(missing, ", "))
		}
	case "table either":
		if !a.onColumn(n.db, n.table, "*", n.privileges...) {
			return denied(n.privileges[0])
		}
	case "table locks":
		if !a.onTable(n.db, n.table, "UPDATE", "DELETE", "LOCK TABLES") {
			return denied("SELECT with locking clause")
		}
	case "table sees":
		if !a.seesTable(n.db, n.table) {
			return denied("SELECT")
		}
	case "table shows":
		if !a.onTable(n.db, n.table, ofTables...) {
			return denied("SHOW")
		}
	case "table shows view":
		if !a.onColumn(n.db, n.table, "*", "SELECT") {
			return denied("SHOW")
		}
	case "column column":
		if a.onColumn(n.db, n.table, n.column, n.privileges...) {
			return ""
		}
		if n.star {
			return denied(command)
		}
		return fmt.Sprintf("1143 %s command denied to user '%s'@'localhost' for column '%s' in table '%s'", command, a.account.user, n.column, n.table)
	case "explain explains":
		if !a.explains(n.body) {
			return "1345 EXPLAIN/SHOW can not be issued; lacking privileges for underlying table"
		}
	case "view body":
		return a.refusedBody(n.body, n.needs())
	}
	return ""
}

// explains reports that the actor may see how a view is read: it has SHOW VIEW and SELECT
// on it and on the views below it, and SELECT on the table.
func (a *actor) explains(v *view) bool {
	if !a.onTable(v.db, v.name, "SHOW VIEW") || !a.onColumn(v.db, v.name, "*", "SELECT") || !a.onColumn(v.db, v.base, "*", "SELECT") {
		return false
	}
	for _, n := range v.needs {
		if n.body != nil && !a.explains(n.body) {
			return false
		}
	}
	return true
}

// needs are those of the body, with what a change needs in addition.
func (n *need) needs() []need {
	if n.privileges == nil {
		return n.body.needs
	}
	out := slices.Clone(n.body.needs)
	for _, p := range n.privileges {
		if n.column == "" {
			out = append(out, need{kind: "whole", db: n.body.db, table: n.body.base, privileges: []string{p}})
		} else {
			out = append(out, need{kind: "column", db: n.body.db, table: n.body.base, column: n.column, privileges: []string{p}})
		}
	}
	return out
}

func (a *actor) refusedBody(v *view, needs []need) string {
	as := a
	if !v.invoker {
		if !a.m.exists(v.definer) {
			return fmt.Sprintf("1449 The user specified as a definer ('%s'@'%s') does not exist", v.definer.user, v.definer.host)
		}
		as = a.m.actor(v.definer, a.m.atLogin(v.definer))
	}
	switch text := as.refusal(needs); {
	case text == "":
		return ""
	case strings.HasPrefix(text, "1449"):
		return text
	}
	return fmt.Sprintf("1356 View '%s.%s' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use them", v.db, v.name)
}

func (a *actor) noDatabase(db string) string {
	return fmt.Sprintf("1044 Access denied for user '%s'@'%s' to database '%s'", a.account.user, a.account.host, db)
}

// roleText is CURRENT_ROLE().
func roleText(roles []id) string {
	if len(roles) == 0 {
		return "NONE"
	}
	var list []string
	for _, r := range roles {
		list = append(list, r.String())
	}
	sort.Strings(list)
	return strings.Join(list, ",")
}
