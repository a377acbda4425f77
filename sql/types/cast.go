package types

import (
	"strconv"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// Cast converts inside expressions: CAST, CONVERT and what MySQL converts by
// itself. NULL stays NULL; what is no date or time becomes NULL with a warning.
// The result is of kind KindOf(to); it may share bytes with d.
//
// DECIMAL values get at most the digits after the point that to has, not always
// exactly as many. Strings are cut to the length of to where it has one (Len >
// 0), BINARY(n) is padded with zero bytes.
func Cast(env *Env, d value.Datum, from, to schema.Type) (value.Datum, error) {
	if d.IsNull() {
		return d, nil
	}
	switch KindOf(to) {
	case value.KindInt:
		if d.Kind() == value.KindInt {
			return d, nil
		}
		n, err := ToInt(env, d, from)
		return value.Int(n), err
	case value.KindUint:
		return castUint(env, d, from, to)
	case value.KindFloat:
		return castFloat(env, d, from, to)
	case value.KindDecimal:
		return castDecimal(env, d, from, to)
	case value.KindTime:
		return castTime(env, d, from, to)
	case value.KindDuration:
		r, st, ok := toDuration(env, d, from)
		r = roundDuration(env, r, fspOf(to))
		if (st&^timeNote != 0 || !ok) && !env.silent() {
			if err := env.timeWarning(ok, "time", d, from); err != nil {
				return value.Null, err
			}
		}
		if !ok {
			return value.Null, nil
		}
		return value.DurationOf(r), nil
	case value.KindJSON:
		return castJSON(env, d, from)
	case value.KindBytes:
		return castText(env, d, from, to)
	}
	return value.Null, nil
}

func castUint(env *Env, d value.Datum, from, to schema.Type) (value.Datum, error) {
	if isListType(to) || to.ID == schema.TypeYear || to.ID == schema.TypeBit {
		if from.ID == to.ID && (!isListType(to) || sameElems(from, to)) {
			return d, nil
		}
		// As an assignment that never fails.
		e := Env{}
		if env != nil {
			e = *env
		}
		e.Write, e.Ignore, e.Warn = false, true, nil
		return Store(&e, d, from, &schema.Column{Type: to, Nullable: true}, 0)
	}
	if d.Kind() == value.KindUint {
		return d, nil
	}
	n, err := ToUint(env, d, from)
	return value.Uint(n), err
}

func castFloat(env *Env, d value.Datum, from, to schema.Type) (value.Datum, error) {
	f, err := ToFloat(env, d, from)
	if to.ID == schema.TypeFloat {
		f = float64(float32(f))
	}
	if isFixedFloat(to) {
		f = roundFloat(f, to.Scale)
	}
	return value.Float(f), err
}

func castDecimal(env *Env, d value.Datum, from, to schema.Type) (value.Datum, error) {
	dec, err := ToDecimal(env, d, from)
	if err != nil {
		return value.Null, err
	}
	if to.Scale >= 0 && dec.Scale() > to.Scale {
		dec = dec.Rescale(to.Scale)
	}
	if to.Len > 0 && !dec.Fits(to.Len, max(to.Scale, 0)) {
		err = env.bad(sqlerr.OutOfRange(CastColumnName(d, from, to), 1))
		neg := dec.Sign() < 0
		if dec = value.MaxDecimal(to.Len, max(to.Scale, 0)); neg {
			dec = dec.Neg()
		}
	} else if d.Kind() == value.KindDecimal && dec.Scale() == d.Decimal().Scale() {
		return d, err
	}
	return value.Dec(dec), err
}

// CastColumnName is how messages name a cast, which is no column.
func CastColumnName(d value.Datum, from, to schema.Type) string {
	return "CAST(" + errText(textOf(from, d)) + " AS DECIMAL(" + strconv.Itoa(to.Len) + "," + strconv.Itoa(max(to.Scale, 0)) + "))"
}

func castTime(env *Env, d value.Datum, from, to schema.Type) (value.Datum, error) {
	r, st, ok := toTime(env, d, from, env.castTimeFlags(d))
	if ok {
		if to.ID == schema.TypeDate {
			r = r.Date()
		} else if r, ok = roundTime(env, r, fspOf(to)); !ok {
			st |= timeOutOfRange
		}
	}
	if (st&^timeNote != 0 || !ok) && !env.silent() {
		if err := env.timeWarning(ok, timeKind(to.ID), d, from); err != nil {
			return value.Null, err
		}
	}
	if !ok {
		return value.Null, nil
	}
	return value.TimeOf(r), nil
}

// ZeroRefused reports a zero date, or one with zero parts, that sql_mode does
// not let CAST give.
func ZeroRefused(env *Env, t value.Time) bool {
	if t.IsZero() {
		return env.Mode&ModeNoZeroDate != 0
	}
	return t.HasZeroPart() && env.Mode&ModeNoZeroInDate != 0
}

// castTimeFlags accepts what a time value already is: zero dates that are in a
// table stay what they are whatever sql_mode says now.
func (env *Env) castTimeFlags(d value.Datum) value.TimeFlags {
	if d.Kind() == value.KindTime {
		return value.AllowZeroDate | value.AllowZeroInDate | value.AllowInvalidDates
	}
	return env.timeFlags()
}

func castJSON(env *Env, d value.Datum, from schema.Type) (value.Datum, error) {
	if d.Kind() == value.KindBytes && !from.IsBinary() && from.ID != schema.TypeGeometry {
		doc, err := value.ParseJSONWith(numericText(d.Bytes(), from), env.work())
		if err != nil {
			return value.Null, jsonArgumentError(err, 1, "cast_as_json")
		}
		return value.JSONOf(doc), nil
	}
	doc, err := ToJSON(env, d, from)
	return value.JSONOf(doc), err
}

// jsonArgumentError is 3141 of a parse error, 3157 of a document too deep, 1301 of one
// too large.
func jsonArgumentError(err error, arg int, function string) error {
	if e, ok := err.(*value.JSONSyntaxError); ok {
		return sqlerr.InvalidJSONArgument(arg, function, e.Msg, e.Pos)
	}
	switch err {
	case value.ErrJSONDepth:
		return sqlerr.JSONDocumentTooDeep()
	case value.ErrJSONSize:
		return sqlerr.PacketOverflow(function, value.MaxJSONSize)
	}
	return err // of Env.Work
}

func castText(env *Env, d value.Datum, from, to schema.Type) (value.Datum, error) {
	s, err := ToText(env, d, from)
	if err != nil {
		return value.Null, err
	}
	same := d.Kind() == value.KindBytes
	if from.Collation != to.Collation && from.Collation != schema.CollationNone && to.Collation != schema.CollationNone {
		out, err := convertCharset(env, s, textCollation(from, d), to.Collation)
		if err != nil || out == nil && len(s) > 0 {
			return value.Null, err
		}
		same = same && len(out) == len(s) && (len(s) == 0 || &out[0] == &s[0])
		s = out
	}
	if to.Len > 0 && (to.ID == schema.TypeChar || to.ID == schema.TypeVarchar || to.ID == schema.TypeBinary || to.ID == schema.TypeVarbinary) {
		return cutText(env, s, to)
	}
	if same {
		return d, nil
	}
	return value.Bytes(s), nil
}

// textCollation is the collation of the text of d: that of t for strings and
// names, utf8mb4 (ASCII) for numbers and times.
func textCollation(t schema.Type, d value.Datum) schema.CollationID {
	if d.Kind() == value.KindBytes || isListType(t) {
		return t.Collation
	}
	if t.ID == schema.TypeBit {
		return schema.CollationBinary
	}
	return schema.CollationUTF8MB4Bin
}

// convertCharset brings s into the character set of a collation. Characters
// that it does not have become '?' with a warning; binary strings that are not
// valid in it give nil and a warning.
func convertCharset(env *Env, s []byte, from, to schema.CollationID) ([]byte, error) {
	c, d := collate.Must(from), collate.Must(to)
	if from == schema.CollationBinary && to != schema.CollationBinary {
		s = d.FillLeft(s)
		if !d.Valid(s) {
			return nil, env.bad(sqlerr.InvalidCharacterString(d.Charset, hexText(s[d.ValidPrefix(s):], 6)))
		}
		return s, nil
	}
	if !c.NeedsConversion(s, d) {
		return s, nil
	}
	out, _ := c.Convert(make([]byte, 0, len(s)), s, d)
	return out, nil
}

// hexText is bytes in messages about bad strings: the first n, bytes beyond
// ASCII as \xHH.
func hexText(s []byte, n int) string {
	const hex = "0123456789ABCDEF"
	var out []byte
	for i, b := range s {
		if i == n {
			out = append(out, "..."...)
			break
		}
		if b >= 0x80 || b < ' ' {
			out = append(out, '\\', 'x', hex[b>>4], hex[b&15])
		} else {
			out = append(out, b)
		}
	}
	return string(out)
}

func cutText(env *Env, s []byte, to schema.Type) (value.Datum, error) {
	c := collate.Must(to.Collation)
	n := c.PrefixLen(s, to.Len)
	if n < len(s) {
		name := "CHAR(" + strconv.Itoa(to.Len) + ")"
		if to.IsBinary() {
			name = "BINARY(" + strconv.Itoa(to.Len) + ")"
		}
		err := env.truncated(name, s)
		return value.Bytes(s[:n:n]), err
	}
	if to.ID == schema.TypeBinary && len(s) < to.Len {
		s = append(make([]byte, 0, to.Len), s...)[:to.Len]
	}
	return value.Bytes(s), nil
}
