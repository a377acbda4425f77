package query

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/search/text"
)

// tallyDoc is a document of the test: nil is NULL.
type tallyDoc struct {
	word, narrow *int64
	key          []byte
	term         string
}

// TestTally compares what trees find, and how many documents, with conditions on
// the documents one by one: with few and many of them deleted, and left out.
func TestTally(t *testing.T) {
	testflag.Normal(t)
	t.Run("lists", func(t *testing.T) { testTally(t, false) })
	t.Run("no lists", func(t *testing.T) { testTally(t, true) })
}

func testTally(t *testing.T, unsorted bool) {
	r := rand.New(rand.NewPCG(7, 9))
	fields := []seg.Field{{ID: 1, Kind: seg.KindWord, Unsorted: unsorted}, {ID: 2, Kind: seg.KindWord, Unsorted: true}, {ID: 3, Kind: seg.KindKey, Unsorted: unsorted}, {ID: 4, Kind: seg.KindKey, Collated: true, Unsorted: unsorted}, {ID: 5, Kind: seg.KindText}}
	ix, err := seg.Open(t.TempDir(), seg.Schema{Fields: fields}, seg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ix.Close() }()
	docs := map[string]tallyDoc{}
	id := func(i int) []byte { return fmt.Appendf(nil, "%09d", i) }
	for part, deleted := range []int{0, 40, 1500} {
		b := ix.NewBatch()
		for i := range 4000 {
			var d tallyDoc
			n := part*10000 + i
			b.Upsert(id(n))
			if r.IntN(10) > 0 || part == 0 {
				w := int64(r.IntN(1 << 20))
				d.word = &w
				b.Word(1, w)
			}
			if r.IntN(10) > 0 {
				w := int64(r.IntN(50))
				d.narrow = &w
				b.Word(2, w)
			}
			if r.IntN(10) > 0 || part == 1 {
				d.key = fmt.Appendf(nil, "%c%d", 'a'+rune(r.IntN(4)), r.IntN(200))
				if r.IntN(2) == 0 {
					d.key = d.key[:1]
				}
				b.Key(3, nil, d.key)
				b.Key(4, d.key[:1], d.key)
			}
			d.term = fmt.Sprint("t", r.IntN(30))
			b.Text(5, []seg.Token{{Term: []byte(d.term), Pos: 1}}, 1)
			docs[string(id(n))] = d
		}
		if err := ix.Apply(b); err != nil {
			t.Fatal(err)
		}
		b = ix.NewBatch()
		for range deleted {
			n := id(part*10000 + r.IntN(4000))
			b.Delete(n)
			delete(docs, string(n))
		}
		if err := ix.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	snap, err := ix.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	for round := range 150 {
		v := &search.View{Snapshot: snap}
		for range []int{0, 0, 3, 2000}[r.IntN(4)] {
			v.Changed = append(v.Changed, id(r.IntN(3)*10000+r.IntN(4000)))
		}
		slices.SortFunc(v.Changed, bytes.Compare)
		v.Changed = slices.CompactFunc(v.Changed, bytes.Equal)
		n, is := tallyTree(r, r.IntN(3))
		want := 0
		for key, d := range docs {
			if _, out := slices.BinarySearchFunc(v.Changed, []byte(key), bytes.Compare); !out && is(d) {
				want++
			}
		}
		if round%10 == 0 {
			checkCounts(t, v, n, func(key string, d tallyDoc) bool {
				_, out := slices.BinarySearchFunc(v.Changed, []byte(key), bytes.Compare)
				return !out && is(d)
			}, docs)
		}
		for name, find := range map[string]func(*search.View, Node) ([]Hits, error){"Run": Run, "Tally": Tally} {
			hits, err := find(v, n)
			if err != nil {
				t.Fatal(err)
			}
			got := 0
			for i := range hits {
				got += hits[i].Count
				if name == "Run" && countBits(hits[i].Set) != hits[i].Count {
					t.Errorf("round %d: %d documents in the set, %d counted", round, countBits(hits[i].Set), hits[i].Count)
				}
			}
			if got != want {
				t.Errorf("round %d: %s of %#v without %d finds %d documents, not %d", round, name, n, len(v.Changed), got, want)
			}
		}
	}
}

// checkCounts compares the numbers of documents by each field with those of the
// documents one by one.
func checkCounts(t *testing.T, v *search.View, n Node, is func(key string, d tallyDoc) bool, docs map[string]tallyDoc) {
	t.Helper()
	hits, err := Run(v, n)
	if err != nil {
		t.Fatal(err)
	}
	for id := seg.FieldID(1); id <= 4; id++ {
		want, got := map[string]int64{}, map[string]int64{}
		for key, d := range docs {
			if !is(key, d) {
				continue
			}
			name := "NULL"
			switch w := []*int64{d.word, d.narrow}; {
			case id < 3 && w[id-1] != nil:
				name = fmt.Sprint(*w[id-1])
			case id == 3 && d.key != nil:
				name = string(d.key)
			case id == 4 && d.key != nil:
				name = string(d.key[:1])
			}
			want[name]++
		}
		g, err := GroupBy(t.Context(), hits, []Field{{ID: id}}, []Call{{Op: CountAll}}, 2, func(int64) error { return nil })
		if err != nil {
			t.Fatal(err)
		}
		for _, group := range g.IDs(nil) {
			name := "NULL"
			if id < 3 {
				if w, ok := g.Word(0, group); ok {
					name = fmt.Sprint(w)
				}
			} else if val, ok := g.Value(0, group); ok {
				if name = string(val); id == 4 {
					name = name[:1]
				}
			}
			got[name] += g.Count(group)
		}
		if !maps.Equal(got, want) {
			t.Fatalf("field %d of %#v: %d groups, not %d: %v, not %v", id, n, len(got), len(want), got, want)
		}
	}
}

// tallyTree is a tree, and what it means of a document.
func tallyTree(r *rand.Rand, depth int) (Node, func(d tallyDoc) bool) {
	if depth > 0 {
		a, isA := tallyTree(r, depth-1)
		b, isB := tallyTree(r, depth-1)
		c, isC := tallyTree(r, 0)
		switch r.IntN(4) {
		case 0:
			return Or{a, b}, func(d tallyDoc) bool { return isA(d) || isB(d) }
		case 1:
			return Not{Of: a}, func(d tallyDoc) bool { return !isA(d) }
		}
		return And{a, b, c}, func(d tallyDoc) bool { return isA(d) && isB(d) && isC(d) }
	}
	null := r.IntN(4) == 0
	switch r.IntN(5) {
	case 0, 1:
		id, limit := seg.FieldID(1), 1<<20
		if r.IntN(2) == 0 {
			id, limit = 2, 50
		}
		n := &Words{Field: id, Null: null}
		for range 1 + r.IntN(2) {
			lo := int64(r.IntN(limit))
			n.Ranges = append(n.Ranges, WordRange{Lo: lo, Hi: lo + int64(r.IntN(limit>>r.IntN(8)+1))})
		}
		return n, func(d tallyDoc) bool {
			v := d.word
			if id == 2 {
				v = d.narrow
			}
			return v == nil && null || v != nil && slices.ContainsFunc(n.Ranges, func(r WordRange) bool { return *v >= r.Lo && *v <= r.Hi })
		}
	case 2, 3:
		id, at := seg.FieldID(3), 200
		if r.IntN(2) == 0 {
			id, at = 4, 0
		}
		n := &Keys{Field: id, Null: null}
		for range 1 + r.IntN(2) {
			lo := fmt.Appendf(nil, "%c", 'a'+rune(r.IntN(5)))
			hi := append(bytes.Clone(lo), 0)
			if r.IntN(2) == 0 {
				hi = []byte{lo[0] + byte(r.IntN(3)), '9'}
			}
			if at > 0 && r.IntN(2) == 0 {
				lo = fmt.Appendf(lo, "%d", r.IntN(at))
			}
			if bytes.Compare(lo, hi) < 0 {
				n.Ranges = append(n.Ranges, KeyRange{Lo: lo, Hi: hi})
			}
		}
		return n, func(d tallyDoc) bool {
			key := d.key
			if id == 4 && key != nil {
				key = key[:1]
			}
			return key == nil && null || key != nil && slices.ContainsFunc(n.Ranges, func(r KeyRange) bool { return bytes.Compare(key, r.Lo) >= 0 && bytes.Compare(key, r.Hi) < 0 })
		}
	}
	term := fmt.Sprint("t", r.IntN(40))
	return &Match{Fields: []seg.FieldID{5}, Query: text.Term{Term: term}}, func(d tallyDoc) bool { return d.term == term }
}
