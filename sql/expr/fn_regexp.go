package expr

import (
	"strings"
	"time"

	"github.com/dlclark/regexp2"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/internal/guard"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// The engine backtracks, as MySQL's ICU does, which has a limit of its own
// (regexp_time_limit).
const (
	// regexpTimeout bounds the matches of one call.
	regexpTimeout = 2 * time.Second
	// regexpInline bounds a match that KILL does not reach. One that takes longer runs
	// again, in a goroutine, which goes on after KILL until it has timed out.
	regexpInline = 20 * time.Millisecond
)

func regexpDefs() []entry {
	return []entry{
		fn("regexp_like", "ss?s", retRegexp(boolType()), rowRegexpLike, 0),
		{"regexp rlike", fn("regexp", "ss", retRegexp(boolType()), rowRegexpLike, 0).d},
		fn("regexp_instr", "ss?iiis", retRegexp(intType()), rowRegexpInstr, 0),
		fn("regexp_substr", "ss?iis", retRegexpText, rowRegexpSubstr, nullable),
		fn("regexp_replace", "sss?iis", retRegexpText, rowRegexpReplace, 0),
	}
}

func retRegexp(t schema.Type) typeFunc {
	return func(b *binding) (schema.Type, error) { return t, b.checkRegexp() }
}

func retRegexpText(b *binding) (schema.Type, error) {
	if err := b.checkRegexp(); err != nil {
		return schema.Type{}, err
	}
	return textType(longText, b.args[0].Type().Collation), nil
}

// checkRegexp converts subject and pattern to utf8mb4. Binary strings with
// character strings are refused, as in MySQL 8.
func (b *binding) checkRegexp() error {
	coll, err := agreeOn(b.env, b.name, b.orig[:2])
	if err != nil {
		return err
	}
	to := schema.CollationUTF8MB40900AICI
	if c := collate.Must(coll); isCaseSensitive(c) {
		to = schema.CollationUTF8MB4Bin
	}
	for i := 0; i < 2; i++ {
		t := b.args[i].Type()
		if _, literal := b.args[i].(*Const); t.Collation == schema.CollationBinary && t.IsString() && !literal {
			return sqlerr.RegexpCharset("binary", "utf8mb4_0900_ai_ci", b.name)
		}
		if !isUTF8(charsetName(t.Collation)) && t.Collation != schema.CollationBinary {
			if b.args[i], err = NewCast(b.env, b.args[i], textType(textLen(b.args[i]), to), false); err != nil {
				return err
			}
		}
	}
	return nil
}

// isCaseSensitive reports whether letters of different case are different letters to a
// pattern without match type under a collation.
func isCaseSensitive(c *collate.Collation) bool {
	return c.IsCaseSensitive() || c.ID == schema.CollationBinary || strings.HasSuffix(c.Name, "_bin") || strings.HasSuffix(c.Name, "_cs")
}

type compiledRegexp struct {
	pattern, flags string
	text           string // in the notation of the engine
	opts           regexp2.RegexOptions
	quick          *regexp2.Regexp // with regexpInline
	slow           *regexp2.Regexp // with regexpTimeout; nil until it is needed
}

// regexpOf compiles the pattern with the match type flags c, i, m, n, u; the
// collation decides about case when neither c nor i is given.
func regexpOf(c *Ctx, f *Func, pattern []byte, flags string) (*compiledRegexp, error) {
	if r, ok := c.cache[f].(*compiledRegexp); ok && r.pattern == string(pattern) && r.flags == flags {
		return r, nil
	}
	if len(pattern) == 0 {
		return nil, sqlerr.RegexpIllegalArgument()
	}
	coll := collate.Must(stringCollation(f.Args[:2]))
	fold := !isCaseSensitive(coll)
	opts := regexp2.RegexOptions(0)
	for _, x := range flags {
		switch x {
		case 'c':
			fold = false
		case 'i':
			fold = true
		case 'm':
			opts |= regexp2.Multiline
		case 'n':
			opts |= regexp2.Singleline
		case 'u':
		default:
			return nil, sqlerr.WrongArguments(strings.ToLower(f.Name))
		}
	}
	if fold {
		opts |= regexp2.IgnoreCase
	}
	r, err := c.newRegexp(icuPattern(string(pattern)), opts, string(pattern))
	if err != nil {
		return nil, err
	}
	r.pattern, r.flags = string(pattern), flags
	if c.cache == nil {
		c.cache = map[*Func]any{}
	}
	c.cache[f] = r
	return r, nil
}

// The clock of the engine's timeouts ticks every 100 ms by itself, so that a match of
// regexpInline may take ten times as long.
func init() { regexp2.SetTimeoutCheckPeriod(regexpInline / 4) }

const (
	// maxPattern bounds the bytes of a pattern, longPattern those of one that is compiled
	// at once: it takes about a microsecond for each.
	maxPattern  = 1 << 20
	longPattern = 16 << 10
)

// newRegexp compiles a pattern, and its text in the notation of the engine: 3700, and the
// errors of regexpError.
func (c *Ctx) newRegexp(text string, opts regexp2.RegexOptions, pattern string) (*compiledRegexp, error) {
	if len(pattern) > maxPattern {
		return nil, sqlerr.RegexpTooBig()
	}
	quick, err := c.compileRegexp(text, opts, pattern)
	if err != nil {
		return nil, err
	}
	quick.MatchTimeout = regexpInline
	return &compiledRegexp{text: text, opts: opts, quick: quick}, nil
}

// compileRegexp compiles a pattern in the notation of the engine, aside if it is long.
func (c *Ctx) compileRegexp(text string, opts regexp2.RegexOptions, pattern string) (*regexp2.Regexp, error) {
	compiled := make(chan *regexp2.Regexp, 1)
	compile := func() error {
		re, err := regexp2.Compile(text, opts)
		if err != nil {
			return regexpError(err, pattern)
		}
		compiled <- re
		return nil
	}
	err := error(nil)
	if len(text) > longPattern {
		err = c.aside(compile)
	} else {
		err = compile()
	}
	if err != nil {
		return nil, err
	}
	return <-compiled, nil
}

// matcher finds the matches of one call.
type matcher struct {
	c     *Ctx
	re    *compiledRegexp
	began time.Time
}

func (c *Ctx) matcher(re *compiledRegexp) *matcher {
	return &matcher{c: c, re: re, began: time.Now()}
}

// workOfMatch is the work of a match that is found at once.
const workOfMatch = 500

// run is one match, by a function of the engine. Errors: 3699 after regexpTimeout, and
// those of Work.
func (m *matcher) run(match func(re *regexp2.Regexp) (*regexp2.Match, error)) (*regexp2.Match, error) {
	if err := m.c.Work(workOfMatch); err != nil {
		return nil, err
	}
	found, err := match(m.re.quick)
	if err == nil {
		return found, nil
	}
	left := regexpTimeout - time.Since(m.began)
	if left <= 0 {
		return nil, sqlerr.RegexpTimeout()
	}
	if m.re.slow == nil {
		if m.re.slow, err = m.c.compileRegexp(m.re.text, m.re.opts, m.re.pattern); err != nil {
			return nil, err
		}
		m.re.slow.MatchTimeout = regexpTimeout
	}
	ctx := m.c.context()
	var failed error
	done := make(chan struct{})
	slow := m.re.slow
	go func() {
		defer close(done)
		failed = guard.Run(func() (err error) {
			found, err = match(slow)
			return err
		})
	}()
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-done:
		return found, matchError(failed)
	case <-timer.C:
		return nil, sqlerr.RegexpTimeout()
	case <-ctx.Done():
		return nil, contextError(ctx)
	}
}

