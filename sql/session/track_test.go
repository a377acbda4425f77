package session

import (
	"context"
	"fmt"
	"testing"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/storage/memkv"
)

// TestStateChanges: the variables that are tracked are reported once.
func TestStateChanges(t *testing.T) {
	e, err := engine.New(t.Context(), engine.Config{Store: memkv.New(memkv.Options{})})
	if err != nil {
		t.Fatal(err)
	}
	s, err := New(context.Background(), sharedOf(t, e), mysqlwire.ConnInfo{ID: 1, User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	for _, c := range []struct{ sql, want string }{
		{"SELECT 1", "[]"},
		{"SET time_zone = '+01:00', autocommit = 1, sql_safe_updates = 1", "[{time_zone +01:00} {autocommit ON}]"},
		{"SET NAMES utf8mb3", "[{character_set_client utf8mb3} {character_set_results utf8mb3} {character_set_connection utf8mb3}]"},
		{"SET session_track_system_variables = '*', session_track_state_change = 1", "[{ } {session_track_system_variables *} {session_track_state_change ON}]"},
		{"SET sql_safe_updates = 0, sql_safe_updates = 1", "[{ } {sql_safe_updates ON}]"},
		{"SET session_track_system_variables = '', session_track_state_change = 0", "[]"},
		{"SET time_zone = '+02:00'", "[]"},
		{"SET GLOBAL slow_launch_time = 3", "[]"},
	} {
		s.rowsOf(t, c.sql)
		if got := fmt.Sprint(s.StateChanges()); got != c.want {
			t.Errorf("%s: %s, want %s", c.sql, got, c.want)
		}
	}
	if !s.TracksSchema() {
		t.Error("the database is not tracked")
	}
}
