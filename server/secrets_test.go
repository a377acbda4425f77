package server_test

import (
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/server"
)

// TestSecrets: no log, list or message shows a password, in whatever form a client
// sends it. The password is hunter2.
func TestSecrets(t *testing.T) {
	dir := t.TempDir()
	log := &testutil.Buffer{}
	_, dsn := startServer(t, func(c *server.Config) {
		c.LogDir, c.AuditLog, c.Log = dir, server.AuditOn, slog.New(slog.NewTextHandler(log, nil))
	})
	dsn += "?multiStatements=true"
	root := dial(t, dsn)
	root.exec("CREATE TABLE a (id INT PRIMARY KEY, v TEXT)")
	root.exec("INSERT INTO a VALUES (1, '')")
	admitAll(root)
	root.exec("CREATE USER u")
	root.exec("SET GLOBAL general_log = ON, GLOBAL slow_query_log = ON, GLOBAL log_output = 'FILE,TABLE', GLOBAL log_slow_extra = ON")
	c := dial(t, dsn)
	c.exec("SET long_query_time = 0")
	hash := "0x" + strings.Repeat("00", 3) + "68756e74657232"
	for _, sql := range []string{
		"ALTER USER u IDENTIFIED BY 'hunter2'", "ALTER USER u IDENTIFIED BY'hunter2'", "ALTER USER u IDENTIFIED WITH mysql_native_password BY /* c */ \"hunter2\"",
		"SET PASSWORD FOR 'u'@'%' = 'hunter2'", "SET PASSWORD FOR u='hunter2'", "ALTER USER u IDENTIFIED BY hunter2", "ALTER USER u IDENTIFIED BI 'hunter2'", "ALTER USER u IDENTIFIED BY 'hunter2",
		"ALTER USER u IDENTIFIED WITH mysql_native_password AS 'hunter2'", "ALTER USER u IDENTIFIED WITH mysql_native_password AS " + hash, "ALTER USER u IDENTIFIED BY _utf8'hunter2'",
		"GRANT ALL ON *.* TO u IDENTIFIED BY 'hunter2'", "ALTER USER u IDENTIFIED BY 'hunter2' REPLACE 'hunter2' RETAIN CURRENT PASSWORD", "SET PASSWORD = 'hunter2' REPLACE 'hunter2'", "ALTER USER u IDENTIFIED BY 'x' REPLACE hunter2", "ALTER USER u IDENTIFIED BY 'hunter2' PASSWORD HISTORY 9",
		"CREATE USER w IDENTIFIED BY 'hunter2', IF NOT EXISTS", "CREATE USER w IDENTIFIED BY 'hunter2' /* 'hunter2' */ COMMENT 'x'", "/* IDENTIFIED BY 'hunter2' */ DROP USER IF EXISTS w", "CREATE USER IF NOT EXISTS w IDENTIFIED WITH caching_sha2_password BY 'hunter2' REQUIRE SSL", "CREATE USER w IDENTIFIED BY 'hunter2', u IDENTIFIED BY \"hunter2\"", "DROP USER IF EXISTS w",
		"SET PASSWORD FOR u = PASSWORD('hunter2')", "SET PASSWORD FOR nosuch = 'hunter2'", "SET GLOBAL max_execution_time = 0, PASSWORD = 'hunter2'", "GRANT SELECT ON t.* TO u@localhost IDENTIFIED BY PASSWORD 'hunter2' WITH GRANT OPTION", "CHANGE REPLICATION SOURCE TO SOURCE_PASSWORD='hunter2'", "/*!80000 ALTER USER u IDENTIFIED BY 'hunter2' */",
		"PREPARE p FROM 'ALTER USER u IDENTIFIED BY ''hunter2'''", "EXECUTE p", "PREPARE p FROM 'ALTER USER u IDENTIFIED BY BY ''hunter2'''",
		"SET @v = 'ALTER USER u IDENTIFIED BY ''hunter2'''", "PREPARE p FROM @v", "SET @v = 'ALTER USER u IDENTIFIED BI ''hunter2'''", "PREPARE p FROM @v",
		"SELECT 1; ALTER USER u IDENTIFIED BY 'hunter2'; SELECT 2", "SELECT 1; ALTER USER u IDENTIFIED BY BY 'hunter2'", "ALTER USER u IDENTIFIED BY 'hunter2' /* " + strings.Repeat("x", 1<<17) + " */",
		"SELECT '" + strings.Repeat("x", 1<<17) + "'; ALTER USER u IDENTIFIED BY 'hunter2'", "SELECT STATEMENT_DIGEST_TEXT(\"ALTER USER u IDENTIFIED BY 'hunter2'\")",
		"SELECT STATEMENT_DIGEST_TEXT(\"ALTER USER u IDENTIFIED WITH mysql_native_password AS " + hash + "\")", "SELECT STATEMENT_DIGEST_TEXT(\"ALTER USER u IDENTIFIED BY BY 'hunter2'\")",
		"SET sql_mode = 'ANSI_QUOTES'", "ALTER USER u IDENTIFIED BY \"hunter2\"", "SET sql_mode = ''",
	} {
		for _, args := range [][]any{nil, {1}} { // the driver prepares what has arguments
			got, err := c.query(sql, args...)
			if err != nil {
				got = err.Error()
			}
			if bad := leak(got); bad != "" {
				t.Errorf("%s: %s", clip(sql), bad)
			}
			for _, show := range []string{"SHOW WARNINGS", "SHOW ERRORS"} {
				if got, err := c.query(show); err != nil || leak(got) != "" {
					t.Errorf("%s after %s: %s, %v", show, clip(sql), got, err)
				}
			}
		}
		stmt, err := c.c.PrepareContext(t.Context(), sql)
		if err == nil {
			stmt.Close()
		} else if bad := leak(err.Error()); bad != "" {
			t.Errorf("preparing %s: %s", clip(sql), bad)
		}
	}

	// What runs, and in a transaction.
	c.exec("BEGIN")
	c.exec("UPDATE a SET v = 'x'")
	for _, sql := range []string{
		"DO SLEEP(100); ALTER USER u IDENTIFIED BY 'hunter2'", "SELECT SLEEP(100), 'ALTER USER u IDENTIFIED BY \"hunter2\"' FROM a", "SET @v = CONCAT('ALTER USER u IDENTIFIED BY ''hunter2''', SLEEP(100))",
	} {
		done := make(chan error, 1)
		go func() {
			_, err := c.query(sql)
			done <- err
		}()
		eventually(t, func() bool {
			n, err := root.query("SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND info LIKE '%SLEEP(100)%'", c.id)
			return err == nil && n == "1"
		})
		for _, show := range []string{
			"SHOW FULL PROCESSLIST", "SELECT * FROM information_schema.processlist", "SELECT * FROM performance_schema.processlist", "SELECT * FROM performance_schema.threads",
			"SELECT * FROM information_schema.innodb_trx", "SHOW ENGINE INNODB STATUS", "SELECT * FROM sys.processlist", "SELECT * FROM sys.session", "SELECT * FROM performance_schema.events_statements_current",
			"SELECT * FROM performance_schema.events_statements_history", "SELECT * FROM performance_schema.events_statements_summary_by_digest", "SELECT * FROM performance_schema.prepared_statements_instances",
			"SELECT * FROM performance_schema.error_log", "SELECT * FROM sys.`x$statement_analysis`", "SELECT * FROM sys.`x$processlist`",
		} {
			if got, err := root.query(show); err == nil && leak(got) != "" {
				t.Errorf("%s: %s", show, leak(got))
			}
		}
		for _, format := range []string{"TREE", "JSON", "TRADITIONAL"} {
			if got, err := root.query(fmt.Sprint("EXPLAIN FORMAT=", format, " FOR CONNECTION ", c.id)); err == nil && leak(got) != "" {
				t.Errorf("EXPLAIN FOR CONNECTION: %s", leak(got))
			}
		}
		root.exec(fmt.Sprint("KILL QUERY ", c.id))
		<-done
	}
	root.exec("SET GLOBAL general_log = OFF, GLOBAL slow_query_log = OFF")
	for _, table := range []string{"general_log", "slow_log"} {
		got, err := root.query("SELECT * FROM mysql." + table)
		if err != nil || leak(got) != "" || !strings.Contains(got, "<secret>") {
			t.Errorf("%s: %s, %v", table, leak(got), err)
		}
	}
	list, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(list) != 3 {
		t.Fatal(list, err)
	}
	for _, path := range list {
		text, err := os.ReadFile(path)
		if err != nil || leak(string(text)) != "" || !strings.Contains(string(text), "<secret>") {
			t.Errorf("%s: %s, %v", path, leak(string(text)), err)
		}
	}
	if bad := leak(log.String()); bad != "" {
		t.Errorf("log of the server: %s", bad)
	}
}

// leak is the part of a text with the secret of TestSecrets, "" without.
func leak(text string) string {
	for _, secret := range []string{"hunter2", "68756e74657232"} {
		if i := strings.Index(text, secret); i >= 0 {
			return text[max(i-60, 0):min(i+20, len(text))]
		}
	}
	return ""
}
