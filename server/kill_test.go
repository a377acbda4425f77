package server_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"
)

// fillNumbers makes the table n with the numbers from 0 to 9,999.
func fillNumbers(c *client) {
	c.exec("CREATE TABLE n (i INT PRIMARY KEY, pad VARCHAR(100) NOT NULL)")
	for lo := 0; lo < 10_000; lo += 1000 {
		var b strings.Builder
		b.WriteString("INSERT INTO n VALUES ")
		for i := lo; i < lo+1000; i++ {
			if i > lo {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "(%d,'%0100d')", i, i*7919%10_000)
		}
		c.exec(b.String())
	}
}

// longStatements run for minutes unless they are interrupted.
var longStatements = map[string]string{
	"cross join":       "SELECT COUNT(*) FROM n a, n b, n c WHERE a.i+b.i+c.i=-1",
	"nested aggregate": "SELECT SUM(a.i*b.i) FROM n a JOIN n b JOIN n c GROUP BY a.i%7",
	"sleep":            "SELECT SLEEP(1000)",
	"sleep per row":    "SELECT SLEEP(10) FROM n",
	"sort":             "SELECT a.i FROM n a, n b, n c ORDER BY a.pad, b.pad LIMIT 5",
	"distinct":         "SELECT COUNT(DISTINCT a.i*b.i%1000) FROM n a, n b, n c",
	"lock wait":        "UPDATE n SET pad='x' WHERE i=5",
	"locking read":     "SELECT * FROM n WHERE i=5 FOR UPDATE",
	"metadata lock":    "ALTER TABLE n ADD COLUMN w INT",
	"insert select":    "INSERT INTO copy SELECT a.i*100000000+b.i*10000+c.i FROM n a, n b, n c WHERE a.i+b.i+c.i < 0",
	"update":           "UPDATE copy SET id=id+1 WHERE (SELECT COUNT(*) FROM n a, n b, n c WHERE a.i+b.i+c.i=-1)=id",
	"subquery":         "SELECT (SELECT COUNT(*) FROM n a, n b, n c WHERE a.i+b.i+c.i=-1)",
	"union":            "SELECT a.i FROM n a, n b, n c WHERE a.i+b.i+c.i=-1 UNION SELECT 1",
	"benchmark":        "DO BENCHMARK(100000000000, MD5('x'))",
	"set":              "SET @x = (SELECT COUNT(*) FROM n a, n b, n c WHERE a.i+b.i+c.i=-1)",
}

// sleepers answer SLEEP's 1 instead of an error when they are killed.
var sleepers = map[string]bool{"sleep": true}

func TestKillQuery(t *testing.T) {
	_, dsn := startServer(t)
	holder, killer := dial(t, dsn), dial(t, dsn)
	fillNumbers(holder)
	holder.exec("CREATE TABLE copy (id BIGINT PRIMARY KEY)")
	holder.exec("INSERT INTO copy VALUES (1)")
	holder.exec("BEGIN")
	holder.exec("UPDATE n SET pad='held' WHERE i=5")
	for name, query := range longStatements {
		t.Run(name, func(t *testing.T) {
			c := dial(t, dsn)
			p := c.start(killer, query)
			began := time.Now()
			killer.exec(fmt.Sprintf("KILL QUERY %d", c.id))
			err := p.wait()
			t.Logf("ended after %v", time.Since(began))
			if sleepers[name] && err == nil && p.rows == "1" {
				return
			}
			c.wantError(err, 1317, query)
			c.rows("1", "SELECT 1")
		})
	}
}

func TestKillConnection(t *testing.T) {
	_, dsn := startServer(t)
	killer := dial(t, dsn)
	fillNumbers(killer)
	idle, busy := dial(t, dsn), dial(t, dsn)
	p := busy.start(killer, longStatements["cross join"])
	killer.exec(fmt.Sprintf("KILL %d", busy.id))
	if err := p.wait(); err == nil {
		t.Error("a killed connection answered")
	}
	idle.exec("BEGIN")
	idle.exec("UPDATE n SET pad='x' WHERE i=1")
	killer.exec(fmt.Sprintf("KILL CONNECTION %d", idle.id))
	killer.exec("UPDATE n SET pad='y' WHERE i=1") // its locks are gone
	eventually(t, func() bool {
		n, err := killer.query("SELECT COUNT(*) FROM information_schema.processlist")
		return err == nil && n == "1"
	})
	if _, err := idle.query("SELECT 1"); err == nil {
		t.Error("a killed connection answered")
	}
	killer.fails(1094, "KILL 999999")
	killer.fails(1094, "KILL QUERY 999999")
}

func TestMaxExecutionTime(t *testing.T) {
	_, dsn := startServer(t)
	c := dial(t, dsn)
	fillNumbers(c)
	c.exec("SET max_execution_time=20")
	c.fails(3024, longStatements["cross join"])
	c.fails(3024, "SELECT /*+ MAX_EXECUTION_TIME(10) */ COUNT(*) FROM n a, n b, n c WHERE a.i+b.i+c.i=-1")
	c.exec("SET max_execution_time=0")
	c.rows("10000", "SELECT COUNT(*) FROM n")
}

func TestDisconnectEndsTheStatement(t *testing.T) {
	_, dsn := startServer(t)
	watcher := dial(t, dsn)
	fillNumbers(watcher)
	ctx, cancel := context.WithCancel(t.Context())
	c := dial(t, dsn)
	done := make(chan error, 1)
	go func() {
		_, err := c.c.ExecContext(ctx, longStatements["cross join"])
		done <- err
	}()
	running := func() bool {
		n, err := watcher.query("SELECT COUNT(*) FROM information_schema.processlist WHERE info LIKE '%a.i+b.i+c.i=-1%' AND id<>CONNECTION_ID()")
		return err == nil && n == "1"
	}
	eventually(t, running)
	cancel() // the driver closes the connection
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	eventually(t, func() bool { return !running() })
}

func TestAbandonedResult(t *testing.T) {
	_, dsn := startServer(t)
	c := dial(t, dsn)
	fillNumbers(c)
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	rows, err := db.QueryContext(ctx, "SELECT a.pad, b.pad FROM n a, n b")
	if err != nil {
		t.Fatal(err)
	}
	for range 10 {
		rows.Next()
	}
	cancel()
	rows.Close()
	db.Close()
	eventually(t, func() bool {
		n, err := c.query("SELECT COUNT(*) FROM information_schema.processlist")
		return err == nil && n == "1"
	})
}
