package text

import (
	"bufio"
	"errors"
	"fmt"
	"math/rand"
	"os"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/sqlots/sqlots/internal/testflag"
)

// TestBooleanAsInnoDB runs queries, most of them random, of which the file says
// what MariaDB's InnoDB finds. Those where its answer contradicts the manual
// (a + member missing, mostly next to parentheses) are not in the file.
func TestBooleanAsInnoDB(t *testing.T) {
	f, err := os.Open("testdata/boolean.txt")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	a := mustParse(t, DefaultFulltext)
	var docs []*Doc
	n := 0
	for lines := bufio.NewScanner(f); lines.Scan(); {
		line := lines.Text()
		if doc, ok := strings.CutPrefix(line, "doc "); ok {
			docs = append(docs, NewDoc(a.Tokens(nil, doc)))
			continue
		}
		query, want, ok := strings.Cut(line, "\t")
		if !ok {
			continue
		}
		mode, text, _ := strings.Cut(query, "|")
		read := a.Natural
		if mode == "b" {
			read = a.Boolean
		}
		n++
		q, err := read(text)
		if err != nil {
			var syntax *SyntaxError
			if !errors.As(err, &syntax) || err.Error() != want {
				t.Errorf("%s: got error %v, want %s", query, err, want)
			}
			continue
		}
		var ids []string
		for i, d := range docs {
			if d.Matches(q) {
				ids = append(ids, fmt.Sprint(i+1))
			}
		}
		if got := strings.Join(ids, ","); got != want {
			t.Errorf("%s: got %q, want %q by %s", query, got, want, q)
		}
	}
	if n < 300 {
		t.Errorf("only %d queries", n)
	}
}

// TestQueries shows what queries are made of texts.
func TestQueries(t *testing.T) {
	for _, c := range []struct{ spec, mode, text, want string }{
		{"single_word", "natural", "Hang Zhou hang", "or(hang, zhou)"},
		{"single_word", "natural", `a "b c" "d"`, `or(a, phrase(b c), d)`},
		{"single_word", "natural", "", "none"},
		{"single_word", "boolean", "+中华 -人民 茶*", "should(and(phrase(中 华), not(phrase(人 民))), 茶*)"},
		{"single_word", "boolean", "Café*", "cafe*"},
		{"single_word", "boolean", "foo.ba*", "phrase(foo ba*)"},
		{"single_word", "boolean", `"中国 茶"@3`, "near(3, phrase(中 国), 茶)"},
		{"single_word", "and", "中国", "and(中, 国)"},
		{"single_word", "phrase", "中国", "phrase(中 国)"},
		{"fulltext", "boolean", "foo.bar.ab", "or(foo, bar)"},
		{"fulltext", "boolean", "+foo.bar", "and(foo, bar)"},
		{"fulltext", "boolean", "-foo.bar baz", "and(baz, not(foo), not(bar))"},
		{"fulltext", "boolean", ">foo <bar ~baz", "should(or(boost(2, foo), boost(0.5, bar)), boost(-1, baz))"},
		{"fuzzy", "boolean", "+中华人 国", "should(phrase(中华 华人), 国)"},
		{"fuzzy", "natural", "abcd ef-g", "or(phrase(ab 2:cd), ef, g)"},
		{"fuzzy", "phrase", "abcd ef-g", "phrase(ab 2:cd 5:ef 8:g)"},
		{"fuzzy(min_chars=2)", "natural", "g 国", "or(g*, 国*)"},
		{"ngram", "boolean", "abc d d* abcd*", "or(phrase(ab bc), d*, phrase(ab bc cd))"},
		{"ngram", "natural", "abc", "or(ab, bc)"},
		{"cjk", "natural", "日本語 茶 Go", "or(日本, 本語, 茶*, go)"},
		{"cjk", "phrase", "日本語", "phrase(日本 本語)"},
		{"cjk", "boolean", "go* 茶*", "or(go*, 茶*)"},
		{"min_word", "natural", "南京市长江大桥", "or(南京市, 长江大桥)"},
		{"min_word", "boolean", "南京市长*", "or(南京市长*, phrase(南京 市长))"},
		{"max_word", "phrase", "中华人民共和国歌", "phrase(中华人民共和国 6:国歌)"},
		{"max_word", "phrase", "国", "国"},
		{"english", "natural", "the running dogs", "or(run, dog)"},
		{"english", "phrase", "dogs of the war", "phrase(dog 3:war)"},
		{"english", "boolean", "+the +runn*", "runn*"},
		{"keyword", "phrase", "New York", `"new york"`},
		{"keyword", "boolean", `New*`, "new*"},
	} {
		q, err := read(mustParse(t, c.spec), c.mode, c.text)
		if err != nil {
			t.Errorf("%s of %q: %v", c.spec, c.text, err)
		} else if q.String() != c.want {
			t.Errorf("%s, %s of %q:\n got %s\nwant %s", c.spec, c.mode, c.text, q, c.want)
		}
	}
}

