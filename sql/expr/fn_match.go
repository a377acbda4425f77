package expr

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// MatchMode is how the text of AGAINST is read.
type MatchMode uint8

// Modes of MATCH … AGAINST, and the functions like it.
const (
	MatchNatural MatchMode = iota
	MatchBoolean
	MatchText   // TEXT_MATCH
	MatchPhrase // TEXT_MATCH_PHRASE
	MatchFuzzy  // TEXT_MATCH_FUZZY
	MatchExpanded
)

var matchNames = [...]string{"match", "match", "text_match", "text_match_phrase", "text_match_fuzzy", "match"}

// Match is the query of MATCH (columns) AGAINST (text) and the functions like it,
// and its search index: the Extra of the call. The arguments of the call are the
// columns, the text, and what else there is: of TEXT_MATCH the operator and the
// least number, of TEXT_MATCH_FUZZY the distance before them, of MatchExpanded
// the texts of the best rows.
type Match struct {
	Table schema.TableID
	Index schema.IndexID
	// Fields are those of the columns; Path is the field of the nested objects that
	// they are members of, 0 for rows.
	Fields   []uint16
	Path     uint16
	Analyzer *text.Analyzer
	Mode     MatchMode
}

func matchDefs() []entry {
	wrong := func(_ *def, _ *BindEnv, name string, _ []Expr) (Expr, error) { return nil, sqlerr.WrongArguments(name) }
	match := func(name string) entry {
		return entry{name, &def{b: Builtin{Row: rowMatch}, lo: 2, hi: -1, repeat: -1, flags: loose | notNull, custom: wrong}}
	}
	return []entry{
		match("match"), match("text_match"), match("text_match_phrase"), match("text_match_fuzzy"),
		{"score", &def{repeat: -1, flags: notNull, custom: wrong}},
		{"highlight", &def{b: Builtin{Row: rowHighlight}, lo: 1, hi: -1, repeat: -1, flags: loose, custom: wrong}},
	}
}

// NewMatch makes MATCH (cols) AGAINST (against), or one of the functions like it
// with its options after the text. The value is the row's score, 0 where it does
// not match. 1210 when against is not constant, 1064 for a boolean text that is
// malformed, where it is known.
func NewMatch(cols, against []Expr, m *Match) (Expr, error) {
	for i, e := range against {
		if !IsConst(e) || ReadsOuter(e) {
			return nil, m.wrong()
		}
		if k, ok := e.(*Const); ok && i > 0 {
			if err := m.checkOption(i, k.D); err != nil {
				return nil, err
			}
		}
	}
	if k, ok := Fold(quietCtx().ctx, against[0]).(*Const); ok && m.Mode == MatchBoolean && !k.D.IsNull() {
		if _, err := m.read(UTF8(k.D.Str(), k.T.Collation), []value.Datum{k.D}); err != nil {
			return nil, err
		}
	}
	name := matchNames[m.Mode]
	return mustLookup(name).call(name, slices.Concat(cols, against), doubleType(), false, m), nil
}

func (m *Match) wrong() error {
	if m.Mode <= MatchBoolean || m.Mode == MatchExpanded {
		return sqlerr.WrongArguments("AGAINST")
	}
	return sqlerr.WrongArguments(matchNames[m.Mode])
}

// checkOption checks an option that follows the text.
func (m *Match) checkOption(i int, d value.Datum) error {
	if m.Mode == MatchExpanded {
		return nil
	}
	if m.Mode == MatchFuzzy {
		i--
	}
	ok := !d.IsNull()
	switch {
	case ok && i == 0:
		_, ok = distance(d)
	case ok && i == 1:
		_, ok = text.ParseOperator(d.Str())
	case ok:
		_, ok = leastShould(d)
	}
	if !ok {
		return m.wrong()
	}
	return nil
}

// distance reads how many changes make a word another one.
func distance(d value.Datum) (int, bool) {
	n, ok := leastShould(d)
	return n, ok && n <= text.MaxDistance
}

