package server_test

import (
	"io"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/sqlots/sqlots/internal/testutil"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/errkv"
)

// TestStoreTakesNoWrites: after an error of the disk writes are refused as those
// of a server that is read only, and not as if it were about to come back.
func TestStoreTakesNoWrites(t *testing.T) {
	store, dsn := startFaulty(t, io.Discard)
	c := dial(t, dsn)
	c.exec("CREATE DATABASE t")
	c.exec("CREATE TABLE t.a (id INT PRIMARY KEY)")
	store.FailFrom(errkv.OpCommit, 1, storage.ErrUnavailable)
	c.fails(1836, "INSERT INTO t.a VALUES (1)")
	c.fails(1836, "CREATE TABLE t.b (id INT PRIMARY KEY)")
	c.rows("0", "SELECT COUNT(*) FROM t.a")
	store.Reset()
	c.exec("INSERT INTO t.a VALUES (1)")
}

// TestUnreadableFile: an error of the disk is 1030 with the system's number and the
// file, for the client and in the log.
func TestUnreadableFile(t *testing.T) {
	var log testutil.Buffer
	store, dsn := startFaulty(t, &log)
	c := dial(t, dsn)
	c.exec("CREATE DATABASE t")
	c.exec("CREATE TABLE t.a (id INT PRIMARY KEY, v INT)")
	c.exec("INSERT INTO t.a VALUES (1, 2)")
	store.FailFrom(errkv.OpScan, 1, &fs.PathError{Op: "read", Path: "kv/000012.sst", Err: syscall.EIO})
	_, err := c.query("SELECT SUM(v) FROM t.a WHERE v > 1")
	if err == nil || !strings.Contains(err.Error(), "1030") || !strings.Contains(err.Error(), "error 5 - 'read kv/000012.sst: input/output error'") {
		t.Errorf("error %v", err)
	}
	if !strings.Contains(log.String(), "000012.sst") {
		t.Errorf("the log does not name the file: %s", log.String())
	}
	store.Reset()
	c.rows("2", "SELECT SUM(v) FROM t.a WHERE v > 1")
}