func read(a *Analyzer, mode, text string) (Query, error) {
	switch mode {
	case "natural":
		return a.Natural(text)
	case "boolean":
		return a.Boolean(text)
	case "and":
		return a.Match(text, AndTerms, 0, 0)
	case "phrase":
		return a.MatchPhrase(text)
	}
	return a.Match(text, OrTerms, 2, 0)
}

func TestMatchMinimum(t *testing.T) {
	a := mustParse(t, "single_word")
	for minimum, want := range []string{"or(a, b, c)", "or(a, b, c)", "or(min 2, a, b, c)", "or(min 3, a, b, c)", "none"} {
		if q, _ := a.Match("a b c a", OrTerms, minimum, 0); q.String() != want {
			t.Errorf("at least %d: got %s, want %s", minimum, q, want)
		}
	}
}

func TestParseOperator(t *testing.T) {
	and, ok := ParseOperator("And")
	or, ok2 := ParseOperator("or")
	if _, bad := ParseOperator("xor"); and != AndTerms || or != OrTerms || !ok || !ok2 || bad {
		t.Error("operators are read wrongly")
	}
}

func TestLimits(t *testing.T) {
	a := mustParse(t, "single_word")
	var complex *TooComplexError
	if _, err := a.Boolean(strings.Repeat("(", MaxDepth+2)); !errors.As(err, &complex) {
		t.Errorf("deep parentheses: %v", err)
	}
	if _, err := a.Boolean(strings.Repeat("(", MaxDepth) + "a" + strings.Repeat(")", MaxDepth)); err != nil {
		t.Errorf("deep parentheses: %v", err)
	}
	if _, err := a.Boolean(strings.Repeat("a ", MaxLeaves+1)); !errors.As(err, &complex) {
		t.Errorf("many terms: %v", err)
	}
}

func TestExpand(t *testing.T) {
	a := mustParse(t, "fulltext")
	first, _ := a.Natural("database")
	best := [][]Token{a.Tokens(nil, "the database of MySQL"), a.Tokens(nil, "MySQL tutorial")}
	if got, want := Expand(first, best).String(), "or(database, mysql, tutorial)"; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if got := Expand(None{}, nil).String(); got != "none" {
		t.Errorf("got %s", got)
	}
}

// corpus is a small collection.
type corpus struct {
	docs []*Doc
	len  int
}

func (c *corpus) add(d *Doc)      { c.docs, c.len = append(c.docs, d), c.len+d.Len() }
func (c *corpus) Docs() int64     { return int64(len(c.docs)) }
func (c *corpus) AvgLen() float64 { return float64(c.len) / float64(len(c.docs)) }
func (c *corpus) DocFreq(leaf Query) (n int64) {
	for _, d := range c.docs {
		if d.Matches(leaf) {
			n++
		}
	}
	return n
}