// leastShould reads minimum_should_match, a number from 1.
func leastShould(d value.Datum) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(d.Str()))
	return n, err == nil && n > 0
}

// MatchStats is implemented by sessions that know the figures of search indexes,
// for scores; nil where no index has them. The figures are counted at their first
// use, until ctx, the statement's, ends.
type MatchStats interface {
	MatchStats(ctx context.Context, m *Match) text.Stats
}

// prepared is a MATCH with its constant text.
type preparedMatch struct {
	query text.Query
	stats text.Stats
}

// MatchQuery is the query of a "match"; text.None where AGAINST is NULL. 1064 for
// a boolean text that is malformed.
func MatchQuery(c *Ctx, f *Func) (text.Query, error) {
	p, err := prepareMatch(c, f)
	if err != nil {
		return nil, err
	}
	return p.query, nil
}

// Scores are the calls of "match" whose values e adds, from left to right; none
// where it is something else.
func Scores(e Expr) []*Func {
	f, ok := e.(*Func)
	if !ok {
		return nil
	}
	if f.Match() != nil {
		return []*Func{f}
	}
	if f.Op != OpPlus {
		return nil
	}
	left, right := Scores(f.Args[0]), Scores(f.Args[1])
	if len(left) == 0 || len(right) != 1 {
		return nil
	}
	return append(left, right[0])
}

// MatchScores is the query of a "match", and the figures for its scores; nil if
// no figures are known.
func MatchScores(c *Ctx, f *Func) (text.Query, text.Stats, error) {
	p, err := prepareMatch(c, f)
	if err != nil {
		return nil, nil, err
	}
	return p.query, p.stats, nil
}

func prepareMatch(c *Ctx, f *Func) (*preparedMatch, error) {
	return cached(c, f, func() (*preparedMatch, error) {
		m := f.Match()
		against := make([]value.Datum, len(f.Args)-len(m.Fields))
		for i := range against {
			d, err := EvalConst(c, f.Args[len(m.Fields)+i])
			if err != nil {
				return nil, err
			}
			if i > 0 {
				if err := m.checkOption(i, d); err != nil {
					return nil, err
				}
			}
			against[i] = d
		}
		out := &preparedMatch{query: text.None{}}
		if s, ok := c.Session.(MatchStats); ok {
			out.stats = s.MatchStats(c.context(), m)
		}
		if against[0].IsNull() {
			return out, nil
		}
		q, err := m.read(UTF8(against[0].Str(), f.Args[len(m.Fields)].Type().Collation), against)
		if err != nil {
			return nil, err
		}
		if q != nil {
			out.query = q
		}
		return out, nil
	})
}

// read makes the query from the arguments of AGAINST, none of which is NULL; s is
// the first. 1064 for a text that is malformed.
func (m *Match) read(s string, against []value.Datum) (text.Query, error) {
	q, err := m.parse(s, against)
	var syntax *text.SyntaxError
	if errors.As(err, &syntax) {
		return nil, sqlerr.TextQuery(syntax.Message)
	}
	var complex *text.TooComplexError
	if errors.As(err, &complex) {
		return nil, sqlerr.TextQuery(complex.Error())
	}
	return q, err
}

func (m *Match) parse(s string, against []value.Datum) (text.Query, error) {
	switch m.Mode {
	case MatchBoolean:
		return m.Analyzer.Boolean(s)
	case MatchPhrase:
		return m.Analyzer.MatchPhrase(s)
	case MatchText, MatchFuzzy:
		op, least, within := text.OrTerms, 0, 0
		rest := against[1:]
		if m.Mode == MatchFuzzy {
			within = text.MaxDistance
			if len(rest) > 0 {
				within, _ = distance(rest[0])
				rest = rest[1:]
			}
		}
		if len(rest) > 0 {
			op, _ = text.ParseOperator(rest[0].Str())
		}
		if len(rest) > 1 {
			least, _ = leastShould(rest[1])
		}
		return m.Analyzer.Match(s, op, least, within)
	case MatchExpanded:
		first, err := m.Analyzer.Natural(s)
		if err != nil || first == nil || against[1].IsNull() {
			return first, err
		}
		return text.Expand(first, m.tokensOf(against[1].Bytes())), nil
	}
	return m.Analyzer.Natural(s)
}

