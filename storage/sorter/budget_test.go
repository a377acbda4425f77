package sorter

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
)

// narrow is a Budget of limit bytes.
type narrow struct {
	t                *testing.T
	limit            int64
	held, most       int64
	refused, created int
}

func (n *narrow) Room(bytes int64) bool {
	if bytes > n.limit {
		n.refused++
		return false
	}
	n.Hold(bytes)
	return true
}

func (n *narrow) Hold(bytes int64) { n.held, n.most = bytes, max(n.most, bytes) }

func (n *narrow) Create() (File, error) {
	n.created++
	return os.CreateTemp(n.t.TempDir(), "")
}

// TestBudget: a sorter that gets less memory than it may use spills runs,
// none of them tiny, and sorts all the same.
func TestBudget(t *testing.T) {
	for _, limit := range []int64{0, 10 << 20} {
		n := &narrow{t: t, limit: limit}
		s := New(Options{Groups: 2, Memory: 64 << 20, Budget: n})
		const pairs, size = 40_000, 1000
		rng := rand.New(rand.NewPCG(1, 2))
		val := make([]byte, size)
		for _, i := range rng.Perm(pairs) {
			if err := s.Add(i%2, fmt.Appendf(nil, "%08d", i), val); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Sort(); err != nil {
			t.Fatal(err)
		}
		if most := pairs * size / minRun; n.created == 0 || n.created > most || n.refused == 0 {
			t.Errorf("limit %d: %d files, at most %d make sense; refused %d times", limit, n.created, most, n.refused)
		}
		// A chunk is sorted by copying it.
		if n.most > max(limit, minRun)+2*maxChunk {
			t.Errorf("limit %d: %d bytes were held", limit, n.most)
		}
		for group := range 2 {
			next := group
			err := s.Merge(group, func(key, v []byte) error {
				if want := fmt.Sprintf("%08d", next); string(key) != want || len(v) != size {
					t.Fatalf("key %s, want %s", key, want)
				}
				next += 2
				return nil
			})
			if err != nil || next != pairs+group {
				t.Fatal(next, err)
			}
		}
		if err := s.Close(); err != nil || n.held != 0 {
			t.Fatal(err, n.held)
		}
	}
}
