package geo

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sqlots/sqlots/internal/testflag"
)

// zigzag is a line that goes over itself again and again.
func zigzag(n int, at float64) []Point {
	pts := make([]Point, 0, n+1)
	for len(pts) < n {
		pts = append(pts, Point{1 + at, 1}, Point{2 + at, 5}, Point{7 + at, 3})
	}
	return append(pts, pts[0])
}

// comb is a polygon of n teeth that do not meet.
func comb(n int) Geometry {
	ring := []Point{{0, 0}}
	for i := range n {
		x := float64(i)
		ring = append(ring, Point{x, 10}, Point{x + 0.5, 1})
	}
	return NewPolygon(append(ring, Point{float64(n), 0}, Point{0, 0}))
}

// TestWorkEnds: algorithms on long geometries end soon after Count says so, or refuse
// them.
func TestWorkEnds(t *testing.T) {
	testflag.Normal(t)
	const n = 60_000
	a, b := NewLine(zigzag(n, 0)), NewLine(zigzag(n, 100))
	near := NewLine(zigzag(n, 0.5))
	spiral := make([]Point, n) // the farthest point is always the next one
	for i := range spiral {
		r := float64(n - i)
		spiral[i] = Point{r * math.Cos(float64(i)), r * math.Sin(float64(i))}
	}
	points := func(pts []Point) Geometry {
		g := Geometry{Type: TypeMultiPoint}
		for _, p := range pts {
			g.Parts = append(g.Parts, NewPoint(p))
		}
		return g
	}
	earth, _ := Lookup(4326)
	stop := errors.New("stop")
	for name, call := range map[string]func(w *Work) error{
		"distance":            func(w *Work) error { _, err := Distance(w, nil, a, b); return err },
		"distance on earth":   func(w *Work) error { _, err := Distance(w, earth, points(a.Points), points(b.Points)); return err },
		"distance of a globe": func(w *Work) error { _, err := DistanceSphere(w, points(a.Points), points(b.Points), 1); return err },
		"Fréchet":             func(w *Work) error { _, err := FrechetDistance(w, nil, a.Points, b.Points); return err },
		"Hausdorff":           func(w *Work) error { _, err := HausdorffDistance(w, nil, a.Points, b.Points); return err },
		"simplify":            func(w *Work) error { _, _, err := Simplify(w, NewLine(spiral), 1e-9); return err },
		"union":               func(w *Work) error { _, err := Overlay(w, nil, OpUnion, a, near); return err },
		"union of areas":      func(w *Work) error { _, err := Overlay(w, nil, OpUnion, NewPolygon(a.Points), comb(10)); return err },
		"intersection":        func(w *Work) error { _, err := Overlay(w, nil, OpIntersection, points(a.Points), near); return err },
		"union of points":     func(w *Work) error { _, err := Overlay(w, nil, OpUnion, points(spiral), near); return err },
		"touches":             func(w *Work) error { _, err := Relate(w, nil, RelTouches, a, near); return err },
		"within":              func(w *Work) error { _, err := Relate(w, nil, RelWithin, points(a.Points), near); return err },
		"simple":              func(w *Work) error { _, err := IsSimple(w, a); return err },
		"valid":               func(w *Work) error { _, err := IsValid(w, nil, NewPolygon(a.Points)); return err },
		"buffer": func(w *Work) error {
			_, err := Buffer(w, NewPolygon(a.Points), -1, DefaultBufferStyle, math.MaxInt)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			done := 0
			began := time.Now()
			err := call(&Work{Count: func(n int) error {
				if done += n; done > 200e6 {
					return stop
				}
				return nil
			}})
			if !errors.Is(err, stop) && !errors.Is(err, ErrTooComplex) {
				t.Errorf("%v after %d units", err, done)
			}
			if took := time.Since(began); took > time.Minute {
				t.Errorf("took %v", took)
			}
		})
	}
}

// TestLongButSimple: geometries of many points that hardly meet are not refused.
func TestLongButSimple(t *testing.T) {
	g := comb(20_000)
	w := &Work{Count: func(int) error { return nil }}
	if ok, err := IsValid(w, nil, g); !ok || err != nil {
		t.Errorf("valid: %v, %v", ok, err)
	}
	if ok, err := IsSimple(w, g); !ok || err != nil {
		t.Errorf("simple: %v, %v", ok, err)
	}
	box := NewPolygon([]Point{{5, 2}, {9, 2}, {9, 3}, {5, 3}, {5, 2}})
	if ok, err := Relate(w, nil, RelOverlaps, g, box); !ok || err != nil {
		t.Errorf("overlaps: %v, %v", ok, err)
	}
	cut, err := Overlay(w, nil, OpIntersection, g, box)
	if err != nil || len(cut.Parts) < 4 {
		t.Errorf("intersection: %d parts, %v", len(cut.Parts), err)
	}
}

