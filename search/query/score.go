package query

import (
	"math/bits"

	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/search/text"
)

// Score ranks documents by how well texts fit queries: by the sum of the scores
// that Score.Of gives. All figures are those of [text.Doc.Score], bit by bit.
type Score []Scored

// Scored is one MATCH.
type Scored struct {
	Fields []seg.FieldID
	Query  text.Query
	Stats  text.Stats
	Stop   Stop // see Match
	// Value is what the score of a document that matches becomes.
	Value func(score float64) float64
}

// Open opens the fields of a segment, which verifies their checksums.
func (r Score) Open(s *seg.Segment) error {
	for i := range r {
		m := matcher{s: s}
		if err := m.open(r[i].Fields); err != nil {
			return err
		}
	}
	return nil
}

// Of are the scores of the hits of a segment, in their order.
func (r Score) Of(h *Hits) ([]float64, error) {
	vals, _, err := r.values(h)
	return vals, err
}

// values implements Ranking.
func (r Score) values(h *Hits) ([]float64, []uint64, error) {
	ranks := newRanks(h.Set)
	var sum []float64
	for i := range r {
		s := scorer{stats: r[i].Stats, avg: r[i].Stats.AvgLen(), ranks: ranks, tables: map[int]*norms{}}
		s.m.s, s.m.among, s.m.stop = h.Seg, h.Set, r[i].Stop
		if err := s.open(r[i].Fields); err != nil {
			return nil, nil, err
		}
		one, err := s.score(r[i].Query)
		if err != nil {
			return nil, nil, err
		}
		for w, set := range one.is {
			for ; set != 0; set &= set - 1 {
				n := w<<6 + bits.TrailingZeros64(set)
				one.vals[n] = r[i].Value(one.vals[n])
			}
		}
		if sum == nil {
			sum = one.vals
			continue
		}
		for n, v := range one.vals {
			sum[n] += v
		}
	}
	return sum, nil, nil
}

// scorer scores the documents of a set in a segment, which are numbered by their
// ranks in it.
type scorer struct {
	m     matcher
	stats text.Stats
	avg   float64
	ranks ranks
	// lens are the lengths of the documents.
	lens []int32
	// tables has the norms of a frequency.
	tables map[int]*norms
}

// scores are those of all documents, 0 where is does not have their bit.
type scores struct {
	vals []float64
	is   []uint64
}

func (s *scorer) new() scores {
	return scores{vals: make([]float64, s.ranks.n), is: make([]uint64, seg.BitWords(s.ranks.n))}
}

// open opens the fields, whose texts together are the text of a document.
func (s *scorer) open(fields []seg.FieldID) error {
	if err := s.m.open(fields); err != nil {
		return err
	}
	s.lens = make([]int32, s.ranks.n)
	h := Hits{Seg: s.m.s, Set: s.ranks.set}
	for _, id := range fields {
		t, err := s.m.s.Text(id)
		if err != nil {
			return err
		}
		lengths := t.Lengths()
		if lengths.AllNull() {
			continue
		}
		var b block
		col := &column{words: lengths, nulls: lengths.Nulls()}
		n := 0
		_ = h.each(&b, func() error {
			for i, v := range b.words(col) {
				if col.nulls == nil || !lengths.IsNull(b.doc(i)) {
					s.lens[n+i] += int32(v)
				}
			}
			n += b.n
			return nil
		})
	}
	return nil
}

// norms are what [text.TFNorm] gives for a frequency and lengths; 0 for lengths not yet
// used.
type norms [256]float64

func (s *scorer) norm(t *norms, tf, length int) float64 {
	if length >= len(t) {
		return text.TFNorm(tf, length, s.avg)
	}
	if t[length] == 0 {
		t[length] = text.TFNorm(tf, length, s.avg)
	}
	return t[length]
}

func (s *scorer) norms(tf int) *norms {
	t := s.tables[tf]
	if t == nil {
		t = &norms{}
		s.tables[tf] = t
	}
	return t
}

// score follows [text.Doc.Score].
func (s *scorer) score(q text.Query) (scores, error) {
	switch q := q.(type) {
	case text.None, nil:
		return s.new(), nil
	case text.All:
		out := s.new()
		s.all(out.is)
		return out, nil
	case text.Not:
		of, err := s.score(q.Of)
		if err != nil {
			return of, err
		}
		out := s.new()
		s.all(out.is)
		for i, w := range of.is {
			out.is[i] &^= w
		}
		return out, nil
	case text.Boost:
		of, err := s.score(q.Of)
		for i, v := range of.vals {
			if v != 0 {
				of.vals[i] = q.Factor * v
			}
		}
		return of, err
	case text.And:
		return s.sum(q.Of, nil, len(q.Of))
	case text.Or:
		return s.sum(q.Of, nil, max(q.Min, 1))
	case text.Should:
		return s.sum([]text.Query{q.Of}, q.Optional, 1)
	case text.Phrase, text.Near:
		return s.placed(q)
	}
	return s.leaf(q)
}

