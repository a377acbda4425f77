package geo

import (
	"cmp"
	"math"
	"slices"

	"github.com/peterstace/simplefeatures/geom"
)

// SetOp is an operation on two geometries as sets of points.
type SetOp uint8

// The operations.
const (
	OpUnion SetOp = iota
	OpIntersection
	OpDifference
	OpSymDifference
)

// Overlay combines two geometries. Errors: ErrTooLarge, ErrOverlay, ErrTooComplex; of w.
func Overlay(w *Work, s *SRS, op SetOp, a, b Geometry) (result Geometry, err error) {
	defer ended(&err)
	a, b, g, err := planar(s, a, b)
	if err != nil {
		return Geometry{}, err
	}
	x, y := layersOf(a), layersOf(b)
	for _, l := range []*layers{&x, &y} {
		if l.areas, err = unionAll(w, l.areas); err != nil {
			return Geometry{}, err
		}
	}
	out, err := overlay(w, op, x, y)
	if err != nil {
		return Geometry{}, err
	}
	result = out.geometry()
	if g != nil {
		result = g.backward(result)
	}
	return Orient(result), nil
}

// layers is a set of points by dimension. areas is at most one geometry of
// polygons that do not overlap.
type layers struct {
	points []Point
	lines  [][]Point
	areas  []Geometry
	known  map[Point]struct{} // points, see has
}

func layersOf(g Geometry) layers {
	var l layers
	for _, s := range g.Simples() {
		switch s.Type {
		case TypePoint:
			l.points = append(l.points, s.Points[0])
		case TypeLineString:
			l.lines = append(l.lines, s.Points)
		case TypePolygon:
			l.areas = append(l.areas, s)
		}
	}
	return l
}

// geometry is the set as the smallest type that holds it.
func (l layers) geometry() Geometry {
	slices.SortFunc(l.points, func(p, q Point) int { return cmp.Or(cmp.Compare(p.X, q.X), cmp.Compare(p.Y, q.Y)) })
	parts := slices.Clone(l.areas)
	for _, p := range l.lines {
		parts = append(parts, NewLine(p))
	}
	for _, p := range slices.Compact(l.points) {
		parts = append(parts, NewPoint(p))
	}
	return collect(parts)
}

func overlay(w *Work, op SetOp, a, b layers) (layers, error) {
	var out layers
	var err error
	switch op {
	case OpUnion:
		if out.areas, err = combine(w, OpUnion, a.areas, b.areas); err != nil {
			return out, err
		}
		first, _ := cut(w, a.lines, layers{areas: out.areas}, false)
		second, _ := cut(w, b.lines, layers{lines: first, areas: out.areas}, false)
		out.lines = append(first, second...)
		out.points = minusPoints(w, append(slices.Clone(a.points), b.points...), layers{lines: out.lines, areas: out.areas})
	case OpIntersection:
		return intersect(w, a, b)
	case OpDifference:
		if out.areas, err = combine(w, OpDifference, a.areas, b.areas); err != nil {
			return out, err
		}
		out.lines, _ = cut(w, a.lines, layers{lines: b.lines, areas: b.areas}, false)
		out.points = minusPoints(w, a.points, b)
	case OpSymDifference:
		x, err := overlay(w, OpDifference, a, b)
		if err != nil {
			return x, err
		}
		y, err := overlay(w, OpDifference, b, a)
		if err != nil {
			return y, err
		}
		return overlay(w, OpUnion, x, y)
	}
	return out, nil
}

