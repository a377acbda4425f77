package session

import (
	"context"
	"testing"
	"time"

	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/engine"
)

// TestStalePlans: a statement whose table is altered while it waits for the
// metadata lock is planned again (doc.go, I1), by every way to run a plan.
func TestStalePlans(t *testing.T) {
	const gone = 1054 // unknown column
	for _, x := range []struct {
		name, sql string
		number    int // of the error after "pad" is dropped
		show      string
		want      string // after a column is added in front
	}{
		{"SELECT", "SELECT pad FROM d.t FOR UPDATE", gone, "SELECT 1", "1"},
		{"INTO", "SELECT pad INTO @x FROM d.t FOR UPDATE", gone, "SELECT @x", "p"},
		{"SET", "SET @x = (SELECT pad FROM d.t FOR UPDATE)", gone, "SELECT @x", "p"},
		{"DO", "DO (SELECT pad FROM d.t FOR UPDATE)", gone, "SELECT 1", "1"},
		{"EXPLAIN ANALYZE", "EXPLAIN ANALYZE SELECT pad FROM d.t FOR UPDATE", gone, "SELECT 1", "1"},
		{"EXPLAIN ANALYZE of a change", "EXPLAIN ANALYZE UPDATE d.t SET a = 2 WHERE pad = 'p'", gone, "SELECT a FROM d.t", "2"},
		{"UPDATE", "UPDATE d.t SET a = 2 WHERE pad = 'p'", gone, "SELECT a FROM d.t", "2"},
		{"without row locks", "SELECT pad INTO @x FROM d.t", gone, "SELECT @x", "p"},
		{"CHECKSUM TABLE", "CHECKSUM TABLE d.t", 0, "SELECT 1", "1"},
	} {
		t.Run(x.name, func(t *testing.T) {
			for _, begin := range []string{"", "BEGIN", "SET autocommit = 0"} {
				if got, _ := alteredMeanwhile(t, begin, x.sql, "ALTER TABLE d.t DROP COLUMN pad", x.show); got != x.number {
					t.Errorf("%q: error %d after DROP COLUMN, want %d", begin, got, x.number)
				}
				number, got := alteredMeanwhile(t, begin, x.sql, "ALTER TABLE d.t ADD COLUMN z VARCHAR(9) DEFAULT 'zz' FIRST", x.show)
				if number != 0 || got != x.want {
					t.Errorf("%q: after ADD COLUMN: error %d, %q, want %q", begin, number, got, x.want)
				}
			}
		})
	}
}

// alteredMeanwhile runs alter while sql waits for the lock of its table, and
// returns the number of its error and what show answers then.
func alteredMeanwhile(t *testing.T, begin, sql, alter, show string) (int, string) {
	t.Helper()
	ctx := context.Background()
	s := testSession(t)
	other, err := New(ctx, s.Shared, mysqlwire.ConnInfo{ID: 2, User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, Kill: func() {}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for _, q := range []string{"CREATE DATABASE d", "CREATE TABLE d.t (id INT PRIMARY KEY, a INT, pad VARCHAR(20))", "INSERT INTO d.t VALUES (1, 1, 'p')"} {
		s.mustQuery(t, q, &sink{})
	}
	if begin != "" {
		s.mustQuery(t, begin, &sink{})
	}
	other.mustQuery(t, "LOCK TABLES d.t WRITE", &sink{})
	done := make(chan int)
	go func() { done <- s.errorOf(sql) }()
	for range 3000 {
		if doing(s.Process) == "Waiting for table metadata lock" {
			break
		}
		time.Sleep(time.Millisecond)
	}
	other.mustQuery(t, alter, &sink{})
	other.mustQuery(t, "UNLOCK TABLES", &sink{})
	number := <-done
	if number != 0 {
		return number, ""
	}
	return number, s.rowsOf(t, show)
}

// doing is the state that SHOW PROCESSLIST shows.
func doing(x *engine.Process) string { return x.Describe().State }
