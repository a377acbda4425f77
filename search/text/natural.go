package text

import (
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// Natural reads a text in NATURAL LANGUAGE MODE: what has any of its terms
// matches. Text in double quotes is a phrase; there are no other operators.
func (a *Analyzer) Natural(text string) (Query, error) {
	var of []Query
	seen := map[string]bool{}
	add := func(q Query) {
		if q != nil && !seen[q.String()] {
			seen[q.String()] = true
			of = append(of, q)
		}
	}
	for i, part := range quotedParts(text) {
		if i%2 == 1 {
			add(a.phrase(part))
			continue
		}
		for _, q := range a.terms(part) {
			add(q)
		}
	}
	return checked(anyOf(of))
}

// quotedParts splits a text so that every second part was in quotes. As in
// InnoDB, a quote is closed on its line or is none.
func quotedParts(text string) []string {
	var parts []string
	plain := 0
	for i := 0; i < len(text); i++ {
		if text[i] != '"' {
			continue
		}
		end := strings.IndexAny(text[i+1:], "\"\n")
		if end < 0 || text[i+1+end] == '\n' {
			continue
		}
		parts = append(parts, text[plain:i], text[i+1:i+1+end])
		i += 1 + end
		plain = i + 1
	}
	return append(parts, text[plain:])
}

// Operator says how many terms of a text must be there.
type Operator uint8

// The operators of [Analyzer.Match].
const (
	OrTerms Operator = iota
	AndTerms
)

// ParseOperator reads the operator of TEXT_MATCH: 'or' or 'and', in any case.
func ParseOperator(s string) (op Operator, ok bool) {
	switch {
	case strings.EqualFold(s, "or"):
		return OrTerms, true
	case strings.EqualFold(s, "and"):
		return AndTerms, true
	}
	return 0, false
}

// Match is TEXT_MATCH: what has any of the text's terms, or all of them, or at
// least minShould of them; 0 means that minShould is not given. It applies to
// OrTerms only; more than the number of terms matches nothing. With a distance
// above 0, terms that are long enough may differ by so many changes of a
// character.
func (a *Analyzer) Match(text string, op Operator, minShould, distance int) (Query, error) {
	of := a.terms(text)
	if distance > 0 {
		for i := range of {
			of[i] = within(of[i], distance)
		}
	}
	switch {
	case len(of) == 0 || op == OrTerms && minShould > len(of):
		return None{}, nil
	case op == AndTerms:
		return checked(allOf(of))
	case minShould > 1:
		return checked(Or{of, minShould})
	}
	return checked(anyOf(of))
}

// MaxDistance is how many changes of a character a term may be away.
const MaxDistance = 2

// within lets a term be some changes away: one at most where it has fewer than six
// characters, none where it has fewer than three. What is no term stays.
func within(q Query, distance int) Query {
	t, ok := q.(Term)
	if !ok {
		return q
	}
	switch n := utf8.RuneCountInString(t.Term); {
	case n < 3:
		return q
	case n < 6:
		distance = 1
	}
	return Fuzzy{Term: t.Term, Distance: distance}
}

// MatchPhrase is TEXT_MATCH_PHRASE: what has the text's terms next to one
// another in their order.
func (a *Analyzer) MatchPhrase(text string) (Query, error) { return checked(a.phrase(text)) }

// ExpansionDocs is how many of the best documents WITH QUERY EXPANSION reads,
// as MySQL's ft_query_expansion_limit.
const ExpansionDocs = 20

// maxExpansion is how many terms an expansion adds at most.
const maxExpansion = 1024

// Expand makes the second query of WITH QUERY EXPANSION from the first and the
// tokens of the documents that it found best: any of their terms matches too.
func Expand(first Query, best [][]Token) Query {
	freq := map[string]int{}
	for _, tokens := range best {
		for _, t := range tokens {
			if !Hidden(t.Term) {
				freq[t.Term]++
			}
		}
	}
	terms := make([]string, 0, len(freq))
	for t := range freq {
		terms = append(terms, t)
	}
	slices.SortFunc(terms, func(a, b string) int {
		return cmp.Or(cmp.Compare(freq[b], freq[a]), strings.Compare(a, b))
	})
	of := []Query{first}
	if or, ok := first.(Or); ok && or.Min <= 1 {
		of = slices.Clone(or.Of)
	}
	seen := map[string]bool{}
	for _, q := range of {
		if t, ok := q.(Term); ok {
			seen[t.Term] = true
		}
	}
	for _, t := range terms[:min(len(terms), maxExpansion)] {
		if !seen[t] {
			of = append(of, Term{t})
		}
	}
	return anyOf(of)
}
