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
		var table wordTable
		for i := range 1 + r.IntN(100) {
			table.insert(base+int64(r.IntN(4000))&^int64(63)+int64(i%2), uint32(i))
		}
		p := pickOf(&table)
		if p == nil && table.n > 70 {
			t.Errorf("base %d: no pick of %d words", base, table.n)
		}
		if p == nil {
			continue
		}
		v := vec.New(value.KindInt)
		var want []uint16
		for i := range vec.MaxRows {
			v.I64[i] = base + int64(r.IntN(5000)) - 500 // wraps
			if r.IntN(9) == 0 {
				v.Nulls.Set(i)
			} else if table.find(v.I64[i]) != none {
				want = append(want, uint16(i))
			}
		}
		if got := p.Take(v, vec.MaxRows, nil); !slices.Equal(got, want) {
			t.Errorf("base %d: takes %d rows, want %d", base, len(got), len(want))
		}
	}
	var far wordTable
	far.insert(math.MinInt64, 0)
	far.insert(math.MaxInt64, 1)
	if pickOf(&far) != nil || pickOf(&wordTable{}) != nil {
		t.Error("a pick of words that are far apart")
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
