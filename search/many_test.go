package search

import (
	"fmt"
	"os"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/schema"
)

// account implements storage.Memory.
type account struct{ held atomic.Int64 }

func (a *account) Hold(n int64) { a.held.Add(n) }

// TestMemory: what indexes may hold stays within what all may, however many there
// are.
func TestMemory(t *testing.T) {
	for size := memory(24 << 20); size < 64<<30; size *= 2 {
		for n := range 60 {
			if got := size.reserved(n); got > int64(size) {
				t.Errorf("%d indexes may hold %d of %d bytes", n, got, size)
			}
		}
	}
	if got := memory(1 << 20).reserved(3); got > 2<<20 {
		t.Errorf("statements of a small server do without %d bytes", got)
	}
	if small, large := memory(24<<20).reserved(50), memory(24<<30).reserved(50); small > 24<<20 || large > 2<<30 {
		t.Errorf("reserved %d and %d", small, large)
	}
}

// TestManyIndexes: fifty indexes under changes are built and caught up, and stay within
// bounds of memory, goroutines and files. Idle ones hold next to nothing.
func TestManyIndexes(t *testing.T) {
	testflag.Normal(t)
	const n, all = 50, 32 << 20
	handles := func() int {
		list, err := os.ReadDir("/proc/self/fd")
		if err != nil {
			t.Skip(err)
		}
		return len(list)
	}
	eachStore(t, func(w *world) {
		var tables []*schema.Table
		for i := range n {
			d := wordsTable(schema.TableID(i + 1))
			put(w, w.store, d, 0, 20)
			tables = append(tables, d)
		}
		var was, is runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&was)
		files, routines := handles(), runtime.NumGoroutine()
		var a account
		m := New(Config{Store: w.store, Dir: w.dir, Rows: &words{}, Memory: all, Account: &a})
		m.idle = 200 * time.Millisecond
		defer m.Close()
		m.Update(tables)
		for _, d := range tables {
			awaitDocs(w, m, d, 20)
		}
		for i := range 20 {
			for _, d := range tables {
				put(w, w.store, d, 20+i, 21+i)
			}
		}
		for _, d := range tables {
			awaitDocs(w, m, d, 40)
		}
		if got := m.bound.Load(); got*n > all/2 {
			w.Errorf("each index may hold %d bytes", got)
		}
		if got := a.held.Load(); got > all || got < all/4 {
			w.Errorf("the account says %d of %d bytes", got, all)
		}
		for _, x := range m.Infos() {
			if x.Memory > m.memory.share(n) {
				w.Errorf("%d bytes in memory", x.Memory)
			}
		}
		measure := func() (bytes int, open, running float64) {
			runtime.GC()
			runtime.ReadMemStats(&is)
			return (int(is.HeapAlloc) - int(was.HeapAlloc)) / n, float64(handles()-files) / n, float64(runtime.NumGoroutine()-routines) / n
		}
		bytes, open, running := measure()
		w.Logf("of each: %d bytes, %.1f file handles, %.1f goroutines", bytes, open, running)
		if bytes > 1<<20 || open > 12 || running > 12 {
			w.Error("that is too much")
		}
		w.eventually("all sleep", func() error {
			for _, x := range m.Indexes() {
				if err := x.awake(); err != nil {
					return err
				}
			}
			return nil
		})
		w.eventually("sleeping indexes hold little", func() error { // goroutines end a little later
			bytes, open, running = measure()
			if bytes > 400<<10 || open > 0.7 || running > 2 {
				return fmt.Errorf("of each: %d bytes, %.1f file handles, %.1f goroutines", bytes, open, running)
			}
			return nil
		})
		w.Logf("of each that sleeps: %d bytes, %.1f file handles, %.1f goroutines", bytes, open, running)
		m.Update(tables[:1])
		if got := m.bound.Load(); got != int64(m.memory.share(1)) {
			w.Errorf("a single index may hold %d bytes", got)
		}
		m.Close()
		if got := a.held.Load(); got != 0 {
			w.Errorf("the account says %d bytes at the end", got)
		}
	})
}
