package rowenc

import (
	"math/rand/v2"
	"testing"

	"github.com/sqlots/sqlots/value"
)

// Ints reads what Int reads, or says that it does not.
func TestInts(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	rd, by := NewReader([]uint16{7, 2, 4}), NewReader([]uint16{7, 2, 4})
	dst := make([]int64, 3)
	read, refused := 0, 0
	for range 20000 {
		var b Builder
		b.Reset()
		for id := uint16(1); id <= 8; id++ {
			switch x := r.IntN(60); {
			case x == 0:
			case x == 1:
				b.Datum(id, value.Null)
			case x == 2 && id%2 == 1:
				b.Datum(id, value.Bytes(make([]byte, r.IntN(1<<17))))
			default:
				b.Datum(id, value.Int(r.Int64()>>r.IntN(64)*int64(1-2*r.IntN(2))))
			}
		}
		row := b.Append(nil)
		if r.IntN(50) == 0 {
			row = row[:r.IntN(len(row)+1)]
		}
		if r.IntN(50) == 0 && len(row) > 0 {
			row[r.IntN(min(len(row), 60))] ^= byte(1 << r.IntN(8))
		}
		if !rd.Ints(row, dst) {
			refused++
			continue
		}
		read++
		if err := by.Reset(row); err != nil {
			t.Fatal(err)
		}
		for k, got := range dst {
			if want, st := by.Int(k); st != Value || want != got {
				t.Fatalf("column %d: %d instead of %d, state %d", k, got, want, st)
			}
		}
	}
	if read < 10000 || refused < 500 {
		t.Fatalf("%d rows read, %d refused", read, refused)
	}
}

func BenchmarkInts(b *testing.B) {
	var bd Builder
	bd.Datum(5, value.Int(100))
	row := bd.Append(nil)
	rd := NewReader([]uint16{5})
	dst := make([]int64, 1)
	b.Run("Ints", func(b *testing.B) {
		for b.Loop() {
			if !rd.Ints(row, dst) {
				b.Fatal("refused")
			}
		}
	})
	b.Run("Reset and Int", func(b *testing.B) {
		for b.Loop() {
			if rd.Reset(row) != nil {
				b.Fatal("refused")
			}
			dst[0], _ = rd.Int(0)
		}
	})
}
