package seg

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sort"
	"strings"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

// Fields of the test's schema.
const (
	fInt FieldID = iota + 1
	fInts
	fUnsorted
	fKey
	fColl
	fKeys
	fBytes
	fText
	fPoint
	fPoints
	fChild
	fPlain
	fPlainColl
)

func testSchema() Schema {
	return Schema{
		Fields: []Field{
			{ID: fInt, Kind: KindWord}, {ID: fInts, Kind: KindWord, Multi: true}, {ID: fUnsorted, Kind: KindWord, Unsorted: true},
			{ID: fKey, Kind: KindKey}, {ID: fColl, Kind: KindKey, Collated: true}, {ID: fKeys, Kind: KindKey, Multi: true, Collated: true},
			{ID: fBytes, Kind: KindBytes}, {ID: fText, Kind: KindText},
			{ID: fPoint, Kind: KindPoint}, {ID: fPoints, Kind: KindPoint, Multi: true},
			{ID: fChild, Kind: KindWord},
			{ID: fPlain, Kind: KindKey, Unsorted: true}, {ID: fPlainColl, Kind: KindKey, Collated: true, Unsorted: true},
		},
		Paths: []Path{{ID: 7}, {ID: 9, Parent: 7}},
	}
}

// doc is a document of the model; nil is NULL.
type doc struct {
	path     uint16
	ints     map[FieldID][]int64
	keys     map[FieldID][]string
	bytes    []byte
	text     []string
	lat, lon map[FieldID][]int32
	children []*doc
}

func sortKey(s string) string { return strings.ToLower(s) }

func randomDoc(r *rand.Rand, depth int) *doc {
	d := &doc{ints: map[FieldID][]int64{}, keys: map[FieldID][]string{}, lat: map[FieldID][]int32{}, lon: map[FieldID][]int32{}}
	num := func() int64 {
		switch r.IntN(8) {
		case 0:
			return int64(r.Uint64())
		case 1:
			return []int64{-1 << 63, 1<<63 - 1, 0, -1}[r.IntN(4)]
		}
		return int64(r.IntN(300)) * 1000
	}
	str := func() string {
		s := fmt.Sprintf("%c%c", "abAB\x00\xff"[r.IntN(6)], "xyXY"[r.IntN(4)])
		return s[:r.IntN(len(s)+1)]
	}
	for _, f := range []FieldID{fInt, fUnsorted, fChild} {
		if r.IntN(5) > 0 {
			d.ints[f] = []int64{num()}
		}
	}
	for _, f := range []FieldID{fKey, fColl} {
		if r.IntN(5) > 0 {
			d.keys[f] = []string{str()}
			d.keys[f+fPlain-fKey] = d.keys[f]
		}
	}
	if r.IntN(4) > 0 {
		d.ints[fInts], d.keys[fKeys] = []int64{}, []string{}
		for range r.IntN(4) {
			d.ints[fInts] = append(d.ints[fInts], num())
			d.keys[fKeys] = append(d.keys[fKeys], str())
		}
		n := r.IntN(3)
		d.lat[fPoints], d.lon[fPoints] = make([]int32, n), make([]int32, n)
		for i := range n {
			d.lat[fPoints][i], d.lon[fPoints][i] = r.Int32N(1800000000)-900000000, r.Int32()-1<<30
		}
	}
	if r.IntN(4) > 0 {
		d.lat[fPoint], d.lon[fPoint] = []int32{r.Int32N(2000) - 1000}, []int32{r.Int32N(2000) - 1000}
	}
	if r.IntN(3) > 0 {
		d.bytes = bytes.Repeat([]byte(str()), r.IntN(2000))
	}
	if r.IntN(4) > 0 {
		d.text = []string{}
		for range r.IntN(6) {
			d.text = append(d.text, fmt.Sprintf("w%d", r.IntN(9)))
		}
	}
	if depth < 2 && r.IntN(3) == 0 {
		for range r.IntN(3) {
			c := randomDoc(r, depth+1)
			c.path = []uint16{7, 9}[depth]
			d.children = append(d.children, c)
		}
	}
	return d
}

