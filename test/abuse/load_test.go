package abuse

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"math/rand/v2"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/childserver"
)

var (
	loadBudget = flag.Int64("budget", 0, "--memory of the server of TestLoad in MiB; 0 skips it")
	howLong    = flag.Duration("for", 60*time.Second, "how long the load runs")
	only       = flag.String("only", "", "the kinds of load to run, by comma; all by default")
)

// rowBytes is about the size of a row of the load.
const rowBytes = 1000

// TestLoad loads more data than the budget and runs a mixed load on it. The
// resident memory must stay within 20 % of the budget.
//
//	CGO_ENABLED=0 go test ./test/abuse -run TestLoad -v -args -budget 512 -for 60s
func TestLoad(t *testing.T) {
	mib, d := *loadBudget, *howLong
	if mib == 0 {
		t.Skip("it takes minutes: -budget MiB")
	}
	rows := int(mib << 20 / rowBytes)
	c := startChild(t, settings{Memory: mib << 20})
	admin := connect(t, c, "")
	mustExec(t, admin, "CREATE DATABASE m")
	db := connect(t, c, "m")
	db.SetMaxIdleConns(2000)
	mustExec(t, db, "CREATE TABLE big (id INT PRIMARY KEY, k INT NOT NULL, name VARCHAR(40), pad VARCHAR(1000), KEY (k), KEY (name))")
	start := time.Now()
	if err := loadRows(db, "big", rows, 1); err != nil {
		t.Fatal(err)
	}
	t.Logf("%d MiB budget, %d rows loaded in %v, peak %d MiB", mib, rows, time.Since(start).Round(time.Millisecond), c.Memory("VmHWM")>>20)
	l := &memoryLoad{db: db, rows: rows, counts: map[string]*atomic.Int64{}}
	ctx, cancel := context.WithTimeout(t.Context(), d)
	defer cancel()
	var wg sync.WaitGroup
	wg.Add(1)
	go func() {
		defer wg.Done()
		printMemory(ctx, t, c, db)
	}()
	for _, k := range l.kinds() {
		if *only != "" && !strings.Contains(","+*only+",", ","+k.name+",") {
			continue
		}
		l.counts[k.name] = &atomic.Int64{}
		for i := range k.workers {
			wg.Add(1)
			go func() {
				defer wg.Done()
				rng := rand.New(rand.NewPCG(uint64(i), 3))
				for n := 0; ctx.Err() == nil; n++ {
					if err := k.run(ctx, rng, i, n); err != nil && ctx.Err() == nil && !expected(err) {
						t.Errorf("%s: %v", k.name, err)
						return
					}
					l.counts[k.name].Add(1)
				}
			}()
		}
	}
	wg.Wait()
	var done []string
	for name, n := range l.counts {
		done = append(done, fmt.Sprintf("%s %d", name, n.Load()))
	}
	sort.Strings(done)
	t.Log("statements:", strings.Join(done, ", "))
	peak := c.Memory("VmHWM")
	t.Logf("peak %d MiB of %d: %d %%", peak>>20, mib, peak*100/(mib<<20))
	if limit := (mib << 20) * 12 / 10; peak > limit {
		t.Errorf("resident memory reached %d MiB, more than 20 %% above the budget", peak>>20)
	}
}

// printMemory prints the resident memory.
func printMemory(ctx context.Context, t *testing.T, c *childserver.Child, db *sql.DB) {
	tick := time.NewTicker(5 * time.Second)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			var name, queries string
			_ = db.QueryRowContext(ctx, "SHOW GLOBAL STATUS LIKE 'Sqlots_memory_used'").Scan(&name, &queries)
			t.Logf("resident %d MiB, peak %d MiB, queries %s", c.Memory("VmRSS")>>20, c.Memory("VmHWM")>>20, queries)
		}
	}
}

// expected are errors that a load like this one may meet: lock waits, limits of
// memory.
func expected(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && (e.Number == 1205 || e.Number == 1213 || e.Number == 3170 || e.Number == 1041)
}

type memoryLoad struct {
	db     *sql.DB
	rows   int
	counts map[string]*atomic.Int64
}

type kind struct {
	name    string
	workers int
	run     func(ctx context.Context, rng *rand.Rand, worker, n int) error
}

