package geo

import "math"

// Center is a place on a sphere, from which distances are measured.
type Center struct {
	Point
	sin, cos float64 // of the latitude
}

// NewCenter makes a center.
func NewCenter(p Point) Center {
	return Center{p, math.Sin(radians(p.Y)), math.Cos(radians(p.Y))}
}

// Haversine is that of the angle to a place, which grows with the angle: from 0 to 1,
// except for rounding.
func (c *Center) Haversine(q Point) float64 {
	sinLat, sinLon := math.Sin(radians(q.Y-c.Y)/2), math.Sin(radians(q.X-c.X)/2)
	return sinLat*sinLat + c.cos*math.Cos(radians(q.Y))*sinLon*sinLon
}

// Near is about Haversine, right to 1e-12 of it, of a place that is close by; ok is
// false for others. It takes a fraction of the time.
func (c *Center) Near(q Point) (h float64, ok bool) {
	y, x := radians(q.Y-c.Y), radians(q.X-c.X)
	if math.Abs(y) > 0.02 || math.Abs(x) > 0.02 {
		return 0, false
	}
	// The series of sine and cosine end where the rest is below 1e-15.
	sin := func(t float64) float64 { u := t * t; return t * (1 - u*(1.0/6)*(1-u*(1.0/20)*(1-u*(1.0/42)))) }
	u := y * y
	cosY := 1 - u*0.5*(1-u*(1.0/12)*(1-u*(1.0/30)))
	sinLat, sinLon := sin(y/2), sin(x/2)
	return sinLat*sinLat + c.cos*(c.cos*cosY-c.sin*sin(y))*sinLon*sinLon, true
}

// SphereDistance is the length of an angle on a sphere, by its haversine.
func SphereDistance(haversine, radius float64) float64 {
	return radius * 2 * math.Asin(math.Sqrt(math.Min(haversine, 1)))
}

// boundsError is more than the rounding of Bounds.
const boundsError = 4e-15

// Bounds are bounds of Haversine for the places of a box on the globe, both of whose
// longitudes are from -180 to 180.
func (c *Center) Bounds(minX, maxX, minY, maxY float64) (least, most float64) {
	near, far := spread(minX-c.X, maxX-c.X)
	lo, hi := radians(minY), radians(maxY)
	sinLo, cosLo := math.Sincos(lo)
	sinHi, cosHi := math.Sincos(hi)
	// The cosine of the angle to a latitude is a sin + b cos of it, where b is less
	// the farther away the longitude is.
	b := c.cos * math.Cos(radians(near))
	greatest := math.Max(c.sin*sinLo+b*cosLo, c.sin*sinHi+b*cosHi)
	if at := math.Atan2(c.sin, b); at > lo && at < hi {
		greatest = math.Hypot(c.sin, b)
	}
	b = c.cos * math.Cos(radians(far))
	smallest := math.Min(c.sin*sinLo+b*cosLo, c.sin*sinHi+b*cosHi)
	if b < 0 {
		if at := math.Atan2(-c.sin, -b); at > lo && at < hi {
			smallest = -math.Hypot(c.sin, b)
		}
	}
	return (1-greatest)/2 - boundsError, (1-smallest)/2 + boundsError
}

// spread is the least and the greatest distance from 0, up to 180, of the angles from
// a to b, of which a is the smaller and neither is beyond 360.
func spread(a, b float64) (near, far float64) {
	wrap := func(d float64) float64 {
		if d = math.Abs(d); d > 180 {
			return 360 - d
		}
		return d
	}
	near, far = math.Min(wrap(a), wrap(b)), math.Max(wrap(a), wrap(b))
	if a <= 0 && b >= 0 || a <= -360 || b >= 360 {
		near = 0
	}
	if a <= 180 && b >= 180 || a <= -180 && b >= -180 {
		far = 180
	}
	return near, far
}
