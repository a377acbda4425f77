package vec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sqlots/sqlots/value"
)

func TestNulls(t *testing.T) {
	var n Nulls
	if n.Any() || n.IsNull(0) {
		t.Fatal("the zero value has nulls")
	}
	for _, i := range []int{0, 63, 64, 1023} {
		n.Set(i)
		if !n.IsNull(i) {
			t.Fatalf("row %d is not null", i)
		}
	}
	if got := n.Count(1024); got != 4 {
		t.Fatalf("count %d, want 4", got)
	}
	if got := n.Count(64); got != 2 {
		t.Fatalf("count of the first 64 is %d, want 2", got)
	}
	n.Unset(63)
	if n.IsNull(63) || !n.IsNull(64) {
		t.Fatal("unset hit another row")
	}
	var o Nulls
	o.Or(&n)
	if o.Count(1024) != 3 {
		t.Fatal("or lost nulls")
	}
	n.Clear()
	if n.Any() || n.Count(1024) != 0 {
		t.Fatal("clear left nulls")
	}
}

// TestArenaKeepsOldSlices: growing the arena does not move what was handed
// out.
func TestNullsCopyBits(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		set := make([]uint64, 1+r.IntN(20))
		for i := range set {
			set[i] = r.Uint64() & r.Uint64() & -uint64(r.IntN(2))
		}
		from := r.IntN(len(set) * 64)
		rows := 1 + r.IntN(min(len(set)*64-from, MaxRows))
		var n Nulls
		n.CopyBits(set, from, rows)
		some := false
		for i := range MaxRows {
			want := i < rows && set[(from+i)>>6]>>((from+i)&63)&1 != 0
			some = some || want
			if n.IsNull(i) != want {
				t.Fatalf("row %d of %d from %d: %v", i, rows, from, !want)
			}
		}
		if n.Any() != some {
			t.Fatalf("any is %v", n.Any())
		}
	}
}

func TestArenaKeepsOldSlices(t *testing.T) {
	v := New(value.KindBytes)
	var got [][]byte
	for i := 0; i < MaxRows; i++ {
		got = append(got, v.Own([]byte(fmt.Sprintf("value %d of many", i))))
	}
	for i, b := range got {
		if want := fmt.Sprintf("value %d of many", i); string(b) != want {
			t.Fatalf("row %d is %q, want %q", i, b, want)
		}
	}
	if b := v.Alloc(3); len(b) != 3 || cap(b) != 3 {
		t.Fatalf("alloc gave len %d cap %d", len(b), cap(b))
	}
}

func TestDatumRoundTrip(t *testing.T) {
	dec, err := value.ParseDecimal("-12.345")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range []value.Datum{
		value.Int(-5), value.Uint(1<<63 + 1), value.Float(1.5), value.Dec(dec), value.String("x"),
		value.TimeOf(value.MakeTime(2024, 2, 29, 23, 59, 58, 7)), value.DurationOf(-90),
	} {
		v := New(d.Kind())
		v.SetDatum(3, d)
		v.SetDatum(4, value.Null)
		w := New(d.Kind())
		w.CopyRow(0, v, 3)
		w.CopyRow(1, v, 4)
		got := w.Datum(0)
		if got.Kind() != d.Kind() || !w.Datum(1).IsNull() {
			t.Fatalf("%v became %v, null %v", d, got, w.Datum(1))
		}
		switch d.Kind() {
		case value.KindDecimal:
			if got.Decimal().Cmp(dec) != 0 {
				t.Fatalf("got %v", got.Decimal())
			}
		case value.KindBytes:
			if !bytes.Equal(got.Bytes(), d.Bytes()) {
				t.Fatalf("got %q", got.Bytes())
			}
		default:
			if got.Bits() != d.Bits() {
				t.Fatalf("%v: got bits %x, want %x", d.Kind(), got.Bits(), d.Bits())
			}
		}
	}
}

func TestTruncate(t *testing.T) {
	b := NewBatch([]value.Kind{value.KindInt})
	b.N = 10
	b.SetSel(append(b.SelBuf(), 1, 4, 7))
	b.Truncate(2)
	if b.Live() != 2 || b.Row(1) != 4 {
		t.Fatalf("live %d, last row %d", b.Live(), b.Row(b.Live()-1))
	}
	b.Reset()
	b.N = 10
	b.Truncate(4)
	if b.Live() != 4 {
		t.Fatalf("live %d", b.Live())
	}
}
