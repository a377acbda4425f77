package damage

import (
	"context"
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/childserver"
)

// tables of the directory: loaded is in table files of its own, large has values in
// files of their own, searched has a search index, changed has a change log and
// versions, and logged is in the log.
var tables = []string{
	"CREATE TABLE f.loaded (id INT PRIMARY KEY, k INT, v VARCHAR(200), KEY k (k))",
	"CREATE TABLE f.large (id INT PRIMARY KEY, v TEXT)",
	"CREATE TABLE f.searched (id INT PRIMARY KEY, a INT, w TEXT, SEARCH INDEX s (a, w TEXT))",
	`CREATE TABLE f.changed (id INT PRIMARY KEY, n INT, UNIQUE KEY n (n)) SECONDARY_ENGINE_ATTRIBUTE='{"stream": true, "max_versions": 4}'`,
	"CREATE TABLE f.logged (id INT PRIMARY KEY, v VARCHAR(4000))",
	"CREATE TABLE f.extra (id INT PRIMARY KEY)",
	"CREATE USER reader@localhost IDENTIFIED BY 'x'",
	"SET PERSIST max_connections = 77",
}

// queries have one value as their answer. on are the tables that they read.
var queries = []struct{ on, text string }{
	{"loaded", "SELECT CONCAT_WS(' ', COUNT(*), SUM(id), SUM(k), SUM(CRC32(v))) FROM f.loaded"},
	{"loaded", "SELECT CONCAT_WS(' ', COUNT(*), SUM(k)) FROM f.loaded FORCE INDEX (k) WHERE k >= 0"},
	{"loaded", "SELECT CONCAT_WS(' ', id, k, v) FROM f.loaded WHERE id = 4711"},
	{"loaded", "SELECT CONCAT_WS(' ', COUNT(*), SUM(CRC32(v))) FROM f.loaded FORCE INDEX (k) WHERE k BETWEEN 17 AND 30"},
	{"large", "SELECT CONCAT_WS(' ', COUNT(*), SUM(CRC32(v))) FROM f.large"},
	{"large", "SELECT MD5(v) FROM f.large WHERE id = 99"},
	{"searched", "SELECT CONCAT(COUNT(*), ' ', SUM(a = 3)) FROM f.searched FORCE INDEX (s) WHERE a < 5"},
	{"searched", "SELECT COUNT(*) FROM f.searched WHERE MATCH (w) AGAINST ('word7')"},
	{"searched", "SELECT CONCAT_WS(' ', COUNT(*), SUM(CRC32(CONCAT(id, a, w)))) FROM f.searched IGNORE INDEX (s)"},
	{"changed", "SELECT CONCAT_WS(' ', COUNT(*), SUM(id), SUM(n)) FROM f.changed"},
	{"changed", "SELECT CONCAT_WS(' ', COUNT(*), SUM(n)) FROM f.changed FORCE INDEX (n) WHERE n > 0"},
	{"changed", "SELECT CONCAT_WS(' ', COUNT(*), SUM(after_image->'$.n')) FROM stream('f.changed')"},
	{"changed", "SELECT CONCAT_WS(' ', COUNT(*), SUM(n)) FROM versions('f.changed')"},
	{"logged", "SELECT CONCAT_WS(' ', COUNT(*), SUM(id), SUM(CRC32(v))) FROM f.logged"},
	{"loaded changed", "SELECT CONCAT_WS(' ', COUNT(*), SUM(a.k * b.n)) FROM f.loaded a JOIN f.changed b ON a.id = b.id"},
	{"", "SELECT GROUP_CONCAT(user ORDER BY user) FROM mysql.user"},
	{"", "SELECT @@GLOBAL.max_connections"},
	{"", "SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = 'f'"},
}

// state is a directory with what a server on it must answer.
type state struct {
	name, dir string
	older     string // the directory as it was before
	want      []string
	extra     int // rows of extra
}

// client is a connection to a server.
type client struct {
	*sql.DB
	child *childserver.Child
}

func connect(t *testing.T, c *childserver.Child) *client {
	t.Helper()
	cfg := mysql.NewConfig()
	cfg.User, cfg.Net, cfg.Addr, cfg.Logger = "root", "tcp", c.Addr, &mysql.NopLogger{}
	connector, err := mysql.NewConnector(cfg)
	if err != nil {
		t.Fatal(err)
	}
	db := sql.OpenDB(connector)
	db.SetMaxOpenConns(1) // statements of a transaction
	return &client{db, c}
}

func (c *client) run(t *testing.T, texts ...string) {
	t.Helper()
	for _, q := range texts {
		if _, err := c.Exec(q); err != nil {
			t.Fatalf("%s: %v\n%.5000s", q, err, c.child.Log)
		}
	}
}

// ask gives the answer of a query.
func (c *client) ask(query string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), bound)
	defer cancel()
	var got string
	err := c.QueryRowContext(ctx, query).Scan(&got)
	if ctx.Err() != nil {
		err = fmt.Errorf("it hangs: %w", err)
	}
	return got, err
}

// answers are those of all queries.
func (c *client) answers(t *testing.T) (out []string) {
	t.Helper()
	for _, q := range queries {
		got, err := c.ask(q.text)
		if err != nil {
			t.Fatalf("%s: %v\n%.5000s", q.text, err, c.child.Log)
		}
		out = append(out, got)
	}
	return out
}

