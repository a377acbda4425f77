package mysqlwire

import (
	"context"
	"hash/maphash"
	"log/slog"
	"net/netip"
	"runtime"
	"sync"
	"time"
)

// After freeFailures a login waits before its password is looked at, whether it
// is right or not: firstDelay, and twice as long after each more failure, at most
// maxDelay. forgetAfter is how long failures count.
const (
	freeFailures = 5
	firstDelay   = 100 * time.Millisecond
	maxDelay     = 4 * time.Second
	forgetAfter  = 5 * time.Minute
	maxFailures  = 10000 // pairs of address and user that are remembered
)

// failures counts failed logins by address and user name, whether or not there is
// such a user. A login that succeeds ends the count.
type failures struct {
	seed maphash.Seed
	mu   sync.Mutex
	m    map[uint64]failure
}

type failure struct {
	n    int
	last time.Time
}

func (f *failures) init() {
	f.seed, f.m = maphash.MakeSeed(), map[uint64]failure{}
}

func (f *failures) key(address netip.Prefix, user string) uint64 {
	return maphash.Comparable(f.seed, struct {
		address netip.Prefix
		user    string
	}{address, user})
}

// delay is how long a login has to wait.
func (f *failures) delay(key uint64) time.Duration {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.m[key]
	if x.n < freeFailures || time.Since(x.last) > forgetAfter {
		return 0
	}
	return min(firstDelay<<min(x.n-freeFailures, 10), maxDelay)
}

func (f *failures) add(key uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	x := f.m[key]
	if time.Since(x.last) > forgetAfter {
		x.n = 0
	}
	if x.n == 0 && len(f.m) >= maxFailures {
		for other := range f.m {
			delete(f.m, other)
			break
		}
	}
	f.m[key] = failure{n: x.n + 1, last: time.Now()}
}

func (f *failures) forget(key uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.m, key)
}

// pause waits, unless the connection ends before. It takes no turn of turns.
func (c *conn) pause(d time.Duration) error {
	if d == 0 {
		return nil
	}
	c.setPhase(phaseBusy) // the monitor notices a client that has gone
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-c.ctx.Done():
		return gone("waiting for a login", context.Cause(c.ctx))
	}
}

// turns let half of the processors check passwords whose digest is not cached.
type turns chan struct{}

func newTurns() turns { return make(turns, max(runtime.NumCPU()/2, 1)) }

// run calls fn when it is its turn, unless ctx ends before.
func (t turns) run(ctx context.Context, fn func()) error {
	select {
	case t <- struct{}{}:
	case <-ctx.Done():
		return gone("waiting for a login", context.Cause(ctx))
	}
	defer func() { <-t }()
	fn()
	return nil
}

// A sparseLog writes at most logLines warnings in logPeriod, and at its end how
// many it has left out.
const (
	logLines  = 10
	logPeriod = 10 * time.Second
)

type sparseLog struct {
	log *slog.Logger
	mu  sync.Mutex
	n   int // warnings of the period, 0: none has begun
}

func (s *sparseLog) warn(msg string, args ...any) {
	s.mu.Lock()
	if s.n == 0 {
		time.AfterFunc(logPeriod, s.endPeriod)
	}
	s.n++
	write := s.n <= logLines
	s.mu.Unlock()
	if write {
		s.log.Warn(msg, args...)
	}
}

func (s *sparseLog) endPeriod() {
	s.mu.Lock()
	left := s.n - logLines
	s.n = 0
	s.mu.Unlock()
	if left > 0 {
		s.log.Warn("more warnings about logins were left out", "event", "login.more", "count", left, "seconds", int(logPeriod.Seconds()))
	}
}
