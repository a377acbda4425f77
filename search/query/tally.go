package query

import (
	"math/bits"

	"github.com/sqlots/sqlots/search"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/search/text"
)

// Tally is Run for the number of documents alone: hits may have no sets.
func Tally(v *search.View, n Node) ([]Hits, error) {
	return run(v, n, true)
}

// maxDead is the part of a segment's documents that are not to be found, as 1/n,
// up to which they are looked at one by one.
const maxDead = 16

// tally is how many documents of a segment a node finds, but for those of gone,
// where that is known without a set; ok is false elsewhere.
func tally(s *seg.Segment, n Node, gone []uint32) (count int, ok bool, err error) {
	live, alive := s.Live()
	if _, roots := s.Roots(); roots != alive {
		return 0, false, nil
	}
	dead := s.Docs() - alive
	if (dead+len(gone))*maxDead > s.Docs() {
		return 0, false, nil
	}
	switch n := n.(type) {
	case And:
		switch len(n) {
		case 0:
			return alive - len(gone), true, nil
		case 1:
			return tally(s, n[0], gone)
		}
	case *Words:
		w, err := s.Words(n.Field)
		if err != nil || n.Null && (w.Nulls() != nil || w.AllNull()) || w.Multi() || !w.HasPerm() {
			return 0, false, err
		}
		for i, r := range n.Ranges {
			if i > 0 && r.Lo <= n.Ranges[i-1].Hi {
				return 0, false, nil
			}
			count += w.RangeCount(r.Lo, r.Hi)
		}
		eachDead(live, dead, gone, s.Docs(), func(d uint32) {
			v, ok := w.Get(d)
			for _, r := range n.Ranges {
				if ok && v >= r.Lo && v <= r.Hi {
					count--
				}
			}
		})
		return count, true, nil
	case *Keys:
		k, err := s.Keys(n.Field)
		if err != nil || n.Null && (k.Nulls() != nil || k.AllNull()) || k.Multi() || !k.HasLists() {
			return 0, false, err
		}
		end := uint32(0)
		var room [4][2]uint32
		ords := room[:0]
		for _, r := range n.Ranges {
			from, to := k.FindRange(r.Lo, r.Hi)
			if from < end {
				return 0, false, nil
			}
			end = to
			if count += k.Count(from, to); from < to {
				first, _ := k.ClassOrdinals(from)
				_, last := k.ClassOrdinals(to - 1)
				ords = append(ords, [2]uint32{first, last})
			}
		}
		if k.AllNull() {
			return 0, true, nil
		}
		eachDead(live, dead, gone, s.Docs(), func(d uint32) {
			var o [1]uint32
			k.Gather([]uint32{d}, o[:])
			for _, r := range ords {
				if o[0] != seg.NoOrdinal && o[0] >= r[0] && o[0] < r[1] {
					count--
				}
			}
		})
		return count, true, nil
	case *Circle:
		p, err := s.Points(n.Field)
		if err != nil || p.Multi() || len(n.Boxes) != 1 || !onGlobe(p) {
			return 0, false, err
		}
		if p.AllNull() {
			return 0, true, nil
		}
		count = p.CountShape(n, n.Boxes[0])
		x, y := p.Exact()
		eachDead(live, dead, gone, s.Docs(), func(d uint32) {
			if !p.IsNull(d) && n.Has(x[d], y[d]) {
				count--
			}
		})
		return count, true, nil
	case *Match:
		term, is := n.Query.(text.Term)
		if !is || len(n.Fields) != 1 || dead+len(gone) > 0 {
			return 0, false, nil
		}
		count, err := termCount(s, n.Fields[0], term)
		return count, err == nil, err
	}
	return 0, false, nil
}

// eachDead calls fn with the documents that are not live, of which there are so
// many, and those of gone.
func eachDead(live []uint64, dead int, gone []uint32, docs int, fn func(d uint32)) {
	for _, d := range gone {
		fn(d)
	}
	for i := 0; dead > 0 && i < len(live); i++ {
		for w := ^live[i]; w != 0 && dead > 0; w &= w - 1 {
			d := i<<6 + bits.TrailingZeros64(w)
			if d >= docs {
				break
			}
			fn(uint32(d))
			dead--
		}
	}
}

// termCount is the number of documents of a segment, deleted ones included, that
// have a term.
func termCount(s *seg.Segment, id seg.FieldID, term text.Term) (int, error) {
	t, err := s.Text(id)
	if err != nil {
		return 0, err
	}
	terms, err := t.Terms()
	if err != nil {
		return 0, err
	}
	l, err := terms.List([]byte(term.Term))
	if err != nil || l == nil {
		return 0, err
	}
	return l.Count(), nil
}
