package text

import (
	"math"
	"slices"
	"sort"
	"strings"
)

// Doc is the tokens of one document, ready for queries.
type Doc struct {
	terms  map[string][]int // positions, ascending
	sorted []string         // the terms that are not hidden
	len    int
}

// NewDoc takes a document's tokens in the order in which an analyzer gives
// them. It keeps no reference to the slice.
func NewDoc(tokens []Token) *Doc {
	d := &Doc{terms: make(map[string][]int, len(tokens)), len: len(tokens)}
	for _, t := range tokens {
		p := d.terms[t.Term]
		if p == nil && !Hidden(t.Term) {
			d.sorted = append(d.sorted, t.Term)
		}
		if len(p) == 0 || p[len(p)-1] != t.Pos {
			d.terms[t.Term] = append(p, t.Pos)
		}
	}
	sort.Strings(d.sorted)
	return d
}

// Len is the length that scores use: the number of tokens.
func (d *Doc) Len() int { return d.len }

// Matches reports whether the document satisfies a query.
func (d *Doc) Matches(q Query) bool {
	switch q := q.(type) {
	case All:
		return true
	case And:
		return !slices.ContainsFunc(q.Of, func(m Query) bool { return !d.Matches(m) })
	case Or:
		n := 0
		for _, m := range q.Of {
			if d.Matches(m) {
				if n++; n >= q.Min {
					return true
				}
			}
		}
		return false
	case Not:
		return !d.Matches(q.Of)
	case Boost:
		return d.Matches(q.Of)
	case Should:
		return d.Matches(q.Of)
	case None:
		return false
	}
	return d.Freq(q) > 0
}

// Freq is how often a leaf occurs: the tf of its score. A phrase occurs at
// each position of its first term where the others are in their places, a
// Near at each position that is the first of a window.
func (d *Doc) Freq(leaf Query) int {
	switch q := leaf.(type) {
	case Phrase:
		lists := make([][]int, len(q.Terms))
		for i := range q.Terms {
			lists[i] = d.positions(q.Terms[i].leaf())
		}
		return len(PhraseStarts(q, lists))
	case Near:
		lists := make([][]int, len(q.Of))
		for i, m := range q.Of {
			lists[i] = d.positions(m)
		}
		return len(NearStarts(q.Window, lists))
	}
	n := 0
	for _, t := range d.expand(leaf) {
		n += len(d.terms[t])
	}
	return n
}

// leaf is a member of a phrase as a query of its own.
func (t PhraseTerm) leaf() Query {
	if t.Prefix {
		return Prefix{t.Term}
	}
	return Term{t.Term}
}

// expand gives the document's terms that a leaf means.
func (d *Doc) expand(leaf Query) []string {
	switch q := leaf.(type) {
	case Term:
		if d.terms[q.Term] != nil {
			return []string{q.Term}
		}
	case Prefix:
		from := sort.SearchStrings(d.sorted, q.Prefix)
		to := from
		for to < len(d.sorted) && strings.HasPrefix(d.sorted[to], q.Prefix) {
			to++
		}
		return d.sorted[from:to]
	case Fuzzy:
		var of []string
		for _, t := range d.sorted {
			if WithinDistance(q.Term, t, q.Distance) {
				of = append(of, t)
			}
		}
		return of
	}
	return nil
}

