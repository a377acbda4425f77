package value

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// randDecimal is a number of up to digits digits, with a random scale, often
// at the borders of the fast path.
func randDecimal(r *rand.Rand, digits int) Decimal {
	n := 1 + r.IntN(digits)
	b := make([]byte, n)
	for i := range b {
		b[i] = byte('0' + r.IntN(10))
		if r.IntN(4) == 0 {
			b[i] = "09"[r.IntN(2)]
		}
	}
	c, _ := new(big.Int).SetString(string(b), 10)
	if r.IntN(2) == 0 {
		c.Neg(c)
	}
	return DecimalFromBig(c, r.IntN(min(n, 31)))
}

func rat(d Decimal) *big.Rat {
	return new(big.Rat).SetFrac(d.big(), bigPow10(int(d.scale)))
}

// roundRat is x at scale, half away from zero or cut.
func roundRat(x *big.Rat, scale int, cut bool) *big.Rat {
	p := new(big.Rat).SetInt(bigPow10(scale))
	y := new(big.Rat).Mul(x, p)
	if !cut {
		half := big.NewRat(1, 2)
		if y.Sign() < 0 {
			half.Neg(half)
		}
		y.Add(y, half)
	}
	q := new(big.Int).Quo(y.Num(), y.Denom())
	return new(big.Rat).Quo(new(big.Rat).SetInt(q), p)
}

func TestDecimalAgainstBig(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	check := func(op string, a, b, got Decimal, want *big.Rat) {
		t.Helper()
		if rat(got).Cmp(want) != 0 {
			t.Fatalf("%s %s %s = %s, want %s", a, op, b, got, want.FloatString(31))
		}
		if got.wide != nil && got.wide.BitLen() <= 127 {
			t.Fatalf("%s %s %s: %s is wide without need", a, op, b, got)
		}
	}
	for range testflag.InShort(10_000, 50_000) {
		n := []int{5, 18, 20, 38, 40, 65}[r.IntN(6)]
		a, b := randDecimal(r, n), randDecimal(r, n)
		x, y := rat(a), rat(b)
		check("+", a, b, a.Add(b), new(big.Rat).Add(x, y))
		check("-", a, b, a.Sub(b), new(big.Rat).Sub(x, y))
		for _, minus := range []bool{false, true} {
			s, want := randDecimal(r, 40), a.Add(b)
			if minus {
				want = a.Sub(b)
			}
			if s.SetSum(&a, &b, minus) && s != want {
				t.Fatalf("%s and %s: %v is set, want %v", a, b, s, want)
			}
		}
		compareSums(t, a, b)
		p := new(big.Rat).Mul(x, y)
		m := a.Mul(b)
		if s := randDecimal(r, 40); s.SetProduct(&a, &b) && s != m {
			t.Fatalf("%s * %s: %v is set, want %v", a, b, s, m)
		}
		if room := 9*groups - words(m.Digits()-m.Scale()); m.Scale() < min(a.Scale()+b.Scale(), max(room, 0)) {
			t.Fatalf("%s * %s has scale %d", a, b, m.Scale())
		}
		check("*", a, b, m, roundRat(p, m.Scale(), true)) // what there is no room for is cut off
		if got := a.Cmp(b); got != x.Cmp(y) {
			t.Fatalf("%s cmp %s = %d", a, b, got)
		}
		if same := string(a.AppendHash(nil)) == string(b.AppendHash(nil)); same != (x.Cmp(y) == 0) {
			t.Fatalf("hash of %s and %s: same = %v", a, b, same)
		}
		if back, ok := DecimalFromHash(a.AppendHash(nil)); !ok || back.Cmp(a) != 0 {
			t.Fatalf("%s is %s by its hash", a, back)
		}
		if scaled := a.Rescale(30); string(a.AppendHash(nil)) != string(scaled.AppendHash(nil)) {
			t.Fatalf("hash of %s depends on its scale", a)
		}
		s := r.IntN(31)
		check("round", a, b, a.Round(s), map[bool]*big.Rat{true: x, false: roundRat(x, s, false)}[s >= a.Scale()])
		check("trunc", a, b, a.Truncate(s), map[bool]*big.Rat{true: x, false: roundRat(x, s, true)}[s >= a.Scale()])
		if b.IsZero() {
			continue
		}
		q := new(big.Rat).Quo(x, y)
		d, _ := a.Div(b, 4)
		s0 := DivScale(a.Scale(), b.Scale(), 4)
		if room := 9*groups - words(max(d.Digits()-d.Scale(), 0)); d.Scale() < min(s0, max(room, 0)) {
			t.Fatalf("%s / %s has scale %d", a, b, d.Scale())
		}
		want := roundRat(q, min(s0, d.Scale()), true) // what there is no room for is cut off
		check("/", a, b, d, want)
		div, _ := a.IntDiv(b)
		check("div", a, b, div, roundRat(q, 0, true))
		mod, _ := a.Mod(b)
		check("%", a, b, mod, new(big.Rat).Sub(x, new(big.Rat).Mul(y, roundRat(q, 0, true))))
		back, err := ParseDecimal(a.String())
		if err != nil || back != a && (back.wide == nil || back.Cmp(a) != 0 || back.scale != a.scale) {
			t.Fatalf("%s parsed as %s, %v", a, back, err)
		}
		if want := len(strings.TrimLeft(strings.ReplaceAll(strings.TrimPrefix(a.String(), "-"), ".", ""), "0")); a.Digits() != want {
			t.Fatalf("%s has %d digits, want %d", a, a.Digits(), want)
		}
		f, _ := x.Float64()
		if a.Float64() != f {
			t.Fatalf("%s as float %v, want %v", a, a.Float64(), f)
		}
	}
}

