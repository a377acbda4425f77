package expr

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"
)

// TestIntKernelTimes compares products and their overflow with exact ones, near all powers
// of two.
func TestIntKernelTimes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	number := func(most int) int64 {
		x := int64(1)<<r.IntN(most) + r.Int64N(3) - 1
		if r.IntN(2) == 0 {
			return -x
		}
		return x
	}
	over := 0
	for i := range 40_000 {
		n, most := 1+r.IntN(4), 33
		if i%2 == 0 {
			most = 64
		}
		out, a, b := make([]int64, n), make([]int64, n), make([]int64, n)
		fits := true
		for j := range n {
			if a[j], b[j] = number(most), number(most); r.IntN(50) == 0 {
				a[j] = math.MinInt64
			}
			fits = fits && new(big.Int).Mul(big.NewInt(a[j]), big.NewInt(b[j])).IsInt64()
		}
		if got := intKernel(OpTimes, out, a, b); got != fits {
			t.Fatalf("%d times %d: fits: %t, want %t", a, b, got, fits)
		}
		if !fits {
			over++
		}
		for j := range n {
			if fits && out[j] != a[j]*b[j] {
				t.Fatalf("%d times %d: %d", a, b, out)
			}
		}
	}
	if over < 1000 || over > 30_000 {
		t.Errorf("%d products do not fit", over)
	}
}
