package server

import "testing"

type fakeCache struct{ taken int64 }

func (f *fakeCache) ShrinkCache(bytes int64) { f.taken = bytes }

// TestPressure: the cache shrinks by what is too much, once for each run of the
// collector and not beyond a bound, and comes back slowly.
func TestPressure(t *testing.T) {
	f := &fakeCache{}
	p := &pressure{store: f, target: 1000, most: 500}
	for i, c := range []struct {
		cycle uint64
		live  int64
		want  int64
	}{{1, 900, 0}, {2, 1200, 200}, {2, 1500, 200}, {3, 1100, 300}, {4, 1900, 500}, {5, 1000, 500}, {6, 200, 400}, {7, 200, 300}, {8, 0, 175}, {9, 0, 50}, {10, 0, 0}} {
		if p.adjust(c.cycle, c.live); f.taken != c.want {
			t.Fatalf("step %d: %d were taken, want %d", i, f.taken, c.want)
		}
	}
}
