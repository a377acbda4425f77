package query

import (
	"math/bits"

	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/seg"
)

// Node is a condition on documents.
type Node interface {
	// eval gives the documents of a segment for which the condition is true,
	// deleted ones perhaps among them. The caller may change the set.
	eval(s *seg.Segment) ([]uint64, error)
}

// And is true where all nodes are; without nodes, everywhere.
type And []Node

// Or is true where one node is.
type Or []Node

// WordRange are the words from Lo to Hi, both included.
type WordRange struct{ Lo, Hi int64 }

// Words is true of documents with a word in one of the ranges.
type Words struct {
	Field  seg.FieldID
	Ranges []WordRange
	// Null: documents without a value too.
	Null bool
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

func newSet(s *seg.Segment) []uint64 { return make([]uint64, seg.BitWords(s.Docs())) }

func (a And) eval(s *seg.Segment) ([]uint64, error) {
	if len(a) == 0 {
		live, _ := s.Roots()
		return append([]uint64(nil), live...), nil
	}
	set, err := a[0].eval(s)
	for _, n := range a[1:] {
		if err != nil || isEmpty(set) {
			return set, err
		}
		var other []uint64
		if other, err = n.eval(s); err != nil {
			return nil, err
		}
		for i, w := range other {
			set[i] &= w
		}
	}
	return set, err
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

func (o Or) eval(s *seg.Segment) ([]uint64, error) {
	set := newSet(s)
	for _, n := range o {
		other, err := n.eval(s)
		if err != nil {
			return nil, err
		}
		for i, w := range other {
			set[i] |= w
		}
	}
	return set, nil
}

// nullsInto adds the documents without a value.
func nullsInto(s *seg.Segment, nulls []uint64, all bool, set []uint64) {
	live, _ := s.Roots()
	for i := range set {
		switch {
		case all:
			set[i] |= live[i]
		case nulls != nil:
			set[i] |= nulls[i]
		}
	}
}

func (n *Words) eval(s *seg.Segment) ([]uint64, error) {
	w, err := s.Words(n.Field)
	if err != nil {
		return nil, err
	}
	set := newSet(s)
	for _, r := range n.Ranges {
		w.RangeInto(r.Lo, r.Hi, set)
	}
	if n.Null {
		nullsInto(s, w.Nulls(), w.AllNull(), set)
	}
	return set, nil
}

func (n *Keys) eval(s *seg.Segment) ([]uint64, error) {
	k, err := s.Keys(n.Field)
	if err != nil {
		return nil, err
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

// Hits are the documents that were found in a segment.
type Hits struct {
	Seg   *seg.Segment
	Set   []uint64
	Count int
}

// Docs appends up to max of the documents from number from on, ascending, and
// gives the number to go on with; next is behind all when there are no more.
func (h *Hits) Docs(from uint32, max int, out []uint32) (docs []uint32, next uint32) {
	for i := int(from >> 6); i < len(h.Set); i++ {
		w := h.Set[i]
		if i == int(from>>6) {
			w &= ^uint64(0) << (from & 63)
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

// Run finds the documents of a view; segments without hits are left out.
func Run(v *search.View, n Node) ([]Hits, error) {
	var out []Hits
	var gone []uint32
	for _, s := range v.Segments() {
		set, err := n.eval(s)
		if err != nil {
			return nil, err
		}
		live, _ := s.Roots()
		for i := range set {
			set[i] &= live[i]
		}
		gone = s.DocNumbers(v.Changed, gone[:0])
		for _, d := range gone {
			set[d>>6] &^= 1 << (d & 63)
		}
		if count := countBits(set); count > 0 {
			out = append(out, Hits{Seg: s, Set: set, Count: count})
		}
	}
	return out, nil
}
