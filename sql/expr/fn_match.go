package expr

import (
	"errors"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// MatchMode is how the text of AGAINST is read.
type MatchMode uint8

// Modes of MATCH … AGAINST.
const (
	MatchNatural MatchMode = iota
	MatchBoolean
)

// Match is what MATCH (columns) AGAINST (text) asks of which search index: the
// Extra of "match", whose arguments are the columns and the text.
type Match struct {
	Table schema.TableID
	Index schema.IndexID
	// Fields are those of the columns.
	Fields   []uint16
	Analyzer *text.Analyzer
	Mode     MatchMode
}

func matchDefs() []entry {
	return []entry{{"match", &def{b: Builtin{Row: rowMatch}, lo: 2, hi: -1, repeat: -1, flags: loose | notNull, custom: func(_ *def, _ *BindEnv, name string, _ []Expr) (Expr, error) {
		return nil, sqlerr.WrongArguments(name)
	}}}}
}

// NewMatch makes MATCH (cols) AGAINST (against). The value is the row's score, 0
// where it does not match. 1210 when against is not constant.
func NewMatch(cols []Expr, against Expr, m *Match) (Expr, error) {
	if !IsConst(against) || ReadsOuter(against) {
		return nil, sqlerr.WrongArguments("AGAINST")
	}
	d := mustLookup("match")
	return d.call("match", append(append([]Expr(nil), cols...), against), doubleType(), false, m), nil
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
		d, err := EvalConst(c, f.Args[len(f.Args)-1])
		if err != nil {
			return nil, err
		}
		out := &preparedMatch{query: text.None{}}
		if s, ok := c.Session.(MatchStats); ok {
			out.stats = s.MatchStats(m)
		}
		if d.IsNull() {
			return out, nil
		}
		var q text.Query
		if m.Mode == MatchBoolean {
			q, err = m.Analyzer.Boolean(d.Str())
		} else {
			q, err = m.Analyzer.Natural(d.Str())
		}
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
	values := make([]string, 0, len(a)-1)
	for _, d := range a[:len(a)-1] {
		if d.IsNull() {
			values = append(values, "")
			continue
		}
		values = append(values, d.Str())
	}
	doc := text.NewDoc(m.Analyzer.TokensOf(nil, values...))
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