// first is the first match from character pos on; nil for none.
func (m *matcher) first(s []rune, pos int64) (*regexp2.Match, error) {
	if pos < 1 || pos > int64(len(s))+1 {
		return nil, sqlerr.RegexpIndex()
	}
	return m.run(func(re *regexp2.Regexp) (*regexp2.Match, error) {
		return re.FindRunesMatchStartingAt(s, int(pos-1))
	})
}

// next is the match after another.
func (m *matcher) next(last *regexp2.Match) (*regexp2.Match, error) {
	return m.run(func(re *regexp2.Regexp) (*regexp2.Match, error) { return re.FindNextMatch(last) })
}

// nth is the occurrence-th match from character pos on.
func (m *matcher) nth(s []rune, pos, occurrence int64) (*regexp2.Match, error) {
	found, err := m.first(s, pos)
	for n := int64(1); err == nil && found != nil && n < occurrence; n++ {
		found, err = m.next(found)
	}
	return found, err
}

// posixClasses are ICU's [:name:] sets in the engine's notation, without the
// brackets.
var posixClasses = map[string]string{
	"alpha": `\p{L}`, "digit": `\p{Nd}`, "alnum": `\p{L}\p{Nd}`, "upper": `\p{Lu}`, "lower": `\p{Ll}`, "space": `\s`,
	"blank": ` \t`, "punct": `\p{P}`, "xdigit": `0-9A-Fa-f`, "cntrl": `\p{Cc}`, "word": `\w`, "print": `\P{Cc}`, "graph": `\P{Z}`,
}

// icuPattern rewrites [:name:] inside of bracket expressions.
func icuPattern(p string) string {
	if !strings.Contains(p, "[:") {
		return p
	}
	var b strings.Builder
	inClass := false
	for i := 0; i < len(p); i++ {
		switch {
		case p[i] == '\\' && i+1 < len(p):
			b.WriteString(p[i : i+2])
			i++
			continue
		case inClass && strings.HasPrefix(p[i:], "[:"):
			if end := strings.Index(p[i:], ":]"); end > 0 {
				if set, ok := posixClasses[p[i+2:i+end]]; ok {
					b.WriteString(set)
					i += end + 1
					continue
				}
			}
		case p[i] == '[' && !inClass:
			inClass = true
			b.WriteByte('[')
			if i+1 < len(p) && p[i+1] == '^' {
				b.WriteByte('^')
				i++
			}
			if i+1 < len(p) && p[i+1] == ']' {
				b.WriteString(`\]`)
				i++
			}
			continue
		case p[i] == ']':
			inClass = false
		}
		b.WriteByte(p[i])
	}
	return b.String()
}

