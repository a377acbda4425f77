package server_test

import (
	"database/sql"
	"encoding/xml"
	"fmt"
	"strings"
	"testing"
)

// queryAs is the first column of the first row, or the error.
func queryAs(c *sql.Conn, t *testing.T, text string) string {
	t.Helper()
	var out string
	if err := c.QueryRowContext(t.Context(), text).Scan(&out); err != nil {
		return errorText(err)
	}
	return out
}

// execAs is the error of a statement, then its warnings.
func execAs(c *sql.Conn, t *testing.T, text string) (string, []string) {
	t.Helper()
	if _, err := c.ExecContext(t.Context(), text); err != nil {
		return errorText(err), nil
	}
	rows, err := c.QueryContext(t.Context(), "SHOW WARNINGS")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	var list []string
	for rows.Next() {
		var level, code, text string
		if err := rows.Scan(&level, &code, &text); err != nil {
			t.Fatal(err)
		}
		list = append(list, level+" "+code+" "+text)
	}
	return "no error", list
}

// TestAccountsOfDefiners: an account that is the definer of a view is not dropped, renamed
// or made without ALLOW_NONEXISTENT_DEFINER.
func TestAccountsOfDefiners(t *testing.T) {
	s, root := startWithRoot(t)
	mustExec(t, root, privilegeSetup+`; GRANT CREATE USER, CREATE ROLE, DROP ROLE, SUPER, SET_ANY_DEFINER ON *.* TO u;
		CREATE USER d; CREATE DEFINER = d VIEW p.d1 AS SELECT 1; CREATE DEFINER = r VIEW p.d2 AS SELECT 1; CREATE DEFINER = gone VIEW p.d3 AS SELECT 1`)
	u := connectAs(t, s, "u")
	text := func(operation, name string) string {
		return fmt.Sprintf("4006 Operation %s failed for '%s'@'%%' as it is referenced as a definer account in a view.", operation, name)
	}
	for _, c := range [][2]string{
		{"DROP USER o, d", text("DROP USER", "d")},
		{"DROP USER IF EXISTS d", text("DROP USER", "d")},
		{"DROP ROLE r", text("DROP ROLE", "r")},
		{"RENAME USER d TO e", text("RENAME USER", "d")},
		{"RENAME USER o TO gone", text("RENAME USER", "gone")},
		{"CREATE USER gone", text("CREATE USER", "gone")},
		{"CREATE ROLE gone", text("CREATE ROLE", "gone")},
		{"CREATE USER n", "no error"},
	} {
		if got, _ := execAs(u, t, c[0]); got != c[1] {
			t.Errorf("%s: %s", c[0], got)
		}
	}
	mustExec(t, root, "GRANT ALLOW_NONEXISTENT_DEFINER ON *.* TO u")
	for _, c := range []struct{ stmt, warning string }{
		{"RENAME USER d TO e", "Warning 4005 User 'd'@'%' is referenced as a definer account in a view."},
		{"CREATE USER gone", "Warning 4005 User 'gone'@'%' is referenced as a definer account in a view."},
		{"DROP ROLE r", "Warning 4005 User 'r'@'%' is referenced as a definer account in a view."},
	} {
		if got, warnings := execAs(u, t, c.stmt); got != "no error" || len(warnings) != 1 || warnings[0] != c.warning {
			t.Errorf("%s: %s %q", c.stmt, got, warnings)
		}
	}
	// The body of d1 reads no table, and needs its definer nevertheless.
	if got, want := queryAs(connectAs(t, s, "root"), t, "SELECT * FROM p.d1"), "1449 The user specified as a definer ('d'@'%') does not exist"; got != want {
		t.Errorf("the view of an account that is gone: %s", got)
	}
}

