package mysqlwire

import "github.com/sqlots/sqlots/value"

// Texts of the time types. They are here, next to package types, because they
// are the cells that cost most in wide results.

func append2(dst []byte, v int) []byte {
	if v > 99 {
		v = 99 // no such time of day
	}
	return append(dst, digitPairs[v*2], digitPairs[v*2+1])
}

// appendDate appends yyyy-mm-dd.
func appendDate(dst []byte, t value.Time) []byte {
	y := t.Year()
	dst = append2(append2(dst, y/100), y%100)
	dst = append2(append(dst, '-'), t.Month())
	return append2(append(dst, '-'), t.Day())
}

// appendDatetime appends yyyy-mm-dd hh:mm:ss and fsp digits of a second.
func appendDatetime(dst []byte, t value.Time, fsp int) []byte {
	dst = append2(append(appendDate(dst, t), ' '), t.Hour())
	dst = append2(append(dst, ':'), t.Minute())
	dst = append2(append(dst, ':'), t.Second())
	return appendMicros(dst, t.Micro(), fsp)
}

// appendMicros appends a point and the first fsp of six digits.
func appendMicros(dst []byte, us, fsp int) []byte {
	if fsp <= 0 {
		return dst
	}
	dst = append2(append2(append2(append(dst, '.'), us/10000), us/100%100), us%100)
	return dst[:len(dst)-6+min(fsp, 6)]
}

// appendDuration appends [-]hh:mm:ss, with three digits of hours if needed.
func appendDuration(dst []byte, d value.Duration, fsp int) []byte {
	neg, h, m, s, us := durationParts(d)
	if neg {
		dst = append(dst, '-')
	}
	if h >= 100 {
		dst = append(dst, '0'+byte(h/100))
		h %= 100
	}
	dst = append2(append(append2(dst, h), ':'), m)
	dst = append2(append(dst, ':'), s)
	return appendMicros(dst, us, fsp)
}

func durationParts(d value.Duration) (neg bool, hours, minutes, seconds, micros int) {
	n := int64(d)
	if n < 0 {
		neg, n = true, -n
	}
	micros = int(n % 1e6)
	n /= 1e6
	return neg, int(min(n/3600, 999)), int(n / 60 % 60), int(n % 60), micros
}

// appendBinaryTime appends
//
//	length 0, 4, 7 or 11; year (2), month, day; hour, minute, second; µs (4)
//
// as short as its zeros allow.
func appendBinaryTime(dst []byte, t value.Time) []byte {
	if t == 0 {
		return append(dst, 0)
	}
	y := t.Year()
	us := t.Micro()
	switch {
	case us != 0:
		dst = append(dst, 11)
	case t != t.Date():
		dst = append(dst, 7)
	default:
		return append(dst, 4, byte(y), byte(y>>8), byte(t.Month()), byte(t.Day()))
	}
	dst = append(dst, byte(y), byte(y>>8), byte(t.Month()), byte(t.Day()),
		byte(t.Hour()), byte(t.Minute()), byte(t.Second()))
	if us == 0 {
		return dst
	}
	return appendUint32(dst, uint32(us))
}

// appendBinaryDuration appends
//
//	length 0, 8 or 12; negative (1), days (4), hour, minute, second; µs (4)
func appendBinaryDuration(dst []byte, d value.Duration) []byte {
	if d == 0 {
		return append(dst, 0)
	}
	neg, h, m, s, us := durationParts(d)
	sign := byte(0)
	if neg {
		sign = 1
	}
	n := byte(8)
	if us != 0 {
		n = 12
	}
	dst = append(dst, n, sign)
	dst = appendUint32(dst, uint32(h/24))
	dst = append(dst, byte(h%24), byte(m), byte(s))
	if us == 0 {
		return dst
	}
	return appendUint32(dst, uint32(us))
}
