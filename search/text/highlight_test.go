package text

import (
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestHighlight(t *testing.T) {
	fox := "The quick brown fox jumps over the lazy dog. A fox is an animal; the quick one runs. Nothing more here, only words and words until the end, where a dog waits for the fox."
	whole := Highlighting{Pre: "[", Post: "]"}
	short := Highlighting{Pre: "[", Post: "]", FragmentSize: 30, Fragments: 2}
	byScore := short
	byScore.Order = ByScore
	asHTML := Highlighting{Pre: "<b>", Post: "</b>", HTML: true}
	for _, c := range []struct {
		spec, text, query string
		h                 Highlighting
		want              []string
	}{
		{"single_word", "Apple and apples, APPLE", "apple", whole, []string{"[Apple] and apples, [APPLE]"}},
		{"single_word", "nothing", "apple", whole, nil},
		{"single_word", "", "apple", whole, nil},
		{"single_word", "中华人民共和国-国歌", `"人民"`, whole, []string{"中华[人民]共和国-国歌"}},
		{"single_word", "人人民", `"人民"`, whole, []string{"人[人民]"}},
		{"single_word", "a b a c", `"a b"`, whole, []string{"[a] [b] a c"}},
		{"single_word", "a b c", "+a -d b", whole, []string{"[a] [b] c"}},
		{"single_word", "a b c", "a ~b", whole, []string{"[a] b c"}},
		{"single_word", "a b c", "(+a +d) c", whole, []string{"a b [c]"}},
		{"single_word", "a x b y b z a", `"a b"@3`, whole, []string{"[a] x [b] y [b] z [a]"}},
		{"single_word", "Café CAFE\u0301s", "cafe*", whole, []string{"[Café] [CAFE\u0301s]"}},
		{"max_word", "中华人民共和国国歌", "人民共和国", whole, []string{"中华[人民共和国]国歌"}},
		{"fuzzy", "iPhone6s", "phone", whole, []string{"i[Phone]6s"}},
		{"fuzzy", "Straße", "ss", whole, []string{"Stra[ß]e"}},
		{"english", "He runs and is running", "run", whole, []string{"He [runs] and is [running]"}},
		{"single_word", "a <b> & c", "b", asHTML, []string{"a &lt;<b>b</b>&gt; &amp; c"}},
		{"single_word", fox, "fox quick", short, []string{"The [quick] brown [fox] jumps over", "[fox] is an animal; the [quick]"}},
		{"single_word", fox, "dog", byScore, []string{"the lazy [dog]. A fox is an", "end, where a [dog] waits for the"}},
		{"single_word", strings.Repeat("长", 100) + "江" + strings.Repeat("长", 100), "江", Highlighting{Pre: "[", Post: "]", FragmentSize: 5, Fragments: 1}, []string{"长长[江]长长"}},
		{"single_word", "incomprehensibilities", "incomprehensibilities", Highlighting{FragmentSize: 3, Fragments: 1}, []string{"incomprehensibilities"}},
	} {
		a := mustParse(t, c.spec)
		q, err := a.Boolean(c.query)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Highlight(c.text, q, c.h); !slices.Equal(got, c.want) {
			t.Errorf("%s: %q in %q:\n got %q\nwant %q", c.spec, c.query, c.text, got, c.want)
		}
	}
}

// FuzzHighlight checks that fragments are parts of the text and the whole text
// stays whole.
func FuzzHighlight(f *testing.F) {
	for i, s := range samples {
		f.Add(s, "a* the* 中 "+s, uint8(i), uint8(i*7))
	}
	f.Fuzz(func(t *testing.T, text, query string, which, size uint8) {
		all := analyzers()
		a := all[int(which)%len(all)]
		q, err := a.Natural(query)
		if err != nil || strings.ContainsAny(text, "[]") {
			return
		}
		untag := strings.NewReplacer("[", "", "]", "").Replace
		h := Highlighting{Pre: "[", Post: "]"}
		matches := NewDoc(a.Tokens(nil, text)).Matches(q)
		whole := a.Highlight(text, q, h)
		if (len(whole) == 1) != matches || matches && untag(whole[0]) != text {
			t.Fatalf("%s: %q in %q: %q", a.Spec(), q, text, whole)
		}
		h.FragmentSize, h.Fragments = int(size), 3
		rest := text
		for _, part := range a.Highlight(text, q, h) {
			_, after, ok := strings.Cut(rest, untag(part))
			if !ok || !strings.Contains(part, "[") || strings.Count(part, "[") != strings.Count(part, "]") {
				t.Fatalf("%s: fragment %q of %q", a.Spec(), part, text)
			}
			if utf8.ValidString(text) && !utf8.ValidString(part) {
				t.Fatalf("%s: fragment %q of %q cuts a character", a.Spec(), part, text)
			}
			rest = after
		}
	})
}
