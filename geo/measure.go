package geo

import "math"

// distance in a plane.
func distance(p, q Point) float64 {
	dx, dy := p.X-q.X, p.Y-q.Y
	return math.Sqrt(dx*dx + dy*dy)
}

// PointDistance is the distance of two points: geodesic in a geographic system.
func (s *SRS) PointDistance(p, q Point) float64 {
	if s.IsGeographic() {
		return s.Ellipsoid.Distance(p, q)
	}
	return distance(p, q)
}

func (s *SRS) lineLength(w *Work, pts []Point) float64 {
	sum, steps := 0.0, 1
	if s.IsGeographic() {
		steps = geodesicSteps
	}
	for i := 1; i < len(pts); i++ {
		w.each(steps)
		sum += s.PointDistance(pts[i-1], pts[i])
	}
	return sum
}

// Length of a line or multi-line.
func Length(w *Work, s *SRS, g Geometry) (sum float64, err error) {
	defer ended(&err)
	sum = s.lineLength(w, g.Points)
	for _, p := range g.Parts {
		sum += s.lineLength(w, p.Points)
	}
	return sum, nil
}

// signedArea of a closed ring in a plane, positive counter-clockwise.
func signedArea(ring []Point) float64 {
	sum := 0.0
	for i := 1; i < len(ring); i++ {
		p, q := ring[i-1], ring[i]
		sum += (p.X-ring[0].X)*(q.Y-ring[0].Y) - (q.X-ring[0].X)*(p.Y-ring[0].Y)
	}
	return sum / 2
}

func (s *SRS) ringArea(w *Work, ring []Point) float64 {
	if s.IsGeographic() {
		return s.Ellipsoid.ringArea(w, ring)
	}
	return signedArea(ring)
}

// Area of a polygon or multi-polygon, in square metres on an ellipsoid.
func Area(w *Work, s *SRS, g Geometry) (area float64, err error) {
	defer ended(&err)
	return s.area(w, g), nil
}

func (s *SRS) area(w *Work, g Geometry) float64 {
	if g.Type != TypePolygon {
		sum := 0.0
		for _, p := range g.Parts {
			sum += s.area(w, p)
		}
		return sum
	}
	area := 0.0
	for i, r := range g.Rings {
		w.each(len(r))
		if a := math.Abs(s.ringArea(w, r)); i == 0 {
			area = a
		} else {
			area -= a
		}
	}
	return area
}

// Orient turns the rings of polygons so that outer ones run counter-clockwise.
func Orient(g Geometry) Geometry {
	out := Geometry{Type: g.Type, Points: g.Points}
	for i, r := range g.Rings {
		if a := signedArea(r); i == 0 && a < 0 || i > 0 && a > 0 {
			r = reversed(r)
		}
		out.Rings = append(out.Rings, r)
	}
	for _, p := range g.Parts {
		out.Parts = append(out.Parts, Orient(p))
	}
	return out
}

func reversed(pts []Point) []Point {
	out := make([]Point, len(pts))
	for i, p := range pts {
		out[len(pts)-1-i] = p
	}
	return out
}

// Centroid of the parts of the highest dimension, in a plane; ok is false for
// empty geometries.
func Centroid(g Geometry) (Point, bool) {
	parts := g.Simples()
	dim := g.Dimension()
	var first Point
	if !g.eachPoint(func(p Point) bool { first = p; return false }) {
		for ; dim >= 0; dim-- {
			if c, ok := centroidOf(parts, dim, first); ok {
				return c, true
			}
		}
	}
	return Point{}, false
}

// centroidOf weighs the parts of a dimension relative to an origin; degenerate
// ones weigh nothing.
func centroidOf(parts []Geometry, dim int, origin Point) (Point, bool) {
	var x, y, weight float64
	for _, g := range parts {
		if g.Dimension() < dim {
			continue
		}
		if dim == 0 {
			g.eachPoint(func(p Point) bool {
				x, y, weight = x+p.X-origin.X, y+p.Y-origin.Y, weight+1
				return true
			})
		}
		lines := g.Rings
		if g.Type == TypeLineString {
			lines = [][]Point{g.Points}
		}
		for i, r := range lines {
			if dim == 1 {
				for j := 1; j < len(r); j++ {
					l := distance(r[j-1], r[j])
					x += l * ((r[j-1].X+r[j].X)/2 - origin.X)
					y += l * ((r[j-1].Y+r[j].Y)/2 - origin.Y)
					weight += l
				}
				continue
			}
			if dim != 2 {
				continue
			}
			sign := math.Copysign(1, signedArea(r))
			if i > 0 {
				sign = -sign
			}
			for j := 1; j < len(r); j++ {
				px, py, qx, qy := r[j-1].X-origin.X, r[j-1].Y-origin.Y, r[j].X-origin.X, r[j].Y-origin.Y
				cross := sign * (px*qy - qx*py)
				x, y, weight = x+cross*(px+qx), y+cross*(py+qy), weight+3*cross
			}
		}
	}
	if weight == 0 {
		return Point{}, false
	}
	return Point{x/weight + origin.X, y/weight + origin.Y}, true
}

