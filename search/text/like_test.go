package text

import (
	"fmt"
	"math/rand"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/internal/testflag"
)

func TestMain(m *testing.M) { testflag.Main(m) }

func TestParseLike(t *testing.T) {
	for _, c := range []struct {
		pattern string
		escape  rune
		want    string
		cheap   bool
	}{
		{"", '\\', `"" "" exact [] 0 0`, true},
		{"abc", '\\', `"abc" "abc" exact ["abc"] 0 0`, true},
		{"abc%", '\\', `"abc" "" ["abc"] 1 0`, true},
		{"%abc", '\\', `"" "abc" ["abc"] 1 0`, true},
		{"a%%b_c", '\\', `"a" "c" ["a" "b" "c"] 1 1`, true},
		{`a\%b%`, '\\', `"a%b" "" ["a%b"] 1 0`, true},
		{`a\\%`, '\\', `"a\\" "" ["a\\"] 1 0`, true},
		{`a\`, '\\', `"a\\" "a\\" exact ["a\\"] 0 0`, true},
		{`a|_b\%`, '|', `"a_b\\" "" ["a_b\\"] 1 0`, true},
		{`a\%`, 0, `"a\\" "" ["a\\"] 1 0`, true},
		{"%中_国%", '\\', `"" "" ["中" "国"] 2 1`, true},
		{"____________", '\\', `"" "" [] 0 12`, true},
		{"%a___________b", '\\', `"" "b" ["a" "b"] 1 11`, false},
		{strings.Repeat("a%", 40), '\\', "", false},
	} {
		p := ParseLike(c.pattern, c.escape)
		exact := ""
		if p.Exact {
			exact = "exact "
		}
		got := fmt.Sprintf("%q %q %s%q %d %d", p.Prefix, p.Suffix, exact, p.Pieces, p.Many, p.One)
		if c.want != "" && got != c.want || p.Cheap() != c.cheap {
			t.Errorf("%s: got %s, cheap %v", c.pattern, got, p.Cheap())
		}
	}
}

// TestOddCharacters compares with the collations which characters they find
// equal to plain ones though folding does not.
func TestOddCharacters(t *testing.T) {
	full := folding{true, true}
	names := []string{"utf8mb4_0900_ai_ci", "utf8mb4_general_ci", "utf8mb4_unicode_520_ci", "utf8mb4_0900_as_cs", "utf8mb4_unicode_ci", "utf8mb4_0900_as_ci"}
	names = names[:testflag.Pick(1, 2, len(names))]
	for _, name := range names {
		c, ok := collate.ByName(name)
		if !ok {
			t.Fatal(name)
		}
		safe, odd := safeCharacters(full, c)
		if safe == nil || !odd {
			t.Fatalf("%s: no characters are safe", name)
		}
		byKey := map[string][]rune{}
		key := func(r rune) string { return string(c.AppendKey(nil, []byte(string(r)))) }
		for r := rune('0'); r <= 0x9FFF; r++ {
			if safe(r) {
				byKey[key(r)] = append(byKey[key(r)], r)
			}
		}
		for x := rune(1); x <= 0x1FFFF; x++ {
			if 0xD800 <= x && x <= 0xDFFF {
				continue
			}
			for _, r := range byKey[key(x)] {
				if full.term(string(x)) != full.term(string(r)) && !isOdd(x) {
					t.Errorf("%s: %c equals %c (%U), which is not odd", name, r, x, x)
				}
			}
		}
	}
}

// TestLikeCandidates checks that no text that is LIKE a pattern is missed.
func TestLikeCandidates(t *testing.T) {
	r := rand.New(rand.NewSource(3))
	chars := []string{"a", "A", "b", "é", "e", "E\u0301", "e\u0323\u0301", "中", "国", "-", " ", "_", "ß", "s", "S", "ı", "i", "æ", "1", "１", "١", "²", "か", "が", "か\u3099",
		"カ", "ｶ", "각", "\u1100\u1161", "🅐", "⺠", "民", "ð", "d", "\u0363", "ő", "σ", "ς", "İ", "\u200b", "K", "Å"}
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(chars[r.Intn(len(chars))])
		}
		return b.String()
	}
	for _, spec := range []string{"fuzzy", "fuzzy(min_chars=2)", "fuzzy(case_sensitive=true, accent_sensitive=true)", "fuzzy(accent_sensitive=true)", "single_word"} {
		a := mustParse(t, spec)
		for _, name := range []string{"utf8mb4_0900_ai_ci", "utf8mb4_0900_as_cs", "utf8mb4_general_ci", "utf8mb4_unicode_ci", "utf8mb4_bin", "utf8mb4_0900_bin", "utf8mb4_turkish_ci", "binary"} {
			c, _ := collate.ByName(name)
			asked, like, found := 0, 0, 0
			for range 3000 {
				doc := text(1 + r.Intn(8))
				pattern := ""
				for range 1 + r.Intn(3) {
					pattern += []string{"%", "_", "", "%"}[r.Intn(4)] + text(r.Intn(2))
				}
				if r.Intn(2) == 0 { // a part of the text
					runes := []rune(doc)
					i := r.Intn(len(runes))
					pattern = "%" + strings.ReplaceAll(string(runes[i:i+1+r.Intn(len(runes)-i)]), "_", "\\_") + "%"
				}
				q, ok := a.LikeCandidates(ParseLike(pattern, '\\'), c)
				if !ok {
					continue
				}
				asked++
				is, candidate := isLike(c.NewLike([]byte(pattern), '\\'), []byte(doc)), NewDoc(a.Tokens(nil, doc)).Matches(q)
				if is && !candidate {
					t.Fatalf("%s, %s: %q LIKE %q is missed by %s", spec, name, doc, pattern, q)
				}
				if is {
					like++
				}
				if candidate {
					found++
				}
			}
			able := a.spec.Name == "fuzzy" && (strings.HasSuffix(name, "bin") || spec[len("fuzzy"):] == "" || strings.Contains(spec, "min_chars")) && name != "utf8mb4_turkish_ci" && name != "binary"
			if able != (asked > 0) || able && (like < 50 || found == asked) {
				t.Errorf("%s, %s: %d patterns asked, %d texts are like, %d are candidates", spec, name, asked, like, found)
			}
		}
	}
}

func FuzzLike(f *testing.F) {
	f.Add("a%b", "aXb")
	f.Add(`%中\_国_`, "中_国x")
	a := mustParse(f, "fuzzy")
	c, _ := collate.ByName("utf8mb4_0900_ai_ci")
	f.Fuzz(func(t *testing.T, pattern, text string) {
		p := ParseLike(pattern, '\\')
		q, ok := a.LikeCandidates(p, c)
		if c.Valid([]byte(pattern)) && c.Valid([]byte(text)) && isLike(c.NewLike([]byte(pattern), '\\'), []byte(text)) {
			if ok && !NewDoc(a.Tokens(nil, text)).Matches(q) {
				t.Fatalf("%q LIKE %q is missed by %s", text, pattern, q)
			}
		}
	})
}

func isLike(l collate.Like, s []byte) bool { return l.Match(s) }
