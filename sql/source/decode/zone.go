package decode

import (
	"math"
	"time"

	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// Zone converts TIMESTAMP values between UTC and the session's zone. It
// remembers the offset of the period that it met last, and belongs to one
// goroutine.
type Zone struct {
	Env    types.Env
	UTC    bool
	lo, hi value.Time // the offset holds for UTC times in [lo, hi)
	offset int64      // microseconds
	// Clocks change at no time within MaxChange of UTC times in [calmLo, calmHi).
	calmLo, calmHi value.Time
}

// NewZone is the zone loc, UTC for nil.
func NewZone(loc *time.Location) Zone {
	if loc == nil {
		loc = time.UTC
	}
	return Zone{Env: types.Env{Loc: loc}, UTC: loc == time.UTC}
}

// Local is a stored time in the session's zone.
func (z *Zone) Local(t value.Time) value.Time {
	if z.UTC || t.HasZeroPart() {
		return t
	}
	if t < z.lo || t >= z.hi {
		z.learn(t)
	}
	if out, ok := t.AddMicros(z.offset); ok {
		return out
	}
	return types.TimestampFromUTC(&z.Env, t)
}

// learn looks up the period of a UTC time.
func (z *Zone) learn(t value.Time) {
	g, _ := t.Go(time.UTC)
	g = g.In(z.Env.Loc)
	_, sec := g.Zone()
	z.offset = int64(sec) * 1_000_000
	start, end := g.ZoneBounds()
	z.lo, z.hi = 0, math.MaxUint64
	z.calmLo, z.calmHi = z.lo, z.hi
	if !start.IsZero() && start.Year() > 0 {
		z.lo = value.FromGo(start.UTC())
		z.calmLo = value.FromGo(start.UTC().Add(MaxChange))
	}
	if !end.IsZero() {
		z.hi = value.FromGo(end.UTC())
		z.calmHi = value.FromGo(end.UTC().Add(-MaxChange))
	}
}

// MaxChange is more than the most by which clocks change.
const MaxChange = 26 * time.Hour

// Changes reports whether clocks change near a time of the session's zone: Stored may
// then be one of two times that show as t, or none may, and the order of local times is
// not that of UTC. Around MaxChange more or less it is.
func (z *Zone) Changes(t value.Time) bool {
	if z.UTC {
		return false
	}
	u := z.Stored(t)
	if u.HasZeroPart() {
		return false
	}
	if u < z.lo || u >= z.hi {
		z.learn(u)
	}
	return u < z.calmLo || u >= z.calmHi
}

// All appends the UTC times that show as t in the session's zone to dst: one, or two, or
// none.
func (z *Zone) All(dst []value.Time, t value.Time) []value.Time {
	u := z.Stored(t)
	if !z.Changes(t) {
		return append(dst, u)
	}
	if z.Local(u) == t {
		dst = append(dst, u)
	}
	return append(dst, z.Others(t)...)
}

// Stored is a time of the session's zone in UTC. Of an hour that clocks show
// twice it is one of both.
func (z *Zone) Stored(t value.Time) value.Time {
	if z.UTC {
		return t
	}
	g, ok := t.Go(z.Env.Loc)
	if !ok {
		return t
	}
	g = g.UTC()
	if g.Year() < 0 {
		return value.ZeroTime
	}
	return value.FromGo(g)
}

// overlaps are the differences between two zone offsets that make clocks show
// a time twice.
var overlaps = []time.Duration{time.Hour, -time.Hour, 30 * time.Minute, -30 * time.Minute, 20 * time.Minute, -20 * time.Minute,
	2 * time.Hour, -2 * time.Hour, 3 * time.Hour, -3 * time.Hour, 24 * time.Hour, -24 * time.Hour}

// Others are the further UTC times that show as t in the session's zone.
func (z *Zone) Others(t value.Time) []value.Time {
	if z.UTC {
		return nil
	}
	g, ok := t.Go(z.Env.Loc)
	if !ok {
		return nil
	}
	start, end := g.ZoneBounds()
	if (start.IsZero() || g.Sub(start) > MaxChange) && (end.IsZero() || end.Sub(g) > MaxChange) {
		return nil
	}
	var out []value.Time
	for _, d := range overlaps {
		if o := g.Add(d); value.FromGo(o) == t {
			out = append(out, value.FromGo(o.UTC()))
		}
	}
	return out
}

// IsFixed reports a zone whose clocks never change.
func (z *Zone) IsFixed() bool { return z.UTC || !types.ClocksChange(z.Env.Loc) }
