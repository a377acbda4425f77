package seg

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestKeep: a list leaves of a bitset what both have, by either way.
func TestKeep(t *testing.T) {
	const field, docs = 1, 30_000
	ix, err := Open(t.TempDir(), Schema{Fields: []Field{{ID: field, Kind: KindText}}}, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ix.Close() }()
	b := ix.NewBatch()
	for i := range docs {
		var tokens []Token
		for pos, every := range []int{1, 2, 7, 300, 9_000, docs} {
			if i%every == every/2 {
				tokens = append(tokens, Token{Term: fmt.Appendf(nil, "%d", every), Pos: uint32(pos + 1)})
			}
		}
		b.Upsert(fmt.Appendf(nil, "%06d", i))
		b.Text(field, tokens, len(tokens))
	}
	if err := ix.Apply(b); err != nil {
		t.Fatal(err)
	}
	s, err := ix.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	g := s.Segments()[0]
	text, err := g.Text(field)
	if err != nil {
		t.Fatal(err)
	}
	terms, err := text.Terms()
	if err != nil {
		t.Fatal(err)
	}
	r := rand.New(rand.NewPCG(5, 5))
	for _, every := range []int{1, 2, 7, 300, 9_000, docs} {
		l, err := terms.List(fmt.Appendf(nil, "%d", every))
		if err != nil || l == nil {
			t.Fatal(every, err)
		}
		has := make([]uint64, BitWords(g.Docs()))
		l.Into(has)
		for _, n := range []int{0, 1, 50, 3_000, 30_000} {
			set := make([]uint64, len(has))
			for range n {
				setBit(set, uint32(r.IntN(docs)))
			}
			want := slices.Clone(set)
			for i, w := range has {
				want[i] &= w
			}
			l.Keep(set, n)
			if !slices.Equal(set, want) {
				t.Errorf("a word of each %d, %d documents: %d are left, want %d", every, n, countBits(set), countBits(want))
			}
		}
	}
}
