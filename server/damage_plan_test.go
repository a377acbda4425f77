package server_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage/pebblekv"
	"github.com/sqlots/sqlots/storage/pebblekv/kvtest"
)

// TestPlanningWithDamage: a damaged block is read a few times, however many
// statements are planned whose tables have it.
func TestPlanningWithDamage(t *testing.T) {
	testflag.Normal(t)
	dir := t.TempDir()
	fs := kvtest.NewWatchedFS()
	cfg := func(c *server.Config) {
		c.InMemory, c.DataDir = false, dir
		c.Tune = func(o *pebblekv.Options) { o.FS = fs }
	}
	s, dsn := startOnce(t, cfg)
	c := dial(t, dsn)
	c.exec("CREATE TABLE bad (a INT, b INT, c INT, v VARCHAR(40), PRIMARY KEY (c, a))")
	c.exec("CREATE TABLE few (a INT, c INT, v INT, PRIMARY KEY (a), KEY (v))")
	c.exec("INSERT INTO few WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 99) SELECT i, i, i FROM n")
	c.exec("SET cte_max_recursion_depth = 100000")
	c.exec("INSERT INTO bad WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 7999) SELECT i, i % 7, i % 400, MD5(i) FROM n")
	for range 2 { // a start writes what is in the log
		if err := s.Stop(0); err != nil {
			t.Fatal(err)
		}
		s, dsn = startOnce(t, cfg)
	}
	c = dial(t, dsn)
	queries := []string{
		"SELECT COUNT(*), SUM(x.a * y.v) FROM bad x JOIN few y ON x.c = y.c WHERE y.v < 20",
		"SELECT COUNT(*) FROM few y WHERE EXISTS (SELECT 1 FROM bad x WHERE x.c = y.c AND x.a = y.a)",
		"SELECT COUNT(*), MAX(x.b) FROM bad x WHERE x.c BETWEEN 3 AND 5",
	}
	want := make([]string, len(queries))
	for i, q := range queries {
		var err error
		if want[i], err = c.query(q); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	fs.Watch(spoilLarge(t, filepath.Join(dir, "kv")))
	s, dsn = startOnce(t, cfg)
	defer func() {
		if err := s.Stop(0); err != nil {
			t.Error(err)
		}
	}()
	c = dial(t, dsn)
	for round := range 4 {
		for i, q := range queries {
			c.rows(want[i], strings.Replace(q, "SELECT", fmt.Sprintf("SELECT /* %d */", round), 1))
		}
	}
	c.fails(1194, "SELECT SUM(LENGTH(v)) FROM bad FORCE INDEX (PRIMARY)")
	n := fs.Reads()
	t.Logf("%d reads of the block", n)
	if n == 0 || n > 8 {
		t.Errorf("%d reads of the damaged block", n)
	}
}

// spoilLarge flips a bit in each large table file.
func spoilLarge(t *testing.T, dir string) map[string]int64 {
	t.Helper()
	list, err := filepath.Glob(filepath.Join(dir, "*.sst"))
	if err != nil {
		t.Fatal(err)
	}
	places := map[string]int64{}
	for _, path := range list {
		b, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if len(b) < 50_000 {
			continue
		}
		at := len(b) / 2
		b[at] ^= 4
		if err := os.WriteFile(path, b, 0o600); err != nil {
			t.Fatal(err)
		}
		places[filepath.Base(path)] = int64(at)
	}
	if len(places) == 0 {
		t.Fatalf("no large file among %v", list)
	}
	return places
}
