package value

import (
	"math"
	"math/big"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
)

// TestParseFloat compares with exact fractions: strconv is wrong for more than 800 digits
// before the point.
func TestParseFloat(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	digits := func() string {
		if rnd.IntN(4) == 0 {
			return ""
		}
		b := []byte(strings.Repeat("0", rnd.IntN(3)*rnd.IntN(2000)))
		for range rnd.IntN(3000) {
			b = append(b, '0'+byte(rnd.IntN(10)))
		}
		return string(b) + strings.Repeat("0", rnd.IntN(2)*rnd.IntN(3000)) + []string{"", "1"}[rnd.IntN(2)]
	}
	check := func(text string) {
		t.Helper()
		exact, ok := new(big.Rat).SetString(text)
		if !ok {
			t.Fatalf("no number: %.60s", text)
		}
		want, _ := exact.Float64()
		if got, err := ParseFloat([]byte(text)); got != want || (err != nil) != math.IsInf(want, 0) {
			t.Fatalf("%.60s… of %d, %s: %v, %.100v; want %v", text, len(text), text[max(0, len(text)-10):], got, err, want)
		}
	}
	for range 1000 {
		text := []string{"", "-", "+"}[rnd.IntN(3)] + digits()
		if rnd.IntN(2) == 0 {
			text += "." + digits()
		}
		if !strings.ContainsAny(text, "0123456789") {
			text += "7"
		}
		if rnd.IntN(2) == 0 {
			text += []string{"e", "E"}[rnd.IntN(2)] + []string{"", "-", "+"}[rnd.IntN(3)] + strings.Repeat("0", rnd.IntN(3)) + strconv.Itoa(rnd.IntN(6000))
		}
		check(text)
	}
	// What decides how it is rounded may come after any number of digits.
	half := "9007199254740993" + strings.Repeat("0", 5000)
	check(half)
	check(half + ".0")
	check(half + "1")
	check(half + ".0000000001")
	check(half + strings.Repeat("0", 3000) + "e-8000")
	check("-0." + strings.Repeat("0", 5000))
	for text, want := range map[string]float64{"1e" + strings.Repeat("9", 3000): math.Inf(1), "-1e" + strings.Repeat("9", 3000): math.Inf(-1), "1e-" + strings.Repeat("9", 3000): 0, "0e" + strings.Repeat("9", 3000): 0} {
		if got, _ := ParseFloat([]byte(text)); got != want {
			t.Errorf("%.20s: %v", text, got)
		}
	}
	check("0." + strings.Repeat("0", 5000) + "1e5001")
	check(strings.Repeat("0", 5000) + "12.5")
}
