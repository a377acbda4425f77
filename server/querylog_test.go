package server_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// TestSlowLog switches the slow query log on and off on a running server, and
// compares its lines.
func TestSlowLog(t *testing.T) {
	dir := t.TempDir()
	_, dsn := startServer(t, func(c *server.Config) { c.LogDir = dir })
	c := dial(t, dsn)
	path := filepath.Join(dir, "q.log")
	read := func() string {
		t.Helper()
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, bad := range []string{"/tmp/q.log", "../q.log", "q.cnf", "no/such/q.log", ""} {
		c.fails(1231, "SET GLOBAL slow_query_log_file = '"+bad+"'")
	}
	c.fails(1231, "SET GLOBAL log_output = 'FILE,PRINTER'")
	c.exec("CREATE TABLE a (id INT PRIMARY KEY, v INT, k INT, KEY (k))")
	c.exec("INSERT INTO a VALUES (1, 1, 1), (2, 2, 2), (3, 3, 3)")
	c.exec("SET GLOBAL slow_query_log_file = 'q.log'")
	c.exec("SET GLOBAL slow_query_log = ON")
	c.exec("SET long_query_time = 0")
	c.exec("SET GLOBAL log_output = 'table,FILE'")
	c.rows("1,1,1|2,2,2|3,3,3", "SELECT * FROM a")
	c.rows("2", "SELECT v FROM a WHERE id = 2;")
	c.fails(1062, "INSERT INTO a VALUES (1, 1, 1)")
	c.exec("UPDATE a SET v = 7 WHERE v > 1")
	c.exec("ALTER USER root IDENTIFIED BY 'topsecret'")
	c.exec("ALTER USER root IDENTIFIED BY ''")
	c.exec("ALTER TABLE a ADD COLUMN w INT")
	c.rows("3", "SELECT COUNT(*) FROM a WHERE id > ?", 0)
	c.exec("SET long_query_time = 10")
	c.rows("1", "SELECT 1")
	log := read()
	entry := func(stats, text string) {
		t.Helper()
		want := `# Time: \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z\n# User@Host: root\[root\] @ localhost \[127\.0\.0\.1\]  Id: +\d+\n# Query_time: \d+\.\d{6}  Lock_time: \d+\.\d{6} ` +
			stats + `\n(use t;\n)?SET timestamp=\d+;\n` + regexp.QuoteMeta(text) + `;\n`
		if !regexp.MustCompile(want).MatchString(log) {
			t.Errorf("no %s in\n%s", want, log)
		}
	}
	if !strings.HasPrefix(log, "/") || !strings.Contains(log, ", Version: ") || strings.Count(log, "use t;\n") != 1 || strings.Contains(log, "SELECT 1") ||
		strings.Contains(log, "topsecret") || strings.Contains(log, "ALTER TABLE") {
		t.Errorf("log\n%s", log)
	}
	entry("Rows_sent: 3  Rows_examined: 3", "SELECT * FROM a")
	entry("Rows_sent: 1  Rows_examined: 1", "SELECT v FROM a WHERE id = 2")
	entry("Rows_sent: 0  Rows_examined: 0", "INSERT INTO a VALUES (1, 1, 1)")
	entry("Rows_sent: 0  Rows_examined: 3", "UPDATE a SET v = 7 WHERE v > 1")
	entry("Rows_sent: 0  Rows_examined: 0", "ALTER USER root IDENTIFIED BY <secret>")
	entry("Rows_sent: 1  Rows_examined: 3", "SELECT COUNT(*) FROM a WHERE id > ?")
	c.rows("3,3,t,SELECT * FROM a", "SELECT rows_sent, rows_examined, db, sql_text FROM mysql.slow_log WHERE sql_text LIKE 'SELECT * FROM a'")

	// The file is renamed, and begun again.
	if err := os.Rename(path, path+".1"); err != nil {
		t.Fatal(err)
	}
	c.exec("FLUSH SLOW LOGS")
	c.exec("SET GLOBAL log_queries_not_using_indexes = ON, GLOBAL log_slow_extra = ON")
	c.rows("7", "SELECT v FROM a WHERE id = 2")
	c.rows("7", "SELECT v FROM a FORCE INDEX (k) WHERE k = 2")
	c.rows("7|7", "SELECT v FROM a WHERE v = 7")
	c.rows("2", "SELECT id FROM a ORDER BY id LIMIT 1, 1")
	c.exec("SET min_examined_row_limit = 4")
	c.rows("7|7", "SELECT v FROM a WHERE v = 7 AND k < 100")
	if log = read(); strings.Count(log, "# Query_time") != 2 {
		t.Errorf("log\n%s", log)
	}
	entry(`Rows_sent: 2  Rows_examined: 3 Thread_id: \d+ Errno: 0 Killed: 0 Bytes_received: 0 Bytes_sent: [1-9]\d+ .*`, "SELECT v FROM a WHERE v = 7")
	c.exec("SET GLOBAL slow_query_log = OFF, long_query_time = 0, min_examined_row_limit = 0")
	c.rows("7|7", "SELECT v FROM a WHERE v = 7")
	if read() != log {
		t.Errorf("it is not off\n%s", read())
	}
}

// TestSlowLogLocks: the log separates waits for locks from other time.
func TestSlowLogLocks(t *testing.T) {
	testflag.Normal(t)
	dir := t.TempDir()
	_, dsn := startServer(t, func(c *server.Config) { c.LogDir = dir })
	a, b, w := dial(t, dsn), dial(t, dsn), dial(t, dsn)
	a.exec("CREATE TABLE a (id INT PRIMARY KEY, v INT)")
	a.exec("INSERT INTO a VALUES (1, 1)")
	a.exec("SET GLOBAL slow_query_log = ON, GLOBAL log_output = 'TABLE'")
	b.exec("SET long_query_time = 0")
	a.exec("BEGIN")
	a.exec("UPDATE a SET v = 2 WHERE id = 1")
	p := b.start(w, "UPDATE a SET v = 3 WHERE id = 1")
	w.exec("DO SLEEP(0.2)")
	a.exec("COMMIT")
	p.ok()
	b.rows("1", "SELECT lock_time > '00:00:00.1' AND lock_time <= query_time FROM mysql.slow_log WHERE sql_text LIKE 'UPDATE%'")
}

func TestGeneralLog(t *testing.T) {
	dir := t.TempDir()
	_, dsn := startServer(t, func(c *server.Config) { c.LogDir = dir })
	c := dial(t, dsn)
	c.exec("SET GLOBAL general_log_file = 'g.log', GLOBAL general_log = 1")
	d := dial(t, dsn)
	d.rows("1", "SELECT 1")
	d.exec("CREATE USER u IDENTIFIED WITH caching_sha2_password BY 'it''s secret'")
	d.exec("SET PASSWORD FOR u = 'secret'")
	d.exec("SET sql_log_off = 1")
	d.rows("2", "SELECT 2")
	d.close()
	c.exec("SET GLOBAL general_log = 0")
	text, err := os.ReadFile(filepath.Join(dir, "g.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{`\dZ\t +\d+ Connect\troot@localhost on t using TCP/IP\n`, `\dZ\t +\d+ Query\tSELECT 1\n`, `Query\tCREATE USER u IDENTIFIED WITH caching_sha2_password BY <secret>\n`, `Query\tSET PASSWORD FOR u = <secret>\n`} {
		if !regexp.MustCompile(want).Match(text) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
	if strings.Contains(string(text), "SELECT 2") || strings.Contains(string(text), "secret'") {
		t.Errorf("log\n%s", text)
	}
}
