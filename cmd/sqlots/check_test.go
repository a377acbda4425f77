package main

import (
	"bytes"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/servertest"
	"github.com/sqlots/sqlots/server"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/pebblekv"
	"github.com/sqlots/sqlots/storage/table"
)

// fill makes a directory with a table of two indexes.
func fill(t *testing.T, dir string) {
	t.Helper()
	s := servertest.Open(t, server.Config{DataDir: dir, Memory: 128 << 20, Durability: 1})
	code, _, errs := sqlots("sql", "-dsn", servertest.DSN(s), "-e", `CREATE DATABASE d; USE d;
CREATE TABLE t (a INT, b VARCHAR(20), c TEXT, PRIMARY KEY (a), UNIQUE KEY ub (b), KEY kc (c(5), a DESC));
INSERT INTO t VALUES (1, 'one', REPEAT('x', 20000)), (2, 'two', 'y'), (3, NULL, NULL);`)
	if code, _, errs := sqlots("check", "-data", dir); code != 1 || !strings.Contains(errs, "locked") {
		t.Errorf("while the server runs: code %d, %q", code, errs)
	}
	if err := s.Stop(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	if code != 0 {
		t.Fatal(errs)
	}
}

func TestCheck(t *testing.T) {
	dir := t.TempDir()
	if code, _, errs := sqlots("check", "-data", dir); code != 1 || errs == "" {
		t.Errorf("an empty directory: code %d, %q", code, errs)
	}
	fill(t, dir)
	code, out, errs := sqlots("check", "-data", dir)
	if want := "d.t: ok, 3 rows, index entries: 6, large values: 1\n1 table checked, nothing is wrong\n"; code != 0 || out != want {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
	for name, spoil := range map[string]func(*testing.T, storage.Store){
		"an entry is gone": func(t *testing.T, s storage.Store) { deleteFirst(t, s, func(k []byte) bool { return index(k) == 1 }) },
		"a row is gone":    func(t *testing.T, s storage.Store) { deleteFirst(t, s, func(k []byte) bool { return index(k) == 0 }) },
		"a cell is gone": func(t *testing.T, s storage.Store) {
			deleteFirst(t, s, func(k []byte) bool { return index(k) == int(table.CellIndexID) })
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := t.TempDir()
			fill(t, dir)
			store, err := pebblekv.Open(pebblekv.Options{Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			spoil(t, store)
			if err := store.Close(); err != nil {
				t.Fatal(err)
			}
			code, out, _ := sqlots("check", "-data", dir)
			if code != 1 || !strings.Contains(out, "d.t: DAMAGED") || !strings.Contains(out, "1 table checked, 1 damaged") {
				t.Errorf("code %d:\n%s", code, out)
			}
		})
	}
}

// TestCheckLogs: check names the damaged log and changes nothing; a server starts on it
// with the flag for that, and check finds nothing wrong after that.
func TestCheckLogs(t *testing.T) {
	dir := t.TempDir()
	fill(t, dir)
	logs, err := filepath.Glob(filepath.Join(dir, "kv", "*.log"))
	if err != nil || len(logs) != 1 {
		t.Fatal(logs, err)
	}
	b, err := os.ReadFile(logs[0])
	if err != nil {
		t.Fatal(err)
	}
	end := len(bytes.TrimRight(b, "\x00"))
	b[end-100] ^= 1 // of the last commit
	if err := os.WriteFile(logs[0], b, 0o600); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		code, out, errs := sqlots("check", "-data", dir)
		if code != 1 || !strings.Contains(out, "file "+logs[0]+", offset ") || !strings.Contains(out, "--accept-log-damage") || errs != "" {
			t.Fatalf("code %d, %s%s", code, out, errs)
		}
	}
	cfg := server.Config{DataDir: dir, Listen: "127.0.0.1:0", Memory: 128 << 20, Durability: 1}
	_, err = server.Start(t.Context(), cfg)
	if !errors.Is(err, storage.ErrCorruption) || !strings.Contains(err.Error(), logs[0]) {
		t.Fatal(err)
	}
	cfg.AcceptLogDamage = true
	s := servertest.Open(t, cfg)
	if err := s.Stop(0); err != nil {
		t.Fatal(err)
	}
	if kept, err := os.ReadFile(filepath.Join(dir, "damaged-logs", "1", filepath.Base(logs[0]))); err != nil || !bytes.Equal(kept, b) {
		t.Fatal("the damaged log was not kept", err)
	}
	if code, out, errs := sqlots("check", "-data", dir); code != 0 || !strings.HasSuffix(out, "nothing is wrong\n") {
		t.Fatalf("code %d, %s%s", code, out, errs)
	}
}

// index is the index that a key belongs to, -1 for keys of the system.
func index(key []byte) int {
	if len(key) < 7 || key[0] != 0x10 {
		return -1
	}
	return int(key[5])<<8 | int(key[6])
}

func deleteFirst(t *testing.T, s storage.Store, match func(key []byte) bool) {
	t.Helper()
	ctx := context.Background()
	scan, err := s.Latest().Scan(ctx, storage.Span{Start: []byte{0x10}, End: []byte{0x11}}, storage.ScanOptions{})
	if err != nil {
		t.Fatal(err)
	}
	var found []byte
	_, err = scan.Visit(ctx, func(key, _ []byte) bool {
		if found == nil && match(key) {
			found = bytes.Clone(key)
		}
		return found == nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := scan.Close(); err != nil {
		t.Fatal(err)
	}
	if found == nil {
		t.Fatal("no such key")
	}
	txn, err := s.Begin(ctx, storage.TxnOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := txn.Delete(t.Context(), found); err != nil {
		t.Fatal(err)
	}
	if _, err := txn.Commit(ctx); err != nil {
		t.Fatal(err)
	}
}
