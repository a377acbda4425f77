package collate

import (
	"bytes"
	"errors"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

func noWork(int) error { return nil }

// findable are collations of each kind that Find tells apart.
var findable = []string{"utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_0900_as_ci", "utf8mb4_general_ci", "utf8mb3_general_ci", "utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci", "utf8mb4_es_trad_0900_ai_ci", "utf8mb4_ja_0900_as_cs", "utf8mb4_ja_0900_as_cs_ks", "utf8mb4_czech_ci", "utf8mb4_danish_ci", "utf8mb4_da_0900_ai_ci", "utf8mb4_hu_0900_ai_ci", "utf8mb4_croatian_ci", "latin1_swedish_ci", "latin1_general_cs", "cp1250_czech_cs", "gbk_chinese_ci", "utf16_general_ci"}

// TestFind compares what the hash finds with what comparing each part does.
func TestFind(t *testing.T) {
	testflag.Normal(t)
	alphabets := [][]rune{[]rune("aAbB "), []rune("aàáâÀÁÂ e\u0301é "), []rune("ab\u0301\u0300 \u00ad\u200b"), []rune("chcCHhll "), []rune("ssßSS ﬁfi½1⁄2 "), []rune("あアー ｱ"), []rune("aAaAb "), []rune("dDzZsS"), []rune("あアｱか"), []rune("ーあアかゝヽ"), []rune("ーんンaゞ亜")}
	rnd := rand.New(rand.NewPCG(3, 5))
	for _, name := range findable {
		c, ok := ByName(name)
		if !ok {
			continue
		}
		found, chained := 0, 0
		for i := range 3000 {
			letters := alphabets[i%len(alphabets)]
			text := func(n int) (out []byte) {
				for range n {
					if b, ok := c.AppendRune(nil, letters[rnd.IntN(len(letters))]); ok {
						out = append(out, b...)
					}
				}
				return out
			}
			s := text(rnd.IntN(60))
			needle := text(rnd.IntN(4))
			if rnd.IntN(2) == 0 && len(s) > 0 { // a part of s, changed
				from := c.PrefixLen(s, rnd.IntN(c.CharLen(s)))
				needle = bytes.Clone(s[from : from+c.PrefixLen(s[from:], rnd.IntN(20))])
				if rnd.IntN(2) == 0 {
					needle = c.ToUpper(nil, needle)
				}
			}
			if len(needle) == 0 || len(needle) > len(s) || !c.Valid(needle) || !c.Valid(s) {
				continue
			}
			want, _, err := c.findInTurn(s, needle, true, false, noWork)
			if err != nil {
				t.Fatal(err)
			}
			if want >= 0 {
				found++
			}
			if got, err := c.Find(s, needle, noWork); got != want || err != nil {
				t.Fatalf("%s: %q in %q at %d (%v), want %d", name, needle, s, got, err, want)
			}
			if c.class == classOther || c.class == class0900 {
				chained++
				find := c.findByChains
				if c.japanese {
					find = c.findJapanese
				}
				if got, err := find(s, needle, 0, noWork); got != want || err != nil {
					t.Fatalf("%s: %q in %q at %d by chains (%v), want %d", name, needle, s, got, err, want)
				}
			}
			if !c.hasOwnWeights() {
				continue
			}
			if got, err := c.findByHash(s, needle, noWork); got != want || err != nil {
				t.Fatalf("%s: %q in %q at %d by hash (%v), want %d", name, needle, s, got, err, want)
			}
		}
		if found < 300 || chained < 300 && !c.hasOwnWeights() {
			t.Errorf("%s: %d parts were found, %d looked for by chains", name, found, chained)
		}
	}
}

// TestFindIsLinear: a long needle that almost matches everywhere costs work in proportion to
// the lengths.
func TestFindIsLinear(t *testing.T) {
	for _, name := range []string{"utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_general_ci", "latin1_swedish_ci"} {
		c, _ := ByName(name)
		s, needle := []byte(strings.Repeat("a", 200_000)), []byte(strings.Repeat("A", 100_000)+"b")
		done := 0
		at, err := c.Find(s, needle, func(n int) error { done += n; return nil })
		if at != -1 || err != nil || done > 10*len(s) {
			t.Errorf("%s: at %d, %v, work %d", name, at, err, done)
		}
	}
	// Contractions: two chains of aa in Danish, chains that end and begin; and marks that have
	// the weight of what comes before.
	units := []string{"a", "aab", "aaaaaaab", "ch", "ddzs", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaach", "ー", "あー", "ゝゝｱー"}
	for _, name := range []string{"utf8mb4_danish_ci", "utf8mb4_da_0900_ai_ci", "utf8mb4_croatian_ci", "utf8mb4_es_trad_0900_ai_ci", "utf8mb4_ja_0900_as_cs", "utf8mb4_ja_0900_as_cs_ks", "utf8mb4_zh_0900_as_cs", "utf8mb4_hu_0900_ai_ci"} {
		c, _ := ByName(name)
		find := c.findByChains
		if c.japanese {
			find = c.findJapanese
		}
		for _, unit := range units {
			n := 20_000 / len(unit)
			end := "x"
			if unit[0] >= 0x80 {
				end = "ん" // parts end between characters
			}
			s, needle := []byte(strings.Repeat(unit, n)), []byte(strings.Repeat(unit, n/2)+end)
			done := 0
			at, err := find(s, needle, 0, func(n int) error { done += n; return nil })
			if at != -1 || err != nil || done > 40*len(s) {
				t.Errorf("%s, %s: at %d, %v, work %d", name, unit, at, err, done)
			}
		}
	}
}

// TestFindEnds: an error of work ends the search.
func TestFindEnds(t *testing.T) {
	c, _ := ByName("utf8mb4_0900_ai_ci")
	stop := errors.New("stop")
	for _, needle := range []string{"b", strings.Repeat("b", 1000)} {
		left := 20_000
		_, err := c.Find([]byte(strings.Repeat("a", 10_000)), []byte(needle), func(n int) error {
			if left -= n; left < 0 {
				return stop
			}
			return nil
		})
		if !errors.Is(err, stop) {
			t.Errorf("%.10s: %v", needle, err)
		}
	}
}
