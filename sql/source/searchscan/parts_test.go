package searchscan

import (
	"math/bits"
	"math/rand/v2"
	"testing"

	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/sql/vec"
)

// TestCutHits: parts have each document once, in order, and about the same number; none
// begins within a block.
func TestCutHits(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	const words = vec.MaxRows / 64
	for round := range 200 {
		var hits []query.Hits
		total := 0
		for range rng.IntN(5) {
			h := query.Hits{Set: make([]uint64, rng.IntN(12*words))}
			for i := range h.Set {
				if rng.IntN(4) > 0 {
					h.Set[i] = rng.Uint64() & rng.Uint64()
				}
				h.Count += bits.OnesCount64(h.Set[i])
			}
			hits, total = append(hits, h), total+h.Count
		}
		parts := 1 + rng.IntN(6)
		list := cutHits(hits, parts)
		if len(list) == 0 || len(list) > parts {
			t.Fatalf("round %d: %d parts, want %d at most", round, len(list), parts)
		}
		seg, at := 0, 0 // where the next document may be
		for i, p := range list {
			found, from := 0, int(p.from>>6)
			if p.from%vec.MaxRows != 0 {
				t.Fatalf("round %d: part %d begins within a block, at %d", round, i, p.from)
			}
			for j, h := range p.hits {
				if j > 0 {
					from = 0
				}
				for at == len(hits[seg].Set) {
					seg, at = seg+1, 0
				}
				if from != at {
					t.Fatalf("round %d: part %d goes on at word %d, want %d", round, i, from, at)
				}
				n := 0
				for k, w := range h.Set[from:] {
					if w != hits[seg].Set[from+k] {
						t.Fatalf("round %d: part %d has other documents in word %d", round, i, from+k)
					}
					n += bits.OnesCount64(w)
				}
				if n != h.Count {
					t.Fatalf("round %d: part %d counts %d documents of %d", round, i, h.Count, n)
				}
				found, at = found+n, len(h.Set)
			}
			if each := (total + parts - 1) / parts; found > each+vec.MaxRows || i+1 < len(list) && found < each {
				t.Fatalf("round %d: part %d of %d has %d of %d documents", round, i, len(list), found, total)
			}
		}
		for seg < len(hits) && at == len(hits[seg].Set) {
			seg, at = seg+1, 0
		}
		if seg < len(hits) {
			t.Fatalf("round %d: the parts end in segment %d of %d", round, seg, len(hits))
		}
	}
}