func matchError(err error) error {
	if err != nil {
		return sqlerr.RegexpTimeout()
	}
	return nil
}

func rowRegexpLike(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	flags := ""
	if len(a) > 2 {
		flags = a[2].Str()
	}
	re, err := regexpOf(c, f, a[1].Bytes(), flags)
	if err != nil {
		return value.Null, err
	}
	m, err := c.matcher(re).first([]rune(a[0].Str()), 1)
	return value.Bool(m != nil), err
}

// regexpArgs are the common tail of the other functions: position, occurrence
// and match type, from index at on.
func regexpArgs(a []value.Datum, at int) (pos, occurrence int64, flags string) {
	pos, occurrence = 1, 1
	if len(a) > at {
		pos = asInt(a[at])
	}
	if len(a) > at+1 {
		occurrence = asInt(a[at+1])
	}
	return pos, occurrence, flags
}

func rowRegexpInstr(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	pos, occurrence, _ := regexpArgs(a, 2)
	after, flags := false, ""
	if len(a) > 4 {
		switch asInt(a[4]) {
		case 0:
		case 1:
			after = true
		default:
			return value.Null, sqlerr.WrongArguments("regexp_instr: return_option must be 1 or 0.")
		}
	}
	if len(a) > 5 {
		flags = a[5].Str()
	}
	re, err := regexpOf(c, f, a[1].Bytes(), flags)
	if err != nil {
		return value.Null, err
	}
	m, err := c.matcher(re).nth([]rune(a[0].Str()), pos, occurrence)
	if err != nil || m == nil {
		return value.Int(0), err
	}
	if after {
		return value.Int(int64(m.Index + m.Length + 1)), nil
	}
	return value.Int(int64(m.Index + 1)), nil
}

func rowRegexpSubstr(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	pos, occurrence, flags := regexpArgs(a, 2)
	if len(a) > 4 {
		flags = a[4].Str()
	}
	re, err := regexpOf(c, f, a[1].Bytes(), flags)
	if err != nil {
		return value.Null, err
	}
	m, err := c.matcher(re).nth([]rune(a[0].Str()), pos, occurrence)
	if err != nil || m == nil {
		return value.Null, err
	}
	return value.String(m.String()), nil
}

// rowRegexpReplace replaces the occurrence-th match, all of them for 0.
func rowRegexpReplace(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	pos, occurrence, flags := regexpArgs(a, 3)
	if len(a) <= 4 {
		occurrence = 0
	}
	if len(a) > 5 {
		flags = a[5].Str()
	}
	re, err := regexpOf(c, f, a[1].Bytes(), flags)
	if err != nil {
		return value.Null, err
	}
	s := []rune(a[0].Str())
	if len(s) == 0 && pos == 1 {
		pos = 1
	}
	all, with := c.matcher(re), a[2].Str()
	m, err := all.nth(s, pos, max(occurrence, 1))
	if err != nil {
		return value.Null, err
	}
	if m == nil {
		return a[0], nil
	}
	var b strings.Builder
	at := 0
	for m != nil {
		if ok, err := c.room("regexp_replace", int64(b.Len())); !ok || err != nil {
			return value.Null, err
		}
		if err := c.Work(len(with)); err != nil {
			return value.Null, err
		}
		b.WriteString(string(s[at:m.Index]))
		if err := expandReplacement(&b, with, m); err != nil {
			return value.Null, err
		}
		at = m.Index + m.Length
		if occurrence > 0 {
			break
		}
		if m, err = all.next(m); err != nil {
			return value.Null, err
		}
	}
	b.WriteString(string(s[at:]))
	return value.String(b.String()), nil
}

// expandReplacement writes the replacement: $n and ${n} are groups, a backslash
// makes the next character literal.
func expandReplacement(b *strings.Builder, r string, m *regexp2.Match) error {
	for {
		i := strings.IndexAny(r, `\$`)
		if i < 0 || i+1 == len(r) {
			b.WriteString(r)
			return nil
		}
		b.WriteString(r[:i])
		next := r[i+1]
		switch {
		case r[i] == '\\':
			b.WriteByte(next)
			r = r[i+2:]
		case next >= '0' && next <= '9':
			n := 0
			for i++; i < len(r) && r[i] >= '0' && r[i] <= '9' && (n == 0 || n*10+int(r[i]-'0') < m.GroupCount()); i++ {
				n = n*10 + int(r[i]-'0')
			}
			if n >= m.GroupCount() {
				return sqlerr.RegexpIndex()
			}
			b.WriteString(m.GroupByNumber(n).String())
			r = r[i:]
		case next == '{':
			end := strings.IndexByte(r[i:], '}')
			if end < 0 {
				return sqlerr.RegexpGroupName()
			}
			g := m.GroupByName(r[i+2 : i+end])
			if g == nil {
				return sqlerr.RegexpIndex()
			}
			b.WriteString(g.String())
			r = r[i+end+1:]
		default:
			b.WriteByte('$')
			r = r[i+1:]
		}
	}
}
