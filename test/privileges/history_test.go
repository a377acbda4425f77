package privileges

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// session is a connection that stays.
type session struct {
	account id
	active  []id // roles, as the last statement left them
	db      string
	conn    *sql.Conn
	number  string // CONNECTION_ID()
	// prepared are statements by their text, with ? for the value.
	prepared map[string]*sql.Stmt
}

// history is a server with its model.
type history struct {
	*model
	t        *testing.T
	rng      *rand.Rand
	addr     string
	root     *sql.Conn
	sessions []*session
	asker    *session // of the question that is being made
	views    []*view
	log      []string       // changes, for a failure
	asked    map[string]int // by form
	// answers are the numbers of questions of a kind that were let through and refused.
	answers map[string]*[2]int
}

var (
	databases = []string{"aab", "aa_b", "aaxb", "b"}
	patterns  = []string{"aab", `aa\_b`, "aa_b", "a%", "%", "b", "aaxb"}
	columnsOf = map[string][]string{"t1": {"id", "a", "b", "c"}, "t2": {"id", "x", "y"}, "e": {"id"}}
	users     = []id{{"u0", "%"}, {"u0", "localhost"}, {"u1", "%"}, {"u2", "%"}, {"u3", "127.0.0.1"}, {"u4", "%"}}
	roles     = []id{{"r0", "%"}, {"r1", "%"}, {"r2", "%"}, {"r2", "h"}, {"r3", "%"}}
	renamed   = []id{{"u5", "%"}, {"r4", "%"}}
	onServer  = []string{"SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "DROP", "ALTER", "INDEX", "CREATE VIEW", "SHOW VIEW", "RELOAD", "PROCESS",
		"SHOW DATABASES", "SUPER", "CREATE USER", "LOCK TABLES", "CREATE TEMPORARY TABLES", "REFERENCES"}
	dynamic = []string{"SYSTEM_VARIABLES_ADMIN", "CONNECTION_ADMIN", "ROLE_ADMIN", "SET_ANY_DEFINER", "BACKUP_ADMIN"}
)

// TestModel: a random history of accounts, roles and grants, and between its steps
// questions to connections that stay: statements as text, prepared and explained, of which
// root or another account has made the plan warm. A model, which is a walked list, says
// which are let through, and how others are refused.
func TestModel(t *testing.T) {
	h := newHistory(t, testflag.Seed(1))
	questions := testflag.Rounds(600, 5000, 30000)
	for n := 0; n < questions; {
		h.change()
		for range h.rng.IntN(12) {
			n += h.ask()
		}
	}
	h.report(questions)
}

// report logs what was asked. In a long history each kind of question must have been let
// through and refused.
func (h *history) report(questions int) {
	h.t.Helper()
	allowed := 0
	for _, kind := range kindNames {
		n := h.answers[kind]
		if n == nil {
			n = &[2]int{}
		}
		allowed += n[0]
		if refusable := kinds[kind](h).needs != nil; questions >= 100000 && kind != "accounts" && (n[0] == 0 || n[1] == 0 && refusable) {
			h.t.Errorf("%s: %d let through, %d refused", kind, n[0], n[1])
		}
	}
	h.t.Logf("%d questions, %d let through: %v", questions, allowed, h.asked)
}

func newHistory(t *testing.T, seed uint64) *history {
	t.Helper()
	s := servertest.Start(t, server.Config{Durability: 1})
	h := &history{model: &model{}, t: t, rng: rand.New(rand.NewPCG(seed, 1)), addr: s.Addr(), asked: map[string]int{}, answers: map[string]*[2]int{}}
	h.root = h.connect("root")
	for _, db := range databases {
		h.must("CREATE DATABASE `" + db + "`")
		h.must("CREATE TABLE `" + db + "`.t1 (id INT PRIMARY KEY, a INT, b INT, c INT, KEY by_a (a))")
		h.must("CREATE TABLE `" + db + "`.t2 (id INT PRIMARY KEY, x INT, y INT)")
		h.must("CREATE TABLE `" + db + "`.e (id INT PRIMARY KEY)")
		h.must("INSERT INTO `" + db + "`.t1 VALUES (1, 1, 1, 1), (2, 2, 2, 2), (3, 3, 3, 3)")
		h.must("INSERT INTO `" + db + "`.t2 VALUES (1, 1, 1), (2, 2, 2)")
	}
	for _, u := range users {
		h.must(fmt.Sprintf("CREATE USER '%s'@'%s'", u.user, u.host))
		h.ids = append(h.ids, u)
	}
	for _, r := range roles {
		h.must("CREATE ROLE " + r.String())
		h.ids = append(h.ids, r)
	}
	h.must("GRANT SELECT ON *.* TO " + nameList(users))
	for i := range 6 {
		h.makeView(i)
	}
	h.must("REVOKE SELECT ON *.* FROM " + nameList(users))
	for range 8 {
		h.login()
	}
	for range 150 {
		h.change()
	}
	return h
}

