package types

import (
	"math"
	"testing"
)

// TestNextAuto compares NextAuto with a search for offset + i * step.
func TestNextAuto(t *testing.T) {
	for step := uint64(0); step < 6; step++ {
		for offset := uint64(0); offset < 8; offset++ {
			for v := uint64(1); v < 30; v++ {
				want := v
				if step > 1 {
					want = offset
					if offset == 0 || offset > step {
						want = 1
					}
					for want < v {
						want += step
					}
				}
				if got := NextAuto(v, step, offset); got != want {
					t.Errorf("from %d by %d, %d: %d, want %d", v, step, offset, got, want)
				}
			}
		}
	}
	for _, c := range []struct{ v, step, offset, want uint64 }{
		{math.MaxUint64, 1, 1, math.MaxUint64},
		{math.MaxUint64, 5, 5, math.MaxUint64}, // a multiple of 5
		{math.MaxUint64 - 1, 5, 5, math.MaxUint64},
		{math.MaxUint64, 2, 2, 0},
		{math.MaxUint64, 65535, 65535, math.MaxUint64},
		{math.MaxUint64, 7, 3, 0},
	} {
		if got := NextAuto(c.v, c.step, c.offset); got != c.want {
			t.Errorf("from %d by %d, %d: %d, want %d", c.v, c.step, c.offset, got, c.want)
		}
	}
}
