package value

import (
	"math/big"
	"testing"
)

// FuzzDecimal holds parsing, printing and exact arithmetic to big.Rat.
func FuzzDecimal(f *testing.F) {
	f.Add("1.50", "-0.003", int8(1))
	f.Add("99999999999999999999999999999999999.999999999999999999999999999999", "1e-30", int8(-3))
	f.Add("-12345678901234567890123456789", "7", int8(30))
	f.Add("999999999999999999999999999999999999999999.999999999999999999999997", "0", int8(-103))
	f.Add("99999999999999999999999999999999999999999999999999999999999999999.5", "-1", int8(0))
	f.Add("999999999999999999999999999999999999999999999999999999999999999999999999999999999", "-0.5", int8(0))
	f.Fuzz(func(t *testing.T, a, b string, places int8) {
		x, err1 := ParseDecimal(a)
		y, err2 := ParseDecimal(b)
		if err1 != nil || err2 != nil {
			return
		}
		rat := func(d Decimal) *big.Rat {
			r, ok := new(big.Rat).SetString(d.String())
			if !ok {
				t.Fatalf("%q prints as %q", a, d.String())
			}
			return r
		}
		if z, err := ParseDecimal(x.String()); err != nil || z.Cmp(x) != 0 || z.Scale() != x.Scale() {
			t.Fatalf("%s reads back as %s, %v", x, z, err)
		}
		p, q := rat(x), rat(y)
		same := func(op string, got Decimal, want *big.Rat) {
			if rat(got).Cmp(want) != 0 {
				t.Fatalf("%s %s %s = %s, want %s", x, op, y, got, want.FloatString(70))
			}
		}
		same("+", x.Add(y), new(big.Rat).Add(p, q))
		same("-", x.Sub(y), new(big.Rat).Sub(p, q))
		if x.Scale()+y.Scale() <= MaxDecimalScale {
			same("*", x.Mul(y), new(big.Rat).Mul(p, q))
		}
		for _, d := range []Decimal{x.Add(y), x.Mul(y), x.Rescale(MaxDecimalScale)} {
			if d.Overflows() {
				continue
			}
			if g := d.InGroups(); g.Digits() > 9*groups || g.Sub(d).Abs().Cmp(unitOf(g)) >= 0 {
				t.Fatalf("%s in groups is %s", d, g)
			}
			if err := CheckJSON(JSONDecimal(d)); err != nil {
				t.Fatalf("%s as JSON: %v", d, err)
			}
		}
		if got, want := x.Cmp(y), p.Cmp(q); got != want {
			t.Fatalf("%s against %s: %d, want %d", x, y, got, want)
		}
		if r, ok := x.Mod(y); ok != !y.IsZero() {
			t.Fatalf("%s %% %s: %v", x, y, ok)
		} else if ok && r.Abs().Cmp(y.Abs()) >= 0 {
			t.Fatalf("%s %% %s = %s", x, y, r)
		}
		if d, ok := x.Div(y, 4); ok && y.IsZero() {
			t.Fatalf("%s / %s = %s", x, y, d)
		}
		n := int(uint8(places) % 31)
		half := new(big.Rat).SetFrac64(1, 2)
		unit := new(big.Rat).SetFrac(big.NewInt(1), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil))
		diff := new(big.Rat).Sub(rat(x.Round(n)), p)
		if diff.Abs(diff).Cmp(half.Mul(half, unit)) > 0 {
			t.Fatalf("round(%s, %d) = %s", x, n, x.Round(n))
		}
	})
}

// unitOf is one of the last digit of d.
func unitOf(d Decimal) Decimal { return fromBig(big.NewInt(1), d.Scale()) }
