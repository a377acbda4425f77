package types

import (
	"bytes"
	"math"

	"github.com/sqlots/sqlots/collate"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// Store converts d, a value of type from, to what column col keeps; row is the
// number of the row in messages, from 1. In strict mode a value that does not
// fit is an error; otherwise, and with IGNORE, the nearest value is stored and
// a warning given. NULL in a NOT NULL column is 1048 (a warning and the
// implicit default outside of strict mode).
//
// The result is of kind KindOf(col.Type) and normal: DECIMAL has exactly the
// scale of the column, CHAR no trailing spaces, BINARY its full length,
// TIMESTAMP is in the session's zone. It may share bytes with d.
func Store(env *Env, d value.Datum, from schema.Type, col *schema.Column, row int) (value.Datum, error) {
	s := storer{env: env, col: col, row: row}
	if d.IsNull() {
		if col.Nullable {
			return d, nil
		}
		if col.Type.ID == schema.TypeGeometry { // there is no other value to take
			return value.Null, sqlerr.ColumnCannotBeNull(col.Name)
		}
		if err := s.fail(sqlerr.ColumnCannotBeNull(col.Name)); err != nil {
			return value.Null, err
		}
		return ImplicitDefault(col.Type), nil
	}
	t := col.Type
	switch {
	case t.IsInteger():
		return s.integer(d, from)
	case t.IsFloat():
		return s.float(d, from)
	case t.ID == schema.TypeDecimal:
		return s.decimal(d, from)
	case t.IsCharacter():
		return s.character(d, from)
	case t.IsBinary():
		return s.binary(d, from)
	case t.HasDate():
		return s.datetime(d, from)
	}
	switch t.ID {
	case schema.TypeTime:
		return s.duration(d, from)
	case schema.TypeBit:
		return s.bit(d, from)
	case schema.TypeYear:
		return s.year(d, from)
	case schema.TypeEnum:
		return s.enum(d, from)
	case schema.TypeSet:
		return s.set(d, from)
	case schema.TypeJSON:
		d, err := s.json(d, from)
		if err == nil && col.Attributes {
			return s.attributes(d)
		}
		return d, err
	case schema.TypeGeometry:
		return s.geometry(d, from)
	}
	return value.Null, sqlerr.NotSupported("values of type " + t.String())
}

// ImplicitDefault is the value that MySQL stores in a NOT NULL column without
// a default: zero, the empty string, the first member of an ENUM.
func ImplicitDefault(t schema.Type) value.Datum {
	switch KindOf(t) {
	case value.KindInt:
		return value.Int(0)
	case value.KindUint:
		if t.ID == schema.TypeEnum {
			return value.Uint(1)
		}
		return value.Uint(0)
	case value.KindFloat:
		return value.Float(0)
	case value.KindDecimal:
		return value.Dec(value.Decimal{}.Rescale(max(t.Scale, 0)))
	case value.KindTime:
		return value.TimeOf(value.ZeroTime)
	case value.KindDuration:
		return value.DurationOf(0)
	case value.KindJSON:
		return value.JSONOf(value.JSONNull())
	}
	if t.ID == schema.TypeBinary {
		return value.Bytes(make([]byte, max(t.Len, 0)))
	}
	return value.Bytes([]byte{})
}

// storer is one call of Store.
type storer struct {
	env *Env
	col *schema.Column
	row int
}

// strict reports that bad values are errors.
func (s *storer) strict() bool { return s.env == nil || s.env.Mode.Strict() && !s.env.Ignore }

// fail is e as an error in strict mode and as a warning otherwise.
func (s *storer) fail(e *sqlerr.Error) error {
	if s.strict() {
		return e
	}
	s.env.Warning(e)
	return nil
}

func (s *storer) outOfRange() error { return s.fail(sqlerr.OutOfRange(s.col.Name, s.row)) }

func (s *storer) truncated() error { return s.fail(sqlerr.DataTruncatedForColumn(s.col.Name, s.row)) }

func (s *storer) note() { s.env.Note(sqlerr.DataTruncatedForColumn(s.col.Name, s.row)) }

func (s *storer) incorrect(kind string, text []byte) error {
	return s.fail(sqlerr.IncorrectValueForColumn(kind, errText(text), s.col.Name, s.row))
}

// prefixStatus checks how much of a string was a number: n bytes were.
func (s *storer) prefixStatus(kind string, text []byte, n int) error {
	switch {
	case n == 0:
		return s.incorrect(kind, text)
	case !onlySpaces(text[n:]):
		return s.truncated()
	}
	return nil
}

// intLimits are the limits of an integer type.
func intLimits(t schema.Type) (lo int64, hi uint64) {
	bits := [...]int{8, 16, 24, 32, 64}[t.ID-schema.TypeTinyInt]
	if t.Unsigned {
		return 0, math.MaxUint64 >> (64 - bits)
	}
	return math.MinInt64 >> (64 - bits), math.MaxInt64 >> (64 - bits)
}

// wideInt is an integer of either sign: neg means -mag. over: it was beyond 64
// bits, and mag is the nearest.
type wideInt struct {
	neg  bool
	mag  uint64
	over bool
}

func wideOf(n int64) wideInt {
	if n < 0 {
		return wideInt{neg: true, mag: -uint64(n)}
	}
	return wideInt{mag: uint64(n)}
}

// wideDecimal is d rounded; out of 64 bits it is the nearest.
func wideDecimal(d value.Decimal) wideInt {
	if d.Sign() < 0 {
		n, ok := d.Neg().Uint64()
		return wideInt{neg: n != 0, mag: n, over: !ok}
	}
	n, ok := d.Uint64()
	return wideInt{mag: n, over: !ok}
}

func (s *storer) integer(d value.Datum, from schema.Type) (value.Datum, error) {
	t := s.col.Type
	lo, hi := intLimits(t)
	if d.Kind() == value.KindInt && !t.Unsigned { // the common case
		if n := d.Int(); n >= lo && n <= int64(hi) {
			return d, nil
		}
	}
	w, err := s.toWide(d, from, "integer")
	if err != nil {
		return value.Null, err
	}
	switch {
	case w.neg && (w.over || lo == 0 || w.mag > -uint64(lo)):
		err = s.outOfRange()
		w = wideOf(lo)
	case !w.neg && (w.over || w.mag > hi):
		err = s.outOfRange()
		w.mag = hi
	}
	if t.Unsigned {
		return value.Uint(w.mag), err
	}
	n := int64(w.mag)
	if w.neg {
		n = -n
	}
	return value.Int(n), err
}

// toWide is d as an integer, rounded.
func (s *storer) toWide(d value.Datum, from schema.Type, kind string) (wideInt, error) {
	switch d.Kind() {
	case value.KindInt:
		return wideOf(d.Int()), nil
	case value.KindUint:
		return wideInt{mag: d.Uint()}, nil
	case value.KindFloat:
		f := math.RoundToEven(d.Float())
		if f < 0 {
			n, ok := floatToUint(-f)
			return wideInt{neg: true, mag: n, over: !ok}, nil
		}
		n, ok := floatToUint(f)
		return wideInt{mag: n, over: !ok}, nil
	case value.KindDecimal:
		return wideDecimal(d.Decimal()), nil
	case value.KindBytes:
		text := numericText(d.Bytes(), from)
		p := parseIntPrefix(text)
		if p.clean && !p.overflow {
			return wideInt{neg: p.neg && p.mag != 0, mag: p.mag}, nil
		}
		dec, n, _ := decimalPrefix(text)
		return wideDecimal(dec), s.prefixStatus(kind, text, n)
	case value.KindJSON:
		sc, st, ok := JSONScalar(d.Bytes())
		if !ok {
			return wideInt{}, s.badJSON("INTEGER")
		}
		return s.toWide(sc, st, kind)
	}
	n, err := ToInt(s.env, d, from)
	return wideOf(n), err
}

func (s *storer) badJSON(kind string) error {
	return s.fail(sqlerr.InvalidJSONCast(kind, s.col.Name, s.row))
}

func (s *storer) float(d value.Datum, from schema.Type) (value.Datum, error) {
	t := s.col.Type
	var f float64
	var err error
	over := false
	switch d.Kind() {
	case value.KindBytes:
		text := numericText(d.Bytes(), from)
		var n int
		f, n, over = floatPrefix(text)
		if n == 0 || !onlySpaces(text[n:]) {
			err = s.truncated()
		}
	case value.KindJSON:
		sc, st, ok := JSONScalar(d.Bytes())
		if ok {
			return s.float(sc, st)
		}
		err = s.badJSON("DOUBLE")
	default:
		f, err = ToFloat(s.env, d, from)
	}
	if err != nil {
		return value.Null, err
	}
	limit := math.MaxFloat64
	if t.ID == schema.TypeFloat {
		limit = math.MaxFloat32
	}
	if isFixedFloat(t) {
		limit = min(limit, math.Pow10(t.Len-t.Scale)-math.Pow10(-t.Scale))
		f = roundFloat(f, t.Scale)
	}
	switch {
	case t.Unsigned && f < 0:
		f, over = 0, true
	case f > limit:
		f, over = limit, true
	case f < -limit:
		f, over = -limit, true
	}
	if t.ID == schema.TypeFloat {
		f = float64(float32(f))
	}
	if over {
		err = s.outOfRange()
	}
	if f == 0 {
		f = 0 // no negative zero in tables and keys
	}
	return value.Float(f), err
}

func (s *storer) decimal(d value.Datum, from schema.Type) (value.Datum, error) {
	t := s.col.Type
	scale := max(t.Scale, 0)
	var dec value.Decimal
	var err error
	over := false
	switch d.Kind() {
	case value.KindDecimal:
		if dec = d.Decimal(); dec.Scale() == scale && dec.Fits(t.Len, scale) && !(t.Unsigned && dec.Sign() < 0) {
			return d, nil
		}
	case value.KindBytes:
		text := numericText(d.Bytes(), from)
		var n int
		dec, n, over = decimalPrefix(text)
		err = s.prefixStatus("decimal", text, n)
	case value.KindJSON:
		sc, st, ok := JSONScalar(d.Bytes())
		if ok {
			return s.decimal(sc, st)
		}
		err = s.badJSON("DECIMAL")
	case value.KindFloat:
		dec, err = value.DecimalFromFloat(d.Float())
		over, err = err != nil, nil
	default:
		dec, err = ToDecimal(s.env, d, from)
	}
	if err != nil {
		return value.Null, err
	}
	r := dec.Rescale(scale)
	neg := r.Sign() < 0
	switch {
	case neg && t.Unsigned:
		r = value.Decimal{}.Rescale(scale)
		err = s.outOfRange()
	case over || !r.Fits(t.Len, scale):
		if r = value.MaxDecimal(t.Len, scale); neg {
			r = r.Neg()
		}
		err = s.outOfRange()
	case dec.Scale() > scale && d.Kind() != value.KindFloat && r.Cmp(dec) != 0:
		s.note()
	}
	return value.Dec(r), err
}

// maxBytes is the most bytes of the TEXT and BLOB types.
func maxBytes(t schema.Type) int {
	n := math.MaxInt
	switch t.ID {
	case schema.TypeTinyText, schema.TypeTinyBlob:
		n = 1<<8 - 1
	case schema.TypeText, schema.TypeBlob:
		n = 1<<16 - 1
	case schema.TypeMediumText, schema.TypeMediumBlob:
		n = 1<<24 - 1
	case schema.TypeLongText, schema.TypeLongBlob:
		n = 1<<32 - 1
	}
	return n
}

func (s *storer) character(d value.Datum, from schema.Type) (value.Datum, error) {
	t := s.col.Type
	text, err := ToText(s.env, d, from)
	if err != nil {
		return value.Null, err
	}
	c := collate.Must(t.Collation)
	src := textCollation(from, d)
	if src == schema.CollationNone {
		src = t.Collation
	}
	if src != t.Collation {
		if sc := collate.Must(src); sc.NeedsConversion(text, c) {
			out, lost := sc.Convert(make([]byte, 0, len(text)), text, c)
			if lost >= 0 {
				err = s.fail(sqlerr.IncorrectValueForColumn("string", hexText(text[lost:], 6), s.col.Name, s.row))
			}
			text = out
		}
	}
	if err == nil && !c.Valid(text) {
		n := c.ValidPrefix(text)
		err = s.fail(sqlerr.IncorrectValueForColumn("string", hexText(text[n:], 6), s.col.Name, s.row))
		text = text[:n]
	}
	if err != nil {
		return value.Null, err
	}
	text, err = s.cutCharacters(c, text)
	if t.ID == schema.TypeChar && s.trimsChar(c) {
		text = bytes.TrimRight(text, " ")
	}
	if d.Kind() == value.KindBytes && len(text) == len(d.Bytes()) && (len(text) == 0 || &text[0] == &d.Bytes()[0]) {
		return d, err
	}
	return value.Bytes(text), err
}

// trimsChar reports that spaces are the byte 0x20 in the character set.
func (s *storer) trimsChar(c *collate.Collation) bool {
	switch c.Charset {
	case "ucs2", "utf16", "utf16le", "utf32":
		return false
	}
	return true
}

// cutCharacters cuts text to the length of the column.
func (s *storer) cutCharacters(c *collate.Collation, text []byte) ([]byte, error) {
	t := s.col.Type
	n := len(text)
	if t.ID == schema.TypeChar || t.ID == schema.TypeVarchar {
		if t.Len < 0 || len(text) <= t.Len {
			return text, nil
		}
		n = c.PrefixLen(text, t.Len)
	} else if limit := maxBytes(t); n > limit {
		n = c.ValidPrefix(text[:limit])
	}
	if n == len(text) {
		return text, nil
	}
	if len(bytes.Trim(text[n:], " ")) == 0 {
		// Only spaces are lost: no error, and for CHAR nothing at all.
		if t.ID != schema.TypeChar {
			s.note()
		}
		return text[:n], nil
	}
	return text[:n], s.tooLong()
}

// tooLong is 1406 in strict mode and 1265 otherwise.
func (s *storer) tooLong() error {
	if s.strict() {
		return sqlerr.DataTooLong(s.col.Name, s.row)
	}
	return s.truncated()
}

func (s *storer) binary(d value.Datum, from schema.Type) (value.Datum, error) {
	t := s.col.Type
	b, err := ToText(s.env, d, from)
	if err != nil {
		return value.Null, err
	}
	limit := maxBytes(t)
	if t.ID == schema.TypeBinary || t.ID == schema.TypeVarbinary {
		limit = max(t.Len, 0)
	}
	if len(b) > limit {
		b, err = b[:limit], s.tooLong()
	}
	if t.ID == schema.TypeBinary && len(b) < limit {
		b = append(make([]byte, 0, limit), b...)[:limit]
	}
	return value.Bytes(b), err
}

// storeFlags is what a column accepts in dates.
func (s *storer) storeFlags() value.TimeFlags {
	f := s.env.timeFlags()
	if s.col.Type.ID == schema.TypeTimestamp {
		f &^= value.AllowZeroInDate | value.AllowInvalidDates
	}
	return f
}

func (s *storer) datetime(d value.Datum, from schema.Type) (value.Datum, error) {
	t := s.col.Type
	r, st, ok := toTime(s.env, d, from, s.storeFlags())
	if ok && t.ID == schema.TypeDate {
		if r != r.Date() {
			st |= timeNote
		}
		r = r.Date()
	} else if ok {
		if r, ok = roundTime(s.env, r, fspOf(t)); !ok {
			st |= timeOutOfRange
		}
	}
	if ok && t.ID == schema.TypeTimestamp {
		r, st, ok = s.timestamp(r, st)
	}
	if st == 0 && ok {
		return value.TimeOf(r), nil
	}
	if !ok {
		r = value.ZeroTime
	}
	// A zero date is a warning only when sql_mode has NO_ZERO_DATE without
	// strict mode: it is stored all the same.
	return value.TimeOf(r), s.timeStatus(st, d, from)
}

// firstTimestamp and lastTimestamp are the limits of TIMESTAMP, Unix seconds.
const (
	firstTimestamp = 1
	lastTimestamp  = 1<<31 - 1
)

// timestamp checks range and gaps of TIMESTAMP. A time that clocks skip is
// moved to the end of the gap.
func (s *storer) timestamp(r value.Time, st timeStatus) (value.Time, timeStatus, bool) {
	if r.IsZero() {
		return r, st, true
	}
	g, ok := r.Go(s.env.loc())
	if !ok || g.Unix() < firstTimestamp || g.Unix() > lastTimestamp {
		return 0, st | timeOutOfRange, false
	}
	if got := value.FromGo(g.In(s.env.loc())); got != r {
		start, end := g.ZoneBounds()
		edge := start
		if got < r { // g is before the change
			edge = end
		}
		return value.FromGo(edge.In(s.env.loc())), st | timeOutOfRange, true
	}
	return r, st, true
}

// timeStatus makes errors and warnings of a status.
func (s *storer) timeStatus(st timeStatus, d value.Datum, from schema.Type) error {
	if st&^timeNote == 0 {
		s.note()
		return nil
	}
	if s.strict() {
		return sqlerr.IncorrectTemporalForColumn(timeKind(s.col.Type.ID), errText(textOf(from, d)), s.col.Name, s.row)
	}
	if st&(timeOutOfRange|timeZeroDate) != 0 {
		s.env.Warning(sqlerr.OutOfRange(s.col.Name, s.row))
	} else {
		s.env.Warning(sqlerr.DataTruncatedForColumn(s.col.Name, s.row))
	}
	return nil
}

func (s *storer) duration(d value.Datum, from schema.Type) (value.Datum, error) {
	r, st, ok := toDuration(s.env, d, from)
	r = roundDuration(s.env, r, fspOf(s.col.Type))
	if !ok {
		r = 0
	}
	if st == 0 && ok {
		return value.DurationOf(r), nil
	}
	return value.DurationOf(r), s.timeStatus(st, d, from)
}
