package kvread

import (
	"bytes"
	"slices"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
	"github.com/sqlots/sqlots/storage/table"
	"github.com/sqlots/sqlots/value"
)

// keySpace is the key of an index or of the rows.
type keySpace struct {
	prefix []byte
	parts  []table.Part
	own    int // parts of a unique key
	unique bool
	stamp  []bool // parts that are TIMESTAMP
}

func newKeySpace(c *table.Codec, x *schema.Index) (keySpace, error) {
	s := keySpace{prefix: c.Prefix(), parts: c.Key, own: len(c.Key), unique: true}
	if x != nil {
		ix := c.Index(x.ID)
		if ix == nil {
			return s, sqlerr.Internal("table %s has no index %s", c.Table.Name, x.Name)
		}
		s = keySpace{prefix: ix.Prefix(), parts: ix.Parts, own: ix.Own, unique: x.Unique}
	}
	for i := range s.parts {
		if c.Table.Columns[s.parts[i].Pos].Type.ID == schema.TypeTimestamp {
			if s.stamp == nil {
				s.stamp = make([]bool, len(s.parts))
			}
			s.stamp[i] = true
		}
	}
	return s, nil
}

// append appends the encodings of values of the leading parts. It stops at a
// NULL in a part that has none and reports its position.
func (s *keySpace) append(dst []byte, vals []value.Datum, z *decode.Zone) (out []byte, nullAt int) {
	for i, d := range vals {
		p := &s.parts[i]
		if d.IsNull() && !p.Tagged {
			return dst, i
		}
		if s.stamp != nil && s.stamp[i] && !d.IsNull() {
			d = value.TimeOf(z.Stored(d.Time()))
		}
		dst = p.Append(dst, d)
	}
	return dst, -1
}

// whole is the span of all keys.
func (s *keySpace) whole() storage.Span {
	return storage.Span{Start: s.prefix, End: keyenc.PrefixEnd(s.prefix)}
}

// shorten cuts bounds to the parts that unique entries have: their keys end after
// the own parts unless one of those is NULL. TIMESTAMP bounds near a change of the zone's
// clocks are moved outwards: the order of local times is not that of UTC there.
func (s *keySpace) shorten(in ranges.Span, z *decode.Zone) (out ranges.Span, widened bool) {
	if s.stamp != nil && !z.UTC {
		in, widened = s.aroundChanges(in, z)
	}
	cut := func(vals []value.Datum) bool {
		if !s.unique || len(vals) <= s.own {
			return false
		}
		return !slices.ContainsFunc(vals[:s.own], value.Datum.IsNull)
	}
	low, high := cut(in.Low), cut(in.High)
	if low {
		in.Low, in.LowOpen = in.Low[:s.own], false
	}
	if high {
		in.High, in.HighOpen = in.High[:s.own], false
	}
	in.Prefix = in.Prefix && !low
	return in, widened || low || high
}

// aroundChanges moves the first TIMESTAMP of each bound near which clocks change, and
// leaves out what follows it.
func (s *keySpace) aroundChanges(in ranges.Span, z *decode.Zone) (out ranges.Span, widened bool) {
	move := func(vals []value.Datum, by time.Duration) ([]value.Datum, bool) {
		for i, d := range vals {
			if !s.stamp[i] || d.IsNull() || !z.Changes(d.Time()) {
				continue
			}
			if s.parts[i].Desc {
				by = -by
			}
			moved := slices.Clone(vals[:i])
			if t, ok := d.Time().AddMicros(by.Microseconds()); ok {
				moved = append(moved, value.TimeOf(t))
			}
			return moved, true
		}
		return vals, false
	}
	low, high := false, false
	if in.Low, low = move(in.Low, -decode.MaxChange); low {
		in.LowOpen = false
	}
	if in.High, high = move(in.High, decode.MaxChange); high {
		in.HighOpen = false
	}
	in.Prefix = in.Prefix && !low
	return in, low || high
}

