package text

import (
	"cmp"
	"html"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// FragmentOrder is the order of the fragments of a highlighted text.
type FragmentOrder uint8

// By their place in the text, or those with the most different terms first.
const (
	ByPlace FragmentOrder = iota
	ByScore
)

// Highlighting says how [Analyzer.Highlight] shows what a query matched.
type Highlighting struct {
	// Pre and Post enclose what matched.
	Pre, Post string
	// FragmentSize is the length of a fragment in characters, without tags. A
	// fragment is longer where one match is.
	FragmentSize int
	// Fragments is how many fragments there are at most: the best ones. 0 is
	// the whole text as one.
	Fragments int
	Order     FragmentOrder
	// HTML encodes the text, not the tags, for HTML.
	HTML bool
}

// DefaultHighlighting is what holds where a caller names nothing.
var DefaultHighlighting = Highlighting{Pre: "<em>", Post: "</em>", FragmentSize: 100, Fragments: 5}

// Highlight gives the fragments of a text that a query matched, with tags
// around each match; nothing when the text does not match. Matches that touch
// are one. Members that a query excludes or counts against are not shown, nor
// are parts of it that do not match as a whole.
func (a *Analyzer) Highlight(text string, q Query, h Highlighting) []string {
	return a.HighlightAll(text, []Asked{{Query: q}}, h)
}

// Asked is a query for which a text is highlighted.
type Asked struct {
	Query Query
	// Whole is the document that the text is a part of, and which the query has to
	// match; nil when it is the text.
	Whole *Doc
}

// HighlightAll is Highlight for several queries.
func (a *Analyzer) HighlightAll(text string, list []Asked, h Highlighting) []string {
	tokens := a.index(nil, text)
	m := marker{doc: NewDoc(tokens), tokens: tokens, at: make(map[int][]int, len(tokens))}
	for i, t := range tokens {
		m.at[t.Pos] = append(m.at[t.Pos], i)
	}
	for _, one := range list {
		if m.whole = one.Whole; m.whole == nil {
			m.whole = m.doc
		}
		m.mark(one.Query)
	}
	marks := merged(m.marks)
	switch {
	case len(marks) == 0:
		return nil
	case h.Fragments == 0:
		return []string{h.render(text, fragment{0, len(text), marks})}
	}
	fragments := fragmentsOf(text, marks, max(h.FragmentSize, 1))
	byScore := func(x, y fragment) int {
		xt, xn := x.score()
		yt, yn := y.score()
		return cmp.Or(cmp.Compare(yt, xt), cmp.Compare(yn, xn))
	}
	if len(fragments) > h.Fragments || h.Order == ByScore {
		slices.SortStableFunc(fragments, byScore)
		fragments = fragments[:min(len(fragments), h.Fragments)]
	}
	if h.Order == ByPlace {
		slices.SortFunc(fragments, func(x, y fragment) int { return cmp.Compare(x.start, y.start) })
	}
	shown := make([]string, len(fragments))
	for i, f := range fragments {
		shown[i] = h.render(text, f)
	}
	return shown
}

// matched is a part of the text that leaves of the query matched.
type matched struct {
	start, end int
	leaves     []int
}

// marker finds what leaves of a query match.
type marker struct {
	doc    *Doc
	whole  *Doc // what a query has to match
	tokens []Token
	at     map[int][]int // tokens by position
	marks  []matched
	leaf   int // number of the leaf being marked
}

func (m *marker) mark(q Query) {
	if !m.whole.Matches(q) {
		return
	}
	switch q := q.(type) {
	case And:
		m.markAll(q.Of)
	case Or:
		m.markAll(q.Of)
	case Should:
		m.mark(q.Of)
		m.markAll(q.Optional)
	case Boost:
		if q.Factor > 0 {
			m.mark(q.Of)
		}
	case Not, All, None:
	default:
		m.leaf++
		m.markLeaf(q, 0, 1<<62)
	}
}

func (m *marker) markAll(of []Query) {
	for _, q := range of {
		m.mark(q)
	}
}

// markLeaf marks the occurrences of a leaf that begin at positions from..to-1.
func (m *marker) markLeaf(q Query, from, to int) {
	switch q := q.(type) {
	case Phrase:
		for _, start := range m.doc.positions(q) {
			if start < from || to <= start {
				continue
			}
			for _, t := range q.Terms {
				m.markLeaf(t.leaf(), start+t.At-q.Slop, start+t.At+q.Slop+1)
			}
		}
	case Near:
		lists := make([][]int, len(q.Of))
		for i, of := range q.Of {
			lists[i] = m.doc.positions(of)
		}
		for _, start := range NearStarts(q.Window, lists) {
			for _, of := range q.Of {
				m.markLeaf(of, start, start+q.Window)
			}
		}
	default:
		for _, term := range m.doc.expand(q) {
			positions := m.doc.terms[term]
			i, _ := slices.BinarySearch(positions, from)
			for ; i < len(positions) && positions[i] < to; i++ {
				for _, k := range m.at[positions[i]] {
					if t := m.tokens[k]; t.Term == term {
						m.marks = append(m.marks, matched{t.Start, t.End, []int{m.leaf}})
					}
				}
			}
		}
	}
}

// merged sorts marks and joins those that overlap or touch.
func merged(marks []matched) []matched {
	slices.SortFunc(marks, func(x, y matched) int {
		return cmp.Or(cmp.Compare(x.start, y.start), cmp.Compare(x.end, y.end))
	})
	out := marks[:0]
	for _, m := range marks {
		if n := len(out); n > 0 && m.start <= out[n-1].end {
			last := &out[n-1]
			last.end = max(last.end, m.end)
			if !slices.Contains(last.leaves, m.leaves[0]) {
				last.leaves = append(last.leaves, m.leaves[0])
			}
			continue
		}
		out = append(out, m)
	}
	return out
}

// fragment is a part of the text with what matched in it.
type fragment struct {
	start, end int
	marks      []matched
}

// score gives the number of different leaves in a fragment, and of matches.
func (f fragment) score() (leaves, marks int) {
	seen := map[int]bool{}
	for _, m := range f.marks {
		for _, l := range m.leaves {
			seen[l] = true
		}
	}
	return len(seen), len(f.marks)
}

// fragmentsOf puts marks that fit into size characters together and gives each
// such group as much of the text around it as fits.
func fragmentsOf(text string, marks []matched, size int) []fragment {
	var fragments []fragment
	for first := 0; first < len(marks); {
		last, length := first, utf8.RuneCountInString(text[marks[first].start:marks[first].end])
		for last+1 < len(marks) {
			more := utf8.RuneCountInString(text[marks[last].end:min(marks[last+1].end, marks[last].end+utf8.UTFMax*(size+1))])
			if length+more > size {
				break
			}
			length += more
			last++
		}
		floor, ceiling := 0, len(text)
		if n := len(fragments); n > 0 {
			floor = fragments[n-1].end
		}
		if last+1 < len(marks) {
			ceiling = marks[last+1].start
		}
		f := fragment{marks[first].start, marks[last].end, marks[first : last+1]}
		spare := max(size-length, 0)
		start := back(text, f.start, floor, spare/2)
		end := forth(text, f.end, ceiling, spare-utf8.RuneCountInString(text[start:f.start]))
		start = back(text, f.start, floor, spare-utf8.RuneCountInString(text[f.end:end]))
		f.start, f.end = wholeWords(text, start, f.start), wholeWordsEnd(text, f.end, end)
		fragments = append(fragments, f)
		first = last + 1
	}
	return fragments
}

// back goes n characters back from i, not before floor.
func back(text string, i, floor, n int) int {
	for ; n > 0 && i > floor; n-- {
		_, size := utf8.DecodeLastRuneInString(text[floor:i])
		i -= size
	}
	return i
}

// forth goes n characters on from i, not after ceiling.
func forth(text string, i, ceiling, n int) int {
	for ; n > 0 && i < ceiling; n-- {
		_, size := utf8.DecodeRuneInString(text[i:ceiling])
		i += size
	}
	return i
}

// cutsWord reports whether i is inside a word, or before a mark.
func cutsWord(text string, i int) bool {
	if i <= 0 || i >= len(text) {
		return false
	}
	next, _ := utf8.DecodeRuneInString(text[i:])
	prev, _ := utf8.DecodeLastRuneInString(text[:i])
	return unicode.IsMark(next) || isWordRune(next) && isWordRune(prev)
}

func isWordRune(r rune) bool {
	c := classOf(r)
	return c == letter || c == digit || c == mark
}

// wholeWords moves the start of a fragment on to the start of a word and past
// blanks, up to the first match.
func wholeWords(text string, start, match int) int {
	for start < match && cutsWord(text, start) {
		start = forth(text, start, match, 1)
	}
	return match - len(strings.TrimLeftFunc(text[start:match], unicode.IsSpace))
}

// wholeWordsEnd moves the end of a fragment back in the same way.
func wholeWordsEnd(text string, match, end int) int {
	for end > match && cutsWord(text, end) {
		end = back(text, end, match, 1)
	}
	return match + len(strings.TrimRightFunc(text[match:end], unicode.IsSpace))
}

// render writes a fragment with its tags.
func (h Highlighting) render(text string, f fragment) string {
	var b strings.Builder
	plain := func(s string) {
		if h.HTML {
			s = html.EscapeString(s)
		}
		b.WriteString(s)
	}
	at := f.start
	for _, m := range f.marks {
		plain(text[at:m.start])
		b.WriteString(h.Pre)
		plain(text[m.start:m.end])
		b.WriteString(h.Post)
		at = m.end
	}
	plain(text[at:f.end])
	return b.String()
}
