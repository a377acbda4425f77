package text

import (
	"math/rand"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/search/text/dict"
)

// TestPhraseIsSubstring: of Chinese text, a phrase finds exactly the parts of
// the text, with every analyzer that indexes all characters.
func TestPhraseIsSubstring(t *testing.T) {
	r := rand.New(rand.NewSource(5))
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteRune([]rune("中国人")[r.Intn(3)])
		}
		return b.String()
	}
	for _, spec := range []string{"single_word", "cjk", "fuzzy", "fuzzy(min_chars=2)", "ngram(token_size=1)", "standard"} {
		a := mustParse(t, spec)
		for range 5000 {
			doc, part := text(r.Intn(12)), text(1+r.Intn(5))
			q, err := a.MatchPhrase(part)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := NewDoc(a.Tokens(nil, doc)).Matches(q), strings.Contains(doc, part); got != want {
				t.Fatalf("%s: %s in %s: got %v by %s", spec, part, doc, got, q)
			}
		}
	}
}

// TestMaxWordFindsWords: with max_word each word of the dictionary is found wherever it
// is a part of the text, whatever is around it.
func TestMaxWordFindsWords(t *testing.T) {
	words, err := dict.Load()
	if err != nil {
		t.Fatal(err)
	}
	a := mustParse(t, "max_word")
	text := []rune("中华人民共和国国歌是义勇军进行曲南京市长江大桥位于江苏省每天有许多研究生在这里学习计算机科学与技术结婚的和尚未结婚的")
	r := rand.New(rand.NewSource(6))
	for range 300 {
		doc := text[r.Intn(len(text)-1):]
		doc = doc[:1+r.Intn(len(doc))]
		d := NewDoc(a.Tokens(nil, string(doc)))
		for i := range text {
			for j := i + 2; j <= len(text) && j < i+8; j++ {
				word := string(text[i:j])
				if !words.Has(word) {
					continue
				}
				for _, mode := range []string{"phrase", "boolean"} {
					q, err := read(a, mode, word)
					if err != nil {
						t.Fatal(err)
					}
					if got, want := d.Matches(q), strings.Contains(string(doc), word); got != want {
						t.Fatalf("%s in %s: got %v by %s", word, string(doc), got, q)
					}
				}
			}
		}
	}
}
