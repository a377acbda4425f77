package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestJobs: the work in the background is listed, and KILL ends a turn, not the
// job: a search index goes on.
func TestJobs(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	_, dsn := startServer(t)
	c := dial(t, dsn)
	eventually := func(want, query string) {
		t.Helper()
		for deadline := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
			got, err := c.query(query)
			if err == nil && got == want {
				return
			}
			if time.Now().After(deadline) {
				t.Fatalf("%s: %q, %v; want %q", query, got, err, want)
			}
		}
	}
	c.exec("CREATE TABLE t.t (id INT PRIMARY KEY, a TEXT, SEARCH INDEX s (a TEXT))")
	c.exec("INSERT INTO t.t VALUES (1, 'one')")
	c.rows("1", "SELECT COUNT(*) FROM t.t WHERE MATCH (a) AGAINST ('one')")
	for _, name := range []string{"removing expired rows", "removing records of change logs", "removing versions", "search index t.t.s"} {
		c.rows("1", fmt.Sprintf("SELECT COUNT(*) FROM information_schema.SQLOTS_JOBS WHERE NAME = '%s' AND JOB_ID > 1 << 60", name))
	}
	id, err := c.query("SELECT JOB_ID FROM information_schema.SQLOTS_JOBS WHERE NAME = 'search index t.t.s'")
	if err != nil {
		t.Fatal(err)
	}
	c.exec("KILL " + id)
	eventually("1", "SELECT FAILED FROM information_schema.SQLOTS_JOBS WHERE NAME = 'search index t.t.s'")
	c.exec("INSERT INTO t.t VALUES (2, 'one')")
	c.rows("2", "SELECT COUNT(*) FROM t.t WHERE MATCH (a) AGAINST ('one')")
	eventually("ready", "SELECT STATE FROM information_schema.SQLOTS_SEARCH_INDEXES WHERE TABLE_NAME = 't'")
	c.exec("DROP TABLE t.t")
	eventually("0", "SELECT COUNT(*) FROM information_schema.SQLOTS_JOBS WHERE NAME = 'search index t.t.s'")
	c.fails(1094, "KILL "+id)
}
