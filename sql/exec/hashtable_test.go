package exec

import (
	"math/rand/v2"
	"testing"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// TestMixedKeys compares the ids of keys with texts by their own bytes with those by
// their weights: few keys, and so many that the former is given up.
func TestMixedKeys(t *testing.T) {
	ts := []schema.Type{types.VarcharOf(20, schema.CollationUTF8MB40900AICI), types.BigInt, types.VarcharOf(20, schema.CollationUTF8MB40900AICI)}
	for _, most := range []int{3, 200} {
		r := rand.New(rand.NewPCG(1, uint64(most)))
		text := func() []byte {
			b := []byte("aÄbÄ"[:r.IntN(2)*3])
			for range r.IntN(min(most, 4) - 1) {
				b = append(b, "aAbBcC"[r.IntN(6)])
			}
			return b
		}
		env := testEnv(nil)
		fast, slow := env.newKeyTable(ts), env.newKeyTable(ts)
		if fast.rawEnc == nil {
			t.Fatal("nothing is spared")
		}
		slow.rawEnc = nil
		for range 20 {
			cols := []*vec.Vec{vec.New(value.KindBytes), vec.New(value.KindInt), vec.New(value.KindBytes)}
			rows := make([]uint16, vec.MaxRows)
			for i := range rows {
				rows[i] = uint16(i)
				cols[0].SetDatum(i, value.Bytes(text()))
				cols[1].SetDatum(i, value.Int(int64(r.IntN(most))))
				cols[2].SetDatum(i, value.Bytes(text()))
				if r.IntN(20) == 0 {
					cols[r.IntN(3)].Nulls.Set(i)
				}
			}
			var freshFast, freshSlow []uint16
			a := fast.insert(cols, rows, nil, func(i uint16) { freshFast = append(freshFast, i) })
			b := slow.insert(cols, rows, nil, func(i uint16) { freshSlow = append(freshSlow, i) })
			for i := range rows {
				if a[i] != b[i] {
					t.Fatalf("row %d has the id %d, want %d", i, a[i], b[i])
				}
			}
			if len(freshFast) != len(freshSlow) || fast.n != slow.n {
				t.Fatalf("%d keys, %d new, want %d and %d", fast.n, len(freshFast), slow.n, len(freshSlow))
			}
		}
		if gone := fast.rawEnc == nil; gone != (most > 100) {
			t.Errorf("up to %d: raw keys are given up: %v", most, gone)
		}
	}
}
