package value

import (
	"strconv"
	"time"
)

// Time is a calendar date with time of day to the microsecond, without time
// zone, packed so that order of the numbers is order in time:
//
//	bits 63..46  year*13 + month   (17 bits used)
//	bits 45..41  day
//	bits 40..36  hour
//	bits 35..30  minute
//	bits 29..24  second
//	bits 23..0   microsecond
//
// Parts may be zero (MySQL's '0000-00-00' and '2020-00-00'); ZeroTime is all
// zero. The form is MySQL's packed DATETIME.
type Time uint64

// ZeroTime is '0000-00-00 00:00:00'.
const ZeroTime Time = 0

// MakeTime packs the parts without checking them.
func MakeTime(year, month, day, hour, minute, second, micro int) Time {
	ym := uint64(year*13 + month)
	return Time(ym<<46 | uint64(day)<<41 | uint64(hour)<<36 | uint64(minute)<<30 | uint64(second)<<24 | uint64(micro))
}

// Year is 0 to 9999.
func (t Time) Year() int { return int(t>>46) / 13 }

// Month is 0 to 12.
func (t Time) Month() int { return int(t>>46) % 13 }

// Day is 0 to 31.
func (t Time) Day() int { return int(t>>41) & 31 }

// Hour is 0 to 23.
func (t Time) Hour() int { return int(t>>36) & 31 }

// Minute is 0 to 59.
func (t Time) Minute() int { return int(t>>30) & 63 }

// Second is 0 to 59.
func (t Time) Second() int { return int(t>>24) & 63 }

// Micro is 0 to 999999.
func (t Time) Micro() int { return int(t & (1<<24 - 1)) }

// Date is t with its time of day cut off.
func (t Time) Date() Time { return t &^ (1<<41 - 1) }

// IsZero reports the zero time.
func (t Time) IsZero() bool { return t == 0 }

// Duration is a signed length of time or time of day in microseconds, MySQL's
// TIME: at most 838:59:59 either way.
type Duration int64

// MaxDuration is 838:59:59.
const MaxDuration Duration = (838*3600 + 59*60 + 59) * 1000000

// TimeFlags says what Time.Check accepts in addition to real dates.
type TimeFlags uint8

// The flags.
const (
	// AllowZeroDate accepts '0000-00-00'.
	AllowZeroDate TimeFlags = 1 << iota
	// AllowZeroInDate accepts a zero month or day in another date.
	AllowZeroInDate
	// AllowInvalidDates accepts days up to 31 in every month.
	AllowInvalidDates
)

const (
	microsPerSecond = 1_000_000
	microsPerDay    = 86400 * microsPerSecond
	maxDayNumber    = 3652424 // 9999-12-31
)

// daysBefore is the days of the months before month m of a common year; month
// 0 counts as one of 31 days before January, as in TO_DAYS.
var daysBefore = [13]int16{-31, 0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334}

// IsLeap reports a leap year; year 0 is none, as in MySQL.
func IsLeap(year int) bool {
	return year&3 == 0 && (year%100 != 0 || year%400 == 0) && year != 0
}

// DaysInMonth is 28 to 31; 31 for month 0.
func DaysInMonth(year, month int) int {
	switch month {
	case 4, 6, 9, 11:
		return 30
	case 2:
		if IsLeap(year) {
			return 29
		}
		return 28
	}
	return 31
}

// IsDateOnly reports that the time of day is zero.
func (t Time) IsDateOnly() bool { return t&(1<<41-1) == 0 }

// HasZeroPart reports a zero month or day: such a time is not on the calendar.
func (t Time) HasZeroPart() bool { return t.Month() == 0 || t.Day() == 0 }

// Check reports whether the date is on the calendar or allowed by the flags.
// The parts are known to be in their own ranges.
func (t Time) Check(flags TimeFlags) bool {
	d := t.Date()
	if d == 0 {
		// '0000-00-00 10:00:00' is no zero date in MySQL's sense but has zero
		// parts.
		if t == 0 {
			return flags&AllowZeroDate != 0
		}
		return flags&AllowZeroInDate != 0
	}
	if t.HasZeroPart() {
		return flags&AllowZeroInDate != 0
	}
	return flags&AllowInvalidDates != 0 || t.Day() <= DaysInMonth(t.Year(), t.Month())
}