func (l *memoryLoad) kinds() []kind {
	query := func(text func(rng *rand.Rand) string) func(context.Context, *rand.Rand, int, int) error {
		return func(ctx context.Context, rng *rand.Rand, _, _ int) error { return drainFrom(ctx, l.db, text(rng)) }
	}
	fixed := func(text string) func(context.Context, *rand.Rand, int, int) error {
		return query(func(*rand.Rand) string { return text })
	}
	return []kind{
		{"point", 40, query(func(rng *rand.Rand) string {
			return fmt.Sprintf("SELECT * FROM big WHERE id = %d", rng.IntN(l.rows))
		})},
		{"range", 20, query(func(rng *rand.Rand) string {
			return fmt.Sprintf("SELECT * FROM big WHERE k BETWEEN %d AND %[1]d + 20", rng.IntN(l.rows))
		})},
		{"update", 20, func(ctx context.Context, rng *rand.Rand, _, _ int) error {
			_, err := l.db.ExecContext(ctx, "UPDATE big SET pad = ?, name = ? WHERE id = ?", strings.Repeat("u", rng.IntN(900)), randomName(rng), rng.IntN(l.rows))
			return err
		}},
		{"insert", 10, func(ctx context.Context, rng *rand.Rand, w, n int) error {
			_, err := l.db.ExecContext(ctx, "INSERT IGNORE INTO big VALUES (?, ?, ?, ?)", l.rows+w*10_000_000+n, rng.IntN(l.rows), randomName(rng), strings.Repeat("i", 700))
			return err
		}},
		{"sort", 2, fixed("SELECT id, name, pad FROM big ORDER BY pad, name")},
		{"group", 2, fixed("SELECT name, COUNT(*), MAX(pad) FROM big GROUP BY name")},
		{"join", 2, fixed("SELECT COUNT(*) FROM big a JOIN big b ON a.name = b.name WHERE a.pad <> b.pad")},
		{"scan", 2, fixed("SELECT COUNT(*), MIN(pad) FROM big")},
		{"results", 3, fixed("SELECT * FROM big")},
		{"change", 1, func(ctx context.Context, rng *rand.Rand, _, _ int) error {
			from := rng.IntN(l.rows)
			_, err := l.db.ExecContext(ctx, "UPDATE big SET k = k + 1 WHERE id BETWEEN ? AND ?", from, from+l.rows/10)
			return err
		}},
		{"load", 2, func(ctx context.Context, _ *rand.Rand, w, n int) error {
			name := fmt.Sprintf("load%d_%d", w, n)
			if _, err := l.db.ExecContext(ctx, "CREATE TABLE "+name+" LIKE big"); err != nil {
				return err
			}
			if err := loadRows(l.db, name, l.rows/10, uint64(n)); err != nil {
				return err
			}
			_, err := l.db.ExecContext(ctx, "DROP TABLE "+name)
			return err
		}},
		{"index", 1, func(ctx context.Context, _ *rand.Rand, _, n int) error {
			_, err := l.db.ExecContext(ctx, "CREATE INDEX more ON big (name, k)")
			if err == nil {
				_, err = l.db.ExecContext(ctx, "DROP INDEX more ON big")
			}
			return err
		}},
		{"idle", 400, func(ctx context.Context, _ *rand.Rand, _, _ int) error {
			conn, err := l.db.Conn(ctx)
			if err != nil {
				return err
			}
			defer conn.Close()
			if _, err := conn.ExecContext(ctx, "DO 1"); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		}},
	}
}

// drainFrom is drain on any connection.
func drainFrom(ctx context.Context, db *sql.DB, query string) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	return drain(ctx, conn, query)
}

func mustExec(t *testing.T, db *sql.DB, query string) {
	t.Helper()
	if _, err := db.Exec(query); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
}

func randomName(rng *rand.Rand) string { return fmt.Sprintf("name %x", rng.Uint64()>>24) }

var handlers atomic.Int64

// loadRows fills a table by LOAD DATA.
func loadRows(db *sql.DB, table string, rows int, seed uint64) error {
	name := fmt.Sprint("rows", handlers.Add(1))
	mysql.RegisterReaderHandler(name, func() io.Reader { return &rowReader{rows: rows, rng: rand.New(rand.NewPCG(seed, 1))} })
	defer mysql.DeregisterReaderHandler(name)
	_, err := db.Exec("LOAD DATA LOCAL INFILE 'Reader::" + name + "' INTO TABLE " + table)
	return err
}

// rowReader makes lines of rows.
type rowReader struct {
	rows, n int
	rng     *rand.Rand
	buf     bytes.Buffer
}

// Read implements io.Reader.
func (r *rowReader) Read(p []byte) (int, error) {
	for r.buf.Len() < len(p) && r.n < r.rows {
		fmt.Fprintf(&r.buf, "%d\t%d\t%s\t", r.n, r.rng.IntN(r.rows), randomName(r.rng))
		for range rowBytes/32 - 2 {
			fmt.Fprintf(&r.buf, "%016x%016x", r.rng.Uint64(), r.rng.Uint64())
		}
		r.buf.WriteByte('\n')
		r.n++
	}
	return r.buf.Read(p)
}
