package geo

import "math"

// Distance is the least distance of two geometries that are not empty.
// Errors: ErrTooLarge for geographic ones that do not fit on a hemisphere; of w.
func Distance(w *Work, s *SRS, a, b Geometry) (d float64, err error) {
	defer ended(&err)
	if !s.IsGeographic() {
		return planarDistance(w, a, b), nil
	}
	return geodesicDistance(w, s, a, b)
}

func geodesicDistance(w *Work, s *SRS, a, b Geometry) (float64, error) {
	if a.Dimension() > 0 || b.Dimension() > 0 {
		meet, err := Intersects(w, s, a, b)
		if err != nil {
			return 0, err
		}
		if meet {
			return 0, nil
		}
	}
	best := math.Inf(1)
	points := func(p, q Geometry, reverse bool) {
		p.eachPoint(func(x Point) bool {
			if !reverse {
				q.eachPoint(func(y Point) bool {
					w.did(geodesicSteps)
					best = math.Min(best, s.Ellipsoid.Distance(x, y))
					return true
				})
			}
			q.segments(func(c, d Point) bool {
				w.did(100 * geodesicSteps)
				best = math.Min(best, s.Ellipsoid.segmentDistance(x, c, d))
				return true
			})
			return true
		})
	}
	points(a, b, false)
	points(b, a, true)
	return best, nil
}

// geodesicSteps is the work of a distance on an ellipsoid, in steps.
const geodesicSteps = 20

func planarDistance(w *Work, a, b Geometry) float64 {
	if touchesAny(w, a, b) {
		return 0
	}
	best := math.Inf(1)
	points := func(p, q Geometry) {
		n := q.NumPoints()
		p.eachPoint(func(x Point) bool {
			w.did(2 * n)
			q.eachPoint(func(y Point) bool { best = math.Min(best, distance(x, y)); return true })
			q.segments(func(c, d Point) bool { best = math.Min(best, segmentDistance(x, c, d)); return true })
			return true
		})
	}
	points(a, b)
	points(b, a)
	return best
}

// segmentDistance is the distance of a point from a geodesic segment: of the
// place that a golden-section search finds, since the distance along a
// geodesic shorter than half of the way around has one minimum.
func (e Ellipsoid) segmentDistance(p, a, b Point) float64 {
	length, az, _ := e.inverse(a, b)
	if length == 0 {
		return e.Distance(p, a)
	}
	at := func(d float64) float64 { return e.Distance(p, e.direct(a, d, az)) }
	lo, hi := 0.0, length
	const golden = 0.6180339887498949
	x1, x2 := hi-golden*(hi-lo), lo+golden*(hi-lo)
	d1, d2 := at(x1), at(x2)
	for hi-lo > 1e-3 {
		if d1 < d2 {
			hi, x2, d2 = x2, x1, d1
			x1 = hi - golden*(hi-lo)
			d1 = at(x1)
		} else {
			lo, x1, d1 = x1, x2, d2
			x2 = lo + golden*(hi-lo)
			d2 = at(x2)
		}
	}
	return math.Min(math.Min(d1, d2), math.Min(e.Distance(p, a), e.Distance(p, b)))
}
