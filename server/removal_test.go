package server_test

import (
	"fmt"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestRemovalOfPartitions: what DROP PARTITION leaves is removed by a job, which goes on
// after KILL of the statement and of the job.
func TestRemovalOfPartitions(t *testing.T) {
	testflag.Normal(t)
	t.Parallel()
	_, dsn := startServer(t)
	c, holder, reader, watch := dial(t, dsn), dial(t, dsn), dial(t, dsn), dial(t, dsn)
	is := func(want, query string) {
		t.Helper()
		eventually(t, func() bool {
			got, err := watch.query(query)
			return err == nil && got == want
		})
	}
	c.exec("CREATE TABLE t.p (id INT PRIMARY KEY) PARTITION BY RANGE (id) (PARTITION p0 VALUES LESS THAN (5), PARTITION p1 VALUES LESS THAN MAXVALUE)")
	c.exec("INSERT INTO t.p VALUES (1), (2), (6)")
	holder.exec("BEGIN")
	holder.rows("3", "SELECT COUNT(*) FROM t.p")
	p := c.start(watch, "ALTER TABLE t.p DROP PARTITION p0")
	waits := "SELECT STATE FROM information_schema.PROCESSLIST WHERE ID = %d"
	is("Waiting for table metadata lock", fmt.Sprintf(waits, c.id))
	// The reader is next when the statement lets go of the table, and hinders the job.
	reader.exec("BEGIN")
	r := reader.start(watch, "SELECT COUNT(*) FROM t.p")
	is("Waiting for table metadata lock", fmt.Sprintf(waits, reader.id))
	holder.exec("COMMIT")
	r.ok()
	if r.rows != "1" {
		t.Errorf("rows before the end of the removal: %s", r.rows)
	}
	jobs := "FROM information_schema.SQLOTS_JOBS WHERE NAME = 'removing partitions of t.p'"
	is("1", "SELECT COUNT(*) "+jobs)
	watch.exec(fmt.Sprintf("KILL QUERY %d", c.id))
	p.ok()
	watch.exec("SET lock_wait_timeout = 1")
	watch.fails(1205, "ALTER TABLE t.p COMMENT = 'x'")
	id, err := watch.query("SELECT JOB_ID " + jobs)
	if err != nil {
		t.Fatal(err)
	}
	is("1", "SELECT STATE = 'running' "+jobs)
	watch.exec("KILL " + id)
	is("1", "SELECT FAILED "+jobs)
	reader.exec("COMMIT")
	is("0", "SELECT COUNT(*) "+jobs)
	c.exec("ALTER TABLE t.p COMMENT = 'x'")
	c.rows("6", "SELECT id FROM t.p")
}
