package pebblekv

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/cockroachdb/pebble/v2"
)

// TestBlocksReturned: blocks that make way for write buffers leave no resident memory.
func TestBlocksReturned(t *testing.T) {
	if BlocksInHeap {
		t.Skip("the collector returns blocks")
	}
	const size = 48 << 20
	s, err := Open(Options{Dir: t.TempDir(), CacheBytes: 2 * size, ImageBytes: -1, FilterBytes: -1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	fillBlocks(t, s.db, size)
	before, had := resident(t), freeBlockBytes()
	defer s.po.Cache.Reserve(2 * size)()
	if freeBlockBytes()-had < size/2 {
		t.Skip("blocks are elsewhere: the race detector is on")
	}
	h := blockHeap{slack: 1 << 20}
	h.returnFree()
	if got := before - resident(t); got < size/2 {
		t.Errorf("%d MiB were returned of %d", got>>20, size>>20)
	}
	if h.trimmed < size/2 {
		t.Errorf("%d MiB are known to have no pages", h.trimmed>>20)
	}
}

// fillBlocks puts so many bytes of values into the cache.
func fillBlocks(t *testing.T, db *pebble.DB, size int) {
	t.Helper()
	val := make([]byte, 1000)
	for i := range size / len(val) {
		copy(val, bytes.Repeat([]byte(fmt.Sprint(i)), 20))
		if err := db.Set(fmt.Appendf(nil, "key%08d", i), val, pebble.NoSync); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Flush(); err != nil {
		t.Fatal(err)
	}
	it, err := db.NewIter(nil)
	if err != nil {
		t.Fatal(err)
	}
	for ok := it.First(); ok; ok = it.Next() {
		if _, err := it.ValueAndErr(); err != nil {
			t.Fatal(err)
		}
	}
	if err := it.Close(); err != nil {
		t.Fatal(err)
	}
}

func resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip(err)
	}
	var total, pages int64
	if _, err := fmt.Sscan(string(text), &total, &pages); err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}
