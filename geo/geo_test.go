package geo

import (
	"math"
	"testing"
)

func mustWKT(t *testing.T, s string) Geometry {
	t.Helper()
	g, err := ParseWKT([]byte(s), Options{})
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return g
}

func wkt(g Geometry) string { return string(AppendWKT(nil, g, Options{})) }

func TestBufferOfGeographicPoint(t *testing.T) {
	s, _ := Lookup(4326)
	got := s.BufferPoint(Point{179, 0}, 200000, 32).Rings[0]
	want := []Point{{179.00179722331927, 1.808732012131739}, {178.65114627062792, 1.7743197900479146}, {178.31392607028621, 1.6717032635523004}}
	for i, w := range want {
		if math.Abs(got[i].X-w.X) > 1e-9 || math.Abs(got[i].Y-w.Y) > 1e-9 {
			t.Errorf("point %d: %v, want %v", i, got[i], w)
		}
	}
	if w := (Point{-179.73065156199783, -1.2801423568706942}); math.Abs(got[20].X-w.X) > 1e-9 || math.Abs(got[20].Y-w.Y) > 1e-9 {
		t.Errorf("point 20: %v, want %v", got[20], w)
	}
}

func TestOverlay(t *testing.T) {
	for _, c := range []struct {
		op         SetOp
		a, b, want string
	}{
		{OpUnion, "LINESTRING(1 1,3 3)", "LINESTRING(1 3,3 1)", "MULTILINESTRING((1 1,3 3),(1 3,3 1))"},
		{OpIntersection, "LINESTRING(1 1,3 3)", "LINESTRING(1 3,3 1)", "POINT(2 2)"},
		{OpSymDifference, "MULTIPOINT(5 0,15 10,15 25)", "MULTIPOINT(1 1,15 10,15 25)", "MULTIPOINT((1 1),(5 0))"},
		{OpDifference, "POINT(1 1)", "POINT(2 2)", "POINT(1 1)"},
		{OpDifference, "POINT(1 1)", "POINT(1 1)", "GEOMETRYCOLLECTION EMPTY"},
		{OpDifference, "LINESTRING(0 0,10 0)", "LINESTRING(2 0,4 0)", "MULTILINESTRING((0 0,2 0),(4 0,10 0))"},
		{OpIntersection, "LINESTRING(0 0,10 0)", "LINESTRING(2 0,14 0)", "LINESTRING(2 0,10 0)"},
		{OpIntersection, "LINESTRING(-5 5,15 5)", "POLYGON((0 0,10 0,10 10,0 10,0 0))", "LINESTRING(0 5,10 5)"},
		{OpDifference, "LINESTRING(-5 5,15 5)", "POLYGON((0 0,10 0,10 10,0 10,0 0))", "MULTILINESTRING((-5 5,0 5),(10 5,15 5))"},
		{OpIntersection, "LINESTRING(-5 5,5 15)", "POLYGON((0 0,10 0,10 10,0 10,0 0))", "POINT(0 10)"},
		{OpUnion, "LINESTRING(2 2,4 4)", "POLYGON((0 0,10 0,10 10,0 10,0 0))", "POLYGON((0 0,10 0,10 10,0 10,0 0))"},
		{OpIntersection, "POLYGON((0 0,10 0,10 10,0 10,0 0))", "POLYGON((5 5,15 5,15 15,5 15,5 5))", "POLYGON((5 5,10 5,10 10,5 10,5 5))"},
		{OpIntersection, "POLYGON((0 0,10 0,10 10,0 10,0 0))", "POLYGON((10 0,20 0,20 10,10 10,10 0))", "LINESTRING(10 0,10 10)"},
		{OpIntersection, "POLYGON((0 0,10 0,10 10,0 10,0 0))", "POLYGON((10 10,20 10,20 20,10 20,10 10))", "POINT(10 10)"},
		{OpIntersection, "POINT(1 1)", "POLYGON((0 0,10 0,10 10,0 10,0 0))", "POINT(1 1)"},
	} {
		g, err := Overlay(nil, nil, c.op, mustWKT(t, c.a), mustWKT(t, c.b))
		if err != nil {
			t.Errorf("%v %s %s: %v", c.op, c.a, c.b, err)
			continue
		}
		want := mustWKT(t, c.want)
		if wkt(g) != c.want {
			if same, _ := Relate(nil, nil, RelEquals, g, want); g.IsEmpty() || !same || g.Type != want.Type {
				t.Errorf("%v %s %s: got %s, want %s", c.op, c.a, c.b, wkt(g), c.want)
			}
		}
	}
}

func TestBufferArea(t *testing.T) {
	for _, c := range []struct {
		g    string
		d    float64
		want float64
		tol  float64
	}{
		{"POINT(1 2)", 2, math.Pi * 4, 0.1},
		{"LINESTRING(0 0,10 0)", 1, 20 + math.Pi, 0.05},
		{"LINESTRING(0 0,10 0,10 10)", 1, 38 + 1 + math.Pi*5/4, 0.1},
		{"POLYGON((0 0,10 0,10 10,0 10,0 0))", 1, 140 + math.Pi, 0.05},
		{"POLYGON((0 0,10 0,10 10,0 10,0 0))", -1, 64, 1e-9},
		{"POLYGON((0 0,10 0,10 10,0 10,0 0),(4 4,6 4,6 6,4 6,4 4))", 1, 140 + math.Pi, 0.05},
		{"LINESTRING(0 0,1 1,2 0,3 1,4 0,5 1,6 0)", 0.1, 6*math.Sqrt2*0.2 + 0.0003, 0.1},
		{"MULTIPOINT(0 0,0.5 0.5,10 10)", 1, 0, 100},
		{"LINESTRING(0 0,3 4,3 4,0 0,7 1.5,2 8,2.2 3.3,9 9)", 0.7, 0, 1000},
	} {
		g, err := Buffer(nil, mustWKT(t, c.g), c.d, DefaultBufferStyle, DefaultMaxPoints)
		if err != nil {
			t.Errorf("%s %v: %v", c.g, c.d, err)
			continue
		}
		if a, _ := Area(nil, nil, g); math.Abs(a-c.want) > c.tol {
			t.Errorf("%s %v: area %v, want %v: %s", c.g, c.d, a, c.want, wkt(g))
		}
	}
}

