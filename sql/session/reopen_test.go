package session

import (
	"context"
	"testing"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/storage/memkv"
)

// TestReopen: all that engines keep in the system's key space has keys of its
// own, so that the next one can read it.
func TestReopen(t *testing.T) {
	ctx := context.Background()
	store := memkv.New(memkv.Options{})
	session := func() (*engine.Engine, *Session) {
		e, err := engine.New(ctx, engine.Config{Store: store})
		if err != nil {
			t.Fatal(err)
		}
		s, err := New(ctx, sharedOf(t, e), mysqlwire.ConnInfo{ID: 1, User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, Kill: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		return e, s
	}
	e, s := session()
	for _, sql := range []string{"CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY AUTO_INCREMENT, a INT)", "CREATE TABLE d.h (a INT)",
		"INSERT INTO d.t (a) VALUES (1),(2)", "INSERT INTO d.h VALUES (1)", "ANALYZE TABLE d.t", "CREATE VIEW d.v AS SELECT a FROM d.t",
		"CREATE TEMPORARY TABLE d.tmp AS SELECT * FROM d.t", "SET PERSIST max_execution_time = 12345"} {
		s.mustQuery(t, sql, &sink{})
	}
	s.Close()
	if err := e.Close(ctx); err != nil {
		t.Fatal(err)
	}
	_, s = session()
	defer s.Close()
	if got := s.rowsOf(t, "SELECT SUM(a), COUNT(*) FROM d.v"); got != "3 2" {
		t.Errorf("the view: %s", got)
	}
	if got := s.rowsOf(t, "SELECT @@GLOBAL.max_execution_time"); got != "12345" {
		t.Errorf("the variable: %s", got)
	}
	if got := s.errorOf("SELECT * FROM d.tmp"); got != 1146 {
		t.Errorf("the temporary table: %d", got)
	}
}
