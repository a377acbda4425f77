package server_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/server"
)

// startServer runs a server over the memory store and returns it with the
// data source name of a fresh database.
func startServer(t testing.TB, change ...func(*server.Config)) (*server.Server, string) {
	t.Helper()
	s, dsn := startOnce(t, change...)
	t.Cleanup(func() {
		if err := s.Stop(0); err != nil {
			t.Error(err)
		}
	})
	return s, dsn
}

// startOnce starts a server that the test stops.
func startOnce(t testing.TB, change ...func(*server.Config)) (*server.Server, string) {
	t.Helper()
	cfg := server.Config{InMemory: true, Listen: "127.0.0.1:0", Durability: 1}
	for _, fn := range change {
		fn(&cfg)
	}
	if cfg.InMemory {
		debug.SetMemoryLimit(math.MaxInt64) // a server on disk sets that of the process
	}
	s := servertest.Open(t, cfg)
	dsn := servertest.DSN(s)
	c := dial(t, dsn)
	c.exec("CREATE DATABASE IF NOT EXISTS t")
	c.close()
	return s, dsn + "t"
}

// client is one connection of a test.
type client struct {
	t  testing.TB
	db *sql.DB
	c  *sql.Conn
	id uint64
}

// admitAll lets every account use the database t: what a test does with accounts is not
// about their privileges.
func admitAll(c *client) {
	c.exec("CREATE ROLE everyone")
	c.exec("GRANT ALL ON t.* TO everyone")
	c.exec("SET PERSIST mandatory_roles = 'everyone', PERSIST activate_all_roles_on_login = ON")
}

func dial(t testing.TB, dsn string) *client {
	t.Helper()
	db, err := sql.Open("mysql", dsn)
	if err != nil {
		t.Fatal(err)
	}
	c, err := db.Conn(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	out := &client{t: t, db: db, c: c}
	if err := c.QueryRowContext(context.Background(), "SELECT CONNECTION_ID()").Scan(&out.id); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.close)
	return out
}

func (c *client) close() {
	c.c.Close()
	c.db.Close()
}

// exec runs a statement that has to succeed and returns its affected rows.
func (c *client) exec(query string, args ...any) int64 {
	c.t.Helper()
	r, err := c.c.ExecContext(context.Background(), query, args...)
	if err != nil {
		c.t.Fatalf("%s: %v", clip(query), err)
	}
	n, _ := r.RowsAffected()
	return n
}

// fails runs a statement that has to fail with an error number.
func (c *client) fails(number uint16, query string, args ...any) {
	c.t.Helper()
	_, err := c.query(query, args...)
	c.wantError(err, number, query)
}

func (c *client) wantError(err error, number uint16, query string) {
	c.t.Helper()
	if got := errorNumber(err); got != number {
		c.t.Fatalf("%s: error %v, want %d", clip(query), err, number)
	}
}

func errorNumber(err error) uint16 {
	var e *mysql.MySQLError
	if errors.As(err, &e) {
		return e.Number
	}
	return 0
}

// rows runs a query and compares its rows: columns by comma, rows by bar.
func (c *client) rows(want, query string, args ...any) {
	c.t.Helper()
	got, err := c.query(query, args...)
	if err != nil {
		c.t.Fatalf("%s: %v", clip(query), err)
	}
	if got != want {
		c.t.Fatalf("%s:\n got %s\nwant %s", clip(query), got, want)
	}
}

func (c *client) query(query string, args ...any) (string, error) {
	rows, err := c.c.QueryContext(context.Background(), query, args...)
	if err != nil {
		return "", err
	}
	defer rows.Close()
	return readRows(rows)
}

func readRows(rows *sql.Rows) (string, error) {
	cols, err := rows.Columns()
	if err != nil {
		return "", err
	}
	var out []string
	for rows.Next() {
		cells, ptrs := make([]sql.NullString, len(cols)), make([]any, len(cols))
		for i := range cells {
			ptrs[i] = &cells[i]
		}
		if err := rows.Scan(ptrs...); err != nil {
			return "", err
		}
		line := make([]string, len(cols))
		for i, cell := range cells {
			line[i] = "NULL"
			if cell.Valid {
				line[i] = cell.String
			}
		}
		out = append(out, strings.Join(line, ","))
	}
	return strings.Join(out, "|"), rows.Err()
}

// pending is a statement that runs in the background.
type pending struct {
	c     *client
	query string
	done  chan error
	rows  string
}

// start runs a statement in the background and returns when the server runs
// it; other is a connection that watches.
func (c *client) start(other *client, query string) *pending {
	c.t.Helper()
	p := &pending{c: c, query: query, done: make(chan error, 1)}
	go func() {
		rows, err := c.query(query)
		p.rows = rows
		p.done <- err
	}()
	eventually(c.t, func() bool {
		n, err := other.query("SELECT COUNT(*) FROM information_schema.processlist WHERE id = ? AND info = ?", c.id, query)
		return err == nil && n == "1" || len(p.done) > 0
	})
	return p
}

func (p *pending) wait() error {
	p.c.t.Helper()
	select {
	case err := <-p.done:
		return err
	case <-time.After(30 * time.Second):
		p.c.t.Fatalf("%s: no answer", clip(p.query))
		return nil
	}
}

func (p *pending) ok() {
	p.c.t.Helper()
	if err := p.wait(); err != nil {
		p.c.t.Fatalf("%s: %v", clip(p.query), err)
	}
}

func (p *pending) fails(number uint16) {
	p.c.t.Helper()
	p.c.wantError(p.wait(), number, p.query)
}

// eventually polls until fn holds.
func eventually(t testing.TB, fn func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !fn(); {
		if time.Now().After(deadline) {
			t.Fatal("never happened")
		}
		time.Sleep(time.Millisecond)
	}
}

func clip(s string) string {
	if len(s) > 120 {
		return fmt.Sprintf("%s… (%d bytes)", s[:120], len(s))
	}
	return s
}
