package server_test

import (
	"io"
	"testing"

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