// put writes the document's fields and what is nested in it.
func (d *doc) put(b *Batch) {
	for f, v := range d.ints {
		if f == fInts {
			b.Words(f, v)
		} else {
			b.Word(f, v[0])
		}
	}
	for f, v := range d.keys {
		if f == fKeys {
			var ks, vs [][]byte
			for _, s := range v {
				ks, vs = append(ks, []byte(sortKey(s))), append(vs, []byte(s))
			}
			b.Keys(f, ks, vs)
		} else {
			b.Key(f, []byte(sortKey(v[0])), []byte(v[0]))
		}
	}
	for f := range d.lat {
		if f == fPoints {
			var list []Place
			for i := range d.lat[f] {
				list = append(list, placeOf(d.lat[f][i], d.lon[f][i]))
			}
			b.Points(f, list)
		} else {
			b.Point(f, placeOf(d.lat[f][0], d.lon[f][0]))
		}
	}
	if d.bytes != nil {
		b.Bytes(fBytes, d.bytes)
	}
	if d.text != nil {
		var ts []Token
		for i, w := range d.text {
			ts = append(ts, Token{Term: []byte(w), Pos: uint32(i + 1), Start: uint32(3 * i), End: uint32(3*i + 2)})
		}
		b.Text(fText, ts, len(ts))
	}
	for _, c := range d.children {
		b.Child(c.path)
		c.put(b)
	}
}

// flat lists the document and what is nested in it, in order.
func (d *doc) flat() []*doc {
	out := []*doc{d}
	for _, c := range d.children {
		out = append(out, c.flat()...)
	}
	return out
}

// row is a document of an index with its model.
type row struct {
	g   *Segment
	num uint32
	d   *doc
}

// rowsOf finds the model of each live document, and checks that both have the same.
func rowsOf(t *testing.T, s *Snapshot, model map[string]*doc) []row {
	t.Helper()
	if s.Docs() != len(model) {
		t.Fatalf("%d documents, want %d", s.Docs(), len(model))
	}
	var out []row
	seen := map[string]bool{}
	for _, g := range s.Segments() {
		roots, n := g.Roots()
		live, all := g.Live()
		n2 := must(g.Nested())
		if countBits(roots) != n || countBits(live) != all {
			t.Fatalf("cardinality of live documents is wrong")
		}
		for num := nextBit(roots, 0, g.Docs()); int(num) < g.Docs(); num = nextBit(roots, num+1, g.Docs()) {
			id := string(g.IDOf(num))
			d := model[id]
			if d == nil || seen[id] {
				t.Fatalf("document %q: seen %v, in model %v", id, seen[id], d != nil)
			}
			seen[id] = true
			list := d.flat()
			if end := n2.End(num); end != num+uint32(len(list)) {
				t.Fatalf("document %q has %d nested ones, want %d", id, end-num-1, len(list)-1)
			}
			for i, x := range list {
				at := num + uint32(i)
				if !hasBit(live, at) || n2.Path(at) != x.path || n2.Root(at) != num || string(g.IDOf(at)) != id {
					t.Fatalf("nested document %d of %q is wrong", i, id)
				}
				parent := at
				if x.path == 7 {
					parent = num
				} else if x.path == 9 {
					for j := i; ; j-- {
						if list[j].path == 7 {
							parent = num + uint32(j)
							break
						}
					}
				}
				if n2.Parent(at) != parent {
					t.Fatalf("parent of %d is %d, want %d", at, n2.Parent(at), parent)
				}
				out = append(out, row{g, at, x})
			}
			if got := g.DocNumbers([][]byte{[]byte(id), []byte("nobody")}, nil); len(got) != len(list) || got[0] != num {
				t.Fatalf("DocNumbers(%q) = %v", id, got)
			}
		}
	}
	if len(seen) != len(model) {
		t.Fatalf("%d documents found, want %d", len(seen), len(model))
	}
	return out
}

