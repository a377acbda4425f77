package geo

import (
	"cmp"
	"slices"
)

// ConvexHull of a geometry in a plane: a polygon, or a line or point if all
// points are on one.
func ConvexHull(w *Work, g Geometry) (hull Geometry, err error) {
	defer ended(&err)
	var pts []Point
	g.eachPoint(func(p Point) bool { pts = append(pts, p); w.each(1); return true })
	slices.SortFunc(pts, func(p, q Point) int { w.each(1); return cmp.Or(cmp.Compare(p.X, q.X), cmp.Compare(p.Y, q.Y)) })
	pts = slices.Compact(pts)
	switch len(pts) {
	case 0:
		return Geometry{Type: TypeCollection}, nil
	case 1:
		return NewPoint(pts[0]), nil
	}
	half := func() []Point {
		var h []Point
		for _, p := range pts {
			w.each(1)
			for len(h) > 1 && orientation(h[len(h)-2], h[len(h)-1], p) <= 0 {
				h = h[:len(h)-1]
			}
			h = append(h, p)
		}
		return h
	}
	lower := half()
	slices.Reverse(pts)
	upper := half()
	ring := append(lower[:len(lower):len(lower)], upper[1:]...)
	if len(ring) == 3 {
		return NewLine(ring[:2]), nil
	}
	return NewPolygon(ring), nil
}
