package crash

import (
	"context"
	"database/sql"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"github.com/sqlots/sqlots/internal/childserver"
	"github.com/sqlots/sqlots/internal/datacheck"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

var filesOnly = flag.String("files.only", "", "the one case of TestFiles to run, as KIND/DAMAGE")

// checkVariable holds, in the environment of a child, the directory to check.
const checkVariable = "SQLOTS_CHECK_DIR"

// checkMain is "sqlots check" in a process of its own, which damaged files could
// end.
func checkMain() {
	dir, ok := os.LookupEnv(checkVariable)
	if !ok {
		return
	}
	_, err := datacheck.DirAndFiles(context.Background(), dir, func(d pebblekv.Damage) { fmt.Println(d) }, func(r datacheck.Result) {
		fmt.Println(r.Table.Name, r.OK(), r.Err, r.Report.Problems)
	})
	if err != nil {
		fmt.Println("cannot check:", err)
	}
	os.Exit(0)
}

// checked is what checkMain says of a directory.
func checked(t *testing.T, dir string) string {
	t.Helper()
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), checkVariable+"="+dir)
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("the check ended badly: %v\n%.3000s", err, out)
	}
	return string(out)
}

// fileTables are the tables of filesDir, with what each adds up to: loaded is in
// table files of its own, large has values in files of their own, searched has a
// search index, and logged is in the log.
var fileTables = []struct{ name, query, want string }{
	{"loaded", "SELECT CONCAT(COUNT(*), ' ', SUM(LENGTH(v))) FROM f.loaded", "60000 5400000"},
	{"large", "SELECT CONCAT(COUNT(*), ' ', SUM(LENGTH(v))) FROM f.large", "150 450000"},
	{"searched", "SELECT CONCAT(COUNT(*), ' ', SUM(a = 3)) FROM f.searched FORCE INDEX (s) WHERE a < 5", "100 20"},
	{"logged", "SELECT CONCAT(COUNT(*), ' ', SUM(id)) FROM f.logged WHERE id < 100", "2 3"},
}

// filesDir makes a data directory with files of each kind.
func filesDir(t *testing.T) string {
	dir := t.TempDir()
	c := childserver.Start(t, dir)
	db := connect(t, c.Addr)
	run := func(q string) {
		t.Helper()
		if _, err := db.Exec(q); err != nil {
			t.Fatal(q, err)
		}
	}
	run("CREATE DATABASE f")
	for _, table := range []string{"loaded (id INT PRIMARY KEY, v VARCHAR(200))", "large (id INT PRIMARY KEY, v TEXT)", "logged (id INT PRIMARY KEY)",
		"searched (id INT PRIMARY KEY, a INT, w TEXT, SEARCH INDEX s (a, w TEXT))"} {
		run("CREATE TABLE f." + table)
	}
	mysql.RegisterReaderHandler("files", func() io.Reader {
		var b strings.Builder
		for i := range 60_000 {
			fmt.Fprintf(&b, "%d\t%s\n", i, strings.Repeat(fmt.Sprintf("%09d", i*7919), 10))
		}
		return strings.NewReader(b.String())
	})
	defer mysql.DeregisterReaderHandler("files")
	run("LOAD DATA LOCAL INFILE 'Reader::files' INTO TABLE f.loaded")
	for i := range 150 {
		run(fmt.Sprintf("INSERT INTO f.large VALUES (%d, REPEAT('%d', 3000))", i, i%10))
	}
	run("INSERT INTO f.searched WITH RECURSIVE n AS (SELECT 0 AS i UNION ALL SELECT i + 1 FROM n WHERE i < 199) SELECT i, i % 10, CONCAT('word', i % 10) FROM n")
	waitReady(t, db)
	for range 2 { // a start writes what is in the log
		_ = db.Close()
		c.Kill()
		c = childserver.Start(t, dir)
		db = connect(t, c.Addr)
	}
	for start := time.Now(); time.Since(start) < 10*time.Second; time.Sleep(10 * time.Millisecond) {
		if names, _ := filepath.Glob(filepath.Join(dir, "search", "*", "*.zap")); len(names) > 0 {
			break
		}
	}
	run("INSERT INTO f.logged VALUES (1), (2)")
	_ = db.Close()
	c.Kill()
	return dir
}

// waitReady waits for the search indexes.
func waitReady(t *testing.T, db *sql.DB) {
	t.Helper()
	for start := time.Now(); ; time.Sleep(10 * time.Millisecond) {
		state, n := "", 0
		err := db.QueryRow("SELECT STATE, DOCUMENTS FROM information_schema.SQLOTS_SEARCH_INDEXES").Scan(&state, &n)
		if err == nil && state == "ready" && n == 200 {
			return
		}
		if time.Since(start) > time.Minute {
			t.Fatal(state, n, err)
		}
	}
}

// fileKinds are the files that are damaged, one pattern for each kind.
var fileKinds = []struct{ kind, pattern string }{
	{"blob", "kv/*.blob"}, {"sst", "kv/*.sst"}, {"log", "kv/*.log"}, {"manifest", "kv/MANIFEST-*"}, {"options", "kv/OPTIONS-*"},
	{"marker", "kv/marker.manifest.*"}, {"version", "kv/marker.format-version.*"}, {"format", "FORMAT"},
	{"segment", "search/*/*.zap"}, {"root", "search/*/root.bolt"},
}

