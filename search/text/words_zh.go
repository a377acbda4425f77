package text

import (
	"slices"
	"unicode/utf8"

	"github.com/sqlots/sqlots/search/text/dict"
)

// chinese cuts Han text into words of a dictionary; all else is cut as
// single_word does.
type chinese struct {
	fold  folding
	words *dict.Words
	// all gives every word of the dictionary, overlapping; otherwise each
	// character belongs to one word.
	all bool
}

func makeChinese(all bool) func(options) (*Analyzer, error) {
	return func(o options) (*Analyzer, error) {
		words, err := dict.Load()
		if err != nil {
			return nil, err
		}
		c := &chinese{o.folding(), words, all}
		return &Analyzer{fold: c.fold, index: c.tokens, asker: c}, nil
	}
}

func (c *chinese) tokens(dst []Token, text string) []Token {
	s := wordScanner{text: text}
	pos := 1
	var r run
	for {
		start, end, first := s.next()
		if first == separator {
			return dst
		}
		han, size := utf8.DecodeRuneInString(text[start:])
		if !isHan(han) || size != end-start {
			dst = append(dst, Token{c.fold.term(text[start:end]), pos, start, end})
			pos++
			continue
		}
		// the run of Han characters, without marks
		for s.at < len(text) {
			r, size := utf8.DecodeRuneInString(text[s.at:])
			if !isHan(r) || s.at+size < len(text) && text[s.at+size] >= utf8.RuneSelf && isMarkAt(text[s.at+size:]) {
				break
			}
			s.at += size
		}
		c.read(&r, text, start, s.at)
		if c.all {
			dst, pos = c.allWords(dst, text, &r, pos)
		} else {
			dst, pos = c.fewestWords(dst, text, &r, pos)
		}
	}
}

// span is a word as characters from up to, but not including, to.
type span struct{ from, to int }

// run is a run of Han characters: character i is text[at[i]:at[i+1]].
type run struct {
	at    []int
	words []span // of the dictionary: ascending by from, then descending by to
	// room for the work of cutting
	covered []bool
	best    []cut
	cuts    []span
	ends    []int
}

// cut is the best cut of the start of a run: what words of the dictionary
// cover, the number of words, and where the last begins.
type cut struct{ covered, words, from int }

func (c *chinese) read(r *run, text string, start, end int) {
	r.at, r.words = r.at[:0], r.words[:0]
	for i := start; i < end; {
		r.at = append(r.at, i)
		_, size := utf8.DecodeRuneInString(text[i:])
		i += size
	}
	r.at = append(r.at, end)
	for i := 0; i+1 < len(r.at); i++ {
		r.ends = c.words.Prefixes(r.ends[:0], text[r.at[i]:end])
		from := len(r.words)
		to := i + 1
		for _, n := range r.ends {
			for r.at[to] < r.at[i]+n {
				to++
			}
			r.words = append(r.words, span{i, to})
		}
		slices.Reverse(r.words[from:])
	}
}

// allWords gives every word. A character that no finest word (one that holds no other)
// covers is a word too, so that the finest cut is whole. Positions count characters, so
// that phrases find words at their place.
func (c *chinese) allWords(dst []Token, text string, r *run, pos int) ([]Token, int) {
	n := len(r.at) - 1
	r.covered = append(r.covered[:0], make([]bool, n)...)
	covered := r.covered
	// The finest words are those that end before every later one begins to
	// end: seen from the right, a word is finest when it ends before all words
	// that begin at or after it.
	least := n + 1
	for i := len(r.words) - 1; i >= 0; i-- {
		if w := r.words[i]; w.to < least {
			least = w.to
			for j := w.from; j < w.to; j++ {
				covered[j] = true
			}
		}
	}
	next := 0
	for i := range n {
		for ; next < len(r.words) && r.words[next].from == i; next++ {
			dst = append(dst, c.token(text, r, r.words[next], pos+i))
		}
		if !covered[i] {
			dst = append(dst, c.token(text, r, span{i, i + 1}, pos+i))
		}
	}
	return dst, pos + n
}

func (c *chinese) token(text string, r *run, w span, pos int) Token {
	start, end := r.at[w.from], r.at[w.to]
	return Token{c.fold.term(text[start:end]), pos, start, end}
}

// fewestWords cuts so that words of the dictionary cover as much as possible,
// by as few words as possible; of equal cuts, the one with the longer words at
// the end, as Chinese puts the head of a word last.
func (c *chinese) fewestWords(dst []Token, text string, r *run, pos int) ([]Token, int) {
	n := len(r.at) - 1
	r.best = append(r.best[:0], make([]cut, n+1)...)
	best := r.best
	for i := 1; i <= n; i++ {
		best[i] = cut{covered: -1}
	}
	next := 0
	better := func(from, to, covered int) {
		of := cut{best[from].covered + covered, best[from].words + 1, from}
		if b := best[to]; of.covered > b.covered || of.covered == b.covered && of.words < b.words {
			best[to] = of
		}
	}
	for i := range n {
		for ; next < len(r.words) && r.words[next].from == i; next++ {
			better(i, r.words[next].to, r.words[next].to-i)
		}
		better(i, i+1, 0)
	}
	cuts := r.cuts[:0]
	for to := n; to > 0; to = best[to].from {
		cuts = append(cuts, span{best[to].from, to})
	}
	r.cuts = cuts
	for _, w := range slices.Backward(cuts) {
		dst = append(dst, c.token(text, r, w, pos))
		pos++
	}
	return dst, pos
}

func (c *chinese) terms(text string) []Query { return byTokens{tokens: c.tokens}.terms(text) }

// phrase leaves out what longer words of the phrase cover: of all words, those
// are where the longer ones are, and single characters may not be, as words
// around the phrase may cover them.
func (c *chinese) phrase(text string) Query {
	tokens := c.tokens(nil, text)
	if c.all {
		reach := 0
		kept := tokens[:0]
		for _, t := range tokens {
			if t.End > reach {
				kept = append(kept, t)
				reach = t.End
			}
		}
		tokens = kept
	}
	return phraseOf(tokens)
}

func (c *chinese) word(text string) []Query { return oneOrNone(c.phrase(text)) }

// prefix finds words that begin so, and the text itself where it is cut into
// several words.
func (c *chinese) prefix(text string) []Query {
	joined := lastWord(c.fold, wordScanner{joinCJK: true})
	before, last := joined(text)
	if last == "" {
		return c.word(text)
	}
	open := []Query{Prefix{last}}
	if tokens := c.tokens(nil, before); len(tokens) > 0 {
		p := phraseTerms(tokens)
		at := p[len(p)-1].At + 1
		if c.all {
			at += utf8.RuneCountInString(tokens[len(tokens)-1].Term) - 1
		}
		open = []Query{Phrase{Terms: append(p, PhraseTerm{last, at, true})}}
	}
	if q := c.phrase(text); q != nil && q.String() != (Term{last}).String() {
		open = append(open, q)
	}
	return []Query{anyOf(open)}
}

func (c *chinese) near(text string) []Query { return nearWords(text, c.phrase) }
