package exec

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// TestPick compares what a Pick takes with what the table finds.
func TestPick(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, base := range []int64{0, -50, math.MinInt64, math.MaxInt64 - 4000} {
		for _, step := range []int64{1, 1 << 40} {
			var table wordTable
			for i := range 1 + r.IntN(100) {
				table.insert(base+int64(r.IntN(4000))*step, uint32(i)) // may wrap
			}
			p := pickOf(&table)
			v := vec.New(value.KindInt)
			var want []uint16
			for i := range vec.MaxRows {
				v.I64[i] = base + (int64(r.IntN(5000))-500)*step
				if r.IntN(9) == 0 {
					v.Nulls.Set(i)
				} else if table.find(v.I64[i]) != none {
					want = append(want, uint16(i))
				}
			}
			got := p.Take(v, vec.MaxRows, nil)
			more := slices.DeleteFunc(slices.Clone(got), func(i uint16) bool { return slices.Contains(want, i) })
			if len(got)-len(more) != len(want) || len(more) > 0 && (p.shift == 0 || len(more) > vec.MaxRows/4) {
				t.Errorf("base %d, step %d: takes %d rows, want %d", base, step, len(got), len(want))
			}
		}
	}
	if pickOf(&wordTable{}) != nil {
		t.Error("a pick of no words")
	}
}

// pickOf takes the words of a table.
func pickOf(t *wordTable) *Pick {
	return newPick(t.n, func(fn func(w int64)) {
		for _, s := range t.slots {
			if s.id != 0 {
				fn(s.key)
			}
		}
	})
}
