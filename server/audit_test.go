package server_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/server"
)

// auditLine is a line of the audit log.
type auditLine struct {
	Event, User, Account, Client, TLS, Database, Command, Statement, Text, Privilege, Outcome, Reason, Message string
	Connection                                                                                                 uint64
	Error                                                                                                      int
	Roles, Objects                                                                                             []string
	Settings                                                                                                   []struct{ Scope, Name, Old, New string }
}

// String is what the tables of tests compare: event, statement, objects, settings and
// outcome.
func (l auditLine) String() string {
	out := l.Event
	if l.Statement != "" {
		out += " " + l.Statement
	}
	if l.Objects != nil {
		out += " " + strings.Join(l.Objects, ",")
	}
	for _, s := range l.Settings {
		out += fmt.Sprintf(" %s.%s:%s>%s", s.Scope, s.Name, s.Old, s.New)
	}
	if l.Privilege != "" {
		out += " needs " + l.Privilege
	}
	if l.Outcome != "ok" {
		out += fmt.Sprint(" ", l.Error)
	}
	return out
}

// auditReader reads the lines of an audit log that it has not read yet.
type auditReader struct {
	t    *testing.T
	path string
	read int
}

func (r *auditReader) next() (out []auditLine) {
	r.t.Helper()
	text, err := os.ReadFile(r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	for line := range bytes.Lines(text[r.read:]) {
		var l auditLine
		if err := json.Unmarshal(line, &l); err != nil {
			r.t.Fatalf("%s: %v", line, err)
		}
		out = append(out, l)
	}
	r.read = len(text)
	return out
}

// wants compares the lines since the last call, one a string.
func (r *auditReader) wants(what string, want ...string) []auditLine {
	r.t.Helper()
	list := r.next()
	var got []string
	for _, l := range list {
		got = append(got, l.String())
	}
	if strings.Join(got, "|") != strings.Join(want, "|") {
		r.t.Errorf("%s:\n got %s\nwant %s", what, strings.Join(got, "\n     "), strings.Join(want, "\n     "))
	}
	return list
}

func auditServer(t *testing.T, change ...func(*server.Config)) (*server.Server, string, *auditReader) {
	t.Helper()
	dir := t.TempDir()
	s, dsn := startServer(t, append([]func(*server.Config){func(c *server.Config) { c.LogDir, c.AuditLog = dir, server.AuditOn }}, change...)...)
	eventually(t, func() bool { return s.OpenConnections() == 0 })
	return s, dsn, &auditReader{t: t, path: filepath.Join(dir, "audit.jsonl")}
}

// TestAuditStatements: the lines of each statement, in the text protocol and prepared.
func TestAuditStatements(t *testing.T) {
	_, dsn, log := auditServer(t)
	root := dial(t, dsn)
	root.exec("CREATE USER app, other")
	root.exec("CREATE TABLE secret (a INT PRIMARY KEY, b INT)")
	root.exec("GRANT SELECT (a) ON t.secret TO app")
	root.exec("GRANT CREATE, DROP ON t.mine TO app")
	app := dial(t, strings.Replace(dsn, "root", "app", 1))
	log.next()
	type step struct {
		c    *client
		sql  string
		want string // by bar
	}
	for _, x := range []step{
		{root, "SELECT 1", ""}, {root, "INSERT INTO secret VALUES (1, 1)", ""}, {root, "UPDATE secret SET b = 2 WHERE a = 1", ""}, {root, "SET sql_mode = DEFAULT, @a = 1", ""}, {root, "SHOW TABLES", ""},
		{root, "SELEC 1", ""}, {root, "SELECT * FROM missing", ""}, {root, "CREATE TEMPORARY TABLE own (a INT)", ""},
		{root, "CREATE DATABASE d1", "schema CREATE DATABASE d1"}, {root, "CREATE DATABASE d1", "schema CREATE DATABASE d1 1007"}, {root, "DROP DATABASE d1", "schema DROP DATABASE d1"},
		{root, "CREATE TABLE x (a INT PRIMARY KEY)", "schema CREATE TABLE t.x"}, {root, "CREATE TABLE x (a INT PRIMARY KEY)", "schema CREATE TABLE t.x 1050"}, {root, "ALTER TABLE x ADD b INT", "schema ALTER TABLE t.x"},
		{root, "ALTER TABLE missing ADD b INT", "schema ALTER TABLE 1146"}, {root, "CREATE INDEX i ON x (b)", "schema CREATE INDEX t.x"}, {root, "DROP INDEX i ON x", "schema DROP INDEX t.x"}, {root, "TRUNCATE x", "schema TRUNCATE TABLE t.x"},
		{root, "RENAME TABLE x TO y", "schema RENAME TABLE t.x,t.y"}, {root, "CREATE VIEW v AS SELECT a FROM y", "schema CREATE VIEW t.v"}, {root, "DROP VIEW v", "schema DROP VIEW t.v"}, {root, "DROP TABLE y", "schema DROP TABLE t.y"},
		{root, "CREATE USER u", "account CREATE USER u@%"}, {root, "ALTER USER u ACCOUNT LOCK", "account ALTER USER u@%"}, {root, "CREATE ROLE r", "account CREATE ROLE r@%"}, {root, "GRANT r TO u", "account GRANT r@%,u@%"},
		{root, "GRANT SELECT ON t.* TO u", "account GRANT t.*,u@%"}, {root, "GRANT SELECT ON secret TO u", "account GRANT t.secret,u@%"}, {root, "REVOKE SELECT ON t.* FROM u", "account REVOKE t.*,u@%"}, {root, "SET DEFAULT ROLE r TO u", "account SET DEFAULT ROLE r@%,u@%"},
		{root, "SET PASSWORD FOR u = 'x'", "account SET PASSWORD u@%"}, {root, "RENAME USER u TO w", "account RENAME USER u@%,w@%"}, {root, "DROP USER w", "account DROP USER w@%"}, {root, "DROP USER w", "account DROP USER w@% 1396"}, {root, "DROP ROLE r", "account DROP ROLE r@%"}, {root, "SET ROLE NONE", "account SET ROLE"},
		{root, "SET GLOBAL max_execution_time = 7", "setting SET global.max_execution_time:0>7"}, {root, "SET PERSIST max_execution_time = DEFAULT", "setting SET persist.max_execution_time:7>0"}, {root, "SET PERSIST_ONLY max_execution_time = 9", "setting SET persist_only.max_execution_time:0>9"},
		{root, "SET GLOBAL long_query_time = 3, GLOBAL max_execution_time = 'x'", "setting SET global.long_query_time:10.000000>3.000000 1232"}, {root, "SET GLOBAL no_such = 1", "setting SET 1193"}, {root, "SET GLOBAL long_query_time = DEFAULT", "setting SET global.long_query_time:3.000000>10.000000"},
		{root, "RESET PERSIST", "setting RESET PERSIST"}, {root, "FLUSH STATUS", "admin FLUSH"}, {root, "KILL 99999999", "admin KILL 1094"}, {root, "ANALYZE TABLE secret", "admin ANALYZE TABLE t.secret"}, {root, "SELECT 1 INTO OUTFILE '/nowhere/x'", "admin SELECT INTO FILE 1290"},
		{root, "BACKUP DATABASE * TO 'x'", "admin BACKUP 1290"}, {root, "ALTER INSTANCE RELOAD TLS", "admin ALTER INSTANCE 3888"},
		{app, "SELECT a FROM secret", ""}, {app, "SELECT b FROM secret", "denied t.secret.b needs SELECT 1143"}, {app, "DELETE FROM secret", "denied t.secret needs DELETE 1142"}, {app, "SELECT * FROM missing", "denied t.missing needs SELECT 1142"}, {app, "DROP TABLE secret", "denied DROP TABLE t.secret needs DROP 1142"},
		{app, "CREATE DATABASE d2", "denied CREATE DATABASE d2 1044"}, {app, "USE mysql", "denied mysql 1044"}, {app, "CREATE USER z", "denied CREATE USER needs CREATE USER 1227"}, {app, "GRANT SELECT ON *.* TO app", "denied GRANT *.*,app@% 1045"}, {app, "GRANT SELECT ON t.secret TO app", "denied GRANT t.secret needs SELECT, GRANT 1142"},
		{app, "SET GLOBAL max_execution_time = 5", "denied SET needs SUPER or SYSTEM_VARIABLES_ADMIN 1227"}, {app, "SET ROLE r", "denied SET ROLE r@% 3530"}, {app, fmt.Sprint("KILL ", root.id), "denied KILL 1095"}, {app, "FLUSH PRIVILEGES", "denied FLUSH needs RELOAD or FLUSH_PRIVILEGES 1227"}, {app, "SHOW GRANTS FOR root", "denied 1142"},
		{app, "SELECT 1 INTO OUTFILE '/nowhere/x'", "denied SELECT INTO FILE 1045"}, {app, "CREATE TABLE mine (a INT)", "schema CREATE TABLE t.mine"}, {app, "DROP TABLE mine", "schema DROP TABLE t.mine"},
		{root, "PREPARE p FROM 'CREATE DATABASE d3'", ""}, {root, "EXECUTE p", "schema CREATE DATABASE d3"}, {app, "PREPARE p FROM 'DROP DATABASE d3'", "denied d3 1044"},
	} {
		_, err := x.c.query(x.sql)
		var want []string
		if x.want != "" {
			want = strings.Split(x.want, "|")
		}
		list := log.wants(x.sql, want...)
		for _, l := range list {
			user := "root"
			if x.c == app {
				user = "app"
			}
			if l.Connection != x.c.id || l.User != user || l.Account != user+"@%" || l.Database != "t" || l.Command != "Query" || !strings.HasPrefix(l.Client, "127.0.0.1:") || (err == nil) != (l.Outcome == "ok") || err != nil && !strings.HasSuffix(err.Error(), l.Message) {
				t.Errorf("%s: %+v, %v", x.sql, l, err)
			}
		}
	}
	if got := log.next(); got != nil {
		t.Error(got)
	}

	// Prepared by the protocol: the text has no values.
	stmt, err := root.c.PrepareContext(t.Context(), "SET GLOBAL max_execution_time = ?")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := stmt.Exec(11); err != nil {
		t.Fatal(err)
	}
	if list := log.wants("prepared", "setting SET global.max_execution_time:0>11"); list[0].Command != "Execute" || list[0].Text != "SET GLOBAL max_execution_time = ?" {
		t.Errorf("%+v", list)
	}
	if _, err := app.c.PrepareContext(t.Context(), "DELETE FROM secret WHERE a = ?"); errorNumber(err) != 1142 {
		t.Error(err)
	}
	if list := log.wants("preparing", "denied t.secret needs DELETE 1142"); list[0].Command != "Prepare" {
		t.Errorf("%+v", list)
	}
	multi := dial(t, dsn+"?multiStatements=true")
	log.next()
	multi.exec("SELECT 1; CREATE TABLE m (a INT); DO 1; DROP TABLE m")
	if list := log.wants("multi-statement", "schema CREATE TABLE t.m", "schema DROP TABLE t.m"); list[0].Text != "CREATE TABLE m (a INT)" {
		t.Errorf("%+v", list)
	}

	// Long and strange texts.
	root.exec("SET GLOBAL sqlots_audit_log_text_size = 50")
	log.next()
	root.exec("CREATE TABLE `a\n\x1b[31m\u202e` (a INT COMMENT '" + strings.Repeat("é", 100) + "')")
	if list := log.wants("strange", "schema CREATE TABLE t.a\n\x1b[31m\u202e"); len(list[0].Text) > 50 || len(list[0].Text) < 48 {
		t.Errorf("%+v", list)
	}
}

// TestAuditLogins: who connects and leaves, and who is refused and why.
func TestAuditLogins(t *testing.T) {
	cert, key := selfSigned(t)
	socket := filepath.Join(t.TempDir(), "s")
	s, dsn, log := auditServer(t, func(c *server.Config) { c.TLSCert, c.TLSKey, c.Socket = cert, key, socket })
	root := dial(t, dsn)
	root.exec("CREATE ROLE r")
	for _, account := range []string{"app IDENTIFIED BY 'right'", "locked ACCOUNT LOCK", "tls REQUIRE SSL", "expired IDENTIFIED BY 'x' PASSWORD EXPIRE", "two WITH MAX_USER_CONNECTIONS 1", "blocked IDENTIFIED BY 'x' FAILED_LOGIN_ATTEMPTS 1 PASSWORD_LOCK_TIME 1"} {
		root.exec("CREATE USER " + account)
	}
	root.exec("GRANT r TO app")
	root.exec("SET DEFAULT ROLE r TO app")
	as := func(user string) string { return strings.Replace(dsn, "root", user, 1) }
	log.next()
	two := dial(t, strings.TrimSuffix(as("two"), "t"))
	log.wants("two", "connect")
	for _, x := range []struct{ dsn, want, reason string }{
		{as("app:wrong"), "connect_refused 1045", "wrong password"}, {as("nobody:hunter2"), "connect_refused 1045", "unknown user"}, {as("locked"), "connect_refused 3118", ""}, {as("tls"), "connect_refused 1045", "TLS"},
		{as("expired:x"), "connect_refused 1862", ""}, {as("two"), "connect_refused 1226", ""}, {as("blocked:y"), "connect_refused 3955", "account is blocked"}, {as("app:right"), "connect_refused 1044", ""}, {dsn + "x", "connect_refused 1049", ""},
	} {
		if login(t, x.dsn) == 0 {
			t.Errorf("%s was let in", x.dsn)
		}
		l := log.wants(x.dsn, x.want)[0]
		user, _, _ := strings.Cut(strings.SplitN(x.dsn, "@", 2)[0], ":")
		account := user + "@%"
		if user == "nobody" {
			account = ""
		}
		if l.User != user || l.Account != account || l.Command != "Connect" || !strings.Contains(l.Reason, x.reason) || l.Message == "" || !strings.HasPrefix(l.Client, "127.0.0.1:") || l.Connection == 0 {
			t.Errorf("%+v", l)
		}
	}
	root.exec("SET GLOBAL require_secure_transport = ON")
	log.next()
	if n := login(t, dsn); n != 3159 {
		t.Error(n)
	}
	log.wants("insecure", "connect_refused 3159")
	root.exec("SET GLOBAL require_secure_transport = OFF")
	root.exec("GRANT SELECT ON t.* TO r")
	two.close()
	eventually(t, func() bool { return s.OpenConnections() == 1 })
	log.next()
	c := dial(t, as("app:right")+"?tls=skip-verify")
	if l := log.wants("app", "connect")[0]; l.TLS != "TLS 1.3" || l.Database != "t" || strings.Join(l.Roles, ",") != "r@%" || l.Connection != c.id || l.Account != "app@%" {
		t.Errorf("%+v", l)
	}
	c.close()
	eventually(t, func() bool { return s.OpenConnections() == 1 })
	log.wants("app", "disconnect")
	c = dial(t, strings.Replace(dsn, "tcp("+s.Addr()+")", "unix("+socket+")", 1))
	if l := log.wants("socket", "connect")[0]; l.Client != "socket" {
		t.Errorf("%+v", l)
	}
	// One that sends no login is none.
	nc, err := net.Dial("tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	nc.Close()
	c.rows("1", "SELECT 1")
	log.wants("a port scan")
}

// TestAuditHTTP: logins by HTTP are logged and counted as those of the protocol are.
func TestAuditHTTP(t *testing.T) {
	s, dsn, log := auditServer(t, func(c *server.Config) { c.HTTP.Listen = "127.0.0.1:0" })
	root := dial(t, dsn)
	for _, account := range []string{"app IDENTIFIED BY 'right'", "locked ACCOUNT LOCK", "tls REQUIRE SSL", "full WITH MAX_USER_CONNECTIONS 1"} {
		root.exec("CREATE USER " + account)
	}
	dial(t, strings.TrimSuffix(strings.Replace(dsn, "root", "full", 1), "t"))
	root.exec("FLUSH STATUS")
	h := clientOf(t, s)
	counts := func() (attempts, refused int) {
		for name, n := range map[string]*int{"Connections": &attempts, "Aborted_connects": &refused} {
			if err := root.c.QueryRowContext(t.Context(), "SELECT VARIABLE_VALUE FROM performance_schema.global_status WHERE VARIABLE_NAME = ?", name).Scan(n); err != nil {
				t.Fatal(err)
			}
		}
		return attempts, refused
	}
	for _, x := range []struct{ user, password, want, reason string }{
		{"app", "wrong", "connect_refused 1045", "wrong password"}, {"nobody", "hunter2", "connect_refused 1045", "unknown user"}, {"locked", "", "connect_refused 3118", ""},
		{"tls", "", "connect_refused 1045", "TLS"}, {"full", "", "connect_refused 1226", ""}, {"app", "right", "connect|disconnect", ""},
	} {
		log.next()
		attempts, refused := counts()
		status, _ := h.as(x.user, x.password).do("POST", "/v1/query", "SELECT 1")
		if x.want == "connect|disconnect" {
			eventually(t, func() bool { return s.OpenConnections() == 2 })
		}
		list := log.wants(x.user, strings.Split(x.want, "|")...)
		if l := list[0]; l.User != x.user || (l.Account == "") != (x.user == "nobody") || l.Command != "Connect" || !strings.Contains(l.Reason, x.reason) || !strings.HasPrefix(l.Client, "127.0.0.1:") {
			t.Errorf("%s: %+v", x.user, l)
		}
		failed := 0
		if len(list) == 1 {
			failed = 1
		}
		if a, r := counts(); a != attempts+1 || r != refused+failed || (status == 200) != (failed == 0) {
			t.Errorf("%s: %d attempts, %d refused, status %d", x.user, a-attempts, r-refused, status)
		}
	}
}

// TestAuditSettings: who may change the log, and that each change has a line in it.
func TestAuditSettings(t *testing.T) {
	_, dsn, log := auditServer(t)
	root := dial(t, dsn)
	root.exec("CREATE USER admin")
	root.exec("GRANT SYSTEM_VARIABLES_ADMIN, PERSIST_RO_VARIABLES_ADMIN ON *.* TO admin")
	admin := dial(t, strings.TrimSuffix(strings.Replace(dsn, "root", "admin", 1), "t"))
	log.next()
	root.exec("SET PERSIST_ONLY sqlots_audit_log_rotations = 5")
	log.wants("PERSIST_ONLY", "audit SET persist_only.sqlots_audit_log_rotations:9>5", "setting SET persist_only.sqlots_audit_log_rotations:9>5")
	for _, set := range []string{
		"SET GLOBAL sqlots_audit_log = OFF", "SET @@global.SQLOTS_AUDIT_LOG = OFF", "SET PERSIST sqlots_audit_log = OFF", "SET PERSIST_ONLY sqlots_audit_log = OFF", "SET GLOBAL sqlots_audit_log_events = ''", "SET GLOBAL max_execution_time = 1, GLOBAL sqlots_audit_log = 0",
		"SET GLOBAL sqlots_audit_log_rotations = 1", "SET GLOBAL sqlots_audit_log_text_size = 0", "SET GLOBAL sqlots_audit_log_rotate_on_size = 4096", "SET GLOBAL sqlots_audit_log_strategy = DEFAULT", "RESET PERSIST sqlots_audit_log_rotations", "RESET PERSIST", "RESET PERSIST IF EXISTS sqlots_audit_log",
	} {
		admin.fails(1227, set)
		if l := log.next(); len(l) != 1 || l[0].Event != "denied" || l[0].Privilege != "AUDIT_ADMIN" {
			t.Errorf("%s: %v", set, l)
		}
	}
	admin.fails(1229, "SET sqlots_audit_log = OFF")
	root.fails(1238, "SET GLOBAL sqlots_audit_log_file = 'x.jsonl'")
	root.fails(1231, "SET GLOBAL sqlots_audit_log_events = 'CONNECT,SELECT'")
	root.fails(1231, "SET GLOBAL general_log_file = 'audit.jsonl'")
	root.exec("GRANT AUDIT_ADMIN ON *.* TO admin")
	log.next()
	admin.exec("RESET PERSIST")
	log.wants("RESET PERSIST", "audit RESET PERSIST reset_persist.sqlots_audit_log_rotations:5>9", "setting RESET PERSIST")
	admin.exec("SET GLOBAL sqlots_audit_log_events = 'schema,CONNECT'")
	log.wants("fewer events", "audit SET global.sqlots_audit_log_events:CONNECT,DENIED,ACCOUNT,SCHEMA,SETTING,ADMIN>CONNECT,SCHEMA")
	root.exec("CREATE USER x")
	root.exec("CREATE DATABASE d")
	admin.fails(1142, "SELECT * FROM t.none")
	log.wants("fewer events", "schema CREATE DATABASE d")
	root.rows("CONNECT,SCHEMA,OFF", "SELECT @@sqlots_audit_log_events, IF(@@sqlots_audit_log, 'OFF', 'ON')")
	admin.exec("SET GLOBAL sqlots_audit_log = OFF")
	log.wants("off", "audit SET global.sqlots_audit_log:ON>OFF")
	root.exec("DROP DATABASE d")
	admin.exec("SET GLOBAL sqlots_audit_log = ON")
	log.wants("on", "audit global.sqlots_audit_log:OFF>ON")
	// Files: FLUSH LOGS, and rotation by size.
	admin.exec("SET GLOBAL sqlots_audit_log_events = 'ALL', GLOBAL sqlots_audit_log_rotate_on_size = 5000, GLOBAL sqlots_audit_log_rotations = 2, GLOBAL sqlots_audit_log_strategy = 'synchronous'")
	root.rows("4096", "SELECT @@sqlots_audit_log_rotate_on_size")
	if err := os.Rename(log.path, log.path+".moved"); err != nil {
		t.Fatal(err)
	}
	root.exec("FLUSH LOGS")
	log.read = 0
	log.wants("FLUSH LOGS", "admin FLUSH")
	for range 60 {
		root.exec("FLUSH STATUS")
	}
	for _, suffix := range []string{"", ".1", ".2"} {
		if info, err := os.Stat(log.path + suffix); err != nil || info.Size() > 4096 {
			t.Error(info, err)
		}
	}
	root.rows("1,0,1", "SELECT (SELECT variable_value > 80 FROM performance_schema.global_status WHERE variable_name = 'Sqlots_audit_log_events'), (SELECT variable_value + 0 FROM performance_schema.global_status WHERE variable_name = 'Sqlots_audit_log_events_lost'), (SELECT variable_value > 0 FROM performance_schema.global_status WHERE variable_name = 'Sqlots_audit_log_current_size')")
	// The folder goes: statements go on, and the events are counted.
	if err := os.RemoveAll(filepath.Dir(log.path)); err != nil {
		t.Fatal(err)
	}
	root.exec("FLUSH LOGS")
	root.exec("CREATE DATABASE d")
	root.rows("2", "SELECT variable_value FROM performance_schema.global_status WHERE variable_name = 'Sqlots_audit_log_events_lost'")
}

// TestAuditForced: the flag precedes what was persisted, and forced refuses changes.
func TestAuditForced(t *testing.T) {
	testflag.Normal(t)
	data := filepath.Join(t.TempDir(), "data")
	mode := server.AuditOn
	start := func() (*server.Server, string) {
		return startOnce(t, func(c *server.Config) { c.InMemory, c.DataDir, c.AuditLog = false, data, mode })
	}
	s, dsn := start()
	log := &auditReader{t: t, path: filepath.Join(data, "log", "audit.jsonl")}
	c := dial(t, dsn)
	c.exec("SET PERSIST sqlots_audit_log = OFF")
	c.close()
	stop := func() {
		t.Helper()
		if err := s.Stop(0); err != nil {
			t.Fatal(err)
		}
	}
	stop()
	log.next()
	mode = server.AuditOff
	s, dsn = start()
	c = dial(t, dsn)
	c.rows("0", "SELECT @@sqlots_audit_log")
	c.close()
	stop()
	log.wants("off")
	mode = server.AuditForced
	s, dsn = start()
	c = dial(t, dsn)
	for _, set := range []string{"SET GLOBAL sqlots_audit_log = OFF", "SET PERSIST sqlots_audit_log_events = 'NONE'", "SET PERSIST_ONLY sqlots_audit_log_text_size = 1"} {
		c.fails(1238, set)
	}
	c.close()
	stop()
	list := log.next()
	if n := len(list); n < 5 || list[0].Event != "server_start" || len(list[0].Settings) != 7 || list[n-1].Event != "server_stop" || list[n-2].Event != "disconnect" {
		t.Error(list)
	}
	if err := os.WriteFile(log.path, []byte("mine"), 0o600); err != nil {
		t.Fatal(err)
	}
	cfg := server.Config{DataDir: data, Listen: "127.0.0.1:0", Durability: 1, Memory: 64 << 20, AuditLog: server.AuditForced}
	if s, err := server.Start(t.Context(), cfg); err == nil {
		t.Error("it started without its audit log")
		_ = s.Stop(0)
	}
	cfg.AuditLog = "yes"
	if s, err := server.Start(t.Context(), cfg); err == nil || !strings.Contains(err.Error(), "--audit-log") {
		t.Error(err)
		_ = s.Stop(0)
	}
	logged := &testutil.Buffer{}
	cfg.AuditLog, cfg.Log = server.AuditOn, slog.New(slog.NewTextHandler(logged, nil))
	s, err := server.Start(t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	stop()
	if text, err := os.ReadFile(log.path); string(text) != "mine" || !strings.Contains(logged.String(), "audit log cannot be written") {
		t.Errorf("%q, %v, %s", text, err, logged)
	}
}
