package geo

import "math"

// place is where a point lies in relation to a geometry.
type place uint8

const (
	outside place = iota
	boundary
	inside
)

// orientation is the side of c seen from a to b: positive left, negative
// right, 0 on the line. The sign is exact for coordinates of few bits; others
// within rounding error count as on the line.
func orientation(a, b, c Point) float64 {
	l, r := (b.X-a.X)*(c.Y-a.Y), (b.Y-a.Y)*(c.X-a.X)
	det := l - r
	if math.Abs(det) <= 4e-16*(math.Abs(l)+math.Abs(r)) {
		return 0
	}
	return det
}

// onSegment reports that p lies on the segment from a to b.
func onSegment(p, a, b Point) bool {
	return orientation(a, b, p) == 0 && p.X >= math.Min(a.X, b.X) && p.X <= math.Max(a.X, b.X) &&
		p.Y >= math.Min(a.Y, b.Y) && p.Y <= math.Max(a.Y, b.Y)
}

// inRing is where p lies in relation to the area of a closed ring.
func inRing(p Point, ring []Point) place {
	in := false
	for i := 1; i < len(ring); i++ {
		a, b := ring[i-1], ring[i]
		if onSegment(p, a, b) {
			return boundary
		}
		if (a.Y > p.Y) != (b.Y > p.Y) {
			if a.Y > b.Y {
				a, b = b, a
			}
			if orientation(a, b, p) > 0 {
				in = !in
			}
		}
	}
	if in {
		return inside
	}
	return outside
}

func inPolygon(p Point, rings [][]Point) place {
	for i, r := range rings {
		at := inRing(p, r)
		switch {
		case at == boundary:
			return boundary
		case i == 0 && at == outside, i > 0 && at == inside:
			return outside
		}
	}
	return inside
}

// locate is where p lies in relation to g: in its interior, on its boundary
// (ends of lines count once for each line, even numbers are interior), or
// outside.
func locate(w *Work, p Point, g Geometry) place {
	best := outside
	ends, onLine := 0, false
	for _, s := range g.Simples() {
		w.did(s.steps())
		switch s.Type {
		case TypePoint:
			if s.Points[0] == p {
				best = inside
			}
		case TypeLineString:
			closed := isClosed(s.Points)
			for i, q := range s.Points {
				if i > 0 && onSegment(p, s.Points[i-1], q) {
					onLine = true
				}
			}
			if !closed && (p == s.Points[0] || p == s.Points[len(s.Points)-1]) {
				ends++
			}
		case TypePolygon:
			best = max(best, inPolygon(p, s.Rings))
		}
	}
	if onLine {
		if ends%2 == 0 {
			return inside
		}
		return max(best, boundary)
	}
	return best
}

// segments calls f for every segment of lines and rings until it returns
// false.
func (g Geometry) segments(f func(a, b Point) bool) bool {
	each := func(pts []Point) bool {
		for i := 1; i < len(pts); i++ {
			if !f(pts[i-1], pts[i]) {
				return false
			}
		}
		return true
	}
	if g.Type == TypeLineString && !each(g.Points) {
		return false
	}
	for _, r := range g.Rings {
		if !each(r) {
			return false
		}
	}
	for _, p := range g.Parts {
		if !p.segments(f) {
			return false
		}
	}
	return true
}

// cross reports that two segments have a common point.
func cross(a, b, c, d Point) bool {
	if math.Max(a.X, b.X) < math.Min(c.X, d.X) || math.Max(c.X, d.X) < math.Min(a.X, b.X) ||
		math.Max(a.Y, b.Y) < math.Min(c.Y, d.Y) || math.Max(c.Y, d.Y) < math.Min(a.Y, b.Y) {
		return false
	}
	o1, o2, o3, o4 := orientation(a, b, c), orientation(a, b, d), orientation(c, d, a), orientation(c, d, b)
	if o1 == 0 && onSegment(c, a, b) || o2 == 0 && onSegment(d, a, b) || o3 == 0 && onSegment(a, c, d) || o4 == 0 && onSegment(b, c, d) {
		return true
	}
	return (o1 > 0) != (o2 > 0) && o1 != 0 && o2 != 0 && (o3 > 0) != (o4 > 0) && o3 != 0 && o4 != 0
}

// touchesAny reports that a and b have a common point.
func touchesAny(w *Work, a, b Geometry) bool {
	ba, ok1 := a.Bounds()
	bb, ok2 := b.Bounds()
	if !ok1 || !ok2 || ba.disjoint(bb) {
		return false
	}
	// Lines and rings that cross, else one holds the other.
	n := b.NumPoints()
	if !a.segments(func(p, q Point) bool {
		w.did(n)
		return b.segments(func(r, s Point) bool { return !cross(p, q, r, s) })
	}) {
		return true
	}
	holds := func(g, h Geometry) bool {
		for _, s := range h.Simples() {
			p := s.Points
			if s.Type == TypePolygon {
				p = s.Rings[0]
			}
			if locate(w, p[0], g) != outside {
				return true
			}
		}
		return false
	}
	return holds(a, b) || holds(b, a)
}
