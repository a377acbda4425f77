package seg

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// compareDigests: documents have the same digests as in a batch of them, in the
// order of the model; others differ.
func compareDigests(t *testing.T, ix *Index, model map[string]*doc) {
	t.Helper()
	b := ix.NewBatch()
	for id, d := range model {
		b.Upsert([]byte(id))
		d.put(b)
	}
	fresh, err := b.Segment()
	if err != nil {
		t.Fatal(err)
	}
	if fresh == nil {
		return
	}
	s := must(ix.Snapshot())
	defer s.Close()
	for _, f := range ix.Schema().Fields {
		want := must(fresh.Digests(f.ID))
		for _, g := range s.Segments() {
			have := must(g.Digests(f.ID))
			roots, _ := g.Roots()
			for doc := range uint32(g.Docs()) {
				if !hasBit(roots, doc) {
					continue
				}
				at, ok := fresh.Find(g.IDOf(doc))
				if !ok || want[at] != have[doc] {
					t.Fatalf("document %q: field %d differs", g.IDOf(doc), f.ID)
				}
			}
		}
	}
}

// TestDigestsDiffer: what is another value has another digest.
func TestDigestsDiffer(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	s := testSchema()
	b := newBatch(&s)
	var docs []*doc
	for i := range 400 {
		d := randomDoc(r, 0)
		docs = append(docs, d)
		b.Upsert(fmt.Appendf(nil, "%d", i))
		d.put(b)
	}
	seg := must(b.Segment())
	for _, f := range s.Fields {
		sums := must(seg.Digests(f.ID))
		seen := map[uint64]string{}
		for i, d := range docs {
			doc, _ := seg.Find(fmt.Appendf(nil, "%d", i))
			text := d.fieldText(f.ID)
			if was, ok := seen[sums[doc]]; ok && was != text {
				t.Fatalf("field %d: %s and %s have one digest", f.ID, was, text)
			}
			seen[sums[doc]] = text
		}
	}
}

// fieldText is what a document has in a field, with what is nested in it.
func (d *doc) fieldText(f FieldID) string {
	text := fmt.Sprint(d.path, d.ints[f], d.ints[f] == nil, fmt.Sprintf("%q", d.keys[f]), d.keys[f] == nil, d.lat[f], d.lon[f], d.lat[f] == nil)
	switch f {
	case fBytes:
		text += fmt.Sprintf("%x %v", d.bytes, d.bytes == nil)
	case fText:
		text += fmt.Sprint(d.text, d.text == nil)
	}
	for _, c := range d.children {
		text += "(" + c.fieldText(f) + ")"
	}
	return text
}
