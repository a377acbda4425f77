package expr

import (
	"bytes"
	"time"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

func dateDefs() []entry {
	// part is a function of a date; zero dates give what get returns for them.
	part := func(names string, width int, get func(value.Time) int, loop wordLoop) entry {
		return fn(names, "t", retInt(width), func(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
			return value.Int(int64(get(a[0].Time()))), nil
		}, nullable).vec(vecWords(value.KindTime, loop))
	}
	// whole is a function of a date without zero parts, NULL for others.
	whole := func(names string, ret typeFunc, get func(value.Time) int64) entry {
		return fn(names, "d", ret, func(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
			t := a[0].Time()
			if t.Month() == 0 || t.Day() == 0 {
				return value.Null, nil
			}
			return value.Int(get(t)), nil
		}, nullable).vec(vecWhole(get))
	}
	clock := func(names string, part clockPart) entry {
		return fn(names, "T", retInt(6), func(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
			_, h, m, s, us := a[0].Duration().Parts()
			return value.Int(int64(part.ofDuration(h, m, s, us))), nil
		}, nullable).vec(vecClock(part, false))
	}
	return []entry{
		fn("now current_timestamp localtime localtimestamp", "?i", retNow, rowNow, notNull|ofSession),
		fn("sysdate", "?i", retNow, rowSysdate, notNull|volatile|ofSession),
		fn("utc_timestamp", "?i", retNow, rowUTCTimestamp, notNull|ofSession),
		fn("curdate current_date", "", retDate, rowCurdate, notNull|ofSession),
		fn("utc_date", "", retDate, rowUTCDate, notNull|ofSession),
		fn("curtime current_time", "?i", retCurtime, rowCurtime, notNull|ofSession),
		fn("utc_time", "?i", retCurtime, rowUTCTime, notNull|ofSession),
		fn("date", "t", retDate, rowDate, nullable).vec(vecWords(value.KindTime, dateWords)),
		fn("time", "T", retTimeOf0, rowSame, nullable),
		fn("timestamp", "t?T", retTimestamp, rowTimestamp, nullable|ofSession),
		part("year", 4, value.Time.Year, yearWords), part("month", 2, value.Time.Month, monthWords), part("day dayofmonth", 2, value.Time.Day, dayWords),
		part("quarter", 1, func(t value.Time) int { return (t.Month() + 2) / 3 }, quarterWords),
		whole("dayofweek", retInt(1), func(t value.Time) int64 { return int64((weekdayOf(t)+1)%7 + 1) }),
		whole("weekday", retInt(1), func(t value.Time) int64 { return int64(weekdayOf(t)) }),
		whole("dayofyear", retInt(3), func(t value.Time) int64 { return int64(yearDay(t)) }),
		fn("dayname", "d", retASCII(64), rowDayName, nullable|ofSettings).vec(vecDateName(func(l *locale) []string { return l.days[:] }, dayIndex)),
		fn("monthname", "t", retASCII(64), rowMonthName, nullable|ofSettings).vec(vecDateName(func(l *locale) []string { return l.months[:] }, monthIndex)),
		fn("last_day", "t", retDate, rowLastDay, nullable).vec(vecLastDay),
		whole("to_days", retInt(7), func(t value.Time) int64 { return int64(t.DayNumber()) }),
		whole("to_seconds", retInt(12), func(t value.Time) int64 { return int64(t.DayNumber())*86400 + int64(timeOfDay(t))/microsPerSecond }),
		whole("weekofyear", retInt(2), func(t value.Time) int64 { w, _ := weekOf(t, 3); return int64(w) }),
		fn("week", "d?i", retInt(2), rowWeek, nullable|loose|ofSettings).vec(vecWeek(func(t value.Time, mode int) int64 { w, _ := weekOf(t, mode); return int64(w) })),
		fn("yearweek", "d?i", retInt(6), rowYearWeek, nullable|loose).vec(vecWeek(func(t value.Time, mode int) int64 { w, y := weekOf(t, mode|2); return int64(y*100 + w) })),
		clock("hour", clockParts[0]), clock("minute", clockParts[1]), clock("second", clockParts[2]), clock("microsecond", clockParts[3]),
		fn("from_days", "i", retDate, rowFromDays, nullable),
		fn("makedate", "ii", retDate, rowMakedate, nullable),
		fn("maketime", "iin", retMaketime, rowMaketime, nullable),
		fn("time_to_sec", "T", retInt(10), rowTimeToSec, nullable).vec(vecWords(value.KindDuration, secondsWords)),
		fn("sec_to_time", "n", retSecToTime, rowSecToTime, nullable),
		special("addtime", bindAddtime, def{b: Builtin{Row: rowAddtime, impl: impl{strict: true}}}),
		special("subtime", bindAddtime, def{b: Builtin{Row: rowAddtime, impl: impl{strict: true}}}),
		special("timediff", bindTimediff, def{b: Builtin{Row: rowTimediff, impl: impl{strict: true}}}),
		fn("datediff", "dd", retInt(7), rowDatediff, nullable).vec(vecTimePair(daysBetween)),
		fn("unix_timestamp", "?x", retUnixTimestamp, rowUnixTimestamp, ofSession).vec(vecUnixTimestamp),
		special("from_unixtime", bindFromUnixtime, def{flags: ofSession, b: Builtin{Row: rowFromUnixtime, impl: impl{strict: true, vec: vecFromUnixtime}}}),
		fn("convert_tz", "dss", retConvertTZ, rowConvertTZ, nullable|ofSession),
		fn("period_add", "ii", retInt(6), rowPeriodAdd, 0),
		fn("period_diff", "ii", retInt(6), rowPeriodDiff, 0),
		special("adddate", bindAddDays, def{}),
		special("subdate", bindAddDays, def{}),
		special("date_add timestampadd", unboundUnit, def{b: Builtin{Row: rowDateAdd, impl: impl{strict: true, vec: vecDateArith(false)}}}),
		special("date_sub", unboundUnit, def{b: Builtin{Row: rowDateSub, impl: impl{strict: true, vec: vecDateArith(true)}}}),
		special("extract", unboundUnit, def{flags: ofSettings, b: Builtin{Row: rowExtract, impl: impl{strict: true, vec: vecExtract}}}),
		special("timestampdiff", unboundUnit, def{b: Builtin{Row: rowTimestampDiff, impl: impl{strict: true, vec: vecTimePair(timestampDiff)}}}),
	}
}

// unboundUnit: calls with units are made by constructors of their own.
func unboundUnit(_ *def, _ *BindEnv, name string, _ []Expr) (Expr, error) {
	return nil, wrongCount(name)
}

// rowLastDay needs no day, but a month: 1292.
func rowLastDay(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	t := a[0].Time()
	if t.Month() == 0 {
		text := types.AppendText(nil, types.Date, value.TimeOf(t.Date()))
		c.Warning(sqlerr.IncorrectTemporal("datetime", string(text)))
		return value.Null, nil
	}
	return value.TimeOf(value.MakeTime(t.Year(), t.Month(), value.DaysInMonth(t.Year(), t.Month()), 0, 0, 0, 0)), nil
}

func bindAddDays(_ *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 2 {
		return nil, wrongCount(name)
	}
	return NewDateArith(env, name == "subdate", args[0], args[1], "day")
}

// nowState is the statement's time, converted once.
type nowState struct {
	known      bool
	local, utc value.Time
}

func (c *Ctx) loc() *time.Location {
	if c.Loc == nil {
		return time.UTC
	}
	return c.Loc
}

func (c *Ctx) times() *nowState {
	n := c.extras()
	if !n.now.known {
		now := c.Now
		if now.IsZero() {
			now = time.Now()
		}
		n.now = nowState{true, value.FromGo(now.In(c.loc())), value.FromGo(now.UTC())}
	}
	return &n.now
}

func literalFsp(b *binding, name string) (int, error) {
	if len(b.args) == 0 {
		return 0, nil
	}
	v, ok := constInt(b.args[0])
	if !ok {
		return 0, sqlerr.WrongArguments(name)
	}
	if v < 0 || v > 6 {
		return 0, sqlerr.PrecisionTooBig(int(min(max(v, 0), 1<<30)), name, 6)
	}
	return int(v), nil
}

func retNow(b *binding) (schema.Type, error) {
	fsp, err := literalFsp(b, b.name)
	return datetimeType(fsp), err
}

func retCurtime(b *binding) (schema.Type, error) {
	fsp, err := literalFsp(b, b.name)
	return timeType(fsp), err
}

func rowNow(c *Ctx, f *Func, _ []value.Datum) (value.Datum, error) {
	return value.TimeOf(c.times().local.TruncateFSP(f.T.Scale)), nil
}

func rowSysdate(c *Ctx, f *Func, _ []value.Datum) (value.Datum, error) {
	return value.TimeOf(value.FromGo(time.Now().In(c.loc())).TruncateFSP(f.T.Scale)), nil
}

func rowUTCTimestamp(c *Ctx, f *Func, _ []value.Datum) (value.Datum, error) {
	return value.TimeOf(c.times().utc.TruncateFSP(f.T.Scale)), nil
}

func rowCurdate(c *Ctx, _ *Func, _ []value.Datum) (value.Datum, error) {
	return value.TimeOf(c.times().local.Date()), nil
}

func rowUTCDate(c *Ctx, _ *Func, _ []value.Datum) (value.Datum, error) {
	return value.TimeOf(c.times().utc.Date()), nil
}

func rowCurtime(c *Ctx, f *Func, _ []value.Datum) (value.Datum, error) {
	return value.DurationOf(timeOfDay(c.times().local.TruncateFSP(f.T.Scale))), nil
}

func rowUTCTime(c *Ctx, f *Func, _ []value.Datum) (value.Datum, error) {
	return value.DurationOf(timeOfDay(c.times().utc.TruncateFSP(f.T.Scale))), nil
}

func rowDate(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	return value.TimeOf(a[0].Time().Date()), nil
}

func rowSame(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) { return a[0], nil }

func retTimeOf0(b *binding) (schema.Type, error) { return timeType(argFsp(b.orig[0])), nil }

func retTimestamp(b *binding) (schema.Type, error) {
	fsp := argFsp(b.orig[0])
	if len(b.args) > 1 {
		fsp = max(fsp, argFsp(b.orig[1]))
	}
	return datetimeType(fsp), nil
}

func rowTimestamp(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	if len(a) == 1 {
		return a[0], nil
	}
	t, ok := addSpan(a[0].Time(), span{micros: int64(a[1].Duration())})
	if !ok {
		return overflow(c, "datetime")
	}
	return value.TimeOf(t), nil
}

// weekdayOf is 0 for Monday to 6 for Sunday.
func weekdayOf(t value.Time) int { return (t.DayNumber() + 5) % 7 }

func yearDay(t value.Time) int {
	return t.DayNumber() - value.MakeTime(t.Year(), 1, 1, 0, 0, 0, 0).DayNumber() + 1
}

func rowMonthName(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	m := a[0].Time().Month()
	if m == 0 {
		return value.Null, nil
	}
	return c.fromUTF8(f, []byte(c.timeLocale().months[m-1])), nil
}

// dayIndex is the position of a date's name, -1 with zero parts.
func dayIndex(t value.Time) int {
	if t.HasZeroPart() {
		return -1
	}
	return weekdayOf(t)
}

func monthIndex(t value.Time) int { return t.Month() - 1 }

func rowDayName(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	t := a[0].Time()
	if t.Month() == 0 || t.Day() == 0 {
		return value.Null, nil
	}
	return c.fromUTF8(f, []byte(c.timeLocale().days[weekdayOf(t)])), nil
}

// weekOf is WEEK(t, mode) and the year that the week belongs to. Mode bit 0:
// weeks start on Monday; bit 1: weeks are 1 to 53 of the year they belong to;
// bit 2: week 1 is the first that starts in the year (for Monday reversed).
func weekOf(t value.Time, mode int) (week, year int) {
	mode &= 7
	monday, weekYear, firstWeekday := mode&1 != 0, mode&2 != 0, mode&4 != 0
	if !monday {
		firstWeekday = !firstWeekday
	}
	day := t.DayNumber()
	year = t.Year()
	first := value.MakeTime(year, 1, 1, 0, 0, 0, 0).DayNumber()
	wd := startWeekday(first, monday)
	if t.Month() == 1 && t.Day() <= 7-wd {
		if !weekYear && (firstWeekday && wd != 0 || !firstWeekday && wd >= 4) {
			return 0, year
		}
		weekYear = true
		year--
		days := daysInYear(year) // of the year before 0 as well
		first -= days
		wd = (wd + 53*7 - days) % 7
	}
	var days int
	if firstWeekday && wd != 0 || !firstWeekday && wd >= 4 {
		days = day - (first + (7 - wd))
	} else {
		days = day - (first - wd)
	}
	if weekYear && days >= 52*7 {
		wd = (wd + daysInYear(year)) % 7
		if !firstWeekday && wd < 4 || firstWeekday && wd == 0 {
			return 1, year + 1
		}
	}
	return days/7 + 1, year
}

// startWeekday is the position of a day in its week.
func startWeekday(day int, monday bool) int {
	if monday {
		return (day + 5) % 7
	}
	return (day + 6) % 7
}

func daysInYear(y int) int {
	if y%4 == 0 && (y%100 != 0 || y%400 == 0) {
		return 366
	}
	return 365
}

// weekArgs are date and mode; a mode of NULL is 0.
func weekArgs(a []value.Datum) (value.Time, int, bool) {
	if a[0].IsNull() {
		return 0, 0, false
	}
	t := a[0].Time()
	mode := 0
	if len(a) > 1 && !a[1].IsNull() {
		mode = int(asInt(a[1]) & 7)
	}
	return t, mode, t.Month() != 0 && t.Day() != 0
}

// weekMode is default_week_format.
func (c *Ctx) weekMode() int {
	if d := c.setting("default_week_format"); !d.IsNull() {
		return int(d.Bits() & 7)
	}
	return 0
}

func rowWeek(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	t, mode, ok := weekArgs(a)
	if len(a) == 1 {
		mode = c.weekMode()
	}
	if !ok {
		return value.Null, nil
	}
	w, _ := weekOf(t, mode)
	return value.Int(int64(w)), nil
}

// rowYearWeek starts from mode 0, whatever default_week_format is.
func rowYearWeek(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	t, mode, ok := weekArgs(a)
	if !ok {
		return value.Null, nil
	}
	w, y := weekOf(t, mode|2)
	return value.Int(int64(y*100 + w)), nil
}

func rowFromDays(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	n := asInt(a[0])
	if n < 366 || n > maxDayNumber {
		return value.TimeOf(value.ZeroTime), nil
	}
	return value.TimeOf(value.FromDayNumber(int(n))), nil
}

// fullYear completes a year of two digits.
func fullYear(y int64) int64 {
	switch {
	case y < 70:
		return y + 2000
	case y < 100:
		return y + 1900
	}
	return y
}

func rowMakedate(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	y, n := asInt(a[0]), asInt(a[1])
	if y < 0 || y > 9999 || n <= 0 || n > maxDayNumber {
		return value.Null, nil
	}
	if y < 100 {
		y = fullYear(y)
	}
	day := int64(value.MakeTime(int(y), 1, 1, 0, 0, 0, 0).DayNumber()) + n - 1
	if day > maxDayNumber {
		return value.Null, nil
	}
	return value.TimeOf(value.FromDayNumber(int(day))), nil
}

func retMaketime(b *binding) (schema.Type, error) {
	if k := kindOf(b.args[2]); k == value.KindFloat {
		x, err := NewCast(b.env, b.args[2], decimalType(maxPrecision, 6), false)
		if err != nil {
			return schema.Type{}, err
		}
		b.args[2] = x
	}
	return timeType(numberFsp(b.orig[2])), nil
}

func rowMaketime(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	h, m := asInt(a[0]), asInt(a[1])
	us, ok := microsOfNumber(a[2])
	if m < 0 || m > 59 || !ok || us < 0 || us >= 60*microsPerSecond {
		return value.Null, nil
	}
	neg := h < 0
	if abs64(h) > 838 {
		return clipTime(c, value.Duration(value.MaxDuration+1), neg)
	}
	d := value.Duration((abs64(h)*3600+m*60)*microsPerSecond + us)
	return clipTime(c, d, neg)
}

// clipTime bounds a TIME, with a warning.
func clipTime(c *Ctx, d value.Duration, neg bool) (value.Datum, error) {
	if d > value.MaxDuration {
		c.Warning(sqlerr.TruncatedWrongValue("time", string(value.Duration(value.MaxDuration).AppendText(nil, 0))))
		d = value.MaxDuration
	}
	if neg {
		d = -d
	}
	return value.DurationOf(d), nil
}

// microsOfNumber is a number of seconds in microseconds, rounded.
func microsOfNumber(d value.Datum) (int64, bool) {
	switch d.Kind() {
	case value.KindInt, value.KindUint:
		n := asInt(d)
		if abs64(n) > 1<<62/microsPerSecond || n < -1<<62 {
			return 0, false
		}
		return n * microsPerSecond, true
	case value.KindDecimal:
		v := d.Decimal()
		return v.Mul(value.DecimalFromInt(microsPerSecond)).Int64()
	}
	return 0, false
}

func rowTimeToSec(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	return value.Int(int64(a[0].Duration()) / microsPerSecond), nil
}

func retSecToTime(b *binding) (schema.Type, error) {
	if kindOf(b.args[0]) == value.KindFloat {
		x, err := NewCast(b.env, b.args[0], decimalType(maxPrecision, 6), false)
		if err != nil {
			return schema.Type{}, err
		}
		b.args[0] = x
	}
	return timeType(numberFsp(b.orig[0])), nil
}

// numberFsp is argFsp of a number; a text in its place has all six places.
func numberFsp(e Expr) int {
	if e.Type().IsString() {
		return 6
	}
	return argFsp(e)
}

func rowSecToTime(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	us, ok := microsOfNumber(a[0])
	if !ok {
		us = int64(value.MaxDuration) + 1
		if n, err := types.ToFloat(nil, a[0], f.Args[0].Type()); err == nil && n < 0 {
			us = -us
		}
	}
	return clipTime(c, value.Duration(abs64(us)), us < 0)
}

// bindAddtime types ADDTIME and SUBTIME: DATETIME or TIME by the first
// argument, text for text.
func bindAddtime(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 2 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	fsp := max(argFsp(args[0]), argFsp(args[1]))
	b, err := convertArg(env, 'T', args[1])
	if err != nil {
		return nil, err
	}
	a, t := args[0], args[0].Type()
	switch {
	case t.HasDate():
		t = datetimeType(fsp)
	case t.ID == schema.TypeTime:
		t = timeType(fsp)
	default:
		if a, err = convertArg(env, 's', a); err != nil {
			return nil, err
		}
		t = textType(29, env.collation())
	}
	// A date and time cannot be added.
	if args[1].Type().HasDate() {
		b = &Const{T: timeType(0)}
	}
	return d.call(name, []Expr{a, b}, t, true, nil), nil
}

// textIsDatetime reports whether a text is a date (and time) rather than a
// TIME: MySQL looks for one from twelve characters on.
func textIsDatetime(s []byte) bool {
	s = bytes.TrimSpace(s)
	if len(s) < 12 {
		return false
	}
	return bytes.IndexByte(s[1:], '-') >= 0 || bytes.IndexByte(s, ':') < 0 && len(bytes.Trim(s, "0123456789.")) == 0
}

func rowAddtime(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	us := int64(a[1].Duration())
	if f.Op == OpSubTime {
		us = -us
	}
	switch a[0].Kind() {
	case value.KindTime:
		if a[0].Time().IsZero() {
			return value.Null, nil
		}
		t, ok := addSpan(a[0].Time(), span{micros: us})
		if !ok {
			return overflow(c, "datetime")
		}
		return value.TimeOf(t), nil
	case value.KindDuration:
		sum := int64(a[0].Duration()) + us
		return clipTime(c, value.Duration(abs64(sum)), sum < 0)
	}
	fsp := 0
	if textIsDatetime(a[0].Bytes()) {
		t, ok, err := types.ParseTime(&c.Env, a[0].Bytes(), datetimeType(6))
		if err != nil || !ok {
			return value.Null, err
		}
		if t.IsZero() {
			return value.Null, nil
		}
		if t, ok = addSpan(t, span{micros: us}); !ok {
			return overflow(c, "datetime")
		}
		if t.Micro() != 0 {
			fsp = 6
		}
		return value.Bytes(t.AppendText(nil, fsp, false)), nil
	}
	d, ok, err := types.ParseDuration(&c.Env, a[0].Bytes(), 6)
	if err != nil || !ok {
		return value.Null, err
	}
	sum := int64(d) + us
	r, err := clipTime(c, value.Duration(abs64(sum)), sum < 0)
	if err != nil {
		return value.Null, err
	}
	if int64(r.Duration())%microsPerSecond != 0 {
		fsp = 6
	}
	return value.Bytes(r.Duration().AppendText(nil, fsp)), nil
}

func bindTimediff(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 2 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	out := make([]Expr, 2)
	fsp := 0
	for i, a := range args {
		fsp = max(fsp, argFsp(a))
		out[i] = a
		if !a.Type().IsTemporal() {
			x, err := convertArg(env, 's', a)
			if err != nil {
				return nil, err
			}
			out[i] = x
		}
	}
	return d.call(name, out, timeType(fsp), true, nil), nil
}

// rowTimediff subtracts two times of one class; of a date and a TIME the
// difference is NULL.
func rowTimediff(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	var us [2]int64
	var dated [2]bool
	for i, d := range a {
		switch d.Kind() {
		case value.KindTime:
			us[i], dated[i] = microsOf(d.Time()), true
		case value.KindDuration:
			us[i] = int64(d.Duration())
		default:
			if dated[i] = textIsDatetime(d.Bytes()); dated[i] {
				t, ok, err := types.ParseTime(&c.Env, d.Bytes(), datetimeType(6))
				if err != nil || !ok {
					return value.Null, err
				}
				us[i] = microsOf(t)
				continue
			}
			t, ok, err := types.ParseDuration(&c.Env, d.Bytes(), 6)
			if err != nil || !ok {
				return value.Null, err
			}
			us[i] = int64(t)
		}
	}
	if dated[0] != dated[1] {
		return value.Null, nil
	}
	diff := us[0] - us[1]
	return clipTime(c, value.Duration(abs64(diff)), diff < 0)
}

func rowDatediff(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	x, y := a[0].Time(), a[1].Time()
	if x.HasZeroPart() || y.HasZeroPart() {
		return value.Null, nil
	}
	return value.Int(daysBetween(f, x, y)), nil
}

func daysBetween(_ *Func, x, y value.Time) int64 { return int64(x.DayNumber() - y.DayNumber()) }

func retUnixTimestamp(b *binding) (schema.Type, error) {
	if len(b.args) == 0 {
		b.null = false
		return intType(), nil
	}
	b.null = true
	x, err := convertArg(b.env, 't', b.args[0])
	if err != nil {
		return schema.Type{}, err
	}
	b.args[0] = x
	if fsp := argFsp(b.orig[0]); fsp > 0 {
		return decimalType(12+fsp, fsp), nil
	}
	return intType(), nil
}

// maxUnix is the end of TIMESTAMP functions: 3001-01-18 23:59:59 UTC.
const maxUnix = 32536771199

func rowUnixTimestamp(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	if len(a) == 0 {
		now := c.Now
		if now.IsZero() {
			now = time.Now()
		}
		return value.Int(now.Unix()), nil
	}
	var us int64
	if t := a[0].Time(); t.Month() != 0 && t.Day() != 0 {
		if g, ok := t.Go(c.loc()); ok {
			us = g.UnixMicro()
		}
	}
	if us < 0 || us > (maxUnix+1)*microsPerSecond-1 {
		us = 0
	}
	if types.KindOf(f.T) == value.KindInt {
		return value.Int(us / microsPerSecond), nil
	}
	d := value.DecimalFromInt128(0, uint64(us), 6)
	return value.Dec(d.Truncate(f.T.Scale)), nil
}

// bindFromUnixtime types FROM_UNIXTIME(n[, format]).
func bindFromUnixtime(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 1 && len(args) != 2 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	a, err := toNumber(env, args[0])
	if err == nil && kindOf(a) == value.KindFloat {
		a, err = NewCast(env, a, decimalType(maxPrecision, 6), false)
	}
	if err != nil {
		return nil, err
	}
	fsp := numberFsp(args[0])
	from := Expr(d.call(name, []Expr{a}, datetimeType(fsp), true, nil))
	if len(args) == 1 {
		return from, nil
	}
	return NewFunc(env, "date_format", from, args[1])
}

func rowFromUnixtime(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	us, ok := microsOfNumber(a[0])
	if !ok || us < 0 || us > (maxUnix+1)*microsPerSecond-1 {
		return value.Null, nil
	}
	return value.TimeOf(value.FromGo(time.UnixMicro(us).In(c.loc())).TruncateFSP(f.T.Scale)), nil
}

func retConvertTZ(b *binding) (schema.Type, error) { return datetimeType(argFsp(b.orig[0])), nil }

// rowConvertTZ does not change times outside of the TIMESTAMP range.
func rowConvertTZ(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	from, err := c.location(a[1].Str())
	if err != nil {
		return value.Null, nil
	}
	to, err := c.location(a[2].Str())
	if err != nil {
		return value.Null, nil
	}
	t := a[0].Time()
	if t.Month() == 0 || t.Day() == 0 {
		return value.Null, nil
	}
	g, ok := t.Go(from)
	if !ok || g.Unix() < 1 || g.Unix() > maxUnix {
		return a[0], nil
	}
	return value.TimeOf(value.FromGo(g.In(to))), nil
}

func (c *Ctx) location(name string) (*time.Location, error) {
	if len(name) == 6 && (name == "SYSTEM" || name == "system") {
		return c.loc(), nil
	}
	return types.LoadLocation(name)
}

func rowPeriodAdd(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	m, ok := periodMonths(asInt(a[0]))
	if !ok {
		return value.Null, sqlerr.WrongArguments("period_add")
	}
	return value.Int(monthsPeriod(m + asInt(a[1]))), nil
}

func rowPeriodDiff(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	x, ok1 := periodMonths(asInt(a[0]))
	y, ok2 := periodMonths(asInt(a[1]))
	if !ok1 || !ok2 {
		return value.Null, sqlerr.WrongArguments("period_diff")
	}
	return value.Int(x - y), nil
}

// periodMonths reads YYMM or YYYYMM as a count of months.
func periodMonths(p int64) (int64, bool) {
	if p <= 0 || p%100 == 0 || p%100 > 12 || p > 999912 {
		return 0, false
	}
	return fullYear(p/100)*12 + p%100 - 1, true
}

func monthsPeriod(m int64) int64 {
	if m == 0 {
		return 0
	}
	return fullYear(m/12)*100 + m%12 + 1
}
