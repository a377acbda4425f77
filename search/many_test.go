package search

import (
	"os"
	"runtime"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/storage/memkv"
)

// TestManyIndexes: fifty indexes under changes are built and caught up, and stay
// within bounds of memory, goroutines and files.
func TestManyIndexes(t *testing.T) {
	const n = 50
	store := memkv.New(memkv.Options{})
	defer store.Close()
	var tables []*schema.Table
	for i := range n {
		d := wordsTable(schema.TableID(i + 1))
		put(t, store, d, 0, 20)
		tables = append(tables, d)
	}
	handles := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(list)
	}
	var was, is runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&was)
	files, routines := handles(), runtime.NumGoroutine()
	m := New(Config{Store: store, Dir: t.TempDir(), Rows: &words{}})
	defer m.Close()
	m.Update(tables)
	for _, d := range tables {
		awaitDocs(t, m, d, 20)
	}
	for i := range 20 {
		for _, d := range tables {
			put(t, store, d, 20+i, 21+i)
		}
	}
	for _, d := range tables {
		awaitDocs(t, m, d, 40)
	}
	if got := m.bound.Load(); got*n > allUnpersisted {
		t.Errorf("each index may hold %d bytes", got)
	}
	for _, x := range m.Infos() {
		if x.Memory > share(n) {
			t.Errorf("%d bytes in memory", x.Memory)
		}
	}
	runtime.GC()
	runtime.ReadMemStats(&is)
	bytes, open, running := (int(is.HeapAlloc)-int(was.HeapAlloc))/n, float64(handles()-files)/n, float64(runtime.NumGoroutine()-routines)/n
	t.Logf("of each: %d bytes, %.1f file handles, %.1f goroutines", bytes, open, running)
	if bytes > 1<<20 || open > 12 || running > 12 {
		t.Error("that is too much")
	}
	m.Update(tables[:1])
	if got := m.bound.Load(); got != maxUnpersisted {
		t.Errorf("a single index may hold %d bytes", got)
	}
}