// LinePoint is the point of a line at a distance from its start; the end for
// distances beyond.
func LinePoint(s *SRS, line []Point, at float64) Point {
	for i := 1; i < len(line); i++ {
		d := s.PointDistance(line[i-1], line[i])
		if at < d {
			return s.interpolate(line[i-1], line[i], at/d)
		}
		at -= d
	}
	return line[len(line)-1]
}

func (s *SRS) interpolate(p, q Point, f float64) Point {
	if s.IsGeographic() {
		return s.Ellipsoid.between(p, q, f)
	}
	return Point{p.X + (q.X-p.X)*f, p.Y + (q.Y-p.Y)*f}
}

// SphereRadius is the radius of the sphere that replaces a system's ellipsoid.
func SphereRadius(s *SRS) float64 {
	if s == nil {
		return 6370986
	}
	return s.MeanRadius()
}

// DistanceSphere is the least distance of two geometries of points on a sphere. Errors
// are those of w.
func DistanceSphere(w *Work, a, b Geometry, radius float64) (best float64, err error) {
	defer ended(&err)
	best = math.Inf(1)
	a.eachPoint(func(p Point) bool {
		c := NewCenter(p)
		b.eachPoint(func(q Point) bool {
			w.did(2)
			best = math.Min(best, SphereDistance(c.Haversine(q), radius))
			return true
		})
		return true
	})
	return best, nil
}

// FrechetDistance is the discrete Fréchet distance of two lines. Errors are those of w.
func FrechetDistance(w *Work, s *SRS, a, b []Point) (d float64, err error) {
	defer ended(&err)
	row := make([]float64, len(b))
	for i, p := range a {
		diagonal := 0.0
		for j, q := range b {
			w.did(1)
			d, up := s.PointDistance(p, q), row[j]
			switch {
			case i == 0 && j == 0:
				row[j] = d
			case i == 0:
				row[j] = math.Max(row[j-1], d)
			case j == 0:
				row[j] = math.Max(up, d)
			default:
				row[j] = math.Max(math.Min(math.Min(up, row[j-1]), diagonal), d)
			}
			diagonal = up
		}
	}
	return row[len(b)-1], nil
}

// HausdorffDistance is the discrete Hausdorff distance from a to b: the
// greatest distance of a point of a from the nearest point of b. Multi-lines
// take the greatest one among their pairs of lines. Errors are those of w.
func HausdorffDistance(w *Work, s *SRS, a, b []Point) (worst float64, err error) {
	defer ended(&err)
	for _, p := range a {
		best := math.Inf(1)
		for _, q := range b {
			w.did(1)
			best = math.Min(best, s.PointDistance(p, q))
		}
		worst = math.Max(worst, best)
	}
	return worst, nil
}

// Simplify drops points by the method of Douglas and Peucker. ok is false when
// nothing is left. Errors are those of w.
func Simplify(w *Work, g Geometry, tolerance float64) (out Geometry, ok bool, err error) {
	defer ended(&err)
	out, ok = simplify(w, g, tolerance)
	return out, ok, nil
}

func simplify(w *Work, g Geometry, tolerance float64) (Geometry, bool) {
	switch g.Type {
	case TypePoint, TypeMultiPoint:
		return g, true
	case TypeLineString:
		return NewLine(douglasPeucker(w, g.Points, tolerance)), true
	case TypePolygon:
		var rings [][]Point
		for i, r := range g.Rings {
			if s := douglasPeucker(w, r, tolerance); len(s) >= 4 {
				rings = append(rings, s)
			} else if i == 0 {
				return Geometry{}, false
			}
		}
		return NewPolygon(rings...), true
	}
	out := Geometry{Type: g.Type}
	for _, p := range g.Parts {
		if q, ok := simplify(w, p, tolerance); ok {
			out.Parts = append(out.Parts, q)
		}
	}
	return out, len(out.Parts) > 0
}

func douglasPeucker(w *Work, pts []Point, tolerance float64) []Point {
	keep := make([]bool, len(pts))
	keep[0], keep[len(pts)-1] = true, true
	stack := [][2]int{{0, len(pts) - 1}}
	for len(stack) > 0 {
		from, to := stack[len(stack)-1][0], stack[len(stack)-1][1]
		stack = stack[:len(stack)-1]
		worst, at := tolerance, -1
		for i := from + 1; i < to; i++ {
			w.did(1)
			if d := segmentDistance(pts[i], pts[from], pts[to]); d > worst {
				worst, at = d, i
			}
		}
		if at >= 0 {
			keep[at] = true
			stack = append(stack, [2]int{from, at}, [2]int{at, to})
		}
	}
	var out []Point
	for i, p := range pts {
		if keep[i] {
			out = append(out, p)
		}
	}
	return out
}

// segmentDistance is the distance of a point from a segment in a plane.
func segmentDistance(p, a, b Point) float64 {
	dx, dy := b.X-a.X, b.Y-a.Y
	l := dx*dx + dy*dy
	if l == 0 {
		return distance(p, a)
	}
	t := ((p.X-a.X)*dx + (p.Y-a.Y)*dy) / l
	switch {
	case t <= 0:
		return distance(p, a)
	case t >= 1:
		return distance(p, b)
	}
	return distance(p, Point{a.X + t*dx, a.Y + t*dy})
}
