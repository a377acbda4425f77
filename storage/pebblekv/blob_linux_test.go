package pebblekv

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/storage"
)

// smallDisk is a file system of some MiB.
func smallDisk(t *testing.T, mib int) string {
	t.Helper()
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, fmt.Sprintf("size=%dm", mib)); err != nil {
		t.Skipf("a small file system needs root: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(mount, syscall.MNT_DETACH); err != nil {
			t.Error(err)
		}
	})
	return mount
}

// TestSmallDiskBlobs fills a disk without a reserve to its last byte with large
// values. When there is room again, writes go on by themselves, and nothing is
// lost.
func TestSmallDiskBlobs(t *testing.T) {
	testflag.Normal(t)
	mount := smallDisk(t, 48)
	ballast := filepath.Join(mount, "ballast")
	if err := os.WriteFile(ballast, make([]byte, 16<<20), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() *Store {
		t.Helper()
		s, err := Open(Options{
			Dir: filepath.Join(mount, "data"), FS: vfs.Default, CacheBytes: 8 << 20, MemTableBytes: 1 << 20, DiskReserveBytes: -1,
			Logger: slog.New(slog.NewTextHandler(io.Discard, nil)),
		})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	s := open()
	value := make([]byte, 30_000)
	rng := seeded(7)
	var last []byte
	n := 0
	freed := false // the ballast is gone
	put := func() error {
		for i := range value {
			value[i] = byte(rng.Uint32())
		}
		done := make(chan error, 1)
		key := fmt.Sprintf("k%05d", n)
		go func() {
			_, err := tryPut(s, storage.DurabilitySync, value, key)
			done <- err
		}()
		select {
		case err := <-done:
			return err
		case <-time.After(5 * time.Second): // the log waits for space
			if err := os.Remove(ballast); err != nil && !freed {
				t.Fatal(err)
			}
			freed = true
			return <-done
		}
	}
	for {
		err := put()
		if errors.Is(err, storage.ErrDiskFull) {
			break
		}
		if err != nil || n > 5000 {
			t.Fatal(n, err)
		}
		last = bytes.Clone(value)
		n++
		if freed { // to fill the disk once more would leave nothing to free
			break
		}
	}
	time.Sleep(3 * blobWait) // flushes fail
	_ = os.Remove(ballast)   // if no write had to wait
	began := time.Now()
	for {
		err := put()
		if err == nil {
			last = bytes.Clone(value)
			n++
			break
		}
		if !errors.Is(err, storage.ErrDiskFull) || time.Since(began) > 30*time.Second {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Logf("%d values; writes are taken again after %v", n, time.Since(began).Round(time.Millisecond))
	check := func() {
		t.Helper()
		for i := range n {
			v, err := s.Latest().Get(bg, fmt.Appendf(nil, "k%05d", i), nil)
			if err != nil || len(v) != len(value) || i == n-1 && !bytes.Equal(v, last) {
				t.Fatal(i, len(v), err)
			}
		}
	}
	check()
	closeStore(t, s)
	s = open()
	check()
	closeStore(t, s)
}

// TestBlobReserve: a blob file has the space of its last write before it needs
// it, and gives back what it does not use.
func TestBlobReserve(t *testing.T) {
	testflag.Normal(t)
	mount := smallDisk(t, 4)
	d := newDisk(vfs.Default, mount, slog.New(slog.NewTextHandler(io.Discard, nil)))
	d.opened.Store(true)
	f, err := d.Create(filepath.Join(mount, "000001.blob"), vfs.WriteCategoryUnspecified)
	if err != nil {
		t.Fatal(err)
	}
	block := bytes.Repeat([]byte{1}, 32<<10)
	size := 0
	for {
		n, err := f.Write(block)
		size += n
		if vfs.IsNoSpaceError(err) {
			break
		}
		if err != nil || size > 8<<20 {
			t.Fatal(size, err)
		}
	}
	if err := os.WriteFile(filepath.Join(mount, "other"), block, 0o600); !vfs.IsNoSpaceError(err) {
		// what is left is less than a block
		if err := os.WriteFile(filepath.Join(mount, "more"), block, 0o600); !vfs.IsNoSpaceError(err) {
			t.Fatal(err)
		}
	}
	if n, err := f.Write(block[:lastWrite-1]); n != lastWrite-1 || err != nil {
		t.Fatal("the last write", n, err)
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(mount, "000001.blob"))
	if err != nil || info.Size() != int64(size+lastWrite-1) {
		t.Fatal(info, err)
	}
	if got := info.Sys().(*syscall.Stat_t).Blocks * 512; got > info.Size()+4096 {
		t.Fatalf("%d bytes on disk for %d", got, info.Size())
	}
}
