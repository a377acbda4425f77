package tikvkv

import (
	"math/rand/v2"
	"testing"
	"time"
)

// TestTimesOfStamps: stamps arrive in any order. Their times do not fall in the order of
// the stamps, and are later than the moment at which the commit began.
func TestTimesOfStamps(t *testing.T) {
	type commit struct {
		id    int
		stamp uint64
		began int64
	}
	r := rand.New(rand.NewPCG(1, 2))
	var f flight
	var stamp uint64
	var open []commit
	times := map[uint64]int64{}
	for range 5000 {
		switch {
		case len(open) < 10 && r.IntN(2) == 0:
			id := f.begin(stamp)
			stamp++
			open = append(open, commit{id, stamp, time.Now().UnixMicro()})
		case len(open) > 0:
			i := r.IntN(len(open))
			c := open[i]
			open = append(open[:i], open[i+1:]...)
			times[c.stamp] = f.took(c.id, c.stamp)
			if times[c.stamp] < c.began {
				t.Fatalf("stamp %d has the time %d, its commit began at %d", c.stamp, times[c.stamp], c.began)
			}
			if len(f.timed) > 100 {
				t.Fatalf("%d times are kept", len(f.timed))
			}
			f.end(c.id)
		}
	}
	var last int64
	for s := range stamp {
		if at, ok := times[s]; ok {
			if at < last {
				t.Fatalf("stamp %d has the time %d after %d", s, at, last)
			}
			last = at
		}
	}
}

// TestPass: what begins later than a reader's time gets a later one, what is under way is
// waited for.
func TestPass(t *testing.T) {
	var f flight
	a := f.begin(1)
	now := time.Now().UnixMicro() + 1_000_000
	ids := f.pass(now)
	if len(ids) != 1 || ids[0] != a {
		t.Fatalf("under way are %v", ids)
	}
	b := f.begin(1)
	if at := f.took(b, 5); at <= now {
		t.Errorf("a commit that began later has the time %d, the reader %d", at, now)
	}
	if ids = f.waiting(ids, now); len(ids) != 1 {
		t.Fatalf("waiting for %v", ids)
	}
	f.end(a)
	if ids = f.waiting(ids, now); len(ids) != 0 {
		t.Errorf("waiting for %v", ids)
	}
}