// TestGrantAs: AS names an account, and roles of it, that exist; it changes nothing else,
// since no account has restrictions.
func TestGrantAs(t *testing.T) {
	s, root := startWithRoot(t)
	mustExec(t, root, privilegeSetup+"; GRANT r TO o; GRANT SELECT, GRANT OPTION ON *.* TO u")
	u := connectAs(t, s, "u")
	const denied = "3836 Either some of the authorization IDs in the AS clause are invalid or the current user lacks privileges to execute the statement."
	for _, c := range [][2]string{
		{"GRANT SELECT ON *.* TO o AS o", "no error"},
		{"GRANT SELECT ON *.* TO o WITH GRANT OPTION AS CURRENT_USER() WITH ROLE DEFAULT", "no error"},
		{"GRANT SELECT ON *.* TO o AS o WITH ROLE r", "no error"},
		{"GRANT SELECT ON *.* TO o AS o WITH ROLE ALL EXCEPT r", "no error"},
		{"GRANT SELECT ON *.* TO o AS u WITH ROLE r", denied},
		{"GRANT SELECT ON *.* TO o AS nobody", denied},
		{"GRANT RELOAD ON *.* TO o AS root", "1045 Access denied for user 'u'@'%' (using password: NO)"},
		{"GRANT SELECT ON p.* TO o AS o", "3835 GRANT ... AS is currently supported only for global privileges."},
		{"GRANT SELECT ON p.t TO o AS o", "3835 GRANT ... AS is currently supported only for global privileges."},
	} {
		if got, _ := execAs(u, t, c[0]); got != c[1] {
			t.Errorf("%s: %s", c[0], got)
		}
	}
}

// TestRolesGraph reads the graph of roles, which accounts without ROLE_ADMIN do not see.
func TestRolesGraph(t *testing.T) {
	s, root := startWithRoot(t)
	mustExec(t, root, privilegeSetup+"; CREATE ROLE `a<b`; GRANT r TO u WITH ADMIN OPTION; GRANT `a<b` TO r")
	u := connectAs(t, s, "u")
	if got := queryAs(u, t, "SELECT ROLES_GRAPHML()"); got != `<?xml version="1.0" encoding="UTF-8"?><graphml />` {
		t.Errorf("without ROLE_ADMIN: %s", got)
	}
	mustExec(t, root, "GRANT ROLE_ADMIN ON *.* TO u")
	var g struct {
		Keys  []struct{ ID, For, Name string } `xml:"key"`
		Nodes []struct {
			ID   string `xml:"id,attr"`
			Name string `xml:"data"`
		} `xml:"graph>node"`
		Edges []struct {
			From  string `xml:"source,attr"`
			To    string `xml:"target,attr"`
			Color string `xml:"data"`
		} `xml:"graph>edge"`
	}
	text := queryAs(u, t, "SELECT ROLES_GRAPHML()")
	if err := xml.Unmarshal([]byte(text), &g); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	names := map[string]string{}
	for _, n := range g.Nodes {
		names[n.ID] = n.Name
	}
	var edges []string
	for _, e := range g.Edges {
		edges = append(edges, names[e.From]+" "+names[e.To]+" "+e.Color)
	}
	if got, want := strings.Join(edges, "; "), "`r`@`%` `a<b`@`%` 0; `u`@`%` `r`@`%` 1"; got != want || len(g.Nodes) != 5 {
		t.Errorf("got %s, %d nodes", got, len(g.Nodes))
	}
	if got := queryAs(u, t, "SELECT EXTRACTVALUE(ROLES_GRAPHML(), 'count(//edge)')"); got != "2" {
		t.Errorf("count of edges: %s", got)
	}
}

// TestSystemUserByRole: a role with SYSTEM_USER protects the connections in which it is
// active from KILL, and not the account.
func TestSystemUserByRole(t *testing.T) {
	s, root := startWithRoot(t)
	mustExec(t, root, privilegeSetup+"; GRANT SYSTEM_USER ON *.* TO r; GRANT r TO o; GRANT CONNECTION_ADMIN, CREATE USER ON *.* TO u")
	u, o := connectAs(t, s, "u"), connectAs(t, s, "o")
	id := queryAs(o, t, "SELECT CONNECTION_ID()")
	if got, _ := execAs(o, t, "SET ROLE r"); got != "no error" {
		t.Fatal(got)
	}
	if got, _ := execAs(u, t, "KILL QUERY "+id); got != "1095 You are not owner of thread "+id {
		t.Errorf("KILL of a connection with SYSTEM_USER: %s", got)
	}
	other := connectAs(t, s, "o") // of the account itself, without the role
	if got, _ := execAs(other, t, "KILL QUERY "+id); got != "1095 You are not owner of thread "+id {
		t.Errorf("KILL by a connection without SYSTEM_USER: %s", got)
	}
	if got, _ := execAs(o, t, "SET ROLE NONE"); got != "no error" {
		t.Fatal(got)
	}
	if got, _ := execAs(u, t, "KILL QUERY "+id); got != "no error" {
		t.Errorf("KILL after SET ROLE NONE: %s", got)
	}
	if got, _ := execAs(u, t, "ALTER USER o ACCOUNT UNLOCK"); got != "no error" {
		t.Errorf("ALTER USER of an account with SYSTEM_USER by a role: %s", got)
	}
}

