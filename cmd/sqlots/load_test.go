package main

import (
	"bytes"
	"compress/gzip"
	"database/sql"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/tool/load"
)

func loadServer(t *testing.T) (dsn string, db *sql.DB) {
	t.Helper()
	s := servertest.Start(t, server.Config{Memory: 256 << 20})
	var err error
	dsn = fmt.Sprintf("root@tcp(%s)/", s.Addr())
	for _, name := range []string{"", "d"} {
		db, err = sql.Open("mysql", dsn+name)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = db.Close() })
		execute(t, db, "CREATE DATABASE IF NOT EXISTS d")
	}
	return dsn + "d", db
}

func execute(t *testing.T, db *sql.DB, q string) {
	t.Helper()
	if _, err := db.Exec(q); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
}

func oneValue(t *testing.T, db *sql.DB, q string) string {
	t.Helper()
	var s sql.NullString
	if err := db.QueryRow(q).Scan(&s); err != nil {
		t.Fatalf("%s: %v", q, err)
	}
	return s.String
}

func inputFile(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	var buf bytes.Buffer
	var w io.WriteCloser
	switch filepath.Ext(name) {
	case ".gz":
		w = gzip.NewWriter(&buf)
	case ".zst":
		z, err := zstd.NewWriter(&buf)
		if err != nil {
			t.Fatal(err)
		}
		w = z
	}
	if w == nil {
		buf.WriteString(text)
	} else {
		if _, err := io.WriteString(w, text); err != nil {
			t.Fatal(err)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(path, buf.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func runLoad(args ...string) (code int, out, errs string) {
	var stdout, stderr bytes.Buffer
	code = load.Main(args, &stdout, &stderr)
	return code, stdout.String(), stderr.String()
}

const loadTable = "CREATE OR REPLACE TABLE t (id INT PRIMARY KEY, s VARCHAR(40), n TINYINT NOT NULL DEFAULT 7, j JSON)"

func TestLoadFormats(t *testing.T) {
	dsn, db := loadServer(t)
	for _, c := range []struct {
		name, text string
		args       []string
		want       string // rows, or the beginning of the error
	}{
		{"a.csv", "id,s,n\n1,\"a,\"\"b\nc\",3\n2,NULL,4\n3,\"NULL\",5\n", nil, "1|a,\"b\nc|3|;2||4|;3|NULL|5|"},
		{"a.csv", "1,x,3,{}\r\n2,y,4,NULL\r\n\r\n", nil, "1|x|3|{};2|y|4|"},
		{"a.csv.gz", "\ufeffN,ID\n3,1\n", nil, "1||3|"},
		{"a.csv.zst", "S,other,id\nx,9,1\n", []string{"--header=yes", "--ignore-unknown"}, "1|x|7|"},
		{"a.csv", "S,other,id\nx,9,1\n", []string{"--header=yes"}, `sqlots load: the table has no column "other"`},
		{"a.csv", "1;;\n2;-;\n", []string{"--delimiter=;", "--null=", "--columns=id,s,j"}, "1||7|;2|-|7|"},
		{"a.csv", "'1','a''b'\n", []string{"--quote='", "--columns=id,s"}, "1|a'b|7|"},
		{"a.tsv", "1\ta\\tb\\\n\t3\t\\N\n2\t\\\\\t4\t[1]", nil, "1|a\tb\n|3|;2|\\|4|[1]"},
		{"a.jsonl", `{"id":1,"s":"a\t\"b\\","j":{"x":[1,null]}}` + "\n\n" + `{"n":null,"s":null,"id":2}` + "\n" + `{"id":3,"n":true,"s":1.50,"j":"\"t\""}`, nil,
			"1|a\t\"b\\|7|{\"x\": [1, null]};2||7|;3|1.50|1|\"t\""},
		{"a.jsonl", `{"id":1}` + "\n" + `{"id":2,"zz":1}`, nil, "sqlots load: FILE, line 2: unknown column 'zz'"},
		{"a.jsonl", `{"id":1}` + "\n" + `{"id":2,"zz":1}`, []string{"--ignore-unknown"}, "1||7|;2||7|"},
		{"a.jsonl", `{"id":1}` + "\n" + `{"id":2`, nil, "sqlots load: FILE, line 2: not an object of JSON"},
		{"a.csv", "1,a,3\n2,b,300\n", []string{"--columns=id,s,n"}, "sqlots load: FILE, line 2: Error 1264 (22003): "},
		{"a.csv", "\"1\",\"two\nlines\"\n2,b\nx,c\n", []string{"--columns=id,s"}, "sqlots load: FILE, line 4: Error 1366"},
		{"a.csv", "", nil, ""},
		{"a.csv", "id,s\n", nil, ""},
		{"a.csv", "1,a\n1,b\n", []string{"--columns=id,s", "--replace"}, "1|b|7|"},
		{"a.csv", "1,2026-01-01\n", []string{"--columns=id,s", "--set=sql_mode='ANSI'"}, "1|2026-01-01|7|"},
	} {
		for _, piece := range []string{"--piece=1KiB", "--piece=64MiB"} {
			execute(t, db, "DROP TABLE IF EXISTS t")
			execute(t, db, strings.Replace(loadTable, "OR REPLACE ", "", 1))
			path := inputFile(t, c.name, c.text)
			code, _, errs := runLoad(append(append([]string{"--dsn", dsn, "--table", "t", "--quiet", piece}, c.args...), path)...)
			got := ""
			if code != 0 {
				got = strings.ReplaceAll(errs, path, "FILE")
				if !strings.HasPrefix(got, c.want) || c.want == "" {
					t.Errorf("%q %v: got %q, want %q", c.text, c.args, got, c.want)
				}
				continue
			}
			got = oneValue(t, db, "SELECT GROUP_CONCAT(CONCAT_WS('|', id, IFNULL(s, ''), n, IFNULL(j, '')) ORDER BY id SEPARATOR ';') FROM t")
			if got != c.want {
				t.Errorf("%q %v: got %q, want %q", c.text, c.args, got, c.want)
			}
		}
	}
}

func TestLoadRejects(t *testing.T) {
	dsn, db := loadServer(t)
	execute(t, db, "CREATE TABLE t (id INT PRIMARY KEY, n TINYINT)")
	var text strings.Builder
	text.WriteString("id,n\n")
	const rows, every = 3000, 500
	for i := range rows {
		if i%every == 7 {
			fmt.Fprintf(&text, "%d,%d\n", i, 1000)
			continue
		}
		fmt.Fprintf(&text, "%d,%d\n", i, i%100)
	}
	path := inputFile(t, "a.csv", text.String())
	args := []string{"--dsn", dsn, "--table", "d.t", "--quiet", "--piece=4KiB", "--jobs=3"}
	if code, _, errs := runLoad(append(args, "--max-rejects=3", path)...); code != 1 {
		t.Errorf("too many rejects: exit code %d, %s", code, errs)
	}
	execute(t, db, "TRUNCATE t")
	code, out, errs := runLoad(append(args, "--max-rejects=6", path)...)
	if code != 0 || !strings.Contains(out, "6 records left out") {
		t.Fatalf("exit code %d, %s%s", code, out, errs)
	}
	if got := oneValue(t, db, "SELECT COUNT(*) FROM t"); got != fmt.Sprint(rows-6) {
		t.Errorf("%s rows", got)
	}
	recs, err := os.ReadFile(path + ".rejects")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := string(recs), "id,n\n7,1000\n507,1000\n1007,1000\n1507,1000\n2007,1000\n2507,1000\n"; got != want {
		t.Errorf("rejects %q", got)
	}
	reasons, err := os.ReadFile(path + ".rejects.reasons")
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(string(reasons), path+"\t509\t1264\tOut of range value") {
		t.Errorf("reasons:\n%s", reasons)
	}
}

// flaky forwards connections and cuts every nth of them after some bytes.
func flakyProxy(t *testing.T, to string) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	var n atomic.Int64
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s, err := net.Dial("tcp", to)
			if err != nil {
				_ = c.Close()
				continue
			}
			limit := int64(1 << 40)
			if k := n.Add(1); k%2 == 0 {
				limit = 300 + k*k%5000 // within a request or an answer
			}
			go func() {
				_, _ = io.CopyN(s, c, limit)
				_, _ = c.Close(), s.Close()
			}()
			go func() {
				_, _ = io.Copy(c, s)
				_, _ = c.Close(), s.Close()
			}()
		}
	}()
	return l.Addr().String()
}

// TestLoadBrokenConnections: each piece is loaded once, whatever happens to the
// connections.
func TestLoadBrokenConnections(t *testing.T) {
	dsn, db := loadServer(t)
	execute(t, db, "CREATE TABLE t (k BIGINT AUTO_INCREMENT PRIMARY KEY, id INT)") // takes duplicates
	var text strings.Builder
	const rows = 4000
	for i := range rows {
		fmt.Fprintf(&text, "%d\n", i)
	}
	path := inputFile(t, "a.csv", text.String())
	addr := regexp.MustCompile(`\((.*)\)`).FindStringSubmatch(dsn)[1]
	bad := strings.Replace(dsn, addr, flakyProxy(t, addr), 1)
	for try := range 3 {
		execute(t, db, "TRUNCATE t")
		code, out, errs := runLoad("--dsn", bad, "--table", "t", "--columns", "id", "--piece=1KiB", "--jobs=4", path)
		for strings.Contains(errs, "--resume") { // it gave up: go on
			id := regexp.MustCompile(`--resume (\w+)`).FindStringSubmatch(errs)[1]
			code, out, errs = runLoad("--dsn", bad, "--table", "t", "--columns", "id", "--piece=1KiB", "--jobs=4", "--resume", id, path)
		}
		if code != 0 {
			t.Fatalf("try %d: exit code %d, %s%s", try, code, out, errs)
		}
		if got := oneValue(t, db, "SELECT CONCAT(COUNT(*), ' ', COUNT(DISTINCT id), ' ', MAX(id)) FROM t"); got != fmt.Sprintf("%d %d %d", rows, rows, rows-1) {
			t.Errorf("try %d: %s", try, got)
		}
	}
}

func TestLoadResume(t *testing.T) {
	dsn, db := loadServer(t)
	execute(t, db, "CREATE TABLE t (k BIGINT AUTO_INCREMENT PRIMARY KEY, id INT)")
	text := strings.Repeat("1\n", 2000) + "x\n" + strings.Repeat("2\n", 2000)
	path := inputFile(t, "a.csv", text)
	args := []string{"--dsn", dsn, "--table", "t", "--columns", "id", "--piece=1KiB", "--jobs=2"}
	code, _, errs := runLoad(append(args, path)...)
	m := regexp.MustCompile(`--resume (\w+)`).FindStringSubmatch(errs)
	if code != 1 || m == nil || !strings.Contains(errs, "line 2001") {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	// The file is mended in place: its size is the same.
	if err := os.WriteFile(path, []byte(strings.Replace(text, "x", "3", 1)), 0o600); err != nil {
		t.Fatal(err)
	}
	if code, _, errs := runLoad(append(args, "--header=no", "--piece=2KiB", "--resume", m[1], path)...); code != 1 || !strings.Contains(errs, "was not this one") {
		t.Errorf("other options: exit code %d, %s", code, errs)
	}
	if code, _, errs := runLoad(append(args, "--resume", m[1], path)...); code != 0 {
		t.Fatalf("exit code %d, %s", code, errs)
	}
	if got := oneValue(t, db, "SELECT GROUP_CONCAT(c ORDER BY id) FROM (SELECT id, CONCAT(id, ':', COUNT(*)) c FROM t GROUP BY id) x"); got != "1:2000,2:2000,3:1" {
		t.Errorf("rows: %s", got)
	}
}

func TestLoadUsage(t *testing.T) {
	for _, args := range [][]string{
		{}, {"--table", "t"}, {"--table", "d.t", "x.unknown"}, {"--table", "t", "x.csv"}, {"--table", "d.t", "--piece", "5", "x.csv"},
		{"--table", "d.t", "x.csv", "y.tsv"}, {"--table", "d.t", "--format", "xml", "x"}, {"--table", "d.t", "--set", "nothing", "x.csv"},
	} {
		if code, _, errs := runLoad(args...); code != 2 || errs == "" {
			t.Errorf("%v: exit code %d, %q", args, code, errs)
		}
	}
	if code, out, _ := runLoad("-h"); code != 0 || !strings.Contains(out, "--table TABLE") {
		t.Errorf("help: exit code %d, %q", code, out)
	}
}
