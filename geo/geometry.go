package geo

import (
	"math"
	"strings"
)

// Type is the type of a geometry: the number that it has in WKB.
type Type uint8

// The types. TypeGeometry is that of columns that take all of them.
const (
	TypeGeometry Type = iota
	TypePoint
	TypeLineString
	TypePolygon
	TypeMultiPoint
	TypeMultiLineString
	TypeMultiPolygon
	TypeCollection
)

var typeNames = [...]string{"geometry", "point", "linestring", "polygon", "multipoint", "multilinestring", "multipolygon", "geomcollection"}

// String is the name of the type as MySQL shows it in DESCRIBE.
func (t Type) String() string { return typeNames[t] }

// Name is the name in upper case, as ST_GeometryType and messages have it.
func (t Type) Name() string { return strings.ToUpper(typeNames[t]) }

// part is the type of the elements of a multi-geometry.
func (t Type) part() Type {
	if t >= TypeMultiPoint && t <= TypeMultiPolygon {
		return t - 3
	}
	return TypeGeometry
}

// TypeByName is the type that a word of SQL or WKT names, in any case.
func TypeByName(name string) (Type, bool) {
	switch strings.ToLower(name) {
	case "geometrycollection":
		return TypeCollection, true
	case "":
		return 0, false
	}
	for i, n := range typeNames {
		if strings.EqualFold(n, name) {
			return Type(i), true
		}
	}
	return 0, false
}

// Point is a place. Geographic: X is the longitude, Y the latitude, degrees.
type Point struct{ X, Y float64 }

// Geometry is a geometry without a reference system. Points is what a point
// (one) or line has, Rings what a polygon has, the outer one first and each
// closed, Parts what the others have. It is not changed once it is made.
type Geometry struct {
	Type   Type
	Points []Point
	Rings  [][]Point
	Parts  []Geometry
}

// Value is a geometry in a reference system.
type Value struct {
	SRID uint32
	Geometry
}

// Limits of geometries.
const (
	// MaxDepth is the most collections in each other.
	MaxDepth = 100
	// DefaultMaxPoints is max_points_in_geometry, the limit of results of
	// ST_Buffer.
	DefaultMaxPoints = 65536
)

// NewPoint makes a point.
func NewPoint(p Point) Geometry { return Geometry{Type: TypePoint, Points: []Point{p}} }

// NewLine makes a line.
func NewLine(p []Point) Geometry { return Geometry{Type: TypeLineString, Points: p} }

// NewMultiLine makes a multi-line.
func NewMultiLine(lines [][]Point) Geometry {
	g := Geometry{Type: TypeMultiLineString}
	for _, l := range lines {
		g.Parts = append(g.Parts, NewLine(l))
	}
	return g
}

// NewPolygon makes a polygon of closed rings.
func NewPolygon(rings ...[]Point) Geometry { return Geometry{Type: TypePolygon, Rings: rings} }

// IsEmpty reports a collection without points.
func (g Geometry) IsEmpty() bool {
	switch g.Type {
	case TypePoint, TypeLineString:
		return len(g.Points) == 0
	case TypePolygon:
		return len(g.Rings) == 0
	}
	for _, p := range g.Parts {
		if !p.IsEmpty() {
			return false
		}
	}
	return true
}

// Dimension is 0 for points, 1 for lines, 2 for polygons, the greatest one in
// a collection, -1 for empty ones.
func (g Geometry) Dimension() int {
	switch g.Type {
	case TypePoint, TypeMultiPoint:
		return 0
	case TypeLineString, TypeMultiLineString:
		return 1
	case TypePolygon, TypeMultiPolygon:
		return 2
	}
	dim := -1
	for _, p := range g.Parts {
		dim = max(dim, p.Dimension())
	}
	return dim
}

// eachPoint calls f for every point until it returns false.
func (g Geometry) eachPoint(f func(Point) bool) bool {
	for _, p := range g.Points {
		if !f(p) {
			return false
		}
	}
	for _, r := range g.Rings {
		for _, p := range r {
			if !f(p) {
				return false
			}
		}
	}
	for _, p := range g.Parts {
		if !p.eachPoint(f) {
			return false
		}
	}
	return true
}

// NumPoints counts all points.
func (g Geometry) NumPoints() int {
	n := 0
	g.eachPoint(func(Point) bool { n++; return true })
	return n
}

