package seg

import (
	"bytes"
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

// Fields that the test's index gets after its first documents.
const (
	lateWord FieldID = iota + 10
	lateNull
	lateKey
	lateColl
	lateBytes
)

func lateSchema(late bool) Schema {
	s := Schema{Fields: []Field{{ID: 1, Kind: KindWord}}}
	if late {
		s.Fields = append(s.Fields,
			Field{ID: lateWord, Kind: KindWord, Unsorted: true, Missing: &Value{Word: -7}}, Field{ID: lateNull, Kind: KindWord},
			Field{ID: lateKey, Kind: KindKey, Unsorted: true, Missing: &Value{Key: []byte("Old"), Bytes: []byte("Old")}},
			Field{ID: lateColl, Kind: KindKey, Collated: true, Missing: &Value{Key: []byte("old"), Bytes: []byte("Old")}},
			Field{ID: lateBytes, Kind: KindBytes, Missing: &Value{Bytes: []byte("old bytes")}})
	}
	return s
}

// TestLateFields: documents in segments without a field have Field.Missing, before and
// after merges, and as if they had been written with it.
func TestLateFields(t *testing.T) {
	testflag.Normal(t)
	dir := t.TempDir()
	open := func(late bool) *Index {
		ix, err := Open(dir, lateSchema(late), Options{PersistEvery: 2 * time.Millisecond, SegmentsPerTier: 3})
		if err != nil {
			t.Fatal(err)
		}
		return ix
	}
	id := func(n int) []byte { return fmt.Appendf(nil, "%06d", n) }
	const old, all = 3000, 4000
	full := func(b *Batch, n int) { // as a document is written that has the fields
		b.Upsert(id(n))
		b.Word(1, int64(n))
		if n >= old && n%3 == 0 {
			return // NULL
		}
		word, text := int64(-7), "Old"
		if n >= old {
			word, text = int64(n%50), fmt.Sprint("New", n%20)
		}
		b.Word(lateWord, word)
		b.Key(lateKey, []byte(text), []byte(text))
		b.Key(lateColl, bytes.ToLower([]byte(text)), []byte(text))
		if n >= old {
			b.Word(lateNull, word)
			b.Bytes(lateBytes, bytes.Repeat([]byte(text), 300))
		} else {
			b.Bytes(lateBytes, []byte("old bytes"))
		}
	}
	ix := open(false)
	for from := 0; from < old; from += 1000 {
		b := ix.NewBatch()
		for n := from; n < from+1000; n++ {
			b.Upsert(id(n))
			b.Word(1, int64(n))
		}
		if err := ix.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	ix = open(true)
	defer func() { _ = ix.Close() }()
	compare := func(docs int) {
		t.Helper()
		b := ix.NewBatch()
		for n := range docs {
			full(b, n)
		}
		fresh := must(b.Segment())
		s := must(ix.Snapshot())
		defer s.Close()
		seen := 0
		for _, g := range s.Segments() {
			for _, f := range ix.Schema().Fields {
				want, have := must(fresh.Digests(f.ID)), must(g.Digests(f.ID))
				live, _ := g.Live()
				for d := range uint32(g.Docs()) {
					at, ok := fresh.Find(g.IDOf(d))
					if hasBit(live, d) && (!ok || want[at] != have[d]) {
						t.Fatalf("field %d of %s differs", f.ID, g.IDOf(d))
					}
				}
			}
			set := make([]uint64, BitWords(g.Docs()))
			must(g.Words(lateWord)).RangeInto(-7, -7, set)
			k := must(g.Keys(lateKey))
			from, to := k.FindRange([]byte("Old"), []byte("P"))
			k.Into(from, to, set)
			other := make([]uint64, len(set))
			c := must(g.Keys(lateColl))
			from, to = c.FindRange([]byte("old"), nil)
			c.Into(from, to, other)
			a, o := liveOf(g, set), liveOf(g, other)
			if len(a) != len(o) {
				t.Fatalf("%d documents by one field, %d by another", len(a), len(o))
			}
			if n := must(g.Bytes(lateBytes)); len(a) > 0 {
				if all := must(n.Fit(a, 1<<20)); all == 0 {
					t.Fatal("nothing fits")
				}
			}
			seen += len(a)
		}
		if seen != old {
			t.Fatalf("%d documents have what was missing, not %d", seen, old)
		}
	}
	compare(old)
	for from := old; from < all; from += 250 {
		b := ix.NewBatch()
		for n := from; n < from+250; n++ {
			full(b, n)
		}
		if err := ix.Apply(b); err != nil {
			t.Fatal(err)
		}
	}
	compare(all)
	if err := ix.Merge(context.Background()); err != nil {
		t.Fatal(err)
	}
	compare(all)
	if err := ix.Close(); err != nil {
		t.Fatal(err)
	}
	ix = open(true)
	compare(all)
	if err := ix.Verify(context.Background()); err != nil {
		t.Fatal(err)
	}
}
