package expr

import (
	"fmt"
	"math"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// unitSpec is a unit of INTERVAL and EXTRACT: the Extra of their calls.
type unitSpec uint8

const (
	unitYear unitSpec = iota
	unitQuarter
	unitMonth
	unitWeek
	unitDay
	unitHour
	unitMinute
	unitSecond
	unitMicrosecond
	unitYearMonth
	unitDayHour
	unitDayMinute
	unitDaySecond
	unitHourMinute
	unitHourSecond
	unitMinuteSecond
	unitDayMicrosecond
	unitHourMicrosecond
	unitMinuteMicrosecond
	unitSecondMicrosecond
)

var unitNames = [...]string{"year", "quarter", "month", "week", "day", "hour", "minute", "second", "microsecond", "year_month", "day_hour",
	"day_minute", "day_second", "hour_minute", "hour_second", "minute_second", "day_microsecond", "hour_microsecond", "minute_microsecond",
	"second_microsecond"}

func (u unitSpec) name() string { return unitNames[u] }

func parseUnit(name string) (unitSpec, error) {
	name = strings.TrimPrefix(strings.ToLower(name), "sql_tsi_")
	for i, n := range unitNames {
		if n == name {
			return unitSpec(i), nil
		}
	}
	return 0, sqlerr.NotSupported("interval unit " + name)
}

// hasMicros reports units that reach below the second.
func (u unitSpec) hasMicros() bool { return u == unitMicrosecond || u >= unitDayMicrosecond }

// isDate reports units of whole days.
func (u unitSpec) isDate() bool { return u <= unitDay || u == unitYearMonth }

// isTime reports units below the day only.
func (u unitSpec) isTime() bool {
	switch u {
	case unitHour, unitMinute, unitSecond, unitMicrosecond, unitHourMinute, unitHourSecond, unitMinuteSecond, unitHourMicrosecond,
		unitMinuteMicrosecond, unitSecondMicrosecond:
		return true
	}
	return false
}

// fields of a composite unit, from the greatest on: y month d h i s f.
func (u unitSpec) fields() string {
	switch u {
	case unitYearMonth:
		return "ym"
	case unitDayHour:
		return "dh"
	case unitDayMinute:
		return "dhi"
	case unitDaySecond:
		return "dhis"
	case unitHourMinute:
		return "hi"
	case unitHourSecond:
		return "his"
	case unitMinuteSecond:
		return "is"
	case unitDayMicrosecond:
		return "dhisf"
	case unitHourMicrosecond:
		return "hisf"
	case unitMinuteMicrosecond:
		return "isf"
	case unitSecondMicrosecond:
		return "sf"
	}
	return ""
}

// span is an interval's value.
type span struct {
	months, days, micros int64
}

func (s span) neg() span { return span{-s.months, -s.days, -s.micros} }

const (
	microsPerSecond = 1000000
	microsPerDay    = 86400 * microsPerSecond
)

// spanOf reads the value of an interval expression; ok is false when it is
// out of every range.
func spanOf(u unitSpec, d value.Datum) (span, bool) {
	if u.fields() != "" {
		return compositeSpan(u, d.Str())
	}
	if u == unitSecond && d.Kind() == value.KindDecimal {
		v := d.Decimal()
		us, ok := v.Mul(value.DecimalFromInt(microsPerSecond)).Int64()
		return span{micros: us}, ok
	}
	n := asInt(d)
	return simpleSpan(u, n)
}

func simpleSpan(u unitSpec, n int64) (span, bool) {
	factor, s := int64(1), span{}
	at := &s.micros
	switch u {
	case unitYear:
		at, factor = &s.months, 12
	case unitQuarter:
		at, factor = &s.months, 3
	case unitMonth:
		at = &s.months
	case unitWeek:
		at, factor = &s.days, 7
	case unitDay:
		at = &s.days
	case unitHour:
		factor = 3600 * microsPerSecond
	case unitMinute:
		factor = 60 * microsPerSecond
	case unitSecond:
		factor = microsPerSecond
	}
	const small = 1 << 20 // times each factor it fits
	if (n > small || n < -small) && (n > math.MaxInt64/factor || n < -math.MaxInt64/factor) {
		return s, false
	}
	*at = n * factor
	return s, true
}

// notDigits are the ASCII characters that separate groups.
var notDigits = func() string {
	var b []byte
	for c := byte(1); c < 0x80; c++ {
		if c < '0' || c > '9' {
			b = append(b, c)
		}
	}
	return string(b)
}()

// compositeSpan reads groups of digits with anything between them. With fewer
// groups than the unit has fields, the leading fields are missing.
func compositeSpan(u unitSpec, text string) (span, bool) {
	fields := u.fields()
	text = strings.TrimLeft(text, " ")
	neg := strings.HasPrefix(text, "-")
	var groups []int64
	var widths []int
	rest := ""
	for i := 0; i < len(text) && len(groups) < len(fields); {
		for i < len(text) && (text[i] < '0' || text[i] > '9') {
			i++
		}
		if i >= len(text) {
			break
		}
		v, start := int64(0), i
		for ; i < len(text) && text[i] >= '0' && text[i] <= '9'; i++ {
			if v > (math.MaxInt64-9)/10 {
				return span{}, false
			}
			v = v*10 + int64(text[i]-'0')
		}
		groups, widths = append(groups, v), append(widths, i-start)
		rest = strings.TrimLeft(text[i:], notDigits)
	}
	if rest != "" && len(groups) == len(fields) {
		return span{}, false // more groups than the unit has
	}
	s := span{}
	skip := len(fields) - len(groups)
	for i, v := range groups {
		f := fields[skip+i]
		if f == 'f' {
			for w := widths[i]; w < 6; w++ {
				v *= 10
			}
		}
		unit := map[byte]unitSpec{'y': unitYear, 'm': unitMonth, 'd': unitDay, 'h': unitHour, 'i': unitMinute, 's': unitSecond, 'f': unitMicrosecond}[f]
		one, ok := simpleSpan(unit, v)
		if !ok {
			return s, false
		}
		s.months += one.months
		s.days += one.days
		if s.micros > math.MaxInt64-one.micros {
			return s, false
		}
		s.micros += one.micros
	}
	if neg {
		s = s.neg()
	}
	return s, true
}

// addSpan is t plus s; ok is false outside of the years 0 to 9999 and for
// dates with a zero part.
func addSpan(t value.Time, s span) (value.Time, bool) {
	if t.Month() == 0 || t.Day() == 0 {
		return 0, false
	}
	if s.months != 0 {
		if s.months > 120000 || s.months < -120000 {
			return 0, false
		}
		m := int64(t.Year())*12 + int64(t.Month()-1) + s.months
		if m < 0 || m >= 120000 {
			return 0, false
		}
		year, month := int(m/12), int(m%12)+1
		day := min(t.Day(), value.DaysInMonth(year, month))
		t = value.MakeTime(year, month, day, t.Hour(), t.Minute(), t.Second(), t.Micro())
	}
	if t.Day() <= 28 && t.Year() > 0 && s.days > -28 && s.days < 28 && s.micros > -microsPerDay && s.micros < microsPerDay {
		// Most sums stay in the month, which needs no calendar.
		us := int64(timeOfDay(t)) + s.micros
		if day := t.Day() + int(s.days); day >= 1 && day <= 28 && us >= 0 && us < microsPerDay {
			t += value.Time(s.days << 41)
			if s.micros != 0 {
				t = t.AtTimeOfDay(value.Duration(us))
			}
			return t, true
		}
	}
	if s.days != 0 || s.micros != 0 {
		days := s.days + floorDiv(s.micros, microsPerDay)
		us := s.micros - floorDiv(s.micros, microsPerDay)*microsPerDay
		us += int64(timeOfDay(t))
		days += us / microsPerDay
		us %= microsPerDay
		n := int64(t.DayNumber()) + days
		if n < 1 || n > maxDayNumber {
			return 0, false
		}
		t = withTime(value.FromDayNumber(int(n)), value.Duration(us))
	}
	return t, true
}

// maxDayNumber is TO_DAYS('9999-12-31').
const maxDayNumber = 3652424

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

func timeOfDay(t value.Time) value.Duration {
	return value.Duration((int64(t.Hour())*3600+int64(t.Minute())*60+int64(t.Second()))*microsPerSecond + int64(t.Micro()))
}

// withTime is the date with a time of day below 24 hours.
func withTime(date value.Time, d value.Duration) value.Time {
	s := int64(d) / microsPerSecond
	return value.MakeTime(date.Year(), date.Month(), date.Day(), int(s/3600), int(s/60%60), int(s%60), int(int64(d)%microsPerSecond))
}

// NewDateArith is date + INTERVAL interval unit, or minus it with sub. The
// result is a DATE, DATETIME or TIME by the type of date and the unit, and text
// for text.
func NewDateArith(env *BindEnv, sub bool, date, interval Expr, unit string) (Expr, error) {
	u, err := parseUnit(unit)
	if err != nil {
		return nil, err
	}
	if err := rejectRows([]Expr{date, interval}); err != nil {
		return nil, err
	}
	fsp := 0
	class := byte('i')
	if u.hasMicros() {
		fsp = 6
	}
	if u.fields() != "" {
		class = 's'
	} else if u == unitSecond {
		switch numClassOf(interval.Type()) {
		case numInt:
		default:
			if fsp = argFsp(interval); !interval.Type().IsNumeric() {
				fsp = 6
			}
			class = 0
		}
	}
	if class != 0 {
		interval, err = convertArg(env, class, interval)
	} else {
		interval, err = NewCast(env, interval, decimalType(maxPrecision, 6), false)
	}
	if err != nil {
		return nil, err
	}
	name := "date_add"
	if sub {
		name = "date_sub"
	}
	t := date.Type()
	var to schema.Type
	switch {
	case t.ID == schema.TypeDate && u.isDate():
		to = dateType()
	case t.HasDate():
		to = datetimeType(max(t.Scale, fsp))
	case t.ID == schema.TypeTime && u.isTime():
		to = timeType(max(t.Scale, fsp))
	case t.ID == schema.TypeTime:
		date, to = newDateCast(env, date, datetimeType(max(argFsp(date), 0))), datetimeType(max(argFsp(date), fsp))
	default:
		if _, isParam := date.(*Param); isParam && t.ID == schema.TypeNull {
			date, to = newDateCast(env, date, datetimeType(6)), datetimeType(6)
			break
		}
		if date, err = convertArg(env, 's', date); err != nil {
			return nil, err
		}
		to = textType(29, env.collation())
	}
	return mustLookup(name).call(name, []Expr{date, interval}, to, true, u), nil
}

// NewTimestampAdd is TIMESTAMPADD(unit, interval, date).
func NewTimestampAdd(env *BindEnv, unit string, interval, date Expr) (Expr, error) {
	return NewDateArith(env, false, date, interval, unit)
}

func rowDateAdd(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return dateArith(c, f, a, false)
}
func rowDateSub(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	return dateArith(c, f, a, true)
}

func dateArith(c *Ctx, f *Func, a []value.Datum, sub bool) (value.Datum, error) {
	u := f.unit()
	s, ok := spanOf(u, a[1])
	if !ok {
		return overflow(c, "datetime")
	}
	if sub {
		s = s.neg()
	}
	switch a[0].Kind() {
	case value.KindDuration:
		d := int64(a[0].Duration())
		if s.micros > 0 && d > math.MaxInt64-s.micros || s.micros < 0 && d < math.MinInt64-s.micros {
			return overflow(c, "time")
		}
		if d += s.micros; d > int64(value.MaxDuration) || d < -int64(value.MaxDuration) {
			return overflow(c, "time")
		}
		return value.DurationOf(value.Duration(d)), nil
	case value.KindBytes:
		return textDateArith(c, u, a[0].Bytes(), s)
	}
	t := a[0].Time()
	if t.Month() == 0 || t.Day() == 0 {
		return value.Null, nil
	}
	if t, ok = addSpan(t, s); !ok {
		return overflow(c, "datetime")
	}
	return value.TimeOf(t), nil
}

// textDateArith adds to a date in text; the result is a date again when the
// text has no time of day and the unit needs none.
func textDateArith(c *Ctx, u unitSpec, text []byte, s span) (value.Datum, error) {
	env := c.Env
	env.Mode |= types.ModeNoZeroDate | types.ModeNoZeroInDate
	t, ok, err := types.ParseTime(&env, text, datetimeType(6))
	if err != nil || !ok {
		return value.Null, err
	}
	r, ok := addSpan(t, s)
	if !ok {
		return overflow(c, "datetime")
	}
	if u.isDate() && !hasTimeText(text) {
		return value.Bytes(r.AppendText(nil, 0, true)), nil
	}
	fsp := 0
	if r.Micro() != 0 {
		fsp = 6
	}
	return value.Bytes(r.AppendText(nil, fsp, false)), nil
}

// hasTimeText reports whether a date in text has a time of day.
func hasTimeText(s []byte) bool {
	digits := 0
	trimmed := strings.TrimSpace(string(s))
	for _, b := range trimmed {
		if b == ':' || b == ' ' || b == 'T' {
			return true
		}
		if b >= '0' && b <= '9' {
			digits++
		}
	}
	return digits == len(trimmed) && digits > 8
}

func overflow(c *Ctx, what string) (value.Datum, error) {
	e := sqlerr.DatetimeOverflow(what)
	if c.Write && c.Mode.Strict() && !c.Ignore {
		return value.Null, e
	}
	c.Warning(e)
	return value.Null, nil
}

// NewExtract is EXTRACT(unit FROM e).
func NewExtract(env *BindEnv, unit string, e Expr) (Expr, error) {
	u, err := parseUnit(unit)
	if err != nil {
		return nil, err
	}
	if err := rejectRows([]Expr{e}); err != nil {
		return nil, err
	}
	class := byte('T')
	if u.isDate() || strings.HasPrefix(u.fields(), "d") && e.Type().ID != schema.TypeTime {
		class = 't'
	}
	x, err := convertArg(env, class, e)
	if err != nil {
		return nil, err
	}
	t := intType()
	return mustLookup("extract").call("extract", []Expr{x}, t, true, u), nil
}

func rowExtract(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	u := f.unit()
	var year, month, day, hour, minute, second, micro int64
	sign := int64(1)
	if a[0].Kind() == value.KindTime {
		t := a[0].Time()
		year, month, day = int64(t.Year()), int64(t.Month()), int64(t.Day())
		hour, minute, second, micro = int64(t.Hour()), int64(t.Minute()), int64(t.Second()), int64(t.Micro())
		if u == unitWeek {
			if t.Month() == 0 || t.Day() == 0 {
				return value.Null, nil
			}
			w, _ := weekOf(t, c.weekMode())
			return value.Int(int64(w)), nil
		}
	} else {
		neg, h, m, s, us := a[0].Duration().Parts()
		hour, minute, second, micro = int64(h), int64(m), int64(s), int64(us)
		if neg {
			sign = -1
		}
		if strings.HasPrefix(u.fields(), "d") {
			day, hour = hour/24, hour%24
		}
	}
	var v int64
	switch u {
	case unitYear:
		v = year
	case unitQuarter:
		v = (month + 2) / 3
	case unitMonth:
		v = month
	case unitDay:
		v = day
	case unitHour:
		v = hour
	case unitMinute:
		v = minute
	case unitSecond:
		v = second
	case unitMicrosecond:
		v = micro
	case unitYearMonth:
		v = year*100 + month
	case unitDayHour:
		v = day*100 + hour
	case unitDayMinute:
		v = (day*100+hour)*100 + minute
	case unitDaySecond:
		v = ((day*100+hour)*100+minute)*100 + second
	case unitHourMinute:
		v = hour*100 + minute
	case unitHourSecond:
		v = (hour*100+minute)*100 + second
	case unitMinuteSecond:
		v = minute*100 + second
	case unitDayMicrosecond:
		v = (((day*100+hour)*100+minute)*100+second)*1000000 + micro
	case unitHourMicrosecond:
		v = ((hour*100+minute)*100+second)*1000000 + micro
	case unitMinuteMicrosecond:
		v = (minute*100+second)*1000000 + micro
	case unitSecondMicrosecond:
		v = second*1000000 + micro
	}
	return value.Int(sign * v), nil
}

// NewTimestampDiff is TIMESTAMPDIFF(unit, a, b): whole units from a to b.
func NewTimestampDiff(env *BindEnv, unit string, a, b Expr) (Expr, error) {
	u, err := parseUnit(unit)
	if err != nil {
		return nil, err
	}
	if u.fields() != "" {
		return nil, fmt.Errorf("timestampdiff: %w", sqlerr.NotSupported("TIMESTAMPDIFF with unit "+u.name()))
	}
	if err := rejectRows([]Expr{a, b}); err != nil {
		return nil, err
	}
	x, err := convertArg(env, 'd', a)
	if err != nil {
		return nil, err
	}
	y, err := convertArg(env, 'd', b)
	if err != nil {
		return nil, err
	}
	return mustLookup("timestampdiff").call("timestampdiff", []Expr{x, y}, intType(), true, u), nil
}

func microsOf(t value.Time) int64 { return int64(t.DayNumber())*microsPerDay + int64(timeOfDay(t)) }

func rowTimestampDiff(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	x, y := a[0].Time(), a[1].Time()
	if x.HasZeroPart() || y.HasZeroPart() {
		return value.Null, nil
	}
	return value.Int(timestampDiff(f, x, y)), nil
}

func timestampDiff(f *Func, x, y value.Time) int64 {
	u := f.unit()
	switch u {
	case unitYear:
		return monthsBetween(x, y) / 12
	case unitQuarter:
		return monthsBetween(x, y) / 3
	case unitMonth:
		return monthsBetween(x, y)
	}
	us := microsOf(y) - microsOf(x)
	switch u {
	case unitWeek:
		return us / (7 * microsPerDay)
	case unitDay:
		return us / microsPerDay
	case unitHour:
		return us / (3600 * microsPerSecond)
	case unitMinute:
		return us / (60 * microsPerSecond)
	case unitSecond:
		return us / microsPerSecond
	}
	return us
}

// monthsBetween counts the whole months from x to y, negative backward.
func monthsBetween(x, y value.Time) int64 {
	sign := int64(1)
	if y < x {
		x, y, sign = y, x, -1
	}
	m := int64(y.Year()-x.Year())*12 + int64(y.Month()-x.Month())
	if y.Day() < x.Day() || y.Day() == x.Day() && timeOfDay(y) < timeOfDay(x) {
		m--
	}
	return sign * m
}
