package geo

import (
	"errors"

	"github.com/peterstace/simplefeatures/geom"
)

// Relation is a spatial relation of two geometries that are not empty.
type Relation uint8

// The relations.
const (
	RelContains Relation = iota
	RelWithin
	RelIntersects
	RelDisjoint
	RelTouches
	RelCrosses
	RelOverlaps
	RelEquals
)

// Intersects reports a common point.
func Intersects(w *Work, s *SRS, a, b Geometry) (bool, error) {
	return Relate(w, s, RelIntersects, a, b)
}

// Relate reports whether the relation holds. Errors: ErrTooLarge, ErrOverlay,
// ErrTooComplex; of w.
func Relate(w *Work, s *SRS, r Relation, a, b Geometry) (holds bool, err error) {
	defer ended(&err)
	if r == RelContains {
		return Relate(w, s, RelWithin, b, a)
	}
	if apart(s, a, b) { // before the plane, into which both must fit
		return r == RelDisjoint, nil
	}
	a, b, _, err = planar(s, a, b)
	if err != nil {
		return false, err
	}
	ba, _ := a.Bounds()
	bb, _ := b.Bounds()
	switch {
	case r == RelIntersects:
		return touchesAny(w, a, b), nil
	case r == RelDisjoint:
		return !touchesAny(w, a, b), nil
	case ba.disjoint(bb):
		return false, nil
	}
	da, db := a.Dimension(), b.Dimension()
	if da == 0 && allPoints(a) {
		return relatePoints(w, r, a, b), nil
	}
	if db == 0 && allPoints(b) {
		switch r {
		case RelTouches:
			return relatePoints(w, r, b, a), nil
		default: // nothing of a higher dimension is within, equal to or overlaps points
			return false, nil
		}
	}
	var matrix string
	x, y := toSimple(a), toSimple(b)
	if err := w.library(maxMeetings, func() (err error) {
		matrix, err = geom.Relate(x, y)
		return err
	}, x, y); err != nil {
		return false, err
	}
	return matches(r, da, db, matrix), nil
}

// apart reports geometries whose boxes have no common point.
func apart(s *SRS, a, b Geometry) bool {
	x, ok1 := BoundsOf(s, a)
	y, ok2 := BoundsOf(s, b)
	return !ok1 || !ok2 || RelateBoxes(BoxDisjoint, s.IsGeographic(), x, y)
}

func allPoints(g Geometry) bool {
	for _, s := range g.Simples() {
		if s.Type != TypePoint {
			return false
		}
	}
	return true
}

// relatePoints relates points to anything.
func relatePoints(w *Work, r Relation, points, b Geometry) bool {
	var in, edge, out int
	points.eachPoint(func(p Point) bool {
		switch locate(w, p, b) {
		case inside:
			in++
		case boundary:
			edge++
		default:
			out++
		}
		return true
	})
	switch r {
	case RelWithin:
		return in > 0 && out == 0
	case RelTouches:
		return in == 0 && edge > 0
	case RelCrosses:
		return in > 0 && out > 0
	}
	if !allPoints(b) {
		return false
	}
	missing := false // a point of b that is not in points
	b.eachPoint(func(p Point) bool { missing = missing || locate(w, p, points) == outside; return !missing })
	if r == RelEquals {
		return out == 0 && !missing
	}
	return in > 0 && out > 0 && missing // overlaps
}

// matches reads the DE-9IM matrix: interior, boundary and exterior of a in rows,
// of b in columns.
func matches(r Relation, da, db int, m string) bool {
	hit := func(i int) bool { return m[i] != 'F' }
	const ii, ib, ie, bi, bb, be, ei, eb = 0, 1, 2, 3, 4, 5, 6, 7
	switch r {
	case RelWithin:
		return hit(ii) && !hit(ie) && !hit(be)
	case RelTouches:
		return !hit(ii) && (hit(ib) || hit(bi) || hit(bb))
	case RelCrosses:
		if da == 1 && db == 1 {
			return m[ii] == '0'
		}
		if da < db {
			return hit(ii) && hit(ie)
		}
		return hit(ii) && hit(ei)
	case RelOverlaps:
		if da == 1 && db == 1 {
			return m[ii] == '1' && hit(ie) && hit(ei)
		}
		return hit(ii) && hit(ie) && hit(ei)
	case RelEquals:
		return hit(ii) && !hit(ie) && !hit(be) && !hit(ei) && !hit(eb)
	}
	return false
}

// IsSimple reports geometries without crossings of their own. Errors: ErrTooComplex; of w.
func IsSimple(w *Work, g Geometry) (simple bool, err error) {
	defer ended(&err)
	return isSimple(w, g)
}

func isSimple(w *Work, g Geometry) (bool, error) {
	switch g.Type {
	case TypeMultiPoint:
		seen := map[Point]bool{}
		return g.eachPoint(func(p Point) bool {
			dup := seen[p]
			seen[p] = true
			return !dup
		}), nil
	case TypeLineString, TypeMultiLineString:
		simple := false
		x := toSimple(g)
		err := w.library(maxChecked, func() error { simple, _ = x.IsSimple(); return nil }, x)
		if errors.Is(err, ErrOverlay) {
			return false, nil
		}
		return simple, err
	case TypePolygon:
		for _, r := range g.Rings {
			if ok, err := isSimple(w, NewLine(r)); !ok {
				return false, err
			}
		}
		return true, nil
	}
	for _, p := range g.Parts {
		if ok, err := isSimple(w, p); !ok {
			return false, err
		}
	}
	return true, nil
}

// IsValid reports geometries that obey the rules of the OpenGIS model: lines of
// two different points or more, rings that cross neither themselves nor one
// another, holes inside, polygons of a multi-polygon apart. Errors: ErrTooLarge,
// ErrTooComplex; of w.
func IsValid(w *Work, s *SRS, g Geometry) (valid bool, err error) {
	defer ended(&err)
	if g.IsEmpty() {
		return true, nil
	}
	if s.IsGeographic() {
		p, err := newGnomonic(s.Ellipsoid, g)
		if err != nil {
			return false, err
		}
		g = p.forward(g)
	}
	return isValid(w, g)
}

func isValid(w *Work, g Geometry) (bool, error) {
	switch g.Type {
	case TypePoint, TypeMultiPoint:
		return true, nil
	case TypeLineString, TypePolygon, TypeMultiPolygon:
		x := toSimple(g)
		err := w.library(maxChecked, x.Validate, x)
		if errors.Is(err, ErrOverlay) {
			return false, nil
		}
		return err == nil, err
	}
	for _, p := range g.Parts {
		if ok, err := isValid(w, p); !ok {
			return false, err
		}
	}
	return true, nil
}
