package query

import (
	"math/bits"
	"slices"

	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/search/text"
)

// Match is true of documents whose texts match a query: those of all fields
// together are one text, in which a phrase does not go from one field to another.
type Match struct {
	Fields []seg.FieldID
	Query  text.Query
}

func (n *Match) eval(s *seg.Segment, _ []uint64) ([]uint64, error) {
	m := matcher{s: s}
	for _, id := range n.Fields {
		t, err := s.Text(id)
		if err != nil {
			return nil, err
		}
		terms, err := t.Terms()
		if err != nil {
			return nil, err
		}
		m.fields = append(m.fields, terms)
	}
	return m.query(n.Query)
}

// matcher evaluates a query in a segment.
type matcher struct {
	s      *seg.Segment
	fields []*seg.Terms
}

func (m *matcher) query(q text.Query) ([]uint64, error) {
	switch q := q.(type) {
	case text.None, nil:
		return newSet(m.s), nil
	case text.All:
		live, _ := m.s.Roots()
		return slices.Clone(live), nil
	case text.And:
		return m.and(q.Of)
	case text.Or:
		return m.or(q)
	case text.Not:
		set, err := m.query(q.Of)
		if err != nil {
			return nil, err
		}
		live, _ := m.s.Roots()
		for i := range set {
			set[i] = live[i] &^ set[i]
		}
		return set, nil
	case text.Boost:
		return m.query(q.Of)
	case text.Should:
		return m.query(q.Of)
	}
	set := newSet(m.s)
	for _, f := range m.fields {
		if err := m.leaf(f, q, set); err != nil {
			return nil, err
		}
	}
	return set, nil
}

func (m *matcher) and(of []text.Query) ([]uint64, error) {
	var set []uint64
	for _, q := range of {
		other, err := m.query(q)
		if err != nil {
			return nil, err
		}
		if set == nil {
			set = other
			continue
		}
		for i, w := range other {
			set[i] &= w
		}
	}
	return set, nil
}

func (m *matcher) or(q text.Or) ([]uint64, error) {
	if q.Min > 1 {
		return m.atLeast(q)
	}
	set := newSet(m.s)
	for _, one := range q.Of {
		other, err := m.query(one)
		if err != nil {
			return nil, err
		}
		for i, w := range other {
			set[i] |= w
		}
	}
	return set, nil
}

// atLeast counts in bits: planes[i] has bit i of how many members match.
func (m *matcher) atLeast(q text.Or) ([]uint64, error) {
	set := newSet(m.s)
	counts := make([]uint16, len(set)<<6)
	for _, one := range q.Of {
		other, err := m.query(one)
		if err != nil {
			return nil, err
		}
		for i, w := range other {
			for ; w != 0; w &= w - 1 {
				d := i<<6 + bits.TrailingZeros64(w)
				if counts[d]++; int(counts[d]) == q.Min {
					set[i] |= w & -w
				}
			}
		}
	}
	return set, nil
}

// leaf adds the documents of a leaf in one field.
func (m *matcher) leaf(f *seg.Terms, q text.Query, set []uint64) error {
	switch q := q.(type) {
	case text.Phrase:
		lists := make([]text.Query, len(q.Terms))
		for i, t := range q.Terms {
			lists[i] = text.Term{Term: t.Term}
			if t.Prefix {
				lists[i] = text.Prefix{Prefix: t.Term}
			}
		}
		return m.placed(f, lists, set, func(at [][]int) []int { return text.PhraseStarts(q, at) })
	case text.Near:
		return m.placed(f, q.Of, set, func(at [][]int) []int { return text.NearStarts(q.Window, at) })
	}
	terms, err := expand(f, q)
	if err != nil {
		return err
	}
	var p *seg.Postings
	for _, t := range terms {
		if p, err = f.Postings(t, p); err != nil {
			return err
		}
		p.Into(set)
	}
	return nil
}

// expand gives the terms of a field that a leaf means.
func expand(f *seg.Terms, q text.Query) (terms [][]byte, err error) {
	add := func(term []byte, _ int) bool {
		if !text.Hidden(string(term)) {
			terms = append(terms, slices.Clone(term))
		}
		return true
	}
	switch q := q.(type) {
	case text.Term:
		return [][]byte{[]byte(q.Term)}, nil
	case text.Prefix:
		return terms, f.EachPrefix([]byte(q.Prefix), add)
	case text.Fuzzy:
		if q.Distance > 2 {
			err = f.EachPrefix(nil, func(term []byte, n int) bool {
				return !text.WithinDistance(q.Term, string(term), q.Distance) || add(term, n)
			})
			return terms, err
		}
		a, err := seg.Fuzzy(q.Term, q.Distance)
		if err != nil {
			return nil, err
		}
		return terms, f.Each(a, nil, nil, add)
	}
	return nil, nil
}

// placed adds the documents in which starts finds places, from those of each
// member.
func (m *matcher) placed(f *seg.Terms, of []text.Query, set []uint64, starts func(at [][]int) []int) error {
	var among []uint64
	for _, q := range of {
		one := newSet(m.s)
		if err := m.leaf(f, q, one); err != nil {
			return err
		}
		if among == nil {
			among = one
			continue
		}
		for i, w := range one {
			among[i] &= w
		}
	}
	if among == nil || isEmpty(among) {
		return nil
	}
	at := make([]map[uint32][]int, len(of))
	for i, q := range of {
		var err error
		if at[i], err = m.places(f, q, among); err != nil {
			return err
		}
	}
	lists := make([][]int, len(of))
	for i, w := range among {
		for ; w != 0; w &= w - 1 {
			d := uint32(i<<6 + bits.TrailingZeros64(w))
			for j := range at {
				lists[j] = at[j][d]
			}
			if len(starts(lists)) > 0 {
				set[i] |= w & -w
			}
		}
	}
	return nil
}

// places are the positions of a member in each of some documents, ascending.
func (m *matcher) places(f *seg.Terms, q text.Query, among []uint64) (map[uint32][]int, error) {
	out := map[uint32][]int{}
	if p, ok := q.(text.Phrase); ok {
		parts := make([]map[uint32][]int, len(p.Terms))
		for i, t := range p.Terms {
			var leaf text.Query = text.Term{Term: t.Term}
			if t.Prefix {
				leaf = text.Prefix{Prefix: t.Term}
			}
			var err error
			if parts[i], err = m.places(f, leaf, among); err != nil {
				return nil, err
			}
		}
		lists := make([][]int, len(parts))
		for d := range parts[0] {
			for i := range parts {
				lists[i] = parts[i][d]
			}
			if at := text.PhraseStarts(p, lists); len(at) > 0 {
				out[d] = at
			}
		}
		return out, nil
	}
	terms, err := expand(f, q)
	if err != nil {
		return nil, err
	}
	for _, t := range terms {
		p, err := f.Postings(t, nil)
		if err != nil {
			return nil, err
		}
		hits, err := p.Scan(true, among)
		if err != nil {
			return nil, err
		}
		for {
			h, err := hits.Next()
			if err != nil {
				return nil, err
			}
			if h == nil {
				break
			}
			list := out[h.Doc]
			for _, o := range h.At {
				list = append(list, int(o.Pos))
			}
			out[h.Doc] = list
		}
	}
	for d, list := range out {
		slices.Sort(list)
		out[d] = slices.Compact(list)
	}
	return out, nil
}