func TestScores(t *testing.T) {
	// idf = ln(1 + (3-1+0.5)/(1+0.5)); tf part = 2*2.2/(2 + 1.2*(0.25+0.75*4/2))
	if got, want := BM25(2, 1, 3, 4, 2), 0.9808292530117263*4.4/4.1; got < want-1e-12 || got > want+1e-12 {
		t.Errorf("got %v, want %v", got, want)
	}
	a := mustParse(t, "single_word")
	var c corpus
	for _, s := range []string{"apple banana", "apple apple cherry", "banana cherry", "fig"} {
		c.add(NewDoc(a.Tokens(nil, s)))
	}
	order := func(text string) string {
		q, err := a.Boolean(text)
		if err != nil {
			t.Fatal(err)
		}
		var ids []int
		for i, d := range c.docs {
			if d.Matches(q) {
				ids = append(ids, i+1)
			} else if s := d.Score(q, &c); s != 0 {
				t.Errorf("%s: document %d does not match, but scores %v", text, i+1, s)
			}
		}
		slices.SortStableFunc(ids, func(x, y int) int {
			sx, sy := c.docs[x-1].Score(q, &c), c.docs[y-1].Score(q, &c)
			switch {
			case sx > sy:
				return -1
			case sx < sy:
				return 1
			}
			return 0
		})
		return fmt.Sprint(ids)
	}
	for text, want := range map[string]string{
		"apple":          "[2 1]",
		"apple banana":   "[1 2 3]",
		"apple ~banana":  "[2 1]",
		"+apple >banana": "[1 2]",
		"<apple >banana": "[1 3 2]",
		"+apple -cherry": "[1]",
		`"apple cherry"`: "[2]",
		"app*":           "[2 1]",
	} {
		if got := order(text); got != want {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
	}
	neg, _ := a.Boolean("apple ~banana")
	if s := c.docs[0].Score(neg, &c); s >= c.docs[1].Score(neg, &c) {
		t.Errorf("~ does not lower: %v", s)
	}
}

// naive says by definition whether a list of tokens matches a leaf at a
// position: it tries all places.
type naive []Token

func (n naive) at(q Query, pos int) bool {
	for _, t := range n {
		if t.Pos != pos {
			continue
		}
		switch q := q.(type) {
		case Term:
			if t.Term == q.Term {
				return true
			}
		case Prefix:
			if !Hidden(t.Term) && strings.HasPrefix(t.Term, q.Prefix) {
				return true
			}
		}
	}
	return false
}

func (n naive) last() int {
	if len(n) == 0 {
		return 0
	}
	return n[len(n)-1].Pos
}

func (n naive) starts(q Query) (starts []int) {
	for pos := 1; pos <= n.last(); pos++ {
		switch q := q.(type) {
		case Phrase:
			if n.phrase(q, 0, pos, nil) {
				starts = append(starts, pos)
			}
		case Near:
			some, all := false, true
			for _, m := range q.Of {
				in := n.starts(m)
				some = some || slices.Contains(in, pos)
				all = all && slices.ContainsFunc(in, func(p int) bool { return pos <= p && p < pos+q.Window })
			}
			if some && all {
				starts = append(starts, pos)
			}
		default:
			if n.at(q, pos) {
				starts = append(starts, pos)
			}
		}
	}
	return starts
}

// phrase tries all positions for the terms from i on.
func (n naive) phrase(q Phrase, i, start int, placed []int) bool {
	if i == len(q.Terms) {
		low, high := placed[0]-q.Terms[0].At, placed[0]-q.Terms[0].At
		for j, p := range placed {
			low, high = min(low, p-q.Terms[j].At), max(high, p-q.Terms[j].At)
			for k := range j {
				if placed[k] == p && q.Terms[k].At != q.Terms[j].At && q.Slop > 0 {
					return false
				}
			}
		}
		return high-low <= q.Slop
	}
	for pos := 1; pos <= n.last(); pos++ {
		if i == 0 && pos != start || q.Slop == 0 && pos != start+q.Terms[i].At || !n.at(q.Terms[i].leaf(), pos) {
			continue
		}
		if n.phrase(q, i+1, start, append(slices.Clone(placed), pos)) {
			return true
		}
	}
	return false
}

func (n naive) matches(q Query) bool {
	switch q := q.(type) {
	case None:
		return false
	case All:
		return true
	case Not:
		return !n.matches(q.Of)
	case Boost:
		return n.matches(q.Of)
	case Should:
		return n.matches(q.Of)
	case And:
		for _, m := range q.Of {
			if !n.matches(m) {
				return false
			}
		}
		return true
	case Or:
		count := 0
		for _, m := range q.Of {
			if n.matches(m) {
				count++
			}
		}
		return count >= max(q.Min, 1)
	}
	return len(n.starts(q)) > 0
}

// TestEvaluator compares the evaluator with the definitions.
func TestEvaluator(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	word := func() string { return string("abc"[r.Intn(3)]) + strings.Repeat("x", r.Intn(2)) }
	var leaf func(depth int) Query
	leaf = func(depth int) Query {
		switch r.Intn(7) {
		case 0:
			return Prefix{word()[:1]}
		case 1, 2:
			p, at := Phrase{Slop: r.Intn(3)}, 0
			for range 1 + r.Intn(3) {
				p.Terms = append(p.Terms, PhraseTerm{word(), at, r.Intn(5) == 0})
				at += r.Intn(3)
			}
			return p
		case 3:
			if depth == 0 {
				return Near{[]Query{leaf(1), leaf(1)}, 1 + r.Intn(4)}
			}
		}
		return Term{word()}
	}
	var tree func(depth int) Query
	tree = func(depth int) Query {
		some := func() (of []Query) {
			for range 1 + r.Intn(3) {
				of = append(of, tree(depth+1))
			}
			return of
		}
		if depth < 3 {
			switch r.Intn(6) {
			case 0:
				return And{some()}
			case 1:
				return Or{some(), r.Intn(3)}
			case 2:
				return Not{tree(depth + 1)}
			case 3:
				return Should{tree(depth + 1), some()}
			}
		}
		return leaf(0)
	}
	for range testflag.InShort(4000, 20000) {
		var tokens []Token
		pos := 1
		for range r.Intn(8) {
			term := word()
			if r.Intn(8) == 0 {
				term = hiddenMark + term
			}
			tokens = append(tokens, Token{Term: term, Pos: pos})
			pos += r.Intn(3)
		}
		q, d := tree(0), NewDoc(tokens)
		if got, want := d.Matches(q), naive(tokens).matches(q); got != want {
			t.Fatalf("%v: %s: got %v, want %v", tokens, q, got, want)
		}
		if l := leaf(0); d.Freq(l) != freq(tokens, l) {
			t.Fatalf("%v: %s: got %d, want %d", tokens, l, d.Freq(l), freq(tokens, l))
		}
	}
}

// freq counts each different term of a prefix at one position.
func freq(tokens []Token, leaf Query) int {
	p, ok := leaf.(Prefix)
	if !ok {
		return len(naive(tokens).starts(leaf))
	}
	seen := map[string]bool{}
	for _, t := range tokens {
		if !Hidden(t.Term) && strings.HasPrefix(t.Term, p.Prefix) {
			seen[fmt.Sprint(t.Term, " ", t.Pos)] = true
		}
	}
	return len(seen)
}

func TestFuzzyTerms(t *testing.T) {
	d := NewDoc(mustParse(t, "single_word").Tokens(nil, "banana 中 apples"))
	for q, want := range map[Fuzzy]bool{
		{"banana", 0}: true, {"bananas", 1}: true, {"bnana", 1}: true, {"bandana", 1}: true, {"ananas", 1}: false,
		{"ananas", 2}: true, {"国", 1}: true, {"app", 2}: false, {"app", 3}: true,
	} {
		if got := d.Matches(q); got != want {
			t.Errorf("%s: got %v", q, got)
		}
	}
}

// TestFuzzyIsSubstring: fuzzy finds exactly the texts that have each piece of
// the query as a part, whatever its length.
func TestFuzzyIsSubstring(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	letters := []string{"a", "B", "é", "e\u0301", "中", "国", "歌", "-", " ", "æ", "1", "が"}
	text := func(n int) string {
		var b strings.Builder
		for range n {
			b.WriteString(letters[r.Intn(len(letters))])
		}
		return b.String()
	}
	for _, spec := range []string{"fuzzy", "fuzzy(min_chars=2, max_chars=4)", "fuzzy(case_sensitive=true)"} {
		a := mustParse(t, spec)
		pieces := func(s string) []string {
			return strings.FieldsFunc(a.fold.term(s), func(r rune) bool { return r == ' ' || r == '-' })
		}
		hits := 0
		for range 20000 {
			doc, query := text(r.Intn(20)), text(1+r.Intn(5))
			want, some := true, false
			for _, p := range pieces(query) {
				some = true
				in := false
				for _, d := range pieces(doc) {
					in = in || strings.Contains(d, p)
				}
				want = want && in
			}
			q, err := a.Match(query, AndTerms, 0, 0)
			if err != nil {
				t.Fatal(err)
			}
			if got := NewDoc(a.Tokens(nil, doc)).Matches(q); got != (want && some) {
				t.Fatalf("%s: %q in %q: got %v, want %v by %s", spec, query, doc, got, want && some, q)
			}
			if want && some {
				hits++
			}
		}
		if hits < 1000 {
			t.Errorf("%s: only %d hits", spec, hits)
		}
	}
}

func FuzzQueries(f *testing.F) {
	for i, s := range append(samples, `+a -b ~c <d >e (f "g h"@3 i*) "j`, `"中国 茶"@3 +(茶* -国)`, "a@1 **b %") {
		f.Add(s, uint8(i))
	}
	f.Fuzz(func(t *testing.T, text string, which uint8) {
		all := analyzers()
		a := all[int(which)%len(all)]
		d := NewDoc(a.Tokens(nil, text))
		c := &corpus{}
		c.add(d)
		for _, mode := range []string{"natural", "boolean", "and", "phrase", "min"} {
			q, err := read(a, mode, text)
			if err != nil {
				var syntax *SyntaxError
				var complex *TooComplexError
				if !errors.As(err, &syntax) && !errors.As(err, &complex) {
					t.Fatalf("%s: %v", mode, err)
				}
				continue
			}
			if utf8.ValidString(text) && !utf8.ValidString(q.String()) {
				t.Fatalf("%s: %q is no UTF-8", mode, q)
			}
			if d.Matches(q) != (naive(a.Tokens(nil, text)).matches(q)) {
				t.Fatalf("%s: %s on %q: got %v", mode, q, text, d.Matches(q))
			}
			d.Score(q, c)
			// A text is found by all of its words, and by itself.
			if (mode == "and" || mode == "phrase") && d.Len() > 0 && q.String() != "none" && !d.Matches(q) {
				t.Fatalf("%s, %s: %q is not found by itself: %s", a.Spec(), mode, text, q)
			}
		}
	})
}

func BenchmarkDoc(b *testing.B) {
	a := mustParse(b, "single_word")
	q, err := a.Boolean(`+fox "lazy dog" -cat watch*`)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.SetBytes(int64(len(latin)))
	var tokens []Token
	for b.Loop() {
		tokens = a.Tokens(tokens[:0], latin)
		if !NewDoc(tokens).Matches(q) {
			b.Fatal("no match")
		}
	}
}