// fileDamages are what happens to files.
var fileDamages = []struct {
	name string
	do   func(name string, b []byte) error
}{
	{"deleted", func(name string, b []byte) error { return os.Remove(name) }},
	{"cut", func(name string, b []byte) error { return os.Truncate(name, int64(len(b)/2)) }},
	{"emptied", func(name string, b []byte) error { return os.Truncate(name, 0) }},
	{"flipped", func(name string, b []byte) error {
		if len(b) == 0 {
			return errNothing
		}
		b[len(b)/2] ^= 0x55
		return os.WriteFile(name, b, 0o600)
	}},
}

var errNothing = errors.New("the file is empty")

// TestFiles damages each kind of file in each way. A start is refused with an
// error that names a file of that kind, or the server runs: statements that meet
// the damage end with 1194, others are right, and no process ends by itself.
func TestFiles(t *testing.T) {
	testflag.Normal(t)
	whole := filesDir(t)
	for _, k := range fileKinds {
		for _, d := range fileDamages {
			name := k.kind + "/" + d.name
			if *filesOnly != "" && name != *filesOnly {
				continue
			}
			t.Run(name, func(t *testing.T) {
				dir := t.TempDir()
				if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
					t.Fatal(err)
				}
				bad, names := false, []string(nil)
				for _, file := range matches(t, dir, k.pattern) {
					b, err := os.ReadFile(file)
					if err == nil {
						err = d.do(file, b)
					}
					if err != nil && !errors.Is(err, errNothing) {
						t.Fatal(err)
					}
					bad = bad || err == nil
					names = append(names, filepath.Base(file))
				}
				if !bad {
					t.Skip("nothing to damage")
				}
				damagedDir(t, k.kind, dir, names)
			})
		}
	}
}

// matches are the files of a pattern: of table files the large ones, which hold a
// table of their own.
func matches(t *testing.T, dir, pattern string) (out []string) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(dir, filepath.FromSlash(pattern)))
	if err != nil || len(names) == 0 {
		t.Fatalf("no file %s: %v", pattern, err)
	}
	for _, name := range names {
		if info, err := os.Stat(name); err != nil {
			t.Fatal(err)
		} else if !strings.HasSuffix(name, ".sst") || info.Size() > 100_000 {
			out = append(out, name)
		}
	}
	if len(out) == 0 {
		t.Fatalf("no large file among %v", names)
	}
	return out
}

// damagedDir starts a server on a damaged directory, twice, and checks it.
func damagedDir(t *testing.T, kind, dir string, names []string) {
	for round := range 2 {
		c, err := childserver.Try(t, dir)
		if err != nil {
			text := err.Error()
			if strings.Contains(text, "goroutine ") {
				t.Fatalf("the start ended by a panic:\n%.3000s", text)
			}
			if !strings.Contains(text, dir) || !containsAny(text, names) {
				t.Errorf("the error does not name the file: %s", text)
			}
			t.Logf("refused: %s", strings.TrimSpace(strings.ReplaceAll(text, dir, "DIR")))
			break
		}
		damagedTables(t, kind, c, names, round)
		c.Kill()
	}
	out := checked(t, dir)
	t.Logf("check: %.2000s", strings.ReplaceAll(out, dir, "DIR"))
	if (kind == "blob" || kind == "sst") && !containsAny(out, names) {
		t.Error("the check does not name the file")
	}
}

func containsAny(text string, names []string) bool {
	for _, name := range names {
		number, _, _ := strings.Cut(name, ".")
		if strings.Contains(text, name) || strings.HasPrefix(name, "marker.") && strings.Contains(text, "marker") || number != name && number != "marker" && strings.Contains(text, number) {
			return true
		}
	}
	return false
}

// damagedTables reads and writes all tables.
func damagedTables(t *testing.T, kind string, c *childserver.Child, names []string, round int) {
	t.Helper()
	db := connect(t, c.Addr)
	defer db.Close()
	for range 3 { // reads that are repeated have images made
		for _, table := range fileTables {
			var got string
			err := db.QueryRow(table.query).Scan(&got)
			var number *mysql.MySQLError
			switch {
			case err == nil && got == table.want:
			case errors.As(err, &number) && number.Number == 1194 && containsAny(err.Error(), names):
				if kind == "blob" && table.name != "large" || kind == "sst" && table.name != "loaded" || kind != "blob" && kind != "sst" {
					t.Errorf("%s: %v", table.name, err)
				}
			case kind == "log" && table.name == "logged": // what a damaged log holds is a matter of other tests
			default:
				t.Errorf("%s: %q, want %q: %v\n%.5000s", table.name, got, table.want, err, c.Log)
			}
		}
	}
	if _, err := db.Exec(fmt.Sprintf("INSERT INTO f.logged VALUES (%d)", 100+round)); err != nil {
		t.Errorf("writing: %v", err)
	}
	time.Sleep(200 * time.Millisecond) // what runs in the background
	if err := db.Ping(); err != nil {
		t.Errorf("the server has ended: %v\n%.5000s", err, c.Log)
	}
}
