package searchscan

import (
	"math"

	"github.com/sqlots/sqlots/search/query"
	"github.com/sqlots/sqlots/search/seg"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/searchdoc"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// Values of a TIMESTAMP column are compared as times of the session's zone, whose
// clocks may go back or leave hours out; words are UTC.

// zonedSpans finds the times of a zone that are in spans: among those in wider
// ranges of UTC.
func zonedSpans(f *searchdoc.Field, list []ranges.Span, z *decode.Zone, workers int) query.Node {
	wide := &query.Words{Field: f.ID, Workers: workers}
	for _, sp := range list {
		null, r, ok := wordRange(f, sp, z)
		wide.Null = wide.Null || null
		if !ok && len(sp.High) > 0 && sp.High[0].IsNull() {
			continue // NULL alone
		}
		if r = (query.WordRange{Lo: math.MinInt64, Hi: math.MaxInt64}); len(sp.Low) > 0 && !sp.Low[0].IsNull() {
			if t, ok := z.Stored(sp.Low[0].Time()).AddMicros(-decode.MaxChange.Microseconds()); ok {
				r.Lo = f.ToWord(value.TimeOf(t))
			}
		}
		if len(sp.High) > 0 {
			if t, ok := z.Stored(sp.High[0].Time()).AddMicros(decode.MaxChange.Microseconds()); ok {
				r.Hi = f.ToWord(value.TimeOf(t))
			}
		}
		wide.Ranges = append(wide.Ranges, r)
	}
	local := *z
	test := func(s *seg.Segment, set []uint64) error {
		w, err := s.Words(f.ID)
		if err != nil {
			return err
		}
		h := query.Hits{Seg: s, Set: append([]uint64(nil), set...)}
		var docs []uint32
		words := make([]int64, vec.MaxRows)
		for from, end := uint32(0), uint32(len(set)<<6); from < end; {
			docs, from = h.Docs(from, vec.MaxRows, docs[:0])
			w.Gather(docs, words[:len(docs)])
			for i, d := range docs {
				if !w.IsNull(d) && !inSpans(list, local.Local(value.Time(uint64(words[i])^decode.SignBit))) {
					set[d>>6] &^= 1 << (d & 63)
				}
			}
		}
		return nil
	}
	return query.And{wide, &query.Check{Test: test, Share: 1}}
}

func inSpans(list []ranges.Span, t value.Time) bool {
	for _, sp := range list {
		if len(sp.Low) > 0 && !sp.Low[0].IsNull() {
			if low := sp.Low[0].Time(); t < low || t == low && sp.LowOpen {
				continue
			}
		}
		if len(sp.High) > 0 {
			if sp.High[0].IsNull() {
				continue
			}
			if high := sp.High[0].Time(); t > high || t == high && sp.HighOpen {
				continue
			}
		}
		return true
	}
	return false
}
