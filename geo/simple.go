package geo

import (
	"github.com/peterstace/simplefeatures/geom"
)

// toSimple and fromSimple convert to the geometries of simplefeatures, which
// relates and overlays them, and back.
func toSimple(g Geometry) geom.Geometry {
	switch g.Type {
	case TypePoint:
		return geom.XY{X: g.Points[0].X, Y: g.Points[0].Y}.AsPoint().AsGeometry()
	case TypeLineString:
		return simpleLine(g.Points).AsGeometry()
	case TypePolygon:
		return simplePolygon(g.Rings).AsGeometry()
	case TypeMultiPoint:
		var list []geom.Point
		for _, p := range g.Parts {
			list = append(list, geom.XY{X: p.Points[0].X, Y: p.Points[0].Y}.AsPoint())
		}
		return geom.NewMultiPoint(list).AsGeometry()
	case TypeMultiLineString:
		var list []geom.LineString
		for _, p := range g.Parts {
			list = append(list, simpleLine(p.Points))
		}
		return geom.NewMultiLineString(list).AsGeometry()
	case TypeMultiPolygon:
		var list []geom.Polygon
		for _, p := range g.Parts {
			list = append(list, simplePolygon(p.Rings))
		}
		return geom.NewMultiPolygon(list).AsGeometry()
	}
	var list []geom.Geometry
	for _, p := range g.Parts {
		list = append(list, toSimple(p))
	}
	return geom.NewGeometryCollection(list).AsGeometry()
}

func simpleLine(pts []Point) geom.LineString {
	xy := make([]float64, 0, 2*len(pts))
	for i, p := range pts {
		if i > 0 && p == pts[i-1] && (len(xy) > 2 || i < len(pts)-1) {
			continue // points in a row add nothing
		}
		xy = append(xy, p.X, p.Y)
	}
	return geom.NewLineString(geom.NewSequence(xy, geom.DimXY))
}

func simplePolygon(rings [][]Point) geom.Polygon {
	var list []geom.LineString
	for _, r := range rings {
		list = append(list, simpleLine(r))
	}
	return geom.NewPolygon(list)
}

func fromSimple(g geom.Geometry) Geometry {
	line := func(l geom.LineString) []Point {
		s := l.Coordinates()
		out := make([]Point, s.Length())
		for i := range out {
			xy := s.GetXY(i)
			out[i] = Point{xy.X, xy.Y}
		}
		return out
	}
	var parts []Geometry
	for _, d := range g.Dump() {
		switch d.Type() {
		case geom.TypePoint:
			if xy, ok := d.MustAsPoint().XY(); ok {
				parts = append(parts, NewPoint(Point{xy.X, xy.Y}))
			}
		case geom.TypeLineString:
			if l := line(d.MustAsLineString()); len(l) > 1 {
				parts = append(parts, NewLine(l))
			}
		case geom.TypePolygon:
			var rings [][]Point
			for _, r := range d.MustAsPolygon().DumpRings() {
				rings = append(rings, line(r))
			}
			if len(rings) > 0 {
				parts = append(parts, NewPolygon(rings...))
			}
		}
	}
	return Geometry{Type: TypeCollection, Parts: parts}
}

// guarded runs an algorithm of simplefeatures, which may panic on numbers
// that overflow.
func guarded(f func() error) (err error) {
	defer func() {
		if recover() != nil {
			err = ErrOverlay
		}
	}()
	if f() != nil {
		return ErrOverlay
	}
	return nil
}
