package expr

import (
	"runtime"
	"unicode/utf8"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/search/text"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// likeSpec is the Extra of LIKE: the collation that the operands agree on.
type likeSpec struct{ coll schema.CollationID }

// bindLike types x LIKE pattern [ESCAPE escape].
func bindLike(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) < 2 || len(args) > 3 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	if len(args) == 3 {
		if c, ok := args[2].(*Const); ok && !c.D.IsNull() && c.D.Kind() == value.KindBytes && utf8.RuneCount(c.D.Bytes()) > 1 {
			return nil, sqlerr.WrongArguments("ESCAPE")
		}
		if !IsConst(args[2]) {
			return nil, sqlerr.WrongArguments("ESCAPE")
		}
	}
	coll, err := agreeOn(env, name, args[:2])
	if err != nil {
		return nil, err
	}
	out := make([]Expr, len(args))
	null := false
	for i, a := range args {
		x, err := convertArg(env, 's', a)
		if err != nil {
			return nil, err
		}
		if i < 2 {
			if x, err = toCharset(env, x, coll); err != nil {
				return nil, err
			}
			null = null || x.Nullable()
		}
		out[i] = x
	}
	return d.call(name, out, boolType(), null, &likeSpec{coll}), nil
}

type likeMatcher struct {
	pattern string
	escape  rune
	match   collate.Like
}

func rowLike(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() || a[1].IsNull() {
		return value.Null, nil
	}
	m, err := c.likeMatcher(f, a)
	if err != nil {
		return value.Null, err
	}
	ok := c.like(m.match, a[0].Bytes(), &err)
	return value.Bool(ok), err
}

// workOfChar is the work of comparing two characters.
const workOfChar = 5

// like is a match of l, unless *err is set already or the match ends with an error.
func (c *Ctx) like(l collate.Like, s []byte, err *error) bool {
	if *err != nil {
		return false
	}
	ok, failed := l.MatchUntil(s, c.comparedChars)
	*err = failed
	return ok
}

// comparedChars is the stop of a match.
func (c *Ctx) comparedChars(n int) error { return c.Work(workOfChar * n) }

// bytesOfLike is what compiling takes for each byte of a pattern, at most.
const bytesOfLike = 200

// likeMatcher compiles pattern and escape, a[1] and a[2], unless those of the
// call before were the same.
func (c *Ctx) likeMatcher(f *Func, a []value.Datum) (*likeMatcher, error) {
	escape, err := c.likeEscape(a)
	if err != nil {
		return nil, err
	}
	m, _ := c.cache[f].(*likeMatcher)
	if m == nil || m.escape != escape || m.pattern != string(a[1].Bytes()) {
		n := bytesOfLike * int64(len(a[1].Bytes()))
		if _, err := c.Hold(n); err != nil {
			return nil, err
		}
		pattern := append([]byte(nil), a[1].Bytes()...)
		m = &likeMatcher{string(pattern), escape, collate.Must(f.like().coll).NewLike(pattern, escape)}
		if mem := c.Memory; n >= largeValue && mem != nil { // the call may not hold m
			runtime.AddCleanup(m, mem.Release, n)
		}
		if c.cache == nil {
			c.cache = map[*Func]any{}
		}
		c.cache[f] = m
	}
	return m, nil
}

// vecLike is for patterns that are the same for all rows.
func vecLike(c *Ctx, f *Func, in *vec.Batch) (*vec.Vec, error) {
	if in.Live() == 0 || !IsConst(f.Args[1]) || len(f.Args) > 2 && !IsConst(f.Args[2]) {
		return evalGeneric(c, f, in)
	}
	var a [3]value.Datum
	for i := 1; i < len(f.Args); i++ {
		d, err := EvalRow(c, f.Args[i], nil)
		if err != nil {
			return nil, err
		}
		a[i] = d
	}
	v, err := Eval(c, f.Args[0], in)
	if err != nil {
		return nil, err
	}
	defer c.Release(v)
	if a[1].IsNull() || v.Kind != value.KindBytes {
		return c.broadcast(value.Null, value.KindInt, in.N), nil
	}
	m, err := c.likeMatcher(f, a[:len(f.Args)])
	if err != nil {
		return evalGeneric(c, f, in) // no error if no row comes to it
	}
	out := c.getVec(value.KindInt, in.N)
	out.Nulls.CopyFrom(&v.Nulls)
	stop := c.comparedChars // once: it is allocated
	eachRow(in, &v.Nulls, func(i int) {
		if err == nil {
			var ok bool
			ok, err = m.match.MatchUntil(v.Bytes[i], stop)
			out.I64[i] = int64(b2i(ok))
		}
	})
	return out, err
}

// likeEscape is the escape character of a call of LIKE, -1 for none.
func (c *Ctx) likeEscape(a []value.Datum) (rune, error) {
	escape := '\\'
	if c.Mode&types.ModeNoBackslashEscapes != 0 {
		escape = -1
	}
	if len(a) > 2 && !a[2].IsNull() { // ESCAPE NULL is the default
		e := a[2].Bytes()
		switch utf8.RuneCount(e) {
		case 0:
			escape = -1
		case 1:
			escape, _ = utf8.DecodeRune(e)
		default:
			return 0, sqlerr.WrongArguments("ESCAPE")
		}
	}
	return escape, nil
}

// LikeIsBinary reports a LIKE that compares texts byte by byte.
func LikeIsBinary(f *Func) bool {
	s, ok := f.Extra.(*likeSpec)
	return ok && s.coll == schema.CollationUTF8MB4Bin
}

// LikeCandidates is a query over an analyzer's tokens that finds all matches of a
// LIKE with a constant pattern, and perhaps more. ok is false when the tokens do
// not narrow it.
func LikeCandidates(c *Ctx, f *Func, an *text.Analyzer) (q text.Query, ok bool, err error) {
	a := make([]value.Datum, len(f.Args))
	for i := 1; i < len(a); i++ {
		if a[i], err = EvalConst(c, f.Args[i]); err != nil {
			return nil, false, err
		}
	}
	if a[1].IsNull() {
		return text.None{}, true, nil
	}
	escape, err := c.likeEscape(a)
	if err != nil {
		return nil, false, err
	}
	coll := collate.Must(f.like().coll)
	if !readsAsUTF8(coll) {
		return nil, false, nil
	}
	q, ok = an.LikeCandidates(text.ParseLike(a[1].Str(), max(escape, 0)), coll)
	return q, ok, nil
}
