package text

import (
	"slices"
	"strings"
)

// DefaultAnalyzer is the analyzer of a text field that names none. Every
// character of Chinese and every word of Latin script can be found, phrases of
// Chinese are found exactly, and it needs no dictionary; case and accents are
// forgotten, as MySQL's default collation does.
const DefaultAnalyzer = "single_word"

// DefaultFulltext is the analyzer of a FULLTEXT key without a parser: InnoDB's.
const DefaultFulltext = "fulltext"

// Analyzer makes tokens of text, and queries for them. It is immutable and may
// be used by many goroutines at once.
type Analyzer struct {
	spec Spec
	fold folding
	// index makes the tokens of a row.
	index func(dst []Token, text string) []Token
	// logical makes the tokens that the analyzer is said to make, nil for index.
	logical func(dst []Token, text string) []Token
	asker
}

// asker makes queries of text: the half of an analyzer that questions need.
type asker interface {
	// terms gives what natural language searches for, one query for each term.
	terms(text string) []Query
	// phrase searches for the whole text in its order; nil when the text has no terms.
	phrase(text string) Query
	// word gives what one word of a boolean query searches for. An operator before the
	// word counts for each of them.
	word(text string) []Query
	// prefix searches for words that begin like the text; nil when the text has none.
	prefix(text string) []Query
	// near gives the members of a proximity search.
	near(text string) []Query
}

// Spec gives the analyzer's name and options.
func (a *Analyzer) Spec() Spec { return a.spec }

// Tokens appends the tokens under which a row's text is indexed. Terms may
// share memory with text.
func (a *Analyzer) Tokens(dst []Token, text string) []Token { return a.index(dst, text) }

// ValueGap is the distance between the positions of several values of one
// document, so that no phrase crosses from one to the next.
const ValueGap = 100

// TokensOf appends the tokens of a document of several values, as the elements
// of an array or the columns of a FULLTEXT key. Start and End count within each
// value.
func (a *Analyzer) TokensOf(dst []Token, values ...string) []Token {
	base := 0
	for _, v := range values {
		from := len(dst)
		dst = a.index(dst, v)
		for i := from; i < len(dst); i++ {
			dst[i].Pos += base
		}
		if n := len(dst); n > from {
			base = dst[n-1].Pos + ValueGap
		}
	}
	return dst
}

// Logical appends the tokens that the analyzer defines, which is what an
// ANALYZE shows. They differ from Tokens where the index holds the same in
// another way: fuzzy gives all n-grams, and words indexed for phrases only are
// left out.
func (a *Analyzer) Logical(dst []Token, text string) []Token {
	if a.logical != nil {
		return a.logical(dst, text)
	}
	from := len(dst)
	dst = a.index(dst, text)
	return append(dst[:from], slices.DeleteFunc(dst[from:], func(t Token) bool { return Hidden(t.Term) })...)
}

// byTokens searches for the same tokens as are indexed. It serves all analyzers whose
// tokens of a substring are a subset of the text's tokens.
type byTokens struct {
	tokens func(dst []Token, text string) []Token
	// open folds the last word of a text without looking it up or stemming it, for
	// prefixes: it gives the text before it and the folded word.
	open func(text string) (before, last string)
}

func (b byTokens) terms(text string) []Query {
	var of []Query
	seen := map[string]bool{}
	for _, t := range b.tokens(nil, text) {
		if !seen[t.Term] {
			seen[t.Term] = true
			of = append(of, Term{t.Term})
		}
	}
	return of
}

func (b byTokens) phrase(text string) Query { return phraseOf(b.tokens(nil, text)) }

func (b byTokens) word(text string) []Query { return oneOrNone(b.phrase(text)) }

func (b byTokens) prefix(text string) []Query {
	before, last := b.open(text)
	if last == "" {
		return b.word(text)
	}
	tokens := b.tokens(nil, before)
	if len(tokens) == 0 {
		return []Query{Prefix{last}}
	}
	p := phraseTerms(tokens)
	p = append(p, PhraseTerm{Term: last, At: p[len(p)-1].At + 1, Prefix: true})
	return []Query{Phrase{Terms: p}}
}

func (b byTokens) near(text string) []Query { return nearWords(text, b.phrase) }

// phraseOf searches for tokens in their order; a single one needs no phrase.
func phraseOf(tokens []Token) Query {
	switch len(tokens) {
	case 0:
		return nil
	case 1:
		return Term{tokens[0].Term}
	}
	return Phrase{Terms: phraseTerms(tokens)}
}

func phraseTerms(tokens []Token) []PhraseTerm {
	p := make([]PhraseTerm, len(tokens))
	for i, t := range tokens {
		p[i] = PhraseTerm{Term: t.Term, At: t.Pos - tokens[0].Pos}
	}
	return p
}

func oneOrNone(q Query) []Query {
	if q == nil {
		return nil
	}
	return []Query{q}
}

// nearWords searches for each word between white space, once.
func nearWords(text string, phrase func(string) Query) []Query {
	var of []Query
	seen := map[string]bool{}
	for w := range strings.FieldsSeq(text) {
		if q := phrase(w); q != nil && !seen[q.String()] {
			seen[q.String()] = true
			of = append(of, q)
		}
	}
	return of
}