func intersect(w *Work, a, b layers) (layers, error) {
	var out layers
	if len(a.areas) > 0 && len(b.areas) > 0 {
		parts, err := combine(w, OpIntersection, a.areas, b.areas)
		if err != nil {
			return out, err
		}
		// Polygons that touch have lines and points in common.
		out = layersOf(Geometry{Type: TypeCollection, Parts: parts})
	}
	add := func(lines [][]Point, with layers) {
		pieces, points := cut(w, lines, with, true)
		pieces, _ = cut(w, pieces, layers{lines: out.lines, areas: out.areas}, false)
		out.lines = append(out.lines, pieces...)
		out.points = append(out.points, points...)
	}
	add(a.lines, layers{lines: b.lines, areas: b.areas})
	add(b.lines, layers{areas: a.areas})
	keep := func(points []Point, in layers) {
		in.known = knownPoints(in.points)
		for _, p := range points {
			if in.has(w, p) {
				out.points = append(out.points, p)
			}
		}
	}
	keep(a.points, b)
	keep(b.points, layers{lines: a.lines, areas: a.areas})
	lines, points := NewMultiLine(out.lines), out.points
	out.points = nil
	steps := lines.NumPoints()
	for _, p := range minusPoints(w, points, layers{areas: out.areas}) {
		w.did(steps)
		// Crossings are rounded: one that lies on a line may miss it by that.
		if !lines.segments(func(a, b Point) bool { return segmentDistance(p, a, b) > 1e-13*(math.Abs(p.X)+math.Abs(p.Y)) }) {
			continue
		}
		out.points = append(out.points, p)
	}
	return out, nil
}

// knownPoints are points by their places.
func knownPoints(points []Point) map[Point]struct{} {
	out := make(map[Point]struct{}, len(points))
	for _, p := range points {
		out[p] = struct{}{}
	}
	return out
}

// has reports that p belongs to the set, whose points are known.
func (l layers) has(w *Work, p Point) bool {
	w.did(1)
	if _, ok := l.known[p]; ok {
		return true
	}
	for _, line := range l.lines {
		w.did(1 + len(line))
		for i := 1; i < len(line); i++ {
			if onSegment(p, line[i-1], line[i]) {
				return true
			}
		}
	}
	return l.areaHas(w, p)
}

func (l layers) areaHas(w *Work, p Point) bool {
	return slices.ContainsFunc(l.areas, func(a Geometry) bool { w.did(a.steps()); return inPolygon(p, a.Rings) != outside })
}

// nearlySame reports points that differ by rounding: a crossing that was
// computed twice.
func nearlySame(p, q Point) bool {
	near := func(a, b float64) bool { return math.Abs(a-b) <= 4e-15*math.Max(math.Abs(a), math.Abs(b)) }
	return near(p.X, q.X) && near(p.Y, q.Y)
}

func minusPoints(w *Work, points []Point, set layers) []Point {
	var out []Point
	set.known = knownPoints(set.points)
	near := nearPoints{}
	for _, p := range points {
		w.did(10)
		if !set.has(w, p) && !near.has(p) {
			out = append(out, p)
			near.add(p)
		}
	}
	return out
}

// nearPoints finds points that are nearlySame: they are in one cell, or in cells that
// touch. Cells are as large as thousands of roundings.
type nearPoints map[[2]uint64][]Point

func cellOf(p Point) [2]uint64 {
	const bits = 12
	return [2]uint64{math.Float64bits(p.X+0) >> bits, math.Float64bits(p.Y+0) >> bits} // + 0: -0 is 0
}

func (n nearPoints) add(p Point) {
	c := cellOf(p)
	n[c] = append(n[c], p)
}

func (n nearPoints) has(p Point) bool {
	c := cellOf(p)
	for x := range uint64(3) {
		for y := range uint64(3) {
			if slices.ContainsFunc(n[[2]uint64{c[0] + x - 1, c[1] + y - 1}], func(q Point) bool { return nearlySame(p, q) }) {
				return true
			}
		}
	}
	return false
}

// combine overlays polygons.
func combine(w *Work, op SetOp, a, b []Geometry) ([]Geometry, error) {
	if len(a)+len(b) == 0 || op == OpDifference && len(a) == 0 {
		return nil, nil
	}
	join := func(list []Geometry) geom.Geometry {
		if len(list) == 1 {
			return toSimple(list[0])
		}
		return toSimple(Geometry{Type: TypeCollection, Parts: list})
	}
	var out geom.Geometry
	x, y := join(a), join(b)
	err := w.library(maxMeetings, func() (err error) {
		switch op {
		case OpUnion:
			out, err = geom.Union(x, y)
		case OpIntersection:
			out, err = geom.Intersection(x, y)
		case OpDifference:
			out, err = geom.Difference(x, y)
		}
		return err
	}, x, y)
	if err != nil {
		return nil, err
	}
	return fromSimple(out).Parts, nil
}

