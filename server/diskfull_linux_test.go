package server_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/datacheck"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

// TestSmallDisk fills a file system of 64 MiB: writes end with 1021, reads go
// on, and DELETE, TRUNCATE and DROP make room, after which the server writes
// again by itself. Nothing is lost.
func TestSmallDisk(t *testing.T) {
	testflag.Long(t) // it writes 160 MiB again and again
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=160m"); err != nil {
		t.Skipf("a small file system needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(mount, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	dir := filepath.Join(mount, "data")
	s, dsn := startOnce(t, func(c *server.Config) {
		c.InMemory, c.DataDir, c.Memory = false, dir, 16<<20
		c.Tune = func(o *pebblekv.Options) { o.DiskReserveBytes = 48 << 20 }
	})
	c := dial(t, dsn)
	rng := rand.NewChaCha8([32]byte{5})
	noise := make([]byte, 20_000)
	next := 0
	rows := map[string]int{}
	fill := func(table string) {
		t.Helper()
		for i := 0; ; i++ {
			_, _ = rng.Read(noise)
			_, err := c.c.ExecContext(t.Context(), "INSERT INTO "+table+" VALUES (?, ?, ?)", next, i%10, noise)
			if errorNumber(err) == 1021 {
				return
			}
			if err != nil || i > 10000 {
				t.Fatalf("row %d of %s: %v", i, table, err)
			}
			next++
			rows[table]++
		}
	}
	readable := func() {
		t.Helper()
		for table, n := range rows {
			c.rows(fmt.Sprint(n), "SELECT COUNT(*) FROM "+table)
			c.rows(fmt.Sprint(n), "SELECT COUNT(*) FROM "+table+" FORCE INDEX (k) WHERE k >= 0")
			c.rows(fmt.Sprint(n*len(noise)), "SELECT COALESCE(SUM(LENGTH(v)), 0) FROM "+table)
		}
	}
	full := func() {
		t.Helper()
		readable()
		c.fails(1021, "INSERT INTO a VALUES (-1, 1, 'x')")
		c.fails(1021, "UPDATE a SET v = 'y' WHERE id = 1")
		c.fails(1021, "CREATE TABLE more (id INT)")
		readable()
	}
	// again waits until writes are taken.
	again := func(after string) {
		t.Helper()
		began := time.Now()
		for {
			_, err := c.c.ExecContext(t.Context(), "REPLACE INTO mark VALUES (1)")
			if err == nil {
				t.Logf("%s: writes are taken again after %v", after, time.Since(began).Round(time.Millisecond))
				return
			}
			if errorNumber(err) != 1021 || time.Since(began) > 20*time.Second {
				var free syscall.Statfs_t
				_ = syscall.Statfs(mount, &free)
				t.Fatalf("%s: %v; %d bytes free", after, err, int64(free.Bavail)*free.Bsize)
			}
			time.Sleep(20 * time.Millisecond)
		}
	}
	c.exec("CREATE TABLE mark (id INT PRIMARY KEY)")
	for _, table := range []string{"a", "b", "c"} {
		c.exec("CREATE TABLE " + table + " (id INT PRIMARY KEY, k INT, v LONGBLOB, KEY (k))")
		rows[table] = 0
	}
	for range 300 {
		c.exec("INSERT INTO a VALUES (?, 1, ?)", next, bytes.Repeat([]byte{1}, len(noise)))
		next++
		rows["a"]++
	}
	fill("b")
	full()
	c.exec("TRUNCATE TABLE b")
	rows["b"] = 0
	again("TRUNCATE")
	fill("c")
	full()
	rows["c"] -= int(c.exec("DELETE FROM c WHERE id < ?", next-rows["c"]/5))
	again("DELETE")
	readable()
	fill("b")
	full()
	c.exec("DROP TABLE c")
	delete(rows, "c")
	again("DROP")
	readable()
	c.rows("t.a,check,status,OK|t.b,check,status,OK", "CHECK TABLE a, b")
	c.close()
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	ok, err := datacheck.DirAndFiles(t.Context(), dir, func(d pebblekv.Damage) { t.Error(d) }, func(r datacheck.Result) {
		if n, known := rows[r.Table.Name]; known && int(r.Report.Rows) != n || !r.OK() {
			t.Errorf("%s: %d rows, want %d; %v", r.Table.Name, r.Report.Rows, n, r.Report.Problems)
		}
	})
	if err != nil || !ok {
		t.Fatal(ok, err)
	}
}
