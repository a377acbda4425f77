package expr

import (
	"strconv"
	"strings"

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

func dateTextDefs() []entry {
	return []entry{
		fn("date_format", "ts", retDateFormat, rowDateFormat, nullable|ofSettings).vec(vecDateFormat),
		fn("time_format", "Ts", retDateFormat, rowTimeFormat, nullable|ofSettings),
		fn("str_to_date", "ss", retStrToDate, rowStrToDate, nullable),
		fn("get_format", "ss", retASCII(17), rowGetFormat, nullable),
	}
}

func retDateFormat(b *binding) (schema.Type, error) {
	return textType(min(10*textLen(b.args[1]), 4096), b.env.collation()), nil
}

func pad2(out []byte, v int) []byte {
	if uint(v) < 100 {
		return append(out, byte('0'+v/10), byte('0'+v%10))
	}
	return padInt(out, v, 2)
}

func padInt(out []byte, v, width int) []byte {
	if width == 4 && v >= 1000 && v < 10000 {
		return append(out, byte('0'+v/1000), byte('0'+v/100%10), byte('0'+v/10%10), byte('0'+v%10))
	}
	var room [20]byte
	s := strconv.AppendInt(room[:0], int64(v), 10)
	for i := len(s); i < width; i++ {
		out = append(out, '0')
	}
	return append(out, s...)
}

func rowDateFormat(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	t := a[0].Time()
	out, ok := c.timeLocale().format(nil, a[1].Bytes(), t, t.Hour())
	if !ok || len(a[1].Bytes()) == 0 {
		return value.Null, nil
	}
	return c.fromUTF8(f, out), nil
}

// rowTimeFormat formats a TIME, whose hours may exceed 23; parts of a date are
// zero or, for names, NULL.
func rowTimeFormat(c *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	neg, h, m, s, us := a[0].Duration().Parts()
	if len(a[1].Bytes()) == 0 {
		return value.Null, nil
	}
	var out []byte
	if neg {
		out = append(out, '-')
	}
	out, ok := c.timeLocale().format(out, a[1].Bytes(), value.MakeTime(0, 0, 0, h%24, m, s, us), h)
	if !ok {
		return value.Null, nil
	}
	return value.Bytes(out), nil
}

// format expands a DATE_FORMAT pattern; ok is false when the pattern uses a part
// that the date lacks (a zero month's name).
func (l *locale) format(out, format []byte, t value.Time, hour int) (_ []byte, ok bool) {
	for i := 0; i < len(format); i++ {
		if format[i] != '%' || i+1 == len(format) {
			out = append(out, format[i])
			continue
		}
		i++
		if out, ok = l.formatPart(out, format[i], t, hour); !ok {
			return nil, false
		}
	}
	return out, true
}

func (l *locale) formatPart(out []byte, spec byte, t value.Time, hour int) ([]byte, bool) {
	switch spec {
	case 'Y':
		return padInt(out, t.Year(), 4), true
	case 'y':
		return pad2(out, t.Year()%100), true
	case 'm':
		return pad2(out, t.Month()), true
	case 'c':
		return padInt(out, t.Month(), 1), true
	case 'd':
		return pad2(out, t.Day()), true
	case 'e':
		return padInt(out, t.Day(), 1), true
	case 'D':
		return append(padInt(out, t.Day(), 1), ordinal(t.Day())...), true
	case 'M', 'b':
		if t.Month() == 0 {
			return nil, false
		}
		names := l.months
		if spec == 'b' {
			names = l.shortMonths
		}
		return append(out, names[t.Month()-1]...), true
	case 'W', 'a':
		if t.HasZeroPart() {
			return nil, false
		}
		names := l.days
		if spec == 'a' {
			names = l.shortDays
		}
		return append(out, names[weekdayOf(t)]...), true
	case 'w':
		if t.HasZeroPart() {
			return nil, false
		}
		return padInt(out, (weekdayOf(t)+1)%7, 1), true
	case 'j':
		if t.HasZeroPart() {
			return nil, false
		}
		return padInt(out, yearDay(t), 3), true
	case 'H':
		return pad2(out, hour), true
	case 'k':
		return padInt(out, hour, 1), true
	case 'h', 'I':
		return pad2(out, hour12(hour)), true
	case 'l':
		return padInt(out, hour12(hour), 1), true
	case 'i':
		return pad2(out, t.Minute()), true
	case 's', 'S':
		return pad2(out, t.Second()), true
	case 'f':
		return padInt(out, t.Micro(), 6), true
	case 'p':
		return append(out, halfDay(hour)...), true
	case 'r':
		out = append(pad2(out, hour12(hour)), ':')
		out = append(pad2(out, t.Minute()), ':')
		return append(append(pad2(out, t.Second()), ' '), halfDay(hour)...), true
	case 'T':
		out = append(pad2(out, hour), ':')
		out = append(pad2(out, t.Minute()), ':')
		return pad2(out, t.Second()), true
	case 'U', 'u', 'V', 'v', 'X', 'x':
		if t.HasZeroPart() {
			return nil, false
		}
		mode := map[byte]int{'U': 0, 'u': 1, 'V': 2, 'v': 3, 'X': 2, 'x': 3}[spec]
		w, y := weekOf(t, mode)
		if spec == 'X' || spec == 'x' {
			return padInt(out, y, 4), true
		}
		return pad2(out, w), true
	}
	return append(out, spec), true
}

// hour12 is the hour of a clock of twelve hours.
func hour12(hour int) int {
	if h := hour % 12; h != 0 {
		return h
	}
	return 12
}

func halfDay(hour int) string {
	if hour%24 >= 12 {
		return "PM"
	}
	return "AM"
}

func ordinal(d int) string {
	if d >= 10 && d <= 19 {
		return "th"
	}
	switch d % 10 {
	case 1:
		return "st"
	case 2:
		return "nd"
	case 3:
		return "rd"
	}
	return "th"
}

// retStrToDate types STR_TO_DATE by the specifiers of a literal format.
func retStrToDate(b *binding) (schema.Type, error) {
	c, ok := b.args[1].(*Const)
	if !ok || c.D.IsNull() {
		return datetimeType(6), nil
	}
	date, clock, micros := formatParts(c.D.Bytes())
	fsp := 0
	if micros {
		fsp = 6
	}
	switch {
	case date && clock:
		return datetimeType(fsp), nil
	case clock:
		return timeType(fsp), nil
	}
	return dateType(), nil
}

func formatParts(format []byte) (date, clock, micros bool) {
	for i := 0; i+1 < len(format); i++ {
		if format[i] != '%' {
			continue
		}
		i++
		switch format[i] {
		case 'f':
			clock, micros = true, true
		case 'H', 'k', 'h', 'I', 'l', 'i', 's', 'S', 'p', 'r', 'T':
			clock = true
		case '%', '.', '#', '@':
		default:
			date = true
		}
	}
	return date, clock, micros
}

func rowStrToDate(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	p := dateParser{s: a[0].Str(), names: defaultLocale()}
	bad := func() (value.Datum, error) {
		kind := map[schema.TypeID]string{schema.TypeDate: "datetime", schema.TypeTime: "time", schema.TypeDatetime: "datetime"}[f.T.ID]
		e := sqlerr.WrongValueForType(kind, a[0].Str(), "str_to_date")
		if c.Write && c.Mode.Strict() && !c.Ignore {
			return value.Null, e
		}
		c.Warning(e)
		return value.Null, nil
	}
	if !p.parse(a[1].Str()) {
		return bad()
	}
	t, ok := p.time()
	if !ok {
		return bad()
	}
	if f.T.ID == schema.TypeTime {
		return value.DurationOf(timeOfDay(t)), nil
	}
	partial := t.Month() == 0 || t.Day() == 0
	if partial && c.Mode&types.ModeNoZeroInDate != 0 || t.Date() == 0 && c.Mode&types.ModeNoZeroDate != 0 {
		return bad()
	}
	if strings.TrimSpace(p.s) != "" {
		c.Warning(sqlerr.TruncatedWrongValue(f.T.ID.String(), a[0].Str()))
	}
	if f.T.ID == schema.TypeDate {
		t = t.Date()
	}
	return value.TimeOf(t), nil
}

// dateParser reads a text by a STR_TO_DATE format; s is what is left.
type dateParser struct {
	s                          string
	names                      *locale
	year, month, day, yday     int
	hour, minute, second       int
	micro                      int
	pm, am, hour12             bool
	week, weekYear, weekday    int
	weekMonday, weekYearMonday bool
	weekStrict, weekYearGiven  bool // %V and %v, %X and %x
	hasWeek, hasWeekday        bool
}

func (p *dateParser) parse(format string) bool {
	for i := 0; i < len(format); i++ {
		if len(p.s) == 0 && strings.TrimSpace(format[i:]) != "" {
			return true // text ends early: the rest is zero
		}
		if format[i] == ' ' || format[i] == '\t' || format[i] == '\n' {
			p.s = strings.TrimLeft(p.s, " \t\n\r")
			continue
		}
		if format[i] != '%' || i+1 == len(format) {
			p.s = strings.TrimLeft(p.s, " \t\n\r")
			if len(p.s) == 0 || p.s[0] != format[i] {
				return false
			}
			p.s = p.s[1:]
			continue
		}
		i++
		if format[i] != '.' && format[i] != '@' && format[i] != '#' {
			p.s = strings.TrimLeft(p.s, " \t\n\r")
		}
		if !p.part(format[i]) {
			return false
		}
	}
	return true
}

// number reads up to width digits.
func (p *dateParser) number(width int, to *int) bool {
	n := 0
	for n < width && n < len(p.s) && p.s[n] >= '0' && p.s[n] <= '9' {
		n++
	}
	if n == 0 {
		return false
	}
	*to, _ = strconv.Atoi(p.s[:n])
	p.s = p.s[n:]
	return true
}

// name reads one of the names, ignoring case.
func (p *dateParser) name(names []string, to *int) bool {
	for i, n := range names {
		if n != "" && len(p.s) >= len(n) && strings.EqualFold(p.s[:len(n)], n) {
			*to = i
			p.s = p.s[len(n):]
			return true
		}
	}
	return false
}

func (p *dateParser) part(spec byte) bool {
	switch spec {
	case 'Y':
		start := len(p.s)
		ok := p.number(4, &p.year)
		if start-len(p.s) <= 2 {
			p.year = int(fullYear(int64(p.year)))
		}
		return ok
	case 'y':
		ok := p.number(2, &p.year)
		p.year = int(fullYear(int64(p.year)))
		return ok
	case 'm', 'c':
		return p.number(2, &p.month)
	case 'M':
		ok := p.name(p.names.months, &p.month)
		p.month++
		return ok
	case 'b':
		ok := p.name(p.names.shortMonths, &p.month)
		p.month++
		return ok
	case 'd', 'e':
		return p.number(2, &p.day)
	case 'D':
		ok := p.number(2, &p.day) && len(p.s) >= 2
		if ok {
			p.s = p.s[2:]
		}
		return ok
	case 'j':
		return p.number(3, &p.yday) && p.yday > 0
	case 'H', 'k':
		return p.number(2, &p.hour)
	case 'h', 'I', 'l':
		p.hour12 = true
		return p.number(2, &p.hour) && p.hour >= 1 && p.hour <= 12
	case 'i':
		return p.number(2, &p.minute)
	case 's', 'S':
		return p.number(2, &p.second)
	case 'f':
		before := len(p.s)
		ok := p.number(6, &p.micro)
		for n := before - len(p.s); ok && n < 6; n++ {
			p.micro *= 10
		}
		return ok
	case 'p':
		if len(p.s) < 2 {
			return false
		}
		p.pm, p.am = strings.EqualFold(p.s[:2], "PM"), strings.EqualFold(p.s[:2], "AM")
		p.s = p.s[2:]
		return p.pm || p.am
	case 'r':
		return p.parse("%I:%i:%S %p")
	case 'T':
		return p.parse("%H:%i:%S")
	case 'a':
		p.hasWeekday = true
		return p.name(p.names.shortDays, &p.weekday)
	case 'W':
		p.hasWeekday = true
		return p.name(p.names.days, &p.weekday)
	case 'w':
		p.hasWeekday = true
		ok := p.number(1, &p.weekday) && p.weekday < 7
		p.weekday = (p.weekday + 6) % 7 // 0 is Sunday
		return ok
	case 'V', 'U', 'v', 'u':
		p.hasWeek = true
		p.weekMonday, p.weekStrict = spec == 'v' || spec == 'u', spec == 'V' || spec == 'v'
		return p.number(2, &p.week) && p.week <= 53 && (p.week > 0 || !p.weekStrict)
	case 'X', 'x':
		p.weekYearGiven, p.weekYearMonday = true, spec == 'x'
		return p.number(4, &p.weekYear)
	case '.':
		return p.skip(func(b byte) bool {
			return b > ' ' && b < 0x7f && !(b >= '0' && b <= '9' || b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z')
		})
	case '@':
		return p.skip(func(b byte) bool { return b >= 'a' && b <= 'z' || b >= 'A' && b <= 'Z' })
	case '#':
		return p.skip(func(b byte) bool { return b >= '0' && b <= '9' })
	case '%':
		if !strings.HasPrefix(p.s, "%") {
			return false
		}
		p.s = p.s[1:]
		return true
	}
	return false
}

func (p *dateParser) skip(in func(byte) bool) bool {
	for len(p.s) > 0 && in(p.s[0]) {
		p.s = p.s[1:]
	}
	return true
}

// time puts the parts together.
func (p *dateParser) time() (value.Time, bool) {
	if p.hour12 {
		p.hour %= 12
		if p.pm {
			p.hour += 12
		}
	} else if p.pm || p.am {
		return 0, false // %p needs hours of a half day
	}
	if p.hour > 23 || p.minute > 59 || p.second > 59 {
		return 0, false
	}
	switch {
	case p.yday > 0:
		t := value.FromDayNumber(value.MakeTime(p.year, 1, 1, 0, 0, 0, 0).DayNumber() + p.yday - 1)
		p.year, p.month, p.day = t.Year(), t.Month(), t.Day()
	case p.hasWeek && p.hasWeekday:
		t, ok := p.fromWeek()
		if !ok {
			return 0, false
		}
		p.year, p.month, p.day = t.Year(), t.Month(), t.Day()
	}
	if p.month > 12 || p.day > 31 || p.year > 9999 {
		return 0, false
	}
	if p.month > 0 && p.day > value.DaysInMonth(p.year, p.month) {
		return 0, false
	}
	return value.MakeTime(p.year, p.month, p.day, p.hour, p.minute, p.second, p.micro), true
}

// fromWeek is the day of a year, week number and weekday. %V needs %X, and %v needs %x;
// %U and %u have none of them.
func (p *dateParser) fromWeek() (value.Time, bool) {
	if p.weekStrict != p.weekYearGiven || p.weekStrict && p.weekMonday != p.weekYearMonday {
		return 0, false
	}
	year := p.year
	if p.weekYearGiven {
		year = p.weekYear
	}
	if year < 1 || year > 9999 {
		return 0, false
	}
	first := value.MakeTime(year, 1, 1, 0, 0, 0, 0).DayNumber()
	wd := startWeekday(first, p.weekMonday)
	weekday := p.weekday
	if !p.weekMonday {
		weekday = (weekday + 1) % 7
	}
	// The week with number 1: for Sunday the first that starts in the year,
	// for Monday the first with four days in it.
	start := first - wd
	if !p.weekMonday && wd != 0 || p.weekMonday && wd > 3 {
		start += 7
	}
	t := value.FromDayNumber(start + (p.week-1)*7 + weekday)
	return t, t != value.ZeroTime
}

var getFormats = map[string]string{
	"date usa": "%m.%d.%Y", "date jis": "%Y-%m-%d", "date iso": "%Y-%m-%d", "date eur": "%d.%m.%Y", "date internal": "%Y%m%d",
	"datetime usa": "%Y-%m-%d %H.%i.%s", "datetime jis": "%Y-%m-%d %H:%i:%s", "datetime iso": "%Y-%m-%d %H:%i:%s",
	"datetime eur": "%Y-%m-%d %H.%i.%s", "datetime internal": "%Y%m%d%H%i%s",
	"time usa": "%h:%i:%s %p", "time jis": "%H:%i:%s", "time iso": "%H:%i:%s", "time eur": "%H.%i.%s", "time internal": "%H%i%s",
}

func rowGetFormat(_ *Ctx, _ *Func, a []value.Datum) (value.Datum, error) {
	kind := strings.ToLower(a[0].Str())
	if kind == "timestamp" {
		kind = "datetime"
	}
	f, ok := getFormats[kind+" "+strings.ToLower(a[1].Str())]
	if !ok {
		return value.Null, nil
	}
	return value.String(f), nil
}
