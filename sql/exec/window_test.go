package exec

import (
	"math/rand"
	"testing"
)

// TestSlider compares the sums of random sliding frames with those made again.
// Joining texts is associative and shows the order of the rows.
func TestSlider(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 2000 {
		n := 1 + r.Intn(40)
		s := &slider[string]{
			push:  func(t string, row int) string { return t + string(rune('A'+row)) },
			merge: func(a, b string) string { return a + b },
		}
		s.step = r.Intn(3) * r.Intn(8)
		start := r.Intn(3)
		s.reset(start)
		lo, hi := start, start
		for range n {
			hi = min(start+n, hi+r.Intn(4))
			lo = min(hi, lo+r.Intn(4))
			want := ""
			for row := lo; row < hi; row++ {
				want += string(rune('A' + row))
			}
			if got := s.move(lo, hi); got != want {
				t.Fatalf("frame %d to %d is %q, want %q", lo, hi, got, want)
			}
		}
	}
}

// TestSliderWork: a row is pushed at most twice, however wide the frames are.
func TestSliderWork(t *testing.T) {
	const n = 10000
	work := 0
	s := &slider[int]{
		push:  func(t, row int) int { work++; return t + row },
		merge: func(a, b int) int { return a + b },
	}
	s.reset(0)
	for i := range n {
		lo, hi := max(0, i-1000), min(n, i+1000)
		if got, want := s.move(lo, hi), (lo+hi-1)*(hi-lo)/2; got != want {
			t.Fatalf("frame %d to %d is %d, want %d", lo, hi, got, want)
		}
	}
	if work > 2*n {
		t.Errorf("%d pushes for %d rows", work, n)
	}
}
