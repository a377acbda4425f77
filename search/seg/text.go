package seg

import (
	"fmt"
	"sync"

	"github.com/RoaringBitmap/roaring/v2"
	segment "github.com/blevesearch/scorch_segment_api/v2"
	"github.com/blevesearch/vellum"
	"github.com/blevesearch/vellum/levenshtein"
	zap "github.com/blevesearch/zapx/v16"
)

// Text is a Text field of a segment: terms with the documents that have them,
// how often and where, and the length of each document. It may be used
// concurrently, its readers not.
type Text struct {
	lengths *Words
	total   int64
	texts   int
	sb      *zap.SegmentBase // nil: no document has a text
	name    string
	id      FieldID
	// fst is the dictionary of the terms in part, nil when there are none.
	fst  *vellum.FST
	part []byte
}

// Lengths is the column of the lengths of documents.
func (t *Text) Lengths() *Words { return t.lengths }

// Total gives the number of texts that are not NULL and the sum of their
// lengths, deleted documents included.
func (t *Text) Total() (texts int, length int64) { return t.texts, t.total }

// Terms reads the terms of a text field.
type Terms struct {
	t     *Text
	dict  segment.TermDictionary
	lists *vellum.Reader
}

// Terms returns a reader.
func (t *Text) Terms() (*Terms, error) {
	r := &Terms{t: t}
	if t.sb == nil {
		return r, nil
	}
	d, err := t.sb.Dictionary(zapName(t.id))
	if err != nil {
		return nil, fmt.Errorf("terms of field %d: %w", t.id, err)
	}
	r.dict = d
	return r, nil
}

// Len is the number of distinct terms.
func (r *Terms) Len() int {
	if r.dict == nil {
		return 0
	}
	return r.dict.Cardinality()
}

// Automaton decides byte by byte which terms match. States are numbers.
type Automaton interface {
	Start() int
	IsMatch(state int) bool
	// CanMatch reports whether a match is still possible.
	CanMatch(state int) bool
	// WillAlwaysMatch reports whether every continuation matches.
	WillAlwaysMatch(state int) bool
	Accept(state int, b byte) int
}

// Each calls back with the terms from lo to hi (not included; nil is no
// bound) that the automaton matches (nil: all) in ascending order, and the
// number of documents of each, deleted ones included, until visit returns
// false. The term is valid during the call.
func (r *Terms) Each(a Automaton, lo, hi []byte, visit func(term []byte, docs int) bool) error {
	if r.dict == nil {
		return nil
	}
	if a == nil {
		a = &vellum.AlwaysMatch{}
	}
	it := r.dict.AutomatonIterator(a, lo, hi)
	for {
		e, err := it.Next()
		if err != nil {
			return fmt.Errorf("terms of field %d: %w", r.t.id, err)
		}
		if e == nil || !visit([]byte(e.Term), int(e.Count)) {
			return nil
		}
	}
}

// EachPrefix is Each for the terms that begin with prefix.
func (r *Terms) EachPrefix(prefix []byte, visit func(term []byte, docs int) bool) error {
	hi := append([]byte{}, prefix...)
	for len(hi) > 0 && hi[len(hi)-1] == 0xff {
		hi = hi[:len(hi)-1]
	}
	if len(hi) == 0 {
		hi = nil
	} else {
		hi[len(hi)-1]++
	}
	return r.Each(nil, prefix, hi, visit)
}

// fuzzyBuilders make automata for distances from 0 on; making one takes
// milliseconds.
var fuzzyBuilders = [...]func() (*levenshtein.LevenshteinAutomatonBuilder, error){fuzzyBuilder(0), fuzzyBuilder(1), fuzzyBuilder(2)}

func fuzzyBuilder(distance uint8) func() (*levenshtein.LevenshteinAutomatonBuilder, error) {
	return sync.OnceValues(func() (*levenshtein.LevenshteinAutomatonBuilder, error) {
		return levenshtein.NewLevenshteinAutomatonBuilder(distance, false)
	})
}

// Fuzzy matches the terms that become the given one by at most distance (0 to
// 2) insertions, deletions and replacements of characters.
func Fuzzy(term string, distance int) (Automaton, error) {
	if distance < 0 || distance >= len(fuzzyBuilders) {
		return nil, fmt.Errorf("fuzzy distance %d, at most %d is possible", distance, len(fuzzyBuilders)-1)
	}
	b, err := fuzzyBuilders[distance]()
	if err != nil {
		return nil, err
	}
	return b.BuildDfa(term, uint8(distance))
}

// Postings are the documents of one term. Not for concurrent use.
type Postings struct {
	list  *zap.PostingsList
	it    *zap.PostingsIterator
	bm    *roaring.Bitmap
	one   uint32
	isOne bool
	id    FieldID
}

