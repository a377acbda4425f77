package server_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// TestPerformanceSchema: the numbers of accounts and connections, who sees and resets
// them, and who waits for a table.
func TestPerformanceSchema(t *testing.T) {
	s, dsn := startServer(t)
	root := dial(t, dsn)
	admitAll(root)
	root.exec("CREATE TABLE a (id INT PRIMARY KEY, v INT)")
	root.exec("INSERT INTO a VALUES (1, 1), (2, 2)")
	root.exec("CREATE USER u IDENTIFIED BY ''")
	root.exec("CREATE USER reader IDENTIFIED BY ''")
	root.exec("CREATE USER viewer IDENTIFIED BY ''")
	root.exec("GRANT SELECT ON performance_schema.* TO reader")
	root.exec("GRANT SELECT ON sys.* TO reader, viewer")
	as := func(user string) *client { return dial(t, strings.Replace(servertest.DSN(s), "root", user, 1)+"t") }
	u, reader, viewer := as("u"), as("reader"), as("viewer")
	for range 3 {
		u.rows("1", "SELECT v FROM a WHERE id = 1")
	}
	u.fails(1146, "SELECT * FROM nix")

	// Sums of connections stay when they end.
	other := as("u")
	other.rows("2", "SELECT v FROM a WHERE id = 2")
	other.close()
	eventually(t, func() bool {
		got, err := root.query("SELECT CURRENT_CONNECTIONS, TOTAL_CONNECTIONS FROM performance_schema.users WHERE USER = 'u'")
		return err == nil && got == "1,2"
	})
	root.rows("u,localhost,1,2", "SELECT USER, HOST, CURRENT_CONNECTIONS, TOTAL_CONNECTIONS FROM performance_schema.accounts WHERE USER = 'u'")
	const digest = "SELECT COUNT_STAR, SUM_ROWS_SENT FROM performance_schema.events_statements_summary_by_digest WHERE DIGEST_TEXT = 'SELECT `v` FROM `a` WHERE `id` = ?'"
	root.rows("4,4", digest)
	// Each connection of the test begins with a SELECT.
	for _, by := range []string{"user_by", "account_by"} {
		root.rows("7,1", fmt.Sprintf("SELECT COUNT_STAR, SUM_ERRORS FROM performance_schema.events_statements_summary_by_%s_event_name WHERE USER = 'u' AND EVENT_NAME = 'statement/sql/select'", by))
	}
	root.rows("5,1", fmt.Sprintf("SELECT COUNT_STAR, SUM_ERRORS FROM performance_schema.events_statements_summary_by_thread_by_event_name WHERE THREAD_ID = %d AND EVENT_NAME = 'statement/sql/select'", u.id))
	root.rows("7", "SELECT VARIABLE_VALUE FROM performance_schema.status_by_user WHERE USER = 'u' AND VARIABLE_NAME = 'Com_select'")
	root.rows("5", fmt.Sprintf("SELECT VARIABLE_VALUE FROM performance_schema.status_by_thread WHERE THREAD_ID = %d AND VARIABLE_NAME = 'Com_select'", u.id))
	root.rows("select,7", "SELECT statement, total FROM sys.user_summary_by_statement_type WHERE user = 'u'")
	root.rows("7,1,2,1", "SELECT statements, current_connections, total_connections, unique_hosts FROM sys.user_summary WHERE user = 'u'")
	root.rows("1146,42S02", fmt.Sprintf("SELECT MYSQL_ERRNO, RETURNED_SQLSTATE FROM performance_schema.events_statements_history WHERE THREAD_ID = %d ORDER BY EVENT_ID DESC LIMIT 1", u.id))

	// Who may read performance_schema sees the statements of all; the views of sys have
	// the rights of who uses them.
	reader.rows("4,4", digest)
	reader.rows("4", "SELECT exec_count FROM sys.statement_analysis WHERE query = 'SELECT `v` FROM `a` WHERE `id` = ?'")
	viewer.fails(1356, "SELECT * FROM sys.statement_analysis")
	viewer.fails(1142, digest)
	reader.fails(1142, "TRUNCATE performance_schema.events_statements_summary_by_digest")
	reader.fails(1142, "CALL sys.ps_truncate_all_tables(FALSE)")

	// Who waits for a table.
	u.exec("BEGIN")
	u.exec("UPDATE a SET v = 3 WHERE id = 1")
	done := make(chan error, 1)
	go func() {
		_, err := root.query("ALTER TABLE a ADD COLUMN w INT")
		done <- err
	}()
	watch := dial(t, dsn)
	eventually(t, func() bool {
		got, err := watch.query("SELECT waiting_pid, blocking_pid, blocking_account, sql_kill_blocking_query FROM sys.schema_table_lock_waits WHERE object_name = 'a'")
		return err == nil && got == fmt.Sprintf("%d,%d,u@127.0.0.1,KILL QUERY %[2]d", root.id, u.id)
	})
	watch.rows(fmt.Sprintf("SHARED_UPGRADABLE,GRANTED,%d|SHARED_WRITE,GRANTED,%d|EXCLUSIVE,PENDING,%[1]d", root.id, u.id),
		"SELECT LOCK_TYPE, LOCK_STATUS, OWNER_THREAD_ID FROM performance_schema.metadata_locks WHERE OBJECT_NAME = 'a' AND LOCK_TYPE <> 'SHARED_READ' ORDER BY LOCK_STATUS, LOCK_TYPE")
	u.exec("COMMIT")
	if err := <-done; err != nil {
		t.Error(err)
	}

	root.exec("TRUNCATE performance_schema.events_statements_summary_by_user_by_event_name")
	root.rows("0", "SELECT COUNT(*) FROM performance_schema.events_statements_summary_by_user_by_event_name WHERE USER = 'u'")
	root.exec("TRUNCATE performance_schema.users")
	root.rows("1,1", "SELECT CURRENT_CONNECTIONS, TOTAL_CONNECTIONS FROM performance_schema.users WHERE USER = 'u'")
	root.rows("1", "SELECT COUNT(*) > 0 FROM performance_schema.error_log WHERE PRIO IN ('Warning', 'Note', 'Error')")
}

