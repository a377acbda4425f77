package query

import (
	"github.com/sqlots/sqlots/search/seg"
)

// Nested is true of documents, or of nested documents, in which there is a nested
// document of a path for which a node is true.
type Nested struct {
	Path uint16
	Of   Node
}

func (n *Nested) eval(s *seg.Segment, among []uint64) ([]uint64, error) {
	out := newSet(s)
	nested, err := s.Nested()
	if err != nil {
		return nil, err
	}
	inside := insideOf(s, nested, n.Path, among)
	if isEmpty(inside) {
		return out, nil
	}
	set, err := n.Of.eval(s, inside)
	if err != nil {
		return nil, err
	}
	for i, w := range inside {
		set[i] &= w
	}
	nested.JoinInto(set, out)
	return out, nil
}

// insideOf are the live nested documents of a path, of which those that are not in
// documents of among may be left out.
func insideOf(s *seg.Segment, nested *seg.Nested, path uint16, among []uint64) []uint64 {
	set := newSet(s)
	all := nested.Of(path)
	if all == nil || isEmpty(among) {
		return set
	}
	live, _ := s.Live()
	if !isSparse(among, s.Docs()) {
		for i, w := range all {
			set[i] = w & live[i]
		}
		return set
	}
	h := Hits{Set: among}
	var docs [blockDocs]uint32
	for from, end := uint32(0), uint32(len(among)<<6); from < end; {
		var list []uint32
		list, from = h.Docs(from, blockDocs, docs[:0])
		for _, d := range list {
			for to := nested.End(nested.Root(d)); d < to; d++ {
				set[d>>6] |= 1 << (d & 63)
			}
		}
	}
	for i, w := range all {
		set[i] &= w & live[i]
	}
	return set
}

// selectivity estimates the fraction of the documents right around those of the path,
// of which the segment has docs, for which the node is true.
func (n *Nested) selectivity(e *estimator, s *seg.Segment, docs float64) (float64, error) {
	nested, err := s.Nested()
	if err != nil || !nested.Any() {
		return 0, err
	}
	count := float64(nested.Count(n.Path))
	one, err := e.selectivityOf(s, n.Of, count)
	if err != nil {
		return 0, err
	}
	return min(count*one/max(docs, 1), 1), nil
}
