package query

import (
	"bytes"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/search/text"
)

// Node is a condition on documents.
type Node interface {
	// eval gives the documents of among for which the condition is true, and perhaps
	// others that are not of among. The caller may change the set; eval does not change
	// among.
	eval(s *seg.Segment, among []uint64) ([]uint64, error)
}

// And is true where all nodes are; without nodes, everywhere.
type And []Node

// Or is true where one node is.
type Or []Node

// Not is true where a node is not: also where that is NULL.
type Not struct{ Of Node }

// Check is true of documents for which a test is that reads values of them.
type Check struct {
	// Test leaves the documents for which it is true, of those of a set.
	Test func(s *seg.Segment, set []uint64) error
	// Share is the estimated fraction of the documents for which it is true.
	Share float64
}

func (n *Check) eval(s *seg.Segment, among []uint64) ([]uint64, error) {
	set := slices.Clone(among)
	return set, n.Test(s, set)
}

// WordRange are the words from Lo to Hi, both included.
type WordRange struct{ Lo, Hi int64 }

// Words is true of documents with a word in one of the ranges.
type Words struct {
	Field  seg.FieldID
	Ranges []WordRange
	// Null: documents without a value too.
	Null bool
	// Workers is the most goroutines that read values; 0 is 1.
	Workers int
}

// KeyRange are the sort keys from Lo on up to Hi, which is not included; nil is
// no bound.
type KeyRange struct{ Lo, Hi []byte }

// Keys is true of documents with a sort key in one of the ranges.
type Keys struct {
	Field  seg.FieldID
	Ranges []KeyRange
	// Null: documents without a value too.
	Null bool
}

// Values is true of documents with one of some values, byte by byte, of a field
// in which other values may have the same sort key.
type Values struct {
	Field seg.FieldID
	List  []KeyValue
}

// KeyValue is a value with its sort key.
type KeyValue struct{ Key, Value []byte }

func newSet(s *seg.Segment) []uint64 { return make([]uint64, seg.BitWords(s.Docs())) }

func (a And) eval(s *seg.Segment, among []uint64) ([]uint64, error) {
	if len(a) == 0 {
		return slices.Clone(among), nil
	}
	var room [8]effort
	efforts := room[:0]
	for _, n := range a {
		efforts = append(efforts, effortOf(s, n))
	}
	set, first := among, true
	for e := few; e <= dear; e++ {
		for i, n := range a {
			if efforts[i] != e {
				continue
			}
			if !first && isEmpty(set) {
				return set, nil
			}
			other, err := n.eval(s, set)
			if err != nil {
				return nil, err
			}
			for j, w := range set {
				other[j] &= w
			}
			set, first = other, false
		}
	}
	return set, nil
}

// effort is how expensive it is to evaluate a node: parts of an And that are cheap leave
// fewer documents to the others.
type effort uint8

const (
	few    effort = iota // lists of words, of which an intersection is short
	cheap                // lists and bitsets
	scans                // all values, or those of some documents
	places               // positions of words, and boxes
	dear                 // tests of documents
)

func effortOf(s *seg.Segment, n Node) effort {
	of := func(list []Node) (e effort) {
		for _, n := range list {
			e = max(e, effortOf(s, n))
		}
		return e
	}
	switch n := n.(type) {
	case And:
		return of(n)
	case Or:
		return of(n)
	case Not:
		return effortOf(s, n.Of)
	case *Keys:
		return keyEffort(s, n.Field)
	case *Values:
		return keyEffort(s, n.Field)
	case *Words:
		w, err := s.Words(n.Field)
		if err != nil || !w.HasPerm() {
			return scans
		}
		for _, r := range n.Ranges {
			if w.Scans(r.Lo, r.Hi) {
				return scans
			}
		}
		return cheap
	case *Match:
		switch {
		case ofTerms(n.Query):
			return few
		case isTerm(n.Query):
			return cheap
		}
		return places
	case *Boxes, *Circle:
		return places
	case *Nested:
		return max(scans, effortOf(s, n.Of))
	}
	return dear
}

func isTerm(q text.Query) bool {
	_, ok := q.(text.Term)
	return ok
}

// ofTerms reports words all of which are required.
func ofTerms(q text.Query) bool {
	and, ok := q.(text.And)
	return ok && len(and.Of) > 1 && !slices.ContainsFunc(and.Of, func(q text.Query) bool { return !isTerm(q) })
}