// TestHiddenForeignKeys: errors of foreign keys do not name tables that the account may not
// know of.
func TestHiddenForeignKeys(t *testing.T) {
	s, root := startWithRoot(t)
	mustExec(t, root, privilegeSetup+`; CREATE DATABASE q; CREATE TABLE q.child (id INT PRIMARY KEY, t INT, FOREIGN KEY (t) REFERENCES p.t (id));
		CREATE TABLE q.grand (id INT PRIMARY KEY, FOREIGN KEY (id) REFERENCES p.c (id) ON UPDATE CASCADE); INSERT INTO q.child VALUES (1, 1);
		INSERT INTO p.c VALUES (1, 1); INSERT INTO q.grand VALUES (1);
		CREATE TABLE p.name (name VARCHAR(9) PRIMARY KEY); INSERT INTO p.name VALUES ('aa'), ('b');
		CREATE TABLE q.initial (name VARCHAR(9) PRIMARY KEY, UNIQUE initial (name(1)), FOREIGN KEY (name) REFERENCES p.name (name) ON UPDATE CASCADE);
		INSERT INTO q.initial SELECT * FROM p.name;
		GRANT SELECT, INSERT, UPDATE, DELETE ON p.* TO o; GRANT INSERT ON q.child TO u; GRANT SELECT ON *.* TO r; GRANT r TO u, o`)
	const child = "(`q`.`child`, CONSTRAINT `child_ibfk_1` FOREIGN KEY (`t`) REFERENCES `p`.`t` (`id`))"
	o, u := connectAs(t, s, "o"), connectAs(t, s, "u")
	for _, c := range []struct {
		conn                *sql.Conn
		stmt, hidden, shown string
	}{
		{o, "DELETE FROM p.t", "1217 Cannot delete or update a parent row: a foreign key constraint fails",
			"1451 Cannot delete or update a parent row: a foreign key constraint fails " + child},
		{o, "UPDATE p.t SET id = 9 WHERE id = 1", "1217 Cannot delete or update a parent row: a foreign key constraint fails",
			"1451 Cannot delete or update a parent row: a foreign key constraint fails " + child},
		{o, "UPDATE p.name SET name = 'bb' WHERE name = 'aa'", "1762 Foreign key constraint for table 'name', record 'b' would lead to a duplicate entry in a child table",
			"1761 Foreign key constraint for table 'name', record 'b' would lead to a duplicate entry in table 'initial', key 'initial'"},
		{u, "INSERT INTO q.child VALUES (2, 77)", "1216 Cannot add or update a child row: a foreign key constraint fails",
			"1452 Cannot add or update a child row: a foreign key constraint fails " + child},
	} {
		for _, role := range []string{"NONE", "ALL"} {
			if got, _ := execAs(c.conn, t, "SET ROLE "+role); got != "no error" {
				t.Fatal(got)
			}
			want := c.hidden
			if role == "ALL" {
				want = c.shown
			}
			if got, _ := execAs(c.conn, t, c.stmt); got != want {
				t.Errorf("%s with role %s: %s", c.stmt, role, got)
			}
		}
	}
	execAs(o, t, "SET ROLE NONE")
	if got, warnings := execAs(o, t, "DELETE IGNORE FROM p.t WHERE id = 1"); got != "no error" || len(warnings) != 1 ||
		warnings[0] != "Warning 1217 Cannot delete or update a parent row: a foreign key constraint fails" {
		t.Errorf("DELETE IGNORE: %s %q", got, warnings)
	}
}