func TestTransform(t *testing.T) {
	for _, c := range []struct {
		from, to uint32
		p, want  Point
		tol      float64
	}{
		{4326, 3857, Point{10, 50}, Point{1113194.9079327357, 6446275.841017158}, 1e-6},
		{3857, 4326, Point{1113194.9079327357, 6446275.841017158}, Point{10, 50}, 1e-12},
		{4326, 32632, Point{9, 0}, Point{500000, 0}, 1e-6},
		{4326, 32632, Point{11.5, 48.1}, Point{686133.0, 5330186.9}, 60000},
		{2154, 4171, Point{700000, 6600000}, Point{3, 46.5}, 1e-10},
		{27700, 4277, Point{651409.903, 313177.270}, Point{1.717921583333333, 52.65757030555556}, 1e-7},
		{4277, 27700, Point{1.717921583333333, 52.65757030555556}, Point{651409.903, 313177.270}, 0.5},
	} {
		from, _ := Lookup(c.from)
		to, _ := Lookup(c.to)
		g, ok, _ := Transform(nil, NewPoint(c.p), from, to)
		if got := g.Points[0]; !ok || math.Abs(got.X-c.want.X) > c.tol || math.Abs(got.Y-c.want.Y) > c.tol {
			t.Errorf("%d to %d: %v gives %v, want %v", c.from, c.to, c.p, got, c.want)
		}
		back, _, _ := Transform(nil, g, to, from)
		if q := back.Points[0]; math.Abs(q.X-c.p.X) > 1e-8*math.Max(1, math.Abs(c.p.X)) || math.Abs(q.Y-c.p.Y) > 1e-8*math.Max(1, math.Abs(c.p.Y)) {
			t.Errorf("%d to %d and back: %v, was %v", c.from, c.to, q, c.p)
		}
	}
}

func TestGeographicRelations(t *testing.T) {
	s, _ := Lookup(4326)
	// A box of 20 degrees: its northern edge is a geodesic north of the parallel.
	box := mustWKT(t, "POLYGON((0 40,20 40,20 50,0 50,0 40))")
	for _, c := range []struct {
		p  Point
		in bool
	}{{Point{10, 45}, true}, {Point{10, 50.3}, true}, {Point{10, 50.6}, false}, {Point{10, 40.1}, false}, {Point{10, 40.6}, true}} {
		if got, err := Relate(nil, s, RelWithin, NewPoint(c.p), box); err != nil || got != c.in {
			t.Errorf("%v in box: %v %v", c.p, got, err)
		}
	}
	// Across the antimeridian.
	pacific := mustWKT(t, "POLYGON((170 -10,-170 -10,-170 10,170 10,170 -10))")
	if got, _ := Relate(nil, s, RelWithin, NewPoint(Point{-179, 0}), pacific); !got {
		t.Error("antimeridian: not inside")
	}
	got, err := Overlay(nil, s, OpIntersection, box, mustWKT(t, "POLYGON((10 45,30 45,30 60,10 60,10 45))"))
	if err != nil || got.Type != TypePolygon || len(got.Rings[0]) != 5 {
		t.Errorf("overlay: %s %v", wkt(got), err)
	}
	if d, err := Distance(nil, s, NewPoint(Point{10, 55}), box); err != nil || math.Abs(d-vincenty(wgs84Ellipsoid, Point{10, 55}, Point{10, 50.43})) > 3000 {
		t.Errorf("distance %v %v", d, err)
	}
}

func TestGeographicBounds(t *testing.T) {
	s, _ := Lookup(4326)
	b, _ := BoundsOf(s, mustWKT(t, "POLYGON((0 40,20 40,20 50,0 50,0 40))"))
	if b.Min != (Point{0, 40}) || b.Max.X != 20 || math.Abs(b.Max.Y-50.4358) > 0.01 {
		t.Errorf("box %v", b)
	}
	b, _ = BoundsOf(s, mustWKT(t, "LINESTRING(170 0,-170 10)"))
	if b.Min.X != 170 || b.Max.X != 190 {
		t.Errorf("antimeridian %v", b)
	}
	p, _ := BoundsOf(s, mustWKT(t, "POINT(-175 5)"))
	if !RelateBoxes(BoxContains, true, b, p) || RelateBoxes(BoxDisjoint, true, b, p) {
		t.Error("point behind the antimeridian")
	}
	b, _ = BoundsOf(s, mustWKT(t, "POLYGON((0 70,120 70,-120 70,0 70))"))
	if b.Max.Y != 90 || b.Max.X-b.Min.X != 360 {
		t.Errorf("pole %v", b)
	}
}
