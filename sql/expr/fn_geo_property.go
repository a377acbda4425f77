package expr

import (
	"github.com/sqlots/sqlots/geo"
	"github.com/sqlots/sqlots/schema"
	"github.com/sqlots/sqlots/sql/sqlerr"
	"github.com/sqlots/sqlots/sql/types"
	"github.com/sqlots/sqlots/value"
)

// geoPropertyDefs are the properties of geometries.
func geoPropertyDefs() []entry {
	get := func(names string, ret typeFunc, of geo.Type, row func(v geo.Value, s *geo.SRS) value.Datum) entry {
		return fn(names, "g", ret, func(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
			v, s, err := geoArg(c, f, a[0])
			if err != nil || of != geo.TypeGeometry && v.Type != of {
				return value.Null, err
			}
			return row(v, s), nil
		}, nullable)
	}
	nth := func(names string, ret typeFunc, row func(v geo.Value, n int) (geo.Geometry, bool)) entry {
		return fn(names, "gi", ret, func(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
			v, _, err := geoArg(c, f, a[0])
			n := asInt(a[1])
			if err != nil || n < 1 || n > 1<<31 {
				return value.Null, err
			}
			g, ok := row(v, int(n)-1)
			if !ok {
				return value.Null, nil
			}
			return geoDatum(v.SRID, g), nil
		}, nullable)
	}
	count := func(n int) value.Datum { return value.Int(int64(n)) }
	return []entry{
		coordinateDef("st_x", false, false), coordinateDef("st_y", true, false),
		coordinateDef("st_latitude", false, true), coordinateDef("st_longitude", true, true),
		special("st_srid", bindSRID, def{b: Builtin{Row: rowSRID, impl: impl{strict: true}}}),
		get("st_geometrytype", retGeoName, geo.TypeGeometry, func(v geo.Value, _ *geo.SRS) value.Datum { return value.String(v.Type.Name()) }),
		get("st_dimension", retInt(10), geo.TypeGeometry, func(v geo.Value, _ *geo.SRS) value.Datum {
			if d := v.Dimension(); d >= 0 {
				return count(d)
			}
			return value.Null
		}),
		get("st_isempty", retBool, geo.TypeGeometry, func(v geo.Value, _ *geo.SRS) value.Datum { return value.Bool(v.IsEmpty()) }),
		fn("st_issimple", "g", retBool, rowIsSimple, nullable),
		fn("st_isclosed", "g", retBool, rowIsClosed, nullable),
		fn("st_isvalid", "g", retBool, rowIsValid, nullable),
		fn("st_validate", "g", retGeometry, rowValidate, nullable),
		fn("st_envelope", "g", retGeometry, rowEnvelope, nullable),
		get("st_startpoint", retGeometryOf(geo.TypePoint), geo.TypeLineString, func(v geo.Value, _ *geo.SRS) value.Datum {
			return geoDatum(v.SRID, geo.NewPoint(v.Points[0]))
		}),
		get("st_endpoint", retGeometryOf(geo.TypePoint), geo.TypeLineString, func(v geo.Value, _ *geo.SRS) value.Datum {
			return geoDatum(v.SRID, geo.NewPoint(v.Points[len(v.Points)-1]))
		}),
		get("st_numpoints", retInt(10), geo.TypeLineString, func(v geo.Value, _ *geo.SRS) value.Datum { return count(len(v.Points)) }),
		nth("st_pointn", retGeometryOf(geo.TypePoint), func(v geo.Value, n int) (geo.Geometry, bool) {
			if v.Type != geo.TypeLineString || n >= len(v.Points) {
				return geo.Geometry{}, false
			}
			return geo.NewPoint(v.Points[n]), true
		}),
		get("st_exteriorring", retGeometryOf(geo.TypeLineString), geo.TypePolygon, func(v geo.Value, _ *geo.SRS) value.Datum {
			return geoDatum(v.SRID, geo.NewLine(v.Rings[0]))
		}),
		get("st_numinteriorring st_numinteriorrings", retInt(10), geo.TypePolygon, func(v geo.Value, _ *geo.SRS) value.Datum { return count(len(v.Rings) - 1) }),
		nth("st_interiorringn", retGeometryOf(geo.TypeLineString), func(v geo.Value, n int) (geo.Geometry, bool) {
			if v.Type != geo.TypePolygon || n+1 >= len(v.Rings) {
				return geo.Geometry{}, false
			}
			return geo.NewLine(v.Rings[n+1]), true
		}),
		get("st_numgeometries", retInt(10), geo.TypeGeometry, func(v geo.Value, _ *geo.SRS) value.Datum {
			if v.Type < geo.TypeMultiPoint {
				return value.Null
			}
			return count(len(v.Parts))
		}),
		nth("st_geometryn", retGeometry, func(v geo.Value, n int) (geo.Geometry, bool) {
			if n >= len(v.Parts) {
				return geo.Geometry{}, false
			}
			return v.Parts[n], true
		}),
		fn("st_swapxy", "g", retGeometry, func(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
			v, err := c.decodeGeometry(f, a[0].Bytes())
			if err != nil {
				return value.Null, err
			}
			w := c.geoWork()
			err = w.Until(func() { v.Geometry = v.SwapXY(w) })
			return geoDatum(v.SRID, v.Geometry), err
		}, 0),
		fn("st_length", "g?s", retDouble, rowLengthOf, nullable),
		fn("st_area", "g", retDouble, rowArea, nullable),
		fn("st_centroid", "g", retGeometryOf(geo.TypePoint), rowCentroid, nullable),
	}
}