// keyEffort is that of a condition on keys.
func keyEffort(s *seg.Segment, id seg.FieldID) effort {
	if k, err := s.Keys(id); err != nil || !k.HasLists() {
		return scans
	}
	return cheap
}

func countBits(set []uint64) (n int) {
	for _, w := range set {
		n += bits.OnesCount64(w)
	}
	return n
}

func isEmpty(set []uint64) bool {
	for _, w := range set {
		if w != 0 {
			return false
		}
	}
	return true
}

func (o Or) eval(s *seg.Segment, among []uint64) ([]uint64, error) {
	set := newSet(s)
	left := slices.Clone(among)
	for _, n := range o {
		if isEmpty(left) {
			break
		}
		other, err := n.eval(s, left)
		if err != nil {
			return nil, err
		}
		for i, w := range other {
			set[i] |= w & left[i]
			left[i] &^= w
		}
	}
	return set, nil
}

func (n Not) eval(s *seg.Segment, among []uint64) ([]uint64, error) {
	set, err := n.Of.eval(s, among)
	if err != nil {
		return nil, err
	}
	for i := range set {
		set[i] = among[i] &^ set[i]
	}
	return set, nil
}

// nullsInto adds the documents without a value.
func nullsInto(s *seg.Segment, nulls []uint64, all bool, set []uint64) {
	live, _ := s.Live()
	for i := range set {
		switch {
		case all:
			set[i] |= live[i]
		case nulls != nil:
			set[i] |= nulls[i]
		}
	}
}

func (n *Words) eval(s *seg.Segment, among []uint64) ([]uint64, error) {
	w, err := s.Words(n.Field)
	if err != nil {
		return nil, err
	}
	if r := n.Ranges; len(r) == 1 && !w.Multi() && !w.AllNull() && isSparse(among, rangeWork(s, w, r[0].Lo, r[0].Hi)) {
		set := slices.Clone(among)
		r := r[0]
		keepIn(set, r.Lo, r.Hi, w.Gather)
		applyNulls(set, among, w.Nulls(), n.Null)
		return set, nil
	}
	set := newSet(s)
	for _, r := range n.Ranges {
		if err := n.rangeInto(w, r, set); err != nil {
			return nil, err
		}
	}
	if n.Null {
		nullsInto(s, w.Nulls(), w.AllNull(), set)
	}
	return set, nil
}

// parallelScan is of how many values a goroutine more pays to read them.
const parallelScan = 1 << 19

// rangeInto adds the documents with a value in a range to a set.
func (n *Words) rangeInto(w *seg.Words, r WordRange, set []uint64) error {
	workers := min(n.Workers, w.Docs()/parallelScan)
	if workers < 2 || w.Multi() || !w.Scans(r.Lo, r.Hi) {
		w.RangeInto(r.Lo, r.Hi, set)
		return nil
	}
	blocks := (w.Docs() + seg.BlockDocs - 1) / seg.BlockDocs
	return inParallel(workers, workers, func(i int) error {
		from, to := i*blocks/workers*seg.BlockDocs, min((i+1)*blocks/workers*seg.BlockDocs, w.Docs())
		w.ScanInto(r.Lo, r.Hi, from, to, set)
		return nil
	})
}

func (n *Keys) eval(s *seg.Segment, among []uint64) ([]uint64, error) {
	k, err := s.Keys(n.Field)
	if err != nil {
		return nil, err
	}
	if len(n.Ranges) == 1 {
		from, to := k.FindRange(n.Ranges[0].Lo, n.Ranges[0].Hi)
		if to == from+1 && !n.Null {
			if dense := k.DenseClass(from); dense != nil {
				return slices.Clone(dense), nil
			}
		}
		work := s.Docs()
		if k.HasLists() {
			work = k.Count(from, to)
		}
		if (to > from+1 || !k.HasLists() && to > from) && !k.Multi() && !k.AllNull() && isSparse(among, work) {
			first, _ := k.ClassOrdinals(from)
			_, last := k.ClassOrdinals(to - 1)
			set := slices.Clone(among)
			keepIn(set, int64(first), int64(last)-1, k.GatherOrdinals)
			applyNulls(set, among, k.Nulls(), n.Null)
			return set, nil
		}
	}
	set := newSet(s)
	for _, r := range n.Ranges {
		from, to := k.FindRange(r.Lo, r.Hi)
		k.Into(from, to, set)
	}
	if n.Null {
		nullsInto(s, k.Nulls(), k.AllNull(), set)
	}
	return set, nil
}

