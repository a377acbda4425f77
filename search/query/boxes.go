package query

import "github.com/sqlots/sqlots/search/seg"

// Boxes is true of documents with a place in one of the boxes.
type Boxes struct {
	Field seg.FieldID
	Boxes []seg.Box
}

func (n *Boxes) eval(s *seg.Segment, _ []uint64) ([]uint64, error) {
	p, err := s.Points(n.Field)
	if err != nil {
		return nil, err
	}
	set := newSet(s)
	for _, b := range n.Boxes {
		p.BoxInto(b, set)
	}
	return set, nil
}