// positions gives where a Term, Prefix or Phrase begins, ascending.
func (d *Doc) positions(q Query) []int {
	if p, ok := q.(Phrase); ok {
		lists := make([][]int, len(p.Terms))
		for i := range p.Terms {
			lists[i] = d.positions(p.Terms[i].leaf())
		}
		return PhraseStarts(p, lists)
	}
	terms := d.expand(q)
	if len(terms) == 1 {
		return d.terms[terms[0]]
	}
	var all []int
	for _, t := range terms {
		all = append(all, d.terms[t]...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// PhraseStarts gives the positions of a phrase's first term at which the
// phrase is, from the ascending positions of each of its terms in a document.
// Executors over postings use it as the evaluator does.
func PhraseStarts(p Phrase, positions [][]int) []int {
	for _, l := range positions {
		if len(l) == 0 {
			return nil
		}
	}
	if len(positions) == 0 {
		return nil
	}
	var starts []int
	var room [8]int
	at := room[:min(len(positions), len(room))] // cursors
	if len(positions) > len(room) {
		at = make([]int, len(positions))
	}
	for _, start := range positions[0] {
		ok := true
		for i := 1; ok && i < len(positions); i++ {
			want := start + p.Terms[i].At
			if p.Slop > 0 {
				want -= p.Slop
			}
			l := positions[i]
			for at[i] < len(l) && l[at[i]] < want {
				at[i]++
			}
			if p.Slop == 0 {
				ok = at[i] < len(l) && l[at[i]] == want
			}
		}
		if ok && p.Slop > 0 {
			ok = sloppy(p, positions, at, 1, start, start, []int{start})
		}
		if ok {
			starts = append(starts, start)
		}
	}
	return starts
}

// sloppy looks for positions of the terms from i on such that the shifts of all terms
// are within the slop, and terms of different places have different positions.
func sloppy(p Phrase, positions [][]int, at []int, i, low, high int, placed []int) bool {
	if i == len(positions) {
		return true
	}
	for _, pos := range positions[i][at[i]:] {
		shift := pos - p.Terms[i].At
		if shift > low+p.Slop {
			return false
		}
		if shift < high-p.Slop {
			continue
		}
		apart := true
		for j, other := range placed {
			apart = apart && (other != pos || p.Terms[j].At == p.Terms[i].At)
		}
		if apart && sloppy(p, positions, at, i+1, min(low, shift), max(high, shift), append(placed, pos)) {
			return true
		}
	}
	return false
}

// NearStarts gives the positions at which a window begins that holds a position
// of every list; the lists ascend.
func NearStarts(window int, positions [][]int) []int {
	var all []int
	for _, l := range positions {
		all = append(all, l...)
	}
	slices.Sort(all)
	at := make([]int, len(positions))
	var starts []int
	for _, start := range slices.Compact(all) {
		ok := true
		for i, l := range positions {
			for at[i] < len(l) && l[at[i]] < start {
				at[i]++
			}
			ok = ok && at[i] < len(l) && l[at[i]] < start+window
		}
		if ok {
			starts = append(starts, start)
		}
	}
	return starts
}

// WithinDistance reports whether b is at most n insertions, deletions or
// substitutions of a character away from a.
func WithinDistance(a, b string, n int) bool {
	x, y := []rune(a), []rune(b)
	if len(x)-len(y) > n || len(y)-len(x) > n {
		return false
	}
	row := make([]int, len(y)+1)
	for j := range row {
		row[j] = j
	}
	for i := range x {
		diagonal := row[0]
		row[0] = i + 1
		for j := range y {
			cost := diagonal
			if x[i] != y[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, diagonal+1, row[j]+1)
		}
	}
	return row[len(y)] <= n
}

// Stats are the figures of a collection that scores need.
type Stats interface {
	// Docs is the number of documents.
	Docs() int64
	// AvgLen is their average length in tokens.
	AvgLen() float64
	// DocFreq is the number of documents that a Term, Prefix or Fuzzy matches.
	DocFreq(leaf Query) int64
}

// Score is the relevance of the document: 0 when it does not match, otherwise
// the sum of the [BM25] of the leaves that match. A phrase and a Near have the
// sum of the idf of their terms.
func (d *Doc) Score(q Query, s Stats) float64 {
	if !d.Matches(q) {
		return 0
	}
	sum := 0.0
	switch q := q.(type) {
	case And:
		for _, m := range q.Of {
			sum += d.Score(m, s)
		}
	case Or:
		for _, m := range q.Of {
			sum += d.Score(m, s)
		}
	case Should:
		sum = d.Score(q.Of, s)
		for _, m := range q.Optional {
			sum += d.Score(m, s)
		}
	case Boost:
		return q.Factor * d.Score(q.Of, s)
	case Not, All, None:
	default:
		return LeafIDF(q, s) * TFNorm(d.Freq(q), d.len, s.AvgLen())
	}
	return sum
}

// LeafIDF is the idf of a leaf: its own, or the sum of those of its terms.
func LeafIDF(leaf Query, s Stats) float64 {
	sum := 0.0
	switch q := leaf.(type) {
	case Phrase:
		for _, t := range q.Terms {
			sum += LeafIDF(t.leaf(), s)
		}
	case Near:
		for _, m := range q.Of {
			sum += LeafIDF(m, s)
		}
	default:
		return IDF(s.DocFreq(leaf), s.Docs())
	}
	return sum
}

// The parameters of BM25.
const (
	k1 = 1.2
	b  = 0.75
)

// BM25 scores a term that occurs tf times in a document of length dl, and in
// df of n documents of the average length avgdl.
func BM25(tf int, df, n int64, dl int, avgdl float64) float64 {
	return IDF(df, n) * TFNorm(tf, dl, avgdl)
}

// IDF is the part of [BM25] that is one for all documents.
func IDF(df, n int64) float64 {
	df = min(df, n) // figures of a moving index may not fit one another
	return math.Log1p((float64(n-df) + 0.5) / (float64(df) + 0.5))
}

// TFNorm is the part of [BM25] that depends on the document.
func TFNorm(tf, dl int, avgdl float64) float64 {
	length := 1.0
	if avgdl > 0 {
		length = 1 - b + b*float64(dl)/avgdl
	}
	return float64(tf) * (k1 + 1) / (float64(tf) + k1*length)
}
