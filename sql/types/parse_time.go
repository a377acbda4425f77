package types

import (
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/value"
)

// timeStatus says what was wrong with a date or time that was read.
type timeStatus uint8

const (
	timeTruncated  timeStatus = 1 << iota // no date at all, or followed by something else
	timeOutOfRange                        // a part out of its range, a day not on the calendar
	timeZeroDate                          // zero, where sql_mode forbids it
	timeNote                              // a part that the type does not have was cut off
)

// timeFlags is what sql_mode allows in dates.
func (env *Env) timeFlags() value.TimeFlags {
	f := value.AllowZeroDate | value.AllowZeroInDate
	if env == nil {
		return f
	}
	if env.Mode&ModeNoZeroDate != 0 {
		f &^= value.AllowZeroDate
	}
	if env.Mode&ModeNoZeroInDate != 0 {
		f &^= value.AllowZeroInDate
	}
	if env.Mode&ModeAllowInvalidDates != 0 {
		f |= value.AllowInvalidDates
	}
	return f
}

// checkDate is the status of a date under flags.
func checkDate(t value.Time, flags value.TimeFlags) timeStatus {
	switch {
	case t.Check(flags):
		return 0
	case t.IsZero():
		return timeZeroDate
	case t.HasZeroPart():
		return timeOutOfRange | timeZeroDate
	}
	return timeOutOfRange
}

// expandYear is the year of two digits.
func expandYear(y int) int {
	if y < 70 {
		return y + 2000
	}
	return y + 1900
}

func isPunct(c byte) bool {
	return c >= '!' && c <= '/' || c >= ':' && c <= '@' || c >= '[' && c <= '`' || c >= '{' && c <= '~'
}

// dateScan is a date that is being read: up to seven numbers.
type dateScan struct {
	part    [7]int
	len     [7]int // digits of the part
	fields  int
	rest    []byte // what follows the last part
	rounded bool   // the seventh digit of the fraction was 5 or more
	hasZone bool
	zone    int  // seconds
	delims  bool // a delimiter was found
	spaces  bool // a space between date and time was found
	// shortYear: no delimiters, and the year has two digits at most.
	shortYear bool
}

// scanDate takes s apart. Without delimiters (nothing but digits up to the
// end or a point) parts have two digits and the year four when there are 4, 8
// or 14 digits; with delimiters, parts end at one. It reports false when s is
// no date.
func scanDate(s []byte) (sc dateScan, ok bool) {
	n := 0
	for n < len(s) && (isDigit(s[n]) || s[n] == 'T') {
		n++
	}
	if n == 0 || !isDigit(s[0]) {
		return sc, false
	}
	fixed := n == len(s) || s[n] == '.'
	width := 4
	if fixed && n != 4 && n != 8 && n < 14 {
		width = 2
	}
	sc.shortYear = fixed && width == 2
	i := 0
	for i < 7 && len(s) > 0 && isDigit(s[0]) {
		limit := 7
		if fixed || i == 6 {
			limit = width
		}
		k, v := 0, 0
		for k < len(s) && k < limit && isDigit(s[k]) {
			v = v*10 + int(s[k]-'0')
			k++
		}
		if v > 999999 || k == 7 {
			return sc, false
		}
		sc.part[i], sc.len[i] = v, k
		s = s[k:]
		width = 2
		sc.rest = s
		i++
		if len(s) == 0 || i == 7 {
			break
		}
		switch {
		case i == 3 && s[0] == 'T':
			s = s[1:]
			sc.spaces = true
			continue
		case i == 6:
			if s[0] == '.' && len(s) > 1 && isDigit(s[1]) {
				s, width = s[1:], 6
				sc.rest = s
				continue
			}
			if s[0] == '.' {
				sc.rest = s[1:]
			}
			s = nil
		default: // nothing to skip in a number without delimiters
			for len(s) > 0 && (isPunct(s[0]) || isSpace(s[0])) {
				if isSpace(s[0]) {
					if i != 3 {
						return sc, false
					}
					sc.spaces = true
				}
				sc.delims = true
				s = s[1:]
			}
			sc.rest = s
		}
	}
	sc.fields = i
	sc.finishFraction()
	return sc, true
}

// finishFraction scales the fraction to microseconds and reads the digits after
// it and the zone.
func (sc *dateScan) finishFraction() {
	if sc.fields == 7 {
		for k := sc.len[6]; k < 6; k++ {
			sc.part[6] *= 10
		}
		if len(sc.rest) > 0 && isDigit(sc.rest[0]) {
			sc.rounded = sc.rest[0] >= '5'
			for len(sc.rest) > 0 && isDigit(sc.rest[0]) {
				sc.rest = sc.rest[1:]
			}
		}
	}
	if sc.fields >= 6 {
		if sec, n := parseOffset(sc.rest, true); n > 0 {
			sc.hasZone, sc.zone, sc.rest = true, sec, sc.rest[n:]
		}
	}
}

