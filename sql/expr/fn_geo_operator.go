package expr

import (
	"encoding/binary"
	"math"
	"strings"

	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/value"
)

// geoOperatorDefs make geometries of geometries.
func geoOperatorDefs() []entry {
	return []entry{
		fn("st_union", "gg", retGeometry, rowOverlay(geo.OpUnion), 0),
		fn("st_intersection", "gg", retGeometry, rowOverlay(geo.OpIntersection), 0),
		fn("st_difference", "gg", retGeometry, rowOverlay(geo.OpDifference), 0),
		fn("st_symdifference", "gg", retGeometry, rowOverlay(geo.OpSymDifference), 0),
		fn("st_convexhull", "g", retGeometry, rowConvexHull, nullable),
		fn("st_simplify", "gf", retGeometry, rowSimplify, nullable),
		fn("st_buffer", "gf?sss", retGeometry, rowBuffer, 0),
		fn("st_buffer_strategy", "s?f", retBinary(16), rowBufferStrategy, 0),
		fn("st_transform", "gi", retGeometry, rowTransform, 0),
		fn("st_lineinterpolatepoint", "gf", retGeometryOf(geo.TypePoint), rowInterpolate(false), 0),
		fn("st_lineinterpolatepoints", "gf", retGeometry, rowInterpolate(true), 0),
		fn("st_pointatdistance", "gf", retGeometryOf(geo.TypePoint), rowPointAtDistance, 0),
	}
}

func rowOverlay(op geo.SetOp) rowFunc {
	return func(c *Ctx, f *Func, d []value.Datum) (value.Datum, error) {
		a, b, s, err := geoPair(c, f, d[0], d[1])
		if err != nil {
			return value.Null, err
		}
		g, err := geo.Overlay(c.geoWork(), s, op, a.Geometry, b.Geometry)
		if err != nil {
			return value.Null, geoError(f, err, pairNames(a.Geometry, b.Geometry))
		}
		return geoDatum(a.SRID, g), nil
	}
}

func rowConvexHull(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, s, err := geoArg(c, f, a[0])
	if err != nil {
		return value.Null, err
	}
	if s.IsGeographic() {
		return value.Null, sqlerr.NotImplementedForGeographicSRS(f.Name, v.Type.Name())
	}
	if v.IsEmpty() {
		return value.Null, nil
	}
	hull, err := geo.ConvexHull(c.geoWork(), v.Geometry)
	if err != nil {
		return value.Null, err
	}
	return geoDatum(v.SRID, hull), nil
}

func rowSimplify(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, s, err := geoArg(c, f, a[0])
	if err != nil {
		return value.Null, err
	}
	limit := a[1].Float()
	if !(limit > 0) || math.IsInf(limit, 0) {
		return value.Null, sqlerr.WrongArguments(f.Name)
	}
	if s.IsGeographic() {
		return value.Null, sqlerr.NotImplementedForGeographicSRS(f.Name, v.Type.Name()+", ...")
	}
	g, ok, err := geo.Simplify(c.geoWork(), v.Geometry, limit)
	if !ok || err != nil {
		return value.Null, err
	}
	return geoDatum(v.SRID, g), nil
}

// The strategies of ST_Buffer, by their numbers in MySQL's own form: four bytes
// of the number, eight of the value.
var bufferStrategies = []string{1: "end_round", 2: "end_flat", 3: "join_round", 4: "join_miter", 5: "point_circle", 6: "point_square"}

func rowBufferStrategy(_ *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	for i, name := range bufferStrategies {
		if i == 0 || !strings.EqualFold(name, a[0].Str()) {
			continue
		}
		takesValue := name != "end_flat" && name != "point_square"
		if takesValue != (len(a) == 2) {
			return value.Null, sqlerr.WrongArguments(f.Name)
		}
		x := 0.0
		if takesValue {
			if x = a[1].Float(); !(x > 0) || math.IsInf(x, 0) {
				return value.Null, sqlerr.WrongArguments(f.Name)
			}
			if name != "join_miter" && x > geo.DefaultMaxPoints {
				return value.Null, sqlerr.TooManyPoints("points_per_circle", geo.DefaultMaxPoints, f.Name)
			}
		}
		b := binary.LittleEndian.AppendUint32(nil, uint32(i))
		return value.Bytes(binary.LittleEndian.AppendUint64(b, math.Float64bits(x))), nil
	}
	return value.Null, sqlerr.WrongArguments(f.Name)
}

// bufferStyle reads strategies. Each kind may occur once and must be one that the
// geometry has a use for: 1210.
func bufferStyle(f *Func, g geo.Geometry, list []value.Datum) (geo.BufferStyle, error) {
	style := geo.DefaultBufferStyle
	var points, lines, areas bool
	for _, s := range g.Simples() {
		points = points || s.Type == geo.TypePoint
		lines = lines || s.Type == geo.TypeLineString
		areas = areas || s.Type == geo.TypePolygon
	}
	seen := map[string]bool{}
	for _, d := range list {
		b := d.Bytes()
		if len(b) != 12 {
			return style, sqlerr.WrongArguments(f.Name)
		}
		n, x := binary.LittleEndian.Uint32(b), math.Float64frombits(binary.LittleEndian.Uint64(b[4:]))
		if n == 0 || int(n) >= len(bufferStrategies) || math.IsNaN(x) || x < 0 || x > 1e9 {
			return style, sqlerr.WrongArguments(f.Name)
		}
		kind, _, _ := strings.Cut(bufferStrategies[n], "_")
		useful := map[string]bool{"point": points, "end": lines, "join": lines || areas}[kind]
		if seen[kind] || !useful {
			return style, sqlerr.WrongArguments(f.Name)
		}
		seen[kind] = true
		circle := max(int(x), 4)
		switch bufferStrategies[n] {
		case "end_round":
			style.EndCircle = circle
		case "end_flat":
			style.FlatEnds = true
		case "join_round":
			style.JoinCircle = circle
		case "join_miter":
			style.MiterLimit = max(x, 1)
		case "point_circle":
			style.PointCircle = max(int(x), 3)
		case "point_square":
			style.SquarePoints = true
		}
	}
	return style, nil
}