// span encodes a span of values; false when it is empty. It may use the memory
// of room, whose slices grow, and may be nil.
func (s *keySpace) span(in ranges.Span, z *decode.Zone, room *storage.Span) (storage.Span, bool) {
	if room == nil {
		room = new(storage.Span)
	}
	if in.Prefix {
		return s.prefixSpan(in, z)
	}
	out := storage.Span{Start: s.prefix}
	if len(in.High) == 0 {
		out.End = keyenc.PrefixEnd(s.prefix)
	}
	if len(in.Low) > 0 {
		b, null := s.append(s.begin(room.Start, in.Low), in.Low, z)
		room.Start = b
		// NULL comes before all values of an ascending part and after those of a
		// descending one.
		if null >= 0 && s.parts[null].Desc || null < 0 && in.LowOpen {
			if b = keyenc.ToPrefixEnd(b); b == nil {
				return out, false
			}
		}
		out.Start = b
	}
	if len(in.High) > 0 {
		b, null := s.append(s.begin(room.End, in.High), in.High, z)
		room.End = b
		if null >= 0 && s.parts[null].Desc || null < 0 && !in.HighOpen {
			b = keyenc.ToPrefixEnd(b)
		}
		out.End = b
	}
	return out, out.End == nil || bytes.Compare(out.Start, out.End) < 0
}

// begin is the prefix with room for the values, in the memory of dst if it is
// large enough.
func (s *keySpace) begin(dst []byte, vals []value.Datum) []byte {
	size := len(s.prefix) + 9*len(vals)
	for _, d := range vals {
		size += 2 * len(d.Bytes())
	}
	return append(slices.Grow(dst[:0], size), s.prefix...)
}

// prefixSpan is the span of the strings that start with the last value.
func (s *keySpace) prefixSpan(in ranges.Span, z *decode.Zone) (storage.Span, bool) {
	last := len(in.Low) - 1
	b, null := s.append(bytes.Clone(s.prefix), in.Low[:last], z)
	if null >= 0 {
		return storage.Span{}, false
	}
	b, _ = s.parts[last].AppendStartsWith(b, in.Low[last].Bytes())
	return storage.Span{Start: b, End: keyenc.PrefixEnd(b)}, true
}

// spans encodes spans of values, in their order. widened: they hold more than was
// requested.
func (s *keySpace) spans(list []ranges.Span, z *decode.Zone) (out []storage.Span, widened bool) {
	out = make([]storage.Span, 0, len(list))
	for _, in := range list {
		in, wide := s.shorten(in, z)
		widened = widened || wide
		if sp, ok := s.span(in, z, nil); ok {
			out = append(out, sp)
		}
	}
	if widened || s.stamp != nil && !z.UTC {
		out = normalise(out)
	}
	return out, widened
}

// normalise sorts spans and merges those that overlap: around changes to
// summer time the order of local times is not that of UTC.
func normalise(list []storage.Span) []storage.Span {
	slices.SortFunc(list, func(a, b storage.Span) int { return bytes.Compare(a.Start, b.Start) })
	out := list[:0]
	for _, s := range list {
		if n := len(out); n > 0 && (out[n-1].End == nil || bytes.Compare(s.Start, out[n-1].End) <= 0) {
			if last := &out[n-1]; last.End != nil && (s.End == nil || bytes.Compare(s.End, last.End) > 0) {
				last.End = s.End
			}
			continue
		}
		out = append(out, s)
	}
	return out
}

// points encodes spans that are whole unique keys; false when one is not.
func (s *keySpace) points(list []ranges.Span, z *decode.Zone) ([][]byte, bool) {
	keys := make([][]byte, 0, len(list))
	for _, in := range list {
		if len(in.Low) != s.own || len(in.High) != s.own || in.LowOpen || in.HighOpen || in.Prefix {
			return nil, false
		}
		if slices.ContainsFunc(in.Low, value.Datum.IsNull) {
			return nil, false
		}
		if s.stamp != nil && !z.UTC {
			if _, widened := s.aroundChanges(in, z); widened {
				return nil, false
			}
		}
		b, _ := s.append(s.begin(nil, in.Low), in.Low, z)
		keys = append(keys, b)
	}
	if s.stamp != nil && !z.UTC {
		slices.SortFunc(keys, bytes.Compare)
		keys = slices.CompactFunc(keys, bytes.Equal)
	}
	return keys, true
}

// Spans encodes spans of values of a key, that of x or of the rows when x is nil;
// loc is the zone of TIMESTAMP values. Empty spans are left out; for a unique
// index the result may hold a little more than was requested.
func Spans(c *decode.Codecs, t *schema.Table, x *schema.Index, list []ranges.Span, loc *time.Location) ([]storage.Span, error) {
	k, err := c.Table(t)
	if err != nil {
		return nil, err
	}
	space, err := newKeySpace(k.Codec, x)
	if err != nil {
		return nil, err
	}
	z := decode.NewZone(loc)
	out, _ := space.spans(list, &z)
	return out, nil
}
