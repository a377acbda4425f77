package value

import (
	"math/rand/v2"
	"testing"
	"time"
)

func TestDayNumbers(t *testing.T) {
	for _, c := range []struct {
		y, m, d, n, weekday int
	}{{2007, 10, 7, 733321, 6}, {0, 1, 1, 1, -1}, {1, 1, 1, 366, -1}, {1970, 1, 1, 719528, 3}, {9999, 12, 31, 3652424, 4}, {2000, 2, 29, 730544, 1}} {
		x := MakeTime(c.y, c.m, c.d, 0, 0, 0, 0)
		if x.DayNumber() != c.n || c.weekday >= 0 && x.Weekday() != c.weekday {
			t.Errorf("%s: day %d, weekday %d", x, x.DayNumber(), x.Weekday())
		}
	}
	day := time.Date(1, 1, 1, 0, 0, 0, 0, time.UTC)
	for n := 366; n <= maxDayNumber; n++ {
		x := FromGo(day)
		if x.DayNumber() != n || FromDayNumber(n) != x {
			t.Fatalf("%s: %d, want %d; back %s", x, x.DayNumber(), n, FromDayNumber(n))
		}
		day = day.AddDate(0, 0, 1)
	}
}

func randTime(r *rand.Rand) (Time, time.Time) {
	g := time.UnixMicro(r.Int64N(250000000000*1000000) - 60000000000*1000000).UTC()
	return FromGo(g), g
}

func TestTimeOrderAndArithmetic(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100000 {
		x, g := randTime(r)
		y, h := randTime(r)
		if (x < y) != g.Before(h) {
			t.Fatalf("order of %s and %s", x, y)
		}
		us := r.Int64N(1<<50) - 1<<49
		if z, ok := x.AddMicros(us); !ok || z != FromGo(g.Add(time.Duration(us)*time.Microsecond)) {
			t.Fatalf("%s + %d = %s", x, us, z)
		}
		if x.MicrosSince(y) != g.UnixMicro()-h.UnixMicro() {
			t.Fatalf("%s - %s", x, y)
		}
		if want := g.Round(time.Millisecond); x.RoundFSP(3) != FromGo(want) {
			t.Fatalf("%s rounded is %s", x, x.RoundFSP(3))
		}
		if back, ok := x.Go(time.UTC); !ok || !back.Equal(g) {
			t.Fatalf("%s back is %s", x, back)
		}
	}
}

func TestTimeText(t *testing.T) {
	x := MakeTime(2024, 2, 29, 23, 59, 59, 999999)
	for _, c := range [][2]string{
		{string(x.AppendText(nil, 6, false)), "2024-02-29 23:59:59.999999"},
		{string(x.AppendText(nil, 0, true)), "2024-02-29"},
		{x.RoundFSP(0).String(), "2024-03-01"},
		{MakeTime(9999, 12, 31, 23, 59, 59, 600000).RoundFSP(0).String(), "9999-12-31 23:59:59"},
		{string(ZeroTime.AppendText(nil, 2, false)), "0000-00-00 00:00:00.00"},
		{MaxDuration.String(), "838:59:59"},
		{string(MakeDuration(true, 1, 2, 3, 450000).AppendText(nil, 2)), "-01:02:03.45"},
		{MakeDuration(true, 0, 0, 0, 500000).RoundFSP(0).String(), "-00:00:01"},
	} {
		if c[0] != c[1] {
			t.Errorf("got %s, want %s", c[0], c[1])
		}
	}
	if !MakeTime(2024, 0, 1, 0, 0, 0, 0).Check(AllowZeroInDate) || MakeTime(2024, 0, 1, 0, 0, 0, 0).Check(AllowZeroDate) {
		t.Error("zero month")
	}
	if MakeTime(2023, 2, 29, 0, 0, 0, 0).Check(0) || !MakeTime(2023, 2, 29, 0, 0, 0, 0).Check(AllowInvalidDates) || !MakeTime(2024, 2, 29, 0, 0, 0, 0).Check(0) {
		t.Error("29 February")
	}
}

func BenchmarkTimeAppendText(b *testing.B) {
	x := MakeTime(2024, 2, 29, 23, 59, 59, 0)
	var buf [32]byte
	b.ReportAllocs()
	for b.Loop() {
		_ = x.AppendText(buf[:0], 0, false)
	}
}
