package rowenc

import (
	"bytes"
	"encoding/hex"
	"errors"
	"math"
	"math/big"
	"math/rand"
	"testing"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

func dec(t testing.TB, s string) value.Decimal {
	t.Helper()
	d, err := value.ParseDecimal(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func same(a, b value.Datum) bool {
	if a.Kind() != b.Kind() {
		return false
	}
	switch a.Kind() {
	case value.KindNull:
		return true
	case value.KindDecimal:
		return a.Decimal().Cmp(b.Decimal()) == 0 && a.Decimal().Scale() == b.Decimal().Scale()
	case value.KindBytes, value.KindJSON:
		return bytes.Equal(a.Bytes(), b.Bytes())
	}
	return a.Bits() == b.Bits()
}

func randomDatum(r *rand.Rand) value.Datum {
	word := r.Uint64() >> r.Intn(64)
	switch r.Intn(9) {
	case 0:
		return value.Null
	case 1:
		return value.Int(int64(word) * int64(1-2*r.Intn(2)))
	case 2:
		return value.Uint(word)
	case 3:
		return value.Float([]float64{0, 1.5, 0.1, math.MaxFloat64, -3, float64(word)}[r.Intn(6)])
	case 4:
		coef := new(big.Int).Rand(r, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(r.Intn(65))), nil))
		if r.Intn(2) == 0 {
			coef.Neg(coef)
		}
		return value.Dec(value.DecimalFromBig(coef, r.Intn(31)))
	case 5:
		t := value.MakeTime(r.Intn(10000), 1+r.Intn(12), 1+r.Intn(28), 0, 0, 0, 0)
		if r.Intn(3) > 0 {
			t |= value.MakeTime(0, 0, 0, r.Intn(24), r.Intn(60), r.Intn(60), 0)
		}
		if r.Intn(3) == 0 {
			t += value.Time(r.Intn(1000000))
		}
		return value.TimeOf(t)
	case 6:
		return value.DurationOf(value.Duration(word%uint64(value.MaxDuration)) * value.Duration(1-2*r.Intn(2)))
	case 7:
		return value.JSONOf(value.JSONInt(int64(word)))
	}
	b := make([]byte, r.Intn(20))
	r.Read(b)
	return value.Bytes(b)
}

func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	want := make([]uint16, 40)
	for i := range want {
		want[i] = uint16(i * 3)
	}
	rd := NewReader(want)
	var b Builder
	for round := range 3000 {
		b.Reset()
		row := map[uint16]value.Datum{}
		ext := map[uint16]int{}
		for id := uint16(0); id < 120; id++ {
			switch x := r.Intn(12); {
			case round%3 == 0 && id%6 != 0:
			case x == 0:
				ext[id] = r.Intn(1 << 24)
				b.External(id, ext[id])
			case x < 4:
				d := randomDatum(r)
				if round%100 == 0 && d.Kind() == value.KindBytes {
					d = value.Bytes(make([]byte, 9000))
				}
				row[id] = d
				b.Datum(id, d)
			}
		}
		enc := b.Append(nil)
		if err := rd.Reset(enc); err != nil {
			t.Fatal(err)
		}
		for i, id := range want {
			f, st := rd.Field(i)
			d, in := row[id]
			n, isExt := ext[id]
			switch {
			case isExt:
				if got, ok := Uint(f); st != External || !ok || got != uint64(n) {
					t.Fatal(id, st, got, n)
				}
			case !in:
				if st != Absent {
					t.Fatal(id, st)
				}
			case d.IsNull():
				if st != Null {
					t.Fatal(id, st)
				}
			default:
				got, ok := Datum(f, d.Kind())
				if st != Value || !ok || !same(got, d) {
					t.Fatal(id, st, got, d)
				}
				if v, st := rd.Int(i); d.Kind() == value.KindInt && (st != Value || v != d.Int()) {
					t.Fatal(id, st, v, d)
				}
			}
		}
		ids, err := IDs(enc, nil)
		if err != nil || len(ids) != len(row)+len(ext) {
			t.Fatal(len(ids), err)
		}
	}
}