// makeView creates a view of a table, the last ones of a view.
func (h *history) makeView(i int) {
	v := &view{db: databases[i%len(databases)], name: fmt.Sprint("v", i), definer: pick(h, users), invoker: i%3 == 1, columns: []string{"id", "a"}, base: "t1", filter: "b"}
	where := " WHERE b > 0"
	if i >= 4 {
		below := h.views[i-4]
		v.base, v.filter, where = below.name, "", ""
		v.needs = []need{{kind: "body", body: below}}
	}
	v.needs = append(v.needs, need{kind: "some", db: v.db, table: v.base, privileges: []string{"SELECT"}})
	for _, c := range []string{"id", "a", v.filter} {
		if c != "" {
			v.needs = append(v.needs, need{kind: "column", db: v.db, table: v.base, column: c, privileges: []string{"SELECT"}})
		}
	}
	security := "DEFINER"
	if v.invoker {
		security = "INVOKER"
	}
	h.must(fmt.Sprintf("CREATE DEFINER = %s SQL SECURITY %s VIEW `%s`.%s AS SELECT id, a FROM `%s`.%s%s", v.definer, security, v.db, v.name, v.db, v.base, where))
	h.views = append(h.views, v)
}

func pick[T any](h *history, list []T) T { return list[h.rng.IntN(len(list))] }

func (h *history) connect(user string) *sql.Conn {
	h.t.Helper()
	db, err := sql.Open("mysql", user+"@tcp("+h.addr+")/")
	if err != nil {
		h.t.Fatal(err)
	}
	h.t.Cleanup(func() { db.Close() })
	c, err := db.Conn(context.Background())
	if err != nil {
		return nil
	}
	return c
}

// run is the rows of a statement, columns by comma and rows by bar, or its error as
// "number text".
func run(c *sql.Conn, text string) (rows, refusal string) {
	r, err := c.QueryContext(context.Background(), text)
	return readAll(r, err)
}

func readAll(r *sql.Rows, err error) (rows, refusal string) {
	if err != nil {
		return "", errorText(err)
	}
	defer r.Close()
	columns, err := r.Columns()
	if err != nil {
		return "", errorText(err)
	}
	var out []string
	for r.Next() {
		cells, ptrs := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range cells {
			ptrs[i] = &cells[i]
		}
		if err := r.Scan(ptrs...); err != nil {
			return "", errorText(err)
		}
		line := make([]string, len(columns))
		for i, cell := range cells {
			line[i] = cell.String
		}
		out = append(out, strings.Join(line, ","))
	}
	if err := r.Err(); err != nil {
		return "", errorText(err)
	}
	return strings.Join(out, "|"), ""
}

func errorText(err error) string {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return fmt.Sprint(e.Number, " ", e.Message)
	}
	return err.Error()
}

// must runs a statement of root that succeeds.
func (h *history) must(text string) {
	h.t.Helper()
	if _, refusal := run(h.root, text); refusal != "" {
		h.fail(text, refusal, "")
	}
}

// fail ends the test with the changes that led to the difference.
func (h *history) fail(text, got, want string) {
	h.t.Helper()
	last := h.log[max(0, len(h.log)-80):]
	h.t.Fatalf("-seed: after\n%s\n%s:\n got %q\nwant %q", strings.Join(last, "\n"), text, got, want)
}

// same compares an error with that of the model: its number, or, where want has a text,
// all of it.
func same(got, want string) bool {
	if len(want) == 4 {
		return strings.HasPrefix(got, want+" ")
	}
	return got == want
}

