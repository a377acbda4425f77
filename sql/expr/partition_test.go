package expr

import (
	"math"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// TestLinearHash holds the numbers of LINEAR HASH against the loop by which MySQL's
// manual defines them.
func TestLinearHash(t *testing.T) {
	for n := 1; n <= 17; n++ {
		p := &Partitioner{Kind: schema.PartitionHash, Linear: true, Numbers: make([]int64, n)}
		for h := int64(0); h < 70; h++ {
			v := int64(math.Pow(2, math.Ceil(math.Log2(float64(n)))))
			want := h & (v - 1)
			for want >= int64(n) {
				v = v / 2
				want &= v - 1
			}
			if got := p.hashed([]value.Datum{value.Int(h)}, nil); int64(got) != want {
				t.Errorf("%d of %d partitions: %d, want %d", h, n, got, want)
			}
		}
	}
}

// TestHash: the remainder has no sign.
func TestHash(t *testing.T) {
	p := &Partitioner{Kind: schema.PartitionHash, Numbers: make([]int64, 5)}
	for _, c := range []struct {
		d    value.Datum
		want int
	}{{value.Int(0), 0}, {value.Int(7), 2}, {value.Int(-7), 2}, {value.Int(-5), 0}, {value.Int(math.MinInt64), 3}} {
		if got := p.hashed([]value.Datum{c.d}, nil); got != c.want {
			t.Errorf("%s: %d, want %d", datumText(c.d), got, c.want)
		}
	}
}
