package server_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage/table"
)

// TestBuildBesideWriters: while an index is built others read and write, see how
// far it is, and can end it; then nothing of it is left.
func TestBuildBesideWriters(t *testing.T) {
	testflag.Normal(t)
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
		n, _ := srv.Engine().Catalog.Snapshot().Table("t", "n")
		eventually(t, func() bool {
			size := int64(0)
			for x := n.NextIndexID - 1; x > 0; x-- {
				s, err := srv.Store().EstimateSize(t.Context(), table.IndexSpan(n.ID, x))
				if err != nil {
					t.Fatal(err)
				}
				size += s
			}
			s, err := srv.Store().EstimateSize(t.Context(), table.IndexSpan(n.ID, table.ChangesIndexID))
			now, _ := srv.Engine().Catalog.Snapshot().Table("t", "n")
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
	// A writer makes a duplicate of a row already read, and gets no error.
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

// TestAlterBesideWriters: an index that comes with other clauses is built next to
// writers as well, who see the table as it was until all is there.
func TestAlterBesideWriters(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	_, dsn := startServer(t)
	c, other := dial(t, dsn), dial(t, dsn)
	fillNumbers(c)
	c.exec("ALTER TABLE n ADD big TEXT, ADD KEY x (i), ADD at DATETIME")
	c.exec("SET GLOBAL sqlots_index_build_rate = 4000")
	building := func() {
		t.Helper()
		eventually(t, func() bool {
			got, err := other.query("SELECT DISTINCT state FROM information_schema.sqlots_ddl_jobs WHERE ended_at IS NULL")
			return err == nil && got == "backfill"
		})
	}
	p := c.start(other, "ALTER TABLE n ADD k VARCHAR(5) NOT NULL DEFAULT 'new' AFTER i, ADD KEY k (k, i), ADD d DATETIME DEFAULT CURRENT_TIMESTAMP, ADD KEY (d), ADD u DATETIME DEFAULT '2001-01-01' ON UPDATE CURRENT_TIMESTAMP, ADD KEY u (u),"+
		" DROP KEY x, ADD KEY x ((i + 1)), RENAME COLUMN at TO p, ADD v INT AS (i * 2) VIRTUAL, ADD UNIQUE KEY v (v), COMMENT 'changed'")
	building()
	other.exec("INSERT INTO n VALUES (20000, 'a', 'b', NULL)")
	other.exec("INSERT INTO n (i, pad) SELECT i + 30000, pad FROM n WHERE i < 100")
	other.exec("UPDATE n SET i = i + 50000 WHERE i BETWEEN 9000 AND 9099")
	other.exec("REPLACE INTO n SET i = 5, pad = 'again'")
	other.exec("DELETE FROM n WHERE i BETWEEN 10 AND 19")
	other.exec("INSERT INTO n (i, pad) VALUES (6, '') ON DUPLICATE KEY UPDATE pad = 'twice'")
	other.rows("20000,a,b,NULL", "SELECT * FROM n WHERE i = 20000")
	other.wantError(func() error { _, err := other.query("SELECT k FROM n"); return err }(), 1054, "a column that is not there yet")
	other.rows("0", "SELECT COUNT(*) FROM information_schema.columns WHERE table_name = 'n' AND column_name IN ('k', 'v', 'd')")
	p.ok()
	other.rows("10091,10091,10091,10091", "SELECT (SELECT COUNT(*) FROM n FORCE INDEX (k) WHERE k = 'new'), (SELECT COUNT(*) FROM n FORCE INDEX (x) WHERE i + 1 > -9), (SELECT COUNT(*) FROM n FORCE INDEX (v) WHERE v >= 0), (SELECT COUNT(*) FROM n FORCE INDEX (d) WHERE d > 0)")
	other.rows("t.n,check,status,OK", "CHECK TABLE n")
	other.rows("changed", "SELECT table_comment FROM information_schema.tables WHERE table_name = 'n'")
	other.rows("new,12", "SELECT k, v FROM n WHERE i = 6")
	// No statement that ran while the column did not exist yet has set it.
	other.rows("10091", "SELECT COUNT(*) FROM n FORCE INDEX (u) WHERE u = '2001-01-01'")
	other.rows("0", "SELECT COUNT(*) FROM n IGNORE INDEX (u) WHERE u <> '2001-01-01'")
	other.exec("UPDATE n SET pad = 'later' WHERE i = 8")
	other.rows("8", "SELECT i FROM n WHERE u > '2001-01-01'")

	// A duplicate takes all of it back.
	p = c.start(other, "ALTER TABLE n ADD w INT DEFAULT 1, ADD UNIQUE KEY w (w, pad), DROP COLUMN k, DROP KEY x, ADD KEY x (i)")
	building()
	other.exec("UPDATE n SET pad = 'twice' WHERE i IN (3, 4)")
	p.fails(1062)
	other.rows("1,0", "SELECT COUNT(*), SUM(column_name = 'w') FROM information_schema.columns WHERE table_name = 'n' AND column_name IN ('k', 'w')")
	other.rows("t.n,check,status,OK", "CHECK TABLE n")
	// The column that was never there is not found again in a later one.
	other.exec("ALTER TABLE n ADD w INT DEFAULT 9")
	other.rows("0", "SELECT COUNT(*) FROM n WHERE w <> 9")

	// Large values in a column that goes.
	p = c.start(other, "ALTER TABLE n DROP COLUMN big, ADD KEY pad (pad)")
	building()
	other.exec("UPDATE n SET big = REPEAT('x', 20000) WHERE i = 8")
	p.ok()
	other.rows("t.n,check,status,OK", "CHECK TABLE n")
	other.rows("6", "SELECT MIN(i) FROM n FORCE INDEX (pad) WHERE pad = 'twice' AND i > 4")
}

// TestBuildAcrossRestart: a build that the end of the server interrupts goes on
// at its next start, as a process that can be killed.
func TestBuildAcrossRestart(t *testing.T) {
	testflag.Normal(t)
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