// tokensOf are the tokens of each of the rows in a JSON array of arrays of texts.
func (m *Match) tokensOf(rows []byte) [][]text.Token {
	out := make([][]text.Token, value.JSONLen(rows))
	for i := range out {
		row := value.JSONElem(rows, i)
		values := make([]string, value.JSONLen(row))
		for j := range values {
			s, _ := value.JSONText(value.JSONElem(row, j))
			values[j] = string(s)
		}
		out[i] = m.Analyzer.TokensOf(nil, values...)
	}
	return out
}

// oneText are the figures of a collection without counts.
type oneText struct{ length float64 }

// Docs implements text.Stats.
func (oneText) Docs() int64 { return 1 }

// AvgLen implements text.Stats.
func (o oneText) AvgLen() float64 { return o.length }

// DocFreq implements text.Stats.
func (oneText) DocFreq(text.Query) int64 { return 1 }

// leastScore is that of rows which match, and whose words count against them.
const leastScore = 1e-9

func rowMatch(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	m := f.Match()
	p, err := prepareMatch(c, f)
	if err != nil {
		return value.Null, err
	}
	doc, matches, err := c.analyse(m.Analyzer, m.texts(f.Args, a[:len(m.Fields)]), p.query)
	if err != nil || !matches {
		return value.Float(0), err
	}
	stats := p.stats
	if stats == nil {
		stats = oneText{float64(doc.Len())}
	}
	return value.Float(MatchValue(doc.Score(p.query, stats))), nil
}

// MatchValue is the value of a "match" for a row that matches with a score.
func MatchValue(score float64) float64 {
	if score > leastScore {
		return score
	}
	return leastScore
}

// analyse makes a document of texts, and matches a query, nil for none, with it: aside for
// long texts.
func (c *Ctx) analyse(by *text.Analyzer, texts []string, q text.Query) (doc *text.Doc, matches bool, err error) {
	n := 0
	for _, s := range texts {
		n += len(s)
	}
	if n < longAnalysis {
		doc = text.NewDoc(by.TokensOf(nil, texts...))
		return doc, q != nil && doc.Matches(q), nil
	}
	type result struct {
		doc     *text.Doc
		matches bool
	}
	out := make(chan result, 1)
	err = c.aside(func() error {
		doc := text.NewDoc(by.TokensOf(nil, texts...))
		out <- result{doc, q != nil && doc.Matches(q)}
		return nil
	})
	if err != nil {
		return nil, false, err
	}
	r := <-out
	return r.doc, r.matches, nil
}

// texts are the columns of a row, for the analyzer.
func (m *Match) texts(args []Expr, cols []value.Datum) []string {
	values := make([]string, 0, len(cols))
	for i, d := range cols {
		if d.IsNull() {
			values = append(values, "")
			continue
		}
		values = append(values, UTF8(d.Str(), args[i].Type().Collation))
	}
	return values
}

// UTF8 is a text of a collation in UTF-8, which analyzers read.
func UTF8(s string, coll schema.CollationID) string {
	c, ok := collate.Lookup(coll)
	if !ok || readsAsUTF8(c) {
		return s
	}
	out, _ := c.Convert(nil, []byte(s), collate.Must(schema.CollationUTF8MB4Bin))
	return string(out)
}

// readsAsUTF8 reports collations whose texts are UTF-8 without conversion, or
// plain bytes.
func readsAsUTF8(c *collate.Collation) bool {
	return c.IsBinary() || c.Charset == "ascii" || strings.HasPrefix(c.Charset, "utf8")
}