// TestRefusedBeforeUnsupported: who lacks the privilege for a statement does not learn
// whether the server has what it is about.
func TestRefusedBeforeUnsupported(t *testing.T) {
	s, root := startWithRoot(t)
	mustExec(t, root, privilegeSetup)
	for stmt, want := range map[string]string{
		"SHOW BINARY LOGS": "1227 Access denied; you need (at least one of) the SUPER, REPLICATION CLIENT privilege(s) for this operation",
		"SHUTDOWN":         "1227 Access denied; you need (at least one of) the SHUTDOWN privilege(s) for this operation",
	} {
		if got := errorText(runAs(t, s, "u", stmt, false)); strings.ReplaceAll(got, " or ", ", ") != strings.ReplaceAll(want, " or ", ", ") {
			t.Errorf("%s: %s", stmt, got)
		}
	}
}

// namedStatements are statements about p.%s.
var namedStatements = []string{"SELECT * FROM p.%s", "SELECT COUNT(*) FROM p.%s", "SELECT a, b FROM p.%s x JOIN p.%[1]s y USING (id)", "TABLE p.%s",
	"SELECT 1 FROM p.%s PARTITION (p0)", "SELECT 1 FROM p.%s USE INDEX (i)", "SELECT 1 FROM p.%s AS OF TIMESTAMP NOW()", "SELECT 1 FROM p.%s FOR UPDATE",
	"SELECT * FROM STREAM('p.%s')", "SELECT * FROM VERSIONS('p.%s')", "SELECT STREAM_WAIT('p.%s', 1, 0)", "DO (SELECT 1 FROM p.%s)", "SET @x = (SELECT id FROM p.%s)",
	"INSERT INTO p.%s VALUES (1, 2, 3)", "INSERT INTO p.%s (nosuch) VALUES (1)", "INSERT INTO p.%s SELECT * FROM p.%[1]s", "REPLACE p.%s SET id = 1",
	"INSERT INTO p.%s (id) VALUES (1) ON DUPLICATE KEY UPDATE nosuch = 1", "UPDATE p.%s SET id = 1", "UPDATE p.%s SET nosuch = 1", "UPDATE p.%s SET id = 1 ORDER BY id LIMIT 1",
	"UPDATE p.%s x, p.%[1]s y SET x.id = y.id", "DELETE FROM p.%s", "DELETE FROM p.%s ORDER BY id LIMIT 1", "DELETE x FROM p.%s x JOIN p.%[1]s y USING (id)", "DELETE FROM p.%s RETURNING id",
	"EXPLAIN SELECT * FROM p.%s", "EXPLAIN ANALYZE SELECT * FROM p.%s", "EXPLAIN DELETE FROM p.%s", "DESCRIBE p.%s", "DESCRIBE p.%s id", "SHOW COLUMNS FROM p.%s", "SHOW INDEX FROM p.%s",
	"SHOW CREATE TABLE p.%s", "SHOW CREATE VIEW p.%s", "CREATE TABLE p.%s (id INT)", "CREATE TABLE IF NOT EXISTS p.%s (id INT)", "CREATE TABLE p.n LIKE p.%s", "CREATE TABLE p.n SELECT * FROM p.%s",
	"CREATE VIEW p.%s AS SELECT 1", "CREATE OR REPLACE VIEW p.%s AS SELECT 1", "ALTER VIEW p.%s AS SELECT 1", "CREATE VIEW p.n AS SELECT * FROM p.%s", "ALTER TABLE p.%s ADD z INT",
	"ALTER TABLE p.%s DROP COLUMN nosuch", "ALTER TABLE p.%s DROP PARTITION p0", "ALTER TABLE p.%s RENAME p.n", "ALTER TABLE p.%s ADD FOREIGN KEY (id) REFERENCES p.t (id)",
	"CREATE TABLE p.n (id INT, FOREIGN KEY (id) REFERENCES p.%s (id))", "CREATE INDEX i ON p.%s (a)", "DROP INDEX i ON p.%s", "DROP TABLE p.%s", "DROP TABLE IF EXISTS p.%s", "DROP VIEW p.%s",
	"DROP VIEW IF EXISTS p.%s", "TRUNCATE p.%s", "RENAME TABLE p.%s TO p.n", "ANALYZE TABLE p.%s", "OPTIMIZE TABLE p.%s", "REPAIR TABLE p.%s", "CHECK TABLE p.%s", "CHECKSUM TABLE p.%s",
	"LOCK TABLES p.%s READ", "LOCK TABLES p.%s WRITE", "LOAD DATA LOCAL INFILE 'x' INTO TABLE p.%s (nosuch)", "GRANT SELECT ON p.%s TO o", "GRANT SELECT (nosuch) ON p.%s TO o",
	"REVOKE SELECT ON p.%s FROM o", "CALL sqlots.stream_consumer('c', 'p.%s')", "CALL sqlots.stream_purge('p.%s', 1)", "PREPARE s FROM 'SELECT * FROM p.%s'", "SHOW TABLES FROM p LIKE '%s'",
	"SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_NAME = '%s'", "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_NAME = '%s'"}

