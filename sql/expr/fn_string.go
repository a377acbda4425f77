package expr

import (
	"bytes"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/sql/vec"
	"github.com/sqlots/sqlots/value"
)

// maxPacket bounds what a string function makes: longer results are NULL with
// a warning, as MySQL does beyond max_allowed_packet.
const maxPacket = 64 << 20

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
		fn("format", "ni?s", retFormat, rowFormat, nullable),
		fn("quote", "s", retText(lenQuote), rowQuote, loose|notNull),
		fn("soundex", "s", retText(lenSoundex), rowSoundex, 0),
		special("like", bindLike, def{b: Builtin{Row: rowLike, impl: impl{vec: vecLike}}}),
		fn("sounds_like", "ss", retBool, rowSoundsLike, 0),
		fn("weight_string", "s", retBinary(longText), rowWeightString, nullable),
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
func lenQuote(b *binding) int   { return min(2*textLen(b.args[0])+2, longText) }
func lenSoundex(b *binding) int { return max(textLen(b.args[0]), 4) }

func lenExportSet(b *binding) int {
	sep := 1
	if len(b.args) > 3 {
		sep = textLen(b.args[3])
	}
	return min(64*max(textLen(b.args[1]), textLen(b.args[2]))+63*sep, longText)
}

func retElt(b *binding) (schema.Type, error) {
	idx := make([]int, 0, len(b.args))
	n := 0
	for i := 1; i < len(b.args); i++ {
		idx = append(idx, i)
		n = max(n, textLen(b.args[i]))
	}
	if b.name == "make_set" {
		n = min(lenSum(b)+len(b.args), longText)
	}
	coll, err := b.agree(idx)
	b.null = b.name == "elt" || b.args[0].Nullable()
	return textType(n, coll), err
}

func retLocate(b *binding) (schema.Type, error) {
	_, err := b.agree([]int{0, 1})
	t := intType()
	t.Len = 11
	return t, err
}

func tooLong(c *Ctx, name string, n int64) bool {
	if n <= maxPacket {
		return false
	}
	c.Warning(sqlerr.PacketOverflow(name, maxPacket))
	return true
}

// argColl is the collation of argument i.
func argColl(f *Func, i int) *collate.Collation { return collate.Must(f.Args[i].Type().Collation) }

