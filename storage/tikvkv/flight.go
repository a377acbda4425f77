package tikvkv

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/sqlots/sqlots/storage/txn"
)

// flight are the stamped commits under way, and the times of stamps.
//
// A commit gets its time, from the clock of this machine, when its stamp is there. Stamps
// may arrive in another order than they were taken in; times do not fall in the order of
// the stamps, so one that arrives late has the time of the next greater stamp, which is
// later than the moment at which its commit began.
type flight struct {
	mu      sync.Mutex
	last    int
	commits map[int]inFlight
	settled uint64 // the greatest that was given out
	clock   txn.Clock
	timed   []stampTime // ascending, without those before all that can arrive
}

// inFlight is a commit under way: a stamp up to which it cannot come, and its time, 0
// before it has its stamp.
type inFlight struct {
	bound uint64
	time  int64
}

// stampTime is the time of a stamp, in microseconds since 1970.
type stampTime struct {
	stamp uint64
	time  int64
}

// begin registers a commit that will take a stamp. Its stamp is greater than seen, a
// timestamp that was taken before.
func (f *flight) begin(seen uint64) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.commits == nil {
		f.commits = make(map[int]inFlight)
	}
	f.last++
	f.commits[f.last] = inFlight{bound: max(seen, f.settled)}
	return f.last
}

// took says which stamp a commit has, and gives its time.
func (f *flight) took(id int, stamp uint64) (micros int64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	at, _ := slices.BinarySearchFunc(f.timed, stamp, func(t stampTime, stamp uint64) int { return cmp.Compare(t.stamp, stamp) })
	if at == len(f.timed) {
		micros = f.clock.Next()
	} else {
		micros = f.timed[at].time
	}
	f.timed = slices.Insert(f.timed, at, stampTime{stamp, micros})
	f.commits[id] = inFlight{bound: stamp - 1, time: micros}
	f.forget()
	return micros
}

// forget drops the times of stamps that are lower than all that can arrive, but for the
// greatest stamp.
func (f *flight) forget() {
	least := f.timed[len(f.timed)-1].stamp
	for _, c := range f.commits {
		if c.time == 0 {
			least = min(least, c.bound)
		}
	}
	n := 0
	for f.timed[n].stamp < least {
		n++
	}
	f.timed = slices.Delete(f.timed, 0, n)
}

// end says that all readers from now on see the commit, or none ever will.
func (f *flight) end(id int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.commits, id)
}

func (f *flight) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.commits)
}

// pass makes the times of commits that begin from now on later than micros, and returns
// those under way that may have an earlier one.
func (f *flight) pass(micros int64) (ids []int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.clock.Pass(micros)
	for id, c := range f.commits {
		if c.time <= micros {
			ids = append(ids, id)
		}
	}
	return ids
}

// waiting are those of ids that are under way and may have a time up to micros.
func (f *flight) waiting(ids []int, micros int64) []int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.DeleteFunc(ids, func(id int) bool {
		c, ok := f.commits[id]
		return !ok || c.time > micros
	})
}

// latest is the latest time given, for the next server of the store.
func (f *flight) latest() int64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.clock.Last
}

// settle is the greatest stamp up to ts behind which no commit is under way. A commit with
// a stamp up to ts had registered before ts was taken, so the caller takes ts first.
func (f *flight) settle(ts uint64) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, c := range f.commits {
		ts = min(ts, c.bound)
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
