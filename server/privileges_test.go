package server_test

import (
	"context"
	"database/sql"
	"fmt"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// leastPrivileges are statements with the privileges that suffice, and how each of these is
// missed: the refusal without it. "-" is a privilege whose lack shows in no error.
var leastPrivileges = []struct {
	stmt   string
	grants []string // GRANT … TO u
	errors []string
}{
	{"SELECT 1", nil, nil},
	{"SELECT id FROM p.t", []string{"SELECT (id) ON p.t"}, []string{"1142 SELECT command denied to user 'u'@'localhost' for table 't'"}},
	{"SELECT id, a FROM p.t", []string{"SELECT (id) ON p.t", "SELECT (a) ON p.t"},
		[]string{"1143 SELECT command denied to user 'u'@'localhost' for column 'id' in table 't'", "1143 SELECT command denied to user 'u'@'localhost' for column 'a' in table 't'"}},
	{"SELECT * FROM p.t", []string{"SELECT ON p.t"}, []string{"1142 SELECT command denied to user 'u'@'localhost' for table 't'"}},
	{"SELECT COUNT(*) FROM p.t", []string{"SELECT (a) ON p.t"}, []string{"1142 SELECT command denied to user 'u'@'localhost' for table 't'"}},
	{"SELECT id FROM p.t WHERE a > 0 ORDER BY b", []string{"SELECT (id, a) ON p.t", "SELECT (b) ON p.t"},
		[]string{"1143 SELECT command denied to user 'u'@'localhost' for column 'id' in table 't'", "1143 SELECT command denied to user 'u'@'localhost' for column 'b' in table 't'"}},
	{"SELECT (SELECT MAX(a) FROM p.t) FROM p.c", []string{"SELECT ON p.c", "SELECT (a) ON p.t"},
		[]string{"1142 SELECT command denied to user 'u'@'localhost' for table 'c'", "1142 SELECT command denied to user 'u'@'localhost' for table 't'"}},
	{"WITH x AS (SELECT a FROM p.t) SELECT * FROM x UNION SELECT id FROM p.c", []string{"SELECT (a) ON p.t", "SELECT (id) ON p.c"},
		[]string{"1142 SELECT command denied to user 'u'@'localhost' for table 't'", "1142 SELECT command denied to user 'u'@'localhost' for table 'c'"}},
	{"SELECT id FROM p.t FOR UPDATE", []string{"SELECT ON p.t", "UPDATE ON p.t"},
		[]string{"1142 SELECT command denied to user 'u'@'localhost' for table 't'", "1142 SELECT with locking clause command denied to user 'u'@'localhost' for table 't'"}},
	{"SELECT id FROM p.v", []string{"SELECT (id) ON p.v"}, []string{"1142 SELECT command denied to user 'u'@'localhost' for table 'v'"}},
	{"SELECT id FROM p.iv", []string{"SELECT ON p.iv", "SELECT (id, a) ON p.t"},
		[]string{"1142 SELECT command denied to user 'u'@'localhost' for table 'iv'",
			"1356 View 'p.iv' references invalid table(s) or column(s) or function(s) or definer/invoker of view lack rights to use them"}},
	{"INSERT INTO p.t (id, a) VALUES (9, 1)", []string{"INSERT (id, a) ON p.t"}, []string{"1142 INSERT command denied to user 'u'@'localhost' for table 't'"}},
	{"INSERT INTO p.t (id) VALUES (1) ON DUPLICATE KEY UPDATE a = b", []string{"INSERT ON p.t", "UPDATE (a) ON p.t", "SELECT (b) ON p.t"},
		[]string{"1142 INSERT command denied to user 'u'@'localhost' for table 't'", "1142 UPDATE command denied to user 'u'@'localhost' for table 't'",
			"1143 SELECT command denied to user 'u'@'localhost' for column 'b' in table 't'"}},
	{"INSERT INTO p.t (id, a) VALUES (9, id + 1)", []string{"INSERT ON p.t", "SELECT (id) ON p.t"},
		[]string{"1142 INSERT command denied to user 'u'@'localhost' for table 't'", "1143 SELECT command denied to user 'u'@'localhost' for column 'id' in table 't'"}},
	{"INSERT INTO p.t (id) VALUES (1) ON DUPLICATE KEY UPDATE a = VALUES(b)", []string{"INSERT ON p.t", "UPDATE (a) ON p.t", "SELECT (b) ON p.t"},
		[]string{"1142 INSERT command denied to user 'u'@'localhost' for table 't'", "1142 UPDATE command denied to user 'u'@'localhost' for table 't'",
			"1143 SELECT command denied to user 'u'@'localhost' for column 'b' in table 't'"}},
	{"INSERT INTO p.t (id) VALUES (1) AS n ON DUPLICATE KEY UPDATE a = n.id", []string{"INSERT ON p.t", "UPDATE (a) ON p.t"},
		[]string{"1142 INSERT command denied to user 'u'@'localhost' for table 't'", "1142 UPDATE command denied to user 'u'@'localhost' for table 't'"}},
	{"INSERT INTO p.c SELECT id, 1 FROM p.t WHERE id > 1", []string{"INSERT ON p.c", "SELECT (id) ON p.t"},
		[]string{"1142 INSERT command denied to user 'u'@'localhost' for table 'c'", "1142 SELECT command denied to user 'u'@'localhost' for table 't'"}},
	{"REPLACE INTO p.t VALUES (1, 1, 1)", []string{"INSERT ON p.t", "DELETE ON p.t"},
		[]string{"1142 INSERT command denied to user 'u'@'localhost' for table 't'", "1142 DELETE command denied to user 'u'@'localhost' for table 't'"}},
	{"UPDATE p.t SET a = 1", []string{"UPDATE (a) ON p.t"}, []string{"1142 UPDATE command denied to user 'u'@'localhost' for table 't'"}},
	{"UPDATE p.t SET a = b WHERE id = 1", []string{"UPDATE (a) ON p.t", "SELECT (b) ON p.t", "SELECT (id) ON p.t"},
		[]string{"1142 UPDATE command denied to user 'u'@'localhost' for table 't'", "1143 SELECT command denied to user 'u'@'localhost' for column 'b' in table 't'",
			"1143 SELECT command denied to user 'u'@'localhost' for column 'id' in table 't'"}},
	{"UPDATE p.t SET a = 1 WHERE b = 1", []string{"UPDATE (a) ON p.t", "SELECT (b) ON p.t"},
		[]string{"1142 UPDATE command denied to user 'u'@'localhost' for table 't'", "1143 SELECT command denied to user 'u'@'localhost' for column 'b' in table 't'"}},
	{"UPDATE p.t JOIN p.c USING (id) SET t.a = 1", []string{"UPDATE (a) ON p.t", "SELECT (id) ON p.t", "SELECT (id) ON p.c"},
		[]string{"1143 UPDATE command denied to user 'u'@'localhost' for column 'a' in table 't'", "1143 SELECT command denied to user 'u'@'localhost' for column 'id' in table 't'",
			"1142 SELECT command denied to user 'u'@'localhost' for table 'c'"}},
	{"UPDATE p.v SET a = 1 WHERE id = 1", []string{"UPDATE (a) ON p.v", "SELECT (id) ON p.v"},
		[]string{"1142 UPDATE command denied to user 'u'@'localhost' for table 'v'", "1143 SELECT command denied to user 'u'@'localhost' for column 'id' in table 'v'"}},
	{"DELETE FROM p.t", []string{"DELETE ON p.t"}, []string{"1142 DELETE command denied to user 'u'@'localhost' for table 't'"}},
	{"DELETE FROM p.t WHERE a = 1", []string{"DELETE ON p.t", "SELECT (a) ON p.t"},
		[]string{"1142 DELETE command denied to user 'u'@'localhost' for table 't'", "1143 SELECT command denied to user 'u'@'localhost' for column 'a' in table 't'"}},
	{"DELETE p.t FROM p.t JOIN p.c USING (id)", []string{"DELETE ON p.t", "SELECT (id) ON p.t", "SELECT (id) ON p.c"},
		[]string{"1142 DELETE command denied to user 'u'@'localhost' for table 't'", "1142 SELECT command denied to user 'u'@'localhost' for table 't'",
			"1142 SELECT command denied to user 'u'@'localhost' for table 'c'"}},
	{"CREATE TABLE p.n (a INT)", []string{"CREATE ON p.*"}, []string{"1142 CREATE command denied to user 'u'@'localhost' for table 'n'"}},
	{"CREATE TABLE p.n LIKE p.t", []string{"CREATE ON p.*", "SELECT ON p.t"},
		[]string{"1142 CREATE command denied to user 'u'@'localhost' for table 'n'", "1142 SELECT command denied to user 'u'@'localhost' for table 't'"}},
	{"CREATE TABLE p.n SELECT id FROM p.t", []string{"CREATE ON p.*", "INSERT ON p.*", "SELECT (id) ON p.t"},
		[]string{"1142 CREATE command denied to user 'u'@'localhost' for table 'n'", "1142 INSERT command denied to user 'u'@'localhost' for table 'n'",
			"1142 SELECT command denied to user 'u'@'localhost' for table 't'"}},
	{"CREATE TABLE p.n (a INT, FOREIGN KEY (a) REFERENCES p.t (id))", []string{"CREATE ON p.*", "REFERENCES (id) ON p.t"},
		[]string{"1142 CREATE command denied to user 'u'@'localhost' for table 'n'", "1142 REFERENCES command denied to user 'u'@'localhost' for table 't'"}},
	{"CREATE TEMPORARY TABLE p.n (a INT)", []string{"CREATE TEMPORARY TABLES ON p.*"}, []string{"1044 Access denied for user 'u'@'%' to database 'p'"}},
	{"ALTER TABLE p.t ADD z INT", []string{"ALTER ON p.t"}, []string{"1142 ALTER command denied to user 'u'@'localhost' for table 't'"}},
	{"ALTER TABLE p.t RENAME p.n", []string{"ALTER ON p.t", "DROP ON p.t", "CREATE, INSERT ON p.*"},
		[]string{"1142 ALTER command denied to user 'u'@'localhost' for table 't'", "1142 DROP command denied to user 'u'@'localhost' for table 't'",
			"1142 INSERT, CREATE command denied to user 'u'@'localhost' for table 'n'"}},
	{"CREATE INDEX i ON p.t (a)", []string{"INDEX ON p.t"}, []string{"1142 INDEX command denied to user 'u'@'localhost' for table 't'"}},
	{"DROP TABLE p.c", []string{"DROP ON p.c"}, []string{"1142 DROP command denied to user 'u'@'localhost' for table 'c'"}},
	{"TRUNCATE p.c", []string{"DROP ON p.c"}, []string{"1142 DROP command denied to user 'u'@'localhost' for table 'c'"}},
	{"RENAME TABLE p.c TO p.n", []string{"ALTER, DROP ON p.c", "CREATE, INSERT ON p.*"},
		[]string{"1142 DROP, ALTER command denied to user 'u'@'localhost' for table 'c'", "1142 INSERT, CREATE command denied to user 'u'@'localhost' for table 'n'"}},
	{"CREATE VIEW p.w AS SELECT id FROM p.t", []string{"CREATE VIEW ON p.*", "SELECT (id) ON p.t"},
		[]string{"1142 CREATE VIEW command denied to user 'u'@'localhost' for table 'w'", "1142 SELECT command denied to user 'u'@'localhost' for table 't'"}},
	{"CREATE DEFINER = o@'%' VIEW p.w AS SELECT 1", []string{"CREATE VIEW ON p.*", "SET_ANY_DEFINER ON *.*"},
		[]string{"1142 CREATE VIEW command denied to user 'u'@'localhost' for table 'w'",
			"1227 Access denied; you need (at least one of) the SUPER or SET_ANY_DEFINER privilege(s) for this operation"}},
	{"DROP VIEW p.v", []string{"DROP ON p.v"}, []string{"1142 DROP command denied to user 'u'@'localhost' for table 'v'"}},
	{"CREATE DATABASE q", []string{"CREATE ON q.*"}, []string{"1044 Access denied for user 'u'@'%' to database 'q'"}},
	{"ALTER DATABASE p COLLATE utf8mb4_bin", []string{"ALTER ON p.*"}, []string{"1044 Access denied for user 'u'@'%' to database 'p'"}},
	{"DROP DATABASE p", []string{"DROP ON p.*"}, []string{"1044 Access denied for user 'u'@'%' to database 'p'"}},
	{"USE p", []string{"SELECT (id) ON p.t"}, []string{"1044 Access denied for user 'u'@'%' to database 'p'"}},
	{"SHOW TABLES FROM p", []string{"DELETE ON p.t"}, []string{"1044 Access denied for user 'u'@'%' to database 'p'"}},
	{"SHOW COLUMNS FROM p.t", []string{"INSERT ON p.t"}, []string{"1142 SELECT command denied to user 'u'@'localhost' for table 't'"}},
	{"SHOW CREATE TABLE p.t", []string{"INSERT ON p.t"}, []string{"1142 SHOW command denied to user 'u'@'localhost' for table 't'"}},
	{"EXPLAIN SELECT id FROM p.t", []string{"SELECT (id) ON p.t"}, []string{"1142 SELECT command denied to user 'u'@'localhost' for table 't'"}},
	{"EXPLAIN SELECT id FROM p.v", []string{"SELECT ON p.v", "SHOW VIEW ON p.v", "SELECT (id) ON p.t"},
		[]string{"1142 SELECT command denied to user 'u'@'localhost' for table 'v'", noExplain, noExplain}},
	{"EXPLAIN FORMAT=TREE SELECT * FROM p.c WHERE id IN (SELECT id FROM p.v)", []string{"SELECT ON p.c", "SELECT, SHOW VIEW ON p.v", "SELECT ON p.t"},
		[]string{"1142 SELECT command denied to user 'u'@'localhost' for table 'c'", "1142 SELECT command denied to user 'u'@'localhost' for table 'v'", noExplain}},
	{"EXPLAIN UPDATE p.v SET a = 1 WHERE id = 1", []string{"UPDATE (a) ON p.v", "SELECT, SHOW VIEW ON p.v", "SELECT ON p.t"},
		[]string{"1142 UPDATE command denied to user 'u'@'localhost' for table 'v'", noExplain, noExplain}},
	{"ANALYZE TABLE p.t", []string{"SELECT ON p.t", "INSERT ON p.t"},
		[]string{"1142 SELECT command denied to user 'u'@'localhost' for table 't'", "1142 INSERT command denied to user 'u'@'localhost' for table 't'"}},
	{"CHECKSUM TABLE p.t", []string{"SELECT ON p.t"}, []string{"1142 SELECT command denied to user 'u'@'localhost' for table 't'"}},
	{"LOCK TABLES p.t READ", []string{"SELECT ON p.t", "LOCK TABLES ON p.*"},
		[]string{"1142 SELECT command denied to user 'u'@'localhost' for table 't'", "1044 Access denied for user 'u'@'%' to database 'p'"}},
	{"FLUSH USER_RESOURCES", []string{"FLUSH_USER_RESOURCES ON *.*"}, []string{"1227 Access denied; you need (at least one of) the RELOAD or FLUSH_USER_RESOURCES privilege(s) for this operation"}},
	{"FLUSH OPTIMIZER_COSTS, STATUS", []string{"FLUSH_OPTIMIZER_COSTS ON *.*", "FLUSH_STATUS ON *.*"},
		[]string{"1227 Access denied; you need (at least one of) the RELOAD or FLUSH_OPTIMIZER_COSTS privilege(s) for this operation",
			"1227 Access denied; you need (at least one of) the RELOAD or FLUSH_STATUS privilege(s) for this operation"}},
	{"FLUSH TABLES", []string{"RELOAD ON *.*"}, []string{"1227 Access denied; you need (at least one of) the RELOAD or FLUSH_TABLES privilege(s) for this operation"}},
	{"SET GLOBAL max_error_count = 1024", []string{"SYSTEM_VARIABLES_ADMIN ON *.*"},
		[]string{"1227 Access denied; you need (at least one of) the SUPER or SYSTEM_VARIABLES_ADMIN privilege(s) for this operation"}},
	{"SET sql_log_bin = 1", []string{"SESSION_VARIABLES_ADMIN ON *.*"},
		[]string{"1227 Access denied; you need (at least one of) the SUPER, SESSION_VARIABLES_ADMIN or SYSTEM_VARIABLES_ADMIN privilege(s) for this operation"}},
	{"SHOW ENGINE INNODB STATUS", []string{"PROCESS ON *.*"}, []string{"1227 Access denied; you need (at least one of) the PROCESS privilege(s) for this operation"}},
	{"CREATE USER n", []string{"CREATE USER ON *.*"}, []string{"1227 Access denied; you need (at least one of) the CREATE USER privilege(s) for this operation"}},
	{"CREATE ROLE n", []string{"CREATE ROLE ON *.*"}, []string{"1227 Access denied; you need (at least one of) the CREATE USER or CREATE ROLE privilege(s) for this operation"}},
	{"ALTER USER u IDENTIFIED BY ''", nil, nil},
	{"ALTER USER o ACCOUNT UNLOCK", []string{"CREATE USER ON *.*"}, []string{"1227 Access denied; you need (at least one of) the CREATE USER privilege(s) for this operation"}},
	{"GRANT SELECT ON p.t TO o", []string{"SELECT, GRANT OPTION ON p.t"}, []string{"1142 SELECT, GRANT command denied to user 'u'@'localhost' for table 't'"}},
	{"GRANT SELECT ON p.* TO o", []string{"SELECT ON p.*", "GRANT OPTION ON p.*"},
		[]string{"1044 Access denied for user 'u'@'%' to database 'p'", "1044 Access denied for user 'u'@'%' to database 'p'"}},
	{"GRANT RELOAD ON *.* TO o", []string{"RELOAD, GRANT OPTION ON *.*"}, []string{"1045 Access denied for user 'u'@'%' (using password: NO)"}},
	{"REVOKE SELECT ON p.t FROM o", []string{"SELECT, GRANT OPTION ON p.t"}, []string{"1142 SELECT, GRANT command denied to user 'u'@'localhost' for table 't'"}},
	{"GRANT r TO o", []string{"ROLE_ADMIN ON *.*"}, []string{"1227 Access denied; you need (at least one of) the WITH ADMIN, ROLE_ADMIN, SUPER privilege(s) for this operation"}},
	{"SELECT COUNT(*) FROM mysql.user", []string{"SELECT ON mysql.user"}, []string{"1142 SELECT command denied to user 'u'@'localhost' for table 'user'"}},
	{"SHOW GRANTS FOR o", []string{"SELECT ON mysql.*"}, []string{"1142 SELECT command denied to user 'u'@'localhost' for table 'user'"}},
	{"SELECT * FROM performance_schema.threads", []string{"SELECT ON performance_schema.threads"}, []string{"1142 SELECT command denied to user 'u'@'localhost' for table 'threads'"}},
}

const noExplain = "1345 EXPLAIN/SHOW can not be issued; lacking privileges for underlying table"

// privilegeSetup makes what the statements work on.
const privilegeSetup = `DROP DATABASE IF EXISTS p; DROP DATABASE IF EXISTS q; DROP USER IF EXISTS u, o, n, r;
CREATE DATABASE p; CREATE TABLE p.t (id INT PRIMARY KEY, a INT, b INT); CREATE TABLE p.c (id INT PRIMARY KEY, x INT);
INSERT INTO p.t VALUES (1, 1, 1), (2, 2, 2); CREATE VIEW p.v AS SELECT id, a FROM p.t; CREATE SQL SECURITY INVOKER VIEW p.iv AS SELECT id, a FROM p.t;
CREATE USER u, o; CREATE ROLE r; GRANT SELECT ON p.t TO o`

// TestLeastPrivileges runs each statement with the privileges that it needs, and without
// each of them, as text and prepared.
func TestLeastPrivileges(t *testing.T) {
	testflag.Normal(t)
	s, root := startWithRoot(t)
	for _, prepared := range []bool{false, true} {
		for _, c := range leastPrivileges {
			for missing := -1; missing < len(c.grants); missing++ {
				mustExec(t, root, privilegeSetup)
				for i, g := range c.grants {
					if i != missing {
						mustExec(t, root, "GRANT "+g+" TO u")
					}
				}
				err := runAs(t, s, "u", c.stmt, prepared)
				switch {
				case missing < 0 && err != nil:
					t.Errorf("%s with %q: %v", c.stmt, c.grants, err)
				case missing >= 0:
					if got := errorText(err); got != c.errors[missing] {
						t.Errorf("%s without %q:\n got %s\nwant %s", c.stmt, c.grants[missing], got, c.errors[missing])
					}
				}
			}
		}
	}
}

// startWithRoot starts a server and connects as root, with several statements in one text.
func startWithRoot(t *testing.T) (*server.Server, *sql.DB) {
	t.Helper()
	s, _ := startServer(t)
	db, err := sql.Open("mysql", servertest.DSN(s)+"?multiStatements=true")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return s, db
}

func mustExec(t *testing.T, db *sql.DB, text string) {
	t.Helper()
	if _, err := db.Exec(text); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// errorText is an error as "number text", without what the driver adds.
func errorText(err error) string {
	if err == nil {
		return "no error"
	}
	text := strings.TrimPrefix(err.Error(), "Error ")
	number, rest, _ := strings.Cut(text, " ")
	_, rest, _ = strings.Cut(rest, ": ")
	return number + " " + rest
}

// runAs runs a statement on a connection of its own.
func runAs(t *testing.T, s *server.Server, user, stmt string, prepared bool) error {
	t.Helper()
	db, err := sql.Open("mysql", user+"@tcp("+s.Addr()+")/")
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if !prepared || strings.HasPrefix(stmt, "USE") || strings.HasPrefix(stmt, "LOCK") {
		_, err = db.Exec(stmt)
		return err
	}
	st, err := db.Prepare(stmt)
	if err != nil {
		return err
	}
	defer st.Close()
	_, err = st.Exec()
	return err
}

// TestPlansOfOthers: a plan that another account has made warm lets no other one through, and a
// prepared statement is refused after REVOKE.
func TestPlansOfOthers(t *testing.T) {
	s, root := startWithRoot(t)
	mustExec(t, root, privilegeSetup)
	mustExec(t, root, "GRANT SELECT ON p.t TO u")
	ctx := context.Background()
	u := connectAs(t, s, "u")
	o := connectAs(t, s, "o")
	for range 3 {
		for _, c := range []*sql.Conn{u, o} {
			var n int
			if err := c.QueryRowContext(ctx, "SELECT a FROM p.t WHERE id = 1").Scan(&n); err != nil {
				t.Fatal(err)
			}
		}
	}
	st, err := o.PrepareContext(ctx, "SELECT a FROM p.t WHERE id = ?")
	if err != nil {
		t.Fatal(err)
	}
	defer st.Close()
	var n int
	if err := st.QueryRowContext(ctx, 1).Scan(&n); err != nil {
		t.Fatal(err)
	}
	mustExec(t, root, "REVOKE SELECT ON p.t FROM o")
	want := "1142 SELECT command denied to user 'o'@'localhost' for table 't'"
	if err := st.QueryRowContext(ctx, 1).Scan(&n); errorText(err) != want {
		t.Errorf("prepared before REVOKE: %v", err)
	}
	for _, text := range []string{"SELECT a FROM p.t WHERE id = 1", "SELECT a FROM p.t WHERE id = 2", "SELECT id FROM p.t ORDER BY id LIMIT 1", "EXPLAIN SELECT a FROM p.t"} {
		if _, err := o.ExecContext(ctx, text); errorText(err) != want {
			t.Errorf("%s after REVOKE: %v", text, err)
		}
	}
	if err := u.QueryRowContext(ctx, "SELECT a FROM p.t WHERE id = 1").Scan(&n); err != nil {
		t.Errorf("the other account: %v", err)
	}
}

// connectAs makes one connection of an account.
func connectAs(t *testing.T, s *server.Server, user string) *sql.Conn {
	t.Helper()
	db, err := sql.Open("mysql", user+"@tcp("+s.Addr()+")/")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	c, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestRolesOfSessions: SET ROLE, default and mandatory roles, and what REVOKE takes from a
// session that runs.
func TestRolesOfSessions(t *testing.T) {
	s, root := startWithRoot(t)
	mustExec(t, root, privilegeSetup+"; GRANT SELECT ON p.t TO r; GRANT r TO u")
	ctx := context.Background()
	u := connectAs(t, s, "u")
	role := func(c *sql.Conn) string {
		var got string
		if err := c.QueryRowContext(ctx, "SELECT CURRENT_ROLE()").Scan(&got); err != nil {
			t.Fatal(err)
		}
		return got
	}
	read := func(c *sql.Conn) error {
		var n int
		return c.QueryRowContext(ctx, "SELECT a FROM p.t WHERE id = 1").Scan(&n)
	}
	if got := role(u); got != "NONE" || read(u) == nil {
		t.Errorf("before SET ROLE: %s", got)
	}
	if _, err := u.ExecContext(ctx, "SET ROLE r"); err != nil {
		t.Fatal(err)
	}
	if got := role(u); got != "`r`@`%`" || read(u) != nil {
		t.Errorf("after SET ROLE: %s, %v", got, read(u))
	}
	mustExec(t, root, "REVOKE r FROM u")
	if got := role(u); got != "NONE" || read(u) == nil {
		t.Errorf("after REVOKE: %s", got)
	}
	mustExec(t, root, "GRANT r TO u; SET DEFAULT ROLE r TO u")
	if got := role(connectAs(t, s, "u")); got != "`r`@`%`" {
		t.Errorf("the default role: %s", got)
	}
	mustExec(t, root, "SET DEFAULT ROLE NONE TO u; SET GLOBAL mandatory_roles = 'r'; SET GLOBAL activate_all_roles_on_login = ON")
	if got := role(connectAs(t, s, "o")); got != "`r`@`%`" {
		t.Errorf("the mandatory role: %s", got)
	}
	if _, err := root.Exec("DROP ROLE r"); !strings.Contains(fmt.Sprint(err), "Error 3628") {
		t.Errorf("DROP of a mandatory role: %v", err)
	}
}

// TestMandatorySystemUser: SYSTEM_USER is not for every account, so no mandatory role has it,
// directly or by another role.
func TestMandatorySystemUser(t *testing.T) {
	s, root := startWithRoot(t)
	mustExec(t, root, "CREATE ROLE plain, su, wide; GRANT SYSTEM_USER ON *.* TO su; GRANT su TO wide")
	for _, scope := range []string{"GLOBAL", "PERSIST", "PERSIST_ONLY"} {
		for _, list := range []string{"su", "plain, wide"} {
			err := runAs(t, s, "root", "SET "+scope+" mandatory_roles = '"+list+"'", false)
			if got, want := errorText(err), "1231 Variable 'mandatory_roles' can't be set to the value of '"+list+"'"; got != want {
				t.Errorf("%s, %s: %s", scope, list, got)
			}
		}
	}
	mustExec(t, root, "SET GLOBAL mandatory_roles = 'plain, unknown'; CREATE ROLE inner_; GRANT inner_ TO plain")
	for _, x := range [][2]string{
		{"GRANT SYSTEM_USER ON *.* TO plain", "plain"}, {"GRANT ALL ON *.* TO plain", "plain"}, {"GRANT su TO plain", "plain"}, {"GRANT wide TO plain", "plain"},
		{"GRANT SYSTEM_USER ON *.* TO inner_", "plain"}, {"GRANT su TO inner_", "plain"}, {"CREATE USER unknown DEFAULT ROLE su", "unknown"}, {"RENAME USER su TO unknown", "unknown"},
	} {
		if got, want := errorText(runAs(t, s, "root", x[0], false)), "3897 AuthId `"+x[1]+"`@`%` is set as mandatory_roles. Cannot grant the 'SYSTEM_USER' privilege."; got != want {
			t.Errorf("%s: %s", x[0], got)
		}
	}
	mustExec(t, root, "REVOKE SYSTEM_USER ON *.* FROM su; GRANT su TO plain; DROP ROLE inner_")
	for _, q := range []string{"SET GLOBAL mandatory_roles = 5", "SET GLOBAL mandatory_roles = NULL"} {
		if got := errorText(runAs(t, s, "root", q, false)); !strings.HasPrefix(got, "1232 ") && !strings.HasPrefix(got, "1231 ") {
			t.Errorf("%s: %s", q, got)
		}
	}
}

// TestGrantOptionOfDynamic: the option of a dynamic privilege is no option for static ones,
// and an empty grant on a database hides no wider one.
func TestGrantOptionOfDynamic(t *testing.T) {
	s, root := startWithRoot(t)
	mustExec(t, root, privilegeSetup+"; GRANT SELECT, INSERT ON *.* TO u; GRANT ROLE_ADMIN ON *.* TO u WITH GRANT OPTION; GRANT SELECT ON `%`.* TO o; GRANT USAGE ON p.* TO o")
	if err := runAs(t, s, "u", "GRANT ROLE_ADMIN ON *.* TO o WITH GRANT OPTION", false); err != nil {
		t.Error(err)
	}
	for _, q := range []string{"GRANT SELECT ON *.* TO o", "GRANT GRANT OPTION, ROLE_ADMIN ON *.* TO u"} {
		if got, want := errorText(runAs(t, s, "u", q, false)), "1045 Access denied for user 'u'@'%' (using password: NO)"; got != want {
			t.Errorf("%s: %s", q, got)
		}
	}
	if err := runAs(t, s, "o", "SELECT * FROM p.t", false); err != nil {
		t.Error(err)
	}
}

// TestAccountsByMysqlSchema: the statements on accounts need CREATE USER, or a privilege on
// the database mysql, as in MySQL.
func TestAccountsByMysqlSchema(t *testing.T) {
	s, root := startWithRoot(t)
	for _, c := range []struct{ stmt, grant string }{
		{"CREATE USER n", "INSERT"},
		{"DROP USER o", "DELETE"},
		{"RENAME USER o TO n", "UPDATE"},
		{"ALTER USER o IDENTIFIED BY 'x'", "UPDATE"},
		{"ALTER USER o ACCOUNT LOCK", "UPDATE"},
		{"SET PASSWORD FOR o = 'x'", "UPDATE"},
		{"SET DEFAULT ROLE NONE TO o", "UPDATE"},
		{"REVOKE ALL, GRANT OPTION FROM o", "UPDATE"},
	} {
		mustExec(t, root, privilegeSetup+"; DROP USER IF EXISTS n")
		want := "1227 Access denied; you need (at least one of) the CREATE USER privilege(s) for this operation"
		if got := errorText(runAs(t, s, "u", c.stmt, false)); got != want {
			t.Errorf("%s: %s", c.stmt, got)
		}
		mustExec(t, root, "GRANT "+c.grant+" ON mysql.* TO u")
		if err := runAs(t, s, "u", c.stmt, false); err != nil {
			t.Errorf("%s with %s ON mysql.*: %v", c.stmt, c.grant, err)
		}
	}
	mustExec(t, root, privilegeSetup+"; GRANT UPDATE ON mysql.default_roles TO u")
	if err := runAs(t, s, "u", "SET DEFAULT ROLE NONE TO o", false); err != nil {
		t.Errorf("SET DEFAULT ROLE with UPDATE ON mysql.default_roles: %v", err)
	}
	if got := errorText(runAs(t, s, "u", "ALTER USER o ACCOUNT LOCK", false)); !strings.HasPrefix(got, "1227 ") {
		t.Errorf("ALTER USER: %s", got)
	}
	mustExec(t, root, privilegeSetup+"; GRANT INSERT, UPDATE, DELETE ON mysql.* TO u")
	for _, stmt := range []string{"CREATE ROLE n", "DROP ROLE r"} {
		if got := errorText(runAs(t, s, "u", stmt, false)); !strings.HasPrefix(got, "1227 ") {
			t.Errorf("%s: %s", stmt, got)
		}
	}
}
