package txn

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sqlots/sqlots/storage"
)

var patient = lockRequest{mode: storage.LockExclusive, timeout: 10 * time.Second}

// TestHotRow lets many transactions queue for one row, each with a lock of its
// own, so that every request searches for a deadlock through the whole queue.
func TestHotRow(t *testing.T) {
	const n = 400
	lt := newLockTable()
	counter := 0
	var wg sync.WaitGroup
	for i := range n {
		wg.Add(1)
		go func() {
			defer wg.Done()
			o := &owner{id: uint64(i + 1)}
			defer lt.releaseAll(o)
			for _, key := range []string{fmt.Sprint("own", i), "hot"} {
				if err := lt.acquire(context.Background(), o, []byte(key), patient); err != nil {
					t.Error(err)
					return
				}
			}
			counter++ // the lock guards it
		}()
	}
	wg.Wait()
	if counter != n {
		t.Fatalf("counted %d", counter)
	}
	if left := lt.list(); len(left) != 0 {
		t.Fatalf("left: %v", left)
	}
	if lt.deadlocks.Load() != 0 {
		t.Fatal("a deadlock where there is none")
	}
}

// TestRandomLocks runs random shared and exclusive requests, upgrades,
// timeouts and cancellations: everything must end, exclusive access must be
// exclusive, and nothing may be left.
func TestRandomLocks(t *testing.T) {
	const workers, rounds, keys = 12, 150, 6
	lt := newLockTable()
	var readers, writers [keys]int
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range workers {
		wg.Add(1)
		go func() {
			defer wg.Done()
			rng := rand.New(rand.NewPCG(uint64(w), 5))
			for r := range rounds {
				o := &owner{id: uint64(w*rounds + r + 1)}
				held := map[int]storage.LockMode{}
				for range 1 + rng.IntN(5) {
					if !randomLock(t, lt, o, rng, held, keys) {
						break
					}
				}
				mu.Lock()
				for k, m := range held {
					if m == storage.LockExclusive {
						writers[k]++
						if writers[k] > 1 || readers[k] > 0 {
							t.Errorf("key %d: %d writers, %d readers", k, writers[k], readers[k])
						}
					} else {
						readers[k]++
						if writers[k] > 0 {
							t.Errorf("key %d: %d readers beside a writer", k, readers[k])
						}
					}
				}
				for k, m := range held {
					if m == storage.LockExclusive {
						writers[k]--
					} else {
						readers[k]--
					}
				}
				mu.Unlock()
				lt.releaseAll(o)
			}
		}()
	}
	wg.Wait()
	if left := lt.list(); len(left) != 0 {
		t.Fatalf("left: %v", left)
	}
}

// randomLock makes one request and reports whether the transaction goes on.
func randomLock(t *testing.T, lt *lockTable, o *owner, rng *rand.Rand, held map[int]storage.LockMode, keys int) bool {
	k := rng.IntN(keys)
	req := lockRequest{mode: storage.LockMode(rng.IntN(2)), timeout: patient.timeout}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	switch rng.IntN(6) {
	case 0:
		req.wait = storage.WaitError
	case 1:
		req.timeout = time.Duration(1+rng.IntN(300)) * time.Microsecond
	case 2:
		go cancel()
	}
	err := lt.acquire(ctx, o, []byte{byte(k)}, req)
	switch {
	case err == nil:
		if m, ok := held[k]; !ok || m == storage.LockShared {
			held[k] = req.mode
		}
	case errors.Is(err, storage.ErrDeadlock):
		return false
	case errors.Is(err, storage.ErrLockTimeout) && req.timeout == patient.timeout:
		t.Errorf("a deadlock was not seen: %d waits for %d: %v", o.id, k, lt.list())
	case !errors.Is(err, storage.ErrLockTimeout) && !errors.Is(err, storage.ErrNoWait) && !errors.Is(err, context.Canceled):
		t.Error(err)
	}
	return true
}

// TestBufferMemory keeps the memory of large transactions in view: the buffer
// must not cost more than 100 bytes in addition to a key and a value.
func TestBufferMemory(t *testing.T) {
	const n = 200_000
	var b Buffer
	b.init()
	key, val := make([]byte, 16), make([]byte, 100)
	before := heap()
	for i := range n {
		binary.BigEndian.PutUint64(key[8:], uint64(i))
		b.set(key, val, b.grow(key, val))
	}
	over := (heap()-before)/n - int64(len(key)+len(val))
	t.Logf("%d bytes beside %d of data", over, len(key)+len(val))
	if over > 100 {
		t.Fatalf("%d bytes of overhead a pair", over)
	}
	if b.Len() != n {
		t.Fatal(b.Len())
	}
}

// heap is the live memory.
func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// TestVictim: of a cycle the owner with the least work loses, else the one that closed it,
// whoever searches.
func TestVictim(t *testing.T) {
	now := time.Now()
	first, last := &waiter{o: &owner{id: 2}, since: now}, &waiter{o: &owner{id: 1}, since: now.Add(1)}
	for _, cycle := range [][]*waiter{{first, last}, {last, first}} {
		first.o.weight.Store(1)
		last.o.weight.Store(1)
		if victimOf(cycle) != last {
			t.Error("the one that waited first is the victim")
		}
		last.o.weight.Store(2)
		if victimOf(cycle) != first {
			t.Error("the one with more work is the victim")
		}
	}
	old, young := &waiter{o: &owner{id: 3}, since: now}, &waiter{o: &owner{id: 4}, since: now}
	last.o.weight.Store(7)
	if got := victimOf([]*waiter{last, old, young}); got != young {
		t.Errorf("the victim is %d", got.o.id)
	}
}
