package session

import (
	"fmt"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/infoschema"
	"github.com/sqlots/sqlots/sql/introspect"
	"github.com/sqlots/sqlots/sql/ttl"
)

// TestExpiryJob: expired rows go from the store, by key and without a named
// one, with their index entries, and nothing else goes.
func TestExpiryJob(t *testing.T) {
	testflag.Normal(t)
	s := testSession(t)
	s.mustQuery(t, "CREATE DATABASE d", &sink{})
	s.mustQuery(t, "USE d", &sink{})
	for name, key := range map[string]string{"by_key": "a VARCHAR(20), at DATETIME, b DECIMAL(9,3), PRIMARY KEY (b, a), KEY (at)", "hidden": "a VARCHAR(20), at DATETIME, b INT, UNIQUE KEY (a)", "off": "a INT PRIMARY KEY, at DATETIME, b INT"} {
		s.mustQuery(t, "CREATE TABLE "+name+" ("+key+") TTL = at + INTERVAL 1 HOUR", &sink{})
		for i := range 3 {
			s.mustQuery(t, fmt.Sprintf("INSERT INTO %s (a, at, b) WITH RECURSIVE n AS (SELECT 0 i UNION ALL SELECT i + 1 FROM n WHERE i < 599) SELECT i*10+%d, UTC_TIMESTAMP() - INTERVAL %d HOUR, i/8 FROM n", name, i, 2*i), &sink{})
		}
	}
	s.mustQuery(t, "INSERT INTO by_key VALUES ('null', NULL, 1)", &sink{})
	s.mustQuery(t, "ALTER TABLE off TTL_ENABLE = 'OFF'", &sink{})
	runs := s.Engine.Expiries
	for _, name := range []string{"by_key", "hidden"} {
		tab, _ := s.Engine.Catalog.Snapshot().Table("d", name)
		if !runs.Due(tab) {
			t.Errorf("%s is not due", name)
		}
		ttl.Remove(t.Context(), s.Shared, tab)
		if runs.Due(tab) {
			t.Errorf("%s is due again", name)
		}
	}
	tab, _ := s.Engine.Catalog.Snapshot().Table("d", "off")
	if tab.Expires() {
		t.Error("TTL_ENABLE = OFF")
	}
	s.mustQuery(t, "SET sqlots_show_expired = ON", &sink{})
	for name, want := range map[string]string{"by_key": "601", "hidden": "600", "off": "1800"} {
		if got := s.rowsOf(t, "SELECT COUNT(*) FROM "+name); got != want {
			t.Errorf("%s: %s rows, want %s", name, got, want)
		}
		s.mustCheck(t, name)
	}
	if got := s.rowsOf(t, "SELECT TABLE_NAME, ROWS_REMOVED, ENDED_AT IS NOT NULL, ERROR FROM information_schema.SQLOTS_TTL_JOBS ORDER BY 1"); got != "by_key 1200 1 NULL/hidden 1200 1 NULL" {
		t.Errorf("history: %s", got)
	}
	// It outlives the server.
	next, err := engine.New(t.Context(), engine.Config{Store: s.Engine.Store})
	if err != nil {
		t.Fatal(err)
	}
	if was, is := introspect.New(s.Engine).Expiries(), introspect.New(next).Expiries(); len(is) != 2 || !sameExpiry(was[0], is[0]) || !sameExpiry(was[1], is[1]) {
		t.Errorf("after a restart: %v, was %v", is, was)
	}
	// The loop finds them by itself.
	s.mustQuery(t, "SET sqlots_show_expired = OFF", &sink{})
	s.mustQuery(t, "ALTER TABLE by_key TTL_JOB_INTERVAL = '90m'", &sink{})
	runs.Mu.Lock()
	clear(runs.Started)
	runs.Mu.Unlock()
	s.mustQuery(t, "UPDATE by_key SET at = UTC_TIMESTAMP() - INTERVAL 2 HOUR WHERE a <> 'null'", &sink{})
	ttl.Start(s.Shared)
	defer s.Engine.Jobs.Stop()
	s.mustQuery(t, "SET sqlots_show_expired = ON", &sink{})
	for deadline := time.Now().Add(30 * time.Second); s.rowsOf(t, "SELECT COUNT(*) FROM by_key") != "1"; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("expired rows are still there")
		}
	}
}

func sameExpiry(a, b infoschema.Expiry) bool {
	return a.Started.UnixMicro() == b.Started.UnixMicro() && a.Ended.UnixMicro() == b.Ended.UnixMicro() &&
		a.Database == b.Database && a.Table == b.Table && a.Removed == b.Removed && a.Error == b.Error
}

// TestExpiryHistory: records beyond the last ones go, also from the store.
func TestExpiryHistory(t *testing.T) {
	s := testSession(t)
	j := s.Engine.Expiries
	for i := range engine.ExpiryHistory + 3 {
		j.Runs = append(j.Runs, infoschema.Expiry{Database: "d", Table: "t", Started: time.UnixMicro(int64(i)), Removed: uint64(i) + 1})
		r, forget := j.Ended(nil)
		if err := j.Save(t.Context(), r, forget); err != nil {
			t.Fatal(err)
		}
	}
	next, err := engine.New(t.Context(), engine.Config{Store: s.Engine.Store})
	if err != nil {
		t.Fatal(err)
	}
	runs := introspect.New(next).Expiries()
	if len(runs) != engine.ExpiryHistory || runs[0].Removed != 4 {
		t.Errorf("%d records, the first of %d rows", len(runs), runs[0].Removed)
	}
}

// TestExpiryBesideLockTables: LOCK TABLES that waits for the job's reader does not
// hold up its writer.
func TestExpiryBesideLockTables(t *testing.T) {
	s := testSession(t)
	for _, q := range []string{"CREATE DATABASE d", "USE d", "CREATE TABLE other (a INT PRIMARY KEY)",
		"CREATE TABLE t (a INT PRIMARY KEY, at DATETIME) TTL = at + INTERVAL 1 HOUR",
		"SET cte_max_recursion_depth = 10000", "INSERT INTO t WITH RECURSIVE n AS (SELECT 1 i UNION ALL SELECT i + 1 FROM n WHERE i < 5000) SELECT i, UTC_TIMESTAMP() - INTERVAL 2 HOUR FROM n",
		"LOCK TABLES other WRITE"} { // from now on, reads take metadata locks
		s.mustQuery(t, q, &sink{})
	}
	locker, err := New(t.Context(), s.Shared, mysqlwire.ConnInfo{ID: 2, User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, Kill: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	defer locker.Close()
	tab, _ := s.Engine.Catalog.Snapshot().Table("d", "t")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		ttl.Remove(t.Context(), s.Shared, tab)
	}()
	locker.mustQuery(t, "SET lock_wait_timeout = 30", &sink{})
	for waiting := true; waiting; {
		select {
		case <-ended:
			waiting = false
		default:
			locker.mustQuery(t, "LOCK TABLES d.t WRITE", &sink{})
			locker.mustQuery(t, "UNLOCK TABLES", &sink{})
		}
	}
	s.mustQuery(t, "UNLOCK TABLES", &sink{})
	s.mustQuery(t, "SET sqlots_show_expired = ON", &sink{})
	if got := s.rowsOf(t, "SELECT COUNT(*) FROM t"); got != "0" {
		t.Errorf("%s expired rows are left", got)
	}
}
