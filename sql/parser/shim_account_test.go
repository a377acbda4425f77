package parser

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/auth"
	"github.com/pingcap/tidb/pkg/parser/format"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
)

// TestAccounts: the node of a statement as text, * for the text of the statement, and its
// clauses, "" for a statement without them.
func TestAccounts(t *testing.T) {
	p := New()
	for _, c := range []struct{ sql, node, clauses string }{
		{"GRANT SELECT (`a`), SYSTEM_VARIABLES_ADMIN, FOO_ADMIN ON `d\\_%`.* TO `u`@`%`, CURRENT_USER WITH GRANT OPTION", "*", ""},
		{"GRANT CREATE ROLE, DROP ROLE ON TABLE * TO CURRENT_USER()", "GRANT CREATE ROLE, DROP ROLE ON TABLE * TO CURRENT_USER", ""},
		{"GRANT 'FOO_ADMIN', config, SELECT (a), EVENT ON *.* TO u", "GRANT FOO_ADMIN, CONFIG, SELECT (`a`), EVENT ON *.* TO `u`@`%`", ""},
		{"GRANT SELECT ON *.* TO u AS root", "GRANT SELECT ON *.* TO `u`@`%`", "as root@%"},
		{"GRANT ALL ON FUNCTION d.f TO u WITH GRANT OPTION AS 'a'@'H' WITH ROLE r, 's'@'H'", "GRANT ALL ON FUNCTION `d`.`f` TO `u`@`%` WITH GRANT OPTION", "as a@h roles r@% s@h"},
		{"GRANT SELECT ON t TO u AS CURRENT_USER() WITH ROLE DEFAULT", "GRANT SELECT ON `t` TO `u`@`%`", "as current roles DEFAULT"},
		{"GRANT SELECT ON t TO u AS CURRENT_USER WITH ROLE NONE", "GRANT SELECT ON `t` TO `u`@`%`", "as current roles NONE"},
		{"GRANT SELECT ON t TO u AS a WITH ROLE ALL", "GRANT SELECT ON `t` TO `u`@`%`", "as a@% roles ALL"},
		{"GRANT SELECT ON t TO u AS a WITH ROLE ALL EXCEPT admin, r@h", "GRANT SELECT ON `t` TO `u`@`%`", "as a@% roles ALL EXCEPT admin@% r@h"},
		{"GRANT `r`@`%`, `s`@`h` TO `u`@`%`, CURRENT_USER", "*", ""},
		{"GRANT admin, 's'@'h' TO u, CURRENT_USER()", "GRANT `admin`@`%`, `s`@`h` TO `u`@`%`, CURRENT_USER", ""},
		{"GRANT r, admin@h TO u WITH ADMIN OPTION", "GRANT `r`@`%`, `admin`@`h` TO `u`@`%`", "admin"},
		{"GRANT PROXY ON `u`@`%` TO `v`@`%` WITH GRANT OPTION", "*", ""},
		{"GRANT SELECT ON *.* TO u IDENTIFIED BY 'x'", "GRANT SELECT ON *.* TO `u`@`%` IDENTIFIED BY 'x'", ""},
		{"REVOKE IF EXISTS SELECT, FOO ON d.* FROM u, CURRENT_USER() IGNORE UNKNOWN USER", "REVOKE SELECT, FOO ON `d`.* FROM `u`@`%`, CURRENT_USER", "exists unknown"},
		{"REVOKE IF EXISTS ALL PRIVILEGES, GRANT OPTION FROM u", "REVOKE ALL, GRANT OPTION ON *.* FROM `u`@`%`", "exists"},
		{"REVOKE ALL, GRANT OPTION FROM u IGNORE UNKNOWN USER", "REVOKE ALL, GRANT OPTION ON *.* FROM `u`@`%`", "unknown"},
		{"REVOKE ALL ON d.* FROM u IGNORE UNKNOWN USER", "REVOKE ALL ON `d`.* FROM `u`@`%`", "unknown"},
		{"REVOKE GRANT OPTION ON `d`.* FROM `u`@`%`", "*", ""},
		{"REVOKE IF EXISTS r, 'admin'@'h' FROM u, v IGNORE UNKNOWN USER", "REVOKE `r`@`%`, `admin`@`h` FROM `u`@`%`, `v`@`%`", "exists unknown"},
		{"REVOKE admin FROM u", "REVOKE `admin`@`%` FROM `u`@`%`", ""},
		{"CREATE ROLE IF NOT EXISTS admin, 'r'@'h', comment@h", "CREATE ROLE IF NOT EXISTS `admin`@`%`, `r`@`h`, `comment`@`h`", ""},
		{"DROP ROLE IF EXISTS r, admin", "DROP ROLE IF EXISTS `r`@`%`, `admin`@`%`", ""},
		{"SET ROLE DEFAULT", "*", ""},
		{"SET ROLE ALL EXCEPT admin, r@h", "SET ROLE ALL EXCEPT `admin`@`%`, `r`@`h`", ""},
		{"SET ROLE admin", "SET ROLE `admin`@`%`", ""},
		{"SET DEFAULT ROLE NONE TO `u`@`%`, CURRENT_USER", "*", ""},
		{"SET DEFAULT ROLE r, admin TO u, admin", "SET DEFAULT ROLE `r`@`%`, `admin`@`%` TO `u`@`%`, `admin`@`%`", ""},
		{"CREATE USER IF NOT EXISTS u IDENTIFIED BY RANDOM PASSWORD, v@h IDENTIFIED WITH p BY RANDOM PASSWORD, w IDENTIFIED BY 'x'",
			"CREATE USER IF NOT EXISTS `u`@`%`, `v`@`h` IDENTIFIED WITH 'p', `w`@`%` IDENTIFIED BY 'x'", "[random] [random] []"},
		{"CREATE USER u IDENTIFIED WITH p AS 'h', v IDENTIFIED WITH p AS x'41' DEFAULT ROLE r, admin@h REQUIRE SSL WITH MAX_USER_CONNECTIONS 2 ACCOUNT LOCK COMMENT 'c'",
			"CREATE USER `u`@`%` IDENTIFIED WITH 'p' AS 'h', `v`@`%` IDENTIFIED WITH 'p' AS 'A' REQUIRE SSL WITH MAX_USER_CONNECTIONS 2 ACCOUNT LOCK COMMENT 'c'", "default r@% admin@h [] []"},
		{"CREATE USER u ACCOUNT LOCK PASSWORD REQUIRE CURRENT OPTIONAL PASSWORD EXPIRE", "CREATE USER `u`@`%` ACCOUNT LOCK PASSWORD EXPIRE", "OPTIONAL []"},
		{"ALTER USER u PASSWORD REQUIRE CURRENT OPTIONAL PASSWORD REQUIRE CURRENT ACCOUNT UNLOCK ATTRIBUTE '{}'", "ALTER USER `u`@`%` ACCOUNT UNLOCK ATTRIBUTE '{}'", "REQUIRED []"},
		{"ALTER USER `u`@`%` REQUIRE CIPHER 'c' AND ISSUER 'i' AND SUBJECT 's' WITH MAX_QUERIES_PER_HOUR 1 PASSWORD HISTORY 5 PASSWORD REUSE INTERVAL 3 DAY PASSWORD HISTORY DEFAULT FAILED_LOGIN_ATTEMPTS 3 PASSWORD_LOCK_TIME UNBOUNDED", "*", ""},
		{"ALTER USER u IDENTIFIED BY 'x' REPLACE 'it''s' RETAIN CURRENT PASSWORD, v DISCARD OLD PASSWORD, w IDENTIFIED WITH p AS 'h' RETAIN CURRENT PASSWORD PASSWORD EXPIRE",
			"ALTER USER `u`@`%` IDENTIFIED BY 'x', `v`@`%`, `w`@`%` IDENTIFIED WITH 'p' AS 'h' PASSWORD EXPIRE", "[replace=it's retain] [discard] [retain]"},
		{"ALTER USER IF EXISTS u IDENTIFIED WITH p BY 'x' REPLACE '', v IDENTIFIED BY RANDOM PASSWORD REPLACE 'y'", "ALTER USER IF EXISTS `u`@`%` IDENTIFIED WITH 'p' BY 'x', `v`@`%`", "[replace=] [random replace=y]"},
		{"ALTER USER USER() IDENTIFIED BY 'x'", "*", ""},
		{"ALTER USER USER() IDENTIFIED BY 'x' REPLACE 'y' RETAIN CURRENT PASSWORD", "ALTER USER CURRENT_USER IDENTIFIED BY 'x'", "[replace=y retain]"},
		{"ALTER USER IF EXISTS USER() IDENTIFIED BY RANDOM PASSWORD", "ALTER USER IF EXISTS CURRENT_USER", "[random]"},
		{"ALTER USER USER() DISCARD OLD PASSWORD", "ALTER USER CURRENT_USER", "[discard]"},
		{"ALTER USER CURRENT_USER() DISCARD OLD PASSWORD ACCOUNT LOCK", "ALTER USER CURRENT_USER ACCOUNT LOCK", "[discard]"},
		{"ALTER USER CURRENT_USER() DEFAULT ROLE ALL", "ALTER USER CURRENT_USER", "default ALL []"},
		{"ALTER USER IF EXISTS u@h DEFAULT ROLE NONE", "ALTER USER IF EXISTS `u`@`h`", "default NONE []"},
		{"ALTER USER u DEFAULT ROLE r, admin@h", "ALTER USER `u`@`%`", "default r@% admin@h []"},
		{"DROP USER IF EXISTS `u`@`%`, CURRENT_USER", "*", ""},
		{"RENAME USER CURRENT_USER() TO v, a@b TO c", "RENAME USER CURRENT_USER TO `v`@`%`, `a`@`b` TO `c`@`%`", ""},
		{"SET PASSWORD='x'", "*", ""},
		{"SET PASSWORD := 'x'", "SET PASSWORD='x'", ""},
		{"SET PASSWORD := 'x' RETAIN CURRENT PASSWORD", "SET PASSWORD='x'", "[retain]"},
		{"SET PASSWORD FOR u@h = 'x' REPLACE 'y' RETAIN CURRENT PASSWORD", "SET PASSWORD FOR `u`@`h`='x'", "[replace=y retain]"},
		{"SET PASSWORD TO RANDOM", "SET PASSWORD=''", "[random]"},
		{"SET PASSWORD FOR CURRENT_USER() TO RANDOM REPLACE 'y'", "SET PASSWORD FOR CURRENT_USER=''", "[random replace=y]"},
		{"SHOW GRANTS FOR CURRENT_USER() USING admin, 'r'@'h'", "SHOW GRANTS FOR CURRENT_USER USING `admin`@`%`, `r`@`h`", ""},
		{"SHOW CREATE USER CURRENT_USER()", "SHOW CREATE USER CURRENT_USER", ""},
	} {
		st, err := p.Parse(c.sql, types.DefaultSQLMode)
		if err != nil {
			t.Errorf("%s: %v", c.sql, err)
			continue
		}
		want := c.node
		if want == "*" {
			want = c.sql
		}
		if node := nodeText(t, st.Node); node != want {
			t.Errorf("%s\n got %s\nwant %s", c.sql, node, want)
		}
		if got := clausesText(st.Account); got != c.clauses {
			t.Errorf("%s\n got %s\nwant %s", c.sql, got, c.clauses)
		}
		if (st.Account != nil) != (c.clauses != "") || st.Text != c.sql {
			t.Errorf("%s: %v, %s", c.sql, st.Account, st.Text)
		}
	}
}