// makeStates makes a directory, and the copies of it after a stop and after
// SIGKILL.
func makeStates(t *testing.T) []*state {
	t.Helper()
	dir := t.TempDir()
	c := connect(t, childserver.Start(t, dir))
	c.run(t, "CREATE DATABASE f")
	c.run(t, tables...)
	mysql.RegisterReaderHandler("files", func() io.Reader {
		var b strings.Builder
		for i := range 20_000 {
			fmt.Fprintf(&b, "%d\t%d\t%s\n", i, i%1000, strings.Repeat(fmt.Sprintf("%09d", i*7919), 10))
		}
		return strings.NewReader(b.String())
	})
	defer mysql.DeregisterReaderHandler("files")
	c.run(t, "LOAD DATA LOCAL INFILE 'Reader::files' INTO TABLE f.loaded")
	n := numbers(0, 199)
	c.run(t, "INSERT INTO f.large "+n+"SELECT i, REPEAT(i, 1500) FROM n",
		"INSERT INTO f.searched "+n+"SELECT i, i % 10, CONCAT('word', i % 10) FROM n",
		"INSERT INTO f.changed "+n+"SELECT i, 2 * i FROM n",
		"INSERT INTO f.logged VALUES (0, REPEAT('0', 3000))")
	c.waitReady(t)
	first := c.stopped(t, dir, "first", "")
	for i := range 3 {
		c = connect(t, childserver.Start(t, dir))
		n := numbers(1000*(i+1), 1000*(i+1)+399)
		c.run(t, "INSERT INTO f.large "+n+"SELECT i, REPEAT(i, 1000) FROM n",
			"UPDATE f.changed SET n = n + 1 WHERE id > 50",
			fmt.Sprintf("UPDATE f.loaded SET k = k + 1 WHERE id %% 40 = %d", i))
		if i < 2 {
			c.end(t)
		}
	}
	c.run(t, "INSERT INTO f.searched "+numbers(200, 399)+"SELECT i, i % 10, CONCAT('word', i % 10) FROM n", "INSERT INTO f.extra VALUES (0)")
	c.waitReady(t)
	stopped := c.stopped(t, dir, "stopped", first.dir)
	c = connect(t, childserver.Start(t, dir))
	for i := range 600 {
		c.run(t, fmt.Sprintf("INSERT INTO f.logged VALUES (%d, REPEAT('%d', %d))", i+1, i%10, 1+i*29%4000))
	}
	c.run(t, "UPDATE f.changed SET n = n + 1 WHERE id < 50", "UPDATE f.searched SET w = 'word7' WHERE id = 5")
	killed := &state{name: "killed", dir: t.TempDir(), older: stopped.dir, want: c.answers(t), extra: 1}
	c.child.Kill()
	_ = c.Close() // the server is gone
	copyDir(t, killed.dir, dir)
	return []*state{stopped, killed}
}

// numbers is the head of a query of n, which has the numbers from first to last.
func numbers(first, last int) string {
	return fmt.Sprintf("WITH RECURSIVE n AS (SELECT %d AS i UNION ALL SELECT i + 1 FROM n WHERE i < %d) ", first, last)
}

// stopped ends the server and copies its directory.
func (c *client) stopped(t *testing.T, dir, name, older string) *state {
	t.Helper()
	s := &state{name: name, dir: t.TempDir(), older: older, want: c.answers(t), extra: 1}
	c.end(t)
	copyDir(t, s.dir, dir)
	return s
}

// end stops the server.
func (c *client) end(t *testing.T) {
	t.Helper()
	_ = c.Close() // there is nothing open
	if err := c.child.Stop(); err != nil {
		t.Fatalf("the server did not stop: %v\n%.5000s", err, c.child.Log)
	}
}

// waitReady waits for the search index and for its files.
func (c *client) waitReady(t *testing.T) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		same, err := c.ask("SELECT (SELECT COUNT(*) FROM f.searched IGNORE INDEX (s)) = DOCUMENTS AND STATE = 'ready' FROM information_schema.SQLOTS_SEARCH_INDEXES")
		if err == nil && same == "1" {
			return
		}
		if time.Since(start) > time.Minute {
			t.Fatal(same, err)
		}
	}
}

func copyDir(t *testing.T, to, from string) {
	t.Helper()
	if err := os.CopyFS(to, os.DirFS(from)); err != nil {
		t.Fatal(err)
	}
}

// kindOf is the kind of a file.
func kindOf(name string) string {
	base := filepath.Base(name)
	for _, prefix := range []string{"MANIFEST-", "OPTIONS-", "marker.manifest", "marker.format-version"} {
		if strings.HasPrefix(base, prefix) {
			return strings.TrimSuffix(prefix, "-")
		}
	}
	if ext := filepath.Ext(base); ext != "" {
		return ext[1:]
	}
	return base
}

// filesOf are the files of a directory, by their kinds; the names are relative.
func filesOf(t *testing.T, dir string) map[string][]string {
	t.Helper()
	out := map[string][]string{}
	err := filepath.WalkDir(dir, func(path string, e os.DirEntry, err error) error {
		if err != nil || e.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, path)
		out[kindOf(name)] = append(out[kindOf(name)], name)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}
