package query

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/seg"
)

// TestParallel compares what several goroutines find in one large segment, and compute of
// it, with what one does, and both with the documents.
func TestParallel(t *testing.T) {
	const docs = 2*parallelScan + 5000
	r := rand.New(rand.NewPCG(5, 1))
	fields := []seg.Field{{ID: 1, Kind: seg.KindWord, Unsorted: true}, {ID: 2, Kind: seg.KindWord, Unsorted: true}, {ID: 3, Kind: seg.KindWord, Unsorted: true}, {ID: 4, Kind: seg.KindKey, Unsorted: true}}
	ix, err := seg.Open(t.TempDir(), seg.Schema{Fields: fields}, seg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ix.Close() }()
	// Of each document: less than 1000, of five bytes, perhaps NULL, and deleted ones.
	small, wide, some := make([]int64, docs), make([]int64, docs), make([]int64, docs)
	null, gone := make([]bool, docs), make([]bool, docs)
	names := [][]byte{[]byte("a"), []byte("bb"), []byte("c"), nil}
	b := ix.NewBatch()
	for i := range docs {
		b.Upsert(binary.BigEndian.AppendUint32(nil, uint32(i)))
		small[i], wide[i], some[i], null[i] = r.Int64N(1000), -1<<33+r.Int64N(1<<36), int64(i/100), r.IntN(9) == 0
		b.Word(1, small[i])
		b.Word(2, wide[i])
		if !null[i] {
			b.Word(3, some[i])
		}
		if name := names[r.IntN(4)]; name != nil {
			b.Key(4, name, name)
		}
	}
	if err := ix.Apply(b); err != nil {
		t.Fatal(err)
	}
	b = ix.NewBatch()
	for range 500 { // they leave whole blocks
		i := docs/3 + r.IntN(docs/3)
		b.Delete(binary.BigEndian.AppendUint32(nil, uint32(i)))
		gone[i] = true
	}
	if err := ix.Apply(b); err != nil {
		t.Fatal(err)
	}
	snap, err := ix.Snapshot()
	if err != nil {
		t.Fatal(err)
	}
	defer snap.Close()
	if n := len(snap.Segments()); n != 1 {
		t.Fatalf("%d segments", n)
	}
	v := &search.View{Snapshot: snap}
	cases := []struct {
		node Words
		is   func(i int) bool
	}{
		{Words{Field: 1, Ranges: []WordRange{{Lo: math.MinInt64, Hi: 99}, {Lo: 500, Hi: 600}}}, func(i int) bool { return small[i] < 100 || small[i] >= 500 && small[i] <= 600 }},
		{Words{Field: 2, Ranges: []WordRange{{Lo: 1 << 34, Hi: math.MaxInt64}}}, func(i int) bool { return wide[i] >= 1<<34 }},
		{Words{Field: 3, Ranges: []WordRange{{Lo: 1000, Hi: docs/100 - 1000}}, Null: true}, func(i int) bool { return null[i] || some[i] >= 1000 && some[i] <= docs/100-1000 }},
		{Words{Field: 1, Ranges: []WordRange{{Lo: 0, Hi: 1000}}}, func(int) bool { return true }},
	}
	for _, c := range cases {
		var want Hits
		for _, workers := range []int{0, 2, 5} {
			n := c.node
			n.Workers = workers
			hits, err := Run(v, &n)
			if err != nil {
				t.Fatal(err)
			}
			if workers == 0 {
				want = hits[0]
				for d := range uint32(docs) {
					i := binary.BigEndian.Uint32(want.Seg.IDOf(d))
					if found := want.Set[d>>6]>>(d&63)&1 != 0; found != (!gone[i] && c.is(int(i))) {
						t.Fatalf("%v: document %d is found: %t", n, i, found)
					}
				}
			} else if !slices.Equal(hits[0].Set, want.Set) {
				t.Fatalf("%v: others with %d goroutines", n, workers)
			}
		}
		calls := []Call{{Op: CountAll}, {Op: Distinct, Field: Field{ID: 1}}, {Op: Distinct, Field: Field{ID: 4}}}
		for f := seg.FieldID(1); f <= 3; f++ {
			for _, op := range []Op{Sum, Count, Min, Max} {
				calls = append(calls, Call{Op: op, Field: Field{ID: f}})
			}
		}
		bys := [][]Field{nil, {{ID: 1}}, {{ID: 3}}, {{ID: 4}}, {{ID: 4}, {ID: 1}}}
		for _, by := range bys[:testflag.InShort(1, len(bys))] {
			one := groupsText(t, []Hits{want}, by, calls, 1)
			if got := groupsText(t, []Hits{want}, by, calls, 3); !slices.Equal(got, one) {
				t.Fatalf("%v by %v: other groups with 3 goroutines", c.node, by)
			}
			counts := []Call{{Op: CountAll}}
			if got, one := groupsText(t, []Hits{want}, by, counts, 3), groupsText(t, []Hits{want}, by, counts, 1); !slices.Equal(got, one) {
				t.Fatalf("%v by %v: other counts with 3 goroutines", c.node, by)
			}
			if by == nil {
				var n, sum int64
				lo, hi := int64(math.MaxInt64), int64(math.MinInt64)
				for i := range docs {
					if !gone[i] && c.is(i) {
						n, sum, lo, hi = n+1, sum+wide[i], min(lo, wide[i]), max(hi, wide[i])
					}
				}
				g, err := GroupBy(t.Context(), []Hits{want}, nil, []Call{{Op: Sum, Field: Field{ID: 2}}, {Op: Min, Field: Field{ID: 2}}, {Op: Max, Field: Field{ID: 2}}}, 2, func(int64) error { return nil })
				if err != nil {
					t.Fatal(err)
				}
				if _, s := g.Sum(0, 0); g.Count(0) != n || int64(s) != sum || g.BestWord(1, 0) != lo || g.BestWord(2, 0) != hi {
					t.Errorf("%v: %d documents, %d, from %d to %d, want %d, %d, from %d to %d", c.node, g.Count(0), int64(s), g.BestWord(1, 0), g.BestWord(2, 0), n, sum, lo, hi)
				}
			}
		}
	}
}