func nodeText(t *testing.T, n ast.Node) string {
	t.Helper()
	var b strings.Builder
	if err := n.Restore(format.NewRestoreCtx(format.DefaultRestoreFlags, &b)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func clausesText(a *AccountClauses) string {
	if a == nil {
		return ""
	}
	var list []string
	add := func(has bool, text string) {
		if has {
			list = append(list, text)
		}
	}
	add(a.WithAdmin, "admin")
	if a.As != nil {
		add(a.As.CurrentUser, "as current")
		add(!a.As.CurrentUser, "as "+a.As.Username+"@"+a.As.Hostname)
	}
	add(a.AsRoles != nil, "roles "+choiceText(a.AsRoles))
	add(a.IfExists, "exists")
	add(a.IgnoreUnknown, "unknown")
	add(a.DefaultRole != nil, "default "+choiceText(a.DefaultRole))
	add(a.RequireCurrent != "", a.RequireCurrent)
	for _, u := range a.Users {
		var words []string
		for _, x := range []struct {
			has  bool
			word string
		}{{u.Random, "random"}, {u.Replace != nil, "replace=" + text(u.Replace)}, {u.Retain, "retain"}, {u.Discard, "discard"}} {
			if x.has {
				words = append(words, x.word)
			}
		}
		list = append(list, fmt.Sprint(words))
	}
	return strings.Join(list, " ")
}

func choiceText(c *RoleChoice) string {
	if c == nil {
		return ""
	}
	kinds := map[ast.SetRoleStmtType][]string{ast.SetRoleDefault: {"DEFAULT"}, ast.SetRoleNone: {"NONE"}, ast.SetRoleAll: {"ALL"}, ast.SetRoleAllExcept: {"ALL EXCEPT"}}
	list := kinds[c.Kind]
	for _, r := range c.Roles {
		list = append(list, r.Username+"@"+r.Hostname)
	}
	return strings.Join(list, " ")
}

func text(s *string) string {
	if s == nil {
		return ""
	}
	return *s
}

// TestAccountErrors: a syntax error shows the text as it was written.
func TestAccountErrors(t *testing.T) {
	p := New()
	for _, c := range []struct{ sql, near string }{
		{"GRANT r TO u WITH ADMIN", ""},
		{"GRANT r TO u WITH GRANT OPTION", "GRANT OPTION"},
		{"GRANT r TO u WITH ADMIN OPTION, v", ", v"},
		{"GRANT admin, event TO u", "event TO u"},
		{"GRANT admin, comment TO u x", "x"},
		{"GRANT SELECT TO u", "SELECT TO u"},
		{"GRANT r", ""},
		{"GRANT SELECT ON *.* FROM u", "FROM u"},
		{"GRANT SELECT ON *.* TO u AS", ""},
		{"GRANT SELECT ON *.* TO u AS a, v", ", v"},
		{"GRANT SELECT ON *.* TO u AS a WITH GRANT OPTION", "GRANT OPTION"},
		{"GRANT SELECT ON *.* TO u AS a WITH ROLE NONE, r", ", r"},
		{"REVOKE ALL FROM u", "FROM u"},
		{"REVOKE IF SELECT ON *.* FROM u", "SELECT ON *.* FROM u"},
		{"REVOKE ALL, GRANT OPTION FROM u IGNORE UNKNOWN", ""},
		{"REVOKE SELECT ON *.* FROM u IGNORE UNKNOWN USER, v", ", v"},
		{"CREATE ROLE admin, NONE", "NONE"},
		{"CREATE ROLE admin, comment@h bogus", "bogus"},
		{"SET ROLE r, DEFAULT", "DEFAULT"},
		{"SET DEFAULT ROLE admin FOR u", "FOR u"},
		{"SHOW GRANTS FOR u USING admin bogus", "bogus"},
		{"CREATE USER u DEFAULT ROLE NONE", "NONE"},
		{"CREATE USER u DEFAULT ROLE admin\n  ACCOUNT BOGUS", "BOGUS"},
		{"CREATE USER u IDENTIFIED BY RANDOM", ""},
		{"CREATE USER u IDENTIFIED BY 'x' REPLACE 'y'", "REPLACE <secret>"},
		{"CREATE USER u DISCARD OLD PASSWORD", "DISCARD OLD PASSWORD"},
		{"CREATE USER u IDENTIFIED BY PASSWORD 'x' DEFAULT ROLE r", "PASSWORD <secret> DEFAULT ROLE r"},
		{"CREATE USER u IDENTIFIED BY RANDOM PASSWORD BOGUS IDENTIFIED BY 'x'", "BOGUS IDENTIFIED BY <secret>"},
		{"CREATE USER u PASSWORD HISTORY 18446744073709551615", "CREATE USER u PASSWORD HISTORY 18446744073709551615"},
		{"ALTER USER u IDENTIFIED BY 'x' REPLACE y", "<secret>"},
		{"ALTER USER u IDENTIFIED BY 'x' RETAIN PASSWORD", "PASSWORD"},
		{"ALTER USER u IDENTIFIED BY 'x' RETAIN CURRENT PASSWORD REPLACE 'y'", "REPLACE <secret>"},
		{"ALTER USER u IDENTIFIED WITH p AS 'x' REPLACE 'y'", "REPLACE <secret>"},
		{"ALTER USER u IDENTIFIED BY 'x' DEFAULT ROLE r", "DEFAULT ROLE r"},
		{"ALTER USER u, v DEFAULT ROLE r", "DEFAULT ROLE r"},
		{"ALTER USER u DEFAULT ROLE DEFAULT", "DEFAULT"},
		{"ALTER USER u DEFAULT ROLE r REQUIRE SSL", "REQUIRE SSL"},
		{"ALTER USER USER() ACCOUNT LOCK", "ACCOUNT LOCK"},
		{"ALTER USER USER() IDENTIFIED WITH p BY 'x'", "WITH p BY <secret>"},
		{"ALTER USER USER() IDENTIFIED BY 'x' REPLACE 'y' ACCOUNT LOCK", "ACCOUNT LOCK"},
		{"SET PASSWORD TO 'x'", "<secret>"},
		{"SET PASSWORD TO RANDOM RETAIN CURRENT PASSWORD x", "x"},
		{"SET PASSWORD = 'x' REPLACE 'y', @a = 1", ", @a = <secret>"},
	} {
		_, err := p.Parse(c.sql, types.DefaultSQLMode)
		var e *sqlerr.Error
		want := fmt.Sprintf("to use near '%s' at line %d", c.near, 1+strings.Count(c.sql, "\n"))
		if !errors.As(err, &e) || e.Number != 1064 || !strings.HasSuffix(e.Message, want) {
			t.Errorf("%s: got %v, want %s", c.sql, err, want)
		}
	}
	for _, sql := range []string{
		"REVOKE IF EXISTS PROXY ON u FROM v", "CREATE USER u IDENTIFIED BY 'x' AND IDENTIFIED WITH p", "CREATE USER u IDENTIFIED WITH p INITIAL AUTHENTICATION IDENTIFIED BY 'x'",
		"ALTER USER u ADD 2 FACTOR IDENTIFIED BY 'x'", "ALTER USER u MODIFY 2 FACTOR IDENTIFIED BY 'x'", "ALTER USER u DROP 2 FACTOR", "ALTER USER u 2 FACTOR UNREGISTER", "ALTER USER USER() 2 FACTOR INITIATE REGISTRATION",
	} {
		if _, err := p.Parse(sql, types.DefaultSQLMode); !sqlerr.IsNotSupported(err) {
			t.Errorf("%s: %v", sql, err)
		}
	}
}

// TestAccountNames: names and passwords mean what they mean in their SQL mode.
func TestAccountNames(t *testing.T) {
	const ansi, plain = types.ModeANSIQuotes, types.ModeNoBackslashEscapes
	for _, c := range []struct {
		mode types.SQLMode
		name string
		want auth.UserIdentity
	}{
		{0, "a", auth.UserIdentity{Username: "a", Hostname: "%"}},
		{0, "a@127.0.0.1", auth.UserIdentity{Username: "a", Hostname: "127.0.0.1"}},
		{0, "'a''b\\'c' @'H'", auth.UserIdentity{Username: "a'b'c", Hostname: "h"}},
		{0, "\"a\"@\"%.H\"", auth.UserIdentity{Username: "a", Hostname: "%.h"}},
		{0, "`a``b`@`h``h`", auth.UserIdentity{Username: "a`b", Hostname: "h`h"}},
		{plain, "'a\\'@'h\\'", auth.UserIdentity{Username: "a\\", Hostname: "h\\"}},
		{ansi, "\"a\"\"b\"@\"h\"", auth.UserIdentity{Username: "a\"b", Hostname: "h"}},
		{0, "''@''", auth.UserIdentity{}},
		{0, "CURRENT_USER", auth.UserIdentity{CurrentUser: true}},
		{0, "CURRENT_USER ( )", auth.UserIdentity{CurrentUser: true}},
	} {
		st, err := New().Parse("GRANT SELECT ON *.* TO "+c.name+" AS "+c.name, c.mode)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		// TiDB's parser reads the same name.
		if u := st.Node.(*ast.GrantStmt).Users[0].User; *st.Account.As != c.want || *u != c.want {
			t.Errorf("%s: got %#v and %#v", c.name, st.Account.As, u)
		}
	}
	for _, c := range []struct {
		mode          types.SQLMode
		written, want string
	}{{0, `'a\'b'`, "a'b"}, {plain, `'a\''b'`, "a\\'b"}, {0, `"a'b"`, "a'b"}} {
		st, err := New().Parse("ALTER USER u IDENTIFIED BY 'x' REPLACE "+c.written, c.mode)
		if err != nil || *st.Account.Users[0].Replace != c.want {
			t.Errorf("%s: %v", c.written, err)
		}
	}
}

// TestAccountsShuffled: statements with words left out, twice or elsewhere give errors of
// MySQL, or a tree that the clauses fit to.
func TestAccountsShuffled(t *testing.T) {
	statements := []string{
		"GRANT SELECT ( a ) , 'x' , admin ON *.* TO u @h , CURRENT_USER ( ) WITH GRANT OPTION AS 'a' @'h' WITH ROLE ALL EXCEPT r , s",
		"GRANT admin , 'r' @'h' TO u WITH ADMIN OPTION",
		"REVOKE IF EXISTS ALL PRIVILEGES , GRANT OPTION FROM u IGNORE UNKNOWN USER",
		"CREATE USER IF NOT EXISTS u IDENTIFIED WITH p BY RANDOM PASSWORD , v IDENTIFIED WITH p AS x'41' DEFAULT ROLE r , admin REQUIRE SSL PASSWORD REQUIRE CURRENT OPTIONAL PASSWORD HISTORY 18446744073709551615",
		"ALTER USER USER ( ) IDENTIFIED BY 'x' REPLACE 'y' RETAIN CURRENT PASSWORD , v DISCARD OLD PASSWORD DEFAULT ROLE NONE",
		"SET PASSWORD FOR u = 'x' TO RANDOM REPLACE 'y' RETAIN CURRENT PASSWORD",
		"SET DEFAULT ROLE ALL EXCEPT admin , r TO u",
	}
	rnd := rand.New(rand.NewPCG(1, 2))
	p := New()
	for range testflag.Pick(2_000, 5_000, 100_000) {
		words := strings.Fields(statements[rnd.IntN(len(statements))])
		for range 1 + rnd.IntN(3) {
			i, j := rnd.IntN(len(words)), rnd.IntN(len(words))
			switch rnd.IntN(3) {
			case 0:
				words = append(words[:i:i], words[i+1:]...)
			case 1:
				words = append(words[:i+1:i+1], words[i:]...)
			default:
				words[i], words[j] = words[j], words[i]
			}
		}
		sql := strings.Join(words, " ")
		st, err := p.Parse(sql, types.DefaultSQLMode)
		var e *sqlerr.Error
		if err != nil && !errors.As(err, &e) {
			t.Fatalf("%s: %v", sql, err)
		}
		if err == nil && st.Account != nil && len(st.Account.Users) != accountsOf(st.Node) {
			t.Errorf("%s: %d", sql, len(st.Account.Users))
		}
	}
}

// accountsOf is the number of accounts that have clauses of their own.
func accountsOf(n ast.StmtNode) int {
	switch n := n.(type) {
	case *ast.CreateUserStmt:
		return len(n.Specs)
	case *ast.AlterUserStmt:
		return len(n.Specs)
	case *ast.SetPwdStmt:
		return 1
	}
	return 0
}