// Rows that are on disk: these bytes are read for ever.
func TestGolden(t *testing.T) {
	tm := value.MakeTime(2024, 5, 6, 7, 8, 9, 0)
	wide := dec(t, "-99999999999999999999999999999999999999999999999999.5")
	for _, c := range []struct {
		name string
		vals map[uint16]value.Datum
		ext  map[uint16]int
		hex  string
	}{
		{"empty", nil, nil, "01000000"},
		{"int", map[uint16]value.Datum{2: value.Int(42)}, nil, "0100" + "0100" + "0200" + "0100" + "2a"},
		{"numbers", map[uint16]value.Datum{1: value.Int(-256), 2: value.Int(100000), 3: value.Uint(200), 4: value.Int(-100), 7: value.Float(0.1), 8: value.Float(1.5)}, nil,
			"0100" + "0600" + "010002000300040007000800" + "0200" + "0600" + "0700" + "0800" + "1000" + "1400" +
				"00ff" + "a0860100" + "c8" + "9c" + "9a9999999999b93f" + "0000c03f"},
		{"null and text", map[uint16]value.Datum{1: value.Null, 2: value.String("hi"), 3: value.String("")}, nil,
			"0102" + "0300" + "010002000300" + "01" + "0000" + "0200" + "0200" + "6869"},
		{"external", map[uint16]value.Datum{3: value.String("a")}, map[uint16]int{2: 10000},
			"0104" + "0200" + "02000300" + "01" + "0200" + "0300" + "1027" + "61"},
		{"times", map[uint16]value.Datum{1: value.TimeOf(tm.Date()), 2: value.TimeOf(tm), 3: value.TimeOf(tm + 5), 4: value.DurationOf(-1_000_000)}, nil,
			"0100" + "0400" + "0100020003000400" + "0300" + "0800" + "1000" + "1400" + "a6d90c" + "09724cb319" + "05000009724cb319" + "c0bdf0ff"},
		{"decimals", map[uint16]value.Datum{1: value.Dec(dec(t, "12.50")), 2: value.Dec(dec(t, "-0.001")), 3: value.Dec(wide)}, nil,
			"0100" + "0300" + "010002000300" + "0300" + "0500" + "1d00" + "02e204" + "03ff" + "8101" + "02ac3a4edbbfb8014e3ba83411e915e7fffffffffffb"},
	} {
		var b Builder
		for id := uint16(0); id < 20; id++ {
			if d, ok := c.vals[id]; ok {
				b.Datum(id, d)
			} else if n, ok := c.ext[id]; ok {
				b.External(id, n)
			}
		}
		if got := hex.EncodeToString(b.Append(nil)); got != c.hex {
			t.Errorf("%s: %s, want %s", c.name, got, c.hex)
		}
	}
}

func BenchmarkBuild(b *testing.B) {
	var bd Builder
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		bd.Reset()
		bd.Datum(3, value.Int(1234567890123))
		bd.Datum(4, value.Int(77))
		bd.Datum(5, value.Int(100))
		bd.Datum(6, value.TimeOf(value.MakeTime(2024, 5, 6, 7, 8, 9, 0)))
		dst = bd.Append(dst[:0])
	}
}

func BenchmarkField(b *testing.B) {
	var bd Builder
	for id := uint16(1); id <= 100; id++ {
		bd.Datum(id, value.Int(int64(id)*1000))
	}
	row := bd.Append(nil)
	rd := NewReader([]uint16{57, 58})
	b.ReportAllocs()
	var sum int64
	for b.Loop() {
		if err := rd.Reset(row); err != nil {
			b.Fatal(err)
		}
		v, _ := rd.Int(0)
		sum += v
	}
	_ = sum
}

func FuzzReader(f *testing.F) {
	var b Builder
	b.Datum(1, value.Int(5))
	b.Datum(2, value.Null)
	b.External(9, 5000)
	f.Add(b.Append(nil))
	f.Add([]byte{1, 1, 1, 0, 5, 0, 1, 0, 0, 0, 7})
	f.Fuzz(func(t *testing.T, row []byte) {
		rd := NewReader([]uint16{1, 2, 5, 9})
		if err := rd.Reset(row); err != nil {
			if !errors.Is(err, storage.ErrCorruption) {
				t.Fatal(err)
			}
			return
		}
		for i := range 4 {
			_, _ = rd.Int(i)
			v, st := rd.Field(i)
			if st == Value {
				for k := value.KindNull; k <= value.KindJSON; k++ {
					_, _ = Datum(v, k)
				}
			}
		}
		_, _ = IDs(row, nil)
	})
}
