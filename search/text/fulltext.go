package text

import (
	"strings"
	"unicode/utf8"
)

// innodbStopWords is the content of
// INFORMATION_SCHEMA.INNODB_FT_DEFAULT_STOPWORD, with their hidden terms.
var innodbStopWords = func() map[string]string {
	words := map[string]string{}
	for w := range strings.FieldsSeq(`a about an are as at be by com de en for from how i in is it la of
		on or that the this to was what when where who will with und the www`) {
		words[w] = hiddenMark + w
	}
	return words
}()

// fulltext is InnoDB's built-in parser: words of letters, digits and _, of
// which stop words and those outside the size limits are not searched for.
//
// InnoDB compares phrases with the text itself, so that "over the lazy" needs
// its stop word. For that the words that are not searched for are indexed as
// hidden terms. In a query they behave as InnoDB's do: in front of a phrase
// they are dropped, inside it they must be there, and alone they match nothing.
type fulltext struct {
	fold     folding
	min, max int
	stop     map[string]string
}

func makeFulltext(o options) (*Analyzer, error) {
	f := &fulltext{fold: o.folding(), min: o.number("min_token_size"), max: o.number("max_token_size")}
	if o["stopwords"] == "innodb" {
		f.stop = innodbStopWords
	}
	return &Analyzer{fold: f.fold, index: f.tokens, asker: f}, nil
}

func (f *fulltext) scan(text string) wordScanner {
	return wordScanner{text: text, mixed: true, underscores: true}
}

func (f *fulltext) tokens(dst []Token, text string) []Token {
	s := f.scan(text)
	for pos := 1; ; pos++ {
		start, end, c := s.next()
		if c == separator {
			return dst
		}
		term := f.fold.term(text[start:end])
		if hidden := f.stopWord(term); hidden != "" {
			term = hidden
		} else if f.unsearched(text[start:end], term) {
			term = hiddenMark + term
		}
		dst = append(dst, Token{term, pos, start, end})
	}
}

func (f *fulltext) unsearched(word, term string) bool {
	return f.tooShort(word) || f.tooLong(word) || f.stopWord(term) != ""
}

// stopWord gives the hidden term of a stop word, "" for other words.
func (f *fulltext) stopWord(term string) string {
	if len(term) > len("where") { // none is longer
		return ""
	}
	return f.stop[term]
}

func (f *fulltext) tooShort(word string) bool {
	return len(word) < f.min*utf8.UTFMax && utf8.RuneCountInString(word) < f.min
}

func (f *fulltext) tooLong(word string) bool {
	return len(word) > f.max && utf8.RuneCountInString(word) > f.max
}

func (f *fulltext) terms(text string) []Query {
	var of []Query
	seen := map[string]bool{}
	for _, t := range f.tokens(nil, text) {
		if !seen[t.Term] && !Hidden(t.Term) {
			seen[t.Term] = true
			of = append(of, Term{t.Term})
		}
	}
	return of
}

func (f *fulltext) phrase(text string) Query {
	tokens := f.tokens(nil, text)
	for len(tokens) > 0 && Hidden(tokens[0].Term) {
		tokens = tokens[1:]
	}
	if len(tokens) == 0 && text != "" {
		return None{}
	}
	return phraseOf(tokens)
}

// word gives each word of a text that the boolean lexer takes as one (as
// "foo.bar"). Words too long and, after the first, too short are left out;
// others that are not searched for match nothing.
func (f *fulltext) word(text string) []Query { return f.words(text, false) }

func (f *fulltext) prefix(text string) []Query { return f.words(text, true) }

func (f *fulltext) words(text string, openEnd bool) []Query {
	var of []Query
	s := f.scan(text)
	last := ""
	for {
		start, end, c := s.next()
		if c == separator {
			break
		}
		word := text[start:end]
		if f.tooLong(word) || len(of) > 0 && f.tooShort(word) {
			continue
		}
		last = f.fold.term(word)
		if f.unsearched(word, last) {
			of = append(of, None{})
		} else {
			of = append(of, Term{last})
		}
	}
	if openEnd && len(of) > 0 {
		of[len(of)-1] = Prefix{last}
	}
	return of
}

func (f *fulltext) near(text string) []Query {
	of := f.terms(text)
	if len(of) == 0 && text != "" {
		return []Query{None{}}
	}
	return of
}
