package expr

import (
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// MatchMode is how the text of AGAINST is read.
type MatchMode uint8

// Modes of MATCH … AGAINST, and the functions beside it.
const (
	MatchNatural MatchMode = iota
	MatchBoolean
	MatchText   // TEXT_MATCH
	MatchPhrase // TEXT_MATCH_PHRASE
)

var matchNames = [...]string{"match", "match", "text_match", "text_match_phrase"}

// Match is what MATCH (columns) AGAINST (text), TEXT_MATCH and TEXT_MATCH_PHRASE
// ask of which search index: the Extra of the call, whose arguments are the
// columns, the text, and the operator and the least number of TEXT_MATCH.
type Match struct {
	Table schema.TableID
	Index schema.IndexID
	// Fields are those of the columns.
	Fields   []uint16
	Analyzer *text.Analyzer
	Mode     MatchMode
}

func matchDefs() []entry {
	wrong := func(_ *def, _ *BindEnv, name string, _ []Expr) (Expr, error) { return nil, sqlerr.WrongArguments(name) }
	match := func(name string) entry {
		return entry{name, &def{b: Builtin{Row: rowMatch}, lo: 2, hi: -1, repeat: -1, flags: loose | notNull, custom: wrong}}
	}
	return []entry{
		match("match"), match("text_match"), match("text_match_phrase"),
		{"score", &def{repeat: -1, flags: notNull, custom: wrong}},
		{"highlight", &def{b: Builtin{Row: rowHighlight}, lo: 1, hi: -1, repeat: -1, flags: loose, custom: wrong}},
	}
}

// NewMatch makes MATCH (cols) AGAINST (against), or TEXT_MATCH or
// TEXT_MATCH_PHRASE with its options behind the text. The value is the row's
// score, 0 where it does not match. 1210 when against is not constant.
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
	name := matchNames[m.Mode]
	return mustLookup(name).call(name, slices.Concat(cols, against), doubleType(), false, m), nil
}

func (m *Match) wrong() error {
	if m.Mode <= MatchBoolean {
		return sqlerr.WrongArguments("AGAINST")
	}
	return sqlerr.WrongArguments(matchNames[m.Mode])
}

// checkOption checks the operator (1) or the least number (2) of TEXT_MATCH.
func (m *Match) checkOption(i int, d value.Datum) error {
	ok := !d.IsNull()
	if ok && i == 1 {
		_, ok = text.ParseOperator(d.Str())
	} else if ok {
		_, ok = leastShould(d)
	}
	if !ok {
		return m.wrong()
	}
	return nil
}

// leastShould reads minimum_should_match, a number from 1.
func leastShould(d value.Datum) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSpace(d.Str()))
	return n, err == nil && n > 0
}

// MatchStats is implemented by sessions that know the figures of search indexes,
// for scores; nil where there are none.
type MatchStats interface {
	MatchStats(m *Match) text.Stats
}

// prepared is a MATCH with its constant text.
type preparedMatch struct {
	query text.Query
	stats text.Stats
}

// MatchQuery is what a "match" asks for; text.None where AGAINST is NULL. 1064
// for a boolean text that is malformed.
func MatchQuery(c *Ctx, f *Func) (text.Query, error) {
	p, err := prepareMatch(c, f)
	if err != nil {
		return nil, err
	}
	return p.query, nil
}

func prepareMatch(c *Ctx, f *Func) (*preparedMatch, error) {
	return cached(c, f, func() (*preparedMatch, error) {
		m := f.Extra.(*Match)
		asks := make([]value.Datum, len(f.Args)-len(m.Fields))
		for i := range asks {
			d, err := EvalConst(c, f.Args[len(m.Fields)+i])
			if err != nil {
				return nil, err
			}
			if i > 0 {
				if err := m.checkOption(i, d); err != nil {
					return nil, err
				}
			}
			asks[i] = d
		}
		out := &preparedMatch{query: text.None{}}
		if s, ok := c.Session.(MatchStats); ok {
			out.stats = s.MatchStats(m)
		}
		if asks[0].IsNull() {
			return out, nil
		}
		q, err := m.read(asks)
		var syntax *text.SyntaxError
		if errors.As(err, &syntax) {
			return nil, sqlerr.New(1064, "42000", "%s", syntax.Message)
		}
		var complex *text.TooComplexError
		if errors.As(err, &complex) {
			return nil, sqlerr.New(1064, "42000", "%s", complex.Error())
		}
		if err != nil {
			return nil, err
		}
		if q != nil {
			out.query = q
		}
		return out, nil
	})
}

// read makes the query of what is asked for, none of which is NULL.
func (m *Match) read(asks []value.Datum) (text.Query, error) {
	s := asks[0].Str()
	switch m.Mode {
	case MatchBoolean:
		return m.Analyzer.Boolean(s)
	case MatchPhrase:
		return m.Analyzer.MatchPhrase(s)
	case MatchText:
		op, least := text.OrTerms, 0
		if len(asks) > 1 {
			op, _ = text.ParseOperator(asks[1].Str())
		}
		if len(asks) > 2 {
			least, _ = leastShould(asks[2])
		}
		return m.Analyzer.Match(s, op, least)
	}
	return m.Analyzer.Natural(s)
}

// oneText are the figures of a collection that nobody has counted.
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
	m := f.Extra.(*Match)
	p, err := prepareMatch(c, f)
	if err != nil {
		return value.Null, err
	}
	doc := m.doc(a[:len(m.Fields)])
	if !doc.Matches(p.query) {
		return value.Float(0), nil
	}
	stats := p.stats
	if stats == nil {
		stats = oneText{float64(doc.Len())}
	}
	if score := doc.Score(p.query, stats); score > leastScore {
		return value.Float(score), nil
	}
	return value.Float(leastScore), nil
}

// doc analyses the columns of a row.
func (m *Match) doc(cols []value.Datum) *text.Doc {
	values := make([]string, 0, len(cols))
	for _, d := range cols {
		if d.IsNull() {
			values = append(values, "")
			continue
		}
		values = append(values, d.Str())
	}
	return text.NewDoc(m.Analyzer.TokensOf(nil, values...))
}
