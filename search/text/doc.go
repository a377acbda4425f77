// Package text is the text half of the search index: it turns text into
// tokens, and what people type into MATCH … AGAINST, TEXT_MATCH and LIKE into
// queries over tokens. It knows neither SQL nor index files.
//
// An [Analyzer], made by [New] from a name and options, does both halves of
// one field: [Analyzer.Tokens] for the rows, and the query constructors
// ([Analyzer.Natural], [Analyzer.Boolean], [Analyzer.Match],
// [Analyzer.MatchPhrase], [Analyzer.LikeCandidates]) for the queries. Only the
// analyzer knows how the two match: fuzzy, for one, indexes every character and
// pair of characters but searches whole runs, as phrases of pairs.
//
// A [Query] is plain data. An index evaluates it over postings; [Doc]
// evaluates it over the tokens of one text. The second is the definition of
// what a query means: it serves rows that no index holds yet, and it is the
// oracle of the first. [Highlight] shows where a query matched.
//
// Invariants of tokens, for every analyzer and every input, valid UTF-8 or not:
//
//   - I1: 0 <= Start < End <= len(text), both on borders of characters.
//   - I2: positions begin at 1 or above and never descend; starts never descend.
//   - I3: no term is empty.
//   - I4: tokens depend on nothing but the text and the analyzer's [Spec]: two
//     analyzers whose specs print alike may read one another's index.
package text
