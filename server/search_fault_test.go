package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
)

// TestSearchFileCutOff: files that are cut off while they are mapped are faults of
// the processor. Statements take other ways, and the index is built again.
func TestSearchFileCutOff(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	dir := t.TempDir()
	s, dsn := startOnce(t, func(c *server.Config) { c.InMemory, c.DataDir = false, dir })
	defer func() {
		if err := s.Stop(0); err != nil {
			t.Error(err)
		}
	}()
	c := dial(t, dsn)
	c.exec(`CREATE TABLE d (id INT PRIMARY KEY, a INT, b VARCHAR(20) COLLATE utf8mb4_bin, w TEXT, p POINT NOT NULL SRID 0, SEARCH INDEX s (a, b, w TEXT, p GEO_POINT))`)
	rows := testflag.Pick(0, 2_000, 20_000)
	c.exec("SET cte_max_recursion_depth = 100000")
	c.exec(fmt.Sprintf(`INSERT INTO d WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < %d - 1)
		SELECT i, i %% 10, CONCAT('k', i %% 10), CONCAT('word', i %% 10, ' and more'), POINT(i %% 10, 5) FROM n`, rows))
	ready := func() {
		t.Helper()
		for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
			got, err := c.query("CHECK TABLE d") // which reads all files
			if err != nil {
				t.Fatal(err)
			}
			if got == "t.d,check,status,OK" {
				got, err = c.query("SELECT STATE, DOCUMENTS, MEMORY_BYTES FROM information_schema.SQLOTS_SEARCH_INDEXES")
				if err != nil {
					t.Fatal(err)
				}
				if got == fmt.Sprintf("ready,%d,0", rows) {
					return
				}
			}
			if time.Since(start) > time.Minute {
				t.Fatal(got)
			}
		}
	}
	for _, q := range []string{
		"SELECT COUNT(*) FROM d FORCE INDEX (s) WHERE a = 3",
		"SELECT COUNT(*) FROM d FORCE INDEX (s) WHERE b = 'k3' AND a < 5",
		"SELECT COUNT(*) FROM d FORCE INDEX (s) WHERE MATCH (w) AGAINST ('word3')",
		"SELECT SUM(a = 3) FROM d FORCE INDEX (s) WHERE a BETWEEN 2 AND 4",
		"SELECT n FROM (SELECT b, COUNT(*) AS n FROM d FORCE INDEX (s) WHERE a > 1 GROUP BY b) x WHERE b = 'k3'",
		"SELECT COUNT(*) FROM d FORCE INDEX (s) WHERE ST_Distance_Sphere(p, POINT(3, 5)) < 1000",
		"SELECT COUNT(*) FROM d FORCE INDEX (s) WHERE b LIKE '%3%'",
	} {
		for _, warm := range []bool{false, true} {
			ready()
			if warm { // with checksums that hold
				c.rows(fmt.Sprint(rows/10), q)
			}
			files, err := filepath.Glob(filepath.Join(dir, "search", "*", "*.zap"))
			if err != nil || len(files) == 0 {
				t.Fatal(files, err)
			}
			for _, name := range files {
				if err := os.Truncate(name, 0); err != nil {
					t.Fatal(err)
				}
			}
			c.rows(fmt.Sprint(rows/10), q)
			c.exec(fmt.Sprintf("UPDATE d SET a = a WHERE id = %d", len(files)))
		}
	}
	ready()
}