// login makes one connection more, or one in the place of another.
func (h *history) login() {
	account := pick(h, users)
	if !h.exists(account) || account.host == "%" && h.exists(id{account.user, "localhost"}) {
		return
	}
	c := h.connect(account.user)
	if c == nil {
		h.t.Fatalf("no login as %s", account)
	}
	s := &session{account: account, active: h.atLogin(account), conn: c, prepared: map[string]*sql.Stmt{}}
	rows, refusal := run(c, "SELECT CONNECTION_ID(), CURRENT_USER()")
	var user string
	s.number, user, _ = strings.Cut(rows, ",")
	if want := account.user + "@" + account.host; refusal != "" || user != want {
		h.fail("a login", refusal+user, want)
	}
	if len(h.sessions) < 8 {
		h.sessions = append(h.sessions, s)
		return
	}
	i := h.rng.IntN(len(h.sessions))
	h.sessions[i].conn.Close()
	h.sessions[i] = s
}

// actor is what a session may do now: a role that it has no more is not active.
func (h *history) actor(s *session) *actor {
	s.active = slices.DeleteFunc(s.active, func(r id) bool { return !h.granted(s.account, r) })
	return h.model.actor(s.account, s.active)
}

// apply runs a statement of root, or of a session, and changes the model if the statement
// is to succeed: want is its error.
func (h *history) apply(s *session, text, want string, effect func()) {
	h.t.Helper()
	c, by := h.root, "root"
	if s != nil {
		c, by = s.conn, fmt.Sprint(s.account, s.active)
	}
	h.log = append(h.log, fmt.Sprintf("%s: %s -- %s", by, text, want))
	if _, got := run(c, text); !same(got, want) {
		h.fail(text, got, want)
	}
	if want == "" && effect != nil {
		effect()
	}
}

func quoted(n id) string { return fmt.Sprintf("'%s'@'%s'", n.user, n.host) }

// anyID is an id, which need not exist.
func (h *history) anyID() id { return pick(h, slices.Concat(users, users, roles, roles, renamed)) }

// change is one step of the history.
func (h *history) change() {
	h.t.Helper()
	switch h.rng.IntN(40) {
	case 0:
		h.changeAccount()
	case 1:
		h.login()
	case 2, 3, 4:
		h.changeRole()
	case 5:
		h.changeDefaults()
	case 6, 7, 8, 9:
		h.setRole()
	case 10:
		h.changeVariables()
	case 11:
		n := h.anyID()
		h.apply(nil, "REVOKE ALL PRIVILEGES, GRANT OPTION FROM "+quoted(n), ifNot(h.exists(n), "1269"), func() {
			h.remove(func(f fact) bool { return f.of == n })
		})
	case 12, 13:
		h.changeDynamic()
	default:
		h.changeGrant()
	}
}

func ifNot(ok bool, number string) string {
	if ok {
		return ""
	}
	return number
}

func (h *history) changeAccount() {
	n := h.anyID()
	to := pick(h, slices.Concat(renamed, users, roles))
	for to.user[0] != n.user[0] { // a role stays one
		to = pick(h, slices.Concat(renamed, users, roles))
	}
	isRole := strings.HasPrefix(n.user, "r")
	switch {
	case slices.Contains(h.mandatory, n) && h.exists(n):
		h.apply(nil, "DROP USER "+quoted(n), "3628", nil)
	case !h.exists(n) && isRole:
		h.apply(nil, "CREATE ROLE "+quoted(n), "", func() { h.ids = append(h.ids, n) })
	case !h.exists(n):
		h.apply(nil, "CREATE USER "+quoted(n), "", func() { h.ids = append(h.ids, n) })
	case h.rng.IntN(3) == 0:
		h.apply(nil, "RENAME USER "+quoted(n)+" TO "+quoted(to), ifNot(!h.exists(to), "1396"), func() { h.rename(n, to) })
	default:
		h.apply(nil, "DROP "+[]string{"USER ", "ROLE "}[h.rng.IntN(2)]+quoted(n), "", func() { h.drop(n) })
	}
}