// TestLinearWorkEnds: what passes all points once ends soon after Count says so, too.
func TestLinearWorkEnds(t *testing.T) {
	testflag.Normal(t)
	const n = 60_000
	earth, _ := Lookup(4326)
	mercator, _ := Lookup(3857)
	line := comb(n / 2).Rings[0]
	area := NewPolygon(zigzag(n, 0))
	many := Geometry{Type: TypeMultiPoint}
	for _, p := range line {
		many.Parts = append(many.Parts, NewPoint(p))
	}
	stop := errors.New("stop")
	for name, g := range map[string]Geometry{"line": NewLine(line), "polygon": area, "points": many} {
		stored, text := Value{Geometry: g}.Encode(), AppendWKT(nil, g, Options{})
		doc := AppendGeoJSON(nil, Value{Geometry: g}, GeoJSONOptions{Digits: 9})
		for what, call := range map[string]func(w *Work) error{
			"decode":    func(w *Work) error { _, err := DecodeUntil(w, stored); return err },
			"text":      func(w *Work) error { _, err := ParseWKT(text, Options{Work: w}); return err },
			"as text":   func(w *Work) error { return w.Until(func() { AppendWKT(nil, g, Options{Work: w}) }) },
			"as binary": func(w *Work) error { return w.Until(func() { AppendWKB(nil, g, Options{Work: w}) }) },
			"as JSON": func(w *Work) error {
				return w.Until(func() { AppendGeoJSON(nil, Value{Geometry: g}, GeoJSONOptions{Work: w}) })
			},
			"JSON":        func(w *Work) error { _, err := ParseGeoJSON(w, doc, false); return err },
			"hull":        func(w *Work) error { _, err := ConvexHull(w, g); return err },
			"transformed": func(w *Work) error { _, _, err := Transform(w, g, earth, mercator); return err },
			"swapped":     func(w *Work) error { return w.Until(func() { g.SwapXY(w) }) },
			"length": func(w *Work) error {
				_, err := Length(w, earth, NewLine(line))
				return err
			},
			"area": func(w *Work) error { _, err := Area(w, nil, area); return err },
		} {
			if err := call(&Work{Count: func(int) error { return stop }}); !errors.Is(err, stop) {
				t.Errorf("%s of %s: %v", what, name, err)
			}
			if err := call(nil); err != nil {
				t.Errorf("%s of %s: %v", what, name, err)
			}
			if err := call(&Work{Count: func(int) error { return nil }}); err != nil {
				t.Errorf("%s of %s: %v", what, name, err)
			}
		}
	}
}

// TestNearPoints compares with all pairs.
func TestNearPoints(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	number := func() float64 {
		f := []float64{0, math.Copysign(0, -1), 1, -1, 0.5, 180, 1e-300, 1 << 12, 3e7}[rnd.IntN(9)]
		for range rnd.IntN(40) - 20 {
			f = math.Nextafter(f, math.Inf(1))
		}
		for range rnd.IntN(40) - 20 {
			f = math.Nextafter(f, math.Inf(-1))
		}
		return f
	}
	for range 200 {
		near := nearPoints{}
		var list []Point
		for range 100 {
			p := Point{number(), number()}
			want := slices.ContainsFunc(list, func(q Point) bool { return nearlySame(p, q) })
			if got := near.has(p); got != want {
				t.Fatalf("%v among %v: %v, want %v", p, list, got, want)
			}
			near.add(p)
			list = append(list, p)
		}
	}
}

// TestManyPoints: points are not compared each with each.
func TestManyPoints(t *testing.T) {
	testflag.Normal(t)
	const n = 100_000
	a, b := Geometry{Type: TypeMultiPoint}, Geometry{Type: TypeMultiPoint}
	for i := range n {
		a.Parts = append(a.Parts, NewPoint(Point{float64(i), 1}))
		b.Parts = append(b.Parts, NewPoint(Point{float64(i), float64(i%2) + 1}))
	}
	for op, want := range map[SetOp]int{OpUnion: n + n/2, OpIntersection: n / 2, OpDifference: n / 2, OpSymDifference: n} {
		work := 0
		g, err := Overlay(&Work{Count: func(n int) error { work += n; return nil }}, nil, op, a, b)
		if err != nil || g.NumPoints() != want || work > 200*n*workOfStep {
			t.Errorf("%v: %d points, %v, after %d", op, g.NumPoints(), err, work)
		}
	}
}
