package session

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/sqlots/sqlots/mysqlwire"
)

// TestBucketQueue: workers take the oldest jobs from a queue over buckets while
// others come in. Each job is done once, and a worker meets its jobs in order.
func TestBucketQueue(t *testing.T) {
	s := testSession(t)
	const workers, jobs = 4, 400
	for _, sql := range []string{
		"CREATE DATABASE d", "USE d",
		"CREATE TABLE q (b TINYINT AS (id % 8) STORED, due INT NOT NULL, id INT NOT NULL, PRIMARY KEY (b, due, id))",
		"CREATE TABLE done (id INT PRIMARY KEY, worker INT)",
		fmt.Sprintf("INSERT INTO q (due, id) WITH RECURSIVE n AS (SELECT 1 AS i UNION ALL SELECT i + 1 FROM n WHERE i < %d) SELECT i * 7 %% 300, i FROM n", jobs),
	} {
		s.mustQuery(t, sql, &sink{})
	}
	plan := &rowSink{}
	if err := s.Query(context.Background(), "EXPLAIN FORMAT=TREE SELECT id FROM q ORDER BY due, id LIMIT 3 FOR UPDATE SKIP LOCKED", plan); err != nil {
		t.Fatal(err)
	}
	if text := strings.Join(plan.lines, " "); !strings.Contains(text, "merge over 8 ranges by due, id") {
		t.Fatal(text)
	}
	var wg sync.WaitGroup
	for n := range workers {
		w, err := New(context.Background(), s.Shared, mysqlwire.ConnInfo{ID: uint64(2 + n), User: "root", Account: mysqlwire.Account{User: "root", Host: "%"}, Kill: func() {}})
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			defer w.Close()
			run := func(sql string) string {
				out := &textSink{}
				if err := w.Query(context.Background(), sql, out); err != nil {
					t.Errorf("%s: %v", sql, err)
				}
				return strings.Join(out.lines, ",")
			}
			run("USE d")
			for i := 0; !t.Failed(); i++ {
				run("BEGIN")
				got := run("SELECT id FROM q ORDER BY due, id LIMIT 3 FOR UPDATE SKIP LOCKED")
				if got == "" {
					run("COMMIT")
					if run("SELECT COUNT(*) FROM q") == "0" {
						return
					}
					continue
				}
				if strings.Count(got, ",") > 2 {
					t.Errorf("more jobs than asked for: %s", got)
				}
				run(fmt.Sprintf("INSERT INTO done SELECT id, %d FROM q WHERE id IN (%s)", n, got))
				run(fmt.Sprintf("DELETE FROM q WHERE id IN (%s) ORDER BY due, id LIMIT 3", got))
				if i%10 == 0 {
					run("ROLLBACK")
				} else {
					run("COMMIT")
				}
			}
		})
	}
	wg.Wait()
	if got, want := s.rowsOf(t, "SELECT COUNT(*), COUNT(DISTINCT id), (SELECT COUNT(*) FROM q) FROM done"), fmt.Sprintf("%d %d 0", jobs, jobs); got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
