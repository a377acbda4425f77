package server_test

import (
	"archive/tar"
	"compress/gzip"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"github.com/sqlots/sqlots/internal/datacheck"
	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/pebblekv"
)

var makeFormat = flag.Bool("make-format", false, "make the data directory of the present format again, by its setup.sql")

const formats = "testdata/formats"

// smallMemory has write buffers of 1 MiB, so that little data is in tables,
// large values and logs.
const smallMemory = 16 << 20

// TestFormats opens a data directory of every format that there was, checks it,
// reads all of it, goes on writing, and checks it again.
func TestFormats(t *testing.T) {
	testflag.Normal(t)
	if *makeFormat {
		writeStore(t, filepath.Join(formats, strconv.Itoa(pebblekv.FormatVersion)))
	}
	for v := 1; v <= pebblekv.FormatVersion; v++ {
		if v > 1 && v < pebblekv.FormatVersion-1 && testflag.InShort(true, false) {
			continue
		}
		t.Run(strconv.Itoa(v), func(t *testing.T) {
			from := filepath.Join(formats, strconv.Itoa(v))
			dir := filepath.Join(t.TempDir(), "data")
			unpack(t, filepath.Join(from, "store.tar.gz"), dir)
			checkDir(t, dir)
			cfg := func(c *server.Config) { c.InMemory, c.DataDir, c.Memory = false, dir, smallMemory }
			s, dsn := startOnce(t, cfg)
			c := dial(t, dsn)
			c.exec("SET time_zone = '+02:00'")
			datadriven.RunTest(t, filepath.Join(from, "golden"), func(t *testing.T, d *datadriven.TestData) string {
				return c.answer(d)
			})
			at, err := c.query("SELECT at FROM f.moment")
			if err != nil {
				t.Fatal(err)
			}
			c.rows("1,1|2,1", "SELECT * FROM f.ver AS OF TIMESTAMP '"+at+"' ORDER BY id")
			for _, account := range []string{"app:secret", "old:old"} {
				dial(t, strings.Replace(dsn, "root@", account+"@", 1)+"?allowNativePasswords=true").rows("1", "SELECT 1")
			}
			if err := s.Stop(0); err != nil {
				t.Fatal(err)
			}
			checkDir(t, dir)
		})
	}
}

// answer runs a statement of a golden file.
func (c *client) answer(d *datadriven.TestData) string {
	var out string
	var err error
	switch d.Cmd {
	case "exec":
		_, err = c.c.ExecContext(context.Background(), d.Input)
		out = "ok"
	case "query":
		out, err = c.query(d.Input)
		out = strings.ReplaceAll(out, "|", "\n")
	default:
		d.Fatalf(c.t, "unknown command")
	}
	if err != nil {
		return fmt.Sprintln("error", errorNumber(err))
	}
	return out + "\n"
}

// TestLaterFormat: a directory of a later release is refused with an error that says
// so.
func TestLaterFormat(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "data")
	unpack(t, filepath.Join(formats, "1", "store.tar.gz"), dir)
	later := fmt.Sprintf("sqlots-kv %d\n", pebblekv.FormatVersion+1)
	if err := os.WriteFile(filepath.Join(dir, "FORMAT"), []byte(later), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := server.Start(t.Context(), server.Config{DataDir: dir, Listen: "127.0.0.1:0"})
	want := fmt.Sprintf("format %d is of a later release: this one reads up to %d", pebblekv.FormatVersion+1, pebblekv.FormatVersion)
	if !errors.Is(err, storage.ErrFormat) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), dir) {
		t.Fatalf("error %v, want %q", err, want)
	}
}

func checkDir(t *testing.T, dir string) {
	t.Helper()
	tables := 0
	ok, err := datacheck.DirAndFiles(t.Context(), dir, func(d pebblekv.Damage) { t.Error(d) }, func(r datacheck.Result) {
		tables++
		if !r.OK() {
			t.Errorf("%s.%s: %v %v", r.Table.Database, r.Table.Name, r.Err, r.Report.Problems)
		}
	})
	if err != nil || !ok || tables < 10 {
		t.Fatalf("%d tables, ok %v, error %v", tables, ok, err)
	}
}

// writeStore makes a data directory and packs it.
func writeStore(t *testing.T, to string) {
	script, err := os.ReadFile(filepath.Join(to, "setup.sql"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	s := servertest.Open(t, server.Config{DataDir: dir, Durability: 1, Memory: smallMemory})
	c := dial(t, servertest.DSN(s))
	for query := range strings.SplitSeq(string(script), ";\n") {
		c.exec(query)
	}
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	pack(t, dir, filepath.Join(to, "store.tar.gz"))
}

func pack(t *testing.T, dir, to string) {
	f, err := os.Create(to)
	if err != nil {
		t.Fatal(err)
	}
	zip, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	w := tar.NewWriter(zip)
	if err := errors.Join(w.AddFS(os.DirFS(dir)), w.Close(), zip.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}

func unpack(t *testing.T, from, dir string) {
	t.Helper()
	f, err := os.Open(from)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	zip, err := gzip.NewReader(f)
	if err != nil {
		t.Fatal(err)
	}
	for r := tar.NewReader(zip); ; {
		h, err := r.Next()
		if errors.Is(err, io.EOF) {
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(dir, h.Name)
		if h.FileInfo().IsDir() {
			continue
		}
		data, err := io.ReadAll(r)
		if err := errors.Join(err, os.MkdirAll(filepath.Dir(path), 0o750), os.WriteFile(path, data, 0o600)); err != nil {
			t.Fatal(err)
		}
	}
}
