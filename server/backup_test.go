package server_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/datacheck"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage/backup"
)

const (
	bankAccounts = 40
	bankEach     = 100
)

// bank runs transfers, each with a line in a journal, until stop is closed; acks
// is how many were acknowledged.
func bank(t *testing.T, dsn string, workers int, stop chan struct{}) (acks *atomic.Int64, wait func()) {
	c := dial(t, dsn)
	c.exec("CREATE TABLE bank (id INT PRIMARY KEY, balance INT NOT NULL, note VARCHAR(200), KEY (balance), KEY (note, id))")
	c.exec("CREATE TABLE journal (worker INT, n INT, note TEXT, PRIMARY KEY (worker, n), UNIQUE KEY (n, worker))")
	for i := range bankAccounts {
		c.exec("INSERT INTO bank VALUES (?, ?, 'new')", i, bankEach)
	}
	acks = &atomic.Int64{}
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			c := dial(t, dsn)
			rng := rand.New(rand.NewPCG(7, uint64(w)))
			for n := 0; ; n++ {
				select {
				case <-stop:
					return
				default:
				}
				a, b := rng.IntN(bankAccounts), rng.IntN(bankAccounts)
				if a > b {
					a, b = b, a
				}
				if a == b {
					continue
				}
				sum := rng.IntN(20) - 10
				for _, q := range []string{
					"BEGIN",
					fmt.Sprintf("UPDATE bank SET balance = balance - %d, note = '%d %d' WHERE id = %d", sum, w, n, a),
					fmt.Sprintf("UPDATE bank SET balance = balance + %d, note = REPEAT('n', %d) WHERE id = %d", sum, n%150, b),
					fmt.Sprintf("INSERT INTO journal VALUES (%d, %d, REPEAT('j', %d))", w, n, rng.IntN(3000)),
					"COMMIT",
				} {
					if _, err := c.c.ExecContext(context.Background(), q); err != nil {
						t.Errorf("%s: %v", q, err)
						return
					}
				}
				acks.Add(1)
			}
		}()
	}
	return acks, wg.Wait
}

func onDisk(t *testing.T) (data, backups string, change func(*server.Config)) {
	root := t.TempDir()
	data, backups = filepath.Join(root, "data"), filepath.Join(root, "backups")
	if err := os.Mkdir(backups, 0o755); err != nil {
		t.Fatal(err)
	}
	return data, backups, func(c *server.Config) {
		c.InMemory, c.DataDir, c.BackupDir, c.Memory = false, data, backups, 256<<20
	}
}

// TestBackup makes a full and two incremental backups under load, restores each
// and checks what is in it.
func TestBackup(t *testing.T) {
	t.Parallel()
	testflag.Normal(t)
	_, backups, change := onDisk(t)
	_, dsn := startServer(t, change)
	stop := make(chan struct{})
	acks, wait := bank(t, dsn, 4, stop)
	c := dial(t, dsn)
	var least []int64
	names := []string{"full", "second", "third"}
	for i, name := range names {
		for before := acks.Load(); acks.Load() < before+150; {
			time.Sleep(time.Millisecond)
		}
		q := "BACKUP DATABASE * TO 'local://" + filepath.Join(backups, name) + "'"
		if i > 0 {
			q = "BACKUP DATABASE * TO '" + name + "' LAST_BACKUP = '" + names[i-1] + "' CHECKSUM = TRUE RATE_LIMIT = 500 MB/SECOND"
		} else {
			c.exec("INSERT INTO journal SELECT -1, n, REPEAT('x', 2000) FROM (WITH RECURSIVE r AS (SELECT 1 n UNION ALL SELECT n + 1 FROM r WHERE n < 900) SELECT * FROM r) r")
		}
		least = append(least, acks.Load())
		rows, err := c.query(q)
		if err != nil {
			t.Fatalf("%s: %v", q, err)
		}
		if !strings.HasPrefix(rows, filepath.Join(backups, name)+",") {
			t.Fatalf("%s: %v", q, rows)
		}
		c.fails(1086, "BACKUP DATABASE * TO '"+name+"'")
	}
	close(stop)
	wait()
	c.rows("6,3,3", "SELECT COUNT(*), SUM(state = 'done' AND files = files_done AND bytes = bytes_done), SUM(state = 'failed' AND error LIKE '%already exists%') FROM information_schema.sqlots_backups")
	for i, name := range names {
		dir := filepath.Join(t.TempDir(), "new")
		m, err := backup.Restore(context.Background(), filepath.Join(backups, name), dir, nil)
		if err != nil {
			t.Fatal(err)
		}
		if all, own := m.Size(); i == 0 && all != own || all == 0 {
			t.Fatalf("%s: %d of %d bytes", name, own, all)
		}
		ok, err := datacheck.Dir(context.Background(), dir, func(r datacheck.Result) {
			if !r.OK() {
				t.Errorf("%s: %s: %v %v", name, r.Table.Name, r.Err, r.Report.Problems)
			}
		})
		if !ok || err != nil {
			t.Fatal(ok, err)
		}
		_, rdsn := startServer(t, func(c *server.Config) { c.InMemory, c.DataDir, c.Memory = false, dir, 128<<20 })
		r := dial(t, rdsn)
		r.rows(fmt.Sprintf("%d,%d", bankAccounts*bankEach, bankAccounts), "SELECT SUM(balance), COUNT(*) FROM bank")
		r.rows("1,900", fmt.Sprintf("SELECT COUNT(*) >= %d, (SELECT COUNT(*) FROM journal WHERE worker = -1) FROM journal WHERE worker >= 0", least[i]))
		r.exec("INSERT INTO journal VALUES (-2, 0, '')")
	}
}