// retGeoName is the text of ST_GeometryType.
func retGeoName(b *binding) (schema.Type, error) { return textType(20, b.env.collation()), nil }

// coordinateDef is ST_X, ST_Y and, for geographic systems only, ST_Latitude and
// ST_Longitude, which read a coordinate of a point or set it. second is the
// second axis: of geographic systems the longitude.
func coordinateDef(name string, second, geographic bool) entry {
	row := func(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
		v, s, err := geoArg(c, f, a[0])
		if err != nil {
			return value.Null, err
		}
		if v.Type != geo.TypePoint {
			return value.Null, sqlerr.UnexpectedGeometryType("POINT", v.Type.Name(), f.Name)
		}
		if geographic && !s.IsGeographic() {
			return value.Null, sqlerr.SRSNotGeographic(f.Name, v.SRID)
		}
		p := v.Points[0]
		axis := &p.X
		if second != s.IsGeographic() {
			axis = &p.Y
		}
		if len(a) == 1 {
			return value.Float(*axis), nil
		}
		*axis = a[1].Float()
		g := geo.NewPoint(p)
		if err := onGlobe(f, s, g); err != nil {
			return value.Null, err
		}
		return geoDatum(v.SRID, g), nil
	}
	ret := func(b *binding) (schema.Type, error) {
		if len(b.args) == 2 {
			return types.GeometryOf("point"), nil
		}
		return doubleType(), nil
	}
	return fn(name, "g?f", ret, row, 0)
}

// bindSRID is ST_SRID(g), a number, and ST_SRID(g, srid), a geometry.
func bindSRID(d *def, env *BindEnv, name string, args []Expr) (Expr, error) {
	if len(args) != 1 && len(args) != 2 {
		return nil, wrongCount(name)
	}
	if err := rejectRows(args); err != nil {
		return nil, err
	}
	g, err := convertArg(env, 'g', args[0])
	if err != nil {
		return nil, err
	}
	if len(args) == 1 {
		return d.call(name, []Expr{g}, uintType(), g.Nullable(), nil), nil
	}
	n, err := convertArg(env, 'i', args[1])
	if err != nil {
		return nil, err
	}
	t := types.Geometry
	if in := g.Type(); in.ID == schema.TypeGeometry {
		t.Geometry = in.Geometry
	}
	return d.call(name, []Expr{g, n}, t, g.Nullable() || n.Nullable(), nil), nil
}

