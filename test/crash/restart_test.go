package crash

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/internal/testflag"
)

var restartMiB = flag.Int("restart.mib", 8, "MiB that TestRestart writes before the kill; the log grows to some write buffers")

// TestRestart kills a server whose log is as long as it becomes, and measures
// how long the next one takes to be there. docs/operations.md has figures.
func TestRestart(t *testing.T) {
	testflag.Normal(t)
	dir := t.TempDir()
	c := childserver.Start(t, dir)
	db := connect(t, c.Addr)
	defer db.Close()
	for _, q := range []string{"CREATE DATABASE r", "CREATE TABLE r.t (id INT PRIMARY KEY, k INT, v VARCHAR(1000), KEY (k))"} {
		if _, err := db.Exec(q); err != nil {
			t.Fatal(err)
		}
	}
	const rowBytes, batch, workers = 500, 100, 4
	rows := *restartMiB << 20 / rowBytes / workers / batch * batch
	var wg sync.WaitGroup
	for w := range workers {
		wg.Go(func() {
			for n := 0; n < rows; n += batch {
				values := make([]string, batch)
				for i := range values {
					id := (n+i)*workers + w
					values[i] = fmt.Sprintf("(%d,%d,'%s')", id, id%1000, strings.Repeat(fmt.Sprintf("%08x", id*2654435761), rowBytes/8))
				}
				if _, err := db.Exec("INSERT INTO r.t VALUES " + strings.Join(values, ",")); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	wg.Wait()
	c.Kill()
	logs, size := 0, int64(0)
	names, err := filepath.Glob(filepath.Join(dir, "kv", "*.log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err == nil {
			logs, size = logs+1, size+info.Size()
		}
	}
	began := time.Now()
	c = childserver.Start(t, dir)
	took := time.Since(began)
	t.Logf("%d MiB written; %d logs of %d MiB; back after %v", *restartMiB, logs, size>>20, took.Round(time.Millisecond))
	again := connect(t, c.Addr)
	defer again.Close()
	var n int
	if err := again.QueryRow("SELECT COUNT(*) FROM r.t").Scan(&n); err != nil || n != rows*workers {
		t.Fatalf("%d rows, want %d: %v", n, rows*workers, err)
	}
}