// all are the ranks that there are.
func (s *scorer) all(is []uint64) {
	for i := range is {
		is[i] = ^uint64(0)
	}
	if n := s.ranks.n & 63; n != 0 {
		is[len(is)-1] = 1<<n - 1
	}
}

// sum adds the scores of all, where at least so many of the first list match.
func (s *scorer) sum(of, more []text.Query, least int) (scores, error) {
	out := s.new()
	var counts []uint16
	if least > 1 {
		counts = make([]uint16, s.ranks.n)
	}
	for i := range len(of) + len(more) {
		q := text.Query(nil)
		if i < len(of) {
			q = of[i]
		} else {
			q = more[i-len(of)]
		}
		one, err := s.score(q)
		if err == nil {
			err = s.m.stop.check()
		}
		if err != nil {
			return out, err
		}
		if len(of)+len(more) == 1 {
			out.vals = one.vals
		} else {
			for n, v := range one.vals {
				out.vals[n] += v
			}
		}
		if i >= len(of) {
			continue
		}
		for w, set := range one.is {
			if counts == nil {
				out.is[w] |= set
				continue
			}
			for ; set != 0; set &= set - 1 {
				if n := w<<6 + bits.TrailingZeros64(set); int(counts[n]) < least {
					if counts[n]++; int(counts[n]) == least {
						out.is[w] |= set & -set
					}
				}
			}
		}
	}
	if counts != nil || len(more) > 0 {
		for n := range out.vals {
			if out.is[n>>6]>>(n&63)&1 == 0 {
				out.vals[n] = 0
			}
		}
	}
	return out, nil
}

// leaf scores a word, or all words that a prefix or a fuzzy one means, as one.
func (s *scorer) leaf(q text.Query) (scores, error) {
	out := s.new()
	idf := text.LeafIDF(q, s.stats)
	var lists []*seg.List
	for _, f := range s.m.fields {
		terms, err := expand(f, q, s.m.stop)
		if err != nil {
			return out, err
		}
		for _, t := range terms {
			l, err := f.List(t)
			if err != nil {
				return out, err
			}
			if l != nil {
				lists = append(lists, l)
			}
		}
	}
	if len(lists) == 1 {
		var tables [16]*norms
		lists[0].Read(false, s.ranks.set, func(r *seg.Run) {
			for i, d := range r.Docs {
				n, tf := s.ranks.of(d), int(r.Freqs[i])
				t := (*norms)(nil)
				if tf < len(tables) {
					if t = tables[tf]; t == nil {
						t = s.norms(tf)
						tables[tf] = t
					}
				} else {
					t = s.norms(tf)
				}
				out.vals[n] = idf * s.norm(t, tf, int(s.lens[n]))
				out.is[n>>6] |= 1 << (n & 63)
			}
		})
		return out, nil
	}
	freqs := make([]uint32, s.ranks.n)
	for _, l := range lists {
		l.Read(false, s.ranks.set, func(r *seg.Run) {
			for i, d := range r.Docs {
				freqs[s.ranks.of(d)] += r.Freqs[i]
			}
		})
	}
	s.put(freqs, idf, out)
	return out, nil
}

// placed scores a phrase, or words near one another.
func (s *scorer) placed(q text.Query) (scores, error) {
	out := s.new()
	freqs := make([]uint32, s.ranks.n)
	for _, f := range s.m.fields {
		err := s.m.eachPlaced(f, q, func(doc uint32, n int) { freqs[s.ranks.of(doc)] += uint32(n) })
		if err != nil {
			return out, err
		}
	}
	s.put(freqs, text.LeafIDF(q, s.stats), out)
	return out, nil
}

// put sets the scores of documents that have a leaf so often.
func (s *scorer) put(freqs []uint32, idf float64, out scores) {
	for n, f := range freqs {
		if f > 0 {
			out.vals[n] = idf * s.norm(s.norms(int(f)), int(f), int(s.lens[n]))
			out.is[n>>6] |= 1 << (n & 63)
		}
	}
}