// TestBackupRefused: places and forms that are refused leave nothing.
func TestBackupRefused(t *testing.T) {
	_, dsn := startServer(t)
	c := dial(t, dsn)
	c.fails(1290, "BACKUP DATABASE * TO 'local:///tmp/x'")
	_, backups, change := onDisk(t)
	s, dsn := startServer(t, change)
	c = dial(t, dsn)
	for q, number := range map[string]uint16{
		"BACKUP DATABASE * TO '/tmp/x'":                 1290,
		"BACKUP DATABASE * TO '../x'":                   1290,
		"BACKUP DATABASE * TO '.'":                      1290,
		"BACKUP DATABASE * TO ''":                       1210,
		"BACKUP DATABASE * TO 'a/b'":                    13,
		"BACKUP DATABASE * TO 's3://bucket/x'":          1235,
		"BACKUP DATABASE t TO 'x'":                      1235,
		"BACKUP TABLE t.a TO 'x'":                       1235,
		"BACKUP DATABASE * TO 'x' CHECKSUM = FALSE":     1235,
		"BACKUP DATABASE * TO 'x' CONCURRENCY = 4":      1235,
		"BACKUP DATABASE * TO 'x' LAST_BACKUP = '/etc'": 1290,
		"BACKUP DATABASE * TO 'x' LAST_BACKUP = 'none'": 8124,
		"RESTORE DATABASE * FROM 'x'":                   1235,
		"SET GLOBAL sqlots_backup_dir = '/'":            1238,
	} {
		c.fails(number, q)
	}
	if names, err := os.ReadDir(backups); len(names) > 0 || err != nil {
		t.Fatal(names, err)
	}
	// A link that leads out of the directory is no way.
	if err := os.Symlink(t.TempDir(), filepath.Join(backups, "out")); err != nil {
		t.Fatal(err)
	}
	c.fails(1290, "BACKUP DATABASE * TO 'out/x'")
	if err := s.Engine().Globals.Value("sqlots_backup_dir"); err.Str() != backups {
		t.Fatal(err)
	}
	// KILL ends it, and leaves nothing.
	c.exec("CREATE TABLE big (id INT PRIMARY KEY, v LONGBLOB)")
	c.exec("INSERT INTO big VALUES (1, RANDOM_BYTES(1024)), (2, REPEAT('x', 3000000))")
	other := dial(t, dsn)
	p := other.start(c, "BACKUP DATABASE * TO 'slow' RATE_LIMIT = 1 MB/SECOND")
	eventually(t, func() bool {
		n, err := c.query("SELECT COUNT(*) FROM information_schema.processlist WHERE state LIKE 'backup: % of % files%'")
		return err == nil && n == "1"
	})
	c.fails(8124, "BACKUP DATABASE * TO 'another'")
	c.exec(fmt.Sprintf("KILL QUERY %d", other.id))
	p.fails(1317)
	if names, _ := filepath.Glob(backups + "/slow*"); len(names) > 0 {
		t.Fatal(names)
	}
}
