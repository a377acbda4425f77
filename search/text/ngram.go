package text

import (
	"slices"
	"unicode"
	"unicode/utf8"
)

// pieces is the common part of analyzers that cut texts without looking for
// words: a text is a sequence of pieces, of which every gram of neighbouring
// characters can be found.
type pieces struct {
	fold folding
	// breaks reports the characters between pieces.
	breaks func(r rune) bool
}

// each calls f with the pieces of a text. The positions of a piece's
// characters follow on one another, and one is left out between pieces, so
// that no phrase without a break crosses one.
func (p pieces) each(text string, f func(d *folded, pos int)) {
	pos := 1
	var d folded
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		if p.isBreak(r, size) {
			i += size
			continue
		}
		start := i
		for i < len(text) {
			r, size := utf8.DecodeRuneInString(text[i:])
			if p.isBreak(r, size) {
				break
			}
			i += size
		}
		if d.read(p.fold, text, start, i); d.len() > 0 {
			f(&d, pos)
			pos += d.len() + 1
		}
	}
}

func (p pieces) isBreak(r rune, size int) bool {
	return r == utf8.RuneError && size <= 1 || p.breaks(r)
}

// isNoWord reports the breaks of fuzzy: all but letters, digits and marks.
func isNoWord(r rune) bool {
	c := classOf(r)
	return c == separator || c == underscore
}

// fuzzy finds any part of a text. Tablestore's fuzzy indexes all n-grams of min to max
// characters and looks a query up as a whole; here pairs of characters are indexed with
// their positions, and single characters, which finds parts of any length in a quarter
// of the space. With min_chars above 1 only the last character of a piece is indexed
// alone: the others are found as prefixes of pairs.
type fuzzy struct {
	pieces
	min, max int
}

func makeFuzzy(o options) (*Analyzer, error) {
	f := &fuzzy{pieces{o.folding(), isNoWord}, o.number("min_chars"), o.number("max_chars")}
	if f.max < f.min || f.max-f.min > 6 {
		return nil, &BadValueError{"fuzzy", "max_chars", o["max_chars"], "at least min_chars and at most 6 above it"}
	}
	return &Analyzer{fold: f.fold, index: f.tokens, logical: f.ngrams, asker: f}, nil
}

func (f *fuzzy) tokens(dst []Token, text string) []Token {
	from := len(dst)
	dst = f.grams(dst, text)
	if i := oddAt(text); i >= 0 {
		mark := Token{Term: oddTerm, Pos: 1, Start: i}
		if len(dst) > from {
			mark.Start = min(i, dst[from].Start)
		}
		_, size := utf8.DecodeRuneInString(text[mark.Start:])
		mark.End = mark.Start + size
		dst = slices.Insert(dst, from, mark)
	}
	return dst
}

func (f *fuzzy) grams(dst []Token, text string) []Token {
	f.each(text, func(d *folded, pos int) {
		n := d.len()
		for i := range n {
			if f.min == 1 || i == n-1 {
				dst = append(dst, d.gram(i, i+1, pos))
			}
			if i+2 <= n {
				dst = append(dst, d.gram(i, i+2, pos))
			}
		}
	})
	return dst
}

// ngrams gives all grams of min to max characters. A piece that is shorter is
// a gram too.
func (f *fuzzy) ngrams(dst []Token, text string) []Token {
	f.each(text, func(d *folded, pos int) {
		n := d.len()
		for i := range n {
			for l := min(f.min, n); l <= f.max && i+l <= n; l++ {
				dst = append(dst, d.gram(i, i+l, pos))
			}
		}
	})
	return dst
}

// piece searches for one piece as a part of a text: pairs that cover it.
func (f *fuzzy) piece(dst []PhraseTerm, d *folded, at int) []PhraseTerm {
	n := d.len()
	if n == 1 {
		return append(dst, PhraseTerm{d.chars, at, f.min > 1})
	}
	for i := 0; i+2 <= n; i += 2 {
		dst = append(dst, PhraseTerm{Term: d.gram(i, i+2, 0).Term, At: at + i})
	}
	if n%2 == 1 {
		dst = append(dst, PhraseTerm{Term: d.gram(n-2, n, 0).Term, At: at + n - 2})
	}
	return dst
}

func ofPhraseTerms(p []PhraseTerm) Query {
	switch {
	case len(p) == 0:
		return nil
	case len(p) > 1:
		return Phrase{Terms: p}
	case p[0].Prefix:
		return Prefix{p[0].Term}
	}
	return Term{p[0].Term}
}

func (f *fuzzy) terms(text string) []Query {
	var of []Query
	seen := map[string]bool{}
	f.each(text, func(d *folded, _ int) {
		if !seen[d.chars] {
			seen[d.chars] = true
			of = append(of, ofPhraseTerms(f.piece(nil, d, 0)))
		}
	})
	return of
}