// changeRole grants or revokes a role.
func (h *history) changeRole() {
	of, role := h.anyID(), pick(h, roles)
	if h.rng.IntN(5) == 0 {
		role = h.anyID()
	}
	is := func(e edge) bool { return e.of == of && e.role == role }
	var s *session
	want := ""
	if h.rng.IntN(4) == 0 {
		s = pick(h, h.sessions)
		a := h.actor(s)
		admin := slices.ContainsFunc(h.edges, func(e edge) bool { return slices.Contains(a.ids, e.of) && e.role == role && e.admin })
		if !admin && !a.global("ROLE_ADMIN") {
			want = "1227 Access denied; you need (at least one of) the WITH ADMIN, ROLE_ADMIN, SUPER privilege(s) for this operation"
		}
	}
	known := h.exists(of) && h.exists(role)
	if h.rng.IntN(3) == 0 {
		switch {
		case want != "":
		case !h.exists(role):
			want = "3523"
		case slices.Contains(h.mandatory, role):
			want = "3628"
		case !known:
			want = "3523"
		case !slices.ContainsFunc(h.edges, is):
			want = "3530"
		}
		h.apply(s, "REVOKE "+quoted(role)+" FROM "+quoted(of), want, func() {
			h.edges, h.defaults = slices.DeleteFunc(h.edges, is), slices.DeleteFunc(h.defaults, is)
		})
		return
	}
	switch {
	case want != "":
	case !known:
		want = "3523"
	case h.reaches(role, of):
		want = "4027"
	}
	admin := h.rng.IntN(4) == 0
	text := "GRANT " + quoted(role) + " TO " + quoted(of)
	if admin {
		text += " WITH ADMIN OPTION"
	}
	h.apply(s, text, want, func() {
		if i := slices.IndexFunc(h.edges, is); i >= 0 {
			h.edges[i].admin = h.edges[i].admin || admin
		} else {
			h.edges = append(h.edges, edge{of, role, admin})
		}
	})
}

func (h *history) changeDefaults() {
	n := pick(h, users)
	var list []id
	text, want := "", ""
	switch h.rng.IntN(4) {
	case 0:
		text = "NONE"
	case 1:
		text, list = "ALL", h.roles(n)
	default:
		list = h.someRoles(n)
		text = nameList(list)
		for _, r := range list {
			if !h.granted(n, r) {
				want = "3530"
			}
		}
	}
	if !h.exists(n) {
		want = "3523"
	}
	h.apply(nil, "SET DEFAULT ROLE "+text+" TO "+quoted(n), want, func() {
		h.defaults = slices.DeleteFunc(h.defaults, func(e edge) bool { return e.of == n })
		for _, r := range list {
			h.defaults = append(h.defaults, edge{of: n, role: r})
		}
	})
}

// someRoles are one or two different roles, mostly of those that the account has.
func (h *history) someRoles(n id) []id {
	have := h.roles(n)
	if len(have) == 0 || h.rng.IntN(5) == 0 {
		have = roles
	}
	list := []id{pick(h, have)}
	if r := pick(h, have); r != list[0] {
		list = append(list, r)
	}
	return list
}

func nameList(list []id) string {
	var names []string
	for _, n := range list {
		names = append(names, quoted(n))
	}
	return strings.Join(names, ", ")
}

// setRole changes the active roles of a session.
func (h *history) setRole() {
	s := pick(h, h.sessions)
	h.actor(s)
	var list []id
	text, want := "", ""
	switch h.rng.IntN(8) {
	case 0:
		text = "NONE"
	case 1:
		text, list = "ALL", h.roles(s.account)
	case 2:
		text = "DEFAULT"
		for _, e := range h.defaults {
			if e.of == s.account && h.granted(s.account, e.role) {
				list = append(list, e.role)
			}
		}
	case 3:
		except := h.someRoles(s.account)
		text = "ALL EXCEPT " + nameList(except)
		list = slices.DeleteFunc(h.roles(s.account), func(r id) bool { return slices.Contains(except, r) })
	default:
		list = h.someRoles(s.account)
		text = nameList(list)
		for _, r := range list {
			if !h.granted(s.account, r) {
				want = "3530"
			}
		}
	}
	h.apply(s, "SET ROLE "+text, want, func() { s.active = list })
}

func (h *history) changeVariables() {
	if h.rng.IntN(2) == 0 {
		h.activateAll = !h.activateAll
		h.apply(nil, fmt.Sprint("SET GLOBAL activate_all_roles_on_login = ", h.activateAll), "", nil)
		return
	}
	h.mandatory = nil
	var names []string
	for _, r := range roles {
		if h.rng.IntN(5) == 0 {
			h.mandatory, names = append(h.mandatory, r), append(names, r.String())
		}
	}
	h.apply(nil, "SET GLOBAL mandatory_roles = '"+strings.Join(names, ",")+"'", "", nil)
}