// parseDatetime reads a date with or without time. The status says what was
// wrong; ok is false when there is no value.
func parseDatetime(env *Env, s []byte, flags value.TimeFlags) (t value.Time, st timeStatus, ok bool) {
	s = skipSpaces(s)
	sc, ok := scanDate(s)
	if !ok {
		return 0, timeTruncated, false
	}
	p := &sc.part
	zero := p[0]|p[1]|p[2]|p[3]|p[4]|p[5]|p[6] == 0
	if (sc.len[0] == 2 || sc.shortYear) && !zero {
		p[0] = expandYear(p[0])
	}
	if sc.fields < 3 || p[0] > 9999 || p[1] > 12 || p[2] > 31 || p[3] > 23 || p[4] > 59 || p[5] > 59 {
		return 0, timeTruncated, false
	}
	t = value.MakeTime(p[0], p[1], p[2], p[3], p[4], p[5], p[6])
	if st = checkDate(t, flags); st != 0 {
		return 0, st, false
	}
	if !onlySpaces(sc.rest) {
		st = timeTruncated
	}
	if sc.rounded && (env == nil || env.Mode&ModeTimeTruncateFractional == 0) {
		if r, ok := t.AddMicros(1); ok {
			t = r
		}
	}
	if sc.hasZone {
		if t.HasZeroPart() {
			return 0, timeTruncated, false
		}
		g, _ := t.Go(time.FixedZone("", sc.zone))
		if g = g.In(env.loc()); g.Year() < 0 || g.Year() > 9999 {
			return 0, timeTruncated, false
		}
		// The year 0 has a leap day in Go, and none in MySQL.
		if t = value.FromGo(g); !t.Check(0) {
			return 0, timeTruncated, false
		}
	}
	return t, st, true
}

// numberToTime is the date that a number stands for: YYYYMMDD, YYMMDD,
// YYYYMMDDHHMMSS or YYMMDDHHMMSS.
func numberToTime(n int64, micros int, flags value.TimeFlags) (t value.Time, st timeStatus, ok bool) {
	bad := func() (value.Time, timeStatus, bool) { return 0, timeTruncated, false }
	switch {
	case n == 0:
		if flags&value.AllowZeroDate == 0 {
			return 0, timeZeroDate, false
		}
		return 0, 0, true
	case n >= 10000101000000:
		if n > 99991231235959 {
			return 0, timeOutOfRange, false
		}
	case n < 101:
		return bad()
	case n <= 691231:
		n = (n + 20000000) * 1000000
	case n < 700101:
		return bad()
	case n <= 991231:
		n = (n + 19000000) * 1000000
	case n <= 99991231:
		n *= 1000000
	case n < 101000000:
		return bad()
	case n <= 691231235959:
		n += 20000000000000
	case n < 700101000000:
		return bad()
	case n <= 991231235959:
		n += 19000000000000
	}
	d, c := int(n/1000000), int(n%1000000)
	mo, day, h, mi, s := d/100%100, d%100, c/10000, c/100%100, c%100
	if mo > 12 || day > 31 || h > 23 || mi > 59 || s > 59 {
		return bad()
	}
	t = value.MakeTime(d/10000, mo, day, h, mi, s, micros)
	if st := checkDate(t, flags); st != 0 {
		return 0, st, false
	}
	return t, 0, true
}

// roundTime brings t to fsp digits of the second, as sql_mode says.
func roundTime(env *Env, t value.Time, fsp int) (value.Time, bool) {
	if env != nil && env.Mode&ModeTimeTruncateFractional != 0 {
		return t.TruncateFSP(fsp), true
	}
	return t.TryRoundFSP(fsp)
}

func roundDuration(env *Env, d value.Duration, fsp int) value.Duration {
	if env != nil && env.Mode&ModeTimeTruncateFractional != 0 {
		return d.TruncateFSP(fsp)
	}
	return d.RoundFSP(fsp)
}

// isDatetime reports text of a time that is read as a date with time.
func isDatetime(s []byte) bool {
	if len(s) < 12 {
		return false
	}
	sc, ok := scanDate(s)
	return ok && sc.fields > 3 && (!sc.delims || sc.spaces)
}

// IsLiteralOf reports whether a literal of that type may have the text, which
// reads as a DATE, DATETIME or TIME. Dates without time and dates with time are
// not taken for each other there, nor for times.
func IsLiteralOf(s []byte, id schema.TypeID) bool {
	s = skipSpaces(s)
	if id == schema.TypeTime {
		return !isDatetime(s)
	}
	sc, ok := scanDate(s)
	return ok && (sc.fields > 3) == (id != schema.TypeDate)
}

