package expr

import (
	"bytes"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

func lenQuote(b *binding) int   { return min(2*textLen(b.args[0])+2, longText) }
func lenSoundex(b *binding) int { return max(textLen(b.args[0]), 4) }

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

// rowFormat is FORMAT(x, d[, locale]); an unknown locale warns and is en_US.
func rowFormat(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if a[0].IsNull() || a[1].IsNull() {
		return value.Null, nil
	}
	places := int(min(max(asInt(a[1]), 0), maxScale))
	l := defaultLocale()
	if len(a) > 2 {
		name := "NULL"
		if !a[2].IsNull() {
			name = a[2].Str()
		}
		if named, ok := locales()[strings.ToLower(name)]; ok {
			l = named
		} else {
			c.Warning(sqlerr.UnknownLocale(name))
		}
	}
	if a[0].Kind() == value.KindFloat {
		return value.String(l.number(strconv.FormatFloat(roundFloat(a[0].Float(), int64(places)), 'f', places, 64))), nil
	}
	d := a[0].Decimal()
	return value.String(l.number(d.Round(places).Rescale(places).String())), nil
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
	for n := utf8.RuneCount(out); n < 4; n++ {
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

// WEIGHT_STRING(s AS CHAR(n)) and AS BINARY(n) are calls with the words CHAR
// or BINARY and n as further arguments.
func retWeightString(b *binding) (schema.Type, error) {
	if len(b.args) == 2 {
		return schema.Type{}, wrongCount(b.name)
	}
	return textType(longText, schema.CollationBinary), nil
}

// rowWeightString: with CHAR(n) the text is cut, or filled with spaces for PAD
// SPACE collations; with BINARY(n) its bytes are, with zero bytes.
func rowWeightString(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	coll, s := argColl(f, 0), a[0].Bytes()
	if len(a) < 3 {
		w, err := coll.WeightStringUntil(s, c.weigh)
		return value.Bytes(w), err
	}
	n := asInt(a[2])
	if n < 0 {
		return value.Null, nil
	}
	if ok, err := c.room(f.Name, n); !ok || err != nil {
		return value.Null, err
	}
	if strings.EqualFold(a[1].Str(), "binary") {
		s = bytes.Clone(s[:min(n, int64(len(s)))])
		return value.Bytes(append(s, make([]byte, int(n)-len(s))...)), nil
	}
	return c.filledWeights(f, coll, charSlice(coll, s, 0, n), int(n))
}

// filledWeights is the WEIGHT_STRING of s, filled as if it had so many characters.
func (c *Ctx) filledWeights(f *Func, coll *collate.Collation, s []byte, chars int) (value.Datum, error) {
	space, n, err := coll.FillUntil(s, chars, c.weigh)
	if err != nil {
		return value.Null, err
	}
	w, err := coll.WeightStringUntil(s, c.weigh)
	if err != nil {
		return value.Null, err
	}
	size := len(w) + n*len(space)
	if ok, err := c.room(f.Name, int64(size)); !ok || err != nil {
		return value.Null, err
	}
	w = slices.Grow(w, size-len(w))
	for range n {
		w = append(w, space...)
	}
	return value.Bytes(w), nil
}