// Map is a copy with every point replaced.
func (g Geometry) Map(f func(Point) Point) Geometry {
	mapAll := func(pts []Point) []Point {
		if pts == nil {
			return nil
		}
		out := make([]Point, len(pts))
		for i, p := range pts {
			out[i] = f(p)
		}
		return out
	}
	out := Geometry{Type: g.Type, Points: mapAll(g.Points)}
	for _, r := range g.Rings {
		out.Rings = append(out.Rings, mapAll(r))
	}
	for _, p := range g.Parts {
		out.Parts = append(out.Parts, p.Map(f))
	}
	return out
}

// SwapXY exchanges the coordinates of all points. It is called within Until.
func (g Geometry) SwapXY(w *Work) Geometry {
	return g.Map(func(p Point) Point { w.each(1); return Point{p.Y, p.X} })
}

// flatten lists the points, lines and polygons in g.
func (g Geometry) flatten(dst []Geometry) []Geometry {
	if g.Type <= TypePolygon {
		return append(dst, g)
	}
	for _, p := range g.Parts {
		dst = p.flatten(dst)
	}
	return dst
}

// Simples are the points, lines and polygons that g consists of.
func (g Geometry) Simples() []Geometry { return g.flatten(nil) }

// Box is a rectangle parallel to the axes; the zero Box is none.
type Box struct {
	Min, Max Point
	set      bool
}

// Bounds is the smallest box around g; ok is false for empty geometries.
func (g Geometry) Bounds() (b Box, ok bool) {
	g.eachPoint(func(p Point) bool { b.add(p); return true })
	return b, b.set
}

func (b *Box) add(p Point) {
	if !b.set {
		b.Min, b.Max, b.set = p, p, true
		return
	}
	b.Min = Point{math.Min(b.Min.X, p.X), math.Min(b.Min.Y, p.Y)}
	b.Max = Point{math.Max(b.Max.X, p.X), math.Max(b.Max.Y, p.Y)}
}

// disjoint reports boxes without a common point.
func (b Box) disjoint(o Box) bool {
	return b.Max.X < o.Min.X || o.Max.X < b.Min.X || b.Max.Y < o.Min.Y || o.Max.Y < b.Min.Y
}

// Geometry is the box as a point, a line from the lower left to the upper
// right end, or a polygon.
func (b Box) Geometry() Geometry {
	switch {
	case b.Min == b.Max:
		return NewPoint(b.Min)
	case b.Min.X == b.Max.X || b.Min.Y == b.Max.Y:
		return NewLine([]Point{b.Min, b.Max})
	}
	return NewPolygon([]Point{b.Min, {b.Max.X, b.Min.Y}, b.Max, {b.Min.X, b.Max.Y}, b.Min})
}

// isClosed reports that a line ends where it begins.
func isClosed(p []Point) bool { return len(p) > 0 && p[0] == p[len(p)-1] }

// IsClosed reports lines that end where they begin, all of them in a
// multi-line.
func (g Geometry) IsClosed() bool {
	if g.Type == TypeLineString {
		return isClosed(g.Points)
	}
	for _, p := range g.Parts {
		if !isClosed(p.Points) {
			return false
		}
	}
	return true
}

// finite reports that all coordinates are numbers.
func finite(p Point) bool {
	return !math.IsNaN(p.X) && !math.IsInf(p.X, 0) && !math.IsNaN(p.Y) && !math.IsInf(p.Y, 0)
}

// collect is the smallest type of geometry that holds parts: none is an empty
// collection, one is itself, several of a kind are a multi-geometry.
func collect(parts []Geometry) Geometry {
	switch len(parts) {
	case 0:
		return Geometry{Type: TypeCollection}
	case 1:
		return parts[0]
	}
	t := parts[0].Type + 3
	for _, p := range parts {
		if p.Type > TypePolygon || p.Type+3 != t {
			t = TypeCollection
		}
	}
	return Geometry{Type: t, Parts: parts}
}

// Collect is ST_Collect: a multi-geometry of parts of one simple type, else a
// collection.
func Collect(parts []Geometry) Geometry {
	if len(parts) == 1 && parts[0].Type <= TypePolygon {
		return Geometry{Type: parts[0].Type + 3, Parts: parts}
	}
	if len(parts) == 1 {
		return Geometry{Type: TypeCollection, Parts: parts}
	}
	return collect(parts)
}
