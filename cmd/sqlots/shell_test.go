package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/server"
)

func startServer(t *testing.T) *server.Server {
	t.Helper()
	s := servertest.Start(t, server.Config{Memory: 128 << 20})
	return s
}

var timing = regexp.MustCompile(`\d+\.\d{3} sec`)

// sqlots runs the program and returns code, output and errors, timings out.
func sqlots(args ...string) (int, string, string) {
	var out, errs bytes.Buffer
	code := run(args, &out, &errs)
	return code, timing.ReplaceAllString(out.String(), "N sec"), errs.String()
}

func TestShellScript(t *testing.T) {
	dsn := "root@tcp(" + startServer(t).Addr() + ")/"
	code, out, errs := sqlots("sql", "-dsn", dsn, "-e", `
CREATE DATABASE d; USE d;
CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20), raw VARBINARY(4));
INSERT INTO t VALUES (1, 'one', 'a;b'), (2, NULL, NULL);
SELECT * FROM t ORDER BY id;
SELECT id FROM t WHERE id > 5;
SELECT COUNT(*) AS n FROM t\G
`)
	if code != 0 || errs != "" {
		t.Fatalf("code %d: %s", code, errs)
	}
	want := `Query OK, 1 row affected (N sec)

Query OK, 0 rows affected (N sec)

Query OK, 0 rows affected (N sec)

Query OK, 2 rows affected (N sec)

+----+------+----------+
| id | name | raw      |
+----+------+----------+
|  1 | one  | 0x613B62 |
|  2 | NULL | NULL     |
+----+------+----------+
2 rows in set (N sec)

Empty set (N sec)

*************************** 1. row ***************************
n: 2
1 row in set (N sec)

`
	if out != want {
		t.Errorf("got:\n%s\nwant:\n%s", out, want)
	}
}

// TestShellReturning: changes with RETURNING show rows, others their number.
func TestShellReturning(t *testing.T) {
	dsn := "root@tcp(" + startServer(t).Addr() + ")/"
	code, out, errs := sqlots("sql", "-dsn", dsn, "-e", `
CREATE DATABASE d; USE d;
CREATE TABLE t (id INT PRIMARY KEY, name VARCHAR(20));
INSERT INTO t VALUES (1, 'it\'s returning'), (2, NULL) /* returning */;
INSERT INTO t VALUES (3, 'x') RETURNING id, name;
DELETE FROM t WHERE id = 1 returning id;
`)
	if code != 0 || errs != "" {
		t.Fatalf("code %d: %s", code, errs)
	}
	want := `Query OK, 2 rows affected (N sec)

+----+------+
| id | name |
+----+------+
|  3 | x    |
+----+------+
1 row in set (N sec)

+----+
| id |
+----+
|  1 |
+----+
1 row in set (N sec)

`
	if !strings.HasSuffix(out, want) {
		t.Errorf("got:\n%s\nwant at its end:\n%s", out, want)
	}
}

func TestShellErrors(t *testing.T) {
	dsn := "root@tcp(" + startServer(t).Addr() + ")/"
	code, out, errs := sqlots("sql", "-dsn", dsn, "-batch", "-e", "SELECT 1;\nSELECT * FROM mysql.nothing;\nSELECT 2")
	if code != 1 || out != "1\n1\n" || errs != "ERROR 1146 (42S02) at line 2: Table 'mysql.nothing' doesn't exist\n" {
		t.Errorf("code %d, out %q, errors %q", code, out, errs)
	}
	code, out, _ = sqlots("sql", "-dsn", dsn, "-batch", "-force", "-e", "SELECT nothing; SELECT 2")
	if code != 1 || out != "2\n2\n" {
		t.Errorf("with force: code %d, out %q", code, out)
	}
	if code, _, errs := sqlots("sql", "-dsn", "root@tcp(127.0.0.1:1)/", "-e", "SELECT 1"); code != 1 || !strings.HasPrefix(errs, "ERROR 2003 (HY000): ") {
		t.Errorf("nobody listens: code %d, %q", code, errs)
	}
	if code, _, errs := sqlots("sql", "-dsn", "nobody:x@tcp("+strings.TrimPrefix(dsn, "root@tcp("), "-e", "SELECT 1"); code != 1 || !strings.HasPrefix(errs, "ERROR 1045 (28000): Access denied") {
		t.Errorf("unknown user: code %d, %q", code, errs)
	}
}

func TestShellLoadsLocalFiles(t *testing.T) {
	dsn := "root@tcp(" + startServer(t).Addr() + ")/"
	path := filepath.Join(t.TempDir(), "it's.csv")
	if err := os.WriteFile(path, []byte("1,a\n2,b\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := sqlots("sql", "-dsn", dsn, "-batch", "-e", `CREATE DATABASE d; USE d; CREATE TABLE t (id INT PRIMARY KEY, v VARCHAR(9));
LOAD DATA LOCAL INFILE '`+strings.ReplaceAll(path, "'", "''")+`' INTO TABLE t FIELDS TERMINATED BY ',';
SELECT COUNT(*) FROM t`)
	if code != 0 || out != "COUNT(*)\n2\n" {
		t.Errorf("code %d, out %q, errors %q", code, out, errs)
	}
	if code, _, errs := sqlots("sql", "-dsn", dsn, "-e", `LOAD DATA LOCAL INFILE '/nowhere.csv' INTO TABLE d.t`); code != 1 || errs == "" {
		t.Errorf("a missing file: code %d, %q", code, errs)
	}
}

func TestShellSourceAndQuit(t *testing.T) {
	dsn := "root@tcp(" + startServer(t).Addr() + ")/"
	path := filepath.Join(t.TempDir(), "a.sql")
	if err := os.WriteFile(path, []byte("SELECT 'from file';\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	code, out, errs := sqlots("sql", "-dsn", dsn, "-batch", "-e", "source "+path+"\n\\. "+path+"\nquit\nSELECT 1;")
	if code != 0 || strings.Count(out, "from file\nfrom file\n") != 2 {
		t.Errorf("code %d, out %q, errors %q", code, out, errs)
	}
}

func TestInterrupt(t *testing.T) {
	addr := startServer(t).Addr()
	o := shellOptions{connection: connection{dsn: "root@tcp(" + addr + ")/"}}
	config, err := o.config(io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	c, err := dial(ctx, config)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	done := make(chan error, 1)
	go func() {
		_, err := c.run(ctx, "SELECT SLEEP(60)")
		done <- err
	}()
	for {
		if err := c.interrupt(ctx); err != nil {
			t.Fatal(err)
		}
		select {
		case <-done: // MySQL's SLEEP gives 1 when it is interrupted, and no error
			if _, err := c.run(ctx, "SELECT 1"); err != nil {
				t.Errorf("the connection is not usable afterwards: %v", err)
			}
			return
		case <-time.After(50 * time.Millisecond):
		}
	}
}

func TestUsage(t *testing.T) {
	for _, args := range [][]string{{}, {"nonsense"}, {"sql", "-nonsense"}, {"sql", "surplus"}, {"demo", "surplus"}, {"check"}, {"serve"}} {
		if code, _, errs := sqlots(args...); code != 2 || errs == "" {
			t.Errorf("%v: code %d, %q", args, code, errs)
		}
	}
	for _, args := range [][]string{{"help"}, {"sql", "-h"}, {"demo", "-h"}, {"check", "-h"}, {"serve", "-h"}} {
		if code, out, errs := sqlots(args...); code != 0 || out+errs == "" {
			t.Errorf("%v: code %d", args, code)
		}
	}
}
