package expr

import (
	"slices"
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Matches are the calls of MATCH, TEXT_MATCH and TEXT_MATCH_PHRASE that
// conditions require: alone, compared with a number, under AND and OR.
func Matches(conds []Expr) []*Func {
	var out []*Func
	for _, e := range conds {
		f, ok := e.(*Func)
		if !ok {
			continue
		}
		if f.Match() != nil {
			out = append(out, f)
			continue
		}
		switch f.Op {
		case OpAnd, OpOr, OpGT, OpGE:
			out = append(out, Matches(f.Args)...)
		}
	}
	return out
}

// fragmentGap separates the fragments that HIGHLIGHT shows.
const fragmentGap = " ... "

// maxFragments is the maximum of fragments and characters of HIGHLIGHT.
const maxFragments = 10000

// highlight is the Extra of "highlight", whose arguments are the column, the
// options, and those of the calls of MATCH.
type highlight struct {
	Options int
	// Calls are those of MATCH.
	Calls []highlightCall
}

type highlightCall struct {
	Args  int
	Match *Match
}

// NewHighlight makes HIGHLIGHT(col, options…) for those of matches that search
// col: 1210 when none does, or when an option is none.
func NewHighlight(env *BindEnv, col Expr, options []Expr, matches []*Func) (Expr, error) {
	const name = "highlight"
	h := &highlight{Options: len(options)}
	for i, e := range options {
		if !IsConst(e) || ReadsOuter(e) {
			return nil, sqlerr.WrongArguments(name)
		}
		if k, ok := e.(*Const); ok {
			if err := highlightOption(&text.Highlighting{}, i, k.D); err != nil {
				return nil, err
			}
		}
	}
	coll := schema.CollationUTF8MB40900AICI
	shown, err := toCharset(env, col, coll)
	if err != nil {
		return nil, err
	}
	args := append([]Expr{shown}, options...)
	for _, f := range matches {
		m := f.Match()
		if !slices.ContainsFunc(f.Args[:len(m.Fields)], func(e Expr) bool { return Equal(e, col) }) {
			continue
		}
		if len(h.Calls) > 0 && h.Calls[0].Match.Analyzer != m.Analyzer {
			return nil, sqlerr.NotSupported("HIGHLIGHT of a column that is asked for with several analyzers")
		}
		h.Calls = append(h.Calls, highlightCall{len(f.Args), m})
		args = append(args, f.Args...)
	}
	if len(h.Calls) == 0 {
		return nil, sqlerr.WrongArguments(name)
	}
	return mustLookup(name).call(name, args, types.Text(coll), true, h), nil
}

// highlightOption reads the i-th option.
func highlightOption(h *text.Highlighting, i int, d value.Datum) error {
	wrong := sqlerr.WrongArguments("highlight")
	if d.IsNull() {
		return wrong
	}
	s := d.Str()
	switch i {
	case 0:
		h.Pre = s
	case 1:
		h.Post = s
	case 2, 3:
		n, err := strconv.Atoi(strings.TrimSpace(s))
		if err != nil || n < 3-i || n > maxFragments {
			return wrong
		}
		if i == 2 {
			h.FragmentSize = n
		} else {
			h.Fragments = n
		}
	case 4:
		switch strings.ToLower(s) {
		case "text_sequence":
			h.Order = text.ByPlace
		case "score":
			h.Order = text.ByScore
		default:
			return wrong
		}
	}
	return nil
}

// highlighter is what rows are highlighted for.
type highlighter struct {
	text.Highlighting
	queries []text.Query
}

func prepareHighlight(c *Ctx, f *Func) (*highlighter, error) {
	return cached(c, f, func() (*highlighter, error) {
		x := f.highlight()
		h := &highlighter{Highlighting: text.DefaultHighlighting}
		for i, e := range f.Args[1 : 1+x.Options] {
			d, err := EvalConst(c, e)
			if err != nil {
				return nil, err
			}
			if err := highlightOption(&h.Highlighting, i, d); err != nil {
				return nil, err
			}
		}
		at := 1 + x.Options
		for _, call := range x.Calls {
			p, err := prepareMatch(c, &Func{Args: f.Args[at : at+call.Args], Extra: call.Match})
			if err != nil {
				return nil, err
			}
			h.queries = append(h.queries, p.query)
			at += call.Args
		}
		return h, nil
	})
}

// highlightAll is HighlightAll, aside for long texts.
func (c *Ctx) highlightAll(by *text.Analyzer, s string, list []text.Asked, how text.Highlighting) ([]string, error) {
	if len(s) < longAnalysis {
		return by.HighlightAll(s, list, how), nil
	}
	out := make(chan []string, 1)
	if err := c.aside(func() error { out <- by.HighlightAll(s, list, how); return nil }); err != nil {
		return nil, err
	}
	return <-out, nil
}

// rowHighlight: without a match there are no fragments, but the whole text is
// returned if the call requests it.
func rowHighlight(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() {
		return value.Null, nil
	}
	h, err := prepareHighlight(c, f)
	if err != nil {
		return value.Null, err
	}
	x := f.highlight()
	list := make([]text.Asked, len(x.Calls))
	at := 1 + x.Options
	for i, call := range x.Calls {
		list[i].Query = h.queries[i]
		if n := len(call.Match.Fields); n > 1 {
			if list[i].Whole, _, err = c.analyse(call.Match.Analyzer, call.Match.texts(f.Args[at:], a[at:at+n]), nil); err != nil {
				return value.Null, err
			}
		}
		at += call.Args
	}
	s := a[0].Str()
	fragments, err := c.highlightAll(x.Calls[0].Match.Analyzer, s, list, h.Highlighting)
	if err != nil {
		return value.Null, err
	}
	if fragments == nil && h.Fragments == 0 {
		return value.Bytes([]byte(s)), nil
	}
	return value.Bytes([]byte(strings.Join(fragments, fragmentGap))), nil
}