// compareIndex checks every column, range, key and posting of the index.
func compareIndex(t *testing.T, ix *Index, model map[string]*doc, r *rand.Rand) {
	t.Helper()
	s := must(ix.Snapshot())
	defer s.Close()
	rows := rowsOf(t, s, model)
	texts, length := 0, int64(0)
	for _, x := range rows {
		if x.d.text != nil {
			texts++
			length += int64(len(x.d.text))
		}
	}
	if n, l, err := s.TextStats(fText); err == nil && (n != texts || l != length) {
		t.Fatalf("%d texts of length %d (%v), want %d of %d", n, l, err, texts, length)
	}
	bySeg := map[*Segment][]row{}
	for _, x := range rows {
		bySeg[x.g] = append(bySeg[x.g], x)
	}
	for g, list := range bySeg {
		compareValues(t, g, list)
		compareRanges(t, g, list, r)
		compareKeys(t, g, list, r)
		compareText(t, g, list)
		comparePoints(t, g, list, r)
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func compareValues(t *testing.T, g *Segment, list []row) {
	t.Helper()
	for _, f := range []FieldID{fKey, fColl, fPlain, fPlainColl} {
		compareCopies(t, must(g.Keys(f)), list)
	}
	br := must(g.Bytes(fBytes)).Reader()
	for _, x := range list {
		for _, f := range []FieldID{fInt, fUnsorted, fChild} {
			w := must(g.Words(f))
			got, ok := w.Get(x.num)
			if want := x.d.ints[f]; ok != (want != nil) || ok && got != want[0] {
				t.Fatalf("field %d of %d: %d %v, want %v", f, x.num, got, ok, want)
			}
			if ok {
				var out [1]int64
				if w.Gather([]uint32{x.num}, out[:]); out[0] != got {
					t.Fatalf("gather gives %d, want %d", out[0], got)
				}
			}
		}
		w := must(g.Words(fInts))
		if got := w.Array(x.num, nil); !slices.Equal(got, x.d.ints[fInts]) || w.IsNull(x.num) != (x.d.ints[fInts] == nil) {
			t.Fatalf("array of %d: %v, want %v", x.num, got, x.d.ints[fInts])
		}
		for _, f := range []FieldID{fKey, fColl, fPlain, fPlainColl} {
			k := must(g.Keys(f))
			got, ok := k.Get(x.num)
			if want := x.d.keys[f]; ok != (want != nil) || ok && string(got) != want[0] {
				t.Fatalf("field %d of %d: %q %v, want %q", f, x.num, got, ok, want)
			}
			var ord [1]uint32
			k.Gather([]uint32{x.num}, ord[:])
			if ok != (ord[0] != NoOrdinal) || ok && !bytes.Equal(k.Value(ord[0]), got) {
				t.Fatalf("ordinal of field %d of %d is %d", f, x.num, ord[0])
			}
		}
		k := must(g.Keys(fKeys))
		var got []string
		for _, o := range k.Array(x.num, nil) {
			got = append(got, string(k.Value(o)))
		}
		if !slices.Equal(got, x.d.keys[fKeys]) || k.IsNull(x.num) != (x.d.keys[fKeys] == nil) {
			t.Fatalf("array of %d: %q, want %q", x.num, got, x.d.keys[fKeys])
		}
		v, ok, err := br.Get(x.num)
		if err != nil || ok != (x.d.bytes != nil) || !bytes.Equal(v, x.d.bytes) {
			t.Fatalf("bytes of %d: %d bytes %v %v, want %d", x.num, len(v), ok, err, len(x.d.bytes))
		}
	}
}

// compareCopies compares copies of the values of documents with the values.
func compareCopies(t *testing.T, k *Keys, list []row) {
	t.Helper()
	docs, ords, out := make([]uint32, len(list)), make([]uint32, len(list)), make([][]byte, len(list))
	for i, x := range list {
		docs[i] = x.num
	}
	k.Gather(docs, ords)
	k.CopyValues(ords, func(n int) []byte { return make([]byte, n) }, out)
	for i, o := range ords {
		if (o == NoOrdinal) != (out[i] == nil) || o != NoOrdinal && !bytes.Equal(k.Value(o), out[i]) {
			t.Fatalf("a copy of ordinal %d is %q", o, out[i])
		}
	}
}

// liveOf leaves the deleted documents out of a set.
func liveOf(g *Segment, set []uint64) []uint32 {
	live, _ := g.Live()
	var out []uint32
	for i := range set {
		set[i] &= live[i]
	}
	for d := nextBit(set, 0, g.Docs()); int(d) < g.Docs(); d = nextBit(set, d+1, g.Docs()) {
		out = append(out, d)
	}
	return out
}

func compareSets(t *testing.T, what string, g *Segment, set []uint64, list []row, in func(d *doc) bool) {
	t.Helper()
	var want []uint32
	for _, x := range list {
		if in(x.d) {
			want = append(want, x.num)
		}
	}
	if got := liveOf(g, set); !slices.Equal(got, want) {
		t.Fatalf("%s: documents %v, want %v", what, got, want)
	}
}

func compareRanges(t *testing.T, g *Segment, list []row, r *rand.Rand) {
	t.Helper()
	for _, f := range []FieldID{fInt, fInts, fUnsorted, fChild} {
		w := must(g.Words(f))
		for range 6 {
			lo, hi := int64(r.IntN(300))*1000-1, int64(r.IntN(300))*1000+1
			switch r.IntN(4) {
			case 0:
				lo = -1 << 63
			case 1:
				hi = 1<<63 - 1
			case 2:
				lo, hi = int64(r.Uint64()), int64(r.Uint64())
			}
			set := make([]uint64, BitWords(g.Docs()))
			w.RangeInto(lo, hi, set)
			compareSets(t, fmt.Sprintf("field %d in %d..%d", f, lo, hi), g, set, list, func(d *doc) bool {
				return slices.ContainsFunc(d.ints[f], func(v int64) bool { return lo <= v && v <= hi })
			})
			if n := w.RangeCount(lo, hi); f == fInt && g.Deleted() == 0 && n != countBits(set) {
				t.Fatalf("count of %d..%d is %d, want %d", lo, hi, n, countBits(set))
			}
		}
		if !w.HasPerm() {
			continue
		}
		docs := w.SortedDocs(0, w.Sorted(), nil)
		if f != fInts && !sort.SliceIsSorted(docs, func(i, j int) bool {
			a, _ := w.Get(docs[i])
			b, _ := w.Get(docs[j])
			return a < b || a == b && docs[i] < docs[j]
		}) {
			t.Fatalf("permutation of field %d is not sorted", f)
		}
	}
}

func compareKeys(t *testing.T, g *Segment, list []row, r *rand.Rand) {
	t.Helper()
	for _, f := range []FieldID{fKey, fColl, fKeys, fPlain, fPlainColl} {
		k := must(g.Keys(f))
		fold := sortKey
		if f == fKey || f == fPlain {
			fold = func(s string) string { return s }
		}
		total := 0
		for c := range uint32(k.Classes()) {
			key := string(k.Key(c))
			if c > 0 && key <= string(k.Key(c-1)) {
				t.Fatalf("field %d: keys do not ascend", f)
			}
			from, to := k.ClassOrdinals(c)
			for o := from; o < to; o++ {
				if k.ClassOf(o) != c || fold(string(k.Value(o))) != key {
					t.Fatalf("field %d: ordinal %d is not of class %d", f, o, c)
				}
			}
			total += int(to - from)
			set := make([]uint64, BitWords(g.Docs()))
			k.Into(c, c+1, set)
			docs := k.ClassDocs(c, nil)
			if n := k.Count(c, c+1); n != countBits(set) || n != len(docs) || !slices.IsSorted(docs) {
				t.Fatalf("field %d class %d: count %d, %d in the set, %d in the list", f, c, n, countBits(set), len(docs))
			}
			compareSets(t, fmt.Sprintf("field %d = %q", f, key), g, set, list, func(d *doc) bool {
				return slices.ContainsFunc(d.keys[f], func(v string) bool { return fold(v) == key })
			})
			if got, ok := k.FindKey([]byte(key)); !ok || got != c {
				t.Fatalf("field %d: FindKey(%q) = %d %v", f, key, got, ok)
			}
		}
		if total != k.Ordinals() {
			t.Fatalf("field %d: %d ordinals in classes, want %d", f, total, k.Ordinals())
		}
		if lists := f != fPlain && f != fPlainColl; k.HasLists() != lists && !k.AllNull() {
			t.Fatalf("field %d has lists: %v", f, k.HasLists())
		}
		some := make([]uint64, BitWords(k.Classes()))
		for c := range uint32(k.Classes()) {
			if r.IntN(2) == 0 {
				setBit(some, c)
			}
		}
		found := make([]uint64, BitWords(g.Docs()))
		k.SetInto(some, found)
		compareSets(t, fmt.Sprintf("field %d in some classes", f), g, found, list, func(d *doc) bool {
			return slices.ContainsFunc(d.keys[f], func(v string) bool {
				c, _ := k.FindKey([]byte(fold(v)))
				return hasBit(some, c)
			})
		})
		for range 4 {
			lo, hi := string("abz"[r.IntN(3)]), string("abz"[r.IntN(3)])
			set := make([]uint64, BitWords(g.Docs()))
			from, to := k.FindRange([]byte(lo), []byte(hi))
			k.Into(from, to, set)
			compareSets(t, fmt.Sprintf("field %d in %q..%q", f, lo, hi), g, set, list, func(d *doc) bool {
				return slices.ContainsFunc(d.keys[f], func(v string) bool { return lo <= fold(v) && fold(v) < hi })
			})
			set = make([]uint64, BitWords(g.Docs()))
			from, to = k.FindPrefix([]byte(lo))
			k.Into(from, to, set)
			compareSets(t, fmt.Sprintf("field %d like %q", f, lo), g, set, list, func(d *doc) bool {
				return slices.ContainsFunc(d.keys[f], func(v string) bool { return strings.HasPrefix(fold(v), lo) })
			})
		}
	}
}

func compareText(t *testing.T, g *Segment, list []row) {
	t.Helper()
	x := must(g.Text(fText))
	for _, r := range list {
		n, ok := x.Lengths().Get(r.num)
		if ok != (r.d.text != nil) || int(n) != len(r.d.text) {
			t.Fatalf("length of text %d is %d %v, want %d", r.num, n, ok, len(r.d.text))
		}
	}
	terms := must(x.Terms())
	var p *Postings
	err := terms.Each(nil, nil, nil, func(term []byte, n int) bool {
		p = must(must(x.Terms()).Postings(term, p))
		set := make([]uint64, BitWords(g.Docs()))
		p.Into(set)
		if p.Count() != n || countBits(set) != n || len(p.Docs(nil)) != n {
			t.Fatalf("term %q: counts %d, %d, %d", term, n, p.Count(), countBits(set))
		}
		compareSets(t, fmt.Sprintf("term %q", term), g, set, list, func(d *doc) bool { return slices.Contains(d.text, string(term)) })
		live, _ := g.Live()
		compareList(t, x, term, live, list)
		h := must(p.Scan(true, live))
		for _, r := range list {
			var at []Occurrence
			for i, w := range r.d.text {
				if w == string(term) {
					at = append(at, Occurrence{uint32(i + 1), uint32(3 * i), uint32(3*i + 2)})
				}
			}
			if at == nil {
				continue
			}
			hit := must(h.Next())
			if hit == nil || hit.Doc != r.num || int(hit.Freq) != len(at) || !slices.Equal(hit.At, at) {
				t.Fatalf("term %q of %d: %v, want %v", term, r.num, hit, at)
			}
		}
		if hit := must(h.Next()); hit != nil {
			t.Fatalf("term %q: one hit too many: %v", term, hit)
		}
		return true
	})
	if err != nil {
		t.Fatal(err)
	}
	none := must(terms.Postings([]byte("nothing"), nil))
	if none.Count() != 0 || must(must(none.Scan(false, nil)).Next()) != nil {
		t.Fatal("a term that is not there has documents")
	}
}

// compareList reads a list of all, and of every third of the documents.
func compareList(t *testing.T, x *Text, term []byte, live []uint64, list []row) {
	t.Helper()
	some := make([]uint64, len(live))
	for i := range some {
		some[i] = live[i] & 0x9249249249249249
	}
	for _, among := range [][]uint64{live, some} {
		for _, places := range []bool{false, true} {
			var docs, freqs []uint32
			var at [][]int
			must(must(x.Terms()).List(term)).Read(places, among, func(r *Run) {
				docs, freqs = append(docs, r.Docs...), append(freqs, r.Freqs...)
				from := 0
				for _, end := range r.Ends {
					at = append(at, slices.Clone(r.Pos[from:end]))
					from = end
				}
			})
			n := 0
			for _, r := range list {
				var want []int
				for i, w := range r.d.text {
					if w == string(term) {
						want = append(want, i+1)
					}
				}
				if want == nil || !hasBit(among, r.num) {
					continue
				}
				if n == len(docs) || docs[n] != r.num || int(freqs[n]) != len(want) || places && !slices.Equal(at[n], want) {
					t.Fatalf("term %q of %d: %v %v %v, want %v", term, r.num, docs[n:], freqs[n:], at, want)
				}
				n++
			}
			if n != len(docs) {
				t.Fatalf("term %q: %d documents too many", term, len(docs)-n)
			}
		}
	}
}

func comparePoints(t *testing.T, g *Segment, list []row, r *rand.Rand) {
	t.Helper()
	for _, f := range []FieldID{fPoint, fPoints} {
		p := must(g.Points(f))
		lat, lon := p.Coordinates()
		for _, x := range list {
			from, to := p.Span(x.num)
			if p.IsNull(x.num) != (x.d.lat[f] == nil) {
				t.Fatalf("point of %d is wrong about NULL", x.num)
			}
			if !p.IsNull(x.num) && (!slices.Equal(lat[from:to], x.d.lat[f]) || !slices.Equal(lon[from:to], x.d.lon[f])) {
				t.Fatalf("point of %d: %v %v, want %v %v", x.num, lat[from:to], lon[from:to], x.d.lat[f], x.d.lon[f])
			}
		}
		for range 6 {
			m := int32(1000)
			if f == fPoints {
				m = 900000000
			}
			b := Box{r.Int32N(m) - m/2, r.Int32N(m) - m/2, r.Int32N(m) - m/2, r.Int32N(m) - m/2}
			if r.IntN(4) == 0 {
				b = Box{-1 << 31, 1<<31 - 1, -1 << 31, r.Int32N(m)}
			}
			set := make([]uint64, BitWords(g.Docs()))
			p.BoxInto(b, set)
			if got, want := p.CountBox(b), len(p.BoxPlaces(b, nil)); got != want {
				t.Fatalf("%v: counted %d of %d places", b, got, want)
			}
			compareSets(t, fmt.Sprintf("field %d in %v", f, b), g, set, list, func(d *doc) bool {
				for i, y := range d.lat[f] {
					if b.has(y, d.lon[f][i]) {
						return true
					}
				}
				return false
			})
		}
	}
}

func openTest(t *testing.T, dir string) *Index {
	t.Helper()
	ix, err := Open(dir, testSchema(), Options{PersistEvery: 2 * time.Millisecond, SegmentsPerTier: 3})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { ix.Close() })
	return ix
}

// TestAgainstModel applies random batches and compares everything that can be
// read with a map, between persists, merges and reopening.
func TestAgainstModel(t *testing.T) {
	for seed := range uint64(testflag.Rounds(1, 1, 3)) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			r := rand.New(rand.NewPCG(seed, 1))
			dir := t.TempDir()
			ix := openTest(t, dir)
			model := map[string]*doc{}
			ctx := context.Background()
			for step := range 25 {
				b := ix.NewBatch()
				for range r.IntN(120) {
					id := fmt.Sprintf("%0*d", 1+r.IntN(2)*7, r.IntN(200))
					if r.IntN(4) == 0 {
						b.Delete([]byte(id))
						delete(model, id)
						continue
					}
					d := randomDoc(r, 0)
					b.Upsert([]byte(id))
					d.put(b)
					model[id] = d
				}
				b.Checkpoint(uint64(step + 1))
				b.Set("step", []byte(fmt.Sprint(step)))
				if err := ix.Apply(b); err != nil {
					t.Fatal(err)
				}
				switch r.IntN(5) {
				case 0:
					if err := ix.Persist(ctx); err != nil {
						t.Fatal(err)
					}
				case 1:
					if err := ix.Merge(ctx); err != nil {
						t.Fatal(err)
					}
				case 2:
					if err := ix.Close(); err != nil {
						t.Fatal(err)
					}
					ix = openTest(t, dir)
				}
				compareIndex(t, ix, model, r)
				compareDigests(t, ix, model)
				s := must(ix.Snapshot())
				if s.Checkpoint() != uint64(step+1) || string(s.Value("step")) != fmt.Sprint(step) {
					t.Fatalf("checkpoint %d, value %q after step %d", s.Checkpoint(), s.Value("step"), step)
				}
				s.Close()
			}
			if err := ix.Verify(ctx); err != nil {
				t.Fatal(err)
			}
		})
	}
}

func placeOf(lat, lon int32) Place {
	return Place{lat, lon, float64(lon)/1e7 + 1e-12, float64(lat)/1e7 + 1e-12}
}