// rangeWork is how many values are looked at to find those of a range. To take one from
// the order costs as much as to compare several.
func rangeWork(s *seg.Segment, w *seg.Words, lo, hi int64) int {
	const perSorted = 4
	if w.Scans(lo, hi) || !w.HasPerm() {
		return s.Docs()
	}
	return min(perSorted*w.RangeCount(lo, hi), s.Docs())
}

// sparse is how many values are scanned in the time that takes to read that of one
// document.
const sparse = 8

// isSparse reports that a set has so few documents that reading their values is
// cheaper than so much work.
func isSparse(set []uint64, work int) bool {
	n, most := 0, work/sparse
	for i, w := range set {
		if n += bits.OnesCount64(w); i&15 == 15 && n > most {
			return false
		}
	}
	return n <= most
}

// gathered are documents with their numbers.
type gathered struct {
	docs [blockDocs]uint32
	vals [blockDocs]int64
}

var gatherings = sync.Pool{New: func() any { return new(gathered) }}

// keepIn leaves the documents of a set whose numbers are from lo to hi.
func keepIn(set []uint64, lo, hi int64, gather func(docs []uint32, out []int64)) {
	g := gatherings.Get().(*gathered)
	defer gatherings.Put(g)
	span := uint64(hi) - uint64(lo)
	h := Hits{Set: set}
	for from, end := uint32(0), uint32(len(set)<<6); from < end; {
		var docs []uint32
		docs, from = h.Docs(from, blockDocs, g.docs[:0])
		vals := g.vals[:len(docs)]
		gather(docs, vals)
		for i, d := range docs {
			_, out := bits.Sub64(span, uint64(vals[i])-uint64(lo), 0)
			set[d>>6] &^= out << (d & 63)
		}
	}
}

// applyNulls leaves documents without a value out of a set or, where they are
// wanted, adds those of among.
func applyNulls(set, among, nulls []uint64, want bool) {
	for i, w := range nulls {
		if want {
			set[i] |= w & among[i]
		} else {
			set[i] &^= w
		}
	}
}

func (n *Values) eval(s *seg.Segment, _ []uint64) ([]uint64, error) {
	k, err := s.Keys(n.Field)
	if err != nil {
		return nil, err
	}
	set := newSet(s)
	var docs, of []uint32
	for _, v := range n.List {
		class, ok := k.FindKey(v.Key)
		if !ok {
			continue
		}
		from, to := k.ClassOrdinals(class)
		ord := from
		for ord < to && !bytes.Equal(k.Value(ord), v.Value) {
			ord++
		}
		switch {
		case ord == to:
			continue
		case from+1 == to:
			k.Into(class, class+1, set)
			continue
		case !k.HasLists():
			k.ValuesInto(ord, ord+1, set)
			continue
		}
		docs = k.ClassDocs(class, docs[:0])
		for _, d := range docs {
			if of = k.Array(d, of[:0]); slices.Contains(of, ord) {
				set[d>>6] |= 1 << (d & 63)
			}
		}
	}
	return set, nil
}

// Hits are the documents that were found in a segment.
type Hits struct {
	Seg   *seg.Segment
	Set   []uint64
	Count int
}

// Docs appends up to max of the documents from number from on, ascending, and
// returns the number to continue with; next is after the last document at the end.
func (h *Hits) Docs(from uint32, max int, out []uint32) (docs []uint32, next uint32) {
	before := len(out)
	for i := int(from >> 6); i < len(h.Set); i++ {
		w := h.Set[i]
		if i == int(from>>6) {
			w &= ^uint64(0) << (from & 63)
		}
		if w == 0 {
			continue
		}
		if len(out)+64 <= max {
			out = appendDocs(out, i, w)
			if from == 0 && len(out)-before == h.Count {
				break // there are no others
			}
			continue
		}
		for ; w != 0; w &= w - 1 {
			if len(out) == max {
				return out, uint32(i<<6 + bits.TrailingZeros64(w))
			}
			out = append(out, uint32(i<<6+bits.TrailingZeros64(w)))
		}
	}
	return out, uint32(len(h.Set) << 6)
}

