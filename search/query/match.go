package query

import (
	"errors"
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
	// Path is that of the nested documents that have the fields, 0 for documents.
	Path uint16
	// Stop, called now and then, ends the search where it gives an error; nil for
	// none.
	Stop Stop
}

// Stop returns an error to end the work; it is called every ten milliseconds or so.
type Stop func() error

func (s Stop) check() error {
	if s == nil {
		return nil
	}
	return s()
}

func (n *Match) eval(s *seg.Segment, among []uint64) ([]uint64, error) {
	m := matcher{s: s, path: n.Path, among: among, stop: n.Stop}
	return m.match(n)
}

// all are the documents of a path that a match can be true of.
func all(s *seg.Segment, path uint16) ([]uint64, error) {
	if path == 0 {
		live, _ := s.Roots()
		return slices.Clone(live), nil
	}
	nested, err := s.Nested()
	if err != nil {
		return nil, err
	}
	set := newSet(s)
	live, _ := s.Live()
	for i, w := range nested.Of(path) {
		set[i] = w & live[i]
	}
	return set, nil
}

func (m *matcher) match(n *Match) ([]uint64, error) {
	if err := m.open(n.Fields); err != nil {
		return nil, err
	}
	return m.query(n.Query)
}

func (m *matcher) open(fields []seg.FieldID) error {
	for _, id := range fields {
		t, err := m.s.Text(id)
		if err != nil {
			return err
		}
		terms, err := t.Terms()
		if err != nil {
			return err
		}
		m.fields = append(m.fields, terms)
	}
	return nil
}

// matcher evaluates a query in a segment.
type matcher struct {
	s      *seg.Segment
	path   uint16
	fields []*seg.Terms
	// among has the documents that matter, nil for all.
	among []uint64
	// counts: only the number of matching documents is wanted.
	counts, thinned bool
	stop            Stop
}