func (f *fuzzy) phrase(text string) Query {
	var p []PhraseTerm
	f.each(text, func(d *folded, pos int) {
		p = f.piece(p, d, pos-1)
	})
	return ofPhraseTerms(p)
}

func (f *fuzzy) word(text string) []Query   { return oneOrNone(f.phrase(text)) }
func (f *fuzzy) prefix(text string) []Query { return f.word(text) }
func (f *fuzzy) near(text string) []Query   { return nearWords(text, f.phrase) }

// ngram is MySQL's parser of that name: all grams of one size of the text between white
// space.
type ngram struct {
	pieces
	size int
}

func makeNgram(o options) (*Analyzer, error) {
	g := &ngram{pieces{o.folding(), unicode.IsSpace}, o.number("token_size")}
	return &Analyzer{fold: g.fold, index: g.tokens, asker: g}, nil
}

func (g *ngram) tokens(dst []Token, text string) []Token {
	g.each(text, func(d *folded, pos int) {
		n := d.len()
		for i := 0; i+g.size <= n; i++ {
			dst = append(dst, d.gram(i, i+g.size, pos))
		}
	})
	return dst
}

func (g *ngram) terms(text string) []Query { return byTokens{tokens: g.tokens}.terms(text) }

// phrase searches for every gram; text without any, being too short, matches nothing.
func (g *ngram) phrase(text string) Query {
	if q := phraseOf(g.tokens(nil, text)); q != nil || text == "" {
		return q
	}
	return None{}
}

func (g *ngram) word(text string) []Query { return oneOrNone(g.phrase(text)) }

// prefix of less than a gram is a prefix of grams; a longer one is searched for as a
// word, as MySQL does.
func (g *ngram) prefix(text string) []Query {
	if g.tokens(nil, text) == nil {
		if begin := g.fold.term(text); begin != "" {
			return []Query{Prefix{begin}}
		}
	}
	return g.word(text)
}

func (g *ngram) near(text string) []Query { return nearWords(text, g.phrase) }

// bigram finds CJK text by pairs of characters, other text by words. The last character
// of a run of CJK is also indexed alone, so that single characters are found too: as
// prefixes.
type bigram struct {
	fold folding
}

func makeCJK(o options) (*Analyzer, error) {
	b := &bigram{o.folding()}
	logical := func(dst []Token, text string) []Token { return b.pairs(dst, text, false) }
	return &Analyzer{fold: b.fold, index: b.tokens, logical: logical, asker: b}, nil
}

func (b *bigram) tokens(dst []Token, text string) []Token { return b.pairs(dst, text, true) }

// pairs gives words and pairs, and single characters where they have no pair
// or, with tails, end a run.
func (b *bigram) pairs(dst []Token, text string, tails bool) []Token {
	s := wordScanner{text: text, joinCJK: true}
	pos := 1
	var d folded
	for {
		start, end, c := s.next()
		if c == separator {
			return dst
		}
		if c != cjk {
			dst = append(dst, Token{b.fold.term(text[start:end]), pos, start, end})
			pos++
			continue
		}
		d.read(b.fold, text, start, end)
		n := d.len()
		for i := range n {
			if i+2 <= n {
				dst = append(dst, d.gram(i, i+2, pos))
			} else if n == 1 || tails {
				dst = append(dst, d.gram(i, i+1, pos))
			}
		}
		pos += n
	}
}

// queryTokens gives the tokens of a query: single characters are prefixes of pairs.
func (b *bigram) queryTokens(text string) []PhraseTerm {
	tokens := b.pairs(nil, text, false)
	p := phraseTerms(tokens)
	for i, t := range tokens {
		c, size := classify(t.Term)
		p[i].Prefix = c == cjk && size == len(t.Term)
	}
	return p
}

func (b *bigram) terms(text string) []Query {
	var of []Query
	seen := map[string]bool{}
	for _, t := range b.queryTokens(text) {
		if !seen[t.Term] {
			seen[t.Term] = true
			of = append(of, ofPhraseTerms([]PhraseTerm{t}))
		}
	}
	return of
}

func (b *bigram) phrase(text string) Query { return ofPhraseTerms(b.queryTokens(text)) }

func (b *bigram) word(text string) []Query { return oneOrNone(b.phrase(text)) }

// prefix of CJK is found anyway: pairs that begin it are in every text that
// has it.
func (b *bigram) prefix(text string) []Query {
	p := b.queryTokens(text)
	if len(p) > 0 {
		if c, _ := classify(p[len(p)-1].Term); c != cjk {
			p[len(p)-1].Prefix = true
		}
	}
	return oneOrNone(ofPhraseTerms(p))
}

func (b *bigram) near(text string) []Query { return nearWords(text, b.phrase) }
