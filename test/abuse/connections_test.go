package abuse

import (
	"context"
	"database/sql"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestManyConnections has 10,000 connections that have worked and wait, while 200 others
// work: 1.5 GiB are enough, and all are there at the end.
func TestManyConnections(t *testing.T) {
	testflag.Long(t)
	const memory = 1280 << 20
	idle, busy := 10_000, 200
	v := startWith(t, settings{Memory: memory})
	admin := v.connect("")
	v.exec(admin, "SET GLOBAL max_connections = 11000, GLOBAL sqlots_max_address_share = 100")
	db := v.connect("abuse")
	db.SetMaxIdleConns(idle + busy)
	conns := make([]*sql.Conn, idle)
	began := time.Now()
	share(50, idle, func(i int) {
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		conns[i] = c
		for _, text := range []string{"SET @mine = " + strconv.Itoa(i), "SELECT s, j FROM t WHERE k = 3 ORDER BY s LIMIT 10"} {
			if err := drain(t.Context(), c, text); err != nil {
				t.Error(err)
			}
		}
	})
	if t.Failed() {
		return
	}
	t.Logf("%d connections in %v, %d MiB are resident", idle, time.Since(began).Round(time.Millisecond), v.c.Memory("VmRSS")>>20)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var statements atomic.Int64
	share(busy, busy, func(i int) {
		c, err := db.Conn(t.Context())
		if err != nil {
			t.Error(err)
			return
		}
		defer c.Close()
		for rnd := rand.New(rand.NewPCG(uint64(i), 17)); ctx.Err() == nil; {
			if err := drain(t.Context(), c, busyStatement(rnd)); err != nil {
				t.Error(err)
				return
			}
			statements.Add(1)
		}
	})
	_, p99, wrong := v.report()
	peak := v.c.Memory("VmHWM")
	t.Logf("%d statements in 20 s, another client's took %v (99 %%), %d MiB were resident", statements.Load(), p99, peak>>20)
	if wrong != nil {
		t.Error(wrong)
	}
	if peak > 1536<<20 {
		t.Errorf("%d MiB were resident", peak>>20)
	}
	share(50, idle, func(i int) {
		var mine int
		if err := conns[i].QueryRowContext(t.Context(), "SELECT @mine").Scan(&mine); err != nil || mine != i {
			t.Errorf("connection %d has %d, %v", i, mine, err)
		}
		_ = conns[i].Close()
	})
}

// share calls task for 0 to n-1, by some goroutines.
func share(workers, n int, task func(i int)) {
	var next atomic.Int64
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				task(i)
			}
		})
	}
	wg.Wait()
}

func busyStatement(rnd *rand.Rand) string {
	id := rnd.IntN(900)
	switch rnd.IntN(10) {
	case 0:
		return fmt.Sprintf("UPDATE t SET s = CONCAT('text of ', %d) WHERE id = %d", rnd.IntN(1e6), id)
	case 1:
		return "SELECT k, COUNT(*), MAX(s) FROM t GROUP BY k ORDER BY 3"
	case 2:
		return fmt.Sprintf("SELECT a.s, b.s FROM t a JOIN t b ON b.k = a.k WHERE a.id = %d ORDER BY b.s", id)
	case 3:
		return fmt.Sprintf("SELECT s, JSON_EXTRACT(j, '$[0]') FROM t WHERE k = %d", id%10)
	}
	return fmt.Sprintf("SELECT s FROM t WHERE id = %d", id)
}

// TestConnectStorm connects, asks once and leaves, as fast as it goes for 20 s. Another
// client goes on, and nothing is left: no memory, no descriptor, no goroutine's stack.
func TestConnectStorm(t *testing.T) {
	testflag.Long(t)
	v := start(t)
	descriptors := func() int {
		list, err := os.ReadDir(fmt.Sprintf("/proc/%d/fd", v.c.Pid()))
		if err != nil {
			t.Fatal(err)
		}
		return len(list)
	}
	before := descriptors()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	var done atomic.Int64
	var wg sync.WaitGroup
	for range 32 {
		wg.Go(func() {
			db := v.connect("abuse")
			db.SetMaxIdleConns(-1)
			for ctx.Err() == nil {
				if err := db.PingContext(t.Context()); err != nil {
					t.Error(err)
					return
				}
				done.Add(1)
			}
		})
	}
	wg.Wait()
	peak, p99, wrong := v.report()
	t.Logf("%d connections a second, another client's statements took %v (99 %%), %d MiB were resident", done.Load()/20, p99, peak>>20)
	if wrong != nil {
		t.Error(wrong)
	}
	if peak > mostResident() {
		t.Errorf("%d MiB were resident", peak>>20)
	}
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(100 * time.Millisecond) {
		after := descriptors()
		if after <= before+20 {
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("%d descriptors, %d before", after, before)
		}
	}
}

// TestSlowReaders has clients that take rows slowly or not at all, and some that stop in
// the middle of a packet, next to changes of the schema, which do not wait for them.
func TestSlowReaders(t *testing.T) {
	testflag.Normal(t)
	v := start(t)
	db, admin := v.connect("abuse"), v.connect("abuse")
	v.exec(admin, "SET GLOBAL net_write_timeout = 2, GLOBAL net_read_timeout = 2, GLOBAL connect_timeout = 2")
	v.exec(admin, "CREATE TABLE slow (id INT PRIMARY KEY, s LONGTEXT)")
	for _, more := range []string{"", " OFFSET 200"} {
		v.exec(admin, "INSERT INTO slow SELECT id, REPEAT('x', 100000) FROM t ORDER BY id LIMIT 200"+more)
	}
	for range 5 { // their rows stay in the buffers
		rows, err := db.QueryContext(t.Context(), "SELECT * FROM slow")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { rows.Close() })
	}
	for i := range 20 {
		c, err := net.Dial("tcp", v.c.Addr)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { c.Close() })
		if i%2 == 0 {
			_, _ = c.Write([]byte{200, 0, 0, 1, 5}) // the begin of a login
		}
	}
	began := time.Now()
	for _, text := range []string{"ALTER TABLE slow ADD COLUMN n INT", "ALTER TABLE slow ADD KEY (n)", "DROP TABLE slow", "CREATE TABLE slow (id INT PRIMARY KEY)", "ALTER TABLE other ADD COLUMN more INT"} {
		v.exec(admin, text)
	}
	took := time.Since(began)
	_, p99, wrong := v.report()
	t.Logf("the changes took %v, another client's statements %v (99 %%)", took, p99)
	if wrong != nil {
		t.Error(wrong)
	}
	if took > 10*time.Second {
		t.Errorf("the changes took %v", took)
	}
}
