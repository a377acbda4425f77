package pebblekv

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
)

// TestDiskFullBlob: a flush that finds no space for large values gives up what
// it has written and is run again; meanwhile writes are refused, and when there
// is space all is there.
func TestDiskFullBlob(t *testing.T) {
	testflag.Normal(t)
	mem := vfs.NewMem()
	dfs := &faultFS{FS: mem}
	s := openAt(t, dfs)
	var blobs, writes atomic.Int64
	dfs.set(func(op, name string) error {
		switch {
		case !strings.HasSuffix(name, ".blob"):
		case op == "create":
			blobs.Add(1)
			writes.Store(0)
		case op == "write" && writes.Add(1) > 1: // some of it is written
			return syscall.ENOSPC
		}
		return nil
	})
	key := func(i int) string { return fmt.Sprintf("k%03d", i) }
	value := func(i int) []byte {
		b, rng := make([]byte, 20_000), seeded(uint64(i))
		for i := range b {
			b[i] = byte(rng.Uint32())
		}
		return b
	}
	const n = 8
	deadline := time.Now().Add(30 * time.Second)
	for i := range n {
		if _, err := tryPut(s, storage.DurabilitySync, value(i), key(i)); err != nil {
			t.Fatal(err)
		}
	}
	// One flush alone: with more of them waiting, the next would wait for space.
	if _, err := s.db.AsyncFlush(); err != nil {
		t.Fatal(err)
	}
	// The look at free space, which finds some, forgets the error now and then.
	for {
		_, err := tryPut(s, storage.DurabilitySync, []byte("x"), "maybe")
		if errors.Is(err, storage.ErrDiskFull) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		if time.Now().After(deadline) {
			t.Fatal("the full disk went unnoticed")
		}
		time.Sleep(time.Millisecond)
	}
	for blobs.Load() < 3 {
		if time.Now().After(deadline) {
			t.Fatalf("%d blob files begun: the flush waits for space", blobs.Load())
		}
		time.Sleep(time.Millisecond)
	}
	dfs.set(nil)
	for s.checkSpace(); s.disk.full.Load(); s.checkSpace() {
		if time.Now().After(deadline) {
			t.Fatal("writes are still refused")
		}
		time.Sleep(time.Millisecond)
	}
	mustPut(t, s, "more")
	check := func() {
		t.Helper()
		for i := range n {
			got, err := s.Latest().Get(bg, []byte(key(i)), nil)
			if err != nil || !bytes.Equal(got, value(i)) {
				t.Fatal(key(i), len(got), err)
			}
		}
		if !has(t, s, "more") {
			t.Fatal("wrong keys")
		}
	}
	if err := s.db.Flush(); err != nil {
		t.Fatal(err)
	}
	if s.Metrics()["blob_bytes"] == 0 {
		t.Fatal("no values of their own file")
	}
	check()
	closeStore(t, s)
	s = openAt(t, mem)
	check()
	closeStore(t, s)
}
