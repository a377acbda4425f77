package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage/table"
)

// TestBuildBesideWriters: while an index is built others read and write, see how
// far it is, and can end it; then nothing of it is left.
func TestBuildBesideWriters(t *testing.T) {
	srv, dsn := startServer(t)
	c, other, third := dial(t, dsn), dial(t, dsn), dial(t, dsn)
	fillNumbers(c)
	c.exec("SET GLOBAL sqlots_index_build_rate = 3000")
	running := func() {
		t.Helper()
		eventually(t, func() bool {
			got, err := other.query("SELECT CONCAT(j.state, j.rows_done > 0, p.state LIKE 'creating index: %', p.info LIKE 'CREATE %') FROM information_schema.sqlots_ddl_jobs j JOIN information_schema.processlist p ON p.info = j.statement WHERE j.ended_at IS NULL")
			if err != nil {
				t.Fatal(err)
			}
			return got == "backfill111"
		})
	}
	gone := func() {
		t.Helper()
		n, _ := srv.Engine().Catalog().Snapshot().Table("t", "n")
		eventually(t, func() bool {
			size := int64(0)
			for x := n.NextIndexID - 1; x > 0; x-- {
				s, err := srv.Store().EstimateSize(table.IndexSpan(n.ID, x))
				if err != nil {
					t.Fatal(err)
				}
				size += s
			}
			s, err := srv.Store().EstimateSize(table.IndexSpan(n.ID, table.ChangesIndexID))
			now, _ := srv.Engine().Catalog().Snapshot().Table("t", "n")
			return err == nil && len(now.Indexes) == 0 && size+s == 0
		})
		other.rows("rolled back", "SELECT state FROM information_schema.sqlots_ddl_jobs ORDER BY started_at DESC, job_id DESC LIMIT 1")
		other.rows("t.n,check,status,OK", "CHECK TABLE n")
	}
	change := func(i int) {
		t.Helper()
		other.exec("INSERT INTO n VALUES (?, 'new')", 20000+i)
		other.exec("UPDATE n SET pad = 'changed' WHERE i = ?", i)
		other.exec("DELETE FROM n WHERE i = ?", 9000+i)
		other.rows("10000", "SELECT COUNT(*) FROM n")
	}
	// Killed while rows are read.
	p := c.start(other, "CREATE UNIQUE INDEX x ON n (pad, i)")
	running()
	change(1)
	other.exec(fmt.Sprintf("KILL QUERY %d", c.id))
	p.fails(1317)
	gone()
	// A writer makes a duplicate, behind what was read, and does not learn of it.
	p = c.start(other, "CREATE UNIQUE INDEX x ON n (pad)")
	other.exec("UPDATE n SET pad = 'twice' WHERE i IN (3, 4, 20001)")
	p.fails(1062)
	gone()
	other.exec("UPDATE n SET pad = CONCAT('own', i) WHERE pad IN ('twice', 'new')")
	// Killed while the table is in use: the statement ends at once, its index
	// when the table is free.
	c.exec("SET GLOBAL sqlots_index_build_rate = 0")
	third.exec("BEGIN")
	third.exec("UPDATE n SET pad = 'third' WHERE i = 77")
	p = c.start(other, "CREATE INDEX x ON n (pad)")
	eventually(t, func() bool {
		got, err := other.query("SELECT state FROM information_schema.processlist WHERE id = ?", c.id)
		return err == nil && got == "Waiting for table metadata lock"
	})
	other.exec(fmt.Sprintf("KILL QUERY %d", c.id))
	p.fails(1317)
	third.exec("COMMIT")
	gone()
	// It works.
	p = c.start(other, "CREATE UNIQUE INDEX x ON n (pad)")
	p.ok()
	other.rows("77", "SELECT i FROM n FORCE INDEX (x) WHERE pad = 'third'")
	other.rows("t.n,check,status,OK", "CHECK TABLE n")
}

// TestBuildAcrossRestart: a build that the end of the server interrupts goes on
// at its next start, as a process that can be killed.
func TestBuildAcrossRestart(t *testing.T) {
	dir := t.TempDir()
	for _, kill := range []bool{false, true} {
		inDir := func(cfg *server.Config) { cfg.InMemory, cfg.DataDir, cfg.Memory = false, dir, 64<<20 }
		srv, dsn := startOnce(t, inDir)
		c, other := dial(t, dsn), dial(t, dsn)
		if !kill {
			fillNumbers(c)
		}
		c.exec("SET PERSIST sqlots_index_build_rate = 2000")
		c.start(other, "CREATE INDEX x ON n (pad) INCLUDE (i)")
		eventually(t, func() bool {
			got, err := other.query("SELECT rows_done > 0 FROM information_schema.sqlots_ddl_jobs")
			return err == nil && got == "1"
		})
		other.exec("UPDATE n SET pad = 'before' WHERE i < 10")
		if err := srv.Stop(0); err != nil {
			t.Fatal(err)
		}
		srv, dsn = startOnce(t, inDir)
		c = dial(t, dsn)
		c.rows("1,1", "SELECT resumed, ended_at IS NULL FROM information_schema.sqlots_ddl_jobs")
		c.exec("UPDATE n SET pad = 'after' WHERE i < 5")
		want := "public"
		if kill {
			want = "rolled back"
			eventually(t, func() bool {
				got, err := c.query("SELECT COUNT(*) FROM information_schema.processlist WHERE user = 'ddl' AND info LIKE 'CREATE INDEX%' AND db = 't'")
				return err == nil && got == "1"
			})
			id, err := c.query("SELECT id FROM information_schema.processlist WHERE user = 'ddl'")
			if err != nil {
				t.Fatal(err)
			}
			c.exec("KILL " + id)
		} else {
			c.exec("SET PERSIST sqlots_index_build_rate = 0")
		}
		eventually(t, func() bool {
			got, err := c.query("SELECT state FROM information_schema.sqlots_ddl_jobs")
			return err == nil && got == want
		})
		if !kill {
			c.rows("5", "SELECT COUNT(*) FROM n FORCE INDEX (x) WHERE pad = 'after'")
			c.rows("5", "SELECT COUNT(*) FROM n FORCE INDEX (x) WHERE pad = 'before'")
		}
		c.rows("t.n,check,status,OK", "CHECK TABLE n")
		c.rows(map[bool]string{false: "1", true: "0"}[kill], "SELECT COUNT(DISTINCT index_name) FROM information_schema.statistics WHERE table_name = 'n' AND index_name = 'x'")
		if !kill {
			c.exec("DROP INDEX x ON n")
		}
		if err := srv.Stop(time.Second); err != nil {
			t.Fatal(err)
		}
	}
}
