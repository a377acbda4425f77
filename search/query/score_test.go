package query

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/search/text"
)

// lateStats are figures that have nothing to do with the documents.
type lateStats struct{}

func TestMain(m *testing.M) { testflag.Main(m) }

func (lateStats) Docs() int64                   { return 1000 }
func (lateStats) AvgLen() float64               { return 6.25 }
func (lateStats) DocFreq(leaf text.Query) int64 { return int64(len(leaf.String()) * 17 % 1001) }

// TestScore compares scores over the files with those of the texts, bit by bit, for
// random queries, and the first documents with a sort of all.
func TestScore(t *testing.T) {
	testflag.Normal(t)
	const fields, docs = 2, 3000
	r := rand.New(rand.NewPCG(1, 2))
	words := []string{"red", "reed", "read", "apple", "apples", "tree", "a", "b", "c"}
	s, all := scoreDocs(t, r, words, fields, docs)
	var among Hits
	for _, g := range s.Segments() {
		live, _ := g.Roots()
		among = Hits{Seg: g, Set: slices.Clone(live)}
	}
	for i := range among.Set {
		if i%3 == 1 {
			among.Set[i] &= r.Uint64()
		}
	}
	among.Count = countBits(among.Set)
	ids := []seg.FieldID{1, 2}
	for range testflag.Rounds(0, 150, 400) {
		q := randomQuery(r, words, 3)
		by := Score{{Fields: ids, Query: q, Stats: lateStats{}, Value: func(s float64) float64 { return s }}}
		vals, nulls, err := by.values(&among)
		if err != nil || nulls != nil {
			t.Fatal(q, err)
		}
		h := among
		list, _ := h.Docs(0, docs, nil)
		for n, d := range list {
			if want := all[d].Score(q, lateStats{}); math.Float64bits(vals[n]+0) != math.Float64bits(want+0) {
				t.Fatalf("%s: document %d has %v, want %v", q, d, vals[n], want)
			}
		}
		compareFirst(t, r, q, among, list, vals, by)
	}
}

func compareFirst(t *testing.T, r *rand.Rand, q text.Query, among Hits, list []uint32, vals []float64, by Score) {
	t.Helper()
	n, desc := 1+r.IntN(40), r.IntN(2) == 0
	order := slices.Clone(list)
	score := map[uint32]float64{}
	for i, d := range list {
		score[d] = vals[i]
	}
	slices.SortStableFunc(order, func(a, b uint32) int {
		x, y := score[a], score[b]
		if desc {
			x, y = y, x
		}
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	want := slices.Clone(order[:n])
	slices.Sort(want)
	hits := []Hits{{Seg: among.Seg, Set: slices.Clone(among.Set), Count: among.Count}}
	if err := First(hits, []Order{{By: by, Desc: desc, Workers: 2}, {ByID: true}}, n); err != nil {
		t.Fatal(err)
	}
	if got, _ := hits[0].Docs(0, len(list), nil); !slices.Equal(got, want) {
		t.Fatalf("%s, first %d, desc %v: %v, want %v", q, n, desc, got, want)
	}
}

// scoreDocs makes an index of random texts.
func scoreDocs(t *testing.T, r *rand.Rand, words []string, fields, docs int) (*seg.Snapshot, []*text.Doc) {
	t.Helper()
	var schema seg.Schema
	for f := range fields {
		schema.Fields = append(schema.Fields, seg.Field{ID: seg.FieldID(f + 1), Kind: seg.KindText})
	}
	ix, err := seg.Open(t.TempDir(), schema, seg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = ix.Close() })
	b := ix.NewBatch()
	all := make([]*text.Doc, docs)
	for i := range all {
		var doc []text.Token
		b.Upsert(fmt.Appendf(nil, "%09d", i))
		for f := range fields {
			if r.IntN(10) == 0 {
				continue
			}
			var tokens []seg.Token
			for p := range r.IntN(9) * (1 + r.IntN(8)) {
				w := words[r.IntN(len(words))]
				tokens = append(tokens, seg.Token{Term: []byte(w), Pos: uint32(p + 1), Start: uint32(8 * p), End: uint32(8*p + len(w))})
				doc = append(doc, text.Token{Term: w, Pos: f*1000 + p + 1})
			}
			b.Text(seg.FieldID(f+1), tokens, len(tokens))
		}
		all[i] = text.NewDoc(doc)
	}
	if err := ix.Apply(b); err != nil {
		t.Fatal(err)
	}
	s, err := ix.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s, all
}

func randomQuery(r *rand.Rand, words []string, deep int) text.Query {
	word := func() string { return words[r.IntN(len(words))] }
	several := func() (of []text.Query) {
		for range 1 + r.IntN(3) {
			of = append(of, randomQuery(r, words, deep-1))
		}
		return of
	}
	kind := r.IntN(12)
	if deep == 0 {
		kind = r.IntN(6)
	}
	switch kind {
	case 0, 1:
		return text.Term{Term: word()}
	case 2:
		return text.Prefix{Prefix: strings.ToLower(word()[:1])}
	case 3:
		return text.Fuzzy{Term: word(), Distance: 1 + r.IntN(2)}
	case 4:
		p := text.Phrase{Slop: r.IntN(2)}
		for i := range 1 + r.IntN(3) {
			p.Terms = append(p.Terms, text.PhraseTerm{Term: word(), At: i})
		}
		return p
	case 5:
		return text.Near{Of: []text.Query{text.Term{Term: word()}, text.Prefix{Prefix: word()[:1]}}, Window: 1 + r.IntN(4)}
	case 6, 7:
		return text.And{Of: several()}
	case 8, 9:
		return text.Or{Of: several(), Min: r.IntN(3)}
	case 10:
		if r.IntN(2) == 0 {
			return text.Not{Of: randomQuery(r, words, deep-1)}
		}
		return text.Boost{Of: randomQuery(r, words, deep-1), Factor: []float64{-1, 0.5, 2}[r.IntN(3)]}
	}
	return text.Should{Of: randomQuery(r, words, deep-1), Optional: several()}
}
