package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	unicodetokenizer "github.com/blevesearch/bleve/v2/analysis/tokenizer/unicode"
)

// wordScanner cuts text into words at separators.
type wordScanner struct {
	text string
	at   int
	// joinCJK gives runs of CJK as one word instead of each character, mixed
	// lets words go on from CJK to other letters and back.
	joinCJK, mixed bool
	// underscores makes _ a letter.
	underscores bool
	// digitsApart ends words between letters and digits.
	digitsApart bool
}

// next gives the bytes of the next word and what it begins with, which is
// separator at the end.
func (s *wordScanner) next() (start, end int, first class) {
	for s.at < len(s.text) {
		c, size := s.class()
		s.at += size
		if c == separator || c == mark {
			continue
		}
		start = s.at - size
		last := c
		for s.at < len(s.text) {
			n, size := s.class()
			if n != mark {
				if n == separator || !s.mixed && ((n == cjk) != (c == cjk) || c == cjk && !s.joinCJK) {
					break
				}
				if s.digitsApart && n != last {
					break
				}
				last = n
			}
			s.at += size
		}
		return start, s.at, c
	}
	return 0, 0, separator
}

func (s *wordScanner) class() (class, int) {
	c, size := classify(s.text[s.at:])
	if c == underscore {
		c = separator
		if s.underscores {
			c = letter
		}
	}
	return c, size
}

// lastWord cuts off the last word of a text, for [byTokens.open].
func lastWord(f folding, scan wordScanner) func(text string) (before, last string) {
	return func(text string) (string, string) {
		s := scan
		s.text = text
		from, to := 0, 0
		for {
			start, end, c := s.next()
			if c == separator {
				return text[:from], f.term(text[from:to])
			}
			from, to = start, end
		}
	}
}

// makeSingleWord: every CJK character, and words of other scripts.
func makeSingleWord(o options) (*Analyzer, error) {
	f, scan := o.folding(), wordScanner{digitsApart: o.on("delimit_word")}
	tokens := func(dst []Token, text string) []Token {
		s := scan
		s.text = text
		for pos := 1; ; pos++ {
			start, end, c := s.next()
			if c == separator {
				return dst
			}
			dst = append(dst, Token{f.term(text[start:end]), pos, start, end})
		}
	}
	return &Analyzer{fold: f, index: tokens, asker: byTokens{tokens, lastWord(f, scan)}}, nil
}

// makeSplit makes terms of the text between delimiters.
func makeSplit(o options) (*Analyzer, error) {
	f, delimiter := o.folding(), o["delimiter"]
	next := func(text string) (at, size int) {
		at = strings.Index(text, delimiter)
		return at, len(delimiter)
	}
	if delimiter == " " {
		next = func(text string) (at, size int) {
			if at = strings.IndexFunc(text, unicode.IsSpace); at >= 0 {
				_, size = utf8.DecodeRuneInString(text[at:])
			}
			return at, size
		}
	}
	tokens := func(dst []Token, text string) []Token {
		pos := 1
		for start := 0; start <= len(text); {
			end, size := next(text[start:])
			if end < 0 {
				end, size = len(text)-start, 1
			}
			if term := f.term(text[start : start+end]); term != "" {
				dst = append(dst, Token{term, pos, start, start + end})
				pos++
			}
			start += end + size
		}
		return dst
	}
	open := func(text string) (string, string) {
		from := 0
		for {
			at, size := next(text[from:])
			if at < 0 {
				return text[:from], f.term(text[from:])
			}
			from += at + size
		}
	}
	return &Analyzer{fold: f, index: tokens, asker: byTokens{tokens, open}}, nil
}

// makeKeyword: the whole text is one term.
func makeKeyword(o options) (*Analyzer, error) {
	f := o.folding()
	tokens := func(dst []Token, text string) []Token {
		if term := f.term(text); term != "" {
			dst = append(dst, Token{term, 1, 0, len(text)})
		}
		return dst
	}
	open := func(text string) (string, string) { return "", f.term(text) }
	return &Analyzer{fold: f, index: tokens, asker: byTokens{tokens, open}}, nil
}

// makeStandard: the words of Unicode's text segmentation (UAX 29).
func makeStandard(o options) (*Analyzer, error) {
	f, tokenizer := o.folding(), unicodetokenizer.NewUnicodeTokenizer()
	tokens := func(dst []Token, text string) []Token {
		pos := 1
		for _, t := range tokenizer.Tokenize([]byte(text)) {
			if term := f.term(string(t.Term)); term != "" {
				dst = append(dst, Token{term, pos, t.Start, t.End})
				pos++
			}
		}
		return dst
	}
	return &Analyzer{fold: f, index: tokens, asker: byTokens{tokens, lastWord(f, wordScanner{underscores: true})}}, nil
}