// cutPoint is a place on a segment, at the fraction t of its length.
type cutPoint struct {
	t float64
	p Point
}

// cut divides lines where they meet a set and keeps the pieces in it (in) or
// those outside of it. With in, points are the places where the lines only
// touch the set.
func cut(w *Work, lines [][]Point, set layers, in bool) (pieces [][]Point, points []Point) {
	set.known = knownPoints(set.points)
	for _, line := range lines {
		var current []Point
		flush := func() {
			if len(current) > 1 {
				pieces = append(pieces, current)
			}
			current = nil
		}
		for i := 1; i < len(line); i++ {
			a, b := line[i-1], line[i]
			if a == b {
				continue
			}
			cuts, shared := set.meet(w, a, b)
			straight := false // the piece before, on this segment, was kept
			kept := make([]bool, len(cuts)+1)
			for k := 1; k < len(cuts); k++ {
				p, q := cuts[k-1], cuts[k]
				mid := (p.t + q.t) / 2
				covered := slices.ContainsFunc(shared, func(s [2]float64) bool { return s[0] <= mid && mid <= s[1] }) ||
					set.areaHas(w, Point{a.X + (b.X-a.X)*mid, a.Y + (b.Y-a.Y)*mid})
				if covered != in {
					flush()
					straight = false
					continue
				}
				kept[k] = true
				if len(current) == 0 {
					current = []Point{p.p}
				} else if straight {
					current = current[:len(current)-1]
				}
				current = append(current, q.p)
				straight = true
			}
			if in {
				for k, c := range cuts {
					if !kept[k] && !kept[k+1] && (c.t > 0 && c.t < 1 || set.has(w, c.p)) {
						points = append(points, c.p)
					}
				}
			}
		}
		flush()
	}
	return pieces, minusPoints(w, points, layers{lines: pieces})
}

// meet is where the segment from a to b meets the lines and rings of the set,
// in order and with both ends, and the stretches that it shares with them.
func (l layers) meet(w *Work, a, b Point) (cuts []cutPoint, shared [][2]float64) {
	cuts = []cutPoint{{0, a}, {1, b}}
	fraction := func(p Point) float64 {
		if math.Abs(b.X-a.X) >= math.Abs(b.Y-a.Y) {
			return (p.X - a.X) / (b.X - a.X)
		}
		return (p.Y - a.Y) / (b.Y - a.Y)
	}
	add := func(p Point) {
		if p != a && p != b {
			if t := fraction(p); t > 0 && t < 1 {
				cuts = append(cuts, cutPoint{t, p})
			}
		}
	}
	with := func(c, d Point) {
		if c == d || !cross(a, b, c, d) {
			return
		}
		oc, od := orientation(a, b, c), orientation(a, b, d)
		if oc == 0 && od == 0 {
			t0, t1 := fraction(c), fraction(d)
			if t0 > t1 {
				t0, t1 = t1, t0
			}
			shared = append(shared, [2]float64{math.Max(t0, 0), math.Min(t1, 1)})
			add(c)
			add(d)
			return
		}
		switch {
		case oc == 0 && onSegment(c, a, b):
			add(c)
		case od == 0 && onSegment(d, a, b):
			add(d)
		case orientation(c, d, a) == 0 || orientation(c, d, b) == 0: // an end lies on the other
		default:
			t := orientation(c, d, a) / (orientation(c, d, a) - orientation(c, d, b))
			add(Point{a.X + (b.X-a.X)*t, a.Y + (b.Y-a.Y)*t})
		}
	}
	for _, line := range l.lines {
		w.did(1 + len(line))
		for i := 1; i < len(line); i++ {
			with(line[i-1], line[i])
		}
	}
	for _, g := range l.areas {
		g.segments(func(c, d Point) bool { w.did(1); with(c, d); return true })
	}
	slices.SortFunc(cuts, func(x, y cutPoint) int { return cmp.Compare(x.t, y.t) })
	return slices.CompactFunc(cuts, func(x, y cutPoint) bool { return x.p == y.p }), shared
}
