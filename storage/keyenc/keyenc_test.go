package keyenc

import (
	"bytes"
	"cmp"
	"errors"
	"math"
	"math/big"
	"math/rand"
	"slices"
	"testing"

	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/value"
)

// checkOrder encodes values in both directions and checks order, round trip,
// skipping and that no encoding is a prefix of another one.
func checkOrder[T any](t *testing.T, vals []T, compare func(a, b T) int,
	enc func(dst []byte, v T, desc bool) []byte, dec func(b []byte, desc bool) (T, []byte, error),
	skip func(b []byte, desc bool) ([]byte, error)) {
	t.Helper()
	tail := []byte{0x00, 0xFF, 0x01}
	for _, desc := range []bool{false, true} {
		encs := make([][]byte, len(vals))
		for i, v := range vals {
			encs[i] = enc(nil, v, desc)
			got, rest, err := dec(append(encs[i][:len(encs[i]):len(encs[i])], tail...), desc)
			if err != nil || compare(got, v) != 0 || !bytes.Equal(rest, tail) {
				t.Fatalf("desc %v: %v decodes as %v, rest %x, %v", desc, v, got, rest, err)
			}
			rest, err = skip(append(encs[i][:len(encs[i]):len(encs[i])], tail...), desc)
			if err != nil || !bytes.Equal(rest, tail) {
				t.Fatalf("desc %v: skipping %v leaves %x, %v", desc, v, rest, err)
			}
			for n := range len(encs[i]) {
				if _, _, err := dec(encs[i][:n], desc); !errors.Is(err, storage.ErrCorruption) {
					t.Fatalf("desc %v: %d bytes of %v decode: %v", desc, n, v, err)
				}
			}
		}
		for i := range vals {
			for j := range vals {
				want := compare(vals[i], vals[j])
				if desc {
					want = -want
				}
				if got := bytes.Compare(encs[i], encs[j]); got != want {
					t.Fatalf("desc %v: %v and %v: %x %x", desc, vals[i], vals[j], encs[i], encs[j])
				}
				if want != 0 && bytes.HasPrefix(encs[i], encs[j]) {
					t.Fatalf("desc %v: %x is a prefix of %x", desc, encs[j], encs[i])
				}
			}
		}
	}
}

func skipWord(b []byte, _ bool) ([]byte, error) { return SkipWord(b) }

func TestInt(t *testing.T) {
	vals := []int64{math.MinInt64, math.MinInt64 + 1, -256, -255, -1, 0, 1, 127, 128, 1 << 40, math.MaxInt64}
	r := rand.New(rand.NewSource(1))
	for range 100 {
		vals = append(vals, int64(r.Uint64()>>r.Intn(64)), -int64(r.Uint64()>>r.Intn(64)))
	}
	checkOrder(t, vals, cmp.Compare[int64], AppendInt, Int, skipWord)
}

func TestUint(t *testing.T) {
	vals := []uint64{0, 1, 255, 256, 1 << 63, math.MaxUint64}
	checkOrder(t, vals, cmp.Compare[uint64], AppendUint, Uint, skipWord)
}

func TestFloat(t *testing.T) {
	vals := []float64{math.Inf(-1), -math.MaxFloat64, -1.5, -1, -math.SmallestNonzeroFloat64, math.Copysign(0, -1), 0,
		math.SmallestNonzeroFloat64, 0.5, 1, 1.5, math.MaxFloat64, math.Inf(1)}
	checkOrder(t, vals, cmp.Compare[float64], AppendFloat, Float, skipWord)
}

func TestBytes(t *testing.T) {
	vals := [][]byte{{}, {0}, {0, 0}, {0, 1}, {0, 0xFF}, {1}, {0xFF}, {0xFF, 0}, {0xFF, 0xFF}, {0xFE}, []byte("a"), []byte("a\x00"), []byte("a\x00b"), []byte("ab")}
	r := rand.New(rand.NewSource(2))
	for range 100 {
		b := make([]byte, r.Intn(6))
		for i := range b {
			b[i] = []byte{0, 1, 2, 0x7F, 0xFE, 0xFF}[r.Intn(6)]
		}
		vals = append(vals, b)
	}
	checkOrder(t, vals, bytes.Compare, AppendBytes, func(b []byte, desc bool) ([]byte, []byte, error) { return Bytes(b, nil, desc) }, SkipBytes)
	for _, desc := range []bool{false, true} {
		for _, a := range vals {
			for _, b := range vals {
				has := bytes.HasPrefix(AppendBytes(nil, b, desc), AppendBytesPrefix(nil, a, desc))
				// 00 at the end of the prefix may also be the start of the end mark.
				if want := bytes.HasPrefix(b, a); has != want {
					t.Fatalf("prefix %x of %x: %v", a, b, has)
				}
			}
		}
	}
}

func mustDec(t testing.TB, s string) value.Decimal {
	t.Helper()
	d, err := value.ParseDecimal(s)
	if err != nil {
		t.Fatal(s, err)
	}
	return d
}

