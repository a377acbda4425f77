package query

import (
	"fmt"
	"math"
	"testing"

	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/search/text"
)

// TestMatchCount compares what Estimate says of phrases with what is found:
// exactly for few documents, about for many.
func TestMatchCount(t *testing.T) {
	const field, docs = 1, 40_000
	ix, err := seg.Open(t.TempDir(), seg.Schema{Fields: []seg.Field{{ID: field, Kind: seg.KindText}}}, seg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ix.Close() }()
	b := ix.NewBatch()
	for i := range docs {
		words := []string{"red", "apple", "tree"}
		if i%3 == 0 {
			words[0], words[1] = words[1], words[0]
		}
		if i%5000 == 0 {
			words = append(words, "rare", "bird")
		}
		var tokens []seg.Token
		for p, w := range words {
			tokens = append(tokens, seg.Token{Term: []byte(w), Pos: uint32(p + 1), Start: uint32(8 * p), End: uint32(8*p + len(w))})
		}
		b.Upsert(fmt.Appendf(nil, "%09d", i))
		b.Text(field, tokens, len(tokens))
		if i%10_000 == 9_999 { // segments of equal size
			if err := ix.Apply(b); err != nil {
				t.Fatal(err)
			}
			b = ix.NewBatch()
		}
	}
	s, err := ix.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	phrase := func(words ...string) text.Query {
		var p text.Phrase
		for i, w := range words {
			p.Terms = append(p.Terms, text.PhraseTerm{Term: w, At: i})
		}
		return p
	}
	common, rare := phrase("red", "apple"), phrase("rare", "bird")
	for _, q := range []text.Query{
		common, rare, phrase("apple", "red", "tree"), phrase("bird", "rare"), text.Not{Of: common},
		text.And{Of: []text.Query{common, text.Not{Of: phrase("apple", "tree")}}}, text.Or{Of: []text.Query{phrase("apple", "red"), rare}},
		text.And{Of: []text.Query{text.Term{Term: "rare"}, text.Term{Term: "bird"}}}, text.And{Of: []text.Query{text.Term{Term: "red"}, text.Term{Term: "apple"}, text.Term{Term: "bird"}}},
		text.And{Of: []text.Query{text.Term{Term: "red"}, text.Term{Term: "none"}}},
		text.Near{Of: []text.Query{text.Term{Term: "red"}, common}, Window: 3},
	} {
		m := &Match{Fields: []seg.FieldID{field}, Query: q}
		found := 0
		for _, g := range s.Segments() {
			set, err := m.eval(g, nil)
			if err != nil {
				t.Fatal(err)
			}
			found += countBits(set)
		}
		about, err := Estimate(s, m)
		if err != nil {
			t.Fatal(err)
		}
		if slack := float64(found) / 10; math.Abs(about-float64(found)) > slack && math.Abs(about-float64(found)) > 1 {
			t.Errorf("%#v: about %.0f, found %d", q, about, found)
		}
	}
}

// TestFuzzyDistance compares the automata over terms of a segment with the
// evaluation of one text.
func TestFuzzyDistance(t *testing.T) {
	var words []string
	var add func(prefix string, n int)
	add = func(prefix string, n int) {
		words = append(words, prefix)
		if n > 0 {
			for _, r := range "ab'é中😀" {
				add(prefix+string(r), n-1)
			}
		}
	}
	add("", 4)
	for i := 0; i < len(words); i += 11 {
		for distance := range 3 {
			a, err := seg.Fuzzy(words[i], distance)
			if err != nil {
				t.Fatal(err)
			}
			for _, w := range words {
				state := a.Start()
				for j := range len(w) {
					state = a.Accept(state, w[j])
				}
				if got, want := a.IsMatch(state), text.WithinDistance(words[i], w, distance); got != want {
					t.Fatalf("%q within %d of %q: %t, want %t", w, distance, words[i], got, want)
				}
			}
		}
	}
}