// changeDynamic grants or revokes a dynamic privilege.
func (h *history) changeDynamic() {
	n, p := h.anyID(), pick(h, dynamic)
	var s *session
	want := ""
	if h.rng.IntN(3) == 0 {
		s = pick(h, h.sessions)
		a := h.actor(s)
		if !h.any(func(f fact) bool { return slices.Contains(a.ids, f.of) && f.privilege == p && f.option }) {
			want = "1227 Access denied; you need (at least one of) the GRANT OPTION privilege(s) for this operation"
		}
	}
	if h.rng.IntN(3) == 0 {
		if want == "" && !h.exists(n) {
			want = "1141"
		}
		h.apply(s, "REVOKE "+p+" ON *.* FROM "+quoted(n), want, func() {
			h.remove(func(f fact) bool { return f.of == n && f.privilege == p })
		})
		return
	}
	if want == "" && !h.exists(n) {
		want = "1410"
	}
	f := fact{of: n, privilege: p, option: h.rng.IntN(2) == 0}
	h.apply(s, "GRANT "+p+" ON *.* TO "+quoted(n)+option(f.option), want, func() { h.add(f) })
}

func option(is bool) string {
	if is {
		return " WITH GRANT OPTION"
	}
	return ""
}

// grant is a GRANT or REVOKE of static privileges.
type grant struct {
	db, table  string // db is a pattern where table is empty
	privileges []string
	columns    [][]string // of each privilege
	all        bool
	option     bool
}

// randomGrant is one at a random level.
func (h *history) randomGrant() *grant {
	g := &grant{option: h.rng.IntN(5) == 0}
	list := onServer
	switch level := h.rng.IntN(10); {
	case level == 0:
	case level < 4:
		g.db, list = pick(h, patterns), ofDatabases
	default:
		g.db, list = pick(h, databases), ofTables
		g.table = pick(h, []string{"t1", "t1", "t2", "e", ""})
		if g.table == "" {
			v := pick(h, h.views)
			g.db, g.table = v.db, v.name
		}
		if h.rng.IntN(2) == 0 {
			list = ofColumns
		}
	}
	if g.all = g.db != "" && h.rng.IntN(12) == 0; g.all {
		g.privileges = ofDatabases
		if g.table != "" {
			g.privileges = ofTables
		}
		return g
	}
	for range 1 + h.rng.IntN(3) {
		// Mostly those of questions.
		p := pick(h, list)
		if h.rng.IntN(2) == 0 {
			p = pick(h, []string{"SELECT", "UPDATE", "INSERT"})
		}
		if slices.Contains(g.privileges, p) {
			continue
		}
		var columns []string
		if g.table != "" && slices.Contains(ofColumns, p) && h.rng.IntN(2) == 0 {
			for _, c := range h.columns(g.table) {
				if h.rng.IntN(2) == 0 {
					columns = append(columns, c)
				}
			}
		}
		g.privileges, g.columns = append(g.privileges, p), append(g.columns, columns)
	}
	return g
}

func (h *history) columns(table string) []string {
	if c := columnsOf[table]; c != nil {
		return c
	}
	return []string{"id", "a"}
}

func (g *grant) list() string {
	if g.all {
		return "ALL"
	}
	var out []string
	for i, p := range g.privileges {
		if len(g.columns[i]) > 0 {
			p += " (" + strings.Join(g.columns[i], ", ") + ")"
		}
		out = append(out, p)
	}
	return strings.Join(out, ", ")
}

func (g *grant) on() string {
	switch {
	case g.db == "":
		return " ON *.*"
	case g.table == "":
		return " ON `" + g.db + "`.*"
	}
	return " ON `" + g.db + "`." + g.table
}

// each calls fn for the facts that the grant has.
func (g *grant) each(of id, fn func(f fact)) {
	for i, p := range g.privileges {
		if g.columns == nil || len(g.columns[i]) == 0 {
			fn(fact{of: of, db: g.db, table: g.table, privilege: p})
			continue
		}
		for _, c := range g.columns[i] {
			fn(fact{of: of, db: g.db, table: g.table, column: c, privilege: p})
		}
	}
}

