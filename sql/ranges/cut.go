package ranges

import (
	"strings"
	"unicode/utf8"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// cutKind says how keys of the first characters of strings relate to the
// strings.
type cutKind uint8

const (
	// cutExact: equal strings have equal first characters, and the order of
	// strings is that of their first characters as far as these differ.
	cutExact cutKind = iota
	// cutVaries: a character may have several weights or none ('ß' equals
	// 'ss'), so that the first characters of equal strings are beginnings of
	// the weights of both, of different lengths. An index on name(1) keeps 'ß'
	// as the weights of ss, 'ss' as that of s.
	cutVaries
	// cutUnknown: nothing can be said (contractions, several levels).
	cutUnknown
)

// cutOf is the kind of a key part; whole values are cutExact.
func cutOf(c *Column) cutKind {
	if c.Prefix == 0 || !c.Type.IsCharacter() {
		return cutExact
	}
	coll, ok := collate.Lookup(c.Type.Collation)
	switch {
	case !ok:
		return cutUnknown
	case coll.IsBinary(), strings.HasSuffix(coll.Name, "_bin"), strings.HasSuffix(coll.Name, "_general_ci"),
		c.Type.Collation == schema.CollationLatin1SwedishCI:
		return cutExact
	case coll.PadSpace():
		return cutUnknown
	}
	if _, single := coll.AppendKeyPrefix(nil, []byte("a")); single {
		return cutVaries
	}
	return cutUnknown
}

// prefixPart adapts intervals to a key part that holds only the first
// characters of the values: bounds are cut and closed, and what overlaps then
// is merged.
func (e *evaluator) prefixPart(ivs []interval, col int) []interval {
	c := &e.set.Columns[col]
	if c.Prefix == 0 {
		return ivs
	}
	varies := cutOf(c) == cutVaries
	out := make([]interval, 0, len(ivs))
	for _, iv := range ivs {
		if varies {
			out = cutPoints(out, iv, c)
			continue
		}
		iv.lo, iv.hi = cutBound(iv.lo, c), cutBound(iv.hi, c)
		out = append(out, iv)
	}
	return e.union(out, col)
}

// cutPoints appends the keys that values of iv can have under cutVaries. The key
// of a value r not below lo is a beginning of r's weights: it is above the first
// characters of lo, or is a beginning of these. Only ASCII characters, of one
// weight at most each, give all beginnings.
func cutPoints(dst []interval, iv interval, c *Column) []interval {
	if !iv.hi.inf {
		iv.hi.open = false // a beginning is not above the whole
	}
	if iv.lo.inf || iv.lo.d.IsNull() {
		return append(dst, iv)
	}
	s := iv.lo.d.Bytes()
	n := 0
	for n < len(s) && n < c.Prefix && s[n] < utf8.RuneSelf {
		dst = append(dst, interval{lo: bound{d: value.Bytes(s[:n])}, hi: bound{d: value.Bytes(s[:n])}})
		n++
	}
	iv.lo = bound{d: value.Bytes(s[:n])}
	return append(dst, iv)
}

func cutBound(b bound, c *Column) bound {
	if b.inf || b.d.IsNull() {
		return b
	}
	b.open = false
	s := b.d.Bytes()
	n := min(c.Prefix, len(s))
	if c.Type.IsCharacter() {
		if coll, ok := collate.Lookup(c.Type.Collation); ok {
			n = coll.PrefixLen(s, c.Prefix)
		}
	}
	if len(s) > n {
		b.d = value.Bytes(s[:n])
	}
	return b
}