// TestRefusalsSayNothing: an account without rights gets the same answer to a statement
// about a table, a view, and what does not exist.
func TestRefusalsSayNothing(t *testing.T) {
	s, root := startWithRoot(t)
	mustExec(t, root, privilegeSetup+`; CREATE VIEW p.jv AS SELECT t.id, c.x FROM p.t JOIN p.c USING (id); CREATE TABLE p.gone (id INT); CREATE VIEW p.bad AS SELECT id FROM p.gone; DROP TABLE p.gone;
		CREATE DEFINER = ghost VIEW p.orphan AS SELECT 1 AS id; CREATE TABLE p.ps (id INT PRIMARY KEY, a INT) PARTITION BY HASH (id) PARTITIONS 2;
		CREATE TABLE p.st (id INT PRIMARY KEY, a INT) SECONDARY_ENGINE_ATTRIBUTE='{"stream":true}'`)
	u := connectAs(t, s, "u")
	for _, stmt := range namedStatements {
		want := ""
		for _, name := range []string{"nosuch", "t", "v", "jv", "bad", "orphan", "ps", "st"} {
			text := fmt.Sprintf(stmt, name)
			got, warnings := execAs(u, t, text)
			if got = fmt.Sprint(strings.ReplaceAll(got, "'"+name+"'", "NAME"), warnings); name == "nosuch" {
				want = got
			} else if got != want {
				t.Errorf("%s:\n got %s\nwant %s", text, got, want)
			}
			if strings.HasPrefix(got, "no error") && !strings.HasPrefix(stmt, "SELECT COUNT(*) FROM information_schema") {
				t.Errorf("%s: no error", text)
			}
		}
	}
}

// TestExplainOfOthersViews: EXPLAIN FOR CONNECTION shows no more of views than EXPLAIN.
func TestExplainOfOthersViews(t *testing.T) {
	s, root := startWithRoot(t)
	mustExec(t, root, privilegeSetup+"; GRANT SELECT ON p.v TO u")
	lock, runs, u := connectAs(t, s, "root"), connectAs(t, s, "u"), connectAs(t, s, "u")
	if got := queryAs(lock, t, "SELECT GET_LOCK('explained', 0)"); got != "1" {
		t.Fatal(got)
	}
	id := queryAs(runs, t, "SELECT CONNECTION_ID()")
	done := make(chan error, 1)
	go func() {
		_, err := runs.ExecContext(t.Context(), "SELECT GET_LOCK('explained', 100), COUNT(*) FROM p.v")
		done <- err
	}()
	got := ""
	for got == "" || strings.HasPrefix(got, "3012 ") { // until it runs
		got, _ = execAs(u, t, "EXPLAIN FOR CONNECTION "+id)
	}
	if got != noExplain {
		t.Errorf("without SHOW VIEW: %s", got)
	}
	mustExec(t, root, "GRANT SHOW VIEW ON p.v TO u; GRANT SELECT ON p.t TO u")
	if got, _ := execAs(u, t, "EXPLAIN FOR CONNECTION "+id); got != "no error" {
		t.Errorf("with the privileges: %s", got)
	}
	if got := queryAs(lock, t, "SELECT RELEASE_LOCK('explained')"); got != "1" {
		t.Fatal(got)
	}
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
