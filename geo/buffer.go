package geo

import "math"

// BufferStyle is how ST_Buffer makes the outline of points, at the ends of
// lines and at corners.
type BufferStyle struct {
	// SquarePoints and FlatEnds replace circles; MiterLimit, if not 0, makes
	// corners sharp up to that many distances from the vertex.
	SquarePoints, FlatEnds bool
	MiterLimit             float64
	// PointCircle, EndCircle and JoinCircle are points per circle.
	PointCircle, EndCircle, JoinCircle int
}

// DefaultBufferStyle is that without strategies: circles of 32 points.
var DefaultBufferStyle = BufferStyle{PointCircle: 32, EndCircle: 32, JoinCircle: 32}

// Buffer is all places within a distance of a geometry in a plane; polygons
// take a negative distance, and shrink. Errors: ErrTooManyPoints, ErrOverlay,
// ErrTooComplex; of w.
func Buffer(w *Work, g Geometry, d float64, style BufferStyle, maxPoints int) (out Geometry, err error) {
	defer ended(&err)
	b := bufferer{d: math.Abs(d), style: style, limit: maxPoints}
	simples, areas := []Geometry{}, []Geometry{}
	for _, s := range g.Simples() {
		if s.Type == TypePolygon {
			areas = append(areas, s)
		} else {
			simples = append(simples, s)
		}
	}
	areas, err = unionAll(w, areas) // the borders between them are inside
	if err != nil {
		return Geometry{}, err
	}
	for _, s := range append(simples, areas...) {
		switch s.Type {
		case TypePoint:
			b.point(s.Points[0])
		case TypeLineString:
			b.line(s.Points, isClosed(s.Points))
		case TypePolygon:
			for _, r := range s.Rings {
				b.line(r, true)
			}
		}
		if b.points > b.limit {
			return Geometry{}, ErrTooManyPoints
		}
	}
	var parts []Geometry
	if d > 0 {
		parts, err = unionAll(w, append(b.pieces, areas...))
	} else if parts, err = unionAll(w, b.pieces); err == nil {
		parts, err = combine(w, OpDifference, areas, parts)
	}
	if err != nil {
		return Geometry{}, err
	}
	var polygons []Geometry
	for _, p := range parts {
		if p.Type == TypePolygon {
			polygons = append(polygons, p)
		}
	}
	return Orient(collect(polygons)), nil
}

// unionAll unites polygons pairwise, neighbours first, so that the operands
// stay small.
func unionAll(w *Work, list []Geometry) ([]Geometry, error) {
	switch len(list) {
	case 0, 1:
		return list, nil
	}
	a, err := unionAll(w, list[:len(list)/2])
	if err != nil {
		return nil, err
	}
	b, err := unionAll(w, list[len(list)/2:])
	if err != nil {
		return nil, err
	}
	return combine(w, OpUnion, a, b)
}

type bufferer struct {
	d      float64
	style  BufferStyle
	pieces []Geometry
	points int
	limit  int
}

func (b *bufferer) add(ring ...Point) {
	out := ring[:0:0]
	for _, p := range ring {
		if len(out) == 0 || out[len(out)-1] != p {
			out = append(out, p)
		}
	}
	if len(out) > 2 && out[0] != out[len(out)-1] {
		out = append(out, out[0])
	}
	b.points += len(out)
	if len(out) > 3 && signedArea(out) != 0 && b.points <= b.limit {
		b.pieces = append(b.pieces, NewPolygon(out))
	}
}

// at is the point at an angle around c.
func (b *bufferer) at(c Point, angle float64) Point {
	sin, cos := math.Sincos(angle)
	return Point{c.X + b.d*cos, c.Y + b.d*sin}
}

func (b *bufferer) point(p Point) {
	d := b.d
	if b.style.SquarePoints {
		b.add(Point{p.X - d, p.Y - d}, Point{p.X + d, p.Y - d}, Point{p.X + d, p.Y + d}, Point{p.X - d, p.Y + d})
		return
	}
	n := b.style.PointCircle
	if b.points += n; b.points > b.limit {
		return
	}
	b.points -= n
	ring := make([]Point, n)
	for i := range ring {
		ring[i] = b.at(p, 2*math.Pi*float64(i)/float64(n))
	}
	b.add(ring...)
}

