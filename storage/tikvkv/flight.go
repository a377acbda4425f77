package tikvkv

import (
	"context"
	"sync"

	"github.com/tikv/client-go/v2/oracle"
)

// flight are the stamped commits under way, each with a stamp up to which it cannot come.
type flight struct {
	mu      sync.Mutex
	last    int
	bounds  map[int]uint64
	settled uint64 // the greatest that was given out
}

// begin registers a commit that will take a stamp. Its stamp is greater than seen, a
// timestamp that was taken before.
func (f *flight) begin(seen uint64) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.bounds == nil {
		f.bounds = make(map[int]uint64)
	}
	f.last++
	f.bounds[f.last] = max(seen, f.settled)
	return f.last
}

// took says which stamp a commit has.
func (f *flight) took(id int, stamp uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.bounds[id] = stamp - 1
}

// end says that all readers from now on see the commit, or none ever will.
func (f *flight) end(id int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.bounds, id)
}

func (f *flight) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.bounds)
}

// settle is the greatest stamp up to ts behind which no commit is under way. A commit with
// a stamp up to ts had registered before ts was taken, so the caller takes ts first.
func (f *flight) settle(ts uint64) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, b := range f.bounds {
		ts = min(ts, b)
	}
	f.settled = max(f.settled, ts)
	return ts
}

// Settled implements storage.Store.
func (s *Store) Settled(ctx context.Context) (uint64, error) {
	ts, err := s.now(ctx)
	if err != nil {
		return 0, err
	}
	return s.flight.settle(ts), nil
}

// logicalBits are those of a timestamp that count within a millisecond.
const logicalBits = 18

// micros is the time of a stamp, in microseconds since 1970. Stamps of one millisecond
// ascend within it, as far as a thousand of them go.
func micros(stamp uint64) int64 {
	return oracle.ExtractPhysical(stamp)*1000 + min(int64(stamp&(1<<logicalBits-1)), 999)
}

// lastStamp is not lower than any stamp with a time up to micros.
func lastStamp(micros int64) uint64 {
	return uint64(micros/1000+1)<<logicalBits - 1
}
