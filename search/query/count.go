package query

import (
	"errors"
	"math"

	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/search/text"
)

// ErrNoEstimate: nothing short of a scan says how many documents a tree finds.
var ErrNoEstimate = errors.New("query: no estimate")

// Estimate estimates how many documents of a snapshot a tree finds. It takes counts
// where they are at hand, treats conditions on different fields as independent, looks in
// one segment how often words come together, and reads a sample of large lists of phrases'
// words. ErrNoEstimate where a field has no order or lists.
func Estimate(s *seg.Snapshot, n Node) (float64, error) {
	docs := float64(max(s.Docs(), 1))
	sum := 0.0
	var e estimator
	segments := s.Segments()
	largest := 0
	for i, g := range segments {
		if g.Docs() > segments[largest].Docs() {
			largest = i
		}
	}
	for i := range segments {
		g := segments[(largest+i)%len(segments)]
		all, err := roots(g)
		if err != nil {
			return 0, err
		}
		part, err := e.selectivityOf(g, n, all)
		if err != nil {
			return 0, err
		}
		_, count := g.Roots()
		sum += part * float64(count)
	}
	return min(sum, docs), nil
}

// roots is the number of documents of a segment that are not nested, deleted ones
// included.
func roots(s *seg.Segment) (float64, error) {
	n, err := s.Nested()
	if err != nil {
		return 0, err
	}
	return float64(n.Count(0)), nil
}

// estimator estimates parts of a tree in one segment after the other, the largest first.
type estimator struct {
	// together is how many times as often words are in one text as if they were
	// independent, in the first segment that has all of them.
	together map[*Match]float64
}

// selectivityOf estimates the fraction of a segment's documents of some path, docs in
// all, for which n is true.
func (e *estimator) selectivityOf(s *seg.Segment, n Node, docs float64) (float64, error) {
	all := max(docs, 1)
	switch n := n.(type) {
	case And:
		p := 1.0
		for _, c := range n {
			one, err := e.selectivityOf(s, c, docs)
			if err != nil {
				return 0, err
			}
			p *= one
		}
		return p, nil
	case Or:
		none := 1.0
		for _, c := range n {
			one, err := e.selectivityOf(s, c, docs)
			if err != nil {
				return 0, err
			}
			none *= 1 - one
		}
		return 1 - none, nil
	case Not:
		p, err := e.selectivityOf(s, n.Of, docs)
		return 1 - p, err
	case *Nested:
		return n.selectivity(e, s, docs)
	case *Check:
		return n.Share, nil
	case *Words:
		w, err := s.Words(n.Field)
		if err != nil {
			return 0, err
		}
		if !w.HasPerm() {
			return 0, ErrNoEstimate
		}
		count := nulls(n.Null, w.Nulls(), w.AllNull(), s.Docs(), docs)
		for _, r := range n.Ranges {
			count += max(w.RangeCount(r.Lo, r.Hi), 0)
		}
		return min(float64(count)/all, 1), nil
	case *Keys:
		k, err := s.Keys(n.Field)
		if err != nil {
			return 0, err
		}
		if !k.HasLists() {
			return 0, ErrNoEstimate
		}
		count := nulls(n.Null, k.Nulls(), k.AllNull(), s.Docs(), docs)
		for _, r := range n.Ranges {
			from, to := k.FindRange(r.Lo, r.Hi)
			count += k.Count(from, to)
		}
		return min(float64(count)/all, 1), nil
	case *Values:
		k, err := s.Keys(n.Field)
		if err != nil {
			return 0, err
		}
		if !k.HasLists() {
			return 0, ErrNoEstimate
		}
		count := 0
		for _, v := range n.List {
			if class, ok := k.FindKey(v.Key); ok {
				count += k.Count(class, class+1)
			}
		}
		return min(float64(count)/all, 1), nil
	case *Boxes:
		p, err := s.Points(n.Field)
		if err != nil {
			return 0, err
		}
		count := 0
		for _, b := range n.Boxes {
			count += p.CountBox(b)
		}
		return min(float64(count)/all, 1), nil
	case *Circle:
		p, err := s.Points(n.Field)
		if err != nil {
			return 0, err
		}
		count := 0
		for _, b := range n.Boxes {
			count += p.CountBox(b)
		}
		return min(float64(count)*math.Pi/4/all, 1), nil
	case *Match:
		if part, ok, err := termSelectivity(s, n.Fields, n.Query, all); ok || err != nil {
			return part, err
		}
		if ofTerms(n.Query) && len(n.Fields) == 1 {
			return e.wordsSelectivity(s, n, all)
		}
		count, err := n.count(s)
		return min(count/all, 1), err
	}
	return 1, nil
}

// wordsSelectivity is the fraction of all documents that contain all words of a list. It
// samples one segment.
func (e *estimator) wordsSelectivity(s *seg.Segment, n *Match, all float64) (float64, error) {
	part, least := 1.0, 1.0
	for _, q := range n.Query.(text.And).Of {
		one, _, err := termSelectivity(s, n.Fields, q, all)
		if err != nil {
			return 0, err
		}
		part, least = part*one, min(least, one)
	}
	if part == 0 {
		return 0, nil
	}
	if times, ok := e.together[n]; ok {
		return min(part*times, least), nil
	}
	count, err := n.countTogether(s)
	if err != nil {
		return 0, err
	}
	if e.together == nil {
		e.together = map[*Match]float64{}
	}
	e.together[n] = max(count, 0.5) / (part * all) // none there may be some elsewhere
	return min(count/all, 1), nil
}

// termSelectivity is the fraction of all documents that contain a word, or one of
// several, by the counts of the dictionary; ok is false for other queries.
func termSelectivity(s *seg.Segment, fields []seg.FieldID, q text.Query, all float64) (part float64, ok bool, err error) {
	switch q := q.(type) {
	case text.Boost:
		return termSelectivity(s, fields, q.Of, all)
	case text.Should:
		return termSelectivity(s, fields, q.Of, all)
	case text.Term:
		none := 1.0
		for _, f := range fields {
			n, err := termCount(s, f, q)
			if err != nil {
				return 0, false, err
			}
			none *= 1 - min(float64(n)/all, 1)
		}
		return 1 - none, true, nil
	case text.Or:
		none := 1.0
		for _, one := range q.Of {
			p, ok, err := termSelectivity(s, fields, one, all)
			if !ok || q.Min > 1 {
				return 0, false, err
			}
			none *= 1 - p
		}
		return 1 - none, true, nil
	}
	return 0, false, nil
}

// nulls is about how many of docs documents of a path have no value, where all of a
// segment of that many documents or those of a set have none: documents of other
// paths are among these.
func nulls(want bool, set []uint64, all bool, segment int, docs float64) int {
	switch {
	case !want:
		return 0
	case all:
		return int(docs)
	}
	return max(countBits(set)-(segment-int(docs)), 0)
}
