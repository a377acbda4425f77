package server_test

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage/pebblekv"
	"github.com/sqlots/sqlots/storage/pebblekv/kvtest"
)

// TestFreeingOnFullDisk: whatever a table has, TRUNCATE and DROP empty and
// remove it on a full disk.
func TestFreeingOnFullDisk(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	disk := kvtest.NewMeteredFS(1 << 40)
	dir := filepath.Join(t.TempDir(), "data")
	const reserve = 1 << 30
	s, dsn := startOnce(t, func(c *server.Config) {
		c.InMemory, c.DataDir, c.HTTP.Listen = false, dir, "127.0.0.1:0"
		c.Tune = func(o *pebblekv.Options) { o.FS, o.DiskReserveBytes = disk, reserve }
	})
	c := dial(t, dsn)
	tables := map[string]string{
		"plain":     "(id INT PRIMARY KEY, v TEXT)",
		"indexed":   "(id INT PRIMARY KEY, v TEXT, UNIQUE KEY (v(20)), KEY ((LENGTH(v))))",
		"counted":   "(id INT AUTO_INCREMENT PRIMARY KEY, v TEXT)",
		"hidden":    "(id INT, v TEXT)",
		"logged":    `(id INT PRIMARY KEY, v TEXT) SECONDARY_ENGINE_ATTRIBUTE='{"stream":{}}'`,
		"versioned": `(id INT PRIMARY KEY, v TEXT) SECONDARY_ENGINE_ATTRIBUTE='{"max_versions":3}'`,
		"dynamic":   `(id INT PRIMARY KEY, v TEXT) SECONDARY_ENGINE_ATTRIBUTE='{"dynamic_columns":true}'`,
		"expiring":  "(id INT PRIMARY KEY, v TEXT, at DATETIME DEFAULT CURRENT_TIMESTAMP) TTL = at + INTERVAL 1 DAY",
		"child":     "(id INT PRIMARY KEY, v TEXT, FOREIGN KEY (id) REFERENCES parent (id))",
	}
	c.exec("CREATE TABLE parent (id INT PRIMARY KEY)")
	c.exec("INSERT INTO parent VALUES (1)")
	for name, columns := range tables {
		for _, suffix := range []string{"_a", "_b"} {
			c.exec("CREATE TABLE " + name + suffix + " " + columns)
			c.exec("INSERT INTO " + name + suffix + " (id, v) VALUES (1, REPEAT('x', 10000))")
		}
	}
	c.exec("CREATE TEMPORARY TABLE own_a (id INT PRIMARY KEY, v TEXT)")
	c.exec("CREATE TEMPORARY TABLE own_b (id INT PRIMARY KEY, v TEXT)")
	c.exec("CREATE TABLE mark (id INT PRIMARY KEY)")
	c.exec("CREATE DATABASE other")
	c.exec("CREATE TABLE other.x (id INT PRIMARY KEY)")
	c.exec("CREATE VIEW w AS SELECT 1")
	tables["own"] = ""

	disk.Leave(reserve / 2)
	full := func() bool {
		_, err := c.c.ExecContext(t.Context(), "REPLACE INTO mark VALUES (1)")
		return errorNumber(err) == 1021
	}
	eventually(t, full)
	h := clientOf(t, s).as("", "")
	if status, body := h.do("GET", "/readyz", ""); status != 503 || !strings.HasPrefix(body, "writes are refused: ") {
		t.Errorf("readyz on a full disk: %d %s", status, body)
	}
	if status, body := h.do("GET", "/healthz", ""); status != 200 {
		t.Errorf("healthz on a full disk: %d %s", status, body)
	}
	for name := range tables {
		c.exec("TRUNCATE TABLE " + name + "_a")
		c.rows("0", "SELECT COUNT(*) FROM "+name+"_a")
		c.fails(1021, "INSERT INTO "+name+"_a (id, v) VALUES (1, 'x')")
		c.exec("DROP TABLE " + name + "_a")
		c.exec("DROP TABLE " + name + "_b")
	}
	c.exec("TRUNCATE TABLE other.x")
	c.exec("DROP VIEW w")
	c.exec("DROP DATABASE other")
	c.exec("DROP TABLE parent, mark")
	c.rows("0", "SELECT COUNT(*) FROM information_schema.tables WHERE table_schema IN ('t', 'other')")
	disk.Leave(1 << 40)
	eventually(t, func() bool {
		_, err := c.c.ExecContext(t.Context(), "CREATE TABLE parent (id INT PRIMARY KEY)")
		return err == nil
	})
	c.exec("INSERT INTO parent VALUES (1)")
	c.close()
	if err := s.Stop(time.Second); err != nil {
		t.Fatal(err)
	}
}
