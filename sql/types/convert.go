package types

import (
	"math"
	"math/bits"
	"strconv"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// The conversions of expressions. Their operand is not NULL. Strings give the
// longest prefix that fits and a warning 1292 for the rest; numbers out of
// range give the nearest one. While values for a table are computed (Env.Write)
// in strict mode, the warnings are errors.

// ToInt converts to BIGINT. A string counts up to the first character that is
// no digit; other numbers are rounded.
func ToInt(env *Env, d value.Datum, t schema.Type) (int64, error) {
	switch d.Kind() {
	case value.KindInt:
		return d.Int(), nil
	case value.KindUint:
		return int64(d.Uint()), nil
	case value.KindFloat:
		n, ok := floatToInt(d.Float())
		if !ok {
			return n, env.truncated("INTEGER", FormatFloat(nil, d.Float(), false))
		}
		return n, nil
	case value.KindDecimal:
		n, ok := d.Decimal().Int64()
		if !ok {
			return n, env.truncated("DECIMAL", d.Decimal().AppendText(nil))
		}
		return n, nil
	case value.KindBytes:
		return textToInt(env, d.Bytes(), t)
	case value.KindTime:
		r, _ := roundTime(env, d.Time(), 0)
		return timeNumber(r, t.ID == schema.TypeDate), nil
	case value.KindDuration:
		return durationNumber(roundDuration(env, d.Duration(), 0)), nil
	case value.KindJSON:
		if s, st, ok := JSONScalar(d.Bytes()); ok {
			return ToInt(env, s, st)
		}
		return 0, env.badJSON("INTEGER")
	}
	return 0, nil
}

func textToInt(env *Env, s []byte, t schema.Type) (int64, error) {
	p := parseIntPrefix(numericText(s, t))
	n := int64(p.mag)
	switch {
	case p.neg && (p.overflow || p.mag > 1<<63):
		return math.MinInt64, env.truncated("INTEGER", s)
	case p.neg:
		n = -n
	case p.overflow: // the bits of the largest unsigned integer
		return -1, env.truncated("INTEGER", s)
	}
	if !p.clean {
		return n, env.truncated("INTEGER", s)
	}
	if !p.neg && p.mag > math.MaxInt64 && !env.silent() {
		env.Warning(sqlerr.Unknown("Cast to signed converted positive out-of-range integer to its negative complement"))
	}
	return n, nil
}

// numericText is s with one byte per character, for strings in UTF-16 and the
// like.
func numericText(s []byte, t schema.Type) []byte {
	if t.Collation == schema.CollationBinary || t.Collation == schema.CollationUTF8MB40900AICI || t.Collation == schema.CollationUTF8MB4Bin {
		return s
	}
	c, ok := collate.Lookup(t.Collation)
	if !ok || len(s) == 0 {
		return s
	}
	utf8mb4 := collate.Must(schema.CollationUTF8MB4Bin)
	if !c.NeedsConversion(s, utf8mb4) {
		return s
	}
	out, _ := c.Convert(nil, s, utf8mb4)
	return out
}

// ToUint converts to BIGINT UNSIGNED. Negative integers wrap around, as in
// CAST(-1 AS UNSIGNED).
func ToUint(env *Env, d value.Datum, t schema.Type) (uint64, error) {
	switch d.Kind() {
	case value.KindInt, value.KindUint:
		return d.Bits(), nil
	case value.KindFloat:
		f := d.Float()
		if f < 0 {
			n, err := ToInt(env, d, t)
			return uint64(n), err
		}
		n, ok := floatToUint(f)
		if !ok {
			return n, env.truncated("INTEGER", FormatFloat(nil, f, false))
		}
		return n, nil
	case value.KindDecimal:
		n, ok := d.Decimal().Uint64()
		if !ok {
			return n, env.truncated("DECIMAL", d.Decimal().AppendText(nil))
		}
		return n, nil
	case value.KindBytes:
		return textToUint(env, d.Bytes(), t)
	case value.KindJSON:
		if s, st, ok := JSONScalar(d.Bytes()); ok {
			return ToUint(env, s, st)
		}
		return 0, env.badJSON("INTEGER")
	}
	n, err := ToInt(env, d, t)
	return uint64(n), err
}

func textToUint(env *Env, s []byte, t schema.Type) (uint64, error) {
	p := parseIntPrefix(numericText(s, t))
	n := p.mag
	if p.neg {
		if p.overflow || p.mag > 1<<63 {
			return 1 << 63, env.truncated("INTEGER", s)
		}
		n = -n
	}
	if p.overflow || !p.clean {
		return n, env.truncated("INTEGER", s)
	}
	if p.neg && n != 0 && !env.silent() {
		env.Warning(sqlerr.Unknown("Cast to unsigned converted negative integer to its positive complement"))
	}
	return n, nil
}

// ToFloat converts to DOUBLE.
func ToFloat(env *Env, d value.Datum, t schema.Type) (float64, error) {
	switch d.Kind() {
	case value.KindInt:
		return float64(d.Int()), nil
	case value.KindUint:
		return float64(d.Uint()), nil
	case value.KindFloat:
		return d.Float(), nil
	case value.KindDecimal:
		return d.Decimal().Float64(), nil
	case value.KindBytes:
		s := numericText(d.Bytes(), t)
		f, n, over := floatPrefix(s)
		if over || n == 0 || !onlySpaces(s[n:]) {
			return f, env.truncated("DOUBLE", s)
		}
		return f, nil
	case value.KindTime:
		n := timeNumber(d.Time(), t.ID == schema.TypeDate)
		return float64(n) + float64(d.Time().Micro())/1e6, nil
	case value.KindDuration:
		return durationDecimal(d.Duration()).Float64(), nil
	case value.KindJSON:
		if s, st, ok := JSONScalar(d.Bytes()); ok {
			return ToFloat(env, s, st)
		}
		return 0, env.badJSON("DOUBLE")
	}
	return 0, nil
}

// ToDecimal converts to DECIMAL, exactly where that is possible.
func ToDecimal(env *Env, d value.Datum, t schema.Type) (value.Decimal, error) {
	switch d.Kind() {
	case value.KindInt:
		return value.DecimalFromInt(d.Int()), nil
	case value.KindUint:
		return value.DecimalFromUint(d.Uint()), nil
	case value.KindFloat:
		dec, err := value.DecimalFromFloat(d.Float())
		if err != nil {
			return dec, env.truncated("DECIMAL", FormatFloat(nil, d.Float(), false))
		}
		return dec, nil
	case value.KindDecimal:
		return d.Decimal(), nil
	case value.KindBytes:
		s := numericText(d.Bytes(), t)
		dec, n, over := decimalPrefix(s)
		if over || n == 0 || !onlySpaces(s[n:]) {
			return dec, env.truncated("DECIMAL", s)
		}
		return dec, nil
	case value.KindTime:
		return timeDecimal(d.Time(), t), nil
	case value.KindDuration:
		dec := durationDecimal(d.Duration())
		return dec.Rescale(fspOf(t)), nil
	case value.KindJSON:
		if s, st, ok := JSONScalar(d.Bytes()); ok {
			return ToDecimal(env, s, st)
		}
		return value.Decimal{}, env.badJSON("DECIMAL")
	}
	return value.Decimal{}, nil
}

func timeDecimal(t value.Time, typ schema.Type) value.Decimal {
	n := timeNumber(t, typ.ID == schema.TypeDate)
	fsp := fspOf(typ)
	if fsp == 0 {
		return value.DecimalFromInt(n)
	}
	hi, lo := bits.Mul64(uint64(n), 1000000)
	lo, carry := bits.Add64(lo, uint64(t.Micro()), 0)
	return value.DecimalFromInt128(int64(hi+carry), lo, 6).Rescale(fsp)
}

func durationDecimal(d value.Duration) value.Decimal {
	n := durationNumber(d)*1000000 + int64(d)%1000000
	return value.DecimalFromInt128(n>>63, uint64(n), 6)
}

// ToText converts to a character string: numbers and times in ASCII, strings
// unchanged (in the character set of t). The result may share bytes with d.
func ToText(env *Env, d value.Datum, t schema.Type) ([]byte, error) {
	if d.Kind() == value.KindBytes {
		return d.Bytes(), nil
	}
	if work := env.work(); work != nil && d.Kind() == value.KindJSON {
		return value.AppendJSONTextUntil(nil, d.Bytes(), work)
	}
	return AppendText(nil, t, d), nil
}

// JSONScalar is a scalar of a JSON document as a value with its type; false
// for null, arrays and objects.
func JSONScalar(doc []byte) (value.Datum, schema.Type, bool) {
	d, ok := value.JSONScalar(doc)
	if !ok || d.IsNull() {
		return d, Null, false
	}
	switch d.Kind() {
	case value.KindInt:
		return d, BigInt, true
	case value.KindUint:
		return d, UBigInt, true
	case value.KindFloat:
		return d, Double, true
	case value.KindDecimal:
		return d, DecimalOf(value.MaxDecimalDigits, d.Decimal().Scale()), true
	case value.KindTime:
		if value.JSONType(doc) == "DATE" {
			return d, Date, true
		}
		return d, DatetimeOf(6), true
	case value.KindDuration:
		return d, TimeOf(6), true
	}
	return d, Text(schema.CollationUTF8MB4Bin), true
}

// badJSON is warning 3156.
func (env *Env) badJSON(kind string) error {
	if env.silent() {
		return nil
	}
	return env.bad(sqlerr.InvalidJSONCastOperand(kind))
}

// ToJSON makes a JSON document of a value: strings become JSON strings. (CAST
// to JSON, which reads strings as JSON text, is Cast.)
func ToJSON(_ *Env, d value.Datum, t schema.Type) ([]byte, error) {
	switch d.Kind() {
	case value.KindJSON:
		return d.Bytes(), nil
	case value.KindInt:
		return value.JSONInt(d.Int()), nil
	case value.KindUint:
		return uintToJSON(d, t), nil
	case value.KindFloat:
		if t.ID == schema.TypeFloat {
			// The digits that are shown, not those that single precision has.
			f, _ := strconv.ParseFloat(string(FormatFloat(nil, d.Float(), true)), 64)
			return value.JSONDouble(f), nil
		}
		return value.JSONDouble(d.Float()), nil
	case value.KindDecimal:
		dec := d.Decimal()
		if t.ID == schema.TypeDecimal && t.Scale >= 0 {
			dec = dec.Rescale(t.Scale)
		}
		return value.JSONDecimal(dec), nil
	case value.KindTime:
		if t.ID == schema.TypeDate {
			return value.JSONDate(d.Time()), nil
		}
		return value.JSONDatetime(d.Time()), nil
	case value.KindDuration:
		return value.JSONTime(d.Duration()), nil
	case value.KindBytes:
		if t.ID == schema.TypeGeometry {
			return geometryToJSON(d.Bytes())
		}
		return textToJSON(d.Bytes(), t), nil
	}
	return value.JSONNull(), nil
}

// Field types of opaque JSON values, as in the protocol.
const (
	fieldTypeYear     = 13
	fieldTypeBit      = 16
	fieldTypeLongBlob = 251
	fieldTypeBlob     = 252
	fieldTypeVarchar  = 15
	fieldTypeString   = 254
)

func uintToJSON(d value.Datum, t schema.Type) []byte {
	switch t.ID {
	case schema.TypeEnum, schema.TypeSet:
		return textToJSON(AppendText(nil, t, d), t)
	case schema.TypeBit:
		return value.JSONOpaque(fieldTypeBit, AppendText(nil, t, d))
	case schema.TypeYear:
		return value.JSONOpaque(fieldTypeYear, AppendText(nil, t, d))
	}
	return value.JSONUint(d.Uint())
}

func textToJSON(s []byte, t schema.Type) []byte {
	switch t.ID {
	case schema.TypeBinary:
		return value.JSONOpaque(fieldTypeString, s)
	case schema.TypeVarbinary:
		return value.JSONOpaque(fieldTypeVarchar, s)
	case schema.TypeTinyBlob, schema.TypeBlob, schema.TypeMediumBlob:
		return value.JSONOpaque(fieldTypeBlob, s)
	case schema.TypeLongBlob:
		return value.JSONOpaque(fieldTypeLongBlob, s)
	}
	return value.JSONString(numericText(s, t))
}

// NumberAsTime is the date and time that a number of the form YYYYMMDD, YYMMDD,
// YYYYMMDDHHMMSS or YYMMDDHHMMSS stands for, also with parts that are zero and days
// that the month does not have: then valid is false. What has digits below the
// microsecond is none.
func NumberAsTime(d value.Datum) (t value.Time, valid, ok bool) {
	switch d.Kind() {
	case value.KindInt, value.KindUint, value.KindFloat:
	case value.KindDecimal:
		if dec := d.Decimal(); dec.Cmp(dec.Round(6)) != 0 {
			return 0, false, false
		}
	default:
		return 0, false, false
	}
	t, _, ok = toTime(&Env{}, d, schema.Type{}, value.AllowZeroDate|value.AllowZeroInDate|value.AllowInvalidDates)
	return t, ok && checkDate(t, 0) == 0, ok
}

// FullTimeNumber is the number of a time as a DATETIME column gives it, or one of
// type DATE, without its microseconds.
func FullTimeNumber(t value.Time, date bool) int64 { return timeNumber(t, date) }

// toTime is ToTime without warnings.
func toTime(env *Env, d value.Datum, t schema.Type, flags value.TimeFlags) (value.Time, timeStatus, bool) {
	switch d.Kind() {
	case value.KindTime:
		r := d.Time()
		if st := checkDate(r, flags); st != 0 {
			return 0, st, false
		}
		return r, 0, true
	case value.KindDuration:
		// A time of day is one of the current day.
		now := value.FromGo(env.now().In(env.loc())).Date()
		r, ok := now.AddMicros(int64(d.Duration()))
		return r, 0, ok
	case value.KindBytes:
		return parseDatetime(env, numericText(d.Bytes(), t), flags)
	case value.KindJSON:
		if s, st, ok := JSONScalar(d.Bytes()); ok {
			return toTime(env, s, st, flags)
		}
		return 0, timeTruncated, false
	case value.KindUint:
		if t.ID == schema.TypeEnum || t.ID == schema.TypeSet {
			return parseDatetime(env, AppendText(nil, t, d), flags)
		}
		if t.ID == schema.TypeYear {
			return numberToTime(int64(d.Uint())*10000, 0, flags)
		}
	}
	n, micros, ok := splitNumber(d)
	if !ok || n < 0 {
		return 0, timeOutOfRange, false
	}
	return numberToTime(n, micros, flags)
}

// splitNumber is a number as integer part and microseconds.
func splitNumber(d value.Datum) (n int64, micros int, ok bool) {
	switch d.Kind() {
	case value.KindInt:
		return d.Int(), 0, true
	case value.KindUint:
		return int64(d.Uint()), 0, d.Uint() <= math.MaxInt64
	}
	dec := value.Decimal{}
	if d.Kind() == value.KindDecimal {
		dec = d.Decimal()
	} else {
		var err error
		if dec, err = value.DecimalFromFloat(d.Float()); err != nil {
			return 0, 0, false
		}
	}
	dec = dec.Round(6)
	whole := dec.Truncate(0)
	n, ok = whole.Int64()
	us, _ := dec.Sub(whole).Mul(value.DecimalFromInt(1000000)).Int64()
	return n, int(us), ok
}

// timeWarning is 1292: the text has no value, or more text follows it. In MySQL's
// words what is no date is an incorrect datetime, and times are always truncated.
func (env *Env) timeWarning(ok bool, kind string, d value.Datum, t schema.Type) error {
	s := errText(textOf(t, d))
	if !ok && kind != "time" {
		return env.bad(sqlerr.IncorrectTemporal("datetime", s))
	}
	return env.bad(sqlerr.TruncatedWrongValue(kind, s))
}

// ParseTime reads a date or date with time, in any of MySQL's forms, as type
// to: DATE, DATETIME or TIMESTAMP with its digits of the second. It warns, and
// reports false for what is no date.
func ParseTime(env *Env, s []byte, to schema.Type) (value.Time, bool, error) {
	r, st, ok := parseDatetime(env, s, env.timeFlags())
	if ok {
		if to.ID == schema.TypeDate {
			r = r.Date()
		} else if r, ok = roundTime(env, r, fspOf(to)); !ok {
			st |= timeOutOfRange
		}
	}
	if st&^timeNote == 0 && ok || env.silent() {
		return r, ok, nil
	}
	return r, ok, env.timeWarning(ok, timeKind(to.ID), value.Bytes(s), Text(schema.CollationUTF8MB4Bin))
}

// ParseDuration reads a time with fsp digits of the second. It warns, and
// reports false for what is no time.
func ParseDuration(env *Env, s []byte, fsp int) (value.Duration, bool, error) {
	r, st, ok := parseDuration(env, s)
	r = roundDuration(env, r, fsp)
	if st&^timeNote == 0 && ok || env.silent() {
		return r, ok, nil
	}
	return r, ok, env.timeWarning(ok, "time", value.Bytes(s), Text(schema.CollationUTF8MB4Bin))
}

// toDuration is ToDuration without warnings.
func toDuration(env *Env, d value.Datum, t schema.Type) (value.Duration, timeStatus, bool) {
	switch d.Kind() {
	case value.KindDuration:
		return d.Duration(), 0, true
	case value.KindTime:
		var st timeStatus
		if !d.Time().Date().IsZero() {
			st = timeNote
		}
		return d.Time().TimeOfDay(), st, true
	case value.KindBytes:
		return parseDuration(env, numericText(d.Bytes(), t))
	case value.KindJSON:
		if s, st, ok := JSONScalar(d.Bytes()); ok {
			return toDuration(env, s, st)
		}
		return 0, timeTruncated, false
	case value.KindUint:
		if t.ID == schema.TypeEnum || t.ID == schema.TypeSet {
			return parseDuration(env, AppendText(nil, t, d))
		}
	}
	n, micros, ok := splitNumber(d)
	if !ok {
		return value.MaxDuration, timeOutOfRange, true
	}
	return numberToDuration(n, micros)
}