// DayNumber is TO_DAYS: days since the year 0, in which 0000-01-01 is day 1.
func (t Time) DayNumber() int {
	y := t.Year()
	n := 365*y + t.YearDay()
	if y > 0 {
		y--
		n += y/4 - y/100 + y/400
	}
	return n
}

// YearDay is DAYOFYEAR, from 1.
func (t Time) YearDay() int {
	m := t.Month()
	n := int(daysBefore[m]) + t.Day()
	if m > 2 && IsLeap(t.Year()) {
		n++
	}
	return n
}

// FromDayNumber is the date of a TO_DAYS number; ZeroTime for numbers up to
// 365 and beyond 9999-12-31, as FROM_DAYS.
func FromDayNumber(n int) Time {
	if n <= 365 || n > maxDayNumber {
		return ZeroTime
	}
	n -= 366 // days since 0001-01-01
	c400, n := n/146097, n%146097
	c100 := min(n/36524, 3)
	n -= c100 * 36524
	c4, n := n/1461, n%1461
	c1 := min(n/365, 3)
	n -= c1 * 365
	y := 400*c400 + 100*c100 + 4*c4 + c1 + 1
	m := 12
	for {
		before := int(daysBefore[m])
		if m > 2 && IsLeap(y) {
			before++
		}
		if n >= before {
			return MakeTime(y, m, n-before+1, 0, 0, 0, 0)
		}
		m--
	}
}

// Weekday is WEEKDAY: 0 is Monday, 6 is Sunday.
func (t Time) Weekday() int { return (t.DayNumber() + 5) % 7 }

// TimeOfDay is the time of day as a duration.
func (t Time) TimeOfDay() Duration {
	return Duration(((t.Hour()*60+t.Minute())*60+t.Second())*microsPerSecond + t.Micro())
}

// AtTimeOfDay is the date of t with another time of day, 0 to 23:59:59.999999.
func (t Time) AtTimeOfDay(d Duration) Time {
	_, h, m, s, us := d.Parts()
	return t.Date() | MakeTime(0, 0, 0, h, m, s, us)
}

// AddMicros is t plus us microseconds; false when the result leaves the years
// 1 to 9999 or t has a zero month or day.
func (t Time) AddMicros(us int64) (Time, bool) {
	day := int64(t.DayNumber())
	if t.HasZeroPart() {
		return t, false
	}
	total := int64(t.TimeOfDay()) + us%microsPerDay
	day += us / microsPerDay
	if total < 0 {
		total += microsPerDay
		day--
	} else if total >= microsPerDay {
		total -= microsPerDay
		day++
	}
	if day <= 0 || day > maxDayNumber {
		return t, false
	}
	date := t.Date()
	if int64(t.DayNumber()) != day {
		date = FromDayNumber(int(day))
		if day <= 365 { // year 0 has its days too
			date = FromDayNumber(int(day) + 365)
			date = MakeTime(0, date.Month(), date.Day(), 0, 0, 0, 0)
		}
	}
	return date.AtTimeOfDay(Duration(total)), true
}

// MicrosSince is t - o in microseconds, by the calendar.
func (t Time) MicrosSince(o Time) int64 {
	return int64(t.DayNumber()-o.DayNumber())*microsPerDay + int64(t.TimeOfDay()-o.TimeOfDay())
}

// FromGo is the wall clock of g in g's location, cut to microseconds.
func FromGo(g time.Time) Time {
	y, mo, d := g.Date()
	h, mi, s := g.Clock()
	return MakeTime(y, int(mo), d, h, mi, s, g.Nanosecond()/1000)
}

