package privileges

import (
	"database/sql"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// copyTables are the tables on which the accounts have grants.
var copyTables = []string{"CREATE DATABASE `aab`", "CREATE DATABASE `a``_\\b`", "CREATE DATABASE `daten ü`",
	"CREATE TABLE `aab`.`t1` (id INT PRIMARY KEY, `a``b` INT, `größe` INT, `select` INT)", "CREATE TABLE `a``_\\b`.`t '2\\` (id INT PRIMARY KEY, `x y` INT)",
	"CREATE TABLE `daten ü`.`täble` (id INT PRIMARY KEY, `%` INT)"}

// copied are the tables with their columns, as the statements write them.
var copied = []struct {
	db, table string
	columns   []string
}{
	{"`aab`", "`t1`", []string{"id", "`a``b`", "`größe`", "`select`"}},
	{"`a``_\\b`", "`t '2\\`", []string{"`id`", "`x y`"}},
	{"`daten ü`", "`täble`", []string{"id", "`%`"}},
}

// compared are queries whose answers a copy of the accounts has as well.
var compared = []string{
	"SELECT * FROM mysql.db ORDER BY 1, 2, 3", "SELECT Host, Db, User, Table_name, Grantor, Table_priv, Column_priv FROM mysql.tables_priv ORDER BY 1, 2, 3, 4",
	"SELECT Host, Db, User, Table_name, Column_name, Column_priv FROM mysql.columns_priv ORDER BY 1, 2, 3, 4, 5", "SELECT * FROM mysql.global_grants ORDER BY 1, 2, 3",
	"SELECT * FROM mysql.role_edges ORDER BY 1, 2, 3, 4", "SELECT * FROM mysql.default_roles ORDER BY 1, 2, 3, 4",
	"SELECT * FROM information_schema.user_privileges ORDER BY 1, 3", "SELECT * FROM information_schema.schema_privileges ORDER BY 1, 3, 4",
	"SELECT * FROM information_schema.table_privileges ORDER BY 1, 3, 4, 5", "SELECT * FROM information_schema.column_privileges ORDER BY 1, 3, 4, 5, 6",
	"SELECT * FROM information_schema.user_attributes ORDER BY 1, 2",
}

// TestAccountsComeBack: what SHOW CREATE USER and SHOW GRANTS print makes the same accounts
// on an empty server.
func TestAccountsComeBack(t *testing.T) {
	c := &copies{t: t, rng: rand.New(rand.NewPCG(testflag.Seed(1), 2))}
	first := c.open()
	c.fill(first, testflag.Rounds(20, 80, 400))
	users := c.rows(first, "SELECT User, Host FROM mysql.user ORDER BY 1, 2")
	create, grants := c.shows(first, users)
	second := c.open()
	c.feed(second, create, grants)
	create2, grants2 := c.shows(second, users)
	c.same("SHOW CREATE USER", create, create2)
	c.same("SHOW GRANTS", grants, grants2)
	columns := c.rows(first, "SELECT column_name FROM information_schema.columns WHERE table_schema = 'mysql' AND table_name = 'user' AND column_name <> 'password_last_changed' ORDER BY ordinal_position")
	for _, q := range append([]string{"SELECT " + strings.Join(columns, ", ") + " FROM mysql.user ORDER BY User, Host", "SELECT User, Host FROM mysql.user ORDER BY 1, 2"}, compared...) {
		c.same(q, c.rows(first, q), c.rows(second, q))
	}
	t.Logf("%d accounts, %d grants", len(users), len(grants))
}

// copies is a server and its copy.
type copies struct {
	t   *testing.T
	rng *rand.Rand
}

func (c *copies) open() *sql.Conn {
	c.t.Helper()
	s := servertest.Start(c.t, server.Config{Durability: 1})
	h := &history{t: c.t, addr: s.Addr()}
	conn := h.connect("root")
	for _, text := range copyTables {
		c.must(conn, text)
	}
	return conn
}

func (c *copies) must(conn *sql.Conn, text string) {
	c.t.Helper()
	if _, refusal := run(conn, text); refusal != "" {
		c.t.Fatalf("%s: %s", text, refusal)
	}
}

// rows are those of a query, cells by NUL.
func (c *copies) rows(conn *sql.Conn, text string) (out []string) {
	c.t.Helper()
	rows, err := conn.QueryContext(c.t.Context(), text)
	if err != nil {
		c.t.Fatalf("%s: %v", text, err)
	}
	defer rows.Close()
	columns, err := rows.Columns()
	if err != nil {
		c.t.Fatal(err)
	}
	for rows.Next() {
		cells, ptrs := make([]sql.NullString, len(columns)), make([]any, len(columns))
		for i := range cells {
			ptrs[i] = &cells[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			c.t.Fatal(err)
		}
		line := make([]string, len(columns))
		for i, cell := range cells {
			line[i] = cell.String
		}
		out = append(out, strings.Join(line, "\x00"))
	}
	if err := rows.Err(); err != nil {
		c.t.Fatalf("%s: %v", text, err)
	}
	return out
}

func (c *copies) same(what string, a, b []string) {
	c.t.Helper()
	if len(a) != len(b) {
		c.t.Errorf("%s: %d lines and %d", what, len(a), len(b))
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			c.t.Errorf("-seed: %s:\n  was %s\nis now %s", what, a[i], b[i])
			return
		}
	}
}

// shows are SHOW CREATE USER and SHOW GRANTS of all accounts.
func (c *copies) shows(conn *sql.Conn, users []string) (create, grants []string) {
	for _, line := range users {
		user, host, _ := strings.Cut(line, "\x00")
		name := literal(user) + "@" + literal(host)
		create = append(create, c.rows(conn, "SHOW CREATE USER "+name)...)
		grants = append(grants, c.rows(conn, "SHOW GRANTS FOR "+name)...)
	}
	return create, grants
}

// feed runs the statements on the empty server: an account comes after its default roles.
func (c *copies) feed(conn *sql.Conn, create, grants []string) {
	c.t.Helper()
	todo := slices.DeleteFunc(slices.Clone(create), func(text string) bool { return strings.HasPrefix(text, "CREATE USER `root`@`%`") })
	for len(todo) > 0 {
		var later []string
		refusal := ""
		for _, text := range todo {
			if _, r := run(conn, text); strings.HasPrefix(r, "3523 ") {
				later, refusal = append(later, text), r
			} else if r != "" {
				c.t.Fatalf("%s: %s", text, r)
			}
		}
		if len(later) == len(todo) {
			c.t.Fatalf("%s: %s", later[0], refusal)
		}
		todo = later
	}
	for _, text := range grants {
		c.must(conn, text)
	}
}

func literal(s string) string {
	return "'" + strings.NewReplacer(`\`, `\\`, `'`, `''`).Replace(s) + "'"
}

var (
	oddUsers = []string{"", "plain", "q'uote", `dou"ble`, `back\slash`, "back`tick", "with space", "ünïcode", "漢字", "semi;colon", "a@b", "-- c", "/* c", "%", "_", "tab\there",
		"new\nline", "null", "select", "0", strings.Repeat("ü", 32), strings.Repeat("x", 32)}
	oddHosts = []string{"%", "localhost", "%.example.com", "EXAMPLE.com", "10.0.0.0/255.255.255.0", "10.1.0.0/16", "::1", "2001:db8::/32", "fe80::1", "a_b", "192.168.%", "198.51.100.7", "host-1"}
	// accountChoices are clauses of CREATE USER, of each list one or none, in the order that
	// the grammar has.
	accountChoices = [][]string{
		{"REQUIRE NONE", "REQUIRE SSL", "REQUIRE X509", "REQUIRE ISSUER '/C=SE/O=x''y'", "REQUIRE SUBJECT '/CN=a\\\\b' AND ISSUER 'i' AND CIPHER 'AES'", "REQUIRE CIPHER 'ü'"},
		{"WITH MAX_QUERIES_PER_HOUR 5", "WITH MAX_UPDATES_PER_HOUR 4294967295 MAX_CONNECTIONS_PER_HOUR 2", "WITH MAX_USER_CONNECTIONS 3 MAX_QUERIES_PER_HOUR 0"},
		{"PASSWORD EXPIRE", "PASSWORD EXPIRE DEFAULT", "PASSWORD EXPIRE NEVER", "PASSWORD EXPIRE INTERVAL 65535 DAY"},
		{"PASSWORD HISTORY DEFAULT", "PASSWORD HISTORY 5", "PASSWORD HISTORY 0"},
		{"PASSWORD REUSE INTERVAL DEFAULT", "PASSWORD REUSE INTERVAL 365 DAY", "PASSWORD REUSE INTERVAL 0 DAY"},
		{"PASSWORD REQUIRE CURRENT", "PASSWORD REQUIRE CURRENT DEFAULT", "PASSWORD REQUIRE CURRENT OPTIONAL"},
		{"FAILED_LOGIN_ATTEMPTS 3", "FAILED_LOGIN_ATTEMPTS 4 PASSWORD_LOCK_TIME 2", "FAILED_LOGIN_ATTEMPTS 32767 PASSWORD_LOCK_TIME UNBOUNDED", "PASSWORD_LOCK_TIME 7"},
		{"ACCOUNT LOCK", "ACCOUNT UNLOCK"},
		{"COMMENT 'it''s \\\\ \"quoted\"\\n'", `ATTRIBUTE '{"k": [1, "ü", {"a\\\\b": null}], "comment": "c"}'`, "ATTRIBUTE '{}'", "COMMENT ''"},
	}
	passwords = []string{"", " IDENTIFIED BY 'secret-1'", " IDENTIFIED WITH mysql_native_password BY 'pw''x'", " IDENTIFIED WITH caching_sha2_password BY 'p\\\\ü'", " IDENTIFIED WITH mysql_native_password"}
)

func (c *copies) pick(list []string) string { return list[c.rng.IntN(len(list))] }

// fill makes random accounts and roles with random grants.
func (c *copies) fill(conn *sql.Conn, n int) {
	c.t.Helper()
	var names, roles []string
	seen := map[string]bool{}
	for range n {
		user, host := c.pick(oddUsers), c.pick(oddHosts)
		name := literal(user) + "@" + literal(host)
		if seen[strings.ToLower(name)] {
			continue
		}
		seen[strings.ToLower(name)] = true
		if user != "" && c.rng.IntN(3) == 0 {
			c.must(conn, "CREATE ROLE "+name)
			roles = append(roles, name)
		} else {
			c.createUser(conn, user, name)
		}
		names = append(names, name)
	}
	for range 8 * n {
		c.grant(conn, names, roles)
	}
	for _, name := range names {
		if c.rng.IntN(2) == 0 {
			run(conn, "SET DEFAULT ROLE ALL TO "+name)
		}
	}
}

func (c *copies) createUser(conn *sql.Conn, user, name string) {
	c.t.Helper()
	text := "CREATE USER " + name + c.pick(passwords)
	for _, list := range accountChoices {
		if c.rng.IntN(2) == 0 {
			continue
		}
		if clause := c.pick(list); user != "" || !strings.HasPrefix(clause, "PASSWORD EXPIRE") {
			text += " " + clause
		}
	}
	c.must(conn, text)
}

// grant is one GRANT, and sometimes a REVOKE.
func (c *copies) grant(conn *sql.Conn, names, roles []string) {
	c.t.Helper()
	name := c.pick(names)
	some := func(list []string) string {
		list = slices.Clone(list)
		c.rng.Shuffle(len(list), func(i, j int) { list[i], list[j] = list[j], list[i] })
		return strings.Join(list[:1+c.rng.IntN(len(list))], ", ")
	}
	with := func(text string) string {
		if c.rng.IntN(4) == 0 {
			return text
		}
		return ""
	}
	option := with(" WITH GRANT OPTION")
	table := copied[c.rng.IntN(len(copied))]
	switch c.rng.IntN(9) {
	case 0:
		c.must(conn, "GRANT "+some(append(slices.Clone(onServer), "CREATE ROLE", "CREATE TABLESPACE", "REPLICATION SLAVE"))+" ON *.* TO "+name+option)
	case 1:
		c.must(conn, "GRANT "+some(dynamic)+" ON *.* TO "+name+option)
	case 2, 3:
		pattern := c.pick([]string{"`aab`", "`a\\_b`", "`a%`", "`%`", "`a``_\\b`", "`daten ü`", "`nowhere`", "`_`"})
		c.must(conn, "GRANT "+some(ofDatabases)+" ON "+pattern+".* TO "+name+option)
	case 4:
		c.must(conn, "GRANT "+c.pick([]string{"ALL ON " + table.db + ".*", "ALL ON " + table.db + "." + table.table, "USAGE ON *.*"})+" TO "+name+option)
	case 5:
		c.must(conn, "GRANT "+some(ofTables)+" ON "+table.db+"."+table.table+" TO "+name+option)
	case 6:
		c.must(conn, "GRANT "+c.pick(ofColumns)+" ("+some(table.columns)+"), "+c.pick(ofColumns)+" ("+some(table.columns)+"), "+c.pick(ofTables)+" ON "+table.db+"."+table.table+" TO "+name+option)
	case 7:
		if len(roles) > 0 { // or a circle
			run(conn, "GRANT "+c.pick(roles)+" TO "+name+with(" WITH ADMIN OPTION"))
		}
	case 8:
		run(conn, "REVOKE "+c.pick(ofColumns)+" ON "+table.db+"."+table.table+" FROM "+name)
	}
}