// parseDuration reads a time: '[-]D HH:MM:SS', 'HH:MM:SS', 'HH:MM', HHMMSS,
// each with a fraction, or a whole date with time, of which the time counts.
func parseDuration(env *Env, s []byte) (d value.Duration, st timeStatus, ok bool) {
	s = skipSpaces(s)
	neg := false
	if len(s) > 0 && s[0] == '-' {
		neg = true
		s = s[1:]
	}
	if len(s) == 0 {
		return 0, timeTruncated, false
	}
	if !neg && isDatetime(s) {
		t, st, ok := parseDatetime(env, s, value.AllowZeroInDate|value.AllowZeroDate)
		if !ok {
			return 0, st, false
		}
		return t.TimeOfDay(), st | timeNote, true
	}
	p, micros, up, rest, ok := scanDuration(s)
	if !ok || !isDigit(s[0]) && s[0] != '.' {
		return 0, timeTruncated, false
	}
	if p[2] > 59 || p[3] > 59 {
		return 0, timeOutOfRange, false
	}
	if !onlySpaces(rest) {
		st = timeTruncated
	}
	hours := p[0]*24 + p[1]
	if hours > 838 {
		d = value.MaxDuration
		st |= timeOutOfRange
	} else {
		d = value.MakeDuration(false, hours, p[2], p[3], micros)
		if up && (env == nil || env.Mode&ModeTimeTruncateFractional == 0) {
			d++
		}
		if d > value.MaxDuration {
			d = value.MaxDuration
			st |= timeOutOfRange
		}
	}
	if neg {
		d = -d
	}
	return d, st, true
}

// scanNumber reads digits, up to a number that is too large for any part.
func scanNumber(s []byte) (v int, rest []byte) {
	for len(s) > 0 && isDigit(s[0]) {
		v = min(v*10+int(s[0]-'0'), 1<<40)
		s = s[1:]
	}
	return v, s
}

// scanDuration splits a time into days, hours, minutes, seconds and microseconds;
// up: a seventh digit rounds up.
func scanDuration(s []byte) (p [4]int, micros int, up bool, rest []byte, ok bool) {
	v, s2 := scanNumber(s)
	noDigits := len(s2) == len(s)
	after := s2
	s2 = skipSpaces(s2)
	next := 0
	switch {
	case len(s2) > 1 && len(s2) != len(after) && isDigit(s2[0]) && !noDigits:
		p[0], next = v, 1
	case len(s2) > 1 && s2[0] == ':' && isDigit(s2[1]):
		p[1], next = v, 2
		s2 = s2[1:]
	default:
		p[1], p[2], p[3] = v/10000, v/100%100, v%100
		next = 4
	}
	for next < 4 {
		p[next], s2 = scanNumber(s2)
		next++
		if next == 4 || len(s2) < 2 || s2[0] != ':' || !isDigit(s2[1]) {
			break
		}
		s2 = s2[1:]
	}
	if len(s2) > 0 && s2[0] == '.' && (len(s2) == 1 || isDigit(s2[1])) {
		s2 = s2[1:]
		for unit := 100000; len(s2) > 0 && isDigit(s2[0]); s2 = s2[1:] {
			if unit == 0 {
				up = s2[0] >= '5'
				for len(s2) > 1 && isDigit(s2[1]) {
					s2 = s2[1:]
				}
				continue
			}
			micros += int(s2[0]-'0') * unit
			unit /= 10
		}
	}
	if len(s2) > 1 && s2[0]|0x20 == 'e' && (isDigit(s2[1]) || len(s2) > 2 && (s2[1] == '-' || s2[1] == '+') && isDigit(s2[2])) {
		return p, 0, false, s2, false // '1e5' is a number that is no time
	}
	return p, micros, up, s2, true
}

// numberToDuration is the time that a number stands for: HHMMSS, or the time
// of day of a whole YYYYMMDDHHMMSS.
func numberToDuration(n int64, micros int) (d value.Duration, st timeStatus, ok bool) {
	neg := n < 0 || micros < 0
	if neg {
		n, micros = -n, -micros
	}
	if n > 8385959 {
		if !neg && n >= 10000000000 {
			if t, st, ok := numberToTime(n, micros, value.AllowZeroInDate|value.AllowZeroDate); ok {
				return t.TimeOfDay(), st | timeNote, true
			}
		}
		d = value.MaxDuration
		if neg {
			d = -d
		}
		return d, timeOutOfRange, true
	}
	if n%100 > 59 || n/100%100 > 59 {
		return 0, timeOutOfRange, false
	}
	d = value.MakeDuration(false, int(n/10000), int(n/100%100), int(n%100), micros)
	if d > value.MaxDuration {
		d, st = value.MaxDuration, timeOutOfRange
	}
	if neg {
		d = -d
	}
	return d, st, true
}

// timeNumber is a time as the number YYYYMMDDHHMMSS, YYYYMMDD for a DATE.
func timeNumber(t value.Time, dateOnly bool) int64 {
	n := int64(t.Year()*10000 + t.Month()*100 + t.Day())
	if dateOnly {
		return n
	}
	return n*1000000 + int64(t.Hour()*10000+t.Minute()*100+t.Second())
}

// durationNumber is a time as the number HHMMSS.
func durationNumber(d value.Duration) int64 {
	neg, h, m, s, _ := d.Parts()
	n := int64(h*10000 + m*100 + s)
	if neg {
		return -n
	}
	return n
}

// timeKind is the word for a time type in messages.
func timeKind(id schema.TypeID) string {
	switch id {
	case schema.TypeDate:
		return "date"
	case schema.TypeTime:
		return "time"
	}
	return "datetime"
}
