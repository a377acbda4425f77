package text

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sqlots/sqlots/collate"
)

// LikePattern is a LIKE pattern taken apart.
type LikePattern struct {
	// Prefix and Suffix are the characters before the first and after the last
	// wildcard. Without any wildcard the pattern is Exact, and both are all of it.
	Prefix, Suffix string
	Exact          bool
	// Pieces are the parts without wildcards, Prefix and Suffix among them, in
	// their order. None is empty.
	Pieces []string
	// Many and One are the numbers of % and _; neighbouring % count once.
	Many, One int
	// oneAfterMany is the longest run of _ and characters, from the first _ on, that
	// follows a %: what makes automata large.
	oneAfterMany int
}

// ParseLike takes a pattern apart. The escape character (0 for none) takes its
// meaning from the wildcard, or the escape character, that follows it; at the
// end of the pattern it is an ordinary character.
func ParseLike(pattern string, escape rune) LikePattern {
	var p LikePattern
	var piece strings.Builder
	afterMany, run := false, 0
	first, many := true, false
	wildcard := func() {
		if first {
			p.Prefix, first = piece.String(), false
		}
		if piece.Len() > 0 {
			p.Pieces = append(p.Pieces, piece.String())
			piece.Reset()
		}
	}
	for i := 0; i < len(pattern); {
		r, size := utf8.DecodeRuneInString(pattern[i:])
		char := pattern[i : i+size]
		i += size
		switch {
		case r == escape && escape != 0 && i < len(pattern):
			_, size = utf8.DecodeRuneInString(pattern[i:])
			char = pattern[i : i+size]
			i += size
		case r == '%':
			if wildcard(); !many {
				p.Many++
			}
			many, afterMany, run = true, true, 0
			continue
		case r == '_':
			wildcard()
			p.One++
			many = false
			run++
			if afterMany {
				p.oneAfterMany = max(p.oneAfterMany, run)
			}
			continue
		}
		many = false
		piece.WriteString(char)
		if run > 0 {
			if run++; afterMany {
				p.oneAfterMany = max(p.oneAfterMany, run)
			}
		}
	}
	p.Suffix = piece.String()
	p.Exact = first
	wildcard()
	return p
}

// The limits of Cheap.
const (
	maxLikePieces   = 32
	maxOneAfterMany = 10
)

// Cheap reports whether the pattern may be compiled into an automaton: after a
// %, each _ can double the states of what follows.
func (p LikePattern) Cheap() bool {
	return len(p.Pieces) <= maxLikePieces && p.oneAfterMany <= maxOneAfterMany
}

// oddTerm marks the texts that fuzzy indexes with a character that a collation
// can find equal to a letter or digit of ASCII, or to a Han character, though
// folding does not: digits of other scripts, radicals, enclosed letters.
const oddTerm = hiddenMark + "odd"

// LikeCandidates gives a query for all texts that are LIKE a pattern in a
// collation, and few others: what it finds must be compared. ok is false when
// the analyzer's tokens say nothing about the pattern, or not for the
// collation. Only fuzzy can do it.
func (a *Analyzer) LikeCandidates(p LikePattern, c *collate.Collation) (q Query, ok bool) {
	f, isFuzzy := a.asker.(*fuzzy)
	if !isFuzzy {
		return nil, false
	}
	safe, odd := safeCharacters(f.fold, c)
	if safe == nil {
		return nil, false
	}
	var of []Query
	seen := map[string]bool{}
	for _, piece := range p.Pieces {
		for part := range strings.FieldsFuncSeq(piece, func(r rune) bool { return !safe(r) }) {
			for _, t := range f.terms(part) {
				if !seen[t.String()] && len(of) < maxLikePieces {
					seen[t.String()] = true
					of = append(of, t)
				}
			}
		}
	}
	if len(of) == 0 {
		return nil, false
	}
	q = allOf(of)
	if odd {
		q = anyOf([]Query{q, Term{oddTerm}})
	}
	return q, true
}

// safeCharacters gives the characters of a pattern of which the index knows for sure
// which texts have them: in all these texts the folded character is the same, whatever
// marks follow it. odd reports that texts with odd characters may match all the same.
// safe is nil for collations without such knowledge.
func safeCharacters(f folding, c *collate.Collation) (safe func(rune) bool, odd bool) {
	plain := func(r rune) bool {
		return r < utf8.RuneSelf && (asciiClass[r] == letter || asciiClass[r] == digit) || 0x4E00 <= r && r <= 0x9FFF
	}
	if c.Charset != "utf8mb4" && c.Charset != "utf8mb3" && c.Charset != "ascii" {
		return nil, false
	}
	if _, collation, _ := strings.Cut(c.Name, "_"); c.IsBinary() || strings.HasSuffix(collation, "bin") {
		switch f {
		case folding{}:
			return func(r rune) bool { return r != utf8.RuneError }, false
		case folding{true, true}:
			return func(r rune) bool { return plain(r) || isAlphabetic(r) }, false
		}
		// A mark can make another letter of the one before it, but of no digit
		// and of no Han character.
		return func(r rune) bool { return plain(r) && (r > utf8.RuneSelf || asciiClass[r] == digit) }, false
	}
	if f != (folding{true, true}) {
		return nil, false
	}
	switch c.Name {
	case "utf8mb4_0900_ai_ci", "utf8mb4_0900_as_ci", "utf8mb4_0900_as_cs", "utf8mb4_unicode_ci", "utf8mb4_unicode_520_ci", "utf8mb3_unicode_ci", "utf8mb3_unicode_520_ci":
		return plain, true
	case "utf8mb4_general_ci", "utf8mb3_general_ci":
		// Here s is ß and i is ı, which are too common to be odd.
		return func(r rune) bool { return plain(r) && !strings.ContainsRune("sSiI", r) }, true
	}
	return nil, false
}

// isAlphabetic reports letters of scripts whose marks folding leaves out.
func isAlphabetic(r rune) bool {
	return unicode.IsLetter(r) && (0xC0 <= r && r <= 0x24F || 0x370 <= r && r <= 0x52F || 0x1E00 <= r && r <= 0x1FFF)
}

// isOdd reports the characters of [oddTerm], and some more.
func isOdd(r rune) bool {
	switch {
	case r < 0x131:
		return r > 0xB3 && unicode.IsNumber(r)
	case 0x4E00 <= r && r <= 0x9FFF:
		return false
	case r == 0x13F, r == 0x140,
		0x363 <= r && r <= 0x36F, r == 0x1D79, r == 0x1D9E, 0x1DCA <= r && r <= 0x1DF4,
		0x2E80 <= r && r <= 0x2EF3, 0xA779 <= r && r <= 0xA7A9, 0x1F100 <= r && r <= 0x1F1AF:
		return true
	case 0xFF10 <= r && r <= 0xFF19:
		return false
	}
	return unicode.IsNumber(r)
}

// oddAt gives the first odd character of a text, -1 for none.
func oddAt(text string) int { return strings.IndexFunc(text, isOdd) }
