package text

import "strings"

// Token is one term of a text.
type Token struct {
	// Term is what is indexed: the text folded, and perhaps stemmed.
	Term string
	// Pos counts words from 1. Words that are not indexed leave gaps; tokens
	// that begin at the same word share one position.
	Pos int
	// Start and End are the bytes of the text from which the term was made.
	Start, End int
}

// hiddenMark begins the terms of words that are indexed for phrases only, as
// stop words and words too short or too long are, and of marks. See [Hidden].
const hiddenMark = "\x00"

// Hidden reports whether a term is not a word that can be searched. Expansions of
// prefixes and fuzzy terms leave hidden terms out.
func Hidden(term string) bool { return strings.HasPrefix(term, hiddenMark) }