// Go is the instant at which clocks in loc show t; false for times with a zero
// month or day. A time in the gap of a change to summer time gives an instant
// whose FromGo differs from t.
func (t Time) Go(loc *time.Location) (time.Time, bool) {
	if t.HasZeroPart() {
		return time.Time{}, false
	}
	return time.Date(t.Year(), time.Month(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second(), t.Micro()*1000, loc), true
}

var fspUnit = [7]int64{1_000_000, 100_000, 10_000, 1000, 100, 10, 1}

// TruncateFSP cuts to fsp (0-6) digits of the second.
func (t Time) TruncateFSP(fsp int) Time { return t - Time(int64(t.Micro())%fspUnit[fsp]) }

// RoundFSP rounds half up to fsp (0-6) digits of the second. Where that would
// leave the calendar (9999-12-31 23:59:59.9) it cuts.
func (t Time) RoundFSP(fsp int) Time {
	r, _ := t.TryRoundFSP(fsp)
	return r
}

// TryRoundFSP is RoundFSP that reports whether it could round.
func (t Time) TryRoundFSP(fsp int) (Time, bool) {
	unit := fspUnit[fsp]
	rest := int64(t.Micro()) % unit
	if rest*2 < unit {
		return t - Time(rest), true
	}
	if int64(t.Micro())-rest+unit < microsPerSecond {
		return t + Time(unit-rest), true
	}
	// Into the next second; only the carry into the date needs a calendar.
	if d := t.TimeOfDay() + Duration(unit-rest); d < microsPerDay {
		return t.AtTimeOfDay(d), true
	}
	r, ok := t.AddMicros(unit - rest)
	if !ok {
		return t.TruncateFSP(fsp), false
	}
	return r, true
}

// AppendText appends 'YYYY-MM-DD' or 'YYYY-MM-DD HH:MM:SS' with fsp digits of
// the second.
func (t Time) AppendText(dst []byte, fsp int, dateOnly bool) []byte {
	y := t.Year()
	dst = append(dst, byte('0'+y/1000), byte('0'+y/100%10))
	dst = append2(dst, y%100)
	dst = append2(append(dst, '-'), t.Month())
	dst = append2(append(dst, '-'), t.Day())
	if dateOnly {
		return dst
	}
	dst = append2(append(dst, ' '), t.Hour())
	dst = append2(append(dst, ':'), t.Minute())
	dst = append2(append(dst, ':'), t.Second())
	return appendFraction(dst, t.Micro(), fsp)
}

// String is the text with six digits of the second, or the date alone when
// the time of day is zero.
func (t Time) String() string {
	fsp := 0
	if t.Micro() != 0 {
		fsp = 6
	}
	return string(t.AppendText(nil, fsp, t.IsDateOnly()))
}

func append2(dst []byte, n int) []byte { return append(dst, byte('0'+n/10), byte('0'+n%10)) }

func appendFraction(dst []byte, micro, fsp int) []byte {
	if fsp <= 0 {
		return dst
	}
	dst = append(dst, '.')
	for div := 100_000; fsp > 0; fsp-- {
		dst = append(dst, byte('0'+micro/div%10))
		div /= 10
	}
	return dst
}

// MakeDuration makes a duration of parts that are not negative.
func MakeDuration(neg bool, hour, minute, second, micro int) Duration {
	d := Duration(int64((hour*60+minute)*60+second)*microsPerSecond + int64(micro))
	if neg {
		return -d
	}
	return d
}

// Parts are the sign and the parts of the duration; the hour may be above 23.
func (d Duration) Parts() (neg bool, hour, minute, second, micro int) {
	u := int64(d)
	if u < 0 {
		neg, u = true, -u
	}
	s := u / microsPerSecond
	return neg, int(s / 3600), int(s / 60 % 60), int(s % 60), int(u % microsPerSecond)
}

// TruncateFSP cuts to fsp (0-6) digits of the second, towards zero.
func (d Duration) TruncateFSP(fsp int) Duration { return d - d%Duration(fspUnit[fsp]) }

// RoundFSP rounds half away from zero to fsp (0-6) digits of the second, at
// most to MaxDuration.
func (d Duration) RoundFSP(fsp int) Duration {
	unit := Duration(fspUnit[fsp])
	rest := d % unit
	r := d - rest
	switch {
	case rest*2 >= unit:
		r += unit
	case rest*2 <= -unit:
		r -= unit
	}
	return max(min(r, MaxDuration), -MaxDuration)
}

// AppendText appends '[-]HH:MM:SS' (three digits of hours where needed) with
// fsp digits of the second.
func (d Duration) AppendText(dst []byte, fsp int) []byte {
	neg, h, m, s, us := d.Parts()
	if neg {
		dst = append(dst, '-')
	}
	if h >= 100 {
		dst = strconv.AppendInt(dst, int64(h), 10)
	} else {
		dst = append2(dst, h)
	}
	dst = append2(append(dst, ':'), m)
	dst = append2(append(dst, ':'), s)
	return appendFraction(dst, us, fsp)
}

// String is the text with six digits of the second where there are any.
func (d Duration) String() string {
	fsp := 0
	if d%microsPerSecond != 0 {
		fsp = 6
	}
	return string(d.AppendText(nil, fsp))
}