// changeGrant grants or revokes static privileges.
func (h *history) changeGrant() {
	n, g := h.anyID(), h.randomGrant()
	var s *session
	want := ""
	revoke := h.rng.IntN(4) == 0
	if h.rng.IntN(4) == 0 {
		s = pick(h, h.sessions)
		want = h.actor(s).mayGrant(g, g.option && !revoke)
	}
	if revoke {
		if want == "" {
			want = h.notGranted(n, g)
		}
		h.apply(s, "REVOKE "+g.list()+g.on()+" FROM "+quoted(n), want, func() { h.revoke(n, g) })
		return
	}
	if want == "" && !h.exists(n) {
		want = "1410"
	}
	h.apply(s, "GRANT "+g.list()+g.on()+" TO "+quoted(n)+option(g.option), want, func() {
		g.each(n, h.add)
		if g.option {
			h.add(fact{of: n, db: g.db, table: g.table, privilege: "GRANT OPTION"})
		}
	})
}

// revoke forgets what a grant has. A privilege on a table goes with those on its columns.
func (h *history) revoke(n id, g *grant) {
	g.each(n, func(x fact) {
		h.remove(func(f fact) bool {
			return f.of == n && f.db == x.db && f.table == x.table && f.privilege == x.privilege && (f.column == x.column || x.column == "")
		})
	})
}

// notGranted is the error of a REVOKE: an id has nothing on the database, on the table or
// on a column.
func (h *history) notGranted(n id, g *grant) string {
	has := func(column string) bool {
		return h.any(func(f fact) bool {
			return f.of == n && f.db == g.db && f.table == g.table && (column == "" || f.column == column)
		})
	}
	switch {
	case !h.exists(n), g.db != "" && g.table == "" && !has(""):
		return "1141"
	case g.table == "":
		return ""
	case !has(""):
		return "1147"
	}
	for _, columns := range g.columns {
		for _, c := range columns {
			if !has(c) {
				return "1147"
			}
		}
	}
	return ""
}

// mayGrant is the error of an account that grants or revokes what it may not: it needs what
// it grants and GRANT OPTION.
func (a *actor) mayGrant(g *grant, _ bool) string {
	whole, missing := append(slices.Clone(g.privileges), "GRANT OPTION"), []string{}
	isColumn := map[string]bool{}
	for i, columns := range g.columns {
		isColumn[g.privileges[i]] = len(columns) > 0
	}
	for _, p := range whole {
		if isColumn[p] {
			continue
		}
		ok := false
		switch {
		case g.db == "":
			ok = a.global(p)
		case g.table == "":
			ok = a.onPattern(g.db, p)
		default:
			ok = a.onTable(g.db, g.table, p)
		}
		if !ok {
			missing = append(missing, p)
		}
	}
	switch {
	case len(missing) > 0 && g.db == "":
		return fmt.Sprintf("1045 Access denied for user '%s'@'%s' (using password: NO)", a.account.user, a.account.host)
	case len(missing) > 0 && g.table == "":
		return a.noDatabase(g.db)
	case len(missing) > 0:
		return fmt.Sprintf("1142 %s command denied to user '%s'@'localhost' for table '%s'", inOrder(missing), a.account.user, g.table)
	}
	for i, columns := range g.columns {
		for _, c := range columns {
			if !a.onColumn(g.db, g.table, c, g.privileges[i]) {
				return "1143"
			}
		}
	}
	return ""
}

// inOrder are privileges as errors list them.
func inOrder(list []string) string {
	var out []string
	for _, p := range slices.Concat(ofTables[:6], []string{"GRANT OPTION"}, ofTables[6:]) {
		if slices.Contains(list, p) {
			out = append(out, strings.TrimSuffix(p, " OPTION"))
		}
	}
	return strings.Join(out, ", ")
}

// onPattern reports a privilege to grant on a pattern: one on the same pattern, or, of a
// plain name, on that database.
func (a *actor) onPattern(pattern, privilege string) bool {
	if a.m.any(func(f fact) bool {
		return slices.Contains(a.ids, f.of) && f.db == pattern && f.table == "" && f.privilege == privilege
	}) {
		return true
	}
	if fixed(pattern) < 1000 {
		return a.global(privilege)
	}
	return a.onDatabase(strings.ReplaceAll(pattern, `\`, ""), privilege)
}
