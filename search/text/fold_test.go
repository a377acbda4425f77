package text

import (
	"math/rand"
	"testing"

	"github.com/sqlots/sqlots/collate"
)

func TestFolding(t *testing.T) {
	for _, c := range []struct{ in, lower, accents, both string }{
		{"ABC", "abc", "ABC", "abc"},
		{"Éa", "éa", "Ea", "ea"},
		{"E\u0301", "é", "E", "e"},
		{"ẞß", "ssss", "ẞß", "ssss"},
		{"Ærøđ", "ærøđ", "AErod", "aerod"},
		{"ＡＢ１", "ab1", "AB1", "ab1"},
		{"ΌΣΟΣ ς", "όσοσ σ", "ΟΣΟΣ ς", "οσοσ σ"},
		{"がｶﾞ", "がガ", "がガ", "がガ"},
		{"각ᄀ", "각ᄀ", "각ᄀ", "각ᄀ"},
		{"中\ufe00", "中\ufe00", "中", "中"},
		{"Ёж", "ёж", "Еж", "еж"},
		{"हिन्दी", "हिन्दी", "हिन्दी", "हिन्दी"},
		{"كِتَاب", "كِتَاب", "كتاب", "كتاب"},
	} {
		for f, want := range map[folding]string{{}: c.in, {lower: true}: c.lower, {accents: true}: c.accents, {true, true}: c.both} {
			if got := f.term(c.in); got != want {
				t.Errorf("%+v of %q: got %q, want %q", f, c.in, got, want)
			}
		}
	}
}

// TestLatinFolding compares the fast way with the general one.
func TestLatinFolding(t *testing.T) {
	r := rand.New(rand.NewSource(4))
	for range 20000 {
		s := make([]rune, 1+r.Intn(6))
		for i := range s {
			s[i] = rune(0x20 + r.Intn(latinEnd-0x20))
		}
		for _, f := range []folding{{true, true}, {true, false}, {false, true}} {
			if got, ok := f.latin(string(s)); !ok || got != f.full(string(s)) {
				t.Fatalf("%+v of %q: got %q, want %q", f, string(s), got, f.full(string(s)))
			}
		}
	}
}

// TestFoldingIsTheCollations: letters of European languages fold together when
// MySQL's default collation finds them equal, and only then.
func TestFoldingIsTheCollations(t *testing.T) {
	c, _ := collate.ByName("utf8mb4_0900_ai_ci")
	full := folding{true, true}
	for a := rune('A'); a <= 'z'; a++ {
		for b := rune(0xC0); b < 0x180; b++ {
			equal := c.Compare([]byte(string(a)), []byte(string(b))) == 0
			if folds := full.term(string(a)) == full.term(string(b)); folds != equal && b != 0x13F && b != 0x140 {
				t.Errorf("%c and %c: equal %v, fold together %v", a, b, equal, folds)
			}
		}
	}
}
