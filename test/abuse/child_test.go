package abuse

import (
	"context"
	"database/sql"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"runtime"
	"sort"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/server"
)

var named = flag.String("attack", "", "only those attacks of the corpus whose names have this in them")

var strict = flag.Bool("strict", false, "hold times to 100 ms after KILL and 250 ms for others")

const (
	budget       = 256 << 20
	addressSpace = 6 << 30
)

// settings are those of a server, which its process gets as JSON.
type settings struct {
	Dir        string
	Memory     int64
	CheckPlans bool
}

func TestMain(m *testing.M) {
	if os.Getenv(attackerVariable) != "" {
		if err := attackAsOrdered(); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	childserver.Main(func(arg string) server.Config {
		var s settings
		if err := json.Unmarshal([]byte(arg), &s); err != nil {
			panic(err)
		}
		most := uint64(max(addressSpace, 4*s.Memory))
		limit := syscall.Rlimit{Cur: most, Max: most}
		if err := syscall.Setrlimit(syscall.RLIMIT_AS, &limit); err != nil {
			panic(err)
		}
		n := runtime.GOMAXPROCS(0)
		runtime.GOMAXPROCS(n + (n+1)/2) // as the command does
		return server.Config{DataDir: s.Dir, Memory: s.Memory, CheckPlans: s.CheckPlans}
	})
	flag.Parse()
	os.Exit(m.Run())
}

// victim is a server under attack, and what is watched of it.
type victim struct {
	t    *testing.T
	c    *childserver.Child
	most int64 // resident bytes with which it is ended
	stop context.CancelFunc
	done sync.WaitGroup

	mu    sync.Mutex
	peak  int64 // resident bytes
	times []time.Duration
	wrong error
}

func start(t *testing.T) *victim {
	t.Helper()
	return startWith(t, settings{Memory: budget})
}

func startWith(t *testing.T, s settings) *victim {
	t.Helper()
	v := &victim{t: t, c: startChild(t, s), most: 2*s.Memory + s.Memory/2}
	db := v.connect("")
	for _, text := range []string{"CREATE DATABASE abuse", "CREATE TABLE abuse.other (id INT PRIMARY KEY, n INT NOT NULL)", "CREATE TABLE abuse.t (id INT PRIMARY KEY, s VARCHAR(100), b LONGBLOB, j JSON, k INT, KEY (k))"} {
		v.exec(db, text)
	}
	for i := range 20 {
		v.exec(db, fmt.Sprintf("INSERT INTO abuse.other VALUES (%d, %d)", i, i))
	}
	v.exec(db, "INSERT INTO abuse.t (id, s, b, j, k) WITH RECURSIVE c (n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM c WHERE n < 899) SELECT n, CONCAT('text of ', n), REPEAT('b', n % 7), JSON_ARRAY(n, n + 1), n % 10 FROM c")
	ctx, cancel := context.WithCancel(t.Context())
	v.stop = cancel
	v.done.Add(2)
	go func() { defer v.done.Done(); v.watch(ctx) }()
	go func() { defer v.done.Done(); v.other(ctx) }()
	t.Cleanup(v.finish)
	return v
}

// startChild starts a server on a directory of its own.
func startChild(t *testing.T, s settings) *childserver.Child {
	t.Helper()
	s.Dir = t.TempDir()
	arg, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	return childserver.Start(t, string(arg))
}

func (v *victim) exec(db *sql.DB, text string) {
	v.t.Helper()
	if _, err := db.ExecContext(v.t.Context(), text); err != nil {
		v.t.Fatalf("%.80s: %v", text, err)
	}
}

func (v *victim) connect(database string) *sql.DB {
	v.t.Helper()
	return connect(v.t, v.c, database)
}

func connect(t *testing.T, c *childserver.Child, database string) *sql.DB {
	t.Helper()
	db, err := open(c.Addr, database)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func open(addr, database string) (*sql.DB, error) {
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.DBName, cfg.Logger, cfg.MaxAllowedPacket = "root", "tcp", addr, database, &mysql.NopLogger{}, 64<<20
	cfg.MultiStatements = true
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(connector), nil
}

// watch follows the resident memory.
func (v *victim) watch(ctx context.Context) {
	for ctx.Err() == nil {
		now := v.c.Memory("RssAnon")
		v.mu.Lock()
		v.peak = max(v.peak, now)
		v.mu.Unlock()
		if now > v.most {
			v.c.Signal() // before it takes the machine along
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// other is the other client: it counts up rows and reads them.
func (v *victim) other(ctx context.Context) {
	db := v.connect("abuse")
	var want [20]int
	for i := range want {
		want[i] = i
	}
	for i := 0; ctx.Err() == nil; i++ {
		began := time.Now()
		_, err := db.ExecContext(ctx, "UPDATE other SET n = n + 20 WHERE id = ?", i%20)
		var n int
		if err == nil {
			err = db.QueryRowContext(ctx, "SELECT n FROM other WHERE id = ?", i%20).Scan(&n)
		}
		took := time.Since(began)
		if ctx.Err() != nil {
			return
		}
		want[i%20] += 20
		v.mu.Lock()
		v.times = append(v.times, took)
		switch {
		case err != nil && v.wrong == nil:
			v.wrong = fmt.Errorf("the other client after %v: %w", took, err)
		case err == nil && n != want[i%20] && v.wrong == nil:
			v.wrong = fmt.Errorf("the other client reads %d in row %d, want %d", n, i%20, want[i%20])
		}
		if err == nil {
			want[i%20] = n // after an error
		}
		v.mu.Unlock()
		time.Sleep(2 * time.Millisecond)
	}
}

// report is the peak of the memory and the time of 99 % of the other client's
// statements since the last report.
func (v *victim) report() (peak int64, p99 time.Duration, err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	sort.Slice(v.times, func(i, j int) bool { return v.times[i] < v.times[j] })
	if n := len(v.times); n > 0 {
		p99 = v.times[n*99/100]
	}
	peak, err = v.peak, v.wrong
	v.peak, v.times, v.wrong = 0, v.times[:0], nil
	return peak, p99, err
}

func (v *victim) finish() {
	v.stop()
	v.done.Wait()
}

// inCI is less without -strict: CI runs -long.
func inCI[T any](all, less T) T {
	if *strict {
		return all
	}
	return less
}

// mostResident is what may be resident. Without -strict it is what no machine has
// shown yet, however long the collector had to wait for a processor.
func mostResident() int64 {
	if *strict {
		return budget + budget/5
	}
	return 2 * budget
}

// mostOther and mostKill bound the times.
func mostOther() time.Duration {
	if *strict {
		return 250 * time.Millisecond
	}
	return 10 * time.Second
}

func mostKill() time.Duration {
	if *strict {
		return 100 * time.Millisecond
	}
	return 10 * time.Second
}
