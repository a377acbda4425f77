package geo

import (
	"bytes"
	"math"
	"testing"
)

// exercise runs the algorithms over a geometry that was read: none may panic.
func exercise(t *testing.T, g Geometry) {
	t.Helper()
	if n := g.NumPoints(); n > 60 {
		return
	}
	v := Value{SRID: 4326, Geometry: g}
	back, err := Decode(v.Encode())
	if err != nil {
		t.Fatalf("%s does not read back: %v", wkt(g), err)
	}
	if !bytes.Equal(back.Encode(), v.Encode()) {
		t.Fatalf("%s changes", wkt(g))
	}
	if again, err := ParseWKT([]byte(wkt(g)), Options{}); err != nil || wkt(again) != wkt(g) {
		t.Fatalf("text of %s: %v", wkt(g), err)
	}
	IsSimple(nil, g)
	Centroid(g)
	_, _ = Area(nil, nil, g)
	Simplify(nil, g, 1)
	_, _ = ConvexHull(nil, g)
	BoundsOf(nil, g)
	isValid(nil, g)
	geographic := true
	g.eachPoint(func(p Point) bool {
		geographic = geographic && math.Abs(p.X) < 180 && math.Abs(p.Y) <= 90
		return true
	})
	systems := []*SRS{nil}
	if s, _ := Lookup(4326); geographic {
		systems = append(systems, s)
	}
	square := NewPolygon([]Point{{0, 0}, {10, 0}, {10, 10}, {0, 10}, {0, 0}})
	for _, s := range systems {
		if g.IsEmpty() {
			continue
		}
		_, _ = IsValid(nil, s, g)
		for r := RelContains; r <= RelEquals; r++ {
			_, _ = Relate(nil, s, r, g, square)
		}
		for op := OpUnion; op <= OpSymDifference; op++ {
			_, _ = Overlay(nil, s, op, g, square)
		}
		_, _ = Distance(nil, s, g, square)
		BoundsOf(s, g)
		_, _ = Length(nil, s, g)
	}
	if g.NumPoints() < 20 {
		_, _ = Buffer(nil, g, 1, DefaultBufferStyle, DefaultMaxPoints)
		_, _ = Buffer(nil, g, -1, BufferStyle{MiterLimit: 3, JoinCircle: 8}, DefaultMaxPoints)
	}
}

func FuzzWKT(f *testing.F) {
	for _, s := range []string{"POINT(1 2)", "LINESTRING(0 0,1 1,2 0)", "POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,1 2,2 2,1 1))", "MULTIPOINT(1 1,(2 2))", "MULTIPOINT((1 1),(2 2))",
		"MULTILINESTRING((0 0,1 1),(5 5,6 7))", "MULTIPOLYGON(((0 0,1 0,1 1,0 0)))", "GEOMETRYCOLLECTION(POINT(1 1),GEOMETRYCOLLECTION EMPTY)", "POINT(1e308 -1e308)"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if g, err := ParseWKT(text, Options{}); err == nil {
			exercise(t, g)
		}
	})
}

func FuzzWKB(f *testing.F) {
	for _, s := range []string{"POINT(1 2)", "POLYGON((0 0,4 0,4 4,0 4,0 0),(1 1,1 2,2 2,1 1))", "GEOMETRYCOLLECTION(POINT(1 1),LINESTRING(0 0,12 12))"} {
		g, err := ParseWKT([]byte(s), Options{})
		if err != nil {
			f.Fatal(err)
		}
		f.Add(AppendWKB(nil, g, Options{}))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		if g, err := ParseWKB(b, Options{}); err == nil {
			exercise(t, g)
		}
		_, _ = Decode(b)
	})
}

func FuzzGeoJSON(f *testing.F) {
	for _, s := range []string{`{"type":"Point","coordinates":[1,2]}`, `{"type":"FeatureCollection","features":[{"type":"Feature","geometry":{"type":"Polygon","coordinates":[[[0,0],[1,0],[1,1],[0,0]]]}}]}`,
		`{"type":"GeometryCollection","geometries":[],"crs":{"type":"name","properties":{"name":"EPSG:4326"}}}`} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := ParseGeoJSON(nil, text, true)
		if err != nil || doc.Null {
			return
		}
		exercise(t, doc.Geometry)
		out := AppendGeoJSON(nil, Value{Geometry: doc.Geometry}, GeoJSONOptions{Digits: math.MaxInt32})
		if _, err := ParseGeoJSON(nil, out, false); err != nil {
			t.Fatalf("%s does not read back: %v", out, err)
		}
	})
}