// Postings finds a term. p may be one that is no longer needed, or nil.
func (r *Terms) Postings(term []byte, p *Postings) (*Postings, error) {
	if p == nil {
		p = &Postings{}
	}
	p.id, p.bm, p.isOne = r.t.id, nil, false
	if r.dict == nil {
		p.list = nil
		return p, nil
	}
	var prealloc segment.PostingsList
	if p.list != nil {
		prealloc = p.list
	}
	l, err := r.dict.PostingsList(term, nil, prealloc)
	if err != nil {
		return nil, fmt.Errorf("term of field %d: %w", r.t.id, err)
	}
	p.list = l.(*zap.PostingsList)
	if p.list.Count() == 0 {
		p.list = nil
		return p, nil
	}
	o := p.list.Iterator(false, false, false, nil).(segment.OptimizablePostingsIterator)
	if d, ok := o.DocNum1Hit(); ok {
		p.one, p.isOne = uint32(d), true
	} else {
		p.bm = o.ActualBitmap()
	}
	return p, nil
}

// Count is the number of documents, deleted ones included.
func (p *Postings) Count() int {
	switch {
	case p.isOne:
		return 1
	case p.bm == nil:
		return 0
	}
	return int(p.bm.GetCardinality())
}

// Into adds the documents to the bitset.
func (p *Postings) Into(set []uint64) {
	if p.isOne {
		setBit(set, p.one)
	}
	if p.bm == nil {
		return
	}
	orRoaring(p.bm, set)
}

// orRoaring adds a roaring bitmap to the bitset. Roaring's own way overwrites
// what it finds, so one of many bits goes through a second bitset.
func orRoaring(bm *roaring.Bitmap, set []uint64) {
	if bm.GetCardinality() > uint64(len(set)) {
		other := make([]uint64, len(set))
		bm.WriteDenseTo(other)
		for i, w := range other {
			set[i] |= w
		}
		return
	}
	it := bm.ManyIterator()
	var buf [512]uint32
	for n := it.NextMany(buf[:]); n > 0; n = it.NextMany(buf[:]) {
		for _, d := range buf[:n] {
			setBit(set, d)
		}
	}
}

// Docs appends the documents in ascending order.
func (p *Postings) Docs(out []uint32) []uint32 {
	if p.isOne {
		return append(out, p.one)
	}
	if p.bm == nil {
		return out
	}
	it := p.bm.ManyIterator()
	for {
		if len(out) == cap(out) {
			out = append(out, 0)[:len(out)]
		}
		n := it.NextMany(out[len(out):cap(out)])
		if n == 0 {
			return out
		}
		out = out[:len(out)+n]
	}
}

// Occurrence is one place of a term in a text.
type Occurrence struct{ Pos, Start, End uint32 }

// Hit is a document of a term.
type Hit struct {
	Doc  uint32
	Freq uint32
	// At lists the positions, if they were requested, in the order of the text;
	// valid until the next call.
	At []Occurrence
}

// Scan begins to read the documents that are in among (nil: all), with the
// frequency of the term and, if requested, its positions. Next continues.
func (p *Postings) Scan(places bool, among []uint64) (*Hits, error) {
	h := &Hits{p: p, places: places}
	if p.list == nil {
		return h, nil
	}
	it := p.list.Iterator(true, false, places, p.it)
	p.it = it.(*zap.PostingsIterator)
	h.it = p.it
	if among != nil {
		if p.isOne {
			if !hasBit(among, p.one) {
				h.it = nil
			}
		} else {
			h.it.ReplaceActual(roaring.And(p.bm, roaring.FromDense(among, false)))
		}
	}
	return h, nil
}

// Hits reads the documents of a term.
type Hits struct {
	p      *Postings
	it     *zap.PostingsIterator
	places bool
	hit    Hit
}

// Next gives the next document, nil at the end. It is valid until the next
// call.
func (h *Hits) Next() (*Hit, error) {
	if h.it == nil {
		return nil, nil
	}
	n, err := h.it.Next()
	if err != nil {
		return nil, fmt.Errorf("postings of field %d: %w", h.p.id, err)
	}
	if n == nil {
		return nil, nil
	}
	h.hit.Doc, h.hit.Freq = uint32(n.Number()), uint32(n.Frequency())
	h.hit.At = h.hit.At[:0]
	if h.places {
		for _, l := range n.Locations() {
			h.hit.At = append(h.hit.At, Occurrence{uint32(l.Pos()), uint32(l.Start()), uint32(l.End())})
		}
	}
	return &h.hit, nil
}
