package server_test

import (
	"testing"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// TestToolsSet runs what shells, dumps, drivers and frameworks set.
func TestToolsSet(t *testing.T) {
	_, dsn := startServer(t)
	c := dial(t, dsn)
	for _, s := range []string{
		"SET NAMES utf8mb4", "SET NAMES utf8", "SET NAMES utf8mb4 COLLATE utf8mb4_bin", "SET NAMES binary", "SET NAMES DEFAULT", "SET CHARACTER SET utf8mb4",
		"SET character_set_results=NULL", "SET autocommit=1", "SET autocommit=ON", "SET sql_quote_show_create=1", "SET net_write_timeout=600, net_read_timeout=600",
		"SET unique_checks=0, foreign_key_checks=0, sql_notes=0", "SET time_zone='+00:00'", "SET time_zone='SYSTEM'", "SET SESSION sql_mode='NO_AUTO_VALUE_ON_ZERO'",
		"SET sql_mode=DEFAULT", "SET @OLD=@@sql_mode, sql_mode='ANSI'", "SET sql_mode=@OLD", "SET SESSION wait_timeout=28800", "SET sql_big_selects=1",
		"SET default_storage_engine=InnoDB", "SET optimizer_switch='mrr=on'", "SET tx_isolation='READ-COMMITTED'", "SET SESSION TRANSACTION ISOLATION LEVEL REPEATABLE READ",
		"SET sql_auto_is_null=0", "SET lc_time_names='en_US'", "SET group_concat_max_len=1048576", "SET sql_safe_updates=0", "SET max_execution_time=0",
		"SET GLOBAL innodb_lock_wait_timeout=50", "SET SESSION sql_select_limit=DEFAULT", "SET sql_log_bin=0", "SET insert_id=1", "SET timestamp=DEFAULT",
		"SET GLOBAL time_zone='+00:00'", "SET character_set_client=utf8mb4", "SET collation_connection=utf8mb4_general_ci", "SET div_precision_increment=4",
	} {
		c.exec(s)
	}
	c.exec("SET tx_isolation='READ-COMMITTED'")
	c.rows("READ-COMMITTED,READ-COMMITTED", "SELECT @@tx_isolation, @@transaction_isolation")
	for _, x := range []struct {
		number uint16
		text   string
	}{
		{1193, "SET nope=1"}, {1193, "SET GLOBAL nope=1"}, {1238, "SET version='x'"}, {1238, "SET GLOBAL port=10"}, {1229, "SET innodb_flush_log_at_trx_commit=1"},
		{1231, "SET sql_mode='nope'"}, {1231, "SET autocommit=2"}, {1298, "SET time_zone='nope'"}, {1115, "SET NAMES nope"}, {1232, "SET wait_timeout='x'"},
		{1235, "SET GLOBAL read_only=1"}, {1235, "SET sql_auto_is_null=1"},
		{1235, "SET GLOBAL partial_revokes=1"},
	} {
		c.fails(x.number, x.text)
	}
}

// TestPersist: SET PERSIST survives a restart, PERSIST_ONLY takes effect with
// it, and the limit of connections follows the variable.
func TestPersist(t *testing.T) {
	testflag.Normal(t)
	dir := t.TempDir()
	cfg := server.Config{DataDir: dir, Listen: "127.0.0.1:0", Durability: 1, Memory: 64 << 20}
	start := func() (*server.Server, *client) {
		s := servertest.Open(t, cfg)
		return s, dial(t, servertest.DSN(s))
	}
	s, c := start()
	c.exec("SET PERSIST long_query_time = 3.5, PERSIST sql_safe_updates = ON, PERSIST time_zone = '+02:00'")
	c.exec("SET PERSIST_ONLY max_connections = 3")
	c.rows("2000,0,3.5", "SELECT @@max_connections, @@sql_safe_updates, @@global.long_query_time")
	c.close()
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	s, c = start()
	defer s.Stop(0)
	c.rows("3,1,3.5,+02:00", "SELECT @@max_connections, @@sql_safe_updates, @@long_query_time, @@time_zone")
	dial(t, servertest.DSN(s))
	dial(t, servertest.DSN(s))
	dial(t, servertest.DSN(s)) // the spare one
	if got := login(t, servertest.DSN(s)); got != 1040 {
		t.Fatalf("error %d, want 1040", got)
	}
	c.exec("SET GLOBAL max_connections = 10")
	if got := login(t, servertest.DSN(s)); got != 0 {
		t.Fatalf("error %d after raising the limit", got)
	}
}
