package pebblekv

import (
	"fmt"
	"io"
	"log/slog"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
)

// A group all of whose pairs are in write buffers gets an image when it is read
// over and over, and scans that use the memory of others see what was written
// since.
func TestImageOfWriteBuffer(t *testing.T) {
	s, err := Open(Options{Dir: "store", FS: vfs.NewMem(), CacheBytes: 32 << 20, MemTableBytes: 1 << 20, DiskReserveBytes: -1,
		Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	put := func(from, to uint64) {
		t.Helper()
		tx, err := s.Begin(bg, storage.TxnOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for i := from; i < to; i++ {
			if err := tx.Put(t.Context(), imageKey(1, i), fmt.Appendf(nil, "%d", i)); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := tx.Commit(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	put(0, 1000)
	var reuse storage.Scanner
	image := func() bool {
		n, _, size := s.images.usage()
		return n == 1 && size > 0
	}
	total := uint64(1000)
	for deadline, i := time.Now().Add(30*time.Second), uint64(0); i < 300 || !image(); i++ {
		if time.Now().After(deadline) {
			t.Fatal("no image")
		}
		if i%50 == 49 {
			put(total, total+1)
			total++
		}
		from := total - 1 - i%100
		span := storage.Span{Start: imageKey(1, from), End: keyenc.PrefixEnd(imageKey(1, 0)[:groupLen])}
		sc, err := s.Latest().Scan(t.Context(), span, storage.ScanOptions{Limit: 30, Reuse: reuse})
		if err != nil {
			t.Fatal(err)
		}
		got := collect(t, sc, 0)
		if want := int(total - from); len(got) != want || got[want-1].val != fmt.Sprint(total-1) {
			t.Fatalf("from %d: %d pairs, want %d", from, len(got), want)
		}
		reuse = sc
	}
}