// TestPerformanceSchemaOff: nothing is measured, the tables of variables are there.
func TestPerformanceSchemaOff(t *testing.T) {
	_, dsn := startServer(t, func(c *server.Config) { c.NoPerformanceSchema = true })
	c := dial(t, dsn)
	for _, table := range []string{"events_statements_summary_by_digest", "events_statements_summary_global_by_event_name", "events_statements_current", "setup_consumers", "accounts", "table_io_waits_summary_by_table"} {
		c.rows("0", "SELECT COUNT(*) FROM performance_schema."+table)
	}
	c.rows("0", "SELECT COUNT(*) FROM sys.statement_analysis")
	c.rows("1", "SELECT COUNT(*) > 400 FROM performance_schema.global_status")
}

// TestSessionTLS: who may read the status of connections sees with which TLS each came.
func TestSessionTLS(t *testing.T) {
	cert, key := selfSigned(t)
	_, dsn := startServer(t, func(c *server.Config) { c.TLSCert, c.TLSKey = cert, key })
	plain, secure := dial(t, dsn), dial(t, dsn+"?tls=skip-verify")
	const status = "SELECT ssl_version, ssl_cipher LIKE 'TLS%%', ssl_sessions_reused FROM sys.session_ssl_status WHERE thread_id = %d"
	for _, c := range []*client{plain, secure} {
		c.rows(",0,0", fmt.Sprintf(status, plain.id))
		c.rows("TLSv1.3,1,0", fmt.Sprintf(status, secure.id))
		c.rows("1", "SELECT COUNT(*) FROM sys.session_ssl_status WHERE ssl_cipher <> ''")
	}
	secure.rows("1", fmt.Sprintf("SELECT ssl_cipher = (SELECT VARIABLE_VALUE FROM performance_schema.session_status WHERE VARIABLE_NAME = 'Ssl_cipher') FROM sys.session_ssl_status WHERE thread_id = %d", secure.id))
	plain.rows("TLSv1.3", fmt.Sprintf("SELECT VARIABLE_VALUE FROM performance_schema.status_by_thread WHERE THREAD_ID = %d AND VARIABLE_NAME = 'Ssl_version'", secure.id))
	admitAll(plain)
	plain.exec("CREATE USER viewer IDENTIFIED BY ''")
	plain.exec("GRANT SELECT ON sys.* TO viewer")
	viewer := dial(t, strings.Replace(dsn, "root", "viewer", 1))
	viewer.fails(1356, "SELECT * FROM sys.session_ssl_status")
	viewer.fails(1356, "SELECT * FROM sys.`x$waits_by_user_by_latency`")
	viewer.fails(1227, "SELECT * FROM sys.innodb_buffer_stats_by_schema")
	viewer.rows("information_schema,sys", "SELECT GROUP_CONCAT(DISTINCT db ORDER BY db) FROM sys.schema_object_overview")
	plain.exec("GRANT SELECT ON performance_schema.* TO viewer")
	viewer.rows(",0,0", fmt.Sprintf(status, plain.id))
	viewer.fails(1227, "SELECT * FROM sys.schema_table_statistics_with_buffer")
}

// TestPerformanceSchemaRace reads all tables while statements run, connections come and
// go, and sums begin again.
func TestPerformanceSchemaRace(t *testing.T) {
	testflag.Normal(t)
	_, dsn := startServer(t)
	root := dial(t, dsn)
	root.exec("CREATE TABLE a (id INT PRIMARY KEY, v INT, KEY (v))")
	root.exec("INSERT INTO a VALUES (1, 1), (2, 2)")
	var wg sync.WaitGroup
	stop := make(chan struct{})
	for i := range 2 {
		wg.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				c := dial(t, dsn)
				c.exec(fmt.Sprintf("SELECT v AS c%d_%d FROM a WHERE v = 1", i, n%5))
				c.exec("UPDATE a SET v = v + 1 WHERE id = ?", i+1)
				c.close()
			}
		})
	}
	root.exec("SET group_concat_max_len = 100000")
	names, err := root.query("SELECT GROUP_CONCAT(CONCAT(TABLE_SCHEMA, '.`', TABLE_NAME, '`') SEPARATOR '|') FROM information_schema.TABLES WHERE TABLE_SCHEMA IN ('performance_schema', 'sys') AND TABLE_NAME NOT LIKE 'replication%'")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range strings.Split(names, "|") {
		if _, err := root.query("SELECT * FROM " + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	root.exec("DO 1")
	if _, err := root.query("CALL sys.ps_truncate_all_tables(FALSE)"); err != nil {
		t.Error(err)
	}
	close(stop)
	wg.Wait()
}