func TestU128Division(t *testing.T) {
	testflag.Normal(t)
	r := rand.New(rand.NewPCG(3, 4))
	word := func() uint64 {
		switch r.IntN(5) {
		case 0:
			return 0
		case 1:
			return ^uint64(0)
		case 2:
			return 1 << r.IntN(64)
		}
		return r.Uint64() >> r.IntN(64)
	}
	toBig := func(a u128) *big.Int {
		b := new(big.Int).Lsh(new(big.Int).SetUint64(a.hi), 64)
		return b.Or(b, new(big.Int).SetUint64(a.lo))
	}
	for range 500000 {
		a, b := u128{word(), word()}, u128{word(), word()}
		if b.isZero() {
			continue
		}
		q, m := a.divMod(b)
		bq, bm := new(big.Int).QuoRem(toBig(a), toBig(b), new(big.Int))
		if toBig(q).Cmp(bq) != 0 || toBig(m).Cmp(bm) != 0 {
			t.Fatalf("%v / %v = %v rest %v, want %v rest %v", a, b, q, m, bq, bm)
		}
	}
}

func TestParseDecimal(t *testing.T) {
	for _, c := range []struct {
		in, want string
		err      error
	}{
		{"0", "0", nil}, {"-0", "0", nil}, {"-0.00", "0.00", nil}, {"1.50", "1.50", nil}, {".5", "0.5", nil}, {"5.", "5", nil},
		{" +12.3 ", "12.3", nil}, {"1e3", "1000", nil}, {"1.5e-3", "0.0015", nil}, {"12e", "", ErrSyntax}, {"", "", ErrSyntax},
		{"abc", "", ErrSyntax}, {".", "", ErrSyntax}, {"1.2.3", "", ErrSyntax}, {"1e81", strings.Repeat("9", 65), ErrRange},
		{"-1e81", "-" + strings.Repeat("9", 65), ErrRange}, {"1e80", "1" + strings.Repeat("0", 80), nil},
		{"1e-82", "0." + strings.Repeat("0", 81), nil}, {"1e-40", "0." + strings.Repeat("0", 39) + "1", nil},
		{"0." + strings.Repeat("1", 82), "0." + strings.Repeat("1", 81), nil}, {"1." + strings.Repeat("9", 81), "1." + strings.Repeat("9", 72), nil},
		{"0." + strings.Repeat("0", 30) + "5", "0." + strings.Repeat("0", 30) + "5", nil},
		{strings.Repeat("9", 65), strings.Repeat("9", 65), nil},
	} {
		d, err := ParseDecimal(c.in)
		if err != c.err || err != ErrSyntax && d.String() != c.want {
			t.Errorf("%q = %s, %v; want %s, %v", c.in, d, err, c.want, c.err)
		}
	}
}