// Run is how many documents from number from on are in the hits one after the other,
// at most max.
func (h *Hits) Run(from uint32, max int) (n int) {
	for i := int(from >> 6); i < len(h.Set) && n < max; i++ {
		at := 0
		if i == int(from>>6) {
			at = int(from & 63)
		}
		ones := bits.TrailingZeros64(^(h.Set[i] >> at))
		n += min(ones, 64-at)
		if at+ones < 64 {
			break
		}
	}
	return min(n, max)
}

// Part returns the first max documents from number from on; next is the number
// after them.
func (h *Hits) Part(from uint32, max int) (part Hits, next uint32) {
	part = Hits{Seg: h.Seg, Set: make([]uint64, len(h.Set))}
	for i := int(from >> 6); i < len(h.Set); i++ {
		w := h.Set[i]
		if i == int(from>>6) {
			w &= ^uint64(0) << (from & 63)
		}
		n := bits.OnesCount64(w)
		for ; part.Count+n > max; n-- {
			w &^= 1 << (63 - bits.LeadingZeros64(w))
		}
		part.Set[i] = w
		if part.Count += n; part.Count == max && w != 0 {
			return part, uint32(i<<6 + 64 - bits.LeadingZeros64(w))
		}
	}
	return part, uint32(len(h.Set) << 6)
}

// FirstID is the id of the first document.
func (h *Hits) FirstID() []byte {
	for i, w := range h.Set {
		if w != 0 {
			return h.Seg.IDOf(uint32(i<<6 + bits.TrailingZeros64(w)))
		}
	}
	return nil
}

// appendDocs appends the documents of word i of a set. Four are written at a time, which
// may be too many: where the documents end is hard to predict for a processor.
func appendDocs(out []uint32, i int, w uint64) []uint32 {
	if w == 0 {
		return out
	}
	n, at := bits.OnesCount64(w), uint32(i<<6)
	out = slices.Grow(out, (n+3)&^3)
	for p := out[len(out) : len(out)+(n+3)&^3]; len(p) >= 4; p = p[4:] {
		p[0] = at + uint32(bits.TrailingZeros64(w))
		w &= w - 1
		p[1] = at + uint32(bits.TrailingZeros64(w))
		w &= w - 1
		p[2] = at + uint32(bits.TrailingZeros64(w))
		w &= w - 1
		p[3] = at + uint32(bits.TrailingZeros64(w))
		w &= w - 1
	}
	return out[:len(out)+n]
}

// Run finds the documents of a view; segments without hits are left out.
func Run(v *search.View, n Node) ([]Hits, error) {
	return run(v, n, false)
}

func run(v *search.View, n Node, countOnly bool) ([]Hits, error) {
	var out []Hits
	for _, s := range v.Segments() {
		h, err := runSegment(s, v, n, countOnly)
		if err != nil {
			return nil, err
		}
		if h.Count > 0 {
			out = append(out, h)
		}
	}
	return out, nil
}

// RunParallel is Run, or Tally, on a goroutine for each of some trees, which are the
// same except for the state that their checks work with.
func RunParallel(v *search.View, trees []Node, countOnly bool) ([]Hits, error) {
	segs := v.Segments()
	hits := make([]Hits, len(segs))
	free := make(chan Node, len(trees))
	for _, n := range trees {
		free <- n
	}
	err := inParallel(len(segs), len(trees), func(i int) (err error) {
		n := <-free
		defer func() {
			free <- n
			if p := recover(); p != nil { // from a check, which is evaluated again elsewhere
				err = fmt.Errorf("asking a segment: %v", p)
			}
		}()
		hits[i], err = runSegment(segs[i], v, n, countOnly)
		return err
	})
	return slices.DeleteFunc(hits, func(h Hits) bool { return h.Count == 0 }), err
}

// runSegment finds the documents of a segment.
func runSegment(s *seg.Segment, v *search.View, n Node, countOnly bool) (Hits, error) {
	h := Hits{Seg: s}
	gone := s.DocNumbers(v.Changed, nil)
	if countOnly {
		var ok bool
		var err error
		if h.Count, ok, err = tally(s, n, gone); ok || err != nil {
			return h, err
		}
		h.Count = 0
	}
	live, _ := s.Roots()
	among := live
	if len(gone) > 0 {
		among = slices.Clone(live)
	}
	for _, d := range gone {
		among[d>>6] &^= 1 << (d & 63)
	}
	var err error
	if h.Set, err = n.eval(s, among); err != nil {
		return h, err
	}
	for i, w := range among {
		h.Set[i] &= w
		h.Count += bits.OnesCount64(h.Set[i])
	}
	return h, nil
}
