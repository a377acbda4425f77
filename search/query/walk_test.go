package query

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/seg"
)

// TestWalk compares the first documents by a number that permutations give with
// those that reading all values gives.
func TestWalk(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 1))
	fields := []seg.Field{{ID: 1, Kind: seg.KindWord}, {ID: 2, Kind: seg.KindWord}, {ID: 3, Kind: seg.KindWord}, {ID: 4, Kind: seg.KindWord, Unsorted: true}}
	ix, err := seg.Open(t.TempDir(), seg.Schema{Fields: fields}, seg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ix.Close() }()
	for part := range 3 {
		b := ix.NewBatch()
		for i := range 3000 {
			b.Upsert(fmt.Appendf(nil, "%d-%d", part, i))
			if wide := r.Int64(); part != 2 {
				b.Word(1, wide-1<<62) // none has one in the last part
				b.Word(4, wide-1<<62)
			}
			if r.IntN(3) > 0 {
				b.Word(2, int64(r.IntN(20)-10)) // many are equal, and -1 may be 0
			}
			b.Word(3, int64(i%4))
		}
		if err := ix.Apply(b); err != nil {
			t.Fatal(err)
		}
		b = ix.NewBatch()
		for range 100 {
			b.Delete(fmt.Appendf(nil, "%d-%d", part, r.IntN(3000)))
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
	v := &search.View{Snapshot: snap}
	find := func() []Hits {
		hits, err := Run(v, &Words{Field: 3, Ranges: []WordRange{{Lo: 1, Hi: 2}}})
		if err != nil {
			t.Fatal(err)
		}
		return hits
	}
	walks := 0
	for round := range 200 {
		o := Order{Field: Field{ID: seg.FieldID(1 + r.IntN(2)), Zeros: r.IntN(2) == 0}, Desc: r.IntN(2) == 0}
		n := 1 + r.IntN([]int{3, 60, 700}[r.IntN(3)])
		hits, cols, nulls, total := find(), []*column(nil), 0, 0
		for i := range hits {
			c, err := open(hits[i].Seg, o.Field.ID)
			if err != nil {
				t.Fatal(err)
			}
			c.zeros = o.Field.Zeros
			cols = append(cols, c)
			for j, w := range hits[i].Set {
				nulls += countBits([]uint64{w & c.nullWord(j)})
			}
			total += hits[i].Count
		}
		if n > total-nulls {
			continue
		}
		list, ok := walk(hits, cols, o.Desc, n)
		if !ok {
			continue
		}
		walks++
		last := lastOf(list, n)
		if want := nth(hits, cols, o.Desc, n) ^ flipOf(o.Desc); last != want {
			t.Fatalf("round %d: the last of %d is %d, not %d", round, n, last, want)
		}
		for i := range hits {
			before, equal := make([]uint64, len(hits[i].Set)), make([]uint64, len(hits[i].Set))
			hits[i].around(cols[i], last^flipOf(o.Desc), o.Desc, before, equal)
			for _, d := range list {
				if d.hits != i {
					continue
				}
				set := before
				if d.val == last {
					set = equal
				}
				if bit := uint64(1) << (d.doc & 63); d.val <= last {
					if set[d.doc>>6]&bit == 0 {
						t.Fatalf("round %d: document %d of value %d", round, d.doc, d.val)
					}
					set[d.doc>>6] &^= bit
				}
			}
			if !isEmpty(before) || !isEmpty(equal) {
				t.Fatalf("round %d: %d and %d documents were not found", round, countBits(before), countBits(equal))
			}
		}
	}
	if walks < 50 {
		t.Errorf("%d walks", walks)
	}
}