// line surrounds every segment with a rectangle and fills the corners.
func (b *bufferer) line(pts []Point, closed bool) {
	var clean []Point
	for _, p := range pts {
		if len(clean) == 0 || clean[len(clean)-1] != p {
			clean = append(clean, p)
		}
	}
	if len(clean) == 1 {
		b.point(clean[0])
		return
	}
	offset := func(i int) (float64, float64) {
		dx, dy := clean[i+1].X-clean[i].X, clean[i+1].Y-clean[i].Y
		l := math.Hypot(dx, dy)
		return -dy / l * b.d, dx / l * b.d
	}
	n := len(clean) - 1
	for i := 0; i < n; i++ {
		p, q := clean[i], clean[i+1]
		ox, oy := offset(i)
		b.add(Point{p.X - ox, p.Y - oy}, Point{q.X - ox, q.Y - oy}, Point{q.X + ox, q.Y + oy}, Point{p.X + ox, p.Y + oy})
		if i > 0 {
			px, py := offset(i - 1)
			b.join(p, px, py, ox, oy)
		}
		if b.points > b.limit {
			return
		}
	}
	fx, fy := offset(0)
	lx, ly := offset(n - 1)
	if closed {
		b.join(clean[0], lx, ly, fx, fy)
		return
	}
	if !b.style.FlatEnds {
		b.arc(clean[0], Point{clean[0].X + fx, clean[0].Y + fy}, Point{clean[0].X - fx, clean[0].Y - fy}, b.style.EndCircle)
		b.arc(clean[n], Point{clean[n].X - lx, clean[n].Y - ly}, Point{clean[n].X + lx, clean[n].Y + ly}, b.style.EndCircle)
	}
}

// join fills the outer side of a corner at c between segments with the left
// offsets (px, py) and (qx, qy).
func (b *bufferer) join(c Point, px, py, qx, qy float64) {
	turn := px*qy - py*qx
	if turn == 0 && px*qx+py*qy > 0 {
		return
	}
	from, to := Point{c.X - px, c.Y - py}, Point{c.X - qx, c.Y - qy} // the right side is outside
	if turn < 0 {
		from, to = Point{c.X + qx, c.Y + qy}, Point{c.X + px, c.Y + py}
	}
	if b.style.MiterLimit == 0 {
		b.arc(c, from, to, b.style.JoinCircle)
		return
	}
	// The tip lies on the bisector.
	mx, my := (from.X+to.X)/2-c.X, (from.Y+to.Y)/2-c.Y
	m := math.Hypot(mx, my)
	if m == 0 {
		b.add(c, from, to)
		return
	}
	reach := math.Min(b.d*b.d/m, b.style.MiterLimit*b.d)
	if reach <= b.d*1.0000001 {
		b.add(c, from, to)
		return
	}
	b.add(c, from, Point{c.X + mx/m*reach, c.Y + my/m*reach}, to)
}

// arc is the sector around c from one point to another, counter-clockwise.
func (b *bufferer) arc(c, from, to Point, circle int) {
	a0 := math.Atan2(from.Y-c.Y, from.X-c.X)
	sweep := math.Atan2(to.Y-c.Y, to.X-c.X) - a0
	for sweep <= 0 {
		sweep += 2 * math.Pi
	}
	step := 2 * math.Pi / float64(circle)
	n := int(math.Ceil(sweep/step - 1e-9))
	if b.points+n > b.limit {
		b.points += n
		return
	}
	ring := []Point{c, from}
	for i := 1; i < n; i++ {
		ring = append(ring, b.at(c, a0+sweep*float64(i)/float64(n)))
	}
	b.add(append(ring, to)...)
}

// BufferPoint is a circle of geodesics around a point on the ellipsoid.
func (s *SRS) BufferPoint(p Point, d float64, n int) Geometry {
	var ring []Point
	for i := range n {
		// Not at 0, where the formula is weak.
		az := 0.001 - 2*math.Pi*float64(i)/float64(n)
		for az <= -math.Pi {
			az += 2 * math.Pi
		}
		ring = append(ring, s.Ellipsoid.direct(p, d, az))
	}
	return NewPolygon(append(ring, ring[0]))
}
