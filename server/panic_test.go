package server_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/mysqlwire"
	"github.com/sqlots/sqlots/sql/command"
	"github.com/sqlots/sqlots/sql/engine"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/session"
	"github.com/sqlots/sqlots/sql/statement"
	"github.com/sqlots/sqlots/storage/errkv"
	"github.com/sqlots/sqlots/storage/memkv"
	"github.com/sqlots/sqlots/value"
)

// testBackend serves an engine whose store panics on demand.
type testBackend struct {
	*engine.Engine
	shared *statement.Shared
}

func (b testBackend) Connect(ctx context.Context, info mysqlwire.ConnInfo) (mysqlwire.Session, error) {
	return session.New(ctx, b.shared, info)
}

// startFaulty runs a server over a store in which calls can be made to panic.
func startFaulty(t *testing.T, log io.Writer) (*errkv.Store, string) {
	t.Helper()
	logger := slog.New(slog.NewTextHandler(log, nil))
	store := errkv.Wrap(memkv.New(memkv.Options{}))
	e, err := engine.New(t.Context(), engine.Config{Store: store, Log: logger, Globals: map[string]value.Datum{"sqlots_parallelism": value.Uint(4)}})
	if err != nil {
		t.Fatal(err)
	}
	shared := statement.NewShared(e, command.Runner{})
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	wire := mysqlwire.NewServer(mysqlwire.Config{Version: expr.ServerVersion, Logger: logger}, testBackend{e, shared})
	done := make(chan struct{})
	go func() {
		defer close(done)
		_ = wire.Serve(l)
	}()
	t.Cleanup(func() {
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		_ = wire.Shutdown(ctx)
		<-done
		if err := store.Close(); err != nil {
			t.Error(err)
		}
	})
	return store, "root@tcp(" + l.Addr().String() + ")/"
}

// TestPanicInAStatement: a panic anywhere below a statement is error 1105 of
// its connection alone. The transaction is rolled back, its locks are
// released, memory and snapshots come back, and the others go on.
func TestPanicInAStatement(t *testing.T) {
	testflag.Normal(t)
	log := &testutil.Buffer{}
	store, dsn := startFaulty(t, log)
	other := dial(t, dsn)
	other.exec("CREATE DATABASE t")
	other.exec("USE t")
	other.exec("CREATE TABLE a (id INT PRIMARY KEY, v INT, pad VARCHAR(100), KEY(v))")
	var rows []string
	for i := range 3000 {
		rows = append(rows, fmt.Sprintf("(%d,%d,REPEAT('x',100))", i, i%7))
	}
	other.exec("INSERT INTO a VALUES " + strings.Join(rows, ","))
	// Large enough that its scan is cut among workers.
	other.exec("CREATE TABLE b (id INT PRIMARY KEY AUTO_INCREMENT, v INT, pad VARCHAR(100))")
	other.exec("INSERT INTO b (v, pad) SELECT x.v, x.pad FROM a x, a y WHERE y.id < 24")
	other.exec("ANALYZE TABLE a, b")
	memory := func() string {
		got, err := other.query("SHOW GLOBAL STATUS LIKE 'Sqlots_memory_used'")
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	idle := memory()
	cases := []struct {
		name, before, query string
		op                  errkv.Op
		n                   int64
	}{
		{"scan", "", "SELECT COUNT(*), SUM(v) FROM a WHERE pad LIKE 'x%'", errkv.OpVisit, 1},
		{"open", "", "SELECT SUM(v) FROM a WHERE pad LIKE 'x%'", errkv.OpScan, 1},
		{"second scan", "", "SELECT SUM(v) FROM a WHERE pad LIKE 'x%'", errkv.OpVisit, 2},
		{"join", "", "SELECT COUNT(*) FROM a x JOIN a y ON x.v = y.id", errkv.OpVisit, 2},
		{"sort", "", "SELECT id, pad FROM a ORDER BY pad, v, id LIMIT 2900", errkv.OpVisit, 1},
		{"point", "", "SELECT pad FROM a WHERE id = 7", errkv.OpGet, 1},
		{"snapshot", "", "SELECT SUM(v) FROM a WHERE pad LIKE 'x%'", errkv.OpSnapshot, 1},
		{"worker", "", "SELECT v, MAX(pad) FROM b GROUP BY v", errkv.OpVisit, 3},
		{"all workers", "", "SELECT v, MAX(pad) FROM b GROUP BY v", errkv.OpScan, 1},
		{"exchange", "", "SELECT x.pad, COUNT(*) FROM b x JOIN a y ON x.v = y.id GROUP BY x.pad", errkv.OpVisit, 4},
		{"update", "", "UPDATE a SET v = v + 1", errkv.OpPut, 5},
		{"insert", "", "INSERT INTO a VALUES (-1, 1, 'p')", errkv.OpPut, 2},
		{"delete", "", "DELETE FROM a WHERE v = 3", errkv.OpPut, 3},
		{"commit", "", "DELETE FROM a WHERE v = 3", errkv.OpCommit, 1},
		{"transaction", "UPDATE a SET v = 100 WHERE id = 5", "UPDATE a SET v = 200 WHERE id < 10", errkv.OpPut, 4},
		{"read in a transaction", "UPDATE a SET v = 100 WHERE id = 5", "SELECT COUNT(*) FROM a WHERE pad LIKE 'x%'", errkv.OpVisit, 1},
		{"locking read", "UPDATE a SET v = 100 WHERE id = 5", "SELECT * FROM a FOR UPDATE", errkv.OpLock, 1},
		{"explain analyze", "", "EXPLAIN ANALYZE SELECT SUM(v) FROM a WHERE pad LIKE 'x%'", errkv.OpVisit, 1},
	}
	const state = "3000,8994,0"
	check := func() {
		t.Helper()
		other.rows(state, "SELECT COUNT(*), SUM(v), SUM(id < 0) FROM t.a")
	}
	check()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			broken := dial(t, dsn+"t")
			if c.before != "" {
				broken.exec("START TRANSACTION")
				broken.exec(c.before)
			}
			store.Panic(c.op, c.n, "injected: "+c.name)
			_, err := broken.query(c.query)
			store.Reset()
			var e *mysql.MySQLError
			if !errors.As(err, &e) || e.Number != 1105 || string(e.SQLState[:]) != "HY000" {
				t.Fatalf("error %v, want 1105 (HY000)", err)
			}
			broken.close()
			other.exec("SET innodb_lock_wait_timeout = 5")
			other.exec("UPDATE t.a SET v = v + 1 WHERE id = 5") // its lock is free
			other.exec("UPDATE t.a SET v = v - 1 WHERE id = 5")
			other.exec("ALTER TABLE t.a ADD COLUMN extra INT") // and the table's
			other.exec("ALTER TABLE t.a DROP COLUMN extra")
			check()
			other.rows("t.a,check,status,OK", "CHECK TABLE t.a")
			if got := memory(); got != idle {
				t.Errorf("memory %s, before %s", got, idle)
			}
		})
	}
	for _, where := range []string{"panic in a connection", "a worker of a statement", "injected: scan", "injected: commit"} {
		if !strings.Contains(log.String(), where) {
			t.Errorf("the log has no %q", where)
		}
	}
}
