package kvread

import (
	"bytes"
	"context"

	"github.com/sqlots/sqlots/sql/exec"
	"github.com/sqlots/sqlots/sql/expr"
	"github.com/sqlots/sqlots/sql/ranges"
	"github.com/sqlots/sqlots/sql/source/decode"
	"github.com/sqlots/sqlots/storage"
	"github.com/sqlots/sqlots/storage/keyenc"
)

// maxSkips is how many combinations of values a skip scan distinguishes; with
// more it reads all between them.
const maxSkips = 1 << 14

// skip makes the spans of a skip scan within those of its first columns, which w
// has, or, where w has a merge, its streams. following is about the columns after
// these, nil for all. widened: they hold more than was requested.
func (s *Reader) skip(ctx context.Context, ec *expr.Ctx, space *keySpace, columns int, following *ranges.Set, w *walker, z *decode.Zone) (widened bool, err error) {
	lead := w.spans
	w.spans = nil
	list := []ranges.Span{{}}
	if following != nil {
		if list, err = following.Spans(ec); err != nil {
			return false, err
		}
	}
	if len(list) == 0 {
		return false, nil
	}
	groups := 0
	take := func(prefix []byte) error {
		groups++
		sub := space.after(prefix, columns)
		spans, wide := sub.spans(list, z)
		widened = widened || wide
		if w.merge != nil {
			return w.merge.add(len(prefix), spans)
		}
		w.spans = append(w.spans, spans...)
		return nil
	}
	g := groupWalk{reader: w.reader, space: space, columns: columns}
	for _, span := range lead {
		if space.isPoint(span, columns) {
			if err := take(span.Start); err != nil {
				return false, err
			}
			continue
		}
		g.span = span
		for {
			prefix, err := g.next(ctx)
			if err != nil {
				return false, err
			}
			if prefix == nil {
				break
			}
			if groups >= maxSkips && w.merge == nil {
				w.spans = lead
				return true, nil
			}
			if err := take(prefix); err != nil {
				return false, err
			}
		}
	}
	w.count = w.count.Plus(g.count)
	return widened, nil
}

// isPoint reports whether a span is all keys with one combination of values in
// the first n columns, which its start encodes.
func (s *keySpace) isPoint(span storage.Span, n int) bool {
	rest := span.Start[len(s.prefix):]
	for i := range n {
		var err error
		if rest, err = s.parts[i].Skip(rest); err != nil {
			return false
		}
	}
	return len(rest) == 0 && bytes.Equal(span.End, keyenc.PrefixEnd(span.Start))
}

// after is the space of the keys that have a prefix of n parts.
func (s *keySpace) after(prefix []byte, n int) keySpace {
	out := keySpace{prefix: prefix, parts: s.parts[n:], own: max(s.own-n, 0), unique: s.unique}
	if s.stamp != nil {
		out.stamp = s.stamp[n:]
	}
	return out
}

// groupWalk finds, in the order of the keys or in reverse, one key of each
// combination of values in the first columns of a span.
type groupWalk struct {
	reader  storage.Reader
	space   *keySpace
	columns int
	span    storage.Span // what is left of it
	reverse bool
	values  bool // wanted too
	count   exec.Counters

	key, val []byte // of the last group
}

// next is the prefix of the keys of the next group, which the caller may keep;
// nil at the end. key and val are its first entry, or last in reverse.
func (g *groupWalk) next(ctx context.Context) ([]byte, error) {
	if g.span.End != nil && bytes.Compare(g.span.Start, g.span.End) >= 0 {
		return nil, nil
	}
	found, err := g.one(ctx, g.span, g.reverse)
	if err != nil || !found {
		return nil, err
	}
	rest := g.key[len(g.space.prefix):]
	for i := range g.columns {
		if rest, err = g.space.parts[i].Skip(rest); err != nil {
			return nil, err
		}
	}
	prefix := bytes.Clone(g.key[:len(g.key)-len(rest)])
	if g.reverse {
		g.span.End = prefix
	} else if g.span.Start = keyenc.PrefixEnd(prefix); g.span.Start == nil {
		g.span.Start, g.span.End = prefix, prefix
	}
	return prefix, nil
}

// one reads the first pair of a span, or the last, into key and val.
func (g *groupWalk) one(ctx context.Context, span storage.Span, reverse bool) (found bool, err error) {
	scan, err := g.reader.Scan(ctx, span, storage.ScanOptions{Limit: 1, KeyOnly: !g.values, Reverse: reverse})
	if err != nil {
		return false, err
	}
	g.count.Seeks++
	_, err = scan.Visit(ctx, func(key, val []byte) bool {
		found = true
		g.key, g.val = append(g.key[:0], key...), append(g.val[:0], val...)
		g.count.Pairs++
		g.count.Bytes += int64(len(key) + len(val))
		return false
	})
	if cerr := scan.Close(); err == nil {
		err = cerr
	}
	return found, err
}
