package expr

import (
	"bytes"
	"math"
	"strings"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

func stringDefs() []entry {
	return []entry{
		fn("concat", "s+", retText(lenSum), rowConcat, 0),
		fn("concat_ws", "ss+", retText(lenConcatWS), rowConcatWS, loose),
		fn("length octet_length", "s", retInt(10), rowLength, 0),
		fn("bit_length", "s", retInt(11), rowBitLength, 0),
		fn("char_length character_length", "s", retInt(10), rowCharLength, 0),
		fn("substr substring mid", "si?i", retText(lenOf(0), 0), rowSubstr, 0),
		fn("substring_index", "ssi", retText(lenOf(0), 0, 1), rowSubstringIndex, 0),
		fn("left", "si", retText(lenCount(0, 1), 0), rowLeft, 0),
		fn("right", "si", retText(lenCount(0, 1), 0), rowRight, 0),
		fn("lpad", "sis", retText(lenPad, 0, 2), rowLpad, nullable),
		fn("rpad", "sis", retText(lenPad, 0, 2), rowRpad, nullable),
		fn("trim", "s?s", retText(lenOf(0)), rowTrim, 0),
		fn("ltrim", "s?s", retText(lenOf(0)), rowLtrim, 0),
		fn("rtrim", "s?s", retText(lenOf(0)), rowRtrim, 0),
		fn("upper ucase", "s", retText(lenOf(0)), rowUpper, 0),
		fn("lower lcase", "s", retText(lenOf(0)), rowLower, 0),
		fn("replace", "sss", retText(lenReplace), rowReplace, 0),
		fn("reverse", "s", retText(lenOf(0)), rowReverse, 0),
		fn("repeat", "si", retText(lenRepeat, 0), rowRepeat, nullable),
		fn("space", "i", retText(lenSpace, []int{}...), rowSpace, nullable),
		fn("insert", "siis", retText(lenSumText, 0, 3), rowInsert, nullable),
		fn("locate position", "ss?i", retLocate, rowLocate, 0),
		fn("instr", "ss", retLocate, rowInstr, 0),
		fn("ascii", "s", retInt(3), rowASCII, 0),
		fn("ord", "s", retInt(21), rowOrd, 0),
		fn("char", "i+", retChar, rowChar, loose),
		special("field", bindField, def{b: Builtin{Row: rowField}}),
		fn("find_in_set", "ss", retLocate, rowFindInSet, 0),
		fn("elt", "is+", retElt, rowElt, nullable|loose),
		fn("make_set", "is+", retElt, rowMakeSet, loose),
		fn("export_set", "iss?si", retText(lenExportSet, 1, 2), rowExportSet, 0),
		fn("format", "ni?s", retFormat, rowFormat, nullable|loose),
		fn("quote", "s", retText(lenQuote), rowQuote, loose|notNull),
		fn("soundex", "s", retText(lenSoundex), rowSoundex, 0),
		special("like", bindLike, def{b: Builtin{Row: rowLike, impl: impl{vec: vecLike}}}),
		fn("sounds_like", "ss", retBool, rowSoundsLike, 0),
		fn("weight_string", "s?si", retWeightString, rowWeightString, nullable),
	}
}

func lenConcatWS(b *binding) int {
	return min(lenSum(b)+textLen(b.args[0])*max(len(b.args)-2, 0), longText)
}

// lenCount bounds LEFT and RIGHT by a literal count.
func lenCount(s, n int) func(b *binding) int {
	return func(b *binding) int {
		if v, ok := constInt(b.args[n]); ok {
			return int(min(max(v, 0), int64(textLen(b.args[s]))))
		}
		return textLen(b.args[s])
	}
}

func lenPad(b *binding) int {
	if v, ok := constInt(b.args[1]); ok {
		return int(min(max(v, 0), longText))
	}
	return longText
}

func lenRepeat(b *binding) int {
	if v, ok := constInt(b.args[1]); ok && v >= 0 && v < 1<<20 {
		return int(min(v*int64(textLen(b.args[0])), longText))
	}
	return longText
}

func lenSpace(b *binding) int {
	if v, ok := constInt(b.args[0]); ok {
		return int(min(max(v, 0), longText))
	}
	return longText
}

func lenReplace(b *binding) int {
	n, from, to := textLen(b.args[0]), textLen(b.args[1]), textLen(b.args[2])
	if to > from {
		return int(min(int64(n)*int64(to), longText))
	}
	return n
}

func lenSumText(b *binding) int { return min(textLen(b.args[0])+textLen(b.args[3]), longText) }

// argColl is the collation of argument i.
func argColl(f *Func, i int) *collate.Collation { return collate.Must(f.Args[i].Type().Collation) }

func rowConcat(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	n := 0
	for _, d := range a {
		n += len(d.Bytes())
	}
	if ok, err := c.room("concat", int64(n)); !ok || err != nil {
		return value.Null, err
	}
	out := c.scratch(n)
	for _, d := range a {
		out = append(out, d.Bytes()...)
	}
	return value.Bytes(out), nil
}

func rowConcatWS(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() {
		return value.Null, nil
	}
	sep := a[0].Bytes()
	n := 0
	for _, d := range a[1:] {
		if !d.IsNull() {
			n += len(d.Bytes()) + len(sep)
		}
	}
	if ok, err := c.room("concat_ws", int64(n)); !ok || err != nil {
		return value.Null, err
	}
	out := c.scratch(n)
	first := true
	for _, d := range a[1:] {
		if d.IsNull() {
			continue
		}
		if !first {
			out = append(out, sep...)
		}
		first = false
		out = append(out, d.Bytes()...)
	}
	return value.Bytes(out), nil
}

func rowLength(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	return value.Int(int64(len(a[0].Bytes()))), nil
}

func rowBitLength(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	return value.Int(8 * int64(len(a[0].Bytes()))), nil
}

func rowCharLength(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return value.Int(int64(argColl(f, 0).CharLen(a[0].Bytes()))), nil
}

// charSlice is the n characters of s from character start (0 based) on.
func charSlice(coll *collate.Collation, s []byte, start, n int64) []byte {
	if start >= int64(len(s)) {
		return s[len(s):]
	}
	s = s[coll.PrefixLen(s, int(start)):]
	if n >= int64(len(s)) {
		return s
	}
	return s[:coll.PrefixLen(s, int(n))]
}

func rowSubstr(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	coll, s := argColl(f, 0), a[0].Bytes()
	start, n := asInt(a[1]), int64(math.MaxInt64)
	if len(a) > 2 {
		n = asInt(a[2])
	}
	if start == 0 || n <= 0 {
		return value.Bytes(nil), nil
	}
	if start < 0 {
		chars := int64(coll.CharLen(s))
		if -start > chars || start == math.MinInt64 {
			return value.Bytes(nil), nil
		}
		start += chars
	} else {
		start--
	}
	return value.Bytes(charSlice(coll, s, start, n)), nil
}

// rowSubstringIndex is case-sensitive and compares bytes, as MySQL's is. Where delimiters
// overlap, those from the left count, but in a character set of one byte a negative
// number counts from the right.
func rowSubstringIndex(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	s, delim, n := a[0].Bytes(), a[1].Bytes(), asInt(a[2])
	if len(delim) == 0 || n == 0 {
		return value.Bytes(nil), nil
	}
	if n < 0 && collate.Must(f.T.Collation).MaxLen() == 1 {
		return afterLast(a[0], delim, n), nil
	}
	left := n > 0
	if !left {
		if n += int64(bytes.Count(s, delim)) + 1; n <= 0 {
			return a[0], nil
		}
	}
	at := 0
	for {
		i := bytes.Index(s[at:], delim)
		if i < 0 {
			return a[0], nil
		}
		if n--; n == 0 && left {
			return value.Bytes(s[:at+i]), nil
		}
		if at += i + len(delim); n == 0 {
			return value.Bytes(s[at:]), nil
		}
	}
}

// afterLast is what comes after the -n-th delimiter from the right, or all.
func afterLast(d value.Datum, delim []byte, n int64) value.Datum {
	s := d.Bytes()
	end := len(s)
	for ; ; n++ {
		i := bytes.LastIndex(s[:end], delim)
		if i < 0 {
			return d
		}
		if n == -1 {
			return value.Bytes(s[i+len(delim):])
		}
		end = i
	}
}

func rowLeft(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	n := asInt(a[1])
	if n <= 0 {
		return value.Bytes(nil), nil
	}
	return value.Bytes(charSlice(argColl(f, 0), a[0].Bytes(), 0, n)), nil
}

func rowRight(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	coll, s, n := argColl(f, 0), a[0].Bytes(), asInt(a[1])
	if n <= 0 {
		return value.Bytes(nil), nil
	}
	chars := int64(coll.CharLen(s))
	if n >= chars {
		return a[0], nil
	}
	return value.Bytes(charSlice(coll, s, chars-n, n)), nil
}

func rowLpad(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) { return pad(c, f, a, true) }
func rowRpad(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) { return pad(c, f, a, false) }

func pad(c *Ctx, f *Func, a []value.Datum, left bool) (value.Datum, error) {
	s, n, p := a[0].Bytes(), asInt(a[1]), a[2].Bytes()
	if n < 0 {
		return value.Null, nil
	}
	coll, padColl := argColl(f, 0), argColl(f, 2)
	if f.T.Collation == schema.CollationBinary { // all is counted in bytes
		coll, padColl = collate.Must(schema.CollationBinary), collate.Must(schema.CollationBinary)
	}
	chars := int64(coll.CharLen(s))
	if chars >= n {
		return value.Bytes(charSlice(coll, s, 0, n)), nil
	}
	if ok, err := c.room(f.Name, n); !ok || err != nil {
		return value.Null, err
	}
	per := int64(padColl.CharLen(p))
	if per == 0 {
		return value.Bytes(nil), nil
	}
	missing := n - chars
	whole, rest := missing/per, missing%per
	tail := charSlice(padColl, p, 0, rest)
	size := int64(len(s)) + whole*int64(len(p)) + int64(len(tail))
	if ok, err := c.room(f.Name, size); !ok || err != nil {
		return value.Null, err
	}
	out := c.scratch(int(size))
	if !left {
		out = append(out, s...)
	}
	for ; whole > 0; whole-- {
		out = append(out, p...)
	}
	out = append(out, tail...)
	if left {
		out = append(out, s...)
	}
	return value.Bytes(out), nil
}

// NewTrim is TRIM([BOTH | LEADING | TRAILING] [remove FROM] s); dir is
// "both", "leading" or "trailing", remove nil for spaces.
func NewTrim(env *BindEnv, dir string, s, remove Expr) (Expr, error) {
	name := map[string]string{"": "trim", "both": "trim", "leading": "ltrim", "trailing": "rtrim"}[strings.ToLower(dir)]
	if name == "" {
		return nil, sqlerr.WrongArguments("trim")
	}
	if remove == nil {
		return NewFunc(env, name, s)
	}
	return NewFunc(env, name, s, remove)
}

func trimArgs(f *Func, a []value.Datum) (s, remove []byte) {
	switch {
	case len(a) > 1:
		return a[0].Bytes(), a[1].Bytes()
	case argColl(f, 0).MinLen() > 1:
		return a[0].Bytes(), argColl(f, 0).ASCII(nil, " ")
	}
	return a[0].Bytes(), []byte{' '}
}

func rowTrim(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	s, r := trimArgs(f, a)
	return value.Bytes(trimRight(f, trimLeft(s, r), r)), nil
}

func rowLtrim(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	s, r := trimArgs(f, a)
	return value.Bytes(trimLeft(s, r)), nil
}

func rowRtrim(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	s, r := trimArgs(f, a)
	return value.Bytes(trimRight(f, s, r)), nil
}

func trimLeft(s, r []byte) []byte {
	for len(r) > 0 && bytes.HasPrefix(s, r) {
		s = s[len(r):]
	}
	return s
}

func trimRight(f *Func, s, r []byte) []byte {
	for coll := argColl(f, 0); len(r) > 0 && coll.EndsWith(s, r); {
		s = s[:len(s)-len(r)]
	}
	return s
}

func rowUpper(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return mapCase(c, f, a[0], true)
}
func rowLower(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return mapCase(c, f, a[0], false)
}

// letters is the number of characters that mapLetters maps between two looks at the
// statement, workOfLetter the work of a byte.
const (
	letters      = 16 << 10
	workOfLetter = 6
)

func (c *Ctx) mapLetters(coll *collate.Collation, dst, s []byte, upper bool) (value.Datum, error) {
	for len(s) > 0 {
		part := s[:coll.PrefixLen(s, letters)]
		if err := c.Work(workOfLetter * len(part)); err != nil {
			return value.Null, err
		}
		if upper {
			dst = coll.ToUpper(dst, part)
		} else {
			dst = coll.ToLower(dst, part)
		}
		s = s[len(part):]
	}
	return value.Bytes(dst), nil
}

func mapCase(c *Ctx, f *Func, d value.Datum, upper bool) (value.Datum, error) {
	s, coll := d.Bytes(), argColl(f, 0)
	if coll.ID == schema.CollationBinary {
		return d, nil
	}
	out := c.scratch(len(s) + 8)
	if !isASCII(s) {
		return c.mapLetters(coll, out, s, upper)
	}
	from, to := byte('a'), byte('z')
	if !upper {
		from, to = 'A', 'Z'
	}
	for _, b := range s {
		if b >= from && b <= to {
			b ^= 0x20
		}
		out = append(out, b)
	}
	return value.Bytes(out), nil
}

// rowReplace is case-sensitive whatever the collation.
func rowReplace(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	s, from, to := a[0].Bytes(), a[1].Bytes(), a[2].Bytes()
	if len(from) == 0 {
		return a[0], nil
	}
	n := bytes.Count(s, from)
	if n == 0 {
		return a[0], nil
	}
	if ok, err := c.room("replace", int64(len(s))+int64(n)*int64(len(to)-len(from))); !ok || err != nil {
		return value.Null, err
	}
	return value.Bytes(bytes.ReplaceAll(s, from, to)), nil
}

func rowReverse(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	s, coll := a[0].Bytes(), argColl(f, 0)
	out := c.alloc(len(s))
	at := len(s)
	for len(s) > 0 {
		n := 1
		if s[0] >= 0x80 {
			n = max(coll.PrefixLen(s, 1), 1)
		}
		at -= n
		copy(out[at:], s[:n])
		s = s[n:]
	}
	return value.Bytes(out), nil
}

func rowRepeat(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	s, n := a[0].Bytes(), asInt(a[1])
	if n <= 0 || len(s) == 0 {
		return value.Bytes(nil), nil
	}
	size := n // also where the product would not fit into 64 bits
	if n <= c.packet() {
		size = n * int64(len(s))
	}
	if ok, err := c.room("repeat", size); !ok || err != nil {
		return value.Null, err
	}
	return value.Bytes(bytes.Repeat(s, int(n))), nil
}

func rowSpace(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	n := asInt(a[0])
	if ok, err := c.room("space", n); !ok || err != nil {
		return value.Null, err
	}
	return value.Bytes(bytes.Repeat([]byte{' '}, int(max(n, 0)))), nil
}

func rowInsert(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	coll, s, pos, n, in := argColl(f, 0), a[0].Bytes(), asInt(a[1]), asInt(a[2]), a[3].Bytes()
	chars := int64(coll.CharLen(s))
	if pos <= 0 || pos > chars {
		return a[0], nil
	}
	if n < 0 || n > chars-pos+1 {
		n = chars - pos + 1
	}
	head := s[:coll.PrefixLen(s, int(pos-1))]
	tail := s[len(head):]
	tail = tail[coll.PrefixLen(tail, int(n)):]
	size := len(head) + len(in) + len(tail)
	if ok, err := c.room("insert", int64(size)); !ok || err != nil {
		return value.Null, err
	}
	out := c.scratch(size)
	out = append(out, head...)
	out = append(out, in...)
	return value.Bytes(append(out, tail...)), nil
}