func rowSRID(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, err := c.decodeGeometry(f, a[0].Bytes())
	if err != nil {
		return value.Null, err
	}
	if len(a) == 1 {
		return value.Uint(uint64(v.SRID)), nil
	}
	srid, s, err := sridArg(f, a[1])
	if err != nil {
		return value.Null, err
	}
	if s.IsGeographic() {
		if p, lon, bad := geo.OutOfRange(v.Geometry); bad && lon {
			return value.Null, sqlerr.GeometryLongitudeOutOfRange(f.Name, p.X)
		} else if bad {
			return value.Null, sqlerr.GeometryLatitudeOutOfRange(f.Name, p.Y)
		}
	}
	return geoDatum(srid, v.Geometry), nil
}

func rowIsClosed(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, _, err := geoArg(c, f, a[0])
	if err != nil || v.Type != geo.TypeLineString && v.Type != geo.TypeMultiLineString {
		return value.Null, err
	}
	return value.Bool(v.IsClosed()), nil
}

func rowIsSimple(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, _, err := geoArg(c, f, a[0])
	if err != nil {
		return value.Null, err
	}
	ok, err := geo.IsSimple(c.geoWork(), v.Geometry)
	return value.Bool(ok), geoError(f, err, v.Type.Name())
}

func rowIsValid(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, s, err := geoArg(c, f, a[0])
	if err != nil {
		return value.Null, err
	}
	ok, err := geo.IsValid(c.geoWork(), s, v.Geometry)
	return value.Bool(ok), geoError(f, err, v.Type.Name())
}

func rowValidate(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, s, err := geoArg(c, f, a[0])
	if err != nil {
		return value.Null, err
	}
	ok, err := geo.IsValid(c.geoWork(), s, v.Geometry)
	if err != nil || !ok {
		return value.Null, geoError(f, err, v.Type.Name())
	}
	return geoDatum(v.SRID, geo.Orient(v.Geometry)), nil
}

func rowEnvelope(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, s, err := geoArg(c, f, a[0])
	if err != nil {
		return value.Null, err
	}
	if s.IsGeographic() {
		return value.Null, sqlerr.NotImplementedForGeographicSRS(f.Name, v.Type.Name())
	}
	b, ok := v.Bounds()
	if !ok {
		return geoDatum(v.SRID, geo.Geometry{Type: geo.TypeCollection}), nil
	}
	return geoDatum(v.SRID, b.Geometry()), nil
}

func rowLengthOf(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, s, err := geoArg(c, f, a[0])
	if err != nil || v.Type != geo.TypeLineString && v.Type != geo.TypeMultiLineString {
		return value.Null, err
	}
	l, err := geo.Length(c.geoWork(), s, v.Geometry)
	if err != nil {
		return value.Null, err
	}
	return inUnit(f, s, a, 1, "Length", l)
}

func rowArea(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, s, err := geoArg(c, f, a[0])
	if err != nil {
		return value.Null, err
	}
	if v.Type != geo.TypePolygon && v.Type != geo.TypeMultiPolygon {
		return value.Null, sqlerr.UnexpectedGeometryType("POLYGON/MULTIPOLYGON", v.Type.Name(), f.Name)
	}
	area, err := geo.Area(c.geoWork(), s, v.Geometry)
	if err != nil {
		return value.Null, err
	}
	return finiteResult(f, "Result", area)
}

func rowCentroid(c *Ctx, f *Func, a []value.Datum) (value.Datum, error) {
	v, s, err := geoArg(c, f, a[0])
	if err != nil {
		return value.Null, err
	}
	if s.IsGeographic() {
		return value.Null, sqlerr.NotImplementedForGeographicSRS(f.Name, v.Type.Name())
	}
	p, ok := geo.Centroid(v.Geometry)
	if !ok {
		return value.Null, nil
	}
	return geoDatum(v.SRID, geo.NewPoint(p)), nil
}