func rowBuffer(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, s, err := geoArg(c, f, a[0])
	if err != nil {
		return value.Null, err
	}
	d := a[1].Float()
	if math.IsNaN(d) || math.IsInf(d, 0) {
		return value.Null, sqlerr.WrongArguments(f.Name)
	}
	if v.IsEmpty() {
		return a[0], nil
	}
	style, err := bufferStyle(f, v.Geometry, a[2:])
	if err != nil {
		return value.Null, err
	}
	if d < 0 {
		for _, p := range v.Simples() {
			if p.Type != geo.TypePolygon {
				return value.Null, sqlerr.WrongArguments(f.Name)
			}
		}
	}
	if s.IsGeographic() {
		if v.Type != geo.TypePoint {
			return value.Null, sqlerr.NotImplementedForGeographicSRS(f.Name, v.Type.Name())
		}
		if style.SquarePoints {
			return value.Null, sqlerr.WrongArguments(f.Name)
		}
		if d == 0 {
			return a[0], nil
		}
		// A quarter of the way around is the end of what a ring can hold.
		if d > s.Ellipsoid.A*math.Pi/2 {
			return value.Null, sqlerr.PolygonTooLarge(f.Name)
		}
		return geoDatum(v.SRID, s.BufferPoint(v.Points[0], d, style.PointCircle)), nil
	}
	if d == 0 {
		return a[0], nil
	}
	g, err := geo.Buffer(c.geoWork(), v.Geometry, d, style, 4*geo.DefaultMaxPoints)
	if err != nil {
		return value.Null, geoError(f, err, v.Type.Name())
	}
	return geoDatum(v.SRID, g), nil
}

func rowTransform(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, from, err := geoArg(c, f, a[0])
	if err != nil {
		return value.Null, err
	}
	srid, to, err := sridArg(f, a[1])
	switch {
	case err != nil:
		return value.Null, err
	case srid == v.SRID:
		return a[0], nil
	case from == nil:
		return value.Null, sqlerr.TransformSourceNotSupported(0)
	case to == nil:
		return value.Null, sqlerr.TransformTargetNotSupported(0)
	}
	g, ok, err := geo.Transform(c.geoWork(), v.Geometry, from, to)
	if err != nil {
		return value.Null, err
	}
	if !ok {
		return value.Null, sqlerr.ValueOutOfRange("Coordinate", f.Name)
	}
	if to.Geographic {
		if err := onGlobe(f, to, g); err != nil {
			return value.Null, err
		}
	}
	return geoDatum(srid, g), nil
}

// lineArg is an argument that must be a line, and its length.
func lineArg(c *Ctx, f *Func, d value.Datum) (geo.Value, *geo.SRS, float64, error) {
	v, s, err := geoArg(c, f, d)
	if err != nil {
		return v, s, 0, err
	}
	if v.Type != geo.TypeLineString {
		return v, s, 0, sqlerr.UnexpectedGeometryType("LINESTRING", v.Type.Name(), f.Name)
	}
	l, err := geo.Length(c.geoWork(), s, v.Geometry)
	if err != nil {
		return v, s, 0, err
	}
	if math.IsInf(l, 0) || math.IsNaN(l) {
		return v, s, 0, sqlerr.ValueOutOfRange("Length", "st_length")
	}
	return v, s, l, nil
}

func rowInterpolate(several bool) rowFunc {
	return func(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
		v, s, length, err := lineArg(c, f, a[0])
		if err != nil {
			return value.Null, err
		}
		part := a[1].Float()
		if !(part >= 0 && part <= 1) || several && part == 0 {
			return value.Null, sqlerr.ValueOutOfRange("Fractional distance", f.Name)
		}
		if !several {
			return geoDatum(v.SRID, geo.NewPoint(geo.LinePoint(s, v.Points, length*part))), nil
		}
		if 1/part > geo.DefaultMaxPoints {
			return value.Null, sqlerr.TooManyPoints("fractional_distance", geo.DefaultMaxPoints, f.Name)
		}
		n := int64(1 / part)
		out := geo.Geometry{Type: geo.TypeMultiPoint}
		for i := int64(1); i <= n; i++ {
			out.Parts = append(out.Parts, geo.NewPoint(geo.LinePoint(s, v.Points, length*part*float64(i))))
		}
		if len(out.Parts) == 1 {
			out = out.Parts[0]
		}
		return geoDatum(v.SRID, out), nil
	}
}

func rowPointAtDistance(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, s, length, err := lineArg(c, f, a[0])
	if err != nil {
		return value.Null, err
	}
	d := a[1].Float()
	if !(d >= 0 && d <= length) {
		return value.Null, sqlerr.ValueOutOfRange("Distance", f.Name)
	}
	return geoDatum(v.SRID, geo.NewPoint(geo.LinePoint(s, v.Points, d))), nil
}
