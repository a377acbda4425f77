package geo

import "math"

// gnomonic is the projection from the ellipsoid's centre onto a plane that
// touches it in a point. Planes through the centre become straight lines: the
// meridians, the equator, and, for parts of some hundred kilometres, within
// millimetres all geodesics. Longer ones are divided before (split).
type gnomonic struct {
	e          Ellipsoid
	ex, ey, ez vector
	// back remembers the places of projected points, so that these come back
	// unchanged; made holds the points that split added.
	back map[Point]Point
	made map[Point]bool
}

// minCos is the cosine of how far points may be from the centre.
const minCos = 0.17 // 80 degrees

// splitLength is the length of the pieces of geodesics in metres.
const splitLength = 100e3

// newGnomonic makes the projection around all points of some geometries.
func newGnomonic(e Ellipsoid, gs ...Geometry) (*gnomonic, error) {
	var sum vector
	for _, g := range gs {
		g.eachPoint(func(p Point) bool {
			v := unit(e.ecef(p, 0))
			sum = vector{sum.x + v.x, sum.y + v.y, sum.z + v.z}
			return true
		})
	}
	if math.Sqrt(dot(sum, sum)) < 1e-6 {
		return nil, ErrTooLarge
	}
	g := &gnomonic{e: e, ez: unit(sum), back: map[Point]Point{}, made: map[Point]bool{}}
	// Axes to the east and to the north, so that meridians and the equator
	// stay parallel to them where they pass through the centre.
	g.ex = unit(vector{-g.ez.y, g.ez.x, 0})
	if g.ez.x == 0 && g.ez.y == 0 {
		g.ex = vector{1, 0, 0}
	}
	g.ey = vector{g.ez.y*g.ex.z - g.ez.z*g.ex.y, g.ez.z*g.ex.x - g.ez.x*g.ex.z, g.ez.x*g.ex.y - g.ez.y*g.ex.x}
	for _, geometry := range gs {
		if !geometry.eachPoint(func(p Point) bool { return dot(unit(e.ecef(p, 0)), g.ez) > minCos }) {
			return nil, ErrTooLarge
		}
	}
	return g, nil
}

func dot(a, b vector) float64 { return a.x*b.x + a.y*b.y + a.z*b.z }

func unit(v vector) vector {
	l := math.Sqrt(dot(v, v))
	if l == 0 {
		return v
	}
	return vector{v.x / l, v.y / l, v.z / l}
}

func (g *gnomonic) project(p Point) Point {
	v := g.e.ecef(p, 0)
	z := dot(v, g.ez)
	q := Point{dot(v, g.ex) / z * g.e.A, dot(v, g.ey) / z * g.e.A}
	if _, known := g.back[q]; !known {
		g.back[q] = p
	}
	return q
}

// forward projects a geometry with its long segments divided.
func (g *gnomonic) forward(x Geometry) Geometry {
	line := func(pts []Point) []Point {
		out := make([]Point, 0, len(pts))
		for i, p := range pts {
			if i > 0 {
				out = g.split(out, pts[i-1], p)
			}
			out = append(out, g.project(p))
		}
		return out
	}
	out := Geometry{Type: x.Type}
	if x.Points != nil {
		out.Points = line(x.Points)
	}
	for _, r := range x.Rings {
		out.Rings = append(out.Rings, line(r))
	}
	for _, p := range x.Parts {
		out.Parts = append(out.Parts, g.forward(p))
	}
	return out
}

// split appends points between a and b where the geodesic is long and bends in
// the plane. The points do not depend on the segment's direction.
func (g *gnomonic) split(dst []Point, a, b Point) []Point {
	if a.X == b.X || a.Y == 0 && b.Y == 0 {
		return dst // a meridian or the equator
	}
	turned := b.X < a.X || b.X == a.X && b.Y < a.Y
	if turned {
		a, b = b, a
	}
	length, az, _ := g.e.inverse(a, b)
	n := int(length / splitLength)
	for i := 1; i <= n; i++ {
		k := i
		if turned {
			k = n + 1 - i
		}
		p := g.e.direct(a, length*float64(k)/float64(n+1), az)
		q := g.project(p)
		g.made[q] = true
		dst = append(dst, q)
	}
	return dst
}

// inverse is the place of a projected point.
func (g *gnomonic) inverse(q Point) Point {
	if p, ok := g.back[q]; ok {
		return p
	}
	x, y := q.X/g.e.A, q.Y/g.e.A
	v := vector{g.ez.x + x*g.ex.x + y*g.ey.x, g.ez.y + x*g.ex.y + y*g.ey.y, g.ez.z + x*g.ex.z + y*g.ey.z}
	return Point{normalLon(degrees(math.Atan2(v.y, v.x))), degrees(math.Atan2(v.z, math.Hypot(v.x, v.y)*(1-g.e.E2())))}
}

// backward is the way back; points that split added go.
func (g *gnomonic) backward(x Geometry) Geometry {
	line := func(pts []Point, ring bool) []Point {
		var out []Point
		for i, p := range pts {
			if g.made[p] && (i > 0 && i < len(pts)-1) {
				continue
			}
			out = append(out, g.inverse(p))
		}
		if ring && len(out) > 4 && g.made[pts[0]] {
			out = append(out[1:len(out)-1:len(out)-1], out[1])
		}
		return out
	}
	out := Geometry{Type: x.Type}
	if x.Points != nil {
		out.Points = line(x.Points, false)
	}
	for _, r := range x.Rings {
		out.Rings = append(out.Rings, line(r, true))
	}
	for _, p := range x.Parts {
		out.Parts = append(out.Parts, g.backward(p))
	}
	return out
}

// planar is two geometries in a plane in which their edges are straight: unchanged, or
// projected.
func planar(s *SRS, a, b Geometry) (Geometry, Geometry, *gnomonic, error) {
	if !s.IsGeographic() {
		return a, b, nil, nil
	}
	g, err := newGnomonic(s.Ellipsoid, a, b)
	if err != nil {
		return a, b, nil, err
	}
	return g.forward(a), g.forward(b), g, nil
}
