package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/server"
)

func TestBackupCommands(t *testing.T) {
	root := t.TempDir()
	data, places := filepath.Join(root, "data"), filepath.Join(root, "it's")
	fill(t, data)
	if err := os.Mkdir(places, 0o755); err != nil {
		t.Fatal(err)
	}
	want := func(code int, out string, args ...string) {
		t.Helper()
		got, stdout, stderr := sqlots(args...)
		if got != code || !strings.Contains(stdout+stderr, out) {
			t.Fatalf("%v: %d, %s%s", args, got, stdout, stderr)
		}
	}
	s := servertest.Open(t, server.Config{DataDir: data, BackupDir: places, Memory: 128 << 20})
	dsn := servertest.DSN(s)
	want(2, "--to DIR is required", "backup")
	want(1, "1290", "backup", "--dsn", dsn, "--to", filepath.Join(root, "elsewhere"))
	want(0, "destination: "+places+"/a\n", "backup", "--dsn", dsn, "--to", filepath.Join(places, "a"))
	want(0, "copied: ", "backup", "--dsn", dsn, "--to", "b", "--incremental-from", "a", "--rate", "1GiB")
	want(1, "1086", "backup", "--dsn", dsn, "--to", "b")
	want(1, "locked", "backup", "--data", data, "--to", filepath.Join(places, "c"))
	if err := s.Stop(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	want(1, "2003", "backup", "--dsn", dsn, "--to", "c")
	want(1, "not a data directory", "backup", "--data", places, "--to", filepath.Join(places, "c"))
	want(0, "of them in this backup", "backup", "--data", data, "--to", filepath.Join(places, "c"), "--incremental-from", filepath.Join(places, "b"))
	for _, name := range []string{"a", "b", "c"} {
		dir := filepath.Join(root, "new", name)
		want(0, "nothing is wrong", "backup", "verify", filepath.Join(places, name))
		want(0, "restored to", "restore", "--from", filepath.Join(places, name), "--data", dir)
		want(0, "d.t: ok, 3 rows", "check", "-data", dir)
	}
	want(1, "exists", "restore", "--from", filepath.Join(places, "a"), "--data", data)
	want(1, "not a backup", "restore", "--from", places, "--data", filepath.Join(root, "x"))
	// Damage is found, and named.
	tables, err := filepath.Glob(filepath.Join(places, "a", "data", "kv", "*.sst"))
	if err != nil || len(tables) == 0 {
		t.Fatal(tables, err)
	}
	if err := os.Truncate(tables[0], 5); err != nil {
		t.Fatal(err)
	}
	want(1, tables[0], "backup", "verify", filepath.Join(places, "a"))
	want(1, tables[0], "restore", "--from", filepath.Join(places, "a"), "--data", filepath.Join(root, "x"))
	if _, err := os.Stat(filepath.Join(root, "x")); err == nil {
		t.Fatal("a damaged backup was restored")
	}
}
