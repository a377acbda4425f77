package geo

import (
	"cmp"
	"math"
	"slices"
)

// BoxRelation is a relation of the bounding boxes of two geometries.
type BoxRelation uint8

// The relations.
const (
	BoxContains BoxRelation = iota
	BoxCoveredBy
	BoxCovers
	BoxDisjoint
	BoxEquals
	BoxIntersects
	BoxOverlaps
	BoxTouches
	BoxWithin
)

// RelateBoxes reports whether the relation of the boxes holds; around: X is a
// longitude, and a box may be beyond the antimeridian.
func RelateBoxes(r BoxRelation, around bool, a, b Box) bool {
	if !around {
		return relateBoxes(r, a, b)
	}
	if r == BoxDisjoint {
		return !RelateBoxes(BoxIntersects, around, a, b)
	}
	for _, turn := range []float64{0, 360, -360} {
		c := b
		c.Min.X, c.Max.X = b.Min.X+turn, b.Max.X+turn
		if relateBoxes(r, a, c) {
			return true
		}
	}
	return false
}

func relateBoxes(r BoxRelation, a, b Box) bool {
	within := func(a, b Box) bool {
		return a.Min.X >= b.Min.X && a.Max.X <= b.Max.X && a.Min.Y >= b.Min.Y && a.Max.Y <= b.Max.Y
	}
	switch r {
	case BoxContains:
		return relateBoxes(BoxWithin, b, a)
	case BoxCovers:
		return within(b, a)
	case BoxCoveredBy:
		return within(a, b)
	case BoxDisjoint:
		return a.disjoint(b)
	case BoxIntersects:
		return !a.disjoint(b)
	case BoxEquals:
		return a.Min == b.Min && a.Max == b.Max
	}
	if a.disjoint(b) {
		return false
	}
	rel := map[BoxRelation]Relation{BoxWithin: RelWithin, BoxTouches: RelTouches, BoxOverlaps: RelOverlaps}[r]
	x, y := a.Geometry(), b.Geometry()
	if r == BoxOverlaps && x.Dimension() != y.Dimension() {
		return false
	}
	ok, err := Relate(nil, nil, rel, x, y)
	return ok && err == nil
}

// BoundsOf is the smallest box around g. In a geographic system geodesics bulge
// towards the poles, and Max.X is beyond 180 if the box crosses the
// antimeridian.
func BoundsOf(s *SRS, g Geometry) (Box, bool) {
	b, ok := g.Bounds()
	if !ok || !s.IsGeographic() {
		return b, ok
	}
	var arcs [][2]float64 // beginning and width, eastwards
	g.eachPoint(func(p Point) bool { arcs = append(arcs, [2]float64{p.X, 0}); return true })
	g.segments(func(p, q Point) bool {
		for _, lat := range s.Ellipsoid.extremes(p, q) {
			b.Min.Y, b.Max.Y = math.Min(b.Min.Y, lat), math.Max(b.Max.Y, lat)
		}
		if math.Abs(p.Y) == 90 || math.Abs(q.Y) == 90 {
			return true // along a meridian
		}
		width := q.X - p.X
		from := p.X
		if width < 0 {
			width, from = -width, q.X
		}
		if width > 180 {
			from, width = from+width, 360-width
		}
		arcs = append(arcs, [2]float64{normalLon(from), width})
		return true
	})
	slices.SortFunc(arcs, func(x, y [2]float64) int { return cmp.Compare(x[0], y[0]) })
	// The box begins after the widest gap.
	end, gap, start := arcs[0][0]+arcs[0][1], -1.0, 0.0
	for _, a := range arcs[1:] {
		if a[0]-end > gap {
			gap, start = a[0]-end, a[0]
		}
		end = math.Max(end, a[0]+a[1])
	}
	if last := arcs[0][0] + 360 - end; last >= gap {
		gap, start = last, arcs[0][0]
	}
	if gap <= 0 { // all around: a pole is inside
		b.Min.X, b.Max.X = -180, 180
		if b.Min.Y+b.Max.Y > 0 {
			b.Max.Y = 90
		} else {
			b.Min.Y = -90
		}
		return b, true
	}
	b.Min.X, b.Max.X = start, start+360-gap
	return b, true
}

// extremes are the latitudes between p and q where their geodesic turns, at
// most one.
func (e Ellipsoid) extremes(p, q Point) []float64 {
	if p.X == q.X || p.Y == 0 && q.Y == 0 {
		return nil
	}
	_, out, in := e.inverse(p, q)
	// Northward at the start and southward at the end, or the other way.
	if (math.Cos(out) > 0) == (math.Cos(in) > 0) {
		return nil
	}
	beta := math.Atan((1 - e.F()) * math.Tan(radians(p.Y)))
	top := math.Acos(math.Min(1, math.Abs(math.Sin(out)*math.Cos(beta))))
	lat := degrees(math.Atan(math.Tan(top) / (1 - e.F())))
	if math.Cos(out) < 0 {
		lat = -lat
	}
	return []float64{lat}
}
