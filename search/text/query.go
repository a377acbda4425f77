package text

import (
	"fmt"
	"strconv"
	"strings"
)

// Query says which documents match and how they score. The nodes below are all
// there are; a nil Query is none of them.
//
// Leaves ([Term], [Prefix], [Fuzzy], [Phrase], [Near]) match documents by their
// tokens and score by BM25, see [Doc.Score]. The others combine.
type Query interface {
	fmt.Stringer
	node()
}

// None matches nothing.
type None struct{}

// All matches every document, with score 0.
type All struct{}

// Term matches documents that have the term.
type Term struct{ Term string }

// Prefix matches documents that have a term with the prefix that is not
// [Hidden]. It scores as one term: the occurrences of all those terms, and the
// number of documents that have any of them.
type Prefix struct{ Prefix string }

// Fuzzy matches documents that have a term at most Distance insertions,
// deletions or substitutions of a character away from Term, and not [Hidden].
// It scores as [Prefix] does.
type Fuzzy struct {
	Term     string
	Distance int
}

// PhraseTerm is a term of a phrase at its place, which counts from 0. A phrase
// may have several terms at one place: all of them must be there.
type PhraseTerm struct {
	Term   string
	At     int
	Prefix bool // a prefix instead of a whole term
}

// Phrase matches documents that have all terms at the same distances, at some
// position p: each term at p+At. With a Slop terms may be moved, so that their
// moves differ by at most Slop, and those of different places do not meet.
// Terms are ordered by At, and the first has 0.
type Phrase struct {
	Terms []PhraseTerm
	Slop  int
}

// Near matches documents that have all of its members, which are Terms,
// Prefixes and Phrases, in any order, so that they begin within Window words:
// the last at most Window-1 positions after the first.
type Near struct {
	Of     []Query
	Window int
}

// And matches what all of its members match, and scores their sum. It has at
// least one member.
type And struct{ Of []Query }

// Or matches what at least Min of its members match; a Min below 1 is 1. It
// scores the sum of those that match.
type Or struct {
	Of  []Query
	Min int
}

// Not matches what its member does not, and scores 0.
type Not struct{ Of Query }

// Boost matches what its member matches, and multiplies its score. A negative
// factor makes the member count against a document.
type Boost struct {
	Of     Query
	Factor float64
}

// Should matches what Of matches. The optional members change the score only.
type Should struct {
	Of       Query
	Optional []Query
}

func (None) node()   {}
func (All) node()    {}
func (Term) node()   {}
func (Prefix) node() {}
func (Fuzzy) node()  {}
func (Phrase) node() {}
func (Near) node()   {}
func (And) node()    {}
func (Or) node()     {}
func (Not) node()    {}
func (Boost) node()  {}
func (Should) node() {}

// String of a query is what EXPLAIN and tests show.
func (None) String() string { return "none" }

// String of a query is what EXPLAIN and tests show.
func (All) String() string { return "all" }

// String of a query is what EXPLAIN and tests show.
func (q Term) String() string { return quoteTerm(q.Term) }

// String of a query is what EXPLAIN and tests show.
func (q Prefix) String() string { return quoteTerm(q.Prefix) + "*" }

// String of a query is what EXPLAIN and tests show.
func (q Fuzzy) String() string { return quoteTerm(q.Term) + "~" + strconv.Itoa(q.Distance) }

// String of a query is what EXPLAIN and tests show: places that do not follow
// on the one before are written out.
func (q Phrase) String() string {
	var b strings.Builder
	b.WriteString("phrase(")
	for i, t := range q.Terms {
		if i > 0 {
			b.WriteByte(' ')
		}
		if i > 0 && t.At != q.Terms[i-1].At+1 {
			fmt.Fprintf(&b, "%d:", t.At)
		}
		b.WriteString(quoteTerm(t.Term))
		if t.Prefix {
			b.WriteByte('*')
		}
	}
	if q.Slop > 0 {
		fmt.Fprintf(&b, " slop %d", q.Slop)
	}
	b.WriteByte(')')
	return b.String()
}

// String of a query is what EXPLAIN and tests show.
func (q Near) String() string { return fmt.Sprintf("near(%d, %s)", q.Window, join(q.Of)) }

// String of a query is what EXPLAIN and tests show.
func (q And) String() string { return "and(" + join(q.Of) + ")" }

// String of a query is what EXPLAIN and tests show.
func (q Or) String() string {
	if q.Min > 1 {
		return fmt.Sprintf("or(min %d, %s)", q.Min, join(q.Of))
	}
	return "or(" + join(q.Of) + ")"
}

// String of a query is what EXPLAIN and tests show.
func (q Not) String() string { return "not(" + q.Of.String() + ")" }

// String of a query is what EXPLAIN and tests show.
func (q Boost) String() string {
	return "boost(" + strconv.FormatFloat(q.Factor, 'g', -1, 64) + ", " + q.Of.String() + ")"
}

// String of a query is what EXPLAIN and tests show.
func (q Should) String() string { return "should(" + q.Of.String() + ", " + join(q.Optional) + ")" }

func join(of []Query) string {
	s := make([]string, len(of))
	for i, q := range of {
		s[i] = q.String()
	}
	return strings.Join(s, ", ")
}

// quoteTerm does not quote plain words.
func quoteTerm(s string) string {
	for _, r := range s {
		if c := classOf(r); c == separator || r == '\uFFFD' {
			return strconv.Quote(s)
		}
	}
	if s == "" || s == "none" || s == "all" {
		return strconv.Quote(s)
	}
	return s
}

// allOf is And without needless nodes: nothing needed is All.
func allOf(of []Query) Query {
	switch len(of) {
	case 0:
		return All{}
	case 1:
		return of[0]
	}
	for _, q := range of {
		if _, none := q.(None); none {
			return None{}
		}
	}
	return And{of}
}

// anyOf is Or without needless nodes: nothing to match is None.
func anyOf(of []Query) Query {
	kept := of[:0:0]
	for _, q := range of {
		if _, none := q.(None); !none {
			kept = append(kept, q)
		}
	}
	switch len(kept) {
	case 0:
		return None{}
	case 1:
		return kept[0]
	}
	return Or{Of: kept}
}
