package query

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/sqlots/sqlots/internal/testflag"
	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/search/text"
)

// TestStop ends phrases, scores and words that are compared with all of a segment
// in the middle of it.
func TestStop(t *testing.T) {
	testflag.Normal(t)
	const field, docs = 1, rankedDocs + 10_000
	ix, err := seg.Open(t.TempDir(), seg.Schema{Fields: []seg.Field{{ID: field, Kind: seg.KindText}}}, seg.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = ix.Close() }()
	b := ix.NewBatch()
	for i := range docs {
		var tokens []seg.Token
		for p, w := range []string{"red", "apple", fmt.Sprint("a", i%20_000)} {
			tokens = append(tokens, seg.Token{Term: []byte(w), Pos: uint32(p + 1), Start: uint32(8 * p), End: uint32(8*p + len(w))})
		}
		b.Upsert(fmt.Appendf(nil, "%09d", i))
		b.Text(field, tokens, len(tokens))
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
	stopped := errors.New("stopped")
	calls, last := 0, 0
	stop := func() error {
		if calls++; calls == last {
			return stopped
		}
		return nil
	}
	fields := []seg.FieldID{field}
	phrase := text.Phrase{Terms: []text.PhraseTerm{{Term: "red", At: 0}, {Term: "apple", At: 1}}}
	for _, q := range []text.Query{phrase, text.Fuzzy{Term: "green", Distance: 3}} {
		calls, last = 0, -1
		if _, err := Run(v, &Match{Fields: fields, Query: q, Stop: stop}); err != nil || calls < 1 {
			t.Fatalf("%v: %d calls, %v", q, calls, err)
		}
		last, calls = calls, 0
		if _, err := Run(v, &Match{Fields: fields, Query: q, Stop: stop}); !errors.Is(err, stopped) {
			t.Fatalf("%v: %v", q, err)
		}
	}
	for last = range 3 {
		hits, err := Run(v, And{})
		if err != nil {
			t.Fatal(err)
		}
		calls = 0
		err = First(hits, []Order{{By: Score{{Fields: fields, Query: text.Term{Term: "red"}, Stats: oneDoc{}, Value: func(s float64) float64 { return s }}}, Desc: true, Stop: stop}}, 10)
		if last == 0 && (err != nil || calls != 2) || last > 0 && !errors.Is(err, stopped) {
			t.Fatalf("%d of %d: %v", last, calls, err)
		}
	}
}

type oneDoc struct{}

func (oneDoc) Docs() int64              { return 1 }
func (oneDoc) AvgLen() float64          { return 3 }
func (oneDoc) DocFreq(text.Query) int64 { return 1 }

// TestPart cuts sets into parts.
func TestPart(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 2))
	for range 300 {
		h := Hits{Set: make([]uint64, 1+r.IntN(20))}
		for i := range h.Set {
			h.Set[i] = r.Uint64() & r.Uint64() * uint64(r.IntN(2))
		}
		want, _ := h.Docs(0, len(h.Set)<<6, nil)
		var got []uint32
		size := 1 + r.IntN(100)
		for next := uint32(0); ; {
			var part Hits
			if part, next = h.Part(next, size); part.Count == 0 {
				break
			}
			docs, _ := part.Docs(0, len(h.Set)<<6, nil)
			if len(docs) != part.Count || part.Count > size || part.Count < size && len(got)+part.Count < len(want) {
				t.Fatalf("%d documents of %d, %d at once", len(docs), part.Count, size)
			}
			got = append(got, docs...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("got %v, want %v", got, want)
		}
	}
}

// TestRun compares runs of hits with counting one by one.
func TestRun(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 3000 {
		h := Hits{Set: make([]uint64, 1+r.IntN(6))}
		for i := range h.Set {
			h.Set[i] = ^(r.Uint64() & r.Uint64() & r.Uint64() & -uint64(r.IntN(2)))
		}
		from, most := r.IntN(len(h.Set)*64+1), 1+r.IntN(400)
		want := 0
		for d := from; d < len(h.Set)*64 && want < most && h.Set[d>>6]>>(d&63)&1 != 0; d++ {
			want++
		}
		if got := h.Run(uint32(from), most); got != want {
			t.Fatalf("%x from %d, at most %d: %d, want %d", h.Set, from, most, got, want)
		}
	}
}