func (m *matcher) query(q text.Query) ([]uint64, error) {
	switch q := q.(type) {
	case text.None, nil:
		return newSet(m.s), nil
	case text.All:
		return all(m.s, m.path)
	case text.And:
		return m.and(q.Of)
	case text.Or:
		return m.or(q)
	case text.Not:
		set, err := m.query(q.Of)
		if err != nil {
			return nil, err
		}
		other, err := all(m.s, m.path)
		if err != nil {
			return nil, err
		}
		for i, w := range set {
			other[i] &^= w
		}
		return other, nil
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

// and intersects its members, the lists of words of one field first: short ones before
// long ones, which are then read only where the others left something.
func (m *matcher) and(of []text.Query) (set []uint64, err error) {
	if len(m.fields) == 1 {
		if set, of, err = m.words(of); err != nil {
			return nil, err
		}
	}
	for _, q := range of {
		if set != nil && isEmpty(set) {
			break
		}
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
	if set == nil {
		set = newSet(m.s)
	}
	return set, nil
}

// words are the documents that have all words of a list, nil where it has none, and the
// other members of the list.
func (m *matcher) words(of []text.Query) (set []uint64, others []text.Query, err error) {
	lists, others, err := m.lists(of)
	if err != nil || len(others) == len(of) {
		return nil, others, err
	}
	set = newSet(m.s)
	if len(lists) == 0 {
		return set, nil, nil
	}
	lists[0].Into(set)
	most := lists[0].Count()
	for _, l := range lists[1:] {
		if l.Keep(set, most); len(lists) > 2 {
			most = countBits(set)
		}
	}
	return set, others, nil
}

// lists are those of the words of a list, short ones first, none if a word is in no
// document, and the other members of the list.
func (m *matcher) lists(of []text.Query) (lists []*seg.List, others []text.Query, err error) {
	for _, q := range of {
		term, ok := q.(text.Term)
		if !ok {
			others = append(others, q)
			continue
		}
		l, err := m.fields[0].List([]byte(term.Term))
		if l == nil || err != nil {
			return nil, nil, err
		}
		lists = append(lists, l)
	}
	slices.SortFunc(lists, func(a, b *seg.List) int { return a.Count() - b.Count() })
	return lists, others, nil
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
	switch q.(type) {
	case text.Phrase, text.Near:
		return m.eachPlaced(f, q, func(doc uint32, _ int) { set[doc>>6] |= 1 << (doc & 63) })
	}
	terms, err := expand(f, q, m.stop)
	if err != nil {
		return err
	}
	for _, t := range terms {
		l, err := f.List(t)
		if err != nil {
			return err
		}
		if l != nil {
			l.Into(set)
		}
	}
	return nil
}

// stopTerms is how many terms are compared between two checks of stop.
const stopTerms = 1 << 14

// expand gives the terms of a field that a leaf means.
func expand(f *seg.Terms, q text.Query, stop Stop) (terms [][]byte, err error) {
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
			seen := 0
			var stopped error
			err = f.EachPrefix(nil, func(term []byte, n int) bool {
				if seen++; seen%stopTerms == 0 {
					if stopped = stop.check(); stopped != nil {
						return false
					}
				}
				return !text.WithinDistance(q.Term, string(term), q.Distance) || add(term, n)
			})
			return terms, errors.Join(err, stopped)
		}
		a, err := seg.Fuzzy(q.Term, q.Distance)
		if err != nil {
			return nil, err
		}
		return terms, f.Each(a, nil, nil, add)
	}
	return nil, nil
}

// eachPlaced calls fn with the documents that have a phrase, or words near one
// another, and how often.
func (m *matcher) eachPlaced(f *seg.Terms, q text.Query, fn func(doc uint32, n int)) error {
	switch q := q.(type) {
	case text.Phrase:
		lists := make([]text.Query, len(q.Terms))
		for i, t := range q.Terms {
			lists[i] = text.Term{Term: t.Term}
			if t.Prefix {
				lists[i] = text.Prefix{Prefix: t.Term}
			}
		}
		return m.placed(f, lists, fn, func(at [][]int) []int { return text.PhraseStarts(q, at) })
	case text.Near:
		return m.placed(f, q.Of, fn, func(at [][]int) []int { return text.NearStarts(q.Window, at) })
	}
	return nil
}

// placed calls fn with the documents in which starts finds places, from those of
// each member, and their number.
func (m *matcher) placed(f *seg.Terms, of []text.Query, fn func(doc uint32, n int), starts func(at [][]int) []int) error {
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
	if among == nil {
		return nil
	}
	for i, w := range m.among {
		among[i] &= w
	}
	if isEmpty(among) {
		return nil
	}
	m.thin(among)
	all := Hits{Set: among}
	for next, end := uint32(0), uint32(len(among)<<6); next < end; {
		var part Hits
		if part, next = all.Part(next, placedDocs); part.Count == 0 {
			break
		}
		if err := m.stop.check(); err != nil {
			return err
		}
		if err := m.placedIn(part.Set, f, of, fn, starts); err != nil {
			return err
		}
	}
	return nil
}

// placedDocs is of how many documents places are held at once.
const placedDocs = 1 << 17

// placedIn is placed for documents that have all members.
func (m *matcher) placedIn(among []uint64, f *seg.Terms, of []text.Query, fn func(doc uint32, n int), starts func(at [][]int) []int) error {
	r := newRanks(among)
	at := make([][][]int, len(of))
	for i, q := range of {
		var err error
		if at[i], err = m.places(f, q, r); err != nil {
			return err
		}
	}
	lists := make([][]int, len(of))
	n := 0
	for i, w := range among {
		for ; w != 0; w &= w - 1 {
			for j := range at {
				lists[j] = at[j][n]
			}
			n++
			if found := len(starts(lists)); found > 0 {
				fn(uint32(i<<6+bits.TrailingZeros64(w)), found)
			}
		}
	}
	return nil
}

// When documents are only counted, and so many may have a phrase, one word in
// thinBy of the set is looked at.
const (
	thinFrom = 1024
	thinBy   = 16
)

// thin leaves out of a large set what a count need not see.
func (m *matcher) thin(among []uint64) {
	if !m.counts || !m.thinned && countBits(among) < thinFrom {
		return
	}
	m.thinned = true
	for i := range among {
		if i%thinBy != 0 {
			among[i] = 0
		}
	}
}

// sampledDocs are how many documents of a word are looked for in the lists of others.
const sampledDocs = 256

// countTogether is about how many documents have all words, which are terms of one
// field: of a sample of those that have the rarest one, it counts which have the others.
func (n *Match) countTogether(s *seg.Segment) (float64, error) {
	m := matcher{s: s}
	if err := m.open(n.Fields); err != nil {
		return 0, err
	}
	lists, _, err := m.lists(n.Query.(text.And).Of)
	if err != nil || len(lists) == 0 {
		return 0, err
	}
	sample := lists[0].Sample(sampledDocs)
	if len(sample) == 0 {
		return 0, nil
	}
	all, found := lists[0].Count(), 0
	for _, doc := range sample {
		if !slices.ContainsFunc(lists[1:], func(l *seg.List) bool { return !l.Has(doc) }) {
			found++
		}
	}
	return float64(all) * float64(found) / float64(len(sample)), nil
}

// count is about how many documents match.
func (n *Match) count(s *seg.Segment) (float64, error) {
	m := matcher{s: s, path: n.Path, counts: true}
	set, err := m.match(n)
	if err != nil || !m.thinned {
		return float64(countBits(set)), err
	}
	// Leaves that were thinned are right in the words that are left.
	words := 0
	for i := range set {
		if i%thinBy != 0 {
			set[i] = 0
		} else {
			words++
		}
	}
	return float64(countBits(set)) * float64(len(set)) / float64(words), nil
}

// ranks numbers the documents of a set.
type ranks struct {
	set    []uint64
	before []uint32 // documents before each word
	n      int
}

func newRanks(set []uint64) ranks {
	r := ranks{set: set, before: make([]uint32, len(set))}
	for i, w := range set {
		r.before[i] = uint32(r.n)
		r.n += bits.OnesCount64(w)
	}
	return r
}

func (r *ranks) of(doc uint32) int {
	return int(r.before[doc>>6]) + bits.OnesCount64(r.set[doc>>6]&(1<<(doc&63)-1))
}

// places are the positions of a member in each of some documents, ascending.
func (m *matcher) places(f *seg.Terms, q text.Query, r ranks) ([][]int, error) {
	out := make([][]int, r.n)
	if p, ok := q.(text.Phrase); ok {
		parts := make([][][]int, len(p.Terms))
		for i, t := range p.Terms {
			var leaf text.Query = text.Term{Term: t.Term}
			if t.Prefix {
				leaf = text.Prefix{Prefix: t.Term}
			}
			var err error
			if parts[i], err = m.places(f, leaf, r); err != nil {
				return nil, err
			}
		}
		lists := make([][]int, len(parts))
		for d := range out {
			for i := range parts {
				lists[i] = parts[i][d]
			}
			out[d] = slices.Clone(text.PhraseStarts(p, lists))
		}
		return out, nil
	}
	terms, err := expand(f, q, m.stop)
	if err != nil {
		return nil, err
	}
	for _, t := range terms {
		l, err := f.List(t)
		if err != nil {
			return nil, err
		}
		if l == nil {
			continue
		}
		l.Read(true, r.set, func(run *seg.Run) {
			all := slices.Clone(run.Pos)
			from := 0
			for i, d := range run.Docs {
				end := run.Ends[i]
				if list := &out[r.of(d)]; *list == nil {
					*list = all[from:end:end]
				} else {
					*list = append(*list, all[from:end]...)
				}
				from = end
			}
		})
	}
	for d, list := range out {
		for i := 1; i < len(list); i++ {
			if list[i-1] >= list[i] {
				slices.Sort(list)
				out[d] = slices.Compact(list)
				break
			}
		}
	}
	return out, nil
}