func rowConcat(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	n := 0
	for _, d := range a {
		n += len(d.Bytes())
	}
	if tooLong(c, "concat", int64(n)) {
		return value.Null, nil
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
	if tooLong(c, "concat_ws", int64(n)) {
		return value.Null, nil
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

// rowSubstringIndex is case-sensitive and compares bytes, as MySQL's is.
func rowSubstringIndex(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	s, delim, n := a[0].Bytes(), a[1].Bytes(), asInt(a[2])
	if len(delim) == 0 || n == 0 {
		return value.Bytes(nil), nil
	}
	if n > 0 {
		at := 0
		for ; n > 0; n-- {
			i := bytes.Index(s[at:], delim)
			if i < 0 {
				return a[0], nil
			}
			if n == 1 {
				return value.Bytes(s[:at+i]), nil
			}
			at += i + len(delim)
		}
	}
	end := len(s)
	for ; n < 0; n++ {
		i := bytes.LastIndex(s[:end], delim)
		if i < 0 {
			return a[0], nil
		}
		if n == -1 {
			return value.Bytes(s[i+len(delim):]), nil
		}
		end = i
	}
	return a[0], nil
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
	chars := int64(coll.CharLen(s))
	if chars >= n {
		return value.Bytes(charSlice(coll, s, 0, n)), nil
	}
	if tooLong(c, f.Name, n) {
		return value.Null, nil
	}
	per := int64(padColl.CharLen(p))
	if per == 0 {
		return value.Bytes(nil), nil
	}
	missing := n - chars
	whole, rest := missing/per, missing%per
	tail := charSlice(padColl, p, 0, rest)
	size := int64(len(s)) + whole*int64(len(p)) + int64(len(tail))
	if tooLong(c, f.Name, size) {
		return value.Null, nil
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

func trimArgs(a []value.Datum) (s, remove []byte) {
	if len(a) > 1 {
		return a[0].Bytes(), a[1].Bytes()
	}
	return a[0].Bytes(), []byte{' '}
}

func rowTrim(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	s, r := trimArgs(a)
	return value.Bytes(trimRight(f, trimLeft(s, r), r)), nil
}

func rowLtrim(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	s, r := trimArgs(a)
	return value.Bytes(trimLeft(s, r)), nil
}

func rowRtrim(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	s, r := trimArgs(a)
	return value.Bytes(trimRight(f, s, r)), nil
}

func trimLeft(s, r []byte) []byte {
	for len(r) > 0 && bytes.HasPrefix(s, r) {
		s = s[len(r):]
	}
	return s
}

// trimRight removes r from the end. In UTF-8 and 8-bit sets a suffix of bytes
// that starts with a whole character is one of characters.
func trimRight(_ *Func, s, r []byte) []byte {
	for len(r) > 0 && bytes.HasSuffix(s, r) {
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

func mapCase(c *Ctx, f *Func, d value.Datum, upper bool) (value.Datum, error) {
	s, coll := d.Bytes(), argColl(f, 0)
	if coll.ID == schema.CollationBinary {
		return d, nil
	}
	out := c.scratch(len(s) + 8)
	if !isASCII(s) {
		if upper {
			return value.Bytes(coll.ToUpper(out, s)), nil
		}
		return value.Bytes(coll.ToLower(out, s)), nil
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
	if tooLong(c, "replace", int64(len(s))+int64(n)*int64(len(to)-len(from))) {
		return value.Null, nil
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
	if n > maxPacket || tooLong(c, "repeat", n*int64(len(s))) {
		if n > maxPacket {
			tooLong(c, "repeat", n)
		}
		return value.Null, nil
	}
	return value.Bytes(bytes.Repeat(s, int(n))), nil
}

func rowSpace(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	n := asInt(a[0])
	if tooLong(c, "space", n) {
		return value.Null, nil
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
	if tooLong(c, "insert", int64(size)) {
		return value.Null, nil
	}
	out := c.scratch(size)
	out = append(out, head...)
	out = append(out, in...)
	return value.Bytes(append(out, tail...)), nil
}

func rowLocate(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	pos := int64(1)
	if len(a) > 2 {
		pos = asInt(a[2])
	}
	return locate(f, a[0].Bytes(), a[1].Bytes(), pos)
}

func rowInstr(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return locate(f, a[1].Bytes(), a[0].Bytes(), 1)
}

// locate finds needle in s from character pos (1 based) on, in the collation
// that the two agree on; 0 if it is not there.
func locate(f *Func, needle, s []byte, pos int64) (value.Datum, error) {
	coll := collate.Must(stringCollation(f.Args[:2]))
	chars := int64(coll.CharLen(s))
	if pos < 1 || pos > chars+1 {
		return value.Int(0), nil
	}
	at := coll.PrefixLen(s, int(pos-1))
	if len(needle) == 0 {
		return value.Int(pos), nil
	}
	if coll.IsBinary() || strings.HasSuffix(coll.Name, "_bin") {
		i := bytes.Index(s[at:], needle)
		if i < 0 {
			return value.Int(0), nil
		}
		return value.Int(pos + int64(coll.CharLen(s[at:at+i]))), nil
	}
	// As MySQL does, only parts of as many bytes as needle has are compared:
	// LOCATE('é', 'Hello') is 0, although é and e are equal.
	for ; pos <= chars && at+len(needle) <= len(s); pos++ {
		if part := s[at : at+len(needle)]; coll.Valid(part) && coll.Compare(part, needle) == 0 {
			return value.Int(pos), nil
		}
		at += max(coll.PrefixLen(s[at:], 1), 1)
	}
	return value.Int(0), nil
}

func rowASCII(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if s := a[0].Bytes(); len(s) > 0 {
		return value.Int(int64(s[0])), nil
	}
	return value.Int(0), nil
}

func rowOrd(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	s := a[0].Bytes()
	if len(s) == 0 {
		return value.Int(0), nil
	}
	n := 1
	if s[0] >= 0x80 {
		n = max(argColl(f, 0).PrefixLen(s, 1), 1)
	}
	v := int64(0)
	for _, b := range s[:n] {
		v = v<<8 | int64(b)
	}
	return value.Int(v), nil
}

func retChar(b *binding) (schema.Type, error) {
	b.null = false
	return textType(4*len(b.args), schema.CollationBinary), nil
}

func rowChar(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	out := c.scratch(4 * len(a))
	for _, d := range a {
		if d.IsNull() {
			continue
		}
		v := uint32(d.Bits())
		for shift := 24; shift >= 0; shift -= 8 {
			if v>>shift != 0 || shift == 0 {
				out = append(out, byte(v>>shift))
			}
		}
	}
	return value.Bytes(out), nil
}

// bindField types FIELD(x, a, b…): text if all are text, integers if all are,
// DOUBLE otherwise.
func bindField(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) < 2 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	text, ints := true, true
	for _, a := range args {
		t := a.Type()
		text = text && (t.IsString() || t.ID == schema.TypeNull)
		ints = ints && (numClassOf(t) == numInt && kindOf(a) == value.KindInt)
	}
	x := &comparison{cmpEQ, doubleType()}
	switch {
	case text:
		coll, err := agreeOn(env, name, args)
		if err != nil {
			return nil, err
		}
		x.t = types.Text(coll)
	case ints:
		x.t = intType()
	}
	out, err := castAll(env, args, x.t)
	if err != nil {
		return nil, err
	}
	t := intType()
	t.Len = 3
	return d.call(name, out, t, false, x), nil
}

func rowField(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	t := f.Extra.(*comparison).t
	if !a[0].IsNull() {
		for i, d := range a[1:] {
			if !d.IsNull() && types.Compare(a[0], d, t) == 0 {
				return value.Int(int64(i + 1)), nil
			}
		}
	}
	return value.Int(0), nil
}

func rowFindInSet(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	coll := collate.Must(stringCollation(f.Args))
	needle, list := a[0].Bytes(), a[1].Bytes()
	if len(list) == 0 || bytes.IndexByte(needle, ',') >= 0 {
		return value.Int(0), nil
	}
	for n := int64(1); ; n++ {
		item, rest, more := bytes.Cut(list, []byte{','})
		if coll.Compare(item, needle) == 0 {
			return value.Int(n), nil
		}
		if !more {
			return value.Int(0), nil
		}
		list = rest
	}
}

func rowElt(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() {
		return value.Null, nil
	}
	n := asInt(a[0])
	if n < 1 || n >= int64(len(a)) {
		return value.Null, nil
	}
	return a[n], nil
}

func rowMakeSet(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() {
		return value.Null, nil
	}
	var out []byte
	first := true
	bits := asUint(a[0])
	for i, d := range a[1:] {
		if i >= 64 || bits>>i&1 == 0 || d.IsNull() {
			continue
		}
		if !first {
			out = append(out, ',')
		}
		first = false
		out = append(out, d.Bytes()...)
	}
	return value.Bytes(out), nil
}

func rowExportSet(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	bits, on, off, sep, n := asUint(a[0]), a[1].Bytes(), a[2].Bytes(), []byte(","), int64(64)
	if len(a) > 3 {
		sep = a[3].Bytes()
	}
	if len(a) > 4 {
		if n = asInt(a[4]); n < 0 || n > 64 {
			n = 64
		}
	}
	if tooLong(c, "export_set", n*int64(max(len(on), len(off))+len(sep))) {
		return value.Null, nil
	}
	var out []byte
	for i := int64(0); i < n; i++ {
		if i > 0 {
			out = append(out, sep...)
		}
		if bits>>i&1 != 0 {
			out = append(out, on...)
		} else {
			out = append(out, off...)
		}
	}
	return value.Bytes(out), nil
}

func retFormat(b *binding) (schema.Type, error) {
	if numClassOf(b.args[0].Type()) == numInt {
		x, err := toDecimal(b.env, b.args[0])
		if err != nil {
			return schema.Type{}, err
		}
		b.args[0] = x
	}
	return textType(100, b.env.collation()), nil
}

// rowFormat is FORMAT(x, d[, locale]): thousands grouped by commas. Locales
// other than those that write numbers as en_US does are refused.
func rowFormat(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	places := int(min(max(asInt(a[1]), 0), maxScale))
	point, group := ".", ","
	if len(a) > 2 {
		switch strings.ToLower(a[2].Str()) {
		case "en_us", "en_gb", "en_au", "en_ca", "en_nz", "en_za", "zh_cn", "zh_tw", "zh_hk", "ja_jp", "ko_kr", "th_th":
		case "de_de", "es_es", "it_it", "nl_nl", "pt_br", "da_dk", "id_id", "tr_tr":
			point, group = ",", "."
			if l := strings.ToLower(a[2].Str()); l == "es_es" || l == "it_it" || l == "nl_nl" {
				group = ""
				if l == "es_es" {
					group = "."
				}
			}
		default:
			if l := a[2].Str(); len(l) != 5 || l[2] != '_' {
				c.Warning(sqlerr.UnknownLocale(l))
				break
			}
			return value.Null, sqlerr.NotSupported("FORMAT with locale " + a[2].Str())
		}
	}
	var text string
	if a[0].Kind() == value.KindFloat {
		text = strconv.FormatFloat(roundFloat(a[0].Float(), int64(places)), 'f', places, 64)
	} else {
		d := a[0].Decimal()
		text = d.Round(places).Rescale(places).String()
	}
	return value.String(groupDigits(text, point, group)), nil
}

func groupDigits(text, point, group string) string {
	sign := ""
	if strings.HasPrefix(text, "-") {
		sign, text = "-", text[1:]
	}
	whole, frac, hasFrac := strings.Cut(text, ".")
	var b strings.Builder
	b.WriteString(sign)
	for i, d := range whole {
		if i > 0 && (len(whole)-i)%3 == 0 {
			b.WriteString(group)
		}
		b.WriteRune(d)
	}
	if hasFrac {
		b.WriteString(point + frac)
	}
	return b.String()
}

func rowQuote(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() {
		return value.String("NULL"), nil
	}
	s := a[0].Bytes()
	out := append(c.scratch(2*len(s)+2), '\'')
	for _, b := range s {
		switch b {
		case '\\', '\'':
			out = append(out, '\\', b)
		case 0:
			out = append(out, '\\', '0')
		case 0x1a:
			out = append(out, '\\', 'Z')
		default:
			out = append(out, b)
		}
	}
	return value.Bytes(append(out, '\'')), nil
}

// soundexCodes of the letters a to z; 0 for vowels and the like.
const soundexCodes = "01230120022455012623010202"

func soundex(s []byte) []byte {
	var out []byte
	last := byte(0)
	for len(s) > 0 {
		r, n := utf8.DecodeRune(s)
		s = s[n:]
		code := byte('0')
		switch {
		case r >= 'a' && r <= 'z':
			r -= 'a' - 'A'
			code = soundexCodes[r-'A']
		case r >= 'A' && r <= 'Z':
			code = soundexCodes[r-'A']
		case r < 0xC0:
			continue
		}
		if len(out) == 0 {
			out = utf8.AppendRune(out, r)
			last = code
			continue
		}
		if code != '0' && code != last {
			out = append(out, code)
		}
		if code != '0' {
			last = code
		}
	}
	if len(out) == 0 {
		return out
	}
	for len(out) < 4 {
		out = append(out, '0')
	}
	return out
}

func rowSoundex(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	return value.Bytes(soundex(a[0].Bytes())), nil
}

func rowSoundsLike(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	return value.Bool(bytes.Equal(soundex(a[0].Bytes()), soundex(a[1].Bytes()))), nil
}

func rowWeightString(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return value.Bytes(argColl(f, 0).AppendKey(nil, a[0].Bytes())), nil
}

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

// LikeCollation is the collation of a call of LIKE.
func LikeCollation(f *Func) (schema.CollationID, bool) {
	s, ok := f.Extra.(*likeSpec)
	if !ok {
		return 0, false
	}
	return s.coll, true
}

type likeMatcher struct {
	pattern string
	escape  rune
	match   func([]byte) bool
}

func rowLike(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() || a[1].IsNull() {
		return value.Null, nil
	}
	m, err := c.likeMatcher(f, a)
	if err != nil {
		return value.Null, err
	}
	return value.Bool(m.match(a[0].Bytes())), nil
}

// likeMatcher compiles pattern and escape, a[1] and a[2], unless those of the
// call before were the same.
func (c *Ctx) likeMatcher(f *Func, a []value.Datum) (*likeMatcher, error) {
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
			return nil, sqlerr.WrongArguments("ESCAPE")
		}
	}
	m, _ := c.cache[f].(*likeMatcher)
	if m == nil || m.escape != escape || m.pattern != string(a[1].Bytes()) {
		pattern := append([]byte(nil), a[1].Bytes()...)
		m = &likeMatcher{string(pattern), escape, collate.Must(f.Extra.(*likeSpec).coll).NewLike(pattern, escape)}
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
	eachRow(in, &v.Nulls, func(i int) { out.I64[i] = int64(b2i(m.match(v.Bytes[i]))) })
	return out, nil
}