func TestDecimal(t *testing.T) {
	var vals []value.Decimal
	for _, s := range []string{"0", "0.00", "1", "1.0", "1.00", "1.01", "10", "100", "99", "9.9", "0.1", "0.01", "0.001", "0.0001", "123.456",
		"12345678901234567890", "99999999999999999999999999999999999999999999999999999999999999999",
		"0.000000000000000000000000000001", "0.000000000000000000000000000010", "1234567890123456789012345678901234.5678901"} {
		vals = append(vals, mustDec(t, s), mustDec(t, s).Neg())
	}
	r := rand.New(rand.NewSource(3))
	for range 150 {
		digits := make([]byte, 1+r.Intn(40))
		for i := range digits {
			digits[i] = "0012345678999"[r.Intn(13)]
		}
		coef, _ := new(big.Int).SetString(string(digits), 10)
		if r.Intn(2) == 0 {
			coef.Neg(coef)
		}
		vals = append(vals, value.DecimalFromBig(coef, r.Intn(31)))
	}
	checkOrder(t, vals, value.Decimal.Cmp, AppendDecimal, Decimal, SkipDecimal)
}

func TestNullMark(t *testing.T) {
	for _, desc := range []bool{false, true} {
		null := AppendNull(nil, desc)
		val := AppendInt(AppendNotNull(nil, desc), math.MinInt64, desc)
		if c := bytes.Compare(null, val); (c < 0) == desc {
			t.Errorf("desc %v: order of NULL is %d", desc, c)
		}
		is, rest, err := IsNull(null, desc)
		if !is || len(rest) != 0 || err != nil {
			t.Error(is, rest, err)
		}
		if is, _, err = IsNull(val, desc); is || err != nil {
			t.Error(is, err)
		}
	}
	if _, _, err := IsNull([]byte{7}, false); !errors.Is(err, ErrMalformed) {
		t.Error(err)
	}
}

func TestPrefixEnd(t *testing.T) {
	for _, c := range []struct{ in, want []byte }{{nil, nil}, {[]byte{0xFF, 0xFF}, nil}, {[]byte{1}, []byte{2}}, {[]byte{1, 0xFF}, []byte{2}}, {[]byte{0}, []byte{1}}} {
		if got := PrefixEnd(c.in); !bytes.Equal(got, c.want) || (got == nil) != (c.want == nil) {
			t.Errorf("%x: %x, want %x", c.in, got, c.want)
		}
	}
}

// Encodings that are on disk.
func TestGolden(t *testing.T) {
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{AppendInt(nil, -1, false), "\x7f\xff\xff\xff\xff\xff\xff\xff"},
		{AppendInt(nil, 1, true), "\x7f\xff\xff\xff\xff\xff\xff\xfe"},
		{AppendUint(nil, 258, false), "\x00\x00\x00\x00\x00\x00\x01\x02"},
		{AppendFloat(nil, 1, false), "\xbf\xf0\x00\x00\x00\x00\x00\x00"},
		{AppendFloat(nil, -1, false), "\x40\x0f\xff\xff\xff\xff\xff\xff"},
		{AppendBytes(nil, []byte("a\x00b"), false), "a\x00\xffb\x00\x01"},
		{AppendBytes(nil, []byte("a\x00b"), true), "\x9e\xff\x00\x9d\xff\xfe"},
		{AppendDecimal(nil, value.Decimal{}, false), "\x80"},
		{AppendDecimal(nil, mustDec(t, "123.45"), false), "\xb2\x03\x19\x2f\x01"},
		{AppendDecimal(nil, mustDec(t, "-123.45"), false), "\x4d\xfc\xe6\xd0\xfe"},
		{AppendDecimal(nil, mustDec(t, "0.5"), false), "\xb0\x34\x01"},
		{AppendNull(nil, false), "\x00"},
		{AppendNotNull(nil, true), "\xfe"},
	} {
		if string(c.got) != c.want {
			t.Errorf("got %x, want %x", c.got, c.want)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add([]byte("a\x00\xffb\x00\x01"), false)
	f.Add([]byte("\xb2\x03\x19\x2f\x01"), false)
	f.Add([]byte("\x4d\xfc\xe6\xd0\xfe"), true)
	f.Fuzz(func(t *testing.T, b []byte, desc bool) {
		orig := slices.Clone(b)
		if d, rest, err := Decimal(b, desc); err == nil {
			if n := len(b) - len(rest); n < 1 {
				t.Fatal("nothing read")
			}
			again, _, err := Decimal(AppendDecimal(nil, d, desc), desc)
			if err != nil || again.Cmp(d) != 0 {
				t.Fatalf("%s becomes %s, %v", d, again, err)
			}
		}
		if s, rest, err := Bytes(b, nil, desc); err == nil {
			if e := AppendBytes(nil, s, desc); !bytes.Equal(e, b[:len(b)-len(rest)]) {
				t.Fatalf("%x from %x", e, b)
			}
			srest, serr := SkipBytes(b, desc)
			if serr != nil || len(srest) != len(rest) {
				t.Fatal("skip differs")
			}
		} else if _, serr := SkipBytes(b, desc); serr == nil {
			t.Fatal("skip accepts what decoding does not")
		}
		_, _, _ = IsNull(b, desc)
		_, _, _ = Int(b, desc)
		_, _, _ = Float(b, desc)
		if !bytes.Equal(orig, b) {
			t.Fatal("input changed")
		}
	})
}

func BenchmarkAppendBytes(b *testing.B) {
	s := []byte("abcdefghijklmnopqrst")
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendBytes(dst[:0], s, false)
	}
}

func BenchmarkAppendDecimal(b *testing.B) {
	d := mustDec(b, "12345.67")
	var dst []byte
	b.ReportAllocs()
	for b.Loop() {
		dst = AppendDecimal(dst[:0], d, false)
	}
}
