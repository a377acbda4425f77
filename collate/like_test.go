package collate

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestLikeLeads compares matches that pass over the bytes with which the first
// character of a part cannot begin with those that look at each character.
func TestLikeLeads(t *testing.T) {
	for _, name := range names {
		c, _ := ByName(name)
		r := rand.New(rand.NewPCG(9, uint64(c.ID)))
		found := 0
		for range testflag.Pick(400, 3_000, 8_000) {
			var text, pattern []byte
			for range r.IntN(5) {
				text = append(text, randText(r, c)...)
			}
			if r.IntN(8) == 0 {
				text = append(text, byte(r.IntN(256)))
			}
			for range 1 + r.IntN(3) {
				pattern = append(pattern, '%')
				if r.IntN(3) == 0 {
					pattern = append(pattern, randText(r, c)...)
				} else if len(text) > 0 {
					from := r.IntN(len(text))
					pattern = append(pattern, text[from:from+r.IntN(min(len(text)-from, 4)+1)]...)
				}
			}
			if r.IntN(2) == 0 {
				pattern = append(pattern, '%')
			}
			l := c.NewLike(pattern, '\\')
			slow := l
			slow.parts = slices.Clone(l.parts)
			for i := range slow.parts {
				slow.parts[i].lead = nil
			}
			got, want := isLike(l, text), isLike(slow, text)
			if got != want {
				t.Fatalf("%s: %q LIKE %q: %v, want %v", name, text, pattern, got, want)
			}
			if got {
				found++
			}
		}
		if found == 0 {
			t.Errorf("%s: nothing matched", name)
		}
	}
}

// BenchmarkLike looks for words in a comment that has their first letters.
func BenchmarkLike(b *testing.B) {
	c, _ := ByName("utf8mb4_0900_ai_ci")
	text := []byte("blithely silent deposits sleep slyly across the sp")
	for _, p := range []string{"%special%requests%", "%requests%", "%ss%"} {
		l := c.NewLike([]byte(p), '\\')
		b.Run(p, func(b *testing.B) {
			for range b.N {
				l.Match(text)
			}
		})
	}
}
