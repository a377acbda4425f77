package pebblekv

import (
	"bytes"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/sqlots/sqlots/internal/testflag"
)

// TestDirectLog: a log has what was written to it after each sync, however it
// was cut into records and whenever somebody stopped waiting for them.
func TestDirectLog(t *testing.T) {
	for seed := range uint64(testflag.Rounds(1, 3, 9)) {
		r := rand.New(rand.NewPCG(seed, 9))
		dir := t.TempDir()
		d := &disk{FS: vfs.Default, dir: dir}
		name := filepath.Join(dir, "000001.log")
		f, err := vfs.Default.Create(name, vfs.WriteCategoryUnspecified)
		if err != nil {
			t.Fatal(err)
		}
		w := &file{File: f, d: d, name: name, critical: true, wal: true}
		if err := w.Preallocate(0, 4<<20); err != nil {
			t.Fatal(err)
		}
		if w.direct = newDirectLog(f, 0); w.direct == nil {
			t.Skip("files cannot be written past the page cache here")
		}
		d.opened.Store(true)
		d.syncWanted.Store(1)
		var want []byte
		for i := range 200 {
			size := 1 + r.IntN(3000)
			if r.IntN(50) == 0 {
				size = r.IntN(3 * directBuffer)
			}
			// Not the encoding of a chunk, whose offset would be made honest.
			p := bytes.Repeat([]byte{byte(i) | 0x80}, size)
			if n, err := w.Write(p); n != len(p) || err != nil {
				t.Fatalf("%d of %d bytes: %v", n, len(p), err)
			}
			want = append(want, p...)
			if seed%3 == 0 && i == 150 {
				d.syncWanted.Store(0)
			}
			if r.IntN(8) > 0 {
				continue
			}
			if err := w.SyncData(); err != nil {
				t.Fatal(err)
			}
			got, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if end := w.end.Load(); end != int64(len(want)) || !bytes.Equal(got[:end], want) {
				t.Fatalf("seed %d, after %d records: %d bytes of %d, or others", seed, i+1, end, len(want))
			}
			if len(bytes.TrimRight(got[len(want):], "\x00")) > 0 {
				t.Fatalf("seed %d: more than zeros behind the last record", seed)
			}
		}
		if (w.direct == nil) != (seed%3 == 0) {
			t.Errorf("seed %d: direct: %v", seed, w.direct != nil)
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(name); err != nil || !bytes.Equal(got[:len(want)], want) {
			t.Fatalf("seed %d: other bytes after Close: %v", seed, err)
		}
	}
}