func TestDecimalFacts(t *testing.T) {
	p := func(s string) Decimal {
		d, err := ParseDecimal(s)
		if err != nil {
			t.Fatal(s, err)
		}
		return d
	}
	div := func(a, b string) string {
		d, _ := p(a).Div(p(b), 4)
		return d.Rescale(p(a).Scale() + 4).String()
	}
	for _, c := range [][2]string{
		{div("1", "3"), "0.3333"}, {div("2", "3"), "0.6667"}, {div("1.00", "3"), "0.333333"}, {div("-1", "6"), "-0.1667"},
		{p("1.5").Round(0).String(), "2"}, {p("-2.5").Round(0).String(), "-3"}, {p("155").Round(-1).String(), "160"},
		{p("-1.1").Ceil().String(), "-1"}, {p("-1.1").Floor().String(), "-2"}, {p("1.1").Ceil().String(), "2"},
		{p("99.9").Truncate(-1).String(), "90"}, {MaxDecimal(5, 2).String(), "999.99"}, {MaxDecimal(65, 30).Neg().String(), "-" + strings.Repeat("9", 35) + "." + strings.Repeat("9", 30)},
	} {
		if c[0] != c[1] {
			t.Errorf("got %s, want %s", c[0], c[1])
		}
	}
	third, _ := p("1").Div(p("3"), 4)
	if got := third.Mul(p("3")).Rescale(4).String(); got != "1.0000" {
		t.Errorf("1/3*3 = %s", got)
	}
	if n, ok := p("9223372036854775807.5").Int64(); ok || fmt.Sprint(n) != "9223372036854775807" {
		t.Error("int64 overflow", n, ok)
	}
}

func TestDecimalFastPathDoesNotAllocate(t *testing.T) {
	a, _ := ParseDecimal("123456.78")
	b, _ := ParseDecimal("99.999")
	buf := make([]byte, 0, 64)
	if n := testing.AllocsPerRun(100, func() {
		c := a.Add(b).Mul(b).Sub(a)
		d, _ := c.Div(b, 4)
		buf = d.Rescale(2).AppendText(buf[:0])
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkDecimalAdd(b *testing.B) {
	x, _ := ParseDecimal("123456.78")
	y, _ := ParseDecimal("0.01")
	b.ReportAllocs()
	for b.Loop() {
		x = x.Add(y)
	}
}

func BenchmarkDecimalMul(b *testing.B) {
	x, _ := ParseDecimal("123456.78")
	y, _ := ParseDecimal("1.19")
	b.ReportAllocs()
	for b.Loop() {
		_ = x.Mul(y)
	}
}

func BenchmarkDecimalText(b *testing.B) {
	x, _ := ParseDecimal("123456.78")
	var buf [64]byte
	b.ReportAllocs()
	for b.Loop() {
		_ = x.AppendText(buf[:0])
	}
}

func TestInGroups(t *testing.T) {
	nines := strings.Repeat("9", 81)
	for _, c := range []struct{ in, add, want string }{
		{nines, "0.1", nines},
		{"-" + nines, "-0.000000000000000000000000000001", "-" + nines},
		{strings.Repeat("1", 72), "0.1234567891", strings.Repeat("1", 72) + ".123456789"},
		{strings.Repeat("1", 63), "0.1234567890123456789", strings.Repeat("1", 63) + ".123456789012345678"},
		{"0", "0.1234567890123456789", "0.1234567890123456789"},
	} {
		a, err := ParseDecimal(c.in)
		if err != nil {
			t.Fatal(err)
		}
		b, err := ParseDecimal(c.add)
		if err != nil {
			t.Fatal(err)
		}
		got := a.Add(b).InGroups()
		if got.String() != c.want {
			t.Errorf("%s + %s = %s", c.in, c.add, got)
		}
		if w := a.Rescale(MaxDecimalScale); w.Cmp(a) != 0 || w.Digits() > 81 {
			t.Errorf("%s with %d decimals is %s", a, MaxDecimalScale, w)
		}
		for _, d := range []Decimal{got, a.Add(b), a.Rescale(MaxDecimalScale)} {
			doc := JSONDecimal(d)
			if err := CheckJSON(doc); err != nil {
				t.Errorf("%s as JSON: %v", d, err)
			}
			back, ok := JSONScalar(doc)
			if !ok || back.Decimal().Cmp(d.InGroups()) != 0 {
				t.Errorf("%s as JSON is %v", d, back)
			}
		}
	}
}

// compareSums compares what kernels set to the sum, the difference and the product.
func compareSums(t *testing.T, a, b Decimal) {
	t.Helper()
	x, y := []Decimal{a}, []Decimal{b}
	for i, want := range []Decimal{a.Add(b), a.Sub(b), a.Mul(b)} {
		for _, scale := range []int{want.Scale(), want.Scale() + 1, max(want.Scale()-1, 0)} {
			got := []Decimal{{wide: big.NewInt(1)}}
			n := 0
			if i < 2 {
				n = Sums(got, x, y, i == 1, scale)
			} else {
				n = Products(got, x, y, scale)
			}
			if n == 1 && (got[0] != want || want.Scale() != scale) {
				t.Fatalf("%s and %s: %v is set, want %v", a, b, got[0], want)
			}
			if small := a.isSmall() && b.isSmall() && a.Scale() < 10 && b.Scale() < 10; n == 0 && small && scale == want.Scale() {
				t.Fatalf("%s and %s: nothing is set", a, b)
			}
		}
	}
}