// groupsText is what GroupBy computes, in some order that does not depend on the numbers of
// the groups.
func groupsText(t *testing.T, hits []Hits, by []Field, calls []Call, workers int) (out []string) {
	t.Helper()
	g, err := GroupBy(t.Context(), hits, by, calls, workers, func(int64) error { return nil })
	if err != nil {
		t.Fatal(err)
	}
	different := make([][]int64, len(calls))
	for i, c := range calls {
		if c.Op == Distinct {
			different[i] = g.CountDifferent(i)
		}
	}
	for _, id := range g.IDs(nil) {
		line := []byte{}
		for i, f := range by {
			if f.ID == 4 {
				v, ok := g.Value(i, id)
				line = fmt.Appendf(line, "%s %t ", v, ok)
			} else {
				w, ok := g.Word(i, id)
				line = fmt.Appendf(line, "%d %t ", w, ok)
			}
		}
		line = fmt.Appendf(line, "%d", g.Count(id))
		for i, c := range calls {
			switch c.Op {
			case Sum:
				hi, lo := g.Sum(i, id)
				line = fmt.Appendf(line, " %d %d", hi, lo)
			case Min, Max:
				line = fmt.Appendf(line, " %d", g.BestWord(i, id))
			case Count:
				line = fmt.Appendf(line, " %d", g.N(i, id))
			case Distinct:
				line = fmt.Appendf(line, " %d", different[i][id])
			}
		}
		out = append(out, string(line))
	}
	slices.Sort(out)
	return out
}

// TestDivide: parts have all documents, each once, about as many as each other, and end
// between blocks.
func TestDivide(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, sizes := range [][]int{{400_000}, {100, 350_000, 70, 1}, {150_000, 100_000, 200_100}, {1000, 1000, 300_000}, {300_000, 1000, 64}, {0, 250_000, 0}} {
		for _, share := range []int{1, 3} {
			for _, workers := range []int{2, 3, 7} {
				t.Run(fmt.Sprint(sizes, share, workers), func(t *testing.T) {
					var hits []Hits
					total := 0
					for _, n := range sizes {
						set := make([]uint64, (n*share+63)/64)
						h := Hits{Set: set}
						for i := range n * share {
							if share == 1 || r.IntN(share) == 0 {
								set[i>>6] |= 1 << (i & 63)
								h.Count++
							}
						}
						hits, total = append(hits, h), total+h.Count
					}
					if total < parallelHits {
						t.Skip("too few")
					}
					parts := divide(hits, total, workers)
					if len(parts) != workers {
						t.Fatalf("%d parts", len(parts))
					}
					var all []piece
					for i, p := range parts {
						n := 0
						for _, h := range p {
							if h.Count != countBits(h.Set) {
								t.Errorf("part %d: %d documents of %d", i, countBits(h.Set), h.Count)
							}
							n += h.Count
							all = append(all, h)
						}
						if most := (total+workers-1)/workers + blockDocs; n > most || n < most-workers*blockDocs {
							t.Errorf("part %d has %d documents", i, n)
						}
					}
					for _, h := range hits {
						sum, blocks := make([]uint64, len(h.Set)), make([]int, len(h.Set))
						for left, nr := h.Count, 0; left > 0; all, nr = all[1:], nr+1 {
							left -= all[0].Count
							for i, w := range all[0].Set {
								i += all[0].from >> 6
								if sum[i]&w != 0 {
									t.Fatal("a document is in two parts")
								}
								if sum[i] |= w; w != 0 {
									blocks[i/(blockDocs/64)] |= 1 << nr
								}
							}
						}
						if h.Count == 0 {
							all = all[1:]
						}
						if !slices.Equal(sum, h.Set) {
							t.Fatal("other documents")
						}
						for i := range blocks {
							if b := blocks[i]; b&(b-1) != 0 {
								t.Fatalf("block %d is in two parts", i)
							}
						}
					}
				})
			}
		}
	}
}
