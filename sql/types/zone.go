package types

import (
	"strings"
	"time"
	_ "time/tzdata" // zones on machines without a zoneinfo directory

	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// LoadLocation is the zone of SET time_zone: 'SYSTEM', an offset from '-13:59'
// to '+14:00', or a name of the tz database, ignoring case. Others are 1298.
func LoadLocation(name string) (*time.Location, error) {
	if strings.EqualFold(name, "SYSTEM") {
		return time.Local, nil
	}
	if sec, n := parseOffset([]byte(name), false); n > 0 && n == len(name) {
		return time.FixedZone(name, sec), nil
	}
	if name != "" && name[0] != '/' && !strings.EqualFold(name, "local") && !strings.Contains(name, "..") {
		for _, n := range []string{name, strings.ToUpper(name), titleZone(name)} {
			if loc, err := time.LoadLocation(n); err == nil {
				return loc, nil
			}
		}
	}
	return nil, sqlerr.UnknownTimeZone(name)
}

// titleZone writes asia/shanghai as Asia/Shanghai.
func titleZone(name string) string {
	b := []byte(strings.ToLower(name))
	for i := range b {
		if (i == 0 || b[i-1] == '/' || b[i-1] == '_' || b[i-1] == '-') && b[i] >= 'a' && b[i] <= 'z' {
			b[i] -= 'a' - 'A'
		}
	}
	return string(b)
}

// parseOffset reads a zone offset at the start of s and returns its length, 0 if
// s starts with none. In literals the hour has two digits.
func parseOffset(s []byte, literal bool) (seconds, n int) {
	if len(s) < 5 || s[0] != '+' && s[0] != '-' {
		return 0, 0
	}
	i := 1
	h := 0
	for i < len(s) && i < 3 && isDigit(s[i]) {
		h = h*10 + int(s[i]-'0')
		i++
	}
	if i == 1 || literal && i != 3 || len(s) < i+3 || s[i] != ':' || !isDigit(s[i+1]) || !isDigit(s[i+2]) {
		return 0, 0
	}
	m := int(s[i+1]-'0')*10 + int(s[i+2]-'0')
	sec := h*3600 + m*60
	if m > 59 || s[0] == '+' && sec > 14*3600 || s[0] == '-' && sec > 14*3600-60 || literal && s[0] == '-' && sec == 0 {
		return 0, 0
	}
	if s[0] == '-' {
		sec = -sec
	}
	return sec, i + 3
}

// loc is the session's zone; UTC if it has none.
func (env *Env) loc() *time.Location {
	if env == nil || env.Loc == nil {
		return time.UTC
	}
	return env.Loc
}

// TIMESTAMP values are in the session's zone wherever expressions and Store
// see them. They are kept on disk in UTC: what writes and reads rows converts
// with the two functions below.

// TimestampToUTC turns a TIMESTAMP of the session's zone into the UTC form that
// is stored. The zero time stays the same.
func TimestampToUTC(env *Env, t value.Time) value.Time {
	g, ok := t.Go(env.loc())
	if !ok {
		return t
	}
	return value.FromGo(g.UTC())
}

// ClocksChange reports whether the offset of a zone, UTC for nil, is not always the same.
func ClocksChange(loc *time.Location) bool {
	if loc == nil || loc == time.UTC {
		return false
	}
	start, end := time.Unix(0, 0).In(loc).ZoneBounds()
	return !start.IsZero() || !end.IsZero()
}

// HasTwoOrders reports a TIMESTAMP in a zone whose clocks change: the store has it in the
// order of instants, where equal local times need not be neighbours.
func HasTwoOrders(t schema.Type, loc *time.Location) bool {
	return t.ID == schema.TypeTimestamp && ClocksChange(loc)
}

// TimestampFromUTC turns a stored TIMESTAMP into the session's zone.
func TimestampFromUTC(env *Env, t value.Time) value.Time {
	g, ok := t.Go(time.UTC)
	if !ok {
		return t
	}
	return value.FromGo(g.In(env.loc()))
}

// now is the start of the statement.
func (env *Env) now() time.Time {
	if env == nil || env.Now.IsZero() {
		return time.Now()
	}
	return env.Now
}
